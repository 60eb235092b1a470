"""Agents of a Vicsek swarm, copied into the order of the cells that they are in.

A counting sort: the number of each agent's cell, how many agents each cell has, where each cell
begins, and every agent to its place. Several threads share a large swarm: each counts its own
agents in its own row of `cursor` (parts, cells), and `cells.start_cells` turns the counts into
places that do not overlap, so that no thread waits for another. Agents of a cell stay in the order
of their numbers. Twin in the tests: `np.argsort` of the cells, stable.
"""

import numpy as np

from swarmdp.kernels.numerics import elementary, fixed_point
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space import cells
from swarmdp.kernels.vicsek.layout import Particles, SmallInts, run_of
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats


@kernel
def take_over(position, heading, first, agents):
    """Take agents over from a state; the first of them has the number `first`."""
    x, y, new_heading, cosines, sines, ids = agents
    # Three loops: one that also copies pairs of coordinates would not vectorise.
    for i in range(np.uint64(heading.shape[0])):
        x[i] = position[i, 0]
        y[i] = position[i, 1]
    for i in range(np.uint64(heading.shape[0])):
        new_heading[i] = heading[i]
        ids[i] = np.int32(first) + np.int32(i)
    for i in range(np.uint64(heading.shape[0])):
        sine, cosine = elementary.sincos(heading[i])
        cosines[i] = cosine
        sines[i] = sine


@kernel
def take_over_part(begin, end, position, heading, agents):
    """Take the agents begin..end over from a state."""
    # Views of the thread's own stretch; no other thread writes there.
    part = Particles(
        agents.x[begin:end],
        agents.y[begin:end],
        agents.heading[begin:end],
        agents.cosine[begin:end],
        agents.sine[begin:end],
        agents.id[begin:end],
    )
    take_over(position[begin:end], heading[begin:end], begin, part)


@kernel
def take_over_runs(position, heading, agents):
    """Take the agents of every run over from a state."""
    for r in range(heading.shape[0]):
        take_over(position[r], heading[r], 0, run_of(agents, r))


def take_over_shared(position, heading, now, parts):
    """`take_over` by several threads."""
    parallel.divide(
        heading.size,
        parts,
        lambda _, begin, end: take_over_part(begin, end, position, heading, now),
    )


@kernel
def find_part(part, begin, end, now, grid, work):
    """The cells of the agents begin..end, and how many of them are in each cell."""
    # The cell of each agent is kept where its place will be: one array less to go through.
    cell = work.place[begin:end]
    cells.find_cells(now.x[begin:end], now.y[begin:end], grid, cell)
    cells.count_in_cells(cell, work.cursor[part][: grid.columns * grid.rows])


@kernel
def sort_part(part, begin, end, now, work, ordered, sums):
    """Copy the agents begin..end to their places in cell order; adds their headings to sums."""
    units = fixed_point.units_for(now.x.shape[0])
    x, y, cosine, sine = now.x, now.y, now.cosine, now.sine
    xs, ys, us, vs = ordered.x, ordered.y, ordered.u, ordered.v
    place = work.place
    cursor = work.cursor[part]
    sum_u = np.int64(0)
    sum_v = np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        # Through uint32, which spares the check for negative indices that int32 would need.
        k = np.uint64(np.uint32(place[i]))
        at = cursor[k]
        cursor[k] = at + np.int32(1)
        place[i] = at
        p = np.uint64(np.uint32(at))
        u = np.int64(cosine[i] * units)
        v = np.int64(sine[i] * units)
        xs[p] = x[i]
        ys[p] = y[i]
        us[p] = u
        vs[p] = v
        # The sum of all headings, the order parameter, costs nothing here.
        sum_u += u
        sum_v += v
    sums[0] += sum_u
    sums[1] += sum_v


def by_cell(position: Floats, radius: float, box: float) -> SmallInts:
    """The agents of each run in the order of their cells, so that neighbours are near in memory."""
    out = np.empty(position.shape[:2], np.int32)
    by_cell_runs(position, radius, box, out)
    return out


@kernel
def by_cell_runs(position, radius, box, out):
    """The agents of every run in the order of their cells."""
    runs, agents = out.shape
    start = np.empty(cells.cells_per_axis(agents) ** 2 + 1, np.int32)
    cursor = np.empty(start.shape[0], np.int32)
    cell = np.empty(agents, np.int32)
    for r in range(runs):
        # Contiguous, so that finding cells vectorises.
        x = position[r, :, 0].copy()
        y = position[r, :, 1].copy()
        grid = cells.cell_grid(x, y, radius, box)
        size = grid.columns * grid.rows
        cells.find_cells(x, y, grid, cell)
        cells.count_in_cells(cell, cursor[:size])
        cells.start_cells(cursor[:size].reshape((1, size)), start)
        # In the order of their numbers, so that the sort is stable.
        for i in range(np.uint64(agents)):
            k = np.uint64(np.uint32(cell[i]))
            out[r, np.uint64(np.uint32(cursor[k]))] = np.int32(i)
            cursor[k] += np.int32(1)


@kernel
def reorder_by_cell(now, place, spare):
    """Bring a swarm into the order of its cells."""
    size = now.x.shape[0]
    # One array after the other through one spare: less memory than a second swarm.
    for array in (now.x, now.y, now.heading, now.cosine, now.sine):
        spread_out(0, size, array, place, spare)
        copy_back(0, size, spare, array)
    # Numbers of agents are below 2^53, so that the spare floats hold them exactly.
    spread_out(0, size, now.id, place, spare)
    copy_back(0, size, spare, now.id)


@kernel
def spread_out(begin, end, array, place, out):
    """Put what is known of the agents begin..end where they are in the order of cells."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[np.uint64(np.uint32(place[i]))] = array[i]


@kernel
def copy_back(begin, end, values, array):
    """Copy the entries begin..end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        array[i] = values[i]
