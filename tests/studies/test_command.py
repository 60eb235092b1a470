"""Studies are started from the command line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from studies import command, learners, other_actions, small_swarms, transfer, updates
from swarmdp.support.errors import InvalidInput
from tests.examples import ROOT


@pytest.mark.parametrize("study", [learners, updates, transfer, other_actions, small_swarms])
def test_help(study: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = study.__name__.removeprefix("studies.")
    with pytest.raises(SystemExit) as exit_:
        study.main(["--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: python -m studies.{name} ")
    assert f"(default: runs/{name})" in shown
    for option in ("--experiments", "--only"):
        assert (option in shown) == (study is not small_swarms)


def test_a_study_is_started_as_a_module() -> None:
    asked = [sys.executable, "-m", "studies.transfer", "--only", "under water"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no circumstance 'under water' in this study" in done.stderr
    assert done.stderr.count("\n") == 1


def test_options_reach_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = []

    def study(output: Path, experiments: int, only: list[str], quick: bool) -> None:
        given.append((output, experiments, only, quick))
        (output / "rows.json").write_text("[]")

    folder = str(tmp_path)
    for arguments in (
        ["-o", folder],
        ["-o", folder, "--quick", "--experiments", "3", "--only", "a"],
    ):
        command.main(study, "some", "What?", experiments=7, only="a", arguments=arguments)
    assert given == [(tmp_path, 7, [], False), (tmp_path, 3, ["a"], True)]
    assert f"  {tmp_path / 'rows.json'}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidInput("too few"), 2, "python -m studies.some: too few\n"),
        (KeyboardInterrupt(), 130, "python -m studies.some: interrupted\n"),
    ],
)
def test_errors_get_one_line(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def study(**_: object) -> None:
        raise error

    with pytest.raises(SystemExit) as exit_:
        command.main(study, "some", "What?", arguments=[])
    assert exit_.value.code == code
    assert capsys.readouterr().err == message
