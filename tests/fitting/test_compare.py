"""`swarmdp.compare`: several reward updates on one demo."""

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.expectations import feature_expectations
from swarmdp.support.errors import InvalidInput
from tests.results import assert_same

ISING = swarmdp.Ising((6, 6), reach=1)
DEMO = swarmdp.rollout(ISING, ISING.expert, steps=50, seed=1)


def test_each_row_is_the_fit_of_its_update() -> None:
    names = ["max_margin", "maxent"]
    compared = swarmdp.compare(ISING, DEMO, seed=3, updates=names, iterations=2)
    assert list(compared.table.index) == names
    for name in names:
        alone = swarmdp.fit(ISING, DEMO, seed=3, update=name, iterations=2)
        assert_same(compared.results[name], alone)
        np.testing.assert_array_equal(compared.results[name].reward.weights, alone.reward.weights)
        row = compared.table.loc[name]
        assert row["distance"] == pytest.approx(float(alone.distance[0]))
        assert row["verdict"] == alone.verdicts[0].words
    assert "maxent" in repr(compared)
    assert "<table" in compared._repr_html_()


def test_updates_that_need_actions_say_so() -> None:
    """Feature expectations have no actions."""
    mu = feature_expectations(ISING, DEMO)
    compared = swarmdp.compare(
        ISING, mu, seed=3, updates=["projection", "bayesian"], iterations=2, judge=False
    )
    assert list(compared.results) == ["projection"]
    assert "actions" in compared.refused["bayesian"]
    assert "bayesian: not used" in repr(compared)
    with pytest.raises(InvalidInput, match="actions"):
        swarmdp.compare(ISING, mu, seed=3, updates=["bayesian"], judge=False)


def test_wrong_names_are_refused_before_the_work() -> None:
    with pytest.raises(InvalidInput, match="update must be one of"):
        swarmdp.compare(ISING, DEMO, seed=3, updates=["max_margin", "magic"])
    with pytest.raises(InvalidInput, match="name the updates to compare"):
        swarmdp.compare(ISING, DEMO, seed=3, update="maxent")
    mu, updates = feature_expectations(ISING, DEMO), ["bayesian", "policy_matching"]
    with pytest.raises(InvalidInput, match="none of these"):
        swarmdp.compare(ISING, mu, seed=3, updates=updates, judge=False)
