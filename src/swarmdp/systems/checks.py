"""Checks of a system's settings."""

import math

from swarmdp.errors import InvalidInput


def check_integer(name: str, value: object, least: int) -> None:
    """Refuse anything but an integer of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be an integer of at least {least}, got {value!r}")


def check_number(name: str, value: object, *, positive: bool) -> None:
    """Refuse anything but a finite number that is positive, or not negative."""
    wanted = "positive" if positive else "not negative"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{name} must be a finite number, got {value!r}")
    if value < 0 or (positive and value == 0):
        raise InvalidInput(f"{name} must be {wanted}, got {value!r}")
