"""Share one large array operation between threads.

Kernels release the interpreter lock, so ordinary Python threads run them side by side; there is
no Numba threading layer that could clash with a caller's own threads or a cluster's workers.
A roll-out of many runs gives each thread its own runs instead (`swarmdp.rollout`); what is here
serves the single large swarm. How many threads one thread may use is its `budget`, 1 by default,
so that nested parallelism cannot multiply.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

SMALLEST_SHARE = 20_000  # array elements for which handing work to a thread pays

_local = threading.local()
_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


@contextmanager
def budget(threads: int) -> Iterator[None]:
    """Let kernels called from this thread use up to `threads` threads."""
    previous = getattr(_local, "budget", 1)
    _local.budget = threads
    try:
        yield
    finally:
        _local.budget = previous


def shares(elements: int) -> int:
    """Into how many parts an operation on this number of array elements is best divided."""
    return max(1, min(getattr(_local, "budget", 1), elements // SMALLEST_SHARE))


def divide(size: int, parts: int, work: Callable[[int, int, int], None]) -> None:
    """Call work(part, begin, end) for parts of range(size), side by side."""
    if parts == 1:
        work(0, 0, size)
        return
    bounds = [size * part // parts for part in range(parts + 1)]
    others = [
        _shared_pool().submit(work, part, bounds[part], bounds[part + 1])
        for part in range(1, parts)
    ]
    try:
        work(0, 0, bounds[1])
    finally:
        for other in others:
            other.result()


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="swarmdp")
        return _pool


def _forget_pool() -> None:
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


# Threads do not survive a fork: the child makes its own.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
