"""Large working arrays that are used again instead of being asked of the system at every step."""

import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

Array = TypeVar("Array")

_local = threading.local()


def scratch(name: str, key: Hashable, make: Callable[[], Array]) -> Array:
    """What `make` gave this thread when it last asked for this name with the same key.

    One for each name is kept, so memory does not grow with the sizes that were used.
    """
    # Threads do not share it: two runs of the same size may be under way.
    kept = vars(_local).setdefault(name, (None, None))
    if kept[0] != key:
        kept = (key, make())
        setattr(_local, name, kept)
    return kept[1]  # type: ignore[no-any-return]
