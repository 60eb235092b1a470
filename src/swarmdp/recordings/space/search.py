"""The controller in three dimensions whose group is most like the recorded one.

As in the plane (`controller_search.py`): candidates begin with the recorded stretches, with common
random numbers, and CMA-ES looks for the one whose group is nearest to the recorded one, beginning
with the rule that regression found. Whether reaches are free is decided on stretches of the
training part that were not searched on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from swarmdp.learning.families import Adaptation
from swarmdp.recordings.controller_families import Family
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.rule import SURE, Rule
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.recordings.space.controller import SpaceController
from swarmdp.recordings.space.groups import (
    SpaceSwarm,
    Stretches,
    distance_of_groups,
    measure_groups,
    stretches_of,
)
from swarmdp.recordings.zonal import ZonalController
from swarmdp.recordings.zone_models import ZoneModel
from swarmdp.support.arrays import Floats
from swarmdp.support.threads import one_blas_thread

CANDIDATES = 10  # of a generation
TRYING, FINDING = 6, 12  # generations, while families are compared and at the end
AGENT_STEPS = 20_000  # of a candidate, about
SEARCHED = 60  # decisions in time of a stretch that is searched on
_EQUAL = 0.9  # a larger family must be better by this factor
PRIOR = 25.0  # times the square of the recording's own distance: the weight of the rule
ELITE = 5  # best candidates, whose mean is tried, too


@dataclass(frozen=True)
class FoundSpaceController:
    """The controller that was found, and how.

    Parameters
    ----------
    controller
        Its numbers.
    family
        Which of its numbers were free.
    distance
        The mean energy distance to the training part.
    candidates
        The number of controllers that were simulated.

    """

    controller: SpaceController
    family: str
    distance: float
    candidates: int

    def words(self, unit: str) -> str:
        """The controller, how near it is and how it was chosen, in one sentence."""
        return (
            f"{self.controller.words(unit)} ({self.family}; energy distance to the training part "
            f"{self.distance:.2f}, {self.candidates} candidates)"
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return vars(self) | {"controller": self.controller.to_plain()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "FoundSpaceController":
        """What `to_plain` wrote."""
        return cls(**dict(plain) | {"controller": SpaceController.from_plain(plain["controller"])})


def rule_in_space(decisions: Decisions, rule: Rule | None) -> SpaceController:
    """The controller with the numbers of a rule: what regression alone gives."""
    there = decisions.headed
    level = float(np.arcsin(np.clip(decisions.headings[there][:, 2], -1, 1)).mean())
    nothing = ZoneModel("sum", {})
    if rule is None:
        return SpaceController(ZonalController(nothing, (), 0.0, 0.0, 0.0, 1.0), 0.0, level)
    model: ZoneModel = nothing
    gains: tuple[float, ...] = ()
    if rule.parts:
        model = rule.model
        found = {model.columns[model.column_of(part.component)]: part.gain for part in rule.parts}
        gains = tuple(found[name] for name in model.columns)
    climb, error = rule.climb
    wall = max(rule.wall, 0.05) if rule.wall_reach else 0.0
    previous = float(np.clip(rule.previous, -0.3, 0.9))
    zonal = ZonalController(model, gains, previous, wall, rule.wall_reach, 1.0)
    return SpaceController(zonal, climb if climb > SURE * error else 0.0, level)


def deaf(controller: SpaceController) -> SpaceController:
    """The same controller without any reaction to others."""
    zonal = replace(controller.zonal, model=ZoneModel("sum", {}), gains=())
    return replace(controller, zonal=zonal)


@dataclass(frozen=True, eq=False)
class SpaceTrial:
    """Recorded stretches to which groups of candidates are compared."""

    swarm: SpaceSwarm
    stretches: Stretches
    seed: int

    @property
    def repeats(self) -> int:
        """Runs from each stretch."""
        steps = self.stretches.count * self.stretches.times * self.stretches.present.shape[2]
        return int(np.clip(round(AGENT_STEPS / max(steps, 1)), 1, 8))

    @cached_property
    def recorded(self) -> dict[str, Floats]:
        """The measures of the recorded stretches."""
        return measure_groups(self.stretches, self.swarm.arena)

    def distance(self, controller: SpaceController) -> float:
        """The mean energy distance of the group of a controller."""
        runs = self.swarm.simulate(controller, self.stretches, self.seed, self.repeats)
        return distance_of_groups(measure_groups(runs, self.swarm.arena), self.recorded)


@dataclass(frozen=True, eq=False)
class SpaceSearch:
    """A search in a family for the controller whose group is nearest to some stretches."""

    family: Family
    rule: SpaceController
    trial: SpaceTrial
    weight: float  # of the mean squared distance from the rule, in ranges of the numbers

    @cached_property
    def limits(self) -> Floats:
        """Those of the family, and of the climb where the rule has one."""
        climb = self.rule.climb
        more = [[0.0, min(1.0, 3 * climb + 0.05)]] if climb else []
        return np.array([*self.family.limits.tolist(), *more])

    def numbers(self, controller: SpaceController) -> Floats:
        """The free numbers of a controller."""
        more = [controller.climb] if self.rule.climb else []
        return np.append(self.family.numbers(controller.zonal), more)

    def controller(self, numbers: Floats) -> SpaceController:
        """The controller with these numbers."""
        climb = float(numbers[-1]) if self.rule.climb else 0.0
        zonal = self.family.controller(numbers[: len(self.family.limits)])
        return replace(self.rule, zonal=zonal, climb=climb)

    def loss(self, numbers: Floats) -> float:
        """What is to be small: the distance, and how far the numbers are from the rule."""
        width = np.ptp(self.limits, axis=1)
        away = ((numbers - self.numbers(self.rule)) / np.where(width > 0, width, 1.0)) ** 2
        return self.trial.distance(self.controller(numbers)) + self.weight * float(away.mean())

    def run(self, start: Floats, generations: int, seed: int) -> SpaceController:
        """The best controller of a search by CMA-ES, or the mean of the best."""
        sampler = Adaptation(self.limits, start, CANDIDATES, np.random.default_rng(seed))
        drawn, losses = [start[None]], [self.loss(start)]
        for _ in range(generations):
            numbers = sampler.draw()
            loss = [self.loss(row) for row in numbers]
            sampler.follow(np.argsort(loss, kind="stable"))
            drawn.append(numbers)
            losses += loss
        every = np.concatenate(drawn)
        order = np.argsort(losses, kind="stable")[:ELITE]
        # The best of many is partly the luckiest; the mean of the best is not.
        mean = every[order].mean(axis=0)
        best = mean if self.loss(mean) <= losses[order[0]] else every[order[0]]
        return self.controller(best)


@one_blas_thread()
def find_in_space(
    decisions: Decisions, arena: SpaceArena | None, rule: Rule | None, *, seed: int
) -> tuple[SpaceSwarm, FoundSpaceController]:
    """The swarm of recorded decisions, and the controller whose group is nearest to them.

    Parameters
    ----------
    decisions
        The training part.
    arena
        Where they were; None for open space.
    rule
        That regression found in the same part; None if there is too little data for one.
    seed
        Same seed, same controller.

    """
    start = rule_in_space(decisions, rule)
    swarm = SpaceSwarm.from_decisions(decisions, arena, start)
    start = replace(start, zonal=replace(start.zonal, together=swarm.together))
    stretches = stretches_of(decisions, SEARCHED)
    if stretches.count < 2:
        return swarm, FoundSpaceController(start, "the rule, too short to search", math.nan, 1)
    others = int(stretches.present.sum(axis=2).max()) - 1
    halves = [np.arange(stretches.count) % 2 == half for half in (0, 1)]
    parts = [stretches.some(np.flatnonzero(half)) for half in halves]
    measured = [measure_groups(part, arena) for part in parts]
    weight = PRIOR * distance_of_groups(*measured) ** 2
    names = ["what individuals do by themselves"]
    if start.zonal.model.zones:
        names = ["the rule, its gains free", "the rule, all free"]
    families = [Family(name, start.zonal, bool(k), others) for k, name in enumerate(names)]
    apart = []
    candidates = 0
    for family in families if len(families) > 1 else []:
        found = []
        for half, part in enumerate(parts):
            search = SpaceSearch(family, start, SpaceTrial(swarm, part, seed + half), weight)
            best = search.run(search.numbers(start), TRYING, seed)
            candidates += TRYING * CANDIDATES + 2
            found.append(SpaceTrial(swarm, parts[1 - half], seed + 2 + half).distance(best))
        apart.append(float(np.mean(found)))
    chosen = int(len(apart) > 1 and apart[1] < _EQUAL * apart[0])
    search = SpaceSearch(families[chosen], start, SpaceTrial(swarm, stretches, seed + 4), weight)
    best = search.run(search.numbers(start), FINDING, seed + 1)
    candidates += FINDING * CANDIDATES + 2
    distance = SpaceTrial(swarm, stretches, seed + 5).distance(best)
    return swarm, FoundSpaceController(best, families[chosen].name, distance, candidates)


def distances_in_space(
    swarm: SpaceSwarm,
    controllers: Mapping[str, SpaceController],
    stretches: Stretches,
    seed: int,
) -> dict[str, float]:
    """How far simulated groups are from recorded stretches, by name."""
    trial = SpaceTrial(swarm, stretches, seed)
    return {name: trial.distance(one) for name, one in controllers.items()}


def own_distance_in_space(train: Stretches, test: Stretches, arena: SpaceArena | None) -> float:
    """How far parts of the training time are from the held-out time, mean energy distance.

    The parts are about as long as the held-out time: what the recording itself differs by.
    """
    recorded = measure_groups(test, arena)
    count = max(1, round(train.count / max(test.count, 1)))
    part = np.arange(train.count) * count // max(train.count, 1)
    pieces = [train.some(np.flatnonzero(part == k)) for k in range(count)]
    return float(
        np.mean([distance_of_groups(measure_groups(piece, arena), recorded) for piece in pieces])
    )
