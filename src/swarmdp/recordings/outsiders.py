"""Outsiders: what individuals may see without being one of them, such as a dog among sheep.

Individuals of another kind, fixed places (food, light, a shelter) and a common field (a direction,
which is a place very far away). Nothing is learned about outsiders: where simulated swarms run,
they are played back as they were recorded. Those that move, such as a dog, go with the group: they
are where they were from its centre. At the places where they were they would be far from a
simulated group that went another way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.recording import Recording

FAR = 1e8  # distance of a field, in any unit: its direction is the same everywhere
FARTHER_THAN = 1e6  # what is as far away is a direction, not a place


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Outsiders:
    """Where outsiders are at each time.

    Parameters
    ----------
    positions
        (time, outsider, axis); NaN where one is absent.
    kinds
        What each is: "dog", "food"; several may be of one kind.
    headings
        (time, outsider) in radians; NaN where one does not move, and of places.
    centres
        (time, axis): the centre of the group, with which outsiders that move go where they are
        played back; None if they are to be where they were.

    Examples
    --------
    >>> import numpy as np, swarmdp
    >>> food = swarmdp.recordings.Outsiders(np.zeros((100, 1, 2)), ("food",))
    >>> food.names
    ('food',)

    """

    positions: NDArray[np.float64]
    kinds: tuple[str, ...]
    headings: NDArray[np.float64] | None = None
    centres: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        shape = self.positions.shape
        if len(shape) != 3 or shape[2] not in (2, 3) or shape[1] != len(self.kinds):
            raise InvalidInput(
                f"positions of outsiders must have the shape (time, {len(self.kinds)} outsiders, "
                f"2 or 3 axes), got {shape}"
            )
        if not self.kinds or not all(kind.strip() for kind in self.kinds):
            raise InvalidInput(
                f'kinds must name what each outsider is, such as ("dog",), got {brief(self.kinds)}'
            )
        if self.headings is None:
            object.__setattr__(self, "headings", _headings(self.positions))
        assert self.headings is not None
        if self.headings.shape != shape[:2]:
            raise InvalidInput(
                f"headings of outsiders must have the shape {shape[:2]}, got {self.headings.shape}"
            )
        if self.centres is not None and self.centres.shape != (shape[0], shape[2]):
            raise InvalidInput(
                f"centres must have the shape (time, axes) = {(shape[0], shape[2])}, got "
                f"{self.centres.shape}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds, each once, in the order in which they come."""
        return tuple(dict.fromkeys(self.kinds))

    @property
    def which(self) -> NDArray[np.int64]:
        """The number of the kind of each outsider (outsider,)."""
        return np.array([self.names.index(kind) for kind in self.kinds], np.int64)

    @property
    def known_headings(self) -> NDArray[np.float64]:
        """Headings (time, outsider)."""
        assert self.headings is not None
        return self.headings

    @cached_property
    def held(self) -> NDArray[np.float64]:
        """Positions where an outsider that is absent stays where it was, or will be, seen."""
        held = self.positions.copy()
        for n in range(held.shape[1]):
            there = np.flatnonzero(np.isfinite(held[:, n]).all(axis=1))
            if len(there):
                last = np.searchsorted(there, np.arange(len(held)), side="right") - 1
                held[:, n] = held[there[np.maximum(last, 0)], n]
        return held

    def distances(
        self, kind: str, position: NDArray[np.float64], clock: NDArray[Any]
    ) -> NDArray[np.float64]:
        """How far places (..., agents, 2) are from the nearest outsider of a kind (..., agents).

        `clock` (...,) are the times.
        """
        away = np.linalg.norm(self._gaps(kind, position, clock), axis=-1)
        return np.asarray(np.where(np.isfinite(away), away, np.inf).min(axis=-1))

    def headed_away(
        self,
        kind: str,
        position: NDArray[np.float64],
        heading: NDArray[np.float64],
        clock: NDArray[Any],
    ) -> NDArray[np.float64]:
        """How far agents (..., agents) move away from the nearest outsider of a kind.

        The cosine of the angle between the heading and the direction from it: 1 straight away.
        """
        gaps = self._gaps(kind, position, clock)
        away = np.linalg.norm(gaps, axis=-1)
        nearest = np.where(np.isfinite(away), away, np.inf).argmin(axis=-1)
        gap = np.take_along_axis(gaps, nearest[..., None, None], axis=-2)[..., 0, :]
        size = np.maximum(np.linalg.norm(gap, axis=-1), 1e-12)
        cosine = -(gap[..., 0] * np.cos(heading) + gap[..., 1] * np.sin(heading)) / size
        return np.asarray(np.nan_to_num(cosine))

    def _gaps(
        self, kind: str, position: NDArray[np.float64], clock: NDArray[Any]
    ) -> NDArray[np.float64]:
        """From places (..., agents, 2) to the outsiders of a kind (..., agents, members, 2)."""
        some = [number for number, other in enumerate(self.kinds) if other == kind]
        there = self.places_at(clock, position, held=True)[..., None, some, :]
        return np.asarray(there - position[..., :, None, :])

    def frames_at(self, clock: NDArray[Any]) -> NDArray[np.int64]:
        """The times `clock` (...,) as rows of the arrays."""
        return np.clip(clock.astype(np.int64), 0, len(self.positions) - 1)

    def places_at(
        self,
        clock: NDArray[Any],
        position: NDArray[np.float64] | None = None,
        *,
        held: bool = False,
    ) -> NDArray[np.float64]:
        """Where outsiders are (..., outsider, axis) at times (...,).

        Those that follow are where they were from the centre of the agents, whose places are
        `position` (..., agents, axis); without places, from the origin. With `held` who is absent
        is where it was last.
        """
        times = self.frames_at(clock)
        places = (self.held if held else self.positions)[times]
        if self.centres is None or not self.following.any():
            return places
        moved = -self.centres[times]
        if position is not None:
            moved = moved + position.mean(axis=-2)
        return np.where(self.following[:, None], places + moved[..., None, :], places)

    @cached_property
    def following(self) -> NDArray[np.bool_]:
        """Which outsiders go with the group (outsider,)."""
        if self.centres is None:
            return np.zeros(len(self.kinds), bool)
        return np.array([self.moves(kind) for kind in self.kinds], bool)

    @cached_property
    def followers(self) -> tuple[str, ...]:
        """The kinds that go with the group."""
        return tuple(kind for kind in self.places if self.centres is not None and self.moves(kind))

    def moves(self, kind: str) -> bool:
        """Whether outsiders of a kind move, so that they have a heading."""
        some = [number for number, other in enumerate(self.kinds) if other == kind]
        return bool(np.isfinite(self.known_headings[:, some]).any())

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The kinds that are somewhere: no fields, and seen at any time."""
        return tuple(
            kind
            for kind in self.names
            if not self.is_field(kind)
            and any(
                np.isfinite(self.positions[:, n]).any()
                for n, other in enumerate(self.kinds)
                if other == kind
            )
        )

    @cached_property
    def fixed(self) -> tuple[str, ...]:
        """The places that never move.

        Distances to them are compared. How far those are that go with the group is given with them.
        """
        return tuple(kind for kind in self.places if not self.moves(kind))

    def is_field(self, kind: str) -> bool:
        """Whether a kind is a direction, not a place."""
        some = [number for number, other in enumerate(self.kinds) if other == kind]
        away = np.abs(self.positions[:, some]).max(axis=2)
        return bool(np.nanmin(away) > FARTHER_THAN) if np.isfinite(away).any() else False

    def at_times(self, rows: NDArray[np.int64]) -> "Outsiders":
        """The same at some times; headings are those of the movement between them."""
        return Outsiders(self.positions[rows], self.kinds)

    def projected(self, axes: tuple[int, int]) -> "Outsiders":
        """The same on two axes."""
        return Outsiders(np.ascontiguousarray(self.positions[..., list(axes)]), self.kinds)

    def __repr__(self) -> str:
        counts = {name: self.kinds.count(name) for name in self.names}
        listed = ", ".join(
            f"{count} {name}" if count > 1 else name for name, count in counts.items()
        )
        return f"Outsiders: {listed}"


def _headings(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The direction in which each came (time, outsider); who stays keeps its heading."""
    headings = np.full(positions.shape[:2], np.nan)
    steps = np.diff(positions[..., :2], axis=0)
    moved = np.isfinite(steps).all(axis=2) & (np.abs(steps).max(axis=2, initial=0.0) > 0)
    for t in range(1, len(positions)):
        angle = np.arctan2(steps[t - 1, :, 1], steps[t - 1, :, 0])
        here = np.isfinite(positions[t]).all(axis=1)
        headings[t] = np.where(moved[t - 1], angle, np.where(here, headings[t - 1], np.nan))
    return headings


