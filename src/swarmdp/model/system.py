"""The swarMDP (N, A, T, xi) of the paper, without reward and policy.

Everything is batched: the leading axis of every array is the independent run. A state is a
dictionary of named arrays (runs, agents, ...), the local states s^(n) of all agents side by side.

`System` is what every system must have. What it may have besides is declared in protocols of its
own (`Measured`, `Pictured`, ...); a system that has the attribute has the trait.
"""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp import kernels
from swarmdp.model.features import Classes, FeatureMap, Smooth, n_features
from swarmdp.model.features.maps import has_classes
from swarmdp.model.streams import Stream
from swarmdp.support.arguments import CHECKS, checked, numbers
from swarmdp.support.checks import brief, is_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Positive

State = dict[str, NDArray[Any]]
Kind = Literal["angle", "direction", "position", "level", "hidden"]


@runtime_checkable
class System(Protocol):
    """A swarMDP: N interchangeable agents (S, O, A), their transition T and observation xi.

    All methods are pure functions: the same arguments give the same result, and nothing is
    remembered between calls. Renaming the agents renames the outcome and changes nothing else;
    `swarmdp.testing.check_system` tests that.

    A system is a frozen dataclass, whose fields are its settings, or has an attribute `settings`.

    Examples
    --------
    >>> import swarmdp
    >>> isinstance(swarmdp.Vicsek(), swarmdp.System)
    True

    """

    @property
    def n_agents(self) -> int:
        """The number of agents N."""

    @property
    def actions(self) -> NDArray[Any]:
        """The physical value of each action in A, (n_actions,), or (n_actions, k) components."""

    @property
    def features(self) -> FeatureMap:
        """What learning sees of an observation."""

    def initial(self, rng: Stream) -> State:
        """Draw initial states, one for each of the runs of rng, whatever the agents' order."""

    def observe(self, state: State) -> NDArray[Any]:
        """The observation model xi: what each agent observes, `(runs, agents, *features.shape)`."""

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """The transition model T: the next state, when the agents act so (runs, agents, ...)."""


@checked
@dataclass(frozen=True)
class Field:
    """What one array of a state means.

    Parameters
    ----------
    description
        What it is, in words.
    units
        Its unit.
    axes
        The names of the axes after (runs, agents).
    constant
        It never changes during a run, so it is recorded once.
    kind
        What may be said of it when swarms are compared (`swarmdp.judge`): an "angle" turns, a
        "direction" (a unit vector) turns in space, a "position" moves and has neighbours, a "level"
        changes or stays, a "hidden" one is bookkeeping that agents do not observe and is not
        compared; None if nothing is known.
    period
        After which an angle or a position (each of its components) begins again: the side of a
        periodic box. None for positions in open space; of an angle None means 2 pi.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.model.Field("heading", "rad", kind="angle").units
    'rad'

    """

    description: str = ""
    units: str = "1"
    axes: tuple[str, ...] = ()
    constant: bool = False
    kind: Kind | None = None
    period: Positive | None = None

    def __post_init__(self) -> None:
        if self.period is not None and self.kind not in ("angle", "position"):
            raise InvalidInput(
                f"only an angle or a position has a period, got one for {self.kind!r}"
            )


@checked
@dataclass(frozen=True, eq=False)
class Measure:
    """A number that tells what the whole swarm does, such as an order parameter.

    Parameters
    ----------
    function
        From a state to one number for each run (runs,).
    title
        What it is called in figures and tables.
    units
        Its unit.
    limits
        The lowest and highest value that it can have, for axes; None where there is none.
    order_free
        It does not depend on the order of the agents, so a roll-out that keeps agents in another
        order need not put them back for it.
    of_observations
        The same number from the observations (runs, agents, ...), where it follows from them: then
        the swarm need not be observed a second time.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> def speed(state):
    ...     return np.linalg.norm(state["velocity"], axis=2).mean(axis=1)
    ...
    >>> swarmdp.model.Measure(speed, "mean speed", "m/s", limits=(0.0, None)).label
    'mean speed / m/s'

    """

    function: Callable[[State], NDArray[Any]]
    title: str
    units: str = "1"
    limits: tuple[float | None, float | None] = (None, None)
    order_free: bool = False
    of_observations: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    @property
    def label(self) -> str:
        """Title and unit, for figures and tables."""
        return self.title if self.units == "1" else f"{self.title} / {self.units}"


@checked
@dataclass(frozen=True, eq=False)
class Mirror:
    """A change of observations and actions that leaves the law of the swarm as it is.

    In the Vicsek model left and right can be exchanged: misalignments and turns change their sign.
    Mirroring twice changes nothing.

    Parameters
    ----------
    observation
        From physical observations `(..., *shape)` to the mirrored ones.
    action
        From physical actions to the mirrored ones.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> left_right = swarmdp.model.Mirror(np.negative, np.negative)
    >>> left_right.action(np.radians([30.0])).round(3)
    array([-0.524])

    """

    observation: Callable[[NDArray[Any]], NDArray[Any]]
    action: Callable[[NDArray[Any]], NDArray[Any]]


