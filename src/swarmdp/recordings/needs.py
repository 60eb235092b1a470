"""How much memory the analysis of a large recording needs, said before it starts."""

import math
from collections.abc import Callable

from swarmdp.recordings.recording import Recording
from swarmdp.support import memory
from swarmdp.support.memory import FREE_SHARE, check_memory, readable

LARGE = 10**6  # positions from which on it is said
_FIXED = 0.8 * 2**30  # bytes: libraries, the fit, and what is simulated
_EACH = 450  # bytes for each position: the most that was measured, with 10^7 of them
_PAIR = 120  # bytes for each two individuals that are seen at the same time


def check_needs(recording: Recording, report: Callable[[str], None]) -> None:
    """Say how much memory an analysis needs if the recording is large.

    Raises NotEnoughMemory if it is not free.
    """
    count = recording.n_frames * recording.n_individuals
    if max(count, recording.n_individuals**2) < LARGE:
        return
    needed = _FIXED + _EACH * count + _PAIR * recording.n_individuals**2
    what = f"{count:,} positions of {recording.n_individuals:,} individuals"
    check_memory(needed, f"the analysis of {what}", _what_fits(recording))
    report(
        f"{what}: the analysis needs about {readable(needed)} of memory. Most time goes into "
        "resamples and the verdict, without which it is several times as quick"
    )


def _what_fits(recording: Recording) -> str:
    """Which part of a recording would fit into memory, as a sentence without its full stop."""
    individuals, left = recording.n_individuals, FREE_SHARE * memory.free_memory() - _FIXED
    for_frames = left - _PAIR * individuals**2
    seconds = math.floor(for_frames / (_EACH * individuals) / recording.fps)
    if seconds >= 1:
        return (
            f"Take a part of the recording: {seconds} s of it would fit (recording.between(0, "
            f"{seconds}), on the command line --time 0:{seconds})"
        )
    frames = _EACH * recording.n_frames
    most = int((math.sqrt(frames**2 + 4 * _PAIR * max(0.0, left)) - frames) / (2 * _PAIR))
    return (
        f"Each individual is compared with each: about {most:,} of them would fit. Take those of "
        "one place into a file of their own"
    )
