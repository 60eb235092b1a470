"""The cases that were written last, by somebody who did not develop the learner, and run once.

Each system is written as a user would: plain NumPy, about a page. The last four cannot be learned
by reactive local agents: their experts are told something that the learner's agents do not see.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from studies.battery.case import Case, Score
from swarmdp.model.features import Angles, Bins, FeatureMap, Levels, Product
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, Measure, Mirror, State, System
from swarmdp.model.traits import HasExpert, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.rollout import rollout

Array = NDArray[Any]
Floats = NDArray[np.float64]

_FRAMES = 8  # moments of the last quarter of a run at which a measure is taken
_CANDIDATES = 20  # runs among which a demo with both outcomes is looked for
_COMPASS = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]])  # stay, east, north, west, south
_KING = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]])


@dataclass(frozen=True)
class InformedCase(Case):
    """A case whose expert is told what the learner's agents do not see.

    Parameters
    ----------
    informed
        The same swarm, whose agents observe one component more: the expert's swarm.

    """

    informed: System = field(kw_only=True)

    def trajectory(self, policy: Controller, *, runs: int, seed: int) -> Trajectory:
        """Runs under a policy; those of the expert are of informed agents, and do not say so."""
        if policy != self._expert and policy != getattr(self.system, "expert", None):
            return super().trajectory(policy, runs=runs, seed=seed)
        told = rollout(
            self.informed, self._expert, steps=self.steps, runs=runs, seed=seed, progress=False
        )
        return replace(
            told, system_name=type(self.system).__name__, settings=settings_of(self.system)
        )

    @property
    def _expert(self) -> Controller:
        assert isinstance(self.informed, HasExpert)
        return self.informed.expert


@dataclass(frozen=True)
class BothOutcomesCase(Case):
    """A case whose swarm ends in one of two ways, and whose demo shows both.

    Parameters
    ----------
    outcome
        Which of the two each run (runs,) has come to.

    """

    outcome: Callable[[Trajectory], NDArray[np.bool_]] = field(kw_only=True)

    def demo(self, seed: int) -> Trajectory:
        """The first runs of either outcome, and those that follow."""
        many = self.trajectory(self._expert, runs=_CANDIDATES, seed=seed)
        first = np.unique(self.outcome(many), return_index=True)[1]
        others = np.setdiff1d(np.arange(_CANDIDATES), first)
        chosen = np.sort(np.concatenate([first, others])[: self.runs])
        kept = {n: replace(v, values=v.values[chosen]) for n, v in many.variables.items()}
        return replace(many, variables=kept, runs=self.runs)


def at_end(measure: Callable[[State], Array]) -> Score:
    """The mean of a measure over some moments of the last quarter."""

    def score(trajectory: Trajectory) -> Floats:
        times = np.linspace(_late(trajectory), trajectory.steps, _FRAMES).astype(int)
        frames = [measure(_frame(trajectory, time)) for time in times]
        return np.asarray(np.mean(frames, axis=0, dtype=np.float64))

    return score


def changing(name: str) -> Score:
    """The share of agents whose level changes in a step of the last quarter."""

    def score(trajectory: Trajectory) -> Floats:
        late = trajectory[name][:, _late(trajectory) :]
        return np.asarray(np.mean(late[:, 1:] != late[:, :-1], axis=(1, 2)))

    return score


def pace(period: float | None = None) -> Score:
    """How far agents go in a step of the last quarter."""

    def score(trajectory: Trajectory) -> Floats:
        moves = _moves(trajectory, "position", period)
        return np.asarray(np.sqrt((moves**2).sum(axis=3)).mean(axis=(1, 2)))

    return score


def swinging(trajectory: Trajectory) -> Floats:
    """By how much headings turn in a step of the last quarter, whichever way."""
    return np.asarray(np.abs(_moves(trajectory, "heading", 2 * np.pi)).mean(axis=(1, 2)))


def _late(trajectory: Trajectory) -> int:
    """The time at which the last quarter begins."""
    return trajectory.steps - trajectory.steps // 4


def _moves(trajectory: Trajectory, name: str, period: float | None) -> Floats:
    """The changes (runs, steps, agents, ...) in the last quarter."""
    return _short(np.diff(trajectory[name][:, _late(trajectory) :].astype(float), axis=1), period)


def _frame(trajectory: Trajectory, time: int) -> State:
    """The state at one time."""
    return {
        name: v.values[:, time] if "time" in v.axes else v.values
        for name, v in trajectory.variables.items()
    }


def _short(differences: Array, period: float | None) -> Floats:
    """Differences the short way round."""
    if period is None:
        return np.asarray(differences, np.float64)
    return np.asarray(differences - period * np.round(differences / period), np.float64)


def _offsets(position: Array, period: float | None = None) -> Floats:
    """From each agent (runs, agents, 1, axes) to all agents (runs, 1, agents, axes)."""
    return _short(position[:, None] - position[:, :, None], period)


def _total(values: Array, axis: int) -> Floats:
    """A sum that is the same to the last bit in whatever order the agents are."""
    fine = 2.0**32
    return np.asarray(np.rint(values * fine).astype(np.int64).sum(axis=axis) / fine)


def _length(vectors: Array) -> Floats:
    """The length of vectors (..., 2)."""
    return np.asarray(np.hypot(vectors[..., 0], vectors[..., 1]))


def _toward(angle: Array) -> Floats:
    """Unit vectors (..., 2)."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _bearing(vectors: Array, heading: Array | float = 0.0) -> Floats:
    """The direction of vectors (..., 2) as seen by somebody with a heading."""
    return _short(np.arctan2(vectors[..., 1], vectors[..., 0]) - heading, 2 * np.pi)


def _common(values: Array, agents: int) -> Array:
    """One value for each run (runs, ...), carried by all of its agents."""
    return np.repeat(values[:, None], agents, axis=1)


def _placed(site: Array, values: Array) -> Array:
    """The agents' values (runs, agents) in the order of their sites."""
    placed = np.empty_like(values)
    np.put_along_axis(placed, site, values, axis=1)
    return placed


def _around(site: Array, values: Array, reach: int) -> Array:
    """What the neighbours within a reach on a ring of sites add up to, for each agent."""
    ring = _placed(site, values)
    steps = [s for s in range(-reach, reach + 1) if s]
    return np.take_along_axis(np.sum([np.roll(ring, s, axis=1) for s in steps], axis=0), site, 1)


# Swarms that reactive local agents can be.


