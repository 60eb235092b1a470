"""Compressed files: `.gz`, `.bz2`, `.xz`, a `.zip` with one table in it, and Excel's workbooks."""

import bz2
import contextlib
import gzip
import lzma
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from swarmdp.recordings.formats import workbooks
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_ZIP = b"PK\x03\x04"
_PIECE = 1 << 20  # bytes that are unpacked at a time
_PACKED = 40  # bytes that may come out of one, of tables of text


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The file itself, or what is packed in it in a folder for the time being, and what to say."""
    if files.is_folder(path):
        yield path, ()
        return
    with files.reading(path) as file:
        head = file.read(8)
    opener = next((open_ for magic, open_ in OPENERS.items() if head.startswith(magic)), None)
    zipped = head.startswith(_ZIP) and path.suffix.lower() == ".zip"
    if head.startswith(_ZIP) and workbooks.recognises(path):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / f"{path.stem}.csv"
            yield target, workbooks.write_as_text(path, target)
        return
    if opener is None and not zipped:
        yield path, ()
        return
    most = _PACKED * path.stat().st_size + (1 << 20)
    check_memory(most / 4, "to unpack it", "Unpack it yourself")
    with tempfile.TemporaryDirectory() as folder:
        if zipped:
            with zipfile.ZipFile(path) as archive:
                member = _only_member(archive)
                target = Path(folder) / Path(member.filename).name
                with archive.open(member) as source:
                    _copy(source, target, most)
        else:
            assert opener is not None
            target = Path(folder) / path.stem
            with opener(path, "rb") as source:
                _copy(source, target, most)
        yield target, (f"unpacked {target.name}",)


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    inside = [
        info
        for info in archive.infolist()
        if not info.is_dir() and not info.filename.startswith(("__MACOSX", "."))
    ]
    if len(inside) != 1:
        names = ", ".join(repr(info.filename) for info in inside[:5]) or "nothing"
        raise InvalidInput(f"it must have one table in it, got {names}: unpack it, and give one")
    return inside[0]


def _copy(source: IO[bytes], target: Path, most: int) -> None:
    """Write what is packed; raises InvalidInput if it grows out of all proportion."""
    with open(target, "wb") as file:
        while piece := source.read(_PIECE):
            most -= len(piece)
            if most < 0:
                raise InvalidInput("it unpacks to far more than a table has: unpack it yourself")
            file.write(piece)
