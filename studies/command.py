"""The command line that all studies share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter, Parser, run_guarded


def main(
    study: Callable[..., object],
    name: str,
    description: str,
    *,
    experiments: int | None = None,
    only: str = "",
    arguments: Sequence[str] | None = None,
) -> None:
    """Run a study from the command line, and list the files that it wrote.

    Parameters
    ----------
    study
        Takes the output folder and the options below as keywords.
    name
        The study's module in `studies`; its results go to `runs/<name>`.
    description
        What the study asks, and about how long it takes.
    experiments
        How many experiments a row has by default; None: the study has no such option.
    only
        What the option --only chooses from; empty: the study has no such option.
    arguments
        Those of the command line by default.

    """
    parser = Parser(
        prog=f"python -m studies.{name}",
        description=f"{description} Rows are written one by one: the same command goes on where "
        "it was stopped, and measures only what it has no row for.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("runs") / name, help="folder for the results"
    )
    if experiments is not None:
        parser.add_argument(
            "--experiments", type=int, default=experiments, help="independent fits of each row"
        )
    if only:
        parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help=f"just {only}")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small swarms and few iterations, to try it out; never mixed with the real rows",
    )
    options: dict[str, Any] = vars(parser.parse_args(arguments))

    def work() -> None:
        study(**options)
        for path in sorted(options["output"].iterdir()):
            print(f"  {path}")

    run_guarded(parser.prog, work)
