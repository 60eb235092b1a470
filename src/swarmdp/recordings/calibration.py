"""What is estimated from recorded decisions: noise of turns, speeds, and turns to choose from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.observation import View
from swarmdp.recordings.turns import additive_matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 4.5  # standard deviations up to which a normal score has an entry in a table
ENTRIES = 1025
HERMITE = 24  # polynomials by which correlations of scores become those of values
MOST_MEMORY = 0.98
ROBUST = 1.0  # radians: a mean turn is that of turns cut off here
RIDGE = 10.0  # weight of the squared coefficients of mean turns, as that of so many decisions
LEAST_SHARE = 0.05  # of the residual variance that is left after that of errors is taken away
ACTION_SHARES = (0.5, 0.75, 0.9)  # quantiles of the sizes of turns


def score_grid() -> Floats:
    """The normal scores of a table's entries."""
    return np.linspace(-LARGEST, LARGEST, ENTRIES)


@dataclass(frozen=True, eq=False)
class Wandering:
    """A number that wanders: a function of a normal score with an exponential memory.

    The function is a table, so the values have the distribution that was recorded; the memory is
    the autocorrelation of the score from one decision to the next.
    """

    table: Floats  # (ENTRIES,): values at `score_grid`, rising
    memory: float

    @classmethod
    def of(cls, values: Floats, correlation: float) -> "Wandering":
        """What has these values and this autocorrelation from one decision to the next."""
        from scipy.special import ndtr

        table = np.quantile(values, ndtr(score_grid()))
        return cls(table, _memory(table, correlation))

    @property
    def spread(self) -> float:
        """The standard deviation of the values."""
        from scipy.stats import norm

        grid = score_grid()
        weight = norm.pdf(grid)
        weight /= weight.sum()
        mean = weight @ self.table
        return float(np.sqrt(weight @ (self.table - mean) ** 2))

    def scores(self, values: Floats) -> Floats:
        """The normal scores of values; 0 where a value is NaN."""
        found = np.interp(values, self.table, score_grid())
        return np.where(np.isnan(values), 0.0, found)

    def correlation(self, memory: float) -> float:
        """The autocorrelation of the values if the scores had this memory."""
        powers = self._powers
        return float((powers * memory ** np.arange(1, len(powers) + 1)).sum() / powers.sum())

    @cached_property
    def _powers(self) -> Floats:
        return _powers(self.table)


def _powers(table: Floats) -> Floats:
    """The variance of a function of a normal score in each Hermite polynomial from the first."""
    from numpy.polynomial import hermite_e
    from scipy.special import gammaln

    grid = score_grid()
    weight = np.exp(-(grid**2) / 2)
    weight /= weight.sum()
    found = []
    for n in range(1, HERMITE):
        basis = hermite_e.hermeval(grid, np.eye(n + 1)[n])
        found.append((weight @ (basis * table)) ** 2 / np.exp(gammaln(n + 1)))
    powers = np.array(found)
    return powers if powers.sum() > 0 else np.eye(HERMITE - 1)[0]


def _memory(table: Floats, correlation: float) -> float:
    """The memory of the scores with which values of a table have this autocorrelation."""
    powers = _powers(table)
    tried = np.linspace(-MOST_MEMORY, MOST_MEMORY, 393)
    each = (powers * tried[:, None] ** np.arange(1, len(powers) + 1)).sum(axis=1) / powers.sum()
    return float(np.interp(correlation, np.maximum.accumulate(each), tried))


def mean_turns(view: View, classes: Ints, turns: Floats, parts: tuple[str, ...]) -> Floats:
    """The mean turn in each class (classes,), a sum over components, odd in the mirror.

    By a ridge regression of turns (n,) on the components' classes (n,), all counted mirrored too.
    """
    matrix = additive_matrix(view.features, parts)
    cut = np.clip(turns, -ROBUST, ROBUST)
    size = view.features.size
    count = np.bincount(classes, minlength=size).astype(np.float64)
    total = np.bincount(classes, cut, minlength=size)
    count, total = count + count[view.mirror], total - total[view.mirror]
    inner = (matrix * count[:, None]).T @ matrix + RIDGE * np.eye(matrix.shape[1])
    weights = np.linalg.solve(inner, matrix.T @ total)
    found: Floats = matrix @ weights
    return (found - found[view.mirror]) / 2


def noise_of(decisions: Decisions, residuals: Floats) -> Wandering:
    """The noise of turns, from what is left of them (time - 1, individual); NaN where unknown.

    Errors of positions are part of it. They add to its variance and, since each place is in three
    turns with the weights 1, -2 and 1, take away from the product of successive turns: both are
    mended.
    """
    known = residuals[np.isfinite(residuals)]
    variance = float(np.mean(known**2))
    error = min(decisions.error_of_turns, (1 - LEAST_SHARE) * variance)
    both = residuals[1:] * residuals[:-1]
    together = float(np.nanmean(both)) if np.isfinite(both).any() else 0.0
    left = variance - error
    correlation = (together + error * 4 / 6) / left
    values = np.concatenate([known, -known]) * np.sqrt(left / variance)
    return Wandering.of(values, float(np.clip(correlation, -MOST_MEMORY, MOST_MEMORY)))


def pace_of(decisions: Decisions, constant: bool) -> Wandering:
    """The speeds of individuals from one decision to the next."""
    speeds = np.where(decisions.known, decisions.speeds, np.nan)
    known = speeds[np.isfinite(speeds)]
    if constant:
        return Wandering(np.full(ENTRIES, known.mean()), 0.0)
    gap = speeds - known.mean()
    both = gap[1:] * gap[:-1]
    variance = float(np.mean(gap[np.isfinite(gap)] ** 2))
    usable = np.isfinite(both).any() and variance > 0
    correlation = float(np.nanmean(both)) / variance if usable else 0.0
    return Wandering.of(known, float(np.clip(correlation, -MOST_MEMORY, MOST_MEMORY)))


def turns_to_choose(turns: Floats, shares: tuple[float, ...] = ACTION_SHARES) -> Floats:
    """Turns to choose from: quantiles of the sizes of turns, to both sides, and none."""
    sizes = np.abs(turns[np.isfinite(turns)])
    chosen = np.unique(np.quantile(sizes, shares))
    chosen = chosen[chosen > 0]
    return np.concatenate([-chosen[::-1], [0.0], chosen])
