"""The verdict, the discount and what else `fit` says of its own accord."""

import warnings
from pathlib import Path

import pytest

import swarmdp
from swarmdp.fitting.fit import FitInterrupted
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=50, radius=0.2)
SHORT = swarmdp.learning.HeterogeneousLearning(steps=60)


@pytest.fixture(scope="module")
def demo() -> swarmdp.Trajectory:
    return swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)


@pytest.fixture(scope="module")
def judged(demo: swarmdp.Trajectory) -> swarmdp.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        return swarmdp.fit(VICSEK, demo, seed=2, iterations=4, learner=SHORT)


def test_a_fit_is_judged(judged: swarmdp.Result, tmp_path: Path) -> None:
    verdict = judged.verdict
    assert verdict is not None
    assert verdict.quick
    assert f"verdict            {verdict.words}" in repr(judged)
    judged.save(tmp_path)
    assert repr(swarmdp.load(tmp_path).verdict) == repr(verdict)


def test_a_bad_fit_warns(demo: swarmdp.Trajectory) -> None:
    lazy = swarmdp.learning.HeterogeneousLearning(steps=1, temperature=0.0)  # learns to do nothing
    with pytest.warns(swarmdp.errors.VerdictWarning, match="does not reproduce it|do not identify"):
        result = swarmdp.fit(VICSEK, demo, seed=2, iterations=1, learner=lazy)
    assert result.verdict is not None
    assert result.verdict.alarm
    with pytest.warns(
        swarmdp.errors.VerdictWarning, match="2 of 2 experiments, the first of them: "
    ):
        result = swarmdp.fit(VICSEK, demo, seed=2, iterations=1, learner=lazy, separate=True)
    assert "0 of 2 reproduce their demo" in repr(result)
    with pytest.raises(InvalidInput, match="use result.verdicts"):
        _ = result.verdict


def test_no_verdict_where_none_is_wanted_or_possible(
    demo: swarmdp.Trajectory, judged: swarmdp.Result
) -> None:
    quick = {"seed": 2, "iterations": 1, "learner": SHORT}
    assert swarmdp.fit(VICSEK, demo, judge=False, **quick).verdict is None  # type: ignore[arg-type]
    assert swarmdp.fit(VICSEK, judged.expert_mu, **quick).verdict is None  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="judge must be True or False, got 'no'"):
        swarmdp.fit(VICSEK, demo, judge="no", **quick)  # type: ignore[arg-type]


def test_the_verdict_does_not_change_the_fit(
    demo: swarmdp.Trajectory, judged: swarmdp.Result
) -> None:
    plain = swarmdp.fit(VICSEK, demo, seed=2, iterations=4, learner=SHORT, judge=False)
    assert (plain.history.weights == judged.history.weights).all()


def test_an_interrupt_while_judging_keeps_the_fit(
    demo: swarmdp.Trajectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("swarmdp.fitting.fit.judge_and_take_over", interrupt)
    with pytest.raises(FitInterrupted) as stop:
        swarmdp.fit(VICSEK, demo, seed=2, iterations=2, learner=SHORT, checkpoint=tmp_path)
    kept = swarmdp.load(tmp_path)
    assert kept.choice is not None
    assert (kept.chosen == stop.value.result.chosen).all()


def test_the_discount_follows_the_demo(demo: swarmdp.Trajectory, judged: swarmdp.Result) -> None:
    slow = swarmdp.Vicsek(n_agents=50, radius=0.06, speed=0.03)
    long = swarmdp.rollout(slow, slow.expert, steps=300, seed=3)
    result = swarmdp.fit(
        slow, long, seed=1, discount="auto", iterations=1, learner=SHORT, judge=False
    )
    assert result.settings["discount"] == swarmdp.judging.suggested_discount(slow, long) > 0.9
    with pytest.raises(InvalidInput, match="in \\[0, 1\\) or \"auto\", got 'slow'"):
        swarmdp.fit(slow, long, seed=1, discount="slow")
    with pytest.raises(InvalidInput, match="needs a recorded demo"):
        swarmdp.fit(VICSEK, judged.expert_mu, seed=1, discount="auto")
