"""Ours in theirs: a system as a PettingZoo environment."""

import math
from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

from swarmdp.envs.drawing import rgb_image
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State, System, check_is_system, class_map, classes, name_of
from swarmdp.model.traits import Pictured, field_of
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief, check_integer, check_seed
from swarmdp.support.errors import InvalidInput

_FARTHEST = float(np.finfo(np.float32).max)  # learners ask for bounds; these hold for everything
FRAMES = 15  # of a second, shown to a person
MOST_READY = 10**6  # numbers of vectors that are made beforehand

ObservationKind = Literal["class", "physical"]
_ByAgent = dict[str, Any]


@checked
def parallel_env(
    system: System,
    *,
    reward: Reward | None = None,
    max_cycles: int = 100,
    observation: ObservationKind = "class",
    render_mode: Literal["rgb_array", "human"] | None = None,
) -> "SwarmEnv":
    """A swarm as a parallel environment of PettingZoo, rewarded by a learned reward.

    `reset(seed=s)` starts run 0 of `swarmdp.rollout(system, ..., seed=s)`, to the bit, and every
    further `reset()` the next run of it. Nothing ends before `max_cycles`: all agents are then
    truncated. The reward of a step is R(o) of the observation in which the action was taken, so
    that the discounted sum of rewards is the value that `swarmdp.fit` learns with.

    Parameters
    ----------
    system
        Any system.
    reward
        What agents are rewarded for, such as `result.reward`; nothing by default.
    max_cycles
        The number of steps of an episode.
    observation
        What agents observe: the "class" of their observation, as one 1 among zeros (for each
        component of a product), or the "physical" observation as numbers (k,).
    render_mode
        What `render` does, if the system has a picture: return pixels ("rgb_array") or show them
        in a window ("human", which needs pygame).

    Returns
    -------
    SwarmEnv
        An environment with `state()` and `state_space`: all arrays of the swarm's state, flat.

    Raises
    ------
    InvalidInput
        If the reward does not fit the system, or PettingZoo is not installed.

    Examples
    --------
    >>> import swarmdp
    >>> from swarmdp.envs import parallel_env
    >>> env = parallel_env(swarmdp.Vicsek(n_agents=10), max_cycles=5)
    >>> observations, infos = env.reset(seed=1)
    >>> len(env.agents), env.action_space("agent_0")
    (10, Discrete(13))
    >>> steps = 0
    >>> while env.agents:
    ...     _ = env.step({agent: 0 for agent in env.agents})
    ...     steps += 1
    >>> steps
    5

    """
    return SwarmEnv(system, reward, max_cycles, observation, render_mode)


@checked
def env(
    system: System,
    *,
    reward: Reward | None = None,
    max_cycles: int = 100,
    observation: ObservationKind = "class",
    render_mode: Literal["rgb_array", "human"] | None = None,
) -> AECEnv[str, Any, Any]:
    """A swarm as an environment of PettingZoo whose agents act in turn (AEC).

    All agents choose before anything moves.

    Parameters
    ----------
    system
        As for `parallel_env`.
    reward
        As for `parallel_env`.
    max_cycles
        As for `parallel_env`.
    observation
        As for `parallel_env`.
    render_mode
        As for `parallel_env`.

    Returns
    -------
    AECEnv
        An environment of PettingZoo.

    Raises
    ------
    InvalidInput
        If the reward does not fit the system, or PettingZoo is not installed.

    Examples
    --------
    >>> import swarmdp
    >>> from swarmdp import envs
    >>> env = envs.env(swarmdp.Vicsek(n_agents=3), max_cycles=2)
    >>> env.reset(seed=1)
    >>> turns = 0
    >>> for agent in env.agent_iter():
    ...     _, _, terminated, truncated, _ = env.last()
    ...     env.step(None if truncated else 0)
    ...     turns += 1
    >>> turns
    9

    """
    return parallel_to_aec(SwarmEnv(system, reward, max_cycles, observation, render_mode))


