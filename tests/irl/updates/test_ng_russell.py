import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Gridworld
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates.ng_russell import NgRussell, better_than, ng_russell
from swarmdp.policies import SoftPolicy
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from tests.systems.test_finite import random_mdp

GRID = Gridworld()
TRANSITIONS = GRID.mdp.dense()
POLICY = table_of(swarmdp.learning.plan(GRID, GRID.reward).policy)[0]
TRUE = GRID.reward.weights[0]


@pytest.mark.parametrize(("penalty", "objective"), [(0.0, 23.03402), (1.0, 9.801993)])
def test_the_known_objectives_of_the_grid(penalty: float, objective: float) -> None:
    solution = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=penalty)
    assert solution.objective == pytest.approx(objective, rel=2e-7)
    assert np.abs(solution.reward).max() <= 1 + 1e-12


@pytest.mark.parametrize("penalty", [2.9705, 5.0, 7.0315])
def test_the_true_reward_is_found(penalty: float) -> None:
    solution = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=penalty)
    np.testing.assert_allclose(solution.reward, TRUE, atol=1e-9)


def test_below_it_is_more_and_above_it_is_nothing() -> None:
    below = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=2.96)
    assert np.abs(below.reward - TRUE).max() > 0.1
    above = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=7.04)
    np.testing.assert_allclose(above.reward, 0, atol=1e-12)


def test_the_objective_is_what_it_says() -> None:
    """Margins of the found reward, by planning: what the next best action costs in each state."""
    solution = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=0.5)
    value = np.linalg.solve(np.eye(25) - 0.9 * TRANSITIONS[np.arange(25), POLICY], solution.reward)
    following = TRANSITIONS @ value
    chosen = following[np.arange(25), POLICY]
    others = np.where(np.arange(4) == POLICY[:, None], -np.inf, following).max(axis=1)
    assert (chosen - others >= -1e-9).all()
    assert solution.margin == pytest.approx((chosen - others).sum(), abs=1e-8)
    assert solution.objective == pytest.approx(
        solution.margin - 0.5 * np.abs(solution.reward).sum()
    )


def test_the_bound_scales_the_reward() -> None:
    one = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=5.0)
    ten = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=5.0, largest=10.0)
    np.testing.assert_allclose(ten.reward, 10 * one.reward, atol=1e-8)
    single = ng_russell(TRANSITIONS[:, :1], np.zeros(25, int), discount=0.9)
    np.testing.assert_array_equal(single.reward, 0)


def test_trajectory_form_worked_by_hand() -> None:
    """Gaps (1, -1) and (-1/2, -2): w = (1, -1) gains 2 and 3/2, (-1, -1) only 0 and 5/2."""
    weights, value = better_than(np.zeros(2), np.array([[-1, 1], [0.5, 2]]))
    np.testing.assert_allclose(weights, [1, -1])
    assert value == pytest.approx((2 + 1.5) / 2)
    # a gap that only loses: the penalty of 2 outweighs the other policy's gain
    weights, value = better_than(np.zeros(1), np.array([[-1.0], [0.9]]))
    np.testing.assert_array_equal(weights, 0)
    assert value == 0
    weights, value = better_than(np.zeros(1), np.array([[-1.0], [0.9]]), penalty=1.0)
    np.testing.assert_allclose(weights, 1)
    assert value == pytest.approx(0.05)


def test_an_expert_that_is_matched_leaves_nothing() -> None:
    weights, value = better_than(np.ones(3), np.ones((2, 3)))
    np.testing.assert_array_equal(weights, 0)
    assert value == 0


def test_the_grid_is_learned_from_feature_expectations() -> None:
    expert = swarmdp.learning.plan(GRID, GRID.reward)
    mu = exact_expectations(GRID, expert.policy, discount=0.9, steps=None)
    result = swarmdp.fit(
        GRID, mu, seed=1, update="ng_russell", first_reward="random", iterations=30, judge=False
    )
    assert float(result.history.mu[result.chosen[0], 0] @ TRUE) > 0.95 * float(mu[0] @ TRUE)


def test_an_end_without_a_match_is_told() -> None:
    """The program has no solution but zero, though no policy found is the expert's."""
    mdp = random_mdp(0, features=3)
    expert = SoftPolicy(np.random.default_rng(0).dirichlet(np.ones(3), size=6))
    mu = exact_expectations(mdp, expert, discount=0.9, steps=None)
    with pytest.warns(SwarmdpWarning, match=r"no reward separates the expert .* use max_margin"):
        result = swarmdp.fit(mdp, mu, seed=1, update="ng_russell", iterations=15, judge=False)
    assert result.margin[0] == 0
    assert result.distance[0] > 1e-3
    linear = swarmdp.fit(mdp, mu, seed=1, update=NgRussell(penalty=1), iterations=15, judge=False)
    assert linear.margin[0] > 0
    matched = exact_expectations(mdp, result.policy, discount=0.9, steps=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        swarmdp.fit(mdp, matched, seed=1, update="ng_russell", iterations=15, judge=False)


def test_transitions_are_taken_as_a_finite_mdp_takes_them() -> None:
    dense = ng_russell(TRANSITIONS, POLICY, discount=0.9, penalty=1)
    matrices = [TRANSITIONS[:, a] for a in range(4)]
    listed = ng_russell(matrices, POLICY, discount=0.9, penalty=1)
    np.testing.assert_array_equal(listed.reward, dense.reward)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (np.full(25, 0.1), "follows state 3 and action 1 must sum to 1, got 2.5"),
        (np.append([2.0, -1.0], np.zeros(23)), "must be numbers that are not negative"),
        (np.full(25, np.nan), "must be numbers that are not negative"),
    ],
)
def test_rows_that_are_no_probabilities_are_refused(row: NDArray[np.float64], message: str) -> None:
    wrong = TRANSITIONS.copy()
    wrong[3, 1] = row
    with pytest.raises(InvalidInput, match=message):
        ng_russell(wrong, POLICY, discount=0.9)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\(states, actions, states\), got \(25, 4\)"):
        ng_russell(TRANSITIONS[0].T, POLICY, discount=0.9)
    with pytest.raises(InvalidInput, match=r"a policy of shape \(25,\).*got \(24,\)"):
        ng_russell(TRANSITIONS, POLICY[1:], discount=0.9)
    for wrong in ({"penalty": np.inf}, {"penalty": -1.0}, {"largest": np.inf}, {"largest": 0.0}):
        with pytest.raises(InvalidInput, match="penalty finite and not negative, largest finite"):
            ng_russell(TRANSITIONS, POLICY, discount=0.9, **wrong)
    with pytest.raises(InvalidInput, match="action indices from 0 to 3"):
        ng_russell(TRANSITIONS, POLICY + 4, discount=0.9)
    with pytest.raises(InvalidInput, match=r"discount must be in \[0, 1\)"):
        ng_russell(TRANSITIONS, POLICY, discount=1.0)
    with pytest.raises(InvalidInput, match="penalty must be at least 1"):
        NgRussell(penalty=0.5)
