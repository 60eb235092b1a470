"""Studies whose rows are written one by one: a second start goes on where the first stopped."""

import dataclasses
import json
from collections.abc import Callable, Sequence
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
    """Measure every setting (a dataclass) that has no row in the file yet; all rows so far.

    A row holds the fields of its setting, by which it is recognised, and what was measured.
    """
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for number, setting in enumerate(wanted, start=1):
        known = dataclasses.asdict(setting)
        if any(all(row.get(key) == value for key, value in known.items()) for row in rows):
            continue
        row = {**known, **measure(setting)}
        rows.append(row)
        files.write_text(path, json.dumps(rows) + "\n")
        print(f"{number}/{len(wanted)}  {line(row)}", flush=True)
    return rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(map(str, cells))} |" for cells in rows]
    return "\n".join(lines) + "\n"
