"""The local kernel P(o' | o, a), counted while the swarm learns, and Q-functions from it.

Counts of (o, a, o') are kept as full tables, or only those that occurred, whichever needs less
memory. Both give the same bits, so the choice never changes what is learned.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.learning.q_functions import Problem, QFunction, table_bytes
from swarmdp.learning.tables import Indices, TabularQ
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, class_map
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_between, check_integer, check_number
from swarmdp.support.errors import InvalidInput

_SMALL = 2**20  # bytes of a full table that stays in the cache: it is quicker than a sparse one
RECALL_SWEEPS = 60  # of the Bellman equation on counts of earlier learning


@checked
@dataclass(frozen=True)
class LocalModel:
    """The local kernel P(o' | o, a), counted with forgetting, and Bellman sweeps on it.

    The kernel describes what the swarm around it does to one agent. Every transition is used again
    in all later sweeps, where a Q-step would use it once; forgetting lets the estimate follow the
    swarm while it changes. It has no learning rate.

    Parameters
    ----------
    forgetting
        The share of its weight that a count keeps in each iteration, above 0 and up to 1.
    sweeps
        The number of sweeps of the Bellman equation in each iteration.
    prior
        The number of pseudo-counts, spread evenly over all o', that each (o, a) starts with.
    recall
        The weight of the counts of earlier learning, where it goes on with them.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> model = swarmdp.learning.LocalModel(sweeps=5)
    >>> learner = swarmdp.learning.HeterogeneousLearning(model, steps=20)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> learner(ising, reward, discount=0.9, seed=1).policy.table.shape
    (1, 9)

    """

    forgetting: float = 0.99
    sweeps: int = 3
    prior: float = 1.0
    recall: float = 0.3

    mirrors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.forgetting <= 1:
            raise InvalidInput(f"forgetting must be in (0, 1], got {self.forgetting}")
        check_integer("sweeps", self.sweeps, least=1)
        check_number("prior", self.prior, positive=True)
        check_between("recall", self.recall, 0, 1)

    def start(self, problem: Problem) -> QFunction:
        """A Q-function of zeros without counts, or with those of earlier learning."""
        model = _Model.of(self, problem)
        q = TabularQ(problem.system, problem.reward.replicas, model, problem.wants)
        if problem.memory:
            model.recall(problem.memory, q.values)
            q.update()
        return q

    def bytes(self, system: System, transitions: int, wants: Wants) -> int:
        """The memory of a table, of the counts, and of the kernel if it is asked for."""
        size = class_map(system).size, len(system.actions)
        kernel = 2 * dense_bytes(*size) if wants.kernel else 0
        return table_bytes(system) + counts_bytes(*size, transitions) + kernel


def is_sparse(observations: int, actions: int, transitions: int) -> bool:
    """Whether counts of at most this many transitions are kept sparsely."""
    dense = dense_bytes(observations, actions)
    return max(_SMALL, sparse_bytes(observations, actions, transitions)) < dense


def counts_bytes(observations: int, actions: int, transitions: int) -> int:
    """The memory that one replica's counts need at most."""
    if is_sparse(observations, actions, transitions):
        return sparse_bytes(observations, actions, transitions)
    return dense_bytes(observations, actions)


def dense_bytes(observations: int, actions: int) -> int:
    """The memory of one replica's counts as a full table, and of a kernel P(o' | o, a)."""
    return 8 * observations**2 * actions


def sparse_bytes(observations: int, actions: int, transitions: int) -> int:
    """The memory of one replica's counts if no transition comes twice."""
    return 12 * transitions + 8 * (observations * actions + 1)


Turned = tuple[NDArray[np.int64], NDArray[np.int64]]  # mirrored classes and actions, or empty


class Counts(Protocol):
    """Counts of (o, a, o') of R replicas; run r of the experience belongs to replica r % R."""

    totals: NDArray[np.float64]  # (R, observations, actions)

    def add(
        self, before: Indices, action: Indices, after: Indices, mirror: Turned, weight: float
    ) -> None:
        """Add the weight to the count of each transition (runs, agents), also mirrored."""

    def forget(self, scale: NDArray[np.float64], forgetting: float) -> None:
        """Let the next counts weigh more (see `kernels.tables.Learning`)."""

    def sweep(
        self,
        prior: float,
        reward: NDArray[np.float64],
        discount: float,
        softness: float,
        sweeps: int,
        value: NDArray[np.float64],
        q: NDArray[np.float64],
    ) -> None:
        """Bellman sweeps on the kernel that the counts estimate, in place."""

    def dense(self) -> NDArray[np.float64]:
        """A copy as a full table (R, observations, actions, observations)."""

    def whole(self) -> NDArray[np.float64] | None:
        """The full table, if it is kept as one."""

    def load(self, table: NDArray[np.float64]) -> None:
        """Start from these counts."""


class _DenseCounts:
    """Counts as a full table."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.totals = np.zeros(shape)
        self._table = np.zeros((*shape, shape[1]))

    def add(
        self, before: Indices, action: Indices, after: Indices, mirror: Turned, weight: float
    ) -> None:
        """Add the weight to the count of each transition, also mirrored."""
        kernels.tables.add_experience(
            before, action, after, *mirror, weight, self._table, self.totals
        )

    def forget(self, scale: NDArray[np.float64], forgetting: float) -> None:
        """Let the next counts weigh more."""
        kernels.tables.forget(self._table, self.totals, scale, forgetting)

    def sweep(
        self,
        prior: float,
        reward: NDArray[np.float64],
        discount: float,
        softness: float,
        sweeps: int,
        value: NDArray[np.float64],
        q: NDArray[np.float64],
    ) -> None:
        """Bellman sweeps, in place."""
        model = self._table, self.totals, prior, reward, discount, softness
        kernels.tables.sweep_model(*model, sweeps, value, q)

    def dense(self) -> NDArray[np.float64]:
        """A copy as a full table."""
        return self._table.copy()

    def whole(self) -> NDArray[np.float64]:
        """The full table."""
        return self._table

    def load(self, table: NDArray[np.float64]) -> None:
        """Start from these counts."""
        if table.shape != self._table.shape:
            raise InvalidInput(
                f"the counts in memory must have the shape {self._table.shape}, got {table.shape}"
            )
        self._table[...] = table
        self.totals[...] = table.sum(axis=3)


class _SparseCounts:
    """Counts of those transitions that occurred, up to a maximum number in each replica."""

    def __init__(self, shape: tuple[int, int, int], transitions: int) -> None:
        replicas, observations, actions = shape
        self.totals = np.zeros(shape)
        self._begins = np.zeros((replicas, observations * actions + 1), np.int64)
        # Memory that is never written to is never taken from the system.
        self._columns = np.empty((replicas, transitions), np.int32)
        self._values = np.empty((replicas, transitions))

    def add(
        self, before: Indices, action: Indices, after: Indices, mirror: Turned, weight: float
    ) -> None:
        """Add the weight to the count of each transition, also mirrored."""
        replicas, room = self._columns.shape
        count = len(before) // replicas * before.shape[1]
        at_once = kernels.tables.is_much(count, *self.totals.shape[1:])
        order, turned = mirror
        if order.size:
            before, after = np.hstack([before, order[before]]), np.hstack([after, order[after]])
            action = np.hstack([action, turned[action]])
        for j in range(replicas):
            of = slice(j, None, replicas)
            if self._begins[j, -1] + before[of].size > room:
                raise InvalidInput(
                    f"this model was started for {room} transitions of each replica, and more "
                    "came: start it with Problem(..., transitions=) as many as there may be"
                )
            kernels.tables.add_sparse_transitions(
                before[of],
                action[of],
                after[of],
                weight,
                at_once,
                *self._arrays(j),
                self.totals[j],
            )

    def forget(self, scale: NDArray[np.float64], forgetting: float) -> None:
        """Let the next counts weigh more."""
        weight = float(scale[0]) / forgetting
        if weight > kernels.tables.LARGEST_COUNT_WEIGHT:
            for values, begins in zip(self._values, self._begins, strict=True):
                values[: begins[-1]] /= weight
            self.totals /= weight
            scale[1] /= weight
            weight = 1.0
        scale[0] = weight

    def sweep(
        self,
        prior: float,
        reward: NDArray[np.float64],
        discount: float,
        softness: float,
        sweeps: int,
        value: NDArray[np.float64],
        q: NDArray[np.float64],
    ) -> None:
        """Bellman sweeps, in place."""
        for j, totals in enumerate(self.totals):
            kernels.tables.sweep_sparse_model(
                *self._arrays(j),
                totals,
                prior,
                reward[j],
                discount,
                softness,
                sweeps,
                value[j],
                q[j],
            )

    def dense(self) -> NDArray[np.float64]:
        """A copy as a full table."""
        replicas, observations, actions = self.totals.shape
        table = np.zeros((replicas, observations * actions, observations))
        for j in range(replicas):
            begins, columns, values = self._arrays(j)
            rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
            table[j, rows, columns[: len(rows)]] = values[: len(rows)]
        return table.reshape(*self.totals.shape, observations)

    def whole(self) -> None:
        """There is no full table."""

    def load(self, table: NDArray[np.float64]) -> None:
        """Raise InvalidInput: sparse counts do not go on with others."""
        raise InvalidInput("counts that are kept sparsely do not go on with earlier ones")

    def _arrays(self, j: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        return self._begins[j], self._columns[j], self._values[j]


class _Model:
    """Counts of (o, a, o') and the values of observations that are optimal for them."""

    needs_rewards: ClassVar[bool] = False
    mirrors: ClassVar[bool] = True

    def __init__(
        self,
        settings: LocalModel,
        counts: Counts,
        reward: NDArray[np.float64],
        discount: float,
        wants: Wants,
        mirror: Turned,
    ) -> None:
        self._settings = settings
        self._mirror = mirror
        self._counts = counts
        self._reward = reward
        self._discount = discount
        self._wants = wants
        self._state_values = np.zeros(reward.shape)
        # The weight of a new count, and the prior in the unit of the counts.
        self._scale = np.array([1.0, settings.prior])

    @classmethod
    def of(cls, settings: LocalModel, problem: Problem) -> "_Model":
        """No counts yet."""
        reward = problem.reward.of_classes(problem.system)
        shape = (reward.shape[0], reward.shape[1], len(problem.system.actions))
        few = problem.transitions
        if few is not None and problem.wants.mirror:
            few = 2 * few
        # What earlier learning kept is a full table, and stays one.
        sparse = not problem.memory and few is not None and is_sparse(shape[1], shape[2], few)
        counts: Counts = _SparseCounts(shape, few or 0) if sparse else _DenseCounts(shape)
        symmetry = Symmetry.of(problem.system) if problem.wants.mirror else None
        nothing = np.empty(0, np.int64)
        mirror = (nothing, nothing) if symmetry is None else (symmetry.classes, symmetry.actions)
        return cls(settings, counts, reward, problem.discount, problem.wants, mirror)

    def learn(
        self,
        values: NDArray[np.float64],
        before: Indices,
        actions: Indices,
        rewards: NDArray[np.float64],
        after: Indices,
        rate: float,
    ) -> None:
        # The reward of every class is known, also of those that no agent is in now: the collected
        # rewards add nothing. Instead of letting old counts shrink, new ones weigh more: the ratio
        # is the same.
        self._counts.add(before, actions, after, self._mirror, float(self._scale[0]))
        self._scale[1] = self._settings.prior * self._scale[0]
        self._sweep(values, self._settings.sweeps)
        self._counts.forget(self._scale, self._settings.forgetting)

    def recall(
        self, memory: Mapping[str, NDArray[np.float64]], values: NDArray[np.float64]
    ) -> None:
        """Go on with the counts of earlier learning, and plan with them."""
        counts = memory.get("counts")
        if counts is None:
            raise InvalidInput(
                "memory must be what earlier learning kept (Learned.memory), with 'counts', got "
                f"{', '.join(map(str, memory)) or 'nothing'}"
            )
        self._counts.load(counts * self._settings.recall)
        self._sweep(values, RECALL_SWEEPS)

    def kept(self) -> Mapping[str, NDArray[np.float64]]:
        counts = self._counts.whole()
        return {} if counts is None else {"counts": counts / self._scale[0]}

    def _sweep(self, values: NDArray[np.float64], sweeps: int) -> None:
        self._counts.sweep(
            float(self._scale[1]),
            self._reward,
            self._discount,
            self._wants.softness,
            sweeps,
            self._state_values,
            values,
        )

    def kernel(self) -> NDArray[np.float64] | None:
        if not self._wants.kernel:
            return None
        kernel = self._counts.dense()
        prior = self._scale[1]
        kernel += prior / kernel.shape[-1]
        kernel /= self._counts.totals[..., None] + prior
        return kernel
