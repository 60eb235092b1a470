"""What verdicts see, when they raise an alarm, and whether their advice helps.

Nothing was chosen on these settings and seeds. Each part has the plainest alternative beside it:
verdicts of whole runs alone, as they were before stretches of the demo were compared.
"""

import itertools
import math
import subprocess
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies import command
from studies.battery.development import Convoy
from studies.rows import Job, Row, collect, conditions, markdown, select
from studies.verdict_advice import ADVICE, follow_advice
from studies.verdict_advice_once import CASES as ADVISED
from studies.verdict_advice_once import follow_once, table_of_advice
from studies.verdict_cases import cases, judge_of, verdicts
from studies.verdict_fits import (
    BATCH,
    CELL,
    EXAMPLES,
    batches,
    first_examples,
    fit_each,
    grid,
)
from studies.verdict_fits import FITS as MANY
from studies.verdict_swarms import ALTERATIONS, Lamps, Rota, altered_demo
from swarmdp.judging.judge import Judge
from swarmdp.model.streams import derived_seed
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Controller
from swarmdp.policies.replicas import as_policy
from swarmdp.support import files

ROWS = "verdicts.json"
SEED = 29_110_000
COUNT = 20  # demos of each row
DIRECTIONS, SMALL, EXPERTS, FITS, GRID, EXAMPLE, FOLLOWED, ADVICE_ONCE, CASES = (
    "directions",
    "small differences",
    "experts",
    "default fits",
    "grid",
    "first example",
    "advice",
    "advice, run once",
    "cases",
)
DEGREE = math.radians(1)


@dataclass(frozen=True)
class Setting:
    """One row."""

    part: str
    name: str
    demos: int = 1  # runs of the demo


def swarms() -> dict[str, tuple[Any, int]]:
    """Ten swarms that were never used before, with the steps of their demos."""
    vicsek = swarmdp.Vicsek
    return {
        "Vicsek, 30 agents, radius 0.15, noise 25": (
            vicsek(n_agents=30, radius=0.15, noise=25 * DEGREE),
            80,
        ),
        "Vicsek, 80 agents, radius 0.07, noise 8, speed 0.04": (
            vicsek(n_agents=80, radius=0.07, noise=8 * DEGREE, speed=0.04),
            120,
        ),
        "Vicsek, 120 agents, radius 0.12, noise 15, speed 0.06": (
            vicsek(n_agents=120, radius=0.12, noise=15 * DEGREE, speed=0.06),
            100,
        ),
        "Vicsek, 250 agents, radius 0.06, noise 30": (
            vicsek(n_agents=250, radius=0.06, noise=30 * DEGREE),
            60,
        ),
        "Vicsek, 60 agents, 5 nearest, noise 12": (
            vicsek(n_agents=60, nearest=5, noise=12 * DEGREE),
            100,
        ),
        "Ising, 32 x 32, reach 1, open": (
            swarmdp.Ising(shape=(32, 32), reach=1, periodic=False),
            40,
        ),
        "Ising, 24 x 60, reach 3": (swarmdp.Ising(shape=(24, 60), reach=3), 40),
        "Convoy, 14 vehicles, noise 0.004": (Convoy(n_agents=14, noise=0.004), 90),
        "Rota, 36 workers": (Rota(), 80),
        "Lamps, 30 agents": (Lamps(), 60),
    }


def backwards() -> dict[str, tuple[Any, Controller, int]]:
    """Swarms with a policy that shows the same observations and goes the other way."""
    convoy, rota, lamps = Convoy(n_agents=14, noise=0.004), Rota(), Lamps()
    return {
        "Convoy that marches backwards": (convoy, lambda o: -convoy.expert(o[..., ::-1]), 90),
        "Workers that go round in reverse": (rota, lambda o: -rota.expert(o), 80),
        "Swarm at the wrong lamp": (lamps, lambda o: -lamps.expert(o), 60),
    }


ALTERED = {
    "100 agents, radius 0.13, noise 12, speed 0.07": swarmdp.Vicsek(
        n_agents=100, radius=0.13, noise=12 * DEGREE, speed=0.07
    ),
    "220 agents, radius 0.08, noise 18": swarmdp.Vicsek(
        n_agents=220, radius=0.08, noise=18 * DEGREE
    ),
}


