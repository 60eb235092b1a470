"""What verdicts advise."""

from dataclasses import replace
from functools import partial

import pytest

import swarmdp
from studies.battery.final import cases
from swarmdp.cli import main
from swarmdp.judging import advice
from swarmdp.model.streams import derived_seed
from swarmdp.model.verdict import Line


def line(demo: float, learned: float, **baselines: float) -> Line:
    return Line("order", "later", True, demo, 0.1, learned, 0.1, baselines, 1.0, 0.01, 0.01, 0.5)


def test_a_clone_that_comes_nearer_points_to_other_learners() -> None:
    lines = [line(0.9, 0.4, random=0.1, clone=0.85)]
    assert advice.clone_is_nearer(lines)
    assert advice.about_another_behaviour(lines) == advice.CLONE_IS_NEARER


def test_a_clone_that_does_no_better_points_to_classes_and_actions() -> None:
    lines = [line(0.9, 0.4, random=0.1, clone=0.5)]
    assert advice.clone_is_nearer(lines) is False
    assert advice.about_another_behaviour(lines) == advice.TOO_COARSE


def test_of_tracks_other_things_can_be_finer() -> None:
    lines = [line(0.9, 0.4, random=0.1, clone=0.5)]
    assert advice.about_another_behaviour(lines, recorded=True) == advice.TOO_COARSE_FOR_TRACKS


def test_without_a_clone_nothing_is_said_of_it() -> None:
    lines = [line(0.9, 0.4, random=0.1)]
    assert advice.clone_is_nearer(lines) is None
    assert "copy" not in advice.about_another_behaviour(lines)


def test_what_was_tried_is_not_advised() -> None:
    nothing = swarmdp.Verdict("no", False, True, 0.01, (), None, 0, 1.0, None, (), (), 1, True)
    for text in (advice.FINER, advice.CLONE_IS_NEARER):
        told = advice.after_other_learners(replace(nothing, advice=(text, advice.MORE_DATA)))
        assert told.advice == (advice.LEARNERS_TRIED, advice.MORE_DATA)
    coarse = replace(nothing, advice=(advice.TOO_COARSE,))
    assert advice.after_other_learners(coarse) == coarse


def test_a_fit_that_tried_other_learners_does_not_advise_them() -> None:
    """These workers follow orders that they do not see, so that no learner reproduces them."""
    case = next(case for case in cases() if case.name == "jobs")
    demo = case.demo(derived_seed(55001, 1))
    fit = partial(swarmdp.fit, case.system, demo, seed=derived_seed(55001, 1, 1), progress=False)
    with pytest.warns(swarmdp.errors.VerdictWarning):
        result = fit()
    assert len({attempt.learner for attempt in result.attempts}) > 1
    assert result.verdict is not None
    assert result.verdict.advice == (advice.LEARNERS_TRIED,)
    told = swarmdp.locality_test(demo, case.system, seed=1)  # as it says
    assert told.answer == "a common cue that is not among the observations"
    with pytest.warns(swarmdp.errors.VerdictWarning):
        alone = fit(policy_search=False)
    assert alone.verdict is not None
    assert alone.verdict.advice == (advice.FINER,)


def test_advice_names_options_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fit", "vicsek", "--help"])
    text = capsys.readouterr().out
    fields = swarmdp.fitting.FitSettings.__dataclass_fields__
    assert "policy_search" in fields
    said = " ".join((advice.MORE_DATA, *advice.CLASSES))
    options = {word.strip("(),;") for word in said.split() if word.startswith("--")}
    assert {"--demo-runs", "--n-bins", "--turns", "--no-policy-search", "--preset"} <= options
    for option in options:
        assert option in text
