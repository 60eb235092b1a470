"""Other bodies: they see what a group of points sees, and something of themselves.

The actions of a body are its own: torques, wheel speeds, commands. `Body.turned` says what an
action does; `Body.nearest` says which action stands nearest to a turn if one knows no more of the
body than how much its actions turn it when nothing else is under way. That is how a policy of
points is copied. `Body.modelled` is a better copy: the action after which the turn of the next step
is nearest, by a model of the body and all that it knows of itself.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.bodies.groups import Floats, Flock, Group, together
from swarmdp.model import Field, Mirror
from swarmdp.model.features import Classes
from swarmdp.model.streams import Stream
from swarmdp.model.system import State

_TURNS: NDArray[np.float64] = np.radians(np.arange(-60, 61, 10.0))


@dataclass(frozen=True)
class Body:
    """What all bodies share: a group's observations first, then the body's own."""

    group: Group = field(default_factory=Flock)
    pace: float = 1.0  # share of the usual speed

    own: ClassVar[Mapping[str, Field]] = {}  # what the body adds to a state
    own_odd: ClassVar[tuple[bool, ...]] = ()  # which of what it adds to observations turns its sign

    @property
    def n_agents(self) -> int:
        """Those of the group."""
        return self.group.n_agents

    @property
    def actions(self) -> NDArray[Any]:
        """Turns, as points have them."""
        return np.asarray(self.group.points.actions)

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The classes of what the body observes of itself."""
        return {}

    @cached_property
    def features(self) -> swarmdp.Product:
        """The group's components and the body's."""
        return together({**self.group.components, **self.senses})

    @cached_property
    def mirror(self) -> Mirror:
        """Left and right exchanged: actions change their sign, and some components."""
        signs = np.where([*self.group.odd, *self.own_odd], -1.0, 1.0)
        return Mirror(lambda seen: seen * signs, np.negative)

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The group's and the body's."""
        return {**self.group.fields, **self.own}

    def initial(self, rng: Stream) -> State:
        """The group's start, with bodies at rest."""
        return {**self.group.initial(rng), **self.rest(rng)}

    def observe(self, state: State) -> Floats:
        """What the group sees, then what the body knows of itself."""
        return np.concatenate([self.group.seen(state), self.knows(state)], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """The body makes a turn and a pace of the action; the group moves by them."""
        turn, drive, own = self.turned(state, actions)
        return {**self.group.moved(state, turn, self.pace * drive, rng), **own}

    def rest(self, rng: Stream) -> State:
        """What the body adds to a state, at the start."""
        return {}

    def knows(self, state: State) -> Floats:
        """What the body observes of itself (runs, agents, senses)."""
        return np.empty((*state["heading"].shape, 0))

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The turn of this step, the share of full speed, and the body's next state."""
        return actions, 1.0, {}

    def nearest(self, turn: NDArray[Any]) -> NDArray[Any]:
        """The action that turns most nearly by this much, whatever is under way."""
        return self._closest(turn)

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """The action after which the next turn is most nearly this, as the body knows itself."""
        return self.nearest(turn)

    def _closest(self, wanted: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.actions[_nearest(wanted, self.actions)])


@dataclass(frozen=True)
class Heavy(Body):
    """A body with inertia: actions are torques, and a rate of turning goes on by itself."""

    keep: float = 0.92  # of the rate, from one step to the next
    torque: float = math.radians(18)  # at most

    own: ClassVar[Mapping[str, Field]] = {"rate": Field("rate of turning", "rad", kind="hidden")}
    own_odd: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def actions(self) -> NDArray[np.float64]:
        """Seven torques."""
        return self.torque * np.linspace(-1, 1, 7)

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The rate of turning, in units of what torques can stop in a step, two, four."""
        return {"rate": _signed(self.torque * np.array([0.5, 1.5, 3.0, 5.0]))}

    def rest(self, rng: Stream) -> State:
        """No turning."""
        return {"rate": np.zeros(rng.shape)}

    def knows(self, state: State) -> Floats:
        """The rate."""
        return np.asarray(state["rate"][..., None])

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The rate changes by the torque, and is the turn."""
        rate = self.keep * state["rate"] + actions
        return rate, 1.0, {"rate": rate}

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """The torque that makes the rate most nearly the turn."""
        return self._closest(turn - self.keep * observations[..., -1])


@dataclass(frozen=True)
class Limited(Body):
    """A body whose actions are turn rates, which it takes on only slowly."""

    rate: float = math.radians(30)  # at most
    change: float = math.radians(5)  # of the rate in a step, at most

    own: ClassVar[Mapping[str, Field]] = {"rate": Field("rate of turning", "rad", kind="hidden")}
    own_odd: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def actions(self) -> NDArray[np.float64]:
        """Seven rates."""
        return self.rate * np.linspace(-1, 1, 7)

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The rate, in steps of what can change."""
        edges = self.change * np.arange(0.5, self.rate / self.change, 1.0)
        return {"rate": _signed(edges)}

    def rest(self, rng: Stream) -> State:
        """No turning."""
        return {"rate": np.zeros(rng.shape)}

    def knows(self, state: State) -> Floats:
        """The rate."""
        return np.asarray(state["rate"][..., None])

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The rate comes as near to the action as it can, and is the turn."""
        rate = state["rate"] + np.clip(actions - state["rate"], -self.change, self.change)
        return rate, 1.0, {"rate": rate}


_WHEELS = np.array(
    [[1.0, -1.0], [1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [0.5, 1.0], [0.0, 1.0], [-1.0, 1.0]]
)  # left and right wheel, from the sharpest turn to the right to that to the left


@dataclass(frozen=True)
class Wheels(Body):
    """A robot with two driven wheels, whose motors follow their commands with a lag.

    Actions are numbers of pairs of wheel speeds (`pairs`), from -3 to 3. The difference of the two
    wheels turns it; their mean moves it.
    """

    keep: float = 0.8  # of a wheel's speed, from one step to the next
    axle: float = 1.0  # between the wheels, in the way of a wheel at full speed in a step

    pairs: ClassVar[NDArray[np.float64]] = _WHEELS
    own: ClassVar[Mapping[str, Field]] = {
        "wheels": Field("wheel speeds", axes=("wheel",), kind="hidden")
    }
    own_odd: ClassVar[tuple[bool, ...]] = (True,)

    @property
    def actions(self) -> NDArray[np.int64]:
        """Numbers of pairs."""
        return np.arange(-3, 4)

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The rate of turning, by odometry."""
        return {"rate": _signed(np.array([0.05, 0.2, 0.4, 0.7]) * 2 / self.axle)}

    def rest(self, rng: Stream) -> State:
        """Full speed ahead."""
        return {"wheels": np.ones((*rng.shape, 2))}

    def knows(self, state: State) -> Floats:
        """The rate of turning."""
        return self._turn(state["wheels"])[..., None]

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The wheels come nearer to the commanded pair."""
        pair = self.pairs[np.asarray(actions).astype(np.int64) + 3]
        wheels = self.keep * state["wheels"] + (1 - self.keep) * pair
        return self._turn(wheels), wheels.mean(axis=-1), {"wheels": wheels}

    def nearest(self, turn: NDArray[Any]) -> NDArray[Any]:
        """The pair that turns most nearly by this much once the wheels have its speeds."""
        return self._pair(turn)

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """The pair after which the turn of the next step is nearest."""
        return self._pair((turn - self.keep * observations[..., -1]) / (1 - self.keep))

    def _turn(self, wheels: NDArray[Any]) -> Floats:
        return np.asarray((wheels[..., 1] - wheels[..., 0]) / self.axle)

    def _pair(self, turn: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.actions[_nearest(turn, self._turn(self.pairs))])


@dataclass(frozen=True)
class Delayed(Body):
    """Points whose turns come some steps late; they know what they have ordered so far."""

    delay: int = 2

    own: ClassVar[Mapping[str, Field]] = {
        "ordered": Field("turns under way", "rad", axes=("order",), kind="hidden")
    }
    own_odd: ClassVar[tuple[bool, ...]] = (True,)

    actions: ClassVar[NDArray[np.float64]] = _TURNS

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The sum of the turns under way."""
        return {"ordered": _signed(np.radians(np.array([5, 15, 25, 35, 55, 75, 95, 125.0])))}

    def rest(self, rng: Stream) -> State:
        """Nothing under way."""
        return {"ordered": np.zeros((*rng.shape, self.delay))}

    def knows(self, state: State) -> Floats:
        """The sum of what is under way."""
        return np.asarray(state["ordered"].sum(axis=-1, keepdims=True))

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """What was ordered first comes now."""
        queue = np.concatenate([state["ordered"], np.asarray(actions)[..., None]], axis=-1)
        return np.asarray(queue[..., 0]), 1.0, {"ordered": queue[..., 1:].copy()}

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """What is left of the turn after those under way."""
        return self._closest(turn - observations[..., -1])


@dataclass(frozen=True)
class Biased(Body):
    """Points whose steering pulls to one side, half of them left; they know to which."""

    bias: float = math.radians(30)

    own: ClassVar[Mapping[str, Field]] = {"side": Field("side of the bias", constant=True)}
    own_odd: ClassVar[tuple[bool, ...]] = (True,)

    actions: ClassVar[NDArray[np.float64]] = _TURNS

    @property
    def senses(self) -> Mapping[str, Classes]:
        """The side."""
        return {"side": swarmdp.Bins([-2.0, 0.0, 2.0])}

    def rest(self, rng: Stream) -> State:
        """A side by chance."""
        return {"side": 2.0 * rng.integers(2) - 1.0}

    def knows(self, state: State) -> Floats:
        """The side."""
        return np.asarray(state["side"][..., None])

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The turn and the bias."""
        return actions + self.bias * state["side"], 1.0, {"side": state["side"]}

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """The turn without the bias."""
        return self._closest(turn - self.bias * observations[..., -1])


@dataclass(frozen=True)
class Broken(Body):
    """Points of which some are broken: their steering is dead, or wired the wrong way round.

    A self-test tells each which it is.
    """

    share: float = 0.5  # that are broken
    wiring: float = -1.0  # what a broken one makes of a turn: 0 nothing, -1 the opposite

    own: ClassVar[Mapping[str, Field]] = {"works": Field("factor of the steering", constant=True)}
    own_odd: ClassVar[tuple[bool, ...]] = (False,)

    actions: ClassVar[NDArray[np.float64]] = _TURNS

    @property
    def senses(self) -> Mapping[str, Classes]:
        """Whether it works."""
        return {"works": swarmdp.Bins([-2.0, 0.5, 2.0])}

    def rest(self, rng: Stream) -> State:
        """Broken or not, by chance."""
        return {"works": np.where(rng.uniform() < self.share, self.wiring, 1.0)}

    def knows(self, state: State) -> Floats:
        """The factor of the steering."""
        return np.asarray(state["works"][..., None])

    def turned(self, state: State, actions: NDArray[Any]) -> tuple[Floats, Any, State]:
        """The turn by the factor."""
        return actions * state["works"], 1.0, {"works": state["works"]}

    def modelled(self, turn: NDArray[Any], observations: NDArray[Any]) -> NDArray[Any]:
        """The turn by the factor, which undoes itself."""
        return self._closest(turn * observations[..., -1])


def _nearest(wanted: NDArray[Any], turns: NDArray[Any]) -> NDArray[np.int64]:
    """The index of the nearest turn; just between two, the smaller one, so that none is favoured.

    With the first of them, all would round to the same side and the copied swarm fly in circles.
    """
    gaps = np.abs(np.asarray(wanted)[..., None] - turns) + 1e-9 * np.abs(turns)
    return np.asarray(gaps.argmin(axis=-1))


def _signed(edges: NDArray[np.float64]) -> swarmdp.Bins:
    """Classes of a quantity between these edges and their negatives, and beyond them."""
    return swarmdp.Bins(np.concatenate([[-1e3], -edges[::-1], edges, [1e3]]))
