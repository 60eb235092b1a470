"""Swarms drawn at random among all homogeneous ones: to test what must hold for every swarm."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Levels
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State
from swarmdp.support.arguments import checked
from swarmdp.support.checks import keep_python_numbers
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import PositiveInteger, Seed
from swarmdp.theory.finite_swarm import (
    Acting,
    check_indices,
    check_numbers,
    draw_next_states,
    drawn_local,
    local_arrays,
)

_MOST_CHANCES = 2**25  # probabilities in the table of all laws


@checked
@dataclass(frozen=True)
class RandomSwarm:
    """A homogeneous swarm whose laws are drawn with a seed.

    What an agent sees, and the law of its next local state under each action, depend on its own
    local state and on how many of the others are in which: any homogeneous swarm whose agents move
    independently is of this kind. Each law gives positive probability to `successors` local states
    (to all of them if None). With `n_observations=None` every situation (own state, counts of the
    others) is an observation of its own, which is all that an agent of a homogeneous swarm could
    ever see.

    Parameters
    ----------
    n_agents
        The number of agents.
    n_local
        The number of local states.
    n_observations
        The number of observations; None for one in each situation.
    n_actions
        The number of actions.
    successors
        The number of local states that a law leads to; None for all.
    acting
        Who acts in a step: "all" agents, or "one" of them, drawn uniformly.
    seed
        Same seed, same swarm.

    Examples
    --------
    >>> from swarmdp import theory
    >>> swarm = theory.RandomSwarm(n_agents=2, n_local=3, seed=1)
    >>> theory.enumerate_swarm(swarm).n_states
    9

    """

    n_agents: PositiveInteger = 3
    n_local: PositiveInteger = 3
    n_observations: PositiveInteger | None = 3
    n_actions: PositiveInteger = 2
    successors: PositiveInteger | None = None
    acting: Acting = "all"
    seed: Seed = 0

    fields: ClassVar[Mapping[str, Field]] = {
        "level": Field("number of the local state", kind="level")
    }

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        if self.successors is not None and self.successors > self.n_local:
            raise InvalidInput(
                f"successors must be at most n_local = {self.n_local}, got {self.successors}"
            )

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """The numbers of the actions."""
        return np.arange(self.n_actions)

    @cached_property
    def features(self) -> Levels:
        """The observations themselves."""
        return Levels(
            int(self._tables[1].max()) + 1 if self.n_observations is None else self.n_observations
        )

    @property
    def initial_local(self) -> NDArray[np.float64]:
        """Drawn with the seed."""
        return self._tables[0]

    def initial(self, rng: Stream) -> State:
        """Independent and identically distributed."""
        return self.place(drawn_local(self, rng))

    def place(self, local: NDArray[np.integer]) -> State:
        """The numbers are the states."""
        check_numbers(self, local)
        return {"level": local.astype(np.int32)}

    def local(self, state: State) -> NDArray[np.int64]:
        """The states are the numbers."""
        return local_arrays(self, state, level=self.n_local)[0]

    def observe(self, state: State) -> NDArray[np.int64]:
        """From the table, for the own state and the others' counts."""
        seen: NDArray[np.int64] = self._tables[1][self.local(state), self._others(state)]
        return seen

    def outcomes(self, state: State, actions: NDArray[np.integer]) -> NDArray[np.float64]:
        """From the table, for the own state, the others' counts and the action."""
        check_indices(self, actions, self.local(state).shape)
        law: NDArray[np.float64] = self._tables[2][self.local(state), self._others(state), actions]
        return law

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Draw the next local states."""
        return self.place(draw_next_states(self, state, actions, rng))

    def _others(self, state: State) -> NDArray[np.int64]:
        """Which of all possible counts of the other agents each agent has around it."""
        indicator = state["level"][..., None] == np.arange(self.n_local)
        counts = indicator.sum(axis=1, keepdims=True) - indicator
        above = counts[..., ::-1].cumsum(axis=-1)[..., ::-1] - counts
        number: NDArray[np.int64] = self._earlier[np.arange(self.n_local), above].sum(axis=-1)
        return number

    @cached_property
    def _earlier(self) -> NDArray[np.int64]:
        """How many counts come before one, for each local state (n_local, n_agents).

        Counts are in the order of the lists of the others' local states, sorted. Among those that
        are the same up to a local state, the ones with more agents in it come first: the ways to
        leave fewer of the others for all that are above.
        """
        higher = range(self.n_local - 1, -1, -1)
        return np.array(
            [[math.comb(n + h - 1, h) if n else 0 for n in range(self.n_agents)] for h in higher]
        )

    @cached_property
    def _tables(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
        """The initial law, the observations and the laws of motion."""
        situations = (self.n_local, math.comb(self.n_local + self.n_agents - 2, self.n_agents - 1))
        size = situations[0] * situations[1]
        if size * self.n_actions * self.n_local > _MOST_CHANCES:
            raise InvalidInput(
                f"the laws of RandomSwarm with {self.n_agents} agents and {self.n_local} local "
                f"states are for {size} situations, {size * self.n_actions * self.n_local} "
                f"probabilities, more than the {_MOST_CHANCES} that are possible: take fewer "
                "agents or local states"
            )
        rng = np.random.default_rng(self.seed)
        initial = rng.dirichlet(np.ones(self.n_local))
        if self.n_observations is None:
            seen = np.arange(size)
        else:
            # Every observation occurs, as far as there are situations for it.
            seen = rng.permutation(np.arange(size) % self.n_observations)
        law = rng.exponential(size=(*situations, self.n_actions, self.n_local))
        if self.successors is not None:
            order = rng.permuted(np.broadcast_to(np.arange(self.n_local), law.shape), axis=-1)
            law = np.where(order < self.successors, law, 0.0)
        law /= law.sum(axis=-1, keepdims=True)
        return initial, seen.reshape(situations), law
