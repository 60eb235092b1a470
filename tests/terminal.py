"""What the command line shows on a terminal."""

import contextlib
import os
import pty
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from swarmdp.cli import main


def shown_on_terminal(arguments: Sequence[str], cwd: Path | None = None) -> bytes:
    """What a program writes to standard error when that is a real pseudo-terminal.

    It is read while the program runs: a terminal that nobody reads from blocks its writer.
    """
    leader, follower = pty.openpty()
    shown = b""
    with subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=follower, cwd=cwd
    ) as process:
        os.close(follower)
        with contextlib.suppress(OSError):  # what reading gives once the other end is closed
            while part := os.read(leader, 10_000):
                shown += part
    os.close(leader)
    assert process.returncode == 0, shown
    return shown


def fails(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    main: Callable[[list[str]], None] = main,
) -> str:
    """The one line on standard error of a command that must exit with 2."""
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error
