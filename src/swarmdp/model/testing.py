"""The contract of a swarMDP, as a check that anyone can run on their own system."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.actions import action_axes
from swarmdp.model.features import Smooth
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import State, System, class_map, classes, reordered
from swarmdp.model.traits import Arranging, HasFields, field_of
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput, SwarmdpError

_RUNS = 10
ONE_OF_THEM = 7
_STEPS = 3
EXCHANGE_RUNS = 400  # runs from which the initial distribution is judged
EXCHANGE_AGENTS = 48  # agents that are compared with each other
REPEATABLE = "same seed, same trajectory (hidden state?)"
_SHUFFLES = 100
MIRROR_STEPS = 8  # of the runs from which a mirror is judged
MIRROR_AGENTS = 20_000  # in all these runs together
MIRROR_PAIRS = 5000  # of observation and action that are counted apart
_SIGMAS = 7.0  # how far beyond chance an asymmetry must be to be called one

_History = list[
    tuple[State, NDArray[Any], NDArray[Any]]
]  # state, observations, actions at each time


class ContractViolation(SwarmdpError, AssertionError):
    """A system is not a swarMDP; the message names the broken rule.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> class Stuck(swarmdp.Ising):
    ...     actions = np.empty(0)
    ...
    >>> try:
    ...     swarmdp.testing.check_system(Stuck(shape=(4, 4), reach=1))
    ... except swarmdp.testing.ContractViolation as error:
    ...     print(error)
    ...
    shape: actions must be a non-empty array (n_actions,) or (n_actions, components), got shape (0,)

    """


@checked
def check_system(system: System, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Raise `ContractViolation` unless the system keeps the contract of a swarMDP.

    - Shapes and ranges: arrays are (runs, agents, ...), observations have a class, nothing is NaN,
      and no method changes its arguments. Where there are `fields`, they name all arrays.
    - Pure functions: the same seed gives the same trajectory, and nothing is remembered.
    - Independent runs: run 7 of 10 equals run 7 alone.
    - Homogeneity: permuting the agents permutes observations and transitions.
    - The initial distribution does not change when agents are permuted (a statistical test).
    - A declared mirror is one: agents meet mirrored observations as often after mirrored actions
      (a statistical test).

    Equality is exact. A system whose floating-point sums depend on the order of the agents can be
    given a `tolerance` for its rounding errors.

    Parameters
    ----------
    system
        The system to check.
    seed
        Of the states and actions that it is checked with.
    tolerance
        The largest rounding error that is allowed; 0 for none.

    Raises
    ------
    ContractViolation
        If the system breaks the contract; the message names the broken rule.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.testing.check_system(swarmdp.Vicsek(n_agents=10))    # no news is good news

    """
    if not isinstance(system, System):
        raise ContractViolation(
            f"{type(system).__name__} is not a system: it needs n_agents, actions, features, "
            "initial, observe and transition"
        )
    check = _Check(system, seed, tolerance)
    check.actions()
    history = check.simulate(np.arange(_RUNS))
    check.described(history)
    check.constants(history)
    check.repeatable(history)
    check.independent_runs(history)
    check.homogeneous(history)
    check.arranged(history)
    check.exchangeable_start()
    check.mirrored()


