"""The Vicsek model: neighbour sums on a cell list, misalignment, motion, order.

Speed comes from four things: agents are copied into the order of their cells, so that memory is
read in sequence; the candidates of a cell are copied once into a padded buffer, shifted across
the periodic boundary, so that the inner loop has no branch; headings are summed as 64-bit
fixed-point numbers, which vectorises and is exact, so that the order of summation cannot matter;
and indices are unsigned, which spares the checks for negative ones.

Arrays are (runs, agents) and (runs, agents, 2); `box` is the period of both axes, or 0 for open
space.
"""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import elementary, parallel
from swarmdp.kernels.compile import inlined, kernel
from swarmdp.kernels.scratch import scratch

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

LARGE = 10_000  # agents from which on a swarm is treated by itself, on several threads
LANES = 8  # candidates are padded to a multiple of this many
FAR = 1e150  # coordinate of a padding candidate; its square is finite
BLOCK = 512  # agents whose sines and cosines are computed at a time
CELL_MARGIN = 1 - 1e-12  # agents within the radius are in adjacent cells even after rounding
CANCELLED = 1e-9  # headings whose sum is shorter than this have no mean
TWO_PI = 2 * math.pi


def misalignment(position: Floats, heading: Floats, radius: float, box: float) -> Floats:
    """The angle from each agent's heading to the mean heading of its neighbours and itself."""
    runs, agents = heading.shape
    out = np.empty((runs, agents))
    if agents < LARGE:
        misalignment_runs(position, heading, radius, box, out)
    else:
        parts = parallel.shares(agents)
        for r in range(runs):
            _misalignment_large(position[r], heading[r], radius, box, out[r], parts)
    return out


def advance(
    position: Floats, heading: Floats, turn: Floats, noise: Floats, speed: float, box: float
) -> tuple[Floats, Floats]:
    """Move with the heading before the turn, then turn: the transition T."""
    new_position, new_heading = np.empty(position.shape), np.empty(heading.shape)
    agents = heading.size
    flat = (
        position.reshape(agents, 2),
        heading.reshape(agents),
        turn.reshape(agents),
        noise.reshape(agents),
        speed,
        box,
        new_position.reshape(agents, 2),
        new_heading.reshape(agents),
    )
    parallel.divide(
        agents, parallel.shares(agents), lambda _, begin, end: advance_agents(begin, end, *flat)
    )
    return new_position, new_heading


def order(heading: Floats) -> Floats:
    """The order parameter: length of the mean heading vector of each run."""
    runs, agents = heading.shape
    parts = parallel.shares(agents)
    sums = np.empty((parts, runs, 2), np.int64)
    parallel.divide(
        agents, parts, lambda part, begin, end: add_headings(begin, end, heading, sums[part])
    )
    mean = sums.sum(axis=0) / fixed_point_scale(agents) / agents
    length: Floats = np.sqrt(mean[:, 0] ** 2 + mean[:, 1] ** 2)
    return length


def by_cell(position: Floats, radius: float, box: float) -> Ints:
    """The agents of each run in the order of their cells, so that neighbours are near in memory."""
    out = np.empty(position.shape[:2], np.int32)
    by_cell_runs(position, radius, box, out)
    return out


def _misalignment_large(position, heading, radius, box, out, parts):
    """One large swarm: its agents, then its rows of cells, are shared between threads."""
    agents = heading.shape[0]
    columns, rows, corner, scale = cell_grid(position, radius, box)
    if wraps_onto_itself(columns, rows, box):
        parallel.divide(
            agents,
            parts,
            lambda _, begin, end: misalignment_all_pairs(
                begin, end, position, heading, radius, box, out
            ),
        )
        return
    cells = columns * rows
    work = scratch("vicsek", (agents, cells), lambda: new_workspace(agents, cells))
    start, cell, *sorted_agents, _ = work
    cursor = np.empty((parts, cells), np.int32)
    parallel.divide(
        agents,
        parts,
        lambda part, begin, end: find_cells(
            begin, end, position, columns, rows, corner, scale, cell, cursor[part]
        ),
    )
    start_cells(cursor, start)
    parallel.divide(
        agents,
        parts,
        lambda part, begin, end: place_agents(
            begin, end, position, heading, cell, cursor[part], *sorted_agents
        ),
    )
    parallel.divide(
        rows,
        parts,
        lambda _, begin, end: misalignment_rows(begin, end, radius, box, columns, rows, work, out),
    )


