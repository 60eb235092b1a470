"""Cleaning of tracks: what may be learned from, what is only seen, and what is left out and why.

A step far above the median step is rather a swap of identities than a movement: a new segment
begins there, and nothing is computed across it. (Swaps that stay in look like attraction.) The
limit is a multiple of the median, since a high quantile would be raised by the jumps themselves.

All of it works on the points of all individuals in one line, one individual after the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.recording import Recording
from swarmdp.support.checks import brief, check_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_SHORTEST = 3  # points of a segment: fewer have no turn
NARROWEST = 5  # frames of a window in which smoothing changes anything
_BYTES = 150  # for each frame of an individual while cleaning, measured


@dataclass(frozen=True, eq=False)
class Cleaned:
    """A recording in segments that can be trusted.

    `recording` is the original. `dropped` counts in plain words what is left out and why.

    Parameters
    ----------
    recording
        The recording as it was read.
    positions
        (time, individual, axis): smoothed positions; NaN where an individual was not recorded.
    filled
        The same with short gaps interpolated, for seeing neighbours only.
    segment
        (time, individual): the number of the segment, -1 where the individual was absent.
    dropped
        What was left out, counted by reason.
    median_step
        The median distance from frame to frame of those who move.
    jump
        A step of more than this many times the median step begins a new segment.
    max_gap
        Seconds up to which gaps are interpolated.
    smooth
        Seconds over which positions are smoothed.
    slow
        The share of the median speed below which there is no heading.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> cleaned = recording.clean()
    >>> cleaned.positions.shape
    (121, 20, 2)

    """

    recording: Recording
    positions: NDArray[np.float64]
    filled: NDArray[np.float64]
    segment: NDArray[np.int64]
    dropped: Mapping[str, int]
    median_step: float
    jump: float
    max_gap: float
    smooth: float
    slow: float

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return int(self.segment.max(initial=-1)) + 1

    @cached_property
    def steps(self) -> NDArray[np.float64]:
        """Displacements since the frame before (time, individual, axis); NaN across segments."""
        steps = np.full_like(self.positions, np.nan)
        same = (self.segment[1:] == self.segment[:-1]) & (self.segment[1:] >= 0)
        np.subtract(self.positions[1:], self.positions[:-1], out=steps[1:], where=same[..., None])
        return steps

    @cached_property
    def speeds(self) -> NDArray[np.float64]:
        """Speed since the frame before, in units a second (time, individual); NaN where unknown."""
        speeds: NDArray[np.float64] = np.linalg.norm(self.steps, axis=2) * self.recording.fps
        return speeds

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """Who moves fast enough to have a heading (time, individual)."""
        measured = ~np.isnan(self.speeds)
        if not measured.any():
            return measured
        limit = self.slow * np.median(self.speeds[measured])
        return measured & (self.speeds >= limit) & (self.speeds > 0)

    @cached_property
    def directions(self) -> NDArray[np.float64]:
        """Unit vectors of movement (time, individual, axis); NaN where undefined or slow."""
        lengths = np.where(self.moving, self.speeds, np.nan) / self.recording.fps
        directions: NDArray[np.float64] = self.steps / lengths[..., None]
        return directions

    @cached_property
    def headings(self) -> NDArray[np.float64]:
        """Direction in which each individual came to its place (time, individual), in radians.

        From the displacement since the frame before, so that no heading knows of the next turn.
        NaN in the first frame of a segment, after a gap, and where the individual is slow.
        """
        if self.recording.n_axes != 2:
            raise InvalidInput(
                f"headings are of 2-D recordings, this one has {self.recording.n_axes} axes: "
                "choose two, such as recording.projected(axes=(0, 1)).clean()"
            )
        angles = np.arctan2(self.steps[..., 1], self.steps[..., 0])
        return np.where(self.moving, angles, np.nan)


class _Line(NamedTuple):
    """The points that were seen, one individual after the other."""

    at: NDArray[np.int64]  # individual * frames + frame
    points: NDArray[np.float64]  # (point, axis)


def clean(
    recording: Recording, *, jump: float, max_gap: float, smooth: float, slow: float
) -> Cleaned:
    """The segments of a recording; see `Recording.clean`."""
    if not jump > 1:
        raise InvalidInput(
            f"jump must be above 1, got {brief(jump)}: half of all steps are above the median step"
        )
    check_number("max_gap", max_gap, positive=False)
    check_number("smooth", smooth, positive=False)
    check_number("slow", slow, positive=False)
    frames, individuals, axes = recording.positions.shape
    check_memory(
        _BYTES * frames * individuals,
        f"cleaning {frames} frames of {individuals} individuals",
        "Clean a part of it: Recording(recording.positions[:n], fps=..., unit=...)",
    )
    column = recording.positions.transpose(1, 0, 2).reshape(-1, axes)
    seen = np.isfinite(column).all(axis=1)
    half_finite = int((~seen & ~np.isnan(column).all(axis=1)).sum())
    at = np.flatnonzero(seen)
    line = _Line(at, column[at])
    starts, median, jumps, gaps = _starts(line, frames, jump, max_gap * recording.fps)
    lengths = np.diff(np.append(starts, len(line.at)))
    long = lengths >= _SHORTEST
    kept = np.repeat(long, lengths)
    numbers = np.repeat(np.arange(long.sum()), lengths[long])
    line = _Line(line.at[kept], line.points[kept])
    segment = np.full(frames * individuals, -1)
    segment[line.at] = numbers
    filled = np.full((frames * individuals, axes), np.nan)
    between = _interpolate(line, numbers, filled)
    window = int(np.round(smooth * recording.fps)) | 1
    if window >= NARROWEST:
        _smooth(line, numbers, filled, window)
    positions = np.full_like(filled, np.nan)
    positions[line.at] = filled[line.at]
    dropped = {
        "points with a coordinate that is missing or infinite: not used": half_finite,
        f"steps above {jump:g} times the median step: a new segment begins": jumps,
        f"gaps of more than {max_gap:g} s: a new segment begins": gaps,
        f"points in segments of fewer than {_SHORTEST} points: not used": int((~kept).sum()),
        f"missing points in gaps up to {max_gap:g} s: for seeing neighbours only": between,
    }
    cleaned = Cleaned(
        recording,
        _by_time(positions, recording),
        _by_time(filled, recording),
        np.ascontiguousarray(segment.reshape(individuals, frames).T),
        dropped,
        median,
        jump,
        max_gap,
        smooth,
        slow,
    )
    slow_ones = int((~np.isnan(cleaned.speeds) & ~cleaned.moving).sum())
    dropped[f"points slower than {slow:g} of the median speed: no heading"] = slow_ones
    return cleaned


def _by_time(line: NDArray[np.float64], recording: Recording) -> NDArray[np.float64]:
    frames, individuals, axes = recording.positions.shape
    return np.ascontiguousarray(line.reshape(individuals, frames, axes).transpose(1, 0, 2))


def _starts(
    line: _Line, frames: int, jump: float, max_gap: float
) -> tuple[NDArray[np.int64], float, int, int]:
    """Where segments begin, the median step, and how many begin by a jump and by a gap.

    A step over a gap counts by its length per frame. Steps of length zero do not count for the
    median: of animals that mostly rest, recorded in whole pixels, most are.
    """
    if not len(line.at):
        return np.zeros(0, dtype=np.int64), np.nan, 0, 0
    waited = np.diff(line.at)
    same = np.diff(line.at // frames) == 0
    step = np.linalg.norm(np.diff(line.points, axis=0), axis=1) / waited
    steps = step[same & (step > 0)]
    median = float(np.median(steps)) if len(steps) else 0.0
    jumps = same & (step > jump * median) & (step > 0)
    gaps = same & ~jumps & (waited - 1 > max_gap + 1e-9)
    starts = np.flatnonzero(np.append(True, ~same | jumps | gaps))
    return starts, median, int(jumps.sum()), int(gaps.sum())


def _interpolate(line: _Line, numbers: NDArray[np.int64], filled: NDArray[np.float64]) -> int:
    """Fill in the points and, linearly, the gaps within segments; how many points were missing."""
    if not len(line.at):
        return 0
    filled[line.at] = line.points
    inside = (np.diff(numbers) == 0) & (np.diff(line.at) > 1)
    first, count = line.at[:-1][inside], np.diff(line.at)[inside] - 1
    missing = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum()) + 1
    for axis in range(filled.shape[1]):
        filled[missing, axis] = np.interp(missing, line.at, line.points[:, axis])
    return len(missing)


def _smooth(
    line: _Line, numbers: NDArray[np.int64], filled: NDArray[np.float64], window: int
) -> None:
    """Fit a parabola in a moving window, the first and the last one serving the ends (in place).

    As scipy.signal.savgol_filter does it for one segment; segments shorter than the window stay.
    """
    from scipy.signal import savgol_coeffs

    if not len(line.at):
        return
    begins = np.flatnonzero(np.append(True, np.diff(numbers) > 0))
    first, last = line.at[begins], line.at[np.append(begins[1:] - 1, len(line.at) - 1)]
    long = last - first + 1 >= window
    if not long.any():
        return
    first, last = first[long], last[long]
    half = window // 2
    weights = [savgol_coeffs(window, 2, pos=place, use="dot") for place in range(window)]
    raw = filled.copy()
    middle = np.zeros(len(filled), dtype=np.int8)
    middle[first + half] += 1
    middle[last - half + 1] -= 1
    inner = np.flatnonzero(np.cumsum(middle, dtype=np.int8))
    filled[inner] = 0.0
    for place, weight in enumerate(weights[half]):
        filled[inner] += weight * raw[inner - half + place]
    opening = raw[first[:, None] + np.arange(window)]
    closing = raw[last[:, None] - window + 1 + np.arange(window)]
    for place in range(half):
        filled[first + place] = np.einsum("swx,w->sx", opening, weights[place])
        filled[last - place] = np.einsum("swx,w->sx", closing, weights[window - 1 - place])
