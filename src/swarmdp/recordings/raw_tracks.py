"""What was found in a file or a table, before frame rate and unit are settled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.arena import arena_in_words, arena_of_border
from swarmdp.recordings.recording import Recording
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

BODY_LENGTH = "BL"
LEAST_LOST = 2  # points at the same round place that may mean 'lost'
LOST_STEP = 8.0  # times the median step: nobody goes there in one frame


@dataclass(frozen=True, eq=False)
class Tracks:
    """Positions (time, individual, axis) and what the file says of them; None where it does not."""

    positions: NDArray[np.float64]
    individuals: tuple[str | int, ...] | None = None
    fps: float | None = None
    unit: str | None = None
    body_length: float | None = None  # in the file's unit
    notes: tuple[str, ...] = ()
    every: int = 1  # of how many frames one is there; fps counts all of them
    headings: NDArray[np.float64] | None = None  # (time, individual), in radians
    border: NDArray[np.float64] | None = None  # (corners, 2): of the tank, in the file's unit
    kinds: tuple[str, ...] | None = None  # of individuals
    first: int | None = None  # number of the first frame; None if frames have no numbers


def as_recording(
    tracks: Tracks, *, fps: float | None, unit: str | None, length: float | None
) -> Recording:
    """A recording with the frame rate and the unit of the file, or with those that were given.

    Raises InvalidInput, and names the argument, if neither is known.
    """
    notes = list(tracks.notes)
    if fps is not None:
        check_number("fps", fps, positive=True)
    if length is not None:
        check_number("length", length, positive=True)
    if fps is None:
        if tracks.fps is None:
            raise InvalidInput(
                "fps is missing: give the number of frames per second, such as fps=25 (--fps "
                "25); nothing here tells it"
            )
        fps = tracks.fps
    elif tracks.fps is not None and not np.isclose(fps, tracks.fps, rtol=1e-3):
        notes.append(f"fps={fps:g} was given and is used, the data say {tracks.fps:g}")
    if not np.isfinite(tracks.positions).any():
        raise InvalidInput("no individual is seen in any frame: all coordinates are missing")
    unit, scale, words = _unit_and_scale(tracks, unit, length)
    marked, lost = without_lost(tracks.positions)
    notes += lost
    with np.errstate(over="ignore"):
        positions = marked if scale == 1 else marked / scale
    if not (np.isfinite(positions) == np.isfinite(marked)).all():
        raise InvalidInput(f"length={length!r} makes coordinates infinite: give the right one")
    arena = None
    if tracks.border is not None and positions.shape[2] == 2:
        arena = arena_of_border(tracks.border / scale)
        words = [*words, f"the border in the file is the arena: {arena_in_words(arena, unit)}"]
    return Recording(
        positions,
        fps=fps / tracks.every,
        unit=unit,
        individuals=tracks.individuals,
        notes=(*notes, *words),
        headings=tracks.headings,
        arena=arena,
        kinds=tracks.kinds,
    )


def without_lost(positions: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    """Positions without points at exactly 0 or -1 on all axes, which mean that nobody was seen.

    They are lost ones if individuals would come there and leave in one frame from far away.
    """
    notes = []
    for mark in (0.0, -1.0):
        at = (positions == mark).all(axis=2)
        if at.sum() < LEAST_LOST:
            continue
        steps = np.linalg.norm(np.diff(positions, axis=0), axis=2)
        across = at[1:] != at[:-1]
        inner, jumps = steps[~across & ~at[1:]], steps[across]
        inner, jumps = inner[np.isfinite(inner)], jumps[np.isfinite(jumps)]
        moved = inner[inner > 0]
        if len(jumps) and len(moved) and np.median(jumps) > LOST_STEP * np.median(moved):
            positions = np.where(at[..., None], np.nan, positions)
            notes.append(
                f"{int(at.sum())} points at exactly ({mark:g}, {mark:g}), far from where the "
                "individuals were before and after: taken as not seen"
            )
    return positions, notes


def _unit_and_scale(
    tracks: Tracks, unit: str | None, length: float | None
) -> tuple[str, float, list[str]]:
    """The unit of the recording, how many of the file's units it has, and what to say of it."""
    stored = tracks.unit
    if unit is None:
        if length is not None:
            raise InvalidInput(
                f"length={length:g} is {length:g} {stored or 'of the units in the data'} for one "
                'unit of which the name is missing: give it, such as unit="cm"'
            )
        if stored is None:
            raise InvalidInput(
                'unit is missing: give the unit of the coordinates, such as unit="px" or '
                'unit="cm" (--unit cm); to convert them, give the unit that you want and length=, '
                "how many of the units in the data it has"
            )
        return stored, 1.0, []
    if length is not None:
        return (
            unit,
            length,
            [f"1 {unit} is {length:g} {stored or 'units of the data'} (length)"],
        )
    if stored is None or unit == stored:
        return unit, 1.0, []
    if unit == BODY_LENGTH and tracks.body_length is not None:
        size = tracks.body_length
        return (
            unit,
            size,
            [f"1 BL is the body length that the file tells, {size:.4g} {stored}"],
        )
    raise InvalidInput(
        f"the data are in {stored}, but unit={unit!r}: give length=, the number of {stored} in one "
        f"{unit}, or leave unit out to keep {stored}"
    )


def check_table_fits(frames: int, individuals: int, axes: int, remedy: str) -> None:
    """Raises NotEnoughMemory if positions (time, individual, axis) would not fit."""
    check_memory(
        2.5 * 8 * frames * individuals * axes,
        f"a table of {frames:,} frames and {individuals:,} individuals",
        remedy,
    )
