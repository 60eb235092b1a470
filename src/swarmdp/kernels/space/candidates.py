"""The agents that may be neighbours of those of one cell, and how far each of them is.

Candidates are those of the agent's own cell and of `reach` cells around it on all sides. In a
periodic box they are copied from the other side as they are; gaps between coordinates are folded
when distances are computed, and only there where the cells cross the boundary.

Rounding decides the same way everywhere: a gap is what `shortest_gap` says, computed with a
division, or without one by `fold_gap`, whose limits `half_way` takes from `shortest_gap` itself.
Coordinates are rows of float64 in the order of cells (`space.layout`). Twin in the tests, together
with `sorting` and `neighbours`: `oracles.neighbour_sums`.
"""

import math
from typing import NamedTuple

import numpy as np

from swarmdp.kernels.numerics.vectors import VECTOR_WIDTH, copy_four
from swarmdp.kernels.runtime.compile import borrowing, kernel
from swarmdp.kernels.space.kinds import PERIODIC
from swarmdp.kernels.space.sorting import in_box

MARGIN = 1e-9  # of a cell: what rounding may have moved into another one


class Space(NamedTuple):
    """What distances depend on: of a periodic box its sides, and from where on gaps are folded."""

    periodic: bool
    inside: bool  # whether all agents are in the periodic box
    width: float
    height: float
    above_x: float
    below_x: float
    above_y: float
    below_y: float
    cell_x: float  # sides of a cell; infinite where there is only one
    cell_y: float
    margin: float  # how far rounding may have moved an agent over a cell's edge


class Window(NamedTuple):
    """The cells whose agents are candidates; in a periodic box they may reach over its edges."""

    first_column: int
    last_column: int
    first_row: int
    last_row: int
    wide: bool  # whether they are all columns
    high: bool  # whether they are all rows
    crosses: bool  # whether gaps have to be folded


@borrowing
def shortest_gap(gap, side):
    """A difference of coordinates in a periodic box, the shorter way round."""
    return gap - side * math.floor(gap / side + 0.5)


@borrowing
def fold_gap(gap, side, above, below):
    """`shortest_gap` for a gap that is less than 1.5 sides, without dividing."""
    return gap - side if gap >= above else (gap + side if gap <= below else gap)


@kernel
def half_way(side):
    """The least gap that `shortest_gap` makes smaller, and the greatest that it makes larger."""
    # From the middle in steps of one unit in the last place, until the rounded division itself
    # changes its answer; that is one or two steps away.
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


@borrowing
def space_of(kind, walls, grid, inside):
    """What distances between the agents of this grid depend on."""
    periodic = kind == PERIODIC
    # Zeros where there is no box: one type for all kinds of space.
    width = height = above_x = below_x = above_y = below_y = 0.0
    if periodic:
        width = walls[1, 0]
        height = walls[1, 1]
        above_x, below_x = half_way(width)
        above_y, below_y = half_way(height)
    cell_x = 1.0 / grid.per_x if grid.columns > 1 else np.inf
    cell_y = 1.0 / grid.per_y if grid.rows > 1 else np.inf
    # With one cell nothing can be in another one.
    margin = MARGIN * min(cell_x, cell_y) if grid.columns * grid.rows > 1 else 0.0
    return Space(
        periodic,
        inside,
        width,
        height,
        above_x,
        below_x,
        above_y,
        below_y,
        cell_x,
        cell_y,
        margin,
    )


@borrowing
def window_around(row, column, reach, grid, space):
    """The cells from `reach` before to `reach` after this one, or all of a row or column."""
    columns, rows = grid.columns, grid.rows
    # As wide as the grid or wider, a window would meet itself around a periodic box, and list
    # agents twice: then it is all columns, each once.
    wide = 2 * reach + 1 >= columns
    high = 2 * reach + 1 >= rows
    first_column = 0 if wide else column - reach
    last_column = columns if wide else column + reach + 1
    first_row = 0 if high else row - reach
    last_row = rows if high else row + reach + 1
    crosses = False
    if space.periodic:
        crosses = not space.inside or first_column < 0 or last_column > columns
        crosses = crosses or first_row < 0 or last_row > rows
        # With hardly more cells than these, the shorter way to some leads over the edge.
        crosses = crosses or 2 * (reach + 1) >= columns or 2 * (reach + 1) >= rows
    else:
        first_column = max(first_column, 0)
        last_column = min(last_column, columns)
        first_row = max(first_row, 0)
        last_row = min(last_row, rows)
    return Window(first_column, last_column, first_row, last_row, wide, high, crosses)


