import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import FiniteMDP, Gridworld, Policy, Reward
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates import MaxEnt
from swarmdp.irl.updates.evidence import Evidence
from swarmdp.irl.updates.maxent import next_point
from swarmdp.learning.planning import best_value
from swarmdp.policies import SoftPolicy
from swarmdp.support.errors import InvalidInput
from tests.results import not_none
from tests.systems.test_finite import random_mdp


def dual(mdp: FiniteMDP, weights: NDArray[np.float64], expert: NDArray[np.float64]) -> float:
    planned = swarmdp.learning.plan(mdp, Reward(weights), softness=1.0)
    return float(mdp.start @ best_value(not_none(planned.q)[0], 1.0) - weights @ expert)


@pytest.mark.parametrize("features", [None, 4])
def test_the_gradient_is_mu_minus_mu_of_the_expert(features: int | None) -> None:
    mdp = random_mdp(1, features=features)
    size = features or 6
    weights = np.random.default_rng(1).normal(size=size)
    expert = np.random.default_rng(2).random(size)
    soft = swarmdp.learning.plan(mdp, Reward(weights), softness=1.0).policy
    gradient = exact_expectations(mdp, soft, discount=0.9, steps=None)[0] - expert
    step = 1e-5
    for i, axis in enumerate(np.eye(size)):
        slope = dual(mdp, weights + step * axis, expert) - dual(mdp, weights - step * axis, expert)
        assert slope / (2 * step) == pytest.approx(gradient[i], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_feature_expectations_match_at_the_optimum(seed: int) -> None:
    """Any expert, no soft one in particular; features are fewer than states."""
    mdp = random_mdp(seed, states=15, features=5)
    rng = np.random.default_rng(seed)
    expert = SoftPolicy(rng.dirichlet(np.ones(3), size=15))
    mu = exact_expectations(mdp, expert, discount=0.9, steps=None)
    result = swarmdp.fit(mdp, mu, seed=1, update="maxent", iterations=100, judge=False)
    assert result.distance[0] < 1e-4
    learned = exact_expectations(mdp, result.policy, discount=0.9, steps=None)
    np.testing.assert_allclose(learned, mu, atol=1e-4)


def test_a_soft_expert_s_reward_is_found_but_for_a_constant() -> None:
    grid = Gridworld()
    true = 3 * grid.reward.weights[0]
    soft = swarmdp.learning.plan(grid, Reward(true), softness=1.0)
    mu = exact_expectations(grid, soft.policy, discount=0.9, steps=None)
    result = swarmdp.fit(grid, mu, seed=1, update="maxent", iterations=100, judge=False)
    actual = result.reward.weights[0]
    np.testing.assert_allclose(actual - actual.mean(), true - true.mean(), atol=1e-3)
    assert isinstance(result.policy, SoftPolicy)
    assert isinstance(soft.policy, SoftPolicy)
    np.testing.assert_allclose(result.policy.probabilities, soft.policy.probabilities, atol=1e-4)


def test_a_hard_expert_is_matched_too() -> None:
    """No finite reward makes a soft policy hard; a large one comes as near as asked."""
    grid = Gridworld()
    hard = swarmdp.learning.plan(grid, grid.reward).policy
    mu = exact_expectations(grid, hard, discount=0.9, steps=None)
    result = swarmdp.fit(
        grid, mu, seed=1, update="maxent", iterations=300, tolerance=1e-4, judge=False
    )
    assert result.distance[0] <= 1e-4


def test_the_finite_horizon_is_the_sum_over_all_trajectories() -> None:
    """Without chance in the transitions, a trajectory's probability is proportional to exp(R)."""
    rng = np.random.default_rng(3)
    states, actions, steps = 4, 3, 5
    following = np.array([rng.permutation(states)[:actions] for _ in range(states)])
    transitions = np.eye(states)[following]
    mdp = FiniteMDP(transitions, np.full(states, 1 / states))
    rewards = rng.normal(size=states)
    visits, value = np.zeros(states), np.zeros(states)
    for first in range(states):
        odds, seen = [], []
        for choice in itertools.product(range(actions), repeat=steps):
            path = [first]
            for action in choice:
                path.append(int(following[path[-1], action]))
            odds.append(np.exp(rewards[path].sum()))
            seen.append(np.bincount(path, minlength=states))
        value[first] = np.log(np.sum(odds))
        visits += np.average(seen, axis=0, weights=odds) / states
    planned = swarmdp.learning.plan_to_horizon(mdp, Reward(rewards), steps=steps, softness=1.0)
    np.testing.assert_allclose(planned.values[0], value, rtol=1e-12)
    np.testing.assert_allclose(
        mdp.occupancy(planned.probabilities, 1.0, steps=steps), visits, rtol=1e-12
    )


def test_the_quasi_newton_steps_minimise() -> None:
    """An ill-conditioned convex function that is not quadratic, from its gradients alone."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(30, 8)) * np.logspace(0, 1.5, 8)
    offset = rng.normal(size=30)

    def gradient(x: NDArray[np.float64]) -> NDArray[np.float64]:
        odds = np.exp(rows @ x + offset - (rows @ x + offset).max())
        return np.asarray(odds @ rows / odds.sum() + 0.01 * x)

    points = [np.zeros(8)]
    while np.linalg.norm(gradient(points[-1])) > 1e-8:
        assert len(points) < 200
        points.append(next_point(np.stack(points), np.stack([gradient(x) for x in points])))


def test_steps_become_shorter_where_values_are_estimated() -> None:
    expert, mu = np.array([[1.0, 0.0]]), np.array([[[0.0, 1.0]]] * 4)
    weights = np.zeros((4, 1, 2))
    evidence = Evidence(expert, mu, weights, 0.9, 2, 2, seed=0)
    update = MaxEnt(step=3.0)(evidence)
    np.testing.assert_allclose(update.weights, [[1.5, -1.5]])


def test_soft_policies_need_the_local_model() -> None:
    vicsek = swarmdp.Vicsek(n_agents=10)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    with pytest.raises(InvalidInput, match="q_update=LocalModel.., not with SequentialQ"):
        swarmdp.fit(vicsek, demo, seed=1, update="maxent", preset="paper", judge=False)
    with pytest.raises(InvalidInput, match="step must be positive"):
        MaxEnt(step=0)


def test_the_default_learns_to_fly_like_the_expert() -> None:
    """Maximum entropy on the swarm: a soft policy that finds the expert's order."""
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs=4, seed=11)
    result = swarmdp.fit(vicsek, demo, seed=12, update="maxent", iterations=12, judge=False)
    assert isinstance(result.policy, SoftPolicy)
    order = swarmdp.rollout(
        vicsek, result.policy, steps=100, runs=40, seed=13, record=vicsek.order
    )["order"]
    assert order[:, 100].mean() > 0.95
    peak = np.degrees(vicsek.features.axes[0].values[result.reward.weights[0].argmax()])
    assert abs(peak) <= 10
    hard = Policy(result.policy.table)
    assert (np.sign(vicsek.actions[hard.table[0]][10:17]) <= 0).all()
