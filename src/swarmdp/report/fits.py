"""Pictures of a fit: the learned reward, the way to it, and the learned swarm beside the expert.

The functions take Matplotlib axes and colours; without axes they make a figure of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator
from numpy.typing import NDArray

from swarmdp.irl.result import Result
from swarmdp.irl.sought import agreed
from swarmdp.irl.updates.registry import margin_title
from swarmdp.judging.evaluation import Evaluation
from swarmdp.model.features import Axis
from swarmdp.policies.replicas import table_of
from swarmdp.report import gridworlds, style
from swarmdp.report.swarms import draw_band, draw_mean, label_curve, label_ends
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.gridworld import Gridworld
from swarmdp.systems.registry import rebuild

_FAR = 10  # times the distances: margins beyond this need a logarithmic axis
HEADROOM = 1.15  # of the highest distance
MOST_LINES = 10  # of single runs of a demo; of more the mean is drawn
MOST_TICKS = 12  # of an axis of levels
_SHORT_NAMES = 12  # letters of names that stand side by side under bars
BAR_COLOURS = (style.GREY, style.ORANGE)  # of bars, and of their errors
DISTANCE_COLOURS = (style.BLUE, style.ORANGE)  # of distances and margins
SWARM_COLOURS = (style.EXPERT, style.BLUE)  # of the expert and the learned swarm
_DARK, _PALE = 0.75, 0.2  # shades of what is identified, and of what is not
_FAINT = 0.3  # the opacity of bars that are not identified


@dataclass(frozen=True, eq=False)
class Panel:
    """Rewards over one or two axes, as one picture shows them."""

    axes: tuple[Axis, ...]
    mean: Floats  # a grid over the axes
    spread: Floats  # likewise; zero where it is not known
    note: str = ""  # what to say of it beside its name
    centre: Floats | None = None  # what the spread is around, if not the mean
    clear: Bools | None = None  # where rewards that do as well agree; None if they are not known

    @property
    def polar(self) -> bool:
        """Whether it goes around the circle."""
        return len(self.axes) == 1 and self.axes[0].periodic and self.axes[0].units == "degrees"


def panels_of(result: Result) -> list[Panel]:
    """The pictures that show a reward: one for each block of weights of one or two axes.

    A block of more is shown by the means over all other components, one picture for each.
    """
    errors = centres = clear = drawn = None
    if result.experiments == 1 and (flags := result.identified_weights) is not None:
        clear = result.reward.tables(flags.astype(np.float64))
        assert result.alternatives is not None
        drawn = result.reward.tables(result.alternatives[:, 0])
    if result.experiments == 1 and result.reward_error is not None:
        errors = result.reward.tables(np.nan_to_num(result.reward_error))
    if result.experiments == 1 and result.resamples is not None and not result.is_of_decisions:
        centres = result.reward.tables(result.resamples.mean(axis=0))
    panels = []
    for number, table in enumerate(result.reward.tables()):
        block = tuple(axis.shown for axis in result.blocks[number])
        weights = table.to_numpy()
        if len(block) <= 2:
            error = None if errors is None else errors[number].to_numpy()
            mean, spread = mean_and_spread(weights, error)
            centre = None if centres is None else centres[number].to_numpy()[0]
            note = ""
            if len(block) == 2 and spread.any():  # a map has no error bars
                note = f"s.d. of a class up to {spread.max():.2g}, mostly {np.median(spread):.2g}"
            dark = None if clear is None else clear[number].to_numpy()[0] > 0
            panels.append(Panel(block, mean, spread, note, centre, dark))
            continue
        for place, axis in enumerate(block):
            others = tuple(i + 1 for i in range(len(block)) if i != place)
            note = "mean over the other components"
            mean, spread = mean_and_spread(weights.mean(axis=others))
            dark = None
            if drawn is not None:
                # The error of a mean over classes is that of the means of other rewards.
                means = drawn[number].to_numpy().mean(axis=others)
                spread, dark = means.std(axis=0, ddof=1), agreed(mean, means)
            panels.append(Panel((axis,), mean, spread, note, None, dark))
    return panels


@checked
def plot_reward(result: Result, ax: Any = None, *, colours: Sequence[str] = BAR_COLOURS) -> Figure:
    """Draw the learned reward.

    One picture for each component of an additive reward, a map for two components, bars for levels
    and named features; an angle alone goes around the circle.

    Parameters
    ----------
    result
        What `swarmdp.fit` found.
    ax
        Matplotlib axes, or as many as there are pictures (`panels_of`); None makes a figure.
    colours
        Of the bars, and of their errors.

    Returns
    -------
    Figure
        The figure that was drawn into.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> len(swarmdp.report.plot_reward(result).axes) > 0
    True

    """
    _two(colours)
    panels = panels_of(result)
    if ax is not None:
        several = ax.ravel().tolist() if isinstance(ax, np.ndarray) else ax
        given = list(several) if isinstance(several, tuple | list) else [several]
        for axes in given:
            _check_axes(axes)
        if len(given) != len(panels):
            names = ", ".join(" and ".join(axis.name for axis in p.axes) for p in panels)
            raise InvalidInput(
                f"this reward needs {len(panels)} axes ({names}), got {len(given)}: leave ax out, "
                "or give one for each"
            )
        for axes, panel in zip(given, panels, strict=True):
            draw_panel(axes, panel, colours)
        _set_titles(given, panels, result)
        return figure_of(given[0])
    grid = _gridworld(result)
    if grid is not None:
        return _gridworld_figure(result, grid)
    with style.family():
        figure = style.figure(figsize=_reward_size(panels))
        _draw_reward(figure, panels, result, colours)
    return figure


def _reward_size(panels: Sequence[Panel]) -> tuple[float, float]:
    if len(panels) == 1:
        return (8.8, 4.4) if panels[0].polar else (5.4, 3.4)
    return min(4.2 * len(panels), 12.6), 3.4 * -(-len(panels) // 3)


def _draw_reward(figure: Any, panels: Sequence[Panel], result: Result, colours: Any) -> None:
    """All panels of a reward, in a figure or a part of one."""
    if len(panels) == 1 and panels[0].polar:
        _draw_angle(figure, panels[0], result, colours)
        return
    columns = min(len(panels), 3)
    drawn = figure.subplots(
        -(-len(panels) // columns),
        columns,
        squeeze=False,
        sharey=all(len(panel.axes) == 1 for panel in panels),  # so that blocks can be compared
    ).ravel()
    for ax, panel in zip(drawn, panels, strict=False):
        draw_panel(ax, panel, colours)
    for ax in drawn[len(panels) :]:
        ax.set_axis_off()
    if all(len(panel.axes) == 1 for panel in panels):
        for place, ax in enumerate(drawn):
            ax.set_ylabel("" if place % columns else "reward")
    _set_titles(drawn, panels, result, figure)


def _draw_angle(figure: Any, panel: Panel, result: Result, colours: Any) -> None:
    """The reward of an angle twice: around the circle, and along a line with its errors."""
    grid = figure.add_gridspec(1, 2, width_ratios=[1.0, 1.15])
    around = figure.add_subplot(grid[0], projection="polar")
    along = figure.add_subplot(grid[1])
    bare = replace(panel, spread=np.zeros_like(panel.spread), centre=None)
    draw_panel(around, bare, colours)
    around.set_title(f"by {panel.axes[0].label}; dashed: zero")
    draw_band_of_rewards(along, panel, colours)
    _set_titles([along], [panel], result)


def draw_band_of_rewards(ax: Axes, panel: Panel, colours: Sequence[str] = BAR_COLOURS) -> None:
    """Rewards along a line as bars from zero, with a band of errors; what is not clear is pale."""
    axis = panel.axes[0]
    draw_bars(ax, axis.values, panel.mean, np.zeros_like(panel.spread), colours, clear=panel.clear)
    if panel.spread.any():
        middle = panel.mean if panel.centre is None else panel.centre
        places = axis.values.astype(np.float64)
        ax.fill_between(
            places,
            middle - panel.spread,
            middle + panel.spread,
            color=colours[1],
            alpha=0.3,
            linewidth=0,
        )
        ax.plot(places, middle, color=colours[1], linewidth=1.2)
    ax.set_xlabel(axis.label)
    _set_ticks(ax.xaxis, axis)


def _set_titles(axes: Any, panels: Sequence[Panel], result: Result, figure: Any = None) -> None:
    """Say above each picture what is shown; above several in a figure of their own, once."""
    what, count = "learned reward", result.experiments
    maps = any(len(panel.axes) == 2 for panel in panels)
    if count > 1:
        what += f", mean {'' if maps else '± s.d. '}of {count} experiments"
    elif any(panel.spread.any() for panel in panels) and not maps:
        what += f"; orange: {_error_name(result)}"
    if any(panel.clear is not None and not panel.clear.all() for panel in panels):
        what += "\npale: not identified, other rewards explain the demo as well"
    together = figure is not None and len(panels) > 1
    if together:
        figure.suptitle(what, fontsize="medium")
    for ax, panel in zip(axes, panels, strict=False):
        notes = [] if together else [what]
        if panel.note:
            notes.append(panel.note)
        if ax.name == "polar":
            notes.append(f"by {panel.axes[0].label}; dashed: zero")
        ax.set_title("\n".join(notes))


def _check_axes(ax: object) -> None:
    """Raise InvalidInput unless something can be drawn into."""
    if not isinstance(ax, Axes):
        raise InvalidInput(
            f"ax must be Matplotlib axes, got {brief(ax)}: leave it out for a figure"
        )


def _two(colours: Sequence[str]) -> Sequence[str]:
    """Two colours that Matplotlib knows; raises InvalidInput otherwise."""
    right = isinstance(colours, tuple | list) and len(colours) == 2
    if not right or not all(isinstance(c, str) and is_color_like(c) for c in colours):
        raise InvalidInput(
            f'colours must be two colours such as ("black", "#E69F00"), got {brief(colours)}'
        )
    return colours


def figure_of(ax: Axes) -> Figure:
    """The figure to which axes belong."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def draw_panel(ax: Any, panel: Panel, colours: Sequence[str] = BAR_COLOURS) -> None:
    """Draw rewards around the circle on polar axes, as a map of two components, or as bars."""
    first = panel.axes[0]
    if len(panel.axes) == 2:
        _draw_map(ax, panel)
    elif ax.name == "polar":
        draw_polar(
            ax, first.values, panel.mean, panel.spread, centre=panel.centre, clear=panel.clear
        )
    else:
        draw_bars(ax, first.values, panel.mean, panel.spread, colours, panel.centre, panel.clear)
        ax.set_xlabel(first.label)
        _set_ticks(ax.xaxis, first)


