"""How much memory the analysis of a large recording needs, said before it starts."""

from collections.abc import Callable

from swarmdp.recordings.recording import Recording
from swarmdp.support.memory import check_memory, readable

LARGE = 10**6  # positions from which on it is said
_FIXED = 0.8 * 2**30  # bytes: libraries, the fit, and what is simulated
_EACH = 200  # bytes for each position, as measured with 10^6 and 10^7 of them
_PAIR = 120  # bytes for each two individuals that are seen at the same time
_ADVICE = (
    "Take a part of the recording: fewer frames, such as the first ten minutes "
    "(recording.between(0, 600), on the command line --time 0:600), or the individuals of one place"
)


def check_needs(recording: Recording, report: Callable[[str], None]) -> None:
    """Say how much memory an analysis needs if the recording is large.

    Raises NotEnoughMemory if it is not free.
    """
    count = recording.n_frames * recording.n_individuals
    if max(count, recording.n_individuals**2) < LARGE:
        return
    needed = _FIXED + _EACH * count + _PAIR * recording.n_individuals**2
    what = f"{count:,} positions of {recording.n_individuals:,} individuals"
    check_memory(needed, f"the analysis of {what}", _ADVICE)
    report(
        f"{what}: the analysis needs about {readable(needed)} of memory. Most time goes into "
        "resamples and the verdict, without which it is several times as quick"
    )
