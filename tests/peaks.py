"""The largest memory of a process, for tests that run one of their own."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak() -> int:
    """The most memory in bytes that this process has held.

    Linux's `ru_maxrss` is no measure of it: a new process inherits its parent's.
    """
    if STATUS.exists():
        (line,) = (row for row in STATUS.read_text().splitlines() if row.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else 1024 * held
