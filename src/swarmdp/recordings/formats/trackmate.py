"""TrackMate: its own XML, exported tracks (XML), and the table of spots (CSV)."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from swarmdp.recordings.formats.markup_files import read_markup
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import layout_or_none, read_columns
from swarmdp.recordings.long_tables import ChosenColumns, length_unit, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

COLUMNS = {"frame": "FRAME", "individual": "TRACK_ID", "x": "POSITION_X", "y": "POSITION_Y"}
_TIME, _HEIGHT = "POSITION_T", "POSITION_Z"
_BYTES = 12  # of memory for each byte of XML
_SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3}
_SECONDS |= {"min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0}


def recognises(source: TrackSource) -> bool:
    """Whether it is XML of TrackMate, or a table with the names of its columns."""
    text = (source.text or "").lstrip()
    if text.startswith("<"):
        return "<TrackMate" in text or ("<Tracks" in text and "spaceUnits" in text)
    layout = layout_or_none(source)
    return layout is not None and {*COLUMNS.values()} <= {*(layout.names or ())}


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals; spots that are in no track are left out, and it is said."""
    if (source.text or "").lstrip().startswith("<"):
        return _read_xml(source)
    layout = layout_or_none(source)
    assert layout is not None
    assert layout.names is not None
    names = list(layout.names)
    columns = dict(COLUMNS)
    units = dict(zip(names, (text.strip().strip("()") for text in layout.units), strict=False))
    seconds = _SECONDS.get(units.get(_TIME, "").lower())
    if _TIME in names and seconds is not None:
        columns["time"] = _TIME
    used = [*columns.values(), *([_HEIGHT] if _HEIGHT in names else [])]
    table = read_columns(source.path, layout, used)
    outside = table[COLUMNS["individual"]].isna()
    notes = [*layout.notes]
    if outside.any():
        notes.append(f"{int(outside.sum())} spots are in no track, and are left out")
        table = table[~outside]
    if _HEIGHT in names and len(table) and np.nanmax(np.abs(table[_HEIGHT])) > 0:
        columns["z"] = _HEIGHT
    unit = length_unit(units.get(COLUMNS["x"], ""))
    chosen = ChosenColumns(columns, unit, seconds, tuple(notes))
    return tracks_of(chosen, table.__getitem__, fps=source.fps, first=1)


@dataclass
class _Document:
    """What was found in an XML file so far."""

    unit: str = ""
    time_unit: str = ""
    interval: float | None = None
    spots: dict[int, tuple[int, float, float, float]] = field(default_factory=dict)
    tracks: dict[str, set[int]] = field(default_factory=dict)
    kept: set[str] | None = None  # tracks that passed TrackMate's filters
    current: str | None = None
    rows: list[tuple[Any, int, float, float, float]] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "Model":
                self.unit = attributes.get("spatialunits", "")
                self.time_unit = attributes.get("timeunits", "")
            case "Tracks":
                self.unit = attributes.get("spaceUnits", "")
                self.time_unit = attributes.get("timeUnits", "")
                self.interval = _positive(attributes.get("frameInterval"))
            case "ImageData":
                self.interval = _positive(attributes.get("timeinterval"))
            case "Spot":
                place = (_number(attributes, f"POSITION_{axis}") for axis in "XYZ")
                frame = int(_number(attributes, "FRAME"))
                self.spots[int(_number(attributes, "ID"))] = (frame, *place)  # type: ignore[assignment]
            case "Track":
                self.current = attributes.get("TRACK_ID", str(len(self.tracks)))
                self.tracks[self.current] = set()
            case "Edge" if self.current is not None:
                ends = ("SPOT_SOURCE_ID", "SPOT_TARGET_ID")
                self.tracks[self.current] |= {int(_number(attributes, end)) for end in ends}
            case "FilteredTracks":
                self.kept = set()
            case "TrackID" if self.kept is not None:
                self.kept.add(attributes.get("TRACK_ID", ""))
            case "particle":
                self.current = str(len(self.tracks))
                self.tracks[self.current] = set()
            case "detection" if self.current is not None:
                place = (_number(attributes, axis) for axis in "xyz")
                frame = int(_number(attributes, "t"))
                self.rows.append((int(self.current), frame, *place))  # type: ignore[arg-type]


def _read_xml(source: TrackSource) -> Tracks:
    check_memory(_BYTES * source.path.stat().st_size, "to read it", "Export its spots as a table")
    document = _Document()
    read_markup(source.path, document.start)
    notes = []
    rows = document.rows
    kept = document.kept if document.kept is not None else set(document.tracks)
    if left_out := len(set(document.tracks) - kept):
        notes.append(f"{left_out} tracks did not pass the filters of TrackMate, and are left out")
    for name, spots in document.tracks.items():
        if name in kept:
            missing = spots - document.spots.keys()
            if missing:
                raise InvalidInput(f"track {name} has a spot that is not there: {min(missing)}")
            rows += [(int(name), *document.spots[spot]) for spot in sorted(spots)]
    if not rows:
        raise InvalidInput("it has no tracks: link the spots in TrackMate first")
    outside = len(document.spots) - sum(map(len, document.tracks.values()))
    if document.spots and outside > 0:
        notes.append(f"{outside} spots are in no track, and are left out")
    table = np.array(rows, dtype=np.float64)
    names = ("individual", "frame", "x", "y", "z")
    columns = {name: table[:, axis] for axis, name in enumerate(names)}
    flat = not np.nanmax(np.abs(columns["z"]), initial=0) > 0
    roles = {name: name for name in names if not (flat and name == "z")}
    _check_no_branches(columns["individual"], columns["frame"])
    chosen = ChosenColumns(roles, length_unit(document.unit), None, tuple(notes))
    tracks = tracks_of(chosen, columns.__getitem__, fps=source.fps, first=1)
    span = _SECONDS.get(document.time_unit.lower())
    if span is None or document.interval is None:
        return tracks
    return replace(tracks, fps=1 / (span * document.interval))


def _check_no_branches(who: Any, frames: Any) -> None:
    both, counts = np.unique(np.stack([who, frames]), axis=1, return_counts=True)
    if (counts > 1).any():
        track, frame = (int(value) for value in both[:, int(np.argmax(counts > 1))])
        raise InvalidInput(
            f"track {track} has two spots in frame {frame}: tracks that split or merge are not of "
            "one individual each; switch splitting and merging off in TrackMate"
        )


def _positive(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < np.inf else None


def _number(attributes: dict[str, str], name: str) -> float:
    text = attributes.get(name, "0" if name in ("POSITION_Z", "z") else "")
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InvalidInput(f"attribute {name} must be a number, got {brief(text)}")
    return number
