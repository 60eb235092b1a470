"""Files that are whole or not there at all, and reading them with errors that explain."""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from swarmdp.support.errors import FileError, InvalidInput, SwarmdpError, SwarmdpWarning

DIGEST = "sha256"  # the entry of a JSON file that tells whether the others are as written
MOST_NESTED = 50  # lists in lists in a JSON file


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; put it in its place once all went well.

    Whatever goes wrong, what was at `path` before is still there and nothing is left over. What a
    killed process left is removed: it holds no lock on its temporary file any more.
    """
    target = as_path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        temporary, held = _temporary(target)
    except (OSError, ValueError) as error:
        raise _write_error("write", target, error) from error
    with held:
        try:
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            _let_go(held)
            temporary.replace(target)
        except OSError as error:
            raise _write_error("write", target, error) from error
        finally:
            _let_go(held)
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder while they wrote files."""
    for leftover in folder.glob(".*.*-????????.part"):
        with contextlib.suppress(OSError):
            if sys.platform == "win32":  # which removes no file that somebody has opened
                leftover.unlink(missing_ok=True)
                continue
            with open(leftover, "rb") as file:
                if _lock(file):
                    leftover.unlink(missing_ok=True)


def _let_go(held: IO[Any]) -> None:
    """Close a file that is about to be moved or removed, where that cannot be done to open ones."""
    if sys.platform == "win32":
        held.close()


def locked(file: IO[Any]) -> bool:
    """Whether this process now holds the lock on a file; closing the file gives it back."""
    return _lock(file) is not False  # a file system without locks keeps nobody from working


def _lock(file: IO[Any]) -> bool | None:
    """Whether this process now holds the lock on a file; None if there are no locks."""
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EACCES, errno.EAGAIN) else None
    return True


def as_path(path: str | os.PathLike[str]) -> Path:
    """A path that a file can have; raises InvalidInput for others."""
    if "\0" in os.fspath(path):
        raise InvalidInput(f"a path must not contain a null character, got {str(path)!r}")
    return Path(path)


@contextlib.contextmanager
def explaining(verb: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system as a FileError: that it cannot `verb` ("read" or "write") the path."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, SwarmdpError):
            raise
        raise _write_error(verb, Path(path), error) from error


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and those above it, unless they are there."""
    target = as_path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _write_error("write", target, error) from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises FileError if a file could not be written; to be asked before long work.

    It leaves nothing behind: folders that it has to make are removed again.
    """
    target = Path(path)
    made: list[Path] = []
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        for folder in reversed((target.parent, *target.parent.parents)):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        temporary, held = _temporary(target)
        held.close()
        temporary.unlink()
    except (OSError, ValueError) as error:
        raise _write_error("write", target, error) from error
    finally:
        for folder in reversed(made):
            with contextlib.suppress(OSError):  # somebody else wrote something there
                folder.rmdir()


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raises FileError if no file could be written to a folder, as `check_writable`."""
    target = Path(path)
    if exists(target) and not is_folder(target):
        raise FileError(errno.ENOTDIR, f"cannot write to {target}: it is a file, not a folder")
    check_writable(target / "summary.json")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def appending(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A text file, open to write at its end."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise _write_error("write", Path(path), error) from error


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file, open for reading; raises FileError if that cannot be."""
    source = Path(path)
    try:
        if not stat.S_ISREG(source.stat().st_mode):  # a pipe would be waited for
            reason = "it is a folder" if source.is_dir() else "it is not a file"
            raise FileError(errno.EISDIR, f"cannot read {source}: {reason}")
        file = open(source, "rb")  # noqa: SIM115, closed below
    except (OSError, ValueError) as error:
        raise _write_error("read", source, error) from error
    with file:
        yield file


def read_text(path: str | os.PathLike[str]) -> str:
    """A text file; raises FileError if it cannot be read or is no text."""
    with reading(path) as file:
        try:
            return file.read().decode("utf-8")
        except (OSError, ValueError) as error:
            raise _write_error("read", Path(path), error) from error


def exists(path: str | os.PathLike[str]) -> bool:
    """Whether a file or folder is there; raises FileError if this user may not know."""
    try:
        return Path(path).exists()
    except OSError as error:
        raise _write_error("read", Path(path), error) from error


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is there; raises FileError if this user may not know."""
    return exists(path) and Path(path).is_dir()


def parse_json(text: str) -> Any:
    """What a JSON text says; raises InvalidInput if it is none or is nested too deeply."""
    try:
        parsed = json.loads(text)
    except RecursionError:
        raise InvalidInput(f"this JSON is nested more than {MOST_NESTED} deep") from None
    except ValueError as error:
        raise InvalidInput(f"this is not JSON ({error})") from None
    level = [parsed]
    for _ in range(MOST_NESTED):
        inner = [item for item in level if isinstance(item, list | dict)]
        level = [
            entry for item in inner for entry in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return parsed
    raise InvalidInput(f"this JSON is nested more than {MOST_NESTED} deep")


def digest_of(plain: Mapping[str, Any]) -> str:
    """The digest of plain data, but for its own entry of a digest."""
    rest = {name: value for name, value in plain.items() if name != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def check_digest(plain: Mapping[str, Any]) -> None:
    """Raises InvalidInput if data is not what its digest says; it may have none."""
    if plain.get(DIGEST, digest := digest_of(plain)) != digest:
        raise InvalidInput(
            f"it is damaged or was edited: its content is not what its entry {DIGEST!r} says. "
            "Write it again, or remove the entry if the edit was meant"
        )


def warn_without_digest(path: str | os.PathLike[str]) -> None:
    """Warn that nothing vouches for what was read from a file."""
    warnings.warn(
        f"{path} carries no digest of its content, so nobody can tell whether it is damaged: it "
        "was edited elsewhere or is older than swarmdp 0.2. Save it again to add one",
        SwarmdpWarning,
        stacklevel=3,
    )


def _temporary(target: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside the target and the lock on it."""
    while True:
        name = f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part"
        temporary = target.parent / name
        held = open(temporary, "xb")  # noqa: SIM115, the caller closes it
        if sys.platform != "win32":  # where others could then not write to it
            locked(held)
        if temporary.exists():  # nobody took it for a leftover before it was locked
            return temporary, held
        held.close()


REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space or write elsewhere",
    errno.EDQUOT: "the disk quota is used up: free some space or write elsewhere",
    errno.EFBIG: "the file grew beyond the allowed size: record less or raise the limit",
    errno.EROFS: "the file system is read-only: choose another folder",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder: give a file name",
    errno.ENOENT: "there is no such file",
    errno.ENAMETOOLONG: "the path is too long: give a shorter one",
    errno.ELOOP: "its symbolic links go round in a circle",
    errno.EMFILE: "too many files are open: raise the limit (ulimit -n)",
}


def _write_error(verb: str, target: Path, error: Exception) -> FileError:
    if isinstance(error, FileError):
        return error
    number = error.errno if isinstance(error, OSError) and error.errno else errno.EIO
    remedy = REMEDIES.get(number, str(error))
    if number in (errno.EACCES, errno.EPERM):
        advice = "choose a folder that you may write to" if verb == "write" else "ask its owner"
        remedy = f"permission denied: {advice}"
    return FileError(number, f"cannot {verb} {target}: {remedy}")
