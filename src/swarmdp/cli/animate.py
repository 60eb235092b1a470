"""`swarmdp animate`: a swarm in motion, as a file."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from swarmdp.cli.common import add_command, add_seed
from swarmdp.cli.fit_folders import (
    add_experiment,
    analysis_in,
    expert_beside,
    fit_in,
    system_beside,
)
from swarmdp.cli.systems import (
    add_steps,
    add_system,
    build,
    chosen_system,
    class_of,
    default_steps,
    expert_for,
    given_fields,
)
from swarmdp.support import files


def add(commands: Any, system: str | None) -> None:
    """Add the command and its options."""
    animate = add_command(
        commands,
        "animate",
        _run,
        summary="show the expert swarm in motion, and a learned one beside it",
        description="Show the expert swarm of a system in motion (swarmdp animate vicsek), or the "
        "learned swarm of a fit beside its expert (swarmdp animate --fit DIR): both start from "
        "the same state with the same random numbers. The file's ending chooses the format: "
        ".gif, .mp4 (needs ffmpeg) or .html (a player that opens in a browser).",
    )
    group = animate.add_argument_group("the animation")
    group.add_argument("--fit", type=Path, metavar="DIR", help="folder of the fit to show")
    add_experiment(group)
    add_steps(group)
    group.add_argument(
        "--fps", type=int, help="time steps per second (default: what suits the system)"
    )
    add_seed(group, default=3)
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write: .gif, .mp4 or .html (default: runs/SYSTEM.gif)",
    )
    add_system(animate, system)


def _run(options: argparse.Namespace) -> None:
    """Roll out the swarms and write the animation."""
    from swarmdp.model.system import name_of
    from swarmdp.model.trajectory import Trajectory
    from swarmdp.report.animation import animate, check_format

    check_format(options.output or Path("swarm.gif"))
    initial = None
    if options.fit is None:
        system = build(options, "animate")
        swarms = {"expert": expert_for(system)}
    else:
        system, swarms = _policies_of_fit(options)
    steps = default_steps(system) if options.steps is None else options.steps
    expert: Any = swarms["expert"]
    if isinstance(expert, Trajectory):
        steps = min(steps, expert.steps) if options.steps is None else steps
        swarms["expert"] = expert.only(0)
        initial = _start_of(system, expert.only(0))
    name = name_of(system)
    output = options.output or Path("runs") / f"{name.lower()}.gif"
    files.check_writable(output)
    scene = animate(
        output,
        system,
        swarms,
        steps=steps,
        seed=options.seed,
        initial=initial,
        frames_per_second=options.fps,
        title=f"{name}: {' and '.join(swarms)} swarm",
    )
    if scene.measure is not None:
        for label in swarms:
            first, last = scene.reading(label, 0), scene.reading(label, steps)
            print(f"{label}: {scene.measure.label} from {first} to {last} in {steps} steps")
    print(f"  {output}  {output.stat().st_size / 1e6:.1f} MB")


def _policies_of_fit(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The system of a fit, and the policies that are shown side by side."""
    from swarmdp.policies.replicas import select_replicas
    from swarmdp.support.errors import InvalidInput

    result = fit_in(options.fit, options.experiment)
    name = chosen_system(options)
    if name is not None and class_of(name).__name__ != result.system_name:
        raise InvalidInput(f"{options.fit} is a fit of {result.system_name}, not of {name}")
    if given_fields(options):
        raise InvalidInput(
            f"{options.fit} brings its system with it: leave the options of the system out"
        )
    system = system_beside(options.fit, result, options.system)
    chosen = slice(options.experiment, options.experiment + 1)
    expert = expert_beside(options.fit, system, result.settings["discount"])
    analysis = analysis_in(options.fit)
    if analysis is not None:
        # What an analysis learned is the controller that was judged. Its agents observe something
        # else than those of the swarm that was recorded, so only states are shown.
        controlled = analysis.controlled_swarm
        states = {name: expert.variables[name] for name in controlled.fields}
        recorded = replace(expert, variables=states)
        return controlled, {"expert": recorded, "learned": controlled.expert}
    return system, {"expert": expert, "learned": select_replicas(result.policy, chosen)}


def _start_of(system: Any, expert: Any) -> dict[str, Any]:
    """The first state of a recording."""
    from swarmdp.irl.frames import states_over

    return dict(next(states_over(system, expert)))
