"""The list of joint states, their transitions, and what is refused."""

import itertools

import numpy as np
import pytest

import swarmdp
from swarmdp import Policy, theory
from swarmdp.support.errors import InvalidInput
from swarmdp.theory import enumeration
from swarmdp.theory.finite_swarm import FiniteSwarm
from tests.theory import oracles

SMALL: list[FiniteSwarm] = [
    theory.FiniteIsing((4,), noise=0.2),
    theory.FiniteIsing((4,), noise=0.1, acting="one", magnetisation=0.3),
    theory.FiniteIsing((5,), sees="majority"),
    theory.VicsekRing(2, 3, noise=0.3),
    theory.VicsekRing(2, 2, headings=4, radius=0, noise=0.1, acting="one"),
    theory.RandomSwarm(3, 2, 3, 3, seed=1),
    theory.RandomSwarm(2, 3, None, 2, successors=2, seed=2),
]


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_transitions_are_those_of_the_definition(system: FiniteSwarm) -> None:
    rng = np.random.default_rng(4)
    swarm = theory.enumerate_swarm(system)
    np.testing.assert_array_equal(swarm.local, oracles.joint_states(system))
    np.testing.assert_array_equal(swarm.observations, oracles.observations(system))
    np.testing.assert_array_equal(swarm.index(swarm.local), np.arange(swarm.n_states))
    shape = (swarm.n_observations, swarm.n_actions)
    stochastic = rng.dirichlet(np.ones(shape[1]), size=shape[0])
    deterministic = rng.integers(shape[1], size=shape[0])
    for policy in (stochastic, np.eye(shape[1])[deterministic]):
        chain = theory.chain(swarm, policy)
        expected = oracles.chain(system, policy)
        np.testing.assert_allclose(chain.transitions.toarray(), expected, atol=1e-14)
        agent, action = system.n_agents - 1, shape[1] - 1
        expected = oracles.chain(system, policy, agent, action)
        np.testing.assert_allclose(chain.deviating(action, agent).toarray(), expected, atol=1e-14)


def test_blocks_of_states_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    for acting in ("all", "one"):
        system = theory.FiniteIsing((6,), noise=0.1, acting=acting)
        whole = theory.chain(system, system.expert).transitions
        monkeypatch.setattr(enumeration, "_BLOCK", 100)
        parts = theory.chain(system, system.expert).transitions
        monkeypatch.undo()
        np.testing.assert_array_equal(whole.toarray(), parts.toarray())


def test_policies_come_in_several_forms() -> None:
    system = theory.FiniteIsing((5,))
    table = np.array([0, 0, 1])
    probabilities = np.array([[1, 0], [1, 0], [0, 1]])
    for policy in (
        table,
        table.tolist(),
        Policy(table),
        system.expert,
        probabilities,
        probabilities * 1.0,
    ):
        np.testing.assert_array_equal(theory.policy_table(system, policy), probabilities)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros(4, int), r"3 observations and 2 actions.*\(3,\).*\(3, 2\), got int64 of shape"),
        (np.zeros((3, 3)), r"got float64 of shape \(3, 3\)"),
        (np.array([0, 1, 2]), "got numbers 0 to 2"),
        (np.full((3, 2), 0.4), "sum to 1"),
        (np.array([[2, -1], [1, 0], [1, 0]]), "not negative"),
        (np.zeros(3), "got float64"),
        (Policy([0, 1]), "has 2 observations"),
        (Policy([[0, 1, 0], [0, 0, 0]]), "2 replicas"),
    ],
)
def test_wrong_policies_are_refused(policy: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        theory.chain(theory.FiniteIsing((5,)), policy)  # type: ignore[arg-type]


def test_what_is_too_large_or_not_finite_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"2\^40 = 1099511627776 joint .* at most 17 agents"):
        theory.enumerate_swarm(theory.FiniteIsing((40,)))
    with pytest.raises(InvalidInput, match=r"10\^6 = 1000000 .* at most 5 agents with 10 local"):
        theory.enumerate_swarm(theory.VicsekRing(6, cells=5))
    noisy = theory.FiniteIsing((14,), noise=0.1)
    with pytest.raises(InvalidInput, match='268435456 transitions.*12 with two.*acting="one"'):
        theory.chain(noisy, noisy.expert).limit  # noqa: B018
    with pytest.raises(InvalidInput, match=r"Vicsek cannot be enumerated.*at most 131072 joint"):
        theory.enumerate_swarm(swarmdp.Vicsek())


