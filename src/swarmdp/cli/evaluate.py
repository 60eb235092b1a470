"""`swarmdp evaluate`: a learned policy beside the expert."""

import argparse
import json
import math
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
from swarmdp.cli.fit_folders import expert_beside, fit_in, system_beside
from swarmdp.support.rounding import with_error


def add(commands: Any) -> None:
    """Add the command and its options."""
    evaluate = add_command(
        commands,
        "evaluate",
        _run,
        summary="compare a learned policy with the expert",
        description="Compare the learned policy of a fit with the expert, or with the recording "
        "that it learned from: measures over time and the distance of feature expectations. Writes "
        "a page, a figure and evaluation.json to the fit's folder.",
    )
    evaluate.add_argument("fit", type=Path, help="folder of a fit")
    evaluate.add_argument(
        "--system", metavar="MODULE:CLASS", help="class of the fit's system, if it is not built in"
    )
    evaluate.add_argument(
        "--steps", type=int, help="number of time steps (default: as many as the demo)"
    )
    evaluate.add_argument(
        "--runs", type=int, default=400, help="minimum number of runs of each policy"
    )
    add_seed(evaluate, default=3)
    add_threads(evaluate)
    add_output(evaluate, "that of the fit")


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Roll out learned and expert policies side by side."""
    from swarmdp.judging.evaluation import evaluate
    from swarmdp.report import fits, style
    from swarmdp.report.evaluation_page import write_evaluation_page
    from swarmdp.support import files, folders
    from swarmdp.support.saved import FIT

    if not files.exists(options.fit):
        fit_in(options.fit)  # which says so, before a folder is made
    source = options.fit / FIT.file if files.is_folder(options.fit) else options.fit
    output = options.output or source.parent
    with folders.writing(output) as place:
        result = fit_in(options.fit)
        made_from = {source.name: folders.digest_of(source)} if output == source.parent else {}
        system = system_beside(options.fit, result, options.system)
        expert = expert_beside(options.fit, system, result.settings["discount"])
        evaluation = evaluate(
            result,
            system,
            expert=expert,
            steps=options.steps,
            runs=options.runs,
            seed=options.seed,
            threads=options.threads,
        )
        written = []
        if evaluation.measures:
            written = style.save(fits.plot_evaluation(evaluation), place / "evaluation")
        page = write_evaluation_page(
            place,
            result,
            system,
            evaluation,
            expert=expert,
            seed=options.seed,
            figure=written[0] if written else None,
        )
        tables = {name: evaluation.rows(name) for name in evaluation.measures}
        summary = {
            "command": "evaluate",
            "version": __version__,
            "fit": options.fit.name,
            "steps": evaluation.steps,
            "seed": options.seed,
            "measures": {
                name: {
                    "title": measure.title,
                    "units": measure.units,
                    "runs": {
                        "expert": len(evaluation.expert[name]),
                        "learned": len(evaluation.learned[name]),
                    },
                    "over_time": [
                        {"time": t, "expert": e, "learned": m} for t, e, m in tables[name]
                    ],
                }
                for name, measure in evaluation.measures.items()
            },
            "true_distance": evaluation.distance.tolist(),
            "solutions": list(result.solutions),
            folders.DIGESTS: folders.digests(place),
            folders.MADE_FROM: made_from,
        }
        files.write_text(place / "evaluation.json", json.dumps(summary, indent=2) + "\n")
    for name, measure in evaluation.measures.items():
        print_table(
            f"{measure.label}, means over runs ± standard errors",
            ("time", "expert", "learned"),
            [
                (
                    str(t),
                    _mean(evaluation.expert[name][:, t]),
                    _mean(evaluation.learned[name][:, t]),
                )
                for t, _, _ in tables[name]
            ],
        )
    distance = evaluation.distance.mean()
    print(f"distance of the learned to the expert's feature expectations: {distance:.3g}")
    if options.verbose:
        for name in (*(path.name for path in written), "evaluation.json"):
            print(f"  {output / name}")
    print(f"look at {page_address(output / page.name)}")
    return {**summary, "folder": str(output)}


def _mean(values: Any) -> str:
    """The mean over runs with its standard error; alone if there is only one run."""
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
    return with_error(float(values.mean()), error)
