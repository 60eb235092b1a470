"""Policies that are asked for an action."""

import numpy as np
import pytest

import swarmdp
from swarmdp.policies import Interface, InterpolatedPolicy, ParametricPolicy, SoftPolicy
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=20)
SEES = Interface.of(VICSEK)


def test_a_table_answers_as_in_a_roll_out() -> None:
    table = np.random.default_rng(1).integers(13, size=(2, 36))
    policy = swarmdp.Policy(table, SEES)
    seen = np.linspace(-3, 3, 7)
    classes = VICSEK.features.index(seen)
    np.testing.assert_array_equal(policy(seen), VICSEK.actions[table[0, classes]])
    np.testing.assert_array_equal(policy(seen, replica=1), VICSEK.actions[table[1, classes]])
    assert policy(0.5).shape == ()


def test_actions_that_are_drawn_depend_on_the_seed_alone() -> None:
    policy = SoftPolicy(np.full((36, 13), 1 / 13), SEES)
    seen = np.zeros((4, 50))
    np.testing.assert_array_equal(policy(seen, seed=1), policy(seen, seed=1))
    assert (policy(seen, seed=1) != policy(seen, seed=2)).any()


def test_other_kinds_answer_too() -> None:
    turns = np.clip(VICSEK.features.values, -0.5, 0.5)
    assert InterpolatedPolicy(turns, SEES)(0.2) == pytest.approx(0.2)
    half = ParametricPolicy([0.5], lambda seen, p: p[0] * seen, SEES)
    np.testing.assert_allclose(half([0.2, 0.4]), [0.1, 0.2])


def test_observations_of_several_components() -> None:
    features = swarmdp.Product(light=swarmdp.Angles(4), near=swarmdp.Levels(2))
    sees = Interface("Robots", features, np.array([0.0, 1.0]))
    policy = swarmdp.Policy([0, 1, 0, 1, 0, 1, 0, 1], sees)
    assert policy([0.0, 1.0]) == 1.0
    np.testing.assert_array_equal(policy([[0.0, 0.0], [0.0, 1.0]]), [0.0, 1.0])
    with pytest.raises(InvalidInput, match=r"must have the shape \(2,\)"):
        policy([0.0, 1.0, 2.0])


def test_what_cannot_be_asked() -> None:
    with pytest.raises(InvalidInput, match="is not known, so that it cannot be asked"):
        swarmdp.Policy([0, 1])(0)
    with pytest.raises(InvalidInput, match="replica must be from 0 to 0, got 3"):
        swarmdp.Policy(np.zeros(36, int), SEES)(0.0, replica=3)
