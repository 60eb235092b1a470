"""The walls of an arena: the nearest point, how they look from an agent, how steps are reflected.

An arena is its `kind` (see `space.kinds`) and the array `walls` (n, 2) of float64: nothing for open
space, centre and (radius, 0) of a circle, the vertices of a polygon, or corner and sides of a
periodic box. One array for all kinds, so that a kernel has one signature. Few agents are near a
wall and polygons have few corners: these functions are plain scalar code.

Twins in the tests: `oracles.nearest_wall` and `oracles.bounced`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.space.kinds import CIRCLE

BOUNCES = 4  # reflections in one step; in a corner there may be two


@kernel
def wall_point(x, y, kind, walls):
    """The nearest point of the wall, and whether the place is inside."""
    if kind == CIRCLE:
        dx = x - walls[0, 0]
        dy = y - walls[0, 1]
        distance = math.sqrt(dx * dx + dy * dy)
        radius = walls[1, 0]
        # In the centre all points of the circle are equally near; any one will do.
        if distance == 0.0:
            return walls[0, 0] + radius, walls[0, 1], True
        share = radius / distance
        return walls[0, 0] + dx * share, walls[0, 1] + dy * share, distance <= radius
    # A polygon: all its edges, the last of which leads back to the first vertex. Squares of gaps
    # are compared, which needs no root.
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
        # Beyond its ends the nearest point of an edge is a corner.
        along = min(max(along, 0.0), 1.0)
        px = ax + along * ex
        py = ay + along * ey
        gap = (x - px) * (x - px) + (y - py) * (y - py)
        if gap < best:
            best = gap
            bx = px
            by = py
        # A ray to the right crosses this edge: an odd number of crossings is inside.
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
    # Outside, the wall is behind the agent's back: it is seen where the arena is not.
    if not inside:
        u = -u
        v = -v
        distance = 0.0
    return distance, elementary.atan2(v * c - u * s, u * c + v * s)


@inlined
def reflect(x, y, from_x, from_y, c, s, kind, walls):
    """Where a step to (x, y) ends between walls, and its direction then."""
    # Mirrored at the nearest point of the wall, which in a corner may lead over another wall.
    for _ in range(BOUNCES):
        bx, by, inside = wall_point(x, y, kind, walls)
        if inside:
            return x, y, c, s
        nx = x - bx
        ny = y - by
        size = math.sqrt(nx * nx + ny * ny)
        # The mirror image: as far inside as the step went outside.
        x = bx - nx
        y = by - ny
        # A heading that leads inwards already is left as it is.
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
