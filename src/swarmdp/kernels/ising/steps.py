"""Whole steps of Ising grids, and how many agents have each energy.

Spins (runs, rows, columns) of int8 change in place; of the energies only their histogram or their
sum is kept. One run goes through all its steps before the next: a grid of the paper's size, its
border and its energies stay in the cache. Two other ways of taking a step give the same bits:
`local_energy` and a policy, which the tests compare with this, and `exploring`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.ising.energy import energy_dtype, energy_workspace, local_energy_rows, pad
from swarmdp.kernels.runtime.compile import kernel

BLOCK_SITES = 2_048  # sites whose choices are made at a time


def count_steps(
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
    # Only one of the two is filled; the other one is empty, not None, for one signature.
    counts = np.empty((runs, times, levels) if histogram else (0, 0, 0), np.int64)
    total = np.empty((0, 0) if histogram else (runs, times), np.int64)
    sites, padded = energy_workspace(spin.shape[1], spin.shape[2], reach, periodic)
    zero = energy_dtype(reach)(0)
    count_runs(spin, flips, moving, sites, reach, periodic, padded, zero, counts, total)
    return counts, total


@kernel
def count_runs(spin, flips, moving, sites, reach, periodic, padded, zero, counts, total):
    """Simulate every run in turn; count energies, or add them up, at all times.

    One of counts (runs, times, energies) and total (runs, times) is empty.
    """
    runs, rows, columns = spin.shape
    times = max(counts.shape[1], total.shape[1])
    # `zero` has the type of an energy: the kernel learns it from there.
    energy = np.full((rows, columns), zero)
    # Of 32 bits, so that four tables take no more of the cache than two of the counts.
    tallies = np.empty((4, counts.shape[2]), np.uint32)
    for r in range(runs):
        # Views of the same memory: a grid for sums over rows, one long row for choices.
        flat = spin[r].reshape(rows * columns)
        seen = energy.reshape(rows * columns)
        for t in range(times):
            pad(spin[r], reach, periodic, padded)
            local_energy_rows(0, rows, spin[r], sites, reach, padded, energy)
            if counts.size:
                count_energies(seen, tallies)
                for e in range(counts.shape[2]):
                    counts[r, t, e] = tallies[0, e] + tallies[1, e] + tallies[2, e] + tallies[3, e]
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
    acts = np.empty(BLOCK_SITES, np.uint8)
    for first in range(0, spin.shape[0], BLOCK_SITES):
        spins = spin[first : first + BLOCK_SITES]
        # Choices as bytes first: the loop of the flips then reads two rows of bytes, and
        # vectorises.
        choose_flips(choice, energy[first : first + BLOCK_SITES], acts[: spins.shape[0]])
        for i in range(np.uint64(spins.shape[0])):
            spins[i] = -spins[i] if acts[i] != 0 else spins[i]


@kernel
def choose_flips(choice, energies, acts):
    """acts[i] = choice[energies[i]]; few choices are the bits of a number."""
    # Larger neighbourhoods have more energies than a number has bits.
    if choice.shape[0] > 32:
        for i in range(np.uint64(acts.shape[0])):
            acts[i] = choice[np.uint64(energies[i])]
        return
    # A shift instead of a look-up in memory: the loop over the sites vectorises.
    flips = np.uint32(0)
    for e in range(choice.shape[0]):
        flips |= np.uint32(choice[e]) << np.uint32(e)
    for i in range(np.uint64(acts.shape[0])):
        acts[i] = np.uint8((flips >> np.uint32(energies[i])) & np.uint32(1))


@kernel
def count_energies(energy, tallies):
    """Count in four tables in turn, so that an addition need not wait for the one before it."""
    tallies[:] = np.uint32(0)
    first = tallies[0]
    second = tallies[1]
    third = tallies[2]
    fourth = tallies[3]
    one = np.uint32(1)
    whole = energy.shape[0] // 4 * 4
    # The same energy often comes twice in a row; in one table the second would wait for the
    # first.
    for i in range(np.uint64(0), np.uint64(whole), np.uint64(4)):
        first[np.uint64(energy[i])] += one
        second[np.uint64(energy[i + np.uint64(1)])] += one
        third[np.uint64(energy[i + np.uint64(2)])] += one
        fourth[np.uint64(energy[i + np.uint64(3)])] += one
    # The one to three that are left.
    for i in range(np.uint64(whole), np.uint64(energy.shape[0])):
        first[np.uint64(energy[i])] += one
