"""The page of an analysis: the verdict on held-out time, the rule, and how one knows."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from swarmdp._version import __version__
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.analysis_steps import REGRESSION, UNDECIDED, ZONE_MODEL
from swarmdp.recordings.arena import arena_in_words
from swarmdp.report import anticipation_figure as anticipation_figures
from swarmdp.report.analysis_figures import (
    calibration_figure,
    interaction_figure,
    reward_curves,
    rule_figure,
)
from swarmdp.report.page import Finding, Page, PageTable, save_figures, write_page
from swarmdp.report.player import SPEEDS, Player
from swarmdp.report.scenes import Scene
from swarmdp.report.tracks_page import group_figure, paths_figure
from swarmdp.simulation.rollout import rollout
from swarmdp.support import files, folders
from swarmdp.support.rounding import rounded, with_error

_MOST_STEPS = 400  # of the swarms in the player
_SECONDS = 20  # that the player takes, about
ALARMING = 0.05  # p up to which a statistic is shown whatever it is
_MOST_AGENTS_STEPS = 2_000_000  # of the player: 5 bytes each, in two swarms
PAGE, NUMBERS = "report.html", "summary.json"

TITLES_AND_CAPTIONS = {
    "anticipation": (anticipation_figures.TITLE, anticipation_figures.CAPTION),
    "rule": (
        "The rule of turns",
        "Top left: the mean turn of an individual (at the origin, heading up) by where another one "
        "is, all others at that place together. Top right: by how much individuals turn towards "
        "others (positive) or away from them (negative) that are all at a right angle, against "
        "their distance. Bottom left: by how much they turn to the heading of others at this "
        "distance. Bottom right: the mean turn against the angle to the mean heading of the "
        "neighbours. In these three, what the wall and the turn before explain is taken away; bars "
        "are standard errors over blocks of time.",
    ),
    "reward": (
        "The reward",
        "What individuals seem to seek, one panel for each component. Only differences within a "
        "panel mean something. Blue: the learned reward; its band is the standard deviation of "
        "other rewards that explain the turns equally well, and dots are filled where all of these "
        "agree on whether it is above or below the average. Grey: rewards learned with every "
        "individual shifted in time, so that none can react to another. A curve that looks like "
        "the grey one says nothing about an interaction.",
    ),
    "interaction": (
        "Is there an interaction?",
        "How much better turns are predicted by knowing the others. The line is this recording "
        "with its 95 % interval; dots are the same recording with every individual shifted in "
        "time, where none can react to another.",
    ),
    "group": (
        "The group over time",
        "Polarisation (1: all go the same way) and milling (1: all circle around the centre of "
        "the group) of the recording. Parts of it were held out.",
    ),
    "calibration": (
        "Recorded and simulated individuals",
        "Left: places in the training part, and the walls of the arena if it has any. Middle and "
        "right: speeds and turns of the held-out time (grey bars) and of the simulated group (blue "
        "line).",
    ),
    "paths": (
        "The recording",
        "Where individuals went after cleaning (left, one colour each), and how often all of them "
        "were at a place (right; the stronger the colour, the more often).",
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
    drawn, rule = {}, analysis.rule
    if rule is not None and len(rule.curves["distance"]):
        drawn["rule"] = rule_figure(rule, analysis.decisions.train, analysis.swarm.arena)
    ahead = None if analysis.reactions is None else analysis.reactions.anticipation
    if ahead is not None and (ahead.energy > 0).any():
        drawn["anticipation"] = anticipation_figures.anticipation_figure(ahead)
    drawn |= {
        "reward": reward_curves(analysis),
        "interaction": interaction_figure(analysis.interaction),
        "calibration": calibration_figure(analysis, simulated),
        "group": group_figure(analysis.summary),
        "paths": paths_figure(analysis.summary),
    }
    said = {"rule": _rule_words(analysis), "reward": (*analysis.reward_in_words, _CAVEAT)}
    figures, written = save_figures(
        folder, {key: (*TITLES_AND_CAPTIONS[key], figure) for key, figure in drawn.items()}, said
    )
    answers = [figure for figure in figures if figure.name in said]
    saved = analysis.save(folder)
    page = Page(
        title=f"The rule behind {name}",
        findings=_findings(analysis),
        players=[_player(analysis, recorded, simulated)],
        answer="The rule and the reward",
        answers=answers,
        comparison="Compared with the held-out time",
        comparisons=_comparisons(analysis),
        figures=[figure for figure in figures if figure.name not in said],
        tables=[_controller_table(analysis), _preference_table(analysis)],
        numbers=_numbers(analysis),
        settings=dict(analysis.result.settings) | {"seed": analysis.seed},
    )
    write_page(folder / PAGE, page)
    plain = {"command": "fit --tracks", "version": __version__, "file": name}
    plain |= analysis.to_plain() | {folders.DIGESTS: folders.digests(folder)}
    text = json.dumps(plain, indent=2) + "\n"
    files.write_text(folder / NUMBERS, text)
    return [*written, saved, folder / PAGE, folder / NUMBERS]


_CAVEAT = (
    "A reward describes what individuals seem to want, in this model of them. It does not say "
    "what they perceive, and another reward may explain the same turns."
)
_ANSWERS = {
    "interaction found": "Individuals react to each other.",
    "interaction not found": "No interaction was found, and one that matters would have been seen.",
    "too little data": "Too little data to tell whether individuals react to each other.",
}  # of the interaction test


def _findings(analysis: Analysis) -> list[Finding]:
    """The verdict first, then whether there is an interaction at all."""
    findings = []
    verdict, held_out = analysis.verdict, analysis.decisions.held_out
    details = [analysis.distances_in_words] if analysis.distances else []
    how = [f"The controller: {analysis.found.words(analysis.swarm.unit)}."]
    if verdict is None:
        words = "Simulated individuals were not compared with the held-out time."
        findings.append(Finding(words, "open", tuple(details), tuple(how)))
    else:
        if verdict.size and not verdict.alarm:
            details.append(f"{verdict.size[0].upper()}{verdict.size[1:]}.")
        details += [f"What to do next: {advice}." for advice in verdict.advice]
        how += [
            f"Held out, and not used for anything else: {held_out}.",
            f"{len(verdict.lines)} statistics were compared: {verdict.chance} "
            f"(p = {verdict.p:.2g}).",
            *(f"{note[0].upper()}{note[1:]}." for note in verdict.notes),
        ]
        tone: Literal["good", "bad", "open"] = "bad" if verdict.alarm else "good"
        if verdict.words.startswith(UNDECIDED):
            tone = "open"
        words = f"The simulated group, compared with the held-out time: {verdict.words}."
        findings.append(Finding(words, tone, tuple(details), tuple(how)))
    test = analysis.interaction
    found: Literal["good", "open"] = "good" if test.answer == "interaction found" else "open"
    findings.append(Finding(_ANSWERS[test.answer], found, how=(analysis.interaction_in_words,)))
    return findings


def _rule_words(analysis: Analysis) -> tuple[str, ...]:
    """The rule in sentences, and the radii of a zone model beside it."""
    said, unit = [*analysis.rule_in_words, *analysis.reactions_in_words], analysis.swarm.unit
    said += () if analysis.kinds is None else analysis.kinds.sentences
    if not said:
        said.append("No rule was found. See above whether individuals react to each other at all.")
    if ZONE_MODEL in analysis.distances:
        zones = analysis.swarm.models["couzin"]().zones
        said.append(
            "For comparison, Couzin's zone model fitted to the group: others are avoided up to "
            f"{zones.repulsion:.3g}, followed up to {zones.orientation:.3g} and approached up to "
            f"{zones.attraction:.3g} {unit} (energy distance "
            f"{analysis.distances[ZONE_MODEL]:.2f})."
        )
    return tuple(said)


def _player(analysis: Analysis, recorded: Trajectory, simulated: Trajectory) -> Player:
    """Recorded and simulated groups side by side; in open space the view goes with them."""
    swarm = analysis.swarm
    scene = Scene(
        swarm, {"recorded": recorded, "simulated": simulated}, follows=swarm.arena is None
    )
    view = ""
    if scene.follows:
        view = f" The view goes with the centre of each group, and is {scene.window[1]:.3g} "
        view += f"{swarm.unit} wide."
    pace = min(SPEEDS, key=lambda speed: abs(recorded.steps / speed - _SECONDS))
    return Player(
        "swarm",
        "Recorded and simulated",
        f"Left: the held-out time of the recording, one step every {swarm.dt:.3g} s; individuals "
        "that were not seen for a while are interpolated. Right: agents with the learned "
        "controller, from the same places and headings. Compare what the groups do: single paths "
        f"soon differ by chance.{view}",
        scene,
        pace,
    )


def _roll_out(analysis: Analysis, recorded: Trajectory) -> Trajectory:
    """The learned swarm from where the recorded one began, for as long."""
    return rollout(
        analysis.controlled_swarm,
        analysis.controlled_swarm.expert,
        steps=recorded.steps,
        seed=derived_seed(analysis.seed, Part.PAGE_SIMULATION),
        initial={name: recorded[name][:, 0] for name in analysis.swarm.state_names},
        threads=1,
    )


def _numbers(analysis: Analysis) -> Mapping[str, Any]:
    swarm, decisions, test = analysis.swarm, analysis.decisions, analysis.interaction
    unit, pace = swarm.unit, np.quantile(swarm.speeds.table, (0.05, 0.5, 0.95))
    where = arena_in_words(swarm.arena, unit)
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


def _verdict_words(analysis: Analysis) -> Mapping[str, Any]:
    verdict = analysis.verdict
    assert verdict is not None
    return {
        "in words": verdict.words,
        "by chance": f"{verdict.chance} (p = {verdict.p:.2g})",
        **{f"note {k + 1}": note for k, note in enumerate(verdict.notes)},
        **{f"what to do {k + 1}": advice for k, advice in enumerate(verdict.advice)},
    }


def _preference_table(analysis: Analysis) -> PageTable:
    return PageTable(
        "reward",
        "What the reward prefers",
        "The two classes of each component whose rewards differ most, with the standard error of "
        "the difference. Identified: all rewards that do as well agree on its sign; nothing else "
        "is put into words. Since they were chosen among all pairs, p is of all pairs together. "
        "Shifted in time: the same difference in rewards learned from the same tracks where nobody "
        "can react to anybody, with its spread.",
        (
            *("component", "highest reward", "lowest reward", "difference"),
            *("identified", "p", "shifted in time"),
        ),
        tuple(
            (
                preference.component.replace("_", " "),
                preference.best,
                preference.worst,
                f"{preference.difference:.2g}"
                + ("" if preference.error is None else f" ± {preference.error:.2g}"),
                "yes" if preference.identified else "no",
                "not known" if preference.p is None else f"{preference.p:.2g}",
                "not known"
                if preference.shifted is None
                else f"{preference.shifted:.2g} ± {preference.shifted_spread:.2g}",
            )
            for preference in analysis.preferences
        ),
    )


def _comparisons(analysis: Analysis) -> list[PageTable]:
    """How near simulated groups are to the held-out time, and in which statistics they differ."""
    verdict = analysis.verdict
    if verdict is None:
        return []
    measures = {measure.title for measure in analysis.swarm.measures.values()}
    lines = [
        line
        for line in verdict.lines
        if (line.title in measures and line.main) or line.adjusted_p <= ALARMING
    ]
    units = {m.title: m.units for m in analysis.swarm.measures.values() if m.units != "1"}
    known = {name for line in lines for name in line.baselines}
    others = {title: name for title, name in _BESIDE.items() if name in known}
    held_out = PageTable(
        "held-out",
        "Held-out statistics",
        "The held-out time, the controller's group (± from run to run), and the others from the "
        "table above. p: the probability of a difference this large by chance, corrected for the "
        f"number of statistics. Of {len(verdict.lines)} statistics these are the group's measures "
        f"and those with p up to {ALARMING:g}; {NUMBERS} has all.",
        ("statistic", "recorded", "controller", *others, "p"),
        tuple(
            (
                f"{line.title}, {line.when}" + _in(units.get(line.title)),
                rounded(line.demo, line.learned_spread),
                with_error(line.learned, line.learned_spread),
                *(_number(line.baselines.get(name, math.nan)) for name in others.values()),
                f"{line.adjusted_p:.2g}",
            )
            for line in lines
        ),
    )
    return [_distance_table(analysis), held_out]


_EXPLAINED = {
    "controller": "learned: zones, gains and noise with which the group behaves as recorded",
    "zone model": "Couzin's model of three radii, fitted to the group of the training part",
    "regression": "the rule of turns with the numbers of the regression, without a search",
    "clone": "turns drawn as recorded individuals turned in the same situation",
    "recording itself": "parts of the training time, as long as the held-out time: how much the "
    "same animals differ from one time to another",
}  # what a swarm is compared with


def _distance_table(analysis: Analysis) -> PageTable:
    most = max(analysis.distances.values(), default=0.0) or 1.0
    return PageTable(
        "distances",
        "How close the groups are",
        "Energy distance between the simulated group and the held-out one, averaged over the "
        "group's measures, each in units of its standard deviation. 0 means the same "
        "distribution. All start where the held-out time begins.",
        ("swarm", "energy distance", "what it is"),
        tuple(
            (name, f"{distance:.2f}", _EXPLAINED[name])
            for name, distance in analysis.distances.items()
        ),
        tuple(round(100 * distance / most, 1) for distance in analysis.distances.values()),
    )


def _controller_table(analysis: Analysis) -> PageTable:
    return PageTable(
        "controllers",
        "Which controllers were tried",
        "Families of controllers by the number of their free parameters, each fitted to every "
        "second block of the training part. The energy distance is to the blocks in between. A "
        f"larger family is chosen only if it is better by a tenth. Chosen: "
        f"{analysis.found.family}.",
        ("family", "free parameters", "energy distance"),
        tuple(
            (tried.family, str(tried.numbers), f"{tried.distance:.2f}")
            for tried in analysis.found.tried
        ),
    )


_BESIDE = {"zone model": "couzin", "regression": REGRESSION, "clone": "clone"}  # swarms by title


def _in(unit: str | None) -> str:
    return "" if unit is None else f" ({unit})"


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else ""
