"""Other learners take over where the policy of Algorithm 2 does not do what the demo did."""

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery import development
from swarmdp.fitting import FitSettings, takeover
from swarmdp.fitting.takeover import Candidate, affordable, best_of, joined, select
from swarmdp.irl.result import Attempt
from swarmdp.learning import HeterogeneousLearning, PolicySearch
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Parametric, ParametricPolicy, Policy, SoftPolicy
from swarmdp.support.errors import InvalidInput
from tests.results import assert_same

FIREFLIES = next(case for case in development.cases() if case.name == "fireflies")
QUICK = HeterogeneousLearning(steps=20, swarms=1)
VICSEK = swarmdp.Vicsek(n_agents=30, radius=0.2)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        yield


@pytest.fixture(scope="module")
def demo() -> swarmdp.Trajectory:
    return FIREFLIES.demo(1)


def fit(demo: Any, **more: Any) -> swarmdp.Result:
    options: dict[str, Any] = {"seed": 2, "iterations": 2, "progress": False, "threads": 1, **more}
    result: swarmdp.Result = swarmdp.fit(FIREFLIES.system, demo, **options)
    return result


@pytest.fixture(scope="module")
def default(demo: swarmdp.Trajectory) -> swarmdp.Result:
    return fit(demo)


def alarm(result: swarmdp.Result) -> bool:
    assert result.verdict is not None
    return result.verdict.alarm


def assert_same_end(one: swarmdp.Result, other: swarmdp.Result) -> None:
    """The same bits also after Algorithm 1."""
    assert_same(one, other)
    assert one.learners == other.learners
    assert one.attempts == other.attempts
    assert repr(one.verdicts) == repr(other.verdicts)
    arrays, others = one.policy.to_arrays(), other.policy.to_arrays()
    assert type(one.policy) is type(other.policy)
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name])
    np.testing.assert_array_equal(one.distance, other.distance)
    assert repr(one.equilibrium_gap) == repr(other.equilibrium_gap)
    if one.equilibrium_gap is not None and other.equilibrium_gap is not None:
        for field in dataclasses.fields(one.equilibrium_gap):
            np.testing.assert_array_equal(
                getattr(one.equilibrium_gap, field.name), getattr(other.equilibrium_gap, field.name)
            )


def test_fireflies_are_learned_though_algorithm_2_fails(
    demo: swarmdp.Trajectory, default: swarmdp.Result
) -> None:
    alone = fit(demo, policy_search=False)
    assert alone.learners == ("Algorithm 2",)
    assert alone.takeover is None
    assert alarm(alone)
    assert not FIREFLIES.is_right(alone.policy, seed=5)
    assert default.learners == ("clone of explained actions",)
    assert not alarm(default)
    assert FIREFLIES.is_right(default.policy, seed=5)
    # What Algorithm 1 found is the same.
    assert_same(default, alone)
    np.testing.assert_array_equal(default.reward.weights, alone.reward.weights)


def test_the_result_says_what_was_tried(default: swarmdp.Result) -> None:
    first, *others = default.attempts
    assert (first.experiment, first.learner, first.passed) == (0, "Algorithm 2", False)
    assert others
    assert others[-1].learner == default.learners[0]
    assert others[-1].passed
    assert others[-1].gap < 0.2 * first.gap
    assert all(attempt.rollouts > 0 for attempt in default.attempts)
    assert default.takeover is not None
    assert "policy found by    clone of explained actions" in repr(default)
    assert "one agent alone    would gain" in repr(default)
    # The clone's feature expectations are nearer to the demo's than those of Algorithm 2.
    away = np.linalg.norm(default.takeover.mu - default.expert_mu)
    assert default.distance[0] == pytest.approx(away)
    assert away < default.history.distance[default.chosen[0], 0]


