"""The uncertainty coefficient of two agents' headings, over time and topological distance.

U = 2 I / (H1 + H2) is the mutual information of two headings as a share of their entropy: 0 when
one agent's heading says nothing about the other's, 1 when it says all (section 'Local Coupling &
Redundancy' of the paper). A differential entropy may be zero or negative and depends on the unit
of the angle, so it cannot be what to divide by. Headings are therefore rounded to 36 intervals of
10 degrees, as in the paper; both information and entropies are those of the intervals, computed
from the smoothed joint density (`swarmdp.paper.density`).

The estimate has two errors of opposite sign. Smoothing blurs the dependence and lowers it; the
loss is estimated by smoothing once more. The scatter of finitely many pairs looks like dependence
and raises it; this gain is the curvature of the entropies times the variance of the probabilities,
the second term of their Taylor series. The corrected estimate is coefficient + loss - gain.

As a check that assumes nothing, the estimate of shuffled pairs, of agents of different runs, is
given beside it: there the truth is 0, so it is the bias at that number of pairs and that kernel.
It is an upper bound of the gain: shuffled pairs are scattered over all directions, dependent ones
only around the diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from swarmdp.paper import density
from swarmdp.paper.pairs import PARTS, Pairs
from swarmdp.support.arrays import Floats, Ints
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import over_chunks, thread_count

LEAST_PAIRS = 200  # fewer do not give an estimate whose error bar can be trusted
PAIR_SHUFFLES = 8
_NEGLIGIBLE = 1e-9  # a probability of which rounding in the transforms leaves no ratio


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The uncertainty coefficient (times, classes) with its errors; NaN where pairs are too few."""

    times: Ints  # (times,)
    hops: Ints  # (classes,): 1, 2, ... and pairs.NOT_CONNECTED
    runs: int
    least: int  # pairs that were needed for an estimate
    samples: Ints  # the number of pairs
    coefficient: Floats  # of the smoothed density, in [0, 1]
    loss: Floats  # by which smoothing has lowered it
    gain: Floats  # by which scatter has raised coefficient + loss
    corrected: Floats  # coefficient + loss - gain
    bias: Floats  # what coefficient + loss are for shuffled pairs
    error: Floats  # the standard error of the corrected coefficient
    width: Floats  # (times, classes, 2): of the kernel, for the common direction and across, rad


@dataclass(frozen=True)
class Estimate:
    """The uncertainty coefficient of one set of pairs; fields as in `Uncertainty`."""

    coefficient: float
    loss: float
    gain: float
    bias: float
    error: float
    width: tuple[float, float]

    @property
    def corrected(self) -> float:
        """The coefficient without the loss and the gain."""
        return self.coefficient + self.loss - self.gain


def uncertainty(
    pairs: Pairs, *, least: int = LEAST_PAIRS, threads: int | None = None
) -> Uncertainty:
    """Estimate the uncertainty coefficient at every time and distance."""
    check_integer("least", least, least=PAIR_SHUFFLES + 1)
    shape = pairs.partner.shape[1:]
    samples = np.count_nonzero(pairs.partner >= 0, axis=0)
    table = np.full((*shape, 7), np.nan)

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        for place in range(begin, end):
            check()
            time, distance = np.unravel_index(place, shape)
            if samples[time, distance] < least:
                continue
            second = pairs.partner[:, time, distance]
            there = second >= 0
            estimated = estimate(pairs.reference[there, time], second[there])
            table[time, distance] = (
                estimated.coefficient,
                estimated.loss,
                estimated.gain,
                estimated.bias,
                estimated.error,
                *estimated.width,
            )

    over_chunks(samples.size, 8, thread_count(threads), work)
    coefficient, loss, gain, bias, error = np.moveaxis(table[..., :5], -1, 0)
    return Uncertainty(
        times=pairs.times,
        hops=pairs.hops,
        runs=pairs.runs,
        least=least,
        samples=samples,
        coefficient=coefficient,
        loss=loss,
        gain=gain,
        corrected=coefficient + loss - gain,
        bias=bias,
        error=error,
        width=table[..., 5:],
    )


