"""Fits by the reward updates that learn from the expert's actions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Result
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates import Bayesian, PolicyMatching
from swarmdp.learning import HeterogeneousLearning
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from tests.results import assert_same, not_none

VICSEK = swarmdp.Vicsek(n_agents=40)
ISING = swarmdp.Ising((12, 12))
SHORT = HeterogeneousLearning(steps=20, swarms=2)
UPDATES: list[Any] = [PolicyMatching(), Bayesian(draws=100, warm_up=50)]
COARSE = pytest.mark.filterwarnings("ignore:the chains of:swarmdp.support.errors.SwarmdpWarning")


def demo(system: Any, runs: int = 3, record: Any = "states") -> swarmdp.Trajectory:
    return swarmdp.rollout(system, system.expert, steps=50, runs=runs, seed=1, record=record)


def fit(system: Any, update: Any, **change: Any) -> Result:
    settings: dict[str, Any] = {
        "seed": 2,
        "separate": True,
        "iterations": 3,
        "learner": SHORT,
        "update": update,
    }
    given = change.pop("demo", None) or demo(system)
    result: Result = swarmdp.fit(system, given, **{**settings, **change}, judge=False)
    return result


@COARSE
@pytest.mark.parametrize("update", UPDATES, ids=lambda u: type(u).__name__)
@pytest.mark.parametrize("system", [VICSEK, ISING], ids=lambda s: type(s).__name__)
def test_the_answer_is_the_reward_of_all_iterations(update: Any, system: Any) -> None:
    result = fit(system, update)
    weights = result.history.weights
    assert weights.shape == (3, 3, system.features.size)
    assert (weights == weights[0]).all()
    assert result.settings["actions"] == "inferred"
    assert result.settings["first_reward"] == "own"
    tables = [table_of(policy).tobytes() for policy in result.history.policies]
    assert len(set(tables)) > 1  # attempts differ
    if isinstance(update, Bayesian):
        assert result.reward_error is not None
        assert (result.reward_error > 0).all()
        assert result.diagnostics["r_hat"].shape == weights.shape
    else:
        assert result.reward_error is None
        assert set(result.diagnostics) == {"loss", "converged"}


@COARSE
@pytest.mark.parametrize("update", UPDATES, ids=lambda u: type(u).__name__)
def test_resumed_saved_and_batched_fits_are_the_same_bits(update: Any, tmp_path: Path) -> None:
    whole = fit(VICSEK, update)
    begun = fit(VICSEK, update, iterations=1)
    begun.save(tmp_path)
    resumed = fit(VICSEK, update, resume=swarmdp.load(tmp_path))
    alone = fit(VICSEK, update, demo=demo(VICSEK, runs=1))
    assert_same(whole, resumed)
    assert_same(whole, alone, slice(0, 1))
    if whole.reward_error is not None:
        assert resumed.reward_error is not None
        np.testing.assert_array_equal(resumed.reward_error, whole.reward_error)
    for name, expected in whole.diagnostics.items():
        np.testing.assert_array_equal(resumed.diagnostics[name], expected)


def test_a_first_reward_may_be_given_all_the_same() -> None:
    result = fit(VICSEK, PolicyMatching(), first_reward="random")
    weights = result.history.weights
    assert result.settings["first_reward"] == "random"
    assert not (weights[0] == weights[1]).any()
    assert (weights[1] == weights[2]).all()


def grid_demo(grid: swarmdp.Gridworld, runs: int = 100) -> swarmdp.Trajectory:
    expert = swarmdp.learning.plan(grid, grid.reward, discount=0.9).policy
    return swarmdp.rollout(grid, expert, steps=100, runs=runs, seed=1, record=["states", "actions"])


def test_after_a_first_reward_of_another_kind_the_answer_is_planned_for_exactly_once(
    tmp_path: Path,
) -> None:
    grid = swarmdp.Gridworld()
    given = grid_demo(grid)
    answer = swarmdp.fit(grid, given, seed=2, update="policy_matching", judge=False)
    assert len(answer.iterations) == 1
    result = swarmdp.fit(
        grid, given, seed=2, update="policy_matching", first_reward="random", judge=False
    )
    np.testing.assert_array_equal(result.history.weights[1], answer.reward.weights)
    np.testing.assert_array_equal(table_of(result.policy), table_of(answer.policy))
    assert len(result.iterations) == 2
    begun = swarmdp.fit(
        grid,
        given,
        seed=2,
        update="policy_matching",
        first_reward="random",
        iterations=1,
        judge=False,
    )
    begun.save(tmp_path)
    for earlier in (swarmdp.load(tmp_path), result):
        resumed = swarmdp.fit(
            grid,
            given,
            seed=2,
            update="policy_matching",
            first_reward="random",
            resume=earlier,
            judge=False,
        )
        np.testing.assert_array_equal(resumed.history.weights, result.history.weights)


def test_recorded_actions_are_used_and_pooled() -> None:
    recorded = demo(VICSEK, record=["observations", "actions"])
    result = fit(VICSEK, "policy_matching", demo=recorded, separate=False)
    assert result.settings["actions"] == "recorded"
    assert result.settings["update"] == "policy_matching"
    assert result.experiments == 1
    single = fit(VICSEK, "policy_matching", demo=recorded, separate=False, estimator="single")
    assert not (single.reward.weights == result.reward.weights).all()


def test_a_demo_without_actions_is_refused_before_any_work() -> None:
    silent = demo(VICSEK, record="observations")
    with pytest.raises(InvalidInput, match="needs the expert's actions, but the demo has none"):
        fit(VICSEK, "bayesian", demo=silent)
    assert "actions" not in fit(VICSEK, "max_margin", demo=silent).settings


def test_chains_that_have_not_mixed_are_told() -> None:
    with pytest.warns(SwarmdpWarning, match="have not mixed"):
        fit(VICSEK, Bayesian(draws=4, warm_up=0), iterations=1)


@pytest.mark.parametrize("update", ["policy_matching", "bayesian"])
def test_vicsek_s_alignment_is_learned(update: str) -> None:
    """One expert trajectory, one policy update, the paper's parameters."""
    system = swarmdp.Vicsek()
    given = swarmdp.rollout(system, system.expert, steps=100, runs=2, seed=1)
    result = swarmdp.fit(
        system, given, seed=2, separate=True, iterations=2, update=update, judge=False
    )
    order = swarmdp.rollout(system, result.policy, steps=100, runs=20, seed=3, record=system.order)[
        "order"
    ]
    assert order[:, -1].mean() > 0.95  # the expert: 0.977
    weights = result.reward.weights
    values = np.degrees(system.features.axes[0].values)
    inner, outer = np.abs(values) < 15, np.abs(values) > 60
    assert (weights[:, inner].mean(axis=1) > weights[:, outer].mean(axis=1)).all()


