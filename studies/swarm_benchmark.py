"""A benchmark of learning the rules and rewards of swarms.

Methods answer the same questions about the same demos and recordings, and are scored only by what
their swarms do when they are let loose, and by what is known to be true. Columns are kinds of
questions (`studies/benchmark/columns.py`), rows are methods (`studies/benchmark/methods.py`), each
with the processor time that it took. A method can be tuned on the development part; the other part
is run once.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from studies import command
from studies.benchmark.columns import COLUMNS, DEVELOPMENT, FINAL, Column
from studies.benchmark.methods import methods
from studies.rows import Job, Row, collect, commit, conditions, markdown, six_digits
from swarmdp.model.streams import derived_seed
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

ROWS = "swarm-benchmark.json"
SEEDS = {DEVELOPMENT: 1_320_000, FINAL: 1_340_000}
EXPERIMENTS = 3
_QUICK = ("swarmdp, default", "histogram", "cloning", "regression", "random")


@dataclass(frozen=True)
class Setting:
    """One row: a method on one task."""

    part: str
    column: str
    task: str
    method: str


def settings(parts: Sequence[str] = (DEVELOPMENT, FINAL)) -> list[Setting]:
    """All rows: every method on every task of the columns that it enters."""
    return [
        Setting(part, column.name, task, method.name)
        for part in parts
        for column in COLUMNS
        for method in methods().values()
        if column.enters(method)
        for task in column.tasks(part)
    ]


def measured(setting: Setting, experiments: int) -> Row:
    """What a method scores in all experiments of one task."""
    (column,) = [column for column in COLUMNS if column.name == setting.column]
    ask = column.tasks(setting.part)[setting.task]
    method = methods()[setting.method]
    # Demos do not depend on the method, so that methods can be compared.
    seeds = [derived_seed(SEEDS[setting.part], k) for k in range(experiments)]
    began, spent = time.process_time(), _of_children()
    try:
        scores = [ask(method, seed) for seed in seeds]
    except InvalidInput as reason:
        return {"failed": str(reason), "commit": commit(), "date": time.strftime("%Y-%m-%d")}
    seconds = time.process_time() - began + _of_children() - spent
    return {
        **{name: six_digits([score[name] for score in scores]) for name in scores[0]},
        "seconds": round(seconds / experiments, 2),
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _of_children() -> float:
    """The processor seconds of processes that were started and have ended."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def study(
    output: Path, experiments: int = EXPERIMENTS, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write the tables.

    Parameters
    ----------
    output
        The folder for `swarm-benchmark.json` (the rows) and `swarm-benchmark.md` (the tables).
    experiments
        The number of demos of each task.
    only
        Just these parts, columns or methods.
    quick
        One experiment of the first task of each column, with the methods that are quickest.

    """
    rows = settings()
    names = {name: {getattr(row, name) for row in rows} for name in ("part", "column", "method")}
    known = set().union(*names.values())
    if set(only) - known:
        raise InvalidInput(
            f"there is no {', '.join(sorted(set(only) - known))} in this benchmark: choose from "
            f"{', '.join(sorted(known))}"
        )
    for name, values in names.items():
        asked = values & set(only)
        rows = [row for row in rows if not asked or getattr(row, name) in asked]
    if quick:
        experiments = 1
        rows = [row for row in rows if row.method in _QUICK and row.part == DEVELOPMENT]
        first = {column.name: [*column.tasks(DEVELOPMENT), ""][0] for column in COLUMNS}
        rows = [row for row in rows if row.task == first[row.column]]
    output.mkdir(parents=True, exist_ok=True)
    jobs = [Job(asdict(row), partial(measured, row, experiments)) for row in rows]
    done = collect(output / ROWS, jobs, conditions(quick=quick, experiments=experiments), line)
    files.write_text(output / "swarm-benchmark.md", tables(done))
    return done


def line(row: Row) -> str:
    """A row in one line."""
    said = row["failed"] if "failed" in row else f"{np.mean(row['score']):.2f}"
    return f"{row['part']}, {row['column']}, {row['task']}, {row['method']}: {said}"


def tables(rows: Sequence[Row]) -> str:
    """For each part the table of all methods, and one of each column by its tasks."""
    text = []
    for part in (DEVELOPMENT, FINAL):
        of_part = [row for row in rows if row["part"] == part]
        if of_part:
            text += [f"## {part.capitalize()}", "", _overview(of_part)]
            text += [f"### {column.name}\n\n{column.told}\n\n{_by_task(of_part, column)}"
                     for column in COLUMNS if _of(of_part, column.name)]  # fmt: skip
    return "\n".join(text) + "\n"


def _overview(rows: Sequence[Row]) -> str:
    entered = [column for column in COLUMNS if _of(rows, column.name)]
    best = {column.name: _best(rows, column) for column in entered}
    lines = []
    for method in methods().values():
        own = [row for row in rows if row["method"] == method.name]
        if own:
            cells = [_cell(own, column, best[column.name]) for column in entered]
            seconds = [row["seconds"] for row in own if "seconds" in row]
            spent = f"{np.median(seconds):.1f}" if seconds else ""
            lines.append([method.name, *cells, spent, method.needs])
    head = ["method", *(column.name for column in entered), "seconds, median", "needs"]
    return markdown(head, lines)


def _of(rows: Sequence[Row], column: str, task: str = "") -> list[Row]:
    return [row for row in rows if row["column"] == column and task in ("", row["task"])]


def _mean(rows: Sequence[Row]) -> float | None:
    """Over the tasks, if all of them were answered."""
    if not rows or any("failed" in row for row in rows):
        return None
    return float(np.mean([np.mean(row["score"]) for row in rows]))


def _best(rows: Sequence[Row], column: Column) -> float:
    means = [_mean([r for r in _of(rows, column.name) if r["method"] == m]) for m in methods()]
    told = [mean for mean in means if mean is not None]
    return (max if column.high else min)(told, default=float("nan"))


def _cell(own: Sequence[Row], column: Column, best: float) -> str:
    """The mean over tasks, bold where no other method is better; a dash where none was asked."""
    rows = _of(own, column.name)
    mean = _mean(rows)
    if mean is None:
        return "failed" if rows else "-"
    return f"**{mean:.2f}**" if f"{mean:.2f}" == f"{best:.2f}" else f"{mean:.2f}"


def _by_task(rows: Sequence[Row], column: Column) -> str:
    own = _of(rows, column.name)
    tasks = list(dict.fromkeys(row["task"] for row in own))
    lines = []
    for method in methods():
        of_method = {row["task"]: row for row in own if row["method"] == method}
        if of_method:
            cells = [_told(of_method[task]) if task in of_method else "" for task in tasks]
            lines.append([method, *cells])
    return markdown(["method", *tasks], lines)


def _told(row: Row) -> str:
    return "failed" if "failed" in row else f"{np.mean(row['score']):.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    command.main(
        study,
        "swarm_benchmark",
        "Who learns the rules and rewards of swarms, and how well (several hours).",
        experiments=EXPERIMENTS,
        only=f"parts, columns or methods, such as '{FINAL}', 'other bodies', 'histogram'",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
