"""Directions, single decisions and names of measures in verdicts."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery import development
from swarmdp.irl.inference import explain
from swarmdp.judging import advice, baselines, stretches
from swarmdp.judging.causes import UNKNOWN
from swarmdp.judging.comparison import compare_runs
from swarmdp.judging.judge import Judge
from swarmdp.model import Field, Measure

CASES = {case.name: case for case in development.cases()}


@dataclass(frozen=True)
class March:
    """Walkers on a ring with a place ahead and one behind: they see how near the next ones are.

    What they see is the same for a march ahead and for one back.
    """

    n_agents: ClassVar[int] = 12
    actions = np.array([-1, 0, 1])
    features = swarmdp.Levels(3)
    fields: ClassVar[Mapping[str, Field]] = {
        "place": Field("place on the ring", kind="position", period=30.0)
    }

    def initial(self, rng: Any) -> Any:
        return {"place": 30 * rng.uniform()}

    def observe(self, state: Any) -> NDArray[np.int64]:
        gaps = np.abs(state["place"][:, None, :] - state["place"][:, :, None])
        gaps = np.minimum(gaps, 30 - gaps) + 99 * np.eye(self.n_agents)
        return np.asarray(np.digitize(gaps.min(axis=2), [0.5, 2.0]))

    def transition(self, state: Any, actions: NDArray[Any], rng: Any) -> Any:
        return {"place": (state["place"] + 0.3 * actions + rng.normal(scale=0.05)) % 30}

    def near(self, swarm: Any) -> NDArray[np.float64]:
        place = swarm["place"]
        return np.asarray((place % 1).mean(axis=-1))

    @property
    def measures(self) -> Mapping[str, Measure]:
        """A measure with the name of an array of the state."""
        return {"place": Measure(self.near, "mean part of a place", limits=(0, 1))}


MARCH = March()
AHEAD, BACK = swarmdp.Policy([2, 2, 2]), swarmdp.Policy([0, 0, 0])


def judged(policy: Any, demo: Any, system: Any = MARCH, seed: int = 3) -> swarmdp.Verdict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        verdict: swarmdp.Verdict = swarmdp.judge(
            policy, demo, system=system, seed=seed, quick=True, progress=False
        )
    return verdict


@pytest.mark.parametrize("runs", [1, 3])
def test_a_march_backwards_is_an_alarm(runs: int) -> None:
    demo = swarmdp.rollout(MARCH, AHEAD, steps=40, runs=runs, seed=1)
    same, other = judged(AHEAD, demo), judged(BACK, demo)
    assert not same.alarm
    assert other.alarm
    assert "does not reproduce it" in other.words
    row = next(line for line in other.lines if "place" in line.title and line.adjusted_p <= 0.05)
    assert np.sign(row.learned) == -np.sign(row.demo) != 0


def test_a_convoy_that_backs_up_is_an_alarm() -> None:
    case = CASES["convoy"]
    convoy: Any = case.system
    demo = case.demo(1)
    assert not judged(convoy.expert, demo, convoy).alarm
    assert judged(lambda seen: -convoy.expert(seen[..., ::-1]), demo, convoy).alarm


def test_a_measure_may_have_the_name_of_an_array_of_the_state() -> None:
    demo = swarmdp.rollout(MARCH, AHEAD, steps=20, runs=2, seed=1)
    verdict = judged(AHEAD, demo)
    line = next(line for line in verdict.lines if line.title == "mean part of a place")
    assert 0 <= line.demo <= 1
    assert not verdict.alarm


def test_directed_statistics_do_not_hide_others() -> None:
    """A difference is found as well among many wild statistics that are directed as without."""
    rng = np.random.default_rng(1)
    hits = {"alone": 0, "apart": 0, "together": 0}
    trials = 40
    for _ in range(trials):
        plain = rng.normal(size=(41, 1, 3))
        plain[0, 0, 0] += 4
        wild = rng.standard_t(1.5, size=(41, 1, 40))
        both = np.concatenate([plain, wild], axis=2)
        directed = np.arange(43) >= 3
        for name, values, chosen in (
            ("alone", plain, None),
            ("apart", both, directed),
            ("together", both, None),
        ):
            compared = compare_runs(values[0], values[1:], np.random.default_rng(0), chosen)
            hits[name] += compared.adjusted[0] <= 0.05
    assert hits["alone"] > 0.8 * trials
    assert hits["apart"] == hits["alone"]
    assert hits["together"] < 0.7 * hits["apart"]


def test_directed_statistics_are_compared_among_themselves() -> None:
    rng = np.random.default_rng(2)
    runs = rng.normal(size=(41, 1, 6))
    runs[0, 0, 5] += 8
    directed = np.arange(6) >= 4
    compared = compare_runs(runs[0], runs[1:], rng, directed)
    assert compared.p <= 0.1
    assert compared.adjusted[5] <= 0.05
    nothing = compare_runs(runs[0], runs[1:], rng, np.ones(6, np.bool_))
    assert nothing.adjusted[5] <= 0.05


@pytest.mark.parametrize("directed", [np.arange(6) >= 3, np.ones(6, np.bool_)])
def test_the_same_swarm_is_rarely_told_from_itself(directed: NDArray[np.bool_]) -> None:
    rng = np.random.default_rng(3)
    trials = 300
    hits = 0
    for _ in range(trials):
        runs = rng.standard_t(2, size=(41, 1, 6))
        hits += compare_runs(runs[0], runs[1:], rng, directed).p <= 0.05
    assert hits <= 0.05 * trials + 3 * np.sqrt(0.05 * 0.95 * trials)


def short(name: str) -> tuple[Judge, NDArray[np.int64]]:
    """A judge with one run, in which a measure could have been quite another; the expert's table.

    The table does nothing where the expert never was.
    """
    system: Any = CASES[name].system
    demo = swarmdp.rollout(
        system, system.expert, steps=40, seed=4, record=["states", "actions"], progress=False
    )
    recorded = explain(system, demo, symmetry=None, seed=1)
    assert recorded is not None
    return judge_of(system, states_of(demo)), recorded.support.argmax(axis=1)


def states_of(demo: swarmdp.Trajectory) -> swarmdp.Trajectory:
    """The demo without its actions."""
    variables = {name: v for name, v in demo.variables.items() if name != "actions"}
    return replace(demo, variables=variables)


def judge_of(system: Any, demo: swarmdp.Trajectory) -> Judge:
    return Judge(
        system,
        demo,
        discount=0.9,
        seed=5,
        names=baselines.BASELINES,
        runs=None,
        quick=True,
        threads=1,
    )


CONFIRMED = "the demo's single decisions are those of this policy"


@pytest.mark.parametrize("name", ["locusts", "fireflies"])
def test_stretches_confirm_what_runs_cannot(name: str) -> None:
    """From each state of the demo the expert does what the demo did next, and others do not."""
    judge, table = short(name)
    system: Any = CASES[name].system
    function = swarmdp.policies.FunctionPolicy(system.expert)
    expert = judge.verdict(function, by_features=False, progress=False)
    assert not expert.alarm
    assert any("too few to compare whole runs" in note for note in expert.notes)
    rng = np.random.default_rng(1)
    for _ in range(3):
        other = swarmdp.Policy(rng.integers(len(system.actions), size=len(table)))
        assert judge.verdict(other, by_features=False, progress=False).alarm


@pytest.mark.parametrize("name", ["locusts", "fireflies"])
def test_single_decisions_confirm_what_runs_cannot(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "can_begin_anywhere", lambda *_: False)
    judge, table = short(name)
    system: Any = CASES[name].system
    # Of a function nothing is known but what its swarm does.
    function = swarmdp.policies.FunctionPolicy(system.expert)
    unconfirmed = judge.verdict(function, by_features=False, progress=False)
    assert unconfirmed.alarm
    assert unconfirmed.words.startswith("too little data to tell")
    expert = judge.verdict(swarmdp.Policy(table), by_features=False, progress=False)
    assert not expert.alarm
    assert CONFIRMED in expert.notes
    assert any("too few to compare" in note for note in expert.notes)
    rng = np.random.default_rng(1)
    for _ in range(3):
        other = swarmdp.Policy(rng.integers(len(system.actions), size=len(table)))
        wrong = judge.verdict(other, by_features=False, progress=False)
        assert wrong.alarm
        assert CONFIRMED not in wrong.notes


def test_a_judge_gives_the_same_verdict_whatever_it_judged_before() -> None:
    judge, table = short("fireflies")
    system: Any = CASES["fireflies"].system
    demo = swarmdp.rollout(system, system.expert, steps=40, seed=4, progress=False)
    judge.verdict(swarmdp.Policy(1 - table), by_features=False, progress=False)
    later = judge.verdict(swarmdp.Policy(table), by_features=False, progress=False)
    fresh = judged(swarmdp.Policy(table), demo, system, seed=5)
    assert repr(later) == repr(fresh)
    assert judge.rollouts == 40


@pytest.mark.parametrize(("name", "cause"), [("sentries", "a memory"), ("tide", "a common cue")])
def test_an_alarm_names_what_the_observations_lack(name: str, cause: str) -> None:
    case = CASES[name]
    nothing = baselines.doing_nothing(case.system)
    verdict = judged(nothing, case.demo(1), case.system)
    assert verdict.alarm
    assert cause in verdict.advice[-1]


def test_a_cause_that_cannot_be_named_keeps_the_concrete_advice() -> None:
    """Actions of this expert lie between the listed ones, so the same observation gets several."""
    case = CASES["flock"]
    verdict = judged(baselines.doing_nothing(case.system), case.demo(1), case.system)
    assert verdict.alarm
    assert verdict.advice[-1] in (*advice.CLASSES, advice.CLONE_IS_NEARER)
    assert verdict.notes[-1].endswith(UNKNOWN)


def test_an_alarm_of_what_can_be_learned_names_no_cause() -> None:
    case = CASES["fireflies"]
    verdict = judged(baselines.doing_nothing(case.system), case.demo(1), case.system)
    assert verdict.alarm
    assert not any("missing from the observations" in text for text in verdict.advice)
