"""Several recordings in one analysis, pauses, held-out parts, and individuals that come and go."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings.decisions import _jitter, at_even_times
from swarmdp.recordings.gates import has_open_rim
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.swarm import _slots
from swarmdp.recordings.turn_prediction import time_folds
from swarmdp.support.errors import InvalidInput

Floats = NDArray[np.float64]


def walk(frames: int = 60, agents: int = 4, seed: int = 0) -> Floats:
    """Tracks that turn at random in every frame."""
    angle = np.random.default_rng(seed).normal(0, 0.5, (frames, agents)).cumsum(axis=0)
    return np.asarray(np.stack([np.cos(angle), np.sin(angle)], axis=2).cumsum(axis=0))


def recording(seed: int = 0, frames: int = 60) -> swarmdp.Recording:
    return swarmdp.Recording(walk(frames, seed=seed), fps=1, unit="m")


def test_pooled_recordings_do_not_touch_each_other() -> None:
    parts = [recording(seed) for seed in range(3)]
    pooled = swarmdp.Recording.pooled(parts, ["a", "b", "c"])
    assert (pooled.n_frames, pooled.n_individuals, pooled.starts) == (180, 12, (0, 60, 120))
    assert pooled.names[4] == "b/0"
    decisions = pooled.decisions(dt=1)
    assert decisions.count == sum(part.decisions(dt=1).count for part in parts)
    assert decisions.recording_numbers.tolist() == [0] * 59 + [1] * 60 + [2] * 60
    assert decisions.bouts.tolist() == decisions.recording_numbers.tolist()
    # A whole recording is held out.
    assert decisions.held_out == "1 of 3 recordings (33% of the turns)"
    assert set(decisions.test.recording_numbers) == {2}
    assert decisions.train.count + decisions.test.count == decisions.count
    other = swarmdp.Recording(walk(), fps=1, unit="cm")
    with pytest.raises(InvalidInput, match="the same unit: 'a' has m, 'b' has cm"):
        swarmdp.Recording.pooled([parts[0], other], ["a", "b"])


def test_pooled_recordings_are_cross_validated_and_shifted_as_wholes() -> None:
    pooled = swarmdp.Recording.pooled([recording(seed) for seed in range(3)])
    decisions = pooled.decisions(dt=1)
    for train, test in time_folds(178, recording=decisions.recording_numbers[:-1]):
        assert len(set(decisions.recording_numbers[:-1][test])) == 1
        assert not (train & test).any()
    (shifted,) = shifted_decisions(decisions, 1, seed=1)
    there = np.isfinite(shifted.headings)
    for number in range(3):
        inside = decisions.recording_numbers == number
        assert not there[inside][:, np.arange(12) // 4 != number].any()


def test_files_a_folder_and_names(tmp_path: Path) -> None:
    for name in "ab":
        lines = ["frame,fish,x,y"]
        lines += [f"{t},{n},{p[0]},{p[1]}" for t, f in enumerate(walk(9)) for n, p in enumerate(f)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    both = swarmdp.read_tracks([tmp_path / "a.csv", tmp_path / "b.csv"], fps=1, unit="m")
    folder = swarmdp.read_tracks(tmp_path, fps=1, unit="m")
    assert both.names == folder.names
    assert both.names[::4] == ("a/0", "b/0")
    with pytest.raises(InvalidInput, match="given twice"):
        swarmdp.read_tracks([tmp_path / "a.csv", tmp_path / "a.csv"], fps=1, unit="m")


def test_pauses_are_left_out_and_nothing_is_computed_across_them() -> None:
    tracks = np.full((400, 4, 2), np.nan)
    for number, begin in enumerate((0, 100, 300)):
        tracks[begin : begin + 60] = walk(seed=number) + 1000 * number
    whole = swarmdp.Recording(tracks, fps=1, unit="m")
    decisions = whole.decisions(dt=1)
    assert whole.pauses == 2
    assert decisions.times == 179
    assert np.count_nonzero(decisions.present == 0) == 2
    assert np.nanmax(decisions.speeds) == pytest.approx(1)
    assert decisions.held_out == "1 of 3 stretches between pauses (33% of the turns)"
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, arena=None)
    assert swarm.n_agents == 4


def test_slow_groups_are_held_out_in_blocks() -> None:
    rng = np.random.default_rng(3)
    slow = np.sin(np.linspace(0, 3 * np.pi, 400))[:, None]  # all speed up and slow down
    angle = rng.normal(0, 0.4, (400, 5)).cumsum(axis=0)
    steps = np.stack([np.cos(angle), np.sin(angle)], axis=2) * (2 + slow)[..., None]
    decisions = swarmdp.Recording(steps.cumsum(axis=0), fps=1, unit="m").decisions(dt=1)
    assert decisions.held_out.startswith("every third of 12 blocks of time")
    test, train = decisions.test, decisions.train
    assert np.count_nonzero(test.present == 0) == 3
    assert test.times + train.times == decisions.times
    # What is computed in a part is what was computed in the whole.
    known = np.isfinite(test.turns)
    assert set(test.turns[known]) <= set(decisions.turns[np.isfinite(decisions.turns)])
    assert test.count + train.count > 0.9 * decisions.count


def test_the_interval_of_a_log_is_recognised() -> None:
    rng = np.random.default_rng(1)
    turns = np.zeros((600, 5))
    turns[3::7] = rng.normal(0, 0.2, turns[3::7].shape)
    heading = turns.cumsum(axis=0)
    tracks = np.stack([np.cos(heading), np.sin(heading)], axis=2).cumsum(axis=0)
    decisions = swarmdp.Recording(tracks, fps=14, unit="m").decisions()
    assert decisions.dt == pytest.approx(0.5)
    found = decisions.turns[np.isfinite(decisions.turns)]
    made = np.angle(np.exp(1j * turns[3::7].ravel()))
    assert all(np.abs(made - turn).min() < 1e-9 for turn in found)


def test_one_frame_is_not_taken_where_errors_dominate() -> None:
    rng = np.random.default_rng(2)
    tracks = walk(2000, 6) * 0.05 + rng.normal(0, 0.05, (2000, 6, 2))
    noisy = swarmdp.Recording(tracks, fps=10, unit="m")
    single = at_even_times(noisy.clean(smooth=0.0), 1, 0.0, 0.15)
    assert _jitter(single) > 0.1 * np.nanmean(single.turns**2)
    assert noisy.decisions().dt > 0.3
    # At most every 25th frame, even where nothing seems to change.
    straight = np.cumsum(np.ones((4000, 2, 2)), axis=0) * 1e-3 + np.array([[0, 0], [90, 90]])
    straight += 1e-5 * rng.normal(size=straight.shape).cumsum(axis=0)
    assert swarmdp.Recording(straight, fps=50, unit="m").decisions().dt <= 0.5


def test_a_slot_is_empty_between_two_individuals() -> None:
    there = np.zeros((10, 3), np.bool_)
    there[:5, 0], there[5:, 1], there[:, 2] = True, True, True
    slots = _slots(there, 2)
    changed = (slots[1:] != slots[:-1]) & (slots[1:] >= 0) & (slots[:-1] >= 0)
    assert not changed.any()
    assert 1 in slots[6]


def corridor(seed: int = 0) -> swarmdp.Recording:
    """Walkers that cross a corridor of 20 by 4 m from one end to the other, both ways."""
    rng = np.random.default_rng(seed)
    tracks = np.full((600, 80, 2), np.nan)
    for n in range(80):
        begin, side = int(rng.integers(0, 550)), float(rng.choice([-1, 1]))
        steps = np.stack([np.full(51, 0.4 * side), rng.normal(0, 0.04, 51)], axis=1)
        way = np.cumsum(steps, axis=0) + np.array([-10.0 * side, rng.uniform(-2, 2)])
        count = min(51, 600 - begin)
        tracks[begin : begin + count, n] = way[:count]
    return swarmdp.Recording(tracks, fps=2.5, unit="m")


def test_a_corridor_is_no_box_and_individuals_come_and_go() -> None:
    decisions = corridor().decisions(dt=0.4)
    assert has_open_rim(decisions)
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train)
    assert swarm.arena is None
    assert 4 <= swarm.n_agents <= 10
    demo = swarm.demo(decisions.test)
    # Of those present: nobody stands still, and nobody jumps.
    stayed = demo["present"][0, 1:] & demo["present"][0, :-1]
    steps = np.linalg.norm(np.diff(demo["position"][0], axis=0), axis=2)[stayed]
    assert steps.min() > 0.3
    assert steps.max() < 0.6
    assert demo.variables["polarisation"].axes == ("run", "time")


def test_a_tank_with_lost_tracks_is_not_open() -> None:
    rng = np.random.default_rng(4)
    place, angle = rng.uniform(0, 10, (8, 2)), rng.uniform(0, 6.3, 8)
    tracks = np.empty((800, 8, 2))
    for t in range(800):
        angle = angle + rng.normal(0, 0.3, 8)
        step = 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        out = (place + step < 0) | (place + step > 10)
        angle = np.where(out.any(axis=1), angle + np.pi, angle)
        place = np.clip(place + np.where(out, -step, step), 0, 10)
        tracks[t] = place
    tracks[rng.random((800, 8)) < 0.01] = np.nan
    tracks[200:230, :4] = np.nan
    tracks[500:530, 2:] = np.nan
    assert not has_open_rim(swarmdp.Recording(tracks, fps=10, unit="cm").decisions(dt=0.2))


def test_individuals_are_left_out_by_name() -> None:
    left = recording().without(["1", 3])
    assert left.names == (0, 2)
    assert "left out: individual 1, 3" in left.notes
    with pytest.raises(InvalidInput, match="there is no individual 'dog'"):
        recording().without(["dog"])


def test_how_much_more_data_would_decide() -> None:
    test = swarmdp.recordings.Interaction(
        0.02, (0.0, 0.04), np.full(20, 0.005), 0.1, 1000, 30, "too little data"
    )
    # The excess is 0.015, half the interval 0.02: (0.02 / 0.015) ** 2.
    assert test.needed == pytest.approx(16 / 9)
    with pytest.raises(InvalidInput, match=r"record \d.* times as long"):
        swarmdp.Recording(walk(20, 2), fps=1, unit="m").decisions()
