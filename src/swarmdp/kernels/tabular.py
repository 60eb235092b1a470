"""Tables over a finite set of observations: binning, look-up, counting."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.compile import kernel


def angle_index(angles: NDArray[np.float64], bins: int) -> NDArray[np.int32]:
    """The interval of each angle: `bins` equal ones, number bins // 2 centred on zero."""
    out = np.empty(angles.shape, np.int32)
    angle_index_flat(angles.reshape(-1), bins, out.reshape(-1))
    return out


def look_up(
    index: NDArray[np.integer], table: NDArray[Any], rows: NDArray[np.int64]
) -> NDArray[Any]:
    """out[r, i] = table[rows[r], index[r, i]]."""
    out = np.empty(index.shape, table.dtype)
    look_up_rows(index, table, rows, out)
    return out


def count(index: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """out[r, k] = how often k occurs in row r of index."""
    out = np.empty((index.shape[0], size), np.int64)
    count_rows(index, out)
    return out


def total(values: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """The exact sum of each row of small unsigned integers."""
    out = np.empty(values.shape[0], np.int64)
    total_rows(values, out)
    return out


@kernel
def angle_index_flat(angles, bins, out):
    """The interval of each angle, for flat arrays."""
    scale = bins / (2.0 * math.pi)
    middle = bins // 2
    for i in range(np.uint64(angles.shape[0])):
        k = np.int32(math.floor(angles[i] * scale + 0.5)) + np.int32(middle)
        k = k - np.int32(bins) if k >= np.int32(bins) else k
        out[i] = max(np.int32(0), min(k, np.int32(bins - 1)))


@kernel
def look_up_rows(index, table, rows, out):
    """out[r, i] = table[rows[r], index[r, i]]."""
    for r in range(index.shape[0]):
        entries = table[rows[r]]
        wanted = index[r]
        found = out[r]
        for i in range(np.uint64(wanted.shape[0])):
            found[i] = entries[np.uint64(wanted[i])]


@kernel
def count_rows(index, out):
    """out[r, k] = how often k occurs in row r of index."""
    for r in range(index.shape[0]):
        counts = out[r]
        counts[:] = 0
        wanted = index[r]
        for i in range(np.uint64(wanted.shape[0])):
            counts[np.uint64(wanted[i])] += 1


@kernel
def total_rows(values, out):
    """out[r] = sum of row r of an array of small non-negative integers, exactly."""
    for r in range(values.shape[0]):
        row = values[r]
        out[r] = 0
        for begin in range(0, row.shape[0], 4096):
            part = row[begin : begin + 4096]
            subtotal = np.uint32(0)
            for i in range(np.uint64(part.shape[0])):
                subtotal += np.uint32(part[i])
            out[r] += subtotal
