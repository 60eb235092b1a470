"""`swarmdp fit --tracks`: the whole analysis of a recording, from a file to a page."""

import argparse
import time
from pathlib import Path
from typing import Any

from swarmdp.cli.common import page_address
from swarmdp.cli.fit_folders import earlier_fit, interrupted_fit_note
from swarmdp.cli.systems import given_fields
from swarmdp.cli.tracks import add_cleaning, add_reading, recording_of, title_of
from swarmdp.cli.wording import options_named
from swarmdp.support import files, folders
from swarmdp.support.errors import InvalidInput

TRACKS_ITERATIONS = 1  # as of swarmdp.analyse
ARENAS = (
    '"auto", "circle" or "box" (fitted), "open", circle:X,Y,RADIUS, box:X,Y,X,Y (two corners), '
    "polygon:X,Y,X,Y,X,Y,... or periodic:WIDTH,HEIGHT; in three dimensions sphere:X,Y,Z,RADIUS, "
    "cuboid:X,Y,Z,X,Y,Z (two corners) or periodic:WIDTH,DEPTH,HEIGHT"
)
OTHERS = ("demo", "name", "system", "preset", "separate", "history", "memory")  # not of tracks


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of recorded tracks."""
    group = parser.add_argument_group("recorded tracks")
    group.add_argument(
        "--tracks",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="tracks of a recorded swarm (CSV, Parquet, idtracker.ai, TRex, ...; see swarmdp "
        "tracks): analyse it and write a page about it. Several files, or a folder of files, are "
        "analysed together",
    )
    add_reading(group)
    add_cleaning(group, automatic=True)
    group.add_argument("--dt", default="auto", help='seconds between decisions, or "auto"')
    group.add_argument("--arena", default="auto", help=f"where individuals were: {ARENAS}")
    group.add_argument(
        "--neighbours",
        default="auto",
        help='whom individuals react to: 5 (nearest), 2.5 (radius, with a point), or "auto"',
    )
    group.add_argument(
        "--components",
        nargs="+",
        default=None,
        metavar="NAME",
        help="which reactions to others to look for: some of repulsion, alignment, attraction",
    )
    group.add_argument(
        "--kinds",
        default=None,
        help='look for kinds of individuals, each with its own rule: "auto", the number of kinds, '
        'or "given" (those of --kind); off by default',
    )
    group.add_argument(
        "--speed-components",
        nargs="*",
        default=None,
        metavar="NAME",
        help="what may explain changes of speed: some of 'density ahead', 'speed "
        "difference', 'others ahead', 'time to collision'; 'sidestep' is the turn before a "
        "collision. Without a name: none",
    )
    group.add_argument(
        "--contact",
        default="auto",
        help="distance at which two individuals collide, in the unit of the recording, or "
        '"auto": the one for which times to collision explain most',
    )


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Analyse a recording and write the page."""
    wrong = [name for name in OTHERS if getattr(options, name)] + list(given_fields(options))
    if wrong:
        name = "SYSTEM" if wrong[0] == "name" else f"--{wrong[0].replace('_', '-')}"
        raise InvalidInput(f"--tracks is an analysis of its own: leave {name} out")
    if options.estimator != "swarm":
        raise InvalidInput("--tracks learns from the whole swarm: leave --estimator out")
    dt, arena = _seconds(options.dt), _arena(options.arena)
    neighbours, kinds = _neighbours(options.neighbours), _kinds(options.kinds)
    title = title_of(options.tracks)
    output = options.output or Path("runs") / f"fit-{Path(title).stem}"

    from swarmdp.fitting.fit import FitInterrupted
    from swarmdp.recordings.analysis import analyse
    from swarmdp.recordings.components import ZONE_COMPONENTS, Observation
    from swarmdp.recordings.space.analysis import SpaceAnalysis
    from swarmdp.recordings.speed_rule import SPEED_COMPONENTS
    from swarmdp.report.analysis_page import NUMBERS, PAGE, write_analysis
    from swarmdp.report.space_page import write_space_analysis
    from swarmdp.support.saved import ANALYSIS, FIT

    interrupted, said = None, []

    def say(text: str) -> None:
        said.append(text)
        print(text, flush=True)

    with folders.writing(output, kept=FIT.file, resume=options.resume) as place:
        earlier = earlier_fit(output) if options.resume else None
        began = time.perf_counter()
        recording = recording_of(options, options.tracks)
        print(recording, flush=True)
        for note in recording.notes:
            print(f"  {note}", flush=True)
        iterations = TRACKS_ITERATIONS if options.iterations is None else options.iterations
        try:
            with options_named():
                analysis = analyse(
                    recording,
                    seed=options.seed,
                    dt=dt,
                    jump=options.jump,
                    max_gap=options.max_gap,
                    smooth=_seconds(options.smooth, "--smooth"),
                    slow=options.slow,
                    arena=arena,
                    observation=Observation.usual(recording.outsiders is not None, neighbours),
                    update=options.update,
                    iterations=iterations,
                    discount=options.discount,
                    resamples=options.resamples,
                    judge=not options.no_judge,
                    components=tuple(options.components or ZONE_COMPONENTS),
                    kinds=kinds,
                    speed_components=tuple(
                        SPEED_COMPONENTS
                        if options.speed_components is None
                        else options.speed_components
                    ),
                    contact=_contact(options.contact),
                    threads=options.threads,
                    say=say,
                    resume=earlier,
                    checkpoint=place,
                )
        except FitInterrupted as stop:
            interrupted = stop.result
        if interrupted is None:
            if isinstance(analysis, SpaceAnalysis):
                written = write_space_analysis(place, analysis, title)
            else:
                written = write_analysis(place, analysis, title)
        else:
            interrupted.save(place)
            (output / ANALYSIS.file).unlink(missing_ok=True)  # of an earlier recording
    if interrupted is not None:
        missing = "what follows the fit"
        raise KeyboardInterrupt(
            interrupted_fit_note(interrupted, iterations, missing, options, output)
        )
    told = "\n".join(said)
    for words in analysis.conclusions:
        if words not in told:
            print(words)
    if options.verbose:
        if not isinstance(analysis, SpaceAnalysis):
            print(analysis.verdict or "", analysis.result, sep="\n")
        for path in written:
            print(f"  {output / path.name}")
    seconds = time.perf_counter() - began
    print(f"analysed in {seconds:.1f} s; look at {page_address(output / PAGE)}")
    return {**files.parse_json(files.read_text(output / NUMBERS)), "folder": str(output)}


