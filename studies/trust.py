"""Whether the default fit is right, and knows when it is not.

Experiments of the paper's swarms, each from one trajectory of its own; then grids of other swarms;
then whether a forest can tell learned swarms from the expert's. Nothing was chosen on these seeds.
A miss is a fit whose swarm does not do what it should: in the last step its order parameter is not
within 0.03 (and two standard errors) of the expert's or of the rounded expert's, or its energy is
off by more than a tenth. A miss is silent if the verdict does not say so.
"""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from studies.verdict_cases import rounded_table as rounded_expert
from swarmdp.judging.stage import DemoStage
from swarmdp.judging.statistics import SwarmLook, join_looks
from swarmdp.learning.heterogeneous import default_learning
from swarmdp.model.streams import derived_seed
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import as_policy, select_replicas, table_of
from swarmdp.support import files

ROWS = "trust.json"
SEED = 880_000
DEMO, FIT, EXPERT = 1, 2, 4  # parts of a row with random numbers of their own
STEPS = 100
ORDER_TIMES, ENERGY_TIMES = (5, 10, 20, 50, 100), (5, 20, 60)
EXPERIMENTS = 100  # of the paper's swarms
CELL = 4  # fits in each cell of a grid
NEAR, CLOSE = 0.03, 0.1  # how far order and energy of a cell may be off, beyond two errors
FLOCK, GRID, APART, LOOP = "flock", "grid", "apart", "loop"
REPEATED = "the first reward repeated"
LOOPS = 30  # experiments with and without the loop of Algorithm 1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """One row: which swarm, with which discount; or which swarm is told from the expert's."""

    part: str  # FLOCK, GRID, APART or LOOP
    system: str
    changes: tuple[tuple[str, Any], ...] = ()
    discount: float | Literal["auto"] = 0.9
    judged: str = "learned"  # of APART: who moves the swarm; of LOOP: the reward update
    start: Literal["expert", "random"] = "expert"  # of LOOP: the first reward


def settings() -> list[Setting]:
    """All rows."""
    discounts: tuple[float | Literal["auto"], ...] = (0.9, "auto")
    vicsek = [
        Setting(
            GRID,
            "Vicsek",
            (("n_agents", n), ("radius", radius), ("noise", degrees), ("speed", speed)),
            discount,
        )
        for n, radius, degrees, speed, discount in itertools.product(
            (50, 200, 500), (0.05, 0.1, 0.2), (5, 20, 40), (0.03, 0.1), discounts
        )
    ]
    ising = [
        Setting(GRID, "Ising", (("shape", (40, 40)), ("reach", reach), ("periodic", periodic)))
        for reach, periodic in itertools.product((1, 2, 3), (True, False))
    ]
    apart = [Setting(APART, "Vicsek", judged=judged) for judged in ("expert", "rounded", "learned")]
    fine = [
        Setting(APART, "Vicsek", (("n_bins", bins), ("turns", turns)), judged=judged)
        for bins, turns in ((72, 10), (72, 5))
        for judged in ("rounded", "interpolated")
    ]
    starts: tuple[Literal["expert", "random"], ...] = ("expert", "random")
    loop = [
        Setting(LOOP, "Vicsek", changes, judged=judged, start=start)
        for changes in ((), (("n_agents", 50), ("radius", 0.05)), (("noise", 40),))
        for start in starts
        for judged in ("max_margin", REPEATED)
    ]
    flocks = [Setting(FLOCK, "Vicsek"), Setting(FLOCK, "Ising")]
    return [*flocks, *vicsek, *ising, *apart, *fine, *loop]


def system_of(setting: Setting, quick: bool) -> Any:
    """The swarm of a row; noise and turns are in degrees."""
    changes = dict(setting.changes)
    if setting.system == "Ising":
        return swarmdp.Ising(**{**changes, **({"shape": (40, 40)} if quick else {})})
    if "noise" in changes:
        changes["noise"] = math.radians(changes["noise"])
    if "turns" in changes:
        step = changes["turns"]
        changes["turns"] = tuple(math.radians(t) for t in range(-180 + step, 180, step))
    if quick:
        changes["n_agents"] = 30
    return swarmdp.Vicsek(**changes)


