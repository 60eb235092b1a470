"""A black-box simulator with homogeneous agents as a system.

States are remembered as what led to them: the seed of the episode and all actions since. A live
copy is stepped in place, any other history is replayed from its seed. So the system is a pure
function as every other, and `swarmdp.testing.check_system` passes exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as data_field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.envs.copies import Copies, Processes, Question
from swarmdp.envs.simulators import Recipe, SimulatorFrame
from swarmdp.model.features import FeatureMap
from swarmdp.model.features.plain import describe_features
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, Measure, Mirror, State, check_run, check_stream
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import InvalidInput

_SEEDS = 2**31 - 1  # of episodes: some simulators take no more
HIDDEN: Literal["hidden"] = "hidden"

OnEnd = Literal["reset", "hold", "error"]


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A simulator as a system; `from_pettingzoo` and `from_step` make it.

    Parameters
    ----------
    n_agents
        The number of agents.
    actions
        (n_actions,): the physical value of each action.
    features
        What learning sees of an observation.
    null
        The index of the action that does nothing.
    mirror
        The mirror, where there is one.
    script
        The expert, where there is one.
    on_end
        What happens when an episode ends.
    horizon
        The longest run, in steps.
    processes
        The number of processes; 0 for this one.
    system_name
        What it is called in files.
    own_settings
        Plain data that tells it from others.
    observed
        The type of an observation.
    axes
        The number of axes of a position; 0 if positions are not known.
    period
        After which a position begins again.
    recipe
        How to make the simulator and look at it.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> class Walkers:
    ...     def reset(self, seed):
    ...         self.place = np.random.default_rng(seed).integers(-5, 6, size=4)
    ...         return np.sign(self.place) + 1
    ...     def step(self, actions):
    ...         self.place = self.place + actions
    ...         return np.sign(self.place) + 1
    ...
    >>> box = swarmdp.envs.from_step(Walkers, features=swarmdp.Levels(3), actions=[-1, 0, 1])
    >>> box.n_agents, box.null
    (4, 1)

    """

    n_agents: int
    actions: NDArray[Any]
    features: FeatureMap
    null: int
    mirror: Mirror | None
    script: Callable[[NDArray[Any]], NDArray[Any]] | None
    on_end: OnEnd
    horizon: int
    processes: int
    system_name: str
    own_settings: Mapping[str, Any]
    observed: np.dtype[Any]
    axes: int
    period: float | None
    recipe: Recipe = data_field(repr=False)

    def initial(self, rng: Stream) -> State:
        """Begin an episode in each run, the agents in the simulator's places at random."""
        check_stream(rng)
        seeds = (rng.shared() * _SEEDS).astype(np.int64)
        slots = rng.permutation().astype(np.int32)
        return self._first_states(seeds, slots)

    def observe(self, state: State) -> NDArray[Any]:
        """The observations that the simulator gave the agents."""
        return state["observation"]

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Step a copy of the simulator for each run."""
        check_stream(rng, state["seed"].shape)
        choice = self._indices(actions)
        slots, times, history = state["slot"], state["clock"][:, 0], state["history"]
        going = ~state["over"][:, 0]
        if going.any() and int(times[going].max()) >= self.horizon:
            raise InvalidInput(
                f"an episode of {self.system_name} has more than {self.horizon} steps: give "
                f"swarmdp.envs.from_...(horizon=...) as many as the longest one has"
            )
        rows = np.flatnonzero(going)
        order = np.argsort(slots, axis=1)  # the agent in each place of the simulator
        run = np.arange(len(order))[:, None]
        acts, seen = choice[run, order], state["observation"][run, order]
        ends, seeds = times.tolist(), state["seed"][:, 0].tolist()
        questions = [
            Question(seeds[r], history[r, order[r], : ends[r]].T, acts[r], seen[r])
            for r in rows.tolist()
        ]
        frames = self._copies.answers(questions)
        after = {name: array.copy() for name, array in state.items()}
        after["earned"][...] = 0.0
        if frames:
            after["history"][rows, :, times[rows]] = choice[rows]
            after["clock"][rows] += 1
            self._show(after, rows, frames)
        ended = rows[[frame.over for frame in frames]] if frames else rows
        return self._after_end(after, ended, rng) if len(ended) else after

    def taken_actions(self, before: State, after: State) -> NDArray[np.int64]:
        """The indices of the actions that led from one state to the next; null where none did."""
        times = before["clock"][:, :1].astype(np.int64)
        # A new episode forgets the last action of the one before.
        same = (after["seed"] == before["seed"]) & (after["clock"] == before["clock"] + 1)
        places = np.minimum(times, self.horizon - 1)[..., None]
        written = np.take_along_axis(after["history"], np.broadcast_to(places, (*same.shape, 1)), 2)
        return np.where(same, written[..., 0].astype(np.int64), self.null)

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """What the scripted expert does; raises InvalidInput if there is none."""
        if self.script is None:
            raise InvalidInput(
                f"{self.system_name} has no scripted expert: give swarmdp.envs.from_...(expert=...)"
            )
        return np.asarray(self.script(observations))

    @property
    def settings(self) -> dict[str, Any]:
        """What tells this system from others."""
        plain = {name: _plain(value) for name, value in self.own_settings.items()}
        return {
            **plain,
            "n_agents": self.n_agents,
            "actions": self.actions.tolist(),
            "features": describe_features(self.features),
            "null": self.null,
            "on_end": self.on_end,
            "horizon": self.horizon,
        }

    @property
    def fields(self) -> Mapping[str, Field]:
        """What the arrays of a state are: only positions are compared as such."""
        inner = ("component",) if self.features.shape else ()
        described = {
            "seed": Field("seed of the episode", kind=HIDDEN),
            "clock": Field("steps since its beginning", kind=HIDDEN),
            "slot": Field("the agent's place in the simulator", kind=HIDDEN),
            "history": Field("indices of the actions since then", axes=("past",), kind=HIDDEN),
            "over": Field("whether the episode has ended", kind=HIDDEN),
            "observation": Field("what the agent observes", axes=inner, kind=HIDDEN),
            "earned": Field("the simulator's own reward", kind=HIDDEN),
        }
        if self.axes:
            described["position"] = Field(
                "where the agent is", axes=("axis",), kind="position", period=self.period
            )
        return described

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The simulator's own reward, averaged over agents."""
        return {"reward": Measure(_mean_reward, "reward of the simulator", order_free=True)}

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """Where the agents of one run are; raises InvalidInput if that is not known."""
        if self.axes != 2:
            raise InvalidInput(
                f"{self.system_name} cannot be drawn: give swarmdp.envs.from_...(positions=...) "
                "that returns (agents, 2)"
            )
        check_run(swarm, run, "position")
        window = None if self.period is None else (0.0, 0.0, self.period)
        return Arrows(swarm["position"][run], window=window, periodic=window is not None)

    def close(self) -> None:
        """End the processes that run copies; the system makes new ones if it is used again."""
        copies = self.__dict__.pop("_copies", None)
        if isinstance(copies, Processes):
            copies.close()

    def in_processes(self, count: int) -> "BlackBox":
        """The same system with its copies in this number of processes; 0 for this one."""
        check_integer("processes", count, least=0)
        return replace(self, processes=int(count))

    @cached_property
    def _copies(self) -> Copies | Processes:
        return Processes(self.recipe, self.processes) if self.processes else Copies(self.recipe)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        """The order that sorts the actions, and the sorted ones."""
        order = np.argsort(self.actions).astype(np.uint8)
        return order, self.actions[order]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_copies"}

    def _indices(self, actions: NDArray[Any]) -> NDArray[np.uint8]:
        """The index of each physical action; raises InvalidInput for others."""
        order, sorted_ = self._sorted
        place = np.minimum(np.searchsorted(sorted_, actions), len(sorted_) - 1)
        if not np.array_equal(sorted_[place], actions):
            wrong = np.asarray(actions)[sorted_[place] != actions].flat[0]
            raise InvalidInput(
                f"{self.system_name} has no action {wrong}, there are: "
                f"{', '.join(map(str, self.actions.tolist()))}"
            )
        indices: NDArray[np.uint8] = order[place]
        return indices

    def _first_states(self, seeds: NDArray[np.int64], slots: NDArray[np.int32]) -> State:
        """The states at the beginning of these episodes."""
        nothing = np.zeros((0, self.n_agents), np.uint8)
        frames = self._copies.answers([Question(int(seed), nothing, None) for seed in seeds])
        runs = slots.shape
        state: State = {
            "seed": np.broadcast_to(seeds[:, None], runs).copy(),
            "clock": np.zeros(runs, np.int32),
            "slot": slots,
            "history": np.zeros((*runs, self.horizon), np.uint8),
            "over": np.zeros(runs, np.bool_),
            "observation": np.zeros((*runs, *self.features.shape), self.observed),
            "earned": np.zeros(runs),
        }
        if self.axes:
            state["position"] = np.zeros((*runs, self.axes))
        self._show(state, np.arange(len(frames)), frames)
        return state

    def _show(
        self, state: State, rows: NDArray[np.int64], frames: Sequence[SimulatorFrame]
    ) -> None:
        """Write down what the simulator shows; agents keep their own order."""
        run, slots = np.arange(len(rows))[:, None], state["slot"][rows]
        state["observation"][rows] = self.observations(frames)[run, slots]
        state["earned"][rows] = np.array([frame.rewards for frame in frames])[run, slots]
        if self.axes:
            state["position"][rows] = np.array([frame.positions for frame in frames])[run, slots]

    def observations(self, frames: Sequence[SimulatorFrame]) -> NDArray[Any]:
        """What the agents observe in each frame (frames, agents, ...), all of one type."""
        arrays = [frame.observations for frame in frames]
        for array in arrays:
            if array.shape != (self.n_agents, *self.features.shape):
                raise InvalidInput(
                    f"{self.system_name}: observations have become {array.shape}, they were "
                    f"{(self.n_agents, *self.features.shape)}"
                )
            if not np.can_cast(array.dtype, self.observed, "same_kind"):
                raise InvalidInput(
                    f"{self.system_name}: observations have become {array.dtype}, they were "
                    f"{self.observed}: let observe always return the same type"
                )
        return np.array(arrays, self.observed)

    def _after_end(self, state: State, ended: NDArray[np.int64], rng: Stream) -> State:
        """What follows the end of an episode."""
        if self.on_end == "error":
            raise InvalidInput(
                f"an episode of {self.system_name} ended after {state['clock'][ended[0], 0]} "
                'steps: make longer ones, roll out fewer steps, or set on_end to "reset" or "hold"'
            )
        if self.on_end == "hold":
            state["over"][ended] = True
            return state
        seeds = (rng.shared() * _SEEDS).astype(np.int64)[ended]
        slots = rng.permutation().astype(np.int32)[ended]
        for name, array in self._first_states(seeds, slots).items():
            if name != "earned":  # of the step that ended the episode
                state[name][ended] = array
        return state


def _mean_reward(state: State) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.sort(state["earned"], axis=1).mean(axis=1)
    return mean


def _plain(value: Any) -> Any:
    """Plain data, or a text that stands for it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str | list | tuple | dict):
        return value
    return repr(value)
