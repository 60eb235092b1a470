"""The reproduction of the paper as a report: figures, claims, summary and page."""

import dataclasses
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from swarmdp._version import __version__
from swarmdp.judging.judge import judge
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.paper import claims, figures, outcome
from swarmdp.paper.claim_tables import claim_counts, claim_table
from swarmdp.paper.claims import LEARNER_NAMES, Claim
from swarmdp.paper.plan import Plan
from swarmdp.paper.store import REPORT_LOCK, Store
from swarmdp.paper.tasks import FIGURE_TASKS, LEARNERS, case_of, demonstration, seed_of, units_of
from swarmdp.paper.uncertainty_figures import uncertainty_figure
from swarmdp.policies import Policy
from swarmdp.report import style
from swarmdp.report.fit_page import REPRODUCED
from swarmdp.report.page import Finding, Page, PageFigure, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.report.settings import settings_with_units
from swarmdp.simulation.rollout import rollout
from swarmdp.support import files, folders
from swarmdp.support.errors import VerdictWarning
from swarmdp.support.progress import Tell

WATCHED = {
    "vicsek": ("The Vicsek swarm", {"vicsek-reward", "trajectories", "order"}),
    "ising": ("The Ising grid", {"ising-reward", "energy"}),
}
"""Systems whose swarms can be watched: the title, and the figures of which one must be there."""
SPAN = 15  # steps of a way in the figure of trajectories
SHOWN_TIMES = {"vicsek": (5, 10, 20, 50, 100), "ising": (1, 2, 5, 10, 20, 60)}


@dataclass(frozen=True, eq=False)
class PaperFigure:
    """One figure of the paper with what it says."""

    title: str
    caption: str
    figure: Figure
    claims: tuple[Claim, ...]
    numbers: dict[str, Any]  # for summary.json


def write_report(store: Store, tell: Tell | None = None) -> Path:
    """Draw all figures whose units are there, judge the claims, write summary.json and report.html.

    What is in summary.json depends on the plan and these figures alone; times are in the page.
    They are put in place together. `tell` is called with the number of steps done, their total and
    the name of the next.
    """
    with folders.writing(store.folder, lock=REPORT_LOCK) as place:
        page = _write_parts(store, place, tell)
    return store.folder / page.name


