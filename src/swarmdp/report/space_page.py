"""The page of an analysis in three dimensions: verdict, moving groups, rule, pictures."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import Measure, System
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.space.analysis import SpaceAnalysis
from swarmdp.recordings.space.groups import Stretches, measure_groups, stretches_of
from swarmdp.report import style
from swarmdp.report.analysis_figures import draw_curves, interaction_figure
from swarmdp.report.analysis_page import NUMBERS, PAGE, TITLES_AND_CAPTIONS
from swarmdp.report.page import Finding, Page, PageTable, save_figures, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.report.tracks_page import VIEWS, group_figure, views_figure
from swarmdp.support import files, folders
from swarmdp.support.arrays import Floats

_CAPTIONS = {
    "rule": (
        "The rule of turns",
        "Left: by how much individuals turn towards others (positive) or away from them (negative) "
        "that are all at a right angle, against their distance. Middle: by how much they turn to "
        "the heading of others at this distance. Right: the mean turn against the angle to the "
        "mean heading of the neighbours, to the left and upwards together. What the wall, the "
        "climb, a common direction and the turn before explain is taken away; bars are standard "
        "errors over blocks of time.",
    ),
    "views": VIEWS,
    "turns": (
        "Turns to the left and upwards",
        "The turns of all decisions, in degrees, and how steeply individuals climb (positive) or "
        "dive (negative).",
    ),
    "measures": (
        "Recorded and simulated groups",
        "The measures of the held-out time: recorded groups (bars) and groups of the controller "
        "that began as these did (line).",
    ),
}


@dataclass(frozen=True)
class _ShownGroup:
    """What a scene asks of a system, for recorded stretches of time in space."""

    n_agents: int

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The polarisation, which is recorded with the stretch."""
        return {
            "polarisation": Measure(
                lambda state: np.linalg.norm(state["heading"].mean(axis=1), axis=1),
                "polarisation",
                limits=(0.0, 1.0),
            )
        }

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """One stretch as arrows."""
        place, heading = swarm["position"][run], swarm["heading"][run]
        return Arrows(
            place[..., :2],
            np.arctan2(heading[..., 1], heading[..., 0]),
            heights=place[..., 2],
            climbs=np.arcsin(np.clip(heading[..., 2], -1.0, 1.0)),
            present=swarm["present"][run],
        )


def write_space_analysis(folder: Path, analysis: SpaceAnalysis, name: str) -> list[Path]:
    """Write figures, the analysis, the page and the summary; return their paths.

    The page and the summary come last: where they are, everything else is.
    """
    held_out = stretches_of(analysis.decisions.test)
    drawn: dict[str, Figure] = {}
    if analysis.rule is not None and len(analysis.rule.curves["distance"]):
        drawn["rule"] = curves_figure(analysis.rule)
    drawn["interaction"] = interaction_figure(analysis.interaction)
    players = []
    if held_out.count:
        seed = derived_seed(analysis.seed, Part.PAGE_SIMULATION)
        simulated = analysis.simulate(held_out, seed=seed)
        drawn["measures"] = measures_figure(analysis, held_out, simulated)
        watched = stretches_of(analysis.decisions.test, few=True)
        if watched.count:
            players.append(_player(watched, analysis.simulate(watched, seed=seed)))
    drawn["group"] = group_figure(analysis.summary)
    drawn["turns"] = turns_figure(analysis)
    drawn["views"] = views_figure(analysis.summary)
    captions = TITLES_AND_CAPTIONS | _CAPTIONS
    figures, written = save_figures(
        folder,
        {key: (*captions[key], figure) for key, figure in drawn.items()},
        {"rule": analysis.rule_in_words},
    )
    saved = analysis.save(folder)
    page = Page(
        title=f"The rule behind {name}",
        findings=_findings(analysis),
        introduction=[
            "Analysed in three dimensions: turns have a part to the left and a part upwards, and "
            "both follow the same rule. No reward is learned in three dimensions.",
        ],
        players=players,
        answer="The rule",
        answers=[figure for figure in figures if figure.name == "rule"],
        comparison="Compared with the held-out time",
        comparisons=_tables(analysis),
        figures=[figure for figure in figures if figure.name != "rule"],
        numbers=_numbers(analysis),
        settings={"seed": analysis.seed},
    )
    write_page(folder / PAGE, page)
    plain = {"command": "fit --tracks", "version": __version__, "file": name}
    plain |= analysis.to_plain() | {folders.DIGESTS: folders.digests(folder)}
    files.write_text(folder / NUMBERS, json.dumps(plain, indent=2) + "\n")
    return [*written, saved, folder / PAGE, folder / NUMBERS]