@kernel
def misalignment_runs(position, heading, radius, box, out):
    """Misalignment for every run in turn."""
    runs, agents = heading.shape
    most = cells_per_axis(agents) ** 2
    cursor = np.empty(most, np.int32)
    work = new_workspace(agents, most)
    for r in range(runs):
        columns, rows, corner, scale = cell_grid(position[r], radius, box)
        if wraps_onto_itself(columns, rows, box):
            misalignment_all_pairs(0, agents, position[r], heading[r], radius, box, out[r])
        else:
            sort_by_cell(position[r], heading[r], columns, rows, corner, scale, cursor, work)
            misalignment_rows(0, rows, radius, box, columns, rows, work, out[r])


@kernel
def cells_per_axis(agents):
    """The largest number of cells along an axis: about one agent a cell, and at least three."""
    return max(3, math.ceil(math.sqrt(agents)))


@kernel
def wraps_onto_itself(columns, rows, box):
    """Whether a cell and its neighbours meet each other again around the periodic boundary."""
    return box > 0.0 and min(columns, rows) < 3


@kernel
def cell_grid(position, radius, box):
    """Columns and rows of cells no narrower than the radius, their corner, and cells per length."""
    most = cells_per_axis(position.shape[0])
    if box > 0.0:
        n = int(min(float(most), max(1.0, math.floor(box / radius * CELL_MARGIN))))
        return n, n, (0.0, 0.0), (n / box, n / box)
    x0 = x1 = position[0, 0]
    y0 = y1 = position[0, 1]
    for i in range(position.shape[0]):
        x0 = min(x0, position[i, 0])
        x1 = max(x1, position[i, 0])
        y0 = min(y0, position[i, 1])
        y1 = max(y1, position[i, 1])
    columns = int(min(float(most), max(1.0, math.floor((x1 - x0) / radius * CELL_MARGIN))))
    rows = int(min(float(most), max(1.0, math.floor((y1 - y0) / radius * CELL_MARGIN))))
    scale_x = columns / (x1 - x0) if x1 > x0 else 0.0
    scale_y = rows / (y1 - y0) if y1 > y0 else 0.0
    return columns, rows, (x0, y0), (scale_x, scale_y)


@kernel
def new_workspace(agents, cells):
    """Memory for one swarm in cell order, about 60 bytes an agent."""
    start = np.empty(cells + 1, np.int32)
    cell = np.empty(agents, np.int32)
    order = np.empty(agents, np.int32)
    place = np.empty((2, agents), np.float64)
    direction = np.empty((2, agents), np.int64)
    mean = np.empty((2, agents), np.float64)
    return start, cell, order, place, direction, mean


@kernel
def fixed_point_scale(agents: int) -> float:
    """Units in a fixed-point one: the most for which a sum over all agents fits 63 bits."""
    bits = 0
    while (1 << bits) < agents:
        bits += 1
    return float(1 << (62 - bits))


@kernel
def sort_by_cell(position, heading, columns, rows, corner, scale, cursor, work):
    """Counting sort: copy places and directions of the agents into the order of their cells."""
    start, cell, order, place, direction, _ = work
    agents = heading.shape[0]
    cells = cursor[: columns * rows]
    find_cells(0, agents, position, columns, rows, corner, scale, cell, cells)
    start_cells(cells.reshape((1, columns * rows)), start)
    place_agents(0, agents, position, heading, cell, cells, order, place, direction)


@kernel
def find_cells(begin, end, position, columns, rows, corner, scale, cell, count):
    """The cell of each of the agents begin..end, and how many of them are in each cell."""
    last_column = np.int32(columns - 1)
    last_row = np.int32(rows - 1)
    for i in range(np.uint64(begin), np.uint64(end)):
        column = np.int32((position[i, 0] - corner[0]) * scale[0])
        row = np.int32((position[i, 1] - corner[1]) * scale[1])
        column = min(max(column, np.int32(0)), last_column)
        row = min(max(row, np.int32(0)), last_row)
        cell[i] = row * np.int32(columns) + column
    for k in range(np.uint64(columns * rows)):
        count[k] = 0
    for i in range(np.uint64(begin), np.uint64(end)):
        count[np.uint64(cell[i])] += np.int32(1)


@kernel
def start_cells(cursor, start):
    """Turn counts (parts, cells) into where each part is to put its agents of each cell.

    Cell k has the places start[k] up to start[k + 1].
    """
    parts, cells = cursor.shape
    total = np.int32(0)
    for k in range(np.uint64(cells)):
        start[k] = total
        for part in range(np.uint64(parts)):
            here = cursor[part, k]
            cursor[part, k] = total
            total += here
    start[np.uint64(cells)] = total


