import itertools
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Reward
from swarmdp.learning import BatchQ, HeterogeneousLearning, LocalModel, SequentialQ
from swarmdp.learning.heterogeneous import Snapshot, paper_learning
from swarmdp.learning.q_functions import Problem
from swarmdp.learning.schedules import decayed
from swarmdp.learning.tables import greedy
from swarmdp.model.streams import Purpose, Streams
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput
from tests.results import not_none

VICSEK = swarmdp.Vicsek(n_agents=50)
ALIGN = Reward(np.cos(VICSEK.features.axes[0].values))


def snapshots(learning: HeterogeneousLearning, runs: int = 2) -> list[Snapshot]:
    streams = Streams.of(1, np.arange(runs), VICSEK.n_agents)
    problem = Problem(VICSEK, ALIGN, 0.9)
    return list(learning.iterate(learning.q_update.start(problem), problem, streams))


def test_decays_fall_from_one_to_zero() -> None:
    for decay in ("quadratic", "late"):
        assert decayed(decay, 0, 200) == 1
        assert decayed(decay, 200, 200) == 0
    assert decayed("quadratic", 100, 200) == 0.25
    assert decayed("late", 100, 200) == 0.75
    with pytest.raises(InvalidInput, match="decay must be"):
        decayed("linear", 0, 1)  # type: ignore[arg-type]


def test_the_scheme_can_be_watched() -> None:
    learning = HeterogeneousLearning(steps=20)
    seen = snapshots(learning)
    assert [s.iteration for s in seen] == list(range(20))
    np.testing.assert_allclose([s.temperature for s in seen], 0.5 * (1 - np.arange(20) / 20) ** 2)
    np.testing.assert_allclose(
        [s.learning_rate for s in seen], 0.99 * (1 - np.arange(20) / 20) ** 2
    )
    for s in seen:
        assert s.state["heading"].shape == (2, 50)
        assert s.exploring.shape == s.actions.shape == s.observations.shape == (2, 50)
        assert s.q.shape == (1, 36, 13)
        assert s.table is not None
        assert s.seen is not None
        assert s.table.shape == s.seen.shape == (1, 36)
        # rewards are collected for the observations on which the agents acted
        np.testing.assert_array_equal(s.rewards, ALIGN.weights[0, s.observations])


def test_greedy_agents_follow_the_policy_of_the_iteration_before() -> None:
    seen = snapshots(HeterogeneousLearning(steps=30))
    for before, now in itertools.pairwise(seen):
        expected = not_none(before.table)[0, now.observations]
        followed = now.actions == expected
        assert followed[~now.exploring].all()
    exploring = seen[1].exploring
    assert not (seen[1].actions == not_none(seen[0].table)[0, seen[1].observations])[
        exploring
    ].all()


def test_exploring_actions_are_uniform() -> None:
    from scipy import stats

    learning = HeterogeneousLearning(steps=400, temperature=1.0, decay="late")
    taken = np.concatenate([s.actions[s.exploring] for s in snapshots(learning)])
    assert stats.chisquare(np.bincount(taken, minlength=13)).pvalue > 1e-3


def test_a_redrawn_set_changes_and_a_fixed_set_shrinks() -> None:
    redrawn = snapshots(HeterogeneousLearning(steps=20))
    assert (redrawn[1].exploring & ~redrawn[0].exploring).any()
    fixed = snapshots(HeterogeneousLearning(steps=20, exploration="fixed"))
    for before, after in itertools.pairwise(fixed):
        assert not (after.exploring & ~before.exploring).any()
    # exactly the share that the temperature says: half of 50 agents at the start
    assert (fixed[0].exploring.sum(axis=1) == 25).all()
    for s in fixed:
        assert (np.abs(s.exploring.sum(axis=1) - 50 * s.temperature) <= 0.5 + 1e-9).all()


@pytest.mark.parametrize("q_update", [SequentialQ(), BatchQ(), LocalModel()])
def test_alignment_is_learned_from_a_reward_for_it(q_update: Any) -> None:
    system = swarmdp.Vicsek()
    learning = HeterogeneousLearning(q_update, steps=300)
    learned = learning(system, Reward(np.cos(system.features.axes[0].values)), discount=0.9, seed=1)
    order = swarmdp.rollout(
        system, learned.policy, steps=100, runs=50, seed=2, record=system.order
    )["order"]
    assert order[:, -1].mean() > 0.9


def test_batches_and_threads_do_not_change_the_bits() -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(5, 36))
    learning = HeterogeneousLearning(steps=15, swarms=2)
    whole = learning(VICSEK, Reward(weights), discount=0.9, seed=4, threads=1)
    threaded = learning(VICSEK, Reward(weights), discount=0.9, seed=4, threads=2)
    first = learning(VICSEK, Reward(weights[:2]), discount=0.9, seed=4)
    for name in ("q", "seen"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(threaded, name))
        np.testing.assert_array_equal(getattr(whole, name)[:2], getattr(first, name))
    np.testing.assert_array_equal(table_of(whole.policy), table_of(threaded.policy))


def test_observations_never_visited_do_nothing() -> None:
    lonely = swarmdp.Vicsek(n_agents=1)
    learned = HeterogeneousLearning(steps=10, swarms=1)(
        lonely, Reward(np.cos(lonely.features.axes[0].values)), discount=0.9, seed=1
    )
    np.testing.assert_array_equal(not_none(learned.seen)[0], np.arange(36) == 18)
    still = int(np.flatnonzero(lonely.actions == 0)[0])
    np.testing.assert_array_equal(table_of(learned.policy)[0][~not_none(learned.seen)[0]], still)


