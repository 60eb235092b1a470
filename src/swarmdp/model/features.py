"""The feature map phi: O -> R^d of the paper: what learning sees of an agent's observation.

Most maps put observations into classes (`Classes`). phi is then the indicator of the class, as in
the paper's experiments, or a vector that the map has for each class (`matrix`). `Basis` is a map
without classes: phi is any function of the observation.

An observation is one number or several (`shape`), each described by an `Axis`. The weights of a
reward are one grid over such axes, or several one after another (`blocks`), for tables and figures.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp import kernels
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.errors import InvalidInput

FARTHEST = 1e9  # radians: an angle beyond tells nothing, and whole turns would no longer be exact
LARGEST_ANGLE = 1e5  # radians; beyond, sines and cosines of kernels lose their digits


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
        found = [self.values[end] for end in ends]
        text = " to ".join(value if isinstance(value, str) else f"{value:.4g}" for value in found)
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
    """A map that puts every observation into one of `size` classes."""

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
    """A map whose neighbouring classes can be interpolated between."""

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The classes around each observation (..., m), and how much each counts (..., m)."""


@runtime_checkable
class Smooth(FeatureMap, Protocol):
    """A map without classes."""

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
    """The number of features d, of which a reward has a weight for each."""
    return sum(math.prod(len(axis.values) for axis in block) for block in features.blocks)


@checked(but=("index", "between"))
@dataclass(frozen=True)
class Levels:
    """Observations that are themselves the integers 0 to size - 1.

    Parameters
    ----------
    size
        The number of levels.
    name
        What is observed.
    units
        Its unit.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> swarmdp.Levels(3, "neighbours").index(np.array([2, 0, 1]))
    array([2, 0, 1])

    """

    size: int
    name: str = "observation"
    units: str = "1"

    def __post_init__(self) -> None:
        _check_size(self.size)

    shape = ()
    matrix = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The integers themselves."""
        return (Axis(self.name, np.arange(self.size), self.units),)

    @property
    def values(self) -> NDArray[Any]:
        """The physical value of each class."""
        return self.axes[0].values

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One weight for each integer."""
        return (self.axes,)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The observations, checked."""
        observations = numbers(self.name, observations)
        if not np.issubdtype(observations.dtype, np.integer):
            raise InvalidInput(
                f"{self.name} must be integers from 0 to {self.size - 1}, "
                f"got an array of {observations.dtype}"
            )
        if observations.size and not 0 <= observations.min() <= observations.max() < self.size:
            raise InvalidInput(
                f"{self.name} must be from 0 to {self.size - 1}, "
                f"got {observations.min()} to {observations.max()}"
            )
        return observations

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The observation itself: there is nothing between integers."""
        index = self.index(observations)
        return index[..., None], np.ones((*index.shape, 1))


