"""`swarmdp reproduce`, at the smallest scale."""

import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from swarmdp.cli import main
from swarmdp.cli.reproduce import _log
from swarmdp.support.errors import InvalidInput


def test_a_second_start_gives_the_same_bytes(reproduction: Path) -> None:
    before = (reproduction / "summary.json").read_bytes()
    figure = (reproduction / "figures" / "order.svg").read_bytes()
    main(["reproduce", "--scale", "smoke", "-o", str(reproduction)])
    assert (reproduction / "summary.json").read_bytes() == before
    assert (reproduction / "figures" / "order.svg").read_bytes() == figure
    log = (reproduction / "log.txt").read_text()
    assert "0 of " in log.splitlines()[-1]


def test_some_figures_again_leave_the_others_in_the_report(
    reproduction: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(reproduction, folder)
    capsys.readouterr()
    asked = ["--json", "--quiet"]
    main(["reproduce", "--scale", "smoke", "--only", "energy", "-o", str(folder), *asked])
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out)["claims"]
    assert (folder / "summary.json").read_bytes() == (reproduction / "summary.json").read_bytes()
    timing = json.loads((folder / "timing.json").read_text())
    assert timing["wall_seconds_of_last_start"] > 0
    assert "vicsek-expert" in timing["core_seconds"]


def test_a_folder_that_cannot_be_made_gets_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "--scale", "smoke", "-o", str(output)])
        assert stop.value.code == 2
        assert "is a file, not a folder" in capsys.readouterr().err


def test_wrong_arguments_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("swarmdp.paper.cluster.CONNECT_SECONDS", 1)
    for arguments, message in (
        (["--only", "entropy"], "there is no 'entropy'"),
        (["--scale", "huge"], "invalid choice"),
        (["--workers", "2", "--threads", "2"], "not allowed with"),
        (["--cluster", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "-o", str(tmp_path / "x"), *arguments])
        assert stop.value.code == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


OTHER_USER = """
import contextlib, io, os, sys
from swarmdp.support.errors import InvalidInput
from swarmdp.cli import main
from swarmdp.cli.reproduce import _log
with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
    main(["reproduce", "--only", "nothing"])  # imports what is needed while it can be read
from swarmdp.paper import store
os.setgid(65534); os.setuid(65534)
main(["reproduce", "--scale", "smoke", "--only", "snapshots", "-o", sys.argv[1]])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("name", [".lock", "log.txt"])
def test_the_folder_of_another_user_gets_one_line(tmp_path: Path, name: str) -> None:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    (folder / name).write_text("")
    done = subprocess.run(
        [sys.executable, "-c", OTHER_USER, str(folder)], capture_output=True, text=True, check=False
    )
    shutil.rmtree(folder)
    assert done.returncode == 2
    message = f"cannot write {folder / name}: permission denied: choose a folder"
    assert done.stderr.startswith(f"swarmdp: {message}")
    assert done.stderr.count("\n") == 1


def test_a_log_that_cannot_be_written_does_not_hide_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Linux has a file whose disk is always full."""
    log = logging.getLogger("swarmdp.paper")
    with _log(Path("/dev/full")):
        log.info("begun")
    with pytest.raises(InvalidInput, match="the unit failed"), _log(Path("/dev/full")):
        raise InvalidInput("the unit failed")
    assert not capsys.readouterr().err
