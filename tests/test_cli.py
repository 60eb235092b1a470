import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import shown_on_terminal

SMALL = ["--steps", "12", "--runs", "3"]


def fails(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error of a command that must exit with 2."""
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("name", "options", "measure"),
    [
        ("vicsek", ["--n-agents", "30"], "order"),
        ("vicsek", ["--n-agents", "30", "--open"], "order"),
        ("vicsek", ["--n-agents", "30", "--nearest", "4", "--noise", "0"], "order"),
        ("ising", ["--rows", "12", "--columns", "9", "--periodic"], "energy"),
        ("gridworld", ["--rows", "4", "--columns", "3", "--wind", "0.1"], "collected"),
    ],
)
def test_simulate(
    name: str,
    options: list[str],
    measure: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["simulate", name, *options, *SMALL, "--seed", "5", "-o", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    files = {"trajectory.nc", "measure.nc", f"{name}.png", f"{name}.svg"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files | {"summary.json"}
    assert set(summary["files"]) == files
    for file in (*files, "summary.json"):
        assert file in shown
    assert (summary["seed"], summary["runs"], summary["steps"]) == (5, 3, 12)
    measured = swarmdp.load(tmp_path / "out" / "measure.nc")
    for row in summary["over_time"]:
        values = measured[measure][:, row["time"]]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    assert swarmdp.load(tmp_path / "out" / "trajectory.nc").runs == 1


def test_simulate_is_what_python_gives(tmp_path: Path) -> None:
    main(["simulate", "vicsek", "--n-agents", "40", "--noise", "20", *SMALL, "-o", str(tmp_path)])
    system = swarmdp.Vicsek(n_agents=40, noise=np.radians(20))
    expected = swarmdp.rollout(system, system.expert, steps=12, seed=1)
    found = swarmdp.load(tmp_path / "trajectory.nc")
    np.testing.assert_array_equal(found["heading"], expected["heading"])


def test_one_run_has_no_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", "ising", "--rows", "5", "--columns", "5", "--runs", "1", "-o", str(tmp_path)])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert all(row["standard_error"] is None for row in summary["over_time"])


def test_the_default_folder_is_named_after_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["simulate", "vicsek", "--n-agents", "5", *SMALL])
    assert (tmp_path / "runs" / "vicsek" / "vicsek.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "vicsek", "--radius", "nan"], "radius must be a finite number, got nan"),
        (["simulate", "vicsek", "--n-agents", "-4"], "n_agents must be an integer of at least 1"),
        (["simulate", "vicsek", "--n-agents", "many"], "invalid int value: 'many'"),
        (["simulate", "vicsek", "--raduis", "0.1"], "unrecognized arguments: --raduis"),
        (["simulate", "fish"], "invalid choice: 'fish'"),
        (["simulate"], "required: SYSTEM"),
        (["simulate", "ising", "--runs", "0"], "--save-runs must be from 1 to"),
        (["simulate", "ising", "--steps", "-1"], "steps must be at least 0"),
        (["simulate", "ising", "--seed", "-1"], "seed must be from 0"),
        (["simulate", "ising", "--rows", "3", "--periodic"], "at least 5 rows"),
        (["learn"], "invalid choice: 'learn'"),
        ([], "required: COMMAND"),
        (["simulate", "vicsek", "--runs", "2", "--save-runs", "3"], "--save-runs must be from 1"),
        (["simulate", "vicsek", "--steps", "1", "-o", "/dev/null/x"], "cannot write"),
        (["bench", "--only", "flying"], "flying"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_an_interrupt_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("swarmdp.simulation.rollout", interrupted)
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", "vicsek"])
    assert exit_.value.code == 130
    assert capsys.readouterr().err == "swarmdp: interrupted\n"


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    main(["info"])
    shown = capsys.readouterr().out
    for word in (swarmdp.__version__, "numba", "threads", "compiled code"):
        assert word in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"swarmdp {swarmdp.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        *(
            [command]
            for command in [
                "simulate",
                "fit",
                "evaluate",
                "animate",
                "reproduce",
                "report",
                "bench",
                "info",
            ]
        ),
        *([command, "vicsek"] for command in ("simulate", "fit", "animate")),
        ["simulate", "ising"],
        ["fit", "gridworld"],
    ],
)
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([*arguments, "--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert re.match(rf"usage: swarmdp {' '.join(arguments)}", shown)
    for nothing in ("None", "[]", "False"):
        assert f"(default: {nothing})" not in shown
    if arguments == ["simulate", "ising"]:
        assert "expected mean of the initial spins (default: 0.0)" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        ("import swarmdp", "numpy numba scipy xarray matplotlib pandas rich"),
        ("import swarmdp; swarmdp.Vicsek()", "numba scipy xarray matplotlib pandas rich"),
        (
            "import swarmdp.cli\ntry: swarmdp.cli.main(['--help'])\nexcept SystemExit: pass",
            "numpy numba scipy xarray matplotlib pandas rich",
        ),
    ],
)
def test_starting_imports_nothing_heavy(program: str, heavy: str) -> None:
    check = f"{program}\nimport sys\nassert not set({heavy.split()!r}) & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    program = "import sys; from swarmdp.cli import main; main(sys.argv[1:])"
    command = ["simulate", "vicsek", "--n-agents", "9", *SMALL, "-o", str(tmp_path)]
    arguments = [sys.executable, "-c", program, *command]
    assert b"simulating 3 runs of vicsek" in shown_on_terminal(arguments)
    silent = subprocess.run(arguments, capture_output=True, check=True)
    assert silent.stderr == b""


FIT = ["--n-agents", "30", "--iterations", "3", "--demo-steps", "50"]


def test_fit_and_evaluate_vicsek(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "fit"
    main(["fit", "vicsek", *FIT, "--seed", "4", "-o", str(folder)])
    shown = capsys.readouterr().out
    assert "Result of fitting Vicsek" in shown
    assert {path.name for path in folder.iterdir()} == {
        "result.nc",
        "demo.nc",
        "reward.png",
        "reward.svg",
        "convergence.png",
        "convergence.svg",
        "summary.json",
    }
    summary = json.loads((folder / "summary.json").read_text())
    result = swarmdp.load(folder)
    assert summary["distance"] == pytest.approx(result.distance.tolist())
    assert summary["iterations"] == 3
    system = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    same = swarmdp.fit(system, demo, seed=4, iterations=3)
    np.testing.assert_array_equal(same.reward.weights, result.reward.weights)

    main(["evaluate", str(folder), "--runs", "20"])
    assert "learned" in capsys.readouterr().out
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert [row["time"] for row in evaluation["over_time"]] == [0, 1, 2, 5, 10, 20, 50]
    assert (folder / "evaluation.png").exists()


def test_fit_from_a_recording_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Ising((12, 12))
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=2, seed=1)
    file = str(demo.save(tmp_path / "demo.nc"))
    common = ["fit", "--demo", file, "--separate"]
    main([*common, "--iterations", "2", "-o", str(tmp_path / "parts")])
    main([*common, "--iterations", "4", "--resume", "-o", str(tmp_path / "parts")])
    main([*common, "--iterations", "4", "-o", str(tmp_path / "whole")])
    parts, whole = swarmdp.load(tmp_path / "parts"), swarmdp.load(tmp_path / "whole")
    np.testing.assert_array_equal(parts.history.mu, whole.history.mu)
    assert "solution" in capsys.readouterr().out
    main(["evaluate", str(tmp_path / "whole"), "--runs", "3", "--steps", "10"])
    evaluation = json.loads((tmp_path / "whole" / "evaluation.json").read_text())
    assert evaluation["runs"] == {"expert": 3, "learned": 4}


def test_an_interrupted_fit_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from swarmdp.irl import expectations

    estimate, calls = expectations.simulated_expectations, []

    def interrupted(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return estimate(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(expectations, "simulated_expectations", interrupted)
    with pytest.raises(SystemExit) as exit_:
        main(["fit", "vicsek", *FIT, "-o", str(tmp_path)])
    assert exit_.value.code == 130
    assert "interrupted after 2 iterations; --resume goes on" in capsys.readouterr().out
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
        (["fit", "gridworld", "--wind", "2"], "wind must be a chance from 0 to 1"),
        (["fit", "gridworld", "--discount", "1"], "discount must be in [0, 1)"),
        (["fit", "gridworld", "--macrocell", "2"], "multiples of macrocell"),
        (["fit", "vicsek", "--estimator", "all"], "invalid choice: 'all'"),
        (["fit", "vicsek", "--resume", "-o", "nowhere"], "there is no such file"),
        (["evaluate", "nowhere"], "there is no such file"),
        (["evaluate"], "required: fit"),
    ],
)
def test_bad_fits_get_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_options_before_the_system_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(
        [
            "fit",
            "--iterations",
            "2",
            "--seed",
            "9",
            "-o",
            str(tmp_path),
            "vicsek",
            "--n-agents",
            "9",
        ]
    )
    result = swarmdp.load(tmp_path)
    assert (len(result.iterations), result.seed) == (2, 9)
    assert "and not both" in fails(["fit", "--demo", "x.nc", "vicsek"], capsys)


def test_a_demo_of_an_unknown_system_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Vicsek(n_agents=3)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    foreign = swarmdp.Trajectory(**{**vars(demo), "system": "Starlings"})
    file = str(foreign.save(tmp_path / "demo.nc"))
    assert "recorded from Starlings" in fails(["fit", "--demo", file], capsys)
    assert "is not a fit" in fails(["evaluate", file], capsys)


@pytest.mark.parametrize(
    ("update", "grid"),
    [
        ("projection", ["--rows", "12", "--columns", "12", "--macrocell", "3"]),
        ("maxent", []),
        ("max_margin", ["--rows", "3", "--columns", "3"]),
        ("ng_russell", ["--rows", "3", "--columns", "3"]),
        ("mwal", ["--rows", "3", "--columns", "3"]),
        ("policy_matching", ["--rows", "3", "--columns", "4"]),
        ("bayesian", ["--rows", "2", "--columns", "3"]),
    ],
)
def test_fit_and_evaluate_gridworlds(
    update: str, grid: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path)
    options = ["--update", update, "--iterations", "3", "-o", folder]
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
    assert evaluation["measure"] == "collected"
    main(["fit", "--demo", str(tmp_path / "demo.nc"), *options[:-1], str(tmp_path / "again")])
    again = swarmdp.load(tmp_path / "again")
    np.testing.assert_array_equal(again.reward.weights, result.reward.weights)


BY_ACTIONS = ["policy_matching", "bayesian"]


@pytest.mark.filterwarnings("ignore:the chains of:swarmdp.SwarmdpWarning")
@pytest.mark.parametrize("update", ["ng_russell", "mwal", "maxent", *BY_ACTIONS])
@pytest.mark.parametrize("name", ["vicsek", "ising"])
def test_fit_by_other_updates(
    name: str, update: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = ["--n-agents", "20"] if name == "vicsek" else ["--rows", "9", "--columns", "9"]
    main(["fit", name, *size, "--update", update, "--iterations", "2", "-o", str(tmp_path)])
    result = swarmdp.load(tmp_path)
    assert isinstance(result.policy, swarmdp.SoftPolicy) == (update == "maxent")
    assert result.settings.get("actions") == ("recorded" if update in BY_ACTIONS else None)
    main(["evaluate", str(tmp_path), "--runs", "4", "--steps", "10"])
    assert f"by {update}" in capsys.readouterr().out