@checked(but=("index",))
@dataclass(frozen=True, eq=False)
class Vectors:
    """Observations 0 to size - 1, each with a vector of d features: rewards are w·phi(o).

    Parameters
    ----------
    matrix
        (size, d): the features of each observation.
    name
        What is observed.
    units
        Its unit.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> features = swarmdp.features.Vectors([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> features.size, features.matrix[features.index(np.array([1]))]
    (3, array([[0.5, 0.5]]))

    """

    matrix: NDArray[np.float64]
    name: str = "observation"
    units: str = "1"

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
            raise InvalidInput(
                "features must be a matrix of finite numbers (observations, features), got the "
                f"shape {matrix.shape}"
            )
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    shape = ()

    @property
    def size(self) -> int:
        """The number of observations."""
        return len(self.matrix)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The integers themselves."""
        return Levels(self.size, self.name, self.units).axes

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One weight for each feature."""
        return ((Axis("feature", np.arange(self.matrix.shape[1])),),)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The observations, checked."""
        return Levels(self.size, self.name).index(observations)


@checked(but=("index", "between"))
@dataclass(frozen=True)
class Angles:
    """The circle cut into `size` equal intervals, one of them centred on zero.

    Parameters
    ----------
    size
        The number of intervals.
    name
        What is observed.
    units
        The unit, "rad".

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> features = swarmdp.Angles(4)
    >>> np.degrees(features.values)
    array([-180.,  -90.,    0.,   90.])
    >>> features.index(np.radians([-80.0, 10.0, 170.0]))
    array([1, 2, 0], dtype=int32)

    """

    size: int
    name: str = "angle"
    units: str = "rad"

    def __post_init__(self) -> None:
        _check_size(self.size)

    shape = ()
    matrix = None

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The centres of the intervals, in [-pi, pi)."""
        centres: NDArray[np.float64] = np.arange(self.size, dtype=np.float64) - self.size // 2
        centres *= 2 * math.pi / self.size
        centres.setflags(write=False)
        return (Axis(self.name, centres, self.units, periodic=True),)

    @property
    def values(self) -> NDArray[Any]:
        """The physical value of each class."""
        return self.axes[0].values

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One weight for each interval."""
        return (self.axes,)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The interval in which each angle lies, counted around the circle."""
        return kernels.tables.angle_index(self._checked(observations), self.size)

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The two intervals whose centres are around each angle."""
        observations = self._checked(observations)
        place = observations * (self.size / (2.0 * math.pi)) + self.size // 2
        lower = np.floor(place)
        index = np.stack([lower, lower + 1], axis=-1).astype(np.int64) % self.size
        return index, np.stack([1 - (place - lower), place - lower], axis=-1)

    def _checked(self, angles: NDArray[Any]) -> NDArray[np.float64]:
        """Angles as an array in sequence."""
        given = np.ascontiguousarray(numbers(self.name, angles, np.float64))
        if not kernels.tables.all_between(given, -FARTHEST, FARTHEST):
            raise InvalidInput(
                f"{self.name} must be finite angles of at most {FARTHEST:g} rad, got NaN, "
                "infinity or others"
            )
        return given


@checked(but=("index", "between"))
@dataclass(frozen=True)
class Bins:
    """Numbers put into the intervals between explicit edges.

    Parameters
    ----------
    edges
        Rising numbers; k + 1 of them make k intervals, each with its lower edge, the last one with
        both. The outermost may be -inf and inf. A number outside all intervals is an error.
    name
        What is observed.
    units
        The unit of the edges.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> near = swarmdp.Bins([0.0, 0.5, 2.0, np.inf], "distance", "m")
    >>> near.index(np.array([0.1, 0.5, 7.0]))
    array([0, 1, 2], dtype=int32)

    """

    edges: tuple[float, ...]
    name: str = "observation"
    units: str = "1"

    def __init__(self, edges: ArrayLike, name: str = "observation", units: str = "1") -> None:
        try:
            given = np.array(edges, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim != 1 or given.size < 2 or not (np.diff(given) > 0).all():
            raise InvalidInput(
                f"edges must be at least two numbers, each above the one before, got {edges!r}"
            )
        if given.size > 2 and not np.isfinite(given[1:-1]).all():
            raise InvalidInput(f"only the first and last edge may be infinite, got {edges!r}")
        object.__setattr__(self, "edges", tuple(given.tolist()))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "units", units)

    shape = ()
    matrix = None

    @property
    def size(self) -> int:
        """The number of intervals."""
        return len(self.edges) - 1

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The middle of each interval; an open interval counts as wide as its neighbour."""
        edges = np.array(self.edges)
        if self.size == 1 and np.isinf(edges).any():
            finite = edges[np.isfinite(edges)]
            return (Axis(self.name, finite if finite.size else np.zeros(1), self.units),)
        if np.isinf(edges[0]):
            edges[0] = edges[1] - (edges[2] - edges[1] if np.isfinite(edges[2]) else 1.0)
        if np.isinf(edges[-1]):
            edges[-1] = edges[-2] + (edges[-2] - edges[-3])
        return (Axis(self.name, (edges[:-1] + edges[1:]) / 2, self.units),)

    @property
    def values(self) -> NDArray[Any]:
        """The physical value of each class."""
        return self.axes[0].values

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One weight for each interval."""
        return (self.axes,)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The interval in which each number lies."""
        observations = numbers(self.name, observations, np.float64)
        inside = (observations >= self.edges[0]) & (observations <= self.edges[-1])
        if not inside.all():
            strange = observations[~inside].flat[0]
            raise InvalidInput(
                f"{self.name} must be from {self.edges[0]:g} to {self.edges[-1]:g}, got "
                f"{strange}: use -inf or inf as the outermost edge where anything may come"
            )
        found: NDArray[np.integer] = np.searchsorted(
            self.edges[1:-1], observations, side="right"
        ).astype(np.int32)
        return found

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The two intervals whose middles are around each number; beyond them just the last one."""
        self.index(observations)
        observations = numbers(self.name, observations, np.float64)
        middles = self.axes[0].values
        if self.size == 1:
            return np.zeros((*observations.shape, 1), np.int64), np.ones((*observations.shape, 1))
        lower = np.clip(np.searchsorted(middles, observations, side="right") - 1, 0, self.size - 2)
        share = (observations - middles[lower]) / (middles[lower + 1] - middles[lower])
        share = np.clip(share, 0.0, 1.0)
        return np.stack([lower, lower + 1], axis=-1), np.stack([1 - share, share], axis=-1)


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

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={part!r}" for name, part in self.components.items())
        return f"Product({inner}, additive={self.additive})"

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
        """One block for each component, or one for all combinations."""
        return tuple((axis,) for axis in self.axes) if self.additive else (self.axes,)

    @cached_property
    def matrix(self) -> NDArray[np.float64] | None:
        """The components that each combination has (size, d), if the reward is their sum."""
        if not self.additive:
            return None
        sizes = [part.size for part in self.components.values()]
        places = np.unravel_index(np.arange(self.size), sizes)
        return np.concatenate(
            [np.eye(size)[place] for size, place in zip(sizes, places, strict=True)], axis=1
        )

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The combination of each observation (..., k)."""
        observations = self._checked(observations)
        found: NDArray[np.integer] = np.zeros(observations.shape[:-1], np.int64)
        for column, (name, part) in enumerate(self.components.items()):
            values = observations[..., column]
            if isinstance(part, Levels):
                values = _whole_numbers(name, values, part.size)
            try:
                place = part.index(values)
            except InvalidInput as error:
                raise InvalidInput(f"the component {name!r}: {error}") from None
            found = found * part.size + place
        return found

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The combinations around each observation, weighted along each component."""
        observations = self._checked(observations)
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

    def _checked(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Observations as an array whose last axis is the component."""
        given: NDArray[Any] = numbers("the observations", observations)
        if given.shape[-1:] != self.shape:
            raise InvalidInput(
                f"the last axis of the observations must be the {len(self.components)} components "
                f"{', '.join(self.components)}, got an array of shape {given.shape}"
            )
        return given


