"""Finished units on disk, written atomically, each in a NetCDF file of its own."""

import contextlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.paper.plan import Plan, make_plan
from swarmdp.paper.tasks import Arrays, Unit
from swarmdp.support import files, folders
from swarmdp.support.checks import is_number
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.netcdf import read_arrays, with_digest

PLAN = "plan.json"
TIMING = "timing.jsonl"
REPORT_LOCK = ".report-lock"  # a report may be drawn while units are computed


@dataclass(frozen=True)
class Store:
    """A folder that belongs to one plan."""

    folder: Path
    plan: Plan

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second start out of this folder while the first is at work.

        The plan is read and written only under this lock. Raises InvalidInput if another start
        holds it or the folder belongs to another plan. Temporary files of a killed start are
        removed.
        """
        with folders.locked(self.folder):
            path = self.folder / PLAN
            if files.exists(path):
                _check_same(path, self.plan)
            else:
                plain = self.plan.to_plain()
                plain[files.DIGEST] = files.digest_of(plain)
                files.write_text(path, json.dumps(plain, indent=2) + "\n")
            for folder in (self.folder, *self.folder.glob("units/*")):
                files.remove_leftovers(folder)
            yield

    def path(self, unit: Unit) -> Path:
        """Where a unit is kept."""
        return self.folder / "units" / unit.task / f"{unit.index:04d}.nc"

    def __contains__(self, unit: Unit) -> bool:
        return files.exists(self.path(unit))

    def write(self, unit: Unit, image: bytes, seconds: float) -> None:
        """Keep a finished unit, and what it took."""
        with files.replacing(self.path(unit)) as temporary:
            temporary.write_bytes(image)
        with files.appending(self.folder / TIMING) as timing:
            line = {"task": unit.task, "index": unit.index, "seconds": round(seconds, 3)}
            timing.write(json.dumps(line) + "\n")

    def read(self, unit: Unit) -> Arrays:
        """The arrays of a finished unit; raises FileError if it is of another plan."""
        path = self.path(unit)
        try:
            arrays, attributes = read_arrays(path)
            of = [attributes.get(name) for name in ("plan", "task", "index")]
            if of[0] is not None and of != [plan_digest(self.plan), unit.task, unit.index]:
                raise FileError(
                    5, f"cannot read {path}: it is not of this reproduction, but of another plan"
                )
            return arrays
        except FileError as error:
            raise FileError(
                error.errno, f"{error.strerror}; remove the file and start again"
            ) from error

    def seconds(self) -> dict[str, float]:
        """The core seconds that each task took, over all starts."""
        path, total = self.folder / TIMING, dict[str, float]()
        with contextlib.suppress(FileError):  # times are nothing that a result depends on
            for line in files.read_text(path).splitlines() if files.exists(path) else ():
                task, seconds = _parse_timing(line)
                total[task] = total.get(task, 0.0) + seconds
        total.pop("", None)
        return total


def open_store(folder: Path) -> Store:
    """The store of a reproduction that is there, whatever its scale and seed."""
    path = folder / PLAN
    if not files.exists(folder):
        raise FileError(2, f"cannot read {folder}: there is no such folder")
    if not files.exists(path):
        raise FileError(2, f"cannot read {folder}: it is not the folder of a reproduction")
    there = _read_plan(path)
    try:
        plan = make_plan(str(there.get("scale")), there.get("seed"))  # type: ignore[arg-type]
    except InvalidInput as error:
        raise FileError(5, f"cannot read {path}: {error}") from None
    _check_same(path, plan)
    return Store(folder, plan)


def _parse_timing(line: str) -> tuple[str, float]:
    """Task and seconds of a line of timing.jsonl; no task if a kill cut it off or it is foreign."""
    try:
        entry = files.parse_json(line)
    except InvalidInput:
        return "", 0.0
    plain: dict[str, Any] = entry if isinstance(entry, dict) else {}
    task, seconds = plain.get("task"), plain.get("seconds", 0.0)
    if isinstance(task, str) and is_number(seconds) and 0 <= seconds < math.inf:
        return task, float(seconds)
    return "", 0.0


def plan_digest(plan: Plan) -> str:
    """What tells the units of a plan from those of others."""
    return files.digest_of(plan.to_plain())


def unit_image(plan: Plan, unit: Unit, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A finished unit as a NetCDF file in memory, without a time stamp.

    Many small files, so straight to the library, not by xarray. It is to be called where the unit
    was computed, not in the main thread: HDF5 would swallow the user's interrupt.
    """
    import h5netcdf

    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        for name, array in arrays.items():
            axes = tuple(f"{name}_{axis}" for axis in range(array.ndim))
            file.dimensions.update(dict(zip(axes, array.shape, strict=True)))
            # NetCDF has no truth values.
            values = array.astype(np.uint8) if array.dtype == np.bool_ else array
            file.create_variable(name, axes, data=values)
        about = {"kind": "swarmdp unit", "plan": plan_digest(plan)}
        file.attrs.update(about | {"task": unit.task, "index": unit.index})
    return with_digest(buffer.getvalue())


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        plain = files.parse_json(files.read_text(path))
        if not isinstance(plain, dict):
            raise InvalidInput(f"it must be a plan's settings by name, got {plain!r:.60}")
        files.check_digest(plain)
    except InvalidInput as error:
        raise FileError(5, f"cannot read {path}: {error}") from None
    if plain.pop(files.DIGEST, None) is None:
        files.warn_without_digest(path)
    return plain


def _check_same(path: Path, plan: Plan) -> None:
    """Raise InvalidInput for a folder of another plan; the message names the difference."""
    there = _read_plan(path)
    here = plan.to_plain()
    different = [
        f"{name} is {there.get(name)!r} there and {here.get(name)!r} here"
        for name in sorted({*there, *here})
        if there.get(name) != here.get(name)
    ]
    if different:
        raise InvalidInput(
            f"{path.parent} holds results of other settings: {'; '.join(different)}. "
            "Give the same settings to go on, or another folder"
        )
