"""Swarms let loose as the demo was: from its starts, for as long."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import started_as
from swarmdp.judging.discounts import course_of
from swarmdp.judging.statistics import Known, Look, joined, observed
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.simulation.rollout import simulate

TRIED = 2  # runs from each start that show whether anything happens by chance
BYTES = 2**28  # of recorded runs that are looked at together


@dataclass(frozen=True, eq=False)
class Stage:
    """A demo, and how other swarms are compared with it."""

    system: System
    demo: Trajectory
    known: Known
    discount: float
    threads: int | None
    look: Look  # at the demo
    course: NDArray[np.float64]  # (times,): how the demo develops

    @classmethod
    def of(
        cls, system: System, demo: Trajectory, discount: float, threads: int | None = None
    ) -> "Stage":
        """Look at a demo; raises InvalidInput if there is nothing to compare."""
        known = Known.of(system, demo)
        look = observed(system, demo, known, discount)
        return cls(system, demo, known, discount, threads, look, course_of(system, demo, known))

    def looks(
        self,
        policies: list[LocalPolicy],
        count: int,
        seed: int,
        model: System | None = None,
    ) -> Iterator[Look]:
        """Looks at `count` runs from each start; run i is from start i % R.

        Several policies share them, each has equally many; so do the replicas of one. They move the
        system that was recorded, or a model of it with the same states.
        """
        starts = self.demo.runs
        each = count // len(policies)
        pieces = max(1, BYTES // (self._bytes() * starts))
        for k, policy in enumerate(policies):
            done = 0
            if policy.replicas == 1 and each > TRIED:
                numbers = np.arange(TRIED * starts) + k * each * starts
                first = self._look(policy, numbers, seed, model)
                yield first
                done = TRIED
                if first.repeats(starts):
                    # Nothing happens by chance: all runs from one start are the same.
                    one = first.rows(slice(0, starts))
                    yield joined([one] * (each - TRIED))
                    continue
            for begin in range(done, each, pieces):
                end = min(each, begin + pieces)
                numbers = np.arange((k * each + begin) * starts, (k * each + end) * starts)
                own = policy
                if policy.replicas > 1:
                    own = select_replicas(policy, numbers // starts % policy.replicas)
                yield self._look(own, numbers, seed, model)

    def _look(
        self, policy: LocalPolicy, numbers: NDArray[np.int64], seed: int, model: System | None
    ) -> Look:
        seen = simulate(
            started_as(model or self.system, self.demo, self.known.states),
            policy,
            numbers=numbers,
            steps=self.demo.steps,
            seed=seed,
            record=self.known.record if model is None else "states",
            threads=self.threads,
        )
        return observed(self.system, seen, self.known, self.discount)

    def _bytes(self) -> int:
        """The memory of one recorded run, about."""
        recorded = sum(v.values.nbytes for v in self.demo.variables.values()) // self.demo.runs
        return max(1, recorded + 8 * self.system.n_agents * self.demo.steps)
