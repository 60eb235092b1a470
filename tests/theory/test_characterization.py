"""Proposition 2: the cones are the definition, R_G lies in R_L, and the lost inverse matters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swarmdp import theory
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.theory.finite_swarm import FiniteSwarm
from tests.theory import oracles

DISCOUNT = 0.8


def optimal(q: Any, policy: Any, tolerance: float = 1e-9) -> bool:
    """The definition: no action has a larger value than the policy's own mixture."""
    return bool((q.max(axis=1) <= (q * policy).sum(axis=1) + tolerance).all())


@pytest.mark.parametrize(
    "system",
    [
        theory.FiniteIsing((4,), noise=0.1),
        theory.VicsekRing(2, 3, noise=0.2),
        theory.RandomSwarm(3, 2, 3, 3, seed=4),
        theory.RandomSwarm(2, 2, None, 2, seed=5),
        theory.FiniteIsing((4,), noise=0.2, acting="one"),
    ],
    ids=str,
)
def test_the_cones_are_what_the_definition_says(system: FiniteSwarm) -> None:
    """Against Q-functions from plain loops over joint states and actions."""
    rng = np.random.default_rng(6)
    observations, actions = system.features.size, len(system.actions)
    policy = np.eye(actions)[rng.integers(actions, size=observations)]
    seen = oracles.observations(system)[:, 0]
    transitions = oracles.chain(system, policy)
    deviating = [oracles.chain(system, policy, 0, a) for a in range(actions)]
    initial = theory.enumerate_swarm(system).initial
    late = initial @ np.linalg.matrix_power(transitions, 2**20)
    characterization = theory.characterize(system, policy, DISCOUNT)
    assert characterization.containment.holds

    rewards = rng.normal(size=(300, observations))
    corner = np.array(
        [
            cone.central.reward
            for cone in (characterization.local_cone, characterization.global_cone)
        ]
    )
    near = (corner + 0.05 * rng.normal(size=(50, 2, observations))).reshape(-1, observations)
    rewards = np.concatenate([rewards, corner, near])
    agreed = {"local": 0, "global": 0}
    for reward in rewards:
        private = oracles.private_value(transitions, reward[seen], DISCOUNT)
        q = np.stack([reward[seen] + DISCOUNT * (p @ private) for p in deviating], axis=1)
        everywhere = optimal(q, policy[seen])
        assert characterization.global_cone.contains(reward) == everywhere
        local = np.array(
            [
                oracles.conditional(late, seen, o) @ q if (late[seen == o] > 1e-12).any() else q[0]
                for o in range(observations)
            ]
        )
        occurs = [(late[seen == o] > 1e-12).any() for o in range(observations)]
        here = optimal(local[occurs], policy[occurs])
        assert characterization.local_cone.contains(reward) == here
        agreed["local"] += here
        agreed["global"] += everywhere
    assert agreed["local"] >= agreed["global"]
    for name, cone in (
        ("local", characterization.local_cone),
        ("global", characterization.global_cone),
    ):
        assert agreed[name] < len(rewards)
        assert agreed[name] > 0
        if cone.central.margin > 0.1:  # then most of those near its middle are inside
            assert agreed[name] > 10


@settings(max_examples=40, deadline=None)
@example(2, 2, 2, 2, "all", 0, True, 0.0)  # a mixture of laws is rounded
@example(2, 2, 3, 3, "one", 1336658, False, 0.0)  # laws sum to one up to rounding
@given(
    n_agents=st.integers(1, 3),
    n_local=st.integers(2, 3),
    n_observations=st.integers(1, 4),
    n_actions=st.integers(1, 3),
    acting=st.sampled_from(["all", "one"]),
    seed=st.integers(0, 2**32),
    stochastic=st.booleans(),
    discount=st.sampled_from([0.0, 0.5, 0.95]),
)
def test_the_global_cone_lies_in_the_local_one(
    n_agents: int,
    n_local: int,
    n_observations: int,
    n_actions: int,
    acting: Any,
    seed: int,
    stochastic: bool,
    discount: float,
) -> None:
    system = theory.RandomSwarm(n_agents, n_local, n_observations, n_actions, None, acting, seed)
    rng = np.random.default_rng(seed)
    policy: Any = rng.integers(n_actions, size=system.features.size)
    if stochastic:
        policy = rng.dirichlet(np.ones(n_actions), size=system.features.size)
    characterization = theory.characterize(system, policy, discount)
    proof = characterization.containment
    assert proof.holds
    assert (proof.multipliers >= 0).all()
    product = proof.multipliers @ characterization.global_cone.rows
    np.testing.assert_allclose(product, characterization.local_cone.rows, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    n_agents=st.integers(1, 3),
    n_local=st.integers(2, 3),
    n_actions=st.integers(2, 3),
    seed=st.integers(0, 2**32),
)
def test_both_are_equal_when_the_observation_tells_the_state(
    n_agents: int, n_local: int, n_actions: int, seed: int
) -> None:
    """Up to the names of the others: no agent of a homogeneous swarm can know these."""
    system = theory.RandomSwarm(n_agents, n_local, None, n_actions, seed=seed)
    policy = np.random.default_rng(seed).integers(n_actions, size=system.features.size)
    assert theory.characterize(system, policy, 0.9).equal