def _findings(analysis: SpaceAnalysis) -> list[Finding]:
    """The verdict first, then whether there is an interaction at all."""
    verdict, held_out = analysis.verdict, analysis.decisions.held_out
    details = [f"The controller: {analysis.found.words(analysis.swarm.unit)}."]
    if analysis.distances:
        details.append(analysis.distances_in_words)
    findings = []
    if verdict is None:
        words = "Simulated individuals were not compared with the held-out time."
        findings.append(Finding(words, "open", tuple(details)))
    else:
        words = f"The simulated group, on {held_out}: {verdict.words}."
        tone: Literal["good", "bad", "open"] = "good" if verdict.reproduces else "bad"
        if not verdict.is_telling:
            tone = "open"
        findings.append(Finding(words, tone, tuple(details)))
    found = analysis.interaction.answer == "interaction found"
    findings.append(Finding(analysis.interaction_in_words, "good" if found else "open"))
    return findings


def _player(held_out: Stretches, simulated: Stretches) -> Player:
    """The stretch with most individuals, recorded and simulated."""
    chosen = int(held_out.present.sum(axis=(1, 2)).argmax())
    shown = {
        "recorded": _trajectory(held_out.some([chosen])),
        "simulated": _trajectory(simulated.some([chosen])),
    }
    system = cast(System, _ShownGroup(held_out.present.shape[2]))
    return Player(
        "swarm",
        "Recorded and simulated",
        "Left: a stretch of the held-out time, every decision a step. Right: agents with the "
        "controller, from the same places and headings; who comes later enters as recorded. Drag a "
        "picture to turn both. Compare what the groups do: single paths soon differ by chance.",
        Scene(system, shown),
    )


def _trajectory(stretch: Stretches) -> Trajectory:
    """One stretch as a trajectory; absent individuals are put in the middle and not drawn."""
    present = stretch.present
    count = np.maximum(present.sum(axis=(1, 2)), 1)[:, None]
    middle = (stretch.position * present[..., None]).sum(axis=(1, 2)) / count
    place = np.where(present[..., None], stretch.position, middle[:, None, None])
    total = np.linalg.norm((stretch.heading * present[..., None]).sum(axis=2), axis=2)
    order = total / np.maximum(present.sum(axis=2), 1)
    axes = ("run", "time", "agent", "axis")
    variables = {
        "position": Variable(place, axes),
        "heading": Variable(stretch.heading, axes),
        "present": Variable(present, axes[:3]),
        "polarisation": Variable(order, axes[:2]),
    }
    return Trajectory(variables, "recording", {}, 1, stretch.times - 1)


def curves_figure(rule: Rule) -> Figure:
    """The rule of turns in three pictures."""
    with style.family():
        figure, panels = style.subplots(1, 3, figsize=(10.4, 3.2))
        draw_curves(rule, *panels)
    return figure


