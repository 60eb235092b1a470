"""How the agents of a Vicsek swarm move and turn: the transition T.

An agent moves along the heading that it has, then turns by its action and by noise. Headings are in
[-pi, pi), places in [0, box) if the box is periodic. `fly_and_turn` makes a new state of one that
is given, (runs, agents, 2) and (runs, agents); `move_particles` moves `Particles` in place and
draws the noise itself. Both do the same arithmetic in the same order, and give the same bits.

Twin in the tests: `oracles.advance`.
"""

import math

import numpy as np

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.numerics.streams import MASK, philox, standard_normal
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.kernels.vicsek.layout import BLOCK_AGENTS
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats


@inlined
def wrap_into(value, low, period):
    """The value shifted by whole periods into [low, low + period).

    Multiplied by 1 / period: a division takes four times as long, and the two comparisons are
    needed anyway, since rounding may leave a value at either end.
    """
    wrapped = value - period * math.floor((value - low) * (1.0 / period))
    wrapped = wrapped if wrapped < low + period else low
    return wrapped if wrapped >= low else low


def fly_and_turn(
    position: Floats, heading: Floats, turn: Floats, noise: Floats, speed: float, box: float
) -> tuple[Floats, Floats]:
    """Move with the heading before the turn, then turn: the transition T."""
    new_position, new_heading = np.empty(position.shape), np.empty(heading.shape)
    # Runs do not matter here: one long row of agents, however many runs they are of.
    agents = heading.size
    flat = (
        position.reshape(agents, 2),
        heading.reshape(agents),
        turn.reshape(agents),
        noise.reshape(agents),
        speed,
        box,
        new_position.reshape(agents, 2),
        new_heading.reshape(agents),
    )
    parallel.divide(
        agents,
        parallel.shares(agents),
        lambda _, begin, end: fly_and_turn_agents(begin, end, *flat),
    )
    return new_position, new_heading


@kernel
def fly_and_turn_agents(
    begin, end, position, heading, turn, noise, speed, box, new_position, new_heading
):
    """The transition of agents begin..end of the flattened batch."""
    step = np.empty((BLOCK_AGENTS, 2))
    for first in range(np.uint64(begin), np.uint64(end), np.uint64(BLOCK_AGENTS)):
        size = min(np.uint64(BLOCK_AGENTS), np.uint64(end) - first)
        last = first + size
        old, turned, noisy = heading[first:last], turn[first:last], noise[first:last]
        new = new_heading[first:last]
        # A loop for each function, over a block that stays in the cache: each one vectorises.
        for i in range(size):
            sine, cosine = elementary.sincos(old[i])
            step[i, 0] = speed * cosine
            step[i, 1] = speed * sine
        for i in range(size):
            new[i] = wrap_into(old[i] + turned[i] + noisy[i], -math.pi, TWO_PI)
        # Places as they lie in memory, x and y in turn: both are wrapped the same way.
        here = position[first:last].ravel()
        there = new_position[first:last].ravel()
        steps = step.ravel()
        if box > 0.0:
            for i in range(np.uint64(2) * size):
                there[i] = wrap_into(here[i] + steps[i], 0.0, box)
        else:
            for i in range(np.uint64(2) * size):
                there[i] = here[i] + steps[i]


@kernel
def move_particles(low, high, now, turn, model, at, noise):
    """Move the agents low..high, then turn them, in place; turn[i] is that of agent low + i.

    `noise` is memory for as many numbers.
    """
    x, y, heading, cosines, sines, ids = now
    begin, end = np.uint64(low), np.uint64(high)
    k0 = at.seed & np.uint64(MASK)
    k1 = at.seed >> np.uint64(32)
    # Random numbers belong to the agent's number, not to where it is in memory now.
    if model.noise > 0.0:
        for i in range(begin, end):
            w0, w1, w2, w3 = philox(np.uint64(ids[i]), at.run, at.step, at.draw, k0, k1)
            # As `Stream.normal` computes loc + scale * number, zero included.
            noise[i - begin] = 0.0 + model.noise * standard_normal(w0, w1, w2, w3)
    else:
        for i in range(end - begin):
            noise[i] = 0.0
    # The old heading moves an agent, so places come before headings.
    if model.box > 0.0:
        for i in range(begin, end):
            x[i] = wrap_into(x[i] + model.speed * cosines[i], 0.0, model.box)
            y[i] = wrap_into(y[i] + model.speed * sines[i], 0.0, model.box)
    else:
        for i in range(begin, end):
            x[i] += model.speed * cosines[i]
            y[i] += model.speed * sines[i]
    for i in range(begin, end):
        # From left to right as in `fly_and_turn`: sums of floats depend on it.
        angle = heading[i] + turn[i - begin] + noise[i - begin]
        heading[i] = wrap_into(angle, -math.pi, TWO_PI)
    for i in range(begin, end):
        # For the sums of the next step and for its motion.
        sine, cosine = elementary.sincos(heading[i])
        cosines[i] = cosine
        sines[i] = sine
