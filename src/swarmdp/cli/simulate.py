"""`swarmdp simulate`: the expert swarm, drawn and measured."""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import add_common_options, progress_bar, show_columns, shown_times
from swarmdp.cli.systems import SYSTEMS, add_systems

DISCOUNT = 0.9  # for which the expert of a gridworld is optimal


def add(commands: Any) -> None:
    """Add the command and its options."""
    simulate = commands.add_parser(
        "simulate",
        help="simulate the expert swarm, draw it and its measure over time",
        description="Simulate the expert swarm of a system; leave trajectory.nc, measure.nc, "
        "figures and summary.json in a folder.",
        allow_abbrev=False,
    )
    for _, choice, parser in add_systems(simulate, required=True):
        parser.set_defaults(command=_run)
        choice.add_options(parser)
        group = parser.add_argument_group("the simulation")
        group.add_argument("--steps", type=int, default=choice.steps, help="time steps")
        group.add_argument("--runs", type=int, default=400, help="independent runs")
        group.add_argument(
            "--save-runs", type=int, default=1, help="runs whose states go into trajectory.nc"
        )
        add_common_options(group, "runs/SYSTEM")


def _run(options: argparse.Namespace) -> None:
    """Simulate a system's expert, draw it, and write what came of it."""
    from swarmdp import files
    from swarmdp.errors import InvalidInput
    from swarmdp.simulation import rollout
    from swarmdp.system import settings_of

    name, choice = options.system, SYSTEMS[options.system]
    system, measure, title = choice.build(options), choice.measure, choice.measure_title
    if not 1 <= options.save_runs <= options.runs:
        raise InvalidInput(
            f"--save-runs must be from 1 to the number of runs {options.runs}, "
            f"got {options.save_runs}"
        )
    output = options.output or Path("runs") / name
    expert = choice.expert(system, DISCOUNT)
    began = time.perf_counter()
    common = {"steps": options.steps, "seed": options.seed, "threads": options.threads}
    with progress_bar(f"simulating {options.runs} runs of {name}") as progress:
        measured = rollout(
            system,
            expert,
            runs=options.runs,
            record=getattr(system, measure),
            progress=progress,
            **common,
        )
    trajectory = rollout(system, expert, runs=options.save_runs, **common)
    seconds = time.perf_counter() - began

    from swarmdp.report import gridworlds, style, swarms

    figures: dict[str, Any] = {
        "vicsek": swarms.vicsek_figure,
        "ising": swarms.ising_figure,
        "gridworld": gridworlds.paths_figure,
    }
    draw = figures[name]
    values = measured[measure]
    written = [
        trajectory.save(output / "trajectory.nc"),
        measured.save(output / "measure.nc"),
        *style.save(draw(system, trajectory, values), output / name),
    ]
    rows = [
        (t, float(values[:, t].mean()), float(values[:, t].std(ddof=1) / math.sqrt(len(values))))
        if len(values) > 1
        else (t, float(values[0, t]), math.nan)
        for t in shown_times(options.steps)
    ]
    summary = {
        "command": f"simulate {name}",
        "version": __version__,
        "system": type(system).__name__,
        "settings": settings_of(system),
        "policy": "expert",
        "steps": options.steps,
        "runs": options.runs,
        "seed": options.seed,
        "seconds": round(seconds, 3),
        "measure": measure,
        "over_time": [
            {"time": t, "mean": mean, "standard_error": None if math.isnan(error) else error}
            for t, mean, error in rows
        ],
        "files": sorted(path.name for path in written),
    }
    files.write_text(output / "summary.json", json.dumps(summary, indent=2) + "\n")
    show_columns(
        f"{title} of the expert swarm, {options.runs} runs",
        ("time", title, "standard error"),
        [
            (str(t), f"{mean:.6g}", "–" if math.isnan(error) else f"{error:.2g}")
            for t, mean, error in rows
        ],
    )
    print(f"simulated and recorded in {seconds:.1f} s")
    for path in (*written, output / "summary.json"):
        print(f"  {path}")
