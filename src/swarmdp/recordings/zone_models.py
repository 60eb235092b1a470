"""Which others count for each component of a rule, and what a mean turn is then made of.

A zone is a number of nearest neighbours, a radius, or the space between two radii. Two structures
are known. In a *sum* the mean turn is a sum over components, each with a gain of its own times the
mean direction that its neighbours ask for. With *priority*, as in Couzin's model, whoever has
someone within the reach of repulsion only avoids; the others turn to the direction of the sum over
all neighbours of both other zones, by one common gain.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from swarmdp.recordings.components import ZONE_COMPONENTS
from swarmdp.recordings.neighbour_rows import NeighbourRows
from swarmdp.support.arrays import Floats, Ints

Structure = Literal["sum", "priority"]
REPULSION, ALIGNMENT, ATTRACTION = "repulsion", "alignment", "attraction"
SOCIAL = "others"  # the common column of alignment and attraction with priority
_MOST_BYTES = 2**27  # of sums within radii that are kept
_SMALL = 1e-9  # length of a sum of directions that has no direction


@dataclass(frozen=True)
class Zone:
    """Which others count: the nearest ones, or those between two radii."""

    nearest: int = 0  # 0: by distance
    inner: float = 0.0
    outer: float = math.inf

    @property
    def metric(self) -> bool:
        """Whether distances decide, not ranks."""
        return not self.nearest

    @property
    def reach(self) -> float:
        """The number of neighbours, or the outer radius."""
        return float(self.nearest) if self.nearest else self.outer

    def words(self, unit: str, error: float | None = None) -> str:
        """The zone in words, such as 'within 2.1 ± 0.1 cm'."""
        from swarmdp.support.rounding import rounded, with_error

        if self.nearest:
            number = with_error(self.nearest, error) if error else str(self.nearest)
            return f"among the {number} nearest"
        outer = with_error(self.outer, error)
        if not self.inner:
            return f"within {outer} {unit}"
        return f"from {rounded(self.inner, error)} to {outer} {unit}"


@dataclass(frozen=True)
class ZoneModel:
    """A structure, and the zone of each component that individuals react to."""

    structure: Structure
    zones: Mapping[str, Zone]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that have gains."""
        if self.structure == "sum":
            return tuple(self.zones)
        social = (SOCIAL,) if len(self.zones) > 1 else ()
        return (REPULSION, *social)

    def column_of(self, name: str) -> int:
        """Which gain belongs to a component."""
        columns = self.columns
        return columns.index(name if name in columns else SOCIAL)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        zones = {
            name: [zone.nearest, zone.inner, None if math.isinf(zone.outer) else zone.outer]
            for name, zone in self.zones.items()
        }
        return {"structure": self.structure, "zones": zones}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "ZoneModel":
        """The model that `to_plain` wrote."""
        zones = {
            name: Zone(nearest, inner, math.inf if outer is None else outer)
            for name, (nearest, inner, outer) in plain["zones"].items()
        }
        return cls(plain["structure"], zones)


