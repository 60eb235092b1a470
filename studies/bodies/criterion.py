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

from studies.bodies.groups import Floats, Group, School
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
    told = {
        "order": np.abs(direction).mean(axis=1),
        "turning": np.degrees(np.abs(turning)),
    }
    place = runs["position"][:, half::_EVERY]
    school = isinstance(group, School)
    reach = group.near / 2 if isinstance(group, School) else group.radius  # type: ignore[attr-defined]
    spacing, others, crowded = [], [], []
    for time in range(place.shape[1]):  # one at a time: all of them may need much memory
        distance = _distances(place[:, time], None if school else group.box)  # type: ignore[attr-defined]
        nearest = distance.min(axis=2)
        spacing.append(nearest.mean(axis=1))
        others.append((distance < reach).sum(axis=2).mean(axis=1))
        crowded.append((nearest < reach).mean(axis=1))
    told["spacing"] = np.mean(spacing, axis=0)
    if not school:
        told["neighbours"] = np.mean(others, axis=0)
        return told
    centre = place.mean(axis=2, keepdims=True)
    told["cohesion"] = np.linalg.norm(place - centre, axis=-1).mean(axis=(1, 2))
    told["collisions"] = np.mean(crowded, axis=0)
    return told


def _distances(place: Floats, period: float | None) -> Floats:
    """Between all agents (runs, agents, agents); an agent is infinitely far from itself."""
    square = np.zeros((*place.shape[:2], place.shape[1]))
    for axis in (0, 1):
        gap = place[:, :, None, axis] - place[:, None, :, axis]
        if period is not None:
            gap -= period * np.rint(gap / period)
        square += gap * gap
    agents = np.arange(place.shape[1])
    square[:, agents, agents] = np.inf
    distance: Floats = np.sqrt(square)
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

    def inside(self, told: Statistics) -> dict[str, NDArray[np.bool_]]:
        """Whether each value of each statistic is in the range."""
        return {
            name: (np.asarray(values) >= self.low[name]) & (np.asarray(values) <= self.high[name])
            for name, values in told.items()
        }

    def holds(self, told: Statistics) -> NDArray[np.bool_]:
        """Whether all statistics are, for each value."""
        return np.asarray(np.logical_and.reduce(list(self.inside(told).values())))


def medians(told: Statistics, experiments: int) -> dict[str, Floats]:
    """The median over the runs of each experiment; run i is of experiment i % experiments."""
    return {
        name: np.median(values.reshape(-1, experiments), axis=0) for name, values in told.items()
    }
