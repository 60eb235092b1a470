"""The Vicsek model: neighbour sums on a cell list, misalignment, motion, order.

What makes it fast: agents are copied into the order of their cells, so that memory is read in
sequence; the candidates of a row of cells are copied once into a buffer, column by column, shifted
across the periodic boundary, so that the inner loop has no branch; headings are summed as 64-bit
fixed-point numbers, which vectorises and is exact, so that the order of summation cannot matter;
and indices are unsigned, which spares the checks for negative ones.

A swarm moves in two ways, with the same bits: by `misalignment` and `advance`, which take and give
a state in the agents' own order; or by `Swarms`, which takes whole steps (observe, act, move) and
keeps the agents in the order of their cells, with the sines and cosines of their headings.

Another kernel can take whole steps of one swarm as well: `take_over` copies a state into `Agents`,
`sort_by_cell` brings them into the order of their cells, `misalignment_in_cells` says what each of
them observes, in that order, and `move` turns and moves them, from the sorted agents back into
those that are sorted next.

Arrays are (runs, agents) and (runs, agents, 2); `box` is the period of both axes, or 0 for open
space.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import cells, elementary, parallel
from swarmdp.kernels.compile import inlined, kernel
from swarmdp.kernels.scratch import scratch
from swarmdp.kernels.streams import MASK, philox, standard_normal

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

LANES = 8  # candidates are padded to a multiple of this many
FAR = 1e150  # coordinate of a padding candidate; its square is finite
BLOCK = 256  # agents that are moved at a time: what lies between stays in the cache
COLUMNS = 64  # columns of cells whose candidates are copied at a time
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


class Cells(NamedTuple):
    """Where the agents of each cell are: cell k has the places start[k] up to start[k + 1]."""

    cell: Ints  # of each agent, before they are sorted
    start: Ints
    cursor: Ints  # (parts, cells): where a part puts its next agent of a cell


class Buffers(NamedTuple):
    """What one thread needs for the rows of cells that it is at."""

    x: Floats  # candidates: their places and directions, in fixed point
    y: Floats
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    column: NDArray[np.uint64]  # where the candidates of each column begin
    across: Floats  # sums of directions in the frame of each agent's own heading
    along: Floats
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
    sorted_agents, work = scratch(
        "vicsek", (agents, parts), lambda: (new_agents(agents), new_cells(agents, parts))
    )
    x, y = sorted_agents.cosine, sorted_agents.sine  # not in use yet
    copy_places(position, x, y)
    grid = cells.cell_grid(x, y, radius, box)
    size = grid.columns * grid.rows
    parallel.divide(
        agents, parts, lambda part, begin, end: find_part(part, begin, end, x, y, grid, work)
    )
    cells.start_cells(work.cursor[:, :size], work.start)
    parallel.divide(
        agents,
        parts,
        lambda part, begin, end: place_state(
            begin, end, position, heading, work.cell, work.cursor[part], sorted_agents
        ),
    )
    parallel.divide(
        grid.rows,
        parts,
        lambda _, begin, end: misalignment_rows(
            begin, end, grid, radius, box, sorted_agents, work.start, out
        ),
    )


@dataclass(frozen=True, eq=False)
class Swarms:
    """Runs of the model that take whole steps, their agents in the order of their cells.

    Every agent turns by its misalignment, or as a table says: `turns[rows[r], k]` for the agents of
    run r whose misalignment is in the interval k of `bins` equal ones.
    """

    model: Model
    agents: Agents  # arrays (runs, agents)
    sums: NDArray[np.int64]  # (runs, 2): of the headings, in fixed point
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
        agents, sums = new_agents_of_runs(*heading.shape), np.empty((len(heading), 2), np.int64)
        take_over_runs(position, heading, agents, sums)
        values = np.empty((0, 0)) if turns is None else turns
        return cls(model, agents, sums, steps, seed, numbers, draw, values, rows, bins)

    def advance(self, first: int, last: int, kept: Kept) -> None:
        """Keep the moments first..last - 1 and take the step after each, but none at the end."""
        agents = self.agents.x.shape[1]
        parts = parallel.shares(agents)
        luck = Luck(np.uint64(self.seed), np.uint64(0), np.uint64(0), np.uint64(self.draw))
        if parts == 1:
            take_steps(
                self.agents,
                self.sums,
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
        keep_order(self.sums[r], agents, r, time, kept.order)
        parallel.divide(
            agents, parts, lambda _, begin, end: keep_state(begin, end, now, r, time, kept)
        )
        moving = time < self.steps
        if not moving and not kept.observations.size and not kept.counts.size:
            return
        after, work = scratch(
            "vicsek", (agents, parts), lambda: (new_agents(agents), new_cells(agents, parts))
        )
        grid = cells.cell_grid(now.x, now.y, model.radius, model.box)
        size = grid.columns * grid.rows
        parallel.divide(
            agents,
            parts,
            lambda part, begin, end: find_part(part, begin, end, now.x, now.y, grid, work),
        )
        cells.start_cells(work.cursor[:, :size], work.start)
        parallel.divide(
            agents,
            parts,
            lambda part, begin, end: place_agents(
                begin, end, now, work.cell, work.cursor[part], after
            ),
        )
        turns = self.turns[self.rows[r]] if len(self.turns) else np.empty(0)
        counts = np.zeros((parts, kept.counts.shape[2]), np.int64)
        sums = np.zeros((parts, 2), np.int64)

        def work_on(part: int, begin: int, end: int) -> None:
            step_rows(
                *(begin, end, grid, model, luck, work.start, after, turns, self.bins, moving, now),
                *(r, time, kept, counts[part], sums[part]),
            )

        parallel.divide(grid.rows, parts, work_on)
        if kept.counts.size:
            kept.counts[r, place] = counts.sum(axis=0)
        if moving:
            self.sums[r] = sums.sum(axis=0)


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
            first = ((row + d) % grid.rows) * grid.columns
            n += start[first + grid.columns] - start[first]
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
    for i in range(np.uint64(heading.shape[0])):
        agents.x[i] = position[i, 0]
        agents.y[i] = position[i, 1]
    turn_to(heading, agents)
    for i in range(np.uint64(heading.shape[0])):
        agents.id[i] = np.int32(first) + np.int32(i)


@kernel
def turn_to(heading, agents):
    """Give agents these headings."""
    new, cosines, sines = agents.heading, agents.cosine, agents.sine
    for i in range(np.uint64(heading.shape[0])):
        new[i] = heading[i]
    for i in range(np.uint64(heading.shape[0])):
        sine, cosine = elementary.sincos(heading[i])
        cosines[i] = cosine
        sines[i] = sine


@kernel
def take_over_runs(position, heading, agents, sums):
    """Take the agents of every run over from a state."""
    units = fixed_point_scale(heading.shape[1])
    for r in range(heading.shape[0]):
        now = run_of(agents, r)
        take_over(position[r], heading[r], 0, now)
        sums[r, 0] = fixed_point_sum(now.cosine, units)
        sums[r, 1] = fixed_point_sum(now.sine, units)


@kernel
def fixed_point_sum(values, units):
    """The exact sum of numbers in fixed point."""
    total = np.int64(0)
    for i in range(np.uint64(values.shape[0])):
        total += np.int64(values[i] * units)
    return total


@kernel
def copy_places(position, x, y):
    """Positions (agents, 2), coordinate by coordinate."""
    for i in range(np.uint64(x.shape[0])):
        x[i] = position[i, 0]
        y[i] = position[i, 1]


@kernel
def find_part(part, begin, end, x, y, grid, work):
    """The cells of the agents begin..end, and how many of them are in each cell."""
    cell = work.cell[begin:end]
    cells.find_cells(x[begin:end], y[begin:end], grid, cell)
    cells.count_in_cells(cell, work.cursor[part][: grid.columns * grid.rows])


@kernel
def sort_by_cell(now, radius, box, work, after):
    """Copy a swarm into the order of its cells; returns their grid."""
    grid = cells.cell_grid(now.x, now.y, radius, box)
    find_part(0, 0, now.x.shape[0], now.x, now.y, grid, work)
    size = grid.columns * grid.rows
    cells.start_cells(work.cursor[0][:size].reshape((1, size)), work.start)
    place_agents(0, now.x.shape[0], now, work.cell, work.cursor[0], after)
    return grid


@kernel
def place_agents(begin, end, now, cell, cursor, after):
    """Copy the agents begin..end to their places in cell order."""
    x, y, heading, cosine, sine, ids = now
    new_x, new_y, new_heading, new_cosine, new_sine, new_ids = after
    for i in range(np.uint64(begin), np.uint64(end)):
        k = np.uint64(np.uint32(cell[i]))
        p = np.uint64(np.uint32(cursor[k]))
        cursor[k] += np.int32(1)
        new_x[p] = x[i]
        new_y[p] = y[i]
        new_heading[p] = heading[i]
        new_cosine[p] = cosine[i]
        new_sine[p] = sine[i]
        new_ids[p] = ids[i]


@kernel
def place_state(begin, end, position, heading, cell, cursor, after):
    """Copy the agents begin..end of a state to their places in cell order."""
    block = new_agents(BLOCK)
    for first in range(begin, end, BLOCK):
        last = min(end, first + BLOCK)
        take_over(position[first:last], heading[first:last], first, block)
        place_agents(0, last - first, block, cell[first:last], cursor, after)


@kernel
def misalignment_runs(position, heading, radius, box, out):
    """Misalignment for every run in turn."""
    runs, agents = heading.shape
    if cells.wraps_onto_itself(radius, box, agents):
        for r in range(runs):
            misalignment_all_pairs(0, agents, position[r], heading[r], radius, box, out[r])
        return
    work = new_cells(agents, 1)
    after = new_agents(agents)
    x, y = after.cosine, after.sine  # not in use while cells are looked for
    for r in range(runs):
        copy_places(position[r], x, y)
        grid = cells.cell_grid(x, y, radius, box)
        find_part(0, 0, agents, x, y, grid, work)
        size = grid.columns * grid.rows
        cells.start_cells(work.cursor[0][:size].reshape((1, size)), work.start)
        place_state(0, agents, position[r], heading[r], work.cell, work.cursor[0], after)
        misalignment_rows(0, grid.rows, grid, radius, box, after, work.start, out[r])


@kernel
def misalignment_rows(begin_row, end_row, grid, radius, box, after, start, out):
    """Misalignment of the agents in these rows of cells; out is in the agents' own order."""
    buffers = new_buffers(most_candidates(begin_row, end_row, grid, start))
    units = fixed_point_scale(out.shape[0])
    least = least_sum(out.shape[0])
    across, along = buffers.across, buffers.along
    for row in range(begin_row, end_row):
        first = np.uint64(start[row * grid.columns])
        size = np.uint64(start[(row + 1) * grid.columns]) - first
        sum_row(row, grid, radius, box, units, least, start, after, first, buffers)
        for i in range(size):
            across[i] = elementary.atan2(across[i], along[i])
        for i in range(size):
            out[np.uint64(np.uint32(after.id[first + i]))] = across[i]


