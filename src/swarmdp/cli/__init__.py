"""The command `swarmdp`: one module for each of its commands.

Plain argparse: it starts at once and answers a wrong argument with one line. Heavy modules are
imported by the command that needs them.
"""

import argparse
from collections.abc import Callable, Sequence

from swarmdp._version import __version__
from swarmdp.cli import animate, bench, evaluate, export, fit, info, report, reproduce, simulate
from swarmdp.cli.common import Parser, guarded

Command = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit with 2 for bad input, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    guarded("swarmdp", lambda: command(options))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="swarmdp",
        description="Learn the local reward behind a swarm's global behaviour.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swarmdp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (simulate, fit, evaluate, export, animate, reproduce, report, bench, info):
        module.add(commands)
    return parser
