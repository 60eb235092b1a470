"""Where a Vicsek swarm lies in memory.

`Particles` is the swarm itself: one array (agents,) of float64 for each quantity instead of one
record for each agent, so that a loop over agents loads four or eight of them with one instruction.
Sines and cosines of the headings are kept from step to step, since both summing and moving need
them. `id` (int32) says which agent it is: large swarms are brought into the order of their cells
now and then, and random numbers and results belong to the agent, not to the place.

`ParticlesByCell` is a copy in the order of cells, row by row, so that the agents of neighbouring
cells are read in sequence. Directions are 64-bit fixed-point numbers there: their sums are exact,
so that no order of summation, thread or batch can change a bit. Behind the last agent is room for
PADDING entries, which loops of whole vectors may read.

`RowBuffers` are the candidates of one row of cells, copied once for all agents of the row. They
belong to one thread and fit the cache.

Positions from outside are (runs, agents, 2), headings (runs, agents), all float64; `box` is the
period of both axes, or 0 for open space.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics.vectors import PADDING
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.runtime.scratch import scratch
from swarmdp.kernels.space import cells
from swarmdp.support.arrays import Floats, Ints

SmallInts = NDArray[np.int32]

BLOCK_AGENTS = 256  # agents that are moved at a time: what lies between stays in the cache
COLUMNS = 64  # columns of cells whose candidates are copied at a time


class Particles(NamedTuple):
    """A swarm in any order: arrays (agents,), or (runs, agents) for several."""

    x: Floats
    y: Floats
    heading: Floats
    cosine: Floats
    sine: Floats
    id: SmallInts  # which agent it is


class ParticlesByCell(NamedTuple):
    """The agents in the order of their cells: arrays (agents + PADDING,)."""

    x: Floats
    y: Floats
    u: Ints  # directions in fixed point
    v: Ints
    angle: Floats  # misalignment; before that, the sum of directions across the agent's heading


class CellPlaces(NamedTuple):
    """Where agents are in the order of cells: cell k has the places start[k] up to start[k + 1]."""

    place: SmallInts  # (agents,): of each agent; while they are sorted, the number of its cell
    start: SmallInts  # (cells + 1,)
    cursor: SmallInts  # (parts, cells): where a thread puts its next agent of a cell


class RowBuffers(NamedTuple):
    """What one thread needs for the rows of cells and the block of agents that it is at."""

    x: Floats  # candidates: their places and directions
    y: Floats
    u: Ints
    v: Ints
    column: NDArray[np.uint64]  # where the candidates of each column begin
    along: Floats  # sums of directions along each agent's own heading
    angle: Floats  # of a block of agents: what they observe, how they turn
    noise: Floats
    group: SmallInts  # the class of what they observe


class VicsekModel(NamedTuple):
    """The settings of the model."""

    radius: float
    speed: float
    noise: float
    box: float


class NoiseCounter(NamedTuple):
    """Where the noise comes from: the coordinates of random numbers, see `numerics.streams`."""

    seed: np.uint64
    run: np.uint64
    step: np.uint64
    draw: np.uint64


class TurnRule(NamedTuple):
    """How agents turn: by turns[k] for a misalignment in class k, or by the misalignment itself."""

    turns: Floats  # (bins,), or empty for the misalignment itself
    bins: int  # equal classes of the circle


class StepMoment(NamedTuple):
    """Which moment of which run is being computed."""

    run: int
    time: int
    moving: bool  # whether a step follows


class KeptMoments(NamedTuple):
    """What is to be kept of each moment: arrays with the axes (runs, times), or empty ones.

    Empty arrays instead of None: a kernel has one type for all that may be asked for.
    """

    order: Floats  # (runs, steps + 1)
    position: Floats  # (runs, steps + 1, agents, 2)
    heading: Floats  # (runs, steps + 1, agents)
    observations: Floats  # (runs, steps + 1, agents)
    actions: Floats  # (runs, steps, agents)
    counts: Ints  # (runs, times of this call, classes)


@kernel
def new_particles(agents):
    """Memory for one swarm, 44 bytes an agent."""
    # No zeros: every entry is written before it is read.
    return Particles(
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents, np.int32),
    )


@kernel
def new_particles_of_runs(runs, agents):
    """Memory for several swarms."""
    return Particles(
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
    return Particles(
        agents.x[r], agents.y[r], agents.heading[r], agents.cosine[r], agents.sine[r], agents.id[r]
    )


@kernel
def new_particles_by_cell(agents):
    """Memory for the swarm in the order of cells, 40 bytes an agent."""
    room = agents + PADDING
    return ParticlesByCell(
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room),
    )


@kernel
def new_cell_places(agents, parts):
    """Memory for the cells of a swarm."""
    # As many cells as the grid may ever have, so that a swarm that spreads out finds room.
    most = cells.cells_per_axis(agents) ** 2
    return CellPlaces(
        np.empty(agents, np.int32), np.empty(most + 1, np.int32), np.empty((parts, most), np.int32)
    )


@kernel
def new_row_buffers(candidates):
    """Memory for rows of cells with at most this number of candidates."""
    # `along` has a whole block more: rows are taken together until they make one.
    room = candidates + PADDING
    return RowBuffers(
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        # A column before and one after, and where the last one ends.
        np.empty(COLUMNS + 3, np.uint64),
        np.empty(candidates + BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS, np.int32),
    )


@kernel
def first_row_buffers(agents):
    """Buffers that are large enough for most swarms; `find_misalignments` replaces them if not."""
    return new_row_buffers(min(2 * agents, 8192))


def shared_workspace(agents: int, parts: int) -> tuple[ParticlesByCell, CellPlaces]:
    """Memory for a large swarm in the order of cells, kept from step to step."""
    # One for each thread and size; a step of a million agents would otherwise ask the system for
    # 40 MB, which it has to clear.
    kept: tuple[ParticlesByCell, CellPlaces] = scratch(
        "vicsek",
        (agents, parts),
        lambda: (new_particles_by_cell(agents), new_cell_places(agents, parts)),
    )
    return kept
