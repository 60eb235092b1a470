"""Policies from what a demo shows its agents, without a reward: by actions, or by changes.

Where actions are known (recorded, or explained by the system's law, see `inference.py`), the policy
is a clone. Where only observations are, the changes from one observation to the next tell of
actions: P(o' | o, a) is estimated in swarms that follow the policy known so far, and the policy
that makes the demo's changes most probable is found by expectation maximisation, some times over.
"""

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import observations_over
from swarmdp.model.features import Classes
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, classes
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Interface, InterpolatedPolicy, Policy, SoftPolicy, TablePolicy
from swarmdp.policies.interpolated import check_interpolates
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

LocalKernel = Callable[[SoftPolicy, int], Floats]
"""P(o' | o, a) in swarms that follow a policy (1, O, A, O), with random numbers of round i."""

_MOST_CLASSES = 500  # whose changes into each other are looked at
_ROUNDS = 4  # of estimating the kernel and the policy
_SWEEPS = 40  # of expectation maximisation


def table_of(
    system: System, scores: Floats, visited: NDArray[np.bool_], fallback: TablePolicy
) -> Policy:
    """The action with the highest score (O, A) in each observation; another policy's elsewhere.

    Of actions with equal scores it is the one that does nothing, or else the first.
    """
    null = null_action(system)
    best = np.where(scores[:, null] >= scores.max(axis=1), null, scores.argmax(axis=1))
    return Policy(np.where(visited, best, fallback.table[0]), Interface.of(system))


def soft_policy_of_pairs(system: System, pairs: Floats, fallback: TablePolicy) -> SoftPolicy:
    """Actions as often as they were taken; those of another policy where there were none."""
    visits = pairs.sum(axis=1, keepdims=True)
    other = fallback.chances(pairs.shape[1])[0]
    chances = np.where(visits > 0, pairs / np.where(visits > 0, visits, 1.0), other)
    return SoftPolicy(chances[None], Interface.of(system))


def interpolated_of_pairs(
    system: System, pairs: Floats, table: Policy
) -> InterpolatedPolicy | None:
    """The mean action in each observation, interpolated between them; None if that cannot be."""
    try:
        check_interpolates(system)
    except InvalidInput:
        return None
    actions = np.asarray(system.actions, np.float64)
    visits = pairs.sum(axis=1)
    mean = pairs @ actions / np.where(visits > 0, visits, 1.0)
    values = np.where(visits > 0, mean, actions[table.table[0]])
    return InterpolatedPolicy(values, Interface.of(system))


def changes_of(system: System, demo: Trajectory) -> Floats | None:
    """How often an agent's observation changed from one class to another (O, O)."""
    features = system.features
    if not isinstance(features, Classes) or demo.of_recording or demo.steps < 1:
        return None
    if features.size > _MOST_CLASSES:
        return None  # their changes would not fit into memory
    seen = [classes(system, now).astype(np.int64) for now in observations_over(system, demo)]
    total: NDArray[np.int64] = np.zeros(features.size**2, np.int64)
    for before, after in itertools.pairwise(seen):
        total += np.bincount((before * features.size + after).ravel(), minlength=features.size**2)
    return total.reshape(features.size, features.size).astype(np.float64)


def pairs_of_changes(
    changes: Floats, chances: Floats, kernel: LocalKernel, symmetry: Symmetry | None
) -> Floats:
    """The pairs (O, A) under which the demo's changes of observation are most probable.

    Beginning with swarms that act by these chances (O, A).
    """
    pairs = chances
    for number in range(_ROUNDS):
        local = kernel(SoftPolicy(chances[None]), number)[0]
        chances = np.full_like(chances, 1 / chances.shape[1])
        for _ in range(_SWEEPS):
            joint = chances[:, :, None] * local
            shares = joint / joint.sum(axis=1, keepdims=True)
            pairs = np.einsum("op,oap->oa", changes, shares)
            if symmetry is not None:
                pairs = pairs + pairs[symmetry.classes][:, symmetry.actions]
            visits = pairs.sum(axis=1, keepdims=True)
            chances = np.where(visits > 0, pairs / np.where(visits > 0, visits, 1.0), chances)
    return pairs
