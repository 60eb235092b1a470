"""`swarmdp export`: a learned controller as a file for a robot."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import add_command
from swarmdp.cli.fit_folders import add_experiment, analysis_in, fit_in


def add(commands: Any) -> None:
    """Add the command and its options."""
    export = add_command(
        commands,
        "export",
        _run,
        summary="write a learned controller as JSON, CSV or a C header",
        description="Write the controller of a fit for use elsewhere: what it observes and does, "
        "in physical units, as JSON (complete), CSV (a row for each observation) or a C header.",
    )
    export.add_argument("fit", type=Path, help="folder of a fit")
    export.add_argument(
        "-o", "--output", type=Path, required=True, help="file to write: .json, .csv or .h"
    )
    add_experiment(export)


def _run(options: argparse.Namespace) -> None:
    from swarmdp.policies import Exportable
    from swarmdp.support.errors import InvalidInput

    analysis = analysis_in(options.fit)
    if analysis is not None:
        written = analysis.controlled_swarm.export(options.output)
        print(f"Zonal controller: {analysis.controller.words(analysis.swarm.unit)}\n  {written}")
        return
    policy = fit_in(options.fit, options.experiment).policy
    if not isinstance(policy, Exportable):
        raise InvalidInput(
            f"the fit's policy is of the kind {policy.kind!r}, which cannot be exported"
        )
    written = policy.export(options.output, replica=options.experiment)
    print(f"{policy}\n  {written}")
