"""What workers add to a reproduction: measured for one and two, simulated for more.

`python -m benchmarks.scaling` measures units a second of the smallest reproduction on one and two
worker processes of this machine, and the processor time that the process with the scheduler spends
on a unit. With that overhead and with the core seconds of the units at the paper's scale it then
simulates 1 to 1000 workers: units in the order in which they are submitted, each to the first
worker that is free, their results received one after the other.
"""

import argparse
import heapq
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TIMING = Path(__file__).parents[1] / "docs" / "reproduction" / "timing.json"
START_SECONDS = 1.2  # a worker imports swarmdp and loads its kernels; see `make bench`, start
WORKERS = (1, 2, 10, 30, 100, 300, 1000)


@dataclass(frozen=True)
class Measured:
    """A reproduction at the smallest scale on worker processes of this machine."""

    workers: int
    units: int
    seconds: float  # that passed
    core_seconds: float  # of the units, as they say themselves
    overhead: float  # processor seconds for a unit of the process that has the scheduler
    unit_bytes: float


@dataclass(frozen=True)
class Simulated:
    """A reproduction at the paper's scale on a cluster that is not there."""

    workers: int
    seconds: float
    units_a_second: float
    efficiency: float  # core seconds of the units over those of all workers


def measure(workers: int) -> Measured:
    """Compute the units on several worker processes; the first unit of each waits for imports."""
    from swarmdp.paper.cluster import on_local_workers
    from swarmdp.paper.plan import make_plan
    from swarmdp.paper.tasks import FIGURE_TASKS, units_of

    plan = make_plan("smoke")
    units = list(dict.fromkeys(unit for figure in FIGURE_TASKS for unit in units_of(plan, figure)))
    with on_local_workers(workers) as execute:
        list(execute(plan, units[:workers]))
        began, spent = time.monotonic(), time.process_time()
        done = list(execute(plan, units))
        seconds, spent = time.monotonic() - began, time.process_time() - spent
    return Measured(
        workers,
        len(units),
        seconds,
        sum(core for _, _, core in done),
        spent / len(units),
        sum(len(image) for _, image, _ in done) / len(units),
    )


def paper_units() -> list[float]:
    """Core seconds of each unit of the reproduction at the paper's scale."""
    from swarmdp.paper.plan import make_plan
    from swarmdp.paper.tasks import FIGURE_TASKS, units_of

    plan = make_plan("paper")
    units = dict.fromkeys(unit for figure in FIGURE_TASKS for unit in units_of(plan, figure))
    tasks = [unit.task for unit in units]
    seconds = json.loads(TIMING.read_text(encoding="utf-8"))["core_seconds"]
    return [seconds[task] / tasks.count(task) for task in tasks]


def simulate(workers: int, durations: Sequence[float], overhead: float) -> Simulated:
    """When the last result is there, if each takes the scheduler `overhead` seconds of its own.

    >>> simulated(2, [1.0, 1.0, 1.0, 1.0], 0.0).seconds - START_SECONDS
    2.0
    """
    free = [START_SECONDS] * workers
    heapq.heapify(free)
    ends = []
    for number, duration in enumerate(durations):
        begin = max(heapq.heappop(free), overhead * (number + 1))  # submitted one by one
        heapq.heappush(free, begin + duration)
        ends.append(begin + duration)
    received = 0.0
    for end in sorted(ends):
        received = max(received, end) + overhead
    busy = sum(durations) / (workers * received)
    return Simulated(workers, received, len(durations) / received, busy)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, simulate, print, and write both as JSON.

    Parameters
    ----------
    arguments
        Those of the command line by default.

    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/scaling.json"))
    options = parser.parse_args(arguments)
    here = [measure(workers) for workers in (1, 2)]
    overhead = max(measurement.overhead for measurement in here)
    durations = paper_units()
    there = [simulate(workers, durations, overhead) for workers in WORKERS]
    finer = [d / 10 for d in durations for _ in range(10)]
    fine = [simulate(workers, finer, overhead) for workers in WORKERS]
    for measurement in (*here, *there, *fine):
        print(measurement)
    document = {
        "measured": [asdict(measurement) for measurement in here],
        "paper": [asdict(measurement) for measurement in there],
        "paper_units_of_one_experiment": [asdict(measurement) for measurement in fine],
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
