"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__

if TYPE_CHECKING:
    from swarmdp import envs, features, testing, theory
    from swarmdp.adapted import with_features
    from swarmdp.analysing import Analysis, analyse
    from swarmdp.errors import (
        FileError,
        InvalidInput,
        NotEnoughMemory,
        RecordingTooLarge,
        SolverError,
        SwarmdpError,
        SwarmdpWarning,
        VerdictWarning,
    )
    from swarmdp.evaluation import Evaluation, evaluate
    from swarmdp.features import Angles, Axis, Basis, Bins, Levels, Product, Vectors
    from swarmdp.fitting import Fit, fit
    from swarmdp.irl.algorithm import Iteration
    from swarmdp.irl.bayesian import Bayesian
    from swarmdp.irl.cloning import clone
    from swarmdp.irl.evidence import Evidence, Update
    from swarmdp.irl.max_margin import MaxMargin
    from swarmdp.irl.maxent import MaxEnt
    from swarmdp.irl.mwal import MWAL
    from swarmdp.irl.ng_russell import NgRussell, ng_russell
    from swarmdp.irl.policy_matching import PolicyMatching
    from swarmdp.irl.projection import Projection
    from swarmdp.irl.result import Result
    from swarmdp.judging.discounts import suggested_discount
    from swarmdp.judging.judge import judge, judge_each
    from swarmdp.learning.heterogeneous import HeterogeneousLearning, Snapshot
    from swarmdp.learning.linear_q import LinearQ
    from swarmdp.learning.local_model import LocalModel
    from swarmdp.learning.planning import Planning, plan, plan_to_horizon
    from swarmdp.learning.q_functions import BatchQ, SequentialQ
    from swarmdp.loading import load
    from swarmdp.pictures import Arrows, Grid
    from swarmdp.policies import (
        FunctionPolicy,
        InterpolatedPolicy,
        LinearPolicy,
        LocalPolicy,
        MixedPolicy,
        Policy,
        SoftPolicy,
        load_controller,
    )
    from swarmdp.protocols import Learned, Learner, Wants
    from swarmdp.recording import DiscountedFeatures
    from swarmdp.recordings.arena import Box, Circle, Periodic, Polygon
    from swarmdp.recordings.cleaning import Cleaned
    from swarmdp.recordings.decisions import Decisions
    from swarmdp.recordings.interaction import Interaction
    from swarmdp.recordings.observation import Observation
    from swarmdp.recordings.reading import read_tracks
    from swarmdp.recordings.recording import Recording
    from swarmdp.recordings.swarm import Swarm
    from swarmdp.report.animation import animate
    from swarmdp.report.fits import plot_convergence, plot_reward
    from swarmdp.report.inline import show
    from swarmdp.rewards import Reward
    from swarmdp.simulation import rollout
    from swarmdp.streams import Stream, Streams
    from swarmdp.system import Field, Measure, Mirror, System
    from swarmdp.systems.finite import FiniteMDP
    from swarmdp.systems.gridworld import Gridworld
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek
    from swarmdp.trajectory import Trajectory
    from swarmdp.verdict import Verdict

