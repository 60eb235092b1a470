"""Equilibria, best responses and prices, against their definitions."""

import itertools

import numpy as np
import pytest

import swarmdp
from swarmdp import Policy, theory
from swarmdp.support.errors import InvalidInput
from swarmdp.theory.finite_swarm import FiniteSwarm
from tests.theory import oracles

DISCOUNT = 0.8
SYSTEMS: list[FiniteSwarm] = [
    theory.FiniteIsing((4,), noise=0.1),
    theory.VicsekRing(3, 3, radius=0, noise=0.2),
    theory.RandomSwarm(2, 2, 3, 2, seed=4),
    theory.RandomSwarm(3, 2, 2, 3, acting="one", seed=5),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=str)
def test_equilibria_are_those_of_the_definition(system: FiniteSwarm) -> None:
    game = theory.game(system, DISCOUNT)
    observations, actions = system.features.size, len(system.actions)
    assert len(game.tables) == actions**observations
    assert len(np.unique(game.tables, axis=0)) == len(game.tables)
    assert game.settled.all()
    rng = np.random.default_rng(1)
    total = 0
    for reward in rng.normal(size=(10, observations)):
        equilibria = set(game.equilibria(reward).tolist())
        for number, table in enumerate(game.tables):
            chain = theory.chain(system, table)
            q = chain.local_q(reward, DISCOUNT)
            played = q[np.arange(observations), table]
            assert (number in equilibria) == bool(np.nanmax(np.nanmax(q, axis=1) - played) <= 1e-9)
            in_cone = theory.characterize(system, table, DISCOUNT).local_cone.contains(reward)
            assert (number in equilibria) == in_cone
            judged = game.judge(table, reward)
            assert judged.equilibrium == (number in equilibria)
            assert judged.regret == pytest.approx(np.nanmax(np.nanmax(q, axis=1) - played))
            mean = np.nansum((np.nanmax(q, axis=1) - played) * chain.observed())
            assert judged.mean_regret == pytest.approx(mean)
            assert judged.value == pytest.approx(chain.global_value(reward, DISCOUNT))
            assert judged.equilibria == len(equilibria)
            response = theory.best_response(system, table, reward, DISCOUNT)
            assert (response == table).all() == (number in equilibria)
        total += len(equilibria)
    assert total


@pytest.mark.parametrize("system", SYSTEMS[1:3], ids=str)
def test_fixed_points_are_optimal_for_their_own_kernel(system: FiniteSwarm) -> None:
    """Against all other policies in the same kernel, one by one."""
    game = theory.game(system, DISCOUNT)
    observations = system.features.size
    reward = np.random.default_rng(2).normal(size=observations)
    rows = np.arange(observations)
    fixed = set(game.fixed_points(reward).tolist())
    for number, table in enumerate(game.tables):
        kernel = game.kernels[number]
        seen = oracles.observations(system)[:, 0]
        law = theory.chain(system, table).law()
        then = theory.chain(system, table).deviating(1).toarray()
        expected = oracles.conditional(law, seen, 0) @ then @ np.eye(observations)[seen]
        np.testing.assert_allclose(kernel[0, 1], expected, atol=1e-12)

        def worth(other: np.ndarray, kernel: np.ndarray = kernel) -> np.ndarray:
            system_matrix = np.eye(observations) - DISCOUNT * kernel[rows, other]
            return np.linalg.solve(system_matrix, reward)

        value = worth(table)
        best = np.max([worth(other) for other in game.tables], axis=0)
        assert (number in fixed) == bool((best <= value + 1e-9).all())


def test_fixed_points_are_equilibria_when_the_observation_tells_the_state() -> None:
    for seed in range(5):
        system = theory.RandomSwarm(2, 2, None, 2, seed=seed)
        game = theory.game(system, DISCOUNT)
        for reward in np.random.default_rng(seed).normal(size=(10, 4)):
            np.testing.assert_array_equal(game.equilibria(reward), game.fixed_points(reward))


def test_the_central_controller_is_the_best_there_is() -> None:
    """Against all functions from joint states to joint actions, one by one."""
    system = theory.RandomSwarm(2, 2, 3, 2, seed=6)
    control = theory.joint_control(system, DISCOUNT)
    swarm = theory.enumerate_swarm(system)
    states = oracles.joint_states(system)
    joint = list(itertools.product(range(2), repeat=2))
    rows = np.array(
        [[oracles.transition(system, dict(enumerate(a)), s) for s in states] for a in joint]
    )
    for reward in np.random.default_rng(7).normal(size=(3, 3)):
        gained = reward[swarm.observations].mean(axis=1)
        best = max(
            swarm.initial
            @ np.linalg.solve(np.eye(4) - DISCOUNT * rows[list(choice), range(4)], gained)
            for choice in itertools.product(range(4), repeat=4)
        )
        assert control.value(reward) == pytest.approx(best, abs=1e-10)


def test_prices_are_in_order() -> None:
    for system in SYSTEMS:
        game = theory.game(system, DISCOUNT)
        for reward in np.random.default_rng(8).normal(size=(20, system.features.size)):
            prices = game.prices(reward)
            assert prices.locality >= 1 - 1e-9
            if np.isnan(prices.best_equilibrium):
                assert len(game.equilibria(reward)) == 0
                continue
            assert prices.anarchy >= prices.stability - 1e-12
            assert prices.stability >= 1 - 1e-9
            # Shifting and scaling a reward changes nothing.
            other = game.prices(3 * reward - 7)
            assert other.anarchy == pytest.approx(prices.anarchy)
            assert other.locality == pytest.approx(prices.locality)


