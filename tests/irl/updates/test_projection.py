import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import swarmdp
from swarmdp import Gridworld
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates.evidence import Evidence
from swarmdp.irl.updates.max_margin import max_margin
from swarmdp.irl.updates.projection import Projection, projection


def test_worked_by_hand() -> None:
    """From (0, 0) towards (2, 1): the third policy lies on the far side, the fourth reaches it."""
    expert = np.array([2.0, 1.0])
    learned = np.array([[0, 0], [4, 0], [2, 3], [2, -3]], float)
    np.testing.assert_allclose(projection(expert, learned[:1]), [1])
    np.testing.assert_allclose(projection(expert, learned[:2]), [0.5, 0.5])
    np.testing.assert_allclose(projection(expert, learned[:3]), [1 / 3, 1 / 3, 1 / 3])
    evidence = Evidence(expert[None], learned[:2, None], learned[:2, None], 0.9, 2, 2, seed=0)
    update = Projection()(evidence)
    np.testing.assert_allclose(update.weights, [[0, 1]])
    assert update.margin == pytest.approx([1])
    done = Projection()(
        Evidence(expert[None], learned[:3, None], learned[:3, None], 0.9, 2, 2, seed=0)
    )
    assert done.margin == pytest.approx([0])


def test_a_policy_behind_the_point_changes_nothing() -> None:
    expert, learned = np.array([1.0, 0.0]), np.array([[0, 0], [-1, 0], [0, 0]], float)
    np.testing.assert_allclose(projection(expert, learned), [1, 0, 0])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 15), st.integers(1, 12), st.integers(0, 2**32))
def test_never_nearer_than_the_hull(policies: int, features: int, seed: int) -> None:
    """The cone program's margin is the least distance of all mixtures of the same policies."""
    rng = np.random.default_rng(seed)
    learned, expert = rng.normal(size=(policies, features)), rng.normal(size=features)
    distances = []
    for count in range(1, policies + 1):
        mixture = projection(expert, learned[:count])
        assert (mixture >= 0).all()
        assert mixture.sum() == pytest.approx(1, abs=1e-12)
        distances.append(np.linalg.norm(expert - mixture @ learned[:count]))
        assert distances[-1] >= max_margin(expert, learned[:count]).margin - 1e-7
    assert (np.diff(distances) <= 1e-12).all()


def near_the_expert(update: str, seed: int) -> tuple[NDArray[np.float64], swarmdp.Result]:
    """Learn a grid of macrocells: policy and mixture reach 95 % of the expert's value."""
    grid = Gridworld.macrocells(seed=seed, rows=16, columns=16, macrocell=2)
    expert = swarmdp.learning.plan(grid, grid.reward, discount=0.95)
    mu = exact_expectations(grid, expert.policy, discount=0.95, steps=None)
    result = swarmdp.fit(grid, mu, seed=1, update=update, iterations=30, discount=0.95, judge=False)
    true = grid.reward.weights[0]
    best = float((mu @ true)[0])
    assert float((result.history.mu[result.chosen[0]] @ true)[0]) > 0.95 * best
    assert float((result.mixture_mu @ true)[0]) > 0.95 * best
    return mu, result


@pytest.mark.parametrize("update", ["max_margin", "projection"])
def test_abbeel_and_ng_s_grid(update: str) -> None:
    """Macrocells of 2 x 2: value, margin against distance, and the mixture that theory promises."""
    mu, result = near_the_expert(update, seed=3)
    margins = result.history.margin[:, 0]
    assert (np.diff(margins) <= 1e-9).all()
    assert margins[-1] < 0.1 * margins[0]
    for i in range(len(margins)):
        cone = max_margin(mu[0], result.history.mu[: i + 1, 0]).margin
        assert margins[i] >= cone - 1e-8
    # |mu_E - mu of the mixture| is the margin: so the value under any |w| <= 1 is within it
    np.testing.assert_allclose(
        np.linalg.norm(mu - result.mixture_mu, axis=1), result.margin, rtol=1e-6
    )


@pytest.mark.parametrize("update", ["max_margin", "projection"])
@pytest.mark.parametrize("seed", [1, 4, 5, 6, 7])
def test_other_grids_reach_95_percent_of_the_expert_s_value(update: str, seed: int) -> None:
    near_the_expert(update, seed)


def test_the_mixture_can_be_rolled_out() -> None:
    grid = Gridworld()
    expert = swarmdp.learning.plan(grid, swarmdp.Reward(grid.reward.weights), softness=0.3)
    mu = exact_expectations(grid, expert.policy, discount=0.9, steps=None)
    result = swarmdp.fit(grid, mu, seed=1, update="projection", iterations=15, judge=False)
    record = swarmdp.simulation.DiscountedFeatures(0.9)
    runs = swarmdp.rollout(grid, result.mixture, steps=120, runs=4000, seed=2, record=record)
    actual = runs["discounted_features"]
    error = actual.std(axis=0, ddof=1) / np.sqrt(len(actual))
    gap = np.abs(actual.mean(axis=0) - result.mixture_mu[0])
    assert (gap < 5 * error + 1e-4).all()
