"""The demo cut into short stretches, each compared with runs that begin where it begins.

A run as a whole is one draw: a demo may be unusual for its own expert, and then differs from the
runs of a right policy as from those of a wrong one. But whatever way it took, its states are
recorded. A swarm that is let loose at the start of each stretch has to do what the demo did next.
So stretches are compared under the demo's own circumstances: an unusual way is no difference, and
a demo of one run tells as much as ten short ones, so that small differences are seen.

If the swarms are the same, a stretch of the demo and the runs that begin where it does are
exchangeable, given all that came before.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging import baselines as simple
from swarmdp.judging.blocks import BEGINNING, LATER, WHOLE, parts, spans_in_words
from swarmdp.judging.comparison import CONSTANT, LARGE, LEVEL, compare_stretches
from swarmdp.judging.stage import LEARNED, DemoStage
from swarmdp.judging.statistics import OBSERVED, Statistic, SwarmLook, join_looks
from swarmdp.model.system import System
from swarmdp.model.traits import Replaying
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.model.verdict import StretchLine
from swarmdp.support.arrays import Bools, Floats

STRETCHES = 10  # into which a run is cut, if it is long enough
_LEAST_STEPS = 4  # of a stretch
_MOST = 100  # stretches of all runs together
_SMALL, _MOST_EFFECT = np.finfo(np.float64).tiny, 1e6
_MOVES = (  # beginnings of titles
    "size of turns",
    "speed",
    "share that changes",
    "share of steps with a change",
    "size of changes",
)
_LEAST_SHARE = 1e-6  # below which a statistic is the same in all runs, but for its last digits
CONFIRMED = LARGE / 3  # of the baselines' difference: what runs as a whole show is there, too


@dataclass(frozen=True, eq=False)
class Stretches:
    """A demo cut into stretches, as if each were a run."""

    stage: DemoStage
    when: tuple[str, ...]  # in which part of the demo each of them lies
    spans: Mapping[str, str]  # these parts in words

    @classmethod
    def of(cls, stage: DemoStage) -> "Stretches | None":
        """Cut a demo; None if it is too short, or swarms cannot begin at any of its states."""
        demo = stage.demo
        if not stage.comparable.states or not can_begin_anywhere(stage.system, demo):
            return None
        count = min(STRETCHES, demo.steps // _LEAST_STEPS)
        if count < 2:
            return None
        cut, number = cut_demo(demo, count)
        names = {b: name for name, part in parts(count).items() for b in range(count)[part]}
        parted = DemoStage.of(stage.system, cut, stage.discount, stage.threads, blocks=1)
        spans = spans_in_words(demo.steps, count)
        return cls(parted, tuple(names[int(b)] for b in number), spans)


def can_begin_anywhere(system: System, demo: Trajectory) -> bool:
    """Whether a swarm can be let loose at any recorded state of a demo.

    A simulator that replays its past would take too long, and in a recording some are absent.
    """
    return not isinstance(system, Replaying) and not demo.of_recording


def cut_demo(demo: Trajectory, count: int) -> tuple[Trajectory, NDArray[np.int64]]:
    """Stretches of a demo as runs, and which of the `count` stretches of its run each of them is.

    Of many runs, each gives some of its stretches: other runs other ones.
    """
    length, runs = demo.steps // count, min(demo.runs, _MOST)
    each = max(1, min(count, _MOST // runs))
    run = np.repeat(np.arange(runs), each)
    number = (run + np.tile(np.arange(each) * count // each, runs)) % count
    begin = number * length
    variables = {
        name: _cut_variable(variable, run, begin, length, demo.steps)
        for name, variable in demo.variables.items()
    }
    rest = demo.seed, demo.version
    cut = Trajectory(variables, demo.system_name, demo.settings, len(run), length, *rest)
    return cut, number


def _cut_variable(
    variable: Variable,
    run: NDArray[np.int64],
    begin: NDArray[np.int64],
    length: int,
    steps: int,
) -> Variable:
    values = variable.values
    if variable.axes[1:2] in (("time",), ("step",)):
        # States have a time more than there are steps, actions have not.
        times = begin[:, None] + np.arange(length + values.shape[1] - steps)
        values = values[run[:, None], times]
    else:
        values = values[run]
    return Variable(values, variable.axes, variable.units, variable.description)


@dataclass(frozen=True, eq=False)
class StretchFindings:
    """What a comparison of stretches found."""

    p: float
    power: float  # the share of ignorant baselines that it tells from the learned swarm
    lines: tuple[StretchLine, ...]
    families: tuple[str, ...]  # of each line, as those of whole runs are called
    noticeable: tuple[tuple[str, float], ...]  # titles, and by how much they may be off unnoticed
    spans: Mapping[str, str]  # the parts of the demo in words

    @classmethod
    def of(
        cls, stretches: Stretches, swarms: Mapping[str, SwarmLook], rng: np.random.Generator
    ) -> "StretchFindings":
        """Compare stretches of the demo with runs of the learned swarm, measured by baselines."""
        stage, starts = stretches.stage, stretches.stage.demo.runs
        look = join_looks([stage.look, *swarms.values()])
        table = look.table(stage.system, slice(0, starts + swarms[LEARNED].runs))
        demo, begin, values = table.values[:starts], starts, {}
        for name, swarm in swarms.items():
            rows = table.values[begin : begin + swarm.runs]
            values[name] = rows.reshape(-1, starts, rows.shape[1])
            begin += swarm.runs
        learned = values.pop(LEARNED)
        comparison = compare_stretches(demo, learned, rng)
        ignorant = [values[name] for name in simple.IGNORANT if name in values]
        adjusted = comparison.adjusted
        others = [compare_stretches(one, learned, rng).p for runs in ignorant for one in runs]
        power = float(np.mean(np.array(others) <= LEVEL)) if others else np.nan
        lines: list[StretchLine] = []
        families: list[str] = []
        for when in dict.fromkeys(stretches.when):
            inside = np.array([name == when for name in stretches.when])
            told = _lines(table.statistics, when, inside, demo, learned, ignorant, adjusted)
            for statistic, line in zip(table.statistics, told, strict=True):
                # Some statistics are of the later part of a run alone.
                if statistic.when == WHOLE or when == LATER:
                    lines.append(line)
                    families.append(_family(statistic, when))
        noticeable = _noticeable(table.statistics, demo, learned, comparison.critical)
        rest = tuple(lines), tuple(families), noticeable, stretches.spans
        return cls(comparison.p, power, *rest)

    def of_family(self, family: str) -> list[StretchLine]:
        """The lines of a family of statistics, as those of whole runs are called."""
        return [
            line for line, name in zip(self.lines, self.families, strict=True) if name == family
        ]

    def confirms(self, statistic: Statistic, gap: float) -> bool:
        """Whether a difference that runs as a whole show is there under the demo's circumstances.

        It has the same sign there, is beyond chance, and is not tiny, unless nothing happens by
        chance. What stretches do not have is not denied by them. Classes of observations are put
        together in other ways there, so that signs cannot be compared.
        """
        lines = self.of_family(statistic.family)
        signs = not statistic.family.startswith(OBSERVED)
        return not lines or any(
            line.is_sure
            and (line.least_effect > CONFIRMED or line.error == 0)
            and (not signs or line.title != statistic.title or line.gap * gap > 0)
            for line in lines
        )

    def shows(self, statistic: Statistic) -> bool:
        """Whether a large difference is there, whatever runs as a whole show."""
        return self.p <= LEVEL and any(
            line.adjusted_p <= LEVEL and line.least_effect > LARGE
            for line in self.of_family(statistic.family)
        )

    @property
    def largest_effect(self) -> float:
        """The largest difference in what the swarm does, after the beginning, beyond chance."""
        return max((line.effect for line in self.lines if line.main and line.is_sure), default=0.0)


def _family(statistic: Statistic, when: str) -> str:
    """The family of a statistic of stretches, as that of whole runs in a part is called."""
    if statistic.when == WHOLE:
        return f"{statistic.family.removesuffix(WHOLE)}{when}"
    return statistic.family


def _lines(
    statistics: tuple[Statistic, ...],
    when: str,
    inside: Bools,
    demo: Floats,
    learned: Floats,
    ignorant: list[Floats],
    adjusted: Floats,
) -> list[StretchLine]:
    """The lines of one part of the demo, given its stretches (S, K) and runs (n, S, K)."""
    demo, learned = demo[inside], learned[:, inside]
    means = learned.mean(axis=(0, 1))
    error = error_of(learned)
    far = np.zeros(len(statistics))
    for runs in ignorant:
        far = np.maximum(far, np.abs(runs[:, inside] - demo).mean(axis=(0, 1)))
    largest: dict[str, float] = {}
    for k, statistic in enumerate(statistics):
        largest[statistic.family] = max(largest.get(statistic.family, 0.0), float(far[k]))
    lines = []
    for k, statistic in enumerate(statistics):
        usual, actual = float(demo[:, k].mean()), float(means[k])
        if abs(actual - usual) <= CONSTANT * max(abs(actual), abs(usual)):
            actual = usual  # but for the last digits
        gap = abs(actual - usual)
        yardstick = max(largest[statistic.family], statistic.scale) or float(error[k])
        lines.append(
            StretchLine(
                statistic.title,
                when,
                statistic.main and when != BEGINNING,
                usual,
                actual,
                float(error[k]),
                float(adjusted[k]),
                min(gap / max(yardstick, _SMALL), _MOST_EFFECT) if gap else 0.0,
            )
        )
    return lines


def _noticeable(
    statistics: tuple[Statistic, ...], demo: Floats, learned: Floats, critical: float
) -> tuple[tuple[str, float], ...]:
    """By which share some statistics may be off everywhere before half of the tests notice it.

    The first one, which is the system's first measure if it has any, and how much agents move.
    """
    error, usual = error_of(learned), np.abs(demo.mean(axis=0))
    shares = critical * error / np.where(usual > 0, usual, 1.0)
    chosen = [
        k
        for k, statistic in enumerate(statistics)
        if (k == 0 or statistic.title.startswith(_MOVES)) and _LEAST_SHARE < shares[k] < 1
    ]
    return tuple((statistics[k].title, float(shares[k])) for k in chosen[:2])


def error_of(learned: Floats) -> Floats:
    """The standard error (K,) of the difference of runs (n, S, K) from a demo of one run each."""
    count, stretches = learned.shape[:2]
    variance = learned.var(axis=0, ddof=1).sum(axis=0) * (1 + 1 / count)
    error: Floats = np.sqrt(variance) / stretches
    return error
