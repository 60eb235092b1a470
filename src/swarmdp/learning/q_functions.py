"""Step 4 of Algorithm 2: ways to update the shared Q-function from the agents' experience.

Each way is a small frozen class whose `start` gives the memory of one learning process. Arrays
have a leading axis of R independent replicas; run r of the experience belongs to replica r % R.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.checks import check_integer, check_number
from swarmdp.errors import InvalidInput

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


@dataclass(frozen=True)
class LocalModel:
    """The local kernel P(o' | o, a), counted with forgetting, and Bellman sweeps on it.

    The kernel is what the swarm around it looks like to one agent. Every transition is used again
    in all later sweeps, where a Q-step would use it once; forgetting lets the estimate follow the
    swarm while it changes. It has no learning rate.
    """

    forgetting: float = 0.99  # weight that a count keeps in each iteration
    sweeps: int = 3  # of the Bellman equation in each iteration
    prior: float = 1.0  # pseudo-counts towards the mean value for what was not tried

    def __post_init__(self) -> None:
        if not 0 < self.forgetting <= 1:
            raise InvalidInput(f"forgetting must be in (0, 1], got {self.forgetting}")
        check_integer("sweeps", self.sweeps, least=1)
        check_number("prior", self.prior, positive=True)

    def start(
        self, reward: NDArray[np.float64], n_actions: int, discount: float, softness: float = 0.0
    ) -> ModelQ:
        """No counts yet. With a softness, Q is that of Boltzmann's policy."""
        return _LocalModelQ(self, reward, n_actions, discount, softness)


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


class _LocalModelQ:
    """Counts of (o, a, o') and the Q-function that is optimal for them."""

    def __init__(
        self,
        settings: LocalModel,
        reward: NDArray[np.float64],
        n_actions: int,
        discount: float,
        softness: float,
    ) -> None:
        replicas, observations = reward.shape
        self.values = np.zeros((replicas, observations, n_actions))
        self.counts = np.zeros((replicas, observations, n_actions, observations))
        self._totals = np.zeros((replicas, observations, n_actions))
        self._state_values = np.zeros((replicas, observations))
        self._settings = settings
        self._reward = reward
        self._discount = discount
        self._softness = softness
        self._weight = 1.0
        self._prior = settings.prior  # in the same unit as the counts

    def kernel(self) -> NDArray[np.float64]:
        pseudo = self._prior / self.counts.shape[-1]
        kernel: NDArray[np.float64] = (self.counts + pseudo) / (
            self._totals[..., None] + self._prior
        )
        return kernel

    def learn(self, before: Indices, action: Indices, after: Indices, rate: float) -> None:
        # Instead of letting old counts shrink, new ones weigh more: the ratio is the same.
        kernels.tabular.add_transitions(
            before, action, after, self._weight, self.counts, self._totals
        )
        self._prior = self._settings.prior * self._weight
        model = self.counts, self._totals, self._prior
        bellman = self._settings.sweeps, self._state_values, self.values
        if self._softness:
            kernels.tabular.sweep_model_softly(
                *model, self._reward, self._discount, self._softness, *bellman
            )
        else:
            kernels.tabular.sweep_model(*model, self._reward, self._discount, *bellman)
        self._weight /= self._settings.forgetting
        if self._weight > 1e100:
            self.counts /= self._weight
            self._totals /= self._weight
            self._prior /= self._weight
            self._weight = 1.0
