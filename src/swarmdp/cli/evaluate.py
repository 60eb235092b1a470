"""`swarmdp evaluate`: a learned policy beside the expert."""

import argparse
import json
import math
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import HelpFormatter, expert_beside, fit_in, show_columns, system_beside
from swarmdp.support.rounding import with_error


def add(commands: Any) -> None:
    """Add the command and its options."""
    evaluate = commands.add_parser(
        "evaluate",
        help="roll out a learned policy beside the expert's",
        description="Roll out the policy of a fit beside the expert's, or beside the recording "
        "that it learned from: measures over time, distance of feature expectations, figure and "
        "evaluation.json in the fit's folder.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    evaluate.set_defaults(command=_run)
    evaluate.add_argument("fit", type=Path, help="folder of a fit")
    evaluate.add_argument(
        "--system", metavar="MODULE:CLASS", help="class of the fit's system, if it is your own"
    )
    evaluate.add_argument("--steps", type=int, help="time steps; those of the demo if not given")
    evaluate.add_argument("--runs", type=int, default=400, help="runs of each, at least")
    evaluate.add_argument("--seed", type=int, default=3, help="same seed, same result")
    evaluate.add_argument("--threads", type=int, help="threads to use; all cores if not given")
    evaluate.add_argument("-o", "--output", type=Path, help="folder; the fit's own if not given")


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Roll out learned and expert policies side by side."""
    from swarmdp.judging.evaluation import evaluate
    from swarmdp.report import fits, style
    from swarmdp.support import files

    result = fit_in(options.fit)
    system = system_beside(options.fit, result, options.system)
    output = options.output or (options.fit if options.fit.is_dir() else options.fit.parent)
    files.check_folder(output)
    found = evaluate(
        result,
        system,
        expert=expert_beside(options.fit, system, result.settings["discount"]),
        steps=options.steps,
        runs=options.runs,
        seed=options.seed,
        threads=options.threads,
    )
    written = []
    if found.measures:
        written = style.save(fits.plot_evaluation(found), output / "evaluation")
    tables = {name: found.rows(name) for name in found.measures}
    summary = {
        "command": "evaluate",
        "version": __version__,
        "fit": options.fit.name,
        "steps": found.steps,
        "seed": options.seed,
        "measures": {
            name: {
                "title": measure.title,
                "units": measure.units,
                "runs": {"expert": len(found.expert[name]), "learned": len(found.learned[name])},
                "over_time": [{"time": t, "expert": e, "learned": m} for t, e, m in tables[name]],
            }
            for name, measure in found.measures.items()
        },
        "true_distance": found.distance.tolist(),
        "solutions": list(result.solutions),
    }
    files.write_text(output / "evaluation.json", json.dumps(summary, indent=2) + "\n")
    for name, measure in found.measures.items():
        show_columns(
            f"{measure.label}, means over runs ± standard errors",
            ("time", "expert", "learned"),
            [
                (str(t), _mean(found.expert[name][:, t]), _mean(found.learned[name][:, t]))
                for t, _, _ in tables[name]
            ],
        )
    print(
        f"distance of the learned to the expert's feature expectations: {found.distance.mean():.3g}"
    )
    for path in (*written, output / "evaluation.json"):
        print(f"  {path}")
    return {**summary, "folder": str(output)}


def _mean(values: Any) -> str:
    """The mean over runs with its standard error; alone if there is but one run."""
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
    return with_error(float(values.mean()), error)
