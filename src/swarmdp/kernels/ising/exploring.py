"""Ising grids that learn: exploring agents among greedy ones, a step in one kernel.

Steps 1 to 3 of Algorithm 2: which agents explore, which flip, and the energies after. Everything is
in the order of the sites: spins (runs, rows, columns) of int8, energies (runs, sites) of the
narrowest unsigned type, actions (runs, sites) of uint8, one byte each, so that a grid stays in the
cache. Random numbers belong to agents, which sit on random sites: `where` (runs, sites) says where
the word of a site's agent is among those that `draw_words` has drawn in the order of the agents.

The plain path (`system.transition`, `system.observe`, `tables.explore`) gives the same bits and
costs more than half a whole fit as much again. Arguments are grouped in plain tuples, whose types
Numba knows without asking Python.
"""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.ising.energy import energy_workspace, local_energy, local_energy_rows, pad
from swarmdp.kernels.ising.steps import BLOCK_SITES, choose_flips
from swarmdp.kernels.numerics.streams import MASK, TWO_TO_MINUS_32, philox
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.support.arrays import Floats, Ints

TWO_TO_32 = 2.0**32
_NOWHERE = np.empty((0, 0))


class ExploringGrids:
    """Grids of spins (runs, rows, columns) whose agents explore or act by a table.

    `agents` (runs, sites) are the agents on each site. Spins change in place.
    """

    def __init__(
        self,
        spin: NDArray[np.int8],
        agents: NDArray[np.int32],
        reach: int,
        periodic: bool,
        *,
        seed: int,
        numbers: Ints,
    ) -> None:
        self._seed, self._numbers, self._spin = np.uint64(seed), numbers, spin
        self._reach, self._periodic = reach, periodic
        blocks = -(-agents.shape[1] // 4)
        # The words of four agents lie as far apart as there are blocks.
        where = ((agents & 3) * blocks + (agents >> 2)).astype(np.uint32)
        self._words = where, np.empty((4, blocks), np.uint32)
        self._energy = local_energy(spin, reach, periodic).reshape(agents.shape)

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: Floats | None,
        time: int,
        draw: int,
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8], NDArray[np.unsignedinteger]]:
        """Energies before, actions (runs, sites) and energies after."""
        before, after = self._energy, np.empty_like(self._energy)
        actions = np.empty(before.shape, np.uint8)
        _, rows, columns = self._spin.shape
        sites, padded = energy_workspace(rows, columns, self._reach, self._periodic)
        explore_and_flip(
            (self._seed, np.uint64(time), np.uint64(draw)),
            self._numbers,
            self._words,
            _NOWHERE if place is None else place,
            temperature,
            table,
            self._spin,
            (sites, self._reach, self._periodic, padded),
            before,
            actions,
            after,
        )
        self._energy = after
        return before, actions, after


@kernel
def explore_and_flip(
    drawn, numbers, words, place, temperature, table, spin, room, before, actions, after
):
    """One step of every run in turn: exploring agents, actions, flips, energies.

    `drawn`, `words` and `room` are plain tuples: the coordinates of random numbers, where they are
    kept, and what `energy_workspace` gives with the reach and the boundary.
    """
    seed, step, draw = drawn
    where, word_rows = words
    sites, reach, periodic, padded = room
    runs, rows, columns = spin.shape
    # Asked for once for all runs: a row of the table as bytes, and the words of one block.
    choice = np.empty(table.shape[1], np.uint8)
    word_of_site = np.empty(BLOCK_SITES, np.uint32)
    flat_words = word_rows.reshape(word_rows.size)
    for r in range(runs):
        greedy = table[r % table.shape[0]]
        for e in range(choice.shape[0]):
            # Bytes, as `choose_flips` wants them, whatever type the table has.
            choice[e] = greedy[e]
        if temperature > 0.0:
            # A block of random bits is four words, of the agents 4 b to 4 b + 3, who sit on sites
            # far apart: all are drawn in that order first, and read by `where` below.
            draw_words(seed, np.uint64(numbers[r]), step, draw, word_rows)
        flat = spin[r].reshape(rows * columns)
        # Block by block, so that energies, actions and words are still in the cache.
        for first in range(0, flat.shape[0], BLOCK_SITES):
            last = min(first + BLOCK_SITES, flat.shape[0])
            acts = actions[r, first:last]
            choose_flips(choice, before[r, first:last], acts)
            if temperature > 0.0:
                places = where[r, first:last]
                for i in range(np.uint64(last - first)):
                    word_of_site[i] = flat_words[np.uint64(places[i])]
                fixed_place = place[r, first:last] if place.size > 0 else place[:0, 0]
                explore_flips(word_of_site, fixed_place, temperature, acts)
            spins = flat[first:last]
            for i in range(np.uint64(last - first)):
                spins[i] = -spins[i] if acts[i] != 0 else spins[i]
        # All chose by `before`, so that spins that flipped block by block flipped at once.
        pad(spin[r], reach, periodic, padded)
        local_energy_rows(0, rows, spin[r], sites, reach, padded, after[r].reshape((rows, columns)))


@kernel
def draw_words(seed, run, step, draw, words):
    """The words of all agents of a run: words[k, b] is that of agent 4 b + k."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    # Four rows instead of groups of four: stores in sequence, whole vectors at a time.
    first, second, third, fourth = words[0], words[1], words[2], words[3]
    for b in range(np.uint64(words.shape[1])):
        w0, w1, w2, w3 = philox(b, run, step, draw, k0, k1)
        first[b] = w0
        second[b] = w1
        third[b] = w2
        fourth[b] = w3


@kernel
def explore_flips(words_of_sites, place, temperature, acts):
    """Let those explore whose word, or else whose place, is below the temperature.

    A word w is a 32-bit number and stands for the chance w / 2^32; half of those that explore flip.
    From which word on an explorer flips is computed once, with the roundings of `tables.explore`,
    so that the loops compare integers.
    """
    scale = 2.0 / temperature
    size = np.uint64(acts.shape[0])
    if place.size > 0:
        # Places say who explores; the word, which `tables.exploring.among_first` makes a chance
        # below the temperature, says only whether an explorer flips.
        flipping = first_flip(temperature, scale)
        for i in range(size):
            explores = np.uint8(1) if words_of_sites[i] >= flipping else np.uint8(0)
            acts[i] = explores if place[i] < temperature else acts[i]
        return
    flipping = first_flip(1.0, scale)
    # The last word that stands for a chance below the temperature.
    last = np.uint32(np.int64(math.ceil(temperature * TWO_TO_32)) - 1)
    for i in range(size):
        explores = np.uint8(1) if words_of_sites[i] >= flipping else np.uint8(0)
        acts[i] = explores if words_of_sites[i] <= last else acts[i]


@inlined
def first_flip(share, scale):
    """The smallest word w for which share (w / 2^32) scale, as it is rounded, is at least one."""
    # Nearly right by division, then exactly right by asking the rounded condition itself.
    word = np.int64(TWO_TO_32 / (share * scale))
    while word > 0 and (share * ((word - 1) * TWO_TO_MINUS_32)) * scale >= 1.0:
        word -= 1
    while (share * (word * TWO_TO_MINUS_32)) * scale < 1.0:
        word += 1
    return np.uint32(word)
