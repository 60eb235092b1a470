"""Options as frozen dataclasses, of which a function changes some by name."""

import difflib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def change_settings(settings: Settings, changes: Mapping[str, Any], function: str) -> Settings:
    """These settings with some of them changed, by name.

    Raises TypeError for a name that is no option of the function, as Python does.
    """
    names = [field.name for field in fields(settings)]
    for name in changes:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
    return replace(settings, **changes) if changes else settings