@kernel
def misalignment_in_cells(grid, radius, box, after, start, buffers, out):
    """Misalignment of all agents, in the order of their cells."""
    units = fixed_point_scale(out.shape[0])
    least = least_sum(out.shape[0])
    across, along = buffers.across, buffers.along
    done = np.uint64(0)
    for row in range(grid.rows):
        sum_row(row, grid, radius, box, units, least, start, after, done, buffers)
        end = np.uint64(start[(row + 1) * grid.columns])
        if end - done >= np.uint64(BLOCK) or row == grid.rows - 1:
            seen = out[done:end]
            for i in range(end - done):
                seen[i] = elementary.atan2(across[i], along[i])
            done = end


@kernel
def merge_rows(row, first, last, grid, box, units, start, after, buffers):
    """Copy the candidates of the columns first..last of a row: the agents of three rows of cells.

    They are copied column by column, from the one before to the one after, shifted across the
    periodic boundary; `column[q]` is where those of column first - 1 + q begin.
    """
    x, y, cosine, sine = after.x, after.y, after.cosine, after.sine
    near_x, near_y, near_u, near_v = buffers.x, buffers.y, buffers.u, buffers.v
    begins = buffers.column
    n = np.uint64(0)
    q = 0
    for wanted in range(first - 1, last + 1):
        begins[q] = n
        q += 1
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
            k = there * grid.columns + column
            for j in range(np.uint64(np.uint32(start[k])), np.uint64(np.uint32(start[k + 1]))):
                near_x[n] = x[j] + shift_x
                near_y[n] = y[j] + shift_y
                near_u[n] = np.int64(cosine[j] * units)
                near_v[n] = np.int64(sine[j] * units)
                n += np.uint64(1)
    begins[q] = n
    for j in range(n, n + np.uint64(LANES)):
        near_x[j] = FAR
        # Even the largest radius must not find a direction here.
        near_u[j] = 0
        near_v[j] = 0


