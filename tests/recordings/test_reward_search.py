"""Rewards by Algorithm 1 with policy search, and rewards as curves."""

import math

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings import reward_search
from swarmdp.recordings.controller_families import fitted_zone_model
from swarmdp.recordings.reward_curves import CurveFeatures, RewardCurve, reward_at, sights
from swarmdp.recordings.reward_search import SOFT, likeliest_reward, max_margin, search_reward
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.support.arrays import Floats


def test_margins_are_from_the_nearest_point_of_the_hull() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    weights, margin = max_margin(np.array([3.0, 0.5]), square)
    np.testing.assert_allclose(weights, [1.0, 0.0], atol=1e-4)
    assert margin == pytest.approx(2.0, abs=1e-3)
    inside, none = max_margin(np.array([0.5, 0.5]), square)
    assert none == pytest.approx(0.0, abs=1e-4)
    assert np.linalg.norm(inside) == pytest.approx(0.0) or none < 1e-4


def test_the_likeliest_reward_is_where_its_slope_is_zero() -> None:
    rng = np.random.default_rng(1)
    others, expert = rng.random((50, 4)), np.array([0.9, 0.5, 0.5, 0.1])
    weights = likeliest_reward(expert, others)
    shares = np.exp(others @ weights)
    slope = shares @ others / shares.sum() - expert + SOFT * weights
    np.testing.assert_allclose(slope, 0.0, atol=1e-3)
    assert weights[0] > 0 > weights[3]


def school(steps: int = 200, n_agents: int = 12) -> Swarm:
    vicsek = swarmdp.Vicsek(n_agents=n_agents, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=steps, seed=1)["position"][0]
    recording = swarmdp.Recording(tracks, fps=1, unit="1")
    arena = swarmdp.recordings.Periodic((1.0, 1.0))
    decisions = recording.decisions(1)
    return Swarm.from_recording(decisions.train, arena=arena)


def test_hat_functions_add_up_to_one_and_interpolate() -> None:
    swarm = school()
    features = CurveFeatures.of(swarm)
    for part in features.blocks.values():
        np.testing.assert_allclose(features.frames[:, part].sum(axis=1), 1.0)
    weights = np.random.default_rng(2).normal(size=(features.frames.shape[1],))
    nothing = np.empty((0, len(weights)))
    curves = features.curves(weights, nothing, nothing)
    seen = sights(swarm, swarm.frames["position"], swarm.frames["heading"])
    # The mean reward of what was seen is w . mu, but for the constants of the curves, which are
    # such that it is zero.
    assert float(reward_at(curves, seen).mean()) == pytest.approx(0.0, abs=1e-9)


def test_rewards_are_searched_whatever_the_structure_of_the_controller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reward_search, "ITERATIONS", 1)
    monkeypatch.setattr(reward_search, "GENERATIONS", 1)
    swarm = school()
    assert swarm.decisions is not None
    rule = fit_rule(swarm.decisions, swarm.arena)
    assert rule.structure == "sum"
    assert rule.parts
    controller = fitted_zone_model(swarm, rule)
    assert controller.model.structure == "priority"
    found = search_reward(swarm, rule, controller, seed=1)
    assert found is not None
    assert found.nearest_distance <= found.controller_distance


def curve(reward: list[float], draws: Floats, shifted: Floats, social: bool = True) -> RewardCurve:
    knots = np.arange(float(len(reward)))
    return RewardCurve("x", "cm", knots, np.array(reward), draws, shifted, social)


def test_curves_are_clear_beyond_errors_and_beyond_shifted_tracks() -> None:
    rng = np.random.default_rng(3)
    draws = np.array([1.0, 0.0, -1.0]) + 0.1 * rng.normal(size=(20, 3))
    silent = 0.05 * rng.normal(size=(5, 3))
    assert curve([1.0, 0.0, -1.0], draws, silent).clear
    same = np.array([1.0, 0.0, -1.0]) + 0.1 * rng.normal(size=(5, 3))
    assert not curve([1.0, 0.0, -1.0], draws, same).clear
    assert curve([1.0, 0.0, -1.0], draws, same, social=False).clear
    wide = np.array([1.0, 0.0, -1.0]) + 2.0 * rng.normal(size=(20, 3))
    assert not curve([1.0, 0.0, -1.0], wide, silent).clear
    without = curve([1.0, 0.0, -1.0], np.empty((0, 3)), np.empty((0, 3)))
    assert not without.clear
    assert math.isnan(without.difference_error)
    again = RewardCurve.from_plain(without.to_plain())
    assert again.draws.shape == (0, 3)
    assert "0" in again.words
