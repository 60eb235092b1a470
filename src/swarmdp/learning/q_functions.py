"""The shared Q-function of Algorithm 2, and step 4: ways to update it from the agents' experience.

Each way is a small frozen class whose `start` gives the memory of one learning process. Arrays
have a leading axis of R independent replicas; run r of the experience belongs to replica r % R.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp import kernels
from swarmdp.learning.tables import TabularQ
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Stream
from swarmdp.model.system import System, class_map
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import NOTHING_MORE, Learned, Wants
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked
@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learned: the best policy for each of R rewards.

    Parameters
    ----------
    system
        The swarm that learns.
    reward
        What to learn for, in R replicas.
    discount
        The discount of future rewards.
    wants
        The softness of the policy, and whether the local kernel is wanted.
    transitions
        The number of transitions that will come for each replica, at most; None if not known.
    seed
        Of the random numbers that the Q-function itself draws.
    memory
        What earlier learning kept, to go on with; empty to start afresh.

    """

    system: System
    reward: Reward
    discount: float
    wants: Wants = NOTHING_MORE
    transitions: int | None = None
    seed: int = 0
    memory: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@runtime_checkable
class QFunction(Protocol):
    """A Q-function that all agents share and learn together."""

    @property
    def values(self) -> NDArray[np.float64]:
        """What it has learned so far, replicas first: Q(o, a), or weights."""

    @property
    def seen(self) -> NDArray[np.bool_] | None:
        """The classes of observations visited so far (R, observations), if it knows classes."""

    @property
    def greedy(self) -> NDArray[np.integer] | None:
        """The best action index of each class (R, observations), if it knows classes."""

    def sees(self, observations: NDArray[Any]) -> NDArray[Any]:
        """What it learns from observations (runs, agents, ...): their classes, or themselves."""

    def choose(self, observations: NDArray[Any], stream: Stream) -> NDArray[np.integer]:
        """The action indices (runs, agents) that it considers best."""

    def learn(
        self,
        before: NDArray[Any],
        actions: NDArray[np.integer],
        rewards: NDArray[np.float64],
        after: NDArray[Any],
        rate: float,
    ) -> None:
        """Learn from one time step of all agents: (o, a, r, o'), each (runs, agents, ...)."""

    def policy(self) -> LocalPolicy:
        """The policy that it implies, of R replicas."""

    def learned(self) -> Learned:
        """The policy with all that was found on the way."""


@runtime_checkable
class QUpdate(Protocol):
    """A way to update a Q-function."""

    @property
    def mirrors(self) -> bool:
        """Whether its experience counts also mirrored, if that is wanted."""

    def start(self, problem: Problem) -> QFunction:
        """A Q-function that has learned nothing yet."""

    def bytes(self, system: System, transitions: int, wants: Wants) -> int:
        """The memory that the Q-function of one replica needs at most."""


def rewards_for(
    q: QFunction, problem: Problem, runs: int
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """A function to collect rewards (runs, agents) from observations and what Q sees of them."""
    numbers = np.arange(runs)
    if q.seen is None:
        return lambda raw, seen: problem.reward.of(problem.system, raw, numbers)
    table, rows = problem.reward.of_classes(problem.system), numbers % problem.reward.replicas
    return lambda raw, seen: kernels.tables.look_up(seen, table, rows)


@checked
@dataclass(frozen=True)
class SequentialQ:
    """The paper's update: one agent after the other, each with the full learning rate.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> q = swarmdp.learning.SequentialQ()
    >>> learner = swarmdp.learning.HeterogeneousLearning(q, steps=20)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> learner(ising, reward, discount=0.9, seed=1).policy.table.shape
    (1, 9)

    """

    mirrors: ClassVar[bool] = True

    def start(self, problem: Problem) -> QFunction:
        """A Q-function of zeros."""
        return _watkins(kernels.tables.q_sequential, problem, self)

    def bytes(self, system: System, transitions: int, wants: Wants) -> int:
        """The memory of a table."""
        return table_bytes(system)


@checked
@dataclass(frozen=True)
class BatchQ:
    """The average over all agents that were in the same (o, a), once in a time step.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> learner = swarmdp.learning.HeterogeneousLearning(swarmdp.learning.BatchQ(), steps=20)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> learner(ising, reward, discount=0.9, seed=1).policy.table.shape
    (1, 9)

    """

    mirrors: ClassVar[bool] = True

    def start(self, problem: Problem) -> QFunction:
        """A Q-function of zeros."""
        return _watkins(kernels.tables.q_batch, problem, self)

    def bytes(self, system: System, transitions: int, wants: Wants) -> int:
        """The memory of a table."""
        return table_bytes(system)


def table_bytes(system: System) -> int:
    """The memory of one replica's Q-values, their copies and its policy, over classes."""
    return class_map(system).size * (40 * len(system.actions) + 9)


def _watkins(rule: Any, problem: Problem, update: QUpdate) -> QFunction:
    if problem.wants.softness or problem.wants.kernel:
        what = "soft policies are" if problem.wants.softness else "the local kernel P(o' | o, a) is"
        raise InvalidInput(
            f"{what} learned with q_update=LocalModel(), not with {type(update).__name__}: choose "
            "that, or an update whose policies are greedy (max_margin, projection, ng_russell, "
            "mwal)"
        )
    return TabularQ(problem.system, problem.reward.replicas, _Watkins(rule, problem), problem.wants)


class _Watkins:
    """Q-learning by Watkins' rule, applied by one of the kernels."""

    needs_rewards: ClassVar[bool] = True
    mirrors: ClassVar[bool] = False

    def __init__(self, rule: Any, problem: Problem) -> None:
        self._rule = rule
        self._discount = problem.discount

    def learn(
        self,
        values: NDArray[np.float64],
        before: NDArray[np.integer],
        actions: NDArray[np.integer],
        rewards: NDArray[np.float64],
        after: NDArray[np.integer],
        rate: float,
    ) -> None:
        self._rule(before, actions, rewards, after, self._discount, rate, values)

    def kernel(self) -> None:
        return None

    def kept(self) -> Mapping[str, NDArray[np.float64]]:
        return {}
