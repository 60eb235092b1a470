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
from swarmdp.cli.common import HelpFormatter, add_common_options, progress_bar
from swarmdp.cli.systems import SYSTEMS, add_systems, system_of

MOST_COLUMNS = 10  # of a grid that is shown on the terminal


def add(commands: Any) -> None:
    """Add the command and its options."""
    fit = commands.add_parser(
        "fit",
        help="learn the reward behind a swarm's behaviour, and a policy that reproduces it",
        description="Learn from one trajectory of the expert (swarmdp fit vicsek), or from a "
        "recording (swarmdp fit --demo FILE). Leaves result.nc, demo.nc, figures and "
        "summary.json in a folder. Ctrl-C keeps what is done; --resume goes on.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    fit.set_defaults(command=_run)
    fit.add_argument("--demo", type=Path, help="recorded trajectory (NetCDF) to learn from")
    _add_fit_options(fit)
    for _, choice, parser in add_systems(fit, required=False):
        parser.set_defaults(command=_run)
        choice.add_options(parser)
        parser.add_argument("--demo-steps", type=int, default=100, help="steps of the demo")
        parser.add_argument(
            "--demo-runs", type=int, default=choice.demo_runs, help="runs of the demo"
        )
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
        group.add_argument(
            "--update",
            default="max_margin",
            help="reward update: max_margin, projection, ng_russell, mwal, maxent, "
            "policy_matching or bayesian",
        ),
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
    from swarmdp.checks import check_discount
    from swarmdp.errors import InvalidInput
    from swarmdp.fitting import FitInterrupted, fit
    from swarmdp.irl.evidence import needs_of
    from swarmdp.irl.result import load
    from swarmdp.irl.updates import named
    from swarmdp.simulation import rollout

    if (options.demo is None) == (options.system is None):
        raise InvalidInput("fit needs a system (swarmdp fit vicsek) or --demo FILE, and not both")
    if options.demo is not None:
        demo = load(options.demo)
        system = system_of(demo)
    else:
        choice = SYSTEMS[options.system]
        system = choice.build(options)
        check_discount(options.discount)
        demo = rollout(
            system,
            choice.expert(system, options.discount),
            steps=options.demo_steps,
            runs=options.demo_runs,
            seed=options.demo_seed,
            record=["states", "actions"] if needs_of(named(options.update)) else "states",
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
        "reward_error": None if result.reward_error is None else result.reward_error.tolist(),
        "seconds": round(seconds, 3),
        "files": sorted(path.name for path in written),
    }
    files.write_text(output / "summary.json", json.dumps(summary, indent=2) + "\n")
    Console().print(_grid_table(result) if result.system == "Gridworld" else _table(result))
    print(result)
    print(f"learned in {seconds:.1f} s")
    for path in (*written, output / "summary.json"):
        print(f"  {path}")


def _table(result: Any) -> Any:
    """The reward of each observation and what the policy does there."""
    from rich.table import Table

    mean, error = result.reward.weights.mean(axis=0), result.reward_error
    actions = system_of(result).actions[result.policy.table[0]]
    shown = (
        [f"{v:+.0f}°" for v in _degrees(actions)]
        if result.system == "Vicsek"
        else ["flip" if a else "keep" for a in actions]
    )
    rewards = [f"{weight:+.3f}" for weight in mean]
    if error is not None and len(error) == 1:
        rewards = [f"{r} ± {e:.3f}" for r, e in zip(rewards, error[0], strict=True)]
    unit = "°" if result.observation_units == "degrees" else ""
    table = Table(result.observation_name, "reward", "policy", title="learned reward and policy")
    for value, reward, action in zip(result.observation, rewards, shown, strict=True):
        table.add_row(f"{value:+.0f}{unit}" if unit else f"{value:.0f}", reward, action)
    for column in table.columns:
        column.justify = "right"
    return table


def _grid_table(result: Any) -> Any:
    """The grid with the reward of each cell, its error, and the move that the policy makes."""
    import numpy as np
    from rich.table import Table

    from swarmdp.rewards import Reward
    from swarmdp.systems.gridworld import MOVE_NAMES

    grid = system_of(result)
    if grid.columns > MOST_COLUMNS:
        return f"learned reward and policy of {grid.rows} x {grid.columns} cells: see the figure"
    rewards = result.reward.of_classes(grid).mean(axis=0).reshape(grid.shape)
    moves = result.policy.table[0].reshape(grid.shape)
    cells = [
        [f"{r:+.2f} {MOVE_NAMES[a]}" for r, a in zip(*row, strict=True)]
        for row in zip(rewards, moves, strict=True)
    ]
    error = result.reward_error
    known = error is not None and len(error) == 1 and np.isfinite(error).all()
    if known:
        errors = Reward(error[0]).of_classes(grid)[0].reshape(grid.shape)
        # On a line of its own, so that a grid of ten columns still fits a terminal.
        cells = [
            [f"{cell}\n±{e:.2f}" for cell, e in zip(*row, strict=True)]
            for row in zip(cells, errors, strict=True)
        ]
    below = " (± its error)" if known else ""
    table = Table(
        *(f"x = {x}" for x in range(grid.columns)),
        title=f"learned reward{below} and policy, y from top to bottom",
        show_lines=known,
    )
    for row in reversed(cells):
        table.add_row(*row)
    return table


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
                f"iteration {progress.iteration} of {progress.iterations}  "
                f"distance {progress.distance:.3f}  margin {progress.margin:.3f}",
            )

        yield show
