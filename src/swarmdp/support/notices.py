"""Lines for the person who waits: shown on a terminal or in a notebook, silent elsewhere."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

_written: set[str] = set()
_silences: list[object] = []  # asked for at the moment, by any thread
_quiet: list[object] = []  # the same for bars and all else that only says that work goes on


def somebody_looks() -> bool:
    """Whether what is written to stderr is seen at once, and wanted."""
    return not _quiet and sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())


def tell_once(line: str) -> None:
    """Write the line to stderr, unless it was written before, is not wanted or not seen."""
    if line not in _written and not _silences and somebody_looks():
        _written.add(line)
        print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep lines back while this lasts."""
    mark = object()
    _silences.append(mark)
    try:
        yield
    finally:
        _silences.remove(mark)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Show no bars and no lines about the work while this lasts; warnings and errors remain."""
    mark = object()
    _quiet.append(mark)
    try:
        with silence():
            yield
    finally:
        _quiet.remove(mark)


def is_quiet() -> bool:
    """Whether nothing is to be said about the work that goes on."""
    return bool(_quiet)


def _in_notebook() -> bool:
    """Whether the code runs in a notebook's kernel, which has imported IPython long ago."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
