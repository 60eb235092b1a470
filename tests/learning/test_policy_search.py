"""Policy search finds the policy whose swarm is worth most, or nearest to a demo."""

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.fitting import nearest_policy
from swarmdp.fitting.nearest import nearness_to
from swarmdp.irl.expectations import simulated_expectations
from swarmdp.irl.frames import observations_over
from swarmdp.irl.updates import Evidence, MaxMargin, Update
from swarmdp.learning import HeterogeneousLearning, LinearQ, PolicySearch
from swarmdp.learning.families import Tables
from swarmdp.learning.policy_search import Value
from swarmdp.model.adapted import with_features
from swarmdp.model.symmetry import Symmetry
from swarmdp.policies import (
    InterpolatedPolicy,
    LinearPolicy,
    LocalPolicy,
    Parametric,
    ParametricPolicy,
    Policy,
    SoftPolicy,
)
from swarmdp.policies.learner import Wants
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput

ISING = swarmdp.Ising(shape=(6, 6), reach=1)
VICSEK = swarmdp.Vicsek(n_agents=30)
SMALL = PolicySearch(candidates=16, budget=600, restarts=1)
WAVES = swarmdp.features.Basis(
    lambda angle: np.stack([np.cos(angle), np.sin(angle)], axis=-1),
    ("cos", "sin"),
    (swarmdp.features.Axis("misalignment", units="rad", periodic=True),),
    scalar=True,
)


def proportional(seen: NDArray[Any], parameters: NDArray[np.float64]) -> NDArray[Any]:
    return np.asarray(parameters[0] * seen)


GAIN = Parametric(proportional, {"gain": (0.0, 1.0)})


def demo(system: Any, policy: Any = None, steps: int = 20, runs: int = 3, **more: Any) -> Any:
    return swarmdp.rollout(
        system, policy or system.expert, steps=steps, runs=runs, seed=1, progress=False, **more
    )


def search(given: PolicySearch, system: Any, weights: Any, **more: Any) -> swarmdp.learning.Learned:
    options: dict[str, Any] = {"discount": 0.9, "seed": 1, "threads": 1, **more}
    return given(system, swarmdp.Reward(weights), **options)


def nearest(system: Any, trajectory: Any, given: PolicySearch, **more: Any) -> Any:
    options: dict[str, Any] = {"seed": 2, "progress": False, "threads": 1, **more}
    return nearest_policy(system, trajectory, search=given, **options)


@pytest.mark.parametrize(
    "weights",
    [
        [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 1.0],
    ],
)
def test_the_best_of_all_tables_is_found(weights: list[float]) -> None:
    """All 512 tables of a grid are rolled out with the same random numbers."""
    tables = np.array(list(itertools.product(range(2), repeat=9)))
    runs = 40
    value = Value(ISING, np.array(weights), 0.9, 30)
    rows = value.rows(Policy(tables), np.repeat(np.arange(runs), 512), 7, 1)
    worth = rows.reshape(runs, 512, 9) @ weights  # (runs, tables)
    learned = search(PolicySearch(candidates=32, budget=3000), ISING, weights)
    (place,) = np.flatnonzero((tables == table_of(learned.policy)[0]).all(axis=1))
    best = int(worth.mean(axis=0).argmax())
    behind = worth[:, best] - worth[:, place]
    # The best of many estimates is too high by chance, so three errors are allowed, not two.
    assert behind.mean() <= 3 * behind.std(ddof=1) / np.sqrt(runs)
    assert (worth.mean(axis=0) > worth[:, place].mean()).mean() < 0.03


def test_a_search_gives_what_all_agents_get_together() -> None:
    """Its value in fresh runs is higher than that of the random tables of the first generation."""
    weights = np.arange(9.0, 0, -1)
    learned = search(SMALL, ISING, weights)
    mu = simulated_expectations(
        ISING,
        learned.policy,
        discount=0.9,
        estimator="swarm",
        steps=60,
        runs=20,
        seed=9,
        threads=1,
    )
    assert learned.tried is not None
    tried = learned.tried[:, 0] @ weights
    assert mu[0] @ weights > tried[:16].mean() + 2 * tried[:16].std()
    assert learned.tried.shape[1:] == (1, 9)
    # Every candidate, once in each generation.
    assert len(learned.tried) > 3 * 16 // 2
    np.testing.assert_allclose(learned.tried.sum(axis=2), (1 - 0.9**67) / 0.1, rtol=1e-2)


