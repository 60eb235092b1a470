"""How reliable are the learners? A comparison over many independent experiments.

Every experiment learns from one expert trajectory of its own, with the paper's parameters.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown, select
from swarmdp.learning.heterogeneous import HeterogeneousLearning, paper_learning
from swarmdp.learning.local_model import LocalModel
from swarmdp.learning.q_functions import BatchQ
from swarmdp.support import files
from swarmdp.support.checks import check_integer

DISCOUNT = 0.9
STEPS = 100
ROWS = "learners.json"
EXPERT_SEED, DEMO, FIT, JUDGE = 101, 1, 2, 3  # seeds
LONGEST = 1000  # iterations of the rows that take the most time
FAR = 0.15  # of the expert's energy, above or below it: a failure

_PAPER = paper_learning()
LEARNERS: dict[str, HeterogeneousLearning] = {
    "sequential, fixed set (paper)": _PAPER,
    "sequential, redrawn set": dataclasses.replace(_PAPER, exploration="redrawn"),
    "batch average": dataclasses.replace(_PAPER, q_update=BatchQ(), exploration="redrawn"),
    "local model": dataclasses.replace(_PAPER, q_update=LocalModel(), exploration="redrawn"),
    "default": HeterogeneousLearning(),
}
DEFAULT = "default"
PAPER = "sequential, fixed set (paper)"


@dataclass(frozen=True)
class Setting:
    """One row of the study."""

    system: str
    learner: str
    iterations: int
    start: str
    temperature: float | None = None  # None: the learner's own
    learning_rate: float | None = None

    @property
    def evaluations(self) -> int | None:
        """One roll-out for each value, as in the paper, but for the default."""
        return None if self.learner == DEFAULT else 1

    def learning(self) -> HeterogeneousLearning:
        """The learner of this row."""
        changes = {
            name: getattr(self, name)
            for name in ("temperature", "learning_rate")
            if getattr(self, name) is not None
        }
        return dataclasses.replace(LEARNERS[self.learner], steps=self.iterations, **changes)


def settings() -> list[Setting]:
    """All rows: the defaults first, then the comparison and the sensitivity, the longest last."""
    usual = LEARNERS[DEFAULT].steps
    first = [Setting(system, DEFAULT, usual, "expert") for system in ("vicsek", "ising")]
    comparison = [
        Setting(system, learner, iterations, start)
        for iterations in (200, 50, LONGEST)
        for system in ("vicsek", "ising")
        for start in ("expert", "random")
        for learner in LEARNERS
        # An Ising grid has 10000 agents: there the default is the local model itself.
        if not (system == "ising" and learner == DEFAULT)
    ]
    temperatures = [
        Setting("vicsek", learner, LEARNERS[learner].steps, "expert", temperature=temperature)
        for learner in (PAPER, DEFAULT)
        for temperature in (0.1, 0.3, 0.7, 0.9)
    ]
    rates = [
        Setting("vicsek", PAPER, 200, "expert", learning_rate=rate) for rate in (0.3, 0.6, 0.8)
    ]
    rows = sorted([*comparison, *temperatures, *rates], key=lambda row: row.iterations == LONGEST)
    return list(dict.fromkeys([*first, *rows]))


@dataclass(frozen=True, eq=False)
class Case:
    """A system with what its experiments are judged by."""

    system: Any
    measure: Callable[..., NDArray[Any]]
    runs: int  # roll-outs that judge each policy
    times: tuple[int, ...]
    fails: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]
    expert: NDArray[np.float64]  # mean measure over time
    true_mu: NDArray[np.float64]


def case_of(name: str, quick: bool) -> Case:
    """The system of this name, with its expert's behaviour from many roll-outs."""
    record = swarmdp.simulation.DiscountedFeatures(DISCOUNT)
    system: Any
    if name == "vicsek":
        system = swarmdp.Vicsek(n_agents=40) if quick else swarmdp.Vicsek()
        measure, runs, times = system.order, 100, (20, 50, 100)

        def fails(learned: NDArray[np.float64], expert: NDArray[np.float64]) -> NDArray[np.bool_]:
            return np.asarray(learned[:, 100] < 0.95)
    else:
        system = swarmdp.Ising((20, 20)) if quick else swarmdp.Ising()
        measure, runs, times = system.energy, 10, (5, 20, 60)

        def fails(learned: NDArray[np.float64], expert: NDArray[np.float64]) -> NDArray[np.bool_]:
            # Both sides: a table that flips at ties ends a quarter below the expert's energy.
            return np.asarray(np.abs(learned[:, 60] / expert[60] - 1) > FAR)

    many = 50 if quick else 2000 if name == "vicsek" else 400
    expert = swarmdp.rollout(
        system,
        system.expert,
        steps=STEPS,
        runs=many,
        seed=EXPERT_SEED,
        record={"measure": measure, "mu": record},
    )
    return Case(
        system,
        measure,
        2 if quick else runs,
        times,
        fails,
        expert["measure"].mean(axis=0),
        expert["mu"].mean(axis=0),
    )