@pytest.mark.parametrize("update", ["policy_matching", "bayesian"])
def test_the_majority_vote_is_learned(update: str) -> None:
    system = swarmdp.Ising((60, 60))
    given = swarmdp.rollout(system, system.expert, steps=60, runs=3, seed=1)
    result = swarmdp.fit(
        system, given, seed=2, separate=True, iterations=4, update=update, judge=False
    )
    levels = np.arange(25)
    clear = not_none(result.seen) & (np.abs(levels - 12) > 1)  # nearly a tie at 12 and 13
    expert = np.broadcast_to(levels > 12, clear.shape)
    np.testing.assert_array_equal((table_of(result.policy) == 1)[clear], expert[clear])


@pytest.mark.parametrize("update", ["policy_matching", "bayesian"])
def test_gridworlds_are_solved_from_actions(update: str) -> None:
    """Ng and Russell's grid: the learned policy collects what the expert's does."""
    grid = swarmdp.Gridworld()
    expert = swarmdp.learning.plan(grid, grid.reward, discount=0.9).policy
    given = swarmdp.rollout(grid, expert, steps=100, runs=100, seed=1, record=["states", "actions"])
    result = swarmdp.fit(grid, given, seed=2, update=update, iterations=1, judge=False)
    assert result.settings["actions"] == "recorded"
    assert result.reward.weights[0].argmax() == 24  # the goal
    best, actual = (
        exact_expectations(grid, policy, discount=0.9, steps=None) @ grid.reward.weights[0]
        for policy in (expert, result.policy)
    )
    assert actual[0] > 0.99 * best[0]


def test_states_of_a_gridworld_do_not_show_its_actions() -> None:
    grid = swarmdp.Gridworld()
    expert = swarmdp.learning.plan(grid, grid.reward, discount=0.9).policy
    given = swarmdp.rollout(grid, expert, steps=100, seed=1)
    with pytest.raises(InvalidInput, match="Gridworld cannot infer them from states. Record them"):
        swarmdp.fit(grid, given, seed=2, update="bayesian", judge=False)