# What a system may have besides.


Rule = NDArray[Any] | Callable[[NDArray[Any]], NDArray[Any]]
"""How agents act: physical actions (replicas, classes), or a function of the observations."""


_SYSTEMS: set[type] = set()  # kinds that were found to be systems: asking takes a while


def check_is_system(system: object) -> None:
    """Raise InvalidInput unless it is a system."""
    if type(system) in _SYSTEMS:
        return
    if not isinstance(system, System) or isinstance(system, type):
        raise InvalidInput(
            f"{brief(system)} is not a system: it needs n_agents, actions, features, initial, "
            "observe and transition (see swarmdp.System)"
        )
    if not is_integer(system.n_agents) or system.n_agents < 1 or not len(np.shape(system.actions)):
        raise InvalidInput(
            f"{brief(system)} is not a system: n_agents must be an integer of at least 1, and "
            "actions an array"
        )
    if not isinstance(system.features, FeatureMap):
        raise InvalidInput(
            f"{brief(system)} is not a system: its features must be a feature map such as "
            f"swarmdp.Angles, got {brief(system.features)}"
        )
    _SYSTEMS.add(type(system))


CHECKS[System] = check_is_system


def arrays_of(state: State, /, **scalars: Any) -> list[NDArray[Any]]:
    """The arrays of a state with these names, as these types; raises InvalidInput otherwise.

    Each is (runs, agents, ...), with the same runs and agents.
    """
    if not isinstance(state, Mapping):
        raise InvalidInput(
            f"a state must be a dictionary of arrays, {', '.join(scalars)}, got {brief(state)}"
        )
    arrays: list[NDArray[Any]] = []
    for name, scalar in scalars.items():
        if name not in state:
            raise InvalidInput(
                f"the state has no {name!r}, there is: {', '.join(map(str, state)) or 'nothing'}"
            )
        array = numbers(f"{name!r} of a state", state[name], scalar)
        if array.ndim < 2 or (arrays and array.shape[:2] != arrays[0].shape[:2]):
            expected = f"({', '.join(map(str, arrays[0].shape[:2]))}" if arrays else "(runs, agents"
            raise InvalidInput(
                f"{name!r} of a state must have the shape {expected}, ...), got {array.shape}"
            )
        arrays.append(array)
    return arrays


def check_stream(rng: Stream, shape: tuple[int, ...] | None = None) -> None:
    """Raise InvalidInput unless rng is a stream, for as many runs and agents as there are."""
    if not isinstance(rng, Stream):
        raise InvalidInput(
            f"rng must be a stream, such as Streams.of(seed, runs, n_agents).at(step, purpose), "
            f"got {brief(rng)}"
        )
    if shape is not None and rng.shape != shape:
        raise InvalidInput(
            f"rng is for (runs, agents) = {rng.shape}, but the state has {shape}: take a stream "
            "for these runs"
        )


def check_run(swarm: Mapping[str, NDArray[Any]], run: int, *names: str) -> None:
    """Raise InvalidInput unless these arrays (runs, ...) are there and have this run."""
    for name in names:
        if name not in swarm:
            if not isinstance(swarm, dict):
                swarm[name]  # a trajectory tells what it has
            raise InvalidInput(f"a recorded {name!r} is needed, got none: record states")
        count = len(np.atleast_1d(swarm[name]))
        if not 0 <= run < count:
            raise InvalidInput(f"run must be from 0 to {count - 1}, got {run}")


