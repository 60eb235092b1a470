"""Cleaning against plain loops, and each of its rules on a case where the answer is known."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import savgol_filter

import swarmdp
from swarmdp.support.errors import InvalidInput


def walks(frames: int, individuals: int, seed: int, axes: int = 2) -> NDArray[np.float64]:
    """Persistent walks with gaps and jumps."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(frames, individuals, axes)).cumsum(axis=0)
    steps /= np.linalg.norm(steps, axis=2, keepdims=True)
    positions: NDArray[np.float64] = steps.cumsum(axis=0)
    positions[rng.random((frames, individuals)) < 0.1] = np.nan
    for _ in range(frames // 50):
        positions[rng.integers(1, frames) :, rng.integers(individuals)] += 100
    return positions


def plainly_cleaned(
    positions: NDArray[np.float64], jump: float, gap: float, window: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """The same by loops over individuals, points and segments."""
    frames, individuals, axes = positions.shape
    seen = [np.flatnonzero(np.isfinite(positions[:, n]).all(-1)) for n in range(individuals)]
    step = [
        np.linalg.norm(np.diff(positions[ok, n], axis=0), axis=1) / np.diff(ok)
        for n, ok in enumerate(seen)
    ]
    every = np.concatenate(step)
    limit = jump * np.median(every[every > 0])
    kept = np.full_like(positions, np.nan)
    filled = np.full_like(positions, np.nan)
    segment = np.full((frames, individuals), -1)
    number = 0
    for n, ok in enumerate(seen):
        cuts = np.flatnonzero((step[n] > limit) | (np.diff(ok) - 1 > gap)) + 1
        for piece in np.split(ok, cuts):
            if len(piece) < 3:
                continue
            full = np.arange(piece[0], piece[-1] + 1)
            path = np.stack(
                [np.interp(full, piece, positions[piece, n, i]) for i in range(axes)], axis=1
            )
            if len(full) >= window >= 5:
                path = savgol_filter(path, window, 2, axis=0)
            filled[full, n] = path
            kept[piece, n] = path[piece - piece[0]]
            segment[piece, n] = number
            number += 1
    return kept, filled, segment


@pytest.mark.parametrize(("window", "axes"), [(5, 2), (9, 3), (1, 2)])
def test_as_plain_loops(window: int, axes: int) -> None:
    positions = walks(400, 7, seed=window, axes=axes)
    recording = swarmdp.Recording(positions, fps=20, unit="cm")
    cleaned = recording.clean(max_gap=0.1, smooth=window / 20)
    kept, filled, segment = plainly_cleaned(positions, 8.0, 2.0, window)
    np.testing.assert_array_equal(cleaned.segment, segment)
    np.testing.assert_allclose(cleaned.positions, kept, atol=1e-10)
    np.testing.assert_allclose(cleaned.filled, filled, atol=1e-10)
    assert cleaned.n_segments == segment.max() + 1 > 7
    assert cleaned.recording.positions is positions  # nothing is lost


def straight(frames: int = 40, individuals: int = 2) -> NDArray[np.float64]:
    positions = np.zeros((frames, individuals, 2))
    positions[..., 0] = np.arange(frames)[:, None]
    positions[..., 1] = 1000 * np.arange(individuals)
    return positions


def test_a_swap_of_identities_begins_new_segments() -> None:
    positions = straight()
    positions[20:] = positions[20:, ::-1]
    cleaned = swarmdp.Recording(positions, fps=10, unit="cm").clean(smooth=0)
    assert cleaned.n_segments == 4
    assert len(np.unique(cleaned.segment[:20, 0])) == 1
    assert np.isnan(cleaned.headings[20]).all()
    np.testing.assert_allclose(np.delete(cleaned.headings, [0, 20], axis=0), 0)
    assert cleaned.dropped["steps above 8 times the median step: a new segment begins"] == 2
    assert swarmdp.Recording(positions, fps=10, unit="cm").clean(jump=np.inf).n_segments == 2


def test_a_single_wrong_point_is_not_used() -> None:
    positions = straight()
    positions[10, 0] += 500
    cleaned = swarmdp.Recording(positions, fps=10, unit="cm").clean(smooth=0)
    assert np.isnan(cleaned.positions[10, 0]).all()
    assert cleaned.segment[10, 0] == -1
    assert cleaned.dropped["points in segments of fewer than 3 points: not used"] == 1


def test_short_gaps_are_seen_but_not_learned_from() -> None:
    positions = straight()
    positions[10:13, 0] = np.nan
    positions[20:24, 0] = np.nan
    cleaned = swarmdp.Recording(positions, fps=10, unit="cm").clean(smooth=0, max_gap=0.3)
    np.testing.assert_allclose(cleaned.filled[10:13, 0, 0], [10, 11, 12])
    assert np.isnan(cleaned.positions[10:13, 0]).all()
    assert (cleaned.segment[10:13, 0] == -1).all()
    assert cleaned.segment[9, 0] == cleaned.segment[13, 0] != cleaned.segment[24, 0]
    assert np.isnan(cleaned.filled[20:24, 0]).all()
    assert np.isnan(cleaned.headings[13, 0])  # nobody knows how it came here
    dropped = dict(cleaned.dropped)
    assert dropped["gaps of more than 0.3 s: a new segment begins"] == 1
    assert dropped["missing points in gaps up to 0.3 s: for seeing neighbours only"] == 3


def test_half_a_coordinate_is_no_point() -> None:
    positions = straight()
    positions[10, 0, 1] = np.inf
    positions[12, 1, 0] = np.nan
    positions[13, 1] = np.nan
    cleaned = swarmdp.Recording(positions, fps=10, unit="cm").clean(smooth=0)
    assert np.isnan(cleaned.positions[10, 0]).all()
    words = "points with a coordinate that is missing or infinite: not used"
    assert cleaned.dropped[words] == 2  # the third is a gap


def test_slow_individuals_have_no_heading() -> None:
    positions = straight(individuals=3)
    positions[:, 2, 0] *= 0.1
    recording = swarmdp.Recording(positions, fps=10, unit="cm")
    cleaned = recording.clean(smooth=0)
    assert np.isnan(cleaned.headings[:, 2]).all()
    assert cleaned.dropped["points slower than 0.15 of the median speed: no heading"] == 39
    assert np.nanmedian(cleaned.speeds) == pytest.approx(10)
    np.testing.assert_allclose(recording.clean(smooth=0, slow=0.05).headings[1:, 2], 0, atol=1e-12)


def test_headings_know_nothing_of_the_next_turn() -> None:
    corner = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [2, 2]], dtype=float)[:, None]
    cleaned = swarmdp.Recording(corner, fps=1, unit="cm").clean()
    quarter = np.pi / 2
    np.testing.assert_allclose(cleaned.headings[:, 0], [np.nan, 0, 0, quarter, quarter])
    np.testing.assert_allclose(cleaned.directions[3, 0], [0, 1], atol=1e-15)


