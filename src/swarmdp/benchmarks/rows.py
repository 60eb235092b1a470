"""Studies whose rows are written one by one: a second start goes on where the first stopped."""

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from swarmdp import files

Row = dict[str, Any]


def collect(
    path: Path,
    wanted: Sequence[Any],
    measure: Callable[[Any], Row],
    line: Callable[[Row], str],
) -> list[Row]:
    """Measure every setting (a dataclass) that has no row in the file yet; all rows, in order.

    A row holds the fields of its setting, by which it is recognised, and what was measured. Rows
    of settings that are not wanted now are kept, after the others.
    """
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    known = [dataclasses.asdict(setting) for setting in wanted]
    for number, (setting, fields) in enumerate(zip(wanted, known, strict=True), start=1):
        if any(_is(row, fields) for row in rows):
            continue
        row = {**fields, **measure(setting)}
        rows.append(row)
        rows.sort(key=lambda row: _place(row, known))
        files.write_text(path, json.dumps(rows) + "\n")
        print(f"{number}/{len(wanted)}  {line(row)}", flush=True)
    return rows


def rounded(values: Iterable[float]) -> list[float]:
    """Numbers to six digits, for files that people may read."""
    return [float(f"{value:.6g}") for value in values]


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(str, cells))} |" for cells in rows]
    return "\n".join(lines) + "\n"


def _is(row: Row, fields: Row) -> bool:
    return all(row.get(key) == value for key, value in fields.items())


def _place(row: Row, known: Sequence[Row]) -> int:
    return next((i for i, fields in enumerate(known) if _is(row, fields)), len(known))
