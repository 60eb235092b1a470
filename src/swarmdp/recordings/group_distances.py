"""How far a simulated group is from a recorded one: energy distances of the swarm's measures.

Swarms start where the recorded time began and go on for as long; where it is in several stretches,
from the beginning of each. What is compared are the distributions of polarisation, rotation,
distances and so on, over all of the time.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import recorded_states, started_as
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.recordings.decisions import Decisions
from swarmdp.simulation.rollout import simulate
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

RUNS = 24  # of a simulated swarm
LEAST_USED = 0.75  # share of the time that runs of equal length must have
SHORTEST = 10  # decisions in time of a run


def demo_in_runs(swarm: "Swarm", decisions: Decisions) -> Trajectory:
    """Decisions as a demo with a run for each stretch of time, all of the same length.

    So nothing is compared across a pause. The runs are as long as they can be while most of the
    time is in one of them; longer stretches are several runs.
    """
    numbers = decisions.bouts
    begins = np.flatnonzero(np.diff(numbers, prepend=-1))
    # The first time after a pause has no heading yet.
    stretches = [
        (begin + (1 if k else 0), end)
        for k, (begin, end) in enumerate(zip(begins, [*begins[1:], len(numbers)], strict=True))
    ]
    lengths = np.array([end - begin for begin, end in stretches])
    useful = [
        int(length)
        for length in np.unique(lengths)[::-1]
        if length >= SHORTEST and (lengths // length * length).sum() >= LEAST_USED * lengths.sum()
    ]
    if len(stretches) == 1 or not useful:
        return swarm.demo(decisions)
    demos = []
    times = np.arange(len(numbers))
    for begin, end in stretches:
        for start in range(begin, end - useful[0] + 1, useful[0]):
            kept = (times >= start) & (times < start + useful[0])
            try:
                demos.append(swarm.demo(decisions.at_times(kept)))
            except InvalidInput:  # too few were there at that time
                continue
    steps = {demo.steps for demo in demos}
    if len(steps) != 1:
        return swarm.demo(decisions)
    names = set.intersection(*(set(demo.variables) for demo in demos))
    joined = {
        name: replace(variable, values=np.concatenate([demo[name] for demo in demos]))
        for name, variable in demos[0].variables.items()
        if name in names
    }
    return replace(demos[0], variables=joined, runs=len(demos))


def measured(swarm: "Swarm", states: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """All measures of states (runs, times, agents, ...), each (runs, times)."""
    missing = set(swarm.measures) - set(states)
    known = {name: states[name] for name in swarm.fields if name in states}
    computed = swarm.measures_over(known) if missing else {}
    return {
        name: computed[name] if name in missing else np.asarray(states[name])
        for name in swarm.measures
    }


def mean_energy_distance(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> float:
    """The mean over all measures, each in standard deviations of both samples together."""
    from scipy.stats import energy_distance

    apart = []
    for name, values in other.items():
        a, b = one[name].ravel(), values.ravel()
        spread = float(np.concatenate([a, b]).std()) or 1.0
        apart.append(float(energy_distance(a, b)) ** 2 / spread)
    return float(np.mean(apart))


def group_distance(
    swarm: "Swarm",
    system: System,
    policy: LocalPolicy,
    decisions: Decisions,
    *,
    seed: int,
    runs: int = RUNS,
    threads: int | None = None,
) -> float:
    """The mean energy distance of a simulated group to recorded decisions.

    Parameters
    ----------
    swarm
        Whose measures are compared.
    system
        The swarm itself, or a model with the same states.
    policy
        Of its agents.
    decisions
        Usually the held-out ones.
    seed
        Same seed, same distance.
    runs
        From the first of these decisions on; at least as many.
    threads
        All cores by default.

    """
    demo = demo_in_runs(swarm, decisions)
    simulated = simulate(
        started_as(system, demo, recorded_states(swarm, demo)),
        policy,
        numbers=np.arange(-(-runs // demo.runs) * demo.runs),
        steps=demo.steps,
        seed=seed,
        record="states",
        threads=threads,
    )
    return mean_energy_distance(measured(swarm, simulated), measured(swarm, demo))


def recorded_parts(swarm: "Swarm", train: Decisions, test: Decisions) -> list[Trajectory]:
    """The training time in parts that are about as long as the held-out time.

    What they differ from it by is what the recording itself differs by in that time, and no swarm
    can be blamed for.
    """
    count = max(1, round(train.times / test.times))
    part = np.arange(train.times) * count // train.times
    return [demo_in_runs(swarm, train.at_times(part == k)) for k in range(count)]


def own_distance(swarm: "Swarm", train: Decisions, test: Decisions) -> float:
    """How far parts of the training time are from the held-out time, mean energy distance."""
    recorded = measured(swarm, demo_in_runs(swarm, test))
    apart = [
        mean_energy_distance(measured(swarm, part), recorded)
        for part in recorded_parts(swarm, train, test)
    ]
    return float(np.mean(apart))
