"""A system with a layer around it: the swarMDP stays what it is, its local states grow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.actions import action_axes
from swarmdp.model.adapted import REPLACED
from swarmdp.model.augmented.layers import Layer, Memory, fresh, inner_part
from swarmdp.model.features import FeatureMap
from swarmdp.model.pictures import Arrows, Grid
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.symmetry import mirror_of
from swarmdp.model.system import Field, Measure, Mirror, State, System, name_of
from swarmdp.model.traits import (
    ChecksStates,
    HasExpert,
    InfersActions,
    Pictured,
    Recall,
    Remembering,
    field_of,
    measures_of,
    null_action,
    rules_of,
    settings_of,
    unaffected_fields,
)
from swarmdp.support.errors import InvalidInput

Rule = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Augmented:
    """A system whose agents have more than it gave them."""

    system: System
    layer: Layer

    def __post_init__(self) -> None:
        self.features  # raises InvalidInput if the layer does not fit  # noqa: B018

    @property
    def n_agents(self) -> int:
        """Those of the system."""
        return self.system.n_agents

    @cached_property
    def actions(self) -> NDArray[Any]:
        """Those of the system; with a memory, pairs of what to do and what to remember."""
        return self.layer.actions(self.system)

    @cached_property
    def features(self) -> FeatureMap:
        """Classes of what agents observe, with what they remember and are."""
        return self.layer.features(self.system)

    def initial(self, rng: Stream) -> State:
        """As the system draws it, with the layer's fields."""
        state = self.system.initial(rng)
        return state | self._named(self.layer.start(self.system, self.system.observe(state), rng))

    def observe(self, state: State) -> NDArray[Any]:
        """What the layer makes of what the system lets agents observe."""
        inner, own = self.parts(state)
        return self.layer.observed(self.system, self.system.observe(inner), own)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """As the system moves; the layer's fields follow from what was seen and done before."""
        inner, own = self.parts(state)
        done = np.asarray(actions)
        after = self.system.transition(inner, self.layer.split(self.system, done), rng)
        seen = self.system.observe(inner)
        return after | self._named(self.layer.step(self.system, seen, own, done, rng))

    def parts(self, state: State) -> tuple[State, State]:
        """The state of the system, and the layer's fields by the names that it gives them."""
        missing = [name for name in self.names.values() if name not in state]
        if missing:
            raise InvalidInput(
                f"the state has no {missing[0]!r}, there is: {', '.join(map(str, state))}"
            )
        own = {base: state[name] for base, name in self.names.items()}
        return {name: array for name, array in state.items() if name not in self.fields_added}, own

    def _named(self, own: State) -> State:
        return {self.names[base]: array for base, array in own.items()}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What each of the layer's fields is called in a state: unlike those of the system."""
        return {name: fresh(name, set(self._inner)) for name in self.layer.fields(self.system)}

    @cached_property
    def fields_added(self) -> frozenset[str]:
        """The names of the layer's fields in a state."""
        return frozenset(self.names.values())

    @cached_property
    def _inner(self) -> tuple[str, ...]:
        """The names of the system's own fields."""
        streams = Streams.of(0, [0], self.n_agents)
        return tuple(self.system.initial(streams.at(0, Purpose.INITIAL)))

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Those of the system, all of them, and the layer's."""
        own = self.layer.fields(self.system)
        return {name: field_of(self.system, name) for name in self._inner} | {
            self.names[base]: field for base, field in own.items()
        }

    @property
    def unaffected(self) -> frozenset[str]:
        """The fields that do not depend on what is done in a step."""
        told = {"memory", "past_actions"}
        return unaffected_fields(self.system) | {
            name for base, name in self.names.items() if base not in told
        }

    @property
    def system_name(self) -> str:
        """The name of the system."""
        return name_of(self.system)

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the system, and its layers from the inside outwards."""
        settings = settings_of(self.system)
        layers = list(settings.pop("layers", ()))
        under = {name: settings.pop(name) for name in REPLACED if name in settings}
        layers.append({**self.layer.plain(), **({"under": under} if under else {})})
        return {**settings, "layers": layers}

    @property
    def action_names(self) -> tuple[str, ...]:
        """Those of the system; with a memory one more."""
        names = tuple(axis.name for axis in action_axes(self.system))
        if isinstance(self.layer, Memory):
            return (*names, self.layer.action_name(self.system))
        return names

    @property
    def action_units(self) -> str | tuple[str, ...]:
        """Those of the system; what to remember has none."""
        units = tuple(axis.units for axis in action_axes(self.system))
        units = (*units, "1") if isinstance(self.layer, Memory) else units
        return units if len(units) > 1 else units[0]

    @property
    def null(self) -> int:
        """That of the system; with a memory, together with the memory's state 0."""
        inner = null_action(self.system)
        return inner * self.layer.states if isinstance(self.layer, Memory) else inner

    @property
    def recalls(self) -> tuple[Recall, ...]:
        """What a controller has to remember, of all layers."""
        below = self.system.recalls if isinstance(self.system, Remembering) else ()
        if isinstance(self.layer, Memory):
            states = self.layer.states
            below = tuple(replace(recall, per=recall.per * states) for recall in below)
        return below + self.layer.recalls(self.system)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Those of the system."""
        measures = measures_of(self.system)
        return {name: replace(one, of_observations=None) for name, one in measures.items()}

    @cached_property
    def mirror(self) -> Mirror | None:
        """That of the system, for what is remembered as for what is seen."""
        inner = mirror_of(self.system)
        if inner is None:
            return None
        width, added = len(self.system.features.axes), self.layer.added(self.system)

        def observation(seen: NDArray[Any]) -> NDArray[Any]:
            if not added:
                return np.asarray(inner.observation(seen))
            now = np.asarray(inner.observation(inner_part(self.system, seen)), np.float64)
            now = now if self.system.features.shape else now[..., None]
            more = self.layer.mirrored(self.system, seen[..., width:])
            return np.concatenate([now, more], axis=-1)

        def action(done: NDArray[Any]) -> NDArray[Any]:
            if not isinstance(self.layer, Memory):
                return np.asarray(inner.action(done))
            turned = np.asarray(inner.action(self.layer.split(self.system, done)))
            turned = turned if np.ndim(self.system.actions) > 1 else turned[..., None]
            return np.concatenate([turned, done[..., -1:]], axis=-1)

        return Mirror(observation, action)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Those of the system, by agents that do not use what is added."""
        return {name: self.reacting(rule) for name, rule in rules_of(self.system).items()}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As the system's expert, which does not use what is added; raises if there is none."""
        if not isinstance(self.system, HasExpert):
            raise InvalidInput(f"{self.system_name} has no expert: give a policy or a recording")
        return self.reacting(self.system.expert)(observations)

    def reacting(self, rule: Rule) -> Rule:
        """A rule of the system as one of agents that do not use what is added.

        Their memory stays as it is.
        """

        def act(observations: NDArray[Any]) -> NDArray[Any]:
            if not self.layer.added(self.system):
                return rule(observations)
            done = np.asarray(rule(inner_part(self.system, observations)))
            if not isinstance(self.layer, Memory):
                return done
            columns = done[..., None] if np.ndim(self.system.actions) == 1 else done
            memory = observations[..., -1:].astype(np.result_type(columns, np.int64))
            return np.concatenate([columns, memory], axis=-1)

        return act

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows | Grid:
        """As the system does; raises InvalidInput if it does not."""
        if not isinstance(self.system, Pictured):
            raise InvalidInput(f"{self.system_name} cannot be drawn: it has no method picture")
        return self.system.picture(swarm, run)

    def check_state(self, state: State) -> None:
        """As the system does, if it does."""
        inner, _ = self.parts(state)
        if isinstance(self.system, ChecksStates):
            self.system.check_state(inner)

    def inferred_actions(self, before: State, after: State) -> NDArray[Any]:
        """What agents remember of their actions, or as the system infers them."""
        if "past_actions" in self.names:
            taken: NDArray[Any] = after[self.names["past_actions"]][..., 0]
            return np.take(np.asarray(self.system.actions), taken, axis=0)
        if not isinstance(self.system, InfersActions):
            raise InvalidInput(f"{self.system_name} cannot infer actions from states: record them")
        inner = self.system.inferred_actions(self.parts(before)[0], self.parts(after)[0])
        if not isinstance(self.layer, Memory):
            return inner
        columns = inner if np.ndim(self.system.actions) > 1 else inner[..., None]
        memory = after[self.names["memory"]][..., None]
        return np.concatenate([columns, memory], axis=-1)
