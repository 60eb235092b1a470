"""Finished units on disk: whole or not there, each in a NetCDF file of its own."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import files
from swarmdp.errors import FileError, InvalidInput
from swarmdp.experiments.plan import Plan
from swarmdp.experiments.tasks import Arrays, Unit
from swarmdp.trajectory import read_dataset

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
        """Keep a second start out of this folder while the first is at work."""
        with open(self.folder / LOCK, "w") as lock:
            if not _try_lock(lock):
                raise InvalidInput(
                    f"another run is at work in {self.folder}: wait for it or choose another folder"
                )
            yield

    def path(self, unit: Unit) -> Path:
        """Where a unit is kept."""
        return self.folder / "units" / unit.task / f"{unit.index:04d}.nc"

    def __contains__(self, unit: Unit) -> bool:
        return self.path(unit).exists()

    def write(self, unit: Unit, arrays: Mapping[str, NDArray[Any]], seconds: float) -> None:
        """Keep a finished unit, and what it took."""
        import xarray

        data = {
            name: (tuple(f"{name}_{axis}" for axis in range(array.ndim)), array)
            for name, array in arrays.items()
        }
        attributes = {"kind": "swarmdp unit", "task": unit.task, "index": unit.index}
        image = xarray.Dataset(data, attrs=attributes).to_netcdf(None, engine="h5netcdf")
        with files.replacing(self.path(unit)) as temporary:
            temporary.write_bytes(image)
        with open(self.folder / TIMING, "a", encoding="utf-8") as timing:
            line = {"task": unit.task, "index": unit.index, "seconds": round(seconds, 3)}
            timing.write(json.dumps(line) + "\n")

    def read(self, unit: Unit) -> Arrays:
        """The arrays of a finished unit."""
        path = self.path(unit)
        try:
            dataset = read_dataset(path)
        except FileError as error:
            raise FileError(5, f"{error.strerror}; remove it and start again") from error
        return {str(name): np.asarray(array.values) for name, array in dataset.data_vars.items()}

    def seconds(self) -> dict[str, float]:
        """The core seconds that each task took, over all starts."""
        path, total = self.folder / TIMING, dict[str, float]()
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError):  # a line cut off by a kill
                entry = json.loads(line)
                total[entry["task"]] = total.get(entry["task"], 0.0) + entry["seconds"]
        return total


def _check_same(path: Path, plan: Plan) -> None:
    """Refuse a folder whose units were computed from another plan; name the difference."""
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(5, f"cannot read {path}: {error}") from error
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