def test_wrong_initial_distributions_are_refused() -> None:
    system = theory.FiniteIsing((3,))
    for law in (np.ones(8), np.ones(4) / 4, [1.5, -0.5, 0, 0, 0, 0, 0, 0]):
        with pytest.raises(InvalidInput, match="each of the 8 joint"):
            theory.enumerate_swarm(system, initial=law)


def test_laws_that_are_none_are_refused() -> None:
    class Leaky(theory.FiniteIsing):
        def outcomes(self, state: object, actions: object) -> np.ndarray:
            return 0.9 * super().outcomes(state, actions)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match="outcomes must be probabilities"):
        theory.enumerate_swarm(Leaky())


def test_wrong_rewards_agents_times_and_actions_are_refused() -> None:
    system = theory.FiniteIsing((3,), noise=0.1)
    chain = theory.chain(system, system.expert)
    with pytest.raises(InvalidInput, match="3 finite numbers"):
        chain.private_value([1.0, 2.0], 0.9)
    with pytest.raises(InvalidInput, match="agent must be from 0 to 2"):
        chain.private_value([1.0, 2.0, 3.0], 0.9, agent=3)
    with pytest.raises(InvalidInput, match="discount must be in"):
        chain.global_value([1.0, 2.0, 3.0], 1.0)
    with pytest.raises(InvalidInput, match="agent must be from 0 to 2"):
        chain.observed(agent=-1)
    for time in (-1, np.int64(-1), True, 1.0):
        with pytest.raises(InvalidInput, match="time must be"):
            chain.law(time)  # type: ignore[arg-type]
    np.testing.assert_array_equal(chain.law(np.int64(2)), chain.law(2))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="action must be from 0 to 1"):
        chain.deviating(2)


def test_swarms_of_many_local_states_are_numbered_without_a_table_of_powers() -> None:
    system = theory.RandomSwarm(2, 40)
    swarm = theory.enumerate_swarm(system)
    assert swarm.n_states == 1600
    np.testing.assert_array_equal(np.unique(swarm.observations), [0, 1, 2])
    every = theory.RandomSwarm(4, 3, None)
    seen = theory.enumerate_swarm(every).observations
    # Own state, and how the three others are distributed over three: 3 times 10.
    assert len(np.unique(seen)) == every.features.size == 30
    counts = [list(c) for c in itertools.combinations_with_replacement(range(3), 3)]
    for joint, numbers in zip(oracles.joint_states(every), seen, strict=True):
        for agent, state in enumerate(joint):
            others = sorted(joint[:agent] + joint[agent + 1 :])
            assert numbers[agent] == 10 * state + counts.index(others)


def test_the_size_is_checked_before_anything_else() -> None:
    """The tables of this swarm alone would take 260 GB."""
    swarm = theory.RandomSwarm(30, 10)
    with pytest.raises(InvalidInput, match=r"10\^30 = 1000.* at most 5 agents with 10 local"):
        theory.enumerate_swarm(swarm)
    with pytest.raises(InvalidInput, match=r"1630116400 situations.*take fewer agents or local"):
        swarm.observe(swarm.place(np.zeros((1, 30), int)))
    with pytest.raises(InvalidInput, match=r"at most 131072 local states, even of one agent"):
        theory.enumerate_swarm(theory.VicsekRing(1, 100_000))


def test_laws_that_would_fill_the_memory_are_refused() -> None:
    ring = theory.VicsekRing(2, 150)  # 90 000 joint states, and 300 local states to go to
    with pytest.raises(
        InvalidInput, match=r"are 108000000 probabilities .* at most 256 local states with 2 agents"
    ):
        theory.enumerate_swarm(ring)
