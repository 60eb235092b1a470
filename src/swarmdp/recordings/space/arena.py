"""Arenas in three dimensions: a sphere, a box with six walls, or periodic space."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Positive

_TINY = 1e-12


@checked(but=("wall", "gaps"))
@dataclass(frozen=True)
class Sphere:
    """A round tank.

    Parameters
    ----------
    centre
        Its middle.
    radius
        From there to the wall.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Sphere((0.0, 0.0, 0.0), 12.0).size
    12.0

    """

    centre: tuple[float, float, float]
    radius: Positive

    @property
    def size(self) -> float:
        """Half its width."""
        return self.radius

    def wall(self, places: Floats) -> tuple[Floats, Floats]:
        """The distance to the nearest point of the wall (...), and its direction (..., 3)."""
        away = places - np.asarray(self.centre)
        length = np.sqrt(np.einsum("...a,...a->...", away, away))
        return self.radius - length, away / np.maximum(length, _TINY)[..., None]

    def gaps(self, gap: Floats) -> Floats:
        """Differences of places as they are."""
        return gap


@checked(but=("wall", "gaps"))
@dataclass(frozen=True)
class Cuboid:
    """A tank with six walls.

    Parameters
    ----------
    lower, upper
        Its two corners.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.Cuboid((0.0, 0.0, 0.0), (40.0, 30.0, 20.0)).size
    10.0

    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not (np.asarray(self.upper) > np.asarray(self.lower)).all():
            raise InvalidInput(
                f"the upper corner must be above the lower one on all axes, got {self.lower} and "
                f"{self.upper}"
            )

    @property
    def size(self) -> float:
        """Half its shortest side."""
        return float((np.asarray(self.upper) - np.asarray(self.lower)).min()) / 2

    def wall(self, places: Floats) -> tuple[Floats, Floats]:
        """The distance to the nearest wall (...), and its direction (..., 3)."""
        gaps = np.stack([places - np.asarray(self.lower), np.asarray(self.upper) - places], axis=-2)
        flat = gaps.reshape(*gaps.shape[:-2], 6)
        nearest = np.nan_to_num(flat, nan=np.inf).argmin(axis=-1)
        directions = np.concatenate([-np.eye(3), np.eye(3)])
        distance = np.take_along_axis(flat, nearest[..., None], axis=-1)[..., 0]
        return distance, directions[nearest]

    def gaps(self, gap: Floats) -> Floats:
        """Differences of places as they are."""
        return gap


@checked(but=("wall", "gaps"))
@dataclass(frozen=True)
class PeriodicSpace:
    """A box whose opposite sides meet, as in simulations.

    Parameters
    ----------
    sides
        Their lengths.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.recordings.PeriodicSpace((1.0, 1.0, 1.0)).size
    0.5

    """

    sides: tuple[float, float, float]

    def __post_init__(self) -> None:
        for side in self.sides:
            check_number("a side of periodic space", side, positive=True)

    @property
    def size(self) -> float:
        """Half its shortest side."""
        return min(self.sides) / 2

    def gaps(self, gap: Floats) -> Floats:
        """Differences of places, the short way round."""
        sides = np.asarray(self.sides)
        nearest: Floats = gap - sides * np.round(gap / sides)
        return nearest


SpaceArena = Sphere | Cuboid | PeriodicSpace
_KINDS: dict[str, type[Sphere] | type[Cuboid] | type[PeriodicSpace]] = {
    kind.__name__: kind for kind in (Sphere, Cuboid, PeriodicSpace)
}


def describe_space_arena(arena: SpaceArena | None) -> dict[str, Any] | None:
    """An arena as plain data."""
    return None if arena is None else {"kind": type(arena).__name__, **asdict(arena)}


def restore_space_arena(plain: Mapping[str, Any] | None) -> SpaceArena | None:
    """The arena that `describe_space_arena` wrote."""
    if plain is None:
        return None
    inner: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list | tuple) else value
        for name, value in plain.items()
        if name != "kind"
    }
    return _KINDS[plain["kind"]](**inner)
