"""What every system, learner and reward update computes, pinned: a new structure keeps the numbers.

`digests.json` was written by version 0.1.0, but for Ising grids with an open boundary, whose agents
observe something else now, and for all that learns: who explores is drawn from a quarter of a block
of random numbers since 0.2.0. A change of a number is a correction (and stands in the CHANGELOG) or
a mistake. `python -m tests.test_digests` writes the file again.
"""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.learning import BatchQ, HeterogeneousLearning, LocalModel, SequentialQ
from swarmdp.policies.replicas import table_of
from swarmdp.theory import FiniteIsing, RandomSwarm, VicsekRing

FILE = Path(__file__).parent / "digests.json"
DIGITS = 8  # of weights and distances: the last bits belong to the linear algebra library

VICSEK = swarmdp.Vicsek(n_agents=40)
ISING = swarmdp.Ising((10, 10), periodic=False)
GRID = swarmdp.Gridworld(4, 4)
MACROCELLS = swarmdp.Gridworld.macrocells(seed=2, rows=4, columns=4, macrocell=2)
QUICK = HeterogeneousLearning(steps=25, swarms=2)

ROLLED: dict[str, tuple[Any, Any]] = {
    "vicsek": (swarmdp.Vicsek(), swarmdp.Vicsek().expert),
    "vicsek open": (swarmdp.Vicsek(n_agents=60, periodic=False, noise=0.0), VICSEK.expert),
    "vicsek nearest": (swarmdp.Vicsek(n_agents=60, nearest=5), VICSEK.expert),
    "vicsek large": (swarmdp.Vicsek(n_agents=20_000, radius=0.01, speed=0.01), VICSEK.expert),
    "vicsek table": (VICSEK, swarmdp.Policy(np.arange(36) % 13)),
    "vicsek soft": (VICSEK, swarmdp.policies.SoftPolicy(np.full((36, 13), 1 / 13))),
    "vicsek mixed": (
        VICSEK,
        swarmdp.policies.MixedPolicy(
            (swarmdp.Policy(np.arange(36) % 13), swarmdp.Policy(np.arange(36) % 7)),
            np.array([[0.3, 0.7]]),
        ),
    ),
    "ising open": (swarmdp.Ising((30, 20), periodic=False), ISING.expert),
    "ising periodic": (swarmdp.Ising((20, 30), reach=1, periodic=True), lambda o: o > 4),
    "gridworld": (GRID, swarmdp.Policy(np.arange(16) % 4)),
    "macrocells": (MACROCELLS, swarmdp.Policy(np.arange(16) % 4)),
    "finite ising": (FiniteIsing((5,)), swarmdp.Policy([0, 0, 1])),
    "vicsek ring": (VicsekRing(4), swarmdp.Policy(np.zeros(VicsekRing(4).features.size, int))),
    "random swarm": (
        RandomSwarm(3),
        swarmdp.Policy(np.zeros(RandomSwarm(3).features.size, int)),
    ),
}
LEARNERS: dict[str, HeterogeneousLearning] = {
    "local model": QUICK,
    "one swarm": HeterogeneousLearning(steps=25, swarms=1),
    "batch": HeterogeneousLearning(BatchQ(), steps=25, swarms=2),
    "sequential": HeterogeneousLearning(SequentialQ(), steps=25, swarms=2),
    "fixed": HeterogeneousLearning(SequentialQ(), 25, exploration="fixed", swarms=1),
    "late": HeterogeneousLearning(LocalModel(0.95, 2, 0.5), 25, decay="late", temperature=0.3),
}
UPDATES = (
    "max_margin",
    "projection",
    "ng_russell",
    "mwal",
    "maxent",
    "policy_matching",
    "bayesian",
)
FITTED: dict[str, Any] = {
    "vicsek": VICSEK,
    "ising": ISING,
    "gridworld": GRID,
    "macrocells": MACROCELLS,
}


