"""The swarms that are simulated, from their start or from a later state."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State

SEED = 1

Floats = NDArray[np.float64]
System = swarmdp.Vicsek | swarmdp.Ising


def vicsek(n_agents: int) -> swarmdp.Vicsek:
    """The paper's swarm at another size, with the same density in units of the radius."""
    radius = 0.1 * math.sqrt(200 / n_agents)
    return swarmdp.Vicsek(n_agents=n_agents, radius=radius, speed=radius)


@functools.lru_cache(maxsize=4)
def states_at(system: System, runs: int, times: tuple[int, ...]) -> list[State]:
    """The states of the expert's swarms at these times, agents in their own order."""
    streams = Streams.of(SEED, range(runs), system.n_agents)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    expert: Callable[[NDArray[Any]], NDArray[Any]] = system.expert
    states = {}
    for step in range(max(times) + 1):
        if step in times:
            states[step] = state
        actions = expert(system.observe(state))
        state = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
    return [states[time] for time in times]


def in_grid_order(model: swarmdp.Ising, state: State) -> State:
    """The spins as a roll-out keeps them: agent n on site n."""
    arranged = model.arrange(state, 0)
    return state if arranged is None else arranged[0]
