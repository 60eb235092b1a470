"""Functions that are linear in features of real observations: features, moments, least squares.

Features are (runs, agents, p) of float64, the features of one agent side by side. Moments are
(replicas, actions, p, p), of symmetric ones only the upper part. Sums over experience run in the
order of a replica's runs and agents, and every replica is computed on its own, so that nothing
depends on the batch; LAPACK and BLAS are not used, since their last digits depend on the machine.
Inner loops go along rows and vectorise without changing the order of a sum.

Twins in the tests: `oracles.harmonics`, `moments`, `sweep_linear` and `doubt`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel


def features(
    observations: NDArray[np.float64],
    periodic: NDArray[np.bool_],
    centre: NDArray[np.float64],
    scale: NDArray[np.float64],
    orders: NDArray[np.int64],
    size: NDArray[np.float64],
    rows: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Products of sines and cosines (runs, agents, p) of observations (runs, agents, k).

    Row i of orders (p, k) says which function of each component feature i is the product of. Of an
    angle, 0 is one, 2j - 1 the cosine and 2j the sine of j times the angle. Any other component x
    is drawn into (0, 1), u = (1 + t / sqrt(1 + t^2)) / 2 with t = (x - centre) / scale, and j is
    the cosine of j pi u. Feature i is size[i] times the product; run r takes centre[rows[r]] and
    scale[rows[r]].
    """
    runs, agents, _ = observations.shape
    out = np.empty((runs, agents, len(orders)))
    functions = np.where(periodic, 2 * ((orders.max(axis=0) + 1) // 2), orders.max(axis=0)) + 1
    features_of_runs(observations, periodic, centre, scale, orders, size, functions, rows, out)
    return out


@kernel
def features_of_runs(observations, periodic, centre, scale, orders, size, functions, rows, out):
    """Features of every run in turn."""
    runs, agents, components = observations.shape
    # The functions of each component once for an agent; features are products of entries.
    powers = np.empty((components, functions.max()))
    for r in range(runs):
        row = rows[r]
        for n in range(agents):
            for c in range(components):
                values = powers[c]
                values[0] = 1.0
                if periodic[c]:
                    s, x = elementary.sincos(observations[r, n, c])
                    # Multiples of the angle by the addition theorem: one sine and cosine for all.
                    cosine, sine = 1.0, 0.0
                    for j in range(1, functions[c], 2):
                        cosine, sine = cosine * x - sine * s, sine * x + cosine * s
                        values[j] = cosine
                        values[j + 1] = sine
                else:
                    t = (observations[r, n, c] - centre[row, c]) / scale[row, c]
                    u = 0.5 * (1.0 + t / math.sqrt(1.0 + t * t))
                    s, x = elementary.sincos(math.pi * u)
                    # Chebyshev's recursion: cos (j + 1) t = 2 cos t cos j t - cos (j - 1) t.
                    before, now = 1.0, x
                    for j in range(1, functions[c]):
                        values[j] = now
                        before, now = now, 2.0 * x * now - before
            psi = out[r, n]
            for i in range(orders.shape[0]):
                product = size[i]
                for c in range(components):
                    product *= powers[c, orders[i, c]]
                psi[i] = product


@kernel
def add_moments(
    before: NDArray[np.float64],
    actions: NDArray[np.integer],
    after: NDArray[np.float64],
    weight: float,
    square: NDArray[np.float64],
    cross: NDArray[np.float64],
) -> None:
    """Add the moments of all transitions (psi, a, psi') to those of their replicas.

    square[j, a] is the sum of psi psi^T (its upper part), cross[j, a] that of psi psi'^T, each
    times the weight.
    """
    replicas, n_actions = square.shape[:2]
    # Transitions of an action wait until there are four, see `_add_four`.
    runs, agents, size = before.shape
    place = np.empty((4, 2), np.int64)
    # An action at a time, so that the two matrices that grow stay in the cache.
    for j in range(replicas):
        for a in range(n_actions):
            waiting = 0
            for r in range(j, runs, replicas):
                for n in range(agents):
                    if actions[r, n] == a:
                        place[waiting, 0] = r
                        place[waiting, 1] = n
                        waiting += 1
                        if waiting == 4:
                            _add_four(before, after, place, weight, square[j, a], cross[j, a])
                            waiting = 0
            # The one to three that are left.
            for k in range(waiting):
                one, next_one = before[place[k, 0], place[k, 1]], after[place[k, 0], place[k, 1]]
                for i in range(size):
                    x = weight * one[i]
                    row = square[j, a, i]
                    for m in range(i, size):
                        row[m] += x * one[m]
                    row = cross[j, a, i]
                    for m in range(size):
                        row[m] += x * next_one[m]


@kernel
def _add_four(before, after, place, weight, square, cross):
    """The moments of four transitions: each entry is loaded and stored once for all of them."""
    size = before.shape[2]
    b0, b1 = before[place[0, 0], place[0, 1]], before[place[1, 0], place[1, 1]]
    b2, b3 = before[place[2, 0], place[2, 1]], before[place[3, 0], place[3, 1]]
    a0, a1 = after[place[0, 0], place[0, 1]], after[place[1, 0], place[1, 1]]
    a2, a3 = after[place[2, 0], place[2, 1]], after[place[3, 0], place[3, 1]]
    for i in range(size):
        # Always grouped in pairs: the order of these sums is part of the result.
        x0, x1, x2, x3 = weight * b0[i], weight * b1[i], weight * b2[i], weight * b3[i]
        row = square[i]
        for m in range(i, size):
            row[m] += (x0 * b0[m] + x1 * b1[m]) + (x2 * b2[m] + x3 * b3[m])
        row = cross[i]
        for m in range(size):
            row[m] += (x0 * a0[m] + x1 * a1[m]) + (x2 * a2[m] + x3 * a3[m])


@kernel
def _add_squares(rows, out):
    """Add the sum of x x^T over rows x to the upper part of out."""
    count, size = rows.shape
    for k in range(0, count - 3, 4):
        b0, b1, b2, b3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        for i in range(size):
            x0, x1, x2, x3 = b0[i], b1[i], b2[i], b3[i]
            row = out[i]
            for m in range(i, size):
                row[m] += (x0 * b0[m] + x1 * b1[m]) + (x2 * b2[m] + x3 * b3[m])
    for k in range(count - count % 4, count):
        for i in range(size):
            x0 = rows[k, i]
            row = out[i]
            for m in range(i, size):
                row[m] += x0 * rows[k, m]


@kernel
def _factorise(matrix):
    """Cholesky's factor U of a symmetric matrix U^T U, of which the upper part is given, in place.

    A pivot that rounding took to zero or below is set to the smallest that makes sense.
    """
    size = matrix.shape[0]
    largest = 0.0
    for i in range(size):
        largest = max(largest, matrix[i, i])
    # Below this the moments of fewer observations than features are rounding only.
    least = 1e-14 * largest
    # Row by row of what is left of the matrix, so that inner loops go along rows.
    for k in range(size):
        row = matrix[k]
        root = math.sqrt(max(row[k], least))
        row[k] = root
        for m in range(k + 1, size):
            row[m] /= root
        for i in range(k + 1, size):
            x = row[i]
            other = matrix[i]
            for m in range(i, size):
                other[m] -= x * row[m]


@kernel
def _solve(factor, right):
    """Solve U^T U x = right in place."""
    size = right.shape[0]
    for k in range(size):
        # First U^T from the front, whose columns are the rows of U, then U from the back.
        right[k] /= factor[k, k]
        x = right[k]
        row = factor[k]
        for m in range(k + 1, size):
            right[m] -= x * row[m]
    for k in range(size - 1, -1, -1):
        row = factor[k]
        x = right[k]
        for m in range(k + 1, size):
            x -= row[m] * right[m]
        right[k] = x / row[k]


@kernel
def _times(matrix, vector, out):
    """Put matrix . vector into out, each entry summed from left to right."""
    for i in range(matrix.shape[0]):
        row = matrix[i]
        x = 0.0
        for m in range(vector.shape[0]):
            x += row[m] * vector[m]
        out[i] = x


@kernel
def _symmetric_times(matrix, vector, out):
    """Put matrix . vector into out, of a symmetric matrix of which the upper part is given."""
    size = vector.shape[0]
    out[:] = 0.0
    for i in range(size):
        row = matrix[i]
        x = vector[i]
        # Each entry of the upper part stands for two of the matrix.
        total = row[i] * x
        for m in range(i + 1, size):
            out[m] += row[m] * x
            total += row[m] * vector[m]
        out[i] += total


@kernel
def sweep_linear(
    square: NDArray[np.float64],
    cross: NDArray[np.float64],
    anchors: NDArray[np.float64],
    rewards: NDArray[np.float64],
    ridge: float,
    discount: float,
    sweeps: int,
    value: NDArray[np.float64],
    lead: NDArray[np.float64],
    factor: NDArray[np.float64],
) -> None:
    """Bellman sweeps on a linear model of the next features, at remembered observations.

    The value is linear, V(o) = value[j] . psi(o), and so is what is expected of it after action a,
    (base + lead[j, a]) . psi(o), both by least squares. `base` is common to all actions; leads are
    drawn to zero by the ridge, in the unit of the moments. Anchors (R, memory, p) are features of
    observations and rewards (R, memory) what they gave. `factor` (R, p, p) gets Cholesky's factor
    of the moments of all actions.
    """
    replicas, n_actions, size, _ = square.shape
    memory = anchors.shape[1]
    factors = np.empty((n_actions, size, size))
    all_cross = np.empty((size, size))
    gram = np.empty((size, size))
    base = np.empty(size)
    weights = np.empty(size)
    best = np.empty(memory)
    score = np.empty(memory)
    for j in range(replicas):
        # All factors once for all sweeps, in which only right-hand sides change.
        pooled = factor[j]
        pooled[:] = 0.0
        all_cross[:] = 0.0
        for a in range(n_actions):
            pooled += square[j, a]
            all_cross += cross[j, a]
            factors[a] = square[j, a]
            for i in range(size):
                factors[a, i, i] += ridge
            _factorise(factors[a])
        trace = 0.0
        for i in range(size):
            trace += pooled[i, i]
            pooled[i, i] += ridge
        _factorise(pooled)
        gram[:] = 0.0
        _add_squares(anchors[j], gram)
        total = 0.0
        for i in range(size):
            total += gram[i, i]
        # As strong here as in the regressions: in proportion to the experience.
        share = ridge * total / trace if trace > 0.0 else ridge
        for i in range(size):
            gram[i, i] += share
        _factorise(gram)
        # Transposed, so that loops over the memory run along rows.
        columns = anchors[j].T.copy()
        v = value[j]
        for _ in range(sweeps):
            _times(all_cross, v, base)
            _solve(pooled, base)
            # The best action is sought at the remembered observations, then fitted again.
            best[:] = -np.inf
            for a in range(n_actions):
                # What the transitions of this action say beyond what those of all say.
                _times(cross[j, a], v, lead[j, a])
                _symmetric_times(square[j, a], base, weights)
                for i in range(size):
                    lead[j, a, i] -= weights[i]
                _solve(factors[a], lead[j, a])
                for i in range(size):
                    weights[i] = base[i] + lead[j, a, i]
                score[:] = 0.0
                for i in range(size):
                    x = weights[i]
                    row = columns[i]
                    for k in range(memory):
                        score[k] += x * row[k]
                for k in range(memory):
                    best[k] = max(best[k], score[k])
            for k in range(memory):
                best[k] = rewards[j, k] + discount * best[k]
            _times(columns, best, v)
            _solve(gram, v)


def best_linear_actions(
    features: NDArray[np.float64],
    lead: NDArray[np.float64],
    rows: NDArray[np.int64],
    null: int,
    tie: float,
) -> NDArray[np.int64]:
    """The first best action (runs, agents), or the null action if it is as good.

    As good means within tie times the agent's largest |lead|. Run r follows lead[rows[r]].
    """
    out = np.empty(features.shape[:2], np.int64)
    best_linear_actions_of_runs(
        features, np.ascontiguousarray(lead.transpose(0, 2, 1)), rows, null, tie, out
    )
    return out


@kernel
def best_linear_actions_of_runs(features, lead, rows, null, tie, out):
    """The best action of every agent; lead is (R, features, actions)."""
    runs, agents, size = features.shape
    n_actions = lead.shape[2]
    # Transposed by the caller: a feature's leads of all actions are side by side.
    score = np.empty(n_actions)
    for r in range(runs):
        table = lead[rows[r]]
        for n in range(agents):
            score[:] = 0.0
            seen = features[r, n]
            for i in range(size):
                x = seen[i]
                row = table[i]
                # Features outermost: the scores of all actions are summed side by side.
                for a in range(n_actions):
                    score[a] += x * row[a]
            best = 0
            largest = abs(score[0])
            for a in range(1, n_actions):
                largest = max(largest, abs(score[a]))
                if score[a] > score[best]:
                    best = a
            out[r, n] = null if score[null] >= score[best] - tie * largest else best


def doubt(
    features: NDArray[np.float64], factor: NDArray[np.float64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How little is known of each observation (runs, agents), from 0 to 1.

    With U of U^T U = 1 + (moments of all experience) / ridge, it is |U^-T psi|^2 / |psi|^2: the
    share of the variance before any experience that is left after it. Run r takes factor[rows[r]].
    """
    out = np.empty(features.shape[:2])
    doubt_runs(features, factor, rows, out)
    return out


@kernel
def doubt_runs(features, factor, rows, out):
    """The doubt of every agent, by forward substitution."""
    runs, agents, size = features.shape
    left = np.empty(size)
    for r in range(runs):
        upper = factor[rows[r]]
        for n in range(agents):
            whole = 0.0
            remaining = 0.0
            left[:] = features[r, n]
            for k in range(size):
                whole += features[r, n, k] * features[r, n, k]
                # Forward substitution, by columns: what is solved is taken off all that follows.
                x = left[k] / upper[k, k]
                remaining += x * x
                row = upper[k]
                for m in range(k + 1, size):
                    left[m] -= x * row[m]
            out[r, n] = remaining / whole
