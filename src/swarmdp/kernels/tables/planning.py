"""Exact planning in small finite MDPs: what is best to do under a given local kernel.

Transitions are transitions[e, o', o, a], the observation after first: for one o' the entries of all
(o, a) are neighbours, so that looking ahead adds up whole rows, vector by vector. Policy iteration
solves a linear system in each round, (observations, observations), small enough for elimination in
the cache; it needs few rounds, since near rewards have near policies and the last one is kept.

Twin in the tests: `oracles.optimal_q`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel

IMPROVEMENT = 1e-12  # of Q relative to the largest reward, below which an action is not better


def optimal_q(
    transitions: NDArray[np.float64],
    reward: NDArray[np.float64],
    discount: float,
    policy: NDArray[np.int64],
    selected: NDArray[np.bool_] | None = None,
    q: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Q* of many rewards (E, C, O) under the kernels P(o' | o, a) as transitions[e, o', o, a].

    `policy` (E, C, O) is where policy iteration starts, and is left at the optimal policy: near
    rewards have near policies, so the next call is quick. Only the selected (E, C) are done; `q`
    (E, C, O, A) of the others is left as it is.
    """
    if q is None:
        q = np.empty((*reward.shape, transitions.shape[3]))
    if selected is None:
        selected = np.ones(reward.shape[:2], np.bool_)
    plan_all(transitions, reward, discount, policy, selected, q)
    return q


@kernel
def plan_all(transitions, reward, discount, policy, selected, q):
    """Howard's policy iteration for every selected reward."""
    problems, rewards, observations = reward.shape
    actions = transitions.shape[3]
    matrix = np.empty((observations, observations))
    value = np.empty(observations)
    for e in range(problems):
        into = transitions[e].reshape(observations, observations * actions)
        for c in range(rewards):
            if not selected[e, c]:
                continue
            r = reward[e, c]
            table = policy[e, c]
            flat = q[e, c].reshape(observations * actions)
            least = IMPROVEMENT * np.abs(r).max()
            # Each round is a better policy; rounding cannot make it go round in circles for long.
            for _ in range(observations * actions + 1):
                evaluate_policy(transitions[e], r, discount, table, matrix, value)
                expected_q(into, r, discount, value, actions, flat)
                if not improve(flat, actions, least, table):
                    break


@kernel
def evaluate_policy(transitions, reward, discount, table, matrix, value):
    """The value of a policy: (I - discount P_pi) V = R by elimination.

    The matrix is diagonally dominant by rows, so elimination needs no pivoting.
    """
    n = reward.shape[0]
    for o in range(n):
        row = matrix[o]
        a = table[o]
        for k in range(n):
            # I - discount P of the policy, row by row.
            row[k] = -discount * transitions[k, o, a]
        row[o] += 1.0
        value[o] = reward[o]
    for k in range(n):
        top = matrix[k]
        for i in range(k + 1, n):
            row = matrix[i]
            share = row[k] / top[k]
            # Kernels are sparse: many entries are zero already.
            if share != 0.0:
                for j in range(np.uint64(k + 1), np.uint64(n)):
                    row[j] -= share * top[j]
                value[i] -= share * value[k]
    for k in range(n - 1, -1, -1):
        # Back substitution: the rows below are solved already.
        rest = value[k]
        for j in range(k + 1, n):
            rest -= matrix[k, j] * value[j]
        value[k] = rest / matrix[k, k]


@kernel
def expected_q(into, reward, discount, value, actions, q):
    """Q(o, a) = R(o) + discount sum over o' of P(o' | o, a) V(o'), flat over (o, a)."""
    q[:] = 0.0
    for k in range(into.shape[0]):
        # One o' after the other: each row is read once, in sequence.
        v = discount * value[k]
        row = into[k]
        for i in range(np.uint64(q.shape[0])):
            q[i] += v * row[i]
    for o in range(reward.shape[0]):
        for a in range(actions):
            q[o * actions + a] += reward[o]


@kernel
def improve(q, actions, least, table):
    """Take the best action wherever it is clearly better; whether any was."""
    changed = False
    for o in range(table.shape[0]):
        # Only a clear improvement changes the policy, or rounding might change it for ever.
        best = table[o]
        for a in range(actions):
            if q[o * actions + a] > q[o * actions + best] + least:
                best = a
        if best != table[o]:
            table[o] = best
            changed = True
    return changed
