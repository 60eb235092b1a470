"""Text files of the pedestrian data archive, as PedPy reads them: id, frame, x, y, (z)."""

import re

import numpy as np

from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.long_tables import ChosenColumns, tracks_of
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_NAMES = ("individual", "frame", "x", "y", "z")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN"
_BYTES = 6  # of memory for each byte of the file


def recognises(source: TrackSource) -> bool:
    """Whether lines with # and then four or five numbers between blanks begin it."""
    lines = (source.text or "").splitlines()
    if not any(line.startswith("#") for line in lines[:1]):
        return False
    data = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    fields = data.split()
    return len(fields) >= 4 and all(re.fullmatch(_NUMBER, field) for field in fields[:4])


def read(source: TrackSource) -> Tracks:
    """The tracks of all pedestrians, in two dimensions: the height is their own, not a place."""
    import pandas

    lines = (source.text or "").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    fps, unit = _rate(comments), _unit(comments)
    check_memory(_BYTES * source.path.stat().st_size, "to read it", "Read a part of it")
    with files.reading(source.path) as file:
        try:
            table = pandas.read_csv(
                file,
                sep=r"\s+",
                comment="#",
                header=None,
                names=_NAMES[:4],
                usecols=[0, 1, 2, 3],
                low_memory=False,
            )
        except pandas.errors.ParserError as error:
            raise InvalidInput(f"its rows have different lengths ({error})") from None
    chosen = ChosenColumns({name: name for name in _NAMES[:4]}, unit, None, ())
    tracks = tracks_of(chosen, table.__getitem__, fps=source.fps, first=1)
    return Tracks(
        tracks.positions,
        tracks.individuals,
        fps,
        unit,
        notes=tracks.notes,
        every=tracks.every,
    )


def _rate(comments: list[str]) -> float | None:
    """The frame rate in a line such as '# framerate: 25.00'."""
    for line in comments:
        if "framerate" in line.lower().replace(" ", ""):
            for number in re.findall(_NUMBER, line):
                rate = float(number)
                if np.isfinite(rate) and rate > 0:
                    return rate
    return None


def _unit(comments: list[str]) -> str | None:
    """The unit in a line such as '# id frame x/cm y/cm z/cm' or '... in m'."""
    units = set()
    for line in comments:
        units |= set(re.findall(r"(?:x/|\bin )(cm|m)\b", line.lower()))
    if len(units) > 1:
        raise InvalidInput("its first lines name two units, cm and m: correct them")
    return units.pop() if units else None
