"""Pictures of swarms and of their measures over time."""

import itertools
import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from swarmdp.model.system import Measure
from swarmdp.report import style
from swarmdp.report.drawing import draw_swarm
from swarmdp.report.scenes import Scene, axis_limits

_TRAIL_STEPS = 4  # how much of its past an agent trails behind it
_END = "name at the end of a line"
_LINE = 11.0  # points between two lines of text
_MOST_MOVES = 100


def swarm_figure(scene: Scene, values: NDArray[Any] | None = None) -> Figure:
    """A swarm at its start, on its way and at its end, and its main measure over time.

    Parameters
    ----------
    scene
        Of which the first swarm is shown.
    values
        The measure of many runs (runs, times); of the shown run alone if not given.

    """
    label, last = next(iter(scene.swarms)), scene.steps
    times = (0, min(last, max(1, last // 10)), last)
    curve = scene.measure is not None
    with style.family():
        figure, axes = style.subplots(
            1,
            3 + curve,
            figsize=(10.2 if curve else 7.2, 2.75),
            width_ratios=[1, 1, 1, 1.5][: 3 + curve],
        )
        for ax, time in zip(axes, times, strict=False):
            draw_swarm(ax, scene, label, _TRAIL_STEPS)(time)
            ax.set_title(f"t = {time}")
        if scene.measure is not None:
            values_shown = scene.measures[label]
            many = values_shown[None] if values is None else values
            draw_band(axes[3], many, label, style.EXPERT)
            axes[3].plot(
                times,
                values_shown[list(times)],
                "o",
                color=style.ORANGE,
                mfc="white",
                clip_on=False,
                zorder=3,
            )
            label_curve(axes[3], scene.measure, [many, values_shown])
            runs = "the run" if len(many) == 1 else f"mean and 10–90 % of {len(many)} runs"
            axes[3].set_title(f"{runs}, ○ as shown")
    return figure


def label_curve(ax: Axes, measure: Measure, values: list[NDArray[Any]]) -> None:
    """Name the axes of a measure over time, and let them reach from end to end."""
    low, high = axis_limits(measure.limits, values)
    room = 0.03 * (high - low)
    ax.set(xlabel="time step", ylabel=measure.label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(low - (room if low < 0 else 0.0), high + room)


def label_ends(ax: Axes) -> None:
    """Write the names of lines beside their ends, one below the other where they would meet."""
    for old in [text for text in ax.texts if text.get_gid() == _END]:
        old.remove()
    named = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = []
    for line in named:
        x, y = (np.asarray(values, np.float64) for values in line.get_data())
        last = np.flatnonzero(np.isfinite(y))[-1:]
        place = to_axes.transform(np.stack([x[last], y[last]], axis=1))
        ends.append(float(np.clip(place[0, 1], 0, 1)) if len(place) else 0.0)
    figure = ax.get_figure(root=True)
    assert figure is not None
    room = ax.get_position().height * figure.get_figheight() * 72  # points
    heights = [_LINE * (str(line.get_label()).count("\n") + 1) / room for line in named]
    for line, height in zip(named, _apart(ends, heights), strict=True):
        ax.annotate(
            str(line.get_label()),
            (1, height),
            (4, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=style.letters(str(line.get_color())),
            annotation_clip=False,
            gid=_END,
        )


def _apart(places: list[float], heights: list[float]) -> list[float]:
    """Places that are moved as little as need be, so that texts of these heights do not meet."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = list(places)
    for _ in range(_MOST_MOVES):
        still = True
        for below, above in itertools.pairwise(order):
            short = (heights[below] + heights[above]) / 2 - (moved[above] - moved[below])
            if short > 1e-9:
                moved[below] -= short / 2
                moved[above] += short / 2
                still = False
        if still:
            break
    return moved


def draw_band(ax: Axes, values: NDArray[Any], label: str, colour: str) -> None:
    """The mean over runs of values (runs, times), with the band from the 10 % to 90 % quantile."""
    time = np.arange(values.shape[1])
    if len(values) > 1:
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
