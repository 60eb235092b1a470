"""Swarms that advance step by step while they are watched."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import states_over
from swarmdp.model.adapted import starting_from
from swarmdp.model.pictures import Arrows, Grid
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State, System, name_of
from swarmdp.model.traits import Arranging, Pictured, field_of, measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import as_policy, check_fits
from swarmdp.support.errors import InvalidInput

RUN = np.zeros(1, np.int64)  # the only run there is


class WatchedSwarm(Protocol):
    """A swarm at its current step."""

    system: System
    step: int
    state: State

    def observations(self) -> NDArray[Any]:
        """What the agents observe now (1, agents, ...)."""

    def advance(self) -> bool:
        """Go on by one step; False if there is none."""


class Live:
    """A swarm that a policy moves: the same bits as a roll-out of this seed."""

    def __init__(self, system: System, policy: Controller, seed: int) -> None:
        self.system, self.step = system, 0
        self._streams = Streams.of(seed, RUN, system.n_agents)
        self.state = system.initial(self._streams.at(0, Purpose.INITIAL))
        self._observed: NDArray[Any] | None = None
        self.follow(policy)
        self._arrange()

    def follow(self, policy: Controller) -> None:
        """Take another policy from now on."""
        checked = as_policy(policy)
        check_fits(checked, self.system, 1)
        self._policy: LocalPolicy
        self._policy, self._rows = checked.for_runs(RUN, self._streams)

    def observations(self) -> NDArray[Any]:
        """What the agents observe now (1, agents, ...)."""
        if self._observed is None:
            self._observed = self.system.observe(self.state)
        return self._observed

    def advance(self) -> bool:
        """Go on by one step."""
        streams = self._streams
        choosing = streams.at(self.step, Purpose.POLICY)
        actions = self._policy.act(self.system, self.observations(), self._rows, choosing)
        moving = streams.at(self.step, Purpose.TRANSITION)
        self.state = self.system.transition(self.state, actions, moving)
        self.step += 1
        self._observed = None
        self._arrange()
        return True

    def _arrange(self) -> None:
        system = self.system
        if isinstance(system, Arranging):
            better = system.arrange(self.state, self.step)
            if better is not None:
                self.state, order = better
                self._streams = self._streams.rearranged(order)
                self._observed = None


class Replay:
    """A recorded swarm, one time after another."""

    def __init__(self, system: System, recorded: Trajectory, run: int = 0) -> None:
        self.system, self.step, self.steps = system, 0, recorded.steps
        self._times = states_over(system, recorded.only(run))
        self.state: State = dict(next(self._times))

    def observations(self) -> NDArray[Any]:
        """What the agents observe now (1, agents, ...)."""
        return self.system.observe(self.state)

    def advance(self) -> bool:
        """Go on by one step; False at the end of the recording."""
        state = next(self._times, None)
        if state is None:
            return False
        self.state = dict(state)
        self.step += 1
        return True


def start_of(system: System, recorded: Trajectory, run: int = 0) -> System:
    """The system, started in the first state of a recording."""
    first = next(states_over(system, recorded.only(run)))
    return starting_from(system, {name: array[0] for name, array in first.items()})


def picture_of(swarm: WatchedSwarm) -> Arrows | Grid:
    """What a swarm looks like now."""
    system = swarm.system
    if not isinstance(system, Pictured):
        raise InvalidInput(
            f"{name_of(system)} cannot be drawn: give it a method picture(swarm, run) that returns "
            "swarmdp.model.Arrows or swarmdp.model.Grid"
        )
    times: Mapping[str, NDArray[Any]] = {
        name: array if field_of(system, name).constant else array[:, None]
        for name, array in swarm.state.items()
    }
    return system.picture(times, 0)


def measure_now(swarm: WatchedSwarm, reward: Reward | None) -> list[float]:
    """All measures of a swarm now, and last the mean reward of its agents, NaN if there is none."""
    system = swarm.system
    values = [
        float(
            (
                measure.function(swarm.state)
                if measure.of_observations is None
                else measure.of_observations(swarm.observations())
            )[0]
        )
        for measure in measures_of(system).values()
    ]
    if reward is None:
        return [*values, float("nan")]
    return [*values, float(reward.of(system, swarm.observations(), RUN).mean())]
