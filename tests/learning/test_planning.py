import itertools
import math

import numpy as np
import pytest

import swarmdp
from swarmdp import FiniteMDP, Gridworld, Policy, Reward
from swarmdp.irl.updates import Wants
from swarmdp.learning.planning import Planning, plan, plan_to_horizon
from swarmdp.policies import SoftPolicy
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput, SolverError
from tests.results import not_none
from tests.systems.test_finite import random_mdp


@pytest.mark.parametrize("seed", range(5))
def test_no_policy_is_better(seed: int) -> None:
    """All 3^4 policies of a small MDP, one by one."""
    mdp = random_mdp(seed, states=4)
    rewards = np.random.default_rng(seed).normal(size=4)
    planned = plan(mdp, Reward(rewards))
    best = np.max(
        [
            mdp.values(np.eye(3)[list(table)], rewards, 0.9)
            for table in itertools.product(range(3), repeat=4)
        ],
        axis=0,
    )
    np.testing.assert_allclose(not_none(planned.q)[0].max(axis=1), best, rtol=1e-10)
    planned_value = mdp.values(np.eye(3)[table_of(planned.policy)[0]], rewards, 0.9)
    np.testing.assert_allclose(planned_value, best, rtol=1e-10)


def test_soft_values_solve_the_soft_bellman_equation() -> None:
    mdp = random_mdp(1)
    rewards = np.random.default_rng(1).normal(size=6)
    for softness in (0.01, 1.0, 50.0):
        planned = plan(mdp, Reward(rewards), softness=softness)
        assert isinstance(planned.policy, SoftPolicy)
        q = not_none(planned.q)[0]
        peak = q.max(axis=1)
        value = peak + softness * np.log(np.exp((q - peak[:, None]) / softness).sum(axis=1))
        np.testing.assert_allclose(
            q, rewards[:, None] + 0.9 * mdp.dense() @ value, rtol=1e-9, atol=1e-9
        )
        expected = np.exp((q - value[:, None]) / softness)
        np.testing.assert_allclose(planned.policy.probabilities[0], expected, atol=1e-9)
    hard = not_none(plan(mdp, Reward(rewards)).q)[0]
    cold = not_none(plan(mdp, Reward(rewards), softness=1e-4).q)[0]
    np.testing.assert_allclose(cold, hard, atol=0.02)


def test_ties_go_to_the_first_action() -> None:
    """Ng and Russell's grid is symmetric: +x wherever +y is as good."""
    table = table_of(plan(Gridworld(), Gridworld().reward).policy)[0].reshape(5, 5)
    np.testing.assert_array_equal(np.diag(table), 0)
    mirrored = np.where(table.T == 0, 1, 0)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(table[off], mirrored[off])
    flat = plan(random_mdp(2), Reward(np.ones(6)))
    np.testing.assert_array_equal(table_of(flat.policy), 0)


def test_many_rewards_are_one_batch() -> None:
    mdp = random_mdp(3, features=4)
    weights = np.random.default_rng(3).normal(size=(3, 4))
    for softness in (0.0, 1.0):
        whole = plan(mdp, Reward(weights), softness=softness)
        for r in range(3):
            alone = plan(mdp, Reward(weights[r]), softness=softness)
            np.testing.assert_array_equal(not_none(whole.q)[r], not_none(alone.q)[0])
            np.testing.assert_array_equal(table_of(whole.policy)[r], table_of(alone.policy)[0])


def test_a_finite_horizon_by_hand() -> None:
    """Two states, two actions, two steps: every number written out.

    Action 0 stays, action 1 changes the state; only state 1 has a reward of 1.
    """
    transitions = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], float)
    mdp = FiniteMDP(transitions, [0.5, 0.5])
    soft = plan_to_horizon(mdp, Reward([0.0, 1.0]), steps=2, softness=1.0)
    e = math.e
    # one step to go: Q(s, a) = R(s) + V(s'), with V = R at the end
    np.testing.assert_allclose(soft.q[1], [[0, 1], [2, 1]])
    last = np.array([np.log(1 + e), np.log(e**2 + e)])
    np.testing.assert_allclose(soft.values[1], last)
    np.testing.assert_allclose(soft.q[0], [[last[0], last[1]], [1 + last[1], 1 + last[0]]])
    # log(e^2 + e) = 1 + log(1 + e): both states prefer state 1 by odds of e, at both steps
    np.testing.assert_allclose(soft.probabilities, np.tile([[1, e], [e, 1]], (2, 1, 1)) / (1 + e))
    visits = mdp.occupancy(soft.probabilities, 1.0, steps=2)
    np.testing.assert_allclose(visits, [0.5 + 2 / (1 + e), 0.5 + 2 * e / (1 + e)])
    hard = plan_to_horizon(mdp, Reward([0.0, 1.0]), steps=2)
    np.testing.assert_allclose(hard.values, [[2, 3], [1, 2], [0, 1]])
    np.testing.assert_array_equal(hard.probabilities.argmax(axis=2), [[1, 0], [1, 0]])


