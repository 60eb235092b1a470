"""Observations of several components, each with its own classes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features.classes import Levels
from swarmdp.model.features.maps import Axis, Block, Classes, Interpolating
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput


@checked(but=("index", "between"))
@dataclass(frozen=True, eq=False)
class Product:
    """Observations of several named components, each with classes of its own.

    `Product(misalignment=Angles(36), neighbours=Levels(5))` is for observations (..., 2), of which
    the first is an angle and the second a number of neighbours. The classes are all combinations.

    Parameters
    ----------
    additive
        With True a reward is a sum of one block of weights for each component, 36 + 5 of them; with
        False every combination has a weight of its own, 36 * 5. Policies always tell all
        combinations apart.
    components
        A map with classes for each component, by its name.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> features = swarmdp.Product(light=swarmdp.Angles(4), neighbours=swarmdp.Levels(3))
    >>> features.size
    12
    >>> features.index(np.array([[0.0, 2.0], [np.pi / 2, 0.0]]))
    array([8, 9])

    """

    components: Mapping[str, Classes]
    additive: bool = False
    rewarded: tuple[str, ...] | None = None

    def __init__(self, *, additive: bool = False, **components: Classes) -> None:
        if not components:
            raise InvalidInput(
                "a product needs at least one named component, such as neighbours=Levels(5)"
            )
        for name, part in components.items():
            if not isinstance(part, Classes) or part.shape != () or part.matrix is not None:
                raise InvalidInput(
                    f"the component {name!r} of a product must be Angles, Levels or Bins, got "
                    f"{part!r}"
                )
        object.__setattr__(self, "components", dict(components))
        object.__setattr__(self, "additive", bool(additive))
        object.__setattr__(self, "rewarded", None)

    def rewarding(self, names: Sequence[str]) -> "Product":
        """The same classes with rewards for these components only: a memory has none."""
        strange = isinstance(names, str) or [n for n in names if n not in self.components]
        if strange or not names:
            raise InvalidInput(
                f"names must be some of the components {', '.join(self.components)}, in a tuple or "
                f"list, got {brief(names)}"
            )
        made = Product(additive=self.additive, **self.components)
        if set(names) < set(self.components):
            object.__setattr__(made, "rewarded", tuple(names))
        return made

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={part!r}" for name, part in self.components.items())
        some = "" if self.rewarded is None else f".rewarding({self.rewarded})"
        return f"Product({inner}, additive={self.additive}){some}"

    @property
    def shape(self) -> tuple[int, ...]:
        """One number for each component."""
        return (len(self.components),)

    @property
    def size(self) -> int:
        """The number of combinations."""
        return math.prod(part.size for part in self.components.values())

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """One for each component, under its name in the product."""
        return tuple(
            Axis(name, axis.values, axis.units, axis.periodic)
            for name, part in self.components.items()
            for axis in part.axes
        )

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One block for each rewarded component, or one for all combinations of them."""
        axes = tuple(axis for axis in self.axes if self._is_rewarded(axis.name))
        return tuple((axis,) for axis in axes) if self.additive else (axes,)

    def _is_rewarded(self, name: str) -> bool:
        return self.rewarded is None or name in self.rewarded

    @cached_property
    def matrix(self) -> NDArray[np.float64] | None:
        """What each combination is rewarded for (size, d); None if each for itself."""
        if not self.additive and self.rewarded is None:
            return None
        sizes = [part.size for part in self.components.values()]
        places = np.unravel_index(np.arange(self.size), sizes)
        counted = [
            (size, place)
            for name, size, place in zip(self.components, sizes, places, strict=True)
            if self._is_rewarded(name)
        ]
        if not self.additive:
            kept = [size for size, _ in counted]
            together = np.ravel_multi_index([place for _, place in counted], kept)
            return np.eye(math.prod(kept))[together]
        return np.concatenate([np.eye(size)[place] for size, place in counted], axis=1)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The combination of each observation (..., k)."""
        observations = self._as_components(observations)
        index: NDArray[np.integer] = np.zeros(observations.shape[:-1], np.int64)
        for column, (name, part) in enumerate(self.components.items()):
            values = observations[..., column]
            if isinstance(part, Levels):
                values = _whole_numbers(name, values, part.size)
            try:
                place = part.index(values)
            except InvalidInput as error:
                raise InvalidInput(f"the component {name!r}: {error}") from None
            index = index * part.size + place
        return index

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The combinations around each observation, weighted along each component."""
        observations = self._as_components(observations)
        index = np.zeros((*observations.shape[:-1], 1), np.int64)
        weight = np.ones(index.shape)
        for column, (name, part) in enumerate(self.components.items()):
            values = observations[..., column]
            if isinstance(part, Levels):
                values = _whole_numbers(name, values, part.size)
            assert isinstance(part, Interpolating)
            inner, share = part.between(values)
            corners = index.shape[-1] * inner.shape[-1]
            index = (index[..., :, None] * part.size + inner[..., None, :]).reshape(
                *index.shape[:-1], corners
            )
            weight = (weight[..., :, None] * share[..., None, :]).reshape(index.shape)
        return index, weight

    def _as_components(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Observations as an array whose last axis is the component."""
        given: NDArray[Any] = numbers("the observations", observations)
        if given.shape[-1:] != self.shape:
            raise InvalidInput(
                f"the last axis of the observations must be the {len(self.components)} components "
                f"{', '.join(self.components)}, got an array of shape {given.shape}"
            )
        return given


def _whole_numbers(name: str, values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Levels that came in an array of floating-point numbers beside other components."""
    whole = values.astype(np.int64) if np.isfinite(values).all() else np.zeros(1, np.int64)
    if not np.array_equal(whole, values):
        raise InvalidInput(
            f"the component {name!r} must be whole numbers from 0 to {size - 1}, got others"
        )
    return whole
