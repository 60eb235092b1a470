"""The Vicsek model: neighbour sums on a cell list, misalignment, motion, order.

What makes it fast: places and directions are copied into the order of cells, so that memory is read
in sequence; the candidates of a row of cells are copied once into a buffer, column by column,
shifted across the periodic boundary, so that the inner loop has no branch; headings are summed as
64-bit fixed-point numbers, which vectorises and is exact, so that the order of summation cannot
matter; and indices are unsigned, which spares the checks for negative ones.

A swarm moves in two ways, with the same bits: by `misalignment` and `advance`, which take and give
a state; or by `Swarms`, which takes whole steps (observe, act, move) and keeps the sines and
cosines of the headings from step to step.

Another kernel takes whole steps of one swarm like this: `take_over` copies a state into `Agents`;
in every step `observe` finds the misalignment of all agents, `look_up_angles` fetches it for some
of them, and `move` turns and moves them in place. Agents stay in the order that they came in.

Arrays are (runs, agents) and (runs, agents, 2); `box` is the period of both axes, or 0 for open
space.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import cells, elementary
from swarmdp.kernels.compile import inlined, kernel
from swarmdp.kernels.scratch import scratch
from swarmdp.kernels.streams import MASK, philox, standard_normal
from swarmdp.kernels.vectors import WIDTH, copy_four, shift_four
from swarmdp.support import parallel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

LANES = 8  # candidates are padded to a multiple of this many
FAR = 1e150  # coordinate of a padding candidate; its square is finite
BLOCK = 256  # agents that are moved at a time: what lies between stays in the cache
COLUMNS = 64  # columns of cells whose candidates are copied at a time
REORDER_FROM = 20_000  # agents; fewer fit the cache in any order
REORDER_EVERY = 4  # steps; agents move by about a cell in each
CANCELLED = 1e-9  # headings whose sum is shorter than this have no mean
TWO_PI = 2 * math.pi


class Agents(NamedTuple):
    """A swarm in any order: arrays (agents,), or (runs, agents) for several."""

    x: Floats
    y: Floats
    heading: Floats
    cosine: Floats
    sine: Floats
    id: Ints  # which agent it is


class Sorted(NamedTuple):
    """What is known of the agents in the order of their cells, and some room behind them."""

    x: Floats
    y: Floats
    u: NDArray[np.int64]  # directions in fixed point
    v: NDArray[np.int64]
    angle: Floats  # misalignment


class Cells(NamedTuple):
    """Where agents are in the order of cells: cell k has the places start[k] up to start[k + 1]."""

    place: Ints  # of each agent; while they are sorted, the number of its cell
    start: Ints
    cursor: Ints  # (parts, cells): where a part puts its next agent of a cell


class Buffers(NamedTuple):
    """What one thread needs for the rows of cells and the block of agents that it is at."""

    x: Floats  # candidates: their places and directions
    y: Floats
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    column: NDArray[np.uint64]  # where the candidates of each column begin
    along: Floats  # sums of directions along each agent's own heading
    angle: Floats  # of a block of agents: what they observe, how they turn
    noise: Floats
    group: Ints  # the class of what they observe


class Model(NamedTuple):
    """The settings of the model."""

    radius: float
    speed: float
    noise: float
    box: float


class Luck(NamedTuple):
    """Where the noise comes from: see `streams`."""

    seed: np.uint64
    run: np.uint64
    step: np.uint64
    draw: np.uint64


class Kept(NamedTuple):
    """What is to be kept of each moment: arrays with the axes (runs, times), or empty ones."""

    order: Floats  # (runs, steps + 1)
    position: Floats  # (runs, steps + 1, agents, 2)
    heading: Floats  # (runs, steps + 1, agents)
    observations: Floats  # (runs, steps + 1, agents)
    actions: Floats  # (runs, steps, agents)
    counts: NDArray[np.int64]  # (runs, times of this call, classes)


def misalignment(position: Floats, heading: Floats, radius: float, box: float) -> Floats:
    """The angle from each agent's heading to the mean heading of its neighbours and itself."""
    runs, agents = heading.shape
    out = np.empty((runs, agents))
    parts = parallel.shares(agents)
    if parts == 1:
        misalignment_runs(position, heading, radius, box, out)
    else:
        for r in range(runs):
            _misalignment_shared(position[r], heading[r], radius, box, out[r], parts)
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
    return _order_of_sums(sums.sum(axis=0), agents)