def measure_learner(setting: Setting, case: Case, experiments: int) -> Row:
    """Fit all experiments of one row and judge the chosen policies."""
    system = case.system
    demo = swarmdp.rollout(
        system, system.expert, steps=STEPS, runs=experiments, seed=DEMO, record="observations"
    )
    began = time.perf_counter()
    result = swarmdp.fit(
        system,
        demo,
        seed=FIT,
        separate=True,
        learner=setting.learning(),
        first_reward=setting.start,
        evaluations=setting.evaluations,
        judge=False,
    )
    seconds = time.perf_counter() - began
    judged = swarmdp.rollout(
        system,
        result.policy,
        steps=STEPS,
        runs=experiments * case.runs,
        seed=JUDGE,
        record={"measure": case.measure, "mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)},
    )
    learned = judged["measure"].reshape(case.runs, experiments, -1).mean(axis=0)
    mu = judged["mu"].reshape(case.runs, experiments, -1).mean(axis=0)
    true_distance = np.linalg.norm(mu - case.true_mu, axis=1)
    row: Row = {
        "failures": int(case.fails(learned, case.expert).sum()),
        "distance_mean": float(result.distance.mean()),
        "distance_worst": float(result.distance.max()),
        "true_distance_mean": float(true_distance.mean()),
        "true_distance_worst": float(true_distance.max()),
        "measure": {str(t): float(learned[:, t].mean()) for t in case.times},
        "expert_measure": {str(t): float(case.expert[t]) for t in case.times},
        "seconds": round(seconds, 1),
    }
    if result.solutions:
        row["majority_vote"] = sum(s == "majority vote" for s in result.solutions)
        row["mirror_image"] = sum(s.startswith("mirror") for s in result.solutions)
    return row


def study(
    output: Path, experiments: int = 100, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write and return the table.

    Parameters
    ----------
    output
        The folder for `learners.json` (the rows) and `learners.md` (the table).
    experiments
        The number of independent fits of each row.
    only
        Just these systems: "vicsek", "ising".
    quick
        Small swarms, and only the rows of 50 iterations.

    """
    check_integer("experiments", experiments, least=1)
    selected = select(settings(), "system", only)
    if quick:
        selected = [setting for setting in selected if setting.iterations == 50]
    case = cache(partial(case_of, quick=quick))

    def measure(setting: Setting) -> Row:
        return measure_learner(setting, case(setting.system), experiments)

    jobs = [Job(dataclasses.asdict(s), partial(measure, s)) for s in selected]
    shared = conditions(
        quick=quick,
        experiments=experiments,
        discount=DISCOUNT,
        steps=STEPS,
        seeds=[EXPERT_SEED, DEMO, FIT, JUDGE],
    )
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "learners.md", table(rows))
    return rows


def _line(row: Row) -> str:
    measured = " ".join(f"{value:.4g}" for value in row["measure"].values())
    return (
        f"{row['system']} {row['learner']}, {row['iterations']} its, {row['start']}, "
        f"temperature {_or_default(row['temperature'])}, rate {_or_default(row['learning_rate'])}: "
        f"failures {row['failures']}, "
        f"distance {row['distance_mean']:.2f} (worst {row['distance_worst']:.2f}), "
        f"true {row['true_distance_mean']:.3f}, measure {measured}, "
        f"majority {row.get('majority_vote', '')}, {row['seconds']} s"
    )


def _or_default(value: float | None) -> str:
    return "own" if value is None else f"{value:g}"


def table(rows: Sequence[Row]) -> str:
    """The rows as tables in Markdown."""
    parts = []
    for system in ("vicsek", "ising"):
        of_system = [row for row in rows if row["system"] == system]
        if not of_system:
            continue
        measure = "order parameter" if system == "vicsek" else "energy / expert's"
        times = list(of_system[0]["measure"])
        head = [
            "learner",
            "iterations",
            "first reward",
            "temperature",
            "rate",
            "failures",
            "distance",
            "worst",
            "true distance",
            f"{measure} at t = {', '.join(times)}",
        ]
        if system == "ising":
            head.append("expert's table / mirror")
        lines = []
        for row in of_system:
            cells: list[object] = [
                row["learner"],
                row["iterations"],
                row["start"],
                _or_default(row["temperature"]),
                _or_default(row["learning_rate"]),
                f"{row['failures']} of {row['experiments']}",
                f"{row['distance_mean']:.2f}",
                f"{row['distance_worst']:.2f}",
                f"{row['true_distance_mean']:.2f}",
            ]
            if system == "vicsek":
                cells.append(", ".join(f"{row['measure'][t]:.3f}" for t in times))
            else:
                ratios = (row["measure"][t] / row["expert_measure"][t] for t in times)
                cells.append(", ".join(f"{ratio:.3f}" for ratio in ratios))
                cells.append(f"{row['majority_vote']} / {row['mirror_image']}")
            lines.append(cells)
        expert = ", ".join(f"{of_system[0]['expert_measure'][t]:.4g}" for t in times)
        parts.append(
            f"## {system.capitalize()}\n\nThe expert's {measure.split(' /')[0]} at "
            f"t = {', '.join(times)}: {expert}.\n\n" + markdown(head, lines)
        )
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "learners",
        "How reliably does each learner find the expert's behaviour? All learners, first rewards "
        "and lengths of learning on Vicsek and Ising, over many experiments. About an hour.",
        experiments=100,
        only="these systems: vicsek, ising",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
