"""Folders of results: one command at a time writes one, and its files are put in place together.

A command makes its files in the hidden folder `.unfinished` of its output folder. When all are
there, this is renamed to `.complete`, which is the moment at which the new results count; then they
are moved into the output folder, and what an earlier run has left there is removed. A command that
is killed before that moment changes nothing; after it the next one, or whoever reads the folder,
finishes what was begun.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpError, SwarmdpWarning

LOCK = ".lock"
UNFINISHED = ".unfinished"
COMPLETE = ".complete"
RECORDS = ("summary.json", "evaluation.json")  # which tell what a run has written
DIGESTS = "digests"  # the entry of a record with the digest of each file that the run has written
MADE_FROM = "made_from"  # the same of files in the folder that it was made from
_OUTDATED = ".outdated.json"  # names of files that go when those of the new run come
_PATIENCE = 40  # attempts to read a folder whose files are being put in place
_PAUSE_SECONDS = 0.05


@contextlib.contextmanager
def locked(folder: Path, name: str = LOCK) -> Iterator[None]:
    """Keep other commands from writing to a folder while this lasts.

    Raises InvalidInput if another one is at work there. The folder is made if it is not there; if
    nothing comes into it, it is removed again.
    """
    with files.explaining("write", folder):
        is_file = folder.is_file()
    if is_file:
        raise FileError(errno.ENOTDIR, f"cannot write to {folder}: it is a file, not a folder")
    made = [place for place in (folder, *folder.parents) if not files.exists(place)]
    try:
        with _held(folder, name):
            yield
    finally:
        for place in made:  # the innermost first
            with contextlib.suppress(OSError):  # there is something in it
                place.rmdir()


@contextlib.contextmanager
def _held(folder: Path, name: str) -> Iterator[None]:
    path = folder / name
    while True:
        with _opened(path) as lock:
            if not files.locked(lock):
                raise InvalidInput(
                    f"another run is at work in {folder}: wait for it or choose another folder"
                )
            if not _is_at(lock, path):
                continue  # the one who held it has removed it in between
            try:
                yield
                return
            finally:
                if sys.platform != "win32":  # which removes no file that is open
                    with contextlib.suppress(OSError):
                        path.unlink()


def _opened(path: Path) -> IO[bytes]:
    """The file of a lock, in a folder that another one may be about to remove."""
    with files.explaining("write", path):
        is_link = path.is_symlink()
    if is_link:
        raise InvalidInput(f"{path} is a link, which is not followed: remove it")
    for _ in range(_PATIENCE):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return open(path, "ab")
        except (FileNotFoundError, FileExistsError):
            continue
        except (OSError, ValueError):
            break
    files.make_folder(path.parent)
    with files.explaining("write", path):
        return open(path, "ab")


def _is_at(file: IO[Any], path: Path) -> bool:
    """Whether an open file is still the one with this path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextlib.contextmanager
def writing(
    folder: Path, *, kept: str = "", resume: bool = False, lock: str = LOCK
) -> Iterator[Path]:
    """A new place for the files of a run, which are put into the folder together in the end.

    Nobody else writes to the folder meanwhile. If the work raises an error, the folder stays as it
    was.

    Parameters
    ----------
    folder
        Of the results; made if it is not there.
    kept
        The name of a file with which the work can go on if it is stopped, and which then stays in
        the new place.
    resume
        Whether to go on with it; otherwise it is removed.
    lock
        The name of the lock.

    """
    with locked(folder, lock):
        _put_in_place(folder)
        files.remove_leftovers(folder)
        place = folder / UNFINISHED
        _remove(place, kept if resume else "")
        files.make_folder(place)
        try:
            yield place
            with files.explaining("write", folder):
                (place / _OUTDATED).write_text(json.dumps(_outdated(folder, place)))
                place.rename(folder / COMPLETE)
                _put_in_place(folder)
        finally:
            _remove(place, kept)


