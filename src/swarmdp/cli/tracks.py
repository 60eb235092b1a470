"""`swarmdp tracks`: what a recording is like, before anything is learned from it."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import HelpFormatter
from swarmdp.cli.wording import options_named
from swarmdp.support import files, folders
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
        help="look at a recording: who is seen when, paths, speeds, what cleaning removes",
        description="Read the tracks of a recorded swarm (CSV, Excel, Parquet, idtracker.ai, TRex, "
        "movement, trackpy, PedPy, DeepLabCut, SLEAP, MATLAB) and write a page about them.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    tracks.set_defaults(command=_run)
    tracks.add_argument(
        "file",
        type=Path,
        nargs="+",
        help="a file, or for TRex the folder of its files. Several files, or a folder of files, "
        "are read together",
    )
    add_reading(tracks.add_argument_group("reading"))
    add_cleaning(tracks.add_argument_group("cleaning"))
    tracks.add_argument(
        "-o", "--output", type=Path, help="folder for the page (default: runs/tracks-NAME)"
    )


def add_reading(group: Any) -> None:
    """The options of `read_tracks`."""
    group.add_argument("--format", help="kind of file (default: recognised by its content)")
    group.add_argument("--fps", type=float, help="frames per second, if the file does not say")
    group.add_argument("--unit", help="unit of length of the recording, such as cm")
    group.add_argument(
        "--length", type=float, help="how many of the file's own units make one unit"
    )
    group.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="which column is the frame, time, individual, x, y, z or heading, such as "
        "individual=fish; columns without names have numbers, such as x=3",
    )
    group.add_argument("--keypoint", help="key point of a pose that stands for the individual")
    group.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="ID",
        help="leave out this individual, such as a dog among sheep; may be repeated",
    )
    group.add_argument(
        "--kind", metavar="COLUMN", help="the column that says what each individual is"
    )
    group.add_argument(
        "--others",
        action="append",
        default=[],
        metavar="NAME",
        help="outsiders, which are seen and played back but not learned from: a kind (dog), an "
        "individual (14, or dog=14 to name it), or a second file of tracks; may be repeated",
    )
    group.add_argument(
        "--place",
        action="append",
        default=[],
        metavar="NAME=X,Y",
        help="a fixed place that individuals may see, such as food=12,30; may be repeated",
    )
    group.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=DEGREES",
        help="a direction that individuals may sense everywhere, such as current=90, from the x "
        "axis towards the y axis; may be repeated",
    )
    group.add_argument(
        "--time",
        metavar="FROM:TO",
        help="use only this part, in seconds since the first frame, such as 0:600 or 60:",
    )
    group.add_argument(
        "--axes",
        choices=["xy", "xz", "yz"],
        help="project onto two of three axes; by default all three are used",
    )


def add_cleaning(group: Any, automatic: bool = False) -> None:
    """The options of cleaning; with `automatic`, smoothing is chosen from the recording."""
    for name, (default, words) in CLEANING.items():
        flag = f"--{name.replace('_', '-')}"
        if automatic and name == "smooth":
            group.add_argument(flag, default="auto", help=f'{words}, or "auto"')
        else:
            group.add_argument(flag, type=float, default=default, help=words)


def recording_of(options: argparse.Namespace, files: Sequence[Path]) -> Any:
    """The recording in one or several files, read as the options ask for."""
    from swarmdp.recordings.reading import needed_to_read, read_tracks

    columns = {}
    for pair in options.column:
        role, sign, name = pair.partition("=")
        if not sign:
            raise InvalidInput(f"--column must be ROLE=NAME, such as individual=fish, got {pair!r}")
        columns[role] = name
    for line in needed_to_read(files):
        print(line, flush=True)
    with options_named():
        recording = read_tracks(
            list(files),
            format=options.format,
            columns=columns or None,
            fps=options.fps,
            unit=options.unit,
            length=options.length,
            keypoint=options.keypoint,
            kind=options.kind,
            others=options.others,
        )
    if options.time is not None:
        recording = recording.between(*_part(options.time))
    if options.without:
        recording = recording.without(options.without)
    if options.axes and recording.n_axes == 3:
        one, other = map("xyz".index, options.axes)
        recording = recording.projected((one, other))
    for words in options.place:
        name, numbers = _named_numbers("--place", words, "NAME=X,Y")
        with options_named():
            recording = recording.with_place(name, numbers)
    for words in options.field:
        name, (degrees, *more) = _named_numbers("--field", words, "NAME=DEGREES")
        if more:
            raise InvalidInput(f"--field must be NAME=DEGREES, got {words!r}")
        recording = recording.with_field(name, math.radians(degrees))
    return recording


def _named_numbers(option: str, words: str, form: str) -> tuple[str, list[float]]:
    """The name and the numbers of a place or a field."""
    name, sign, rest = words.partition("=")
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    if not name.strip() or not sign or not numbers or not all(map(math.isfinite, numbers)):
        raise InvalidInput(f"{option} must be {form}, got {words!r}")
    return name.strip(), numbers


def _part(words: str) -> tuple[float, float]:
    """The begin and end that `--time` asks for."""
    begin, sign, end = words.partition(":")
    try:
        if sign:
            return float(begin or 0), float(end or math.inf)
    except ValueError:
        pass
    raise InvalidInput(
        f"--time must be FROM:TO in seconds, such as 0:600, 60: or :120, got {words!r}"
    )


def title_of(files: Sequence[Path]) -> str:
    """What recordings are called in titles and names of folders."""
    if len(files) == 1:
        return files[0].name or str(files[0])
    return f"{files[0].stem}-and-{len(files) - 1}-more"


def _run(options: argparse.Namespace) -> dict[str, Any]:
    title = title_of(options.file)
    output = options.output or Path("runs") / f"tracks-{Path(title).stem}"
    with folders.writing(output) as place:
        recording = recording_of(options, options.file)
        with options_named():
            summary = recording.summary(**{name: getattr(options, name) for name in CLEANING})
        print(summary)

        from swarmdp.report.tracks_page import write_recording

        written = write_recording(place, summary, f"Recording {title}")
        plain = {"command": "tracks", "version": __version__, "file": title}
        plain |= summary.to_plain() | {folders.DIGESTS: folders.digests(place)}
        files.write_text(place / "summary.json", json.dumps(plain, indent=2) + "\n")
    for name in (written[-1].name, "summary.json"):
        print(f"  {output / name}")
    return {**plain, "folder": str(output)}
