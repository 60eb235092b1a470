"""Swarms calibrated from recordings: what an agent sees, and how it moves between walls.

Arrays are (runs, agents) and (runs, agents, 2). An arena is its `kind` and the array `walls`
(n, 2): nothing for open space, centre and (radius, 0) of a circle, the vertices of a polygon, or
corner and sides of a periodic box. In recorded frames an agent that is absent has NaN for its place
or heading: it sees nothing and is not seen.

Sums over neighbours are of 64-bit fixed-point numbers, so that the order of the agents cannot
matter; among equally near neighbours the coordinates decide, not their numbers.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.space import neighbours

OPEN, CIRCLE, POLYGON, PERIODIC = 0, 1, 2, neighbours.PERIODIC  # kinds of arenas
BOUNCES = 4  # reflections in one step; in a corner there may be two


@kernel
def wall_point(x, y, kind, walls):
    """The nearest point of the wall, and whether the place is inside."""
    if kind == CIRCLE:
        dx = x - walls[0, 0]
        dy = y - walls[0, 1]
        distance = math.sqrt(dx * dx + dy * dy)
        radius = walls[1, 0]
        if distance == 0.0:
            return walls[0, 0] + radius, walls[0, 1], True
        share = radius / distance
        return walls[0, 0] + dx * share, walls[0, 1] + dy * share, distance <= radius
    best = np.inf
    bx = x
    by = y
    inside = False
    count = walls.shape[0]
    for i in range(count):
        ax = walls[i, 0]
        ay = walls[i, 1]
        cx = walls[(i + 1) % count, 0]
        cy = walls[(i + 1) % count, 1]
        ex = cx - ax
        ey = cy - ay
        along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)
        along = min(max(along, 0.0), 1.0)
        px = ax + along * ex
        py = ay + along * ey
        gap = (x - px) * (x - px) + (y - py) * (y - py)
        if gap < best:
            best = gap
            bx = px
            by = py
        if (ay > y) != (cy > y) and x < ex * (y - ay) / ey + ax:
            inside = not inside
    return bx, by, inside


@inlined
def look_at_wall(x, y, c, s, kind, walls):
    """The distance to the wall and the angle to its nearest point, from a heading."""
    bx, by, inside = wall_point(x, y, kind, walls)
    u = bx - x
    v = by - y
    distance = math.sqrt(u * u + v * v)
    if not inside:
        u = -u
        v = -v
        distance = 0.0
    return distance, elementary.atan2(v * c - u * s, u * c + v * s)


@inlined
def reflect(x, y, from_x, from_y, c, s, kind, walls):
    """Where a step to (x, y) ends between walls, and its direction then."""
    for _ in range(BOUNCES):
        bx, by, inside = wall_point(x, y, kind, walls)
        if inside:
            break
        nx = x - bx
        ny = y - by
        size = math.sqrt(nx * nx + ny * ny)
        x = bx - nx
        y = by - ny
        outward = (c * nx + s * ny) / size if size > 0.0 else 0.0
        if outward > 0.0:
            c -= 2.0 * outward * nx / size
            s -= 2.0 * outward * ny / size
    bx, by, inside = wall_point(x, y, kind, walls)
    if not inside:
        # A step longer than the arena: it stays where it was.
        x = from_x
        y = from_y
    return x, y, c, s
