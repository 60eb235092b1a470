"""Arenas: where recorded individuals could be, fitted to where they were."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swarmdp import kernels
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import brief, check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Positive, PositiveInteger

Symmetries = list[tuple[float, int]]  # rotations by an angle, after a reflection where it is -1

SECTORS = 24  # parts of a rim of which each is touched or not
_NEAR = 0.06  # of half the width of an arena: this near to the rim is a touch
LEAST_TOUCHED = 0.7  # share of the rim from which on a fitted arena is believed
ROUND_CORNERS, ROUNDNESS = 8, 0.15  # points of a border that is round, and how far off they are
_SAME = 1e-6  # of its size, by which a polygon may miss its mirror image


class UnclearArena(InvalidInput):
    """No arena that was fitted to a recording can be believed: it has to be given."""


@checked
@dataclass(frozen=True)
class Circle:
    """A round arena.

    Parameters
    ----------
    centre
        Its coordinates, in the unit of the recording.
    radius
        Its radius.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Circle((0.0, 0.0), radius=25.0).radius
    25.0

    """

    centre: tuple[float, float]
    radius: Positive

    kind = kernels.space.CIRCLE

    @property
    def walls(self) -> Floats:
        """Centre and radius, as the kernels take them."""
        return np.array([self.centre, (self.radius, 0.0)])

    @property
    def middle(self) -> Floats:
        """The point about which the arena may be turned."""
        return np.array(self.centre)

    @property
    def window(self) -> tuple[float, float, float]:
        """Left, bottom and side of a square around it."""
        return self.centre[0] - self.radius, self.centre[1] - self.radius, 2 * self.radius

    @property
    def symmetries(self) -> None:
        """None: it may be turned by any angle and reflected."""
        return

    def rim(self, count: PositiveInteger) -> Floats:
        """Points on the wall (count, 2), at even distances along it."""
        angle = (np.arange(count) + 0.5) * (2 * math.pi / count)
        return self.middle + self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@checked
@dataclass(frozen=True)
class Polygon:
    """An arena with straight walls.

    Parameters
    ----------
    vertices
        Its corners, at least three, one after the other around it.

    Examples
    --------
    >>> import swarmdp
    >>> len(swarmdp.recordings.Polygon(((0, 0), (4, 0), (0, 3))).vertices)
    3

    """

    vertices: tuple[tuple[float, float], ...]

    kind = kernels.space.POLYGON

    def __post_init__(self) -> None:
        points = np.array(self.vertices, np.float64)
        if points.ndim != 2 or len(points) < 3 or not np.isfinite(points).all():
            raise InvalidInput(
                f"a polygon needs at least three finite corners (x, y), got {brief(self.vertices)}"
            )
        if abs(self._area) < 1e-12 * np.ptp(points, axis=0).max() ** 2:
            raise InvalidInput("the corners of a polygon must enclose an area, got none")

    @property
    def _area(self) -> float:
        x, y = np.array(self.vertices).T
        return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)

    @property
    def walls(self) -> Floats:
        """The corners, as the kernels take them."""
        return np.array(self.vertices, np.float64)

    @property
    def middle(self) -> Floats:
        """The mean of the corners."""
        mean: Floats = self.walls.mean(axis=0)
        return mean

    @property
    def window(self) -> tuple[float, float, float]:
        """Left, bottom and side of a square around it."""
        low, high = self.walls.min(axis=0), self.walls.max(axis=0)
        side = float((high - low).max())
        left, bottom = (low + high - side) / 2
        return float(left), float(bottom), side

    @cached_property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections about its middle that leave it as it is."""
        corners = (self.walls - self.middle) @ np.array([1, 1j])
        symmetries = []
        for sign in (1, -1):
            first = corners[0] if sign == 1 else corners[0].conj()
            for other in corners:
                angle = float(np.angle(other * first.conj()))
                turned = (corners if sign == 1 else corners.conj()) * np.exp(1j * angle)
                gaps = np.abs(turned[:, None] - corners)
                if (gaps.min(axis=1) <= _SAME * np.abs(corners).max()).all():
                    symmetries.append((angle, sign))
        return symmetries

    def rim(self, count: PositiveInteger) -> Floats:
        """Points on the wall (count, 2), at even distances along it."""
        ends = np.vstack([self.walls, self.walls[:1]])
        along = np.append(0, np.cumsum(np.linalg.norm(np.diff(ends, axis=0), axis=1)))
        places = (np.arange(count) + 0.5) * (along[-1] / count)
        return np.stack([np.interp(places, along, axis) for axis in ends.T], axis=1)


