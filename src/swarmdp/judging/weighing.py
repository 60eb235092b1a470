"""From what was seen to a verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging import baselines as simple
from swarmdp.judging.advice import (
    MORE_DATA,
    MORE_RECORDED,
    OTHER_FEATURES,
    about_another_behaviour,
)
from swarmdp.judging.blocks import BEGINNING, LATER, parts, spans_in_words
from swarmdp.judging.classifier import telling_by_forest
from swarmdp.judging.comparison import (
    CHOICES,
    LARGE,
    LEVEL,
    Comparison,
    are_distinct,
    compare_runs,
    energy_distances,
)
from swarmdp.judging.discounts import better_discount
from swarmdp.judging.stage import LEARNED, DemoStage
from swarmdp.judging.statistics import StatisticsTable, SwarmLook, join_looks
from swarmdp.judging.stretches import Stretches, StretchFindings
from swarmdp.model.traits import measures_of
from swarmdp.model.verdict import Line, StretchLine, Telling, Verdict
from swarmdp.support.rounding import rounded, with_error

_NEGLIGIBLE = 0.02  # of the baselines' difference: a smaller one is no exception
VISIBLE = 0.01  # of the baselines' difference: a wrong factor (see `Statistic`) counts from here
_POWER = 0.8  # of the baselines: a test of stretches that tells these apart has power enough
SEVERAL = 0.1  # of the random policies: if more are as near, features do not identify a behaviour
COARSE = 0.25  # of the baselines' difference: a measure known no better than that tells little
COARSELY = 0.1  # of a measure's range (or its size, where it has none): likewise
_MANY = 0.25  # of them: then a fit that reproduces the demo was lucky

Compared = tuple[Stretches, Mapping[str, SwarmLook]]
"""Stretches of a demo, and looks at swarms from the start of each."""


def verdict_of(
    stage: DemoStage,
    swarms: Mapping[str, SwarmLook],
    *,
    quick: bool,
    seed: int,
    stretches: Compared | None = None,
    by_features: bool = False,
    of_features: bool = True,
    confirmed: Callable[[], bool] = lambda: False,
    free: Callable[[], frozenset[str]] = frozenset,
    parts: Sequence[SwarmLook] = (),
) -> Verdict:
    """The verdict on the learned swarm, given looks at it and at baselines.

    Parameters
    ----------
    stage
        The demo.
    swarms
        The same number of runs from each start of the demo: "learned", and baselines by name.
    quick
        If True no classifier is asked.
    seed
        Of the permutations and the classifier.
    stretches
        The demo cut into stretches, and the same swarms from the start of each.
    by_features
        The swarm was learned by matching features: then it matters that they identify what it
        does, even if it does it.
    of_features
        The swarm acts by the system's features. If not, it does not matter what they identify.
    confirmed
        Asks whether the demo's single decisions are those of the policy. It is asked where whole
        runs tell too little.
    free
        Asks which directions and places, by their names, the law leaves to the start of a run. It
        is asked where one of them differs.
    parts
        Looks at other times of the same recording, each as long as the demo: a swarm that is as
        near to the demo as these are does not do another thing.

    """
    findings = _Findings.of(stage, swarms, stretches, parts, np.random.default_rng(seed))
    if not of_features:
        findings = replace(findings, as_near=None, suggested_discount=None)
    telling = None
    if not quick:
        telling = telling_by_forest(findings.table, stage.demo.runs, findings.learned, seed)
    return findings.without(free).verdict(stage, telling, quick, by_features, confirmed)


def gap_of(stage: DemoStage, learned: SwarmLook) -> float:
    """How far a swarm is from the demo: the mean energy distance of all statistics of a verdict."""
    table = join_looks([stage.look, learned]).table(stage.system, slice(None))
    starts = stage.demo.runs
    others = table.values[starts:].reshape(-1, starts, table.values.shape[1])
    return float(energy_distances(table.values[:starts], others).mean())


@dataclass(frozen=True, eq=False)
class _Findings:
    """All that the words of a verdict depend on."""

    table: StatisticsTable
    learned: int  # runs of the learned swarm from each start
    lines: tuple[Line, ...]
    by_factor: NDArray[np.bool_]  # (K,): wrong by more than its factor
    comparison: Comparison
    stretches: StretchFindings | None
    power: float
    as_near: int | None
    random: int
    off: bool  # the learned swarm's feature expectations are far from the demo's themselves
    suggested_discount: (
        float | None
    )  # a better discount, where the one used does not see the behaviour
    underpowered: (
        str  # which measure varies too much between runs to be compared, in words; empty: none
    )
    own_gaps: NDArray[np.float64]  # (K,): how far other parts of the recording are from the demo
    ignored: frozenset[str] = frozenset()  # names of directions and places that tell nothing

    @classmethod
    def of(
        cls,
        stage: DemoStage,
        swarms: Mapping[str, SwarmLook],
        stretches: Compared | None,
        parts: Sequence[SwarmLook],
        rng: np.random.Generator,
    ) -> "_Findings":
        """Compare what was seen."""
        starts = stage.demo.runs
        look = join_looks([stage.look, *swarms.values(), *parts])
        table = look.table(stage.system, slice(0, starts + swarms[LEARNED].runs))
        values = _by_swarm(table.values, starts, swarms)
        learned = values[LEARNED]
        directed = np.array([statistic.clear > 0 for statistic in table.statistics])
        comparison = compare_runs(table.values[:starts], learned, rng, directed)
        distinct = {
            name: are_distinct(values[name], learned, LEVEL, directed)
            for name in simple.IGNORANT
            if name in values
        }
        power = float(np.concatenate(list(distinct.values())).mean()) if distinct else np.nan
        lines, by_factor = _lines(table, starts, values, comparison)
        as_near, count, off = None, 0, False
        if look.mu is not None and simple.RANDOM in values:
            mu = _by_swarm(look.mu, starts, swarms)
            # One that does the same is as near for a good reason.
            other = distinct[simple.RANDOM] | (not stage.comparable.states)
            near, off = _nearness(look.mu[:starts], mu[LEARNED], mu[simple.RANDOM])
            as_near, count = int((near & other).sum()), len(near)
        found = None if stretches is None else StretchFindings.of(*stretches, rng)
        suggested_discount = better_discount(stage.course, stage.discount)
        own_gaps = _own_gaps(table, starts, parts)
        return cls(
            table,
            len(learned),
            lines,
            by_factor,
            comparison,
            found,
            power if found is None else float(np.fmax(power, found.power)),
            as_near,
            count,
            off,
            suggested_discount,
            _underpowered_measure(stage, table, values, lines, own_gaps),
            own_gaps,
        )

    def verdict(
        self,
        stage: DemoStage,
        telling: Telling | None,
        quick: bool,
        by_features: bool,
        confirmed: Callable[[], bool],
    ) -> Verdict:
        """The answer in words."""
        p = self.p
        serious, unusual = self._serious() if p <= LEVEL else ([], [])
        exceptions = self._exceptions(unusual) if p <= LEVEL else []
        without_power = np.isfinite(self.power) and self.power < 0.5 and p > LEVEL
        underpowered = self.underpowered if not serious else ""
        unidentified = (
            self.as_near is not None and self.as_near > SEVERAL * self.random and not self.off
        )
        notes = [stage.comparable.missing] if stage.comparable.missing else []
        notes += [self._unusual(k) for k in unusual[:1] if not serious]
        advice: list[str] = []
        more = MORE_RECORDED if stage.demo.of_recording else MORE_DATA
        if underpowered and self._same_in_stretches():
            notes.append(
                f"{underpowered}: too few to compare whole runs, but from each of its states the "
                "learned swarm does what the demo did next"
            )
            underpowered = ""
        many = unidentified and (self.as_near or 0) >= _MANY * self.random
        undecided = bool(without_power) or bool(underpowered) or (many and by_features)
        if undecided and not serious and confirmed():
            # What runs as a whole cannot tell, the demo's many single decisions do.
            if underpowered:
                notes.append(f"{underpowered}: too few to compare")
            notes.append("the demo's single decisions are those of this policy")
            without_power, underpowered, by_features = False, "", False
        wrong = bool(serious) or bool(without_power) or bool(underpowered)
        alarm = wrong or (many and by_features)
        nearby = f"{self.as_near} of {self.random} random policies are as near"
        if unidentified and alarm:
            words = f"the features do not identify this behaviour: {nearby}"
            if not wrong:
                words += ", though this one reproduces it"
            advice.append(
                about_another_behaviour(self.lines, stage.demo.of_recording)
                if serious
                else OTHER_FEATURES
            )
        elif serious:
            wrong_lines = [self.lines[k] for k in self._ranked(serious)]
            words = f"does not reproduce it: {self._listed(wrong_lines, stage.demo.steps)}"
            advice.append(about_another_behaviour(self.lines, stage.demo.of_recording))
        elif without_power:
            words = "too little data to tell"
            advice.append(f"{more}: even random policies cannot be told from the learned swarm")
        elif underpowered:
            words = f"too little data to tell: {underpowered}"
            advice.append(more)
        elif exceptions:
            words = f"reproduces it, except: {self._listed(exceptions, stage.demo.steps)}"
        else:
            words = "reproduces the demo"
            if p <= LEVEL:
                notes.append("differences can be seen, but they are small")
        if self.stretches is not None and self.stretches.noticeable and not wrong:
            notes.append(self._noticed(stage.demo.runs))
        if p <= LEVEL and not serious:
            own = [k for k in self._culprits() if self._is_far(k) and self._is_own(k)]
            if own:
                ours = self._listed([self.lines[k] for k in self._ranked(own)], stage.demo.steps)
                notes.append(f"{ours}: no more than parts of the recording itself differ by")
        if unidentified and not alarm:
            notes.append(f"the features alone do not identify this behaviour: {nearby}")
        if self.suggested_discount is not None:
            text = (
                f"a discount of {stage.discount:g} sees about {1 / (1 - stage.discount):.0f} "
                "steps, but the swarm takes longer to settle: try "
                f"discount={self.suggested_discount:g} (on the command line --discount "
                f"{self.suggested_discount:g})"
            )
            notes.append(text)
        return Verdict(
            words,
            not wrong,
            alarm,
            p,
            self.lines,
            self.as_near,
            self.random,
            self.power,
            telling,
            tuple(advice),
            tuple(notes),
            stage.demo.runs * self.learned,
            quick,
            () if self.stretches is None else self.stretches.lines,
            self.floor,
        )

    @property
    def p(self) -> float:
        """Of whole runs and stretches: two tests, so twice the smaller p-value."""
        whole = self.comparison.p
        return whole if self.stretches is None else min(1.0, 2 * min(whole, self.stretches.p))

    @property
    def floor(self) -> float:
        """The smallest p-value that there could be."""
        smallest = 1 / len(self.comparison.scores)
        return smallest if self.stretches is None else 2 * min(smallest, 1 / CHOICES)

    def _serious(self) -> tuple[list[int], list[int]]:
        """What is another behaviour, and what is only the way that this demo took.

        How much a difference matters is seen in runs as a whole. That it is there, and no chance of
        the demo, must also be seen where the swarm is let loose at the demo's own states.
        """
        culprits = self._culprits() if self.comparison.p <= LEVEL else []
        large = [k for k in culprits if self._is_large(k)]
        if self.stretches is None:
            return large, []
        serious, unusual = [], []
        for k, statistic in enumerate(self.table.statistics):
            if not self._is_large(k):
                continue
            gap = self.lines[k].learned - self.lines[k].demo
            there = self.stretches.confirms(statistic, gap)
            if there and (k in large or self.stretches.shows(statistic)):
                serious.append(k)
            elif k in large and not there:
                unusual.append(k)
        return serious, unusual

    def _is_large(self, k: int) -> bool:
        """Whether a difference of runs as a whole means another behaviour.

        One that is no larger than that between parts of the recording itself does not.
        """
        return self._is_far(k) and not self._is_own(k)

    def _is_far(self, k: int) -> bool:
        """Whether a difference is large for one of swarms that know nothing of the demo."""
        line = self.lines[k]
        return bool(
            (line.main and line.effect > LARGE and self._is_clear(k))
            or (self.by_factor[k] and line.effect > VISIBLE)
        )

    def _is_own(self, k: int) -> bool:
        """Whether parts of the recording differ from the demo by as much."""
        line = self.lines[k]
        return bool(abs(line.learned - line.demo) <= self.own_gaps[k])

    def _exceptions(self, unusual: list[int]) -> list[Line | StretchLine]:
        """Differences that are there, but small, the largest first."""
        culprits = self._culprits() if self.comparison.p <= LEVEL else []
        whole = [
            k
            for k in culprits
            if self.lines[k].effect > _NEGLIGIBLE
            and self._is_clear(k)
            and k not in unusual
            # What is later than the beginning is told by stretches, whichever way the demo went.
            and (self.stretches is None or self.table.statistics[k].when == BEGINNING)
        ]
        both: list[Line | StretchLine] = [self.lines[k] for k in self._ranked(whole)]
        if self.stretches is not None and self.stretches.p <= LEVEL:
            both += [
                line
                for line in self.stretches.lines
                if line.adjusted_p <= LEVEL and line.is_sure and line.effect > _NEGLIGIBLE
            ]
            both.sort(key=lambda line: -line.effect)
        return both

    def _same_in_stretches(self) -> bool:
        """Whether the learned swarm does what the demo did next from each of its states."""
        found = self.stretches
        return found is not None and found.power >= _POWER and found.largest_effect <= LARGE

    def _noticed(self, runs: int) -> str:
        """Which differences would have been noticed, in words."""
        assert self.stretches is not None
        shares = [
            f"{100 * share:.2g} % in the {title}" for title, share in self.stretches.noticeable
        ]
        demo = "this demo" if runs == 1 else f"these {runs} runs"
        return (
            f"with {demo} a difference of {' or of '.join(shares)} would be noticed in half of the "
            "cases, a smaller one less often"
        )

    def _unusual(self, k: int) -> str:
        """That the demo took an unusual way, in words."""
        line = self.lines[k]
        learned = with_error(line.learned, line.learned_spread)
        return (
            f"this demo is unusual: its {line.title} {line.when} is "
            f"{rounded(line.demo, line.learned_spread)}, that of the learned swarm from its start "
            f"{learned} ({100 * line.p:.0f} % of runs are as far off). From each of its states the "
            "learned swarm does what the demo did next; more runs would tell"
        )

    def without(self, free: Callable[[], frozenset[str]]) -> "_Findings":
        """The findings without directions and places that tell nothing of the policy."""
        directed = [k for k, statistic in enumerate(self.table.statistics) if statistic.clear]
        if (
            self.stretches is not None  # they tell it
            or self.comparison.p > LEVEL
            or not any(k in directed for k in self._culprits())
        ):
            return self
        return replace(self, ignored=free())

    def _is_clear(self, k: int) -> bool:
        """Whether a statistic is off by more than what its runs, and their starts, leave open."""
        line, statistic = self.lines[k], self.table.statistics[k]
        if statistic.name in self.ignored:
            return False
        least = statistic.clear
        return not least or abs(line.learned - line.demo) > least * line.learned_spread

    def _culprits(self) -> list[int]:
        """The statistics that tell the swarms apart, the clearest first."""
        order = np.argsort(-self.comparison.energy, kind="stable")
        proven = [int(k) for k in order if self.comparison.adjusted[k] <= LEVEL]
        # Many that are a little off: none is proven on its own.
        return proven or [int(k) for k in order if self.comparison.p_values[k] <= LEVEL]

    def _listed(self, lines: Sequence[Line | StretchLine], steps: int) -> str:
        """The first of these in words, with their times in steps of the demo."""
        whole = spans_in_words(steps, self.table.by_block.shape[1])
        parted = whole if self.stretches is None else self.stretches.spans

        def when(line: Line | StretchLine) -> str:
            return (whole if isinstance(line, Line) else parted).get(line.when, line.when)

        return listed(lines, when)

    def _ranked(self, which: list[int]) -> list[int]:
        """These by their effect.

        Directions and places come last: what a swarm does tells more than which way it goes.
        """
        statistics = self.table.statistics
        return sorted(which, key=lambda k: (statistics[k].clear > 0, -self.lines[k].effect))


def listed(lines: Sequence[Line | StretchLine], when: Callable[[Line | StretchLine], str]) -> str:
    """The first three of these in words; one for each title."""
    titles: dict[str, str] = {}
    for line in lines:
        titles.setdefault(line.title, line.told(when(line)))
    words = list(titles.values())
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")


def _by_swarm(
    values: NDArray[np.float64], starts: int, swarms: Mapping[str, SwarmLook]
) -> dict[str, NDArray[np.float64]]:
    """The runs of each swarm (n, R, ...), after those of the demo."""
    by_swarm, begin = {}, starts
    for name, look in swarms.items():
        end = begin + look.runs
        by_swarm[name] = values[begin:end].reshape(-1, starts, *values.shape[1:])
        begin = end
    return by_swarm


def _lines(
    table: StatisticsTable,
    starts: int,
    values: dict[str, NDArray[np.float64]],
    comparison: Comparison,
) -> tuple[tuple[Line, ...], NDArray[np.bool_]]:
    """One line for each statistic, and which are wrong by more than their factor."""
    demo = table.values[:starts].mean(axis=0)
    learned = values[LEARNED].mean(axis=(0, 1))
    spread = np.sqrt(values[LEARNED].var(axis=0).mean(axis=0))
    gap = np.abs(learned - demo)
    yardstick = _yardstick(table, demo, values)
    small = np.finfo(np.float64).tiny
    effect = np.where(gap > 0, gap / np.maximum(yardstick, small), 0.0)
    effect = np.minimum(effect, 1e6)  # baselines that do not differ from the demo at all
    low, high = np.sort(np.abs([demo, learned]), axis=0)
    by_factor = high > np.array([s.factor for s in table.statistics]) * np.maximum(low, small)
    means = {name: runs.mean(axis=(0, 1)) for name, runs in values.items() if name != LEARNED}
    demo_spread = _demo_spread(table, starts)
    lines = tuple(
        Line(
            statistic.title,
            statistic.when,
            statistic.main,
            float(demo[k]),
            float(demo_spread[k]),
            float(learned[k]),
            float(spread[k]),
            {name: float(mean[k]) for name, mean in means.items()},
            float(comparison.energy[k]),
            float(comparison.p_values[k]),
            float(comparison.adjusted[k]),
            float(effect[k]),
        )
        for k, statistic in enumerate(table.statistics)
    )
    return lines, by_factor


def _underpowered_measure(
    stage: DemoStage,
    table: StatisticsTable,
    values: dict[str, NDArray[np.float64]],
    lines: tuple[Line, ...],
    own_gaps: NDArray[np.float64],
) -> str:
    """A measure that varies so much from run to run that the demo hardly tells what it is.

    Other parts of the same recording that agree with it do tell it.
    """
    yardstick = _yardstick(table, table.values[: stage.demo.runs].mean(axis=0), values)
    for name in stage.comparable.measures:
        low, high = measures_of(stage.system)[name].limits
        for k, statistic in enumerate(table.statistics):
            if statistic.family != f"{name} {LATER}":
                continue
            line = lines[k]
            size = abs(line.demo) if low is None or high is None else high - low
            error = 2 * line.learned_spread / np.sqrt(stage.demo.runs)
            if np.isfinite(own_gaps[k]):
                error = min(error, float(own_gaps[k]))
            if error > COARSE * yardstick[k] and error > COARSELY * size:
                varies = with_error(line.learned, line.learned_spread)
                runs = "one run" if stage.demo.runs == 1 else f"{stage.demo.runs} runs"
                return (
                    f"the {line.title} {line.when} is {varies} from run to run, and the demo has "
                    f"only {runs}"
                )
    return ""


def _own_gaps(
    table: StatisticsTable, starts: int, parts: Sequence[SwarmLook]
) -> NDArray[np.float64]:
    """The largest difference (K,) between the demo and other parts of its recording.

    The runs of the parts are the last ones of the table. Without parts it is less than any.
    """
    gaps = np.full(len(table.statistics), -np.inf)
    demo = table.values[:starts].mean(axis=0)
    begin = len(table.values) - sum(part.runs for part in parts)
    for part in parts:
        own = table.values[begin : begin + part.runs].mean(axis=0)
        gaps = np.fmax(gaps, np.abs(own - demo))
        begin += part.runs
    return gaps


def _yardstick(
    table: StatisticsTable, demo: NDArray[np.float64], values: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """How far the baselines are from the demo: the farthest of a family for all of it.

    Without baselines it is the spread of the learned swarm.
    """
    ignorant = [values[name] for name in simple.IGNORANT if name in values]
    if not ignorant:
        spread: NDArray[np.float64] = np.sqrt(values[LEARNED].var(axis=0).mean(axis=0))
        return spread
    far = np.max([np.abs(runs.mean(axis=1) - demo).mean(axis=0) for runs in ignorant], axis=0)
    families = [statistic.family for statistic in table.statistics]
    largest = {
        name: max(f for f, n in zip(far, families, strict=True) if n == name) for name in families
    }
    scales = np.array([statistic.scale for statistic in table.statistics])
    yardstick: NDArray[np.float64] = np.maximum([largest[name] for name in families], scales)
    return yardstick


def _demo_spread(table: StatisticsTable, starts: int) -> NDArray[np.float64]:
    """The demo's own spread: between its runs, or between the blocks of its only run."""
    if starts > 1:
        between: NDArray[np.float64] = table.values[:starts].std(axis=0, ddof=1)
        return between
    blocks = table.by_block.shape[1]
    spread: dict[tuple[str, str], float] = {}
    for when, part in parts(blocks).items():
        inside = table.by_block[0, part]
        if len(inside) > 1:
            spread |= {
                (title, when): float(s)
                for title, s in zip(table.titles, inside.std(axis=0, ddof=1), strict=True)
            }
    return np.array([spread.get((s.title, s.when), np.nan) for s in table.statistics])


def _nearness(
    demo: NDArray[np.float64], learned: NDArray[np.float64], random: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], bool]:
    """Which random policies are as near to the demo's feature expectations as the learned one.

    And whether the learned one is itself no nearer than most of them, though they differ by more
    than chance.
    """
    target = demo.mean(axis=0)
    learned_mu, others = learned.mean(axis=1), random.mean(axis=1)
    distance = float(np.median(np.linalg.norm(learned_mu - target, axis=1)))
    noise = float(np.median(np.linalg.norm(learned_mu[1:] - learned_mu[:-1], axis=1)))
    near: NDArray[np.bool_] = np.linalg.norm(others - target, axis=1) <= max(distance, noise)
    return near, distance > 3 * noise and 2 * int(near.sum()) >= len(near)
