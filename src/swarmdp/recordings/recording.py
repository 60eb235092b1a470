"""A recorded swarm: where each individual was in each frame, with the frame rate and the unit."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.arena import Arena
from swarmdp.recordings.outsiders import Outsiders, with_field, with_others, with_place
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Positive

if TYPE_CHECKING:
    import pandas
    import xarray

    from swarmdp.recordings.cleaning import Cleaned
    from swarmdp.recordings.decisions import Decisions
    from swarmdp.recordings.summary import Summary

SHAPE = "(time, individual, 2 or 3 axes)"
_FRAME = 1e-6  # of a frame: 0.1 s at 30 frames a second is frame 3, whatever rounding says


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Recording:
    """Positions of individuals over time, as a tracking tool wrote them.

    Parameters
    ----------
    positions
        Array (time, individual, axis) with 2 or 3 axes; NaN where an individual was not seen.
    fps
        Frames per second.
    unit
        The name of the unit of length, such as "cm", "px" or "BL" (body lengths).
    individuals
        The individuals' names; 0, 1, 2, ... if not given.
    notes
        What was guessed or changed on reading, in sentences.
    headings
        Array (time, individual) of logged headings in radians, counted from the x axis towards the
        y axis; NaN where none was logged. By default headings are those of the movement.
    arena
        Where the individuals were, if the file tells it, in `unit`.
    starts
        The frames in which a recording begins, of several ones that were pooled.
    kinds
        What each individual is, such as "adult" and "juvenile"; None if that is not known.
    outsiders
        Those that individuals may see without being one of them: see `with_others`, `with_place`
        and `with_field`.

    Examples
    --------
    >>> import numpy as np, swarmdp
    >>> walk = np.cumsum(np.ones((100, 5, 2)), axis=0)
    >>> swarmdp.Recording(walk, fps=25, unit="cm")
    Recording of 5 individuals in 100 frames (4 s at 25 frames a second), in cm, 2-D

    """

    positions: NDArray[np.float64]
    _: KW_ONLY
    fps: Positive
    unit: str
    individuals: tuple[str | int, ...] | None = None
    notes: tuple[str, ...] = ()
    headings: NDArray[np.float64] | None = None
    arena: Arena | None = None
    starts: tuple[int, ...] = (0,)
    kinds: tuple[str, ...] | None = None
    outsiders: Outsiders | None = None

    def __post_init__(self) -> None:
        shape = self.positions.shape
        if len(shape) != 3 or shape[2] not in (2, 3):
            raise InvalidInput(f"positions must have the shape {SHAPE}, got {shape}")
        if not shape[0] or not shape[1]:
            raise InvalidInput(
                f"positions must have at least one frame and one individual, got {shape}"
            )
        if not self.unit.strip():
            raise InvalidInput('unit must name the unit of length, such as "cm", "px" or "BL"')
        if self.individuals is None:
            object.__setattr__(self, "individuals", tuple(range(shape[1])))
        names = self.names
        if len(names) != shape[1]:
            raise InvalidInput(
                f"individuals must be {shape[1]} names, one for each individual, got {len(names)}"
            )
        if len(set(names)) != len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise InvalidInput(f"the names of individuals must differ, got {brief(twice)} twice")
        if self.headings is not None and self.headings.shape != shape[:2]:
            raise InvalidInput(
                f"headings must have the shape {shape[:2]} (time, individual), got "
                f"{self.headings.shape}"
            )
        if self.kinds is not None and len(self.kinds) != shape[1]:
            raise InvalidInput(
                f"kinds must be {shape[1]} names, one for each individual, got {len(self.kinds)}"
            )
        others = self.outsiders
        if others is not None and others.positions.shape[::2] != shape[::2]:
            raise InvalidInput(
                f"outsiders must have the recording's {shape[0]} frames and {shape[2]} axes, got "
                f"{others.positions.shape[0]} and {others.positions.shape[2]}"
            )
        ordered = all(one < other for one, other in zip(self.starts, self.starts[1:], strict=False))
        if self.starts[:1] != (0,) or not ordered or self.starts[-1] >= shape[0]:
            raise InvalidInput(
                f"starts must be rising numbers of frames from 0 on, below {shape[0]}, got "
                f"{brief(self.starts)}"
            )

    @classmethod
    def pooled(cls, recordings: "Sequence[Recording]", names: Sequence[str] = ()) -> "Recording":
        """Several recordings as one, such as the trials of an experiment, for one analysis.

        Nothing is computed across the end of a recording. The individuals of each are others than
        those of the rest, and are named after it.

        Parameters
        ----------
        recordings
            With the same frame rate, unit and number of axes.
        names
            The recordings' names; 0, 1, 2, ... if not given.

        """
        from swarmdp.recordings.pooling import pool_recordings

        return pool_recordings(recordings, names)

    @classmethod
    def from_frame(
        cls,
        frame: "pandas.DataFrame",
        *,
        columns: Mapping[str, str] | None = None,
        fps: float | None = None,
        unit: str | None = None,
        length: float | None = None,
    ) -> "Recording":
        """A recording from a pandas data frame with a row for each individual in each frame.

        Parameters
        ----------
        frame
            The table.
        columns
            Which column is the "frame" (or the "time"), the "individual", and "x", "y", "z", such
            as {"individual": "fish", "x": "x_cm"}. What is not named is guessed by the columns'
            names; the notes say what was guessed. A column that says what each individual is must
            be named: {"kind": "species"}.
        fps
            Frames per second; needed if no column of times tells it.
        unit
            The unit of length; needed if the columns' names do not tell it ("x_cm").
        length
            How many of the table's own units make one `unit`: 58 for unit="BL" and a body length of
            58 pixels. Coordinates are divided by it.

        """
        import pandas

        from swarmdp.recordings.long_tables import choose_columns, tracks_of
        from swarmdp.recordings.raw_tracks import as_recording

        if not isinstance(frame, pandas.DataFrame):
            raise InvalidInput(f"frame must be a pandas DataFrame, got {brief(frame)}")
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise InvalidInput(f"the columns must have different names, got {brief(twice)} twice")
        chosen = choose_columns(list(frame.columns), columns)
        tracks = tracks_of(chosen, lambda name: frame[name], fps=fps, first=0)
        return as_recording(tracks, fps=fps, unit=unit, length=length)

    @classmethod
    def from_dataset(
        cls,
        dataset: "xarray.Dataset",
        *,
        keypoint: str | None = None,
        fps: float | None = None,
        unit: str | None = None,
        length: float | None = None,
    ) -> "Recording":
        """A recording from an xarray dataset as the toolbox `movement` makes it.

        Parameters
        ----------
        dataset
            With a variable `position` over time, space, individuals and, of poses, key points.
        keypoint
            Which key point stands for the individual; needed if there are several.
        fps
            Frames per second; needed if the dataset does not tell it.
        unit
            The unit of length; needed, since such datasets do not tell it.
        length
            How many of the dataset's own units make one `unit`.

        """
        import xarray

        from swarmdp.recordings.datasets import tracks_of_dataset
        from swarmdp.recordings.raw_tracks import as_recording

        if not isinstance(dataset, xarray.Dataset):
            raise InvalidInput(f"dataset must be an xarray Dataset, got {brief(dataset)}")
        tracks = tracks_of_dataset(dataset, keypoint)
        return as_recording(tracks, fps=fps, unit=unit, length=length)

    @property
    def names(self) -> tuple[str | int, ...]:
        """The individuals' names."""
        assert self.individuals is not None
        return self.individuals

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return int(self.positions.shape[0])

    @property
    def n_individuals(self) -> int:
        """Number of individuals that were seen at any time."""
        return int(self.positions.shape[1])

    @property
    def n_axes(self) -> int:
        """2 or 3."""
        return int(self.positions.shape[2])

    @property
    def times(self) -> NDArray[np.float64]:
        """Seconds since the first frame (time,)."""
        return np.arange(self.n_frames) / self.fps

    @property
    def duration(self) -> float:
        """Length of the recording in seconds, one over fps for each frame, pauses included."""
        return self.n_frames / self.fps

    @property
    def present(self) -> NDArray[np.bool_]:
        """Who was seen when (time, individual): all coordinates are finite."""
        return np.asarray(np.isfinite(self.positions).all(axis=2))

    @property
    def recordings(self) -> int:
        """Number of recordings that were pooled; 1 of a single one."""
        return len(self.starts)

    @property
    def pauses(self) -> int:
        """Number of times at which nobody is seen for more than a second, with others after it."""
        from swarmdp.recordings.pooling import stretches

        return len(stretches(self, self.fps)) - self.recordings

    def without(self, individuals: Sequence[str | int]) -> "Recording":
        """The recording without some individuals, such as a dog among sheep.

        Parameters
        ----------
        individuals
            Their names.

        """
        shown = {str(name): number for number, name in enumerate(self.names)}
        missing = [name for name in individuals if str(name) not in shown]
        if missing:
            raise InvalidInput(
                f"there is no individual {brief(missing[0])}: there are "
                f"{', '.join(list(shown)[:12])}{' ...' if len(shown) > 12 else ''}"
            )
        left_out = {shown[str(name)] for name in individuals}
        kept = [number for number in range(self.n_individuals) if number not in left_out]
        if not kept:
            raise InvalidInput("all individuals would be left out: leave out fewer")
        listed = ", ".join(str(self.names[number]) for number in sorted(left_out))
        return replace(
            self,
            positions=np.ascontiguousarray(self.positions[:, kept]),
            headings=None if self.headings is None else self.headings[:, kept],
            individuals=tuple(self.names[number] for number in kept),
            kinds=None if self.kinds is None else tuple(self.kinds[number] for number in kept),
            notes=(*self.notes, f"left out: individual {listed}"),
        )

    def with_others(self, others: Sequence[str | int]) -> "Recording":
        """Some of the individuals as outsiders: seen and played back, but not learned from.

        Parameters
        ----------
        others
            Kinds (see `kinds`) or names of individuals, such as ["dog"] or [14]; ["dog=14"] says
            what individual 14 is.

        """
        return with_others(self, others)

    def with_place(self, name: str, place: Sequence[float]) -> "Recording":
        """The recording with a fixed place that individuals may see, such as food or a light.

        Parameters
        ----------
        name
            What it is.
        place
            Its coordinates, in `unit`.

        """
        return with_place(self, name, place)

    def with_field(self, name: str, direction: float) -> "Recording":
        """The recording with a direction that individuals may sense everywhere, such as a current.

        Parameters
        ----------
        name
            What it is.
        direction
            In radians, from the x axis towards the y axis.

        """
        return with_field(self, name, direction)

    def between(self, begin: float, end: float) -> "Recording":
        """A part of the recording, such as its first ten minutes; of pooled ones, a part of each.

        Individuals that are not seen in it are left out.

        Parameters
        ----------
        begin, end
            Seconds since the first frame.

        """
        if not 0 <= begin < end:
            raise InvalidInput(
                f"a part must begin at 0 s or later, and before it ends, got {begin:g} to {end:g} s"
            )
        which = f"between {begin:g} and {end:g} s" if math.isfinite(end) else f"after {begin:g} s"
        # A frame counts if it is at `begin` or later, and before `end`.
        first = math.ceil(begin * self.fps - _FRAME)
        count = math.ceil(min(end * self.fps, float(self.n_frames)) - _FRAME) - first
        ends = (*self.starts[1:], self.n_frames)
        parts = [
            np.arange(start + first, min(start + first + count, stop))
            for start, stop in zip(self.starts, ends, strict=True)
        ]
        parts = [part for part in parts if len(part)]
        if not parts:
            raise InvalidInput(
                f"no frame is {which}: the recording is "
                f"{max(np.diff([*self.starts, self.n_frames])) / self.fps:.4g} s long"
            )
        frames = np.concatenate(parts)
        seen = np.flatnonzero(self.present[frames].any(axis=0))
        if not len(seen):
            raise InvalidInput(f"nobody is seen {which}")
        return replace(
            self,
            positions=np.ascontiguousarray(self.positions[np.ix_(frames, seen)]),
            headings=None if self.headings is None else self.headings[np.ix_(frames, seen)],
            individuals=tuple(self.names[number] for number in seen),
            kinds=None if self.kinds is None else tuple(self.kinds[number] for number in seen),
            outsiders=None if self.outsiders is None else self.outsiders.at_times(frames),
            starts=(0, *np.cumsum([len(part) for part in parts])[:-1].tolist()),
            notes=(*self.notes, f"only the part {which}"),
        )

    def projected(self, axes: tuple[int, int] = (0, 1)) -> "Recording":
        """The recording on two of its axes; a point needs a finite coordinate on both.

        Parameters
        ----------
        axes
            Which two axes are kept, from 0: (0, 1) is the view along the third.

        """
        if len(set(axes)) != 2 or not all(0 <= axis < self.n_axes for axis in axes):
            raise InvalidInput(
                f"axes must be two different numbers from 0 to {self.n_axes - 1}, got {axes}"
            )
        kept = np.ascontiguousarray(self.positions[:, :, list(axes)])
        note = f"projected onto axes {axes[0]} and {axes[1]}"
        others = None if self.outsiders is None else self.outsiders.projected(axes)
        return replace(
            self, positions=kept, arena=None, outsiders=others, notes=(*self.notes, note)
        )

    def clean(
        self, *, jump: float = 8.0, max_gap: float = 0.3, smooth: float = 0.15, slow: float = 0.15
    ) -> "Cleaned":
        """Segments that can be trusted, smoothed, with headings; the recording stays as it is.

        Parameters
        ----------
        jump
            A step of more than this many times the median step begins a new segment: it is rather
            a swap of identities than a movement. Infinity for no limit.
        max_gap
            Gaps up to this many seconds are interpolated, for seeing neighbours only; longer ones
            begin a new segment.
        smooth
            Seconds over which positions are smoothed (a parabola fitted in a moving window). No
            smoothing if that is fewer than 5 frames.
        slow
            No heading where the speed is below this share of the median speed.

        """
        from swarmdp.recordings.cleaning import clean

        return clean(self, jump=jump, max_gap=max_gap, smooth=smooth, slow=slow)

    def summary(
        self, *, jump: float = 8.0, max_gap: float = 0.3, smooth: float = 0.15, slow: float = 0.15
    ) -> "Summary":
        """What the recording is like: presence, gaps, speeds, order, distances, what is dropped.

        Print it, or let a notebook show it. The arguments are those of `clean`.
        """
        from swarmdp.recordings.summary import Summary

        return Summary(self.clean(jump=jump, max_gap=max_gap, smooth=smooth, slow=slow))

    def decisions(
        self,
        dt: float | Literal["auto"] = "auto",
        *,
        jump: float = 8.0,
        max_gap: float = 0.3,
        smooth: float | Literal["auto"] = "auto",
        slow: float = 0.15,
    ) -> "Decisions":
        """Places, headings and turns at even times, with a part to train and a part to test on.

        Parameters
        ----------
        dt
            Seconds from one decision to the next, in whole frames. "auto" takes the shortest time
            by which headings or neighbours have changed and errors of positions are small.
        jump, max_gap, slow
            As for `clean`; who is slower than `slow` of the median speed keeps its heading.
        smooth
            As for `clean`. "auto" smooths over `dt`, if errors of positions are more than a
            fiftieth of the variance of turns.

        """
        from swarmdp.recordings.decisions import decide

        return decide(self, dt=dt, jump=jump, max_gap=max_gap, smooth=smooth, slow=slow)

    def __repr__(self) -> str:
        pooled = f" of {self.recordings} recordings" if self.recordings > 1 else ""
        return (
            f"Recording of {self.n_individuals} individual{'s' * (self.n_individuals != 1)} in "
            f"{self.n_frames} frames{pooled} ({self.duration:.4g} s at {self.fps:g} frames a "
            f"second), in {self.unit}, {self.n_axes}-D"
            + ("" if self.outsiders is None else f", with {', '.join(self.outsiders.names)}")
        )
