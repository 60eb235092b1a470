"""Pictures of gridworlds: rewards as maps of the grid, policies as arrows on it."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from swarmdp.model.rewards import Reward
from swarmdp.model.trajectory import Trajectory
from swarmdp.report import style
from swarmdp.report.drawing import frame
from swarmdp.report.swarms import draw_mean
from swarmdp.support.arrays import Bools, Floats
from swarmdp.systems.gridworld import GRID_MOVES, Gridworld

_MOST_PATHS = 5
_FAINT = 0.3  # the opacity of what the demo does not tell
MOST_ARROWS = 24  # rows or columns up to which the policy is drawn


def gridworld_reward_figure(
    grid: Gridworld,
    weights: Floats,
    policy: NDArray[np.integer],
    title: str,
    spread: Floats | None = None,
    clear: Bools | None = None,
    spread_title: str = "its standard deviation",
) -> Figure:
    """The true reward of each cell beside the learned one, with the learned policy as arrows.

    Where the learned reward's spread (d,) is known, a third map shows it. Cells whose weights are
    not `clear` (d,) are pale.
    """
    count = 2 if spread is None else 3
    with style.family():
        figure, axes = style.subplots(1, count, figsize=(3.7 * count, 3.3))
        arrows = ", arrows: policy" if max(grid.shape) <= MOST_ARROWS else ""
        draw_map(axes[0], grid, grid.reward.of_classes(grid)[0], "true reward")
        draw_map(axes[1], grid, Reward(weights).of_classes(grid)[0], f"{title}{arrows}")
        if clear is not None:
            unclear = Reward((~clear).astype(np.float64)).of_classes(grid)[0] > 0
            axes[1].images[0].set_alpha(np.where(unclear, _FAINT, 1.0).reshape(grid.shape))
        _draw_arrows(axes[1], grid, policy)
        if spread is not None:
            draw_map(axes[2], grid, Reward(spread).of_classes(grid)[0], spread_title)
            axes[2].images[0].set_clim(vmin=0)
    return figure


def gridworld_paths_figure(
    grid: Gridworld, trajectory: Trajectory, collected: NDArray[Any]
) -> Figure:
    """Where the agent goes on the map of rewards, and what it collects over time."""
    runs = min(trajectory.runs, _MOST_PATHS)
    with style.family():
        figure, axes = style.subplots(1, 2, figsize=(7.4, 3.1), width_ratios=[1, 1.3])
        shown = "path of a run" if runs == 1 else f"paths of {runs} runs"
        title = f"reward and {shown} (square: start)"
        draw_map(axes[0], grid, grid.reward.of_classes(grid)[0], title)
        for run in range(runs):
            row, column = np.divmod(trajectory["state"][run, :, 0], grid.columns)
            # Runs side by side, so that they do not hide each other.
            beside = 0.3 * (run - (runs - 1) / 2) / runs
            axes[0].plot(column + beside, row + beside, color="white", linewidth=2.2)
            axes[0].plot(column + beside, row + beside, color="black", linewidth=0.9)
            axes[0].plot(column[0] + beside, row[0] + beside, "s", color="white", markersize=4)
        draw_mean(axes[1], collected, "expert", style.EXPERT)
        axes[1].set(xlabel="time step", ylabel="reward of the agent's cell")
        axes[1].set_ylim(bottom=0)
        axes[1].set_title(f"mean of {len(collected)} runs, band: its 95 % confidence")
    return figure


def draw_map(ax: Axes, grid: Gridworld, values: Floats, title: str) -> None:
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
    moves = np.array(GRID_MOVES)[policy]
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
        linewidth=0.4,
        pivot="mid",
        angles="xy",
        units="xy",
        scale=1.7,
        width=0.08,
        headwidth=3.6,
        headlength=3,
        headaxislength=3,
    )
