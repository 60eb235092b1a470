"""Whether what comes next fits into memory, asked before it starts."""

import psutil

from swarmdp.errors import NotEnoughMemory

SHARE = 0.9  # of the free memory that may be used


def check_memory(
    needed: float, what: str, remedy: str, error: type[NotEnoughMemory] = NotEnoughMemory
) -> None:
    """Raises an error that says how much memory is needed if it is not free.

    Parameters
    ----------
    needed
        Bytes that will be asked for.
    what
        What needs them, as the subject of a sentence.
    remedy
        What to do instead, as a sentence without its full stop.
    error
        The kind of error.

    """
    available = psutil.virtual_memory().available
    if needed > SHARE * available:
        raise error(
            f"{what} needs {readable(needed)}, but {readable(available)} of memory are free. "
            f"{remedy}"
        )


def readable(size: float) -> str:
    """A number of bytes in the unit in which it is read most easily."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:,.4g} TiB"
