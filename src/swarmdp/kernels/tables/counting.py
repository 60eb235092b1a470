"""How many agents are in each class, and sums of it.

Classes are (runs, agents), counts (runs, [times,] classes) of int64. Sums of counts are of integers
where they can be; weighted sums run over the times in their order, with the classes innermost, so
that they vectorise without changing the order of any sum. Twins in the tests: NumPy's `bincount`,
`sum` and `einsum`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel


def count(index: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """out[r, k] = how often k occurs in row r of index."""
    out = np.empty((index.shape[0], size), np.int64)
    count_rows(index, out)
    return out


@kernel
def count_rows(index, out):
    """out[r, k] = how often k occurs in row r of index."""
    for r in range(index.shape[0]):
        counts = out[r]
        counts[:] = 0
        classes = index[r]
        for i in range(np.uint64(classes.shape[0])):
            # Unsigned, so that Numba adds no check for negative indices.
            counts[np.uint64(classes[i])] += 1


@kernel
def mark(index: NDArray[np.integer], order: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Set seen[r % R, k] for every class k that occurs in row r of index.

    `order` are the mirrored classes, which count as well; it is empty where there is no mirror.
    """
    for r in range(index.shape[0]):
        marks = seen[r % seen.shape[0]]
        row = index[r]
        for i in range(np.uint64(row.shape[0])):
            # Also where it is set already: a store is cheaper than a branch.
            marks[np.uint64(row[i])] = True
    # With a mirror, a class was seen if its mirror image was.
    if order.size:
        for j in range(seen.shape[0]):
            for k in range(order.shape[0]):
                if seen[j, k]:
                    seen[j, order[k]] = True


def total(values: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """The exact sum of each row of small unsigned integers."""
    out = np.empty(values.shape[0], np.int64)
    total_rows(values, out)
    return out


@kernel
def total_rows(values, out):
    """out[r] = sum of row r of an array of small non-negative integers, exactly."""
    for r in range(values.shape[0]):
        row = values[r]
        out[r] = 0
        # In parts whose sums fit 32 bits: eight additions at a time instead of four.
        for begin in range(0, row.shape[0], 4096):
            part = row[begin : begin + 4096]
            subtotal = np.uint32(0)
            for i in range(np.uint64(part.shape[0])):
                subtotal += np.uint32(part[i])
            out[r] += subtotal


def sum_weighted(counts: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """out[r, k] = the sum over t of weights[t] * counts[r, t, k], one after the other."""
    out = np.zeros((counts.shape[0], counts.shape[2]))
    sum_weighted_rows(counts, weights, out)
    return out


@kernel
def sum_weighted_rows(counts, weights, out):
    """Add weights[t] * counts[r, t, k] to out[r, k]."""
    for r in range(counts.shape[0]):
        sums = out[r]
        for t in range(counts.shape[1]):
            row = counts[r, t]
            # Classes innermost: vectors of them change the order of no sum.
            for k in range(np.uint64(row.shape[0])):
                sums[k] += weights[t] * np.float64(row[k])


def shares_over_spans(counts: NDArray[np.int64], agents: int) -> NDArray[np.float64]:
    """Mean shares (runs, spans, k) at times 0, 1, 2 to 3, 4 to 7, ... of counts (runs, T, k)."""
    runs, times, size = counts.shape
    out = np.zeros((runs, (times - 1).bit_length() + 1, size))
    shares_over_spans_rows(counts, agents, out)
    return out


@kernel
def shares_over_spans_rows(counts, agents, out):
    """Add each time's shares to its span, one time after the other."""
    times = counts.shape[1]
    for r in range(counts.shape[0]):
        for span in range(out.shape[1]):
            # Spans double: what settles late is averaged over long times.
            first = 0 if span == 0 else 1 << (span - 1)
            end = min(max(1, 2 * first), times)
            sums = out[r, span]
            for t in range(first, end):
                row = counts[r, t]
                for k in range(np.uint64(row.shape[0])):
                    sums[k] += np.float64(row[k]) / agents / (end - first)
