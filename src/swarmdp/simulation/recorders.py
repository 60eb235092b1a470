"""What a roll-out keeps of every moment: states, observations, actions, measures, reductions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.actions import action_axes
from swarmdp.model.features.maps import has_classes
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import (
    Measure,
    State,
    System,
    check_is_system,
    class_map,
    feature_count,
    features_of,
    features_of_counts,
    name_of,
    summed_features,
)
from swarmdp.model.traits import Room, field_of, fields_of, measures_of
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief, check_agent
from swarmdp.support.errors import InvalidInput, RecordingTooLarge
from swarmdp.support.memory import check_memory
from swarmdp.support.ranges import Discount


@dataclass(frozen=True, eq=False)
class Moment:
    """The swarm at one time: what a recorder may look at."""

    system: System
    time: int
    state: State
    observations: NDArray[Any] | None  # None where no recorder asked for them
    actions: NDArray[Any] | None  # None at the last time
    agents: NDArray[np.int32] | None  # which agent is where (runs, agents); None in their own order

    @property
    def nbytes(self) -> int:
        """The memory of what changes from step to step."""
        changing = [a for n, a in self.state.items() if not field_of(self.system, n).constant]
        arrays = (*changing, self.observations, self.actions)
        return sum(array.nbytes for array in arrays if array is not None)


@runtime_checkable
class Reduction(Protocol):
    """Something that accumulates over time, such as `DiscountedFeatures`."""

    @property
    def name(self) -> str:
        """What the result is called in the trajectory."""

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add this moment to total (runs, size), which starts at zero."""

    def size(self, system: System) -> int:
        """The length of the result for one run."""


@runtime_checkable
class OfCounts(Protocol):
    """A reduction for which it is enough to know how many agents observe each class."""

    def add_counts(
        self, total: NDArray[np.float64], time: int, system: System, counts: NDArray[np.int64]
    ) -> None:
        """As `add`, for a moment given as the number of agents in each class (runs, classes)."""


def _check_total(total: NDArray[np.float64], moment: Moment) -> None:
    """Raise InvalidInput unless what is to be added has a place to be added to."""
    if not isinstance(moment, Moment) or moment.observations is None:
        raise InvalidInput(f"a moment with observations is needed, got {brief(moment)}")
    size = len(moment.observations), feature_count(moment.system)
    right = isinstance(total, np.ndarray) and total.dtype == np.float64 and total.shape == size
    right = right and not isinstance(total, np.ma.MaskedArray)
    if not right or not total.flags.writeable:
        raise InvalidInput(
            f"total must be an array of floating-point numbers of the shape {size} that can be "
            f"written to, got {brief(total)}"
        )


def _check_counts(total: NDArray[np.float64], system: System, counts: NDArray[np.int64]) -> None:
    """Raise InvalidInput unless counts are of the system's classes, for each run of the total."""
    shape = (*np.shape(total)[:1], class_map(system).size)
    if not isinstance(counts, np.ndarray) or counts.dtype.kind != "i" or counts.shape != shape:
        raise InvalidInput(
            f"counts must be whole numbers of the shape {shape}, (runs, classes), got "
            f"{brief(counts)}"
        )


