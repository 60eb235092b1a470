"""A reward for other bodies: whether it carries over where a policy cannot.

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
from collections.abc import Mapping, Sequence
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
from studies.bodies.criterion import Range, medians, seen
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.fitting.replan import QUICK_SEARCH
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.cloning import clone
from swarmdp.judging.baselines import random_policies
from swarmdp.model.features import Classes
from swarmdp.model.streams import derived_seed
from swarmdp.model.traits import HasExpert
from swarmdp.policies import Controller, LocalPolicy, TablePolicy
from swarmdp.policies.replicas import join_replicas, select_replicas
from swarmdp.support import files

ROWS = "other-bodies.json"
CRITERION = "criterion"
SEEDS = {DEVELOPMENT: 910_000, FINAL: 930_000}
EXPERIMENTS = 30
SCALES = (0.5, 0.2, 0.1)  # shares of a turn that scaled copies make
RUNS = 10  # of each policy in each experiment
DEMO, FIT, PLAN, LOOK, RANDOM, RANGE, PICTURE = range(
    1, 8
)  # parts with random numbers of their own
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

    @property
    def is_histogram(self) -> bool:
        """Whether the fit has chosen the visit histogram."""
        return bool(np.allclose(self.result.reward.weights, self.histogram.weights, atol=1e-12))


def settings() -> list[Setting]:
    """All rows."""
    bodies = [
        Setting(part, group, body)
        for part in (DEVELOPMENT, FINAL)
        for group in GROUPS
        for body in bodies_of(part, group)
    ]
    return [*(Setting(CRITERION, group, "points") for group in GROUPS), *bodies]


@cache
def learned(part: str, group: str, experiment: int) -> Learned:
    """A fit to a demo of points, and a clone of its actions."""
    seed = derived_seed(SEEDS[part], list(GROUPS).index(group), experiment)
    points = GROUPS[group].points
    assert isinstance(points, HasExpert)
    demo, with_actions = (
        swarmdp.rollout(
            points,
            points.expert,
            steps=_DEMO_STEPS,
            runs=_DEMO_RUNS,
            seed=derived_seed(seed, DEMO),
            record=record,
            threads=1,
            progress=False,
        )
        for record in (["states"], ["observations", "actions"])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
        result = swarmdp.fit(points, demo, seed=derived_seed(seed, FIT), threads=1, progress=False)
    policies = {COPY: result.policy, CLONE: clone(points, with_actions)}
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


def copied(body: Body, turns: NDArray[np.float64], scale: float) -> swarmdp.Policy:
    """Policies of points (R, classes) with a body's actions, nearest to a share of each turn."""
    actions = body.nearest(scale * turns)
    table = np.abs(actions[..., None] - body.actions).argmin(axis=-1)
    own = body.features.size // table.shape[1]  # what the body knows of itself makes no difference
    return swarmdp.Policy(np.repeat(table, own, axis=1))


def modelled(body: Body, turns: NDArray[np.float64]) -> Controller:
    """A policy of points (classes,) with the actions after which the next turn is the nearest."""
    features = body.group.points.features
    assert isinstance(features, Classes)

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        own = observations[..., : len(body.group.odd)]
        own = own.reshape((*own.shape[:2], *features.shape))
        return body.modelled(turns[features.index(own)], observations)

    return act


def planned(
    body: Body, rewards: Sequence[swarmdp.Result | swarmdp.Reward], seeds: Sequence[int]
) -> tuple[LocalPolicy, list[float]]:
    """What is planned for the reward of each experiment, and the seconds that it took."""
    policies, seconds = [], []
    for reward, seed in zip(rewards, seeds, strict=True):
        began = time.process_time()
        plan = swarmdp.replan(
            reward, body, seed=seed, search=QUICK_SEARCH, judge=False, threads=1, progress=False
        )
        seconds.append(time.process_time() - began)
        policies.append(plan.policy)
    return join_replicas(policies), seconds


