"""When bodies move as the group of points does: statistics of a group, and what range they have.

The criterion was fixed before any body was chosen. A run is described by statistics of its second
half, when a group has settled. For each statistic there is the range of the expert's own runs
on points (all statistics together hold 95 % of these), widened by a tenth of the difference
between the expert and random policies, as the studies of unseen swarms tolerate it. Bodies that
cannot turn at will settle a little otherwise; who is no farther off than that is said to reproduce
the group. The medians of an experiment's runs are compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.bodies.groups import Flock, Floats, Group, School
from swarmdp.judging.baselines import random_policies
from swarmdp.model.system import System
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.rollout import rollout

STEPS = 200  # of a run; the second half counts
_EVERY = 5  # steps between looks at distances
_MISSED = 0.05  # share of the expert's runs that lie outside in some statistic, at most
_TOLERANCE = 0.1  # of the difference between the expert and random policies
_EXPERT_RUNS, _RANDOM_RUNS = 400, 100

Statistics = Mapping[str, Floats]
"""By name, one number for each run."""


def statistics(group: Group, runs: Trajectory) -> dict[str, Floats]:
    """What the second half of each run is like."""
    half = runs.steps // 2
    direction = np.exp(1j * runs["heading"][:, half:]).mean(axis=2)
    turning = np.angle(direction[:, 1:] * direction[:, :-1].conj()).mean(axis=1)
    place = runs["position"][:, half::_EVERY]
    told = {
        "order": np.abs(direction).mean(axis=1),
        "turning": np.degrees(np.abs(turning)),
    }
    if isinstance(group, Flock):
        distance = _distances(place, group.box)
        told["spacing"] = distance.min(axis=-1).mean(axis=(1, 2))
        told["neighbours"] = (distance < group.radius).sum(axis=-1).mean(axis=(1, 2))
    if isinstance(group, School):
        distance = _distances(place, None)
        centre = place.mean(axis=2, keepdims=True)
        told["spacing"] = distance.min(axis=-1).mean(axis=(1, 2))
        told["cohesion"] = np.linalg.norm(place - centre, axis=-1).mean(axis=(1, 2))
        told["collisions"] = (distance.min(axis=-1) < group.near / 2).mean(axis=(1, 2))
    return told


def _distances(place: Floats, period: float | None) -> Floats:
    """Between all agents (..., agents, agents); an agent is infinitely far from itself."""
    gaps = place[..., :, None, :] - place[..., None, :, :]
    if period is not None:
        gaps -= period * np.rint(gaps / period)
    distance: Floats = np.sqrt((gaps**2).sum(axis=-1))
    agents = np.arange(place.shape[-2])
    distance[..., agents, agents] = np.inf
    return distance


def seen(
    group: Group, system: System, policy: Controller, *, runs: int, seed: int, steps: int = STEPS
) -> dict[str, Floats]:
    """The statistics of runs of a swarm."""
    made = rollout(system, policy, steps=steps, runs=runs, seed=seed, threads=1, progress=False)
    return statistics(group, made)


@dataclass(frozen=True)
class Range:
    """What each statistic of a group may be."""

    low: Mapping[str, float]
    high: Mapping[str, float]
    expert: Mapping[str, float]  # medians
    random: Mapping[str, float]

    @classmethod
    def of(cls, group: Group, seed: int, steps: int = STEPS) -> "Range":
        """The range of the expert's own runs on points, and a little more."""
        points = group.points
        assert isinstance(points, HasExpert)
        expert = seen(group, points, points.expert, runs=_EXPERT_RUNS, seed=seed, steps=steps)
        rng = np.random.default_rng(seed)
        random = [
            seen(group, points, policy, runs=policy.replicas, seed=seed + 1, steps=steps)
            for policy in random_policies(points, _RANDOM_RUNS, rng)
        ]
        chance = {name: np.concatenate([r[name] for r in random]) for name in expert}
        share = _MISSED / len(expert) / 2
        low, high, here, there = {}, {}, {}, {}
        for name, values in expert.items():
            here[name], there[name] = float(np.median(values)), float(np.median(chance[name]))
            slack = _TOLERANCE * abs(here[name] - there[name])
            ends = np.quantile(values, [share, 1 - share])
            low[name], high[name] = float(ends[0] - slack), float(ends[1] + slack)
        return cls(low, high, here, there)

    def misses(self, told: Statistics) -> list[str]:
        """The statistics whose median is outside."""
        return [
            name
            for name, values in told.items()
            if not self.low[name] <= np.median(values) <= self.high[name]
        ]

    def holds(self, told: Statistics) -> bool:
        """Whether the runs reproduce the group."""
        return not self.misses(told)

    def holds_each(self, told: Statistics) -> NDArray[np.bool_]:
        """Whether each single run would."""
        return np.logical_and.reduce(
            [(values >= self.low[n]) & (values <= self.high[n]) for n, values in told.items()]
        )
