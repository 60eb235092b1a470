"""`swarmdp bench`: measurements of the package itself."""

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command and its options."""
    bench = commands.add_parser(
        "bench",
        help="measure the simulator against its peers, or the learners against each other",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table and write bench.json. Takes several minutes; close other programs first. With "
        "--study learners: how reliably each learner finds the expert's behaviour, over many "
        "experiments (about an hour; a second start goes on where the first stopped). With "
        "--study theory: what local rewards can and cannot do, exactly, on small swarms (about ten "
        "minutes; goes on likewise).",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    bench.set_defaults(command=_run)
    bench.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    bench.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="just these workloads or systems"
    )
    bench.add_argument("--study", choices=["learners", "theory"], help="this study instead")
    bench.add_argument("--experiments", type=int, default=100, help="of each row (learners)")
    bench.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    bench.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for the results"
    )


def _run(options: argparse.Namespace) -> None:
    if options.study == "learners":
        from swarmdp.benchmarks.learners import study

        study(options.output, options.experiments, options.only, options.quick)
        print(f"  {options.output / 'learners.json'}\n  {options.output / 'learners.md'}")
        return
    if options.study == "theory":
        from swarmdp.benchmarks.small_swarms import study as theory_study

        theory_study(options.output, options.quick)
        print(f"  {options.output / 'theory.json'}\n  {options.output / 'theory.md'}")
        return
    from swarmdp.benchmarks.run import run

    run(options.output / "bench.json", options.only, options.rounds, options.quick)
