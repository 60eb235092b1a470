"""What each kind of augmentation adds to a system: fields of the local state, senses, actions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.actions import action_axes, nearest_index
from swarmdp.model.features import Angles, Bins, Classes, FeatureMap, Levels, Product, Vectors
from swarmdp.model.streams import Stream
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import Field, State, System, name_of
from swarmdp.model.traits import Recall, null_action
from swarmdp.support.errors import InvalidInput

_TURN = 2 * math.pi


@dataclass(frozen=True)
class Layer:
    """What is laid around a system; by default nothing changes."""

    kind: ClassVar[str]
    is_sense: ClassVar[bool] = False  # it changes what agents sense, not what they remember

    def plain(self) -> dict[str, Any]:
        """The layer's settings as plain data."""
        return {"layer": self.kind, **vars(self)}

    def fields(self, inner: System) -> dict[str, Field]:
        """The fields that it adds to a local state."""
        raise NotImplementedError

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """Its fields at first, given what the inner system lets agents observe."""
        raise NotImplementedError

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """Its fields after a step, given what was observed before it and what agents did."""
        raise NotImplementedError

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """What agents observe."""
        return seen

    def features(self, inner: System) -> FeatureMap:
        """The map for what agents observe."""
        return inner.features

    def actions(self, inner: System) -> NDArray[Any]:
        """What agents can do."""
        return np.asarray(inner.actions)

    def split(self, inner: System, actions: NDArray[Any]) -> NDArray[Any]:
        """The inner system's part of physical actions."""
        return actions

    def mirrored(self, inner: System, more: NDArray[Any]) -> NDArray[Any]:
        """The mirror image of the components that it adds to an observation."""
        return more

    def recalls(self, inner: System) -> tuple[Recall, ...]:
        """What a controller has to remember."""
        return ()

    def added(self, inner: System) -> int:
        """The number of components that it adds to an observation."""
        return len(self.features(inner).axes) - len(inner.features.axes)


@dataclass(frozen=True)
class History(Layer):
    """Agents remember what they saw and did in their last steps."""

    kind: ClassVar[str] = "history"
    steps: int = 1
    observed_too: bool = True
    actions_too: bool = True

    def fields(self, inner: System) -> dict[str, Field]:
        """Past observations and indices of past actions, the latest first."""
        fields = {}
        if self.observed_too:
            described = "what was observed before, the latest first"
            axes = ("past", *(("past component",) if inner.features.shape else ()))
            fields["past_observations"] = Field(described, axes=axes, kind="hidden")
        if self.actions_too:
            described = "index of the actions taken before, the latest first"
            fields["past_actions"] = Field(described, axes=("past",), kind="hidden")
        return fields

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """As if agents had seen the same before, and done nothing."""
        own: State = {}
        if self.observed_too:
            own["past_observations"] = np.repeat(seen[:, :, None], self.steps, axis=2)
        if self.actions_too:
            shape = (*seen.shape[:2], self.steps)
            own["past_actions"] = np.full(shape, null_action(inner), np.int64)
        return own

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """What was just seen and done comes first, and the oldest is forgotten."""
        after: State = {}
        if self.observed_too:
            past = own["past_observations"]
            after["past_observations"] = np.concatenate([seen[:, :, None], past[:, :, :-1]], axis=2)
        if self.actions_too:
            done = nearest_index(inner, np.asarray(actions))[:, :, None]
            after["past_actions"] = np.concatenate([done, own["past_actions"][:, :, :-1]], axis=2)
        return after

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """The present, then the last step, then the one before it."""
        parts = [_components(seen, inner)]
        for ago in range(self.steps):
            if self.observed_too:
                parts.append(_components(own["past_observations"][:, :, ago], inner))
            if self.actions_too:
                parts.append(own["past_actions"][:, :, ago, None].astype(np.float64))
        return np.concatenate(parts, axis=2)

    def features(self, inner: System) -> Product:
        """Classes of the present and of the past; rewards are for the present."""
        return extended(inner, dict(self._more(inner)))

    def mirrored(self, inner: System, more: NDArray[Any]) -> NDArray[Any]:
        """Past observations and past actions mirrored as the present ones."""
        symmetry, mirror = Symmetry.of(inner), inner.mirror  # type: ignore[attr-defined]
        assert symmetry is not None
        width, columns, at = len(inner.features.axes), [], 0
        for _ in range(self.steps):
            if self.observed_too:
                past = inner_part(inner, more[..., at : at + width])
                columns.append(_components(np.asarray(mirror.observation(past)), inner))
                at += width
            if self.actions_too:
                done = symmetry.actions[more[..., at].astype(np.int64)]
                columns.append(done[..., None].astype(np.float64))
                at += 1
        return np.concatenate(columns, axis=-1)

    def recalls(self, inner: System) -> tuple[Recall, ...]:
        """Each from the step before it."""
        recalls, before = [], list(_named_parts(inner))
        last_action = ""
        for ago in range(1, self.steps + 1):
            if self.observed_too:
                names = [_ago(name, ago) for name in _named_parts(inner)]
                pairs = zip(names, before, strict=True)
                recalls += [Recall(name, "seen", source) for name, source in pairs]
                before = names
            if self.actions_too:
                name = self._action_name(inner, ago)
                new = Recall(name, "seen", last_action) if last_action else Recall(name, "index")
                recalls.append(new)
                last_action = name
        return tuple(recalls)

    def _more(self, inner: System) -> list[tuple[str, Classes]]:
        more: list[tuple[str, Classes]] = []
        for ago in range(1, self.steps + 1):
            if self.observed_too:
                more += [(_ago(name, ago), part) for name, part in _named_parts(inner).items()]
            if self.actions_too:
                more.append((self._action_name(inner, ago), Levels(len(inner.actions), "action")))
        return more

    def _action_name(self, inner: System, ago: int) -> str:
        return fresh(_ago("action", ago), {_ago(name, ago) for name in _named_parts(inner)})


