"""The zonal controller whose swarm is most like the recorded one, found by policy search.

Candidates are simulated side by side from recorded frames, with common random numbers, and compared
with the recording in what individuals see (distances, misalignment and bearing of neighbours, the
wall) and in what the group does (the swarm's measures). CMA-ES looks for the nearest, beginning
with the rule that regression found. How many numbers are free, from no reaction to others to all
components and reaches, and how strongly they are held to the rule, is decided inside the training
part: candidates are searched on every second block of time and compared on the blocks between. So
is whether the rule is the better beginning, or the zone model that was fitted to the group. The
last search begins with the best of these, and its finalists are compared in longer runs with other
random numbers.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp import kernels
from swarmdp.learning.families import Adaptation
from swarmdp.recordings.components import surroundings
from swarmdp.recordings.controller_families import (
    NOISE,
    Family,
    families_of,
    family_of_group,
)
from swarmdp.recordings.responses import with_responses
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.speed_rule import SpeedRule
from swarmdp.recordings.whole_steps import calibrated_model
from swarmdp.recordings.zonal import ZonalController, common_scores, cues_at
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.progress import Tell
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

STEPS, EVERY = 120, 4  # of a candidate; every so many steps it is compared
AGENT_STEPS = 28_800  # of a candidate: small groups have more runs, between these numbers
LEAST_RUNS, MOST_RUNS = 8, 40
SETTLING = 24  # steps that are not compared
LONGER = 4  # times as many steps, where finalists and families are compared
CANDIDATES = 12  # of a generation
TRYING, FINDING = 14, 24  # generations, while families are compared and at the end
FINALISTS = 8  # candidates that are compared in longer runs
BLOCKS = 6  # of the training part, every second one of which is left out
NEIGHBOURS = 7  # nearest ones, in what individuals see
POINTS = 128  # of distributions at which they are compared
QUANTILES = 20
_EQUAL = 0.9  # a larger family must be better by this factor
# How strongly numbers are held to the rule, and the noise, which single turns tell best, times as
# much; the weight is that times the square of what the recording itself differs by.
STRENGTHS = ((400.0, 10.0), (100.0, 10.0), (25.0, 10.0), (25.0, 1.0), (5.0, 10.0), (0.0, 0.0))
SEARCHED = 2  # the strength with which families are searched: candidates of all kinds are drawn
ELITE = 10  # best candidates, whose mean is a finalist, too


@dataclass(frozen=True)
class TriedFamily:
    """A family that was tried: which numbers were free, and how far its best swarm was."""

    family: str
    numbers: int
    distance: float  # to blocks of time that were left out, mean energy distance


@dataclass(frozen=True)
class FoundController:
    """The controller that was found, and how.

    Parameters
    ----------
    controller
        Its numbers.
    family
        Which of its numbers were free.
    tried
        All families, with the energy distance of their best controllers to blocks of time inside
        the training part that they were not searched on.
    distance
        The mean energy distance to the training part.
    reflected
        The share of steps in which a wall reflected an agent.
    candidates
        The number of controllers that were simulated.

    """

    controller: ZonalController
    family: str
    tried: tuple[TriedFamily, ...]
    distance: float
    reflected: float
    candidates: int

    def words(self, unit: str) -> str:
        """The controller, how near it is and how it was chosen, in one sentence."""
        return (
            f"{self.controller.words(unit)} ({self.family}; energy distance to the training part "
            f"{self.distance:.2f}, {self.candidates} candidates; a wall reflects in "
            f"{self.reflected:.1%} of the steps)"
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        plain = vars(self) | {"controller": self.controller.to_plain()}
        return plain | {"tried": [vars(family) for family in self.tried]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "FoundController":
        """What `to_plain` wrote."""
        return cls(
            **dict(plain)
            | {
                "controller": ZonalController.from_plain(plain["controller"]),
                "tried": tuple(TriedFamily(**family) for family in plain["tried"]),
            }
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """Simulated swarms beside some recorded frames, with random numbers of their own."""

    swarm: "Swarm"
    chosen: Bools  # (frames,): with which swarms are compared and from which they start
    seed: int
    together: float  # correlation of the speeds of individuals, which all candidates have
    longer: int = 1  # times as many steps

    @cached_property
    def _steps(self) -> int:
        most = len(self.chosen) - 1
        if self.swarm.outsiders is not None:  # they are played back from one stretch of time
            most = int(self._left.max())
        return int(min(self.longer * STEPS, max(4 * EVERY, most)))

    @cached_property
    def _left(self) -> Ints:
        """The number of times after each frame (frames,) in the same stretch of the recording."""
        decisions = self.swarm.decisions
        assert decisions is not None
        assert decisions.clock is not None
        ends = np.flatnonzero(np.diff(decisions.bouts, append=-1))
        frames = np.searchsorted(decisions.clock, self.swarm.frames["clock"][:, 0])
        return np.asarray(ends[np.searchsorted(ends, frames)] - frames)

    @cached_property
    def _runs(self) -> int:
        affordable = AGENT_STEPS * self.longer // (self._steps * self.swarm.n_agents)
        return int(np.clip(affordable, LEAST_RUNS, MOST_RUNS))

    @cached_property
    def _chosen_starts(self) -> Ints:
        """The frames from which runs start (runs,)."""
        rng = np.random.default_rng(self.seed)
        frames = np.flatnonzero(self.chosen)
        if self.swarm.outsiders is not None:
            enough = frames[self._left[frames] >= min(self._steps, self._left[frames].max())]
            frames = enough if len(enough) else frames
        # Evenly over the time, so that every phase of the group is a start.
        places = (np.arange(self._runs) + rng.random(self._runs)) / self._runs
        return np.asarray(frames[(places * len(frames)).astype(int)])

    @cached_property
    def _starts(self) -> kernels.recorded.ZonalStarts:
        rng = np.random.default_rng(self.seed)
        rng.random(self._runs)  # drawn for the starts
        starts = self._chosen_starts
        state = {name: array[starts] for name, array in self.swarm.frames.items()}
        shape = (self._steps, self._runs, self.swarm.n_agents)
        return kernels.recorded.ZonalStarts(
            x=np.ascontiguousarray(state["position"][..., 0]),
            y=np.ascontiguousarray(state["position"][..., 1]),
            heading=state["heading"],
            turn=state["turn"],
            pace=state["pace"],
            scores=rng.standard_normal(shape),
            fresh=common_scores(
                self.together, rng.standard_normal(shape[:2]), rng.standard_normal(shape)
            ),
        )

    @cached_property
    def _cues(self) -> "kernels.recorded.ZonalCues | None":
        """Where outsiders are in each step of each run."""
        if self.swarm.outsiders is None:
            return None
        clock = self.swarm.frames["clock"][self._chosen_starts, 0]
        return cues_at(self.swarm.outsiders, np.arange(self._steps)[:, None] + clock)

    @cached_property
    def recorded(self) -> tuple[dict[str, Floats], list[Floats]]:
        """The measures of the recorded frames, and quantiles of what individuals saw."""
        places, headings = (
            self.swarm.frames[name][self.chosen] for name in ("position", "heading")
        )
        clock = None
        if self.swarm.outsiders is not None:
            clock = self.swarm.frames["clock"][self.chosen, 0]
        measures, sights = _looks(self.swarm, places, headings, clock)
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        return measures, [np.quantile(values, shares) for values in sights]

    @property
    def _kept(self) -> tuple[int, int]:
        """The first step after which a frame is kept, and every so many after it."""
        return min(SETTLING, self._steps // 4), EVERY * self.longer

    def frames(self, controllers: Sequence[ZonalController]) -> tuple[Floats, Floats, Floats]:
        """Places (K, runs, frames, agents, 2), headings, and shares of reflections (K,)."""
        kinds = () if self.swarm.outsiders is None else self.swarm.outsiders.names
        return kernels.recorded.zonal_frames(
            self._starts,
            np.stack([one.row_for(kinds) for one in controllers]),
            np.array([one.noise for one in controllers]),
            calibrated_model(self.swarm),
            *self._kept,
            cues=self._cues,
        )

    def simulate(
        self, controllers: Sequence[ZonalController]
    ) -> tuple[dict[str, Floats], list[Floats], Floats]:
        """Measures (K, values) and sights (K, values) of swarms, and shares of reflections (K,)."""
        count = len(controllers)
        places, headings, reflected = self.frames(controllers)
        agents = self.swarm.n_agents
        clock = None
        if self.swarm.outsiders is not None:
            first, every = self._kept
            begin = self.swarm.frames["clock"][self._chosen_starts, :1]
            times = begin + np.arange(first + 1, self._steps + 1, every)
            clock = np.tile(times.ravel(), count)
        measures, sights = _looks(
            self.swarm, places.reshape(-1, agents, 2), headings.reshape(-1, agents), clock
        )
        of_each = {name: values.reshape(count, -1) for name, values in measures.items()}
        return of_each, [values.reshape(count, -1) for values in sights], reflected

    def distances(self, controllers: Sequence[ZonalController]) -> tuple[Floats, Floats, Floats]:
        """Energy distance of groups, distance of sights, and share of reflections, (K,) each."""
        measures, sights, reflected = self.simulate(controllers)
        recorded, quantiles = self.recorded
        group = np.mean(
            [energy_distances(values, recorded[name]) for name, values in measures.items()], axis=0
        )
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        apart = []
        for values, places in zip(sights, quantiles, strict=True):
            # Into how many of the recorded parts values fall, in one pass for all of them.
            part = np.searchsorted(places, values) + np.arange(len(values))[:, None] * (
                QUANTILES + 1
            )
            counts = np.bincount(part.ravel(), minlength=len(values) * (QUANTILES + 1))
            inside = counts.reshape(len(values), -1)[:, :-1]
            below = np.cumsum(inside, axis=1) / values.shape[1]
            apart.append(2 * ((below - shares) ** 2).mean(axis=1))
        return np.asarray(group), np.asarray(np.mean(apart, axis=0)), reflected

    def losses(self, controllers: Sequence[ZonalController]) -> Floats:
        """What is searched for the least of (K,): group and sights together."""
        group, sights, _ = self.distances(controllers)
        return group + sights

    def own_distance(self, other: Bools) -> float:
        """How far the recorded group is from itself at other times: what data leave open."""
        recorded, _ = self.recorded
        others, _ = Trial(self.swarm, other, self.seed, self.together).recorded
        apart = [energy_distances(others[name][None], values) for name, values in recorded.items()]
        return float(np.mean(apart))


def _looks(
    swarm: "Swarm", places: Floats, headings: Floats, clock: Floats | None
) -> tuple[dict[str, Floats], list[Floats]]:
    """The measures of frames (frames,), and what individuals see (frames, agents), in sizes.

    Misalignment, bearing, distance of the nearest and, where there is one, of the wall; distances
    to fixed places, and how far individuals move away from outsiders that go with the group, at
    the times `clock` (frames,).
    """
    seen = surroundings(places, headings, NEIGHBOURS, 0.0, swarm.arena)
    sights = [np.abs(seen[..., 0]), np.abs(seen[..., 1]), seen[..., 2]]
    if np.isfinite(seen[..., 3]).all():
        sights.append(seen[..., 3])
    if swarm.outsiders is not None and clock is not None:
        others = swarm.outsiders
        sights += [others.distances(kind, places, clock) for kind in others.fixed]
        sights += [others.headed_away(kind, places, headings, clock) for kind in others.followers]
    return swarm.measure_frames(places, headings, seen, clock=clock), sights


def energy_distances(values: Floats, recorded: Floats) -> Floats:
    """The energy distance of each row of values (K, n) to recorded ones (m,).

    In standard deviations of both together: twice the integral of the squared difference of the
    distribution functions.
    """
    low, high = float(recorded.min()), float(recorded.max())
    span = max(high - low, 1e-12)
    grid = np.linspace(low - span, high + span, POINTS)
    one = np.sort(np.clip(values, grid[0], grid[-1]), axis=1)
    below = np.stack([np.searchsorted(row, grid, side="right") for row in one]) / one.shape[1]
    other = np.searchsorted(np.sort(recorded), grid, side="right") / len(recorded)
    step = grid[1] - grid[0]
    spread = np.array([np.concatenate([row, recorded]).std() for row in one])
    squares: Floats = 2 * ((below - other) ** 2).sum(axis=1) * step / np.maximum(spread, 1e-12)
    return squares


@one_blas_thread()
def find_controller(
    swarm: "Swarm",
    rule: Rule | None,
    *,
    seed: int,
    speed_rule: SpeedRule | None = None,
    progress: Tell | None = None,
) -> FoundController:
    """The zonal controller whose swarm is nearest to the recording from which the swarm was made.

    Parameters
    ----------
    swarm
        Of `Swarm.from_recording`, with the frames of the training part.
    rule
        That regression found in the same part; None if there is too little data for one.
    seed
        Same seed, same controller.
    speed_rule
        How speeds react, found in the same part; taken over unless the group is nearer without.
    progress
        Called before each family is searched, with how many were and how many there are; the one
        that is taken is searched again, at length.

    """
    frames = len(swarm.frames["heading"])
    block = np.arange(frames) * BLOCKS // frames
    parts = [block % 2 == 0, block % 2 == 1]
    families = families_of(swarm, rule)
    together = families[0].start.together
    own = Trial(swarm, parts[0], seed, together).own_distance(parts[1]) ** 2
    priors = [Prior(own * strength, noise) for strength, noise in STRENGTHS]
    of_group = family_of_group(swarm, rule)
    chains = [families] if of_group is None else [families, [of_group]]
    begun = itertools.count()
    tell = partial(_tell_next, progress, begun, 1 + sum(map(len, chains)))
    compared = [compare_families(swarm, chain, parts, priors, seed, tell) for chain in chains]
    best = min(compared, key=lambda one: one.distance)
    family, prior = best.family, best.prior
    tell()
    every = np.ones(frames, dtype=bool)
    search = Search(family, Trial(swarm, every, seed, together), prior)
    starts = np.stack([family.numbers(one) for one in best.winners])
    drawn = search.run(starts[search.losses(starts).argmin()], FINDING, seed)
    last = [*drawn.best(prior)[:FINALISTS], *best.winners]
    longer = Search(family, Trial(swarm, every, seed + 4, together, LONGER), prior)
    losses = longer.losses(np.stack([family.numbers(one) for one in last]))
    best_one = last[int(losses.argmin())]
    # What is compared here knows no speeds, so it cannot ask for their reactions. They are taken
    # over unless the group comes nearer without them by more than the recording itself differs.
    both = [with_responses(best_one, swarm, speed_rule), best_one]
    if both[0].responses:
        trials = [Trial(swarm, every, seed + 4, one.together, LONGER) for one in both]
        apart_by_speed = [trial.losses([one])[0] for trial, one in zip(trials, both, strict=True)]
        best_one = both[int(apart_by_speed[0] > apart_by_speed[1] + math.sqrt(own))]
    last_trial = Trial(swarm, every, seed + 5, best_one.together, LONGER)
    group, _, reflected = last_trial.distances([best_one])
    tried = tuple(one for comparison in compared for one in comparison.tried)
    searches = len(tried) * len(parts)
    count = searches * (TRYING * CANDIDATES + len(priors)) + FINDING * CANDIDATES
    return FoundController(
        best_one,
        family.name,
        tried,
        float(group[0]),
        float(reflected[0]),
        count + len(starts) + len(last),
    )


def _tell_next(progress: Tell | None, begun: Iterator[int], total: int) -> None:
    """Say that the next of all searches begins."""
    if progress is not None:
        progress(next(begun), total)


@dataclass(frozen=True)
class Comparison:
    """The family and the prior that did best on blocks of time they were not searched on."""

    family: Family
    prior: "Prior"
    winners: tuple[ZonalController, ...]  # of the search on each part of the blocks
    distance: float  # mean energy distance
    tried: tuple[TriedFamily, ...]


def compare_families(
    swarm: "Swarm",
    families: Sequence[Family],
    parts: Sequence[Bools],
    priors: Sequence["Prior"],
    seed: int,
    tell: Callable[[], None],
) -> Comparison:
    """Search families, the simpler ones first, on parts of the frames, and compare on the rest."""
    apart = np.empty((len(families), len(priors), len(parts)))
    winners: list[list[tuple[ZonalController, ...]]] = []  # of each family and prior
    together = families[0].start.together
    for k, family in enumerate(families):
        tell()
        best = []
        for n, part in enumerate(parts):
            search = Search(family, Trial(swarm, part, seed + n, together), priors[SEARCHED])
            drawn = search.run(family.numbers(family.start), TRYING, seed)
            best.append([drawn.best(prior)[0] for prior in priors])
            other = Trial(swarm, ~part, seed + 2 + n, together, LONGER)
            apart[k, :, n] = other.distances(best[-1])[0]
        winners.append(list(zip(*best, strict=True)))
    # Numbers are held to their start where that does as well, whatever the family; and a larger one
    # must earn its numbers.
    strength = _first_good(apart.mean(axis=(0, 2)))
    distances = apart[:, strength].mean(axis=1)
    chosen = _first_good(distances)
    return Comparison(
        families[chosen],
        priors[strength],
        winners[chosen][strength],
        float(distances[chosen]),
        tuple(
            TriedFamily(family.name, len(family.limits), float(distance))
            for family, distance in zip(families, distances, strict=True)
        ),
    )


def _first_good(distances: Floats) -> int:
    """The first that is not clearly worse than a later one: those before are simpler."""
    chosen = 0
    for n in range(1, len(distances)):
        if distances[n] < _EQUAL * distances[chosen]:
            chosen = n
    return chosen


def unsearched_controller(swarm: "Swarm", rule: Rule | None) -> FoundController:
    """The controller from which a search begins, for analyses that were made without one."""
    family = families_of(swarm, rule)[0]
    every = np.ones(len(swarm.frames["heading"]), dtype=bool)
    trial = Trial(swarm, every, 0, family.start.together)
    group, _, reflected = trial.distances([family.start])
    return FoundController(
        family.start, "not searched", (), float(group[0]), float(reflected[0]), 1
    )


@dataclass(frozen=True)
class Prior:
    """How strongly the numbers of a controller are held to the rule."""

    weight: float  # of the mean squared distance from the rule, in ranges of the numbers
    noise: float  # times as much for the noise

    def of(self, away: Floats) -> Floats:
        """What is added to losses (K,), from squared distances (K, numbers)."""
        factors = np.ones(away.shape[1])
        factors[NOISE] = self.noise
        held: Floats = self.weight * (away * factors).mean(axis=1)
        return held


@dataclass(frozen=True, eq=False)
class Drawn:
    """All candidates of a search, with their losses; the prior is not in these."""

    family: Family
    numbers: Floats  # (K, numbers)
    losses: Floats  # (K,)

    def best(self, prior: Prior) -> list[ZonalController]:
        """The best controllers under a prior, the mean of the best first."""
        losses = self.losses + prior.of(squared_distances(self.family, self.numbers))
        order = np.argsort(losses, kind="stable")[:ELITE]
        best = self.numbers[order]
        # The best of many is partly the luckiest; the mean of the best is not.
        return [self.family.controller(row) for row in (best.mean(axis=0), *best)]


def squared_distances(family: Family, numbers: Floats) -> Floats:
    """How far numbers (K, numbers) are from the rule, squared, in ranges of the numbers."""
    middle, width = family.numbers(family.start), np.ptp(family.limits, axis=1)
    return np.asarray(((numbers - middle) / width) ** 2)


@dataclass(frozen=True, eq=False)
class Search:
    """A search in a family for the controller whose swarm is nearest to some recorded frames.

    The rule is not only where it begins: numbers far from it must be worth it, the more so the less
    the recording tells.
    """

    family: Family
    trial: Trial
    prior: Prior

    def losses(self, numbers: Floats) -> Floats:
        """What is to be small, of controllers with these numbers (K, numbers)."""
        return self._plain(numbers) + self.prior.of(squared_distances(self.family, numbers))

    def _plain(self, numbers: Floats) -> Floats:
        return self.trial.losses([self.family.controller(row) for row in numbers])

    def run(self, start: Floats, generations: int, seed: int) -> Drawn:
        """All candidates of a search by CMA-ES."""
        rng = np.random.default_rng(seed)
        sampler = Adaptation(self.family.limits, start, CANDIDATES, rng)
        drawn, losses = [start[None]], [self._plain(start[None])]
        for _ in range(generations):
            numbers = sampler.draw()
            loss = self._plain(numbers)
            held = self.prior.of(squared_distances(self.family, numbers))
            sampler.follow(np.argsort(loss + held, kind="stable"))
            drawn.append(numbers)
            losses.append(loss)
        return Drawn(self.family, np.concatenate(drawn), np.concatenate(losses))
