"""What a feature map tells of itself: axes, blocks of weights, and whether it has classes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput


@checked
@dataclass(frozen=True, eq=False)
class Axis:
    """One component of an observation, or one axis of a reward's table.

    Parameters
    ----------
    name
        What is along it.
    values
        (classes,): the value of each class; empty for a component without classes.
    units
        The unit of the values: "rad" is shown in degrees.
    periodic
        Whether the last class is beside the first.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> axis = swarmdp.features.Axis("misalignment", np.radians([-90.0, 0.0, 90.0]), "rad")
    >>> axis.shown.written(2)
    'misalignment 90 degrees'

    """

    name: str
    values: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    units: str = "1"
    periodic: bool = False

    @property
    def shown(self) -> "Axis":
        """The axis as tables and figures show it: angles in degrees."""
        if self.units != "rad":
            return self
        return Axis(self.name, np.degrees(self.values), "degrees", self.periodic)

    @property
    def label(self) -> str:
        """Name and unit, for figures and tables."""
        return self.name if self.units == "1" else f"{self.name} / {self.units}"

    def written(self, place: int, last: int | None = None) -> str:
        """One class of the axis in words, or a range: 'misalignment 20 to 40 degrees'."""
        ends = [place] if last is None or last == place else [place, last]
        for end in ends:
            if not -len(self.values) <= end < len(self.values):
                raise InvalidInput(f"place must be from 0 to {len(self.values) - 1}, got {end}")
        values = [self.values[end] for end in ends]
        text = " to ".join(value if isinstance(value, str) else f"{value:.4g}" for value in values)
        return f"{self.name} {text}" + ("" if self.units == "1" else f" {self.units}")

    def to_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the axis again."""
        return {
            "name": self.name,
            "values": self.values.tolist(),
            "units": self.units,
            "periodic": self.periodic,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Axis":
        """The axis that `to_json` wrote."""
        if missing := {"name", "values", "units", "periodic"} - set(plain):
            raise InvalidInput(f"the description of an axis has no {', '.join(sorted(missing))}")
        return cls(plain["name"], np.array(plain["values"]), plain["units"], plain["periodic"])


Block = tuple[Axis, ...]


@runtime_checkable
class FeatureMap(Protocol):
    """What every map from observations to features tells of itself.

    A map is also one of `Classes` or `Smooth`.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Angles(4), swarmdp.features.FeatureMap)
    True

    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one observation: () for a number, (k,) for k components."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The components of an observation."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The axes of each block of weights; the weights of a block are a grid over its axes."""


@runtime_checkable
class Classes(FeatureMap, Protocol):
    """A map that puts every observation into one of `size` classes.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Bins([0.0, 0.5, 2.0]), swarmdp.features.Classes)
    True

    """

    @property
    def size(self) -> int:
        """The number of classes."""

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """The features of each class (size, d); None if each class is its own feature."""

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The class of each observation, from 0 to size - 1: (..., *shape) to (...)."""


@runtime_checkable
class Interpolating(Protocol):
    """A map whose neighbouring classes can be interpolated between.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> places, weights = swarmdp.Angles(4).between(np.array([np.pi / 8]))
    >>> places, weights
    (array([[2, 3]]), array([[0.75, 0.25]]))

    """

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The classes around each observation (..., m), and how much each counts (..., m)."""


@runtime_checkable
class Smooth(FeatureMap, Protocol):
    """A map without classes.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Angles(4), swarmdp.features.Smooth)
    False

    """

    def of(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The features of each observation: (..., *shape) to (..., d)."""


def has_classes(features: FeatureMap) -> TypeGuard[Classes]:
    """Whether a map is one of classes; as `isinstance`, but fast enough for every step."""
    kind = type(features)
    if kind not in _HAS_CLASSES:
        _HAS_CLASSES[kind] = isinstance(features, Classes)
    return _HAS_CLASSES[kind]


_HAS_CLASSES: dict[type, bool] = {}


def n_features(features: FeatureMap) -> int:
    """The number of features d: a reward has a weight for each of them.

    Parameters
    ----------
    features
        Any map.

    Returns
    -------
    int
        The number of weights of all blocks.

    Raises
    ------
    AttributeError
        If it is not a feature map.

    Examples
    --------
    >>> import swarmdp
    >>> parts = {"light": swarmdp.Angles(4), "neighbours": swarmdp.Levels(3)}
    >>> swarmdp.features.n_features(swarmdp.Product(**parts))
    12
    >>> swarmdp.features.n_features(swarmdp.Product(additive=True, **parts))
    7

    """
    return sum(math.prod(len(axis.values) for axis in block) for block in features.blocks)
