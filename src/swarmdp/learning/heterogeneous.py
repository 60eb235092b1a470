"""Algorithm 2 of the paper: heterogeneous learning."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.learning.exploration import Exploration, Explorers, check_exploration
from swarmdp.learning.local_model import LocalModel
from swarmdp.learning.q_functions import Problem, QFunction, QUpdate, SequentialQ, rewards_for
from swarmdp.learning.schedules import Decay, decayed
from swarmdp.learning.tables import TabularQ
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State, System
from swarmdp.model.traits import Arranging, FusedLearning, field_of
from swarmdp.policies.learner import NOTHING_MORE, Wants
from swarmdp.policies.learner import Learned as Learned
from swarmdp.policies.learner import Learner as Learner
from swarmdp.policies.replicas import join_replicas
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_discount
from swarmdp.support.memory import check_memory
from swarmdp.support.ranges import Positive, PositiveInteger, Share
from swarmdp.support.threads import over_chunks, thread_count, worth_a_thread

_ENOUGH_AGENTS = 1000  # whose experience each iteration uses by default
_NO_REWARDS = np.empty((0, 0))  # for ways of learning that do not look at them
_CHUNK_BYTES = 2**19  # of the swarms that a thread moves at a time: they stay in the cache


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Snapshot:
    """A learning swarm in one iteration, for watching and analysis.

    Parameters
    ----------
    iteration
        The number of the time step.
    temperature
        The share of agents that explore.
    learning_rate
        Of the Q-function.
    state
        Before the agents act.
    observations
        (runs, agents): as the Q-function sees them, classes.
    exploring
        (runs, agents): whether each agent explores.
    actions
        (runs, agents): indices of the actions taken.
    rewards
        (runs, agents): collected in this step.
    q
        Values after the update, replicas first.
    table
        (R, observations): the greedy policy after the update, of tables.
    seen
        (R, observations): whether each was visited so far, of tables.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> seen = []
    >>> learner = swarmdp.learning.HeterogeneousLearning(steps=5)
    >>> _ = learner(ising, swarmdp.Reward(range(9)), discount=0.9, seed=1, watch=seen.append)
    >>> seen[0].temperature
    0.5

    """

    iteration: int
    temperature: float
    learning_rate: float
    state: State
    observations: NDArray[np.generic]
    exploring: NDArray[np.bool_]
    actions: NDArray[np.integer]
    rewards: NDArray[np.float64]
    q: NDArray[np.float64]
    table: NDArray[np.integer] | None
    seen: NDArray[np.bool_] | None


@checked
@dataclass(frozen=True)
class HeterogeneousLearning:
    """Algorithm 2: exploring agents among greedy ones teach a Q-function that all share.

    In doubt, agents do nothing. At first all agents do nothing, so that of several equilibria the
    swarm tends to the one nearest to that; in the Ising model this is the expert's and not its
    mirror image.

    Parameters
    ----------
    q_update
        How experience changes the Q-function: `LocalModel()`, `BatchQ()` or `SequentialQ()`.
    steps
        The number of time steps of the learning swarms: the iterations of Algorithm 2.
    temperature
        The initial share of exploring agents, from 0 to 1.
    learning_rate
        The initial learning rate, from 0 to 1; `LocalModel` does not use it.
    decay
        How temperature and learning rate fall to zero: "quadratic" or "late" (see `decayed`).
    exploration
        Whether the set of exploring agents is "redrawn" in every iteration, or drawn once and
        "fixed", so that it only shrinks.
    swarms
        The number of swarms that learn side by side for each reward; by default as many as have
        1000 agents together.
    warm_steps
        The number of steps when it goes on with what it has learned for another reward; by default
        it always starts from nothing.
    reset_after
        The swarms start from the initial distribution again after this many times
        1 / (1 - discount) steps; by default they never do. A value is about the first steps: a
        swarm that has come to rest shows little of them.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> learner = swarmdp.learning.HeterogeneousLearning(steps=20, temperature=0.5)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> learner(ising, reward, discount=0.9, seed=1).policy.table.shape
    (1, 9)

    """

    q_update: QUpdate = field(default_factory=LocalModel)
    steps: PositiveInteger = 300
    temperature: Share = 0.5
    learning_rate: Share = 0.99
    decay: Decay = "quadratic"
    exploration: Exploration = "redrawn"
    swarms: PositiveInteger | None = None
    warm_steps: PositiveInteger | None = None
    reset_after: Positive | None = None

    def __post_init__(self) -> None:
        check_exploration(self.exploration)
        decayed(self.decay, 0, 1)

    @property
    def mirrors(self) -> bool:
        """Whether experience counts also mirrored, if that is wanted."""
        return self.q_update.mirrors

    @property
    def remembers(self) -> bool:
        """Whether a policy update goes on with what the one before has learned."""
        return self.warm_steps is not None

    def swarms_for(self, system: System) -> int:
        """How many swarms of this system learn side by side for each reward."""
        return self.swarms or -(-_ENOUGH_AGENTS // system.n_agents)

    def _reset_period(self, discount: float) -> int:
        """The number of iterations after which swarms start again."""
        if self.reset_after is None:
            return self.steps
        return max(1, round(self.reset_after / (1 - discount)))

    def iterate(self, q: QFunction, problem: Problem, streams: Streams) -> Iterator[Snapshot]:
        """Algorithm 2: yields one snapshot for each iteration.

        Parameters
        ----------
        q
            The Q-function that all agents share; it learns in place.
        problem
            What is to be learned, for R rewards.
        streams
            The random numbers. Its runs are the learning swarms; run r follows reward r % R.

        """
        system, first_replica = problem.system, np.zeros(len(streams.runs), np.int64)

        # 0: Initialize shared Q-function (given), learning rate and temperature.
        rate, temperature = self.learning_rate, self.temperature
        collected = rewards_for(q, problem, len(first_replica))
        in_order, every = streams, self._reset_period(problem.discount)
        for i in range(self.steps):
            if i % every == 0:
                state, streams = start_swarms(system, in_order, i)
                explorers = Explorers.of(self.exploration, streams)
                raw = system.observe(state)
                observations = q.sees(raw)

            # 1: Separate the swarm into exploring and greedy agents according to the temperature.
            stream = streams.at(i, Purpose.EXPLORATION)
            chances = explorers.chances(stream, temperature)

            # 2: Based on the current swarm state and Q-function, select actions for all agents.
            chosen = q.choose(observations, stream)
            actions = kernels.tables.explore(chosen, chances, temperature, len(system.actions))

            # 3: Iterate the system and collect rewards.
            before, moved_from = observations, state
            rewards = collected(raw, observations)
            physical = kernels.tables.look_up(actions, system.actions[None], first_replica)
            state = system.transition(state, physical, streams.at(i, Purpose.TRANSITION))
            raw = system.observe(state)
            observations = q.sees(raw)

            # 4: Update the Q-function based on the new experience.
            q.learn(before, actions, rewards, observations, rate)
            yield Snapshot(
                i,
                temperature,
                rate,
                moved_from,
                before,
                chances < temperature,
                actions,
                rewards,
                q.values.copy(),
                q.greedy,
                None if q.seen is None else q.seen.copy(),
            )

            # 5: Decrease the learning rate and the temperature.
            left = decayed(self.decay, i + 1, self.steps)
            rate, temperature = self.learning_rate * left, self.temperature * left

    def _learn_in_kernels(
        self, q: QFunction, problem: Problem, streams: Streams, check: Callable[[], None]
    ) -> bool:
        """Algorithm 2 to the same bits, by the system's own kernels; False if it has none."""
        system, every = problem.system, self._reset_period(problem.discount)
        if not isinstance(system, FusedLearning) or not isinstance(q, TabularQ) or q.is_soft:
            return False
        collected = rewards_for(q, problem, len(streams.runs))
        for i in range(self.steps):
            if i % every == 0:
                if (started := system.exploring_swarms(streams, i)) is None:
                    return False
                swarms = started
                place = Explorers.of(self.exploration, swarms.streams).place
            check()
            left = decayed(self.decay, i, self.steps)
            # 1 to 3: Explore or be greedy, act, and iterate the system.
            before, actions, after = swarms.step(q.greedy, self.temperature * left, place, i)
            rewards = collected(before, before) if q.needs_rewards else _NO_REWARDS
            # 4 and 5: Update the Q-function based on the new experience.
            q.learn(before, actions, rewards, after, self.learning_rate * left)
        return True

    def __call__(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        seed: int,
        wants: Wants = NOTHING_MORE,
        watch: Callable[[Snapshot], None] | None = None,
        threads: int | None = None,
        memory: Mapping[str, NDArray[np.float64]] | None = None,
    ) -> Learned:
        """Learn a policy for each replica of the reward, all as one batch.

        Parameters
        ----------
        system
            The swarm that learns.
        reward
            What to learn for, in R replicas.
        discount
            The discount of future rewards.
        seed
            Same seed, same result.
        wants
            The softness of the policy, and whether the local kernel is wanted.
        watch
            Called with every snapshot, from several threads when there are many replicas.
        threads
            All cores by default.
        memory
            What earlier learning kept (`Learned.memory`), to go on with it for `warm_steps` steps.

        """
        if memory:
            return replace(self, steps=self.warm_steps or self.steps)._learned(
                system, reward, discount, seed, wants, watch, threads, memory
            )
        return self._learned(system, reward, discount, seed, wants, watch, threads, {})

    def _learned(
        self,
        system: System,
        reward: Reward,
        discount: float,
        seed: int,
        wants: Wants,
        watch: Callable[[Snapshot], None] | None,
        threads: int | None,
        memory: Mapping[str, NDArray[np.float64]],
    ) -> Learned:
        check_discount(discount)
        swarms, workers = self.swarms_for(system), thread_count(threads)
        chunk = max(1, _CHUNK_BYTES // (swarms * swarm_bytes(system, seed)))
        problem = Problem(
            system, reward, discount, wants, self.steps * swarms * system.n_agents, seed
        )
        self._check_memory(problem, min(reward.replicas, chunk * workers))
        parts: dict[int, Learned] = {}

        def learn(begin: int, end: int, check: Callable[[], None]) -> None:
            numbers = (np.arange(begin, end) * swarms + np.arange(swarms)[:, None]).ravel()
            streams = Streams.of(seed, numbers, system.n_agents)
            part = replace(
                problem,
                reward=Reward(reward.weights[begin:end]),
                memory={name: array[begin:end] for name, array in memory.items()},
            )
            q = self.q_update.start(part)
            if watch is not None or not self._learn_in_kernels(q, part, streams, check):
                for snapshot in self.iterate(q, part, streams):
                    check()
                    if watch is not None:
                        watch(snapshot)
            parts[begin] = q.learned()

        fused = isinstance(system, FusedLearning)
        least = 1 if fused else worth_a_thread(swarms * system.n_agents)
        over_chunks(reward.replicas, chunk, workers, learn, least)
        return together([parts[begin] for begin in sorted(parts)])

    def _check_memory(self, problem: Problem, at_once: int) -> None:
        assert problem.transitions is not None
        replica_bytes = self.q_update.bytes(problem.system, problem.transitions, problem.wants)
        # What is kept of all replicas is at most what those under way need.
        kernel = ", and the local kernel P(o' | o, a)," if problem.wants.kernel else ""
        check_memory(
            max(at_once, problem.reward.replicas if problem.wants.kernel else 0) * replica_bytes,
            f"learning with {described_size(problem.system)}{kernel}",
            "Use fewer classes, fewer swarms or iterations"
            + (", or a reward update that needs no kernel" if kernel else ""),
        )


def default_learning() -> HeterogeneousLearning:
    """The policy update of `swarmdp.fit`: most go on with what the one before has learned."""
    return HeterogeneousLearning(steps=250, warm_steps=100, reset_after=2.5)


def paper_learning() -> HeterogeneousLearning:
    """The paper's policy update: sequential Q-learning, a fixed set of explorers, one swarm."""
    return HeterogeneousLearning(SequentialQ(), 200, exploration="fixed", swarms=1)


def together(parts: list[Learned]) -> Learned:
    """What was learned for several chunks of replicas, joined."""
    if len(parts) == 1:
        return parts[0]

    def all_of(name: str) -> Any:
        arrays = [vars(part)[name] for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    memory = {
        name: np.concatenate([part.memory[name] for part in parts]) for name in parts[0].memory
    }
    return Learned(
        join_replicas([part.policy for part in parts]),
        all_of("q"),
        all_of("seen"),
        all_of("kernel"),
        memory,
        _all_tried(parts),
    )


def _all_tried(parts: list[Learned]) -> NDArray[np.float64] | None:
    """The feature expectations (C, R, d) that all parts have tried; as many as the fewest."""
    tried = [part.tried for part in parts if part.tried is not None]
    if len(tried) < len(parts):
        return None
    count = min(map(len, tried))
    return np.concatenate([some[:count] for some in tried], axis=1)


def described_size(system: System) -> str:
    """The numbers of classes (or components) and of actions, in words."""
    actions = f"{len(system.actions)} actions"
    if isinstance(system.features, Classes):
        return f"{system.features.size} classes of observations and {actions}"
    return f"{len(system.features.axes)} components of an observation and {actions}"


def swarm_bytes(system: System, seed: int) -> int:
    """The memory of a swarm that changes from step to step: its state, chances and choices."""
    state = system.initial(Streams.of(seed, [0], system.n_agents).at(0, Purpose.INITIAL))
    changing = (a.nbytes for name, a in state.items() if not field_of(system, name).constant)
    return sum(changing) + 16 * system.n_agents


def start_swarms(system: System, streams: Streams, step: int = 0) -> tuple[State, Streams]:
    """Initial states, the agents in the order that the system prefers, and their streams."""
    state = system.initial(streams.at(step, Purpose.INITIAL))
    if isinstance(system, Arranging) and (better := system.arrange(state, 0)) is not None:
        state, order = better
        streams = streams.rearranged(order)
    return state, streams
