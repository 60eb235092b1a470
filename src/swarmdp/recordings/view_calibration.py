"""How the classes of an observation are chosen: neighbours, distances and edges from the data."""

from dataclasses import replace
from typing import Any

import numpy as np

from swarmdp import kernels
from swarmdp.model.features import Classes, Product
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.components import (
    COMPONENTS,
    AgentSight,
    Observation,
    social_components,
    surroundings,
    wall_codes,
)
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.view import View
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.checks import is_integer
from swarmdp.support.errors import InvalidInput

NEAREST = (1, 2, 3, 5, 7, 10, 20)  # numbers of neighbours that are tried
BETTER = 2.0  # standard errors by which a radius must predict better than a number
WITHIN = (3, 10)  # radii that are tried: the median distances to the neighbours of these ranks
WALL_SHARES = (0.25, 0.5, 0.75)  # quantiles of the distance to the wall that are tried
EDGE_PLACES = 80  # places for an edge that are tried
FEWEST = 0.02  # share of all observations that a class has at least, when edges are moved
EDGE_ROUNDS = 2  # in which the edges of each component are moved
MOST_TURN = 1.0  # radians: a mean turn is that of turns cut off here


def calibrate_view(
    observation: Observation, decisions: Decisions, arena: Arena | None
) -> tuple[View, dict[str, float]]:
    """The classes for an observation, from these decisions, and what was tried for them.

    What was tried has the mean logarithm of the chance of a held-out turn, in nats.
    """
    others = int(np.median(np.isfinite(decisions.headings).sum(axis=1))) - 1
    if others < 1 and _is_social(observation):
        without = ", ".join(f"{name}=0" for name in social_components())
        raise InvalidInput(
            "there is only one individual at most times, who has no neighbours to react to: record "
            "at least two, or in Python leave the others out of what is observed, "
            f"Observation({without})"
        )
    walled = arena is not None and arena.kind != kernels.space.PERIODIC
    tried: dict[str, float] = {}
    walls = _wall_distances(observation, decisions, arena) if walled else [0.0]
    near = walls[len(walls) // 2]
    groups = _neighbourhoods(observation, decisions, max(others, 1), arena)
    if len(groups) > 1:
        scores = {}
        for nearest, radius in groups:
            view = _equal_view(observation, decisions, arena, nearest, radius, near, walled)
            scores[nearest, radius] = _log_chances(view, decisions)
            name = f"{nearest} nearest" if nearest else f"within {radius:.4g} {decisions.unit}"
            tried[name] = float(np.nanmean(scores[nearest, radius]))
        groups = [_best_neighbourhood(scores)]
    if len(walls) > 1:
        best = -np.inf
        for distance in walls:
            view = _equal_view(observation, decisions, arena, *groups[0], distance, walled)
            score = _score(view, decisions)
            tried[f"wall within {distance:.4g} {decisions.unit}"] = score
            if score > best:
                best, near = score, distance
    even = _equal_view(observation, decisions, arena, *groups[0], near, walled)
    moved = _move_edges(even, decisions)
    if moved is even:
        return even, tried
    for name, view in (("classes of equal size", even), ("classes by their turns", moved)):
        tried[name] = _score(view, decisions)
    better = tried["classes by their turns"] > tried["classes of equal size"]
    return moved if better else even, tried


def _is_social(observation: Observation) -> bool:
    return any(COMPONENTS[name].social for name in observation.components)


def _best_neighbourhood(scores: dict[tuple[int, float], Floats]) -> tuple[int, float]:
    """The number of neighbours that predicts best; a radius only if it is clearly better.

    An agent that has no neighbours within a radius has no direction to turn to, and a simulated
    swarm falls apart.
    """
    best = max(scores, key=lambda group: float(np.nanmean(scores[group])))
    numbers = [group for group in scores if group[0]]
    if best[0] or not numbers:
        return best
    other = max(numbers, key=lambda group: float(np.nanmean(scores[group])))
    better = np.nansum(scores[best] - scores[other], axis=1)  # at every time
    error = float(better.std(ddof=1)) * np.sqrt(len(better))
    return best if better.sum() > BETTER * error else other


def _neighbourhoods(
    observation: Observation, decisions: Decisions, others: int, arena: Arena | None
) -> list[tuple[int, float]]:
    """The numbers of nearest neighbours and the radii to choose from."""
    asked: Any = observation.neighbours
    if not _is_social(observation):
        return [(1, 0.0)]
    if asked != "auto":
        if not is_integer(asked):
            return [(0, float(asked))]
        if asked > others:
            raise InvalidInput(
                f"neighbours must be at most {others}, as many others as there are at most times, "
                f"got {asked}"
            )
        return [(int(asked), 0.0)]
    groups = [(k, 0.0) for k in NEAREST if k <= others]
    radii = [(0, _median_distance(decisions, rank, arena)) for rank in WITHIN if rank <= others]
    return [*groups, *radii]


def _median_distance(decisions: Decisions, rank: int, arena: Arena | None) -> float:
    """The median distance to the neighbour of this rank."""
    place = decisions.positions
    distances = []
    for frame in place[:: max(1, len(place) // 50)]:
        here = frame[np.isfinite(frame).all(axis=1)]
        if len(here) <= rank:
            continue
        gaps = here[:, None] - here
        if arena is not None and arena.kind == kernels.space.PERIODIC:
            sides = arena.walls[1]
            gaps -= sides * np.round(gaps / sides)
        distances.append(np.sort(np.linalg.norm(gaps, axis=2), axis=1)[:, rank])
    return float(np.median(np.concatenate(distances))) if distances else 1.0


def _wall_distances(
    observation: Observation, decisions: Decisions, arena: Arena | None
) -> list[float]:
    if not any(COMPONENTS[name].needs_wall for name in observation.components):
        return [0.0]
    if not isinstance(observation.wall_distance, str):
        return [float(observation.wall_distance)]
    distance = surroundings(decisions.positions, decisions.headings, 1, 0.0, arena)[..., 3]
    return [float(q) for q in np.nanquantile(distance[decisions.known], WALL_SHARES)]


def _equal_view(
    observation: Observation,
    decisions: Decisions,
    arena: Arena | None,
    nearest: int,
    radius: float,
    near: float,
    walled: bool,
) -> View:
    """The view with classes whose edges are quantiles of what was seen."""
    sides = observation.wall == 3
    others = decisions.outside
    sight = AgentSight(
        decisions.positions,
        decisions.headings,
        decisions.previous,
        lambda: decisions.speeds,
        nearest,
        radius,
        near,
        sides,
        arena,
        None if others is None else others.positions,
    )
    parts: dict[str, Classes] = {}
    for name in observation.components:
        row = COMPONENTS[name]
        possible = walled or not row.needs_wall
        if possible and (others is not None or not row.needs_outsiders):
            values = row.read(sight)[decisions.known]
            parts[name] = row.classes(name, values, observation.count(name), decisions.unit)
    if not parts:
        raise InvalidInput(
            "nothing is left to observe: there is no wall in this arena, and no other component "
            "was asked for"
        )
    features = Product(additive=observation.reward == "additive", **parts)
    return View(features, nearest, radius, near, arena, sides)


def _log_chances(view: View, decisions: Decisions) -> Floats:
    """The logarithm of the chance of each held-out turn (time - 1, individual)."""
    return view.seen(decisions).log_chances(view.components)


def _score(view: View, decisions: Decisions) -> float:
    return float(np.nanmean(_log_chances(view, decisions)))


def _move_edges(view: View, decisions: Decisions) -> View:
    """The view with edges where turns change most: the same number of classes, other places.

    One component after the other gets those edges between which turns differ least, given the
    classes of all others. The view itself, if it has no edges to move.
    """
    turns = decisions.turns
    seen = view.of_decisions(decisions)[:-1]
    complete = np.isfinite(seen).all(axis=-1) & np.isfinite(turns) & decisions.known[:-1]
    raw, cut = seen[complete], np.clip(turns[complete], -MOST_TURN, MOST_TURN)
    # Everything counts also mirrored.
    raw, cut = np.concatenate([raw, raw * view.signs]), np.concatenate([cut, -cut])
    parts = dict(view.features.components)
    movable = [n for n, row in COMPONENTS.items() if row.movable and n in parts]
    movable = [name for name in movable if parts[name].size > 1]
    if not movable or not complete.any():
        return view
    columns = {name: n for n, name in enumerate(parts)}
    near = view.wall_distance
    if any(COMPONENTS[name].scale == "sides" for name in movable):
        gaps = surroundings(decisions.positions, decisions.headings, 1, 0.0, view.arena)
        distance, angle = gaps[:-1][complete][:, 3:].T
        distance, angle = np.tile(distance, 2), np.concatenate([angle, -angle])
    for name in movable * EDGE_ROUNDS:
        group = np.zeros(len(raw), np.int64)
        for other, part in parts.items():
            if other != name and not COMPONENTS[other].memory:
                group = group * part.size + part.index(raw[:, columns[other]])
        _, group = np.unique(group, return_inverse=True)
        row, part, column = COMPONENTS[name], parts[name], columns[name]
        if row.scale == "sides":
            near = _best_distance(distance, angle, view.sides, cut, group, part, near)
            raw[:, column] = wall_codes(distance, angle, near, view.sides)
            continue
        symmetric = row.scale == "signed"
        inner = best_edges(raw[:, column], cut, group, part.size, symmetric=symmetric)
        if inner is not None:
            parts[name] = row.bins(name, inner, decisions.unit)
    features = Product(additive=view.features.additive, **parts)
    return replace(view, features=features, wall_distance=near)


def _best_distance(
    distance: Floats,
    angle: Floats,
    sides: bool,
    turns: Floats,
    group: Ints,
    part: Classes,
    near: float,
) -> float:
    """From how far the wall is seen, so that turns in one class of one group differ least."""
    variance = float(np.mean(turns**2))
    most, best = -np.inf, near
    places = np.quantile(distance, np.arange(1, EDGE_PLACES) / EDGE_PLACES)
    for tried in np.unique(np.append(places, near)).tolist():
        cell = group * part.size + part.index(wall_codes(distance, angle, tried, sides))
        count = np.bincount(cell)
        total = np.bincount(cell, turns)
        seen = count > 0
        worth = float((total[seen] ** 2 / count[seen]).sum() - variance * seen.sum())
        if worth > most:
            most, best = worth, tried
    return best


def best_edges(
    values: Floats, turns: Floats, group: Ints, classes: int, *, symmetric: bool
) -> Floats | None:
    """Edges of classes of values within which turns (n,) of one group (n,) differ least.

    All values occur also mirrored. Symmetric edges are about zero, in an odd number of classes.
    None if there are too few values for this number of classes.
    """
    sizes = np.abs(values) if symmetric else values
    tried = np.unique(np.quantile(sizes, np.arange(1, EDGE_PLACES) / EDGE_PLACES))
    tried = tried[tried > 0]
    intervals = (classes + 1) // 2 if symmetric else classes
    if len(tried) < intervals - 1 or intervals < 2:
        return None
    place = np.searchsorted(tried, sizes)
    groups = int(group.max()) + 1
    variance = float(np.mean(turns**2))

    def worth(which: Bools) -> Floats:
        """What is explained (begin, end) by one class of the places from begin to before end."""
        at = place[which] * groups + group[which]
        shape = (len(tried) + 1, groups)
        count = np.bincount(at, minlength=shape[0] * groups).reshape(shape)
        total = np.bincount(at, turns[which], minlength=shape[0] * groups).reshape(shape)
        upto = [
            np.concatenate([np.zeros((1, groups)), array.cumsum(axis=0)])
            for array in (count, total)
        ]
        n, sums = (array[None] - array[:, None] for array in upto)
        gain = np.divide(sums**2, n, out=np.zeros(n.shape), where=n > 0) - variance * (n > 0)
        enough = n.sum(axis=2) >= FEWEST * n[0, -1].sum()
        return np.where(enough, gain.sum(axis=2), -np.inf)

    every = np.ones(len(values), np.bool_)
    outer = worth(values > 0) if symmetric else worth(every)
    inner = worth(every) / 2 if symmetric else outer
    # The best first k classes that end before each place, one class after the other.
    best, back = inner[0], []
    for _ in range(intervals - 1):
        sums = best[:, None] + outer
        back.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
    if not np.isfinite(best[-1]):
        return None
    ends, end = [], len(tried) + 1
    for came in reversed(back):
        end = int(came[end])
        ends.append(tried[end - 1])
    edges = np.array(ends[::-1])
    return np.concatenate([-edges[::-1], edges]) if symmetric else edges
