"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__

if TYPE_CHECKING:
    from swarmdp import features, testing
    from swarmdp.errors import FileError, InvalidInput, RecordingTooLarge, SwarmdpError
    from swarmdp.features import Angles, Levels
    from swarmdp.model import Field, Policy, Reward, System
    from swarmdp.simulation import DiscountedFeatures, rollout
    from swarmdp.streams import Stream, Streams
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek
    from swarmdp.trajectory import Trajectory, load

_HOMES = {
    "Angles": "swarmdp.features",
    "DiscountedFeatures": "swarmdp.simulation",
    "Field": "swarmdp.model",
    "FileError": "swarmdp.errors",
    "InvalidInput": "swarmdp.errors",
    "Ising": "swarmdp.systems.ising",
    "Levels": "swarmdp.features",
    "Policy": "swarmdp.model",
    "RecordingTooLarge": "swarmdp.errors",
    "Reward": "swarmdp.model",
    "Stream": "swarmdp.streams",
    "Streams": "swarmdp.streams",
    "SwarmdpError": "swarmdp.errors",
    "System": "swarmdp.model",
    "Trajectory": "swarmdp.trajectory",
    "Vicsek": "swarmdp.systems.vicsek",
    "load": "swarmdp.trajectory",
    "rollout": "swarmdp.simulation",
}
_MODULES = ("features", "testing")

__all__ = [
    "Angles",
    "DiscountedFeatures",
    "Field",
    "FileError",
    "InvalidInput",
    "Ising",
    "Levels",
    "Policy",
    "RecordingTooLarge",
    "Reward",
    "Stream",
    "Streams",
    "SwarmdpError",
    "System",
    "Trajectory",
    "Vicsek",
    "__version__",
    "features",
    "load",
    "rollout",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"swarmdp.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'swarmdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
