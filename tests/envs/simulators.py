"""Small simulators of a user's own, good ones and bad ones."""

import itertools
import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

Ints = NDArray[np.int64]


class Walkers:
    """Six walkers on a line who see on which side home is; wind shifts each of them."""

    def reset(self, seed: int) -> Ints:
        self.rng = np.random.default_rng(seed)
        self.place = self.rng.integers(-6, 7, size=6)
        return self.seen()

    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        self.place = self.place + actions + (self.rng.random(6) < 0.1)
        return self.seen(), -np.abs(self.place).astype(np.float64)

    def seen(self) -> Ints:
        return np.sign(self.place) + 1

    def places(self) -> NDArray[np.float64]:
        return np.stack([self.place, np.zeros(6)], axis=1)


class Deadline(Walkers):
    """An episode of five steps."""

    def reset(self, seed: int) -> Ints:
        self.time = 0
        return super().reset(seed)

    def step(self, actions: Ints) -> Any:
        self.time += 1
        return *super().step(actions), self.time == 5


class NoSeed(Walkers):
    resets = itertools.count()

    def reset(self, seed: int) -> Ints:
        super().reset(seed)
        self.place = np.full(6, next(self.resets) % 3 - 1)  # elsewhere than the last two times
        return self.seen()


class GlobalSeed(Walkers):
    """Repeats itself alone, but not beside another copy."""

    def reset(self, seed: int) -> Ints:
        np.random.seed(seed)  # noqa: NPY002
        return super().reset(seed)

    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        return super().step(actions + np.random.randint(2, size=6))  # noqa: NPY002


class LateNoise(Walkers):
    """Forgets its seed after the trial."""

    def reset(self, seed: int) -> Ints:
        self.time = 0
        return super().reset(seed)

    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        self.time += 1
        if self.time > 14:
            self.rng = np.random.default_rng()
            self.place = self.rng.integers(-6, 7, size=6)
        return super().step(actions)


class Raises(Walkers):
    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        raise RuntimeError("wheel lost\nand more")


class Prints(Walkers):
    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        print("I walk")
        return super().step(actions)


class Window(Walkers):
    render_mode = "human"


class Dies(Walkers):
    def step(self, actions: Ints) -> tuple[Ints, NDArray[np.float64]]:
        seen, rewards = super().step(actions)
        return seen[:5], rewards[:5]


class Appears(Walkers):
    def step(self, actions: Ints) -> Any:
        return np.append(super().step(actions)[0], 1)


class Uneven(Walkers):
    def reset(self, seed: int) -> Any:
        return [np.zeros(2), np.zeros(3)]


class NotFinite(Walkers):
    def step(self, actions: Ints) -> Any:
        return np.full(6, np.nan)


class TooMuch(Walkers):
    def step(self, actions: Ints) -> Any:
        return 1, 2, 3, 4


class NoStep:
    def reset(self, seed: int) -> Ints:
        return np.zeros(3, np.int64)


class Exits(Walkers):
    """Ends its process, but not the one that made it."""

    def reset(self, seed: int) -> Ints:
        if multiprocessing.parent_process() is not None:
            os._exit(1)
        return super().reset(seed)


class Zoo(ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """The walkers as an environment of PettingZoo; action 2 does nothing."""

    metadata = {"name": "zoo_v0", "render_modes": []}  # noqa: RUF012
    shapes: tuple[int, ...] = ()
    lost: str | None = None
    new: str | None = None

    def __init__(self, cycles: int = 30, render_mode: str | None = None) -> None:
        self.cycles, self.render_mode = cycles, render_mode
        self.possible_agents = [f"walker_{n}" for n in range(6)]
        self.agents: list[str] = []
        self.walkers = Walkers()

    def observation_space(self, agent: str) -> Any:
        return spaces.Discrete(3)

    def action_space(self, agent: str) -> Any:
        return spaces.Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.time, self.agents = 0, self.possible_agents[:]
        assert seed is not None
        return self._by_agent(self.walkers.reset(seed)), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        moves = np.array([(-1, 1, 0)[actions[agent]] for agent in self.possible_agents])
        seen, rewards = self.walkers.step(moves)
        self.time += 1
        ended = {agent: agent == self.lost for agent in self.agents}
        cut = dict.fromkeys(self.agents, self.time == self.cycles)
        observations = self._by_agent(seen)
        if self.new is not None:
            observations[self.new] = np.int64(0)
        return observations, dict(zip(self.agents, rewards.tolist(), strict=True)), ended, cut, {}

    def _by_agent(self, seen: Ints) -> dict[str, Any]:
        return dict(zip(self.possible_agents, seen, strict=True))


class ZooDies(Zoo):
    lost = "walker_3"


class ZooAppears(Zoo):
    new = "walker_9"


class ZooUneven(Zoo):
    def _by_agent(self, seen: Ints) -> dict[str, Any]:
        return {agent: np.zeros(2 + (n == 4)) for n, agent in enumerate(self.possible_agents)}


class ZooOfTeams(Zoo):
    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = [f"{team}_{n}" for team in ("red", "blue") for n in range(3)]


class ZooOfDicts(Zoo):
    def _by_agent(self, seen: Ints) -> dict[str, Any]:
        return {agent: {"mask": 1} for agent in self.possible_agents}


def unpicklable() -> Callable[[], Walkers]:
    return lambda: Walkers()