def measured(setting: Setting, experiments: int) -> Row:
    """All methods on one body, in all experiments; or what the criterion says of the expert."""
    if setting.part == CRITERION:
        return own_runs(setting.group)
    body = bodies_of(setting.part, setting.group)[setting.body]
    place = list(bodies_of(setting.part, setting.group)).index(setting.body)
    seed = derived_seed(SEEDS[setting.part], 10 + list(GROUPS).index(setting.group), place)
    known = [learned(setting.part, setting.group, k) for k in range(experiments)]
    seeds = [derived_seed(seed, PLAN, k) for k in range(experiments)]
    look = derived_seed(seed, LOOK)
    by_reward, seconds = planned(body, [one.result for one in known], seeds)
    # Where the fit has chosen the histogram, the same is planned with the same seed.
    others = [k for k, one in enumerate(known) if not one.is_histogram]
    by_histogram = select_replicas(by_reward, np.arange(experiments))
    if others:
        again, _ = planned(body, [known[k].histogram for k in others], [seeds[k] for k in others])
        source = np.arange(experiments)
        source[others] = experiments + np.arange(len(others))
        by_histogram = select_replicas(join_replicas([by_reward, again]), source)
    policies: dict[str, LocalPolicy] = {REWARD: by_reward, HISTOGRAM: by_histogram}
    for name in (COPY, CLONE):
        turns = np.stack([one.turns[name] for one in known])
        policies[name] = copied(body, turns, 1.0)
        for scale in SCALES:
            policies[f"{name}, {scale} of it"] = copied(body, turns, scale)
    rng = np.random.default_rng(derived_seed(seed, RANDOM))
    (policies[CHANCE],) = random_policies(body, RUNS * experiments, rng)
    told = {
        name: medians(
            seen(body.group, body, policy, runs=RUNS * experiments, seed=look), experiments
        )
        for name, policy in policies.items()
    }
    alone = [
        medians(seen(body.group, body, modelled(body, one.turns[COPY]), runs=RUNS, seed=s), 1)
        for one, s in zip(known, seeds, strict=True)
    ]
    told[MODELLED] = {name: np.concatenate([one[name] for one in alone]) for name in alone[0]}
    limits = range_of(setting.group)
    return {
        "methods": {
            name: {
                "reproduces": limits.holds(told[name]).tolist(),
                "inside": {n: float(v.mean()) for n, v in limits.inside(told[name]).items()},
                "statistics": {n: six_digits(v) for n, v in told[name].items()},
            }
            for name in METHODS
        },
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


def own_runs(group: str, experiments: int = 100) -> Row:
    """The ranges of a group, and what the criterion says of the expert itself."""
    limits, points = range_of(group), GROUPS[group].points
    assert isinstance(points, HasExpert)
    seed = derived_seed(SEEDS[FINAL], RANGE)
    own = seen(GROUPS[group], points, points.expert, runs=RUNS * experiments, seed=seed)
    return {
        "accepted": float(limits.holds(medians(own, experiments)).mean()),
        "single_runs_accepted": float(limits.holds(own).mean()),
        "low": _rounded(limits.low),
        "high": _rounded(limits.high),
        "expert": _rounded(limits.expert),
        "random": _rounded(limits.random),
        "seed": SEEDS[FINAL],
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return dict(zip(values, six_digits(values.values()), strict=True))


@cache
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


def study(
    output: Path, experiments: int = EXPERIMENTS, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write the tables.

    Parameters
    ----------
    output
        The folder for `other-bodies.json` (the rows), `other-bodies.md` (the tables) and
        `other-bodies.gif` (points, heavy bodies planned again, and with the copied policy).
    experiments
        The number of independent demos and fits of each row.
    only
        Just these parts: "criterion", "development", "run once".
    quick
        Two experiments with one body of the flock.

    """
    selected = select(settings(), "part", only)
    if quick:
        selected = [s for s in selected if (s.group, s.body) == ("flock", "half wired wrongly")]
        experiments = 2
    output.mkdir(parents=True, exist_ok=True)
    _commit()  # of the start, whatever is committed meanwhile
    jobs = [
        Job(dataclasses.asdict(setting), partial(measured, setting, experiments))
        for setting in selected
    ]
    shared = conditions(quick=quick, experiments=experiments)
    rows = collect(output / ROWS, jobs, shared, line)
    files.write_text(output / "other-bodies.md", tables(rows))
    if not quick:
        from studies.bodies import picture

        picture.write(output / "other-bodies.gif")
    return rows


def share(row: Row, method: str) -> float:
    """The share of experiments in which a method reproduces the group."""
    return float(np.mean(row["methods"][method]["reproduces"]))


def best_copy(row: Row) -> tuple[str, float]:
    """The copy that reproduces the group most often; of those that do equally, the most ordered."""

    def key(method: str) -> tuple[float, float]:
        return share(row, method), float(np.mean(row["methods"][method]["statistics"]["order"]))

    best = max(COPIES, key=key)
    return best, share(row, best)


def line(row: Row) -> str:
    """One row in a line."""
    if row["part"] == CRITERION:
        return f"{row['group']}: the expert is accepted in {row['accepted']:.0%}"
    copy, often = best_copy(row)
    return (
        f"{row['part']}, {row['group']}, {row['body']}: reward {share(row, REWARD):.0%}, "
        f"histogram {share(row, HISTOGRAM):.0%}, {copy} {often:.0%}"
    )


def tables(rows: Sequence[Row]) -> str:
    """All rows as Markdown."""
    own = [row for row in rows if row["part"] == CRITERION]
    parts = [_ranges(own)] if own else []
    for part in (DEVELOPMENT, FINAL):
        here = [row for row in rows if row["part"] == part]
        if here:
            parts += [f"{part}: experiments that reproduce the group", _shares(here)]
        for group in dict.fromkeys(row["group"] for row in here):
            of_group = [row for row in here if row["group"] == group]
            parts += [f"{part}, {group}: mean statistics", _means(of_group)]
    return "\n\n".join(parts) + "\n"


def _ranges(own: Sequence[Row]) -> str:
    head = ["group", "statistic", "expert", "random", "range", "expert accepted", "single runs"]
    lines = [
        [
            one["group"],
            name,
            f"{one['expert'][name]:.3g}",
            f"{one['random'][name]:.3g}",
            f"{max(0.0, one['low'][name]):.3g} to {one['high'][name]:.3g}",
            f"{one['accepted']:.0%}",
            f"{one['single_runs_accepted']:.0%}",
        ]
        for one in own
        for name in one["low"]
    ]
    return markdown(head, lines)


def _shares(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        cells = [
            share(row, REWARD),
            share(row, HISTOGRAM),
            share(row, COPY),
            max(share(row, method) for method in COPIES if method.startswith(f"{COPY},")),
            share(row, CLONE),
            max(share(row, method) for method in COPIES if method.startswith(f"{CLONE},")),
            share(row, MODELLED),
            share(row, CHANCE),
        ]
        seconds = f"{np.mean(row['seconds']):.1f} s"
        lines.append([row["group"], row["body"], *(f"{cell:.0%}" for cell in cells), seconds])
    head = [
        *("group", "body", "reward", "histogram", "copy", "copy, scaled", "clone"),
        *("clone, scaled", "copy by a model", "random", "time to plan"),
    ]
    return markdown(head, lines)


def _means(rows: Sequence[Row]) -> str:
    names = list(rows[0]["methods"][REWARD]["statistics"])
    lines = [
        [row["body"], method]
        + [f"{np.mean(row['methods'][method]['statistics'][name]):.3g}" for name in names]
        for row in rows
        for method in (REWARD, HISTOGRAM, best_copy(row)[0], MODELLED, CHANCE)
    ]
    return markdown(["body", "method", *names], lines)


if __name__ == "__main__":
    command.main(
        study,
        "other_bodies",
        "Does a reward carry over to another body, where a policy cannot (about an hour).",
        experiments=EXPERIMENTS,
        only='parts: "criterion", "development", "run once"',
    )
