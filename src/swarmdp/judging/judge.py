"""`swarmdp.judge`: is the learned swarm the recorded one?"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.adapted import REPLACED, starting_from
from swarmdp.checks import check_discount, check_integer, check_seed
from swarmdp.errors import InvalidInput, SwarmdpWarning
from swarmdp.irl.demos import check_demo
from swarmdp.irl.result import Result
from swarmdp.judging import baselines as poor
from swarmdp.judging.blocks import block_count, parts
from swarmdp.judging.classifier import told_by_forest
from swarmdp.judging.comparison import Comparison, compared, told_apart
from swarmdp.judging.discounts import relaxation_time, suggested_discount
from swarmdp.judging.statistics import Known, Look, Table, joined, main_course, observed
from swarmdp.judging.verdict import Line, Verdict
from swarmdp.policies import Controller, LocalPolicy, as_policy, check_fits, selected
from swarmdp.progress import Tell, shown
from swarmdp.simulation import simulate
from swarmdp.streams import derived_seed
from swarmdp.system import System, check_is_system, name_of
from swarmdp.systems.gridworld import Gridworld
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek
from swarmdp.trajectory import Trajectory, Variable

LEVEL = 0.05  # of the test: so often the same swarm is told from itself
NEGLIGIBLE = 0.02  # of the baselines' difference: a smaller one is no exception
LARGE = 0.2  # of the baselines' difference: a larger one means that it is another behaviour
OFF = 0.1  # of a measure's own value: a larger difference means so, too
SEVERAL = 0.1  # of the random policies: if more are as near, features do not identify a behaviour
BYTES = 2**28  # of recorded runs that are looked at together
LEARNED, RANDOM, NOTHING, CLONE, TEST = range(5)  # parts with random numbers of their own
KNOWN_SYSTEMS: dict[str, Callable[..., System]] = {
    "Vicsek": Vicsek,
    "Ising": Ising,
    "Gridworld": Gridworld,
}

Judged = Result | Controller


@dataclass(frozen=True)
class Effort:
    """The number of runs from each start of the demo."""

    learned: int
    random: int
    nothing: int
    clone: int

    @classmethod
    def of(cls, starts: int, runs: int | None, quick: bool) -> "Effort":
        """What is affordable: with many starts a few runs of each will do."""
        total = runs or (40 if quick else 200)
        few = 5 if quick else 20
        return cls(max(2, -(-total // starts)), max(2, -(-20 // starts)), *(-(-few // starts),) * 2)


def judge(
    learned: Judged,
    demo: Trajectory,
    *,
    system: System | None = None,
    seed: int,
    baselines: Sequence[str] = poor.BASELINES,
    runs: int | None = None,
    discount: float | None = None,
    quick: bool = False,
    progress: bool | Tell | None = None,
    threads: int | None = None,
) -> Verdict:
    """Say whether a learned swarm does what a recorded one did.

    The learned swarm is simulated from the same starts and for as long as the demo, and compared in
    all that the system declares: its measures, what agents observe, and what the fields of its
    state do, at the beginning, on the way and later. A permutation test says whether demo and
    learned swarm can be told apart; how much that matters is measured by baselines.

    Parameters
    ----------
    learned
        The result of `swarmdp.fit`, a policy, or a function from observations to actions.
    demo
        Recorded runs. The more of the state they have, the more can be compared.
    system
        The system that was recorded. It may be left out for a result of a Vicsek, Ising or
        Gridworld system.
    seed
        Same seed, same verdict.
    baselines
        What to compare with: "random" policies, doing "nothing", a "clone" of the demo (if its
        actions are known).
    runs
        The number of runs of the learned swarm; 200 by default, 40 in the quick form.
    discount
        The discount of the feature expectations; that of the result, or 0.9.
    quick
        Fewer runs, and no classifier.
    progress
        A bar on a terminal or in a notebook by default; False for none, or a function of (done,
        total, text).
    threads
        All cores by default.

    Returns
    -------
    Verdict
        For one experiment. Use `judge_each` for the experiments of a batch.

    """
    policies = _policies(learned)
    if len(policies) != 1:
        raise InvalidInput(
            f"judge takes one experiment, got {len(policies)}: use swarmdp.judge_each"
        )
    recorded = _system(learned, demo, system)
    return _judged(
        recorded,
        policies[0],
        demo,
        discount=_discount(learned, discount),
        seed=seed,
        names=poor.check_baselines(baselines),
        runs=runs,
        quick=quick,
        progress=progress,
        threads=threads,
    )


def judge_each(
    learned: Judged,
    demo: Trajectory,
    *,
    system: System | None = None,
    seed: int,
    baselines: Sequence[str] = poor.BASELINES,
    runs: int | None = None,
    discount: float | None = None,
    quick: bool = False,
    progress: bool | Tell | None = None,
    threads: int | None = None,
) -> tuple[Verdict, ...]:
    """Judge each experiment of a batch against its own run of the demo (`separate=True`).

    The arguments are those of `judge`. A single experiment is judged against all runs of the demo.
    """
    policies = _policies(learned)
    recorded = _system(learned, demo, system)
    if len(policies) not in (1, demo.runs):
        raise InvalidInput(
            f"{len(policies)} experiments need a demo of as many runs, one for each, got "
            f"{demo.runs}"
        )
    demos = [demo] if len(policies) == 1 else [one_run(demo, r) for r in range(demo.runs)]
    return tuple(
        _judged(
            recorded,
            policy,
            own,
            discount=_discount(learned, discount),
            seed=derived_seed(seed, e) if len(policies) > 1 else seed,
            names=poor.check_baselines(baselines),
            runs=runs,
            quick=quick,
            progress=progress,
            threads=threads,
        )
        for e, (policy, own) in enumerate(zip(policies, demos, strict=True))
    )


def one_run(demo: Trajectory, run: int) -> Trajectory:
    """One run of a trajectory."""
    variables = {
        name: Variable(v.values[run : run + 1], v.axes, v.units, v.description)
        for name, v in demo.variables.items()
    }
    return Trajectory(
        variables, demo.system_name, demo.settings, 1, demo.steps, demo.seed, demo.version
    )


def _judged(
    system: System,
    policy: LocalPolicy,
    demo: Trajectory,
    *,
    discount: float,
    seed: int,
    names: tuple[str, ...],
    runs: int | None,
    quick: bool,
    progress: bool | Tell | None,
    threads: int | None,
) -> Verdict:
    check_seed(seed)
    if runs is not None:
        check_integer("runs", runs, least=20)
    check_demo(system, demo, 0.0)
    check_fits(policy, system, 1)
    known, effort = Known.of(system, demo), Effort.of(demo.runs, runs, quick)
    swarms = _swarms(system, policy, demo, names, effort, seed)
    total = sum(count for _, _, count in swarms) * demo.runs
    stage = _Stage(system, demo, known, discount, threads)
    with shown(progress, f"judging a swarm of {name_of(system)}") as tell:
        looks, done = [observed(system, demo, known, discount)], 0
        for part, policies, count in swarms:
            for look, finished in stage.looks(policies, count, derived_seed(seed, part)):
                looks.append(look)
                done += finished
                if tell is not None:
                    tell(done, total, f"judging: {done} of {total} runs")
        look = joined(looks)
        table = look.table(system, slice(0, demo.runs * (1 + effort.learned)))
        rng = np.random.default_rng(derived_seed(seed, TEST))
        findings = _Findings.of(system, demo, table, look, effort, swarms, rng, discount)
        telling = None
        if not quick:
            telling = told_by_forest(table, demo.runs, effort.learned, derived_seed(seed, TEST, 1))
    verdict = findings.verdict(known, telling, demo.runs * effort.learned, quick)
    if verdict.alarm:
        advice = "".join(f"; {each}" for each in verdict.advice)
        warnings.warn(f"{verdict.words}{advice}", SwarmdpWarning, stacklevel=3)
    return verdict


Swarm = tuple[int, list[LocalPolicy], int]  # part of the work, policies, runs from each start


def _swarms(
    system: System,
    policy: LocalPolicy,
    demo: Trajectory,
    names: tuple[str, ...],
    effort: Effort,
    seed: int,
) -> list[Swarm]:
    """The swarms to simulate: the learned one first."""
    swarms: list[Swarm] = [(LEARNED, [policy], effort.learned)]
    if poor.RANDOM in names:
        rng = np.random.default_rng(derived_seed(seed, RANDOM, 1))
        drawn = poor.random_policies(system, effort.random, rng)
        swarms.append((RANDOM, drawn, effort.random))
    if poor.NOTHING in names:
        swarms.append((NOTHING, [poor.doing_nothing(system)], effort.nothing))
    if poor.CLONE in names and (copy := poor.cloned_policy(system, demo)) is not None:
        swarms.append((CLONE, [copy], effort.clone))
    return swarms


@dataclass(frozen=True, eq=False)
class _Stage:
    """Where swarms are let loose as the demo was: from its starts, for as long."""

    system: System
    demo: Trajectory
    known: Known
    discount: float
    threads: int | None

    def looks(
        self, policies: list[LocalPolicy], count: int, seed: int
    ) -> Iterator[tuple[Look, int]]:
        """Looks at `count` runs from each start, those of the first ones first.

        Several policies share them: each has equally many.
        """
        starts = self.demo.runs
        each = count // len(policies)
        pieces = max(1, BYTES // (self._bytes() * starts))
        for k, policy in enumerate(policies):
            for begin in range(0, each, pieces):
                end = min(each, begin + pieces)
                numbers = np.arange((k * each + begin) * starts, (k * each + end) * starts)
                yield self._look(policy, numbers, seed), len(numbers)

    def _look(self, policy: LocalPolicy, numbers: NDArray[np.int64], seed: int) -> Look:
        seen = simulate(
            self._started,
            policy,
            numbers=numbers,
            steps=self.demo.steps,
            seed=seed,
            record=self.known.record,
            threads=self.threads,
        )
        return observed(self.system, seen, self.known, self.discount)

    @property
    def _started(self) -> System:
        """The system from the demo's first states; from its own where there are none."""
        if not self.known.states:
            return self.system
        names = self.known.states
        constant = {n: "time" not in self.demo.variables[n].axes for n in names}
        return starting_from(
            self.system, {n: self.demo[n] if constant[n] else self.demo[n][:, 0] for n in names}
        )

    def _bytes(self) -> int:
        """The memory of one recorded run, about."""
        recorded = sum(v.values.nbytes for v in self.demo.variables.values()) // self.demo.runs
        return max(1, recorded + 8 * self.system.n_agents * self.demo.steps)


