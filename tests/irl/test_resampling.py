from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.resampling import differences, one_in_each_block, other_demos, scaled_like
from swarmdp.irl.updates.evidence import wants_of
from swarmdp.irl.updates.registry import update_of
from swarmdp.model.features import Axis, Basis
from swarmdp.policies.learner import NOTHING_MORE, Wants
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=30, radius=0.2)
QUICK: Any = {
    "iterations": 3,
    "learner": swarmdp.learning.HeterogeneousLearning(steps=20),
    "judge": False,
}


def others(demo: swarmdp.Trajectory, separate: bool, wants: Wants = NOTHING_MORE) -> Any:
    return other_demos(
        VICSEK,
        demo,
        swarmdp.Policy(np.full((demo.runs if separate else 1, 36), 6)),
        copies=3,
        separate=separate,
        discount=0.9,
        estimator="swarm",
        wants=wants,
        even=np.asarray,
        seed=5,
        threads=1,
    )


def test_many_runs_are_drawn_from() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=6, seed=1)
    expert, profile = others(demo, False)
    mu = feature_expectations(VICSEK, demo, discount=0.9, estimator="swarm")
    assert expert.mu.shape == (3, 36)
    assert profile.shape[0] == 3
    for row in expert.mu:  # a mean of six of them, with repetitions
        shares = np.linalg.lstsq(mu.T, row, rcond=None)[0] * 6
        np.testing.assert_allclose(shares, shares.round(), atol=1e-6)
        assert shares.round().sum() == 6
    assert len(np.unique(expert.mu, axis=0)) == 3


@pytest.mark.parametrize("separate", [False, True])
def test_a_few_runs_are_simulated_again_from_their_starts(separate: bool) -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)
    expert, profile = others(demo, separate)
    policy = swarmdp.Policy(np.full((1, 36), 6))
    first = {name: demo[name][:, 0] for name in ("position", "heading")}
    again = swarmdp.rollout(VICSEK, policy, steps=50, runs=6, seed=2, initial=first)
    mu = feature_expectations(VICSEK, again, discount=0.9, estimator="swarm")
    rows = 6 if separate else 3
    assert expert.mu.shape == (rows, 36)
    assert profile.shape[0] == rows
    # The same starts, with other noise: near to runs of the same policy from there.
    near = np.linalg.norm(expert.mu.mean(axis=0) - mu.mean(axis=0))
    spread = np.linalg.norm(mu.std(axis=0, ddof=1)) * np.sqrt(1 / 6 + 1 / 6)
    assert near < 4 * spread


def test_recorded_actions_are_resampled_too() -> None:
    demo = swarmdp.rollout(
        VICSEK, VICSEK.expert, steps=50, runs=2, seed=1, record=["states", "actions"]
    )
    expert, _ = others(demo, False, wants_of(update_of("policy_matching")))
    assert expert.pairs.shape == (3, 36, 13)
    assert (expert.pairs.sum(axis=(1, 2)) == 2 * 50 * 30).all()
    assert (expert.pairs.sum(axis=1).argmax(axis=1) == 6).all()  # the policy flies straight on


def test_rewards_are_alike_up_to_scale_and_shift() -> None:
    weights = np.random.default_rng(1).normal(size=(1, 1, 8))
    other = 3 * weights + 7
    blocks = (swarmdp.Levels(8).axes,)
    np.testing.assert_allclose(scaled_like(other, weights[0], blocks, True), weights)
    assert np.abs(scaled_like(other, weights[0], blocks, False) - weights).max() > 0.1


def test_where_a_shift_means_nothing() -> None:
    parts: Any = {"light": swarmdp.Angles(8), "others": swarmdp.Levels(4)}
    assert one_in_each_block(swarmdp.Angles(8))
    assert one_in_each_block(swarmdp.Product(**parts))
    assert one_in_each_block(swarmdp.Product(**parts, additive=True))
    assert not one_in_each_block(swarmdp.features.Vectors(np.eye(3)[:, :2]))
    axis = Axis("x", np.arange(2.0))
    smooth = Basis(lambda o: np.stack([o, o**2], axis=-1), ("x", "x2"), (axis,))
    assert not one_in_each_block(smooth)