def _write_parts(store: Store, folder: Path, tell: Tell | None) -> Path:
    plan = store.plan
    drawn = complete_figures(store)
    watched = {name: title for name, (title, needs) in WATCHED.items() if needs & set(drawn)}
    steps = [*(f"drawing {n}" for n in drawn), *(f"judging {n}" for n in watched), "the page"]

    def begins(step: str) -> None:
        if tell is not None:
            tell(steps.index(step), len(steps), step)

    parts, shown = {}, []
    for name in drawn:
        begins(f"drawing {name}")
        parts[name] = part = PAPER_FIGURES[name](store)
        files_of = style.save(part.figure, folder / "figures" / name)
        below = claim_table(part.claims)
        shown.append(PageFigure(name, part.title, part.caption, (files_of[0],), below=below))
    verdicts = {}
    for name in watched:
        begins(f"judging {name}")
        verdicts[name] = _verdicts(store, name)
    begins("the page")
    judged = [claim for part in parts.values() for claim in part.claims]
    summary = {
        "command": "reproduce",
        "version": __version__,
        "plan": plan.to_plain(),
        "figures": drawn,
        "claims": [
            dataclasses.asdict(claim)
            | {"value": _number_or_none(claim.value), "error": _number_or_none(claim.error)}
            | {"sentence": claim.sentence, "verdict": claim.verdict}
            for claim in judged
        ],
        "numbers": {name: part.numbers for name, part in parts.items() if part.numbers},
        "verdicts": {
            name: {who: {"words": v.words, "alarm": v.alarm} for who, v in by_learner.items()}
            for name, by_learner in verdicts.items()
        },
    }
    files.write_text(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    page = Page(
        title="Inverse Reinforcement Learning in Swarm Systems, reproduced",
        introduction=_introduction(store, drawn),
        summary=claim_counts(judged),
        findings=[
            _judgement(name, who, verdict)
            for name, by_learner in verdicts.items()
            for who, verdict in by_learner.items()
        ],
        players=[_player(store, name, title) for name, title in watched.items()],
        answer="The paper's figures and claims",
        answers=shown,
        settings=_settings(plan),
        timing=_timing(store),
    )
    return write_page(folder / "report.html", page)


def complete_figures(store: Store) -> list[str]:
    """The figures whose units are all finished."""
    return [
        name for name in FIGURE_TASKS if all(unit in store for unit in units_of(store.plan, name))
    ]


def write_timing(store: Store, wall_seconds: float) -> None:
    """Write timing.json: the last start as a whole, and each task over all starts."""
    times = {"wall_seconds_of_last_start": wall_seconds, "core_seconds": dict(_timing(store))}
    files.write_text(store.folder / "timing.json", json.dumps(times, indent=2) + "\n")


def _timing(store: Store) -> list[tuple[str, float]]:
    """The core seconds of each task, the longest first."""
    return sorted(store.seconds().items(), key=lambda item: -item[1])


def _introduction(store: Store, drawn: Sequence[str]) -> list[str]:
    plan, seconds = store.plan, sum(store.seconds().values())
    what = "Every figure" if len(drawn) == len(FIGURE_TASKS) else f"{len(drawn)} of the figures"
    took = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
    return [
        f"{what} of the paper and its claims, computed again at the scale “{plan.scale}” with "
        f"seed {plan.seed} by swarmdp {__version__}, in {took} of one core. Where learning is "
        "involved, the paper's learner is shown beside the default learner.",
        "Below each figure are the paper's claims and what was measured, including those that do "
        "not hold. A claim is not decided at this scale if its value is closer to the limit than "
        "its error; more experiments may decide it. A “±” is a standard error.",
    ]


def _settings(plan: Plan) -> dict[str, Any]:
    """The plan as the page shows it: angles in degrees."""
    systems: dict[str, System] = {"vicsek": plan.vicsek, "ising": plan.ising}
    in_units = {name: settings_with_units(system) for name, system in systems.items()}
    return {**plan.to_plain(), **in_units}


def _number_or_none(value: float) -> float | None:
    return None if np.isnan(value) else value


def _snapshots(store: Store) -> PaperFigure:
    plan = store.plan
    stages = {which: outcome.task_arrays(store, f"snapshots-{which}") for which in LEARNERS}
    caption = (
        "Four stages of the first policy update of Algorithm 1 on the Vicsek model, with the "
        "reward that the expert's own feature expectations point to. Exploring agents act at "
        "random among greedy ones; their share falls to zero. Look whether the greedy agents "
        f"align although others disturb them. One swarm of {plan.vicsek.n_agents} agents is shown; "
        "the default learner teaches several at once."
    )
    figure = figures.snapshots_figure(plan.vicsek, stages)
    return PaperFigure("Snapshots of the learning scheme", caption, figure, (), {})


def _uncertainty(store: Store) -> PaperFigure:
    plan = store.plan
    by_radius = outcome.uncertainties(store)
    caption = (
        "How much an agent's heading says about another's (uncertainty coefficient: 0 nothing, 1 "
        "everything), over time and the topological distance of the two agents, the hops between "
        f"them in the interaction graph of that moment. {plan.uncertainty_runs} runs of the expert "
        "for each radius, one pair of agents for each run, time and distance. Look how it falls "
        "with the distance, and at which distances it grows with the radius, including agents "
        "that are not connected."
    )
    return PaperFigure(
        "Uncertainty coefficient",
        caption,
        uncertainty_figure(by_radius),
        tuple(claims.uncertainty_claims(by_radius)),
        {
            f"{radius:g}": {
                "times": list(plan.uncertainty_times),
                "hops": one.hops.tolist(),  # -1: not connected
                "coefficient": _rows_or_none(one.corrected),
                "standard_error": _rows_or_none(one.error),
            }
            for radius, one in by_radius.items()
        },
    )


def _rows_or_none(values: Any) -> list[Any]:
    return [[None if np.isnan(v) else float(v) for v in row] for row in values]


def _vicsek_reward(store: Store) -> PaperFigure:
    caption = (
        "The reward learned from one expert trajectory, by the misalignment of an agent with its "
        f"neighbours: mean and standard deviation over {store.plan.experiments} experiments. "
        "Look whether it is highest where an agent is aligned, and the same on both sides."
    )
    fits = _fits(store, "vicsek")
    return PaperFigure(
        "Learned reward of the Vicsek model",
        caption,
        figures.vicsek_reward_figure(store.plan.vicsek, fits),
        _all_claims(claims.vicsek_reward_claims, store.plan.vicsek, fits),
        _fit_numbers(fits),
    )


def _ising_reward(store: Store) -> PaperFigure:
    caption = (
        "The reward learned from one expert trajectory, by the local energy of an agent, the "
        f"number of unlike neighbours: mean and standard deviation over {store.plan.experiments} "
        "experiments. Look whether it is high for low energy, negative past half of the "
        "neighbours, and near zero at high energy, which few agents ever visit."
    )
    fits = _fits(store, "ising")
    return PaperFigure(
        "Learned reward of the Ising model",
        caption,
        figures.ising_reward_figure(store.plan.ising, fits),
        _all_claims(claims.ising_reward_claims, store.plan.ising, fits),
        _fit_numbers(fits),
    )


def _fits(store: Store, system: str) -> dict[str, outcome.Fits]:
    return {which: outcome.fits_of(store, system, which) for which in LEARNERS}


def _all_claims(
    claims_of: Callable[..., Iterator[Claim]], subject: Any, by_learner: Mapping[str, Any]
) -> tuple[Claim, ...]:
    """The claims about the outcome of each learner."""
    return tuple(
        claim for which, one in by_learner.items() for claim in claims_of(subject, which, one)
    )


def _fit_numbers(by_learner: Mapping[str, outcome.Fits]) -> dict[str, Any]:
    return {
        which: {
            "distance_mean": float(fits.distance.mean()),
            "distance_worst": float(fits.distance.max()),
            "reward_mean": fits.weights.mean(axis=0).tolist(),
            "reward_standard_deviation": fits.weights.std(axis=0).tolist(),
        }
        for which, fits in by_learner.items()
    }


def _trajectories(store: Store) -> PaperFigure:
    plan = store.plan
    swarms = _swarms(store, "vicsek")
    span = min(SPAN, plan.vicsek_steps)
    caption = (
        f"The paths of all agents during {span} steps (colour: time): at the start, while the "
        "swarm becomes ordered, and at the end. Expert and learned policies of the first "
        "experiment, from the same initial state. Look whether the learned swarms settle on one "
        "direction as the expert's does; which one does not matter, since agents see only relative "
        "angles."
    )
    figure = figures.trajectories_figure(plan.vicsek, swarms, span)
    return PaperFigure("Trajectories, transient and stationary", caption, figure, (), {})


def _swarms(store: Store, system: str) -> dict[str, Trajectory]:
    """One run of the expert and of the first experiment's learned policies, to be looked at."""
    plan = store.plan
    case = case_of(plan, system)
    policies = {"expert": case.system.expert} | {
        f"learned, {LEARNER_NAMES[which]}": Policy(outcome.fits_of(store, system, which).table[:1])
        for which in LEARNERS
    }
    seed = seed_of(plan, f"{system}-shown")
    return {
        name: rollout(case.system, policy, steps=case.steps, seed=seed)
        for name, policy in policies.items()
    }


def _order(store: Store) -> PaperFigure:
    return _measure(
        store,
        "vicsek",
        "Order parameter of the Vicsek model over time",
        "order parameter ω",
        1.0,
        "1 means that all agents go the same way",
    )


def _energy(store: Store) -> PaperFigure:
    part = _measure(
        store,
        "ising",
        "Global energy of the Ising model over time",
        "global energy E / 1000 unlike pairs",
        1000.0,
        "0 means that all spins are the same",
    )
    for which in LEARNERS:
        fits = outcome.fits_of(store, "ising", which)
        part.numbers[which]["solutions"] = outcome.solutions(store.plan, fits)
    return part


def _measure(
    store: Store, system: str, title: str, label: str, unit: float, meaning: str
) -> PaperFigure:
    plan = store.plan
    bands = {which: outcome.bands(store, system, which) for which in LEARNERS}
    caption = (
        f"{meaning[0].upper()}{meaning[1:]}. Lines are means, bands reach from the 10 % to the "
        "90 % quantile; below is how far the means of learned swarms are from the expert's. "
        f"Expert: {plan.expert_runs} runs. Others: averages over {plan.experiments} "
        f"experiments of the quantiles over {plan.runs_each} runs each. Random policies: a fresh "
        "table for every run. Look who comes close to the expert, and how much is lost by "
        "learning from a single agent or for a hand-crafted reward."
    )
    numbers = {which: dict(_band_numbers(bands[which], SHOWN_TIMES[system])) for which in LEARNERS}
    figure = figures.bands_figure(bands, label, unit)
    return PaperFigure(
        title, caption, figure, _all_claims(claims.swarm_claims, system, bands), numbers
    )


def _band_numbers(
    bands: dict[str, outcome.Band], times: Sequence[int]
) -> Iterator[tuple[str, dict[str, float]]]:
    for curve, band in bands.items():
        yield curve, {str(t): float(band.mean[t]) for t in times if t < len(band.mean)}


PAPER_FIGURES: dict[str, Callable[[Store], PaperFigure]] = {
    "snapshots": _snapshots,
    "uncertainty": _uncertainty,
    "vicsek-reward": _vicsek_reward,
    "trajectories": _trajectories,
    "order": _order,
    "ising-reward": _ising_reward,
    "energy": _energy,
}


def _judgement(system: str, who: str, verdict: Verdict) -> Finding:
    """What the judge says of a swarm that can be watched."""
    words = f"{system.capitalize()}, {who}: the learned swarm of the first experiment"
    if verdict.alarm:
        return Finding(f"{words}: {verdict.words}", "bad")
    size = (f"{verdict.evidence[0].upper()}{verdict.evidence[1:]}.",) if verdict.size else ()
    if verdict.words == REPRODUCED:
        return Finding(f"{words} does what its demo did", "good", size)
    return Finding(
        f"{words} does what its demo did, with small exceptions",
        "good",
        (f"The verdict: {verdict.words}.", *size),
    )


def _player(store: Store, system: str, title: str) -> Player:
    """Expert and learned swarms to be watched."""
    caption = (
        "The expert beside the policies learned in the first experiment, from the same initial "
        "state."
    )
    scene = Scene(case_of(store.plan, system).system, _swarms(store, system))
    return Player(system, title, caption, scene)


def _verdicts(store: Store, system: str) -> dict[str, Verdict]:
    """Whether the swarms of the first experiment do what its demo did, for each learner."""
    plan = store.plan
    case = case_of(plan, system)
    demo = demonstration(plan, system, np.arange(1), threads=1, record="states")
    verdicts = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VerdictWarning)  # the page says it
        for which in LEARNERS:
            verdicts[LEARNER_NAMES[which]] = judge(
                Policy(outcome.fits_of(store, system, which).table[:1]),
                demo,
                system=case.system,
                seed=seed_of(plan, f"{system}-judged"),
                discount=plan.discount,
                quick=True,
                progress=False,
            )
    return verdicts
