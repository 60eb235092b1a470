"""What is estimated from recorded decisions: noise of turns, speeds, and turns to choose from."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from swarmdp import kernels
from swarmdp.model.features import Product
from swarmdp.recordings.components import COMPONENTS
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.turn_prediction import additive_matrix
from swarmdp.recordings.view import View
from swarmdp.support.arrays import Floats, Ints
from swarmdp.support.threads import one_blas_thread

LARGEST_SCORE = 4.5  # standard deviations up to which a normal score has an entry in a table
ENTRIES = 1025
HERMITE = 24  # polynomials by which correlations of scores become those of values
MOST_MEMORY = 0.98
ROBUST = 1.0  # radians: a mean turn is that of turns cut off here
_RIDGE = 10.0  # weight of the squared coefficients of mean turns, in decisions
ENOUGH, _MOST_CLASSES = 200, 4  # residuals for a class of the turn before; classes at most
LEAST_SHARE = 0.05  # of the residual variance that is left after that of errors is taken away
ACTION_SHARES = (0.5, 0.75, 0.9)  # quantiles of the sizes of turns


def score_grid() -> Floats:
    """The normal scores of a table's entries."""
    return np.linspace(-LARGEST_SCORE, LARGEST_SCORE, ENTRIES)


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
        table = np.quantile(values, _shares())
        return cls(table, _memory(table, correlation))

    def scores(self, values: Floats) -> Floats:
        """The normal scores of values; 0 where a value is NaN."""
        scores = np.interp(values, self.table, score_grid())
        return np.where(np.isnan(values), 0.0, scores)

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
    variances = []
    for n in range(1, HERMITE):
        basis = hermite_e.hermeval(grid, np.eye(n + 1)[n])
        variances.append((weight @ (basis * table)) ** 2 / np.exp(gammaln(n + 1)))
    powers = np.array(variances)
    return powers if powers.sum() > 0 else np.eye(HERMITE - 1)[0]


