"""Couzin's zones: where an agent wants to go for the others around it and for the wall.

Places are (runs, agents, 2), headings (runs, agents), float64; arenas are as in `recorded.arenas`.
Sums over neighbours are of 64-bit fixed-point numbers, so that the order of the agents cannot
matter. All pairs are looked at: the groups that are compared with this model are small.

Twin in the tests: `oracles.zone_turns`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.fixed_point import UNITS
from swarmdp.kernels.recorded.arenas import wall_point
from swarmdp.kernels.runtime.compile import borrowing, kernel
from swarmdp.kernels.space.candidates import shortest_gap
from swarmdp.kernels.space.kinds import OPEN, PERIODIC
from swarmdp.support.arrays import Floats

BLIND = -math.sqrt(0.5)  # cosine beyond which others are behind: 270 degrees are seen


def zone_turns(
    position: Floats, heading: Floats, zones: Floats, walls_from: Floats, kind: int, walls: Floats
) -> Floats:
    """The turn that each agent wants (runs, agents), in [-pi, pi].

    `zones` (runs, 3) are the radii of repulsion, orientation and attraction, `walls_from` (runs, 2)
    the distance from which the wall is avoided and how strongly.
    """
    out = np.empty_like(heading)
    zone_turns_of_runs(position, heading, zones, walls_from, kind, walls, out)
    return out


@kernel
def zone_turns_of_runs(position, heading, zones, walls_from, kind, walls, out):
    """`zone_turns` for every run in turn."""
    runs, agents = heading.shape
    sine = np.empty(agents)
    cosine = np.empty(agents)
    walled = kind != OPEN and kind != PERIODIC
    for r in range(runs):
        for i in range(agents):
            # Once for each agent, not once for each pair.
            sine[i], cosine[i] = elementary.sincos(heading[r, i])
        for i in range(agents):
            u, v = towards_others(i, position[r], cosine, sine, zones[r], kind, walls)
            if walled and walls_from[r, 0] > 0.0:
                push_x, push_y = away_from_wall(
                    position[r, i, 0], position[r, i, 1], walls_from[r], kind, walls
                )
                u += push_x
                v += push_y
            c = cosine[i]
            s = sine[i]
            out[r, i] = elementary.atan2(v * c - u * s, u * c + v * s)


@borrowing
def towards_others(i, position, cosine, sine, zones, kind, walls):
    """The direction, of length one, in which the others let an agent go; its own without any.

    Agents that are too close are avoided, and no others count then. Otherwise those farther away
    are aligned with or approached, unless they are behind.
    """
    close, along, far = zones[0], zones[1], zones[2]
    x = position[i, 0]
    y = position[i, 1]
    # Two sums, since the second counts only if no one turns out to be too close.
    away_x = np.int64(0)
    away_y = np.int64(0)
    to_x = np.int64(0)
    to_y = np.int64(0)
    crowded = False
    for j in range(position.shape[0]):
        dx = position[j, 0] - x
        dy = position[j, 1] - y
        if kind == PERIODIC:
            dx = shortest_gap(dx, walls[1, 0])
            dy = shortest_gap(dy, walls[1, 1])
        d = math.sqrt(dx * dx + dy * dy)
        # Agents on the same spot have no direction to each other.
        if j == i or d == 0.0 or d > max(close, along, far):
            continue
        dx /= d
        dy /= d
        if d < close:
            crowded = True
            away_x -= np.int64(dx * UNITS)
            away_y -= np.int64(dy * UNITS)
        elif dx * cosine[i] + dy * sine[i] < BLIND:
            continue
        elif d < along:
            to_x += np.int64(cosine[j] * UNITS)
            to_y += np.int64(sine[j] * UNITS)
        elif d < far:
            to_x += np.int64(dx * UNITS)
            to_y += np.int64(dy * UNITS)
    u = float(away_x if crowded else to_x)
    v = float(away_y if crowded else to_y)
    # Units and numbers of neighbours cancel out: only the direction is wanted.
    size = math.sqrt(u * u + v * v)
    if size > 0.0:
        return u / size, v / size
    return cosine[i], sine[i]


@borrowing
def away_from_wall(x, y, walls_from, kind, walls):
    """By how much the wall pushes an agent inwards: the more, the nearer it is; none far away."""
    bx, by, inside = wall_point(x, y, kind, walls)
    nx = x - bx
    ny = y - by
    gap = math.sqrt(nx * nx + ny * ny)
    if gap > 0.0 and (not inside or gap < walls_from[0]):
        push = walls_from[1]
        if inside:
            push *= 1.0 - gap / walls_from[0]
        else:
            push = -push
        return push * nx / gap, push * ny / gap
    return 0.0, 0.0
