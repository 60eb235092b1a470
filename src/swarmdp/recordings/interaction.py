"""Is there an interaction at all? Asked before any reward is learned.

How much better are turns predicted by what is seen of others, beyond the turn before and the wall?
The answer is compared with the same data where every individual is shifted in time by its own
offset: each still moves as it did, in the same arena, but none reacts to another. Where all
circulate the shifted data are predicted a little, too, so that zero is not the yardstick.

Nothing in the test is chosen by the turns of the recording alone: classes have equal sizes, and
where the number of neighbours is not given, the better of two is taken for the recording and for
each of the shifted data.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Product
from swarmdp.recordings.components import COMPONENTS, social_components
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.view import View
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_integer, check_seed
from swarmdp.support.errors import InvalidInput

MOST_SHIFTS = 10_000
_TRIED = (3, 7)  # numbers of neighbours, of which the better one is taken
_LEVEL = 0.05  # share of swarms without an interaction in which one may be found
MATTERS = 0.01  # nats a decision: a gain that a recording should be long enough to show
BOOTSTRAPS = 1000
BLOCK_SECONDS = 1.0  # of a block of time that is drawn as a whole
LAST_TURN = "previous_turn"  # what it tells is not asked of the others
LEAST_BLOCKS = 5  # of time, to know how much the gain varies

Answer = Literal["interaction found", "interaction not found", "too little data"]


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Interaction:
    """The outcome of `Swarm.interaction_test`; gains are in nats a decision.

    Parameters
    ----------
    gain
        What is seen of others gains beyond the turn before and the wall, in nats a decision.
    interval
        95 % of it, by blocks of time and by shifted data.
    shifted
        (shifts,): the same gain with individuals shifted in time.
    p
        How often shifted data gain as much.
    decisions
        The number of decisions.
    blocks
        The number of blocks of time.
    answer
        "interaction found", "interaction not found" or "not decided".

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> decisions = recording.decisions(dt=1)
    >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
    >>> few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=5)
    >>> swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, few, arena=arena)
    >>> found = swarm.interaction_test(seed=1)
    >>> found.p < 0.05
    True

    """

    gain: float
    interval: tuple[float, float]
    shifted: Floats
    p: float
    decisions: int
    blocks: int
    answer: Answer

    @property
    def excess(self) -> float:
        """The gain beyond the mean of shifted data."""
        return self.gain - float(self.shifted.mean())

    @property
    def excess_interval(self) -> tuple[float, float]:
        """95 % of the excess; an interaction is found only if all of it is above zero."""
        mean = float(self.shifted.mean())
        return self.interval[0] - mean, self.interval[1] - mean

    @property
    def needed(self) -> float:
        """How many times as much data would decide it, if the excess stays; 1 if it is decided.

        The interval shrinks with the root of the time. It has to leave out zero, or an excess that
        matters.
        """
        if self.answer != "too little data":
            return 1.0
        from scipy.stats import t as student_t

        half = (self.interval[1] - self.interval[0]) / 2
        one_sided = 1.645 * half / float(student_t.ppf(0.975, len(self.shifted) - 1))
        factors = []
        if self.excess > 0:
            factors.append((half / self.excess) ** 2)
        if self.excess < MATTERS:
            factors.append((one_sided / (MATTERS - self.excess)) ** 2)
        return max(min(factors, default=1.0), LEAST_BLOCKS / max(self.blocks, 1), 1.1)

    def __repr__(self) -> str:
        low, high = self.excess_interval
        return (
            f"{self.answer}: what is seen of others is worth {self.gain:+.4f} nats a decision, "
            f"with individuals shifted in time {self.shifted.mean():+.4f} on average and "
            f"{self.shifted.max():+.4f} at most: {self.excess:+.4f} more [{low:+.4f}, {high:+.4f}] "
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


def interaction(
    view: View,
    decisions: Decisions,
    *,
    shifts: int,
    seed: int,
    any_number: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Interaction:
    """The test; see `Swarm.interaction_test`.

    With `any_number` the number of neighbours in the view was chosen from the same decisions, and
    is chosen again for the test.
    """
    check_integer("shifts", shifts, least=1)
    check_seed(seed)
    if len(view.alone) == len(view.components):
        raise InvalidInput(
            f"the observation has nothing of others ({', '.join(social_components())}), so an "
            "interaction cannot be asked for: give it one of them"
        )
    if 1 / (shifts + 1) > _LEVEL:
        raise InvalidInput(
            f"shifts must be at least {round(1 / _LEVEL) - 1}, for a level of {_LEVEL:.0%}, got "
            f"{shifts}"
        )
    if shifts > MOST_SHIFTS:
        raise InvalidInput(f"shifts must be at most {MOST_SHIFTS}, got {shifts}")
    if LAST_TURN not in view.components:
        classes = COMPONENTS[LAST_TURN].classes(LAST_TURN, decisions.previous, 3, decisions.unit)
        parts = {**view.features.components, LAST_TURN: classes}
        view = replace(view, features=Product(additive=True, **parts))
    views = _views(view, decisions, any_number)
    rng = np.random.default_rng(seed)
    gains = social_gains(views, decisions)
    sums, counts = np.nansum(gains, axis=1), np.isfinite(gains).sum(axis=1)
    total = int(counts.sum())
    if not total:
        raise InvalidInput("no decision is complete, so nothing can be tested: record longer")
    gain = float(sums.sum() / total)
    length = max(2, round(BLOCK_SECONDS / decisions.dt))
    error, blocks = _bootstrap_error(sums, counts, length, rng)
    offsets = _offsets(decisions.times, decisions.individuals, shifts, rng)
    shifted = np.empty(shifts)
    for number, row in enumerate(offsets):
        if progress is not None:
            progress(number, shifts)
        shifted[number] = _mean(social_gains(views, _shift(decisions, row)))
    return conclude(gain, error, shifted, total, blocks)


def conclude(
    gain: float, error: float, shifted: Floats, decisions: int, blocks: int
) -> Interaction:
    """The answer, from a gain with its standard error and the gains of shifted data.

    Parameters
    ----------
    gain, error
        In nats a decision.
    shifted
        (shifts,): the same with individuals shifted in time.
    decisions, blocks
        The number of decisions, and of blocks of time that tell the error.

    """
    from scipy.stats import t as student_t

    shifts = len(shifted)
    p = float((1 + (shifted >= gain).sum()) / (1 + shifts))
    # How much the gain varies is known in two ways, and neither may be too small.
    spread = max(error, float(shifted.std(ddof=1)) * np.sqrt(1 + 1 / shifts))
    width = float(student_t.ppf(0.975, shifts - 1)) * spread
    low, high = gain - width, gain + width
    significant = p <= _LEVEL and low > shifted.mean()
    # Would an interaction that matters have been seen?
    seen = gain - shifted.mean() + 1.645 * spread < MATTERS
    enough = blocks >= LEAST_BLOCKS and (significant or seen)
    answer: Answer = "too little data"
    if enough:
        answer = "interaction found" if significant else "interaction not found"
    return Interaction(gain, (low, high), shifted, p, decisions, blocks, answer)


def social_gains(views: Sequence[View], decisions: Decisions) -> Floats:
    """By how much each turn is predicted better with what is seen of others; NaN where unknown.

    Of several views of the others that which predicts best.
    """
    best: Floats | None = None
    for view in views:
        seen = view.seen(decisions)
        chances = seen.log_chances(view.components)
        if best is None or _mean(chances) > _mean(best):
            best = chances
    assert best is not None
    return best - seen.log_chances(view.alone)


def _views(view: View, decisions: Decisions, any_number: bool) -> list[View]:
    """The view with classes of equal sizes, for each number of neighbours that is tried."""
    numbers = [(view.nearest, view.radius)]
    if any_number:
        others = int(np.median(np.isfinite(decisions.headings).sum(axis=1))) - 1
        numbers = [(k, 0.0) for k in sorted({min(k, max(others, 1)) for k in _TRIED})]
    views = []
    for nearest, radius in numbers:
        other = replace(view, nearest=nearest, radius=radius)
        parts = dict(view.features.components)
        seen = other.of_decisions(decisions)
        for n, (name, part) in enumerate(view.features.components.items()):
            row = COMPONENTS[name]
            if row.movable and row.scale != "sides":
                values = seen[..., n][decisions.known]
                parts[name] = row.classes(name, values, part.size, decisions.unit)
        views.append(replace(other, features=Product(additive=True, **parts)))
    return views


def _mean(gains: Floats) -> float:
    return float(np.nanmean(gains))


def _bootstrap_error(
    sums: Floats, counts: NDArray[np.int64], length: int, rng: np.random.Generator
) -> tuple[float, int]:
    """The standard error of the mean gain, and the number of blocks of time that tell it."""
    starts = np.arange(0, len(sums), length)
    gain, weight = np.add.reduceat(sums, starts), np.add.reduceat(counts, starts)
    gain, weight = gain[weight > 0], weight[weight > 0]
    drawn = rng.integers(len(gain), size=(BOOTSTRAPS, len(gain)))
    means = gain[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
    return float(means.std(ddof=1)), len(gain)


def _offsets(
    times: int, individuals: int, shifts: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """By how much each individual is shifted (shifts, individuals): any time, but all apart.

    Offsets are even places around the circle of time, in random order and all moved a little, so
    that two individuals are as far apart as can be.
    """
    offsets = np.empty((shifts, individuals), np.int64)
    for k in range(shifts):
        even = (rng.permutation(individuals) + rng.random()) / individuals
        offsets[k] = (even * times).astype(np.int64) % times
    return offsets


def _shift(decisions: Decisions, offsets: NDArray[np.int64]) -> Decisions:
    """Every individual moved in time by its own offset, around the end of its recording."""
    numbers = decisions.recording_numbers
    rows = np.empty((decisions.times, decisions.individuals), np.int64)
    for number in np.unique(numbers):
        inside = np.flatnonzero(numbers == number)
        moved = np.arange(len(inside))[:, None] - offsets * len(inside) // decisions.times
        rows[inside] = inside[moved % len(inside)]
    here = np.arange(decisions.individuals)
    # The turn of a time is moved with it; from the last time to the first there is none.
    turns = np.concatenate([decisions.turns, np.full((1, *decisions.turns.shape[1:]), np.nan)])
    return replace(
        decisions,
        positions=decisions.positions[rows, here],
        headings=decisions.headings[rows, here],
        speeds=decisions.speeds[rows, here],
        known=decisions.known[rows, here],
        turns=turns[rows, here][:-1],
    )


def shifted_decisions(decisions: Decisions, count: int, seed: int) -> list[Decisions]:
    """The same decisions with every individual moved in time by its own offset, `count` times.

    Parameters
    ----------
    decisions
        Of at least one individual.
    count
        The number of shifted copies.
    seed
        Same seed, same offsets.

    """
    rng = np.random.default_rng(seed)
    offsets = _offsets(decisions.times, decisions.individuals, count, rng)
    return [_shift(decisions, row) for row in offsets]


def interaction_in_words(test: Interaction) -> str:
    """The outcome of the interaction test, and what it means for the reward."""
    usual = float(test.shifted.mean())
    low, high = (end - usual for end in test.interval)
    gains = (
        f"knowing the others is worth {test.gain:+.3f} nats a decision, {test.gain - usual:+.3f} "
        f"more (95 % interval {low:+.3f} to {high:+.3f}) than when individuals are shifted in time "
        f"({usual:+.3f} on average, {test.shifted.max():+.3f} at most)"
    )
    if test.answer == "interaction found":
        return f"An interaction was found: {gains}; p = {test.p:.2g}."
    if test.answer == "interaction not found":
        return (
            f"Interaction not found, and one that matters would have been seen: {gains}. "
            "What the reward says of others should not be read as a rule."
        )
    return (
        f"Too little data to tell whether individuals react to each other: {gains}. "
        f"What the reward says of others may be chance; about {test.needed:.2g} times as much data "
        "of this kind would tell: longer, or more recordings."
    )
