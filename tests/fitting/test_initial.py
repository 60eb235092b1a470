"""Fits of swarms that start from given states."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Result
from swarmdp.learning import HeterogeneousLearning, Snapshot
from swarmdp.model.streams import Part, derived_seed
from swarmdp.support.errors import InvalidInput
from tests.results import assert_same

VICSEK = swarmdp.Vicsek(n_agents=30)
QUICK = HeterogeneousLearning(steps=8, swarms=2)


def fitted(demo: Any, **change: Any) -> Result:
    settings: dict[str, Any] = {"seed": 2, "iterations": 3, "learner": QUICK, "evaluations": 4}
    return swarmdp.fit(VICSEK, demo, **{**settings, **change}, judge=False)


@pytest.fixture(scope="module")
def demo() -> swarmdp.Trajectory:
    return swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)


def state(seed: int, runs: int = 1) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return {
        "position": rng.random((runs, 30, 2)),
        "heading": rng.uniform(-np.pi, np.pi, (runs, 30)),
    }


def first_states(demo: Any, **change: Any) -> list[Snapshot]:
    seen: list[Snapshot] = []
    fitted(demo, watch_learning=seen.append, iterations=2, threads=1, **change)
    return [now for now in seen if now.iteration == 0]


def test_learning_swarms_start_from_a_given_state(demo: swarmdp.Trajectory) -> None:
    """All of them from the same one, or run i from state i % F; agents may be rearranged."""
    for given in (state(5), state(6, runs=2)):
        starts = first_states(demo, initial=given)
        assert len(starts) == 2
        for now in starts:
            assert len(now.state["heading"]) == 2
            for run, headings in enumerate(now.state["heading"]):
                expected = given["heading"][run % len(given["heading"])]
                np.testing.assert_array_equal(np.sort(headings), np.sort(expected))
    first = first_states(demo)[0].state["heading"]
    assert not np.array_equal(np.sort(first[0]), np.sort(state(5)["heading"][0]))


def test_learning_swarms_start_from_drawn_frames(demo: swarmdp.Trajectory) -> None:
    frames = {tuple(np.sort(frame)) for frame in demo["heading"].reshape(-1, 30)}
    drawn = set()
    many = HeterogeneousLearning(steps=8, swarms=12)
    for now in first_states(demo, initial=demo, learner=many):
        for headings in now.state["heading"]:
            assert tuple(np.sort(headings)) in frames
            drawn.add(tuple(np.sort(headings)))
    assert len(drawn) > 5  # 24 draws of 102 frames


def test_evaluations_start_there_as_well(demo: swarmdp.Trajectory) -> None:
    """A learner that always flies on, so that only the start can make a difference."""
    on = swarmdp.Policy(np.full((1, 36), 6))

    def straight(system: Any, reward: Any, **wishes: Any) -> swarmdp.learning.Learned:
        return swarmdp.learning.Learned(on)

    aligned = {**state(5), "heading": np.zeros((1, 30))}
    result = fitted(demo, learner=straight, iterations=1, initial=aligned)
    expected = swarmdp.rollout(
        VICSEK,
        on,
        steps=50,
        runs=4,
        seed=derived_seed(2, Part.EVALUATION),
        initial=aligned,
        record=swarmdp.simulation.DiscountedFeatures(0.9),
    )["discounted_features"].mean(axis=0)
    np.testing.assert_allclose(result.history.mu[0, 0], expected, rtol=1e-12)
    from_demo = fitted(demo, learner=straight, iterations=1)
    assert np.linalg.norm(result.history.mu - from_demo.history.mu) > 1


def test_the_start_is_a_setting_of_the_fit(demo: swarmdp.Trajectory, tmp_path: Path) -> None:
    whole = fitted(demo, initial=demo)
    begun = fitted(demo, initial=demo, iterations=1)
    begun.save(tmp_path)
    loaded = swarmdp.load(tmp_path)
    assert_same(fitted(demo, initial=demo, resume=loaded), whole)
    assert "initial" in whole.system_settings
    for other in (None, state(5), swarmdp.rollout(VICSEK, VICSEK.expert, steps=3, seed=7)):
        with pytest.raises(InvalidInput, match="cannot resume: the earlier fit was of Vicsek"):
            fitted(demo, initial=other, resume=loaded)
    with pytest.raises(InvalidInput, match="cannot resume: the earlier fit was of Vicsek"):
        fitted(demo, initial=demo, resume=fitted(demo, iterations=1))


def test_experiments_with_a_start_do_not_depend_on_their_batch(demo: swarmdp.Trajectory) -> None:
    batch = fitted(demo, separate=True, initial=demo)
    first = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=1, seed=1)
    assert_same(batch, fitted(first, separate=True, initial=demo), slice(0, 1))


def test_updates_by_actions_see_the_expert_s_swarm_from_there(demo: swarmdp.Trajectory) -> None:
    from_demo = fitted(demo, update="policy_matching", iterations=1)
    there = fitted(demo, update="policy_matching", iterations=1, initial=state(5))
    assert not np.array_equal(from_demo.reward.weights, there.reward.weights)


def test_impossible_starts_are_refused_before_any_work(demo: swarmdp.Trajectory) -> None:
    with pytest.raises(InvalidInput, match="initial has no 'heading'"):
        fitted(demo, initial={"position": np.zeros((30, 2))})
    with pytest.raises(InvalidInput, match="initial must be a state"):
        fitted(demo, initial=3)
