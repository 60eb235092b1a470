"""Reward update: the max-margin method of Abbeel and Ng (2004), as a second-order cone program.

    maximise  m   over  (w, m)   subject to   w . (mu_E - mu_j) >= m  for all j,   |w| <= 1

The margin m is the distance from mu_E to the convex hull of the mu_j, w the unit vector from the
nearest point of the hull to mu_E, and the dual variables of the constraints are the weights of
the mixture of policies whose feature expectations are that nearest point.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput, SolverError

_TOLERANCE = 1e-10
ACTIVE = 1e-7  # mixture weight of an interior point that is taken for positive
_INSIDE = 1e-8  # a margin below this share of the largest gap means that mu_E is in the hull
LONG = 16  # times its largest entry: products of longer gaps lose digits unless these are scaled
_ROUNDING = 1e-13  # gaps below this share of mu_E are none


@checked
@dataclass(frozen=True)
class MaxMargin:
    """`update="max_margin"`: the reward under which the expert beats all policies by the most.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(8, 8), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=5, seed=1)
    >>> result = swarmdp.fit(
    ...     ising, demo, seed=1, update=swarmdp.updates.MaxMargin(), iterations=2, judge=False
    ... )
    >>> result.reward.weights.shape
    (1, 9)

    """

    wants: ClassVar[Wants] = Wants(any_policies=True)

    def __call__(self, evidence: Evidence) -> Update:
        """The solution of each experiment."""
        solved = [max_margin(mu, evidence.learned[:, r]) for r, mu in enumerate(evidence.expert)]
        return Update(
            np.stack([s.weights for s in solved]),
            np.array([s.margin for s in solved]),
            np.stack([s.mixture for s in solved]),
        )


@dataclass(frozen=True, eq=False)
class Margin:
    """The solution of one max-margin problem."""

    weights: NDArray[np.float64]  # (d,), of length one; zero when mu_E is in the hull
    margin: float
    mixture: NDArray[np.float64]  # (J,), not negative, sums to one


def max_margin(expert: NDArray[np.float64], learned: NDArray[np.float64]) -> Margin:
    """The reward for which the expert (d,) beats every learned policy (J, d) by the most.

    When the expert is in the convex hull of the learned policies, no reward separates them: the
    margin and the weights are zero, and the mixture reproduces the expert.

    Parameters
    ----------
    expert
        The expert's feature expectations (d,).
    learned
        Those of at least one policy (J, d).

    """
    if learned.ndim != 2 or learned.shape[0] == 0 or learned.shape[1:] != expert.shape:
        raise InvalidInput(
            f"needs feature expectations (J, d) of at least one policy beside the expert's (d,), "
            f"got {learned.shape} and {expert.shape}"
        )
    if not (np.isfinite(expert).all() and np.isfinite(learned).all()):
        raise InvalidInput("feature expectations must be finite")
    gaps = expert - learned
    size = float(np.abs(gaps).max())
    zero = np.zeros_like(expert)
    if size <= _ROUNDING * float(np.abs(expert).max()):
        return Margin(zero, 0.0, np.full(len(learned), 1 / len(learned)))
    length = float(np.linalg.norm(gaps, axis=1).max())
    unit = size if length <= LONG * size else length
    mixture = _polish(gaps / unit, _solve(gaps / unit))
    nearest = mixture @ gaps
    margin = float(np.linalg.norm(nearest))
    if margin <= max(_INSIDE * size, _ROUNDING * float(np.abs(expert).max())):
        return Margin(zero, 0.0, mixture)
    return Margin(nearest / margin, margin, mixture)


def _solve(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mixture weights, by Clarabel's interior-point method."""
    import clarabel
    from scipy import sparse

    policies, features = gaps.shape
    # Variables (w, m); slack s = b - A x in: J half-lines, then the cone (1, w) of length d + 1.
    # Column by column, since a full matrix has d^2 entries: a feature's gaps and its -1 in the
    # cone; last the ones of m.
    entries = np.vstack([-gaps, -np.ones(features)]).T
    column, row = entries.nonzero()
    rows = np.concatenate([np.where(row < policies, row, row + 1 + column), np.arange(policies)])
    ends = np.cumsum(np.append(np.count_nonzero(entries, axis=1), policies))
    constraints = sparse.csc_matrix(
        (np.append(entries[column, row], np.ones(policies)), rows, np.append(0, ends)),
        shape=(policies + 1 + features, features + 1),
    )
    bounds = np.concatenate([np.zeros(policies), [1.0], np.zeros(features)])
    objective = np.concatenate([np.zeros(features), [-1.0]])
    cones = [clarabel.NonnegativeConeT(policies), clarabel.SecondOrderConeT(features + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    quadratic = sparse.csc_matrix((features + 1, features + 1))
    solver = clarabel.DefaultSolver(quadratic, objective, constraints, bounds, cones, settings)
    solution = solver.solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        raise SolverError(
            f"the max-margin program of {policies} policies was not solved: status {status}"
        )
    mixture = np.clip(np.array(solution.z[:policies]), 0.0, None)
    return np.asarray(mixture / mixture.sum())


def _polish(gaps: NDArray[np.float64], mixture: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exact mixture on the constraints that an interior point says are active.

    An interior point is exact in the margin but only to its square root in the weights. On the
    right active set the nearest point solves a linear system; a constraint with a negative weight
    leaves the set, one that is violated enters it. Kept only if it is not farther.
    """
    active = mixture > ACTIVE
    for _ in range(2 * len(gaps) + 10):
        chosen = np.flatnonzero(active)
        points = gaps[chosen]
        ones = np.ones((len(chosen), 1))
        system = np.block([[points @ points.T, ones], [ones.T, np.zeros((1, 1))]])
        right = np.zeros(len(chosen) + 1)
        right[-1] = 1.0
        weights = np.linalg.lstsq(system, right, rcond=None)[0][:-1]
        if weights.min() < -1e-12:
            active[chosen[weights.argmin()]] = False
            continue
        exact = np.zeros(len(gaps))
        exact[chosen] = np.clip(weights, 0.0, None)
        exact /= exact.sum()
        nearest = exact @ gaps
        slack = gaps @ nearest - nearest @ nearest
        if slack.min() >= -1e-12:
            break
        active[slack.argmin()] = True
    else:
        return mixture
    better = np.linalg.norm(exact @ gaps) <= np.linalg.norm(mixture @ gaps) + _TOLERANCE
    return exact if better else mixture
