"""Vicsek swarms that learn: exploring agents among greedy ones, whole steps in one kernel."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.streams import (
    MASK,
    TWO_TO_MINUS_32,
    coarse_word,
    word_to_float,
)
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.tables import local_model as tabular
from swarmdp.kernels.vicsek.flying import move_particles
from swarmdp.kernels.vicsek.layout import (
    BLOCK_AGENTS,
    Noise,
    Particles,
    SmallInts,
    VicsekModel,
    new_cell_places,
    new_particles_by_cell,
    new_particles_of_runs,
    new_row_buffers,
    run_of,
)
from swarmdp.kernels.vicsek.observing import find_misalignments, look_up_angles
from swarmdp.kernels.vicsek.sorting import take_over_runs
from swarmdp.support.arrays import Floats

TWO_PI = 2 * math.pi
_NOWHERE = np.empty((0, 0))


class Chances(NamedTuple):
    """Who explores: the temperature, where chances come from, and places in a fixed order."""

    temperature: float
    draw: np.uint64
    place: Floats  # (runs, agents), or empty where explorers are drawn in every step


class ExploringVicsek:
    """Runs of the model whose agents explore or act by a table; see `system.ExploringSwarms`.

    Agents stay in the order that they came in; `agents` (runs or 1, agents) are their numbers.
    """

    def __init__(
        self,
        position: Floats,
        heading: Floats,
        agents: SmallInts,
        model: VicsekModel,
        *,
        seed: int,
        numbers: NDArray[np.int64],
        turns: Floats,
        bins: int,
    ) -> None:
        self._model, self._seed, self._numbers = model, np.uint64(seed), numbers
        self._turns, self._bins = turns, bins
        self._agents: Particles = new_particles_of_runs(*heading.shape)
        take_over_runs(position, heading, self._agents)
        self._agents.id[:] = agents
        self._classes = np.empty(heading.shape, np.int32)
        observe_runs(self._agents, model, bins, self._classes)

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: Floats | None,
        time: int,
        draws: tuple[int, int],
    ) -> tuple[SmallInts, NDArray[np.integer], SmallInts]:
        """Classes before, actions and classes after; `draws` are for exploring and for noise."""
        before, after = self._classes, np.empty(self._classes.shape, np.int32)
        few = len(self._turns) <= 256
        actions = np.empty(before.shape, np.uint8 if few else np.int32)
        explore_runs(
            *self._agents,
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

    def learn(
        self,
        own: tabular.Learning,
        temperatures: Floats,
        place: Floats | None,
        time: int,
        draws: tuple[int, int],
    ) -> None:
        """Steps at these temperatures, from a time on, and what is learned from each."""
        few = len(self._turns) <= 256
        learn_runs(
            self._agents,
            self._model,
            self._seed,
            self._numbers,
            time,
            np.uint64(draws[0]),
            np.uint64(draws[1]),
            temperatures,
            _NOWHERE if place is None else place,
            self._turns,
            self._bins,
            self._classes,
            np.empty(self._classes.shape, np.uint8 if few else np.int32),
            np.empty(self._classes.shape, np.int32),
            own,
        )


@kernel
def observe_runs(agents, model, bins, classes):
    """The class that each agent of every run observes."""
    runs, size = classes.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = new_row_buffers(min(2 * size, 8192))
    sums = np.zeros(2, np.int64)
    for r in range(runs):
        now = run_of(agents, r)
        buffers = find_misalignments(now, model.radius, model.box, ordered, work, buffers, sums)
        classify(ordered, work, bins, buffers.angle, classes[r])


@kernel
def classify(ordered, work, bins, angle, out):
    """The class of what each agent observes; `angle` is memory for a block of them."""
    scale = bins / TWO_PI
    middle = float(bins // 2)
    for low in range(0, out.shape[0], BLOCK_AGENTS):
        high = min(low + BLOCK_AGENTS, out.shape[0])
        look_up_angles(low, high, ordered, work, angle)
        group = out[low:high]
        for i in range(np.uint64(group.shape[0])):
            group[i] = elementary.angle_class(angle[i], scale, middle, float(bins))


@kernel
def explore_runs(
    x,
    y,
    heading,
    cosine,
    sine,
    ids,
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
    agents = Particles(x, y, heading, cosine, sine, ids)
    model = VicsekModel(radius, speed, noise_scale, box)
    chances = Chances(temperature, draw, place)
    runs, size = before.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = new_row_buffers(min(2 * size, 8192))
    sums = np.zeros(2, np.int64)
    turn = np.empty(BLOCK_AGENTS)
    noise = np.empty(BLOCK_AGENTS)
    choice = np.empty(table.shape[1], np.int32)
    for r in range(runs):
        now = run_of(agents, r)
        noise_at = Noise(seed, np.uint64(numbers[r]), time, noise_draw)
        own = table[r % table.shape[0]]
        for o in range(np.uint64(choice.shape[0])):
            choice[o] = own[o]
        for low in range(0, size, BLOCK_AGENTS):
            high = min(low + BLOCK_AGENTS, size)
            choose(
                r, low, high, now.id, noise_at, chances, choice, turns, before, actions, turn, noise
            )
            move_particles(low, high, now, turn, model, noise_at, noise)
        buffers = find_misalignments(now, radius, box, ordered, work, buffers, sums)
        classify(ordered, work, bins, buffers.angle, after[r])


@kernel
def learn_runs(
    agents,
    model,
    seed,
    numbers,
    time,
    draw,
    noise_draw,
    temperatures,
    place,
    turns,
    bins,
    before,
    actions,
    after,
    own,
):
    """Steps 1 to 5 of Algorithm 2 for each of the temperatures; `before` ends as the newest."""
    for k in range(temperatures.shape[0]):
        explore_runs(
            agents.x,
            agents.y,
            agents.heading,
            agents.cosine,
            agents.sine,
            agents.id,
            model.radius,
            model.speed,
            model.noise,
            model.box,
            seed,
            numbers,
            np.uint64(time + k),
            draw,
            noise_draw,
            temperatures[k],
            place,
            own.best,
            turns,
            bins,
            before,
            actions,
            after,
        )
        tabular.learn(before, actions, after, own)
        before[:] = after


@kernel
def choose(r, low, high, ids, noise_at, chances, choice, turns, before, actions, turn, chance):
    """The actions of the agents low..high, random or greedy, and how they turn by them."""
    k0 = noise_at.seed & np.uint64(MASK)
    k1 = noise_at.seed >> np.uint64(32)
    size = np.uint64(high - low)
    temperature = chances.temperature
    who = ids[low:high]
    for i in range(size):
        word = coarse_word(np.uint64(who[i]), noise_at.run, noise_at.step, chances.draw, k0, k1)
        chance[i] = word_to_float(word) * TWO_TO_MINUS_32
    if chances.place.size > 0:
        places = chances.place[r, low:high]
        for i in range(size):
            chance[i] = temperature * chance[i] if places[i] < temperature else 1.0
    scale = turns.shape[0] / temperature if temperature > 0.0 else 0.0
    last = float(turns.shape[0] - 1)
    seen = before[r, low:high]
    acts = actions[r, low:high]
    for i in range(size):
        drawn = chance[i] * scale
        explored = np.int32(drawn if drawn < last else last)
        greedy = choice[np.uint64(np.uint32(seen[i]))]
        action = explored if chance[i] < temperature else greedy
        acts[i] = action
        turn[i] = turns[np.uint64(np.uint32(action))]
