"""From cleaned tracks to decisions: places, headings and turns at even times.

An individual decides every `dt` seconds. Its heading at a time is the direction in which it came
there since the time before, and its turn leads from this heading to the next one. What was
interpolated is seen by others, but nothing is learned from it.

Positions are known up to an error, which adds to every turn. The error is estimated from the
frames between decisions, and what it adds to the variance of turns is known from it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.system import System, name_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.cleaning import Cleaned
    from swarmdp.recordings.recording import Recording


HELD_OUT = 1 / 3  # share of the time that is kept for the test
LEAST_DECISIONS = 50  # of a part, below which nothing can be learned
SMALL_ERROR = 0.02  # the same share, above which positions are smoothed
SMOOTHED = 5  # frames, the fewest over which smoothing changes anything
MOST_ERROR = 0.1  # share of the variance of turns that errors of positions may make up
LEAST_TURN = 0.4  # radians: a root mean square turn that can be told from going straight on
REACH = 5  # frames over which two third differences, two frames apart, reach
TOLD_APART = 3  # frames a decision, from which on errors can be told from turns
OUTLIER = 6.0  # standard deviations beyond which a third difference is cut off
MAD = 1.4826  # standard deviations in a median absolute deviation of normal numbers
GAP_FRAMES = 50  # of which neighbours are looked at
LONGEST_SHARE = 40  # decisions that a recording must at least have room for


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Decisions:
    """What individuals did at even times; `train` and `test` are its parts.

    Arrays are (time, individual). `positions` and `headings` may be interpolated where `known` is
    False; they are NaN where an individual was absent.

    Parameters
    ----------
    positions
        (time, individual, 2): in the unit of the recording.
    headings
        (time, individual): the direction in which it came here, in radians.
    speeds
        (time, individual): since the time before, in units a second.
    known
        (time, individual): whether heading and place were recorded, not interpolated.
    turns
        (time - 1, individual): from this heading to the next, in radians; NaN where it is not
        known.
    dt
        Seconds from one decision to the next.
    unit
        The unit of length.
    error
        The standard deviation of the error of a coordinate.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> decisions = recording.decisions(dt=1)
    >>> decisions.dt, decisions.train.positions.shape[1]
    (1.0, 20)

    """

    positions: Floats
    headings: Floats
    speeds: Floats
    known: Bools
    turns: Floats
    dt: float
    unit: str
    error: float

    def __post_init__(self) -> None:
        times, individuals = self.headings.shape
        if self.positions.shape != (times, individuals, 2):
            raise InvalidInput(
                f"positions must have the shape {(times, individuals, 2)}, got "
                f"{self.positions.shape}"
            )

    @property
    def times(self) -> int:
        """The number of times."""
        return len(self.headings)

    @property
    def individuals(self) -> int:
        """The number of individuals that were seen at any time."""
        return int(self.headings.shape[1])

    @property
    def count(self) -> int:
        """The number of decisions whose turn is known."""
        return int(np.isfinite(self.turns).sum())

    @property
    def train(self) -> "Decisions":
        """The first two thirds of the time."""
        return self._part(0, self.times - int(self.times * HELD_OUT))

    @property
    def test(self) -> "Decisions":
        """The last third of the time."""
        return self._part(self.times - int(self.times * HELD_OUT), self.times)

    def _part(self, begin: int, end: int) -> "Decisions":
        if end - begin < 3:
            raise InvalidInput(
                f"a part of the recording needs at least three decisions in time, got "
                f"{end - begin}: record longer, or decide more often (dt={self.dt:g} s)"
            )
        return replace(
            self,
            positions=self.positions[begin:end],
            headings=self.headings[begin:end],
            speeds=self.speeds[begin:end],
            known=self.known[begin:end],
            turns=self.turns[begin : end - 1],
        )

    @cached_property
    def previous(self) -> Floats:
        """The turn that led to each heading (time, individual); NaN where not known."""
        nothing = np.full((1, self.individuals), np.nan)
        return np.concatenate([nothing, self.turns])

    @property
    def without_gaps(self) -> "Decisions":
        """The same with places and headings interpolated between the times of an individual."""
        places, headings = self.positions.copy(), self.headings.copy()
        times = np.arange(self.times)
        for n in range(self.individuals):
            there = np.isfinite(headings[:, n])
            since = np.flatnonzero(there)
            gap = ~there & (times > since.min(initial=self.times)) & (times < since.max(initial=0))
            if not gap.any():
                continue
            for axis in range(2):
                places[gap, n, axis] = np.interp(times[gap], since, places[since, n, axis])
            angles = np.interp(times[gap], since, np.unwrap(headings[since, n]))
            headings[gap, n] = wrap_angles(angles)
        return replace(self, positions=places, headings=headings)

    @property
    def error_of_turns(self) -> float:
        """The variance that errors of positions add to turns.

        A turn depends on three places with the weights 1, -2 and 1, each over the distance of a
        step.
        """
        steps = self.speeds[self.known] * self.dt
        steps = steps[steps > 0]
        if not len(steps) or not self.error:
            return 0.0
        typical = float(np.mean(1 / np.maximum(steps, np.quantile(steps, 0.1)) ** 2))
        return 6 * self.error**2 * typical

    def as_demo(self, system: System) -> Trajectory:
        """The demo that a swarm made from this recording makes of these decisions.

        Parameters
        ----------
        system
            The swarm, from `swarmdp.recordings.Swarm.from_recording`.

        Returns
        -------
        Trajectory
            The demo.

        Raises
        ------
        InvalidInput
            If the system was not made from a recording, or these decisions are not of it.

        """
        if not isinstance(system, ReadsDecisions):
            raise InvalidInput(
                f"decisions of a recording are for a swarm made from it, "
                f"swarmdp.recordings.Swarm.from_recording(decisions.train), got {name_of(system)}"
            )
        return system.demo(self)

    def __repr__(self) -> str:
        return (
            f"Decisions of {self.individuals} individuals every {self.dt:.4g} s at {self.times} "
            f"times, {self.count} turns known"
        )


@runtime_checkable
class ReadsDecisions(Protocol):
    """A system that was made from a recording, and takes parts of it as demos."""

    def demo(self, decisions: Decisions) -> Trajectory:
        """The demo; raises InvalidInput if the decisions are not of this system."""


def wrap_angles(angle: Floats) -> Floats:
    """Angles in [-pi, pi)."""
    return np.remainder(angle + np.pi, 2 * np.pi) - np.pi


def decide(
    recording: "Recording",
    *,
    dt: float | Literal["auto"],
    jump: float,
    max_gap: float,
    smooth: float | Literal["auto"],
    slow: float,
) -> Decisions:
    """The decisions in a recording; see `Recording.decisions`."""
    if recording.n_axes != 2:
        raise InvalidInput(
            f"decisions are of 2-D recordings, this one has {recording.n_axes} axes: choose two, "
            "such as recording.projected(axes=(0, 1)).decisions()"
        )
    first = 0.0 if isinstance(smooth, str) else smooth
    cleaned = recording.clean(jump=jump, max_gap=max_gap, smooth=first, slow=slow)
    _check_moving(recording)
    error = position_error(cleaned)
    if dt == "auto":
        every = _automatic(cleaned, error, slow)
    else:
        check_number("dt", dt, positive=True)
        if dt > recording.duration:
            raise InvalidInput(
                f"dt must be shorter than the recording, {recording.duration:.4g} s, got {dt!r}"
            )
        every = max(1, round(dt * recording.fps))
    if every < TOLD_APART:
        error = 0.0
    decisions = at_even_times(cleaned, every, error, slow)
    if smooth == "auto" and decisions.error_of_turns > SMALL_ERROR * np.nanmean(decisions.turns**2):
        over = max(every, SMOOTHED) / recording.fps
        cleaned = recording.clean(jump=jump, max_gap=max_gap, smooth=over, slow=slow)
        decisions = at_even_times(cleaned, every, position_error(cleaned), slow)
    if decisions.count < LEAST_DECISIONS:
        raise InvalidInput(
            f"the recording has {decisions.count} known turns at dt={decisions.dt:.4g} s, at least "
            f"{LEAST_DECISIONS} are needed: record longer, or choose a smaller dt"
        )
    return decisions


def _check_moving(recording: "Recording") -> None:
    """Raises InvalidInput if all individuals stay where they are."""
    low, high = (extreme.reduce(recording.positions, axis=0) for extreme in (np.fmin, np.fmax))
    if not (high > low).any():
        raise InvalidInput(
            "nobody moves: the positions of each individual are the same in all frames, so there "
            "are no turns to learn from. Are these the right columns?"
        )


def _automatic(cleaned: "Cleaned", error: float, slow: float) -> int:
    """The most frequent decisions by which something changes, hardly errors of positions.

    Something changes if the typical turn can be told from going straight on, or if individuals have
    come as far as their nearest neighbour was.
    """
    frames = len(cleaned.positions)
    longest = None
    for every in _candidates(frames // LONGEST_SHARE):
        tried = at_even_times(cleaned, every, error, slow).train
        if tried.count < LEAST_DECISIONS:
            break
        longest = every
        variance = float(np.nanmean(tried.turns**2))
        added = tried.error_of_turns
        way = float(np.median(tried.speeds[tried.known])) * tried.dt
        changes = variance - added >= LEAST_TURN**2 or way >= _typical_gap(tried)
        if changes and added <= MOST_ERROR * variance:
            break
    if longest is None:
        raise InvalidInput(
            f"the recording has fewer than {LEAST_DECISIONS} known turns, too few to learn from: "
            "record longer, or more individuals"
        )
    return longest


def _typical_gap(decisions: Decisions) -> float:
    """The median distance to the nearest neighbour; infinite if there are none."""
    from scipy.spatial import KDTree

    gaps = []
    for frame in decisions.positions[:: max(1, decisions.times // GAP_FRAMES)]:
        here = frame[np.isfinite(frame).all(axis=1)]
        if len(here) > 1:
            gaps.append(KDTree(here).query(here, 2)[0][:, 1])
    return float(np.median(np.concatenate(gaps))) if gaps else np.inf


def _candidates(most: int) -> list[int]:
    """Numbers of frames from one decision to the next, each about a fifth above the one before."""
    candidates = [1]
    while (after := max(candidates[-1] + 1, round(candidates[-1] * 1.2))) <= most:
        candidates.append(after)
    return candidates


def at_even_times(cleaned: "Cleaned", every: int, error: float, slow: float) -> Decisions:
    """Decisions at every n-th frame, the last of a recording among them."""
    frames = len(cleaned.positions)
    rows = np.arange((frames - 1) % every, frames, every)
    dt = every / cleaned.recording.fps
    measured, seen, part = cleaned.positions[rows], cleaned.filled[rows], _parts(cleaned)[rows]
    same = (part[1:] == part[:-1]) & (part[1:] >= 0)
    ways = np.where(same[..., None], np.diff(seen, axis=0), np.nan)
    speeds = np.linalg.norm(ways, axis=2) / dt
    headings = np.arctan2(ways[..., 1], ways[..., 0])
    recorded = np.asarray(np.isfinite(measured).all(axis=2))
    recorded_both = same & recorded[1:] & recorded[:-1]
    # Who hardly moves keeps its heading.
    some = speeds[recorded_both]
    limit = slow * float(np.median(some)) if len(some) else 0.0
    for t in range(len(headings)):
        still = speeds[t] <= limit
        before = headings[t - 1] if t else np.full(headings.shape[1], np.nan)
        headings[t] = np.where(still, np.where(same[t], before, np.nan), headings[t])
    recorded_both &= np.isfinite(headings)
    together = recorded_both[1:] & recorded_both[:-1] & same[1:]
    turns = np.where(together, wrap_angles(np.diff(headings, axis=0)), np.nan)
    places = np.where(np.isfinite(headings)[..., None], seen[1:], np.nan)
    unit = cleaned.recording.unit
    return Decisions(places, headings, speeds, recorded_both, turns, dt, unit, error)


def _parts(cleaned: "Cleaned") -> NDArray[np.int64]:
    """The segment of each point, interpolated ones included; -1 where absent."""
    part = cleaned.segment
    last = np.maximum.accumulate(np.where(part >= 0, np.arange(len(part))[:, None], 0), axis=0)
    inside = np.isfinite(cleaned.filled).all(axis=2)
    return np.where(inside, np.take_along_axis(part, last, axis=0), -1)


def position_error(cleaned: "Cleaned") -> float:
    """The standard deviation of a coordinate's error, from third differences of the frames.

    Independent errors of positions correlate third differences that are two frames apart by 6 times
    their variance; turns that come at random, some frames apart, correlate only neighbouring ones.
    Speeds vary along the way, so only what is across the way counts. Where positions were smoothed,
    it is the error of smoothed ones.
    """
    raw, part = cleaned.recording.positions, cleaned.segment
    if len(raw) <= REACH:
        return 0.0
    whole = part[REACH:] >= 0
    for back in range(1, REACH + 1):
        whole &= part[REACH - back : len(part) - back] == part[REACH:]
    way = (raw[REACH:] - raw[:-REACH])[whole]
    length = np.linalg.norm(way, axis=1)
    moved = length > 0
    if not moved.any():
        return 0.0
    across = np.stack([-way[moved, 1], way[moved, 0]], axis=1) / length[moved, None]
    third = np.diff(raw, 3, axis=0)
    first, second = (
        (differences[whole][moved] * across).sum(axis=1) for differences in (third[:-2], third[2:])
    )
    most = OUTLIER * MAD * float(np.median(np.abs(first)))
    product = np.clip(first, -most, most) * np.clip(second, -most, most)
    variance = float(product.mean()) / 6
    if variance <= 2 * float(product.std()) / 6 / np.sqrt(len(product)):
        return 0.0
    error = float(np.sqrt(variance))
    window = round(cleaned.smooth * cleaned.recording.fps) | 1
    if window < SMOOTHED:
        return error
    from scipy.signal import savgol_coeffs

    return error * float(np.sqrt((savgol_coeffs(window, 2) ** 2).sum()))
