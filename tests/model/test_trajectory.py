import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import swarmdp
from swarmdp import Trajectory
from swarmdp.model.trajectory import Variable
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.netcdf import write_dataset

VICSEK = swarmdp.Vicsek(n_agents=20)
ISING = swarmdp.Ising((6, 7), periodic=True)


def recorded(system: swarmdp.Vicsek | swarmdp.Ising = VICSEK) -> Trajectory:
    measure = system.order if isinstance(system, swarmdp.Vicsek) else system.energy
    record = [
        "states",
        "observations",
        "actions",
        measure,
        swarmdp.simulation.DiscountedFeatures(0.9),
    ]
    return swarmdp.rollout(system, system.expert, steps=4, runs=3, seed=2**64 - 1, record=record)


@pytest.mark.parametrize("system", [VICSEK, ISING], ids=["vicsek", "ising"])
def test_files_are_lossless(system: swarmdp.Vicsek | swarmdp.Ising, tmp_path: Path) -> None:
    trajectory = recorded(system)
    loaded = swarmdp.load(trajectory.save(tmp_path / "new" / "t.nc"))
    assert set(loaded) == set(trajectory)
    for name, variable in trajectory.variables.items():
        other = loaded.variables[name]
        np.testing.assert_array_equal(other.values, variable.values)
        assert other.values.dtype == variable.values.dtype
        assert (other.axes, other.units) == (variable.axes, variable.units)
    assert (loaded.seed, loaded.runs, loaded.steps) == (2**64 - 1, 3, 4)
    assert (loaded.system_name, loaded.version) == (type(system).__name__, swarmdp.__version__)
    settings: dict[str, Any] = {
        n: tuple(v) if isinstance(v, list) else v for n, v in loaded.settings.items()
    }
    assert type(system)(**settings) == system


def test_the_file_explains_itself(tmp_path: Path) -> None:
    path = recorded().save(tmp_path / "t.nc")
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        assert dataset["position"].dims == ("run", "time", "agent", "axis")
        assert dataset["heading"].attrs["units"] == "rad"
        assert dataset["actions"].dims == ("run", "step", "agent")
        assert dataset["actions"].attrs["units"] == "rad"
        assert dataset["observations"].attrs["units"] == "rad"
        assert dataset["discounted_features"].dims == ("run", "feature")
        assert dataset.attrs["system"] == "Vicsek"
        assert json.loads(dataset.attrs["settings"])["n_agents"] == 20
        assert dataset.attrs["seed"] == str(2**64 - 1)
        assert dataset.attrs["swarmdp_version"] == swarmdp.__version__


def test_constants_are_recorded_once() -> None:
    assert recorded(ISING).variables["site"].axes == ("run", "agent")
    assert recorded(ISING)["spin"].shape == (3, 5, 42)


def test_what_was_not_recorded_is_named() -> None:
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1, record=VICSEK.order)
    with pytest.raises(KeyError, match="'heading' was not recorded; there is: order"):
        trajectory["heading"]
    assert "order: {'run': 1, 'time': 2}" in repr(trajectory)


def test_arrays_must_fit_each_other() -> None:
    def made(**arrays: tuple[tuple[int, ...], tuple[str, ...]]) -> Trajectory:
        variables = {n: Variable(np.zeros(shape), axes) for n, (shape, axes) in arrays.items()}
        return Trajectory(variables, system_name="Mine", settings={}, runs=2, steps=3)

    made(a=((2, 4, 5), ("run", "time", "agent")))
    with pytest.raises(InvalidInput, match="axis 'time' of 'a' has length 3, expected 4"):
        made(a=((2, 3, 5), ("run", "time", "agent")))
    with pytest.raises(InvalidInput, match="axis 'agent' of 'b' has length 6, expected 5"):
        made(a=((2, 5), ("run", "agent")), b=((2, 6), ("run", "agent")))
    with pytest.raises(InvalidInput, match="first axis of 'a' must be 'run'"):
        made(a=((4, 2), ("time", "run")))
    with pytest.raises(InvalidInput, match="do not fit"):
        made(a=((2, 4), ("run",)))


def test_missing_foreign_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        swarmdp.load(tmp_path / "none.nc")
    text = tmp_path / "text.nc"
    text.write_text("hello")
    with pytest.raises(FileError, match="not a NetCDF file or is damaged"):
        swarmdp.load(text)
    whole = recorded().save(tmp_path / "whole.nc").read_bytes()
    for size in (0, 100, len(whole) // 2):
        (tmp_path / "cut.nc").write_bytes(whole[:size])
        with pytest.raises(FileError, match="not a NetCDF file or is damaged"):
            swarmdp.load(tmp_path / "cut.nc")
    xarray.Dataset({"x": ("a", [1.0])}).to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    with pytest.raises(FileError, match="not made by swarmdp"):
        swarmdp.load(tmp_path / "foreign.nc")


@pytest.mark.parametrize(("number", "remedy"), [(0, "record it again"), (99, "update swarmdp")])
def test_files_of_other_versions(tmp_path: Path, number: int, remedy: str) -> None:
    dataset = recorded().to_xarray()
    dataset.attrs.update(format=number, swarmdp_version="7.0")
    write_dataset(tmp_path / "other.nc", dataset)
    with pytest.raises(FileError, match=rf"by swarmdp 7\.0 in format {number}.*{remedy}"):
        swarmdp.load(tmp_path / "other.nc")


def test_a_file_that_lacks_something_is_refused(tmp_path: Path) -> None:
    dataset = recorded().to_xarray()
    del dataset.attrs["steps"]
    write_dataset(tmp_path / "lacking.nc", dataset)
    with pytest.raises(FileError, match="'steps'"):
        swarmdp.load(tmp_path / "lacking.nc")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trajectory = recorded()
    path = trajectory.save(tmp_path / "t.nc")
    before = path.read_bytes()

    def fail(self: Path, data: bytes) -> int:
        with open(self, "wb") as file:
            file.write(data[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(FileError, match=r"cannot write .*t\.nc: the disk is full"):
        trajectory.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_fills_up_while_writing(tmp_path: Path) -> None:
    """A limit on the size of files makes real writes fail half-way."""
    program = f"""
import swarmdp
system = swarmdp.Vicsek(n_agents=2000)
trajectory = swarmdp.rollout(system, system.expert, steps=20, seed=1)
try:
    trajectory.save({str(tmp_path / "t.nc")!r})
except swarmdp.errors.FileError as error:
    print("refused:", error)
"""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [sys.executable, "-c", program],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "refused: " in done.stdout
    assert "cannot write" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a part of the path is a file"):
        recorded().save(tmp_path / "file" / "t.nc")
