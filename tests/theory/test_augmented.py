"""Exact values of agents that remember, err, see late or are of several kinds."""

import numpy as np
import pytest

import swarmdp
from swarmdp import theory
from swarmdp.model.system import classes
from swarmdp.support.errors import InvalidInput

RING = theory.FiniteIsing((3,), reach=1, noise=0.1)
WRAPPERS = {
    "none": lambda system: system,
    "memory": swarmdp.with_memory,
    "noise": lambda system: swarmdp.with_noise(system, 0.3),
    "delay": swarmdp.with_delay,
    "kinds": lambda system: swarmdp.with_kinds(system, [1 / 3, 2 / 3]),
    "actions": lambda system: swarmdp.with_history(system, observations=False),
    "late memory": lambda system: swarmdp.with_delay(swarmdp.with_memory(system)),
}
STEPS, DISCOUNT, RUNS = 100, 0.9, 1500


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_simulated_values_are_the_exact_ones(wrapper: str) -> None:
    system, rng = WRAPPERS[wrapper](RING), np.random.default_rng(1)
    policy = swarmdp.Policy(rng.integers(len(system.actions), size=system.features.size))
    reward = rng.uniform(size=system.features.size)
    exact = theory.chain(system, policy).global_value(reward, DISCOUNT)
    seen = swarmdp.rollout(system, policy, steps=STEPS, runs=RUNS, seed=3, record="observations")
    gained = reward[classes(system, seen["observations"])].mean(axis=2)
    values = (gained * DISCOUNT ** np.arange(STEPS + 1)).sum(axis=1)
    error = values.std() / np.sqrt(RUNS)
    assert abs(values.mean() - exact) < 4.5 * error + 2 * DISCOUNT**STEPS / (1 - DISCOUNT)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_listed_states_are_states(wrapper: str) -> None:
    listed = theory.enumerate_swarm(WRAPPERS[wrapper](RING))
    assert listed.initial.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(listed.laws.sum(axis=3), 1.0)
    state = listed.system.place(listed.local)
    np.testing.assert_array_equal(listed.system.local(state), listed.local)


def test_a_memory_that_is_not_used_changes_nothing() -> None:
    exact = theory.chain(RING, RING.expert).global_value([1.0, 0.5, 0.0], DISCOUNT)
    system = swarmdp.with_memory(RING)
    same = theory.chain(system, system.expert).global_value(np.repeat([1.0, 0.5, 0.0], 2), DISCOUNT)
    assert same == pytest.approx(exact)


def test_what_cannot_be_listed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not a finite swarm"):
        theory.enumerate_swarm(swarmdp.with_memory(swarmdp.Vicsek(n_agents=3)))
    one = theory.FiniteIsing((3,), acting="one")
    with pytest.raises(InvalidInput, match='acting="all"'):
        theory.enumerate_swarm(swarmdp.with_memory(one))
