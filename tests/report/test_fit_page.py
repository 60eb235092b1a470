"""The page of a fit says what was found, how far it can be trusted, and what to do."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.result import Attempt, Result, Takeover
from swarmdp.learning import HeterogeneousLearning
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Line, Verdict
from swarmdp.report import fits, style
from swarmdp.report.fit_page import _found_by, _unusual, peculiar, write_fit_page
from tests.report.test_page import Elements

SYSTEM = swarmdp.Vicsek(n_agents=20)


@pytest.fixture(scope="module")
def demo() -> Trajectory:
    return swarmdp.rollout(SYSTEM, SYSTEM.expert, steps=50, seed=1)


@pytest.fixture(scope="module")
def result(demo: Trajectory) -> Result:
    quick = HeterogeneousLearning(steps=10, swarms=1)
    return swarmdp.fit(SYSTEM, demo, seed=2, iterations=3, learner=quick, judge=False)


def verdict(words: str, alarm: bool) -> Verdict:
    line = Line("order", "later", True, 0.9, 0.1, 0.5, 0.1, {}, 1.0, 0.01, 0.02, 0.5)
    advice = ("finer actions",) if alarm else ()
    return Verdict(words, not alarm, alarm, 0.02, (line,), None, 0, 1.0, None, advice, (), 40, True)


def written(folder: Path, result: Result, demo: Trajectory, **more: Any) -> str:
    drawn = {
        "reward": style.save(fits.plot_reward(result), folder / "reward")[0],
        "convergence": style.save(fits.plot_convergence(result), folder / "convergence")[0],
    }
    options: dict[str, Any] = {"expert": SYSTEM.expert, "figures": drawn, "planned": 3} | more
    page, _ = write_fit_page(folder, result, SYSTEM, demo, **options)
    elements = Elements(page.read_text(encoding="utf-8"))
    assert not elements.open
    names = {a["id"] for _, a in elements.elements if "id" in a}
    assert {"summary", "player-swarm", "figure-reward", "figure-measures"} <= names
    return " ".join(elements.text.split())


def test_a_fit_that_nobody_judged_says_so(tmp_path: Path, result: Result, demo: Trajectory) -> None:
    text = written(tmp_path, result, demo, planned=5)
    assert "? The learned swarm was not compared with the recorded one" in text
    assert "How far its other values can be trusted is unknown" in text
    assert "interrupted after 3 of 5 iterations; --resume continues" in text


def test_the_verdict_and_the_errors_are_in_words(
    tmp_path: Path, result: Result, demo: Trajectory
) -> None:
    good = replace(result, verdicts=(verdict("reproduces the demo", False),))
    same = replace(good, resamples=np.repeat(result.reward.weights[None], 8, axis=0))
    text = written(tmp_path, same, demo)
    assert "✓ The learned swarm does what the recorded one did." in text
    within = "At 36 of 36 observations this reward is within a standard deviation of theirs"
    assert f"{within}, at all within 2.5." in text
    but = replace(same, verdicts=(verdict("reproduces it, except: order too small", False),))
    text = written(tmp_path, but, demo)
    assert "✓ The learned swarm does what the recorded one did, with small exceptions" in text
    assert "The verdict: reproduces it, except: order too small." in text
    noise = 0.01 * np.random.default_rng(3).normal(size=(8, *result.reward.weights.shape))
    far = replace(
        good,
        resamples=noise,
        verdicts=(verdict("does not reproduce it: order too small later", True),),
    )
    text = written(tmp_path, far, demo)
    assert "✗ The learned swarm: does not reproduce it: order too small later." in text
    assert "finer actions." in text
    assert "order, later 0.90 0.50 ± 0.10 0.02" in text
    count = int(peculiar(far).sum())
    assert 0 < count < 36
    assert f"At {count} of 36 observations this reward is further from theirs" in text
    assert "runs of the learned swarm from the demo's start" in text


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("clone of recorded actions", "copying the recorded actions"),
        ("clone of explained actions", "copying the actions that best explain the demo"),
        ("clone of changes", "matching how observations change into each other"),
        ("policy search", "policy search"),
    ],
)
def test_who_found_the_policy_is_told(
    tmp_path: Path, result: Result, demo: Trajectory, learner: str, words: str
) -> None:
    good = replace(result, verdicts=(verdict("reproduces the demo", False),))
    assert _found_by(good) == []
    taken = replace(
        good,
        takeover=Takeover(good.policy, good.expert_mu, (learner,)),
        attempts=(
            Attempt(0, "Algorithm 2", 2.0, False, 40),
            Attempt(0, learner, 0.1, True, 1040),
        ),
    )
    (told,) = _found_by(taken)
    assert told.startswith(f"The policy was found by {words}")
    assert "(1080 roll-outs)" in told
    if learner == "policy search":
        assert told in written(tmp_path, taken, demo)


def test_errors_are_where_resampled_demos_put_them(result: Result) -> None:
    resamples = np.zeros((8, *result.reward.weights.shape))
    resamples[::2] = 0.1
    around, along = fits.plot_reward(replace(result, resamples=resamples)).axes
    middle = np.asarray(along.lines[-1].get_ydata(), float)
    np.testing.assert_allclose(middle, 0.05)
    (band,) = along.collections
    spread = resamples.std(axis=0, ddof=1)[0, 0]
    edges = np.asarray(band.get_paths()[0].vertices)[:, 1]
    np.testing.assert_allclose([edges.min(), edges.max()], [0.05 - spread, 0.05 + spread])
    numbers = [text.get_text() for text in around.get_yticklabels()]
    assert "0" in numbers
    assert len(numbers) >= 3  # the scale can be read


def test_bars_go_outwards_and_inwards_from_zero(result: Result) -> None:
    around, along = fits.plot_reward(result).axes
    for ax in (around, along):
        heights = [bar.get_height() for bar in ax.patches]  # type: ignore[attr-defined]
        np.testing.assert_allclose(heights, result.reward.weights[0])
        assert {bar.get_y() for bar in ax.patches} == {0}  # type: ignore[attr-defined]


def test_an_unusual_demo_is_called_one(demo: Trajectory) -> None:
    usual = np.linspace(0.4, 0.6, 100)[:, None] * np.ones(51)
    measures = SYSTEM.measures
    evaluation = swarmdp.judging.Evaluation(
        "Vicsek",
        measures,
        {"order": usual},
        {"order": usual},
        np.zeros(2),
        np.zeros((1, 2)),
        20,
        50,
    )
    assert _unusual(evaluation, {"order": np.full((1, 51), 0.5)}) == ""
    words = _unusual(evaluation, {"order": np.full((1, 51), 0.405)})
    assert re.search(r"order parameter . is 0.405 on average .* of 100 other runs .* 3 are", words)
    assert "as low (mean 0.50 ± 0.06, ± s.d. of runs)" in words