def _memory(table: Floats, correlation: float) -> float:
    """The memory of the scores with which values of a table have this autocorrelation."""
    powers = _powers(table)
    tried = np.linspace(-MOST_MEMORY, MOST_MEMORY, 393)
    orders = np.arange(1, len(powers) + 1)
    correlations = (powers * tried[:, None] ** orders).sum(axis=1) / powers.sum()
    return float(np.interp(correlation, np.maximum.accumulate(correlations), tried))


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of turns: how large it is depends on how large the turn before was.

    Individuals that have just turned much go on to turn much, to either side: for each class of the
    size of the turn before there is a table of its own. Signs have a memory, as in `Wandering`.
    """

    tables: Floats  # (classes, ENTRIES): values at `score_grid`, rising
    edges: Floats  # (classes - 1,): of the size of the turn before
    memory: float
    spread: float  # standard deviation

    def values(self, scores: Floats, previous: Floats) -> Floats:
        """The noise with these normal scores, after these turns."""
        of = np.searchsorted(self.edges, np.abs(previous))
        noise = kernels.recorded.interpolate(scores, self.tables[0], LARGEST_SCORE)
        for k in range(1, len(self.tables)):
            other = kernels.recorded.interpolate(scores, self.tables[k], LARGEST_SCORE)
            noise = np.where(of == k, other, noise)
        return noise

    def scores(self, values: Floats, previous: Floats) -> Floats:
        """The normal scores of noise after these turns; 0 where a value is NaN."""
        of = np.searchsorted(self.edges, np.abs(np.nan_to_num(previous)))
        scores = np.zeros(values.shape)
        for k, table in enumerate(self.tables):
            scores = np.where(of == k, np.interp(values, table, score_grid()), scores)
        return np.where(np.isnan(values), 0.0, scores)


def without_memory(view: View) -> tuple[View, Ints]:
    """The view without the turn before, and the class in it of each class."""
    components = view.features.components
    parts = {n: part for n, part in components.items() if not COMPONENTS[n].memory}
    if len(parts) == len(view.components) or not parts:
        return view, np.arange(view.features.size)
    smaller = replace(view, features=Product(additive=view.features.additive, **parts))
    sizes = [part.size for part in components.values()]
    places = np.unravel_index(np.arange(view.features.size), sizes)
    kept = [place for place, n in zip(places, view.components, strict=True) if n in parts]
    return smaller, np.ravel_multi_index(kept, [part.size for part in parts.values()])


@one_blas_thread()
def mean_turns(view: View, classes: Ints, turns: Floats) -> Floats:
    """The mean turn in each class (classes,), odd in the mirror.

    A ridge regression of turns (n,) on the components of their classes (n,), all counted mirrored
    too, and to this sum of components what each class has beyond it, shrunk.
    """
    matrix = additive_matrix(view.features, view.components)
    cut = np.clip(turns, -ROBUST, ROBUST)
    size = view.features.size
    count = np.bincount(classes, minlength=size).astype(np.float64)
    total = np.bincount(classes, cut, minlength=size)
    count, total = count + count[view.mirror], total - total[view.mirror]
    inner = (matrix * count[:, None]).T @ matrix + _RIDGE * np.eye(matrix.shape[1])
    additive = matrix @ np.linalg.solve(inner, matrix.T @ total)
    additive = (additive - additive[view.mirror]) / 2
    # What classes have beyond a sum of components, shrunk by how much of it is chance.
    beyond = np.divide(total, count, out=np.zeros(size), where=count > 0) - additive
    chance = within_classes(view, classes, cut)
    seen = count > 0
    spread = (count[seen] * beyond[seen] ** 2).sum() - seen.sum() * chance
    spread /= max(count.sum() - (count**2).sum() / count.sum(), 1.0)
    share = count * max(spread, 0.0) / (count * max(spread, 0.0) + max(chance, 1e-12))
    means: Floats = additive + share * beyond
    return means


def within_classes(view: View, classes: Ints, turns: Floats) -> float:
    """The variance of turns (n,) among those that follow the same observation, or its mirror image.

    It needs no model of what they have in common: where individuals in the same class do the same,
    it is that of the noise.
    """
    first = np.minimum(classes, view.mirror[classes])
    signed = np.where(first == classes, turns, -turns)
    size = view.features.size
    count = np.bincount(first, minlength=size)
    mean = np.bincount(first, signed, minlength=size) / np.maximum(count, 1)
    free = int(np.maximum(count - 1, 0).sum())
    if not free:
        return float(np.mean(turns**2))
    left = np.where(count[first] > 1, signed - mean[first], 0.0)
    return float((left**2).sum() / free)


def noise_of(decisions: Decisions, residuals: Floats, variance: float) -> Noise:
    """The noise of turns with this variance, errors of positions included.

    Its distribution and memory are those of what is left of turns by their means (time - 1,
    individual), NaN where unknown.

    Errors of positions add to its variance and, since each place is in three turns with the weights
    1, -2 and 1, take away from the product of successive turns: both are mended.
    """
    finite = np.isfinite(residuals)
    error = min(decisions.error_of_turns, (1 - LEAST_SHARE) * variance)
    left = variance - error
    previous = decisions.previous[:-1]
    both = finite & np.isfinite(previous)
    count = int(np.clip(both.sum() // ENOUGH, 1, _MOST_CLASSES))
    sizes = np.abs(previous[both])
    shares = np.arange(1, count) / count
    edges = np.unique(np.quantile(sizes, shares)) if count > 1 else np.zeros(0)
    of = np.searchsorted(edges, np.abs(np.where(np.isfinite(previous), previous, 0.0)))
    values = residuals * np.sqrt(left / np.mean(residuals[finite] ** 2))
    if count == 1:
        both = finite
    tables = []
    for k in range(len(edges) + 1):
        residuals_here = values[both & (of == k)]
        tables.append(np.quantile(np.concatenate([residuals_here, -residuals_here]), _shares()))
    made = Noise(np.stack(tables), edges, 0.0, float(np.sqrt(left)))
    scores = np.where(finite, made.scores(values, previous), np.nan)
    product = scores[1:] * scores[:-1]
    together = float(np.nanmean(product)) if np.isfinite(product).any() else 0.0
    memory = (together * variance + error * 4 / 6) / left
    return replace(made, memory=float(np.clip(memory, -MOST_MEMORY, MOST_MEMORY)))


def _shares() -> Floats:
    from scipy.special import ndtr

    shares: Floats = ndtr(score_grid())
    return shares


def pace_of(decisions: Decisions, constant: bool) -> Wandering:
    """The speeds of individuals from one decision to the next."""
    speeds = np.where(decisions.known, decisions.speeds, np.nan)
    finite = speeds[np.isfinite(speeds)]
    if constant:
        return Wandering(np.full(ENTRIES, finite.mean()), 0.0)
    gap = speeds - finite.mean()
    both = gap[1:] * gap[:-1]
    variance = float(np.mean(gap[np.isfinite(gap)] ** 2))
    usable = np.isfinite(both).any() and variance > 0
    correlation = float(np.nanmean(both)) / variance if usable else 0.0
    return Wandering.of(finite, float(np.clip(correlation, -MOST_MEMORY, MOST_MEMORY)))


def turns_to_choose(turns: Floats, shares: tuple[float, ...] = ACTION_SHARES) -> Floats:
    """Turns to choose from: quantiles of the sizes of turns, to both sides, and none."""
    sizes = np.abs(turns[np.isfinite(turns)])
    chosen = np.unique(np.quantile(sizes, shares))
    chosen = chosen[chosen > 0]
    return np.concatenate([-chosen[::-1], [0.0], chosen])
