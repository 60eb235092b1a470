"""The swarMDP (N, A, T, xi) of the paper, without reward and policy; and these two.

Everything is batched: the leading axis of every array is the independent run. A state is a
dictionary of named arrays (runs, agents, ...), the local states s^(n) of all agents side by side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.errors import InvalidInput
from swarmdp.streams import Purpose, Stream, Streams

if TYPE_CHECKING:
    import xarray

State = dict[str, NDArray[Any]]

SUM_TOLERANCE = 1e-9  # how far from one a sum of probabilities may be


class FeatureMap(Protocol):
    """What the model needs of the features phi; `swarmdp.features` has the ready-made ones.

    A class of observations is its own feature, unless there is an attribute `matrix` (size, d) with
    a vector of d features for each class.
    """

    @property
    def size(self) -> int:
        """The number of classes of observations."""

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The class of each observation, from 0 to size - 1."""


@runtime_checkable
class System(Protocol):
    """A swarMDP: N interchangeable agents (S, O, A), their transition T and observation xi.

    All methods are pure functions: the same arguments give the same result, and nothing is
    remembered between calls. Renaming the agents renames the outcome and changes nothing else;
    `swarmdp.testing.check_system` tests that.

    Optional, for systems that have them: `fields`, a dictionary of `Field` that describes the
    state's arrays, `action_units`, the unit of the actions, `check_state`, which refuses recorded
    states that are not the system's, `arrange` (see `Arranging`), and `inferred_actions(before,
    after)`, the physical actions (runs, agents) that led from one state to the next, for demos
    that did not record them.
    """

    @property
    def n_agents(self) -> int:
        """The number of agents N."""

    @property
    def actions(self) -> NDArray[Any]:
        """The physical value of each action in A, (n_actions,)."""

    @property
    def features(self) -> FeatureMap:
        """The classes of observations, as learning sees them."""

    def initial(self, rng: Stream) -> State:
        """Draw initial states, one for each of the runs of rng, whatever the agents' order."""

    def observe(self, state: State) -> NDArray[Any]:
        """The observation model xi: what each agent observes, (runs, agents)."""

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """The transition model T: the next state, when the agents act so (runs, agents)."""


@runtime_checkable
class Arranging(Protocol):
    """A system that runs faster when its agents are in a certain order in memory.

    Agents are interchangeable, so a roll-out may keep them in any order as long as it remembers
    who is who; what it records is always in the agents' own order.
    """

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """The state in a better order, and that order (runs, agents); None to leave it."""


@dataclass(frozen=True)
class Field:
    """What one array of a state means."""

    description: str = ""
    units: str = "1"
    axes: tuple[str, ...] = ()  # names of the axes after (runs, agents)
    constant: bool = False  # never changes during a run, so it is recorded once


def reordered(array: NDArray[Any], order: NDArray[np.integer]) -> NDArray[Any]:
    """An array (runs, agents, ...) with the agents of each run in another order."""
    out = np.empty((order.shape[0], *array.shape[1:]), array.dtype)
    for r, places in enumerate(order):
        np.take(array[r % array.shape[0]], places, axis=0, out=out[r], mode="clip")
    return out


def classes(system: System, observations: NDArray[Any]) -> NDArray[np.integer]:
    """The class of each observation, checked: kernels use it to address memory."""
    index = system.features.index(observations)
    size = system.features.size
    if index.dtype.kind not in "iu" or index.shape != observations.shape:
        raise InvalidInput(
            f"features.index must return integers of shape {observations.shape}, "
            f"got {index.dtype} of shape {index.shape}"
        )
    if index.size:
        low, high = kernels.tabular.extremes(index)
        if low < 0 or high >= size:
            raise InvalidInput(
                f"features.index must return classes from 0 to {size - 1}, got {low} to {high}"
            )
    return index


def feature_matrix(system: System) -> NDArray[np.float64] | None:
    """The feature vector of each class of observations (size, d); None for indicators."""
    matrix: NDArray[np.float64] | None = getattr(system.features, "matrix", None)
    return matrix


def n_features(system: System) -> int:
    """The number of features d: of the weights of a reward, and of feature expectations."""
    matrix = feature_matrix(system)
    return system.features.size if matrix is None else int(matrix.shape[1])


