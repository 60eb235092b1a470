"""Agents in three dimensions that turn as a rule says: zones, wall, climb and the turn before.

A controller has the numbers of `ZonalController` and what it does against climbing. The mean turn,
to the left and upwards, is the sum over the components, or with priority of repulsion; to it comes
a noise with the distribution that was recorded.

Plain NumPy: all agents of all runs at once, absent ones masked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmdp.model import sphere
from swarmdp.recordings.neighbour_rows import BEHIND
from swarmdp.recordings.space.arena import Cuboid, PeriodicSpace, SpaceArena, Sphere
from swarmdp.recordings.zonal import ZonalController
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, REPULSION, Zone
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.rounding import rounded

_TINY = 1e-12


@dataclass(frozen=True)
class SpaceController:
    """The numbers of a controller in three dimensions.

    Parameters
    ----------
    zonal
        Zones, gains, the share of the last turn, the wall and the noise, as in the plane.
    climb
        The share of the climb that is turned back in each decision.
    level
        The climb, in radians, to which it is turned back.

    """

    zonal: ZonalController
    climb: float = 0.0
    level: float = 0.0

    def words(self, unit: str) -> str:
        """The controller in one sentence."""
        said = self.zonal.words(unit)
        if self.climb:
            said += f"; {rounded(self.climb, 0.01)} of the climb turned back"
        return said

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return {"zonal": self.zonal.to_plain(), "climb": self.climb, "level": self.level}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "SpaceController":
        """The controller that `to_plain` wrote."""
        return cls(ZonalController.from_plain(plain["zonal"]), plain["climb"], plain["level"])


@dataclass(frozen=True, eq=False)
class Others:
    """Who is where around each agent (runs, agents, agents); infinite distance if not present."""

    position: Floats  # (runs, agents, 3)
    heading: Floats
    distance: Floats
    gap: Floats | None  # (runs, agents, agents, 3), only where space is periodic

    @classmethod
    def of(
        cls, position: Floats, heading: Floats, present: Bools, arena: SpaceArena | None
    ) -> "Others":
        """The surroundings of agents with these places and headings (runs, agents, 3)."""
        if isinstance(arena, PeriodicSpace):
            gap = arena.gaps(position[:, None] - position[:, :, None])
            square = np.einsum("rija,rija->rij", gap, gap)
        else:
            gap = None
            square = np.zeros((len(position), position.shape[1], position.shape[1]))
            for axis in range(3):
                along = position[..., axis]
                square += (along[:, None] - along[:, :, None]) ** 2
        distance = np.sqrt(square)
        agents = np.arange(position.shape[1])
        distance[:, agents, agents] = np.inf
        distance[np.broadcast_to(~present[:, None], distance.shape)] = np.inf
        return cls(position, heading, distance, gap)

    def inside(self, zone: Zone) -> Bools:
        """Who is in a zone of whom (runs, agents, agents)."""
        there = np.isfinite(self.distance)
        if zone.nearest:
            if zone.nearest >= self.distance.shape[2]:
                return there
            edge = np.partition(self.distance, zone.nearest - 1, axis=2)[..., zone.nearest - 1]
            return there & (self.distance <= edge[..., None])
        return there & (self.distance >= zone.inner) & (self.distance < zone.outer)

    def sums(self, name: str, inside: Bools) -> Floats:
        """The sum of what those inside ask for (runs, agents, 3)."""
        if name == ALIGNMENT:
            along: Floats = inside.astype(np.float64) @ self.heading
            return along
        weights = np.where(inside, 1 / np.maximum(self.distance, _TINY), 0.0)
        if self.gap is None:
            total = weights @ self.position - weights.sum(axis=2)[..., None] * self.position
        else:
            total = np.einsum("rij,rija->ria", weights, self.gap)
        return np.asarray(-total if name == REPULSION else total)


def wanted_turns(
    controller: SpaceController,
    position: Floats,
    heading: Floats,
    turn: Floats,
    present: Bools,
    arena: SpaceArena | None,
) -> Floats:
    """The mean turns (runs, agents, 2) to the left and upwards, without noise.

    Parameters
    ----------
    controller
        The numbers.
    position, heading
        (runs, agents, 3).
    turn
        (runs, agents, 2): the turn before.
    present
        (runs, agents): who is there.
    arena
        Where they are; None for open space.

    """
    zonal = controller.zonal
    left, up = sphere.frame(heading)
    wanted: Floats = zonal.previous * turn
    if zonal.model.zones:
        pull = _social(controller, Others.of(position, heading, present, arena))
        wanted = wanted + _across(pull, left, up)
    if zonal.wall and isinstance(arena, Sphere | Cuboid):
        distance, outwards = arena.wall(position)
        side = _across(outwards, left, up)
        length = np.hypot(side[..., 0], side[..., 1])
        near = np.clip(1 - distance / zonal.wall_reach, 0.0, 1.0)
        facing = np.einsum("...a,...a->...", outwards, heading) > BEHIND
        push = zonal.wall * near * facing / np.maximum(length, _TINY)
        wanted = wanted - push[..., None] * side
    if controller.climb:
        climb = np.arcsin(np.clip(heading[..., 2], -1.0, 1.0))
        back = controller.climb * (climb - controller.level)
        wanted = wanted - np.stack([np.zeros_like(back), back], axis=-1)
    return wanted


def _across(vectors: Floats, left: Floats, up: Floats) -> Floats:
    """Vectors (..., 3) to the left and upwards (..., 2)."""
    parts = [np.einsum("...a,...a->...", vectors, side) for side in (left, up)]
    return np.stack(parts, axis=-1)


def _social(controller: SpaceController, others: Others) -> Floats:
    """What others ask for, times its gain (runs, agents, 3)."""
    zonal = controller.zonal
    model = zonal.model
    if model.structure == "sum":
        pull = np.zeros_like(others.position)
        for name, zone in model.zones.items():
            inside = others.inside(zone)
            count = np.maximum(inside.sum(axis=2), 1)[..., None]
            pull += zonal.gains[model.column_of(name)] * others.sums(name, inside) / count
        return pull
    near = others.inside(model.zones[REPULSION])
    crowded = near.any(axis=2, keepdims=True)
    away = zonal.gains[model.column_of(REPULSION)] * _unit(others.sums(REPULSION, near))
    rest = np.zeros_like(others.position)
    begun = near
    names = [name for name in (ALIGNMENT, ATTRACTION) if name in model.zones]
    for name in names:
        # Those in the zone of alignment are not approached as well.
        zone = model.zones[name]
        reached = others.inside(zone if zone.nearest else Zone(outer=zone.outer))
        rest = rest + others.sums(name, reached & ~begun)
        begun = begun | reached
    gain = zonal.gains[model.column_of(names[0])] if names else 0.0
    return np.where(crowded, away, gain * _unit(rest))


def _unit(vectors: Floats) -> Floats:
    """Vectors of length 1; zero where there is no direction."""
    length = np.sqrt(np.einsum("...a,...a->...", vectors, vectors))[..., None]
    return np.where(length > 1e-9, vectors / np.where(length > 1e-9, length, 1.0), 0.0)


def keep_inside(
    position: Floats, heading: Floats, arena: SpaceArena | None
) -> tuple[Floats, Floats, Bools]:
    """Agents beyond a wall slide along it; also who did (runs, agents)."""
    if isinstance(arena, PeriodicSpace):
        return (
            np.mod(position, np.asarray(arena.sides)),
            heading,
            np.zeros(position.shape[:2], bool),
        )
    if arena is None:
        return position, heading, np.zeros(position.shape[:2], dtype=bool)
    out = np.zeros(position.shape[:2], dtype=bool)
    for _ in range(3):  # a corner has three walls
        distance, outwards = arena.wall(position)
        beyond = distance < 0
        if not beyond.any():
            break
        out |= beyond
        position = position + np.where(beyond, distance, 0.0)[..., None] * outwards
        towards = np.einsum("...a,...a->...", heading, outwards)
        along = heading - towards[..., None] * outwards
        turned = beyond & (towards > 0) & (np.abs(along).sum(axis=-1) > 1e-9)
        heading = np.where(turned[..., None], sphere.unit(along), heading)
    return position, heading, out
