"""Right calls of every public name, as Python text, and what wrong ones are made from.

Names, parameters and methods come from the package itself: a new public name needs at most its
right arguments here, and a test says so if they are missing.
"""

import enum
import inspect
import io
import math
import types
import warnings
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import swarmdp
from swarmdp import theory
from swarmdp.irl.demos import ExpertData
from swarmdp.learning.q_functions import Problem
from swarmdp.model import features, testing
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.trajectory import Variable
from swarmdp.policies import Interface
from swarmdp.simulation.recorders import Moment, SingleAgentFeatures

__all__ = ["Decimal", "ExpertData", "Fraction", "Interface", "Moment", "Path", "Problem", "Purpose"]
__all__ += ["SingleAgentFeatures", "Variable", "array", "features", "io", "math", "np", "pandas"]
__all__ += ["swarmdp", "testing", "theory"]


class SubInt(int):
    """An integer of a class of one's own."""


class SubFloat(float):
    """A number of a class of one's own."""


class SubStr(str):
    """A text of a class of one's own."""


class SubArray(np.ndarray[Any, Any]):
    """An array of a class of one's own."""


class Colour(enum.IntEnum):
    """An integer that is also something else."""

    RED = 1


class Refusing:
    """Something that cannot be compared, shown or asked for its truth."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class Raising:
    """Something that pretends to be an array, but is none."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        return 3


