"""The command `swarmdp`.

Plain argparse: it starts at once, takes options before and after the system's name, and answers
a wrong argument with one line. Heavy modules are imported by the command that needs them.
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
    _add_bench(commands)
    _add_info(commands)
    return parser


def _add_simulate(commands: Any) -> None:
    simulate = commands.add_parser(
        "simulate",
        help="simulate the expert swarm, draw it and its measure over time",
        description="Simulate the expert swarm of a system; leave trajectory.nc, measure.nc, "
        "figures and summary.json in a folder.",
        allow_abbrev=False,
    )
    systems = simulate.add_subparsers(title="systems", required=True, metavar="SYSTEM")

    vicsek = systems.add_parser(
        "vicsek",
        help="self-propelled particles that align with their neighbours",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    vicsek.set_defaults(command=_simulate_vicsek)
    group = vicsek.add_argument_group("the swarm (the defaults are the paper's)")
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
    _add_simulation_options(vicsek, steps=100)

    ising = systems.add_parser(
        "ising",
        help="spins on a grid that follow the majority of their neighbours",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    ising.set_defaults(command=_simulate_ising)
    group = ising.add_argument_group("the grid (the defaults are the paper's)")
    group.add_argument("--rows", type=int, default=100, help="rows of the grid")
    group.add_argument("--columns", type=int, default=100, help="columns of the grid")
    group.add_argument("--reach", type=int, default=2, help="Chebyshev radius of neighbourhoods")
    group.add_argument("--periodic", action="store_true", help="the grid's edges meet")
    group.add_argument(
        "--magnetisation", type=float, default=0.0, help="expected mean of the initial spins"
    )
    _add_simulation_options(ising, steps=60)


def _add_simulation_options(parser: argparse.ArgumentParser, steps: int) -> None:
    group = parser.add_argument_group("the simulation")
    group.add_argument("--steps", type=int, default=steps, help="time steps")
    group.add_argument("--runs", type=int, default=400, help="independent runs")
    group.add_argument(
        "--save-runs", type=int, default=1, help="runs whose states go into trajectory.nc"
    )
    group.add_argument("--seed", type=int, default=1, help="same seed, same result")
    group.add_argument("--threads", type=int, help="threads to use; all cores if not given")
    group.add_argument(
        "-o", "--output", type=Path, help="folder for the results; runs/SYSTEM if not given"
    )


def _simulate_vicsek(options: argparse.Namespace) -> None:
    from swarmdp.systems.vicsek import Vicsek

    system = Vicsek(
        n_agents=options.n_agents,
        radius=options.radius,
        speed=options.speed,
        noise=math.radians(options.noise),
        box=options.box,
        n_bins=options.n_bins,
        periodic=not options.open,
        nearest=options.nearest,
    )

    def draw(*args: Any) -> Any:
        from swarmdp.report.swarms import vicsek_figure

        return vicsek_figure(system, *args)

    _simulate("vicsek", system, "order", "order parameter", draw, options)


def _simulate_ising(options: argparse.Namespace) -> None:
    from swarmdp.systems.ising import Ising

    system = Ising(
        (options.rows, options.columns), options.reach, options.periodic, options.magnetisation
    )

    def draw(*args: Any) -> Any:
        from swarmdp.report.swarms import ising_figure

        return ising_figure(system, *args)

    _simulate("ising", system, "energy", "global energy", draw, options)


def _simulate(
    name: str,
    system: Any,
    measure: str,
    title: str,
    draw: Callable[..., Any],
    options: argparse.Namespace,
) -> None:
    """Simulate a system's expert, draw it, and write what came of it."""
    from swarmdp import files
    from swarmdp.errors import InvalidInput
    from swarmdp.model import settings_of
    from swarmdp.simulation import rollout

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

    from swarmdp.report import style

    values = measured[measure]
    written = [
        trajectory.save(output / "trajectory.nc"),
        measured.save(output / "measure.nc"),
        *style.save(draw(trajectory, values), output / name),
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
    _show_table(f"{title} of the expert swarm, {options.runs} runs", title, rows)
    print(f"simulated and recorded in {seconds:.1f} s")
    for path in (*written, output / "summary.json"):
        print(f"  {path}")


def _shown_times(steps: int) -> list[int]:
    return sorted({0, *(t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if t < steps), steps})


def _show_table(heading: str, title: str, rows: list[tuple[int, float, float]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("time", title, "standard error", title=heading, title_justify="left")
    for column in table.columns:
        column.justify = "right"
    for t, mean, error in rows:
        table.add_row(str(t), f"{mean:.6g}", "–" if math.isnan(error) else f"{error:.2g}")
    Console().print(table)


@contextmanager
def _progress(description: str) -> Iterator[Callable[[int, int], None] | None]:
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
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _add_bench(commands: Any) -> None:
    bench = commands.add_parser(
        "bench",
        help="measure the simulator against its peers",
        description="Measure the simulator against its peers in one process, as ratios; print a "
        "table and write bench.json. Takes several minutes; close other programs first.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    bench.set_defaults(command=_bench)
    bench.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each workload")
    bench.add_argument("--only", nargs="+", default=[], metavar="WORKLOAD", help="just these")
    bench.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    bench.add_argument(
        "-o", "--output", type=Path, default=Path("runs/bench"), help="folder for bench.json"
    )


def _bench(options: argparse.Namespace) -> None:
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
