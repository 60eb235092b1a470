"""`swarmdp fit`: learn the reward behind a behaviour."""

import argparse
import itertools
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli import fit_tracks
from swarmdp.cli.common import (
    add_command,
    add_output,
    add_seed,
    add_threads,
    page_address,
)
from swarmdp.cli.fit_folders import DEMO, earlier_fit, interrupted_fit_note
from swarmdp.cli.systems import add_system, build, class_of, expert_for, given_fields, system_of
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.support import files, folders
from swarmdp.support.progress import working
from swarmdp.support.rounding import rounded, with_error

_MOST_COLUMNS = 10  # of a grid that is printed
_MOST_ROWS = 100  # of a table that is printed
_ITERATIONS = 20  # of Algorithm 1
_RESAMPLES = 8  # fits of resampled demos, which give the reward's error
_SINGLE_AGENT_RUNS = 1000  # of the demo of a single agent; of a swarm one is enough


def add(commands: Any, system: str | None) -> None:
    """Add the command and its options."""
    fit = add_command(
        commands,
        "fit",
        _run,
        summary="learn the reward behind a swarm's behaviour, and a policy that reproduces it",
        description="Learn from runs of a system's expert (swarmdp fit vicsek), from a saved "
        "trajectory (swarmdp fit --demo FILE), or from recorded tracks of animals or robots "
        "(swarmdp fit --tracks FILE). Writes report.html, result.nc, figures, summary.json and, "
        "except for tracks, demo.nc to a folder. Ctrl-C saves the finished iterations; --resume "
        "continues.",
    )
    _add_demo(fit)
    fit_tracks.add(fit)
    _add_settings(fit)
    add_system(fit, system)


def _add_demo(fit: argparse.ArgumentParser) -> None:
    demo = fit.add_argument_group("the demo")
    demo.add_argument("--demo", type=Path, help="trajectory to learn from (NetCDF)")
    demo.add_argument(
        "--demo-steps", type=int, default=100, help="number of steps in each run of the expert"
    )
    demo.add_argument(
        "--demo-runs",
        type=int,
        help=f"number of runs of the expert (default: 1; {_SINGLE_AGENT_RUNS} for a single agent)",
    )
    demo.add_argument("--demo-seed", type=int, default=1, help="seed of the expert's runs")


def _add_settings(fit: argparse.ArgumentParser) -> None:
    group = fit.add_argument_group("the fit")
    group.add_argument(
        "--iterations",
        type=int,
        help=f"number of iterations of Algorithm 1 (default: {_ITERATIONS}, "
        f"{fit_tracks.TRACKS_ITERATIONS} with --tracks)",
    )
    group.add_argument(
        "--discount",
        type=_parse_discount,
        default=0.9,
        help='discount factor gamma, or "auto": chosen from how long the demo takes to settle',
    )
    group.add_argument(
        "--estimator",
        choices=["swarm", "single"],
        default="swarm",
        help="estimate feature expectations from the whole swarm or from a single agent",
    )
    summaries = "; ".join(f"{name}: {row.summary}" for name, row in UPDATES.items())
    group.add_argument("--update", default="max_margin", help=f"reward update. {summaries}")
    group.add_argument("--preset", choices=["paper"], help="use the settings of the paper")
    group.add_argument(
        "--separate",
        action="store_true",
        help="fit each run of the demo as a separate experiment",
    )
    group.add_argument(
        "--resume", action="store_true", help="continue the fit in the output folder"
    )
    group.add_argument(
        "--resamples",
        type=int,
        default=_RESAMPLES,
        help="number of fits of resampled demos, for the reward's error bars; 0 for none",
    )
    group.add_argument(
        "--actions",
        choices=["use", "ignore"],
        default="use",
        help="if the policy of Algorithm 2 does not reproduce the demo: whether to use the demo's "
        "actions (recorded, or inferred from what followed)",
    )
    group.add_argument(
        "--no-policy-search",
        action="store_true",
        help="keep the policy of Algorithm 2, even if it does not reproduce the demo",
    )
    group.add_argument(
        "--reward",
        choices=["nearest", "replanned"],
        help="which reward to return: that of the nearest policy, or the one for which planning "
        "from scratch comes nearest to the demo (one of the candidates is the visit histogram). "
        "Default: replanned, if the fit is judged, the swarm is not very large and the update is "
        "max_margin",
    )
    group.add_argument(
        "--history",
        type=int,
        metavar="STEPS",
        help="let agents remember what they saw and did in their last steps (swarmdp.with_history)",
    )
    group.add_argument(
        "--memory",
        type=int,
        metavar="STATES",
        help="give agents a memory of this many states, which they set (swarmdp.with_memory)",
    )
    group.add_argument(
        "--no-judge",
        action="store_true",
        help="do not test whether the learned swarm behaves like the demo",
    )
    add_seed(group)
    add_threads(group)
    add_output(group, "runs/fit-SYSTEM or runs/fit-FILE")