def mean_and_spread(weights: Floats, error: Floats | None = None) -> tuple[Floats, Floats]:
    """The mean over experiments; their spread, or the only one's error, or zero."""
    if len(weights) > 1:
        return weights.mean(axis=0), weights.std(axis=0, ddof=1)
    spread = np.zeros(weights.shape[1:]) if error is None else np.nan_to_num(error[0])
    return weights[0], spread


def draw_polar(
    ax: Any,
    degrees: Floats,
    mean: Floats,
    spread: Floats,
    limits: tuple[float, float] | None = None,
    centre: Floats | None = None,
    clear: Bools | None = None,
) -> None:
    """Rewards of angles around the circle: outwards from the circle of zero, or inwards.

    Several are on one scale if they are given the same limits (see `polar_limits`). The error bars
    are around the rewards, or around a centre of their own. What is not `clear` is pale.
    """
    angle = np.radians(degrees)
    width = 2 * np.pi / len(angle)
    middle = mean if centre is None else centre
    if limits is None:
        limits = polar_limits([(mean, np.zeros_like(mean)), (middle, spread)])
    low, high = limits
    inner = low - 0.15 * (high - low)
    shade = np.where(np.ones_like(mean, np.bool_) if clear is None else clear, _DARK, _PALE)
    ax.bar(
        angle,
        mean,  # outwards from zero, or inwards
        width,
        color=matplotlib.colormaps["Greys"](shade),
        edgecolor="white",
        linewidth=0.6,
    )
    if spread.any():
        dots = "none" if centre is None else "o"
        looks = {"color": style.ORANGE, "markersize": 2.5, "elinewidth": 1}
        ax.errorbar(angle, middle, spread, fmt=dots, **looks)
    around = np.linspace(0, 2 * np.pi, 200)  # the circle of zero reward
    ax.plot(around, np.zeros_like(around), color=style.BLUE, linewidth=0.8, linestyle="--")
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ax.set_ylim(inner, high + 0.05 * (high - low))
    ticks = np.arange(0, 360, 30)
    signed = np.where(ticks > 180, ticks - 360, ticks)
    ax.set_xticks(np.radians(ticks), [f"{t:+d}°" if t % 180 else f"{t}°" for t in signed])
    label_polar(ax, low, high, _free_direction(degrees, mean))
    ax.spines["polar"].set_visible(False)


