"""Roll-outs: let a policy move a swarm, and record what is wanted of it.

Runs are independent, so they are cut into chunks that fit the processor's cache, and threads take
one chunk after another. A number never depends on the chunk that it was computed in.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.adapted import Start, starting_from
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import Rule, System, check_is_system, name_of
from swarmdp.model.traits import Arranging, Fused, WholeSteps, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, FunctionPolicy, LocalPolicy, Policy
from swarmdp.policies.replicas import as_policy, check_fits
from swarmdp.simulation.recorders import (
    Moment,
    Recordable,
    Recorder,
    check_fits_memory,
    check_shape,
    recorders_of,
    room_for,
)
from swarmdp.support import parallel
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Seed, at_least, below_power
from swarmdp.support.threads import over_chunks, thread_count, worth_a_thread

CHUNK_BYTES = 2**20  # states, observations and actions of a chunk of runs: they stay in the cache
WHOLE_STEPS = 2**19  # of agents, taken at a time before progress and interrupts are looked at
PROGRESS_SECONDS = 0.1
AGENT_BYTES = 64  # of its state, observation and action, at least


@checked(skip=("policy", "record", "initial"))
def rollout(
    system: System,
    policy: Controller,
    *,
    steps: Annotated[int, at_least(0), below_power(32)],
    runs: Annotated[int, at_least(1), below_power(32)] = 1,
    seed: Seed,
    record: Recordable | Sequence[Any] | Mapping[str, Any] = "states",
    initial: Start | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
) -> Trajectory:
    """Let a policy move a swarm, in independent runs.

    Parameters
    ----------
    system
        The swarm, such as `swarmdp.Vicsek()`.
    policy
        A local policy, or a function from observations to physical actions. A policy of R replicas
        needs a multiple of R runs; run i follows replica i % R.
    steps
        The number of time steps of each run.
    runs
        The number of independent runs.
    seed
        Same seed, same result, whatever the number of runs and threads.
    record
        What to keep: "states" (times 0 to steps), "observations" (times 0 to steps), "actions" (of
        each step), a measure such as `vicsek.order` (a function from a state to one value for each
        run) or its name, a reduction such as `DiscountedFeatures(0.9)`, or several of these as a
        list, or as a dictionary from names. Memory grows only with what is recorded.
    initial
        Where the runs start, instead of `system.initial`: a state (arrays (agents, ...) for all
        runs, or (runs, agents, ...)), or a trajectory of which each run draws a frame, its agents
        permuted.
    threads
        The environment variable SWARMDP_THREADS or all cores by default. It changes the speed and
        nothing else.
    progress
        A bar on a terminal or in a notebook by default; False for none, or a function that is
        called now and then with the number of steps simulated, summed over runs, and their total.

    Returns
    -------
    Trajectory
        The recorded arrays by name, each with a leading axis of runs.

    Raises
    ------
    InvalidInput
        If the policy does not fit the system, or an argument is not as named above.
    RecordingTooLarge
        If what is to be recorded would not fit into memory; this is asked before it starts.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20)
    >>> run = swarmdp.rollout(vicsek, vicsek.expert, steps=10, runs=3, seed=1)
    >>> run["position"].shape
    (3, 11, 20, 2)
    >>> order = swarmdp.rollout(
    ...     vicsek, vicsek.expert, steps=10, runs=1000, seed=1, record="order"
    ... )
    >>> order["order"].shape
    (1000, 11)

    """
    check_is_system(system)
    moved = as_policy(policy)
    check_fits(moved, system, runs)
    with shown(progress, f"simulating {runs} runs of {name_of(system)}") as tell:
        return simulate(
            starting_from(system, initial),
            moved,
            numbers=np.arange(runs),
            steps=steps,
            seed=seed,
            record=record,
            threads=threads,
            tell=tell,
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
    tell: Tell | None = None,
) -> Trajectory:
    """A roll-out whose i-th run draws the random numbers of run numbers[i]."""
    check_memory(
        AGENT_BYTES * system.n_agents,
        f"a swarm of {system.n_agents} agents",
        "Simulate fewer agents",
    )
    simulation = _Simulation(system, as_policy(policy), steps, seed)
    settings = settings_of(system)
    recorders = recorders_of(record, system)
    with parallel.budget(thread_count(threads)):
        probe = simulation.probe()
    runs = len(numbers)
    check_fits_memory(recorders, probe, runs, steps)
    for recorder in recorders:
        recorder.allocate(probe, runs, steps)
    names = [name for recorder in recorders for name in recorder.variables()]
    if len(set(names)) < len(names):
        raise InvalidInput(
            f"several recordings are called {max(names, key=names.count)!r}: give them names, "
            "record={name: what, ...}"
        )
    teller = _Teller(tell, runs * steps)

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        def after(steps: int) -> None:
            check()
            teller((end - begin) * steps)

        simulation.run(np.arange(begin, end), numbers[begin:end], recorders, after)

    chunk = max(1, CHUNK_BYTES // probe.nbytes)
    del probe  # its memory is that of a swarm
    least = 1 if isinstance(system, Fused) else worth_a_thread(system.n_agents)
    over_chunks(runs, chunk, thread_count(threads), work, least)
    teller.finish()
    variables = [item for recorder in recorders for item in recorder.variables().items()]
    return Trajectory(
        dict(variables),
        system_name=name_of(system),
        settings=settings,
        runs=runs,
        steps=steps,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Simulation:
    """The loop of a roll-out over time."""

    system: System
    policy: LocalPolicy
    steps: int
    seed: int

    def run(
        self,
        runs: NDArray[np.int64],
        numbers: NDArray[np.int64],
        recorders: Sequence[Recorder],
        after: Callable[[int], None],
    ) -> None:
        """Simulate these runs, with the random numbers of these, and record every moment.

        Calls after(steps) when it has taken them.
        """
        streams = Streams.of(self.seed, numbers, self.system.n_agents)
        policy, rows = self.policy.for_runs(runs, streams)
        whole = self._whole_steps(policy, rows, streams, recorders, runs)
        if whole is not None:
            self._run_whole(whole, runs, recorders, after)
        else:
            self._run_plain(policy, rows, streams, runs, recorders, after)

    def _run_plain(
        self,
        policy: LocalPolicy,
        rows: NDArray[np.int64],
        streams: Streams,
        runs: NDArray[np.int64],
        recorders: Sequence[Recorder],
        after: Callable[[int], None],
    ) -> None:
        """Observe, act, record, move; in every step."""
        system = self.system
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
                rng = streams.at(step, Purpose.POLICY)
                actions = policy.act(system, observations, rows, rng)
            moment = Moment(system, step, state, observations, actions, agents)
            for recorder in recorders:
                recorder.write(runs, moment)
            if actions is not None:
                state = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
                after(1)

    def _run_whole(
        self,
        whole: WholeSteps,
        runs: NDArray[np.int64],
        recorders: Sequence[Recorder],
        after: Callable[[int], None],
    ) -> None:
        """Let the system take several whole steps at a time."""
        assert isinstance(self.system, Fused)
        at_once = max(1, WHOLE_STEPS // (len(runs) * self.system.n_agents))
        for first in range(0, self.steps + 1, at_once):
            times = range(first, min(first + at_once, self.steps + 1))
            room = room_for(recorders, runs, times)
            assert room is not None
            whole.advance(times.start, times.stop, room)
            for recorder in recorders:
                recorder.take(runs, times, room)
            after(min(times.stop, self.steps) - first)

    def _whole_steps(
        self,
        policy: LocalPolicy,
        rows: NDArray[np.int64],
        streams: Streams,
        recorders: Sequence[Recorder],
        runs: NDArray[np.int64],
    ) -> WholeSteps | None:
        """The runs as a system that takes whole steps moves them; None if it does not."""
        system = self.system
        rule = _rule_of(policy, system)
        if rule is None or not isinstance(system, Fused):
            return None
        room = room_for(recorders, runs, range(0))
        if room is None or not set(room.measures) <= system.fused_measures:
            return None
        return system.whole_steps(
            lambda: system.initial(streams.at(0, Purpose.INITIAL)),
            rule,
            rows % policy.replicas,
            streams,
            self.steps,
        )

    def probe(self) -> Moment:
        """The first moment of run 0, to check the system and to learn shapes and types."""
        system = self.system
        agents = (1, system.n_agents)
        streams = Streams.of(self.seed, [0], system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        for name, array in state.items():
            check_shape(f"state {name!r}", array, agents)
        observations = system.observe(state)
        check_shape("the observations", observations, (*agents, *system.features.shape))
        policy, rows = self.policy.for_runs(streams.runs, streams)
        rng: Stream = streams.at(0, Purpose.POLICY)
        actions = policy.act(system, observations, rows, rng)
        check_shape("the policy's actions", actions, agents)
        return Moment(system, 0, state, observations, actions, agents=None)


def _rule_of(policy: LocalPolicy, system: System) -> Rule | None:
    """How a policy acts, in terms that whole steps may understand."""
    if isinstance(policy, Policy):
        rule: NDArray[Any] = np.asarray(system.actions)[policy.table]
        return rule
    return policy.function if isinstance(policy, FunctionPolicy) else None


class _Teller:
    """Passes progress on from any thread, but not too often."""

    def __init__(self, progress: Tell | None, total: int) -> None:
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
