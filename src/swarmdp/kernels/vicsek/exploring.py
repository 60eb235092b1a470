"""Vicsek swarms that learn: exploring agents among greedy ones, a step in one kernel.

Steps 1 to 3 of Algorithm 2: which agents explore, what all do, how they move, what they observe
then. The swarm stays in `Particles` (runs, agents) between steps; what goes in and out are classes
of misalignment (runs, agents) of int32 and actions (runs, agents), uint8 where there are few
enough. The plain path (`system.transition`, `system.observe`, classes, `tables.explore`) gives the
same bits and costs a third more of a whole fit: ten calls with checks instead of one.

A call with named tuples takes as long as moving a hundred agents, since Numba looks their types up
in Python; plain tuples it knows. So arguments are grouped in plain tuples.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.numerics.streams import MASK, TWO_TO_MINUS_32, coarse_word, word_to_float
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.vicsek.flying import move_particles
from swarmdp.kernels.vicsek.layout import (
    BLOCK_AGENTS,
    NoiseCounter,
    Particles,
    SmallInts,
    VicsekModel,
    first_row_buffers,
    new_cell_places,
    new_particles_by_cell,
    new_particles_of_runs,
    run_of,
)
from swarmdp.kernels.vicsek.observing import find_misalignments, look_up_angles
from swarmdp.kernels.vicsek.sorting import take_over_runs
from swarmdp.support.arrays import Floats, Ints

_NOWHERE = np.empty((0, 0))


class Chances(NamedTuple):
    """Which agents explore: the temperature, the draw of chances, places in a fixed order."""

    temperature: float
    draw: np.uint64
    place: Floats  # (runs, agents), or empty where explorers are drawn in every step


class ExploringVicsek:
    """Runs of the model whose agents explore or act by a table; see `traits.ExploringSwarms`.

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
        numbers: Ints,
        turns: Floats,
        bins: int,
    ) -> None:
        self._model, self._seed, self._numbers = tuple(model), np.uint64(seed), numbers
        self._turns, self._bins = turns, bins
        swarms: Particles = new_particles_of_runs(*heading.shape)
        take_over_runs(position, heading, swarms)
        # Agents that were arranged keep their numbers, which their random numbers belong to.
        swarms.id[:] = agents
        self._agents = tuple(swarms)
        self._classes = np.empty(heading.shape, np.int32)
        observe_classes(swarms, model, bins, self._classes)

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
        explore_and_fly(
            self._agents,
            self._model,
            (self._seed, np.uint64(time), np.uint64(draws[0]), np.uint64(draws[1])),
            self._numbers,
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
def observe_classes(agents, model, bins, classes):
    """The class that each agent of every run observes."""
    runs, size = classes.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = first_row_buffers(size)
    sums = np.zeros(2, np.int64)
    for r in range(runs):
        now = run_of(agents, r)
        buffers = find_misalignments(now, model.radius, model.box, ordered, work, buffers, sums)
        classify_angles(ordered, work, bins, buffers.angle, classes[r])


@kernel
def classify_angles(ordered, work, bins, angle, out):
    """The class of what each agent observes; `angle` is memory for a block of them."""
    scale = bins / TWO_PI
    middle = float(bins // 2)
    for low in range(0, out.shape[0], BLOCK_AGENTS):
        high = min(low + BLOCK_AGENTS, out.shape[0])
        # From the order of cells to that of the agents, then classes in a loop that vectorises.
        look_up_angles(low, high, ordered, work, angle)
        group = out[low:high]
        for i in range(np.uint64(group.shape[0])):
            group[i] = elementary.angle_class(angle[i], scale, middle, float(bins))


@kernel
def explore_and_fly(
    arrays, settings, drawn, numbers, temperature, place, table, turns, bins, before, actions, after
):
    """Choose, act, move and observe, every run in turn; the first three are plain tuples."""
    x, y, heading, cosine, sine, ids = arrays
    radius, speed, noise_scale, box = settings
    seed, time, draw, noise_draw = drawn
    # From here on named tuples cost nothing: the compiler sees through them.
    agents = Particles(x, y, heading, cosine, sine, ids)
    model = VicsekModel(radius, speed, noise_scale, box)
    chances = Chances(temperature, draw, place)
    runs, size = before.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = first_row_buffers(size)
    sums = np.zeros(2, np.int64)
    turn = np.empty(BLOCK_AGENTS)
    noise = np.empty(BLOCK_AGENTS)
    choice = np.empty(table.shape[1], np.int32)
    for r in range(runs):
        now = run_of(agents, r)
        at = NoiseCounter(seed, np.uint64(numbers[r]), time, noise_draw)
        # As narrow as an action of the loop below, so that it needs no conversion.
        greedy = table[r % table.shape[0]]
        for o in range(np.uint64(choice.shape[0])):
            choice[o] = greedy[o]
        # Blocks, so that turns and noise are still in the cache when the agents are moved.
        for low in range(0, size, BLOCK_AGENTS):
            high = min(low + BLOCK_AGENTS, size)
            choose_actions(
                r, low, high, now.id, at, chances, choice, turns, before, actions, turn, noise
            )
            move_particles(low, high, now, turn, model, at, noise)
        buffers = find_misalignments(now, radius, box, ordered, work, buffers, sums)
        classify_angles(ordered, work, bins, buffers.angle, after[r])


@kernel
def choose_actions(r, low, high, ids, at, chances, choice, turns, before, actions, turn, chance):
    """The actions of the agents low..high, random or greedy, and how they turn by them.

    `chance` is memory for a block. A chance below the temperature makes an agent explore and, as it
    is uniform below it, also says which action it takes: one random number for both.
    """
    k0 = at.seed & np.uint64(MASK)
    k1 = at.seed >> np.uint64(32)
    size = np.uint64(high - low)
    temperature = chances.temperature
    numbers = ids[low:high]
    for i in range(size):
        # 32 bits are enough to decide between a dozen actions, and cost a quarter of a block.
        word = coarse_word(np.uint64(numbers[i]), at.run, at.step, chances.draw, k0, k1)
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
        # Rounding may reach the number of actions, which is one too far.
        drawn = chance[i] * scale
        explored = np.int32(drawn if drawn < last else last)
        greedy = choice[np.uint64(np.uint32(seen[i]))]
        action = explored if chance[i] < temperature else greedy
        acts[i] = action
        turn[i] = turns[np.uint64(np.uint32(action))]
