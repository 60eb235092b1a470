"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__

if TYPE_CHECKING:
    from swarmdp import features, testing
    from swarmdp.errors import (
        FileError,
        InvalidInput,
        RecordingTooLarge,
        SolverError,
        SwarmdpError,
        SwarmdpWarning,
    )
    from swarmdp.features import Angles, Levels
    from swarmdp.fitting import fit
    from swarmdp.irl.bayesian import Bayesian
    from swarmdp.irl.cloning import clone
    from swarmdp.irl.evidence import Evidence, Update
    from swarmdp.irl.max_margin import MaxMargin
    from swarmdp.irl.policy_matching import PolicyMatching
    from swarmdp.irl.result import Result, load
    from swarmdp.learning.heterogeneous import HeterogeneousLearning
    from swarmdp.learning.q_functions import BatchQ, LocalModel, SequentialQ
    from swarmdp.model import Field, MixedPolicy, Policy, Reward, SoftPolicy, System
    from swarmdp.simulation import DiscountedFeatures, rollout
    from swarmdp.streams import Stream, Streams
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek
    from swarmdp.trajectory import Trajectory

_HOMES = {
    "Angles": "swarmdp.features",
    "BatchQ": "swarmdp.learning.q_functions",
    "Bayesian": "swarmdp.irl.bayesian",
    "DiscountedFeatures": "swarmdp.simulation",
    "Evidence": "swarmdp.irl.evidence",
    "Field": "swarmdp.model",
    "FileError": "swarmdp.errors",
    "HeterogeneousLearning": "swarmdp.learning.heterogeneous",
    "InvalidInput": "swarmdp.errors",
    "Ising": "swarmdp.systems.ising",
    "Levels": "swarmdp.features",
    "LocalModel": "swarmdp.learning.q_functions",
    "MaxMargin": "swarmdp.irl.max_margin",
    "MixedPolicy": "swarmdp.model",
    "Policy": "swarmdp.model",
    "PolicyMatching": "swarmdp.irl.policy_matching",
    "RecordingTooLarge": "swarmdp.errors",
    "Result": "swarmdp.irl.result",
    "Reward": "swarmdp.model",
    "SequentialQ": "swarmdp.learning.q_functions",
    "SoftPolicy": "swarmdp.model",
    "SolverError": "swarmdp.errors",
    "Stream": "swarmdp.streams",
    "Streams": "swarmdp.streams",
    "SwarmdpError": "swarmdp.errors",
    "SwarmdpWarning": "swarmdp.errors",
    "System": "swarmdp.model",
    "Trajectory": "swarmdp.trajectory",
    "Update": "swarmdp.irl.evidence",
    "Vicsek": "swarmdp.systems.vicsek",
    "clone": "swarmdp.irl.cloning",
    "fit": "swarmdp.fitting",
    "load": "swarmdp.irl.result",
    "rollout": "swarmdp.simulation",
}
_MODULES = ("features", "testing")

__all__ = [
    "Angles",
    "BatchQ",
    "Bayesian",
    "DiscountedFeatures",
    "Evidence",
    "Field",
    "FileError",
    "HeterogeneousLearning",
    "InvalidInput",
    "Ising",
    "Levels",
    "LocalModel",
    "MaxMargin",
    "MixedPolicy",
    "Policy",
    "PolicyMatching",
    "RecordingTooLarge",
    "Result",
    "Reward",
    "SequentialQ",
    "SoftPolicy",
    "SolverError",
    "Stream",
    "Streams",
    "SwarmdpError",
    "SwarmdpWarning",
    "System",
    "Trajectory",
    "Update",
    "Vicsek",
    "__version__",
    "clone",
    "features",
    "fit",
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