def estimate(first: NDArray[np.integer], second: NDArray[np.integer]) -> Estimate:
    """The uncertainty coefficient of independent pairs of headings, in parts of the circle."""
    if first.ndim != 1 or first.shape != second.shape or len(first) <= PAIR_SHUFFLES:
        raise InvalidInput(
            f"pairs must be two arrays of more than {PAIR_SHUFFLES} headings each, "
            f"got shapes {first.shape} and {second.shape}"
        )
    for heading in (first, second):
        if heading.min() < 0 or heading.max() >= PARTS:
            raise InvalidInput(
                f"headings must be parts of the circle from 0 to {PARTS - 1} (see in_parts), "
                f"got {heading.min()} to {heading.max()}"
            )
    empirical = density.spectrum(first, second)
    widths = density.best_widths(empirical, len(first))
    once = density.kernel_spectrum(*widths)
    twice = once * once

    def coefficient_and_loss(of: density.Spectrum) -> tuple[float, float]:
        """The coefficient, and the loss as far as a second smoothing repeats the first."""
        coefficient = coefficient_of(density.interval_probabilities(of, once))
        again = coefficient_of(density.interval_probabilities(of, twice))
        return coefficient, coefficient - again

    coefficient, loss = coefficient_and_loss(empirical)
    shuffled = [
        sum(
            coefficient_and_loss(
                density.spectrum(first, np.roll(second, len(first) * s // (PAIR_SHUFFLES + 1)))
            )
        )
        for s in range(1, PAIR_SHUFFLES + 1)
    ]
    influence = 2 * _influence(empirical, once) - _influence(empirical, twice)
    scatter = influence[density.cell(first), density.cell(second)].std() / np.sqrt(len(first))
    return Estimate(
        coefficient,
        loss,
        (2 * gain_of(empirical, once) - gain_of(empirical, twice)) / len(first),
        float(np.mean(shuffled)),
        # Without dependence the influence vanishes; what is left is the spread of shuffled pairs.
        float(np.hypot(scatter, np.std(shuffled, ddof=1))),
        (float(density.WIDTHS[widths[0]]), float(density.WIDTHS[widths[1]])),
    )


def coefficient_of(joint: Floats) -> float:
    """The uncertainty coefficient 2 I / (H1 + H2) of a joint distribution of two numbers."""
    entropies = _entropy(joint.sum(axis=1)) + _entropy(joint.sum(axis=0))
    if entropies == 0:
        return 0.0
    return max(0.0, 2 * (1 - _entropy(joint) / entropies))  # rounding: -1e-16


def gain_of(empirical: density.Spectrum, kernel: Floats) -> float:
    """By how much scatter raises the coefficient, times the number of pairs.

    An entropy is lowered by half the sum of variance / probability; the variance of a mean over
    pairs is that of one pair's share over the number of pairs.
    """
    joint = density.interval_probabilities(empirical, kernel)
    squares = density.interval_squares(empirical, kernel)
    entropies = _entropy(joint.sum(axis=1)) + _entropy(joint.sum(axis=0))
    lowered = sum(
        _entropy_loss(probability, square)
        for probability, square in density.marginals(empirical, kernel)
    )
    both = _entropy_loss(joint, squares)
    return 2 * both / entropies - 2 * _entropy(joint) * lowered / entropies**2


def _entropy_loss(probability: Floats, square: Floats) -> float:
    there = probability > _NEGLIGIBLE
    return float((square[there] / probability[there] - probability[there]).sum() / 2)


def _influence(empirical: density.Spectrum, kernel: Floats) -> Floats:
    """How the coefficient changes with the weight of a pair, for a pair in each cell of the grid.

    The probabilities of the intervals are means over pairs, so the derivative by a pair's weight
    is the gradient by the probabilities, smoothed by the kernel (the infinitesimal jackknife).
    """
    joint = np.maximum(density.interval_probabilities(empirical, kernel), np.finfo(float).tiny)
    first, second = joint.sum(axis=1), joint.sum(axis=0)
    entropies = _entropy(first) + _entropy(second)
    gradient = 2 * np.log(joint) / entropies - 2 * _entropy(joint) / entropies**2 * (
        np.log(first)[:, None] + np.log(second)
    )
    return density.smooth(scipy.fft.rfft2(density.on_grid(gradient)), kernel)


def _entropy(probabilities: Floats) -> float:
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())