def study(
    output: Path,
    *,
    experiments: int = EXPERIMENTS,
    only: Sequence[str] = (),
    quick: bool = False,
) -> list[Row]:
    """Measure all rows, and write them with their tables into a folder.

    Parameters
    ----------
    output
        The folder.
    experiments
        The number of fits of the paper's swarms.
    only
        The parts to measure; all by default.
    quick
        Small swarms, few fits.

    """
    output.mkdir(parents=True, exist_ok=True)
    jobs = [
        Job(asdict(setting), lambda s=setting: measure_setting(s, experiments, quick))  # type: ignore[misc]
        for setting in select(settings(), "part", only)
    ]
    shared = conditions(quick=quick, experiments=experiments, seed=SEED)
    rows = collect(output / ROWS, jobs, shared, line)
    files.write_text(output / "trust.md", tables(rows))
    return rows


def measure_setting(setting: Setting, experiments: int, quick: bool) -> Row:
    """The numbers of one row."""
    seed = derived_seed(SEED, *(ord(letter) for letter in repr(setting)))
    system = system_of(setting, quick)
    if setting.part == LOOP:
        return measure_loop(setting, system, quick)
    if setting.part == APART:
        return {
            "auc": auc_against_expert(system, setting.judged, 20 if quick else 200, seed, quick)
        }
    fits = (2 if quick else experiments) if setting.part == FLOCK else CELL
    few: dict[str, Any] = {}
    if quick:
        few = {
            "iterations": 2,
            "learner": swarmdp.learning.HeterogeneousLearning(steps=20, swarms=1),
        }
    demo = swarmdp.rollout(
        system, system.expert, steps=STEPS, runs=fits, seed=derived_seed(seed, DEMO)
    )
    begin = time.process_time()
    fit = swarmdp.fitting.Fit.of(
        system,
        demo,
        seed=derived_seed(seed, FIT),
        separate=True,
        discount=setting.discount,
        threads=1,
        **few,
    )
    result = fit.result(list(fit.iterate()))
    seconds = (time.process_time() - begin) / fits
    result = fit.judged(result, progress=False)
    judged = (time.process_time() - begin) / fits
    row: Row = {
        "seconds": float(f"{seconds:.3g}"),
        "judged_seconds": float(f"{judged:.3g}"),
        "learners": list(result.learners),
        "used_discount": result.settings["discount"],
        "below": result.below.sum(axis=0).tolist(),
        "never_improved": result.never_improved.sum(axis=0).tolist(),
        "alarms": [verdict.alarm for verdict in result.verdicts],
        "words": [verdict.words for verdict in result.verdicts],
    }
    if setting.system == "Ising":
        return {**row, **_ising(system, result, seed, quick)}
    return {**row, **measure_vicsek(system, result, seed, quick)}


def _ising(system: swarmdp.Ising, result: swarmdp.Result, seed: int, quick: bool) -> Row:
    # One grid ends very differently from another; small ones are quickly tried.
    runs, fits = (10 if quick else 20 if system.n_agents > 5000 else 400), result.experiments

    def energies(policy: Controller, count: int) -> Floats:
        recorded = swarmdp.rollout(
            system,
            policy,
            steps=max(ENERGY_TIMES),
            runs=count,
            seed=derived_seed(seed, EXPERT),
            record="energy",
        )["energy"]
        return np.asarray(recorded[:, list(ENERGY_TIMES)], np.float64)

    # From the same starts: energies of one grid differ so much that 20 others tell little.
    expert = energies(system.expert, runs * fits)
    gap = (energies(result.policy, runs * fits) - expert).reshape(runs, fits, -1)
    ratio = 1 + gap.mean(axis=0) / expert.mean(axis=0)
    error = gap.std(axis=0, ddof=1) / np.sqrt(runs) / expert.mean(axis=0)
    levels = np.arange(system.features.size, dtype=np.uint32)
    same = (table_of(result.policy) == system.expert(levels)) | (result.expert_mu == 0)
    off = np.abs(ratio[:, -1] - 1) > CLOSE + 2 * error[:, -1]
    return {
        "ratio": [six_digits(series) for series in ratio],
        "ratio_error": six_digits(error[:, -1]),
        "same_table": same.all(axis=1).tolist(),
        "missed": off.tolist(),
    }


