"""How similar the rewards of neighbouring classes are taken to be."""

from collections.abc import Callable

import numpy as np
import pytest

import swarmdp
from swarmdp.model.features.similarity import (
    covariances,
    falling_similarity,
    is_graded,
    side_by_side,
    smooth_similarity,
)

Law = Callable[[swarmdp.features.Axis, float], np.ndarray]
BINS = swarmdp.Bins([0.0, 1.0, 2.0, 5.0, np.inf], "distance")


def test_only_intervals_of_a_quantity_are_graded() -> None:
    assert is_graded(swarmdp.Angles(4).axes[0])
    assert is_graded(BINS.axes[0])
    assert not is_graded(swarmdp.Levels(9, "cell").axes[0])
    assert not is_graded(swarmdp.Angles(1).axes[0])


@pytest.mark.parametrize("law", [falling_similarity, smooth_similarity])
@pytest.mark.parametrize("size", [2, 3, 4, 7, 36])
def test_similarity_is_a_covariance_that_falls_with_the_distance(law: Law, size: int) -> None:
    for axis in (swarmdp.Angles(size).axes[0], swarmdp.Bins(np.arange(size + 1.0)).axes[0]):
        similar = law(axis, 0.2 * size)
        np.testing.assert_allclose(similar, similar.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(similar), 1.0)
        assert np.linalg.eigvalsh(similar).min() > 0
        farthest = size // 2 if axis.periodic else size - 1
        assert (np.diff(similar[0, : farthest + 1]) < 0).all()
        if axis.periodic:
            np.testing.assert_allclose(similar[0, 1], similar[0, -1])


def test_smooth_rewards_stay_the_same_where_classes_are_made_finer() -> None:
    coarse = smooth_similarity(swarmdp.Angles(36).axes[0], 0.2 * 36)
    fine = smooth_similarity(swarmdp.Angles(72).axes[0], 0.2 * 72)
    np.testing.assert_allclose(fine[::2, ::2], coarse, atol=0.01)


def test_smooth_rewards_have_no_corners() -> None:
    """The second difference of a smooth reward is far smaller than that of one with corners."""
    second = np.diff(np.eye(36), n=2, axis=0)
    axis = swarmdp.Angles(36).axes[0]
    smooth, corners = (
        np.trace(second @ law(axis, 7.2) @ second.T)
        for law in (smooth_similarity, falling_similarity)
    )
    assert smooth < 0.1 * corners


def test_blocks_are_independent() -> None:
    both = swarmdp.Product(additive=True, angle=swarmdp.Angles(4), distance=BINS)
    parts = covariances(both.blocks, lambda axis: falling_similarity(axis, 2.0))
    whole = side_by_side(parts)
    assert whole.shape == (8, 8)
    assert not whole[:4, 4:].any()
    np.testing.assert_array_equal(whole[4:, 4:], parts[1])
    together = swarmdp.Product(angle=swarmdp.Angles(4), distance=BINS)
    (whole,) = covariances(together.blocks, lambda axis: falling_similarity(axis, 2.0))
    np.testing.assert_allclose(whole, np.kron(*parts))
