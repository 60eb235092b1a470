"""Counts of transitions (o, a, o') of which only those that occurred are kept.

Row o * actions + a of one replica's counts are the entries begins[row] to begins[row + 1] of
`columns` (o', ascending) and `values`. All sums are taken in the same order and with the same
roundings as in the kernels of full tables (`local_model.add_transitions` and `sweep_model`), which
also add zeros: both give the same bits, which is how the tests check it. It is the layout of
CSR matrices, columns int32 and values float64, with room behind for what a step may add.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel


def add_sparse_transitions(
    before: NDArray[np.integer],
    action: NDArray[np.integer],
    after: NDArray[np.integer],
    weight: float,
    at_once: bool,
    begins: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add the transitions of one replica's runs to its counts and to totals (o, a).

    `columns` and `values` must have room for as many new entries as there are transitions. Equal
    transitions are added one by one, or `at_once`, as `local_model.add_experience` does.
    """
    # One number for each transition; sorted, equal ones are neighbours and rows ascend.
    observations, actions = totals.shape
    row = before.astype(np.int64) * actions + action
    keys = (row * observations + after).ravel()
    keys.sort()
    add_sorted(keys, observations, weight, at_once, begins, columns, values, totals.reshape(-1))


@kernel
def add_sorted(keys, observations, weight, at_once, begins, columns, values, totals):
    """Add transitions, given as ascending keys row * observations + o'.

    Whether equal ones add their weight one by one matters: c + w + w is not always c + 2 w.
    """
    if at_once:
        visits = np.zeros(totals.shape[0], np.int64)
        for i in range(keys.shape[0]):
            visits[keys[i] // observations] += 1
        for row in range(totals.shape[0]):
            totals[row] += weight * visits[row]
    # What is there already grows; what is new is noted with the place where it will be put.
    row_of = np.empty(keys.shape[0], np.int64)
    column_of = np.empty(keys.shape[0], np.int32)
    place_of = np.empty(keys.shape[0], np.int64)
    value_of = np.empty(keys.shape[0])
    fresh = 0
    i = 0
    while i < keys.shape[0]:
        key = keys[i]
        row = key // observations
        column = key - row * observations
        # Columns of a row ascend: bisection.
        low = begins[row]
        end = begins[row + 1]
        high = end
        while low < high:
            middle = (low + high) // 2
            if columns[middle] < column:
                low = middle + 1
            else:
                high = middle
        is_there = low < end and columns[low] == column
        value = values[low] if is_there else 0.0
        # All equal keys at once, in the order in which the full table would add them.
        first = i
        while i < keys.shape[0] and keys[i] == key:
            if not at_once:
                value += weight
                totals[row] += weight
            i += 1
        if at_once:
            value += weight * (i - first)
        if is_there:
            values[low] = value
        else:
            row_of[fresh], column_of[fresh] = row, column
            place_of[fresh], value_of[fresh] = low, value
            fresh += 1
    # From the back, so that an entry is moved before its place is taken.
    end = begins[begins.shape[0] - 1]
    for k in range(fresh - 1, -1, -1):
        for j in range(end - 1, place_of[k] - 1, -1):
            columns[j + k + 1] = columns[j]
            values[j + k + 1] = values[j]
        end = place_of[k]
        columns[end + k] = column_of[k]
        values[end + k] = value_of[k]
    # Each row begins later by the number of entries that came before it.
    k = 0
    for row in range(begins.shape[0] - 1):
        while k < fresh and row_of[k] <= row:
            k += 1
        begins[row + 1] += k


@kernel
def sweep_sparse_model(
    begins: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    totals: NDArray[np.float64],
    prior: float,
    reward: NDArray[np.float64],
    discount: float,
    softness: float,
    sweeps: int,
    value: NDArray[np.float64],
    q: NDArray[np.float64],
) -> None:
    """Bellman sweeps of one replica, hard for a softness of zero; see `local_model.sweep_model`."""
    observations, actions = q.shape
    for _ in range(sweeps):
        start = prior * value.mean()
        for o in range(observations):
            best = -np.inf
            for a in range(actions):
                row = o * actions + a
                total = start
                # In the order of the columns, as the full table is summed: the zeros change no bit.
                for k in range(begins[row], begins[row + 1]):
                    total += values[k] * value[columns[k]]
                q[o, a] = reward[o] + discount * total / (totals[o, a] + prior)
                best = max(best, q[o, a])
            if softness > 0.0:
                total = 0.0
                for a in range(actions):
                    total += elementary.exp((q[o, a] - best) / softness)
                best += softness * elementary.natural_log(total)
            value[o] = best
