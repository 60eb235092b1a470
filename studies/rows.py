"""Tables whose rows are measured one by one: a second start goes on where the first stopped.

A row holds all that decides its numbers (its setting, and the conditions that all rows of a start
share), by which it is recognised, and what was measured. A row measured under other conditions
(quick, with fewer experiments, other seeds, by another version) is no answer: it stays in the file,
but neither counts as done nor enters a table or a figure.
"""

import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import swarmdp
from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput

Row = dict[str, Any]
Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Job:
    """A row that is wanted: what tells it from the others, and how to measure the rest of it."""

    setting: Row
    measure: Callable[[], Row]


def conditions(*, quick: bool, **more: Any) -> Row:
    """What all rows of a start share: quick or not, the version, and whatever else decides them."""
    return {"quick": quick, "version": swarmdp.__version__, **more}


def collect(path: Path, jobs: Sequence[Job], shared: Row, line: Callable[[Row], str]) -> list[Row]:
    """Measure every job that has no row in the file yet; all rows of these conditions.

    Parameters
    ----------
    path
        The JSON file of the rows. It is written after each row, atomically.
    jobs
        The rows that are wanted, in their order. Rows of other jobs are kept, after these.
    shared
        The conditions of all jobs, from `conditions`.
    line
        A row in one line, to be printed when it is done.

    """
    rows = read(path)
    keys = [_plain({**job.setting, **shared}) for job in jobs]
    for number, (job, key) in enumerate(zip(jobs, keys, strict=True), start=1):
        if any(_is(row, key) for row in rows):
            continue
        row = _plain({**key, **job.measure()})
        rows.append(row)
        rows.sort(key=lambda row: _place(row, keys))
        files.write_text(path, as_json(rows))
        print(f"{number}/{len(jobs)}  {line(row)}", flush=True)
    of_conditions = [row for row in rows if _is(row, _plain(shared))]
    if len(of_conditions) < len(rows):
        others = len(rows) - len(of_conditions)
        print(f"{path} also holds rows of other conditions, which are left out here: {others}")
    return of_conditions


def read(path: Path) -> list[Row]:
    """The rows of a file, under whatever conditions; none if there is no such file."""
    if not path.exists():
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as reason:
        raise FileError(f"{path} is not JSON ({reason}): move it away to start again") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FileError(f"{path} is not a list of rows: move it away to start again")
    return rows


def as_json(rows: Iterable[Row]) -> str:
    """Rows as JSON, a line each."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f"[\n{lines}\n]\n"


def select(settings: Sequence[Setting], field: str, only: Sequence[str]) -> list[Setting]:
    """The settings whose field is one of these; all if there are none.

    Raises InvalidInput if no setting has one of them.
    """
    choices = list(dict.fromkeys(getattr(setting, field) for setting in settings))
    for name in only:
        if name not in choices:
            raise InvalidInput(f"there is no {field} {name!r} in this study: choose from {choices}")
    return [setting for setting in settings if not only or getattr(setting, field) in only]


@cache
def commit() -> str:
    """The commit of this checkout at the start; empty where there is none."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip()


def six_digits(values: Iterable[float]) -> list[float]:
    """Numbers to six digits, for files that people may read."""
    return [float(f"{value:.6g}") for value in values]


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(str, cells))} |" for cells in rows]
    return "\n".join(lines) + "\n"


def _plain(row: Row) -> Row:
    """The row as it is read back: tuples become lists, names of numbers text."""
    plain: Row = json.loads(json.dumps(row))
    return plain


def _is(row: Row, key: Row) -> bool:
    return all(name in row and row[name] == value for name, value in key.items())


def _place(row: Row, keys: Sequence[Row]) -> int:
    return next((i for i, key in enumerate(keys) if _is(row, key)), len(keys))
