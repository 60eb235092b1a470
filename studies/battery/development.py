"""The swarms on which a learner is developed: small, quick, and of many kinds.

Each is a plain NumPy class, as a user would write it: agents that see little, and an expert that
says what they should do. Most experts are a table of the classes of observations; those of `Flock`
and `Convoy` also use what the classes do not tell. Two swarms cannot be learned by agents that see
only what is given: `Sentries` must count their steps, and `Tide` follows what nobody sees. Their
demos are recorded from agents that do see it (`InformedCase`).

All arrays are (runs, agents, ...). Sums over agents are sums of whole numbers, so that they do not
depend on the order of the agents.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from studies.battery.case import Case, Score
from swarmdp import Angles, Bins, Levels, Product
from swarmdp.model import Field, Measure, Mirror
from swarmdp.model.streams import Stream
from swarmdp.model.system import State, System, name_of
from swarmdp.model.traits import HasExpert, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.rollout import rollout
from swarmdp.support.errors import InvalidInput

Swarm = Mapping[str, NDArray[Any]]
"""A state (runs, agents, ...), or the states of several times (runs, times, agents, ...)."""

_COMPASS = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]])  # stay, east, north, west, south
_NORTH_SOUTH = np.array([0, 1, 4, 3, 2])  # these moves with north and south exchanged
_FINE = 2.0**20  # to so fine a part of one, lengths are rounded before they are added up


@dataclass(frozen=True)
class Quorum:
    """Wanderers with one of three opinions agree on one of them.

    An agent sees how many of those near share its opinion, in quarters, and which of the two other
    opinions leads among them. The expert gives its opinion up for that one when less than half
    share it. A change takes effect with the probability `response`.
    """

    n_agents: int = 60
    reach: float = 0.25  # how far agents see
    stride: float = 0.05  # of their wandering
    response: float = 0.3  # the share of changes that take effect

    actions = np.array([-1, 0, 1])
    features = Product(agreeing=Levels(4), leader=Levels(3))  # 0 previous, 1 neither, 2 next
    mirror = Mirror(lambda seen: seen * [1, -1] + [0, 2], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "opinion": Field("opinion, 0 to 2", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, with any opinion."""
        return {"position": rng.uniform(size=(2,)), "opinion": rng.integers(3)}

    def observe(self, state: State) -> NDArray[np.int64]:
        """The quarter of agreement, and the side of the leading other opinion."""
        opinion = state["opinion"]
        near = _pairs(state["position"], self.reach, period=1.0)[2]
        count = near.astype(np.float64) @ np.eye(3)[opinion]
        own, after, before = (
            np.take_along_axis(count, ((opinion + k) % 3)[..., None], axis=2)[..., 0]
            for k in range(3)
        )
        everyone = own + after + before
        share = np.where(everyone > 0, own / np.maximum(everyone, 1), 1.0)
        agreeing = np.minimum(share * 4, 3).astype(np.int64)
        return np.stack([agreeing, np.sign(after - before).astype(np.int64) + 1], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Some of the changes happen; all wander."""
        change = np.where(rng.uniform() < self.response, actions, 0)
        wander = rng.normal(scale=self.stride, size=(2,))
        return {
            "position": (state["position"] + wander) % 1,
            "opinion": (state["opinion"] + change) % 3,
        }

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """To the leading other opinion, where less than half agree."""
        return np.where(observations[..., 0] < 2, observations[..., 1] - 1, 0)

    def agreement(self, swarm: Swarm) -> NDArray[np.float64]:
        """The share of the most frequent opinion."""
        return _largest_share(swarm["opinion"])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The agreement."""
        return {"agreement": Measure(self.agreement, "agreement", limits=(0, 1))}


@dataclass(frozen=True)
class Fireflies:
    """Fireflies at fixed places come to flash at the same time.

    Each counts eight phases: it flashes in the first and glows in the last, just before it flashes
    again. It sees its phase, and whether none, one or two, or more of those near are glowing. It
    can flash early, with those who glow, but not in the first three phases. The expert does so when
    anyone near glows. Now and then a firefly slips a beat.
    """

    n_agents: int = 40
    reach: float = 0.3  # how far fireflies see
    slip: float = 0.05  # the share of beats that are missed

    period: ClassVar[int] = 8
    refractory: ClassVar[int] = 3
    actions = np.array([0, 1])
    features = Product(phase=Levels(8), glowing=Levels(3))
    fields: ClassVar[Mapping[str, Field]] = {
        "place": Field("place", axes=("axis",), constant=True),
        "phase": Field("phase", kind="angle", period=8.0),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, in any phase."""
        return {"place": rng.uniform(size=(2,)), "phase": rng.integers(self.period)}

    def observe(self, state: State) -> NDArray[np.int64]:
        """The phase, and how many of those near are glowing."""
        near = _pairs(state["place"], self.reach)[2]
        glowing = (near & (state["phase"] == self.period - 1)[:, None, :]).sum(axis=2)
        return np.stack([state["phase"], np.minimum((glowing + 1) // 2, 2)], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """The next phase; the first for those who flash early."""
        phase = state["phase"]
        early = (actions == 1) & (phase >= self.refractory)
        beat = (rng.uniform() >= self.slip).astype(np.int64)
        return {"place": state["place"], "phase": np.where(early, 0, (phase + beat) % self.period)}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Flash with anyone who glows."""
        phase, glowing = np.moveaxis(observations, -1, 0)
        return np.where((glowing > 0) & (phase >= self.refractory), 1, 0)

    def synchrony(self, swarm: Swarm) -> NDArray[np.float64]:
        """How much the phases agree, 0 to 1."""
        return _order(swarm["phase"] * (2 * np.pi / self.period))

    def flashing(self, swarm: Swarm) -> NDArray[np.float64]:
        """The share of agents that flash."""
        return _mean(swarm["phase"] == 0)

    def pulse(self, swarm: Trajectory) -> NDArray[np.float64]:
        """By how much this share changes over the last third, as a standard deviation."""
        return np.asarray(np.std(self.flashing(_late(swarm)), axis=1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The synchrony."""
        return {"synchrony": Measure(self.synchrony, "synchrony", limits=(0, 1))}


@dataclass(frozen=True)
class Clocks:
    """Pointers on a torus of 6 x 8 sites align with their four neighbours.

    A pointer has eight orientations. It sees the mean direction of its neighbours from its own, in
    sixteen classes, and turns by one orientation or not. The expert turns towards them, unless that
    would turn it past them or they are just opposite. Some turns are noise instead.
    """

    noise: float = 0.1  # the share of turns that are random

    shape: ClassVar[tuple[int, int]] = (6, 8)
    n_agents: ClassVar[int] = 48
    actions = np.array([-1, 0, 1])
    features = Angles(16, "direction of the neighbours")
    mirror = Mirror(np.negative, np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "site": Field("number of the site, row by row", constant=True),
        "orientation": Field("orientation, 0 to 7", kind="angle", period=8.0),
    }

    def initial(self, rng: Stream) -> State:
        """Anyone on each site, with any orientation."""
        return {"site": rng.permutation(), "orientation": rng.integers(8)}

    def observe(self, state: State) -> NDArray[np.float64]:
        """The mean direction of the neighbours, seen from the own; 0 where they cancel."""
        angle = state["orientation"] * (np.pi / 4)
        x, y = (
            np.sum(_beside(state["site"], _whole(part), self.shape), axis=0)
            for part in (np.cos(angle), np.sin(angle))
        )
        return np.where((x == 0) & (y == 0), 0.0, _wrapped(np.arctan2(y, x) - angle))

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn; a few turn at random."""
        turn = np.where(rng.uniform() < self.noise, rng.integers(-1, 2), actions)
        return {"site": state["site"], "orientation": (state["orientation"] + turn) % 8}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Towards the neighbours, where they are at least an orientation away."""
        away = np.rint(observations / (np.pi / 8)).astype(np.int64)
        return np.where((np.abs(away) >= 2) & (np.abs(away) < 8), np.sign(away), 0)

    def order(self, swarm: Swarm) -> NDArray[np.float64]:
        """How much all orientations agree, 0 to 1."""
        return _order(swarm["orientation"] * (np.pi / 4))

    def alignment(self, swarm: Trajectory) -> NDArray[np.float64]:
        """How much neighbours agree at the end, as the mean cosine between them."""
        angle = swarm["orientation"][:, -1] * (np.pi / 4)
        beside = np.stack(_beside(swarm["site"], angle, self.shape))
        return np.asarray(np.cos(angle - beside).mean(axis=(0, 2)))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The order."""
        return {"order": Measure(self.order, "order", limits=(0, 1))}


@dataclass(frozen=True)
class Dissent:
    """Wanderers with one of two opinions keep a majority of about three quarters.

    An agent sees the share of those near who hold the other opinion, in eighths. The expert joins
    a majority, but leaves it where it is larger than three quarters. A change takes effect with the
    probability `response`.
    """

    n_agents: int = 80
    reach: float = 0.3  # how far agents see
    stride: float = 0.1  # of their wandering
    response: float = 0.2  # the share of changes that take effect

    actions = np.array([0, 1])
    features = Bins(np.linspace(0, 1, 9), "share of the other opinion")
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "opinion": Field("opinion, 0 or 1", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, with either opinion."""
        return {"position": rng.uniform(size=(2,)), "opinion": rng.integers(2)}

    def observe(self, state: State) -> NDArray[np.float64]:
        """The share of the other opinion among those near; with nobody near, three eighths."""
        opinion = state["opinion"]
        near = _pairs(state["position"], self.reach, period=1.0)[2]
        everyone = near.sum(axis=2)
        unlike = (near & (opinion[:, :, None] != opinion[:, None, :])).sum(axis=2)
        return np.where(everyone > 0, unlike / np.maximum(everyone, 1), 0.375)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Some of the changes happen; all wander."""
        change = (actions == 1) & (rng.uniform() < self.response)
        wander = rng.normal(scale=self.stride, size=(2,))
        return {
            "position": (state["position"] + wander) % 1,
            "opinion": np.where(change, 1 - state["opinion"], state["opinion"]),
        }

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Join a majority of up to three quarters, leave a larger one."""
        joins = (observations >= 0.5) & (observations < 0.75)
        return np.where(joins | (observations < 0.25), 1, 0)

    def majority(self, swarm: Swarm) -> NDArray[np.float64]:
        """The share of the more frequent opinion."""
        return _largest_share(swarm["opinion"])

    def deviation(self, swarm: Swarm) -> NDArray[np.float64]:
        """How far the majority is from three quarters."""
        return np.abs(self.majority(swarm) - 0.75)

    def lasting(self, swarm: Trajectory) -> NDArray[np.float64]:
        """How much more often the one opinion is held in the last third than the other."""
        return np.abs(_mean(2 * _mean(_late(swarm)["opinion"]) - 1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The majority."""
        return {"majority": Measure(self.majority, "majority", limits=(0.5, 1))}


@dataclass(frozen=True)
class Locusts:
    """Locusts on a ring come to march in the same direction, whichever it is.

    A locust sees whether most of those ahead of it come towards it or go its way, and how crowded
    it is. It goes on or turns round. The expert turns where most come towards it. Now and then a
    locust turns by itself.
    """

    n_agents: int = 50
    reach: float = 0.1  # how far locusts see ahead
    touch: float = 0.02  # how far they feel a crowd
    speed: float = 0.01  # in a step, of the ring
    whim: float = 0.01  # the share of turns that nobody wanted

    actions = np.array([0, 1])
    # 0 nobody ahead, 1 most come, 2 as many, 3 most go; 0 nobody, 1 one or two, 2 more
    features = Product(ahead=Levels(4), crowd=Levels(3))
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position on the ring", kind="position", period=1.0),
        "direction": Field("direction, +1 or -1", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, in either direction."""
        return {"position": rng.uniform(), "direction": 2 * rng.integers(2) - 1}

    def observe(self, state: State) -> NDArray[np.int64]:
        """What those ahead do, and how many are near."""
        direction = state["direction"]
        gaps = _gaps(state["position"], 1.0)
        others = ~np.eye(self.n_agents, dtype=np.bool_)
        onward = gaps * direction[:, :, None]
        ahead = (onward > 0) & (onward < self.reach)
        along = (ahead * (direction[:, :, None] * direction[:, None, :])).sum(axis=2)
        crowd = ((np.abs(gaps) < self.touch) & others).sum(axis=2)
        seen = np.where(ahead.any(axis=2), np.sign(along) + 2, 0)
        return np.stack([seen, np.minimum((crowd + 1) // 2, 2)], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn or not, and go on."""
        turns = (actions == 1) ^ (rng.uniform() < self.whim)
        direction = np.where(turns, -state["direction"], state["direction"])
        step = direction * self.speed + rng.normal(scale=0.2 * self.speed)
        return {"position": (state["position"] + step) % 1, "direction": direction}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Turn round where most of those ahead come."""
        return np.where(observations[..., 0] == 1, 1, 0)

    def order(self, swarm: Swarm) -> NDArray[np.float64]:
        """How much the directions agree, 0 to 1."""
        return np.abs(_mean(swarm["direction"]))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The order."""
        return {"order": Measure(self.order, "order", limits=(0, 1))}


@dataclass(frozen=True)
class Dispersion:
    """Agents that start in the middle of a box spread out until nobody is near, and rest.

    An agent sees in which direction those near are on average, and whether they are none, one or
    two, or more. It stays, or goes east, north, west or south. The expert goes away from them.
    """

    n_agents: int = 36
    reach: float = 0.12  # how far agents see
    stride: float = 0.03  # of a step
    noise: float = 0.005  # of a step, in each direction

    actions = np.arange(5)
    features = Product(side=Angles(8), crowd=Levels(3))
    mirror = Mirror(lambda seen: seen * [-1, 1], lambda move: _NORTH_SOUTH[move])
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position")
    }

    def initial(self, rng: Stream) -> State:
        """In the middle of the box."""
        return {"position": rng.uniform(0.4, 0.6, size=(2,))}

    def observe(self, state: State) -> NDArray[np.float64]:
        """Where the others are, and how many."""
        return _crowd(state["position"], self.reach, period=None)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Go; walls stop it."""
        step = self.stride * _COMPASS[actions] + rng.normal(scale=self.noise, size=(2,))
        return {"position": np.clip(state["position"] + step, 0, 1)}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Away from the others, to the east or west if they are in between."""
        side, crowd = np.moveaxis(observations, -1, 0)
        across = np.abs(np.cos(side)) > np.cos(np.radians(67.5))
        away = np.where(across, np.where(np.cos(side) > 0, 3, 1), np.where(np.sin(side) > 0, 4, 2))
        return np.where(crowd > 0, away, 0)

    def nearest(self, swarm: Swarm) -> NDArray[np.float64]:
        """The mean distance to the nearest other."""
        return _nearest(swarm["position"])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The distance to the nearest other."""
        return {"nearest": Measure(self.nearest, "distance to the nearest other", limits=(0, None))}


@dataclass(frozen=True)
class Moths:
    """Moths run and tumble to a lamp.

    A moth sees only whether it has become darker, stayed as bright or become brighter in the last
    step. It runs on, or rests and takes any new direction. The expert tumbles when it has become
    darker. Those who hit a wall take a new direction, too.
    """

    n_agents: int = 40
    speed: float = 0.03  # of a run
    noise: float = 0.1  # of the heading, in radians

    lamp: ClassVar[tuple[float, float]] = (0.7, 0.6)
    actions = np.array([0, 1])
    features = Bins([-np.inf, -0.005, 0.005, np.inf], "approach")
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position"),
        "heading": Field("heading", "rad", kind="angle"),
        "approach": Field("how much nearer the lamp has come in the last step"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, in any direction."""
        return {
            "position": rng.uniform(size=(2,)),
            "heading": rng.uniform(-np.pi, np.pi),
            "approach": np.zeros(rng.shape),
        }

    def observe(self, state: State) -> NDArray[np.float64]:
        """How much nearer the lamp has come."""
        return state["approach"]

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Run, or rest and take a new direction."""
        tumbles = actions == 1
        heading = state["heading"] + rng.normal(scale=self.noise)
        step = self.speed * np.stack([np.cos(heading), np.sin(heading)], axis=2)
        wanted = state["position"] + np.where(tumbles[..., None], 0.0, step)
        position = np.clip(wanted, 0, 1)
        turned = tumbles | (position != wanted).any(axis=2)
        return {
            "position": position,
            "heading": _wrapped(np.where(turned, rng.uniform(-np.pi, np.pi), heading)),
            "approach": self._far(state["position"]) - self._far(position),
        }

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Tumble when it has become darker."""
        return np.where(observations < -0.005, 1, 0)

    def distance(self, swarm: Swarm) -> NDArray[np.float64]:
        """The mean distance to the lamp."""
        return _mean(self._far(swarm["position"]))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The distance."""
        return {"distance": Measure(self.distance, "distance to the lamp", limits=(0, None))}

    def _far(self, position: NDArray[Any]) -> NDArray[np.float64]:
        return np.hypot(position[..., 0] - self.lamp[0], position[..., 1] - self.lamp[1])


@dataclass(frozen=True)
class Foragers:
    """Ants carry food from two places to a nest between them.

    An ant picks food up where it is, and drops it at the nest. It sees whether it carries, where
    the nest is, in five classes, and whether food is in sight to its left, ahead or to its right.
    It turns and goes on. The expert turns to the nest if it carries, else to the food in sight;
    seeing none, it goes straight on. The box is periodic.
    """

    n_agents: int = 30
    size: float = 0.08  # the radius of the nest and of the places with food
    sight: float = 0.2  # how far food is seen
    speed: float = 0.03  # in a step
    noise: float = 0.2  # of a turn, in radians

    nest: ClassVar[tuple[float, float]] = (0.5, 0.5)
    food: ClassVar[NDArray[np.float64]] = np.array([[0.15, 0.5], [0.85, 0.5]])
    actions = np.radians([-80.0, -40.0, 0.0, 40.0, 80.0])
    action_units: ClassVar[str] = "rad"
    features = Product(carries=Levels(2), nest=Angles(5), food=Levels(4))  # 1 left, 2 ahead
    mirror = Mirror(
        lambda seen: np.stack(
            [seen[..., 0], -seen[..., 1], np.where(seen[..., 2] > 0, 4 - seen[..., 2], 0)], axis=-1
        ),
        np.negative,
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "heading": Field("heading", "rad", kind="angle"),
        "carries": Field("whether it carries food, 0 or 1", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, in any direction, with nothing."""
        return {
            "position": rng.uniform(size=(2,)),
            "heading": rng.uniform(-np.pi, np.pi),
            "carries": np.zeros(rng.shape, np.int64),
        }

    def observe(self, state: State) -> NDArray[np.float64]:
        """Whether it carries, where the nest is, and on which side food is in sight."""
        heading = state["heading"]
        nest = self._towards(state["position"], self.nest)
        food = self._nearest_food(state["position"])
        side = _wrapped(np.arctan2(food[..., 1], food[..., 0]) - heading)
        place = np.where(np.abs(side) < np.radians(20), 2, np.where(side > 0, 1, 3))
        seen = np.where(np.hypot(food[..., 0], food[..., 1]) < self.sight, place, 0)
        homeward = _wrapped(np.arctan2(nest[..., 1], nest[..., 0]) - heading)
        return np.stack([state["carries"], homeward, seen], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn and go; pick up or drop."""
        heading = _wrapped(state["heading"] + actions + rng.normal(scale=self.noise))
        step = self.speed * np.stack([np.cos(heading), np.sin(heading)], axis=2)
        position = (state["position"] + step) % 1
        home, food = (
            np.hypot(gap[..., 0], gap[..., 1]) < self.size
            for gap in (self._towards(position, self.nest), self._nearest_food(position))
        )
        carries = np.where(food, 1, np.where(home, 0, state["carries"]))
        return {"position": position, "heading": heading, "carries": carries}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Home with food, to food without."""
        carries, nest, food = np.moveaxis(observations, -1, 0)
        homeward = np.sign(np.rint(_wrapped(nest) / np.radians(72))) * np.radians(80)
        foodward = np.where(food > 0, 2 - food, 0) * np.radians(40)
        return np.asarray(np.where(carries == 1, homeward, foodward))

    def carrying(self, swarm: Swarm) -> NDArray[np.float64]:
        """The share of ants that carry."""
        return _mean(swarm["carries"])

    def deliveries(self, swarm: Trajectory) -> NDArray[np.float64]:
        """How often an ant drops food, on average."""
        return _mean((np.diff(swarm["carries"], axis=1) < 0).sum(axis=1))

    def directness(self, swarm: Trajectory) -> NDArray[np.float64]:
        """How often an ant drops food in a step with it."""
        carried = self.carrying(swarm).sum(axis=1)
        return np.asarray(self.deliveries(swarm) / np.maximum(carried, 1e-9))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The share that carry."""
        return {"carrying": Measure(self.carrying, "share that carry", limits=(0, 1))}

    def _towards(self, position: NDArray[Any], goal: Any) -> NDArray[np.float64]:
        return _periodic(np.asarray(goal) - position, 1.0)

    def _nearest_food(self, position: NDArray[Any]) -> NDArray[np.float64]:
        first, second = (self._towards(position, place) for place in self.food)
        nearer = np.hypot(*np.moveaxis(first, -1, 0)) < np.hypot(*np.moveaxis(second, -1, 0))
        return np.where(nearer[..., None], first, second)


@dataclass(frozen=True)
class Workers:
    """Workers keep the need for two tasks down, one of which needs twice as many as the other.

    Needs rise by themselves, fall with the number of workers at the task, and are the same for all.
    A worker sees what it does (rest, first or second task) and each need in thirds. The expert
    rests when the need of its task is low, and leaves its rest for a task whose need is high, the
    first one before the second. A change takes effect with the probability `response`.
    """

    n_agents: int = 40
    effect: float = 0.2  # by how much all workers together lower a need in a step
    response: float = 0.2  # the share of changes that take effect

    rise: ClassVar[NDArray[np.float64]] = np.array([0.06, 0.03])
    actions = np.arange(3)
    features = Product(task=Levels(3), first=Levels(3), second=Levels(3))
    fields: ClassVar[Mapping[str, Field]] = {
        "task": Field("0 rest, 1 first task, 2 second task", kind="level"),
        "need": Field("need for each task, 0 to 1", axes=("kind",)),
    }

    def initial(self, rng: Stream) -> State:
        """All rest; the needs are anything."""
        need = np.stack([rng.shared(), rng.shared()], axis=1)
        return {
            "task": np.zeros(rng.shape, np.int64),
            "need": np.repeat(need[:, None], rng.shape[1], axis=1),
        }

    def observe(self, state: State) -> NDArray[np.int64]:
        """The own task, and whether each need is low, middle or high."""
        need = np.minimum(state["need"] * 3, 2).astype(np.int64)
        return np.concatenate([state["task"][..., None], need], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Some of the changes happen; work lowers the needs."""
        task = np.where(rng.uniform() < self.response, actions, state["task"])
        work = np.stack([(task == k).sum(axis=1) for k in (1, 2)], axis=1) / self.n_agents
        change = self.rise - self.effect * work + 0.02 * (rng.shared()[:, None] - 0.5)
        return {"task": task, "need": np.clip(state["need"] + change[:, None], 0, 1)}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """To work where the need is high, until it is low."""
        task, first, second = np.moveaxis(observations, -1, 0)
        called = np.where(first == 2, 1, np.where(second == 2, 2, 0))
        done = np.where(task == 1, first == 0, second == 0)
        return np.where((task == 0) | done, called, task)

    def excess(self, swarm: Swarm, kind: int) -> NDArray[np.float64]:
        """How far the need for a task is from half."""
        return np.abs(np.asarray(swarm["need"][..., 0, kind]) - 0.5)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The sum of the needs."""
        return {"need": Measure(lambda state: state["need"][:, 0].sum(axis=-1), "need of both")}


@dataclass(frozen=True)
class Flock:
    """Birds in open space fly together, in one direction and not too close.

    A bird sees the innermost zone in which others are (0 none, 1 too near, 2 near, 3 far), and an
    angle from its heading. Where others are too near, or all are far, it points to the middle of
    those; else along the mean heading of those near, drawn to the middle of all in sight. The
    expert turns by that angle, or away from those too near, by 60 degrees at most. Its turns are no
    table: they use the angle itself.
    """

    n_agents: int = 40
    zones: tuple[float, float, float] = (0.06, 0.2, 0.6)  # the radii of the three zones
    speed: float = 0.02  # in a step
    noise: float = 0.1  # of a turn, in radians

    actions = np.radians([-60.0, -40.0, -20.0, 0.0, 20.0, 40.0, 60.0])
    action_units: ClassVar[str] = "rad"
    features = Product(zone=Levels(4), towards=Angles(9))
    mirror = Mirror(lambda seen: seen * [1, -1], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position"),
        "heading": Field("heading", "rad", kind="angle"),
    }

    def initial(self, rng: Stream) -> State:
        """In a square, in any direction."""
        return {"position": rng.uniform(size=(2,)), "heading": rng.uniform(-np.pi, np.pi)}

    def observe(self, state: State) -> NDArray[np.float64]:
        """The innermost zone with others, and the angle that belongs to it."""
        heading = state["heading"]
        dx, dy, around = _pairs(state["position"], self.zones[2])
        square = dx * dx + dy * dy
        within = [around & (square < limit * limit) for limit in self.zones]
        close, near, far = (np.asarray(inside.any(axis=2)) for inside in within)
        zone = np.where(close, 1, np.where(near, 2, np.where(far, 3, 0)))
        others = np.where(close[..., None], within[0], within[2])
        x, y = (_mean_where(others, _whole(gap)) for gap in (dx, dy))
        u, v = (
            _mean_where(within[1], _whole(part)[:, None, :])
            for part in (np.cos(heading), np.sin(heading))
        )
        along = np.where(zone == 2, np.arctan2(v + y, u + x), np.arctan2(y, x))
        return np.stack([zone, np.where(zone == 0, 0.0, _wrapped(along - heading))], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn and fly."""
        heading = _wrapped(state["heading"] + actions + rng.normal(scale=self.noise))
        step = self.speed * np.stack([np.cos(heading), np.sin(heading)], axis=2)
        return {"position": state["position"] + step, "heading": heading}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Away, along or towards."""
        zone, angle = np.moveaxis(observations, -1, 0)
        turn = np.where(zone == 1, _wrapped(angle + np.pi), angle)
        return np.clip(turn, -np.radians(60), np.radians(60))

    def order(self, swarm: Swarm) -> NDArray[np.float64]:
        """How much the headings agree, 0 to 1."""
        return _order(swarm["heading"])

    def nearest(self, swarm: Swarm) -> NDArray[np.float64]:
        """The mean distance to the nearest other."""
        return _nearest(swarm["position"])

    def spread(self, swarm: Swarm) -> NDArray[np.float64]:
        """The mean distance from the middle of the flock."""
        offsets = swarm["position"] - swarm["position"].mean(axis=-2, keepdims=True)
        return _mean(np.hypot(offsets[..., 0], offsets[..., 1]))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Order and spread."""
        return {
            "order": Measure(self.order, "order", limits=(0, 1)),
            "spread": Measure(self.spread, "distance from the middle", limits=(0, None)),
        }


@dataclass(frozen=True)
class Convoy:
    """Vehicles on a ring road drive on in one direction, at equal distances.

    A vehicle sees the gap to the next one ahead and behind, and can drive both ways. The expert's
    speed rises with the gap ahead, which it knows better than its class. A convoy that backs up
    by the gap behind shows the same observations, with the two gaps exchanged; gaps that are even
    are the same then. The law has that mirror, and the expert has not, so none is declared.
    """

    n_agents: int = 20
    noise: float = 0.002  # of a step

    actions = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
    features = Product(
        ahead=Bins([0.0, 0.02, 0.04, 0.06, 0.09, 1.0]),
        behind=Bins([0.0, 0.02, 0.04, 0.06, 0.09, 1.0]),
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position on the ring", kind="position", period=1.0)
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere."""
        return {"position": rng.uniform()}

    def observe(self, state: State) -> NDArray[np.float64]:
        """The gaps ahead and behind."""
        position = state["position"]
        onward = (position[..., None, :] - position[..., :, None]) % 1
        backward = (position[..., :, None] - position[..., None, :]) % 1
        own = np.eye(self.n_agents, dtype=np.bool_)
        gaps = [np.where(own, 1.0, gap).min(axis=-1) for gap in (onward, backward)]
        return np.stack(gaps, axis=-1)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Drive."""
        return {"position": (state["position"] + actions + rng.normal(scale=self.noise)) % 1}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Forward, the faster the more room there is."""
        return np.clip((observations[..., 0] - 0.02) / 3, 0.0, 0.02)

    def unevenness(self, swarm: Swarm) -> NDArray[np.float64]:
        """The standard deviation of the gaps, in mean gaps."""
        ordered = np.sort(swarm["position"], axis=-1)
        gaps = np.diff(ordered, axis=-1, append=ordered[..., :1] + 1)
        return np.asarray(gaps.std(axis=-1) * self.n_agents)

    def advance(self, swarm: Trajectory) -> NDArray[np.float64]:
        """The mean way forward in a step."""
        return np.asarray(_periodic(np.diff(swarm["position"], axis=1), 1.0).mean(axis=(1, 2)))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The unevenness of the gaps."""
        return {"unevenness": Measure(self.unevenness, "unevenness of gaps", limits=(0, None))}


@dataclass(frozen=True)
class Colours:
    """Agents on a torus of 6 x 6 sites take colours that differ from their neighbours'.

    There are three colours. An agent sees how many of its four neighbours have its colour, and
    which of the two others is rarer among them. The expert takes the rarer one if any neighbour has
    its own. A change takes effect with the probability `response`; now and then a colour changes by
    itself.
    """

    response: float = 0.4  # the share of changes that take effect
    fading: float = 0.01  # the share of colours that change by themselves

    shape: ClassVar[tuple[int, int]] = (6, 6)
    n_agents: ClassVar[int] = 36
    actions = np.array([-1, 0, 1])
    features = Product(conflicts=Levels(5), rarer=Levels(3))  # 0 previous, 1 neither, 2 next
    mirror = Mirror(lambda seen: seen * [1, -1] + [0, 2], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "site": Field("number of the site, row by row", constant=True),
        "colour": Field("colour, 0 to 2", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Anyone on each site, with any colour."""
        return {"site": rng.permutation(), "colour": rng.integers(3)}

    def observe(self, state: State) -> NDArray[np.int64]:
        """Conflicts, and the rarer of the other colours."""
        away = self._away(state)
        same, after, before = ((away == k).sum(axis=0) for k in range(3))
        return np.stack([same, np.sign(before - after) + 1], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Some of the changes happen, and some by themselves."""
        change = np.where(rng.uniform() < self.response, actions, 0)
        change = np.where(rng.uniform() < self.fading, rng.integers(-1, 2), change)
        return {"site": state["site"], "colour": (state["colour"] + change) % 3}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The rarer colour, where there is a conflict."""
        return np.where(observations[..., 0] > 0, observations[..., 1] - 1, 0)

    def conflicts(self, swarm: Swarm) -> NDArray[np.float64]:
        """The share of neighbours that have the same colour."""
        return np.asarray(np.mean(self._away(swarm) == 0, axis=(0, 2)))

    def conflicts_at_the_end(self, swarm: Trajectory) -> NDArray[np.float64]:
        """The share of neighbours that have the same colour in the last ten steps."""
        last = [
            {"site": swarm["site"], "colour": swarm["colour"][:, -time]} for time in range(1, 11)
        ]
        return np.asarray(np.mean([self.conflicts(state) for state in last], axis=0))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The conflicts."""
        return {"conflicts": Measure(self.conflicts, "conflicts", limits=(0, 1))}

    def _away(self, swarm: Swarm) -> NDArray[np.int64]:
        """By how many colours each neighbour is ahead (4, runs, agents)."""
        beside = _beside(swarm["site"], swarm["colour"], self.shape)
        return np.stack([(other - swarm["colour"]) % 3 for other in beside])


@dataclass(frozen=True)
class Sentries:
    """Sentries on a ring pace ten steps to and fro, each on its own beat.

    A sentry sees how many others are near ahead and behind, which tells it nothing. The expert
    turns round after ten steps: it must count them. Informed sentries see the count.
    """

    n_agents: int = 30
    informed: bool = False  # whether sentries see their steps
    slip: float = 0.05  # the share of steps that fail

    cells: ClassVar[int] = 100
    reach: ClassVar[int] = 5
    leg: ClassVar[int] = 10
    actions = np.array([0, 1])
    fields: ClassVar[Mapping[str, Field]] = {
        "cell": Field("cell of the ring", kind="position", period=100.0),
        "direction": Field("direction, +1 or -1", kind="level"),
        "paced": Field("steps since it turned", kind="hidden"),
    }

    @cached_property
    def features(self) -> Product:
        """Others ahead and behind; informed sentries also see their steps."""
        if self.informed:
            return Product(ahead=Levels(3), behind=Levels(3), paced=Levels(10))
        return Product(ahead=Levels(3), behind=Levels(3))

    def initial(self, rng: Stream) -> State:
        """Anywhere, on any part of the beat."""
        return {
            "cell": rng.integers(self.cells),
            "direction": 2 * rng.integers(2) - 1,
            "paced": rng.integers(self.leg),
        }

    def observe(self, state: State) -> NDArray[np.int64]:
        """How many are near ahead and behind, up to two."""
        half = self.cells // 2
        gaps = state["cell"][:, None, :] - state["cell"][:, :, None]
        onward = ((gaps + half) % self.cells - half) * state["direction"][:, :, None]
        seen = [((way > 0) & (way <= self.reach)).sum(axis=2) for way in (onward, -onward)]
        parts = [*(np.minimum(count, 2) for count in seen), state["paced"]]
        return np.stack(parts if self.informed else parts[:2], axis=2)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn round or not, then take a step; some steps fail."""
        turns = actions == 1
        direction = np.where(turns, -state["direction"], state["direction"])
        step = np.where(rng.uniform() < self.slip, 0, direction)
        paced = np.where(turns, 0, np.minimum(state["paced"] + 1, self.leg - 1))
        return {"cell": (state["cell"] + step) % self.cells, "direction": direction, "paced": paced}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Turn round after ten steps; only informed sentries can."""
        return np.where(_cue(observations) == self.leg - 1, 1, 0)

    def away(self, swarm: Trajectory, steps: int) -> NDArray[np.float64]:
        """How far sentries are on average from where they were so many steps ago."""
        cell = swarm["cell"].astype(np.float64)
        gaps = _periodic(cell[:, steps:] - cell[:, :-steps], self.cells)
        return np.asarray(np.abs(gaps).mean(axis=(1, 2)))


@dataclass(frozen=True)
class Tide:
    """A swarm in a periodic box goes with a tide that turns now and then.

    An agent sees in which direction those near are on average, and whether they are none, one or
    two, or more. It stays, or goes east, north, west or south. The expert goes where the tide goes,
    which is the same for all. Informed agents see it.
    """

    n_agents: int = 50
    informed: bool = False  # whether agents see the tide
    reach: float = 0.12  # how far agents see
    stride: float = 0.02  # of a step
    noise: float = 0.01  # of a step, in each direction
    turning: float = 0.05  # how often the tide turns, for each step

    actions = np.arange(5)
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "tide": Field("where the tide goes, as the number of a move", kind="hidden"),
    }

    @cached_property
    def features(self) -> Product:
        """Where others are and how many; informed agents also see the tide."""
        if self.informed:
            return Product(side=Angles(4), crowd=Levels(3), tide=Levels(5))
        return Product(side=Angles(4), crowd=Levels(3))

    def initial(self, rng: Stream) -> State:
        """Anywhere, with any tide."""
        return {"position": rng.uniform(size=(2,)), "tide": self._tide(rng)}

    def observe(self, state: State) -> NDArray[np.float64]:
        """Where the others are, and how many."""
        seen = _crowd(state["position"], self.reach, period=1.0)
        return np.dstack([seen, state["tide"]]) if self.informed else seen

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Go; the tide may turn."""
        step = self.stride * _COMPASS[actions] + rng.normal(scale=self.noise, size=(2,))
        turns = (rng.shared() < self.turning)[:, None]
        return {
            "position": (state["position"] + step) % 1,
            "tide": np.where(turns, self._tide(rng), state["tide"]),
        }

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """With the tide; only informed agents can."""
        return _cue(observations).astype(np.int64)

    def with_the_tide(self, swarm: Trajectory) -> NDArray[np.float64]:
        """The mean way in the direction of the tide, in strides."""
        step = _periodic(np.diff(swarm["position"], axis=1), 1.0)
        along = (step * _COMPASS[swarm["tide"][:, :-1]]).sum(axis=-1)
        return np.asarray(along.mean(axis=(1, 2)) / self.stride)

    def _tide(self, rng: Stream) -> NDArray[np.int64]:
        tide = 1 + (4 * rng.shared()).astype(np.int64)
        return np.repeat(tide[:, None], rng.shape[1], axis=1)


@dataclass(frozen=True)
class InformedCase(Case):
    """A case whose expert sees what the agents that learn do not.

    Its demo is recorded from `informed`, the same swarm with more observations, and looks like one
    of `system`. Wherever the expert is asked for, `informed` is simulated.

    Parameters
    ----------
    informed
        The swarm of the expert: `system` with the same states, and more observations.

    """

    informed: System = field(kw_only=True)

    def trajectory(self, policy: Controller, *, runs: int, seed: int) -> Trajectory:
        """Runs of the swarm under a policy, with their states; of `informed` for the expert's."""
        assert isinstance(self.system, HasExpert)
        if policy not in (self._expert, self.system.expert):
            return super().trajectory(policy, runs=runs, seed=seed)
        shown = rollout(
            self.informed, self._expert, steps=self.steps, runs=runs, seed=seed, progress=False
        )
        return replace(shown, system_name=name_of(self.system), settings=settings_of(self.system))

    @property
    def _expert(self) -> Controller:
        assert isinstance(self.informed, HasExpert)
        return self.informed.expert


def cases() -> list[Case]:
    """All cases for development, those that can be learned first."""
    quorum, fireflies, clocks, dissent = Quorum(), Fireflies(), Clocks(), Dissent()
    locusts, dispersion, moths, foragers = Locusts(), Dispersion(), Moths(), Foragers()
    workers, flock, convoy, colours = Workers(), Flock(), Convoy(), Colours()
    sentries, tide = Sentries(), Tide()
    return [
        Case(
            "quorum",
            "consensus",
            quorum,
            {"agreement": _settled(quorum.agreement), "changes": _changing("opinion")},
            steps=80,
        ),
        Case(
            "fireflies",
            "synchrony",
            fireflies,
            {"pulse": fireflies.pulse, "flashing": _settled(fireflies.flashing)},
            steps=100,
        ),
        Case(
            "clocks",
            "alignment on a grid",
            clocks,
            {
                "order": _settled(clocks.order),
                "alignment": clocks.alignment,
                "turns": _changing("orientation"),
            },
            steps=100,
        ),
        Case(
            "dissent",
            "opinions that stay divided",
            dissent,
            {"deviation": _settled(dissent.deviation), "lasting": dissent.lasting},
            steps=100,
        ),
        Case(
            "locusts",
            "marching",
            locusts,
            {"order": _settled(locusts.order), "turns": _changing("direction")},
            steps=150,
        ),
        Case(
            "dispersion",
            "dispersion",
            dispersion,
            {"nearest": _settled(dispersion.nearest), "speed": _speed(None)},
            steps=60,
        ),
        Case(
            "moths",
            "run and tumble",
            moths,
            {"distance": _settled(moths.distance), "speed": _speed(None)},
            steps=100,
        ),
        Case(
            "foragers",
            "foraging",
            foragers,
            {"deliveries": foragers.deliveries, "directness": foragers.directness},
            steps=150,
        ),
        Case(
            "workers",
            "task allocation",
            workers,
            {
                "first need": _settled(partial(workers.excess, kind=0)),
                "second need": _settled(partial(workers.excess, kind=1)),
                "changes": _changing("task"),
            },
            steps=120,
        ),
        Case(
            "flock",
            "flocking",
            flock,
            {
                "order": _settled(flock.order),
                "nearest": _settled(flock.nearest),
                "spread": _settled(flock.spread),
            },
            steps=100,
        ),
        Case(
            "convoy",
            "convoy in one direction",
            convoy,
            {"advance": convoy.advance, "unevenness": _settled(convoy.unevenness)},
            steps=100,
        ),
        Case(
            "colours",
            "anti-coordination",
            colours,
            {"conflicts": colours.conflicts_at_the_end, "changes": _changing("colour")},
            steps=60,
        ),
        InformedCase(
            "sentries",
            "patrol by memory",
            sentries,
            {
                "after half a beat": partial(sentries.away, steps=sentries.leg),
                "after a beat": partial(sentries.away, steps=2 * sentries.leg),
            },
            steps=100,
            learnable=False,
            reason="needs memory: the steps since the last turn",
            informed=replace(sentries, informed=True),
        ),
        InformedCase(
            "tide",
            "following a cue",
            tide,
            {"with the tide": tide.with_the_tide},
            steps=100,
            learnable=False,
            reason="follows a cue that agents do not see",
            informed=replace(tide, informed=True),
        ),
    ]


def _settled(measure: Callable[[Swarm], NDArray[np.float64]]) -> Score:
    """The mean of a measure over the last third of each run."""

    def score(swarm: Trajectory) -> NDArray[np.float64]:
        return _mean(measure(_late(swarm)))

    return score


def _changing(name: str) -> Score:
    """The share of agents for which this changes in a step of the last third."""

    def score(swarm: Trajectory) -> NDArray[np.float64]:
        return np.asarray((np.diff(_late(swarm)[name], axis=1) != 0).mean(axis=(1, 2)))

    return score


def _speed(period: float | None) -> Score:
    """The mean length of a step in the last third."""

    def score(swarm: Trajectory) -> NDArray[np.float64]:
        step = _periodic(np.diff(_late(swarm)["position"], axis=1), period)
        return np.asarray(np.hypot(step[..., 0], step[..., 1]).mean(axis=(1, 2)))

    return score


def _late(swarm: Trajectory) -> dict[str, NDArray[Any]]:
    """The states of the last third, without those that never change."""
    changing = {
        name: array for name, array in swarm.items() if "time" in swarm.variables[name].axes
    }
    return {name: array[:, -(swarm.steps // 3) :] for name, array in changing.items()}


def _cue(observations: NDArray[Any]) -> NDArray[Any]:
    """The third component of observations; raises InvalidInput where there is none."""
    if observations.shape[-1] < 3:
        raise InvalidInput("the expert needs a cue that these agents do not see: informed=True")
    return np.asarray(observations[..., 2])


def _crowd(position: NDArray[Any], reach: float, period: float | None) -> NDArray[np.float64]:
    """The direction of those near, and whether they are none, one or two, or more."""
    dx, dy, near = _pairs(position, reach, period)
    x, y = (np.where(near, _whole(gap), 0.0).sum(axis=2) for gap in (dx, dy))
    return np.stack([np.arctan2(y, x), np.minimum((near.sum(axis=2) + 1) // 2, 2)], axis=2)


def _pairs(
    position: NDArray[Any], reach: float, period: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Where all others are from each agent, in x and in y, and which of them are near."""
    dx, dy = (_gaps(position[..., axis], period) for axis in (0, 1))
    near = dx * dx + dy * dy < reach * reach
    agents = np.arange(position.shape[-2])
    near[..., agents, agents] = False
    return dx, dy, near


def _gaps(place: NDArray[Any], period: float | None = None) -> NDArray[np.float64]:
    """Where all others (last axis) are from each agent (last but one)."""
    return _periodic(place[..., None, :] - place[..., :, None], period)


def _periodic(gap: NDArray[Any], period: float | None) -> NDArray[np.float64]:
    """The shortest of equivalent gaps."""
    return gap if period is None else gap - period * np.rint(gap / period)


def _wrapped(angle: NDArray[Any]) -> NDArray[np.float64]:
    """Angles from -pi to pi."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def _whole(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers in proportion, whose sums are exact in any order."""
    return np.rint(numbers * _FINE)


def _order(angle: NDArray[Any]) -> NDArray[np.float64]:
    """How much angles agree, 0 to 1."""
    return np.hypot(_mean(np.cos(angle)), _mean(np.sin(angle)))


def _mean(values: NDArray[Any]) -> NDArray[np.float64]:
    """The mean over the last axis, that of the agents."""
    return np.asarray(np.mean(values, axis=-1), np.float64)


def _mean_where(chosen: NDArray[np.bool_], numbers: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of whole numbers over those chosen along the last axis, 0 if none is."""
    total = np.where(chosen, numbers, 0.0).sum(axis=-1)
    return np.asarray(total / np.maximum(chosen.sum(axis=-1), 1), np.float64)


def _largest_share(values: NDArray[Any]) -> NDArray[np.float64]:
    """The share of the most frequent of the numbers 0, 1 and 2."""
    return np.asarray(np.max([_mean(values == kind) for kind in range(3)], axis=0))


def _nearest(position: NDArray[Any]) -> NDArray[np.float64]:
    """The mean distance to the nearest other."""
    x, y = (_gaps(position[..., axis]) for axis in (0, 1))
    square = x * x + y * y
    agents = np.arange(position.shape[-2])
    square[..., agents, agents] = np.inf
    return _mean(np.sqrt(square.min(axis=-1)))


def _beside(site: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]) -> list[NDArray[Any]]:
    """What each agent's neighbours on a torus have: one array (runs, agents) for each of four."""
    grid = np.empty_like(values)
    np.put_along_axis(grid, site, values, axis=1)
    grid = grid.reshape(-1, *shape)
    return [
        np.take_along_axis(np.roll(grid, shift, axis).reshape(values.shape), site, axis=1)
        for axis in (1, 2)
        for shift in (1, -1)
    ]
