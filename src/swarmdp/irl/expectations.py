"""Value estimation: what a swarm's trajectories say about its feature expectations.

The value of a policy is linear in its feature expectations, V = w . mu, so estimating mu estimates
the value for every reward. Two estimators of the paper: from the whole swarm (the mean over its
agents) and from a single agent. The infinite sum is cut after the last time step T. Where features
are indicators, those of one observation sum to 1, so what is left out is gamma^(T+1) / (1 - gamma)
of a whole of 1 / (1 - gamma).
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.irl.frames import observations_over
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.system import (
    System,
    classes,
    feature_count,
    features_of_counts,
    name_of,
    summed_features,
)
from swarmdp.model.trajectory import PRESENT, Trajectory
from swarmdp.policies import LocalPolicy, TablePolicy
from swarmdp.simulation.recorders import DiscountedFeatures, SingleAgentFeatures
from swarmdp.simulation.rollout import simulate
from swarmdp.simulation.visits import Starts, visits_of
from swarmdp.support.checks import check_agent, check_discount
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.finite import exact_model

Estimator = Literal["swarm", "single"]

SHORT_TAIL = 1e-4  # share of a discounted sum that is left out where no demo says how much


def check_estimator(estimator: str) -> None:
    """Raise InvalidInput if the estimator is not known."""
    if estimator not in ("swarm", "single"):
        raise InvalidInput(f'estimator must be "swarm" or "single", got {estimator!r}')


def truncation(discount: float, steps: int) -> float:
    """The share of the discounted sum's weight that lies beyond the last time step."""
    check_discount(discount)
    return float(discount ** (steps + 1))


def feature_expectations(
    system: System,
    trajectory: Trajectory,
    *,
    discount: float = 0.9,
    estimator: Estimator = "swarm",
    agent: int = 0,
) -> NDArray[np.float64]:
    """The estimate mu (runs, d) from each run of a trajectory, simulated or recorded.

    Parameters
    ----------
    system
        The swarm that was recorded.
    trajectory
        Recorded states or observations.
    discount
        The discount factor gamma.
    estimator
        From the whole "swarm" (the mean over its agents) or from a "single" agent.
    agent
        The number of that single agent.

    """
    check_discount(discount)
    check_estimator(estimator)
    check_agent(agent, system)
    if trajectory.of_recording:
        return _time_average(system, trajectory, estimator, agent) / (1 - discount)
    features = system.features
    has_known_classes = isinstance(features, Classes)
    size = features.size if isinstance(features, Classes) else feature_count(system)
    total = np.zeros((trajectory.runs, size))
    for time, observations in enumerate(observations_over(system, trajectory)):
        now = observations[:, agent : agent + 1] if estimator == "single" else observations
        # Classes are counted, and become features at the end.
        counts = kernels.tables.count(classes(system, now), size) if has_known_classes else None
        summed = summed_features(system, now) if counts is None else counts
        total += discount**time / now.shape[1] * summed
    return features_of_counts(system, total) if has_known_classes else total


def _time_average(
    system: System, trajectory: Trajectory, estimator: Estimator, agent: int
) -> NDArray[np.float64]:
    """The mean features (runs, d) of those who are present, over all times of a recording.

    Every time of a recording is as good a start as any other: so the mean over time, divided by
    1 - gamma, is the discounted sum from a start drawn from the recording.
    """
    total = np.zeros((trajectory.runs, feature_count(system)))
    count = np.zeros((trajectory.runs, 1))
    agents = slice(agent, agent + 1) if estimator == "single" else slice(None)
    times = zip(
        observations_over(system, trajectory),
        np.moveaxis(trajectory[PRESENT], 1, 0),
        strict=True,
    )
    for observations, present in times:
        for run, there in enumerate(present[:, agents]):
            if there.any():
                seen = observations[run : run + 1, agents][:, there]
                total[run] += summed_features(system, seen)[0]
        count += present[:, agents].sum(axis=1, keepdims=True)
    if not count.all():
        raise InvalidInput(
            "nobody is present in a run of the recording, so it has no feature expectations"
        )
    average: NDArray[np.float64] = total / count
    return average


