"""The contract of a swarMDP, as a check that anyone can run on their own system."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import SwarmdpError
from swarmdp.model import Arranging, State, System, field_of, reordered
from swarmdp.streams import Purpose, Streams

RUNS = 10
ONE_OF_THEM = 7
STEPS = 3
EXCHANGE_RUNS = 400  # runs from which the initial distribution is judged
EXCHANGE_AGENTS = 48  # agents that are compared with each other
SHUFFLES = 100
SIGMAS = 7.0  # how far beyond chance an asymmetry must be to be called one


class ContractViolation(SwarmdpError, AssertionError):
    """A system is not a swarMDP; the message names the broken rule."""


def check_system(system: System, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Raise `ContractViolation` unless the system keeps the contract of a swarMDP.

    - Shapes and ranges: arrays are (runs, agents, ...), observations have a class, nothing is NaN,
      and no method changes its arguments.
    - Pure functions: the same seed gives the same trajectory, and nothing is remembered.
    - Independent runs: run 7 of 10 equals run 7 alone.
    - Homogeneity: permuting the agents permutes observations and transitions.
    - The initial distribution does not change when agents are permuted (a statistical test).

    Equality is exact. A system whose floating-point sums depend on the order of the agents can be
    given a `tolerance` for its rounding errors.
    """
    if not isinstance(system, System):
        raise ContractViolation(
            f"{type(system).__name__} is not a system: it needs n_agents, actions, features, "
            "initial, observe and transition"
        )
    check = _Check(system, seed, tolerance)
    history = check.simulate(np.arange(RUNS))
    check.shapes(history)
    check.repeatable(history)
    check.independent_runs(history)
    check.homogeneous(history)
    check.arranged(history)
    check.exchangeable_start()