def test_significant_differences_are_found_and_chance_is_not() -> None:
    rng = np.random.default_rng(4)
    truth = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    blocks = (swarmdp.Levels(6).axes,)
    estimates, wrong = [], []
    for _ in range(200):
        noise = rng.normal(scale=0.1, size=(11, 6))
        table = differences(truth + noise[0], truth + noise[1:], blocks)
        i, j = np.triu_indices(6, 1)
        same = truth[i] == truth[j]
        called = table["significant"].to_numpy()
        estimates.append(called[~same].mean())
        wrong.append((called & same).sum() / max(1, called.sum()))
    assert np.mean(estimates) > 0.95
    assert np.mean(wrong) < 0.05 + 3 * np.std(wrong) / np.sqrt(len(wrong))


def test_mirror_images_that_differ_by_rounding_are_not_significant() -> None:
    """A mirrored reward is the same on both sides, but for its last bits."""
    rng = np.random.default_rng(5)
    half = rng.normal(size=(9, 3))
    both = np.concatenate([half, half[:, ::-1] * (1 + 1e-16 * rng.normal(size=(9, 3)))], axis=1)
    both[:, 3:] += 1e-17 * rng.normal(size=(9, 3))
    table = differences(both[0], both[1:], (swarmdp.Levels(6).axes,))
    i, j = np.triu_indices(6, 1)
    assert (table["p"][i + j == 5] > 0.99).all()


def test_a_fit_with_restarts_has_errors(tmp_path: Path) -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)
    plain = swarmdp.fit(VICSEK, demo, seed=2, separate=True, **QUICK)
    result = swarmdp.fit(VICSEK, demo, seed=2, separate=True, resamples=3, **QUICK)
    np.testing.assert_array_equal(plain.reward.weights, result.reward.weights)
    assert plain.reward_error is None
    assert result.resamples is not None
    assert result.resamples.shape == (3, 2, 36)
    assert result.reward_error is not None
    assert (result.reward_error > 0).any()
    assert "resamples" in repr(result)
    result.save(tmp_path)
    again = swarmdp.load(tmp_path)
    np.testing.assert_array_equal(again.resamples, result.resamples)
    table = again.differences(experiment=1)
    assert len(table) == 36 * 35 // 2
    assert set(table.columns) == {"one", "other", "difference", "error", "p", "significant"}


def test_errors_are_as_large_as_rewards_differ_between_demos() -> None:
    """Of 12 demos each: the errors claimed, and how far the rewards really scatter."""
    vicsek = swarmdp.Vicsek(n_agents=50, radius=0.2)
    demos = swarmdp.rollout(vicsek, vicsek.expert, steps=50, runs=12, seed=3)
    chosen = swarmdp.learning.HeterogeneousLearning(steps=60)
    result = swarmdp.fit(
        vicsek, demos, seed=4, separate=True, iterations=4, learner=chosen, resamples=4, judge=False
    )
    weights = result.reward.weights
    same = scaled_like(weights[:, None], weights[0][None], result.blocks, True)[:, 0]
    real = same.std(axis=0, ddof=1)
    assert result.reward_error is not None
    claimed = np.sqrt((result.reward_error**2).mean(axis=0))
    ratio = np.sqrt((claimed**2).sum() / (real**2).sum())
    assert 0.5 < ratio < 2


def test_wrong_restarts() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, seed=1)
    wrong: Any
    for wrong in (-1, 1, 2.5, "8"):
        with pytest.raises(InvalidInput, match="resamples must be"):
            swarmdp.fit(VICSEK, demo, seed=1, resamples=wrong, **QUICK)
    mu = swarmdp.fit(VICSEK, demo, seed=1, **QUICK).expert_mu
    with pytest.raises(InvalidInput, match="need a recorded demo"):
        swarmdp.fit(VICSEK, mu, seed=1, resamples=3, **QUICK)
    with pytest.raises(InvalidInput, match="or with resamples=8 or more"):
        swarmdp.fit(VICSEK, demo, seed=1, **QUICK).differences()
    result = swarmdp.fit(VICSEK, demo, seed=1, resamples=2, **QUICK)
    with pytest.raises(InvalidInput, match="experiment must be from 0 to 0, got 3"):
        result.differences(3)