def _free_direction(degrees: Floats, mean: Floats) -> float:
    """Where the numbers of circles hide least: between two labels of angles, at the lowest bars."""
    directions = np.arange(15, 360, 30)
    away = np.abs((degrees[None] - directions[:, None] + 180) % 360 - 180)
    near = np.where(away <= max(20.0, 360 / len(degrees)), np.abs(mean), 0.0)
    return float(directions[near.max(axis=1).argmin()])


def polar_limits(
    shown: Sequence[tuple[Floats, Floats]],
) -> tuple[float, float]:
    """The lowest and highest of several means with their spreads, zero included."""
    low = min(0.0, *(float((mean - spread).min()) for mean, spread in shown))
    high = max(0.0, *(float((mean + spread).max()) for mean, spread in shown))
    return low, high if high > low else low + 1.0


def label_polar(ax: Any, low: float, high: float, direction: float = 195) -> None:
    """Circles at a few rewards, with their numbers in a direction between two labels of angles."""
    ticks = [t for t in MaxNLocator(4).tick_values(low, high) if low <= t <= high]
    ax.set_yticks(ticks, [f"{t:g}" for t in ticks], fontsize=7)
    for text in ax.get_yticklabels():
        text.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6})
    ax.set_rlabel_position(direction)
    ax.grid(visible=False, axis="x")
    ax.grid(visible=True, axis="y", color=style.PALE, linewidth=0.5)
    ax.set_axisbelow(False)


