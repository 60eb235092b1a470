"""A model of one agent's world, counted from transitions, and planning on it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.tables.acting import (
    best_actions_of_replicas,
    best_mirrored_actions_of_replicas,
)
from swarmdp.kernels.tables.counting import mark

LARGEST_COUNT_WEIGHT = 1e100  # of a new count; then all are scaled down
COUNTED = 2_048  # transitions whose places are computed at a time


class Learning(NamedTuple):
    """What R Q-functions learn from, and what they have learned, changed in place.

    See `learning.local_model`, which says what these are.
    """

    counts: NDArray[np.float64]  # (R, observations, actions, observations)
    totals: NDArray[np.float64]  # (R, observations, actions)
    scale: NDArray[np.float64]  # (2,): the weight of a new count, and the prior in its unit
    reward: NDArray[np.float64]  # (R, observations)
    value: NDArray[np.float64]  # (R, observations)
    q: NDArray[np.float64]  # (R, observations, actions)
    seen: NDArray[np.bool_]  # (R, observations)
    best: NDArray[np.int64]  # (R, observations): the best_actions actions
    order: NDArray[np.int64]  # mirrored classes, or empty
    turned: NDArray[np.int64]  # mirrored actions, or empty
    prior: float
    forgetting: float
    discount: float
    sweeps: int
    null: int
    tie: float


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
    size = observations * actions * observations
    found = np.empty((4, size), np.uint32)
    for j in range(replicas):
        found[:] = np.uint32(0)
        for r in range(j, runs, replicas):
            count_experience(before[r], action[r], after[r], observations, actions, found)
        for k in range(np.uint64(size)):
            found[0, k] += found[1, k] + found[2, k] + found[3, k]
        table = found[0].reshape((observations, actions, observations))
        for o in range(observations):
            for a in range(actions):
                visits = np.int64(0)
                for then in range(observations):
                    number = np.int64(table[o, a, then])
                    if order.size:
                        number += np.int64(table[order[o], turned[a], order[then]])
                    counts[j, o, a, then] += weight * number
                    visits += number
                totals[j, o, a] += weight * visits


@kernel
def is_much(transitions: int, observations: int, actions: int) -> bool:
    """Whether so many transitions of a replica in one step are counted before they are added."""
    return transitions >= observations * actions * observations


@kernel
def count_experience(before, action, after, observations, actions, found):
    """Count the transitions of a run in four tables in turn, so that additions need not wait."""
    first = found[0]
    second = found[1]
    third = found[2]
    fourth = found[3]
    of_action = np.uint32(observations)
    of_class = np.uint32(observations * actions)
    one = np.uint32(1)
    where = np.empty(COUNTED, np.uint32)
    for begin in range(0, before.shape[0], COUNTED):
        end = min(begin + COUNTED, before.shape[0])
        befores = before[begin:end]
        acts = action[begin:end]
        afters = after[begin:end]
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
            mean = v.mean()
            for o in range(observations):
                _weigh(counts[j, o], v, prior * mean, q[j, o])
                best = -np.inf
                for a in range(actions):
                    q[j, o, a] = reward[j, o] + discount * q[j, o, a] / (totals[j, o, a] + prior)
                    best = max(best, q[j, o, a])
                if softness > 0.0:
                    total = 0.0
                    for a in range(actions):
                        total += elementary.exp((q[j, o, a] - best) / softness)
                    best += softness * elementary.natural_log(total)
                v[o] = best


@kernel
def learn(before, action, after, own):
    """One step of the local model: count, sweep, and find the best actions; `own` is a Learning.

    Instead of letting old counts shrink, new ones weigh more: the ratio is the same.
    """
    add_experience(
        before, action, after, own.order, own.turned, own.scale[0], own.counts, own.totals
    )
    own.scale[1] = own.prior * own.scale[0]
    sweep_model(
        own.counts,
        own.totals,
        own.scale[1],
        own.reward,
        own.discount,
        0.0,
        own.sweeps,
        own.value,
        own.q,
    )
    forget(own.counts, own.totals, own.scale, own.forgetting)
    mark(before, own.order, own.seen)
    if own.order.size:
        best_mirrored_actions_of_replicas(own.q, own.null, own.tie, own.order, own.turned, own.best)
    else:
        best_actions_of_replicas(own.q, own.null, own.tie, own.best)


@kernel
def forget(
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    scale: NDArray[np.float64],
    forgetting: float,
) -> None:
    """Let the next counts weigh more; where they would weigh too much, make all smaller."""
    scale[0] /= forgetting
    if scale[0] > LARGEST_COUNT_WEIGHT:
        counts /= scale[0]
        totals /= scale[0]
        scale[1] /= scale[0]
        scale[0] = 1.0
