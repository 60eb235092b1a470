"""How far simulated groups are from recorded ones."""

import numpy as np
import pytest

from studies.simulated_rules import KnownRule, record_rule
from swarmdp.policies import FunctionPolicy
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.controllers import habitual_policy
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.group_distances import (
    demo_in_runs,
    group_distance,
    mean_energy_distance,
    measured,
    own_distance,
)
from swarmdp.recordings.swarm import Swarm

KNOWN = KnownRule("metric", 15.0, repulsion=2.0, alignment=8.0, individuals=12, seconds=30.0)


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    return record_rule(KNOWN, 1).decisions(dt=0.2)


@pytest.fixture(scope="module")
def swarm(decisions: Decisions) -> Swarm:
    return Swarm.from_recording(decisions.train, arena=Circle((0.0, 0.0), KNOWN.tank))


def test_energy_distance() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=400), rng.normal(size=400)
    assert mean_energy_distance({"a": one}, {"a": one}) == pytest.approx(0, abs=1e-12)
    # Of the same law: about the mean distance over the size of the samples.
    assert mean_energy_distance({"a": one}, {"a": other}) < 0.03
    # Two places, apart by two standard deviations of both together.
    far = mean_energy_distance({"a": np.zeros(5)}, {"a": np.ones(5)})
    assert far == pytest.approx(4)
    both = mean_energy_distance({"a": one, "b": np.zeros(5)}, {"a": one, "b": np.ones(5)})
    assert both == pytest.approx(2)


def test_a_recorded_group_is_nearer_than_one_that_stands_still(
    swarm: Swarm, decisions: Decisions
) -> None:
    clone = habitual_policy(swarm, swarm.habits)
    near = group_distance(swarm, swarm, clone, decisions.test, seed=1, runs=4, threads=1)
    circling = FunctionPolicy(lambda seen: np.full(seen.shape[:2], 1.5))
    far = group_distance(swarm, swarm, circling, decisions.test, seed=1, runs=4, threads=1)
    assert near < far
    assert own_distance(swarm, decisions.test, decisions.test) == pytest.approx(0, abs=1e-9)
    assert 0 < own_distance(swarm, decisions.train, decisions.test) < far
    assert group_distance(
        swarm, swarm, clone, decisions.test, seed=1, runs=4, threads=1
    ) == pytest.approx(near)


def test_stretches_are_runs_of_equal_length(swarm: Swarm, decisions: Decisions) -> None:
    times = np.arange(decisions.times)
    pieces = decisions.at_times((times < 30) | ((times >= 60) & (times < 121)))
    demo = demo_in_runs(swarm, pieces)
    # 30 times, then 60 after the first one, which has no heading yet.
    assert (demo.runs, demo.steps) == (3, 29)
    whole = swarm.demo(decisions)
    for run, start in enumerate((0, 61, 91)):
        there = demo["present"][run]  # the others are interpolated
        assert there.mean() > 0.8
        same = whole["position"][0, start : start + 30][there]
        np.testing.assert_allclose(demo["position"][run][there], same)
    assert all(values.shape == (3, 30) for values in measured(swarm, demo).values())
    assert demo_in_runs(swarm, decisions).runs == 1
