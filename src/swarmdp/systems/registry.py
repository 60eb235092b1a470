"""Systems made again from the name and the settings that a file tells."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from swarmdp.model.adapted import REPLACED, with_features
from swarmdp.model.features import restored
from swarmdp.model.system import System, check_is_system
from swarmdp.support.errors import InvalidInput


def rebuilt(kind: type[Any], name: str, settings: Mapping[str, Any]) -> System:
    """The system of this class that was called so and had these settings.

    Raises InvalidInput if it was another system, or if its file does not tell all of it.
    """
    if kind.__name__ != name and not hasattr(kind, "system_name"):
        raise InvalidInput(f"it was recorded from {name}, not from {kind.__name__}")
    names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    replaced = {key for key in REPLACED if key in settings} - names
    values = {key: _tuples(settings[key]) for key in settings if key not in replaced}
    try:
        system = kind(**values)
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"cannot make {kind.__name__} from {values!s:.500}: {error}") from None
    check_is_system(system)
    if "initial" in replaced:
        raise InvalidInput(
            "it was made with start states of its own, which no file keeps: use Python, where "
            "`initial` can be given again"
        )
    if "features" not in replaced:
        return system  # type: ignore[no-any-return]
    features = restored(settings["features"])
    if features is None:
        raise InvalidInput(
            f"its features ({settings['features']['kind']}) cannot be made from a file: use Python"
        )
    return with_features(system, features)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