def _order_of_sums(sums: NDArray[np.int64], agents: int) -> Floats:
    """The order parameter (...) from fixed-point sums of all headings (..., 2)."""
    mean = sums / fixed_point_scale(agents) / agents
    length: Floats = np.sqrt(mean[..., 0] ** 2 + mean[..., 1] ** 2)
    return length


def directions(heading: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The headings (agents,) of one swarm as vectors in fixed point."""
    u, v = np.empty(heading.shape, np.int64), np.empty(heading.shape, np.int64)
    directions_of(heading, u, v)
    return u, v


def misalignment_to(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    sum_u: NDArray[np.int64],
    sum_v: NDArray[np.int64],
) -> Floats:
    """The angle from each agent's direction to the sum over its neighbours, all in fixed point."""
    out = np.empty(u.shape)
    misalignment_to_sums(u, v, sum_u, sum_v, out)
    return out


def by_cell(position: Floats, radius: float, box: float) -> Ints:
    """The agents of each run in the order of their cells, so that neighbours are near in memory."""
    out = np.empty(position.shape[:2], np.int32)
    by_cell_runs(position, radius, box, out)
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
    now = new_agents(agents)
    _take_over_shared(position, heading, now, parts)
    ordered, work = _workspace(agents, parts)
    _observe_shared(now, radius, box, ordered, work, parts)
    parallel.divide(
        agents,
        parts,
        lambda _, begin, end: look_up_angles(begin, end, ordered, work, out[begin:end]),
    )


def _take_over_shared(position, heading, now, parts):
    """`take_over` by several threads."""
    parallel.divide(
        heading.size,
        parts,
        lambda _, begin, end: take_over_part(begin, end, position, heading, now),
    )


def _workspace(agents: int, parts: int) -> tuple[Sorted, Cells]:
    kept: tuple[Sorted, Cells] = scratch(
        "vicsek", (agents, parts), lambda: (new_sorted(agents), new_cells(agents, parts))
    )
    return kept


def _observe_shared(now, radius, box, ordered, work, parts):
    """`observe` by several threads; returns the fixed-point sums of all headings."""
    agents = now.x.size
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


@dataclass(frozen=True, eq=False)
class Swarms:
    """Runs of the model that take whole steps.

    Every agent turns by its misalignment, or as a table says: `turns[rows[r], k]` for the agents of
    run r whose misalignment is in the interval k of `bins` equal ones. Large swarms are brought
    into the order of their cells now and then.
    """

    model: Model
    agents: Agents  # arrays (runs, agents)
    steps: int
    seed: int
    numbers: NDArray[np.int64]  # (runs,)
    draw: int
    turns: Floats  # (replicas, bins), or (0, 0) for the misalignment itself
    rows: NDArray[np.int64]  # (runs,)
    bins: int

    @classmethod
    def of(
        cls,
        position: Floats,
        heading: Floats,
        model: Model,
        *,
        steps: int,
        seed: int,
        numbers: NDArray[np.int64],
        draw: int,
        turns: Floats | None,
        rows: NDArray[np.int64],
        bins: int,
    ) -> "Swarms":
        """The swarms that start from these states; box and radius must leave three cells."""
        agents = new_agents_of_runs(*heading.shape)
        parts = parallel.shares(heading.shape[1])
        if parts == 1:
            take_over_runs(position, heading, agents)
        else:
            for r in range(len(heading)):
                now = Agents(*(array[r] for array in agents))
                _take_over_shared(position[r], heading[r], now, parts)
        values = np.empty((0, 0)) if turns is None else turns
        return cls(model, agents, steps, seed, numbers, draw, values, rows, bins)

    def advance(self, first: int, last: int, kept: Kept) -> None:
        """Keep the moments first..last - 1 and take the step after each, but none at the end."""
        parts = parallel.shares(self.agents.x.shape[1])
        luck = Luck(np.uint64(self.seed), np.uint64(0), np.uint64(0), np.uint64(self.draw))
        if parts == 1:
            take_steps(
                self.agents,
                self.model,
                luck,
                self.numbers,
                first,
                last,
                self.steps,
                self.turns,
                self.rows,
                self.bins,
                kept,
            )
            return
        for r, number in enumerate(self.numbers):
            for time in range(first, last):
                at = luck._replace(run=np.uint64(number), step=np.uint64(time))
                self._shared_step(r, time, time - first, at, kept, parts)

    def _shared_step(
        self, r: int, time: int, place: int, luck: Luck, kept: Kept, parts: int
    ) -> None:
        """One step of one large swarm, its agents and rows of cells shared between threads."""
        now = Agents(*(array[r] for array in self.agents))
        model, agents = self.model, now.x.size
        moving = time < self.steps
        parallel.divide(
            agents, parts, lambda _, begin, end: keep_state(begin, end, now, r, time, kept)
        )
        if not moving and not kept.observations.size and not kept.counts.size:
            u, v = heading_sums(now)
            keep_order(u, v, agents, r, time, kept.order)
            return
        ordered, work = _workspace(agents, parts)
        sums = _observe_shared(now, model.radius, model.box, ordered, work, parts)
        keep_order(sums[0], sums[1], agents, r, time, kept.order)
        turns = self.turns[self.rows[r]] if len(self.turns) else np.empty(0)
        counts = np.zeros((parts, kept.counts.shape[2]), np.int64)
        parallel.divide(
            agents,
            parts,
            lambda part, begin, end: act_and_move(
                *(begin, end, now, model, luck, ordered, work, turns, self.bins, moving),
                *(r, time, kept, counts[part], new_buffers(0)),
            ),
        )
        if kept.counts.size:
            kept.counts[r, place] = counts.sum(axis=0)
        if agents >= REORDER_FROM and time % REORDER_EVERY == 0:
            for array in now:
                self._reorder(array, work.place, ordered.angle, parts)

    @staticmethod
    def _reorder(array: NDArray[Any], place: Ints, spare: Floats, parts: int) -> None:
        """Bring what is known of all agents into the order of their cells."""
        size = array.size
        parallel.divide(size, parts, lambda _, begin, end: spread(begin, end, array, place, spare))
        parallel.divide(size, parts, lambda _, begin, end: copy_back(begin, end, spare, array))


@kernel
def new_agents(agents):
    """Memory for one swarm, 44 bytes an agent."""
    return Agents(
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents, np.int32),
    )


