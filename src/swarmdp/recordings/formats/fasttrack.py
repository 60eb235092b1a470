"""FastTrack: `tracking.txt`, a row for each object in each image, with head, tail and body."""

from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import layout_or_none, read_columns
from swarmdp.recordings.long_tables import ChosenColumns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

PARTS = ("body", "head", "tail")
_USUAL = PARTS[0]


def recognises(source: TrackSource) -> bool:
    """Whether its columns have the names that FastTrack gives."""
    layout = layout_or_none(source)
    names = set(() if layout is None else layout.names or ())
    return {"xBody", "yBody", "imageNumber", "id"} <= names


def read(source: TrackSource) -> Tracks:
    """The tracks of all objects, in pixels."""
    layout = layout_or_none(source)
    assert layout is not None
    part = source.keypoint or _USUAL
    if part not in PARTS:
        raise InvalidInput(f"keypoint must be one of {', '.join(PARTS)}, got {brief(part)}")
    x, y = f"x{part.capitalize()}", f"y{part.capitalize()}"
    roles = {"frame": "imageNumber", "individual": "id", "x": x, "y": y}
    table = read_columns(source.path, layout, list(roles.values()))
    note = f"the {part} stands for the individual"
    chosen = ChosenColumns(roles, "px", None, (*layout.notes, note))
    return tracks_of(chosen, table.__getitem__, fps=source.fps, first=1)