def test_actions_can_be_ignored(demo: swarmdp.Trajectory) -> None:
    result = fit(demo, actions="ignore")
    assert result.learners[0] in ("clone of changes", "policy search")
    assert not any("actions" in attempt.learner for attempt in result.attempts)
    assert not alarm(result)
    assert FIREFLIES.is_right(result.policy, seed=5)
    assert result.settings["use_actions"] is False


def test_recorded_actions_are_used(demo: swarmdp.Trajectory) -> None:
    system: Any = FIREFLIES.system
    recorded = swarmdp.rollout(
        system, system.expert, steps=100, runs=3, seed=1, record=["states", "actions"]
    )
    result = fit(recorded)
    assert result.learners == ("clone of recorded actions",)
    assert not alarm(result)


def test_a_demo_of_observations_will_do() -> None:
    system: Any = FIREFLIES.system
    observed = swarmdp.rollout(
        system, system.expert, steps=100, runs=3, seed=1, record="observations"
    )
    result = fit(observed)
    assert result.learners[0] in ("clone of changes", "policy search")
    assert FIREFLIES.is_right(result.policy, seed=5)


def test_policy_search_takes_over_where_there_is_no_clone(
    demo: swarmdp.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeover, "changes_of", lambda system, demo: None)
    search = PolicySearch(candidates=16, budget=1000, restarts=1)
    options: dict[str, Any] = {"actions": "ignore", "policy_search": search}
    result = fit(demo, **options)
    assert result.learners == ("policy search",)
    spent = [a.rollouts for a in result.attempts if a.learner == "policy search"]
    assert 1 <= len(spent) <= 8
    # The search counts once, and judging every finalist.
    judging = result.attempts[0].rollouts
    assert judging < spent[0] <= search.budget + judging
    assert spent[1:] == [judging] * (len(spent) - 1)
    assert min(a.gap for a in result.attempts[1:]) < 0.3 * result.attempts[0].gap
    assert result.settings["policy_search"]["budget"] == 1000
    assert_same_end(result, fit(demo, **{**options, "threads": 2}))


@pytest.mark.parametrize(
    "options",
    [{"policy_search": False}, {"preset": "paper"}, {"learner": QUICK}],
    ids=["no search", "paper", "learner"],
)
def test_where_it_is_not_wanted_nobody_takes_over(
    demo: swarmdp.Trajectory, options: dict[str, Any]
) -> None:
    result = fit(demo, **options)
    assert result.takeover is None
    assert result.learners == ("Algorithm 2",)
    assert [attempt.learner for attempt in result.attempts] == ["Algorithm 2"]
    assert result.settings["policy_search"] is None
    assert "policy found by" not in repr(result)


def test_a_given_learner_may_be_helped_all_the_same(demo: swarmdp.Trajectory) -> None:
    result = fit(demo, learner=QUICK, policy_search=True)
    assert result.learners == ("clone of explained actions",)


def test_without_a_verdict_nobody_takes_over(demo: swarmdp.Trajectory) -> None:
    result = fit(demo, judge=False)
    assert (result.takeover, result.attempts, result.equilibrium_gap) == (None, (), None)


def test_experiments_are_taken_over_one_by_one(demo: swarmdp.Trajectory) -> None:
    result = fit(demo, separate=True)
    assert result.experiments == len(result.learners) == len(result.verdicts) == 3
    assert result.policy.replicas == 3
    assert {attempt.experiment for attempt in result.attempts} == {0, 1, 2}
    gap = result.equilibrium_gap
    assert gap is not None
    assert gap.gain.shape == gap.error.shape == gap.share.shape == (3,)
    assert sum(learner != "Algorithm 2" for learner in result.learners) >= 2
    assert FIREFLIES.is_right(result.policy, seed=5)
    assert " x clone of explained actions" in repr(result)


def test_threads_do_not_change_the_bits(demo: swarmdp.Trajectory, default: swarmdp.Result) -> None:
    assert_same_end(default, fit(demo, threads=2))


