"""`swarmdp evaluate`: a learned policy beside the expert."""

import argparse
import json
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import HelpFormatter, progress_bar, show_columns, shown_times
from swarmdp.cli.systems import SYSTEMS, system_of


def add(commands: Any) -> None:
    """Add the command and its options."""
    evaluate = commands.add_parser(
        "evaluate",
        help="roll out a learned policy beside the expert's",
        description="Roll out the policy of a fit beside the expert's: measure over time, "
        "distance of feature expectations, figure and evaluation.json in the fit's folder.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    evaluate.set_defaults(command=_run)
    evaluate.add_argument("fit", type=Path, help="folder of a fit")
    evaluate.add_argument("--steps", type=int, help="time steps; those of the demo if not given")
    evaluate.add_argument("--runs", type=int, default=400, help="runs of each, at least")
    evaluate.add_argument("--seed", type=int, default=3, help="same seed, same result")
    evaluate.add_argument("--threads", type=int, help="threads to use; all cores if not given")
    evaluate.add_argument("-o", "--output", type=Path, help="folder; the fit's own if not given")


def _run(options: argparse.Namespace) -> None:
    """Roll out learned and expert policies side by side."""
    import numpy as np

    from swarmdp import files
    from swarmdp.errors import InvalidInput
    from swarmdp.irl.result import Result, load
    from swarmdp.report import fits, style
    from swarmdp.simulation import DiscountedFeatures, rollout

    result = load(options.fit)
    if not isinstance(result, Result):
        raise InvalidInput(f"{options.fit} is not a fit: give the folder that swarmdp fit wrote")
    system = system_of(result)
    choice = SYSTEMS[result.system.lower()]
    output = options.output or (options.fit if options.fit.is_dir() else options.fit.parent)
    steps = options.steps if options.steps is not None else result.settings["steps"] or choice.steps
    each = max(1, -(-options.runs // result.replicas))
    record = {
        "measure": getattr(system, choice.measure),
        "mu": DiscountedFeatures(result.settings["discount"]),
    }
    common: dict[str, Any] = {"steps": steps, "record": record, "threads": options.threads}
    with progress_bar("expert") as progress:
        expert = rollout(
            system,
            choice.expert(system, result.settings["discount"]),
            runs=options.runs,
            seed=options.seed,
            progress=progress,
            **common,
        )
    with progress_bar("learned") as progress:
        learned = rollout(
            system,
            result.policy,
            runs=each * result.replicas,
            seed=options.seed + 1,
            progress=progress,
            **common,
        )
    mu = learned["mu"].reshape(each, result.replicas, -1).mean(axis=0)
    distance = np.linalg.norm(mu - expert["mu"].mean(axis=0), axis=1)
    figure = fits.comparison_figure(
        expert["measure"].astype(float),
        learned["measure"].astype(float),
        choice.measure_title,
        spread=system.n_agents > 1,
    )
    written = style.save(figure, output / "evaluation")
    rows = [
        (t, float(expert["measure"][:, t].mean()), float(learned["measure"][:, t].mean()))
        for t in shown_times(steps)
    ]
    summary = {
        "command": "evaluate",
        "version": __version__,
        "fit": options.fit.name,
        "steps": steps,
        "runs": {"expert": options.runs, "learned": each * result.replicas},
        "seed": options.seed,
        "measure": choice.measure,
        "over_time": [{"time": t, "expert": e, "learned": m} for t, e, m in rows],
        "true_distance": distance.tolist(),
        "solutions": list(result.solutions),
    }
    files.write_text(output / "evaluation.json", json.dumps(summary, indent=2) + "\n")
    show_columns(
        f"{choice.measure_title}, mean of {options.runs} runs or more",
        ("time", "expert", "learned"),
        [(str(t), f"{e:.6g}", f"{m:.6g}") for t, e, m in rows],
    )
    print(f"distance of the learned to the expert's feature expectations: {distance.mean():.3g}")
    for path in (*written, output / "evaluation.json"):
        print(f"  {path}")
