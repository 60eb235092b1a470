from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.model.traits import null_action
from swarmdp.simulation import visits
from swarmdp.simulation.recorders import DiscountedFeatures, FeaturesOverTime
from swarmdp.simulation.rollout import simulate


def _calibrated() -> swarmdp.recordings.Swarm:
    model = swarmdp.Vicsek(n_agents=12, radius=0.3)
    tracks = swarmdp.rollout(model, model.expert, steps=60, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
    seen = swarmdp.recordings.Observation(neighbours=3)
    return swarmdp.recordings.Swarm.from_recording(
        decisions, seen, arena=swarmdp.recordings.Periodic((1.0, 1.0))
    )


SYSTEMS = [
    swarmdp.Vicsek(n_agents=40),
    _calibrated(),
    swarmdp.Ising((9, 8)),
    swarmdp.Ising((12, 10), reach=3, periodic=False),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: type(system).__name__)
def test_visits_are_those_of_a_roll_out_to_the_same_bits(system: swarmdp.System) -> None:
    rng = np.random.default_rng(2)
    size, steps = (len(system.actions), system.features.size), 9  # type: ignore[attr-defined]
    policy = swarmdp.Policy(rng.integers(size[0], size=(2, size[1])))
    numbers = np.array([5, 0, 3, 8])
    visited = visits.visits_of(system, policy, numbers=numbers, steps=steps, seed=4, threads=2)
    assert visited is not None
    record = {
        "mu": DiscountedFeatures(0.8),
        "profile": FeaturesOverTime(steps),
        "actions": "actions",
        "states": "states",
        # A function of the states: whole steps cannot serve it, so all is recorded step by step.
        "plain": lambda state: np.zeros(len(next(iter(state.values())))),
    }
    rolled = simulate(
        system, policy, numbers=numbers, steps=steps, seed=4, record=record, threads=1
    )
    np.testing.assert_array_equal(visited.discounted(0.8), rolled["mu"])
    np.testing.assert_array_equal(visited.over_time(), rolled["profile"])
    nothing = np.asarray(system.actions)[null_action(system)]
    acts = np.zeros(len(numbers))
    for step in range(steps):
        acts += (rolled["actions"][:, step] != nothing).mean(axis=1)
    np.testing.assert_array_equal(visited.activity(policy.table), acts)


def test_ising_takes_whole_steps_with_the_bits_of_plain_ones() -> None:
    system = swarmdp.Ising((7, 9), periodic=False)
    record = ["states", "observations", "actions", "energy", DiscountedFeatures(0.9)]
    demand: dict[str, Any] = {"steps": 6, "runs": 3, "seed": 2}
    whole = swarmdp.rollout(system, system.expert, record=record, **demand)
    plain = swarmdp.rollout(system, lambda seen: system.expert(seen), record=record, **demand)
    few = swarmdp.rollout(system, system.expert, record=["energy"], **demand)
    assert set(whole) == set(plain)
    for name in whole:
        np.testing.assert_array_equal(whole[name], plain[name])
        assert whole[name].dtype == plain[name].dtype
    np.testing.assert_array_equal(few["energy"], plain["energy"])


def test_other_policies_are_left_to_the_plain_path() -> None:
    soft = swarmdp.policies.SoftPolicy(np.full((36, 13), 1 / 13))
    system = swarmdp.Vicsek(n_agents=20)
    assert visits.visits_of(system, soft, numbers=np.arange(2), steps=3, seed=1, threads=1) is None