def test_a_result_is_the_same_from_its_file(default: swarmdp.Result, tmp_path: Path) -> None:
    default.save(tmp_path)
    read = swarmdp.load(tmp_path)
    assert read.takeover is not None
    assert_same_end(read, default)
    interfaces = [result.policy.interface for result in (read, default)]
    one, other = (None if i is None else i.to_json() for i in interfaces)
    assert one == other is not None
    assert repr(read) == repr(default)
    assert all(isinstance(attempt, Attempt) for attempt in read.attempts)


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("attempts", '[{"experiment": 0}]'),
        ("attempts", '["policy search"]'),
        ("takeover", '["table"]'),
        ("takeover", '["table", "a", "b"]'),
        ("takeover", '["nonsense", "a"]'),
    ],
)
def test_damaged_results_are_refused(default: swarmdp.Result, attribute: str, text: str) -> None:
    dataset = default.to_xarray()
    dataset.attrs[attribute] = text
    with pytest.raises(InvalidInput, match="its attempts|incomplete|kind"):
        swarmdp.Result.from_xarray(dataset)


def test_files_of_before_have_neither_attempts_nor_takeover(default: swarmdp.Result) -> None:
    dataset = default.to_xarray()
    for name in ("attempts", "takeover"):
        del dataset.attrs[name]
    dataset = dataset.drop_vars(
        [n for n in dataset if str(n).startswith(("takeover_", "deviation_"))]
    )
    read = swarmdp.Result.from_xarray(dataset)
    assert (read.takeover, read.attempts, read.equilibrium_gap) == (None, (), None)
    assert read.learners == ("Algorithm 2",)


def proportional(seen: NDArray[Any], parameters: NDArray[np.float64]) -> NDArray[Any]:
    return np.asarray(parameters[0] * seen)


GAINS = PolicySearch(
    family=Parametric(proportional, {"gain": (0.0, 1.0)}), candidates=8, budget=200, restarts=1
)


def lazy(system: Any, reward: swarmdp.Reward, **more: Any) -> swarmdp.learning.Learned:
    table = np.full((reward.replicas, system.features.size), len(system.actions) // 2)
    return swarmdp.learning.Learned(Policy(table))


@pytest.fixture(scope="module")
def flock() -> swarmdp.Trajectory:
    return swarmdp.rollout(
        VICSEK, lambda seen: 0.5 * seen, steps=50, runs=2, seed=1, progress=False
    )


def without_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takeover, "changes_of", lambda system, demo: None)


