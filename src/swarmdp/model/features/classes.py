"""Classes of one number: levels, angles, bins; and levels that have vectors of features."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.model.features.maps import Axis, Block
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import PositiveInteger

FARTHEST_ANGLE = 1e9  # radians: beyond, an angle tells nothing, and whole turns are not exact
LARGEST_ANGLE = 1e5  # radians; beyond, sines and cosines of kernels lose their digits


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

    size: PositiveInteger
    name: str = "observation"
    units: str = "1"

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

    size: PositiveInteger
    name: str = "angle"
    units: str = "rad"

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
        return kernels.tables.angle_index(self._as_angles(observations), self.size)

    def between(self, observations: NDArray[Any]) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """The two intervals whose centres are around each angle."""
        observations = self._as_angles(observations)
        place = observations * (self.size / (2.0 * math.pi)) + self.size // 2
        lower = np.floor(place)
        index = np.stack([lower, lower + 1], axis=-1).astype(np.int64) % self.size
        return index, np.stack([1 - (place - lower), place - lower], axis=-1)

    def _as_angles(self, angles: NDArray[Any]) -> NDArray[np.float64]:
        """Angles as an array in sequence."""
        given = np.ascontiguousarray(numbers(self.name, angles, np.float64))
        if not kernels.tables.all_between(given, -FARTHEST_ANGLE, FARTHEST_ANGLE):
            raise InvalidInput(
                f"{self.name} must be finite angles of at most {FARTHEST_ANGLE:g} rad, got NaN, "
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
        index: NDArray[np.integer] = np.searchsorted(
            self.edges[1:-1], observations, side="right"
        ).astype(np.int32)
        return index

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
