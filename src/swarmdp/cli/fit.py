"""`swarmdp fit`: learn the reward behind a behaviour."""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import add_common_options, progress_bar
from swarmdp.cli.systems import SYSTEMS, add_systems, system_of


def add(commands: Any) -> None:
    """Add the command and its options."""
    fit = commands.add_parser(
        "fit",
        help="learn the reward behind a swarm's behaviour, and a policy that reproduces it",
        description="Learn from one trajectory of the expert (swarmdp fit vicsek), or from a "
        "recording (swarmdp fit --demo FILE). Leaves result.nc, demo.nc, figures and "
        "summary.json in a folder. Ctrl-C keeps what is done; --resume goes on.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    fit.set_defaults(command=_run)
    fit.add_argument("--demo", type=Path, help="recorded trajectory (NetCDF) to learn from")
    _add_fit_options(fit)
    for _, choice, parser in add_systems(fit, required=False):
        parser.set_defaults(command=_run)
        choice.add_options(parser)
        parser.add_argument("--demo-steps", type=int, default=100, help="steps of the demo")
        parser.add_argument("--demo-runs", type=int, default=1, help="runs of the demo")
        parser.add_argument("--demo-seed", type=int, default=1, help="seed of the demo")
        for option in _add_fit_options(parser):
            if option.default not in (None, False):
                option.help = f"{option.help} (default: {option.default})"
            # What is not given here keeps the value given before the system's name.
            option.default = argparse.SUPPRESS


def _add_fit_options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    group = parser.add_argument_group("the fit")
    return [
        group.add_argument("--iterations", type=int, default=20, help="of Algorithm 1"),
        group.add_argument("--discount", type=float, default=0.9, help="discount factor gamma"),
        group.add_argument(
            "--estimator",
            choices=["swarm", "single"],
            default="swarm",
            help="feature expectations from the whole swarm or from a single agent",
        ),
        group.add_argument("--update", default="max_margin", help="reward update"),
        group.add_argument("--preset", choices=["paper"], help="follow the paper to the letter"),
        group.add_argument(
            "--separate", action="store_true", help="each run of the demo is its own experiment"
        ),
        group.add_argument(
            "--resume", action="store_true", help="go on with the fit in the output folder"
        ),
        *add_common_options(group, "runs/fit-SYSTEM"),
    ]


def _run(options: argparse.Namespace) -> None:
    """Learn a reward and a policy, draw them, and write what came of it."""
    from swarmdp.errors import InvalidInput
    from swarmdp.fitting import FitInterrupted, fit
    from swarmdp.irl.result import load
    from swarmdp.simulation import rollout

    if (options.demo is None) == (options.system is None):
        raise InvalidInput("fit needs a system (swarmdp fit vicsek) or --demo FILE, and not both")
    if options.demo is not None:
        demo = load(options.demo)
        system = system_of(demo)
    else:
        system = SYSTEMS[options.system].build(options)
        demo = rollout(
            system,
            system.expert,
            steps=options.demo_steps,
            runs=options.demo_runs,
            seed=options.demo_seed,
            threads=options.threads,
        )
    output = options.output or Path("runs") / f"fit-{type(system).__name__.lower()}"
    earlier = load(output) if options.resume else None
    began = time.perf_counter()
    with _fit_progress(options.iterations) as progress:
        try:
            result = fit(
                system,
                demo,
                seed=options.seed,
                estimator=options.estimator,
                update=options.update,
                iterations=options.iterations,
                discount=options.discount,
                preset=options.preset,
                separate=options.separate,
                threads=options.threads,
                progress=progress,
                resume=earlier,
                checkpoint=output,
            )
            interrupted = False
        except FitInterrupted as stop:
            result, interrupted = stop.result, True
    seconds = time.perf_counter() - began
    _report_fit(result, demo, output, seconds)
    if interrupted:
        print(f"interrupted after {len(result.iterations)} iterations; --resume goes on")
        raise KeyboardInterrupt


def _report_fit(result: Any, demo: Any, output: Path, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from swarmdp import files
    from swarmdp.report import fits, style

    written = [
        result.save(output),
        demo.save(output / "demo.nc"),
        *style.save(fits.reward_figure(result), output / "reward"),
        *style.save(fits.convergence_figure(result), output / "convergence"),
    ]
    weights = result.reward.weights
    summary = {
        "command": "fit",
        "version": __version__,
        "system": result.system,
        "system_settings": dict(result.system_settings),
        "settings": dict(result.settings),
        "seed": result.seed,
        "experiments": result.replicas,
        "iterations": len(result.iterations),
        "chosen_iteration": result.chosen.tolist(),
        "distance": result.distance.tolist(),
        "margin": result.margin.tolist(),
        "solutions": list(result.solutions),
        "observation": result.observation.tolist(),
        "observation_units": result.observation_units,
        "reward_mean": weights.mean(axis=0).tolist(),
        "seconds": round(seconds, 3),
        "files": sorted(path.name for path in written),
    }
    files.write_text(output / "summary.json", json.dumps(summary, indent=2) + "\n")
    table = Table(result.observation_name, "reward", "policy", title="learned reward and policy")
    system = system_of(result)
    mean = weights.mean(axis=0)
    actions = system.actions[result.policy.table[0]]
    shown = (
        [f"{v:+.0f}°" for v in _degrees(actions)]
        if result.system == "Vicsek"
        else ["flip" if a else "keep" for a in actions]
    )
    unit = "°" if result.observation_units == "degrees" else ""
    for value, weight, action in zip(result.observation, mean, shown, strict=True):
        table.add_row(f"{value:+.0f}{unit}" if unit else f"{value:.0f}", f"{weight:+.3f}", action)
    for column in table.columns:
        column.justify = "right"
    Console().print(table)
    print(result)
    print(f"learned in {seconds:.1f} s")
    for path in (*written, output / "summary.json"):
        print(f"  {path}")


def _degrees(angles: Any) -> list[float]:
    return [math.degrees(angle) for angle in angles]


@contextmanager
def _fit_progress(iterations: int) -> Iterator[Callable[[Any], None] | None]:
    """A bar with iteration, distance, margin and the time left, on a terminal."""
    with progress_bar("learning") as bar:
        if bar is None:
            yield None
            return

        def show(progress: Any) -> None:
            bar(
                progress.iteration,
                progress.iterations,
                f"learning  distance {progress.distance:.3f}  margin {progress.margin:.3f}",
            )

        yield show
