"""The time scale of a demo, and the discount that sees it."""

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.irl.demos import LONGEST_TAIL, check_demo
from swarmdp.irl.frames import observations_over
from swarmdp.judging.statistics import Comparable, recorded_measure
from swarmdp.model.features import Classes
from swarmdp.model.system import System, class_map, classes, summed_features
from swarmdp.model.trajectory import Trajectory
from swarmdp.support.arguments import checked

LEAST = 0.9  # the paper's discount; faster swarms need no smaller one
SEEN = 2.0  # a discount sees what takes up to this times 1 / (1 - discount)
_FARTHER = 1.5  # times as many steps: a discount that sees fewer is not worth another fit
_SETTLED = 0.1  # share of the whole change that may still come in the last fifth


@checked
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

    Returns
    -------
    float
        The discount factor gamma.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek()
    >>> demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
    >>> 0.9 <= swarmdp.judging.suggested_discount(vicsek, demo) < 1
    True

    """
    check_demo(system, demo, 0.0)
    return _discount_of(course_of(system, demo, Comparable.of(system, demo)))


def better_discount(course: NDArray[np.float64], discount: float) -> float | None:
    """A discount that sees a course (times,), where this one does not; None where it does.

    None also where the demo is too short for one that sees much farther.
    """
    if relaxation_time(course) <= SEEN / (1 - discount):
        return None
    better = _discount_of(course)
    return better if (1 - discount) >= _FARTHER * (1 - better) else None


def _discount_of(course: NDArray[np.float64]) -> float:
    suggested = max(LEAST, 1 - 1 / max(relaxation_time(course), 1.0))
    longest = LONGEST_TAIL ** (1 / len(course))
    # Rounded down, so that the tail does not grow again.
    return float(np.floor(min(suggested, longest) * 1000) / 1000)


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
    if abs(end - before) > _SETTLED * abs(change):
        return max(times / 2, 1.0)
    covered = (course - course[0]) / change
    return float(np.argmax(covered >= 1 - np.exp(-1)))


def course_of(system: System, demo: Trajectory, comparable: Comparable) -> NDArray[np.float64]:
    """How the swarm as a whole develops (times,): its first measure, the mean over runs.

    A system without measures is followed by how far the frequencies of its observations are from
    those of the last fifth of the time.
    """
    for name in comparable.measures:
        values = recorded_measure(system, demo, name)
        if values is not None:
            mean: NDArray[np.float64] = values.mean(axis=0)
            return mean
    shares = np.stack(
        [
            (
                kernels.tables.count(classes(system, now), class_map(system).size)
                if isinstance(system.features, Classes)
                else summed_features(system, now)
            ).mean(axis=0)
            / now.shape[1]
            for now in observations_over(system, demo)
        ]
    )
    last = shares[-max(1, len(shares) // 5) :].mean(axis=0)
    course: NDArray[np.float64] = np.abs(shares - last).sum(axis=1)
    return course
