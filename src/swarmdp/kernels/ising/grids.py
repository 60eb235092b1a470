"""Spins on a grid: checked, put on their sites, and drawn.

A state has sites and spins in the order of the agents, (runs, agents); kernels want the spins in
the order of the sites. Sites are int32, spins int8. Checks run at every transition, so they are
single passes without branches where there can be many agents. Twins in the tests: NumPy's indexing
and `Ising.initial`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics.streams import (
    MASK,
    Counter,
    permutation_runs,
    philox,
    unit_uniform,
)
from swarmdp.kernels.runtime.compile import kernel


def are_spins(spin: NDArray[np.int8]) -> bool:
    """Whether all of these are +1 or -1."""
    return bool(are_spins_flat(np.ascontiguousarray(spin).reshape(-1)))


@kernel
def are_spins_flat(spin):
    """Whether one more is 0 or 2 for all of them, without a branch."""
    # +1 and -1 become 2 and 0, whose bits but the second are clear; any other number has more.
    others = np.uint8(0)
    for i in range(np.uint64(spin.shape[0])):
        others = np.uint8(others | (np.uint8(spin[i] + np.int8(1)) & np.uint8(0xFD)))
    return others == 0


def are_all_sites(site: NDArray[np.integer]) -> bool:
    """Whether each row has every number below its length once."""
    return bool(are_all_sites_rows(np.ascontiguousarray(site)))


@kernel
def are_all_sites_rows(site):
    """Whether each row has every number below its length once."""
    seen = np.empty(site.shape[1], np.bool_)
    for r in range(site.shape[0]):
        # All sites in range, and none missing: then each is there once.
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


def put_on_grid(site: NDArray[np.integer], values: NDArray[Any]) -> NDArray[Any]:
    """out[r, site[r, i]] = values[r, i], where the rows of `site` are permutations."""
    out = np.empty(site.shape, values.dtype)
    put_rows(site, values, out)
    return out


@kernel
def put_rows(site, values, out):
    """out[r, site[r, i]] = values[r, i]."""
    for r in range(site.shape[0]):
        row = out[r]
        # One row of values may serve all runs.
        entries = values[r % values.shape[0]]
        for i in range(np.uint64(site.shape[1])):
            row[np.uint64(site[r, i])] = entries[i]


def start_grids(
    spins: Counter, sites: Counter, n: int, share: float
) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Spins on their sites (runs, n), a share of them up, and the agent on each site.

    Agent i has the i-th random number of each counter, as `uniform` and `permutation` have.
    """
    runs = len(spins.runs)
    spin, agents = np.empty((runs, n), np.int8), np.empty((runs, n), np.int32)
    start_runs(*spins.words(), np.uint64(sites.draw), share, spin, agents)
    return spin, agents


@kernel
def start_runs(seed, numbers, step, draw, site_draw, share, spin, agents):
    """Draw the spin and the site of every agent, and put it there."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    runs, n = spin.shape
    site = np.empty((1, n), np.int32)
    up = np.empty(n, np.int8)
    for r in range(runs):
        # Agents sit on random sites, so that an agent's number says nothing about its place.
        permutation_runs(seed, numbers[r : r + 1], step, site_draw, site)
        run = np.uint64(numbers[r])
        for i in range(np.uint64(n)):
            # The numbers that `Stream.uniform` would give, agent by agent.
            w0, w1, _, _ = philox(i, run, step, draw, k0, k1)
            up[i] = np.int8(1) if unit_uniform(w0, w1) < share else np.int8(-1)
        # Scattered stores in a loop of their own: among them the draws above would not be vectors.
        spins, ids = spin[r], agents[r]
        for i in range(np.uint64(n)):
            place = np.uint64(site[0, i])
            spins[place] = up[i]
            ids[place] = i
