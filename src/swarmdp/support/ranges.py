"""Ranges that annotations declare: `checked` refuses what lies outside, in the words of `checks`.

A range is a check, a function of a name and a value that raises InvalidInput:
`steps: Annotated[int, at_least(1)]`. Those below are the usual ones; each may be part of a union,
such as `PositiveInteger | None`.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from swarmdp.support.checks import (
    check_below_power,
    check_between,
    check_discount,
    check_integer,
    check_number,
    check_seed,
)

Check = Callable[[str, Any], object]


def at_least(least: int) -> Check:
    """Integers from `least` up."""
    return partial(check_integer, least=least)


def below_power(exponent: int) -> Check:
    """Integers below this power of two."""
    return partial(check_below_power, exponent=exponent)


def between(lowest: float, highest: float) -> Check:
    """Numbers from `lowest` to `highest`, both included."""
    return partial(check_between, lowest=lowest, highest=highest)


Seed = Annotated[int, lambda name, value: check_seed(value)]
Discount = Annotated[float, lambda name, value: check_discount(value)]
PositiveInteger = Annotated[int, at_least(1)]
Index = Annotated[int, at_least(0)]
Positive = Annotated[float, partial(check_number, positive=True)]
NotNegative = Annotated[float, partial(check_number, positive=False)]
Share = Annotated[float, between(0.0, 1.0)]