@checked(but=("add", "add_counts", "size"))
@dataclass(frozen=True)
class DiscountedFeatures:
    """The whole-swarm feature expectations of each run: sum over t of gamma^t mean_n phi(o_t^n).

    Parameters
    ----------
    discount
        The discount factor gamma, from 0 up to but not including 1.
    name
        What the variable of the trajectory is called.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> features = swarmdp.simulation.DiscountedFeatures(0.9)
    >>> seen = swarmdp.rollout(ising, ising.expert, steps=50, runs=2, seed=1, record=features)
    >>> seen["discounted_features"].sum(axis=1).round(1)    # 1 / (1 - 0.9), but for the rest
    array([10., 10.])

    """

    discount: Discount = 0.9
    name: str = "discounted_features"

    def size(self, system: System) -> int:
        """One entry for each feature."""
        check_is_system(system)
        return feature_count(system)

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add the mean features of all agents, discounted."""
        _check_total(total, moment)
        assert moment.observations is not None
        summed = summed_features(moment.system, moment.observations)
        total += self.discount**moment.time / moment.system.n_agents * summed

    def add_counts(
        self, total: NDArray[np.float64], time: int, system: System, counts: NDArray[np.int64]
    ) -> None:
        """Add mean features, discounted, given the number of agents in each class."""
        _check_counts(total, system, counts)
        total += self.discount**time / system.n_agents * features_of_counts(system, counts)


@checked(but=("add", "size"))
@dataclass(frozen=True)
class SingleAgentFeatures:
    """The feature expectations that one agent of each run gives: sum over t of gamma^t phi(o_t)."""

    discount: Discount = 0.9
    agent: int = 0
    name: str = "single_agent_features"

    def size(self, system: System) -> int:
        """One entry for each feature."""
        check_is_system(system)
        check_agent(self.agent, system)
        return feature_count(system)

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add the features of the agent's observation, discounted."""
        _check_total(total, moment)
        assert moment.observations is not None
        place: Any = self.agent
        if moment.agents is not None:
            place = np.argmax(moment.agents == self.agent, axis=1)
        seen = moment.observations[np.arange(len(total)), place][:, None]
        total += self.discount**moment.time * summed_features(moment.system, seen)


@dataclass(frozen=True)
class FeaturesOverTime:
    """The mean features of all agents in spans of time, each twice as long as the one before.

    Times 0, 1, 2 to 3, 4 to 7, ...: what a swarm looks like at first, on its way and in the end,
    all of them equally. Feature expectations with a discount of 0.9 see the first twenty steps.
    """

    steps: int
    name: str = "features_over_time"

    @property
    def spans(self) -> int:
        """The number of spans."""
        return (self.steps).bit_length() + 1

    def size(self, system: System) -> int:
        """One entry for each span and feature."""
        return self.spans * feature_count(system)

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add the mean features of all agents to the span of this time."""
        assert moment.observations is not None
        self.add_observations(total, moment.time, moment.system, moment.observations)

    def add_observations(
        self, total: NDArray[np.float64], time: int, system: System, observations: NDArray[Any]
    ) -> None:
        """Add what agents observe at one time (runs, agents, ...) to its span."""
        mean = summed_features(system, observations) / observations.shape[1]
        self._add_mean(total, time, system, mean)

    def add_counts(
        self, total: NDArray[np.float64], time: int, system: System, counts: NDArray[np.int64]
    ) -> None:
        """Add the numbers of agents in each class (runs, classes) to the span of a time."""
        mean = features_of_counts(system, counts) / system.n_agents
        self._add_mean(total, time, system, mean)

    def _add_mean(
        self, total: NDArray[np.float64], time: int, system: System, mean: NDArray[np.float64]
    ) -> None:
        span = time.bit_length()
        first = 0 if span == 0 else 1 << (span - 1)
        length = min(max(1, 2 * first), self.steps + 1) - first
        size = feature_count(system)
        total[:, span * size : (span + 1) * size] += mean / length


Recordable = str | Measure | Callable[[State], NDArray[Any]] | Reduction


class Recorder(Protocol):
    """Keeps one thing of every moment of every run."""

    needs_observations: bool

    def bytes(self, probe: Moment, steps: int) -> int:
        """Memory for one run."""

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        """Make room."""

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        """Keep this moment of these runs."""

    def room(self, runs: NDArray[np.int64], times: range) -> Room | None:
        """Where whole steps put this at these times; None if every moment must be looked at."""

    def take(self, runs: NDArray[np.int64], times: range, room: Room) -> None:
        """Look at what whole steps have put there."""

    def variables(self) -> dict[str, Variable]:
        """What was kept."""


class _AgentRecorder:
    """Keeps arrays (runs, agents, ...) of every moment, in the agents' own order."""

    def __init__(
        self,
        arrays: Callable[[Moment], Mapping[str, NDArray[Any] | None]],
        rooms: Callable[[Mapping[str, NDArray[Any]]], Room],
        axis: str = "time",
        needs_observations: bool = False,
        units: str | None = None,
        inner: tuple[str, ...] = (),
    ) -> None:
        self._units = units
        self._inner = inner
        self.needs_observations = needs_observations
        self._arrays = arrays
        self._rooms = rooms
        self._axis = axis
        self._kept: dict[str, Variable] = {}

    def bytes(self, probe: Moment, steps: int) -> int:
        return sum(
            array.nbytes * (1 if field_of(probe.system, name).constant else self._times(steps))
            for name, array in self._arrays(probe).items()
            if array is not None
        )

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        for name, array in self._arrays(probe).items():
            assert array is not None
            field = field_of(probe.system, name)
            times = () if field.constant else (self._times(steps),)
            axes = ("run", *(() if field.constant else (self._axis,)), "agent")
            inner = field.axes or self._inner
            inner = inner or tuple(f"{name}_{i}" for i in range(array.ndim - 2))
            self._kept[name] = Variable(
                np.empty((runs, *times, *array.shape[1:]), array.dtype),
                (*axes, *inner),
                field.units if self._units is None else self._units,
                field.description,
            )

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        for name, array in self._arrays(moment).items():
            if array is None:
                continue
            kept = self._kept[name]
            constant = self._axis not in kept.axes
            if constant and moment.time > 0:
                continue
            chunk = kept.values[runs[0] : runs[-1] + 1]
            target = chunk if constant else chunk[:, moment.time]
            if moment.agents is None:
                target[...] = array
            else:
                target[np.arange(len(runs))[:, None], moment.agents] = array

    def room(self, runs: NDArray[np.int64], times: range) -> Room:
        return self._rooms(
            {name: kept.values[runs[0] : runs[-1] + 1] for name, kept in self._kept.items()}
        )

    def take(self, runs: NDArray[np.int64], times: range, room: Room) -> None:
        pass

    def variables(self) -> dict[str, Variable]:
        return self._kept

    def _times(self, steps: int) -> int:
        return steps + 1 if self._axis == "time" else steps


