"""The contract check passes what is a swarMDP and names what is wrong with what is not."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Ising, Levels, Vicsek
from swarmdp.model import Stream
from swarmdp.model.system import Field, State
from swarmdp.model.testing import ContractViolation, check_system
from tests.examples import snippets

OURS = [
    Vicsek(),
    Vicsek(n_agents=1),
    Vicsek(n_agents=2),
    Vicsek(n_agents=60, periodic=False),
    Vicsek(n_agents=60, radius=0.7),
    Vicsek(n_agents=60, nearest=5),
    Vicsek(n_agents=25_000, radius=0.01),
    Ising((15, 20)),
    Ising((15, 20), periodic=False),
    Ising((15, 20), reach=3),
    Ising((30, 30), magnetisation=0.5),
]


@pytest.mark.parametrize("system", OURS, ids=range(len(OURS)))
def test_our_systems_keep_the_contract(system: swarmdp.System) -> None:
    check_system(system)


def test_the_documented_example_keeps_the_contract() -> None:
    namespace: dict[str, Any] = {}
    exec(snippets("docs/your-own-system.md")[0], namespace)
    check_system(namespace["Robots"]())


class Voters:
    """Agents that hold an opinion and see how many hold the other; all correct."""

    n_agents = 12
    actions = np.array([0, 1])
    features = Levels(13)

    def initial(self, rng: Stream) -> State:
        return {"opinion": rng.integers(2)}

    def observe(self, state: State) -> NDArray[Any]:
        opinion = state["opinion"]
        ones = opinion.sum(axis=1, keepdims=True)
        others: NDArray[Any] = np.where(opinion == 1, self.n_agents - ones, ones)
        return others

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        slips = rng.uniform() < 0.1
        return {"opinion": np.where(slips, 1 - actions, actions)}


def test_a_correct_system_passes() -> None:
    for seed in range(20):
        check_system(Voters(), seed=seed)


class SpecialAgent(Voters):
    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        after = super().transition(state, actions, rng)["opinion"]
        after[:, 0] = 1
        return {"opinion": after}


class LeakedIndex(Voters):
    def observe(self, state: State) -> NDArray[Any]:
        return np.broadcast_to(np.arange(self.n_agents), state["opinion"].shape)


class HiddenCounter(Voters):
    calls = 0

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        self.calls += 1
        return {"opinion": (state["opinion"] + self.calls) % 2}


class GlobalRandomness(Voters):
    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {"opinion": np.random.default_rng().integers(2, size=actions.shape)}


class CoupledRuns(Voters):
    def observe(self, state: State) -> NDArray[Any]:
        return np.full(state["opinion"].shape, state["opinion"].sum() % 13)


class SpecialStart(Voters):
    def initial(self, rng: Stream) -> State:
        opinion = rng.integers(2)
        opinion[:, 5] = 1
        return {"opinion": opinion}


class PairedStart(Voters):
    def initial(self, rng: Stream) -> State:
        opinion = rng.integers(2)
        opinion[:, 3] = opinion[:, 4]
        return {"opinion": opinion}


class NoiseByPlace(Voters):
    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        shifted = np.roll(rng.uniform(), 1, axis=1)
        return {"opinion": np.where(shifted < 0.5, 1 - actions, actions)}


class ChangesItsArgument(Voters):
    def observe(self, state: State) -> NDArray[Any]:
        state["opinion"][:] = 0
        return state["opinion"]


class OutOfRange(Voters):
    features = Levels(3)


class LosesAnArray(Voters):
    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {}


class WrongShape(Voters):
    def observe(self, state: State) -> NDArray[Any]:
        return state["opinion"][:, :5]


class NotFinite(Voters):
    def initial(self, rng: Stream) -> State:
        return {**super().initial(rng), "x": rng.uniform()}

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {"opinion": actions, "x": state["x"] / 0.0}


class FalselyConstant(Voters):
    fields = {"opinion": Field(constant=True)}  # noqa: RUF012


class WronglyArranged(Voters):
    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]]:
        order = np.tile(np.arange(self.n_agents)[::-1], (len(state["opinion"]), 1))
        return state, order


class RoundingSums(Voters):
    features = swarmdp.Angles(36)  # type: ignore[assignment]

    def initial(self, rng: Stream) -> State:
        return {"opinion": rng.integers(2), "x": rng.normal(scale=1e-3)}

    def observe(self, state: State) -> NDArray[Any]:
        return np.broadcast_to(state["x"].sum(axis=1, keepdims=True), state["x"].shape).copy()

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {"opinion": actions, "x": state["x"]}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(
    ("system", "rule"),
    [
        (SpecialAgent(), "homogeneity: permuting the agents, with their noise"),
        (LeakedIndex(), "homogeneity: permuting the agents must permute the observations"),
        (HiddenCounter(), "same seed, same trajectory .hidden state"),
        (GlobalRandomness(), "same seed, same trajectory .hidden state"),
        (CoupledRuns(), "independent runs: run 7 of 10 differs"),
        (SpecialStart(), "initial distribution: .* values of 'opinion'"),
        (PairedStart(), "initial distribution: .* pairs of 'opinion'"),
        (NoiseByPlace(), "homogeneity: permuting the agents, with their noise"),
        (ChangesItsArgument(), "must not change their arguments"),
        (OutOfRange(), "from 0 to 2"),
        (LosesAnArray(), "opinion"),
        (WrongShape(), "shape: observations at time 0"),
        (NotFinite(), "range: state 'x' is not finite"),
        (FalselyConstant(), "described as constant, but it changed"),
        (WronglyArranged(), "arrangement: arrange must return the state in the order"),
        ("vicsek", "is not a system: it needs n_agents"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_systems_are_named(system: Any, rule: str) -> None:
    with pytest.raises(swarmdp.errors.SwarmdpError, match=rule):
        check_system(system)


def test_rounding_is_forgiven_only_on_request() -> None:
    with pytest.raises(ContractViolation, match="may be rounding in sums.*tolerance="):
        check_system(RoundingSums())
    check_system(RoundingSums(), tolerance=1e-12)


class Nameless(swarmdp.Ising):
    """It describes one of its two arrays."""

    fields = {"spin": Field("spin")}  # noqa: RUF012


class NamesTooMuch(swarmdp.Ising):
    """It describes an array that it does not have."""

    @property
    def fields(self) -> Any:  # type: ignore[override]
        return {**swarmdp.Ising.fields, "charge": Field("charge")}


class RoleByNumber(swarmdp.Vicsek):
    """Every other agent, by its number, is a leader."""

    @property
    def fields(self) -> Any:
        return {**super().fields, "role": Field("role", constant=True)}

    def initial(self, rng: Any) -> Any:
        roles = np.broadcast_to(np.arange(self.n_agents) % 2, rng.shape)
        return {**super().initial(rng), "role": roles.copy()}

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        return {**super().transition(state, actions, rng), "role": state["role"]}


@pytest.mark.parametrize(
    ("system", "rule"),
    [
        (Nameless(shape=(5, 5)), "fields: the state has 'site', which `fields` does not name"),
        (NamesTooMuch(shape=(5, 5)), "fields: `fields` names 'charge'"),
        (RoleByNumber(n_agents=12), "values of 'role' depend on the agent's number"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_fields_and_roles_are_checked(system: Any, rule: str) -> None:
    with pytest.raises(ContractViolation, match=rule):
        check_system(system)


def test_a_fit_says_which_field_has_no_name() -> None:
    system = Nameless(shape=(5, 5))
    demo = swarmdp.rollout(system, system.expert, steps=60, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="'site', which its `fields` do not name"):
        swarmdp.fit(system, demo, seed=1)
