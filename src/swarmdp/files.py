"""Files that are whole or not there at all."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from swarmdp.errors import FileError, InvalidInput


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; put it in its place once all went well.

    Whatever goes wrong, what was at `path` before is still there and nothing is left over.
    """
    target = as_path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}"
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise _explained(target, error) from error
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise _explained(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def as_path(path: str | os.PathLike[str]) -> Path:
    """A path that a file can have; raises InvalidInput for others."""
    if "\0" in os.fspath(path):
        raise InvalidInput(f"a path must not contain a null character, got {str(path)!r}")
    return Path(path)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and those above it, unless they are there."""
    target = as_path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _explained(target, error) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _explained(target: Path, error: OSError) -> FileError:
    if isinstance(error, FileError):
        return error
    remedy = {
        errno.ENOSPC: "the disk is full: free some space or write elsewhere",
        errno.EDQUOT: "the disk quota is used up: free some space or write elsewhere",
        errno.EFBIG: "the file grew beyond the allowed size: record less or raise the limit",
        errno.EACCES: "permission denied: choose a folder that you may write to",
        errno.EROFS: "the file system is read-only: choose another folder",
        errno.ENOTDIR: "a part of the path is a file, not a folder",
        errno.EEXIST: "a part of the path is a file, not a folder",
        errno.EISDIR: "it is a folder: give a file name",
    }.get(error.errno or 0, str(error))
    return FileError(error.errno or errno.EIO, f"cannot write {target}: {remedy}")
