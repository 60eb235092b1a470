"""The Ising model: how many unlike neighbours each spin of a grid has.

The sum over a square neighbourhood is the sum over rows of the sums over columns, taken on a flat
copy of the grid with a border (empty, or wrapped around), one block of rows at a time so that it
stays in the fastest cache. Spins are +1 and -1, and 0 in an empty border: halfway between them.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import tabular
from swarmdp.kernels.compile import inlined, kernel
from swarmdp.kernels.scratch import scratch
from swarmdp.kernels.streams import (
    MASK,
    TWO_TO_MINUS_32,
    Counter,
    permutation_runs,
    philox,
    unit_uniform,
)
from swarmdp.support import parallel

BLOCK_SIZE = 16_384  # elements of a block of rows
LUCK_SIZE = 2_048  # random numbers of a block of sites
TWO_TO_32 = 2.0**32


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


def started(
    spins: Counter, sites: Counter, n: int, share: float
) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Spins on their sites (runs, n), a share of them up, and who sits on each site.

    Agent i has the i-th random number of each counter, as `uniform` and `permutation` have.
    """
    runs = len(spins.runs)
    spin, agents = np.empty((runs, n), np.int8), np.empty((runs, n), np.int32)
    start_runs(*spins.words(), np.uint64(sites.draw), share, spin, agents)
    return spin, agents


class Grids:
    """Grids of spins (runs, rows, columns) whose agents explore or act by a table.

    `agents` (runs, sites) are who sits on each site. Spins change in place.
    """

    def __init__(
        self,
        spin: NDArray[np.int8],
        agents: NDArray[np.int32],
        reach: int,
        periodic: bool,
        *,
        seed: int,
        numbers: NDArray[np.int64],
    ) -> None:
        self._seed, self._numbers, self._spin = np.uint64(seed), numbers, spin
        self._reach, self._periodic = reach, periodic
        blocks = -(-agents.shape[1] // 4)
        # The words of four agents lie as far apart as there are blocks.
        self._where = ((agents & 3) * blocks + (agents >> 2)).astype(np.uint32)
        self._words = np.empty((4, blocks), np.uint32)
        self._energy = local_energy(spin, reach, periodic).reshape(agents.shape)

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: NDArray[np.float64] | None,
        time: int,
        draw: int,
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8], NDArray[np.unsignedinteger]]:
        """Energies before, actions (runs, sites) and energies after."""
        before, after = self._energy, np.empty_like(self._energy)
        actions = np.empty(before.shape, np.uint8)
        explore_runs(
            self._seed,
            self._numbers,
            np.uint64(time),
            np.uint64(draw),
            self._where,
            self._words,
            _NOWHERE if place is None else place,
            temperature,
            table,
            self._spin,
            before,
            *self._room(),
            actions,
            after,
        )
        self._energy = after
        return before, actions, after

    def learn(
        self,
        own: tabular.Learning,
        temperatures: NDArray[np.float64],
        place: NDArray[np.float64] | None,
        time: int,
        draw: int,
    ) -> None:
        """Steps at these temperatures, from a time on, and what is learned from each."""
        learn_runs(
            self._seed,
            self._numbers,
            time,
            np.uint64(draw),
            self._where,
            self._words,
            _NOWHERE if place is None else place,
            temperatures,
            self._spin,
            self._energy,
            *self._room(),
            np.empty(self._energy.shape, np.uint8),
            np.empty_like(self._energy),
            own,
        )

    def _room(self) -> tuple[np.unsignedinteger, int, bool, NDArray[np.signedinteger]]:
        _, rows, columns = self._spin.shape
        sites, padded = _workspace(rows, columns, self._reach, self._periodic)
        return sites, self._reach, self._periodic, padded


_NOWHERE = np.empty((0, 0))


