"""States that are put together behave alike; values do not change by it."""

import numpy as np
from scipy import sparse

from swarmdp import theory
from swarmdp.theory.lumping import indicator, representatives, stable_blocks
from swarmdp.theory.solvers import discounted


def test_blocks_are_stable_and_few() -> None:
    system = theory.FiniteIsing((8,), noise=0.1)
    chain = theory.chain(system, system.expert)
    seen = chain.swarm.seen_by(0).toarray()
    blocks = stable_blocks(chain.transitions, seen)
    sums = (chain.transitions @ indicator(blocks)).toarray()
    chosen = representatives(blocks)
    np.testing.assert_allclose(sums, sums[chosen][blocks], atol=1e-12)
    np.testing.assert_array_equal(seen, seen[chosen][blocks])
    # Reflection at the agent's site and flipping all spins leave 80 of 256; some of them are alike.
    assert len(chosen) <= 80
    backward = stable_blocks(chain.transitions.T, chain.swarm.initial)
    # Rings of 8 spins up to rotation, reflection and flips: 18.
    assert backward.max() + 1 == 18


def test_what_differs_is_told_apart() -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array(rng.dirichlet(np.ones(40), size=40))
    assert stable_blocks(matrix, np.eye(40)[:, :1]).max() + 1 == 40
    assert stable_blocks(matrix, np.zeros(40)).max() == 0


def test_values_solve_their_equation() -> None:
    rng = np.random.default_rng(1)
    for states in (30, 3000):  # by factorisation, and by iteration
        after = rng.integers(states, size=(states, 3))
        rows = np.repeat(np.arange(states), 3)
        matrix = sparse.csr_array((np.full(3 * states, 1 / 3), (rows, after.ravel())))
        features = rng.normal(size=(states, 2))
        for discount in (0.0, 0.5, 0.99):
            value = discounted(matrix, features, discount)
            system = np.eye(states) - discount * matrix.toarray()
            expected = np.linalg.solve(system, features)
            np.testing.assert_allclose(value, expected, atol=1e-10)


def test_rare_things_are_told_apart_too() -> None:
    """Both differ by less than 1e-13, one of them by a factor."""
    matrix = sparse.csr_array(np.full((3, 3), 1 / 3))
    assert stable_blocks(matrix, np.array([1e-15, 2e-15, 1.0])).max() + 1 == 3
    assert stable_blocks(matrix, np.array([1.0, 1.0 + 1e-15, 2.0])).max() + 1 == 2


def test_discounts_near_one_are_solved() -> None:
    for discount in (0.999, 0.9999):
        system = theory.FiniteIsing((6,), 2, noise=0.1)
        chain = theory.chain(system, system.expert)
        visited = chain.visits(discount)
        np.testing.assert_allclose(visited.sum(axis=1), 1 / (1 - discount), rtol=1e-11)
        direct = np.linalg.solve(
            np.eye(64) - discount * chain.transitions.toarray(), chain.swarm.seen_by(0).toarray()
        )
        np.testing.assert_allclose(visited, direct, rtol=1e-10)
