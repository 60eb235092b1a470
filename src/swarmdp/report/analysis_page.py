"""The page of an analysis: the verdict on held-out time, the rule, and how one knows."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle as Round
from matplotlib.patches import Polygon as Corners

from swarmdp._version import __version__
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.arena import Arena, Circle, Periodic
from swarmdp.recordings.decisions import wrap_angles
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.swarm import STATE
from swarmdp.report import anticipation_figure as anticipation_figures
from swarmdp.report import fits, style
from swarmdp.report.page import Finding, Page, PageTable, save_figures, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.report.tracks_page import group_figure, paths_figure
from swarmdp.simulation.rollout import rollout
from swarmdp.support import files, folders
from swarmdp.support.arrays import Floats

_MOST_STEPS = 400  # of the swarms in the player
ALARMING = 0.05  # p up to which a statistic is shown whatever it is
MOST_PLACES = 4000  # that are drawn in the arena
_MOST_AGENTS_STEPS = 2_000_000  # of the player: 5 bytes each, in two swarms
PAGE, NUMBERS = "report.html", "summary.json"

TITLES_AND_CAPTIONS = {
    "anticipation": (anticipation_figures.TITLE, anticipation_figures.CAPTION),
    "paths": (
        "The recording",
        "Where individuals went after cleaning (left, one colour each), and how often all of them "
        "were at a place (right, darker is more often).",
    ),
    "group": (
        "The group over time",
        "Polarisation (1: all go the same way) and rotation (1: all circle around the centre of "
        "the group) over time. About a third was held out.",
    ),
    "calibration": (
        "The calibrated swarm",
        "What the simulated swarm was given, and how it compares. Left: places in the training "
        "part and the arena. Middle and right: speeds and turns of the held-out time (bars) and "
        "of the simulated swarm (line).",
    ),
    "interaction": (
        "Is there an interaction?",
        "How much better turns are predicted by knowing the others. The line is this recording "
        "with its 95 % interval; dots are the same recording with every individual shifted in "
        "time, where nobody can react to anybody.",
    ),
    "rule": (
        "The rule of turns",
        "Left: by how much individuals turn towards others (positive) or away from them (negative) "
        "that are all at a right angle, against the distance of these others. Middle: by how much "
        "they turn to the heading of others at this distance. Right: the mean turn against the "
        "angle to the mean heading of the neighbours. What the wall and the turn before explain is "
        "taken away; bars are standard errors over blocks of time.",
    ),
    "reward": (
        "The reward",
        "The learned reward, one picture for each component. Only differences within a picture "
        "mean something. The error bars are the spread of fits to blocks of time drawn again. "
        "Diamonds are rewards learned where every individual is shifted in time, so that nobody "
        "can react to anybody, with their spread: a bar that is like its diamond tells nothing of "
        "an interaction. A wall of 0 is not near, of 1 beside and of 2 ahead; the sign tells the "
        "side.",
    ),
}


def write_analysis(folder: Path, analysis: Analysis, name: str) -> list[Path]:
    """Write figures, the fit, the page and the summary of an analysis; return their paths.

    The page and the summary come last: where they are, everything else is.
    """
    recorded = analysis.swarm.demo(analysis.decisions.test)
    most = min(recorded.steps, _MOST_STEPS, _MOST_AGENTS_STEPS // analysis.swarm.n_agents)
    recorded = recorded.until(max(1, most))
    simulated = _roll_out(analysis, recorded)
    drawn = {}
    if analysis.rule is not None and len(analysis.rule.curves["distance"]):
        drawn["rule"] = rule_figure(analysis.rule)
    if analysis.reactions is not None and (analysis.reactions.anticipation.energy > 0).any():
        drawn["anticipation"] = anticipation_figures.anticipation_figure(
            analysis.reactions.anticipation
        )
    drawn |= {
        "reward": analysis_reward_figure(analysis),
        "interaction": interaction_figure(analysis),
        "group": group_figure(analysis.summary),
        "calibration": calibration_figure(analysis, simulated),
        "paths": paths_figure(analysis.summary),
    }
    figures, written = save_figures(
        folder, {key: (*TITLES_AND_CAPTIONS[key], figure) for key, figure in drawn.items()}
    )
    scene = Scene(analysis.swarm, {"recorded": recorded, "simulated": simulated})
    player = Player(
        "swarm",
        "Recorded and simulated",
        "Left: the held-out time of the recording, every decision a step; individuals that were "
        "not seen for a while are interpolated. Right: agents with the learned controller, from "
        "the same places and headings. Compare what the groups do: single paths soon differ "
        "by chance.",
        scene,
    )
    saved = analysis.save(folder)
    page = Page(
        title=f"The rule behind {name}",
        findings=_findings(analysis),
        introduction=[
            *analysis.rule_in_words,
            *analysis.reactions_in_words,
            *analysis.reward_in_words,
            "A reward tells what individuals act as if they wanted, in this model of them. It does "
            "not tell what they perceive, and another reward may explain the same turns.",
        ],
        players=[player],
        figures=figures,
        tables=_tables(analysis),
        numbers=_numbers(analysis),
        settings=dict(analysis.result.settings) | {"seed": analysis.seed},
    )
    write_page(folder / PAGE, page)
    plain = {"command": "fit --tracks", "version": __version__, "file": name}
    plain |= analysis.to_plain() | {folders.DIGESTS: folders.digests(folder)}
    text = json.dumps(plain, indent=2) + "\n"
    files.write_text(folder / NUMBERS, text)
    return [*written, saved, folder / PAGE, folder / NUMBERS]


def _findings(analysis: Analysis) -> list[Finding]:
    """The verdict first, then whether there is an interaction at all."""
    findings = []
    verdict, held_out = analysis.verdict, analysis.decisions.held_out
    details = [
        f"The controller: {analysis.found.words(analysis.swarm.unit)}.",
        *([analysis.distances_in_words] if analysis.distances else []),
    ]
    if verdict is None:
        words = "Simulated individuals were not compared with the held-out time."
        findings.append(Finding(words, "open", tuple(details)))
    else:
        if verdict.size and not verdict.alarm:
            details.append(f"{verdict.evidence[0].upper()}{verdict.evidence[1:]}.")
        details += [f"What to do: {advice}." for advice in verdict.advice]
        words = f"The simulated group, on {held_out}: {verdict.words}."
        findings.append(Finding(words, "bad" if verdict.alarm else "good", tuple(details)))
    test = analysis.interaction
    tone: Literal["good", "open"] = "good" if test.answer == "interaction found" else "open"
    findings.append(Finding(analysis.interaction_in_words, tone))
    return findings


def _roll_out(analysis: Analysis, recorded: Trajectory) -> Trajectory:
    """The learned swarm from where the recorded one began, for as long."""
    return rollout(
        analysis.controlled_swarm,
        analysis.controlled_swarm.expert,
        steps=recorded.steps,
        seed=derived_seed(analysis.seed, Part.PAGE_SIMULATION),
        initial={name: recorded[name][:, 0] for name in STATE},
        threads=1,
    )


def _numbers(analysis: Analysis) -> Mapping[str, Any]:
    swarm, decisions, test = analysis.swarm, analysis.decisions, analysis.interaction
    unit, pace = swarm.unit, np.quantile(swarm.speeds.table, (0.05, 0.5, 0.95))
    where = "open space" if swarm.arena is None else _arena_words(swarm.arena, unit)
    rim = "given" if swarm.touched is None else f"{swarm.touched:.0%} of its rim was touched"
    near = (
        f"{swarm.view.nearest} nearest"
        if swarm.view.nearest
        else f"all within {swarm.view.radius:.3g} {unit}"
    )
    return {
        "recording": {
            **analysis.summary.facts,
            **{f"cleaning: {words}": count for words, count in analysis.summary.dropped.items()},
            **{f"note {k + 1}": note for k, note in enumerate(analysis.recording.notes)},
            **{f"remark {k + 1}": note for k, note in enumerate(analysis.summary.remarks)},
        },
        "decisions": {
            "every": f"{decisions.dt:.3g} s",
            "to learn from": decisions.train.count,
            "to judge by": decisions.test.count,
            "error of a coordinate": f"{decisions.error:.2g} {unit}",
        },
        "calibration": {
            "agents": swarm.n_agents,
            "speed": f"median {pace[1]:.3g} {unit}/s, 5–95 %: {pace[0]:.3g} to {pace[2]:.3g}; "
            f"memory {swarm.speeds.memory:.2f}",
            "noise of turns": f"{math.degrees(swarm.wobble.spread):.3g}°, memory "
            f"{swarm.wobble.memory:.2f}",
            "arena": f"{where} ({rim})" if swarm.arena is not None else where,
            "neighbours": near,
            **{f"tried: {words}": f"{score:.4f} nats" for words, score in swarm.tried.items()},
        },
        "interaction test": {
            "answer": test.answer,
            "gain": f"{test.gain:+.4f} nats a decision, 95 % interval {test.interval[0]:+.4f} to "
            f"{test.interval[1]:+.4f}",
            "shifted in time": f"{test.shifted.mean():+.4f} on average, {test.shifted.max():+.4f} "
            f"at most ({len(test.shifted)} times)",
            "p": f"{test.p:.3g}",
        },
        "controller": {
            "in words": analysis.controller.words(unit),
            "noise of turns": f"{analysis.controller.noise:.2f} times the recorded one",
            "wall": "none"
            if not analysis.controller.wall_reach
            else f"turn of {analysis.controller.wall:.2f} rad at the wall, avoided from "
            f"{analysis.controller.wall_reach:.3g} {unit}",
            "a wall reflects": f"{analysis.found.reflected:.2%} of the steps",
            "speeds of individuals": f"correlated by {analysis.controller.together:.2f}",
        },
        "single turns on held-out time": {
            name: f"{gain:+.4f} nats a decision" for name, gain in analysis.turn_gains.items()
        },
        **({} if analysis.verdict is None else {"verdict": _verdict_words(analysis)}),
    }


def _arena_words(arena: Arena, unit: str) -> str:
    if isinstance(arena, Circle):
        return f"circle of radius {arena.radius:.4g} {unit}"
    return f"{type(arena).__name__.lower()}, {arena.window[2]:.4g} {unit} wide"


def _verdict_words(analysis: Analysis) -> Mapping[str, Any]:
    verdict = analysis.verdict
    assert verdict is not None
    return {
        "in words": verdict.words,
        "by chance": f"{verdict.chance} (p = {verdict.p:.2g})",
        **{f"note {k + 1}": note for k, note in enumerate(verdict.notes)},
        **{f"what to do {k + 1}": advice for k, advice in enumerate(verdict.advice)},
    }


def _tables(analysis: Analysis) -> list[PageTable]:
    preferences = PageTable(
        "reward",
        "What the reward prefers",
        "The two classes of each component whose rewards differ most, with the standard error of "
        "the difference. Since they were chosen among all pairs, p is of all pairs together. "
        "Shifted in time: the same difference in rewards learned from the same tracks where nobody "
        "can react to anybody, with its spread.",
        ("component", "highest reward", "lowest reward", "difference", "p", "shifted in time"),
        tuple(
            (
                preference.component.replace("_", " "),
                preference.best,
                preference.worst,
                f"{preference.difference:.2g}"
                + ("" if preference.error is None else f" ± {preference.error:.2g}"),
                "not known" if preference.p is None else f"{preference.p:.2g}",
                "not known"
                if preference.shifted is None
                else f"{preference.shifted:.2g} ± {preference.shifted_spread:.2g}",
            )
            for preference in analysis.preferences
        ),
    )
    controllers = _controller_table(analysis)
    verdict = analysis.verdict
    if verdict is None:
        return [controllers, preferences]
    measures = {measure.title for measure in analysis.swarm.measures.values()}
    lines = [
        line
        for line in verdict.lines
        if (line.title in measures and line.main) or line.adjusted_p <= ALARMING
    ]
    others = list(dict.fromkeys(name for line in lines for name in line.baselines))
    held_out = PageTable(
        "held-out",
        "Held-out statistics",
        "The held-out time, the swarm of the controller (± from run to run), and swarms that "
        "show what a difference means. p: how often a difference as large comes about by chance, "
        f"given that all statistics are looked at. Of {len(verdict.lines)} statistics these are "
        f"the swarm's measures and those with p up to {ALARMING:g}; {NUMBERS} has all.",
        ("statistic", "recorded", "controller", *others, "p"),
        tuple(
            (
                f"{line.title}, {line.when}",
                _number(line.demo),
                f"{_number(line.learned)} ± {line.learned_spread:.2g}",
                *(_number(line.baselines.get(name, math.nan)) for name in others),
                f"{line.adjusted_p:.2g}",
            )
            for line in lines
        ),
    )
    return [_distance_table(analysis), held_out, controllers, preferences]


_EXPLAINED = {
    "controller": "what was found: zones, gains and noise such that the group does as recorded",
    "zone model": "Couzin's zone model, fitted to what the group did in the training part",
    "regression": "the rule of turns as regression gives it, without any search",
    "clone": "the mean recorded turn in each class of observations",
    "recording itself": "parts of the training time, as long as the held-out time, against it",
}  # what a swarm is compared with


def _distance_table(analysis: Analysis) -> PageTable:
    return PageTable(
        "distances",
        "How near the groups are",
        "Energy distance to the held-out time, mean over the measures of the group, each in its "
        "standard deviations: 0 is the same distribution. All start where the held-out time "
        "begins.",
        ("swarm", "energy distance", "what it is"),
        tuple(
            (name, f"{distance:.2f}", _EXPLAINED[name])
            for name, distance in analysis.distances.items()
        ),
    )


def _controller_table(analysis: Analysis) -> PageTable:
    return PageTable(
        "controllers",
        "Which controllers were tried",
        "Families of controllers in the order of their free numbers, each searched on every "
        "second block of the training part; the energy distance is to the blocks between. A larger "
        f"family is taken only if it is better by a tenth. Taken: {analysis.found.family}.",
        ("family", "free numbers", "energy distance"),
        tuple(
            (tried.family, str(tried.numbers), f"{tried.distance:.2f}")
            for tried in analysis.found.tried
        ),
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else ""


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
        pace.legend(loc="upper right")
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
    ax.hist(recorded, edges, density=True, color=style.GREY, alpha=0.6, label="recorded")
    ax.hist(
        simulated, edges, density=True, histtype="step", color=style.BLUE, lw=1.4, label="simulated"
    )
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


def analysis_reward_figure(analysis: Analysis) -> Figure:
    """The reward with its errors, and beside it that of individuals shifted in time."""
    figure = fits.plot_reward(analysis.result)
    panels = fits.panels_of(analysis.result)
    if analysis.shifted is None or any(len(block) > 1 for block in analysis.result.blocks):
        return figure
    begin = 0
    for ax, panel in zip(figure.axes, panels, strict=False):
        shifted = analysis.shifted[:, begin : begin + panel.mean.size]
        begin += panel.mean.size
        places = panel.axes[0].values
        x = np.radians(places) if ax.name == "polar" else places
        ax.errorbar(
            x,
            shifted.mean(axis=0),
            shifted.std(axis=0, ddof=1),
            fmt="D",
            markersize=4,
            color=style.BLUE,
            markerfacecolor="white",
            elinewidth=1,
            zorder=5,
        )
    return figure


def rule_figure(rule: Rule) -> Figure:
    """The reaction to others against their distance, and against misalignment."""
    curves = rule.curves
    with style.family():
        figure, axes = style.subplots(1, 3, figsize=(9.6, 2.8))
        panels = (
            ("distance", "towards", f"distance ({rule.unit})", "turn towards others (rad)"),
            ("distance", "along", f"distance ({rule.unit})", "turn to their heading (rad)"),
            ("misalignment", "turn", "their heading, from mine (degrees)", "mean turn (rad)"),
        )
        for ax, (places, values, label, name) in zip(axes, panels, strict=True):
            ax.axhline(0, color=style.GREY, linewidth=0.8)
            ax.errorbar(
                curves[places], curves[values], curves[f"{values}_error"], fmt="o-", markersize=3
            )
            ax.set(xlabel=label, ylabel=name)
    return figure


def interaction_figure(analysis: Analysis) -> Figure:
    """The gain of this recording, and those of recordings shifted in time."""
    test = analysis.interaction
    with style.family():
        figure, ax = style.subplots(figsize=(7.2, 1.5))
        ax.axvspan(*test.interval, color=style.BLUE, alpha=0.18, linewidth=0)
        ax.axvline(test.gain, color=style.BLUE, label="this recording")
        heights = np.linspace(-0.6, 0.6, len(test.shifted))
        ax.plot(test.shifted, heights, "o", color=style.ORANGE, markersize=4, label="shifted")
        ax.set(xlabel="gain by knowing the others (nats a decision)", ylim=(-1, 1), yticks=[])
        ax.spines["left"].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure
