"""Q-functions that are tables over classes of observations."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.streams import Stream
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, class_map, classes
from swarmdp.model.traits import null_action
from swarmdp.policies import LocalPolicy, Policy, SoftPolicy
from swarmdp.policies.learner import NOTHING_MORE, Learned, Wants
from swarmdp.support.errors import InvalidInput

_TIE = 1e-9  # Q-values as near as this, relative to the largest, count as equal

Indices = NDArray[np.integer]


class Memory(Protocol):
    """What a way of learning keeps beside the table."""

    @property
    def needs_rewards(self) -> bool:
        """Whether it looks at the rewards that agents collect."""

    @property
    def mirrors(self) -> bool:
        """Whether it counts experience mirrored by itself, if that is wanted."""

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

    def kept(self) -> Mapping[str, NDArray[np.float64]]:
        """What the next policy update can go on with, by name, replicas first."""


_MOST_ENTRIES = 10_000_000  # of a table that is learned


class TabularQ:
    """Q(o, a) as a table; in doubt, agents do nothing.

    Ties between actions, and with them observations that were never visited, go to the action whose
    physical value is zero.
    """

    def __init__(
        self,
        system: System,
        replicas: int,
        memory: Memory,
        wants: Wants = NOTHING_MORE,
    ) -> None:
        observations, actions = class_map(system).size, len(system.actions)
        if observations * actions > _MOST_ENTRIES:
            raise InvalidInput(
                f"a table of {observations:,} classes of observations and {actions} actions has "
                f"more than {_MOST_ENTRIES:,} entries, too many to be learned one by one: take "
                "coarser features, or learn without classes (swarmdp.learning.LinearQ)"
            )
        self.values = np.zeros((replicas, observations, actions))
        self.seen = np.zeros((replicas, observations), np.bool_)
        self._system = system
        self._memory = memory
        self._softness = wants.softness
        self._symmetry = Symmetry.of(system) if wants.mirror else None
        self._order = np.empty(0, np.int64) if self._symmetry is None else self._symmetry.classes
        self._null = null_action(system)
        self.greedy = self._best()

    @property
    def is_soft(self) -> bool:
        """Whether its policy is Boltzmann's."""
        return self._softness > 0

    @property
    def needs_rewards(self) -> bool:
        """Whether it looks at the rewards that agents collect."""
        return self._memory.needs_rewards

    def sees(self, observations: NDArray[Any]) -> Indices:
        """The class of each observation."""
        return classes(self._system, observations)

    def choose(self, observations: Indices, stream: Stream) -> Indices:
        """The greedy action of each agent, or one drawn from Boltzmann's policy."""
        rows = np.arange(len(observations)) % len(self.values)
        if not self._softness:
            return kernels.tables.look_up(observations, self.greedy, rows)
        sums = np.cumsum(self._probabilities(), axis=2)
        return kernels.tables.draw(observations, sums, stream.uniform(), rows)

    def learn(
        self,
        before: Indices,
        actions: Indices,
        rewards: NDArray[np.float64],
        after: Indices,
        rate: float,
    ) -> None:
        """Update the table."""
        seen = before
        if self._symmetry is not None and not self._memory.mirrors:
            order, turned = self._symmetry.classes, self._symmetry.actions
            before, after = np.hstack([before, order[before]]), np.hstack([after, order[after]])
            actions = np.hstack([actions, turned[actions]])
            rewards = np.hstack([rewards, rewards])
        self._memory.learn(self.values, before, actions, rewards, after, rate)
        kernels.tables.mark(seen, self._order, self.seen)
        self.update()

    def update(self) -> None:
        """Find the best actions of the table as it is now."""
        self.greedy = self._best()

    def policy(self) -> LocalPolicy:
        """The greedy policy, or Boltzmann's."""
        return SoftPolicy(self._probabilities()) if self._softness else Policy(self.greedy)

    def learned(self) -> Learned:
        """The policy with Q-values, visited observations and the kernel if it was asked for."""
        return Learned(
            self.policy(), self._even(), self.seen, self._memory.kernel(), self._memory.kept()
        )

    def _even(self) -> NDArray[np.float64]:
        """The Q-values, the same for a mirrored action in a mirrored observation."""
        if self._symmetry is None:
            return self.values
        order, turned = self._symmetry.classes, self._symmetry.actions
        return (self.values + self.values[:, order][:, :, turned]) / 2

    def _best(self) -> NDArray[np.int64]:
        """The best actions; with a mirror they are odd.

        An observation that is its own mirror image, such as no misalignment, gets an action that
        is, such as no turn: of a turn to the left and one to the right neither is better.
        """
        if self._symmetry is None:
            return greedy(self.values, self._null)
        mirror = self._symmetry.classes, self._symmetry.actions
        return kernels.tables.best_mirrored_actions(self.values, self._null, _TIE, *mirror)

    def _probabilities(self) -> NDArray[np.float64]:
        return boltzmann(self._even(), self._softness, self.seen, self._null)


def greedy(q: NDArray[np.float64], null: int) -> NDArray[np.int64]:
    """The best action for each observation (R, observations); a tie goes to the null action."""
    return kernels.tables.best_actions(q, null, _TIE)


def boltzmann(
    q: NDArray[np.float64], softness: float, seen: NDArray[np.bool_], null: int
) -> NDArray[np.float64]:
    """Boltzmann's policy (R, observations, actions); in unseen observations it does nothing."""
    probabilities = kernels.tables.boltzmann_probabilities(q, softness)
    probabilities[~seen] = np.arange(q.shape[2]) == null
    return probabilities
