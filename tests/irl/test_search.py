"""Which reward is tried next, and which policy is the result."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl import search
from swarmdp.irl.updates import Evidence, Update
from swarmdp.learning import HeterogeneousLearning
from swarmdp.model.trajectory import Variable
from swarmdp.policies import Policy
from swarmdp.policies.replicas import table_of
from swarmdp.simulation.recorders import FeaturesOverTime
from tests.results import assert_same

VICSEK = swarmdp.Vicsek(n_agents=40)
GOING_ON = HeterogeneousLearning(steps=30, swarms=2, warm_steps=15)


def evidence_of(learned: Any, weights: Any, noise: Any) -> Evidence:
    """One experiment of two features; the expert is at (1, 0). Each policy has five roll-outs."""
    mu = np.array(learned, float)[:, None]
    deviation = np.random.default_rng(1).normal(size=(len(mu), 5, 1, 2))
    return Evidence(
        np.array([[1.0, 0.0]]),
        mu,
        np.array(weights, float)[:, None],
        0.9,
        2,
        2,
        1,
        runs=mu[:, None] + np.array(noise, float)[:, None, None, None] * deviation,
    )


def test_the_search_goes_back_to_the_best_reward() -> None:
    update = Update(np.array([[0.6, 0.8]]))
    once = evidence_of([[0, 0]], [[1, 0]], [0.1])
    np.testing.assert_array_equal(search.alternating(once, update), [[0.6, 0.8]])
    twice = evidence_of([[0.9, 0], [0, 0.3]], [[1, 0], [0, 1]], [0.1, 0.1])
    np.testing.assert_array_equal(search.alternating(twice, update), [[1, 0]])
    np.testing.assert_array_equal(search.newest(twice, update), [[0.6, 0.8]])


def test_a_policy_worth_less_than_a_known_one_gets_another_attempt() -> None:
    """The second policy collects nothing of its reward (0, 1), of which the first collects 0.5."""
    update = Update(np.array([[0.6, 0.8]]))
    learned, weights = [[0.9, 0.5], [0.0, 0.0]], [[1, 0], [0, 1]]
    surely = evidence_of(learned, weights, [0.01, 0.01])
    np.testing.assert_array_equal(search.below(surely.weights, surely.runs), [[False], [True]])
    np.testing.assert_array_equal(search.alternating(surely, update), [[0, 1]])
    perhaps = evidence_of(learned, weights, [0.6, 0.6])
    assert not search.below(perhaps.weights, perhaps.runs).any()
    often = evidence_of([[0.9, 0.5], *[[0.0, 0.0]] * 3], [[1, 0], *[[0, 1]] * 3], [0.01] * 4)
    np.testing.assert_array_equal(search.alternating(often, update), [[1, 0]])
    assert not search.below(surely.weights, None).any()
    lower = search.below(often.weights, often.runs)
    np.testing.assert_array_equal(lower[:, 0], [False, True, True, True])
    left = search.never_improved(often.weights, lower)
    np.testing.assert_array_equal(left[:, 0], [False, False, False, True])


def test_features_over_time_are_means_over_doubling_spans() -> None:
    recorded = swarmdp.rollout(
        VICSEK,
        VICSEK.expert,
        steps=11,
        runs=3,
        seed=2,
        record=["observations", FeaturesOverTime(11), swarmdp.simulation.DiscountedFeatures(0.9)],
    )
    index = VICSEK.features.index(recorded["observations"])
    shares = np.stack([(index == k).mean(axis=2) for k in range(36)], axis=2)
    spans = [(0, 1), (1, 2), (2, 4), (4, 8), (8, 12)]
    plain = np.concatenate([shares[:, a:b].mean(axis=1) for a, b in spans], axis=1)
    np.testing.assert_allclose(recorded["features_over_time"], plain, atol=1e-12)
    np.testing.assert_allclose(search.time_profile(VICSEK, recorded), plain, atol=1e-12)


def raced(ising: Any, tables: list[Any], demo: swarmdp.Trajectory) -> search.Choice:
    policies: list[Any] = [Policy(table[None]) for table in tables]
    return search.race(
        ising,
        policies,
        np.arange(len(tables), dtype=float)[:, None, None],
        np.arange(len(tables), dtype=float)[:, None],
        expert=np.zeros((1, 25)),
        profile=search.time_profile(ising, demo),
        discount=0.9,
        estimator="swarm",
        steps=demo.steps,
        runs=6,
        candidates=len(tables),
        seed=5,
        even=lambda rows: rows,
        threads=1,
    )


def test_the_race_sees_the_tie_and_the_mirror_image_of_the_ising_model() -> None:
    """Three tables that feature expectations hardly tell apart, in every order."""
    ising = swarmdp.Ising((40, 40), periodic=True)
    expert = ising.expert(np.arange(25, dtype=np.uint8)).astype(int)
    tie, mirror = expert.copy(), 1 - expert
    tie[12] = 1
    for seed in range(5):
        demo = swarmdp.rollout(ising, ising.expert, steps=60, seed=seed)
        for order in ([expert, tie, mirror], [mirror, tie, expert], [tie, mirror, expert]):
            choice = raced(ising, order, demo)
            np.testing.assert_array_equal(order[choice.iteration[0]], expert)


def test_of_policies_as_near_the_one_of_the_earliest_reward_is_chosen() -> None:
    """The nearest of a reward, a calm one against active ones, and never one that is farther."""
    rewards = np.array([4.0, 7.0, 4.0, 5.0, 7.0])[:, None, None]
    first = search._first_found(rewards)
    np.testing.assert_array_equal(first[:, 0], [0, 1, 0, 3, 1])
    active = np.full((5, 1), 0.5)
    for gaps, chosen in (
        ([1.08, 1.0, 1.05, 1.0, 1.0], 2),  # both of reward 4 are as near as the nearest
        ([1.2, 1.05, 1.2, 1.0, 1.02], 4),
        ([1.2, 1.2, 1.2, 1.0, 1.2], 3),
    ):
        assert search._chosen(np.array(gaps)[:, None], active, first) == chosen
    near = np.array([1.0, 1.0, 1.0, 1.05, 1.2])[:, None]
    calm = np.array([0.5, 0.5, 0.5, 0.2, 0.1])[:, None]
    assert search._chosen(near, calm, first) == 3


def test_policies_found_before_are_known_by_their_feature_expectations() -> None:
    first, second = np.array([0.3, 0.7]), np.array([0.5, 0.5])
    learned = np.stack([[first, first], [second, first], [first, second], [second, second]])
    np.testing.assert_array_equal(
        search.repeated(learned), [[False, False], [False, True], [True, False], [True, True]]
    )


def test_the_race_is_between_different_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve iterations with two different tables: both run, however often one was found."""
    ising = swarmdp.Ising((10, 10))
    demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    tables = [(np.arange(25) > limit).astype(int) for limit in (12, 11)]
    choices = iter([1, *[0] * 10, 1])  # the nearer one ten times

    def learner(system: Any, reward: Any, **_: Any) -> swarmdp.learning.Learned:
        return swarmdp.learning.Learned(Policy(tables[next(choices)][None]))

    raced: list[int] = []

    def race(
        system: Any, policies: list[Any], rewards: Any, distance: Any, **options: Any
    ) -> search.Choice:
        order = np.argsort(distance[:, 0], kind="stable")[: options["candidates"]]
        raced.extend(table_of(policies[i])[0, 12] for i in order)
        return original(system, policies, rewards, distance, **options)

    original = search.race
    monkeypatch.setattr(search, "race", race)
    swarmdp.fit(ising, demo, seed=2, learner=learner, iterations=12, judge=False)
    assert sorted(raced[:2]) == [0, 1]


