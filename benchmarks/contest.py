"""What a benchmark is made of: contestants that take turns, and goals for how they compare."""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from swarmdp.support.errors import SwarmdpError

OURS = "swarmdp"

Measure = Callable[[], float]
Readings = Mapping[str, float]  # of all contestants, in one round


class Unavailable(SwarmdpError):
    """A contestant that cannot take part here; the message says why."""


class Disagreement(SwarmdpError):
    """A contestant that does not compute what swarmdp computes."""


@dataclass(frozen=True)
class Contestant:
    """One way to do the work of a workload."""

    name: str
    prepare: Callable[[], Measure]  # loads and checks it; may raise Unavailable
    work: Mapping[str, Any] = field(default_factory=dict)  # what one reading covers, for the record


@dataclass(frozen=True)
class Goal:
    """A figure computed from the readings of each round, and the limit for its median."""

    ours: str
    peer: str | None
    value: Callable[[Readings], float]
    sense: Literal["at least", "at most"]
    limit: float | None  # None: only shown
    needs: tuple[str, ...]  # the contestants whose readings it uses

    def reached(self, value: float) -> bool | None:
        """Whether this value is good enough; None where there is no limit."""
        if self.limit is None:
            return None
        return value >= self.limit if self.sense == "at least" else value <= self.limit


@dataclass(frozen=True)
class Workload:
    """Contestants that are measured in turns, and what is expected of them."""

    name: str
    unit: Literal["ns", "s", "B"]
    contestants: tuple[Contestant, ...]
    goals: tuple[Goal, ...]
    warm_up: bool = True  # an unmeasured round first
    most_rounds: int | None = None  # what takes minutes is measured less often


def times_faster(peer: str, limit: float | None = None, ours: str = OURS) -> Goal:
    """The peer's time is at least this multiple of ours."""
    return Goal(ours, peer, lambda r: r[peer] / r[ours], "at least", limit, (ours, peer))


def times_slower(peer: str, limit: float | None = None, ours: str = OURS) -> Goal:
    """Our time is at most this multiple of the peer's."""
    return Goal(ours, peer, lambda r: r[ours] / r[peer], "at most", limit, (ours, peer))


def no_more_than(limit: float, ours: str = OURS) -> Goal:
    """Our reading itself is at most so much."""
    return Goal(ours, None, lambda r: r[ours], "at most", limit, (ours,))


def exponent(sizes: Mapping[str, int], limit: float) -> Goal:
    """The exponent of time against size, where readings are times divided by the size."""
    names = tuple(sizes)

    def fit(readings: Readings) -> float:
        logarithms = [math.log(sizes[name]) for name in names]
        times = [math.log(readings[name] * sizes[name]) for name in names]
        return statistics.linear_regression(logarithms, times).slope

    return Goal(names[-1], names[0], fit, "at most", limit, names)


def nanoseconds_each(work: Callable[[], object], size: int) -> Measure:
    """Measure a piece of work, divided by its size (such as agents times steps)."""

    def measure() -> float:
        begin = time.perf_counter_ns()
        work()
        return (time.perf_counter_ns() - begin) / size

    return measure


@dataclass(frozen=True)
class Outcome:
    """A goal, its value in every round, and the quartiles of these; or why it was skipped."""

    goal: Goal
    values: tuple[float, ...]
    skipped: str | None = None

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Lower quartile, median, upper quartile."""
        if len(self.values) == 1:
            return self.values * 3
        low, middle, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, middle, high

    @property
    def reached(self) -> bool | None:
        """Whether the median meets the goal; None where it was skipped or there is no limit."""
        return None if self.skipped else self.goal.reached(self.quartiles[1])


@dataclass(frozen=True)
class Report:
    """All that was measured of one workload."""

    workload: Workload
    readings: Mapping[str, Sequence[float]]  # of each contestant that took part, round by round
    skipped: Mapping[str, str]  # why the others did not

    @property
    def outcomes(self) -> list[Outcome]:
        """How the goals fared."""
        return [self._outcome(goal) for goal in self.workload.goals]

    def _outcome(self, goal: Goal) -> Outcome:
        missing = [self.skipped[name] for name in goal.needs if name in self.skipped]
        if missing:
            return Outcome(goal, (), missing[0])
        rounds = zip(*(self.readings[name] for name in goal.needs), strict=True)
        values = (goal.value(dict(zip(goal.needs, r, strict=True))) for r in rounds)
        return Outcome(goal, tuple(values))


def compete(workload: Workload, rounds: int, after_round: Callable[[], None]) -> Report:
    """Measure the contestants of a workload, one after the other in every round."""
    measures: dict[str, Measure] = {}
    skipped: dict[str, str] = {}
    for contestant in workload.contestants:
        try:
            measures[contestant.name] = contestant.prepare()
        except Unavailable as reason:
            skipped[contestant.name] = str(reason)
        except Disagreement as error:
            raise Disagreement(f"{contestant.name} does not compute the same: {error}") from error
        except Exception as error:  # a peer that fails is named, the others go on
            if contestant.name == OURS:
                raise
            skipped[contestant.name] = f"failed: {type(error).__name__}: {error}"
    readings: dict[str, list[float]] = {name: [] for name in measures}
    rounds = min(rounds, workload.most_rounds or rounds)
    for number in range(rounds + workload.warm_up):
        for name in list(readings):
            try:
                reading = measures[name]()
            except Unavailable as reason:
                skipped[name] = str(reason)
                del readings[name]
                continue
            except Exception as error:
                if name == OURS:
                    raise
                skipped[name] = f"failed: {type(error).__name__}: {error}"
                del readings[name]
                continue
            if number >= workload.warm_up:
                readings[name].append(reading)
        if number >= workload.warm_up:
            after_round()
    return Report(workload, readings, skipped)
