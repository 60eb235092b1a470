"""Trajectories of idtracker.ai: HDF5, tables of text, and NumPy files of its older versions."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.formats import hdf5, numpy_files
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks, check_table_fits
from swarmdp.support import files
from swarmdp.support.checks import brief, is_number
from swarmdp.support.errors import InvalidInput

TRAJECTORIES = "trajectories"
TABLE = "trajectories.csv"
ATTRIBUTES = "attributes.json"
POINTS, BORDER = "setup_points", "border"


def recognises(source: TrackSource) -> bool:
    """Whether it is one of the files of idtracker.ai."""
    if not source.head:
        return (source.path / TABLE).is_file()
    if source.is_hdf5:
        return TRAJECTORIES in source.names
    return source.head.startswith(numpy_files.MAGIC) or _is_wide(source.first_line)


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals, in pixels."""
    if not source.head:
        return _read_table(source.path / TABLE)
    if source.is_hdf5:
        return _read_hdf5(source.path)
    if source.head.startswith(numpy_files.MAGIC):
        return _read_npy(source.path)
    return _read_table(source.path)


def _read_hdf5(path: Path) -> Tracks:
    with hdf5.open_hdf5(path) as file:
        names = ("frames_per_second", "body_length", "length_unit")
        attributes = {name: hdf5.attribute(file, name) for name in names}
        positions = _positions(hdf5.array(file, TRAJECTORIES))
    return with_attributes(Tracks(positions, unit="px"), attributes)


def _read_npy(path: Path) -> Tracks:
    content = numpy_files.read_npy(path)
    if isinstance(content, Mapping):
        if TRAJECTORIES not in content:
            raise InvalidInput(f"it is not of idtracker.ai: it has no {TRAJECTORIES!r}")
        return with_attributes(Tracks(_positions(content[TRAJECTORIES]), unit="px"), content)
    return Tracks(_positions(content), notes=("an array without frame rate and unit",))


def _read_table(path: Path) -> Tracks:
    """A line for each frame: time, x1, y1, x2, y2, ..."""
    import pandas

    with files.reading(path) as file:
        line = file.readline().decode("utf-8-sig", "replace").strip()
    if not _is_wide(line):
        raise InvalidInput("its first line must be the names time, x1, y1, x2, y2, ...")
    names = [name.strip() for name in line.split(",")]
    timed = names[0] in ("time", "seconds")
    if (len(names) - timed) % 2:
        raise InvalidInput(f"column {names[-1]!r} has no y beside it")
    size = path.stat().st_size
    check_table_fits(size // (4 * len(names)) + 1, len(names) // 2, 2, "Export a part of it")
    with files.reading(path) as file:
        try:
            table = pandas.read_csv(file, header=None, skiprows=1, low_memory=False)
        except pandas.errors.ParserError as error:
            raise InvalidInput(f"its rows have different lengths ({error})") from None
        except pandas.errors.EmptyDataError:
            raise InvalidInput("it has no rows below the line of names") from None
    if table.shape[1] != len(names):
        raise InvalidInput(f"it has {len(names)} names, but {table.shape[1]} columns of numbers")
    numbers = table.apply(pandas.to_numeric, errors="coerce")
    wrong = np.asarray(numbers.isna() & table.notna())
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = brief(table.iloc[row, column])
        raise InvalidInput(f"row {row + 1} of column {names[column]!r} is {value}, not a number")
    values = np.ascontiguousarray(numbers.to_numpy(dtype=np.float64))
    positions = values[:, int(timed) :].reshape(len(values), -1, 2)
    tracks = Tracks(positions, unit="px", fps=_rate(values[:, 0]) if timed else None)
    if not (path.parent / ATTRIBUTES).is_file():
        return tracks
    attributes = files.parse_json(files.read_text(path.parent / ATTRIBUTES))
    return with_attributes(tracks, attributes if isinstance(attributes, dict) else {})


def with_attributes(tracks: Tracks, attributes: Mapping[Any, Any]) -> Tracks:
    """The same with the frame rate, body length and border that idtracker.ai tells."""
    fps = _positive(attributes.get("frames_per_second"))
    notes = list(tracks.notes)
    scale = _positive(attributes.get("length_unit"))
    if scale is not None:
        notes.append(f"idtracker.ai was told that {scale:g} px are one unit of length")
    return replace(
        tracks,
        fps=fps or tracks.fps,
        unit="px",
        body_length=_positive(attributes.get("body_length")),
        notes=tuple(notes),
        border=_border(attributes.get(POINTS)),
    )


def _border(marked: Any) -> NDArray[np.float64] | None:
    """The corners of the tank among the points that a user marked; None if there are none."""
    corners = marked.get(BORDER) if isinstance(marked, Mapping) else None
    if corners is None:
        return None
    try:
        points = np.asarray(corners, np.float64)
    except (TypeError, ValueError):
        return None
    right = points.ndim == 2 and points.shape[1] == 2 and len(points) >= 3
    return points if right and np.isfinite(points).all() and np.ptp(points, axis=0).all() else None


def _positive(value: Any) -> float | None:
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "iuf":
        value = value.item()
    if not is_number(value) or not np.isfinite(value) or value <= 0:
        return None
    return float(value)


def _positions(content: Any) -> NDArray[np.float64]:
    if not isinstance(content, np.ndarray) or content.dtype.kind not in "iuf" or content.ndim != 3:
        raise InvalidInput(
            f"expected an array (time, individual, axis) of numbers, got {brief(content)}"
        )
    if content.shape[2] not in (2, 3):
        raise InvalidInput(
            f"expected an array (time, individual, 2 or 3 axes), got one of shape {content.shape}"
        )
    return np.ascontiguousarray(content, dtype=np.float64)


def _is_wide(line: str) -> bool:
    """Whether a line is time, x1, y1, x2, y2, ...; its end may be cut off."""
    names = [name.strip() for name in line.split(",")]
    if names[0] in ("time", "seconds"):
        names = names[1:]
    expected = [f"{axis}{number}" for number in range(1, len(names) // 2 + 2) for axis in "xy"]
    return len(names) > 1 and names[:-1] == expected[: len(names) - 1] and names[-1][:1] in "xy"


def _rate(times: NDArray[np.float64]) -> float | None:
    span = float(times[-1] - times[0]) if len(times) > 1 else 0.0
    return (len(times) - 1) / span if span > 0 else None
