"""One live copy of somebody else's simulator, held to what a swarm is.

A copy is asked for frames: what all agents observe, their rewards, and whether the episode is over.
Whatever is wrong with the simulator is said here, in one line that names the step and the seed.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput, SwarmdpWarning

Observe = Callable[[NDArray[Any]], NDArray[Any]]
Locate = Callable[[Any], NDArray[Any]]
Flavour = Literal["pettingzoo", "step"]

ALIKE = "a swarm has always the same agents, all alike"
PROBED = 12  # steps of a trial
_ALONE = 8  # agents whose observations are looked at one by one


@dataclass(frozen=True, eq=False)
class SimulatorFrame:
    """What a simulator shows at one time, agents in its own order."""

    observations: NDArray[Any]  # (agents, *shape), after `observe`
    rewards: NDArray[np.float64]  # (agents,), of the step that led here
    over: bool  # the episode has ended
    positions: NDArray[np.float64] | None  # (agents, axes)

    def equals(self, other: "SimulatorFrame") -> bool:
        """Whether both are the same to the bit."""
        same = np.array_equal(self.observations, other.observations)
        if self.positions is not None and other.positions is not None:
            same = same and np.array_equal(self.positions, other.positions)
        return same and np.array_equal(self.rewards, other.rewards) and self.over == other.over


@dataclass(frozen=True, eq=False)
class Recipe:
    """How to make a copy, and how to look at it; goes to other processes as it is."""

    flavour: Flavour
    make: Callable[[], Any]
    observe: Observe | None
    positions: Locate | None
    actions: tuple[Any, ...]  # as the simulator takes them

    def build(self) -> "Copy":
        """A new copy, checked."""
        try:
            made = self.make()
        except Exception as error:
            raise _located_error(error, "make") from _cause(error)
        if isinstance(made, type) or callable(made):
            raise InvalidInput(
                f"make must be a function that returns a new simulator, it returned {brief(made)}"
            )
        # Foreign objects: wrappers of PettingZoo pass on what the environment inside has.
        if getattr(getattr(made, "unwrapped", made), "render_mode", None) == "human":
            raise InvalidInput(
                'the simulator holds a window (render_mode="human"): make it without one, '
                "since many copies run side by side"
            )
        if self.flavour == "pettingzoo":
            return Copy(self, _PettingZoo.of(made, self.actions))
        return Copy(self, _Plain.of(made))


@dataclass(eq=False)
class Copy:
    """A live copy, and where it is."""

    recipe: Recipe
    engine: "_Engine"
    seed: int = 0
    time: int = 0

    def reset(self, seed: int) -> SimulatorFrame:
        """Start an episode."""
        self.seed, self.time = seed, 0
        try:
            raw = self.engine.reset(seed)
            return self._frame(raw, np.zeros(len(raw)), over=False)
        except Exception as error:
            raise _located_error(error, f"reset(seed={seed})") from _cause(error)

    def step(self, choice: Sequence[int]) -> SimulatorFrame:
        """Let all agents act, given the indices of their actions."""
        self.time += 1
        actions = self.recipe.actions
        try:
            raw, rewards, over = self.engine.step([actions[index] for index in choice])
            return self._frame(raw, rewards, over)
        except Exception as error:
            where = f"step {self.time} after reset(seed={self.seed})"
            raise _located_error(error, where) from _cause(error)

    def _frame(self, raw: NDArray[Any], rewards: NDArray[np.float64], over: bool) -> SimulatorFrame:
        recipe = self.recipe
        seen = raw if recipe.observe is None else np.asarray(recipe.observe(raw))
        if seen.ndim < 1 or len(seen) != len(raw) or seen.dtype.kind not in "iufb":
            raise InvalidInput(
                f"observe must return numbers (agents, ...) from raw observations {raw.shape}, "
                f"got {brief(seen)}"
            )
        places = None
        if recipe.positions is not None:
            places = np.array(recipe.positions(self.engine.simulator), np.float64)
            if places.ndim != 2 or len(places) != len(raw):
                raise InvalidInput(
                    f"positions must return numbers (agents, axes) = ({len(raw)}, ...), got "
                    f"{brief(places)}"
                )
        for name, array in (("observations", seen), ("rewards", rewards), ("positions", places)):
            if array is not None and array.dtype.kind == "f" and not np.isfinite(array).all():
                raise InvalidInput(f"the {name} have NaN or infinite values")
        return SimulatorFrame(seen, rewards, over, places)


class _Engine(Protocol):
    """A simulator as copies see it: arrays in the order of its agents."""

    simulator: Any

    def reset(self, seed: int) -> NDArray[Any]: ...

    def step(self, actions: list[Any]) -> tuple[NDArray[Any], NDArray[np.float64], bool]: ...


@dataclass(eq=False)
class _PettingZoo:
    """A parallel environment of PettingZoo."""

    simulator: Any
    agents: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, made: Any, actions: Sequence[Any]) -> "_PettingZoo":
        from pettingzoo import AECEnv, ParallelEnv
        from pettingzoo.utils.conversions import aec_to_parallel

        if isinstance(made, AECEnv):
            made = aec_to_parallel(made)
        if not isinstance(made, ParallelEnv):
            raise InvalidInput(
                f"make_env must return an environment of PettingZoo, it returned {brief(made)}: "
                "use swarmdp.envs.from_step for other simulators"
            )
        agents = list(made.possible_agents)
        _check_one_team(agents)
        for agent in agents:
            space = made.action_space(agent)
            for action in actions:
                if not space.contains(action):
                    raise InvalidInput(
                        f"agent {agent} cannot act so: {brief(action)} is not in {space}; give "
                        "actions that all agents have"
                    )
        return cls(made, agents)

    def reset(self, seed: int) -> NDArray[Any]:
        observations, _ = self.simulator.reset(seed=seed)
        return self._stack(observations)

    def step(self, actions: list[Any]) -> tuple[NDArray[Any], NDArray[np.float64], bool]:
        agents = self.agents
        observations, rewards, ended, cut, _ = self.simulator.step(
            dict(zip(agents, actions, strict=True))
        )
        gone = [bool(ended.get(a, False) or cut.get(a, False)) for a in agents]
        if any(gone) and not all(gone):
            raise InvalidInput(
                f"agent {agents[gone.index(True)]} is done while others go on: {ALIKE}"
            )
        earned = np.array([rewards.get(agent, 0.0) for agent in agents], np.float64)
        return self._stack(observations), earned, all(gone)

    def _stack(self, observations: Mapping[Any, Any]) -> NDArray[Any]:
        if len(observations) != len(self.agents) or any(
            agent not in observations for agent in self.agents
        ):
            absent = [agent for agent in self.agents if agent not in observations]
            more = [agent for agent in observations if agent not in self.agents]
            what = f"{absent[0]} is missing" if absent else f"{more[0]} is new"
            raise InvalidInput(f"agent {what}: {ALIKE}")
        return _stack_observations([observations[agent] for agent in self.agents], self.agents)


def _check_one_team(agents: list[Any]) -> None:
    """Raise InvalidInput if agents' names, such as red_0 and blue_0, are of several teams."""
    parts = [re.fullmatch(r"(.*?)[_ -]?\d+", str(agent)) for agent in agents]
    teams = list(dict.fromkeys(part[1] for part in parts if part is not None))
    if None not in parts and len(teams) > 1:
        raise InvalidInput(
            f"the agents are of several teams: {', '.join(map(repr, teams))}. Agents of a swarm "
            "are interchangeable: wrap the environment so that only one team is controlled and "
            "the other is part of it, or write a system and use swarmdp.with_kinds"
        )