@kernel
def new_agents_of_runs(runs, agents):
    """Memory for several swarms."""
    return Agents(
        np.empty((runs, agents)),
        np.empty((runs, agents)),
        np.empty((runs, agents)),
        np.empty((runs, agents)),
        np.empty((runs, agents)),
        np.empty((runs, agents), np.int32),
    )


@inlined
def run_of(agents, r):
    """One swarm of several."""
    return Agents(
        agents.x[r], agents.y[r], agents.heading[r], agents.cosine[r], agents.sine[r], agents.id[r]
    )


@kernel
def new_sorted(agents):
    """Memory for what is known in the order of cells, 40 bytes an agent."""
    return Sorted(
        np.empty(agents + LANES),
        np.empty(agents + LANES),
        np.empty(agents + LANES, np.int64),
        np.empty(agents + LANES, np.int64),
        np.empty(agents + LANES),
    )


@kernel
def new_cells(agents, parts):
    """Memory for the cells of a swarm."""
    most = cells.cells_per_axis(agents) ** 2
    return Cells(
        np.empty(agents, np.int32), np.empty(most + 1, np.int32), np.empty((parts, most), np.int32)
    )


@kernel
def new_buffers(candidates):
    """Memory for rows of cells with at most so many candidates."""
    return Buffers(
        np.empty(candidates + LANES),
        np.empty(candidates + LANES),
        np.empty(candidates + LANES, np.int64),
        np.empty(candidates + LANES, np.int64),
        np.empty(COLUMNS + 3, np.uint64),
        np.empty(candidates + BLOCK),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty(BLOCK, np.int32),
    )


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
    return 2 * most


