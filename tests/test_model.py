import numpy as np
import pytest

import swarmdp
from swarmdp import InvalidInput, Policy, Reward


def test_a_policy_follows_its_table_run_by_run() -> None:
    ising = swarmdp.Ising((5, 5))
    policy = Policy(np.stack([np.zeros(25, int), np.ones(25, int)]))
    observations = np.random.default_rng(0).integers(25, size=(4, 25)).astype(np.uint8)
    actions = policy.act(ising, observations, np.array([0, 1, 2, 3]))
    np.testing.assert_array_equal(
        actions, np.array([False, True, False, True])[:, None] | False * actions
    )


def test_a_policy_gives_physical_actions() -> None:
    vicsek = swarmdp.Vicsek()
    nearest = np.abs(vicsek.features.values[:, None] - vicsek.actions).argmin(axis=1)
    observations = np.radians([[0.0, 4.0, -23.0, 58.0, 170.0, -170.0]])
    actions = Policy(nearest).act(vicsek, observations, np.array([0]))
    np.testing.assert_allclose(np.degrees(actions), [[0, 0, -20, 60, 60, -60]], atol=1e-9)


@pytest.mark.parametrize("table", [[], [[[0]]], [0.5, 1.0], "abc", [[]]])
def test_a_malformed_table_is_refused(table: object) -> None:
    with pytest.raises(InvalidInput, match="a policy's table must be integers"):
        Policy(table)  # type: ignore[arg-type]


def test_a_table_that_does_not_fit_the_system_is_refused() -> None:
    vicsek = swarmdp.Vicsek()
    with pytest.raises(InvalidInput, match="has 35 observations, but Vicsek has 36"):
        Policy(np.zeros(35, int)).check(vicsek)
    with pytest.raises(InvalidInput, match="from 0 to 12, got 0 to 13"):
        Policy([*[0] * 35, 13]).check(vicsek)
    with pytest.raises(InvalidInput, match="got -1 to 0"):
        Policy([*[0] * 35, -1]).check(vicsek)


def test_a_policy_cannot_be_changed() -> None:
    table = np.zeros(36, int)
    policy = Policy(table)
    table[0] = 5
    assert policy.table[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        policy.table[0, 0] = 1


def test_a_reward_is_linear_in_the_features() -> None:
    ising = swarmdp.Ising((3, 3))
    weights = np.random.default_rng(1).normal(size=(2, 25))
    observations = np.array([[0, 3, 24], [1, 1, 2]], np.uint8)
    found = Reward(weights).of(ising, observations, np.array([0, 3]))
    np.testing.assert_array_equal(found, [weights[0, [0, 3, 24]], weights[1, [1, 1, 2]]])


def test_a_reward_can_be_looked_at_as_a_table() -> None:
    table = Reward([[1.0, 2.0, 3.0]]).table()
    assert table.dims == ("experiment", "observation")
    np.testing.assert_array_equal(table["observation"], [0, 1, 2])


def test_bad_rewards_are_refused() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        Reward([1.0, np.nan])
    with pytest.raises(InvalidInput, match="has 3 weights, but Ising has 25 features"):
        Reward([1.0, 2.0, 3.0]).of(swarmdp.Ising((3, 3)), np.zeros((1, 9), np.uint8), np.array([0]))
