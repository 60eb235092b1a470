"""Groups in three dimensions: recorded stretches of time, simulated ones, and their measures.

A stretch begins with the recorded places, headings and speeds of all who are there. Who comes later
enters as it was recorded, and leaves when it was no longer recorded; in between it is simulated. So
recorded and simulated groups have the same numbers at the same times, however these change.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from swarmdp.model import sphere
from swarmdp.recordings.calibration import LARGEST_SCORE, Wandering, pace_of, score_grid
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.space.arena import PeriodicSpace, SpaceArena
from swarmdp.recordings.space.controller import SpaceController, keep_inside, wanted_turns
from swarmdp.support.arrays import Bools, Floats, Ints

LONGEST = 150  # decisions in time of a stretch
SHORTEST = 5
LEAST_COUNT = 6  # stretches that there should at least be
LEAST_PRESENT = 3  # individuals, below which there is no group to measure
_CHUNK = 200_000  # pairs that are looked at in one go
_QUANTILES = 257  # of the table of noise


@dataclass(frozen=True, eq=False)
class Stretches:
    """Several stretches of recorded time of the same length; arrays (stretches, times, agents).

    Parameters
    ----------
    position, heading
        (..., 3): as recorded; zero where absent.
    turn
        (..., 2): the turn that led to each heading; 0 where it is not known.
    speed
        In units a second.
    present
        From when an individual comes until it goes.
    individual
        (stretches, agents): its number; -1 for an empty place.

    """

    position: Floats
    heading: Floats
    turn: Floats
    speed: Floats
    present: Bools
    individual: Ints

    @property
    def count(self) -> int:
        """The number of stretches."""
        return len(self.present)

    @property
    def times(self) -> int:
        """The number of times of a stretch."""
        return int(self.present.shape[1])

    def some(self, which: Sequence[int] | Ints) -> "Stretches":
        """Some of the stretches."""
        rows = np.asarray(which)
        return Stretches(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def stretches_of(decisions: Decisions, longest: int = LONGEST, *, few: bool = False) -> Stretches:
    """Decisions cut into stretches, as long as individuals usually stay, at most `longest`.

    With `few` stretches are as long as the recording allows, however individuals come and go.
    """
    there = decisions.headed & np.isfinite(decisions.positions).all(axis=2)
    stays = there.sum(axis=0)
    usual = float(np.median(np.repeat(stays, stays))) if stays.any() else 0.0
    bouts = np.bincount(decisions.bouts)
    most = min(usual, bouts.max(), decisions.times // LEAST_COUNT)
    length = int(np.clip(bouts.max() - 1 if few else most, SHORTEST, longest))
    windows = []
    for bout in np.unique(decisions.bouts):
        times = np.flatnonzero((decisions.bouts == bout) & (there.sum(axis=1) > 0))
        windows += [
            times[begin : begin + length] for begin in range(0, len(times) - length + 1, length)
        ]
    cut = [_cut(decisions, there, window) for window in windows]
    cut = [parts for parts in cut if parts[4].any()]
    agents = max((parts[4].shape[1] for parts in cut), default=1)

    def padded(place: int, fill: float) -> Floats:
        arrays = [parts[place] for parts in cut]
        axis = 0 if place == 5 else 1
        filled = []
        for array in arrays:
            extra = [(0, 0)] * array.ndim
            extra[axis] = (0, agents - array.shape[axis])
            filled.append(np.pad(array, extra, constant_values=fill))
        return np.stack(filled)

    if not cut:
        nothing = np.zeros((0, length, 1))
        empty = np.repeat(nothing[..., None], 3, axis=3)
        return Stretches(
            empty, empty, empty[..., :2], nothing, nothing.astype(bool), np.zeros((0, 1), np.int64)
        )
    heading = padded(1, 0.0)
    heading[..., 0] = np.where(np.abs(heading).sum(axis=-1) > 0, heading[..., 0], 1.0)
    return Stretches(
        padded(0, 0.0),
        heading,
        padded(2, 0.0),
        padded(3, 0.0),
        padded(4, 0.0).astype(bool),
        padded(5, -1.0).astype(np.int64),
    )


def _cut(decisions: Decisions, there: Bools, window: Ints) -> tuple[Floats, ...]:
    """One stretch: position, heading, turn, speed, presence and numbers of who is in it."""
    inside = there[window]
    who = np.flatnonzero(inside.any(axis=0))
    inside = inside[:, who]
    first = inside.argmax(axis=0)
    last = len(window) - 1 - inside[::-1].argmax(axis=0)
    times = np.arange(len(window))[:, None]
    present = (times >= first) & (times <= last)
    position = decisions.positions[window][:, who].copy()
    heading = decisions.headings[window][:, who].copy()
    speed = decisions.speeds[window][:, who].copy()
    # Short gaps of those who stay: as at the last time at which they were seen.
    for time in range(1, len(window)):
        gap = present[time] & ~inside[time]
        for array in (position, heading, speed):
            array[time, gap] = array[time - 1, gap]
    turn = np.nan_to_num(decisions.previous[window][:, who])
    flat = [np.nan_to_num(array) for array in (position, heading, turn, speed)]
    return (*flat, present.astype(np.float64), who.astype(np.float64))


@dataclass(frozen=True, eq=False)
class SpaceSwarm:
    """What was estimated from recorded decisions: speeds, noise of turns, and the arena.

    Parameters
    ----------
    arena
        Where they are; None for open space.
    dt, unit
        Seconds from one decision to the next, and the unit of length.
    speeds
        How fast individuals are, and how long that lasts.
    together
        The correlation of the speeds of different individuals at a time.
    noise
        (2, entries): quantiles of what is left of turns to the left and upwards.

    """

    arena: SpaceArena | None
    dt: float
    unit: str
    speeds: Wandering
    together: float
    noise: Floats

    @classmethod
    def from_decisions(
        cls, decisions: Decisions, arena: SpaceArena | None, rule: SpaceController
    ) -> "SpaceSwarm":
        """The swarm of a recording whose individuals turn by a rule, and a noise."""
        speeds = pace_of(decisions, constant=False)
        left = _residuals(decisions, arena, rule)
        noise = []
        for part in left.T:
            variance = float(np.mean(part**2)) or 1.0
            kept = max(1 - decisions.error_of_turns / variance, 0.1)
            both = np.concatenate([part, -part]) * math.sqrt(kept)
            noise.append(np.quantile(both, np.linspace(0, 1, _QUANTILES)))
        return cls(
            arena,
            decisions.dt,
            decisions.unit,
            speeds,
            _together(decisions, speeds),
            np.stack(noise),
        )

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the noise of turns, of both parts, in radians."""
        return float(np.sqrt((self.noise**2).mean()))

    def simulate(
        self, controller: SpaceController, starts: Stretches, seed: int, repeats: int = 1
    ) -> Stretches:
        """Stretches that begin as recorded ones and go on as the controller says.

        Parameters
        ----------
        controller
            How agents turn.
        starts
            The recorded stretches.
        seed
            Same seed, same stretches.
        repeats
            Runs of each.

        """
        runs = starts.some(np.repeat(np.arange(starts.count), repeats))
        rng = np.random.default_rng(seed)
        shape = runs.present.shape[0], runs.present.shape[2]
        position, heading = runs.position[:, 0], runs.heading[:, 0]
        turn, pace = runs.turn[:, 0], self.speeds.scores(runs.speed[:, 0])
        kept: list[tuple[Floats, ...]] = [(position, heading, turn, runs.speed[:, 0])]
        memory, shares = self.speeds.memory, np.linspace(0, 1, _QUANTILES)
        for time in range(1, runs.times):
            present = runs.present[:, time - 1]
            wanted = wanted_turns(controller, position, heading, turn, present, self.arena)
            drawn = rng.random((*shape, 2))
            noise = np.stack(
                [np.interp(drawn[..., k], shares, self.noise[k]) for k in range(2)], axis=-1
            )
            turn = wanted + controller.zonal.noise * noise
            heading = sphere.turn_headings(heading, turn)
            common = ndtri(rng.random((shape[0], 1)))
            fresh = math.sqrt(self.together) * common
            fresh = fresh + math.sqrt(1 - self.together) * rng.standard_normal(shape)
            pace = memory * pace + math.sqrt(1 - memory**2) * fresh
            limited = np.clip(pace, -LARGEST_SCORE, LARGEST_SCORE)
            speed = np.interp(limited, score_grid(), self.speeds.table)
            position = position + (speed * self.dt)[..., None] * heading
            position, heading, _ = keep_inside(position, heading, self.arena)
            new = (runs.present[:, time] & ~present)[..., None]
            position = np.where(new, runs.position[:, time], position)
            heading = np.where(new, runs.heading[:, time], heading)
            turn = np.where(new, runs.turn[:, time], turn)
            pace = np.where(new[..., 0], self.speeds.scores(runs.speed[:, time]), pace)
            kept.append((position, heading, turn, speed))
        places, headings, turns, speeds = (
            np.stack([moment[k] for moment in kept], axis=1) for k in range(4)
        )
        return Stretches(places, headings, turns, speeds, runs.present, runs.individual)


