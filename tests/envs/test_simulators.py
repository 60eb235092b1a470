"""Simulators that nobody here wrote: a scripted expert, a demo, a fit, a verdict, a controller."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies import simulators
from swarmdp.envs import BlackBox
from swarmdp.learning import HeterogeneousLearning
from swarmdp.model.testing import check_system
from tests.policies import compiled


def learned(system: BlackBox, swarms: int, seed: int = 1) -> tuple[Any, swarmdp.Result]:
    """A demo of the expert, and what is learned from it with little experience."""
    demo = swarmdp.rollout(system, system.expert, steps=22, runs=6, seed=seed)
    learner = HeterogeneousLearning(steps=60, warm_steps=30, reset_after=2.5, swarms=swarms)
    result = swarmdp.fit(
        system,
        demo,
        seed=seed,
        discount=0.8,
        learner=learner,
        iterations=2,
        evaluations=4,
        judge=False,
    )
    return demo, result


@pytest.fixture(scope="module")
def flock() -> tuple[BlackBox, swarmdp.Result, Any]:
    """Mesa's boids, what was learned there, and the demo."""
    system = simulators.flock()
    demo, result = learned(system, 8)
    return system, result, demo


def test_boids_of_mesa_are_learned(flock: tuple[BlackBox, swarmdp.Result, Any]) -> None:
    system, result, demo = flock
    verdict = swarmdp.judge(result, demo, system=system, seed=1, quick=True, runs=20)
    assert verdict.reproduces, verdict.words


def test_the_boids_are_a_system() -> None:
    """Exactly: pure, repeatable, agents exchangeable, left and right alike."""
    check_system(simulators.flock(agents=4))


def test_simple_spread_is_learned() -> None:
    """The expert's table: each agent goes to its landmark, and stays there."""
    system = simulators.spread(agents=3)
    _, result = learned(system, 12)
    assert isinstance(result.policy, swarmdp.Policy)
    assert result.policy.table.tolist() == [[0, 1, 2, 3, 4]]


def test_pursuit_is_a_system_with_an_expert() -> None:
    """Pursuers who chase catch evaders, those who stand still hardly ever do."""
    system = simulators.pursuit(agents=4)
    returns = []
    for policy in (system.expert, lambda seen: np.full(seen.shape, 4)):
        trajectory = swarmdp.rollout(system, policy, steps=15, runs=6, seed=1, record="reward")
        returns.append(trajectory["reward"].sum(axis=1).mean())
    assert returns[0] > returns[1] + 1


def test_an_exported_controller_drives_the_simulator(
    flock: tuple[BlackBox, swarmdp.Result, Any], tmp_path: Path
) -> None:
    """From C and from JSON, it does exactly what the policy does."""
    system, result, _ = flock
    policy = result.policy
    assert isinstance(policy, swarmdp.Policy)
    header = policy.export(tmp_path / "controller.h")
    again = swarmdp.policies.load_controller(policy.export(tmp_path / "controller.json"))
    act = compiled.library(header, 1)

    def robot(observations: NDArray[Any]) -> NDArray[Any]:
        return act(observations.reshape(-1, 1)).reshape(observations.shape)

    from_policy, from_json, from_c = (
        swarmdp.rollout(system, controller, steps=25, runs=3, seed=7)
        for controller in (policy, again, robot)
    )
    for name in from_policy:
        assert np.array_equal(from_policy[name], from_json[name])
        assert np.array_equal(from_policy[name], from_c[name])
    assert len(np.unique(from_policy["history"][..., :25])) > 3  # it steers
