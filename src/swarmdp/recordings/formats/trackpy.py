"""HDF5 files of trackpy (PandasHDFStore, also with a single node): frames of particles.

Its tables as CSV or Parquet are long tables as any other.
"""

import re
from typing import Any

import numpy as np

from swarmdp.recordings.formats import hdf5, pytables
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.long_tables import choose_columns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

FRAME = re.compile(r"Frame_\d+")
_SINGLE = "FrameData"


def recognises(source: TrackSource) -> bool:
    """Whether it has the groups that trackpy writes."""
    return source.is_hdf5 and (_SINGLE in source.names or any(map(FRAME.fullmatch, source.names)))


def read(source: TrackSource) -> Tracks:
    """The tracks of all particles."""
    keys = [_SINGLE]
    if _SINGLE not in source.names:
        framed = filter(FRAME.fullmatch, source.names)
        keys = sorted(framed, key=lambda name: int(name.removeprefix("Frame_")))
    check_memory(6 * source.path.stat().st_size, "to read it", "Export fewer frames")
    with hdf5.open_hdf5(source.path) as file:
        stored = [pytables.read_frame(file, key) for key in keys]
    names = [str(name) for name in stored[0].names]
    for table, key in zip(stored, keys, strict=True):
        if {str(name) for name in table.names} != set(names):
            raise InvalidInput(f"{key!r} has other columns than {keys[0]!r}")
    if "particle" not in names and "individual" not in (source.columns or {}):
        raise InvalidInput(
            "it has no column 'particle': link the features first, with trackpy.link_df"
        )
    chosen = choose_columns(names, source.columns)

    def column(name: str) -> Any:
        parts = [table.values[:, [str(n) for n in table.names].index(name)] for table in stored]
        return np.concatenate(parts)

    return tracks_of(chosen, column, fps=source.fps, first=1)