@dataclass(frozen=True, eq=False)
class ZoneTable:
    """Sums of directions over the first so many of the others, from which every zone is quick."""

    rows: NeighbourRows

    @cached_property
    def _sums(self) -> dict[str, tuple[Floats, Floats]]:
        return {}

    def sums(self, name: str) -> tuple[Floats, Floats]:
        """Ahead and left (rows, others + 1): the sum of what the nearest n ask for."""
        if name not in self._sums:
            ahead, left = ZONE_COMPONENTS[name].towards(self.rows)
            zero = np.zeros((len(ahead), 1))
            ahead, left = (
                np.concatenate([zero, np.cumsum(part, axis=1)], axis=1) for part in (ahead, left)
            )
            self._sums[name] = ahead, left
        return self._sums[name]

    @cached_property
    def _within(self) -> dict[float, Ints]:
        return {}

    def within(self, radius: float) -> Ints:
        """The number of others that are nearer than a radius (rows,)."""
        if radius not in self._within:
            self._within[radius] = np.asarray((self.rows.distance < radius).sum(axis=1))
        return self._within[radius]

    def ends(self, zone: Zone) -> tuple[Ints, Ints]:
        """Before the first and after the last neighbour in a zone (rows,)."""
        if zone.nearest:
            return np.zeros_like(self._present), np.minimum(self._present, zone.nearest)
        last = self._present if zone.outer == math.inf else self.within(zone.outer)
        first = self.within(zone.inner) if zone.inner else np.zeros_like(last)
        return np.minimum(first, last), last

    @cached_property
    def _present(self) -> Ints:
        return self.rows.present

    def _up_to(self, name: str, rank: Ints) -> tuple[Floats, Floats]:
        """Ahead and left (rows,): the sum over neighbours up to a rank (rows,)."""
        ahead, left = self.sums(name)
        places = np.arange(len(rank)) * ahead.shape[1] + rank
        return ahead.ravel().take(places), left.ravel().take(places)

    def total(self, name: str, first: Ints, last: Ints) -> tuple[Floats, Floats]:
        """Ahead and left (rows,): the sum over neighbours from one rank to another."""
        (ahead, left), (more_ahead, more_left) = self._up_to(name, first), self._up_to(name, last)
        return more_ahead - ahead, more_left - left

    @cached_property
    def _near(self) -> dict[tuple[str, float], tuple[Floats, Floats]]:
        return {}

    def _within_sums(self, name: str, radius: float) -> tuple[Floats, Floats]:
        """Ahead and left (rows,): the sum over neighbours within a radius.

        Searches ask for the same radii again and again, in many combinations.
        """
        if (name, radius) in self._near:
            return self._near[name, radius]
        sums = self._up_to(name, self.within(radius))
        if sum(one.nbytes for one in sums) * len(self._near) < _MOST_BYTES:
            self._near[name, radius] = sums
        return sums

    def mean_left(self, name: str, zone: Zone) -> Floats:
        """How far to the left the neighbours in a zone ask for, on average (rows,)."""
        first, last = self.ends(zone)
        if zone.metric and zone.outer < math.inf and zone.inner < zone.outer:
            _, left = self._within_sums(name, zone.outer)
            if zone.inner:
                left = left - self._within_sums(name, zone.inner)[1]
        else:
            _, left = self.total(name, first, last)
        mean: Floats = left / np.maximum(last - first, 1)
        return mean

    def columns(self, model: ZoneModel) -> Floats:
        """What the gains of a model multiply (rows, gains)."""
        if model.structure == "sum":
            return np.stack([self.mean_left(*part) for part in model.zones.items()], axis=1)
        near = model.zones[REPULSION].outer
        crowded = self.within(near) > 0
        paired = self.rows.parts > 1
        columns = [np.where(crowded, _left_of(*self._within_sums(REPULSION, near), paired), 0.0)]
        if len(model.zones) > 1:
            columns.append(np.where(crowded, 0.0, _left_of(*self._beyond(model), paired)))
        return np.stack(columns, axis=1)

    def _beyond(self, model: ZoneModel) -> tuple[Floats, Floats]:
        """Ahead and left (rows,): the sum over all zones but repulsion, each beyond the last."""
        others = {name: zone for name, zone in model.zones.items() if name != REPULSION}
        ahead, left = np.zeros(len(self.rows.turn)), np.zeros(len(self.rows.turn))
        if all(zone.metric and zone.outer < math.inf for zone in others.values()):
            inner = model.zones[REPULSION].outer
            for name, zone in others.items():
                outer = max(zone.outer, inner)
                (ahead_in, left_in), (ahead_out, left_out) = (
                    self._within_sums(name, radius) for radius in (inner, outer)
                )
                ahead, left, inner = ahead + ahead_out - ahead_in, left + left_out - left_in, outer
            return ahead, left
        begin = self.within(model.zones[REPULSION].outer)
        # Those in the zone of alignment are not approached as well.
        for name, zone in others.items():
            end = np.maximum(self.ends(zone)[1], begin)
            more_ahead, more_left = self.total(name, begin, end)
            ahead, left, begin = ahead + more_ahead, left + more_left, end
        return ahead, left


def _left_of(ahead: Floats, left: Floats, paired: bool) -> Floats:
    """The sine of the angle of directions; zero where there is none.

    In space two rows belong together, and the part upwards of one is the part to the left of the
    other.
    """
    size = np.hypot(ahead, left)
    if paired:
        size = np.hypot(size, left.reshape(-1, 2)[:, ::-1].ravel())
    return np.where(size > _SMALL, left / np.where(size > _SMALL, size, 1.0), 0.0)
