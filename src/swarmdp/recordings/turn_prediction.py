"""How turns depend on what is observed: a model that only predicts, without any reward.

Turns are put into five bins; their chances are a softmax of a sum over the components of the
observation (a multinomial logistic regression with a ridge). Everything counts also mirrored. How
much better a turn is predicted with some components than without them, on time that was not used,
is the information gain in nats a decision.
"""

from dataclasses import dataclass

import numpy as np

from swarmdp.model.features import Product
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.threads import one_blas_thread

BINS = 5  # of turns
_RIDGE = 10.0  # weight of the squared coefficients, as that of a few decisions
FOLDS = 3  # of time, in cross-validation
_APART = 2  # decisions between training and test time that are left out
NEWTON_STEPS = 30
_CLOSE = 1e-5  # a Newton step that is small enough: the next one would be its square
TINY = 1e-8  # ridge of the intercept


def turn_edges(turns: Floats, bins: int = BINS) -> Floats:
    """Edges of bins of turns (bins - 1,), symmetric and about equally frequent."""
    return symmetric_edges(turns, bins)


def symmetric_edges(values: Floats, classes: int) -> Floats:
    """Edges of an odd number of classes, symmetric about zero, about equally frequent."""
    sizes = np.abs(values[np.isfinite(values)])
    shares = (2 * np.arange(classes // 2) + 1) / classes
    positive = np.unique(np.quantile(sizes, shares)) if len(sizes) and classes > 1 else np.zeros(0)
    positive = positive[positive > 0]
    return np.concatenate([-positive[::-1], positive])


def additive_matrix(features: Product, parts: tuple[str, ...]) -> Floats:
    """Indicators (classes, d) of some components for each class of a product."""
    sizes = [part.size for part in features.components.values()]
    places = np.unravel_index(np.arange(features.size), sizes)
    blocks = [
        np.eye(size)[place]
        for name, size, place in zip(features.components, sizes, places, strict=True)
        if name in parts
    ]
    return np.concatenate([np.ones((features.size, 1)), *blocks], axis=1)


@one_blas_thread()
def softmax_regression(matrix: Floats, counts: Floats, ridge: float = _RIDGE) -> Floats:
    """Chances (classes, bins) from counts (classes, bins), log-linear in features (classes, d).

    By Newton's method, on the classes that occur. The intercept, the first feature, is not
    shrunk.
    """
    seen = np.flatnonzero(counts.sum(axis=1))
    x, y = matrix[seen], counts[seen]
    n = y.sum(axis=1)
    d, a = x.shape[1], y.shape[1]
    penalty = np.full((d, a), ridge)
    penalty[0] = TINY
    w = np.zeros((d, a))
    for _ in range(NEWTON_STEPS):
        p = _softmax(x @ w)
        slope = x.T @ (y - n[:, None] * p) - penalty * w
        curve = np.zeros((a, d, a, d))
        for i in range(a):
            for j in range(i, a):
                share = n * (p[:, i] * ((i == j) - p[:, j]))
                curve[i, :, j, :] = (x * share[:, None]).T @ x
                curve[j, :, i, :] = curve[i, :, j, :].T
        whole = curve.reshape(a * d, a * d) + np.diag(penalty.T.ravel() + TINY)
        step = np.linalg.solve(whole, slope.T.ravel()).reshape(a, d).T
        w = w + step
        if np.abs(step).max() < _CLOSE:
            break
    return _softmax(matrix @ w)


def _softmax(values: Floats) -> Floats:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    share: Floats = raised / raised.sum(axis=1, keepdims=True)
    return share


def count_turns(classes: Ints, bins: Ints, size: int, mirror: Ints, n_bins: int = BINS) -> Floats:
    """How often each bin of turns follows each class, (size, bins), and mirrored."""
    flat = np.bincount(classes * n_bins + bins, minlength=size * n_bins)
    counts = flat.reshape(size, n_bins).astype(np.float64)
    both: Floats = counts + counts[mirror][:, ::-1]
    return both


def time_folds(
    times: int, folds: int = FOLDS, recording: Ints | None = None
) -> list[tuple[Bools, Bools]]:
    """Blocks of time to test on, each with the times to train on, which are some way from it.

    Where there are as many pooled recordings as folds, their numbers (time,) decide: recordings are
    tested on as wholes.
    """
    folded = []
    distinct = np.unique(recording) if recording is not None else np.zeros(0)
    if recording is not None and len(distinct) >= folds:
        place = np.searchsorted(distinct, recording[:times])
        return [(place % folds != k, place % folds == k) for k in range(folds)]
    for k in range(folds):
        begin, end = times * k // folds, times * (k + 1) // folds
        test, train = np.zeros(times, np.bool_), np.ones(times, np.bool_)
        test[begin:end] = True
        train[max(0, begin - _APART) : end + _APART] = False
        folded.append((train, test))
    return folded


@dataclass(frozen=True, eq=False)
class Seen:
    """Classes of observations (time, individual), -1 where unknown, and the turns that followed."""

    classes: Ints
    turns: Floats
    features: Product
    mirror: Ints  # class of the mirrored observation
    recording: Ints | None = None  # (time,): number of the pooled recording of each time

    @property
    def complete(self) -> Bools:
        """Which decisions are complete."""
        return (self.classes >= 0) & np.isfinite(self.turns)

    def log_chances(self, parts: tuple[str, ...]) -> Floats:
        """Of each turn, predicted by some components, on held-out time; NaN where unknown."""
        matrix = additive_matrix(self.features, parts)
        log_chances = np.full(self.turns.shape, np.nan)
        complete = self.complete
        for train, test in time_folds(len(self.turns), recording=self.recording):
            teach, ask = complete & train[:, None], complete & test[:, None]
            if not teach.any() or not ask.any():
                continue
            edges = turn_edges(self.turns[teach])
            bins = np.searchsorted(edges, np.where(complete, self.turns, 0.0))
            counts = count_turns(
                self.classes[teach], bins[teach], self.features.size, self.mirror, len(edges) + 1
            )
            chances = softmax_regression(matrix, counts)
            log_chances[ask] = np.log(chances[self.classes[ask], bins[ask]])
        return log_chances
