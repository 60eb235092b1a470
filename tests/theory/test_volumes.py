"""Shares of the sphere: exact where they are angles, within their stated error elsewhere."""

import math

import numpy as np
import pytest

from swarmdp.support.errors import InvalidInput
from swarmdp.theory import Cone, draw_rewards, share
from swarmdp.theory.volumes import _move_points, _split


def test_angles_are_exact() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        low, width = rng.uniform(0, 2 * math.pi), rng.uniform(0.01, 0.99) * math.pi
        inner = [(-math.sin(low), math.cos(low))]
        inner.append((math.sin(low + width), -math.cos(low + width)))
        # Redundant inequalities between the two change nothing.
        rows = np.vstack([inner, rng.exponential(size=(5, 2)) @ np.array(inner)])
        shares = share(Cone.of(rows, 0), seed=1)
        assert shares.method == "exact"
        assert shares.value == pytest.approx(width / (2 * math.pi), rel=1e-9)
    assert share(Cone.of(np.array([[1.0, 2.0, 0.0]]), 0), seed=1).value == 0.5
    assert share(Cone.of(np.array([[1.0, 2.0], [-1.0, -2.0]]), 0), seed=1).value == 0.0
    assert share(Cone.of(np.zeros((1, 2)), 0.1), seed=1).value == 1.0


def equicorrelated(dimension: int) -> Cone:
    """Rows at 60 degrees to each other: by symmetry the share is 1 / (dimension + 1)."""
    return Cone.of(np.asarray(np.linalg.cholesky((np.eye(dimension) + 1) / 2), np.float64), 0)


@pytest.mark.parametrize("dimension", [3, 8, 20])
def test_counting_covers_the_truth(dimension: int) -> None:
    truth = -math.log(dimension + 1)
    shares = [share(equicorrelated(dimension), seed=s, draws=20_000) for s in range(40)]
    assert {f.method for f in shares} == {"counting"}
    # 40 intervals of 95 %: fewer than 32 hits have a probability of 1e-4.
    assert sum(f.log_low <= truth <= f.log_high for f in shares) >= 32
    mean = np.mean([f.value for f in shares])
    error = np.std([f.value for f in shares], ddof=1) / math.sqrt(40)
    assert abs(mean * (dimension + 1) - 1) <= 4 * error * (dimension + 1)


@pytest.mark.parametrize("dimension", [4, 9])
def test_splitting_covers_the_truth(dimension: int) -> None:
    """The positive orthant, 2^-d: estimates are unbiased and their errors are honest."""
    rows, truth = np.eye(dimension), -dimension * math.log(2)
    splits = [_split(rows, seed, particles=100, repetitions=8) for seed in range(20)]
    # 20 intervals of 95 %: fewer than 15 hits have a probability of 3e-4.
    assert sum(f.log_low <= truth <= f.log_high for f in splits) >= 15
    ratio = np.exp([f.log - truth for f in splits])
    assert abs(ratio.mean() - 1) <= 4 * ratio.std(ddof=1) / math.sqrt(20)


def test_splitting_takes_over_where_nothing_is_hit() -> None:
    shares = share(Cone(np.eye(20)), seed=2, draws=2000, particles=150)
    assert shares.method == "splitting"
    assert abs(shares.log + 20 * math.log(2)) <= 4 * shares.error
    again = share(Cone(np.eye(20)), seed=2, draws=2000, particles=150)
    assert again == shares


def test_more_inequalities_than_directions() -> None:
    """All permutations of (1, 2, 3, 4) are equally likely orders of four numbers: 1 / 24."""
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    rows = np.array([np.eye(4)[j] - np.eye(4)[i] for i, j in pairs])
    cone = Cone.of(rows, 0)
    counted = share(cone, seed=3)
    assert abs(counted.log + math.log(24)) <= 4 * counted.error
    split = _split(cone.rows @ cone.basis.T, 4, particles=200, repetitions=16)
    assert abs(split.log + math.log(24)) <= 4 * split.error


def test_moves_keep_the_law_and_the_domain() -> None:
    """Normal numbers above a bound stay so distributed: mean and variance within 5 errors."""
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(40_000, 2))
    level, rows = 0.3, np.eye(2)
    points = draws[(draws >= -level).all(axis=1)]
    moved = _move_points(rows, points, level, rng)
    assert (moved >= -level - 1e-12).all()
    assert (np.abs(moved - points).max(axis=1) > 1e-6).mean() > 0.99
    for before, after in ((points, moved), (points**2, moved**2)):
        error = np.sqrt(before.var(axis=0) * 2 / len(points))
        assert (np.abs(before.mean(axis=0) - after.mean(axis=0)) <= 5 * error).all()


def test_rewards_are_drawn_uniformly_from_a_cone() -> None:
    """In a wedge of the plane the angle is uniform; in space the mean direction is known."""
    half = 0.2
    wedge = np.array([[math.sin(half), math.cos(half)], [math.sin(half), -math.cos(half)]])
    rewards = draw_rewards(Cone.of(wedge, 0), 4000, seed=1)
    np.testing.assert_allclose(np.linalg.norm(rewards, axis=1), 1)
    place = np.sort(np.arctan2(rewards[:, 1], rewards[:, 0]) / half / 2 + 0.5)
    # Kolmogorov and Smirnov's distance; particles share ancestors, hence twice the usual bound.
    assert np.abs(place - np.arange(4000) / 4000).max() < 2 * 1.95 / math.sqrt(4000)
    octant = draw_rewards(Cone(np.eye(3)), 4000, seed=2)
    assert (octant >= 0).all()
    np.testing.assert_allclose(octant.mean(axis=0), 0.5, atol=0.03)
    everywhere = draw_rewards(Cone.of(np.zeros((1, 3)), 0.1), 100, seed=3)
    assert everywhere.shape == (100, 3)
    with pytest.raises(InvalidInput, match="no interior"):
        draw_rewards(Cone(np.array([[1.0, 0.0], [-1.0, 0.0]])), 10, seed=1)
    with pytest.raises(InvalidInput, match="count"):
        draw_rewards(Cone(np.eye(2)), 1, seed=1)


def test_ratios_carry_both_errors() -> None:
    a, b = share(equicorrelated(4), seed=6), share(equicorrelated(9), seed=7)
    ratio = b / a
    assert ratio.error == pytest.approx(math.hypot(a.error, b.error))
    assert abs(ratio.log - math.log(5 / 10)) <= 4 * ratio.error
    exact = share(Cone(np.eye(2)), seed=1) / share(Cone(np.eye(1)), seed=1)
    assert (exact.value, exact.method) == (0.5, "exact")


def test_wrong_numbers_are_refused() -> None:
    for name in ("draws", "particles", "repetitions"):
        with pytest.raises(InvalidInput, match=name):
            share(Cone(np.eye(3)), seed=1, **{name: 1})


def test_rewards_are_drawn_in_directions_that_do_not_matter_as_well() -> None:
    """They may matter to another cone: in full space the draws have equal parts everywhere."""
    cone = Cone.of(np.array([[1.0, -1.0, 0.0]]), 0)
    drawn = draw_rewards(cone, 4000, seed=5)
    assert (drawn @ cone.rows.T >= 0).all()
    np.testing.assert_allclose((drawn**2).mean(axis=0), 1 / 3, atol=0.03)
    np.testing.assert_allclose(drawn[:, 2].mean(), 0, atol=0.05)
