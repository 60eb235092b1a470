"""Long tables in text: comma-, tab- or semicolon-separated, with a line of names."""

import re
import warnings
from pathlib import Path
from typing import Any

from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.long_tables import choose_columns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

SAMPLE = 1 << 20  # bytes by which the number of rows is estimated
_BYTES = 90  # for each row while reading, besides the columns
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


def recognises(source: TrackSource) -> bool:
    """Whether it is text with a line of names."""
    line = source.first_line
    return bool(separator_of(line)) and bool(re.search(r"[^\d.,;:|+\-\seE\"']", line))


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals."""
    import pandas

    separator = separator_of(source.first_line) or ","
    head = _table(source.path, sep=separator, nrows=0, skipinitialspace=True)
    names = [str(name) for name in head.columns]
    _check_names(source, names)
    chosen = choose_columns(names, source.columns)
    columns = list(chosen.columns.values())
    _check_memory(source.path, len(columns))
    blanks = f"{separator} " in source.first_line
    options: dict[str, Any] = {
        "sep": separator,
        "usecols": columns if len(columns) < len(names) else None,
        "index_col": False,
        "skipinitialspace": blanks,  # slower, so only where there are some
    }
    try:
        table = _table(source.path, **options)
    except pandas.errors.DtypeWarning:
        # Piece by piece, numbers and texts would be mixed in a column; as a whole it takes longer.
        table = _table(source.path, **options, low_memory=False)
    return tracks_of(chosen, table.__getitem__, fps=source.fps, first=1)


def separator_of(line: str) -> str | None:
    """What stands most often between the names of a line; None if nothing does."""
    counts = {separator: line.count(separator) for separator in SEPARATORS}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else None


def _table(path: Path, **options: Any) -> Any:
    import pandas

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            warnings.simplefilter("error", pandas.errors.DtypeWarning)
            # By its path: of an open file pandas needs half as long again.
            return pandas.read_csv(path, compression=None, **options)
    except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
        reason = str(error).strip().splitlines()[0].removeprefix("Error tokenizing data. ")
        raise InvalidInput(f"its rows have different lengths ({reason})") from None
    except pandas.errors.EmptyDataError:
        raise InvalidInput("it is empty") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"it is not text in UTF-8 ({error.reason})") from None


def _check_names(source: TrackSource, names: list[str]) -> None:
    if names and names[0] == "scorer":
        raise InvalidInput("it is a table of DeepLabCut: give the .h5 file that stands beside it")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput(f"two columns have the name {twice[0]!r}")


def _check_memory(path: Path, columns: int) -> None:
    """Raises NotEnoughMemory if the table would not fit, by the length of its first lines."""
    size = path.stat().st_size
    with files.reading(path) as file:
        sample = file.read(SAMPLE)
    rows = size / max(len(sample) / max(sample.count(b"\n"), 1), 1.0)
    check_memory(
        max(rows * (_BYTES + 8 * columns), size / 10),
        f"reading about {rows:,.0f} rows",
        "Read a part of them, or write them as Parquet, which needs less",
    )
