"""`swarmdp simulate`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import fails, shown_on_terminal

SMALL = ["--steps", "12", "--runs", "3"]


@pytest.mark.parametrize(
    ("name", "options", "measure"),
    [
        ("vicsek", ["--n-agents", "30"], "order"),
        ("vicsek", ["--n-agents", "30", "--no-periodic"], "order"),
        ("vicsek", ["--n-agents", "30", "--nearest", "4", "--noise", "0"], "order"),
        ("ising", ["--shape", "12", "9"], "energy"),
        ("ising", ["--shape", "12", "4", "--no-periodic"], "energy"),
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
    for row in summary["measures"][measure]["over_time"]:
        values = measured[measure][:, row["time"]]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(3))
    assert swarmdp.load(tmp_path / "out" / "trajectory.nc").runs == 1


def test_simulate_is_what_python_gives(tmp_path: Path) -> None:
    main(["simulate", "vicsek", "--n-agents", "40", "--noise", "20", *SMALL, "-o", str(tmp_path)])
    system = swarmdp.Vicsek(n_agents=40, noise=np.radians(20))
    expected = swarmdp.rollout(system, system.expert, steps=12, seed=1)
    loaded = swarmdp.load(tmp_path / "trajectory.nc")
    np.testing.assert_array_equal(loaded["heading"], expected["heading"])


def test_one_run_has_no_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", "ising", "--shape", "5", "5", "--runs", "1", "-o", str(tmp_path)])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert all(row["standard_error"] is None for row in summary["measures"]["energy"]["over_time"])


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
        (["simulate"], "needs a system"),
        (["simulate", "ising", "--runs", "0"], "--save-runs must be from 1 to"),
        (["simulate", "ising", "--steps", "-1"], "steps must be an integer of at least 0"),
        (["simulate", "ising", "--seed", "-1"], "seed must be from 0"),
        (["simulate", "ising", "--shape", "3", "9"], "at least 5 rows"),
        (["simulate", "vicsek", "--runs", "2", "--save-runs", "3"], "--save-runs must be from 1"),
        (["simulate", "vicsek", "--steps", "1", "-o", "/dev/null/x"], "cannot write"),
        (["simulate", "vicsek", "--speed", "1e308", "--no-periodic"], "speed must be at most"),
        (["simulate", "vicsek", "--n-agents", "100000000000"], "a swarm of 100000000000 agents"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    at_once = "import importlib, swarmdp.support.progress; swarmdp.support.progress.DELAY = 0; "
    at_once += "importlib.import_module('swarmdp.simulation.rollout').PROGRESS_SECONDS = 0; "
    program = f"{at_once}import sys; from swarmdp.cli import main; main(sys.argv[1:])"
    # On two threads, since one does all of it at once.
    command = ["simulate", "vicsek", "--n-agents", "9", *SMALL, "--threads", "2"]
    arguments = [sys.executable, "-c", program, *command, "-o", str(tmp_path)]
    assert b"simulating 3 runs of Vicsek" in shown_on_terminal(arguments)
    silent = subprocess.run(arguments, capture_output=True, check=True)
    assert silent.stderr == b""
