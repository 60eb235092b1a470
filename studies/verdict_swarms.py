"""Swarms for `studies/verdicts.py`: observations that hide which way they go, and altered laws."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.model import Field
from swarmdp.model.streams import Stream
from swarmdp.model.system import State


@dataclass(frozen=True)
class Rota:
    """Workers go round four tasks: an agent sees how many are at its task, in thirds.

    The expert goes on to the next task where it is crowded. Going back shows the same observations.
    """

    n_agents: int = 36
    response: float = 0.4  # the share of changes that take effect

    actions = np.array([-1, 0, 1])
    features = swarmdp.Levels(3, name="crowding")
    fields: ClassVar[Mapping[str, Field]] = {"task": Field("task, 0 to 3", kind="level")}

    def initial(self, rng: Stream) -> State:
        """At any task."""
        return {"task": rng.integers(4)}

    def observe(self, state: State) -> NDArray[np.int64]:
        """Whether there are less than a sixth, less than a third, or more at its task."""
        task = state["task"]
        count = np.stack([(task == k).sum(axis=1) for k in range(4)], axis=1)
        here = np.take_along_axis(count, task, axis=1)
        return np.asarray(np.minimum(6 * here // self.n_agents, 2))

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Some of the changes happen."""
        moves = np.where(rng.uniform() < self.response, actions, 0)
        return {"task": (state["task"] + moves) % 4}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Go on, unless hardly anybody is here."""
        return np.where(observations == 0, 0, 1)


@dataclass(frozen=True)
class Lamps:
    """Agents on a line with a lamp at both ends see only how bright it is, in four levels.

    The expert goes to the left lamp and stays there. At the right one it is as bright.
    """

    n_agents: int = 30
    stride: float = 0.02
    noise: float = 0.01

    actions = np.array([-1, 0, 1])
    features = swarmdp.Levels(4, name="brightness")
    fields: ClassVar[Mapping[str, Field]] = {"place": Field("place", kind="position")}

    def initial(self, rng: Stream) -> State:
        """About the middle."""
        return {"place": 0.4 + 0.2 * rng.uniform()}

    def observe(self, state: State) -> NDArray[np.int64]:
        """How near the nearer lamp is, in eighths of the line."""
        away = np.minimum(np.abs(state["place"]), np.abs(1 - state["place"]))
        return np.asarray(3 - np.minimum(8 * away, 3).astype(np.int64))

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """A step, and some noise."""
        moved = state["place"] + self.stride * actions + rng.normal(scale=self.noise)
        return {"place": np.clip(moved, 0, 1)}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """To the left, until it is bright."""
        return np.where(observations == 3, 0, -1)


@dataclass(frozen=True)
class Altered:
    """A Vicsek swarm in which some ignore the others, or are weakly drawn to them."""

    vicsek: swarmdp.Vicsek
    ignoring: float = 0.0  # the share of agents that do not turn
    attraction: float = 0.0  # largest turn towards the middle of the others, in radians
    reach: float = 0.2  # of the attraction

    @property
    def n_agents(self) -> int:
        """Those of the swarm."""
        return self.vicsek.n_agents

    @property
    def actions(self) -> NDArray[Any]:
        """Those of the swarm."""
        return self.vicsek.actions

    @property
    def features(self) -> Any:
        """Those of the swarm."""
        return self.vicsek.features

    @property
    def fields(self) -> Mapping[str, Field]:
        """Those of the swarm."""
        return self.vicsek.fields

    def initial(self, rng: Stream) -> State:
        """As the swarm's."""
        return self.vicsek.initial(rng)

    def observe(self, state: State) -> NDArray[Any]:
        """As the swarm's."""
        return self.vicsek.observe(state)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """The swarm's, after what is altered."""
        turns = np.array(actions, np.float64)
        turns[:, : round(self.ignoring * self.n_agents)] = 0.0
        if self.attraction:
            place, box = state["position"], self.vicsek.box
            offset = place[:, None] - place[:, :, None]
            offset -= box * np.round(offset / box)
            near = (offset**2).sum(axis=3) < self.reach**2
            x, y = np.moveaxis((offset * near[..., None]).sum(axis=2), 2, 0)
            bearing = np.arctan2(y, x) - state["heading"]
            turns += self.attraction * np.sin(bearing)
        return self.vicsek.transition(state, turns, rng)


ALTERATIONS = (
    "radius -20 %",
    "one in ten ignores the others",
    "turns of 90 %",
    "a weak attraction",
)


def altered_demo(
    vicsek: swarmdp.Vicsek, alteration: str, *, steps: int, runs: int, seed: int
) -> swarmdp.Trajectory:
    """Runs of an altered swarm that look as if they were of the swarm itself."""
    system: Any = vicsek
    policy: Any = vicsek.expert
    if alteration == "radius -20 %":
        system = replace(vicsek, radius=0.8 * vicsek.radius)
        policy = system.expert
    elif alteration == "one in ten ignores the others":
        system = Altered(vicsek, ignoring=0.1)
    elif alteration == "turns of 90 %":

        def policy(seen: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(0.9 * vicsek.expert(seen))

    elif alteration == "a weak attraction":
        system = Altered(vicsek, attraction=np.radians(2))
    demo = swarmdp.rollout(system, policy, steps=steps, runs=runs, seed=seed, progress=False)
    own = swarmdp.rollout(vicsek, vicsek.expert, steps=1, seed=seed, progress=False)
    return replace(demo, system_name=own.system_name, settings=own.settings)
