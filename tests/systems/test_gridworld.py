from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Gridworld
from swarmdp.model.testing import check_system
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.gridworld import GRID_MOVES


def by_hand(grid: Gridworld) -> np.ndarray:
    """The transitions, cell by cell and move by move."""
    rows, columns = grid.shape
    table = np.zeros((rows * columns, 4, rows * columns))
    for y in range(rows):
        for x in range(columns):
            s = y * columns + x
            for a in range(4):
                if grid.goal == (y, x):
                    table[s, a, s] = 1
                    continue
                for b, (dy, dx) in enumerate(GRID_MOVES):
                    down = y + dy if 0 <= y + dy < rows else y
                    along = x + dx if 0 <= x + dx < columns else x
                    chance = grid.wind / 4 + (1 - grid.wind) * (a == b)
                    table[s, a, down * columns + along] += chance
    return table


@pytest.mark.parametrize(
    "grid",
    [
        Gridworld(),
        Gridworld(3, 4, wind=0.0, goal=(0, 2)),
        Gridworld(4, 2, wind=1.0, goal=None, weights=tuple(range(8))),
    ],
)
def test_the_transitions(grid: Gridworld) -> None:
    np.testing.assert_allclose(grid.mdp.dense(), by_hand(grid), atol=1e-15)
    check_system(grid)


def test_ng_and_russell_s_grid() -> None:
    grid = Gridworld()
    assert (grid.shape, grid.goal, grid.wind) == ((5, 5), (4, 4), 0.3)
    np.testing.assert_array_equal(np.flatnonzero(grid.reward.weights[0]), [24])
    np.testing.assert_allclose(grid.mdp.start, 1 / 25)
    assert Gridworld(start=(0, 0)).mdp.start[0] == 1


def test_abbeel_and_ng_s_macrocells() -> None:
    grid = Gridworld.macrocells(seed=3)
    assert grid.shape == (128, 128)
    assert grid.n_features == 64
    weights = grid.reward.weights[0]
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert 0 < (weights > 0).sum() < 20
    assert Gridworld.macrocells(seed=3) == grid
    matrix = grid.features.matrix
    assert matrix is not None
    assert matrix.shape == (128 * 128, 64)
    np.testing.assert_array_equal(matrix.sum(axis=0), 256)
    # cell (20, 40) is in the second row and third column of blocks
    assert matrix[20 * 128 + 40, 1 * 8 + 2] == 1


def test_the_reward_is_collected_along_the_way() -> None:
    grid = Gridworld(start=(0, 0))
    planned = swarmdp.learning.plan(grid, grid.reward)
    run = swarmdp.rollout(
        grid, planned.policy, steps=40, runs=2000, seed=1, record=["states", grid.collected]
    )
    np.testing.assert_array_equal(run["collected"], run["state"][..., 0] == 24)
    np.testing.assert_array_equal(run["collected"], grid.collected(run))
    value = (run["collected"] * 0.9 ** np.arange(41)).sum(axis=1)
    assert planned.q is not None
    exact = planned.q.max(axis=2)[0, 0]
    error = value.std(ddof=1) / np.sqrt(2000)
    assert abs(value.mean() - exact) < 5 * error + 10 * 0.9**41


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 0}, "rows must be an integer of at least 1"),
        ({"wind": 1.5}, "wind must be a number from 0 to 1"),
        ({"goal": (5, 0)}, "goal: row must be below 5, got 5"),
        ({"goal": 3}, "goal must be a cell"),
        ({"start": (0, -6)}, "start: column must be an integer of at least -5"),
        ({"macrocell": 2}, "multiples of macrocell = 2, got 5 and 5"),
        ({"weights": (1.0,)}, "one for each of 25 features, got 1"),
        ({"goal": None}, "needs a goal or weights"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Gridworld(**change)