def draw_bars(
    ax: Axes,
    values: NDArray[Any],
    mean: Floats,
    spread: Floats,
    colours: Sequence[str] = BAR_COLOURS,
    centre: Floats | None = None,
    clear: Bools | None = None,
) -> None:
    """Rewards of values, or of named features, as bars with error bars.

    These are around the rewards, or around a centre of their own. What is not `clear` is pale.
    """
    named = values.dtype.kind in "US"
    places = np.arange(len(values), dtype=np.float64) if named else values.astype(np.float64)
    width = 0.8 * (np.diff(places).min() if len(places) > 1 else 1.0)
    drawn = ax.bar(places, mean, width, color=colours[0])
    for bar, dark in zip(drawn, () if clear is None else clear, strict=False):
        bar.set_alpha(None if dark else _FAINT)
    if spread.any():
        dots, middle = ("none", mean) if centre is None else ("o", centre)
        looks: dict[str, Any] = {"color": colours[1], "markersize": 3, "elinewidth": 1}
        ax.errorbar(places, middle, spread, fmt=dots, **looks)
    if named:
        longest = max(map(len, values)) * len(values) > 5 * _SHORT_NAMES
        ax.set_xticks(places, list(values), rotation=45 if longest else 0)
        if longest:
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_ylabel("reward")
    ax.margins(x=0.01)


def _draw_map(ax: Any, panel: Panel) -> None:
    """Rewards of two components as shades."""
    across, up = panel.axes
    image = ax.pcolormesh(
        class_edges(across.values), class_edges(up.values), panel.mean.T, cmap=style.SPINS
    )
    colours = ax.figure.colorbar(image, ax=ax, label="reward")
    colours.outline.set_linewidth(0.6)
    if panel.clear is not None:
        image.set_alpha(np.where(panel.clear.T, 1.0, _FAINT))
    ax.set(xlabel=across.label, ylabel=up.label)
    _set_ticks(ax.xaxis, across)
    _set_ticks(ax.yaxis, up)


def _set_ticks(drawn: Any, axis: Axis) -> None:
    """Ticks at whole numbers for these, and at simple angles."""
    if axis.values.dtype.kind in "iu":
        set_levels(drawn, axis.values)
    elif axis.periodic and axis.units == "degrees":
        drawn.set_major_locator(MultipleLocator(60))