@kernel
def place_agents(begin, end, position, heading, cell, cursor, order, place, direction):
    """Copy the agents begin..end to their places in cell order."""
    units = fixed_point_scale(heading.shape[0])
    sines = np.empty(BLOCK)
    cosines = np.empty(BLOCK)
    xs = place[0]
    ys = place[1]
    us = direction[0]
    vs = direction[1]
    for first in range(np.uint64(begin), np.uint64(end), np.uint64(BLOCK)):
        size = min(np.uint64(BLOCK), np.uint64(end) - first)
        block = heading[first : first + size]
        for i in range(size):
            sines[i], cosines[i] = elementary.sincos(block[i])
        for i in range(size):
            j = first + i
            k = np.uint64(cell[j])
            p = np.uint64(cursor[k])
            cursor[k] += np.int32(1)
            order[p] = np.int32(j)
            xs[p] = position[j, 0]
            ys[p] = position[j, 1]
            us[p] = np.int64(cosines[i] * units)
            vs[p] = np.int64(sines[i] * units)


@kernel
def by_cell_runs(position, radius, box, out):
    """The agents of every run in the order of their cells."""
    runs, agents = out.shape
    most = cells_per_axis(agents) ** 2
    start = np.empty(most + 1, np.int32)
    cell = np.empty(agents, np.int32)
    cursor = np.empty(most, np.int32)
    for r in range(runs):
        columns, rows, corner, scale = cell_grid(position[r], radius, box)
        cells = cursor[: columns * rows]
        find_cells(0, agents, position[r], columns, rows, corner, scale, cell, cells)
        start_cells(cells.reshape((1, columns * rows)), start)
        for i in range(agents):
            k = cell[i]
            out[r, cells[k]] = i
            cells[k] += 1


@kernel
def least_sum(agents: int) -> int:
    """The fixed-point length below which a sum of headings has no direction."""
    return int(CANCELLED * fixed_point_scale(agents))


@inlined
def in_own_frame(own_u, own_v, u, v, least):
    """The vector (u, v) across and along an agent's own heading; headings that cancel out are 0."""
    cancelled = abs(u) + abs(v) < least
    x = float(own_u if cancelled else u)
    y = float(own_v if cancelled else v)
    across = float(own_u) * y - float(own_v) * x
    along = float(own_u) * x + float(own_v) * y
    return across, along


@inlined
def copy_segment(begin, end, shift_x, shift_y, place, direction, near, near_direction, n):
    """Append the sorted agents begin..end, shifted, to the n candidates; return their number."""
    xs = place[0]
    ys = place[1]
    us = direction[0]
    vs = direction[1]
    bx = near[0]
    by = near[1]
    bu = near_direction[0]
    bv = near_direction[1]
    for j in range(np.uint64(begin), np.uint64(end)):
        bx[n] = xs[j] + shift_x
        by[n] = ys[j] + shift_y
        bu[n] = us[j]
        bv[n] = vs[j]
        n += np.uint64(1)
    return n


@kernel
def gather_candidates(
    column, row, columns, rows, box, start, place, direction, near, near_direction
):
    """Copy the agents of a cell and the eight around it into padded buffers; return the size."""
    n = np.uint64(0)
    for d in range(-1, 2):
        r = row + d
        shift_y = 0.0
        if r < 0 or r >= rows:
            if box == 0.0:
                continue
            shift_y = -box if r < 0 else box
            r = r + rows if r < 0 else r - rows
        first = r * columns
        low = max(column - 1, 0)
        high = min(column + 1, columns - 1)
        n = copy_segment(
            start[first + low],
            start[first + high + 1],
            0.0,
            shift_y,
            place,
            direction,
            near,
            near_direction,
            n,
        )
        if box > 0.0 and column == 0:
            n = copy_segment(
                start[first + columns - 1],
                start[first + columns],
                -box,
                shift_y,
                place,
                direction,
                near,
                near_direction,
                n,
            )
        if box > 0.0 and column == columns - 1:
            n = copy_segment(
                start[first],
                start[first + 1],
                box,
                shift_y,
                place,
                direction,
                near,
                near_direction,
                n,
            )
    padded = (n + np.uint64(LANES - 1)) // np.uint64(LANES) * np.uint64(LANES)
    for j in range(n, padded):
        near[0, j] = FAR
        # Even the largest radius must not find a direction here.
        near_direction[0, j] = 0
        near_direction[1, j] = 0
    return padded


@kernel
def most_candidates(begin_row, end_row, columns, rows, start):
    """An upper bound on the agents in any cell of these rows and the eight around it."""
    most = 0
    for row in range(begin_row, end_row):
        for column in range(columns):
            n = 0
            for d in range(-1, 2):
                first = ((row + d) % rows) * columns
                for e in range(-1, 2):
                    k = first + (column + e) % columns
                    n += start[k + 1] - start[k]
            most = max(most, n)
    return most


