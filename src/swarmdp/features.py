"""The feature map phi: O -> R^d, as the discretisation of an agent's observation.

Each observation falls into one of `size` classes. phi is the indicator of that class, as in the
paper's experiments, or a vector that the map has for each class (`matrix`). A class has a
physical value (the centre of its interval, the energy itself) with a unit, for tables and figures.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.errors import InvalidInput


class Features(Protocol):
    """What the model needs to know of a feature map."""

    @property
    def size(self) -> int:
        """The number of classes."""

    @property
    def values(self) -> NDArray[Any]:
        """The physical value of each class (size,)."""

    @property
    def units(self) -> str:
        """The unit of these values."""

    @property
    def name(self) -> str:
        """What is observed."""

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The class of each observation, from 0 to size - 1."""


@dataclass(frozen=True)
class Levels:
    """Observations that are themselves the integers 0 to size - 1."""

    size: int
    name: str = "observation"
    units: str = "1"

    def __post_init__(self) -> None:
        _check_size(self.size)

    @property
    def values(self) -> NDArray[np.int64]:
        """The integers themselves."""
        return np.arange(self.size)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The observations, checked."""
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


@dataclass(frozen=True, eq=False)
class Vectors:
    """Observations 0 to size - 1, each with a vector of d features: rewards are w . phi(o)."""

    matrix: NDArray[np.float64]  # (size, d)
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

    @property
    def size(self) -> int:
        """The number of observations."""
        return len(self.matrix)

    @property
    def values(self) -> NDArray[np.int64]:
        """The integers themselves."""
        return np.arange(self.size)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The observations, checked."""
        return Levels(self.size, self.name).index(observations)


@dataclass(frozen=True)
class Angles:
    """The circle cut into `size` equal intervals, one of them centred on zero."""

    size: int
    name: str = "angle"
    units: str = "rad"

    def __post_init__(self) -> None:
        _check_size(self.size)

    @property
    def values(self) -> NDArray[np.float64]:
        """The centres of the intervals, in [-pi, pi)."""
        centres: NDArray[np.float64] = np.arange(self.size, dtype=np.float64) - self.size // 2
        return centres * (2 * math.pi / self.size)

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The interval in which each angle lies, counted around the circle."""
        if not np.isfinite(observations).all():
            raise InvalidInput(f"{self.name} must be finite angles, got NaN or infinity")
        return kernels.tabular.angle_index(
            np.ascontiguousarray(observations, dtype=np.float64), self.size
        )


def _check_size(size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidInput(f"the number of features must be a positive integer, got {size!r}")
