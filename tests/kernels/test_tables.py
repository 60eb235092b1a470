import math

import numpy as np
import pytest

from swarmdp.kernels import tables
from tests import oracles


@pytest.mark.parametrize("bins", [1, 2, 7, 36])
def test_angle_index(bins: int) -> None:
    rng = np.random.default_rng(0)
    angles = rng.uniform(-math.pi, math.pi, (3, 1000))
    np.testing.assert_array_equal(
        tables.angle_index(angles, bins), oracles.angle_index(angles, bins)
    )


def test_angle_index_at_the_ends_of_the_circle() -> None:
    angles = np.array([[-math.pi, math.pi, 0.0, math.radians(4.999), math.radians(-4.999)]])
    np.testing.assert_array_equal(tables.angle_index(angles, 36), [[0, 0, 18, 18, 18]])


def test_look_up() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((3, 10))
    index = rng.integers(10, size=(6, 50)).astype(np.int32)
    rows = np.arange(6) % 3
    np.testing.assert_array_equal(tables.look_up(index, table, rows), table[rows[:, None], index])


@pytest.mark.parametrize("n_actions", [2, 13, 256, 1000])
def test_explore(n_actions: int) -> None:
    rng = np.random.default_rng(4)
    index = rng.integers(5, size=(6, 4000)).astype(np.int32)
    greedy = rng.integers(n_actions, size=(2, 5))
    chance = rng.random((6, 4000))
    for temperature in (0.0, 0.3, 1.0):
        chosen = tables.look_up(index, greedy, np.arange(6) % 2)
        actual = tables.explore(chosen, chance, temperature, n_actions)
        exploring = chance < temperature
        expected = greedy[(np.arange(6) % 2)[:, None], index]
        np.testing.assert_array_equal(actual[~exploring], expected[~exploring])
        if temperature:
            explored = (chance[exploring] / temperature * n_actions).astype(int)
            assert np.abs(actual[exploring].astype(int) - explored).max(initial=0) <= 1
            assert actual.max() < n_actions


def test_extremes() -> None:
    drawn = np.random.default_rng(5).integers(100, size=(3, 777))
    for values in (drawn.astype(np.uint8), drawn.astype(np.int32), drawn):
        assert tables.extremes(values) == (values.min(), values.max())
        assert tables.extremes(values.T) == (values.min(), values.max())


def test_greedy() -> None:
    rng = np.random.default_rng(6)
    q = rng.integers(4, size=(5, 30, 6)).astype(float)
    expected = q.argmax(axis=2)
    expected[q[..., 3] == q.max(axis=2)] = 3
    np.testing.assert_array_equal(tables.best_actions(q, 3, 1e-9), expected)


