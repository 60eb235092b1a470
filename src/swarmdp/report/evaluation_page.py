"""The pages of `swarmdp evaluate` and `swarmdp replan`: a learned swarm beside its expert."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swarmdp.irl.frames import recorded_states
from swarmdp.irl.result import Result
from swarmdp.judging.evaluation import Evaluation
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import Pictured, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.report import fits, style
from swarmdp.report.fit_page import verdict_finding
from swarmdp.report.page import Finding, Page, PageFigure, PageTable, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.report.settings import settings_with_units
from swarmdp.simulation.rollout import rollout
from swarmdp.support.rounding import with_error

EVALUATION, REPLANNED = "evaluation.html", "report.html"
_MOST_AGENTS_STEPS = 1_000_000  # of a swarm in the player
_MOST_STEPS = 400
_WITHIN = 0.95  # share of the times at which a learned swarm is within the expert's range


def write_evaluation_page(
    folder: Path,
    result: Result,
    system: System,
    evaluation: Evaluation,
    *,
    expert: Controller | Trajectory,
    seed: int,
    figure: Path | None,
) -> Path:
    """Write evaluation.html; return its path.

    Parameters
    ----------
    folder
        Where it goes.
    result
        The fit, of which the first experiment is watched.
    system
        Its swarm.
    evaluation
        What was measured.
    expert
        A policy, or what was recorded of one.
    seed
        Of the swarms that are watched.
    figure
        The measures over time; None if nothing is measured.

    """
    learned = select_replicas(result.policy, slice(0, 1))
    player = _player(system, {"expert": expert, "learned": learned}, evaluation.steps, seed)
    distance = evaluation.distance
    spread = float(distance.std(ddof=1)) if len(distance) > 1 else None
    page = Page(
        title=f"A learned {result.system_name} swarm beside its expert",
        findings=[
            *(verdict_finding(verdict) for verdict in result.verdicts[:1]),
            *(_range_finding(evaluation, name) for name in evaluation.measures),
        ],
        introduction=[
            "The distance of the learned swarm's feature expectations, what its agents observe and "
            f"how often, from the expert's is {with_error(float(distance.mean()), spread)}."
        ],
        players=[] if player is None else [player],
        answer="Over time",
        answers=[]
        if figure is None
        else [
            PageFigure(
                "measures",
                "Measures of the swarms",
                "Learned swarms (blue) and the expert's (black). Below: how far the mean of the "
                "learned swarms is from the expert's, with its 95 % confidence.",
                (figure,),
            )
        ],
        tables=[_times_table(evaluation, name) for name in evaluation.measures],
        settings={"system": settings_with_units(system), "steps": evaluation.steps, "seed": seed},
    )
    return write_page(folder / EVALUATION, page)


def _range_finding(evaluation: Evaluation, name: str) -> Finding:
    """Whether the mean of learned swarms stays where the expert's runs are."""
    title = evaluation.measures[name].title
    expert, learned = evaluation.expert[name], evaluation.learned[name].mean(axis=0)
    gap = learned - expert.mean(axis=0)
    far = int(np.abs(gap).argmax())
    most = f"They differ most at t = {far}, by {gap[far]:+.3g}."
    if len(expert) < 10:
        return Finding(f"The {title}: how it develops over time is shown below.", "open", (most,))
    low, high = np.quantile(expert, [0.1, 0.9], axis=0)
    share = float(((learned >= low) & (learned <= high)).mean())
    words = (
        f"The mean {title} of the learned swarms is within the middle 80 % of the expert's runs "
        f"at {share:.0%} of the times."
    )
    return Finding(words, "good" if share >= _WITHIN else "bad", (most,))