def settings() -> list[Setting]:
    """All rows."""
    small = [
        Setting(SMALL, f"{name}: {alteration}", runs)
        for name, alteration, runs in itertools.product(ALTERED, ALTERATIONS, (1, 3, 10))
    ]
    fits = [
        *(Setting(FITS, f"the paper's Vicsek swarm, demos {name}") for name in batches(MANY)),
        *(Setting(GRID, name) for name in grid()),
        *(Setting(EXAMPLE, name) for name in batches(EXAMPLES)),
    ]
    random_order = np.random.default_rng(SEED).permutation(len(fits))
    return [
        *(Setting(DIRECTIONS, name) for name in backwards()),
        *(Setting(EXPERTS, name) for name in swarms()),
        *small,
        *(fits[k] for k in random_order),
        *(Setting(FOLLOWED, name) for name in ADVICE),
        *(Setting(ADVICE_ONCE, name) for name in ADVISED),
        *(Setting(CASES, case.name) for case in cases(small=False)),
    ]


def study(
    output: Path, *, experiments: int = COUNT, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows, and write them with their tables into a folder.

    Parameters
    ----------
    output
        The folder.
    experiments
        Demos of each row; twice as many of experts, at most ten default fits.
    only
        The parts to measure; all by default.
    quick
        Two demos for each row.

    """
    output.mkdir(parents=True, exist_ok=True)
    count = 2 if quick else experiments
    jobs = [
        Job(asdict(setting), lambda s=setting: measure(s, count))  # type: ignore[misc]
        for setting in select(settings(), "part", only)
    ]
    shared = conditions(quick=quick, experiments=experiments, seed=SEED)
    rows = collect(output / ROWS, jobs, shared, line)
    files.write_text(output / "verdicts.md", tables(rows))
    return rows


def measure(setting: Setting, count: int) -> Row:
    """The numbers of one row."""
    seed = derived_seed(SEED, *(ord(letter) for letter in repr(setting)))
    measures: dict[str, Callable[[Setting, int, int], Row]] = {
        DIRECTIONS: _directions,
        SMALL: _small,
        EXPERTS: _experts,
        FITS: _fits,
        GRID: _grid,
        EXAMPLE: _examples,
        FOLLOWED: lambda s, n, seed: follow_advice(s.name, max(2, n // 4), seed),
        ADVICE_ONCE: lambda s, n, seed: follow_once(s.name, max(2, 3 * n // 10), seed),
        CASES: _cases,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        row = measures[setting.part](setting, count, seed)
    return {**row, "commit": _commit()}


def _directions(setting: Setting, count: int, seed: int) -> Row:
    """Alarms about a swarm that goes the other way; and of fits that went it."""
    system, other, steps = backwards()[setting.name]
    alarms, expected, wrong, told = 0, 0, 0, 0
    for k in range(count):
        demo = swarmdp.rollout(
            system, system.expert, steps=steps, seed=derived_seed(seed, k), progress=False
        )
        judge = judge_of(system, demo, derived_seed(seed, k, 1))
        alarms += _verdict(judge, other).alarm
        expected += _verdict(judge, system.expert).alarm
        if k < max(1, count // 4):
            result = swarmdp.fit(
                system, demo, seed=k, policy_search=False, progress=False, threads=1
            )
            learned = swarmdp.rollout(
                system, result.policy, steps=steps, seed=derived_seed(seed, k, 2), progress=False
            )
            goes_back = _advance(system, learned) * _advance(system, demo) < 0
            wrong += goes_back
            told += goes_back and result.verdicts[0].alarm
    return {
        "judged": count,
        "alarms": alarms,
        "alarms_about_the_expert": expected,
        "fits": max(1, count // 4),
        "fits_the_other_way": int(wrong),
        "of_these_alarms": int(told),
    }


def _advance(system: Any, runs: swarmdp.Trajectory) -> float:
    """Which way a swarm went, by the sign."""
    if isinstance(system, Lamps):
        return float(runs["place"][:, -1].mean() - 0.5)
    name, period = ("task", 4.0) if isinstance(system, Rota) else ("position", 1.0)
    step = np.diff(runs[name].astype(np.float64), axis=1)
    return float((step - period * np.round(step / period)).mean())


def _small(setting: Setting, count: int, seed: int) -> Row:
    """How often a small difference is noticed, with stretches and by whole runs alone."""
    name, alteration = setting.name.split(": ")
    vicsek = ALTERED[name]
    noticed, whole = 0, 0
    for k in range(count):
        demo = altered_demo(
            vicsek, alteration, steps=100, runs=setting.demos, seed=derived_seed(seed, k)
        )
        judge = judge_of(vicsek, demo, derived_seed(seed, k, 1))
        noticed += _verdict(judge, vicsek.expert).p <= 0.05
        alone = judge_of(vicsek, demo, derived_seed(seed, k, 1), stretches=False)
        whole += _verdict(alone, vicsek.expert).p <= 0.05
    return {"judged": count, "noticed": noticed, "by_whole_runs": whole}


def _experts(setting: Setting, count: int, seed: int) -> Row:
    """Alarms about experts, with stretches and by whole runs alone."""
    system, steps = swarms()[setting.name]
    alarms, told, whole = 0, 0, 0
    for k in range(2 * count):
        demo = swarmdp.rollout(
            system, system.expert, steps=steps, seed=derived_seed(seed, k), progress=False
        )
        judge = judge_of(system, demo, derived_seed(seed, k, 1))
        verdict = _verdict(judge, system.expert)
        alarms += verdict.alarm
        told += verdict.p <= 0.05
        alone = judge_of(system, demo, derived_seed(seed, k, 1), stretches=False)
        whole += _verdict(alone, system.expert).alarm
    return {"judged": 2 * count, "alarms": alarms, "told_apart": told, "by_whole_runs": whole}


def _fits(setting: Setting, count: int, seed: int) -> Row:
    """Default fits of the paper's swarm, each to one demo of its own."""
    return fit_each(swarmdp.Vicsek(), min(BATCH, count), seed)


def _grid(setting: Setting, count: int, seed: int) -> Row:
    """The same in a cell of the grid."""
    return fit_each(grid()[setting.name], min(CELL, count), seed)


def _examples(setting: Setting, count: int, seed: int) -> Row:
    """README's first example with other seeds."""
    return first_examples(setting.name, min(BATCH, count), seed)


def _cases(setting: Setting, count: int, seed: int) -> Row:
    case = next(case for case in cases(small=False) if case.name == setting.name)
    starts, demos = (count, 1) if "Ising" in case.name else (max(1, count // 2), 2)
    found = list(verdicts(case, starts=starts, demos=demos, seed=seed))
    return {
        "judged": len(found),
        "wrong": case.wrong,
        "alarms": sum(verdict.alarm for verdict in found),
        "told_apart": sum(verdict.p <= 0.05 for verdict in found),
    }


def _verdict(judge: Judge, policy: Controller) -> Verdict:
    return judge.verdict(as_policy(policy), by_features=False, progress=False)


def _commit() -> str:
    """The commit that measured a row."""
    found = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


def line(row: Row) -> str:
    """A row in one line."""
    told = {k: v for k, v in row.items() if k not in asdict(Setting("", "")) and k != "words"}
    for shared in ("quick", "version", "experiments", "seed", "commit"):
        told.pop(shared, None)
    return f"{row['part']}, {row['name']}, {row['demos']}: {told}"


def tables(rows: Sequence[Row]) -> str:
    """The tables of docs/verdicts.md."""
    by_part: dict[str, list[Row]] = {}
    for row in rows:
        by_part.setdefault(row["part"], []).append(row)
    shown = {
        DIRECTIONS: _table_of_directions,
        SMALL: _table_of_small,
        EXPERTS: _table_of_experts,
        FITS: _table_of_fits,
        GRID: _table_of_fits,
        EXAMPLE: _table_of_fits,
        FOLLOWED: _table_of_advice,
        ADVICE_ONCE: table_of_advice,
        CASES: _table_of_cases,
    }
    return "\n".join(
        f"## {part[0].upper()}{part[1:]}\n\n{table(by_part[part])}"
        for part, table in shown.items()
        if part in by_part
    )


def _table_of_directions(rows: Sequence[Row]) -> str:
    head = ("swarm", "alarms", "about the expert", "fits the other way, with an alarm")
    return markdown(
        head,
        [
            (
                row["name"],
                f"{row['alarms']} of {row['judged']}",
                f"{row['alarms_about_the_expert']} of {row['judged']}",
                f"{row['fits_the_other_way']} of {row['fits']}, {row['of_these_alarms']}",
            )
            for row in rows
        ],
    )


def _table_of_small(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(row["name"] for row in rows))
    counts = sorted({row["demos"] for row in rows})
    cells = []
    for name in names:
        of = {row["demos"]: row for row in rows if row["name"] == name}
        cells.append(
            (
                name,
                *(
                    f"{of[k]['noticed']} ({of[k]['by_whole_runs']}) of {of[k]['judged']}"
                    if k in of
                    else ""
                    for k in counts
                ),
            )
        )
    return markdown(("swarm and difference", *(f"{k} demos" for k in counts)), cells)


def _table_of_experts(rows: Sequence[Row]) -> str:
    total = {
        name: sum(row[name] for row in rows)
        for name in ("alarms", "told_apart", "by_whole_runs", "judged")
    }
    return markdown(
        ("expert", "alarms", "told apart", "alarms of whole runs alone"),
        [
            (
                row["name"],
                f"{row['alarms']} of {row['judged']}",
                row["told_apart"],
                row["by_whole_runs"],
            )
            for row in [*rows, {"name": "all", **total}]
        ],
    )


def _table_of_fits(rows: Sequence[Row]) -> str:
    alarms = [alarm for row in rows for alarm in row["alarms"]]
    words = [text for row in rows for text in row["words"]]
    kinds = {
        kind: [alarm and text.startswith(kind) for alarm, text in zip(alarms, words, strict=True)]
        for kind in ("does not reproduce", "too little data", "the features do not")
    }
    off = [o for row in rows for o in row["off"]]
    away = [gap for row in rows for gap in row["away"]]
    cells = []
    groups = {
        "right": [not o for o in off],
        "off by more than two standard errors": off,
        "missed": [m for row in rows for m in row["missed"]],
    }
    for name, group in groups.items():
        chosen = [k for k, inside in enumerate(group) if inside]
        gaps = [away[k] for k in chosen]
        cells.append(
            (
                name,
                len(chosen),
                f"{np.median(gaps):.3f} / {max(gaps):.3f}" if gaps else "",
                sum(alarms[k] for k in chosen),
                *(sum(flags[k] for k in chosen) for flags in kinds.values()),
            )
        )
    head = ("fits", "number", "order off by, median / most", "alarms", *kinds)
    return markdown(head, cells)


def _table_of_advice(rows: Sequence[Row]) -> str:
    return markdown(
        ("advice", "case", "given", "turned the verdict", "given where it does not apply"),
        [
            (
                ADVICE[row["name"]].words,
                row["name"],
                f"{row['given']} of {row['tried']}",
                f"{row['turned']} of {row['given']}",
                f"{row['given_elsewhere']} of {row['elsewhere']}",
            )
            for row in rows
            if row["name"] in ADVICE
        ],
    )


def _table_of_cases(rows: Sequence[Row]) -> str:
    return markdown(
        ("judged", "should alarm", "alarms", "told apart"),
        [
            (
                row["name"],
                "yes" if row["wrong"] else "no",
                f"{row['alarms']} of {row['judged']}",
                row["told_apart"],
            )
            for row in rows
        ],
    )


if __name__ == "__main__":
    command.main(
        study,
        "verdicts",
        "What do verdicts see, when do they raise an alarm, does their advice help? Three hours.",
        experiments=COUNT,
        only="parts: directions, 'small differences', experts, 'default fits', grid, "
        "'first example', advice, 'advice, run once', cases",
    )
