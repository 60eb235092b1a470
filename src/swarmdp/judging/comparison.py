"""Can the demo be told from runs of another swarm? A permutation test of many statistics at once.

If the swarms are the same, a run of the demo and the other runs from the same start are
exchangeable: which of them is called the demo says nothing. So the demo is compared with what any
other choice would have given. One run from each start makes a choice; with a demo of one run every
choice is tried, and the test is exact.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arrays import Floats

LEVEL = 0.05  # of the test: so often the same swarm is told from itself
LARGE = 0.15  # of the baselines' difference: a larger one means that it is another behaviour
CHOICES = 500  # that are drawn where there are too many to try them all
CONSTANT = 1e-9  # relative spread below which a statistic is the same in all runs


@dataclass(frozen=True, eq=False)
class Comparison:
    """How the demo differs from the other runs."""

    p: float  # of all statistics together
    p_values: Floats  # (K,): p-value of each statistic on its own
    adjusted: Floats  # (K,): p-value of each, given that all are looked at
    energy: Floats  # (K,): energy distance, in standard deviations of the runs
    scores: Floats  # (choices,): the largest energy distance that each choice gives


def compare_runs(
    demo: Floats,
    others: Floats,
    rng: np.random.Generator,
    directed: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare runs of a demo (R, K) with others from the same starts (n, R, K).

    Each statistic is centred for each start and divided by its standard deviation over all runs.
    The energy distance of each is 2 E|x - y| - E|x - x'| - E|y - y'|. Two summaries are used, their
    largest and their mean: one finds a single statistic that is off, the other many that are a
    little off. Their ranks are joined (the better one counts), and that is permuted, too.

    Statistics that tell a direction or a place (`directed`, (K,)) often scatter widely from run to
    run. They have a summary of their own, their largest, so that they do not hide the others.
    """
    pool = standardise(np.concatenate([demo[None], others]))
    choices = _choices(pool.shape[0], pool.shape[1], rng)
    energy = _energies(pool, choices)  # (choices, K)
    apart = np.zeros(energy.shape[1], np.bool_) if directed is None else directed
    plain = energy[:, ~apart]
    largest = plain.max(axis=1, initial=0.0)
    summaries = [largest, plain.mean(axis=1) if plain.size else largest]
    adjusted = share_as_large(largest, energy[0])
    if apart.any():
        summaries.append(energy[:, apart].max(axis=1))
        adjusted = np.where(apart, share_as_large(summaries[-1], energy[0]), adjusted)
    ranks = np.stack([share_as_large(row, row) for row in summaries]).min(axis=0)
    return Comparison(
        float(np.mean(ranks <= ranks[0] + 1e-12)),
        np.mean(energy >= energy[0] * (1 - 1e-12), axis=0),
        adjusted,
        energy[0],
        largest,
    )


def energy_distances(demo: Floats, others: Floats) -> Floats:
    """The energy distance (K,) of runs of a demo (R, K) to others (n, R, K), without a test."""
    pool = standardise(np.concatenate([demo[None], others]))
    distances: Floats = _energies(pool, np.zeros((1, pool.shape[1]), np.int64))[0]
    return distances


def standardise(pool: Floats) -> Floats:
    """Statistics (n, R, K) less the mean of their start, in standard deviations."""
    centred = pool - pool.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=(0, 1)))
    least = CONSTANT * np.abs(pool).max(axis=(0, 1))
    scaled: Floats = np.where(spread > least, centred / np.where(spread > least, spread, 1.0), 0.0)
    return scaled


@dataclass(frozen=True, eq=False)
class StretchComparison:
    """How stretches of the demo differ from runs that begin where they begin."""

    p: float  # of all statistics together
    adjusted: Floats  # (K,): p-value of each, given that all are looked at
    critical: float  # standard errors of one statistic's difference that half of the tests notice


