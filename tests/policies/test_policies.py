from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Policy
from swarmdp.policies import (
    FunctionPolicy,
    InterpolatedPolicy,
    LocalPolicy,
    MixedPolicy,
    SoftPolicy,
    TablePolicy,
)
from swarmdp.policies.replicas import (
    as_policy,
    choose_replicas,
    join_replicas,
    policy_from,
    select_replicas,
    table_of,
)
from swarmdp.support.errors import InvalidInput


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

    ising = swarmdp.Ising((5, 5))
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


VICSEK = swarmdp.Vicsek(n_agents=20)
EVERY = {
    "table": Policy(np.arange(72).reshape(2, 36) % 13),
    "soft": SoftPolicy(np.random.default_rng(1).dirichlet(np.ones(13), size=(2, 36))),
    "interpolated": InterpolatedPolicy(np.random.default_rng(2).uniform(-1, 1, size=(2, 36))),
}


def rolled(policy: Any, runs: int = 2) -> Any:
    trajectory = swarmdp.rollout(VICSEK, policy, steps=8, runs=runs, seed=4, record="actions")
    return trajectory["actions"]


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_of_policy_keeps_the_protocol(kind: str) -> None:
    policy: LocalPolicy = EVERY[kind]  # type: ignore[assignment]
    assert isinstance(policy, LocalPolicy)
    assert policy.kind == kind
    assert policy.replicas == 2
    again = policy_from(kind, policy.to_arrays())
    np.testing.assert_array_equal(rolled(policy), rolled(again))


@pytest.mark.parametrize("kind", EVERY)
def test_replicas_are_taken_apart_and_put_together(kind: str) -> None:
    """What a run does depends on its replica and its random numbers alone."""
    policy: LocalPolicy = EVERY[kind]  # type: ignore[assignment]
    first, second = select_replicas(policy, np.array([0])), select_replicas(policy, slice(1, 2))
    both = join_replicas([first, second])
    np.testing.assert_array_equal(rolled(both), rolled(policy))
    swapped = choose_replicas([policy, select_replicas(policy, np.array([1, 0]))], np.array([1, 1]))
    np.testing.assert_array_equal(rolled(swapped), rolled(join_replicas([second, first])))
    mixture = MixedPolicy((policy, policy), [[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_array_equal(rolled(mixture), rolled(policy))


def test_a_function_is_a_policy_that_cannot_be_saved() -> None:
    policy = as_policy(VICSEK.expert)
    assert isinstance(policy, FunctionPolicy)
    np.testing.assert_array_equal(rolled(policy), rolled(VICSEK.expert))
    with pytest.raises(InvalidInput, match="cannot be saved"):
        policy.to_arrays()
    for wrong in (3, "expert", Policy):
        with pytest.raises(InvalidInput, match="the policy must be"):
            as_policy(wrong)  # type: ignore[arg-type]


def test_only_tables_have_a_table() -> None:
    assert isinstance(EVERY["table"], TablePolicy)
    np.testing.assert_array_equal(table_of(EVERY["soft"]), EVERY["soft"].table)  # type: ignore[arg-type,attr-defined]
    with pytest.raises(InvalidInput, match="kind 'interpolated'"):
        table_of(EVERY["interpolated"])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="kind must be one of"):
        policy_from("neural", {})


def test_a_mixture_is_rolled_out_not_asked() -> None:
    mixture = MixedPolicy((EVERY["table"],), [[1.0], [1.0]])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="does not act itself"):
        mixture.act(VICSEK, np.zeros((2, 20)), np.arange(2), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "kind", ["Policy", "SoftPolicy", "InterpolatedPolicy", "LinearPolicy"], ids=str
)
@pytest.mark.parametrize("arrays", [1, None, "table", {}, {"lead": 1}, []], ids=str)
def test_arrays_of_another_kind_are_refused_in_words(kind: str, arrays: Any) -> None:
    policy = swarmdp.Policy if kind == "Policy" else getattr(swarmdp.policies, kind)
    with pytest.raises(InvalidInput, match="arrays"):
        policy.from_arrays(arrays)


@pytest.mark.parametrize("value", [1, "x", np.array(["a"]), np.array([None])], ids=str)
def test_each_array_of_a_linear_policy_must_be_numbers(value: Any) -> None:
    names = ("lead", "factor", "periodic", "orders", "centre", "scale")
    with pytest.raises(InvalidInput, match="must be an array of numbers"):
        swarmdp.policies.LinearPolicy.from_arrays(dict.fromkeys(names, value))
