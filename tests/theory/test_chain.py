"""Exact values: against the definitions in plain loops, against simulation, and at full size."""

import subprocess
import sys
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

import swarmdp
from swarmdp import Reward, theory
from swarmdp.irl.expectations import feature_expectations, simulated_expectations, standard_error
from swarmdp.model.system import State
from swarmdp.policies import Policy
from swarmdp.theory.finite_swarm import FiniteSwarm
from tests.examples import ROOT
from tests.theory import oracles
from tests.theory.test_enumeration import SMALL

DISCOUNT = 0.8


@pytest.mark.parametrize("system", SMALL, ids=str)
def test_values_are_those_of_the_definitions(system: FiniteSwarm) -> None:
    rng = np.random.default_rng(5)
    observations, actions = system.features.size, len(system.actions)
    policy = rng.dirichlet(np.ones(actions), size=observations)
    reward = rng.normal(size=observations)
    agent = 1
    chain = theory.chain(system, policy)

    seen = oracles.observations(system)[:, agent]
    transitions = oracles.chain(system, policy)
    private = oracles.private_value(transitions, reward[seen], DISCOUNT)
    q = np.stack(
        [
            reward[seen] + DISCOUNT * (oracles.chain(system, policy, agent, a) @ private)
            for a in range(actions)
        ],
        axis=1,
    )
    initial = chain.swarm.initial
    late = initial @ np.linalg.matrix_power(transitions, 2**20)
    assert chain.limit.exists
    np.testing.assert_allclose(chain.private_value(reward, DISCOUNT, agent), private, atol=1e-11)
    np.testing.assert_allclose(chain.private_q(reward, DISCOUNT, agent), q, atol=1e-11)
    np.testing.assert_allclose(chain.visits(DISCOUNT, agent) @ reward, private, atol=1e-11)
    assert chain.global_value(reward, DISCOUNT, agent) == pytest.approx(
        initial @ private, abs=1e-11
    )
    assert chain.expectations(DISCOUNT, agent) @ reward == pytest.approx(initial @ private)
    for time, law in ((0, initial), (3, initial @ np.linalg.matrix_power(transitions, 3))):
        given = chain.given_observation(time, agent).toarray()
        for o in np.unique(seen):
            expected = oracles.conditional(law, seen, o)
            np.testing.assert_allclose(given[o], expected, atol=1e-12)
            local = chain.local_value(reward, DISCOUNT, time=time, agent=agent)
            assert local[o] == pytest.approx(expected @ private, abs=1e-10)
    value = chain.local_value(reward, DISCOUNT, agent=agent)
    action_value = chain.local_q(reward, DISCOUNT, agent=agent)
    for o in range(observations):
        if late[seen == o].sum() < 1e-12:
            assert np.isnan(value[o])
            continue
        expected = oracles.conditional(late, seen, o)
        assert value[o] == pytest.approx(expected @ private, abs=1e-8)
        np.testing.assert_allclose(action_value[o], expected @ q, atol=1e-8)
        assert policy[o] @ action_value[o] == pytest.approx(value[o], abs=1e-10)


@dataclass(frozen=True)
class Arranged(theory.FiniteIsing):
    """The same spins with the agents on other sites."""

    order: tuple[int, ...] = ()

    def place(self, local: np.ndarray) -> State:
        site = np.broadcast_to(np.array(self.order, dtype=np.int32), local.shape)
        return {"site": site, "spin": (2 * local - 1).astype(np.int8)}


@pytest.mark.parametrize(("shape", "reach"), [((5,), 1), ((2, 3), 1)])
def test_it_makes_no_difference_where_the_agents_sit(shape: tuple[int, ...], reach: int) -> None:
    """Every arrangement gives the same P_t(o) and V_t(o), so their mixture does, too.

    This is why one arrangement stands for all n! of them, which a simulation draws from.
    """
    sees = "spins" if len(shape) == 1 else "energy"
    system = theory.FiniteIsing(shape, reach, sees, noise=0.1, magnetisation=0.3)  # type: ignore[arg-type]
    reward = np.random.default_rng(6).normal(size=system.features.size)
    usual = theory.chain(system, system.expert)
    rng = np.random.default_rng(0)
    orders = list(permutations(range(system.n_agents)))
    for choice in rng.choice(len(orders), size=10, replace=False):
        other = Arranged(shape, reach, sees, 0.1, "all", 0.3, orders[choice])  # type: ignore[arg-type]
        chain = theory.chain(other, system.expert)
        for time in (0, 2, None):
            for agent in (0, system.n_agents - 1):
                np.testing.assert_allclose(
                    chain.observed(time, agent), usual.observed(time), atol=1e-12
                )
                np.testing.assert_allclose(
                    chain.local_value(reward, DISCOUNT, time=time, agent=agent),
                    usual.local_value(reward, DISCOUNT, time=time),
                    atol=1e-10,
                )


