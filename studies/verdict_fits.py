"""Default fits and their verdicts: the paper's swarm, a grid of others, README's first example.

Rows are measured in random order, so that those of a study that was stopped are a random subset.
"""

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from studies.rows import Row, six_digits
from studies.trust import measure_vicsek
from swarmdp.model.streams import derived_seed
from swarmdp.policies.replicas import join_replicas

DEGREE = float(np.radians(1))
README = Path(__file__).parents[1] / "README.md"
BATCH = 10  # fits of a row; 200 of the paper's swarm, 100 of README's example
FITS, EXAMPLES = 200, 100
CELL = 4  # fits of a cell of the grid
FIRST_SEED = 7000  # of README's example; no seed near it was used before


def batches(count: int) -> list[str]:
    """The names of rows of `BATCH` fits each."""
    return [f"{first} to {first + BATCH - 1}" for first in range(1, count + 1, BATCH)]


def grid() -> dict[str, swarmdp.Vicsek]:
    """The Vicsek swarms of docs/unseen.md, 54 cells, by the names of their rows."""
    cells = itertools.product((50, 200, 500), (0.05, 0.1, 0.2), (5, 20, 40), (0.03, 0.1))
    return {
        f"{n} agents, radius {radius}, noise {noise}, speed {speed}: {CELL} fits": swarmdp.Vicsek(
            n_agents=n, radius=radius, noise=noise * DEGREE, speed=speed
        )
        for n, radius, noise, speed in cells
    }


def fit_each(vicsek: swarmdp.Vicsek, count: int, seed: int) -> Row:
    """Default fits to one demo each, with their verdicts and whether they are off."""
    demo = swarmdp.rollout(
        vicsek,
        vicsek.expert,
        steps=100,
        runs=count,
        seed=derived_seed(seed, 1),
        progress=False,
    )
    fits = derived_seed(seed, 2)
    result = swarmdp.fit(vicsek, demo, seed=fits, separate=True, threads=1, progress=False)
    return {"p": six_digits(v.p for v in result.verdicts), **_row(vicsek, result, seed)}


def first_examples(numbers: str, count: int, seed: int) -> Row:
    """README's first example as written, but for its seeds."""
    first = int(numbers.split()[0]) - 1
    results = [run_first_example(FIRST_SEED + first + k) for k in range(count)]
    vicsek = results[0][0]
    fits = [result for _, result in results]
    policy = join_replicas([result.policy for result in fits])
    learned = _Learned(policy, len(fits), fits[0].settings, [r.verdicts[0] for r in fits])
    seeds = [FIRST_SEED + first + k for k in range(count)]
    return {"seeds": seeds, **_row(vicsek, learned, seed)}


def run_first_example(seed: int) -> tuple[swarmdp.Vicsek, swarmdp.Result]:
    """The system and the result of README's first example with another seed."""
    text = README.read_text(encoding="utf-8")
    first = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    code = re.sub(r"seed=1\)", f"seed={seed})", first.split("print(result.verdict)")[0])
    assert code.count(f"seed={seed})") == 2
    namespace: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), namespace)
    return namespace["vicsek"], namespace["result"]


class _Learned:
    """What `measure_vicsek` asks of a result, of several fits together."""

    def __init__(self, policy: Any, experiments: int, settings: Any, verdicts: Any) -> None:
        self.policy, self.experiments = policy, experiments
        self.settings, self.verdicts = settings, verdicts


def _row(vicsek: swarmdp.Vicsek, result: Any, seed: int) -> Row:
    """Verdicts, and by how much the order parameter in the last step is off.

    It is off if it is beyond two standard errors of its own repeated evaluation from that of the
    expert and of the rounded expert; missed, if it is off by 0.03 more.
    """
    measured = measure_vicsek(vicsek, result, seed, quick=False)
    last, error = np.array(measured["order"])[:, -1], np.array(measured["order_error"])
    low, high = sorted((measured["expert_order"][-1], measured["rounded_order"][-1]))
    away = np.maximum(np.maximum(low - last, last - high), 0.0)
    return {
        "alarms": [verdict.alarm for verdict in result.verdicts],
        "words": [verdict.words for verdict in result.verdicts],
        "missed": measured["missed"],
        "off": (away > 2 * error).tolist(),
        "away": six_digits(away),
        "error": six_digits(error),
        "expert": measured["expert_order"][-1],
    }
