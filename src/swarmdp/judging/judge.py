"""`swarmdp.judge`: whether the learned swarm is the recorded one."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.demos import check_demo, read_demo
from swarmdp.irl.frames import recorded_states
from swarmdp.irl.inference import Explanation, explain
from swarmdp.irl.result import Result
from swarmdp.judging import baselines as simple
from swarmdp.judging.advice import CLASSES
from swarmdp.judging.causes import UNKNOWN, missing_cause
from swarmdp.judging.drift import add_drift
from swarmdp.judging.elsewhere import add_other_starts
from swarmdp.judging.motion import PLACE
from swarmdp.judging.stage import LEARNED, DemoStage
from swarmdp.judging.statistics import SwarmLook, join_looks, look_at_runs
from swarmdp.judging.stretches import Stretches
from swarmdp.judging.weighing import Compared, gap_of, verdict_of
from swarmdp.model.recorded import RecordedDemo
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System, check_is_system, name_of
from swarmdp.model.traits import HasExpert, models_of, rules_of
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Controller, FunctionPolicy, LocalPolicy, TablePolicy
from swarmdp.policies.replicas import as_policy, check_fits, select_replicas
from swarmdp.simulation.rollout import simulate
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_discount, check_integer, check_seed
from swarmdp.support.errors import InvalidInput, VerdictWarning
from swarmdp.support.progress import Tell, shown
from swarmdp.systems.registry import built_in, rebuild

_OTHER_STARTS = 20  # from which it is seen whether a direction is the law's
_FREE = 0.25  # of a large difference: a spread over starts above this is no direction of the law
_STRETCH_RUNS = 100  # from the starts of all stretches together, in the quick form
MOST_RUNS = 10_000  # of the learned swarm

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

    @classmethod
    def of_stretches(cls, starts: int, quick: bool) -> "Effort":
        """The same for short stretches."""
        total = _STRETCH_RUNS if quick else 5 * _STRETCH_RUNS
        return cls(max(2, -(-total // starts)), max(1, -(-total // (4 * starts))), 1, 1)


@checked
def judge(
    learned: Judged,
    demo: Trajectory | RecordedDemo,
    *,
    system: System | None = None,
    seed: int,
    baselines: Sequence[str] = simple.BASELINES,
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
        Recorded runs. The more of the state they have, the more can be compared. For a swarm made
        from a recording, a part of its decisions, such as `decisions.test`.
    system
        The system that was recorded. It may be left out for a result of a Vicsek, Ising or
        Gridworld system.
    seed
        Same seed, same verdict.
    baselines
        What to compare with: "random" policies, doing "nothing", a "clone" of the demo (if its
        actions are known), and what the system brings. Swarms made from a recording bring two
        models that are fitted to the decisions from which the swarm was made: "vicsek" and
        "couzin".
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

    Raises
    ------
    InvalidInput
        If the demo has no states, or the system is not known.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=5, seed=1)
    >>> swarmdp.judge(ising.expert, demo, system=ising, seed=2, quick=True).words
    'reproduces the demo'

    """
    policies = _policies(learned)
    if len(policies) != 1:
        raise InvalidInput(
            f"judge takes one experiment, got {len(policies)}: use swarmdp.judging.judge_each"
        )
    recorded = _system(learned, system)
    verdict = _judge_one(
        recorded,
        policies[0],
        read_demo(recorded, demo),
        discount=_discount(learned, discount),
        seed=seed,
        names=simple.check_baselines(baselines, recorded),
        runs=runs,
        quick=quick,
        by_features=isinstance(learned, Result),
        progress=progress,
        threads=threads,
    )
    announce((verdict,))
    return verdict


@checked
def judge_each(
    learned: Judged,
    demo: Trajectory | RecordedDemo,
    *,
    system: System | None = None,
    seed: int,
    baselines: Sequence[str] = simple.BASELINES,
    runs: int | None = None,
    discount: float | None = None,
    quick: bool = False,
    progress: bool | Tell | None = None,
    threads: int | None = None,
) -> tuple[Verdict, ...]:
    """Judge each experiment of a batch against its own run of the demo (`separate=True`).

    The arguments are those of `judge`. A single experiment is judged against all runs of the demo.

    Parameters
    ----------
    learned
        As for `judge`.
    demo
        As for `judge`.
    system
        As for `judge`.
    seed
        As for `judge`.
    baselines
        As for `judge`.
    runs
        As for `judge`.
    discount
        As for `judge`.
    quick
        As for `judge`.
    progress
        As for `judge`.
    threads
        As for `judge`.

    Returns
    -------
    tuple of Verdict
        One for each experiment.

    Raises
    ------
    InvalidInput
        If there are not as many runs in the demo as experiments.

    Examples
    --------
    >>> import warnings
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=2, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, separate=True, judge=False)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)  # short
    ...     verdicts = swarmdp.judging.judge_each(result, demo, seed=2, quick=True)
    ...
    >>> len(verdicts)
    2

    """
    verdicts = verdicts_of(
        learned,
        demo,
        system=system,
        seed=seed,
        baselines=baselines,
        runs=runs,
        discount=discount,
        quick=quick,
        progress=progress,
        threads=threads,
    )
    announce(verdicts)
    return verdicts


