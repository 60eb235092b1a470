"""Checks of arguments: NumPy's numbers count as Python's, and files can hold what was accepted."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import theory
from swarmdp.model.traits import settings_of
from swarmdp.support import checks
from swarmdp.support.errors import InvalidInput

INTEGERS = [3, np.int64(3), np.int8(3), np.uint32(3)]
FLOATS = [0.5, np.float64(0.5), np.float32(0.5)]


@pytest.mark.parametrize("value", INTEGERS)
def test_integers_of_any_kind_are_accepted(value: Any) -> None:
    checks.check_integer("n", value, least=3)
    checks.check_number("n", value, positive=True)
    checks.check_between("n", value, 0, 3)
    checks.check_agent(value, swarmdp.Vicsek(n_agents=4))
    assert checks.check_seed(value) == 3
    with pytest.raises(InvalidInput, match=r"n must be an integer of at least 4, got .*3"):
        checks.check_integer("n", value, least=4)


@pytest.mark.parametrize("value", FLOATS)
def test_floats_of_any_kind_are_accepted(value: Any) -> None:
    checks.check_number("x", value, positive=True)
    checks.check_between("x", value, -1, 1)
    checks.check_discount(value)
    with pytest.raises(InvalidInput, match="an integer"):
        checks.check_integer("x", value, least=0)
    with pytest.raises(InvalidInput, match="agent must be from 0 to 3"):
        checks.check_agent(value, swarmdp.Vicsek(n_agents=4))


@pytest.mark.parametrize("value", [True, np.True_, False, np.False_, "3", None, 1j, np.array([3])])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="n must be an integer"):
        checks.check_integer("n", value, least=0)
    with pytest.raises(InvalidInput, match="x must be a finite number"):
        checks.check_number("x", value, positive=False)
    with pytest.raises(InvalidInput, match="x must be a number from 0 to 3"):
        checks.check_between("x", value, 0, 3)
    with pytest.raises(InvalidInput, match="discount must be in"):
        checks.check_discount(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32(np.nan)])
def test_what_is_not_finite_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        checks.check_number("x", value, positive=False)
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        checks.check_between("x", value, 0, 1)
    with pytest.raises(InvalidInput, match="discount"):
        checks.check_discount(value)


def test_numbers_have_their_sign() -> None:
    checks.check_number("x", np.float64(0), positive=False)
    with pytest.raises(InvalidInput, match="x must be positive"):
        checks.check_number("x", np.float64(0), positive=True)
    with pytest.raises(InvalidInput, match="x must be not negative"):
        checks.check_number("x", np.float64(-1), positive=False)


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (swarmdp.Vicsek, {"n_agents": 20, "noise": 0.125, "nearest": 3}),
        (swarmdp.Ising, {"shape": (6, 7), "magnetisation": 0.5}),
        (swarmdp.Gridworld, {"rows": 4, "columns": 4, "goal": (1, 2), "wind": 0.25}),
        (theory.FiniteIsing, {"shape": (5,), "reach": 1, "noise": 0.25}),
        (theory.VicsekRing, {"n_agents": 3, "noise": 0.5}),
        (theory.RandomSwarm, {"n_agents": 3, "seed": 4}),
    ],
)
def test_systems_keep_plain_numbers(kind: Any, plain: dict[str, Any], tmp_path: Path) -> None:
    expected, given = kind(**plain), kind(**{n: as_numpy(v) for n, v in plain.items()})
    assert given == expected
    assert json.dumps(settings_of(given)) == json.dumps(settings_of(expected))
    still = swarmdp.Policy(np.zeros(given.features.size, dtype=int))
    file = swarmdp.rollout(given, still, steps=2, seed=1).save(tmp_path / "recorded.nc")
    assert json.dumps(dict(swarmdp.load(file).settings)) == json.dumps(settings_of(expected))


def as_numpy(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(as_numpy, value))
    return np.int64(value) if isinstance(value, int) else np.float32(value)
