"""Fits whose policies act between the listed actions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Result
from swarmdp.learning import HeterogeneousLearning
from swarmdp.policies import InterpolatedPolicy
from swarmdp.support.errors import InvalidInput
from tests.results import assert_same

VICSEK = swarmdp.Vicsek(n_agents=100)
ISING = swarmdp.Ising((8, 8))
LEARNER = HeterogeneousLearning(steps=60, swarms=3)
RUNS = np.arange(2)


def fitted(system: Any, demo: Any, **change: Any) -> Result:
    settings: dict[str, Any] = {"seed": 2, "separate": True, "iterations": 3, "learner": LEARNER}
    return swarmdp.fit(system, demo, **{**settings, "interpolate": True, **change}, judge=False)


@pytest.fixture(scope="module")
def demo() -> swarmdp.Trajectory:
    return swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)


@pytest.fixture(scope="module")
def result(demo: swarmdp.Trajectory) -> Result:
    return fitted(VICSEK, demo)


def turns(policy: InterpolatedPolicy, misalignment: NDArray[np.float64]) -> NDArray[np.float64]:
    return policy.act(VICSEK, np.stack([misalignment] * 2), RUNS)


def test_the_learned_turn_is_a_continuous_function_of_the_misalignment(result: Result) -> None:
    """Between centres it is a line, so its slope is at most that between two neighbours.

    The step of the grid is no divisor of a class's width: points lie anywhere in the classes.
    """
    policy = result.policy
    assert isinstance(policy, InterpolatedPolicy)
    fine = np.linspace(-np.pi, np.pi, 36 * 97 + 5)
    step, width = fine[1] - fine[0], 2 * np.pi / 36
    actual = turns(policy, fine)
    around = np.concatenate([policy.values, policy.values[:, :1]], axis=1)
    for row, values in zip(actual, around, strict=True):
        steepest = np.abs(np.diff(values)).max() / width
        # rounding: an angle of up to pi as a place among 36 classes
        assert np.abs(np.diff(row)).max() <= steepest * step * (1 + 1e-9)
        assert np.abs(np.diff(row)).max() < 0.5 * np.abs(np.diff(VICSEK.actions)).min()
    np.testing.assert_allclose(actual[:, 0], actual[:, -1], atol=1e-12)  # the circle is closed
    np.testing.assert_allclose(turns(policy, VICSEK.features.axes[0].values), policy.values)


def test_actions_lie_between_the_listed_ones_and_do_nothing_where_nobody_was(
    result: Result,
) -> None:
    policy, listed = result.policy, VICSEK.actions
    assert isinstance(policy, InterpolatedPolicy)
    gap = np.abs(policy.values[..., None] - listed).min(axis=2)
    assert (gap > 1e-3).sum() >= 10
    assert policy.values.min() >= listed.min()
    assert policy.values.max() <= listed.max()
    assert result.seen is not None
    assert (policy.values[~result.seen] == 0).all()
    # to the left of the neighbours' heading it turns right, and the other way round
    near = np.abs(VICSEK.features.axes[0].values)
    inner = (near > 0.2) & (near < 1.2)
    sides = np.sign(VICSEK.expert(VICSEK.features.axes[0].values))
    assert (np.sign(policy.values[:, inner]) == sides[inner]).mean() > 0.9


def test_they_fly_like_the_expert() -> None:
    """The paper's swarm: the order at the end is that of the tabular default."""
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs=2, seed=1)
    smooth_fit = swarmdp.fit(
        vicsek, demo, seed=2, separate=True, iterations=8, interpolate=True, judge=False
    )
    order = swarmdp.rollout(
        vicsek, smooth_fit.policy, steps=100, runs=40, seed=3, record=vicsek.order
    )["order"]
    assert order[:, -1].mean() > 0.95


def test_they_are_saved_resumed_and_batched_to_the_same_bits(
    demo: swarmdp.Trajectory, result: Result, tmp_path: Path
) -> None:
    result.save(tmp_path)
    loaded = swarmdp.load(tmp_path)
    assert_same(loaded, result)
    assert isinstance(loaded.policy, InterpolatedPolicy)
    flights = [
        swarmdp.rollout(VICSEK, one.policy, steps=5, runs=2, seed=3)["heading"]
        for one in (result, loaded)
    ]
    np.testing.assert_array_equal(flights[0], flights[1])
    swarmdp.rollout(VICSEK, loaded.mixture, steps=5, runs=4, seed=3)
    begun = fitted(VICSEK, demo, iterations=1)
    assert_same(fitted(VICSEK, demo, resume=begun), result)
    first = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=1, seed=1)
    assert_same(result, fitted(VICSEK, first), slice(0, 1))
    with pytest.raises(InvalidInput, match="had interpolate = True, this one has False"):
        fitted(VICSEK, demo, resume=begun, interpolate=False)


def test_it_is_refused_before_any_work_where_there_is_nothing_between(
    demo: swarmdp.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*args: object, **kwargs: object) -> None:
        raise AssertionError("long work started")

    monkeypatch.setattr(HeterogeneousLearning, "__call__", work)
    spins = swarmdp.rollout(ISING, ISING.expert, steps=50, seed=1)
    with pytest.raises(InvalidInput, match=r"but Ising has \[False, True\]"):
        fitted(ISING, spins)
    with pytest.raises(InvalidInput, match="is for greedy policies.*soft: choose another update"):
        fitted(VICSEK, demo, update="maxent")
    vectors = swarmdp.model.with_features(VICSEK, swarmdp.features.Vectors(np.eye(36)[:, :3]))
    with pytest.raises(InvalidInput, match="but Vicsek has Vectors"):
        fitted(vectors, np.ones(3))


def test_a_learner_without_q_values_cannot_be_interpolated(demo: swarmdp.Trajectory) -> None:
    def table_only(system: Any, reward: Any, **wishes: Any) -> swarmdp.learning.Learned:
        return swarmdp.learning.Learned(swarmdp.Policy(np.zeros((reward.replicas, 36), int)))

    with pytest.raises(InvalidInput, match="needs a learner with a table of Q-values"):
        fitted(VICSEK, demo, learner=table_only)
