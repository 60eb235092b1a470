import math
import tracemalloc

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from swarmdp.irl.updates.max_margin import max_margin
from swarmdp.support.errors import InvalidInput, SolverError

ONE = np.array([1.0, 1.0])


@pytest.mark.parametrize(
    ("learned", "margin", "weights", "mixture"),
    [
        ([(0, 0)], math.sqrt(2), (math.sqrt(0.5), math.sqrt(0.5)), (1,)),
        ([(0, 0), (1, 0)], 1.0, (0, 1), (0, 1)),
        ([(0, 0), (1, 0), (0, 1)], math.sqrt(0.5), (math.sqrt(0.5), math.sqrt(0.5)), (0, 0.5, 0.5)),
    ],
)
def test_known_answers(
    learned: list[tuple[float, ...]],
    margin: float,
    weights: tuple[float, ...],
    mixture: tuple[float, ...],
) -> None:
    solution = max_margin(ONE, np.array(learned, float))
    assert solution.margin == pytest.approx(margin, abs=1e-8)
    np.testing.assert_allclose(solution.weights, weights, atol=1e-8)
    np.testing.assert_allclose(solution.mixture, mixture, atol=1e-8)


def test_an_expert_inside_the_hull_leaves_no_margin() -> None:
    square = np.array([(0, 0), (2, 0), (0, 2), (2, 2)], float)
    solution = max_margin(ONE, square)
    assert solution.margin == 0
    np.testing.assert_array_equal(solution.weights, 0)
    np.testing.assert_allclose(solution.mixture @ square, ONE, atol=1e-8)


def test_an_expert_that_was_found_exactly() -> None:
    solution = max_margin(ONE, np.array([(1, 1), (0, 0)], float))
    assert solution.margin == 0
    np.testing.assert_allclose(solution.mixture, [1, 0], atol=1e-6)
    np.testing.assert_array_equal(max_margin(ONE, ONE[None]).mixture, [1])


def test_repeated_policies_do_not_disturb() -> None:
    once = max_margin(ONE, np.array([(0, 0), (1, 0)], float))
    often = max_margin(ONE, np.array([(0, 0), (1, 0), (1, 0), (0, 0), (1, 0)], float))
    assert often.margin == pytest.approx(once.margin, abs=1e-8)
    np.testing.assert_allclose(often.weights, once.weights, atol=1e-8)
    assert often.mixture.sum() == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(1, 40), st.integers(0, 2**32), st.floats(-6, 6))
def test_the_margin_is_the_distance_to_the_hull(
    policies: int, features: int, seed: int, scale: float
) -> None:
    """Optimal by its own certificate: primal and dual values meet, for every size of data."""
    rng = np.random.default_rng(seed)
    learned = rng.normal(size=(policies, features)) * 10**scale
    expert = rng.normal(size=features) * 2 * 10**scale
    solution = max_margin(expert, learned)
    size = np.abs(expert - learned).max()
    assert (solution.mixture >= 0).all()
    assert solution.mixture.sum() == pytest.approx(1, abs=1e-12)
    reached = np.linalg.norm(expert - solution.mixture @ learned)
    assert reached == pytest.approx(solution.margin, abs=1.1e-8 * size)
    if solution.margin > 0:
        assert np.linalg.norm(solution.weights) == pytest.approx(1, abs=1e-12)
        worst = ((expert - learned) @ solution.weights).min()
        assert worst == pytest.approx(solution.margin, abs=1e-8 * size)


def test_against_a_general_optimiser() -> None:
    rng = np.random.default_rng(5)
    learned, expert = rng.normal(size=(6, 4)), rng.normal(size=4) + 2
    solution = max_margin(expert, learned)
    best = minimize(
        lambda a: ((expert - a @ learned) ** 2).sum(),
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
        tol=1e-14,
    )
    assert solution.margin == pytest.approx(math.sqrt(best.fun), abs=1e-6)


def test_the_margin_never_rises() -> None:
    rng = np.random.default_rng(6)
    learned, expert = rng.normal(size=(30, 8)), rng.normal(size=8) * 3
    margins = [max_margin(expert, learned[:count]).margin for count in range(1, 31)]
    assert (np.diff(margins) <= 1e-10).all()


def test_a_failing_solver_is_an_error_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = clarabel.DefaultSettings()
    settings.max_iter = 1
    monkeypatch.setattr(clarabel, "DefaultSettings", lambda: settings)
    with pytest.raises(SolverError, match="was not solved: status MaxIterations"):
        max_margin(ONE, np.array([(0, 0), (1, 0.5), (0.2, 1)], float))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one policy"):
        max_margin(ONE, np.empty((0, 2)))
    with pytest.raises(InvalidInput, match="got .1, 3. and .2,."):
        max_margin(ONE, np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="finite"):
        max_margin(ONE, np.array([[0, np.nan]]))


def test_many_features_need_little_memory() -> None:
    """20 000 features and two policies: the nearest point of a segment, in closed form."""
    rng = np.random.default_rng(4)
    expert, first, second = rng.normal(size=(3, 20_000))
    along = second - first
    share = np.clip((expert - first) @ along / (along @ along), 0.0, 1.0)
    gap = expert - first - share * along
    tracemalloc.start()
    solution = max_margin(expert, np.stack([first, second]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**26  # bytes; a full matrix of the constraints has 3.2 GB
    assert solution.margin == pytest.approx(np.linalg.norm(gap), rel=1e-12)
    np.testing.assert_allclose(solution.weights, gap / np.linalg.norm(gap), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.mixture, [1 - share, share], rtol=0, atol=1e-12)
