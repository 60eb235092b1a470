"""Swarms, experts and policies whose verdicts are known, for `studies/verdicts.py` and tests."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.judging.baselines import BASELINES
from swarmdp.judging.judge import Judge, one_run
from swarmdp.judging.stage import DemoStage
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System, class_map, classes
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Controller
from swarmdp.policies.replicas import as_policy

Chooser = Callable[[swarmdp.Trajectory, int], Controller]  # of a demo and a seed


@dataclass(frozen=True, eq=False)
class Case:
    """A swarm, its expert, and the policy to be judged."""

    name: str
    system: System
    steps: int
    expert: Controller
    judged: Chooser
    wrong: bool  # whether the verdict should raise an alarm


def verdicts(case: Case, *, starts: int, demos: int, seed: int) -> Iterator[Verdict]:
    """The verdicts on `demos` demos from each of `starts` states."""
    for start in range(starts):
        start_seed = derived_seed(seed, start)
        first = swarmdp.rollout(case.system, case.expert, steps=0, seed=start_seed)
        state = {
            name: v.values[0, 0] if "time" in v.axes else v.values[0]
            for name, v in first.variables.items()
        }
        demo = swarmdp.rollout(
            case.system,
            case.expert,
            steps=case.steps,
            runs=demos,
            seed=start_seed + 1,
            initial=state,
        )
        judged = as_policy(case.judged(one_run(demo, 0), start_seed))
        for r in range(demos):
            judge = judge_of(case.system, one_run(demo, r), derived_seed(start_seed, 9, r))
            yield judge.verdict(judged, by_features=False, progress=False)


def judge_of(
    system: System, demo: swarmdp.Trajectory, seed: int, *, stretches: bool = True
) -> Judge:
    """Who gives the verdicts of `swarmdp.fit`: the quick form; or by whole runs alone."""
    return Judge(
        system,
        demo,
        discount=0.9,
        seed=seed,
        names=BASELINES,
        runs=None,
        quick=True,
        threads=1,
        stretches=stretches,
    )


@dataclass(frozen=True)
class Rendezvous:
    """Agents on a ring of cells that want to meet, but see only on which side most others are.

    Its three observations do not identify what it does: see docs/your-own-system.md.
    """

    n_agents: int = 50
    cells: int = 100
    reach: int = 15
    slip: float = 0.1

    actions = np.array([-1, 0, 1])
    features: ClassVar[Any] = swarmdp.Levels(3, name="side of the others")

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, NDArray[Any]]:
        """Anywhere on the ring."""
        return {"cell": rng.integers(self.cells)}

    def observe(self, state: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """0 left, 1 balanced, 2 right."""
        cell, half = state["cell"], self.cells // 2
        offset = (cell[:, None, :] - cell[:, :, None] + half) % self.cells - half
        pull = np.where(np.abs(offset) <= self.reach, offset, 0).sum(axis=2)
        return np.asarray(np.sign(pull) + 1)

    def transition(
        self, state: dict[str, NDArray[Any]], actions: NDArray[Any], rng: swarmdp.model.Stream
    ) -> dict[str, NDArray[Any]]:
        """Some steps fail."""
        moves = np.where(rng.uniform() < self.slip, 0, actions)
        return {"cell": (state["cell"] + moves) % self.cells}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Step to where the others are."""
        return observations - 1


def always(controller: Controller) -> Chooser:
    """The same policy, whatever the demo."""
    return lambda demo, seed: controller


def nearest_table(system: System, tables: NDArray[np.int64]) -> Chooser:
    """The table whose feature expectations are nearest to the demo's: what matching them finds."""
    record = {"mu": swarmdp.simulation.DiscountedFeatures(0.9)}
    policy = swarmdp.Policy(tables)

    def chosen(demo: swarmdp.Trajectory, seed: int) -> Controller:
        runs = swarmdp.rollout(
            system, policy, steps=demo.steps, runs=8 * len(tables), seed=seed, record=record
        )
        mu = runs["mu"].reshape(8, len(tables), -1).mean(axis=0)
        target = DemoStage.of(system, demo, 0.9).look.mu
        assert target is not None
        return swarmdp.Policy(tables[np.linalg.norm(mu - target, axis=1).argmin()])

    return chosen


