"""Two swarms of points that turn at will, with experts; all arrays are (runs, agents, ...)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.model import Field, Mirror
from swarmdp.model.features import Classes
from swarmdp.model.streams import Stream
from swarmdp.model.system import State, System

Floats = NDArray[np.float64]

_FINE = 2.0**20  # to so fine a part of one, lengths are rounded before they are added up


class Group(Protocol):
    """What agents see of each other, and how they move if they turn by so much."""

    @property
    def n_agents(self) -> int:
        """The number of agents."""

    @property
    def components(self) -> Mapping[str, Classes]:
        """The classes of what is seen, by name."""

    @property
    def odd(self) -> tuple[bool, ...]:
        """Which components change their sign in the mirror."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """What a state holds."""

    @property
    def points(self) -> System:
        """The swarm of points that turn at will, with an expert."""

    def initial(self, rng: Stream) -> State:
        """Positions and headings."""

    def seen(self, state: State) -> Floats:
        """The components (runs, agents, components)."""

    def moved(self, state: State, turn: NDArray[Any], pace: Any, rng: Stream) -> State:
        """Positions and headings after a step with so much of the usual speed, and a turn."""


@dataclass(frozen=True)
class Flock:
    """The group of the Vicsek model: agents see how far they are from their neighbours' heading.

    In a corridor, two walls along x reflect; the box is as long as it is otherwise.
    """

    n_agents: int = 100
    radius: float = 0.14
    speed: float = 0.1
    noise: float = math.radians(10)
    box: float = 1.0
    corridor: float | None = None  # its width, if there are walls

    @property
    def points(self) -> swarmdp.Vicsek:
        """The Vicsek model with these numbers, in the open."""
        return swarmdp.Vicsek(
            n_agents=self.n_agents,
            radius=self.radius,
            speed=self.speed,
            noise=self.noise,
            box=self.box,
        )

    @property
    def components(self) -> Mapping[str, Classes]:
        """The misalignment."""
        return {"misalignment": self.points.features}

    odd = (True,)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Those of the Vicsek model."""
        return self.points.fields

    def initial(self, rng: Stream) -> State:
        """Anywhere, with any heading."""
        place = rng.uniform(size=(2,)) * [self.box, self.corridor or self.box]
        return {"position": place, "heading": rng.uniform(-math.pi, math.pi)}

    def seen(self, state: State) -> Floats:
        """The misalignment."""
        return self.points.observe({name: state[name] for name in ("position", "heading")})[
            ..., None
        ]

    def moved(self, state: State, turn: NDArray[Any], pace: Any, rng: Stream) -> State:
        """A step along the heading before the turn; walls reflect."""
        heading = state["heading"]
        place = state["position"] + _step(heading, self.speed * pace)
        heading = _wrapped(heading + turn + rng.normal(scale=self.noise))
        if self.corridor is None:
            return {"position": place % self.box, "heading": heading}
        x, y = place[..., 0] % self.box, place[..., 1]
        outside = (y < 0) | (y > self.corridor)
        y = np.where(y < 0, -y, np.where(y > self.corridor, 2 * self.corridor - y, y))
        return {
            "position": np.stack([x, y], axis=-1),
            "heading": np.where(outside, _wrapped(-heading), heading),
        }


