"""Square cells no narrower than a radius: all agents within it are in the cells around an agent's.

Coordinates come as two arrays (agents,) of float64. Cells are numbered row by row in int32, as many
as an array of counts has entries: at most about one for each agent, so that going through all of
them costs no more than going through the agents. `box` is the period of both axes, or 0 for open
space, where the cells cover the agents. Twin in the tests: all pairs, `oracles.neighbours`.
"""

import math
from typing import NamedTuple

import numpy as np

from swarmdp.kernels.runtime.compile import kernel

CELL_MARGIN = 1 - 1e-12  # agents within the radius are in adjacent cells even after rounding


class CellGrid(NamedTuple):
    """Columns and rows of cells, their lower left corner, and how many there are per length."""

    columns: int
    rows: int
    x: float
    y: float
    per_x: float
    per_y: float


@kernel
def cells_per_axis(agents: int) -> int:
    """The largest number of cells along an axis: about one agent a cell, and at least three."""
    return max(3, math.ceil(math.sqrt(agents)))


@kernel
def wraps_onto_itself(radius: float, box: float, agents: int) -> bool:
    """Whether a cell and its neighbours meet each other again around the periodic boundary."""
    most = cells_per_axis(agents)
    return box > 0.0 and number_of_cells(box, radius, most) < 3


@kernel
def number_of_cells(length: float, radius: float, most: int) -> int:
    """How many cells no narrower than the radius fit into a length, at least one."""
    return int(min(float(most), max(1.0, math.floor(length / radius * CELL_MARGIN))))


@kernel
def cell_grid(x, y, radius, box):
    """The cells for agents at these places."""
    most = cells_per_axis(x.shape[0])
    if box > 0.0:
        # A whole number of cells fills the box, so that the last one borders on the first.
        n = number_of_cells(box, radius, most)
        return CellGrid(n, n, 0.0, 0.0, n / box, n / box)
    # Open space: the cells cover the agents. However far these have spread, there are no more cells
    # than `most`, which are then wider than the radius.
    left = right = x[0]
    low = high = y[0]
    for i in range(np.uint64(x.shape[0])):
        left = min(left, x[i])
        right = max(right, x[i])
        low = min(low, y[i])
        high = max(high, y[i])
    columns = number_of_cells(right - left, radius, most)
    rows = number_of_cells(high - low, radius, most)
    per_x = columns / (right - left) if right > left else 0.0
    per_y = rows / (high - low) if high > low else 0.0
    return CellGrid(columns, rows, left, low, per_x, per_y)


@kernel
def find_cells(x, y, grid, cell):
    """The number of the cell of each place, row by row."""
    # 32-bit numbers: eight places at a time, and half the memory of the lists that follow.
    columns = np.int32(grid.columns)
    last_column = np.int32(grid.columns - 1)
    last_row = np.int32(grid.rows - 1)
    for i in range(np.uint64(x.shape[0])):
        column = np.int32((x[i] - grid.x) * grid.per_x)
        row = np.int32((y[i] - grid.y) * grid.per_y)
        # Rounding may put an agent at the edge into a cell beyond it.
        column = min(max(column, np.int32(0)), last_column)
        row = min(max(row, np.int32(0)), last_row)
        cell[i] = row * columns + column


@kernel
def count_in_cells(cell, count):
    """How many agents are in each cell."""
    # Through uint32, so that the index needs no check for negative numbers.
    for k in range(np.uint64(count.shape[0])):
        count[k] = 0
    for i in range(np.uint64(cell.shape[0])):
        count[np.uint64(np.uint32(cell[i]))] += np.int32(1)


@kernel
def start_cells(cursor, start):
    """Turn counts (parts, cells) into where each part is to put its agents of each cell.

    Cell k has the places start[k] up to start[k + 1].
    """
    parts, cells = cursor.shape
    total = np.int32(0)
    for k in range(np.uint64(cells)):
        start[k] = total
        # Within a cell the agents of the first thread come first: the order of one thread alone.
        for part in range(np.uint64(parts)):
            here = cursor[part, k]
            cursor[part, k] = total
            total += here
    start[np.uint64(cells)] = total