def with_others(recording: "Recording", others: Sequence[str | int]) -> "Recording":
    """Some individuals, or all of some kinds, as outsiders; see `Recording.with_others`."""
    if isinstance(others, str) or not others:
        raise InvalidInput(
            f'others must be a list of kinds or names of individuals, such as ["dog"], got '
            f"{brief(others)}"
        )
    shown = {str(name): number for number, name in enumerate(recording.names)}
    kinds = recording.kinds or ("",) * recording.n_individuals
    chosen: dict[int, str] = {}
    for words in map(str, others):
        # "dog=14" names an individual by what it is.
        called, _, other = words.rpartition("=") if words not in shown else ("", "", words)
        members = [number for number, kind in enumerate(kinds) if kind and kind == other]
        # Of pooled recordings the individual of this name in each.
        named = [n for name, n in shown.items() if other in (name, name.rpartition("/")[2])]
        if not members and not named:
            known = list(dict.fromkeys(kind for kind in kinds if kind)) or list(shown)
            raise InvalidInput(
                f"there is no kind and no individual {brief(other)}: there are "
                f"{', '.join(known[:12])}{' ...' if len(known) > 12 else ''}"
            )
        for number in members or named:
            chosen[number] = called or kinds[number] or other
    kept = [number for number in range(recording.n_individuals) if number not in chosen]
    if not kept:
        raise InvalidInput(
            "everyone would be an outsider, and nobody is left to learn from: name fewer others"
        )
    moved = sorted(chosen)
    outsiders = Outsiders(
        np.ascontiguousarray(recording.positions[:, moved]), tuple(chosen[n] for n in moved)
    )
    listed = ", ".join(
        kind if kind == str(recording.names[n]) else f"{recording.names[n]} ({kind})"
        for n, kind in sorted(chosen.items())[:12]
    )
    more = f" and {len(moved) - 12} more" if len(moved) > 12 else ""
    return replace(
        recording,
        positions=np.ascontiguousarray(recording.positions[:, kept]),
        headings=None if recording.headings is None else recording.headings[:, kept],
        individuals=tuple(recording.names[number] for number in kept),
        kinds=None if recording.kinds is None else tuple(kinds[number] for number in kept),
        outsiders=joined(recording.outsiders, outsiders),
        notes=(*recording.notes, f"played back, not learned: {listed}{more}"),
    )