def check_observed(
    system: System, observations: NDArray[Any], runs: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Observations (runs, agents, ...) and run numbers (runs,) as arrays that fit together."""
    check_is_system(system)
    seen, rows = numbers("the observations", observations), numbers("runs", runs)
    if seen.dtype.kind == "U":
        raise InvalidInput("the observations must be an array of numbers, got texts")
    inner = system.features.shape
    if seen.ndim != 2 + len(inner) or seen.shape[2:] != inner:
        shape = ", ".join(("runs", "agents", *map(str, inner)))
        raise InvalidInput(
            f"the observations of {name_of(system)} must have the shape ({shape}), got {seen.shape}"
        )
    if rows.dtype.kind not in "iu" or rows.shape != seen.shape[:1]:
        raise InvalidInput(
            f"runs must be the numbers of the {len(seen)} runs that the observations are of, "
            f"integers of shape ({len(seen)},), got {rows.dtype} of shape {rows.shape}"
        )
    return seen, rows


def reordered(array: NDArray[Any], order: NDArray[np.integer]) -> NDArray[Any]:
    """An array (runs, agents, ...) with the agents of each run in another order."""
    out = np.empty((order.shape[0], *array.shape[1:]), array.dtype)
    for r, places in enumerate(order):
        np.take(array[r % array.shape[0]], places, axis=0, out=out[r], mode="clip")
    return out


def features_of(system: System) -> FeatureMap:
    """The system's features, made once for a system that cannot change.

    `features` is often a property that makes them anew, and simulations ask for them in every step.
    """
    key = id(system)
    known = _FEATURES.get(key)
    if known is not None and known[0]() is system:
        return known[1]
    features = system.features
    if _is_constant(system):
        forget = weakref.ref(system, lambda _: _FEATURES.pop(key, None))
        _FEATURES[key] = forget, features
    return features


_FEATURES: dict[int, tuple[weakref.ref[System], FeatureMap]] = {}


def _is_constant(value: object) -> bool:
    """Whether it is a frozen dataclass of nothing but constants."""
    if value is None or isinstance(value, bool | int | float | str | Enum):
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    kind = type(value)
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return False
    return all(_is_constant(getattr(value, field.name)) for field in fields(kind))


def class_map(system: System) -> Classes:
    """The system's map to classes of observations; Raises InvalidInput if it has none."""
    features = features_of(system)
    if not has_classes(features):
        raise InvalidInput(
            f"this needs classes of observations, but {name_of(system)} has "
            f"{type(features).__name__} features, which have none: give it Angles, Levels, Bins or "
            "a Product of them, or choose a learner that needs no classes (q_update=LinearQ())"
        )
    return features


def classes(system: System, observations: NDArray[Any]) -> NDArray[np.integer]:
    """The class of each observation, checked: kernels use it to address memory."""
    features = class_map(system)
    inner = features.shape
    observations = numbers("the observations", observations)
    expected = observations.shape[: observations.ndim - len(inner)]
    if observations.shape != (*expected, *inner):
        raise InvalidInput(
            f"an observation of {name_of(system)} must have the shape {inner}, got an array of "
            f"shape {observations.shape}"
        )
    index = features.index(observations)
    size = features.size
    if index.dtype.kind not in "iu" or index.shape != expected:
        raise InvalidInput(
            f"features.index must return integers of shape {expected}, "
            f"got {index.dtype} of shape {index.shape}"
        )
    if index.size:
        low, high = kernels.tables.extremes(index)
        if low < 0 or high >= size:
            raise InvalidInput(
                f"features.index must return classes from 0 to {size - 1}, got {low} to {high}"
            )
    return index


def summed_features(system: System, observations: NDArray[Any]) -> NDArray[Any]:
    """The features of all agents of each run, added up: (runs, d) from (runs, agents, ...)."""
    smooth = features_of(system)
    if not has_classes(smooth) and isinstance(smooth, Smooth):
        return np.stack([smooth.of(row).sum(axis=0) for row in observations])
    index, features = classes(system, observations), class_map(system)
    if features.matrix is not None and index.shape[1] == 1:
        alone: NDArray[np.float64] = features.matrix[index[:, 0]]
        return alone
    few_agents = 2 * index.shape[1] < features.size
    if features.matrix is not None and few_agents and _is_whole(features.matrix):
        # The sum over agents is shorter than the one over classes, and exact in whatever order.
        few: NDArray[np.float64] = features.matrix[index].sum(axis=1)
        return few
    return features_of_counts(system, kernels.tables.count(index, features.size))


def features_of_counts(system: System, counts: NDArray[Any]) -> NDArray[Any]:
    """Features added up (runs, d), from how often each class occurs (runs, classes)."""
    matrix = class_map(system).matrix
    if matrix is None:
        return counts
    if np.issubdtype(counts.dtype, np.integer) and _is_whole(matrix):
        # Sums of whole numbers are exact, in whatever order.
        whole: NDArray[np.float64] = counts.astype(np.float64) @ matrix
        return whole
    return by_rows(counts, matrix)


def _is_whole(matrix: NDArray[np.float64]) -> bool:
    return np.array_equal(matrix, np.rint(matrix))


def by_rows(rows: NDArray[Any], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product rows @ matrix, each row on its own.

    The rounding of a product of whole matrices depends on the number of rows; this does not.
    """
    return np.stack([row @ matrix for row in rows])


def feature_count(system: System) -> int:
    """The number of features d: of the weights of a reward, and of feature expectations."""
    return n_features(features_of(system))


@runtime_checkable
class HasName(Protocol):
    """A system that goes by another name than its class."""

    @property
    def system_name(self) -> str:
        """The name."""


def name_of(system: System) -> str:
    """What a system is called in files and messages."""
    return system.system_name if isinstance(system, HasName) else type(system).__name__
