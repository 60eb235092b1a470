import numpy as np
import pytest

from swarmdp.kernels import tables
from swarmdp.model.harmonics import lowest_orders
from tests import oracles

EPS = np.finfo(np.float64).eps


def test_features() -> None:
    """Recurrences of order j amplify rounding by at most j^2."""
    rng = np.random.default_rng(0)
    periodic = np.array([True, False, True])
    orders = lowest_orders((True, False, True), 150)
    observations = rng.normal(size=(4, 50, 3)) * [2, 5, 3]
    centre, scale = rng.normal(size=(2, 3)), rng.uniform(1, 3, (2, 3))
    size, rows = rng.uniform(0.5, 1, len(orders)), np.arange(4) % 2
    actual = tables.features(observations, periodic, centre, scale, orders, size, rows)
    for r in range(4):
        expected = oracles.harmonics(
            observations[r], periodic, centre[r % 2], scale[r % 2], orders, size
        )
        np.testing.assert_allclose(actual[r], expected, rtol=0, atol=20 * orders.max() ** 2 * EPS)


@pytest.mark.parametrize("agents", [1, 3, 50])
def test_moments_are_sums_over_the_transitions_of_each_replica(agents: int) -> None:
    rng = np.random.default_rng(1)
    replicas, actions, size = 3, 4, 7
    before, after = rng.normal(size=(2, 6, agents, size))
    taken = rng.integers(actions, size=(6, agents))
    square, cross = np.zeros((2, replicas, actions, size, size))
    for weight in (1.0, 2.0):
        tables.add_moments(before, taken, after, weight, square, cross)
    expected = oracles.moments(before, taken, after, replicas, actions)
    upper = np.triu(np.ones((size, size)))
    np.testing.assert_allclose(square * upper, 3 * expected[0] * upper, atol=1e-12)
    np.testing.assert_allclose(cross, 3 * expected[1], atol=1e-12)


def test_sweeps_solve_the_least_squares_of_every_replica() -> None:
    rng = np.random.default_rng(2)
    replicas, actions, size, memory = 2, 3, 6, 33
    before, after = rng.normal(size=(2, 4, 80, size))
    taken = rng.integers(actions, size=(4, 80))
    square, cross = oracles.moments(before, taken, after, replicas, actions)
    anchors, rewards = (
        rng.normal(size=(replicas, memory, size)),
        rng.normal(size=(replicas, memory)),
    )
    value = rng.normal(size=(replicas, size))
    expected = oracles.sweep_linear(square, cross, anchors, rewards, 2.0, 0.9, 3, value)
    lead, factor = np.zeros((replicas, actions, size)), np.zeros((replicas, size, size))
    tables.sweep_linear(square, cross, anchors, rewards, 2.0, 0.9, 3, value, lead, factor)
    # Condition numbers are below 100, three sweeps long.
    np.testing.assert_allclose(value, expected[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(lead, expected[1], rtol=0, atol=1e-11)
    upper = np.triu(factor)
    whole = square.sum(axis=1) + 2 * np.eye(size)
    np.testing.assert_allclose(upper.transpose(0, 2, 1) @ upper, whole, atol=1e-10)


def test_greedy_takes_the_first_best_and_in_doubt_nothing() -> None:
    rng = np.random.default_rng(3)
    psi, lead = rng.normal(size=(4, 30, 5)), rng.normal(size=(2, 6, 5))
    rows = np.arange(4) % 2
    best_found = tables.best_linear_actions(psi, lead, rows, 2, 1e-9)
    scores = np.einsum("rni,rai->rna", psi, lead[rows])
    np.testing.assert_array_equal(best_found, scores.argmax(axis=2))
    assert (tables.best_linear_actions(psi, 0 * lead, rows, 2, 1e-9) == 2).all()
    same = np.broadcast_to(lead[:, :1], lead.shape)
    assert (tables.best_linear_actions(psi, same, rows, 4, 1e-9) == 4).all()


def test_doubt_is_the_share_of_variance_that_is_left() -> None:
    rng = np.random.default_rng(4)
    data, psi = rng.normal(size=(40, 5)), rng.normal(size=(2, 30, 5))
    factor = np.asarray(np.linalg.cholesky(np.eye(5) + data.T @ data).T, np.float64)
    factors = np.stack([np.eye(5), factor])
    doubts = tables.doubt(psi, factors, np.arange(2))
    np.testing.assert_allclose(doubts[0], 1.0, rtol=0, atol=10 * EPS)
    np.testing.assert_allclose(doubts[1], oracles.doubt(psi[1], factor), rtol=1e-12)
    weakest = np.linalg.eigvalsh(data.T @ data)[0]
    assert doubts[1].max() <= 1 / (1 + weakest) * (1 + 100 * EPS)
