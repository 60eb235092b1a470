"""Exact planning in small finite MDPs: what is best to do under a given local kernel."""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel

IMPROVEMENT = 1e-12  # of Q relative to the largest reward, below which an action is not better


def optimal_q(
    transitions: NDArray[np.float64],
    reward: NDArray[np.float64],
    discount: float,
    policy: NDArray[np.int64],
    wanted: NDArray[np.bool_] | None = None,
    q: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Q* of many rewards (E, C, O) under the kernels P(o' | o, a) as transitions[e, o', o, a].

    `policy` (E, C, O) is where policy iteration starts, and is left at the optimal policy: near
    rewards have near policies, so the next call is quick. Only the wanted (E, C) are done; for the
    others `q` (E, C, O, A) is left as it is.
    """
    if q is None:
        q = np.empty((*reward.shape, transitions.shape[3]))
    if wanted is None:
        wanted = np.ones(reward.shape[:2], np.bool_)
    plan_all(transitions, reward, discount, policy, wanted, q)
    return q


@kernel
def plan_all(transitions, reward, discount, policy, wanted, q):
    """Howard's policy iteration for every wanted reward."""
    problems, rewards, observations = reward.shape
    actions = transitions.shape[3]
    matrix = np.empty((observations, observations))
    value = np.empty(observations)
    for e in range(problems):
        into = transitions[e].reshape(observations, observations * actions)
        for c in range(rewards):
            if not wanted[e, c]:
                continue
            r = reward[e, c]
            table = policy[e, c]
            own = q[e, c].reshape(observations * actions)
            least = IMPROVEMENT * np.abs(r).max()
            # Each round is a better policy; rounding cannot make it go round in circles for long.
            for _ in range(observations * actions + 1):
                evaluate_policy(transitions[e], r, discount, table, matrix, value)
                expected_q(into, r, discount, value, actions, own)
                if not improve(own, actions, least, table):
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
            row[k] = -discount * transitions[k, o, a]
        row[o] += 1.0
        value[o] = reward[o]
    for k in range(n):
        top = matrix[k]
        for i in range(k + 1, n):
            row = matrix[i]
            share = row[k] / top[k]
            if share != 0.0:
                for j in range(np.uint64(k + 1), np.uint64(n)):
                    row[j] -= share * top[j]
                value[i] -= share * value[k]
    for k in range(n - 1, -1, -1):
        rest = value[k]
        for j in range(k + 1, n):
            rest -= matrix[k, j] * value[j]
        value[k] = rest / matrix[k, k]


@kernel
def expected_q(into, reward, discount, value, actions, q):
    """Q(o, a) = R(o) + discount sum over o' of P(o' | o, a) V(o'), flat over (o, a)."""
    q[:] = 0.0
    for k in range(into.shape[0]):
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
        best = table[o]
        for a in range(actions):
            if q[o * actions + a] > q[o * actions + best] + least:
                best = a
        if best != table[o]:
            table[o] = best
            changed = True
    return changed
