"""Policies from what a demo shows: by actions, or by changes of observation alone."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.irl.matching import (
    changes_of,
    interpolated_of_pairs,
    pairs_of_changes,
    soft_policy_of_pairs,
    table_of,
)
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.traits import null_action
from swarmdp.policies import InterpolatedPolicy, SoftPolicy

ISING = swarmdp.Ising(shape=(8, 8), reach=1)
VICSEK = swarmdp.Vicsek(n_agents=30)

# Three observations; the actions of each lead elsewhere by other chances.
LAW = np.array(
    [
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]],
        [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]],
        [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]],
    ]
)  # (o, a, o')


def changes_under(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often observations change where each was made ten thousand times."""
    return np.asarray(1e4 * np.einsum("oa,oap->op", chances, LAW))


@pytest.mark.parametrize("table", [[0, 1, 2], [2, 0, 1], [1, 1, 1]])
def test_a_table_is_recovered_from_changes_alone(table: list[int]) -> None:
    expert = np.eye(3)[table]
    begun: list[SoftPolicy] = []

    def kernel(policy: SoftPolicy, number: int) -> NDArray[np.float64]:
        assert number == len(begun)
        begun.append(policy)
        return LAW[None]

    start = np.full((3, 3), 1 / 3)
    pairs = pairs_of_changes(changes_under(expert), start, kernel, None)
    np.testing.assert_array_equal(pairs.argmax(axis=1), table)
    np.testing.assert_allclose(pairs.sum(axis=1), 1e4)
    assert ((pairs / 1e4 * expert).sum(axis=1) > 0.9).all()
    # The kernel is that of swarms that follow what was known before.
    np.testing.assert_allclose(begun[0].probabilities[0], start)
    assert (begun[1].probabilities[0].argmax(axis=1) == table).all()


def test_chances_are_recovered_as_well() -> None:
    chances = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.25, 0.25, 0.5]])
    pairs = pairs_of_changes(
        changes_under(chances), np.full((3, 3), 1 / 3), lambda policy, number: LAW[None], None
    )
    # Forty sweeps of expectation maximisation come near, not to the end.
    np.testing.assert_allclose(pairs / 1e4, chances, atol=0.1)


def test_observations_that_were_not_made_have_no_pairs() -> None:
    changes = changes_under(np.eye(3))
    changes[1] = 0
    pairs = pairs_of_changes(
        changes, np.full((3, 3), 1 / 3), lambda policy, number: LAW[None], None
    )
    assert not pairs[1].any()
    np.testing.assert_array_equal(pairs[[0, 2]].argmax(axis=1), [0, 2])


@pytest.mark.parametrize("system", [ISING, VICSEK], ids=lambda system: type(system).__name__)
def test_an_expert_is_recovered_from_observations_with_an_estimated_kernel(system: Any) -> None:
    demo = swarmdp.rollout(
        system, system.expert, steps=30, runs=5, seed=1, record=["observations", "actions"]
    )
    symmetry = Symmetry.of(system)
    changes = changes_of(system, demo)
    assert changes is not None

    def kernel(policy: SoftPolicy, number: int) -> NDArray[np.float64]:
        return local_kernel(system, policy, steps=30, seed=number, swarms=30)

    # From agents that do nothing. Spins look the same if all of them flip in every step: which of
    # the two is meant depends on where the search begins.
    nothing = swarmdp.Policy(np.full(system.features.size, null_action(system)))
    start = nothing.chances(len(system.actions))[0]
    pairs = pairs_of_changes(changes, start, kernel, symmetry)
    if symmetry is not None:
        np.testing.assert_allclose(pairs[symmetry.classes][:, symmetry.actions], pairs)
    learned = table_of(system, pairs, pairs.sum(axis=1) > 0, nothing)
    seen = demo["observations"][:, :-1].ravel()
    expert = demo["actions"].ravel()
    taken = np.asarray(system.actions)[
        learned.table[0][np.asarray(system.features.index(seen), np.int64)]
    ]
    if system is ISING:
        assert (taken == expert).mean() > 0.95
    else:  # to the same side, where the expert turns by more than half a class
        large = np.abs(expert) > np.radians(10)
        assert (np.sign(taken) == np.sign(expert))[large].mean() > 0.9


def test_changes_are_counted_by_run_and_agent() -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=4, runs=2, seed=3, record="observations")
    index = np.asarray(ISING.features.index(demo["observations"]), np.int64)
    expected = np.zeros((9, 9))
    for run in range(2):
        for time in range(4):
            for agent in range(ISING.n_agents):
                expected[index[run, time, agent], index[run, time + 1, agent]] += 1
    changes = changes_of(ISING, demo)
    assert changes is not None
    np.testing.assert_array_equal(changes, expected)
    still = swarmdp.rollout(ISING, ISING.expert, steps=0, seed=3, record="observations")
    assert changes_of(ISING, still) is None


def test_ties_go_to_the_null_action_and_unvisited_classes_to_another_policy() -> None:
    null = null_action(VICSEK)
    size, actions = VICSEK.features.size, len(VICSEK.actions)
    assert null not in (0, actions - 1)
    scores = np.zeros((size, actions))
    scores[1, [2, null]] = 5  # as high as doing nothing
    scores[2, [2, 3]] = 5  # doing nothing is worse: the first
    scores[3, -1] = 1
    visited = np.ones(size, np.bool_)
    visited[4] = False
    scores[4, 0] = 9
    other = swarmdp.Policy(np.full(size, actions - 2))
    policy = table_of(VICSEK, scores, visited, other)
    expected = np.full(size, null)
    expected[[2, 3, 4]] = 2, actions - 1, actions - 2
    np.testing.assert_array_equal(policy.table, expected[None])
    assert policy.interface is not None


def test_soft_policies_take_actions_as_often() -> None:
    pairs = np.zeros((9, 2))
    pairs[0], pairs[3] = [3, 1], [0, 5]
    policy = soft_policy_of_pairs(ISING, pairs, swarmdp.Policy([1] * 9))
    expected = np.tile([0.0, 1.0], (9, 1))
    expected[0] = [0.75, 0.25]
    np.testing.assert_allclose(policy.probabilities, expected[None])


def test_interpolated_policies_take_the_mean_action() -> None:
    actions = np.asarray(VICSEK.actions)
    size = VICSEK.features.size
    pairs = np.zeros((size, len(actions)))
    pairs[0, [0, 1]] = [3, 1]
    pairs[5, 4] = 2
    table = swarmdp.Policy(np.full(size, 1))
    policy = interpolated_of_pairs(VICSEK, pairs, table)
    assert isinstance(policy, InterpolatedPolicy)
    expected = np.full(size, actions[1])
    expected[0] = 0.75 * actions[0] + 0.25 * actions[1]
    expected[5] = actions[4]
    np.testing.assert_allclose(policy.values, expected[None])
    # Spins have nothing between flipping and not.
    assert interpolated_of_pairs(ISING, np.ones((9, 2)), swarmdp.Policy([0] * 9)) is None
