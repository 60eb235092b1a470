"""The nearest neighbours of every agent of a swarm, or all within a radius, and sums over them.

What makes it fast: agents are copied into the order of cells; the candidates of all agents of a
cell, those of the cells around it, are copied once into a buffer; their distances are computed in a
loop without branches; those that may count are listed without branches; and the rank of each of
these few is counted instead of sorting them. A bound on the distance, taken from the agent before,
keeps the list short; it cannot change who is found.

Distances are compared as they are rounded; among equally near neighbours the coordinates decide,
not their numbers. An arena is its `kind` and the array `walls`, as in `kernels.recorded.arenas`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.vectors import VECTOR_WIDTH, copy_four
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.space import cells
from swarmdp.kernels.space.cells import CellGrid
from swarmdp.support.arrays import Floats, Ints

PERIODIC = 3  # the kind of an arena
UNITS = float(1 << 40)  # of a fixed-point one: sums of 2^22 agents fit
PADDING = 8  # candidates are padded to a multiple of this many
FEW_AGENTS = 48  # agents that are looked through without cells
AROUND = 4.3  # cells' areas that a circle has which reaches the rim of the cells around, on average
MARGIN = 1e-9  # of a cell: what rounding may have moved into another one
LARGEST_SQUARE = 1.7e308  # square of a distance
AGAIN = 2.5  # times the last agent's squared distance to its farthest neighbour: the next bound
SHIFT = 1.5 * 2**52  # a number of its size has the unit one in its last place
SHIFT_BITS = np.float64(SHIFT).view(np.int64)
TRIES = 24  # to shorten a list that is too long


class AgentsByCell(NamedTuple):
    """Agents in the order of their cells, and some room behind them."""

    x: Floats
    y: Floats
    heading: Floats
    cosine: Floats
    sine: Floats
    u: Ints  # directions in fixed point
    v: Ints
    id: NDArray[np.int32]  # which agent it is
    start: NDArray[np.int32]  # cell k has the places start[k] up to start[k + 1]
    cell: NDArray[np.int32]  # of each agent


class NeighbourSums(NamedTuple):
    """What is known of the neighbours of the agents, in the order of cells."""

    u: Floats  # sums of their directions in fixed point
    v: Floats
    x: Floats  # sums of the directions in which they are, in fixed point
    y: Floats
    closest: Floats  # the square of the distance to the nearest of all others, or infinity


class CandidateBuffers(NamedTuple):
    """The candidates of the cell that is looked at, and what is found of an agent's own."""

    x: Floats
    y: Floats
    near: Ints  # their places in the order of cells
    numbers: Ints  # 0, 1, 2, ...
    from_x: Floats  # where they are from the agent that is looked at, and the square of the way
    from_y: Floats
    square: Floats
    value: Floats  # the squares of those that may count, and where these are among the candidates
    place: Ints
    rank: Ints  # by distance
    chosen: Ints  # neighbours, the nearest first where these are wanted
    way_x: Floats  # where they are
    way_y: Floats
    waiting: Ints  # agents of the cell that need more candidates


@kernel
def new_agents_by_cell(agents):
    """Memory for a swarm in the order of cells."""
    room = agents + PADDING
    return AgentsByCell(
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(agents, np.int32),
        np.empty(agents + 2, np.int32),
        np.empty(agents, np.int32),
    )


@kernel
def new_neighbour_sums(agents):
    """Memory for what is known of neighbours."""
    return NeighbourSums(
        np.empty(agents), np.empty(agents), np.empty(agents), np.empty(agents), np.empty(agents)
    )


