"""Boxes of multiple object tracking (MOT Challenge): frame, id, left, top, width, height, ..."""

import numpy as np

from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import first_rows, layout_or_none, read_columns
from swarmdp.recordings.long_tables import ChosenColumns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput

_COLUMNS = (9, 10)  # with confidence, and class and visibility or three coordinates
_LEAST = 6
_BOX = ("1", "2", "3", "4", "5", "6")
_CONFIDENCE = "7"


def recognises(source: TrackSource) -> bool:
    """Whether it has nine or ten numbers between commas: whole ones, then boxes with a size."""
    layout = layout_or_none(source)
    if layout is None or layout.names is not None or layout.separator != ",":
        return False
    try:
        rows = first_rows(source.path, layout)
    except InvalidInput:
        return False
    if rows.shape[1] not in _COLUMNS:
        return False
    values = rows.iloc[:, :_LEAST].to_numpy(dtype=object)
    try:
        numbers = values.astype(np.float64)
    except (ValueError, TypeError):
        return False
    counted = numbers[:, :2]
    whole = np.isfinite(counted).all() and (counted == np.floor(counted)).all()
    return bool(whole and (counted >= (0, -1)).all() and (numbers[:, 4:6] > 0).all())


def read(source: TrackSource) -> Tracks:
    """The centre of each box, in pixels."""
    layout = layout_or_none(source)
    rows = None if layout is None or layout.names is not None else first_rows(source.path, layout)
    if layout is None or rows is None or rows.shape[1] < _LEAST:
        raise InvalidInput(
            "expected numbers without names: frame, id, left, top, width and height of a box"
        )
    used = [*_BOX, *([_CONFIDENCE] if rows.shape[1] > _LEAST else [])]
    table = read_columns(source.path, layout, used)
    notes = [*layout.notes, "boxes as of the MOT Challenge: the centre of a box is the position"]
    if _CONFIDENCE in used:
        ignored = table[_CONFIDENCE] == 0
        if ignored.any() and not ignored.all():
            notes.append(f"{int(ignored.sum())} boxes with the flag 0 (ignored) are left out")
            table = table[~ignored]
    columns = {
        "frame": table["1"],
        "individual": table["2"],
        "x": table["3"] + table["5"] / 2,
        "y": table["4"] + table["6"] / 2,
    }
    if (columns["individual"] == -1).all():
        raise InvalidInput("it holds detections, not tracks: the id is -1 in all rows")
    chosen = ChosenColumns({name: name for name in columns}, "px", None, tuple(notes))
    return tracks_of(chosen, columns.__getitem__, fps=source.fps, first=1)
