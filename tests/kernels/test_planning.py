import numpy as np
import pytest

from swarmdp.kernels import tables
from tests import oracles


def incoming(transitions: oracles.Floats) -> oracles.Floats:
    return np.ascontiguousarray(np.moveaxis(transitions, -1, -3))


@pytest.mark.parametrize(("observations", "actions"), [(1, 1), (2, 2), (5, 3), (6, 2)])
def test_optimal_q_is_the_best_of_all_policies(observations: int, actions: int) -> None:
    rng = np.random.default_rng(observations)
    transitions = rng.dirichlet(np.full(observations, 0.3), (3, observations, actions))
    rewards = rng.normal(size=(3, 20, observations))
    policy = rng.integers(actions, size=rewards.shape)
    actual = tables.optimal_q(incoming(transitions), rewards, 0.9, policy)
    for kernel, reward, q, table in zip(transitions, rewards, actual, policy, strict=True):
        expected = oracles.optimal_q(kernel, reward, 0.9)
        np.testing.assert_allclose(q, expected, rtol=0, atol=1e-11)
        np.testing.assert_array_equal(table, expected.argmax(axis=2))


def test_a_large_problem_meets_the_bellman_equation() -> None:
    rng = np.random.default_rng(0)
    transitions = rng.dirichlet(np.full(36, 0.1), (1, 36, 13))
    rewards = rng.normal(size=(1, 10, 36))
    q = tables.optimal_q(incoming(transitions), rewards, 0.95, np.zeros(rewards.shape, np.int64))
    ahead = np.einsum("oak,ck->coa", transitions[0], q[0].max(axis=2))
    np.testing.assert_allclose(q[0], rewards[0, ..., None] + 0.95 * ahead, atol=1e-11)


def test_only_what_is_wanted_is_done() -> None:
    rng = np.random.default_rng(1)
    transitions = rng.dirichlet(np.ones(4), (2, 4, 3))
    rewards = rng.normal(size=(2, 5, 4))
    selected = rng.random((2, 5)) < 0.5
    policy = np.zeros(rewards.shape, np.int64)
    q = tables.optimal_q(
        incoming(transitions), rewards, 0.9, policy, selected, np.full((2, 5, 4, 3), np.nan)
    )
    assert np.isnan(q[~selected]).all()
    assert np.isfinite(q[selected]).all()
    assert not policy[~selected].any()


def test_ties_and_a_reward_of_zero_come_to_an_end() -> None:
    transitions = np.full((1, 3, 2, 3), 1 / 3)
    policy = np.ones((1, 2, 3), np.int64)
    rewards = np.array([[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]])
    q = tables.optimal_q(incoming(transitions), rewards, 0.9, policy)
    np.testing.assert_allclose(q[0, 0], 0)
    np.testing.assert_allclose(q[0, 1], 10, rtol=1e-12)
    assert (policy == 1).all()
