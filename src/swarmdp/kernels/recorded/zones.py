"""Couzin's zones: where an agent wants to go for the others around it and for the wall.

Arrays and arenas are as in `recorded.arenas`. Sums over neighbours are of 64-bit fixed-point
numbers, so that the order of the agents cannot matter.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.recorded.arenas import OPEN, PERIODIC, wall_point
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space.neighbours import UNITS, shortest_gap
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
    for r in range(runs):
        close = zones[r, 0]
        along = zones[r, 1]
        far = zones[r, 2]
        for i in range(agents):
            sine[i], cosine[i] = elementary.sincos(heading[r, i])
        for i in range(agents):
            x = position[r, i, 0]
            y = position[r, i, 1]
            away_x = np.int64(0)
            away_y = np.int64(0)
            to_x = np.int64(0)
            to_y = np.int64(0)
            crowded = False
            for j in range(agents):
                dx = position[r, j, 0] - x
                dy = position[r, j, 1] - y
                if kind == PERIODIC:
                    dx = shortest_gap(dx, walls[1, 0])
                    dy = shortest_gap(dy, walls[1, 1])
                d = math.sqrt(dx * dx + dy * dy)
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
            size = math.sqrt(u * u + v * v)
            if size > 0.0:
                u /= size
                v /= size
            else:
                u = cosine[i]
                v = sine[i]
            if kind != OPEN and kind != PERIODIC and walls_from[r, 0] > 0.0:
                bx, by, inside = wall_point(x, y, kind, walls)
                nx = x - bx
                ny = y - by
                gap = math.sqrt(nx * nx + ny * ny)
                if gap > 0.0 and (not inside or gap < walls_from[r, 0]):
                    push = walls_from[r, 1]
                    if inside:
                        push *= 1.0 - gap / walls_from[r, 0]
                    else:
                        push = -push
                    u += push * nx / gap
                    v += push * ny / gap
            c = cosine[i]
            s = sine[i]
            out[r, i] = elementary.atan2(v * c - u * s, u * c + v * s)