@kernel
def sum_row(row, grid, radius, box, units, least, start, after, base, buffers):
    """Add up the directions around each agent of a row, into across and along from base on.

    Candidates beyond those of the three columns, up to a multiple of LANES, are too far to count.
    """
    x, y, cosine, sine = after.x, after.y, after.cosine, after.sine
    across, along = buffers.across, buffers.along
    square = radius * radius
    zero = np.int64(0)
    lanes = np.uint64(LANES)
    for first in range(0, grid.columns, COLUMNS):
        last = min(grid.columns, first + COLUMNS)
        merge_rows(row, first, last, grid, box, units, start, after, buffers)
        for column in range(first, last):
            k = row * grid.columns + column
            begin = np.uint64(np.uint32(start[k]))
            end = np.uint64(np.uint32(start[k + 1]))
            if begin == end:
                continue
            low = buffers.column[column - first]
            size = buffers.column[column - first + 3] - low
            size = (size + lanes - np.uint64(1)) // lanes * lanes
            near_x = buffers.x[low : low + size]
            near_y = buffers.y[low : low + size]
            near_u = buffers.u[low : low + size]
            near_v = buffers.v[low : low + size]
            for i in range(begin, end):
                u = zero
                v = zero
                for j in range(size):
                    dx = near_x[j] - x[i]
                    dy = near_y[j] - y[i]
                    within = dx * dx + dy * dy <= square
                    u += near_u[j] if within else zero
                    v += near_v[j] if within else zero
                own_u = np.int64(cosine[i] * units)
                own_v = np.int64(sine[i] * units)
                p = i - base
                across[p], along[p] = in_own_frame(own_u, own_v, u, v, least)


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


