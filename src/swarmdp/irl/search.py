"""Which reward to try next, and which of the policies found is the expert's.

A policy update is a noisy draw: the same reward deserves several. So the search does not leave a
good reward for ever: it alternates between the newest reward and the one whose policy came nearest
to the expert. A policy that collects less of its own reward than another one does is not optimal
for it; then the same reward is tried again, from what was learned so far.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import observations_over
from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.model.system import System
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy, Policy
from swarmdp.policies.replicas import choose_replicas, join_replicas
from swarmdp.simulation.recorders import (
    DiscountedFeatures,
    FeaturesOverTime,
    Moment,
    SingleAgentFeatures,
)
from swarmdp.simulation.rollout import simulate
from swarmdp.simulation.visits import Starts, visits_of

_ATTEMPTS = 3  # at a reward, if its policies are worth less than others
_INDISTINGUISHABLE = 1.1  # times the smallest gap: candidates that the demo cannot tell apart
_LEVEL = 0.005  # chance that a policy as good as another is said to be worth less
_TOGETHER = 64  # runs of several candidates that are rolled out at once
_LITTLE = 0.01  # of the range of values: a policy that is worth less by that is worth as much


def newest(evidence: Evidence, update: Update) -> NDArray[np.float64]:
    """The reward that the update gives."""
    return update.weights


def alternating(evidence: Evidence, update: Update) -> NDArray[np.float64]:
    """The newest reward, then the best one so far, and so on; one that failed once more.

    The best reward is the one whose policy came nearest to the expert.
    """
    rows = np.arange(len(evidence.expert))
    best = evidence.weights[evidence.distance.argmin(axis=0), rows]
    turn = update.weights if evidence.policies % 2 else best
    return np.where(_deserves_another(evidence)[:, None], evidence.weights[-1], turn)


def below(weights: NDArray[np.float64], runs: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    """Whether each policy is worth less under its own reward than an earlier one (J, R).

    Rewards are (J, R, d), the feature expectations of K roll-outs of each policy (J, K, R, d). By a
    paired t-test: all policies are evaluated with the same random numbers. Where there are no
    several roll-outs, none is said to be worth less.
    """
    return np.stack([_is_below(weights, runs, j) for j in range(len(weights))])


def _is_below(
    weights: NDArray[np.float64], runs: NDArray[np.float64] | None, j: int
) -> NDArray[np.bool_]:
    """Whether policy j is worth less under its own reward than an earlier one (R,)."""
    if j == 0 or runs is None or runs.shape[1] < 2:
        return np.zeros(weights.shape[1], np.bool_)
    worth = np.einsum("rd,jkrd->jkr", weights[j], runs[: j + 1])
    lead = worth[:j] - worth[j]
    mean, spread = lead.mean(axis=1), lead.std(axis=1, ddof=1)
    little = _LITTLE * np.ptp(worth.mean(axis=1), axis=0)
    lower: NDArray[np.bool_] = (mean > little) & (mean > _surely(runs.shape[1]) * spread)
    is_below: NDArray[np.bool_] = np.any(lower, axis=0)
    return is_below


@functools.cache
def _surely(count: int) -> float:
    """How many standard deviations a mean of this number of differences must be above 0."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1 - _LEVEL)) / math.sqrt(count)


