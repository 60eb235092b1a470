"""Tables with longitude and latitude, such as those of Movebank: projected around their centre."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.cells import numbers
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.formats.text_tables import first_rows, layout_or_none, read_columns
from swarmdp.recordings.long_tables import (
    ChosenColumns,
    choose_columns,
    fits,
    row_times,
    tracks_of,
)
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput

LONGITUDES = "location_long longitude lon long lng gps_longitude gps_long gps_lon"
LATITUDES = "location_lat latitude lat gps_latitude gps_lat"
_AXIS, _FLATTENING = 6378137.0, 1 / 298.257223563  # of WGS 84, in m
_LARGEST_ERROR = 0.05  # of a distance, to which a projection on a plane is worth while
_VISIBLE = "visible"  # Movebank's mark of what is no outlier


def recognises(source: TrackSource) -> bool:
    """Whether it has a longitude and a latitude, and no other coordinates."""
    layout = layout_or_none(source)
    if layout is None or layout.names is None:
        return False
    x, y = _coordinates(layout.names)
    return bool(x and y and not any(fits(name, axis) for name in layout.names for axis in "xy"))


def _coordinates(names: Sequence[str]) -> tuple[list[str], list[str]]:
    longitudes, latitudes = (
        [name for name in names if fits(name, words)] for words in (LONGITUDES, LATITUDES)
    )
    return longitudes, latitudes


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals, in metres around their centre."""
    layout = layout_or_none(source)
    if layout is None or layout.names is None:
        raise InvalidInput("expected a table with longitude and latitude")
    longitudes, latitudes = _coordinates(layout.names)
    if len(longitudes) != 1 or len(latitudes) != 1:
        listed = ", ".join(map(repr, (*longitudes, *latitudes))) or "none"
        raise InvalidInput(f"expected one longitude and one latitude, got {listed}")
    peek = first_rows(source.path, layout)
    named = {"x": longitudes[0], "y": latitudes[0]}
    others = choose_columns(layout.names, named, peek.__getitem__)
    roles = dict(others.columns)
    clock = roles.get("time") or roles.get("frame")
    assert clock is not None
    marked = [name for name in layout.names if name.lower() == _VISIBLE]
    labels = [roles["individual"]] if "individual" in roles else []
    dated = [others.date] if others.date else []
    used = list(dict.fromkeys([*roles.values(), *marked, *dated]))
    table = read_columns(source.path, layout, used, labels=labels)
    notes = [*layout.notes, *others.notes]
    if marked:
        hidden = table[marked[0]].astype(str).str.lower().isin(["false", "0", "f"])
        if hidden.any():
            notes.append(f"{int(hidden.sum())} rows are marked as not visible, and are left out")
            table = table[~hidden]
    x, y, said = project(
        numbers(named["x"], table[named["x"]], 1), numbers(named["y"], table[named["y"]], 1)
    )
    columns: dict[str, Any] = {"x": x, "y": y}
    if labels:
        columns["individual"] = table[labels[0]]
    if "frame" in roles:
        columns["frame"] = table[roles["frame"]]
        chosen = ChosenColumns({n: n for n in columns}, "m", None, (*notes, said))
        return tracks_of(chosen, columns.__getitem__, fps=source.fps, first=1)
    told: list[str] = []
    seconds, known = row_times(others, table.__getitem__, 1, told)
    if not known and source.fps is None:
        raise InvalidInput(
            f"fps is missing: give the number of frames per second if column {clock!r} is in "
            "seconds, or a column whose name tells its unit, such as 'time_s'"
        )
    who = np.unique(np.asarray(columns.get("individual", np.zeros(len(x)))), return_inverse=True)[1]
    frames, rate, words = frames_of_fixes(seconds, np.asarray(who).ravel(), source.fps)
    fresh = ~_repeated(frames, np.asarray(who).ravel())
    if not fresh.all():
        words += f"; {int((~fresh).sum())} fixes fell on a frame that had one, and are left out"
    columns = {name: np.asarray(values)[fresh] for name, values in columns.items()}
    columns["frame"] = frames[fresh]
    chosen = ChosenColumns({n: n for n in columns}, "m", None, (*notes, said, *told, words))
    tracks = tracks_of(chosen, columns.__getitem__, fps=source.fps, first=1)
    return Tracks(
        tracks.positions, tracks.individuals, rate, "m", notes=tracks.notes, every=tracks.every
    )


def project(
    longitude: NDArray[np.float64], latitude: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Metres to the east and to the north of the centre, and what to say of it.

    Degrees are turned to metres with the curvature of the ellipsoid WGS 84 at the centre, so that
    distances to the east are wrong as far as parallels differ in length.
    """
    there = np.isfinite(longitude) & np.isfinite(latitude)
    if not there.any():
        raise InvalidInput("it has no row with a longitude and a latitude")
    if (np.abs(longitude[there]) > 360).any() or (np.abs(latitude[there]) > 90).any():
        raise InvalidInput("longitude and latitude must be degrees: the latitude from -90 to 90")
    turned = np.exp(1j * np.radians(longitude[there])).mean()
    east, north = np.degrees(np.angle(turned)), float(latitude[there].mean())
    away = np.radians((longitude - east + 180) % 360 - 180)  # also across the date line
    squared = _FLATTENING * (2 - _FLATTENING)
    shape = 1 - squared * np.sin(np.radians(north)) ** 2
    across = _AXIS / np.sqrt(shape) * np.cos(np.radians(north))
    along = _AXIS * (1 - squared) / shape**1.5
    x, y = across * away, along * np.radians(latitude - north)
    parallels = np.cos(np.radians(latitude[there]))
    error = float(np.abs(parallels / np.cos(np.radians(north)) - 1).max())
    if error > _LARGEST_ERROR:
        raise InvalidInput(
            f"its places spread over {np.ptp(y[there]) / 1000:,.0f} km from south to north, too "
            f"far for a plane (distances would be wrong by {100 * error:.0f} %): project them "
            "yourself, or cut it into parts"
        )
    said = (
        f"longitude and latitude are projected on a plane around {north:.4f} N, {east:.4f} E, in "
        f"m; distances are right to {max(100 * error, 0.001):.2g} %"
    )
    return x, y, said


def frames_of_fixes(
    seconds: NDArray[np.float64], who: NDArray[np.int64], fps: float | None
) -> tuple[NDArray[np.int64], float, str]:
    """The nearest frame of each fix, frames per second, and what to say of it.

    Tags do not take their fixes at the same second: frames are as far apart as most fixes of an
    individual, and times are rounded to them.
    """
    order = np.lexsort((seconds, who))
    steps = np.diff(seconds[order])[np.diff(who[order]) == 0]
    steps = steps[steps > 0]
    if fps is None and not len(steps):
        raise InvalidInput("no individual has two fixes: nothing tells how far apart frames are")
    interval = 1 / fps if fps is not None else float(np.median(steps))
    phase = np.angle(np.exp(2j * np.pi * seconds / interval).mean()) / (2 * np.pi) * interval
    frames = np.rint((seconds - phase) / interval).astype(np.int64)
    off = float(np.abs(seconds - phase - frames * interval).max())
    return (
        frames,
        1 / interval,
        f"times are rounded to every {interval:g} s, by {off:.3g} s at most",
    )


def _repeated(frames: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an individual is in this frame already, in an earlier row."""
    import pandas

    return np.asarray(pandas.DataFrame({"frame": frames, "who": who}).duplicated())
