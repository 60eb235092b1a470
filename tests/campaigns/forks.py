"""Work in forks of a process that has imported and compiled everything already.

A new process spends seconds on that before it does what a campaign is about. What a fork does on
disk, and how it dies of a signal, is the same.
"""

import contextlib
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmdp.support.errors import SwarmdpError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and what it said of it."""

    code: int
    said: str

    @property
    def lines(self) -> list[str]:
        """What it said, without warnings and progress."""
        quiet = (": warning: ", " units done, ", "interrupted: the units under way")
        lines = self.said.strip().splitlines()
        return [line for line in lines if not any(phrase in line for phrase in quiet)]


class Fork:
    """A fork at work; what it writes to standard error is kept."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._reading, writing = os.pipe()  # no file: its size may be what is limited
        self.pid = os.fork()
        if self.pid == 0:
            _child(work, writing)
        os.close(writing)
        os.set_blocking(self._reading, False)
        self._end, self._said = os.pidfd_open(self.pid), bytearray()
        self._watched = [self._end, self._reading]

    def signal(self, number: int) -> None:
        """Send a signal; the fork may have ended, but is still there to be waited for."""
        os.kill(self.pid, number)

    def ended(self, seconds: float | None = None) -> Ended | None:
        """How it ended; None if it goes on after so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = select.select(self._watched, [], [], left)[0]
            if self._reading in self._watched:
                self._read()
            if self._end in ready:
                break
            if end is not None and time.monotonic() >= end:
                return None
        status = os.waitpid(self.pid, 0)[1]
        for descriptor in (self._end, self._reading):
            os.close(descriptor)
        return Ended(os.waitstatus_to_exitcode(status), self._said.decode(errors="replace"))

    def finished(self) -> Ended:
        """How it ended, whenever that is."""
        ended = self.ended()
        assert ended is not None
        return ended

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while some := os.read(self._reading, 2**16):
                self._said += some
            self._watched.remove(self._reading)


def _child(work: Callable[[], object], writing: int) -> None:
    """What the fork does: the work, then nothing of what its parent would do."""
    code = 70
    try:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(writing, 2)
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
