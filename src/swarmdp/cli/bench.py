"""`swarmdp bench`: measurements of the package itself."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter


def add(commands: Any) -> None:
    """Add the command and its options."""
    bench = commands.add_parser(
        "bench",
        help="measure the simulator against its peers",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table and write bench.json. Takes several minutes; close other programs first.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    bench.set_defaults(command=_run)
    bench.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    bench.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="WORD",
        help="just the workloads with one of these words in their names",
    )
    bench.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    bench.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for the results"
    )


def _run(options: argparse.Namespace) -> None:
    from swarmdp.benchmarks.run import run

    run(options.output / "bench.json", options.only, options.rounds, options.quick)
