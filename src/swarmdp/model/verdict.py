"""What was found out about a learned swarm: words, a table, plain data."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.rounding import rounded, with_error

if TYPE_CHECKING:
    import pandas

_SHOWN = 3  # lines of a verdict's table that are printed
_LEVEL = 0.05  # p-values up to this one tell swarms apart
_SURE = 3.0  # standard errors of a difference that counts
_CLEARLY = 0.15  # above chance: AUCs of a few samples scatter that much


@dataclass(frozen=True)
class Telling:
    """How well a random forest tells the two swarms apart, by cross-validation."""

    auc: float  # 0.5: not at all, 1: always
    chance: float  # the AUC that it reaches when swarms do not differ
    samples: str  # "runs" or "blocks of time"
    telltale: tuple[tuple[str, float], ...]  # the statistics that give it away, shares of 1

    @property
    def succeeds(self) -> bool:
        """Whether it is clearly better than chance."""
        return self.auc > self.chance + _CLEARLY


@dataclass(frozen=True)
class Line:
    """One statistic of the demo, the learned swarm and the baselines."""

    title: str
    when: str
    main: bool  # it tells what the swarm does, not only how
    demo: float
    demo_spread: float  # between its runs, or blocks of time if there is one; NaN if unknown
    learned: float
    learned_spread: float  # between its runs from the same start
    baselines: Mapping[str, float]
    energy: float  # energy distance of demo and learned swarm, in standard deviations of the runs
    p: float  # by permutation of runs, of this statistic alone
    adjusted_p: float  # the same, given that all statistics are looked at
    effect: float  # the difference, as a share of the baselines' difference from the demo

    @property
    def direction(self) -> str:
        """What is wrong with the learned swarm."""
        return "too large" if self.learned > self.demo else "too small"

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        return self.told(self.when)

    def told(self, when: str) -> str:
        """What is wrong, in words, with other words for the time."""
        share = _share_off(self.demo, self.learned, self.learned_spread)
        return f"{self.title} {share}{self.direction} {when}"


@dataclass(frozen=True)
class StretchLine:
    """One statistic of short stretches of the demo, and of runs that begin where they begin."""

    title: str
    when: str
    main: bool  # it tells what the swarm does, not only how
    demo: float  # the mean over the stretches
    learned: float
    error: float  # standard error of their difference
    adjusted_p: float  # by permutation, given that all statistics are looked at
    effect: float  # the difference, as a share of the baselines' difference from the demo

    @property
    def gap(self) -> float:
        """The difference of the learned swarm from the demo."""
        return self.learned - self.demo

    @property
    def is_sure(self) -> bool:
        """Whether the difference is beyond chance."""
        return abs(self.gap) > _SURE * self.error

    @property
    def least_effect(self) -> float:
        """What is left of the effect less three standard errors; 0 if chance explains it."""
        return self.effect * (1 - _SURE * self.error / abs(self.gap)) if self.is_sure else 0.0

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        return self.told(self.when)

    def told(self, when: str) -> str:
        """What is wrong, in words, with other words for the time."""
        share = _share_off(self.demo, self.learned, self.error)
        direction = "too large" if self.gap > 0 else "too small"
        return f"{self.title} {share}{direction} {when}"


def _share_off(demo: float, learned: float, error: float) -> str:
    """By which share the learned swarm is off, in words; empty where that means little."""
    if not abs(demo) > _SURE * abs(error) or demo * learned <= 0:
        return ""
    percent = 100 * abs(learned / demo - 1)
    return f"{percent:.0f} % " if 1 <= percent < 100 else ""


def _effect(line: Line | StretchLine) -> float:
    return line.effect


def told_in_words(p: float, floor: float) -> str:
    """What a p-value says: how often equal swarms would differ as much."""
    often = f"1 of {1 / p:.0f}" if p < 0.1 else f"{100 * p:.0f} of 100"
    words = f"if both were the same, a difference this large would occur in {often} comparisons"
    if p <= floor * (1 + 1e-9):
        words += " or fewer (the least that this test can tell)"
    return words


@checked(nan=True)
@dataclass(frozen=True)
class Verdict:
    """Whether a learned swarm reproduces a demo, and how one knows.

    `reproduces` is true for 'reproduces the demo' and 'reproduces it, except: ...'. `alarm` is true
    where what was learned should not be relied on: it does not reproduce the demo, the features do
    not identify the behaviour, or there is too little data to tell.

    Parameters
    ----------
    words
        The verdict in one sentence.
    reproduces
        Whether the learned swarm does what the demo did.
    alarm
        Whether what was learned should not be relied on.
    p
        Of the hypothesis that demo and learned swarm are the same.
    lines
        One for each statistic that was compared.
    as_near
        The number of random policies whose feature expectations are as near to the demo's; None if
        it is not known.
    random_policies
        The number of random policies that were tried.
    power
        The share of poor baselines that the same test tells from the learned swarm.
    telling
        How well a classifier tells them apart; None in the quick form.
    advice
        What to do, where something is wrong.
    notes
        What else one should know.
    runs
        The number of runs of the learned swarm.
    quick
        Whether it is the quick form.
    stretches
        One line for each statistic of short stretches of the demo, compared with runs that begin
        where they begin; empty where swarms cannot begin at any state of the demo.
    floor
        The smallest value that `p` can have.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=5, seed=1)
    >>> verdict = swarmdp.judge(ising.expert, demo, system=ising, seed=2, quick=True)
    >>> verdict.reproduces
    True

    """

    words: str
    reproduces: bool
    alarm: bool
    p: float
    lines: tuple[Line, ...]
    as_near: int | None
    random_policies: int
    power: float
    telling: Telling | None
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    runs: int
    quick: bool
    stretches: tuple[StretchLine, ...] = ()
    floor: float = 0.0

    @property
    def auc(self) -> float | None:
        """How well a classifier tells the swarms apart, from 0.5 to 1; None in the quick form."""
        return None if self.telling is None else self.telling.auc

    @property
    def table(self) -> "pandas.DataFrame":
        """All statistics, one row each."""
        import pandas

        rows = []
        for line in self.lines:
            row = asdict(line)
            baselines = row.pop("baselines")
            rows.append({**row, **baselines})
        return pandas.DataFrame(rows).set_index(["title", "when"])

    @property
    def telltales(self) -> tuple[Line, ...]:
        """The statistics in which the swarms differ most, the clearest first."""
        return tuple(sorted(self.lines, key=lambda line: (line.adjusted_p, -line.energy)))

    @property
    def chance(self) -> str:
        """What the p-value says, in words."""
        return told_in_words(self.p, self.floor)

    @property
    def size(self) -> str:
        """How large the differences are, where the swarms can be told apart, in words."""
        if self.p > _LEVEL:
            return ""
        lines: list[Line | StretchLine] = [
            line for line in self.stretches if line.is_sure and line.adjusted_p <= _LEVEL
        ]
        lines = lines or [line for line in self.lines if line.adjusted_p <= _LEVEL]
        largest = max((line for line in lines if line.main), key=_effect, default=None)
        told = "the swarms can be told apart"
        if largest is None:
            return f"{told} by details, or in the first steps; what they do later is the same"
        return (
            f"{told}: the {largest.title} {largest.when} differs most, by "
            f"{100 * largest.effect:.0f} % of what random policies or doing nothing differ by"
        )

    @property
    def compared(self) -> str:
        """What was compared with the demo, in words."""
        words = f"{self.runs} runs, {len(self.lines)} statistics"
        return f"{words}, whole and in short stretches" if self.stretches else words

    def noted(self, note: str) -> "Verdict":
        """The same verdict with one more note."""
        return replace(self, notes=(*self.notes, note))

    @property
    def evidence(self) -> str:
        """What the test says: how often chance would differ as much, and how large it is."""
        words = f"{self.chance} (p = {self.p:.2g}; {self.compared})"
        return f"{words}; {self.size}" if self.size and not self.alarm else words

    @property
    def shown(self) -> str:
        """The verdict in a few lines: its words, how sure and how large, and what to do."""
        told = [] if self.alarm or not self.size else [self.evidence]
        told += [f"what to do: {advice}" for advice in self.advice]
        return "\n".join([f"Verdict: {self.words}", *(f"  {text}" for text in told)])

    def __repr__(self) -> str:
        lines = [f"Verdict: {self.words}", *(f"  {row}" for row in self._facts())]
        lines += [
            f"  {line.title}, {line.when}: demo {rounded(line.demo, line.learned_spread)}, learned "
            f"{with_error(line.learned, line.learned_spread)} (p = {line.adjusted_p:.2g})"
            for line in self.telltales[:_SHOWN]
            if max(self.p, line.adjusted_p) <= _LEVEL
        ]
        return "\n".join([*lines, *(f"  what to do: {advice}" for advice in self.advice)])

    def _repr_html_(self) -> str:
        rows = [
            (
                line.title,
                line.when,
                rounded(line.demo, line.learned_spread),
                with_error(line.learned, line.learned_spread),
                f"{line.adjusted_p:.2g}",
            )
            for line in self.telltales[:_SHOWN]
        ]
        return markup.card(
            self.words,
            *map(markup.paragraph, (*self._facts(), *self.advice)),
            markup.table(("statistic", "", "demo", "learned", "p"), rows),
        )

    def _facts(self) -> list[str]:
        facts = [f"{self.chance} (p = {self.p:.2g}; {self.compared})"]
        if self.size and not self.alarm:
            facts.append(self.size)
        if self.telling is not None:
            text = (
                f"a classifier of {self.telling.samples} reaches an AUC of {self.telling.auc:.2f} "
                f"(by chance {self.telling.chance:.2f})"
            )
            if self.telling.succeeds:
                text += ", by " + ", ".join(name for name, _ in self.telling.telltale)
            facts.append(text)
        return [*facts, *self.notes]

    def to_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the verdict again; NaN becomes None."""
        return json.loads(json.dumps(_plain(asdict(self))))  # type: ignore[no-any-return]

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Verdict":
        """The verdict that `to_json` wrote."""
        try:
            return cls._from_plain(plain)
        except (KeyError, TypeError, ValueError, AttributeError) as reason:
            raise InvalidInput(
                f"this is not a verdict that to_json wrote ({type(reason).__name__}: {reason})"
            ) from None

    @classmethod
    def _from_plain(cls, plain: Mapping[str, Any]) -> "Verdict":
        telling = plain["telling"]
        lines = tuple(Line(**_numbers(line)) for line in plain["lines"])
        difference = None
        if telling is not None:
            pairs = tuple((str(name), float(share)) for name, share in telling["telltale"])
            difference = Telling(**{**_numbers(telling), "telltale": pairs})
        texts = {name: tuple(plain[name]) for name in ("advice", "notes")}
        stretches = tuple(StretchLine(**line) for line in plain.get("stretches", ()))
        parts = {"lines": lines, "telling": difference, "stretches": stretches}
        return cls(**{**_numbers(plain), **texts, **parts})


_MAY_BE_NAN = {
    "demo_spread",
    "learned_spread",
    "effect",
    "power",
    "auc",
    "chance",
    "demo",
    "learned",
}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: math.nan if item is None and name in _MAY_BE_NAN else item
        for name, item in plain.items()
    }
