"""Wide tables: a row for each frame, two or three columns for each individual."""

import re
from collections.abc import Sequence

import numpy as np

from swarmdp.recordings.cells import numbers
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import first_rows, layout_or_none, read_columns
from swarmdp.recordings.long_tables import (
    ChosenColumns,
    fits,
    length_unit,
    parts,
    seconds_of,
    tracks_of,
)
from swarmdp.recordings.raw_tracks import Tracks, check_table_fits
from swarmdp.support.errors import InvalidInput

_PATTERNS = (  # of an axis and an individual, each in a column's name without its unit
    r"(?P<axis>[xyz])(?P<who>\d+)",
    r"(?P<who>.*\d)(?P<axis>[xyz])",
    r"(?P<axis>[xyz])_(?P<who>.+)",
    r"(?P<who>.+)_(?P<axis>[xyz])",
)
# What has coordinates in long tables, too, and is no individual.
_NO_INDIVIDUALS = (
    "pos position coord coordinate center centre centroid location body head tail nose snout neck "
    "thorax abdomen beak eye left right front back vel velocity speed v acc acceleration heading "
    "direction dir raw smooth smoothed filtered world px cm mm m start end min max mean"
)


def recognises(source: TrackSource) -> bool:
    """Whether several names tell an axis and an individual, and each frame is in one row."""
    layout = layout_or_none(source)
    if layout is None or layout.names is None or source.columns:
        return False
    names = layout.names
    if any(fits(name, role) for name in names for role in ("individual", "x", "y")):
        return False
    if len(_pairs(names)) < 2:
        return False
    clock = _clock(names, "frame") or _clock(names, "time")
    if clock is None:
        return True
    rows = first_rows(source.path, layout)[clock]
    return bool(rows.nunique() == len(rows))


def _pairs(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """For each individual the columns of its axes."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        base = parts(name)[0]
        for pattern in _PATTERNS:
            match = re.fullmatch(pattern, base)
            if match:
                who = match["who"].strip("_")
                if who and who not in _NO_INDIVIDUALS.split():
                    found.setdefault(who, {}).setdefault(match["axis"], name)
                break
    return {who: axes for who, axes in found.items() if {"x", "y"} <= axes.keys()}


def _clock(names: Sequence[str], role: str) -> str | None:
    return next((name for name in names if fits(name, role)), None)


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals."""
    layout = layout_or_none(source)
    pairs = {} if layout is None else _pairs(layout.names or ())
    if layout is None or layout.names is None or not pairs:
        raise InvalidInput("expected names that tell axis and individual, such as x1, y1, x2, y2")
    axes = [axis for axis in "xyz" if all(axis in own for own in pairs.values())]
    places = {who: [own[axis] for axis in axes] for who, own in pairs.items()}
    frame, time = _clock(layout.names, "frame"), _clock(layout.names, "time")
    if frame is not None and time is not None and seconds_of(time) is None:
        time = None  # it would tell nothing
    clocks = {role: name for role, name in (("frame", frame), ("time", time)) if name is not None}
    used = [*clocks.values(), *(name for own in places.values() for name in own)]
    table = read_columns(source.path, layout, used)
    check_table_fits(len(table), len(places), len(axes), "Read a part of it")
    count, many = len(table), len(places)
    labels = list(pairs)
    individuals = [int(label) for label in labels] if all(map(str.isdigit, labels)) else labels
    columns = {"individual": np.tile(np.array(individuals), count)}
    for role, name in clocks.items():
        columns[role] = np.repeat(np.asarray(table[name]), many)
    if not clocks:
        columns["frame"] = np.repeat(np.arange(count), many)
    for number, axis in enumerate(axes):
        values = [numbers(own[number], table[own[number]], 1) for own in places.values()]
        columns[axis] = np.stack(values, axis=1).ravel()
    units = {length_unit(parts(name)[1]) for own in places.values() for name in own}
    if len(units) > 1:
        raise InvalidInput("its coordinates are in several units, by the names of the columns")
    shown = ", ".join(map(repr, labels[:5])) + (" ..." if many > 5 else "")
    said = f"a row for each frame; individuals by the names of the columns: {shown}"
    notes = (*layout.notes, said) if clocks else (*layout.notes, said, "no column is a time")
    seconds = seconds_of(time) if time is not None else None
    chosen = ChosenColumns({name: name for name in columns}, units.pop(), seconds, notes)
    return tracks_of(chosen, columns.__getitem__, fps=source.fps, first=1)