def measure_vicsek(system: swarmdp.Vicsek, result: swarmdp.Result, seed: int, quick: bool) -> Row:
    """How the learned swarms order themselves, beside the expert's and the rounded expert's."""
    runs, fits, times = (4 if quick else 40), result.experiments, list(ORDER_TIMES)
    record = {
        "order": system.order,
        "mu": swarmdp.simulation.DiscountedFeatures(result.settings["discount"]),
    }

    def moved(policy: Controller, count: int, part: int) -> swarmdp.Trajectory:
        return swarmdp.rollout(
            system,
            policy,
            steps=STEPS,
            runs=count,
            seed=derived_seed(seed, EXPERT, part),
            record=record,
        )

    table = swarmdp.Policy(rounded_expert(system, system.expert))
    # In the first steps runs differ so much that 400 of them leave an error of 0.01 in the mean.
    experts = 10 * runs * max(1, fits // 8)
    expert, near = moved(system.expert, experts, 0), moved(table, 10 * runs, 1)
    learned = moved(result.policy, runs * fits, 2)
    order = learned["order"].reshape(runs, fits, -1).mean(axis=0)[:, times]
    mu = learned["mu"].reshape(runs, fits, -1)
    distance = np.linalg.norm(mu.mean(axis=0) - expert["mu"].mean(axis=0), axis=1)
    aim = near["order"].mean(axis=0)[times]
    last = learned["order"].reshape(runs, fits, -1)[:, :, -1]
    both = sorted((aim[-1], expert["order"].mean(axis=0)[-1]))
    error = np.hypot(
        last.std(axis=0, ddof=1) / np.sqrt(runs), near["order"][:, -1].std() / np.sqrt(10 * runs)
    )
    away = np.maximum(both[0] - last.mean(axis=0), last.mean(axis=0) - both[1])
    return {
        "expert_order": six_digits(expert["order"].mean(axis=0)[times]),
        "rounded_order": six_digits(aim),
        "order": [six_digits(series) for series in order],
        "true_distance": six_digits(distance),
        "turns": six_digits(_turning(system, result.policy, fits, seed)),
        "order_error": six_digits(error),
        "missed": (away > NEAR + 2 * error).tolist(),
    }


def _turning(system: swarmdp.Vicsek, policy: LocalPolicy, fits: int, seed: int) -> Floats:
    """By how many degrees a step the mean heading turns in the second half (fits,)."""
    flown = swarmdp.rollout(
        system, policy, steps=STEPS, runs=fits, seed=derived_seed(seed, EXPERT, 3)
    )
    mean = np.angle(np.exp(1j * flown["heading"][:, STEPS // 2 :]).mean(axis=2))
    turns = np.remainder(np.diff(mean, axis=1) + np.pi, 2 * np.pi) - np.pi
    turn: Floats = np.abs(np.degrees(turns.mean(axis=1)))
    return turn


def auc_against_expert(
    system: swarmdp.Vicsek, judged: str, runs: int, seed: int, quick: bool
) -> Row:
    """The AUC of a forest that tells swarms from the expert's.

    By all statistics, by those of the second half, and by those of them that are about the swarm
    as a whole: its order, its neighbours and clusters.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import cross_val_score

    policies: list[Controller] = [system.expert]
    if judged == "rounded":
        policies = [swarmdp.Policy(rounded_expert(system, system.expert))]
    if judged in ("learned", "interpolated"):
        policies = _learn(system, judged == "interpolated", seed, quick)
    demo = swarmdp.rollout(system, system.expert, steps=STEPS, seed=derived_seed(seed, DEMO, 9))
    stage = replace(DemoStage.of(system, demo, 0.9))
    record = stage.comparable.record

    def looks(policy: Controller, count: int, part: int) -> SwarmLook:
        from swarmdp.judging.statistics import look_at_runs

        flown = swarmdp.rollout(
            system,
            policy,
            steps=STEPS,
            runs=count,
            seed=derived_seed(seed, EXPERT, part),
            record=record,
        )
        return look_at_runs(system, flown, stage.comparable, 0.9)

    expert = looks(system.expert, runs, 5)
    scores_of: dict[str, list[float]] = {"all": [], "late": [], "collective": []}
    for part, policy in enumerate(policies):
        other = looks(as_policy(policy), runs, 6 + part)
        table = join_looks([expert, other]).table(system, slice(0, 2 * runs))
        labels = np.arange(2 * runs) >= runs
        late = [i for i, s in enumerate(table.statistics) if s.when == "later"]
        whole = [i for i in late if _is_collective(table.statistics[i].title)]
        for name, columns in (
            ("all", table.values),
            ("late", table.values[:, late]),
            ("collective", table.values[:, whole]),
        ):
            forest = RandomForestClassifier(200, random_state=1)
            scores = cross_val_score(forest, columns, labels, cv=5, scoring="roc_auc")
            scores_of[name].append(float(scores.mean()))
    return {name: six_digits(values) for name, values in scores_of.items()}


def _is_collective(title: str) -> bool:
    return any(word in title for word in ("order parameter", "neighbour", "cluster"))


def _learn(system: swarmdp.Vicsek, interpolate: bool, seed: int, quick: bool) -> list[Controller]:
    fits = 2 if quick else CELL
    demo = swarmdp.rollout(
        system, system.expert, steps=STEPS, runs=fits, seed=derived_seed(seed, DEMO)
    )
    few: dict[str, Any] = {"iterations": 2} if quick else {}
    if interpolate and not quick:
        # With four times the actions there is four times as much to learn.
        few["learner"] = replace(default_learning(), steps=1000, warm_steps=400)
    result = swarmdp.fit(
        system,
        demo,
        seed=derived_seed(seed, FIT),
        separate=True,
        interpolate=interpolate,
        judge=False,
        **few,
    )
    return [select_replicas(result.policy, np.array([e])) for e in range(fits)]


def measure_loop(setting: Setting, system: swarmdp.Vicsek, quick: bool) -> Row:
    """True distances with a reward update, on demos that all updates of a swarm share."""
    fits = 2 if quick else LOOPS
    seed = derived_seed(SEED, *(ord(letter) for letter in repr((LOOP, setting.changes))))
    demo = swarmdp.rollout(
        system, system.expert, steps=STEPS, runs=fits, seed=derived_seed(seed, DEMO)
    )
    few: dict[str, Any] = {"iterations": 2} if quick else {}
    result = swarmdp.fit(
        system,
        demo,
        seed=derived_seed(seed, FIT),
        separate=True,
        first_reward=setting.start,
        update=_first_again if setting.judged == REPEATED else setting.judged,
        judge=False,
        **few,
    )
    judged = measure_vicsek(system, result, seed, quick)
    return {"true_distance": judged["true_distance"], "order": judged["order"]}


def _first_again(evidence: swarmdp.updates.Evidence) -> swarmdp.updates.Update:
    return swarmdp.updates.Update(evidence.weights[0])


_first_again.wants = swarmdp.updates.Wants(any_policies=True)  # type: ignore[attr-defined]


def line(row: Row) -> str:
    """A row in one line."""
    what = f"{row['part']} {row['system']} {dict(row['changes'])} {row['discount']}"
    if row["part"] == APART:
        return f"{what} {row['judged']} {row['auc']}"
    if row["part"] == LOOP:
        return f"{what} {row['start']} {row['judged']} {np.mean(row['true_distance']):.3f}"
    missed, alarms = np.array(row["missed"]), np.array(row["alarms"])
    return (
        f"{what} missed {missed.sum()}, silently {(missed & ~alarms).sum()}, "
        f"alarms {alarms.sum()} of {alarms.size}, {row['seconds']} s"
    )


def tables(rows: Sequence[Row]) -> str:
    """All tables, in Markdown."""
    text = ["# Is the default fit right?\n"]
    for row in rows:
        if row["part"] == FLOCK:
            text += [f"## {row['system']}, {len(row['alarms'])} experiments\n", _flock(row)]
    for system in ("Vicsek", "Ising"):
        cells = [row for row in rows if row["part"] == GRID and row["system"] == system]
        if cells:
            text += [f"## Grid of {system} swarms, {CELL} fits each\n", _grid(cells)]
    loops = [row for row in rows if row["part"] == LOOP]
    if loops:
        text += ["## Does the loop earn its keep?\n", _loops(loops)]
    apart = [row for row in rows if row["part"] == APART]
    if apart:
        rates = [
            [
                row["judged"],
                dict(row["changes"]).get("turns", "13 turns"),
                f"{np.mean(row['auc']['all']):.2f}",
                f"{np.mean(row['auc']['late']):.2f}",
                f"{np.mean(row['auc']['collective']):.2f}",
            ]
            for row in apart
        ]
        head = (
            "swarm",
            "turns, degrees apart",
            "AUC, all statistics",
            "late ones",
            "late collective ones",
        )
        text += ["## Told from the expert's swarm\n", markdown(head, rates)]
    return "\n".join(text)


def _flock(row: Row) -> str:
    low, left = np.array(row["below"]), np.array(row["never_improved"])
    cells = [
        ("alarms", f"{sum(row['alarms'])}"),
        ("policy updates worth less than a known policy, mean / most", _mean_and_most(low)),
        ("of these given up, mean / most", _mean_and_most(left)),
        ("processor seconds a fit", row["seconds"]),
    ]
    if row["system"] == "Ising":
        ratio = np.array(row["ratio"])
        cells += [
            ("the expert's table, with the tie", f"{sum(row['same_table'])}"),
            ("energy over the expert's, t = 5, 20, 60", _numbers(ratio.mean(axis=0))),
            ("smallest and largest at t = 60", _numbers([ratio[:, -1].min(), ratio[:, -1].max()])),
        ]
    else:
        gap = np.array(row["order"]).mean(axis=0) - row["expert_order"]
        distance = np.array(row["true_distance"])
        cells += [
            (
                "mean heading turns by more than 1 degree a step",
                f"{sum(np.array(row['turns']) > 1)}",
            ),
            ("largest turn, degrees a step", f"{max(row['turns']):.2f}"),
            ("order minus the expert's, t = 5, 10, 20, 50, 100", _numbers(gap)),
            ("true distance, mean / worst", f"{distance.mean():.3f} / {distance.max():.3f}"),
        ]
    return markdown(("", "found"), cells)


def _grid(rows: Sequence[Row]) -> str:
    head = ("swarm", "discount", "should be", "is", "missed", "silently", "alarms")
    cells = []
    for row in rows:
        missed, alarms = np.array(row["missed"]), np.array(row["alarms"])
        if row["system"] == "Ising":
            aim, values = "1", [series[-1] for series in row["ratio"]]
        else:
            aim, values = f"{row['rounded_order'][-1]:.3f}", [series[-1] for series in row["order"]]
        cells.append(
            [
                ", ".join(f"{name} {value}" for name, value in row["changes"]),
                row["used_discount"],
                aim,
                _numbers(values),
                missed.sum(),
                (missed & ~alarms).sum(),
                alarms.sum(),
            ]
        )
    return markdown(head, cells)


def _loops(rows: Sequence[Row]) -> str:
    """The loop of Algorithm 1 against its first reward, paired over experiments."""
    head = ("swarm", "first reward", "max-margin", REPEATED, "difference")
    cells = []
    for row in rows:
        key = (row["changes"], row["start"])
        others = [r for r in rows if (r["changes"], r["start"]) == key and r["judged"] == REPEATED]
        if row["judged"] == REPEATED or not others:
            continue
        distance, other = np.array(row["true_distance"]), np.array(others[0]["true_distance"])
        gap = distance - other
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        cells.append(
            (
                ", ".join(f"{name} {value}" for name, value in row["changes"]) or "the paper's",
                row["start"],
                f"{distance.mean():.3f}",
                f"{other.mean():.3f}",
                f"{gap.mean():+.3f} ± {error:.3f}",
            )
        )
    return markdown(head, cells)


def _mean_and_most(counts: NDArray[np.int64]) -> str:
    return f"{counts.mean():.1f} / {counts.max()}"


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.3f}" for value in values)


if __name__ == "__main__":
    command.main(
        study,
        "trust",
        "Is the default fit right, and does it know when it is not? About an hour.",
        experiments=EXPERIMENTS,
        only="flock, grid, apart or loop",
    )