def test_replicas_are_searched_one_by_one_and_the_same_alone() -> None:
    weights = np.random.default_rng(1).normal(size=(2, 9))
    both = search(SMALL, ISING, weights)
    first = search(SMALL, ISING, weights[:1])
    assert both.policy.replicas == 2
    np.testing.assert_array_equal(table_of(both.policy)[:1], table_of(first.policy))
    assert both.tried is not None
    assert first.tried is not None
    count = len(both.tried)
    np.testing.assert_array_equal(both.tried[:, 0], first.tried[:count, 0])
    assert (both.tried[:, 1] != both.tried[:, 0]).any()


def test_with_a_mirror_policies_are_odd() -> None:
    symmetry = Symmetry.of(VICSEK)
    assert symmetry is not None
    weights = np.cos(np.asarray(VICSEK.features.axes[0].values))
    table = table_of(search(SMALL, VICSEK, weights, wants=Wants(mirror=True)).policy)[0]
    np.testing.assert_array_equal(table[symmetry.classes], symmetry.actions[table])
    without = table_of(search(SMALL, VICSEK, weights).policy)[0]
    assert (without[symmetry.classes] != symmetry.actions[without]).any()


def test_evidence_of_all_candidates_reaches_the_reward_update() -> None:
    told: list[NDArray[np.float64] | None] = []

    def update(evidence: Evidence) -> Update:
        told.append(evidence.tried)
        return MaxMargin()(evidence)

    given = demo(ISING, steps=60, runs=2)
    options: dict[str, Any] = {"seed": 1, "iterations": 2, "separate": True, "judge": False}
    result = swarmdp.fit(ISING, given, learner=SMALL, update=update, progress=False, **options)
    assert result.learners == ("PolicySearch",) * 2
    assert told
    for tried in told:
        assert tried is not None
        assert tried.shape[1:] == (2, 9)
        assert len(tried) > 16
    told.clear()
    swarmdp.fit(
        ISING,
        given,
        learner=HeterogeneousLearning(steps=10, swarms=1),
        update=update,
        progress=False,
        **options,
    )
    assert told
    assert all(tried is None for tried in told)


def test_a_fit_with_a_search_inside_learns_the_expert() -> None:
    given = demo(ISING, steps=60, runs=20)
    result = swarmdp.fit(
        ISING, given, learner=SMALL, seed=1, iterations=5, judge=False, progress=False
    )
    error = np.linalg.norm(result.expert_mu_error)
    assert result.distance[0] < 2 * error


@pytest.mark.parametrize("gain", [0.3, 0.6])
def test_the_gain_of_a_controller_is_recovered_from_a_demo(gain: float) -> None:
    given = demo(VICSEK, GAIN.policy([gain]), steps=40, runs=5)
    controllers = PolicySearch(family=GAIN, candidates=16, budget=1500, restarts=1)
    outcome = nearest(VICSEK, given, controllers)
    assert isinstance(outcome.policy, ParametricPolicy)
    assert outcome.policy.function is proportional
    # The finalists scatter by as much as the demo leaves open.
    assert isinstance(outcome.finalists, ParametricPolicy)
    spread = outcome.finalists.parameters.std()
    assert spread < 0.1
    assert outcome.policy.parameters[0, 0] == pytest.approx(gain, abs=0.03 + 3 * spread)
    assert outcome.loss <= nearness_loss(given, GAIN.policy([gain])) + 0.02


def nearness_loss(given: Any, policy: LocalPolicy) -> float:
    objective = nearness_to(VICSEK, given, 0.9, None)
    rows = objective.rows(policy, np.arange(40), 5, 1)
    return float(objective.loss(rows.mean(axis=0)[None])[0])


@pytest.mark.parametrize("system", [ISING, VICSEK], ids=lambda system: type(system).__name__)
def test_the_swarm_nearest_to_a_demo_is_much_nearer_than_others(system: Any) -> None:
    given = demo(system, steps=30, record="observations")
    outcome = nearest(system, given, PolicySearch(candidates=32, budget=2000, restarts=1))
    assert outcome.loss < 0.2 * np.median(outcome.losses[:32])  # of random tables
    assert outcome.finalists.replicas == 8
    np.testing.assert_array_equal(table_of(outcome.finalists)[:1], table_of(outcome.policy))


