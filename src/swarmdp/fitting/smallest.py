"""How complex an agent must be: the fewest classes, neighbours, actions and bits that still do it.

One thing at a time is made coarser, the others stay as they are, until the swarm no longer passes
its verdict; then all are made coarse together, and those that cannot be are given back. Classes of
a smaller agent are neighbouring ones put together. Its policy is the table under which the demo is
most probable, or where that fails the chances of its actions. All are judged by the same demo, seen
with the finest classes.
"""

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.demos import Demo, read_demo
from swarmdp.irl.inference import Explanation, explain
from swarmdp.irl.lifting import lifted
from swarmdp.judging.baselines import BASELINES, check_baselines
from swarmdp.judging.judge import Judge
from swarmdp.model.augmented import with_memory
from swarmdp.model.augmented.layers import Memory
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.features import Angles, Classes, Product
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, class_map
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Interface, LocalPolicy, Policy, SoftPolicy
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Seed

if TYPE_CHECKING:
    import pandas

_COARSER = 1.5  # times as few classes or actions from one attempt to the next
_ONE_BY_ONE = 6  # classes or actions, below which each number is tried
_STATES = (1, 2, 4)  # of a memory; 1 is none
ACTIONS, MEMORY, TOGETHER = "actions", "states of memory", "all together"


