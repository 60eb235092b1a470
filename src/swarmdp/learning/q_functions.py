"""Step 4 of Algorithm 2: ways to update the shared Q-function from the agents' experience.

Each way is a small frozen class whose `start` gives the memory of one learning process. Arrays
have a leading axis of R independent replicas; run r of the experience belongs to replica r % R.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels

Indices = NDArray[np.integer]


class QFunction(Protocol):
    """A shared Q-function that learns from one time step of all agents after another."""

    @property
    def values(self) -> NDArray[np.float64]:
        """Q(o, a) as it is now (R, observations, actions)."""

    def learn(self, before: Indices, action: Indices, after: Indices, rate: float) -> None:
        """Take in the transitions (o, a, o') of all agents (runs, agents)."""


class QUpdate(Protocol):
    """A way to update a Q-function."""

    def start(self, reward: NDArray[np.float64], n_actions: int, discount: float) -> QFunction:
        """A Q-function of zeros for the reward of each observation (R, observations)."""


class ModelQ(QFunction, Protocol):
    """A Q-function that comes from an estimate of the local kernel."""

    def kernel(self) -> NDArray[np.float64]:
        """The estimate of P(o' | o, a), (R, observations, actions, observations)."""


@dataclass(frozen=True)
class SequentialQ:
    """The paper's update: one agent after the other, each with the full learning rate."""

    def start(self, reward: NDArray[np.float64], n_actions: int, discount: float) -> QFunction:
        """A Q-function of zeros."""
        return _WatkinsQ(kernels.tabular.q_sequential, reward, n_actions, discount)


@dataclass(frozen=True)
class BatchQ:
    """The average over all agents that were in the same (o, a), once in a time step."""

    def start(self, reward: NDArray[np.float64], n_actions: int, discount: float) -> QFunction:
        """A Q-function of zeros."""
        return _WatkinsQ(kernels.tabular.q_batch, reward, n_actions, discount)


class _WatkinsQ:
    """Q-learning by Watkins' rule, applied by one of the kernels."""

    def __init__(
        self, rule: object, reward: NDArray[np.float64], n_actions: int, discount: float
    ) -> None:
        self.values = np.zeros((*reward.shape, n_actions))
        self._rule = rule
        self._reward = reward
        self._discount = discount

    def learn(self, before: Indices, action: Indices, after: Indices, rate: float) -> None:
        self._rule(before, action, after, self._reward, self._discount, rate, self.values)  # type: ignore[operator]
