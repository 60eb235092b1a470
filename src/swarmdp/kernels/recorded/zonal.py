"""Zonal controllers: the mean turn of each agent for others in zones, the wall and its last turn.

Places are (runs, agents, 2), headings and last turns (runs, agents), float64; arenas are as in
`recorded.arenas`. Every run has a controller of its own, a row of `models` whose columns are named
below. Many controllers are tried side by side: all pairs of a run are looked at once, and distances
are compared as squares, so that a root is taken only of those within reach. Sums over neighbours
are of 64-bit fixed-point numbers, so that the order of the agents cannot matter.

Twin in the tests: `oracles.zonal_turns`.
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

# Columns of a controller. A zone of "nearest" neighbours above zero replaces its radius; with
# priority above zero whoever has someone within the radius of repulsion only turns away.
AWAY_RADIUS, ALONG_RADIUS, ALONG_NEAREST, TO_INNER, TO_RADIUS, TO_NEAREST = range(6)
AWAY_GAIN, ALONG_GAIN, TO_GAIN, LAST_TURN, WALL_GAIN, WALL_REACH, PRIORITY = range(6, 13)
ZONAL_NUMBERS = 13

WALL_BEHIND = -0.2  # cosine of the angle to the wall below which an agent leaves it
SAME_SPOT = 1e-18  # squared distance below which there is no direction


def zonal_turns(
    position: Floats, heading: Floats, turn: Floats, models: Floats, kind: int, walls: Floats
) -> Floats:
    """The mean turn of each agent (runs, agents); `models` is (runs, ZONAL_NUMBERS)."""
    out = np.empty_like(heading)
    zonal_turns_of_runs(position, heading, turn, models, kind, walls, out)
    return out


@kernel
def zonal_turns_of_runs(position, heading, turn, models, kind, walls, out):
    """`zonal_turns` for every run in turn."""
    runs, agents = heading.shape
    sine = np.empty(agents)
    cosine = np.empty(agents)
    ahead = np.empty((agents, 2), np.int64)
    # Squared distances up to which others count for alignment and attraction, of each agent.
    limits = np.empty((2, agents))
    nearest = np.empty(agents)
    # Sums of directions along the axes of the arena, and how many there are, of each zone.
    sums = np.empty((agents, 6), np.int64)
    counts = np.empty((agents, 3), np.int64)
    walled = kind != OPEN and kind != PERIODIC
    for r in range(runs):
        model = models[r]
        for i in range(agents):
            # Once for each agent, not once for each pair.
            sine[i], cosine[i] = elementary.sincos(heading[r, i])
            ahead[i, 0] = np.int64(cosine[i] * UNITS)
            ahead[i, 1] = np.int64(sine[i] * UNITS)
            limits[0, i] = model[ALONG_RADIUS] * model[ALONG_RADIUS]
            limits[1, i] = model[TO_RADIUS] * model[TO_RADIUS]
            if model[ALONG_NEAREST] > 0.0:
                limits[0, i] = square_of_nearest(
                    i, position[r], int(model[ALONG_NEAREST]), kind, walls, nearest
                )
            if model[TO_NEAREST] > 0.0:
                limits[1, i] = square_of_nearest(
                    i, position[r], int(model[TO_NEAREST]), kind, walls, nearest
                )
        add_up_zones(position[r], ahead, model, limits, kind, walls, sums, counts)
        for i in range(agents):
            wanted = model[LAST_TURN] * turn[r, i]
            wanted += turn_for_others(sums[i], counts[i], cosine[i], sine[i], model)
            if walled and model[WALL_GAIN] != 0.0 and model[WALL_REACH] > 0.0:
                wanted += model[WALL_GAIN] * turn_for_wall(
                    position[r, i, 0],
                    position[r, i, 1],
                    cosine[i],
                    sine[i],
                    model[WALL_REACH],
                    kind,
                    walls,
                )
            out[r, i] = wanted


@borrowing
def turn_for_wall(x, y, c, s, reach, kind, walls):
    """From 0 at the reach to 1 at the wall, with the sign that leads away from it."""
    bx, by, inside = wall_point(x, y, kind, walls)
    u = bx - x
    v = by - y
    gap = math.sqrt(u * u + v * v)
    near = 1.0 - gap / reach
    # Outside, the wall is where the arena is not.
    if not inside:
        u = -u
        v = -v
        near = 1.0
    if near <= 0.0 or u * c + v * s <= WALL_BEHIND * gap:
        return 0.0
    left = v * c - u * s
    if left > 0.0:
        return -near
    return near if left < 0.0 else 0.0


@borrowing
def add_up_zones(position, ahead, model, limits, kind, walls, sums, counts):
    """The directions that others ask for, added up over each zone of each agent.

    Every pair is looked at once, for both of its agents.
    """
    agents = position.shape[0]
    sums[:] = 0
    counts[:] = 0
    away = model[AWAY_RADIUS] * model[AWAY_RADIUS]
    inner = model[TO_INNER] * model[TO_INNER]
    priority = model[PRIORITY] > 0.0
    farthest = away
    for i in range(agents):
        farthest = max(farthest, limits[0, i], limits[1, i])
    for i in range(agents):
        x = position[i, 0]
        y = position[i, 1]
        for j in range(i + 1, agents):
            dx = position[j, 0] - x
            dy = position[j, 1] - y
            if kind == PERIODIC:
                dx = shortest_gap(dx, walls[1, 0])
                dy = shortest_gap(dy, walls[1, 1])
            gap = dx * dx + dy * dy
            if gap > farthest or gap < SAME_SPOT:
                continue
            scale = UNITS / math.sqrt(gap)
            u = np.int64(dx * scale)
            v = np.int64(dy * scale)
            close = gap <= away
            if close:
                sums[i, 0] -= u
                sums[i, 1] -= v
                counts[i, 0] += 1
                sums[j, 0] += u
                sums[j, 1] += v
                counts[j, 0] += 1
                # Who is too close is only avoided.
                if priority:
                    continue
            if gap <= limits[0, i]:
                sums[i, 2] += ahead[j, 0]
                sums[i, 3] += ahead[j, 1]
                counts[i, 1] += 1
            if gap <= limits[0, j]:
                sums[j, 2] += ahead[i, 0]
                sums[j, 3] += ahead[i, 1]
                counts[j, 1] += 1
            if gap > inner:
                # With priority those that are aligned with are not approached as well.
                if gap <= limits[1, i] and not (priority and gap <= limits[0, i]):
                    sums[i, 4] += u
                    sums[i, 5] += v
                    counts[i, 2] += 1
                if gap <= limits[1, j] and not (priority and gap <= limits[0, j]):
                    sums[j, 4] -= u
                    sums[j, 5] -= v
                    counts[j, 2] += 1


@borrowing
def turn_for_others(sums, counts, c, s, model):
    """The turn that the others ask for: gains times mean directions, or one direction."""
    if model[PRIORITY] > 0.0:
        if counts[0] > 0:
            return model[AWAY_GAIN] * sine_of(sums[0], sums[1], c, s)
        # Alignment and attraction are one direction, with one gain.
        return model[ALONG_GAIN] * sine_of(sums[2] + sums[4], sums[3] + sums[5], c, s)
    wanted = model[AWAY_GAIN] * mean_left(sums[0], sums[1], counts[0], c, s)
    wanted += model[ALONG_GAIN] * mean_left(sums[2], sums[3], counts[1], c, s)
    return wanted + model[TO_GAIN] * mean_left(sums[4], sums[5], counts[2], c, s)


@borrowing
def mean_left(x, y, count, c, s):
    """How far to the left a sum of directions is on average; zero of none."""
    return (float(y) * c - float(x) * s) / UNITS / count if count > 0 else 0.0


@borrowing
def sine_of(x, y, c, s):
    """The sine of the angle of a sum of directions; zero where they cancel out."""
    u = float(x)
    v = float(y)
    size = math.sqrt(u * u + v * v)
    return (v * c - u * s) / size if size > 0.0 else 0.0


@borrowing
def square_of_nearest(i, position, count, kind, walls, nearest):
    """The squared distance of the count-th nearest other; infinite if there are fewer.

    The smallest so far are kept in order: numbers of neighbours are small.
    """
    kept = 0
    for j in range(position.shape[0]):
        dx = position[j, 0] - position[i, 0]
        dy = position[j, 1] - position[i, 1]
        if kind == PERIODIC:
            dx = shortest_gap(dx, walls[1, 0])
            dy = shortest_gap(dy, walls[1, 1])
        gap = dx * dx + dy * dy
        if j == i or (kept == count and gap >= nearest[kept - 1]):
            continue
        place = kept if kept < count else count - 1
        while place > 0 and nearest[place - 1] > gap:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = gap
        if kept < count:
            kept += 1
    return nearest[count - 1] if kept == count else np.inf
