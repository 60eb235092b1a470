import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp import FiniteMDP, Reward
from swarmdp.learning.local_model import LocalModel
from swarmdp.learning.q_functions import BatchQ, Problem, QUpdate, SequentialQ
from swarmdp.policies.learner import NOTHING_MORE, Wants

Ints = NDArray[np.int64]


def problem(
    reward: NDArray[np.float64],
    actions: int,
    discount: float,
    wants: Wants = NOTHING_MORE,
    transitions: int | None = None,
) -> Problem:
    """Rewards (R, observations) in a world of which a Q-function asks no more than its size."""
    observations = reward.shape[1]
    world = FiniteMDP(np.full((observations, actions, observations), 1 / observations), 0)
    return Problem(world, Reward(reward), discount, wants, transitions)


def collected(reward: NDArray[np.float64], before: NDArray[np.integer]) -> NDArray[np.float64]:
    """What agents (runs, agents) are given: run r by reward r % R."""
    rows = np.arange(len(before)) % len(reward)
    given: NDArray[np.float64] = reward[rows[:, None], before]
    return given


def experience(
    rng: np.random.Generator, runs: int, agents: int, observations: int, actions: int
) -> tuple[Ints, Ints, Ints]:
    before, after = rng.integers(observations, size=(2, runs, agents))
    return before, rng.integers(actions, size=(runs, agents)), after


def test_sequential_update_worked_by_hand() -> None:
    """Two observations, two actions, R = (1, 2), gamma 1/2, alpha 1/2, three agents in turn.

    Agent 1: (o 0, a 0, o' 1): Q(0,0) = 0/2 + (1 + 0/2)/2 = 1/2
    Agent 2: (o 1, a 1, o' 0): Q(1,1) = 0/2 + (2 + max(1/2, 0)/2)/2 = 9/8
    Agent 3: (o 0, a 0, o' 1): Q(0,0) = 1/4 + (1 + max(0, 9/8)/2)/2 = 1/4 + 25/32 = 33/32
    """
    q = SequentialQ().start(problem(np.array([[1.0, 2.0]]), 2, 0.5))
    before, rewards = np.array([[0, 1, 0]]), np.array([[1.0, 2.0, 1.0]])
    q.learn(before, np.array([[0, 1, 0]]), rewards, np.array([[1, 0, 1]]), 0.5)
    np.testing.assert_array_equal(q.values, [[[33 / 32, 0], [0, 9 / 8]]])


def test_batch_update_worked_by_hand() -> None:
    """The same three agents at once: all see Q = 0, and the two of (0, 0) count as one."""
    q = BatchQ().start(problem(np.array([[1.0, 2.0]]), 2, 0.5))
    before, rewards = np.array([[0, 1, 0]]), np.array([[1.0, 2.0, 1.0]])
    q.learn(before, np.array([[0, 1, 0]]), rewards, np.array([[1, 0, 1]]), 0.5)
    np.testing.assert_array_equal(q.values, [[[1 / 2, 0], [0, 1]]])
    q.learn(np.array([[0, 0]]), np.array([[0, 0]]), np.ones((1, 2)), np.array([[0, 1]]), 0.5)
    # targets 1 + (1/2)/2 and 1 + 1/2, mean 11/8
    np.testing.assert_allclose(q.values[0, 0, 0], 1 / 4 + 11 / 16)


def test_sequential_update_is_the_paper_s_loop() -> None:
    rng = np.random.default_rng(0)
    replicas, observations, actions, discount = 3, 7, 4, 0.9
    reward = rng.normal(size=(replicas, observations))
    q = SequentialQ().start(problem(reward, actions, discount))
    expected = np.zeros((replicas, observations, actions))
    for step in range(20):
        rate = 0.99 * (1 - step / 20) ** 2
        before, action, after = experience(rng, 2 * replicas, 30, observations, actions)
        q.learn(before, action, collected(reward, before), after, rate)
        for r in range(2 * replicas):
            j = r % replicas
            for o, a, next_o in zip(before[r], action[r], after[r], strict=True):
                target = reward[j, o] + discount * expected[j, next_o].max()
                expected[j, o, a] = (1 - rate) * expected[j, o, a] + rate * target
    np.testing.assert_array_equal(q.values, expected)


def test_batch_update_is_the_mean_of_the_targets() -> None:
    rng = np.random.default_rng(1)
    reward = rng.normal(size=(2, 6))
    q = BatchQ().start(problem(reward, 3, 0.8))
    expected = np.zeros((2, 6, 3))
    for rate in (0.9, 0.5, 0.1):
        before, action, after = experience(rng, 4, 25, 6, 3)
        q.learn(before, action, collected(reward, before), after, rate)
        old = expected.copy()
        for j in range(2):
            for o in range(6):
                for a in range(3):
                    rows = [r for r in range(4) if r % 2 == j]
                    hit = (before[rows] == o) & (action[rows] == a)
                    if hit.any():
                        best = old[j].max(axis=1)[after[rows][hit]]
                        target = reward[j, o] + 0.8 * best.mean()
                        expected[j, o, a] = (1 - rate) * old[j, o, a] + rate * target
    np.testing.assert_allclose(q.values, expected, atol=1e-14)


@pytest.mark.parametrize("update", [SequentialQ(), BatchQ(), LocalModel()])
def test_replicas_do_not_touch_each_other(update: QUpdate) -> None:
    rng = np.random.default_rng(3)
    reward = rng.normal(size=(3, 5))
    both = update.start(problem(reward, 2, 0.9))
    alone = update.start(problem(reward[1:2], 2, 0.9))
    for _ in range(5):
        before, action, after = experience(rng, 6, 40, 5, 2)
        rewards = collected(reward, before)
        both.learn(before, action, rewards, after, 0.5)
        one = [1, 4]
        alone.learn(before[one], action[one], rewards[one], after[one], 0.5)
    np.testing.assert_array_equal(both.values[1], alone.values[0])
