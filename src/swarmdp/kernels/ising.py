"""The Ising model: how many unlike neighbours each spin of a grid has.

The sum over a square neighbourhood is the sum over rows of the sums over columns, taken on a flat
copy of the grid with a border (empty, or wrapped around), one block of rows at a time so that it
stays in the fastest cache. Spins are +1 and -1, and 0 in an empty border: halfway between them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import parallel
from swarmdp.kernels.compile import kernel
from swarmdp.kernels.scratch import scratch
from swarmdp.kernels.streams import MASK, Counter, philox, unit_uniform

BLOCK_SIZE = 16_384  # elements of a block of rows
LUCK_SIZE = 2_048  # random numbers of a block of sites


def energy_dtype(reach: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer that holds a local energy."""
    most = (2 * reach + 1) ** 2 - 1
    return np.uint8 if most <= 0xFF else np.uint16 if most <= 0xFFFF else np.uint32


def are_spins(spin: NDArray[np.int8]) -> bool:
    """Whether all of these are +1 or -1."""
    return bool(are_spins_flat(np.ascontiguousarray(spin).reshape(-1)))


def are_all_sites(site: NDArray[np.integer]) -> bool:
    """Whether each row has every number below its length once."""
    return bool(are_all_sites_rows(np.ascontiguousarray(site)))


def put_on_grid(site: NDArray[np.integer], values: NDArray[Any]) -> NDArray[Any]:
    """out[r, site[r, i]] = values[r, i], where the rows of `site` are permutations."""
    out = np.empty(site.shape, values.dtype)
    put_rows(site, values, out)
    return out


