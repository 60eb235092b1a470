"""The units of work: each depends on the plan and its own number alone.

A task is a row of units that compute the same kind of thing for different runs or experiments. A
unit returns plain arrays by name, the first axis that of its runs or experiments.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.fitting.fit import fit
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.expectations import Estimator, feature_expectations
from swarmdp.learning.heterogeneous import HeterogeneousLearning, default_learning, paper_learning
from swarmdp.learning.q_functions import Problem
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Streams, derived_seed
from swarmdp.paper.pairs import sample_pairs
from swarmdp.paper.plan import Plan, blocks
from swarmdp.policies import LocalPolicy, Policy
from swarmdp.policies.replicas import table_of
from swarmdp.simulation.rollout import rollout, simulate
from swarmdp.support.arrays import Floats, Ints

Arrays = dict[str, NDArray[Any]]

LEARNERS = ("paper", "default")
AS_THE_PAPER: dict[str, Any] = {"evaluations": 1, "mirror": False, "search": "newest"}
_SYSTEMS = ("vicsek", "ising")
ESTIMATORS: tuple[Estimator, ...] = ("swarm", "single")
STAGES = 4  # of one policy update


@dataclass(frozen=True)
class Unit:
    """One piece of work."""

    task: str
    index: int

    def __str__(self) -> str:
        return f"{self.task} {self.index}"


@dataclass(frozen=True)
class Task:
    """A row of units."""

    count: int
    compute: Callable[[Plan, int, int], Arrays]  # from plan, unit's number and threads
    cost: float  # of a unit, relative to others: for the time left


@dataclass(frozen=True, eq=False)
class Case:
    """One of the paper's two systems with what its experiments measure."""

    system: Any
    steps: int
    measure: Callable[..., NDArray[Any]]
    hand_crafted: Floats  # the weights of the paper's hand-crafted reward


def case_of(plan: Plan, name: str) -> Case:
    """The Vicsek or the Ising experiment of a plan."""
    if name == "vicsek":
        system: Any = plan.vicsek
        return Case(system, plan.vicsek_steps, system.order, _only(system, 0.0))
    system = plan.ising
    return Case(system, plan.ising_steps, system.energy, _only(system, 0))


def learner_of(plan: Plan, which: str) -> HeterogeneousLearning:
    """The paper's policy update, or the default."""
    learner = paper_learning() if which == "paper" else default_learning()
    if plan.learning_iterations is None:
        return learner
    return replace(learner, steps=plan.learning_iterations)


def seed_of(plan: Plan, name: str, index: int = 0) -> int:
    """The seed of one part of the work."""
    return derived_seed(plan.seed, zlib.crc32(name.encode()), index)


def _only(system: Any, observation: float) -> Floats:
    """A reward for one class of observations."""
    weights = np.zeros(system.features.size)
    weights[system.features.index(np.array([observation]))] = 1.0
    return weights


def _expert(plan: Plan, index: int, threads: int, system: str) -> Arrays:
    """A measure of the expert over time, for a block of runs."""
    case = case_of(plan, system)
    recorded = simulate(
        case.system,
        case.system.expert,
        numbers=blocks(plan.expert_runs, plan.runs_block)[index],
        steps=case.steps,
        seed=seed_of(plan, f"{system}-expert"),
        record={"measure": case.measure},
        threads=threads,
    )
    return {"measure": recorded["measure"]}


def _fit(
    plan: Plan, index: int, threads: int, system: str, estimator: Estimator, which: str
) -> Arrays:
    """Fits of a block of experiments, and the measure of their policies over time."""
    case = case_of(plan, system)
    demo = demonstration(plan, system, _experiments(plan, index), threads)
    name = f"{system}-{estimator}-{which}"
    result = fit(
        case.system,
        demo,
        seed=seed_of(plan, f"{name}-fit", index),
        separate=True,
        estimator=estimator,
        learner=learner_of(plan, which),
        **(AS_THE_PAPER if which == "paper" else {}),
        iterations=plan.irl_iterations,
        discount=plan.discount,
        threads=threads,
        judge=False,
    )
    return {
        "weights": result.reward.weights,
        "table": table_of(result.policy),
        "distance": result.distance,
        "visited": result.expert_mu > 0,
        **_measure(
            plan, case, result.policy, len(result.distance), seed_of(plan, name, index), threads
        ),
    }


def demonstration(
    plan: Plan,
    system: str,
    experiments: Ints,
    threads: int,
    record: str = "observations",
) -> Any:
    """The one expert trajectory that each of these experiments learns from."""
    expert = case_of(plan, system).system
    return simulate(
        expert,
        expert.expert,
        numbers=experiments,
        steps=plan.demo_steps,
        seed=seed_of(plan, f"{system}-demo"),
        record=record,
        threads=threads,
    )


def _learn_hand_crafted(plan: Plan, index: int, threads: int, system: str, which: str) -> Arrays:
    """Policies learned for the hand-crafted reward, and their measure over time."""
    case = case_of(plan, system)
    name = f"{system}-hand-{which}"
    experiments = len(_experiments(plan, index))
    rewards = Reward(np.tile(case.hand_crafted, (experiments, 1)))
    learned = learner_of(plan, which)(
        case.system,
        rewards,
        discount=plan.discount,
        seed=seed_of(plan, f"{name}-fit", index),
        threads=threads,
    )
    seed = seed_of(plan, name, index)
    judged = _measure(plan, case, learned.policy, experiments, seed, threads)
    return {"table": table_of(learned.policy), **judged}


