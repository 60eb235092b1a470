"""What the commands share: parsers, common options, errors, output, tables."""

import argparse
import contextlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from swarmdp.support.errors import SwarmdpError, SwarmdpWarning

Command = Callable[[argparse.Namespace], Mapping[str, Any] | None]
"""Runs a command and returns what `--json` prints."""


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    system = ""  # whose options it has, as it is written on the command line

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and one line."""
        command = f"{self.prog} {self.system}".rstrip()
        self.exit(2, f"{self.prog}: {message} (see {command} --help)\n")

    def reject(self, unknown: Sequence[str]) -> NoReturn:
        """Exit because of unknown arguments; name the most similar option."""
        import difflib

        options = [name for action in self._actions for name in action.option_strings]
        words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        similar = [
            name for word in words for name in difflib.get_close_matches(word, options, 1, 0.75)
        ]
        hint = f"; did you mean {' '.join(similar)}?" if similar else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Help with the defaults of the options that have one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or action.default == []:
            return action.help  # but 0 is a default
        return super()._get_help_string(action)


def run_guarded(program: str, work: Callable[[], None], after_interrupt: str = "") -> None:
    """Do the work; print each of its errors and warnings in one line, and exit after an error.

    Bad input exits with 2, an interrupt with 130. `after_interrupt` says what an interrupt leaves,
    unless the interrupt has a message.
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
        _exit(f"{program}: {message}", 2)
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        remedy = "use fewer runs, agents or classes, or raise the limit (ulimit -v)"
        _exit(f"{program}: there is not enough memory{reason}: {remedy}", 2)
    except KeyboardInterrupt as stop:
        note = str(stop) or after_interrupt
        _exit(f"{program}: interrupted{f': {note}' if note else ''}", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _exit(message: str, code: int) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)


def add_command(
    commands: Any, name: str, run: Command, *, summary: str, description: str
) -> argparse.ArgumentParser:
    """Add a command to `swarmdp` and return its parser; `summary` is in the list of commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=run)
    return parser


def add_verbosity(parser: argparse.ArgumentParser, table: bool) -> None:
    """Add the options of how much is printed; `--json` where there is a table to print."""
    group = parser.add_argument_group("output")
    much = group.add_mutually_exclusive_group()
    much.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    much.add_argument(
        "-v", "--verbose", action="store_true", help="print a log of the work and all tables"
    )
    if table:
        group.add_argument(
            "--json", action="store_true", help="print the results as JSON and nothing else"
        )


def carry_out(options: argparse.Namespace) -> None:
    """Run the command, and print as much as the options ask for."""
    command: Command = options.command
    as_json = getattr(options, "json", False)
    with contextlib.ExitStack() as stack:
        if getattr(options, "quiet", False):
            from swarmdp.support.notices import quiet

            stack.enter_context(quiet())
        if getattr(options, "verbose", False):
            stack.enter_context(_print_log())
        printed = sys.stdout
        if as_json or getattr(options, "quiet", False):
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
        results = command(options)
        if as_json:
            print(json.dumps(results, indent=2), file=printed)


@contextlib.contextmanager
def _print_log() -> Iterator[None]:
    """Print on stderr what the package logs under the name `swarmdp`."""
    logger = logging.getLogger("swarmdp")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


def page_address(page: Path) -> str:
    """The address of a page, which terminals make a link."""
    return page.resolve().as_uri()


def add_seed(group: Any, default: int = 1) -> None:
    """Add the option of the seed."""
    group.add_argument(
        "--seed", type=int, default=default, help="the same seed gives the same results"
    )


def add_threads(group: Any) -> None:
    """Add the option of the number of threads."""
    group.add_argument("--threads", type=int, help="number of threads (default: all cores)")


def add_output(group: Any, folder: str) -> None:
    """Add the option of the folder for the results; `folder` is the default in words."""
    group.add_argument(
        "-o", "--output", type=Path, help=f"folder for the results (default: {folder})"
    )


def print_table(
    heading: str, names: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 0
) -> None:
    """Print a table of numbers, whose first `texts` columns are texts."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*names, min_width=len(heading), title=heading, title_justify="left")
    for column in table.columns[texts:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    Console().print(table)
