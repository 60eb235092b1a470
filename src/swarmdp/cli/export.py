"""`swarmdp export`: a learned controller as a file for a robot."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter, fit_in


def add(commands: Any) -> None:
    """Add the command and its options."""
    export = commands.add_parser(
        "export",
        help="write a learned controller as JSON, CSV or a C header",
        description="Write the controller of a fit for use elsewhere: what it observes and does, "
        "in physical units, as JSON (complete), CSV (a row for each observation) or a C header.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    export.set_defaults(command=_run)
    export.add_argument("fit", type=Path, help="folder of a fit")
    export.add_argument(
        "-o", "--output", type=Path, required=True, help="file that ends in .json, .csv or .h"
    )
    export.add_argument(
        "--experiment", type=int, default=0, help="which of the fit's experiments, from 0"
    )


def _run(options: argparse.Namespace) -> None:
    from swarmdp.policies import Exportable
    from swarmdp.support.errors import InvalidInput

    policy = fit_in(options.fit, options.experiment).policy
    if not isinstance(policy, Exportable):
        raise InvalidInput(f"the fit's policy is of kind {policy.kind!r}, which cannot be exported")
    written = policy.export(options.output, replica=options.experiment)
    print(f"{policy}\n  {written}")