def _times_table(evaluation: Evaluation, name: str) -> PageTable:
    measure = evaluation.measures[name]
    values = evaluation.expert[name], evaluation.learned[name]
    return PageTable(
        f"times-{name.replace('_', '-')}",
        f"{measure.title[0].upper()}{measure.title[1:]} in numbers",
        "Means over runs ± standard errors.",
        ("time step", "expert", "learned"),
        tuple(
            (str(t), *(_mean(runs[:, t]) for runs in values)) for t, _, _ in evaluation.rows(name)
        ),
    )


def _mean(values: Any) -> str:
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
    return with_error(float(values.mean()), error)


def write_replan_page(
    folder: Path,
    result: Result,
    system: System,
    policy: LocalPolicy,
    verdict: Verdict | None,
    *,
    beside: Controller | Trajectory | None,
    attempts: Sequence[tuple[str, float]],
    seed: int,
) -> tuple[Path, list[Path]]:
    """Write report.html of a policy that was planned again; return its path, and its figures.

    Parameters
    ----------
    folder
        Where it goes.
    result
        The fit whose reward it is.
    system
        The swarm that it was planned for.
    policy, verdict
        What was planned, and whether its swarm does what is beside it.
    beside
        The swarm's own expert, or a demo; None if there is neither.
    attempts
        Who planned, and what the policy is worth.
    seed
        Of the swarms that are watched.

    """
    swarms: dict[str, Controller | Trajectory] = {"planned": policy}
    if beside is not None:
        swarms = {"demo" if isinstance(beside, Trajectory) else "expert": beside} | swarms
    player = _player(system, swarms, _MOST_STEPS // 4, seed)
    written = style.save(fits.plot_reward(result), folder / "reward")
    name = name_of(system)
    where = f"another swarm, {name}," if name != result.system_name else f"a changed {name} swarm"
    # A loaded fit has lists where its system has tuples.
    now, then = (
        json.dumps(part, sort_keys=True)
        for part in (settings_of(system), dict(result.system_settings))
    )
    if name == result.system_name and now == then:
        where = "its own swarm"
    words = "There was nothing to compare the planned swarm with."
    page = Page(
        title=f"The reward of a {result.system_name} fit, planned again",
        findings=[Finding(words, "open") if verdict is None else verdict_finding(verdict)],
        introduction=[
            f"The policy was planned for {where} from the reward and a simulator alone; the "
            "learned policy was not used."
        ],
        players=[] if player is None else [player],
        answers=[
            PageFigure(
                "reward",
                "What agents seek",
                f"The reward that the fit learned; it is highest at {result.highest}.",
                (written[0],),
            )
        ],
        comparison="What the policies are worth",
        comparisons=[
            PageTable(
                "attempts",
                "Attempts",
                "What an agent gets under each policy that was planned, discounted. The best one "
                "was taken.",
                ("found by", "value"),
                tuple((name, f"{value:.4g}") for name, value in attempts),
            )
        ],
        settings={"system": settings_with_units(system), "seed": seed},
    )
    return write_page(folder / REPLANNED, page), written


def _player(
    system: System, swarms: Mapping[str, Controller | Trajectory], steps: int, seed: int
) -> Player | None:
    """Swarms side by side from the same start; None if the system has no picture."""
    if not isinstance(system, Pictured) or system.n_agents == 1:
        return None
    pictured: Any = system
    most = max(1, min(steps, _MOST_STEPS, _MOST_AGENTS_STEPS // system.n_agents))
    shown = {}
    for label, swarm in swarms.items():
        if isinstance(swarm, Trajectory):
            if recorded_states(system, swarm):
                most = min(most, swarm.steps)
                shown[label] = swarm.only(0)
        else:
            drawn = derived_seed(seed, Part.PAGE_SWARMS)
            shown[label] = rollout(pictured, swarm, steps=most, seed=drawn, progress=False)
    return Player(
        "swarm",
        " and ".join(shown).capitalize(),
        "Compare what the swarms do: the paths of single agents soon differ by chance.",
        Scene(pictured, {label: swarm.until(most) for label, swarm in shown.items()}),
    )