def test_whole_pixels_of_animals_that_rest() -> None:
    rng = np.random.default_rng(1)
    steps = rng.choice([0, 0, 0, 1, -1], size=(1000, 4, 2)).astype(float)
    recording = swarmdp.Recording(steps.cumsum(axis=0), fps=30, unit="px")
    cleaned = recording.clean()
    assert cleaned.median_step == 1
    assert cleaned.n_segments == 4  # a step of a pixel is no jump although the median is zero


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_nothing_moves_or_nothing_is_there(value: float) -> None:
    recording = swarmdp.Recording(np.full((30, 2, 2), value), fps=30, unit="px")
    cleaned = recording.clean()
    assert np.isnan(cleaned.headings).all()
    assert cleaned.n_segments == (2 if value == 0 else 0)


def test_three_axes_have_directions_but_no_headings() -> None:
    positions = np.zeros((20, 1, 3))
    positions[:, 0, 2] = np.arange(20)
    recording = swarmdp.Recording(positions, fps=30, unit="m")
    np.testing.assert_allclose(recording.clean().directions[1:, 0], [[0, 0, 1]] * 19, atol=1e-12)
    with pytest.raises(InvalidInput, match=r"projected\(axes=\(0, 1\)\)"):
        _ = recording.clean().headings
    np.testing.assert_allclose(
        recording.projected(axes=(0, 2)).clean().headings[1:], np.pi / 2, atol=1e-12
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jump": 1}, "jump must be above 1"),
        ({"jump": np.nan}, "jump must be above 1"),
        ({"max_gap": -1}, "max_gap must be not negative"),
        ({"smooth": np.inf}, "smooth must be a finite number"),
        ({"slow": "fast"}, "slow must be a number"),
    ],
)
def test_wrong_settings(settings: dict[str, float], message: str) -> None:
    recording = swarmdp.Recording(straight(), fps=30, unit="px")
    with pytest.raises(InvalidInput, match=message):
        recording.clean(**settings)