def test_a_long_horizon_is_none() -> None:
    mdp = random_mdp(4)
    reward = Reward(np.random.default_rng(4).normal(size=6))
    for softness in (0.0, 0.7):
        long = plan_to_horizon(mdp, reward, steps=400, discount=0.9, softness=softness)
        np.testing.assert_allclose(
            long.q[0], not_none(plan(mdp, reward, softness=softness).q)[0], rtol=1e-9
        )


@pytest.mark.parametrize("softness", [0.0, 0.05])
def test_abbeel_and_ng_s_full_grid(softness: float) -> None:
    """16384 states: the Bellman equation holds to many digits."""
    grid = Gridworld.macrocells(seed=5)
    planned = plan(grid, grid.reward, discount=0.99, softness=softness)
    q = not_none(planned.q)[0]
    peak = q.max(axis=1)
    value = peak
    if softness:
        value = peak + softness * np.log(np.exp((q - peak[:, None]) / softness).sum(axis=1))
    again = grid.reward.of_classes(grid)[0][:, None] + 0.99 * grid.mdp.expected(value)
    assert np.abs(q - again).max() <= 1e-8 * np.abs(q).max()


def test_the_kernel_is_exact() -> None:
    mdp = random_mdp(5)
    planned = Planning()(mdp, Reward(np.ones((2, 6))), discount=0.9, wants=Wants(kernel=True))
    np.testing.assert_array_equal(planned.kernel, np.stack([mdp.dense()] * 2))
    assert not_none(planned.seen).all()
    big = Gridworld(150, 150)
    with pytest.raises(InvalidInput, match="22500 states as a full array needs 15.1 GiB"):
        Planning()(big, big.reward, discount=0.9, wants=Wants(kernel=True))


def test_bad_input_is_refused() -> None:
    mdp = random_mdp(6)
    with pytest.raises(InvalidInput, match="without an end the discount must be in .0, 1., got 1"):
        plan(mdp, Reward(np.ones(6)), discount=1.0)
    with pytest.raises(InvalidInput, match="has 5 weights, but FiniteMDP has 6 features"):
        plan(mdp, Reward(np.ones(5)))
    with pytest.raises(InvalidInput, match="a FiniteMDP or a Gridworld, got Vicsek"):
        plan(swarmdp.Vicsek(n_agents=2), Reward(np.ones(36)))
    with pytest.raises(InvalidInput, match=r"in \[0, 1\], got 1.5"):
        plan_to_horizon(mdp, Reward(np.ones(6)), steps=1, discount=1.5)
    with pytest.raises(SolverError, match="did not end within 1 rounds"):
        Planning(rounds=1)(mdp, Reward(np.arange(6.0)), discount=0.9, wants=Wants(softness=1.0))


def test_planned_and_learned_policies_agree() -> None:
    """Algorithm 2 on a finite MDP, many agents one by one, finds what planning finds."""
    rng = np.random.default_rng(7)
    mdp = FiniteMDP(rng.dirichlet(np.ones(5), size=(5, 3)), np.full(5, 0.2))
    reward = Reward(np.array([0.0, 0, 0, 0, 1]))
    learner = swarmdp.learning.HeterogeneousLearning(steps=300, swarms=300)
    for softness in (0.0, 0.3):
        planned = plan(mdp, reward, softness=softness)
        wants = Wants(softness=softness, kernel=True)
        learned = learner(mdp, reward, discount=0.9, seed=1, wants=wants)
        gap = np.abs(not_none(planned.q) - not_none(learned.q)).max()
        # about 4000 visits of each pair in memory: counts err by 1 %, values by 1 / (1 - 0.9) of it
        assert gap < 0.1 * np.abs(not_none(planned.q)).max()
        assert learned.kernel is not None
        np.testing.assert_allclose(learned.kernel[0], mdp.dense(), atol=0.05)
        if softness:
            assert isinstance(learned.policy, SoftPolicy)
            assert isinstance(planned.policy, SoftPolicy)
            np.testing.assert_allclose(
                learned.policy.probabilities, planned.policy.probabilities, atol=0.1
            )
        else:
            assert isinstance(learned.policy, Policy)