def turns_figure(analysis: SpaceAnalysis) -> Figure:
    """Distributions of turns to the left and upwards, and of climbs."""
    decisions = analysis.decisions
    turns = np.degrees(decisions.turns[decisions.turned])
    climbs = np.degrees(np.arcsin(np.clip(decisions.headings[decisions.headed][:, 2], -1, 1)))
    columns = {
        "turn to the left (degrees)": turns[:, 0],
        "turn upwards (degrees)": turns[:, 1],
        "climb (degrees)": climbs,
    }
    widest = float(np.quantile(np.abs(turns), 0.995))
    with style.family():
        figure, panels = style.subplots(1, 3, figsize=(10.4, 2.8))
        for panel, (name, values) in zip(panels, columns.items(), strict=True):
            reach = widest if "turn" in name else float(np.quantile(np.abs(climbs), 0.995))
            panel.hist(values, bins=50, range=(-reach, reach), density=True, color=style.BLUE)
            panel.set_xlabel(name)
            panel.set_yticks([])
        panels[0].set_ylabel("frequency")
    return figure


def measures_figure(analysis: SpaceAnalysis, recorded: Stretches, simulated: Stretches) -> Figure:
    """Distributions of the measures of recorded and simulated groups."""
    ours, theirs = (measure_groups(part, analysis.arena) for part in (simulated, recorded))
    unit = analysis.swarm.unit
    with style.family():
        figure, panels = style.subplots(2, 4, figsize=(10.4, 4.8))
        flat = list(np.ravel(np.asarray(panels, dtype=object)))
        for panel, name in zip(flat, theirs, strict=False):
            here, there = (_finite(part[name]) for part in (theirs, ours))
            both = np.concatenate([here, there])
            low, high = (float(both.min()), float(both.max())) if len(both) else (0.0, 1.0)
            edges = np.linspace(low, high if high > low else low + 1, 26)
            panel.hist(here, bins=edges, density=True, color=style.BLUE, alpha=0.5)
            panel.hist(there, bins=edges, density=True, histtype="step", color="black")
            length = name in ("nearest neighbour", "size of the group")
            rest = f" ({unit})" if length else " (rad)" if "climb" in name else ""
            panel.set_xlabel(name + rest)
            panel.set_yticks([])
        for panel in flat[len(theirs) :]:
            panel.set_visible(False)
    return figure


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _tables(analysis: SpaceAnalysis) -> list[PageTable]:
    tables = []
    if analysis.verdict is not None and analysis.verdict.differences:
        rows = tuple(
            (
                part.measure,
                f"{part.recorded:.3g}",
                f"{part.simulated:.3g}",
                f"{part.error:.2g}",
                "yes" if part.is_clear else "no",
            )
            for part in analysis.verdict.differences
        )
        tables.append(
            PageTable(
                "held-out",
                "The held-out time in numbers",
                "Means of the measures of recorded and of simulated groups. A difference is clear "
                "if it is more than three standard errors, over stretches of time.",
                ("measure", "recorded", "simulated", "standard error", "clear"),
                rows,
            )
        )
    if analysis.distances:
        tables.append(
            PageTable(
                "distances",
                "How near groups are to the held-out time",
                "Mean energy distance over all measures, 0 for the same distributions. The "
                "controller was searched for; the regression has the numbers of the rule as they "
                "are; those without a reaction fly by themselves. The recording itself: parts of "
                "the training time against the held-out time.",
                ("group", "energy distance"),
                tuple((name, f"{value:.3f}") for name, value in analysis.distances.items()),
            )
        )
    return tables


def _numbers(analysis: SpaceAnalysis) -> dict[str, object]:
    decisions = analysis.decisions
    return {
        "recording": {
            **analysis.summary.facts,
            **{f"note {k + 1}": note for k, note in enumerate(analysis.recording.notes)},
        },
        "decisions": {
            "every": f"{decisions.dt:.3g} s",
            "to learn from": decisions.train.count,
            "to judge by": decisions.test.count,
            "error of a coordinate": f"{decisions.error:.2g} {decisions.unit}",
        },
        "arena": "open space" if analysis.arena is None else str(analysis.arena),
    }
