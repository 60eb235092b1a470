"""Observation-action pairs: what the expert did in which observation.

The action of step t was taken on the observation of time t. A demo may have recorded the actions;
where it recorded states only, a system can infer them from one state to the next by its hook
`inferred_actions(before, after)`. An expert may take actions that a learning agent does not have
(Vicsek's turns by any angle): each counts as the nearest one. Integers and booleans have no nearest
one: actions that the system does not have raise InvalidInput.
"""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.expectations import Estimator, check_estimator
from swarmdp.irl.frames import observations_over, state_names, states_over
from swarmdp.model.actions import nearest_index
from swarmdp.model.system import System, class_map, classes, name_of
from swarmdp.model.traits import InfersActions
from swarmdp.model.trajectory import ACTING, Trajectory
from swarmdp.simulation.recorders import check_recorded
from swarmdp.support.checks import check_agent
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.finite import exact_model

Source = Literal["recorded", "inferred"]


def pair_counts(
    system: System, demo: Trajectory, *, estimator: Estimator = "swarm", agent: int = 0
) -> tuple[NDArray[np.float64], Source]:
    """How often each action was taken in each observation, (runs, O, A), and how that is known.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory with recorded actions, or with states from which the system can infer them.
    estimator
        Count the pairs of the whole "swarm" or of a "single" agent.
    agent
        The number of that single agent.

    """
    check_estimator(estimator)
    check_agent(agent, system)
    check_recorded(system, demo, "the demo")
    taken, source = actions_of(system, demo)
    seen = [classes(system, now) for now in observations_over(system, demo)]
    index = np.stack(seen[:-1], axis=1).astype(np.int64)
    if estimator == "single":
        index, taken = index[:, :, agent : agent + 1], taken[:, :, agent : agent + 1]
    shape = class_map(system).size, len(system.actions)
    cells = (index * shape[1] + taken).reshape(demo.runs, -1)
    if ACTING in demo:
        acting = demo[ACTING][:, :, agent : agent + 1] if estimator == "single" else demo[ACTING]
        is_known = acting.reshape(demo.runs, -1)
    else:
        is_known = np.ones(cells.shape, np.bool_)
    counts = [
        np.bincount(row[these], minlength=shape[0] * shape[1])
        for row, these in zip(cells, is_known, strict=True)
    ]
    return np.stack(counts).reshape(demo.runs, *shape).astype(np.float64), source


def actions_of(system: System, demo: Trajectory) -> tuple[NDArray[np.int64], Source]:
    """The indices of the actions taken (runs, steps, agents), and how they are known."""
    if demo.steps < 1:
        raise InvalidInput("a demo of 0 steps has no actions: record at least one step")
    if "actions" in demo:
        return nearest_actions(system, demo["actions"]), "recorded"
    names = state_names(system, demo)
    missing = [name for name in names if name not in demo]
    if not isinstance(system, InfersActions) or missing or not names:
        cause = f"{name_of(system)} cannot infer them from states"
        if isinstance(system, InfersActions):
            listed = f" ({', '.join(missing)})" if missing else ""
            cause = f"they cannot be inferred without the states{listed}"
        raise InvalidInput(
            f"this method needs the expert's actions, but the demo has none, and {cause}. Record "
            'them: rollout(..., record=["observations", "actions"]); or choose an update that '
            "needs no actions, such as max_margin"
        )
    steps = [system.inferred_actions(*pair) for pair in pairwise(states_over(system, demo))]
    return nearest_actions(system, np.stack(steps, axis=1)), "inferred"


def nearest_actions(system: System, physical: NDArray[Any]) -> NDArray[np.int64]:
    """The index of the action nearest to each physical one, of equally near ones the first.

    Angles are compared on the circle. Integers and booleans must be among the system's actions;
    others raise InvalidInput.
    """
    available = np.asarray(system.actions)
    if np.issubdtype(physical.dtype, np.inexact) and not np.isfinite(physical).all():
        raise InvalidInput("the demo's actions must be finite, got NaN or infinity")
    if exact_model(system) is not None or available.dtype.kind in "biu":
        _check_members(available, physical)
    return nearest_index(system, physical)


def _check_members(available: NDArray[Any], physical: NDArray[Any]) -> None:
    if available.ndim == 1:
        there = np.isin(physical, available)
    else:
        there = (physical[..., None, :] == available).all(axis=-1).any(axis=-1)
    strange = np.unique(physical[~there], axis=0)
    if strange.size:
        listed = ", ".join(map(str, strange[:5].tolist())) + (", ..." if len(strange) > 5 else "")
        raise InvalidInput(
            f"the demo has actions that the system does not have: {listed}. Its actions are "
            f"{', '.join(map(str, available[:12].tolist()))}"
            f"{', ...' if len(available) > 12 else ''}: record these, or give the system physical "
            "actions (floating-point numbers), of which the nearest counts"
        )
