"""What a learned reward is worth where the true one is known, and visits mislead.

An agent that is optimal for a known reward is recorded, or a small swarm that is. From states alone
each method learns a reward; what is planned for it from nothing is worth a share of the optimum,
under the dynamics that were recorded and under others. Half of the problems were written last and
run once. And Vicsek swarms with half the radius, planned for the reward that was learned with the
whole; and tracks of a swarm whose additive reward is known.
"""

import dataclasses
import subprocess
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies import command
from studies.known import development, earlier, swarms, tracks, unseen
from studies.known.problem import DISCOUNT, Problem, planned
from studies.known.swarms import SmallSwarm
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.model.streams import derived_seed
from swarmdp.policies import Controller
from swarmdp.recordings.decisions import Decisions
from swarmdp.support import files

ROWS = "known-rewards.json"
DEVELOPMENT, FINAL = "development", "run once"
SMALL, FINAL_SMALL = "small swarms, development", "small swarms, run once"
SWARM = "vicsek, half radius"
CLEAN, SPOILED = "additive reward, clean tracks", "additive reward, spoiled tracks"
RULES = "other additive rewards, spoiled tracks"
TRACKS = (CLEAN, SPOILED, RULES)
SEEDS = {
    DEVELOPMENT: 810_000,
    FINAL: 910_000,
    SMALL: 870_000,
    FINAL_SMALL: 930_000,
    SWARM: 850_000,
    CLEAN: 950_000,
    SPOILED: 976_000,  # 970_000 and 973_000 were run once for earlier priors
    RULES: 983_000,
}
SHARES = (DEVELOPMENT, FINAL, SMALL, FINAL_SMALL)  # parts whose rows are shares of an optimum
DEFAULT, HISTOGRAM = "default", "histogram"
DEMO, FIT, PLAN, LOOK = 1, 2, 3, 4  # parts of an experiment with random numbers of their own
EXPERIMENTS, RECORDINGS = 5, 20  # of each row; of spoiled tracks
_AT, _STEPS = 20, 60  # the time at which order is told, and steps of such a run


@dataclass(frozen=True)
class Setting:
    """One row: a method on one problem."""

    part: str
    problem: str
    method: str


def problems() -> dict[str, list[Problem] | list[SmallSwarm]]:
    """All problems, by part."""
    return {
        DEVELOPMENT: [*development.problems(), *earlier.problems()],
        FINAL: unseen.problems(),
        SMALL: swarms.development(),
        FINAL_SMALL: swarms.unseen(),
    }


def settings() -> list[Setting]:
    """All rows: the default, each update with its own reward, the histogram."""
    methods = [DEFAULT, HISTOGRAM, *UPDATES]
    rows = [
        Setting(part, problem.name, method)
        for part, several in problems().items()
        for problem in several
        for method in methods
    ]
    rows += [Setting(SWARM, "vicsek", method) for method in (DEFAULT, HISTOGRAM)]
    return rows + [
        Setting(part, "known rule", method)
        for part in TRACKS
        for method in methods
        if method not in tracks.TOO_MANY
    ]


