"""Swarms calibrated from recordings: what an agent sees, and how it moves between walls.

Arrays are (runs, agents) and (runs, agents, 2). An arena is its `kind` and the array `walls`
(n, 2): nothing for open space, centre and (radius, 0) of a circle, the vertices of a polygon, or
corner and sides of a periodic box. In recorded frames an agent that is absent has NaN for its place
or heading: it sees nothing and is not seen.

Sums over neighbours are of 64-bit fixed-point numbers, so that the order of the agents cannot
matter; among equally near neighbours the coordinates decide, not their numbers.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import elementary
from swarmdp.kernels.cells import Grid
from swarmdp.kernels.compile import inlined, kernel

Floats = NDArray[np.float64]

OPEN, CIRCLE, POLYGON, PERIODIC = 0, 1, 2, 3
UNITS = float(1 << 40)  # of a fixed-point one: sums of 2^22 agents fit
NOBODY = 1e12  # distance to the nearest neighbour where there is none
BOUNCES = 4  # reflections in one step; in a corner there may be two
FEW = 64  # agents that are looked through without cells
NEARLY = 1 - 1e-9  # of a distance: what rounding may have moved into another cell is seen
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
def nearer(d, x, y, h, near, place):
    """Whether a neighbour comes before another: by distance, then by its coordinates."""
    if d != near.square[place]:
        return d < near.square[place]
    if x != near.x[place]:
        return x < near.x[place]
    if y != near.y[place]:
        return y < near.y[place]
    return h < near.heading[place]


class Near(NamedTuple):
    """The neighbours of one agent, the nearest first where these are wanted."""

    square: Floats  # of the distance
    x: Floats  # difference of coordinates
    y: Floats
    heading: Floats
    place: NDArray[np.int32]  # in the order of cells


@kernel
def sight_runs(position, heading, nearest, radius, kind, walls, out):
    """`sight` for every run in turn."""
    runs, agents = heading.shape
    room = min(nearest, agents) if nearest > 0 else agents
    most = max(room, 1)
    near = Near(
        np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty(most, np.int32)
    )
    start = np.empty(agents + 2, np.int32)
    cell = np.empty(agents, np.int32)
    order = np.empty(agents, np.int32)
    places = np.empty((3, agents))  # of those who are present, in the order of cells: x, y, heading
    directions = np.empty((2, agents), np.int64)
    for r in range(runs):
        grid = sort_present(position[r], heading[r], kind, walls, start, cell, order, places)
        count = start[grid.columns * grid.rows]
        for p in range(count):
            s, c = elementary.sincos(places[2, p])
            directions[0, p] = np.int64(c * UNITS)
            directions[1, p] = np.int64(s * UNITS)
        for i in range(agents):
            if cell[i] < 0:
                out[r, i, :] = np.nan
        for p in range(count):
            found, closest = find_neighbours(
                p, nearest, room, radius, kind, walls, grid, start, places, near
            )
            i = order[p]
            look(p, found, closest, kind, walls, places, directions, near, out[r, i])


@kernel
def sort_present(position, heading, kind, walls, start, cell, order, places):
    """Put the agents that are present into the order of their cells, about two in each.

    Returns the cells' grid; the cell of those who are absent is -1. In a periodic box the grid is
    the box, otherwise it covers all who are present.
    """
    agents = heading.shape[0]
    count = 0
    left = low = np.inf
    right = high = -np.inf
    for i in range(agents):
        x = position[i, 0]
        y = position[i, 1]
        here = not (math.isnan(x) or math.isnan(y) or math.isnan(heading[i]))
        cell[i] = 0 if here else -1
        if here:
            count += 1
            left = min(left, x)
            right = max(right, x)
            low = min(low, y)
            high = max(high, y)
    if kind == PERIODIC:
        left = walls[0, 0]
        low = walls[0, 1]
        right = left + walls[1, 0]
        high = low + walls[1, 1]
    columns, rows = columns_and_rows(right - left, high - low, count)
    per_x = columns / (right - left) if columns > 1 else 0.0
    per_y = rows / (high - low) if rows > 1 else 0.0
    for k in range(columns * rows + 1):
        start[k] = 0
    for i in range(agents):
        if cell[i] < 0:
            continue
        x = position[i, 0] - left
        y = position[i, 1] - low
        if kind == PERIODIC:
            x -= walls[1, 0] * math.floor(x / walls[1, 0])
            y -= walls[1, 1] * math.floor(y / walls[1, 1])
        column = min(max(int(x * per_x), 0), columns - 1)
        row = min(max(int(y * per_y), 0), rows - 1)
        cell[i] = row * columns + column
        start[cell[i] + 1] += 1
    for k in range(columns * rows):
        start[k + 1] += start[k]
    # Filling in moves the starts by a cell: from the last agent on, so that it can be undone.
    for i in range(agents - 1, -1, -1):
        if cell[i] >= 0:
            start[cell[i] + 1] -= 1
            p = start[cell[i] + 1]
            order[p] = i
            places[0, p] = position[i, 0]
            places[1, p] = position[i, 1]
            places[2, p] = heading[i]
    # Now start[k + 1] is where cell k begins.
    for k in range(columns * rows):
        start[k] = start[k + 1]
    start[columns * rows] = count
    return Grid(columns, rows, left, low, per_x, per_y)


@kernel
def columns_and_rows(width, height, agents):
    """How many cells there are each way, about square and half as many as agents."""
    if agents < FEW:
        return 1, 1
    if not (width > 0.0 and height > 0.0):
        longest = max(1, agents // 2)
        return (longest if width > 0.0 else 1), (longest if height > 0.0 and width <= 0.0 else 1)
    side = math.sqrt(width) * math.sqrt(height) * math.sqrt(2.0 / agents)
    columns = int(min(max(math.floor(width / side), 1.0), float(agents // 2)))
    rows = int(min(max(math.floor(height / side), 1.0), float(agents // 2 // columns)))
    return columns, max(rows, 1)


@inlined
def keep(place, d, dx, dy, heading, q, near):
    """Put a neighbour into its place."""
    near.square[place] = d
    near.x[place] = dx
    near.y[place] = dy
    near.heading[place] = heading
    near.place[place] = q


@inlined
def consider(begin, end, p, nearest, room, radius, kind, walls, places, near, found, closest):
    """Take those of the agents begin..end that are neighbours of p; returns found and closest."""
    x = places[0, p]
    y = places[1, p]
    square = radius * radius
    for q in range(begin, end):
        dx = places[0, q] - x
        dy = places[1, q] - y
        if kind == PERIODIC:
            dx = shortest(dx, walls[1, 0])
            dy = shortest(dy, walls[1, 1])
        d = dx * dx + dy * dy
        if p == q:
            continue
        closest = min(closest, d)
        if nearest == 0:
            if d <= square:
                keep(found, d, dx, dy, places[2, q], q, near)
                found += 1
            continue
        if found < room:
            place = found
            found += 1
        elif d <= near.square[room - 1] and nearer(d, dx, dy, places[2, q], near, room - 1):
            place = room - 1
        else:
            continue
        while place > 0 and nearer(d, dx, dy, places[2, q], near, place - 1):
            before = place - 1
            keep(
                place,
                near.square[before],
                near.x[before],
                near.y[before],
                near.heading[before],
                near.place[before],
                near,
            )
            place = before
        keep(place, d, dx, dy, places[2, q], q, near)
    return found, closest


@kernel
def find_neighbours(p, nearest, room, radius, kind, walls, grid, start, places, near):
    """The neighbours of the agent in place p, how many they are, and the least squared distance.

    Cells are searched ring by ring around its own, until no agent in a further ring can count.
    """
    x = places[0, p]
    y = places[1, p]
    columns, rows = grid.columns, grid.rows
    own_x = x - grid.x
    own_y = y - grid.y
    if kind == PERIODIC:
        own_x -= walls[1, 0] * math.floor(own_x / walls[1, 0])
        own_y -= walls[1, 1] * math.floor(own_y / walls[1, 1])
    column = min(max(int(own_x * grid.per_x), 0), columns - 1)
    row = min(max(int(own_y * grid.per_y), 0), rows - 1)
    per_length = max(grid.per_x, grid.per_y)
    found = 0
    closest = np.inf
    count = start[columns * rows]
    last = min(columns, rows) // 2 - 1 if kind == PERIODIC else max(columns, rows)
    for ring in range(last + 1):
        for b in range(-ring, ring + 1):
            # Whole sides of the ring below and above, its two ends in the rows between.
            pace = 1 if abs(b) == ring else 2 * ring
            for a in range(-ring, ring + 1, max(pace, 1)):
                there = row + b
                beside = column + a
                if kind == PERIODIC:
                    there = there + rows if there < 0 else there
                    there = there - rows if there >= rows else there
                    beside = beside + columns if beside < 0 else beside
                    beside = beside - columns if beside >= columns else beside
                elif there < 0 or there >= rows or beside < 0 or beside >= columns:
                    continue
                k = there * columns + beside
                found, closest = consider(
                    start[k],
                    start[k + 1],
                    p,
                    nearest,
                    room,
                    radius,
                    kind,
                    walls,
                    places,
                    near,
                    found,
                    closest,
                )
        if per_length == 0.0:
            return found, closest
        sure = ring / per_length * NEARLY  # within it all have been seen
        if closest < sure * sure:
            if nearest == 0 and radius < sure:
                return found, closest
            if 0 < nearest <= found and near.square[room - 1] < sure * sure:
                return found, closest
    if kind != PERIODIC:
        return found, closest
    # Around a periodic box the rings would meet themselves.
    return consider(0, count, p, nearest, room, radius, kind, walls, places, near, 0, np.inf)


@kernel
def look(p, found, closest, kind, walls, places, directions, near, out):
    """What the agent in place p sees of its neighbours and of the wall."""
    x = places[0, p]
    y = places[1, p]
    ahead = np.int64(0)
    left = np.int64(0)
    there_x = np.int64(0)
    there_y = np.int64(0)
    for j in range(found):
        ahead += directions[0, near.place[j]]
        left += directions[1, near.place[j]]
        d = math.sqrt(near.square[j])
        if d > 0.0:
            there_x += np.int64(near.x[j] / d * UNITS)
            there_y += np.int64(near.y[j] / d * UNITS)
    s, c = elementary.sincos(places[2, p])
    u = float(ahead)
    v = float(left)
    out[0] = elementary.atan2(v * c - u * s, u * c + v * s)
    u = float(there_x)
    v = float(there_y)
    out[1] = elementary.atan2(v * c - u * s, u * c + v * s)
    out[2] = math.sqrt(closest) if closest < np.inf else NOBODY
    out[3] = np.inf
    out[4] = 0.0
    if kind != OPEN and kind != PERIODIC:
        bx, by, inside = wall_point(x, y, kind, walls)
        u = bx - x
        v = by - y
        distance = math.sqrt(u * u + v * v)
        if not inside:
            u = -u
            v = -v
            distance = 0.0
        out[3] = distance
        out[4] = elementary.atan2(v * c - u * s, u * c + v * s)


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
