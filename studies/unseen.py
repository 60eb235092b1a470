"""Whether fits are right on swarms that the learner was not made on, and know when they are not.

The cases of `studies.battery`: those with which the learner was developed, and those that were
written last and run once. Each has scores of its own that say what is right. A row is one method on
one case: how many of its fits are right, and how many raise an alarm.
"""

import subprocess
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies import command
from studies.battery import development, final
from studies.battery.case import Case
from studies.rows import Job, Row, collect, conditions, select
from swarmdp.irl.inference import explain
from swarmdp.irl.matching import table_of
from swarmdp.judging.baselines import random_policies
from swarmdp.model.streams import derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.traits import null_action
from swarmdp.policies import LocalPolicy
from swarmdp.support import files

ROWS = "unseen.json"
DEVELOPMENT, FINAL = "development", "run once"
SEEDS = {DEVELOPMENT: 930_000, FINAL: 950_000}
DEMO, FIT, JUDGE = 1, 2, 3  # parts of a fit with random numbers of their own
EXPERIMENTS = 5
DEFAULT = "default"


@dataclass(frozen=True)
class Outcome:
    """What a method found in one experiment."""

    policy: LocalPolicy
    alarm: bool | None  # None where the method does not judge itself
    learner: str
    words: str = ""
    advice: str = ""
    gain: float = float("nan")  # of one agent that deviates, as a share of the range of values


Method = Callable[[Case, swarmdp.Trajectory, int], Outcome]


def fitted(**options: Any) -> Method:
    """A fit with these options."""

    def method(case: Case, demo: swarmdp.Trajectory, seed: int) -> Outcome:
        result = swarmdp.fit(case.system, demo, seed=seed, progress=False, **options)
        verdict, gap = result.verdict, result.equilibrium_gap
        assert verdict is not None
        return Outcome(
            result.policy,
            verdict.alarm,
            result.learners[0],
            verdict.words,
            "; ".join((*verdict.advice, *verdict.notes)),
            float("nan") if gap is None else float(gap.share[0]),
        )

    return method


def searched(case: Case, demo: swarmdp.Trajectory, seed: int) -> Outcome:
    """Policy search alone, from nothing."""
    outcome = swarmdp.fitting.nearest_policy(case.system, demo, seed=seed, progress=False)
    return Outcome(outcome.policy, None, "policy search")


def cloned(case: Case, demo: swarmdp.Trajectory, seed: int) -> Outcome:
    """The likeliest action in each observation, as the system's law explains the demo."""
    nothing = swarmdp.Policy(
        np.full(case.system.features.size, null_action(case.system))  # type: ignore[attr-defined]
    )
    symmetry = Symmetry.of(case.system)
    decisions = explain(case.system, demo, symmetry=symmetry, seed=seed)
    assert decisions is not None
    visited = (decisions.support != 0).any(axis=1)
    return Outcome(table_of(case.system, decisions.support, visited, nothing), None, "clone")


def drawn(case: Case, demo: swarmdp.Trajectory, seed: int) -> Outcome:
    """A random table."""
    (policy,) = random_policies(case.system, 1, np.random.default_rng(seed))
    return Outcome(policy, None, "random")


METHODS: dict[str, Method] = {
    DEFAULT: fitted(),
    'actions="ignore"': fitted(actions="ignore"),
    "Algorithm 2 alone": fitted(policy_search=False),
    "policy search alone": searched,
    "clone of explained actions alone": cloned,
    "random table": drawn,
}


@dataclass(frozen=True)
class Setting:
    """One row: a method on a case."""

    part: str  # DEVELOPMENT or FINAL
    case: str
    method: str


def cases() -> dict[str, list[Case]]:
    """All cases, by part."""
    return {DEVELOPMENT: development.cases(), FINAL: final.cases()}


def settings() -> list[Setting]:
    """All rows."""
    return [
        Setting(part, case.name, method)
        for part, some in cases().items()
        for method in METHODS
        for case in some
    ]


