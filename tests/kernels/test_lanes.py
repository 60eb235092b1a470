import numpy as np
import pytest

import swarmdp
from swarmdp.kernels import ising
from swarmdp.kernels.ising import lanes


@pytest.mark.parametrize("shape", [(5, 5), (11, 13), (7, 256), (255, 6)])
def test_runs_that_are_bits_of_words_are_those_of_arrays(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    spin = rng.choice(np.array([-1, 1], np.int8), (64, *shape))
    flips = rng.integers(0, 2, (64, 25)).astype(np.uint8)
    wanted, _ = ising.count_steps(spin.copy(), flips, 6, 5, True, 2, True)
    for runs in (64, 3):
        grid = lanes.packed(spin[:runs])
        first, _ = lanes.counted(grid, flips[:runs], 4, 4, True)
        then, _ = lanes.counted(grid, flips[:runs], 2, 1, True)
        np.testing.assert_array_equal(np.concatenate([first, then], 1), wanted[:runs])
        _, total = lanes.counted(lanes.packed(spin[:runs]), flips[:runs], 6, 5, False)
        np.testing.assert_array_equal(total, (wanted[:runs] * np.arange(25)).sum(axis=2))


def test_other_grids_are_left_to_arrays() -> None:
    assert lanes.fits((100, 100), 2, True)
    for grid in (((100, 100), 2, False), ((100, 100), 1, True), ((256, 9), 2, True)):
        assert not lanes.fits(*grid)
    assert not lanes.fits((9, 257), 2, True)


def test_many_runs_have_the_energies_of_few() -> None:
    system = swarmdp.Ising((9, 8))
    many = swarmdp.rollout(system, system.expert, steps=5, runs=70, seed=3, record="energy")
    few = swarmdp.rollout(system, system.expert, steps=5, runs=4, seed=3, record="energy")
    plain = swarmdp.rollout(system, system.expert, steps=5, runs=70, seed=3)
    np.testing.assert_array_equal(many["energy"][:4], few["energy"])
    np.testing.assert_array_equal(many["energy"], system.energy(plain))
