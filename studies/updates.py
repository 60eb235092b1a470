"""Which reward update finds what? All of them on the same experiments, and behaviour cloning.

Every experiment learns from one expert trajectory of its own, with the paper's parameters. The
chosen policies are judged by roll-outs that the fit has not seen.
"""

import dataclasses
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command, figures
from studies.learners import DISCOUNT, EXPERT_SEED, STEPS, Case, case_of
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.irl.updates.evidence import wants_of
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.judging.judge import one_run
from swarmdp.policies.replicas import as_policy, select_replicas
from swarmdp.report import style
from swarmdp.support import files
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import SwarmdpWarning

ROWS = "updates.json"
EXPERT, CLONING = "expert", "cloning"
DEMO, FIT, JUDGE = 31, 32, 33  # seeds
QUICK = {
    "iterations": 2,
    "learner": swarmdp.learning.HeterogeneousLearning(steps=20, swarms=1),
}
RECORDS = {"inferred": "states", "recorded": ["observations", "actions"]}


@dataclass(frozen=True)
class Setting:
    """One row of the study."""

    system: str
    method: str  # an update, cloning, or the expert itself
    estimator: Literal["swarm", "single"] | None  # None: not from feature expectations
    actions: Literal["inferred", "recorded"] | None  # None: not from actions


def settings() -> list[Setting]:
    """All rows: the expert, the updates with both estimators, those by actions, cloning."""
    by_actions = [name for name, update in UPDATES.items() if wants_of(update.make()).pairs]
    others = [name for name in UPDATES if name not in by_actions]
    rows = []
    for system in ("vicsek", "ising"):
        # Spins show their flips exactly: there recorded actions are the same.
        sources: list[Any] = ["inferred", "recorded"] if system == "vicsek" else ["inferred"]
        rows.append(Setting(system, EXPERT, None, None))
        rows += [Setting(system, name, "swarm", None) for name in others]
        rows += [Setting(system, n, None, how) for n in (*by_actions, CLONING) for how in sources]
        rows += [Setting(system, name, "single", None) for name in others]
    return rows


def measure_update(setting: Setting, case: Case, experiments: int, quick: bool = False) -> Row:
    """Learn in all experiments of one row, and judge what was learned."""
    system = case.system
    began = time.process_time()  # of all threads, whatever else the machine is doing
    controller: Any = system.expert
    numbers: Row = {}
    states = swarmdp.rollout(system, system.expert, steps=STEPS, runs=experiments, seed=DEMO)
    if setting.method != EXPERT:
        demo = swarmdp.rollout(
            system,
            system.expert,
            steps=STEPS,
            runs=experiments,
            seed=DEMO,
            record=RECORDS[setting.actions or "inferred"],
        )
        began = time.process_time()
        if setting.method == CLONING:
            controller = swarmdp.irl.clone(system, demo, separate=True)
        else:
            controller, numbers = _fit(setting, system, demo, quick)
    seconds = time.process_time() - began
    judged = swarmdp.rollout(
        system,
        controller,
        steps=STEPS,
        runs=experiments * case.runs,
        seed=JUDGE,
        record={"measure": case.measure, "mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)},
    )
    learned = judged["measure"].reshape(case.runs, experiments, -1).mean(axis=0)
    mu = judged["mu"].reshape(case.runs, experiments, -1).mean(axis=0)
    distance = np.linalg.norm(mu - case.true_mu, axis=1)
    return {
        "alarms": _alarms(system, controller, states),
        "failures": int(case.fails(learned, case.expert).sum()),
        "true_distance": six_digits(distance),
        "measure_mean": six_digits(learned.mean(axis=0)),
        "measure_low": six_digits(np.quantile(learned, 0.1, axis=0)),
        "measure_high": six_digits(np.quantile(learned, 0.9, axis=0)),
        "expert_measure": six_digits(case.expert),
        "times": list(case.times),
        **numbers,
        "cpu_seconds": round(seconds, 1),
    }


def _alarms(system: Any, controller: Any, states: swarmdp.Trajectory) -> int:
    """How many of the verdicts, one for each experiment, are alarms."""
    policy = as_policy(controller)
    alarms = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        for r in range(states.runs):
            policy_of_run = (
                policy if policy.replicas == 1 else select_replicas(policy, np.array([r]))
            )
            verdict = swarmdp.judge(
                policy_of_run, one_run(states, r), system=system, seed=JUDGE, quick=True
            )
            alarms += verdict.alarm
    return alarms


def _fit(setting: Setting, system: Any, demo: swarmdp.Trajectory, quick: bool) -> tuple[Any, Row]:
    changes: dict[str, Any] = QUICK if quick else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SwarmdpWarning)
        result = swarmdp.fit(
            system,
            demo,
            seed=FIT,
            separate=True,
            update=setting.method,
            estimator=setting.estimator or "swarm",
            **changes,
            judge=False,
        )
    weights, axis = standardise(result.reward.weights), result.blocks[0][0].shown
    row: Row = {
        "distance": six_digits(result.distance),
        "first_chosen": int((result.chosen == 0).sum()),
        "agreement": agreement(weights),
        "reward_mean": six_digits(weights.mean(axis=0)),
        "reward_deviation": six_digits(weights.std(axis=0, ddof=1)),
        "observation": six_digits(axis.values),
        "observation_name": axis.name,
        "observation_units": axis.units,
        "warnings": [str(warning.message) for warning in caught],
    }
    if result.solutions:
        row["majority_vote"] = sum(name == "majority vote" for name in result.solutions)
        row["mirror_image"] = sum(name.startswith("mirror") for name in result.solutions)
    return result.policy, row