def simulated_expectations(
    system: System,
    policy: LocalPolicy,
    *,
    discount: float,
    estimator: Estimator,
    steps: int,
    runs: int,
    seed: int,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """The estimate mu (R, d) for each replica of a policy, from roll-outs.

    Parameters
    ----------
    system
        The swarm.
    policy
        What moves it, in R replicas.
    discount
        The discount factor gamma.
    estimator
        From the whole "swarm" or from a "single" agent.
    steps
        The number of time steps of each run.
    runs
        The number of runs of each replica.
    seed
        Same seed, same result.
    threads
        All cores by default.

    """
    mean: NDArray[np.float64] = simulated_runs(
        system,
        policy,
        discount=discount,
        estimator=estimator,
        steps=steps,
        runs=runs,
        seed=seed,
        threads=threads,
    ).mean(axis=0)
    return mean


def simulated_runs(
    system: System,
    policy: LocalPolicy,
    *,
    discount: float,
    estimator: Estimator,
    steps: int,
    runs: int,
    seed: int,
    threads: int | None = None,
    starts: Starts | None = None,
) -> NDArray[np.float64]:
    """The estimates (runs, R, d) that each of the runs of each replica gives.

    Start states are kept in `starts`, if it is given, for the next policy with this seed.
    """
    check_estimator(estimator)
    policy.check(system)
    kind = DiscountedFeatures if estimator == "swarm" else SingleAgentFeatures
    replicas = policy.replicas
    numbers = (np.arange(replicas) * runs + np.arange(runs)[:, None]).ravel()
    if estimator == "swarm":
        visits = visits_of(
            system,
            policy,
            numbers=numbers,
            steps=steps,
            seed=seed,
            threads=threads,
            starts=starts,
        )
        if visits is not None:
            return visits.discounted(discount).reshape(runs, replicas, -1)
    trajectory = simulate(
        system,
        policy,
        numbers=numbers,
        steps=steps,
        seed=seed,
        record={"mu": kind(discount)},
        threads=threads,
    )
    return trajectory["mu"].reshape(runs, replicas, -1)


def exact_expectations(
    system: System, policy: LocalPolicy, *, discount: float, steps: int | None
) -> NDArray[np.float64]:
    """The feature expectations (R, d) of a policy of a finite MDP, without sampling.

    Parameters
    ----------
    system
        A finite MDP or a gridworld.
    policy
        A table, hard or soft, in R replicas.
    discount
        The discount factor gamma.
    steps
        The last time that counts, as in a demo of this length; None for the infinite sum.

    """
    mdp = exact_model(system)
    if mdp is None:
        raise InvalidInput(
            f"exact feature expectations need a FiniteMDP or a Gridworld, got {name_of(system)}"
        )
    policy.check(system)
    if not isinstance(policy, TablePolicy):
        raise InvalidInput(
            f"exact feature expectations need a policy that is a table, got {policy.kind!r}: set "
            "evaluations, so that they are estimated"
        )
    tables = policy.chances(len(system.actions))
    visits = np.stack([mdp.occupancy(probabilities, discount, steps) for probabilities in tables])
    return features_of_counts(system, visits)


def steps_for(discount: float, tail: float) -> int:
    """The least number of steps that leave out no more than this share of the sum's weight."""
    check_discount(discount)
    return 0 if discount <= tail else int(np.ceil(np.log(tail) / np.log(discount))) - 1


def value(reward: Reward, expectations: NDArray[np.float64]) -> NDArray[np.float64]:
    """The global value V of each estimate (..., R, d): R weights times mu."""
    worth: NDArray[np.float64] = np.einsum("rd,...rd->...r", reward.weights, expectations)
    return worth


def standard_error(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of the mean over independent runs (the first axis).

    Agents of one run are correlated, runs are not, so this error can be trusted.
    """
    if len(estimates) < 2:
        raise InvalidInput(
            "a standard error over runs needs at least two; for a single run use "
            "standard_error_by_blocks"
        )
    error: NDArray[np.float64] = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    return error


def standard_error_by_blocks(
    agents: NDArray[np.float64], blocks: NDArray[np.integer]
) -> NDArray[np.float64]:
    """The standard error of the mean over the agents (agents, ...) of a single run.

    Agents near each other are correlated, so they are put into blocks of neighbours, and the error
    is that of the blocks' means (weighted by their sizes). It is right as long as blocks are larger
    than the range of the correlation. Fluctuations that all agents of a run share cannot be seen in
    a single run.

    Parameters
    ----------
    agents
        The numbers of which the mean is taken, (agents, ...).
    blocks
        The block of each agent, for example from `spatial_blocks`.

    """
    names, member = np.unique(blocks, return_inverse=True)
    count = len(names)
    if count < 2 or len(member) != len(agents):
        raise InvalidInput(
            f"needs at least two blocks and a block for each of {len(agents)} agents, "
            f"got {count} blocks of {len(member)}"
        )
    shape = (count, *agents.shape[1:])
    sums, sizes = np.zeros(shape), np.bincount(member, minlength=count).astype(float)
    np.add.at(sums, member, agents - agents.mean(axis=0))
    # Ratio estimator: the deviations of the blocks' sums from their share of the whole.
    spread = (sums**2).sum(axis=0) * count / (count - 1)
    error: NDArray[np.float64] = np.sqrt(spread) / sizes.sum()
    return error


def spatial_blocks(place: NDArray[np.float64], tiles: int) -> NDArray[np.int64]:
    """Blocks of neighbouring agents (agents,), for `standard_error_by_blocks`.

    Every axis is cut at its quantiles, so that tiles hold about equally many agents.

    Parameters
    ----------
    place
        The agents' positions (agents, axes).
    tiles
        The number of tiles along each axis.

    """
    blocks = np.zeros(len(place), np.int64)
    for axis in place.T:
        rank = axis.argsort(kind="stable").argsort(kind="stable")
        blocks = blocks * tiles + rank * tiles // len(axis)
    return blocks
