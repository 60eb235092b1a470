"""Roll-outs: let a policy move a swarm, and record what is wanted of it.

Runs are independent, so they are cut into chunks that fit the processor's cache, and threads take
one chunk after another. A number never depends on the chunk that it was computed in.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.checks import check_agent, check_discount, check_seed
from swarmdp.errors import InvalidInput, RecordingTooLarge
from swarmdp.memory import check_memory
from swarmdp.model import (
    Arranging,
    Controller,
    MixedPolicy,
    Policy,
    SoftPolicy,
    State,
    System,
    by_rows,
    classes,
    feature_matrix,
    field_of,
    n_features,
    settings_of,
)
from swarmdp.streams import WORD, Purpose, Stream, Streams
from swarmdp.threads import over_chunks, thread_count
from swarmdp.trajectory import Trajectory, Variable

CHUNK_BYTES = 2**20  # states, observations and actions of a chunk of runs: they stay in the cache
PROGRESS_SECONDS = 0.1

Measure = Callable[[State], NDArray[Any]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Moment:
    """The swarm at one time: what a recorder may look at."""

    system: System
    time: int
    state: State
    observations: NDArray[Any] | None  # None where nobody asked for them
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


@dataclass(frozen=True)
class DiscountedFeatures:
    """The whole-swarm feature expectations of each run: sum over t of gamma^t mean_n phi(o_t^n)."""

    discount: float = 0.9
    name: str = "discounted_features"

    def __post_init__(self) -> None:
        check_discount(self.discount)

    def size(self, system: System) -> int:
        """One entry for each feature."""
        return n_features(system)

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add the mean features of all agents, discounted."""
        features = moment.system.features
        assert moment.observations is not None
        index = classes(moment.system, moment.observations)
        matrix = feature_matrix(moment.system)
        summed: NDArray[Any]
        if matrix is not None and index.shape[1] == 1:
            summed = matrix[index[:, 0]]
        else:
            counts = kernels.tabular.count(index, features.size)
            summed = counts if matrix is None else by_rows(counts, matrix)
        total += self.discount**moment.time / moment.system.n_agents * summed


@dataclass(frozen=True)
class SingleAgentFeatures:
    """The feature expectations that one agent of each run gives: sum over t of gamma^t phi(o_t)."""

    discount: float = 0.9
    agent: int = 0
    name: str = "single_agent_features"

    def __post_init__(self) -> None:
        check_discount(self.discount)

    def size(self, system: System) -> int:
        """One entry for each feature."""
        check_agent(self.agent, system)
        return n_features(system)

    def add(self, total: NDArray[np.float64], moment: Moment) -> None:
        """Add the features of the agent's observation, discounted."""
        assert moment.observations is not None
        rows = np.arange(len(total))
        place: Any = self.agent
        if moment.agents is not None:
            place = np.argmax(moment.agents == self.agent, axis=1)
        index = classes(moment.system, moment.observations[rows, place][:, None])
        matrix = feature_matrix(moment.system)
        if matrix is None:
            total[rows, index[:, 0]] += self.discount**moment.time
        else:
            total += self.discount**moment.time * matrix[index[:, 0]]


Recordable = str | Measure | Reduction


