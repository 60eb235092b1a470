"""The built-in systems, their only list, and systems built again from what a file says of them.

A new built-in system is one module beside this one and one row of `SYSTEMS`: the command line, the
studio, the report, `judge` and `show` ask here. Nothing heavy is imported until a class is needed,
so that `swarmdp --help` stays quick.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.model.system import System


@dataclass(frozen=True)
class BuiltIn:
    """A system that comes with swarmdp."""

    name: str  # on the command line
    path: str  # module:Class
    summary: str  # one line of help
    steps: int = 100  # after which little happens
    in_studio: bool = False
    in_paper: bool = False  # the paper's experiments are repeated with it

    @property
    def class_name(self) -> str:
        """What files call it."""
        return self.path.partition(":")[2]


_ROWS = (
    BuiltIn(
        "vicsek",
        "swarmdp.systems.vicsek:Vicsek",
        "self-propelled particles that align with their neighbours",
        in_studio=True,
        in_paper=True,
    ),
    BuiltIn(
        "ising",
        "swarmdp.systems.ising:Ising",
        "spins on a grid that follow the majority of their neighbours",
        steps=60,
        in_studio=True,
        in_paper=True,
    ),
    BuiltIn(
        "gridworld",
        "swarmdp.systems.gridworld:Gridworld",
        "one agent on a grid with wind: the textbook case",
    ),
)

SYSTEMS: Mapping[str, BuiltIn] = {row.name: row for row in _ROWS}


def built_in(name: str) -> BuiltIn | None:
    """The built-in system of this name, on the command line or of its class; None for others."""
    for row in _ROWS:
        if name in (row.name, row.class_name):
            return row
    return None


def class_at(path: str) -> type[Any]:
    """The class that module:Class names."""
    module, _, name = path.partition(":")
    kind: type[Any] = getattr(importlib.import_module(module), name)
    return kind


def rebuild(
    name: str,
    settings: Mapping[str, Any],
    kind: type[Any] | None = None,
    *,
    any_start: bool = False,
) -> "System":
    """The system of this name and these settings, as a file has them.

    Parameters
    ----------
    name
        What the file calls the system.
    settings
        Its settings.
    kind
        Its class; a built-in system needs none.
    any_start
        Whether it may start otherwise than the system of the file did: start states that were given
        are not kept in files.

    Raises
    ------
    InvalidInput
        If it is another system, or if the file does not tell all of it.

    """
    from swarmdp.model.adapted import REPLACED
    from swarmdp.model.augmented import augmented_from
    from swarmdp.model.system import check_is_system

    if kind is None:
        row = built_in(name)
        if row is None:
            raise InvalidInput(f"{name} is not a built-in system: give its class")
        kind = class_at(row.path)
    if kind.__name__ != name and not hasattr(kind, "system_name"):
        raise InvalidInput(f"it was recorded from {name}, not from {kind.__name__}")
    of_class = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    replaced = {key for key in REPLACED if key in settings} - of_class
    values = {key: _with_tuples(settings[key]) for key in settings if key not in replaced}
    try:
        system: System = kind(**values)
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"cannot make {kind.__name__} from {values!s:.500}: {error}") from None
    check_is_system(system)
    for layer in settings["layers"] if "layers" in replaced else ():
        system = _adapted(system, layer.get("under", {}), any_start)
        system = augmented_from(system, layer)
    return _adapted(system, {key: settings[key] for key in replaced}, any_start)


def _adapted(system: "System", replaced: Mapping[str, Any], any_start: bool) -> "System":
    """The system with the features that a file keeps; start states cannot be made again."""
    from swarmdp.model.adapted import with_features
    from swarmdp.model.features.plain import features_from

    if "initial" in replaced and not any_start:
        raise InvalidInput(
            "it was made with start states of its own, which no file keeps: use Python, where "
            "`initial` can be given again"
        )
    if "features" not in replaced:
        return system
    features = features_from(replaced["features"])
    if features is None:
        raise InvalidInput(
            f"its features ({replaced['features']['kind']}) cannot be made from a file: use Python"
        )
    return with_features(system, features)


def _with_tuples(value: Any) -> Any:
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