def verdicts_of(
    learned: Judged,
    demo: Trajectory | RecordedDemo,
    *,
    system: System | None,
    seed: int,
    baselines: Sequence[str] = simple.BASELINES,
    runs: int | None = None,
    discount: float | None = None,
    quick: bool,
    progress: bool | Tell | None,
    threads: int | None,
) -> tuple[Verdict, ...]:
    """The verdicts of `judge_each`, without a warning."""
    policies = _policies(learned)
    recorded = _system(learned, system)
    demo = read_demo(recorded, demo)
    if len(policies) not in (1, demo.runs):
        raise InvalidInput(
            f"{len(policies)} experiments need a demo of as many runs, one for each, got "
            f"{demo.runs}"
        )
    demos = [demo] if len(policies) == 1 else [one_run(demo, r) for r in range(demo.runs)]
    return tuple(
        _judge_one(
            recorded,
            policy,
            part,
            discount=_discount(learned, discount),
            seed=derived_seed(seed, e) if len(policies) > 1 else seed,
            names=simple.check_baselines(baselines, recorded),
            runs=runs,
            quick=quick,
            by_features=isinstance(learned, Result),
            progress=progress,
            threads=threads,
        )
        for e, (policy, part) in enumerate(zip(policies, demos, strict=True))
    )


def verdict_of_model(
    system: System,
    model: System,
    demo: Trajectory | RecordedDemo,
    *,
    seed: int,
    baselines: Sequence[str],
    others: Mapping[str, System],
    discount: float,
    progress: bool | Tell | None,
    threads: int | None,
    parts: Sequence[Trajectory] = (),
) -> Verdict:
    """The verdict on a model of a system, which has the same states and an expert of its own.

    Parameters
    ----------
    system
        The one that was recorded: its measures and observations are compared.
    model
        Whose expert moves the agents.
    demo
        As for `judge`.
    seed, baselines, discount, progress, threads
        As for `judge`.
    others
        More models to compare with, by name.
    parts
        Other times of the same recording, each as long as the demo: what it differs by itself.

    """
    judge = Judge(
        system,
        read_demo(system, demo),
        discount=discount,
        seed=seed,
        names=simple.check_baselines(baselines, system),
        runs=None,
        quick=False,
        threads=threads,
        models=others,
        parts=parts,
    )
    policy = FunctionPolicy(_expert(name_of(model), model))
    return judge.verdict(policy, by_features=False, progress=progress, model=model)


def announce(verdicts: Sequence[Verdict]) -> None:
    """Warn once about verdicts that are an alarm."""
    bad = [verdict for verdict in verdicts if verdict.alarm]
    if not bad:
        return
    text = "; ".join([bad[0].words, *bad[0].advice])
    if len(verdicts) > 1:
        text = f"{len(bad)} of {len(verdicts)} experiments, the first of them: {text}"
    # Of this function, the one that was called, and the checks of its arguments.
    warnings.warn(text, VerdictWarning, stacklevel=4)


def one_run(demo: Trajectory, run: int) -> Trajectory:
    """One run of a trajectory."""
    variables = {
        name: Variable(v.values[run : run + 1], v.axes, v.units, v.description)
        for name, v in demo.variables.items()
    }
    return Trajectory(
        variables, demo.system_name, demo.settings, 1, demo.steps, demo.seed, demo.version
    )