def rollout(
    system: System,
    policy: Controller,
    *,
    steps: int,
    runs: int = 1,
    seed: int,
    record: Recordable | Sequence[Any] | Mapping[str, Any] = "states",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """Let the policy move the swarm for so many steps, in so many independent runs.

    `record` says what to keep: "states" (times 0 to steps, the default), "observations" (times 0
    to steps), "actions" (of each step), a measure such as `vicsek.order` (a function from a state
    to one value for each run), a reduction such as `DiscountedFeatures(0.9)`, or several of these
    as a list, or as a dictionary from names. Memory grows only with what is recorded.

    `threads` defaults to the environment variable SWARMDP_THREADS, or all cores. It changes the
    speed and nothing else. `progress(done, total)` is called now and then with the number of
    steps simulated, summed over runs.
    """
    _check_count("steps", steps, least=0)
    _check_count("runs", runs, least=1)
    check_seed(seed)
    if not isinstance(system, System):
        raise InvalidInput(
            f"{system!r} is not a system: it needs n_agents, actions, features, initial, observe "
            "and transition (see swarmdp.model.System)"
        )
    if isinstance(policy, Policy | SoftPolicy | MixedPolicy):
        policy.check(system)
        if runs % policy.replicas:
            raise InvalidInput(
                f"runs must be a multiple of the policy's {policy.replicas} replicas, got {runs}"
            )
    elif not callable(policy):
        raise InvalidInput(
            "the policy must be a swarmdp.Policy, SoftPolicy or MixedPolicy, or a function from "
            "observations to actions, "
            f"got {policy!r}"
        )

    return simulate(
        system,
        policy,
        numbers=np.arange(runs),
        steps=steps,
        seed=seed,
        record=record,
        threads=threads,
        progress=progress,
    )


def simulate(
    system: System,
    policy: Controller,
    *,
    numbers: NDArray[np.int64],
    steps: int,
    seed: int,
    record: Recordable | Sequence[Any] | Mapping[str, Any],
    threads: int | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """A roll-out whose i-th run draws the random numbers of run numbers[i]."""
    simulation = _Simulation(system, policy, steps, seed)
    recorders = _recorders(record)
    probe = simulation.probe()
    runs = len(numbers)
    _check_memory(recorders, probe, runs, steps)
    for recorder in recorders:
        recorder.allocate(probe, runs, steps)
    names = [name for recorder in recorders for name in recorder.variables()]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"several recordings are called {max(names, key=names.count)!r}: give them names, "
            "record={name: what, ...}"
        )
    tell = _Teller(progress, runs * steps)

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        def after_step() -> None:
            check()
            tell(end - begin)

        simulation.run(np.arange(begin, end), numbers[begin:end], recorders, after_step)

    chunk = max(1, CHUNK_BYTES // probe.nbytes)
    over_chunks(runs, chunk, thread_count(threads), work)
    tell.finish()
    variables = [item for recorder in recorders for item in recorder.variables().items()]
    return Trajectory(
        dict(variables),
        system=type(system).__name__,
        settings=settings_of(system),
        runs=runs,
        steps=steps,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Simulation:
    """The loop of a roll-out over time."""

    system: System
    policy: Controller
    steps: int
    seed: int

    def run(
        self,
        runs: NDArray[np.int64],
        numbers: NDArray[np.int64],
        recorders: "Sequence[_Recorder]",
        after_step: Callable[[], None],
    ) -> None:
        """Simulate these runs, with the random numbers of these, and record every moment."""
        system = self.system
        streams = Streams.of(self.seed, numbers, system.n_agents)
        act = self.controller(runs, streams)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        to_the_end = any(recorder.needs_observations for recorder in recorders)
        arrange = system.arrange if isinstance(system, Arranging) else None
        agents = None
        for step in range(self.steps + 1):
            if arrange is not None and (better := arrange(state, step)) is not None:
                state, order = better
                streams = streams.rearranged(order)
                agents = streams.agents
            last = step == self.steps
            observations = system.observe(state) if to_the_end or not last else None
            actions = None
            if not last:
                assert observations is not None
                actions = act(observations, streams.at(step, Purpose.POLICY))
            moment = Moment(system, step, state, observations, actions, agents)
            for recorder in recorders:
                recorder.write(runs, moment)
            if actions is not None:
                state = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
                after_step()

    def controller(
        self, runs: NDArray[np.int64], streams: Streams
    ) -> Callable[[NDArray[Any], Stream], NDArray[Any]]:
        """What the agents of these runs do, given observations and random numbers."""
        policy = self.policy
        if isinstance(policy, MixedPolicy):
            policy, runs = policy.for_runs(runs, streams), np.arange(len(runs))
        if isinstance(policy, Policy | SoftPolicy):
            local, rows = policy, runs
            return lambda observations, rng: local.act(self.system, observations, rows, rng)
        function = policy
        return lambda observations, rng: function(observations)

    def probe(self) -> Moment:
        """The first moment of run 0, to check the system and to learn shapes and types."""
        system = self.system
        agents = (1, system.n_agents)
        streams = Streams.of(self.seed, [0], system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        for name, array in state.items():
            _check_shape(f"state {name!r}", array, agents)
        observations = system.observe(state)
        _check_shape("the observations", observations, agents)
        act = self.controller(streams.runs, streams)
        actions = act(observations, streams.at(0, Purpose.POLICY))
        _check_shape("the policy's actions", actions, agents)
        return Moment(system, 0, state, observations, actions, agents=None)


class _Recorder(Protocol):
    """Keeps one thing of every moment of every run."""

    needs_observations: bool

    def bytes(self, probe: Moment, steps: int) -> int:
        """Memory for one run."""

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        """Make room."""

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        """Keep this moment of these runs."""

    def variables(self) -> dict[str, Variable]:
        """What was kept."""


class _AgentRecorder:
    """Keeps arrays (runs, agents, ...) of every moment, in the agents' own order."""

    def __init__(
        self,
        arrays: Callable[[Moment], Mapping[str, NDArray[Any] | None]],
        axis: str = "time",
        needs_observations: bool = False,
        units: Callable[[System], str] | None = None,
    ) -> None:
        self._units = units
        self.needs_observations = needs_observations
        self._arrays = arrays
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
            inner = field.axes or tuple(f"{name}_{i}" for i in range(array.ndim - 2))
            self._kept[name] = Variable(
                np.empty((runs, *times, *array.shape[1:]), array.dtype),
                (*axes, *inner),
                field.units if self._units is None else self._units(probe.system),
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

    def variables(self) -> dict[str, Variable]:
        return self._kept

    def _times(self, steps: int) -> int:
        return steps + 1 if self._axis == "time" else steps


class _MeasureRecorder:
    """Keeps a function of the state at every time.

    A measure that follows from the observations says so by an attribute `of_observations`; then
    the swarm need not be observed a second time.
    """

    def __init__(self, name: str, measure: Measure) -> None:
        self._name = name
        self._measure = measure
        self._shortcut = getattr(measure, "of_observations", None)
        self.needs_observations = self._shortcut is not None
        self._kept: Variable | None = None

    def bytes(self, probe: Moment, steps: int) -> int:
        return self._value(probe).nbytes * (steps + 1)

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        value = self._value(probe)
        inner = tuple(f"{self._name}_{i}" for i in range(value.ndim - 1))
        self._kept = Variable(
            np.empty((runs, steps + 1, *value.shape[1:]), value.dtype), ("run", "time", *inner)
        )

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        assert self._kept is not None
        self._kept.values[runs[0] : runs[-1] + 1, moment.time] = self._of(moment)

    def variables(self) -> dict[str, Variable]:
        assert self._kept is not None
        return {self._name: self._kept}

    def _of(self, moment: Moment) -> NDArray[Any]:
        if self._shortcut is not None:
            return np.asarray(self._shortcut(moment.observations))
        if moment.agents is None or getattr(self._measure, "order_free", False):
            return self._measure(moment.state)
        return self._measure(in_own_order(moment.state, moment.agents))

    def _value(self, probe: Moment) -> NDArray[Any]:
        value = np.asarray(self._of(probe))
        _check_shape(f"the measure {self._name!r}", value, (1,))
        return value


def in_own_order(state: State, agents: NDArray[np.int32]) -> State:
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

    def bytes(self, probe: Moment, steps: int) -> int:
        return 8 * self._reduction.size(probe.system)

    def allocate(self, probe: Moment, runs: int, steps: int) -> None:
        self._total = np.zeros((runs, self._reduction.size(probe.system)))

    def write(self, runs: NDArray[np.int64], moment: Moment) -> None:
        self._reduction.add(self._total[runs[0] : runs[-1] + 1], moment)

    def variables(self) -> dict[str, Variable]:
        return {self._name: Variable(self._total, ("run", "feature"))}


def _recorders(
    record: Recordable | Sequence[Any] | Mapping[str, Any],
) -> list[_Recorder]:
    if isinstance(record, Mapping):
        return [_recorder(what, name) for name, what in record.items()]
    if isinstance(record, Sequence) and not isinstance(record, str):
        return [_recorder(what) for what in record]
    return [_recorder(record)]


def _recorder(what: Recordable, name: str | None = None) -> _Recorder:
    if what == "states":
        return _AgentRecorder(lambda moment: moment.state)
    if what == "observations":
        return _AgentRecorder(
            lambda moment: {name or "observations": moment.observations},
            needs_observations=True,
            units=lambda system: getattr(system.features, "units", "1"),
        )
    if what == "actions":
        return _AgentRecorder(
            lambda moment: {name or "actions": moment.actions},
            axis="step",
            units=lambda system: getattr(system, "action_units", "1"),
        )
    if isinstance(what, Reduction):
        return _ReductionRecorder(name or what.name, what)
    if callable(what):
        return _MeasureRecorder(name or str(getattr(what, "__name__", "measure")), what)
    raise InvalidInput(
        'record must be "states", "observations", "actions", a measure such as vicsek.order, '
        f"a reduction such as DiscountedFeatures(0.9), or several of these; got {what!r}"
    )


class _Teller:
    """Passes progress on from any thread, but not too often."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._last = time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, steps: int) -> None:
        if self._progress is None:
            return
        with self._lock:
            self._done += steps
            now = time.monotonic()
            if now - self._last >= PROGRESS_SECONDS:
                self._last = now
                self._progress(self._done, self._total)

    def finish(self) -> None:
        if self._progress is not None:
            self._progress(self._total, self._total)


def _check_memory(recorders: Sequence[_Recorder], probe: Moment, runs: int, steps: int) -> None:
    needed = runs * sum(recorder.bytes(probe, steps) for recorder in recorders)
    check_memory(
        needed,
        "this recording",
        "Record a measure (record=vicsek.order) or a reduction (record=DiscountedFeatures(0.9)) "
        "instead of states, or fewer runs or steps",
        RecordingTooLarge,
    )


def _check_shape(what: str, array: Any, leading: tuple[int, ...]) -> None:
    shape = np.shape(array)
    if not isinstance(array, np.ndarray) or shape[: len(leading)] != leading:
        got = f"shape {shape}" if isinstance(array, np.ndarray) else f"{type(array).__name__}"
        raise InvalidInput(
            f"{what} of one run must be an array of shape ({', '.join(map(str, leading))}, ...), "
            f"got {got}"
        )


def _check_count(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidInput(f"{name} must be an integer, got {value!r}")
    if not least <= value < WORD:
        raise InvalidInput(f"{name} must be at least {least} and below 2**32, got {value}")
