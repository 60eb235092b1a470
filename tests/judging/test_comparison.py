"""The permutation test, against plain sums and on swarms that are the same."""

import numpy as np
import pytest
from scipy import stats

from swarmdp.judging.comparison import compare_runs, standardise


def plain_energy(x: np.ndarray, y: np.ndarray) -> float:
    """2 E|x - y| - E|x - x'| - E|y - y'|."""

    def mean(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.abs(a[:, None] - b[None]).mean())

    return 2 * mean(x, y) - mean(x, x) - mean(y, y)


@pytest.mark.parametrize("starts", [1, 3])
def test_energy_distances_agree_with_plain_sums(starts: int) -> None:
    rng = np.random.default_rng(1)
    demo, others = rng.normal(size=(starts, 4)), rng.normal(size=(7, starts, 4))
    comparison = compare_runs(demo, others, np.random.default_rng(0))
    scaled = standardise(np.concatenate([demo[None], others]))
    for k in range(4):
        expected = plain_energy(scaled[0, :, k], scaled[1:, :, k].ravel())
        assert comparison.energy[k] == pytest.approx(expected)


def test_one_run_among_many_has_its_rank_as_p_value() -> None:
    values = np.arange(20.0)[:, None, None] ** 1.5
    others = np.delete(values, 19, axis=0)
    far = compare_runs(values[19], others, np.random.default_rng(0))
    assert far.p == pytest.approx(1 / 20)
    assert far.p_values[0] == pytest.approx(1 / 20)
    middle = compare_runs(values[8], np.delete(values, 8, axis=0), np.random.default_rng(0))
    assert middle.p > 0.5


@pytest.mark.parametrize("starts", [1, 4])
def test_the_same_swarm_is_told_from_itself_as_rarely_as_promised(starts: int) -> None:
    rng = np.random.default_rng(2)
    trials = 400 if starts == 1 else 100
    hits = 0
    for _ in range(trials):
        centre = 10 * rng.normal(size=(starts, 1))  # what the start decides
        heavy = rng.standard_t(2, size=(41, starts, 6)) + centre
        hits += compare_runs(heavy[0], heavy[1:], rng).p <= 0.05
    assert hits <= stats.binom.ppf(0.999, trials, 0.05)


def test_many_small_differences_and_a_single_large_one_are_found() -> None:
    rng = np.random.default_rng(3)
    many, single = 0, 0
    for _ in range(50):
        runs = rng.normal(size=(41, 1, 40))
        runs[0] += 1.5 * rng.choice([-1, 1], 40)
        many += compare_runs(runs[0], runs[1:], rng).p <= 0.05
        runs = rng.normal(size=(41, 1, 40))
        runs[0, :, 7] += 8
        one = compare_runs(runs[0], runs[1:], rng)
        single += one.p <= 0.05 and one.energy.argmax() == 7 and one.adjusted[7] <= 0.05
    assert many >= 48
    assert single >= 48


def test_statistics_without_spread_say_nothing() -> None:
    runs = np.full((21, 1, 2), 0.1)
    runs[0] += 1e-17
    runs[:, 0, 1] *= 1 + 1e-15 * np.arange(21)
    same = compare_runs(runs[0], runs[1:], np.random.default_rng(0))
    assert same.p == 1.0
    assert not same.energy.any()
