"""The best action of each observation, and Boltzmann's probabilities of all.

Q-values are (replicas, observations, actions) of float64, the actions of an observation side by
side. Tables are small, so these are plain loops; what matters is that ties are broken the same way
everywhere: the null action, then the first. Twins in the tests: `np.argmax`, `oracles.boltzmann`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel


def best_actions(q: NDArray[np.float64], null: int, tie: float) -> NDArray[np.int64]:
    """The first best action (R, observations), or the null action if it is as good.

    As good means within tie times the largest |Q| of the replica.
    """
    out = np.empty(q.shape[:2], np.int64)
    best_actions_of_replicas(q, null, tie, out)
    return out


@kernel
def best_actions_of_replicas(q, null, tie, out):
    """The best action of every observation and replica."""
    replicas, observations, actions = q.shape
    for j in range(replicas):
        # What counts as a tie is relative to the largest Q-value of the replica.
        largest = 0.0
        for o in range(observations):
            for a in range(actions):
                largest = max(largest, abs(q[j, o, a]))
        for o in range(observations):
            best = 0
            for a in range(1, actions):
                if q[j, o, a] > q[j, o, best]:
                    best = a
            out[j, o] = null if q[j, o, null] >= q[j, o, best] - tie * largest else best


def best_mirrored_actions(
    q: NDArray[np.float64],
    null: int,
    tie: float,
    order: NDArray[np.int64],
    turned: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The best action (R, observations) on both sides of a mirror: mirrored classes mirror it.

    Q-values count half their own and half mirrored. A class that is its own mirror image gets an
    action that is, if there is one.
    """
    out = np.empty(q.shape[:2], np.int64)
    best_mirrored_actions_of_replicas(q, null, tie, order, turned, out)
    return out


@kernel
def best_mirrored_actions_of_replicas(q, null, tie, order, turned, out):
    """The best action of every observation and replica, on both sides of a mirror."""
    replicas, observations, actions = q.shape
    even = np.empty((observations, actions))
    free = 0  # actions that are their own mirror images
    for a in range(actions):
        free += 1 if turned[a] == a else 0
    for j in range(replicas):
        largest = 0.0
        for o in range(observations):
            for a in range(actions):
                # The mean of both sides, which have learned from different agents.
                even[o, a] = (q[j, o, a] + q[j, order[o], turned[a]]) / 2
                largest = max(largest, abs(even[o, a]))
        for o in range(observations):
            # Of a turn to the left and its mirror image neither is better: only one that is its
            # own.
            if order[o] == o and free > 0:
                for a in range(actions):
                    if turned[a] != a:
                        even[o, a] = -np.inf
            best = 0
            for a in range(1, actions):
                if even[o, a] > even[o, best]:
                    best = a
            out[j, o] = null if even[o, null] >= even[o, best] - tie * largest else best
        for o in range(observations):
            # Of equally good actions the first is taken; mirrored, that would be the last.
            if order[o] < o:
                out[j, o] = turned[out[j, order[o]]]


def boltzmann_probabilities(q: NDArray[np.float64], softness: float) -> NDArray[np.float64]:
    """Probabilities of actions proportional to exp(Q / softness), for Q (..., actions)."""
    out = np.empty(q.shape)
    boltzmann_rows(q.reshape(-1, q.shape[-1]), softness, out.reshape(-1, q.shape[-1]))
    return out


@kernel
def boltzmann_rows(q, softness, out):
    """Boltzmann's probabilities of each row."""
    for i in range(q.shape[0]):
        # Exponents of at most zero: nothing overflows, and one term of the sum is one.
        best = q[i].max()
        total = 0.0
        for a in range(q.shape[1]):
            out[i, a] = elementary.exp((q[i, a] - best) / softness)
            total += out[i, a]
        for a in range(q.shape[1]):
            out[i, a] /= total
