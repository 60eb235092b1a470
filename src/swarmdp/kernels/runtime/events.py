"""Tells which kernel is being compiled, for pages that show that they are waiting."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from swarmdp.kernels.runtime.compile import subject


class _Listener(event.Listener):
    """Tells the name of each kernel when its compilation begins."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        self._tell(f"{subject(function)}.{function.__name__}")

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def watched(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with the name of every kernel that is compiled meanwhile, in any thread.

    Kernels that are in the cache on disk are not compiled, so nothing is said of them.
    """
    with event.install_listener("numba:compile", _Listener(tell)):
        yield
