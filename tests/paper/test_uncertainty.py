"""The estimator on pairs with a known value, and its own words about its errors."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies.calibration import calibrate, coupled_pairs, true_coefficient
from swarmdp.paper import density
from swarmdp.paper.pairs import ABSENT, PARTS, Pairs, sample_pairs
from swarmdp.paper.uncertainty import coefficient_of, estimate, gain_of, uncertainty
from swarmdp.support.errors import InvalidInput
from tests import oracles

VICSEK = swarmdp.Vicsek(n_agents=60, radius=0.12)
PAIRS = sample_pairs(
    VICSEK, VICSEK.expert, numbers=np.arange(250), times=[0, 8, 20], seed=1, max_hops=3
)


def test_coefficient_of_known_tables() -> None:
    rng = np.random.default_rng(0)
    assert coefficient_of(np.eye(36) / 36) == pytest.approx(1)
    assert coefficient_of(np.outer(*rng.dirichlet(np.ones(5), 2))) == pytest.approx(0, abs=1e-14)
    assert coefficient_of(np.eye(3)[:1]) == 0
    # Two coins that agree in three of four cases.
    information = math.log(2) - (-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    agree = coefficient_of(np.array([[3, 1], [1, 3]]) / 8)
    assert agree == pytest.approx(information / math.log(2))


@pytest.mark.parametrize("degrees", [1, 5, 14, 40, 80, 150])
def test_true_coefficients_of_coupled_pairs(degrees: float) -> None:
    spread = math.radians(degrees)
    expected = oracles.coupled_coefficient(spread, density.INTERVALS)
    assert true_coefficient(spread) == pytest.approx(expected, abs=1e-5)


def test_true_coefficients_at_the_ends() -> None:
    assert true_coefficient(0.0) == 1
    assert true_coefficient(math.inf) == 0
    assert true_coefficient(math.radians(0.05)) > 0.97


@pytest.mark.parametrize("samples", [300, 2000])
@pytest.mark.parametrize("degrees", [10, 14, 40, 80])
def test_coupled_pairs(degrees: float, samples: int) -> None:
    """Smoothing lowers the coefficient; corrected, it is the truth, and error bars its spread."""
    repeats = 60
    calibration = calibrate(samples, seed=3, repeats=repeats, spreads=[math.radians(degrees)])
    truth, corrected, error = calibration.truth[0], calibration.corrected[0], calibration.error[0]
    scatter = corrected.std(ddof=1)
    of_mean = scatter / math.sqrt(repeats)
    assert calibration.coefficient[0].mean() < truth - 2 * of_mean
    assert abs(corrected.mean() - truth) < 4 * of_mean
    # A standard deviation from 60 repeats has a relative error of 1 / sqrt(120).
    assert abs(error.mean() / scatter - 1) < 4 / math.sqrt(2 * repeats)
    # Nine of ten or more are to be covered: fewer than 44 happen once in 10000.
    assert (np.abs(corrected - truth) < 2 * error).sum() >= 44


def test_independent_pairs() -> None:
    """What is left after the correction is not more than the bias itself, and that is small."""
    repeats = 100
    calibration = calibrate(2000, seed=4, repeats=repeats, spreads=[math.inf])
    corrected, bias = calibration.corrected[0], calibration.bias[0]
    of_mean = corrected.std(ddof=1) / math.sqrt(repeats)
    assert abs(corrected.mean()) < bias.mean() + 4 * of_mean
    assert bias.mean() < 5e-4
    assert (np.abs(corrected) < bias + 4 * calibration.error[0]).mean() > 0.95


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_shuffled_pairs_confirm_the_gain(spread: float) -> None:
    """On shuffled pairs, the gain from the Taylor series is the bias that is found."""
    rng = np.random.default_rng(10)
    ratios = []
    for _ in range(20):
        first, second = coupled_pairs(spread, 2000, rng)
        estimated = estimate(first, second)
        widths = [int(np.searchsorted(density.WIDTHS, w - 1e-9)) for w in estimated.width]
        once = density.kernel_spectrum(*widths)
        shuffled = density.spectrum(first, np.roll(second, 700))
        once_more = gain_of(shuffled, once * once)
        gain = (2 * gain_of(shuffled, once) - once_more) / 2000
        assert estimated.gain < gain  # around a ridge there is less to scatter
        ratios.append(estimated.bias / gain)
    assert abs(np.mean(ratios) - 1) < 4 * np.std(ratios, ddof=1) / math.sqrt(20) + 0.05


def test_identical_headings_reach_the_limit_that_the_kernel_sets() -> None:
    """The narrowest kernel, of one cell of the grid, turns 1 into about 0.85."""
    first = np.random.default_rng(5).integers(0, PARTS, 10_000)
    estimated = estimate(first, first)
    assert estimated.width[1] == density.WIDTHS[0]
    # Headings in the same cell, blurred by the kernel: spread of the difference 2 degrees.
    limit = true_coefficient(float(density.WIDTHS[0]))
    assert estimated.coefficient == pytest.approx(limit, abs=0.01)
    assert 0.85 < estimated.coefficient < estimated.coefficient + estimated.loss < 0.91


def test_more_pairs_less_bias() -> None:
    few, many = (calibrate(n, seed=6, repeats=20, spreads=[0.25]).bias.mean() for n in (500, 5000))
    assert many < few / 5


def test_the_coefficient_does_not_depend_on_direction_or_order() -> None:
    pairs = coupled_pairs(0.3, 3000, np.random.default_rng(7))
    first, second = (heading.astype(int) for heading in pairs)
    plain = estimate(first, second)
    turn = PARTS // 36 * 5
    turned = estimate((first + turn) % PARTS, (second + turn) % PARTS)
    swapped = estimate(second, first)
    assert turned.coefficient == pytest.approx(plain.coefficient, abs=1e-12)
    assert swapped.coefficient == pytest.approx(plain.coefficient, abs=1e-12)
    assert swapped.error == pytest.approx(plain.error, rel=0.01)


def test_dependence_of_another_shape_is_found_too() -> None:
    """Partners that fly in opposite directions, and mirrored ones."""
    pairs = coupled_pairs(0.25, 5000, np.random.default_rng(8))
    first, second = (heading.astype(int) for heading in pairs)
    truth = true_coefficient(0.25)
    opposite = estimate(first, (second + PARTS // 2) % PARTS)
    assert abs(opposite.corrected - truth) < 4 * opposite.error
    mirrored = estimate(first, -second % PARTS)
    assert abs(mirrored.corrected - truth) < 4 * mirrored.error
    assert mirrored.width[0] < mirrored.width[1]


def test_over_time_and_distance() -> None:
    uncertain = uncertainty(PAIRS, least=240)
    assert uncertain.coefficient.shape == (3, 4)
    np.testing.assert_array_equal(uncertain.samples, (PAIRS.partner != ABSENT).sum(axis=0))
    enough = uncertain.samples >= 240
    assert enough.any()
    assert not enough.all()
    for name in ("coefficient", "loss", "gain", "bias", "corrected", "error"):
        np.testing.assert_array_equal(np.isfinite(getattr(uncertain, name)), enough)
    np.testing.assert_array_equal(
        uncertain.corrected, uncertain.coefficient + uncertain.loss - uncertain.gain
    )
    there = PAIRS.partner[:, 2, 0] != ABSENT
    one = estimate(PAIRS.reference[there, 2], PAIRS.partner[there, 2, 0])
    assert uncertain.coefficient[2, 0] == one.coefficient
    assert tuple(uncertain.width[2, 0]) == one.width
    # At the start headings are independent; later, neighbours know each other's.
    assert (np.abs(uncertain.corrected[0]) < uncertain.bias[0] + 4 * uncertain.error[0])[
        enough[0]
    ].all()
    assert uncertain.corrected[2, 0] > 0.2


def test_same_bits_on_any_number_of_threads() -> None:
    one, two = (dataclasses.asdict(uncertainty(PAIRS, least=100, threads=n)) for n in (1, 2))
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name])


def test_a_coupled_swarm_shows_its_true_value() -> None:
    """Classes of different spreads, put into the arrays that sampling gives."""
    rng = np.random.default_rng(9)
    spreads = [0.25, 1.0, math.inf]
    reference = rng.integers(0, PARTS, (4000, 1)).astype(np.int16)
    coupled = [coupled_pairs(spread, 4000, rng) for spread in spreads]
    turns = np.stack([second.astype(int) - first for first, second in coupled], axis=1)
    partner = ((reference + turns) % PARTS).astype(np.int16)
    pairs = Pairs(np.array([3]), reference, partner[:, None])
    uncertain = uncertainty(pairs)
    truth = np.array([true_coefficient(s) for s in spreads])
    assert (
        np.abs(uncertain.corrected[0] - truth) < uncertain.bias[0] + 4 * uncertain.error[0]
    ).all()


@pytest.mark.parametrize("least", [8, True, 100.0])
def test_too_small_a_threshold_is_refused(least: Any) -> None:
    with pytest.raises(InvalidInput, match="least must be an integer of at least 9"):
        uncertainty(PAIRS, least=least)


def test_unfit_pairs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="got shapes \\(9,\\) and \\(10,\\)"):
        estimate(np.arange(9), np.arange(10))
    with pytest.raises(InvalidInput, match="more than 8 headings"):
        estimate(np.arange(8), np.arange(8))
    with pytest.raises(InvalidInput, match="parts of the circle from 0 to 32399"):
        estimate(np.arange(9), np.arange(9) - 1)
    with pytest.raises(InvalidInput, match="samples must be an integer of at least 9, got 3"):
        calibrate(3, seed=1)


def test_calibration_is_reproducible() -> None:
    one = calibrate(100, seed=1, repeats=5, spreads=[0.3, 1.0], threads=1)
    two = calibrate(100, seed=1, repeats=3, spreads=[0.3, 1.0], threads=2)
    np.testing.assert_array_equal(one.corrected[:, :3], two.corrected)