def with_place(recording: "Recording", name: str, place: Sequence[float]) -> "Recording":
    """A fixed place as an outsider; see `Recording.with_place`."""
    point = np.asarray(place, np.float64)
    if point.shape != (recording.n_axes,) or not np.isfinite(point).all():
        raise InvalidInput(
            f"place must be {recording.n_axes} coordinates, one for each axis of the recording, "
            f"got {brief(place)}"
        )
    there = np.tile(point, (recording.n_frames, 1, 1))
    others = joined(recording.outsiders, Outsiders(there, (name,)))
    said = f"{name} is a place at ({', '.join(f'{part:g}' for part in point)})"
    return replace(recording, outsiders=others, notes=(*recording.notes, said))


def with_field(recording: "Recording", name: str, direction: float) -> "Recording":
    """A common direction as an outsider far away; see `Recording.with_field`."""
    if recording.n_axes != 2 or not math.isfinite(direction):
        raise InvalidInput(
            "a field is a direction in the plane, an angle in radians from the x axis of a "
            f"recording with two axes, got {brief(direction)} and {recording.n_axes} axes"
        )
    far = FAR * np.array([math.cos(direction), math.sin(direction)])
    there = np.tile(far, (recording.n_frames, 1, 1))
    others = joined(recording.outsiders, Outsiders(there, (name,)))
    said = f"{name} is a field, {math.degrees(direction):g} degrees from the x axis"
    return replace(recording, outsiders=others, notes=(*recording.notes, said))


