"""The rows of a rule in three dimensions: turns to the left and upwards, one after the other.

Individuals react alike in all directions across their heading, so both turns of a decision are
explained by the same gains, and each is a row of its own. Only what they do by themselves differs:
climbing is turned back, going to the left is not.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.model import sphere
from swarmdp.recordings.calibration import ROBUST
from swarmdp.recordings.neighbour_rows import BEHIND, WALL_KNOTS, NeighbourRows
from swarmdp.recordings.space.arena import Cuboid, PeriodicSpace, Sphere
from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from swarmdp.recordings.decisions import Decisions
    from swarmdp.recordings.rule_search import RuleSearch
    from swarmdp.recordings.zone_models import ZoneModel

_TINY = 1e-12  # distance below which there is no direction


def rows_in_space(decisions: "Decisions", arena: Any, most_pairs: int) -> NeighbourRows:
    """The rows of decisions in space; see `neighbour_rows`."""
    whole = decisions.turned & decisions.known[:-1]
    whole &= np.isfinite(decisions.previous[:-1]).all(axis=2)
    others = decisions.individuals - 1
    present = np.maximum(decisions.present[:-1] - 1, 1)
    pairs = 2 * int((whole.sum(axis=1) * present).sum())
    every = max(1, math.ceil(pairs / most_pairs))
    whole[np.arange(len(whole)) % every > 0] = False
    time, individual = np.nonzero(whole)
    rows = np.arange(len(time))
    most = min(others, int(decisions.present[:-1].max(initial=1)) - 1)
    gap = decisions.positions[time] - decisions.positions[time, individual][:, None]
    if isinstance(arena, PeriodicSpace):
        gap = arena.gaps(gap)
    headings = decisions.headings[time]
    heading = headings[rows, individual]
    distance = np.sqrt(np.einsum("rna,rna->rn", gap, gap))
    distance[rows, individual] = np.inf
    distance[~(np.isfinite(distance) & np.isfinite(headings).all(axis=2))] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")[:, :most]
    distance = np.take_along_axis(distance, order, axis=1)
    there = np.isfinite(distance)
    gap = np.where(there[..., None], np.take_along_axis(gap, order[..., None], axis=1), 0.0)
    size = np.where(there, np.maximum(distance, _TINY), 1.0)[..., None]
    towards = gap / size
    along = np.take_along_axis(headings, order[..., None], axis=1)
    along = np.where(there[..., None], along, 0.0)
    left, up = sphere.frame(heading)
    speeds = decisions.speeds[time, individual]
    pace = speeds / np.nanmean(decisions.speeds[decisions.known])
    pace = np.where(np.isfinite(pace), pace, 1.0)
    wall, angle, side = _walls(decisions.positions[time, individual], heading, left, up, arena)
    climb = np.arcsin(np.clip(heading[:, 2], -1.0, 1.0))
    common = decisions.headings[decisions.headed].mean(axis=0)
    return NeighbourRows(
        time=np.repeat(time, 2),
        individual=np.repeat(individual, 2),
        times=decisions.times,
        turn=np.clip(decisions.turns[time, individual], -ROBUST, ROBUST).ravel(),
        previous=np.clip(decisions.previous[time, individual], -ROBUST, ROBUST).ravel(),
        speed=np.repeat(pace, 2),
        other=np.repeat(order, 2, axis=0),
        distance=np.repeat(distance, 2, axis=0),
        bearing_ahead=np.repeat(_dot(towards, heading), 2, axis=0),
        bearing_left=_both(_dot(towards, left), _dot(towards, up)),
        heading_ahead=np.repeat(_dot(along, heading), 2, axis=0),
        heading_left=_both(_dot(along, left), _dot(along, up)),
        wall_distance=np.repeat(wall, 2),
        wall_angle=np.repeat(angle, 2),
        parts=2,
        wall_side=side.ravel(),
        climb=np.stack([np.zeros_like(climb), climb], axis=1).ravel(),
        compass=np.stack([left @ common, up @ common], axis=1).ravel(),
    )


def _dot(vectors: Floats, axes: Floats) -> Floats:
    """Vectors (rows, n, 3) along one axis for each row (rows, 3)."""
    along: Floats = np.einsum("rna,ra->rn", vectors, axes)
    return along


def _both(left: Floats, up: Floats) -> Floats:
    """Rows (2 rows, n) in turn of the first and the second."""
    return np.stack([left, up], axis=1).reshape(-1, left.shape[1])


def _walls(
    places: Floats, heading: Floats, left: Floats, up: Floats, arena: Any
) -> tuple[Floats, Floats, Floats]:
    """Distance and angle of the wall (rows,), and its direction across the heading (rows, 2)."""
    if not isinstance(arena, Sphere | Cuboid):
        return np.full(len(places), np.inf), np.zeros(len(places)), np.zeros((len(places), 2))
    distance, outwards = arena.wall(places)
    across = np.stack([(outwards * left).sum(axis=1), (outwards * up).sum(axis=1)], axis=1)
    length = np.hypot(across[:, 0], across[:, 1])
    angle = np.arctan2(length, (outwards * heading).sum(axis=1))
    return distance, angle, across / np.maximum(length, _TINY)[:, None]


def own_columns_in_space(rows: NeighbourRows, arena: Any) -> Floats:
    """What turns depend on without the others (rows, q): before, speed, climb and wall."""
    upwards = np.arange(len(rows.turn)) % 2 == 1
    assert rows.climb is not None
    assert rows.wall_side is not None
    assert rows.compass is not None
    columns = [rows.climb, rows.climb**3, np.where(upwards, 1.0, 0.0)]
    # All may fly to one place: turning back to that way is no reaction to others.
    columns += [np.where(some, rows.compass, 0.0) for some in (upwards, ~upwards)]
    for some in (upwards, ~upwards):
        previous = np.where(some, rows.previous, 0.0)
        columns += [previous, previous * (rows.speed - 1), previous**3]
    if isinstance(arena, Sphere | Cuboid):
        knots = arena.size * np.array(WALL_KNOTS)
        places = np.interp(rows.wall_distance, knots, np.arange(len(knots)))
        sine, cosine = np.sin(rows.wall_angle), np.cos(rows.wall_angle)
        shapes = [sine, sine * cosine, sine * (4 * cosine**2 - 1), (cosine > BEHIND).astype(float)]
        for k in range(len(knots) - 1):
            hat = np.clip(1 - np.abs(places - k), 0.0, 1.0) * rows.wall_side
            columns += [hat * shape for shape in shapes]
    return np.stack(columns, axis=1)


def climb_gain(search: "RuleSearch", model: "ZoneModel") -> tuple[float, float]:
    """The share of the climb that is turned back in a decision, and its standard error."""
    from swarmdp.recordings.rule_search import RuleSearch

    rows = search.table.rows
    assert rows.climb is not None
    social = search.table.columns(model) if model.zones else np.empty((len(rows.turn), 0))
    upwards = np.arange(len(rows.turn)) % 2 == 1
    own = np.column_stack([-rows.climb, np.where(upwards, 1.0, 0.0), rows.previous])
    plain = RuleSearch(search.table, np.zeros((len(rows.turn), 0)), search.components)
    products = plain.products(np.column_stack([own, social]))
    every = range(own.shape[1] + social.shape[1])
    return float(products.gains(every)[0]), float(products.errors(every)[0])


def with_more_errors_in_space(decisions: "Decisions", rng: np.random.Generator) -> "Decisions":
    """The same with errors of positions once more; see `with_more_errors`."""
    places = decisions.positions + decisions.error * rng.standard_normal(decisions.positions.shape)
    before, after = (
        sphere.unit(np.nan_to_num(np.diff(some, axis=0))) for some in (decisions.positions, places)
    )
    # Who hardly moved has kept its heading; the others get the change that the errors make.
    moved = sphere.turns_between(before, after)
    headings = decisions.headings.copy()
    there = np.isfinite(headings[1:]).all(axis=2) & np.isfinite(np.diff(places, axis=0)).all(axis=2)
    headings[1:][there] = sphere.turn_headings(headings[1:][there], moved[there])
    turns = sphere.turns_between(headings[:-1], headings[1:])
    turns[~decisions.turned] = np.nan
    return replace(decisions, positions=places, headings=headings, turns=turns)