@kernel
def new_candidate_buffers(agents):
    """Memory for the candidates of a cell, at most all agents."""
    room = agents + 2 * PADDING
    return CandidateBuffers(
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.arange(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
    )


@inlined
def shortest_gap(gap, side):
    """A difference of coordinates in a periodic box, the shorter way round."""
    return gap - side * math.floor(gap / side + 0.5)


@inlined
def fold_gap(gap, side, above, below):
    """`shortest_gap` for a gap that is less than 1.5 sides, without dividing."""
    return gap - side if gap >= above else (gap + side if gap <= below else gap)


@inlined
def is_less(one, other):
    """1 or 0."""
    return np.int64(1) if one < other else np.int64(0)


@inlined
def whole_number(number):
    """A number below 2^51 without its fraction, as an integer; other than a cast, it vectorises."""
    shifted = np.float64(np.trunc(number) + SHIFT)
    return shifted.view(np.int64) - SHIFT_BITS


@kernel
def half_way(side):
    """The least gap that `shortest_gap` makes smaller, and the greatest that it makes larger."""
    above = 0.5 * side
    while math.floor(above / side + 0.5) >= 1.0:
        above = np.nextafter(above, 0.0)
    while math.floor(above / side + 0.5) < 1.0:
        above = np.nextafter(above, np.inf)
    below = -0.5 * side
    while math.floor(below / side + 0.5) < 0.0:
        below = np.nextafter(below, 0.0)
    while math.floor(below / side + 0.5) >= 0.0:
        below = np.nextafter(below, -np.inf)
    return above, below


@kernel
def cells_for(width, height, left, low, agents, nearest, radius):
    """The grid in which the cells around an agent's own have its neighbours, most of the time."""
    wanted = max(nearest, 1)
    in_cell = max(1.0, (wanted + 2.0 * math.sqrt(wanted) + 1.0) / AROUND)
    most = int(agents / in_cell)
    if agents < FEW_AGENTS or most < 2:
        return CellGrid(1, 1, left, low, 0.0, 0.0)
    least = radius if nearest == 0 else 0.0
    columns = rows = 1
    if width > 0.0 and height > 0.0:
        side = math.sqrt(width) * math.sqrt(height) * math.sqrt(in_cell / agents)
        side = max(side, least)
        columns = int(min(max(math.floor(width / side), 1.0), float(most)))
        rows = int(min(max(math.floor(height / side), 1.0), float(most // columns)))
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


@kernel
def sort_by_cell(x, y, heading, ids, agents, nearest, radius, kind, walls, now):
    """Copy the first of these agents into the order of their cells.

    Returns the cells' grid, and whether nobody is outside a periodic box. In a periodic box the
    grid is the box, otherwise it covers all agents.
    """
    left = low = np.inf
    right = high = -np.inf
    for i in range(np.uint64(agents)):
        left = min(left, x[i])
        right = max(right, x[i])
        low = min(low, y[i])
        high = max(high, y[i])
    inside = True
    if kind == PERIODIC:
        inside = left >= walls[0, 0] and low >= walls[0, 1]
        left = walls[0, 0]
        low = walls[0, 1]
        inside = inside and right <= left + walls[1, 0] and high <= low + walls[1, 1]
        right = left + walls[1, 0]
        high = low + walls[1, 1]
    grid = cells_for(right - left, high - low, left, low, agents, nearest, radius)
    cell, start = now.cell, now.start
    if inside:
        cells.find_cells(x[:agents], y[:agents], grid, cell)
    else:
        for i in range(agents):
            own_x, own_y = in_box(x[i], y[i], grid, walls)
            column = min(max(int(own_x * grid.per_x), 0), grid.columns - 1)
            row = min(max(int(own_y * grid.per_y), 0), grid.rows - 1)
            cell[i] = row * grid.columns + column
    # While agents are put into cell k, start[k + 1] is the place of the next one.
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
    for p in range(np.uint64(agents)):
        s, c = elementary.sincos(now.heading[p])
        now.cosine[p] = c
        now.sine[p] = s
    for p in range(np.uint64(agents)):
        now.u[p] = np.int64(now.cosine[p] * UNITS)
        now.v[p] = np.int64(now.sine[p] * UNITS)
    return grid, inside


@inlined
def comes_before(one, other, now, buffers):
    """Whether a candidate is nearer than another, or as near and before it by coordinates."""
    if buffers.square[one] != buffers.square[other]:
        return buffers.square[one] < buffers.square[other]
    if buffers.from_x[one] != buffers.from_x[other]:
        return buffers.from_x[one] < buffers.from_x[other]
    if buffers.from_y[one] != buffers.from_y[other]:
        return buffers.from_y[one] < buffers.from_y[other]
    return now.heading[buffers.near[one]] < now.heading[buffers.near[other]]


@kernel
def choose_one_by_one(need, listed, now, buffers):
    """Choose the nearest of those that are listed, where several are as near as the last one."""
    place, chosen = buffers.place, buffers.chosen
    found = 0
    for b in range(listed):
        j = place[b]
        if found < need:
            at = found
            found += 1
        elif comes_before(j, chosen[need - 1], now, buffers):
            at = need - 1
        else:
            continue
        while at > 0 and comes_before(j, chosen[at - 1], now, buffers):
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = j


@kernel
def shorten(need, listed, most, buffers):
    """Take far ones off a list that is too long; returns how many are left, `need` or more."""
    value, place = buffers.value, buffers.place
    for tried in range(TRIES):
        if listed <= most:
            break
        bound = value[(tried * listed) // TRIES]
        within = 0
        for b in range(listed):
            within += 1 if value[b] <= bound else 0
        if within < need or within == listed:
            continue
        kept = 0
        for b in range(listed):
            value[kept] = value[b]
            place[kept] = place[b]
            kept += 1 if value[b] <= bound else 0
        listed = kept
    return listed


@kernel
def add_up_neighbours(nearest, radius, kind, walls, grid, inside, agents, now, sums, buffers):
    """Find the neighbours of all agents, which `sort_by_cell` has put in order, and add them up.

    Neighbours are the `nearest` ones, or with `nearest` 0 all within `radius`. The cells around an
    agent's own are enough if its neighbours are nearer than their rim; if not, more are taken.
    """
    xs, ys, us, vs, start = now.x, now.y, now.u, now.v, now.start
    near_x, near_y, near, numbers = buffers.x, buffers.y, buffers.near, buffers.numbers
    from_x, from_y, squares = buffers.from_x, buffers.from_y, buffers.square
    value, place, rank, chosen = buffers.value, buffers.place, buffers.rank, buffers.chosen
    way_x, way_y = buffers.way_x, buffers.way_y
    waiting = buffers.waiting
    columns, rows = grid.columns, grid.rows
    zero, one, four, lanes = np.uint64(0), np.uint64(1), np.uint64(VECTOR_WIDTH), np.uint64(PADDING)
    periodic = kind == PERIODIC
    width = height = above_x = below_x = above_y = below_y = 0.0
    if periodic:
        width = walls[1, 0]
        height = walls[1, 1]
        above_x, below_x = half_way(width)
        above_y, below_y = half_way(height)
    cell_x = 1.0 / grid.per_x if columns > 1 else np.inf
    cell_y = 1.0 / grid.per_y if rows > 1 else np.inf
    margin = MARGIN * min(cell_x, cell_y) if columns * rows > 1 else 0.0
    need = np.uint64(min(nearest, agents - 1))
    most = np.uint64(4) * need + np.uint64(32)
    carried = LARGEST_SQUARE
    for k in range(columns * rows):
        row = k // columns
        column = k - row * columns
        left = np.int64(start[k + 1]) - np.int64(start[k])
        for a in range(left):
            waiting[a] = np.int64(start[k]) + a
        reach = 1
        while left > 0:
            # The candidates: a stretch of cells in each row, or two around the box.
            wide = 2 * reach + 1 >= columns
            high = 2 * reach + 1 >= rows
            first_column = 0 if wide else column - reach
            last_column = columns if wide else column + reach + 1
            first_row = 0 if high else row - reach
            last_row = rows if high else row + reach + 1
            crosses = False
            if periodic:
                crosses = not inside or first_column < 0 or last_column > columns
                crosses = crosses or first_row < 0 or last_row > rows
                crosses = crosses or 2 * (reach + 1) >= columns or 2 * (reach + 1) >= rows
            else:
                first_column = max(first_column, 0)
                last_column = min(last_column, columns)
                first_row = max(first_row, 0)
                last_row = min(last_row, rows)
            turn = last_column
            turn = 0 if first_column < 0 else turn
            turn = columns if last_column > columns else turn
            n = zero
            own = zero
            for beside in range(first_row, last_row):
                there = beside + rows if beside < 0 else beside
                there = there - rows if there >= rows else there
                for part in range(2):
                    low = turn if part == 1 else first_column
                    up = last_column if part == 1 else turn
                    if low == up:
                        continue
                    shift = columns if low < 0 else 0
                    shift = -columns if low >= columns else shift
                    begin = np.uint64(start[there * columns + low + shift])
                    end = np.uint64(start[there * columns + up + shift])
                    p = n
                    for j in range(begin, end, four):
                        copy_four(xs, j, near_x, p)
                        copy_four(ys, j, near_y, p)
                        copy_four(numbers, j, near, p)
                        p += four
                    if there == row and low <= column and column < up:
                        own = n - begin
                    n += end - begin
            whole = n == np.uint64(agents)
            padded = (n + lanes - one) // lanes * lanes
            missed = 0
            for a in range(left):
                p = np.uint64(waiting[a])
                x = xs[p]
                y = ys[p]
                if not crosses:
                    for j in range(padded):
                        dx = near_x[j] - x
                        dy = near_y[j] - y
                        from_x[j] = dx
                        from_y[j] = dy
                        squares[j] = dx * dx + dy * dy
                elif inside:
                    for j in range(padded):
                        dx = fold_gap(near_x[j] - x, width, above_x, below_x)
                        dy = fold_gap(near_y[j] - y, height, above_y, below_y)
                        from_x[j] = dx
                        from_y[j] = dy
                        squares[j] = dx * dx + dy * dy
                else:
                    for j in range(padded):
                        dx = shortest_gap(near_x[j] - x, width)
                        dy = shortest_gap(near_y[j] - y, height)
                        from_x[j] = dx
                        from_y[j] = dy
                        squares[j] = dx * dx + dy * dy
                squares[own + p] = np.inf
                sure = (
                    LARGEST_SQUARE  # square of a distance within which all are among the candidates
                )
                if not whole:
                    own_x = x - grid.x
                    own_y = y - grid.y
                    if not inside:
                        own_x, own_y = in_box(x, y, grid, walls)
                    rim = np.inf
                    if not wide and (periodic or first_column > 0):
                        rim = min(rim, own_x - first_column * cell_x)
                    if not wide and (periodic or last_column < columns):
                        rim = min(rim, last_column * cell_x - own_x)
                    if not high and (periodic or first_row > 0):
                        rim = min(rim, own_y - first_row * cell_y)
                    if not high and (periodic or last_row < rows):
                        rim = min(rim, last_row * cell_y - own_y)
                    rim -= margin
                    sure = rim * rim
                closest = np.inf
                found = zero
                if nearest == 0:
                    bound = radius * radius
                    for j in range(n):
                        chosen[found] = j
                        found += np.uint64(squares[j] <= bound)
                    for j in range(n):
                        closest = min(closest, squares[j])
                    if not whole and not (bound < sure and closest < sure):
                        waiting[missed] = p
                        missed += 1
                        continue
                else:
                    bound = min(sure, carried)
                    listed = zero
                    while True:
                        for j in range(n):
                            place[listed] = j
                            listed += np.uint64(squares[j] <= bound)
                        if listed >= need or bound >= sure:
                            break
                        bound = min(4.0 * bound, sure)
                        listed = zero
                    if listed < need:
                        waiting[missed] = p
                        missed += 1
                        continue
                    for b in range(listed):
                        value[b] = squares[np.uint64(place[b])]
                    if listed > most:
                        listed = np.uint64(
                            shorten(np.int64(need), np.int64(listed), np.int64(most), buffers)
                        )
                    ranks = np.int64(0)
                    if listed <= most:
                        size = (listed + lanes - one) // lanes * lanes
                        for b in range(listed, size):
                            value[b] = np.inf
                        for b in range(size):
                            rank[b] = 0
                        for j in range(zero, size, lanes):
                            # Eight at a time, so that ranks are seldom read and written.
                            v0 = value[j]
                            v1 = value[j + one]
                            v2 = value[j + np.uint64(2)]
                            v3 = value[j + np.uint64(3)]
                            v4 = value[j + np.uint64(4)]
                            v5 = value[j + np.uint64(5)]
                            v6 = value[j + np.uint64(6)]
                            v7 = value[j + np.uint64(7)]
                            for b in range(size):
                                v = value[b]
                                nearer = is_less(v0, v) + is_less(v1, v) + is_less(v2, v)
                                nearer += is_less(v3, v) + is_less(v4, v) + is_less(v5, v)
                                rank[b] += nearer + is_less(v6, v) + is_less(v7, v)
                        for b in range(listed):
                            chosen[np.uint64(rank[b])] = place[b]
                            ranks += rank[b]
                    if ranks != np.int64(listed * (listed - one)) // 2 or listed > most:
                        # Some are equally near.
                        choose_one_by_one(np.int64(need), np.int64(listed), now, buffers)
                    found = need
                    closest = np.inf
                    farthest = 0.0
                    if found > zero:
                        closest = squares[np.uint64(chosen[zero])]
                        farthest = squares[np.uint64(chosen[found - one])]
                    carried = AGAIN * farthest if farthest > 0.0 else LARGEST_SQUARE
                sum_u = np.int64(0)
                sum_v = np.int64(0)
                for b in range(found):
                    j = np.uint64(chosen[b])
                    q = np.uint64(near[j])
                    sum_u += us[q]
                    sum_v += vs[q]
                    value[b] = squares[j]
                    way_x[b] = from_x[j]
                    way_y[b] = from_y[j]
                for b in range(found, found + four):
                    value[b] = 0.0
                    way_x[b] = 0.0
                    way_y[b] = 0.0
                sum_x = np.int64(0)
                sum_y = np.int64(0)
                for b in range((found + four - one) // four * four):
                    d = math.sqrt(value[b])
                    d = d if d > 0.0 else 1.0
                    sum_x += whole_number(way_x[b] / d * UNITS)
                    sum_y += whole_number(way_y[b] / d * UNITS)
                sums.u[p] = float(sum_u)
                sums.v[p] = float(sum_v)
                sums.x[p] = float(sum_x)
                sums.y[p] = float(sum_y)
                sums.closest[p] = closest
            left = missed
            reach *= 2
