"""How often the verdict raises an alarm: on swarms that are the same, and on ones that are not.

Each case has an expert, whose runs are the demos, and a policy that is judged. Several demos start
from the same state, so that they can share the runs that they are compared with.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.judging.judge import Effort, baselines_of, one_run
from swarmdp.judging.stage import LEARNED, DemoStage
from swarmdp.judging.statistics import join_looks
from swarmdp.judging.weighing import verdict_of
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


def verdicts(
    case: Case, *, starts: int, demos: int, seed: int, quick: bool = True
) -> Iterator[Verdict]:
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
        stages = [DemoStage.of(case.system, one_run(demo, r), 0.9) for r in range(demos)]
        judged = as_policy(case.judged(stages[0].demo, start_seed))
        effort, names = Effort.of(1, None, quick), ("random", "nothing")
        baselines = baselines_of(case.system, stages[0].demo, names, effort, start_seed)
        swarms = {LEARNED: ([judged], effort.learned), **baselines}
        looks = {
            name: join_looks(list(stages[0].looks(policies, count, derived_seed(start_seed, part))))
            for part, (name, (policies, count)) in enumerate(swarms.items())
        }
        for r, stage in enumerate(stages):
            yield verdict_of(stage, looks, quick=True, seed=derived_seed(start_seed, 9, r))


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
    features = swarmdp.Levels(3, name="side of the others")

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


def kind(verdict: Verdict) -> str:
    """The words of a verdict without its details."""
    return verdict.words.split(":")[0]


def main() -> None:
    """Print how often each case raises an alarm, and what the verdicts were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--demos", type=int, default=10)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--small", action="store_true", help="small swarms")
    parser.add_argument("--full", action="store_true", help="200 runs of the learned swarm, not 40")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    for case in cases(arguments.small):
        if arguments.only not in case.name:
            continue
        verdict_list = list(
            verdicts(
                case,
                starts=arguments.starts,
                demos=arguments.demos,
                seed=arguments.seed,
                quick=not arguments.full,
            )
        )
        alarms = sum(verdict.alarm for verdict in verdict_list)
        rejected = sum(verdict.p <= 0.05 for verdict in verdict_list)
        words = ", ".join(
            f"{n} x {word}" for word, n in Counter(map(kind, verdict_list)).most_common()
        )
        print(
            f"{case.name:28s} alarms {alarms:3d} of {len(verdict_list)}, "
            f"told apart {rejected:3d}: {words}",
            flush=True,
        )


if __name__ == "__main__":
    main()
