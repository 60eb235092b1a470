"""A model of one agent's world: transitions counted, and Bellman sweeps on the counts.

Counts are (replicas, observations, actions, observations) of float64, the observation after last:
the sum over it is one of neighbouring entries. They are weights rather than integers, since old
experience is forgotten by letting new counts weigh more: the ratio is the same, and nothing has to
be multiplied in each step. Runs r, r + R, r + 2 R, ... belong to replica r of R. Classes and
actions come as whatever integer type is narrowest, in the order (runs, agents).

Twins in the tests: `oracles.add_transitions`, `oracles.sweep` and `oracles.sweep_softly`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel

LARGEST_COUNT_WEIGHT = 1e100  # of a new count; then all are scaled down
BLOCK_TRANSITIONS = 2_048  # whose places are computed at a time


@kernel
def add_transitions(
    before: NDArray[np.integer],
    action: NDArray[np.integer],
    after: NDArray[np.integer],
    weight: float,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add the transitions (o, a, o') of all runs to the counts of their replicas."""
    replicas = counts.shape[0]
    for r in range(before.shape[0]):
        table = counts[r % replicas]
        total = totals[r % replicas]
        for i in range(np.uint64(before.shape[1])):
            o = np.uint64(before[r, i])
            a = np.uint64(action[r, i])
            # One agent at a time: two with the same transition must both count.
            table[o, a, np.uint64(after[r, i])] += weight
            total[o, a] += weight


@kernel
def add_experience(
    before: NDArray[np.integer],
    action: NDArray[np.integer],
    after: NDArray[np.integer],
    order: NDArray[np.int64],
    turned: NDArray[np.int64],
    weight: float,
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add the transitions (o, a, o') of all runs to the counts of their replicas, also mirrored.

    `order` are the mirrored classes and `turned` the mirrored actions; both are empty where there
    is no mirror. Where there are more transitions than possible ones, they are counted first.
    """
    replicas, observations, actions, _ = counts.shape
    runs, agents = before.shape
    if not is_much(runs // replicas * agents, observations, actions):
        add_transitions(before, action, after, weight, counts, totals)
        # Mirrored experience is experience too, of the mirrored class and action.
        if order.size:
            for r in range(runs):
                table = counts[r % replicas]
                total = totals[r % replicas]
                for i in range(np.uint64(agents)):
                    mirrored = np.uint64(order[np.uint64(before[r, i])])
                    other = np.uint64(turned[np.uint64(action[r, i])])
                    table[mirrored, other, np.uint64(order[np.uint64(after[r, i])])] += weight
                    total[mirrored, other] += weight
        return
    # Much experience: integers are counted first, and each entry is weighted once.
    size = observations * actions * observations
    tallies = np.empty((4, size), np.uint32)
    for j in range(replicas):
        tallies[:] = np.uint32(0)
        for r in range(j, runs, replicas):
            count_experience(before[r], action[r], after[r], observations, actions, tallies)
        for k in range(np.uint64(size)):
            # Integers: it does not matter which of the four counted a transition.
            tallies[0, k] += tallies[1, k] + tallies[2, k] + tallies[3, k]
        table = tallies[0].reshape((observations, actions, observations))
        for o in range(observations):
            for a in range(actions):
                visits = np.int64(0)
                for then in range(observations):
                    number = np.int64(table[o, a, then])
                    if order.size:
                        # What the mirror turns into this transition counts as this one.
                        number += np.int64(table[order[o], turned[a], order[then]])
                    counts[j, o, a, then] += weight * number
                    visits += number
                totals[j, o, a] += weight * visits


@kernel
def is_much(transitions: int, observations: int, actions: int) -> bool:
    """Whether this number of transitions of a replica is counted before it is added."""
    return transitions >= observations * actions * observations


@kernel
def count_experience(before, action, after, observations, actions, tallies):
    """Count the transitions of a run in four tables in turn, so that additions need not wait."""
    first = tallies[0]
    second = tallies[1]
    third = tallies[2]
    fourth = tallies[3]
    of_action = np.uint32(observations)
    of_class = np.uint32(observations * actions)
    one = np.uint32(1)
    where = np.empty(BLOCK_TRANSITIONS, np.uint32)
    for begin in range(0, before.shape[0], BLOCK_TRANSITIONS):
        end = min(begin + BLOCK_TRANSITIONS, before.shape[0])
        befores = before[begin:end]
        acts = action[begin:end]
        afters = after[begin:end]
        # Places in a loop of their own, which vectorises; adding to them one by one does not.
        for i in range(np.uint64(end - begin)):
            place = np.uint32(befores[i]) * of_class + np.uint32(acts[i]) * of_action
            where[i] = place + np.uint32(afters[i])
        whole = (end - begin) // 4 * 4
        for i in range(np.uint64(0), np.uint64(whole), np.uint64(4)):
            first[np.uint64(where[i])] += one
            second[np.uint64(where[i + np.uint64(1)])] += one
            third[np.uint64(where[i + np.uint64(2)])] += one
            fourth[np.uint64(where[i + np.uint64(3)])] += one
        for i in range(np.uint64(whole), np.uint64(end - begin)):
            first[np.uint64(where[i])] += one


@kernel
def _weigh(rows, values, start, out):
    """out[a] = start + rows[a] . values, summed from left to right.

    Four sums side by side: the additions of one need not wait for those of another.
    """
    last = rows.shape[0] - 1
    for a in range(0, rows.shape[0], 4):
        # Past the last row the last one is summed again: no loop of its own for what is left over.
        b, c, d = min(a + 1, last), min(a + 2, last), min(a + 3, last)
        one = two = three = four = start
        for k in range(np.uint64(values.shape[0])):
            one += rows[a, k] * values[k]
            two += rows[b, k] * values[k]
            three += rows[c, k] * values[k]
            four += rows[d, k] * values[k]
        out[a], out[b], out[c], out[d] = one, two, three, four


@kernel
def sweep_model(
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    prior: float,
    reward: NDArray[np.float64],
    discount: float,
    softness: float,
    sweeps: int,
    value: NDArray[np.float64],
    q: NDArray[np.float64],
) -> None:
    """Bellman sweeps on the kernel P(o' | o, a) estimated by counts.

    What was rarely tried is drawn towards the mean value by `prior` pseudo-counts. A softness above
    zero takes the soft maximum softness log sum exp(Q / softness): the value of acting by
    Boltzmann's policy, the entropy of its actions included.
    """
    replicas, observations, actions, _ = counts.shape
    for j in range(replicas):
        v = value[j]
        for _ in range(sweeps):
            # In place, one observation after the other: later ones see the values of earlier ones.
            mean = v.mean()
            for o in range(observations):
                _weigh(counts[j, o], v, prior * mean, q[j, o])
                best = -np.inf
                for a in range(actions):
                    q[j, o, a] = reward[j, o] + discount * q[j, o, a] / (totals[j, o, a] + prior)
                    best = max(best, q[j, o, a])
                # Relative to the best one, so that no exponential overflows.
                if softness > 0.0:
                    total = 0.0
                    for a in range(actions):
                        total += elementary.exp((q[j, o, a] - best) / softness)
                    best += softness * elementary.natural_log(total)
                v[o] = best


@kernel
def forget(
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    scale: NDArray[np.float64],
    forgetting: float,
) -> None:
    """Let the next counts weigh more; where they would weigh too much, make all smaller."""
    scale[0] /= forgetting
    # Long before weights overflow; once in hundreds of steps.
    if scale[0] > LARGEST_COUNT_WEIGHT:
        counts /= scale[0]
        totals /= scale[0]
        scale[1] /= scale[0]
        scale[0] = 1.0
