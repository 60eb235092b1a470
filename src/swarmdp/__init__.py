"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__

if TYPE_CHECKING:
    from swarmdp import features, testing, theory
    from swarmdp.errors import FileError, InvalidInput, RecordingTooLarge, SolverError, SwarmdpError
    from swarmdp.features import Angles, Levels
    from swarmdp.fitting import fit
    from swarmdp.irl.result import Result, load
    from swarmdp.learning.heterogeneous import HeterogeneousLearning
    from swarmdp.learning.q_functions import BatchQ, LocalModel, SequentialQ
    from swarmdp.model import Field, Policy, Reward, System
    from swarmdp.simulation import DiscountedFeatures, rollout
    from swarmdp.streams import Stream, Streams
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek
    from swarmdp.trajectory import Trajectory

_HOMES = {
    "Angles": "swarmdp.features",
    "BatchQ": "swarmdp.learning.q_functions",
    "DiscountedFeatures": "swarmdp.simulation",
    "Field": "swarmdp.model",
    "FileError": "swarmdp.errors",
    "HeterogeneousLearning": "swarmdp.learning.heterogeneous",
    "InvalidInput": "swarmdp.errors",
    "Ising": "swarmdp.systems.ising",
    "Levels": "swarmdp.features",
    "LocalModel": "swarmdp.learning.q_functions",
    "Policy": "swarmdp.model",
    "RecordingTooLarge": "swarmdp.errors",
    "Result": "swarmdp.irl.result",
    "Reward": "swarmdp.model",
    "SequentialQ": "swarmdp.learning.q_functions",
    "SolverError": "swarmdp.errors",
    "Stream": "swarmdp.streams",
    "Streams": "swarmdp.streams",
    "SwarmdpError": "swarmdp.errors",
    "System": "swarmdp.model",
    "Trajectory": "swarmdp.trajectory",
    "Vicsek": "swarmdp.systems.vicsek",
    "fit": "swarmdp.fitting",
    "load": "swarmdp.irl.result",
    "rollout": "swarmdp.simulation",
}
_MODULES = ("features", "testing", "theory")

__all__ = [
    "Angles",
    "BatchQ",
    "DiscountedFeatures",
    "Field",
    "FileError",
    "HeterogeneousLearning",
    "InvalidInput",
    "Ising",
    "Levels",
    "LocalModel",
    "Policy",
    "RecordingTooLarge",
    "Result",
    "Reward",
    "SequentialQ",
    "SolverError",
    "Stream",
    "Streams",
    "SwarmdpError",
    "System",
    "Trajectory",
    "Vicsek",
    "__version__",
    "features",
    "fit",
    "load",
    "rollout",
    "testing",
    "theory",
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