def test_ties_go_to_the_null_action() -> None:
    q = np.array([[[1.0, 1.0, 0.5], [2.0, 1.0, 2.0], [0.0, 0.1, 0.0], [0.0, 1.0, 1.0 + 1e-13]]])
    np.testing.assert_array_equal(greedy(q, null=2), [[0, 2, 1, 2]])


def test_the_expert_of_the_ising_model_is_found_and_not_its_mirror() -> None:
    """Ten independent swarms, one reward that likes low energies: none of them blinks."""
    ising = swarmdp.Ising((60, 60), periodic=False)
    reward = Reward(np.tile(-np.arange(25.0), (10, 1)))
    learned = HeterogeneousLearning()(ising, reward, discount=0.9, seed=3)
    clear = np.abs(np.arange(25) - 12) > 2
    assert not_none(learned.seen).all()
    assert set(ising.solutions(table_of(learned.policy), not_none(learned.seen) & clear)) == {
        "majority vote"
    }


def test_swarms_can_start_again() -> None:
    now = snapshots(HeterogeneousLearning(steps=16, reset_after=0.7))
    fresh = Streams.of(1, np.arange(2), VICSEK.n_agents)
    for i in range(16):
        start = VICSEK.initial(fresh.at(i, Purpose.INITIAL))["heading"]
        same = np.array_equal(np.sort(now[i].state["heading"]), np.sort(start))
        assert same == (i in (0, 7, 14))


def test_young_swarms_tell_nearly_equal_actions_apart() -> None:
    """On a torus, at every energy and the tie; grids that have come to rest get them wrong."""
    ising = swarmdp.Ising((60, 60))
    reward = Reward(np.tile(-np.arange(25.0), (10, 1)))
    learning = HeterogeneousLearning(steps=150, reset_after=1.5)
    learned = learning(ising, reward, discount=0.9, seed=3)
    assert (
        ising.solutions(table_of(learned.policy), not_none(learned.seen)) == ["majority vote"] * 10
    )


def test_the_two_solutions_of_the_ising_model_are_told_apart() -> None:
    ising = swarmdp.Ising((10, 10))
    expert = (np.arange(25) > 12).astype(int)
    other = expert.copy()
    other[[3, 20]] = 1 - other[[3, 20]]
    tie = expert.copy()
    tie[12] = 1
    table = np.stack([expert, 1 - expert, other, tie, other])
    seen = np.ones((5, 25), bool)
    seen[4, [3, 20]] = False
    assert ising.solutions(table, seen) == [
        "majority vote",
        "mirror image of the majority vote",
        "majority vote but for energies 3, 20",
        "majority vote but for energies 12",
        "majority vote",
    ]
    nearly = np.stack([1 - other, 1 - tie])
    assert ising.solutions(nearly, seen[:2]) == [
        "mirror image of the majority vote but for energies 3, 20",
        "mirror image of the majority vote but for energies 12",
    ]


def test_the_mirror_image_of_the_majority_vote_has_its_energies() -> None:
    """Keep where the expert flips, and flip where it keeps, at the tie as well."""
    for periodic in (True, False):
        ising = swarmdp.Ising((20, 20), periodic=periodic)
        mirror = swarmdp.Policy((np.arange(25) <= 12).astype(int))
        expert, actual = (
            swarmdp.rollout(ising, policy, steps=9, runs=4, seed=1)
            for policy in (ising.expert, mirror)
        )
        np.testing.assert_array_equal(ising.energy(actual), ising.energy(expert))
        np.testing.assert_array_equal(actual["spin"][:, 1::2], -expert["spin"][:, 1::2])


def test_the_paper_s_settings() -> None:
    paper = paper_learning()
    assert isinstance(paper.q_update, SequentialQ)
    assert (paper.steps, paper.temperature, paper.learning_rate) == (200, 0.5, 0.99)
    assert (paper.decay, paper.exploration, paper.swarms) == ("quadratic", "fixed", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be an integer of at least 1"),
        ({"steps": 2.5}, "steps must be an integer of at least 1, got 2.5"),
        ({"temperature": 1.5}, "temperature must be a number from 0 to 1"),
        ({"learning_rate": -0.1}, "learning_rate must be a number from 0 to 1"),
        ({"exploration": "some"}, "exploration must be"),
        ({"swarms": 1.5}, "swarms must be an integer or None, got 1.5"),
        ({"reset_after": 0.0}, "reset_after must be positive"),
        ({"decay": "linear"}, "decay must be"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        HeterogeneousLearning(**change)


def test_a_reward_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has 5 weights, but Vicsek has 36 features"):
        HeterogeneousLearning()(VICSEK, Reward(np.ones(5)), discount=0.9, seed=1)


def test_watching_does_not_change_the_result() -> None:
    learning = HeterogeneousLearning(steps=10)
    seen: list[int] = []
    watched = learning(
        VICSEK, ALIGN, discount=0.9, seed=1, watch=lambda s: seen.append(s.iteration)
    )
    assert seen == list(range(10))
    np.testing.assert_array_equal(watched.q, learning(VICSEK, ALIGN, discount=0.9, seed=1).q)


def test_snapshots_keep_what_they_showed() -> None:
    seen = snapshots(HeterogeneousLearning(steps=5))
    assert not np.array_equal(seen[0].q, seen[-1].q)
    assert (not_none(seen[0].seen) <= not_none(seen[-1].seen)).all()