def digest(*arrays: NDArray[Any]) -> str:
    together = hashlib.sha256()
    for array in arrays:
        together.update(str((array.dtype.str, array.shape)).encode())
        together.update(np.ascontiguousarray(array).tobytes())
    return together.hexdigest()[:16]


def shortened(array: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in np.ravel(array)]


def demo_of(name: str, runs: int) -> swarmdp.Trajectory:
    system = FITTED[name]
    expert = getattr(system, "expert", None) or swarmdp.learning.plan(system, system.reward).policy
    return swarmdp.rollout(
        system, expert, steps=50, runs=runs, seed=1, record=["states", "actions"]
    )


def rolled(name: str) -> dict[str, Any]:
    system, policy = ROLLED[name]
    steps = 10 if system.n_agents > 1000 else 40
    found = swarmdp.rollout(
        system,
        policy,
        steps=steps,
        runs=2,
        seed=5,
        record=["states", "observations", "actions", swarmdp.simulation.DiscountedFeatures(0.8)],
    )
    return {"arrays": {variable: digest(found[variable]) for variable in sorted(found)}}


def learned(name: str, system: Any, softness: float = 0.0) -> dict[str, Any]:
    rising = np.cos(np.arange(system.features.size))
    weights = np.stack([rising, rising[::-1]])
    demand: dict[str, Any] = {"wants": swarmdp.updates.Wants(softness=softness)} if softness else {}
    found = LEARNERS[name](system, swarmdp.Reward(weights), discount=0.9, seed=3, **demand)
    return {
        "table": digest(np.asarray(table_of(found.policy), np.int64)),
        "q": digest(np.asarray(found.q)),
    }


def fitted(name: str, update: str, **options: Any) -> dict[str, Any]:
    system = FITTED[name]
    learner = None if isinstance(system, swarmdp.Gridworld) or "preset" in options else QUICK
    result = swarmdp.fit(
        system,
        demo_of(name, 2),
        seed=2,
        update=swarmdp.updates.Bayesian(chains=2, draws=60, warm_up=40)
        if update == "bayesian"
        else update,
        iterations=4,
        learner=learner,
        **{"separate": True, "search": "newest", "mirror": False, **options},
        judge=False,
    )
    return {
        "table": digest(np.asarray(table_of(result.policy), np.int64)),
        "weights": shortened(result.reward.weights),
        "distance": shortened(result.history.distance),
        "margin": shortened(result.history.margin),
    }


def cases() -> dict[str, Callable[[], dict[str, Any]]]:
    each: dict[str, Callable[[], dict[str, Any]]] = {}
    for name in ROLLED:
        each[f"roll-out {name}"] = partial(rolled, name)
    for name in LEARNERS:
        systems: tuple[Any, ...] = (VICSEK, ISING)
        for system in systems:
            kind = type(system).__name__
            each[f"learner {name} {kind}"] = partial(learned, name, system)
    each["learner soft Vicsek"] = lambda: learned("local model", VICSEK, softness=0.1)
    for fit in FITTED:
        for update in UPDATES:
            each[f"fit {fit} {update}"] = partial(fitted, fit, update)
    each["fit vicsek paper"] = lambda: fitted("vicsek", "max_margin", preset="paper")
    each["fit ising single"] = lambda: fitted("ising", "max_margin", estimator="single")
    each["fit vicsek random"] = lambda: fitted("vicsek", "projection", first_reward="random")
    each["fit vicsek pooled"] = lambda: fitted("vicsek", "max_margin", separate=False)
    return each


CASES = cases()


@pytest.mark.filterwarnings("ignore::swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_the_first_version(name: str) -> None:
    expected = json.loads(FILE.read_text(encoding="utf-8"))[name]
    found = CASES[name]()
    assert found.keys() == expected.keys()
    for part, value in expected.items():
        if isinstance(value, list):
            np.testing.assert_allclose(found[part], value, rtol=10.0 ** (1 - DIGITS), atol=1e-9)
        else:
            assert found[part] == value, part


if __name__ == "__main__":
    written = {name: case() for name, case in CASES.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in written.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
