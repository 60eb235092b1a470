"""Figures of an analysis: the rule of turns, the reward as curves, and how one knows."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle as Round
from matplotlib.patches import Polygon as Corners

from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.arena import Arena, Circle, Periodic
from swarmdp.recordings.components import COMPONENTS
from swarmdp.recordings.decisions import Decisions, wrap_angles
from swarmdp.recordings.interaction import Interaction
from swarmdp.recordings.rule import Rule
from swarmdp.report import fits, style
from swarmdp.report.swarms import label_ends
from swarmdp.support.arrays import Floats, Ints

MOST_PLACES = 4000  # that are drawn in the arena
CELLS = 24  # of the map of turns, along each side
LEAST_PAIRS = 30  # of individuals, for a cell of the map to be drawn
_MOST_PAIRS = 2_000_000  # that the map is made of
TURNING = "PuOr"  # colours of turns to the right and to the left
_NOTHING = 0.02  # of the largest reward: a component below it is not rewarded
_WORDS = {"repulsion": "avoided", "alignment": "followed", "attraction": "approached"}


def rule_figure(rule: Rule, decisions: Decisions, arena: Arena | None) -> Figure:
    """The turn against the place of others, against their distance, and against misalignment."""
    with style.family():
        figure, axes = style.subplots(2, 2, figsize=(8.4, 6.6))
        _draw_turn_map(axes[0, 0], decisions, arena, 1.1 * float(rule.curves["distance"][-1]))
        draw_curves(rule, axes[0, 1], axes[1, 0], axes[1, 1])
    return figure


def draw_curves(rule: Rule, towards: Axes, along: Axes, turned: Axes) -> None:
    """The turn against the distance of others, towards them and along, and misalignment."""
    curves = rule.curves
    panels = (
        (towards, "distance", "towards", "turn towards others (rad)"),
        (along, "distance", "along", "turn to the heading of others (rad)"),
        (turned, "misalignment", "turn", "mean turn (rad)"),
    )
    for ax, places, values, name in panels:
        ax.axhline(0, color=style.GREY, linewidth=0.8)
        ax.errorbar(
            curves[places],
            curves[values],
            curves[f"{values}_error"],
            fmt="o-",
            markersize=3,
            color=style.BLUE,
        )
        ax.set(ylabel=name)
    for ax in (towards, along):
        ax.set(xlabel=f"distance of the others ({rule.unit})", xlim=(0, None))
    turned.set(
        xlabel="heading of the others, from one's own (degrees)",
        xticks=range(-180, 181, 90),
    )
    _mark_reaches(towards, rule, ("repulsion", "attraction"))
    _mark_reaches(along, rule, ("alignment",))


def _mark_reaches(ax: Axes, rule: Rule, components: tuple[str, ...]) -> None:
    """Up to which radius others count, where the rule has one."""
    most = ax.get_xlim()[1]
    for part in rule.parts:
        reach = part.zone.outer
        if part.component not in components or part.zone.nearest or not 0 < reach <= most:
            continue
        ax.axvline(reach, color=style.DIM, linewidth=0.9, linestyle="--")
        ax.annotate(
            f"{_WORDS.get(part.component, part.component)} up to {reach:.3g} {rule.unit}",
            (reach, 0.02),
            (3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=7,
            rotation=90,
            va="bottom",
            color=style.DIM,
        )


def turns_by_place(
    decisions: Decisions, arena: Arena | None, reach: float
) -> tuple[Floats, Floats, Ints]:
    """The mean turn of an individual by where another one is, seen from it.

    Returns
    -------
    edges
        (CELLS + 1,): of cells to the right and ahead, in the unit of the recording.
    turns
        (CELLS, CELLS): to the left in radians, by columns to the right and rows ahead; NaN where
        there are too few pairs.
    counts
        (CELLS, CELLS): pairs of individuals.

    """
    edges = np.linspace(-reach, reach, CELLS + 1)
    places, all_turns = [], []
    times = len(decisions.turns)
    every = max(1, times * decisions.individuals**2 // _MOST_PAIRS)
    for time in range(0, times, every):
        who = np.flatnonzero(np.isfinite(decisions.turns[time]))
        there = np.flatnonzero(np.isfinite(decisions.positions[time]).all(axis=1))
        apart = decisions.positions[time, there] - decisions.positions[time, who, None]
        if isinstance(arena, Periodic):
            sides = np.asarray(arena.sides)
            apart -= sides * np.round(apart / sides)
        seen = apart @ (1, 1j) * np.exp(-1j * decisions.headings[time, who])[:, None]
        pairs = who[:, None] != there
        all_turns.append(np.broadcast_to(decisions.turns[time, who, None], pairs.shape)[pairs])
        places.append(seen[pairs])
    where = np.concatenate([*places, np.zeros(0, np.complex128)])
    axes, bins = (-where.imag, where.real), [edges, edges]  # to the right, ahead
    counts = np.histogram2d(*axes, bins=bins)[0].astype(np.int64)
    total = np.histogram2d(*axes, bins=bins, weights=np.concatenate([*all_turns, np.zeros(0)]))[0]
    turns = np.where(counts >= LEAST_PAIRS, total / np.maximum(counts, 1), np.nan)
    return edges, turns.T, counts.T


def _draw_turn_map(ax: Axes, decisions: Decisions, arena: Arena | None, reach: float) -> None:
    edges, turns, _ = turns_by_place(decisions, arena, reach)
    far = float(np.nanquantile(np.abs(turns), 0.95)) if np.isfinite(turns).any() else 1.0
    image = ax.pcolormesh(edges, edges, turns, cmap=TURNING, vmin=-far, vmax=far, rasterized=True)
    ax.figure.colorbar(image, ax=ax, label="mean turn (rad), left is positive", extend="both")
    ax.plot(0, 0, marker="^", color=style.EXPERT, markersize=7)
    ax.set(
        aspect="equal",
        xlabel=f"another one to the right ({decisions.unit})",
        ylabel=f"ahead ({decisions.unit})",
    )


def reward_curves(analysis: Analysis) -> Figure:
    """The reward as curves with errors, beside that of individuals shifted in time."""
    panels, begin = [], 0
    found = fits.panels_of(analysis.result)
    sizes = [float((np.abs(panel.mean) + panel.spread).max()) for panel in found]
    for panel, size in zip(found, sizes, strict=True):
        here = slice(begin, begin + panel.mean.size)
        begin += panel.mean.size
        if size > _NOTHING * max(sizes):  # the turn before is not rewarded
            panels.append((panel, None if analysis.shifted is None else analysis.shifted[:, here]))
    if not panels or any(len(block) > 1 for block in analysis.result.blocks):
        return fits.plot_reward(analysis.result)
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    with style.family():
        figure, axes = style.subplots(
            rows, columns, figsize=(4.4 * columns, 2.9 * rows), squeeze=False, sharey=True
        )
        for number, (ax, (panel, shifted)) in enumerate(zip(axes.ravel(), panels, strict=False)):
            _draw_reward_curve(ax, panel, shifted)
            ax.set_ylabel("" if number % columns else "reward")
        label_ends(axes[0, columns - 1])
        for ax in axes.ravel()[len(panels) :]:
            ax.set_axis_off()
    return figure


def _draw_reward_curve(ax: Axes, panel: fits.Panel, shifted: Floats | None) -> None:
    """One component: the curve with its band, and dots that are dark where it is identified."""
    axis = panel.axes[0]
    places = axis.values.astype(np.float64)
    ax.axhline(0, color=style.EXPERT, linewidth=0.8)
    if shifted is not None:
        usual = shifted.mean(axis=0)
        spread = shifted.std(axis=0, ddof=1) if len(shifted) > 1 else np.zeros_like(usual)
        ax.fill_between(
            places, usual - spread, usual + spread, color=style.GREY, alpha=0.3, linewidth=0
        )
        ax.plot(places, usual, color=style.GREY, linestyle="--", label="shifted\nin time")
    ax.fill_between(
        places,
        panel.mean - panel.spread,
        panel.mean + panel.spread,
        color=style.BLUE,
        alpha=0.25,
        linewidth=0,
    )
    ax.plot(places, panel.mean, color=style.BLUE, label="learned")
    clear = np.ones(len(places), np.bool_) if panel.clear is None else panel.clear
    for which, face in ((clear, style.BLUE), (~clear, "white")):
        ax.plot(
            places[which],
            panel.mean[which],
            "o",
            color=style.BLUE,
            mfc=face,
            markersize=5,
            zorder=3,
        )
    name = axis.name.replace("_", " ")
    labels = COMPONENTS[axis.name].labels if axis.name in COMPONENTS else ()
    if labels:
        sides = {-1: " on the right", 0: "", 1: " on the left"}
        names = [f"{labels[abs(int(v))]}{sides[int(np.sign(v))]}" for v in axis.values]
        ax.set_xticks(places, [text.replace(" on", "\non") for text in names], fontsize=7)
        ax.set_xlabel(name)
        return
    ax.set_xlabel(name if axis.units == "1" else f"{name} ({axis.units})")


def calibration_figure(analysis: Analysis, simulated: Trajectory) -> Figure:
    """Arena and places, and speeds and turns of recorded and simulated individuals."""
    swarm, test = analysis.swarm, analysis.decisions.test
    with style.family():
        figure, (where, pace, turn) = style.subplots(1, 3, figsize=(9.6, 3.0))
        train = analysis.decisions.train
        places = train.positions[train.known]
        places = places[:: -(-len(places) // MOST_PLACES)]
        where.plot(*places.T, ".", markersize=1.5, color=style.BLUE, alpha=0.4, rasterized=True)
        if swarm.arena is not None:
            where.add_patch(_outline(swarm.arena))
            left, bottom, side = swarm.arena.window
            margin = 0.03 * side
            where.set(
                xlim=(left - margin, left + side + margin),
                ylim=(bottom - margin, bottom + side + margin),
            )
        where.set(xlabel=f"x ({swarm.unit})", ylabel=f"y ({swarm.unit})", aspect="equal")
        steps = simulated["position"][0]
        moved = np.diff(steps, axis=0)
        if isinstance(swarm.arena, Periodic):
            sides = np.asarray(swarm.arena.sides)
            moved -= sides * np.round(moved / sides)
        speeds = np.linalg.norm(moved, axis=-1).ravel() / swarm.dt
        turns = np.degrees(wrap_angles(np.diff(simulated["heading"][0], axis=0))).ravel()
        recorded = np.degrees(test.turns[np.isfinite(test.turns)])
        _draw_distributions(
            pace, test.speeds[test.known], speeds, f"speed ({swarm.unit}/s)", whole=False
        )
        _draw_distributions(turn, recorded, turns, "turn (degrees)", whole=True)
        for text, colour, height in (
            ("recorded", style.DIM, 0.95),
            ("simulated", style.letters(style.BLUE), 0.85),
        ):
            place = {"transform": pace.transAxes, "ha": "right", "va": "top"}
            pace.text(0.98, height, text, color=colour, **place)
    return figure


def _draw_distributions(
    ax: Any,
    recorded: Floats,
    simulated: Floats,
    label: str,
    whole: bool,
) -> None:
    """Two distributions: recorded as bars, simulated as a line."""
    ends = (0.5, 99.5) if whole else (0.0, 99.5)
    low, high = np.percentile(np.concatenate([recorded, simulated]), ends)
    edges = np.linspace(low, high if high > low else low + 1.0, 41)
    ax.hist(recorded, edges, density=True, color=style.GREY, alpha=0.6)
    ax.hist(simulated, edges, density=True, histtype="step", color=style.BLUE, lw=1.4)
    ax.set(xlabel=label, yticks=[])


def _outline(arena: Arena) -> Any:
    looks: dict[str, Any] = {"fill": False, "edgecolor": style.RED, "linewidth": 1.2}
    if isinstance(arena, Circle):
        return Round(arena.centre, arena.radius, **looks)
    if isinstance(arena, Periodic):
        low, sides = arena.walls
        corners = low + sides * np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
        return Corners(corners, linestyle="--", **looks)
    return Corners(arena.walls, **looks)


def interaction_figure(test: Interaction) -> Figure:
    """The gain of this recording, and those of recordings shifted in time."""
    with style.family():
        figure, ax = style.subplots(figsize=(7.2, 1.6))
        ax.axvspan(*test.interval, color=style.BLUE, alpha=0.18, linewidth=0)
        ax.axvline(test.gain, color=style.BLUE)
        heights = np.linspace(-0.6, 0.6, len(test.shifted))
        ax.plot(test.shifted, heights, "o", color=style.ORANGE, markersize=4)
        for text, place, height, colour in (
            ("this recording", test.gain, 1.0, style.BLUE),
            ("shifted in time", float(test.shifted.mean()), 0.02, style.ORANGE),
        ):
            ax.annotate(
                text,
                (place, height),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="bottom",
                color=style.letters(colour),
            )
        ax.set(xlabel="gain by knowing the others (nats a decision)", ylim=(-1, 1), yticks=[])
        ax.spines["left"].set_visible(False)
    return figure