class _MeasureRecorder:
    """Keeps a measure of the state at every time."""

    def __init__(self, name: str, measure: Measure, key: str | None = None) -> None:
        self._name = name
        self._measure = measure
        self._key = key  # what the system calls it
        self.needs_observations = measure.of_observations is not None
        self._kept: Variable | None = None

    def bytes(self, probe: Moment, steps: int) -> int:
        return self._value(probe).nbytes * (steps + 1)

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        value = self._value(probe)
        inner = tuple(f"{self._name}_{i}" for i in range(value.ndim - 1))
        self._kept = Variable(
            np.empty((runs, steps + 1, *value.shape[1:]), value.dtype),
            ("run", "time", *inner),
            self._measure.units,
            self._measure.title,
        )

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        assert self._kept is not None
        self._kept.values[runs[0] : runs[-1] + 1, moment.time] = self._of(moment)

    def room(self, runs: NDArray[np.int64], times: range) -> Room | None:
        assert self._kept is not None
        if self._key is None:
            return None
        return Room(measures={self._key: self._kept.values[runs[0] : runs[-1] + 1]})

    def take(self, runs: NDArray[np.int64], times: range, room: Room) -> None:
        pass

    def variables(self) -> dict[str, Variable]:
        assert self._kept is not None
        return {self._name: self._kept}

    def _of(self, moment: Moment) -> NDArray[Any]:
        measure = self._measure
        if measure.of_observations is not None:
            assert moment.observations is not None
            return np.asarray(measure.of_observations(moment.observations))
        if moment.agents is None or measure.order_free:
            return measure.function(moment.state)
        return measure.function(in_agent_order(moment.state, moment.agents))

    def _value(self, probe: Moment) -> NDArray[Any]:
        value = np.asarray(self._of(probe))
        check_shape(f"the measure {self._name!r}", value, (1,))
        return value


def in_agent_order(state: State, agents: NDArray[np.int32]) -> State:
    """The state with every agent back in its own place."""
    rows = np.arange(len(agents))[:, None]
    restored = {name: np.empty_like(array) for name, array in state.items()}
    for name, array in state.items():
        restored[name][rows, agents] = array
    return restored


