"""The figures of the paper, each with the paper's learner and with the default beside it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from swarmdp.model.trajectory import Trajectory
from swarmdp.paper.claims import LEARNER_NAMES
from swarmdp.paper.outcome import Band, Fits
from swarmdp.report import style
from swarmdp.report.drawing import ARROW, frame
from swarmdp.report.fits import draw_bars, draw_polar, mean_and_spread, polar_limits, set_levels
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek

POLICY_CURVES: dict[str, tuple[str, str, Any, float]] = {
    "expert": ("expert", style.EXPERT, "-", 1.2),
    "swarm": ("learned", style.BLUE, (0, (5, 1.5)), 1.6),
    "single": ("learned, single-agent estimate", style.RED, "-.", 1.4),
    "hand": ("hand-crafted reward", style.GREEN, (0, (1, 1.2)), 1.8),
    "random": ("random policies", style.PURPLE, ":", 1.4),
}


def snapshots_figure(system: Vicsek, stages: Mapping[str, Mapping[str, NDArray[Any]]]) -> Figure:
    """Four stages of one policy update: who explores, who is greedy, and where all are heading."""
    with style.family():
        figure, axes = style.subplots(
            len(stages), 4, figsize=(9.2, 2.5 * len(stages) + 0.35), squeeze=False
        )
        for row, (which, arrays) in zip(axes, stages.items(), strict=True):
            for stage, ax in enumerate(row):
                _draw_stage(ax, system, {name: array[stage] for name, array in arrays.items()})
            row[0].set_ylabel(LEARNER_NAMES[which])
        figure.legend(
            handles=[
                _sign("greedy agents", 7.0, **GREEDY),
                _sign("exploring agents: larger, with an edge", 10.0, **EXPLORING),
            ],
            loc="outside lower center",
            ncols=2,
        )
    return figure


# How agents look: all are arrowheads that point where they head.
GREEDY: dict[str, Any] = {"facecolor": style.BLUE, "edgecolor": "none", "linewidth": 0.0}
EXPLORING: dict[str, Any] = {"facecolor": style.ORANGE, "edgecolor": "black", "linewidth": 0.7}


def _sign(label: str, size: float, facecolor: str, edgecolor: str, linewidth: float) -> Line2D:
    corners = [(float(z.real), float(z.imag)) for z in ARROW]
    return Line2D(
        [],
        [],
        marker=Path([*corners, corners[0]]),
        linestyle="",
        markersize=size,
        markerfacecolor=facecolor,
        markeredgecolor=edgecolor,
        markeredgewidth=linewidth,
        label=label,
    )


def _draw_stage(ax: Axes, system: Vicsek, now: Mapping[str, Any]) -> None:
    exploring = now["exploring"].astype(bool)
    for who, length, looks in ((~exploring, 0.05, GREEDY), (exploring, 0.075, EXPLORING)):
        place, heading = now["position"][who], now["heading"][who]
        corners = (place @ (1, 1j))[:, None] + length * system.box * ARROW * np.exp(
            1j * heading[:, None]
        )
        ax.add_collection(
            PolyCollection(list(np.stack([corners.real, corners.imag], axis=2)), **looks)
        )
    order = float(system.order({"heading": now["heading"][None]})[0])
    share = 100 * exploring.mean()
    ax.set_title(f"iteration {now['iteration'] + 1}\n{share:.0f} % explore, ω = {order:.2f}")
    _box(ax, system)


def _box(ax: Axes, system: Vicsek) -> None:
    ax.set(xlim=(0, system.box), ylim=(0, system.box), xticks=[], yticks=[])
    ax.set_aspect("equal")
    frame(ax)


def vicsek_reward_figure(system: Vicsek, by_learner: Mapping[str, Fits]) -> Figure:
    """The learned Vicsek reward around the circle of misalignments."""
    with style.family():
        figure, axes = style.subplots(
            1,
            len(by_learner),
            figsize=(9.2, 4.2),
            subplot_kw={"projection": "polar"},
            squeeze=False,
        )
        shown = {which: mean_and_spread(fits.weights) for which, fits in by_learner.items()}
        limits = polar_limits(list(shown.values()))
        for ax, (which, fits) in zip(axes[0], by_learner.items(), strict=True):
            draw_polar(ax, system.features.axes[0].shown.values, *shown[which], limits)
            ax.set_title(f"{LEARNER_NAMES[which]}\n{len(fits.weights)} experiments", pad=14)
        figure.supxlabel(
            "reward (weights of length 1, both on one scale) by misalignment in degrees; "
            "orange: ± s.d. of experiments, dashed: zero",
            fontsize=9,
        )
    return figure


def ising_reward_figure(system: Ising, by_learner: Mapping[str, Fits]) -> Figure:
    """The learned Ising reward of each local energy."""
    with style.family():
        figure, axes = style.subplots(
            1, len(by_learner), figsize=(9.2, 3.0), sharey=True, squeeze=False
        )
        for ax, (which, fits) in zip(axes[0], by_learner.items(), strict=True):
            draw_bars(ax, system.features.axes[0].values, *mean_and_spread(fits.weights))
            ax.axvline(system.n_neighbours / 2, color=style.BLUE, linewidth=0.8, linestyle="--")
            ax.set(xlabel="local energy / unlike neighbours")
            set_levels(ax.xaxis, system.features.axes[0].values)
            ax.tick_params(labelleft=True)
            ax.set_title(f"{LEARNER_NAMES[which]}, mean ± s.d. of {len(fits.weights)} experiments")
        axes[0, -1].annotate(
            "dashed: half of the neighbours",
            (0.98, 0.93),
            xycoords="axes fraction",
            ha="right",
            fontsize=7,
            color=style.BLUE,
        )
        axes[0, 0].set_ylabel("reward (weights of length 1)")
        for ax in axes[0, 1:]:
            ax.set_ylabel("")
    return figure


def trajectories_figure(system: Vicsek, swarms: Mapping[str, Trajectory], span: int) -> Figure:
    """The ways of all agents at the start and at the end; the colour is the time."""
    with style.family():
        figure, axes = style.subplots(2, len(swarms), figsize=(2.6 * len(swarms) + 0.9, 5.4))
        last = next(iter(swarms.values())).steps
        for column, (name, trajectory) in zip(axes.T, swarms.items(), strict=True):
            drawn = [
                _draw_ways(ax, system, trajectory, begin, begin + span)
                for ax, begin in zip(column, (0, last - span), strict=True)
            ]
            column[0].set_title(name)
            order = system.order(trajectory)[0]
            for ax, end in zip(column, (span, last), strict=True):
                ax.set_xlabel(f"order parameter at the end {order[end]:.2f}", fontsize=8)
        for row, label, begin in zip(
            axes, ("transient", "stationary"), (0, last - span), strict=True
        ):
            row[0].set_ylabel(f"{label}, t = {begin} to {begin + span}")
        colours = figure.colorbar(drawn[0], ax=axes, shrink=0.5, ticks=[0, span])
        colours.set_label("time in the panel", labelpad=-8)
        colours.ax.set_yticklabels(["first", "last"])
    return figure


def _draw_ways(
    ax: Axes, system: Vicsek, trajectory: Trajectory, begin: int, end: int
) -> LineCollection:
    position = trajectory["position"][0, begin : end + 1]
    segments = np.stack([position[:-1], position[1:]], axis=2)  # (steps, agents, 2 ends, axes)
    time = np.broadcast_to(np.arange(end - begin)[:, None], segments.shape[:2])
    whole = np.abs(segments[:, :, 1] - segments[:, :, 0]).max(axis=2) < system.box / 2
    lines = LineCollection(
        list(segments[whole]), array=time[whole], cmap=style.TIMES, linewidths=0.7, alpha=0.9
    )
    lines.set_clim(0, end - begin)
    ax.add_collection(lines)
    _box(ax, system)
    return lines


def bands_figure(
    by_learner: Mapping[str, Mapping[str, Band]], label: str, unit: float = 1.0
) -> Figure:
    """A measure over time for all policies, and how far the learned ones are from the expert."""
    with style.family():
        figure, axes = style.subplots(
            2,
            len(by_learner),
            figsize=(9.2, 4.8),
            sharex="col",
            sharey="row",
            squeeze=False,
            height_ratios=[3, 1],
        )
        for (ax, strip), (which, bands) in zip(axes.T, by_learner.items(), strict=True):
            for curve, band in bands.items():
                _draw_band(ax, curve, band, unit)
            ax.set_title(LEARNER_NAMES[which])
            ax.margins(x=0)
            ax.set_ylim(bottom=0)
            _draw_differences(strip, bands, unit)
        axes[0, 0].set_ylabel(label)
        axes[1, 0].set_ylabel("from the\nexpert")
        handles, names = axes[0, 0].get_legend_handles_labels()
        band_sign = Patch(facecolor=style.GREY, alpha=0.3, label="bands: 10–90 % of runs")
        figure.legend(
            [*handles, band_sign],
            [*names, str(band_sign.get_label())],
            loc="outside lower center",
            ncols=3,
            fontsize=8,
        )
    return figure


def _draw_band(ax: Axes, curve: str, band: Band, unit: float) -> None:
    """A mean over time, with its band from the 10 % to the 90 % quantile."""
    name, colour, line, width = POLICY_CURVES[curve]
    time = np.arange(len(band.mean))
    ax.fill_between(time, band.low / unit, band.high / unit, color=colour, alpha=0.15, linewidth=0)
    ax.plot(time, band.mean / unit, color=colour, linestyle=line, linewidth=width, label=name)


def _draw_differences(ax: Axes, bands: Mapping[str, Band], unit: float) -> None:
    """How far the means of learned swarms are from the expert's."""
    ax.axhline(0, color=style.EXPERT, linewidth=0.8)
    for curve in ("swarm", "single"):
        if curve in bands and "expert" in bands:
            _, colour, line, width = POLICY_CURVES[curve]
            gap = (bands[curve].mean - bands["expert"].mean) / unit
            ax.plot(gap, color=colour, linestyle=line, linewidth=width)
    ax.set(xlabel="time step")
    ax.margins(x=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(3))
