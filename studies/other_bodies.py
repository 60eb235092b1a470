"""Does a reward carry over to another body, where a policy cannot?

The reward is learned from a swarm of points that turn at will: a flock that aligns, a school with
attraction and repulsion. Then other bodies that observe the same are planned for it: wheels,
torques, slow actuators, delays, biases, wrong wiring, a corridor. Copies of the points' policy take
the possible action that is nearest, or nearest to a share of the turn. Half of the study is for
development; the other half has other bodies and other seeds, and was run once.
"""

import dataclasses
import subprocess
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.bodies.bodies import Body
from studies.bodies.cases import DEVELOPMENT, FINAL, GROUPS, bodies_of
from studies.bodies.criterion import STEPS, Range, seen
from studies.bodies.groups import Group
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.fitting.replan import QUICK_SEARCH
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.cloning import clone
from swarmdp.judging.baselines import random_policies
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System
from swarmdp.model.traits import HasExpert
from swarmdp.policies import Controller, TablePolicy
from swarmdp.support import files

ROWS = "other-bodies.json"
SEEDS = {DEVELOPMENT: 910_000, FINAL: 930_000}
EXPERIMENTS = 30
SCALES = (0.5, 0.2, 0.1)  # shares of a turn that scaled copies make
RUNS = 10  # of each policy in each experiment
DEMO, FIT, PLAN, LOOK, RANDOM, RANGE = range(1, 7)  # parts with random numbers of their own
_DEMO_STEPS, _DEMO_RUNS = 100, 3
REWARD, HISTOGRAM, MODELLED, CHANCE = "reward", "histogram", "copy by a model", "random"
COPY, CLONE = "copy", "clone"
COPIES = [COPY, CLONE, *(f"{name}, {scale} of it" for name in (COPY, CLONE) for scale in SCALES)]
METHODS = [REWARD, HISTOGRAM, *COPIES, MODELLED, CHANCE]


@dataclass(frozen=True)
class Setting:
    """One row: all methods on one body."""

    part: str
    group: str
    body: str


@dataclass(frozen=True)
class Learned:
    """What one experiment has learned from points."""

    result: swarmdp.Result
    histogram: swarmdp.Reward
    turns: Mapping[str, NDArray[np.float64]]  # by class of observation, of the policy and the clone


def settings() -> list[Setting]:
    """All rows."""
    return [
        Setting(part, group, body)
        for part in (DEVELOPMENT, FINAL)
        for group in GROUPS
        for body in bodies_of(part, group)
    ]


