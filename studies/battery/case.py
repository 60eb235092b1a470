"""A case of the battery: a swarm, how its demo is recorded, and when a learned swarm is right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.baselines import random_policies
from swarmdp.model.system import System
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.rollout import rollout

Score = Callable[[Trajectory], NDArray[np.float64]]
"""What a swarm achieves: one number for each run (runs,) of a trajectory with its states."""

_SCORED, _RANDOM = 60, 40  # runs that estimate a score; random tables that show its scale
_TOLERANCE = 0.1  # of the difference between the expert and random tables
_ERRORS = 2.0  # standard errors of the estimates that are allowed besides


@dataclass(frozen=True)
class Case:
    """A swarm and what is right for it.

    Parameters
    ----------
    name
        A word or two, unique in the battery.
    kind
        The kind of collective behaviour, such as "consensus".
    system
        The swarm, with an `expert`.
    scores
        What the swarm achieves, by name. Together they tell the expert's behaviour from all that
        should not count as the same: which way a convoy goes, at which lamp a swarm gathers.
    steps
        The time steps of the demo and of the runs that are scored.
    runs
        The runs of the demo.
    learnable
        Whether a reactive local agent with these observations can do it.
    reason
        Why it cannot, in a few words; empty if it can.

    """

    name: str
    kind: str
    system: System
    scores: Mapping[str, Score]
    steps: int = 100
    runs: int = 3
    learnable: bool = True
    reason: str = ""

    def demo(self, seed: int) -> Trajectory:
        """What the learner is given: states, and no actions."""
        return self.trajectory(self._expert, runs=self.runs, seed=seed)

    def trajectory(self, policy: Controller, *, runs: int, seed: int) -> Trajectory:
        """Runs of the swarm under a policy, with their states."""
        return rollout(self.system, policy, steps=self.steps, runs=runs, seed=seed, progress=False)

    def judge(self, policy: Controller, seed: int) -> dict[str, dict[str, float]]:
        """The scores of a policy, of the expert and of random tables, and how far off it is.

        `off` is the difference from the expert in units of what is tolerated: a tenth of the
        difference between the expert and random tables, and two standard errors of the estimates.
        """
        tables = random_policies(self.system, _RANDOM, np.random.default_rng(seed))
        swarms = {
            "learned": [self.trajectory(policy, runs=_SCORED, seed=seed)],
            "expert": [self.trajectory(self._expert, runs=_SCORED, seed=seed + 1)],
            "random": [self.trajectory(p, runs=p.replicas, seed=seed + 2) for p in tables],
        }
        scored = {}
        for name, score in self.scores.items():
            values = {
                swarm: np.concatenate([score(runs) for runs in parts])
                for swarm, parts in swarms.items()
            }
            row = {swarm: float(v.mean()) for swarm, v in values.items()}
            both = (values["learned"], values["expert"])
            error = np.sqrt(sum(v.var(ddof=1) / len(v) for v in both))
            tolerated = _TOLERANCE * abs(row["expert"] - row["random"]) + _ERRORS * error
            row["off"] = float(abs(row["learned"] - row["expert"]) / max(tolerated, 1e-12))
            scored[name] = row
        return scored

    def is_right(self, policy: Controller, seed: int) -> bool:
        """Whether a policy does what the expert does, by all scores."""
        return all(row["off"] <= 1 for row in self.judge(policy, seed).values())

    @property
    def _expert(self) -> Controller:
        assert isinstance(self.system, HasExpert)
        return self.system.expert
