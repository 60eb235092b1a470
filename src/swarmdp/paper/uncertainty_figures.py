"""Pictures of the uncertainty coefficient: over time and distance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from swarmdp.paper.pairs import NOT_CONNECTED
from swarmdp.paper.uncertainty import Uncertainty
from swarmdp.report import style
from swarmdp.report.drawing import frame
from swarmdp.report.fits import class_edges
from swarmdp.support.arrays import Bools

COEFFICIENT_COLOURS = "viridis"
HATCH = "//////"
FLOOR = 1e-5  # lowest value on the logarithmic axis
Curve = tuple[int, Any]  # a distance and the line in which it is drawn over time
DISTANCE_CURVES: tuple[Curve, ...] = ((1, "-"), (3, "--"), (6, "-."), (NOT_CONNECTED, ":"))


def uncertainty_figure(results: Mapping[float, Uncertainty]) -> Figure:
    """The coefficient over time and topological distance, a column for each interaction radius.

    Above, the corrected coefficient on one scale for all; below, its course at a few distances
    beside the bias that shuffled pairs show.
    """
    highest = max(float(np.nanmax(result.corrected, initial=0.01)) for result in results.values())
    with style.family():
        figure, axes = style.subplots(
            3,
            len(results),
            figsize=(0.8 + 3.6 * len(results), 5.8),
            height_ratios=[1, 10, 9],
            sharex=True,
            sharey="row",
            squeeze=False,
        )
        for column, (radius, result) in zip(axes.T, results.items(), strict=True):
            apart, connected, curves = column
            image = _draw_map(connected, result, result.hops != NOT_CONNECTED, highest)
            _draw_map(apart, result, result.hops == NOT_CONNECTED, highest)
            connected.set_yticks(result.hops[result.hops != NOT_CONNECTED])
            apart.set_yticks([0], ["not connected"])
            apart.tick_params(bottom=False)
            apart.set_title(f"ρ = {radius:g},  {result.runs} runs")
            _draw_curves(curves, result)
            curves.set_xlabel("time step")
        axes[1, 0].set_ylabel("topological distance / hops")
        axes[2, 0].set_ylabel("uncertainty coefficient")
        figure.colorbar(image, ax=axes[:2], label="uncertainty coefficient", pad=0.01, aspect=25)
        least = max(result.least for result in results.values())
        figure.legend(handles=_legend(least), fontsize=7, loc="outside lower center", ncols=4)
    return figure


def _draw_map(ax: Axes, result: Uncertainty, rows: Bools, highest: float) -> Any:
    """A heat map of some of the classes, the nearest at the bottom; blank ones are hatched."""
    hops = np.maximum(result.hops[rows], 0)
    edges = np.append(hops - 0.5, hops[-1] + 0.5)
    values = np.ma.masked_invalid(result.corrected[:, rows].T)
    image = ax.pcolormesh(
        class_edges(result.times),
        edges,
        values,
        cmap=COEFFICIENT_COLOURS,
        vmin=0,
        vmax=highest,
        rasterized=True,
    )
    ax.patch.set(hatch=HATCH, edgecolor=style.GREY, facecolor="white", linewidth=0)
    frame(ax)
    return image


def _draw_curves(ax: Axes, result: Uncertainty) -> None:
    for distance, line in DISTANCE_CURVES:
        (place,) = np.nonzero(result.hops == distance)
        for k in place:
            value, error = result.corrected[:, k], result.error[:, k]
            band = np.maximum(value - 2 * error, FLOOR), np.maximum(value + 2 * error, FLOOR)
            ax.fill_between(result.times, *band, color=style.BLUE, alpha=0.2, linewidth=0)
            shown = np.where(value > FLOOR, value, np.nan)
            ax.plot(result.times, shown, line, color=style.BLUE, linewidth=1.3)
            ax.plot(result.times, result.bias[:, k], line, color=style.ORANGE, linewidth=1.1)
    ax.set_yscale("log")
    ax.set_ylim(FLOOR, 1)


def _legend(least: int) -> list[Any]:
    lines = [
        Line2D([], [], color="black", linestyle=line, linewidth=1.3, label=_name(distance))
        for distance, line in DISTANCE_CURVES
    ]
    few = Patch(
        hatch=HATCH, facecolor="white", edgecolor=style.GREY, label=f"fewer than {least} pairs"
    )
    return [
        Line2D([], [], color=style.BLUE, label="estimate, band: ± 2 standard errors"),
        Line2D([], [], color=style.ORANGE, label="shuffled pairs (truth: 0)"),
        *lines,
        few,
    ]


def _name(distance: int) -> str:
    if distance == NOT_CONNECTED:
        return "not connected"
    return f"{distance} hop{'s' if distance > 1 else ''}"
