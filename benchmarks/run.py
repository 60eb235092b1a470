"""Measure, show the table, and write it down."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.contest import Outcome, Report, Workload, compete
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from rich.table import Table

QUICK_ROUNDS = 2
FILE_WIDTH = 150  # of the table, where there is no terminal to ask
LIBRARIES = ("numpy", "numba", "scipy", "freud-analysis", "jax", "torch", "mesa", "vmas")


def run(
    output: Path | None = None,
    only: Sequence[str] = (),
    rounds: int = 7,
    quick: bool = False,
    long: bool = False,
) -> dict[str, Any]:
    """Measure the workloads, print a table of ratios, and write all times as JSON to `output`.

    The table goes beside it as Markdown.

    `only` keeps the workloads whose names contain one of these words. `quick` takes small swarms
    and two rounds: it shows that everything works, not how fast it is. `long` adds the paper's
    scale and fits of up to a million agents. An interrupt (Ctrl-C) keeps the workloads that were
    finished.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    from swarmdp.support.files import write_text

    if rounds < 1:
        raise InvalidInput(f"rounds must be at least 1, got {rounds}")
    rounds = min(rounds, QUICK_ROUNDS) if quick else rounds
    chosen = _select(only, quick, long)
    before = _load()
    begin = time.monotonic()
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    reports: list[Report] = []
    interrupted = False
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(
            "", total=sum(min(rounds, w.most_rounds or rounds) for w in chosen)
        )
        try:
            for workload in chosen:
                progress.update(task, description=workload.name)
                reports.append(compete(workload, rounds, lambda: progress.advance(task)))
        except KeyboardInterrupt:
            interrupted = True
    after = _load()
    console.print(_table(reports, quick))
    if before and after:
        console.print(
            f"Load of the {os.cpu_count()} cores: {before[0]} before, {after[0]} after. Where"
            " others kept the cores busy, the figures are not to be trusted."
        )
    document = {
        "settings": {"only": list(only), "rounds": rounds, "quick": quick, "long": long},
        "complete": not interrupted,
        "seconds": round(time.monotonic() - begin, 1),
        "machine": {**_machine(), "load_before": before, "load_after": after},
        "versions": _versions(),
        "workloads": [_as_json(report) for report in reports],
    }
    if output is not None:
        write_text(output, json.dumps(document, indent=1) + "\n")
        write_text(output.with_suffix(".md"), _markdown(reports))
    if interrupted:
        raise KeyboardInterrupt
    return document


def _select(only: Sequence[str], quick: bool, long: bool) -> list[Workload]:
    from benchmarks.workloads import workloads

    offered = workloads(quick, long)
    chosen = [
        workload
        for workload in offered
        if not only or any(word.lower() in workload.name.lower() for word in only)
    ]
    if not chosen:
        names = ", ".join(repr(workload.name) for workload in offered)
        raise InvalidInput(f"no benchmark has any of {list(only)} in its name; there are {names}")
    return chosen


def _table(reports: Sequence[Report], quick: bool) -> "Table":
    from rich.table import Table

    title = "swarmdp beside its peers: medians and quartiles of interleaved rounds"
    table = Table(title=f"{title} (quick: too small to judge by)" if quick else title)
    for heading in ("workload", "beside"):
        table.add_column(heading)
    for heading in ("ours", "theirs", "ratio", "quartiles", "goal"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("reached")
    for report in reports:
        for number, outcome in enumerate(report.outcomes):
            table.add_row("" if number else report.workload.name, *_cells(report, outcome))
        table.add_section()
    return table


def _markdown(reports: Sequence[Report]) -> str:
    """The same table for documents."""
    heading = ["workload", "beside", "ours", "theirs", "ratio", "quartiles", "goal", "reached"]
    lines = [f"| {' | '.join(heading)} |", f"|{' --- |' * len(heading)}"]
    for report in reports:
        for number, outcome in enumerate(report.outcomes):
            cells = ["" if number else report.workload.name, *_cells(report, outcome)]
            plain = [
                cell.replace("[green]", "").replace("[red]", "**").replace("[/]", "")
                for cell in cells
            ]
            lines.append(f"| {' | '.join(c + '**' if c.startswith('**') else c for c in plain)} |")
    return "\n".join(lines) + "\n"


def _cells(report: Report, outcome: Outcome) -> list[str]:
    goal = outcome.goal
    sense = {"at least": ">=", "at most": "<="}[goal.sense]
    limit = "" if goal.limit is None else f"{sense} {goal.limit:g}"
    if outcome.skipped:
        return [goal.peer or "", "", "", "", "", limit, f"skipped: {outcome.skipped}"]
    low, middle, high = outcome.quartiles
    return [
        goal.peer or "",
        _reading(report, goal.ours),
        _reading(report, goal.peer) if goal.peer else "",
        _digits(middle),
        f"{_digits(low)} - {_digits(high)}",
        limit,
        {True: "[green]yes[/]", False: "[red]no[/]", None: ""}[outcome.reached],
    ]


def _reading(report: Report, name: str) -> str:
    return f"{_digits(statistics.median(report.readings[name]))} {report.workload.unit}"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _as_json(report: Report) -> dict[str, Any]:
    """Readings of every round are in nanoseconds for an agent and step, seconds, or bytes."""
    workload = report.workload
    taking_part = [c for c in workload.contestants if c.name in report.readings]
    return {
        "name": workload.name,
        "unit": workload.unit,
        "contestants": {
            c.name: {
                "work": dict(c.work),
                "median": statistics.median(report.readings[c.name]),
                "rounds": list(report.readings[c.name]),
            }
            for c in taking_part
        },
        "skipped": dict(report.skipped),
        "goals": [_goal_as_json(outcome) for outcome in report.outcomes],
    }


def _goal_as_json(outcome: Outcome) -> dict[str, Any]:
    goal = outcome.goal
    described = {"ours": goal.ours, "peer": goal.peer, "sense": goal.sense, "limit": goal.limit}
    if outcome.skipped:
        return {**described, "skipped": outcome.skipped}
    low, middle, high = outcome.quartiles
    return {
        **described,
        "median": middle,
        "quartiles": [low, high],
        "rounds": list(outcome.values),
        "reached": outcome.reached,
    }


def _machine() -> dict[str, Any]:
    import psutil

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.release()}",
        "compiler": _compiler(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _compiler() -> str | None:
    try:
        command = [os.environ.get("CC", "cc"), "--version"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.splitlines()[0] if answer else None


def _versions() -> dict[str, str]:
    from swarmdp import __version__

    versions = {"python": platform.python_version(), "swarmdp": __version__}
    for library in LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _load() -> list[float] | None:
    """Processes that wanted a core, averaged over 1, 5 and 15 minutes; our own is one of them."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