def test_mark() -> None:
    seen = np.zeros((2, 6), bool)
    visits = np.array([[0, 1], [5, 5], [2, 0]])
    tables.mark(visits, np.empty(0, int), seen)
    np.testing.assert_array_equal(np.flatnonzero(seen[0]), [0, 1, 2])
    np.testing.assert_array_equal(np.flatnonzero(seen[1]), [5])
    tables.mark(visits, np.arange(6)[::-1].copy(), seen)
    np.testing.assert_array_equal(np.flatnonzero(seen[0]), [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(np.flatnonzero(seen[1]), [0, 5])


def test_count() -> None:
    index = np.random.default_rng(2).integers(5, size=(4, 1000)).astype(np.uint8)
    expected = [np.bincount(row, minlength=7) for row in index]
    np.testing.assert_array_equal(tables.count(index, 7), expected)


def test_total() -> None:
    values = np.random.default_rng(3).integers(256, size=(3, 100_001)).astype(np.uint8)
    np.testing.assert_array_equal(tables.total(values), values.sum(axis=1, dtype=np.int64))


def test_draw() -> None:
    rng = np.random.default_rng(7)
    probabilities = rng.dirichlet(np.full(4, 0.3), size=(2, 5))
    probabilities[0, 0] = [0, 1, 0, 0]
    probabilities[1, 4] = [0, 0, 0.5, 0.5]
    index = rng.integers(5, size=(6, 3000)).astype(np.int32)
    chance = rng.random((6, 3000))
    chance[:, 0] = 1 - 2**-53
    chance[:, 1] = 0.0
    rows = np.arange(6) % 2
    sums = np.cumsum(probabilities, axis=2)
    actual = tables.draw(index, sums, chance, rows)
    np.testing.assert_array_equal(actual, oracles.draw(index, probabilities, chance, rows))
    taken = probabilities[rows[:, None], index, actual]
    assert (taken > 0).all()


@pytest.mark.parametrize("softness", [1e-3, 1.0, 100.0])
def test_boltzmann(softness: float) -> None:
    q = np.random.default_rng(8).normal(size=(3, 7, 5))
    np.testing.assert_allclose(
        tables.boltzmann_probabilities(q, softness),
        oracles.boltzmann(q, softness),
        rtol=1e-12,
        atol=1e-300,
    )
    np.testing.assert_allclose(tables.boltzmann_probabilities(1e6 + q, softness).sum(axis=2), 1)


@pytest.mark.parametrize("softness", [1e-3, 0.5, 20.0])
def test_soft_sweeps(softness: float) -> None:
    rng = np.random.default_rng(9)
    counts = rng.integers(4, size=(2, 5, 3, 5)).astype(float)
    totals, reward = counts.sum(axis=3), rng.normal(size=(2, 5))
    value, q = rng.normal(size=(2, 5)), np.zeros((2, 5, 3))
    expected = oracles.sweep_softly(counts, 0.7, reward, 0.9, softness, 3, value)
    tables.sweep_model(counts, totals, 0.7, reward, 0.9, softness, 3, value, q)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(q, expected[1], rtol=1e-12)


@pytest.mark.parametrize("agents", [7, 400])
@pytest.mark.parametrize("mirrored", [False, True])
def test_experience_counts_also_mirrored(agents: int, mirrored: bool) -> None:
    """By one by one where there is little, at once where there is more than can be told apart."""
    rng = np.random.default_rng(7)
    observations, actions, runs = 6, 3, 4
    before, after = rng.integers(observations, size=(2, runs, agents)).astype(np.int32)
    action = rng.integers(actions, size=(runs, agents)).astype(np.uint8)
    order, turned = np.arange(observations)[::-1].copy(), np.arange(actions)[::-1].copy()
    nothing = np.empty(0, np.int64)
    assert tables.is_much(2 * agents, observations, actions) == (agents == 400)
    counts, totals = np.zeros((2, observations, actions, observations)), np.zeros((2, 6, 3))
    mirror = (order, turned) if mirrored else (nothing, nothing)
    tables.add_experience(before, action, after, *mirror, 0.25, counts, totals)
    expected = np.zeros_like(counts)
    for r in range(runs):
        np.add.at(expected[r % 2], (before[r], action[r], after[r]), 0.25)
        if mirrored:
            images = order[before[r]], turned[action[r]], order[after[r]]
            np.add.at(expected[r % 2], images, 0.25)
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(totals, expected.sum(axis=3))


def test_greedy_on_both_sides_of_a_mirror() -> None:
    rng = np.random.default_rng(8)
    q = rng.integers(5, size=(4, 7, 5)).astype(float)
    order, turned = np.arange(7)[::-1].copy(), np.arange(5)[::-1].copy()
    even = (q + q[:, order][:, :, turned]) / 2
    even[:, 3, [0, 1, 3, 4]] = -np.inf  # nothing is straight but action 2
    expected = even.argmax(axis=2)
    expected[even[..., 2] == even.max(axis=2)] = 2
    expected[:, 4:] = turned[expected[:, 2::-1]]
    np.testing.assert_array_equal(tables.best_mirrored_actions(q, 2, 1e-9, order, turned), expected)


def test_counts_over_time() -> None:
    rng = np.random.default_rng(9)
    counts = rng.integers(50, size=(3, 7, 4))
    weights = rng.random(7)
    expected = (counts * weights[:, None]).sum(axis=1)
    np.testing.assert_allclose(tables.sum_weighted(counts, weights), expected, rtol=1e-14)
    spans = [slice(0, 1), slice(1, 2), slice(2, 4), slice(4, 7)]
    means = np.stack([counts[:, span].mean(axis=1) / 100 for span in spans], axis=1)
    np.testing.assert_allclose(tables.shares_over_spans(counts, 100), means, rtol=1e-14)