class _ReductionRecorder:
    """Lets a reduction accumulate over time."""

    needs_observations = True

    def __init__(self, name: str, reduction: Reduction) -> None:
        self._name = name
        self._reduction = reduction
        self._total = np.empty((0, 0))
        self._axis = "feature"
        self._system: System | None = None

    def bytes(self, probe: Moment, steps: int) -> int:
        return 8 * self._reduction.size(probe.system)

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        size = self._reduction.size(probe.system)
        self._system = probe.system
        self._total = np.zeros((runs, size))
        self._axis = "feature" if size == feature_count(probe.system) else f"{self._name}_0"

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        self._reduction.add(self._total[runs[0] : runs[-1] + 1], moment)

    def room(self, runs: NDArray[np.int64], times: range) -> Room | None:
        assert self._system is not None
        if not isinstance(self._reduction, OfCounts) or not has_classes(features_of(self._system)):
            return None
        shape = (len(runs), len(times), class_map(self._system).size)
        return Room(counts=np.empty(shape, np.int64))

    def take(self, runs: NDArray[np.int64], times: range, room: Room) -> None:
        assert self._system is not None
        assert isinstance(self._reduction, OfCounts)
        assert room.counts is not None
        total = self._total[runs[0] : runs[-1] + 1]
        for place, time in enumerate(times):
            self._reduction.add_counts(total, time, self._system, room.counts[:, place])

    def variables(self) -> dict[str, Variable]:
        return {self._name: Variable(self._total, ("run", self._axis))}


def room_for(recorders: Sequence[Recorder], runs: NDArray[np.int64], times: range) -> Room | None:
    """Where whole steps put all that is to be kept; None if they cannot serve all recorders.

    Counts of classes are shared; anything else has room for one recorder.
    """
    states = observations = actions = counts = None
    measures: dict[str, NDArray[Any]] = {}
    for recorder in recorders:
        room = recorder.room(runs, times)
        if room is None:
            return None
        for given, there in (
            (room.states, states),
            (room.observations, observations),
            (room.actions, actions),
            (set(room.measures) & set(measures) or None, True),
        ):
            if given is not None and there is not None:
                return None
        states = states if room.states is None else room.states
        observations = observations if room.observations is None else room.observations
        actions = actions if room.actions is None else room.actions
        counts = counts if room.counts is None else room.counts
        measures.update(room.measures)
    return Room(states, observations, actions, counts, measures)


def recorders_of(
    record: Recordable | Sequence[Any] | Mapping[str, Any], system: System
) -> list[Recorder]:
    """The recorders for all that is to be kept."""
    if isinstance(record, Mapping):
        return [_recorder(what, system, name) for name, what in record.items()]
    if isinstance(record, Sequence) and not isinstance(record, str):
        return [_recorder(what, system) for what in record]
    return [_recorder(record, system)]


def _recorder(what: Recordable, system: System, name: str | None = None) -> Recorder:
    measures = measures_of(system)
    if isinstance(what, str) and what == "states":
        return _AgentRecorder(lambda moment: moment.state, lambda kept: Room(states=kept))
    if isinstance(what, str) and what == "observations":
        axes = system.features.axes
        return _AgentRecorder(
            lambda moment: {name or "observations": moment.observations},
            lambda kept: Room(observations=next(iter(kept.values()))),
            needs_observations=True,
            units=axes[0].units if len(axes) == 1 else ", ".join(axis.units for axis in axes),
            inner=() if system.features.shape == () else ("component",),
        )
    if isinstance(what, str) and what == "actions":
        return _AgentRecorder(
            lambda moment: {name or "actions": moment.actions},
            lambda kept: Room(actions=next(iter(kept.values()))),
            axis="step",
            units=", ".join(axis.units for axis in action_axes(system)),
            inner=() if np.ndim(system.actions) == 1 else ("action component",),
        )
    if isinstance(what, str) and what in measures:
        return _MeasureRecorder(name or what, measures[what], what)
    if isinstance(what, Measure):
        return _MeasureRecorder(name or what.title, what)
    if isinstance(what, Reduction) and callable(what.add) and callable(what.size):
        return _ReductionRecorder(name or what.name, what)
    if callable(what):
        matching = [(key, m) for key, m in measures.items() if m.function == what]
        if matching:
            key, measure = matching[0]
            return _MeasureRecorder(name or key, measure, key)
        called = name or str(getattr(what, "__name__", "measure"))
        return _MeasureRecorder(called, Measure(what, called))
    raise _not_recordable(what, measures)