@dataclass(frozen=True)
class School:
    """Agents in open space that keep together and apart: attraction and repulsion.

    An agent attends to one angle. If another is nearer than `near`, it is the bearing of the
    nearest; else, if the centre of those in sight is farther than `far`, the bearing of the centre;
    else how far those in sight head from its own heading. Which of the three it is, it knows, too
    (the zone). Points turn at will: the expert turns away from who is too near, to a centre that is
    far, and with the others otherwise.
    """

    n_agents: int = 40
    near: float = 0.5
    far: float = 4.0
    sight: float = 20.0
    speed: float = 0.2
    noise: float = math.radians(15)

    actions = np.radians(np.arange(-90, 91, 15.0))
    odd = (True, False)

    @property
    def points(self) -> "School":
        """These themselves."""
        return self

    @property
    def components(self) -> Mapping[str, Classes]:
        """The angle, and the zone: 0 too near, 1 well, 2 too far."""
        return {"angle": swarmdp.Angles(24), "zone": swarmdp.Levels(3)}

    @property
    def features(self) -> swarmdp.Product:
        """Both together."""
        return together(self.components)

    mirror = Mirror(lambda seen: seen * [-1, 1], np.negative)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Position and heading."""
        return {
            "position": Field("position", axes=("axis",), kind="position"),
            "heading": Field("heading", "rad", kind="angle"),
        }

    def initial(self, rng: Stream) -> State:
        """In a square, with any heading."""
        width = 1.5 * math.sqrt(self.n_agents)
        return {
            "position": rng.uniform(size=(2,)) * width,
            "heading": rng.uniform(-math.pi, math.pi),
        }

    def seen(self, state: State) -> Floats:
        """The angle to which each attends, and its zone."""
        heading = state["heading"]
        dx, dy = (_gaps(state["position"][..., axis]) for axis in (0, 1))
        square = dx * dx + dy * dy
        others = ~np.eye(self.n_agents, dtype=np.bool_)
        apart = np.where(others, square, np.inf)
        nearest = apart.argmin(axis=2)[..., None]
        sees = ((square < self.sight**2) & others).astype(np.float64)
        count = np.maximum(sees.sum(axis=2), 1)
        # Sums of whole numbers do not depend on the order of the agents.
        centre = [(sees * np.rint(d * _FINE)).sum(axis=2) / (_FINE * count) for d in (dx, dy)]
        flow = [(sees @ np.rint(f(heading) * _FINE)[..., None])[..., 0] for f in (np.cos, np.sin)]
        beside = [np.take_along_axis(d, nearest, axis=2)[..., 0] for d in (dx, dy)]
        crowded = beside[0] ** 2 + beside[1] ** 2 < self.near**2
        away = centre[0] ** 2 + centre[1] ** 2 > self.far**2
        zone = np.where(crowded, 0, np.where(away, 2, 1))
        x, y = (np.choose(zone, parts) for parts in zip(beside, flow, centre, strict=True))
        # Who sees no one goes on.
        alone = (x == 0) & (y == 0)
        angle = np.where(alone, 0.0, _wrapped(np.arctan2(y, x) - heading))
        return np.stack([angle, zone.astype(np.float64)], axis=2)

    def observe(self, state: State) -> Floats:
        """What is seen."""
        return self.seen(state)

    def moved(self, state: State, turn: NDArray[Any], pace: Any, rng: Stream) -> State:
        """A step along the heading after the turn."""
        heading = _wrapped(state["heading"] + turn + rng.normal(scale=self.noise))
        return {
            "position": state["position"] + _step(heading, self.speed * pace),
            "heading": heading,
        }

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Points turn by the action."""
        return self.moved(state, actions, 1.0, rng)

    def expert(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """Away from who is too near, to a centre that is far, with the others otherwise."""
        angle, zone = observations[..., 0], observations[..., 1]
        wanted = np.where(zone == 0, _wrapped(angle + np.pi), angle)
        return np.clip(wanted, self.actions[0], self.actions[-1])


def together(components: Mapping[str, Classes]) -> swarmdp.Product:
    """Classes of several components as one."""
    parts: dict[str, Any] = dict(components)
    return swarmdp.Product(**parts)


def _step(heading: Floats, length: Any) -> Floats:
    return np.stack([length * np.cos(heading), length * np.sin(heading)], axis=-1)


def _gaps(place: Floats) -> Floats:
    """Where all others (last axis) are from each agent (last but one)."""
    gaps: Floats = place[..., None, :] - place[..., :, None]
    return gaps


def _wrapped(angle: NDArray[Any]) -> Floats:
    """Angles from -pi to pi."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)
