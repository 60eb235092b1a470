"""`swarmdp bench`: measurements of the package itself."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter


def add(commands: Any) -> None:
    """Add the command and its options."""
    bench = commands.add_parser(
        "bench",
        help="measure the simulator against its peers, or methods against each other",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table and write bench.json. Takes several minutes; close other programs first. With "
        "--study learners: how reliably each learner finds the expert's behaviour, over many "
        "experiments (about an hour). --study updates: the reward updates and behaviour cloning "
        "beside each other. --study transfer: what they carry over to changed swarms. --study "
        "theory: what local rewards can and cannot do, exactly, on small swarms. A second start of "
        "a study goes on where the first stopped.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    bench.set_defaults(command=_run)
    bench.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    bench.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="just these workloads or systems"
    )
    bench.add_argument(
        "--study", choices=["learners", "updates", "transfer", "theory"], help="this study instead"
    )
    bench.add_argument(
        "--experiments",
        type=int,
        help="of each row of the study; 100 learners, 30 updates or transfer if not given",
    )
    bench.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    bench.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for the results"
    )


def _run(options: argparse.Namespace) -> None:
    if options.study == "learners":
        from swarmdp.benchmarks.learners import study

        study(options.output, options.experiments or 100, options.only, options.quick)
    elif options.study == "updates":
        from swarmdp.benchmarks.updates import study

        study(options.output, options.experiments or 30, options.only, options.quick)
    elif options.study == "transfer":
        from swarmdp.benchmarks.transfer import study

        study(options.output, options.experiments or 30, options.only, options.quick)
    elif options.study == "theory":
        from swarmdp.benchmarks.small_swarms import study as theory_study

        theory_study(options.output, options.quick)
    if options.study:
        for path in sorted(options.output.glob(f"{options.study}*")):
            print(f"  {path}")
        return
    from swarmdp.benchmarks.run import run

    run(options.output / "bench.json", options.only, options.rounds, options.quick)
