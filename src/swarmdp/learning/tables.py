"""Q-functions that are tables over classes of observations."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.policies import LocalPolicy, Policy, SoftPolicy
from swarmdp.protocols import Learned
from swarmdp.streams import Stream
from swarmdp.system import System, class_map, classes, null_action

TIE = 1e-9  # Q-values as near as this, relative to the largest, count as equal

Indices = NDArray[np.integer]


class Memory(Protocol):
    """What a way of learning keeps beside the table."""

    def learn(
        self,
        values: NDArray[np.float64],
        before: Indices,
        actions: Indices,
        rewards: NDArray[np.float64],
        after: Indices,
        rate: float,
    ) -> None:
        """Change the table (R, observations, actions) in place."""

    def kernel(self) -> NDArray[np.float64] | None:
        """P(o' | o, a), (R, observations, actions, observations), if it was asked for."""


class TabularQ:
    """Q(o, a) as a table; in doubt, agents do nothing.

    Ties between actions, and with them observations that were never visited, go to the action whose
    physical value is zero.
    """

    def __init__(
        self, system: System, replicas: int, memory: Memory, softness: float = 0.0
    ) -> None:
        observations, actions = class_map(system).size, len(system.actions)
        self.values = np.zeros((replicas, observations, actions))
        self.seen = np.zeros((replicas, observations), np.bool_)
        self._system = system
        self._memory = memory
        self._softness = softness
        self._null = null_action(system)
        self.greedy = greedy(self.values, self._null)

    def sees(self, observations: NDArray[Any]) -> Indices:
        """The class of each observation."""
        return classes(self._system, observations)

    def choose(self, observations: Indices, luck: Stream) -> Indices:
        """The greedy action of each agent, or one drawn from Boltzmann's policy."""
        rows = np.arange(len(observations)) % len(self.values)
        if not self._softness:
            return kernels.tabular.look_up(observations, self.greedy, rows)
        sums = np.cumsum(self._probabilities(), axis=2)
        return kernels.tabular.draw(observations, sums, luck.uniform(), rows)

    def learn(
        self,
        before: Indices,
        actions: Indices,
        rewards: NDArray[np.float64],
        after: Indices,
        rate: float,
    ) -> None:
        """Update the table."""
        self._memory.learn(self.values, before, actions, rewards, after, rate)
        kernels.tabular.mark(before, self.seen)
        self.greedy = greedy(self.values, self._null)

    def policy(self) -> LocalPolicy:
        """The greedy policy, or Boltzmann's."""
        return SoftPolicy(self._probabilities()) if self._softness else Policy(self.greedy)

    def learned(self) -> Learned:
        """The policy with Q-values, visited observations and the kernel if it was asked for."""
        return Learned(self.policy(), self.values, self.seen, self._memory.kernel())

    def _probabilities(self) -> NDArray[np.float64]:
        return boltzmann(self.values, self._softness, self.seen, self._null)


def greedy(q: NDArray[np.float64], null: int) -> NDArray[np.int64]:
    """The best action for each observation (R, observations); a tie goes to the null action."""
    return kernels.tabular.greedy(q, null, TIE)


def boltzmann(
    q: NDArray[np.float64], softness: float, seen: NDArray[np.bool_], null: int
) -> NDArray[np.float64]:
    """Boltzmann's policy (R, observations, actions); in unseen observations it does nothing."""
    probabilities = kernels.tabular.boltzmann(q, softness)
    probabilities[~seen] = np.arange(q.shape[2]) == null
    return probabilities
