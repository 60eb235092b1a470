import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmdp.kernels import tables
from tests import oracles

# Weights whose sums are rounded: adding one three times is not adding three of it.
WEIGHTS = (0.1, 1 / 3, 1e10, 0.7)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    agents=st.integers(0, 60),
    observations=st.integers(1, 8),
    actions=st.integers(1, 3),
)
def test_added_transitions(seed: int, agents: int, observations: int, actions: int) -> None:
    rng = np.random.default_rng(seed)
    table = np.zeros((observations, actions, observations))
    totals, expected = np.zeros((2, observations, actions))
    begins = np.zeros(observations * actions + 1, np.int64)
    room = 2 * agents * len(WEIGHTS)
    columns, values = np.full(room, -1, np.int32), np.full(room, np.nan)
    for weight in WEIGHTS:
        before, after = rng.integers(observations, size=(2, 2, agents))
        action = rng.integers(actions, size=(2, agents)).astype(np.uint8)
        tables.add_sparse_transitions(
            before, action, after, weight, False, begins, columns, values, totals
        )
        oracles.add_transitions(before, action, after, weight, table)
        np.add.at(expected, (before, action), weight)
        for actual, right in zip(
            (begins, columns[: begins[-1]], values[: begins[-1]]),
            oracles.compressed(table),
            strict=True,
        ):
            np.testing.assert_array_equal(actual, right)
        np.testing.assert_array_equal(totals, expected)


def problem(
    seed: int,
) -> tuple[oracles.Floats, oracles.Floats, oracles.Floats, oracles.Floats]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(-3, 4, size=(7, 5, 7)).clip(0) / 3
    return counts, counts.sum(axis=2), rng.normal(size=7), rng.normal(size=7)


@pytest.mark.parametrize("seed", range(5))
def test_hard_sweeps_of_sparse_and_of_full_counts(seed: int) -> None:
    counts, totals, reward, value = problem(seed)
    expected, expected_q = oracles.sweep(counts, totals, 0.7, reward, 0.9, value)
    full, q = value[None].copy(), np.zeros((1, 7, 5))
    tables.sweep_model(counts[None], totals[None], 0.7, reward[None], 0.9, 0.0, 1, full, q)
    np.testing.assert_array_equal(q[0], expected_q)
    np.testing.assert_array_equal(full[0], expected)
    actual = np.zeros((7, 5))
    tables.sweep_sparse_model(
        *oracles.compressed(counts), totals, 0.7, reward, 0.9, 0.0, 1, value, actual
    )
    np.testing.assert_array_equal(actual, expected_q)
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("softness", [1e-3, 0.5, 20.0])
def test_soft_sweeps(softness: float) -> None:
    counts, totals, reward, value = problem(9)
    expected, expected_q = oracles.sweep_softly(
        counts[None], 0.7, reward[None], 0.9, softness, 3, value[None]
    )
    actual = np.zeros((7, 5))
    tables.sweep_sparse_model(
        *oracles.compressed(counts), totals, 0.7, reward, 0.9, softness, 3, value, actual
    )
    # As for full counts, whose bits they have (tests/learning/test_local_model.py).
    np.testing.assert_allclose(actual, expected_q[0], rtol=1e-12)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
