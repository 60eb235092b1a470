"""What a recording is like, in numbers: who is there, how they move, and what is left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support import markup

if TYPE_CHECKING:
    from swarmdp.recordings.cleaning import Cleaned
    from swarmdp.recordings.recording import Recording

MOST_FRAMES = 400  # in which nearest neighbours are looked for, evenly spaced
ODD = 30.0  # times faster or slower than the others: rather another unit than another animal


@dataclass(frozen=True, eq=False)
class Summary:
    """What a recording is like; print it, or let a notebook show it."""

    cleaned: "Cleaned"

    @property
    def recording(self) -> "Recording":
        """What it is the summary of."""
        return self.cleaned.recording

    @cached_property
    def present(self) -> NDArray[np.int64]:
        """Number of individuals seen in each frame."""
        return np.asarray(self.recording.present.sum(axis=1))

    @cached_property
    def gaps(self) -> int:
        """Number of interruptions: an individual is not seen and comes back."""
        present = self.recording.present
        begins = int((present[1:] & ~present[:-1]).sum()) + int(present[0].sum())
        return begins - int(present.any(axis=0).sum())

    @cached_property
    def speeds(self) -> NDArray[np.float64]:
        """All speeds that are known, in units a second."""
        return self.cleaned.speeds[~np.isnan(self.cleaned.speeds)]

    @cached_property
    def polarisation(self) -> NDArray[np.float64]:
        """Length of the mean direction in each frame, from 0 to 1; NaN if fewer than two move."""
        return self._of_group(self.cleaned.directions)

    @cached_property
    def rotation(self) -> NDArray[np.float64]:
        """How much the group circles around its centre in each frame, from 0 to 1."""
        places = self.cleaned.positions
        directions = self.cleaned.directions
        complete = np.asarray(~np.isnan(directions + places).any(axis=2))
        count = complete.sum(axis=1)
        centre = np.where(complete[..., None], places, 0).sum(axis=1)
        centre = centre / np.maximum(count, 1)[:, None]
        outwards = places - centre[:, None]
        distance = np.linalg.norm(outwards, axis=2, keepdims=True)
        complete &= distance[..., 0] > 0
        outwards = outwards / np.where(distance > 0, distance, 1)
        return self._of_group(np.where(complete[..., None], _across(outwards, directions), np.nan))

    def _of_group(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """The length of the mean of vectors (time, individual, axis) in each frame."""
        complete = np.asarray(~np.isnan(vectors).any(axis=2))
        count = complete.sum(axis=1)
        total = np.where(complete[..., None], vectors, 0).sum(axis=1)
        length = np.linalg.norm(total, axis=1) / np.maximum(count, 1)
        return np.where(count >= 2, length, np.nan)

    @cached_property
    def nearest(self) -> NDArray[np.float64]:
        """Distances to the nearest neighbour, of all individuals in evenly spaced frames."""
        from scipy.spatial import cKDTree

        frames = self.recording.n_frames
        distances = []
        for frame in np.unique(np.linspace(0, frames - 1, min(frames, MOST_FRAMES)).astype(int)):
            places = self.cleaned.filled[frame]
            places = places[~np.isnan(places).any(axis=1)]
            if len(places) > 1:
                distances.append(cKDTree(places).query(places, k=2)[0][:, 1])
        return np.concatenate(distances) if distances else np.zeros(0)

    @cached_property
    def extent(self) -> NDArray[np.float64]:
        """Lowest and highest coordinate on each axis (axis, 2); NaN if there is no point."""
        places = self.recording.positions[self.recording.present]
        if not len(places):
            return np.full((self.recording.n_axes, 2), np.nan)
        return np.stack([places.min(axis=0), places.max(axis=0)], axis=1)

    @property
    def dropped(self) -> Mapping[str, int]:
        """What is left out and why, as counts."""
        return self.cleaned.dropped

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What looks wrong, or limits what can be learned."""
        recording = self.recording
        if not recording.present.any():
            return ("no individual is seen in any frame: all coordinates are missing",)
        said = []
        if recording.n_individuals == 1:
            said.append("there is one individual: it has no neighbours to react to")
        speeds = _medians(self.cleaned.speeds)
        if not (speeds > 0).any():
            said.append("nobody moves: there are no headings")
            return tuple(said)
        jumps = next(n for words, n in self.dropped.items() if words.startswith("steps above"))
        if jumps > 0.01 * max(len(self.speeds), 1):
            said.append(
                f"{jumps} steps are jumps, more than 1 %: identities may be wrong, or fps is too "
                "low for how fast they move"
            )
        middle = float(np.median(speeds[speeds > 0]))
        odd = [
            name
            for name, speed in zip(recording.names, speeds, strict=True)
            if speed > ODD * middle or 0 < speed < middle / ODD
        ]
        if odd and recording.n_individuals > 2:
            said.append(
                f"individual {odd[0]!r} is more than {ODD:g} times faster or slower than most "
                f"({len(odd)} such): is it recorded in another unit?"
            )
        return tuple(said)

    @cached_property
    def facts(self) -> dict[str, str]:
        """The numbers, in words."""
        recording, unit = self.recording, self.recording.unit
        busy = self.present > 0  # somebody is seen
        present = self.present[busy] if busy.any() else self.present
        seen = float(recording.present[busy].mean()) if busy.any() else 0.0
        at_a_time = f"from {present.min()} to {present.max()} at a time (median "
        at_a_time += f"{np.median(present):g})"
        return {
            "individuals": f"{recording.n_individuals}, "
            + ("all at all times" if present.min() == recording.n_individuals else at_a_time),
            "duration": f"{recording.duration:.4g} s, {recording.n_frames} frames, "
            f"{recording.fps:g} a second",
            **({} if busy.all() else {"pauses": self._pauses_in_words(busy)}),
            "seen": f"{100 * seen:.4g} % of all frames and individuals; {self.gaps} "
            + ("gap" if self.gaps == 1 else "gaps"),
            "segments": f"{self.cleaned.n_segments}",
            "extent": " × ".join(f"{high - low:.4g}" for low, high in self.extent)
            + f" {unit}, from ({_list(self.extent[:, 0])}) to ({_list(self.extent[:, 1])})",
            "speed": _spread(self.speeds, f"{unit}/s"),
            "nearest neighbour": _spread(self.nearest, unit),
            "polarisation": _spread(self.polarisation, ""),
            "milling": _spread(self.rotation, ""),
        }

    def _pauses_in_words(self, busy: NDArray[np.bool_]) -> str:
        """How often, and for how long, nobody is seen."""
        count = int((np.diff(np.concatenate([[True], busy]).astype(np.int8)) < 0).sum())
        idle = int((~busy).sum())
        return f"{count}, {idle / self.recording.fps:.4g} s in all, in which nobody is seen"

    def __str__(self) -> str:
        lines = [repr(self.recording)]
        lines += [f"  {name}: {words}" for name, words in self.facts.items()]
        lines += ["what cleaning does:"]
        lines += [f"  {count} {words}" for words, count in self.dropped.items()]
        lines += [f"note: {note}" for note in self.recording.notes]
        lines += [f"remark: {remark}" for remark in self.remarks]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return markup.card(
            repr(self.recording),
            *map(markup.paragraph, (*self.remarks, *self.recording.notes)),
            markup.table(("", ""), list(self.facts.items())),
            markup.table(
                ("what cleaning does", "count"),
                [(words, float(count)) for words, count in self.dropped.items()],
            ),
        )

    def to_plain(self) -> dict[str, Any]:
        """The summary as plain data, for a JSON file."""
        recording = self.recording
        return {
            "individuals": recording.n_individuals,
            "frames": recording.n_frames,
            "fps": recording.fps,
            "unit": recording.unit,
            "axes": recording.n_axes,
            "seen": float(recording.present.mean()),
            "gaps": self.gaps,
            "segments": self.cleaned.n_segments,
            "extent": [[_plain(low), _plain(high)] for low, high in self.extent],
            "median_speed": _plain(_median(self.speeds)),
            "median_nearest_neighbour": _plain(_median(self.nearest)),
            "median_polarisation": _plain(_median(self.polarisation)),
            "median_rotation": _plain(_median(self.rotation)),
            "dropped": dict(self.dropped),
            "notes": list(recording.notes),
            "remarks": list(self.remarks),
        }


def _across(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cross product of vectors; in the plane the one component that it has."""
    if one.shape[2] == 3:
        return np.asarray(np.cross(one, other))
    flat = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    return np.expand_dims(flat, 2)


def _median(values: NDArray[np.float64]) -> float:
    finite = values[~np.isnan(values)]
    return float(np.median(finite)) if len(finite) else np.nan


def _medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of each column; zero where nothing is known."""
    medians = [_median(column) for column in values.T]
    return np.asarray(np.nan_to_num(np.asarray(medians)))


def _spread(values: NDArray[np.float64], unit: str) -> str:
    finite = values[~np.isnan(values)]
    if not len(finite):
        return "not known"
    low, middle, high = np.quantile(finite, (0.05, 0.5, 0.95))
    return f"median {middle:.3g}{' ' + unit if unit else ''}, 5–95 %: {low:.3g} to {high:.3g}"


def _list(values: NDArray[np.float64]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
