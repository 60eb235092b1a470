"""A user's controllers: functions of the observation and of a few numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.policies import Parametric, ParametricPolicy
from swarmdp.policies.replicas import join_replicas, policy_from, remade, select_replicas
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=20)
RUN = np.zeros(1, np.int64)


def turn(seen: NDArray[Any], parameters: NDArray[np.float64]) -> NDArray[Any]:
    gain, offset = parameters
    return np.asarray(gain * seen + offset)


FAMILY = Parametric(turn, {"gain": (0.0, 1.0), "offset": (-0.1, 0.1)})


def test_parameters_reach_the_function_by_run() -> None:
    """Run i follows replica i % R, and the function sees one number of each for every run."""
    shapes: list[tuple[int, ...]] = []

    def told(seen: NDArray[Any], parameters: NDArray[np.float64]) -> NDArray[Any]:
        shapes.append(parameters.shape)
        return turn(seen, parameters)

    policy = Parametric(told, FAMILY.bounds).policy([[0.5, 0.0], [1.0, 0.1]])
    assert policy.replicas == 2
    seen = np.random.default_rng(1).uniform(-1, 1, size=(4, 20))
    actions = policy.act(VICSEK, seen, np.arange(4))
    assert shapes == [(2, 4, 1)]
    np.testing.assert_allclose(actions[::2], 0.5 * seen[::2])
    np.testing.assert_allclose(actions[1::2], seen[1::2] + 0.1)


def test_names_and_limits() -> None:
    assert FAMILY.names == ("gain", "offset")
    np.testing.assert_array_equal(FAMILY.limits, [[0, 1], [-0.1, 0.1]])
    unnamed = Parametric(turn, [(0, 1), (-0.1, 0.1)])
    assert unnamed.names == ("parameter 0", "parameter 1")
    np.testing.assert_array_equal(unnamed.limits, FAMILY.limits)


def test_a_rollout_is_that_of_the_function() -> None:
    policy = FAMILY.policy([0.5, 0.01])
    one = swarmdp.rollout(VICSEK, policy, steps=10, runs=3, seed=1)
    other = swarmdp.rollout(VICSEK, lambda seen: 0.5 * seen + 0.01, steps=10, runs=3, seed=1)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_replicas_are_those_of_single_policies() -> None:
    both = FAMILY.policy([[0.5, 0.0], [1.0, 0.1]])
    together = swarmdp.rollout(VICSEK, both, steps=5, runs=4, seed=2, record=VICSEK.order)["order"]
    for r in range(2):
        alone = select_replicas(both, np.array([r]))
        assert isinstance(alone, ParametricPolicy)
        assert alone.function is turn
        single = swarmdp.rollout(VICSEK, alone, steps=5, runs=4, seed=2, record=VICSEK.order)
        np.testing.assert_array_equal(single["order"][r::2], together[r::2])
    halves = [select_replicas(both, np.array([r])) for r in range(2)]
    joined = join_replicas(halves)
    assert isinstance(joined, ParametricPolicy)
    np.testing.assert_array_equal(joined.parameters, both.parameters)
    assert joined.function is turn


def test_remade_policies_keep_their_kind_and_a_user_s_function() -> None:
    policy = remade(FAMILY.policy([0.5, 0.0]), {"parameters": np.array([[1.0, 0.1]])}, None)
    assert isinstance(policy, ParametricPolicy)
    assert policy.function is turn
    np.testing.assert_array_equal(policy.parameters, [[1.0, 0.1]])
    table = remade(swarmdp.Policy([0, 1]), {"table": np.array([[1, 1, 0]])}, None)
    assert isinstance(table, swarmdp.Policy)
    np.testing.assert_array_equal(table.table, [[1, 1, 0]])
    with pytest.raises(InvalidInput, match="parameters"):
        remade(policy, {"table": np.zeros((1, 2))}, None)


def test_a_file_keeps_the_parameters_but_not_the_function() -> None:
    policy = FAMILY.policy([0.5, 0.01])
    read = policy_from(policy.kind, policy.to_arrays())
    assert isinstance(read, ParametricPolicy)
    np.testing.assert_array_equal(read.parameters, policy.parameters)
    with pytest.raises(InvalidInput, match=r"give it again, policy.with_function\(function\)"):
        swarmdp.rollout(VICSEK, read, steps=5, seed=1)
    again = read.with_function(turn)
    one, other = (swarmdp.rollout(VICSEK, p, steps=5, seed=1) for p in (policy, again))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_function_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="kind 'parametric' cannot be exported"):
        FAMILY.policy([0.5, 0.01]).export(tmp_path / "controller.json", system=VICSEK)


def test_parameters_cannot_be_changed() -> None:
    given = np.array([0.5, 0.0])
    policy = FAMILY.policy(given)
    given[0] = 9
    assert policy.parameters[0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        policy.parameters[0, 0] = 1


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, "needs at least one parameter"),
        ([], "needs at least one parameter"),
        ({"gain": (1.0, 0.0)}, "the bounds of 'gain' exclude every value: the lowest, 1, must be"),
        ([(0, 1), (2, 2)], "the bounds of 'parameter 1' exclude every value"),
        ({"gain": (0.0, np.inf)}, "pair of finite numbers"),
        ({"gain": (0.0, np.nan)}, "pair of finite numbers"),
        ([(0, 1, 2)], "pair of finite numbers"),
        ([0, 1], "pair of finite numbers"),
        (["ab"], "bounds must be"),
        ([(0,), (0, 1)], "bounds must be"),
    ],
)
def test_bounds_that_make_no_family_are_refused_in_one_line(bounds: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        Parametric(turn, bounds)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("function", [None, 3, "turn"])
def test_a_family_needs_a_function(function: Any) -> None:
    with pytest.raises(InvalidInput, match="function"):
        Parametric(function, [(0, 1)])


@pytest.mark.parametrize("parameters", [[], [[]], [np.nan], [[[1.0]]], [np.inf, 0.0]])
def test_parameters_must_be_finite_numbers(parameters: Any) -> None:
    with pytest.raises(InvalidInput, match="parameters must be finite numbers"):
        ParametricPolicy(parameters, turn)


@pytest.mark.parametrize("parameters", ["gain", [1j], [None, {}], [[1.0], [1.0, 2.0]]])
def test_parameters_must_be_numbers(parameters: Any) -> None:
    with pytest.raises(InvalidInput, match="parameters"):
        ParametricPolicy(parameters, turn)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda seen, p: np.full(seen.shape, np.nan), r"returned NaN or infinity .* \[0.5\]"),
        (lambda seen, p: seen / 0.0, "returned NaN or infinity"),
        (lambda seen, p: seen[:, :3], r"must return numbers of shape \(1, 20\).* \(1, 3\)"),
        (lambda seen, p: 0.0, r"got float64 of shape \(\)"),
        (lambda seen, p: None, "function returns must be an array of numbers, got None"),
        (lambda seen, p: seen * 1j, "function returns must be an array of numbers"),
        (lambda seen, p: seen.astype(str), "must return numbers of shape"),
        (lambda seen, p: [[1, 2], [3]], "rows of different lengths"),
    ],
    ids=["nan", "inf", "few", "scalar", "none", "complex", "text", "ragged"],
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_a_function_returns_is_checked(function: Any, message: str) -> None:
    policy = ParametricPolicy([0.5], function)
    with pytest.raises(InvalidInput, match=message):
        policy.act(VICSEK, np.linspace(-1, 1, 20)[None], RUN)
