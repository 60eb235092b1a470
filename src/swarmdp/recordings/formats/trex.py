"""Files of TRex: an `.npz` for each individual, all of one video side by side."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.formats import numpy_files
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks, check_table_fits
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

# Where the position is taken: the centre of the body is steadier than the head.
PLACES = ("#wcentroid", "#centroid", "#pcentroid", "")
_HEAD = "head"  # what TRex calls the last one
_NUMBER = re.compile(r"(.*?)(\d+)\.npz")


def recognises(source: TrackSource) -> bool:
    """Whether it is such a file or a folder of them."""
    if source.head:
        return source.head.startswith(numpy_files.ZIP) and source.path.suffix == ".npz"
    return any(source.path.glob("*.npz"))


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals of the video, in cm as TRex writes them."""
    folder, prefix = _video(source)
    numbered = sorted(
        (int(match[2]), path)
        for path in folder.glob("*.npz")
        if (match := _NUMBER.fullmatch(path.name)) and match[1] == prefix
    )
    if not numbered:
        raise InvalidInput(
            "TRex numbers its files, such as video_fish0.npz: this one has no number"
        )
    place = _place(numbered[0][1], source.keypoint)
    individuals = [_individual(path, place) for _, path in numbered]
    there = [frames for frames, _, _ in individuals if len(frames)]
    if not there:
        raise InvalidInput("no individual has a frame")
    first, last = min(f.min() for f in there), max(f.max() for f in there)
    count = int(last - first) + 1
    check_table_fits(count, len(individuals), 2, "Export fewer frames")
    positions = np.full((count, len(individuals), 2), np.nan)
    for individual, (frames, points, _) in enumerate(individuals):
        positions[frames - first, individual] = points
    rates = [rate for _, _, rate in individuals if rate is not None]
    notes = [
        f"{len(individuals)} files {prefix}*.npz, one for each individual; position: X{place}, "
        f"Y{place}",
        "in cm as TRex computed them: right if cm_per_pixel was set there",
    ]
    if first:
        notes.append(f"the first frame is {first}")
    return Tracks(
        positions,
        tuple(number for number, _ in numbered),
        float(np.median(rates)) if rates else None,
        "cm",
        notes=tuple(notes),
    )


def _video(source: TrackSource) -> tuple[Path, str]:
    """The folder and how the names of one video's files begin."""
    if source.head:
        match = _NUMBER.fullmatch(source.path.name)
        return source.path.parent, match[1] if match else ""
    prefixes = sorted(
        {
            match[1]
            for path in source.path.glob("*.npz")
            if (match := _NUMBER.fullmatch(path.name)) and "frame" in numpy_files.names_in_npz(path)
        }
    )
    if len(prefixes) != 1:
        listed = ", ".join(f"{prefix}*.npz" for prefix in prefixes[:5]) or "none"
        raise InvalidInput(f"expected the files of one video, got {listed}: give one of the files")
    return source.path, prefixes[0]


def _place(path: Path, asked: str | None) -> str:
    names = numpy_files.names_in_npz(path)
    if "frame" not in names:
        raise InvalidInput(f"{path.name} is not of TRex: it has no 'frame'")
    there = [place for place in PLACES if {f"X{place}", f"Y{place}"} <= names]
    if not there:
        raise InvalidInput(f"{path.name} has no positions: export X and Y in TRex")
    if asked is None:
        return there[0]
    suffix = "" if asked == _HEAD else f"#{asked}"
    if suffix not in there:
        options = ", ".join(repr(place.removeprefix("#") or _HEAD) for place in there)
        raise InvalidInput(f"keypoint must be one of {options}, got {brief(asked)}")
    return suffix


def _individual(
    path: Path, place: str
) -> tuple[NDArray[np.int64], NDArray[np.float64], float | None]:
    """The frames of an individual, its points in them, and the frame rate."""
    names = {"frame", "time", "missing", f"X{place}", f"Y{place}"}
    content = numpy_files.read_npz(path, names)
    frames = _vector(content, "frame", path)
    if len(frames) and not (np.isfinite(frames).all() and (frames == np.floor(frames)).all()):
        raise InvalidInput(f"'frame' in {path.name} must be whole numbers")
    points = np.stack([_vector(content, f"{axis}{place}", path) for axis in "XY"], axis=1)
    if len(points) != len(frames):
        raise InvalidInput(f"'frame' and positions in {path.name} differ in length")
    if len(np.unique(frames)) != len(frames):
        raise InvalidInput(f"{path.name} has a frame twice")
    if "missing" in content:
        missing = _vector(content, "missing", path)
        points[missing[: len(points)] != 0] = np.nan  # interpolated by TRex, or nothing
    rate = None
    if "time" in content and len(frames) > 1:
        times = _vector(content, "time", path)
        span = float(times[-1] - times[0])
        rate = float(frames[-1] - frames[0]) / span if np.isfinite(span) and span > 0 else None
    return frames.astype(np.int64), points, rate


def _vector(content: dict[str, Any], name: str, path: Path) -> NDArray[np.float64]:
    array = content.get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidInput(f"{name!r} in {path.name} must be a list of numbers, got {brief(array)}")
    return array.astype(np.float64)
