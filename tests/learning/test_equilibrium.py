"""What one agent gains by deviating, against the exact theory of small swarms."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import theory
from swarmdp.learning.equilibrium import equilibrium_gap

RING = theory.FiniteIsing((6,), reach=1, noise=0.1)
DISCOUNT = 0.8


def exact_gain(table: list[int], reward: NDArray[np.float64]) -> float:
    """The largest gain of agent 0 among all tables, by enumeration of joint states."""
    swarm = theory.enumerate_swarm(RING)
    follows = swarm.laws_under(np.eye(2)[table])
    seen = swarm.observations[:, 0]

    def value(other: tuple[int, ...]) -> float:
        laws = follows.copy()
        laws[:, 0] = swarm.laws_under(np.eye(2)[list(other)])[:, 0]
        matrix = np.eye(swarm.n_states) - DISCOUNT * swarm.transitions(laws).toarray()
        return float(swarm.initial @ np.linalg.solve(matrix, reward[seen]))

    values = {other: value(other) for other in product(range(2), repeat=3)}
    return max(values.values()) - values[tuple(table)]


@pytest.mark.parametrize("table", [[0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 0, 1]])
@pytest.mark.parametrize("reward", [[1.0, 0.5, 0.0], [0.0, 1.0, 0.3]])
def test_the_gain_is_that_of_the_best_response(table: list[int], reward: list[float]) -> None:
    weights = np.array(reward)
    gap = equilibrium_gap(
        RING,
        swarmdp.Policy(table),
        swarmdp.Reward(weights),
        discount=DISCOUNT,
        seed=3,
        runs=3000,
    )
    exact = exact_gain(table, weights)
    # The sum is cut where a hundredth of its weight is left; the response may miss a near tie.
    assert gap.gain[0] == pytest.approx(exact, abs=4 * gap.error[0] + 0.03)
    assert gap.share[0] == pytest.approx(gap.gain[0] / 5)


def test_an_equilibrium_has_no_gain_and_others_have() -> None:
    weights = np.array([1.0, 0.5, 0.0])
    gains = {table: exact_gain(list(table), weights) for table in product(range(2), repeat=3)}
    best, worst = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
    gap = equilibrium_gap(
        RING,
        swarmdp.Policy([best, worst]),
        swarmdp.Reward([weights, weights]),
        discount=DISCOUNT,
        seed=5,
        runs=1000,
    )
    assert gains[best] < 0.01
    assert abs(gap.gain[0]) < 4 * gap.error[0] + 0.01
    assert gap.gain[1] > 4 * gap.error[1]
    assert "±" in repr(gap)


def test_same_seed_same_gain_in_every_batch() -> None:
    reward = swarmdp.Reward([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3]])
    policy = swarmdp.Policy([[0, 0, 1], [1, 1, 0]])
    both = equilibrium_gap(RING, policy, reward, discount=DISCOUNT, seed=1, runs=20)
    first = equilibrium_gap(
        RING,
        swarmdp.Policy([[0, 0, 1]]),
        swarmdp.Reward([[1.0, 0.5, 0.0]]),
        discount=DISCOUNT,
        seed=1,
        runs=20,
    )
    assert both.gain[0] == first.gain[0]
