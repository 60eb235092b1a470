"""`swarmdp tracks`: what a recording is like, before anything is learned from it."""

import argparse
import json
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import HelpFormatter
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

CLEANING = {
    "jump": (8.0, "a step of more than this many times the median step begins a new segment"),
    "max_gap": (0.3, "seconds up to which gaps are interpolated, for seeing neighbours only"),
    "smooth": (0.15, "seconds over which positions are smoothed"),
    "slow": (0.15, "no heading below this share of the median speed"),
}


def add(commands: Any) -> None:
    """Add the command and its options."""
    tracks = commands.add_parser(
        "tracks",
        help="look at a recording: who is seen when, paths, speeds, and what cleaning drops",
        description="Read the tracks of a recorded swarm (CSV, TSV, Parquet, idtracker.ai, TRex, "
        "movement, trackpy, PedPy, DeepLabCut, SLEAP, MATLAB) and write a page about them.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    tracks.set_defaults(command=_run)
    tracks.add_argument("file", type=Path, help="the file; of TRex also the folder of its files")
    add_reading(tracks.add_argument_group("reading"))
    cleaning = tracks.add_argument_group("cleaning")
    for name, (default, words) in CLEANING.items():
        flag = f"--{name.replace('_', '-')}"
        cleaning.add_argument(flag, type=float, default=default, help=words)
    tracks.add_argument(
        "-o", "--output", type=Path, help="folder for the page; runs/tracks-NAME if not given"
    )


def add_reading(group: Any) -> None:
    """The options of `read_tracks`."""
    group.add_argument("--format", help="kind of file; by its content if not given")
    group.add_argument("--fps", type=float, help="frames per second, if the file does not tell")
    group.add_argument("--unit", help="unit of length that the recording shall have, such as cm")
    group.add_argument(
        "--length", type=float, help="how many of the file's own units make one unit"
    )
    group.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="which column is the frame, time, individual, x, y or z, such as individual=fish",
    )
    group.add_argument("--keypoint", help="key point that stands for the individual")


def recording_of(options: argparse.Namespace, file: Path) -> Any:
    """The recording in a file, read as the options ask for."""
    from swarmdp.recordings.reading import read_tracks

    columns = {}
    for pair in options.column:
        role, sign, name = pair.partition("=")
        if not sign:
            raise InvalidInput(f"--column must be ROLE=NAME, such as individual=fish, got {pair!r}")
        columns[role] = name
    return read_tracks(
        file,
        format=options.format,
        columns=columns or None,
        fps=options.fps,
        unit=options.unit,
        length=options.length,
        keypoint=options.keypoint,
    )


def _run(options: argparse.Namespace) -> dict[str, Any]:
    output = options.output or Path("runs") / f"tracks-{options.file.stem}"
    files.check_folder(output)
    recording = recording_of(options, options.file)
    summary = recording.summary(**{name: getattr(options, name) for name in CLEANING})
    print(summary)

    from swarmdp.report.tracks_page import write_recording

    written = write_recording(output, summary, f"Recording {options.file.name}")
    plain = {"command": "tracks", "version": __version__, "file": options.file.name}
    plain |= summary.to_plain()
    files.write_text(output / "summary.json", json.dumps(plain, indent=2) + "\n")
    for path in (written[-1], output / "summary.json"):
        print(f"  {path}")
    return {**plain, "folder": str(output)}
