"""`swarmdp reproduce`: every figure and claim of the paper, computed again."""

import argparse
import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from swarmdp.cli.common import add_command, add_output, add_seed, page_address, print_table
from swarmdp.support import files
from swarmdp.support.notices import is_quiet
from swarmdp.support.progress import shown
from swarmdp.support.rounding import with_error

_FIGURES = (
    "snapshots",
    "uncertainty",
    "vicsek-reward",
    "trajectories",
    "order",
    "ising-reward",
    "energy",
)


def add(commands: Any) -> None:
    """Add the command and its options."""
    reproduce = add_command(
        commands,
        "reproduce",
        _run,
        summary="make every figure of the paper and check its claims",
        description="Repeat the paper's experiments, draw every figure and check every claim. "
        "Writes report.html, summary.json, figures and the finished units to a folder. If it is "
        "stopped, the same command continues.",
    )
    reproduce.add_argument(
        "--scale",
        choices=["smoke", "quick", "paper"],
        default="quick",
        help="smoke: seconds, to try it out; quick: a few minutes, ten experiments; paper: the "
        "paper's numbers, 10000 runs and 100 experiments of 100 runs",
    )
    reproduce.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="FIGURE",
        help=f"only these figures: {', '.join(_FIGURES)}",
    )
    add_seed(reproduce)
    where = reproduce.add_mutually_exclusive_group()
    where.add_argument("--threads", type=int, help="number of cores to use (default: all)")
    where.add_argument("--workers", type=int, help="use this many processes on this machine")
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="run on the Dask cluster with this scheduler"
    )
    add_output(reproduce, "runs/reproduction-SCALE")


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Compute what is missing, then draw and judge."""
    from swarmdp.paper import engine
    from swarmdp.paper.plan import make_plan
    from swarmdp.paper.store import Store

    plan = make_plan(options.scale, options.seed)
    figures = engine.check_figures(options.only)
    output = options.output or Path("runs") / f"reproduction-{options.scale}"
    store = Store(output, plan)
    began = time.perf_counter()
    with _executor(options) as executor, store.locked(), _log(output / "log.txt"):
        try:
            with _progress_of(figures) as progress:
                engine.compute_missing(store, figures=figures, executor=executor, progress=progress)

            from swarmdp.paper import report as reproduction

            with shown(None, "drawing and judging") as tell:
                page = reproduction.write_report(store, tell)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_interrupted_note(store, figures)) from None
        seconds = round(time.perf_counter() - began, 1)
        reproduction.write_timing(store, seconds)
    summary = files.parse_json(files.read_text(output / "summary.json"))
    _show_claims(summary["claims"])
    print(f"reproduced in {seconds:.0f} s; look at {page_address(page)}")
    for name in ("summary.json", "timing.json", "log.txt"):
        print(f"  {output / name}")
    return {**summary, "folder": str(output)}


def _interrupted_note(store: Any, figures: list[str]) -> str:
    """What an interrupted reproduction leaves, and how to continue it."""
    from swarmdp.paper.tasks import units_of

    units = {unit for figure in figures for unit in units_of(store.plan, figure)}
    done = sum(unit in store for unit in units)
    return (
        f"{done} of {len(units)} units are kept in {store.folder}; the same command continues. "
        f"What is complete can be drawn with: swarmdp report {store.folder}"
    )


@contextlib.contextmanager
def _executor(options: argparse.Namespace) -> Iterator[Any]:
    from swarmdp.paper import engine

    if options.cluster is None and options.workers is None:
        yield engine.in_threads(options.threads)
        return
    from swarmdp.paper import cluster

    chosen = (
        cluster.on_cluster(options.cluster)
        if options.cluster is not None
        else cluster.on_local_workers(options.workers)
    )
    with chosen as executor:
        yield executor


class _LogFile(logging.FileHandler):
    """A log file that ignores errors of writing: the work itself reports a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, the library's name
        """Say nothing."""


@contextlib.contextmanager
def _log(path: Path) -> Iterator[None]:
    """Write a log file of what is done and when; warnings are printed as well."""
    logger = logging.getLogger("swarmdp.paper")
    with files.appending(path):
        handler = _LogFile(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    screen = logging.StreamHandler()
    screen.setLevel(logging.WARNING)
    screen.setFormatter(logging.Formatter("swarmdp: %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.addHandler(screen)
    logger.setLevel(logging.INFO)
    try:
        yield
    except BaseException as error:
        logger.info("stopped: %s", str(error) or type(error).__name__)
        raise
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
        logger.removeHandler(screen)
        with contextlib.suppress(OSError):
            handler.close()


@contextlib.contextmanager
def _progress_of(figures: list[str]) -> Iterator[Callable[[Any], None]]:
    """Show the progress, overall and of each figure: bars on a terminal, some lines elsewhere."""
    if is_quiet():
        yield lambda progress: None
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        overall = bars.add_task("all", total=None)
        tasks = {figure: bars.add_task(f"  {figure}", total=None) for figure in figures}

        def show(progress: Any) -> None:
            text = f"all, about {_duration(progress.seconds_left)} left"
            bars.update(overall, completed=progress.done, total=progress.total, description=text)
            for figure, (done, total) in progress.figures.items():
                bars.update(tasks[figure], completed=done, total=total)

        yield show


class _Lines:
    """A line for every tenth of the work."""

    def __init__(self) -> None:
        self._tenths = 0

    def __call__(self, progress: Any) -> None:
        tenths = 10 * progress.done // progress.total
        if tenths > self._tenths:
            self._tenths = tenths
            left = _duration(progress.seconds_left)
            rest = f"about {left} left" if progress.done < progress.total else "the report follows"
            print(
                f"{progress.done} of {progress.total} units done, {rest}",
                file=sys.stderr,
                flush=True,
            )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _show_claims(claims: Any) -> None:
    if not claims:
        return
    rows = [
        (
            claim["sentence"],
            _value_of(claim),
            claim["verdict"].replace("does not", "does NOT"),
        )
        for claim in claims
    ]
    print_table("the paper's claims", ("claim", "measured", "verdict"), rows, texts=1)


def _value_of(claim: Any) -> str:
    if claim["value"] is None:
        return ""
    return with_error(claim["value"], claim["error"])
