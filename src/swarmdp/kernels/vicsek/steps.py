"""Whole steps of Vicsek swarms: observe, act, move."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.kernels.vicsek.exploring import TWO_PI
from swarmdp.kernels.vicsek.flying import move_particles
from swarmdp.kernels.vicsek.layout import (
    BLOCK_AGENTS,
    KeptMoments,
    Noise,
    Particles,
    SmallInts,
    VicsekModel,
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
from swarmdp.support.arrays import Floats

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
    numbers: NDArray[np.int64]  # (runs,)
    draw: int
    turns: Floats  # (replicas, bins), or (0, 0) for the misalignment itself
    rows: NDArray[np.int64]  # (runs,)
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
        numbers: NDArray[np.int64],
        draw: int,
        turns: Floats | None,
        rows: NDArray[np.int64],
        bins: int,
    ) -> "VicsekSwarms":
        """The swarms that start from these states; box and radius must leave three cells."""
        agents = new_particles_of_runs(*heading.shape)
        parts = parallel.shares(heading.shape[1])
        if parts == 1:
            take_over_runs(position, heading, agents)
        else:
            for r in range(len(heading)):
                now = Particles(*(array[r] for array in agents))
                take_over_shared(position[r], heading[r], now, parts)
        values = np.empty((0, 0)) if turns is None else turns
        return cls(model, agents, steps, seed, numbers, draw, values, rows, bins)

    def advance(self, first: int, last: int, kept: KeptMoments) -> None:
        """Keep the moments first..last - 1 and take the step after each, but none at the end."""
        parts = parallel.shares(self.agents.x.shape[1])
        noise_at = Noise(np.uint64(self.seed), np.uint64(0), np.uint64(0), np.uint64(self.draw))
        if parts == 1:
            take_vicsek_steps(
                self.agents,
                self.model,
                noise_at,
                self.numbers,
                first,
                last,
                self.steps,
                self.turns,
                self.rows,
                self.bins,
                kept,
            )
            return
        for r, number in enumerate(self.numbers):
            for time in range(first, last):
                at = noise_at._replace(run=np.uint64(number), step=np.uint64(time))
                self._shared_step(r, time, time - first, at, kept, parts)

    def _shared_step(
        self, r: int, time: int, place: int, noise_at: Noise, kept: KeptMoments, parts: int
    ) -> None:
        """One step of one large swarm, its agents and rows of cells shared between threads."""
        now = Particles(*(array[r] for array in self.agents))
        model, agents = self.model, now.x.size
        moving = time < self.steps
        parallel.divide(
            agents, parts, lambda _, begin, end: keep_particles(begin, end, now, r, time, kept)
        )
        if not moving and not kept.observations.size and not kept.counts.size:
            u, v = heading_sums(now)
            keep_order(u, v, agents, r, time, kept.order)
            return
        ordered, work = shared_workspace(agents, parts)
        sums = find_misalignments_shared(now, model.radius, model.box, ordered, work, parts)
        keep_order(sums[0], sums[1], agents, r, time, kept.order)
        turns = self.turns[self.rows[r]] if len(self.turns) else np.empty(0)
        counts = np.zeros((parts, kept.counts.shape[2]), np.int64)
        parallel.divide(
            agents,
            parts,
            lambda part, begin, end: act_and_fly(
                *(begin, end, now, model, noise_at, ordered, work, turns, self.bins, moving),
                *(r, time, kept, counts[part], new_row_buffers(0)),
            ),
        )
        if kept.counts.size:
            kept.counts[r, place] = counts.sum(axis=0)
        if agents >= REORDER_FROM and time % REORDER_EVERY == 0:
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
def take_vicsek_steps(
    agents, model, noise_at, numbers, first, last, steps, turns, rows, bins, kept
):
    """Keep the moments first..last - 1 of all runs and take the step after each."""
    runs, size = agents.x.shape
    ordered = new_particles_by_cell(size)
    work = new_cell_places(size, 1)
    buffers = new_row_buffers(min(2 * size, 8192))
    counts = np.empty(kept.counts.shape[2], np.int64)
    nothing = np.empty(0)
    sums = np.empty(2, np.int64)
    for r in range(runs):
        now = run_of(agents, r)
        values = turns[rows[r]] if turns.shape[0] > 0 else nothing
        for time in range(first, last):
            moving = time < steps
            keep_particles(0, size, now, r, time, kept)
            if not moving and kept.observations.size == 0 and kept.counts.size == 0:
                u, v = heading_sums(now)
                keep_order(u, v, size, r, time, kept.order)
                continue
            sums[:] = 0
            buffers = find_misalignments(now, model.radius, model.box, ordered, work, buffers, sums)
            keep_order(sums[0], sums[1], size, r, time, kept.order)
            at = Noise(noise_at.seed, np.uint64(numbers[r]), np.uint64(time), noise_at.draw)
            counts[:] = 0
            act_and_fly(
                0,
                size,
                now,
                model,
                at,
                ordered,
                work,
                values,
                bins,
                moving,
                r,
                time,
                kept,
                counts,
                buffers,
            )
            if kept.counts.size > 0:
                kept.counts[r, time - first] = counts
            if size >= REORDER_FROM and time % REORDER_EVERY == 0:
                reorder_by_cell(now, work.place, ordered.angle)


@kernel
def act_and_fly(
    begin,
    end,
    now,
    model,
    noise_at,
    ordered,
    work,
    turns,
    bins,
    moving,
    r,
    time,
    kept,
    counts,
    buffers,
):
    """Let the agents begin..end act on what they observe, block by block.

    The classes of what they observe are added to `counts`, if these are to be kept.
    """
    for low in range(begin, end, BLOCK_AGENTS):
        high = min(end, low + BLOCK_AGENTS)
        look_up_angles(low, high, ordered, work, buffers.angle)
        choose_turns(low, high, now.id, turns, bins, moving, r, time, kept, counts, buffers)
        if moving:
            move_particles(low, high, now, buffers.angle, model, noise_at, buffers.noise)


@kernel
def choose_turns(low, high, ids, turns, bins, moving, r, time, kept, counts, buffers):
    """Turn what the agents low..high observe into how they turn, and keep what is wanted of it."""
    angle, group = buffers.angle, buffers.group
    size = np.uint64(high - low)
    first = np.uint64(low)
    if kept.observations.size > 0:
        seen = kept.observations[r, time]
        for i in range(size):
            seen[np.uint64(np.uint32(ids[first + i]))] = angle[i]
    if turns.shape[0] > 0 or counts.shape[0] > 0:
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
    if moving and kept.actions.size > 0:
        done = kept.actions[r, time]
        for i in range(size):
            done[np.uint64(np.uint32(ids[first + i]))] = angle[i]


@kernel
def keep_particles(begin, end, now, r, time, kept):
    """Keep the states of the agents begin..end of a moment, if they are wanted."""
    if kept.heading.size > 0:
        position, heading = kept.position[r, time], kept.heading[r, time]
        for i in range(np.uint64(begin), np.uint64(end)):
            k = np.uint64(np.uint32(now.id[i]))
            position[k, 0] = now.x[i]
            position[k, 1] = now.y[i]
            heading[k] = now.heading[i]
