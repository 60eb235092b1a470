"""Actions between the listed ones."""

import numpy as np
import pytest

import swarmdp
from swarmdp.policies import InterpolatedPolicy
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=10)


def test_the_action_is_the_top_of_a_parabola_through_the_best_three() -> None:
    """Q-values that are a parabola of the turn are maximised exactly, wherever their top is."""
    tops = np.linspace(-0.9, 0.9, 36)
    q = -((VICSEK.actions - tops[:, None]) ** 2)[None]
    table = q.argmax(axis=2)
    policy = InterpolatedPolicy.of(VICSEK, q, table)
    np.testing.assert_allclose(policy.values[0], tops, atol=1e-12)


def test_at_the_ends_and_where_nobody_was_nothing_lies_between() -> None:
    q = np.zeros((1, 36, 13))
    q[0, 0] = VICSEK.actions  # the best action is the last one
    q[0, 1] = -VICSEK.actions  # the first one
    q[0, 2, 4] = 1.0
    table = q.argmax(axis=2)
    seen = np.ones((1, 36), bool)
    seen[0, 2] = False
    values = InterpolatedPolicy.of(VICSEK, q, table, seen).values[0]
    assert values[0] == VICSEK.actions[-1]
    assert values[1] == VICSEK.actions[0]
    assert values[2] == 0.0


def test_a_turn_is_a_continuous_function_of_the_misalignment() -> None:
    """Between two classes the turn changes along a line, also across the back of the circle."""
    rng = np.random.default_rng(3)
    policy = InterpolatedPolicy(rng.uniform(-1, 1, size=(1, 36)))
    fine = np.linspace(-np.pi, np.pi, 3601)
    turns = policy.act(VICSEK, fine[None], np.zeros(1, np.int64))[0]
    centres = VICSEK.features.values
    at_centres = policy.act(VICSEK, centres[None], np.zeros(1, np.int64))[0]
    np.testing.assert_allclose(at_centres, policy.values[0], atol=1e-12)
    steepest = np.abs(np.diff(policy.values[0], append=policy.values[0, :1])).max() / 100
    assert np.abs(np.diff(turns)).max() <= steepest * (1 + 1e-9)
    assert turns[0] == pytest.approx(turns[-1])


def test_where_there_is_nothing_between_interpolation_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least three actions that are rising"):
        InterpolatedPolicy(np.zeros(25)).check(swarmdp.Ising((5, 5)))
    with pytest.raises(InvalidInput, match="has actions for 5 observations, but Vicsek has 36"):
        InterpolatedPolicy(np.zeros(5)).check(VICSEK)
    with pytest.raises(InvalidInput, match="finite actions"):
        InterpolatedPolicy([np.nan])
