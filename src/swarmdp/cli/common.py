"""What the commands share: options, errors, tables."""

import argparse
import contextlib
import json
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from swarmdp.cli.systems import expert_of, system_of
from swarmdp.support.errors import SwarmdpError, SwarmdpWarning

DEMO = "demo.nc"  # what a fit learned from, beside it

Command = Callable[[argparse.Namespace], Mapping[str, Any] | None]
"""What runs a command; it gives back what `--json` prints."""


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    system = ""  # whose options it has, as it is written on the command line

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and one line."""
        command = f"{self.prog} {self.system}".rstrip()
        self.exit(2, f"{self.prog}: {message} (see {command} --help)\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Exit because of arguments that this command does not know; name the nearest option."""
        import difflib

        known = [name for action in self._actions for name in action.option_strings]
        given = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        near = [name for word in given for name in difflib.get_close_matches(word, known, 1, 0.75)]
        hint = f"; did you mean {' '.join(near)}?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Help that tells the defaults of the options that have one."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False or action.default == []:
            return action.help  # but 0 is a default
        return super()._get_help_string(action)


def guarded(program: str, work: Callable[[], None], kept: str = "") -> None:
    """Do the work; its errors and warnings become one line each, and errors the exit code.

    Bad input exits with 2, an interrupt with 130. `kept` is what an interrupt leaves, in words,
    unless the interrupt itself says it.
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
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        remedy = "take fewer runs, agents or classes, or raise the limit (ulimit -v)"
        sys.exit(_complain(f"{program}: there is not enough memory{reason}: {remedy}", 2))
    except KeyboardInterrupt as stop:
        left = str(stop) or kept
        sys.exit(_complain(f"{program}: interrupted{f': {left}' if left else ''}", 130))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


def add_verbosity(parser: argparse.ArgumentParser, table: bool) -> None:
    """How much is said; `--json` where there is a table to print."""
    group = parser.add_argument_group("output")
    much = group.add_mutually_exclusive_group()
    much.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    much.add_argument(
        "-v", "--verbose", action="store_true", help="tell each step of the work (the log)"
    )
    if table:
        group.add_argument(
            "--json", action="store_true", help="print what was found as JSON, and nothing else"
        )


def carry_out(options: argparse.Namespace) -> None:
    """Run the command, and say of it as much as is asked for."""
    command: Command = options.command
    as_json = getattr(options, "json", False)
    with contextlib.ExitStack() as stack:
        if getattr(options, "quiet", False):
            from swarmdp.support.notices import quiet

            stack.enter_context(quiet())
        if getattr(options, "verbose", False):
            stack.enter_context(_log_shown())
        printed = sys.stdout
        if as_json or getattr(options, "quiet", False):
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
        found = command(options)
        if as_json:
            print(json.dumps(found, indent=2), file=printed)


@contextlib.contextmanager
def _log_shown() -> Iterator[None]:
    """Show on stderr what the package logs under the name `swarmdp`."""
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


def address(page: Path) -> str:
    """Where a page is, as terminals make it a link."""
    return page.resolve().as_uri()


def add_common_options(group: Any, folder: str) -> None:
    """Seed, threads and output folder."""
    group.add_argument("--seed", type=int, default=1, help="same seed, same result")
    group.add_argument("--threads", type=int, help="threads to use; all cores if not given")
    group.add_argument(
        "-o", "--output", type=Path, help=f"folder for the results; {folder} if not given"
    )


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


def fit_in(folder: Path, experiment: int = 0) -> Any:
    """The fit that a folder or file holds, which must have this experiment."""
    from swarmdp.irl.result import Result
    from swarmdp.support.errors import InvalidInput
    from swarmdp.support.saved import FIT, load

    # Beside the fit of a recording there is its whole analysis, which is not needed.
    result = load(folder / FIT.file if (folder / FIT.file).is_file() else folder)
    if not isinstance(result, Result):
        raise InvalidInput(f"{folder} is not a fit: give the folder that swarmdp fit wrote")
    if not 0 <= experiment < result.experiments:
        raise InvalidInput(
            f"--experiment must be from 0 to {result.experiments - 1}, got {experiment}"
        )
    return result


def expert_beside(folder: Path, system: Any, discount: float) -> Any:
    """The expert of a fit's system, or the recording that the fit learned from.

    Of an analysis it is the time that the fit did not learn from.
    """
    from swarmdp.recordings.swarm import Swarm
    from swarmdp.support.errors import InvalidInput
    from swarmdp.support.saved import load

    if isinstance(system, Swarm):
        return recorded_beside(folder, system)
    expert = expert_of(system, discount)
    if expert is not None:
        return expert
    demo = (folder if folder.is_dir() else folder.parent) / DEMO
    if not demo.is_file():
        raise InvalidInput(
            f"{type(system).__name__} has no expert, and there is no {DEMO} beside the fit: give "
            "the class a method expert(observations), or fit with swarmdp fit, which keeps the demo"
        )
    return load(demo)


def system_beside(folder: Path, result: Any, path: str | None) -> Any:
    """The system of a fit: rebuilt from its settings, or a recorded swarm saved beside it."""
    from swarmdp.recordings.swarm import Swarm
    from swarmdp.support.errors import InvalidInput
    from swarmdp.support.saved import SWARM, load

    if path is not None or result.system_name != Swarm.__name__:
        return system_of(result, path)
    file = (folder if folder.is_dir() else folder.parent) / SWARM.file
    if not file.is_file():
        raise InvalidInput(
            f"it is a fit of a recorded swarm, and there is no {SWARM.file} beside it: save the "
            "swarm with swarm.save(FOLDER), or use swarmdp fit --tracks, which does"
        )
    swarm = load(file)
    if json.loads(json.dumps(swarm.settings)) != dict(result.system_settings):
        raise InvalidInput(f"{file} is not the swarm of this fit: it was calibrated otherwise")
    return swarm


def recorded_beside(folder: Path, swarm: Any) -> Any:
    """The held-out decisions of an analysis as a trajectory; without one, those of the swarm."""
    from swarmdp.support.errors import InvalidInput
    from swarmdp.support.saved import ANALYSIS, load

    path = (folder if folder.is_dir() else folder.parent) / ANALYSIS.file
    if path.is_file():
        return swarm.demo(load(path).decisions.test)
    if swarm.decisions is None:
        raise InvalidInput("the swarm was saved without its recording: there is nothing to compare")
    return swarm.demo(swarm.decisions)


def kept(result: Any, wanted: int, missing: str, options: argparse.Namespace, output: Path) -> str:
    """What an interrupted fit leaves, and how to go on with it.

    Parameters
    ----------
    result
        The fit so far.
    wanted
        The number of iterations that were asked for.
    missing
        What comes after the iterations, in words.
    options
        Of the command.
    output
        The folder in which it is kept.

    """
    done = len(result.iterations)
    more = "" if done < wanted else f"; {missing} is missing"
    given = sys.argv[1:] if sys.argv[1:2] == ["fit"] else ["fit", "..."]
    again = [part for part in given if part != "--resume"]
    if options.output is None:
        again += ["-o", str(output)]
    return (
        f"{done} of {wanted} iterations are kept in {output}{more}. Go on with: swarmdp "
        f"{shlex.join([*again, '--resume'])}"
    )
