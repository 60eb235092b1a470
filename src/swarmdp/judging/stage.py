"""Swarms let loose as the demo was: from its starts, for as long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import started_as
from swarmdp.judging.blocks import block_count
from swarmdp.judging.discounts import course_of
from swarmdp.judging.statistics import Comparable, SwarmLook, join_looks, look_at_runs
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.simulation.rollout import simulate

LEARNED = "learned"  # the name of the swarm that is judged
_TRIED = 2  # runs from each start that show whether anything happens by chance
_BYTES = 2**28  # of recorded runs that are looked at together


@dataclass(frozen=True, eq=False)
class DemoStage:
    """A demo, and how other swarms are compared with it."""

    system: System
    demo: Trajectory
    comparable: Comparable
    discount: float
    threads: int | None
    blocks: int | None  # into which runs are cut; None: as many as their length allows
    look: SwarmLook  # at the demo

    @classmethod
    def of(
        cls,
        system: System,
        demo: Trajectory,
        discount: float,
        threads: int | None = None,
        blocks: int | None = None,
    ) -> "DemoStage":
        """Look at a demo; raises InvalidInput if there is nothing to compare."""
        comparable = Comparable.of(system, demo)
        look = look_at_runs(system, demo, comparable, discount, blocks)
        return cls(system, demo, comparable, discount, threads, blocks, look)

    @cached_property
    def course(self) -> NDArray[np.float64]:
        """How the demo develops (times,)."""
        return course_of(self.system, self.demo, self.comparable)

    def looks_at(self, trajectories: Sequence[Trajectory]) -> list[SwarmLook]:
        """Looks at recorded runs that are as long as the demo, those that tell as much."""
        blocks = self.blocks or block_count(self.demo.steps)
        looks = [
            look_at_runs(self.system, runs, self.comparable, self.discount, blocks)
            for runs in trajectories
        ]
        keys = self.look.series.keys(), self.look.later.keys()
        return [look for look in looks if (look.series.keys(), look.later.keys()) == keys]

    def looks(
        self,
        policies: list[LocalPolicy],
        count: int,
        seed: int,
        model: System | None = None,
    ) -> Iterator[SwarmLook]:
        """Looks at `count` runs from each start; run i is from start i % R.

        Several policies share them, each has equally many; so do the replicas of one. They move the
        system that was recorded, or a model of it with the same states.
        """
        starts = self.demo.runs
        repeats = count // len(policies)
        pieces = max(1, _BYTES // (self._bytes() * starts))
        for k, policy in enumerate(policies):
            done = 0
            if policy.replicas == 1 and repeats > _TRIED:
                numbers = np.arange(_TRIED * starts) + k * repeats * starts
                first = self._look(policy, numbers, seed, model)
                yield first
                done = _TRIED
                if first.repeats(starts):
                    # Nothing happens by chance: all runs from one start are the same.
                    one = first.rows(slice(0, starts))
                    yield join_looks([one] * (repeats - _TRIED))
                    continue
            for begin in range(done, repeats, pieces):
                end = min(repeats, begin + pieces)
                numbers = np.arange((k * repeats + begin) * starts, (k * repeats + end) * starts)
                selection = policy
                if policy.replicas > 1:
                    selection = select_replicas(policy, numbers // starts % policy.replicas)
                yield self._look(selection, numbers, seed, model)

    def _look(
        self, policy: LocalPolicy, numbers: NDArray[np.int64], seed: int, model: System | None
    ) -> SwarmLook:
        seen = simulate(
            started_as(model or self.system, self.demo, self.comparable.states),
            policy,
            numbers=numbers,
            steps=self.demo.steps,
            seed=seed,
            record=self.comparable.record if model is None else "states",
            threads=self.threads,
        )
        return look_at_runs(self.system, seen, self.comparable, self.discount, self.blocks)

    def _bytes(self) -> int:
        """The memory of one recorded run, about."""
        recorded = sum(v.values.nbytes for v in self.demo.variables.values()) // self.demo.runs
        return max(1, recorded + 8 * self.system.n_agents * self.demo.steps)