_MODULES = ("envs", "features", "testing", "theory")
_NAMES = {
    "swarmdp.adapted": "with_features",
    "swarmdp.analysing": "Analysis analyse",
    "swarmdp.errors": "FileError InvalidInput NotEnoughMemory "
    "RecordingTooLarge SolverError SwarmdpError SwarmdpWarning VerdictWarning",
    "swarmdp.evaluation": "Evaluation evaluate",
    "swarmdp.features": "Angles Axis Basis Bins Levels Product Vectors",
    "swarmdp.fitting": "Fit fit",
    "swarmdp.irl.algorithm": "Iteration",
    "swarmdp.irl.bayesian": "Bayesian",
    "swarmdp.irl.cloning": "clone",
    "swarmdp.irl.evidence": "Evidence Update",
    "swarmdp.irl.max_margin": "MaxMargin",
    "swarmdp.irl.maxent": "MaxEnt",
    "swarmdp.irl.mwal": "MWAL",
    "swarmdp.irl.ng_russell": "NgRussell ng_russell",
    "swarmdp.irl.policy_matching": "PolicyMatching",
    "swarmdp.irl.projection": "Projection",
    "swarmdp.irl.result": "Result",
    "swarmdp.judging.discounts": "suggested_discount",
    "swarmdp.judging.judge": "judge judge_each",
    "swarmdp.verdict": "Verdict",
    "swarmdp.learning.heterogeneous": "HeterogeneousLearning Snapshot",
    "swarmdp.learning.linear_q": "LinearQ",
    "swarmdp.learning.local_model": "LocalModel",
    "swarmdp.learning.planning": "Planning plan plan_to_horizon",
    "swarmdp.learning.q_functions": "BatchQ SequentialQ",
    "swarmdp.loading": "load",
    "swarmdp.pictures": "Arrows Grid",
    "swarmdp.policies": "FunctionPolicy InterpolatedPolicy LinearPolicy LocalPolicy "
    "MixedPolicy Policy SoftPolicy load_controller",
    "swarmdp.protocols": "Learned Learner Wants",
    "swarmdp.recording": "DiscountedFeatures",
    "swarmdp.recordings.arena": "Box Circle Periodic Polygon",
    "swarmdp.recordings.cleaning": "Cleaned",
    "swarmdp.recordings.reading": "read_tracks",
    "swarmdp.recordings.decisions": "Decisions",
    "swarmdp.recordings.interaction": "Interaction",
    "swarmdp.recordings.observation": "Observation",
    "swarmdp.recordings.recording": "Recording",
    "swarmdp.recordings.swarm": "Swarm",
    "swarmdp.report.animation": "animate",
    "swarmdp.report.fits": "plot_convergence plot_reward",
    "swarmdp.report.inline": "show",
    "swarmdp.rewards": "Reward",
    "swarmdp.simulation": "rollout",
    "swarmdp.streams": "Stream Streams",
    "swarmdp.system": "Field Measure Mirror System",
    "swarmdp.systems.finite": "FiniteMDP",
    "swarmdp.systems.gridworld": "Gridworld",
    "swarmdp.systems.ising": "Ising",
    "swarmdp.systems.vicsek": "Vicsek",
    "swarmdp.trajectory": "Trajectory",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "MWAL",
    "Analysis",
    "Angles",
    "Arrows",
    "Axis",
    "Basis",
    "BatchQ",
    "Bayesian",
    "Bins",
    "Box",
    "Circle",
    "Cleaned",
    "Decisions",
    "DiscountedFeatures",
    "Evaluation",
    "Evidence",
    "Field",
    "FileError",
    "FiniteMDP",
    "Fit",
    "FunctionPolicy",
    "Grid",
    "Gridworld",
    "HeterogeneousLearning",
    "Interaction",
    "InterpolatedPolicy",
    "InvalidInput",
    "Ising",
    "Iteration",
    "Learned",
    "Learner",
    "Levels",
    "LinearPolicy",
    "LinearQ",
    "LocalModel",
    "LocalPolicy",
    "MaxEnt",
    "MaxMargin",
    "Measure",
    "Mirror",
    "MixedPolicy",
    "NgRussell",
    "NotEnoughMemory",
    "Observation",
    "Periodic",
    "Planning",
    "Policy",
    "PolicyMatching",
    "Polygon",
    "Product",
    "Projection",
    "Recording",
    "RecordingTooLarge",
    "Result",
    "Reward",
    "SequentialQ",
    "Snapshot",
    "SoftPolicy",
    "SolverError",
    "Stream",
    "Streams",
    "Swarm",
    "SwarmdpError",
    "SwarmdpWarning",
    "System",
    "Trajectory",
    "Update",
    "Vectors",
    "Verdict",
    "VerdictWarning",
    "Vicsek",
    "Wants",
    "__version__",
    "analyse",
    "animate",
    "clone",
    "envs",
    "evaluate",
    "features",
    "fit",
    "judge",
    "judge_each",
    "load",
    "load_controller",
    "ng_russell",
    "plan",
    "plan_to_horizon",
    "plot_convergence",
    "plot_reward",
    "read_tracks",
    "rollout",
    "show",
    "suggested_discount",
    "testing",
    "theory",
    "with_features",
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