def local_energy(spin: NDArray[np.int8], reach: int, periodic: bool) -> NDArray[np.unsignedinteger]:
    """The number of neighbours of opposite spin, for spins (runs, rows, columns).

    Of the neighbours that are missing at an open boundary half count, rounded up.
    """
    runs, rows, columns = spin.shape
    kind = energy_dtype(reach)
    out = np.empty(spin.shape, kind)
    sites, padded = _workspace(rows, columns, reach, periodic)
    parts = parallel.shares(rows * columns // 20)  # a spin costs about a twentieth of an agent
    if parts == 1:
        local_energy_runs(spin, sites, reach, periodic, padded, out)
        return out
    for r in range(runs):
        pad(spin[r], reach, periodic, padded)

        def work(part: int, begin: int, end: int, r: int = r) -> None:
            local_energy_rows(begin, end, spin[r], sites, reach, padded, out[r])

        parallel.divide(rows, parts, work)
    return out


def explored(
    counter: Counter,
    agents: NDArray[np.int32],
    place: NDArray[np.float64],
    temperature: float,
    table: NDArray[np.integer],
    spin: NDArray[np.int8],
    before: NDArray[np.unsignedinteger],
    reach: int,
    periodic: bool,
) -> tuple[NDArray[np.uint8], NDArray[np.unsignedinteger]]:
    """Actions (runs, sites) of exploring and greedy agents, and the energies that they lead to.

    Spins (runs, rows, columns) change in place. `agents` are who sits on each site, `place` their
    places among the explorers, or empty where these are drawn in every step.
    """
    actions = np.empty(before.shape, np.uint8)
    after = np.empty(before.shape, before.dtype)
    sites, padded = _workspace(spin.shape[1], spin.shape[2], reach, periodic)
    explore_runs(
        *counter.words(),
        agents,
        place,
        temperature,
        table,
        spin,
        before,
        sites,
        reach,
        periodic,
        padded,
        actions,
        after,
    )
    return actions, after


def counted(
    spin: NDArray[np.int8],
    flips: NDArray[np.uint8],
    times: int,
    moving: int,
    reach: int,
    periodic: bool,
) -> NDArray[np.int64]:
    """How many agents have each energy at so many times (runs, times, energies).

    After each of the first `moving` of these the spins (runs, rows, columns) change in place, where
    flips[r, e] is one for energy e.
    """
    out = np.empty((len(spin), times, flips.shape[1]), np.int64)
    sites, padded = _workspace(spin.shape[1], spin.shape[2], reach, periodic)
    count_runs(spin, flips, moving, sites, reach, periodic, padded, energy_dtype(reach)(0), out)
    return out


def _workspace(
    rows: int, columns: int, reach: int, periodic: bool
) -> tuple[np.unsignedinteger, NDArray[np.signedinteger]]:
    """The number of sites within reach, and room for a grid with its border."""
    largest = (2 * reach + 1) ** 2
    sums = np.int8 if largest <= 127 else np.int16 if largest <= 32767 else np.int32
    size = (rows + 2 * reach, columns + 2 * reach)
    padded = scratch("ising", (size, reach, sums, periodic), lambda: np.zeros(size, sums))
    # As small a number as the energies, so that the loop over them stays narrow.
    return energy_dtype(reach)(largest), padded


@kernel
def explore_runs(
    seed,
    numbers,
    step,
    draw,
    agents,
    place,
    temperature,
    table,
    spin,
    before,
    sites,
    reach,
    periodic,
    padded,
    actions,
    after,
):
    """One step of every run in turn: who explores, actions, flips, energies."""
    runs, rows, columns = spin.shape
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    luck = np.empty(LUCK_SIZE)
    choice = np.empty(table.shape[1], np.uint8)
    fixed = place.size > 0
    scale = 2.0 / temperature if temperature > 0.0 else 0.0
    for r in range(runs):
        run = np.uint64(numbers[r])
        own = table[r % table.shape[0]]
        for e in range(choice.shape[0]):
            choice[e] = own[e]
        flat = spin[r].reshape(rows * columns)
        for first in range(np.uint64(0), np.uint64(flat.shape[0]), np.uint64(LUCK_SIZE)):
            last = min(first + np.uint64(LUCK_SIZE), np.uint64(flat.shape[0]))
            size = last - first
            ids = agents[r, first:last]
            energies = before[r, first:last]
            acts = actions[r, first:last]
            spins = flat[first:last]
            for i in range(size):
                w0, w1, _, _ = philox(np.uint64(ids[i]), run, step, draw, k0, k1)
                luck[i] = unit_uniform(w0, w1)
            if fixed:
                places = place[r, first:last]
                for i in range(size):
                    luck[i] = temperature * luck[i] if places[i] < temperature else 1.0
            for i in range(size):
                acts[i] = choice[np.uint64(energies[i])]
            for i in range(size):
                explores = np.uint8(1) if luck[i] * scale >= 1.0 else np.uint8(0)
                acts[i] = explores if luck[i] < temperature else acts[i]
            for i in range(size):
                spins[i] = -spins[i] if acts[i] != 0 else spins[i]
        pad(spin[r], reach, periodic, padded)
        local_energy_rows(0, rows, spin[r], sites, reach, padded, after[r].reshape((rows, columns)))


@kernel
def count_runs(spin, flips, moving, sites, reach, periodic, padded, zero, out):
    """Simulate every run in turn, counting energies at all times."""
    runs, times, energies = out.shape
    rows, columns = spin.shape[1:]
    energy = np.full((rows, columns), zero)
    found = np.empty((4, energies), np.uint32)
    for r in range(runs):
        own = flips[r]
        flat = spin[r].reshape(rows * columns)
        seen = energy.reshape(rows * columns)
        for t in range(times):
            pad(spin[r], reach, periodic, padded)
            local_energy_rows(0, rows, spin[r], sites, reach, padded, energy)
            count_energies(seen, found)
            for e in range(energies):
                out[r, t, e] = found[0, e] + found[1, e] + found[2, e] + found[3, e]
            if t < moving:
                for i in range(np.uint64(flat.shape[0])):
                    flat[i] = -flat[i] if own[np.uint64(seen[i])] != 0 else flat[i]


@kernel
def count_energies(energy, found):
    """Count in four tables in turn, so that an addition need not wait for the one before it."""
    found[:] = np.uint32(0)
    first = found[0]
    second = found[1]
    third = found[2]
    fourth = found[3]
    one = np.uint32(1)
    whole = energy.shape[0] // 4 * 4
    for i in range(np.uint64(0), np.uint64(whole), np.uint64(4)):
        first[np.uint64(energy[i])] += one
        second[np.uint64(energy[i + np.uint64(1)])] += one
        third[np.uint64(energy[i + np.uint64(2)])] += one
        fourth[np.uint64(energy[i + np.uint64(3)])] += one
    for i in range(np.uint64(whole), np.uint64(energy.shape[0])):
        first[np.uint64(energy[i])] += one


@kernel
def are_all_sites_rows(site):
    """Whether each row has every number below its length once."""
    seen = np.empty(site.shape[1], np.bool_)
    for r in range(site.shape[0]):
        seen[:] = False
        for i in range(np.uint64(site.shape[1])):
            where = np.int64(site[r, i])
            if where < 0 or where >= site.shape[1]:
                return False
            seen[np.uint64(where)] = True
        for i in range(np.uint64(site.shape[1])):
            if not seen[i]:
                return False
    return True


@kernel
def put_rows(site, values, out):
    """out[r, site[r, i]] = values[r, i]."""
    for r in range(site.shape[0]):
        row = out[r]
        own = values[r % values.shape[0]]
        for i in range(np.uint64(site.shape[1])):
            row[np.uint64(site[r, i])] = own[i]


@kernel
def are_spins_flat(spin):
    """Whether one more is 0 or 2 for all of them, without a branch."""
    others = np.uint8(0)
    for i in range(np.uint64(spin.shape[0])):
        others |= np.uint8(spin[i] + np.int8(1)) & np.uint8(0xFD)
    return others == 0


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
        inner = target[reach : reach + columns]
        for x in range(np.uint64(columns)):
            inner[x] = row[x]
        if periodic:
            for x in range(reach):
                target[x] = row[columns - reach + x]
                target[reach + columns + x] = row[x]
    if periodic:
        for y in range(reach):
            padded[y] = padded[rows + y]
            padded[reach + rows + y] = padded[reach + y]


@kernel
def sum_shifted(source, shift, terms, target, size):
    """target[i] = source[i] + source[i + shift] + ..., so many terms."""
    if terms == 5:  # the paper's neighbourhood, in a single pass
        a = source[:size]
        b = source[shift : shift + size]
        c = source[2 * shift : 2 * shift + size]
        d = source[3 * shift : 3 * shift + size]
        e = source[4 * shift : 4 * shift + size]
        for i in range(np.uint64(size)):
            target[i] = a[i] + b[i] + c[i] + d[i] + e[i]
        return
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
    block_rows = max(1, BLOCK_SIZE // width)
    by_column = np.empty(block_rows * width, padded.dtype)
    by_window = np.empty(block_rows * width, padded.dtype)
    for first in range(begin_row, end_row, block_rows):
        rows = min(block_rows, end_row - first)
        size = rows * width
        sum_shifted(flat[first * width :], width, 2 * reach + 1, by_column, size)
        # The last 2 * reach sums of the block reach past its end; no site of the grid needs them.
        sum_shifted(by_column, 1, 2 * reach + 1, by_window, size - 2 * reach)
        for y in range(rows):
            sums = by_window[y * width : y * width + columns]
            spins = spin[first + y]
            energies = out[first + y]
            for x in range(np.uint64(columns)):
                # Like minus unlike spins; like, unlike and missing ones are all sites in reach.
                alike = np.int32(sums[x]) if spins[x] > 0 else -np.int32(sums[x])
                energies[x] = (np.int32(sites) + np.int32(1) - alike) >> np.int32(1)  # rounded up
