"""What the paper says of its results, asked of our numbers.

A claim holds, does not hold, or is not decided at this scale: from few experiments, or of a small
difference, one cannot tell. All three follow from the standard error of the figure that decides.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swarmdp.paper.outcome import Band, Fits
from swarmdp.paper.uncertainty import Uncertainty
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import with_error
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek

STANDARD_ERRORS = 2.0  # by which a difference of many experiments must exceed zero to count
ONE_SIDED = 0.5 * math.erfc(STANDARD_ERRORS / math.sqrt(2))  # how often chance exceeds that
NEAR_HOPS = 2  # hops: agents with common neighbours
CLOSE_SHARE = 0.1  # of the way from the expert to random policies, or of a reward's height
UNSEEN = 0.01  # of the expert's lead over random policies: smaller leads cannot be seen
BY = f"by {STANDARD_ERRORS:g} standard errors"
LEARNER_NAMES = {"paper": "the paper's learner", "default": "the default learner"}


@dataclass(frozen=True)
class Claim:
    """One claim with the figure that decides it."""

    name: str
    about: str  # the swarms that it is about: "Vicsek" or "Ising"
    learner: str  # one of LEARNER_NAMES; empty: it is about the expert
    statement: str
    holds: bool | None  # None: not decided, or not measured where there is no value
    value: float  # NaN if there were too few data to measure it
    error: float  # standard error of the value; NaN if there is none
    unit: str  # of the value and its error, or what they are a share of; empty if there is none
    criterion: str  # when it holds, and when it does not

    def __post_init__(self) -> None:
        # Plain numbers, not NumPy's, so that a claim can be written as JSON.
        for name, kind in (("holds", bool), ("value", float), ("error", float)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, kind(getattr(self, name)))

    @property
    def verdict(self) -> str:
        """In words: "holds", "does not hold", "not decided at this scale" or "not measured"."""
        if self.holds is not None:
            return "holds" if self.holds else "does not hold"
        return "not measured" if math.isnan(self.value) else "not decided at this scale"

    @property
    def group(self) -> str:
        """The learner in words; empty if it is about the expert."""
        return LEARNER_NAMES.get(self.learner, "")

    @property
    def measured(self) -> str:
        """The value with its error and unit, in words; empty if there is none."""
        if math.isnan(self.value):
            return ""
        return f"{with_error(self.value, self.error)} {self.unit}".rstrip()

    @property
    def sentence(self) -> str:
        """The statement with what it is about."""
        return f"{self.about}, {self.group or 'expert'}: {self.statement}"


def swarm_claims(system: str, which: str, bands: Mapping[str, Band]) -> Iterator[Claim]:
    """Who comes near the expert, and who beats whom, in order parameter or energy."""
    sign = 1.0 if system == "vicsek" else -1.0  # energy: less is better
    what = "order parameter" if system == "vicsek" else "energy"
    about, unit = (
        system.capitalize(),
        "in ω" if system == "vicsek" else "unlike pairs",
    )
    last = len(bands["expert"].mean) - 1
    phases = {
        "transient": slice(1, max(2, 3 * last // 10)),
        "stationary": slice(last // 2, last + 1),
    }

    def margin(times: slice, one: str, other: str) -> tuple[float, float]:
        """The standard error of a difference, and by how much it must exceed a limit."""
        errors = [bands[name].over(times)[1] for name in (one, other)]
        counts = [len(bands[name].curves) for name in (one, other)]
        return math.hypot(*errors), _margin(errors, counts)

    for phase, times in phases.items():
        gap = bands["expert"].mean[times] - bands["swarm"].mean[times]
        scale = np.abs(bands["expert"].mean[times] - bands["random"].mean[times]).mean()
        value = float(np.abs(gap).mean() / scale)
        error, needed = margin(times, "expert", "swarm")
        yield Claim(
            f"{system}-{which}-close-{phase}",
            about,
            which,
            f"nearer to the expert than {CLOSE_SHARE:.0%} of its lead over random policies, "
            f"{phase} (t = {times.start} to {times.stop - 1})",
            _above(CLOSE_SHARE - value, needed / scale),
            value,
            float(error / scale),
            "of that lead",
            f"mean gap in {what}, as a share of the expert's lead over random policies, "
            f"below {CLOSE_SHARE} {BY}; it does not hold if it is above {BY}",
        )
    everything = slice(1, last + 1)

    def lead(better: str, worse: str) -> float:
        one, other = (bands[name].over(everything)[0] for name in (better, worse))
        return sign * (one - other)

    unseen = UNSEEN * abs(lead("expert", "random"))
    for better, worse, words in (
        ("swarm", "single", "the whole-swarm estimate beats the single-agent estimate"),
        ("swarm", "hand", "the learned reward beats the hand-crafted one"),
        ("swarm", "random", "the learned policies beat random ones"),
        ("single", "random", "the single-agent estimate beats random policies"),
        ("hand", "random", "the hand-crafted reward beats random policies"),
    ):
        value, (error, needed) = lead(better, worse), margin(everything, better, worse)
        yield Claim(
            f"{system}-{which}-{better}-beats-{worse}",
            about,
            which,
            words,
            _above(value, needed, unseen),
            value,
            error,
            unit,
            f"lead in {what}, mean over all times, above zero {BY}; it does not hold if the lead "
            f"is below {UNSEEN:.0%} of the expert's over random policies {BY}",
        )


def vicsek_reward_claims(system: Vicsek, which: str, fits: Fits) -> Iterator[Claim]:
    """The reward peaks at zero misalignment and is symmetric."""
    weights, degrees = fits.weights, system.features.axes[0].shown.values
    zero = int(np.abs(degrees).argmin())
    mean = weights.mean(axis=0)
    rival = int(np.where(np.arange(len(mean)) == zero, -np.inf, mean).argmax())
    value, error = _mean_and_error(weights[:, zero] - weights[:, rival])
    freedom = len(weights) - 1
    chosen = error * _quantile(ONE_SIDED / (len(mean) - 1), freedom)  # the rival was
    holds = _above(value, error * _quantile(ONE_SIDED, freedom))
    yield Claim(
        f"vicsek-{which}-reward-peak",
        "Vicsek",
        which,
        "the reward peaks at zero misalignment",
        holds or (False if value + chosen < 0 else None),
        value,
        error,
        "",
        f"reward at 0° less the highest elsewhere (here at {degrees[rival]:+.0f}°), above zero "
        f"{BY}; it does not hold if it is below zero by more than chance explains, given that "
        "the highest was chosen",
    )
    right = [k for k, d in enumerate(degrees) if 0 < d < 180 - 1e-9]
    left = [int(np.abs(degrees + degrees[k]).argmin()) for k in right]
    difference = weights[:, right] - weights[:, left]
    if not np.abs(difference).max() > 1e-12:
        yield Claim(
            f"vicsek-{which}-reward-symmetry",
            "Vicsek",
            which,
            "the reward is symmetric within its error",
            True,
            0.0,
            math.nan,
            "standard errors",
            "left and right are the same: this learner counts every experience also mirrored, so "
            "that it says nothing about the paper's method",
        )
        return
    means, errors = np.array([_mean_and_error(column) for column in difference.T]).T
    worst = float(np.abs(means / errors).max())
    limit = _largest_by_chance(len(right), freedom, 0.01)
    height = float(mean.max() - mean.min())
    largest = np.abs(means) + errors * _quantile(ONE_SIDED, freedom)
    yield Claim(
        f"vicsek-{which}-reward-symmetry",
        "Vicsek",
        which,
        "the reward is symmetric within its error",
        False if worst >= limit else _above(CLOSE_SHARE * height, float(largest.max())),
        worst,
        math.nan,
        "standard errors",
        f"largest difference of left and right, in standard errors, below {limit:.2f}: the "
        f"largest of {len(right)} that chance exceeds once in a hundred; not decided if one may "
        f"be above {CLOSE_SHARE:.0%} of the reward's height and be missed",
    )


def ising_reward_claims(system: Ising, which: str, fits: Fits) -> Iterator[Claim]:
    """The reward is high for low energy, negative past the majority, near neutral beyond."""
    weights, half = fits.weights, system.n_neighbours // 2
    quarter = half // 2
    low = weights[:, : quarter + 1].max(axis=1)
    value, error = _mean_and_error(low - weights[:, quarter + 1 :].max(axis=1))
    yield Claim(
        f"ising-{which}-reward-low-energy",
        "Ising",
        which,
        "the reward is high for low energy",
        _above(value, _margin([error], [len(weights)])),
        value,
        error,
        "",
        f"highest reward at energies 0 to {quarter} less the highest beyond, above zero {BY}; it "
        f"does not hold if it is below zero {BY}",
    )
    value, error = _mean_and_error(weights[:, half + 1 : half + quarter + 1].mean(axis=1))
    yield Claim(
        f"ising-{which}-reward-past-majority",
        "Ising",
        which,
        "the reward is negative past the majority threshold",
        _above(-value, _margin([error], [len(weights)])),
        value,
        error,
        "",
        f"mean reward at energies {half + 1} to {half + quarter}, below zero {BY}; it does not "
        f"hold if it is above zero {BY}",
    )
    high = weights[:, half + quarter + 1 :].mean(axis=1)
    value, error = _mean_and_error(high / np.abs(weights).max(axis=1))
    yield Claim(
        f"ising-{which}-reward-high-energy",
        "Ising",
        which,
        "the reward is near neutral at high energy",
        _above(CLOSE_SHARE - abs(value), _margin([error], [len(weights)])),
        value,
        error,
        "of the largest weight",
        f"mean reward at energies {half + quarter + 1} to {system.n_neighbours} relative to the "
        f"largest weight, within {CLOSE_SHARE} of zero {BY}; it does not hold if it is beyond {BY}",
    )


def uncertainty_claims(by_radius: Mapping[float, Uncertainty]) -> Iterator[Claim]:
    """The uncertainty coefficient falls with the distance and grows with the radius."""
    wide, narrow = max(by_radius), min(by_radius)
    for radius in sorted(by_radius, reverse=True):
        one = by_radius[radius]
        falls = [_over_time(one, one, k, k + 1) for k in range(len(one.hops) - 2)]
        measured = _measured_only(falls)
        value, error = _least(measured)
        together = _above(sum(fall for fall, _ in measured), STANDARD_ERRORS * _length(measured))
        if value < -_of_several(len(measured)) * error:
            together = False
        elif value < -STANDARD_ERRORS * error:
            together = None
        yield Claim(
            f"uncertainty-falls-{radius:g}",
            "Vicsek",
            "",
            f"radius {radius:g}: the uncertainty coefficient falls with the topological distance, "
            "hop by hop" + (f" up to {len(measured) + 1}" if measured else ""),
            together if measured else None,
            value,
            error,
            "(the smallest fall)",
            "the smallest fall from one hop to the next, mean over times, is not below zero "
            f"{BY}, and all together are above zero {BY}; it does not hold if the smallest, or all "
            "together, are below zero by more than chance explains",
        )
    classes = range(len(by_radius[wide].hops))
    all_rises = [_over_time(by_radius[wide], by_radius[narrow], k, k) for k in classes]
    for name, words, rises in (
        ("near", f"at every distance of 1 to {NEAR_HOPS} hops", all_rises[:NEAR_HOPS]),
        (
            "far",
            f"at every larger distance, up to {len(all_rises) - 1} hops",
            all_rises[NEAR_HOPS:-1],
        ),
        ("unconnected", "for agents that are not connected", all_rises[-1:]),
    ):
        measured = _measured_only(rises)
        value, error = _least(measured)
        falls_instead = value < -_of_several(len(measured)) * error
        yield Claim(
            f"uncertainty-grows-{name}",
            "Vicsek",
            "",
            f"the uncertainty coefficient grows with the radius, {words}",
            False if falls_instead else value > STANDARD_ERRORS * error or None,
            value,
            error,
            "(the smallest rise)",
            f"the smallest rise from radius {narrow:g} to {wide:g}, mean over times, is above zero "
            f"{BY}; it does not hold if it is below zero by more than chance explains",
        )


def _measured_only(differences: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [one for one in differences if not math.isnan(one[0])]


def _least(differences: list[tuple[float, float]]) -> tuple[float, float]:
    """The difference that is smallest in terms of its error."""
    return min(differences, key=lambda one: one[0] / one[1], default=(math.nan, math.nan))


def _over_time(one: Uncertainty, other: Uncertainty, k: int, m: int) -> tuple[float, float]:
    """Class k of one less class m of the other: mean over times that both have, and its error.

    At the first time headings are independent by construction; times of one run are not, so their
    errors are added, not averaged: that is cautious.
    """
    difference = one.corrected[:, k] - other.corrected[:, m]
    error = np.hypot(one.error[:, k], other.error[:, m])
    both = ~np.isnan(difference) & (one.times > 0)
    if not both.any():
        return math.nan, math.nan
    return float(difference[both].mean()), float(error[both].mean())


def _length(parts: list[tuple[float, float]]) -> float:
    return math.sqrt(sum(error**2 for _, error in parts))


def _mean_and_error(values: Floats) -> tuple[float, float]:
    count = len(values)
    error = float(values.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
    return float(values.mean()), error


def _above(value: float, margin: float, negligible: float = 0.0) -> bool | None:
    """Whether a value is above zero by a margin; False if it is at most negligible by a margin.

    None where neither can be said.
    """
    if value > margin:
        return True
    return False if value + margin < negligible else None


def _margin(errors: Sequence[float], counts: Sequence[int]) -> float:
    """By how much a difference of means must exceed zero to be no chance.

    Two standard errors where there are many experiments; where there are few, as many as Student's
    t asks for, with the degrees of freedom of Welch and Satterthwaite.
    """
    squares = np.square(errors)
    freedom = (squares**2 / np.maximum(np.array(counts) - 1, 1)).sum()
    if not freedom > 0:  # without any spread
        return float(math.sqrt(squares.sum()))
    return math.sqrt(squares.sum()) * _quantile(ONE_SIDED, float(squares.sum() ** 2 / freedom))


def _of_several(count: int) -> float:
    """The standard errors that the largest of several independent differences exceeds by chance."""
    return _quantile(ONE_SIDED / max(1, count), math.inf)


def _quantile(chance: float, freedom: float) -> float:
    """What Student's t exceeds with this chance."""
    from scipy.stats import norm, t

    return float(norm.isf(chance) if math.isinf(freedom) else t.isf(chance, freedom))


def _largest_by_chance(count: int, freedom: int, chance: float) -> float:
    """What the largest of several absolute Student's t exceeds with this chance."""
    from scipy.stats import t

    return float(t.isf((1 - (1 - chance) ** (1 / count)) / 2, freedom))