@dataclass(eq=False)
class _Plain:
    """Anything with reset(seed) and step(actions)."""

    simulator: Any
    count: int | None = None

    @classmethod
    def of(cls, made: Any) -> "_Plain":
        for name in ("reset", "step"):
            if not callable(getattr(made, name, None)):
                raise InvalidInput(f"a simulator needs a method {name}, {brief(made)} has none")
        return cls(made)

    def reset(self, seed: int) -> NDArray[Any]:
        return self._check_observations(self.simulator.reset(seed))

    def step(self, actions: list[Any]) -> tuple[NDArray[Any], NDArray[np.float64], bool]:
        answer = self.simulator.step(np.array(actions))
        parts = answer if isinstance(answer, tuple) else (answer,)
        if not 1 <= len(parts) <= 3:
            raise InvalidInput(
                "step must return observations, (observations, rewards) or (observations, rewards, "
                f"over), got {len(parts)} parts"
            )
        observations = self._check_observations(parts[0])
        rewards = np.zeros(len(observations))
        if len(parts) > 1:
            rewards[...] = parts[1]
        return observations, rewards, len(parts) > 2 and bool(parts[2])

    def _check_observations(self, observations: Any) -> NDArray[Any]:
        if isinstance(observations, np.ndarray):
            array = observations.copy()  # it may be the simulator's own memory
        else:
            array = _stack_observations(
                list(observations), [f"agent {n}" for n in range(len(observations))]
            )
        if array.ndim == 0 or array.dtype.kind not in "iufb":
            raise InvalidInput(f"observations must be numbers (agents, ...), got {brief(array)}")
        if self.count is not None and len(array) != self.count:
            more = "appeared" if len(array) > self.count else "died"
            raise InvalidInput(f"agents {more}: {self.count} became {len(array)}; {ALIKE}")
        self.count = len(array)
        return array


