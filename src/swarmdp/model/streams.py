"""Randomness as a pure function of (seed, run, step, agent, purpose).

A system receives a `Stream`: it looks like a NumPy generator whose every call returns one number
for each run and agent. Behind it, each number is computed from its own coordinates (see
`swarmdp.kernels.numerics.streams`), so it does not depend on the batch, the threads, or what was
drawn before.
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.support.arguments import checked
from swarmdp.support.arguments import numbers as numbers_of
from swarmdp.support.checks import brief, check_seed, is_integer, is_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Seed, at_least, below_power

AgentCount = Annotated[int, at_least(1), below_power(31)]

_WORD = 2**32
MOST_DRAWS = 2**16  # of a stream, for each agent


class Purpose(IntEnum):
    """What a random number is for; different purposes never share numbers."""

    INITIAL = 0
    TRANSITION = 1
    POLICY = 2
    EXPLORATION = 3
    MIXTURE = 4
    POSTERIOR = 5


def first_draw(purpose: Purpose) -> int:
    """The draw, as kernels count them, of the first number that is taken for a purpose."""
    return int(purpose) << 16


class Part(IntEnum):
    """The parts of some work that have random numbers of their own: `derived_seed(seed, part)`.

    Parts of the same work, which derive from the same seed, have different numbers; parts of
    different works may share one. A number never changes, since results depend on it.
    """

    # Of a fit.
    LEARNING = 1  # with the number of the iteration
    EVALUATION = 2
    START = 3  # the first reward
    REWARD_UPDATE = 4
    SURROUNDINGS = 5  # the swarm in which the local kernel is estimated
    RACING = 6  # the last evaluation of the best policies
    RESAMPLING = 7  # fits of resampled demos
    JUDGING = 8
    OTHER_DEMOS = 9
    # On the page of a fit. The number 9 was taken twice: the swarms that a page shows then
    # have the seed of fits to other demos, which nothing compares.
    PAGE_SWARMS = 9
    PAGE_MEASURES = 10
    EXPLAINING = 11  # which actions led to what the demo shows
    SEARCHING = 12  # other policies, where Algorithm 2 does not reproduce the demo
    DEVIATING = 13  # what one agent gains by another policy than the others
    REPLANNING = 14  # policies from nothing, by which rewards are judged

    # Of the analysis of a recording.
    INTERACTION = 1
    JUDGING_HELD_OUT = 2
    PAGE_SIMULATION = 3
    SHIFTING = 4
    CONTROLLER = 5
    GROUP_DISTANCES = 6
    ENCOUNTERS = 11  # pairs at times drawn at random
    REWARD_SEARCH = 7

    # Of resampled demos.
    RESAMPLED_RUNS = 1
    SIMULATED_RUNS = 2

    # Of a verdict, whose swarms count from 0.
    STRETCHES = 97  # with the number of the swarm
    OTHER_STARTS = 98
    RANDOM_POLICIES = 99

    # Of the share of rewards in a cone, and of drawing from it.
    COUNTING = 0
    SPLITTING = 1
    DRAWING = 3
    DRAWING_LEVELS = 4


def derived_seed(seed: int, *path: int) -> int:
    """A seed for a part of the work: a `Part`, or any path of numbers."""
    key = tuple(map(int, path))
    sequence = np.random.SeedSequence(entropy=check_seed(seed), spawn_key=key)
    return int(sequence.generate_state(1, np.uint64)[0])


class Stream:
    """Random numbers for one purpose at one time step, batched over runs and agents.

    Every call gives fresh numbers. With `size=(k, ...)` each agent gets an array of that shape.

    Parameters
    ----------
    seed
        Of all random numbers.
    runs
        (runs,): the number of each run, 64-bit integers.
    agents
        (runs or 1, agents): the number of the agent in each place, 32-bit integers.
    step
        The time step.
    purpose
        What the numbers are for.

    Examples
    --------
    >>> from swarmdp.model.streams import Purpose, Streams
    >>> rng = Streams.of(seed=1, runs=[0, 1], n_agents=3).at(0, Purpose.INITIAL)
    >>> rng.uniform(-1.0, 1.0, size=(2,)).shape    # a vector for each agent of each run
    (2, 3, 2)

    """

    def __init__(
        self,
        seed: int,
        runs: NDArray[np.int64],
        agents: NDArray[np.int32],
        step: int,
        purpose: Purpose,
    ) -> None:
        if not (isinstance(runs, np.ndarray) and isinstance(agents, np.ndarray)):
            raise InvalidInput("runs and agents must be arrays: take Streams.of(...).at(...)")
        fits = runs.ndim == 1 and agents.ndim == 2 and agents.shape[0] in (1, len(runs))
        if not fits or runs.dtype != np.int64 or agents.dtype != np.int32:
            raise InvalidInput(
                "runs must be 64-bit integers of shape (runs,) and agents 32-bit ones of shape "
                f"(runs or 1, agents), got {runs.dtype} of shape {runs.shape} and {agents.dtype} "
                f"of shape {agents.shape}: take Streams.of(...).at(...)"
            )
        if not is_integer(step) or not 0 <= step < _WORD:
            raise InvalidInput(f"step must be an integer from 0 to 2**32 - 1, got {brief(step)}")
        if not isinstance(purpose, Purpose):
            raise InvalidInput(f"purpose must be one of streams.Purpose, got {brief(purpose)}")
        self.runs = runs
        self._seed = check_seed(seed)
        self.agents = agents
        self._step = step
        self._first_draw = first_draw(purpose)
        self._draws = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Runs and agents: the shape of what a call returns."""
        return self.runs.size, self.agents.shape[1]

    def uniform(
        self, low: float = 0.0, high: float = 1.0, size: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """Uniform numbers in [low, high), of shape `(runs, agents, *size)`."""
        _check_draw(("low", low), ("high", high))
        self._check_size(size)
        draws = [
            kernels.numerics.streams.uniform(self._next(), self.agents, float(low), float(high))
            for _ in range(math.prod(size))
        ]
        return self._stack(draws, size)

    def normal(
        self, loc: float = 0.0, scale: float = 1.0, size: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """Normal numbers with mean loc and standard deviation scale."""
        _check_draw(("loc", loc), ("scale", scale))
        self._check_size(size)
        draws = [
            kernels.numerics.streams.normal(self._next(), self.agents, float(loc), float(scale))
            for _ in range(math.prod(size))
        ]
        return self._stack(draws, size)

    def coarse(self) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1) of 32 bits (runs, agents), in a quarter of the time."""
        return kernels.numerics.streams.coarse(self._next(), self.agents)

    def shared(self) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1), one for each run (runs,), the same for all its agents."""
        no_agent = np.zeros((1, 1), np.int32)
        return kernels.numerics.streams.uniform(self._next(), no_agent, 0.0, 1.0)[:, 0]

    def integers(
        self, low: int, high: int | None = None, size: tuple[int, ...] = ()
    ) -> NDArray[np.int64]:
        """Integers from low up to but not including high; with one argument, from 0 up to it."""
        first, end = (0, low) if high is None else (low, high)
        for bound in (first, end):
            if not is_integer(bound) or abs(bound) > 2**53:
                raise InvalidInput(f"integers needs integers up to 2**53, got {brief(bound)}")
        if not first < end:
            raise InvalidInput(f"integers needs low < high, got {first} and {end}")
        return first + (self.uniform(size=size) * (end - first)).astype(np.int64)

    def permutation(self) -> NDArray[np.int32]:
        """A uniformly random permutation of the agents' numbers in each run."""
        in_order = _are_in_order(self.agents)
        if not in_order and not 0 <= self.agents.min() <= self.agents.max() < self.shape[1]:
            raise InvalidInput(f"agents must be numbers from 0 to {self.shape[1] - 1}, got others")
        shuffled = kernels.numerics.streams.permutation(self._next(), self.shape[1])
        if in_order:
            return shuffled
        if self.agents.shape[0] == 1:
            return shuffled[:, self.agents[0]]
        return np.take_along_axis(shuffled, self.agents, axis=1)

    def _check_size(self, size: tuple[int, ...]) -> None:
        if isinstance(size, tuple) and not size:
            return
        if not isinstance(size, tuple) or not all(is_integer(n) and n > 0 for n in size):
            raise InvalidInput(f"size must be a tuple of positive integers, got {brief(size)}")
        left = MOST_DRAWS - self._draws
        if math.prod(map(int, size)) > left:
            raise InvalidInput(
                f"a stream gives at most {MOST_DRAWS} numbers for each agent and step, {left} are "
                f"left, got size={brief(size)}"
            )

    def _next(self) -> "kernels.numerics.streams.Counter":
        if self._draws == MOST_DRAWS:
            raise InvalidInput(
                f"a stream gives at most {MOST_DRAWS} numbers for each agent and step"
            )
        draw = self._first_draw + self._draws
        self._draws += 1
        return kernels.numerics.streams.Counter(self._seed, self.runs, self._step, draw)

    def _stack(
        self, draws: list[NDArray[np.float64]], size: tuple[int, ...]
    ) -> NDArray[np.float64]:
        if size == ():
            return draws[0]
        return np.stack(draws, axis=-1).reshape(*self.shape, *size)


@checked(but=("at", "counter", "rearranged"))
@dataclass(frozen=True)
class Streams:
    """The streams of a batch of runs: `streams.at(step, purpose)` is one of them.

    Parameters
    ----------
    seed
        Of all random numbers.
    runs
        (runs,): the number of each run.
    agents
        (runs or 1, agents): the number of the agent in each place.

    Examples
    --------
    >>> import swarmdp
    >>> from swarmdp.model.streams import Purpose
    >>> streams = swarmdp.model.Streams.of(seed=1, runs=[7], n_agents=3)    # as in a batch
    >>> streams.at(0, Purpose.INITIAL).shape
    (1, 3)

    """

    seed: Seed
    runs: NDArray[np.int64]
    agents: NDArray[np.int32]

    @classmethod
    def of(cls, seed: Seed, runs: ArrayLike, n_agents: AgentCount) -> "Streams":
        """The streams of these runs, agents in their own order."""
        numbers = np.atleast_1d(_integers("runs", runs))
        if numbers.ndim != 1:
            raise InvalidInput(f"runs must be run numbers of shape (runs,), got {numbers.shape}")
        if numbers.min(initial=0) < 0 or numbers.max(initial=0) >= _WORD:
            raise InvalidInput("run numbers must be from 0 to 2**32 - 1")
        return cls(seed, numbers, np.arange(n_agents, dtype=np.int32)[None])

    def __post_init__(self) -> None:
        if self.runs.ndim != 1 or self.agents.ndim != 2:
            raise InvalidInput(
                "runs must have the shape (runs,) and agents (runs or 1, agents), got "
                f"{self.runs.shape} and {self.agents.shape}: take Streams.of(seed, runs, n_agents)"
            )

    def at(self, step: int, purpose: Purpose) -> Stream:
        """The stream for one purpose at one time step."""
        return Stream(self.seed, self.runs, self.agents, step, purpose)

    def counter(self, step: int, purpose: Purpose) -> "kernels.numerics.streams.Counter":
        """What the first draw of `at(step, purpose)` is computed from, for kernels that draw."""
        return kernels.numerics.streams.Counter(self.seed, self.runs, step, int(purpose) << 16)

    def rearranged(self, order: NDArray[np.integer]) -> "Streams":
        """The same streams for agents put in another order (runs, agents)."""
        order, agents = _integers("order", order), self.agents.shape[1]
        if order.shape != (len(self.runs), agents):
            raise InvalidInput(
                f"order must have the shape {(len(self.runs), agents)}, got {order.shape}"
            )
        if order.size and not 0 <= order.min() <= order.max() < agents:
            raise InvalidInput(f"order must be places from 0 to {agents - 1}, got others")
        moved = np.take_along_axis(np.broadcast_to(self.agents, order.shape), order, axis=1)
        # Rows in sequence: kernels do not vectorise over strided ones.
        return Streams(self.seed, self.runs, np.ascontiguousarray(moved))


def is_in_order(streams: Streams) -> bool:
    """Whether the agents of all runs are 0, 1, 2, ..., in this order."""
    return _are_in_order(streams.agents)


def _are_in_order(agents: NDArray[np.int32]) -> bool:
    return len(agents) == 1 and bool((agents[0] == np.arange(agents.shape[1])).all())


def _integers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """Integers as an array; raises InvalidInput for anything else."""
    array: NDArray[np.int64] = numbers_of(name, values, np.int64)
    return array


def _check_draw(*bounds: tuple[str, float]) -> None:
    for name, value in bounds:
        if not is_number(value) or not -1e300 < value < 1e300:
            raise InvalidInput(f"{name} must be a finite number, got {brief(value)}")