def test_interpolated_policies_are_searched_from_one() -> None:
    given = demo(VICSEK, GAIN.policy([0.6]), steps=30)
    still = InterpolatedPolicy(np.zeros(VICSEK.features.size))
    outcome = nearest(VICSEK, given, PolicySearch(start=still, candidates=16, budget=800))
    assert isinstance(outcome.policy, InterpolatedPolicy)
    assert outcome.loss < 0.5 * nearness_loss(given, still)
    symmetry = Symmetry.of(VICSEK)
    assert symmetry is not None
    values = outcome.policy.values[0]
    np.testing.assert_allclose(values[symmetry.classes], -values)


def test_linear_policies_are_searched_from_one() -> None:
    smooth = with_features(VICSEK, WAVES)
    learner = HeterogeneousLearning(LinearQ(features=7), steps=10, swarms=1)
    start = learner(smooth, swarmdp.Reward([0.0, 0.0]), discount=0.9, seed=1, threads=1).policy
    learned = search(PolicySearch(start=start, candidates=8, budget=200), smooth, [1.0, 0.0])
    assert isinstance(learned.policy, LinearPolicy)
    assert learned.tried is not None
    assert learned.tried[:, 0, 0].max() > learned.tried[:8, 0, 0].mean()
    given = demo(smooth, VICSEK.expert, steps=10, record="observations")
    outcome = nearest(
        smooth, given, PolicySearch(start=start, candidates=8, budget=200, restarts=1)
    )
    assert isinstance(outcome.policy, LinearPolicy)
    assert np.isfinite(outcome.losses).all()


def test_a_start_that_is_best_is_kept() -> None:
    """A search of one generation cannot find a better table than the expert's by chance."""
    given = demo(ISING, steps=30, runs=5)
    expert = Policy([0, 0, 0, 0, 0, 1, 1, 1, 1])
    one = PolicySearch(candidates=16, rollouts=4, budget=200, restarts=1, start=expert)
    outcome = nearest(ISING, given, one)
    assert outcome.generations == 1
    np.testing.assert_array_equal(table_of(outcome.policy), expert.table)


def test_a_soft_start_is_taken_by_its_likeliest_actions() -> None:
    given = demo(ISING, steps=30, runs=5)
    chances = np.where((np.arange(9) > 4)[:, None], [0.2, 0.8], [0.9, 0.1])
    soft = PolicySearch(
        candidates=16, rollouts=4, budget=200, restarts=1, start=SoftPolicy(chances)
    )
    outcome = nearest(ISING, given, soft)
    np.testing.assert_array_equal(table_of(outcome.policy)[0], np.arange(9) > 4)


def test_the_same_seed_gives_the_same_bits_for_any_threads() -> None:
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    given = demo(VICSEK)
    controllers = PolicySearch(family=GAIN, candidates=16, budget=600, restarts=2)
    for chosen in (SMALL, controllers):
        one, two = (nearest(VICSEK, given, chosen, threads=threads) for threads in (1, 2))
        other = nearest(VICSEK, given, chosen, seed=3)
        for name, array in one.finalists.to_arrays().items():
            np.testing.assert_array_equal(array, two.finalists.to_arrays()[name])
        np.testing.assert_array_equal(one.tried, two.tried)
        np.testing.assert_array_equal(one.losses, two.losses)
        assert (one.loss, one.rollouts) == (two.loss, two.rollouts)
        assert one.loss != other.loss
    weights = np.arange(9.0)
    learned = [search(SMALL, ISING, weights, threads=threads) for threads in (1, 2)]
    np.testing.assert_array_equal(table_of(learned[0].policy), table_of(learned[1].policy))
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


def test_observations_kept_at_once_do_not_change_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    given = demo(ISING)
    whole = nearest(ISING, given, SMALL)
    monkeypatch.setattr("swarmdp.learning.policy_search._BYTES", 8 * 21 * 36 * 5)
    parts = nearest(ISING, given, SMALL)
    np.testing.assert_array_equal(whole.tried, parts.tried)
    assert whole.loss == parts.loss