class SwarmEnv(ParallelEnv[str, Any, Any]):  # type: ignore[misc]
    """A parallel environment of PettingZoo; `swarmdp.envs.parallel_env` makes it.

    Parameters
    ----------
    system, reward, max_cycles, observation, render_mode
        As for `parallel_env`.

    Examples
    --------
    >>> import swarmdp
    >>> env = swarmdp.envs.parallel_env(swarmdp.Vicsek(n_agents=3), max_cycles=2)
    >>> observations, infos = env.reset(seed=1)
    >>> len(observations)
    3

    """

    metadata: dict[str, Any] = {"name": "swarmdp", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        system: System,
        reward: Reward | None,
        max_cycles: int,
        observation: ObservationKind,
        render_mode: str | None,
    ) -> None:
        check_is_system(system)
        check_integer("max_cycles", max_cycles, least=1)
        if observation not in ("class", "physical"):
            raise InvalidInput(
                f'observation must be "class" or "physical", got {brief(observation)}'
            )
        self.system = system
        self.max_cycles = int(max_cycles)
        self.possible_agents = [f"agent_{n}" for n in range(system.n_agents)]
        self.agents: list[str] = []
        modes = ["rgb_array", "human"] if isinstance(system, Pictured) else []
        if render_mode is not None and render_mode not in modes:
            expected = f"one of {', '.join(modes)}" if modes else "None, since it has no picture"
            raise InvalidInput(
                f"render_mode of {name_of(system)} must be {expected}, got {brief(render_mode)}"
            )
        self.metadata = {
            "name": f"swarmdp_{name_of(system).lower()}",
            "render_modes": modes,
            "render_fps": FRAMES,
            "is_parallelizable": True,
        }
        self.render_mode = render_mode
        self._physical = np.asarray(system.actions)
        self._coding = _OneHot(system) if observation == "class" else _Numbers(system)
        self._rewarding = None if reward is None else _Rewarding(system, reward)
        self._classified = isinstance(system.features, Classes)
        # One space for each agent, and always the same: learners seed them one by one.
        self._action_spaces = {
            agent: spaces.Discrete(len(self._physical)) for agent in self.possible_agents
        }
        self._observation_spaces = {agent: self._coding.space() for agent in self.possible_agents}
        start = system.initial(Streams.of(0, [0], system.n_agents).at(0, Purpose.INITIAL))
        self.state_space = spaces.Box(-_FARTHEST, _FARTHEST, (len(_flat(start)),), np.float64)
        self._never = dict.fromkeys(self.possible_agents, False)
        self._seed: int | None = None
        self._run = 0
        self._cycle = 0
        self._state: State | None = None
        self._window: Any = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what this agent observes."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The indices of the system's actions."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_ByAgent, _ByAgent]:
        """Start run 0 of this seed, or without a seed the next run of the last one."""
        if seed is not None:
            self._seed, self._run = check_seed(seed), 0
        elif self._seed is None:
            self._seed, self._run = int(np.random.SeedSequence().generate_state(1)[0]), 0
        else:
            self._run += 1
        self.agents = self.possible_agents[:]
        self._cycle = 0
        self._streams = Streams.of(self._seed, [self._run], self.system.n_agents)
        self._state = self.system.initial(self._streams.at(0, Purpose.INITIAL))
        self._look()
        if self.render_mode == "human":
            self.render()
        return self._observations(), {agent: {} for agent in self.agents}

    def step(self, actions: _ByAgent) -> tuple[_ByAgent, _ByAgent, _ByAgent, _ByAgent, _ByAgent]:
        """Move the swarm: observations, rewards, terminations, truncations, infos."""
        agents = self.agents
        if not agents or self._state is None:
            raise InvalidInput("the episode is over, or has not begun: call reset")
        chosen = self._indices(actions)
        system, rewards = self.system, self._rewards()
        rng = self._streams.at(self._cycle, Purpose.TRANSITION)
        self._state = system.transition(self._state, self._physical[chosen][None], rng)
        self._look()
        self._cycle += 1
        over = self._cycle >= self.max_cycles
        if self.render_mode == "human":
            self.render()
        result: tuple[_ByAgent, _ByAgent, _ByAgent, _ByAgent, _ByAgent] = (
            self._observations(),
            dict(zip(agents, rewards, strict=True)),
            self._never.copy(),
            dict.fromkeys(agents, True) if over else self._never.copy(),
            {agent: {} for agent in agents},
        )
        if over:
            self.agents = []
        return result

    def state(self) -> NDArray[np.float64]:
        """All arrays of the swarm's state, one after another, flat."""
        return _flat(self._current_state())

    def render(self) -> NDArray[np.uint8] | None:
        """Pixels (height, width, 3), or None after showing them in a window."""
        if self.render_mode is None:
            raise InvalidInput('nothing to render: make it with render_mode="rgb_array" or "human"')
        system, state = self.system, self._current_state()
        assert isinstance(system, Pictured)
        moment = {
            name: array if field_of(system, name).constant else array[:, None]
            for name, array in state.items()
        }
        image = rgb_image(system.picture(moment, 0))
        if self.render_mode == "rgb_array":
            return image
        self._window = self._window or _Window(image.shape[1], image.shape[0])
        self._window.show(image)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _look(self) -> None:
        """Observe the swarm: the physical observations, and their classes if there are some."""
        assert self._state is not None
        self._raw = self.system.observe(self._state)
        self._index = classes(self.system, self._raw)[0] if self._classified else None

    def _current_state(self) -> State:
        if self._state is None:
            raise InvalidInput("there is no state yet: call reset")
        return self._state

    def _indices(self, actions: _ByAgent) -> NDArray[np.int64]:
        """The action of each agent, checked."""
        try:
            indices = np.array(list(map(actions.__getitem__, self.agents)))
        except KeyError as missing:
            raise InvalidInput(f"every agent needs an action, got none for {missing}") from None
        if indices.dtype.kind not in "iu" or indices.shape != (len(self.agents),):
            raise InvalidInput(
                f"an action must be an integer from 0 to {len(self._physical) - 1}, got "
                f"{brief(actions[self.agents[0]])}"
            )
        low, high = indices.min(), indices.max()
        if low < 0 or high >= len(self._physical):
            wrong = low if low < 0 else high
            raise InvalidInput(
                f"an action must be an integer from 0 to {len(self._physical) - 1}, got {wrong}"
            )
        return indices

    def _rewards(self) -> list[float]:
        if self._rewarding is None:
            return [0.0] * len(self.agents)
        return self._rewarding.of(self._raw, self._index)

    def _observations(self) -> _ByAgent:
        return dict(zip(self.possible_agents, self._coding.of(self._raw, self._index), strict=True))


