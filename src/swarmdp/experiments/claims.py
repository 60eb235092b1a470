"""What the paper says of its results, asked of our numbers. A claim can come out false."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.analysis.uncertainty import Uncertainty
from swarmdp.experiments.outcome import Band, Fits
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek

SIGMAS = 2.0  # standard errors by which a difference must exceed zero to count
NEAR = 2  # hops: agents with common neighbours
CLOSE = 0.1  # of the way from the expert to random policies
LEARNER_NAMES = {"paper": "the paper's learner", "default": "the default learner"}


@dataclass(frozen=True)
class Claim:
    """One claim with the figure that decides it."""

    name: str
    statement: str
    holds: bool | None  # None: there were too few data to say
    value: float  # NaN then
    error: float  # standard error of the value; NaN if there is none
    criterion: str  # when it holds

    def __post_init__(self) -> None:
        # Plain numbers, not NumPy's, so that a claim can be written as JSON.
        for name, kind in (("holds", bool), ("value", float), ("error", float)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, kind(getattr(self, name)))


def swarm_claims(system: str, which: str, bands: Mapping[str, Band]) -> Iterator[Claim]:
    """Who comes near the expert, and who beats whom, in order parameter or energy."""
    sign = 1.0 if system == "vicsek" else -1.0  # energy: less is better
    what = "order parameter" if system == "vicsek" else "energy"
    title = f"{system.capitalize()}, {LEARNER_NAMES[which]}"
    last = len(bands["expert"].mean) - 1
    phases = {
        "transient": slice(1, max(2, 3 * last // 10)),
        "stationary": slice(last // 2, last + 1),
    }
    for phase, times in phases.items():
        gap = bands["expert"].mean[times] - bands["swarm"].mean[times]
        scale = np.abs(bands["expert"].mean[times] - bands["random"].mean[times]).mean()
        value = float(np.abs(gap).mean() / scale)
        error = math.hypot(bands["expert"].over(times)[1], bands["swarm"].over(times)[1]) / scale
        yield Claim(
            f"{system}-{which}-close-{phase}",
            f"{title}: close to the expert, {phase} (t = {times.start} to {times.stop - 1})",
            value + SIGMAS * error < CLOSE,
            value,
            float(error),
            f"mean gap in {what}, as a share of the expert's lead over random policies, "
            f"below {CLOSE} by {SIGMAS:g} standard errors",
        )
    everything = slice(1, last + 1)

    def lead(better: str, worse: str) -> tuple[float, float]:
        one, other = bands[better].over(everything), bands[worse].over(everything)
        return sign * (one[0] - other[0]), math.hypot(one[1], other[1])

    for better, worse, words in (
        ("swarm", "single", "the whole-swarm estimate beats the single-agent estimate"),
        ("swarm", "hand", "the learned reward beats the hand-crafted one"),
        ("swarm", "random", "the learned policies beat random ones"),
        ("single", "random", "the single-agent estimate beats random policies"),
        ("hand", "random", "the hand-crafted reward beats random policies"),
    ):
        value, error = lead(better, worse)
        yield Claim(
            f"{system}-{which}-{better}-beats-{worse}",
            f"{title}: {words}",
            value > SIGMAS * error,
            value,
            error,
            f"lead in {what}, mean over all times, above zero by {SIGMAS:g} standard errors",
        )


def vicsek_reward_claims(system: Vicsek, which: str, found: Fits) -> Iterator[Claim]:
    """The reward peaks at zero misalignment and is symmetric."""
    title = f"Vicsek, {LEARNER_NAMES[which]}"
    weights, degrees = found.weights, system.features.axes[0].shown.values
    zero = int(np.abs(degrees).argmin())
    mean = weights.mean(axis=0)
    rival = int(np.where(np.arange(len(mean)) == zero, -np.inf, mean).argmax())
    value, error = _mean_and_error(weights[:, zero] - weights[:, rival])
    yield Claim(
        f"vicsek-{which}-reward-peak",
        f"{title}: the reward peaks at zero misalignment",
        value > SIGMAS * error,
        value,
        error,
        f"reward at 0° less the highest elsewhere (here at {degrees[rival]:+.0f}°), above zero by "
        f"{SIGMAS:g} standard errors",
    )
    right = [k for k, d in enumerate(degrees) if 0 < d < 180 - 1e-9]
    left = [int(np.abs(degrees + degrees[k]).argmin()) for k in right]
    difference = weights[:, right] - weights[:, left]
    if not np.abs(difference).max() > 1e-12:
        yield Claim(
            f"vicsek-{which}-reward-symmetry",
            f"{title}: the reward is symmetric within its error",
            True,
            0.0,
            math.nan,
            "left and right are the same: this learner counts every experience also mirrored, so "
            "that it says nothing about the paper's method",
        )
        return
    scores = np.array([np.divide(*_mean_and_error(column)) for column in difference.T])
    worst = float(np.abs(scores).max())
    limit = _largest_by_chance(len(right), len(weights) - 1, 0.01)
    yield Claim(
        f"vicsek-{which}-reward-symmetry",
        f"{title}: the reward is symmetric within its error",
        worst < limit,
        worst,
        math.nan,
        f"largest difference of left and right, in standard errors, below {limit:.2f}: the "
        f"largest of {len(right)} that chance exceeds once in a hundred",
    )


def ising_reward_claims(system: Ising, which: str, found: Fits) -> Iterator[Claim]:
    """The reward is high for low energy, negative past the majority, near neutral beyond."""
    title = f"Ising, {LEARNER_NAMES[which]}"
    weights, half = found.weights, system.n_neighbours // 2
    quarter = half // 2
    low = weights[:, : quarter + 1].max(axis=1)
    value, error = _mean_and_error(low - weights[:, quarter + 1 :].max(axis=1))
    yield Claim(
        f"ising-{which}-reward-low-energy",
        f"{title}: the reward is high for low energy",
        value > SIGMAS * error,
        value,
        error,
        f"highest reward at energies 0 to {quarter} less the highest beyond, above zero by "
        f"{SIGMAS:g} standard errors",
    )
    value, error = _mean_and_error(weights[:, half + 1 : half + quarter + 1].mean(axis=1))
    yield Claim(
        f"ising-{which}-reward-past-majority",
        f"{title}: the reward is negative past the majority threshold",
        value < -SIGMAS * error,
        value,
        error,
        f"mean reward at energies {half + 1} to {half + quarter}, below zero by {SIGMAS:g} "
        "standard errors",
    )
    high = weights[:, half + quarter + 1 :].mean(axis=1)
    value, error = _mean_and_error(high / np.abs(weights).max(axis=1))
    yield Claim(
        f"ising-{which}-reward-high-energy",
        f"{title}: the reward is near neutral at high energy",
        abs(value) + SIGMAS * error < CLOSE,
        value,
        error,
        f"mean reward at energies {half + quarter + 1} to {system.n_neighbours} relative to the "
        f"largest weight, within {CLOSE} of zero by {SIGMAS:g} standard errors",
    )


def uncertainty_claims(found: Mapping[float, Uncertainty]) -> Iterator[Claim]:
    """The uncertainty coefficient falls with the distance and grows with the radius."""
    wide, narrow = max(found), min(found)
    for radius in sorted(found, reverse=True):
        one = found[radius]
        falls = [_over_time(one, one, k, k + 1) for k in range(len(one.hops) - 2)]
        known = _known(falls)
        value, error = _least(known)
        together = sum(fall for fall, _ in known)
        holds = value > -SIGMAS * error and together > SIGMAS * _length(known)
        yield Claim(
            f"uncertainty-falls-{radius:g}",
            f"Vicsek expert, radius {radius:g}: the uncertainty coefficient falls with the "
            "topological distance, hop by hop" + (f" up to {len(known) + 1}" if known else ""),
            holds if known else None,
            value,
            error,
            "the smallest fall from one hop to the next, mean over times, is not below zero by "
            f"more than {SIGMAS:g} standard errors, and all together are above zero",
        )
    classes = range(len(found[wide].hops))
    all_rises = [_over_time(found[wide], found[narrow], k, k) for k in classes]
    for name, words, rises in (
        ("near", f"at every distance of 1 to {NEAR} hops", all_rises[:NEAR]),
        ("far", f"at every larger distance, up to {len(all_rises) - 1} hops", all_rises[NEAR:-1]),
        ("unconnected", "for agents that are not connected", all_rises[-1:]),
    ):
        known = _known(rises)
        value, error = _least(known)
        yield Claim(
            f"uncertainty-grows-{name}",
            f"Vicsek expert: the uncertainty coefficient grows with the radius, {words}",
            value > SIGMAS * error if known else None,
            value,
            error,
            f"the smallest rise from radius {narrow:g} to {wide:g}, mean over times, is above zero "
            f"by {SIGMAS:g} standard errors",
        )


def _known(differences: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [one for one in differences if not math.isnan(one[0])]


def _least(differences: list[tuple[float, float]]) -> tuple[float, float]:
    """The difference that is smallest in terms of its error."""
    return min(differences, key=lambda one: one[0] / one[1], default=(math.nan, math.nan))


def _over_time(one: Uncertainty, other: Uncertainty, k: int, m: int) -> tuple[float, float]:
    """Class k of one less class m of the other: the mean over times that both know, its error.

    At the first time headings are independent by construction; times of one run are not, so their
    errors are added, not averaged: that is cautious.
    """
    difference = one.corrected[:, k] - other.corrected[:, m]
    error = np.hypot(one.error[:, k], other.error[:, m])
    known = ~np.isnan(difference) & (one.times > 0)
    if not known.any():
        return math.nan, math.nan
    return float(difference[known].mean()), float(error[known].mean())


def _length(parts: list[tuple[float, float]]) -> float:
    return math.sqrt(sum(error**2 for _, error in parts))


def _mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    count = len(values)
    error = float(values.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return float(values.mean()), error


def _largest_by_chance(count: int, freedom: int, chance: float) -> float:
    """What the largest of so many absolute Student's t exceeds with this chance."""
    from scipy.stats import t

    return float(t.isf((1 - (1 - chance) ** (1 / count)) / 2, freedom))
