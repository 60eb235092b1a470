"""Whether what comes next fits into memory, asked before it starts."""

import contextlib

import psutil

from swarmdp.support.errors import NotEnoughMemory

FREE_SHARE = 0.9  # of the free memory that may be used


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
    available = free_memory()
    if needed > FREE_SHARE * available:
        raise error(
            f"{what} needs {readable(needed)}, but {readable(available)} of memory are free. "
            f"{remedy}"
        )


def free_memory() -> int:
    """Bytes that this process can still ask for: of the machine's, and within its own limit."""
    available = int(psutil.virtual_memory().available)
    with contextlib.suppress(ImportError):  # only Unix has such limits
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            return max(0, min(available, limit - int(psutil.Process().memory_info().vms)))
    return available


def readable(size: float) -> str:
    """A number of bytes in the unit in which it is read most easily."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:,.4g} TiB"
