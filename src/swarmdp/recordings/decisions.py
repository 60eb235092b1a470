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

from swarmdp.model import sphere
from swarmdp.model.system import System, name_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings.outsiders import Outsiders, at_decisions, centres_of
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Bools, Floats, Ints
from swarmdp.support.checks import check_number
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.cleaning import Cleaned
    from swarmdp.recordings.holding_out import HeldOut
    from swarmdp.recordings.recording import Recording


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
LEAST_STAY = 10  # decisions that a typical individual makes from coming to going
MOST_EVERY = 25  # frames from one decision to the next: more would leave too much unused
IN_STEP = 0.98  # share of all squared turns that are in every n-th frame of a log


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Decisions:
    """What individuals did at even times; `train` and `test` are its parts.

    Arrays are (time, individual). `positions` and `headings` may be interpolated where `known` is
    False; they are NaN where an individual was absent. In three dimensions headings are unit
    vectors, and turns have two parts: to the left, and upwards.

    Parameters
    ----------
    positions
        (time, individual, 2 or 3): in the unit of the recording.
    headings
        (time, individual): the direction in which it came here, in radians; in three dimensions
        (time, individual, 3), of length 1.
    speeds
        (time, individual): since the time before, in units a second.
    known
        (time, individual): whether heading and place were recorded, not interpolated.
    turns
        (time - 1, individual): from this heading to the next, in radians; NaN where it is not
        known. In three dimensions (time - 1, individual, 2), to the left and upwards.
    dt
        Seconds from one decision to the next.
    unit
        The unit of length.
    error
        The standard deviation of the error of a coordinate.
    recording
        (time,): the number of the pooled recording to which each time belongs; all 0 by default.
    outsiders
        Where outsiders are at all times of the recording, not only those of this part.
    clock
        (time,): at which of these times each time of this part is.

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
    recording: Ints | None = None
    outsiders: Outsiders | None = None
    clock: Ints | None = None

    def __post_init__(self) -> None:
        times, individuals = self.headings.shape[:2]
        if self.recording is None or not self.recording.any():  # one recording, of any length
            object.__setattr__(self, "recording", np.zeros(times, np.int64))
        elif self.recording.shape != (times,):
            raise InvalidInput(
                f"recording must be {times} numbers, one for each time, got {self.recording.shape}"
            )
        if self.clock is None and self.outsiders is not None:
            object.__setattr__(self, "clock", np.arange(times))
        axes = 3 if self.in_space else 2
        if self.positions.shape != (times, individuals, axes):
            raise InvalidInput(
                f"positions must have the shape {(times, individuals, axes)}, got "
                f"{self.positions.shape}"
            )

    @property
    def in_space(self) -> bool:
        """Whether they are in three dimensions."""
        return self.headings.ndim == 3

    @property
    def headed(self) -> Bools:
        """Who has a heading when (time, individual)."""
        finite = np.isfinite(self.headings)
        return np.asarray(finite.all(axis=2)) if self.in_space else finite

    @property
    def turned(self) -> Bools:
        """Whose turn is known when (time - 1, individual)."""
        finite = np.isfinite(self.turns)
        return np.asarray(finite.all(axis=2)) if self.in_space else finite

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
        return int(self.turned.sum())

    @property
    def recording_numbers(self) -> Ints:
        """The number of the pooled recording to which each time belongs (time,)."""
        assert self.recording is not None
        return self.recording

    @cached_property
    def present(self) -> Ints:
        """The number of individuals with a heading at each time (time,)."""
        return np.asarray(self.headed.sum(axis=1), np.int64)

    @cached_property
    def bouts(self) -> Ints:
        """The number of the stretch of time to which each time belongs (time,).

        A new one begins with every pooled recording, and after every time at which nobody was seen.
        """
        begins = self.present == 0
        begins[1:] |= np.diff(self.recording_numbers) > 0
        begins[1:] &= ~begins[:-1]  # of several empty times the first one begins it
        begins[0] = False
        return np.cumsum(begins)

    @cached_property
    def _held_out(self) -> "HeldOut":
        from swarmdp.recordings.holding_out import hold_out

        return hold_out(self)

    @property
    def held_out(self) -> str:
        """Which times `test` has, in words, such as 'the last third of the time'."""
        return self._held_out.words

    @property
    def train(self) -> "Decisions":
        """About two thirds of the time: what `held_out` does not name."""
        return self.at_times(~self._held_out.test)

    @property
    def test(self) -> "Decisions":
        """About a third of the time, which `held_out` names."""
        return self.at_times(self._held_out.test)

    def at_times(self, kept: Bools) -> "Decisions":
        """A part of the time; where times are left out, nobody is there at the next one.

        So nothing is computed from before a gap to after it.

        Parameters
        ----------
        kept
            (time,): which times are kept.

        """
        rows = np.flatnonzero(kept)
        if len(kept) != self.times or len(rows) < 3:
            raise InvalidInput(
                f"a part of the recording needs at least three decisions in time, got {len(rows)}: "
                f"record longer, or decide more often than every {self.dt:g} s"
            )
        joined = np.diff(rows) == 1
        seam = np.append(False, ~joined)
        turns = self.turns[rows[:-1]]
        turns[~joined] = np.nan
        turns[seam[:-1]] = np.nan
        headings = self.headings[rows]
        headings[seam] = np.nan
        return replace(
            self,
            positions=np.where(seam[:, None, None], np.nan, self.positions[rows]),
            headings=headings,
            speeds=np.where(seam[:, None], np.nan, self.speeds[rows]),
            known=self.known[rows] & ~seam[:, None],
            turns=turns,
            recording=self.recording_numbers[rows],
            clock=None if self.clock is None else self.clock[rows],
        )

    @cached_property
    def previous(self) -> Floats:
        """The turn that led to each heading (time, individual); NaN where not known."""
        nothing = np.full((1, *self.turns.shape[1:]), np.nan)
        return np.concatenate([nothing, self.turns])

    @property
    def without_gaps(self) -> "Decisions":
        """The same with places and headings interpolated between the times of an individual.

        Times at which nobody was seen stay as they are.
        """
        places, headings = self.positions.copy(), self.headings.copy()
        times, somebody = np.arange(self.times), self.present > 0
        for n in range(self.individuals):
            there = np.isfinite(headings[:, n])
            since = np.flatnonzero(there)
            gap = ~there & (times > since.min(initial=self.times)) & (times < since.max(initial=0))
            gap &= somebody
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

    @property
    def outside(self) -> Outsiders | None:
        """Where outsiders are at the times of this part; None if there are none."""
        if self.outsiders is None or self.clock is None:
            return None
        return replace(
            self.outsiders,
            positions=self.outsiders.positions[self.clock],
            headings=self.outsiders.known_headings[self.clock],
            centres=None,
        )

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


def headings_of(ways: Floats) -> Floats:
    """The directions of ways (..., axes): angles in the plane, unit vectors in space."""
    if ways.shape[-1] == 2:
        return np.arctan2(ways[..., 1], ways[..., 0])
    return np.where(np.isfinite(ways), sphere.unit(ways), np.nan)


def turns_of(headings: Floats) -> Floats:
    """The turns from each time to the next, in the plane or in space (to the left, upwards)."""
    if headings.ndim == 2:
        return wrap_angles(np.diff(headings, axis=0))
    return sphere.turns_between(headings[:-1], headings[1:])


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
    first = 0.0 if isinstance(smooth, str) else smooth
    cleaned = recording.clean(jump=jump, max_gap=max_gap, smooth=first, slow=slow)
    _check_moving(recording)
    error = position_error(cleaned)
    phase = None
    if dt == "auto":
        every, phase = _logged_interval(cleaned) or (_automatic(cleaned, error, slow), None)
    else:
        check_number("dt", dt, positive=True)
        if dt > recording.duration:
            raise InvalidInput(
                f"dt must be shorter than the recording, {recording.duration:.4g} s, got {dt!r}"
            )
        every = max(1, round(dt * recording.fps))
    if every < TOLD_APART or phase is not None:
        error = 0.0
    decisions = at_even_times(cleaned, every, error, slow, phase)
    noisy = decisions.error_of_turns > SMALL_ERROR * np.nanmean(decisions.turns**2)
    if smooth == "auto" and decisions.count and noisy:
        over = max(every, SMOOTHED) / recording.fps
        cleaned = recording.clean(jump=jump, max_gap=max_gap, smooth=over, slow=slow)
        decisions = at_even_times(cleaned, every, position_error(cleaned), slow)
    if decisions.count < LEAST_DECISIONS:
        raise InvalidInput(
            f"the recording has {decisions.count} known turns at dt={decisions.dt:.4g} s, at least "
            f"{LEAST_DECISIONS} are needed: {_how_much_longer(decisions.count)}, or choose a "
            "smaller dt"
        )
    return decisions


def _how_much_longer(count: int) -> str:
    """What to do if there are so few known turns."""
    if not count:
        return "nobody was seen at four times one after another: fill in the gaps"
    return f"record {max(1.1, 1.5 * LEAST_DECISIONS / count):.2g} times as long"


def _check_moving(recording: "Recording") -> None:
    """Raises InvalidInput if all individuals stay where they are."""
    low, high = (extreme.reduce(recording.positions, axis=0) for extreme in (np.fmin, np.fmax))
    if not (high > low).any():
        raise InvalidInput(
            "nobody moves: the positions of each individual are the same in all frames, so there "
            "are no turns to learn from. Are these the right columns?"
        )


def _logged_interval(cleaned: "Cleaned") -> tuple[int, int] | None:
    """The frames between the decisions of a log, and the remainder of the frames in which they are.

    Robots and simulations decide every n-th frame of their log and go straight on in between: then
    nearly all of the squared turns from frame to frame are in every n-th frame. None if not.
    """
    if len(cleaned.positions) < 3:
        return None
    logged = cleaned.recording.headings
    steps = cleaned.steps
    moved = np.isfinite(steps).all(axis=2)
    still = np.linalg.norm(steps, axis=2) == 0
    headings = headings_of(steps) if logged is None else logged.copy()
    headings[~moved | still] = np.nan
    turned = np.zeros(moved.shape)
    squares = np.nan_to_num(turns_of(headings)) ** 2
    turned[1:] = squares.sum(axis=2) if headings.ndim == 3 else squares
    by_frame = turned.sum(axis=1)
    frames = np.arange(len(by_frame))
    if not by_frame.sum() > 0:
        return None
    for every in range(2, min(MOST_EVERY, len(frames) // LONGEST_SHARE) + 1):
        shares = np.bincount(frames % every, by_frame, minlength=every) / by_frame.sum()
        phase = int(shares.argmax())
        if shares[phase] >= IN_STEP:
            # The step after the decision shows its turn: the place before is where it was made.
            return every, (phase - 1) % every
    return None


def _automatic(cleaned: "Cleaned", error: float, slow: float) -> int:
    """The most frequent decisions by which something changes, hardly errors of positions.

    Something changes if the typical turn can be told from going straight on, or if individuals have
    come as far as their nearest neighbour was. At most every 25th frame, whatever changes.
    """
    stay = np.bincount(cleaned.segment[cleaned.segment >= 0])
    usual = int(np.median(np.repeat(stay, stay))) if len(stay) else 0  # of a point's segment
    most = min(len(cleaned.positions) // LONGEST_SHARE, MOST_EVERY, usual // LEAST_STAY)
    longest = None
    for every in _candidates(most):
        tried = at_even_times(cleaned, every, error, slow).train
        if tried.count < LEAST_DECISIONS:
            break
        longest = every
        # Those who hardly move turn by anything: a few of them would make the mean square large.
        variance = (MAD * float(np.nanmedian(np.abs(tried.turns)))) ** 2
        added = max(tried.error_of_turns, _jitter(tried))
        way = float(np.median(tried.speeds[tried.known])) * tried.dt
        changes = variance - added >= LEAST_TURN**2 or way >= _typical_gap(tried)
        if changes and added <= MOST_ERROR * variance:
            break
    if longest is None:
        turns = at_even_times(cleaned, 1, error, slow).count
        raise InvalidInput(
            f"the recording has fewer than {LEAST_DECISIONS} known turns ({turns}), too few to "
            f"learn from: {_how_much_longer(turns)}, or more individuals"
        )
    return longest


def _jitter(decisions: Decisions) -> float:
    """The variance of turns that looks like errors of positions from one decision to the next.

    An error of a place goes into three second differences with the weights 1, -2 and 1, along the
    way as across it: successive ones then have a covariance of -4 times its variance. Turns that
    come and go at random have this only across the way, and changes of speed only along it.
    """
    steps = np.where(decisions.known, decisions.speeds, np.nan) * decisions.dt
    ways = steps[1:, :, None] if decisions.in_space else steps[1:]
    across, along = decisions.turns * ways, np.diff(steps, axis=0)
    variances = []
    for second in (across, along):
        product = second[1:] * second[:-1]
        variances.append(-float(np.nanmean(product)) / 4 if np.isfinite(product).any() else 0.0)
    typical = float(np.nanmedian(steps))
    return 6 * max(min(variances), 0.0) / typical**2 if typical > 0 else 0.0


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


def at_even_times(
    cleaned: "Cleaned", every: int, error: float, slow: float, phase: int | None = None
) -> Decisions:
    """Decisions at every n-th frame, the last of each stretch of time among them.

    With a phase, those frames are taken whose number has this remainder.
    """
    from swarmdp.recordings.pooling import recording_of_frames

    rows, begins = _frames_of_decisions(cleaned, every, phase)
    dt = every / cleaned.recording.fps
    measured, seen, part = cleaned.positions[rows], cleaned.filled[rows], _parts(cleaned)[rows]
    same = (part[1:] == part[:-1]) & (part[1:] >= 0) & ~begins[1:, None]
    ways = np.where(same[..., None], np.diff(seen, axis=0), np.nan)
    speeds = np.linalg.norm(ways, axis=2) / dt
    headings = headings_of(ways)
    recorded = np.asarray(np.isfinite(measured).all(axis=2))
    recorded_both = same & recorded[1:] & recorded[:-1]
    logged = cleaned.recording.headings
    if logged is not None and headings.ndim == 2:
        headings = np.where(same, logged[rows[1:]], np.nan)
    else:
        _keep_headings(headings, speeds, same, recorded_both, slow)
    finite = np.isfinite(headings)
    headed = finite if headings.ndim == 2 else np.asarray(finite.all(axis=2))
    recorded_both &= headed
    together = recorded_both[1:] & recorded_both[:-1] & same[1:]
    turns = turns_of(headings)
    turns[~together] = np.nan
    places = np.where(headed[..., None], seen[1:], np.nan)
    unit, number = cleaned.recording.unit, recording_of_frames(cleaned.recording)[rows[1:]]
    others = at_decisions(cleaned.recording, rows[1:], every, round(cleaned.max_gap / dt * every))
    if others is not None:
        others = replace(others, centres=centres_of(places))
    return Decisions(
        places, headings, speeds, recorded_both, turns, dt, unit, error, number, others
    )


def _frames_of_decisions(
    cleaned: "Cleaned", every: int, phase: int | None
) -> tuple[NDArray[np.int64], Bools]:
    """The frames in which individuals decide, and which of them begin a stretch of time.

    At the first of a stretch nobody has a heading, so it stands between two stretches.
    """
    from swarmdp.recordings.pooling import stretches

    recording = cleaned.recording
    rows, begins = [], []
    for begin, end in stretches(recording, cleaned.max_gap * recording.fps):
        first = begin + (end - begin - 1) % every
        if phase is not None:
            first = begin + (phase - begin) % every
        inside = np.arange(first, end, every)
        if len(inside) > 1:  # one alone has no heading
            rows.append(inside)
            begins.append(np.arange(len(inside)) == 0)
    if not rows:
        return np.arange(min(2, recording.n_frames)), np.zeros(min(2, recording.n_frames), np.bool_)
    return np.concatenate(rows), np.concatenate(begins)


def _keep_headings(
    headings: Floats, speeds: Floats, same: Bools, recorded: Bools, slow: float
) -> None:
    """Who hardly moves keeps its heading (in place)."""
    some = speeds[recorded]
    limit = slow * float(np.median(some)) if len(some) else 0.0
    for t in range(len(headings)):
        still = speeds[t] <= limit
        before = headings[t - 1] if t else np.full(headings.shape[1:], np.nan)
        headings[t, still & same[t]] = before[still & same[t]]
        headings[t, still & ~same[t]] = np.nan


def _parts(cleaned: "Cleaned") -> NDArray[np.int64]:
    """The segment of each point, interpolated ones included; -1 where absent."""
    part = cleaned.segment
    last = np.maximum.accumulate(np.where(part >= 0, np.arange(len(part))[:, None], 0), axis=0)
    inside = np.isfinite(cleaned.filled).all(axis=2)
    return np.where(inside, np.take_along_axis(part, last, axis=0), -1)


def _sides(ways: Floats) -> tuple[Floats, ...]:
    """Unit vectors across ways (n, axes): to the left and, in space, upwards."""
    if ways.shape[1] == 3:
        return sphere.frame(sphere.unit(ways))
    length = np.linalg.norm(ways, axis=1)
    return (np.stack([-ways[:, 1], ways[:, 0]], axis=1) / length[:, None],)


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
    third = np.diff(raw, 3, axis=0)
    first, second = (
        np.concatenate(
            [(differences[whole][moved] * side).sum(axis=1) for side in _sides(way[moved])]
        )
        for differences in (third[:-2], third[2:])
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