def set_levels(drawn: Any, values: NDArray[Any]) -> None:
    """Ticks at whole numbers, evenly from the lowest level to the highest if that can be."""
    span = int(values[-1] - values[0])
    step = next((s for s in range(1, span) if span % s == 0 and span // s <= MOST_TICKS), None)
    if step is None or span // step < 3:
        drawn.set_major_locator(MaxNLocator(integer=True))
    else:
        drawn.set_ticks(np.arange(values[0], values[-1] + 1, step))


def class_edges(values: NDArray[Any]) -> Floats:
    """Between the middles of classes, and as far beyond the outer ones."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5], dtype=np.float64)
    between = (values[1:] + values[:-1]) / 2
    return np.array([2 * values[0] - between[0], *between, 2 * values[-1] - between[-1]])


def _gridworld(result: Result) -> Gridworld | None:
    """The gridworld of a fit, whose rewards are a map of its cells; None for other systems."""
    settings = result.system_settings
    if result.system_name != "Gridworld" or {f.name for f in fields(Gridworld)} != set(settings):
        return None
    grid = rebuild(result.system_name, settings)
    return grid if isinstance(grid, Gridworld) else None


def _gridworld_figure(result: Result, grid: Gridworld) -> Figure:
    mean, spread = mean_and_spread(result.reward.weights, result.reward_error)
    count = result.experiments
    return gridworlds.gridworld_reward_figure(
        grid,
        mean,
        table_of(result.policy)[0],
        "learned reward" if count == 1 else f"learned reward, mean of {count}",
        spread if spread.any() else None,
        None if count > 1 or result.identified_weights is None else result.identified_weights[0],
        _error_name(result).partition("± ")[2] if count == 1 else f"s.d. of {count} experiments",
    )


def _error_name(result: Result) -> str:
    """What the error bars of a reward are."""
    if result.resamples is None or result.is_of_decisions:
        known = result.reward_choice is not None
        return "± s.d. of rewards that do as well" if known else "± posterior s.d."
    return f"mean ± s.d. from {len(result.resamples)} resampled demos"


@checked
def plot_convergence(
    result: Result, ax: Axes | None = None, *, colours: Sequence[str] = DISTANCE_COLOURS
) -> Figure:
    """Draw distance and margin over the iterations of Algorithm 1, and which one was chosen.

    Parameters
    ----------
    result
        What `swarmdp.fit` found.
    ax
        Matplotlib axes to draw into; None makes a figure.
    colours
        Of the distances and of the margins.

    Returns
    -------
    Figure
        The figure that was drawn into.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> len(swarmdp.report.plot_convergence(result).axes) > 0
    True

    """
    _two(colours)
    with style.family():
        if ax is None:
            _, ax = style.subplots(figsize=(6.2, 3.2))
        assert ax is not None
        history = result.history
        iteration = np.arange(len(history.distance))
        for values, label, colour, line in (
            (history.distance, "distance |µ_E - µ|\nof each policy", colours[0], "-"),
            (history.margin, margin_title(result.settings), colours[1], "--"),
        ):
            low, high = np.quantile(values, [0.1, 0.9], axis=1)
            if result.experiments > 1:
                ax.fill_between(iteration, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(iteration, values.mean(axis=1), line, color=colour, label=label, marker=".")
        if result.experiments > 1:
            several = f"lines: means, bands: 10–90 % of {result.experiments} experiments"
            ax.set_title(several, loc="left", fontsize=8, color=style.DIM)
        else:
            chosen = int(result.chosen[0])
            place = (chosen, float(history.distance[chosen, 0]))
            ax.plot(*place, "o", color="black", fillstyle="none", markersize=10)
            side = "center" if chosen else "left"  # the axis is at the left of the first one
            ax.annotate("chosen", place, (0, 8), textcoords="offset points", ha=side)
        ax.set(
            xlabel="iteration of Algorithm 1",
            ylabel="distance from the demo's\nfeature expectations",
        )
        if history.margin.max() > _FAR * history.distance.max() > 0:
            # Such as the bound of an estimated game: on a linear axis distances would lie on zero.
            ax.set_yscale("log")
        else:
            highest = max(float(history.distance.max()), float(history.margin.max()))
            ax.set_ylim(0, HEADROOM * highest if highest > 0 else 1)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        label_ends(ax)
    return figure_of(ax)


def plot_result(result: Result) -> Figure:
    """The learned reward, and the way to it beside."""
    panels = panels_of(result)
    with style.family():
        width, height = _reward_size(panels)
        figure = style.figure(figsize=(width + 5.2, max(height, 3.2)))
        parts: Any = figure.subfigures(1, 2, width_ratios=[width, 5.2])
        left, right = parts
        _draw_reward(left, panels, result, BAR_COLOURS)
        plot_convergence(result, right.subplots())
    return figure


def plot_evaluation(
    evaluation: Evaluation,
    ax: Axes | None = None,
    *,
    measure: str | None = None,
    colours: Sequence[str] | None = None,
) -> Figure:
    """Draw the measures of an evaluation over time (see `swarmdp.judging.Evaluation.plot`).

    The bands show the spread of runs; or, where a run is a single agent, the error of the mean.
    """
    names = list(evaluation.measures)
    if measure is not None and measure not in names:
        raise InvalidInput(
            f"measure must be one of {', '.join(names) or 'none'}, got {measure!r}: "
            f"these are the measures of {evaluation.system_name}"
        )
    if not names:
        raise InvalidInput(
            f"{evaluation.system_name} has no measures to draw: give it an attribute `measures`, "
            "such as {'order': swarmdp.model.Measure(function, title)}"
        )
    if ax is not None:
        _check_axes(ax)
    chosen = [measure] if measure is not None else names if ax is None else names[:1]
    expert_colour, learned_colour = _two(SWARM_COLOURS if colours is None else colours)
    with style.family():
        drawn = [] if ax is None else [ax]
        if ax is None:
            size = (5.6 * len(chosen), 4.2)
            both = style.subplots(
                2, len(chosen), figsize=size, squeeze=False, sharex="col", height_ratios=[3, 1]
            )[1]
            drawn = list(both[0])
            for name, above, strip in zip(chosen, *both, strict=True):
                _draw_difference(strip, evaluation, name, learned_colour)
                above.tick_params(labelbottom=False)
        for name, axes in zip(chosen, drawn, strict=True):
            _draw_swarms(axes, evaluation, name, expert_colour, learned_colour)
            if ax is None:
                axes.set_xlabel("")
    return figure_of(drawn[0])


def _draw_swarms(
    ax: Axes, evaluation: Evaluation, name: str, expert_colour: str, learned_colour: str
) -> None:
    """A measure of expert and learned swarms over time, with their names at the ends."""
    expert, learned = evaluation.expert[name], evaluation.learned[name]
    draw = draw_band if evaluation.n_agents > 1 else draw_mean
    draw(ax, expert, f"expert,\n{_runs(expert)}", expert_colour)
    ax.lines[-1].set_linewidth(1.2)
    draw(ax, learned, f"learned,\n{_runs(learned)}", learned_colour)
    ax.lines[-1].set_linestyle((0, (4, 1.5)))
    label_curve(ax, evaluation.measures[name], [expert, learned])
    ax.set_title(_band_name(evaluation), loc="left", fontsize=8, color=style.DIM)
    label_ends(ax)


def _runs(values: NDArray[Any]) -> str:
    return "1 run" if len(values) == 1 else f"{len(values)} runs"


def _draw_difference(ax: Axes, evaluation: Evaluation, name: str, colour: str) -> None:
    """How far the mean of learned swarms is from the expert's, with its 95 % confidence."""
    expert, learned = evaluation.expert[name], evaluation.learned[name]
    time, gap = np.arange(expert.shape[1]), learned.mean(axis=0) - expert.mean(axis=0)
    error = 1.96 * np.sqrt(
        sum(v.var(axis=0, ddof=1) / len(v) if len(v) > 1 else 0.0 * gap for v in (expert, learned))
    )
    ax.axhline(0, color=style.EXPERT, linewidth=0.8)
    ax.fill_between(time, gap - error, gap + error, color=colour, alpha=0.25, linewidth=0)
    ax.plot(time, gap, color=colour, linewidth=1.2)
    far = float(np.nanmax(np.abs(gap) + error, initial=0.0)) or 1.0
    ax.set(xlabel="time step", ylim=(-1.1 * far, 1.1 * far), ylabel="learned\n− expert")
    ax.yaxis.set_major_locator(MaxNLocator(3, symmetric=True))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0)


def _band_name(evaluation: Evaluation) -> str:
    several = evaluation.n_agents > 1
    return "lines: means, bands: 10–90 % of runs" if several else "means with 95 % confidence"


def plot_beside_demo(evaluation: Evaluation, demo: Mapping[str, NDArray[Any]]) -> Figure:
    """The measures of an evaluation over time, with those of the demo (runs, times) by name."""
    figure = plot_evaluation(evaluation)
    with style.family():
        for name, ax in zip(evaluation.measures, figure.axes, strict=False):
            runs = demo[name]
            label = "demo" if len(runs) == 1 else f"demo,\n{len(runs)} runs"
            if len(runs) > MOST_LINES:
                runs, label = runs.mean(axis=0, keepdims=True), f"demo, mean\nof {len(runs)} runs"
            lines = ax.plot(
                np.arange(runs.shape[1]), runs.T, color=style.ORANGE, linewidth=1.1, zorder=1.9
            )
            lines[0].set_label(label)
            label_curve(
                ax,
                evaluation.measures[name],
                [evaluation.expert[name], evaluation.learned[name], runs],
            )
            ax.set_xlabel("")
            label_ends(ax)
    return figure
