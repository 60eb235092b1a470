"""The time scale of a demo, and the discount that sees it."""

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.demos import LONGEST_TAIL, check_demo
from swarmdp.judging.statistics import Known, main_course
from swarmdp.system import System
from swarmdp.trajectory import Trajectory

LEAST = 0.9  # the paper's discount; faster swarms need no smaller one
SETTLED = 0.1  # share of the whole change that may still come in the last fifth


def suggested_discount(system: System, demo: Trajectory) -> float:
    """A discount that looks as far ahead as the demo takes to settle.

    It is 1 - 1/tau, where tau is the number of steps in which the system's main measure (or, if it
    has none, the frequencies of observations) covers 1 - 1/e of its way. It is not below 0.9, the
    paper's, and not above what the demo's length allows: at most 1 % of the weight may lie beyond
    its end.

    Parameters
    ----------
    system
        The system that was recorded.
    demo
        Runs of the expert.

    """
    check_demo(system, demo, 0.0)
    tau = relaxation_time(main_course(system, demo, Known.of(system, demo)))
    longest = LONGEST_TAIL ** (1 / (demo.steps + 1))
    wanted = max(LEAST, 1 - 1 / max(tau, 1.0))
    # Rounded down, so that the tail does not grow again.
    return float(np.floor(min(wanted, longest) * 1000) / 1000)


def relaxation_time(course: NDArray[np.float64]) -> float:
    """The number of steps in which a course (times,) covers 1 - 1/e of its way to the end.

    Where it has not settled by the end, that time is not known, but at least half of the length.
    Where it only fluctuates there is no way to cover, and the time is short.
    """
    times = len(course)
    fifth = max(1, times // 5)
    end, before = course[-fifth:].mean(), course[-2 * fifth : -fifth].mean()
    change = end - course[0]
    noise = course[-2 * fifth :].std()
    if abs(change) <= 3 * noise:
        return 1.0
    if abs(end - before) > SETTLED * abs(change):
        return max(times / 2, 1.0)
    covered = (course - course[0]) / change
    return float(np.argmax(covered >= 1 - np.exp(-1)))
