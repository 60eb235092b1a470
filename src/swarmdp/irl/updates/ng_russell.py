"""Reward update: the linear programs of Ng and Russell (2000).

From trajectories: the reward under which the expert is better than all policies so far,

    maximise  sum over j of p(w . (mu_E - mu_j))   subject to  |w_i| <= 1,

where p(x) = x for x >= 0 and 2x below: where the expert would be worse it counts twice.

From a known policy and transitions: the reward for which that policy is optimal, and for which one
step by the next best action costs the most,

    maximise  sum over s of min over a != pi(s) of (P_pi(s) - P_a(s)) (I - gamma P_pi)^-1 R
              - lambda |R|_1      subject to  these margins >= 0,  |R(s)| <= R_max.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput, SolverError, SwarmdpWarning
from swarmdp.systems.finite import chain_of

Bounds = list[tuple[float | None, float | None]]
MATCHED = 1e-6  # a policy's feature expectations as near as this are the expert's

NONE = 1e-9  # an objective below this share of the largest possible one is none


@checked
@dataclass(frozen=True)
class NgRussell:
    """`update="ng_russell"`: the reward under which the expert is better than every policy.

    Parameters
    ----------
    penalty
        How much more it counts where the expert is worse.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> update = swarmdp.updates.NgRussell(penalty=2.0)
    >>> result = swarmdp.fit(ising, demo, seed=1, update=update, iterations=2, judge=False)
    >>> result.reward.weights.shape
    (1, 9)

    """

    penalty: float = 2.0

    wants: ClassVar[Wants] = Wants(any_policies=True)

    def __post_init__(self) -> None:
        if not 1 <= self.penalty < np.inf:
            raise InvalidInput(f"penalty must be at least 1 and finite, got {self.penalty}")

    def __call__(self, evidence: Evidence) -> Update:
        """The program of each experiment; its margin is the mean objective of a policy."""
        solved = [
            better_than(mu, evidence.learned[:, r], self.penalty)
            for r, mu in enumerate(evidence.expert)
        ]
        margin = np.array([value for _, value in solved])
        _warn_unless_matched(margin, np.linalg.norm(evidence.expert - evidence.learned, axis=2))
        return Update(np.stack([w for w, _ in solved]), margin)


def _warn_unless_matched(margin: NDArray[np.float64], distances: NDArray[np.float64]) -> None:
    """Warn that the fit ends for experiments whose program has no solution but zero.

    The penalty can cause this: a reward that separates the expert from most policies costs more
    because of the others. Margins are (R,), distances to the policies (J, R).
    """
    distance = distances.min(axis=0)
    stuck = (margin == 0) & (distance > MATCHED)
    if stuck.any():
        warnings.warn(
            f"no reward separates the expert from the policies found in {stuck.sum()} of "
            f"{len(stuck)} experiments, though none of these matches it (distance up to "
            f"{distance[stuck].max():.3g}), so their fit ends here: use max_margin or "
            "projection, or a penalty nearer to 1, such as NgRussell(penalty=1)",
            SwarmdpWarning,
            stacklevel=3,
        )


def better_than(
    expert: NDArray[np.float64], learned: NDArray[np.float64], penalty: float = 2.0
) -> tuple[NDArray[np.float64], float]:
    """The weights (d,) under which the expert is better than the policies, and the objective.

    The objective is divided by the number of policies; it is zero if there is no such reward.

    Parameters
    ----------
    expert
        The expert's feature expectations (d,).
    learned
        Those of all policies (J, d).
    penalty
        How much more it counts where the expert is worse.

    """
    gaps = expert - learned
    size = float(np.abs(gaps).max(initial=0.0))
    if size == 0:
        return np.zeros_like(expert), 0.0
    policies, features = gaps.shape
    # Variables (w, u): u_j = p(w . gap_j) is the largest number below both of its branches.
    above = np.block([[-gaps / size, np.eye(policies)], [-penalty * gaps / size, np.eye(policies)]])
    objective = np.concatenate([np.zeros(features), -np.ones(policies)])
    bounds: Bounds = [*[(-1.0, 1.0)] * features, *[(None, None)] * policies]
    solution = _solved(objective, above, np.zeros(2 * policies), bounds)
    value = -float(objective @ solution) * size / policies
    if value <= NONE * size * features:
        return np.zeros_like(expert), 0.0
    return solution[:features], value


@dataclass(frozen=True, eq=False)
class MatrixReward:
    """The solution of Ng and Russell's program for a known policy."""

    reward: NDArray[np.float64]  # (S,)
    objective: float  # sum of smallest margins, minus the penalty's
    margin: float  # the sum of smallest margins itself


