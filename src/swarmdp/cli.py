"""The command `swarmdp`.

Plain argparse: it starts at once and answers a wrong argument with one line. Heavy modules are
imported by the command that needs them.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from swarmdp._version import __version__
from swarmdp.errors import SwarmdpError

Command = Callable[[argparse.Namespace], None]


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit with 2 for bad input, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    command: Command = options.command
    try:
        command(options)
    except SwarmdpError as error:
        message = error.strerror if isinstance(error, OSError) and error.strerror else error
        sys.exit(_complain(f"swarmdp: {message}", 2))
    except KeyboardInterrupt:
        sys.exit(_complain("swarmdp: interrupted", 130))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="swarmdp",
        description="Learn the local reward behind a swarm's global behaviour.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"swarmdp {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_simulate(commands)
    _add_fit(commands)
    _add_evaluate(commands)
    _add_bench(commands)
    _add_info(commands)
    return parser


def _add_vicsek_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the swarm (the defaults are the paper's)")
    group.add_argument("--n-agents", type=int, default=200, help="number of agents")
    group.add_argument("--radius", type=float, default=0.1, help="interaction radius")
    group.add_argument("--speed", type=float, default=0.1, help="distance flown in a step")
    group.add_argument(
        "--noise", type=float, default=10.0, help="standard deviation of headings, in degrees"
    )
    group.add_argument("--box", type=float, default=1.0, help="side of the square")
    group.add_argument("--n-bins", type=int, default=36, help="classes of misalignment")
    group.add_argument("--open", action="store_true", help="open space, no periodic boundary")
    group.add_argument(
        "--nearest", type=int, help="neighbours are so many nearest agents, instead of by radius"
    )


def _vicsek(options: argparse.Namespace) -> Any:
    from swarmdp.systems.vicsek import Vicsek

    return Vicsek(
        n_agents=options.n_agents,
        radius=options.radius,
        speed=options.speed,
        noise=math.radians(options.noise),
        box=options.box,
        n_bins=options.n_bins,
        periodic=not options.open,
        nearest=options.nearest,
    )


def _add_ising_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid (the defaults are the paper's)")
    group.add_argument("--rows", type=int, default=100, help="rows of the grid")
    group.add_argument("--columns", type=int, default=100, help="columns of the grid")
    group.add_argument("--reach", type=int, default=2, help="Chebyshev radius of neighbourhoods")
    group.add_argument("--periodic", action="store_true", help="the grid's edges meet")
    group.add_argument(
        "--magnetisation", type=float, default=0.0, help="expected mean of the initial spins"
    )


def _ising(options: argparse.Namespace) -> Any:
    from swarmdp.systems.ising import Ising

    return Ising(
        (options.rows, options.columns), options.reach, options.periodic, options.magnetisation
    )


@dataclass(frozen=True)
class _Choice:
    """A system as the command line knows it."""

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    build: Callable[[argparse.Namespace], Any]
    measure: str
    measure_title: str
    steps: int


SYSTEMS = {
    "vicsek": _Choice(
        "self-propelled particles that align with their neighbours",
        _add_vicsek_options,
        _vicsek,
        "order",
        "order parameter",
        100,
    ),
    "ising": _Choice(
        "spins on a grid that follow the majority of their neighbours",
        _add_ising_options,
        _ising,
        "energy",
        "global energy",
        60,
    ),
}


def _add_systems(
    parser: argparse.ArgumentParser, required: bool
) -> Iterator[tuple[str, _Choice, argparse.ArgumentParser]]:
    systems = parser.add_subparsers(
        title="systems", required=required, metavar="SYSTEM", dest="system"
    )
    for name, choice in SYSTEMS.items():
        yield (
            name,
            choice,
            systems.add_parser(
                name,
                help=choice.summary,
                formatter_class=argparse.ArgumentDefaultsHelpFormatter,
                allow_abbrev=False,
            ),
        )


def _add_simulate(commands: Any) -> None:
    simulate = commands.add_parser(
        "simulate",
        help="simulate the expert swarm, draw it and its measure over time",
        description="Simulate the expert swarm of a system; leave trajectory.nc, measure.nc, "
        "figures and summary.json in a folder.",
        allow_abbrev=False,
    )
    for _, choice, parser in _add_systems(simulate, required=True):
        parser.set_defaults(command=_simulate)
        choice.add_options(parser)
        group = parser.add_argument_group("the simulation")
        group.add_argument("--steps", type=int, default=choice.steps, help="time steps")
        group.add_argument("--runs", type=int, default=400, help="independent runs")
        group.add_argument(
            "--save-runs", type=int, default=1, help="runs whose states go into trajectory.nc"
        )
        _add_common_options(group, "runs/SYSTEM")


def _add_common_options(group: Any, folder: str) -> list[argparse.Action]:
    return [
        group.add_argument("--seed", type=int, default=1, help="same seed, same result"),
        group.add_argument("--threads", type=int, help="threads to use; all cores if not given"),
        group.add_argument(
            "-o", "--output", type=Path, help=f"folder for the results; {folder} if not given"
        ),
    ]


def _simulate(options: argparse.Namespace) -> None:
    """Simulate a system's expert, draw it, and write what came of it."""
    from swarmdp import files
    from swarmdp.errors import InvalidInput
    from swarmdp.model import settings_of
    from swarmdp.simulation import rollout

    name, choice = options.system, SYSTEMS[options.system]
    system, measure, title = choice.build(options), choice.measure, choice.measure_title
    if not 1 <= options.save_runs <= options.runs:
        raise InvalidInput(
            f"--save-runs must be from 1 to the number of runs {options.runs}, "
            f"got {options.save_runs}"
        )
    output = options.output or Path("runs") / name
    began = time.perf_counter()
    common = {"steps": options.steps, "seed": options.seed, "threads": options.threads}
    with _progress(f"simulating {options.runs} runs of {name}") as progress:
        measured = rollout(
            system,
            system.expert,
            runs=options.runs,
            record=getattr(system, measure),
            progress=progress,
            **common,
        )
    trajectory = rollout(system, system.expert, runs=options.save_runs, **common)
    seconds = time.perf_counter() - began

    from swarmdp.report import style, swarms

    draw = swarms.vicsek_figure if name == "vicsek" else swarms.ising_figure
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
        for t in _shown_times(options.steps)
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
    _show_columns(
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


def _shown_times(steps: int) -> list[int]:
    return sorted({0, *(t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t < steps), steps})


def _show_columns(heading: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*names, min_width=len(heading), title=heading, title_justify="left")
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    Console().print(table)


@contextmanager
def _progress(description: str) -> Iterator[Callable[..., None] | None]:
    """A progress bar with the time left, on a terminal; silence elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=None)

        def show(done: int, total: int, text: str = description) -> None:
            bar.update(task, completed=done, total=total, description=text)

        yield show


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser(
        "fit",
        help="learn the reward behind a swarm's behaviour, and a policy that reproduces it",
        description="Learn from one trajectory of the expert (swarmdp fit vicsek), or from a "
        "recording (swarmdp fit --demo FILE). Leaves result.nc, demo.nc, figures and "
        "summary.json in a folder. Ctrl-C keeps what is done; --resume goes on.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    fit.set_defaults(command=_fit)
    fit.add_argument("--demo", type=Path, help="recorded trajectory (NetCDF) to learn from")
    _add_fit_options(fit)
    for _, choice, parser in _add_systems(fit, required=False):
        parser.set_defaults(command=_fit)
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
        *_add_common_options(group, "runs/fit-SYSTEM"),
    ]


def _fit(options: argparse.Namespace) -> None:
    """Learn a reward and a policy, draw them, and write what came of it."""
    from swarmdp.errors import InvalidInput
    from swarmdp.fitting import FitInterrupted, fit
    from swarmdp.irl.result import load
    from swarmdp.simulation import rollout

    if (options.demo is None) == (options.system is None):
        raise InvalidInput("fit needs a system (swarmdp fit vicsek) or --demo FILE, and not both")
    if options.demo is not None:
        demo = load(options.demo)
        system = _system_of(demo)
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


def _system_of(recorded: Any) -> Any:
    """The system that a trajectory or fit was made from, rebuilt from its settings."""
    from swarmdp.errors import InvalidInput
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek

    kinds: dict[str, Any] = {"Vicsek": Vicsek, "Ising": Ising}
    settings = getattr(recorded, "system_settings", None) or recorded.settings
    if recorded.system not in kinds:
        raise InvalidInput(
            f"it was recorded from {recorded.system}, which the command line does not know "
            f"(it knows {', '.join(kinds)}): use swarmdp.fit in Python"
        )
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    return kinds[recorded.system](**plain)


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
    system = _system_of(result)
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
    with _progress("learning") as bar:
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


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="roll out a learned policy beside the expert's",
        description="Roll out the policy of a fit beside the expert's: measure over time, "
        "distance of feature expectations, figure and evaluation.json in the fit's folder.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    evaluate.set_defaults(command=_evaluate)
    evaluate.add_argument("fit", type=Path, help="folder of a fit")
    evaluate.add_argument("--steps", type=int, help="time steps; those of the demo if not given")
    evaluate.add_argument("--runs", type=int, default=400, help="runs of each, at least")
    evaluate.add_argument("--seed", type=int, default=3, help="same seed, same result")
    evaluate.add_argument("--threads", type=int, help="threads to use; all cores if not given")
    evaluate.add_argument("-o", "--output", type=Path, help="folder; the fit's own if not given")


def _evaluate(options: argparse.Namespace) -> None:
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
    system = _system_of(result)
    choice = SYSTEMS[result.system.lower()]
    output = options.output or (options.fit if options.fit.is_dir() else options.fit.parent)
    steps = options.steps if options.steps is not None else result.settings["steps"]
    each = max(1, -(-options.runs // result.replicas))
    record = {
        "measure": getattr(system, choice.measure),
        "mu": DiscountedFeatures(result.settings["discount"]),
    }
    common: dict[str, Any] = {"steps": steps, "record": record, "threads": options.threads}
    with _progress("expert") as progress:
        expert = rollout(
            system,
            system.expert,
            runs=options.runs,
            seed=options.seed,
            progress=progress,
            **common,
        )
    with _progress("learned") as progress:
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
        expert["measure"].astype(float), learned["measure"].astype(float), choice.measure_title
    )
    written = style.save(figure, output / "evaluation")
    rows = [
        (t, float(expert["measure"][:, t].mean()), float(learned["measure"][:, t].mean()))
        for t in _shown_times(steps)
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
    _show_columns(
        f"{choice.measure_title}, mean of {options.runs} runs or more",
        ("time", "expert", "learned"),
        [(str(t), f"{e:.6g}", f"{m:.6g}") for t, e, m in rows],
    )
    print(f"distance of the learned to the expert's feature expectations: {distance.mean():.3g}")
    for path in (*written, output / "evaluation.json"):
        print(f"  {path}")


def _add_bench(commands: Any) -> None:
    bench = commands.add_parser(
        "bench",
        help="measure the simulator against its peers, or the learners against each other",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table and write bench.json. Takes several minutes; close other programs first. With "
        "--study learners: how reliably each learner finds the expert's behaviour, over many "
        "experiments (about an hour; a second start goes on where the first stopped).",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    bench.set_defaults(command=_bench)
    bench.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    bench.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="just these workloads or systems"
    )
    bench.add_argument("--study", choices=["learners"], help="this study instead")
    bench.add_argument("--experiments", type=int, default=100, help="of each row of the study")
    bench.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    bench.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for the results"
    )


def _bench(options: argparse.Namespace) -> None:
    if options.study == "learners":
        from swarmdp.benchmarks.learners import study

        study(options.output, options.experiments, options.only, options.quick)
        print(f"  {options.output / 'learners.json'}\n  {options.output / 'learners.md'}")
        return
    from swarmdp.benchmarks.run import run

    run(options.output / "bench.json", options.only, options.rounds, options.quick)


def _add_info(commands: Any) -> None:
    info = commands.add_parser(
        "info",
        help="versions, threads and where compiled code is kept",
        description="Show versions, threads and where compiled code is kept: what to add to a "
        "bug report.",
        allow_abbrev=False,
    )
    info.set_defaults(command=_info)


def _info(options: argparse.Namespace) -> None:
    from importlib.metadata import version

    from swarmdp.kernels import streams
    from swarmdp.kernels.compile import cache_directory
    from swarmdp.threads import thread_count

    packages = ("numpy", "numba", "scipy", "xarray", "h5netcdf", "matplotlib")
    rows = {
        "swarmdp": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
        "platform": platform.platform(),
        "threads": str(thread_count()),
        "compiled code": cache_directory(streams.uniform_runs),
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")
