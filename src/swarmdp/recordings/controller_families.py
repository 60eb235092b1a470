"""Families of zonal controllers: which of their numbers are free, and from where they start.

They are in the order of their numbers: the rule that regression found, with free gains; the same
with free reaches; all components, those that regression did not find weak at first. Where
regression found no reaction to others, there is only what individuals do by themselves.

One more begins with the zone model that was fitted to what the group does: where turns are few, or
say little, the group may say more.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.kernels.recorded.zonal import CUE_FAR
from swarmdp.recordings.arena import Periodic
from swarmdp.recordings.components import surroundings
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.neighbour_rows import mean_ahead
from swarmdp.recordings.rule import SURE, Rule
from swarmdp.recordings.zonal import Reaction, ZonalController
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, REPULSION, Zone, ZoneModel
from swarmdp.support.arrays import Bools, Floats

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

NOISE = 1  # which of the numbers of a family is the noise
REACHES = 2.5  # times a reach, or as little of it, that is tried
WEAK = 0.05  # radians: the gain at which a component starts that regression did not find
MOST_HURRY = 16.0  # times the gain of speeds that regression found
HURRY_BLOCKS = 12  # of time, for its error
MOST_TOGETHER = 0.95  # correlation of speeds
_WALL = (0.3, 0.15)  # turn at the wall, and its reach as a share of half the arena, by default


@dataclass(frozen=True)
class Family:
    """Controllers around one of them: its numbers, and between which limits they are free."""

    name: str
    start: ZonalController
    reaches: bool  # whether zones are free
    others: int  # as many as a number of nearest neighbours may be

    @cached_property
    def limits(self) -> Floats:
        """Lower and upper limits (numbers, 2); reaches and noise as logarithms."""
        start = self.start
        limits = [(-0.4, 0.95), (math.log(0.2), math.log(1.6))]
        if start.wall_reach:
            limits += [(0.0, 2.5), (math.log(start.wall_reach / 3), math.log(start.wall_reach * 3))]
        if start.hurry:
            limits.append((0.0, MOST_HURRY * start.hurry))
        limits += [(0.0, 2.5 * gain + 0.1) for gain in start.gains]
        # The sign of a reaction to an outsider stays.
        for reaction in start.reactions:
            most = 2.5 * reaction.gain + math.copysign(0.1, reaction.gain)
            limits.append((min(most, 0.0), max(most, 0.0)))
        if self.reaches:
            spread = math.log(REACHES)
            for zone in start.model.zones.values():
                middle = math.log(zone.reach)
                most = math.log(self.others) if zone.nearest else math.inf
                limits.append((middle - spread, max(min(middle + spread, most), middle)))
        return np.array(limits)

    def numbers(self, controller: ZonalController) -> Floats:
        """The free numbers of a controller of this family."""
        numbers = [controller.previous, math.log(controller.noise)]
        if self.start.wall_reach:
            numbers += [controller.wall, math.log(controller.wall_reach)]
        if self.start.hurry:
            numbers.append(controller.hurry)
        numbers += controller.gains
        numbers += [reaction.gain for reaction in controller.reactions]
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
        hurry = self.start.hurry
        if hurry:
            hurry, left = left[0], left[1:]
        count = len(self.start.gains)
        gains, left = tuple(left[:count]), left[count:]
        reactions = tuple(
            replace(reaction, gain=gain)
            for reaction, gain in zip(self.start.reactions, left, strict=False)
        )
        left = left[len(reactions) :]
        model = self.start.model
        if self.reaches:
            zones = {
                name: _reaching(zone, math.exp(reach))
                for (name, zone), reach in zip(model.zones.items(), left, strict=True)
            }
            model = replace(model, zones=zones)
        return replace(
            self.start,
            model=model,
            gains=gains,
            previous=previous,
            wall=wall,
            wall_reach=wall_reach,
            noise=noise,
            hurry=hurry,
            reactions=reactions,
        )


def _reaching(zone: Zone, reach: float) -> Zone:
    if zone.nearest:
        return Zone(nearest=max(1, round(reach)))
    return replace(zone, outer=reach, inner=min(zone.inner, 0.9 * reach))


def families_of(swarm: "Swarm", rule: Rule | None) -> list[Family]:
    """What is searched: from the gains of the rule to all components and reaches.

    Without a rule, where there is too little data for one, only what individuals do by themselves.
    """
    others = swarm.n_agents - 1
    if rule is None or not rule.parts:
        return [Family("no reaction to others", _alone(swarm, rule), False, others)]
    start = rule_as_it_is(swarm, rule)
    families = [
        Family("the rule, its gains free", start, False, others),
        Family("the rule, all free", start, True, others),
    ]
    lacking = len(rule.parts) < len((REPULSION, ALIGNMENT, ATTRACTION))
    if lacking or len(pace_reactions(swarm, 0.0)) > len(pace_reactions(swarm)):
        families.append(Family("all components", completed_rule(swarm, rule), True, others))
    return families


def family_of_group(swarm: "Swarm", rule: Rule | None) -> Family | None:
    """What is searched around the zone model of the group; nothing where nobody reacts."""
    if rule is None or not rule.parts or "couzin" not in swarm.models:
        return None
    start = fitted_zone_model(swarm, rule)
    return Family("the zone model of the group", start, True, swarm.n_agents - 1)


def rule_as_it_is(swarm: "Swarm", rule: Rule) -> ZonalController:
    """The controller with the numbers of a rule: what regression alone gives."""
    model = rule.model
    parts = {part.component: part for part in rule.parts}
    gains = {model.columns[model.column_of(name)]: parts[name].gain for name in parts}
    return _with_others(swarm, rule, model, gains)


def _alone(swarm: "Swarm", rule: Rule | None) -> ZonalController:
    """What individuals do by themselves."""
    nothing = ZoneModel("sum", {})
    walled = swarm.arena is not None and not isinstance(swarm.arena, Periodic)
    if rule is None:
        assert swarm.arena is not None or not walled
        size = swarm.arena.window[2] / 2 if walled and swarm.arena is not None else 0.0
        wall, reach = (_WALL[0], _WALL[1] * size) if walled else (0.0, 0.0)
        return ZonalController(nothing, (), 0.0, wall, reach, 1.0, _together(swarm))
    spread = float(swarm.frames["turn"].std())
    left = math.sqrt(max(1 - rule.explained, 0.05)) * spread
    noise = float(np.clip(left / max(swarm.wobble.spread, 1e-9), 0.35, 1.5))
    wall = max(rule.wall, 0.05) if rule.wall_reach else 0.0
    previous = float(np.clip(rule.previous, -0.3, 0.8))
    # Beyond where an outsider ever was, individuals are taken to react as near there.
    reactions = tuple(
        Reaction(part.kind, part.way, math.inf if part.everywhere else part.reach, part.gain)
        for part in rule.outsiders
    )
    return ZonalController(
        nothing,
        (),
        previous,
        wall,
        rule.wall_reach,
        noise,
        _together(swarm),
        reactions=(*reactions, *pace_reactions(swarm)),
    )


def pace_reactions(swarm: "Swarm", sure: float = SURE) -> tuple[Reaction, ...]:
    """How much faster recorded individuals get where an outsider is near, by kind.

    A regression of the changes of speed scores on how near it is, with its error over blocks of
    time. Those that may be chance are left out; with `sure` 0 none is.
    """
    decisions, others = swarm.decisions, swarm.outsiders
    if decisions is None or others is None or decisions.clock is None:
        return ()
    change, known = _changes_of_speed(swarm, decisions)
    found = []
    for kind in others.places:
        away = others.distances(kind, np.nan_to_num(decisions.positions), decisions.clock)[:-1]
        there = known & np.isfinite(decisions.headings[:-1]) & np.isfinite(away)
        middle = float(np.median(away[there])) if there.any() else 0.0
        if middle <= 0:
            continue
        near = np.maximum(1 - away / middle, CUE_FAR)
        near = np.where(there, near - near[there].mean(), 0.0)
        gain, error = _slope(near, np.where(there, change, 0.0))
        if abs(gain) > sure * error:
            found.append(Reaction(kind, "pace", middle, gain))
    return tuple(found)


def _changes_of_speed(swarm: "Swarm", decisions: Decisions) -> tuple[Floats, Bools]:
    """By how much speed scores change beyond their memory (time - 1, individual), where known."""
    speeds = np.where(decisions.known, decisions.speeds, np.nan)
    scores = np.where(np.isfinite(speeds), swarm.speeds.scores(speeds), np.nan)
    change = scores[1:] - swarm.speeds.memory * scores[:-1]
    known = np.isfinite(change) & (decisions.bouts[1:] == decisions.bouts[:-1])[:, None]
    return np.where(known, change, 0.0), known


def _slope(seen: Floats, change: Floats) -> tuple[float, float]:
    """The slope of changes on what is seen, and its standard error over blocks of time."""
    block = np.arange(len(change)) * HURRY_BLOCKS // max(len(change), 1)
    top, bottom = (
        np.bincount(block, values.sum(axis=1), minlength=HURRY_BLOCKS)
        for values in (seen * change, seen**2)
    )
    if not bottom.sum() > 0 or (bottom >= bottom.sum()).any():
        return 0.0, math.inf
    without = (top.sum() - top) / (bottom.sum() - bottom)
    error = float(np.sqrt((HURRY_BLOCKS - 1) * without.var()))
    return float(top.sum() / bottom.sum()), error


def _together(swarm: "Swarm") -> float:
    """The correlation of the recorded speeds of different individuals at a time."""
    pace = swarm.frames["pace"]
    agents = pace.shape[1]
    if agents < 2 or not pace.any():
        return 0.0
    own = (pace**2).sum(axis=1)
    pairs = (pace.sum(axis=1) ** 2 - own) / (agents - 1)
    return float(np.clip(pairs.mean() / own.mean(), 0.0, MOST_TOGETHER))


def _with_others(
    swarm: "Swarm", rule: Rule, model: ZoneModel, gains: Mapping[str, float]
) -> ZonalController:
    values = tuple(gains[name] for name in model.columns)
    return replace(_alone(swarm, rule), model=model, gains=values, hurry=_hurry(swarm))


def _hurry(swarm: "Swarm") -> float:
    """How much faster recorded individuals get where others are ahead; 0 if that may be chance.

    A regression of the changes of speed scores, with its error over blocks of time.
    """
    decisions = swarm.decisions
    if decisions is None:
        return 0.0
    change, known = _changes_of_speed(swarm, decisions)
    # What all do at once is not a reaction to who is ahead.
    some = np.asarray(known.any(axis=1))
    shared = change.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    change = np.where(known, change - shared[:, None], 0.0)
    seen = mean_ahead(decisions, swarm.arena)[:-1]
    known &= np.isfinite(seen) & some[:, None]
    gain, error = _slope(np.where(known, seen, 0.0), change)
    return gain if gain > SURE * error else 0.0


def fitted_zone_model(swarm: "Swarm", rule: Rule) -> ZonalController:
    """A controller with the zones and the turns of the zone model that was fitted to the group.

    The zone model turns by the angle to where it wants to go, but by no more than its largest turn
    m; the controller by a gain times the sine of that angle. Over all angles they differ least, in
    squares, with the gain 2 (m + sin m) / pi. What individuals do by themselves (noise, memory, the
    wall) is that of the rule: single turns tell it, and a group can look right for wrong reasons.
    """
    zones = swarm.models["couzin"]().zones
    near, along = zones.repulsion, max(zones.orientation, zones.repulsion)
    reaches = {REPULSION: near, ALIGNMENT: along, ATTRACTION: max(zones.attraction, along)}
    model = ZoneModel("priority", {name: Zone(outer=reach) for name, reach in reaches.items()})
    most = min(zones.most_turn, math.pi)
    gain = 2 * (most + math.sin(most)) / math.pi
    return _with_others(swarm, rule, model, dict.fromkeys(model.columns, gain))


def completed_rule(swarm: "Swarm", rule: Rule) -> ZonalController:
    """The rule with the components that it lacks, weak at first."""
    positions, headings = swarm.frames["position"], swarm.frames["heading"]
    gap = float(np.median(surroundings(positions, headings, 1, 0.0, swarm.arena)[..., 2]))
    away = positions - positions.mean(axis=1, keepdims=True)
    wide = float(np.median(np.linalg.norm(away, axis=2)))
    missing = {
        REPULSION: Zone(outer=gap),
        ALIGNMENT: Zone(outer=3 * gap),
        ATTRACTION: Zone(outer=max(2 * wide, 6 * gap)),
    }
    parts = {part.component: part for part in rule.parts}
    zones = {name: parts[name].zone if name in parts else zone for name, zone in missing.items()}
    model = ZoneModel(rule.structure, zones)
    gains = dict.fromkeys(model.columns, WEAK)
    for name, part in parts.items():
        gains[model.columns[model.column_of(name)]] = part.gain
    controller = _with_others(swarm, rule, model, gains)
    turning = [reaction for reaction in controller.reactions if reaction.way != "pace"]
    return replace(controller, reactions=(*turning, *pace_reactions(swarm, 0.0)))
