"""Checks of arguments: each raises InvalidInput with what was expected and what came.

NumPy's integers and floats count as Python's; booleans are no numbers.
"""

import dataclasses
import math
import operator
from typing import Any, Protocol

import numpy as np

from swarmdp.support.errors import InvalidInput


class _Swarm(Protocol):
    @property
    def n_agents(self) -> int: ...


_LONGEST = 80  # characters of a value in a message


def brief(value: object) -> str:
    """A value in a few words, for a message."""
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__} of {value.dtype} of shape {value.shape}"
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    if "\n" in text or len(text) > _LONGEST:
        module = type(value).__module__.partition(".")[0]
        if isinstance(value, str | bytes | int | list | tuple | dict):
            text = text.replace("\n", " ")[: _LONGEST - 4] + " ..."
        else:
            text = f"a {type(value).__name__}" + ("" if module == "swarmdp" else f" of {module}")
    return text


def is_integer(value: object) -> bool:
    """Whether a value is an integer of Python or NumPy."""
    # A span of time is an integer for NumPy.
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_number(value: object) -> bool:
    """Whether a value is a real number of Python or NumPy; infinity and NaN are."""
    return is_integer(value) or isinstance(value, float | np.floating)


def check_integer(name: str, value: object, least: int) -> None:
    """Raises InvalidInput if the value is not an integer of at least `least`."""
    if not is_integer(value) or value < least:  # type: ignore[operator]
        raise InvalidInput(f"{name} must be an integer of at least {least}, got {brief(value)}")


def check_number(name: str, value: object, *, positive: bool) -> None:
    """Raises InvalidInput if the value is not finite, or negative, or (if `positive`) zero."""
    if not is_number(value) or not math.isfinite(value):  # type: ignore[arg-type]
        raise InvalidInput(f"{name} must be a finite number, got {brief(value)}")
    if value < 0 or (positive and value == 0):  # type: ignore[operator]
        expected = "positive" if positive else "not negative"
        raise InvalidInput(f"{name} must be {expected}, got {brief(value)}")


def check_between(name: str, value: object, lowest: float, highest: float) -> None:
    """Raises InvalidInput if the value is not a number from `lowest` to `highest`."""
    if not is_number(value) or not lowest <= value <= highest:  # type: ignore[operator]
        raise InvalidInput(
            f"{name} must be a number from {lowest:g} to {highest:g}, got {brief(value)}"
        )


def check_below_power(name: str, value: int, exponent: int) -> None:
    """Raises InvalidInput if the value is not below a power of two."""
    if value >= 2**exponent:
        raise InvalidInput(f"{name} must be below 2**{exponent}, got {value}")


def check_discount(discount: float) -> None:
    """Raises InvalidInput if the discount factor is not in [0, 1)."""
    if not is_number(discount) or not 0 <= discount < 1:
        raise InvalidInput(
            f"the discount must be in [0, 1), got {brief(discount)}: from 1 on, the infinite sum "
            "of rewards diverges. Choose one below 1, such as 0.99"
        )


def check_agent(agent: int, system: _Swarm) -> None:
    """Raises InvalidInput if the swarm has no agent with this index."""
    if not is_integer(agent) or not 0 <= agent < system.n_agents:
        raise InvalidInput(f"agent must be from 0 to {system.n_agents - 1}, got {brief(agent)}")


def check_seed(seed: int) -> int:
    """The seed as Python's integer; raises InvalidInput if it is not from 0 to 2**64 - 1."""
    try:
        value = operator.index(seed) if not isinstance(seed, bool) else None
    except TypeError:
        value = None
    if value is None:
        raise InvalidInput(f"seed must be an integer, got {brief(seed)}: same seed, same result")
    if not 0 <= value < 2**64:
        raise InvalidInput(f"seed must be from 0 to 2**64 - 1, got {brief(seed)}")
    return value


def keep_python_numbers(settings: Any) -> None:
    """Replace NumPy's numbers in the fields of a frozen dataclass by Python's.

    Settings go into files and are compared with what is read back, so they have to be plain.
    """
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        plain = tuple(map(_plain, value)) if isinstance(value, tuple | list) else _plain(value)
        object.__setattr__(settings, field.name, plain)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
