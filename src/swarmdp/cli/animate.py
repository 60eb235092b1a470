"""`swarmdp animate`: a swarm in motion, as a file."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter, expert_beside, fit_in, system_beside
from swarmdp.cli.systems import (
    add_system,
    build,
    class_of,
    expert_of,
    given_fields,
    name_given,
    steps_for,
)
from swarmdp.support import files

DISCOUNT = 0.9  # for which the expert of a gridworld is optimal


def add(commands: Any, system: str | None) -> None:
    """Add the command and its options."""
    animate = commands.add_parser(
        "animate",
        help="show the expert swarm in motion, and a learned one beside it",
        description="Show the expert swarm of a system in motion (swarmdp animate vicsek), or the "
        "learned swarm of a fit beside its expert (swarmdp animate --fit DIR): both start from "
        "the same state and meet the same noise. The file's name says what it becomes: .gif, "
        ".mp4 (needs ffmpeg) or .html (a player that opens in a browser).",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    animate.set_defaults(command=_run)
    group = animate.add_argument_group("the animation")
    group.add_argument(
        "--fit", type=Path, metavar="DIR", help="folder of a fit, shown with its own settings"
    )
    group.add_argument(
        "--experiment", type=int, default=0, help="which experiment of the fit, from 0"
    )
    group.add_argument(
        "--steps", type=int, help="time steps; 60 of ising, 100 of others if not given"
    )
    group.add_argument(
        "--fps", type=int, help="time steps shown in a second; as the system says if not given"
    )
    group.add_argument("--seed", type=int, default=3, help="same seed, same result")
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=".gif, .mp4 or .html; runs/SYSTEM.gif if not given",
    )
    add_system(animate, system)


def _run(options: argparse.Namespace) -> None:
    """Roll out the swarms and write them in motion."""
    from swarmdp.judging.evaluation import own_expert
    from swarmdp.model.system import name_of
    from swarmdp.model.trajectory import Trajectory
    from swarmdp.report.animation import animate, check_format

    check_format(options.output or Path("swarm.gif"))
    initial = None
    if options.fit is None:
        system = build(options, "animate")
        swarms = {"expert": expert_of(system, DISCOUNT) or own_expert(system)}
    else:
        system, swarms = _fitted(options)
    steps = steps_for(system) if options.steps is None else options.steps
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


def _fitted(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The system of a fit, and the policies to be shown beside each other."""
    from swarmdp.policies.replicas import select_replicas
    from swarmdp.support.errors import InvalidInput

    result = fit_in(options.fit, options.experiment)
    given = name_given(options)
    if given is not None and class_of(given).__name__ != result.system_name:
        raise InvalidInput(f"{options.fit} is a fit of {result.system_name}, not of {given}")
    if given_fields(options):
        raise InvalidInput(
            f"{options.fit} is shown with its own system: leave the options of the swarm out"
        )
    system = system_beside(options.fit, result, options.system)
    chosen = slice(options.experiment, options.experiment + 1)
    expert = expert_beside(options.fit, system, result.settings["discount"])
    return system, {"expert": expert, "learned": select_replicas(result.policy, chosen)}


def _start_of(system: Any, expert: Any) -> dict[str, Any]:
    """The first state of a recording."""
    from swarmdp.irl.frames import states_over

    return dict(next(states_over(system, expert)))