class Judge:
    """Judges policies by one demo: what does not depend on the policy is simulated once."""

    def __init__(
        self,
        system: System,
        demo: Trajectory,
        *,
        discount: float,
        seed: int,
        names: tuple[str, ...],
        runs: int | None,
        quick: bool,
        threads: int | None,
        stretches: bool = True,
        models: Mapping[str, System] | None = None,
        explained: Callable[[], Explanation | None] | None = None,
        parts: Sequence[Trajectory] = (),
    ) -> None:
        check_seed(seed)
        if runs is not None:
            check_integer("runs", runs, least=20)
            if runs > MOST_RUNS:
                raise InvalidInput(
                    f"runs must be at most {MOST_RUNS}, got {runs}: a few hundred tell all there is"
                )
        check_demo(system, demo, 0.0)
        self._system, self._demo, self._seed, self._quick = system, demo, seed, quick
        self._stage = DemoStage.of(system, demo, discount, threads)
        self._effort = Effort.of(demo.runs, runs, quick)
        self._models = dict(models_of(system))
        for name, model in (models or {}).items():
            self._models[name] = partial(_same, model)
        self._baselines = baselines_of(system, demo, names, self._effort, seed)
        for name, model in (models or {}).items():
            act = FunctionPolicy(_expert(name, model))
            self._baselines[name] = [act], self._effort.clone
        self._looks: dict[str, SwarmLook] = {}
        self._stretches = Stretches.of(self._stage) if stretches else None
        self._stretch_looks: dict[str, SwarmLook] = {}
        self._explained = explained
        self._last: tuple[LocalPolicy, SwarmLook] | None = None  # whose gap was asked for
        self._parts = self._stage.looks_at(parts)

    @property
    def rollouts(self) -> int:
        """The roll-outs that one more verdict takes."""
        return self._demo.runs * self._effort.learned

    @cached_property
    def _decisions(self) -> Explanation | None:
        """What the demo's single decisions tell; None where they are not known."""
        if self._explained is not None:
            known = self._explained()
            return None if known is None else replace(known, symmetry=None)
        seed = derived_seed(self._seed, Part.EXPLAINING)
        return explain(self._system, self._demo, symmetry=None, seed=seed)

    def _left_to_the_start(self, policy: LocalPolicy, model: System | None) -> frozenset[str]:
        """The directions and places that differ from start to start under a policy.

        A law with a symmetry fixes no direction: from any start it is another one, and from the
        demo's start a small difference of policies may lead to another one, too.
        """
        stage = self._stage
        seen = simulate(
            model or self._system,
            policy,
            numbers=np.arange(_OTHER_STARTS),
            steps=self._demo.steps,
            seed=derived_seed(self._seed, Part.OTHER_STARTS, 1),
            record=stage.comparable.record if model is None else "states",
            threads=stage.threads,
        )
        look = look_at_runs(self._system, seen, stage.comparable, stage.discount)
        table = look.table(self._system, slice(0, _OTHER_STARTS))
        spread, mean = table.values.std(axis=0), np.abs(table.values.mean(axis=0))
        free = [
            statistic.name
            for k, statistic in enumerate(table.statistics)
            if statistic.clear
            # A swarm all over a circle has no place, and one that is there by chance is no other.
            and (
                spread[k] > _FREE * statistic.scale
                or (statistic.title.startswith(PLACE) and mean[k] < _FREE * statistic.scale)
            )
        ]
        return frozenset(free)

    def confirms(self, policy: LocalPolicy) -> bool:
        """Whether the demo's single decisions are those of a policy that is a table."""
        if not isinstance(policy, TablePolicy) or self._decisions is None:
            return False
        return self._decisions.confirms(policy.chances(len(self._system.actions))[0])

    def gap(self, policy: LocalPolicy) -> float:
        """How far a swarm of this policy is from the demo: see `gap_of`.

        It takes a fraction of the time of a verdict, which then goes on from it.
        """
        check_fits(policy, self._system, 1)
        looks = self._stage.looks([policy], self._effort.learned, derived_seed(self._seed, 0))
        self._last = policy, join_looks(list(looks))
        return gap_of(self._stage, self._last[1])

    def verdict(
        self,
        policy: LocalPolicy,
        *,
        by_features: bool,
        progress: bool | Tell | None,
        model: System | None = None,
    ) -> Verdict:
        """Whether a swarm of this policy, or of a model with the same states, does as the demo."""
        check_fits(policy, model or self._system, 1)
        swarms = {LEARNED: ([policy], self._effort.learned), **self._baselines}
        models, done = self._models, 0
        total = self._demo.runs * sum(
            count for name, (_, count) in swarms.items() if name not in self._looks
        )
        looks: dict[str, SwarmLook] = {}
        with shown(progress, f"judging a swarm of {name_of(self._system)}") as tell:
            for part, (name, (policies, count)) in enumerate(swarms.items()):
                if name in self._looks:
                    looks[name] = self._looks[name]
                    continue
                if name == LEARNED and self._last and self._last[0] is policy:
                    looks[name] = self._last[1]
                    continue
                pieces = []
                moved = model if name == LEARNED else models[name]() if name in models else None
                seed = derived_seed(self._seed, part)
                for look in self._stage.looks(policies, count, seed, moved):
                    pieces.append(look)
                    done += look.runs
                    if tell is not None:
                        tell(done, total, f"judging: {done} of {total} runs")
                looks[name] = join_looks(pieces)
            self._looks = {name: look for name, look in looks.items() if name != LEARNED}
            verdict = verdict_of(
                self._stage,
                looks,
                quick=self._quick,
                seed=derived_seed(self._seed, len(swarms)),
                stretches=self._compared_stretches(policy, model),
                by_features=by_features,
                of_features=model is None,
                confirmed=lambda: self.confirms(policy),
                free=lambda: self._left_to_the_start(policy, model),
                parts=self._parts,
            )
            copies, _ = swarms.get(simple.CLONE, ([None], 0))
            verdict = add_other_starts(
                verdict,
                self._stage,
                policy,
                copies[0],
                derived_seed(self._seed, Part.OTHER_STARTS),
                model,
            )
            verdict = add_drift(verdict, self._system, self._demo)
            return verdict if model is not None else self._with_cause(verdict)

    def _compared_stretches(self, policy: LocalPolicy, model: System | None) -> Compared | None:
        """Looks at swarms that begin where stretches of the demo begin."""
        if self._stretches is None:
            return None
        stage = self._stretches.stage
        effort = Effort.of_stretches(stage.demo.runs, self._quick)
        swarms = {LEARNED: ([policy], effort.learned)}
        if not self._stretch_looks:
            names = tuple(name for name in simple.IGNORANT if name in self._baselines)
            swarms |= baselines_of(self._system, self._demo, names, effort, self._seed)
        for part, (name, (policies, count)) in enumerate(swarms.items()):
            seed = derived_seed(self._seed, Part.STRETCHES, part)
            moved = model if name == LEARNED else None
            looks = stage.looks(policies, count, seed, moved)
            self._stretch_looks[name] = join_looks(list(looks))
        return self._stretches, self._stretch_looks

    def _with_cause(self, verdict: Verdict) -> Verdict:
        """An alarm with what the observations lack, where the demo's decisions tell it.

        A cause that can be named takes the place of advice on classes. One that cannot is no
        advice, and leaves the others as they are.
        """
        cause = missing_cause(self._decisions) if verdict.alarm and self._decisions else ""
        if not cause:
            return verdict
        if cause.endswith(UNKNOWN):
            return verdict.noted(cause)
        rest = [text for text in verdict.advice if text not in CLASSES]
        return replace(verdict, advice=(*rest, cause))