def test_the_ring_in_full_sight() -> None:
    blind = theory.FiniteIsing((5,), 1, "spins", noise=0.1)
    assert not theory.characterize(blind, blind.expert).equal
    sighted = theory.FiniteIsing((5,), 2, "spins", noise=0.1)
    assert theory.characterize(sighted, sighted.expert).equal
    assert len(np.unique(theory.enumerate_swarm(sighted).observations[:, 0])) == 32


def test_where_something_is_hidden_only_indifferent_rewards_are_globally_optimal() -> None:
    """R_G has nothing in any direction that matters, in the cases that the documentation names."""
    systems: list[Any] = [
        theory.FiniteIsing((6,), 1, noise=0.1),
        theory.FiniteIsing((7,), 2, noise=0.1),
        theory.FiniteIsing((6,), 1, "spins", noise=0.1),
        theory.VicsekRing(3, 5, noise=0.2),
    ]
    for system in systems:
        cone = theory.characterize(system, system.expert).global_cone
        assert cone.central.margin == 0
        for direction in (*cone.basis, *-cone.basis):
            assert direction @ cone.extreme(direction) <= 1e-9


def test_the_formula_of_the_remark_as_printed_is_another_one() -> None:
    """Without the inverse it is not the set of rewards with Q(s, a1) >= Q(s, a)."""
    system = theory.RandomSwarm(2, 2, None, 2, seed=3)
    policy = np.zeros(system.features.size, int)
    chain = theory.chain(system, policy)
    seen = chain.swarm.seen_by(0).toarray()
    transitions = chain.transitions.toarray()
    gap = transitions - chain.deviating(1).toarray()
    printed = gap @ (np.eye(4) - DISCOUNT * transitions) @ seen
    cone = theory.characterize(system, policy, DISCOUNT).global_cone
    differ = 0
    for reward in np.random.default_rng(8).normal(size=(500, system.features.size)):
        by_definition = optimal(chain.private_q(reward, DISCOUNT), chain.policy[np.argmax(seen, 1)])
        assert cone.contains(reward) == by_definition
        differ += bool((printed @ reward >= 0).all()) != by_definition
    assert differ > 50


def test_observations_that_do_not_occur_ask_for_nothing() -> None:
    """Aligned spins without noise stay aligned: only the energy 0 is seen in the limit."""
    system = theory.FiniteIsing((4,), magnetisation=1.0)
    characterization = theory.characterize(system, system.expert)
    np.testing.assert_allclose(characterization.observed, [1, 0, 0])
    assert len(characterization.local_cone.rows) == 1
    assert characterization.containment.holds
    assert not characterization.equal
    early = theory.FiniteIsing((4,))
    assert len(theory.characterize(early, early.expert, time=0).local_cone.rows) == 3


def test_agreement_is_the_share_of_states_without_a_better_action() -> None:
    system = theory.RandomSwarm(3, 2, 3, 2, seed=10)
    policy = np.array([0, 1, 0])
    characterization = theory.characterize(system, policy, DISCOUNT)
    chain = theory.chain(system, policy)
    seen = chain.swarm.observations[:, 0]
    between = 0
    for reward in np.random.default_rng(11).normal(size=(100, 3)):
        q = chain.private_q(reward, DISCOUNT)
        best = q.max(axis=1) <= q[np.arange(len(q)), policy[seen]] + 1e-9
        assert characterization.agreement(reward) == pytest.approx(chain.law() @ best)
        between += 0 < characterization.agreement(reward) < 1
        if characterization.global_cone.contains(reward):
            assert characterization.agreement(reward) == pytest.approx(1)
    assert between > 10


def test_every_agent_has_the_same_cones() -> None:
    system = theory.RandomSwarm(3, 2, 3, seed=9)
    first, last = (theory.characterize(system, [0, 1, 0], agent=n) for n in (0, 2))
    assert first.local_cone.equals(last.local_cone)
    assert first.global_cone.equals(last.global_cone)


def test_no_limit_is_said() -> None:
    start = np.zeros(16)
    start[0b0101] = 1
    blinking = theory.enumerate_swarm(theory.FiniteIsing((4,)), initial=start)
    with pytest.raises(theory.NoLimit, match="period 2"):
        theory.characterize(blinking, [0, 0, 1])
    with pytest.raises(InvalidInput, match="discount"):
        theory.characterize(theory.FiniteIsing((4,)), [0, 0, 1], 1.0)


