"""The joint density of two headings: a kernel density estimate on the torus.

The kernel is a wrapped normal with two widths: one for the common direction of the two headings,
their mean, and one for their difference. Where both agents look the same way, the density is a
narrow ridge along the diagonal; it must be resolved across, not along. (A product of two equal
kernels is the special case in which the difference's width is twice the common one.)

Pairs are counted on a grid and smoothed by a Fourier transform. There the kernel is
exp(-(c u)^2 / 2) exp(-(d v)^2 / 8) with u = k1 + k2 and v = k1 - k2 for the widths c and d, so the
widths separate, and leave-one-out cross-validation of a whole table of widths costs no more than
one transform.
"""

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from swarmdp.paper.pairs import PARTS
from swarmdp.support.arrays import Floats, Ints

GRID = 180  # cells around the circle, of 2 degrees
INTERVALS = 36  # of 10 degrees each, to which headings are rounded, as in the paper
WIDTHS = np.radians(np.geomspace(360 / GRID, 180, 19))  # candidates for both widths of the kernel

Spectrum = NDArray[np.complex128]  # of a real function on the grid (GRID, GRID // 2 + 1)

_FIRST = np.rint(np.fft.fftfreq(GRID, 1 / GRID)).astype(np.int64)[:, None]
_SECOND = np.arange(GRID // 2 + 1)
_SUM, _DIFFERENCE = np.abs(_FIRST + _SECOND), np.abs(_FIRST - _SECOND)  # u and v
_TIMES_PRESENT = np.where(_SECOND % (GRID // 2) == 0, 1.0, 2.0) * np.ones(_SUM.shape)
_BLOCK = GRID // INTERVALS  # cells in an interval
_OF_BLOCK = np.exp(2j * np.pi / GRID * np.arange(_BLOCK) * _FIRST).sum(axis=1)
_OF_BLOCKS = _OF_BLOCK[:, None] * _OF_BLOCK[: GRID // 2 + 1]  # sums over a block from a cell on
_ALONG = np.exp(-0.5 * (WIDTHS[:, None] * np.arange(GRID + 1)) ** 2)  # (width, u)
_ACROSS = np.exp(-0.125 * (WIDTHS[:, None] * np.arange(GRID + 1)) ** 2)  # (width, v)


def spectrum(first: NDArray[np.integer], second: NDArray[np.integer]) -> Spectrum:
    """The Fourier transform of the empirical distribution of pairs of headings, in parts."""
    index = cell(first) * GRID + cell(second)
    counts = np.bincount(index, minlength=GRID**2).reshape(GRID, GRID)
    transformed: Spectrum = scipy.fft.rfft2(counts / len(first))
    return transformed


def cell(parts: NDArray[np.integer]) -> Ints:
    """The cell of the grid in which a heading lies."""
    return parts.astype(np.int64) // (PARTS // GRID)


def best_widths(empirical: Spectrum, samples: int) -> tuple[int, int]:
    """Which of WIDTHS are best along the common direction and across, by cross-validation.

    Minimises the leave-one-out estimate of the integrated squared error,
    integral of f^2 - 2 mean of f_without_i(x_i), which in Fourier space is
    sum of |F|^2 K^2 - 2 n / (n - 1) (sum of |F|^2 K - sum of K / n).
    """
    power = _by_sum_and_difference(_TIMES_PRESENT * (empirical.real**2 + empirical.imag**2))
    squared = _sum_weighted(_ALONG**2, power, _ACROSS**2)
    others = (
        (_sum_weighted(_ALONG, power, _ACROSS) - _SELF_TERM / samples) * samples / (samples - 1)
    )
    along, across = np.unravel_index(np.argmin(squared - 2 * others), squared.shape)
    return int(along), int(across)


def kernel_spectrum(along: int, across: int) -> Floats:
    """The Fourier transform of the kernel with these of WIDTHS."""
    table: Floats = _ALONG[along][_SUM] * _ACROSS[across][_DIFFERENCE]
    return table


def smooth(of: Spectrum, by: Floats) -> Floats:
    """The function on the grid whose spectrum is given, smoothed by a kernel."""
    values: Floats = scipy.fft.irfft2(of * by, s=(GRID, GRID))
    return values


def interval_probabilities(empirical: Spectrum, by: Floats) -> Floats:
    """The smoothed joint distribution of two headings over INTERVALS of the circle each."""
    joint = np.maximum(_at_intervals(empirical * by * _OF_BLOCKS), 0.0)  # rounding: -1e-20
    return joint / joint.sum()  # type: ignore[no-any-return]


def interval_squares(empirical: Spectrum, by: Floats) -> Floats:
    """The mean over pairs of the square of what a pair adds to each interval's probability."""
    shares: Floats = scipy.fft.irfft2(by * _OF_BLOCKS, s=(GRID, GRID))
    return _at_intervals(empirical * scipy.fft.rfft2(shares**2))


def marginals(empirical: Spectrum, by: Floats) -> list[tuple[Floats, Floats]]:
    """The same two, probabilities and squares, for the first heading alone and the second."""
    shares = scipy.fft.ifft(by[:, 0] * _OF_BLOCK).real  # the same for both headings
    kernels = scipy.fft.rfft(np.stack([shares, shares**2]))
    pairs = []
    for alone in (empirical[: GRID // 2 + 1, 0], empirical[0]):
        probability, square = scipy.fft.irfft(alone * kernels, GRID)[:, ::_BLOCK]
        pairs.append((np.maximum(probability, 0.0), square))
    return pairs


def on_grid(table: Floats) -> Floats:
    """A function of the two intervals as one of the two cells."""
    return table.repeat(_BLOCK, axis=0).repeat(_BLOCK, axis=1)


def _at_intervals(of: Spectrum) -> Floats:
    """The function with this spectrum, in the first cell of every pair of intervals.

    To take every fifth value is, in Fourier space, to add up the wave numbers that are the same
    modulo INTERVALS; so only a small transform is needed.
    """
    half = of.reshape(_BLOCK, INTERVALS, -1).sum(axis=0)
    mirrored = half[-np.arange(INTERVALS), GRID // 2 - 1 : 0 : -1].conj()
    whole = np.concatenate([half, mirrored], axis=1)
    folded = whole.reshape(INTERVALS, _BLOCK, INTERVALS).sum(axis=1)
    values: Floats = scipy.fft.ifft2(folded).real / _BLOCK**2
    return values


def _by_sum_and_difference(values: Floats) -> Floats:
    """The values at all wave numbers, added up by (u, v)."""
    index = (_SUM * (GRID + 1) + _DIFFERENCE).ravel()
    total: Floats = np.bincount(index, values.ravel(), (GRID + 1) ** 2).astype(np.float64)
    return total.reshape(GRID + 1, GRID + 1)


def _sum_weighted(along: Floats, values: Floats, across: Floats) -> Floats:
    """The sum of values (u, v), weighted by the kernels of all pairs of widths.

    As einsum, since a library's threads would cost more than they save on so small a product.
    """
    table: Floats = np.einsum("au,ub->ab", along, np.einsum("uv,bv->ub", values, across))
    return table


_SELF_TERM = _sum_weighted(
    _ALONG, _by_sum_and_difference(_TIMES_PRESENT), _ACROSS
)  # what a pair adds at itself
