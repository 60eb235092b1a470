"""64 Ising grids side by side: bit k of a word is the spin of grid k.

Neighbours are counted by adders of bits, for 64 grids at once, and energies are counted in bits
as well. Only tori whose neighbourhoods have 25 sites: the paper's.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import inlined, kernel

LANES = 64
WIDTH = 256  # columns at most; a constant, so that planes of memory are known to be apart
SUMS, SLOTS = 3, 5  # planes of a sum over five columns, rows within reach
DECODED = (
    12  # planes that tell which of 32 numbers it is: 8 of the last three bits, 4 of the others
)
PLANES = 8  # of a counter of each column: up to 255 rows
SUM_PLANES = 13  # of the sum of energies of a column: 255 rows of at most 24
TOGETHER = 3  # rows whose energies are counted at once


def packed(spin: NDArray[np.int8]) -> NDArray[np.uint64]:
    """The spins (runs, rows, columns) of up to 64 runs, as words with a border of two columns."""
    _, rows, columns = spin.shape
    grid = np.empty((rows, columns + 4), np.uint64)
    pack(spin, grid)
    return grid


def fits(shape: tuple[int, int], reach: int, periodic: bool) -> bool:
    """Whether such grids can be counted side by side."""
    rows, columns = shape
    return periodic and reach == 2 and 5 <= rows < 2**PLANES and 5 <= columns <= WIDTH


def counted(
    grid: NDArray[np.uint64],
    flips: NDArray[np.uint8],
    times: int,
    moving: int,
    histogram: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many agents have each energy (runs, times, 25), or else their sum (runs, times).

    The grid changes in place; run r flips at energy e where flips[r, e] is one.
    """
    runs, levels = flips.shape
    lanes = (flips.astype(np.uint64).T << np.arange(runs, dtype=np.uint64)).sum(1, np.uint64)
    counts = np.empty((runs, times, levels) if histogram else (0, 0, 0), np.int64)
    total = np.empty((0, 0) if histogram else (runs, times), np.int64)
    count_lanes(grid, lanes, moving, counts, total)
    return counts, total


@inlined
def full(a, b, c):
    """The sum and the carry of three bits."""
    x = a ^ b
    return x ^ c, (a & b) | (x & c)


@inlined
def half(a, b):
    """The sum and the carry of two bits."""
    return a ^ b, a & b


@kernel
def wrap(row, columns):
    """The border of two columns at both ends."""
    row[0], row[1] = row[columns], row[columns + 1]
    row[columns + 2], row[columns + 3] = row[2], row[3]


@kernel
def pack(spin, grid):
    """The spins (runs, rows, columns) of up to 64 runs as bits of words (rows, columns + 4)."""
    runs, rows, columns = spin.shape
    for y in range(rows):
        row = grid[y]
        row[:] = np.uint64(0)
        inner = row[2 : 2 + columns]
        for r in range(runs):
            spins = spin[r, y]
            place = np.uint64(r)
            for x in range(np.uint64(columns)):
                inner[x] |= (np.uint64(1) if spins[x] > 0 else np.uint64(0)) << place
        wrap(row, columns)


@kernel
def sum_columns(row, columns, slot, work):
    """How many of the five columns around each site of a row are up, as three planes of bits."""
    width = np.uint64(WIDTH)
    target = work[slot * SUMS * WIDTH : (slot + 1) * SUMS * WIDTH]
    for x in range(np.uint64(columns)):
        s, k = full(row[x], row[x + np.uint64(1)], row[x + np.uint64(2)])
        low, k2 = full(s, row[x + np.uint64(3)], row[x + np.uint64(4)])
        target[x] = low
        target[x + width] = k ^ k2
        target[x + width + width] = k & k2