def _not_recordable(what: object, measures: Mapping[str, Measure]) -> InvalidInput:
    names = "".join(f'"{measure}", ' for measure in measures)
    return InvalidInput(
        f'record must be "states", "observations", "actions", {names}a measure such as '
        "vicsek.order, a reduction such as DiscountedFeatures(0.9), or several of these; "
        f"got {brief(what)}"
    )


def check_recorded(system: System, trajectory: Trajectory, what: str = "the trajectory") -> None:
    """Raise InvalidInput if recorded arrays have other shapes or kinds than the system's own.

    States are compared with one that the system draws itself, observations and actions with what it
    declares. A type that holds the same numbers will do (integers for floating-point numbers).
    """
    example = system.initial(Streams.of(0, [0], system.n_agents).at(0, Purpose.INITIAL))
    nameless = [name for name in example if fields_of(system) and name not in fields_of(system)]
    if nameless:
        raise InvalidInput(
            f"the state of {name_of(system)} has {nameless[0]!r}, which its `fields` do not name: "
            "describe it there (swarmdp.testing.check_system checks it)"
        )
    actions = np.asarray(system.actions)
    expected: dict[str, tuple[tuple[str, ...], tuple[int, ...], np.dtype[Any] | None]] = {}
    for name, array in example.items():
        moment = () if field_of(system, name).constant else ("time",)
        expected[name] = (("run", *moment, "agent"), array.shape[2:], array.dtype)
    expected.setdefault("observations", (("run", "time", "agent"), system.features.shape, None))
    expected.setdefault("actions", (("run", "step", "agent"), actions.shape[1:], actions.dtype))
    for name, (axes, inner, dtype) in expected.items():
        if name not in trajectory:
            continue
        variable = trajectory.variables[name]
        shape = variable.values.shape
        if variable.axes[: len(axes)] != axes or shape[len(axes) :] != inner:
            needed = ", ".join((*axes, *map(str, inner)))
            raise InvalidInput(
                f"{what}'s {name!r} must have the shape ({needed}), got axes "
                f"({', '.join(variable.axes)}) of lengths {shape}"
            )
        agents = shape[len(axes) - 1]
        if agents != system.n_agents:
            raise InvalidInput(
                f"{what}'s {name!r} has {agents} agents, but the system has {system.n_agents}"
            )
        _check_kind(what, name, variable.values, dtype)


def _check_kind(what: str, name: str, values: NDArray[Any], expected: np.dtype[Any] | None) -> None:
    """Raise InvalidInput for numbers of a kind that the system does not have."""
    given = values.dtype
    kinds = {"f": "fiu", "i": "iu", "u": "iu", "b": "biu"}.get(
        expected.kind if expected else "f", "biuf"
    )
    if given.kind not in ("biuf" if expected is None else kinds):
        raise InvalidInput(
            f"{what}'s {name!r} must be {expected or 'real numbers'}, got {given}: convert it"
        )
    if given.kind == "f" and not np.isfinite(values).all():
        raise InvalidInput(
            f"{what}'s {name!r} must be finite, but has NaN or infinite values: remove these runs"
        )


def check_fits_memory(recorders: Sequence[Recorder], probe: Moment, runs: int, steps: int) -> None:
    """Raise RecordingTooLarge if what is to be recorded does not fit into memory."""
    check_memory(
        runs * sum(recorder.bytes(probe, steps) for recorder in recorders),
        "this recording",
        "Record a measure (record=vicsek.order) or a reduction (record=DiscountedFeatures(0.9)) "
        "instead of states, or fewer runs or steps",
        RecordingTooLarge,
    )


def check_shape(what: str, array: Any, leading: tuple[int, ...]) -> None:
    """Raise InvalidInput unless it is an array whose first axes are these."""
    shape = np.shape(array)
    if not isinstance(array, np.ndarray) or shape[: len(leading)] != leading:
        got = f"shape {shape}" if isinstance(array, np.ndarray) else f"{type(array).__name__}"
        raise InvalidInput(
            f"{what} of one run must be an array of shape ({', '.join(map(str, leading))}, ...), "
            f"got {got}"
        )
