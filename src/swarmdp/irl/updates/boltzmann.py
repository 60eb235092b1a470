"""The Boltzmann policy of a reward, pi(a | o) ~ exp(Q*(o, a) / softness), and its derivatives.

Q* is that of the local MDP (P, R, discount) in which one agent of the swarm lives: P(o' | o, a) is
what the swarm around it makes of its actions, and R(o) = w . phi(o).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol

from swarmdp import kernels
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_discount
from swarmdp.support.errors import InvalidInput

_ROUNDING = 1e-8  # by which the rows of a kernel may miss one


class Valued(Protocol):
    """What actions are worth, as a function of the weights of a reward."""

    def optimal_q(
        self, weights: Floats, start: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Q (O, A) of these weights (d,), and the policy (O,) that is followed afterwards.

        Planning starts from the policy `start`.
        """

    def q_derivative(self, policy: NDArray[np.int64]) -> Floats:
        """The derivative of Q with respect to the weights (O, A, d), where this is the policy."""


@dataclass(frozen=True, eq=False)
class LocalMDP:
    """What one agent can do about its observations."""

    transitions: Floats  # (O, A, O): P(o' | o, a) at [o, a, o']
    features: Floats  # (O, d): phi(o)
    discount: float

    def __post_init__(self) -> None:
        check_discount(self.discount)
        shape = self.transitions.shape
        if self.transitions.ndim != 3 or shape[0] != shape[2] or 0 in shape:
            raise InvalidInput(f"the kernel must have the shape (O, A, O), got {shape}")
        if self.features.ndim != 2 or len(self.features) != shape[0] or 0 in self.features.shape:
            raise InvalidInput(
                f"the features must have the shape ({shape[0]}, d), got {self.features.shape}"
            )
        rows = self.transitions.sum(axis=2)
        if not (np.abs(rows - 1) <= _ROUNDING).all() or self.transitions.min() < 0:
            o, a = np.unravel_index(np.abs(rows - 1).argmax(), rows.shape)
            raise InvalidInput(
                "each row P(. | o, a) of the kernel must be probabilities that sum to one, but "
                f"that of observation {o}, action {a} sums to {rows[o, a]:.6g}"
            )
        if not np.isfinite(self.features).all():
            raise InvalidInput("the features must be finite")

    @property
    def observations(self) -> int:
        """The number of observations O."""
        return int(self.transitions.shape[0])

    @property
    def actions(self) -> int:
        """The number of actions A."""
        return int(self.transitions.shape[1])

    def incoming(self) -> Floats:
        """The kernel in the order [1, o', o, a] in which the planner reads it."""
        return np.ascontiguousarray(self.transitions.transpose(2, 0, 1))[None]

    def optimal_q(
        self, weights: Floats, start: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Q* (O, A) of these weights (d,), and an optimal policy (O,).

        Planning starts from the policy `start`: one that is nearly optimal makes it quick.
        """
        policy = np.zeros(self.observations, np.int64) if start is None else start.copy()
        reward = self.features @ weights
        q = kernels.tables.optimal_q(
            self.incoming(), reward[None, None], self.discount, policy[None, None]
        )
        return q[0, 0], policy

    def q_derivative(self, policy: NDArray[np.int64]) -> Floats:
        """The derivative of Q* with respect to the weights (O, A, d), where this policy is optimal.

        As Neu and Szepesvari (2007) show, it is the fixed point of
        D(o, a) = phi(o) + discount sum over o' of P(o' | o, a) D(o', pi(o')), here solved for. Q*
        has kinks where two actions are equally good; there it is one of the derivatives.
        """
        followed = self.transitions[np.arange(self.observations), policy]
        matrix = np.eye(self.observations) - self.discount * followed
        return self.ahead(np.asarray(np.linalg.solve(matrix, self.features), np.float64))

    def ahead(self, expectations: Floats) -> Floats:
        """What actions are worth (O, A, d) if this is expected from each observation on (O, d)."""
        # One large product: one for each observation takes many times as long.
        ahead: Floats = self.transitions.reshape(-1, self.observations) @ expectations
        shape = (self.observations, self.actions, -1)
        return self.features[:, None] + self.discount * ahead.reshape(shape)


@dataclass(frozen=True, eq=False)
class Followed:
    """What actions are worth to an agent that afterwards does as the expert does.

    For an expert that is optimal, this is what they are worth to the best of agents. It takes one
    linear system, where planning for each reward takes many, and is linear in the weights.
    """

    worth: Floats  # (O, A, d): of the features, discounted

    @classmethod
    def of(cls, mdp: LocalMDP, chances: Floats) -> "Followed":
        """In a local MDP where the expert takes actions with these chances (O, A)."""
        followed = np.einsum("oa,oap->op", chances, mdp.transitions)
        matrix = np.eye(mdp.observations) - mdp.discount * followed
        return cls(mdp.ahead(np.asarray(np.linalg.solve(matrix, mdp.features), np.float64)))

    def optimal_q(
        self, weights: Floats, start: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Q (O, A) of these weights (d,), and the action that is worth most (O,)."""
        q: Floats = self.worth @ weights
        return q, q.argmax(axis=1)

    def q_derivative(self, policy: NDArray[np.int64]) -> Floats:
        """The derivative of Q with respect to the weights (O, A, d): the same for all policies."""
        return self.worth


def log_boltzmann(q: Floats, softness: float) -> Floats:
    """The logarithm of pi(a | o) ~ exp(Q(o, a) / softness), over the last axis."""
    scaled = (q - q.max(axis=-1, keepdims=True)) / softness
    log_sum = np.log(np.exp(scaled).sum(axis=-1, keepdims=True))
    log_policy: Floats = scaled - log_sum
    return log_policy


def scores(policy: Floats, q_derivative: Floats, softness: float) -> Floats:
    """The derivative of log pi(a | o) with respect to the weights (O, A, d)."""
    mean = np.einsum("oa,oad->od", policy, q_derivative)
    score: Floats = (q_derivative - mean[:, None]) / softness
    return score


def fisher_information(policy: Floats, score: Floats, weight: Floats) -> Floats:
    """The metric (d, d) in which nearby weights mean nearby policies.

    Observations count by their weight (O,).
    """
    scaled = (np.sqrt(weight[:, None] * policy)[..., None] * score).reshape(-1, score.shape[-1])
    metric: Floats = scaled.T @ scaled
    return metric


def check_pairs(mdp: LocalMDP, counts: Floats) -> None:
    """Raise InvalidInput unless counts of observation-action pairs fit the MDP."""
    shape = (mdp.observations, mdp.actions)
    if counts.shape != shape:
        raise InvalidInput(
            f"the counts of observation-action pairs must have the shape {shape}, "
            f"got {counts.shape}"
        )
    if not np.isfinite(counts).all() or counts.min() < 0 or not counts.any():
        raise InvalidInput(
            "the counts of observation-action pairs must be finite, not negative and not all zero"
        )


def check_softness(value: float) -> None:
    """Raise InvalidInput unless the softness of a Boltzmann policy is positive."""
    if not (np.isfinite(value) and value > 0):
        raise InvalidInput(f"softness must be positive and finite, got {value}")
