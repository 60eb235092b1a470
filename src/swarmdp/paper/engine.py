"""Runs the units that are missing, here or on a cluster, and keeps each as soon as it is done."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from swarmdp.paper.plan import Plan
from swarmdp.paper.store import Store, unit_image
from swarmdp.paper.tasks import FIGURE_TASKS, Unit, compute, tasks_of, units_of
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import starting_threads, thread_count

_log = logging.getLogger("swarmdp.paper")

SWITCH_SECONDS = 2e-4  # kernels release the interpreter within less; others wait 5 ms by default

Done = tuple[Unit, bytes, float]  # a unit, its file, the core seconds that it took
Executor = Callable[[Plan, Sequence[Unit]], Iterator[Done]]
"""Computes units in any order."""


@dataclass(frozen=True)
class Progress:
    """How far a reproduction is."""

    unit: Unit
    done: int  # units, those of earlier starts included
    total: int
    figures: dict[str, tuple[int, int]]  # units done and in all, for each figure
    seconds_left: float


def reproduce(
    plan: Plan,
    output: Path,
    *,
    figures: Sequence[str] = (),
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Store:
    """Compute all units that the figures need and that are not in the output folder yet.

    Killed at any moment, a second call goes on where the first stopped, to the same bits.
    """
    store = Store(output, plan)
    with store.locked():
        compute_missing(store, figures=figures, executor=executor, progress=progress)
    return store


def compute_missing(
    store: Store,
    *,
    figures: Sequence[str] = (),
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Compute all units that the figures need and that are not in the store, which is locked."""
    plan, chosen = store.plan, check_figures(figures)
    needed = {figure: units_of(plan, figure) for figure in chosen}
    units = list(dict.fromkeys(unit for figure in chosen for unit in needed[figure]))
    missing = [unit for unit in units if unit not in store]
    _log.info("%d of %d units are to be computed", len(missing), len(units))
    cost = {name: task.cost for name, task in tasks_of(plan).items()}
    left = sum(cost[unit.task] for unit in missing)
    began, spent = time.monotonic(), 0.0
    finished = {unit for unit in units if unit in store}
    execute = executor or in_threads()
    for unit, image, seconds in execute(plan, missing):
        store.write(unit, image, seconds)
        finished.add(unit)
        spent += cost[unit.task]
        rest = (time.monotonic() - began) * (left - spent) / spent
        _log.info("finished %s in %.2f s; about %.0f s left", unit, seconds, rest)
        if progress is not None:
            counts = {
                figure: (sum(u in finished for u in needed[figure]), len(needed[figure]))
                for figure in chosen
            }
            progress(Progress(unit, len(finished), len(units), counts, rest))


def check_figures(figures: Sequence[str]) -> list[str]:
    """The chosen figures in the paper's order; all if none is named."""
    unknown = sorted(set(figures) - set(FIGURE_TASKS))
    if unknown:
        raise InvalidInput(f"the figures are {', '.join(FIGURE_TASKS)}; there is no {unknown[0]!r}")
    return [name for name in FIGURE_TASKS if not figures or name in figures]


def in_threads(threads: int | None = None) -> Executor:
    """Compute units in this process, one on each core."""
    workers = thread_count(threads)

    def execute(plan: Plan, units: Sequence[Unit]) -> Iterator[Done]:
        with (
            _quick_turns(),
            ThreadPoolExecutor(workers, thread_name_prefix="swarmdp-unit") as pool,
        ):
            with starting_threads(workers):
                pending: set[Future[Done]] = {
                    pool.submit(compute_unit, plan, unit) for unit in units
                }
            trouble: BaseException | None = None
            try:
                while pending:
                    try:
                        done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    except KeyboardInterrupt as interrupt:
                        if trouble is not None:
                            raise  # the second time: what is under way is lost
                        _log.warning("interrupted: the units under way will be finished first")
                        trouble, done = interrupt, set()
                    for future in done:
                        if future.cancelled():
                            continue
                        if (error := future.exception()) is None:
                            yield future.result()
                        else:
                            trouble = trouble or error
                    if trouble is not None:
                        for future in pending:
                            future.cancel()  # but those under way
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
            if trouble is not None:
                raise trouble

    return execute


@contextmanager
def _quick_turns() -> Iterator[None]:
    """Let threads take the interpreter in turn more often: a tenth of the time is saved by it."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def compute_unit(plan: Plan, unit: Unit) -> Done:
    """A unit's file, with the seconds of one core that it took."""
    began = time.thread_time()  # on a busy machine a clock would count what others do
    image = unit_image(plan, unit, compute(plan, unit, threads=1))
    return unit, image, time.thread_time() - began