def compare_stretches(demo: Floats, others: Floats, rng: np.random.Generator) -> StretchComparison:
    """Compare stretches of a demo (S, K) with runs from the same starts (n, S, K).

    Each statistic is standardised among the runs from one start. Its sum over the stretches finds
    what is off in the same direction everywhere, the sum of squares what is off now in one and now
    in the other. Of both, the largest and the mean square over statistics are used, and their ranks
    are joined as in `compare_runs`.
    """
    scaled = standardise_each(np.concatenate([demo[None], others]))
    members, stretches, size = scaled.shape
    choices = rng.integers(members, size=(CHOICES, stretches))
    choices[0] = 0  # the truth
    total, square = np.zeros((2, CHOICES, size))
    # One stretch after another: all chosen values at once would need much memory.
    for s in range(stretches):
        chosen = scaled[choices[:, s], s]
        total += chosen
        square += chosen * chosen
    kinds = [_per_deviation(np.abs(total), 0.0), _per_deviation(square, square.mean(axis=0))]
    summaries = [row for kind in kinds for row in (kind.max(axis=1), (kind**2).mean(axis=1))]
    ranks = np.stack([share_as_large(row, row) for row in summaries]).min(axis=0)
    adjusted = np.minimum(*(share_as_large(kind.max(axis=1), kind[0]) for kind in kinds))
    return StretchComparison(
        float(np.mean(ranks <= ranks[0] + 1e-12)),
        np.minimum(1.0, len(kinds) * adjusted),
        float(np.quantile(kinds[0].max(axis=1), 1 - LEVEL / (2 * len(summaries)))),
    )


def standardise_each(pool: Floats) -> Floats:
    """Values (n, S, K) less the mean of their start, in standard deviations of their start."""
    centred = pool - pool.mean(axis=0)
    spread = centred.std(axis=0)
    there = spread > CONSTANT * np.abs(pool).max(axis=(0, 1))
    scaled: Floats = np.where(there, centred / np.where(there, spread, 1.0), 0.0)
    return scaled


def _per_deviation(values: Floats, middle: Floats | float) -> Floats:
    """By how many root mean squares of the choices (choices, K) values are above a middle."""
    away = values - middle
    size = np.sqrt((away**2).mean(axis=0))
    return np.asarray(np.maximum(away / np.where(size > 0, size, 1.0), 0.0))


def are_distinct(
    pseudo: Floats, others: Floats, level: float, directed: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Whether each of several swarms (m, R, K), taken for the demo, would be told from the others.

    This is the power that the test has: they are swarms that should be told apart.
    """
    seeds = np.random.default_rng(0)
    compared = [compare_runs(one, others, seeds, directed).p <= level for one in pseudo]
    return np.array(compared, np.bool_)


def _choices(members: int, starts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which run of each start is called the demo (choices, R); the first choice is the truth."""
    if starts == 1:
        return np.arange(members)[:, None]
    drawn = rng.integers(members, size=(CHOICES - 1, starts))
    return np.concatenate([np.zeros((1, starts), np.int64), drawn])


def _energies(pool: Floats, choices: NDArray[np.int64]) -> Floats:
    """The energy distance of the chosen runs to all others, (choices, K)."""
    members, starts, size = pool.shape
    flat = pool.reshape(members * starts, size)
    reach, total = _distances(flat)
    places = choices * starts + np.arange(starts)
    chosen = flat[places]  # (choices, R, K)
    outside = members * starts - starts
    to_all = reach[places].sum(axis=1)
    within = _sums_of_distances(chosen) if starts > 1 else np.zeros(1)
    across = to_all - within
    rest = total - 2 * across - within
    energy: Floats = 2 * across / (starts * outside) - within / starts**2 - rest / outside**2
    return energy


def _distances(values: Floats) -> tuple[Floats, Floats]:
    """The sum of |x_i - x_j| over all j for each i (m, K), and over all i and j (K,).

    By sorting: with m numbers in order, the i-th is above i of them and below the others.
    """
    count = len(values)
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(ranked, axis=0)
    place = np.arange(1, count + 1)[:, None]
    sums = (2 * place - count) * ranked - 2 * below + below[-1]
    distances = np.empty_like(values)
    np.put_along_axis(distances, order, sums, axis=0)
    return distances, sums.sum(axis=0)


def _sums_of_distances(values: Floats) -> Floats:
    """The sum of |x_i - x_j| over all i and j, (choices, K) of values (choices, m, K)."""
    count = values.shape[1]
    weight = 2.0 * (2 * np.arange(count) - (count - 1))
    total: Floats = np.einsum("m,cmk->ck", weight, np.sort(values, axis=1))
    return total


def share_as_large(among: Floats, values: Floats) -> Floats:
    """For each value the share of `among` that is as large or larger."""
    ordered = np.sort(among)
    below = np.searchsorted(ordered, values * (1 - 1e-12), side="left")
    share: Floats = 1 - below / len(among)
    return share