@dataclass(frozen=True)
class Colours:
    """Cells of a torus that take on the colour that most of their four neighbours have.

    There are three colours in a cycle. A cell sees how many neighbours have its own colour and how
    many the next one. It keeps its colour or goes one or two colours on, but not in every step does
    it get to act, and now and then its colour changes by chance.
    """

    side: int = 8
    awake: float = 0.5  # the share of steps in which a cell acts
    noise: float = 0.01  # the share of steps in which it gets any colour

    actions: ClassVar[Array] = np.array([0, 1, 2])
    features: ClassVar[FeatureMap] = Product(same=Levels(5), following=Levels(5))
    fields: ClassVar[Mapping[str, Field]] = {
        "site": Field("number of the cell, row by row", constant=True),
        "colour": Field("colour", kind="level"),
    }

    @property
    def n_agents(self) -> int:
        """One agent for each cell."""
        return self.side**2

    def initial(self, rng: Stream) -> State:
        """Any colours; agents on cells in any order."""
        return {"site": rng.permutation(), "colour": rng.integers(3)}

    def observe(self, state: State) -> Array:
        """How many neighbours have the same colour, and the next one."""
        site, own = state["site"], state["colour"]
        grid = _placed(site, own).reshape(-1, self.side, self.side)
        seen = np.stack([np.roll(grid, s, axis) for axis in (1, 2) for s in (-1, 1)], axis=3)
        ahead = (seen - grid[..., None]) % 3
        counts = np.stack([(ahead == k).sum(axis=3) for k in (0, 1)], axis=3)
        return np.take_along_axis(counts.reshape(*site.shape, 2), site[..., None], axis=1)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Go on by so many colours, if awake."""
        moved = state["colour"] + np.where(rng.uniform() < self.awake, actions, 0)
        by_chance = rng.uniform() < self.noise
        return {"site": state["site"], "colour": np.where(by_chance, rng.integers(3), moved % 3)}

    def expert(self, observations: Array) -> Array:
        """The colour of the majority; in a tie its own one, then the next."""
        same, following = observations[..., 0], observations[..., 1]
        last = 4 - same - following
        other = np.where(following >= last, 1, 2)
        return np.where(np.maximum(following, last) > same, other, 0)

    def alike(self, state: State) -> Array:
        """The share of neighbours with the same colour."""
        return np.asarray(self.observe(state)[..., 0].mean(axis=1) / 4)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """How alike neighbours are."""
        return {"alike": Measure(self.alike, "like neighbours", limits=(0.0, 1.0))}


@dataclass(frozen=True)
class Pendulums:
    """Oscillators on a ring of seats that get into step with their neighbours.

    Each sees by which angle its neighbours are ahead on average, and goes faster or slower than its
    own speed, which is that of all.
    """

    n_agents: int = 40
    reach: int = 6  # neighbours on either side
    speed: float = 0.5  # radians in a step
    noise: float = 0.1

    actions: ClassVar[Array] = np.array([-0.4, -0.2, 0.0, 0.2, 0.4])
    action_units: ClassVar[str] = "rad"
    features: ClassVar[FeatureMap] = Angles(13, "lead of the others")
    mirror: ClassVar[Mirror] = Mirror(np.negative, np.negative)  # ahead and behind
    fields: ClassVar[Mapping[str, Field]] = {
        "seat": Field("number of the seat", constant=True),
        "phase": Field("phase", "rad", kind="angle"),
    }

    def initial(self, rng: Stream) -> State:
        """Any phases."""
        return {"seat": rng.permutation(), "phase": rng.uniform(0.0, 2 * np.pi)}

    def observe(self, state: State) -> Array:
        """By how much the neighbours' mean phase is ahead."""
        both = [_around(state["seat"], f(state["phase"]), self.reach) for f in (np.cos, np.sin)]
        return _bearing(np.stack(both, axis=2), state["phase"])

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Go on by the common speed and as much as one wants to."""
        phase = state["phase"] + self.speed + actions + rng.normal(scale=self.noise)
        return {"seat": state["seat"], "phase": phase % (2 * np.pi)}

    def expert(self, observations: Array) -> Array:
        """Catch up or wait, more so for larger leads."""
        return 0.2 * np.clip(np.round(observations * 13 / (2 * np.pi)), -2, 2)

    def harmony(self, state: State) -> Array:
        """How close agents are to the phase of their neighbours, at most 1."""
        return np.asarray(np.cos(self.observe(state)).mean(axis=1))

    def detuning(self, trajectory: Trajectory) -> Floats:
        """By how much the swarm's mean speed is off."""
        speed = _moves(trajectory, "phase", 2 * np.pi).mean(axis=(1, 2))
        return np.asarray(np.abs(speed - self.speed))


