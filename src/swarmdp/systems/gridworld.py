"""Gridworlds: the textbook problems of inverse reinforcement learning, as finite MDPs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Levels, Vectors
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, Measure, State
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief, check_integer, keep_python_numbers
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory
from swarmdp.support.ranges import PositiveInteger, Seed, Share
from swarmdp.systems.finite import FiniteMDP

GRID_MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))  # (rows, columns): +x, +y, -x, -y
MOVE_NAMES = ("+x", "+y", "-x", "-y")


@checked(but=("initial", "observe", "transition", "collected"))
@dataclass(frozen=True)
class Gridworld:
    """One agent on a grid that moves to one of four sides, unless the wind blows it elsewhere.

    With the chance `wind` the move is a random one, each of the four equally likely. A move across
    the edge stays where it is. Cells are numbered row by row, state = row * columns + column.

    The defaults are Ng and Russell's 5 x 5 grid: an absorbing goal in the last corner, with a
    reward of 1. `Gridworld.macrocells` is Abbeel and Ng's: no goal, but rewards of square blocks
    of cells.

    Parameters
    ----------
    rows
        Rows of the grid.
    columns
        Columns of the grid.
    wind
        Chance of a random move.
    goal
        Row and column of the absorbing goal; negative: from the end.
    start
        Row and column of the first cell, instead of any with equal chance.
    macrocell
        Side of the square blocks of cells that are one feature.
    weights
        True reward of each feature, instead of 1 at the goal.

    Examples
    --------
    >>> import swarmdp
    >>> grid = swarmdp.Gridworld(rows=3, columns=3, wind=0.1)
    >>> grid.features.size, len(grid.actions)
    (9, 4)

    """

    rows: PositiveInteger = field(default=5, metadata={"help": "rows of the grid"})
    columns: PositiveInteger = field(default=5, metadata={"help": "columns of the grid"})
    wind: Share = field(default=0.3, metadata={"help": "chance of a random move"})
    goal: tuple[int, int] | None = field(
        default=(-1, -1),
        metadata={"help": "row and column of the absorbing goal; negative: from the end"},
    )
    start: tuple[int, int] | None = field(
        default=None,
        metadata={"help": "row and column of the first cell, instead of any with equal chance"},
    )
    macrocell: PositiveInteger = field(
        default=1, metadata={"help": "side of the square blocks of cells that are one feature"}
    )
    weights: tuple[float, ...] | None = field(
        default=None, metadata={"help": "true reward of each feature, instead of 1 at the goal"}
    )

    fields: ClassVar[Mapping[str, Field]] = FiniteMDP.fields
    n_agents: ClassVar[int] = 1

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        for name in ("goal", "start"):
            cell = getattr(self, name)
            if cell is not None:
                object.__setattr__(self, name, self._cell(name, cell))
        _check_blocks(self.rows, self.columns, self.macrocell)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(map(float, self.weights)))
            if len(self.weights) != self.n_features:
                raise InvalidInput(
                    f"weights must be one for each of {self.n_features} features, got "
                    f"{len(self.weights)}"
                )
        elif self.goal is None:
            raise InvalidInput("a gridworld needs a goal or weights: otherwise nothing is rewarded")

    @classmethod
    def macrocells(
        cls,
        seed: Seed,
        rows: PositiveInteger = 128,
        columns: PositiveInteger = 128,
        macrocell: PositiveInteger = 16,
        wind: Share = 0.3,
    ) -> "Gridworld":
        """Abbeel and Ng's grid: a tenth of the macrocells has a reward, uniformly random."""
        _check_blocks(rows, columns, macrocell)
        rng = np.random.default_rng(seed)
        size = (rows // macrocell) * (columns // macrocell)
        check_memory(16 * size, f"a grid of {size} macrocells", "Take fewer of them")
        weights = np.zeros(size)
        while not weights.any():
            weights = np.where(rng.random(size) < 0.1, rng.random(size), 0.0)
        weights /= weights.sum()
        return cls(rows, columns, wind, None, None, macrocell, tuple(weights.tolist()))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def n_features(self) -> int:
        """The number of cells, or of macrocells."""
        return (self.rows // self.macrocell) * (self.columns // self.macrocell)

    @cached_property
    def mdp(self) -> FiniteMDP:
        """The grid as a finite MDP."""
        from scipy import sparse

        row, column = np.divmod(np.arange(self.rows * self.columns), self.columns)
        here = row * self.columns + column
        ones, shape = np.ones(len(here)), (len(here), len(here))
        moved = [
            sparse.csr_matrix((ones, (here, self._next_cell(row, column, move))), shape)
            for move in GRID_MOVES
        ]
        blown = sum(moved[1:], start=moved[0]) / len(GRID_MOVES)
        transitions = [(1 - self.wind) * move + self.wind * blown for move in moved]
        if self.goal is not None:
            stays = sparse.diags_array(np.where(here == self._number(self.goal), 1.0, 0.0))
            leaves = sparse.diags_array(np.where(here == self._number(self.goal), 0.0, 1.0))
            transitions = [leaves @ move + stays for move in transitions]
        initial: Any = np.full(len(here), 1 / len(here))
        if self.start is not None:
            initial = self._number(self.start)
        matrix = None if self.macrocell == 1 else np.eye(self.n_features)[self._macrocell_of()]
        return FiniteMDP(transitions, initial, matrix)

    @cached_property
    def reward(self) -> Reward:
        """The true reward."""
        if self.weights is not None:
            return Reward(self.weights)
        assert self.goal is not None
        feature = int(self._macrocell_of()[self._number(self.goal)])
        return Reward(np.eye(1, self.n_features, feature))

    @property
    def actions(self) -> NDArray[np.int64]:
        """The numbers of the moves +x, +y, -x, -y."""
        return self.mdp.actions

    @property
    def features(self) -> Levels | Vectors:
        """The cells, or the indicators of their macrocells."""
        return self.mdp.features

    def initial(self, rng: Stream) -> State:
        """Draw the first cell."""
        return self.mdp.initial(rng)

    def observe(self, state: State) -> NDArray[Any]:
        """The cell."""
        return self.mdp.observe(state)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Move, if the wind allows."""
        return self.mdp.transition(state, actions, rng)

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states of other origin that are not this system's."""
        self.mdp.check_state(state)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The true reward."""
        return {"collected": Measure(self.collected, "true reward of the agent's cell")}

    def collected(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The true reward of the agent's cell, in a state or at each time of a trajectory."""
        rewards: NDArray[np.float64] = self.reward.of_classes(self)[0]
        if not isinstance(swarm, Mapping) or "state" not in swarm:
            raise InvalidInput(
                f"a state or trajectory with 'state' is needed, got {brief(swarm)}: record states"
            )
        cells = Levels(self.rows * self.columns, "'state'").index(swarm["state"])
        mean: NDArray[np.float64] = rewards[cells].mean(axis=-1)
        return mean

    def _cell(self, name: str, cell: Any) -> tuple[int, int]:
        if not isinstance(cell, tuple | list) or len(cell) != 2:
            raise InvalidInput(f"{name} must be a cell (row, column), got {cell!r}")
        inside = []
        for axis, size, place in zip(("row", "column"), self.shape, cell, strict=True):
            check_integer(f"{name}: {axis}", place, least=-size)
            if place >= size:
                raise InvalidInput(f"{name}: {axis} must be below {size}, got {place}")
            inside.append(place % size)
        return inside[0], inside[1]

    def _number(self, cell: tuple[int, int]) -> int:
        return cell[0] * self.columns + cell[1]

    def _macrocell_of(self) -> NDArray[np.int64]:
        row, column = np.divmod(np.arange(self.rows * self.columns), self.columns)
        across = self.columns // self.macrocell
        block: NDArray[np.int64] = row // self.macrocell * across + column // self.macrocell
        return block

    def _next_cell(
        self, row: NDArray[np.int64], column: NDArray[np.int64], move: tuple[int, int]
    ) -> NDArray[np.int64]:
        """The number of the next cell; a move across the edge stays."""
        down = np.clip(row + move[0], 0, self.rows - 1)
        along = np.clip(column + move[1], 0, self.columns - 1)
        number: NDArray[np.int64] = down * self.columns + along
        return number


def _check_blocks(rows: int, columns: int, macrocell: int) -> None:
    """Raise InvalidInput unless macrocells fill the grid: none may be cut."""
    if rows % macrocell or columns % macrocell:
        raise InvalidInput(
            f"rows and columns must be multiples of macrocell = {macrocell}, got {rows} and "
            f"{columns}"
        )