@kernel
def take_steps(agents, sums, model, luck, numbers, first, last, steps, turns, rows, bins, kept):
    """Keep the moments first..last - 1 of all runs and take the step after each, see `Swarms`."""
    runs, size = agents.x.shape
    after = new_agents(size)
    work = new_cells(size, 1)
    buffers = new_buffers(min(2 * size, 8192))
    counts = np.empty(kept.counts.shape[2], np.int64)
    nothing = np.empty(0)
    for r in range(runs):
        now = run_of(agents, r)
        values = turns[rows[r]] if turns.shape[0] > 0 else nothing
        for time in range(first, last):
            keep_order(sums[r], size, r, time, kept.order)
            keep_state(0, size, now, r, time, kept)
            moving = time < steps
            if not moving and kept.observations.size == 0 and kept.counts.size == 0:
                continue
            grid = sort_by_cell(now, model.radius, model.box, work, after)
            needed = most_candidates(0, grid.rows, grid, work.start)
            if needed > buffers.x.shape[0] - LANES:
                buffers = new_buffers(needed)
            at = Luck(luck.seed, np.uint64(numbers[r]), np.uint64(time), luck.draw)
            counts[:] = 0
            step_rows_in(
                0,
                grid.rows,
                grid,
                model,
                at,
                work.start,
                after,
                values,
                bins,
                moving,
                now,
                r,
                time,
                kept,
                counts,
                sums[r],
                buffers,
            )
            if kept.counts.size > 0:
                kept.counts[r, time - first] = counts


@kernel
def step_rows(
    begin_row,
    end_row,
    grid,
    model,
    luck,
    start,
    after,
    turns,
    bins,
    moving,
    now,
    r,
    time,
    kept,
    counts,
    sums,
):
    """`step_rows_in` with buffers of its own."""
    buffers = new_buffers(most_candidates(begin_row, end_row, grid, start))
    step_rows_in(
        begin_row,
        end_row,
        grid,
        model,
        luck,
        start,
        after,
        turns,
        bins,
        moving,
        now,
        r,
        time,
        kept,
        counts,
        sums,
        buffers,
    )


@kernel
def step_rows_in(
    begin_row,
    end_row,
    grid,
    model,
    luck,
    start,
    after,
    turns,
    bins,
    moving,
    now,
    r,
    time,
    kept,
    counts,
    sums,
    buffers,
):
    """One step of the sorted agents in these rows of cells, back into `now`.

    `sums` become the fixed-point sums of their new headings; the classes of what they observe are
    added to `counts`, if these are to be kept.
    """
    units = fixed_point_scale(after.x.shape[0])
    least = least_sum(after.x.shape[0])
    u = np.int64(0)
    v = np.int64(0)
    done = np.uint64(start[begin_row * grid.columns])
    for row in range(begin_row, end_row):
        sum_row(row, grid, model.radius, model.box, units, least, start, after, done, buffers)
        end = np.uint64(start[(row + 1) * grid.columns])
        if end - done < np.uint64(BLOCK) and row < end_row - 1:
            continue
        for low in range(done, end, np.uint64(BLOCK)):
            high = min(end, low + np.uint64(BLOCK))
            act(low, high, low - done, after, turns, bins, moving, r, time, kept, counts, buffers)
            if moving:
                move(low, high, after, buffers.angle, model, luck, buffers.noise, now)
                if kept.order.size > 0:
                    u += fixed_point_sum(now.cosine[low:high], units)
                    v += fixed_point_sum(now.sine[low:high], units)
        done = end
    sums[0] = u
    sums[1] = v