def counted(
    spin: NDArray[np.int8],
    flips: NDArray[np.uint8],
    times: int,
    moving: int,
    histogram: bool,
    reach: int,
    periodic: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many agents have each energy (runs, times, energies), or else their sum (runs, times).

    After each of the first `moving` times the spins (runs, rows, columns) change in place, where
    flips[r, e] is one for energy e.
    """
    runs, levels = flips.shape
    counts = np.empty((runs, times, levels) if histogram else (0, 0, 0), np.int64)
    total = np.empty((0, 0) if histogram else (runs, times), np.int64)
    sites, padded = _workspace(spin.shape[1], spin.shape[2], reach, periodic)
    zero = energy_dtype(reach)(0)
    count_runs(spin, flips, moving, sites, reach, periodic, padded, zero, counts, total)
    return counts, total


def _workspace(
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
def start_runs(seed, numbers, step, draw, site_draw, share, spin, agents):
    """Draw the spin and the site of every agent, and put it there."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    runs, n = spin.shape
    site = np.empty((1, n), np.int32)
    up = np.empty(n, np.int8)
    for r in range(runs):
        permutation_runs(seed, numbers[r : r + 1], step, site_draw, site)
        run = np.uint64(numbers[r])
        for i in range(np.uint64(n)):
            w0, w1, _, _ = philox(i, run, step, draw, k0, k1)
            up[i] = np.int8(1) if unit_uniform(w0, w1) < share else np.int8(-1)
        spins, ids = spin[r], agents[r]
        for i in range(np.uint64(n)):
            place = np.uint64(site[0, i])
            spins[place] = up[i]
            ids[place] = i


@kernel
def learn_runs(
    seed,
    numbers,
    time,
    draw,
    where,
    words,
    place,
    temperatures,
    spin,
    before,
    sites,
    reach,
    periodic,
    padded,
    actions,
    after,
    own,
):
    """Steps 1 to 5 of Algorithm 2 for each of the temperatures; `before` ends as the newest."""
    for k in range(temperatures.shape[0]):
        explore_runs(
            seed,
            numbers,
            np.uint64(time + k),
            draw,
            where,
            words,
            place,
            temperatures[k],
            own.best,
            spin,
            before,
            sites,
            reach,
            periodic,
            padded,
            actions,
            after,
        )
        tabular.learn(before, actions, after, own)
        before[:] = after


@kernel
def explore_runs(
    seed,
    numbers,
    step,
    draw,
    where,
    words,
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
    choice = np.empty(table.shape[1], np.uint8)
    luck = np.empty(LUCK_SIZE, np.uint32)
    flat_words = words.reshape(words.size)
    for r in range(runs):
        own = table[r % table.shape[0]]
        for e in range(choice.shape[0]):
            choice[e] = own[e]
        if temperature > 0.0:
            draw_words(seed, np.uint64(numbers[r]), step, draw, words)
        flat = spin[r].reshape(rows * columns)
        for first in range(0, flat.shape[0], LUCK_SIZE):
            last = min(first + LUCK_SIZE, flat.shape[0])
            acts = actions[r, first:last]
            choose_flips(choice, before[r, first:last], acts)
            if temperature > 0.0:
                places = where[r, first:last]
                for i in range(np.uint64(last - first)):
                    luck[i] = flat_words[np.uint64(places[i])]
                own_place = place[r, first:last] if place.size > 0 else place[:0, 0]
                explore_flips(luck, own_place, temperature, acts)
            spins = flat[first:last]
            for i in range(np.uint64(last - first)):
                spins[i] = -spins[i] if acts[i] != 0 else spins[i]
        pad(spin[r], reach, periodic, padded)
        local_energy_rows(0, rows, spin[r], sites, reach, padded, after[r].reshape((rows, columns)))


@kernel
def draw_words(seed, run, step, draw, words):
    """The words of all agents of a run: words[k, b] is that of agent 4 b + k."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    first, second, third, fourth = words[0], words[1], words[2], words[3]
    for b in range(np.uint64(words.shape[1])):
        w0, w1, w2, w3 = philox(b, run, step, draw, k0, k1)
        first[b] = w0
        second[b] = w1
        third[b] = w2
        fourth[b] = w3


@kernel
def choose_flips(choice, energies, acts):
    """acts[i] = choice[energies[i]]; few choices are the bits of a number."""
    if choice.shape[0] > 32:
        for i in range(np.uint64(acts.shape[0])):
            acts[i] = choice[np.uint64(energies[i])]
        return
    flips = np.uint32(0)
    for e in range(choice.shape[0]):
        flips |= np.uint32(choice[e]) << np.uint32(e)
    for i in range(np.uint64(acts.shape[0])):
        acts[i] = np.uint8((flips >> np.uint32(energies[i])) & np.uint32(1))


@kernel
def explore_flips(luck, place, temperature, acts):
    """Let those explore whose luck is below the temperature, or who have a place below it.

    Luck is a 32-bit number; half of those who explore flip. Whether w / 2^32 is below a number is
    asked once for all w, as is from which w on an explorer flips.
    """
    scale = 2.0 / temperature
    size = np.uint64(acts.shape[0])
    if place.size > 0:
        flipping = first_flip(temperature, scale)
        for i in range(size):
            explores = np.uint8(1) if luck[i] >= flipping else np.uint8(0)
            acts[i] = explores if place[i] < temperature else acts[i]
        return
    flipping = first_flip(1.0, scale)
    last = np.uint32(np.int64(math.ceil(temperature * TWO_TO_32)) - 1)
    for i in range(size):
        explores = np.uint8(1) if luck[i] >= flipping else np.uint8(0)
        acts[i] = explores if luck[i] <= last else acts[i]


@inlined
def first_flip(share, scale):
    """The smallest word w for which share (w / 2^32) scale, as it is rounded, is at least one."""
    word = np.int64(TWO_TO_32 / (share * scale))
    while word > 0 and (share * ((word - 1) * TWO_TO_MINUS_32)) * scale >= 1.0:
        word -= 1
    while (share * (word * TWO_TO_MINUS_32)) * scale < 1.0:
        word += 1
    return np.uint32(word)


@kernel
def count_runs(spin, flips, moving, sites, reach, periodic, padded, zero, counts, total):
    """Simulate every run in turn; count energies, or add them up, at all times.

    One of counts (runs, times, energies) and total (runs, times) is empty.
    """
    runs, rows, columns = spin.shape
    times = max(counts.shape[1], total.shape[1])
    energy = np.full((rows, columns), zero)
    found = np.empty((4, counts.shape[2]), np.uint32)
    for r in range(runs):
        flat = spin[r].reshape(rows * columns)
        seen = energy.reshape(rows * columns)
        for t in range(times):
            pad(spin[r], reach, periodic, padded)
            local_energy_rows(0, rows, spin[r], sites, reach, padded, energy)
            if counts.size:
                count_energies(seen, found)
                for e in range(counts.shape[2]):
                    counts[r, t, e] = found[0, e] + found[1, e] + found[2, e] + found[3, e]
            else:
                total[r, t] = sum_of(seen)
            if t < moving:
                flip_spins(flips[r], seen, flat)


@kernel
def sum_of(energy):
    """The sum of all energies."""
    total = np.uint64(0)
    for i in range(np.uint64(energy.shape[0])):
        total += np.uint64(energy[i])
    return np.int64(total)


@kernel
def flip_spins(choice, energy, spin):
    """Flip the spins whose energies are chosen."""
    acts = np.empty(LUCK_SIZE, np.uint8)
    for first in range(0, spin.shape[0], LUCK_SIZE):
        spins = spin[first : first + LUCK_SIZE]
        choose_flips(choice, energy[first : first + LUCK_SIZE], acts[: spins.shape[0]])
        for i in range(np.uint64(spins.shape[0])):
            spins[i] = -spins[i] if acts[i] != 0 else spins[i]


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
        others = np.uint8(others | (np.uint8(spin[i] + np.int8(1)) & np.uint8(0xFD)))
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
                alike = sums[x] if spins[x] > 0 else -sums[x]
                energies[x] = type(sites)(sites + type(sites)(1) - alike) >> type(sites)(1)
