"""How similar the rewards of neighbouring classes are, before anything is known of them.

Classes of an angle or of a distance are intervals of one quantity, and what is sought in one of
them is sought in the next one as well, more or less. Levels are names: the cell of a grid tells
nothing of the cell with the next number.
"""

from collections.abc import Callable, Sequence

import numpy as np

from swarmdp.model.features.maps import Axis, Block
from swarmdp.support.arrays import Floats


def is_graded(axis: Axis) -> bool:
    """Whether neighbouring classes of an axis are neighbouring intervals of one quantity."""
    return len(axis.values) > 1 and (axis.periodic or axis.values.dtype.kind == "f")


def falling_similarity(axis: Axis, length: float) -> Floats:
    """The correlation of the rewards of any two classes, which falls exponentially.

    Rewards with a corner are as probable as smooth ones, and around a circle of few classes it is
    still a covariance.

    Parameters
    ----------
    axis
        Of which the places are compared, not the values: bins may be wide where little happens.
    length
        The number of classes over which similarity falls to 1/e.

    """
    place = np.arange(len(axis.values))
    away = np.abs(place[:, None] - place)
    if axis.periodic:
        away = np.minimum(away, len(place) - away)
    similar: Floats = np.exp(-away / length)
    return similar


def smooth_similarity(axis: Axis, length: float) -> Floats:
    """The correlation of the rewards of any two classes, if rewards have no corners.

    It is Matern's law of order 3/2 on a line or circle of classes, (1 + length^2 L)^-2 with L the
    graph's Laplacian: a covariance for any number of classes, and nearly the same where classes are
    made finer.

    Parameters
    ----------
    axis
        Of which the places are compared, not the values.
    length
        The number of classes over which rewards change.

    """
    size = len(axis.values)
    steps = np.diff(np.eye(size), axis=0)  # from each class to the next
    if axis.periodic and size > 2:
        steps = np.vstack([steps, np.eye(size)[0] - np.eye(size)[-1]])
    rough = np.eye(size) + length**2 * steps.T @ steps
    common = np.linalg.inv(rough @ rough)
    scale = np.sqrt(np.diag(common))
    similar: Floats = common / np.outer(scale, scale)
    return similar


def covariances(blocks: Sequence[Block], similar: Callable[[Axis], Floats]) -> list[Floats]:
    """The prior covariance of the weights of each block: the product over its axes."""
    found = []
    for block in blocks:
        whole: Floats = np.ones((1, 1))
        for axis in block:
            whole = np.asarray(np.kron(whole, similar(axis)), np.float64)
        found.append(whole)
    return found


def side_by_side(parts: Sequence[Floats]) -> Floats:
    """The matrix with these square ones along its diagonal, zero elsewhere."""
    size = sum(len(part) for part in parts)
    whole, begin = np.zeros((size, size)), 0
    for part in parts:
        end = begin + len(part)
        whole[begin:end, begin:end] = part
        begin = end
    return whole