def rewarded(method: str, system: Any, demo: Any, seed: int) -> tuple[Any, swarmdp.Result]:
    """The weights that a method learns, and its result."""
    if method == HISTOGRAM:
        options: dict[str, Any] = {"iterations": 1, "judge": False}
    elif method == DEFAULT:
        options = {}
    else:
        options = {"update": method, "judge": False, "reward": "nearest"}
    if isinstance(demo, Decisions):
        # The reward of decisions does not depend on the iterations of Algorithm 1.
        options |= {"judge": False, "iterations": 8 if method in UPDATES else 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
        result = swarmdp.fit(system, demo, seed=seed, discount=DISCOUNT, progress=False, **options)
    weights = result.reward.weights[0]
    if method == HISTOGRAM:
        weights = initial_reward(result.expert_mu).weights[0]
    return weights, result


def measured(setting: Setting, experiments: int) -> Row:
    """All experiments of one row."""
    began = time.process_time()
    count = RECORDINGS if setting.part == SPOILED and experiments == EXPERIMENTS else experiments
    seeds = [derived_seed(SEEDS[setting.part], k) for k in range(count)]
    if setting.part == SWARM:
        numbers = [_swarm(setting.method, seed) for seed in seeds]
    elif setting.part in TRACKS:
        numbers = [_recorded(setting, seed) for seed in seeds]
    else:
        (problem,) = [p for p in problems()[setting.part] if p.name == setting.problem]
        numbers = [_exact(problem, setting.method, seed) for seed in seeds]
    return {
        **{name: six_digits([row[name] for row in numbers]) for name in numbers[0]},
        "seeds": seeds,
        "cpu_seconds": round(time.process_time() - began, 1),
        "commit": _commit(),
    }


def _exact(problem: Problem | SmallSwarm, method: str, seed: int) -> dict[str, float]:
    if isinstance(problem, Problem):
        system: Any = problem.here.mdp
        expert = planned(system, problem.reward)
    else:
        system, expert = problem.here, problem.expert
    demo = problem.demo(derived_seed(seed, DEMO))
    if method in ("policy_matching", "bayesian"):  # these two need actions
        demo = swarmdp.rollout(
            system,
            expert,
            steps=demo.steps,
            runs=demo.runs,
            seed=derived_seed(seed, DEMO),
            record=["observations", "actions"],
            progress=False,
        )
    weights, _ = rewarded(method, system, demo, derived_seed(seed, FIT))
    constant = np.ptp(weights) < 1e-9
    correlation = 0.0 if constant else float(np.corrcoef(weights, problem.reward)[0, 1])
    return {
        "same": problem.share(weights, changed=False),
        "changed": problem.share(weights, changed=True),
        "correlation": correlation,
    }


def _recorded(setting: Setting, seed: int) -> dict[str, float]:
    # Seeds of recordings are those of NumPy as well, which takes smaller ones.
    number = seed % 2**31 if setting.part == RULES else None
    spoiled = setting.part != CLEAN
    swarm, decisions = tracks.recorded(derived_seed(seed, DEMO) % 2**31, spoiled, number)
    weights, result = rewarded(setting.method, swarm, decisions, derived_seed(seed, FIT))
    found = {"correlation": tracks.agreement(swarm, decisions, weights, number)}
    if setting.method == DEFAULT:
        found |= tracks.intervals(swarm, decisions, result, number)
    return found


def _swarm(method: str, seed: int) -> dict[str, float]:
    vicsek = swarmdp.Vicsek()
    half = dataclasses.replace(vicsek, radius=vicsek.radius / 2)
    demo = swarmdp.rollout(
        vicsek, vicsek.expert, steps=100, seed=derived_seed(seed, DEMO), progress=False
    )
    weights, _ = rewarded(method, vicsek, demo, derived_seed(seed, FIT))
    policy = swarmdp.replan(
        swarmdp.Reward(weights), half, seed=derived_seed(seed, PLAN), judge=False, progress=False
    ).policy
    record = {"order": half.order, "mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)}
    controllers: tuple[Controller, ...] = (policy, half.expert)
    looks = [
        swarmdp.rollout(
            half,
            controller,
            steps=_STEPS,
            runs=100,
            seed=derived_seed(seed, LOOK, k),
            record=record,
            progress=False,
        )
        for k, controller in enumerate(controllers)
    ]
    mus = [look["mu"].mean(axis=0).ravel() for look in looks]
    return {
        "distance": float(np.linalg.norm(mus[0] - mus[1])),
        "order": float(looks[0]["order"].mean(axis=0)[_AT]),
        "expert_order": float(looks[1]["order"].mean(axis=0)[_AT]),
    }


def _commit() -> str:
    """The commit of this checkout; empty where there is none."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def study(
    output: Path, experiments: int = EXPERIMENTS, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write the tables.

    Parameters
    ----------
    output
        The folder for `known-rewards.json` (the rows) and `known-rewards.md` (the tables).
    experiments
        The number of independent demos and fits of each row.
    only
        Just these parts, such as "development" or "run once".
    quick
        One experiment of the default and the histogram on two problems of each part.

    """
    selected = select(settings(), "part", only)
    if quick:
        first = {problem.name for several in problems().values() for problem in several[:2]}
        first |= {"vicsek", "known rule"}
        selected = [s for s in selected if s.problem in first and s.method in (DEFAULT, HISTOGRAM)]
        experiments = 1
    output.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(dataclasses.asdict(setting), partial(measured, setting, experiments))
        for setting in selected
    ]
    shared = conditions(quick=quick, experiments=experiments)
    rows = collect(output / ROWS, jobs, shared, line)
    files.write_text(output / "known-rewards.md", tables(rows))
    return rows


def line(row: Row) -> str:
    """One row in a line."""
    what = "same" if row["part"] in SHARES else "distance"
    what = what if what in row else "correlation"
    return f"{row['part']}, {row['problem']}, {row['method']}: {np.mean(row[what]):.2f}"


def tables(rows: Sequence[Row]) -> str:
    """All rows as Markdown."""
    parts = []
    for part in SHARES:
        here = [row for row in rows if row["part"] == part]
        if not here:
            continue
        lines = []
        for method in dict.fromkeys(row["method"] for row in here):
            of_method = [row for row in here if row["method"] == method]
            cells = [np.concatenate([row[n] for row in of_method]) for n in ("same", "changed")]
            worst = [min(float(np.mean(row[n])) for row in of_method) for n in ("same", "changed")]
            below = sum(_below(row, here) for row in of_method)
            correlation = np.mean([np.mean(row["correlation"]) for row in of_method])
            lines.append(
                [
                    method,
                    *(f"{c.mean():.3f}" for c in cells),
                    *(f"{w:.2f}" for w in worst),
                    f"{correlation:.2f}",
                    f"{below} of {2 * len(of_method)}",
                ]
            )
        head = [
            *("method", "same", "changed", "worst problem, same", "changed"),
            *("correlation", "clearly below the histogram"),
        ]
        parts.append(f"{part}\n\n{markdown(head, lines)}")
    swarms = [row for row in rows if row["part"] == SWARM]
    if swarms:
        lines = [
            [
                row["method"],
                *(f"{np.mean(row[n]):.2f} ({min(row[n]):.2f} to {max(row[n]):.2f})" for n in names),
            ]
            for row in swarms
            for names in [("distance", "order", "expert_order")]
        ]
        head = ["method", "distance", f"order at t = {_AT}", "expert's"]
        parts.append(f"{SWARM}\n\n{markdown(head, lines)}")
    for part in TRACKS:
        lines = [
            [
                row["method"],
                *(f"{np.median(found):.2f}", f"{min(found):.2f}", str(len(found))),
                *(f"{np.mean(row[n]):.0%}" if n in row else "" for n in ("covered", "identified")),
            ]
            for row in rows
            if row["part"] == part
            for found in [row["correlation"]]
        ]
        if lines:
            head = ["method", "correlation, median", "worst", "recordings"]
            head += ["95 % intervals hold the truth", "differences identified"]
            parts.append(f"{part}\n\n{markdown(head, lines)}")
    return "\n\n".join(parts) + "\n"


def _below(row: Row, others: Sequence[Row]) -> int:
    """In how many of both dynamics a method is below the histogram by two standard errors."""
    (plain,) = [
        other
        for other in others
        if other["problem"] == row["problem"] and other["method"] == HISTOGRAM
    ]
    count = 0
    for name in ("same", "changed"):
        gap = np.asarray(plain[name]) - np.asarray(row[name])
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else 0.0
        count += int(gap.mean() > max(2 * error, 1e-3))
    return count


if __name__ == "__main__":
    command.main(
        study,
        "known_rewards",
        "What learned rewards are worth where the true one is known (about forty minutes).",
        experiments=EXPERIMENTS,
        only=f"parts: {', '.join(SEEDS)}",
    )
