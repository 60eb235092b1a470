"""Pictures of a fit: the learned reward, the way to it, and the learned swarm beside the expert."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from swarmdp.irl.result import Result
from swarmdp.irl.updates import title
from swarmdp.report import gridworlds, style
from swarmdp.report.swarms import draw_band, draw_mean
from swarmdp.systems.gridworld import Gridworld

FAR = 10  # times the distances: margins beyond this need a logarithmic axis
MARGIN = "what the update leaves to be done"
MARGINS = {
    "max_margin": "margin: distance to all mixtures",
    "projection": "distance to the projected mixture",
    "ng_russell": "mean gain over the policies",
    "mwal": "bound of the gap to the game's value",
    "maxent": "length of the gradient",
}


def reward_figure(result: Result) -> Figure:
    """The learned reward of each observation.

    As a map for gridworlds, around the circle for angles, as bars otherwise.
    """
    mean, spread = mean_and_spread(result.reward.weights, result.reward_error)
    if result.system == "Gridworld":
        count = result.replicas
        return gridworlds.reward_figure(
            _gridworld(result),
            mean,
            result.policy.table[0],
            "learned reward" if count == 1 else f"learned reward, mean of {count}",
            spread if spread.any() else None,
            "posterior s.d." if count == 1 else f"s.d. of {count} experiments",
        )
    with style.family():
        if result.observation_units == "degrees":
            figure, ax = plt.subplots(figsize=(4.2, 4.2), subplot_kw={"projection": "polar"})
            draw_polar(ax, result.observation, mean, spread)
            ax.set_title(_title(result, "dashed: zero; long and dark: high reward"))
        else:
            figure, ax = plt.subplots(figsize=(5.2, 3.2))
            draw_bars(ax, result.observation, mean, spread)
            units = "" if result.observation_units == "1" else f" / {result.observation_units}"
            ax.set_xlabel(f"{result.observation_name}{units}")
            ax.set_title(_title(result, ""))
    return figure


def _gridworld(result: Result) -> Gridworld:
    settings = result.system_settings
    plain: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    return Gridworld(**plain)


def mean_and_spread(
    weights: NDArray[np.float64], error: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean over experiments; their spread, or the only one's error, or zero."""
    if len(weights) > 1:
        return weights.mean(axis=0), weights.std(axis=0, ddof=1)
    known = np.zeros(weights.shape[1]) if error is None else np.nan_to_num(error[0])
    return weights[0], known


def draw_polar(
    ax: Any,
    degrees: NDArray[np.float64],
    mean: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Rewards of angles around the circle, with error bars."""
    angle = np.radians(degrees)
    width = 2 * np.pi / len(angle)
    low, high = float((mean - spread).min()), float((mean + spread).max())
    inner = low - 0.15 * (high - low)
    shade = (mean - low) / (high - low or 1.0)
    ax.bar(
        angle,
        mean - inner,
        width,
        bottom=inner,
        color=plt.get_cmap("Greys")(0.2 + 0.7 * shade),
        edgecolor="white",
        linewidth=0.6,
    )
    if spread.any():
        ax.errorbar(angle, mean, spread, fmt="none", ecolor=style.ORANGE, elinewidth=1)
    around = np.linspace(0, 2 * np.pi, 200)  # the circle of zero reward
    ax.plot(around, np.zeros_like(around), color=style.BLUE, linewidth=0.8, linestyle="--")
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ax.set_ylim(inner, high + 0.05 * (high - low))
    ticks = np.arange(0, 360, 30)
    signed = np.where(ticks > 180, ticks - 360, ticks)
    ax.set_xticks(np.radians(ticks), [f"{t:+d}°" if t % 180 else f"{t}°" for t in signed])
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.spines["polar"].set_visible(False)


def draw_bars(
    ax: Axes,
    values: NDArray[np.float64],
    mean: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Rewards of values as bars, with error bars."""
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    bars: dict[str, Any] = {"yerr": spread, "error_kw": {"ecolor": style.ORANGE, "elinewidth": 1}}
    ax.bar(values, mean, 0.8 * step, color=style.GREY, **(bars if spread.any() else {}))
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_ylabel("reward")
    ax.margins(x=0.01)


def _title(result: Result, legend: str) -> str:
    count = result.replicas
    what = "learned reward"
    if count > 1:
        what += f", mean ± s.d. of {count} experiments"
    elif result.reward_error is not None:
        what += " ± posterior s.d."
    return f"{what}\n{legend}" if legend else what


def convergence_figure(result: Result) -> Figure:
    """Distance and margin over the iterations of Algorithm 1, and which iteration was chosen."""
    history = result.history
    iteration = np.arange(len(history.distance))
    with style.family():
        figure, ax = plt.subplots(figsize=(5.2, 3.2))
        for values, label, colour, line in (
            (history.distance, "distance |µ_E - µ| of each policy", style.BLUE, "-"),
            (history.margin, MARGINS.get(title(result.settings), MARGIN), style.ORANGE, "--"),
        ):
            low, high = np.quantile(values, [0.1, 0.9], axis=1)
            if result.replicas > 1:
                ax.fill_between(iteration, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(iteration, values.mean(axis=1), line, color=colour, label=label, marker=".")
        if result.replicas == 1:
            chosen = int(result.chosen[0])
            ax.plot(
                chosen,
                history.distance[chosen, 0],
                "o",
                color="black",
                fillstyle="none",
                markersize=10,
                label=f"chosen: iteration {chosen}",
            )
        ax.set(xlabel="iteration of Algorithm 1", ylabel="feature expectations")
        if history.margin.max() > FAR * history.distance.max() > 0:
            # Such as the bound of an estimated game: on a linear axis distances would lie on zero.
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend()
    return figure


def comparison_figure(
    expert: NDArray[np.float64],
    learned: NDArray[np.float64],
    measure: str,
    spread: bool = True,
) -> Figure:
    """A measure over time, learned beside expert: means and bands of runs (runs, times).

    The bands show the spread of runs; or, where runs are single agents, the error of the mean.
    """
    draw = draw_band if spread else draw_mean
    with style.family():
        figure, ax = plt.subplots(figsize=(5.2, 3.2))
        draw(ax, expert, f"expert, {len(expert)} runs", style.EXPERT)
        draw(ax, learned, f"learned, {len(learned)} runs", style.BLUE)
        ax.lines[-1].set_linestyle("--")
        ax.set(xlabel="time step", ylabel=measure)
        ax.set_ylim(bottom=0)
        ax.legend(title="mean and 10–90 %" if spread else "mean and its 95 % confidence")
    return figure
