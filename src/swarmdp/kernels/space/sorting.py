"""A swarm, copied into the order of cells that are as wide as its neighbourhoods.

Other than the cells of the Vicsek model, these need not be as wide as a radius: for the nearest
neighbours they are chosen so that an agent's own cell and those around it have enough agents most
of the time, and `neighbours` takes more cells where they have not. In a periodic box the grid is
the box, otherwise it covers all agents. At most as many cells as agents: `start` is (agents + 2,).
Twin in the tests, together with `candidates` and `neighbours`: `oracles.neighbour_sums`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.fixed_point import UNITS
from swarmdp.kernels.runtime.compile import borrowing, inlined, kernel
from swarmdp.kernels.space import cells
from swarmdp.kernels.space.cells import CellGrid
from swarmdp.kernels.space.kinds import PERIODIC

FEW_AGENTS = 48  # agents that are looked through without cells
AROUND = 4.3  # cells' areas that a circle has which reaches the rim of the cells around, on average


@kernel
def cells_for(width, height, left, low, agents, nearest, radius):
    """The grid in which the cells around an agent's own have its neighbours, most of the time."""
    need = max(nearest, 1)
    # Two standard deviations more than needed, as agents spread at random would have.
    in_cell = max(1.0, (need + 2.0 * math.sqrt(need) + 1.0) / AROUND)
    most = int(agents / in_cell)
    # Looking through a few agents takes less time than putting them into cells.
    if agents < FEW_AGENTS or most < 2:
        return CellGrid(1, 1, left, low, 0.0, 0.0)
    least = radius if nearest == 0 else 0.0
    columns = rows = 1
    if width > 0.0 and height > 0.0:
        side = math.sqrt(width) * math.sqrt(height) * math.sqrt(in_cell / agents)
        side = max(side, least)
        columns = int(min(max(math.floor(width / side), 1.0), float(most)))
        # Not more cells than `start` has room for, however long and narrow the swarm is.
        rows = int(min(max(math.floor(height / side), 1.0), float(most // columns)))
    # All agents on a line: cells along it only.
    elif width > 0.0:
        columns = int(min(max(math.floor(width / max(width / most, least)), 1.0), float(most)))
    elif height > 0.0:
        rows = int(min(max(math.floor(height / max(height / most, least)), 1.0), float(most)))
    per_x = columns / width if columns > 1 else 0.0
    per_y = rows / height if rows > 1 else 0.0
    return CellGrid(columns, rows, left, low, per_x, per_y)


@inlined
def in_box(x, y, grid, walls):
    """A place in a periodic box, from the grid's corner."""
    x = x - grid.x
    y = y - grid.y
    x -= walls[1, 0] * math.floor(x / walls[1, 0])
    y -= walls[1, 1] * math.floor(y / walls[1, 1])
    return x, y


@borrowing
def grid_around(x, y, agents, nearest, radius, kind, walls):
    """The grid for agents at these places, and whether all agents are inside a periodic box."""
    left = low = np.inf
    right = high = -np.inf
    # Minima and maxima do not depend on the order, so that this loop vectorises as it is.
    for i in range(np.uint64(agents)):
        left = min(left, x[i])
        right = max(right, x[i])
        low = min(low, y[i])
        high = max(high, y[i])
    inside = True
    if kind == PERIODIC:
        # Simulated agents always are; then gaps can be folded without a division.
        inside = left >= walls[0, 0] and low >= walls[0, 1]
        left = walls[0, 0]
        low = walls[0, 1]
        inside = inside and right <= left + walls[1, 0] and high <= low + walls[1, 1]
        right = left + walls[1, 0]
        high = low + walls[1, 1]
    return cells_for(right - left, high - low, left, low, agents, nearest, radius), inside


@kernel
def sort_by_cell(x, y, heading, ids, agents, nearest, radius, kind, walls, now):
    """Copy the first of these agents into the order of their cells.

    Returns the cells' grid, and whether all agents are inside a periodic box.
    """
    grid, inside = grid_around(x, y, agents, nearest, radius, kind, walls)
    cell, start = now.cell, now.start
    if inside:
        cells.find_cells(x[:agents], y[:agents], grid, cell)
    else:
        # Recorded places may be outside of a periodic box: rare, so this loop may be slow.
        for i in range(agents):
            inner_x, inner_y = in_box(x[i], y[i], grid, walls)
            column = min(max(int(inner_x * grid.per_x), 0), grid.columns - 1)
            row = min(max(int(inner_y * grid.per_y), 0), grid.rows - 1)
            cell[i] = row * grid.columns + column
    # While agents are put into cell k, start[k + 1] is the place of the next one: in the end it is
    # where cell k + 1 begins, and no second array of cursors is needed.
    one = np.uint64(1)
    size = np.uint64(grid.columns * grid.rows)
    for k in range(size + one):
        start[k] = 0
    for i in range(np.uint64(agents)):
        start[np.uint64(np.uint32(cell[i])) + one] += np.int32(1)
    total = np.int32(0)
    for k in range(one, size + one):
        here = start[k]
        start[k] = total
        total += here
    for i in range(np.uint64(agents)):
        k = np.uint64(np.uint32(cell[i])) + one
        place = start[k]
        start[k] = place + np.int32(1)
        p = np.uint64(np.uint32(place))
        now.x[p] = x[i]
        now.y[p] = y[i]
        now.heading[p] = heading[i]
        now.id[p] = ids[i]
    # Sines in loops of their own: scattered stores would keep them from being vectors.
    for p in range(np.uint64(agents)):
        s, c = elementary.sincos(now.heading[p])
        now.cosine[p] = c
        now.sine[p] = s
    for p in range(np.uint64(agents)):
        now.u[p] = np.int64(now.cosine[p] * UNITS)
        now.v[p] = np.int64(now.sine[p] * UNITS)
    return grid, inside
