"""What an individual of a recorded swarm may react to: one table, one row for each component.

All else is derived from the rows: which classes a component has, what the mirror does to it, how it
is written in sentences, and whether the kernel of whole steps can be used. A new component is a row
of `COMPONENTS`, the function that reads it from an `AgentSight`, and a parameter of `Observation`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from swarmdp import kernels
from swarmdp.model.features import Angles, Axis, Bins, Classes
from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.outsiders import FARTHER_THAN
from swarmdp.recordings.turn_prediction import symmetric_edges
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import brief, check_integer, check_number, is_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Index

if TYPE_CHECKING:
    from swarmdp.recordings.neighbour_rows import NeighbourRows

AHEAD, AWAY = np.pi / 3, 2 * np.pi / 3  # angles to the wall: running into it, running from it

NO_OUTSIDER = 1e7  # distance where no outsider is there

Scale = Literal["signed", "size", "direction", "sides"]


@dataclass(frozen=True, eq=False)
class AgentSight:
    """What agents see, and know of themselves; arrays are (..., agents), NaN for absent agents."""

    position: Floats  # (..., agents, 2)
    heading: Floats
    turn: Floats  # that led to this heading
    speed: Callable[[], Floats]  # asked only if a component reads it
    nearest: int  # number of nearest neighbours; 0: all within the radius
    radius: float
    wall_distance: float  # from how far the wall is seen
    sides: bool  # only the sides of the wall are distinguished
    arena: Arena | None
    outside: Floats | None = None  # (..., outsiders, 2): where outsiders are

    @cached_property
    def nearest_outsider(self) -> tuple[Floats, Floats]:
        """Distance and bearing of the nearest outsider, of whatever kind (..., agents)."""
        return nearest_outsider(self.position, self.heading, self.outside, self.arena)

    @cached_property
    def surroundings(self) -> Floats:
        """See `surroundings`."""
        return surroundings(self.position, self.heading, self.nearest, self.radius, self.arena)


def surroundings(
    position: Floats, heading: Floats, nearest: int, radius: float, arena: Arena | None
) -> Floats:
    """Misalignment, bearing, spacing, and distance and angle to the wall (..., agents, 5)."""
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


def nearest_outsider(
    position: Floats, heading: Floats, outside: Floats | None, arena: Arena | None
) -> tuple[Floats, Floats]:
    """Distance and bearing of the nearest outsider (..., agents); far ahead where there is none."""
    absent = np.where(np.isnan(heading), np.nan, 0.0)
    if outside is None or not outside.shape[-2]:
        return absent + NO_OUTSIDER, absent
    gap = outside[..., None, :, :] - position[..., :, None, :]
    if isinstance(arena, Periodic):
        sides = np.asarray(arena.sides)
        gap = np.where(np.abs(gap) < FARTHER_THAN, gap - sides * np.round(gap / sides), gap)
    distance = np.hypot(gap[..., 0], gap[..., 1])
    distance = np.where(np.isfinite(distance), distance, np.inf)
    nearest = distance.argmin(axis=-1)[..., None]
    found = np.take_along_axis(distance, nearest, axis=-1)[..., 0]
    x, y = (np.take_along_axis(gap[..., n], nearest, axis=-1)[..., 0] for n in range(2))
    bearing = np.remainder(np.arctan2(y, x) - heading + np.pi, 2 * np.pi) - np.pi
    there = np.isfinite(found)
    return absent + np.where(there, found, NO_OUTSIDER), np.where(there, bearing, absent)


def wall_codes(distance: Floats, angle: Floats, near: float, sides: bool) -> Floats:
    """Where the wall is: 0 not seen, 1 on the left, 2 ahead and left; negative on the right."""
    away = np.abs(angle)
    code = np.where(sides, 1.0, np.where(away < AHEAD, 2.0, 1.0))
    hidden = (distance > near) | (away > AWAY)
    signed: Floats = np.where(hidden, 0.0, np.where(angle >= 0, code, -code))
    return np.where(np.isnan(distance), np.nan, signed)


def _wall(sight: AgentSight) -> Floats:
    seen = sight.surroundings
    return wall_codes(seen[..., 3], seen[..., 4], sight.wall_distance, sight.sides)


@dataclass(frozen=True)
class Component:
    """A row of the table: one thing that individuals may react to.

    Parameters
    ----------
    read
        The values that agents observe.
    scale
        What values are, and so how classes are made. "signed": numbers about zero, in an odd number
        of classes; "size": numbers from zero up; both with equally frequent classes. "direction":
        angles, in equal sectors. "sides": where a wall is, in 3 or 5 classes.
    units
        Of the values; "{unit}" stands for the unit of length of the recording.
    odd
        Whether the mirror changes the sign.
    social
        Whether it tells of others.
    movable
        Whether the edges of its classes are moved to where turns change most.
    memory
        Whether it tells of turns only what the memory of their noise does: mean turns do not
        depend on it then.
    needs_wall
        Whether it is left out where there is no wall.
    needs_outsiders
        Whether it is left out where there are no outsiders.
    labels
        What the classes 0, 1, ... are called in sentences; none for numbers.
    kernel
        Its number in the kernel of whole steps (`kernels/recorded/steps.py`); None if the kernel
        does not know it, then swarms that observe it take their steps one by one.
    bounds
        The least and the largest value that there may be: the kernel needs classes that end there
        or beyond.

    """

    read: Callable[[AgentSight], Floats]
    scale: Scale
    units: str = "1"
    odd: bool = False
    social: bool = False
    movable: bool = False
    memory: bool = False
    needs_wall: bool = False
    needs_outsiders: bool = False
    labels: tuple[str, ...] = ()
    kernel: int | None = None
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def check_count(self, name: str, count: int) -> None:
        """Raise InvalidInput if it cannot have this number of classes; 0 leaves it out."""
        if self.scale == "signed" and count and not count % 2:
            raise InvalidInput(
                f"{name} needs an odd number of classes, one of them around zero, got {count}"
            )
        if self.scale == "sides" and count not in (0, 3, 5):
            raise InvalidInput(f"{name} must be 0, 3 or 5, got {count}")

    def classes(self, name: str, values: Floats, count: int, unit: str) -> Classes:
        """As many classes of values (n,) as `count`, in a recording with this unit of length."""
        if self.scale == "direction":
            return Angles(count, name)
        if self.scale == "sides":
            return Bins(np.arange(-(count // 2), count // 2 + 2) - 0.5, name)
        finite = values[np.isfinite(values)]
        if self.scale == "signed":
            return self.bins(name, symmetric_edges(finite, count), unit)
        shares = np.arange(1, count) / count
        inner = np.unique(np.quantile(finite, shares)) if len(shares) else np.zeros(0)
        return self.bins(name, inner[inner > 0], unit)

    def bins(self, name: str, inner: Floats, unit: str) -> Bins:
        """Classes between these edges, and beyond them."""
        low = 0.0 if self.scale == "size" else -np.inf
        return Bins([low, *inner, np.inf], name, self.units.format(unit=unit))

    def words(self, axis: Axis, place: int, mirrored: bool) -> str:
        """One of its classes in words; where both sides have the same reward, without the side."""
        value, name = float(axis.values[place]), axis.name.replace("_", " ")
        if self.labels:
            side = "" if mirrored or not value else " to the left" if value > 0 else " to the right"
            return f"{name} {self.labels[abs(int(value))]}{side}"
        if mirrored and self.odd and value:
            return f"{name} ±{abs(value):.3g}{'' if axis.units == '1' else ' ' + axis.units}"
        return axis.written(place).replace("_", " ")


COMPONENTS = {
    "misalignment": Component(
        lambda sight: sight.surroundings[..., 0],
        "signed",
        "rad",
        odd=True,
        social=True,
        movable=True,
        kernel=0,
        bounds=(-math.pi, math.pi),
    ),
    "bearing": Component(
        lambda sight: sight.surroundings[..., 1],
        "direction",
        "rad",
        odd=True,
        social=True,
        kernel=1,
        bounds=(-math.pi, math.pi),
    ),
    "spacing": Component(
        lambda sight: sight.surroundings[..., 2],
        "size",
        "{unit}",
        social=True,
        movable=True,
        kernel=2,
        bounds=(0.0, math.inf),
    ),
    "wall": Component(
        _wall,
        "sides",
        odd=True,
        movable=True,
        needs_wall=True,
        labels=("not near", "beside", "ahead"),
        kernel=3,
        bounds=(-2.0, 2.0),
    ),
    "previous_turn": Component(
        lambda sight: sight.turn, "signed", "rad", odd=True, memory=True, kernel=4
    ),
    "outsider": Component(
        lambda sight: sight.nearest_outsider[1],
        "direction",
        "rad",
        odd=True,
        needs_outsiders=True,
        bounds=(-math.pi, math.pi),
    ),
    "outsider_distance": Component(
        lambda sight: sight.nearest_outsider[0],
        "size",
        "{unit}",
        needs_outsiders=True,
        bounds=(0.0, math.inf),
    ),
}


Directions = tuple[Floats, Floats]  # ahead and to the left, (rows, others) each


@dataclass(frozen=True)
class ZoneComponent:
    """A row of the table of rules: one way in which individuals react to others in a zone.

    Parameters
    ----------
    towards
        The direction to which an individual turns because of each of the others: how far ahead and
        how far to the left, for the rows of `NeighbourRows`.
    words
        What individuals do, in a sentence that goes on with the zone.
    nearest
        Whether the zone may also be a number of nearest neighbours.
    beyond
        The component where whose zone ends this one may begin; empty if it begins at once.
    kernel
        Its place in the kernel of zonal controllers; None if only regressions know it.

    """

    towards: "Callable[[NeighbourRows], Directions]"
    words: str
    nearest: bool = False
    beyond: str = ""
    kernel: int | None = None


ZONE_COMPONENTS = {
    "repulsion": ZoneComponent(
        lambda rows: (-rows.bearing_ahead, -rows.bearing_left), "turn away from others", kernel=0
    ),
    "alignment": ZoneComponent(
        lambda rows: (rows.heading_ahead, rows.heading_left),
        "turn to the mean heading of others",
        nearest=True,
        kernel=1,
    ),
    "attraction": ZoneComponent(
        lambda rows: (rows.bearing_ahead, rows.bearing_left),
        "turn towards others",
        nearest=True,
        beyond="repulsion",
        kernel=2,
    ),
}


def check_zone_components(names: Sequence[str]) -> tuple[str, ...]:
    """The names in the order of the table; raises InvalidInput for one that is not there."""
    wrong = [name for name in names if name not in ZONE_COMPONENTS]
    if isinstance(names, str) or wrong or not names:
        raise InvalidInput(
            f"components must be some of {', '.join(ZONE_COMPONENTS)}, got {brief(names)}"
        )
    return tuple(name for name in ZONE_COMPONENTS if name in names)


def social_components() -> tuple[str, ...]:
    """The names of the components that tell of others."""
    return tuple(name for name, component in COMPONENTS.items() if component.social)


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
    outsider
        Sectors of the direction in which the nearest outsider is. Where there are none, it is left
        out, as is its distance.
    outsider_distance
        Classes of its distance.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Observation(neighbours=3, previous_turn=0).components
    ('misalignment', 'bearing', 'spacing', 'wall')

    """

    misalignment: Index = 7
    bearing: Index = 4
    spacing: Index = 3
    wall: Index = 5
    previous_turn: Index = 3
    neighbours: int | float | Literal["auto"] = "auto"
    reward: Literal["additive", "product"] = "additive"
    wall_distance: float | Literal["auto"] = "auto"
    outsider: Index = 0
    outsider_distance: Index = 0

    def __post_init__(self) -> None:
        for name, component in COMPONENTS.items():
            component.check_count(name, self.count(name))
        if not self.components:
            raise InvalidInput("an observation needs at least one component, got none")
        if not isinstance(self.neighbours, str):
            if is_integer(self.neighbours):
                check_integer("neighbours", self.neighbours, least=1)
            else:
                check_number("neighbours, as a radius,", self.neighbours, positive=True)
        elif self.neighbours != "auto":
            raise InvalidInput(
                f'neighbours must be an integer, a radius or "auto", got {brief(self.neighbours)}'
            )
        if self.reward not in ("additive", "product"):
            raise InvalidInput(f'reward must be "additive" or "product", got {brief(self.reward)}')

    def count(self, name: str) -> int:
        """The number of classes of a component; 0 if it is left out."""
        return int(getattr(self, name, 0))

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components that are observed."""
        return tuple(name for name in COMPONENTS if self.count(name))

    @classmethod
    def usual(
        cls, outsiders: bool, neighbours: int | float | Literal["auto"] = "auto"
    ) -> "Observation":
        """What is observed by default: with outsiders, the nearest one, too.

        Parameters
        ----------
        outsiders
            Whether there are any.
        neighbours
            As of an observation.

        """
        sectors, distances = (4, 2) if outsiders else (0, 0)
        return cls(neighbours=neighbours, outsider=sectors, outsider_distance=distances)