@cache
def learned(part: str, group: str, experiment: int) -> Learned:
    """A fit to a demo of points, and a clone of its actions."""
    seed = derived_seed(SEEDS[part], list(GROUPS).index(group), experiment)
    points = GROUPS[group].points
    assert isinstance(points, HasExpert)
    demo = swarmdp.rollout(
        points,
        points.expert,
        steps=_DEMO_STEPS,
        runs=_DEMO_RUNS,
        seed=derived_seed(seed, DEMO),
        threads=1,
        progress=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
        result = swarmdp.fit(
            points, demo, seed=derived_seed(seed, FIT), threads=1, progress=False
        )
    policies = {COPY: result.policy, CLONE: clone(points, demo)}
    turns = {}
    for name, policy in policies.items():
        assert isinstance(policy, TablePolicy)
        turns[name] = np.asarray(points.actions, np.float64)[policy.table[0]]
    blocks = points.features.blocks
    return Learned(
        result, swarmdp.Reward(initial_reward(result.expert_mu).weights[0], blocks), turns
    )


@cache
def range_of(group: str) -> Range:
    """The range of a group's statistics."""
    return Range.of(GROUPS[group], derived_seed(SEEDS[DEVELOPMENT], RANGE))


def copied(body: Body, turns: NDArray[np.float64], scale: float, *, model: bool) -> Controller:
    """The points' policy with a body's actions, nearest to a share of each turn."""
    points = body.group.points

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        own = observations[..., : len(body.group.odd)]
        own = own.reshape((*own.shape[:2], *points.features.shape))
        wanted = scale * turns[points.features.index(own)]  # type: ignore[union-attr]
        return body.modelled(wanted, observations) if model else body.nearest(wanted)

    return act


def controllers(
    setting: Setting, body: Body, experiment: int, seed: int
) -> dict[str, tuple[Controller, float]]:
    """The controller of each method, and the seconds that planning took."""
    known = learned(setting.part, setting.group, experiment)
    chosen: dict[str, tuple[Controller, float]] = {}
    rewards: dict[str, swarmdp.Result | swarmdp.Reward] = {
        REWARD: known.result,
        HISTOGRAM: known.histogram,
    }
    for name, reward in rewards.items():
        began = time.process_time()
        plan = swarmdp.replan(
            reward,
            body,
            seed=derived_seed(seed, PLAN),
            search=QUICK_SEARCH,
            judge=False,
            threads=1,
            progress=False,
        )
        chosen[name] = plan.policy, time.process_time() - began
    for name, turns in known.turns.items():
        chosen[name] = copied(body, turns, 1.0, model=False), 0.0
        for scale in SCALES:
            chosen[f"{name}, {scale} of it"] = copied(body, turns, scale, model=False), 0.0
    chosen[MODELLED] = copied(body, known.turns[COPY], 1.0, model=True), 0.0
    rng = np.random.default_rng(derived_seed(seed, RANDOM))
    chosen[CHANCE] = random_policies(body, RUNS, rng)[0], 0.0
    return chosen


def measured(setting: Setting, experiments: int) -> Row:
    """All methods on one body, in all experiments."""
    body = bodies_of(setting.part, setting.group)[setting.body]
    limits = range_of(setting.group)
    row: dict[str, dict[str, Any]] = {
        name: {"reproduces": [], "misses": [], "statistics": {}} for name in METHODS
    }
    seconds = []
    for experiment in range(experiments):
        seed = derived_seed(
            SEEDS[setting.part],
            10 + list(GROUPS).index(setting.group),
            list(bodies_of(setting.part, setting.group)).index(setting.body),
            experiment,
        )
        for name, (controller, took) in controllers(setting, body, experiment, seed).items():
            told = seen(body.group, body, controller, runs=RUNS, seed=derived_seed(seed, LOOK))
            misses = limits.misses(told)
            row[name]["reproduces"].append(not misses)
            row[name]["misses"].append(misses)
            for statistic, values in told.items():
                row[name]["statistics"].setdefault(statistic, []).append(np.median(values))
            if name == REWARD:
                seconds.append(took)
    for of_method in row.values():
        of_method["statistics"] = {
            statistic: six_digits(values) for statistic, values in of_method["statistics"].items()
        }
    return {
        "methods": row,
        "seconds": six_digits(seconds),
        "settings": _numbers(body),
        "seed": SEEDS[setting.part],
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _numbers(body: Body) -> dict[str, Any]:
    """The numbers of a body and of its group."""
    told = {"kind": type(body).__name__, **vars(body), "group": vars(body.group)}
    return {
        name: {n: v for n, v in value.items() if isinstance(v, int | float)}
        if isinstance(value, dict)
        else value
        for name, value in told.items()
        if isinstance(value, int | float | str | dict)
    }


def own_runs(group: str, experiments: int = 100) -> dict[str, Any]:
    """What the criterion says of the expert itself, and of the learned policy on points."""
    limits, points = range_of(group), GROUPS[group].points
    assert isinstance(points, HasExpert)
    seeds = [derived_seed(SEEDS[FINAL], RANGE, k) for k in range(experiments)]
    looks = [seen(GROUPS[group], points, points.expert, runs=RUNS, seed=seed) for seed in seeds]
    return {
        "group": group,
        "accepted": float(np.mean([limits.holds(look) for look in looks])),
        "single_runs_accepted": float(np.mean([limits.holds_each(look) for look in looks])),
        "low": dict(limits.low),
        "high": dict(limits.high),
        "expert": dict(limits.expert),
        "random": dict(limits.random),
    }


def _commit() -> str:
    """The commit of this checkout; empty where there is none."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()
