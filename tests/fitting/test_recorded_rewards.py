"""The reward of a recording's decisions."""

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.swarm import Swarm
from swarmdp.support.errors import InvalidInput

ARENA = swarmdp.recordings.Periodic((1.0, 1.0))
SEES = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=3, neighbours=5)


@pytest.fixture(scope="module")
def aligned() -> tuple[Swarm, Decisions]:
    """A swarm of agents that turn as their neighbours do, as it is calibrated from their tracks."""
    vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=200, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1).train
    return Swarm.from_recording(decisions, SEES, arena=ARENA), decisions


def test_turns_tell_that_alignment_is_sought(aligned: tuple[Swarm, Decisions]) -> None:
    swarm, decisions = aligned
    result = swarmdp.fit(swarm, decisions, seed=1, iterations=2, judge=False)
    choice = result.reward_choice
    assert choice is not None
    assert choice.taken == ("decisions",)
    assert "nothing was planned for it" in choice.words[0]
    assert "nothing was planned for it" in repr(result)
    alignment = result.reward.weights[0, :5]
    assert alignment.argmax() == 2
    np.testing.assert_allclose(alignment, alignment[::-1])
    table = result.identified()
    middle = table[table["one"].str.contains("misalignment") & table["identified"]]
    assert len(middle) >= 4


def test_the_turn_before_is_not_rewarded(aligned: tuple[Swarm, Decisions]) -> None:
    swarm, decisions = aligned
    result = swarmdp.fit(swarm, decisions, seed=1, iterations=1, judge=False)
    assert np.ptp(result.reward.weights[0, 5:]) < 1e-9  # the same, whatever it was
    root = swarm.reward_prior()
    covariance = root @ root.T
    assert covariance[0, 1] > covariance[0, 2] > covariance[0, 4] > 0
    np.testing.assert_array_equal(covariance[5:], 0.0)
    np.testing.assert_array_equal(covariance[:5, 5:], 0.0)


def test_no_reward_is_excluded_beforehand() -> None:
    """Around a circle of four classes, a side may be worth more or less than front and back."""
    vicsek = swarmdp.Vicsek(n_agents=8, radius=0.5, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=60, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
    sees = swarmdp.recordings.Observation(5, bearing=4, spacing=3, previous_turn=0, neighbours=3)
    swarm = Swarm.from_recording(decisions, sees, arena=ARENA)
    root = swarm.reward_prior()
    begin = 0
    for block in swarm.features.blocks:
        (axis,) = block
        size = len(axis.values)
        away = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        if axis.periodic:
            away = np.minimum(away, size - away)
        part = root[begin : begin + size, begin : begin + size]
        np.testing.assert_allclose(part @ part.T, np.exp(-away / 2), atol=1e-9)
        assert np.linalg.eigvalsh(part @ part.T).min() > 0.05
        begin += size
    assert begin == len(root)


def test_resamples_and_other_demos_follow_the_same_rule(aligned: tuple[Swarm, Decisions]) -> None:
    swarm, decisions = aligned
    fit = swarmdp.fitting.Fit.of(swarm, decisions, seed=1, iterations=1, judge=False)
    result, _ = fit.with_reward(fit.result(list(fit.iterate())))
    choice = result.reward_choice
    assert choice is not None
    resampled = fit.resampled_rewards(result, 4)
    np.testing.assert_array_equal(resampled, choice.alternatives[:4])
    same, half = fit.rewards_of_demos(
        result,
        [swarm.demo(decisions), swarm.demo(decisions.at_times(np.arange(decisions.times) < 60))],
    )
    np.testing.assert_allclose(same, result.reward.weights[0], atol=1e-9)
    assert np.corrcoef(half[:5], same[:5])[0, 1] > 0.8


def test_turns_of_demos_are_those_recorded(aligned: tuple[Swarm, Decisions]) -> None:
    swarm, decisions = aligned
    demo = swarm.demo(decisions)
    index, likelihood = swarm.decided(demo)
    turns: NDArray[np.float64] = decisions.turns[demo["acting"][0]]
    nearest = np.abs(turns[:, None] - swarm.actions).argmin(axis=1)
    near = np.abs(turns) < 0.9 * np.abs(swarm.actions).max()
    np.testing.assert_array_equal(likelihood.argmax(axis=1)[near], nearest[near])
    assert len(index) == demo["acting"].sum()
    with pytest.raises(InvalidInput, match="no recorded turns"):
        swarm.decided(swarmdp.rollout(swarm, swarm.anchored(_zero(swarm), 0.0), steps=2, seed=1))


def _zero(swarm: Swarm) -> swarmdp.Policy:
    return swarmdp.Policy(np.zeros((1, swarm.features.size), np.int64))