def _random(plan: Plan, index: int, threads: int, system: str) -> Arrays:
    """The measure over time of policies drawn at random, a fresh one for every run."""
    case = case_of(plan, system)
    experiments = len(_experiments(plan, index))
    rng = np.random.default_rng(seed_of(plan, f"{system}-random-tables", index))
    shape = (plan.runs_each * experiments, case.system.features.size)
    policy = Policy(rng.integers(len(case.system.actions), size=shape))
    seed = seed_of(plan, f"{system}-random", index)
    return _measure(plan, case, policy, experiments, seed, threads)


def _measure(
    plan: Plan, case: Case, policy: LocalPolicy, experiments: int, seed: int, threads: int
) -> Arrays:
    """Mean and conditional quantiles over the runs of each experiment (experiments, times)."""
    recorded = rollout(
        case.system,
        policy,
        steps=case.steps,
        runs=plan.runs_each * experiments,
        seed=seed,
        record={"measure": case.measure},
        threads=threads,
    )
    values = recorded["measure"].reshape(plan.runs_each, experiments, -1).astype(np.float64)
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    return {"mean": values.mean(axis=0), "low": low, "high": high}


def _snapshots(plan: Plan, index: int, threads: int, which: str) -> Arrays:
    """The swarm at four stages of the first policy update of Algorithm 1."""
    system, learner = plan.vicsek, learner_of(plan, which)
    demo = demonstration(plan, "vicsek", np.arange(1), threads)
    reward = initial_reward(feature_expectations(system, demo, discount=plan.discount))
    swarms = learner.swarms_for(system)
    streams = Streams.of(seed_of(plan, f"snapshots-{which}"), np.arange(swarms), system.n_agents)
    stages = np.linspace(0, learner.steps - 1, STAGES).round().astype(int)
    problem = Problem(system, reward, plan.discount)
    kept = [
        snapshot
        for snapshot in learner.iterate(learner.q_update.start(problem), problem, streams)
        if snapshot.iteration in stages
    ]
    return {
        "iteration": np.array([snapshot.iteration for snapshot in kept]),
        "temperature": np.array([snapshot.temperature for snapshot in kept]),
        "position": np.stack([snapshot.state["position"][0] for snapshot in kept]),
        "heading": np.stack([snapshot.state["heading"][0] for snapshot in kept]),
        "exploring": np.stack([snapshot.exploring[0] for snapshot in kept]),
    }


def _pairs(plan: Plan, index: int, threads: int, radius: float) -> Arrays:
    """Headings of pairs of the expert's agents at every topological distance."""
    system = replace(plan.vicsek, radius=radius)
    pairs = sample_pairs(
        system,
        system.expert,
        numbers=blocks(plan.uncertainty_runs, plan.runs_block)[index],
        times=plan.uncertainty_times,
        seed=seed_of(plan, f"uncertainty-{radius:g}"),
        threads=threads,
    )
    return {"reference": pairs.reference, "partner": pairs.partner}


def _experiments(plan: Plan, index: int) -> Ints:
    return blocks(plan.experiments, plan.experiments_block)[index]


def tasks_of(plan: Plan) -> dict[str, Task]:
    """All tasks of a plan by name."""
    runs = len(blocks(plan.expert_runs, plan.runs_block))
    pairs = len(blocks(plan.uncertainty_runs, plan.runs_block))
    experiments = len(blocks(plan.experiments, plan.experiments_block))
    tasks = {
        f"snapshots-{which}": Task(1, partial(_snapshots, which=which), 0.1) for which in LEARNERS
    }
    for radius in plan.radii:
        tasks[f"uncertainty-{radius:g}"] = Task(pairs, partial(_pairs, radius=radius), 1.0)
    for system in _SYSTEMS:
        tasks[f"{system}-expert"] = Task(runs, partial(_expert, system=system), 1.0)
        tasks[f"{system}-random"] = Task(experiments, partial(_random, system=system), 1.0)
        for which in LEARNERS:
            tasks[f"{system}-hand-{which}"] = Task(
                experiments, partial(_learn_hand_crafted, system=system, which=which), 1.0
            )
            for estimator in ESTIMATORS:
                tasks[f"{system}-{estimator}-{which}"] = Task(
                    experiments,
                    partial(_fit, system=system, estimator=estimator, which=which),
                    8.0 if (system, which) == ("vicsek", "default") else 4.0,
                )
    return tasks


FIGURE_TASKS: dict[str, tuple[str, ...]] = {
    "snapshots": ("snapshots-",),
    "uncertainty": ("uncertainty-",),
    "vicsek-reward": ("vicsek-swarm-",),
    "trajectories": ("vicsek-swarm-",),
    "order": ("vicsek-",),
    "ising-reward": ("ising-swarm-",),
    "energy": ("ising-",),
}
"""The paper's figures in its order, and how the tasks are called that they are made of."""


def units_of(plan: Plan, figure: str) -> list[Unit]:
    """The units that a figure needs."""
    return [
        Unit(name, index)
        for name, task in tasks_of(plan).items()
        if name.startswith(FIGURE_TASKS[figure])
        for index in range(task.count)
    ]


def compute(plan: Plan, unit: Unit, threads: int = 1) -> Arrays:
    """Do one unit of work."""
    return tasks_of(plan)[unit.task].compute(plan, unit.index, threads)
