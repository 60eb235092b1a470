"""The states and observations of a recorded swarm, one time after another."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.adapted import starting_from
from swarmdp.model.system import State, System
from swarmdp.model.traits import ChecksStates, field_of, fields_of
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.simulation.recorders import check_recorded
from swarmdp.support.errors import InvalidInput

OBSERVATIONS = "observations"  # the name of what was observed in a trajectory
_MOST_BYTES = 2**26  # of observations that are kept


def state_names(system: System, trajectory: Trajectory) -> list[str]:
    """The arrays of a trajectory that make up states."""
    return list(fields_of(system)) or [
        name
        for name, variable in trajectory.variables.items()
        if variable.axes[1:3] == ("time", "agent") and name != OBSERVATIONS
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
    if OBSERVATIONS in trajectory:
        recorded = trajectory[OBSERVATIONS]
        yield from (np.ascontiguousarray(recorded[:, t]) for t in range(recorded.shape[1]))
    else:
        yield from (system.observe(state) for state in states_over(system, trajectory))


def with_observations(system: System, trajectory: Trajectory) -> Trajectory:
    """A trajectory of states with what each agent observes, so that it is asked for once.

    As it is if it has observations already, is of a recording, or is very long.
    """
    observed = OBSERVATIONS in trajectory or trajectory.of_recording
    if observed or not recorded_states(system, trajectory):
        return trajectory
    shape = system.features.shape
    moments = trajectory.runs * (trajectory.steps + 1) * system.n_agents * math.prod(shape)
    if 8 * moments > _MOST_BYTES:
        return trajectory
    seen = np.stack(list(observations_over(system, trajectory)), axis=1)
    axes = ("run", "time", "agent", *(("component",) if shape else ()))
    variables = {**trajectory.variables, OBSERVATIONS: Variable(seen, axes)}
    return replace(trajectory, variables=variables)


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
