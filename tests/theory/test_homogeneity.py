"""Proposition 1: holds for homogeneous swarms, fails when one of its conditions does."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from swarmdp import theory
from swarmdp.model.system import State
from swarmdp.support.errors import InvalidInput


@settings(max_examples=60, deadline=None)
@given(
    n_agents=st.integers(2, 4),
    n_local=st.integers(2, 3),
    n_observations=st.one_of(st.none(), st.integers(1, 4)),
    n_actions=st.integers(1, 3),
    successors=st.sampled_from([None, 1, 2]),
    acting=st.sampled_from(["all", "one"]),
    seed=st.integers(0, 2**32),
    stochastic=st.booleans(),
    discount=st.sampled_from([0.0, 0.5, 0.95]),
)
def test_all_agents_of_a_homogeneous_swarm_have_the_same_local_values(
    n_agents: int,
    n_local: int,
    n_observations: int | None,
    n_actions: int,
    successors: int | None,
    acting: Any,
    seed: int,
    stochastic: bool,
    discount: float,
) -> None:
    system = theory.RandomSwarm(
        n_agents, n_local, n_observations, n_actions, successors, acting, seed
    )
    rng = np.random.default_rng(seed)
    policy: NDArray[Any] = rng.integers(n_actions, size=system.features.size)
    if stochastic:
        policy = rng.dirichlet(np.ones(n_actions), size=system.features.size)
    check = theory.check_homogeneity(system, policy, discount=discount, steps=12)
    assert check.difference <= 1e-10
    assert check.observed_difference <= 1e-10
    assert check.holds


def test_ring_torus_and_vicsek_are_homogeneous() -> None:
    for system in (
        theory.FiniteIsing((6,), noise=0.1, sees="spins"),
        theory.FiniteIsing((2, 4), noise=0.1, acting="one"),
        theory.VicsekRing(3, 4, noise=0.1, headings=4),
    ):
        assert theory.check_homogeneity(system, system.expert, steps=10).holds


@dataclass(frozen=True)
class Favoured(theory.RandomSwarm):
    """Agent 0 is drawn back to its first local state: not homogeneous."""

    def outcomes(self, state: State, actions: NDArray[Any]) -> NDArray[np.float64]:
        law = super().outcomes(state, actions)
        law[:, 0] = 0.5 * law[:, 0] + 0.5 * np.eye(self.n_local)[0]
        return law


def test_it_fails_when_agents_move_differently() -> None:
    check = theory.check_homogeneity(Favoured(seed=1), [0, 0, 0])
    assert not check.holds
    assert check.difference > 0.01
    assert "differ" in str(check)
    # Each agent's values still converge, to limits of their own.
    assert check.distance is not None
    assert check.distance[-1] < 1e-9
    assert check.limiting is not None
    assert np.nanmax(np.abs(check.limiting[0] - check.limiting[1])) > 0.01


def test_it_fails_when_the_start_favours_an_agent() -> None:
    swarm = theory.enumerate_swarm(theory.RandomSwarm(seed=2))
    start = np.zeros(swarm.n_states)
    start[swarm.index(np.array([0, 1, 1]))] = 0.7
    start[swarm.index(np.array([1, 0, 1]))] = 0.3
    check = theory.check_homogeneity(theory.enumerate_swarm(swarm, initial=start), [0, 0, 1])
    assert not check.holds
    assert check.difference > 0.01
    assert check.observed_difference > 0.1
    # The limit forgets the start: in the long run the agents are alike again.
    assert np.nanmax(np.ptp(check.values[-1], axis=0)) < 1e-9
    # The same states, each as likely with the agents exchanged: all is well.
    for state in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        start[swarm.index(np.array(state))] = 1 / 3
    assert theory.check_homogeneity(theory.enumerate_swarm(swarm, initial=start), [0, 0, 1]).holds


def test_the_rate_is_that_of_the_symmetric_chain() -> None:
    """The law stays symmetric, so the second eigenvalue among symmetric laws sets the pace."""
    for seed in (3, 4, 5):
        system = theory.RandomSwarm(n_agents=3, n_local=2, n_observations=2, n_actions=1, seed=seed)
        check = theory.check_homogeneity(system, [0, 0], steps=60)
        chain = theory.chain(system, [0, 0])
        level = chain.swarm.local.sum(axis=1)  # how many are in state 1: all that counts
        counts = np.eye(4)[level]
        flows = (counts.T @ chain.transitions @ counts) / counts.sum(axis=0)[:, None]
        moduli = np.sort(np.abs(np.linalg.eigvals(flows)))
        assert check.rate == pytest.approx(moduli[-2], rel=0.02)


def test_what_is_constant_from_the_start_has_no_rate() -> None:
    system = theory.RandomSwarm(n_agents=1, n_local=2, n_observations=1, n_actions=1, seed=3)
    check = theory.check_homogeneity(system, [0], steps=20)
    assert check.rate is None
    assert check.distance is not None
    assert check.distance.max() < 1e-12


def test_one_reward_is_a_column_of_all() -> None:
    system = theory.FiniteIsing((5,), noise=0.1)
    whole = theory.check_homogeneity(system, system.expert, steps=5)
    reward = np.array([1.0, -2.0, 0.5])
    one = theory.check_homogeneity(system, system.expert, reward=reward, steps=5)
    np.testing.assert_allclose(one.values[..., 0], whole.values @ reward, atol=1e-12)
    chain = theory.chain(system, system.expert)
    np.testing.assert_allclose(
        one.values[3, 2, :, 0], chain.local_value(reward, 0.9, time=3, agent=2), atol=1e-12
    )
    assert one.limiting is not None
    np.testing.assert_allclose(one.limiting[0, :, 0], chain.local_value(reward, 0.9), atol=1e-12)


def test_no_limit_is_said() -> None:
    swarm = theory.enumerate_swarm(theory.FiniteIsing((4,)))
    start = np.zeros(16)
    start[[0b0101]] = 1
    blinking = theory.enumerate_swarm(swarm, initial=start)
    check = theory.check_homogeneity(blinking, [0, 0, 1], steps=6)
    assert check.limiting is None
    assert check.distance is None
    assert "no limit, the swarm goes round" in str(check)


def test_too_much_to_compare_is_refused() -> None:
    system = theory.FiniteIsing((10,), 4, "spins")
    with pytest.raises(InvalidInput, match="reward="):
        theory.check_homogeneity(system, system.expert)
    with pytest.raises(InvalidInput, match="steps"):
        theory.check_homogeneity(system, system.expert, steps=-1)
