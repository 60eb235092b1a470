"""Pictures of gridworlds: rewards as maps of the grid, policies as arrows on it."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from swarmdp.model import Reward
from swarmdp.report import style
from swarmdp.report.swarms import draw_band, frame
from swarmdp.systems.gridworld import MOVES, Gridworld
from swarmdp.trajectory import Trajectory

MOST_ARROWS = 24  # rows or columns up to which the policy is drawn


def reward_figure(
    grid: Gridworld, weights: NDArray[np.float64], policy: NDArray[np.integer], title: str
) -> Figure:
    """The true reward of each cell beside the learned one, with the learned policy as arrows."""
    with style.family():
        figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.3))
        arrows = ", arrows: policy" if max(grid.shape) <= MOST_ARROWS else ""
        draw_map(axes[0], grid, grid.reward.of_classes(grid)[0], "true reward")
        draw_map(axes[1], grid, Reward(weights).of_classes(grid)[0], f"{title}{arrows}")
        _draw_arrows(axes[1], grid, policy)
    return figure


def visits_figure(grid: Gridworld, trajectory: Trajectory, collected: NDArray[Any]) -> Figure:
    """The reward of each cell, where the agent went, and what it collected over time."""
    with style.family():
        figure, axes = plt.subplots(1, 3, figsize=(10.2, 2.9), width_ratios=[1, 1, 1.5])
        visits = np.bincount(trajectory["state"].ravel(), minlength=grid.rows * grid.columns)
        share = visits / visits.sum()
        draw_map(axes[0], grid, grid.reward.of_classes(grid)[0], "reward of each cell")
        runs = f"{trajectory.runs} run" + ("s" if trajectory.runs > 1 else "")
        draw_map(axes[1], grid, share, f"share of time in each cell, {runs}")
        draw_band(axes[2], collected, "expert", style.EXPERT)
        axes[2].set(xlabel="time step", ylabel="reward of the agent's cell")
        axes[2].set_title(f"mean and 10–90 % of {len(collected)} runs")
    return figure


def draw_map(ax: Axes, grid: Gridworld, values: NDArray[np.float64], title: str) -> None:
    """Values of the cells as shades, row 0 at the bottom."""
    image = ax.imshow(
        values.reshape(grid.shape), cmap=style.SPINS, origin="lower", interpolation="nearest"
    )
    colours = ax.figure.colorbar(image, ax=ax, shrink=0.9)
    colours.outline.set_linewidth(0.6)
    ax.set(xticks=[], yticks=[], title=title, xlabel="x", ylabel="y")
    if grid.goal is not None:
        row, column = grid.goal
        ax.plot(column, row, "o", color="black", fillstyle="none", markersize=7)
    frame(ax)


def _draw_arrows(ax: Axes, grid: Gridworld, policy: NDArray[np.integer]) -> None:
    if max(grid.shape) > MOST_ARROWS:
        return
    moves = np.array(MOVES)[policy]
    row, column = np.divmod(np.arange(len(policy)), grid.columns)
    moving = np.ones(len(policy), bool)
    if grid.goal is not None:
        moving[grid.goal[0] * grid.columns + grid.goal[1]] = False
    # White on dark and black on light would need two colours: an outline does both.
    ax.quiver(
        column[moving],
        row[moving],
        moves[moving, 1],
        moves[moving, 0],
        color="white",
        edgecolor="black",
        linewidth=0.5,
        pivot="mid",
        scale=2.2 * grid.columns,
        width=0.018,
    )