def test_a_fit_that_goes_on_learning_is_the_same_in_parts_alone_and_in_a_batch(
    tmp_path: Path,
) -> None:
    demos = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=3, seed=1)
    options: dict[str, Any] = {"seed": 2, "learner": GOING_ON, "separate": True}
    whole = swarmdp.fit(VICSEK, demos, iterations=7, **options, judge=False)
    part = swarmdp.fit(VICSEK, demos, iterations=3, **options, judge=False)
    part.save(tmp_path)
    assert part.iterations[-1].memory
    again = swarmdp.fit(
        VICSEK, demos, iterations=7, resume=swarmdp.load(tmp_path), **options, judge=False
    )
    assert_same(whole, again)
    np.testing.assert_array_equal(whole.chosen, again.chosen)
    np.testing.assert_array_equal(table_of(whole.policy), table_of(again.policy))
    first = swarmdp.Trajectory(
        {name: Variable(v.values[:1], v.axes, v.units) for name, v in demos.variables.items()},
        demos.system_name,
        demos.settings,
        1,
        demos.steps,
    )
    alone = swarmdp.fit(VICSEK, first, iterations=7, **options, judge=False)
    np.testing.assert_array_equal(table_of(alone.policy), table_of(whole.policy)[:1])
    np.testing.assert_array_equal(alone.distance, whole.distance[:1])
    threaded = swarmdp.fit(VICSEK, demos, iterations=7, threads=2, **options, judge=False)
    assert_same(whole, threaded)


def test_the_distance_is_that_of_fresh_roll_outs() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, seed=1)
    result = swarmdp.fit(VICSEK, demo, seed=2, iterations=6, learner=GOING_ON, judge=False)
    assert result.choice is not None
    gap = np.linalg.norm(result.expert_mu - result.choice.mu, axis=1)
    np.testing.assert_array_equal(result.distance, gap)
    plain = swarmdp.fit(
        VICSEK, demo, seed=2, iterations=6, learner=GOING_ON, search="newest", judge=False
    )
    assert plain.choice is None
    np.testing.assert_array_equal(plain.distance, plain.history.distance.min(axis=0))


def test_values_are_compared_run_by_run() -> None:
    """Luck that all policies share does not hide which one is worth more."""
    rng = np.random.default_rng(2)
    shared = rng.normal(size=(5, 1, 2))
    noise = 0.01 * rng.normal(size=(3, 5, 1, 2))
    worth = np.array([1.0, 0.8, 0.999])  # the third is worth less by less than 1 % of the range
    runs = np.zeros((3, 5, 1, 2)) + worth[:, None, None, None] + noise + shared
    weights = np.array([[[1.0, 0.0]]] * 3)
    np.testing.assert_array_equal(search.below(weights, runs)[:, 0], [False, True, False])
    alone = np.stack([np.roll(part, i, axis=0) for i, part in enumerate(shared + 0 * noise)])
    mixed = worth[:, None, None, None] + noise + alone
    assert not search.below(weights, mixed).any()


def test_all_policies_of_a_search_are_evaluated_with_the_same_random_numbers() -> None:
    """The same table has the same feature expectations in every iteration."""
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, seed=1)
    straight = Policy(np.full((1, 36), 6))

    def always(*_: Any, **__: Any) -> swarmdp.learning.Learned:
        return swarmdp.learning.Learned(straight)

    options: Any = {"seed": 2, "iterations": 3, "learner": always, "judge": False}
    mu = swarmdp.fit(VICSEK, demo, **options, mirror=False).history.mu
    np.testing.assert_array_equal(mu[1:], mu[:-1])
    others = swarmdp.fit(VICSEK, demo, **options, mirror=False, search="newest").history.mu
    assert (others[1:] != others[:-1]).any()
