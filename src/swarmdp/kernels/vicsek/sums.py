"""Sums of directions around each agent of a Vicsek swarm: the inner loop of the model.

Agents are in the order of cells (`ParticlesByCell`), and cells are no narrower than the radius, so
that all neighbours of an agent are in its own cell and the eight around it. The candidates of a row
of cells are copied once into `RowBuffers`, column by column: those of three adjacent columns are
then one stretch of memory, already shifted across the periodic boundary, and the loop over them has
neither a branch nor an index to look up. It computes more distances than a list of neighbours
would, but eight at a time.

Twin in the tests: `oracles.neighbours` and `oracles.misalignment`.
"""

import numpy as np

from swarmdp.kernels.numerics import elementary, fixed_point
from swarmdp.kernels.numerics.vectors import PADDING, VECTOR_WIDTH, copy_four, shift_four
from swarmdp.kernels.runtime.compile import borrowing, inlined, kernel
from swarmdp.kernels.vicsek.layout import BLOCK_AGENTS, COLUMNS, new_row_buffers

FAR_AWAY = 1e150  # coordinate of a padding candidate; its square is finite
CANCELLED = 1e-9  # headings whose sum is shorter than this have no mean


@kernel
def least_sum(agents: int) -> int:
    """The fixed-point length below which a sum of headings has no direction."""
    return int(CANCELLED * fixed_point.units_for(agents))


@inlined
def in_frame_of(own_u, own_v, u, v, least):
    """The vector (u, v) across and along an agent's own heading.

    Where headings cancel out the agent is taken for aligned: its own heading replaces the sum.
    """
    # The sum of absolute values instead of the length: no root, and integers stay exact.
    cancelled = abs(u) + abs(v) < least
    x = float(own_u if cancelled else u)
    y = float(own_v if cancelled else v)
    # A rotation by the agent's own heading instead of a difference of two angles, which would
    # have to be wrapped: one arc tangent instead of two.
    across = float(own_u) * y - float(own_v) * x
    along = float(own_u) * x + float(own_v) * y
    return across, along


@kernel
def most_candidates(begin_row, end_row, grid, start):
    """An upper bound on the candidates of any of these rows: three rows, the edges twice."""
    most = 0
    for row in range(begin_row, end_row):
        n = 0
        for d in range(-1, 2):
            there = row + d
            there = there + grid.rows if there < 0 else there
            there = there - grid.rows if there >= grid.rows else there
            n += start[(there + 1) * grid.columns] - start[there * grid.columns]
        most = max(most, n)
    # A narrow grid has few columns, of which the outer two are copied on both sides: at most all
    # of them once more.
    return 2 * most


@kernel
def misalignment_rows(begin_row, end_row, grid, radius, box, agents, start, ordered):
    """`misalignment_rows_in` with buffers of its own, for a thread that has some of the rows."""
    # Counted for these rows alone: a thread's buffers are no larger than it needs.
    buffers = new_row_buffers(most_candidates(begin_row, end_row, grid, start))
    misalignment_rows_in(begin_row, end_row, grid, radius, box, agents, start, ordered, buffers)


@kernel
def misalignment_rows_in(begin_row, end_row, grid, radius, box, agents, start, ordered, buffers):
    """Misalignment of the agents in these rows of cells, in the order of cells."""
    least = least_sum(agents)
    angle, along = ordered.angle, buffers.along
    row = begin_row
    while row < end_row:
        begin = np.uint64(start[row * grid.columns])
        first = row
        row += 1
        # As many rows at once as make a block: calls and short loops cost.
        while row < end_row and np.uint64(start[(row + 1) * grid.columns]) - begin <= np.uint64(
            BLOCK_AGENTS
        ):
            row += 1
        sum_rows(first, row, grid, radius, box, least, start, ordered, buffers)
        # Apart from the sums, so that the arc tangents of a block are computed as vectors.
        for i in range(begin, np.uint64(start[row * grid.columns])):
            angle[i] = elementary.atan2(angle[i], along[i - begin])


