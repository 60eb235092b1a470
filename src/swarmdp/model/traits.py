"""What a system may have beside (N, A, T, xi): protocols, asked for by isinstance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.pictures import Arrows, Grid
from swarmdp.model.streams import Streams
from swarmdp.model.system import Field, Measure, Mirror, Rule, State, System
from swarmdp.support.errors import InvalidInput


@runtime_checkable
class HasSettings(Protocol):
    """A system that tells its settings itself, as plain data."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that tells this system from others of its class."""


@runtime_checkable
class HasFields(Protocol):
    """A system that describes the arrays of its state."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """The description of each array."""


@runtime_checkable
class HasActionUnits(Protocol):
    """A system whose actions have a unit."""

    @property
    def action_units(self) -> str | tuple[str, ...]:
        """The unit of the actions; of actions with several components, one for each."""


@runtime_checkable
class HasActionNames(Protocol):
    """A system that says what its actions, or their components, are called."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """One name for each component, such as ("turn", "speed")."""


@dataclass(frozen=True)
class Recall:
    """A component of an observation that an agent knows from its own step before."""

    component: str
    source: Literal["seen", "index", "action"]  # of the step before: see `name`
    name: str = ""  # the component that was seen, or the component of the action
    per: int = 1  # actions of the controller for each action that is remembered


@runtime_checkable
class Remembering(Protocol):
    """A system whose agents remember: a controller must keep some components of what it sees."""

    @property
    def recalls(self) -> tuple[Recall, ...]:
        """What is remembered, each after what it is made of."""


@runtime_checkable
class HasNull(Protocol):
    """A system that says which of its actions does nothing."""

    @property
    def null(self) -> int:
        """Its index in `actions`."""


@runtime_checkable
class HasExpert(Protocol):
    """A system with an expert that shows how to behave."""

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The expert's physical actions for these observations."""


@runtime_checkable
class HasRules(Protocol):
    """A system with simple rules that learned policies are compared with."""

    @property
    def rules(self) -> Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]:
        """Each rule by its name: from observations to physical actions."""


@runtime_checkable
class HasModels(Protocol):
    """A system with models of the same swarm that learned policies are compared with.

    Where a rule sees what agents observe, a model may see the whole state.
    """

    @property
    def models(self) -> Mapping[str, "Callable[[], System]"]:
        """What makes each model: a system with the same states and actions, and an expert."""


@runtime_checkable
class Measured(Protocol):
    """A system that says how to measure a swarm as a whole; the first measure is the main one."""

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The measures by name."""


@runtime_checkable
class Mirrored(Protocol):
    """A system whose law does not change in a mirror."""

    @property
    def mirror(self) -> Mirror | None:
        """What the mirror does to observations and actions; None if there is none."""


@runtime_checkable
class Pictured(Protocol):
    """A system that can be drawn."""

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int) -> Arrows | Grid:
        """One run of recorded states (runs, times, agents, ...) as something to look at."""


@runtime_checkable
class ChecksStates(Protocol):
    """A system that knows which recorded states are impossible."""

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for a state that is not the system's."""


@runtime_checkable
class InfersActions(Protocol):
    """A system that can tell from two states which actions led from one to the other."""

    def inferred_actions(self, before: State, after: State) -> NDArray[Any]:
        """The physical actions (runs, agents)."""


@runtime_checkable
class HasUnaffected(Protocol):
    """A system that knows which arrays of its state no action changes in the same step."""

    @property
    def unaffected(self) -> frozenset[str]:
        """Their names."""


@runtime_checkable
class Replaying(Protocol):
    """A black box, which goes on from a state by repeating all its steps since the beginning.

    Its steps are slow, and its states tell which actions were taken.
    """

    def taken_actions(self, before: State, after: State) -> NDArray[np.int64]:
        """The indices of the actions (runs, agents) that led from one state to the next."""


@runtime_checkable
class NamesSolutions(Protocol):
    """A system that knows several policies that look the same, and calls them by name."""

    def solutions(self, table: NDArray[np.integer], seen: NDArray[np.bool_]) -> list[str]:
        """Which solution each replica of a table (R, observations) is."""


@runtime_checkable
class Resizable(Protocol):
    """A system that can have another number of agents without being another swarm to them."""

    def resized(self, n_agents: int) -> "System":
        """The same swarm with about this number of agents, at the same density."""


@runtime_checkable
class Arranging(Protocol):
    """A system that runs faster when its agents are in a certain order in memory.

    Agents are interchangeable, so a roll-out may keep them in any order as long as it remembers
    which is which; what it records is always in the agents' own order.
    """

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """The state in a better order, and that order (runs, agents); None to leave it."""


