"""How individuals turn for outsiders: towards each kind of them or away, along with it or against.

A kind of outsider has two components: the direction in which it is, and the direction in which it
moves. Each has a reach and a gain of its own; a negative gain is a turn away, or against. They are
looked for one after another by cross-validation over blocks of time, beyond what individuals do by
themselves and beyond a flexible description of the others: rings of neighbours, their directions
and headings. A component belongs to the rule only if turns of other blocks are predicted better
with it, if its gain is more than a few standard errors, and if it is larger than in tracks that are
shifted in time, in which outsiders stay where they were. (Of places and fields, which never move,
shifted tracks tell nothing.)
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.neighbour_rows import NeighbourRows, own_columns
from swarmdp.recordings.outsiders import FARTHER_THAN
from swarmdp.recordings.rule_search import RuleSearch
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.recordings.zone_models import Zone, ZoneTable
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import with_error

Way = Literal["towards", "along", "pace"]
WAYS: tuple[Way, ...] = ("towards", "along")
REACHES = 16  # of the grid
RINGS = 5  # of neighbours, by which the others are described
BOOTSTRAPS = 400  # draws of blocks, for the errors of reaches
EVERYWHERE = 0.97  # share of distances: a reach beyond is as far as the outsider ever was
_TINY = 1e-12


@dataclass(frozen=True)
class OutsiderPart:
    """One component of a rule: how individuals turn for one kind of outsider.

    Parameters
    ----------
    kind
        Of the outsider.
    way
        "towards": the direction in which it is; "along": the direction in which it moves.
    reach, reach_error
        From how far individuals react, and its standard error; infinite for a field.
    gain, gain_error
        The turn in radians for an outsider at a right angle; negative for a turn away, or against.
    worth, worth_error
        How much better turns of other blocks of time are predicted with it, in nats a decision.
    shifted
        The largest gain, whatever its sign, in tracks that are shifted in time; 0 of what never
        moves.
    everywhere
        Whether the reach is as far as the outsider ever was.

    """

    kind: str
    way: Way
    reach: float
    reach_error: float
    gain: float
    gain_error: float
    worth: float
    worth_error: float
    shifted: float
    everywhere: bool

    @property
    def column(self) -> tuple[str, Way, float]:
        """What is needed to compute its column."""
        return self.kind, self.way, self.reach

    def sentence(self, unit: str) -> str:
        """What individuals do, with numbers."""
        name = f"individual {self.kind}" if self.kind.isdecimal() else f"the {self.kind}"
        words = {
            ("towards", True): f"towards {name}",
            ("towards", False): f"away from {name}",
            ("along", True): f"along with the heading of {name}",
            ("along", False): f"against the heading of {name}",
        }[self.way, self.gain > 0]
        near = ""
        if math.isfinite(self.reach):
            near = f" within {with_error(self.reach, self.reach_error)} {unit}"
        gain = with_error(abs(self.gain), self.gain_error)
        rest = ", which is nearly as far as it ever was" if near and self.everywhere else ""
        return f"Individuals turn {words}{near} ({gain} rad){rest}."

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "OutsiderPart":
        """What `asdict` made, with None for an infinite reach."""
        reach = math.inf if plain["reach"] is None else plain["reach"]
        return cls(**dict(plain) | {"reach": reach})


@dataclass(frozen=True, eq=False)
class OutsiderRows:
    """What each row of `NeighbourRows` sees of outsiders, (rows, outsiders) each."""

    distance: Floats  # infinite where absent
    bearing_left: Floats
    heading_left: Floats
    kinds: tuple[str, ...]
    fields: tuple[str, ...]  # kinds that are directions
    fixed: tuple[str, ...]  # kinds that never move

    @cached_property
    def _cache(self) -> dict[tuple[str, Way, float], Floats]:
        return {}

    def column(self, kind: str, way: Way, reach: float) -> Floats:
        """How far to the left outsiders of a kind within a reach ask for, on average (rows,)."""
        key = (kind, way, reach)
        if key not in self._cache:
            some = [n for n, other in enumerate(self.kinds) if other == kind]
            inside = (
                self.distance[:, some] <= reach
                if reach < math.inf
                else np.isfinite(self.distance[:, some])
            )
            left = (self.bearing_left if way == "towards" else self.heading_left)[:, some]
            inside = inside & np.isfinite(left)
            total = np.where(inside, left, 0.0).sum(axis=1)
            self._cache[key] = total / np.maximum(inside.sum(axis=1), 1)
        return self._cache[key]

    def reaches(self, kind: str) -> list[float]:
        """The reaches that are tried for a kind."""
        if kind in self.fields:
            return [math.inf]
        some = [n for n, other in enumerate(self.kinds) if other == kind]
        near = self.distance[:, some].min(axis=1)
        near = near[np.isfinite(near)]
        if not len(near):
            return []
        low, high = np.quantile(near, (0.05, 0.99))
        return [float(reach) for reach in np.geomspace(max(low, high / 60), high, REACHES)]

    def share_within(self, kind: str, reach: float) -> float:
        """The share of rows whose nearest outsider of a kind is within a reach."""
        some = [n for n, other in enumerate(self.kinds) if other == kind]
        near = self.distance[:, some].min(axis=1)
        there = np.isfinite(near)
        return float((near[there] <= reach).mean()) if there.any() else 0.0


def outsider_rows(
    decisions: Decisions, rows: NeighbourRows, arena: Arena | SpaceArena | None
) -> OutsiderRows | None:
    """What the rows of decisions see of outsiders; None if there are none."""
    others = decisions.outside
    if others is None or decisions.in_space:  # reactions to outsiders are of the plane
        return None
    here = decisions.positions[rows.time, rows.individual]
    heading = decisions.headings[rows.time, rows.individual][:, None]
    gap = others.positions[rows.time] - here[:, None]
    if isinstance(arena, Periodic):
        sides = np.asarray(arena.sides)
        near = np.abs(gap) < FARTHER_THAN
        gap = np.where(near, gap - sides * np.round(gap / sides), gap)
    distance = np.hypot(gap[..., 0], gap[..., 1])
    there = np.isfinite(distance)
    gap = np.where(there[..., None], gap, 0.0)
    size = np.where(there, np.maximum(distance, _TINY), 1.0)
    left = (gap[..., 1] * np.cos(heading) - gap[..., 0] * np.sin(heading)) / size
    return OutsiderRows(
        distance=np.where(there, distance, np.inf),
        bearing_left=np.where(there & (distance > 0), left, np.nan),
        heading_left=np.sin(others.known_headings[rows.time] - heading),
        kinds=others.kinds,
        fields=tuple(kind for kind in others.names if others.is_field(kind)),
        fixed=tuple(kind for kind in others.names if not others.moves(kind)),
    )


def columns_for(
    parts: Sequence[OutsiderPart],
    decisions: Decisions,
    rows: NeighbourRows,
    arena: Arena | SpaceArena | None,
) -> Floats:
    """What the gains of components multiply (rows, components)."""
    seen = outsider_rows(decisions, rows, arena) if parts else None
    if seen is None:
        return np.zeros((len(rows.turn), 0))
    return np.stack([seen.column(*part.column) for part in parts], axis=1)


def find_outsider_parts(
    decisions: Decisions,
    arena: Arena | SpaceArena | None,
    rows: NeighbourRows,
    shifted: Sequence[tuple[Decisions, NeighbourRows]],
    sure: float,
    rng: np.random.Generator,
) -> tuple[OutsiderPart, ...]:
    """The components by which turns of other blocks of time are predicted better.

    Parameters
    ----------
    decisions, arena, rows
        Of the recording.
    shifted
        The same decisions with individuals shifted in time, and their rows.
    sure
        Standard errors that a gain must be larger than.
    rng
        For the errors of reaches.

    """
    seen = outsider_rows(decisions, rows, arena)
    if seen is None:
        return ()
    search = _search(rows, arena, ())
    moved = [
        (_search(other, arena, ()), outsider_rows(part, other, arena)) for part, other in shifted
    ]
    candidates = [
        (kind, way, reach)
        for kind in dict.fromkeys(seen.kinds)
        for way in WAYS
        for reach in seen.reaches(kind)
        if way == "towards" or np.isfinite(seen.heading_left).any()
    ]
    candidates = [part for part in candidates if seen.column(*part).any()]
    if not candidates:
        return ()
    columns = np.stack([seen.column(*part) for part in candidates], axis=1)
    products = search.products(columns)
    chosen: list[int] = []
    refused: set[tuple[str, Way]] = set()
    while True:
        taken = {candidates[n][:2] for n in chosen} | refused
        left = [n for n, part in enumerate(candidates) if part[:2] not in taken]
        if not left:
            break
        before = products.held_out(np.array([chosen]))[0] if chosen else search.alone
        errors = products.held_out(np.array([[*chosen, n] for n in left]))
        best = left[int(errors.sum(axis=1).argmin())]
        worth, spread = worth_of(search, before, errors[left.index(best)])
        if worth <= spread:
            break
        gain = abs(products.gains([*chosen, best])[-1])
        names = [candidates[n] for n in (*chosen, best)]
        chance = _chance_gains(moved, names, -1)
        least = sure * products.errors([*chosen, best])[-1]
        if gain <= max([least, *chance]):
            refused.add(candidates[best][:2])
            continue
        chosen.append(best)
    return tuple(
        _part(search, seen, products, candidates, chosen, place, moved, rng)
        for place in range(len(chosen))
    )


def _search(
    rows: NeighbourRows, arena: Arena | SpaceArena | None, names: tuple[str, ...]
) -> RuleSearch:
    """A search beyond what individuals do by themselves and what rings of neighbours explain."""
    table = ZoneTable(rows)
    own = [own_columns(rows, arena)]
    there = rows.distance[np.isfinite(rows.distance)]
    if len(there):
        edges = [0.0, *np.quantile(there, np.linspace(0, 1, RINGS + 1)[1:-1]), math.inf]
        own += [
            table.mean_left(name, Zone(inner=float(one), outer=float(other)))[:, None]
            for name in ("attraction", "alignment")
            for one, other in itertools.pairwise(edges)
        ]
        own += [
            table.mean_left(name, Zone(nearest=count))[:, None]
            for name in ("attraction", "alignment")
            for count in (1, 4)
        ]
    return RuleSearch(table, np.concatenate(own, axis=1), names)


def _gains(
    search: RuleSearch, seen: OutsiderRows, names: Sequence[tuple[str, Way, float]]
) -> Floats:
    columns = np.stack([seen.column(*name) for name in names], axis=1)
    return search.products(columns).gains(range(len(names)))


def _chance_gains(
    moved: Sequence[tuple[RuleSearch, OutsiderRows | None]],
    names: Sequence[tuple[str, Way, float]],
    place: int,
) -> list[float]:
    """The sizes of the gain of one component in tracks that are shifted in time.

    Of what never moves nothing is known from them: it is where it was, whenever that is.
    """
    return [
        abs(float(_gains(search, seen, names)[place]))
        for search, seen in moved
        if seen is not None and names[place][0] not in seen.fixed
    ]


def worth_of(search: RuleSearch, without: Floats, error: Floats) -> tuple[float, float]:
    """How much better a model is, from errors in blocks: nats a decision and standard error."""
    if not np.isfinite(without).all():  # without it a gain would have the wrong sign
        return math.inf, 0.0
    variance = float(error.sum()) / float(search.counts.sum())
    full = search.counts > 0
    gains = (without - error)[full] / (2 * variance * search.counts[full])
    weights = search.counts[full] / search.counts.sum()
    mean = float(weights @ gains)
    spread = float(np.sqrt((weights**2) @ (gains - mean) ** 2))
    parts = search.table.rows.parts  # rows of a decision
    return parts * mean, parts * spread


def _part(
    search: RuleSearch,
    seen: OutsiderRows,
    products: Any,
    candidates: Sequence[tuple[str, Way, float]],
    chosen: Sequence[int],
    place: int,
    moved: Sequence[tuple[RuleSearch, OutsiderRows | None]],
    rng: np.random.Generator,
) -> OutsiderPart:
    """One of the components that were chosen, with errors."""
    kind, way, reach = candidates[chosen[place]]
    rest = [n for n in chosen if n != chosen[place]]
    without = products.held_out(np.array([rest]))[0] if rest else search.alone
    whole = products.held_out(np.array([list(chosen)]))[0]
    worth, worth_error = worth_of(search, without, whole)
    names = [candidates[n] for n in chosen]
    chance = _chance_gains(moved, names, place)
    same = [n for n, part in enumerate(candidates) if part[:2] == (kind, way)]
    errors = products.held_out(np.array([[*rest, n] for n in same]))
    blocks = errors.shape[1]
    weights = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=BOOTSTRAPS)
    reaches = np.array([candidates[n][2] for n in same])
    best = reaches[(weights @ errors.T).argmin(axis=1)]
    spread = 0.0
    if len(same) > 1:
        at = same.index(chosen[place])
        # A grid of reaches has an error of its own.
        step = float(np.gradient(reaches)[at])
        spread = float(np.sqrt(best.var() + step**2 / 12))
    return OutsiderPart(
        kind,
        way,
        reach,
        spread,
        float(products.gains(list(chosen))[place]),
        float(products.errors(list(chosen))[place]),
        worth,
        worth_error,
        max(chance, default=0.0),
        seen.share_within(kind, reach) >= EVERYWHERE,
    )


def with_joint_gains(
    parts: Sequence[OutsiderPart], search: RuleSearch, columns: Floats, social: Floats
) -> tuple[OutsiderPart, ...]:
    """The components with their gains in a regression together with those of the others.

    `search` knows what individuals do by themselves only; `columns` are those of outsiders.
    """
    if not parts:
        return ()
    products = search.products(np.column_stack([columns, social]))
    every = range(columns.shape[1] + social.shape[1])
    gains, errors = products.gains(every), products.errors(every)
    return tuple(
        replace(part, gain=float(gains[n]), gain_error=float(errors[n]))
        for n, part in enumerate(parts)
    )


def parts_to_plain(parts: Sequence[OutsiderPart]) -> list[dict[str, Any]]:
    """Plain data; None for an infinite reach."""
    return [
        asdict(part) | {"reach": part.reach if math.isfinite(part.reach) else None}
        for part in parts
    ]