@dataclass(frozen=True, eq=False)
class _Findings:
    """All that the words of a verdict depend on."""

    lines: tuple[Line, ...]
    relative: NDArray[np.float64]  # (K,): the difference as a share of the demo's own value
    comparison: Comparison
    power: float
    as_near: int | None
    random: int
    off: bool  # the learned swarm's feature expectations are far from the demo's themselves
    slow: float | None  # a better discount, where the one used does not see the behaviour
    discount: float
    steps: int

    @classmethod
    def of(
        cls,
        system: System,
        demo: Trajectory,
        table: Table,
        look: Look,
        effort: Effort,
        swarms: list[Swarm],
        rng: np.random.Generator,
        discount: float,
    ) -> "_Findings":
        """Compare what was seen."""
        starts = demo.runs
        values = _by_swarm(table.values, starts, swarms)
        recorded, learned = table.values[:starts], values[LEARNED]
        comparison = compared(recorded, learned, rng)
        ignorant = [values[part] for part in (RANDOM, NOTHING) if part in values]
        power = np.nan
        if ignorant:
            power = float(told_apart(np.concatenate(ignorant), learned, LEVEL).mean())
        lines, relative = _lines(table, starts, values, comparison)
        as_near, count, off = None, 0, False
        if look.mu is not None and RANDOM in values:
            mu = _by_swarm(look.mu, starts, swarms)
            as_near, count, off = _nearness(look.mu[:starts], mu[LEARNED], mu[RANDOM])
        course = main_course(system, demo, Known.of(system, demo))
        slow = None
        if relaxation_time(course) > 2 / (1 - discount):
            better = suggested_discount(system, demo)
            slow = better if better > discount else None
        return cls(
            lines, relative, comparison, power, as_near, count, off, slow, discount, demo.steps
        )

    def verdict(self, known: Known, telling: Any, runs: int, quick: bool) -> Verdict:
        """The answer in words."""
        p = self.comparison.p
        culprits = self._culprits() if p <= LEVEL else []
        serious = [
            k
            for k in culprits
            if self.lines[k].main and (self.lines[k].effect > LARGE or self.relative[k] > OFF)
        ]
        exceptions = [k for k in culprits if self.lines[k].effect > NEGLIGIBLE]
        blind = np.isfinite(self.power) and self.power < 0.5 and not culprits
        unidentified = (
            self.as_near is not None and self.as_near > SEVERAL * self.random and not self.off
        )
        notes = [known.missing] if known.missing else []
        advice: list[str] = []
        alarm = bool(serious) or blind
        nearby = f"{self.as_near} of {self.random} random policies are as near"
        if unidentified and alarm:
            words = f"the features do not identify this behaviour: {nearby}"
            advice.append(
                "give the system features that differ between this behaviour and others"
            )
        elif serious:
            words = f"does not reproduce it: {self._listed(serious)}"
            advice.append("more iterations, other features or finer actions")
        elif blind:
            words = "too little data to tell"
            advice.append(
                "more or longer demos: even random policies cannot be told from the learned swarm"
            )
        elif exceptions:
            words = f"reproduces it, except: {self._listed(exceptions)}"
        else:
            words = "reproduces the demo"
            if p <= LEVEL:
                notes.append("differences can be seen, but they are small")
        if unidentified and not alarm:
            notes.append(f"the features alone do not identify this behaviour: {nearby}")
        if self.slow is not None:
            text = (
                f"a discount of {self.discount:g} sees about {1 / (1 - self.discount):.0f} steps, "
                f"but the swarm takes longer to settle: try discount={self.slow:g}"
            )
            if self.slow < 1 - 2 / self.steps:
                text += ", and a longer demo"
            (advice if alarm else notes).append(text)
        return Verdict(
            words,
            not alarm,
            alarm,
            p,
            self.lines,
            self.as_near,
            self.random,
            self.power,
            telling,
            tuple(advice),
            tuple(notes),
            runs,
            quick,
        )

    def _culprits(self) -> list[int]:
        """The statistics that tell the swarms apart, the clearest first."""
        order = np.argsort(-self.comparison.energy, kind="stable")
        found = [int(k) for k in order if self.comparison.adjusted[k] <= LEVEL]
        # Many that are a little off: none is proven on its own.
        return found or [int(k) for k in order if self.comparison.each[k] <= LEVEL]

    def _listed(self, which: list[int]) -> str:
        """The first of these, by their effect, in words; one for each title."""
        ranked = sorted(which, key=lambda k: -self.lines[k].effect)
        titles: dict[str, str] = {}
        for k in ranked:
            titles.setdefault(self.lines[k].title, self.lines[k].words)
        listed = list(titles.values())
        return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _by_swarm(
    values: NDArray[np.float64], starts: int, swarms: list[Swarm]
) -> dict[int, NDArray[np.float64]]:
    """The runs of each swarm (n, R, ...), after those of the demo."""
    found, begin = {}, starts
    for part, _, count in swarms:
        end = begin + count * starts
        found[part] = values[begin:end].reshape(count, starts, *values.shape[1:])
        begin = end
    return found


