"""What the observations lack, by what explains the same observation's different answers."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from studies.battery import development
from swarmdp.irl.inference import Explanation, explain
from swarmdp.judging.causes import (
    conditional_information,
    dependence_on_others,
    dependence_on_the_past,
    missing_cause,
)

CASES = {case.name: case for case in development.cases()}
LEARNABLE = [name for name, case in CASES.items() if case.learnable]
NO_TABLE = {"flock", "convoy"}  # their experts' actions lie between the listed ones


def plain_information(
    given: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]
) -> float:
    """The sum over labels, less half the degrees of freedom by the sample's size."""
    total, information, freedom = len(given), 0.0, 0
    for z in set(given.tolist()):
        here = given == z
        count = here.sum()
        xs, ys = set(one[here].tolist()), set(other[here].tolist())
        freedom += (len(xs) - 1) * (len(ys) - 1)
        for x in xs:
            for y in ys:
                both = (here & (one == x) & (other == y)).sum()
                if both:
                    alone = (here & (one == x)).sum() * (here & (other == y)).sum()
                    information += both / total * np.log(both * count / alone)
    return max(0.0, information - freedom / (2 * total))


@pytest.mark.parametrize("seed", range(5))
def test_the_information_agrees_with_plain_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = rng.integers(4, size=300) * 3  # labels may have gaps
    other = rng.integers(5, size=300)
    one = np.where(rng.uniform(size=300) < 0.5, (other + given) % 3, rng.integers(3, size=300))
    expected = plain_information(given, one, other)
    assert expected > 0.05
    assert conditional_information(given, one, other) == pytest.approx(expected)
    assert conditional_information(given, other, one) == pytest.approx(expected)


def test_a_copy_tells_all_and_a_constant_nothing() -> None:
    rng = np.random.default_rng(1)
    one = rng.integers(2, size=10_000)
    given = np.zeros_like(one)
    # One bit, less one degree of freedom.
    assert conditional_information(given, one, one) == pytest.approx(np.log(2), abs=1e-3)
    assert conditional_information(given, one, given) == 0
    # What the observation tells already is not told again.
    assert conditional_information(one, one, one) == 0


def test_independent_labels_tell_nothing_on_average() -> None:
    """2 N times the information is distributed as chi-square, whose mean is taken off."""
    rng = np.random.default_rng(2)
    size, trials, freedom = 2000, 300, 2 * (2 - 1) * (3 - 1)
    told = np.array(
        [
            conditional_information(*(rng.integers(n, size=size) for n in (2, 2, 3)))
            for _ in range(trials)
        ]
    )
    zero = stats.chi2.cdf(freedom, freedom)
    error = np.sqrt(zero * (1 - zero) / trials)
    assert np.mean(told == 0) == pytest.approx(zero, abs=3 * error)
    # What is cut off at zero is missing from the mean.
    law = stats.chi2(freedom)
    left = law.expect(lambda x: np.maximum(x - freedom, 0), lb=freedom) / (2 * size)
    assert told.mean() == pytest.approx(left, abs=3 * told.std() / np.sqrt(trials))


def decisions(actions: NDArray[np.int64], count: int = 2) -> Explanation:
    """One run in which everybody always observes the same: actions (steps, agents)."""
    steps, agents = actions.shape
    return Explanation(
        run=np.zeros(steps, np.int64),
        time=np.arange(steps),
        index=np.zeros(steps * agents, np.int64),
        likelihood=np.eye(count)[actions.ravel()],
        source="recorded",
        size=1,
        symmetry=None,
    )


def test_agents_that_alternate_remember() -> None:
    first = np.random.default_rng(3).integers(2, size=20)
    walked = decisions((np.arange(100)[:, None] // 3 + first) % 2)
    assert dependence_on_the_past(walked) == pytest.approx(np.log(2), abs=0.05)
    words = missing_cause(walked)
    assert "a memory is missing from the observations" in words
    assert words.startswith("the demo answers the same observation by different actions (")


def test_agents_that_obey_follow_a_cue() -> None:
    rng = np.random.default_rng(4)
    cue = decisions(np.repeat(rng.integers(2, size=(200, 1)), 20, axis=1))
    assert dependence_on_others(cue) == pytest.approx(np.log(2), abs=0.05)
    assert dependence_on_the_past(cue) < 0.05
    assert "a common cue, a leader or a command is missing" in missing_cause(cue)


def test_agents_that_throw_dice_have_no_cause_that_could_be_named() -> None:
    rng = np.random.default_rng(5)
    drawn = decisions(rng.integers(2, size=(200, 20)))
    words = missing_cause(drawn)
    assert "memory" not in words
    assert "cue" not in words
    assert "something decides that is not observed, or the classes are too coarse" in words


def test_an_agent_alone_and_a_single_step_have_nothing_to_depend_on() -> None:
    assert dependence_on_others(decisions(np.zeros((10, 1), np.int64))) == 0
    assert dependence_on_the_past(decisions(np.zeros((1, 10), np.int64))) == 0
    assert missing_cause(decisions(np.zeros((10, 5), np.int64))) == ""


def test_runs_are_no_past_of_each_other() -> None:
    """The last action of a run tells nothing about the first of the next."""
    actions = np.tile(np.arange(40)[:, None] % 2, (1, 30))
    single = Explanation(
        run=np.arange(40),
        time=np.zeros(40, np.int64),
        index=np.zeros(1200, np.int64),
        likelihood=np.eye(2)[actions.ravel()],
        source="recorded",
        size=1,
        symmetry=None,
    )
    assert dependence_on_the_past(single) == 0
    assert dependence_on_the_past(decisions(actions)) > 0.6


@pytest.mark.parametrize(
    ("name", "cause"), [("sentries", "a memory is missing"), ("tide", "a common cue, a leader")]
)
def test_what_cannot_be_learned_has_the_right_reason(name: str, cause: str) -> None:
    case = CASES[name]
    for seed in (1, 2):
        explanation = explain(case.system, case.demo(seed), symmetry=None, seed=3)
        assert explanation is not None
        assert cause in missing_cause(explanation)


@pytest.mark.parametrize("name", LEARNABLE)
def test_what_can_be_learned_has_no_cause(name: str) -> None:
    case = CASES[name]
    explanation = explain(case.system, case.demo(1), symmetry=None, seed=3)
    assert explanation is not None
    words = missing_cause(explanation)
    if name in NO_TABLE:
        assert "the classes are too coarse" in words
    else:
        assert words == ""
