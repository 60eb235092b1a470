"""Whole steps of swarms calibrated from recordings: see, choose, turn and move, in one kernel.

A swarm moves with the same bits as by `sight`, classes, a table of turns, two normal numbers for
each agent, `interpolate` and `turn_and_move`, which is how the tests check it. Arrays are one for
each quantity, (runs, agents) of float64 in the order of the agents; neighbours are looked for in a
copy in the order of cells (`space.layout`), made again in every step. What agents observe is
(components, agents): a loop over the agents for each component, which vectorises.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.numerics.streams import MASK, philox, standard_normal
from swarmdp.kernels.recorded.arenas import look_at_wall
from swarmdp.kernels.recorded.moving import table_value, turn_and_move_agents
from swarmdp.kernels.recorded.seeing import look_around
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.space.kinds import OPEN, PERIODIC
from swarmdp.kernels.space.layout import (
    new_agents_by_cell,
    new_candidate_buffers,
    new_neighbour_sums,
)
from swarmdp.support.arrays import Floats, Ints

MISALIGNMENT, BEARING, SPACING, WALL, PREVIOUS_TURN = range(5)  # components of observations


class CalibratedAgents(NamedTuple):
    """The states of all agents, arrays (runs, agents), or (agents,) for one run."""

    x: Floats
    y: Floats
    heading: Floats
    turn: Floats
    noise: Floats
    pace: Floats


class CalibratedModel(NamedTuple):
    """How agents move."""

    kind: int  # of the arena
    walls: Floats
    noise: Floats  # tables, one after another: noise by its normal score, for each size of a turn
    sizes: Floats  # edges of the sizes of the turn before
    noise_memory: float
    fresh_noise: float
    speed: Floats  # (entries,): by its normal score
    speed_memory: float
    fresh_speed: float
    largest: float  # score of a table's last entry
    dt: float


class CalibratedView(NamedTuple):
    """What agents see, and in which classes."""

    nearest: int
    radius: float
    component: Ints  # what is seen, one of the five above
    size: Ints  # number of classes of each component
    even: NDArray[np.bool_]  # whether they are equal intervals of the circle
    edges: Floats  # (components, most edges): inner edges, if they are not
    wall_distance: float  # from which it is seen
    ahead: float  # angle to a wall that is ahead, at most
    away: float  # angle to a wall that is seen, at most


class KeptFrames(NamedTuple):
    """What is to be kept of each moment: arrays with the axes (runs, times), or empty ones."""

    position: Floats  # (runs, steps + 1, agents, 2)
    heading: Floats  # (runs, steps + 1, agents)
    turn: Floats
    noise: Floats
    pace: Floats
    observations: Floats  # (runs, steps + 1, agents, components)
    actions: Floats  # (runs, steps, agents)
    counts: Ints  # (runs, times of this call, classes)


class StepMemory(NamedTuple):
    """What a step needs on its way, of one run."""

    ids: NDArray[np.int32]  # 0, 1, 2, ...
    observed: Floats  # (components, agents)
    group: NDArray[np.int32]  # class of what is observed
    turn: Floats  # by which agents turn
    step: Floats  # by which they move


@dataclass(frozen=True, eq=False)
class CalibratedSwarms:
    """Runs of a swarm that take whole steps."""

    agents: CalibratedAgents
    model: CalibratedModel
    view: CalibratedView
    steps: int
    seed: int
    numbers: Ints  # (runs,)
    draw: int
    turns: Floats  # (replicas, classes)
    rows: Ints  # (runs,): which of them each run follows

    def advance(self, first: int, last: int, kept: KeptFrames) -> None:
        """Keep the moments first..last - 1 and take the step after each, but none at the end."""
        take_calibrated_steps(
            self.agents,
            self.model,
            self.view,
            np.uint64(self.seed),
            np.uint64(self.draw),
            self.numbers,
            first,
            last,
            self.steps,
            self.turns,
            self.rows,
            kept,
        )


@kernel
def take_calibrated_steps(
    agents, model, view, seed, draw, numbers, first, last, steps, turns, rows, kept
):
    """Keep the moments first..last - 1 of all runs and take the step after each, none at the end.

    Agents of run r turn by turns[rows[r], k] if they observe the class k.
    """
    runs, size = agents.x.shape
    ordered = new_agents_by_cell(size)
    sums = new_neighbour_sums(size)
    buffers = new_candidate_buffers(size)
    # All memory is asked for once, for all runs and steps.
    work = StepMemory(
        np.arange(size).astype(np.int32),
        np.empty((view.component.shape[0], size)),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
    )
    for r in range(runs):
        # One run after the other, all its steps: it stays in the cache.
        now = CalibratedAgents(
            agents.x[r],
            agents.y[r],
            agents.heading[r],
            agents.turn[r],
            agents.noise[r],
            agents.pace[r],
        )
        values = turns[rows[r]]
        for time in range(first, last):
            keep_frame(now, r, time, kept)
            moving = time < steps
            # After the last step agents look around only if that is recorded.
            if not moving and kept.observations.size == 0 and kept.counts.size == 0:
                continue
            look_around(
                now.x,
                now.y,
                now.heading,
                work.ids,
                size,
                view.nearest,
                view.radius,
                model.kind,
                model.walls,
                ordered,
                sums,
                buffers,
            )
            observe_components(now, model, view, ordered, sums, work)
            classify_observations(view, work)
            act_by_class(values, moving, r, time, time - first, kept, work)
            if moving:
                move_calibrated(
                    now, model, seed, np.uint64(numbers[r]), np.uint64(time), draw, work
                )


@kernel
def keep_frame(now, r, time, kept):
    """Keep the state of a moment, if it is wanted."""
    if kept.heading.size > 0:
        # States have places as pairs, kernels a row for each coordinate: this is where they meet.
        position = kept.position[r, time]
        for i in range(np.uint64(now.x.shape[0])):
            position[i, 0] = now.x[i]
            position[i, 1] = now.y[i]
        kept.heading[r, time] = now.heading
        kept.turn[r, time] = now.turn
        kept.noise[r, time] = now.noise
        kept.pace[r, time] = now.pace


@kernel
def observe_components(now, model, view, ordered, sums, work):
    """What the agents observe, in their own order, from what is seen in the order of cells."""
    size = np.uint64(now.x.shape[0])
    for k in range(view.component.shape[0]):
        observed = work.observed[k]
        component = view.component[k]
        if component == PREVIOUS_TURN:
            for i in range(size):
                observed[i] = now.turn[i]
        elif component == WALL:
            observe_wall(model, view, ordered, observed)
        else:
            # `see_neighbours` has left what is seen in these three arrays.
            seen = sums.closest
            if component == MISALIGNMENT:
                seen = sums.u
            elif component == BEARING:
                seen = sums.x
            for p in range(size):
                observed[np.uint64(np.uint32(ordered.id[p]))] = seen[p]


@kernel
def observe_wall(model, view, ordered, observed):
    """Where the wall is: 0 not seen, 1 on the left, 2 ahead and left; negative on the right."""
    for p in range(np.uint64(observed.shape[0])):
        # Open space and a periodic box have no wall: infinitely far, hence not seen.
        distance = np.inf
        angle = 0.0
        if model.kind != OPEN and model.kind != PERIODIC:
            c, s = ordered.cosine[p], ordered.sine[p]
            distance, angle = look_at_wall(
                ordered.x[p], ordered.y[p], c, s, model.kind, model.walls
            )
        away = abs(angle)
        # Signed classes: a mirror changes the sign, as it does for angles.
        code = 2.0 if away < view.ahead else 1.0
        code = code if angle >= 0.0 else -code
        hidden = distance > view.wall_distance or away > view.away
        observed[np.uint64(np.uint32(ordered.id[p]))] = 0.0 if hidden else code


@kernel
def classify_observations(view, work):
    """The classes of what is observed: all combinations of those of the components."""
    size = np.uint64(work.group.shape[0])
    group = work.group
    # Mixed radix: the last component changes fastest, as in `features.Product`.
    for i in range(size):
        group[i] = 0
    for k in range(view.component.shape[0]):
        observed = work.observed[k]
        classes = np.int32(view.size[k])
        if view.even[k]:
            scale = view.size[k] / TWO_PI
            middle = float(view.size[k] // 2)
            bins = float(view.size[k])
            for i in range(size):
                interval = elementary.angle_class(observed[i], scale, middle, bins)
                group[i] = group[i] * classes + interval
            continue
        for i in range(size):
            group[i] *= classes
        # Few edges: comparing with each of them vectorises, searching among them would not.
        for e in range(view.size[k] - 1):
            edge = view.edges[k, e]
            for i in range(size):
                group[i] += np.int32(1) if observed[i] >= edge else np.int32(0)


@kernel
def act_by_class(values, moving, r, time, place, kept, work):
    """Let the agents choose their turns, and keep what is wanted of it."""
    size = np.uint64(work.group.shape[0])
    group, turn = work.group, work.turn
    if kept.observations.size > 0:
        seen = kept.observations[r, time]
        for k in range(work.observed.shape[0]):
            for i in range(size):
                seen[i, k] = work.observed[k, i]
    if kept.counts.size > 0:
        counts = kept.counts[r, place]
        counts[:] = 0
        for i in range(size):
            # One agent at a time: two in the same class must both count.
            counts[np.uint64(np.uint32(group[i]))] += 1
    if moving:
        for i in range(size):
            turn[i] = values[np.uint64(np.uint32(group[i]))]
        if kept.actions.size > 0:
            kept.actions[r, time] = turn


@kernel
def move_calibrated(now, model, seed, run, time, draw, work):
    """Turn the agents by what they chose and by noise, then move them on, in place."""
    size = np.uint64(now.x.shape[0])
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    entries = model.noise.shape[0] // (model.sizes.shape[0] + 1)
    noise, pace, last, turn, step = now.noise, now.pace, now.turn, work.turn, work.step
    # Normal scores that remember: each keeps a share of itself and gets a fresh one.
    for i in range(size):
        w0, w1, w2, w3 = philox(i, run, time, draw, k0, k1)
        # As `Stream.normal` gives it, zero included: a negative zero becomes a positive one.
        fresh = 0.0 + standard_normal(w0, w1, w2, w3)
        noise[i] = model.noise_memory * noise[i] + model.fresh_noise * fresh
    for i in range(size):
        # A draw of its own, so that noise and speed are independent.
        w0, w1, w2, w3 = philox(i, run, time, draw + np.uint64(1), k0, k1)
        fresh = 0.0 + standard_normal(w0, w1, w2, w3)
        pace[i] = model.speed_memory * pace[i] + model.fresh_speed * fresh
    # Tables lie one after another; which one depends on the size of the turn before.
    for i in range(size):
        # Edges are counted, not searched: there are few, and counting has no branch.
        table = 0
        for k in range(model.sizes.shape[0]):
            table += entries if model.sizes[k] < abs(last[i]) else 0
        turn[i] += table_value(noise[i], model.noise, table, entries, model.largest)
    for i in range(size):
        step[i] = (
            table_value(pace[i], model.speed, 0, model.speed.shape[0], model.largest) * model.dt
        )
    for i in range(size):
        # `turn_and_move_agents` makes it how far each turned in all, walls included.
        last[i] = turn[i]
    turn_and_move_agents(now.x, now.y, now.heading, last, step, model.kind, model.walls)
