"""Swarms let loose as a demo was."""

import numpy as np
import pytest

import swarmdp
from swarmdp.judging.stage import DemoStage
from swarmdp.judging.statistics import SwarmLook, join_looks, look_at_runs
from swarmdp.policies.replicas import as_policy


def looked(stage: DemoStage, count: int, seed: int) -> SwarmLook:
    assert isinstance(stage.system, swarmdp.Vicsek | swarmdp.Ising)
    return join_looks(list(stage.looks([as_policy(stage.system.expert)], count, seed)))


@pytest.mark.parametrize(
    "system", [swarmdp.Ising(shape=(10, 10)), swarmdp.Vicsek(n_agents=20)], ids=["Ising", "Vicsek"]
)
def test_looks_are_those_of_plain_rollouts_from_the_same_starts(
    system: swarmdp.Vicsek | swarmdp.Ising,
) -> None:
    demo = swarmdp.rollout(system, system.expert, steps=20, runs=2, seed=1)
    stage = DemoStage.of(system, demo, 0.9)
    states = {
        name: v.values[:, 0] if "time" in v.axes else v.values for name, v in demo.variables.items()
    }
    runs = swarmdp.rollout(
        system,
        system.expert,
        steps=20,
        runs=10,
        seed=4,
        record=stage.comparable.record,
        initial=states,
    )
    expected, actual = look_at_runs(system, runs, stage.comparable, 0.9), looked(stage, 5, 4)
    for name, series in expected.series.items():
        assert np.array_equal(actual.series[name].values, series.values)
    assert expected.shares is not None
    assert actual.shares is not None
    assert np.array_equal(actual.shares, expected.shares)
    assert actual.runs == 10
    assert actual.repeats(2) == isinstance(system, swarmdp.Ising)


def test_feature_expectations_are_those_of_rollouts() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=30, runs=3, seed=1)
    record = swarmdp.simulation.DiscountedFeatures(0.9)
    mu = swarmdp.rollout(vicsek, vicsek.expert, steps=30, runs=3, seed=1, record=record)
    seen = DemoStage.of(vicsek, demo, 0.9).look.mu
    assert seen is not None
    assert np.allclose(seen, mu["discounted_features"], rtol=1e-12)


def test_frequencies_of_groups_add_up_to_one() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=30, runs=3, seed=1)
    table = DemoStage.of(vicsek, demo, 0.9).look.table(vicsek, slice(0, 3))
    later = [
        k
        for k, s in enumerate(table.statistics)
        if s.title.startswith("share of misalignment") and s.when == "later"
    ]
    assert len(later) > 2
    assert np.allclose(table.values[:, later].sum(axis=1), 1.0)
