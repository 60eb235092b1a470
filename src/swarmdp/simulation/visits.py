"""How often a swarm's agents are in each class of observations, in compiled code where there is.

Feature expectations and what else is a sum over classes follow from these counts, to the same bits
as from a roll-out that records them.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State, System, class_map, feature_count, features_of_counts
from swarmdp.model.traits import Fused, Room, null_action
from swarmdp.policies import LocalPolicy, Policy
from swarmdp.simulation.recorders import FeaturesOverTime
from swarmdp.support.threads import over_chunks, thread_count

MOST_BYTES = 2**26  # of all counts: where there are more, they are not kept
CHUNK_AGENTS = 2**15  # of the runs that a thread moves at a time
MOST_STARTS = 64  # chunks of runs whose start states are kept


@dataclass(frozen=True, eq=False)
class Visits:
    """The number of agents in each class at each time, of every run."""

    system: System
    counts: NDArray[np.int64]  # (runs, steps + 1, classes)

    def discounted(self, discount: float) -> NDArray[np.float64]:
        """Feature expectations (runs, d), as `DiscountedFeatures` adds them up."""
        times = self.counts.shape[1]
        weights = np.array([discount**t / self.system.n_agents for t in range(times)])
        if class_map(self.system).matrix is None:
            return kernels.tables.sum_weighted(self.counts, weights)
        total = np.zeros((len(self.counts), feature_count(self.system)))
        for weight, now in zip(weights, np.moveaxis(self.counts, 1, 0), strict=True):
            total += weight * features_of_counts(self.system, now)
        return total

    def over_time(self) -> NDArray[np.float64]:
        """Mean features in spans of time (runs, spans * d), as `FeaturesOverTime` has them."""
        runs, times, _ = self.counts.shape
        if class_map(self.system).matrix is None:
            spans = kernels.tables.shares_over_spans(self.counts, self.system.n_agents)
            return spans.reshape(runs, -1)
        profile = FeaturesOverTime(times - 1)
        total = np.zeros((runs, profile.size(self.system)))
        for time, now in enumerate(np.moveaxis(self.counts, 1, 0)):
            profile.add_counts(total, time, self.system, now)
        return total

    def activity(self, table: NDArray[np.integer]) -> NDArray[np.float64]:
        """How often an agent does something (runs,), summed over the steps."""
        active = table != null_action(self.system)
        rows = active[np.arange(len(self.counts)) % len(table)]
        shares = (self.counts[:, :-1] * rows[:, None]).sum(axis=2) / self.system.n_agents
        total = np.zeros(len(shares))
        for share in shares.T:
            total += share
        return total


Starts = dict[tuple[int, bytes], State]
"""Start states by their seed and the numbers of their runs."""


def _start(system: System, streams: Streams, starts: Starts | None) -> State:
    """Where these runs start, from `starts` if it has them."""
    key = streams.seed, streams.runs.tobytes()
    kept = None if starts is None else starts.get(key)
    if kept is not None:
        return kept
    state = system.initial(streams.at(0, Purpose.INITIAL))
    if starts is not None and len(starts) < MOST_STARTS:
        starts[key] = state
    return state


def visits_of(
    system: System,
    policy: LocalPolicy,
    *,
    numbers: NDArray[np.int64],
    steps: int,
    seed: int,
    threads: int | None = None,
    starts: Starts | None = None,
) -> Visits | None:
    """The visits of roll-outs whose i-th run has the random numbers of run numbers[i].

    Start states are looked up in `starts` and kept there, if it is given: several policies may be
    compared from the same ones.
    None where the system or the policy has no such code: then roll them out step by step.
    """
    if not isinstance(policy, Policy) or not isinstance(system, Fused):
        return None
    policy.check(system)
    size, runs = class_map(system).size, len(numbers)
    if 8 * runs * (steps + 1) * size > MOST_BYTES:
        return None
    counts = np.empty((runs, steps + 1, size), np.int64)
    rule = np.asarray(system.actions)[policy.table]
    failed = threading.Event()

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        check()
        streams = Streams.of(seed, numbers[begin:end], system.n_agents)
        swarms = system.whole_steps(
            lambda: _start(system, streams, starts),
            rule,
            np.arange(begin, end) % policy.replicas,
            streams,
            steps,
        )
        if swarms is None:
            failed.set()
        else:
            swarms.advance(0, steps + 1, Room(counts=counts[begin:end]))

    chunk = max(1, CHUNK_AGENTS // system.n_agents)
    over_chunks(runs, chunk, thread_count(threads), work)
    return None if failed.is_set() else Visits(system, counts)
