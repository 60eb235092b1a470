"""Ising grids whose agents explore or act by a table, one step in one kernel."""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.ising.energy import energy_workspace, local_energy, local_energy_rows, pad
from swarmdp.kernels.ising.steps import BLOCK_SITES, choose_flips
from swarmdp.kernels.numerics.streams import (
    MASK,
    TWO_TO_MINUS_32,
    philox,
)
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.tables import local_model as tabular

TWO_TO_32 = 2.0**32


class ExploringGrids:
    """ExploringGrids of spins (runs, rows, columns) whose agents explore or act by a table.

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
        sites, padded = energy_workspace(rows, columns, self._reach, self._periodic)
        return sites, self._reach, self._periodic, padded


_NOWHERE = np.empty((0, 0))


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
    words_of_sites = np.empty(BLOCK_SITES, np.uint32)
    flat_words = words.reshape(words.size)
    for r in range(runs):
        own = table[r % table.shape[0]]
        for e in range(choice.shape[0]):
            choice[e] = own[e]
        if temperature > 0.0:
            draw_words(seed, np.uint64(numbers[r]), step, draw, words)
        flat = spin[r].reshape(rows * columns)
        for first in range(0, flat.shape[0], BLOCK_SITES):
            last = min(first + BLOCK_SITES, flat.shape[0])
            acts = actions[r, first:last]
            choose_flips(choice, before[r, first:last], acts)
            if temperature > 0.0:
                places = where[r, first:last]
                for i in range(np.uint64(last - first)):
                    words_of_sites[i] = flat_words[np.uint64(places[i])]
                own_place = place[r, first:last] if place.size > 0 else place[:0, 0]
                explore_flips(words_of_sites, own_place, temperature, acts)
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
def explore_flips(words_of_sites, place, temperature, acts):
    """Let those explore whose word is below the temperature, or who have a place below it.

    Luck is a 32-bit number; half of those who explore flip. Whether w / 2^32 is below a number is
    asked once for all w, as is from which w on an explorer flips.
    """
    scale = 2.0 / temperature
    size = np.uint64(acts.shape[0])
    if place.size > 0:
        flipping = first_flip(temperature, scale)
        for i in range(size):
            explores = np.uint8(1) if words_of_sites[i] >= flipping else np.uint8(0)
            acts[i] = explores if place[i] < temperature else acts[i]
        return
    flipping = first_flip(1.0, scale)
    last = np.uint32(np.int64(math.ceil(temperature * TWO_TO_32)) - 1)
    for i in range(size):
        explores = np.uint8(1) if words_of_sites[i] >= flipping else np.uint8(0)
        acts[i] = explores if words_of_sites[i] <= last else acts[i]


@inlined
def first_flip(share, scale):
    """The smallest word w for which share (w / 2^32) scale, as it is rounded, is at least one."""
    word = np.int64(TWO_TO_32 / (share * scale))
    while word > 0 and (share * ((word - 1) * TWO_TO_MINUS_32)) * scale >= 1.0:
        word -= 1
    while (share * (word * TWO_TO_MINUS_32)) * scale < 1.0:
        word += 1
    return np.uint32(word)