@checked(skip=("transitions",))
def ng_russell(
    transitions: ArrayLike | Sequence[Any],
    policy: ArrayLike,
    *,
    discount: float,
    penalty: float = 0.0,
    largest: float = 1.0,
) -> MatrixReward:
    """The reward of states for which a known policy is optimal.

    Parameters
    ----------
    transitions
        P(s' | s, a) as (S, A, S), or in another form that a `FiniteMDP` takes.
    policy
        The action index of each state (S,).
    discount
        The discount factor gamma.
    penalty
        The price lambda of the rewards' absolute sum; a larger one makes rewards sparser.
    largest
        The bound R_max of the rewards' absolute values.

    Returns
    -------
    MatrixReward
        The reward of each state (S,), and the margin by which the policy is best.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    SolverError
        If the linear program has no solution.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> stay, move = np.eye(2), np.eye(2)[::-1]
    >>> found = swarmdp.updates.ng_russell([stay, move], [1, 0], discount=0.9)
    >>> found.reward.round(2)    # the policy rests in the second state
    array([-1.,  1.])

    """
    rows, actions = chain_of(transitions)
    states = rows.shape[1]
    chain = rows.toarray().reshape(states, actions, states)
    chosen = np.asarray(policy)
    if chosen.shape != (states,):
        raise InvalidInput(
            f"needs a policy of shape ({states},) for transitions {chain.shape}, got {chosen.shape}"
        )
    if not np.isin(chosen, np.arange(actions)).all():
        raise InvalidInput(f"the policy must be action indices from 0 to {actions - 1}")
    chosen = chosen.astype(np.int64)
    if not 0 <= discount < 1 or not 0 <= penalty < np.inf or not 0 < largest < np.inf:
        raise InvalidInput(
            "discount must be in [0, 1), penalty finite and not negative, largest finite and "
            f"positive, got {discount}, {penalty}, {largest}"
        )
    expert_rows = chain[np.arange(states), chosen]
    inverse = np.linalg.inv(np.eye(states) - discount * expert_rows)
    others = np.arange(actions) != chosen[:, None]
    state = np.nonzero(others)[0]
    margins = (expert_rows[state] - chain[others]) @ inverse
    # Variables (R+, R-, m): R = R+ - R-, and m_s the smallest margin of state s.
    whose = np.eye(states)[state]
    above = np.hstack([-margins, margins, whose])
    never = np.hstack([-margins, margins, np.zeros_like(whose)])
    objective = np.concatenate([np.full(2 * states, penalty), -np.ones(states)])
    bounds: Bounds = [*[(0.0, largest)] * (2 * states), *[(None, None)] * states]
    if actions == 1:
        return MatrixReward(np.zeros(states), 0.0, 0.0)
    limits = np.vstack([above, never])
    solution = _solved(objective, limits, np.zeros(len(limits)), bounds)
    reward = solution[:states] - solution[states : 2 * states]
    return MatrixReward(reward, -float(objective @ solution), float(solution[2 * states :].sum()))


def _solved(
    objective: NDArray[np.float64],
    above: NDArray[np.float64],
    limits: NDArray[np.float64],
    bounds: Bounds,
) -> NDArray[np.float64]:
    """The solution of a linear program, by HiGHS."""
    from scipy.optimize import linprog

    solution = linprog(objective, A_ub=above, b_ub=limits, bounds=bounds, method="highs")
    if solution.x is None or solution.status != 0:
        raise SolverError(f"the linear program was not solved: {solution.message}")
    return np.asarray(solution.x, np.float64)
