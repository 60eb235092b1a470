from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import InvalidInput, MixedPolicy, Policy, Reward, SoftPolicy


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


def test_soft_policies_draw_as_they_say() -> None:
    """Two replicas; every observation's actions in a chi-square test."""
    from scipy import stats

    ising = swarmdp.Ising((10, 10))
    probabilities = np.random.default_rng(0).dirichlet((1, 1), size=(2, 25))
    probabilities[0, 12] = [1, 0]
    run = swarmdp.rollout(
        ising,
        SoftPolicy(probabilities),
        steps=30,
        runs=20,
        seed=1,
        record=["observations", "actions"],
    )
    for j in range(2):
        seen, taken = run["observations"][j::2, :-1], run["actions"][j::2]
        for o in range(25):
            flips = taken[seen == o]
            if flips.size < 50:
                continue
            if j == 0 and o == 12:
                assert not flips.any()
                continue
            counts = np.array([(~flips).sum(), flips.sum()])
            assert stats.chisquare(counts, probabilities[j, o] * flips.size).pvalue > 1e-4


def test_soft_roll_outs_do_not_depend_on_batch_and_threads() -> None:
    for system in (swarmdp.Vicsek(n_agents=30), swarmdp.Ising((6, 7))):
        shape = (3, system.features.size, len(system.actions))
        rng = np.random.default_rng(1)
        soft = SoftPolicy(rng.dirichlet(np.ones(shape[2]), size=shape[:2]))
        mixed = MixedPolicy((soft, SoftPolicy(soft.probabilities[::-1])), np.full((3, 2), 0.5))
        for policy in (soft, mixed):
            what: dict[str, Any] = {"steps": 5, "seed": 3, "record": "actions"}
            whole = swarmdp.rollout(system, policy, runs=12, threads=1, **what)["actions"]
            again = swarmdp.rollout(system, policy, runs=12, threads=2, **what)["actions"]
            fewer = swarmdp.rollout(system, policy, runs=6, **what)["actions"]
            np.testing.assert_array_equal(whole, again)
            np.testing.assert_array_equal(whole[:6], fewer)


def test_every_run_of_a_mixture_follows_one_of_its_policies() -> None:
    from scipy import stats

    ising = swarmdp.Ising((4, 4))
    keep, flip = Policy(np.zeros((2, 25), int)), Policy(np.ones((2, 25), int))
    mixed = MixedPolicy((keep, flip), np.array([[0.3, 0.7], [1.0, 0.0]]))
    flips = swarmdp.rollout(ising, mixed, steps=6, runs=4000, seed=5, record="actions")["actions"]
    share = flips.mean(axis=(1, 2))
    assert set(share) == {0.0, 1.0}
    assert not share[1::2].any()
    assert stats.binomtest(int(share[::2].sum()), 2000, 0.7).pvalue > 1e-3


def test_soft_policies_that_are_none_are_refused() -> None:
    vicsek = swarmdp.Vicsek()
    for wrong, message in (
        (np.full((4, 2), 0.4), "sum to 1 for each observation, got"),
        ([[1.5, -0.5]], "must not be negative"),
        ([0.5, 0.5], r"shape \(observations, actions\)"),
        ([[np.nan, 1.0]], "must not be negative and sum to 1"),
    ):
        with pytest.raises(InvalidInput, match=message):
            SoftPolicy(wrong)
    uniform = SoftPolicy(np.full((25, 2), 0.5))
    with pytest.raises(InvalidInput, match=r"= \(25, 2\), but Vicsek has \(36, 13\)"):
        swarmdp.rollout(vicsek, uniform, steps=1, seed=1)
    for policies, weights, message in (
        ((uniform, Policy(np.zeros(25, int))), [[0.5, 0.5]], "policies of one kind"),
        ((uniform,), [[0.5, 0.5]], "weights of the shape"),
        ((uniform, uniform), [[0.5, 0.4]], "must sum to 1"),
        ((uniform, uniform), [[1.5, -0.5]], "must not be negative"),
    ):
        with pytest.raises(InvalidInput, match=message):
            MixedPolicy(policies, np.array(weights))
