"""The Vicsek model: neighbour sums on a cell list, misalignment, motion, order.

What makes it fast: places and directions are copied into the order of cells, so that memory is read
in sequence; the candidates of a row of cells are copied once into a buffer, column by column,
shifted across the periodic boundary, so that the inner loop has no branch; headings are summed as
64-bit fixed-point numbers, which vectorises and is exact, so that the order of summation cannot
matter; and indices are unsigned, which spares the checks for negative ones.

A swarm moves in two ways, with the same bits: by `misalignment` and `fly_and_turn`, which take and
give a state; or by `VicsekSwarms`, which takes whole steps (observe, act, move) and keeps the sines
and cosines of the headings from step to step.

Another kernel takes whole steps of one swarm like this: `take_over` copies a state into
`Particles`; in every step `find_misalignments` finds the misalignment of all agents,
`look_up_angles` fetches it for some of them, and `move_particles` turns and moves them in place.
Agents stay in the order that they came in.

Arrays are (runs, agents) and (runs, agents, 2); `box` is the period of both axes, or 0 for open
space.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.runtime.scratch import scratch
from swarmdp.kernels.space import cells
from swarmdp.support.arrays import Floats

SmallInts = NDArray[np.int32]

PADDING = 8  # candidates are padded to a multiple of this many
FAR_AWAY = 1e150  # coordinate of a padding candidate; its square is finite
BLOCK_AGENTS = 256  # agents that are moved at a time: what lies between stays in the cache
COLUMNS = 64  # columns of cells whose candidates are copied at a time
CANCELLED = 1e-9  # headings whose sum is shorter than this have no mean


class Particles(NamedTuple):
    """A swarm in any order: arrays (agents,), or (runs, agents) for several."""

    x: Floats
    y: Floats
    heading: Floats
    cosine: Floats
    sine: Floats
    id: SmallInts  # which agent it is


class ParticlesByCell(NamedTuple):
    """What is known of the agents in the order of their cells, and some room behind them."""

    x: Floats
    y: Floats
    u: NDArray[np.int64]  # directions in fixed point
    v: NDArray[np.int64]
    angle: Floats  # misalignment


class CellPlaces(NamedTuple):
    """Where agents are in the order of cells: cell k has the places start[k] up to start[k + 1]."""

    place: SmallInts  # of each agent; while they are sorted, the number of its cell
    start: SmallInts
    cursor: SmallInts  # (parts, cells): where a part puts its next agent of a cell


class RowBuffers(NamedTuple):
    """What one thread needs for the rows of cells and the block of agents that it is at."""

    x: Floats  # candidates: their places and directions
    y: Floats
    u: NDArray[np.int64]
    v: NDArray[np.int64]
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


class Noise(NamedTuple):
    """Where the noise comes from: see `streams`."""

    seed: np.uint64
    run: np.uint64
    step: np.uint64
    draw: np.uint64


class KeptMoments(NamedTuple):
    """What is to be kept of each moment: arrays with the axes (runs, times), or empty ones."""

    order: Floats  # (runs, steps + 1)
    position: Floats  # (runs, steps + 1, agents, 2)
    heading: Floats  # (runs, steps + 1, agents)
    observations: Floats  # (runs, steps + 1, agents)
    actions: Floats  # (runs, steps, agents)
    counts: NDArray[np.int64]  # (runs, times of this call, classes)


@kernel
def new_particles(agents):
    """Memory for one swarm, 44 bytes an agent."""
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
    """Memory for what is known in the order of cells, 40 bytes an agent."""
    return ParticlesByCell(
        np.empty(agents + PADDING),
        np.empty(agents + PADDING),
        np.empty(agents + PADDING, np.int64),
        np.empty(agents + PADDING, np.int64),
        np.empty(agents + PADDING),
    )


@kernel
def new_cell_places(agents, parts):
    """Memory for the cells of a swarm."""
    most = cells.cells_per_axis(agents) ** 2
    return CellPlaces(
        np.empty(agents, np.int32), np.empty(most + 1, np.int32), np.empty((parts, most), np.int32)
    )


@kernel
def new_row_buffers(candidates):
    """Memory for rows of cells with at most so many candidates."""
    return RowBuffers(
        np.empty(candidates + PADDING),
        np.empty(candidates + PADDING),
        np.empty(candidates + PADDING, np.int64),
        np.empty(candidates + PADDING, np.int64),
        np.empty(COLUMNS + 3, np.uint64),
        np.empty(candidates + BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS),
        np.empty(BLOCK_AGENTS, np.int32),
    )


def shared_workspace(agents: int, parts: int) -> tuple[ParticlesByCell, CellPlaces]:
    """Memory for a large swarm in the order of cells, kept from step to step."""
    kept: tuple[ParticlesByCell, CellPlaces] = scratch(
        "vicsek",
        (agents, parts),
        lambda: (new_particles_by_cell(agents), new_cell_places(agents, parts)),
    )
    return kept
