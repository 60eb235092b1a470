"""Pictures made of characters."""

import math

import numpy as np
import pytest

import swarmdp
from swarmdp.cli.terminal_plots import arrows, bars, columns, reward_plot


def test_columns_stand_on_a_line_at_zero() -> None:
    assert columns(np.array([0.0, 0.5, 1.0]), 2) == ["  █", " ██"]
    assert columns(np.array([-1.0, 0.0, 1.0]), 2) == ["  █", "───", "█  "]
    assert columns(np.array([1 / 8, 1.0]), 1) == ["▁█"]
    assert columns(np.array([-1.0, -0.5]), 2) == ["──", "██", "█ "]
    assert columns(np.array([0.0, 0.0])) == []


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_as_high_as_their_numbers(seed: int) -> None:
    heights = np.random.default_rng(seed).normal(size=20)
    drawn = columns(heights, 12)
    line = drawn.index("─" * 20)
    eighths = np.array([sum(" ▁▂▃▄▅▆▇█".index(row[n]) for row in drawn[:line]) for n in range(20)])
    halves = np.array([sum(" ▀█".index(row[n]) for row in drawn[line + 1 :]) for n in range(20)])
    up, down = np.clip(heights, 0, None), np.clip(-heights, 0, None)
    np.testing.assert_allclose(eighths / (8 * line), up / up.max(), atol=0.51 / (8 * line))
    below = len(drawn) - line - 1
    np.testing.assert_allclose(halves / (2 * below), down / down.max(), atol=0.51 / (2 * below))


def test_bars_go_left_and_right_of_zero() -> None:
    drawn = bars(["a", "bb"], np.array([-1.0, 1.0]), np.array([True, False]))
    assert drawn[0] == f" a {'█' * 15}│{'':15} -1.00"
    assert drawn[1] == f"bb {'':15}│{'░' * 15} +1.00"


def test_arrows_point_where_agents_go() -> None:
    places = np.array([[0.0, 0.99], [0.99, 0.99], [0.0, 0.0], [0.99, 0.0]])
    headings = np.array([0.0, math.pi / 2, -math.pi / 4, math.pi])
    assert arrows(places, headings, 3, 2) == ["→ ↑", "↘ ←"]


def test_a_reward_of_an_angle_and_of_levels() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20, n_bins=20)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    drawn = reward_plot(swarmdp.fit(vicsek, demo, seed=1, iterations=2, judge=False))
    assert drawn.startswith("reward by misalignment / degrees\n")
    assert "-180" in drawn
    ising = swarmdp.Ising((8, 8), reach=1)
    demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    drawn = reward_plot(result)
    assert len(drawn.splitlines()) == 10
    assert f"{result.reward.weights[0, 0]:+.2f}" in drawn