class _Check:
    """The parts of the check, sharing one system and one set of random streams."""

    def __init__(self, system: System, seed: int, tolerance: float) -> None:
        self.system = system
        self.seed = seed
        self.tolerance = tolerance

    def simulate(self, runs: NDArray[np.int64]) -> list[tuple[State, NDArray[Any], NDArray[Any]]]:
        """A few steps with random actions: (state, observations, actions) at each time."""
        system = self.system
        streams = Streams.of(self.seed, runs, system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        history = []
        for step in range(STEPS):
            choice = streams.at(step, Purpose.POLICY).integers(len(system.actions))
            actions = np.asarray(system.actions)[choice]
            before = {name: np.array(array) for name, array in state.items()}
            observations = system.observe(state)
            after = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
            self.same("observe and transition must not change their arguments", before, state)
            history.append((before, observations, actions))
            state = after
        history.append((state, system.observe(state), np.empty(0)))
        return history

    def shapes(self, history: list[tuple[State, NDArray[Any], NDArray[Any]]]) -> None:
        system = self.system
        expected = (RUNS, system.n_agents)
        if np.ndim(system.actions) != 1 or len(system.actions) == 0:
            raise ContractViolation("shape: actions must be a non-empty one-dimensional array")
        first = history[0][0]
        for time, (state, observations, _) in enumerate(history):
            if state.keys() != first.keys():
                raise ContractViolation(
                    f"shape: transition returned the arrays {sorted(state)}, "
                    f"initial the arrays {sorted(first)}"
                )
            for name, array in state.items():
                what = f"shape: state {name!r} at time {time}"
                if not isinstance(array, np.ndarray) or array.shape[:2] != expected:
                    raise ContractViolation(
                        f"{what} must be an array (runs, agents, ...) = {expected}, "
                        f"got {np.shape(array)}"
                    )
                if (array.shape, array.dtype) != (first[name].shape, first[name].dtype):
                    raise ContractViolation(
                        f"{what} has become {array.dtype} {array.shape}, "
                        f"it was {first[name].dtype} {first[name].shape}"
                    )
                if np.issubdtype(array.dtype, np.inexact) and not np.isfinite(array).all():
                    raise ContractViolation(f"range: state {name!r} is not finite at time {time}")
                if field_of(system, name).constant and not np.array_equal(array, first[name]):
                    raise ContractViolation(
                        f"range: state {name!r} is described as constant, but it changed"
                    )
            if not isinstance(observations, np.ndarray) or observations.shape != expected:
                raise ContractViolation(
                    f"shape: observations at time {time} must be an array {expected}, "
                    f"got {np.shape(observations)}"
                )
            index = system.features.index(observations)
            if index.shape != expected or index.min() < 0 or index.max() >= system.features.size:
                raise ContractViolation(
                    f"range: the classes of observations at time {time} must be from 0 to "
                    f"{system.features.size - 1}, got {index.min()} to {index.max()}"
                )

    def repeatable(self, history: list[tuple[State, NDArray[Any], NDArray[Any]]]) -> None:
        rule = "same seed, same trajectory: a repeated simulation differs (hidden state?)"
        for once, again in zip(history, self.simulate(np.arange(RUNS)), strict=True):
            self.same(rule, once[0], again[0])
            self.same(rule, {"observations": once[1]}, {"observations": again[1]})

    def independent_runs(self, history: list[tuple[State, NDArray[Any], NDArray[Any]]]) -> None:
        rule = f"independent runs: run {ONE_OF_THEM} of {RUNS} differs from run {ONE_OF_THEM} alone"
        alone = self.simulate(np.array([ONE_OF_THEM]))
        for batch, single in zip(history, alone, strict=True):
            self.same(rule, _one_run(batch[0], ONE_OF_THEM), single[0])
            one = {"observations": batch[1][ONE_OF_THEM : ONE_OF_THEM + 1]}
            self.same(rule, one, {"observations": single[1]})

    def homogeneous(self, history: list[tuple[State, NDArray[Any], NDArray[Any]]]) -> None:
        system = self.system
        streams = Streams.of(self.seed, np.arange(RUNS), system.n_agents)
        order = np.argsort(streams.at(STEPS, Purpose.POLICY).uniform(), axis=1).astype(np.int32)
        renamed = streams.rearranged(order)
        for step, (state, observations, actions) in enumerate(history):
            permuted = {name: reordered(array, order) for name, array in state.items()}
            self.same(
                "homogeneity: permuting the agents must permute the observations",
                {"observations": reordered(observations, order)},
                {"observations": system.observe(permuted)},
            )
            if step == STEPS:
                break
            after = system.transition(
                permuted, reordered(actions, order), renamed.at(step, Purpose.TRANSITION)
            )
            self.same(
                "homogeneity: permuting the agents, with their noise, must permute the transition",
                {name: reordered(array, order) for name, array in history[step + 1][0].items()},
                after,
            )

    def arranged(self, history: list[tuple[State, NDArray[Any], NDArray[Any]]]) -> None:
        """Where the system puts agents in another order, it must say truly in which."""
        if not isinstance(self.system, Arranging):
            return
        for step, (state, observations, _) in enumerate(history):
            if (better := self.system.arrange(state, step)) is None:
                continue
            arranged, order = better
            if not np.array_equal(np.sort(order, axis=1)[0], np.arange(self.system.n_agents)):
                raise ContractViolation("arrangement: arrange must return a permutation")
            rule = "arrangement: arrange must return the state in the order that it names"
            expected = {name: reordered(array, order) for name, array in state.items()}
            self.same(rule, expected, arranged)
            self.same(
                rule,
                {"observations": reordered(observations, order)},
                {"observations": self.system.observe(arranged)},
            )

    def exchangeable_start(self) -> None:
        """Compare the agents' initial states with those of shuffled agents."""
        system = self.system
        n = system.n_agents
        if n == 1:
            return
        streams = Streams.of(self.seed, np.arange(EXCHANGE_RUNS), n)
        rng = np.random.default_rng(self.seed)
        ends = min(n, EXCHANGE_AGENTS) // 3
        chosen = np.unique(
            np.concatenate(
                [np.arange(ends + 1) % n, n - 1 - np.arange(ends), rng.integers(n, size=ends)]
            )
        )
        state = system.initial(streams.at(0, Purpose.INITIAL))
        for name, array in state.items():
            values = array[:, chosen].reshape(EXCHANGE_RUNS, len(chosen), -1).astype(np.float64)
            for component in np.moveaxis(values, 2, 0):
                for what, asymmetry in (("values", _of_agents), ("pairs", _of_neighbours)):
                    if not _looks_exchangeable(component, asymmetry, rng):
                        raise ContractViolation(
                            "initial distribution: it must not change when agents are permuted, "
                            f"but the {what} of {name!r} depend on the agent's number"
                        )

    def same(self, rule: str, expected: State, found: State) -> None:
        for name, array in expected.items():
            other = found[name]
            if np.array_equal(array, other, equal_nan=array.dtype.kind == "f"):
                continue
            gap = np.abs(array.astype(np.float64) - other.astype(np.float64))
            if np.nanmax(gap) <= self.tolerance:
                continue
            run, agent = np.unravel_index(np.nanargmax(gap), gap.shape)[:2]
            hint = (
                "; so small a difference may be rounding in sums over agents: sum integers, "
                "or pass tolerance="
                if 0 < np.nanmax(gap) < 1e-9
                else ""
            )
            raise ContractViolation(
                f"{rule}: {name} of agent {agent} in run {run} is {other[run, agent]}, "
                f"expected {array[run, agent]}{hint}"
            )


def _one_run(state: State, run: int) -> State:
    return {name: array[run : run + 1] for name, array in state.items()}


def _of_agents(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each agent's mean over the runs is from all agents' mean, and its spread likewise."""
    centred = values - values.mean(axis=1, keepdims=True)
    spread = centred**2
    spread -= spread.mean(axis=1, keepdims=True)
    return np.abs(np.stack([centred.mean(axis=0), spread.mean(axis=0)]))


def _of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much agents with consecutive numbers vary together."""
    centred = values - values.mean(axis=1, keepdims=True)
    return np.abs((centred[:, :-1] * centred[:, 1:]).mean(axis=0))[None]


def _looks_exchangeable(
    values: NDArray[np.float64],
    asymmetry: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    rng: np.random.Generator,
) -> bool:
    """Whether shuffling the agents in each run leaves the largest asymmetries as large as they are.

    Under an exchangeable distribution the shuffled values have the same distribution as the
    values themselves, so the largest asymmetry is one draw among those of the shuffles.
    """
    observed = asymmetry(values).max(axis=1)
    shuffled = np.array(
        [asymmetry(rng.permuted(values, axis=1)).max(axis=1) for _ in range(SHUFFLES)]
    )
    limit = shuffled.mean(axis=0) + SIGMAS * shuffled.std(axis=0)
    return bool((observed <= limit + 1e-12).all())
