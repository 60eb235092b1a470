"""Analysis files of SLEAP (HDF5), with their axes in any order that sleap-io writes."""

import json
from typing import Any

import numpy as np

from swarmdp.recordings.datasets import chosen_keypoint
from swarmdp.recordings.formats import hdf5
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput

_AXES = ("frame", "track", "node", "xy")
USUAL = ("track", "xy", "node", "frame")  # of files that do not say


def recognises(source: TrackSource) -> bool:
    """Whether it is an analysis file, or a project, which is refused with advice."""
    return source.is_hdf5 and ({"tracks", "node_names"} <= source.names or _is_project(source))


def _is_project(source: TrackSource) -> bool:
    return {"instances", "pred_points", "metadata"} <= source.names


def read(source: TrackSource) -> Tracks:
    """The tracks of one node of all individuals, in pixels."""
    if _is_project(source):
        raise InvalidInput(
            "it is a project of SLEAP: export an analysis file (File, Export Analysis HDF5) and "
            "give that"
        )
    with hdf5.open_hdf5(source.path) as file:
        tracks = hdf5.array(file, "tracks")
        nodes = hdf5.texts(file, "node_names")
        names = hdf5.texts(file, "track_names") if hdf5.has(file, "track_names") else []
        order = _order(hdf5.attribute(hdf5.member(file, "tracks"), "dims"))
    if tracks.ndim != 4 or tracks.dtype.kind not in "iuf":
        raise InvalidInput(f"'tracks' must be numbers with 4 axes, got {tracks.shape}")
    moved = np.transpose(tracks, [order.index(axis) for axis in _AXES])
    if moved.shape[2] != len(nodes) or moved.shape[3] != 2:
        raise InvalidInput(
            f"'tracks' must have {len(nodes)} nodes and 2 coordinates, got {moved.shape[2:]}"
        )
    chosen, notes = chosen_keypoint(nodes, source.keypoint)
    positions = np.ascontiguousarray(moved[:, :, chosen], dtype=np.float64)
    individuals: tuple[str | int, ...] | None = tuple(names)
    if len(names) != positions.shape[1] or len(set(names)) != len(names):
        individuals = None
    return Tracks(positions, individuals, None, "px", notes=notes)


def _order(stated: Any) -> list[str]:
    """The order of the axes, as the file says it or as usual."""
    if stated is None:
        return list(USUAL)
    try:
        order = [str(axis) for axis in (json.loads(stated) if isinstance(stated, str) else stated)]
    except (ValueError, TypeError, RecursionError):
        order = []
    if sorted(order) != sorted(_AXES):
        raise InvalidInput(f"the axes of 'tracks' must be {', '.join(_AXES)}, got {stated!r}")
    return order
