"""Work on many independent runs, chunk by chunk, on several threads; linear algebra on one."""

import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from swarmdp.support import parallel
from swarmdp.support.errors import InvalidInput, NotEnoughMemory
from swarmdp.support.memory import check_memory

WORTH_A_THREAD = 1000
"""Agents for which a step in plain NumPy is worth a thread: with fewer, threads wait for Python."""

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
    least: int = 1,
) -> None:
    """Call work(begin, end, check) for chunks of at most `at_most` runs, on several threads.

    A thread gets at least `least` runs: where there are fewer, there are fewer threads.

    Work calls check() now and then: it raises when the work has become pointless because another
    chunk failed or the user interrupted. Threads that no run can use serve large kernels.
    """
    workers = min(threads, max(1, runs // least))
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


def worth_a_thread(agents: int) -> int:
    """The number of runs of this size, each step in plain NumPy, that are worth a thread."""
    return max(1, WORTH_A_THREAD // agents)


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


_blas_lock = threading.Lock()
_blas_users = 0
_blas_before: list[int] = []


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy's linear algebra use one thread; works as a decorator, too.

    How BLAS shares the work among threads decides how sums are rounded, and so the last bits
    depended on the number of cores. Systems of some hundred equations gain nothing by more threads,
    and lose where others use the cores: the threads then wait for each other.
    """
    global _blas_users
    with _blas_lock:  # the limit is the whole process's: the first sets it, the last takes it back
        if _blas_users == 0:
            _blas_before[:] = [library.num_threads for library in _blas()]
            _limit_blas([1] * len(_blas_before))
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _limit_blas(_blas_before)


def _limit_blas(threads: Sequence[int]) -> None:
    for library, number in zip(_blas(), threads, strict=True):
        # Since version 3.8 only one thread at a time may change a limit, but any may be the last.
        change = getattr(library, "_real_set_num_threads", library.set_num_threads)
        change(number)


@functools.cache
def _blas() -> tuple[Any, ...]:
    """The BLAS libraries that are loaded."""
    import numpy as np  # noqa: F401, which loads one
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
