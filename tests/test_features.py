import math

import numpy as np
import pytest

from swarmdp import Angles, InvalidInput, Levels


def test_levels_are_their_own_classes() -> None:
    levels = Levels(5)
    observations = np.array([[0, 4, 2]], np.uint8)
    np.testing.assert_array_equal(levels.index(observations), observations)
    np.testing.assert_array_equal(levels.values, np.arange(5))


@pytest.mark.parametrize("bad", [[[5]], [[-1]], [[0.5]]])
def test_levels_refuse_what_is_out_of_range(bad: list[list[float]]) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 4"):
        Levels(5, name="energy").index(np.array(bad))


def test_one_interval_of_angles_is_centred_on_zero() -> None:
    angles = Angles(36)
    assert angles.values[18] == 0
    assert angles.values[0] == pytest.approx(-math.pi)
    np.testing.assert_array_equal(angles.index(angles.values[None]), [np.arange(36)])
    for size in (1, 2, 5, 13):
        assert 0 in Angles(size).values


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_a_bad_number_of_classes_is_refused(size: int) -> None:
    for kind in (Levels, Angles):
        with pytest.raises(InvalidInput, match="positive integer"):
            kind(size)


def test_angles_are_counted_around_the_circle_and_must_be_finite() -> None:
    angles = Angles(36)
    turns = 2 * math.pi * np.arange(-3, 4)
    np.testing.assert_array_equal(angles.index((turns + 0.3)[None]), 20)
    with pytest.raises(InvalidInput, match="finite angles"):
        angles.index(np.array([[np.nan]]))