@kernel
def fixed_point_scale(agents: int) -> float:
    """Units in a fixed-point one: the most for which a sum over all agents fits 63 bits."""
    bits = 0
    while (1 << bits) < agents:
        bits += 1
    return float(1 << (62 - bits))


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


@kernel
def take_over(position, heading, first, agents):
    """Take agents over from a state; the first of them has the number `first`."""
    x, y, new_heading, cosines, sines, ids = agents
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
    part = Agents(
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


@kernel
def find_part(part, begin, end, now, grid, work):
    """The cells of the agents begin..end, and how many of them are in each cell."""
    cell = work.place[begin:end]
    cells.find_cells(now.x[begin:end], now.y[begin:end], grid, cell)
    cells.count_in_cells(cell, work.cursor[part][: grid.columns * grid.rows])


@kernel
def sort_part(part, begin, end, now, work, ordered, sums):
    """Copy the agents begin..end to their places in cell order; adds their headings to sums."""
    units = fixed_point_scale(now.x.shape[0])
    x, y, cosine, sine = now.x, now.y, now.cosine, now.sine
    xs, ys, us, vs = ordered.x, ordered.y, ordered.u, ordered.v
    place = work.place
    cursor = work.cursor[part]
    sum_u = np.int64(0)
    sum_v = np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
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
        sum_u += u
        sum_v += v
    sums[0] += sum_u
    sums[1] += sum_v


@kernel
def observe(now, radius, box, ordered, work, buffers, sums):
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
    needed = most_candidates(0, grid.rows, grid, work.start)
    if needed > buffers.x.shape[0] - LANES:
        buffers = new_buffers(needed)
    misalignment_rows_in(0, grid.rows, grid, radius, box, agents, work.start, ordered, buffers)
    return buffers


@kernel
def misalignment_rows(begin_row, end_row, grid, radius, box, agents, start, ordered):
    """`misalignment_rows_in` with buffers of its own."""
    buffers = new_buffers(most_candidates(begin_row, end_row, grid, start))
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
            BLOCK
        ):
            row += 1
        sum_rows(first, row, grid, radius, box, least, start, ordered, buffers)
        for i in range(begin, np.uint64(start[row * grid.columns])):
            angle[i] = elementary.atan2(angle[i], along[i - begin])


@inlined
def merge_rows(row, first, last, grid, box, start, ordered, buffers):
    """Copy the candidates of the columns first..last of a row: the agents of three rows of cells.

    They are copied column by column, from the one before to the one after, shifted across the
    periodic boundary; `column[q]` is where those of column first - 1 + q begin. Four agents are
    copied at a time, whether they are in the cell or not: the next ones overwrite those that are
    not, and short loops of unknown length would cost more.
    """
    x, y, u, v = ordered.x, ordered.y, ordered.u, ordered.v
    near_x, near_y, near_u, near_v = buffers.x, buffers.y, buffers.u, buffers.v
    begins = buffers.column
    one, four = np.uint64(1), np.uint64(WIDTH)
    n = np.uint64(0)
    q = np.uint64(0)
    for wanted in range(first - 1, last + 1):
        begins[q] = n
        q += one
        column = wanted
        shift_x = 0.0
        if wanted < 0 or wanted >= grid.columns:
            if box == 0.0:
                continue
            shift_x = -box if wanted < 0 else box
            column = wanted + grid.columns if wanted < 0 else wanted - grid.columns
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
            for j in range(begin, end, four):
                shift_four(x, j, near_x, p, shift_x)
                shift_four(y, j, near_y, p, shift_y)
                copy_four(u, j, near_u, p)
                copy_four(v, j, near_v, p)
                p += four
            n += end - begin
    begins[q] = n
    for j in range(n, n + np.uint64(LANES)):
        near_x[j] = FAR
        # Even the largest radius must not find a direction here.
        near_u[j] = 0
        near_v[j] = 0