def by_rows(rows: NDArray[Any], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product rows @ matrix, each row on its own.

    The rounding of a product of whole matrices depends on the number of rows; this does not.
    """
    return np.stack([row @ matrix for row in rows])


Measure = TypeVar("Measure", bound=Callable[..., Any])


def order_free(measure: Measure) -> Measure:
    """Say of a measure that it does not depend on the order of the agents.

    A roll-out may keep agents in another order than their own; it puts them back for a measure,
    unless that is said to be needless.
    """
    measure.order_free = True  # type: ignore[attr-defined]
    return measure


def field_of(system: System, name: str) -> Field:
    """The description of one array of the system's state."""
    described: Mapping[str, Field] = getattr(system, "fields", {})
    return described.get(name, Field())


def settings_of(system: System) -> dict[str, Any]:
    """The settings that make this system, if it is a dataclass or has an attribute for them."""
    own: Mapping[str, Any] | None = getattr(system, "settings", None)
    if own is not None:
        return dict(own)
    if not is_dataclass(system):
        return {}
    return {f.name: getattr(system, f.name) for f in fields(system) if f.init}


def null_action(system: System) -> int:
    """The number of the action that does nothing: the first whose physical value is zero.

    Where there is none, the first action. Where actions are mere numbers (finite MDPs) it is number
    0, whatever that does: on gridworlds a move to +x.
    """
    return int(np.argmax(np.asarray(system.actions) == 0))


@dataclass(frozen=True, eq=False)
class Policy:
    """A local policy pi: O -> A as a table, the same for all agents of a run.

    `table[j, o]` is the number of the action that replica j takes in the observation class o.
    Run i follows replica i % R.
    """

    table: NDArray[np.integer]  # (R, n_observations)

    def __init__(self, table: ArrayLike) -> None:
        array = np.array(table)
        if array.ndim == 1:
            array = array[None]
        if array.ndim != 2 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
            raise InvalidInput(
                "a policy's table must be integers of shape (observations,) or "
                f"(replicas, observations), got {array.dtype} of shape {np.shape(table)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "table", array)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return int(self.table.shape[0])

    def check(self, system: System) -> None:
        """Refuse a table that does not fit the system."""
        observations, actions = system.features.size, len(system.actions)
        if self.table.shape[1] != observations:
            raise InvalidInput(
                f"the policy's table has {self.table.shape[1]} observations, but "
                f"{type(system).__name__} has {observations}"
            )
        if self.table.min() < 0 or self.table.max() >= actions:
            raise InvalidInput(
                f"the policy's table must hold action numbers from 0 to {actions - 1}, "
                f"got {self.table.min()} to {self.table.max()}"
            )

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs; nothing is drawn from rng."""
        values = np.asarray(system.actions)[self.table]
        index = classes(system, observations)
        return kernels.tabular.look_up(index, values, runs % self.replicas)


@dataclass(frozen=True, eq=False)
class SoftPolicy:
    """A local policy that draws its actions, the same for all agents of a run.

    `probabilities[j, o, a]` is how likely replica j takes action number a in the observation
    class o. Run i follows replica i % R; every agent draws for itself in every step.
    """

    probabilities: NDArray[np.float64]  # (R, n_observations, n_actions)

    def __init__(self, probabilities: ArrayLike) -> None:
        array = np.array(probabilities, dtype=np.float64)
        if array.ndim == 2:
            array = array[None]
        if array.ndim != 3 or array.size == 0:
            raise InvalidInput(
                "a soft policy's probabilities must have the shape (observations, actions) or "
                f"(replicas, observations, actions), got {np.shape(probabilities)}"
            )
        wrong = ~((array >= 0).all(axis=2) & (np.abs(array.sum(axis=2) - 1) <= SUM_TOLERANCE))
        if wrong.any():
            j, o = np.argwhere(wrong)[0]
            raise InvalidInput(
                "a soft policy's probabilities must not be negative and sum to 1 for each "
                f"observation, got {array[j, o]} for observation {o} of replica {j}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "probabilities", array)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return int(self.probabilities.shape[0])

    def check(self, system: System) -> None:
        """Refuse probabilities that do not fit the system."""
        expected = system.features.size, len(system.actions)
        if self.probabilities.shape[1:] != expected:
            raise InvalidInput(
                f"the soft policy has (observations, actions) = {self.probabilities.shape[1:]}, "
                f"but {type(system).__name__} has {expected}"
            )

    def act(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64], rng: Stream
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs, drawn from rng."""
        index = classes(system, observations)
        rows = runs % self.replicas
        drawn = kernels.tabular.draw(index, self._cumulative, rng.uniform(), rows)
        return np.take(np.asarray(system.actions), drawn)

    @cached_property
    def table(self) -> NDArray[np.integer]:
        """The number of the likeliest action, the first of equally likely ones (R, observations).

        `Policy(soft.table)` is the policy that always takes it.
        """
        table: NDArray[np.integer] = self.probabilities.argmax(axis=2)
        return table

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.probabilities, axis=2)


LocalPolicy = Policy | SoftPolicy


@dataclass(frozen=True, eq=False)
class MixedPolicy:
    """Several policies, of which every run draws one for all its agents and its whole length.

    `weights[j, k]` is how likely a run of replica j follows `policies[k]`, each of which has R
    replicas. Its feature expectations are the weighted mean of theirs.
    """

    policies: tuple[LocalPolicy, ...]
    weights: NDArray[np.float64]  # (R, number of policies)

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", tuple(self.policies))
        weights = np.atleast_2d(np.array(self.weights, dtype=np.float64))
        replicas = {policy.replicas for policy in self.policies}
        kinds = {type(policy) for policy in self.policies}
        if len(kinds) != 1 or weights.shape != (min(replicas), len(self.policies)):
            raise InvalidInput(
                f"a mixture needs policies of one kind and weights of the shape (replicas, "
                f"policies), got {len(self.policies)} policies and weights {weights.shape}"
            )
        if len(replicas) != 1 or not (weights >= 0).all():
            raise InvalidInput(
                "the policies of a mixture must have equally many replicas, and weights must not "
                "be negative"
            )
        if (np.abs(weights.sum(axis=1) - 1) > SUM_TOLERANCE).any():
            raise InvalidInput(f"the weights of a mixture must sum to 1, got {weights.sum(axis=1)}")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def replicas(self) -> int:
        """The number of independent mixtures R."""
        return len(self.weights)

    def check(self, system: System) -> None:
        """Refuse policies that do not fit the system."""
        for policy in self.policies:
            policy.check(system)

    def drawn(self, runs: NDArray[np.int64], streams: Streams) -> NDArray[np.int64]:
        """The number of the policy that each of these runs follows."""
        once = Streams.of(streams.seed, streams.runs, 1)
        chance = once.at(0, Purpose.MIXTURE).uniform()[:, 0]
        below = np.cumsum(self.weights, axis=1)[runs % self.replicas] <= chance[:, None]
        # Rounding may leave the sum of all weights below the chance: the last one that counts.
        last = self.weights.shape[1] - 1 - np.argmax(self.weights[:, ::-1] > 0, axis=1)
        chosen: NDArray[np.int64] = np.minimum(below.sum(axis=1), last[runs % self.replicas])
        return chosen

    def for_runs(self, runs: NDArray[np.int64], streams: Streams) -> LocalPolicy:
        """The policies that these runs follow, as one with a replica for each run."""
        choice, rows = self.drawn(runs, streams), runs % self.replicas
        if isinstance(self.policies[0], Policy):
            tables = [p.table for p in self.policies if isinstance(p, Policy)]
            return Policy(np.stack([tables[k][j] for k, j in zip(choice, rows, strict=True)]))
        soft = [p.probabilities for p in self.policies if isinstance(p, SoftPolicy)]
        return SoftPolicy(np.stack([soft[k][j] for k, j in zip(choice, rows, strict=True)]))


Controller = LocalPolicy | MixedPolicy | Callable[[NDArray[Any]], NDArray[Any]]
"""What moves a swarm: tables, or a plain function from observations to physical actions."""


@dataclass(frozen=True, eq=False)
class Reward:
    """A local reward R(o) = w . phi(o), the same for all agents of a run.

    `weights[j]` are those of replica j; run i is rewarded by replica i % R.
    """

    weights: NDArray[np.float64]  # (R, d)
    observation: NDArray[np.float64] | None = None  # (d,): the physical value of each class
    observation_name: str = "observation"
    observation_units: str = "1"

    def __init__(
        self,
        weights: ArrayLike,
        observation: NDArray[np.float64] | None = None,
        observation_name: str = "observation",
        observation_units: str = "1",
    ) -> None:
        array = np.array(weights, dtype=np.float64)
        if array.ndim == 1:
            array = array[None]
        if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
            raise InvalidInput(
                "a reward's weights must be finite numbers of shape (features,) or "
                f"(replicas, features), got shape {np.shape(weights)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "weights", array)
        object.__setattr__(self, "observation", observation)
        object.__setattr__(self, "observation_name", observation_name)
        object.__setattr__(self, "observation_units", observation_units)

    @property
    def replicas(self) -> int:
        """The number of independent rewards R."""
        return int(self.weights.shape[0])

    def table(self) -> "xarray.DataArray":
        """The reward of each observation, in its physical unit: (experiment, observation)."""
        import xarray

        values = np.arange(self.weights.shape[1]) if self.observation is None else self.observation
        name = self.observation_name
        units = {"units": self.observation_units}
        return xarray.DataArray(
            self.weights, {name: (name, values, units)}, ("experiment", name), "reward"
        )

    def of(
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The reward of every agent (runs, agents) for its observation."""
        index = classes(system, observations)
        return kernels.tabular.look_up(index, self.of_classes(system), runs % self.replicas)

    def of_classes(self, system: System) -> NDArray[np.float64]:
        """The reward w . phi(o) of every class of observations (R, observations)."""
        if self.weights.shape[1] != n_features(system):
            raise InvalidInput(
                f"the reward has {self.weights.shape[1]} weights, but "
                f"{type(system).__name__} has {n_features(system)} features"
            )
        matrix = feature_matrix(system)
        return self.weights if matrix is None else by_rows(self.weights, matrix.T)