def test_a_swarm_that_should_align() -> None:
    """Rewarded for low energy, the majority vote is an equilibrium, and so is its mirror image."""
    system = theory.FiniteIsing((6,), noise=0.05)
    game = theory.game(system)
    reward = [1.0, 0.5, 0.0]
    actual = {tuple(game.tables[i].tolist()) for i in game.equilibria(reward)}
    assert (0, 0, 1) in actual
    assert (1, 1, 0) in actual
    vote, mirror = game.judge([0, 0, 1], reward), game.judge([1, 1, 0], reward)
    assert vote.value == pytest.approx(mirror.value)  # the energies cannot tell them apart
    assert vote.value == pytest.approx(vote.best_value)
    path = theory.best_responses(system, reward)
    assert path.converged
    assert tuple(path.tables[-1].tolist()) in actual


def test_best_responses_may_go_round() -> None:
    """Where there is no deterministic equilibrium they cannot settle."""
    system = theory.VicsekRing(3, 3, noise=0.2)
    game = theory.game(system)
    rewards = np.random.default_rng(0).normal(size=(60, 3))
    without = [r for r in rewards if len(game.equilibria(r)) == 0]
    assert without
    for reward in without[:5]:
        path = theory.best_responses(system, reward)
        assert not path.converged
        last = theory.best_response(system, path.tables[-1], reward)
        assert any((last == table).all() for table in path.tables[:-1])


def test_what_algorithm_2_learns_can_be_judged() -> None:
    system = theory.FiniteIsing((6,), noise=0.1)
    game = theory.game(system)
    reward = swarmdp.Reward([1.0, 0.5, 0.0])
    learned = swarmdp.learning.HeterogeneousLearning()(system, reward, discount=0.9, seed=1)
    judged = game.judge(learned.policy, reward)
    assert judged.equilibrium
    assert judged.fixed_point
    assert judged.regret <= 1e-9
    assert judged.better_equilibria == 0


def test_what_algorithm_1_learns_can_be_judged() -> None:
    system = theory.FiniteIsing((6,), noise=0.1)
    demo = swarmdp.rollout(system, system.expert, steps=100, runs=200, seed=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=5, judge=False)
    cones = theory.characterize(system, system.expert, 0.9)
    assert cones.local_cone.contains(result.reward)
    assert not cones.global_cone.contains(result.reward)  # nothing but constants is in there


def test_policies_without_a_limit_are_marked() -> None:
    start = np.zeros(16)
    start[0b0101] = 1
    swarm = theory.enumerate_swarm(theory.FiniteIsing((4,)), initial=start)
    game = theory.game(swarm)
    blinks = game.number([0, 0, 1])
    assert not game.settled[blinks]
    assert np.isnan(game.advantages([1.0, 0.0, 0.0])[blinks]).all()
    assert blinks not in game.equilibria([1.0, 0.0, 0.0])
    assert blinks not in game.fixed_points([1.0, 0.0, 0.0])


def test_observations_that_never_occur_are_left_out() -> None:
    """With an odd number of neighbours there is no tie."""
    system = theory.FiniteIsing((4,), 2, "majority", noise=0.1)
    game = theory.game(system)
    assert len(game.tables) == 4
    assert game.number(Policy([1, 0, 0])) == game.number(Policy([1, 1, 0]))


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"2\^32 = 4294967296 .* at most 12 observations"):
        theory.game(theory.FiniteIsing((6,), 2, "spins"))
    with pytest.raises(InvalidInput, match="8 agents with two local states"):
        theory.joint_control(theory.FiniteIsing((10,)))
    small = theory.game(theory.FiniteIsing((3,), noise=0.1))
    with pytest.raises(InvalidInput, match="stochastic"):
        small.judge(np.full((3, 2), 0.5), [1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="constant"):
        small.prices([1.0, 1.0, 1.0])


def test_prices_are_of_rewards_that_can_be_gained() -> None:
    """With an odd number of neighbours there is no tie, whatever is paid for it."""
    system = theory.FiniteIsing((4,), 2, "majority", noise=0.1)
    game = theory.game(system)
    prices = [game.prices([1.0, tie, 0.0]) for tie in (0.5, 1e6, -1e6)]
    for other in prices[1:]:
        assert other.locality == pytest.approx(prices[0].locality)
    np.testing.assert_array_equal(
        game.equilibria([1.0, 1e12, 0.0]), game.equilibria([1.0, 0.5, 0.0])
    )
    with pytest.raises(InvalidInput, match="constant"):
        game.prices([1.0, 2.0, 1.0])


def test_prices_of_nothing_are_infinite_or_undefined() -> None:
    """Aligned spins that cannot fail stay so: only a commander can let one see one unlike it."""
    game = theory.game(theory.FiniteIsing((4,), magnetisation=1.0))
    prices = game.prices([0.0, 1.0, 0.0])
    assert prices.local == prices.worst_equilibrium == 0
    assert prices.locality == np.inf
    assert np.isnan(prices.anarchy)
    assert np.isnan(prices.stability)
    assert theory.Prices(2.0, 1.0, 1.0, 0.0).anarchy == np.inf
    assert np.isnan(theory.Prices(1.0, 1.0, np.nan, np.nan).stability)


def test_best_responses_say_when_there_is_no_limit() -> None:
    start = np.zeros(16)
    start[0b0101] = 1
    swarm = theory.enumerate_swarm(theory.FiniteIsing((4,)), initial=start)
    with pytest.raises(theory.NoLimit):
        theory.best_responses(swarm, [1.0, 0.0, 0.0], start=[0, 0, 1])