def test_a_user_s_controllers_may_take_over(
    flock: swarmdp.Trajectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_clones(monkeypatch)
    options: dict[str, Any] = {"seed": 2, "iterations": 1, "learner": lazy, "actions": "ignore"}
    result = swarmdp.fit(VICSEK, flock, policy_search=GAINS, progress=False, **options)
    assert result.learners == ("policy search",)
    assert isinstance(result.policy, ParametricPolicy)
    assert result.policy.parameters[0, 0] == pytest.approx(0.5, abs=0.2)
    result.save(tmp_path)
    read = swarmdp.load(tmp_path).policy
    assert isinstance(read, ParametricPolicy)
    np.testing.assert_array_equal(read.parameters, result.policy.parameters)
    again = read.with_function(proportional)
    one, other = (
        swarmdp.rollout(VICSEK, p, steps=3, seed=1, progress=False) for p in (result.policy, again)
    )
    np.testing.assert_array_equal(one["heading"], other["heading"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy_search": True, "judge": False}, "judge=False asks for none"),
        ({"policy_search": PolicySearch(), "judge": False}, "judge=False asks for none"),
        ({"policy_search": True, "preset": "paper"}, "the paper does not search policies"),
        ({"policy_search": GAINS, "separate": True}, "have policies of one kind"),
        ({"policy_search": "yes"}, "policy_search"),
        ({"policy_search": 1}, "policy_search"),
        ({"actions": "infer"}, "actions"),
        ({"actions": True}, "actions"),
    ],
)
def test_settings_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        FitSettings(**options)
    assert "\n" not in str(refused.value)


def test_who_takes_over_follows_from_the_settings() -> None:
    given = PolicySearch(budget=500)
    assert FitSettings().takes_over == PolicySearch()
    assert FitSettings(policy_search=given).takes_over is given
    assert FitSettings(policy_search=True, learner=QUICK).takes_over == PolicySearch()
    for options in ({"policy_search": False}, {"preset": "paper"}, {"learner": QUICK}):
        assert FitSettings(**options).takes_over is None


def candidate(gap: float, alarmed: bool, name: str = "one") -> Candidate:
    verdict = Verdict("words", not alarmed, alarmed, 0.02, (), None, 0, 1.0, None, (), (), 40, True)
    return Candidate(name, Policy([0]), gap, 10, lambda: verdict)


def test_of_the_nearest_one_that_passes_is_taken() -> None:
    near, passing = candidate(1.0, True), candidate(1.2, False)
    assert select([near, passing]) is passing
    assert select([near, candidate(1.3, False)]) is near  # too far away
    assert select([near, candidate(0.9, True), passing]).gap == 0.9
    assert select([passing, candidate(1.0, False)]).gap == 1.0


def test_others_are_tried_until_one_passes() -> None:
    first, bad, good = candidate(5.0, True), candidate(1.0, True), candidate(1.1, False)
    best, tried = best_of(first, iter([bad, good, candidate(0.1, False)]))
    assert best is good
    assert tried == [first, bad, good]
    # One that passes but is far from the nearest does not end it.
    far = candidate(4.0, False)
    best, tried = best_of(first, iter([bad, far, good]))
    assert best is good
    assert len(tried) == 4
    best, _ = best_of(first, iter([bad]))
    assert best is bad


def test_a_first_policy_that_passes_is_only_replaced_by_one_clearly_nearer() -> None:
    first = candidate(1.0, False)
    assert best_of(first, iter([candidate(0.9, False)]))[0] is first
    assert best_of(first, iter([candidate(0.2, True)]))[0] is first
    assert best_of(first, iter([candidate(0.6, False)]))[0].gap == 0.6
    # Whether it passes is only asked where it matters.
    far, near = candidate(1.1, False), candidate(0.9, False)
    best, tried = best_of(first, iter([far, near, candidate(0.1, False)]))
    assert best is first
    assert tried == [first, far, near]
    assert [one.passed for one in tried] == [True, None, None]


def test_long_roll_outs_have_a_smaller_budget_or_none() -> None:
    search = PolicySearch()
    assert affordable(search, 1000) == search
    shorter = affordable(search, 50_000)
    assert shorter is not None
    assert shorter.budget == 2000
    assert affordable(search, 10**6) is None
    little = PolicySearch(candidates=8, budget=100)
    assert affordable(little, 10**6) == little


@pytest.mark.parametrize("candidates", [8, 9, 16, 64])
@pytest.mark.parametrize("rollouts", [1, 2, 5])
def test_the_smallest_budget_is_one_that_a_search_takes(candidates: int, rollouts: int) -> None:
    search = PolicySearch(candidates=candidates, rollouts=rollouts, budget=10**6)
    least = 8 * candidates * rollouts
    reduced = affordable(search, 10**8 // least)
    assert reduced is not None
    assert reduced.budget == least
    assert affordable(search, 10**8 // least + 10**5) is None


def test_tables_and_soft_policies_together_become_soft() -> None:
    table = Policy([0, 1, 1])
    soft = SoftPolicy([[[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]]])
    both = joined([table, soft], 2)
    assert isinstance(both, SoftPolicy)
    np.testing.assert_allclose(both.probabilities[0], np.eye(2)[[0, 1, 1]])
    np.testing.assert_allclose(both.probabilities[1], soft.probabilities[0])
    assert isinstance(joined([table, table], 2), Policy)
