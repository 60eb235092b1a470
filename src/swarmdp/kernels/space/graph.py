"""The interaction graph of the Vicsek model: how many hops agents are apart.

Two agents are linked when one is within the other's radius, decided by the same arithmetic as in
`vicsek`. The search starts at one agent and goes outwards; an agent that has been reached is taken
out of its cell's list, so that dense swarms cost no more than sparse ones.

Positions are (runs, agents, 2) of float64, hops (runs, agents) of int32; `box` is the period of
both axes, or 0 for open space. Each agent is moved at most once and looked at few times, so that
this is plain scalar code. Twin in the tests: `oracles.hops`.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space import cells

UNREACHABLE = -1


def hops(
    position: NDArray[np.float64], source: int, radius: float, box: float
) -> NDArray[np.int32]:
    """The hops (runs, agents) from the agent `source`, or -1 where no chain of links leads to it.

    An agent looks for others as it does when it observes them: the link from i to j is there when
    j is among those whose headings i sees.
    """
    out = np.empty(position.shape[:2], np.int32)
    hops_runs(position, source, radius, box, out)
    return out


@kernel
def hops_runs(position, source, radius, box, out):
    """Hops for every run in turn."""
    runs, agents = out.shape
    most = cells.cells_per_axis(agents) ** 2
    start = np.empty(most + 1, np.int32)
    end = np.empty(most, np.int32)
    cell = np.empty(agents, np.int32)
    waiting = np.empty(agents, np.int32)
    queue = np.empty(agents, np.int32)
    for r in range(runs):
        place = position[r]
        # Cells that meet themselves around the box would list an agent twice.
        if cells.wraps_onto_itself(radius, box, agents):
            search_all(place, source, radius, box, waiting, queue, out[r])
        else:
            x = place[:, 0].copy()
            y = place[:, 1].copy()
            grid = cells.cell_grid(x, y, radius, box)
            size = grid.columns * grid.rows
            ends = end[:size]
            cells.find_cells(x, y, grid, cell)
            cells.count_in_cells(cell, ends)
            cells.start_cells(ends.reshape((1, size)), start)
            for i in range(agents):
                waiting[ends[cell[i]]] = i
                ends[cell[i]] += 1
            lists = (grid.columns, grid.rows, start, ends, cell)
            search_cells(place, source, radius, box, lists, waiting, queue, out[r])


@kernel
def search_cells(place, source, radius, box, lists, waiting, queue, out):
    """Hops from the source; cell k has the agents waiting[start[k]:end[k]] still to be reached."""
    columns, rows, start, end, cell = lists
    square = radius * radius
    out[:] = UNREACHABLE
    out[source] = 0
    queue[0] = source
    reached = 1
    k = cell[source]
    # The source is reached from the start: it is taken off its list.
    for p in range(start[k], end[k]):
        if waiting[p] == source:
            end[k] -= 1
            waiting[p] = waiting[end[k]]
            break
    # Breadth first: `queue` has all agents in the order in which they were reached.
    head = 0
    while head < reached < out.shape[0]:
        i = queue[head]
        head += 1
        x = place[i, 0]
        y = place[i, 1]
        home_row = cell[i] // columns
        home_column = cell[i] - home_row * columns
        for d in range(-1, 2):
            row = home_row + d
            shift_y = 0.0
            if row < 0 or row >= rows:
                if box == 0.0:
                    continue
                # An agent from the other side of the box is seen where its image is.
                shift_y = -box if row < 0 else box
                row = row + rows if row < 0 else row - rows
            for e in range(-1, 2):
                column = home_column + e
                shift_x = 0.0
                if column < 0 or column >= columns:
                    if box == 0.0:
                        continue
                    shift_x = -box if column < 0 else box
                    column = column + columns if column < 0 else column - columns
                k = np.uint64(row * columns + column)
                # Unsigned, since Numba adds a check for negative numbers to every signed index.
                p = np.uint64(start[k])
                last = np.uint64(end[k])
                while p < last:
                    j = np.uint64(waiting[p])
                    dx = place[j, 0] + shift_x - x
                    dy = place[j, 1] + shift_y - y
                    if dx * dx + dy * dy <= square:
                        out[j] = out[i] + 1
                        queue[reached] = j
                        reached += 1
                        # The last one of the list takes the place of the one that was reached.
                        last -= np.uint64(1)
                        waiting[p] = waiting[last]
                    else:
                        p += np.uint64(1)
                # For the next agent that looks into this cell.
                end[k] = last


@kernel
def search_all(place, source, radius, box, waiting, queue, out):
    """Hops from the source in a periodic box too small for cells: all pairs, nearest images."""
    agents = out.shape[0]
    square = radius * radius
    out[:] = UNREACHABLE
    out[source] = 0
    queue[0] = source
    reached = 1
    left = 0
    for j in range(agents):
        # One list of all that are still to be reached, shortened as those of cells are.
        if j != source:
            waiting[left] = j
            left += 1
    head = 0
    while head < reached < agents:
        i = queue[head]
        head += 1
        p = 0
        while p < left:
            j = waiting[p]
            dx = abs(place[j, 0] - place[i, 0])
            dy = abs(place[j, 1] - place[i, 1])
            # The nearest image; the box is too small for a second one to be within reach.
            dx = min(dx, box - dx)
            dy = min(dy, box - dy)
            if dx * dx + dy * dy <= square:
                out[j] = out[i] + 1
                queue[reached] = j
                reached += 1
                left -= 1
                waiting[p] = waiting[left]
            else:
                p += 1
