"""A system with other start states or other features than its own."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.actions import action_axes
from swarmdp.model.features import FeatureMap
from swarmdp.model.features.plain import describe_features
from swarmdp.model.pictures import Arrows, Grid
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import (
    Field,
    Measure,
    Mirror,
    Rule,
    State,
    System,
    check_is_system,
    name_of,
)
from swarmdp.model.traits import (
    Arranging,
    ChecksStates,
    Fused,
    HasExpert,
    InfersActions,
    Mirrored,
    Pictured,
    WholeSteps,
    field_of,
    fields_of,
    measures_of,
    models_of,
    null_action,
    rules_of,
    settings_of,
    unaffected_fields,
)
from swarmdp.model.trajectory import Trajectory
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

REPLACED = ("initial", "features", "layers")  # settings that an adapted system has beside its own

Start = Mapping[str, NDArray[Any]] | Trajectory


@dataclass(frozen=True, eq=False)
class Frames:
    """States from which runs start."""

    arrays: Mapping[str, NDArray[Any]]  # (frames, agents, ...)
    drawn: bool  # one for each run at random, agents permuted; or frame i % F for run i, as it is

    def of(self, rng: Stream) -> State:
        """The start of each of the runs of rng."""
        count = len(next(iter(self.arrays.values())))
        if not self.drawn:
            chosen = rng.runs % count
            slots = np.broadcast_to(rng.agents, rng.shape)
        else:
            chosen = np.minimum((rng.shared() * count).astype(np.int64), count - 1)
            slots = rng.permutation()
        return {name: array[chosen[:, None], slots] for name, array in self.arrays.items()}

    @property
    def digest(self) -> str:
        """A name for exactly these states."""
        digest = hashlib.sha256(str(self.drawn).encode())
        for name, array in self.arrays.items():
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]


def starting_from(system: System, initial: Start | None) -> System:
    """The system with start states drawn from a trajectory, or given; None for its own."""
    if initial is None:
        return system
    return Adapted(system, start=_frames(system, initial))


@checked
def with_features(system: System, features: FeatureMap) -> System:
    """The system with another feature map for its observations.

    Parameters
    ----------
    system
        Any system.
    features
        A map for what `system.observe` returns, such as `Bins`, `Product` or `Basis`.

    Returns
    -------
    System
        The same swarm with these features.

    Raises
    ------
    InvalidInput
        If the features do not fit what the system observes.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20)
    >>> coarse = swarmdp.model.with_features(vicsek, swarmdp.Angles(8))
    >>> coarse.features.size
    8

    """
    check_is_system(system)
    return Adapted(system, own_features=features)


@dataclass(frozen=True, eq=False)
class Adapted:
    """A system of which the start states, the features or both are replaced."""

    system: System
    start: Frames | None = None
    own_features: FeatureMap | None = None

    @property
    def n_agents(self) -> int:
        """Those of the system."""
        return self.system.n_agents

    @property
    def actions(self) -> NDArray[Any]:
        """Those of the system."""
        return self.system.actions

    @property
    def features(self) -> FeatureMap:
        """The given ones, or those of the system."""
        return self.system.features if self.own_features is None else self.own_features

    def initial(self, rng: Stream) -> State:
        """A given state, or one of the system's own."""
        return self.system.initial(rng) if self.start is None else self.start.of(rng)

    def observe(self, state: State) -> NDArray[Any]:
        """As the system does."""
        return self.system.observe(state)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """As the system does."""
        return self.system.transition(state, actions, rng)

    @property
    def system_name(self) -> str:
        """The name of the system."""
        return name_of(self.system)

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the system, and what is replaced."""
        settings = settings_of(self.system)
        if self.start is not None:
            settings["initial"] = self.start.digest
        if self.own_features is not None:
            settings["features"] = describe_features(self.own_features)
        return settings

    @property
    def fields(self) -> Mapping[str, Field]:
        """Those of the system."""
        return fields_of(self.system)

    @property
    def unaffected(self) -> frozenset[str]:
        """Those of the system."""
        return unaffected_fields(self.system)

    @property
    def action_units(self) -> str | tuple[str, ...]:
        """The units of the system's actions."""
        units = tuple(axis.units for axis in action_axes(self.system))
        return units if len(units) > 1 else units[0]

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the system's actions."""
        return tuple(axis.name for axis in action_axes(self.system))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Those of the system."""
        return measures_of(self.system)

    @property
    def mirror(self) -> Mirror | None:
        """That of the system, unless it starts from given states, which may have none."""
        given = self.start is not None and not self.start.drawn
        return self.system.mirror if isinstance(self.system, Mirrored) and not given else None

    @property
    def null(self) -> int:
        """That of the system."""
        return null_action(self.system)

    @property
    def rules(self) -> Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]:
        """Those of the system."""
        return rules_of(self.system)

    @property
    def models(self) -> Mapping[str, Callable[[], System]]:
        """Those of the system."""
        return models_of(self.system)

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As the system does; raises InvalidInput if it has no expert."""
        if not isinstance(self.system, HasExpert):
            raise InvalidInput(f"{self.system_name} has no expert: give a policy or a recording")
        return self.system.expert(observations)

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows | Grid:
        """As the system does; raises InvalidInput if it does not."""
        if not isinstance(self.system, Pictured):
            raise InvalidInput(f"{self.system_name} cannot be drawn: it has no method picture")
        return self.system.picture(swarm, run)

    def check_state(self, state: State) -> None:
        """As the system does, if it does."""
        if isinstance(self.system, ChecksStates):
            self.system.check_state(state)

    def inferred_actions(self, before: State, after: State) -> NDArray[Any]:
        """As the system does; raises InvalidInput if it cannot."""
        if not isinstance(self.system, InfersActions):
            raise InvalidInput(f"{self.system_name} cannot infer actions from states: record them")
        return self.system.inferred_actions(before, after)

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """As the system does, if it does."""
        return self.system.arrange(state, step) if isinstance(self.system, Arranging) else None

    @property
    def fused_measures(self) -> frozenset[str]:
        """Those of the system."""
        return self.system.fused_measures if isinstance(self.system, Fused) else frozenset()

    def whole_steps(
        self,
        state: Callable[[], State],
        rule: Rule,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> WholeSteps | None:
        """As the system does, if it does; it knows no classes but its own."""
        if self.own_features is not None or not isinstance(self.system, Fused):
            return None
        if callable(rule) and rule == self.expert and isinstance(self.system, HasExpert):
            rule = self.system.expert
        return self.system.whole_steps(state, rule, rows, streams, steps)


def _frames(system: System, initial: Start) -> Frames:
    """Start states, checked against those that the system makes itself."""
    check_is_system(system)
    example = system.initial(Streams.of(0, [0], system.n_agents).at(0, Purpose.INITIAL))
    if isinstance(initial, Trajectory):
        arrays = {name: _of_trajectory(system, initial, name) for name in example}
    elif isinstance(initial, Mapping):
        arrays = {name: _of_state(initial, name, array) for name, array in example.items()}
    else:
        raise InvalidInput(
            "initial must be a state (a dictionary of arrays) or a trajectory with recorded "
            f"states, got {type(initial).__name__}"
        )
    counts = {name: len(array) for name, array in arrays.items()}
    if len(set(counts.values())) != 1 or not min(counts.values()):
        raise InvalidInput(
            f"the arrays of initial must have equally many states, at least one, got {counts}"
        )
    for name, array in arrays.items():
        if array.shape[1:] != example[name].shape[1:]:
            raise InvalidInput(
                f"initial: {name!r} must have the shape {example[name].shape[1:]} for each run, "
                f"got {array.shape[1:]}"
            )
        if not np.can_cast(array.dtype, example[name].dtype, "same_kind"):
            raise InvalidInput(
                f"initial: {name!r} must be {example[name].dtype}, got {array.dtype}"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InvalidInput(f"initial: {name!r} has NaN or infinite values")
    arrays = {name: array.astype(example[name].dtype) for name, array in arrays.items()}
    if isinstance(system, ChecksStates):
        system.check_state(arrays)
    return Frames(arrays, drawn=isinstance(initial, Trajectory))


def _of_trajectory(system: System, initial: Trajectory, name: str) -> NDArray[Any]:
    if name not in initial:
        raise InvalidInput(
            f'initial has no recorded {name!r}: give a trajectory with states (record="states")'
        )
    array = initial[name]
    if field_of(system, name).constant:
        array = np.repeat(array[:, None], initial.steps + 1, axis=1)
    return array.reshape(-1, *array.shape[2:])


def _of_state(
    initial: Mapping[str, NDArray[Any]], name: str, example: NDArray[Any]
) -> NDArray[Any]:
    if name not in initial:
        raise InvalidInput(
            f"initial has no {name!r}: a state of this system has it; there is: "
            f"{', '.join(initial) or 'nothing'}"
        )
    array = np.asarray(initial[name])
    return array[None] if array.ndim == example.ndim - 1 else array