@borrowing
def merge_rows(row, first, last, grid, box, start, ordered, buffers):
    """Copy the candidates of the columns first..last of a row: the agents of three rows of cells.

    They are copied column by column, from the one before to the one after, shifted across the
    periodic boundary; `column[q]` is where those of column first - 1 + q begin.
    """
    x, y, u, v = ordered.x, ordered.y, ordered.u, ordered.v
    near_x, near_y, near_u, near_v = buffers.x, buffers.y, buffers.u, buffers.v
    begins = buffers.column
    one, four = np.uint64(1), np.uint64(VECTOR_WIDTH)
    n = np.uint64(0)
    q = np.uint64(0)
    for unwrapped in range(first - 1, last + 1):
        begins[q] = n
        q += one
        column = unwrapped
        shift_x = 0.0
        if unwrapped < 0 or unwrapped >= grid.columns:
            # In open space there is nothing beyond the edge.
            if box == 0.0:
                continue
            # Shifted by a period, an agent from the other side is where its image is.
            shift_x = -box if unwrapped < 0 else box
            column = unwrapped + grid.columns if unwrapped < 0 else unwrapped - grid.columns
        for beside in range(row - 1, row + 2):
            there = beside
            shift_y = 0.0
            if beside < 0 or beside >= grid.rows:
                if box == 0.0:
                    continue
                shift_y = -box if beside < 0 else box
                there = beside + grid.rows if beside < 0 else beside - grid.rows
            k = np.uint64(there * grid.columns + column)
            begin = np.uint64(np.uint32(start[k]))
            end = np.uint64(np.uint32(start[k + one]))
            p = n
            # Four agents are copied at a time, whether they are in the cell or not: the next ones
            # overwrite those that are not, and short loops of unknown length would cost more.
            for j in range(begin, end, four):
                shift_four(x, j, near_x, p, shift_x)
                shift_four(y, j, near_y, p, shift_y)
                copy_four(u, j, near_u, p)
                copy_four(v, j, near_v, p)
                p += four
            n += end - begin
    begins[q] = n
    for j in range(n, n + np.uint64(PADDING)):
        near_x[j] = FAR_AWAY
        # Even the largest radius must not find a direction here.
        near_u[j] = 0
        near_v[j] = 0


@kernel
def sum_rows(begin_row, end_row, grid, radius, box, least, start, ordered, buffers):
    """Add up the directions around each agent of these rows, in the frame of its own heading.

    Candidates beyond those of the three columns, up to a multiple of PADDING, are too far to count.
    """
    xs, ys, us, vs = ordered.x, ordered.y, ordered.u, ordered.v
    near_x, near_y, near_u, near_v = buffers.x, buffers.y, buffers.u, buffers.v
    across, along = ordered.angle, buffers.along
    square = radius * radius
    zero = np.int64(0)
    width = np.uint64(PADDING)
    base = np.uint64(start[begin_row * grid.columns])
    for row in range(begin_row, end_row):
        # A stretch of columns at a time, whose candidates fit the cache even in a wide grid.
        for first in range(0, grid.columns, COLUMNS):
            last = min(grid.columns, first + COLUMNS)
            merge_rows(row, first, last, grid, box, start, ordered, buffers)
            for column in range(first, last):
                k = np.uint64(row * grid.columns + column)
                begin = np.uint64(np.uint32(start[k]))
                end = np.uint64(np.uint32(start[k + np.uint64(1)]))
                # Empty cells are common in swarms that have gathered.
                if begin == end:
                    continue
                # column[0] is the one before `first`: three columns begin at the agent's own index.
                q = np.uint64(column - first)
                low = buffers.column[q]
                size = buffers.column[q + np.uint64(3)] - low
                high = low + (size + width - np.uint64(1)) // width * width
                for i in range(begin, end):
                    x = xs[i]
                    y = ys[i]
                    u = zero
                    v = zero
                    # A choice instead of a branch: adding zero, the loop stays one of vectors.
                    for j in range(low, high):
                        dx = near_x[j] - x
                        dy = near_y[j] - y
                        within = dx * dx + dy * dy <= square
                        u += near_u[j] if within else zero
                        v += near_v[j] if within else zero
                    across[i], along[i - base] = in_frame_of(us[i], vs[i], u, v, least)