@dataclass(frozen=True)
class Memory(Layer):
    """Agents have a memory of a few states, which they set by their actions."""

    kind: ClassVar[str] = "memory"
    states: int = 2

    def fields(self, inner: System) -> dict[str, Field]:
        """The state of the memory."""
        return {"memory": Field(f"memory, one of {self.states} states", kind="hidden")}

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """State 0."""
        return {"memory": np.zeros(seen.shape[:2], np.int64)}

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """What the action says is to be remembered."""
        wanted = np.asarray(actions)[..., -1].astype(np.int64)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.states:
            raise InvalidInput(
                f"the last component of an action must be a state of the memory from 0 to "
                f"{self.states - 1}, got {wanted.min()} to {wanted.max()}"
            )
        return {"memory": wanted}

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """The memory is observed as well."""
        memory = own["memory"][:, :, None].astype(np.float64)
        return np.concatenate([_components(seen, inner), memory], axis=2)

    def features(self, inner: System) -> Product:
        """Classes with the state of the memory, which has no reward of its own."""
        return extended(inner, {self._name(inner): Levels(self.states, "memory")})

    def actions(self, inner: System) -> NDArray[Any]:
        """Pairs: what to do, and what to remember."""
        done = np.asarray(inner.actions)
        columns = done[:, None] if done.ndim == 1 else done
        remembered = np.tile(np.arange(self.states), len(done))[:, None]
        return np.concatenate([columns.repeat(self.states, axis=0), remembered], axis=1)

    def split(self, inner: System, actions: NDArray[Any]) -> NDArray[Any]:
        """All components but the last."""
        done = np.asarray(inner.actions)
        own = actions[..., :-1] if done.ndim > 1 else actions[..., 0]
        return own if own.dtype == done.dtype or own.dtype.kind == "f" else own.astype(done.dtype)

    def recalls(self, inner: System) -> tuple[Recall, ...]:
        """The last component of the action."""
        return (Recall(self._name(inner), "action", self.action_name(inner)),)

    def action_name(self, inner: System) -> str:
        """What the component of actions that sets the memory is called."""
        return fresh("remember", {axis.name for axis in action_axes(inner)})

    def _name(self, inner: System) -> str:
        return fresh("memory", set(_named_parts(inner)))


@dataclass(frozen=True)
class Kinds(Layer):
    """Agents are of several kinds, which differ in what they are rewarded for and do."""

    kind: ClassVar[str] = "kinds"
    counts: tuple[int, ...]
    names: tuple[str, ...]
    assignment: tuple[int, ...] | None = None

    def fields(self, inner: System) -> dict[str, Field]:
        """The number of an agent's kind, which never changes."""
        named = ", ".join(f"{i} {name}" for i, name in enumerate(self.names))
        return {"kind": Field(f"kind of agent: {named}", constant=True, kind="hidden")}

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """Who is of which kind is drawn, so that agents' numbers say nothing."""
        kinds = np.repeat(np.arange(len(self.counts)), self.counts)
        return {"kind": kinds[rng.permutation()]}

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """Agents stay what they are."""
        return own

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """An agent knows its own kind."""
        kind = own["kind"][:, :, None].astype(np.float64)
        return np.concatenate([_components(seen, inner), kind], axis=2)

    def features(self, inner: System) -> Product:
        """Each kind has classes, and unless features are additive a reward, of its own."""
        name = fresh("kind", set(_named_parts(inner)))
        return extended(inner, {name: Levels(len(self.counts), "kind")}, rewarded=True)


