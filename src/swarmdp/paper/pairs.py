"""Pairs of headings, sampled from many runs of a Vicsek swarm by topological distance.

The topological distance of two agents is the number of hops between them in the interaction graph
of that time step. Each run gives at most one pair for each time and distance: agent 0 and the
agent with the lowest number at that distance. Agents are interchangeable, so their numbers say
nothing about their states, and the lowest one is a fair draw. Pairs of different runs are
independent, which is what standard errors and shuffled pairs rest on.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.kernels.space.graph import UNREACHABLE
from swarmdp.model.system import System
from swarmdp.policies import Controller
from swarmdp.policies.replicas import as_policy
from swarmdp.simulation.recorders import Moment, in_agent_order
from swarmdp.simulation.rollout import simulate
from swarmdp.support.arrays import Floats, Ints
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell
from swarmdp.systems.vicsek import Vicsek

NOT_CONNECTED = UNREACHABLE  # in place of a number of hops

PARTS = 32_400  # into which the circle is cut, so that a heading is a 16-bit integer
ABSENT = -1  # in place of a heading, where a run has no pair of this class
MAX_HOPS = 10


def in_parts(heading: Floats) -> NDArray[np.int16]:
    """Headings in radians as whole numbers of parts of the circle, from -pi on."""
    parts = np.floor((heading + math.pi) / (2 * math.pi) * PARTS)
    return (parts.astype(np.int64) % PARTS).astype(np.int16)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Headings of agent 0 and of one agent of each class of distance, in parts of the circle.

    Classes are 1, 2, ... hops, and at last the agents that are not connected to agent 0. Agents
    that are farther than the largest number of hops are in no class.
    """

    times: Ints  # (times,)
    reference: NDArray[np.int16]  # (runs, times): the heading of agent 0
    partner: NDArray[np.int16]  # (runs, times, classes): the other's, or ABSENT

    def __post_init__(self) -> None:
        runs, times = self.reference.shape
        classes = self.partner.shape[-1]
        if self.partner.shape != (runs, times, classes) or len(self.times) != times:
            raise InvalidInput(
                f"pairs need times (times,), reference (runs, times) and partner (runs, times, "
                f"classes), got {self.times.shape}, {self.reference.shape}, {self.partner.shape}"
            )

    @property
    def runs(self) -> int:
        """The number of runs that were sampled."""
        return len(self.reference)

    @property
    def hops(self) -> Ints:
        """The distance of each class: 1, 2, ... and NOT_CONNECTED."""
        return np.append(np.arange(1, self.partner.shape[2]), NOT_CONNECTED)

    @classmethod
    def join(cls, units: Sequence["Pairs"]) -> "Pairs":
        """The pairs of several sets of runs as one."""
        if not units:
            raise InvalidInput("there are no pairs to join: give at least one set of them")
        first = units[0]
        for unit in units:
            if not np.array_equal(unit.times, first.times) or not np.array_equal(
                unit.hops, first.hops
            ):
                raise InvalidInput(
                    "pairs of different times or distances cannot be joined: sample them with the "
                    "same times and max_hops"
                )
        return cls(
            first.times,
            np.concatenate([unit.reference for unit in units]),
            np.concatenate([unit.partner for unit in units]),
        )


def sample_pairs(
    system: Vicsek,
    policy: Controller,
    *,
    numbers: ArrayLike,
    times: ArrayLike,
    seed: int,
    max_hops: int = MAX_HOPS,
    threads: int | None = None,
    progress: Tell | None = None,
) -> Pairs:
    """Pairs of headings from the runs with these numbers, at these times.

    What a run gives depends on the seed and its number alone, so runs may be sampled in any units
    and joined. No state is kept: a run leaves two bytes for each time and class.
    """
    runs, moments = np.asarray(numbers), np.asarray(times)
    _check(system, policy, runs, moments, max_hops)
    recorder = _HeadingPairs(tuple(moments.tolist()), max_hops)
    recorded = simulate(
        system,
        policy,
        numbers=runs.astype(np.int64),
        steps=int(moments[-1]),
        seed=seed,
        record=recorder,
        threads=threads,
        tell=progress,
    )
    table = recorded[recorder.name].reshape(len(runs), len(moments), max_hops + 2).astype(np.int16)
    return Pairs(moments.astype(np.int64), table[:, :, 0].copy(), table[:, :, 1:].copy())


@dataclass(frozen=True)
class _HeadingPairs:
    """A reduction that notes a run's pairs at the chosen times: agent 0, then each class."""

    times: tuple[int, ...]
    max_hops: int
    name: str = "pairs"

    def size(self, system: System) -> int:
        return len(self.times) * (self.max_hops + 2)

    def add(self, total: Floats, moment: Moment) -> None:
        if moment.time not in self.times:
            return
        system, state = moment.system, moment.state
        assert isinstance(system, Vicsek)
        if moment.agents is not None:
            state = in_agent_order(state, moment.agents)
        heading, hops = in_parts(state["heading"]), system.hops(state)
        rows = np.arange(len(total))
        table = total.reshape(len(total), len(self.times), self.max_hops + 2)
        note = table[:, self.times.index(moment.time)]
        note[:, 0] = heading[:, 0]
        for place, distance in enumerate((*range(1, self.max_hops + 1), NOT_CONNECTED), start=1):
            member = hops == distance
            lowest = member.argmax(axis=1)
            note[:, place] = np.where(member[rows, lowest], heading[rows, lowest], ABSENT)


def _check(
    system: Vicsek,
    policy: Controller,
    numbers: NDArray[np.generic],
    times: NDArray[np.generic],
    max_hops: int,
) -> None:
    if not isinstance(system, Vicsek):
        raise InvalidInput(f"pairs of headings are sampled from a Vicsek swarm, got {system!r}")
    if (replicas := as_policy(policy).replicas) > 1:
        raise InvalidInput(
            f"pairs are sampled under one policy, got one with {replicas} replicas: "
            "sample each of them by itself"
        )
    for name, array in (("numbers", numbers), ("times", times)):
        if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
            raise InvalidInput(
                f"{name} must be a list of integers, got {array.dtype} of shape {array.shape}"
            )
    if len(np.unique(numbers)) < len(numbers):
        raise InvalidInput("numbers must differ: the same run twice is not two independent runs")
    if times[0] < 0 or (np.diff(times) <= 0).any():
        raise InvalidInput(f"times must increase from 0 or later, got {times.tolist()}")
    check_integer("max_hops", max_hops, least=1)
