"""HDF5 files of DeepLabCut: a data frame with (scorer, individual, body part, coordinate)."""

from typing import Any

import numpy as np

from swarmdp.recordings.datasets import chosen_keypoint
from swarmdp.recordings.formats import hdf5, pytables
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks, check_table_fits
from swarmdp.support.errors import InvalidInput

KEYS = ("df_with_missing", "tracks")
_SINGLE = "single"  # the individual to which points belong that are no animal's


def recognises(source: TrackSource) -> bool:
    """Whether it has a data frame with the name that DeepLabCut gives it."""
    return source.is_hdf5 and _key(source) is not None


def _key(source: TrackSource) -> str | None:
    for key in KEYS:
        if key in source.names:
            with hdf5.open_hdf5(source.path) as file:
                if pytables.is_frame(hdf5.member(file, key)):
                    return key
    return None


def read(source: TrackSource) -> Tracks:
    """The tracks of one body part of all individuals, in pixels."""
    with hdf5.open_hdf5(source.path) as file:
        stored = pytables.read_frame(file, _key(source) or KEYS[0])
    columns: dict[tuple[str, str, str], int] = {}
    for number, name in enumerate(stored.names):
        if not isinstance(name, tuple) or len(name) not in (3, 4):
            raise InvalidInput(
                "its columns must be (scorer, individual, body part, coordinate) or without the "
                f"individual, got {name!r}"
            )
        individual = str(name[1]) if len(name) == 4 else "individual"
        columns[individual, str(name[-2]), str(name[-1])] = number
    individuals = _unique(name for name, _, _ in columns if name != _SINGLE) or [_SINGLE]
    parts = _unique(part for name, part, _ in columns if name in individuals)
    chosen, notes = chosen_keypoint(parts, source.keypoint)
    axes = [axis for axis in "xyz" if any(coordinate == axis for _, _, coordinate in columns)]
    frames = stored.index
    if frames.dtype.kind not in "iu" or len(np.unique(frames)) != len(frames):
        raise InvalidInput(
            "its rows must be the frames of one video, each once: it is not a file of tracks, but "
            "perhaps of labels"
        )
    first, count = int(frames.min()), int(frames.max() - frames.min()) + 1
    check_table_fits(count, len(individuals), len(axes), "Export fewer frames")
    positions = np.full((count, len(individuals), len(axes)), np.nan)
    for number, individual in enumerate(individuals):
        for axis, coordinate in enumerate(axes):
            column = columns.get((individual, parts[chosen], coordinate))
            if column is not None:
                positions[frames - first, number, axis] = stored.values[:, column]
    said = notes if not first else (*notes, f"the first frame is {first}")
    unit = "px" if len(axes) == 2 else None  # three axes are triangulated, in any unit
    return Tracks(positions, tuple(individuals), None, unit, notes=said)


def _unique(names: Any) -> list[str]:
    return list(dict.fromkeys(names))