class _Listener(io.TextIOBase):
    """Hears what a simulator prints, and remembers how it began."""

    def __init__(self) -> None:
        self.heard = ""
        self.warned = False

    def write(self, text: str) -> int:
        if not self.warned and len(self.heard) < 60:
            self.heard += text
        return len(text)


_LISTENER = _Listener()


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Drop what simulators print, and say so once."""
    with contextlib.redirect_stdout(_LISTENER):
        yield
    heard = _LISTENER.heard.strip()
    if heard and not _LISTENER.warned:
        _LISTENER.warned = True
        warnings.warn(
            f"the simulator prints ({heard.splitlines()[0][:40]!r}, ...): its output is dropped",
            SwarmdpWarning,
            stacklevel=3,
        )


def _located_error(error: Exception, where: str) -> InvalidInput:
    """The error, with where it happened, in one line."""
    first = (str(error).splitlines() or [""])[0]
    if isinstance(error, InvalidInput):
        return InvalidInput(f"in {where}: {first}")
    return InvalidInput(f"the simulator raised {type(error).__name__} in {where}: {first}")


def _cause(error: Exception) -> Exception | None:
    """What to show as the cause: nothing, if it was said already."""
    return None if isinstance(error, InvalidInput) else error


def hear_nothing() -> None:
    """Drop what simulators print, without a word: somebody else has said so already."""
    _LISTENER.warned = True


def _stack_observations(observations: list[Any], agents: Sequence[Any]) -> NDArray[Any]:
    """The raw observations of all agents as one array (agents, ...)."""
    arrays = [np.asarray(observation) for observation in observations]
    for agent, array in zip(agents, arrays, strict=True):
        if array.dtype.kind not in "iufb":
            raise InvalidInput(
                f"the observation of {agent} must be an array of numbers, got {brief(array)}: wrap "
                "the simulator so that it is"
            )
        if array.shape != arrays[0].shape:
            raise InvalidInput(
                f"observations of different shapes: {arrays[0].shape} of {agents[0]} and "
                f"{array.shape} of {agent}; {ALIKE}"
            )
    return np.array(arrays)


@silenced()
def try_out(recipe: Recipe, count: int) -> tuple[Copy, list[SimulatorFrame]]:
    """A copy, and the frames of a short trial with random ones of `count` actions.

    Raises InvalidInput unless every copy repeats them from the same seed: after another episode, in
    a new copy, and with another copy stepped in between.
    """
    rng = np.random.default_rng(0)
    first, second = recipe.build(), recipe.build()
    start = first.reset(1)
    choices = rng.integers(count, size=(PROBED, len(start.observations))).tolist()
    frames = [start, *_steps(first, choices)]
    for again in (first, second):
        repeated = [again.reset(1)]
        if not repeated[0].equals(start):
            raise _not_repeated(0)
        other = second if again is first else first
        other.reset(2)
        busy = True
        for time, choice in enumerate(choices[: len(frames) - 1], start=1):
            if busy:
                busy = not other.step(choice[::-1]).over
            if not again.step(choice).equals(frames[time]):
                raise _not_repeated(time)
    _check_local(recipe, first)
    return first, frames


def _steps(copy: Copy, choices: list[list[int]]) -> Iterator[SimulatorFrame]:
    for choice in choices:
        frame = copy.step(choice)
        yield frame
        if frame.over:
            return


def _not_repeated(time: int) -> InvalidInput:
    return InvalidInput(
        "the simulator ignores its seed: reset(seed=1) and the same actions led elsewhere at "
        f"step {time} the second time. Draw all its random numbers from a generator of its own, "
        "which reset(seed) makes (no global np.random, no clock), and keep nothing from the last "
        "episode"
    )


def _check_local(recipe: Recipe, copy: Copy) -> None:
    """Whether `observe` looks at each agent alone."""
    if recipe.observe is None:
        return
    raw = copy.engine.reset(1)
    whole, order = np.asarray(recipe.observe(raw)), np.arange(len(raw))[::-1]
    same = np.array_equal(np.asarray(recipe.observe(raw[order])), whole[order])
    for n in range(min(len(raw), _ALONE)):
        alone = np.asarray(recipe.observe(raw[n : n + 1]))
        same = same and np.array_equal(alone, whole[n : n + 1])
    if not same:
        raise InvalidInput(
            "observe must look at the raw observation of each agent alone, row by row: it gave "
            "other values when the agents were in another order, or one by itself"
        )