@kernel
def sum_rows(begin_row, end_row, grid, radius, box, least, start, ordered, buffers):
    """Add up the directions around each agent of these rows, in the frame of its own heading.

    Candidates beyond those of the three columns, up to a multiple of LANES, are too far to count.
    """
    xs, ys, us, vs = ordered.x, ordered.y, ordered.u, ordered.v
    near_x, near_y, near_u, near_v = buffers.x, buffers.y, buffers.u, buffers.v
    across, along = ordered.angle, buffers.along
    square = radius * radius
    zero = np.int64(0)
    lanes = np.uint64(LANES)
    base = np.uint64(start[begin_row * grid.columns])
    for row in range(begin_row, end_row):
        for first in range(0, grid.columns, COLUMNS):
            last = min(grid.columns, first + COLUMNS)
            merge_rows(row, first, last, grid, box, start, ordered, buffers)
            for column in range(first, last):
                k = np.uint64(row * grid.columns + column)
                begin = np.uint64(np.uint32(start[k]))
                end = np.uint64(np.uint32(start[k + np.uint64(1)]))
                if begin == end:
                    continue
                q = np.uint64(column - first)
                low = buffers.column[q]
                size = buffers.column[q + np.uint64(3)] - low
                high = low + (size + lanes - np.uint64(1)) // lanes * lanes
                for i in range(begin, end):
                    x = xs[i]
                    y = ys[i]
                    u = zero
                    v = zero
                    for j in range(low, high):
                        dx = near_x[j] - x
                        dy = near_y[j] - y
                        within = dx * dx + dy * dy <= square
                        u += near_u[j] if within else zero
                        v += near_v[j] if within else zero
                    across[i], along[i - base] = in_own_frame(us[i], vs[i], u, v, least)


@kernel
def misalignment_runs(position, heading, radius, box, out):
    """Misalignment for every run in turn."""
    runs, agents = heading.shape
    if cells.wraps_onto_itself(radius, box, agents):
        for r in range(runs):
            misalignment_all_pairs(0, agents, position[r], heading[r], radius, box, out[r])
        return
    now = new_agents(agents)
    ordered = new_sorted(agents)
    work = new_cells(agents, 1)
    buffers = new_buffers(min(2 * agents, 8192))
    sums = np.empty(2, np.int64)
    for r in range(runs):
        take_over(position[r], heading[r], 0, now)
        buffers = observe(now, radius, box, ordered, work, buffers, sums)
        look_up_angles(0, agents, ordered, work, out[r])


@kernel
def look_up_angles(begin, end, ordered, work, out):
    """What the agents begin..end observe."""
    angle, place = ordered.angle, work.place
    for i in range(np.uint64(begin), np.uint64(end)):
        out[i - np.uint64(begin)] = angle[np.uint64(np.uint32(place[i]))]


@kernel
def directions_of(heading, u, v):
    """Headings as vectors in fixed point."""
    units = fixed_point_scale(heading.shape[0])
    for i in range(np.uint64(heading.shape[0])):
        sine, cosine = elementary.sincos(heading[i])
        u[i] = np.int64(cosine * units)
        v[i] = np.int64(sine * units)


@kernel
def misalignment_to_sums(u, v, sum_u, sum_v, out):
    """The angle from each agent's direction to a sum of directions."""
    least = least_sum(u.shape[0])
    for i in range(np.uint64(u.shape[0])):
        across, along = in_own_frame(u[i], v[i], sum_u[i], sum_v[i], least)
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


