"""What an individual of a recorded swarm may react to, in classes with edges from the data."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Angles, Bins, Classes, Product
from swarmdp.recordings.arena import Arena, Circle, Polygon
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.turns import Seen, symmetric_edges
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.checks import check_integer, check_number, is_integer, told
from swarmdp.support.errors import InvalidInput

COMPONENTS = ("misalignment", "bearing", "spacing", "wall", "previous_turn")
SOCIAL = ("misalignment", "bearing", "spacing")
ODD = ("misalignment", "bearing", "wall", "previous_turn")  # change their sign in the mirror
NEAREST = (1, 2, 3, 5, 7, 10, 20)  # numbers of neighbours that are tried
CLEARLY = 2.0  # standard errors by which a radius must predict better than a number
WITHIN = (3, 10)  # radii that are tried: the median distance to so many neighbours
WALL_SHARES = (0.25, 0.5, 0.75)  # quantiles of the distance to the wall that are tried
PLACES = 80  # places for an edge that are tried
MOVABLE = ("misalignment", "spacing", "wall")  # components whose edges are moved
FEWEST = 0.02  # share of all observations that a class has at least, when edges are moved
ROUNDS = 2  # in which the edges of each component are moved
ROBUST = 1.0  # radians: a mean turn is that of turns cut off here
AHEAD, AWAY = np.pi / 3, 2 * np.pi / 3  # angles to the wall: running into it, running from it


@checked
@dataclass(frozen=True)
class Observation:
    """What individuals may react to, and in how many classes.

    Parameters
    ----------
    misalignment
        Classes of the angle to the mean heading of the neighbours, an odd number; 0 to leave it
        out, as for all components.
    bearing
        Sectors of the mean direction in which the neighbours are.
    spacing
        Classes of the distance to the nearest neighbour.
    wall
        5 tells a wall on the left and on the right, beside or ahead; 3 only the sides.
    previous_turn
        Classes of the turn before, an odd number.
    neighbours
        A number of nearest neighbours (an integer) or a radius in the unit of the recording (a
        float); "auto" takes what predicts turns best, in cross-validation over blocks of time.
    reward
        "additive": a sum of one block of weights for each component, from which rules can be read.
        "product": a weight for each combination, which needs far more data.
    wall_distance
        From how far the wall is seen; "auto" as for neighbours.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Observation(neighbours=3, previous_turn=0).components
    ('misalignment', 'bearing', 'spacing', 'wall')

    """

    misalignment: int = 7
    bearing: int = 4
    spacing: int = 3
    wall: int = 5
    previous_turn: int = 3
    neighbours: int | float | Literal["auto"] = "auto"
    reward: Literal["additive", "product"] = "additive"
    wall_distance: float | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        for name in COMPONENTS:
            value = getattr(self, name)
            check_integer(name, value, least=0)
            if name in ("misalignment", "previous_turn") and value and not value % 2:
                raise InvalidInput(
                    f"{name} needs an odd number of classes, one of them around zero, got {value}"
                )
        if self.wall not in (0, 3, 5):
            raise InvalidInput(f"wall must be 0, 3 or 5, got {self.wall}")
        if not self.components:
            raise InvalidInput("an observation needs at least one component, got none")
        if not isinstance(self.neighbours, str):
            if is_integer(self.neighbours):
                check_integer("neighbours", self.neighbours, least=1)
            else:
                check_number("neighbours, as a radius,", self.neighbours, positive=True)
        elif self.neighbours != "auto":
            raise InvalidInput(
                f'neighbours must be an integer, a radius or "auto", got {told(self.neighbours)}'
            )
        if self.reward not in ("additive", "product"):
            raise InvalidInput(f'reward must be "additive" or "product", got {told(self.reward)}')

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components that are observed."""
        return tuple(name for name in COMPONENTS if getattr(self, name))


