"""How much the commands say: --json, --quiet, --verbose, completion in a shell."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from swarmdp import cli
from swarmdp.cli import main

SMALL = ["--n-agents", "20", "--runs", "2", "--steps", "5"]


def test_json_is_all_that_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", "vicsek", *SMALL, "--json", "-o", str(tmp_path)])
    shown = json.loads(capsys.readouterr().out)
    kept = json.loads((tmp_path / "summary.json").read_text())
    assert shown == {**kept, "folder": str(tmp_path)}


def test_quiet_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", "vicsek", *SMALL, "--quiet", "-o", str(tmp_path)])
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "summary.json").is_file()


def test_quiet_still_tells_errors(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "vicsek", "--quiet", "--runs", "0"])
    assert stop.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "runs" in printed.err


def test_info_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["info", "--json"])
    assert json.loads(capsys.readouterr().out)["python"]


def test_fit_and_evaluate_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "fit")
    quick = ["--iterations", "1", "--resamples", "0", "--no-judge", "--reach", "1"]
    main(["fit", "ising", "--shape", "6", "6", *quick, "-v", "--json", "-o", folder])
    printed = capsys.readouterr()
    fitted = json.loads(printed.out)
    assert fitted["reward"][0]["mean"]
    assert fitted["folder"] == folder
    assert "swarmdp.fitting.fit: iteration 1: " in printed.err
    assert not logging.getLogger("swarmdp").handlers
    main(["evaluate", folder, "--runs", "2", "--json"])
    evaluated = json.loads(capsys.readouterr().out)
    assert evaluated["measures"]["energy"]["over_time"][0]["time"] == 0


@pytest.mark.parametrize("command", cli._WITH_TABLE)
def test_every_command_with_a_table_has_json(command: str) -> None:
    assert "--json" in cli.help_of([command])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("swarmdp ev", {"evaluate"}),
        ("swarmdp fit vic", {"vicsek"}),
        ("swarmdp fit vicsek --n-", {"--n-agents", "--n-bins"}),
        ("swarmdp simulate ising --rea", {"--reach"}),
    ],
)
def test_shells_complete_commands_and_options(
    line: str, expected: set[str], tmp_path: Path
) -> None:
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    program = [sys.executable, "-c", "from swarmdp.cli import main; main()"]
    subprocess.run(program, env={**os.environ, **asked}, check=True)
    assert {word.strip() for word in answer.read_text().split("\n")} == expected
