"""Whether rewards and policies are learned reliably through other people's simulators.

For each simulator and seed: a demo of its scripted expert, a fit, its verdict, and the return under
the simulator's own reward in fresh episodes, learned and expert from the same starts.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command, simulators
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.envs import BlackBox
from swarmdp.learning import HeterogeneousLearning
from swarmdp.support import files

ROWS = "environments.json"
FIRST_SEED = {"simple_spread": 7300, "pursuit": 7300, "boids": 7300}
AGENTS = {"simple_spread": 80, "pursuit": 120, "boids": 80}  # that learn side by side
DISCOUNT, STEPS, RUNS, FRESH = 0.8, 25, 8, 20
MAKERS: dict[str, Callable[[], BlackBox]] = {
    "simple_spread": simulators.spread,
    "pursuit": simulators.pursuit,
    "boids": simulators.flock,
}


class Setting:
    """One fit."""

    def __init__(self, simulator: str, seed: int) -> None:
        self.simulator, self.seed = simulator, seed


def learner(system: BlackBox) -> HeterogeneousLearning:
    """The default learner with less experience: about 100 agents instead of 1000."""
    swarms = -(-AGENTS[system.system_name] // system.n_agents)
    return HeterogeneousLearning(steps=80, warm_steps=40, reset_after=2.5, swarms=swarms)


def fit_expert(system: BlackBox, seed: int, iterations: int = 4) -> tuple[Any, swarmdp.Result]:
    """A demo of the expert and what is learned from it."""
    demo = swarmdp.rollout(system, system.expert, steps=STEPS, runs=RUNS, seed=seed, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        result = swarmdp.fit(
            system,
            demo,
            seed=seed + 100,
            discount=DISCOUNT,
            learner=learner(system),
            iterations=iterations,
            evaluations=6,
            progress=False,
        )
    return demo, result


def returns(system: BlackBox, policy: Any, seed: int, runs: int = FRESH) -> NDArray[np.float64]:
    """The return of fresh episodes under the simulator's own reward (runs,)."""
    rewards = swarmdp.rollout(
        system, policy, steps=STEPS, runs=runs, seed=seed, record="reward", progress=False
    )
    total: NDArray[np.float64] = rewards["reward"].sum(axis=1)
    return total


def measure(simulator: str, seed: int, quick: bool) -> Row:
    """One fit, judged."""
    system = MAKERS[simulator]()
    began = time.process_time()
    _, result = fit_expert(system, seed, 1 if quick else 4)
    seconds = time.process_time() - began
    fresh = 2 if quick else FRESH
    nothing = system.actions[system.null]
    learned, expert, idle = (
        float(returns(system, policy, seed + 200, fresh).mean())
        for policy in (
            result.policy,
            system.expert,
            lambda seen: np.full(seen.shape[:2], nothing),
        )
    )
    assert result.verdict is not None
    return {
        "verdict": result.verdict.words,
        "table": result.policy.table[0].tolist(),  # type: ignore[attr-defined]
        "returns": six_digits([learned, expert, idle]),
        "seconds": round(seconds, 1),
    }


def table(rows: Sequence[Row]) -> str:
    """One line for each simulator."""
    lines = []
    for name in MAKERS:
        of_simulator = [row for row in rows if row["simulator"] == name]
        if not of_simulator:
            continue
        good = sum(row["verdict"].startswith("reproduces") for row in of_simulator)
        values = np.array([row["returns"] for row in of_simulator])
        gaps = np.abs(values[:, 0] - values[:, 1]) / np.abs(values[:, 1])
        lines.append(
            (
                name,
                f"{good} of {len(of_simulator)}",
                ", ".join(f"{100 * gap:.0f}" for gap in gaps),
                *(f"{value:.2f}" for value in values.mean(axis=0)),
                f"{np.mean([row['seconds'] for row in of_simulator]):.0f}",
            )
        )
    head = (
        "simulator",
        "reproduces",
        "return off the expert's by %, each seed",
        "return, learned",
        "expert",
        "doing nothing",
        "processor seconds a fit",
    )
    return markdown(head, lines)


def run(output: Path, *, experiments: int, only: Sequence[str] = (), quick: bool = False) -> None:
    """Measure all rows that are not there yet; write them and the table."""
    settings = [Setting(name, FIRST_SEED[name] + e) for name in MAKERS for e in range(experiments)]
    jobs = [
        Job(
            {"simulator": s.simulator, "seed": s.seed},
            partial(measure, s.simulator, s.seed, quick),
        )
        for s in select(settings, "simulator", only)
    ]
    rows = collect(
        output / ROWS,
        jobs,
        conditions(quick=quick),
        lambda row: f"{row['simulator']} {row['seed']}: {row['verdict']} {row['returns']}",
    )
    files.write_text(output / "table.md", table(rows))


if __name__ == "__main__":
    command.main(
        run,
        "environments",
        "How reliably rewards are learned through other people's simulators (ten minutes).",
        experiments=5,
        only="simulators",
    )
