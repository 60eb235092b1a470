"""Progress of long work, on a terminal or in a notebook; silence elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from swarmdp.support.errors import InvalidInput
from swarmdp.support.notices import is_quiet, silence, somebody_looks

ALMOST = 0.99  # of the work: what a bar shows at most, until it vanishes
DELAY = 0.5  # seconds before a bar appears: short work needs none

Tell = Callable[..., None]
"""Called as tell(done, total) or tell(done, total, text)."""


@contextmanager
def shown(progress: bool | Tell | None, description: str) -> Iterator[Tell | None]:
    """Show the progress of what happens inside, as `progress` says.

    None shows a bar where somebody can see it, False shows nothing, True shows it anywhere, and a
    function is called instead. Gives the function to call, or None if progress is not wanted.
    """
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise InvalidInput(
                "progress must be True, False, None or a function of (done, total), got "
                f"{progress!r}"
            )
        yield progress
        return
    if progress is False:
        with silence():
            yield None
        return
    if progress is None and not (somebody_looks() and _can_draw()):
        yield None
        return
    bar = _Bar(description)
    try:
        yield bar.tell
    finally:
        bar.close()


@contextmanager
def working(
    description: str,
    progress: bool | Tell | None = None,
    part: tuple[float, float] | None = None,
) -> Iterator[Tell | None]:
    """Say on a terminal what is being done, as long as it takes; nothing elsewhere.

    Nor is it said where progress is False, or goes to a function, which is called for the longest
    part of the work only. With the `part` of the whole work that this is, such as (0.2, 0.5), a bar
    shows how far the whole is; the function that it gives moves the bar within this part.
    """
    unwanted = progress is False or callable(progress) or is_quiet()
    if unwanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    if part is None:
        from rich.console import Console

        with Console(stderr=True).status(description):
            yield None
        return
    begin, end = part
    bar = _Bar(description, delay=0.0)

    def tell(done: int, total: int, text: str | None = None) -> None:
        share = begin + (end - begin) * done / max(total, 1)
        bar.tell(round(1000 * share), 1000, text)

    try:
        tell(0, 1)
        yield tell
    finally:
        bar.close()


def _can_draw() -> bool:
    """Whether a bar can be drawn: on a terminal, and in notebooks that have widgets."""
    return sys.stderr.isatty() or find_spec("ipywidgets") is not None


class _Bar:
    """A bar with the time left, which appears when the work takes a while."""

    def __init__(self, description: str, delay: float | None = None) -> None:
        self._description = description
        self._delay = DELAY if delay is None else delay
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def tell(self, done: int, total: int, text: str | None = None) -> None:
        if self._bar is None:
            if time.monotonic() < self._began + self._delay or done >= total:
                return
            self._open()
        # As long as the bar is open something runs: it never stands at 100 %.
        completed = min(done, ALMOST * total)
        self._bar.update(
            self._task, completed=completed, total=total, description=text or self._description
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        # What is finished vanishes: no bar stands at 100 % while something else runs.
        self._bar = Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
        self._task = self._bar.add_task(self._description, total=None)
        self._bar.start()