class Endless:
    """A list whose length is said wrongly."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: int) -> float:
        raise IndexError(place)


class WrongSystem:
    """It has all names of a system, but nothing of one."""

    n_agents = "many"
    actions = None
    features = 3

    def initial(self, *args: Any) -> None: ...

    def observe(self, *args: Any) -> None: ...

    def transition(self, *args: Any) -> None: ...


def _changed(value: Any, change: Any, which: int = 0, every: bool = False) -> Any:
    """An array changed, or one (the first) of several arrays by name, or one of a trajectory."""
    if isinstance(value, swarmdp.Trajectory):
        name = list(value.variables)[which % len(value.variables)]
        v = value.variables[name]
        changed = Variable(change(v.values), v.axes, v.units, v.description)
        return replace(value, variables={**value.variables, name: changed})
    if isinstance(value, Mapping):
        out = dict(value)
        names = list(out)
        for name in names if every or not names else [names[which % len(names)]]:
            out[name] = change(out[name]) if isinstance(out[name], np.ndarray) else change([1.0])
        return out
    return change(np.asarray(value))


def _maker(change: Any) -> Any:
    def changed(x: Any) -> Any:
        try:
            return change(np.asarray(x))
        except Exception:  # texts cannot be negated, policies not be scaled
            return np.array(["x"])

    return lambda value, which=0: _changed(value, changed, which)


def _with(value: float) -> Any:
    def change(x: Any) -> Any:
        out = np.array(x, np.float64) if x.dtype.kind in "biuf" else np.array([value])
        out.reshape(-1)[-1:] = value
        return out

    return lambda x, which=0: _changed(x, lambda y: change(np.asarray(y)), which, every=True)


byteswapped = _maker(lambda x: x.astype(x.dtype.newbyteorder(">")))
subclassed = _maker(lambda x: x.view(SubArray))
masked = _maker(lambda x: np.ma.array(x, mask=np.arange(x.size).reshape(x.shape) == 0))
framed = _maker(lambda x: pandas.DataFrame(x) if x.ndim == 2 else pandas.Series(x.ravel()))
reversed_ = _maker(lambda x: x[::-1])
shorter = _maker(lambda x: x[:-1] if x.ndim else x)
longer = _maker(lambda x: np.concatenate([x, x]) if x.ndim else x)
flattened = _maker(lambda x: x.ravel())
deeper = _maker(lambda x: x[None])
transposed = _maker(lambda x: x.T)
emptied = _maker(lambda x: x[:0] if x.ndim else x)
narrowed = _maker(lambda x: x.astype(np.float16 if x.dtype.kind == "f" else np.int8))
widened = _maker(lambda x: x.astype(np.longdouble if x.dtype.kind == "f" else np.uint64))
as_integers = _maker(lambda x: x.astype(np.int64))
as_complex = _maker(lambda x: x + 1j)
as_objects = _maker(lambda x: x.astype(object))
as_texts = _maker(lambda x: x.astype(str))
as_booleans = _maker(lambda x: x.astype(bool))
as_lists = _maker(lambda x: x.tolist())
strided = _maker(lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x)
negated = _maker(lambda x: -x if x.dtype.kind != "b" else ~x)
scaled = _maker(lambda x: x * 1e6)
one_less_agent = _maker(lambda x: x[:, :-1] if x.ndim > 1 else x[:-1])
one_more_run = _maker(lambda x: np.concatenate([x, x[:1]]) if x.ndim else x)
one_coordinate = _maker(lambda x: x[..., :1] if x.ndim else x)
three_coordinates = _maker(lambda x: np.concatenate([x, x[..., :1]], axis=-1) if x.ndim else x)
infinite = _with(np.inf)
one_changed = _with(7.0)
with_nan = _with(np.nan)
all_nan = lambda x, which=0: _changed(  # noqa: E731
    x, lambda y: np.full(np.shape(y), np.nan), which, every=True
)


def readonly(value: Any, which: int = 0) -> Any:
    def change(x: Any) -> Any:
        out = np.array(x)
        out.setflags(write=False)
        return out

    return _changed(value, change, which)


def without_one(value: Any, which: int = 0) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, swarmdp.Trajectory):
        return {name: value[name] for name in list(value)[1:]}
    return shorter(value)


def with_another(value: Any, which: int = 0) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, swarmdp.Trajectory):
        return {**value, "another": np.zeros(3)}
    return longer(value)


def swapped(value: Any, which: int = 0) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, swarmdp.Trajectory):
        return dict(zip(value, reversed(list(value.values())), strict=True))
    return reversed_(value)


# Right values. All small: the campaign makes tens of thousands of calls.
VICSEK = swarmdp.Vicsek(n_agents=5, n_bins=6)
OPEN = swarmdp.Vicsek(n_agents=5, n_bins=6, periodic=False)
NEAREST = swarmdp.Vicsek(n_agents=5, n_bins=6, nearest=2)
ISING = swarmdp.Ising((5, 6))
GRID = swarmdp.Gridworld(rows=3, columns=2)
MDP = swarmdp.FiniteMDP(np.full((3, 2, 3), 1 / 3), 0)
RING = theory.FiniteIsing((3,), noise=0.1)
TURNING = theory.VicsekRing(n_agents=2, cells=3, noise=0.1)
DRAWN = theory.RandomSwarm(n_agents=2, n_local=2)
AXIS = swarmdp.features.Axis("x", np.arange(3.0), "m")
BASIS = swarmdp.features.Basis(
    lambda x: np.stack([x, x**2], axis=-1), ("a", "b"), (AXIS,), scalar=True
)
SEES = swarmdp.policies.Interface.of(VICSEK)
POLICY = swarmdp.Policy([6, 5, 4, 6, 7, 8], SEES)
SOFT = swarmdp.policies.SoftPolicy(np.full((6, 13), 1 / 13), SEES)
BETWEEN = swarmdp.policies.InterpolatedPolicy(np.linspace(-1, 1, 6), SEES)
MIXED = swarmdp.policies.MixedPolicy([POLICY, POLICY], [0.5, 0.5])
FUNCTION = swarmdp.policies.FunctionPolicy(VICSEK.expert)
REWARD = swarmdp.Reward([0.0, 1.0, 2.0, 3.0, 2.0, 1.0])
GRID_REWARD = GRID.reward
RUNS = np.arange(2)
STREAMS = swarmdp.model.Streams.of(1, RUNS, 5)
STREAM = STREAMS.at(0, Purpose.INITIAL)
STATE = VICSEK.initial(STREAM)
AFTER = VICSEK.transition(STATE, np.zeros((2, 5)), STREAM)
OBSERVATIONS = VICSEK.observe(STATE)
TURNS = np.zeros((2, 5))
ISING_STREAM = swarmdp.model.Streams.of(1, RUNS, 30).at(0, Purpose.INITIAL)
ISING_STATE = ISING.initial(ISING_STREAM)
FLIPS = np.zeros((2, 30), bool)
ALONE = swarmdp.model.Streams.of(1, RUNS, 1).at(0, Purpose.INITIAL)
GRID_STATE = GRID.initial(ALONE)
MDP_STATE = MDP.initial(ALONE)
RING_STREAM = swarmdp.model.Streams.of(1, RUNS, 3).at(0, Purpose.INITIAL)
RING_STATE = RING.initial(RING_STREAM)
PAIR_STREAM = swarmdp.model.Streams.of(1, RUNS, 2).at(0, Purpose.INITIAL)
TURNING_STATE = TURNING.initial(PAIR_STREAM)
DRAWN_STATE = DRAWN.initial(PAIR_STREAM)
RECORD = ["states", "observations", "actions"]
DEMO = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1, record=RECORD)
ISING_DEMO = swarmdp.rollout(ISING, ISING.expert, steps=3, runs=2, seed=1, record=RECORD)
GRID_DEMO = swarmdp.rollout(GRID, swarmdp.Policy([0] * 6), steps=50, runs=2, seed=1, record=RECORD)
LEARNER = swarmdp.learning.HeterogeneousLearning(steps=5, swarms=1)
QUICK: dict[str, Any] = {"seed": 1, "learner": LEARNER, "evaluations": 1, "threads": 1}
FIT = swarmdp.fitting.Fit.of(VICSEK, DEMO, iterations=2, **QUICK)
DONE = list(FIT.iterate())
RESULT = replace(FIT.result(DONE), resamples=np.arange(18.0).reshape(3, 1, 6) ** 2)
GRID_RESULT = swarmdp.fit(GRID, GRID_DEMO, seed=1, iterations=2, judge=False)
LINEAR = swarmdp.learning.HeterogeneousLearning(swarmdp.learning.LinearQ(), steps=5, swarms=1)(
    VICSEK, REWARD, discount=0.9, seed=1
).policy
EVALUATION = swarmdp.evaluate(RESULT, VICSEK, steps=3, runs=2, seed=1, threads=1)
FULL = FIT.setup.problem.evidence().after(DONE[0].weights, DONE[0].mu, None)
PAIRS = np.ones((1, 6, 13))
KERNEL = np.full((1, 6, 13, 6), 1 / 6)
EVIDENCE = replace(
    FULL, pairs=PAIRS, expert_kernel=KERNEL, kernel=KERNEL, runs=FULL.learned[:, None]
)
PROBLEM = Problem(VICSEK, REWARD, 0.9)
MOMENT = Moment(VICSEK, 0, STATE, OBSERVATIONS, None, None)
ENUMERATION = theory.enumerate_swarm(RING)
RING_TABLE = np.array([0, 0, 1])
RING_REWARD = np.array([1.0, 0.5, 0.0])
CHAIN = theory.chain(RING, RING_TABLE)
CHARACTER = theory.characterize(RING, RING_TABLE)
CONE = theory.Cone(np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]) / math.sqrt(2))
GAME = theory.game(RING)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    VERDICT = swarmdp.judge(POLICY, DEMO, system=VICSEK, seed=1, quick=True, progress=False)

HOMOGENEITY = theory.check_homogeneity(RING, RING_TABLE, steps=3)

NAMESPACE = dict(globals())

# Instances of which the methods are called, by the name of the call.
_WALK = swarmdp.Vicsek(n_agents=8, noise=0.3, speed=0.05)
TRACKS = swarmdp.rollout(_WALK, _WALK.expert, steps=120, seed=1)["position"][0]
RECORDING = swarmdp.Recording(TRACKS, fps=1.0, unit="cm")
DECISIONS = RECORDING.decisions(dt=1.0)
SEEING = swarmdp.recordings.Observation(misalignment=3, bearing=2, spacing=2, wall=0, neighbours=3)
ARENA = swarmdp.recordings.Periodic((1.0, 1.0))
RECORDED = swarmdp.recordings.Swarm.from_recording(DECISIONS, SEEING, arena=ARENA)
_SWARM_STREAMS = Streams.of(1, [0, 1], RECORDED.n_agents)
RECORDED_STREAM = _SWARM_STREAMS.at(0, Purpose.TRANSITION)
RECORDED_STATE = RECORDED.initial(_SWARM_STREAMS.at(0, Purpose.INITIAL))
RECORDED_DEMO = RECORDED.demo(DECISIONS)
RECORDED_POLICY = swarmdp.Policy(np.zeros((1, RECORDED.features.size), int))
FRAME = pandas.DataFrame(
    {
        "frame": np.repeat(np.arange(len(TRACKS)), 8),
        "id": np.tile(np.arange(8), len(TRACKS)),
        "x": TRACKS[..., 0].ravel(),
        "y": TRACKS[..., 1].ravel(),
    }
)

INSTANCES: dict[str, list[str]] = {
    "Box": ["swarmdp.recordings.Box((0.0, 0.0), (1.0, 2.0))"],
    "Circle": ["swarmdp.recordings.Circle((0.0, 0.0), 1.0)"],
    "Polygon": ["swarmdp.recordings.Polygon(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))"],
    "Recording": ["RECORDING"],
    "Swarm": ["RECORDED"],
    "Angles": ["swarmdp.Angles(6)"],
    "Axis": ["AXIS"],
    "Basis": ["BASIS"],
    "BatchQ": ["swarmdp.learning.BatchQ()"],
    "Bayesian": ["swarmdp.updates.Bayesian(chains=2, draws=20, warm_up=5)"],
    "Bins": ["swarmdp.Bins([0, 1, 2, 4])"],
    "DiscountedFeatures": ["swarmdp.simulation.DiscountedFeatures(0.9)"],
    "Evaluation": ["EVALUATION"],
    "Evidence": ["EVIDENCE"],
    "FiniteMDP": ["MDP"],
    "Fit": ["FIT"],
    "FunctionPolicy": ["FUNCTION"],
    "Gridworld": ["GRID"],
    "HeterogeneousLearning": ["LEARNER"],
    "InterpolatedPolicy": ["BETWEEN"],
    "Ising": ["ISING"],
    "Levels": ["swarmdp.Levels(4)"],
    "LinearPolicy": ["LINEAR"],
    "LinearQ": ["swarmdp.learning.LinearQ()"],
    "LocalModel": ["swarmdp.learning.LocalModel()"],
    "MWAL": ["swarmdp.updates.MWAL(rounds=3)"],
    "MaxEnt": ["swarmdp.updates.MaxEnt()"],
    "MaxMargin": ["swarmdp.updates.MaxMargin()"],
    "MixedPolicy": ["MIXED"],
    "NgRussell": ["swarmdp.updates.NgRussell()"],
    "Planning": ["swarmdp.learning.Planning()"],
    "Policy": ["POLICY"],
    "PolicyMatching": ["swarmdp.updates.PolicyMatching(iterations=3)"],
    "Product": ["swarmdp.Product(a=swarmdp.Angles(6), b=swarmdp.Levels(3))"],
    "Projection": ["swarmdp.updates.Projection()"],
    "Result": ["RESULT"],
    "Reward": ["REWARD"],
    "SequentialQ": ["swarmdp.learning.SequentialQ()"],
    "SoftPolicy": ["SOFT"],
    "Stream": ["STREAMS.at(1, Purpose.TRANSITION)"],
    "Streams": ["STREAMS"],
    "Trajectory": ["DEMO"],
    "Vectors": ["swarmdp.features.Vectors(np.eye(4)[:, :2])"],
    "Verdict": ["VERDICT"],
    "Vicsek": ["VICSEK", "OPEN", "NEAREST"],
    "Chain": ["CHAIN"],
    "Characterization": ["CHARACTER"],
    "Cone": ["CONE"],
    "Enumeration": ["ENUMERATION"],
    "FiniteIsing": ["RING"],
    "Game": ["GAME"],
    "RandomSwarm": ["DRAWN"],
    "VicsekRing": ["TURNING"],
}

# Right arguments by the parameter's name, and by call and parameter where they differ.
USUAL = {
    "system": "VICSEK",
    "policy": "POLICY",
    "reward": "REWARD",
    "demo": "DEMO",
    "seed": "1",
    "steps": "3",
    "runs": "2",
    "threads": "1",
    "progress": "False",
    "discount": "0.9",
    "rng": "STREAM",
    "evidence": "EVIDENCE",
    "result": "RESULT",
    "problem": "PROBLEM",
    "streams": "STREAMS",
    "state": "STATE",
    "observations": "OBSERVATIONS",
    "actions": "TURNS",
    "transitions": "100",
    "wants": "swarmdp.updates.Wants()",
    "path": "'file.json'",
    "agent": "0",
    "time": "2",
    "size": "4",
    "name": "'order'",
    "run": "0",
    "interface": "None",
}
OWN: dict[str, dict[str, str]] = {
    "analyse": {
        "recording": "RECORDING",
        "dt": "1.0",
        "observation": "SEEING",
        "arena": "ARENA",
        "iterations": "1",
        "resamples": "0",
        "judge": "False",
    },
    "Box": {"lower": "(0.0, 0.0)", "upper": "(1.0, 2.0)"},
    "Box.rim": {"count": "8"},
    "Circle": {"centre": "(0.0, 0.0)", "radius": "1.0"},
    "Circle.rim": {"count": "8"},
    "Polygon": {"vertices": "((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))"},
    "Polygon.rim": {"count": "8"},
    "Periodic": {"sides": "(1.0, 1.0)"},
    "Sphere": {"centre": "(0.0, 0.0, 0.0)", "radius": "1.0"},
    "Cuboid": {"lower": "(0.0, 0.0, 0.0)", "upper": "(1.0, 2.0, 3.0)"},
    "PeriodicSpace": {"sides": "(1.0, 1.0, 1.0)"},
    "Recording": {"positions": "TRACKS", "fps": "1.0", "unit": "'cm'"},
    "Recording.between": {"begin": "0.0", "end": "10.0"},
    "Recording.with_field": {"name": "'current'", "direction": "0.5"},
    "Recording.with_others": {"others": "[RECORDING.names[0]]"},
    "Recording.with_place": {"name": "'food'", "place": "(0.0, 0.0)"},
    "Verdict.noted": {"note": "'told'"},
    "Recording.without": {"individuals": "[RECORDING.names[0]]"},
    "Recording.pooled": {"recordings": "[RECORDING, RECORDING]"},
    "Recording.from_frame": {"frame": "FRAME", "fps": "1.0", "unit": "'cm'"},
    "Recording.decisions": {"dt": "1.0"},
    "Swarm.from_recording": {"decisions": "DECISIONS", "observation": "SEEING", "arena": "ARENA"},
    "Swarm.save": {"folder": "'swarm2'"},
    "Ising.resized": {"n_agents": "100"},
    "Vicsek.resized": {"n_agents": "10"},
    "show": {"system": "VICSEK", "swarms": "VICSEK.expert", "steps": "3"},
    "Swarm.anchored": {"policy": "RECORDED_POLICY", "weight": "0.3"},
    "Swarm.check_state": {"state": "RECORDED_STATE"},
    "Swarm.demo": {"decisions": "DECISIONS"},
    "Swarm.initial": {"rng": "RECORDED_STREAM"},
    "Swarm.interaction_test": {"shifts": "19"},
    "Swarm.observe": {"state": "RECORDED_STATE"},
    "Swarm.picture": {"swarm": "RECORDED_DEMO"},
    "Swarm.transition": {
        "state": "RECORDED_STATE",
        "actions": "np.zeros((2, RECORDED.n_agents))",
        "rng": "RECORDED_STREAM",
    },
    "Swarm.turn_gain": {"policy": "RECORDED_POLICY", "decisions": "DECISIONS"},
    "read_tracks": {"path": "'tracks.csv'", "fps": "1.0", "unit": "'cm'"},
    "Angles.between": {"observations": "np.linspace(-4, 4, 6).reshape(2, 3)"},
    "Angles.index": {"observations": "np.linspace(-4, 4, 6).reshape(2, 3)"},
    "Arrows": {"positions": "np.zeros((3, 4, 2))", "headings": "np.zeros((3, 4))"},
    "Arrows ": {"window": "(0.0, 0.0, 1.0)", "positions": "np.zeros((3, 4, 2))"},
    "Axis": {"name": "'x'", "values": "np.arange(3.0)", "units": "'m'"},
    "Axis.from_json": {"plain": "AXIS.to_json()"},
    "Axis.written": {"place": "1"},
    "Basis": {"function": "BASIS.function", "names": "('a', 'b')", "axes": "(AXIS,)"},
    "Basis.of": {"observations": "np.zeros((2, 3))"},
    "Bins": {"edges": "[0.0, 1.0, 3.0]"},
    "Bins.between": {"observations": "np.array([[0.5, 3.0], [1.0, 2.0]])"},
    "Bins.index": {"observations": "np.array([[0.5, 3.0], [1.0, 2.0]])"},
    "DiscountedFeatures.add": {"total": "np.zeros((2, 6))", "moment": "MOMENT"},
    "Evaluation": {
        "system_name": "'Vicsek'",
        "measures": "VICSEK.measures",
        "expert": "EVALUATION.expert",
        "learned": "EVALUATION.learned",
        "expert_mu": "EVALUATION.expert_mu",
        "learned_mu": "EVALUATION.learned_mu",
        "n_agents": "5",
    },
    "Evidence": {
        "expert": "EVIDENCE.expert",
        "learned": "EVIDENCE.learned",
        "weights": "EVIDENCE.weights",
        "n_observations": "6",
        "n_actions": "13",
        "pairs": "PAIRS",
        "kernel": "KERNEL",
        "runs": "EVIDENCE.runs",
    },
    "Evidence.after": {
        "weights": "DONE[0].weights",
        "mu": "DONE[0].mu",
        "kernel": "None",
        "runs": "DONE[0].mu[None]",
    },
    "Evidence.seed_for": {"experiment": "0"},
    "Field": {"description": "'x'", "axes": "('a',)", "kind": "'angle'", "period": "2.0"},
    "FiniteMDP": {"transitions": "np.full((3, 2, 3), 1 / 3)", "initial": "np.full(3, 1 / 3)"},
    "FiniteMDP ": {"transitions": "[np.eye(2), np.eye(2)]", "initial": "np.full(2, 0.5)"},
    "FiniteMDP.check_state": {"state": "MDP_STATE"},
    "FiniteMDP.expected": {"values": "np.zeros(3)"},
    "FiniteMDP.initial": {"rng": "ALONE"},
    "FiniteMDP.observe": {"state": "MDP_STATE"},
    "FiniteMDP.occupancy": {"probabilities": "np.full((3, 2), 0.5)"},
    "FiniteMDP.transition": {
        "state": "MDP_STATE",
        "actions": "np.zeros((2, 1), int)",
        "rng": "ALONE",
    },
    "FiniteMDP.under": {"probabilities": "np.full((3, 2), 0.5)"},
    "FiniteMDP.values": {"probabilities": "np.full((3, 2), 0.5)", "rewards": "np.arange(3.0)"},
    "Fit": {
        "expert": "FIT.expert",
        "update": "FIT.update",
        "wants": "FIT.wants",
        "learner": "LEARNER",
        "estimator": "'swarm'",
        "start": "None",
        "evaluations": "1",
        "iterations": "2",
        "tolerance": "1e-6",
        "interpolate": "False",
        "symmetry": "None",
        "search": "'newest'",
        "profile": "FIT.profile",
        "recorded": "VICSEK",
        "separate": "False",
        "settings": "FIT.settings",
    },
    "Fit.earlier": {"result": "RESULT"},
    "Fit.verdicts": {"result": "RESULT"},
    "Fit.resampled_rewards": {"result": "RESULT", "resamples": "2"},
    "Fit.iterate": {"done": "DONE[:1]"},
    "Fit.of": {"iterations": "1", "learner": "LEARNER"},
    "Fit.result": {"done": "DONE"},
    "Fit.so_far": {"done": "DONE"},
    "Fit.summary": {"done": "DONE"},
    "FunctionPolicy": {"function": "VICSEK.expert"},
    "FunctionPolicy.export": {"path": None},  # type: ignore[dict-item]
    "FunctionPolicy.from_arrays": {"arrays": None},  # type: ignore[dict-item]
    "FunctionPolicy.to_arrays": {"": None},  # type: ignore[dict-item]
    "Grid": {"values": "np.zeros((3, 2, 2), int)"},
    "Gridworld": {
        "rows": "3",
        "columns": "4",
        "wind": "0.3",
        "goal": "(-1, -1)",
        "start": "(0, 0)",
    },
    "Gridworld ": {
        "rows": "2",
        "columns": "2",
        "weights": "(0.0, 1.0, 0.5, 0.25)",
        "macrocell": "1",
    },
    "Gridworld.check_state": {"state": "GRID_STATE"},
    "Gridworld.collected": {"swarm": "GRID_STATE"},
    "Gridworld.initial": {"rng": "ALONE"},
    "Gridworld.macrocells": {"rows": "4", "columns": "4", "macrocell": "2"},
    "Gridworld.observe": {"state": "GRID_STATE"},
    "Gridworld.transition": {
        "state": "GRID_STATE",
        "actions": "np.zeros((2, 1), int)",
        "rng": "ALONE",
    },
    "HeterogeneousLearning": {"iterations": "5", "temperature": "0.5", "learning_rate": "0.9"},
    "HeterogeneousLearning.iterate": {
        "q": "swarmdp.learning.LocalModel().start(PROBLEM)",
        "streams": "STREAMS",
    },
    "InterpolatedPolicy": {"values": "np.linspace(-1, 1, 6)"},
    "InterpolatedPolicy.from_arrays": {"arrays": "BETWEEN.to_arrays()"},
    "InterpolatedPolicy.of": {
        "q": "np.arange(78.0).reshape(1, 6, 13)",
        "table": "np.full((1, 6), 12)",
        "seen": "np.ones((1, 6), bool)",
    },
    "Ising": {"shape": "(5, 6)", "reach": "1", "periodic": "True", "magnetisation": "0.1"},
    "Ising.arrange": {"state": "ISING_STATE", "step": "0"},
    "Ising.check_state": {"state": "ISING_STATE"},
    "Ising.energy": {"swarm": "ISING_STATE"},
    "Ising.energy ": {"swarm": "ISING_DEMO"},
    "Ising.expert": {"observations": "ISING.observe(ISING_STATE)"},
    "Ising.grid": {"swarm": "ISING_STATE"},
    "Ising.inferred_actions": {"before": "ISING_STATE", "after": "ISING_STATE"},
    "Ising.initial": {"rng": "ISING_STREAM"},
    "Ising.observe": {"state": "ISING_STATE"},
    "Ising.picture": {"swarm": "ISING_DEMO"},
    "Ising.solutions": {"table": "np.zeros((1, 25), int)", "seen": "np.ones((1, 25), bool)"},
    "Ising.transition": {"state": "ISING_STATE", "actions": "FLIPS", "rng": "ISING_STREAM"},
    "Iteration": {
        "weights": "DONE[0].weights",
        "mu": "DONE[0].mu",
        "distance": "DONE[0].distance",
        "margin": "DONE[0].margin",
        "mixture": "DONE[0].mixture",
        "next_weights": "DONE[0].next_weights",
        "seen": "DONE[0].seen",
        "runs": "DONE[0].mu[None]",
    },
    "Learned": {"q": "np.zeros((1, 6, 13))", "seen": "np.ones((1, 6), bool)"},
    "Levels.between": {"observations": "np.array([[0, 1], [2, 3]])"},
    "Levels.index": {"observations": "np.array([[0, 1], [2, 3]])"},
    "LinearPolicy": {
        "harmonics": "LINEAR.harmonics",
        "lead": "LINEAR.lead",
        "factor": "LINEAR.factor",
    },
    "LinearPolicy.export": {"path": None},  # type: ignore[dict-item]
    "LinearPolicy.from_arrays": {"arrays": "LINEAR.to_arrays()"},
    "Measure": {"function": "VICSEK.order", "title": "'order'", "limits": "(0.0, 1.0)"},
    "Mirror": {"observation": "np.negative", "action": "np.negative"},
    "MixedPolicy": {"policies": "[POLICY, POLICY]", "weights": "[0.25, 0.75]"},
    "MixedPolicy.act": {"system": None},  # type: ignore[dict-item]
    "MixedPolicy.export": {"path": None},  # type: ignore[dict-item]
    "MixedPolicy.from_arrays": {"arrays": None},  # type: ignore[dict-item]
    "MixedPolicy.drawn": {"runs": "RUNS"},
    "Planning.__call__": {"system": "GRID", "reward": "GRID_REWARD"},
    "Policy": {"table": "[0, 1, 2]"},
    "Policy.chances": {"n_actions": "13"},
    "Policy.from_arrays": {"arrays": "POLICY.to_arrays()"},
    "Product": {"a": "swarmdp.Angles(6)", "b": "swarmdp.Levels(3)", "additive": "True"},
    "Product.rewarding": {"names": "('a',)"},
    "Product.between": {"observations": "np.array([[0.5, 1.0], [-2.0, 2.0]])"},
    "Product.index": {"observations": "np.array([[0.5, 1.0], [-2.0, 2.0]])"},
    "Result": {
        "iterations": "RESULT.iterations",
        "expert_mu": "RESULT.expert_mu",
        "expert_mu_error": "RESULT.expert_mu_error",
        "blocks": "RESULT.blocks",
        "tolerance": "1e-6",
        "system_name": "'Vicsek'",
        "system_settings": "RESULT.system_settings",
        "settings": "RESULT.settings",
    },
    "Result.from_xarray": {"dataset": "RESULT.to_xarray()"},
    "Result.save": {"folder": "'result2'"},
    "Reward": {"weights": "[1.0, 2.0, 3.0]", "blocks": "((AXIS,),)"},
    "Reward.of": {"runs": "RUNS"},
    "Reward.tables": {"values": "REWARD.weights"},
    "Snapshot": {
        "iteration": "0",
        "temperature": "0.5",
        "learning_rate": "0.1",
        "observations": "OBSERVATIONS",
        "exploring": "np.ones((2, 5), bool)",
        "actions": "np.zeros((2, 5), int)",
        "rewards": "np.zeros((2, 5))",
        "q": "np.zeros((1, 6, 13))",
        "table": "np.zeros((1, 6), int)",
        "seen": "np.ones((1, 6), bool)",
    },
    "SoftPolicy": {"probabilities": "np.full((6, 13), 1 / 13)"},
    "SoftPolicy.chances": {"n_actions": "13"},
    "SoftPolicy.from_arrays": {"arrays": "SOFT.to_arrays()"},
    "Stream": {
        "runs": "RUNS",
        "agents": "np.arange(5, dtype=np.int32)[None]",
        "step": "0",
        "purpose": "Purpose.INITIAL",
    },
    "Stream.integers": {"low": "3", "size": "(2,)"},
    "Stream.normal": {"loc": "0.0", "scale": "1.0", "size": "(2,)"},
    "Stream.uniform": {"low": "0.0", "high": "1.0", "size": "(2,)"},
    "Streams": {"runs": "RUNS", "agents": "np.arange(5, dtype=np.int32)[None]"},
    "Streams.at": {"step": "0", "purpose": "Purpose.INITIAL"},
    "Streams.of": {"runs": "[0, 1]", "n_agents": "5"},
    "Streams.rearranged": {"order": "np.tile(np.arange(5)[::-1], (2, 1))"},
    "Trajectory": {
        "variables": "DEMO.variables",
        "system_name": "'Vicsek'",
        "settings": "DEMO.settings",
        "steps": "50",
    },
    "Trajectory.__getitem__": {"name": "'heading'"},
    "Trajectory.from_xarray": {"dataset": "DEMO.to_xarray()"},
    "Trajectory.save": {"path": "'demo2.nc'"},
    "Trajectory.to_dataframe": {"variables": "['heading']", "most_rows": "100000"},
    "Update": {"weights": "DONE[0].weights", "margin": "DONE[0].margin"},
    "Variable": {"values": "np.zeros((2, 3))", "axes": "('run', 'time')"},
    "with_noise": {"amount": "0.1"},
    "with_kinds": {"shares": "(0.5, 0.5)"},
    "Vectors": {"matrix": "np.eye(3)"},
    "Vectors.index": {"observations": "np.array([[0, 1], [2, 3]])"},
    "Verdict": {name: f"VERDICT.{name}" for name in inspect.signature(swarmdp.Verdict).parameters},
    "Verdict.from_json": {"plain": "VERDICT.to_json()"},
    "Vicsek": {
        "n_agents": "5",
        "radius": "0.1",
        "speed": "0.1",
        "noise": "0.1",
        "box": "1.0",
        "n_bins": "6",
        "turns": "(-1.0, 0.0, 1.0)",
        "nearest": "2",
        "periodic": "True",
    },
    "Vicsek.arrange": {"step": "0"},
    "Vicsek.inferred_actions": {"before": "STATE", "after": "AFTER"},
    "Vicsek.order": {"swarm": "STATE"},
    "Vicsek.order ": {"swarm": "DEMO"},
    "Vicsek.picture": {"swarm": "DEMO"},
    "Wants": {"softness": "0.5", "pairs": "True"},
    "animate": {"path": "'swarm.html'", "swarms": "{'expert': VICSEK.expert}"},
    "evaluate": {"expert": "VICSEK.expert"},
    "fit": {"iterations": "1", "learner": "LEARNER", "evaluations": "1"},
    "fit ": {"system": "GRID", "demo": "GRID_DEMO", "iterations": "1", "update": "'projection'"},
    "fit  ": {"system": "GRID", "demo": "[GRID_RESULT.expert_mu[0]]", "iterations": "1"},
    "judge": {"learned": "POLICY", "system": "VICSEK", "quick": "True", "runs": "20"},
    "judge_each": {
        "learned": "POLICY",
        "system": "VICSEK",
        "quick": "True",
        "runs": "20",
    },
    "load": {"path": "'demo.nc'"},
    "load_controller": {"path": "'file.json'"},
    "ng_russell": {"transitions": "np.full((3, 2, 3), 1 / 3)", "policy": "[0, 1, 0]"},
    "plan": {"system": "GRID", "reward": "GRID_REWARD", "softness": "0.1"},
    "plan_to_horizon": {"system": "GRID", "reward": "GRID_REWARD", "softness": "0.1"},
    "rollout": {"policy": "VICSEK.expert", "record": "'states'"},
    "rollout ": {"policy": "SOFT", "initial": "STATE"},
    "rollout  ": {"system": "ISING", "policy": "ISING.expert", "initial": "ISING_DEMO"},
    "suggested_discount": {},
    "with_features": {"features": "swarmdp.Angles(3)"},
    "BestResponses": {"tables": "np.zeros((2, 3), int)", "converged": "True"},
    "Chain": {"swarm": "ENUMERATION", "policy": "CHAIN.policy"},
    "Chain.deviating": {"action": "0"},
    "Chain.deviation": {"action": "0"},
    "Characterization": {
        name: f"CHARACTER.{name}" for name in inspect.signature(theory.Characterization).parameters
    },
    "Cone": {"rows": "np.array([[1.0, 0.0], [0.0, 1.0]])", "error": "0.0"},
    "Cone.equals": {"other": "CONE"},
    "Cone.extreme": {"direction": "RING_REWARD"},
    "Cone.inside": {"outer": "CONE"},
    "Cone.of": {"rows": "np.array([[3.0, 0.0], [0.0, 2.0]])", "rounding": "1e-12"},
    "Enumeration": {
        name: f"ENUMERATION.{name}" for name in inspect.signature(theory.Enumeration).parameters
    },
    "Enumeration.index": {"local": "ENUMERATION.local"},
    "Enumeration.laws_under": {"policy": "CHAIN.policy"},
    "Enumeration.transitions": {"laws": "ENUMERATION.laws_under(CHAIN.policy)"},
    "FiniteIsing": {"shape": "(4,)", "reach": "1", "sees": "'energy'", "noise": "0.1"},
    "FiniteIsing.expert": {"observations": "RING.observe(RING_STATE)"},
    "Game": {name: f"GAME.{name}" for name in inspect.signature(theory.Game).parameters},
    "Homogeneity": {
        name: f"HOMOGENEITY.{name}" for name in inspect.signature(theory.Homogeneity).parameters
    },
    "Judgement": {
        name: f"GAME.judge(RING_TABLE, RING_REWARD).{name}"
        for name in inspect.signature(theory.Judgement).parameters
    },
    "Limit": {name: f"CHAIN.limit.{name}" for name in inspect.signature(theory.Limit).parameters},
    "Prices": {
        name: f"GAME.prices(RING_REWARD).{name}"
        for name in inspect.signature(theory.Prices).parameters
    },
    "RandomSwarm": {"n_agents": "2", "n_local": "2", "n_observations": "3", "n_actions": "2"},
    "Share": {"log": "0.0", "error": "0.1", "log_low": "-1.0", "log_high": "0.0", "method": "'x'"},
    "VicsekRing": {"n_agents": "2", "cells": "3", "headings": "2", "radius": "1", "noise": "0.1"},
    "VicsekRing.expert": {"observations": "TURNING.observe(TURNING_STATE)"},
    "draw_rewards": {"cone": "CONE", "count": "3"},
    "share": {"cone": "CONE", "draws": "1000", "particles": "20", "repetitions": "2"},
    "best_response": {"policy": "RING_TABLE"},
    "check_system": {"system": "GRID", "tolerance": "0.0"},
    "features_over_time": {},
}
for _kind, _state, _stream, _actions, _local in (
    ("FiniteIsing", "RING_STATE", "RING_STREAM", "np.zeros((2, 3), int)", "RING.local(RING_STATE)"),
    (
        "VicsekRing",
        "TURNING_STATE",
        "PAIR_STREAM",
        "np.zeros((2, 2), int)",
        "TURNING.local(TURNING_STATE)",
    ),
    (
        "RandomSwarm",
        "DRAWN_STATE",
        "PAIR_STREAM",
        "np.zeros((2, 2), int)",
        "DRAWN.local(DRAWN_STATE)",
    ),
):
    for _method in (
        "initial",
        "local",
        "observe",
        "outcomes",
        "place",
        "transition",
        "energy",
        "order",
    ):
        OWN[f"{_kind}.{_method}"] = {
            "state": _state,
            "rng": _stream,
            "actions": _actions,
            "local": _local,
        }
for _name in ("act", "for_runs", "drawn"):
    for _kind in (
        "Policy",
        "SoftPolicy",
        "InterpolatedPolicy",
        "LinearPolicy",
        "MixedPolicy",
        "FunctionPolicy",
    ):
        OWN.setdefault(f"{_kind}.{_name}", {})["runs"] = "RUNS"
for _kind in ("Policy", "SoftPolicy", "InterpolatedPolicy"):
    OWN[f"{_kind}.export"] = {"system": "VICSEK"}
for _name in theory.__all__:
    for _method in ("", *(f".{m}" for m in dir(getattr(theory, _name)))):
        _arguments = OWN.setdefault(f"{_name}{_method}", {})
        for _parameter, _text in (
            ("system", "RING"),
            ("policy", "RING_TABLE"),
            ("reward", "RING_REWARD"),
        ):
            _arguments.setdefault(_parameter, _text)

# Made by other functions, not by hand.
MADE = {
    *(
        "Analysis",
        "Analysis.from_xarray",
        "Analysis.save",
        "Analysis.to_plain",
        "Analysis.to_xarray",
    ),
    *("Cleaned", "Decisions", "Interaction"),
    *("SpaceAnalysis", "SpaceAnalysis.from_xarray", "SpaceAnalysis.save", "SpaceAnalysis.simulate"),
    *("SpaceAnalysis.to_plain", "Sphere.wall", "Sphere.gaps", "Cuboid.wall", "Cuboid.gaps"),
    "PeriodicSpace.gaps",
    *("Swarm", "Swarm.seeing", "Recording.from_dataset"),
    # Called by roll-outs, learners and fits, with what they have made themselves.
    *("DiscountedFeatures.add_counts", "Streams.counter"),
    *("Fit.rewards_of_demos", "Fit.with_anchor"),
    *("Ising.exploring_swarms", "Ising.whole_steps"),
    *("Vicsek.exploring_swarms", "Vicsek.whole_steps"),
    *("Swarm.measure_frames", "Swarm.whole_steps"),
}

# Where NaN means that something is not known, or anything may be kept.
MAY_BE_NAN = {
    *("Variable", "Trajectory"),  # as recorded; refused as a demo
    *("Update", "Learned", "Snapshot", "Iteration", "Result", "Evidence.after", "Evidence"),
    *("Evaluation", "Verdict", "Homogeneity", "Judgement", "Prices", "Game", "Share", "Fit"),
    *("InterpolatedPolicy.act rng", "Policy.act rng", "LinearPolicy.act rng"),
    *("FunctionPolicy.act rng", "Verdict.from_json plain", "DiscountedFeatures.add total"),
    "Vicsek.arrange state",  # a small swarm stays as it is
    # A demo of which other arrays are NaN than the ones that are looked at.
    *("Vicsek.order swarm", "Vicsek.picture swarm", "Ising.energy swarm", "Ising.picture swarm"),
}


@dataclass(frozen=True)
class Call:
    """A right call: its name in the table, the Python that is called, arguments as Python."""

    name: str
    function: str
    arguments: Mapping[str, str]
    parameters: tuple[str, ...]

    def written(self, arguments: Mapping[str, str]) -> str:
        inner = ", ".join(f"{name}={text}" for name, text in arguments.items())
        return f"{self.function}({inner})"


def _calls() -> Iterator[Call]:
    for home, prefix in ((swarmdp, "swarmdp"), (theory, "theory")):
        for name in home.__all__:
            value = getattr(home, name)
            if not isinstance(value, types.ModuleType) and callable(value):
                yield from _calls_of(value, name, f"{prefix}.{name}")
    yield from _calls_of(Variable, "Variable", "Variable")
    yield from _calls_of(testing.check_system, "check_system", "testing.check_system")


def _calls_of(value: Any, name: str, written: str) -> Iterator[Call]:
    if not inspect.isclass(value):
        yield from _call(value, name, written)
        return
    if issubclass(value, Exception) or getattr(value, "_is_protocol", False):
        return
    yield from _call(value, name, written)
    for method in dir(value):
        member = inspect.getattr_static(value, method)
        inner = member.__func__ if isinstance(member, classmethod) else member
        special = method in ("__call__", "__getitem__")
        if not inspect.isfunction(inner) or (method.startswith("_") and not special):
            continue
        if "swarmdp" not in inner.__module__:
            continue
        for instance in INSTANCES.get(name, [written]):
            if (instance, method) == ("NEAREST", "hops"):
                continue  # it only raises
            yield from _call(
                getattr(value, method), f"{name}.{method}", f"{instance}.{method}", inner
            )


def _call(value: Any, name: str, written: str, inner: Any = None) -> Iterator[Call]:
    if name in MADE:
        return
    parameters = dict(inspect.signature(value).parameters)
    if inner is not None and not inspect.ismethod(value):
        parameters.pop(next(iter(parameters)))
    for variant in (name, f"{name} ", f"{name}  "):
        if variant != name and variant not in OWN:
            return
        changes = OWN.get(variant, {})
        if None in changes.values():
            return  # it only raises
        arguments = {}
        open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        more = [key for key in changes if key not in parameters and open_ended]
        for parameter, details in parameters.items():
            if details.kind is details.VAR_KEYWORD:
                continue
            if parameter in changes:
                arguments[parameter] = changes[parameter]
            elif parameter in USUAL and (details.default is details.empty or parameter != "path"):
                if details.default is details.empty or parameter in (
                    "threads",
                    "progress",
                    "runs",
                    "steps",
                ):
                    arguments[parameter] = USUAL[parameter]
            elif details.default is details.empty:
                raise KeyError(f"no right argument {parameter!r} of {name}: add it to calls.py")
        arguments |= {key: changes[key] for key in more}
        names = (*(p for p in parameters if parameters[p].kind is not details.VAR_KEYWORD), *more)
        yield Call(name, written, arguments, names)


@cache
def _all() -> list[Call]:
    return list(_calls())


CALLS = _all()
NAMESPACE |= {name: value for name, value in globals().items() if not name.startswith("__")}