@kernel
def misalignment_rows(begin_row, end_row, radius, box, columns, rows, work, out):
    """Misalignment of the agents in these rows of cells; out is in the agents' own order."""
    start, _, order, place, direction, mean = work
    agents = order.shape[0]
    capacity = agents
    if agents > 4096:
        capacity = most_candidates(begin_row, end_row, columns, rows, start)
    near = np.empty((2, capacity + LANES), np.float64)
    near_direction = np.empty((2, capacity + LANES), np.int64)
    bx = near[0]
    by = near[1]
    bu = near_direction[0]
    bv = near_direction[1]
    xs = place[0]
    ys = place[1]
    us = direction[0]
    vs = direction[1]
    across = mean[0]
    along = mean[1]
    square = radius * radius
    zero = np.int64(0)
    least = least_sum(agents)
    for row in range(begin_row, end_row):
        for column in range(columns):
            k = row * columns + column
            begin = np.uint64(start[k])
            end = np.uint64(start[k + 1])
            if begin == end:
                continue
            n = gather_candidates(
                column, row, columns, rows, box, start, place, direction, near, near_direction
            )
            for i in range(begin, end):
                x = xs[i]
                y = ys[i]
                u = zero
                v = zero
                for j in range(n):
                    dx = bx[j] - x
                    dy = by[j] - y
                    within = dx * dx + dy * dy <= square
                    u += bu[j] if within else zero
                    v += bv[j] if within else zero
                across[i], along[i] = in_own_frame(us[i], vs[i], u, v, least)
    first = np.uint64(start[begin_row * columns])
    last = np.uint64(start[end_row * columns])
    for i in range(first, last):
        across[i] = elementary.atan2(across[i], along[i])
    for i in range(first, last):
        out[np.uint64(order[i])] = across[i]


@kernel
def misalignment_all_pairs(begin, end, position, heading, radius, box, out):
    """Misalignment of agents begin..end in a periodic box too small for cells.

    Every agent counts once, at its nearest image.
    """
    agents = heading.shape[0]
    units = fixed_point_scale(agents)
    u = np.empty(agents, np.int64)
    v = np.empty(agents, np.int64)
    for j in range(agents):
        sine, cosine = elementary.sincos(heading[j])
        u[j] = np.int64(cosine * units)
        v[j] = np.int64(sine * units)
    square = radius * radius
    least = least_sum(agents)
    for i in range(begin, end):
        sum_u = np.int64(0)
        sum_v = np.int64(0)
        for j in range(agents):
            dx = abs(position[j, 0] - position[i, 0])
            dy = abs(position[j, 1] - position[i, 1])
            dx = min(dx, box - dx)
            dy = min(dy, box - dy)
            within = dx * dx + dy * dy <= square
            sum_u += u[j] if within else np.int64(0)
            sum_v += v[j] if within else np.int64(0)
        across, along = in_own_frame(u[i], v[i], sum_u, sum_v, least)
        out[i] = elementary.atan2(across, along)


@inlined
def wrap(value, low, period):
    """The value shifted by whole periods into [low, low + period)."""
    wrapped = value - period * math.floor((value - low) * (1.0 / period))
    wrapped = wrapped if wrapped < low + period else low
    return wrapped if wrapped >= low else low


@kernel
def advance_agents(
    begin, end, position, heading, turn, noise, speed, box, new_position, new_heading
):
    """The transition of agents begin..end of the flattened batch."""
    step = np.empty((BLOCK, 2))
    for first in range(np.uint64(begin), np.uint64(end), np.uint64(BLOCK)):
        size = min(np.uint64(BLOCK), np.uint64(end) - first)
        last = first + size
        old, turned, noisy = heading[first:last], turn[first:last], noise[first:last]
        new = new_heading[first:last]
        for i in range(size):
            sine, cosine = elementary.sincos(old[i])
            step[i, 0] = speed * cosine
            step[i, 1] = speed * sine
        for i in range(size):
            new[i] = wrap(old[i] + turned[i] + noisy[i], -math.pi, TWO_PI)
        here = position[first:last].ravel()
        there = new_position[first:last].ravel()
        steps = step.ravel()
        if box > 0.0:
            for i in range(np.uint64(2) * size):
                there[i] = wrap(here[i] + steps[i], 0.0, box)
        else:
            for i in range(np.uint64(2) * size):
                there[i] = here[i] + steps[i]


@kernel
def add_headings(begin, end, heading, sums):
    """Fixed-point sums of the heading vectors of agents begin..end of each run."""
    units = fixed_point_scale(heading.shape[1])
    for r in range(heading.shape[0]):
        row = heading[r]
        u = np.int64(0)
        v = np.int64(0)
        for i in range(np.uint64(begin), np.uint64(end)):
            sine, cosine = elementary.sincos(row[i])
            u += np.int64(cosine * units)
            v += np.int64(sine * units)
        sums[r, 0] = u
        sums[r, 1] = v
