import numpy as np
import pytest

from swarmdp.irl.updates.boltzmann import (
    LocalMDP,
    check_pairs,
    check_softness,
    fisher_information,
    log_boltzmann,
    scores,
)
from swarmdp.support.errors import InvalidInput
from tests import oracles


def random_mdp(seed: int, observations: int = 5, actions: int = 3, features: int = 4) -> LocalMDP:
    rng = np.random.default_rng(seed)
    return LocalMDP(
        rng.dirichlet(np.full(observations, 0.5), (observations, actions)),
        rng.normal(size=(observations, features)),
        0.9,
    )


def test_q_is_that_of_the_reward_of_features() -> None:
    mdp, weights = random_mdp(0), np.random.default_rng(1).normal(size=4)
    q, policy = mdp.optimal_q(weights)
    expected = oracles.optimal_q(mdp.transitions, mdp.features @ weights, 0.9)
    np.testing.assert_allclose(q, expected, atol=1e-11)
    np.testing.assert_array_equal(policy, expected.argmax(axis=1))
    again, _ = mdp.optimal_q(weights, policy)
    np.testing.assert_array_equal(again, q)


def test_q_is_linear_in_the_weights_as_long_as_the_policy_stays() -> None:
    mdp, weights = random_mdp(2), np.random.default_rng(3).normal(size=4)
    q, policy = mdp.optimal_q(weights)
    np.testing.assert_allclose(mdp.q_derivative(policy) @ weights, q, atol=1e-11)


def test_boltzmann_probabilities() -> None:
    q = np.random.default_rng(4).normal(size=(6, 3)) * 1000
    policy = np.exp(log_boltzmann(q, 100.0))
    direct = np.exp(0.01 * q) / np.exp(0.01 * q).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(policy, direct, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_boltzmann(q, 1e-6)).max(axis=1), 1)


def test_fisher_information_is_the_mean_square_of_scores() -> None:
    mdp, weights = random_mdp(5), np.random.default_rng(6).normal(size=4)
    q, optimal = mdp.optimal_q(weights)
    policy = np.exp(log_boltzmann(q, 0.5))
    score = scores(policy, mdp.q_derivative(optimal), 0.5)
    np.testing.assert_allclose(np.einsum("oa,oad->od", policy, score), 0, atol=1e-12)
    visits = np.arange(1.0, 6)
    expected = np.zeros((4, 4))
    for o in range(5):
        for a in range(3):
            expected += visits[o] * policy[o, a] * np.outer(score[o, a], score[o, a])
    np.testing.assert_allclose(fisher_information(policy, score, visits), expected, rtol=1e-12)


def test_bad_problems_are_refused() -> None:
    good = np.full((2, 2, 2), 0.5)
    with pytest.raises(InvalidInput, match=r"shape \(O, A, O\), got \(2, 2, 3\)"):
        LocalMDP(np.full((2, 2, 3), 1 / 3), np.eye(2), 0.9)
    with pytest.raises(InvalidInput, match=r"features must have the shape \(2, d\)"):
        LocalMDP(good, np.eye(3), 0.9)
    with pytest.raises(InvalidInput, match="features must be finite"):
        LocalMDP(good, np.full((2, 1), np.nan), 0.9)
    with pytest.raises(InvalidInput, match="discount"):
        LocalMDP(good, np.eye(2), 1.0)
    broken = good.copy()
    broken[1, 0, 0] = 0.7
    with pytest.raises(InvalidInput, match="observation 1, action 0 sums to 1.2"):
        LocalMDP(broken, np.eye(2), 0.9)
    mdp = LocalMDP(good, np.eye(2), 0.9)
    with pytest.raises(InvalidInput, match=r"shape \(2, 2\), got \(3, 2\)"):
        check_pairs(mdp, np.ones((3, 2)))
    for counts in (np.zeros((2, 2)), -np.ones((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(InvalidInput, match="not negative and not all zero"):
            check_pairs(mdp, counts)
    with pytest.raises(InvalidInput, match="softness must be positive"):
        check_softness(0)
