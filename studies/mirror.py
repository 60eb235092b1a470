"""Whether the learned Vicsek swarm flies straight, with and without the mirror.

A turn that all agents share changes no misalignment, so that neither feature expectations nor the
order parameter see a swarm that flies in circles. Each row fits independent experiments, from one
expert trajectory each, with tables (the default) or with `LinearQ`.
"""

import math
import time
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown, six_digits
from swarmdp import Vicsek
from swarmdp.learning import HeterogeneousLearning, LinearQ
from swarmdp.support import files
from swarmdp.support.checks import check_integer

ROWS = "mirror.json"
FIRST_SEED, EXPERT_SEED = 9200, 9199  # experiment e has the demo of seed FIRST_SEED + e
DISCOUNT, STEPS, TIMES = 0.9, 100, (5, 10, 20, 50, 100)
TABLE, LINEAR = "table", "linear"


@cache
def expert(vicsek: Vicsek, runs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The expert's order parameter at the times that count, and its feature expectations."""
    return _measure(vicsek, vicsek.expert, runs, EXPERT_SEED)


def measure(name: str, mirror: bool, experiments: int, quick: bool) -> Row:
    """Fit all experiments of one row, and see how straight the learned swarms fly."""
    vicsek = Vicsek(n_agents=40) if quick else Vicsek()
    runs = 4 if quick else 200
    learner: dict[str, Any] = {}
    if name == LINEAR:
        learner["learner"] = HeterogeneousLearning(LinearQ(), steps=20 if quick else 300)
    turns, orders, distances, seconds = [], [], [], 0.0
    true_mu = expert(vicsek, runs)[1]
    for seed in range(FIRST_SEED, FIRST_SEED + experiments):
        demo = swarmdp.rollout(vicsek, vicsek.expert, steps=STEPS, seed=seed, progress=False)
        began = time.process_time()
        result = swarmdp.fit(
            vicsek,
            demo,
            seed=seed + 100,
            mirror=mirror,
            iterations=2 if quick else 20,
            judge=False,
            progress=False,
            **learner,
        )
        seconds += time.process_time() - began
        turns.append(turn(vicsek, result.policy, runs // 4, seed + 200))
        order, mu = _measure(vicsek, result.policy, runs, seed + 300)
        orders.append(order)
        distances.append(float(np.linalg.norm(mu - true_mu)))
    return {
        "turns": six_digits(turns),
        "order": six_digits(np.mean(orders, axis=0)),
        "order_error": six_digits(np.std(orders, axis=0, ddof=1) / math.sqrt(experiments)),
        "expert_order": six_digits(expert(vicsek, runs)[0]),
        "distances": six_digits(distances),
        "seconds": round(seconds / experiments, 1),
    }


def turn(vicsek: Vicsek, policy: Any, runs: int, seed: int) -> float:
    """By how many degrees the mean heading turns in a step, in the second half of the time."""
    states = swarmdp.rollout(vicsek, policy, steps=STEPS, runs=runs, seed=seed, progress=False)
    mean = np.exp(1j * states["heading"][:, STEPS // 2 :]).mean(axis=2)
    return float(np.degrees(np.angle(mean[:, 1:] * mean[:, :-1].conj()).mean()))


def _measure(
    vicsek: Vicsek, policy: Any, runs: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    recorded = swarmdp.rollout(
        vicsek,
        policy,
        steps=STEPS,
        runs=runs,
        seed=seed,
        record={"order": vicsek.order, "mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)},
        progress=False,
    )
    return recorded["order"].mean(axis=0)[list(TIMES)], recorded["mu"].mean(axis=0)


def study(output: Path, experiments: int = 12, quick: bool = False) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write and return the table.

    Parameters
    ----------
    output
        The folder for `mirror.json` (the rows) and `mirror.md` (the table).
    experiments
        The number of independent fits of each row, at least two.
    quick
        A small swarm and few iterations.

    """
    check_integer("experiments", experiments, least=2)
    jobs = [
        Job({"learner": name, "mirror": mirror}, partial(measure, name, mirror, experiments, quick))
        for name in (TABLE, LINEAR)
        for mirror in (False, True)
    ]
    shared = conditions(quick=quick, experiments=experiments, seeds=[FIRST_SEED, EXPERT_SEED])
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "mirror.md", table(rows))
    return rows


def _line(row: Row) -> str:
    worst = np.abs(row["turns"]).max()
    return f"{row['learner']}, mirror {row['mirror']}: at most {worst:.2f} degrees a step"


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    head = [
        "Q-function",
        "mirror",
        "mean heading turns, degrees a step: mean, most",
        "by more than 1",
        f"order parameter at t = {', '.join(map(str, TIMES))}",
        "true distance, mean and worst",
        "s",
    ]
    lines = []
    for row in rows:
        sizes, gaps = np.abs(row["turns"]), np.array(row["distances"])
        error = gaps.std(ddof=1) / math.sqrt(len(gaps))
        lines.append(
            [
                row["learner"],
                "yes" if row["mirror"] else "no",
                f"{sizes.mean():.2f}, {sizes.max():.2f}",
                f"{(sizes > 1).sum()} of {len(sizes)}",
                " ".join(f"{order:.3f}" for order in row["order"]),
                f"{gaps.mean():.3f} ± {error:.3f}, {gaps.max():.3f}",
                row["seconds"],
            ]
        )
    return markdown(head, lines)


if __name__ == "__main__":
    command.main(study, "mirror", __doc__.split("\n")[0], experiments=12)
