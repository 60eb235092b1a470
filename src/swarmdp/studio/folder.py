"""The fits and trajectories of one folder, and of no other."""

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmdp.irl.result import Result
from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.swarm import Swarm
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.files import explaining
from swarmdp.support.saved import ANALYSIS, FIT, IN_FOLDERS, SWARM, load

_MOST_LISTED = 200  # entries
_DEEPEST = 3  # folders in folders
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_KINDS = {ANALYSIS.file: "analysis", FIT.file: "fit", SWARM.file: "calibrated swarm"}  # of folders
Opened = Result | Trajectory | Swarm | Analysis
_LARGEST_FILE = 2 * 2**30  # bytes of a file that is opened here


@dataclass(frozen=True)
class Folder:
    """A folder of this machine that the page may read and write."""

    path: Path

    def entries(self) -> list[dict[str, Any]]:
        """What can be opened, the newest first: names relative to the folder, kind and size."""
        return sorted(self._entries(), key=lambda entry: -entry["time"])[:_MOST_LISTED]

    def _entries(self) -> Iterator[dict[str, Any]]:
        root = str(self.path)
        for here, folders, names in os.walk(root):
            depth = len(Path(here).relative_to(root).parts)
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            folders[:] = folders[: _MOST_LISTED if depth < _DEEPEST else 0]
            whole = next((name for name in IN_FOLDERS if name in names), None)
            for name in names:
                if name in _KINDS and name != whole:
                    continue  # a part of what the folder holds
                if not name.endswith(".nc") or name.startswith("."):
                    continue
                path = Path(here, name)
                listed = path.parent if name == whole else path
                try:
                    self._inside(path)
                    facts = path.stat()
                except (OSError, InvalidInput):
                    continue
                yield {
                    "name": "." if listed == self.path else listed.relative_to(root).as_posix(),
                    "kind": _KINDS.get(name, "trajectory"),
                    "bytes": facts.st_size,
                    "time": facts.st_mtime,
                }

    def open(self, name: str) -> Opened:
        """What has this name in `entries`."""
        path = self._inside(self.path / name)
        if path.is_dir():
            inside = next((file for file in IN_FOLDERS if (path / file).exists()), FIT.file)
            path = self._inside(path / inside)
        if not path.is_file():
            raise FileError(2, f"there is no fit and no trajectory called {name!r} in this folder")
        if path.stat().st_size > _LARGEST_FILE:
            raise InvalidInput(f"{name} is too large to be shown here: open it in Python")
        opened = load(path)
        if not isinstance(opened, Opened):
            raise InvalidInput(f"{name} is a {type(opened).__name__}, which cannot be shown here")
        return opened

    def save(self, name: str, what: Result | Trajectory) -> str:
        """Write it under a new name; never over something that is there."""
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                "a name must be up to 64 letters, digits, dots, dashes and underscores, and begin "
                f"with a letter or digit, got {name[:80]!r}"
            )
        target = self.path / (name if isinstance(what, Result) else f"{name}.nc")
        self._inside(target)
        taken = f"there is already something called {target.name}: choose a new name"
        if os.path.lexists(target):
            raise InvalidInput(taken)
        try:
            _save_folder(target, what) if isinstance(what, Result) else _save_file(target, what)
        except OSError as error:
            if error.errno != errno.EEXIST:
                raise
            raise InvalidInput(taken) from None  # another tab was quicker
        return target.name

    def save_new(self, beginning: str, what: Result) -> str:
        """Write it under the first name with a number that nothing in the folder has."""
        while True:
            name = self.free_name(beginning)
            try:
                return self.save(name, what)
            except InvalidInput:
                if not os.path.lexists(self.path / name):
                    raise

    def free_name(self, beginning: str) -> str:
        """A name that nothing in the folder has."""
        number = 1
        while os.path.lexists(self.path / f"{beginning}-{number}"):
            number += 1
        return f"{beginning}-{number}"

    def _inside(self, path: Path) -> Path:
        """The path without links; raises InvalidInput if it leads out of the folder."""
        try:
            real, root = path.resolve(), self.path.resolve()
        except (OSError, RuntimeError, ValueError):
            raise InvalidInput("this is not the name of a file in the folder") from None
        if real != root and root not in real.parents:
            raise InvalidInput("only what is in the folder of the studio can be opened here")
        return real


def _save_folder(target: Path, what: Result) -> None:
    """Write a folder that must not be there; of two who make it at once one fails."""
    with explaining("write", target):
        target.mkdir()
    try:
        what.save(target)
    except BaseException:
        with suppress(OSError):
            target.rmdir()
        raise


def _save_file(target: Path, what: Trajectory) -> None:
    """Write a file that must not be there: it is complete when it gets its name."""
    hidden = target.with_name(f".{secrets.token_hex(8)}.nc")
    try:
        what.save(hidden)
        with explaining("write", target):
            try:
                os.link(hidden, target)
            except OSError as error:
                if error.errno == errno.EEXIST:
                    raise
                open(target, "xb").close()  # a disk without links
                hidden.replace(target)
    finally:
        hidden.unlink(missing_ok=True)
