# PYTHON_ARGCOMPLETE_OK
"""The command `swarmdp`: one module for each of its commands.

demo, simulate, fit, replan, animate, evaluate, export, tracks, reproduce, report, studio, info
    A command each: `add` declares its options, `_run` carries it out and returns what `--json`
    prints.
fit_tracks
    `swarmdp fit --tracks`, the analysis of a recording.
systems
    Systems as arguments: built-in ones by name, others as MODULE:CLASS. The fields of a system's
    dataclass become options.
fit_folders
    What is in the folder of a fit: the fit, its system, its expert or recording.
common
    Parsers, options that several commands have, errors and warnings as one line, tables.
precompile
    `python -m swarmdp.cli.precompile`, which compiles the kernels that a wheel contains.

Decisions:

- argparse, no framework: it starts at once, and a wrong argument gets an answer of one line.
- `swarmdp --help` and `swarmdp COMMAND --help` import neither NumPy nor Numba: a module here
  imports at its top only what declaring its options needs, and the rest where it is used.
- The options of `simulate`, `fit`, `replan` and `animate` depend on the system, so the arguments
  are searched for a system before they are parsed.
- Bad input exits with 2 and one line, an interrupt with 130 and a line that says what was saved.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from swarmdp._version import __version__
from swarmdp.cli import (
    animate,
    demo,
    evaluate,
    export,
    fit,
    info,
    replan,
    report,
    reproduce,
    simulate,
    studio,
    tracks,
)
from swarmdp.cli.common import Parser, add_verbosity, carry_out, run_guarded
from swarmdp.cli.systems import system_in_arguments
from swarmdp.systems.registry import SYSTEMS

_WITH_SYSTEM = ("simulate", "fit", "replan", "animate")  # commands whose options depend on a system
_WITH_TABLE = (
    "simulate",
    "fit",
    "replan",
    "evaluate",
    "tracks",
    "reproduce",
    "info",
)  # commands that print one
_OVERVIEW = f"""swarmdp {__version__}: the local reward behind a swarm, a controller that \
reproduces it, and a verdict.

  swarmdp demo                                 watch a swarm being learned, in ten seconds
  swarmdp fit --tracks FILE --fps 25 --unit cm I have tracks of animals, people or robots
  swarmdp fit --system MODULE:CLASS            I have a simulator
  swarmdp replan FIT --system MODULE:CLASS     I have robots: plan for them from a learned reward
  swarmdp reproduce                            I have the paper
  swarmdp studio                               paint a reward and watch the swarm follow it

swarmdp --help lists all commands, swarmdp COMMAND --help the options of one."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit with 2 for bad input, 130 when interrupted."""
    given = sys.argv[1:] if arguments is None else list(arguments)

    def work() -> None:
        if "_ARGCOMPLETE" in os.environ:
            _complete()
        if not given:
            print(_OVERVIEW)
            return
        options, unknown = _parser(_system_in(given)).parse_known_args(given)
        if unknown:
            options.parser.reject(unknown)
        carry_out(options)

    run_guarded("swarmdp", work, "nothing was saved; run the command again")


def help_of(given: Sequence[str], columns: int = 80) -> str:
    """The help that `swarmdp GIVEN --help` prints, for the documentation."""
    import contextlib
    import io

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


def _system_in(given: Sequence[str]) -> str | None:
    """The system that the arguments name, for the commands whose options depend on it."""
    return system_in_arguments(given[1:]) if given[:1] and given[0] in _WITH_SYSTEM else None


def _complete() -> None:
    """Answer a shell that asks for completions, and exit."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()
    argcomplete.autocomplete(_parser(_system_in(words[1:])))


def _parser(system: str | None) -> argparse.ArgumentParser:
    """The parser of all commands, with the options of this system."""
    parser = Parser(
        prog="swarmdp",
        description="Learn the local reward behind a swarm's global behaviour.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swarmdp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo.add(commands)
    for with_system in (simulate, fit, replan, animate):
        with_system.add(commands, system)
    for other in (evaluate, export, tracks, reproduce, report, studio, info):
        other.add(commands)
    for name, command in commands.choices.items():
        command.set_defaults(parser=command)
        if system is not None and name in _WITH_SYSTEM:
            command.system = system if system in SYSTEMS else f"--system {system}"
        if name != "studio":
            add_verbosity(command, table=name in _WITH_TABLE)
    return parser
