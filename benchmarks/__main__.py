"""`python -m benchmarks`: the simulator against its peers."""

from collections.abc import Sequence
from pathlib import Path

from swarmdp.cli.common import HelpFormatter, Parser, run_guarded


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks from the command line.

    Parameters
    ----------
    arguments
        Those of the command line by default.

    """
    parser = Parser(
        prog="python -m benchmarks",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table, and write it as bench.md and all times as bench.json. Takes several minutes; "
        "close other programs first. Peers that are not installed are skipped.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="just the workloads with one of these words in their names, such as ising or memory",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small swarms and at most two rounds, to try it out; too small to judge by",
    )
    parser.add_argument(
        "--long",
        action="store_true",
        help="also the reproduction at the paper's scale and fits of up to a million agents: an "
        "hour or more",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for the results"
    )

    def work() -> None:
        options = parser.parse_args(arguments)
        from benchmarks.run import run

        where = options.output / "bench.json"
        run(where, options.only, options.rounds, options.quick, options.long)

    run_guarded(parser.prog, work)


if __name__ == "__main__":
    main()
