from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import swarmdp
from swarmdp import FiniteMDP, Result
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates import MWAL
from swarmdp.irl.updates.mwal import bound
from swarmdp.support.errors import InvalidInput
from tests.results import MAY_BE_CONSTANT, not_none
from tests.systems.test_finite import random_mdp


def game_value(mdp: FiniteMDP, expert: NDArray[np.float64], discount: float) -> float:
    """The linear program: of all discounted visits x(s, a), the largest least gain of a feature."""
    states, actions = mdp.n_states, mdp.n_actions
    phi = getattr(mdp.features, "matrix", np.eye(states))
    visits = np.repeat(np.eye(states), actions, axis=1)
    flow = visits - discount * mdp.dense().reshape(states * actions, states).T
    solution = linprog(
        np.append(np.zeros(states * actions), -1.0),
        A_ub=np.hstack([-phi.T @ visits, np.ones((phi.shape[1], 1))]),
        b_ub=-expert,
        A_eq=np.hstack([flow, np.zeros((states, 1))]),
        b_eq=mdp.start,
        bounds=[(0, None)] * (states * actions) + [(None, None)],
    )
    assert solution.status == 0
    return -float(solution.fun)


def own_value(result: Result, rounds: int) -> float:
    """The least gain of the uniform mixture of the first rounds."""
    gains = result.history.mu[:rounds, 0].mean(axis=0) - result.expert_mu[0]
    return float(gains.min())


@MAY_BE_CONSTANT
@pytest.mark.parametrize("rounds", [None, 400])
@pytest.mark.parametrize("seed", range(4))
def test_the_mixture_reaches_the_value_of_the_game(seed: int, rounds: int | None) -> None:
    discount = 0.8
    mdp = random_mdp(seed, states=12, features=5)
    rng = np.random.default_rng(seed)
    expert = swarmdp.policies.SoftPolicy(rng.dirichlet(np.ones(3), size=12))
    mu = exact_expectations(mdp, expert, discount=discount, steps=None)
    best = game_value(mdp, mu[0], discount)
    result = swarmdp.fit(
        mdp,
        mu,
        seed=1,
        update=MWAL(rounds),
        iterations=400,
        discount=discount,
        tolerance=0.0,
        judge=False,
    )
    gap = best - own_value(result, 400)
    largest = float(mdp.features.matrix.max())  # type: ignore[union-attr]
    assert -1e-9 <= gap <= bound(400, 5, discount, largest)
    # The margin is a certificate: the mixture is at most so far from the best.
    assert gap <= result.margin[0] + 1e-9
    if rounds is None:
        for fewer in (25, 100):
            assert best - own_value(result, fewer) <= bound(fewer, 5, discount, largest)
        assert gap < 0.6 * (best - own_value(result, 25)) + 1e-9


def test_a_bad_expert_is_improved_on() -> None:
    """The expert does the worst for all features; the mixture gains under every reward at once."""
    mdp = random_mdp(11, states=12, features=4)
    worst = swarmdp.learning.plan(mdp, swarmdp.Reward(-np.ones(4)))
    mu = exact_expectations(mdp, worst.policy, discount=0.9, steps=None)
    assert game_value(mdp, mu[0], 0.9) > 0.1
    result = swarmdp.fit(mdp, mu, seed=1, update="mwal", iterations=100, judge=False)
    assert own_value(result, len(result.iterations)) > 0
    assert (result.mixture_mu[0] > mu[0]).all()


@MAY_BE_CONSTANT
def test_the_rules() -> None:
    """Uniform at first; then what the expert has more of than the policies weighs more."""
    mdp = random_mdp(3, states=6, features=3)
    expert = swarmdp.learning.plan(mdp, swarmdp.Reward([1.0, 0.0, 0.0]))
    mu = exact_expectations(mdp, expert.policy, discount=0.9, steps=None)
    result = swarmdp.fit(mdp, mu, seed=1, update="mwal", iterations=5, judge=False)
    np.testing.assert_allclose(result.history.weights[0], 1 / 3)
    np.testing.assert_allclose(result.history.weights.sum(axis=2), 1)
    assert (result.history.weights > 0).all()
    gains = result.history.mu[0, 0] - mu[0]
    ranks = np.argsort(gains), np.argsort(-result.history.weights[1, 0])
    np.testing.assert_array_equal(*ranks)
    assert result.settings["first_reward"] == "own"
    last = len(result.iterations)
    np.testing.assert_allclose(result.mixture.weights, 1 / last)


def test_policies_that_are_not_the_best_answers_do_not_end_the_game() -> None:
    """After one bad answer the certificate of a game of best answers would be zero."""
    answers: list[swarmdp.Reward] = []

    def bad_at_first(system: swarmdp.System, reward: swarmdp.Reward, **wishes: Any) -> Any:
        answers.append(swarmdp.Reward(reward.weights if answers else -reward.weights))
        return swarmdp.learning.plan(system, answers[-1])

    mdp = random_mdp(11, states=12, features=4)
    best = swarmdp.learning.plan(mdp, swarmdp.Reward(np.ones(4)))
    mu = exact_expectations(mdp, best.policy, discount=0.9, steps=None)
    result = swarmdp.fit(
        mdp, mu, seed=1, update="mwal", learner=bad_at_first, iterations=6, judge=False
    )
    assert len(result.iterations) == 6
    largest = float(mdp.features.matrix.max())  # type: ignore[union-attr]
    np.testing.assert_allclose(
        result.history.margin[:, 0], [bound(t, 4, 0.9, largest) for t in range(1, 7)]
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="rounds must be at least 1"):
        MWAL(rounds=0)


def test_features_without_classes_that_are_too_large_for_the_bound_are_refused() -> None:
    """The mean of a feature over time cannot be above the largest feature."""
    expert, learned = np.array([[10.0, 4.0]]), np.array([[[-10.0, 2.0]]])

    def evidence(scale: float, observations: int) -> swarmdp.updates.Evidence:
        weights = np.full((1, 1, 2), 0.5)
        return swarmdp.updates.Evidence(
            scale * expert, scale * learned, weights, 0.9, observations, 13, seed=0
        )

    np.testing.assert_allclose(not_none(MWAL()(evidence(1.0, 0)).margin), bound(1, 2, 0.9))
    with pytest.raises(InvalidInput, match="features from -1 to 1, but .* up to 1.5: divide"):
        MWAL()(evidence(1.5, 0))