@pytest.mark.parametrize(
    ("size", "reach", "noise", "policy", "discount"),
    [
        (7, 2, 0.01, None, 0.9),
        (7, 2, 0.001, None, 0.9),
        (6, 1, 0.4, [1, 0, 1], 0.9),
        (6, 1, 0.4, None, 0.99),
        (6, 1, 0.49, None, 0.9),
        (7, 2, 0.49, None, 0.9),
        (6, 2, 0.001, [1, 0, 0, 0, 0], 0.5),
        (6, 1, 0.1, None, 0.999),
    ],
)
def test_containment_is_proved_where_a_linear_program_is_too_inexact(
    size: int, reach: int, noise: float, policy: Any, discount: float
) -> None:
    """Each of these was refuted, or refused, with tolerances of 1e-7."""
    system = theory.FiniteIsing((size,), reach, noise=noise)
    characterization = theory.characterize(
        system, system.expert if policy is None else policy, discount
    )
    proof = characterization.containment
    assert proof.holds
    assert proof.witness is None
    assert (proof.multipliers >= 0).all()
    product = proof.multipliers @ characterization.global_cone.rows
    np.testing.assert_allclose(product, characterization.local_cone.rows, atol=1e-9)
    # All inequalities are about differences: a constant reward matters in none of them.
    np.testing.assert_allclose(characterization.global_cone.rows.sum(axis=1), 0, atol=1e-12)
    assert len(characterization.global_cone.basis) < system.features.size
    assert isinstance(characterization.equal, bool)


def test_small_gains_keep_their_digits() -> None:
    """Near pure chance a gain is a product of small numbers: against long doubles."""
    system = theory.FiniteIsing((6,), noise=0.49)
    characterization = theory.characterize(system, system.expert, 0.9)
    swarm = theory.enumerate_swarm(system)
    noise = np.longdouble(system.noise)
    laws = np.where(swarm.laws > 0.5, 1 - noise, noise)
    actions = theory.policy_table(system, system.expert).argmax(axis=1)[swarm.observations]
    under = np.take_along_axis(laws, actions[None, :, :, None], axis=0)[0]

    def chances(agents: Any) -> Any:
        product = np.ones((64, 64), np.longdouble)
        for agent in range(6):
            product *= agents[:, agent][:, swarm.local[:, agent]]
        return product

    transitions = chances(under)
    seen = swarm.seen_by(0).toarray().astype(np.longdouble)
    seen -= seen.mean(axis=0)
    value = seen.copy()
    for _ in range(500):
        value = seen + np.longdouble(0.9) * (transitions @ value)
    for action in range(2):
        other = under.copy()
        other[:, 0] = laws[action][:, 0]
        expected = ((transitions - chances(other)) @ value).astype(float)
        error = np.linalg.norm(characterization.gains[action] - expected, axis=1)
        assert (error <= characterization.rounding[action]).all()
        assert (error <= 1e-5 * np.linalg.norm(expected, axis=1)).all()


@pytest.mark.parametrize("size", [6, 8])
def test_what_drowns_in_rounding_is_refused(size: int) -> None:
    for noise in (0.499, 0.4999):
        system = theory.FiniteIsing((size,), noise=noise)
        with pytest.raises(SolverError, match="pure chance"):
            theory.characterize(system, system.expert)
    chance = theory.FiniteIsing((size,), noise=0.5)  # here actions have no effect at all
    characterization = theory.characterize(chance, chance.expert)
    assert not len(characterization.local_cone.rows)
    assert not len(characterization.global_cone.rows)


def test_gains_that_are_lost_but_not_zero_are_refused() -> None:
    """With a discount of 1e-15 the second step counts, but no longer shows in the values."""
    system = theory.FiniteIsing((6,), noise=0.1)
    with pytest.raises(SolverError, match="lost in rounding"):
        theory.characterize(system, system.expert, 1e-15)
    assert theory.characterize(system, system.expert, 0.0).containment.holds


def test_a_large_ring_is_characterized_in_seconds() -> None:
    """Its 2^16 states have thousands of different inequalities."""
    system = theory.FiniteIsing((14,), noise=0.05, acting="one")
    characterization = theory.characterize(system, system.expert)
    assert len(characterization.global_cone.rows) > 1000
    assert characterization.containment.holds
    assert not characterization.equal


def test_without_noise_nothing_fades_and_the_cones_are_found_all_the_same() -> None:
    system = theory.FiniteIsing((8,))
    characterization = theory.characterize(system, system.expert)
    assert characterization.containment.holds
    assert characterization.global_cone.error < 1e-12