@dataclass(frozen=True, eq=False)
class View:
    """An observation whose classes, neighbours and distances are known."""

    features: Product
    nearest: int  # number of nearest neighbours; 0: all within the radius
    radius: float
    wall_distance: float
    arena: Arena | None
    sides: bool  # of the wall only its sides are told

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(self.features.components)

    @property
    def signs(self) -> Floats:
        """What the mirror does to each component."""
        return np.array([-1.0 if name in ODD else 1.0 for name in self.components])

    @property
    def social(self) -> tuple[str, ...]:
        """The components that tell of others."""
        return tuple(name for name in self.components if name in SOCIAL)

    @property
    def alone(self) -> tuple[str, ...]:
        """The components that do not."""
        return tuple(name for name in self.components if name not in SOCIAL)

    def of(self, position: Floats, heading: Floats, previous: Floats) -> Floats:
        """What is observed (..., agents, k); NaN where an agent is absent."""
        seen = look(position, heading, self.nearest, self.radius, self.arena)
        columns = {
            "misalignment": seen[..., 0],
            "bearing": seen[..., 1],
            "spacing": seen[..., 2],
            "wall": _wall(seen[..., 3], seen[..., 4], self.wall_distance, self.sides),
            "previous_turn": previous,
        }
        return np.stack([columns[name] for name in self.components], axis=-1)

    @cached_property
    def mirror(self) -> Ints:
        """The class of each class's mirror image."""
        grids = np.meshgrid(*(axis.values for axis in self.features.axes), indexing="ij")
        centres = np.stack([grid.ravel() for grid in grids], axis=-1)
        return np.asarray(self.features.index(centres * self.signs), np.int64)

    def classes(self, decisions: Decisions) -> Ints:
        """The class of each recorded observation (time, individual); -1 where it is not known."""
        seen = self.of(decisions.positions, decisions.headings, decisions.previous)
        whole = np.isfinite(seen).all(axis=-1) & decisions.known
        found = np.full(whole.shape, -1, np.int64)
        found[whole] = self.features.index(seen[whole])
        return found

    def complete(self, decisions: Decisions) -> Bools:
        """Whose neighbours were all recorded (time, individual), none interpolated or missing.

        It is so if the same is seen whether the others' gaps are filled in or left out.
        """
        filled = decisions.without_gaps
        whole = look(filled.positions, filled.headings, self.nearest, self.radius, self.arena)
        hidden = np.where(decisions.known, decisions.headings, np.nan)
        part = look(decisions.positions, hidden, self.nearest, self.radius, self.arena)
        found: Bools = (whole[..., :3] == part[..., :3]).all(axis=-1)
        return found

    def seen(self, decisions: Decisions) -> Seen:
        """Classes and the turns that followed."""
        return Seen(self.classes(decisions)[:-1], decisions.turns, self.features, self.mirror)


def look(
    position: Floats, heading: Floats, nearest: int, radius: float, arena: Arena | None
) -> Floats:
    """`kernels.recorded.sight` for arrays of states or recorded frames."""
    kind = kernels.space.OPEN if arena is None else arena.kind
    walls = np.zeros((1, 2)) if arena is None else arena.walls
    return kernels.recorded.sight(
        np.ascontiguousarray(position, np.float64),
        np.ascontiguousarray(heading, np.float64),
        nearest,
        radius,
        kind,
        walls,
    )


def _wall(distance: Floats, angle: Floats, near: float, sides: bool) -> Floats:
    """Where the wall is: 0 not seen, 1 on the left, 2 ahead and left; negative on the right."""
    away = np.abs(angle)
    code = np.where(sides, 1.0, np.where(away < AHEAD, 2.0, 1.0))
    hidden = (distance > near) | (away > AWAY)
    found: Floats = np.where(hidden, 0.0, np.where(angle >= 0, code, -code))
    return np.where(np.isnan(distance), np.nan, found)


