"""Vicsek swarms in which the same actions mean something else.

A policy that is right in the paper's swarm asks here for turns that come out differently: with a
bias, half of them a step later, for what was seen a step ago, or not at all.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import Angles, Bins, Product, Vicsek
from swarmdp.model import Field, Measure, Mirror
from swarmdp.model.streams import Stream
from swarmdp.model.system import State
from swarmdp.support.checks import check_between, check_integer, is_number
from swarmdp.support.errors import InvalidInput


@dataclass(frozen=True)
class ChangedVicsek:
    """A Vicsek swarm whose agents turn, or observe, in another way than the paper's.

    With the defaults nothing is changed. Random numbers are those of the unchanged swarm, so that
    the two can be compared run by run.

    Parameters
    ----------
    vicsek
        The swarm that is changed.
    bias
        An angle that is added to every turn, in radians.
    lag
        The share of each turn that comes a step later, from 0 to 1.
    delayed
        Agents observe the misalignment that they had a step ago; at the start the present one.
    idle
        The share of agents that ignore their action and fly straight on, but for the noise. Who
        they are is drawn at the start, and agents do not observe it.
    remembers
        If above 0, agents also observe the turn that they last asked for, in this number of
        classes. A reward then has weights for the misalignment, followed by weights for that turn.

    """

    vicsek: Vicsek = field(default_factory=Vicsek)
    bias: float = 0.0
    lag: float = 0.0
    delayed: bool = False
    idle: float = 0.0
    remembers: int = 0

    action_units: ClassVar[str] = "rad"

    def __post_init__(self) -> None:
        if not isinstance(self.vicsek, Vicsek):
            raise InvalidInput(f"vicsek must be a swarmdp.Vicsek, got {type(self.vicsek).__name__}")
        if not is_number(self.bias) or not math.isfinite(self.bias):
            raise InvalidInput(f"bias must be a finite angle in radians, got {self.bias!r}")
        for name in ("lag", "idle"):
            check_between(name, getattr(self, name), 0, 1)
        if not isinstance(self.delayed, bool):
            raise InvalidInput(f"delayed must be True or False, got {self.delayed!r}")
        check_integer("remembers", self.remembers, least=0)

    @property
    def n_agents(self) -> int:
        """Those of the swarm that is changed."""
        return self.vicsek.n_agents

    @property
    def actions(self) -> NDArray[np.float64]:
        """The turns that an agent can ask for."""
        return self.vicsek.actions

    @cached_property
    def features(self) -> Angles | Bins | Product:
        """The classes of misalignment, each with the classes of the last turn if it is observed."""
        seen = self.vicsek.features
        if not self.remembers:
            return seen
        inner = np.linspace(self.actions.min(), self.actions.max(), self.remembers + 1)[1:-1]
        turn = Bins([-math.inf, *inner, math.inf], "turn", "rad")
        return Product(misalignment=seen, turn=turn, additive=True)

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the swarm that is changed, and what is changed."""
        return asdict(self)

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Positions and headings, and what else the state needs."""
        fields = dict(self.vicsek.fields)
        if self._keeps_turns:
            fields["turn"] = Field("turn that was last asked for", units="rad", kind="angle")
        if self.delayed:
            fields["seen"] = Field("misalignment of a step ago", units="rad", kind="angle")
        if self.idle:
            fields["idle"] = Field("whether an agent ignores its action", constant=True)
        return fields

    def initial(self, rng: Stream) -> State:
        """Positions and headings as in the unchanged swarm; no agent has turned yet."""
        state = self.vicsek.initial(rng)
        if self._keeps_turns:
            state["turn"] = np.zeros(rng.shape)
        if self.delayed:
            state["seen"] = self.vicsek.observe(state)
        if self.idle:
            state["idle"] = rng.permutation() < round(self.idle * self.n_agents)
        return state

    def observe(self, state: State) -> NDArray[np.float64]:
        """The misalignment, now or a step ago, and the last turn if agents remember it."""
        seen = state["seen"] if self.delayed else self.vicsek.observe(state)
        return np.stack([seen, state["turn"]], axis=-1) if self.remembers else seen

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """As in the unchanged swarm, with the turns that the actions come to."""
        after = self.vicsek.transition(state, self._turns(state, actions), rng)
        if self._keeps_turns:
            after["turn"] = np.array(actions, np.float64)
        if self.delayed:
            after["seen"] = self.vicsek.observe(state)
        if self.idle:
            after["idle"] = state["idle"]
        return after

    def order(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The order parameter of all agents, 0 to 1."""
        return self.vicsek.order(swarm)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The order parameter."""
        return self.vicsek.measures

    @property
    def mirror(self) -> Mirror | None:
        """Left and right, unless a bias or the turns that there are tell them apart."""
        return None if self.bias else self.vicsek.mirror

    @property
    def _keeps_turns(self) -> bool:
        return self.remembers > 0 or self.lag > 0

    def _turns(self, state: State, actions: NDArray[Any]) -> NDArray[np.float64]:
        """What each agent turns by in this step, before the noise."""
        turn = np.asarray(actions, np.float64)
        if self.lag:
            turn = (1 - self.lag) * turn + self.lag * state["turn"]
        turn = turn + self.bias
        return np.where(state["idle"], 0.0, turn) if self.idle else turn
