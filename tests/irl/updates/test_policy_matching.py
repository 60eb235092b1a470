from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.pairs import pair_counts
from swarmdp.irl.updates.boltzmann import LocalMDP, log_boltzmann
from swarmdp.irl.updates.policy_matching import PolicyMatching, _Objective, match_policy
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from tests.irl.updates.test_boltzmann import random_mdp

DIRECTIONS = ("natural", "rprop")


def boltzmann(mdp: LocalMDP, weights: Any, softness: float) -> Any:
    return np.exp(log_boltzmann(mdp.optimal_q(weights)[0], softness))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("softness", [2.0, 1 / 3])
def test_the_derivative_of_the_policy_agrees_with_finite_differences(
    seed: int, softness: float
) -> None:
    mdp = random_mdp(seed, observations=8, actions=4, features=8)
    weights = np.random.default_rng(100 + seed).normal(size=8)
    q = np.sort(mdp.optimal_q(weights)[0], axis=1)
    step = 1e-6
    assert (q[:, -1] - q[:, -2]).min() > 1e-3, "too near to a kink to compare"
    nothing = np.zeros((8, 4))
    point = _Objective(mdp, nothing, nothing[:, 0], softness, penalty=0.0).at(weights, None)
    np.testing.assert_array_equal(point.policy, boltzmann(mdp, weights, softness))
    actual = point.policy[..., None] * point.score
    for k in range(8):
        shift = step * (np.arange(8) == k)
        ahead, behind = (boltzmann(mdp, weights + s, softness) for s in (shift, -shift))
        np.testing.assert_allclose(actual[..., k], (ahead - behind) / (2 * step), atol=1e-5, rtol=0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_the_gradient_of_the_objective_agrees_with_finite_differences(
    seed: int, penalty: float
) -> None:
    mdp = random_mdp(seed, observations=8, actions=4, features=6)
    rng = np.random.default_rng(100 + seed)
    weights, counts = rng.normal(size=6), rng.integers(0, 9, size=(8, 4)).astype(float)
    counts[2] = 0  # an observation that the expert never made
    visits = counts.sum(axis=1)
    objective = _Objective(
        mdp, counts / np.maximum(visits, 1)[:, None], visits / visits.sum(), 0.5, penalty
    )
    actual = objective.at(weights, None).gradient
    step = 1e-6
    for k in range(6):
        shift = step * (np.arange(6) == k)
        ahead, behind = (objective.at(weights + s, None).loss for s in (shift, -shift))
        assert actual[k] == pytest.approx((ahead - behind) / (2 * step), abs=1e-7)


def grid_pairs(size: int) -> tuple[swarmdp.Gridworld, swarmdp.Trajectory]:
    grid = swarmdp.Gridworld(size, size)
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    return grid, swarmdp.rollout(
        grid, expert, steps=100, runs=100, seed=1, record=["states", "actions"]
    )


def test_rprop_ends_at_a_kink_with_many_weights() -> None:
    """The minimum lies where actions are equally good: there no gradient ever vanishes."""
    grid, demo = grid_pairs(8)
    counts = pair_counts(grid, demo)[0].sum(axis=0)
    mdp = LocalMDP(grid.mdp.dense(), np.eye(64), 0.9)
    for start in (None, np.full(64, 1 / 8)):
        matched = match_policy(mdp, counts, start=start)
        assert matched.converged
        assert matched.steps < 400
        assert matched.loss < 0.7064


def test_a_search_that_did_not_end_is_told() -> None:
    grid, demo = grid_pairs(3)
    with pytest.warns(SwarmdpWarning, match="1 of 1 .* not converged in 3 .*direction=.natural."):
        swarmdp.fit(grid, demo, seed=1, update=PolicyMatching(iterations=3), judge=False)
    update = PolicyMatching(iterations=1, direction="natural", tolerance=0)
    with pytest.warns(SwarmdpWarning, match="1 of 1 .* a tolerance above 0$"):
        swarmdp.fit(grid, demo, seed=1, update=update, judge=False)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_a_boltzmann_expert_s_policy_is_found(direction: Any, seed: int) -> None:
    """The weights themselves are known only up to what changes no policy."""
    mdp = random_mdp(seed, features=5)
    true = np.random.default_rng(50 + seed).normal(size=5)
    expert = boltzmann(mdp, true, 1.0)
    visits = np.array([1.0, 5.0, 20.0, 3.0, 7.0])
    matched = match_policy(
        mdp,
        visits[:, None] * expert,
        penalty=0,
        direction=direction,
        iterations=20_000,
        tolerance=1e-6,
    )
    assert matched.converged
    np.testing.assert_allclose(matched.policy, expert, atol=1e-3)
    assert matched.loss < 1e-6
    np.testing.assert_allclose(boltzmann(mdp, matched.weights, 1.0), matched.policy, atol=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_both_directions_find_the_same_minimum(direction: Any) -> None:
    mdp = random_mdp(7)
    counts = np.random.default_rng(8).integers(1, 30, size=(5, 3)).astype(float)
    matched = match_policy(mdp, counts, direction=direction, iterations=2000)
    other = match_policy(mdp, counts, direction="rprop", iterations=2000, start=np.ones(4))
    assert matched.converged
    assert matched.loss == pytest.approx(other.loss, rel=1e-4)


def test_what_the_pairs_say_nothing_of_stays_zero() -> None:
    """The last observation is never reached from the others, and the expert never was there."""
    transitions = np.zeros((3, 2, 3))
    transitions[:2, 0, 0] = transitions[:2, 1, 1] = 1
    transitions[2, :, 2] = 1
    mdp = LocalMDP(transitions, np.eye(3), 0.9)
    counts = np.array([[8.0, 2.0], [6.0, 4.0], [0.0, 0.0]])
    matched = match_policy(mdp, counts, start=np.array([0.0, 0.0, 1.0]))
    assert matched.weights[0] > matched.weights[1]
    assert abs(matched.weights[2]) < 1e-5
    np.testing.assert_allclose(matched.policy[2], 0.5)


def test_weights_that_run_away_are_told() -> None:
    transitions = np.zeros((2, 2, 2))
    transitions[:, 0, 0] = transitions[:, 1, 1] = 1
    mdp = LocalMDP(transitions, np.eye(2), 0.9)
    certain = np.array([[10.0, 0.0], [10.0, 0.0]])
    with pytest.warns(SwarmdpWarning, match="the weights diverge.*Give a penalty above zero"):
        match_policy(mdp, certain, penalty=0, iterations=5000)
    held = match_policy(mdp, certain)
    assert held.converged
    assert 0.9 < held.policy[0, 0] < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "up"}, 'direction must be "natural" or "rprop"'),
        ({"penalty": -1.0}, "penalty must be finite and not negative"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"tolerance": -1e-3}, "tolerance not negative"),
        ({"softness": 0.0}, "softness must be positive"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        PolicyMatching(**change)
    with pytest.raises(InvalidInput, match=message):
        match_policy(random_mdp(0), np.ones((5, 3)), **change)
