"""A problem whose reward is known, and what a reward that was learned from it is worth."""

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol

import swarmdp
from swarmdp.irl.expectations import exact_expectations
from swarmdp.policies import SoftPolicy

MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0))
DISCOUNT = 0.9
_RANDOM = 60  # policies that show what chance brings

Cell = tuple[int, int]
Floats = NDArray[np.float64]


class Dynamics(Protocol):
    """What can be made a finite MDP."""

    @property
    def mdp(self) -> swarmdp.FiniteMDP:
        """The MDP, which starts anywhere."""


@dataclass(frozen=True)
class Cells:
    """A square grid with things in it.

    Parameters
    ----------
    side
        The number of rows and columns.
    slip
        The chance that a random move is made instead of the chosen one.
    belts
        Cells that carry on by another move.
    mud
        Cells that are left only in a fifth of all tries.
    resets
        Cells from which the next step leads to a random cell.
    holds
        Cells that are never left.
    walls
        Cells that cannot be entered.
    leaps
        Cells from which the next step leads to another cell.

    """

    side: int = 6
    slip: float = 0.1
    belts: dict[Cell, Cell] = field(default_factory=dict)
    mud: frozenset[Cell] = frozenset()
    resets: frozenset[Cell] = frozenset()
    holds: frozenset[Cell] = frozenset()
    walls: frozenset[Cell] = frozenset()
    leaps: dict[Cell, Cell] = field(default_factory=dict)

    @property
    def mdp(self) -> swarmdp.FiniteMDP:
        """The grid as a finite MDP that starts anywhere."""
        side = self.side
        cells = [(r, c) for r in range(side) for c in range(side)]
        free = [cell for cell in cells if cell not in self.walls]
        start = np.array([cell in free for cell in cells]) / len(free)
        kernel = np.zeros((len(MOVES), side * side, side * side))
        for s, cell in enumerate(cells):
            if cell in self.resets:
                kernel[:, s] = start
                continue
            if cell in self.holds or cell in self.walls:
                kernel[:, s, s] = 1
                continue
            if cell in self.leaps:
                kernel[:, s, self._number(self.leaps[cell])] = 1
                continue
            for move, way in enumerate(MOVES):
                there = self._step(cell, way)
                if cell in self.belts:
                    there = self._step(there, self.belts[cell])
                chance = np.full(len(MOVES), self.slip / len(MOVES))
                chance[move] += 1 - self.slip
                stay = 0.8 if cell in self.mud else 0.0
                kernel[:, s, self._number(there)] += chance * (1 - stay)
                kernel[:, s, s] += chance * stay
        with warnings.catch_warnings():
            # Walls are never reached, as they should not be.
            warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
            return swarmdp.FiniteMDP(list(kernel), initial=start)

    def _number(self, cell: Cell) -> int:
        return cell[0] * self.side + cell[1]

    def _step(self, cell: Cell, way: Cell) -> Cell:
        there = cell[0] + way[0], cell[1] + way[1]
        inside = 0 <= there[0] < self.side and 0 <= there[1] < self.side
        return there if inside and there not in self.walls else cell


@dataclass(frozen=True)
class Problem:
    """An MDP with a known reward, and the same states with other dynamics."""

    name: str
    here: Dynamics
    changed: Dynamics
    reward: Floats  # one number for each state

    def demo(self, seed: int, runs: int = 30, steps: int = 60) -> swarmdp.Trajectory:
        """What the learner is given: states of an agent that is optimal, and no actions."""
        mdp = self.here.mdp
        expert = planned(mdp, self.reward)
        return swarmdp.rollout(mdp, expert, steps=steps, runs=runs, seed=seed, progress=False)

    def share(self, weights: Floats, *, changed: bool) -> float:
        """The value of what is planned for these weights: 0 for random, 1 for optimal."""
        mdp = (self.changed if changed else self.here).mdp
        return self.share_of(planned(mdp, weights), changed=changed)

    def share_of(self, policy: swarmdp.Policy | SoftPolicy, *, changed: bool) -> float:
        """The value of a policy: 0 for random, 1 for optimal."""
        mdp = (self.changed if changed else self.here).mdp
        rng = np.random.default_rng(0)
        size = (_RANDOM, mdp.n_states)
        tables = swarmdp.Policy(rng.integers(0, mdp.n_actions, size=size))
        chance = float(self._value(mdp, tables).mean())
        best = float(self._value(mdp, planned(mdp, self.reward))[0])
        return (float(self._value(mdp, policy)[0]) - chance) / (best - chance)

    def _value(self, mdp: swarmdp.FiniteMDP, policy: swarmdp.Policy | SoftPolicy) -> Floats:
        value: Floats = exact_expectations(mdp, policy, discount=DISCOUNT, steps=None) @ self.reward
        return value


def planned(mdp: swarmdp.FiniteMDP, weights: Floats) -> swarmdp.Policy:
    """The optimal policy of a reward."""
    policy = swarmdp.learning.plan(mdp, swarmdp.Reward(weights), discount=DISCOUNT).policy
    assert isinstance(policy, swarmdp.Policy)
    return policy


def cells_with(side: int, values: dict[Cell, float]) -> Floats:
    """A reward of these numbers in these cells, and zero elsewhere."""
    reward = np.zeros((side, side))
    for cell, value in values.items():
        reward[cell] = value
    return reward.ravel()