@kernel
def energies(own, columns, work, energy):
    """The number of unlike neighbours of each site of a row, five planes of bits."""
    w = np.uint64(WIDTH)
    two, three, four = w + w, w + w + w, w + w + w + w
    for x in range(np.uint64(columns)):
        a = x
        b = a + three
        c = b + three
        d = c + three
        e = d + three
        s, k = full(work[a], work[b], work[c])
        n0, k2 = full(s, work[d], work[e])
        x1, y1 = full(work[a + w], work[b + w], work[c + w])
        x2, y2 = full(work[d + w], work[e + w], k)
        n1, y3 = full(x1, x2, k2)
        z1, q1 = full(work[a + two], work[b + two], work[c + two])
        z2, q2 = full(work[d + two], work[e + two], y1)
        z3, q3 = full(y2, y3, z1)
        n2, q4 = half(z3, z2)
        r1, d1 = full(q1, q2, q3)
        n3, d2 = half(r1, q4)
        n4 = d1 | d2
        # For those that are up: 25 less as many are down, and that is 31 - n less 6, or plus 26.
        up = own[x]
        c1, c2, c3, c4 = ~n1, ~n2, ~n3, ~n4
        e2, k3 = half(c2, c1)
        e3, k4 = ~(c3 ^ k3), c3 | k3
        energy[x] = n0 ^ up
        energy[x + w] = n1 ^ (up & (n1 ^ ~c1))
        energy[x + two] = n2 ^ (up & (n2 ^ e2))
        energy[x + three] = n3 ^ (up & (n3 ^ e3))
        energy[x + four] = n4 ^ (up & (n4 ^ ~(c4 ^ k4)))


@kernel
def decode(energy, columns, decoded):
    """Planes that tell the last three bits (8) and the others (4) of each energy."""
    w = np.uint64(WIDTH)
    for x in range(np.uint64(columns)):
        b0, b1, b2 = energy[x], energy[x + w], energy[x + w + w]
        n0, n1, n2 = ~b0, ~b1, ~b2
        low, mid, one, both = n1 & n0, n1 & b0, b1 & n0, b1 & b0
        decoded[x] = n2 & low
        decoded[x + np.uint64(1 * WIDTH)] = n2 & mid
        decoded[x + np.uint64(2 * WIDTH)] = n2 & one
        decoded[x + np.uint64(3 * WIDTH)] = n2 & both
        decoded[x + np.uint64(4 * WIDTH)] = b2 & low
        decoded[x + np.uint64(5 * WIDTH)] = b2 & mid
        decoded[x + np.uint64(6 * WIDTH)] = b2 & one
        decoded[x + np.uint64(7 * WIDTH)] = b2 & both
        b3, b4 = energy[x + w + w + w], energy[x + w + w + w + w]
        decoded[x + np.uint64(8 * WIDTH)] = ~b4 & ~b3
        decoded[x + np.uint64(9 * WIDTH)] = ~b4 & b3
        decoded[x + np.uint64(10 * WIDTH)] = b4 & ~b3
        decoded[x + np.uint64(11 * WIDTH)] = b4 & b3


@kernel
def flip(own, columns, decoded, flips, target):
    """The next spins: flips[e] are the lanes that flip at energy e."""
    for x in range(np.uint64(columns)):
        target[x] = own[x]
    for e in range(flips.shape[0]):
        mask = flips[e]
        if mask == np.uint64(0):
            continue
        low = decoded[(e & 7) * WIDTH : (e & 7) * WIDTH + columns]
        high = decoded[(8 + (e >> 3)) * WIDTH : (8 + (e >> 3)) * WIDTH + columns]
        for x in range(np.uint64(columns)):
            target[x] ^= low[x] & high[x] & mask


@kernel
def tally(decoded, columns, counters):
    """Count each energy of three rows in each column: counters (25, PLANES * WIDTH) of bits."""
    w = np.uint64(WIDTH)
    size = np.uint64(DECODED * WIDTH)
    for e in range(counters.shape[0]):
        i = np.uint64((e & 7) * WIDTH)
        j = np.uint64((8 + (e >> 3)) * WIDTH)
        own = counters[e]
        for x in range(np.uint64(columns)):
            a = decoded[x + i] & decoded[x + j]
            b = decoded[x + i + size] & decoded[x + j + size]
            c = decoded[x + i + size + size] & decoded[x + j + size + size]
            s, k = full(a, b, c)
            own[x], carry = half(own[x], s)
            y = x + w
            own[y], carry = full(own[y], k, carry)
            y += w
            own[y], carry = half(own[y], carry)
            y += w
            own[y], carry = half(own[y], carry)
            y += w
            own[y], carry = half(own[y], carry)
            y += w
            own[y], carry = half(own[y], carry)
            y += w
            own[y], carry = half(own[y], carry)
            y += w
            own[y] ^= carry


