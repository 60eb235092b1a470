"""Finite swarms whose agents remember, err, see late or are of several kinds: listed exactly.

A local state is then a pair: the local state of the system, and the values of the layer's fields,
of which there are finitely many where observations are levels.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.augmented.layers import Delay, History, Kinds, Memory, Noise
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.features import Classes, Levels
from swarmdp.model.streams import Stream
from swarmdp.model.system import State, name_of
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.theory.finite_swarm import Acting, FiniteSwarm


@dataclass(frozen=True, eq=False)
class FiniteAugmented:
    """A finite swarm with one layer around it, as a finite swarm."""

    augmented: Augmented
    inner: FiniteSwarm

    @classmethod
    def of(cls, augmented: Augmented) -> "FiniteAugmented":
        """The swarm; raises InvalidInput if it is not finite, or not all agents act at once."""
        below: Any = augmented.system
        inner = cls.of(below) if isinstance(below, Augmented) else below
        if not isinstance(inner, FiniteSwarm) or not isinstance(inner.features, Classes):
            raise InvalidInput(
                f"{name_of(augmented)} cannot be enumerated: the system under its memory is not a "
                "finite swarm, such as theory.FiniteIsing"
            )
        if inner.acting != "all":
            raise InvalidInput(
                'agents that remember are enumerated with acting="all" only: those that do not act '
                "would not remember either"
            )
        if not isinstance(augmented.layer, Memory | Kinds) and not _are_levels(inner.features):
            raise InvalidInput(
                "a history, late or noisy senses can be enumerated where observations are Levels"
            )
        return cls(augmented, inner)

    @property
    def n_agents(self) -> int:
        """Those of the system."""
        return self.inner.n_agents

    @property
    def actions(self) -> NDArray[Any]:
        """Those of the augmented system."""
        return self.augmented.actions

    @property
    def features(self) -> Classes:
        """Those of the augmented system."""
        features = self.augmented.features
        assert isinstance(features, Classes)
        return features

    @property
    def acting(self) -> Acting:
        """All agents act at once."""
        return "all"

    @property
    def system_name(self) -> str:
        """The name of the system."""
        return name_of(self.augmented)

    @property
    def n_local(self) -> int:
        """The system's local states, each with all values of the layer's fields."""
        return self.inner.n_local * len(self._rows)

    @property
    def initial_local(self) -> Floats:
        """How an agent starts, if what it has at first does not depend on what it observes.

        Where it does, `joint_start` is the whole truth, and this one is uniform over the values.
        """
        own = np.full(len(self._rows), 1 / len(self._rows))
        law: Floats = (self.inner.initial_local[:, None] * own).ravel()
        return law

    def joint_start(self, local: NDArray[np.integer]) -> Floats:
        """The probability of starting in each of these joint states (K, agents)."""
        below, own = np.divmod(local, len(self._rows))
        if isinstance(self.inner, FiniteAugmented):
            law = self.inner.joint_start(below)
        else:
            law = self.inner.initial_local[below].prod(axis=1)
        layer = self.augmented.layer
        if isinstance(layer, Kinds):
            counted = [(own == k).sum(axis=1) == count for k, count in enumerate(layer.counts)]
            right = np.logical_and.reduce(counted)
            # Each way to share out the kinds among the agents is as likely as any other.
            ways = _ways(layer.counts)
            return np.where(right, law / ways, 0.0)
        if isinstance(layer, Noise):
            errors: Floats = law * self._error_law(layer)[own].prod(axis=1)
            return errors
        seen = self.inner.observe(self.inner.place(below))
        start = layer.start(self.augmented.system, seen, None)  # type: ignore[arg-type]
        return np.where((self._numbers(start) == own).all(axis=1), law, 0.0)

    def place(self, local: NDArray[np.integer]) -> State:
        """The joint states whose local states have these numbers (runs, agents)."""
        below, own = np.divmod(local, len(self._rows))
        state = self.inner.place(below)
        for base, (shape, dtype, column) in self._layout.items():
            values = self._rows[own][..., column].reshape(*own.shape, *shape).astype(dtype)
            state = state | {self.augmented.names[base]: values}
        return state

    def local(self, state: State) -> NDArray[np.integer]:
        """The number of each agent's local state (runs, agents)."""
        below, own = self.augmented.parts(state)
        return self.inner.local(below) * len(self._rows) + self._numbers(own)

    def outcomes(self, state: State, actions: NDArray[np.integer]) -> Floats:
        """The law of each agent's next local state if it takes the action with this index."""
        below, own = self.augmented.parts(state)
        layer = self.augmented.layer
        per = layer.states if isinstance(layer, Memory) else 1
        law = self.inner.outcomes(below, actions // per)
        if isinstance(layer, Noise):
            then = np.broadcast_to(self._error_law(layer), (*actions.shape, len(self._rows)))
        else:
            seen = self.inner.observe(below)
            physical = np.take(self.actions, actions, axis=0)
            after = layer.step(self.augmented.system, seen, own, physical, None)  # type: ignore[arg-type]
            then = np.eye(len(self._rows))[self._numbers(after)]
        both: Floats = law[..., :, None] * then[..., None, :]
        return both.reshape(*actions.shape, -1)

    def initial(self, rng: Stream) -> State:
        """As the augmented system."""
        return self.augmented.initial(rng)

    def observe(self, state: State) -> NDArray[Any]:
        """As the augmented system."""
        return self.augmented.observe(state)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """As the augmented system."""
        return self.augmented.transition(state, actions, rng)

    @cached_property
    def _layout(self) -> dict[str, tuple[tuple[int, ...], Any, slice]]:
        """Of each field its shape after (runs, agents), its type, and its columns in a row."""
        layer, inner = self.augmented.layer, self.inner
        width = inner.features.shape
        shapes: dict[str, tuple[tuple[int, ...], Any]] = {}
        for base in layer.fields(self.augmented.system):
            if isinstance(layer, History | Delay):
                past = base != "past_actions"
                shapes[base] = ((layer.steps, *(width if past else ())), self._dtype(past))
            elif isinstance(layer, Noise):
                shapes[base] = ((len(layer.amounts),), np.float64)
            else:
                shapes[base] = ((), np.int64)
        layout, at = {}, 0
        for base, (shape, dtype) in shapes.items():
            count = int(np.prod(shape, dtype=np.int64))
            layout[base] = (shape, dtype, slice(at, at + count))
            at += count
        return layout

    def _dtype(self, past: bool) -> Any:
        """The type of past observations, or of past actions."""
        if not past:
            return np.int64
        example = self.inner.place(np.zeros((1, self.n_agents), np.int64))
        return self.inner.observe(example).dtype

    @cached_property
    def _sizes(self) -> list[int]:
        """How many values each column of a row has."""
        layer, inner = self.augmented.layer, self.inner
        levels = [len(axis.values) for axis in inner.features.axes]
        if isinstance(layer, Memory):
            return [layer.states]
        if isinstance(layer, Kinds):
            return [len(layer.counts)]
        if isinstance(layer, Noise):
            return levels
        sizes = []
        for base in layer.fields(self.augmented.system):
            one = [len(inner.actions)] if base == "past_actions" else levels
            sizes += one * layer.steps  # type: ignore[attr-defined]
        return sizes

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        """All values of the layer's fields, (E, columns)."""
        ranges = [range(size) for size in self._sizes]
        return np.array(list(itertools.product(*ranges)), np.int64)

    def _numbers(self, own: State) -> NDArray[np.int64]:
        """Which row each agent's fields are (runs, agents)."""
        columns = []
        for base, (shape, _, _) in self._layout.items():
            values = np.asarray(own[base])
            flat = values.reshape(*values.shape[: values.ndim - len(shape)], -1)
            columns.append(np.rint(flat).astype(np.int64))
        row = np.concatenate(columns, axis=-1)
        number: NDArray[np.int64] = np.ravel_multi_index(
            tuple(np.moveaxis(row, -1, 0)), self._sizes
        ).astype(np.int64)
        return number

    def _error_law(self, layer: Noise) -> Floats:
        """How likely each row of errors is (E,)."""
        law = np.ones(len(self._rows))
        for column, size, amount in zip(self._rows.T, self._sizes, layer.amounts, strict=True):
            law *= np.where(column == 0, 1 - amount, amount / max(1, size - 1))
        return law


def _are_levels(features: Classes) -> bool:
    parts = getattr(features, "components", {"": features}).values()
    return all(isinstance(part, Levels) for part in parts)


def _ways(counts: tuple[int, ...]) -> float:
    """In how many ways kinds can be shared out among agents."""
    from math import factorial, prod

    return factorial(sum(counts)) / prod(map(factorial, counts))
