"""`swarmdp animate`: a swarm in motion, as a file."""

import argparse
from pathlib import Path
from typing import Any

from swarmdp.cli.common import HelpFormatter, progress_bar
from swarmdp.cli.systems import SYSTEMS, add_systems, system_of

SUFFIXES = (".gif", ".mp4", ".html")
SWARMS = ("vicsek", "ising")  # that can be drawn; a gridworld has one agent


def add(commands: Any) -> None:
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
    _add_options(animate)
    for _, choice, parser in add_systems(animate, required=False, names=SWARMS):
        parser.set_defaults(command=_run)
        choice.add_options(parser)
        for option in _add_options(parser):
            if option.default is not None:
                option.help = f"{option.help} (default: {option.default})"
            # What is not given here keeps the value given before the system's name.
            option.default = argparse.SUPPRESS


def _add_options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    group = parser.add_argument_group("the animation")
    return [
        group.add_argument(
            "--fit", type=Path, metavar="DIR", help="folder of a fit; its own system is shown"
        ),
        group.add_argument(
            "--experiment", type=int, default=0, help="which experiment of the fit, from 0"
        ),
        group.add_argument(
            "--steps", type=int, help="time steps; 100 of vicsek and 60 of ising if not given"
        ),
        group.add_argument(
            "--fps",
            type=int,
            help="time steps shown in a second; 10 of vicsek and 5 of ising if not given",
        ),
        group.add_argument("--seed", type=int, default=3, help="same seed, same result"),
        group.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help=".gif, .mp4 or .html; runs/SYSTEM.gif if not given",
        ),
    ]


def _run(options: argparse.Namespace) -> None:
    """Roll out the swarms and write them in motion."""
    from swarmdp.errors import InvalidInput
    from swarmdp.report import animation
    from swarmdp.report.page import write_player
    from swarmdp.report.player import Player, check_size
    from swarmdp.report.scenes import STEPS_PER_SECOND, Scene
    from swarmdp.simulation import rollout

    suffix = options.output.suffix.lower() if options.output else ".gif"
    if suffix not in SUFFIXES:
        raise InvalidInput(
            f"the file's name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, "
            f"got {options.output}"
        )
    if suffix == ".mp4":
        animation.find_ffmpeg()
    system, policies = _swarms(options)
    name = type(system).__name__
    steps = options.steps if options.steps is not None else SYSTEMS[name.lower()].steps
    pace = options.fps if options.fps is not None else STEPS_PER_SECOND[name]
    animation.check_frames_per_second(pace)
    if suffix == ".html":
        check_size(system, steps, len(policies))
    swarms = {
        label: rollout(system, policy, steps=steps, seed=options.seed)
        for label, policy in policies.items()
    }
    output = options.output or Path("runs") / f"{name.lower()}.gif"
    scene = Scene(system, swarms)
    if suffix == ".html":
        title = f"{name}: {' and '.join(swarms)} swarm"
        caption = f"Run of seed {options.seed}. Keys: space plays and pauses, arrow keys step."
        write_player(output, Player(name.lower(), title, caption, scene, pace))
    else:
        write = animation.write_gif if suffix == ".gif" else animation.write_mp4
        with progress_bar(f"drawing {steps + 1} frames") as progress:
            write(output, scene, pace, progress)
    for label in swarms:
        first, last = scene.reading(label, 0), scene.reading(label, steps)
        print(f"{label}: {scene.measure_name} from {first} to {last} in {steps} steps")
    print(f"  {output}  {output.stat().st_size / 1e6:.1f} MB")


def _swarms(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The system, and the policies to be shown beside each other."""
    from swarmdp.errors import InvalidInput
    from swarmdp.irl.result import Result, load
    from swarmdp.policies import Policy, SoftPolicy

    given = SYSTEMS[options.system].build(options) if options.system else None
    if options.fit is None:
        if given is None:
            raise InvalidInput("animate needs a system (swarmdp animate vicsek) or --fit DIR")
        return given, {"expert": given.expert}
    result = load(options.fit)
    if not isinstance(result, Result):
        raise InvalidInput(f"{options.fit} is not a fit: give the folder that swarmdp fit wrote")
    system = system_of(result)
    if result.system.lower() not in SWARMS:
        raise InvalidInput(
            f"{options.fit} is a fit of {result.system}, which is no swarm to be watched: "
            "swarmdp evaluate shows what was learned"
        )
    if given is not None and type(given) is not type(system):
        raise InvalidInput(f"{options.fit} is a fit of {result.system}, not of {options.system}")
    if given is not None and given not in (system, type(system)()):
        raise InvalidInput(
            f"{options.fit} is shown with its own system: leave the options of the swarm away"
        )
    if not 0 <= options.experiment < result.replicas:
        raise InvalidInput(
            f"--experiment must be from 0 to {result.replicas - 1}, got {options.experiment}"
        )
    policy = result.policy
    learned = (
        SoftPolicy(policy.probabilities[options.experiment])
        if isinstance(policy, SoftPolicy)
        else Policy(policy.table[options.experiment])
    )
    return system, {"expert": system.expert, "learned": learned}
