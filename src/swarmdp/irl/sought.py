"""Where a reward is high, as far as the demo tells.

The weight of the best observation is seldom clearly above that of its neighbours, and a reward that
is the same to both sides has two best ones. So the observations are named from which all rewards
that do as well do not tell the best one: a range, or both sides of it. Where these are most of all,
those are named that are clearly rewarded more than the average.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Axis, Block
from swarmdp.support.arrays import Floats

AGREEING = 0.975  # of all rewards that do as well: then a difference is identified
HIGHEST, ABOVE = "highest", "above average"
_EQUAL = 1e-9  # of the largest weight: mirror images are the same but for rounding


@dataclass(frozen=True)
class Sought:
    """The classes of one block of weights at which the reward is high."""

    relation: str  # HIGHEST, or ABOVE the average
    where: str
    clear: bool  # whether all rewards that do as well agree


def most_sought(weights: Floats, others: Floats | None, block: Block) -> Sought:
    """Where the weights (C,) of a block are highest, given others (K, C) that do as well.

    Without others it is not known whether it is clear, and called so.
    """
    best = int(weights.argmax())
    among = weights >= weights[best] - _EQUAL * np.abs(weights).max()
    if others is None:
        return Sought(HIGHEST, _in_words(among, best, block), True)
    among |= (others[:, [best]] > others).mean(axis=0) < AGREEING
    if 2 * int(among.sum()) <= len(weights):
        return Sought(HIGHEST, _in_words(among, best, block), True)
    above = agreed(weights, others) & (weights > weights.mean())
    if above[best]:
        return Sought(ABOVE, _in_words(above, best, block), True)
    return Sought(HIGHEST, _in_words(among, best, block), False)


def agreed(weights: Floats, others: Floats) -> NDArray[np.bool_]:
    """Which weights (..., C) are above the mean, or below, as nearly all others (K, ..., C) say."""
    here, there = (w - w.mean(axis=-1, keepdims=True) for w in (weights, others))
    same = (np.sign(there) == np.sign(here)).mean(axis=0) >= AGREEING
    return np.asarray(same & (here != 0), np.bool_)


def _in_words(among: NDArray[np.bool_], best: int, block: Block) -> str:
    """The classes that are among the best, in words."""
    axes = [axis.shown for axis in block]
    if len(axes) == 1:
        named, words = _around(np.flatnonzero(among), best, axes[0])
    else:
        place = np.unravel_index(best, [len(axis.values) for axis in axes])
        words = ", ".join(axis.written(int(i)) for axis, i in zip(axes, place, strict=True))
        named = 1
    more = int(among.sum()) - named
    return f"{words} and {more} other{'s' * (more > 1)}" if more else words


def _around(places: NDArray[np.int64], best: int, axis: Axis) -> tuple[int, str]:
    """The classes side by side with the best one, and their mirror images if these are among them.

    How many they are, and in words.
    """
    size = len(axis.values)
    runs = _side_by_side(places, size, axis.periodic)
    (own,) = (run for run in runs if (best - run[0]) % size <= (run[1] - run[0]) % size)
    ends = axis.values[list(own)]
    if axis.values.dtype.kind in "iuf":
        for run in runs:
            if run != own and np.allclose(axis.values[list(run)], -ends[::-1]):
                numbers = dict.fromkeys(f"{value:.4g}" for value in sorted(np.abs(ends)))
                unit = "" if axis.units == "1" else f" {axis.units}"
                return 2 * _length(own, size), f"{axis.name} ±{' to '.join(numbers)}{unit}"
    return _length(own, size), axis.written(*own)


def _length(run: tuple[int, int], size: int) -> int:
    return (run[1] - run[0]) % size + 1


def _side_by_side(places: NDArray[np.int64], size: int, periodic: bool) -> list[tuple[int, int]]:
    """The first and last place of each run of neighbouring places, around the circle if it is."""
    breaks = np.flatnonzero(np.diff(places) > 1) + 1
    runs = [(int(part[0]), int(part[-1])) for part in np.split(places, breaks)]
    if periodic and len(runs) > 1 and runs[0][0] == 0 and runs[-1][1] == size - 1:
        last = runs.pop()
        runs[0] = last[0], runs[0][1]
    return runs
