"""Vicsek swarms that learn: exploring agents among greedy ones, whole steps in one kernel.

A swarm is kept in the order of its cells between two steps. What it gives, classes and actions, is
in the order of the agents' slots: agent n of run r is in the place slots[r, n], or n where `slots`
is empty.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels import elementary, vicsek
from swarmdp.kernels.compile import kernel
from swarmdp.kernels.streams import MASK, philox, unit_uniform
from swarmdp.kernels.vicsek import BLOCK, LANES, Agents, Floats, Ints, Luck, Model

TWO_PI = 2 * math.pi
_NOWHERE = np.empty((0, 0))


class Chances(NamedTuple):
    """Who explores: the temperature, where chances come from, and places in a fixed order."""

    temperature: float
    draw: np.uint64
    place: Floats  # (runs, agents), or empty where explorers are drawn in every step


class Swarms:
    """Runs of the model whose agents explore or act by a table; see `system.ExploringSwarms`."""

    def __init__(
        self,
        position: Floats,
        heading: Floats,
        agents: Ints,
        model: Model,
        *,
        seed: int,
        numbers: NDArray[np.int64],
        turns: Floats,
        bins: int,
    ) -> None:
        runs, size = heading.shape
        self._model, self._seed, self._numbers = model, np.uint64(seed), numbers
        self._turns, self._bins = turns, bins
        self._ids = np.broadcast_to(agents, heading.shape)
        self._slots = np.empty((0, 0), np.int32)
        if agents.shape[0] > 1 or (agents[0] != np.arange(size)).any():
            self._slots = np.empty((runs, size), np.int32)
            np.put_along_axis(self._slots, self._ids, np.arange(size, dtype=np.int32)[None], axis=1)
        self._agents: Agents = vicsek.new_agents_of_runs(runs, size)
        self._classes = np.empty((runs, size), np.int32)
        begin_runs(
            position, heading, self._ids, self._slots, model, bins, self._agents, self._classes
        )

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: Floats | None,
        time: int,
        draws: tuple[int, int],
    ) -> tuple[Ints, NDArray[np.integer], Ints]:
        """Classes before, actions and classes after; `draws` are for exploring and for noise."""
        before, after = self._classes, np.empty(self._classes.shape, np.int32)
        few = len(self._turns) <= 256
        actions = np.empty(before.shape, np.uint8 if few else np.int32)
        explore_runs(
            *self._agents,
            self._slots,
            *self._model,
            self._seed,
            self._numbers,
            np.uint64(time),
            np.uint64(draws[0]),
            np.uint64(draws[1]),
            temperature,
            _NOWHERE if place is None else place,
            table,
            self._turns,
            self._bins,
            before,
            actions,
            after,
        )
        self._classes = after
        return before, actions, after


@kernel
def begin_runs(position, heading, ids, slots, model, bins, agents, classes):
    """Bring every run into the order of its cells, and find the class that each agent observes."""
    runs, size = heading.shape
    now = vicsek.new_agents(size)
    work = vicsek.new_cells(size, 1)
    buffers = vicsek.new_buffers(min(2 * size, 8192))
    angle = np.empty(size)
    for r in range(runs):
        vicsek.take_over(position[r], heading[r], 0, now)
        for i in range(np.uint64(size)):
            now.id[i] = ids[r, i]
        after = vicsek.run_of(agents, r)
        buffers = observe(now, model, work, buffers, after, angle)
        put_classes(after.id, slots, r, angle, bins, classes[r])


@kernel
def observe(now, model, work, buffers, after, angle):
    """Sort a swarm into the order of its cells, and give its misalignments in that order."""
    grid = vicsek.sort_by_cell(now, model.radius, model.box, work, after)
    needed = vicsek.most_candidates(0, grid.rows, grid, work.start)
    if needed > buffers.x.shape[0] - LANES:
        buffers = vicsek.new_buffers(needed)
    vicsek.misalignment_in_cells(grid, model.radius, model.box, after, work.start, buffers, angle)
    return buffers


@kernel
def put_classes(ids, slots, r, angle, bins, out):
    """The class of each misalignment, in the agents' slots."""
    scale = bins / TWO_PI
    middle = float(bins // 2)
    group = np.empty(BLOCK, np.int32)
    for low in range(np.uint64(0), np.uint64(ids.shape[0]), np.uint64(BLOCK)):
        high = min(low + np.uint64(BLOCK), np.uint64(ids.shape[0]))
        seen = angle[low:high]
        who = ids[low:high]
        for i in range(high - low):
            group[i] = elementary.angle_class(seen[i], scale, middle, float(bins))
        if slots.shape[0] > 0:
            for i in range(high - low):
                out[np.uint64(np.uint32(slots[r, np.uint64(np.uint32(who[i]))]))] = group[i]
        else:
            for i in range(high - low):
                out[np.uint64(np.uint32(who[i]))] = group[i]


@kernel
def explore_runs(
    x,
    y,
    heading,
    cosine,
    sine,
    ids,
    slots,
    radius,
    speed,
    noise_scale,
    box,
    seed,
    numbers,
    time,
    draw,
    noise_draw,
    temperature,
    place,
    table,
    turns,
    bins,
    before,
    actions,
    after,
):
    """Choose, act, move and observe, every run in turn.

    Plain arrays and numbers: a call with named tuples takes as long as moving a hundred agents.
    """
    agents = Agents(x, y, heading, cosine, sine, ids)
    model = Model(radius, speed, noise_scale, box)
    chances = Chances(temperature, draw, place)
    runs, size = before.shape
    now = vicsek.new_agents(size)
    work = vicsek.new_cells(size, 1)
    buffers = vicsek.new_buffers(min(2 * size, 8192))
    angle = np.empty(size)
    turn = np.empty(BLOCK)
    noise = np.empty(BLOCK)
    slot = np.empty(BLOCK, np.int32)
    choice = np.empty(table.shape[1], np.int32)
    for r in range(runs):
        here = vicsek.run_of(agents, r)
        at = Luck(seed, np.uint64(numbers[r]), time, noise_draw)
        own = table[r % table.shape[0]]
        for o in range(np.uint64(choice.shape[0])):
            choice[o] = own[o]
        for low in range(np.uint64(0), np.uint64(size), np.uint64(BLOCK)):
            high = min(low + np.uint64(BLOCK), np.uint64(size))
            who = here.id[low:high]
            if slots.shape[0] > 0:
                for i in range(high - low):
                    slot[i] = slots[r, np.uint64(np.uint32(who[i]))]
            else:
                for i in range(high - low):
                    slot[i] = who[i]
            choose(who, slot, r, at, chances, choice, turns, before[r], actions[r], turn, noise)
            vicsek.move(low, high, here, turn, model, at, noise, now)
        buffers = observe(now, model, work, buffers, here, angle)
        put_classes(here.id, slots, r, angle, bins, after[r])


@kernel
def choose(ids, slot, r, luck, chances, choice, turns, before, actions, turn, chance):
    """The actions of a block of agents, random or greedy, and how they turn by them."""
    k0 = luck.seed & np.uint64(MASK)
    k1 = luck.seed >> np.uint64(32)
    size = np.uint64(ids.shape[0])
    temperature = chances.temperature
    for i in range(size):
        w0, w1, _, _ = philox(np.uint64(ids[i]), luck.run, luck.step, chances.draw, k0, k1)
        chance[i] = unit_uniform(w0, w1)
    if chances.place.size > 0:
        for i in range(size):
            first = chances.place[r, np.uint64(np.uint32(slot[i]))] < temperature
            chance[i] = temperature * chance[i] if first else 1.0
    scale = turns.shape[0] / temperature if temperature > 0.0 else 0.0
    last = float(turns.shape[0] - 1)
    for i in range(size):
        p = np.uint64(np.uint32(slot[i]))
        drawn = chance[i] * scale
        explored = np.int32(drawn if drawn < last else last)
        greedy = choice[np.uint64(np.uint32(before[p]))]
        action = explored if chance[i] < temperature else greedy
        actions[p] = action
        turn[i] = turns[np.uint64(np.uint32(action))]
