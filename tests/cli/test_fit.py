"""`swarmdp fit`, and what `swarmdp evaluate` makes of it."""

import json
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import fails

FIT = ["--n-agents", "30", "--iterations", "3", "--demo-steps", "50", "--resamples", "0"]
BY_ACTIONS = ["policy_matching", "bayesian"]


def test_fit_vicsek(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "fit"
    main(["fit", "vicsek", *FIT, "--seed", "4", "-o", str(folder)])
    shown = capsys.readouterr().out
    # What belongs to the verdict stands below it, a little to the right.
    lines = [line for line in shown.splitlines() if ":" in line and not line.startswith(" ")]
    assert [line.split(":")[0] for line in lines] == [
        "Verdict",
        "Reward",
        f"learned in {shown.split('learned in ')[1].split(';')[0]}; look at file",
    ]
    assert "reward by misalignment / degrees" in shown
    assert {path.name for path in folder.iterdir()} == {
        "result.nc",
        "demo.nc",
        "reward.png",
        "reward.svg",
        "convergence.png",
        "convergence.svg",
        "measures.png",
        "measures.svg",
        "report.html",
        "summary.json",
    }
    assert f"look at {(folder / 'report.html').as_uri()}" in shown
    summary = json.loads((folder / "summary.json").read_text())
    result = swarmdp.load(folder)
    assert summary["distance"] == pytest.approx(result.distance.tolist())
    assert summary["iterations"] == 3
    system = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    same = swarmdp.fit(system, demo, seed=4, iterations=3)
    np.testing.assert_array_equal(same.reward.weights, result.reward.weights)


def test_agents_that_remember(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--n-agents", "20", "--n-bins", "5", "--iterations", "1", "--demo-steps", "50"]
    folder = tmp_path / "fit"
    options = ["--history", "1", "--memory", "2", "--no-judge", "-o", str(folder)]
    main(["fit", "vicsek", *few, *options])
    result = swarmdp.load(folder)
    layers = [layer["layer"] for layer in result.system_settings["layers"]]
    assert layers == ["history", "memory"]
    assert swarmdp.load(folder / "demo.nc")["memory"].shape == (1, 51, 20)
    assert "misalignment_1_ago" in repr(result.policy)
    capsys.readouterr()
    main(["evaluate", str(folder), "--runs", "4"])
    assert "learned" in capsys.readouterr().out


def test_verbose_prints_all_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", "vicsek", *FIT, "-v", "-o", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "Result of fitting Vicsek" in shown
    assert "learned reward" in shown
    assert str(tmp_path / "summary.json") in shown


def test_fit_from_a_recording_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Ising((12, 12))
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=2, seed=1)
    file = str(demo.save(tmp_path / "demo.nc"))
    common = ["fit", "--demo", file, "--separate", "--resamples", "0"]
    main([*common, "--iterations", "2", "-o", str(tmp_path / "parts")])
    main([*common, "--iterations", "4", "--resume", "-o", str(tmp_path / "parts")])
    main([*common, "--iterations", "4", "-v", "-o", str(tmp_path / "whole")])
    parts, whole = swarmdp.load(tmp_path / "parts"), swarmdp.load(tmp_path / "whole")
    np.testing.assert_array_equal(parts.history.mu, whole.history.mu)
    assert "solution" in capsys.readouterr().out
    main(["evaluate", str(tmp_path / "whole"), "--runs", "3", "--steps", "10"])
    evaluation = json.loads((tmp_path / "whole" / "evaluation.json").read_text())
    assert evaluation["measures"]["energy"]["runs"] == {"expert": 3, "learned": 4}


def test_an_interrupted_fit_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from swarmdp.irl import expectations

    estimate, calls = expectations.simulated_runs, []

    def interrupted(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return estimate(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(expectations, "simulated_runs", interrupted)
    with pytest.raises(SystemExit) as exit_:
        main(["fit", "vicsek", *FIT, "-o", str(tmp_path)])
    assert exit_.value.code == 130
    said = capsys.readouterr().err
    assert (
        f"interrupted: 2 of 3 iterations are kept in {tmp_path}. Continue with: swarmdp fit" in said
    )
    assert said.rstrip().endswith("--resume")
    assert len(swarmdp.load(tmp_path).iterations) == 2
    monkeypatch.undo()
    main(["fit", "vicsek", *FIT, "--resume", "-o", str(tmp_path)])
    assert len(swarmdp.load(tmp_path).iterations) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "needs a system"),
        (["fit", "--demo", "nowhere.nc"], "there is no such file"),
        (["fit", "vicsek", "--discount", "1.5"], "discount must be in [0, 1)"),
        (["fit", "vicsek", "--demo-steps", "5"], "too short for a discount of 0.9"),
        (["fit", "vicsek", "--update", "magic"], "update must be one of"),
        (["fit", "gridworld", "--wind", "2"], "wind must be a number from 0 to 1"),
        (["fit", "gridworld", "--discount", "1"], "discount must be in [0, 1)"),
        (["fit", "gridworld", "--macrocell", "2"], "multiples of macrocell"),
        (["fit", "vicsek", "--estimator", "all"], "invalid choice: 'all'"),
        (["fit", "vicsek", "--resume", "-o", "nowhere"], "there is no such file"),
        (["fit", "vicsek", "--demo", "nowhere.nc"], "there is no such file"),
        (["fit", "vicsek", "--demo", "d.nc", "--n-agents", "3"], "leave --n-agents out"),
        (["fit", "gridworld", "--reward-seed", "-1"], "seed must be from 0 to 2**64 - 1, got -1"),
        (["fit", "gridworld", "--reward-seed", "1", "--rows", "-4"], "rows must be an integer"),
        (["fit", "gridworld", "--rows", "-4"], "rows must be an integer of at least 1, got -4"),
        (["fit", "vicsek", "--n-agents", "100000000000"], "needs 5.821 TiB"),
        (["fit", "vicsek", "-o", "pyproject.toml"], "it is a file, not a folder"),
        (["fit", "vicsek", "-o", "pyproject.toml/x"], "a part of the path is a file"),
        (["fit", "vicsek", "-o", "x" * 300], "the path is too long"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_a_recording_may_be_named_by_its_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1).save(tmp_path / "d.nc")
    few = ["--iterations", "1", "--resamples", "0"]
    main(["fit", "vicsek", "--demo", str(demo), *few, "-o", str(tmp_path / "fit")])
    assert swarmdp.load(tmp_path / "fit").system_settings["n_agents"] == 20
    said = fails(["fit", "ising", "--demo", str(demo)], capsys)
    assert "is a recording of Vicsek, not of ising" in said


def test_an_output_that_cannot_be_written_is_noticed_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def worked(*args: object, **kwargs: object) -> None:
        raise AssertionError("the work began")

    # The animation first: imported later, it would keep the replacement of the roll-out.
    for name in ("swarmdp.report.animation.animate", "swarmdp.simulation.rollout.rollout"):
        monkeypatch.setattr(name, worked)
    blocked = tmp_path / "file"
    blocked.write_text("")
    for command in ("fit", "simulate"):
        assert "file, not a folder" in fails([command, "vicsek", "-o", str(blocked)], capsys)
    said = fails(["animate", "vicsek", "-o", str(blocked / "x.gif")], capsys)
    assert "a part of the path is a file" in said
    assert list(tmp_path.iterdir()) == [blocked]


def test_an_angle_is_reported_in_the_unit_that_it_was_given_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = fails(["simulate", "vicsek", "--noise", "-1"], capsys)
    assert "--noise -1: noise must be not negative, got -1 degrees" in said
    said = fails(["simulate", "vicsek", "--noise", "400"], capsys)
    assert said.rstrip().endswith("noise must be an angle of at most 180 degrees, got 400 degrees")
    said = fails(["simulate", "vicsek", "--turns", "0", "200"], capsys)
    assert "--turns 0 200: turns must be angles from -180 to 180 degrees, got 0 200 degrees" in said


def test_options_before_the_system_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = ["--iterations", "2", "--seed", "9", "--resamples", "0", "--no-judge"]
    main(["fit", *before, "-o", str(tmp_path), "vicsek", "--n-agents", "9"])
    result = swarmdp.load(tmp_path)
    assert (len(result.iterations), result.seed) == (2, 9)
    assert "there is no such file" in fails(["fit", "--demo", "x.nc", "vicsek"], capsys)


def test_a_demo_of_an_unknown_system_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Vicsek(n_agents=3)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    foreign = swarmdp.Trajectory(**{**vars(demo), "system_name": "Starlings"})
    file = str(foreign.save(tmp_path / "demo.nc"))
    assert "recorded from Starlings" in fails(["fit", "--demo", file], capsys)


@pytest.mark.parametrize(
    ("update", "grid"),
    [
        (
            "projection",
            ["--rows", "12", "--columns", "12", "--macrocell", "3", "--reward-seed", "1"],
        ),
        ("maxent", []),
        ("policy_matching", ["--rows", "3", "--columns", "4"]),
        ("bayesian", ["--rows", "2", "--columns", "3"]),
    ],
)
def test_fit_and_evaluate_gridworlds(
    update: str, grid: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path)
    options = ["--update", update, "--iterations", "3", "--resamples", "0", "-v", "-o", folder]
    main(["fit", "gridworld", *grid, "--demo-runs", "50", *options])
    shown = capsys.readouterr().out
    assert f"Result of fitting Gridworld by {update}" in shown
    wide = "12 x 12 cells: see the figure"
    assert (wide in shown) == ("12" in grid)
    assert ("x = 0" in shown) == ("12" not in grid)
    result = swarmdp.load(tmp_path)
    assert result.settings["update"] == update
    by_actions = update in ("policy_matching", "bayesian")
    assert ("actions" in swarmdp.load(tmp_path / "demo.nc")) == by_actions
    assert ("actions            recorded" in shown) == by_actions
    assert ("±" in shown) == (update == "bayesian")
    assert (tmp_path / "reward.png").stat().st_size > 1000
    main(["evaluate", folder, "--runs", "20"])
    evaluation = json.loads((tmp_path / "evaluation.json").read_text())
    assert list(evaluation["measures"]) == ["collected"]
    if update in ("maxent", "policy_matching"):  # from features, and from actions
        main(["fit", "--demo", str(tmp_path / "demo.nc"), *options[:-1], str(tmp_path / "again")])
        again = swarmdp.load(tmp_path / "again")
        np.testing.assert_array_equal(again.reward.weights, result.reward.weights)


@pytest.mark.filterwarnings("ignore:the chains of:swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize(
    ("name", "update"),
    [
        *(("vicsek", update) for update in ("ng_russell", "mwal", "maxent", *BY_ACTIONS)),
        *(("ising", update) for update in ("maxent", BY_ACTIONS[0])),
    ],
)
def test_fit_by_other_updates(
    name: str, update: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--n-agents", "20"] if name == "vicsek" else ["--shape", "9", "9"]
    few = ["--iterations", "2", "--resamples", "0", "--no-policy-search"]
    main(["fit", name, *size, "--update", update, *few, "-v", "-o", str(tmp_path)])
    result = swarmdp.load(tmp_path)
    assert isinstance(result.policy, swarmdp.policies.SoftPolicy) == (update == "maxent")
    assert result.settings.get("actions") == ("recorded" if update in BY_ACTIONS else None)
    main(["evaluate", str(tmp_path), "--runs", "4", "--steps", "10"])
    assert f"by {update}" in capsys.readouterr().out


def test_a_fit_says_whether_the_swarm_is_the_recorded_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words on the terminal and in the summary, without a warning besides."""
    main(["fit", "vicsek", *FIT, "-o", str(tmp_path)])
    captured = capsys.readouterr()
    (verdict,) = json.loads((tmp_path / "summary.json").read_text())["verdicts"]
    assert f"Verdict: {verdict['words']}" in captured.out
    assert verdict["alarm"] is (not verdict["words"].startswith("reproduces"))
    assert 0 < verdict["p"] <= 1
    assert "warning" not in captured.err
    main(["fit", "vicsek", *FIT, "--no-judge", "-o", str(tmp_path)])
    assert "Verdict" not in capsys.readouterr().out
    assert json.loads((tmp_path / "summary.json").read_text())["verdicts"] == []


def test_a_fit_shows_the_errors_of_the_reward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default, from fits of resampled demos."""
    quick = ["--n-agents", "20", "--iterations", "1", "--demo-steps", "50", "--no-judge"]
    main(["fit", "vicsek", *quick, "-v", "-o", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "±" in shown
    assert "from 8 resamples" in shown
    (block,) = json.loads((tmp_path / "summary.json").read_text())["reward"]
    assert np.shape(block["error"]) == (1, 36)


def test_who_may_take_over_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ["fit", "vicsek", *FIT, "--iterations", "1", "--n-agents", "20"]
    for name, options in {
        "default": [],
        "ignore": ["--actions", "ignore"],
        "none": ["--no-policy-search"],
    }.items():
        main([*short, *options, "-o", str(tmp_path / name)])
    default, ignoring, none = (
        swarmdp.load(tmp_path / name) for name in ("default", "ignore", "none")
    )
    assert default.settings["use_actions"] is True
    assert ignoring.settings["use_actions"] is False
    assert not any("actions" in attempt.learner for attempt in ignoring.attempts)
    assert none.settings["policy_search"] is None
    assert [attempt.learner for attempt in none.attempts] == ["Algorithm 2"]
    np.testing.assert_array_equal(none.reward.weights, default.reward.weights)
    assert "invalid choice: 'infer'" in fails(["fit", "vicsek", "--actions", "infer"], capsys)
