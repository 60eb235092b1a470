"""The time scale of a demo, and the discount that sees it."""

import math

import numpy as np
import pytest

import swarmdp
from swarmdp.judging.discounts import LEAST, better_discount, relaxation_time


@pytest.mark.parametrize("tau", [5.0, 20.0, 40.0])
def test_an_exponential_course_has_its_own_time(tau: float) -> None:
    course = 1 - np.exp(-np.arange(400) / tau)
    assert relaxation_time(course) == pytest.approx(tau, abs=1.0)


def test_a_course_that_has_not_settled_is_slow() -> None:
    assert relaxation_time(np.linspace(0, 1, 101)) >= 50


def test_a_course_that_only_fluctuates_is_fast() -> None:
    assert relaxation_time(np.random.default_rng(0).normal(size=200)) == 1.0


def test_a_slow_swarm_is_told_that_its_discount_is_blind() -> None:
    slow = 1 - np.exp(-np.arange(500) / 50)
    better = better_discount(slow, 0.9)
    assert better is not None
    assert better == pytest.approx(1 - 1 / 50, abs=0.002)
    assert better_discount(slow, 0.98) is None
    assert better_discount(1 - np.exp(-np.arange(500) / 5), 0.9) is None
    # The demo is too short for a discount that would see much farther.
    assert better_discount(np.linspace(0, 1, 51), 0.9) is None


def test_the_suggestion_leaves_at_most_one_percent_beyond_the_demo() -> None:
    sparse = swarmdp.Vicsek(n_agents=50, radius=0.05, noise=math.radians(5))
    demo = swarmdp.rollout(sparse, sparse.expert, steps=80, seed=1)
    actual = swarmdp.judging.suggested_discount(sparse, demo)
    assert actual > LEAST
    assert actual ** (demo.steps + 1) <= 0.01
    swarmdp.fitting.Fit.of(sparse, demo, seed=1, discount=actual)


def test_fast_swarms_keep_the_papers_discount() -> None:
    ising = swarmdp.Ising(shape=(30, 30))
    demo = swarmdp.rollout(ising, ising.expert, steps=60, seed=1)
    assert swarmdp.judging.suggested_discount(ising, demo) == LEAST


def test_observations_alone_have_a_time_scale_too() -> None:
    vicsek = swarmdp.Vicsek(n_agents=50, radius=0.2)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=60, seed=1, record="observations")
    assert LEAST <= swarmdp.judging.suggested_discount(vicsek, demo) < 1
