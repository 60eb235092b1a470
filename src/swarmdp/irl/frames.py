"""The states and observations of a recorded swarm, one time after another."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.adapted import starting_from
from swarmdp.model.system import State, System
from swarmdp.model.traits import ChecksStates, field_of, fields_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.simulation.recorders import check_recorded
from swarmdp.support.errors import InvalidInput


def state_names(system: System, trajectory: Trajectory) -> list[str]:
    """The arrays of a trajectory that make up states."""
    return list(fields_of(system)) or [
        name
        for name, variable in trajectory.variables.items()
        if variable.axes[1:3] == ("time", "agent") and name != "observations"
    ]


def states_over(system: System, trajectory: Trajectory) -> Iterator[State]:
    """The state of all runs at each time; raises InvalidInput unless states were recorded."""
    names = state_names(system, trajectory)
    missing = [name for name in names if name not in trajectory]
    if missing or not names:
        raise InvalidInput(
            f"the trajectory has no {' and '.join(missing) or 'states'}: record states or "
            "observations"
        )
    check_recorded(system, trajectory)
    for time in range(trajectory.steps + 1):
        state = {
            name: np.ascontiguousarray(
                trajectory[name] if field_of(system, name).constant else trajectory[name][:, time]
            )
            for name in names
        }
        if isinstance(system, ChecksStates):
            system.check_state(state)
        yield state


def observations_over(system: System, trajectory: Trajectory) -> Iterator[NDArray[Any]]:
    """What each agent observes at each time (runs, agents, ...), recorded or from the states."""
    check_recorded(system, trajectory)
    if "observations" in trajectory:
        recorded = trajectory["observations"]
        yield from (np.ascontiguousarray(recorded[:, t]) for t in range(recorded.shape[1]))
    else:
        yield from (system.observe(state) for state in states_over(system, trajectory))


def started_as(system: System, demo: Trajectory, names: tuple[str, ...]) -> System:
    """The system from the demo's first states; as it is if the demo has none of these names."""
    if not names:
        return system
    constant = {n: "time" not in demo.variables[n].axes for n in names}
    first = {n: demo[n] if constant[n] else demo[n][:, 0] for n in names}
    return starting_from(system, first)


def recorded_states(system: System, demo: Trajectory) -> tuple[str, ...]:
    """The arrays of the states, if the demo has all of them."""
    names = tuple(state_names(system, demo))
    return names if names and all(name in demo for name in names) else ()