@checked
@dataclass(frozen=True)
class Box:
    """A rectangular arena with walls.

    Parameters
    ----------
    lower
        Its corner with the smallest coordinates.
    upper
        Its corner with the largest.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Box((0.0, 0.0), (30.0, 20.0)).upper    # in the recording's unit
    (30.0, 20.0)

    """

    lower: tuple[float, float]
    upper: tuple[float, float]

    kind = kernels.space.POLYGON

    def __post_init__(self) -> None:
        if not all(b - a > 0 for a, b in zip(self.lower, self.upper, strict=True)):
            raise InvalidInput(
                f"the upper corner of a box must be above the lower one on both axes, got "
                f"{self.lower} and {self.upper}"
            )

    @cached_property
    def _polygon(self) -> Polygon:
        (a, b), (c, d) = self.lower, self.upper
        return Polygon(((a, b), (c, b), (c, d), (a, d)))

    @property
    def walls(self) -> Floats:
        """The corners, as the kernels take them."""
        return self._polygon.walls

    @property
    def middle(self) -> Floats:
        """Its middle."""
        return self._polygon.middle

    @property
    def window(self) -> tuple[float, float, float]:
        """Left, bottom and side of a square around it."""
        return self._polygon.window

    @property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections that leave it as it is."""
        return self._polygon.symmetries

    def rim(self, count: int) -> Floats:
        """Points on the wall (count, 2), at even distances along it."""
        return self._polygon.rim(count)


@checked
@dataclass(frozen=True)
class Periodic:
    """A rectangle whose opposite edges meet, as in simulations.

    Parameters
    ----------
    sides
        Its width and height.
    lower
        Its corner with the smallest coordinates.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Periodic((1.0, 1.0)).sides
    (1.0, 1.0)

    """

    sides: tuple[float, float]
    lower: tuple[float, float] = (0.0, 0.0)

    kind = kernels.space.PERIODIC

    def __post_init__(self) -> None:
        for side in self.sides:
            check_number("a side of a periodic arena", side, positive=True)

    @property
    def walls(self) -> Floats:
        """Corner and sides, as the kernels take them."""
        return np.array([self.lower, self.sides])

    @property
    def middle(self) -> Floats:
        """Its middle."""
        return np.array(self.lower) + np.array(self.sides) / 2

    @property
    def window(self) -> tuple[float, float, float]:
        """Left, bottom and the longer side."""
        return self.lower[0], self.lower[1], max(self.sides)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The rotations and reflections that leave it as it is."""
        (a, b), (c, d) = self.lower, np.array(self.lower) + self.sides
        return Polygon(((a, b), (float(c), b), (float(c), float(d)), (a, float(d)))).symmetries


Arena = Circle | Polygon | Box | Periodic
_KINDS: dict[str, type[Circle] | type[Box]] = {"circle": Circle, "box": Box}


def arena_in_words(arena: Arena | None, unit: str) -> str:
    """What an arena is like: 'circle of radius 25 cm around (0, 0)'."""
    if arena is None:
        return "open space"
    if isinstance(arena, Circle):
        x, y = arena.centre
        return f"circle of radius {arena.radius:.4g} {unit} around ({x:.4g}, {y:.4g})"
    corners = "" if not isinstance(arena, Polygon) else f" of {len(arena.vertices)} corners"
    return f"{type(arena).__name__.lower()}{corners}, {arena.window[2]:.4g} {unit} wide"


def describe_arena(arena: Arena | None) -> dict[str, Any] | None:
    """An arena as plain data."""
    if arena is None:
        return None
    inner = {
        name: [list(v) if isinstance(v, tuple) else v for v in value]
        if isinstance(value, tuple)
        else value
        for name, value in vars(arena).items()
        if name in type(arena).__dataclass_fields__
    }
    return {"kind": type(arena).__name__, **inner}


def restore_arena(plain: Mapping[str, Any] | None) -> Arena | None:
    """The arena that `describe_arena` described."""
    if plain is None:
        return None
    kinds: dict[str, Any] = {kind.__name__: kind for kind in (Circle, Polygon, Box, Periodic)}
    inner = {name: _tuples(value) for name, value in plain.items() if name != "kind"}
    arena: Arena = kinds[plain["kind"]](**inner)
    return arena


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def touched_share(arena: Circle | Polygon | Box, places: Floats) -> float:
    """The share of the rim to which somebody came near, of places (n, 2)."""
    from scipy.spatial import KDTree

    near = _NEAR * arena.window[2] / 2
    fine = arena.rim(SECTORS * 8)
    distance, part = KDTree(fine).query(places)
    gap = _wall_distance(arena, places)
    hit = np.unique(part[(gap <= near) & (distance <= near + _pitch(fine))] // 8)
    return len(hit) / SECTORS


def _pitch(points: Floats) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).max())


