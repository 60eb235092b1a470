"""The command `swarmdp`: one module for each of its commands.

Plain argparse: it starts at once and answers a wrong argument with one line. Heavy modules are
imported by the command that needs them.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from swarmdp._version import __version__
from swarmdp.cli import animate, bench, evaluate, fit, info, report, reproduce, simulate
from swarmdp.errors import SwarmdpError, SwarmdpWarning

Command = Callable[[argparse.Namespace], None]


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit with 2 for bad input, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            command(options)
    except SwarmdpError as error:
        message = error.strerror if isinstance(error, OSError) and error.strerror else error
        sys.exit(_complain(f"swarmdp: {message}", 2))
    except KeyboardInterrupt:
        sys.exit(_complain("swarmdp: interrupted", 130))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Our own warnings in one line; those of others as they are."""
    if issubclass(category, SwarmdpWarning):
        print(f"swarmdp: warning: {message}", file=sys.stderr)
    else:
        _others_warning(message, category, *where, **more)


_others_warning = warnings.showwarning


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="swarmdp",
        description="Learn the local reward behind a swarm's global behaviour.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swarmdp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (simulate, fit, evaluate, animate, reproduce, report, bench, info):
        module.add(commands)
    return parser
