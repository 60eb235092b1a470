"""The statistics by which swarms are compared, all from what their system declares.

`look_at_runs` looks at recorded runs; it needs no others, so large batches go through it in pieces.
`Look.table` then makes the statistics, some of which need all runs that are compared: which
classes of observations are put together, and how far a cluster's links reach. These come from the
pooled runs of demo and learned swarm, whatever their labels: so a test that permutes the labels
stays exact.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.irl.frames import observations_over, recorded_states, states_over
from swarmdp.judging import directions, motion
from swarmdp.judging.blocks import BEGINNING, LATER, block_count, block_means, block_of, parts
from swarmdp.judging.neighbours import neighbourhoods
from swarmdp.model.features import Classes
from swarmdp.model.recorded import MeasuresTimes
from swarmdp.model.system import (
    Field,
    System,
    class_map,
    classes,
    features_of_counts,
    summed_features,
)
from swarmdp.model.traits import field_of, measures_of
from swarmdp.model.trajectory import PRESENT, Trajectory
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

GROUPS = 8  # of classes of observations, about equally frequent
MOST_CLASSES = 1000  # whose frequencies are kept; more are put together by their numbers
_MOST_AGENTS = 500  # whose neighbours are looked at: the agents are interchangeable
OFF = 1.1  # the factor by which a measure may be wrong whose least value is zero
_CLEARLY = 3.0  # standard deviations of runs: a direction or a place that is not left to chance
_RATES = 3.0  # the factor by which a rate may be wrong
_ROUNDING = 1e-9  # relative range below which a statistic is the same in all runs
OBSERVED = "observations"  # the name of their frequencies


@dataclass(frozen=True)
class Statistic:
    """A statistic: one number of each run."""

    title: str
    when: str
    main: bool  # it tells what the swarm does, not only how
    family: str  # statistics of one family are measured by the same yardstick
    factor: float = np.inf  # if it is wrong by more than this factor, it is another behaviour
    clear: float = 0.0  # standard deviations of the runs by which it must be wrong to count
    scale: float = 0.0  # a difference of this size is a large one, whatever baselines do

    @property
    def name(self) -> str:
        """Title and time."""
        return f"{self.title}, {self.when}"


@dataclass(frozen=True)
class Comparable:
    """What a demo recorded, and so what can be compared."""

    states: tuple[str, ...]
    observations: bool
    measures: tuple[str, ...]

    @classmethod
    def of(cls, system: System, demo: Trajectory) -> "Comparable":
        """What this demo recorded; raises InvalidInput if there is nothing to compare."""
        states = recorded_states(system, demo)
        scalar = [n for n, v in demo.variables.items() if v.axes == ("run", "time")]
        measures = tuple(m for m in measures_of(system) if states or m in scalar)
        comparable = cls(states, bool(states) or "observations" in demo, measures)
        if demo.steps < 2 or not (comparable.observations or comparable.measures):
            raise InvalidInput(
                "a verdict needs a demo of at least two steps with recorded states, observations "
                f"or measures of the system, got {demo.steps} steps of "
                f"{', '.join(demo) or 'nothing'}"
            )
        return comparable

    @property
    def record(self) -> list[str]:
        """What a roll-out has to record to be compared."""
        states = ["states"] if self.states else []
        # A measure may have the name of an array of the state: then it is computed from the states.
        measures = [name for name in self.measures if name not in self.states]
        return [*states, *(["observations"] if self.observations else []), *measures]

    @property
    def missing(self) -> str:
        """What could not be compared, in words; empty if all was."""
        if self.states:
            return ""
        what = "observations" if self.observations else "measures"
        return f"only {what} were recorded, so turns, ways and neighbours were not compared"


@dataclass(frozen=True, eq=False)
class Series:
    """A statistic of each run and block of time (runs, blocks)."""

    values: Floats
    title: str
    main: bool
    factor: float = np.inf
    clear: float = 0.0
    scale: float = 0.0


@dataclass(frozen=True, eq=False)
class SwarmLook:
    """What was seen in some runs."""

    series: Mapping[str, Series]
    later: Mapping[str, Series]  # (runs, 1): statistics of the later part as a whole
    shares: Floats | None  # (runs, blocks, classes): how often each class was observed
    mu: Floats | None  # (runs, d): feature expectations
    places: Mapping[str, tuple[Floats, float | None]]  # (runs, frames, agents, axes), period

    @property
    def runs(self) -> int:
        """The number of runs."""
        if self.shares is not None:
            return len(self.shares)
        return len(next(iter(self.series.values())).values)

    def rows(self, which: slice) -> "SwarmLook":
        """Just these runs."""
        return SwarmLook(
            {key: replace(old, values=old.values[which]) for key, old in self.series.items()},
            {key: replace(old, values=old.values[which]) for key, old in self.later.items()},
            None if self.shares is None else self.shares[which],
            None if self.mu is None else self.mu[which],
            {name: (places[which], period) for name, (places, period) in self.places.items()},
        )

    def repeats(self, starts: int) -> bool:
        """Whether the second runs of all starts are exactly their first ones."""
        first, second = self.rows(slice(0, starts)), self.rows(slice(starts, 2 * starts))
        return all(
            np.array_equal(one, other)
            for one, other in zip(first._arrays(), second._arrays(), strict=True)
        )

    def _arrays(self) -> list[Floats]:
        """All that was seen."""
        arrays = [series.values for series in (*self.series.values(), *self.later.values())]
        arrays += [array for array in (self.shares, self.mu) if array is not None]
        return arrays + [places for places, _ in self.places.values()]

    def table(self, system: System, pooled: slice) -> "StatisticsTable":
        """All statistics of these runs; those in `pooled` decide what is put together."""
        series = dict(self.series)
        if self.shares is not None:
            series |= _group_classes(system, self.shares, pooled)
        blocks = next(iter(series.values())).values.shape[1]
        columns: list[Floats] = []
        names: list[Statistic] = []
        for key, entry in series.items():
            family = OBSERVED if key.startswith(OBSERVED) else key
            for when, part in parts(blocks).items():
                columns.append(_mean_over(entry.values[:, part]))
                # How it began is how, not what.
                main, factor = entry.main and when != BEGINNING, entry.factor
                if when != LATER:
                    factor = np.inf
                group = f"{family} {when}"
                rest = factor, entry.clear, entry.scale
                names.append(Statistic(entry.title, when, main, group, *rest))
        for key, entry in self.later.items():
            columns.append(entry.values[:, 0])
            names.append(Statistic(entry.title, LATER, entry.main, key))
        for field, (places, period) in self.places.items():
            for frame, when in enumerate(parts(blocks)):
                for title, values in neighbourhoods(places[:, frame], period, pooled).items():
                    columns.append(values)
                    main, group = when != BEGINNING, f"{title} {when}"
                    names.append(Statistic(f"{title} ({field})", when, main, group))
        by_block = np.stack([entry.values for entry in series.values()], axis=2)
        titles = tuple(entry.title for entry in series.values())
        values = np.stack(columns, axis=1)
        kept = _telling(values, names)
        statistics = tuple(name for name, there in zip(names, kept, strict=True) if there)
        return StatisticsTable(statistics, values[:, kept], titles, by_block)


@dataclass(frozen=True, eq=False)
class StatisticsTable:
    """The statistics of runs, over the parts of a run and by block."""

    statistics: tuple[Statistic, ...]
    values: Floats  # (runs, statistics)
    titles: tuple[str, ...]
    by_block: Floats  # (runs, blocks, titles)


def _telling(values: Floats, statistics: Sequence[Statistic]) -> NDArray[np.bool_]:
    """Which statistics (runs, K) tell anything that others do not.

    Where nobody was recorded, nothing is known. What is the same number in all runs of all swarms,
    such as the speed of agents that have only one, says nothing, and two that are the same in every
    run say it once: of an agent that sees its state, a change of the one is one of the other.
    """
    known = np.asarray(np.isfinite(values).all(axis=0))
    numbers = np.where(known, values, 0.0)
    varies = known & (np.ptp(numbers, axis=0) > _ROUNDING * np.abs(numbers).max(axis=0))
    if not varies.any():
        return known
    kept: dict[tuple[str, bytes], int] = {}
    for k, statistic in enumerate(statistics):
        if varies[k]:
            same = statistic.when, numbers[:, k].tobytes()
            other = kept.setdefault(same, k)
            # What a swarm does is worth more than how.
            if statistic.main and not statistics[other].main:
                kept[same] = k
    chosen = np.zeros(len(statistics), np.bool_)
    chosen[list(kept.values())] = True
    return chosen


def look_at_runs(
    system: System,
    trajectory: Trajectory,
    comparable: Comparable,
    discount: float,
    blocks: int | None = None,
) -> SwarmLook:
    """Look at recorded runs, cut into as many blocks as their length allows, or into these."""
    blocks = block_count(trajectory.steps) if blocks is None else blocks
    series: dict[str, Series] = {}
    later: dict[str, Series] = {}
    together = _measures_together(system, trajectory, comparable)
    for name in comparable.measures:
        values = together.get(name)
        if values is None:
            values = recorded_measure(system, trajectory, name)
        if values is not None:
            _look_at_measure(system, name, values, blocks, series, later)
    shares = mu = None
    if comparable.observations:
        shares, mu, changed = _look_at_observations(system, trajectory, discount, blocks)
        if changed is not None:
            what = "agents whose" if system.n_agents > 1 else "steps in which the"
            title = f"share of {what} observation changes"
            series["changes of observation"] = Series(changed, title, False, _RATES)
    places: dict[str, tuple[Floats, float | None]] = {}
    present = trajectory[PRESENT] if trajectory.of_recording else None
    for name in comparable.states:
        field = field_of(system, name)
        if not field.constant and field.kind != "hidden":
            _look_at_field(name, field, trajectory[name], blocks, series, later, present)
            if field.kind == "position" and system.n_agents > 1:
                places[name] = _frames(trajectory[name], blocks, present), field.period
    return SwarmLook(series, later, shares, mu, places)


def _mean_over(values: Floats) -> Floats:
    """The mean over blocks of time (runs, blocks) in which something is known; NaN without any."""
    if not np.isnan(values).any():
        mean: Floats = values.mean(axis=1)
        return mean
    known = np.isfinite(values)
    return motion.ratio_of_present(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))


def join_looks(looks: Sequence[SwarmLook]) -> SwarmLook:
    """The runs of several looks, one after another."""
    first = looks[0]

    def both(kind: str) -> dict[str, Series]:
        return {
            key: Series(
                np.concatenate([getattr(look, kind)[key].values for look in looks]),
                entry.title,
                entry.main,
                entry.factor,
                entry.clear,
                entry.scale,
            )
            for key, entry in getattr(first, kind).items()
        }

    def arrays(kind: str) -> Floats | None:
        if getattr(first, kind) is None:
            return None
        return np.concatenate([getattr(look, kind) for look in looks])

    return SwarmLook(
        both("series"),
        both("later"),
        arrays("shares"),
        arrays("mu"),
        {
            name: (np.concatenate([look.places[name][0] for look in looks]), period)
            for name, (_, period) in first.places.items()
        },
    )


def _measures_together(
    system: System, trajectory: Trajectory, comparable: Comparable
) -> Mapping[str, Floats]:
    """The measures that are not recorded, of a system that measures all times at once."""
    if not isinstance(system, MeasuresTimes) or set(comparable.measures) <= set(trajectory):
        return {}
    names = recorded_states(system, trajectory)
    if not names:
        return {}
    found = system.measures_over({name: trajectory[name] for name in names})
    return {name: values for name, values in found.items() if name not in trajectory}


def recorded_measure(system: System, trajectory: Trajectory, name: str) -> Floats | None:
    """A measure over time (runs, times); None if it is not one number for each run."""
    if name in trajectory and trajectory.variables[name].axes == ("run", "time"):
        values = trajectory[name]
    else:
        measure = measures_of(system)[name]
        values = np.stack(
            [measure.function(state) for state in states_over(system, trajectory)], axis=1
        )
    return values.astype(np.float64) if values.ndim == 2 else None


def _look_at_measure(
    system: System,
    name: str,
    values: Floats,
    blocks: int,
    series: dict[str, Series],
    later: dict[str, Series],
) -> None:
    measure = measures_of(system)[name]
    factor = OFF if measure.limits[0] == 0 else np.inf
    series[name] = Series(block_means(values, blocks), measure.title, True, factor)
    rest = values[:, values.shape[1] // 2 :]
    moving = rest - rest.mean(axis=1, keepdims=True)
    spread = rest.std(axis=1)
    lagged = (moving[:, 1:] * moving[:, :-1]).mean(axis=1)
    later[f"{name} spread"] = Series(
        spread[:, None], f"fluctuation in time of the {measure.title}", False
    )
    later[f"{name} memory"] = Series(
        motion.ratio(lagged, spread**2)[:, None],
        f"memory over a step of the {measure.title}",
        False,
    )


def _look_at_observations(
    system: System, trajectory: Trajectory, discount: float, blocks: int
) -> tuple[Floats, Floats, Floats | None]:
    """Frequencies (runs, blocks, classes), feature expectations, changes of class (runs, blocks).

    Features without classes take the place of frequencies. Of a recording, only who was present
    counts.
    """
    times = trajectory.steps + 1
    by_class = isinstance(system.features, Classes)
    block, inside = block_of(times, blocks), np.bincount(block_of(times, blocks))
    changed = np.zeros((trajectory.runs, times - 1))
    shares = total = before = None
    there = trajectory[PRESENT] if trajectory.of_recording else None
    for time, observations in enumerate(observations_over(system, trajectory)):
        agents = observations.shape[1]
        if by_class:
            index = classes(system, observations)
            now = _shares(index, class_map(system).size, None if there is None else there[:, time])
            if before is not None:
                differs = index != before
                if there is not None:
                    both = there[:, time] & there[:, time - 1]
                    agents = np.maximum(both.sum(axis=1), 1)
                    differs &= both
                changed[:, time - 1] = np.count_nonzero(differs, axis=1) / agents
            before = index
        else:
            now = summed_features(system, observations) / agents
        kept = _together(now) if by_class else now
        if shares is None or total is None:
            shares = np.zeros((trajectory.runs, blocks, kept.shape[1]))
            total = np.zeros(now.shape)
        shares[:, block[time]] += kept / inside[block[time]]
        total += discount**time * now
    assert shares is not None
    assert total is not None
    mu = features_of_counts(system, total) if by_class else total
    return shares, mu, block_means(changed, blocks) if by_class else None


def _shares(
    index: NDArray[np.integer[Any]], size: int, present: NDArray[np.bool_] | None
) -> Floats:
    """How often each class is observed (runs, size), of those who are present."""
    if present is None:
        shares: Floats = kernels.tables.count(index, size) / index.shape[1]
        return shares
    counts = [
        np.bincount(classes[here], minlength=size)
        for classes, here in zip(index, present, strict=True)
    ]
    return motion.ratio(np.stack(counts).astype(np.float64), present.sum(axis=1)[:, None])


def _width(size: int) -> int:
    """How many classes are put together."""
    return -(-size // MOST_CLASSES)


def _together(shares: Floats) -> Floats:
    """Classes put together by their numbers, where there are too many to keep."""
    width = _width(shares.shape[1])
    if width == 1:
        return shares
    summed: Floats = np.add.reduceat(shares, np.arange(0, shares.shape[1], width), axis=1)
    return summed


def _look_at_field(
    name: str,
    field: Field,
    values: NDArray[Any],
    blocks: int,
    series: dict[str, Series],
    later: dict[str, Series],
    present: NDArray[np.bool_] | None,
) -> None:
    """What one field of the state does; of a recording, only who was present counts."""
    main = {"turn", "speed", "straightness", "spread", "share that changes"}
    main |= {"share that differs after two steps", "different levels"}
    titles = {
        "turn": "turning to one side",
        "straightness": "net displacement over path",
    }
    if values.shape[2] == 1:  # agents
        titles["share that changes"] = "share of steps with a change"
    if field.kind == "angle":
        statistics = motion.turning(values, field.period, blocks, present)
    elif field.kind == "direction":
        statistics = directions.turning_in_space(values, blocks, present)
    elif field.kind == "position":
        places = values if values.ndim == 4 else values[..., None]
        statistics = motion.moving(places, field.period, blocks, present)
        title = f"net displacement over path of the second half ({name})"
        half = statistics.pop("straightness of the second half")
        later[f"{name} straightness"] = Series(half, title, True)
    elif values.ndim == 3 and (field.kind == "level" or values.dtype.kind in "iub"):
        statistics = motion.changing(values, blocks, present)
        if field.kind is None and present is None:
            statistics["different levels"] = motion.distinct(values, blocks)
    else:
        statistics = motion.drifting(values, blocks, present)
    for key, values_by_block in statistics.items():
        title = f"{titles.get(key, key)} ({name})"
        factor = _RATES if key == "share that changes" else np.inf
        directed = key.startswith(motion.DIRECTED)
        clear, scale = (_CLEARLY, _scale(key, field, values)) if directed else (0.0, 0.0)
        is_main = directed or key in main
        series[f"{name} {key}"] = Series(values_by_block, title, is_main, factor, clear, scale)


def _scale(key: str, field: Field, values: NDArray[Any]) -> float:
    """What a large difference is, of statistics that tell a direction or a place."""
    if key.startswith(motion.PLACE) and field.period is None:
        return float(np.std(values))
    return 1.0


def _frames(values: NDArray[Any], blocks: int, present: NDArray[np.bool_] | None = None) -> Floats:
    """The places of some agents at the end of each part of the run (runs, frames, agents, axes).

    Of a recording it is the last time of the part at which most are there, NaN for who is not.
    """
    times = values.shape[1]
    ends = np.array([part.stop * times // blocks - 1 for part in parts(blocks).values()])
    if present is not None:
        begins = np.append(0, ends[:-1] + 1)
        count = present.sum(axis=(0, 2))
        ends = np.array(
            [
                end - int(np.argmax(count[begin : end + 1][::-1]))
                for begin, end in zip(begins, ends, strict=True)
            ]
        )
    kept = values[:, ends, :_MOST_AGENTS]
    places = (kept if kept.ndim == 4 else kept[..., None]).astype(np.float64)
    if present is None:
        return places
    here = present[:, ends, :_MOST_AGENTS]
    several = here.sum(axis=2, keepdims=True) > 1  # of fewer there are no neighbours
    return np.where((here | ~several)[..., None], places, np.nan)


def _group_classes(system: System, shares: Floats, pooled: slice) -> dict[str, Series]:
    """Frequencies of groups of classes, about equally frequent in the pooled runs."""
    features = system.features
    if not isinstance(features, Classes):
        return {
            f"{OBSERVED} {k}": Series(shares[:, :, k], f"mean of feature {name}", True)
            for k, name in enumerate(_feature_names(system))
        }
    mean = shares[pooled].mean(axis=(0, 1))
    # The group of a class is where the middle of its probability lies.
    group = np.minimum(((np.cumsum(mean) - mean / 2) * GROUPS).astype(np.int64), GROUPS - 1)
    groups = {}
    for g in np.unique(group):
        inside = np.flatnonzero(group == g)
        title = f"share of {_span(features, inside)}"
        groups[f"{OBSERVED} {g}"] = Series(shares[:, :, inside].sum(axis=2), title, True)
    return groups


def _feature_names(system: System) -> list[str]:
    return [str(value) for block in system.features.blocks for value in block[0].values]


def _span(features: Classes, inside: NDArray[np.int64]) -> str:
    """A group of classes that follow each other, in words.

    Of a product: the components that all of them share, and the range of the first that differs.
    """
    width = _width(features.size)
    first = int(inside[0]) * width
    last = min((int(inside[-1]) + 1) * width, features.size) - 1
    axes = [axis.shown for axis in features.axes]
    sizes = [len(axis.values) for axis in axes]
    if math.prod(sizes) != features.size:
        return f"observations of classes {first} to {last}"
    words = []
    ends = zip(np.unravel_index(first, sizes), np.unravel_index(last, sizes), strict=True)
    for axis, (low, high) in zip(axes, ends, strict=True):
        words.append(axis.written(int(low), int(high)))
        if low != high:
            break
    return ", ".join(words).replace("_", " ")
