"""The swarMDP (N, A, T, xi) of the paper, without reward and policy; and these two.

Everything is batched: the leading axis of every array is the independent run. A state is a
dictionary of named arrays (runs, agents, ...), the local states s^(n) of all agents side by side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.errors import InvalidInput
from swarmdp.streams import Stream

if TYPE_CHECKING:
    import xarray

State = dict[str, NDArray[Any]]


class FeatureMap(Protocol):
    """What the model needs of the features phi; `swarmdp.features` has the ready-made ones."""

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
    states that are not the system's, and `arrange` (see `Arranging`).
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
    if not np.issubdtype(index.dtype, np.integer) or index.shape != observations.shape:
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
    """The settings that make this system, if it is a dataclass."""
    if not is_dataclass(system):
        return {}
    return {f.name: getattr(system, f.name) for f in fields(system) if f.init}


def null_action(system: System) -> int:
    """The number of the action that does nothing: the first whose physical value is zero.

    Where there is none, the first action.
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
        self, system: System, observations: NDArray[Any], runs: NDArray[np.int64]
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs."""
        values = np.asarray(system.actions)[self.table]
        index = classes(system, observations)
        return kernels.tabular.look_up(index, values, runs % self.replicas)


Controller = Policy | Callable[[NDArray[Any]], NDArray[Any]]
"""What moves a swarm: a table, or a plain function from observations to physical actions."""


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
        if self.weights.shape[1] != system.features.size:
            raise InvalidInput(
                f"the reward has {self.weights.shape[1]} weights, but "
                f"{type(system).__name__} has {system.features.size} features"
            )
        index = classes(system, observations)
        return kernels.tabular.look_up(index, self.weights, runs % self.replicas)
