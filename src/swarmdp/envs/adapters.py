"""`from_pettingzoo` and `from_step`: somebody else's simulator, tried and made a system."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.envs.black_box import BlackBox, OnEnd
from swarmdp.envs.copies import check_sendable
from swarmdp.envs.simulators import Flavour, Locate, Observe, Recipe, try_out
from swarmdp.model.features import Classes, FeatureMap
from swarmdp.model.system import Mirror, classes
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Index, Positive, PositiveInteger


@checked(skip=("make_env", "observe", "actions", "positions", "expert"))
def from_pettingzoo(
    make_env: Callable[[], Any],
    *,
    features: FeatureMap,
    observe: Observe | None = None,
    actions: Sequence[Any] | NDArray[Any] | None = None,
    null: int | None = None,
    mirror: Mirror | None = None,
    positions: Locate | None = None,
    period: Positive | None = None,
    expert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    on_end: OnEnd = "reset",
    horizon: PositiveInteger = 200,
    processes: Index = 0,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> BlackBox:
    """A PettingZoo environment whose agents are all of one kind, as a system.

    Parameters
    ----------
    make_env
        Makes a new environment: a parallel one, or one that can be made parallel. Without a window.
    features
        What learning sees of an observation, such as `swarmdp.Levels(5)`.
    observe
        From the raw observations of all agents (agents, ...) to what the features are of,
        `(agents, *features.shape)`, each row by itself. By default observations as they are.
    actions
        The actions that agents may choose from: numbers, or vectors where the environment takes
        vectors; the system's physical actions are the numbers, or the vectors' places in the list.
        By default all of a discrete space.
    null
        The place in `actions` of doing nothing: learning starts from it, ties go to it. By default
        the first action whose value is zero.
    mirror
        How left and right are exchanged, if they are equivalent: experience counts also mirrored.
    positions
        From an environment to where its agents are (agents, axes): verdicts then compare ways and
        neighbours, and the system has a picture.
    period
        The side of the box, if positions are in one that is periodic.
    expert
        A scripted expert: from observations to physical actions.
    on_end
        When an episode ends, the swarm starts again ("reset"), stays as it is whatever agents do
        ("hold"), or an error is raised ("error").
    horizon
        The longest history that is remembered: an upper limit of the steps of an episode.
    processes
        The number of processes that run copies of a slow simulator; 0 runs them in this one. It
        changes the speed and nothing else.
    name
        What to call the system; by default the environment's own name.
    settings
        What tells this environment from others of its name, as plain data, such as
        `{"n_evaders": 10}`. Keyword arguments of a `functools.partial` are added.

    Returns
    -------
    BlackBox
        A system for `rollout`, `fit`, `judge`. Its measure "reward" is the environment's own.

    Raises
    ------
    InvalidInput
        If the environment has no fixed set of agents, or what it returns does not fit the features.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np, swarmdp
    >>> from mpe2 import simple_spread_v3
    >>> spread = swarmdp.envs.from_pettingzoo(
    ...     partial(simple_spread_v3.parallel_env, N=3, max_cycles=50),
    ...     observe=lambda raw: np.hypot(raw[:, 0], raw[:, 1]),       # an agent's own speed
    ...     features=swarmdp.Bins([0, 0.2, 0.5, np.inf], name="speed"),
    ... )
    >>> still = swarmdp.rollout(spread, lambda speed: np.zeros(speed.shape), steps=5, seed=1)
    >>> spread.n_agents, float(still["observation"].max())
    (3, 0.0)

    """
    recipe, physical = _recipe("pettingzoo", make_env, observe, positions, actions)
    return _system(
        recipe,
        physical,
        features=features,
        null=null,
        mirror=mirror,
        period=period,
        expert=expert,
        on_end=on_end,
        horizon=horizon,
        processes=processes,
        name=name,
        settings=settings,
    )


@checked(skip=("make", "observe", "actions", "positions", "expert"))
def from_step(
    make: Callable[[], Any],
    *,
    features: FeatureMap,
    actions: Sequence[Any] | NDArray[Any],
    observe: Observe | None = None,
    null: int | None = None,
    mirror: Mirror | None = None,
    positions: Locate | None = None,
    period: Positive | None = None,
    expert: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    on_end: OnEnd = "reset",
    horizon: PositiveInteger = 200,
    processes: Index = 0,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> BlackBox:
    """Any simulator with `reset(seed)` and `step(actions)` as a system.

    `reset(seed)` returns the observations of all agents (agents, ...). `step(actions)` takes their
    actions (agents, ...) and returns observations, or (observations, rewards), or (observations,
    rewards, over).

    Parameters
    ----------
    make
        Makes a new simulator: a class or a function.
    features, actions, observe, null, mirror, positions, period, expert
        See `from_pettingzoo`.
    on_end, horizon, processes, name, settings
        See `from_pettingzoo`.

    Returns
    -------
    BlackBox
        A system for `swarmdp.rollout`, `swarmdp.fit` and all others.

    Raises
    ------
    InvalidInput
        If the simulator does not return what is named above.

    Examples
    --------
    >>> import numpy as np, swarmdp
    >>> class Walkers:
    ...     def reset(self, seed):
    ...         self.rng = np.random.default_rng(seed)
    ...         self.place = self.rng.integers(-5, 6, size=4)
    ...         return np.sign(self.place) + 1
    ...     def step(self, actions):
    ...         self.place = self.place + actions
    ...         return np.sign(self.place) + 1
    >>> walkers = swarmdp.envs.from_step(Walkers, features=swarmdp.Levels(3), actions=[-1, 0, 1])
    >>> home = swarmdp.rollout(walkers, lambda side: 1 - side, steps=5, runs=2, seed=1)
    >>> home["observation"][:, -1]
    array([[1, 1, 1, 1],
           [1, 1, 1, 1]])

    """
    recipe, physical = _recipe("step", make, observe, positions, actions)
    return _system(
        recipe,
        physical,
        features=features,
        null=null,
        mirror=mirror,
        period=period,
        expert=expert,
        on_end=on_end,
        horizon=horizon,
        processes=processes,
        name=name,
        settings=settings,
    )


def _recipe(
    flavour: Flavour,
    make: Callable[[], Any],
    observe: Observe | None,
    positions: Locate | None,
    actions: Sequence[Any] | NDArray[Any] | None,
) -> tuple[Recipe, NDArray[Any]]:
    """How to make copies of the simulator, and the physical values of its actions."""
    for name, function in (("observe", observe), ("positions", positions)):
        _check_function(name, function)
    if not callable(make):
        raise InvalidInput(
            f"make must be a function that makes a new simulator, got {brief(make)}: copies are "
            "needed, one is not enough"
        )
    chosen, physical = _actions(flavour, make, actions)
    return Recipe(flavour, make, observe, positions, chosen), physical


def _check_function(name: str, function: object) -> None:
    if function is not None and not callable(function):
        raise InvalidInput(f"{name} must be a function, got {brief(function)}")


def _system(
    recipe: Recipe,
    physical: NDArray[Any],
    *,
    features: FeatureMap,
    null: int | None,
    mirror: Mirror | None,
    period: float | None,
    expert: Callable[[NDArray[Any]], NDArray[Any]] | None,
    on_end: OnEnd,
    horizon: int,
    processes: int,
    name: str | None,
    settings: Mapping[str, Any] | None,
) -> BlackBox:
    """The system, after its simulator was tried and found to fit the features."""
    _check_function("expert", expert)
    if processes:
        check_sendable(recipe)
    first, frames = try_out(recipe, len(physical))
    shapes = {frame.observations.shape for frame in frames}
    inner = frames[0].observations.shape[1:]
    if len(shapes) > 1:
        raise InvalidInput(f"observations change their shape: {sorted(shapes)}")
    if inner != features.shape:
        raise InvalidInput(
            f"what is observed has the shape {inner} for each agent, the features are of "
            f"{features.shape or 'a single number'}: let observe return what they are of"
        )
    if null is None:
        null = int(np.argmax(physical == 0))
    if not 0 <= null < len(physical):
        raise InvalidInput(f"null must be from 0 to {len(physical) - 1}, got {null}")
    places = frames[0].positions
    system = BlackBox(
        n_agents=len(frames[0].observations),
        actions=physical,
        features=features,
        null=null,
        mirror=mirror,
        script=expert,
        on_end=on_end,
        horizon=horizon,
        processes=processes,
        system_name=name or _name(first.engine.simulator),
        own_settings={**_keywords(recipe.make), **(settings or {})},
        observed=np.result_type(*{frame.observations.dtype for frame in frames}),
        axes=0 if places is None else places.shape[1],
        period=period,
        recipe=recipe,
    )
    observed = system.observations([frames[0]])
    if isinstance(features, Classes):
        classes(system, observed)  # refuses observations without a class
    return system


def _actions(
    flavour: Flavour, make: Callable[[], Any], actions: Sequence[Any] | NDArray[Any] | None
) -> tuple[tuple[Any, ...], NDArray[Any]]:
    """The actions as the simulator takes them, and their physical values."""
    if actions is None:
        actions = _discrete(Recipe(flavour, make, None, None, ()).build().engine.simulator)
    try:
        values = np.asarray(actions)
    except ValueError:
        values = np.empty(0)
    if values.ndim not in (1, 2) or not len(values) or values.dtype.kind not in "iuf":
        raise InvalidInput(
            "actions must be a list of numbers, or of vectors of equal length, got "
            f"{brief(actions)}"
        )
    if len(values) > 256:
        raise InvalidInput(f"at most 256 actions can be chosen from, got {len(values)}")
    if values.ndim == 2:
        return tuple(row.copy() for row in values), np.arange(len(values))
    if len(np.unique(values)) < len(values):
        raise InvalidInput(f"actions must differ from each other, got {brief(actions)}")
    if flavour == "step":
        return tuple(values), values
    return tuple(values.tolist()), values


def _discrete(simulator: Any) -> NDArray[np.int64]:
    """All actions of a discrete space."""
    from gymnasium import spaces

    space = simulator.action_space(simulator.possible_agents[0])
    if not isinstance(space, spaces.Discrete):
        raise InvalidInput(
            f"agents act in {space}, which has no end: give the actions that they may choose from"
        )
    return np.arange(space.start, space.start + space.n)


def _name(simulator: Any) -> str:
    """What the simulator calls itself."""
    metadata = getattr(simulator, "metadata", None)
    if isinstance(metadata, Mapping) and isinstance(metadata.get("name"), str):
        return str(metadata["name"])
    return type(simulator).__name__


def _keywords(make: Callable[[], Any]) -> dict[str, Any]:
    return dict(make.keywords) if isinstance(make, functools.partial) else {}
