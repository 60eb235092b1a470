"""`swarmdp` alone and `swarmdp demo`: something to see at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from swarmdp.cli import main


def test_without_arguments_it_says_where_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    said = capsys.readouterr().out
    for command in ("demo", "fit --tracks", "fit --system", "replan", "reproduce", "studio"):
        assert f"swarmdp {command}" in said


def test_the_overview_needs_no_numpy() -> None:
    code = "import sys; from swarmdp.cli import main; main([]); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_demo_shows_both_swarms_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["demo"])
    said = capsys.readouterr().out
    assert "learned, t = 0" in said
    assert "learned, t = 60" in said
    assert "Verdict: " in said
    assert "reward by misalignment" in said
    first = said.split("learned, t = 0\n")[1].splitlines()[:16]
    assert all(row[:36].rstrip() == row[39:].rstrip() for row in first)  # both begin alike
    assert not list(tmp_path.iterdir())
