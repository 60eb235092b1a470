import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings.decisions import position_error
from swarmdp.support.errors import InvalidInput

Floats = NDArray[np.float64]


def straight(times: int = 100, agents: int = 3, sub: int = 4, seed: int = 0) -> Floats:
    """Tracks of agents that turn every `sub` frames by a normal angle of 0.4, speed one a frame."""
    rng = np.random.default_rng(seed)
    turns = np.zeros((times, agents))
    turns[::sub] = 0.4 * rng.normal(size=turns[::sub].shape)
    heading = np.cumsum(turns, axis=0)
    steps = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    return np.cumsum(np.concatenate([np.zeros((1, agents, 2)), steps]), axis=0)


def test_turns_lead_from_one_heading_to_the_next() -> None:
    tracks = straight()
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=1)
    assert decisions.dt == 1
    assert decisions.times == 25
    assert decisions.headings.shape == (25, 3)
    ways = np.diff(tracks[::4], axis=0)
    expected = np.arctan2(ways[..., 1], ways[..., 0])
    np.testing.assert_allclose(decisions.headings, expected)
    np.testing.assert_allclose(decisions.speeds, np.linalg.norm(ways, axis=2), atol=1e-12)
    gaps = np.angle(np.exp(1j * np.diff(expected, axis=0)))
    np.testing.assert_allclose(decisions.turns, gaps, atol=1e-12)
    np.testing.assert_array_equal(decisions.previous[1:], decisions.turns)
    assert decisions.train.times + decisions.test.times == decisions.times
    np.testing.assert_array_equal(decisions.test.headings, decisions.headings[-8:])
    assert "25 times" in repr(decisions)


def test_what_is_interpolated_is_seen_but_not_learned_from() -> None:
    tracks = straight()
    tracks[40, 1] = np.nan
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=1, max_gap=0.5, jump=100)
    # Frame 40 is the 10th decision after the first, which has no heading.
    assert np.isfinite(decisions.headings[:, 1]).all()
    assert decisions.known[:, 1].tolist() == [t not in (9, 10) for t in range(25)]
    assert np.flatnonzero(np.isnan(decisions.turns[:, 1])).tolist() == [8, 9, 10]


def test_nothing_is_computed_across_segments() -> None:
    tracks = straight()
    tracks[50:, 0] += 1000.0
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=1)
    speeds = decisions.speeds
    assert np.nanmax(speeds) <= 4 + 1e-9
    assert np.isnan(decisions.headings[12, 0])
    assert np.flatnonzero(np.isnan(decisions.turns[:, 0])).tolist() == [11, 12]


def test_who_stands_still_keeps_its_heading() -> None:
    tracks = straight()
    tracks[40:61, 2] = tracks[40, 2]
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=1, jump=100)
    assert np.ptp(decisions.headings[9:15, 2]) == 0


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
def test_the_error_of_positions_is_found(noise: float) -> None:
    tracks = straight(times=2000, agents=8)
    rng = np.random.default_rng(1)
    recording = swarmdp.Recording(tracks + noise * rng.normal(size=tracks.shape), fps=4, unit="m")
    # 16000 products of third differences: the variance is known to about 3 %.
    assert position_error(recording.clean(smooth=0.0)) == pytest.approx(noise, rel=0.1, abs=1e-3)
    smoothed = position_error(recording.clean(smooth=1.25))
    assert smoothed == pytest.approx(noise * np.sqrt(17 / 35), rel=0.1, abs=1e-3)


def test_the_time_between_decisions_is_found() -> None:
    tracks = straight(times=2000, agents=8)
    actual = swarmdp.Recording(tracks, fps=4, unit="m").decisions()
    assert 0.5 <= actual.dt <= 1.5


def test_wrong_recordings() -> None:
    with pytest.raises(InvalidInput, match="fewer than 50 known turns"):
        swarmdp.Recording(straight(times=30, agents=1), fps=4, unit="m").decisions()
    with pytest.raises(InvalidInput, match=r"known turns at dt=2 s, at least 50"):
        swarmdp.Recording(straight(), fps=4, unit="m").decisions(dt=2)
    with pytest.raises(InvalidInput, match=r"nobody moves"):
        swarmdp.Recording(np.zeros((20, 2, 3)), fps=4, unit="m").decisions()
