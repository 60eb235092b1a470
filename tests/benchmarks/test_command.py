"""`python -m benchmarks`, on small sizes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from tests.examples import ROOT
from tests.terminal import fails


def test_the_suite_runs_and_writes_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--quick", "--rounds", "2", "-o", str(tmp_path)])
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["complete"]
    names = {workload["name"] for workload in written["workloads"]}
    assert any("Vicsek" in name for name in names)
    assert any("Ising" in name for name in names)
    assert "cKDTree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "flying"], "flying"),
        (["--rounds", "0"], "rounds must be at least 1"),
        (["--study", "updates"], "unrecognized arguments: --study updates"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys, main)


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--help"])
    assert exit_.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("usage: python -m benchmarks [-h] [--rounds ROUNDS]")
    assert "(default: runs/bench)" in shown
    assert "(default: [])" not in shown


def test_they_are_started_as_a_module() -> None:
    asked = [sys.executable, "-m", "benchmarks", "--only", "flying"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("python -m benchmarks: no benchmark has any of ['flying']")
    assert done.stderr.count("\n") == 1


def test_the_command_swarmdp_no_longer_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid choice: 'bench'" in fails(["bench"], capsys)
