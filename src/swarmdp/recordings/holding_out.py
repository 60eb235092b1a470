"""Which times of a recording are held out, to judge by what was learned from the others.

Whole recordings where several were pooled, whole stretches between pauses where there are some,
else the last third of the time. Where the group changes slowly, the last third would show it in one
state only: then every third of a number of blocks of time is held out.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.support.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from swarmdp.recordings.decisions import Decisions

SHARE = 1 / 3  # of the time that is held out
SUITABLE = (0.15, 0.5)  # share of decisions that whole recordings may hold out
BLOCKS = 12  # of time, of which every third is held out
SHORTEST = 15  # decisions in time of a block
LEAST_TIMES = 8.0  # correlation times that the last third should have


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Which times are held out (time,), and how to say it."""

    test: Bools
    words: str


def hold_out(decisions: "Decisions") -> HeldOut:
    """The times to judge by."""
    for numbers, words in (
        (decisions.recording_numbers, "recordings"),
        (decisions.bouts, "stretches between pauses"),
    ):
        whole = _whole_ones(decisions, numbers, words)
        if whole is not None:
            return whole
    times = decisions.times
    blocks = min(BLOCKS, times // SHORTEST) // 3 * 3
    if blocks > 3 and times * SHARE < LEAST_TIMES * slowest_time(decisions):
        block = np.arange(times) * blocks // times
        seconds = times / blocks * decisions.dt
        words = f"every third of {blocks} blocks of time ({seconds:.3g} s each)"
        return HeldOut(block % 3 == 2, words)
    last = np.arange(times) >= times - int(times * SHARE)
    return HeldOut(last, "the last third of the time")


def _whole_ones(decisions: "Decisions", numbers: Ints, words: str) -> HeldOut | None:
    """Every third of several recordings or stretches; None if these are not about a third."""
    from swarmdp.recordings.decisions import LEAST_DECISIONS

    distinct = np.unique(numbers)
    if len(distinct) < 3:
        return None
    turns = np.zeros(decisions.times)
    turns[:-1] = decisions.turned.sum(axis=1)
    position = np.searchsorted(distinct, numbers)
    candidates = [position % 3 == third for third in (2, 1, 0)]
    shares = [float(turns[test].sum() / max(turns.sum(), 1)) for test in candidates]
    best = int(np.argmin(np.abs(np.array(shares) - SHARE)))
    test = candidates[best]
    enough = min(turns[test].sum(), turns[~test].sum()) >= LEAST_DECISIONS
    if not (SUITABLE[0] <= shares[best] <= SUITABLE[1] and enough):
        return None
    count = len(np.unique(numbers[test]))
    return HeldOut(test, f"{count} of {len(distinct)} {words} ({shares[best]:.0%} of the turns)")


def slowest_time(decisions: "Decisions") -> float:
    """The longest correlation time of the group's order, speed and size, in decisions."""
    return max(map(_correlation_time, _courses(decisions)), default=0.0)


def _courses(decisions: "Decisions") -> list[Floats]:
    """What the group does over time: its order, mean speed and size, of those present."""
    there = decisions.headed
    count = np.maximum(there.sum(axis=1), 1)
    order = _length_of_sum(decisions, there) / count
    speed = np.where(there, np.nan_to_num(decisions.speeds), 0).sum(axis=1) / count
    places = np.where(there[..., None], np.nan_to_num(decisions.positions), 0)
    centre = places.sum(axis=1) / count[:, None]
    away = np.linalg.norm(places - centre[:, None], axis=2)
    size = np.where(there, away, 0).sum(axis=1) / count
    some = there.sum(axis=1) > 1
    return [course[some] for course in (order, speed, size)]


def _length_of_sum(decisions: "Decisions", there: Bools) -> Floats:
    """The length of the sum of all headings at each time (time,)."""
    if decisions.in_space:
        vectors = np.where(there[..., None], np.nan_to_num(decisions.headings), 0)
        return np.asarray(np.linalg.norm(vectors.sum(axis=1), axis=1))
    turned = np.where(there, np.exp(1j * np.nan_to_num(decisions.headings)), 0)
    return np.asarray(np.abs(turned.sum(axis=1)))


def _correlation_time(course: Floats) -> float:
    """The number of times after which the autocorrelation has fallen below 1 / e."""
    if len(course) < 3 or not np.ptp(course) > 0:
        return 0.0
    away = course - course.mean()
    size = 2 * len(away)
    spectrum = np.abs(np.fft.rfft(away, size)) ** 2
    correlation = np.fft.irfft(spectrum, size)[: len(away)]
    below = np.flatnonzero(correlation < correlation[0] / np.e)
    return float(below[0]) if len(below) else float(len(course))