def _run(options: argparse.Namespace) -> dict[str, Any]:
    """Learn a reward and a policy, draw them, and write the results."""
    if options.tracks is not None:
        return fit_tracks.run(options)
    if options.iterations is None:
        options.iterations = _ITERATIONS
    from swarmdp.fitting.fit import FitInterrupted, fit
    from swarmdp.model.system import name_of
    from swarmdp.support.errors import VerdictWarning
    from swarmdp.support.saved import FIT

    if options.output is not None:
        files.check_folder(options.output)  # before the expert's runs
    system, demo = _remembering(options, *_demo(options))
    output = options.output or Path("runs") / f"fit-{name_of(system).lower()}"
    with folders.writing(output, kept=FIT.file, resume=options.resume) as place:
        earlier = earlier_fit(output) if options.resume else None
        began = time.perf_counter()
        missing = ""  # if it is interrupted
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VerdictWarning)  # a bad verdict is printed
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
                    resamples=options.resamples,
                    actions=options.actions,
                    policy_search=False if options.no_policy_search else None,
                    reward=options.reward,
                    judge=not options.no_judge,
                    threads=options.threads,
                    resume=earlier,
                    checkpoint=place,
                )
            except FitInterrupted as stop:
                result, missing = stop.result, "the verdict or the reward's error"
        seconds = time.perf_counter() - began
        written = [result.save(place), demo.save(place / DEMO)]
        try:
            if not missing:
                summary, page = _write_fit(written, result, system, demo, seconds, options)
        except KeyboardInterrupt:
            missing = "the page"
    if missing:
        raise KeyboardInterrupt(
            interrupted_fit_note(result, options.iterations, missing, options, output)
        )
    _print_fit(result, system, seconds, output / page.name, options.verbose)
    if options.verbose:
        for name in (*summary["files"], "summary.json"):
            print(f"  {output / name}")
    return {**summary, "folder": str(output)}


def _expert(system: Any, options: argparse.Namespace) -> Any:
    return expert_for(system, _discount_number(options))


def _discount_number(options: argparse.Namespace) -> float:
    return 0.9 if options.discount == "auto" else float(options.discount)


def _parse_discount(text: str) -> float | str:
    return text if text == "auto" else float(text)


def _demo(options: argparse.Namespace) -> tuple[Any, Any]:
    """The system, and what to learn from: a recording, or runs of the system's expert."""
    from swarmdp.irl.updates.evidence import wants_of
    from swarmdp.irl.updates.registry import update_of
    from swarmdp.model.trajectory import Trajectory
    from swarmdp.simulation.rollout import rollout
    from swarmdp.support.checks import check_discount
    from swarmdp.support.errors import InvalidInput
    from swarmdp.support.saved import load

    if options.demo is not None:
        if given := given_fields(options):
            raise InvalidInput(
                f"the demo brings the settings of its system with it: leave "
                f"--{next(iter(given)).replace('_', '-')} out, or leave --demo out"
            )
        demo = load(options.demo)
        if not isinstance(demo, Trajectory):
            raise InvalidInput(f"{options.demo} is a fit, not a recording: give a trajectory")
        if options.name is not None and class_of(options.name).__name__ != demo.system_name:
            raise InvalidInput(
                f"{options.demo} is a recording of {demo.system_name}, not of {options.name}"
            )
        return system_of(demo, options.system), demo
    system = build(options, "fit")
    check_discount(_discount_number(options))
    demo = rollout(
        system,
        _expert(system, options),
        steps=options.demo_steps,
        runs=options.demo_runs or (_SINGLE_AGENT_RUNS if system.n_agents == 1 else 1),
        seed=options.demo_seed,
        record=["states", "actions"] if wants_of(update_of(options.update)).actions else "states",
        threads=options.threads,
    )
    return system, demo