@kernel
def add_up(planes, number_of, columns, out):
    """out[k] = the sum over all columns of the numbers that bit k of each of so many planes makes.

    There are at most 256 columns.
    """
    size = number_of + 9
    total = np.zeros(size, np.uint64)
    for x in range(columns):
        carry = np.uint64(0)
        for p in range(number_of):
            total[p], carry = full(total[p], planes[p * WIDTH + x], carry)
        for p in range(number_of, size):
            total[p], carry = half(total[p], carry)
    for k in range(out.shape[0]):
        number = np.int64(0)
        for p in range(size):
            number += np.int64((total[p] >> np.uint64(k)) & np.uint64(1)) << p
        out[k] = number


@kernel
def add_energies(energy, columns, sums):
    """Add the energies of a row to the sums of its columns, SUM_PLANES planes of bits."""
    w = np.uint64(WIDTH)
    for x in range(np.uint64(columns)):
        sums[x], carry = half(sums[x], energy[x])
        y = x + w
        sums[y], carry = full(sums[y], energy[y], carry)
        y += w
        sums[y], carry = full(sums[y], energy[y], carry)
        y += w
        sums[y], carry = full(sums[y], energy[y], carry)
        y += w
        sums[y], carry = full(sums[y], energy[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y], carry = half(sums[y], carry)
        y += w
        sums[y] ^= carry


@kernel
def step_lanes(now, then, work, energy, decoded, flips, moving, counters, sums):
    """Observe all sites, count what is wanted of it, and flip if they move: from now to then."""
    rows, columns = now.shape[0], now.shape[1] - 4
    counters[:] = np.uint64(0)
    sums[:] = np.uint64(0)
    for y in range(-2, 2):
        sum_columns(now[y % rows], columns, y % SLOTS, work)
    for y in range(rows):
        sum_columns(now[(y + 2) % rows], columns, (y + 2) % SLOTS, work)
        own = now[y, 2 : 2 + columns]
        energies(own, columns, work, energy)
        if sums.size:
            add_energies(energy, columns, sums)
        place = y % TOGETHER
        part = decoded[place * DECODED * WIDTH : (place + 1) * DECODED * WIDTH]
        decode(energy, columns, part)
        if moving:
            flip(own, columns, part, flips, then[y, 2 : 2 + columns])
            wrap(then[y], columns)
        if counters.size and (place == TOGETHER - 1 or y == rows - 1):
            decoded[(place + 1) * DECODED * WIDTH :] = np.uint64(0)
            tally(decoded, columns, counters)


@kernel
def count_lanes(grid, flips, moving, counts, total):
    """Simulate the runs of a grid (rows, columns + 4), in place, and count energies at all times.

    Run r flips at energy e where bit r of flips[e] is set. How many agents have each energy is put
    into counts (runs, times, energies), the sum of all energies into total (runs, times); one of
    them may be empty. After each of the first `moving` times the spins change.
    """
    columns = grid.shape[1] - 4
    now, then = grid, np.empty_like(grid)
    work = np.zeros(SLOTS * SUMS * WIDTH, np.uint64)
    energy = np.zeros(5 * WIDTH, np.uint64)
    decoded = np.zeros(TOGETHER * DECODED * WIDTH, np.uint64)
    counters = np.zeros((flips.shape[0] if counts.size else 0, PLANES * WIDTH), np.uint64)
    sums = np.zeros(SUM_PLANES * WIDTH if total.size else 0, np.uint64)
    runs = max(counts.shape[0], total.shape[0])
    times = max(counts.shape[1], total.shape[1])
    found = np.empty(runs, np.int64)
    for t in range(times):
        step_lanes(now, then, work, energy, decoded, flips, t < moving, counters, sums)
        for e in range(counters.shape[0]):
            add_up(counters[e], PLANES, columns, found)
            counts[:, t, e] = found
        if total.size:
            add_up(sums, SUM_PLANES, columns, found)
            total[:, t] = found
        if t < moving:
            now, then = then, now
    grid[:] = now