def never_improved(weights: NDArray[np.float64], lower: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which policies that are worth less than a known one had no better successor (J, R).

    The same reward was not tried again after them, or not yet.
    """
    again = np.zeros(lower.shape, np.bool_)
    again[:-1] = (weights[1:] == weights[:-1]).all(axis=2)
    left: NDArray[np.bool_] = lower & ~again
    return left


def _deserves_another(evidence: Evidence) -> NDArray[np.bool_]:
    """Whether the newest policy is worth less than another, and its reward was not tried often."""
    same = np.ones(len(evidence.expert), np.int64)
    still = np.ones(len(evidence.expert), np.bool_)
    for weights in evidence.weights[-2::-1]:
        still = still & (weights == evidence.weights[-1]).all(axis=1)
        same += still
    less = _is_below(evidence.weights, evidence.runs, len(evidence.weights) - 1)
    again: NDArray[np.bool_] = less & (same < _ATTEMPTS)
    return again


@dataclass(frozen=True, eq=False)
class Choice:
    """The policy chosen for each experiment, from fresh roll-outs."""

    iteration: NDArray[np.int64]  # (R,): where it was found
    mu: NDArray[np.float64]  # (R, d): its feature expectations
    gap: NDArray[np.float64]  # (R,): how far it is from the demo at all times, as it was chosen by


def time_profile(system: System, demo: Trajectory) -> NDArray[np.float64]:
    """The features of each run of a demo over time (runs, spans * d)."""
    profile = FeaturesOverTime(demo.steps)
    total = np.zeros((demo.runs, profile.size(system)))
    for time, observations in enumerate(observations_over(system, demo)):
        profile.add_observations(total, time, system, observations)
    return total


def repeated(learned: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which policies (J, R) were found before, by their feature expectations (J, R, d).

    All policies are evaluated with the same random numbers, so the same ones have the same.
    """
    is_repeated = np.zeros(learned.shape[:2], np.bool_)
    for j in range(1, len(learned)):
        is_repeated[j] = (learned[:j] == learned[j]).all(axis=2).any(axis=0)
    return is_repeated


def race(
    system: System,
    policies: list[LocalPolicy],
    rewards: NDArray[np.float64],
    distance: NDArray[np.float64],
    *,
    expert: NDArray[np.float64],
    profile: NDArray[np.float64] | None,
    discount: float,
    estimator: str,
    steps: int,
    runs: int,
    candidates: int,
    seed: int,
    even: Any,
    threads: int | None,
) -> Choice:
    """Choose among the nearest policies (I of R replicas) by fresh roll-outs.

    The smallest of many noisy distances (I, R) is partly chance. So the nearest
    candidates of each experiment are rolled out again, all with the same random numbers, and
    compared with the demo at all times, where it is known.
    """
    order = np.argsort(distance, axis=0, kind="stable")[:candidates]
    rows = np.arange(distance.shape[1])
    looked = looked_at(
        system,
        policies,
        order,
        expert=expert,
        profile=profile,
        discount=discount,
        estimator=estimator,
        steps=steps,
        runs=runs,
        seed=seed,
        even=even,
        threads=threads,
    )
    # Where an experiment has fewer candidates than others, what is left out fills the places.
    gaps = np.where(np.isfinite(distance[order, rows]), looked.gaps, np.inf)
    best = _chosen(gaps, looked.activity, _first_found(rewards)[order, rows])
    return Choice(order[best, rows], looked.mu[best, rows], gaps[best, rows])


@dataclass(frozen=True, eq=False)
class Looked:
    """What fresh roll-outs of K candidates of each of R experiments show."""

    mu: NDArray[np.float64]  # (K, R, d): feature expectations
    gaps: NDArray[np.float64]  # (K, R): how far each is from the demo at all times
    activity: NDArray[np.float64]  # (K, R): how often an agent does something


def looked_at(
    system: System,
    policies: list[LocalPolicy],
    order: NDArray[np.int64],
    *,
    expert: NDArray[np.float64],
    profile: NDArray[np.float64] | None,
    discount: float,
    estimator: str,
    steps: int,
    runs: int,
    seed: int,
    even: Any,
    threads: int | None,
) -> Looked:
    """Roll out policies again, all with the same random numbers: policies[order[k, r]] for each r.

    They are compared with the demo at all times, where it is known.
    """
    rows = np.arange(order.shape[1])
    mus, means, spreads, activity = [], [], [], []
    at_once, starts = max(1, _TOGETHER // (runs * len(rows))), Starts()
    for first in range(0, len(order), at_once):
        some = order[first : first + at_once]
        numbers = np.broadcast_to(rows * runs + np.arange(runs)[:, None, None], (runs, *some.shape))
        rolled = _rolled_out(
            system,
            join_replicas([choose_replicas(policies, chosen) for chosen in some]),
            discount=discount,
            estimator=estimator,
            numbers=numbers.ravel(),
            steps=steps,
            seed=seed,
            threads=threads,
            starts=starts,
        )
        for k in range(len(some)):
            chosen_policies = {
                name: np.ascontiguousarray(values.reshape(*numbers.shape, -1)[:, k])
                for name, values in rolled.items()
            }
            mus.append(even(chosen_policies["mu"].mean(axis=0)))
            seen = chosen_policies["profile"].reshape(runs, len(rows), -1, mus[-1].shape[1])
            mean, spread = _mean_and_variance(even(seen).reshape(runs, len(rows), -1))
            means.append(mean)
            spreads.append(spread)
            activity.append(chosen_policies["activity"].reshape(runs, len(rows)).mean(axis=0))
    if profile is None:
        gaps = np.linalg.norm(expert - np.stack(mus), axis=2)
    else:
        gaps = _in_standard_deviations(profile, means, spreads, system.n_agents)
    return Looked(np.stack(mus), gaps, np.stack(activity))


def _rolled_out(
    system: System,
    policy: LocalPolicy,
    *,
    discount: float,
    estimator: str,
    numbers: NDArray[np.int64],
    steps: int,
    seed: int,
    threads: int | None,
    starts: Starts,
) -> Mapping[str, NDArray[np.float64]]:
    """Feature expectations, features over time and activity of roll-outs, each (runs, ...)."""
    if estimator == "swarm" and isinstance(policy, Policy):
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
            return {
                "mu": visits.discounted(discount),
                "profile": visits.over_time(),
                "activity": visits.activity(policy.table),
            }
    kind = DiscountedFeatures if estimator == "swarm" else SingleAgentFeatures
    return simulate(
        system,
        policy,
        numbers=numbers,
        steps=steps,
        seed=seed,
        record={
            "mu": kind(discount),
            "profile": FeaturesOverTime(steps),
            "activity": _Activity(),
        },
        threads=threads,
    )


@dataclass(frozen=True)
class _Activity:
    """How often an agent does something, summed over time."""

    name: str = "activity"

    def size(self, system: System) -> int:
        return 1

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        if moment.actions is not None:
            nothing = moment.system.actions[null_action(moment.system)]
            acts = moment.actions != nothing
            total[:, 0] += (acts if acts.ndim == 2 else acts.any(axis=2)).mean(axis=1)


def _first_found(rewards: NDArray[np.float64]) -> NDArray[np.int64]:
    """The iteration (I, R) in which each reward (I, R, d) was tried first."""
    same = (rewards[:, None] == rewards[None]).all(axis=3)
    first: NDArray[np.int64] = same.argmax(axis=1)
    return first


def _chosen(
    gaps: NDArray[np.float64], activity: NDArray[np.float64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The candidate (R,) with the smallest gap (K, R), or one as near for which more speaks.

    Swarms can look the same to their agents and yet differ: the mirror image of the Ising
    model's majority vote flips every spin in every step. In doubt, do nothing. And later rewards
    part the expert from ever nearer policies, in the end from its own noise: of those whose
    policies are as near, the earliest is the best explanation.
    """
    best = gaps.argmin(axis=0)
    rows = np.arange(gaps.shape[1])
    near = gaps <= _INDISTINGUISHABLE * gaps[best, rows]
    calm = np.where(near, activity, np.inf).min(axis=0)
    near &= activity <= np.where(2 * calm < activity[best, rows], calm, np.inf)
    early = np.where(near, first, np.iinfo(np.int64).max).min(axis=0)
    chosen: NDArray[np.int64] = np.where(near & (first == early), gaps, np.inf).argmin(axis=0)
    return chosen


def _mean_and_variance(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Over the first axis, without another array of this size: there may be many features."""
    mean = values.mean(axis=0)
    squares = np.zeros_like(mean)
    for value in values:
        squares += (value - mean) ** 2
    return mean, squares / max(1, len(values) - 1)


def _in_standard_deviations(
    demo: NDArray[np.float64],
    means: list[NDArray[np.float64]],
    spreads: list[NDArray[np.float64]],
    agents: int,
) -> NDArray[np.float64]:
    """How far the demo (R, D) is from each candidate (K, R), given its mean and variance (R, D).

    The root mean square of the gaps in units of how much runs differ: what hardly varies from run
    to run tells more than what does. It is about 1 for a demo that is one run of the candidate.
    """
    # No share of agents is known better than to half an agent.
    variance = sum(spreads) / len(spreads) + (0.5 / agents) ** 2
    gaps = [np.sqrt(((demo - mean) ** 2 / variance).mean(axis=1)) for mean in means]
    return np.stack(gaps)