def digests(place: Path) -> dict[str, str]:
    """The digest of each file in a place, by its name relative to it."""
    return {
        path.relative_to(place).as_posix(): digest_of(path)
        for path in sorted(place.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def digest_of(path: Path) -> str:
    """The digest of a file."""
    with files.explaining("read", path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(folder: Path) -> None:
    """Before a folder is read: finish what a killed command has begun to put in place.

    Raises FileError if this cannot be done, such as for the folder of another user.
    """
    for _ in range(_PATIENCE):
        if not files.exists(folder / COMPLETE):
            return
        with contextlib.suppress(InvalidInput), locked(folder):
            _put_in_place(folder)
            return
        time.sleep(_PAUSE_SECONDS)
    raise FileError(
        errno.EBUSY,
        f"cannot read {folder}: another command is putting its files in place, try again later",
    )


def warn_if_mixed(folder: Path, name: str) -> None:
    """Warn if a file is not the one that the run has written whose other files are beside it."""
    if problem := mixed(folder, name):
        warnings.warn(problem, SwarmdpWarning, stacklevel=3)


def mixed(folder: Path, name: str) -> str:
    """Whether a file is of another run than what is beside it, in words; empty if it is not."""
    for record in RECORDS:
        digest = _listed(folder / record, MADE_FROM, DIGESTS).get(name)
        if digest is None or not files.exists(folder / name):
            continue
        if digest != digest_of(folder / name):
            return (
                f"the files in {folder} do not belong together: {name} was written by another run "
                f"than {record} and what it lists. Run the command again, or remove {record}"
            )
    return ""


def _listed(record: Path, *entries: str) -> dict[str, str]:
    """The files that entries of a record list with their digests; none if it is no record."""
    try:
        plain = files.parse_json(files.read_text(record)) if files.exists(record) else {}
    except SwarmdpError:
        return {}
    listed = [plain.get(entry) for entry in entries] if isinstance(plain, dict) else []
    return {
        name: digest
        for part in listed
        if isinstance(part, dict)
        for name, digest in part.items()
        if isinstance(digest, str)
    }


def _outdated(folder: Path, place: Path) -> list[str]:
    """Files of earlier runs that do not go with those of the new one.

    These are all that a record lists whose files, or those that it was made from, are replaced; but
    only what is still as that run has written it.
    """
    new = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    old: list[str] = []
    for record in RECORDS:
        if not new & {record, *_listed(folder / record, DIGESTS, MADE_FROM)}:
            continue
        listed = _listed(folder / record, DIGESTS)
        old += [name for name in listed if _is_as_written(folder, name, listed[name])]
        old += [record] if listed else []
    return sorted(set(old) - new)


def _is_as_written(folder: Path, name: str, digest: str) -> bool:
    path = folder / name
    if not _is_inside(name) or path.is_symlink():
        return False
    try:
        return path.is_file() and digest_of(path) == digest
    except (OSError, ValueError):
        return False


def _is_inside(name: Any) -> bool:
    """Whether a name that a file lists is of something in its folder."""
    return isinstance(name, str) and not Path(name).is_absolute() and ".." not in Path(name).parts


def _put_in_place(folder: Path) -> None:
    """Move what is complete into the folder; nothing is to be done where nothing is."""
    place = folder / COMPLETE
    if place.is_symlink() or not files.is_folder(place):
        return
    with files.explaining("write", folder):
        try:
            outdated = json.loads((place / _OUTDATED).read_text())
        except (OSError, ValueError):
            outdated = []  # they were removed before the kill
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.name != _OUTDATED:
                target = folder / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
        for name in filter(_is_inside, outdated):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(place)


def _remove(place: Path, kept: str) -> None:
    """Remove a folder, unless it has a file that is to be kept: then everything but that."""
    with files.explaining("write", place.parent):
        if place.is_symlink() or place.is_file():
            place.unlink()
            return
        if not place.is_dir():
            return
        for path in place.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != kept:
                path.unlink()
        if not any(place.iterdir()):
            place.rmdir()
