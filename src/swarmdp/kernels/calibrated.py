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
from numpy.typing import NDArray

from swarmdp.kernels import elementary
from swarmdp.kernels.compile import inlined, kernel

Floats = NDArray[np.float64]

OPEN, CIRCLE, POLYGON, PERIODIC = 0, 1, 2, 3
UNITS = float(1 << 40)  # of a fixed-point one: sums of 2^22 agents fit
NOBODY = 1e12  # distance to the nearest neighbour where there is none
BOUNCES = 4  # reflections in one step; in a corner there may be two
TWO_PI = 2 * math.pi
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


def advance(
    position: Floats, heading: Floats, turn: Floats, step: Floats, kind: int, walls: Floats
) -> tuple[Floats, Floats, Floats]:
    """Turn, then move by `step` along the new heading; walls reflect, a periodic box wraps.

    Returns the places, the headings, and by how much each heading has changed in all.
    """
    place, direction, turned = np.empty_like(position), np.empty_like(heading), np.empty_like(turn)
    advance_runs(position, heading, turn, step, kind, walls, place, direction, turned)
    return place, direction, turned


def interpolated(scores: Floats, table: Floats, largest: float) -> Floats:
    """The values of a table over even places from -largest to largest, at these scores."""
    out = np.empty_like(scores)
    interpolate(scores.ravel(), table, largest, out.ravel())
    return out


@kernel
def interpolate(scores, table, largest, out):
    """Linearly between the entries of a table, its ends beyond them."""
    last = table.size - 1
    for i in range(scores.size):
        place = (scores[i] + largest) / (2.0 * largest) * last
        place = min(max(place, 0.0), float(last))
        below = min(int(place), last - 1)
        share = place - below
        out[i] = table[below] * (1.0 - share) + table[below + 1] * share


@inlined
def wrapped(angle):
    """The angle in [-pi, pi)."""
    return angle - TWO_PI * math.floor((angle + math.pi) / TWO_PI)


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
def shortest(gap, side):
    """A difference of coordinates in a periodic box, the shorter way round."""
    return gap - side * math.floor(gap / side + 0.5)


@inlined
def nearer(d, x, y, h, other):
    """Whether one neighbour comes before another: by distance, then by its coordinates."""
    if d != other[0]:
        return d < other[0]
    if x != other[1]:
        return x < other[1]
    if y != other[2]:
        return y < other[2]
    return h < other[3]


@kernel
def sight_runs(position, heading, nearest, radius, kind, walls, out):
    """`sight` for every run in turn."""
    runs, agents = heading.shape
    room = min(nearest, agents) if nearest > 0 else agents
    # Of each neighbour: squared distance, difference of coordinates, heading.
    near = np.empty((max(room, 1), 4))
    angle = np.empty(agents)
    for r in range(runs):
        for i in range(agents):
            angle[i] = heading[r, i]
        for i in range(agents):
            x = position[r, i, 0]
            y = position[r, i, 1]
            own = angle[i]
            if math.isnan(x) or math.isnan(y) or math.isnan(own):
                out[r, i, :] = np.nan
                continue
            found = 0
            closest = np.inf
            for j in range(agents):
                dx = position[r, j, 0] - x
                dy = position[r, j, 1] - y
                if kind == PERIODIC:
                    dx = shortest(dx, walls[1, 0])
                    dy = shortest(dy, walls[1, 1])
                d = dx * dx + dy * dy
                if j == i or math.isnan(d) or math.isnan(angle[j]):
                    continue
                closest = min(closest, d)
                if nearest == 0:
                    if d > radius * radius:
                        continue
                    place = found
                    found += 1
                else:
                    if found < room:
                        place = found
                        found += 1
                    elif nearer(d, dx, dy, angle[j], near[room - 1]):
                        place = room - 1
                    else:
                        continue
                    while place > 0 and nearer(d, dx, dy, angle[j], near[place - 1]):
                        near[place, :] = near[place - 1, :]
                        place -= 1
                near[place, 0] = d
                near[place, 1] = dx
                near[place, 2] = dy
                near[place, 3] = angle[j]
            ahead = np.int64(0)
            left = np.int64(0)
            there_x = np.int64(0)
            there_y = np.int64(0)
            for j in range(found):
                s, c = elementary.sincos(near[j, 3])
                ahead += np.int64(c * UNITS)
                left += np.int64(s * UNITS)
                d = math.sqrt(near[j, 0])
                if d > 0.0:
                    there_x += np.int64(near[j, 1] / d * UNITS)
                    there_y += np.int64(near[j, 2] / d * UNITS)
            s, c = elementary.sincos(own)
            u = float(ahead)
            v = float(left)
            out[r, i, 0] = elementary.atan2(v * c - u * s, u * c + v * s)
            u = float(there_x)
            v = float(there_y)
            out[r, i, 1] = elementary.atan2(v * c - u * s, u * c + v * s)
            out[r, i, 2] = math.sqrt(closest) if closest < np.inf else NOBODY
            out[r, i, 3] = np.inf
            out[r, i, 4] = 0.0
            if kind != OPEN and kind != PERIODIC:
                bx, by, inside = wall_point(x, y, kind, walls)
                u = bx - x
                v = by - y
                distance = math.sqrt(u * u + v * v)
                if not inside:
                    u = -u
                    v = -v
                    distance = 0.0
                out[r, i, 3] = distance
                out[r, i, 4] = elementary.atan2(v * c - u * s, u * c + v * s)


@kernel
def advance_runs(position, heading, turn, step, kind, walls, place, direction, turned):
    """`advance` for every agent in turn."""
    runs, agents = heading.shape
    for r in range(runs):
        for i in range(agents):
            angle = wrapped(heading[r, i] + turn[r, i])
            s, c = elementary.sincos(angle)
            x = position[r, i, 0] + step[r, i] * c
            y = position[r, i, 1] + step[r, i] * s
            if kind == PERIODIC:
                x -= walls[1, 0] * math.floor((x - walls[0, 0]) / walls[1, 0])
                y -= walls[1, 1] * math.floor((y - walls[0, 1]) / walls[1, 1])
            elif kind != OPEN:
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
                    x = position[r, i, 0]
                    y = position[r, i, 1]
                angle = elementary.atan2(s, c)
            place[r, i, 0] = x
            place[r, i, 1] = y
            direction[r, i] = angle
            turned[r, i] = wrapped(angle - heading[r, i])
