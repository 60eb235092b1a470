"""Where a swarm lies in memory while its neighbours are looked for.

`AgentsByCell` is a copy of the swarm in the order of its cells, row by row: one array for each
quantity, float64, so that candidates are read in sequence and loops over them load whole vectors.
Directions are 64-bit fixed-point numbers, whose sums are exact in any order. Behind the last agent
is room for PADDING entries that whole vectors may read.

`CandidateBuffers` hold the candidates of one cell, copied once for all its agents, and what is
computed of them for one agent; all of it stays in the fastest cache. `NeighbourSums` is the result,
in the order of cells too: only the caller knows which agents it wants where.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics.vectors import PADDING
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.support.arrays import Floats, Ints


class AgentsByCell(NamedTuple):
    """Agents in the order of their cells: arrays (agents + PADDING,) but for the last three."""

    x: Floats
    y: Floats
    heading: Floats
    cosine: Floats
    sine: Floats
    u: Ints  # directions in fixed point
    v: Ints
    id: NDArray[np.int32]  # (agents,): which agent it is
    start: NDArray[np.int32]  # cell k has the places start[k] up to start[k + 1]
    cell: NDArray[np.int32]  # (agents,): of each agent, in the order in which they came


class NeighbourSums(NamedTuple):
    """What is known of the neighbours of each agent, in the order of cells."""

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
    numbers: Ints  # 0, 1, 2, ...: copied like the others, it gives `near`
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
    # Copies of four entries may begin at the last agent.
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
    # As large as the swarm, so that no list can overflow; only the front of it is used.
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
