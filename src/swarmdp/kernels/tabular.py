"""Tables over a finite set of observations: binning, look-up, counting."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import elementary
from swarmdp.kernels.compile import kernel

LARGEST_WEIGHT = 1e100  # of a new count; then all are scaled down
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
    best: NDArray[np.int64]  # (R, observations): the greedy actions
    order: NDArray[np.int64]  # mirrored classes, or empty
    turned: NDArray[np.int64]  # mirrored actions, or empty
    prior: float
    forgetting: float
    discount: float
    sweeps: int
    null: int
    tie: float


def angle_index(angles: NDArray[np.float64], bins: int) -> NDArray[np.int32]:
    """The interval of each angle: `bins` equal ones, number bins // 2 centred on zero."""
    out = np.empty(angles.shape, np.int32)
    angle_index_flat(angles.reshape(-1), bins, out.reshape(-1))
    return out


def extremes(index: NDArray[np.integer]) -> tuple[int, int]:
    """The smallest and the largest entry of an array that is not empty, in one pass."""
    return extremes_flat(np.ascontiguousarray(index).reshape(-1))  # type: ignore[no-any-return]


def all_between(numbers: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether all numbers are from low to high; NaN never is."""
    return bool(all_between_flat(np.ascontiguousarray(numbers).reshape(-1), low, high))


def greedy(q: NDArray[np.float64], null: int, tie: float) -> NDArray[np.int64]:
    """The first best action (R, observations), or the null action if it is as good.

    As good means within tie times the largest |Q| of the replica.
    """
    out = np.empty(q.shape[:2], np.int64)
    greedy_replicas(q, null, tie, out)
    return out


def look_up(
    index: NDArray[np.integer], table: NDArray[Any], rows: NDArray[np.int64]
) -> NDArray[Any]:
    """out[r, i] = table[rows[r], index[r, i]]."""
    out = np.empty(index.shape, table.dtype)
    look_up_rows(index, table, rows, out)
    return out


def draw(
    index: NDArray[np.integer],
    cumulative: NDArray[np.float64],
    chance: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """out[r, i] = the first action whose cumulative probability is above the agent's chance.

    `cumulative[rows[r], index[r, i]]` are the sums of probabilities up to each action.
    """
    out = np.empty(index.shape, np.int64)
    draw_rows(index, cumulative, chance, rows, out)
    return out


def count(index: NDArray[np.integer], size: int) -> NDArray[np.int64]:
    """out[r, k] = how often k occurs in row r of index."""
    out = np.empty((index.shape[0], size), np.int64)
    count_rows(index, out)
    return out


def weighted(counts: NDArray[np.integer], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """out[r, k] = the sum over t of weights[t] * counts[r, t, k], one after the other."""
    out = np.zeros((counts.shape[0], counts.shape[2]))
    weighted_rows(counts, weights, out)
    return out


def over_spans(counts: NDArray[np.int64], agents: int) -> NDArray[np.float64]:
    """Mean shares (runs, spans, k) at times 0, 1, 2 to 3, 4 to 7, ... of counts (runs, T, k)."""
    runs, times, size = counts.shape
    out = np.zeros((runs, (times - 1).bit_length() + 1, size))
    over_spans_rows(counts, agents, out)
    return out


def total(values: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """The exact sum of each row of small unsigned integers."""
    out = np.empty(values.shape[0], np.int64)
    total_rows(values, out)
    return out


@kernel
def angle_index_flat(angles, bins, out):
    """The interval of each angle, for flat arrays."""
    scale = bins / (2.0 * math.pi)
    middle = bins // 2
    for i in range(np.uint64(angles.shape[0])):
        k = math.floor(angles[i] * scale + 0.5) + middle
        k = k - bins * math.floor(k / bins)
        out[i] = max(np.int32(0), min(np.int32(k), np.int32(bins - 1)))


@kernel
def all_between_flat(numbers, low, high):
    """Whether all are from low to high, without a branch."""
    outside = np.int64(0)
    for i in range(np.uint64(numbers.shape[0])):
        outside += np.int64(0) if (numbers[i] >= low) & (numbers[i] <= high) else np.int64(1)
    return outside == 0


@kernel
def extremes_flat(index):
    """Smallest and largest."""
    low = index[0]
    high = index[0]
    for i in range(np.uint64(index.shape[0])):
        low = min(low, index[i])
        high = max(high, index[i])
    return low, high


@kernel
def greedy_replicas(q, null, tie, out):
    """The best action of every observation and replica."""
    replicas, observations, actions = q.shape
    for j in range(replicas):
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


def greedy_odd(
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
    greedy_odd_replicas(q, null, tie, order, turned, out)
    return out


@kernel
def greedy_odd_replicas(q, null, tie, order, turned, out):
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
                even[o, a] = (q[j, o, a] + q[j, order[o], turned[a]]) / 2
                largest = max(largest, abs(even[o, a]))
        for o in range(observations):
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


@kernel
def look_up_rows(index, table, rows, out):
    """out[r, i] = table[rows[r], index[r, i]]."""
    for r in range(index.shape[0]):
        entries = table[rows[r]]
        wanted = index[r]
        found = out[r]
        for i in range(np.uint64(wanted.shape[0])):
            found[i] = entries[np.uint64(wanted[i])]


@kernel
def draw_rows(index, cumulative, chance, rows, out):
    """Draw an action for every agent; one that is impossible is never drawn."""
    actions = cumulative.shape[2]
    for r in range(index.shape[0]):
        table = cumulative[rows[r]]
        for i in range(np.uint64(index.shape[1])):
            sums = table[np.uint64(index[r, i])]
            # Rounding may leave the last sum below one: scale the chance by it.
            luck = chance[r, i] * sums[actions - 1]
            a = 0
            while a < actions - 1 and sums[a] <= luck:
                a += 1
            while a > 0 and sums[a] == sums[a - 1]:
                a -= 1
            out[r, i] = a


@kernel
def count_rows(index, out):
    """out[r, k] = how often k occurs in row r of index."""
    for r in range(index.shape[0]):
        counts = out[r]
        counts[:] = 0
        wanted = index[r]
        for i in range(np.uint64(wanted.shape[0])):
            counts[np.uint64(wanted[i])] += 1


@kernel
def weighted_rows(counts, weights, out):
    """Add weights[t] * counts[r, t, k] to out[r, k]."""
    for r in range(counts.shape[0]):
        sums = out[r]
        for t in range(counts.shape[1]):
            row = counts[r, t]
            for k in range(np.uint64(row.shape[0])):
                sums[k] += weights[t] * np.float64(row[k])


@kernel
def over_spans_rows(counts, agents, out):
    """Add each time's shares to its span, one time after the other."""
    times = counts.shape[1]
    for r in range(counts.shape[0]):
        for span in range(out.shape[1]):
            first = 0 if span == 0 else 1 << (span - 1)
            end = min(max(1, 2 * first), times)
            sums = out[r, span]
            for t in range(first, end):
                row = counts[r, t]
                for k in range(np.uint64(row.shape[0])):
                    sums[k] += np.float64(row[k]) / agents / (end - first)


@kernel
def total_rows(values, out):
    """out[r] = sum of row r of an array of small non-negative integers, exactly."""
    for r in range(values.shape[0]):
        row = values[r]
        out[r] = 0
        for begin in range(0, row.shape[0], 4096):
            part = row[begin : begin + 4096]
            subtotal = np.uint32(0)
            for i in range(np.uint64(part.shape[0])):
                subtotal += np.uint32(part[i])
            out[r] += subtotal


def explore(
    chosen: NDArray[np.integer],
    chance: NDArray[np.float64],
    temperature: float,
    n_actions: int,
) -> NDArray[np.integer]:
    """Actions (runs, agents): random where chance < temperature, else the chosen one.

    Given that it is below the temperature, chance / temperature is uniform, so it also says which
    random action.
    """
    out = np.empty(chosen.shape, np.uint8 if n_actions <= 256 else np.int32)
    explore_flat(chosen.reshape(-1), chance.reshape(-1), temperature, n_actions, out.reshape(-1))
    return out


@kernel
def explore_flat(chosen, chance, temperature, n_actions, out):
    """For flat arrays."""
    scale = n_actions / temperature if temperature > 0.0 else 0.0
    last = float(n_actions - 1)
    for i in range(np.uint64(chosen.shape[0])):
        drawn = chance[i] * scale
        explored = np.int32(drawn if drawn < last else last)
        exploited = np.int32(chosen[i])
        out[i] = exploited + np.int32(chance[i] < temperature) * (explored - exploited)


def among_first(
    chance: NDArray[np.float64], place: NDArray[np.float64], temperature: float
) -> NDArray[np.float64]:
    """Chances below the temperature for exactly the agents whose place is; 1 for the others."""
    out = np.empty(chance.shape)
    among_first_flat(chance.reshape(-1), place.reshape(-1), temperature, out.reshape(-1))
    return out


@kernel
def among_first_flat(chance, place, temperature, out):
    """For flat arrays."""
    for i in range(np.uint64(chance.shape[0])):
        out[i] = temperature * chance[i] if place[i] < temperature else 1.0


@kernel
def mark(index: NDArray[np.integer], order: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Set seen[r % R, k] for every class k that occurs in row r of index.

    `order` are the mirrored classes, which count as well; it is empty where there is no mirror.
    """
    for r in range(index.shape[0]):
        marks = seen[r % seen.shape[0]]
        row = index[r]
        for i in range(np.uint64(row.shape[0])):
            marks[np.uint64(row[i])] = True
    if order.size:
        for j in range(seen.shape[0]):
            for k in range(order.shape[0]):
                if seen[j, k]:
                    seen[j, order[k]] = True


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
            best[j, o] = q[j, o].max()
    for first in range(0, before.shape[0], replicas):
        for group in range(0, replicas, 8):
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
                    if actions == 2:
                        best[j, o] = max(new, q[j, o, np.uint64(1) - a])
                    elif new >= best[j, o]:
                        best[j, o] = new
                    elif old == best[j, o]:
                        best[j, o] = q[j, o].max()


@kernel
def q_batch(before, action, reward, after, discount, rate, q):
    """Watkins' update once for every (o, a) that occurred, with the mean target of its agents.

    All agents that are in the same class are rewarded alike.
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
                total[o, a] += best[np.uint64(after[r, i])]
                count[o, a] += 1.0
                rewarded[o] = reward[r, i]
        for o in range(observations):
            for a in range(actions):
                if count[o, a] > 0.0:
                    target = rewarded[o] + discount * total[o, a] / count[o, a]
                    q[j, o, a] = (1.0 - rate) * q[j, o, a] + rate * target


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
                    best += softness * elementary.log(total)
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
        greedy_odd_replicas(own.q, own.null, own.tie, own.order, own.turned, own.best)
    else:
        greedy_replicas(own.q, own.null, own.tie, own.best)


@kernel
def forget(
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    scale: NDArray[np.float64],
    forgetting: float,
) -> None:
    """Let the next counts weigh more; where they would weigh too much, make all smaller."""
    scale[0] /= forgetting
    if scale[0] > LARGEST_WEIGHT:
        counts /= scale[0]
        totals /= scale[0]
        scale[1] /= scale[0]
        scale[0] = 1.0


def boltzmann(q: NDArray[np.float64], softness: float) -> NDArray[np.float64]:
    """Probabilities of actions proportional to exp(Q / softness), for Q (..., actions)."""
    out = np.empty(q.shape)
    boltzmann_rows(q.reshape(-1, q.shape[-1]), softness, out.reshape(-1, q.shape[-1]))
    return out


@kernel
def boltzmann_rows(q, softness, out):
    """Boltzmann's probabilities of each row."""
    for i in range(q.shape[0]):
        best = q[i].max()
        total = 0.0
        for a in range(q.shape[1]):
            out[i, a] = elementary.exp((q[i, a] - best) / softness)
            total += out[i, a]
        for a in range(q.shape[1]):
            out[i, a] /= total