@checked(but=("of",))
@dataclass(frozen=True, eq=False)
class Basis:
    """Features that are any function of the observation, without classes.

    Parameters
    ----------
    function
        From observations (..., k), or (...) where an observation is one number, to features
        (..., d). It must treat each observation on its own.
    names
        What the d features are called.
    axes
        The components of an observation, each an `Axis` with a name, a unit and whether it is
        periodic (an angle); one of them for observations that are a single number.
    scalar
        Whether an observation is one number, not a vector of one.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> def waves(seen):
    ...     return np.stack([np.cos(seen), np.sin(seen)], axis=-1)
    ...
    >>> features = swarmdp.features.Basis(waves, ("cosine", "sine"), scalar=True)
    >>> features.of(np.array([0.0])).round(2)
    array([[1., 0.]])

    """

    function: Callable[[NDArray[Any]], NDArray[np.float64]]
    names: tuple[str, ...]
    axes: tuple[Axis, ...] = (Axis("observation"),)
    scalar: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "axes", tuple(self.axes))
        if not callable(self.function) or not self.names or not self.axes:
            raise InvalidInput(
                "a basis needs a function from observations to features, a name for each feature "
                "and an axis for each component of an observation"
            )
        if len(set(self.names)) < len(self.names):
            raise InvalidInput(f"the features of a basis need different names, got {self.names}")
        if self.scalar and len(self.axes) != 1:
            raise InvalidInput(
                f"observations that are one number have one axis, got {len(self.axes)}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one observation."""
        return () if self.scalar else (len(self.axes),)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One weight for each named feature."""
        return ((Axis("feature", np.array(self.names)),),)

    def of(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The features of each observation, checked."""
        observations = numbers("the observations", observations, np.number)
        if observations.shape[observations.ndim - len(self.shape) :] != self.shape:
            raise InvalidInput(
                f"an observation must have the shape {self.shape}, got an array of shape "
                f"{observations.shape}"
            )
        found = np.asarray(self.function(observations), np.float64)
        leading = observations.shape[: observations.ndim - len(self.shape)]
        if found.shape != (*leading, len(self.names)):
            raise InvalidInput(
                f"the function of a basis must give features of the shape "
                f"{(*leading, len(self.names))}, got {found.shape}"
            )
        if not np.isfinite(found).all():
            raise InvalidInput("the features of a basis must be finite, got NaN or infinity")
        return found


def described(features: FeatureMap) -> dict[str, Any]:
    """A feature map as plain data: to tell it from others, and to make it again if it has classes.

    Vectors and a basis are described, but cannot be made again.
    """
    plain: dict[str, Any] = {"kind": type(features).__name__}
    if isinstance(features, Product):
        parts = {name: described(part) for name, part in features.components.items()}
        return {**plain, "additive": features.additive, "components": parts}
    if isinstance(features, Angles | Levels):
        own: dict[str, Any] = {"size": int(features.size)}
    elif isinstance(features, Bins):
        own = {"edges": list(features.edges)}
    else:
        axes = [{"name": axis.name, "units": axis.units} for axis in features.axes]
        names = [str(value) for block in features.blocks for value in block[0].values]
        return {**plain, "axes": axes, "features": names}
    return {**plain, **own, "name": features.name, "units": features.units}


def restored(plain: Mapping[str, Any]) -> Classes | None:
    """The map that `described` told of; None for one that cannot be made again."""
    kind = plain["kind"]
    if kind == "Product":
        parts = {name: restored(part) for name, part in plain["components"].items()}
        known = {name: part for name, part in parts.items() if part is not None}
        return Product(additive=plain["additive"], **known) if len(known) == len(parts) else None
    makers: dict[str, Callable[..., Classes]] = {"Angles": Angles, "Levels": Levels, "Bins": Bins}
    if kind not in makers:
        return None
    first = plain["edges"] if kind == "Bins" else plain["size"]
    return makers[kind](first, plain["name"], plain["units"])


def _whole_numbers(name: str, values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Levels that came in an array of floating-point numbers beside other components."""
    whole = values.astype(np.int64) if np.isfinite(values).all() else np.zeros(1, np.int64)
    if not np.array_equal(whole, values):
        raise InvalidInput(
            f"the component {name!r} must be whole numbers from 0 to {size - 1}, got others"
        )
    return whole


def _check_size(size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
        raise InvalidInput(f"the number of features must be a positive integer, got {size!r}")
