"""Decisions as rows of a table: the turn, the others by distance, the wall and the turn before.

Everything that a rule of turns is made of is a mean over the first so many of the others, so each
row has them in the order of their distance. Directions are unit vectors as the individual sees
them: how far ahead, and how far to the left.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.calibration import ROBUST
from swarmdp.recordings.components import surroundings
from swarmdp.recordings.decisions import Decisions, wrap_angles
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.support.arrays import Floats, Ints

MOST_PAIRS = 1_000_000  # of a row and another individual; above, fewer times are looked at
_TINY = 1e-12  # distance below which there is no direction
BEHIND = -0.2  # cosine of the angle to the wall below which an individual leaves it
WALL_KNOTS = (0.0, 0.03, 0.07, 0.12, 0.2, 0.3, 0.45)  # distances to the wall, of half the arena
WALL_SINES = 3  # harmonics of the angle to the wall


@dataclass(frozen=True, eq=False)
class NeighbourRows:
    """One row for each decision; others (rows, others) are sorted by distance.

    Parameters
    ----------
    time, individual
        Of each row; `times` is the number of times in all.
    turn
        The turn that was made, cut off at one radian, so that single ones do not decide.
    previous
        The turn before.
    speed
        As a share of the mean speed.
    other
        The number of each other individual.
    distance
        Infinite where fewer are present.
    bearing_ahead, bearing_left
        The direction in which the other is.
    heading_ahead, heading_left
        The direction in which the other moves.
    wall_distance, wall_angle
        Distance and angle of the nearest point of the wall; infinite distance without one.
    parts
        Rows of a decision: 1 in the plane; 2 in space, where the turn to the left and the turn
        upwards are rows one after the other, and "left" in the second one means upwards.
    wall_side
        In space: the part of the wall's direction across the heading, of length 1 in both rows.
    climb
        In space: the angle of the heading above the horizontal, in rows of turns upwards; else 0.
    compass
        In space: the part across the heading of the mean heading of all at all times.

    """

    time: Ints
    individual: Ints
    times: int
    turn: Floats
    previous: Floats
    speed: Floats
    other: Ints
    distance: Floats
    bearing_ahead: Floats
    bearing_left: Floats
    heading_ahead: Floats
    heading_left: Floats
    wall_distance: Floats
    wall_angle: Floats
    parts: int = 1
    wall_side: Floats | None = None
    climb: Floats | None = None
    compass: Floats | None = None

    @property
    def present(self) -> Ints:
        """The number of others that are present (rows,)."""
        return np.asarray(np.isfinite(self.distance).sum(axis=1))


def neighbour_rows(
    decisions: Decisions, arena: Arena | SpaceArena | None, most_pairs: int = MOST_PAIRS
) -> NeighbourRows:
    """The rows of decisions whose turn, and the one before, are known.

    Parameters
    ----------
    decisions
        Of any part of a recording.
    arena
        Where they were.
    most_pairs
        Where there are more pairs than that, only every n-th time is taken.

    """
    if decisions.in_space:
        from swarmdp.recordings.space.rows import rows_in_space

        return rows_in_space(decisions, arena, most_pairs)
    assert not isinstance(arena, SpaceArena)
    whole = np.isfinite(decisions.turns) & decisions.known[:-1]
    whole &= np.isfinite(decisions.previous[:-1])
    others = decisions.individuals - 1
    every = max(1, math.ceil(int(whole.sum()) * max(others, 1) / most_pairs))
    whole[np.arange(len(whole)) % every > 0] = False
    time, individual = np.nonzero(whole)
    rows = np.arange(len(time))
    gap = decisions.positions[time] - decisions.positions[time, individual][:, None]
    if isinstance(arena, Periodic):
        sides = np.asarray(arena.sides)
        gap -= sides * np.round(gap / sides)
    headings = decisions.headings[time]
    heading = headings[rows, individual]
    distance = np.hypot(gap[..., 0], gap[..., 1])
    distance[rows, individual] = np.inf
    distance[~(np.isfinite(distance) & np.isfinite(headings))] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")[:, :others]
    distance = np.take_along_axis(distance, order, axis=1)
    gap = np.take_along_axis(gap, order[..., None], axis=1)
    there = np.isfinite(distance)
    size = np.where(there, np.maximum(distance, _TINY), 1.0)
    cosine, sine = np.cos(heading)[:, None], np.sin(heading)[:, None]
    off = np.where(there, np.take_along_axis(headings, order, axis=1) - heading[:, None], 0.0)
    seen = surroundings(decisions.positions, decisions.headings, 1, 0.0, arena)[time, individual]
    speeds = decisions.speeds[time, individual]
    pace = speeds / np.nanmean(decisions.speeds[decisions.known])
    return NeighbourRows(
        time=np.asarray(time),
        individual=np.asarray(individual),
        times=decisions.times,
        turn=np.clip(decisions.turns[time, individual], -ROBUST, ROBUST),
        previous=np.clip(decisions.previous[time, individual], -ROBUST, ROBUST),
        speed=np.where(np.isfinite(pace), pace, 1.0),
        other=np.asarray(order),
        distance=distance,
        bearing_ahead=np.where(there, (gap[..., 0] * cosine + gap[..., 1] * sine) / size, 0.0),
        bearing_left=np.where(there, (gap[..., 1] * cosine - gap[..., 0] * sine) / size, 0.0),
        heading_ahead=np.where(there, np.cos(off), 0.0),
        heading_left=np.where(there, np.sin(off), 0.0),
        wall_distance=seen[:, 3],
        wall_angle=seen[:, 4],
    )


def mean_ahead(decisions: Decisions, arena: Arena | None) -> Floats:
    """How far ahead the others are (time, individual): the mean cosine of their directions.

    From -1, all behind, to 1; NaN where an individual or all others are absent.
    """
    ahead = np.full(decisions.headings.shape, np.nan)
    for time, (places, headings) in enumerate(
        zip(decisions.positions, decisions.headings, strict=True)
    ):
        there = np.flatnonzero(np.isfinite(headings) & np.isfinite(places).all(axis=1))
        if len(there) < 2:
            continue
        gap = places[there] - places[there][:, None]
        if isinstance(arena, Periodic):
            sides = np.asarray(arena.sides)
            gap -= sides * np.round(gap / sides)
        size = np.maximum(np.hypot(gap[..., 0], gap[..., 1]), _TINY)
        cosine, sine = np.cos(headings[there])[:, None], np.sin(headings[there])[:, None]
        towards = (gap[..., 0] * cosine + gap[..., 1] * sine) / size
        ahead[time, there] = towards.sum(axis=1) / (len(there) - 1)
    return ahead


def wall_column(rows: NeighbourRows, reach: float) -> Floats:
    """How much the wall asks for a turn away from it: the more, the nearer it is.

    From no farther than `reach`, only of those that do not leave it, and by the sine of its angle.
    """
    near = np.clip(1 - rows.wall_distance / reach, 0.0, 1.0)
    facing = np.cos(rows.wall_angle) > BEHIND
    side = np.sign(rows.wall_angle) if rows.wall_side is None else rows.wall_side
    return np.where(facing & (near > 0), -near * side, 0.0)


def own_columns(rows: NeighbourRows, arena: Arena | SpaceArena | None) -> Floats:
    """What turns depend on without the others (rows, q): the turn before, the speed, the wall.

    The wall is described by many columns, hats over its distance times sines of its angle: what it
    does must not be taken for what others do.
    """
    if rows.parts > 1:
        from swarmdp.recordings.space.rows import own_columns_in_space

        return own_columns_in_space(rows, arena)
    assert not isinstance(arena, SpaceArena)
    columns = [rows.previous, rows.previous * (rows.speed - 1), rows.previous**3]
    if arena is not None and not isinstance(arena, Periodic):
        size = arena.window[2] / 2
        knots = size * np.array(WALL_KNOTS)
        places = np.interp(rows.wall_distance, knots, np.arange(len(knots)))
        angle = rows.wall_angle
        sides = [np.sin(n * angle) for n in range(1, WALL_SINES + 1)]
        sides.append(np.where(np.cos(angle) > BEHIND, np.sign(angle), 0.0))
        for k in range(len(knots) - 1):
            hat = np.clip(1 - np.abs(places - k), 0.0, 1.0)
            columns += [hat * side for side in sides]
    return np.stack(columns, axis=1)


def with_more_errors(decisions: Decisions, rng: np.random.Generator) -> Decisions:
    """The same with errors of positions once more: headings and turns follow from the places.

    What one more error does to an estimate tells what the error that is there has done to it.
    """
    if decisions.in_space:
        from swarmdp.recordings.space.rows import with_more_errors_in_space

        return with_more_errors_in_space(decisions, rng)
    places = decisions.positions + decisions.error * rng.standard_normal(decisions.positions.shape)
    steps = np.diff(places, axis=0)
    true_steps = np.diff(decisions.positions, axis=0)
    moved = np.arctan2(steps[..., 1], steps[..., 0])
    measured = np.arctan2(true_steps[..., 1], true_steps[..., 0])
    # Who hardly moved has kept its heading; the others get the change that the errors make.
    headings = decisions.headings.copy()
    headings[1:] = wrap_angles(headings[1:] + wrap_angles(moved - measured))
    turns = np.where(np.isfinite(decisions.turns), wrap_angles(np.diff(headings, axis=0)), np.nan)
    return replace(decisions, positions=places, headings=headings, turns=turns)
