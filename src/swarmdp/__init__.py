"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__

if TYPE_CHECKING:
    from swarmdp import features, testing, theory
    from swarmdp.errors import (
        FileError,
        InvalidInput,
        NotEnoughMemory,
        RecordingTooLarge,
        SolverError,
        SwarmdpError,
        SwarmdpWarning,
    )
    from swarmdp.features import Angles, Levels, Vectors
    from swarmdp.fitting import fit
    from swarmdp.irl.bayesian import Bayesian
    from swarmdp.irl.cloning import clone
    from swarmdp.irl.evidence import Evidence, Update
    from swarmdp.irl.max_margin import MaxMargin
    from swarmdp.irl.maxent import MaxEnt
    from swarmdp.irl.mwal import MWAL
    from swarmdp.irl.ng_russell import NgRussell, ng_russell
    from swarmdp.irl.policy_matching import PolicyMatching
    from swarmdp.irl.projection import Projection
    from swarmdp.irl.result import Result, load
    from swarmdp.learning.heterogeneous import HeterogeneousLearning
    from swarmdp.learning.local_model import LocalModel
    from swarmdp.learning.planning import Planning, plan, plan_to_horizon
    from swarmdp.learning.q_functions import BatchQ, SequentialQ
    from swarmdp.model import Field, MixedPolicy, Policy, Reward, SoftPolicy, System
    from swarmdp.simulation import DiscountedFeatures, rollout
    from swarmdp.streams import Stream, Streams
    from swarmdp.systems.finite import FiniteMDP
    from swarmdp.systems.gridworld import Gridworld
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
    "FiniteMDP": "swarmdp.systems.finite",
    "Gridworld": "swarmdp.systems.gridworld",
    "HeterogeneousLearning": "swarmdp.learning.heterogeneous",
    "InvalidInput": "swarmdp.errors",
    "Ising": "swarmdp.systems.ising",
    "Levels": "swarmdp.features",
    "LocalModel": "swarmdp.learning.local_model",
    "MWAL": "swarmdp.irl.mwal",
    "MaxEnt": "swarmdp.irl.maxent",
    "MaxMargin": "swarmdp.irl.max_margin",
    "MixedPolicy": "swarmdp.model",
    "NgRussell": "swarmdp.irl.ng_russell",
    "NotEnoughMemory": "swarmdp.errors",
    "Planning": "swarmdp.learning.planning",
    "Policy": "swarmdp.model",
    "PolicyMatching": "swarmdp.irl.policy_matching",
    "Projection": "swarmdp.irl.projection",
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
    "Vectors": "swarmdp.features",
    "Vicsek": "swarmdp.systems.vicsek",
    "clone": "swarmdp.irl.cloning",
    "fit": "swarmdp.fitting",
    "load": "swarmdp.irl.result",
    "ng_russell": "swarmdp.irl.ng_russell",
    "plan": "swarmdp.learning.planning",
    "plan_to_horizon": "swarmdp.learning.planning",
    "rollout": "swarmdp.simulation",
}
_MODULES = ("features", "testing", "theory")

__all__ = [
    "MWAL",
    "Angles",
    "BatchQ",
    "Bayesian",
    "DiscountedFeatures",
    "Evidence",
    "Field",
    "FileError",
    "FiniteMDP",
    "Gridworld",
    "HeterogeneousLearning",
    "InvalidInput",
    "Ising",
    "Levels",
    "LocalModel",
    "MaxEnt",
    "MaxMargin",
    "MixedPolicy",
    "NgRussell",
    "NotEnoughMemory",
    "Planning",
    "Policy",
    "PolicyMatching",
    "Projection",
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
    "Vectors",
    "Vicsek",
    "__version__",
    "clone",
    "features",
    "fit",
    "load",
    "ng_russell",
    "plan",
    "plan_to_horizon",
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
