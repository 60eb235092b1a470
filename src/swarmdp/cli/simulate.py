"""`swarmdp simulate`: the expert swarm, drawn and measured."""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import add_command, add_output, add_seed, add_threads, print_table
from swarmdp.cli.systems import (
    add_steps,
    add_system,
    build,
    chosen_system,
    default_steps,
    expert_for,
)
from swarmdp.support.progress import working
from swarmdp.support.rounding import with_error


def add(commands: Any, system: str | None) -> None:
    """Add the command and its options."""
    simulate = add_command(
        commands,
        "simulate",
        _run,
        summary="simulate the expert swarm, and draw it and its measures over time",
        description="Simulate the expert swarm of a system; writes trajectory.nc, measure.nc, "
        "figures and summary.json to a folder.",
    )
    group = simulate.add_argument_group("the simulation")
    add_steps(group)
    group.add_argument("--runs", type=int, default=400, help="number of independent runs")
    group.add_argument(
        "--save-runs", type=int, default=1, help="number of runs to keep in trajectory.nc"
    )
    add_seed(group)
    add_threads(group)
    add_output(group, "runs/SYSTEM")
    add_system(simulate, system)


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Simulate a system's expert, draw it, and write the results."""
    from swarmdp.judging.evaluation import shown_times
    from swarmdp.model.system import name_of
    from swarmdp.model.traits import measures_of, settings_of
    from swarmdp.simulation.rollout import rollout
    from swarmdp.support import files, folders
    from swarmdp.support.errors import InvalidInput

    system = build(options, "simulate")
    name = name_of(system).lower()
    if not 1 <= options.save_runs <= options.runs:
        raise InvalidInput(
            f"--save-runs must be from 1 to the number of runs {options.runs}, "
            f"got {options.save_runs}"
        )
    output = options.output or Path("runs") / name
    with folders.writing(output) as place:
        expert = expert_for(system)
        steps = default_steps(system) if options.steps is None else options.steps
        measures = measures_of(system)
        began = time.perf_counter()
        common = {"steps": steps, "seed": options.seed, "threads": options.threads}
        written, measured = [], {}
        if measures:
            rolled = rollout(system, expert, runs=options.runs, record=list(measures), **common)
            written.append(rolled.save(place / "measure.nc"))
            measured = {key: rolled[key] for key in measures}
        trajectory = rollout(system, expert, runs=options.save_runs, **common)
        seconds = time.perf_counter() - began
        written.append(trajectory.save(place / "trajectory.nc"))
        with working("drawing the swarm"):
            written += _draw(system, trajectory, measured, place / name)
        tables = {}
        for key, values in measured.items():
            error = values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
            tables[key] = [
                (t, float(values[:, t].mean()), None if error is None else float(error[t]))
                for t in shown_times(steps)
            ]
        summary = {
            "command": f"simulate {chosen_system(options)}",
            "version": __version__,
            "system": name_of(system),
            "settings": settings_of(system),
            "policy": "expert",
            "steps": steps,
            "runs": options.runs,
            "seed": options.seed,
            "seconds": round(seconds, 3),
            "measures": {
                key: {
                    "title": measures[key].title,
                    "units": measures[key].units,
                    "over_time": [
                        {"time": t, "mean": mean, "standard_error": error}
                        for t, mean, error in rows
                    ],
                }
                for key, rows in tables.items()
            },
            "files": sorted(path.name for path in written),
            folders.DIGESTS: folders.digests(place),
        }
        files.write_text(place / "summary.json", json.dumps(summary, indent=2) + "\n")
    for key, rows in tables.items():
        print_table(
            f"{measures[key].title} of the expert swarm, {options.runs} runs",
            ("time", f"{measures[key].label}, ± standard error"),
            [(str(t), with_error(mean, error)) for t, mean, error in rows],
        )
    print(f"simulated and recorded in {seconds:.1f} s")
    for name in (*(path.name for path in written), "summary.json"):
        print(f"  {output / name}")
    return {**summary, "folder": str(output)}


def _draw(system: Any, trajectory: Any, measured: Any, path: Path) -> list[Path]:
    """Draw the swarm and its main measure over time, if the system has a picture."""
    from swarmdp.model.traits import Pictured
    from swarmdp.report import gridworlds, style, swarms
    from swarmdp.report.scenes import Scene
    from swarmdp.systems.gridworld import Gridworld

    main: Any = next(iter(measured.values()), None)
    if isinstance(system, Gridworld):
        return style.save(gridworlds.gridworld_paths_figure(system, trajectory, main), path)
    if not isinstance(system, Pictured):
        print("no figure: the system has no method picture(swarm, run)")
        return []
    pictured: Any = system
    scene = Scene(pictured, {"expert": trajectory})
    return style.save(swarms.swarm_figure(scene, main), path)