@borrowing
def copy_candidates(row, column, window, grid, now, buffers):
    """Copy the agents of these cells; returns how many, and what to add to a place to find it.

    A row's cells are one stretch of memory, or two where they go around the box. Agent p of the
    cell itself is candidate `offset` + p; the offset may be negative, which in unsigned numbers
    comes out right.
    """
    xs, ys, start = now.x, now.y, now.start
    columns, rows = grid.columns, grid.rows
    four = np.uint64(VECTOR_WIDTH)
    # The column where a row goes around the box; without one the second part is empty.
    turn = window.last_column
    turn = 0 if window.first_column < 0 else turn
    turn = columns if window.last_column > columns else turn
    n = np.uint64(0)
    offset = np.uint64(0)
    for beside in range(window.first_row, window.last_row):
        there = beside + rows if beside < 0 else beside
        there = there - rows if there >= rows else there
        # The first part up to the edge of the grid, the second from its other side.
        for part in range(2):
            low = turn if part == 1 else window.first_column
            up = window.last_column if part == 1 else turn
            if low == up:
                continue
            shift = columns if low < 0 else 0
            shift = -columns if low >= columns else shift
            begin = np.uint64(start[there * columns + low + shift])
            end = np.uint64(start[there * columns + up + shift])
            p = n
            # Four at a time, also past the end: the next stretch overwrites what is too much.
            for j in range(begin, end, four):
                copy_four(xs, j, buffers.x, p)
                copy_four(ys, j, buffers.y, p)
                copy_four(buffers.numbers, j, buffers.near, p)
                p += four
            if there == row and low <= column and column < up:
                offset = n - begin
            n += end - begin
    return n, offset


@borrowing
def measure_distances(x, y, padded, crosses, space, buffers):
    """Where the candidates are from a place, and the squares of the distances.

    Three loops instead of one with choices in it: each has only the arithmetic that it needs, and
    runs over whole vectors; what is computed beyond the last candidate is not looked at.
    """
    near_x, near_y = buffers.x, buffers.y
    from_x, from_y, squares = buffers.from_x, buffers.from_y, buffers.square
    if not crosses:
        for j in range(padded):
            dx = near_x[j] - x
            dy = near_y[j] - y
            from_x[j] = dx
            from_y[j] = dy
            squares[j] = dx * dx + dy * dy
    elif space.inside:
        for j in range(padded):
            dx = fold_gap(near_x[j] - x, space.width, space.above_x, space.below_x)
            dy = fold_gap(near_y[j] - y, space.height, space.above_y, space.below_y)
            from_x[j] = dx
            from_y[j] = dy
            squares[j] = dx * dx + dy * dy
    else:
        for j in range(padded):
            dx = shortest_gap(near_x[j] - x, space.width)
            dy = shortest_gap(near_y[j] - y, space.height)
            from_x[j] = dx
            from_y[j] = dy
            squares[j] = dx * dx + dy * dy


@borrowing
def sure_square(x, y, window, grid, space, walls):
    """The square of a distance within which all agents are among the candidates.

    It is the distance to the nearest edge of the cells beyond which there are other cells.
    """
    inner_x = x - grid.x
    inner_y = y - grid.y
    if not space.inside:
        inner_x, inner_y = in_box(x, y, grid, walls)
    # All columns, or in open space the outer ones, have nothing beyond them: no rim there.
    rim = np.inf
    if not window.wide and (space.periodic or window.first_column > 0):
        rim = min(rim, inner_x - window.first_column * space.cell_x)
    if not window.wide and (space.periodic or window.last_column < grid.columns):
        rim = min(rim, window.last_column * space.cell_x - inner_x)
    if not window.high and (space.periodic or window.first_row > 0):
        rim = min(rim, inner_y - window.first_row * space.cell_y)
    if not window.high and (space.periodic or window.last_row < grid.rows):
        rim = min(rim, window.last_row * space.cell_y - inner_y)
    # Rounding may have put an agent into the cell beside its own.
    rim -= space.margin
    return rim * rim