@kernel
def take_steps(agents, model, luck, numbers, first, last, steps, turns, rows, bins, kept):
    """Keep the moments first..last - 1 of all runs and take the step after each, see `Swarms`."""
    runs, size = agents.x.shape
    ordered = new_sorted(size)
    work = new_cells(size, 1)
    buffers = new_buffers(min(2 * size, 8192))
    counts = np.empty(kept.counts.shape[2], np.int64)
    nothing = np.empty(0)
    sums = np.empty(2, np.int64)
    for r in range(runs):
        now = run_of(agents, r)
        values = turns[rows[r]] if turns.shape[0] > 0 else nothing
        for time in range(first, last):
            moving = time < steps
            keep_state(0, size, now, r, time, kept)
            if not moving and kept.observations.size == 0 and kept.counts.size == 0:
                u, v = heading_sums(now)
                keep_order(u, v, size, r, time, kept.order)
                continue
            sums[:] = 0
            buffers = observe(now, model.radius, model.box, ordered, work, buffers, sums)
            keep_order(sums[0], sums[1], size, r, time, kept.order)
            at = Luck(luck.seed, np.uint64(numbers[r]), np.uint64(time), luck.draw)
            counts[:] = 0
            act_and_move(
                0,
                size,
                now,
                model,
                at,
                ordered,
                work,
                values,
                bins,
                moving,
                r,
                time,
                kept,
                counts,
                buffers,
            )
            if kept.counts.size > 0:
                kept.counts[r, time - first] = counts
            if size >= REORDER_FROM and time % REORDER_EVERY == 0:
                reorder(now, work.place, ordered.angle)


@kernel
def act_and_move(
    begin,
    end,
    now,
    model,
    luck,
    ordered,
    work,
    turns,
    bins,
    moving,
    r,
    time,
    kept,
    counts,
    buffers,
):
    """Let the agents begin..end act on what they observe, block by block.

    The classes of what they observe are added to `counts`, if these are to be kept.
    """
    for low in range(begin, end, BLOCK):
        high = min(end, low + BLOCK)
        look_up_angles(low, high, ordered, work, buffers.angle)
        act(low, high, now.id, turns, bins, moving, r, time, kept, counts, buffers)
        if moving:
            move(low, high, now, buffers.angle, model, luck, buffers.noise)


