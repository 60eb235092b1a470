"""What the agents of a Vicsek swarm observe: their misalignment, an angle in [-pi, pi].

Arrays are (runs, agents) and (runs, agents, 2) of float64, in the order of the agents; on the way
they are in the order of cells (see `vicsek.layout`). Runs are done one after the other by one
thread; a large swarm is shared between threads instead, first its agents, then its rows of cells.
Both ways give the same bits, since all sums are of fixed-point numbers.

Twin in the tests: `oracles.misalignment` over `oracles.neighbours`.
"""

import numpy as np

from swarmdp.kernels.numerics import elementary, fixed_point
from swarmdp.kernels.numerics.vectors import PADDING
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space import cells
from swarmdp.kernels.vicsek.layout import (
    first_row_buffers,
    new_cell_places,
    new_particles,
    new_particles_by_cell,
    new_row_buffers,
    shared_workspace,
)
from swarmdp.kernels.vicsek.sorting import find_part, sort_part, take_over, take_over_shared
from swarmdp.kernels.vicsek.sums import (
    in_frame_of,
    least_sum,
    misalignment_rows,
    misalignment_rows_in,
    most_candidates,
)
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats, Ints


def misalignment(position: Floats, heading: Floats, radius: float, box: float) -> Floats:
    """The angle from each agent's heading to the mean heading of its neighbours and itself."""
    runs, agents = heading.shape
    out = np.empty((runs, agents))
    parts = parallel.shares(agents)
    # Small swarms: all runs in one call, one after the other.
    if parts == 1:
        misalignment_runs(position, heading, radius, box, out)
    else:
        for r in range(runs):
            _misalignment_shared(position[r], heading[r], radius, box, out[r], parts)
    return out


def _misalignment_shared(position, heading, radius, box, out, parts):
    """One large swarm: its agents, then its rows of cells, are shared between threads."""
    agents = heading.shape[0]
    if cells.wraps_onto_itself(radius, box, agents):
        parallel.divide(
            agents,
            parts,
            lambda _, begin, end: misalignment_all_pairs(
                begin, end, position, heading, radius, box, out
            ),
        )
        return
    now = new_particles(agents)
    take_over_shared(position, heading, now, parts)
    ordered, work = shared_workspace(agents, parts)
    find_misalignments_shared(now, radius, box, ordered, work, parts)
    parallel.divide(
        agents,
        parts,
        lambda _, begin, end: look_up_angles(begin, end, ordered, work, out[begin:end]),
    )


def find_misalignments_shared(now, radius, box, ordered, work, parts):
    """`find_misalignments` by several threads; returns the fixed-point sums of all headings."""
    agents = now.x.size
    # Three times all threads meet: no cell may be filled before all agents are counted, and no
    # row summed before all cells are filled.
    grid = cells.cell_grid(now.x, now.y, radius, box)
    sums = np.zeros((parts, 2), np.int64)
    parallel.divide(
        agents, parts, lambda part, begin, end: find_part(part, begin, end, now, grid, work)
    )
    cells.start_cells(work.cursor[:, : grid.columns * grid.rows], work.start)
    parallel.divide(
        agents,
        parts,
        lambda part, begin, end: sort_part(part, begin, end, now, work, ordered, sums[part]),
    )
    parallel.divide(
        grid.rows,
        parts,
        lambda _, begin, end: misalignment_rows(
            begin, end, grid, radius, box, agents, work.start, ordered
        ),
    )
    return sums.sum(axis=0)


@kernel
def misalignment_runs(position, heading, radius, box, out):
    """Misalignment for every run in turn."""
    runs, agents = heading.shape
    if cells.wraps_onto_itself(radius, box, agents):
        for r in range(runs):
            misalignment_all_pairs(0, agents, position[r], heading[r], radius, box, out[r])
        return
    # Memory for one run serves all of them.
    now = new_particles(agents)
    ordered = new_particles_by_cell(agents)
    work = new_cell_places(agents, 1)
    buffers = first_row_buffers(agents)
    sums = np.empty(2, np.int64)
    for r in range(runs):
        take_over(position[r], heading[r], 0, now)
        buffers = find_misalignments(now, radius, box, ordered, work, buffers, sums)
        look_up_angles(0, agents, ordered, work, out[r])


