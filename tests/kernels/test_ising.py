import numpy as np
import pytest

import swarmdp
from swarmdp.kernels import ising
from swarmdp.kernels.numerics.streams import Counter
from swarmdp.model.streams import Purpose, Streams
from swarmdp.support import parallel
from tests import oracles


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("reach", [1, 2, 3])
@pytest.mark.parametrize("shape", [(7, 7), (7, 11), (40, 9), (13, 33)])
def test_local_energy(shape: tuple[int, int], reach: int, periodic: bool) -> None:
    rng = np.random.default_rng(0)
    spin = rng.choice(np.array([-1, 1], np.int8), (3, *shape))
    spin[1] = 1
    energy = ising.local_energy(spin, reach, periodic)
    for r in range(3):
        np.testing.assert_array_equal(energy[r], oracles.observed_energy(spin[r], reach, periodic))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 3), (4, 1)])
def test_open_grids_smaller_than_the_neighbourhood(shape: tuple[int, int]) -> None:
    spin = np.random.default_rng(1).choice(np.array([-1, 1], np.int8), (1, *shape))
    energy = ising.local_energy(spin, 2, False)
    np.testing.assert_array_equal(energy[0], oracles.observed_energy(spin[0], 2, False))


@pytest.mark.parametrize("reach", [5, 6, 7, 8, 100])
def test_wide_neighbourhoods_do_not_overflow(reach: int) -> None:
    shape = (2 * reach + 1, 2 * reach + 3)
    up = np.ones((1, *shape), np.int8)
    up[0, reach, reach] = -1
    energy = ising.local_energy(up, reach, True)
    assert energy[0, reach, reach] == (2 * reach + 1) ** 2 - 1
    assert energy.sum() == 2 * ((2 * reach + 1) ** 2 - 1)


@pytest.mark.parametrize(("reach", "periodic"), [(1, True), (2, False), (3, True)])
def test_energies_counted_and_added_up_over_time(reach: int, periodic: bool) -> None:
    rng = np.random.default_rng(2)
    spin = rng.choice(np.array([-1, 1], np.int8), (3, 9, 8))
    levels = (2 * reach + 1) ** 2
    flips = rng.integers(0, 2, (3, levels)).astype(np.uint8)
    moved, counts = spin.copy(), np.zeros((3, 5, levels), np.int64)
    for r in range(3):
        for time in range(5):
            energy = oracles.observed_energy(moved[r], reach, periodic)
            counts[r, time] = np.bincount(energy.ravel(), minlength=levels)
            if time < 4:
                moved[r] *= np.where(flips[r, energy] == 1, -1, 1)
    for histogram in (True, False):
        state = spin.copy()
        actual, total = ising.count_steps(state, flips, 5, 4, histogram, reach, periodic)
        np.testing.assert_array_equal(state, moved)
        if histogram:
            np.testing.assert_array_equal(actual, counts)
        else:
            np.testing.assert_array_equal(total, (counts * np.arange(levels)).sum(axis=2))


def test_a_shared_large_grid_gives_the_same_energies() -> None:
    shape = (700, 1300)
    spin = np.random.default_rng(2).choice(np.array([-1, 1], np.int8), (2, *shape))
    alone = ising.local_energy(spin, 2, False)
    with parallel.budget(2):
        assert parallel.shares(spin[0].size // 20) == 2
        shared = ising.local_energy(spin, 2, False)
    np.testing.assert_array_equal(shared, alone)


def test_grids_of_equal_padded_size_do_not_share_their_borders() -> None:
    for shape, reach in (((10, 10), 2), ((8, 8), 3), ((10, 10), 2)):
        spin = np.ones((1, *shape), np.int8)
        energy = ising.local_energy(spin, reach, False)
        half = np.ceil(oracles.missing_neighbours(shape, reach) / 2)
        np.testing.assert_array_equal(energy[0], half)


def test_sites_and_what_is_put_on_them() -> None:
    rng = np.random.default_rng(5)
    site = rng.permuted(np.tile(np.arange(30, dtype=np.int32), (4, 1)), axis=1)
    assert ising.are_all_sites(site)
    for wrong in (site % 29, site - 1, site + 1):
        assert not ising.are_all_sites(wrong)
    values = rng.normal(size=(4, 30))
    expected = np.empty_like(values)
    np.put_along_axis(expected, site.astype(int), values, axis=1)
    np.testing.assert_array_equal(ising.put_on_grid(site, values), expected)


def test_grids_start_with_what_initial_draws() -> None:
    system, streams = swarmdp.Ising((5, 7), magnetisation=0.4), Streams.of(4, [0, 9], 35)
    state = system.initial(streams.at(25, Purpose.INITIAL))
    spins = streams.counter(25, Purpose.INITIAL)
    sites = Counter(4, spins.runs, 25, spins.draw + 1)
    spin, agents = ising.start_grids(spins, sites, 35, 0.7)
    for r in range(2):
        np.testing.assert_array_equal(spin[r, state["site"][r]], state["spin"][r])
        np.testing.assert_array_equal(agents[r, state["site"][r]], np.arange(35))
