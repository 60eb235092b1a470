"""The settings of a system as sliders: the fields of its dataclass."""

import dataclasses
import math
import typing
from collections.abc import Mapping
from typing import Any

from swarmdp.model.system import System, check_is_system
from swarmdp.model.traits import HasSettings, Resizable
from swarmdp.support.errors import InvalidInput

_SLIDER_AGENTS = 100_000
_LARGEST_SIDE = 316  # of a grid


@dataclasses.dataclass(frozen=True)
class Knob:
    """One setting that can be changed on the page."""

    name: str
    label: str
    help: str
    kind: str  # "integer", "number", "boolean" or "side", which is one number for rows and columns
    value: float
    low: float
    high: float
    step: float
    logarithmic: bool = False
    degrees: bool = False  # shown in degrees, kept in radians

    def read(self, shown: float) -> Any:
        """The field's value for what the page shows."""
        if self.kind == "boolean":
            return bool(shown)
        if not self.low <= shown <= self.high:
            raise InvalidInput(
                f"{self.label} must be from {self.low:g} to {self.high:g}, got {shown:g}"
            )
        if self.kind == "number":
            return math.radians(shown) if self.degrees else float(shown)
        return (round(shown), round(shown)) if self.kind == "side" else round(shown)


def knobs_of(system: System) -> list[Knob]:
    """The sliders of a system; none where its settings are not fields of a dataclass."""
    if isinstance(system, HasSettings):
        return []  # its fields are not what makes it
    if not dataclasses.is_dataclass(system) or isinstance(system, type):
        return []
    try:
        hints = typing.get_type_hints(type(system))
    except NameError:  # of annotations that are imported for type checkers only
        hints = {}
    knobs = (
        _knob(field, hints.get(field.name), vars(system).get(field.name))
        for field in dataclasses.fields(system)
        if field.init
    )
    return [knob for knob in knobs if knob is not None]


def system_with(base: System, given: Mapping[str, float]) -> System:
    """The system `base` with these settings changed, given as the page shows them.

    Another number of agents keeps their density, where the system can do so, unless the size of its
    box is given as well. Raises InvalidInput, whatever the class raises.
    """
    kind, knobs = type(base).__name__, {knob.name: knob for knob in knobs_of(base)}
    values: dict[str, Any] = {}
    for name, shown in given.items():
        if name not in knobs:
            raise InvalidInput(f"{kind} has no setting {name!r} that can be changed here")
        values[name] = knobs[name].read(shown)
    try:
        if "n_agents" in values and isinstance(base, Resizable):
            base = base.resized(values["n_agents"])
        system = dataclasses.replace(base, **values) if values else base  # type: ignore[type-var]
    except InvalidInput:
        raise
    except Exception as error:  # a user's class may raise anything
        raise InvalidInput(f"{kind} does not take these settings: {error}") from None
    check_is_system(system)
    return system


def _knob(field: "dataclasses.Field[Any]", hint: Any, value: Any) -> Knob | None:
    name, words = field.name, str(field.metadata.get("help", ""))
    label = {"n_agents": "agents N"}.get(name, name.replace("_", " "))
    degrees = bool(field.metadata.get("degrees", False))
    if isinstance(value, bool):
        return Knob(name, label, words, "boolean", float(value), 0, 1, 1)
    if isinstance(value, int) and hint is not float:
        if name == "n_agents":
            return Knob(name, label, words, "integer", value, 2, _SLIDER_AGENTS, 1, True)
        return Knob(name, label, words, "integer", value, min(1, value), max(5 * abs(value), 10), 1)
    if isinstance(value, int | float):
        shown = float(f"{math.degrees(value) if degrees else value:.10g}")
        low, high = (min(0.0, 4 * shown), max(0.0, 4 * shown)) if shown else (-1.0, 1.0)
        if degrees:
            low, high = (0.0, 180.0) if shown >= 0 else (-180.0, 180.0)
        step = 1.0 if degrees else float(f"{(high - low) / 200:.1g}")
        return Knob(name, label, words, "number", shown, low, high, step, degrees=degrees)
    square = isinstance(value, tuple) and len(value) == 2 and value[0] == value[1]
    if square and all(type(side) is int for side in value):
        return Knob(name, "size", words, "side", value[0], 5, _LARGEST_SIDE, 1, True)
    return None