class _Rewarding:
    """The reward of each agent for what it observed."""

    def __init__(self, system: System, reward: Reward) -> None:
        if reward.replicas != 1:
            raise InvalidInput(
                f"an environment has one reward, got {reward.replicas} replicas: choose one, "
                "swarmdp.Reward(reward.weights[0])"
            )
        self._system, self._reward = system, reward
        self._table = None
        if isinstance(system.features, Classes):
            self._table = reward.of_classes(system)[0]

    def of(self, raw: NDArray[Any], index: NDArray[np.integer] | None) -> list[float]:
        """One number for each agent."""
        if self._table is not None and index is not None:
            rewards = self._table[index]
        else:
            rewards = self._reward.of(self._system, raw, np.zeros(1, np.int64))[0]
        plain: list[float] = rewards.tolist()
        return plain


class _OneHot:
    """Classes as vectors of zeros with a single 1, for each component of a product.

    The vectors of few classes are made once, and read only.
    """

    def __init__(self, system: System) -> None:
        features = class_map(system)
        sizes = tuple(len(axis.values) for axis in features.axes)
        if math.prod(sizes) != features.size:
            sizes = (features.size,)
        self._sizes = sizes
        self._codes = [np.eye(size, dtype=np.float32) for size in sizes]
        self._ready: list[NDArray[np.float32]] = []
        if features.size * sum(sizes) <= MOST_READY:
            table = self._codes_of(np.arange(features.size))
            table.setflags(write=False)
            self._ready = list(table)

    def space(self) -> spaces.Space[Any]:
        return spaces.Box(0.0, 1.0, (sum(self._sizes),), np.float32)

    def of(self, raw: NDArray[Any], index: NDArray[np.integer] | None) -> list[NDArray[np.float32]]:
        assert index is not None
        if self._ready:
            return list(map(self._ready.__getitem__, index.tolist()))
        return list(self._codes_of(index))

    def _codes_of(self, index: NDArray[np.integer]) -> NDArray[np.float32]:
        parts = np.unravel_index(index, self._sizes)
        codes = [code[part] for code, part in zip(self._codes, parts, strict=True)]
        return np.concatenate(codes, axis=1)


class _Numbers:
    """Physical observations as vectors."""

    def __init__(self, system: System) -> None:
        start = system.initial(Streams.of(0, [0], system.n_agents).at(0, Purpose.INITIAL))
        self._size = math.prod(system.features.shape)
        self._whole = system.observe(start).dtype.kind in "iub"

    def space(self) -> spaces.Space[Any]:
        if self._whole:
            return spaces.Box(-(2**31), 2**31 - 1, (self._size,), np.int64)
        return spaces.Box(-_FARTHEST, _FARTHEST, (self._size,), np.float64)

    def of(self, raw: NDArray[Any], index: NDArray[np.integer] | None) -> list[NDArray[Any]]:
        kind = np.int64 if self._whole else np.float64
        return list(np.asarray(raw[0], kind).reshape(-1, self._size))


class _Window:
    """A window of pygame."""

    def __init__(self, width: int, height: int) -> None:
        try:
            import pygame
        except ModuleNotFoundError:
            raise InvalidInput(
                'render_mode="human" needs pygame: pip install pygame-ce, or use "rgb_array"'
            ) from None
        self._pygame = pygame
        pygame.display.init()
        self._screen = pygame.display.set_mode((width, height))
        pygame.display.set_caption("swarmdp")
        self._clock = pygame.time.Clock()

    def show(self, image: NDArray[np.uint8]) -> None:
        pygame = self._pygame
        pygame.event.pump()
        surface = pygame.surfarray.make_surface(image.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        pygame.display.flip()
        self._clock.tick(FRAMES)

    def close(self) -> None:
        self._pygame.display.quit()


def _flat(state: State) -> NDArray[np.float64]:
    """All arrays of one run, one after another."""
    return np.concatenate([np.asarray(array[0], np.float64).ravel() for array in state.values()])
