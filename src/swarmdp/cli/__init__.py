"""The command `swarmdp`: one module for each of its commands.

Plain argparse: it starts at once and answers a wrong argument with one line. Heavy modules are
imported by the command that needs them.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from swarmdp._version import __version__
from swarmdp.cli import (
    animate,
    evaluate,
    export,
    fit,
    info,
    report,
    reproduce,
    simulate,
    studio,
    tracks,
)
from swarmdp.cli.common import Parser, guarded
from swarmdp.cli.systems import asked_for

Command = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit with 2 for bad input, 130 when interrupted."""
    given = sys.argv[1:] if arguments is None else list(arguments)

    def work() -> None:
        wanted = given[0] if given else ""
        system = asked_for(given[1:]) if wanted in ("simulate", "fit", "animate") else None
        options = _parser(system).parse_args(given)
        command: Command = options.command
        command(options)

    guarded("swarmdp", work, "nothing was kept; the same command starts again")


def help_of(given: Sequence[str], columns: int = 80) -> str:
    """The help that `swarmdp GIVEN --help` prints, for the documentation."""
    import contextlib
    import io
    import os

    printed = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(columns)
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            main([*given, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return printed.getvalue()


def _parser(system: str | None) -> argparse.ArgumentParser:
    """The parser of all commands, with the options of this system."""
    parser = Parser(
        prog="swarmdp",
        description="Learn the local reward behind a swarm's global behaviour.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swarmdp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for with_system in (simulate, fit, animate):
        with_system.add(commands, system)
    for other in (evaluate, export, tracks, reproduce, report, studio, info):
        other.add(commands)
    return parser