def with_actions_exchanged(
    system: System, table: NDArray[np.int64], share: float = 0.05
) -> Chooser:
    """The table with the actions of two observations exchanged, both often seen in the demo."""

    def chosen(demo: swarmdp.Trajectory, seed: int) -> Controller:
        shares = DemoStage.of(system, demo, 0.9).look.shares
        assert shares is not None
        often = np.flatnonzero(shares[0].mean(axis=0) > share)
        pairs = [(i, j) for i in often for j in often if i < j and table[i] != table[j]]
        pair = list(pairs[np.random.default_rng(seed).integers(len(pairs))])
        changed = table.copy()
        changed[pair] = table[pair[::-1]]
        return swarmdp.Policy(changed)

    return chosen


def rounded_table(system: System, expert: Controller) -> NDArray[np.int64]:
    """The expert as a table: at each class's value the nearest action."""
    values = class_map(system).axes[0].values
    expert_action = np.asarray(expert(values[None]), np.float64)[0]  # type: ignore[operator]
    actions = np.asarray(system.actions, np.float64)
    table: NDArray[np.int64] = np.abs(expert_action[:, None] - actions).argmin(axis=1)
    return table[np.argsort(classes(system, values))]


def cases(small: bool) -> list[Case]:
    """The cases of the calibration, of the paper's sizes or small ones."""
    vicsek = swarmdp.Vicsek(n_agents=50, radius=0.2) if small else swarmdp.Vicsek()
    sparse = swarmdp.Vicsek(n_agents=50, radius=0.05, noise=math.radians(5))
    ising = swarmdp.Ising(shape=(40, 40) if small else (100, 100), periodic=True)
    ring = Rendezvous()
    steps, moves = (60, 30) if small else (100, 60)
    turn = math.radians(1)
    table, spins = rounded_table(vicsek, vicsek.expert), np.arange(25) > 12
    tables = np.stack(np.unravel_index(np.arange(27), (3, 3, 3)), axis=1)
    tables = tables[(tables[:, 0] != 0) | (tables[:, 2] != 2)]  # those that do not meet
    return [
        Case(
            "Vicsek: the expert itself", vicsek, steps, vicsek.expert, always(vicsek.expert), False
        ),
        Case("Ising: the expert itself", ising, moves, ising.expert, always(ising.expert), False),
        Case("sparse: the expert itself", sparse, 100, sparse.expert, always(sparse.expert), False),
        Case(
            "Vicsek: rounded to 13 turns",
            vicsek,
            steps,
            vicsek.expert,
            always(swarmdp.Policy(table)),
            False,
        ),
        Case(
            "circling by 9 deg", vicsek, steps, vicsek.expert, always(lambda o: o + 9 * turn), True
        ),
        Case(
            "circling by 2 deg", vicsek, steps, vicsek.expert, always(lambda o: o + 2 * turn), True
        ),
        Case(
            "Ising: flips at the tie", ising, moves, ising.expert, always(lambda o: o >= 12), True
        ),
        Case("Ising: mirror image", ising, moves, ising.expert, always(lambda o: o <= 12), True),
        Case("sparse without order", sparse, 100, sparse.expert, always(lambda o: 0.05 * o), True),
        Case("Rendezvous", ring, 100, ring.expert, nearest_table(ring, tables), True),
        Case(
            "Vicsek: shuffled",
            vicsek,
            steps,
            vicsek.expert,
            with_actions_exchanged(vicsek, table),
            True,
        ),
        Case(
            "Ising: shuffled",
            ising,
            moves,
            ising.expert,
            with_actions_exchanged(ising, spins.astype(int), 0.002),
            True,
        ),
    ]
