"""Long tables in text, with or without a line of names, as people and tools write them."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from swarmdp.recordings.formats.headerless import name_columns
from swarmdp.recordings.formats.layout import MISSING, TextLayout, encoding_of, layout_of
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.long_tables import KIND, ChosenColumns, choose_columns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

SAMPLE = 1 << 20  # bytes by which the number of rows is estimated
_BYTES = 90  # for each row while reading, besides the columns
_PEEK = 2000  # rows by which a column of labels is known
_EXACT = 2**53  # from here on whole numbers differ that are the same as floats


def recognises(source: TrackSource) -> bool:
    """Whether it is text in columns."""
    if not source.head or encoding_of(source.head) is None or source.head.lstrip()[:1] in b"<{":
        return False
    try:
        layout_of(source.path)
    except InvalidInput:
        return False
    return True


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals."""
    layout = layout_of(source.path)
    if layout.names is None:
        rows = first_rows(source.path, layout)
        chosen = name_columns(rows, source.columns)
        names = [str(name) for name in rows.columns]
    else:
        names = list(layout.names)
        _check_names(names)
        peek = first_rows(source.path, layout)
        chosen = choose_columns(names, source.columns, peek.__getitem__)
    columns = [*chosen.columns.values(), *([chosen.date] if chosen.date else [])]
    _check_memory(source.path, len(columns))
    table = _numbers_and_labels(source.path, layout, chosen, columns, names)
    return tracks_of(
        replace(chosen, notes=(*layout.notes, *chosen.notes)),
        table.__getitem__,
        fps=source.fps,
        first=1,
    )


def layout_or_none(source: TrackSource) -> TextLayout | None:
    """How a table of text is written, if the file is one and its columns were not named."""
    if source.columns or not recognises(source):
        return None
    return layout_of(source.path)


def first_rows(path: Path, layout: TextLayout) -> Any:
    """The first rows of a table."""
    return _table(path, layout, None, {}, nrows=_PEEK)


def read_columns(
    path: Path, layout: TextLayout, columns: list[str], labels: Sequence[str] = ()
) -> Any:
    """Some columns of a table; those of labels are as they are written, others may lack values."""
    _check_memory(path, len(columns))
    marks = {name: [""] if name in labels else list(MISSING) for name in columns}
    table = _table(path, layout, columns, marks, low_memory=False)
    return table[columns]


def _numbers_and_labels(
    path: Path, layout: TextLayout, chosen: ChosenColumns, columns: list[str], names: list[str]
) -> Any:
    """The columns that are used; labels of individuals are as they are written."""
    import pandas

    labels = [chosen.columns[role] for role in ("individual", KIND) if role in chosen.columns]
    marks = {name: [""] if name in labels else list(MISSING) for name in columns}
    used = columns if len(columns) < len(names) else None
    try:
        table = _table(path, layout, used, marks)
    except pandas.errors.DtypeWarning:
        # Piece by piece, numbers and texts would be mixed in a column; as a whole it takes longer.
        table = _table(path, layout, used, marks, low_memory=False)
    for name in labels:
        values = table[name]
        if values.dtype.kind == "f" and float(np.nanmax(np.abs(values), initial=0)) >= _EXACT:
            table[name] = _table(path, layout, [name], marks, dtype=str)[name]
    return table


def _table(
    path: Path, layout: TextLayout, columns: list[str] | None, marks: Any, **options: Any
) -> Any:
    import pandas

    names = layout.names
    skipped = [*range(layout.skipped)]
    if names is not None:
        first = layout.skipped
        skipped += range(first + 1, first + 1 + layout.below)
        options |= {"header": 0, "names": list(names)}
    else:
        options |= {"header": None}
    if marks and names is None:
        marks = list(MISSING)
    if marks:
        options |= {"na_values": marks, "keep_default_na": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            warnings.simplefilter("error", pandas.errors.DtypeWarning)
            # By its path: of an open file pandas needs half as long again.
            table = pandas.read_csv(
                path,
                compression=None,
                encoding=layout.encoding,
                sep=layout.separator,
                decimal=layout.decimal,
                thousands=layout.thousands,
                comment=layout.comment,
                skiprows=skipped or None,
                skipinitialspace=layout.separator != r"\s+",
                usecols=columns if names is not None else None,
                index_col=False,
                **options,
            )
    except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
        reason = str(error).strip().splitlines()[0].removeprefix("Error tokenizing data. ")
        raise InvalidInput(f"its rows have different lengths ({reason})") from None
    except pandas.errors.EmptyDataError:
        raise InvalidInput("it is empty") from None
    except UnicodeDecodeError as error:
        if layout.encoding == "utf-8-sig":
            other = replace(layout, encoding="latin-1")
            return _table(path, other, columns, marks, **options)
        raise InvalidInput(f"it is not text in {layout.encoding} ({error.reason})") from None
    if names is None:
        table.columns = [str(number + 1) for number in range(table.shape[1])]
    return table


def _check_names(names: list[str]) -> None:
    if names and names[0] == "scorer":
        raise InvalidInput("it is a table of DeepLabCut: give the .h5 file that stands beside it")
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise InvalidInput(f"two columns have the name {name!r}")


def needed_memory(path: Path, columns: int = 4) -> tuple[float, float]:
    """The number of rows by the length of the first lines, and bytes of memory to read them."""
    size = path.stat().st_size
    with files.reading(path) as file:
        sample = file.read(SAMPLE)
    rows = size / max(len(sample) / max(sample.count(b"\n"), 1), 1.0)
    return rows, max(rows * (_BYTES + 8 * columns), size / 10)


def _check_memory(path: Path, columns: int) -> None:
    """Raises NotEnoughMemory if the table would not fit."""
    rows, needed = needed_memory(path, columns)
    check_memory(
        needed,
        f"reading about {rows:,.0f} rows",
        "Read a part of them, or write them as Parquet, which needs less",
    )
