"""Finished units on disk: whole or not there, each in a NetCDF file of its own."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import files
from swarmdp.errors import FileError, InvalidInput
from swarmdp.experiments.plan import Plan, make_plan
from swarmdp.experiments.tasks import Arrays, Unit

PLAN = "plan.json"
TIMING = "timing.jsonl"
LOCK = ".lock"


class Store:
    """A folder that belongs to one plan."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        path = folder / PLAN
        if path.exists():
            _check_same(path, plan)
        else:
            files.write_text(path, json.dumps(plan.described(), indent=2) + "\n")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second start out of this folder while the first is at work.

        What a killed start had half written is removed.
        """
        with open(self.folder / LOCK, "w") as lock:
            if not _try_lock(lock):
                raise InvalidInput(
                    f"another run is at work in {self.folder}: wait for it or choose another folder"
                )
            for leftover in self.folder.glob("units/*/.*"):
                leftover.unlink(missing_ok=True)
            yield

    def path(self, unit: Unit) -> Path:
        """Where a unit is kept."""
        return self.folder / "units" / unit.task / f"{unit.index:04d}.nc"

    def __contains__(self, unit: Unit) -> bool:
        return self.path(unit).exists()

    def write(self, unit: Unit, image: bytes, seconds: float) -> None:
        """Keep a finished unit, and what it took."""
        with files.replacing(self.path(unit)) as temporary:
            temporary.write_bytes(image)
        with open(self.folder / TIMING, "a", encoding="utf-8") as timing:
            line = {"task": unit.task, "index": unit.index, "seconds": round(seconds, 3)}
            timing.write(json.dumps(line) + "\n")

    def read(self, unit: Unit) -> Arrays:
        """The arrays of a finished unit."""
        import h5py  # reads hundreds of small files several times faster than h5netcdf

        path = self.path(unit)
        try:
            with h5py.File(path, "r") as file:
                return {
                    name: np.asarray(variable[...])
                    for name, variable in file.items()
                    if not h5py.h5ds.is_scale(variable.id)  # a mere dimension
                }
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise FileError(
                5, f"cannot read {path}: it is damaged ({error}); remove it and start again"
            ) from error

    def seconds(self) -> dict[str, float]:
        """The core seconds that each task took, over all starts."""
        path, total = self.folder / TIMING, dict[str, float]()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError):  # a line cut off by a kill
                entry = json.loads(line)
                total[entry["task"]] = total.get(entry["task"], 0.0) + entry["seconds"]
        return total


def open_store(folder: Path) -> Store:
    """The store of a reproduction that is there, whatever its scale and seed."""
    path = folder / PLAN
    if not path.exists():
        raise FileError(2, f"cannot read {folder}: it is not the folder of a reproduction")
    there = _read_plan(path)
    return Store(folder, make_plan(str(there.get("scale")), int(there.get("seed", 0))))


def image_of(unit: Unit, arrays: Mapping[str, NDArray[Any]]) -> bytes:
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
        file.attrs.update({"kind": "swarmdp unit", "task": unit.task, "index": unit.index})
    return buffer.getvalue()


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise FileError(5, f"cannot read {path}: {error}") from error


def _check_same(path: Path, plan: Plan) -> None:
    """Raise InvalidInput for a folder of another plan; the message names the difference."""
    there = _read_plan(path)
    here = plan.described()
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


def _try_lock(lock: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two starts would only do work twice
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