def _seconds(text: str, option: str = "--dt") -> Any:
    return text if text == "auto" else _numbers(option, text, 1, 'seconds or "auto"')[0]


def _contact(text: str) -> Any:
    return text if text == "auto" else _numbers("--contact", text, 1, 'a length or "auto"')[0]


def _neighbours(text: str) -> Any:
    """A number of nearest neighbours, or a radius if it is written with a point."""
    if text == "auto":
        return text
    if text.lstrip("+-").isdecimal():
        return int(text)
    return _numbers("--neighbours", text, 1, 'such as 5, 2.5 or "auto"')[0]


def _kinds(text: str | None) -> Any:
    """A number of kinds, or how it is found."""
    if text in (None, "auto", "given"):
        return text
    if not text.isdecimal():
        raise InvalidInput(f'--kinds must be "auto", "given" or a number, got {text!r}')
    return int(text)


def _arena(text: str) -> Any:
    """The arena that the option describes."""
    if text in ("auto", "circle", "box"):
        return text
    if text == "open":
        return None

    from swarmdp.recordings.arena import Box, Circle, Periodic, Polygon
    from swarmdp.recordings.space.arena import Cuboid, PeriodicSpace, Sphere

    kind, _, rest = text.partition(":")
    if kind == "circle":
        x, y, radius = _numbers("--arena", rest, 3, "circle:X,Y,RADIUS")
        return Circle((x, y), radius)
    if kind == "box":
        x, y, right, top = _numbers("--arena", rest, 4, "box:X,Y,X,Y")
        return Box((x, y), (right, top))
    if kind == "sphere":
        x, y, z, radius = _numbers("--arena", rest, 4, "sphere:X,Y,Z,RADIUS")
        return Sphere((x, y, z), radius)
    if kind == "cuboid":
        x, y, z, *upper = _numbers("--arena", rest, 6, "cuboid:X,Y,Z,X,Y,Z")
        return Cuboid((x, y, z), (upper[0], upper[1], upper[2]))
    if kind == "periodic" and rest.count(",") == 2:
        width, depth, height = _numbers("--arena", rest, 3, "periodic:WIDTH,DEPTH,HEIGHT")
        return PeriodicSpace((width, depth, height))
    if kind == "periodic":
        width, height = _numbers("--arena", rest, 2, "periodic:WIDTH,HEIGHT")
        return Periodic((width, height))
    if kind == "polygon":
        numbers = _numbers("--arena", rest, None, "polygon:X,Y,X,Y,X,Y,...")
        return Polygon(tuple(zip(numbers[::2], numbers[1::2], strict=True)))
    raise InvalidInput(f"--arena must be {ARENAS}, got {text!r}")


def _numbers(option: str, text: str, count: int | None, form: str) -> list[float]:
    """`count` numbers between commas; an even number of them if count is None."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or (len(numbers) % 2 if count is None else len(numbers) != count):
        raise InvalidInput(f"{option} must be {form}, got {text!r}")
    return numbers
