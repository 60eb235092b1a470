"""Cones of rewards: membership, margin, central and extreme rewards, containment with proof."""

import numpy as np
import pytest

from swarmdp import Reward
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.theory import Cone, cones


def test_the_positive_quadrant() -> None:
    cone = Cone.of(np.array([[2.0, 0.0], [0.0, 3.0], [2.0, 0.0], [1e-15, 0.0]]), rounding=1e-12)
    assert len(cone.rows) == 2
    assert cone.contains([1.0, 2.0])
    assert not cone.contains([1.0, -0.1])
    assert cone.contains(Reward([0.0, 1.0]))
    assert cone.margin([3.0, 3.0]) == pytest.approx(np.sqrt(0.5))
    assert cone.margin([-1.0, 0.0]) == pytest.approx(-1.0)
    np.testing.assert_allclose(cone.central.reward, np.sqrt([0.5, 0.5]))
    assert cone.central.margin == pytest.approx(np.sqrt(0.5))
    np.testing.assert_allclose(cone.extreme([1.0, -2.0]), [1.0, 0.0], atol=1e-12)


def test_what_does_not_matter_is_left_out() -> None:
    cone = Cone.of(np.array([[1.0, -1.0, 0.0]]), rounding=1e-12)
    assert cone.basis.shape == (1, 3)
    assert cone.margin([5.0, 4.0, 100.0]) == pytest.approx(1.0)
    assert cone.margin([7.0, 7.0, 3.0]) == 0.0
    assert cone.contains([7.0, 7.0, 3.0])


def test_without_inequalities_everything_is_inside() -> None:
    cone = Cone.of(np.zeros((4, 3)), rounding=1e-12)
    assert cone.contains([1.0, -5.0, 2.0])
    assert cone.margin([1.0, 2.0, 3.0]) == 0.0
    np.testing.assert_allclose(cone.extreme([1.0, -1.0, 1.0]), [1, -1, 1])
    quadrant = Cone(np.eye(3))
    assert quadrant.inside(cone).holds
    assert not cone.inside(quadrant).holds


def test_a_cone_without_interior() -> None:
    cone = Cone.of(np.array([[1.0, 0.0], [-1.0, 0.0]]), rounding=1e-12)
    assert cone.central.margin == 0
    assert not cone.central.reward.any()
    assert cone.contains([0.0, 1.0])


def test_the_central_reward_has_the_largest_margin() -> None:
    rng = np.random.default_rng(0)
    for dimension in (2, 3, 6):
        inside = rng.normal(size=dimension)
        rows = rng.normal(size=(8, dimension))
        cone = Cone.of(rows * np.sign(rows @ inside)[:, None], rounding=0)
        best = cone.central
        assert cone.margin(best.reward) == pytest.approx(best.margin, abs=1e-9)
        assert cone.margin(inside) <= best.margin
        for size in (0.3, 0.01, 1e-4):
            near = best.reward + size * rng.normal(size=(200, dimension))
            assert max(cone.margin(reward) for reward in near) <= best.margin + 1e-12


def test_extreme_rewards_are_in_the_cone_and_on_its_edge() -> None:
    rng = np.random.default_rng(1)
    rows = np.abs(rng.normal(size=(6, 4)))
    cone = Cone.of(rows, rounding=0)
    for direction in rng.normal(size=(20, 4)):
        corner = cone.extreme(direction)
        assert cone.contains(corner)
        others = rng.uniform(-1, 1, size=(2000, 4))
        legal = others[(others @ cone.rows.T >= 0).all(axis=1)]
        assert (legal @ direction).max() <= corner @ direction + 1e-9


def test_containment_is_proved_or_refuted() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        rows = rng.normal(size=(5, 4))
        inner = Cone.of(rows, rounding=0)
        mixtures = rng.exponential(size=(3, 5)) @ rows
        outer = Cone.of(mixtures, rounding=0)
        proof = inner.inside(outer)
        assert proof.holds
        assert (proof.multipliers >= 0).all()
        np.testing.assert_allclose(proof.multipliers @ inner.rows, outer.rows, atol=1e-9)
        refuted = outer.inside(inner)
        assert not refuted.holds
        assert refuted.witness is not None
        assert outer.contains(refuted.witness)
        assert not inner.contains(refuted.witness)
        assert not inner.equals(outer)
        assert inner.equals(Cone.of(np.concatenate([rows, mixtures]), rounding=0))


def test_wrong_rewards_are_refused() -> None:
    cone = Cone(np.eye(2))
    for reward in ([1.0], [[1.0, 2.0], [3.0, 4.0]], [1.0, np.nan]):
        with pytest.raises(InvalidInput, match="2 finite numbers"):
            cone.margin(reward)
    with pytest.raises(InvalidInput, match="2 and 3 entries"):
        cone.inside(Cone(np.eye(3)))


def test_a_row_of_which_too_little_is_known_is_refused() -> None:
    rows = np.array([[1.0, -1.0], [1e-9, 0.0]])
    assert Cone.of(rows, 1e-16).error == pytest.approx(1e-7)
    assert len(Cone.of(rows, np.array([1e-16, 1e-8])).rows) == 1
    with pytest.raises(SolverError, match="relative error of 1e-04.*pure chance"):
        Cone.of(rows, np.array([1e-16, 1e-13]))


def test_cones_that_hardly_differ_are_told_apart_as_far_as_their_rows_are_known() -> None:
    inner = Cone.of(np.array([[1.0, 0.0], [3e-9, 1.0]]), 0)
    outer = Cone.of(np.array([[0.0, 1.0]]), 0)
    refuted = inner.inside(outer)
    assert not refuted.holds
    assert refuted.witness is not None
    assert inner.contains(refuted.witness)
    assert not outer.contains(refuted.witness)
    assert Cone(inner.rows, 2e-9).inside(Cone(outer.rows, 2e-9)).holds


def test_no_reward_that_refutes_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the multipliers inexact, the way to the nearest combination would be no witness."""
    inner, outer = Cone(np.eye(2)), Cone.of(np.array([[1.0, 2.0]]), 0)
    assert inner.inside(outer).holds
    exact = cones._nearest
    monkeypatch.setattr(cones, "_nearest", lambda *of: exact(*of) - [1e-7, 0])
    with pytest.raises(SolverError, match="neither proved nor refuted"):
        inner.inside(outer)


def test_many_rows_are_compared_in_no_time() -> None:
    rng = np.random.default_rng(3)
    few = rng.normal(size=(5000, 4))
    many = np.repeat(few, 20, axis=0) * rng.uniform(0.5, 2, size=(100_000, 1))
    cone = Cone.of(many, 0)
    # Rounding may put equal rows on both sides of a decimal.
    assert 5000 <= len(cone.rows) <= 5010