def _judge_one(
    system: System,
    policy: LocalPolicy,
    demo: Trajectory,
    *,
    discount: float,
    seed: int,
    names: tuple[str, ...],
    runs: int | None,
    quick: bool,
    by_features: bool,
    progress: bool | Tell | None,
    threads: int | None,
) -> Verdict:
    judge = Judge(
        system,
        demo,
        discount=discount,
        seed=seed,
        names=names,
        runs=runs,
        quick=quick,
        threads=threads,
    )
    return judge.verdict(policy, by_features=by_features, progress=progress)


def baselines_of(
    system: System, demo: Trajectory, names: tuple[str, ...], effort: Effort, seed: int
) -> dict[str, tuple[list[LocalPolicy], int]]:
    """The swarms to compare with, each with its policies and the runs from each start."""
    swarms: dict[str, tuple[list[LocalPolicy], int]] = {}
    if simple.RANDOM in names:
        rng = np.random.default_rng(derived_seed(seed, Part.RANDOM_POLICIES))
        drawn = simple.random_policies(system, effort.random, rng)
        swarms[simple.RANDOM] = drawn, effort.random
    if simple.NOTHING in names:
        swarms[simple.NOTHING] = [simple.doing_nothing(system)], effort.nothing
    if simple.CLONE in names and (copy := simple.cloned_policy(system, demo)) is not None:
        swarms[simple.CLONE] = [copy], effort.clone
    for name, rule in rules_of(system).items():
        if name in names:
            swarms[name] = [FunctionPolicy(rule)], effort.clone
    for name, model in models_of(system).items():
        if name in names and recorded_states(system, demo):
            swarms[name] = [FunctionPolicy(_expert(name, model()))], effort.clone
    return swarms


def _same(model: System) -> System:
    return model


def _expert(name: str, model: System) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """The rule of a model."""
    if not isinstance(model, HasExpert):
        raise InvalidInput(f"the model {name!r} of a system must have an expert")
    return model.expert


def _policies(learned: Judged) -> list[LocalPolicy]:
    """The policy of each experiment."""
    policy = learned.policy if isinstance(learned, Result) else as_policy(learned)
    if policy.replicas == 1:
        return [policy]
    return [select_replicas(policy, np.array([e])) for e in range(policy.replicas)]


def _system(learned: Judged, system: System | None) -> System:
    """The system that was recorded: given, or made again from the settings of a result."""
    if system is not None:
        check_is_system(system)
        return system
    if isinstance(learned, Result) and built_in(learned.system_name):
        return rebuild(learned.system_name, learned.system_settings, any_start=True)
    raise InvalidInput("which system was recorded is not known: give it, judge(..., system=...)")


def _discount(learned: Judged, discount: float | None) -> float:
    if discount is not None:
        check_discount(discount)
        return discount
    return float(learned.settings["discount"]) if isinstance(learned, Result) else 0.9
