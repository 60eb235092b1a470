"""The page of a fit: the verdict in words, the swarms to watch, the reward and its errors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import recorded_states, started_as
from swarmdp.irl.resampling import ENOUGH_RUNS
from swarmdp.irl.result import Result
from swarmdp.judging.evaluation import Evaluation, evaluate, measure_over_time
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import Measure, System
from swarmdp.model.traits import Pictured, measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Controller
from swarmdp.policies.replicas import select_replicas
from swarmdp.report import fits, style
from swarmdp.report.page import Finding, Page, PageFigure, PageTable, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.report.settings import settings_with_units
from swarmdp.simulation.rollout import rollout
from swarmdp.support.arrays import Bools
from swarmdp.support.rounding import rounded, with_error

PAGE = "report.html"
SHOWING, MEASURING = 9, 10  # parts of a fit with random numbers of their own (see fitting.py)
_MOST_AGENTS_STEPS = 1_000_000  # of a swarm in the player: 5 bytes each
MOST_RUNS, LEAST_RUNS, ENOUGH = 100, 4, 4_000_000  # runs that are measured; agents times steps
UNUSUAL = 0.05  # share of the expert's runs on the far side of the demo
FAR_FROM_RESAMPLED = (
    2.5  # s.d. of resampled demos: 95 % of further ones are within, if 8 tell the s.d.
)
FEW_PECULIAR = 0.1  # of the observations: up to this share may be off before the reward is in doubt
NEGLIGIBLE_SHARE = 0.05  # of a reward's range: smaller differences mean nothing
REPRODUCED = "reproduces the demo"  # the words of a verdict without exceptions
MOST_STATISTICS = 8  # rows of their table
BESIDE_DEMO = (
    "The demo that was learned from (orange), other runs of the same expert (black, their band "
    "grey), and the learned swarm (blue). Where the orange line leaves the grey band, the demo was "
    "unusual."
)
_STRIP = "Below: how far the mean of the learned swarm is from that of the expert."


def write_fit_page(
    folder: Path,
    result: Result,
    system: System,
    demo: Trajectory,
    *,
    expert: Controller | None,
    figures: Mapping[str, Path],
    planned: int,
    threads: int | None = None,
) -> tuple[Path, list[Path]]:
    """Write report.html beside a fit; return its path, and the files of the measures' figure.

    Parameters
    ----------
    folder
        Of the fit.
    result
        What was learned; of several experiments the first is watched.
    system
        The swarm that was fitted.
    demo
        What it was learned from.
    expert
        The policy that made the demo; None if it is not known, as of a recording.
    figures
        The files of the figures `reward` and `convergence`.
    planned
        The iterations that were asked for: with fewer the fit was interrupted.
    threads
        All cores by default.

    """
    evaluation = _evaluation(result, system, demo, expert, threads)
    reward = PageFigure(
        "reward",
        "What agents seek",
        _reward_caption(result, demo),
        (figures["reward"],),
        words=_reward_words(result),
    )
    shown = []
    written: list[Path] = []
    unusual = ""
    if evaluation is not None:
        of_demo = {name: measure_over_time(system, demo, name) for name in evaluation.measures}
        caption = f"The learned swarm (blue) beside the recorded one (black). {_STRIP}"
        if expert is None:
            figure = fits.plot_evaluation(evaluation)
        else:
            figure = fits.plot_beside_demo(evaluation, of_demo)
            caption = f"{BESIDE_DEMO} {_STRIP}"
            unusual = _unusual(evaluation, of_demo)
        written = style.save(figure, folder / "measures")
        shown.append(PageFigure("measures", "The swarm over time", caption, (written[0],)))
    way = _convergence_caption(result)
    shown.append(PageFigure("convergence", "How the fit converged", way, (figures["convergence"],)))
    player = _player(result, system, demo, threads)
    page = Page(
        title=f"The reward behind a {result.system_name} swarm",
        introduction=_introduction(result, demo),
        findings=[
            *_verdict(result, unusual),
            *_reward(result),
            *_interruption(result, planned),
        ],
        players=[] if player is None else [player],
        answers=[reward],
        figures=shown,
        tables=_tables(result),
        settings={"system": settings_with_units(system), "fit": dict(result.settings)}
        | {"seed": result.seed},
    )
    return write_page(folder / PAGE, page), written


def _introduction(result: Result, demo: Trajectory) -> list[str]:
    runs = "one recorded run" if demo.runs == 1 else f"{demo.runs} recorded runs"
    separate = ", each an experiment of its own" if result.experiments > 1 else ""
    unknown = "wanted" if result.takeover is not None else "wanted or did"
    return [
        f"Learned from {runs} of {demo.steps} time steps{separate}, without being told what the "
        f"agents {unknown}: a local reward that makes agents behave like this, and a local rule "
        f"that collects it. Made by swarmdp {result.version} with seed {result.seed}."
    ]


_LEARNERS = {
    "clone of recorded actions": "copying the recorded actions",
    "clone of explained actions": "copying the actions that best explain the demo",
    "clone of changes": "matching how observations change into each other",
}  # in words


def _verdict(result: Result, unusual: str) -> list[Finding]:
    """Whether the learned swarm does what the demo did."""
    verdicts = result.verdicts
    if not verdicts:
        return [
            Finding(
                "The learned swarm was not compared with the recorded one.",
                "open",
                ("swarmdp.judge compares them.",),
            )
        ]
    if len(verdicts) > 1:
        good = sum(not verdict.alarm for verdict in verdicts)
        words = f"{good} of {len(verdicts)} learned swarms do what their demo did."
        return [Finding(words, "good" if good == len(verdicts) else "bad", _sizes(verdicts))]
    return [verdict_finding(verdicts[0], unusual, _found_by(result))]


def verdict_finding(verdict: Verdict, unusual: str = "", found_by: Sequence[str] = ()) -> Finding:
    """A verdict as a page shows it: what it says, how large differences are, and what to do.

    Parameters
    ----------
    verdict
        On a swarm.
    unusual
        Why its demo is out of the ordinary, in words.
    found_by
        Who found the policy.

    """
    same = verdict.words == REPRODUCED
    details = [] if same or verdict.alarm else [f"The verdict: {verdict.words}."]
    if verdict.size and not verdict.alarm:
        details.append(_sentence(verdict.size))
    how = (_meaning(verdict), *found_by, *(_sentence(note) for note in verdict.notes))
    what = "What to do"
    if unusual and verdict.alarm:
        details.append(unusual)
        what = "If that does not help"
        details.append(
            "What to do: learn from several runs (--demo-runs 5). One unusual run leads a reward "
            "astray."
        )
    details += [f"{what}: {advice}." for advice in verdict.advice]
    if verdict.alarm:
        return Finding(f"The learned swarm: {verdict.words}.", "bad", tuple(details), how)
    exceptions = "" if same else ", with small exceptions"
    words = f"The learned swarm does what the recorded one did{exceptions}."
    return Finding(words, "good", tuple(details), how)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:].rstrip('.')}."


def _sizes(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """How many of those that pass can be told from their demo, and what differs in the first."""
    told = [verdict for verdict in verdicts if verdict.size and not verdict.alarm]
    if not told:
        return ()
    return (f"{len(told)} of these can be told from their demo. The first: {told[0].evidence}.",)


def _found_by(result: Result) -> list[str]:
    """Who found the policy, if it was not Algorithm 2."""
    if result.takeover is None:
        return []
    cost = sum(attempt.rollouts for attempt in result.attempts)
    own = " The reward is that of Algorithm 1." if result.reward_choice is None else ""
    return [
        f"The policy was found by {_LEARNERS.get(result.learners[0], result.learners[0])}, since "
        f"Algorithm 2's policy differs more from the demo ({cost} roll-outs).{own}"
    ]


def _meaning(verdict: Verdict) -> str:
    """How the verdict came about."""
    stretches = ", and stretch by stretch with runs from its own states" * bool(verdict.stretches)
    return (
        f"{len(verdict.lines)} statistics of the demo were compared with {verdict.runs} runs of "
        f"the learned swarm from the same start{stretches}: {verdict.chance} (p = {verdict.p:.2g})."
    )


def _reward(result: Result) -> list[Finding]:
    """Where the reward is high, and whether one may read its other values."""
    words = f"The reward is {result.sought}."
    if result.is_highest_clear is False:
        words = (
            "No observation is clearly sought: rewards that explain the demo equally well disagree "
            "on where the reward is high."
        )
    choice = result.reward_choice
    if choice is not None and result.experiments == 1:
        return [
            Finding(
                words,
                "good" if choice.explains[0] else "open",
                (_sentence(choice.words[0]),),
                tuple(_of_other_demos(result)),
            )
        ]
    if result.experiments > 1:
        return [Finding(words, "good", ("Mean over the experiments; their spread is drawn.",))]
    if result.resamples is None:
        detail = (
            "How far its other values can be trusted is unknown, since there were no resamples "
            "(--resamples 8). A single reward has peaks that come from chance."
        )
        return [Finding(words, "open", () if result.reward_error is not None else (detail,))]
    chance, count = int(peculiar(result).sum()), result.reward.weights.shape[1]
    good = chance <= FEW_PECULIAR * count
    return [Finding(words, "good" if good else "open", tuple(_of_other_demos(result)))]


def _reward_words(result: Result) -> tuple[str, ...]:
    """How much of the reward the demo identifies."""
    flags = result.identified_weights
    if flags is None or result.experiments > 1:
        return ()
    return (
        f"For {int(flags.sum())} of {flags.size} observations, all rewards that explain the demo "
        "equally well agree on whether they are worth more or less than the average. The demo "
        "does not determine the others, which are pale.",
    )


def _of_other_demos(result: Result) -> list[str]:
    """Whether rewards of other demos agree with this one; nothing if there are none."""
    if result.resamples is None or result.is_of_decisions:
        return []
    chance, count = int(peculiar(result).sum()), result.reward.weights.shape[1]
    how = f"The fit was repeated with {len(result.resamples)} demos drawn again. "
    near = int(peculiar(result, 1.0).size - peculiar(result, 1.0).sum())
    if not chance:
        return [
            f"{how}At {near} of {count} observations this reward is within a standard deviation of "
            f"theirs, at all within {FAR_FROM_RESAMPLED:g}."
        ]
    return [
        f"{how}At {chance} of {count} observations this reward is further from theirs than chance "
        "explains: what it says there comes from this demo alone; do not read it as a rule."
    ]


def peculiar(result: Result, deviations: float = FAR_FROM_RESAMPLED) -> Bools:
    """Where a reward is far from those of resampled demos (features,), by this many deviations."""
    assert result.resamples is not None
    weights, others = result.reward.weights[0], result.resamples[:, 0]
    away = np.abs(weights - others.mean(axis=0))
    far: Bools = away > np.maximum(
        deviations * others.std(axis=0, ddof=1), NEGLIGIBLE_SHARE * np.ptp(weights)
    )
    return far


def _interruption(result: Result, planned: int) -> list[Finding]:
    done = len(result.iterations)
    if done >= planned or bool((result.margin <= result.tolerance).all()):
        return []
    words = f"The fit was interrupted after {done} of {planned} iterations; --resume continues."
    return [Finding(words, "open")]


def _reward_caption(result: Result, demo: Trajectory) -> str:
    text = (
        "What agents seek, by what they observe. Only differences mean something, and "
        "a reward twice as large asks for the same behaviour. "
    )
    if result.experiments > 1:
        return f"{text}Bars: mean over {result.experiments} experiments, orange: their s.d."
    if result.resamples is None or result.is_of_decisions:
        if result.reward_error is None:
            return f"{text}Its errors are not known: the fit had no resamples."
        if result.reward_choice is not None:
            return (
                f"{text}Orange: the s.d. of other rewards that explain the demo equally well. "
                "Pale: observations on which these disagree."
            )
        return f"{text}Orange: the errors that the reward update gives."
    source = "runs of the demo drawn again"
    if demo.of_recording:
        source = "times of the demo drawn again"
    elif demo.runs < ENOUGH_RUNS:
        source = (
            f"runs of the learned swarm from the demo's start, since fewer than {ENOUGH_RUNS} runs "
            "cannot be drawn from"
        )
    return (
        f"{text}Bars: the reward from this demo. Orange: mean and s.d. of the rewards from "
        f"{len(result.resamples)} other demos ({source}), brought to the same scale. A bar that "
        "ends far from its orange dot comes from the chance of this demo, not from the rule of "
        "the swarm. Observations that are rarely visited have the least certain rewards."
    )


def _convergence_caption(result: Result) -> str:
    return (
        "Each dot is one policy of Algorithm 1: how far its feature expectations, what its agents "
        "observe and how often, are from the demo's. The nearest ones were rolled out again, and "
        "the circle is the one that was chosen."
        if result.experiments == 1
        else "How far the policies of Algorithm 1 are from their demos, in what agents observe and "
        "how often."
    )


def _evaluation(
    result: Result,
    system: System,
    demo: Trajectory,
    expert: Controller | None,
    threads: int | None,
) -> Evaluation | None:
    """Learned swarms and the expert's, measured; None if nothing can be measured."""
    if not measures_of(system) or (expert is None and not recorded_states(system, demo)):
        return None
    runs = max(LEAST_RUNS, min(MOST_RUNS, ENOUGH // (system.n_agents * demo.steps)))
    return evaluate(
        result,
        system,
        expert=demo if expert is None else expert,
        steps=demo.steps,
        runs=max(MOST_RUNS, runs) if system.n_agents == 1 else runs,
        seed=derived_seed(result.seed, Part.PAGE_MEASURES),
        threads=threads,
        progress=False,
    )


def _unusual(evaluation: Evaluation, demo: Mapping[str, NDArray[Any]]) -> str:
    """Whether a demo's main measure is out of the ordinary among the expert's runs, in words."""
    name, measure = next(iter(evaluation.measures.items()))
    others = evaluation.expert[name].mean(axis=1)
    mean = float(demo[name].mean())
    if len(demo[name]) > 1 or len(others) < 1 / UNUSUAL:
        return ""
    below = int((others <= mean).sum())
    above = int((others >= mean).sum())
    least = min(below, above)
    if least > UNUSUAL * len(others):
        return ""
    return (
        f"This demo is an unusual one: its {measure.title} is {_plain(mean, measure)} on average "
        f"over time; of {len(others)} other runs of the expert {least} "
        f"{'is' if least == 1 else 'are'} as {'low' if below < above else 'high'} "
        f"(mean {with_error(float(others.mean()), float(others.std(ddof=1)))}, ± s.d. of runs)."
    )


def _plain(value: float, measure: Measure) -> str:
    return f"{value:.3g}" + ("" if measure.units == "1" else f" {measure.units}")


def _player(result: Result, system: System, demo: Trajectory, threads: int | None) -> Player | None:
    """The first run of the demo and the learned swarm from its start; None if it has no picture."""
    names = recorded_states(system, demo)
    if not isinstance(system, Pictured) or not names or system.n_agents == 1:
        return None
    pictured: Any = system
    steps = max(1, min(demo.steps, _MOST_AGENTS_STEPS // system.n_agents))
    first = demo.only(0).until(steps)
    learned = rollout(
        started_as(system, first, names),
        select_replicas(result.policy, slice(0, 1)),
        steps=steps,
        seed=derived_seed(result.seed, Part.PAGE_SWARMS),
        threads=threads,
        progress=False,
    )
    return Player(
        "swarm",
        "Recorded and learned",
        "Left: the demo. Right: agents with the learned policy, from the same start. Compare "
        "what the swarms do: the paths of single agents soon differ by chance.",
        Scene(pictured, {"demo": first, "learned": learned}),
    )


def _tables(result: Result) -> list[PageTable]:
    """What the verdict is based on, the clearest differences first."""
    if len(result.verdicts) != 1:
        return []
    verdict = result.verdicts[0]
    lines = verdict.telltales[:MOST_STATISTICS]
    return [
        PageTable(
            "statistics",
            "What the verdict is based on",
            f"The {len(lines)} of {len(verdict.lines)} statistics that differ most, the clearest "
            "first. ± is the spread from run to run of the learned swarm. p: the probability of a "
            "difference this large by chance, corrected for the number of statistics.",
            ("statistic", "demo", "learned", "p"),
            tuple(
                (
                    f"{line.title}, {line.when}",
                    rounded(line.demo, line.learned_spread),
                    with_error(line.learned, line.learned_spread),
                    f"{line.adjusted_p:.2g}",
                )
                for line in lines
            ),
        )
    ]
