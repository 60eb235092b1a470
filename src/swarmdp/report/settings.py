"""Settings as a page shows them: with their units."""

import dataclasses
import math
from typing import Any

from swarmdp.model.system import System
from swarmdp.model.traits import settings_of


def settings_with_units(system: System) -> dict[str, Any]:
    """The settings of a system; those that its class declares as angles are in degrees."""
    plain: dict[str, Any] = dict(settings_of(system))
    if not dataclasses.is_dataclass(system):
        return plain
    for field in dataclasses.fields(system):
        if field.name in plain and field.metadata.get("degrees", False):
            plain[field.name] = _in_degrees(plain[field.name])
    return plain


def _in_degrees(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_in_degrees(one) for one in value]
    return f"{math.degrees(value):.6g}°" if isinstance(value, int | float) else value