def with_file(
    recording: "Recording", first: int | None, seen: "Recording", seen_first: int | None, kind: str
) -> "Recording":
    """The individuals of a second recording as outsiders of the first.

    Frames with numbers are matched by them, others begin at the same time.
    """
    for what in ("fps", "unit", "n_axes"):
        here, there = getattr(recording, what), getattr(seen, what)
        if not (np.isclose(here, there, rtol=1e-3) if what == "fps" else here == there):
            words = {"n_axes": "axes"}.get(what, what)
            raise InvalidInput(
                f"outsiders must be recorded with the same {words}: the recording has {here}, "
                f"{kind!r} has {there}"
            )
    late = 0 if first is None or seen_first is None else seen_first - first
    positions = np.full((recording.n_frames, seen.n_individuals, seen.n_axes), np.nan)
    begin, end = max(late, 0), min(late + seen.n_frames, recording.n_frames)
    if begin >= end:
        raise InvalidInput(f"the frames of {kind!r} are not those of the recording")
    positions[begin:end] = seen.positions[begin - late : end - late]
    others = joined(recording.outsiders, Outsiders(positions, (kind,) * seen.n_individuals))
    said = f"played back, not learned: {kind} ({seen.n_individuals}, of a second file)"
    return replace(recording, outsiders=others, notes=(*recording.notes, said))


def joined(one: Outsiders | None, other: Outsiders) -> Outsiders:
    """Outsiders of two sources, over the same times."""
    if one is None:
        return other
    return Outsiders(
        np.concatenate([one.positions, other.positions], axis=1), (*one.kinds, *other.kinds)
    )


def pooled(parts: "Sequence[Recording]", frames: int, axes: int) -> Outsiders | None:
    """The outsiders of several recordings, one after another; None if none has any."""
    if all(part.outsiders is None for part in parts):
        return None
    count = sum(0 if part.outsiders is None else len(part.outsiders.kinds) for part in parts)
    positions = np.full((frames, count, axes), np.nan)
    kinds: list[str] = []
    begin = column = 0
    for part in parts:
        if part.outsiders is not None:
            last = column + len(part.outsiders.kinds)
            positions[begin : begin + part.n_frames, column:last] = part.outsiders.positions
            kinds += part.outsiders.kinds
            column = last
        begin += part.n_frames
    return Outsiders(positions, tuple(kinds))


def at_decisions(
    recording: "Recording", rows: NDArray[np.int64], every: int, gap: int
) -> Outsiders | None:
    """Where outsiders are in some frames, and where they came from since so many frames before.

    Gaps of up to `gap` frames are interpolated.
    """
    others = recording.outsiders
    if others is None:
        return None
    filled = others.positions.copy()
    frames = np.arange(len(filled))
    for n in range(filled.shape[1]):
        there = np.flatnonzero(np.isfinite(filled[:, n]).all(axis=1))
        if not len(there):
            continue
        after = np.clip(np.searchsorted(there, frames), 0, len(there) - 1)
        before = np.clip(after - 1, 0, None)
        inside = (frames > there[0]) & (frames < there[-1])
        short = inside & (there[after] - there[before] <= gap + 1)
        for axis in range(filled.shape[2]):
            values = np.interp(frames, there, others.positions[there, n, axis])
            filled[short, n, axis] = values[short]
    steps = filled[rows] - filled[np.maximum(rows - every, 0)]
    moved = np.isfinite(steps).all(axis=2) & (np.abs(steps).max(axis=2) > 0)
    headings = np.where(moved, np.arctan2(steps[..., 1], steps[..., 0]), np.nan)
    return Outsiders(filled[rows], others.kinds, headings)


def centres_of(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The centre of a group (time, axis) at each time; where nobody was seen, the last one."""
    there = np.asarray(np.isfinite(positions).all(axis=2))
    count = there.sum(axis=1)
    total = np.where(there[..., None], positions, 0.0).sum(axis=1)
    seen = np.flatnonzero(count)
    if not len(seen):
        return np.zeros_like(total)
    last = np.maximum(np.searchsorted(seen, np.arange(len(count)), side="right") - 1, 0)
    means = total[seen] / count[seen, None]
    return np.asarray(means[last])
