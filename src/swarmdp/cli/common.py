"""What the commands share: options, errors, tables, progress."""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from swarmdp.errors import SwarmdpError, SwarmdpWarning


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and one line."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Help that tells the defaults of the options that have one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or action.default == []:
            return action.help  # but 0 is a default
        return super()._get_help_string(action)


def guarded(program: str, work: Callable[[], None]) -> None:
    """Do the work; its errors and warnings become one line each, and errors the exit code.

    Bad input exits with 2, an interrupt with 130.
    """
    others = warnings.showwarning

    def show_warning(
        message: Warning | str, category: type[Warning], *where: Any, **more: Any
    ) -> None:
        if issubclass(category, SwarmdpWarning):
            print(f"{program}: warning: {message}", file=sys.stderr)
        else:
            others(message, category, *where, **more)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            work()
    except SwarmdpError as error:
        message = error.strerror if isinstance(error, OSError) and error.strerror else error
        sys.exit(_complain(f"{program}: {message}", 2))
    except KeyboardInterrupt:
        sys.exit(_complain(f"{program}: interrupted", 130))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


def add_common_options(group: Any, folder: str) -> list[argparse.Action]:
    """Seed, threads and output folder."""
    return [
        group.add_argument("--seed", type=int, default=1, help="same seed, same result"),
        group.add_argument("--threads", type=int, help="threads to use; all cores if not given"),
        group.add_argument(
            "-o", "--output", type=Path, help=f"folder for the results; {folder} if not given"
        ),
    ]


def shown_times(steps: int) -> list[int]:
    """The times that a table of a measure shows."""
    return sorted({0, *(t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t < steps), steps})


def show_columns(
    heading: str, names: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 0
) -> None:
    """Print a table of numbers, of which the first columns may be texts."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*names, min_width=len(heading), title=heading, title_justify="left")
    for column in table.columns[texts:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    Console().print(table)


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[..., None] | None]:
    """A progress bar with the time left, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=None)

        def show(done: int, total: int, text: str = description) -> None:
            bar.update(task, completed=done, total=total, description=text)

        yield show
