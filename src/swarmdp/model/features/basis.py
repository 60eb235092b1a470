"""Features without classes: any function of the observation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features.maps import Axis, Block
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.errors import InvalidInput


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
        features = np.asarray(self.function(observations), np.float64)
        leading = observations.shape[: observations.ndim - len(self.shape)]
        if features.shape != (*leading, len(self.names)):
            raise InvalidInput(
                f"the function of a basis must give features of the shape "
                f"{(*leading, len(self.names))}, got {features.shape}"
            )
        if not np.isfinite(features).all():
            raise InvalidInput("the features of a basis must be finite, got NaN or infinity")
        return features
