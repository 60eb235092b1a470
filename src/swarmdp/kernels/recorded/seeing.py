"""What the agents of a calibrated swarm see of their neighbours and of the wall.

Places are (runs, agents, 2), headings (runs, agents) and what is seen (runs, agents, 5), all
float64 and in the order of the agents; on the way they are in the order of cells (`space.layout`).
In recorded frames an agent that is absent has NaN for its place or heading: it sees nothing and is
not seen. Sums over neighbours are of 64-bit fixed-point numbers, so that the order of the agents
cannot matter; among equally near neighbours the coordinates decide, not their numbers.

Twin in the tests: `oracles.sight`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.recorded.arenas import look_at_wall
from swarmdp.kernels.runtime.compile import borrowing, kernel
from swarmdp.kernels.space.kinds import OPEN, PERIODIC
from swarmdp.kernels.space.layout import (
    new_agents_by_cell,
    new_candidate_buffers,
    new_neighbour_sums,
)
from swarmdp.kernels.space.neighbours import add_up_neighbours
from swarmdp.kernels.space.sorting import sort_by_cell
from swarmdp.support.arrays import Floats

NO_NEIGHBOUR = 1e12  # distance to the nearest neighbour where there is none
SIGHT = 5  # numbers that are seen: see `sight`


def sight(
    position: Floats, heading: Floats, nearest: int, radius: float, kind: int, walls: Floats
) -> Floats:
    """What each agent sees (runs, agents, 5); NaN for absent agents.

    The angle to the mean heading of its neighbours, the angle to the mean direction in which they
    are, the distance to the nearest of all others, the distance to the wall (infinite in open
    space), and the angle to the nearest point of the wall. Angles are from its own heading.
    Neighbours are the `nearest` ones, or with `nearest` 0 all within `radius`.
    """
    out = np.empty((*heading.shape, SIGHT))
    sight_runs(position, heading, nearest, radius, kind, walls, out)
    return out


@kernel
def sight_runs(position, heading, nearest, radius, kind, walls, out):
    """`sight` for every run in turn."""
    runs, agents = heading.shape
    # Memory for the largest run serves all of them.
    now = new_agents_by_cell(agents)
    sums = new_neighbour_sums(agents)
    buffers = new_candidate_buffers(agents)
    x = np.empty(agents)
    y = np.empty(agents)
    angle = np.empty(agents)
    ids = np.empty(agents, np.int32)
    for r in range(runs):
        # Written over by the next one unless the agent is there: those that are move to the front.
        present = 0
        for i in range(agents):
            x[present] = position[r, i, 0]
            y[present] = position[r, i, 1]
            angle[present] = heading[r, i]
            ids[present] = i
            absent = math.isnan(position[r, i, 0]) or math.isnan(position[r, i, 1])
            if absent or math.isnan(heading[r, i]):
                out[r, i, :] = np.nan
            else:
                present += 1
        if present == 0:
            continue
        look_around(x, y, angle, ids, present, nearest, radius, kind, walls, now, sums, buffers)
        for p in range(np.uint64(present)):
            # Back to the order of the agents, through the numbers that were sorted along.
            seen = out[r, np.uint64(np.uint32(now.id[p]))]
            seen[0] = sums.u[p]
            seen[1] = sums.x[p]
            seen[2] = sums.closest[p]
            # Infinitely far straight ahead stands for no wall: no case of its own for what follows.
            seen[3] = np.inf
            seen[4] = 0.0
            if kind != OPEN and kind != PERIODIC:
                seen[3], seen[4] = look_at_wall(
                    now.x[p], now.y[p], now.cosine[p], now.sine[p], kind, walls
                )


@borrowing
def look_around(x, y, heading, ids, agents, nearest, radius, kind, walls, now, sums, buffers):
    """What the first of these agents see of their neighbours, in the order of cells (`sums`)."""
    grid, inside = sort_by_cell(x, y, heading, ids, agents, nearest, radius, kind, walls, now)
    add_up_neighbours(nearest, radius, kind, walls, grid, inside, agents, now, sums, buffers)
    see_neighbours(agents, now, sums)


@kernel
def see_neighbours(agents, now, sums):
    """Turn sums over neighbours into what is seen, in place.

    The angle to their mean heading (in `sums.u`), the angle to the mean direction in which they are
    (in `sums.x`), and the distance to the nearest of all others (in `sums.closest`).
    """
    # The angle of a vector in the agent's own frame. A loop for each angle, so that it vectorises.
    for p in range(np.uint64(agents)):
        c = now.cosine[p]
        s = now.sine[p]
        u = sums.u[p]
        v = sums.v[p]
        sums.u[p] = elementary.atan2(v * c - u * s, u * c + v * s)
    for p in range(np.uint64(agents)):
        c = now.cosine[p]
        s = now.sine[p]
        u = sums.x[p]
        v = sums.y[p]
        sums.x[p] = elementary.atan2(v * c - u * s, u * c + v * s)
    for p in range(np.uint64(agents)):
        # A large number instead of infinity: classes of distances compare it like any other.
        closest = sums.closest[p]
        sums.closest[p] = math.sqrt(closest) if closest < np.inf else NO_NEIGHBOUR
