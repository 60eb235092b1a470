"""swarmdp.read_tracks: recordings from the files of tracking tools."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swarmdp.recordings.formats import (
    deeplabcut,
    fasttrack,
    geographic,
    idtracker,
    matlab,
    mot,
    movement,
    parquet,
    pedpy,
    sleap,
    sleap_tables,
    text_tables,
    trackmate,
    trackpy,
    trex,
    wide_tables,
)
from swarmdp.recordings.formats.archives import unpacked
from swarmdp.recordings.formats.source import TrackSource, source_of
from swarmdp.recordings.long_tables import KIND
from swarmdp.recordings.outsiders import with_file
from swarmdp.recordings.raw_tracks import Tracks, as_recording
from swarmdp.recordings.recording import Recording
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import FileError, InvalidInput, NotEnoughMemory, SwarmdpError
from swarmdp.support.memory import readable

_NO_TRACKS = {".md", ".json", ".pdf", ".png", ".jpg", ".avi", ".mp4", ".mov", ".py", ".m", ".r"}
LARGE_TABLE = 1 << 26  # bytes of a table of text from which on it is said what reading it takes


@dataclass(frozen=True)
class Format:
    """A kind of file: how it is called, known and read."""

    name: str
    title: str
    recognises: Callable[[TrackSource], bool]
    read: Callable[[TrackSource], Tracks]


# In the order in which they are tried: what is known most surely comes first.
FORMATS = {
    form.name: form
    for form in (
        Format("matlab", "MATLAB arrays (.mat)", matlab.recognises, matlab.read),
        Format("sleap", "SLEAP analysis file (.h5)", sleap.recognises, sleap.read),
        Format("deeplabcut", "DeepLabCut (.h5)", deeplabcut.recognises, deeplabcut.read),
        Format("trackpy", "trackpy (.h5)", trackpy.recognises, trackpy.read),
        Format("movement", "movement (.nc)", movement.recognises, movement.read),
        Format("idtracker", "idtracker.ai (.h5, .csv, .npy)", idtracker.recognises, idtracker.read),
        Format("trex", "TRex (.npz)", trex.recognises, trex.read),
        Format("parquet", "long table (.parquet)", parquet.recognises, parquet.read),
        Format("pedpy", "PedPy text (.txt)", pedpy.recognises, pedpy.read),
        Format("trackmate", "TrackMate (.xml, .csv)", trackmate.recognises, trackmate.read),
        Format("fasttrack", "FastTrack (tracking.txt)", fasttrack.recognises, fasttrack.read),
        Format("sleap-csv", "SLEAP analysis (.csv)", sleap_tables.recognises, sleap_tables.read),
        Format("mot", "boxes of the MOT Challenge (.txt)", mot.recognises, mot.read),
        Format("geographic", "longitude and latitude", geographic.recognises, geographic.read),
        Format("wide", "a row for each frame (.csv)", wide_tables.recognises, wide_tables.read),
        Format("table", "long table (.csv, .tsv)", text_tables.recognises, text_tables.read),
    )
}


@checked(skip=("path",))
def read_tracks(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002, the natural name
    columns: Mapping[str, str] | None = None,
    fps: float | None = None,
    unit: str | None = None,
    length: float | None = None,
    keypoint: str | None = None,
    kind: str | None = None,
    others: Sequence[str | int | os.PathLike[str]] = (),
) -> Recording:
    r"""Read a recorded swarm from a file of a tracking tool.

    The recording's `notes` say what was guessed. Frame rate and unit are never guessed: what
    the file does not tell has to be given.

    Parameters
    ----------
    path
        The file; of TRex also the folder of a video's files. Several files, or a folder of them,
        are pooled as `Recording.pooled` does it, each named after its file.
    format
        One of "table" (CSV, TSV, XLSX), "wide" (columns for each individual), "parquet",
        "geographic" (longitude and latitude, as of Movebank), "idtracker", "trex", "movement",
        "trackpy", "trackmate", "fasttrack", "pedpy", "deeplabcut", "sleap", "sleap-csv", "mot",
        "matlab"; by the file's content if not given.
    columns
        Of tables, which column is the "frame" (or the "time"), the "individual", and "x", "y", "z",
        such as {"individual": "fish", "x": "x_cm"}; of MATLAB, which array holds the "positions",
        or "x" and "y". What is not named is guessed.
    fps
        Frames per second.
    unit
        The unit of length that the recording shall have, such as "cm", "px" or "BL" (body lengths).
    length
        How many of the file's own units make one `unit`: 58 for unit="BL" and a body length of 58
        pixels. Coordinates are divided by it. Without it they stay as they are.
    keypoint
        Of poses (SLEAP, DeepLabCut, movement), the key point that stands for the individual; of
        TRex "wcentroid", "centroid", "pcentroid" or "head"; of FastTrack "body", "head" or "tail".
    kind
        Of tables, the column that says what each individual is, such as "species".
    others
        Outsiders, which are seen and played back but not learned from: kinds, names of individuals
        (such as 14, or "dog=14" to name it), or a second file, whose individuals are of a kind that
        is named after it.

    Returns
    -------
    Recording
        Positions over time, with what was guessed in its `notes`.

    Raises
    ------
    FileError
        If the file cannot be read, is damaged, or is of no known kind.
    InvalidInput
        If frame rate or unit are in neither the file nor the arguments, or a column is not found.
    RecordingTooLarge
        If it would not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import swarmdp
    >>> rows = ["frame,fish,x,y", *(f"{t},{n},{t + n},{n}" for t in range(5) for n in range(2))]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "fish.csv"
    ...     _ = file.write_text("\n".join(rows))
    ...     recording = swarmdp.read_tracks(file, fps=25, unit="cm")
    ...
    >>> recording
    Recording of 2 individuals in 5 frames (0.2 s at 25 frames a second), in cm, 2-D

    """
    if format is not None and format not in FORMATS:
        raise InvalidInput(f"format must be one of {', '.join(FORMATS)}, got {brief(format)}")
    places = _all_files(path)
    if kind is not None:
        columns = {**(columns or {}), KIND: kind}
    recordings, firsts = [], []
    for place in places:
        recording, first = _read_one(place, format, columns, fps, unit, length, keypoint)
        if kind is not None and recording.kinds is None:
            raise InvalidInput(f"cannot read {place}: this kind of file has no column {kind!r}")
        recordings.append(recording)
        firsts.append(first)
    whole = Recording.pooled(recordings, _titles(places))
    named = [other for other in others if not _is_file(other, whole)]
    for place in (files.as_path(str(other)) for other in others if _is_file(other, whole)):
        if len(places) > 1:
            raise InvalidInput(
                f"{place} has outsiders of one recording, but {len(places)} are read: put them "
                "into the files of the recordings"
            )
        seen, first = _read_one(place, None, None, fps, unit, length, keypoint)
        whole = with_file(whole, firsts[0], seen, first, place.name.partition(".")[0])
    return whole.with_others([str(other) for other in named]) if named else whole


def _is_file(other: str | int | os.PathLike[str], recording: Recording) -> bool:
    """Whether an outsider is a file, and neither a kind nor an individual."""
    known = {*map(str, recording.names), *(recording.kinds or ())}
    return str(other) not in known and Path(str(other)).is_file()


def needed_to_read(places: Sequence[Path]) -> list[str]:
    """What to say of large tables of text before they are read: how much memory that takes."""
    said = []
    for place in places:
        try:
            source = source_of(place, None, None, None)
            if source.path.stat().st_size < LARGE_TABLE or not text_tables.recognises(source):
                continue
        except (SwarmdpError, OSError):
            continue  # reading it tells why
        rows, needed = text_tables.needed_memory(place)
        said.append(
            f"{place.name} has about {rows:,.0f} rows: reading it needs {readable(needed)} of "
            "memory; as Parquet it is read several times as quickly"
        )
    return said


def _all_files(path: Any) -> list[Path]:
    """The files to read: a folder that is no recording itself stands for all files in it."""
    if not isinstance(path, str | os.PathLike):
        if not isinstance(path, Sequence) or not path:
            raise InvalidInput(
                f"path must be a file, a folder or a list of them, got {brief(path)}"
            )
        return [file for part in path for file in _all_files(part)]
    place = files.as_path(path)
    if not files.is_folder(place):
        return [place]
    with files.explaining("read", place):
        whole = TrackSource(place)
        if trex.recognises(whole) or idtracker.recognises(whole):
            return [place]
        inside = sorted(
            file for file in place.iterdir() if file.is_file() and not file.name.startswith(".")
        )
    inside = [file for file in inside if file.suffix.lower() not in _NO_TRACKS]
    if not inside:
        raise InvalidInput(f"cannot read {place}: there is no file of tracks in this folder")
    return inside


def _titles(places: Sequence[Path]) -> list[str]:
    """A different name for each file: its own, or its path where others have the same."""
    stems = [place.name.partition(".")[0] for place in places]
    if len(set(stems)) == len(stems):
        return stems
    names = [str(place) for place in places]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"{twice} is given twice: give each recording once")
    return names


def _read_one(
    place: Path,
    format: str | None,  # noqa: A002
    columns: Mapping[str, str] | None,
    fps: float | None,
    unit: str | None,
    length: float | None,
    keypoint: str | None,
) -> tuple[Recording, int | None]:
    """The recording in one file, and the number of its first frame, if frames have numbers."""
    with _explain(place), unpacked(place) as (file, said):
        source = source_of(file, columns, keypoint, fps)
        form = FORMATS[format] if format is not None else _recognise(source)
        tracks = form.read(source)
        if format is None:
            said = (f"read as {form.title}", *said)
        tracks = replace(tracks, notes=(*said, *tracks.notes))
        recording = as_recording(tracks, fps=fps, unit=unit, length=length)
        return recording, None if tracks.first is None else tracks.first // tracks.every


def _recognise(source: TrackSource) -> Format:
    for form in FORMATS.values():
        if form.recognises(source):
            return form
    if not source.head and not source.path.is_dir():
        raise InvalidInput("it is empty")
    titles = ", ".join(form.title for form in FORMATS.values())
    raise InvalidInput(f"its kind is not known: expected {titles}. Or name it by format=")


@contextlib.contextmanager
def _explain(path: Path) -> Iterator[None]:
    """Errors that say which file it is, in one line."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"cannot read {path}: {error}") from None
    except NotEnoughMemory as error:
        raise NotEnoughMemory(f"cannot read {path}: {error}") from None
    except (SwarmdpError, MemoryError):
        raise
    except Exception as error:  # whatever other libraries make of a damaged file
        reason = (f"{type(error).__name__}: {error}".splitlines() or [""])[0]
        raise FileError(
            5, f"cannot read {path}: it is damaged or of another kind ({reason})"
        ) from error
