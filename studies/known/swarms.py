"""Swarms whose reward is known and that the theory enumerates: rings of spins and other small ones.

All policies are listed. The expert is the one that is worth most under the true reward if all
agents follow it; what is planned for a learned reward is the best for that one.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.known.problem import DISCOUNT
from swarmdp import theory

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SmallSwarm:
    """A small swarm with a known reward, and the same observations with other dynamics."""

    name: str
    here: Any
    changed: Any
    reward: Floats  # one number for each observation

    def demo(self, seed: int, runs: int = 20, steps: int = 60) -> swarmdp.Trajectory:
        """What the learner is given: states of a swarm with the best policy, and no actions."""
        return swarmdp.rollout(
            self.here, self.expert, steps=steps, runs=runs, seed=seed, progress=False
        )

    @cached_property
    def expert(self) -> swarmdp.Policy:
        """The policy that is worth most."""
        tables, mu = self._all[False]
        return swarmdp.Policy(tables[int((mu @ self.reward).argmax())])

    def share(self, weights: Floats, *, changed: bool) -> float:
        """The value of what is planned for these weights: 0 for random, 1 for optimal."""
        _, mu = self._all[changed]
        worth = mu @ self.reward
        planned = mu @ weights
        # Policies that are equally good for the weights count as one of them at random.
        equal = planned >= planned.max() - 1e-9 * max(1.0, float(np.abs(planned).max()))
        return float((worth[equal].mean() - worth.mean()) / (worth.max() - worth.mean()))

    @cached_property
    def _all(self) -> dict[bool, tuple[NDArray[np.int64], Floats]]:
        """All policies (P, O), and what an agent sees under each (P, O): here, and changed."""
        return {False: _expectations(self.here), True: _expectations(self.changed)}


def _expectations(system: Any) -> tuple[NDArray[np.int64], Floats]:
    """All policies (P, O) of a system, and what an agent sees under each, discounted (P, O)."""
    shape = system.features.size, len(system.actions)
    tables = np.array(list(itertools.product(range(shape[1]), repeat=shape[0])))
    policies = (swarmdp.Policy(table) for table in tables)
    return tables, np.stack([theory.chain(system, p).expectations(DISCOUNT) for p in policies])


def development() -> list[SmallSwarm]:
    """Swarms with which the choice of the reward was developed."""
    return [
        _ring("ring of 5 spins", 5, 1, (0.1, 0.3), 1),
        _ring("ring of 6 spins, wide", 6, 2, (0.1, 0.3), 2),
        _random("random swarm", (3, 4), 4),
    ]


def unseen() -> list[SmallSwarm]:
    """Swarms that were written last and run once."""
    return [
        _ring("ring of 7 spins", 7, 1, (0.2, 0.05), 11),
        _ring("ring of 7 spins, wide", 7, 2, (0.05, 0.2), 12),
        _ring("ring of 6 spins, less noise", 6, 2, (0.3, 0.1), 13),
        SmallSwarm(
            "Vicsek on a ring",
            theory.VicsekRing(3, cells=5, radius=1, noise=0.2),
            theory.VicsekRing(4, cells=5, radius=1, noise=0.4),
            np.random.default_rng(14).normal(size=3),
        ),
        _random("another random swarm", (21, 22), 15),
        _random("a third random swarm", (23, 24), 16),
    ]


def _ring(name: str, spins: int, reach: int, noises: tuple[float, float], seed: int) -> SmallSwarm:
    here, changed = (theory.FiniteIsing((spins,), reach, noise=noise) for noise in noises)
    reward = np.random.default_rng(seed).normal(size=here.features.size)
    return SmallSwarm(name, here, changed, reward)


def _random(name: str, seeds: tuple[int, int], seed: int) -> SmallSwarm:
    here, changed = (theory.RandomSwarm(3, 3, 4, 2, seed=number) for number in seeds)
    reward = np.random.default_rng(seed).normal(size=here.features.size)
    return SmallSwarm(name, here, changed, reward)