@pytest.mark.parametrize("budget", [64, 100, 184, 300, 1000])
@pytest.mark.parametrize("restarts", [1, 4])
def test_the_budget_is_not_exceeded(budget: int, restarts: int) -> None:
    given = demo(ISING)
    told: list[tuple[int, int]] = []
    limited = PolicySearch(candidates=16, budget=budget, restarts=restarts, patience=2)
    outcome = nearest(
        ISING, given, limited, progress=lambda done, total, text: told.append((done, total))
    )
    assert outcome.rollouts <= budget
    assert outcome.generations >= 1
    assert told
    assert all(done <= total == budget for done, total in told)


def test_a_start_ends_when_nothing_improves_and_others_follow() -> None:
    """A single class of observations has one table for each action: nothing improves for long."""
    counts = []
    for patience, restarts in ((1, 1), (1, 3), (6, 1)):
        given = PolicySearch(
            family=Parametric(lambda seen, p: 0 * seen + 0 * p[0], [(0, 1)]),
            candidates=8,
            budget=8000,
            patience=patience,
            restarts=restarts,
        )
        counts.append(nearest(VICSEK, demo(VICSEK, steps=3), given).generations)
    once, thrice, patient = counts
    assert once >= 2
    assert once < thrice <= 30
    assert patient >= 7


def test_a_loss_that_is_enough_ends_the_search() -> None:
    objective = nearness_to(ISING, demo(ISING), 0.9, None)
    family = Tables(ISING, None)
    outcome = SMALL.minimise(objective, family, start=None, seed=1, threads=1, enough=1e9)
    assert outcome.generations == 1


def test_random_numbers_are_common_to_all_candidates() -> None:
    """Two candidates that do the same have exactly the same loss."""
    same = Parametric(lambda seen, p: 0.5 * seen + 0 * p[0], [(0, 1)])
    outcome = nearest(
        VICSEK,
        demo(VICSEK),
        PolicySearch(family=same, candidates=8, budget=80, restarts=1, patience=1),
    )
    assert len(outcome.losses) == 8
    assert len(np.unique(outcome.losses)) == 2  # rolled out once, or again


def test_the_discount_decides_how_long_roll_outs_are() -> None:
    weights = np.ones(9)
    short = search(PolicySearch(candidates=8, budget=60), ISING, weights, discount=0.5)
    assert short.tried is not None
    np.testing.assert_allclose(short.tried.sum(axis=2), 2, rtol=2e-3)
    given = search(PolicySearch(candidates=8, budget=60, steps=1), ISING, weights, discount=0.5)
    assert given.tried is not None
    np.testing.assert_allclose(given.tried.sum(axis=2), 1.5)


