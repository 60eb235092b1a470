"""What verdicts advise."""

import pytest

import swarmdp
from swarmdp.cli import main
from swarmdp.judging import advice
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