@dataclass(frozen=True)
class Noise(Layer):
    """Agents see what is there with an error."""

    kind: ClassVar[str] = "noise"
    is_sense: ClassVar[bool] = True
    amounts: tuple[float, ...]  # of each component

    def fields(self, inner: System) -> dict[str, Field]:
        """The error of each component."""
        return {"sense_error": Field("error of the senses", axes=("sense",), kind="hidden")}

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """Errors are there from the beginning."""
        columns = []
        for part, amount in zip(_parts(inner), self.amounts, strict=True):
            if isinstance(part, Levels | Vectors):
                errs = rng.uniform() < amount
                other = 1 + (rng.uniform() * (part.size - 1)).astype(np.int64)
                columns.append(np.where(errs, other, 0).astype(np.float64))
            else:
                columns.append(rng.normal(scale=amount))
        return {"sense_error": np.stack(columns, axis=2)}

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """Errors are drawn again in every step."""
        return self.start(inner, seen, rng)

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """What is there, plus the error; another level, where levels are seen."""
        columns = np.moveaxis(_components(seen, inner), 2, 0)
        errors = np.moveaxis(own["sense_error"], 2, 0)
        changed = []
        for part, column, error in zip(_parts(inner), columns, errors, strict=True):
            if isinstance(part, Levels | Vectors):
                changed.append((column + error) % part.size)
            elif isinstance(part, Bins):
                changed.append(np.clip(column + error, part.edges[0], part.edges[-1]))
            elif isinstance(part, Angles):
                changed.append(np.remainder(column + error + math.pi, _TURN) - math.pi)
            else:
                changed.append(column + error)
        return inner_part(inner, np.stack(changed, axis=2)).astype(seen.dtype)


@dataclass(frozen=True)
class Delay(Layer):
    """Agents see what was there some steps ago."""

    kind: ClassVar[str] = "delay"
    is_sense: ClassVar[bool] = True
    steps: int = 1

    def fields(self, inner: System) -> dict[str, Field]:
        """What is on its way to the agent, the latest first."""
        axes = ("late", *(("late component",) if inner.features.shape else ()))
        return {"late_observations": Field("what will be observed later", axes=axes, kind="hidden")}

    def start(self, inner: System, seen: NDArray[Any], rng: Stream) -> State:
        """As if the same had been there before."""
        return {"late_observations": np.repeat(seen[:, :, None], self.steps, axis=2)}

    def step(
        self, inner: System, seen: NDArray[Any], own: State, actions: NDArray[Any], rng: Stream
    ) -> State:
        """Each comes a step nearer."""
        late = own["late_observations"]
        return {"late_observations": np.concatenate([seen[:, :, None], late[:, :, :-1]], axis=2)}

    def observed(self, inner: System, seen: NDArray[Any], own: State) -> NDArray[Any]:
        """The oldest."""
        return np.ascontiguousarray(own["late_observations"][:, :, -1])


LAYERS: Mapping[str, type[Layer]] = {
    layer.kind: layer for layer in (History, Memory, Kinds, Noise, Delay)
}


def layer_from(plain: Mapping[str, Any]) -> Layer:
    """The layer that `plain` described."""
    settings = {
        name: tuple(value) if isinstance(value, list | tuple) else value
        for name, value in plain.items()
        if name not in ("layer", "under")
    }
    if plain.get("layer") not in LAYERS:
        raise InvalidInput(
            f"a layer must be one of {', '.join(LAYERS)}, got {plain.get('layer')!r}"
        )
    try:
        return LAYERS[plain["layer"]](**settings)
    except TypeError as error:
        raise InvalidInput(f"not the settings of a {plain['layer']}: {error}") from None


def extended(inner: System, more: Mapping[str, Classes], *, rewarded: bool = False) -> Product:
    """The classes of a system's observations, with further components.

    Rewards are for what they were for before, and where `rewarded` for the further ones as well.
    """
    features, parts = inner.features, _named_parts(inner)
    additive = isinstance(features, Product) and features.additive
    kept = features.rewarded if isinstance(features, Product) else None
    names = tuple(parts) if kept is None else kept
    if rewarded and not additive:
        names = (*names, *more)
    return Product(additive=additive, **parts, **more).rewarding(names)


def inner_part(inner: System, components: NDArray[Any]) -> NDArray[Any]:
    """Observations as the inner system makes them, from their components (..., k)."""
    features = inner.features
    own = components[..., : len(features.axes)]
    if features.shape:
        return own
    whole = features.axes[0].values.dtype.kind in "iu"
    return own[..., 0].astype(np.int64) if whole else np.ascontiguousarray(own[..., 0])


def fresh(name: str, taken: set[str]) -> str:
    """A name that is not taken: the same with a number, where it is."""
    number, made = 2, name
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    return made


def _components(seen: NDArray[Any], inner: System) -> NDArray[np.float64]:
    """Observations of the inner system as components (..., k)."""
    own = seen if inner.features.shape else seen[..., None]
    return np.asarray(own, np.float64)


def _named_parts(inner: System) -> dict[str, Classes]:
    """The classes of each component of an observation, by name."""
    features = inner.features
    if isinstance(features, Product):
        return dict(features.components)
    if isinstance(features, Angles | Bins | Levels):
        return {features.name: features}
    raise InvalidInput(
        f"memory, history and kinds need observations of Angles, Levels, Bins or a Product of "
        f"them, but {name_of(inner)} has {type(features).__name__}: give it others with "
        "swarmdp.model.with_features"
    )


def _parts(inner: System) -> list[FeatureMap | None]:
    """What is known of each component of an observation."""
    features = inner.features
    if isinstance(features, Product):
        return list(features.components.values())
    return [features] if not features.shape else [None] * len(features.axes)


def _ago(name: str, steps: int) -> str:
    return f"{name}_{steps}_ago"
