"""Long tables in Parquet."""

import contextlib
import json
from typing import Any

import numpy as np

from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.long_tables import choose_columns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_MAGIC = b"PAR1"
_BYTES = 60  # for each row while reading, besides the columns
IDTRACKER = b"idtrackerai_attributes"


def recognises(source: TrackSource) -> bool:
    """Whether it begins as a Parquet file."""
    return source.head.startswith(_MAGIC)


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise InvalidInput(
            "Parquet needs pyarrow: install it with pip install 'swarmdp[tracks]'"
        ) from None
    with files.reading(source.path) as file:
        opened = parquet.ParquetFile(file)
        chosen = choose_columns(list(opened.schema_arrow.names), source.columns)
        columns = list(chosen.columns.values())
        rows = opened.metadata.num_rows
        check_memory(
            rows * (_BYTES + 8 * len(columns)), f"reading {rows:,} rows", "Read a part of them"
        )
        table = opened.read(columns=columns)
        attributes = (opened.schema_arrow.metadata or {}).get(IDTRACKER)

    def column(name: str) -> Any:
        values = table.column(name)
        kind = str(values.type)
        if values.null_count == 0 and kind.startswith(("int", "uint", "float", "double")):
            return np.asarray(values)
        return values.to_pandas()

    tracks = tracks_of(chosen, column, fps=source.fps, first=1)
    return tracks if attributes is None else _of_idtracker(tracks, attributes)


def _of_idtracker(tracks: Tracks, attributes: bytes) -> Tracks:
    """The same with the frame rate and the body length that idtracker.ai writes beside."""
    from swarmdp.recordings.formats.idtracker import with_attributes

    content: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        content = json.loads(attributes)
    return with_attributes(tracks, content if isinstance(content, dict) else {})
