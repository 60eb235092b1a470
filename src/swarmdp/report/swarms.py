"""Pictures of swarms and of their measures over time."""

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from swarmdp.report import style
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek
from swarmdp.trajectory import Trajectory

PATH_STEPS = 8  # how much of its past an agent trails behind it


def vicsek_figure(system: Vicsek, trajectory: Trajectory, order: NDArray[np.float64]) -> Figure:
    """A Vicsek swarm at its start, on its way and at its end, and its order parameter over time."""
    times = _three_times(trajectory.steps)
    with style.family():
        figure, axes = plt.subplots(
            1, 4, figsize=(10.2, 2.75), width_ratios=[1, 1, 1, 1.5], squeeze=False
        )
        for ax, time in zip(axes[0], times, strict=False):
            _draw_agents(ax, system, trajectory, time)
        curve = axes[0, 3]
        draw_band(curve, order, "expert", style.EXPERT)
        if system.noise < math.pi:
            ceiling = math.exp(-(system.noise**2) / 2)
            curve.axhline(ceiling, color=style.GREY, linestyle=":", linewidth=1)
            curve.annotate(
                f"dotted: ceiling set by the noise, {ceiling:.3f}",
                (0.98, 0.06),
                xycoords="axes fraction",
                ha="right",
                fontsize=7,
                color=style.GREY,
            )
        curve.set(xlabel="time step", ylabel="order parameter ω", ylim=(0, 1.03))
        curve.set_title(f"mean and 10–90 % of {order.shape[0]} runs")
    return figure


def ising_figure(system: Ising, trajectory: Trajectory, energy: NDArray[np.int64]) -> Figure:
    """An Ising grid at its start, on its way and at its end, and its global energy over time."""
    times = _three_times(trajectory.steps)
    with style.family():
        figure, axes = plt.subplots(
            1, 4, figsize=(10.2, 2.75), width_ratios=[1, 1, 1, 1.5], squeeze=False
        )
        grids = system.grid(trajectory)[0]
        for ax, time in zip(axes[0], times, strict=False):
            ax.imshow(grids[time], cmap=style.SPINS, vmin=-1, vmax=1, interpolation="nearest")
            ax.set(xticks=[], yticks=[], title=f"t = {time}")
            frame(ax)
        curve = axes[0, 3]
        draw_band(curve, energy / 1000, "expert", style.EXPERT)
        curve.set(xlabel="time step", ylabel="global energy E / 1000 unlike pairs")
        curve.set_ylim(bottom=0)
        curve.set_title(f"mean and 10–90 % of {energy.shape[0]} runs")
    return figure


def draw_band(ax: Axes, values: NDArray[Any], label: str, colour: str) -> None:
    """The mean over runs of values (runs, times), with the band from the 10 % to 90 % quantile."""
    time = np.arange(values.shape[1])
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    ax.fill_between(time, low, high, color=colour, alpha=0.18, linewidth=0)
    ax.plot(time, values.mean(axis=0), color=colour, label=label)
    ax.margins(x=0)


def draw_mean(ax: Axes, values: NDArray[Any], label: str, colour: str) -> None:
    """The mean over runs of values (runs, times), with its 95 % confidence band."""
    time, mean = np.arange(values.shape[1]), values.mean(axis=0)
    if len(values) > 1:
        error = 1.96 * values.std(axis=0, ddof=1) / math.sqrt(len(values))
        ax.fill_between(time, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
    ax.plot(time, mean, color=colour, label=label)
    ax.margins(x=0)


def _three_times(steps: int) -> Sequence[int]:
    return (0, min(steps, max(1, steps // 10)), steps)


def _draw_agents(ax: Axes, system: Vicsek, trajectory: Trajectory, time: int) -> None:
    position, heading = trajectory["position"][0], trajectory["heading"][0, time]
    if system.periodic:
        low, high = np.zeros(2), np.full(2, system.box)
    else:
        low, high = position[time].min(axis=0), position[time].max(axis=0)
        margin = 0.05 * float((high - low).max()) + 1e-9
        middle, half = (low + high) / 2, float((high - low).max()) / 2 + margin
        low, high = middle - half, middle + half
    side = float(high[0] - low[0])
    colours = plt.get_cmap(style.HEADINGS)(heading / (2 * math.pi) + 0.5)
    past = position[max(0, time - PATH_STEPS) : time + 1]
    jumps = np.abs(np.diff(past, axis=0)).max(axis=2) > side / 2
    for start, end, across in zip(past[:-1], past[1:], jumps, strict=True):
        lines = np.stack([start[~across], end[~across]])
        ax.plot(lines[..., 0], lines[..., 1], color=style.GREY, alpha=0.25, linewidth=0.5, zorder=1)
    ax.quiver(
        *position[time].T,
        np.cos(heading),
        np.sin(heading),
        color=colours,
        scale=22,
        width=0.009,
        headwidth=3.5,
        pivot="mid",
        zorder=2,
    )
    order = float(system.order({"heading": heading[None]})[0])
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.set_title(f"t = {time},  ω = {order:.2f}")
    frame(ax)


def frame(ax: Axes) -> None:
    """A thin frame on all four sides."""
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.6)
