"""A file that is to be read, and what was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from swarmdp.recordings.formats import hdf5
from swarmdp.recordings.formats.layout import encoding_of
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

_HEAD = 4096  # bytes by which a kind of file is known
# Kinds of files in which people have tracks, and what to do with them.
_OTHER = {
    b"\xd0\xcf\x11\xe0": "it is a workbook of an old Excel (.xls): save it as .xlsx or .csv",
    b"SQLite format 3\0": "it is a database (.db), as FastTrack has: export tracking.txt there",
    b"Rar!": "it is packed by RAR: unpack it",
    b"7z\xbc\xaf": "it is packed by 7-Zip: unpack it",
}


@dataclass(frozen=True)
class TrackSource:
    """A file or folder, how it begins, and what was asked for."""

    path: Path
    head: bytes = b""  # empty for a folder
    names: frozenset[str] = frozenset()  # what an HDF5 file has at its top
    columns: Mapping[str, str] | None = None
    keypoint: str | None = None
    fps: float | None = None

    @property
    def is_hdf5(self) -> bool:
        """Whether it is an HDF5 file, with or without MATLAB's words before it."""
        return hdf5.has_signature(self.head)

    @property
    def text(self) -> str | None:
        """The beginning as text; None if it is none."""
        encoding = encoding_of(self.head) if self.head else None
        if encoding is None:
            return None
        return self.head.decode(encoding, "ignore").lstrip("\ufeff")

    @property
    def first_line(self) -> str:
        """The first line of a text file."""
        return (self.text or "").lstrip().partition("\n")[0].strip()


def source_of(
    path: Path, columns: Mapping[str, str] | None, keypoint: str | None, fps: float | None
) -> TrackSource:
    """Look at the beginning of a file; raises FileError if it cannot be read."""
    if files.is_folder(path):
        return TrackSource(path, columns=columns, keypoint=keypoint, fps=fps)
    with files.reading(path) as file:
        head = file.read(_HEAD)
    if advice := next((words for magic, words in _OTHER.items() if head.startswith(magic)), None):
        raise InvalidInput(advice)
    names = frozenset(hdf5.top_names(path)) if hdf5.has_signature(head) else frozenset()
    return TrackSource(path, head, names, columns, keypoint, fps)
