"""Demos of a system read as demos of the same system with augmented agents.

What agents of a demo remembered is not recorded. A history, a late sense and known kinds follow
from what was recorded; errors of senses are drawn; the states of a memory are those that explain
best what was done (`memories.py`).
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import observations_over, recorded_states, states_over
from swarmdp.irl.inference import explain
from swarmdp.irl.memories import likeliest_memories
from swarmdp.irl.pairs import nearest_actions
from swarmdp.model.adapted import Adapted
from swarmdp.model.augmented.layers import History, Kinds, Memory
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.streams import Part, Purpose, Streams, derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, class_map, classes
from swarmdp.model.traits import InfersActions, settings_of
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.support.errors import InvalidInput

_SEED = 0  # of what is drawn: a demo is always read in the same way


def lifted(system: System, demo: Trajectory) -> Trajectory:
    """The demo with all that augmented agents have; as it is where nothing is missing.

    Raises InvalidInput where something cannot be known: who is of which kind, or what was done.
    """
    if isinstance(system, Adapted):
        return lifted(system.system, demo)
    if not isinstance(system, Augmented) or all(name in demo for name in system.fields_added):
        return demo
    if _has_observations_of(system, demo):
        return demo
    return _with_layer(system, lifted(system.system, demo))


def without_layers(system: System) -> System:
    """The system whose agents have nothing added."""
    while isinstance(system, Augmented):
        system = system.system
    return system


def _has_observations_of(system: Augmented, demo: Trajectory) -> bool:
    """Whether a demo without states has recorded what augmented agents observe."""
    if recorded_states(system.system, demo) or "observations" not in demo:
        return False
    added = system.layer.added(system.system)
    return added > 0 and demo["observations"].shape[3:] == system.features.shape


def _with_layer(system: Augmented, demo: Trajectory) -> Trajectory:
    """The demo of the inner system, with the fields of the layer."""
    inner, layer = system.system, system.layer
    seen = list(observations_over(inner, demo))
    streams = Streams.of(_SEED, np.arange(demo.runs), inner.n_agents)
    if isinstance(layer, Kinds):
        if layer.assignment is None:
            raise InvalidInput(
                "which agents of the demo are of which kind is not known: give "
                "with_kinds(system, assignment=...), or a demo of the system with kinds"
            )
        kinds = np.tile(np.array(layer.assignment), (demo.runs, 1))
        own = [{"kind": kinds}] * len(seen)
        done = None
    else:
        done = _actions_for(system, demo, seen)
        own = [layer.start(inner, seen[0], streams.at(0, Purpose.INITIAL))]
        for time in range(demo.steps):
            rng = streams.at(time, Purpose.TRANSITION)
            acted = np.zeros(seen[0].shape[:2]) if done is None else done[:, time]
            own.append(layer.step(inner, seen[time], own[-1], acted, rng))
    variables = dict(demo.variables)
    if recorded_states(inner, demo):
        for base, name in system.names.items():
            field = system.fields[name]
            still = field.constant
            values = own[0][base] if still else np.stack([now[base] for now in own], axis=1)
            axes = ("run", *(() if still else ("time",)), "agent", *field.axes)
            variables[name] = Variable(values, axes, field.units, field.description)
    if "observations" in demo and layer.added(inner):
        now = [layer.observed(inner, *pair) for pair in zip(seen, own, strict=True)]
        axes = ("run", "time", "agent", "component")
        variables["observations"] = Variable(np.stack(now, axis=1), axes)
    if isinstance(layer, Memory) and done is not None and "actions" in demo:
        axes = ("run", "step", "agent", "action component")
        variables["actions"] = Variable(done, axes)
    return replace(demo, variables=variables, settings=settings_of(system))


def _actions_for(
    system: Augmented, demo: Trajectory, seen: list[NDArray[Any]]
) -> NDArray[Any] | None:
    """What agents did (runs, steps, agents, ...), where the layer asks for it; None otherwise."""
    inner, layer = system.system, system.layer
    if isinstance(layer, History):
        return taken_actions(inner, demo)[0] if layer.actions_too else None
    if not isinstance(layer, Memory):
        return None
    physical, taken = taken_actions(inner, demo)
    index = np.stack([classes(inner, now) for now in seen[:-1]], axis=1).astype(np.int64)
    memory = likeliest_memories(
        index, taken, (class_map(inner).size, len(inner.actions)), layer.states, seed=_SEED
    )
    columns = physical if np.ndim(inner.actions) > 1 else physical[..., None]
    return np.concatenate([columns, memory[..., None]], axis=-1)


def taken_actions(inner: System, demo: Trajectory) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The physical actions (runs, steps, agents, ...) of a demo, and their indices."""
    if "actions" in demo:
        return demo["actions"], nearest_actions(inner, demo["actions"])
    if isinstance(inner, InfersActions):
        try:
            steps = [inner.inferred_actions(*pair) for pair in pairwise(states_over(inner, demo))]
            physical = np.stack(steps, axis=1)
            return physical, nearest_actions(inner, physical)
        except InvalidInput:
            pass  # a wrapper of a system that cannot
    try:
        symmetry = Symmetry.of(inner)
    except InvalidInput:
        symmetry = None
    seed = derived_seed(_SEED, Part.EXPLAINING)
    decisions = explain(inner, demo, symmetry=symmetry, seed=seed)
    if decisions is None or len(decisions.run) != demo.runs * demo.steps:
        raise InvalidInput(
            "what agents of the demo did is not known, and agents that remember it need it: record "
            'it, rollout(..., record=["states", "actions"])'
        )
    taken = np.empty((demo.runs, demo.steps, inner.n_agents), np.int64)
    taken[decisions.run, decisions.time] = decisions.actions
    return np.take(np.asarray(inner.actions), taken, axis=0), taken
