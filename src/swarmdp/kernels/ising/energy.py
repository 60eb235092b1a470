"""The local energy of an Ising grid: how many unlike neighbours each spin has.

Spins are (runs, rows, columns) of int8: +1 and -1, and 0 in an empty border, halfway between them.
The sum over a square neighbourhood is the sum over rows of the sums over columns, 2 (2 r + 1)
additions for a reach r instead of (2 r + 1)^2, taken on a flat copy of the grid with a border
(empty, or wrapped around), one block of rows at a time so that it stays in the fastest cache. With
the border no loop asks where the grid ends, and rows of any length are one long loop. Sums have the
narrowest integer type that holds them: 32 of them fit one vector for the paper's neighbourhood.

Twin in the tests: `oracles.observed_energy`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.runtime.scratch import scratch
from swarmdp.support import parallel

BLOCK_SIZE = 16_384  # elements of a block of rows


def energy_dtype(reach: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer that holds a local energy."""
    most = (2 * reach + 1) ** 2 - 1
    return np.uint8 if most <= 0xFF else np.uint16 if most <= 0xFFFF else np.uint32


def local_energy(spin: NDArray[np.int8], reach: int, periodic: bool) -> NDArray[np.unsignedinteger]:
    """The number of neighbours of opposite spin, for spins (runs, rows, columns).

    Of the neighbours that are missing at an open boundary half count, rounded up.
    """
    runs, rows, columns = spin.shape
    kind = energy_dtype(reach)
    out = np.empty(spin.shape, kind)
    # Open grids have a border of zeros that is never written: it is cleared once.
    sites, padded = energy_workspace(rows, columns, reach, periodic)
    parts = parallel.shares(rows * columns // 20)  # a spin costs about a twentieth of an agent
    if parts == 1:
        local_energy_runs(spin, sites, reach, periodic, padded, out)
        return out
    for r in range(runs):
        # The border is made by one thread; then rows are shared, which read it and write their
        # own.
        pad(spin[r], reach, periodic, padded)

        def work(part: int, begin: int, end: int, r: int = r) -> None:
            local_energy_rows(begin, end, spin[r], sites, reach, padded, out[r])

        parallel.divide(rows, parts, work)
    return out


def energy_workspace(
    rows: int, columns: int, reach: int, periodic: bool
) -> tuple[np.unsignedinteger, NDArray[np.signedinteger]]:
    """The number of sites within reach, and room for a grid with its border."""
    largest = (2 * reach + 1) ** 2
    sums = np.int8 if largest <= 127 else np.int16 if largest <= 32767 else np.int32
    size = (rows + 2 * reach, columns + 2 * reach)
    padded = scratch("ising", (size, reach, sums, periodic), lambda: np.zeros(size, sums))
    # As wide as the sums, so that the loop over them stays narrow; twice as many and one fit.
    unsigned = np.dtype(sums).str.replace("i", "u")
    return np.dtype(unsigned).type(largest), padded


@kernel
def local_energy_runs(spin, sites, reach, periodic, padded, out):
    """Local energies for every run in turn."""
    for r in range(spin.shape[0]):
        pad(spin[r], reach, periodic, padded)
        local_energy_rows(0, spin.shape[1], spin[r], sites, reach, padded, out[r])


@kernel
def pad(spin, reach, periodic, padded):
    """Copy a grid into the middle of `padded`; a periodic one also around it."""
    rows, columns = spin.shape
    for y in range(rows):
        row = spin[y]
        target = padded[y + reach]
        # A view without the border, so that grid and copy have the same index.
        inner = target[reach : reach + columns]
        for x in range(np.uint64(columns)):
            inner[x] = row[x]
        if periodic:
            for x in range(reach):
                target[x] = row[columns - reach + x]
                target[reach + columns + x] = row[x]
    if periodic:
        # Rows last, with their borders: the corners come right by themselves.
        for y in range(reach):
            padded[y] = padded[rows + y]
            padded[reach + rows + y] = padded[reach + y]


@kernel
def sum_shifted(source, shift, terms, target, size):
    """target[i] = source[i] + source[i + shift] + ..., `terms` of them."""
    if terms == 5:  # the paper's neighbourhood, in a single pass
        # Views that begin at each term: one index for all five, and whole vectors are added.
        a = source[:size]
        b = source[shift : shift + size]
        c = source[2 * shift : 2 * shift + size]
        d = source[3 * shift : 3 * shift + size]
        e = source[4 * shift : 4 * shift + size]
        for i in range(np.uint64(size)):
            target[i] = a[i] + b[i] + c[i] + d[i] + e[i]
        return
    # One pass for each term otherwise: the compiler unrolls a known number only.
    for i in range(np.uint64(size)):
        target[i] = source[i]
    for term in range(1, terms):
        shifted = source[term * shift : term * shift + size]
        for i in range(np.uint64(size)):
            target[i] += shifted[i]


@kernel
def local_energy_rows(begin_row, end_row, spin, sites, reach, padded, out):
    """Local energies of the rows begin_row..end_row, given the number of sites within reach."""
    columns = spin.shape[1]
    width = padded.shape[1]
    flat = padded.ravel()
    # Both sums of a block fit the first-level cache.
    block_rows = max(1, BLOCK_SIZE // width)
    by_column = np.empty(block_rows * width, padded.dtype)
    by_window = np.empty(block_rows * width, padded.dtype)
    for first in range(begin_row, end_row, block_rows):
        rows = min(block_rows, end_row - first)
        size = rows * width
        # Down the columns, then along the rows of these sums.
        sum_shifted(flat[first * width :], width, 2 * reach + 1, by_column, size)
        # The last 2 * reach sums of the block reach past its end; no site of the grid needs them.
        # Windows that begin in the border run on into the next row; nothing reads their sums.
        sum_shifted(by_column, 1, 2 * reach + 1, by_window, size - 2 * reach)
        for y in range(rows):
            sums = by_window[y * width : y * width + columns]
            spins = spin[first + y]
            energies = out[first + y]
            for x in range(np.uint64(columns)):
                # Like minus unlike spins; like, unlike and missing ones are all sites in reach.
                balance = sums[x] if spins[x] > 0 else -sums[x]
                # Unlike ones and half of those missing are (sites - balance) / 2, rounded up. In
                # numbers as wide as the sums, so that a vector holds as many of them.
                energies[x] = type(sites)(sites + type(sites)(1) - balance) >> type(sites)(1)
