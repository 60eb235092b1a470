"""Whole steps of Vicsek swarms: observe, act, move, and keep what is asked for.

A swarm stays in `Particles` from step to step, with the sines and cosines of its headings; only
what is to be kept is written in the order of the agents (`KeptMoments`). Runs are done one after
the other in one kernel, `take_vicsek_steps`; a large swarm is shared between threads step by step,
by the same kernels for parts of it. Both give the bits of `misalignment`, a policy and
`fly_and_turn`, which is how the tests check them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.elementary import TWO_PI
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.vicsek.flying import move_particles
from swarmdp.kernels.vicsek.layout import (
    BLOCK_AGENTS,
    KeptMoments,
    NoiseCounter,
    Particles,
    SmallInts,
    StepMoment,
    TurnRule,
    VicsekModel,
    first_row_buffers,
    new_cell_places,
    new_particles_by_cell,
    new_particles_of_runs,
    new_row_buffers,
    run_of,
    shared_workspace,
)
from swarmdp.kernels.vicsek.observing import (
    find_misalignments,
    find_misalignments_shared,
    look_up_angles,
)
from swarmdp.kernels.vicsek.ordering import heading_sums, keep_order
from swarmdp.kernels.vicsek.sorting import (
    copy_back,
    reorder_by_cell,
    spread_out,
    take_over_runs,
    take_over_shared,
)
from swarmdp.support import parallel
from swarmdp.support.arrays import Floats, Ints

REORDER_FROM = 20_000  # agents; fewer fit the cache in any order
REORDER_EVERY = 4  # steps; agents move by about a cell in each


@dataclass(frozen=True, eq=False)
class VicsekSwarms:
    """Runs of the model that take whole steps.

    Every agent turns by its misalignment, or as a table says: `turns[rows[r], k]` for the agents of
    run r whose misalignment is in the interval k of `bins` equal ones. Large swarms are brought
    into the order of their cells now and then.
    """

    model: VicsekModel
    agents: Particles  # arrays (runs, agents)
    steps: int
    seed: int
    numbers: Ints  # (runs,)
    draw: int
    turns: Floats  # (replicas, bins), or (0, 0) for the misalignment itself
    rows: Ints  # (runs,)
    bins: int

    @classmethod
    def of(
        cls,
        position: Floats,
        heading: Floats,
        model: VicsekModel,
        *,
        steps: int,
        seed: int,
        numbers: Ints,
        draw: int,
        turns: Floats | None,
        rows: Ints,
        bins: int,
    ) -> "VicsekSwarms":
        """The swarms that start from these states; box and radius must leave three cells."""
        # Whole steps need no state of their own any more: the caller may free it.
        agents = new_particles_of_runs(*heading.shape)
        parts = parallel.shares(heading.shape[1])
        if parts == 1:
            take_over_runs(position, heading, agents)
        else:
            for r in range(len(heading)):
                now = Particles(*(array[r] for array in agents))
                take_over_shared(position[r], heading[r], now, parts)
        # An empty table stands for the expert's rule, so that the kernel has one signature.
        values = np.empty((0, 0)) if turns is None else turns
        return cls(model, agents, steps, seed, numbers, draw, values, rows, bins)

    def advance(self, first: int, last: int, kept: KeptMoments) -> None:
        """Keep the moments first..last - 1 and take the step after each, but none at the end."""
        parts = parallel.shares(self.agents.x.shape[1])
        noise = NoiseCounter(np.uint64(self.seed), np.uint64(0), np.uint64(0), np.uint64(self.draw))
        if parts == 1:
            take_vicsek_steps(
                self.agents,
                self.model,
                noise,
                self.numbers,
                (first, last, self.steps),
                self.turns,
                self.rows,
                self.bins,
                kept,
            )
            return
        for r, number in enumerate(self.numbers):
            for time in range(first, last):
                at = noise._replace(run=np.uint64(number), step=np.uint64(time))
                self._shared_step(
                    StepMoment(r, time, time < self.steps), time - first, at, kept, parts
                )

    def _shared_step(
        self, at: StepMoment, place: int, noise: NoiseCounter, kept: KeptMoments, parts: int
    ) -> None:
        """One step of one large swarm, its agents and rows of cells shared between threads."""
        now = Particles(*(array[at.run] for array in self.agents))
        model, agents = self.model, now.x.size
        parallel.divide(
            agents, parts, lambda _, begin, end: keep_particles(begin, end, now, at, kept)
        )
        if not at.moving and not kept.observations.size and not kept.counts.size:
            u, v = heading_sums(now)
            keep_order(u, v, agents, at, kept.order)
            return
        ordered, work = shared_workspace(agents, parts)
        sums = find_misalignments_shared(now, model.radius, model.box, ordered, work, parts)
        keep_order(sums[0], sums[1], agents, at, kept.order)
        turns = self.turns[self.rows[at.run]] if len(self.turns) else np.empty(0)
        rule = TurnRule(turns, self.bins)
        # A row of counts for each thread, added up afterwards.
        counts = np.zeros((parts, kept.counts.shape[2]), np.int64)
        parallel.divide(
            agents,
            parts,
            lambda part, begin, end: act_and_fly(
                *(begin, end, now, model, noise, ordered, work, rule, at),
                *(kept, counts[part], new_row_buffers(0)),
            ),
        )
        if kept.counts.size:
            kept.counts[at.run, place] = counts.sum(axis=0)
        # Neighbours that are near in memory are still in the cache when they are needed.
        if agents >= REORDER_FROM and at.time % REORDER_EVERY == 0:
            for array in now:
                self._reorder(array, work.place, ordered.angle, parts)

    @staticmethod
    def _reorder(array: NDArray[Any], place: SmallInts, spare: Floats, parts: int) -> None:
        """Bring what is known of all agents into the order of their cells."""
        size = array.size
        parallel.divide(
            size, parts, lambda _, begin, end: spread_out(begin, end, array, place, spare)
        )
        parallel.divide(size, parts, lambda _, begin, end: copy_back(begin, end, spare, array))


@kernel
def take_vicsek_steps(agents, model, noise, numbers, times, turns, rows, bins, kept):
    """Keep the moments first..last - 1 of all runs and take the step after each.

    `times` are first, last and the number of steps in all: after the very last moment none follows.
    """
    first, last, steps = times
    runs, size = agents.x.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = first_row_buffers(size)
    counts = np.empty(kept.counts.shape[2], np.int64)
    nothing = np.empty(0)
    sums = np.empty(2, np.int64)
    # A run goes through all its steps before the next one begins: one swarm stays in the cache.
    for r in range(runs):
        now = run_of(agents, r)
        rule = TurnRule(turns[rows[r]] if turns.shape[0] > 0 else nothing, bins)
        for time in range(first, last):
            at = StepMoment(r, time, time < steps)
            keep_particles(0, size, now, at, kept)
            if not at.moving and kept.observations.size == 0 and kept.counts.size == 0:
                # Nothing depends on what agents observe any more.
                u, v = heading_sums(now)
                keep_order(u, v, size, at, kept.order)
                continue
            sums[:] = 0
            buffers = find_misalignments(now, model.radius, model.box, ordered, work, buffers, sums)
            keep_order(sums[0], sums[1], size, at, kept.order)
            drawn = NoiseCounter(noise.seed, np.uint64(numbers[r]), np.uint64(time), noise.draw)
            counts[:] = 0
            act_and_fly(0, size, now, model, drawn, ordered, work, rule, at, kept, counts, buffers)
            if kept.counts.size > 0:
                kept.counts[r, time - first] = counts
            if size >= REORDER_FROM and time % REORDER_EVERY == 0:
                reorder_by_cell(now, work.place, ordered.angle)


@kernel
def act_and_fly(begin, end, now, model, noise, ordered, work, rule, at, kept, counts, buffers):
    """Let the agents begin..end act on what they observe, block by block.

    The classes of what they observe are added to `counts`, if these are to be kept.
    """
    for low in range(begin, end, BLOCK_AGENTS):
        high = min(end, low + BLOCK_AGENTS)
        # What a block observes, does and draws is never written to memory farther than the cache.
        look_up_angles(low, high, ordered, work, buffers.angle)
        choose_turns(low, high, now.id, rule, at, kept, counts, buffers)
        if at.moving:
            move_particles(low, high, now, buffers.angle, model, noise, buffers.noise)


@kernel
def choose_turns(low, high, ids, rule, at, kept, counts, buffers):
    """Turn what the agents low..high observe into how they turn, and keep what is wanted of it."""
    angle, group = buffers.angle, buffers.group
    turns, bins = rule
    size = np.uint64(high - low)
    first = np.uint64(low)
    if kept.observations.size > 0:
        # By the agent's number: recordings are in the agents' own order.
        seen = kept.observations[at.run, at.time]
        for i in range(size):
            seen[np.uint64(np.uint32(ids[first + i]))] = angle[i]
    if turns.shape[0] > 0 or counts.shape[0] > 0:
        # Classes first, in a loop that vectorises; looking up and counting do not.
        scale = bins / TWO_PI
        middle = float(bins // 2)
        for i in range(size):
            group[i] = elementary.angle_class(angle[i], scale, middle, float(bins))
        if counts.shape[0] > 0:
            for i in range(size):
                counts[np.uint64(np.uint32(group[i]))] += 1
        if turns.shape[0] > 0:
            for i in range(size):
                angle[i] = turns[np.uint64(np.uint32(group[i]))]
    if at.moving and kept.actions.size > 0:
        done = kept.actions[at.run, at.time]
        for i in range(size):
            done[np.uint64(np.uint32(ids[first + i]))] = angle[i]


@kernel
def keep_particles(begin, end, now, at, kept):
    """Keep the states of the agents begin..end of a moment, if they are wanted."""
    if kept.heading.size > 0:
        position, heading = kept.position[at.run, at.time], kept.heading[at.run, at.time]
        for i in range(np.uint64(begin), np.uint64(end)):
            # Large swarms are in the order of cells: the number says where an agent belongs.
            k = np.uint64(np.uint32(now.id[i]))
            position[k, 0] = now.x[i]
            position[k, 1] = now.y[i]
            heading[k] = now.heading[i]