@kernel
def act(low, high, offset, after, turns, bins, moving, r, time, kept, counts, buffers):
    """How the sorted agents low..high turn, into `angle`: by their misalignment, or by a table."""
    size = high - low
    across = buffers.across[offset : offset + size]
    along = buffers.along[offset : offset + size]
    angle, group = buffers.angle, buffers.group
    ids = after.id[low:high]
    for i in range(size):
        angle[i] = elementary.atan2(across[i], along[i])
    if kept.observations.size > 0:
        seen = kept.observations[r, time]
        for i in range(size):
            seen[np.uint64(np.uint32(ids[i]))] = angle[i]
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
            done[np.uint64(np.uint32(ids[i]))] = angle[i]


@kernel
def move(low, high, after, turn, model, luck, noise, now):
    """Move the sorted agents low..high, then turn them; turn[i] is that of agent low + i.

    `noise` is memory for as many numbers.
    """
    size = np.uint64(high) - np.uint64(low)
    ids = after.id[low:high]
    draw_noise(ids, model.noise, luck, noise)
    heading, new_heading = after.heading[low:high], now.heading[low:high]
    for i in range(size):
        new_heading[i] = wrap(heading[i] + turn[i] + noise[i], -math.pi, TWO_PI)
    move_along(after.x[low:high], after.cosine[low:high], model, now.x[low:high])
    move_along(after.y[low:high], after.sine[low:high], model, now.y[low:high])
    cosines, sines = now.cosine[low:high], now.sine[low:high]
    for i in range(size):
        sine, cosine = elementary.sincos(new_heading[i])
        cosines[i] = cosine
        sines[i] = sine
    new_ids = now.id[low:high]
    for i in range(size):
        new_ids[i] = ids[i]


@kernel
def draw_noise(ids, scale, luck, out):
    """The perturbations of these agents' turns."""
    if scale == 0.0:
        for i in range(np.uint64(ids.shape[0])):
            out[i] = 0.0
        return
    k0 = luck.seed & np.uint64(MASK)
    k1 = luck.seed >> np.uint64(32)
    for i in range(np.uint64(ids.shape[0])):
        w0, w1, w2, w3 = philox(np.uint64(ids[i]), luck.run, luck.step, luck.draw, k0, k1)
        out[i] = 0.0 + scale * standard_normal(w0, w1, w2, w3)


@kernel
def move_along(place, direction, model, out):
    """One coordinate after a step."""
    if model.box > 0.0:
        for i in range(np.uint64(place.shape[0])):
            out[i] = wrap(place[i] + model.speed * direction[i], 0.0, model.box)
    else:
        for i in range(np.uint64(place.shape[0])):
            out[i] = place[i] + model.speed * direction[i]


@kernel
def keep_order(sums, agents, r, time, kept):
    """Keep the order parameter of a moment, if it is wanted."""
    if kept.size > 0:
        u = float(sums[0]) / fixed_point_scale(agents) / agents
        v = float(sums[1]) / fixed_point_scale(agents) / agents
        kept[r, time] = math.sqrt(u * u + v * v)


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
    work = new_cells(agents, 1)
    x = np.empty(agents)
    y = np.empty(agents)
    cursor = work.cursor[0]
    for r in range(runs):
        copy_places(position[r], x, y)
        grid = cells.cell_grid(x, y, radius, box)
        find_part(0, 0, agents, x, y, grid, work)
        size = grid.columns * grid.rows
        cells.start_cells(cursor[:size].reshape((1, size)), work.start)
        for i in range(np.uint64(agents)):
            k = np.uint64(np.uint32(work.cell[i]))
            out[r, np.uint64(np.uint32(cursor[k]))] = np.int32(i)
            cursor[k] += np.int32(1)