def standardise(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights (R, d) without offset and scale, which change no behaviour: mean 0, deviation 1."""
    centred = weights - weights.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def agreement(weights: NDArray[np.float64]) -> float:
    """The mean correlation between the standardised weights (R, d) of any two experiments."""
    correlation = weights @ weights.T / weights.shape[1]
    above = np.triu_indices(len(weights), 1)
    return float(correlation[above].mean())


def study(
    output: Path, experiments: int = 30, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write tables and figures.

    Parameters
    ----------
    output
        The folder for `updates.json` (the rows), `updates.md` (the tables) and the figures.
    experiments
        The number of independent fits of each row, at least 2.
    only
        Just these systems: "vicsek", "ising".
    quick
        Small swarms, and few iterations of both algorithms.

    """
    check_integer("experiments", experiments, least=2)
    selected = select(settings(), "system", only)
    case = cache(partial(case_of, quick=quick))

    def measure(setting: Setting) -> Row:
        return measure_update(setting, case(setting.system), experiments, quick)

    jobs = [Job(dataclasses.asdict(s), partial(measure, s)) for s in selected]
    shared = conditions(
        quick=quick,
        experiments=experiments,
        discount=DISCOUNT,
        steps=STEPS,
        seeds=[EXPERT_SEED, DEMO, FIT, JUDGE],
    )
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "updates.md", table(rows))
    for system in ("vicsek", "ising"):
        of_system = [row for row in rows if row["system"] == system]
        if of_system:
            style.save(figures.distances_figure(of_system), output / f"updates-{system}-distances")
            style.save(figures.measures_figure(of_system), output / f"updates-{system}-over-time")
            style.save(figures.rewards_figure(of_system), output / f"updates-{system}-rewards")
    return rows


def title(row: Row) -> str:
    """What to call a row's method: with its estimator, or how its actions are known."""
    method = str(row["method"])
    if row["actions"]:
        return f"{method}, {row['actions']} actions"
    return f"{method}, single agent" if row["estimator"] == "single" else method


def _line(row: Row) -> str:
    distance = np.mean(row["true_distance"])
    return (
        f"{row['system']} {title(row)}: alarms {row['alarms']}, failures {row['failures']}, "
        f"true distance {distance:.3f}, agreement {row.get('agreement', float('nan')):.2f}, "
        f"{row['cpu_seconds']} s"
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as tables in Markdown."""
    parts = []
    for system in ("vicsek", "ising"):
        of_system = [row for row in rows if row["system"] == system]
        if not of_system:
            continue
        times = of_system[0]["times"]
        measure = "order parameter" if system == "vicsek" else "energy / expert's"
        head = [
            "method",
            "alarms",
            "failures",
            "true distance: mean ± error",
            "worst",
            "distance in the fit",
            f"{measure} at t = {', '.join(map(str, times))}",
            "agreement of rewards",
            *(["expert's table / mirror"] if system == "ising" else []),
            "CPU seconds",
        ]
        parts.append(
            f"## {system.capitalize()}\n\n"
            + markdown(head, [_cells(row, system, times) for row in of_system])
        )
    return "\n".join(parts)


def _cells(row: Row, system: str, times: Sequence[int]) -> list[object]:
    distance = np.array(row["true_distance"])
    error = distance.std(ddof=1) / np.sqrt(len(distance))
    over_time = [row["measure_mean"][t] for t in times]
    if system == "ising":
        over_time = [m / row["expert_measure"][t] for m, t in zip(over_time, times, strict=True)]
    cells: list[object] = [
        title(row),
        f"{row['alarms']} of {row['experiments']}" if "alarms" in row else "",
        f"{row['failures']} of {row['experiments']}",
        f"{distance.mean():.3f} ± {error:.3f}",
        f"{distance.max():.2f}",
        f"{np.mean(row['distance']):.2f}" if "distance" in row else "",
        ", ".join(f"{value:.3f}" for value in over_time),
        f"{row['agreement']:.2f}" if "agreement" in row else "",
    ]
    if system == "ising":
        voted = "majority_vote" in row
        cells.append(f"{row['majority_vote']} / {row['mirror_image']}" if voted else "")
    return [*cells, "" if row["method"] == EXPERT else f"{row['cpu_seconds']:.0f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "updates",
        "Which reward update finds what? All updates, with both estimators or by actions, and "
        "behaviour cloning on the same experiments. A quarter of an hour on two cores.",
        experiments=30,
        only="these systems: vicsek, ising",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