@dataclass(frozen=True)
class Attempt:
    """A smaller agent that was tried."""

    what: str  # the component, "actions", a field of the system, "states of memory"
    size: float
    passes: bool
    gap: float  # the mean energy distance of all statistics to the demo
    p: float


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class SmallestAgent:
    """What `swarmdp.smallest_agent` found.

    Parameters
    ----------
    sizes
        The fewest classes of each component, actions, neighbours and states of memory with which
        the swarm passes its verdict, all together; None of what never passed.
    alone
        The same, with only that one thing made smaller.
    attempts
        All that was tried.
    policy
        That of the smallest agent, for the system itself; None if none passed.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(12, 12), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=60, runs=2, seed=1)
    >>> swarmdp.smallest_agent(demo, ising, seed=2, memory=(1,)).sizes["actions"]
    2

    """

    sizes: Mapping[str, float | None]
    alone: Mapping[str, float | None]
    attempts: tuple[Attempt, ...]
    policy: LocalPolicy | None = None

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row for each agent that was tried."""
        import pandas

        return pandas.DataFrame([vars(attempt) for attempt in self.attempts])

    def plot(self) -> Any:
        """Draw how far from the demo a swarm gets as one thing is made coarser."""
        # By name, since this layer must not import Matplotlib: figures are a layer above.
        return importlib.import_module("swarmdp.report.smallest").plot_smallest_agent(self)

    def __repr__(self) -> str:
        """A line for each thing that can be smaller."""
        lines = ["Smallest agent that passes its verdict:"]
        if not any(attempt.passes for attempt in self.attempts):
            lines = ["Smallest agent: even the largest one can be told from the demo"]
        for what, size in self.sizes.items():
            most = max(a.size for a in self.attempts if a.what == what)
            alone = self.alone[what]
            words = "none of those tried" if size is None else f"{size:g}"
            by_itself = "" if alone is None or alone == size else f" (alone {alone:g})"
            lines.append(f"  {what}: {words} of {most:g}{by_itself}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *others = repr(self).split("\n")
        return markup.card(first, *(markup.paragraph(line.strip()) for line in others))


@checked
def smallest_agent(
    demo: Demo,
    system: System,
    *,
    seed: Seed,
    neighbours: Mapping[str, Sequence[float]] | None = None,
    memory: Sequence[int] = _STATES,
    threads: int | None = None,
) -> SmallestAgent:
    """Find the fewest observations, neighbours, actions and bits with which a swarm still does it.

    Parameters
    ----------
    demo
        A trajectory with states or actions.
    system
        The system whose demo it is, with classes of observations as fine as they may be.
    seed
        Of the verdicts.
    neighbours
        A field of the system that says who is seen, and the values to try, such as
        {"nearest": (1, 2, 4, 8)}.
    memory
        The numbers of states of a memory to try; 1 is none.
    threads
        The number of threads; by default all that there are.

    Returns
    -------
    SmallestAgent
        With a table and a figure of all that was tried.

    Raises
    ------
    InvalidInput
        If the system has no classes of observations, or what agents did is not known.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(12, 12), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=60, runs=2, seed=1)
    >>> swarmdp.smallest_agent(demo, ising, seed=2, memory=(1,)).sizes
    {'local energy': 2, 'actions': 2, 'states of memory': 1}

    """
    read = read_demo(system, demo)
    if not isinstance(read, Trajectory):
        raise InvalidInput("the smallest agent is asked of a demo with states or actions")
    trial, attempts = _with_memory(system, read, memory, seed, threads)
    alone: dict[str, float | None] = {}
    remembered = _fewest(attempts)
    full = trial.full
    for what in (*trial.parts, ACTIONS):
        tried = [trial.attempt(full | {what: size}, what, size)[0] for size in _sizes(full[what])]
        attempts += tried
        alone[what] = _fewest(tried)
    for field, values in (neighbours or {}).items():
        tried = list(_neighbours(system, read, field, values, seed, threads))
        attempts += tried
        alone[field] = _fewest(tried)
    alone[MEMORY] = remembered
    sizes, policy = _together(trial, alone, attempts)
    return SmallestAgent(sizes, alone, tuple(attempts), policy)


def _with_memory(
    system: System, demo: Trajectory, memory: Sequence[int], seed: int, threads: int | None
) -> tuple["_Trial", list[Attempt]]:
    """The agents with the smallest memory that passes, and all memories that were tried."""
    tried: list[Attempt] = []
    first: _Trial | None = None
    for states in sorted(memory):
        larger = system if states == 1 else with_memory(system, states)
        trial = _Trial.of(larger, lifted(larger, demo), seed, threads)
        first = first or trial
        tried.append(trial.attempt(trial.full, MEMORY, states)[0])
        if tried[-1].passes:
            return trial, tried  # more bits do as well
    if first is None:
        raise InvalidInput("memory must be some numbers of states, such as (1, 2), got none")
    return first, tried


def _together(
    trial: "_Trial", alone: Mapping[str, float | None], attempts: list[Attempt]
) -> tuple[dict[str, float | None], LocalPolicy | None]:
    """The sizes that pass together: those that pass alone, some of them given back."""
    names = (*trial.parts, ACTIONS)
    kept = {what: size for what, size in alone.items() if what not in names}
    if any(alone[what] is None for what in names):
        return {**dict.fromkeys(names), **kept}, None
    sizes = {what: int(alone[what] or 1) for what in names}
    while True:
        attempt, policy = trial.attempt(sizes, TOGETHER, math.prod(sizes.values()))
        attempts.append(attempt)
        larger = [what for what in names if sizes[what] < trial.full[what]]
        if attempt.passes or not larger:
            passed = {what: float(sizes[what]) if attempt.passes else None for what in names}
            whole = {w: None if s is None else int(s) for w, s in passed.items()}
            return {**whole, **kept}, policy if attempt.passes else None
        # What is the smallest part of what it may be is given back first.
        what = min(larger, key=lambda name: sizes[name] / trial.full[name])
        sizes[what] = min(size for size in _sizes(trial.full[what]) if size > sizes[what])


def _neighbours(
    system: System,
    demo: Trajectory,
    field: str,
    values: Sequence[float],
    seed: int,
    threads: int | None,
) -> Iterator[Attempt]:
    """Agents that see other neighbours."""
    if not is_dataclass(system) or isinstance(system, type) or field not in vars(system):
        raise InvalidInput(f"the system has no field {field!r} that says who is seen")
    for value in sorted(values):
        other: Any = replace(system, **{field: value})
        told = {**demo.settings, field: value}
        trial = _Trial.of(other, replace(demo, settings=told), seed, threads)
        yield trial.attempt(trial.full, field, float(value))[0]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Smaller agents of one system, judged by one demo."""

    system: System
    decisions: Explanation
    judge: Judge
    parts: Mapping[str, Classes]  # that can be coarser, then those that are remembered
    states: int  # of the memory

    @classmethod
    def of(cls, system: System, demo: Trajectory, seed: int, threads: int | None) -> "_Trial":
        features = class_map(system)
        symmetry = Symmetry.of(system)
        own = derived_seed(seed, Part.EXPLAINING)
        decisions = explain(system, demo, symmetry=symmetry, seed=own)
        if decisions is None:
            raise InvalidInput("what agents of the demo did is not known: record states or actions")
        judge = Judge(
            system,
            demo,
            discount=0.9,
            seed=seed,
            names=check_baselines(BASELINES, system),
            runs=None,
            quick=True,
            threads=threads,
        )
        named = {features.axes[0].name: features}
        parts = dict(features.components) if isinstance(features, Product) else named
        states = 1
        if isinstance(system, Augmented) and isinstance(system.layer, Memory):
            states = system.layer.states
            parts.popitem()  # the memory itself
        return cls(system, decisions, judge, parts, states)

    @property
    def full(self) -> dict[str, int]:
        """The sizes of the largest agent."""
        return {
            **{name: part.size for name, part in self.parts.items()},
            ACTIONS: len(self.system.actions) // self.states,
        }

    def attempt(
        self, sizes: Mapping[str, int], what: str, size: float
    ) -> tuple[Attempt, LocalPolicy]:
        """The verdict on the agent of these sizes: a table, or chances where that fails."""
        best: tuple[Attempt, LocalPolicy] | None = None
        for policy in self._policies(sizes):
            verdict = self.judge.verdict(policy, by_features=False, progress=False)
            gap = float(np.mean([line.energy for line in verdict.lines]))
            tried = Attempt(what, size, not verdict.alarm, gap, float(verdict.p)), policy
            if best is None or (tried[0].passes, -gap) > (best[0].passes, -best[0].gap):
                best = tried
            if best[0].passes:
                break
        assert best is not None
        return best

    def _policies(self, sizes: Mapping[str, int]) -> Iterator[LocalPolicy]:
        """The likeliest table of a smaller agent, then the chances of its actions."""
        group, kept = self._groups(sizes), self._kept(sizes[ACTIONS])
        count, interface = int(group.max()) + 1, Interface.of(self.system)
        scores = np.zeros((count, len(kept)))
        np.add.at(scores, group, self.decisions.support[:, kept])
        visits = np.bincount(group, self.decisions.pairs.sum(axis=(0, 2)), count)
        null = int(np.argmin(np.abs(kept - null_action(self.system))))
        best = np.where(visits > 0, scores.argmax(axis=1), null)
        yield Policy(kept[best][group], interface)
        pairs, near = self.decisions.pairs.sum(axis=0), self._nearest(kept)
        counts = np.zeros((count, len(kept)))
        for action, target in enumerate(near):
            np.add.at(counts[:, target], group, pairs[:, action])
        chances = np.where(visits[:, None] > 0, counts, np.eye(len(kept))[null])
        whole = np.zeros((count, len(near)))
        whole[:, kept] = chances / chances.sum(axis=1, keepdims=True)
        yield SoftPolicy(whole[group][None], interface)

    def _groups(self, sizes: Mapping[str, int]) -> NDArray[np.int64]:
        """Which class of the smaller agent each class of the system is in."""
        groups = []
        for name, part in self.parts.items():
            size = sizes[name]
            if isinstance(part, Angles):
                groups.append(np.asarray(Angles(size).index(part.axes[0].values), np.int64))
            else:
                groups.append(np.arange(part.size) * size // part.size)
        grids = np.meshgrid(*groups, np.arange(self.states), indexing="ij")
        flat = np.ravel_multi_index(
            [grid.ravel() for grid in grids],
            [*(sizes[name] for name in self.parts), self.states],
        )
        return np.unique(flat, return_inverse=True)[1].ravel().astype(np.int64)

    def _kept(self, count: int) -> NDArray[np.int64]:
        """The actions of the smaller agent: evenly spread numbers, or those taken most."""
        actions = np.asarray(self.system.actions)
        if count * self.states >= len(actions):
            return np.arange(len(actions))
        if actions.ndim == 1 and actions.dtype.kind == "f" and count > 1:
            order = np.argsort(actions)
            return np.sort(order[np.round(np.linspace(0, len(actions) - 1, count)).astype(int)])
        often: Floats = self.decisions.pairs.sum(axis=(0, 1)).reshape(-1, self.states).sum(axis=1)
        done = np.sort(np.argsort(-often, kind="stable")[:count])
        return (done[:, None] * self.states + np.arange(self.states)).ravel()

    def _nearest(self, kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of all actions, the place of the nearest one that is kept."""
        actions = np.asarray(self.system.actions, np.float64).reshape(len(self.system.actions), -1)
        gaps = ((actions[:, None] - actions[kept]) ** 2).sum(axis=2)
        nearest: NDArray[np.int64] = gaps.argmin(axis=1)
        return nearest


def _sizes(full: int) -> list[int]:
    """From all to one, each some times smaller."""
    sizes = [full]
    while sizes[-1] > 1:
        last = sizes[-1]
        sizes.append(last - 1 if last <= _ONE_BY_ONE else round(last / _COARSER))
    return sizes


def _fewest(tried: Sequence[Attempt]) -> float | None:
    """The smallest size that passes; None if none does."""
    passing = [attempt.size for attempt in tried if attempt.passes]
    fewest = min(passing, default=None)
    return int(fewest) if fewest is not None and float(fewest).is_integer() else fewest
