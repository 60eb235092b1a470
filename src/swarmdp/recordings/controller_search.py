"""The zonal controller whose swarm is most like the recorded one, found by policy search.

Candidates are simulated side by side from recorded frames, with common random numbers, and compared
with the recording in what individuals see (distances, misalignment and bearing of neighbours, the
wall) and in what the group does (the swarm's measures). CMA-ES looks for the nearest, beginning
with the rule that regression found. How many numbers are free, from no reaction to others to all
components and reaches, is decided inside the training part: candidates are searched on every second
block of time and compared on the blocks between.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.learning.families import Adaptation
from swarmdp.recordings.components import surroundings
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.zonal import ZonalController, intended_turns, next_state
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, REPULSION, Zone, ZoneModel
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

RUNS, STEPS, EVERY = 8, 120, 4  # of a candidate; every so many steps it is compared
SETTLING = 24  # steps that are not compared
CANDIDATES = 12  # of a generation
TRYING, FINDING = 14, 32  # generations, while structures are compared and at the end
FINALISTS = 6  # candidates of the last search that are compared with other random numbers
BLOCKS = 6  # of the training part, every second one of which is left out
NEIGHBOURS = 7  # nearest ones, in what individuals see
POINTS = 128  # of distributions at which they are compared
QUANTILES = 20
_EQUAL = 0.9  # a larger family must be better by this factor


@dataclass(frozen=True)
class Candidate:
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
    tried: tuple[Candidate, ...]
    distance: float
    reflected: float
    candidates: int

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        plain = vars(self) | {"controller": self.controller.to_plain()}
        return plain | {"tried": [vars(candidate) for candidate in self.tried]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "FoundController":
        """What `to_plain` wrote."""
        return cls(
            **dict(plain)
            | {
                "controller": ZonalController.from_plain(plain["controller"]),
                "tried": tuple(Candidate(**candidate) for candidate in plain["tried"]),
            }
        )


@dataclass(frozen=True)
class Family:
    """Controllers around one of them: its numbers, and between which limits they are free."""

    name: str
    start: ZonalController
    reaches: bool  # whether zones are free

    @cached_property
    def limits(self) -> Floats:
        """Lower and upper limits (numbers, 2); reaches and noise as logarithms."""
        start = self.start
        limits = [(-0.4, 0.9), (math.log(0.3), math.log(1.6))]
        if start.wall_reach:
            limits += [(0.0, 2.5), (math.log(start.wall_reach / 3), math.log(start.wall_reach * 3))]
        limits += [(0.0, 2.5 * gain + 0.1) for gain in start.gains]
        if self.reaches:
            spread = math.log(2.5)
            for zone in start.model.zones.values():
                middle = math.log(zone.reach)
                limits.append((middle - spread, middle + spread))
        return np.array(limits)

    def numbers(self, controller: ZonalController) -> Floats:
        """The free numbers of a controller of this family."""
        numbers = [controller.previous, math.log(controller.noise)]
        if self.start.wall_reach:
            numbers += [controller.wall, math.log(controller.wall_reach)]
        numbers += controller.gains
        if self.reaches:
            numbers += [math.log(zone.reach) for zone in controller.model.zones.values()]
        low, high = self.limits.T
        return np.asarray(np.clip(np.array(numbers), low, high))

    def controller(self, numbers: Floats) -> ZonalController:
        """The controller with these numbers."""
        left = numbers.tolist()
        previous, noise = left[0], math.exp(left[1])
        left = left[2:]
        wall, wall_reach = self.start.wall, self.start.wall_reach
        if wall_reach:
            wall, wall_reach = left[0], math.exp(left[1])
            left = left[2:]
        count = len(self.start.gains)
        gains, left = tuple(left[:count]), left[count:]
        model = self.start.model
        if self.reaches:
            zones = {
                name: _reaching(zone, math.exp(reach))
                for (name, zone), reach in zip(model.zones.items(), left, strict=True)
            }
            model = replace(model, zones=zones)
        return ZonalController(model, gains, previous, wall, wall_reach, noise)


def _reaching(zone: Zone, reach: float) -> Zone:
    if zone.nearest:
        return Zone(nearest=max(1, round(reach)))
    return replace(zone, outer=reach, inner=min(zone.inner, 0.9 * reach))


@dataclass(frozen=True, eq=False)
class Trial:
    """Simulated swarms beside some recorded frames, with random numbers of their own."""

    swarm: "Swarm"
    chosen: Bools  # (frames,): with which swarms are compared and from which they start
    seed: int

    @cached_property
    def _steps(self) -> int:
        return int(min(STEPS, max(4 * EVERY, len(self.chosen) - 1)))

    @cached_property
    def _random(self) -> tuple[dict[str, Floats], Floats, Floats]:
        rng = np.random.default_rng(self.seed)
        frames = np.flatnonzero(self.chosen)
        # Evenly over the time, so that every phase of the group is a start.
        places = (np.arange(RUNS) + rng.random(RUNS)) / RUNS
        starts = frames[(places * len(frames)).astype(int)]
        state = {name: array[starts] for name, array in self.swarm.frames.items()}
        shape = (self._steps, RUNS, self.swarm.n_agents)
        return state, rng.standard_normal(shape), rng.standard_normal(shape)

    @cached_property
    def recorded(self) -> tuple[dict[str, Floats], list[Floats]]:
        """The measures of the recorded frames, and quantiles of what individuals saw."""
        state = {name: array[self.chosen] for name, array in self.swarm.frames.items()}
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        sights = [np.quantile(values, shares) for values in _sights(self.swarm, state)]
        return _measures(self.swarm, state), sights

    def simulate(
        self, controllers: Sequence[ZonalController]
    ) -> tuple[dict[str, Floats], list[Floats], float]:
        """Measures (K, values) and sights (K, values) of swarms, and the share of reflections."""
        state, scores, fresh = self._random
        count = len(controllers)
        rows = np.repeat(np.stack([one.row for one in controllers]), RUNS, axis=0)
        noise = np.repeat([one.noise for one in controllers], RUNS)
        now = {name: np.tile(a, (count, *(1,) * (a.ndim - 1))) for name, a in state.items()}
        kept: list[tuple[dict[str, Floats], list[Floats]]] = []
        reflected = []
        for step in range(self._steps):
            turns = intended_turns(self.swarm, rows, now)
            parts = (np.tile(part[step], (count, 1)) for part in (scores, fresh))
            now, share = next_state(self.swarm, noise, now, turns, *parts)
            reflected.append(share)
            if step >= min(SETTLING, self._steps // 4) and not step % EVERY:
                kept.append((_measures(self.swarm, now), _sights(self.swarm, now)))
        names = kept[0][0]
        measures = {
            name: np.stack([part[0][name].reshape(count, RUNS) for part in kept], 1).reshape(
                count, -1
            )
            for name in names
        }
        sights = [
            np.stack([part[1][n].reshape(count, -1) for part in kept], 1).reshape(count, -1)
            for n in range(len(kept[0][1]))
        ]
        return measures, sights, float(np.mean(reflected))

    def distances(self, controllers: Sequence[ZonalController]) -> tuple[Floats, Floats, float]:
        """Energy distance of groups, distance of sights (K,) each, and share of reflections."""
        measures, sights, reflected = self.simulate(controllers)
        recorded, quantiles = self.recorded
        group = np.mean(
            [energy_distances(values, recorded[name]) for name, values in measures.items()], axis=0
        )
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        apart = []
        for values, places in zip(sights, quantiles, strict=True):
            below = np.stack([(values <= place).mean(axis=1) for place in places], axis=1)
            apart.append(2 * ((below - shares) ** 2).mean(axis=1))
        return np.asarray(group), np.asarray(np.mean(apart, axis=0)), reflected


def _measures(swarm: "Swarm", state: Mapping[str, Floats]) -> dict[str, Floats]:
    plain = dict(state)
    return {name: measure.function(plain) for name, measure in swarm.measures.items()}


def _sights(swarm: "Swarm", state: Mapping[str, Floats]) -> list[Floats]:
    """What individuals see, in sizes: misalignment, bearing, distance, wall (runs, agents)."""
    seen = surroundings(state["position"], state["heading"], NEIGHBOURS, 0.0, swarm.arena)
    sights = [np.abs(seen[..., 0]), np.abs(seen[..., 1]), seen[..., 2]]
    if np.isfinite(seen[..., 3]).all():
        sights.append(seen[..., 3])
    return sights


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
    swarm: "Swarm", rule: Rule, *, seed: int, tell: Callable[[str], None] = lambda text: None
) -> FoundController:
    """The zonal controller whose swarm is nearest to the recording from which the swarm was made.

    Parameters
    ----------
    swarm
        Of `Swarm.from_recording`, with the frames of the training part.
    rule
        That regression found in the same part.
    seed
        Same seed, same controller.
    tell
        Called with the name of each family before it is searched.

    """
    frames = len(swarm.frames["heading"])
    block = np.arange(frames) * BLOCKS // frames
    parts = [block % 2 == 0, block % 2 == 1]
    families = families_of(swarm, rule)
    tried, count = [], 0
    for family in families:
        tell(family.name)
        apart = []
        for n, part in enumerate(parts):
            ranked, number = _search(Trial(swarm, part, seed + n), family, TRYING, seed)
            count += number
            group, _, _ = Trial(swarm, ~part, seed + 2 + n).distances(ranked[:1])
            apart.append(float(group[0]))
        tried.append(Candidate(family.name, len(family.limits), float(np.mean(apart))))
    chosen = 0
    # The families are in the order of their numbers: a larger one must earn them.
    for n in range(1, len(families)):
        if tried[n].distance < _EQUAL * tried[chosen].distance:
            chosen = n
    tell(f"{families[chosen].name}, at length")
    every = np.ones(frames, dtype=bool)
    ranked, number = _search(Trial(swarm, every, seed), families[chosen], FINDING, seed)
    last = ranked[:FINALISTS]
    group, local, _ = Trial(swarm, every, seed + 4).distances(last)
    best = int((group + local).argmin())
    _, _, reflected = Trial(swarm, every, seed + 4).distances(last[best : best + 1])
    return FoundController(
        last[best],
        families[chosen].name,
        tuple(tried),
        float(group[best]),
        reflected,
        count + number + len(last),
    )


def _search(
    trial: Trial, family: Family, generations: int, seed: int
) -> tuple[list[ZonalController], int]:
    """The controllers that were tried, the nearest first, and their number."""
    rng = np.random.default_rng(seed)
    sampler = Adaptation(family.limits, family.numbers(family.start), CANDIDATES, rng)
    drawn, losses = [family.numbers(family.start)], []
    group, local, _ = trial.distances([family.start])
    losses.append(float(group[0] + local[0]))
    for _ in range(generations):
        numbers = sampler.draw()
        group, local, _ = trial.distances([family.controller(row) for row in numbers])
        loss = group + local
        sampler.follow(np.argsort(loss, kind="stable"))
        drawn.extend(numbers)
        losses.extend(loss.tolist())
    order = np.argsort(losses, kind="stable")
    return [family.controller(drawn[n]) for n in order], len(drawn)


def families_of(swarm: "Swarm", rule: Rule) -> list[Family]:
    """What is searched: from no reaction to others to all components and reaches."""
    turns = np.concatenate([swarm.frames["turn"].ravel()])
    left = math.sqrt(max(1 - rule.explained, 0.05)) * float(turns.std())
    noise = float(np.clip(left / max(swarm.wobble.spread, 1e-9), 0.35, 1.5))
    wall = max(rule.wall, 0.05) if rule.wall_reach else 0.0
    own = (float(np.clip(rule.previous, -0.3, 0.8)), wall, rule.wall_reach, noise)

    def controller(model: ZoneModel, gains: Mapping[str, float]) -> ZonalController:
        values = tuple(gains[name] for name in model.columns)
        return ZonalController(model, values, *own)

    families = [Family("no reaction to others", controller(ZoneModel("sum", {}), {}), False)]
    model = rule.model
    parts = {part.component: part for part in rule.parts}
    if parts:
        gains = {model.columns[model.column_of(name)]: parts[name].gain for name in parts}
        start = controller(model, gains)
        families.append(Family("the rule, its gains free", start, False))
        families.append(Family("the rule, all free", start, True))
        families.append(Family("all components", _completed(swarm, rule, controller), True))
    return families


def _completed(
    swarm: "Swarm", rule: Rule, controller: Callable[[ZoneModel, Mapping[str, float]], Any]
) -> ZonalController:
    """The rule with the components that it lacks, weak at first."""
    positions = swarm.frames["position"]
    state = {"position": positions, "heading": swarm.frames["heading"]}
    seen = surroundings(state["position"], state["heading"], 1, 0.0, swarm.arena)[..., 2]
    gap = float(np.median(seen))
    wide = float(
        np.median(np.linalg.norm(positions - positions.mean(axis=1, keepdims=True), axis=2))
    )
    missing = {
        REPULSION: Zone(outer=gap),
        ALIGNMENT: Zone(outer=3 * gap),
        ATTRACTION: Zone(outer=max(2 * wide, 6 * gap)),
    }
    parts = {part.component: part for part in rule.parts}
    zones = {name: parts[name].zone if name in parts else zone for name, zone in missing.items()}
    model = ZoneModel(rule.structure, zones)
    gains = dict.fromkeys(model.columns, 0.05)
    for name, part in parts.items():
        gains[model.columns[model.column_of(name)]] = part.gain
    start: ZonalController = controller(model, gains)
    return start
