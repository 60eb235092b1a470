"""Self-propelled particles on a small ring of cells: the Vicsek model as a finite swarm."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Levels
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State
from swarmdp.support.arguments import checked
from swarmdp.support.checks import keep_python_numbers
from swarmdp.support.ranges import Index, PositiveInteger, Share
from swarmdp.theory.finite_swarm import (
    Acting,
    check_indices,
    check_numbers,
    draw_next_states,
    drawn_local,
    local_arrays,
)


@checked
@dataclass(frozen=True)
class VicsekRing:
    """Agents on a ring of cells that fly along it and turn towards their neighbours.

    With two headings an agent flies one cell forwards (0) or backwards (1) and can keep its heading
    or turn round. With four it can also stand across the ring (1 and 3), where it stays in its
    cell, and turn by one quarter to either side or not at all. As in `Vicsek`, agents move with the
    heading that they had before the turn.

    An agent sees the resultant of all headings within `radius` cells, its own included, relative to
    its own: the sign of the part along its heading (against 0, balanced 1, with 2) and, with four
    headings, the sign of the part across it (right 0, none 1, left 2), as 3 * along + across. With
    `radius=None` it sees only itself.

    With the probability `noise` the agent comes out of its turn with a uniformly random heading.

    Parameters
    ----------
    n_agents
        The number of agents.
    cells
        The number of cells of the ring.
    headings
        2 or 4.
    radius
        In cells; None if an agent sees only itself.
    noise
        The probability of a random heading after a turn.
    acting
        Who acts in a step: "all" agents, or "one" of them, drawn uniformly.

    Examples
    --------
    >>> from swarmdp import theory
    >>> theory.enumerate_swarm(theory.VicsekRing(n_agents=2, cells=4)).n_states
    64

    """

    n_agents: PositiveInteger = 3
    cells: PositiveInteger = 4
    headings: Literal[2, 4] = 2
    radius: Index | None = 1
    noise: Share = 0.0
    acting: Acting = "all"

    def __post_init__(self) -> None:
        keep_python_numbers(self)

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """A place on the ring and a heading."""
        return {
            "cell": Field("cell of the ring", kind="position", period=self.cells),
            "heading": Field(
                "heading, in parts of a full turn", kind="angle", period=self.headings
            ),
        }

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """Turns, in headings."""
        return np.array([0, 1] if self.headings == 2 else [-1, 0, 1])

    @cached_property
    def features(self) -> Levels:
        """The signs of the resultant heading."""
        return Levels(3 if self.headings == 2 else 9, name="resultant heading")

    @property
    def n_local(self) -> int:
        """A cell and a heading."""
        return self.cells * self.headings

    @property
    def initial_local(self) -> NDArray[np.float64]:
        """Anywhere, in any direction."""
        return np.full(self.n_local, 1 / self.n_local)

    def initial(self, rng: Stream) -> State:
        """Independent and uniform."""
        return self.place(drawn_local(self, rng))

    def place(self, local: NDArray[np.integer]) -> State:
        """From the number cell * headings + heading."""
        check_numbers(self, local)
        cell, heading = np.divmod(local, self.headings)
        return {"cell": cell.astype(np.int32), "heading": heading.astype(np.int32)}

    def local(self, state: State) -> NDArray[np.int64]:
        """The number cell * headings + heading."""
        cell, heading = self._cells_and_headings(state)
        return cell * self.headings + heading

    def observe(self, state: State) -> NDArray[np.int64]:
        """The signs of the resultant heading of those near."""
        cell, heading = self._cells_and_headings(state)
        relative = (heading[:, None, :] - heading[:, :, None]) % self.headings
        near = self._near(cell)
        along, across = self._parts
        seen: NDArray[np.int64] = 1 + np.sign((near * along[relative]).sum(axis=2))
        if self.headings == 4:
            seen = 3 * seen + 1 + np.sign((near * across[relative]).sum(axis=2))
        return seen

    def outcomes(self, state: State, actions: NDArray[np.integer]) -> NDArray[np.float64]:
        """One cell along the old heading, and the new heading, but for the noise."""
        before, heading = self._cells_and_headings(state)
        check_indices(self, actions, before.shape)
        cell = (before + self._parts[0][heading]) % self.cells
        target = (heading + self.actions[actions]) % self.headings
        law = np.zeros((*cell.shape, self.cells, self.headings))
        run, agent = np.indices(cell.shape)
        law[run, agent, cell] = self.noise / self.headings
        law[run, agent, cell, target] += 1 - self.noise
        return law.reshape(*cell.shape, self.n_local)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Draw the next cells and headings."""
        return self.place(draw_next_states(self, state, actions, rng))

    def expert(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Turn towards the resultant heading; keep the own one where there is none."""
        seen = self.features.index(observations).astype(np.int64)
        if self.headings == 2:
            return np.where(seen == 0, 1, 0)
        turns: NDArray[np.int64] = np.array([-1, 1, 1, -1, 0, 1, 0, 0, 0])  # by 3 * along + across
        return turns[seen]

    def order(self, state: State) -> NDArray[np.float64]:
        """The order parameter: the length of the mean heading."""
        along, across = self._parts
        heading = self._cells_and_headings(state)[1]
        mean = np.stack([p[heading].mean(axis=1) for p in (along, across)])
        length: NDArray[np.float64] = np.hypot(*mean)
        return length

    def _cells_and_headings(self, state: State) -> list[NDArray[np.int64]]:
        """Cells and headings (runs, agents); raises InvalidInput for others."""
        return local_arrays(self, state, cell=self.cells, heading=self.headings)

    def _near(self, cell: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Who is near whom (runs, agents, agents)."""
        if self.radius is None:
            return np.broadcast_to(np.eye(self.n_agents, dtype=bool), (*cell.shape, cell.shape[1]))
        gap = (cell[:, None, :] - cell[:, :, None]) % self.cells
        near: NDArray[np.bool_] = np.minimum(gap, self.cells - gap) <= self.radius
        return near

    @cached_property
    def _parts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cosine and sine of each heading."""
        if self.headings == 2:
            return np.array([1, -1]), np.array([0, 0])
        return np.array([1, 0, -1, 0]), np.array([0, 1, 0, -1])
