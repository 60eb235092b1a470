"""The density estimate against sums over pairs, written out."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.paper import density
from swarmdp.paper.pairs import PARTS

Floats = NDArray[np.float64]
Parts = NDArray[np.int64]


def some_pairs(samples: int, seed: int = 0) -> tuple[Parts, Parts]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, PARTS, samples)
    return first, (first + rng.normal(scale=PARTS / 12, size=samples).astype(int)) % PARTS


def wrapped_normal(first: Floats, second: Floats, common: float, difference: float) -> Floats:
    """The kernel at an offset of the two headings, summed over turns of the circle."""
    total = np.zeros(np.broadcast(first, second).shape)
    for turn in range(-4, 5):
        for other in range(-4, 5):
            x, y = first + 2 * math.pi * turn, second + 2 * math.pi * other
            total += np.exp(-(((x + y) / 2 / common) ** 2 + ((x - y) / difference) ** 2) / 2)
    return total / (2 * math.pi * common * difference)


@pytest.mark.parametrize("widths", [(5, 5), (18, 3), (3, 18), (10, 8)])
def test_the_density_is_the_mean_of_kernels_around_the_pairs(widths: tuple[int, int]) -> None:
    first, second = some_pairs(6)
    step = 2 * math.pi / density.GRID
    grid = np.arange(density.GRID) * step
    expected = np.mean(
        [
            wrapped_normal(
                grid[:, None] - density.cell(x) * step,
                grid - density.cell(y) * step,
                *density.WIDTHS[list(widths)],
            )
            for x, y in zip(first, second, strict=True)
        ],
        axis=0,
    )
    actual = density.smooth(density.spectrum(first, second), density.kernel_spectrum(*widths))
    np.testing.assert_allclose(actual / step**2, expected, atol=1e-9)


@pytest.mark.parametrize("widths", [(18, 18), (18, 3), (5, 7)])
def test_intervals_collect_their_cells(widths: tuple[int, int]) -> None:
    spectrum, kernel = density.spectrum(*some_pairs(300)), density.kernel_spectrum(*widths)
    block = density.GRID // density.INTERVALS
    cells = density.smooth(spectrum, kernel).reshape(
        density.INTERVALS, block, density.INTERVALS, block
    )
    joint = density.interval_probabilities(spectrum, kernel)
    np.testing.assert_allclose(joint, cells.sum(axis=(1, 3)), atol=1e-15)
    assert joint.sum() == pytest.approx(1, abs=1e-14)
    assert (density.on_grid(joint)[::block, ::block] == joint).all()


@pytest.mark.parametrize("widths", [(18, 18), (18, 3), (5, 7)])
def test_squares_and_marginals_are_means_over_pairs(widths: tuple[int, int]) -> None:
    first, second = some_pairs(50)
    kernel = density.kernel_spectrum(*widths)
    whole = density.spectrum(first, second)
    shares = np.array(
        [
            density.interval_probabilities(density.spectrum(x[None], y[None]), kernel)
            for x, y in zip(first, second, strict=True)
        ]
    )
    np.testing.assert_allclose(
        density.interval_squares(whole, kernel), (shares**2).mean(axis=0), atol=1e-14
    )
    for axis, (probability, square) in zip((2, 1), density.marginals(whole, kernel), strict=True):
        alone = shares.sum(axis=axis)
        np.testing.assert_allclose(probability, alone.mean(axis=0), atol=1e-14)
        np.testing.assert_allclose(square, (alone**2).mean(axis=0), atol=1e-14)


def test_widths_minimise_the_error_of_leaving_one_out() -> None:
    """Each pair is left out in earnest, for every pair of widths."""
    first, second = some_pairs(14)
    whole = density.spectrum(first, second)
    without = [
        density.spectrum(np.delete(first, i), np.delete(second, i)) for i in range(len(first))
    ]
    score = np.empty((len(density.WIDTHS),) * 2)
    for widths in np.ndindex(score.shape):
        kernel = density.kernel_spectrum(*widths)
        square = (density.smooth(whole, kernel) ** 2).sum()
        others = [
            density.smooth(rest, kernel)[density.cell(first[i]), density.cell(second[i])]
            for i, rest in enumerate(without)
        ]
        score[widths] = square - 2 * np.mean(others)
    along, across = density.best_widths(whole, len(first))
    assert score.argmin() == along * len(density.WIDTHS) + across
    assert 0 < across < len(density.WIDTHS) - 1


def test_the_kernel_is_wide_along_a_ridge_and_narrow_across() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(0, PARTS, 5000)
    ridge = (first + rng.normal(scale=PARTS * 14 / 360, size=5000).astype(int)) % PARTS
    along, across = density.best_widths(density.spectrum(first, ridge), 5000)
    assert density.WIDTHS[along] > math.radians(40)
    assert density.WIDTHS[across] < math.radians(6)


def test_intervals_and_parts_fit_the_grid() -> None:
    assert density.GRID % density.INTERVALS == 0
    assert PARTS % density.GRID == 0
    assert np.array_equal(density.cell(np.array([0, PARTS - 1])), [0, density.GRID - 1])