def study(
    output: Path, *, experiments: int = EXPERIMENTS, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows, and write them with their tables into a folder.

    Parameters
    ----------
    output
        The folder.
    experiments
        The number of fits of each row, each from a demo of its own.
    only
        The parts to measure; all by default.
    quick
        One fit of each row.

    """
    output.mkdir(parents=True, exist_ok=True)
    experiments = 1 if quick else experiments
    by_name = {(part, case.name): case for part, some in cases().items() for case in some}
    jobs = [
        Job(vars(s), lambda s=s: measured(s, by_name[s.part, s.case], experiments))  # type: ignore[misc]
        for s in select(settings(), "part", only)
    ]
    shared = conditions(quick=quick, experiments=experiments)
    rows = collect(output / ROWS, jobs, shared, line)
    files.write_text(output / "unseen.md", tables(rows))
    return rows


def measured(setting: Setting, case: Case, experiments: int) -> Row:
    """The fits of one method on one case."""
    method = METHODS[setting.method]
    fits = []
    for e in range(experiments):
        # Demos and fits do not depend on the method, so that methods can be compared.
        seeds = [derived_seed(SEEDS[setting.part], part, e) % 2**32 for part in (DEMO, FIT, JUDGE)]
        demo = case.demo(seeds[0])
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
            outcome = method(case, demo, seeds[1])
        seconds = time.process_time() - began
        scores = case.judge(outcome.policy, seeds[2])
        fits.append(
            {
                "right": all(score["off"] <= 1 for score in scores.values()),
                "off": {name: round(score["off"], 2) for name, score in scores.items()},
                "alarm": outcome.alarm,
                "learner": outcome.learner,
                "words": outcome.words,
                "advice": outcome.advice,
                "gain": None if np.isnan(outcome.gain) else round(outcome.gain, 4),
                "seconds": round(seconds, 1),
            }
        )
    return {
        "kind": case.kind,
        "learnable": case.learnable,
        "reason": case.reason,
        "commit": _commit(),
        "fits": fits,
    }


def _commit() -> str:
    """The commit of this checkout; empty where there is none."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def line(row: Row) -> str:
    """A row in one line."""
    fits = row["fits"]
    right = sum(fit["right"] for fit in fits)
    alarms = sum(bool(fit["alarm"]) for fit in fits)
    seconds = np.mean([fit["seconds"] for fit in fits])
    return (
        f"{row['part']}, {row['case']}, {row['method']}: {right} of {len(fits)} right, {alarms} "
        f"alarms, {seconds:.1f} s"
    )


def tables(rows: Sequence[Row]) -> str:
    """What was measured, as tables in Markdown."""
    parts = []
    for part in (DEVELOPMENT, FINAL):
        some = [row for row in rows if row["part"] == part]
        if some:
            parts += [f"## {part.capitalize()}", "", *_summary(some), "", *_by_case(some), ""]
    return "\n".join(parts) + "\n"


def _summary(rows: Sequence[Row]) -> list[str]:
    head = (
        "| method | right and confirmed | right but alarmed | wrong and alarmed | "
        "wrong and silent | not learnable: alarmed | s, median / most |"
    )
    out = [head, "| --- | --- | --- | --- | --- | --- | --- |"]
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        if not own:
            continue
        learnable = [fit for row in own if row["learnable"] for fit in row["fits"]]
        others = [fit for row in own if not row["learnable"] for fit in row["fits"]]
        judged = learnable[0]["alarm"] is not None

        def share(right: bool, alarm: bool, fits: list[Row] = learnable) -> str:
            count = sum(fit["right"] is right and bool(fit["alarm"]) is alarm for fit in fits)
            return f"{count} of {len(fits)}"

        alarmed = f"{sum(bool(fit['alarm']) for fit in others)} of {len(others)}"
        seconds = [fit["seconds"] for row in own for fit in row["fits"]]
        cells = [
            method,
            share(True, False),
            share(True, True) if judged else "-",
            share(False, True) if judged else "-",
            share(False, False),
            alarmed if judged else "-",
            f"{np.median(seconds):.1f} / {max(seconds):.1f}",
        ]
        out.append("| " + " | ".join(cells) + " |")
    return out


def _by_case(rows: Sequence[Row]) -> list[str]:
    out = [
        "| case | kind | default: right / alarms | found by | "
        + " | ".join(f"{method}: right" for method in METHODS if method != DEFAULT)
        + " |",
        "| --- " * (4 + len(METHODS) - 1) + "|",
    ]
    for case in dict.fromkeys(row["case"] for row in rows):
        own = {row["method"]: row for row in rows if row["case"] == case}
        row = own.get(DEFAULT)
        if row is None:
            continue
        fits = row["fits"]
        names, counts = np.unique([fit["learner"] for fit in fits], return_counts=True)
        found_by = ", ".join(f"{n} x {name}" for name, n in zip(names, counts, strict=True))
        kind = row["kind"] if row["learnable"] else f"{row['kind']} (cannot: {row['reason']})"
        cells = [
            case,
            kind,
            f"{_right(row)} / {sum(bool(fit['alarm']) for fit in fits)}",
            found_by,
            *(_right(own[m]) if m in own else "" for m in METHODS if m != DEFAULT),
        ]
        out.append("| " + " | ".join(cells) + " |")
    return out


def _right(row: Row) -> str:
    return f"{sum(fit['right'] for fit in row['fits'])} of {len(row['fits'])}"


if __name__ == "__main__":
    command.main(
        study,
        "unseen",
        "Fits on swarms of many kinds, those that were written last among them (an hour).",
        experiments=EXPERIMENTS,
        only=f"{DEVELOPMENT}, {FINAL}",
    )
