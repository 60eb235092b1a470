"""SLEAP's analysis as a table: track, frame_idx, and for each node its x, y and score."""

from swarmdp.recordings.datasets import chosen_keypoint
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import layout_or_none, read_columns
from swarmdp.recordings.long_tables import ChosenColumns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput


def recognises(source: TrackSource) -> bool:
    """Whether its columns have the names that SLEAP gives."""
    layout = layout_or_none(source)
    names = set(() if layout is None else layout.names or ())
    return {"track", "frame_idx"} <= names and bool(_nodes(names))


def _nodes(names: set[str]) -> set[str]:
    ends = {name.removesuffix(".x") for name in names if name.endswith(".x")}
    return {node for node in ends if f"{node}.y" in names}


def read(source: TrackSource) -> Tracks:
    """The tracks of one node of all individuals, in pixels."""
    layout = layout_or_none(source)
    assert layout is not None
    assert layout.names is not None
    ends = [name.removesuffix(".x") for name in layout.names if name.endswith(".x")]
    nodes = [node for node in ends if f"{node}.y" in layout.names]
    number, said = chosen_keypoint(nodes, source.keypoint)
    roles = {"frame": "frame_idx", "individual": "track"}
    roles |= {axis: f"{nodes[number]}.{axis}" for axis in "xy"}
    table = read_columns(source.path, layout, list(roles.values()), labels=("track",))
    notes = [*layout.notes, *said]
    outside = table["track"].isna()
    if outside.all():
        raise InvalidInput("its instances are in no track: track them in SLEAP, and export again")
    if outside.any():
        notes.append(f"{int(outside.sum())} instances are in no track, and are left out")
        table = table[~outside]
    chosen = ChosenColumns(roles, "px", None, tuple(notes))
    return tracks_of(chosen, table.__getitem__, fps=source.fps, first=1)