def _remembering(options: argparse.Namespace, system: Any, demo: Any) -> tuple[Any, Any]:
    """System and demo of agents with a history or a memory, where these are asked for."""
    from swarmdp.irl.demos import read_demo
    from swarmdp.model.augmented import with_history, with_memory

    if options.history is not None:
        system = with_history(system, steps=options.history)
    if options.memory is not None:
        system = with_memory(system, states=options.memory)
    asked = options.history is not None or options.memory is not None
    return system, read_demo(system, demo) if asked else demo


def _write_fit(
    written: list[Path],
    result: Any,
    system: Any,
    demo: Any,
    seconds: float,
    options: argparse.Namespace,
) -> tuple[dict[str, Any], Path]:
    """Write the other files beside fit and demo; return the summary and the page's path."""
    from swarmdp.report import fits, style
    from swarmdp.report.fit_page import write_fit_page

    place = written[0].parent
    with working("drawing the page"):
        drawn = {
            "reward": style.save(fits.plot_reward(result), place / "reward"),
            "convergence": style.save(fits.plot_convergence(result), place / "convergence"),
        }
        page, measures = write_fit_page(
            place,
            result,
            system,
            demo,
            expert=None if options.demo is not None else _expert(system, options),
            figures={name: paths[0] for name, paths in drawn.items()},
            planned=options.iterations,
            threads=options.threads,
        )
    written = [*written, *drawn["reward"], *drawn["convergence"], *measures, page]
    choice = result.reward_choice
    summary = {
        "command": "fit",
        "version": __version__,
        "system": result.system_name,
        "system_settings": dict(result.system_settings),
        "settings": dict(result.settings),
        "seed": result.seed,
        "experiments": result.experiments,
        "iterations": len(result.iterations),
        "chosen_iteration": result.chosen.tolist(),
        "distance": result.distance.tolist(),
        "margin": result.margin.tolist(),
        "solutions": list(result.solutions),
        "verdicts": [{"words": v.words, "alarm": v.alarm, "p": v.p} for v in result.verdicts],
        "reward": _blocks(result),
        "reward_says": [] if choice is None else list(choice.words),
        "seconds": round(seconds, 3),
        "files": sorted(path.name for path in written),
        folders.DIGESTS: folders.digests(place),
    }
    files.write_text(place / "summary.json", json.dumps(summary, indent=2) + "\n")
    return summary, page


def _print_fit(result: Any, system: Any, seconds: float, page: Path, verbose: bool) -> None:
    """Print verdict, reward and page; all tables and the whole result where they are asked for."""
    from rich.console import Console

    from swarmdp.cli.terminal_plots import reward_plot
    from swarmdp.systems.gridworld import Gridworld

    single = result.experiments == 1
    for number, verdict in enumerate(result.verdicts):
        who = "" if single else f"experiment {number}: "
        print(f"{who}{verdict if single and verbose else verdict.shown}")
    if isinstance(system, Gridworld) or verbose:
        for table in _tables(result, system):
            Console().print(table)
    else:
        print(reward_plot(result))
    if verbose:
        print(result)
    elif (choice := result.reward_choice) is not None:
        for line in dict.fromkeys(choice.words):
            print(f"Reward: {line}")
    print(f"learned in {seconds:.1f} s; look at {page_address(page)}")


def _blocks(result: Any) -> list[dict[str, Any]]:
    """The reward as plain data: of each block its axes, and numbers as a grid over them."""
    error = result.reward_error
    errors = None if error is None else result.reward.tables(error)
    return [
        {
            "axes": [
                {"name": axis.name, "units": axis.units, "values": axis.values.tolist()}
                for axis in (axis.shown for axis in block)
            ],
            "mean": table.mean("experiment").to_numpy().tolist(),
            "error": None if errors is None else _without_nan(errors[number].to_numpy().tolist()),
        }
        for number, (block, table) in enumerate(
            zip(result.blocks, result.reward.tables(), strict=True)
        )
    ]


def _without_nan(nested: Any) -> Any:
    """Nested lists of numbers with None in place of NaN, which JSON does not have."""
    if isinstance(nested, list):
        return [_without_nan(item) for item in nested]
    return None if math.isnan(nested) else nested


def _tables(result: Any, system: Any) -> list[Any]:
    """The reward as tables: of gridworlds as a map, of others by component."""
    from swarmdp.systems.gridworld import Gridworld

    if isinstance(system, Gridworld):
        return [_gridworld_table(result, system)]
    tables = result.reward.tables()
    return [_table(result, system, number) for number in range(len(tables))]


