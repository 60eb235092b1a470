from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import kernel

Floats = NDArray[np.float64]
ULP = np.finfo(float).eps


@kernel
def sincos(x, sine, cosine):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        sine[i], cosine[i] = elementary.sincos(x[i])


@kernel
def cos_turns(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        out[i] = elementary.cos_turns(x[i])


@kernel
def log(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        out[i] = elementary.natural_log(x[i])


@kernel
def exp(x, out):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        out[i] = elementary.exp(x[i])


@kernel
def atan2(y, x, out):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        out[i] = elementary.atan2(y[i], x[i])


def evaluate(function: Callable[..., None], *arguments: Floats) -> Floats:
    out = np.empty_like(arguments[0])
    function(*arguments, out)
    return out


@pytest.mark.parametrize("limit", [np.pi / 4, np.pi, 1000.0])
def test_sincos(limit: float) -> None:
    x = np.concatenate([np.linspace(-limit, limit, 200_001), [0.0, -0.0, np.pi, -np.pi, np.pi / 2]])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, sine, cosine)
    assert np.abs(sine - np.sin(x)).max() <= 2 * ULP
    assert np.abs(cosine - np.cos(x)).max() <= 2 * ULP


def test_sine_keeps_its_relative_accuracy_near_zero() -> None:
    x = np.logspace(-300, -1, 1000)
    sine, cosine = np.empty_like(x), np.empty_like(x)
    sincos(x, sine, cosine)
    assert np.abs(sine / np.sin(x) - 1).max() <= 2 * ULP


def test_cosine_of_turns() -> None:
    x = np.linspace(0, 1, 200_001)[:-1]
    assert np.abs(evaluate(cos_turns, x) - np.cos(2 * np.pi * x)).max() <= 8 * ULP


def test_log() -> None:
    x = np.concatenate([np.logspace(-20, 20, 100_001), np.linspace(0.5, 2, 100_001)])
    expected = np.log(x)
    assert np.abs(evaluate(log, x) - expected).max() <= 4 * ULP * np.abs(expected).max()
    small = np.abs(expected) < 1
    assert np.abs(evaluate(log, x) - expected)[small].max() <= 2 * ULP


def test_atan2_all_around() -> None:
    angle = np.linspace(-np.pi, np.pi, 200_001)
    for radius in (1e-200, 1.0, 1e200):
        y, x = radius * np.sin(angle), radius * np.cos(angle)
        assert np.abs(evaluate(atan2, y, x) - np.arctan2(y, x)).max() <= 3 * ULP


def test_atan2_on_the_axes_and_at_the_origin() -> None:
    y = np.array([0.0, 0.0, 1.0, -1.0, 0.0])
    x = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    expected = [0.0, np.pi, np.pi / 2, -np.pi / 2, 0.0]
    np.testing.assert_array_equal(evaluate(atan2, y, x), expected)


def test_exp() -> None:
    x = np.concatenate([np.linspace(-707, 709, 200_001), np.linspace(-1, 1, 100_001), [0.0, -0.0]])
    actual = evaluate(exp, x)
    assert np.abs(actual / np.exp(x) - 1).max() <= 4 * ULP
    np.testing.assert_array_equal(evaluate(exp, np.array([-709.0, -1e6, -np.inf])), 0)
    assert evaluate(exp, np.array([0.0]))[0] == 1
