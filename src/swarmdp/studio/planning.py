"""From a painted reward to a policy, quickly: on a small swarm of the same density."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from swarmdp.learning.heterogeneous import HeterogeneousLearning, default_learning
from swarmdp.learning.planning import Planning
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, feature_count, name_of
from swarmdp.model.traits import Resizable
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import Wants
from swarmdp.simulation.recorders import DiscountedFeatures
from swarmdp.simulation.rollout import rollout
from swarmdp.studio.limits import MOST_WEIGHTS
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.finite import exact_model

PLANNING_AGENTS = 1000  # more would give the same policy
PAINTING_DISCOUNT = 0.9
_ROLLOUT_STEPS = 50  # of the roll-outs that estimate what a policy collects
PLANNING_SEED = 0  # always the same: the same reward gives the same policy


@dataclass(frozen=True, eq=False)
class Planned:
    """A policy for a painted reward, and what it collects."""

    policy: LocalPolicy
    visited: Bools | None  # (d,): which weights belong to something observed; None if unknown
    value: float  # mean reward per step, discounted, of the planned policy
    expert_value: float | None  # of the expert, if there is one
    best: float  # the highest reward of any observation
    memory: Mapping[str, Floats]


def small_swarm(system: System) -> System:
    """The same swarm with at most PLANNING_AGENTS agents, if it can be resized."""
    if system.n_agents <= PLANNING_AGENTS or not isinstance(system, Resizable):
        return system
    return system.resized(PLANNING_AGENTS)


def check_paintable(system: System) -> None:
    """Raise InvalidInput if a reward of this system cannot be painted."""
    if not isinstance(system.features, Classes):
        raise InvalidInput(
            f"the features of {name_of(system)} are functions, not classes of observations, so its "
            "reward cannot be painted: give it Angles, Levels, Bins or a Product of them"
        )
    if (count := feature_count(system)) > MOST_WEIGHTS:
        raise InvalidInput(
            f"a reward of {count} weights is too much to paint, at most {MOST_WEIGHTS} can be: "
            "give the system fewer classes, or a Product(..., additive=True)"
        )


def plan_painted(
    system: System,
    weights: Floats,
    expert_mu: Floats | None,
    memory: Mapping[str, Floats] | None = None,
) -> Planned:
    """The policy for these weights, from nothing or, with a memory, from an earlier one."""
    where, reward = small_swarm(system), Reward(weights)
    learner = learner_for(where)
    more: dict[str, Any] = {}
    if memory and isinstance(learner, HeterogeneousLearning):
        more["memory"] = dict(memory)
    wants = Wants(mirror=is_even(where, weights) and isinstance(learner, HeterogeneousLearning))
    learned = learner(
        where,
        reward,
        discount=PAINTING_DISCOUNT,
        seed=PLANNING_SEED,
        wants=wants,
        threads=1,
        **more,
    )
    mu = expectations(where, learned.policy)
    return Planned(
        learned.policy,
        visited_weights(system, learned.seen),
        float((mu * weights).sum()),
        None if expert_mu is None else float((expert_mu * weights).sum()),
        float(reward.of_classes(system).max()),
        learned.memory,
    )


def expectations(system: System, policy: Any) -> Floats:
    """The share of (discounted) time that each feature has under a policy (d,)."""
    runs = max(2, PLANNING_AGENTS // system.n_agents)
    rolled = rollout(
        system,
        policy,
        steps=_ROLLOUT_STEPS,
        runs=runs,
        seed=PLANNING_SEED,
        record=DiscountedFeatures(PAINTING_DISCOUNT),
        threads=1,
        progress=False,
    )
    mean: Floats = rolled["discounted_features"].mean(axis=0) * (1 - PAINTING_DISCOUNT)
    return mean


def learner_for(system: System) -> HeterogeneousLearning | Planning:
    """The learner that `swarmdp.fit` takes."""
    return Planning() if exact_model(system) is not None else default_learning()


def is_even(system: System, weights: Floats) -> bool:
    """Whether a reward is the same on both sides of the system's mirror."""
    symmetry = _symmetry(system)
    return symmetry is not None and np.allclose(symmetry.even_weights(weights[None]), weights)


def mirrored_weights(system: System) -> list[int] | None:
    """For each weight the one on the other side of the mirror; None if there is no mirror."""
    symmetry = _symmetry(system)
    if symmetry is None:
        return None
    swap = np.abs(symmetry.weights)
    if not ((swap > 0.5).sum(axis=1) == 1).all():
        return None
    return [int(place) for place in swap.argmax(axis=1)]


def _symmetry(system: System) -> Symmetry | None:
    try:
        return Symmetry.of(system)
    except InvalidInput:
        return None


def visited_weights(system: System, seen: Bools | None) -> Bools | None:
    """Which weights (d,) belong to an observation that was seen."""
    features = system.features
    if seen is None or not isinstance(features, Classes):
        return None
    if features.matrix is None:
        rows: Bools = seen[0]
        return rows
    touched: Bools = (features.matrix[seen[0]] != 0).any(axis=0)
    return touched


def changed_fields(learner: HeterogeneousLearning) -> dict[str, Any]:
    """The settings of a learner that are not the defaults of its class."""
    plain = HeterogeneousLearning()
    return {
        field.name: vars(learner)[field.name]
        for field in fields(learner)
        if field.name != "q_update" and vars(learner)[field.name] != vars(plain)[field.name]
    }
