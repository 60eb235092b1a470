"""`swarmdp replan`: a policy for another swarm, from the reward of a fit."""

import argparse
import json
import math
import warnings
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import (
    add_command,
    add_output,
    add_seed,
    add_threads,
    page_address,
    print_table,
)
from swarmdp.cli.fit_folders import add_experiment, fit_in, system_beside
from swarmdp.cli.systems import add_system, build, chosen_system, expert_or_none


def add(commands: Any, system: str | None) -> None:
    """Add the command and its options."""
    replan = add_command(
        commands,
        "replan",
        _run,
        summary="plan a policy for another swarm, using the reward of a fit",
        description="Plan a policy from scratch for the reward that a fit learned: for the "
        "fit's own swarm (swarmdp replan FIT), for another one (swarmdp replan FIT vicsek --radius "
        "0.05), or for another body with the same observations (--system MODULE:CLASS). Writes "
        "a page, controller.json and replan.json to a folder.",
    )
    replan.add_argument("fit", type=Path, help="folder of a fit")
    add_experiment(replan)
    replan.add_argument("--attempts", type=int, default=3, help="number of attempts at planning")
    replan.add_argument(
        "--demo",
        type=Path,
        help="a recorded trajectory (.nc) to compare the planned swarm with (default: the expert "
        "of its system, if there is one)",
    )
    replan.add_argument(
        "--no-judge",
        action="store_true",
        help="do not compare the swarm with a demo or an expert",
    )
    add_seed(replan)
    add_threads(replan)
    add_output(replan, "the folder replan inside that of the fit")
    add_system(replan, system)


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Plan, print what the policy is worth, and write it."""
    from swarmdp.fitting.replan import replan
    from swarmdp.model.system import name_of
    from swarmdp.model.traits import settings_of
    from swarmdp.model.trajectory import Trajectory
    from swarmdp.policies import Exportable
    from swarmdp.report.evaluation_page import write_replan_page
    from swarmdp.support import files, folders
    from swarmdp.support.errors import InvalidInput, VerdictWarning
    from swarmdp.support.saved import load

    result = fit_in(options.fit, options.experiment)
    if chosen_system(options) is None:
        system = system_beside(options.fit, result, None)
    else:
        system = build(options, "replan")
    demo = None if options.demo is None else load(options.demo)
    if demo is not None and not isinstance(demo, Trajectory):
        raise InvalidInput(f"{options.demo} is a fit, not a recording: give a trajectory")
    folder = options.fit if files.is_folder(options.fit) else options.fit.parent
    output = options.output or folder / "replan"
    with folders.writing(output) as place:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VerdictWarning)  # a bad verdict is printed
            planned = replan(
                result,
                system,
                seed=options.seed,
                demo=demo,
                attempts=options.attempts,
                experiment=options.experiment,
                judge=not options.no_judge,
                threads=options.threads,
            )
        written = []
        if isinstance(planned.policy, Exportable):
            written.append(planned.policy.export(place / "controller.json", system=system))
        verdict = planned.verdict
        summary = {
            "command": "replan",
            "version": __version__,
            "fit": options.fit.name,
            "system": name_of(system),
            "system_settings": settings_of(system),
            "seed": options.seed,
            "learner": planned.learner,
            "value": planned.value,
            "value_error": planned.error,
            "attempts": planned.attempts.tolist(),
            "spread": None if math.isnan(planned.spread) else planned.spread,
            "verdict": None if verdict is None else verdict.to_json(),
        }
        files.write_text(place / "replan.json", json.dumps(summary, indent=2, default=str) + "\n")
        written.append(place / "replan.json")
        names = [f"Algorithm 2, attempt {k + 1}" for k in range(options.attempts)]
        names = ["planning"] if planned.learner == "planning" else [*names, "policy search"]
        attempts = list(zip(names, planned.attempts.tolist(), strict=False))
        beside = demo
        if demo is None:
            beside = expert_or_none(system, result.settings["discount"])
        page, figures = write_replan_page(
            place,
            result,
            system,
            planned.policy,
            verdict,
            beside=beside,
            attempts=attempts,
            seed=options.seed,
        )
        written += figures
    print_table(
        f"Policies for {name_of(system)}: what an agent gets, discounted",
        ("found by", "value"),
        [(name, f"{value:.4g}") for name, value in attempts],
        texts=1,
    )
    spread = "" if math.isnan(planned.spread) else f"; s.d. of all attempts {planned.spread:.2g}"
    print(f"Taken: {planned.learner}, value {planned.value:.4g} ± {planned.error:.2g}{spread}")
    if verdict is not None:
        print(verdict)
    for path in written if options.verbose else ():
        print(f"  {output / path.name}")
    print(f"look at {page_address(output / page.name)}")
    return {**summary, "folder": str(output)}