def _residuals(decisions: Decisions, arena: SpaceArena | None, rule: SpaceController) -> Floats:
    """What a rule leaves of the recorded turns (decisions, 2)."""
    known = decisions.turned & np.isfinite(decisions.previous[:-1]).all(axis=2)
    there = decisions.headed[:-1]
    chunk = max(1, _CHUNK // max(decisions.individuals, 1) ** 2)
    left = []
    for begin in range(0, len(known), chunk):
        part = slice(begin, min(begin + chunk, len(known)))
        heading = np.nan_to_num(decisions.headings[part])
        heading[~there[part]] = (1.0, 0.0, 0.0)
        wanted = wanted_turns(
            rule,
            np.nan_to_num(decisions.positions[part]),
            heading,
            np.nan_to_num(decisions.previous[part]),
            there[part],
            arena,
        )
        left.append((decisions.turns[part] - wanted)[known[part]])
    return np.concatenate(left) if left else np.zeros((1, 2))


def _together(decisions: Decisions, speeds: Wandering) -> float:
    """The correlation of the speeds of different individuals at a time."""
    known = decisions.known & np.isfinite(decisions.speeds)
    scores = np.where(known, speeds.scores(decisions.speeds), 0.0)
    count = known.sum(axis=1)
    several = count > 1
    own = (scores**2).sum(axis=1)[several]
    pairs = (scores.sum(axis=1)[several] ** 2 - own) / (count[several] - 1)
    if not own.sum() > 0:
        return 0.0
    return float(np.clip(pairs.sum() / own.sum(), 0.0, 0.95))


def measure_groups(stretches: Stretches, arena: SpaceArena | None) -> dict[str, Floats]:
    """What groups do, each (stretches, times): NaN where fewer than three are there."""
    present = stretches.present
    count = np.maximum(present.sum(axis=2), 1)
    enough = present.sum(axis=2) >= LEAST_PRESENT

    def mean(values: Floats) -> Floats:
        masked = np.where(present if values.ndim == 3 else present[..., None], values, 0.0)
        total = masked.sum(axis=2)
        return np.asarray(total / (count if values.ndim == 3 else count[..., None]))

    position, heading = stretches.position, stretches.heading
    away = position - mean(position)[:, :, None]
    length = np.linalg.norm(away, axis=3)
    size = np.sqrt(mean(length**2))
    outwards = away / np.maximum(length, 1e-12)[..., None]
    climb = np.arcsin(np.clip(heading[..., 2], -1.0, 1.0))
    measures = {
        "polarisation": np.linalg.norm(mean(heading), axis=2),
        "milling": np.linalg.norm(mean(sphere.cross(outwards, heading)), axis=2),
        "nearest neighbour": mean(_nearest(position, present, arena)),
        "size of the group": size,
        "height over size": np.sqrt(mean(away[..., 2] ** 2)) / np.maximum(size, 1e-12),
        "size of climbs": mean(np.abs(climb)),
        "mean climb": mean(climb),
    }
    if isinstance(arena, PeriodicSpace):
        for name in ("milling", "size of the group", "height over size"):
            del measures[name]  # they have no middle
    return {name: np.where(enough, values, np.nan) for name, values in measures.items()}


def _nearest(position: Floats, present: Bools, arena: SpaceArena | None) -> Floats:
    """The distance to the nearest neighbour (stretches, times, agents); 0 where alone."""
    nearest = np.zeros(present.shape)
    agents = np.arange(present.shape[2])
    for run in range(len(present)):
        gap = position[run][:, None] - position[run][:, :, None]
        if isinstance(arena, PeriodicSpace):
            gap = arena.gaps(gap)
        square = np.einsum("tija,tija->tij", gap, gap)
        square[:, agents, agents] = np.inf
        square[np.broadcast_to(~present[run][:, None], square.shape)] = np.inf
        least = square.min(axis=2)
        nearest[run] = np.sqrt(np.where(np.isfinite(least), least, 0.0))
    return nearest


def distance_of_groups(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> float:
    """The mean energy distance over all measures, of the times at which they are known."""
    from swarmdp.recordings.group_distances import mean_energy_distance

    def known(measures: Mapping[str, Floats]) -> dict[str, Floats]:
        finite = {name: values[np.isfinite(values)] for name, values in measures.items()}
        return {name: values if len(values) else np.zeros(1) for name, values in finite.items()}

    return mean_energy_distance(known(one), known(other))
