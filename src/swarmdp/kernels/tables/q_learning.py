"""Watkins' update of a table of Q-values.

Experience is (runs, agents): classes before and after, actions, rewards. Runs r, r + R, ... update
replica r of q (R, observations, actions), float64. Every update depends on the one before it, so
that nothing vectorises; the best value of each observation is kept beside the table, which spares
a loop over the actions for each agent. Twins: the loops of `tests/learning/test_q_functions.py`.
"""

import numpy as np

from swarmdp.kernels.runtime.compile import kernel


@kernel
def q_sequential(before, action, reward, after, discount, rate, q):
    """Watkins' update for one agent after the other, each seeing what the ones before it changed.

    Q(o, a) <- (1 - rate) Q(o, a) + rate (r + discount max_a' Q(o', a'))

    Replicas take turns agent by agent: each update of a replica waits for the one before it, those
    of other replicas need not.
    """
    replicas, observations, actions = q.shape
    best = np.empty((replicas, observations))
    for j in range(replicas):
        for o in range(observations):
            # Kept up to date below instead of being looked for at every step.
            best[j, o] = q[j, o].max()
    for first in range(0, before.shape[0], replicas):
        for group in range(0, replicas, 8):
            # Eight replicas take turns: while one update waits for memory, others go on.
            members = range(group, min(group + 8, replicas, before.shape[0] - first))
            for i in range(before.shape[1]):
                for j in members:
                    o = np.uint64(before[first + j, i])
                    a = np.uint64(action[first + j, i])
                    old = q[j, o, a]
                    target = (
                        reward[first + j, i] + discount * best[j, np.uint64(after[first + j, i])]
                    )
                    new = (1.0 - rate) * old + rate * target
                    q[j, o, a] = new
                    # The best value changes only if the new one beats it, or was it and fell.
                    if actions == 2:
                        best[j, o] = max(new, q[j, o, np.uint64(1) - a])
                    elif new >= best[j, o]:
                        best[j, o] = new
                    elif old == best[j, o]:
                        best[j, o] = q[j, o].max()


@kernel
def q_batch(before, action, reward, after, discount, rate, q):
    """Watkins' update once for every (o, a) that occurred, with the mean target of its agents.

    All agents that are in the same class get the same reward.
    """
    replicas, observations, actions = q.shape
    best = np.empty(observations)
    total = np.empty((observations, actions))
    count = np.empty((observations, actions))
    rewarded = np.empty(observations)
    for j in range(replicas):
        for o in range(observations):
            best[o] = q[j, o].max()
        total[:] = 0.0
        count[:] = 0.0
        for r in range(j, before.shape[0], replicas):
            for i in range(before.shape[1]):
                o = np.uint64(before[r, i])
                a = np.uint64(action[r, i])
                # All agents see the values from before this step: their order does not matter.
                total[o, a] += best[np.uint64(after[r, i])]
                count[o, a] += 1.0
                # The same for all agents of the class, so that the last one may stand for them.
                rewarded[o] = reward[r, i]
        for o in range(observations):
            for a in range(actions):
                if count[o, a] > 0.0:
                    target = rewarded[o] + discount * total[o, a] / count[o, a]
                    q[j, o, a] = (1.0 - rate) * q[j, o, a] + rate * target
