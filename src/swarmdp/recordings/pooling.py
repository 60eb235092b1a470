"""Several recordings in one analysis, and one recording with pauses.

A recording is a number of stretches of time: a new one begins where a pooled recording begins, and
after a pause in which nobody was seen. Nothing is computed across the end of a stretch.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings import outsiders
from swarmdp.recordings.raw_tracks import check_table_fits
from swarmdp.recordings.recording import Recording
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput


def pool_recordings(recordings: Sequence[Recording], names: Sequence[str]) -> Recording:
    """Several recordings one after another; see `Recording.pooled`."""
    if not recordings:
        raise InvalidInput("there is no recording to pool: give at least one")
    titles = list(map(str, names)) or [str(number) for number in range(len(recordings))]
    if len(titles) != len(recordings) or len(set(titles)) != len(titles):
        raise InvalidInput(
            f"names must be {len(recordings)} different names, one for each recording, got "
            f"{brief(list(names))}"
        )
    first = recordings[0]
    if len(recordings) == 1:
        return first
    for title, other in zip(titles, recordings, strict=True):
        _check_same_kind(first, titles[0], other, title)
    frames = sum(part.n_frames for part in recordings)
    individuals = sum(part.n_individuals for part in recordings)
    check_table_fits(frames, individuals, first.n_axes, "Pool fewer recordings")
    positions = np.full((frames, individuals, first.n_axes), np.nan)
    headings = np.full((frames, individuals), np.nan)
    starts: list[int] = []
    labels: list[str | int] = []
    notes: list[str] = []
    kinds: list[str] = []
    begin = column = 0
    for title, part in zip(titles, recordings, strict=True):
        end, last = begin + part.n_frames, column + part.n_individuals
        positions[begin:end, column:last] = part.positions
        if part.headings is not None:
            headings[begin:end, column:last] = part.headings
        starts += [begin + start for start in part.starts]
        labels += [f"{title}/{name}" for name in part.names]
        notes += [f"{title}: {note}" for note in part.notes]
        kinds += part.kinds or ()
        begin, column = end, last
    arenas = {part.arena for part in recordings}
    logged = all(part.headings is not None for part in recordings)
    return Recording(
        positions,
        fps=first.fps,
        unit=first.unit,
        individuals=tuple(labels),
        notes=_shared(notes, titles),
        headings=headings if logged else None,
        arena=arenas.pop() if len(arenas) == 1 else None,
        starts=tuple(starts),
        kinds=tuple(kinds) if len(kinds) == individuals else None,
        outsiders=outsiders.pooled(recordings, frames, first.n_axes),
    )


def _check_same_kind(first: Recording, one: str, other: Recording, title: str) -> None:
    """Raises InvalidInput if two recordings cannot be pooled."""
    for what in ("fps", "unit", "n_axes"):
        here, there = getattr(first, what), getattr(other, what)
        same = np.isclose(here, there, rtol=1e-3) if what == "fps" else here == there
        if not same:
            words = {"n_axes": "axes"}.get(what, what)
            raise InvalidInput(
                f"recordings can be pooled if they have the same {words}: {one!r} has {here}, "
                f"{title!r} has {there}"
            )


def _shared(notes: Sequence[str], titles: Sequence[str]) -> tuple[str, ...]:
    """Notes that all recordings share once, others with the recording's name."""
    by_title = {
        title: [note.removeprefix(f"{title}: ") for note in notes if note.startswith(f"{title}: ")]
        for title in titles
    }
    common = [
        note for note in by_title[titles[0]] if all(note in said for said in by_title.values())
    ]
    special = [
        f"{title}: {note}"
        for title, said in by_title.items()
        for note in said
        if note not in common
    ]
    return (*common, *special)


def stretches(recording: Recording, pause: float) -> list[tuple[int, int]]:
    """The first frame and the end of each stretch in which somebody is seen.

    Parameters
    ----------
    recording
        One or several pooled ones.
    pause
        Frames without anybody, above which a new stretch begins.

    """
    seen = np.flatnonzero(recording.present.any(axis=1))
    if not len(seen):
        return []
    numbers = recording_of_frames(recording)[seen]
    breaks = (np.diff(seen) - 1 > pause) | (np.diff(numbers) > 0)
    begins = seen[np.append(True, breaks)]
    ends = seen[np.append(breaks, True)] + 1
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def recording_of_frames(recording: Recording) -> NDArray[np.int64]:
    """The number of the pooled recording to which each frame belongs."""
    starts = np.asarray(recording.starts)
    numbers: NDArray[np.int64] = np.searchsorted(
        starts, np.arange(recording.n_frames), side="right"
    )
    return numbers - 1