@pytest.mark.parametrize(
    "system",
    [
        theory.FiniteIsing((5,), noise=0.1),
        theory.VicsekRing(3, 5, noise=0.2),
        theory.RandomSwarm(4, 3, 4, seed=8),
        theory.FiniteIsing((2, 3), noise=0.1, acting="one", magnetisation=0.5),
    ],
    ids=str,
)
def test_simulation_agrees_with_the_exact_values(system: FiniteSwarm) -> None:
    """With the roll-outs and estimators that `fit` uses, within 5 standard errors."""
    rng = np.random.default_rng(9)
    table = rng.integers(len(system.actions), size=system.features.size)
    chain = theory.chain(system, table)
    runs, steps, start = 8000, 110, 4
    recorded = swarmdp.rollout(
        system, Policy(table), steps=steps, runs=runs, seed=10, record="observations"
    )
    for estimator in ("swarm", "single"):
        estimates = feature_expectations(
            system,
            recorded,
            discount=DISCOUNT,
            estimator=estimator,
        )
        error = standard_error(estimates)
        gap = np.abs(estimates.mean(axis=0) - chain.expectations(DISCOUNT))
        assert (gap <= 5 * error + 1e-9).all()
    learned = simulated_expectations(
        system, Policy(table), discount=DISCOUNT, estimator="swarm", steps=steps, runs=runs, seed=11
    )
    # The error of the swarm's estimate, from the runs of the first roll-out.
    error = standard_error(feature_expectations(system, recorded, discount=DISCOUNT))
    assert (np.abs(learned[0] - chain.expectations(DISCOUNT)) <= 5 * error + 1e-9).all()

    # The local value at a time: what agent 0 collects from then on, given what it sees.
    reward = Reward(rng.normal(size=system.features.size))
    seen = recorded["observations"][:, :, 0]
    weights = DISCOUNT ** np.arange(steps + 1 - start)
    collected = reward.weights[0][seen[:, start:]] @ weights
    exact = chain.local_value(reward, DISCOUNT, time=start)
    chance = chain.observed(start)
    for o in range(system.features.size):
        values = collected[seen[:, start] == o]
        share = len(values) / runs
        assert abs(share - chance[o]) <= 5 * np.sqrt(chance[o] * (1 - chance[o]) / runs)
        if len(values) >= 50:
            error = values.std(ddof=1) / np.sqrt(len(values))
            assert abs(values.mean() - exact[o]) <= 5 * error + 1e-9


FULL_SIZE = """
import numpy as np

from swarmdp import theory
from tests.peaks import peak

for system in (
    theory.FiniteIsing((16,)),
    theory.FiniteIsing((4, 4)),
    theory.FiniteIsing((16,), noise=0.05, acting="one"),
    theory.FiniteIsing((4, 4), noise=0.05, acting="one"),
    theory.FiniteIsing((12,), noise=0.05),
):
    chain = theory.chain(system, system.expert)
    reward = np.linspace(1, 0, system.features.size)
    law = chain.limit.law
    assert abs(law @ chain.transitions - law).max() < 1e-14
    private = chain.private_value(reward, 0.9)
    gained = reward[chain.swarm.observations[:, 0]]
    assert abs(gained + 0.9 * (chain.transitions @ private) - private).max() < 1e-11
    q = chain.local_q(reward, 0.9)
    seen = chain.observed() > 0
    assert np.isfinite(q[seen]).all()
    np.testing.assert_allclose(
        q[seen, np.argmax(chain.policy[seen], axis=1)], chain.local_value(reward, 0.9)[seen]
    )
print(peak())
"""


def test_full_size_fits_into_memory() -> None:
    """2^16 joint states with few successors, 2^12 with all: exact, and below 2 GiB."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_SIZE], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2 * 2**30
