"""Work in forks of a process that has imported and compiled everything already.

A new process spends seconds on that before it does what a campaign is about. What a fork does on
disk, and how it dies of a signal, is the same.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmdp.errors import SwarmdpError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PAUSE = 0.002


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and what it said of it."""

    code: int
    said: str

    @property
    def lines(self) -> list[str]:
        """What it said, without warnings and progress."""
        quiet = (": warning: ", " units done, about ", "interrupted: the units under way")
        lines = self.said.strip().splitlines()
        return [line for line in lines if not any(each in line for each in quiet)]


@dataclass(frozen=True)
class Fork:
    """A fork at work."""

    pid: int
    said: Path

    @classmethod
    def of(cls, work: Callable[[], object], said: Path) -> "Fork":
        """Start work in a fork; what it writes to standard error goes to a file."""
        pid = os.fork()
        if pid == 0:
            _child(work, said)
        return cls(pid, said)

    def signal(self, number: int) -> None:
        """Send a signal; the fork may have ended, but is still there to be waited for."""
        os.kill(self.pid, number)

    def ended(self, seconds: float | None = None) -> Ended | None:
        """How it ended; None if it goes on after so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            found, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if found:
                text = self.said.read_text(errors="replace")
                self.said.unlink()
                return Ended(os.waitstatus_to_exitcode(status), text)
            if end is not None and time.monotonic() >= end:
                return None
            time.sleep(PAUSE)

    def finished(self) -> Ended:
        """How it ended, whenever that is."""
        found = self.ended()
        assert found is not None
        return found


def _child(work: Callable[[], object], said: Path) -> None:
    """What the fork does: the work, then nothing of what its parent would do."""
    code = 70
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        error = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(error, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115, open until the end
        sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
        work()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except SwarmdpError as reason:
        os.write(2, f"{type(reason).__name__}: {reason}\n".encode())
        code = 2
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="replace"))
        code = 71
    finally:
        os._exit(code)


def command(arguments: Sequence[str]) -> Callable[[], None]:
    """The work of `swarmdp` with these arguments."""

    def work() -> None:
        from swarmdp.cli import main

        main(arguments)

    return work


def left_over(folder: Path) -> list[str]:
    """Hidden files that no result is made of."""
    return [path.name for path in folder.rglob(".*") if path.name != ".lock"]