class _Check:
    """The parts of the check, sharing one system and one set of random streams."""

    def __init__(self, system: System, seed: int, tolerance: float) -> None:
        self.system = system
        self.seed = seed
        self.tolerance = tolerance

    def actions(self) -> None:
        """Actions are numbers, or vectors of components that have names and units."""
        actions = np.asarray(self.system.actions)
        if actions.ndim not in (1, 2) or actions.size == 0:
            raise ContractViolation(
                "shape: actions must be a non-empty array (n_actions,) or (n_actions, components), "
                f"got shape {actions.shape}"
            )
        try:
            action_axes(self.system)
        except InvalidInput as error:
            raise ContractViolation(f"shape: {error}") from None

    def simulate(self, runs: NDArray[np.int64]) -> _History:
        """A few steps with random actions: (state, observations, actions) at each time."""
        system = self.system
        streams = Streams.of(self.seed, runs, system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        kinds = {name: (np.shape(array), np.result_type(array)) for name, array in state.items()}
        history: _History = []
        for step in range(_STEPS + 1):
            self.state_shapes(state, kinds, step, (len(runs), system.n_agents))
            before = {name: np.array(array) for name, array in state.items()}
            observations = system.observe(state)
            self.observation_shapes(observations, step, (len(runs), system.n_agents))
            choice = streams.at(step, Purpose.POLICY).integers(len(system.actions))
            actions = np.asarray(system.actions)[choice]
            after, twice = (
                system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
                for _ in range(2)
            )
            self.same("observe and transition must not change their arguments", before, state)
            self.same(f"{REPEATABLE}: transition twice", after, twice)
            seen = {"observations": observations}
            self.same(f"{REPEATABLE}: observe twice", seen, {"observations": system.observe(state)})
            history.append((before, observations, actions))
            state = after
        return history

    def state_shapes(
        self,
        state: State,
        kinds: dict[str, tuple[tuple[int, ...], np.dtype[Any]]],
        time: int,
        expected: tuple[int, int],
    ) -> None:
        if state.keys() != kinds.keys():
            raise ContractViolation(
                f"shape: transition returned the arrays {sorted(state)}, "
                f"initial the arrays {sorted(kinds)}"
            )
        for name, array in state.items():
            what = f"shape: state {name!r} at time {time}"
            if not isinstance(array, np.ndarray) or array.shape[:2] != expected:
                raise ContractViolation(
                    f"{what} must be an array (runs, agents, ...) = {expected}, "
                    f"got {np.shape(array)}"
                )
            if (array.shape, array.dtype) != kinds[name]:
                shape, dtype = kinds[name]
                raise ContractViolation(
                    f"{what} has become {array.dtype} {array.shape}, it was {dtype} {shape}"
                )
            if np.issubdtype(array.dtype, np.inexact) and not np.isfinite(array).all():
                raise ContractViolation(f"range: state {name!r} is not finite at time {time}")

    def observation_shapes(
        self, observations: NDArray[Any], time: int, expected: tuple[int, int]
    ) -> None:
        shape = (*expected, *self.system.features.shape)
        if not isinstance(observations, np.ndarray) or observations.shape != shape:
            raise ContractViolation(
                f"shape: observations at time {time} must be an array {shape}, "
                f"got {np.shape(observations)}"
            )
        try:
            self.features(observations)
        except InvalidInput as error:
            raise ContractViolation(f"range: observations at time {time}: {error}") from None

    def features(self, observations: NDArray[Any]) -> None:
        """Every observation must have features; with classes, one of them."""
        features = self.system.features
        if isinstance(features, Smooth):
            features.of(observations)
        else:
            classes(self.system, observations)

    def described(self, history: _History) -> None:
        """Where a system describes the arrays of its state, it must describe all of them."""
        if not isinstance(self.system, HasFields):
            return
        there, told = set(history[0][0]), set(self.system.fields)
        if there - told:
            raise ContractViolation(
                f"fields: the state has {', '.join(map(repr, sorted(there - told)))}, which "
                "`fields` does not name: describe it there"
            )
        if told - there:
            raise ContractViolation(
                f"fields: `fields` names {', '.join(map(repr, sorted(told - there)))}, which the "
                "state does not have"
            )

    def constants(self, history: _History) -> None:
        for state, _, _ in history[1:]:
            for name, array in state.items():
                constant = field_of(self.system, name).constant
                if constant and not np.array_equal(array, history[0][0][name]):
                    raise ContractViolation(
                        f"range: state {name!r} is described as constant, but it changed"
                    )

    def repeatable(self, history: _History) -> None:
        rule = f"{REPEATABLE}: a repeated simulation"
        for once, again in zip(history, self.simulate(np.arange(_RUNS)), strict=True):
            self.same(rule, once[0], again[0])
            self.same(rule, {"observations": once[1]}, {"observations": again[1]})

    def independent_runs(self, history: _History) -> None:
        rule = (
            f"independent runs: run {ONE_OF_THEM} of {_RUNS} differs from run {ONE_OF_THEM} alone"
        )
        alone = self.simulate(np.array([ONE_OF_THEM]))
        for batch, single in zip(history, alone, strict=True):
            self.same(rule, _one_run(batch[0], ONE_OF_THEM), single[0])
            one = {"observations": batch[1][ONE_OF_THEM : ONE_OF_THEM + 1]}
            self.same(rule, one, {"observations": single[1]})

    def homogeneous(self, history: _History) -> None:
        system = self.system
        streams = Streams.of(self.seed, np.arange(_RUNS), system.n_agents)
        order = np.argsort(streams.at(_STEPS, Purpose.POLICY).uniform(), axis=1).astype(np.int32)
        renamed = streams.rearranged(order)
        for step, (state, observations, actions) in enumerate(history):
            permuted = {name: reordered(array, order) for name, array in state.items()}
            self.same(
                "homogeneity: permuting the agents must permute the observations",
                {"observations": reordered(observations, order)},
                {"observations": system.observe(permuted)},
            )
            if step == _STEPS:
                return
            after = system.transition(
                permuted, reordered(actions, order), renamed.at(step, Purpose.TRANSITION)
            )
            self.same(
                "homogeneity: permuting the agents, with their noise, must permute the transition",
                {name: reordered(array, order) for name, array in history[step + 1][0].items()},
                after,
            )

    def arranged(self, history: _History) -> None:
        """Where the system puts agents in another order, it must say truly in which."""
        if not isinstance(self.system, Arranging):
            return
        for step, (state, observations, _) in enumerate(history):
            if (better := self.system.arrange(state, step)) is None:
                continue
            arranged, order = better
            if not (np.sort(order, axis=1) == np.arange(self.system.n_agents)).all():
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
        chosen = np.arange(n)
        if n > EXCHANGE_AGENTS:
            ends = EXCHANGE_AGENTS // 3
            others = rng.integers(n, size=ends)
            chosen = np.unique(np.concatenate([chosen[:ends], chosen[-ends:], others]))
        state = system.initial(streams.at(0, Purpose.INITIAL))
        for name, array in state.items():
            values = array[:, chosen].reshape(EXCHANGE_RUNS, len(chosen), -1).astype(np.float64)
            for component in np.moveaxis(values, 2, 0):
                if (component == component[0, 0]).all():
                    continue
                for what, asymmetry in (("values", _of_agents), ("pairs", _of_neighbours)):
                    if not _looks_exchangeable(component, asymmetry, rng):
                        raise ContractViolation(
                            "initial distribution: it must not change when agents are permuted, "
                            f"but the {what} of {name!r} depend on the agent's number"
                        )

    def mirrored(self) -> None:
        """Compare how often (o, a, o') occurs with how often its mirror image does.

        Under random actions both are equally likely, if the law of the swarm does not change in the
        mirror. Runs are independent, so a run may be exchanged with its mirror image: the observed
        differences are one draw among those with runs exchanged at random.
        """
        try:
            symmetry = Symmetry.of(self.system)
        except InvalidInput as error:
            raise ContractViolation(f"mirror: {error}") from None
        if symmetry is None:
            return
        features = self.system.features
        if isinstance(features, Smooth):
            gaps = self._smooth_gaps(symmetry, features)
        else:
            gaps = self._class_gaps(symmetry, class_map(self.system).size)
        keep = np.abs(gaps).sum(axis=0) > 0
        gaps = gaps[:, keep] / np.sqrt((gaps[:, keep] ** 2).sum(axis=0) + 1e-12)
        rng = np.random.default_rng(self.seed)
        signs = rng.choice([-1.0, 1.0], size=(_SHUFFLES, len(gaps)))
        exchanged, observed = signs @ gaps, gaps.sum(axis=0)
        # One large difference, or many small ones.
        for power in (np.inf, 2):
            chance = np.linalg.norm(exchanged, ord=power, axis=1)
            if np.linalg.norm(observed, ord=power) <= chance.mean() + _SIGMAS * chance.std() + 1e-9:
                continue
            raise ContractViolation(
                "mirror: the law of the swarm changes in its mirror: some observations or what "
                "follows them are far more frequent than their mirror images"
            )

    def _class_gaps(self, symmetry: Symmetry, size: int) -> NDArray[np.float64]:
        """Of each run, how much more often each o, and each (o, a, side of o'), occurs mirrored."""
        system = self.system
        order, turned = symmetry.classes, symmetry.actions
        side = np.sign(order - np.arange(size)).astype(np.float64)  # of the mirror; 0 in its middle
        actions = len(turned)
        if size * actions > MIRROR_PAIRS:
            actions, turned = 1, np.zeros_like(turned)  # what follows an observation, on average
        often, follows = np.zeros(()), np.zeros(())
        for raw, choice, following in self._random_steps():
            seen, after = (
                classes(system, observations).astype(np.int64) for observations in (raw, following)
            )
            pair = seen * actions + np.minimum(choice, actions - 1)
            often = often + np.stack([np.bincount(run, minlength=size) for run in seen])
            by_run = zip(pair, side[after], strict=True)
            follows = follows + np.stack([np.bincount(*run, size * actions) for run in by_run])
        pairs = (order[:, None] * actions + turned[:actions]).ravel()
        return np.hstack([often - often[:, order], follows + follows[:, pairs]])

    def _smooth_gaps(self, symmetry: Symmetry, features: Smooth) -> NDArray[np.float64]:
        """Of each run, by how much phi(o), and what follows (o, a), differ mirrored.

        What follows is the odd part of phi(o'), which changes its sign in the mirror.
        """
        change, turned, gaps = symmetry.mirror.observation, symmetry.actions, np.zeros(())
        for raw, choice, following in self._random_steps():
            now, mirrored = features.of(raw), features.of(change(raw))
            odd = features.of(following) - features.of(change(following))
            differ = (now - mirrored).sum(axis=1)
            if len(turned) * now.shape[2] ** 2 > MIRROR_PAIRS:
                now = mirrored = np.ones((*choice.shape, 1))  # what follows an action, on average
            taken = np.eye(len(turned))[choice]
            follows = np.einsum("rna,rni,rnj->raij", taken, now, odd, optimize=True)
            follows += np.einsum(
                "rna,rni,rnj->raij", taken[..., turned], mirrored, odd, optimize=True
            )
            gaps = gaps + np.hstack([differ, follows.reshape(len(raw), -1)])
        return gaps

    def _random_steps(self) -> Iterator[tuple[NDArray[Any], NDArray[np.integer], NDArray[Any]]]:
        """Raw observations, random action indices and the next observations, step by step."""
        system = self.system
        runs = int(np.clip(MIRROR_AGENTS // system.n_agents, 20, 400))
        streams = Streams.of(self.seed, np.arange(runs), system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        seen = system.observe(state)
        for step in range(MIRROR_STEPS):
            choice = streams.at(step, Purpose.POLICY).integers(len(system.actions))
            physical = np.asarray(system.actions)[choice]
            state = system.transition(state, physical, streams.at(step, Purpose.TRANSITION))
            before, seen = seen, system.observe(state)
            yield before, choice, seen

    def same(self, rule: str, expected: State, actual: State) -> None:
        for name, array in expected.items():
            other = actual[name]
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
    asymmetry: NDArray[np.float64] = np.abs(np.stack([centred.mean(axis=0), spread.mean(axis=0)]))
    return asymmetry


def _of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much agents with consecutive numbers vary together."""
    centred = values - values.mean(axis=1, keepdims=True)
    asymmetry: NDArray[np.float64] = np.abs((centred[:, :-1] * centred[:, 1:]).mean(axis=0))
    return asymmetry[None]


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
        [asymmetry(rng.permuted(values, axis=1)).max(axis=1) for _ in range(_SHUFFLES)]
    )
    limit = shuffled.mean(axis=0) + _SIGMAS * shuffled.std(axis=0)
    return bool((observed <= limit + 1e-12).all())