@kernel
def find_misalignments(now, radius, box, ordered, work, buffers, sums):
    """Find the misalignment of all agents of one swarm, and add their headings to sums (2,).

    `ordered.angle[work.place[i]]` is that of agent i. Returns the buffers, larger ones if needed.
    The box must have room for three cells each way, or be open.
    """
    agents = now.x.shape[0]
    grid = cells.cell_grid(now.x, now.y, radius, box)
    find_part(0, 0, agents, now, grid, work)
    size = grid.columns * grid.rows
    cells.start_cells(work.cursor[0][:size].reshape((1, size)), work.start)
    sort_part(0, 0, agents, now, work, ordered, sums)
    # Buffers are handed back: in the next step they are large enough.
    needed = most_candidates(0, grid.rows, grid, work.start)
    if needed > buffers.x.shape[0] - PADDING:
        buffers = new_row_buffers(needed)
    misalignment_rows_in(0, grid.rows, grid, radius, box, agents, work.start, ordered, buffers)
    return buffers


@kernel
def look_up_angles(begin, end, ordered, work, out):
    """What the agents begin..end observe."""
    angle, place = ordered.angle, work.place
    # Back from the order of cells to that of the agents.
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i - np.uint64(begin)] = angle[np.uint64(np.uint32(place[i]))]


def directions(heading: Floats) -> tuple[Ints, Ints]:
    """The headings (agents,) of one swarm as vectors in fixed point."""
    u, v = np.empty(heading.shape, np.int64), np.empty(heading.shape, np.int64)
    directions_of(heading, u, v)
    return u, v


@kernel
def directions_of(heading, u, v):
    """Headings as vectors in fixed point."""
    # The units of the whole swarm, so that these sums compare with those of `sums`.
    units = fixed_point.units_for(heading.shape[0])
    for i in range(np.uint64(heading.shape[0])):
        sine, cosine = elementary.sincos(heading[i])
        u[i] = np.int64(cosine * units)
        v[i] = np.int64(sine * units)


def misalignment_to(u: Ints, v: Ints, sum_u: Ints, sum_v: Ints) -> Floats:
    """The angle from each agent's direction to the sum over its neighbours, all in fixed point."""
    out = np.empty(u.shape)
    misalignment_to_sums(u, v, sum_u, sum_v, out)
    return out


@kernel
def misalignment_to_sums(u, v, sum_u, sum_v, out):
    """The angle from each agent's direction to a sum of directions."""
    least = least_sum(u.shape[0])
    for i in range(np.uint64(u.shape[0])):
        across, along = in_frame_of(u[i], v[i], sum_u[i], sum_v[i], least)
        out[i] = elementary.atan2(across, along)


@kernel
def misalignment_all_pairs(begin, end, position, heading, radius, box, out):
    """Misalignment of agents begin..end in a periodic box too small for cells.

    Every agent counts once, at its nearest image.
    """
    agents = heading.shape[0]
    u = np.empty(agents, np.int64)
    v = np.empty(agents, np.int64)
    directions_of(heading, u, v)
    square = radius * radius
    least = least_sum(agents)
    for i in range(begin, end):
        sum_u = np.int64(0)
        sum_v = np.int64(0)
        # All pairs: the boxes that need it hold few cells, and seldom many agents.
        for j in range(agents):
            dx = abs(position[j, 0] - position[i, 0])
            dy = abs(position[j, 1] - position[i, 1])
            # The shorter way round; inside the box a gap is less than a side.
            dx = min(dx, box - dx)
            dy = min(dy, box - dy)
            within = dx * dx + dy * dy <= square
            sum_u += u[j] if within else np.int64(0)
            sum_v += v[j] if within else np.int64(0)
        across, along = in_frame_of(u[i], v[i], sum_u, sum_v, least)
        out[i] = elementary.atan2(across, along)