def calibrated(
    observation: Observation, decisions: Decisions, arena: Arena | None
) -> tuple[View, dict[str, float]]:
    """The classes for an observation, from these decisions, and what was tried for them.

    What was tried has the mean logarithm of the chance of a held-out turn, in nats.
    """
    others = int(np.median(np.isfinite(decisions.headings).sum(axis=1))) - 1
    if others < 1 and set(SOCIAL) & set(observation.components):
        raise InvalidInput(
            "there is only one individual at most times, who has no neighbours to react to: record "
            "at least two, or in Python leave the others out of what is observed, "
            "Observation(misalignment=0, bearing=0, spacing=0)"
        )
    walled = isinstance(arena, Circle | Polygon) or (
        arena is not None and arena.kind == kernels.space.POLYGON
    )
    tried: dict[str, float] = {}
    walls = _wall_distances(observation, decisions, arena) if walled else [0.0]
    near = walls[len(walls) // 2]
    groups = _neighbours(observation, decisions, max(others, 1), arena)
    if len(groups) > 1:
        scores = {}
        for nearest, radius in groups:
            view = _view(observation, decisions, arena, nearest, radius, near, walled)
            scores[nearest, radius] = _chances(view, decisions)
            name = f"{nearest} nearest" if nearest else f"within {radius:.4g} {decisions.unit}"
            tried[name] = float(np.nanmean(scores[nearest, radius]))
        groups = [_chosen(scores)]
    if len(walls) > 1:
        best = -np.inf
        for distance in walls:
            view = _view(observation, decisions, arena, *groups[0], distance, walled)
            score = _score(view, decisions)
            tried[f"wall within {distance:.4g} {decisions.unit}"] = score
            if score > best:
                best, near = score, distance
    even = _view(observation, decisions, arena, *groups[0], near, walled)
    moved = _moved(even, decisions)
    if moved is even:
        return even, tried
    for name, view in (("classes of equal size", even), ("classes by their turns", moved)):
        tried[name] = _score(view, decisions)
    better = tried["classes by their turns"] > tried["classes of equal size"]
    return moved if better else even, tried


def _chosen(scores: dict[tuple[int, float], Floats]) -> tuple[int, float]:
    """The number of neighbours that predicts best; a radius only if it is clearly better.

    Who has nobody within a radius has no direction to turn to, and a simulated swarm falls apart.
    """
    best = max(scores, key=lambda each: float(np.nanmean(scores[each])))
    counted = [each for each in scores if each[0]]
    if best[0] or not counted:
        return best
    other = max(counted, key=lambda each: float(np.nanmean(scores[each])))
    better = np.nansum(scores[best] - scores[other], axis=1)  # of each time
    error = float(better.std(ddof=1)) * np.sqrt(len(better))
    return best if better.sum() > CLEARLY * error else other


def _neighbours(
    observation: Observation, decisions: Decisions, others: int, arena: Arena | None
) -> list[tuple[int, float]]:
    """The numbers of nearest neighbours and the radii to choose from."""
    wanted: Any = observation.neighbours
    if not set(SOCIAL) & set(observation.components):
        return [(1, 0.0)]
    if wanted != "auto":
        if not is_integer(wanted):
            return [(0, float(wanted))]
        if wanted > others:
            raise InvalidInput(
                f"neighbours must be at most {others}, as many others as there are at most times, "
                f"got {wanted}"
            )
        return [(int(wanted), 0.0)]
    groups = [(k, 0.0) for k in NEAREST if k <= others]
    radii = [(0, _reach(decisions, count, arena)) for count in WITHIN if count <= others]
    return [*groups, *radii]


def _reach(decisions: Decisions, count: int, arena: Arena | None) -> float:
    """The median distance to the neighbour of this rank."""
    place = decisions.positions
    found = []
    for frame in place[:: max(1, len(place) // 50)]:
        here = frame[np.isfinite(frame).all(axis=1)]
        if len(here) <= count:
            continue
        gaps = here[:, None] - here
        if arena is not None and arena.kind == kernels.space.PERIODIC:
            sides = arena.walls[1]
            gaps -= sides * np.round(gaps / sides)
        found.append(np.sort(np.linalg.norm(gaps, axis=2), axis=1)[:, count])
    return float(np.median(np.concatenate(found))) if found else 1.0


def _wall_distances(
    observation: Observation, decisions: Decisions, arena: Arena | None
) -> list[float]:
    if not observation.wall:
        return [0.0]
    if not isinstance(observation.wall_distance, str):
        return [float(observation.wall_distance)]
    distance = look(decisions.positions, decisions.headings, 1, 0.0, arena)[..., 3]
    return [float(each) for each in np.nanquantile(distance[decisions.known], WALL_SHARES)]


def _view(
    observation: Observation,
    decisions: Decisions,
    arena: Arena | None,
    nearest: int,
    radius: float,
    near: float,
    walled: bool,
) -> View:
    """The view with classes whose edges are quantiles of what was seen."""
    seen = look(decisions.positions, decisions.headings, nearest, radius, arena)[decisions.known]
    unit = decisions.unit
    parts: dict[str, Classes] = {}
    for name in observation.components:
        classes = getattr(observation, name)
        if name == "misalignment":
            parts[name] = equal_classes(name, seen[:, 0], classes, "rad")
        elif name == "bearing":
            parts[name] = Angles(classes, name)
        elif name == "spacing":
            parts[name] = equal_classes(name, seen[:, 2], classes, unit)
        elif name == "wall" and walled:
            half = classes // 2
            parts[name] = Bins(np.arange(-half, half + 2) - 0.5, name)
        elif name == "previous_turn":
            inner = symmetric_edges(decisions.previous, classes)
            parts[name] = Bins([-np.inf, *inner, np.inf], name, "rad")
    if not parts:
        raise InvalidInput(
            "nothing is left to observe: there is no wall in this arena, and no other component "
            "was asked for"
        )
    features = Product(additive=observation.reward == "additive", **parts)
    return View(features, nearest, radius, near, arena, observation.wall == 3)


def equal_classes(name: str, values: Floats, classes: int, unit: str) -> Bins:
    """Classes of misalignment or spacing in which about equally many values (n,) are."""
    if name == "misalignment":
        return Bins([-np.inf, *symmetric_edges(values, classes), np.inf], name, unit)
    shares = np.arange(1, classes) / classes
    inner = np.unique(np.quantile(values, shares)) if len(shares) else np.zeros(0)
    return Bins([0.0, *inner[inner > 0], np.inf], name, unit)


def _chances(view: View, decisions: Decisions) -> Floats:
    """The logarithm of the chance of each held-out turn (time - 1, individual)."""
    return view.seen(decisions).log_chances(view.components)


def _score(view: View, decisions: Decisions) -> float:
    return float(np.nanmean(_chances(view, decisions)))


def _moved(view: View, decisions: Decisions) -> View:
    """The view with edges where turns change most: the same number of classes, other places.

    One component after the other gets those edges between which turns differ least, given the
    classes of all others. The view itself, if it has no edges to move.
    """
    turns = decisions.turns
    seen = view.of(decisions.positions, decisions.headings, decisions.previous)[:-1]
    known = np.isfinite(seen).all(axis=-1) & np.isfinite(turns) & decisions.known[:-1]
    raw, cut = seen[known], np.clip(turns[known], -ROBUST, ROBUST)
    # Everything counts also mirrored.
    raw, cut = np.concatenate([raw, raw * view.signs]), np.concatenate([cut, -cut])
    parts = dict(view.features.components)
    movable = [name for name in MOVABLE if name in parts and parts[name].size > 1]
    if not movable or not known.any():
        return view
    places = {name: n for n, name in enumerate(parts)}
    near = view.wall_distance
    if "wall" in movable:
        gaps = look(decisions.positions, decisions.headings, 1, 0.0, view.arena)[:-1][known]
        distance, angle = (np.concatenate([each, each]) for each in (gaps[:, 3], gaps[:, 4]))
        angle[len(gaps) :] *= -1
    for name in movable * ROUNDS:
        group = np.zeros(len(raw), np.int64)
        for other, part in parts.items():
            if other not in (name, "previous_turn"):
                group = group * part.size + part.index(raw[:, places[other]])
        _, group = np.unique(group, return_inverse=True)
        part, own = parts[name], raw[:, places[name]]
        if name == "wall":
            near = _best_distance(distance, angle, view.sides, cut, group, part, near)
            raw[:, places[name]] = _wall(distance, angle, near, view.sides)
            continue
        inner = best_edges(own, cut, group, part.size, symmetric=name == "misalignment")
        if inner is not None:
            low = -np.inf if name == "misalignment" else 0.0
            units = "rad" if name == "misalignment" else decisions.unit
            parts[name] = Bins([low, *inner, np.inf], name, units)
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
    best, found = -np.inf, near
    for tried in np.unique(np.append(np.quantile(distance, np.arange(1, PLACES) / PLACES), near)):
        cell = group * part.size + part.index(_wall(distance, angle, float(tried), sides))
        count = np.bincount(cell)
        total = np.bincount(cell, turns)
        seen = count > 0
        worth = float((total[seen] ** 2 / count[seen]).sum() - variance * seen.sum())
        if worth > best:
            best, found = worth, float(tried)
    return found


def best_edges(
    values: Floats, turns: Floats, group: Ints, classes: int, *, symmetric: bool
) -> Floats | None:
    """Edges of classes of values within which turns (n,) of one group (n,) differ least.

    All values occur also mirrored. Symmetric edges are about zero, in an odd number of classes.
    None if there are too few values for so many classes.
    """
    sizes = np.abs(values) if symmetric else values
    tried = np.unique(np.quantile(sizes, np.arange(1, PLACES) / PLACES))
    tried = tried[tried > 0]
    intervals = (classes + 1) // 2 if symmetric else classes
    if len(tried) < intervals - 1 or intervals < 2:
        return None
    place = np.searchsorted(tried, sizes)
    groups = int(group.max()) + 1
    variance = float(np.mean(turns**2))

    def worth(which: NDArray[np.bool_]) -> Floats:
        """What is explained (begin, end) by one class of the places from begin to before end."""
        at = place[which] * groups + group[which]
        shape = (len(tried) + 1, groups)
        count = np.bincount(at, minlength=shape[0] * groups).reshape(shape)
        total = np.bincount(at, turns[which], minlength=shape[0] * groups).reshape(shape)
        upto = [
            np.concatenate([np.zeros((1, groups)), each.cumsum(axis=0)]) for each in (count, total)
        ]
        n, sums = (each[None] - each[:, None] for each in upto)
        own = np.divide(sums**2, n, out=np.zeros(n.shape), where=n > 0) - variance * (n > 0)
        found = own.sum(axis=2)
        return np.where(n.sum(axis=2) >= FEWEST * n[0, -1].sum(), found, -np.inf)

    every = np.ones(len(values), np.bool_)
    outer = worth(values > 0) if symmetric else worth(every)
    inner = worth(every) / 2 if symmetric else outer
    # The best first k classes that end before each place, one class after the other.
    best, back = inner[0], []
    for _ in range(intervals - 1):
        each = best[:, None] + outer
        back.append(each.argmax(axis=0))
        best = each.max(axis=0)
    if not np.isfinite(best[-1]):
        return None
    ends, end = [], len(tried) + 1
    for came in reversed(back):
        end = int(came[end])
        ends.append(tried[end - 1])
    edges = np.array(ends[::-1])
    return np.concatenate([-edges[::-1], edges]) if symmetric else edges