def _wall_distance(arena: Arena, places: Floats) -> Floats:
    """The distance of places (n, 2) from the wall; zero outside."""
    seen = kernels.recorded.sight(
        places[:, None].copy(), np.zeros((len(places), 1)), 1, 0.0, arena.kind, arena.walls
    )
    return seen[:, 0, 3]


def fit_arena(places: Floats, asked: str) -> tuple[Arena, float]:
    """The arena in which places (n, 2) are, and the share of its rim that was touched.

    Parameters
    ----------
    places
        Where individuals were.
    asked
        "circle" or "box", or "auto" for that of both whose rim was touched more; then raises
        InvalidInput if less than 70 % of it was touched.

    """
    names = tuple(_KINDS) if asked == "auto" else (asked,)
    if not set(names) <= set(_KINDS):
        raise InvalidInput(
            f'arena must be "auto", "circle", "box", a Circle, Polygon, Box or Periodic, or None '
            f"for open space, got {brief(asked)}"
        )
    places = places[np.isfinite(places).all(axis=1)]
    if len(places) < SECTORS or not np.ptp(places, axis=0).min() > 0:
        raise UnclearArena(
            f"an arena cannot be fitted to {len(places)} places on one line: give "
            "arena=None for open space, or a Circle, Box, Polygon or Periodic arena"
        )
    candidates: list[tuple[Arena, float]] = []
    for name in names:
        arena = enclosing_circle(places) if name == "circle" else _enclosing_box(places)
        candidates.append((arena, touched_share(arena, places)))
    best = max(candidates, key=lambda candidate: candidate[1])
    if asked == "auto" and best[1] < LEAST_TOUCHED:
        name = type(best[0]).__name__.lower()
        raise UnclearArena(
            f"the individuals came near to {best[1]:.0%} of the rim of the {name} fitted around "
            f'them, at least {LEAST_TOUCHED:.0%} are needed to believe it: give arena="{name}" to '
            "take it all the same, arena=None for open space, or the true one as a Circle, Box, "
            "Polygon or Periodic arena"
        )
    return best


def arena_of_border(corners: Floats) -> Circle | Polygon:
    """The arena inside of a border that was marked by points (n, 2): a circle if it is round."""
    matrix = np.column_stack([2 * corners, np.ones(len(corners))])
    solved = np.linalg.lstsq(matrix, (corners**2).sum(axis=1), rcond=None)[0]
    centre = solved[:2]
    away = np.linalg.norm(corners - centre, axis=1)
    if len(corners) >= ROUND_CORNERS and np.ptp(away) <= ROUNDNESS * away.mean():
        return Circle((float(centre[0]), float(centre[1])), float(away.mean()))
    apart = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1) > 0
    return Polygon(tuple((float(x), float(y)) for x, y in corners[apart]))


def _enclosing_box(places: Floats) -> Box:
    (a, b), (c, d) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    return Box((a, b), (c, d))


def enclosing_circle(places: Floats) -> Circle:
    """The smallest circle around places (n, 2).

    It goes through two or three corners of their convex hull, and is found by adding one corner
    after the other: one that is outside of the circle so far lies on the next one.
    """
    from scipy.spatial import ConvexHull

    corners = places[ConvexHull(places).vertices]
    corners = corners[np.random.default_rng(0).permutation(len(corners))]
    circle = _around(corners[:1])
    for i in range(1, len(corners)):
        if _holds(circle, corners[i]):
            continue
        circle = _around(corners[i : i + 1])
        for j in range(i):
            if _holds(circle, corners[j]):
                continue
            circle = _around(corners[[i, j]])
            for k in range(j):
                if not _holds(circle, corners[k]):
                    circle = _around(corners[[i, j, k]])
    centre, radius = circle
    return Circle((float(centre[0]), float(centre[1])), radius)


def _holds(circle: tuple[Floats, float], point: Floats) -> bool:
    centre, radius = circle
    return bool(np.linalg.norm(point - centre) <= radius * (1 + 1e-12))


def _around(points: Floats) -> tuple[Floats, float]:
    """The circle through one, two (as a diameter) or three points."""
    if len(points) == 3:
        matrix = 2 * (points[1:] - points[0])
        squares = (points[1:] ** 2).sum(axis=1) - (points[0] ** 2).sum()
        if abs(np.linalg.det(matrix)) > 1e-12 * np.abs(matrix).max() ** 2:
            centre = np.linalg.solve(matrix, squares)
            return centre, float(np.linalg.norm(points - centre, axis=1).max())
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    return centre, float(np.linalg.norm(points - centre, axis=1).max())
