"""The recording itself: shapes, names, presence, projection."""

import numpy as np
import pytest

import swarmdp
from swarmdp.support.errors import InvalidInput


def test_what_a_recording_says_of_itself() -> None:
    positions = np.zeros((50, 3, 2))
    positions[10, 1, 0] = np.nan
    positions[11, 2, 1] = np.inf
    recording = swarmdp.Recording(positions, fps=25, unit="cm")
    assert recording.individuals == (0, 1, 2)
    assert (recording.n_frames, recording.n_individuals, recording.n_axes) == (50, 3, 2)
    assert recording.times[-1] == pytest.approx(49 / 25)
    assert recording.duration == 2
    assert not recording.present[10, 1]
    assert not recording.present[11, 2]
    assert recording.present.sum() == 148
    assert repr(recording) == (
        "Recording of 3 individuals in 50 frames (2 s at 25 frames a second), in cm, 2-D"
    )


def test_lists_and_integers_are_taken() -> None:
    recording = swarmdp.Recording([[[1, 2]], [[3, 4]]], fps=1, unit="m", individuals=["a"])  # type: ignore[arg-type]
    assert recording.positions.dtype == np.float64
    assert recording.individuals == ("a",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positions": np.zeros((5, 2))}, "must have the shape (time, individual, 2 or 3 axes)"),
        ({"positions": np.zeros((5, 2, 4))}, "got (5, 2, 4)"),
        ({"positions": np.zeros((0, 2, 2))}, "at least one frame and one individual"),
        ({"positions": np.zeros((5, 2, 2), dtype=complex)}, "positions must be"),
        ({"positions": [[["a", "b"]]]}, "positions must be"),
        ({"fps": 0}, "fps must be positive"),
        ({"fps": np.nan}, "fps must be a finite number"),
        ({"fps": np.inf}, "fps must be a finite number"),
        ({"fps": "25"}, "fps must be a finite number"),
        ({"unit": " "}, "unit must name the unit of length"),
        ({"unit": 5}, "unit must be a text"),
        ({"individuals": ("a",)}, "individuals must be 2 names"),
        ({"individuals": ("a", "a")}, "must differ, got 'a' twice"),
        ({"individuals": (1.5, 2.5)}, "individuals must be"),
    ],
)
def test_bad_input_is_told(change: dict[str, object], message: str) -> None:
    arguments = {"positions": np.zeros((5, 2, 2)), "fps": 25, "unit": "cm", **change}
    with pytest.raises(InvalidInput) as error:
        swarmdp.Recording(arguments.pop("positions"), **arguments)  # type: ignore[arg-type]
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_three_axes_are_projected_on_two() -> None:
    positions = np.arange(30.0).reshape(5, 2, 3)
    recording = swarmdp.Recording(positions, fps=10, unit="m", individuals=("a", "b"))
    flat = recording.projected(axes=(0, 2))
    np.testing.assert_array_equal(flat.positions, positions[..., [0, 2]])
    assert flat.individuals == ("a", "b")
    assert flat.notes == ("projected onto axes 0 and 2",)
    with pytest.raises(InvalidInput, match="two different numbers from 0 to 2"):
        recording.projected(axes=(0, 3))
    with pytest.raises(InvalidInput, match="two different numbers"):
        recording.projected(axes=(1, 1))


def test_a_part_of_the_time() -> None:
    positions = np.arange(120.0).reshape(30, 2, 2)
    positions[:20, 1] = np.nan
    headings = np.arange(60.0).reshape(30, 2)
    recording = swarmdp.Recording(
        positions, fps=10, unit="m", individuals=("a", "b"), headings=headings
    )
    part = recording.between(2.1, 2.4)
    np.testing.assert_array_equal(part.positions, positions[21:24])
    np.testing.assert_array_equal(part.headings, headings[21:24])
    assert part.notes == ("only the part between 2.1 and 2.4 s",)
    first = recording.between(0, 1)
    assert (first.n_frames, first.names) == (10, ("a",))
    assert recording.between(2.5, np.inf).n_frames == 5
    with pytest.raises(InvalidInput, match="no frame is between 5 and 6 s: the recording is 3 s"):
        recording.between(5, 6)
    with pytest.raises(InvalidInput, match="before it ends, got 2 to 1 s"):
        recording.between(2, 1)
    empty = swarmdp.Recording(np.full((9, 2, 2), np.nan), fps=1, unit="m")
    with pytest.raises(InvalidInput, match="nobody is seen between 0 and 5 s"):
        empty.between(0, 5)


def test_a_part_of_each_pooled_recording() -> None:
    one = swarmdp.Recording(np.zeros((30, 2, 2)), fps=10, unit="m")
    other = swarmdp.Recording(np.ones((12, 3, 2)), fps=10, unit="m")
    short = swarmdp.Recording(np.ones((5, 1, 2)), fps=10, unit="m")
    part = swarmdp.Recording.pooled([one, other, short]).between(1, 2)
    assert part.starts == (0, 10)
    assert (part.n_frames, part.n_individuals) == (12, 5)
