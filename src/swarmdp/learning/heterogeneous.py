"""Algorithm 2 of the paper: heterogeneous learning."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.checks import check_discount, check_integer
from swarmdp.errors import InvalidInput
from swarmdp.learning.local_model import LocalModel, counts_bytes, dense_bytes
from swarmdp.learning.outcome import Learned
from swarmdp.learning.q_functions import QFunction, QUpdate, SequentialQ
from swarmdp.learning.schedules import Decay, decayed
from swarmdp.memory import check_memory
from swarmdp.model import (
    Arranging,
    Policy,
    Reward,
    SoftPolicy,
    State,
    System,
    classes,
    field_of,
    null_action,
)
from swarmdp.streams import Purpose, Stream, Streams
from swarmdp.threads import over_chunks, thread_count

ENOUGH_AGENTS = 1000  # experience of so many agents in each iteration, unless told otherwise
CHUNK_BYTES = 2**19  # of the swarms that a thread moves at a time: they stay in the cache
TIE = 1e-9  # Q-values as near as this, relative to the largest, count as equal


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A learning swarm in one iteration: all that there is to look at."""

    iteration: int
    temperature: float  # share of agents that explore
    learning_rate: float
    state: State  # before the agents act
    observations: NDArray[np.integer]  # classes of observations (runs, agents)
    exploring: NDArray[np.bool_]  # who explores (runs, agents)
    actions: NDArray[np.integer]  # numbers of the actions taken (runs, agents)
    q: NDArray[np.float64]  # after the update (R, observations, actions)
    policy: NDArray[np.integer]  # greedy after the update (R, observations)
    seen: NDArray[np.bool_]  # observations visited so far (R, observations)
    # P(o' | o, a) as known when it is called, unlike the rest: it is large.
    kernel: Callable[[], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class HeterogeneousLearning:
    """Algorithm 2: exploring agents among greedy ones teach a Q-function that all share.

    In doubt, agents do nothing: ties between actions, and with them observations that were never
    visited, go to the action whose physical value is zero (a turn of 0, keeping the spin). The
    swarm starts with everybody doing nothing, so that of several equilibria it tends to the one
    nearest to that; in the Ising model this is the expert's and not its mirror image.

    With a softness the policy is Boltzmann's instead of the greedy one, learned by soft backups on
    the local model: the agents that do not explore draw their actions from it.
    """

    q_update: QUpdate = field(default_factory=LocalModel)
    iterations: int = 300
    temperature: float = 0.5  # initial share of exploring agents
    learning_rate: float = 0.99  # initial; unused by LocalModel
    decay: Decay = "quadratic"
    exploration: Literal["redrawn", "fixed"] = "redrawn"  # the set, in every iteration or once
    swarms: int | None = None  # learning side by side for each reward; None: about 1000 agents

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, least=1)
        for name in ("temperature", "learning_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"{name} must be from 0 to 1, got {getattr(self, name)}")
        if self.exploration not in ("redrawn", "fixed"):
            raise InvalidInput(
                f'exploration must be "redrawn" or "fixed", got {self.exploration!r}'
            )
        if self.swarms is not None:
            check_integer("swarms", self.swarms, least=1)
        decayed(self.decay, 0, 1)

    def swarms_for(self, system: System) -> int:
        """How many swarms of this system learn side by side for each reward."""
        return self.swarms or -(-ENOUGH_AGENTS // system.n_agents)

    def iterate(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        streams: Streams,
        softness: float = 0.0,
    ) -> Iterator[Snapshot]:
        """Algorithm 2, one snapshot for each iteration.

        The runs of `streams` are learning swarms; run r follows reward r % R.
        """
        check_discount(discount)

        # 0: Initialize shared Q-function, learning rate and temperature.
        rewards = reward.of_classes(system)
        swarms = -(-len(streams.runs) // len(rewards))
        q = self._start_q(
            rewards, len(system.actions), discount, softness, self._transitions(system, swarms)
        )
        null = null_action(system)
        policy = greedy(q.values, null)
        seen = np.zeros(rewards.shape, np.bool_)
        state, streams = start_swarms(system, streams)
        observations = classes(system, system.observe(state))
        rows = np.zeros(len(observations), np.int64)
        place = _place_in_line(streams) if self.exploration == "fixed" else np.empty(0)
        for i in range(self.iterations):
            temperature = self.temperature * decayed(self.decay, i, self.iterations)
            rate = self.learning_rate * decayed(self.decay, i, self.iterations)

            # 1: Separate the swarm into exploring and greedy agents according to the temperature.
            luck = streams.at(i, Purpose.EXPLORATION)
            chance = luck.uniform()
            if self.exploration == "fixed":
                chance = kernels.tabular.among_first(chance, place, temperature)

            # 2: Based on the current swarm state and Q-function, select actions for all agents.
            actions = kernels.tabular.choose(
                observations, policy, chance, temperature, len(system.actions)
            )
            if softness:
                drawn = _drawn(boltzmann(q.values, softness, seen, null), observations, luck)
                actions = np.where(chance < temperature, actions, drawn)

            # 3: Iterate the system and collect rewards.
            before, moved_from = observations, state
            physical = kernels.tabular.look_up(actions, system.actions[None], rows)
            state = system.transition(state, physical, streams.at(i, Purpose.TRANSITION))
            observations = classes(system, system.observe(state))

            # 4: Update the Q-function based on the new experience.
            q.learn(before, actions, observations, rate)
            kernels.tabular.mark(before, seen)
            policy = greedy(q.values, null)

            # 5: Decrease the learning rate and the temperature: at the top of the loop.
            yield Snapshot(
                i,
                temperature,
                rate,
                moved_from,
                before,
                chance < temperature,
                actions,
                q.values.copy(),
                policy,
                seen.copy(),
                getattr(q, "kernel", None),
            )

    def _start_q(
        self,
        rewards: NDArray[np.float64],
        n_actions: int,
        discount: float,
        softness: float,
        transitions: int,
    ) -> QFunction:
        if isinstance(self.q_update, LocalModel):
            return self.q_update.start(rewards, n_actions, discount, softness, transitions)
        if softness:
            raise InvalidInput(
                "soft policies are learned with q_update=LocalModel(), not with "
                f"{type(self.q_update).__name__}: choose that, or an update whose policies are "
                "greedy (max_margin, projection, ng_russell, mwal)"
            )
        return self.q_update.start(rewards, n_actions, discount)

    def _transitions(self, system: System, swarms: int) -> int:
        """From how many transitions the Q-function of each reward learns."""
        return self.iterations * swarms * system.n_agents

    def _bytes(self, system: System, replicas: int, at_once: int, kernel: bool) -> int:
        """The memory that learning needs at most, with so many replicas under way at a time."""
        observations, actions = system.features.size, len(system.actions)
        # Q, policy and seen of all; Q, its copies and the totals of those under way.
        tables = replicas * (8 * actions + 9) + at_once * 32 * actions
        needed = observations * tables
        if isinstance(self.q_update, LocalModel):
            transitions = self._transitions(system, self.swarms_for(system))
            needed += at_once * counts_bytes(observations, actions, transitions)
        if kernel:
            needed += (replicas + at_once) * dense_bytes(observations, actions)
        return needed

    def __call__(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        seed: int,
        watch: Callable[[Snapshot], None] | None = None,
        threads: int | None = None,
        softness: float = 0.0,
        kernel: bool = False,
    ) -> Learned:
        """Learn a policy for each replica of the reward, all as one batch.

        With a `softness` it is Boltzmann's, with `kernel` the outcome has the local kernel; both
        need the local model. `watch` is given every snapshot; it is called from several threads
        when there are many replicas.
        """
        replicas, observations = reward.of_classes(system).shape
        if kernel and not isinstance(self.q_update, LocalModel):
            raise InvalidInput(
                "the local kernel P(o' | o, a) is estimated with q_update=LocalModel(), not with "
                f"{type(self.q_update).__name__}"
            )
        swarms, workers = self.swarms_for(system), thread_count(threads)
        chunk = max(1, CHUNK_BYTES // (swarms * swarm_bytes(system, seed)))
        check_memory(
            self._bytes(system, replicas, min(replicas, chunk * workers), kernel),
            f"learning with {observations} classes of observations and {len(system.actions)} "
            "actions" + (", and the local kernel P(o' | o, a)," if kernel else ""),
            "Use fewer classes, fewer swarms or iterations"
            + (
                ", or a reward update that needs no kernel (max_margin, projection, ng_russell, "
                "mwal, maxent)"
                if kernel
                else ""
            ),
        )
        table = np.empty((replicas, observations), np.int64)
        q = np.empty((replicas, observations, len(system.actions)))
        seen = np.empty((replicas, observations), np.bool_)
        local = np.empty((*q.shape, observations)) if kernel else None

        def learn(begin: int, end: int, check: Callable[[], None]) -> None:
            experiments = np.arange(begin, end)
            numbers = (experiments * swarms + np.arange(swarms)[:, None]).ravel()
            streams = Streams.of(seed, numbers, system.n_agents)
            rewards = Reward(reward.weights[begin:end])
            for snapshot in self.iterate(
                system, rewards, discount=discount, streams=streams, softness=softness
            ):
                check()
                if watch is not None:
                    watch(snapshot)
            table[begin:end], q[begin:end], seen[begin:end] = (
                snapshot.policy,
                snapshot.q,
                snapshot.seen,
            )
            if local is not None and snapshot.kernel is not None:
                local[begin:end] = snapshot.kernel()

        over_chunks(replicas, chunk, workers, learn)
        policy = (
            SoftPolicy(boltzmann(q, softness, seen, null_action(system)))
            if softness
            else Policy(table)
        )
        return Learned(policy, q, seen, local)


def paper_learning() -> HeterogeneousLearning:
    """The paper's policy update to the letter: sequential, a fixed set that shrinks, one swarm."""
    return HeterogeneousLearning(SequentialQ(), 200, exploration="fixed", swarms=1)


def greedy(q: NDArray[np.float64], null: int) -> NDArray[np.int64]:
    """The best action for each observation (R, observations); a tie goes to the null action."""
    return kernels.tabular.greedy(q, null, TIE)


def boltzmann(
    q: NDArray[np.float64], softness: float, seen: NDArray[np.bool_], null: int
) -> NDArray[np.float64]:
    """Boltzmann's policy (R, observations, actions); it does nothing where nobody was."""
    probabilities = kernels.tabular.boltzmann(q, softness)
    probabilities[~seen] = np.arange(q.shape[2]) == null
    return probabilities


def _drawn(
    probabilities: NDArray[np.float64], observations: NDArray[np.integer], luck: Stream
) -> NDArray[np.integer]:
    """Actions (runs, agents) that agents draw from the policy of their run's replica."""
    rows = np.arange(len(observations)) % len(probabilities)
    sums = np.cumsum(probabilities, axis=2)
    return kernels.tabular.draw(observations, sums, luck.uniform(), rows)


def _place_in_line(streams: Streams) -> NDArray[np.float64]:
    """A fixed random order of the agents of each run, from 0 to 1: who stops exploring last."""
    chance = streams.at(0, Purpose.POLICY).uniform()
    rank = chance.argsort(axis=1).argsort(axis=1)
    place: NDArray[np.float64] = (rank + 0.5) / chance.shape[1]
    return place


def swarm_bytes(system: System, seed: int) -> int:
    """The memory of a swarm that changes from step to step: its state, chances and choices."""
    state = system.initial(Streams.of(seed, [0], system.n_agents).at(0, Purpose.INITIAL))
    changing = (a.nbytes for name, a in state.items() if not field_of(system, name).constant)
    return sum(changing) + 16 * system.n_agents


def start_swarms(system: System, streams: Streams) -> tuple[State, Streams]:
    """Initial states, the agents in the order that the system prefers, and their streams."""
    state = system.initial(streams.at(0, Purpose.INITIAL))
    if isinstance(system, Arranging) and (better := system.arrange(state, 0)) is not None:
        state, order = better
        streams = streams.rearranged(order)
    return state, streams
