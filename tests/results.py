"""Results of fits, compared bit for bit."""

from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp import Result

Scalar = TypeVar("Scalar", bound=np.generic)

# A few iterations may return the constant reward that they began with, which a fit warns of.
MAY_BE_CONSTANT = pytest.mark.filterwarnings(
    "ignore:the reward of .* the same for all:swarmdp.support.errors.SwarmdpWarning"
)


def assert_same(one: Result, other: Result, experiments: slice = slice(None)) -> None:
    """The history of these experiments of one result is all of the other's."""
    assert len(one.iterations) == len(other.iterations)
    for name in ("weights", "mu", "distance", "margin", "mixture"):
        array = getattr(one.history, name)[:, experiments]
        np.testing.assert_array_equal(array, getattr(other.history, name), name)
    for before, after in zip(one.iterations, other.iterations, strict=True):
        assert type(before.policy) is type(after.policy)
        arrays = before.policy.to_arrays()
        assert arrays.keys() == after.policy.to_arrays().keys()
        for name, array in after.policy.to_arrays().items():
            np.testing.assert_array_equal(arrays[name][experiments], array, name)
        assert (before.seen is None) == (after.seen is None)
        if before.seen is not None and after.seen is not None:
            np.testing.assert_array_equal(before.seen[experiments], after.seen)


def not_none(array: NDArray[Scalar] | None) -> NDArray[Scalar]:
    """What may be None, where it must not be."""
    assert array is not None
    return array
