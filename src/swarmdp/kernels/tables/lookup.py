"""What a table says for the class of each agent.

Classes are (runs, agents) of any integer type and known to be in range: they were checked when
observations became classes, so that they address memory as they are. Tables are (replicas,
classes, ...), and run r reads row rows[r]. Twins in the tests: NumPy's indexing and `oracles.draw`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel


def look_up(
    index: NDArray[np.integer], table: NDArray[Any], rows: NDArray[np.int64]
) -> NDArray[Any]:
    """out[r, i] = table[rows[r], index[r, i]]; entries may be vectors, such as (turn, speed)."""
    if table.ndim > 2:
        vectors: NDArray[Any] = table[rows[:, None], index]
        return vectors
    out = np.empty(index.shape, table.dtype)
    look_up_rows(index, table, rows, out)
    return out


@kernel
def look_up_rows(index, table, rows, out):
    """out[r, i] = table[rows[r], index[r, i]]."""
    for r in range(index.shape[0]):
        entries = table[rows[r]]
        classes = index[r]
        values = out[r]
        for i in range(np.uint64(classes.shape[0])):
            values[i] = entries[np.uint64(classes[i])]


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


@kernel
def draw_rows(index, cumulative, chance, rows, out):
    """Draw an action for every agent; one that is impossible is never drawn."""
    actions = cumulative.shape[2]
    for r in range(index.shape[0]):
        table = cumulative[rows[r]]
        for i in range(np.uint64(index.shape[1])):
            sums = table[np.uint64(index[r, i])]
            # Rounding may leave the last sum below one: scale the chance by it.
            threshold = chance[r, i] * sums[actions - 1]
            a = 0
            # A dozen actions: walking is quicker than bisection.
            while a < actions - 1 and sums[a] <= threshold:
                a += 1
            # Impossible actions have the sum of the one before them: back to a possible one.
            while a > 0 and sums[a] == sums[a - 1]:
                a -= 1
            out[r, i] = a
