"""How the agents of a calibrated swarm turn and move between walls.

Agents turn first, then move along the new heading: other than in the Vicsek model, a recorded turn
is the angle between two displacements. Places are (runs, agents, 2), everything else (runs,
agents), float64. Noise and speeds are tables over even places of a normal score, of which values in
between are interpolated: the distribution that was recorded, drawn with normal numbers.

Twins in the tests: `oracles.bounced` and `np.interp`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.recorded.arenas import reflect
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.space.kinds import OPEN, PERIODIC
from swarmdp.support.arrays import Floats


def turn_and_move(
    position: Floats, heading: Floats, turn: Floats, step: Floats, kind: int, walls: Floats
) -> tuple[Floats, Floats, Floats]:
    """Turn, then move by `step` along the new heading; walls reflect, a periodic box wraps.

    Returns the places, the headings, and by how much each heading has changed in all.
    """
    place, direction, turned = np.empty_like(position), np.empty_like(heading), np.empty_like(turn)
    turn_and_move_runs(position, heading, turn, step, kind, walls, place, direction, turned)
    return place, direction, turned


@kernel
def turn_and_move_runs(position, heading, turn, step, kind, walls, place, direction, turned):
    """`turn_and_move` for every run in turn."""
    for r in range(heading.shape[0]):
        x = position[r, :, 0].copy()
        y = position[r, :, 1].copy()
        # Worked on in place, so that the state that was given stays as it is.
        direction[r] = heading[r]
        turned[r] = turn[r]
        turn_and_move_agents(x, y, direction[r], turned[r], step[r], kind, walls)
        for i in range(np.uint64(x.shape[0])):
            place[r, i, 0] = x[i]
            place[r, i, 1] = y[i]


@kernel
def turn_and_move_agents(x, y, heading, turn, step, kind, walls):
    """`turn_and_move` for one run, in place; `turn` becomes how far each agent turned in all."""
    agents = np.uint64(heading.shape[0])
    if kind != OPEN and kind != PERIODIC:
        for i in range(agents):
            # A reflected heading has to be found from its direction again.
            s, c = elementary.sincos(wrap_angle(heading[i] + turn[i]))
            x[i], y[i], c, s = reflect(
                x[i] + step[i] * c, y[i] + step[i] * s, x[i], y[i], c, s, kind, walls
            )
            angle = elementary.atan2(s, c)
            # What a recording would show as the turn: the agent's own and the wall's together.
            turn[i] = wrap_angle(angle - heading[i])
            heading[i] = angle
        return
    # Without walls nothing branches: loops over all agents, one function each, vectorise.
    for i in range(agents):
        angle = wrap_angle(heading[i] + turn[i])
        turn[i] = wrap_angle(angle - heading[i])
        heading[i] = angle
    for i in range(agents):
        s, c = elementary.sincos(heading[i])
        x[i] += step[i] * c
        y[i] += step[i] * s
    if kind == PERIODIC:
        left, low, width, height = walls[0, 0], walls[0, 1], walls[1, 0], walls[1, 1]
        for i in range(agents):
            # A division here, other than in the Vicsek model: recorded boxes are rarely of side
            # one.
            x[i] -= width * math.floor((x[i] - left) / width)
            y[i] -= height * math.floor((y[i] - low) / height)


@inlined
def wrap_angle(angle):
    """The angle in [-pi, pi)."""
    return angle - TWO_PI * math.floor((angle + math.pi) / TWO_PI)


def interpolate(scores: Floats, table: Floats, largest: float) -> Floats:
    """The values of a table over even places from -largest to largest, at these scores."""
    out = np.empty_like(scores)
    interpolate_flat(scores.ravel(), table, largest, out.ravel())
    return out


@kernel
def interpolate_flat(scores, table, largest, out):
    """Linearly between the entries of a table, its ends beyond them."""
    for i in range(scores.size):
        out[i] = table_value(scores[i], table, 0, table.size, largest)


@inlined
def table_value(score, tables, first, entries, largest):
    """The value at a score in the table that begins at the entry `first`."""
    last = entries - 1
    place = (score + largest) / (2.0 * largest) * last
    # Beyond the ends the last entries hold; the last place itself lies in the interval before it.
    place = min(max(place, 0.0), float(last))
    below = min(int(place), last - 1)
    share = place - below
    at = np.uint64(first + below)
    return tables[at] * (1.0 - share) + tables[at + np.uint64(1)] * share