def _table(result: Any, system: Any, number: int) -> Any:
    """One block of the reward, and what the policy does where each class is one row."""
    from rich.table import Table

    from swarmdp.policies import TablePolicy

    block = [axis.shown for axis in result.blocks[number]]
    rewards = result.reward.tables()[number].mean("experiment").to_numpy()
    if rewards.size > _MOST_ROWS:
        shape = " x ".join(map(str, rewards.shape))
        return f"learned reward of {shape} classes: see the figure"
    names, texts = _reward_columns(result, number, rewards.ravel().tolist())
    columns, policy = [axis.label for axis in block], result.policy
    with_policy = (
        isinstance(policy, TablePolicy)
        and policy.table.shape[1] == rewards.size
        and len(result.blocks) == 1
    )
    table = Table(*columns, *names, *(["policy"] if with_policy else []), title="learned reward")
    actions = _actions(system, policy.table[0]) if with_policy else []
    places = [[_value(value) for value in axis.values] for axis in block]
    for row, labels in enumerate(itertools.product(*places)):
        table.add_row(*labels, *texts[row], *([actions[row]] if with_policy else []))
    for column in table.columns:
        column.justify = "right"
    return table


def _reward_columns(
    result: Any, number: int, rewards: list[float]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The reward of each class, with its error if there is one: names and texts of columns."""
    error = result.reward_error
    if error is None or len(error) != 1:
        return ["reward"], [(f"{reward:+.2f}",) for reward in rewards]
    errors = result.reward.tables(error)[number].to_numpy().ravel().tolist()
    flags = result.identified_weights
    marks = None
    if flags is not None:
        clear = result.reward.tables(flags.astype(float))[number].to_numpy().ravel() > 0
        marks = ["yes" if mark else "" for mark in clear]
    if result.resamples is None or result.is_of_decisions:
        texts = [with_error(r, e) for r, e in zip(rewards, errors, strict=True)]
        if marks is None:
            return ["reward"], [(text,) for text in texts]
        return ["reward", "identified"], list(zip(texts, marks, strict=True))
    assert marks is not None
    means = result.reward.tables(result.resamples.mean(axis=0))[number].to_numpy().ravel().tolist()
    name = f"from {len(result.resamples)} resampled demos (± s.d.)"
    return ["reward", name, "identified"], [
        (rounded(reward, e), with_error(mean, e), mark)
        for reward, mean, e, mark in zip(rewards, means, errors, marks, strict=True)
    ]


def _value(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _actions(system: Any, table: Any) -> list[str]:
    """The physical actions of a policy's table, angles in degrees."""
    import numpy as np

    from swarmdp.model.actions import action_axes

    columns = []
    for axis in action_axes(system):
        values = axis.values[table]
        if axis.units == "rad":
            columns.append([f"{angle:+.0f}°" for angle in np.degrees(values)])
        else:
            columns.append([f"{v:g}" if values.dtype.kind == "f" else str(v) for v in values])
    return [", ".join(parts) for parts in zip(*columns, strict=True)]


def _gridworld_table(result: Any, grid: Any) -> Any:
    """The grid with the reward of each cell, its error, and the move that the policy makes."""
    import numpy as np
    from rich.table import Table

    from swarmdp.model.rewards import Reward
    from swarmdp.policies.replicas import table_of
    from swarmdp.systems.gridworld import MOVE_NAMES

    if grid.columns > _MOST_COLUMNS:
        return f"learned reward and policy of {grid.rows} x {grid.columns} cells: see the figure"
    rewards = result.reward.of_classes(grid).mean(axis=0).reshape(grid.shape)
    moves = table_of(result.policy)[0].reshape(grid.shape)
    cells = [
        [f"{r:+.2f} {MOVE_NAMES[a]}" for r, a in zip(*row, strict=True)]
        for row in zip(rewards, moves, strict=True)
    ]
    error = result.reward_error
    has_error = error is not None and len(error) == 1 and np.isfinite(error).all()
    if has_error:
        errors = Reward(error[0]).of_classes(grid)[0].reshape(grid.shape)
        # On a line of its own, so that a grid of ten columns still fits a terminal.
        cells = [
            [f"{cell}\n±{e:.2f}" for cell, e in zip(*row, strict=True)]
            for row in zip(cells, errors, strict=True)
        ]
    below = " (± its error)" if has_error else ""
    table = Table(
        *(f"x = {x}" for x in range(grid.columns)),
        title=f"learned reward{below} and policy, y from top to bottom",
        show_lines=has_error,
    )
    for row in reversed(cells):
        table.add_row(*row)
    return table
