"""The price of locality, where it is known exactly."""

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery.development import cases
from swarmdp import theory
from swarmdp.judging import price_of_locality
from swarmdp.judging.price import price_in_words
from swarmdp.model.trajectory import Variable
from swarmdp.support.errors import InvalidInput

RING = theory.FiniteIsing((4,), reach=1, noise=0.2, sees="spins")
DISCOUNT, STEPS = 0.9, 60
REWARD = np.where(np.arange(8) % 4 == 1, 1.0, 0.0)  # an agent likes neighbours that differ


def central_demo(runs: int) -> tuple[swarmdp.Trajectory, float]:
    """Runs of the best central controller, and what it is worth."""
    demo, value, _ = central_demo_and_chain(runs)
    return demo, value


def central_demo_and_chain(
    runs: int,
) -> tuple[swarmdp.Trajectory, float, Callable[[NDArray[np.float64]], float]]:
    """The same, and what this controller gets of another reward."""
    control = theory.joint_control(RING, DISCOUNT)
    swarm, value = control.swarm, control.value(REWARD)
    gained = REWARD[swarm.observations].mean(axis=1)
    worth = np.zeros(swarm.n_states)
    for _ in range(500):  # value iteration
        then = gained + DISCOUNT * control.transitions @ worth
        worth = then.max(axis=0)
    chosen = control.transitions[then.argmax(axis=0), np.arange(swarm.n_states)]
    rng = np.random.default_rng(1)
    state = rng.choice(swarm.n_states, p=swarm.initial, size=runs)
    path = [state]
    for _ in range(STEPS):
        chance = rng.uniform(size=(runs, 1))
        state = (np.cumsum(chosen[state], axis=1) <= chance).sum(axis=1).clip(max=len(worth) - 1)
        path.append(state)
    places = [RING.place(swarm.local[now]) for now in path]
    variables = {}
    for name, array in places[0].items():
        if RING.fields[name].constant:
            variables[name] = Variable(array, ("run", "agent"))
        else:
            stacked = np.stack([place[name] for place in places], axis=1)
            variables[name] = Variable(stacked, ("run", "time", "agent"))
    settings = {"shape": [4]}

    def worth_of(weights: NDArray[np.float64]) -> float:
        gained = weights[swarm.observations].mean(axis=1)
        values = np.linalg.solve(np.eye(swarm.n_states) - DISCOUNT * chosen, gained)
        return float(swarm.initial @ values)

    demo = swarmdp.Trajectory(variables, "FiniteIsing", settings, runs, STEPS)
    return demo, value, worth_of


def test_the_price_is_the_exact_one() -> None:
    demo, central = central_demo(400)
    local = max(
        theory.chain(RING, np.array(table)).global_value(REWARD, DISCOUNT)
        for table in product((0, 1), repeat=8)
    )
    search = swarmdp.learning.PolicySearch(candidates=64, budget=6000)
    price = price_of_locality(
        demo, RING, swarmdp.Reward(REWARD), seed=2, discount=DISCOUNT, learner=search, runs=1000
    )
    cut = DISCOUNT ** (STEPS + 1) / (1 - DISCOUNT)
    assert central - local > 0.05
    assert abs(price.demo - central) < 4 * price.error + cut
    assert abs(price.price - (central - local)) < 4 * price.error + cut
    assert "Price of locality" in repr(price)


def test_of_a_fit_it_is_that_of_its_reward() -> None:
    demo, value, worth_of = central_demo_and_chain(400)
    assert worth_of(REWARD) == pytest.approx(value, rel=1e-6)
    result = swarmdp.fit(RING, demo, seed=3, iterations=2, judge=False)
    weights = result.reward.weights[0]
    local = max(
        theory.chain(RING, np.array(table)).global_value(weights, DISCOUNT)
        for table in product((0, 1), repeat=8)
    )
    search = swarmdp.learning.PolicySearch(candidates=64, budget=6000)
    price = price_of_locality(demo, RING, result, seed=2, learner=search, runs=1000)
    cut = np.abs(weights).max() * DISCOUNT ** (STEPS + 1) / (1 - DISCOUNT)
    exact = worth_of(weights) - local
    assert abs(price.price - exact) < 4 * price.error + cut
    # The fit's own policy is one of the local ones, so it costs as much or more.
    words = price_in_words(RING, demo, result, seed=4)
    told = float(re.findall(r"local agents (\S+) ±", words)[0])
    assert told > exact - 4 * price.error * np.sqrt(1000 / 40) - cut


def test_a_fit_of_agents_that_follow_a_cue_tells_the_price() -> None:
    case = next(case for case in cases() if case.name == "tide")
    quick = swarmdp.learning.HeterogeneousLearning(steps=60)
    with pytest.warns(swarmdp.errors.VerdictWarning, match="a common cue"):
        result = swarmdp.fit(case.system, case.demo(1), seed=1, iterations=2, learner=quick)
    assert result.verdict is not None
    (note,) = (note for note in result.verdict.notes if "price of locality" in note)
    assert "less: the price of locality is at most that" in note


def test_what_cannot_be_asked_is_refused() -> None:
    demo, _ = central_demo(2)
    with pytest.raises(InvalidInput, match="one reward at a time"):
        price_of_locality(demo, RING, swarmdp.Reward(np.ones((2, 8))), seed=1)
    with pytest.raises(InvalidInput, match="a trajectory of the expert"):
        price_of_locality(np.ones(8), RING, swarmdp.Reward(np.ones(8)), seed=1)