@dataclass(frozen=True)
class Cockroaches:
    """Walkers that stop in company and so gather in heaps.

    They walk about at random on a torus. Each sees how many others are near, and stops or walks;
    now and then one that has stopped is startled and walks.
    """

    n_agents: int = 50
    reach: float = 0.09
    speed: float = 0.03
    startled: float = 0.03  # the share of steps in which one walks anyway
    noise: float = 0.6  # of headings, in radians

    actions: ClassVar[Array] = np.array([0, 1])  # stop, walk
    features: ClassVar[FeatureMap] = Levels(4, "others near")
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "heading": Field("heading", "rad", kind="angle"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere."""
        return {"position": rng.uniform(size=(2,)), "heading": rng.uniform(-np.pi, np.pi)}

    def observe(self, state: State) -> Array:
        """The number of others that are near, at most three."""
        apart = _offsets(state["position"], 1.0)
        near = (apart**2).sum(axis=3) < self.reach**2
        return np.asarray(np.minimum(near.sum(axis=2) - 1, 3))

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Walk in a direction that changes at random."""
        heading = state["heading"] + rng.normal(scale=self.noise)
        walks = np.where(rng.uniform() < self.startled, 1, actions)
        step = self.speed * walks[..., None] * _toward(heading)
        return {"position": (state["position"] + step) % 1.0, "heading": heading}

    def expert(self, observations: Array) -> Array:
        """Walk alone or with one other, stop with more."""
        return np.array([1, 1, 0, 0])[observations]

    def company(self, state: State) -> Array:
        """How many others are near on average, where three stands for more."""
        return np.asarray(self.observe(state).mean(axis=1))

    def alone(self, state: State) -> Array:
        """The share of agents with nobody near."""
        return np.asarray((self.observe(state) == 0).mean(axis=1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Company and loneliness."""
        return {
            "company": Measure(self.company, "others near", limits=(0.0, 3.0)),
            "alone": Measure(self.alone, "agents alone", limits=(0.0, 1.0)),
        }


@dataclass(frozen=True)
class Fence:
    """Posts that line up from east to west, at some distance from each other.

    A post sees whether those within reach are north or south of it on average, and whether one is
    too close on its west or east side. It stays or moves in one of four directions.
    """

    n_agents: int = 24
    reach: float = 0.4
    gap: float = 0.04  # closer is too close
    step: float = 0.01
    noise: float = 0.002

    actions: ClassVar[Array] = np.array([0, 1, 2, 3, 4])  # stay, east, north, west, south
    features: ClassVar[FeatureMap] = Product(
        others=Bins([-np.inf, -0.01, 0.01, np.inf]), west=Levels(2), east=Levels(2)
    )
    mirror: ClassVar[Mirror] = Mirror(
        lambda seen: seen[..., [0, 2, 1]], lambda moves: np.array([0, 3, 2, 1, 4])[moves]
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", "m", ("axis",), kind="position")
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere in a square."""
        return {"position": rng.uniform(0.0, 0.4, size=(2,))}

    def observe(self, state: State) -> Array:
        """How far north the others are, and whether one is too close in the west and the east."""
        apart = _offsets(state["position"])
        east, north = apart[..., 0], apart[..., 1]
        seen = east**2 + north**2 < self.reach**2
        others = _total(np.where(seen, north, 0.0), axis=2) / np.maximum(seen.sum(axis=2) - 1, 1)
        close = east**2 + north**2 < self.gap**2
        sides = [(close & (sign * east > 0)).any(axis=2) for sign in (-1, 1)]
        return np.stack([others, *sides], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Move, with some jitter."""
        jitter = rng.normal(scale=self.noise, size=(2,))
        return {"position": state["position"] + self.step * _COMPASS[actions] + jitter}

    def expert(self, observations: Array) -> Array:
        """Get into the line first, then make room."""
        others, west, east = np.moveaxis(observations, -1, 0)
        room = np.where(west > east, 1, np.where(east > west, 3, 0))
        return np.where(others >= 0.01, 2, np.where(others < -0.01, 4, room))

    def thickness(self, state: State) -> Array:
        """How far posts are from one line."""
        return np.asarray(state["position"][..., 1].std(axis=1))

    def length(self, state: State) -> Array:
        """How far the line reaches."""
        return np.asarray(np.ptp(state["position"][..., 0], axis=1))

    def spacing(self, state: State) -> Array:
        """How far the nearest other is."""
        apart = _length(_offsets(state["position"])) + 9 * np.eye(self.n_agents)
        return np.asarray(apart.min(axis=2).mean(axis=1))


@dataclass(frozen=True)
class Meeting:
    """Walkers with a compass that meet at one place and stay there.

    Each sees in which direction the middle of those within reach is, and whether it is far. It
    stays or takes a step in one of eight directions.
    """

    n_agents: int = 30
    reach: float = 0.5
    step: float = 0.02
    noise: float = 0.004

    actions: ClassVar[Array] = np.arange(9)  # stay, then eight directions from the east on
    features: ClassVar[FeatureMap] = Product(
        direction=Angles(8), distance=Bins([0.0, 0.04, np.inf])
    )
    mirror: ClassVar[Mirror] = Mirror(
        lambda seen: seen * [-1, 1], lambda moves: np.where(moves, (1 - moves) % 8 + 1, 0)
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", "m", ("axis",), kind="position")
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere in a square."""
        return {"position": rng.uniform(size=(2,))}

    def observe(self, state: State) -> Array:
        """Direction and distance of the middle of the others."""
        apart = _offsets(state["position"])
        seen = (apart**2).sum(axis=3) < self.reach**2
        total = _total(np.where(seen[..., None], apart, 0.0), axis=2)
        middle = total / np.maximum(seen.sum(axis=2) - 1, 1)[..., None]
        return np.stack([_bearing(middle), _length(middle)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Take the step, with some jitter."""
        way = np.where(actions[..., None] > 0, _toward((actions - 1) * np.pi / 4), 0.0)
        jitter = rng.normal(scale=self.noise, size=(2,))
        return {"position": state["position"] + self.step * way + jitter}

    def expert(self, observations: Array) -> Array:
        """Go to the middle of the others if it is far, else stay."""
        direction = np.round(observations[..., 0] * 4 / np.pi).astype(int) % 8
        return np.where(observations[..., 1] >= 0.04, 1 + direction, 0)

    def spread(self, state: State) -> Array:
        """How far agents are from their middle."""
        position = state["position"]
        return np.asarray(_length(position - position.mean(axis=1, keepdims=True)).mean(axis=1))

    def drift(self, trajectory: Trajectory) -> Floats:
        """How far the middle of all has gone since the start."""
        return _length(np.diff(trajectory["position"][:, [0, -1]].mean(axis=2), axis=1)[:, 0])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """How far agents are from their middle."""
        return {"spread": Measure(self.spread, "spread", "m", limits=(0.0, None))}


@dataclass(frozen=True)
class Climbers:
    """Swimmers that steer up a concentration by two antennae.

    A swimmer smells whether there is more on its left or on its right, and whether there is more in
    front than where it is. It turns, and always swims on; walls stop it.
    """

    n_agents: int = 100
    width: float = 0.35  # of the cloud
    antenna: float = 0.05
    speed: float = 0.02
    noise: float = 0.2  # of turns, in radians

    actions: ClassVar[Array] = np.radians([-60.0, -30.0, 0.0, 30.0, 60.0])
    action_units: ClassVar[str] = "rad"
    features: ClassVar[FeatureMap] = Product(
        left=Bins([-np.inf, -0.12, -0.03, 0.03, 0.12, np.inf]), rising=Levels(2)
    )
    mirror: ClassVar[Mirror] = Mirror(lambda seen: seen * [-1, 1], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", "m", ("axis",), kind="position"),
        "heading": Field("heading", "rad", kind="angle"),
    }
    source: ClassVar[Array] = np.array([0.5, 0.8])

    def initial(self, rng: Stream) -> State:
        """Anywhere in the pool."""
        return {"position": rng.uniform(size=(2,)), "heading": rng.uniform(-np.pi, np.pi)}

    def observe(self, state: State) -> Array:
        """Logarithms of concentrations: left against right, and whether it rises to the front."""

        def smell(place: Array) -> Array:
            return np.asarray(-((place - self.source) ** 2).sum(axis=2) / (2 * self.width**2))

        position, heading = state["position"], state["heading"]
        left, right = (
            smell(position + self.antenna * _toward(heading + side * np.pi / 4)) for side in (1, -1)
        )
        return np.stack([left - right, left + right > 2 * smell(position)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Turn and swim on."""
        heading = state["heading"] + actions + rng.normal(scale=self.noise)
        position = state["position"] + self.speed * _toward(heading)
        return {"position": np.clip(position, 0.0, 1.0), "heading": heading}

    def expert(self, observations: Array) -> Array:
        """Turn to the side with more, sharply where the difference is large or it falls."""
        left, rising = observations[..., 0], observations[..., 1]
        sharp = (np.abs(left) > 0.12) | (rising == 0)
        turn = np.radians(np.where(sharp, 60.0, 30.0)) * np.sign(left)
        return np.where(np.abs(left) > 0.03, turn, 0.0)

    def distance(self, state: State) -> Array:
        """How far agents are from the source."""
        return np.asarray(_length(state["position"] - self.source).mean(axis=1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """How far agents are from the source."""
        return {"distance": Measure(self.distance, "distance", "m", limits=(0.0, None))}


@dataclass(frozen=True)
class Ants:
    """Ants that mark the cells that they walk over, and follow the marks of others.

    An ant is on a cell of a torus and looks in one of eight directions. It sees how many marks of
    other ants are on the three cells in front of it, turns by at most 45 degrees and goes on. Its
    own last marks are part of its state; older ones have evaporated.
    """

    n_agents: int = 30
    side: int = 16
    marks: int = 10  # that last
    noise: float = 0.1  # the share of steps with another turn than wanted

    actions: ClassVar[Array] = np.array([-1, 0, 1])
    features: ClassVar[FeatureMap] = Product(left=Levels(3), ahead=Levels(3), right=Levels(3))
    mirror: ClassVar[Mirror] = Mirror(lambda seen: seen[..., ::-1], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "cell": Field("column and row", axes=("axis",), kind="position", period=16.0),
        "direction": Field("where it looks, in eighths of a turn", kind="angle", period=8.0),
        "trail": Field("numbers of the cells with its marks", axes=("age",)),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere, all marks on one's own cell."""
        cell = rng.integers(self.side, size=(2,))
        trail = np.repeat(self._number(cell)[..., None], self.marks, axis=2)
        return {"cell": cell, "direction": rng.integers(8), "trail": trail}

    def observe(self, state: State) -> Array:
        """The marks of others on the left, in front and on the right: none, one or more."""
        seen = [self._others(state, state["direction"] + turn) for turn in (1, 0, -1)]
        return np.asarray(np.minimum(np.stack(seen, axis=2), 2))

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Turn, go on and leave a mark."""
        by_chance = rng.uniform() < self.noise
        turn = np.where(by_chance, rng.integers(-1, 2), actions)
        direction = (state["direction"] + turn) % 8
        cell = (state["cell"] + _KING[direction]) % self.side
        trail = np.concatenate([self._number(cell)[..., None], state["trail"][..., :-1]], axis=2)
        return {"cell": cell, "direction": direction, "trail": trail}

    def expert(self, observations: Array) -> Array:
        """Turn to the side that has more marks than all else, or go straight on."""
        left, ahead, right = np.moveaxis(observations, -1, 0)
        return np.asarray(
            1 * (left > np.maximum(ahead, right)) - 1 * (right > np.maximum(ahead, left))
        )

    def followed(self, state: State) -> Array:
        """How many marks of others are on an ant's cell."""
        return np.asarray(self._marks_on(state, self._number(state["cell"])).mean(axis=1))

    def concentration(self, trajectory: Trajectory) -> Floats:
        """How unevenly the cells are used in the last quarter; 1 if all are used alike."""
        late = self._number(trajectory["cell"][:, _late(trajectory) :])
        cells = self.side**2
        shares = [np.bincount(run.ravel(), minlength=cells) / run.size for run in late]
        return np.asarray(cells * (np.array(shares) ** 2).sum(axis=1))

    def _number(self, cell: Array) -> Array:
        return np.asarray(cell[..., 0] * self.side + cell[..., 1])

    def _others(self, state: State, direction: Array) -> Array:
        """The marks of others on the next cell in a direction."""
        return self._marks_on(
            state, self._number((state["cell"] + _KING[direction % 8]) % self.side)
        )

    def _marks_on(self, state: State, number: Array) -> Array:
        """The marks of others on a cell."""
        trail, cells = state["trail"], self.side**2
        run = cells * np.arange(len(trail))[:, None]
        field = np.bincount((trail + run[..., None]).ravel(), minlength=cells * len(trail))
        return np.asarray(field[number + run] - (trail == number[..., None]).sum(axis=2))


@dataclass(frozen=True)
class Hounds:
    """Hounds that chase a hare, which runs from the nearest of them.

    A hound sees the bearing and the distance of the hare, turns and runs on. The hare is a little
    slower than the hounds; where it is, is carried by all of them.
    """

    n_agents: int = 20
    speed: float = 0.02
    hare: float = 0.016  # its speed
    shy: float = 0.25  # how near a hound makes it run
    noise: float = 0.2  # of turns, in radians

    actions: ClassVar[Array] = np.radians([-60.0, -30.0, 0.0, 30.0, 60.0])
    action_units: ClassVar[str] = "rad"
    features: ClassVar[FeatureMap] = Product(
        bearing=Angles(9), distance=Bins([0.0, 0.06, 0.2, np.inf])
    )
    mirror: ClassVar[Mirror] = Mirror(lambda seen: seen * [-1, 1], np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", axes=("axis",), kind="position", period=1.0),
        "heading": Field("heading", "rad", kind="angle"),
        "prey": Field("where the hare is", axes=("axis",)),
    }

    def initial(self, rng: Stream) -> State:
        """Hounds and hare anywhere on a torus."""
        prey = np.stack([rng.shared(), rng.shared()], axis=1)
        return {
            "position": rng.uniform(size=(2,)),
            "heading": rng.uniform(-np.pi, np.pi),
            "prey": _common(prey, self.n_agents),
        }

    def observe(self, state: State) -> Array:
        """Where the hare is, as seen by each hound."""
        way = _short(state["prey"] - state["position"], 1.0)
        return np.stack([_bearing(way, state["heading"]), _length(way)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """The hounds turn and run; then the hare runs from the nearest, if it is near."""
        heading = state["heading"] + actions + rng.normal(scale=self.noise)
        position = (state["position"] + self.speed * _toward(heading)) % 1.0
        away = _short(state["prey"] - position, 1.0)
        nearest = _length(away).argmin(axis=1)[:, None, None]
        danger = np.take_along_axis(away, nearest, axis=1)[:, 0]
        flight = _bearing(danger) + 2.0 * (rng.shared() - 0.5)
        speed = np.where(_length(danger) < self.shy, self.hare, 0.2 * self.hare)
        prey = (state["prey"][:, 0] + speed[:, None] * _toward(flight)) % 1.0
        return {"position": position, "heading": heading, "prey": _common(prey, self.n_agents)}

    def expert(self, observations: Array) -> Array:
        """Turn to the hare; run straight through when close to it."""
        side = (np.round(observations[..., 0] * 9 / (2 * np.pi)) + 4) % 9 - 4
        turn = np.radians(np.clip(30.0 * side, -60.0, 60.0))
        return np.where(observations[..., 1] < 0.06, 0.0, turn)

    def distance(self, state: State) -> Array:
        """How far the hounds are from the hare."""
        return np.asarray(self.observe(state)[..., 1].mean(axis=1))

    def nearest(self, state: State) -> Array:
        """How far the nearest hound is from the hare."""
        return np.asarray(self.observe(state)[..., 1].min(axis=1))


@dataclass(frozen=True)
class Pushers:
    """Robots that push a box to the east.

    The box goes away from all robots that touch it. A robot with a compass sees in which direction
    the box is, and whether it is near. It stays or moves in one of four directions; where the box
    is, is carried by all of them.
    """

    n_agents: int = 20
    touch: float = 0.1  # a robot touches a box that is nearer
    push: float = 0.002  # how far one robot moves the box in a step
    step: float = 0.02
    noise: float = 0.006

    actions: ClassVar[Array] = np.array([0, 1, 2, 3, 4])  # stay, east, north, west, south
    features: ClassVar[FeatureMap] = Product(
        direction=Angles(8), distance=Bins([0.0, 0.13, np.inf])
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", "m", ("axis",), kind="position"),
        "box": Field("where the box is", "m", ("axis",)),
    }

    def initial(self, rng: Stream) -> State:
        """Robots anywhere in a square, the box near its middle."""
        box = 0.4 + 0.2 * np.stack([rng.shared(), rng.shared()], axis=1)
        return {"position": rng.uniform(size=(2,)), "box": _common(box, self.n_agents)}

    def observe(self, state: State) -> Array:
        """Where the box is, as seen by each robot."""
        way = state["box"] - state["position"]
        return np.stack([_bearing(way), _length(way)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """The robots move; then the box goes where they push it."""
        jitter = rng.normal(scale=self.noise, size=(2,))
        position = state["position"] + self.step * _COMPASS[actions] + jitter
        way = state["box"] - position
        far = _length(way)[..., None]
        pushes = np.where(far < self.touch, way / np.maximum(far, 1e-9), 0.0)
        box = state["box"][:, 0] + self.push * _total(pushes, axis=1)
        return {"position": position, "box": _common(box, self.n_agents)}

    def expert(self, observations: Array) -> Array:
        """Get to the west of the box, keeping away from it, and push."""
        direction = np.round(observations[..., 0] * 4 / np.pi).astype(int) % 8
        far = np.array([1, 2, 3, 3, 2, 3, 3, 4])[direction]  # of a box in the east, north-east, ...
        near = np.array([1, 2, 3, 4, 1, 2, 3, 4])[direction]
        return np.asarray(np.where(observations[..., 1] < 0.13, near, far))

    def east(self, trajectory: Trajectory) -> Floats:
        """How far east the box has come."""
        return np.asarray(self._way(trajectory)[:, 0])

    def course(self, trajectory: Trajectory) -> Floats:
        """How much of the way of the box leads to the east, from -1 to 1."""
        way = self._way(trajectory)
        return np.asarray(way[:, 0] / np.maximum(_length(way), 0.1))

    def distance(self, state: State) -> Array:
        """How far the robots are from the box."""
        return np.asarray(self.observe(state)[..., 1].mean(axis=1))

    def _way(self, trajectory: Trajectory) -> Array:
        return np.asarray(trajectory["box"][:, -1, 0] - trajectory["box"][:, 0, 0])


@dataclass(frozen=True)
class Passage:
    """People who walk through a corridor in both directions, and step to the right if they meet.

    The corridor is a grid that meets itself at its ends, with one person to a cell. A person sees
    whether somebody is in front, and which way that one walks, and whether the cells on the right
    and on the left are taken. It waits, goes ahead, or steps to the right or left; of those who
    want the same free cell, one gets it.
    """

    n_agents: int = 60
    length: int = 30
    width: int = 6
    slip: float = 0.1  # the share of steps in which somebody waits anyway

    actions: ClassVar[Array] = np.array([0, 1, 2, 3])  # wait, ahead, right, left
    features: ClassVar[FeatureMap] = Product(ahead=Levels(3), right=Levels(2), left=Levels(2))
    fields: ClassVar[Mapping[str, Field]] = {
        "cell": Field("place along and across", axes=("axis",), kind="position", period=30.0),
        "way": Field("direction, 1 or -1", constant=True),
    }

    def initial(self, rng: Stream) -> State:
        """Half of the people for either direction, on cells of their own."""
        share = self.length * self.width // self.n_agents
        number = rng.permutation().astype(np.int64) * share + rng.integers(share)
        way = np.where(rng.permutation() < self.n_agents // 2, 1, -1)
        return {"cell": np.stack(np.divmod(number, self.width), axis=2), "way": way}

    def observe(self, state: State) -> Array:
        """Who is in front (nobody, of the same way, of the other), and whether sides are taken."""
        way, grid = state["way"], self._grid(state)
        ahead, right, left = (self._look(grid, self._target(state, k)) for k in (1, 2, 3))
        front = np.where(ahead == 0, 0, np.where(ahead == way, 1, 2))
        return np.stack([front, right != 0, left != 0], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Move to free cells; where several want to, one of them by chance."""
        wish = np.where(rng.uniform() < self.slip, 0, actions)
        target = self._target(state, wish)
        free = self._look(self._grid(state), target) == 0
        claim = np.where(free, rng.uniform(), -1.0)
        place = self._place(target)
        best = np.zeros(len(claim) * self.length * (self.width + 2))
        np.maximum.at(best, place, claim)
        wins = free & (claim == best[place])
        return {"cell": np.where(wins[..., None], target, state["cell"]), "way": state["way"]}

    def expert(self, observations: Array) -> Array:
        """Go ahead; step to the right of who comes the other way, or else to the left."""
        ahead, right, left = np.moveaxis(observations, -1, 0)
        aside = np.where(right == 0, 2, np.where(left == 0, 3, 0))
        return np.where(ahead == 0, 1, np.where(ahead == 2, aside, 0))

    def flow(self, trajectory: Trajectory) -> Floats:
        """How many cells people get ahead in a step of the last quarter."""
        ahead = _moves(trajectory, "cell", self.length)[..., 0] * trajectory["way"][:, None]
        return np.asarray(ahead.mean(axis=(1, 2)))

    def right(self, state: State) -> Array:
        """How far people are on their right-hand side of the corridor."""
        across = (self.width - 1) / 2 - state["cell"][..., 1]
        return np.asarray((across * state["way"]).mean(axis=1))

    def lanes(self, state: State) -> Array:
        """How much the people on each lane go the same way, from 0 to 1."""
        balance = self._grid(state)[:, :, 1:-1].sum(axis=1)
        return np.asarray(np.abs(balance).sum(axis=1) / self.n_agents)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Lanes."""
        return {"lanes": Measure(self.lanes, "order of lanes", limits=(0.0, 1.0))}

    def _target(self, state: State, action: Array | int) -> Array:
        """The cell that an action leads to; -1 and `width` are in the walls."""
        cell, way = state["cell"], state["way"]
        along = (cell[..., 0] + way * np.equal(action, 1)) % self.length
        aside = 1 * np.equal(action, 3) - 1 * np.equal(action, 2)
        return np.stack([along, cell[..., 1] + way * aside], axis=2)

    def _place(self, cell: Array) -> Array:
        """The number of a cell among those of all runs, with walls."""
        run = np.arange(len(cell))[:, None] * self.length
        return np.asarray((run + cell[..., 0]) * (self.width + 2) + cell[..., 1] + 1)

    def _grid(self, state: State) -> Array:
        """Which way the person on each cell walks: 0 for nobody, 9 for walls."""
        grid = np.zeros((len(state["way"]), self.length, self.width + 2), np.int64)
        grid[:, :, [0, -1]] = 9
        grid.ravel()[self._place(state["cell"])] = state["way"]
        return grid

    def _look(self, grid: Array, cell: Array) -> Array:
        return np.asarray(grid.ravel()[self._place(cell)])


@dataclass(frozen=True)
class Moods:
    """Neighbours on a ring whose mood goes to one extreme or the other, all together.

    Moods are five levels. An agent sees its own mood and whether those around it are low, mixed or
    high; its mood falls, stays or rises, though often it does not get around to it. Runs start
    rather low or rather high, and stay on that side.
    """

    n_agents: int = 50
    reach: int = 8  # neighbours on either side
    awake: float = 0.4  # the share of steps in which an agent acts
    noise: float = 0.05  # the share of steps in which a mood changes by chance

    actions: ClassVar[Array] = np.array([-1, 0, 1])
    features: ClassVar[FeatureMap] = Product(own=Levels(5), others=Levels(3))
    mirror: ClassVar[Mirror] = Mirror(lambda seen: np.array([4, 2]) - seen, np.negative)
    fields: ClassVar[Mapping[str, Field]] = {
        "seat": Field("number of the seat", constant=True),
        "mood": Field("mood, 0 to 4", kind="level"),
    }

    def initial(self, rng: Stream) -> State:
        """Mixed moods, more of the low or more of the high ones."""
        chance = np.where(rng.shared() < 0.5, 0.35, 0.65)[:, None, None]
        mood = (rng.uniform(size=(4,)) < chance).sum(axis=2)
        return {"seat": rng.permutation(), "mood": mood}

    def observe(self, state: State) -> Array:
        """One's own mood, and that of the others."""
        mood = state["mood"]
        tenths = 5 * _around(state["seat"], mood, self.reach) // self.reach
        return np.stack([mood, 1 + 1 * (tenths > 23) - 1 * (tenths < 17)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Moods rise and fall, within their bounds."""
        change = np.where(rng.uniform() < self.awake, actions, 0)
        by_chance = rng.uniform() < self.noise
        change = np.where(by_chance, 2 * rng.integers(2) - 1, change)
        return {"seat": state["seat"], "mood": np.clip(state["mood"] + change, 0, 4)}

    def expert(self, observations: Array) -> Array:
        """Follow the others; if they are mixed, go to one's own extreme."""
        own, others = observations[..., 0], observations[..., 1]
        return np.where(others == 1, np.sign(own - 2), others - 1)

    def extreme(self, state: State) -> Array:
        """How far the mean mood is from the middle, from 0 to 1."""
        return np.asarray(np.abs(state["mood"].mean(axis=1) - 2) / 2)

    def faith(self, trajectory: Trajectory) -> Floats:
        """Whether the swarm ends on the side on which it began, 1 or -1."""
        start, end = (trajectory["mood"][:, time].mean(axis=1) - 2 for time in (0, -1))
        return np.asarray(np.sign(start) * np.sign(end))

    def ends_high(self, trajectory: Trajectory) -> NDArray[np.bool_]:
        """Which of the two outcomes each run has."""
        return np.asarray(trajectory["mood"][:, -1].mean(axis=1) > 2)


@dataclass(frozen=True)
class Carousel:
    """Fish that circle around their common middle, with it on their left.

    A fish sees the bearing and the distance of the middle of the others, turns and swims on. The
    expert's turns are no steps of 30 degrees: they are proportional to how far the bearing is from
    the one that it wants at this distance.
    """

    n_agents: int = 30
    radius: float = 0.25  # that the expert wants
    speed: float = 0.03
    noise: float = 0.15  # of turns, in radians

    actions: ClassVar[Array] = np.radians([-60.0, -30.0, 0.0, 30.0, 60.0])
    action_units: ClassVar[str] = "rad"
    features: ClassVar[FeatureMap] = Product(
        bearing=Angles(12), distance=Bins([0.0, 0.1, 0.2, 0.3, 0.4, np.inf])
    )
    fields: ClassVar[Mapping[str, Field]] = {
        "position": Field("position", "m", ("axis",), kind="position"),
        "heading": Field("heading", "rad", kind="angle"),
    }

    def initial(self, rng: Stream) -> State:
        """Anywhere in a square."""
        return {"position": rng.uniform(-0.3, 0.3, (2,)), "heading": rng.uniform(-np.pi, np.pi)}

    def observe(self, state: State) -> Array:
        """Where the middle of the others is, as seen by each fish."""
        position = state["position"]
        total = _total(position, axis=1)[:, None]
        way = (total - position) / (self.n_agents - 1) - position
        return np.stack([_bearing(way, state["heading"]), _length(way)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Turn and swim on."""
        heading = state["heading"] + actions + rng.normal(scale=self.noise)
        return {
            "position": state["position"] + self.speed * _toward(heading),
            "heading": _short(heading, 2 * np.pi),
        }

    def expert(self, observations: Array) -> Array:
        """Keep the middle on the left; more in front of oneself if it is far."""
        bearing, distance = observations[..., 0], observations[..., 1]
        wanted = np.clip(np.pi / 2 - 3.5 * (distance - self.radius), 0.0, 2.5)
        return np.clip(0.5 * _short(bearing - wanted, 2 * np.pi), -np.pi / 3, np.pi / 3)

    def distance(self, state: State) -> Array:
        """How far fish are from the middle."""
        return np.asarray(self.observe(state)[..., 1].mean(axis=1))

    def rotation(self, state: State) -> Array:
        """1 if all circle with the middle on their left, -1 if on their right."""
        return np.asarray(np.sin(self.observe(state)[..., 0]).mean(axis=1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Distance from the middle, and rotation."""
        return {
            "distance": Measure(self.distance, "distance", "m", limits=(0.0, None)),
            "rotation": Measure(self.rotation, "rotation", limits=(-1.0, 1.0)),
        }


# Swarms that reactive local agents cannot be.


def _told(observations: Array, informed: bool) -> Array:
    """What informed agents observe besides; 0 for those who are not told."""
    return np.asarray(observations[..., -1] if informed else np.zeros_like(observations[..., 0]))


@dataclass(frozen=True)
class Porters:
    """Porters who go to and fro between the two ends of a corridor.

    A porter sees in which part of the corridor it is and how many others are close. Informed ones
    also remember at which end they were last; the others would need a memory.
    """

    n_agents: int = 30
    cells: int = 30
    slip: float = 0.1  # the share of steps that fail
    informed: bool = False

    actions: ClassVar[Array] = np.array([-1, 0, 1])
    fields: ClassVar[Mapping[str, Field]] = {
        "cell": Field("place in the corridor", kind="level"),
        "last": Field("where it was last, 0 in the west and 1 in the east", kind="hidden"),
    }
    parts: ClassVar[dict[str, Any]] = {"part": Levels(5), "close": Levels(3)}
    uninformed_map: ClassVar[FeatureMap] = Product(**parts)
    informed_map: ClassVar[FeatureMap] = Product(**parts, last=Levels(2))

    @property
    def features(self) -> FeatureMap:
        """Part of the corridor and company, and the memory of informed ones."""
        return self.informed_map if self.informed else self.uninformed_map

    def initial(self, rng: Stream) -> State:
        """Anywhere, on any way."""
        return self._arrived(rng.integers(1, self.cells - 1), rng.integers(2))

    def observe(self, state: State) -> Array:
        """The ends, and three parts between them; and how many others are close."""
        cell = state["cell"]
        part = np.digitize(cell, [1, self.cells // 3, 2 * self.cells // 3, self.cells - 1])
        others = (np.abs(cell[:, None] - cell[:, :, None]) <= 1).sum(axis=2) - 1
        seen = [part, np.minimum((others + 1) // 2, 2)]
        return np.stack([*seen, state["last"]] if self.informed else seen, axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Walk, and remember an end."""
        moves = np.where(rng.uniform() < self.slip, 0, actions)
        return self._arrived(np.clip(state["cell"] + moves, 0, self.cells - 1), state["last"])

    def expert(self, observations: Array) -> Array:
        """Go to the end at which one was not."""
        return 1 - 2 * _told(observations, self.informed)

    def trips(self, trajectory: Trajectory) -> Floats:
        """How often a porter gets from one end to the other."""
        last = trajectory["last"]
        return np.asarray((last[:, 1:] != last[:, :-1]).sum(axis=1).mean(axis=1))

    def _arrived(self, cell: Array, last: Array) -> State:
        last = np.where(cell == 0, 0, np.where(cell == self.cells - 1, 1, last))
        return {"cell": cell, "last": last}


@dataclass(frozen=True)
class Plankton:
    """Plankton that sinks by day and rises by night.

    It sees how deep it is and how many others are at the same depth. Informed plankton also sees
    whether it is day; the other has no cue. The hour is common to all.
    """

    n_agents: int = 120
    day: int = 60  # steps, half of which are night
    slip: float = 0.3  # the share of steps that fail
    informed: bool = False

    actions: ClassVar[Array] = np.array([-1, 0, 1])
    fields: ClassVar[Mapping[str, Field]] = {
        "depth": Field("depth, 0 to 9", kind="level"),
        "hour": Field("steps since sunrise", kind="hidden"),
    }
    parts: ClassVar[dict[str, Any]] = {"depth": Levels(10), "others": Levels(3)}
    uninformed_map: ClassVar[FeatureMap] = Product(**parts)
    informed_map: ClassVar[FeatureMap] = Product(**parts, day=Levels(2))

    @property
    def features(self) -> FeatureMap:
        """Depth and company, and for informed plankton the light."""
        return self.informed_map if self.informed else self.uninformed_map

    def initial(self, rng: Stream) -> State:
        """At any depth and hour."""
        hour = (rng.shared() * self.day).astype(np.int64)
        return {"depth": rng.integers(10), "hour": _common(hour, self.n_agents)}

    def observe(self, state: State) -> Array:
        """Depth; whether few, some or many others are there; and the light."""
        depth = state["depth"]
        others = (depth[:, None] == depth[:, :, None]).sum(axis=2) - 1
        seen = [depth, np.digitize(others, [self.n_agents // 10, self.n_agents // 3])]
        return np.stack([*seen, self._is_day(state)] if self.informed else seen, axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Sink or rise, and time goes on."""
        moves = np.where(rng.uniform() < self.slip, 0, actions)
        return {
            "depth": np.clip(state["depth"] + moves, 0, 9),
            "hour": (state["hour"] + 1) % self.day,
        }

    def expert(self, observations: Array) -> Array:
        """Go to depth 7 by day and 2 by night."""
        goal = np.where(_told(observations, self.informed) == 1, 7, 2)
        return np.asarray(np.sign(goal - observations[..., 0]).astype(np.int64))

    def misplaced(self, trajectory: Trajectory) -> Floats:
        """How far plankton is from where it should be at this hour, over the second half."""
        late = {name: trajectory[name][:, trajectory.steps // 2 :] for name in ("depth", "hour")}
        goal = np.where(self._is_day(late), 7, 2)
        return np.asarray(np.abs(late["depth"] - goal).mean(axis=(1, 2)))

    def migration(self, trajectory: Trajectory) -> Floats:
        """How much deeper it is by day than by night, over the second half."""
        late = {name: trajectory[name][:, trajectory.steps // 2 :] for name in ("depth", "hour")}
        light = self._is_day(late)
        by_day, by_night = (
            (late["depth"] * when).sum(axis=(1, 2)) / np.maximum(when.sum(axis=(1, 2)), 1)
            for when in (light, ~light)
        )
        return np.asarray(by_day - by_night)

    def _is_day(self, state: State) -> Array:
        return np.asarray(state["hour"] < self.day // 2)


@dataclass(frozen=True)
class Jobs:
    """Workers whom a command distributes over three jobs, as many to each as are needed.

    A worker sees its own job and how many of those next to it do the same one. Informed workers
    also get an order, for which the command goes through the badges of all of them: the lowest ones
    do the first job, and so on. How many are needed differs from run to run.
    """

    n_agents: int = 45
    slip: float = 0.3  # the share of steps that fail
    noise: float = 0.02  # the share of steps that lead to any job
    informed: bool = False

    actions: ClassVar[Array] = np.array([-1, 0, 1])
    fields: ClassVar[Mapping[str, Field]] = {
        "seat": Field("number of the seat on a ring", constant=True),
        "badge": Field("number of the badge", constant=True, kind="hidden"),
        "needs": Field("first badge of the second and third job", constant=True, axes=("job",)),
        "job": Field("job, 0 to 2", kind="level"),
    }
    parts: ClassVar[dict[str, Any]] = {"job": Levels(3), "like": Levels(5)}
    uninformed_map: ClassVar[FeatureMap] = Product(**parts)
    informed_map: ClassVar[FeatureMap] = Product(**parts, order=Levels(3))

    @property
    def features(self) -> FeatureMap:
        """One's job and like neighbours, and an order for informed ones."""
        return self.informed_map if self.informed else self.uninformed_map

    def initial(self, rng: Stream) -> State:
        """Any jobs, badges and needs."""
        cuts = np.sort(np.stack([rng.shared(), rng.shared()], axis=1), axis=1)
        return {
            "seat": rng.permutation(),
            "badge": rng.permutation(),
            "needs": _common(np.round(self.n_agents * cuts).astype(np.int64), self.n_agents),
            "job": rng.integers(3),
        }

    def observe(self, state: State) -> Array:
        """One's job, how many of four neighbours do the same, and the order."""
        job = state["job"]
        doing = [_around(state["seat"], 1 * (job == k), 2) for k in range(3)]
        seen = [job, np.choose(job, doing)]
        return np.stack([*seen, self._order(state)] if self.informed else seen, axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Change to the job before or after."""
        moves = np.where(rng.uniform() < self.slip, 0, actions)
        by_chance = rng.uniform() < self.noise
        job = np.where(by_chance, rng.integers(3), np.clip(state["job"] + moves, 0, 2))
        return {**state, "job": job}

    def expert(self, observations: Array) -> Array:
        """Do as ordered."""
        return np.asarray(np.sign(_told(observations, self.informed) - observations[..., 0]))

    def misfit(self, state: State) -> Array:
        """The share of workers that would have to do another job."""
        off = [(state["job"] == k).sum(1) - (self._order(state) == k).sum(1) for k in range(3)]
        return np.asarray(np.abs(off).sum(axis=0) / (2 * self.n_agents))

    def _order(self, state: State) -> Array:
        return np.asarray((state["badge"][..., None] >= state["needs"]).sum(axis=2))


@dataclass(frozen=True)
class Homing:
    """Walkers on a torus that go home.

    A walker sees the charge of its battery, which has nothing to do with where it is. Informed ones
    also see in which of four directions home is.
    """

    n_agents: int = 80
    side: int = 20
    slip: float = 0.1  # the share of steps that go anywhere
    informed: bool = False

    actions: ClassVar[Array] = np.array([0, 1, 2, 3, 4])  # stay, east, north, west, south
    fields: ClassVar[Mapping[str, Field]] = {
        "cell": Field("column and row", axes=("axis",), kind="position", period=20.0),
        "charge": Field("charge of the battery, 0 to 5", kind="level"),
    }
    home: ClassVar[Array] = np.array([5, 8])
    uninformed_map: ClassVar[FeatureMap] = Levels(6, "charge")
    informed_map: ClassVar[FeatureMap] = Product(charge=Levels(6), home=Levels(5))

    @property
    def features(self) -> FeatureMap:
        """The charge, and for informed ones the direction of home."""
        return self.informed_map if self.informed else self.uninformed_map

    def initial(self, rng: Stream) -> State:
        """Anywhere, with any charge."""
        return {"cell": rng.integers(self.side, size=(2,)), "charge": rng.integers(6)}

    def observe(self, state: State) -> Array:
        """The charge, and the direction along which home is farther; 0 at home."""
        if not self.informed:
            return state["charge"]
        east, north = np.moveaxis(self._way(state["cell"]), -1, 0)
        across = np.where(east > 0, 1, 3)
        along = np.where(north > 0, 2, 4)
        direction = np.where(np.abs(east) >= np.abs(north), across, along)
        return np.stack([state["charge"], np.where(east**2 + north**2, direction, 0)], axis=2)

    def transition(self, state: State, actions: Array, rng: Stream) -> State:
        """Walk; the battery loses or gains."""
        slips = rng.uniform() < self.slip
        moves = _COMPASS[np.where(slips, rng.integers(5), actions)]
        charge = state["charge"] + rng.integers(-1, 2)
        return {"cell": (state["cell"] + moves) % self.side, "charge": np.clip(charge, 0, 5)}

    def expert(self, observations: Array) -> Array:
        """Go home."""
        return observations[..., -1] if self.informed else np.zeros_like(observations)

    def distance(self, state: State) -> Array:
        """How many steps agents are from home."""
        return np.asarray(np.abs(self._way(state["cell"])).sum(axis=2).mean(axis=1))

    def arrived(self, state: State) -> Array:
        """The share of agents that are at home, or a step away."""
        near = np.abs(self._way(state["cell"])).sum(axis=2) <= 1
        return np.asarray(near.mean(axis=1))

    def _way(self, cell: Array) -> Array:
        return _short(self.home - cell, self.side).astype(np.int64)


def cases() -> list[Case]:
    """All cases, those that can be learned first."""
    return [*_learnable(), *_not_learnable()]


def _learnable() -> list[Case]:
    colours, pendulums, cockroaches = Colours(), Pendulums(), Cockroaches()
    fence, meeting, climbers = Fence(), Meeting(), Climbers()
    ants, hounds, pushers = Ants(), Hounds(), Pushers()
    passage, moods, carousel = Passage(), Moods(), Carousel()
    return [
        Case(
            "colours",
            "consensus",
            colours,
            {"alike": at_end(colours.alike), "changes": changing("colour")},
            steps=80,
        ),
        Case(
            "pendulums",
            "synchronisation",
            pendulums,
            {"harmony": at_end(pendulums.harmony), "detuning": pendulums.detuning},
        ),
        Case(
            "cockroaches",
            "aggregation",
            cockroaches,
            {
                "company": at_end(cockroaches.company),
                "alone": at_end(cockroaches.alone),
                "pace": pace(period=1.0),
            },
            steps=150,
        ),
        Case(
            "fence",
            "line formation",
            fence,
            {
                "thickness": at_end(fence.thickness),
                "length": at_end(fence.length),
                "spacing": at_end(fence.spacing),
                "pace": pace(),
            },
            steps=120,
        ),
        Case(
            "meeting",
            "rendezvous",
            meeting,
            {"spread": at_end(meeting.spread), "drift": meeting.drift, "pace": pace()},
            steps=80,
        ),
        Case(
            "climbers",
            "gradient following",
            climbers,
            {"distance": at_end(climbers.distance), "swinging": swinging},
        ),
        Case(
            "ants",
            "trails",
            ants,
            {
                "followed": at_end(ants.followed),
                "concentration": ants.concentration,
                "turns": changing("direction"),
            },
            steps=120,
        ),
        Case(
            "hounds",
            "pursuit",
            hounds,
            {"distance": at_end(hounds.distance), "nearest": at_end(hounds.nearest)},
        ),
        Case(
            "pushers",
            "pushing",
            pushers,
            {
                "east": pushers.east,
                "course": pushers.course,
                "distance": at_end(pushers.distance),
            },
            steps=120,
        ),
        Case(
            "passage",
            "lanes",
            passage,
            {
                "flow": passage.flow,
                "right": at_end(passage.right),
                "lanes": at_end(passage.lanes),
            },
            steps=150,
        ),
        BothOutcomesCase(
            "moods",
            "two outcomes",
            moods,
            {"extreme": at_end(moods.extreme), "faith": moods.faith, "changes": changing("mood")},
            steps=60,
            outcome=moods.ends_high,
        ),
        Case(
            "carousel",
            "milling",
            carousel,
            {
                "distance": at_end(carousel.distance),
                "rotation": at_end(carousel.rotation),
            },
        ),
    ]


def _not_learnable() -> list[Case]:
    porters, plankton, jobs, homing = Porters(), Plankton(), Jobs(), Homing()
    return [
        InformedCase(
            "porters",
            "shuttling",
            porters,
            {"trips": porters.trips, "moves": changing("cell")},
            steps=150,
            learnable=False,
            reason="needs a memory of where an agent was",
            informed=Porters(informed=True),
        ),
        InformedCase(
            "plankton",
            "migration",
            plankton,
            {"misplaced": plankton.misplaced, "migration": plankton.migration},
            steps=120,
            learnable=False,
            reason="a hidden cue says when to leave",
            informed=Plankton(informed=True),
        ),
        InformedCase(
            "jobs",
            "division of labour",
            jobs,
            {"misfit": at_end(jobs.misfit), "changes": changing("job")},
            steps=60,
            learnable=False,
            reason="a command that sees all agents gives orders",
            informed=Jobs(informed=True),
        ),
        InformedCase(
            "homing",
            "homing",
            homing,
            {"distance": at_end(homing.distance), "arrived": at_end(homing.arrived)},
            steps=80,
            learnable=False,
            reason="what is observed says nothing of where an agent is",
            informed=Homing(informed=True),
        ),
    ]
