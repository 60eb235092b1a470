"""Is there an interaction at all? Asked before any reward is learned.

How much better are turns predicted by what is seen of others, beyond the turn before and the wall?
The answer is compared with the same data where every individual is shifted in time by its own
offset: each still moves as it did, in the same arena, but nobody reacts to anybody. Where all
circulate the shifted data are predicted a little, too, so that zero is not the yardstick.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import markup
from swarmdp.arguments import checked
from swarmdp.checks import check_integer, check_seed
from swarmdp.errors import InvalidInput
from swarmdp.features import Bins, Product
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.observation import View
from swarmdp.recordings.turns import symmetric_edges

Floats = NDArray[np.float64]

MOST_SHIFTS = 10_000
LEVEL = 0.05  # share of swarms without an interaction in which one may be found
MATTERS = 0.01  # nats a decision: a gain that a recording should be long enough to show
BOOTSTRAPS = 1000
BLOCK_SECONDS = 1.0  # of a block of time that is drawn as a whole
LEAST_BLOCKS = 5  # of time, to know how much the gain varies
SHORTEST_SHIFT = 0.1  # share of the time by which two individuals are at least shifted

Answer = Literal["interaction found", "interaction not found", "too little data"]


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Interaction:
    """The outcome of `Swarm.interaction_test`; gains are in nats a decision."""

    gain: float  # of what is seen of others, beyond the turn before and the wall
    interval: tuple[float, float]  # 95 % of it, by a bootstrap over blocks of time
    shifted: Floats  # the same gain with individuals shifted in time (shifts,)
    p: float  # how often shifted data gain as much
    decisions: int
    blocks: int  # of time
    answer: Answer

    @property
    def excess(self) -> float:
        """The gain beyond the mean of shifted data."""
        return self.gain - float(self.shifted.mean())

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"{self.answer}: what is seen of others is worth {self.gain:+.4f} nats a decision "
            f"[{low:+.4f}, {high:+.4f}]; with individuals shifted in time "
            f"{self.shifted.mean():+.4f} on average, {self.shifted.max():+.4f} at most "
            f"(p = {self.p:.3g}, {self.decisions} decisions, {len(self.shifted)} shifts)"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("gain", f"{self.gain:+.4f}"),
            ("95 % interval", f"{self.interval[0]:+.4f} to {self.interval[1]:+.4f}"),
            ("shifted in time, mean", f"{self.shifted.mean():+.4f}"),
            ("shifted in time, largest", f"{self.shifted.max():+.4f}"),
            ("p", f"{self.p:.3g}"),
            ("decisions", str(self.decisions)),
        ]
        return markup.card(self.answer, markup.table(("nats a decision", "value"), rows))


def interaction(view: View, decisions: Decisions, *, shifts: int, seed: int) -> Interaction:
    """The test; see `Swarm.interaction_test`."""
    check_integer("shifts", shifts, least=1)
    check_seed(seed)
    if not view.social:
        raise InvalidInput(
            "the observation has nothing of others (misalignment, bearing, spacing), so an "
            "interaction cannot be asked for: give it one of them"
        )
    if 1 / (shifts + 1) > LEVEL:
        raise InvalidInput(
            f"shifts must be at least {round(1 / LEVEL) - 1}, for a level of {LEVEL:.0%}, got "
            f"{shifts}"
        )
    if shifts > MOST_SHIFTS:
        raise InvalidInput(f"shifts must be at most {MOST_SHIFTS}, got {shifts}")
    if "previous_turn" not in view.components:
        edges = [-np.inf, *symmetric_edges(decisions.previous, 3), np.inf]
        parts = {**view.features.components, "previous_turn": Bins(edges, "previous_turn", "rad")}
        view = replace(view, features=Product(additive=True, **parts))
    rng = np.random.default_rng(seed)
    gains = social_gains(view, decisions)
    sums, counts = np.nansum(gains, axis=1), np.isfinite(gains).sum(axis=1)
    total = int(counts.sum())
    if not total:
        raise InvalidInput("no decision is complete, so nothing can be tested: record longer")
    gain = float(sums.sum() / total)
    length = max(2, round(BLOCK_SECONDS / decisions.dt))
    low, high, error, blocks = _bootstrapped(sums, counts, length, rng)
    offsets = _offsets(decisions.times, decisions.individuals, shifts, rng)
    shifted = np.array([_mean(social_gains(view, _shifted(decisions, each))) for each in offsets])
    p = float((1 + (shifted >= gain).sum()) / (1 + shifts))
    found = p <= LEVEL and low > shifted.mean()
    # Would an interaction that matters have been seen?
    spread = float(np.hypot(error, shifted.std(ddof=1)))
    seen = gain - shifted.mean() + 1.645 * spread < MATTERS
    enough = blocks >= LEAST_BLOCKS and (found or seen)
    answer: Answer = "too little data"
    if enough:
        answer = "interaction found" if found else "interaction not found"
    return Interaction(gain, (low, high), shifted, p, total, blocks, answer)


def social_gains(view: View, decisions: Decisions) -> Floats:
    """By how much each turn is predicted better with what is seen of others; NaN where unknown."""
    seen = view.seen(decisions)
    return seen.log_chances(view.components) - seen.log_chances(view.alone)


def _mean(gains: Floats) -> float:
    return float(np.nanmean(gains))


def _bootstrapped(
    sums: Floats, counts: NDArray[np.int64], length: int, rng: np.random.Generator
) -> tuple[float, float, float, int]:
    """The 95 % interval and the standard error of the mean gain, by blocks of time."""
    starts = np.arange(0, len(sums), length)
    gain, weight = np.add.reduceat(sums, starts), np.add.reduceat(counts, starts)
    gain, weight = gain[weight > 0], weight[weight > 0]
    drawn = rng.integers(len(gain), size=(BOOTSTRAPS, len(gain)))
    means = gain[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high), float(means.std(ddof=1)), len(gain)


def _offsets(
    times: int, individuals: int, shifts: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """By how much each individual is shifted (shifts, individuals): any time, but all apart.

    Offsets are even places around the circle of time, in random order and all moved a little, so
    that two individuals are as far apart as can be.
    """
    found = np.empty((shifts, individuals), np.int64)
    for k in range(shifts):
        even = (rng.permutation(individuals) + rng.random()) / individuals
        found[k] = (even * times).astype(np.int64) % times
    return found


def _shifted(decisions: Decisions, offsets: NDArray[np.int64]) -> Decisions:
    """Every individual moved in time by its own offset, around the end."""
    times = decisions.times
    rows = (np.arange(times)[:, None] - offsets) % times
    here = np.arange(decisions.individuals)
    # The turn of a time is moved with it; from the last time to the first there is none.
    turns = np.concatenate([decisions.turns, np.full((1, decisions.individuals), np.nan)])
    return replace(
        decisions,
        positions=decisions.positions[rows, here],
        headings=decisions.headings[rows, here],
        speeds=decisions.speeds[rows, here],
        known=decisions.known[rows, here],
        turns=turns[rows, here][:-1],
    )


def shifted_decisions(decisions: Decisions, count: int, seed: int) -> list[Decisions]:
    """The same decisions with every individual moved in time by its own offset, so many times.

    Parameters
    ----------
    decisions
        Of at least one individual.
    count
        How many.
    seed
        Same seed, same offsets.

    """
    rng = np.random.default_rng(seed)
    offsets = _offsets(decisions.times, decisions.individuals, count, rng)
    return [_shifted(decisions, each) for each in offsets]
