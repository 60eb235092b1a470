"""Work on many independent runs, chunk by chunk, on several threads."""

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from swarmdp.errors import InvalidInput, NotEnoughMemory
from swarmdp.kernels import parallel
from swarmdp.memory import check_memory

THREAD_BYTES = 16 * 2**20  # of address space: a stack, and the first memory of its own
FEWER = (
    "Use fewer (--threads 1, threads=1 or SWARMDP_THREADS=1), or raise the limits of the system "
    "(ulimit -u and ulimit -v)"
)


class _StopWorking(Exception):
    """Another thread failed or the user interrupted."""


def over_chunks(
    runs: int,
    at_most: int,
    threads: int,
    work: Callable[[int, int, Callable[[], None]], None],
) -> None:
    """Call work(begin, end, check) for chunks of at most so many runs, on several threads.

    Work calls check() now and then: it raises when the work has become pointless because another
    chunk failed or the user interrupted. Threads that no run can use serve large kernels.
    """
    workers = min(threads, runs)
    rounds = -(-runs // (workers * at_most))
    n_chunks = min(runs, workers * rounds)
    bounds = [runs * c // n_chunks for c in range(n_chunks + 1)]
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise _StopWorking

    def work_on(chunk: tuple[int, int]) -> None:
        with parallel.budget(max(1, threads // workers)):
            work(*chunk, check)

    chunks = list(itertools.pairwise(bounds))
    if workers == 1:
        with starting_threads(0):  # kernels may
            for chunk in chunks:
                work_on(chunk)
        return
    with (
        starting_threads(workers),
        ThreadPoolExecutor(workers, thread_name_prefix="swarmdp-runs") as pool,
    ):
        try:
            pending = [pool.submit(work_on, chunk) for chunk in chunks]
            done, _ = wait(pending, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


@contextlib.contextmanager
def starting_threads(threads: int = 1) -> Iterator[None]:
    """Raises NotEnoughMemory if the system starts no more threads, which Python hardly explains.

    It is asked before: a thread that has no memory to begin with makes Python wait for it for ever.
    """
    check_memory(
        threads * THREAD_BYTES,
        "starting a thread" if threads == 1 else f"starting {threads} threads",
        FEWER,
    )
    try:
        yield
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        raise NotEnoughMemory(f"the system starts no more threads. {FEWER}") from error


def thread_count(threads: int | None = None) -> int:
    """The threads to use: as given, or SWARMDP_THREADS, or all cores."""
    if threads is None:
        given = os.environ.get("SWARMDP_THREADS")
        if given is None:
            affinity = getattr(os, "sched_getaffinity", None)
            return len(affinity(0)) if affinity else os.cpu_count() or 1
        if not given.isdigit() or int(given) < 1:
            raise InvalidInput(f"SWARMDP_THREADS must be a positive integer, got {given!r}")
        return int(given)
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InvalidInput(f"threads must be an integer of at least 1, got {threads!r}")
    return threads
