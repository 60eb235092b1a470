"""What the agents of a calibrated swarm see of their neighbours and of the wall."""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.recorded.arenas import OPEN, PERIODIC, look_at_wall
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space import neighbours
from swarmdp.support.arrays import Floats

NOBODY = 1e12  # distance to the nearest neighbour where there is none
SIGHT = 5  # numbers that are seen: see `sight`


def sight(
    position: Floats, heading: Floats, nearest: int, radius: float, kind: int, walls: Floats
) -> Floats:
    """What each agent sees (runs, agents, 5); NaN for those who are absent.

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
    now = neighbours.new_agents_by_cell(agents)
    sums = neighbours.new_neighbour_sums(agents)
    buffers = neighbours.new_candidate_buffers(agents)
    x = np.empty(agents)
    y = np.empty(agents)
    angle = np.empty(agents)
    ids = np.empty(agents, np.int32)
    for r in range(runs):
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
        grid, inside = neighbours.sort_by_cell(
            x, y, angle, ids, present, nearest, radius, kind, walls, now
        )
        neighbours.add_up_neighbours(
            nearest, radius, kind, walls, grid, inside, present, now, sums, buffers
        )
        see_neighbours(present, now, sums)
        for p in range(np.uint64(present)):
            seen = out[r, np.uint64(np.uint32(now.id[p]))]
            seen[0] = sums.u[p]
            seen[1] = sums.x[p]
            seen[2] = sums.closest[p]
            seen[3] = np.inf
            seen[4] = 0.0
            if kind != OPEN and kind != PERIODIC:
                seen[3], seen[4] = look_at_wall(
                    now.x[p], now.y[p], now.cosine[p], now.sine[p], kind, walls
                )


@kernel
def see_neighbours(agents, now, sums):
    """Turn sums over neighbours into what is seen, in place.

    The angle to their mean heading (in `sums.u`), the angle to the mean direction in which they are
    (in `sums.x`), and the distance to the nearest of all others (in `sums.closest`).
    """
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
        closest = sums.closest[p]
        sums.closest[p] = math.sqrt(closest) if closest < np.inf else NOBODY