def returning(what: Any) -> Parametric:
    return Parametric(lambda seen, p: what(seen), [(0.0, 1.0)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda seen: np.full(seen.shape, np.nan), "returned NaN or infinity"),
        (lambda seen: seen[:, :2], "must return numbers of shape"),
        (lambda seen: seen[..., None], "must return numbers of shape"),
        (lambda seen: None, "must be an array of numbers, got None"),
        (lambda seen: "left", "must be an array of numbers"),
    ],
)
def test_a_user_s_function_is_refused_at_its_first_call(function: Any, message: str) -> None:
    calls = []

    def counted(seen: NDArray[Any]) -> Any:
        calls.append(1)
        return function(seen)

    wrong = PolicySearch(family=returning(counted))
    with pytest.raises(InvalidInput, match=message) as refused:
        nearest(VICSEK, demo(VICSEK), wrong)
    assert "\n" not in str(refused.value)
    assert len(calls) == 1
    with pytest.raises(InvalidInput, match=message):
        search(wrong, VICSEK, np.ones(VICSEK.features.size))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be an integer of at least 1"),
        ({"budget": -1}, "budget"),
        ({"budget": 100}, "a budget of 100 roll-outs is less than one generation of 64"),
        ({"budget": 231}, "the last comparison take: 232"),
        ({"candidates": 7}, "candidates must be at least 8"),
        ({"candidates": 0}, "candidates must be an integer of at least 1"),
        ({"rollouts": 0}, "rollouts must be an integer of at least 1"),
        ({"restarts": 0}, "restarts must be an integer of at least 1"),
        ({"patience": 0}, "patience must be an integer of at least 1"),
        ({"steps": 0}, "steps must be an integer of at least 1"),
        ({"start": Policy(np.zeros((2, 9), np.int64))}, "start must be a policy of one replica"),
        ({"start": "expert"}, "start must be a policy of one replica"),
        ({"start": Policy}, "start must be a policy of one replica"),
        ({"family": proportional}, "family"),
        ({"candidates": 16.5}, "candidates"),
    ],
)
def test_settings_are_checked_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        PolicySearch(**options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("table", [[0, 1, 0], [0] * 12, [2] * 9])
def test_a_start_of_another_system_is_refused(table: list[int]) -> None:
    started = PolicySearch(start=Policy(table))
    with pytest.raises(InvalidInput, match="table|action"):
        nearest(ISING, demo(ISING), started)
    with pytest.raises(InvalidInput, match="table|action"):
        search(started, ISING, np.ones(9))


def test_a_start_of_another_family_is_refused() -> None:
    with pytest.raises(InvalidInput, match="needs its bounds"):
        nearest(VICSEK, demo(VICSEK), PolicySearch(start=GAIN.policy([0.5])))
    two = PolicySearch(family=GAIN, start=ParametricPolicy([0.5, 0.5], proportional))
    with pytest.raises(InvalidInput, match="controllers with 1 parameters must start from one of"):
        nearest(VICSEK, demo(VICSEK), two)


@pytest.mark.parametrize("wants", [Wants(softness=1.0), Wants(kernel=True)])
def test_softness_and_kernels_are_refused(wants: Wants) -> None:
    with pytest.raises(InvalidInput, match="neither Boltzmann's policies nor local kernels"):
        search(SMALL, ISING, np.ones(9), wants=wants)


def test_a_fit_by_soft_policies_is_refused() -> None:
    given = demo(ISING, steps=60)
    with pytest.raises(InvalidInput, match="neither Boltzmann's policies nor local kernels"):
        swarmdp.fit(ISING, given, seed=1, learner=SMALL, update="maxent", progress=False)


def test_rewards_and_discounts_must_fit() -> None:
    with pytest.raises(InvalidInput, match="the reward has 3 weights, but the system has 9"):
        search(SMALL, ISING, np.ones(3))
    with pytest.raises(InvalidInput, match="discount"):
        search(SMALL, ISING, np.ones(9), discount=1.5)


def test_demos_that_are_too_short_are_refused() -> None:
    longer = PolicySearch(steps=50)
    with pytest.raises(InvalidInput, match="the demo has 20 steps, but roll-outs of 50 steps"):
        nearest(ISING, demo(ISING), longer)
    with pytest.raises(InvalidInput, match="a demo of 0 steps shows no behaviour"):
        nearest(ISING, demo(ISING, steps=0), SMALL)
    shorter = PolicySearch(candidates=16, budget=200, steps=5)
    assert nearest(ISING, demo(ISING), shorter).loss >= 0


def test_a_mirror_that_is_asked_for_must_be_there() -> None:
    with pytest.raises(InvalidInput, match="mirror=True, but Ising declares no mirror"):
        nearest(ISING, demo(ISING), SMALL, mirror=True)
    table = table_of(nearest(VICSEK, demo(VICSEK), SMALL, mirror=True).policy)[0]
    symmetry = Symmetry.of(VICSEK)
    assert symmetry is not None
    np.testing.assert_array_equal(table[symmetry.classes], symmetry.actions[table])


def test_demos_of_another_system_are_refused() -> None:
    with pytest.raises(InvalidInput, match="recorded from Ising, not from Vicsek"):
        nearest(VICSEK, demo(ISING), SMALL)


def test_candidates_start_where_the_demo_started() -> None:
    given = demo(ISING, Policy([0] * 9))
    objective = nearness_to(ISING, given, 0.9, None)
    rows = objective.rows(Policy([0] * 9), np.arange(30), 5, 1)
    shown = {row.tobytes() for row in objective.signature.rows(seen_in(given)).round(9)}
    assert {row.tobytes() for row in rows.round(9)} == shown


def seen_in(given: Any) -> NDArray[Any]:
    return np.stack(list(observations_over(ISING, given)), axis=1)
