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

from swarmdp.kernels import elementary, neighbours
from swarmdp.kernels.compile import inlined, kernel

Floats = NDArray[np.float64]

OPEN, CIRCLE, POLYGON, PERIODIC = 0, 1, 2, neighbours.PERIODIC  # kinds of arenas
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
    for i in range(scores.size):
        out[i] = between(scores[i], table, 0, table.size, largest)


@inlined
def between(score, tables, first, entries, largest):
    """The value at a score in the table that begins at the entry `first`."""
    last = entries - 1
    place = (score + largest) / (2.0 * largest) * last
    place = min(max(place, 0.0), float(last))
    below = min(int(place), last - 1)
    share = place - below
    at = np.uint64(first + below)
    return tables[at] * (1.0 - share) + tables[at + np.uint64(1)] * share


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


@kernel
def sight_runs(position, heading, nearest, radius, kind, walls, out):
    """`sight` for every run in turn."""
    runs, agents = heading.shape
    now = neighbours.new_sorted(agents)
    sums = neighbours.new_sums(agents)
    buffers = neighbours.new_buffers(agents)
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
        grid, inside = neighbours.sort(x, y, angle, ids, present, nearest, radius, kind, walls, now)
        neighbours.add_up(nearest, radius, kind, walls, grid, inside, present, now, sums, buffers)
        look(present, now, sums)
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
def look(agents, now, sums):
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
def reflected(x, y, from_x, from_y, c, s, kind, walls):
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


@kernel
def advance_runs(position, heading, turn, step, kind, walls, place, direction, turned):
    """`advance` for every run in turn."""
    for r in range(heading.shape[0]):
        x = position[r, :, 0].copy()
        y = position[r, :, 1].copy()
        direction[r] = heading[r]
        turned[r] = turn[r]
        advance_agents(x, y, direction[r], turned[r], step[r], kind, walls)
        for i in range(np.uint64(x.shape[0])):
            place[r, i, 0] = x[i]
            place[r, i, 1] = y[i]


@kernel
def advance_agents(x, y, heading, turn, step, kind, walls):
    """`advance` for the agents of one run, in place; `turn` becomes how far each turned in all."""
    agents = np.uint64(heading.shape[0])
    if kind != OPEN and kind != PERIODIC:
        for i in range(agents):
            s, c = elementary.sincos(wrapped(heading[i] + turn[i]))
            x[i], y[i], c, s = reflected(
                x[i] + step[i] * c, y[i] + step[i] * s, x[i], y[i], c, s, kind, walls
            )
            angle = elementary.atan2(s, c)
            turn[i] = wrapped(angle - heading[i])
            heading[i] = angle
        return
    for i in range(agents):
        angle = wrapped(heading[i] + turn[i])
        turn[i] = wrapped(angle - heading[i])
        heading[i] = angle
    for i in range(agents):
        s, c = elementary.sincos(heading[i])
        x[i] += step[i] * c
        y[i] += step[i] * s
    if kind == PERIODIC:
        left, low, width, height = walls[0, 0], walls[0, 1], walls[1, 0], walls[1, 1]
        for i in range(agents):
            x[i] -= width * math.floor((x[i] - left) / width)
            y[i] -= height * math.floor((y[i] - low) / height)
