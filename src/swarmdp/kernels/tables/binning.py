"""Which class an angle is in, and whether numbers are in range: single passes over flat arrays.

Checks of every state and observation run here, so they count or compare without a branch and look
at each number once. Twins in the tests: `oracles.angle_index`, `np.min` and `np.max`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.runtime.compile import kernel


def angle_index(angles: NDArray[np.float64], bins: int) -> NDArray[np.int32]:
    """The interval of each angle: `bins` equal ones, number bins // 2 centred on zero."""
    out = np.empty(angles.shape, np.int32)
    angle_index_flat(angles.reshape(-1), bins, out.reshape(-1))
    return out


@kernel
def angle_index_flat(angles, bins, out):
    """The interval of each angle, for flat arrays."""
    scale = bins / TWO_PI
    middle = float(bins // 2)
    for i in range(np.uint64(angles.shape[0])):
        out[i] = elementary.angle_class(angles[i], scale, middle, float(bins))


def all_between(numbers: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether all numbers are from low to high; NaN never is."""
    return bool(all_between_flat(np.ascontiguousarray(numbers).reshape(-1), low, high))


@kernel
def all_between_flat(numbers, low, high):
    """Whether all are from low to high, without a branch."""
    # Both comparisons are false for NaN, so that it counts as outside.
    outside = np.int64(0)
    for i in range(np.uint64(numbers.shape[0])):
        outside += np.int64(0) if (numbers[i] >= low) & (numbers[i] <= high) else np.int64(1)
    return outside == 0


def extremes(index: NDArray[np.integer]) -> tuple[int, int]:
    """The smallest and the largest entry of an array that is not empty, in one pass."""
    return extremes_flat(np.ascontiguousarray(index).reshape(-1))  # type: ignore[no-any-return]


@kernel
def extremes_flat(index):
    """Smallest and largest."""
    # Memory is read once for both; comparing costs less than reading.
    low = index[0]
    high = index[0]
    for i in range(np.uint64(index.shape[0])):
        low = min(low, index[i])
        high = max(high, index[i])
    return low, high