def _lines(
    table: Table,
    starts: int,
    values: dict[int, NDArray[np.float64]],
    comparison: Comparison,
) -> tuple[tuple[Line, ...], NDArray[np.float64]]:
    """One line for each statistic, and the relative differences of those that have a zero."""
    demo = table.values[:starts].mean(axis=0)
    learned = values[LEARNED].mean(axis=(0, 1))
    spread = np.sqrt(values[LEARNED].var(axis=0).mean(axis=0))
    gap = np.abs(learned - demo)
    yardstick = _yardstick(table, demo, values)
    small = np.finfo(np.float64).tiny
    effect = np.where(gap > 0, gap / np.maximum(yardstick, small), 0.0)
    effect = np.minimum(effect, 1e6)  # baselines that do not differ from the demo at all
    own = np.array([statistic.ratio for statistic in table.statistics])
    relative = np.where(own, gap / np.maximum(np.abs(demo), small), 0.0)
    names = {RANDOM: poor.RANDOM, NOTHING: poor.NOTHING, CLONE: poor.CLONE}
    means = {names[part]: runs.mean(axis=(0, 1)) for part, runs in values.items() if part in names}
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
            float(comparison.each[k]),
            float(comparison.adjusted[k]),
            float(effect[k]),
        )
        for k, statistic in enumerate(table.statistics)
    )
    return lines, relative