@kernel
def act(low, high, ids, turns, bins, moving, r, time, kept, counts, buffers):
    """Turn what the agents low..high observe into how they turn, and keep what is wanted of it."""
    angle, group = buffers.angle, buffers.group
    size = np.uint64(high - low)
    first = np.uint64(low)
    if kept.observations.size > 0:
        seen = kept.observations[r, time]
        for i in range(size):
            seen[np.uint64(np.uint32(ids[first + i]))] = angle[i]
    if turns.shape[0] > 0 or counts.shape[0] > 0:
        scale = bins / TWO_PI
        middle = float(bins // 2)
        for i in range(size):
            group[i] = elementary.angle_class(angle[i], scale, middle, float(bins))
        if counts.shape[0] > 0:
            for i in range(size):
                counts[np.uint64(np.uint32(group[i]))] += 1
        if turns.shape[0] > 0:
            for i in range(size):
                angle[i] = turns[np.uint64(np.uint32(group[i]))]
    if moving and kept.actions.size > 0:
        done = kept.actions[r, time]
        for i in range(size):
            done[np.uint64(np.uint32(ids[first + i]))] = angle[i]


@kernel
def move(low, high, now, turn, model, luck, noise):
    """Move the agents low..high, then turn them, in place; turn[i] is that of agent low + i.

    `noise` is memory for as many numbers.
    """
    x, y, heading, cosines, sines, ids = now
    begin, end = np.uint64(low), np.uint64(high)
    k0 = luck.seed & np.uint64(MASK)
    k1 = luck.seed >> np.uint64(32)
    if model.noise > 0.0:
        for i in range(begin, end):
            w0, w1, w2, w3 = philox(np.uint64(ids[i]), luck.run, luck.step, luck.draw, k0, k1)
            noise[i - begin] = 0.0 + model.noise * standard_normal(w0, w1, w2, w3)
    else:
        for i in range(end - begin):
            noise[i] = 0.0
    if model.box > 0.0:
        for i in range(begin, end):
            x[i] = wrap(x[i] + model.speed * cosines[i], 0.0, model.box)
            y[i] = wrap(y[i] + model.speed * sines[i], 0.0, model.box)
    else:
        for i in range(begin, end):
            x[i] += model.speed * cosines[i]
            y[i] += model.speed * sines[i]
    for i in range(begin, end):
        angle = heading[i] + turn[i - begin] + noise[i - begin]
        heading[i] = wrap(angle, -math.pi, TWO_PI)
    for i in range(begin, end):
        sine, cosine = elementary.sincos(heading[i])
        cosines[i] = cosine
        sines[i] = sine


@kernel
def reorder(now, place, spare):
    """Bring a swarm into the order of its cells."""
    size = now.x.shape[0]
    for array in (now.x, now.y, now.heading, now.cosine, now.sine):
        spread(0, size, array, place, spare)
        copy_back(0, size, spare, array)
    spread(0, size, now.id, place, spare)
    copy_back(0, size, spare, now.id)


@kernel
def spread(begin, end, array, place, out):
    """Put what is known of the agents begin..end where they are in the order of cells."""
    for i in range(np.uint64(begin), np.uint64(end)):
        out[np.uint64(np.uint32(place[i]))] = array[i]


@kernel
def copy_back(begin, end, values, array):
    """Copy the entries begin..end."""
    for i in range(np.uint64(begin), np.uint64(end)):
        array[i] = values[i]


@kernel
def heading_sums(now):
    """The fixed-point sums of all headings."""
    units = fixed_point_scale(now.x.shape[0])
    u = np.int64(0)
    v = np.int64(0)
    for i in range(np.uint64(now.x.shape[0])):
        u += np.int64(now.cosine[i] * units)
        v += np.int64(now.sine[i] * units)
    return u, v


@kernel
def keep_order(u, v, agents, r, time, kept):
    """Keep the order parameter of a moment, if it is wanted."""
    if kept.size > 0:
        u_mean = float(u) / fixed_point_scale(agents) / agents
        v_mean = float(v) / fixed_point_scale(agents) / agents
        kept[r, time] = math.sqrt(u_mean * u_mean + v_mean * v_mean)


@kernel
def keep_state(begin, end, now, r, time, kept):
    """Keep the states of the agents begin..end of a moment, if they are wanted."""
    if kept.heading.size > 0:
        position, heading = kept.position[r, time], kept.heading[r, time]
        for i in range(np.uint64(begin), np.uint64(end)):
            k = np.uint64(np.uint32(now.id[i]))
            position[k, 0] = now.x[i]
            position[k, 1] = now.y[i]
            heading[k] = now.heading[i]


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


@kernel
def by_cell_runs(position, radius, box, out):
    """The agents of every run in the order of their cells."""
    runs, agents = out.shape
    start = np.empty(cells.cells_per_axis(agents) ** 2 + 1, np.int32)
    cursor = np.empty(start.shape[0], np.int32)
    cell = np.empty(agents, np.int32)
    for r in range(runs):
        x = position[r, :, 0].copy()
        y = position[r, :, 1].copy()
        grid = cells.cell_grid(x, y, radius, box)
        size = grid.columns * grid.rows
        cells.find_cells(x, y, grid, cell)
        cells.count_in_cells(cell, cursor[:size])
        cells.start_cells(cursor[:size].reshape((1, size)), start)
        for i in range(np.uint64(agents)):
            k = np.uint64(np.uint32(cell[i]))
            out[r, np.uint64(np.uint32(cursor[k]))] = np.int32(i)
            cursor[k] += np.int32(1)