@dataclass(frozen=True, eq=False)
class Room:
    """Where whole steps put what is to be kept of a chunk of runs; None for what is not wanted.

    All is in the agents' own order.
    """

    states: Mapping[str, NDArray[Any]] | None = None  # each (runs, steps + 1, agents, ...)
    observations: NDArray[Any] | None = None  # (runs, steps + 1, agents, ...)
    actions: NDArray[Any] | None = None  # physical ones (runs, steps, agents)
    counts: NDArray[np.int64] | None = None  # of each class (runs, times of the call, classes)
    measures: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # each (runs, steps + 1)


class WholeSteps(Protocol):
    """A chunk of runs under way: observation, policy and transition in one."""

    def advance(self, first: int, last: int, room: Room) -> None:
        """Keep the moments first..last - 1, and take the step after each of them but the last one.

        The last moment is that at the time `steps`. Calls are in the order of time.
        """


@runtime_checkable
class Fused(Protocol):
    """A system that takes whole steps faster than by `observe` and `transition`, with their bits.

    A roll-out asks for it where its policy is a table or a plain function, and all that is recorded
    is what a `Room` has a place for.
    """

    @property
    def fused_measures(self) -> frozenset[str]:
        """The measures, by name, that whole steps compute as well."""

    def whole_steps(
        self,
        state: Callable[[], State],
        rule: Rule,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> WholeSteps | None:
        """The runs of these streams, `steps` steps from a state on; None if it cannot be done.

        Run r acts by rule[rows[r]] where the rule is a table. The state is handed over in a call,
        so that its memory can be freed once it has been taken over.
        """


class ExploringSwarms(Protocol):
    """Swarms under way while they learn: steps 1 to 3 of Algorithm 2 in one."""

    @property
    def streams(self) -> Streams:
        """The random numbers of these runs, whose agents are in the order of what `step` gives."""

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: NDArray[np.float64] | None,
        time: int,
    ) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]:
        """Classes before, action indices and classes after, each (runs, agents).

        Greedy agents of run r act by table[r % R], action indices (R, classes). Agents whose chance
        is below the temperature explore; where they have a `place` in a fixed order (runs, agents),
        those whose place is (see `learning.exploration`).
        """


@runtime_checkable
class FusedLearning(Protocol):
    """A system whose swarms learn faster than by `observe` and `transition`, with their bits."""

    def exploring_swarms(self, streams: Streams, step: int) -> ExploringSwarms | None:
        """Swarms that start with the random numbers of this step; None if it cannot be done."""


def settings_of(system: System) -> dict[str, Any]:
    """The settings that make this system."""
    if isinstance(system, HasSettings):
        return dict(system.settings)
    if is_dataclass(system):
        return {f.name: getattr(system, f.name) for f in fields(system) if f.init}
    raise InvalidInput(
        f"the settings of {type(system).__name__} are not known, so that a recording of one could "
        "be taken for a recording of another: make it a dataclass, or give it an attribute "
        "`settings` with all that tells it from others of its class ({} if nothing does)"
    )


def fields_of(system: System) -> Mapping[str, Field]:
    """The descriptions of the state's arrays; empty where there are none."""
    return system.fields if isinstance(system, HasFields) else {}


def field_of(system: System, name: str) -> Field:
    """The description of one array of the system's state."""
    return fields_of(system).get(name, Field())


def unaffected_fields(system: System) -> frozenset[str]:
    """The arrays of a state that no action changes in the same step, where that is known."""
    return system.unaffected if isinstance(system, HasUnaffected) else frozenset()


def measures_of(system: System) -> Mapping[str, Measure]:
    """The measures of a system; empty where it declares none."""
    return system.measures if isinstance(system, Measured) else {}


def rules_of(system: System) -> Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]:
    """The simple rules that a system brings; empty where it has none."""
    return system.rules if isinstance(system, HasRules) else {}


def models_of(system: System) -> Mapping[str, Callable[[], System]]:
    """The models that a system brings, each made when it is called; empty where it has none."""
    return system.models if isinstance(system, HasModels) else {}


def null_action(system: System) -> int:
    """The index of the action that does nothing: the first whose components are all zero.

    A system may say itself which one it is. Where there is none, it is the first action. Where
    actions are mere numbers (finite MDPs) it is index 0, whatever that does: on gridworlds a move
    to +x.
    """
    if isinstance(system, HasNull):
        return int(system.null)
    still = np.asarray(system.actions) == 0
    return int(np.argmax(still if still.ndim == 1 else still.all(axis=1)))