def _yardstick(
    table: Table, demo: NDArray[np.float64], values: dict[int, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """How far the baselines are from the demo: the farthest of a family for all of it.

    Without baselines it is the spread of the learned swarm.
    """
    ignorant = [values[part] for part in (RANDOM, NOTHING) if part in values]
    if not ignorant:
        return np.sqrt(values[LEARNED].var(axis=0).mean(axis=0))
    far = np.max([np.abs(each.mean(axis=1) - demo).mean(axis=0) for each in ignorant], axis=0)
    families = [statistic.family for statistic in table.statistics]
    largest = {name: max(f for f, n in zip(far, families, strict=True) if n == name) for name in families}
    return np.array([largest[name] for name in families])


def _demo_spread(table: Table, starts: int) -> NDArray[np.float64]:
    """The demo's own spread: between its runs, or between the blocks of its only run."""
    if starts > 1:
        return table.values[:starts].std(axis=0, ddof=1)
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
) -> tuple[int, int, bool]:
    """How many random policies are as near to the demo's feature expectations as the learned one.

    And of how many; and whether the learned one is itself no nearer than most of them, though
    they differ by more than chance.
    """
    target = demo.mean(axis=0)
    own, others = learned.mean(axis=1), random.mean(axis=1)
    distance = np.linalg.norm(own - target, axis=1)
    noise = float(np.median(np.linalg.norm(own[1:] - own[:-1], axis=1)))
    limit = max(float(np.median(distance)), noise)
    near = np.linalg.norm(others - target, axis=1) <= limit
    off = float(np.median(distance)) > 3 * noise and 2 * near.sum() >= len(near)
    return int(near.sum()), len(near), off


def _policies(learned: Judged) -> list[LocalPolicy]:
    """The policy of each experiment."""
    policy = learned.policy if isinstance(learned, Result) else as_policy(learned)
    if policy.replicas == 1:
        return [policy]
    return [selected(policy, np.array([e])) for e in range(policy.replicas)]


def _system(learned: Judged, demo: Trajectory, system: System | None) -> System:
    """The system that was recorded: given, or made again from the settings of a result."""
    if system is not None:
        check_is_system(system)
        return system
    if isinstance(learned, Result) and learned.system_name in KNOWN_SYSTEMS:
        settings = dict(learned.system_settings)
        if "features" not in settings:
            own = {name: value for name, value in settings.items() if name not in REPLACED}
            return KNOWN_SYSTEMS[learned.system_name](**own)
    raise InvalidInput("which system was recorded is not known: give it, judge(..., system=...)")


def _discount(learned: Judged, discount: float | None) -> float:
    if discount is not None:
        check_discount(discount)
        return discount
    return float(learned.settings["discount"]) if isinstance(learned, Result) else 0.9
