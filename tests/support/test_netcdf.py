"""Files that carry a digest: damage is noticed before HDF5 sees it, foreign content is refused."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray

import swarmdp
from swarmdp import Trajectory
from swarmdp.support import files, netcdf
from swarmdp.support.errors import FileError, NotEnoughMemory, SwarmdpError, SwarmdpWarning

VICSEK = swarmdp.Vicsek(n_agents=5)


@pytest.fixture(scope="module")
def trajectory() -> Trajectory:
    return swarmdp.rollout(VICSEK, VICSEK.expert, steps=3, runs=2, seed=1)


@pytest.fixture(scope="module")
def fitted() -> Any:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=1, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=3, swarms=1)
    return swarmdp.fit(VICSEK, demo, seed=1, iterations=2, learner=learner, judge=False)


SCHEDULED = """
import sys, numpy as np, xarray
from swarmdp.support import netcdf
dataset = xarray.Dataset({"a": ("x", np.arange(3.0)), "n": ("x", ["p", "qq", "r"])}, attrs={"k": 1})
netcdf.write_dataset(sys.argv[1], dataset)
assert "distributed" not in sys.modules
image = bytes(dataset.to_netcdf(None, engine="h5netcdf"))
assert open(sys.argv[1], "rb").read() == netcdf.with_digest(image)
"""


def test_files_are_those_of_xarray_without_its_scheduler(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SCHEDULED, str(tmp_path / "d.nc")], check=True)


def test_every_flipped_bit_is_noticed(trajectory: Trajectory, tmp_path: Path) -> None:
    whole = trajectory.save(tmp_path / "t.nc").read_bytes()
    chosen = random.Random(1)
    line = len(whole) - netcdf.LENGTH  # where the digest begins
    for place in [*chosen.sample(range(line), 150), *range(line, len(whole))]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chosen.randrange(8)
        (tmp_path / "t.nc").write_bytes(damaged)
        with pytest.raises(FileError, match=r"cannot read .*t\.nc: it is .*damaged"):
            swarmdp.load(tmp_path / "t.nc")


def test_cut_spliced_and_overwritten_files_are_noticed(
    trajectory: Trajectory, tmp_path: Path
) -> None:
    path = tmp_path / "t.nc"
    whole = trajectory.save(path).read_bytes()
    other = swarmdp.rollout(VICSEK, VICSEK.expert, steps=3, runs=2, seed=2)
    second = other.save(tmp_path / "other.nc").read_bytes()
    half = len(whole) // 2
    assert len(second) == len(whole)
    for damaged in (
        whole[:half] + second[half:],
        whole[:half] + bytes(len(whole) - half),
        whole[:-1],
        whole + b"\0",
        whole[: -netcdf.LENGTH] + bytes(netcdf.LENGTH),
        whole[:100],
        b"",
        whole[-netcdf.LENGTH :],
    ):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="damaged"):
            swarmdp.load(path)


def test_edited_elsewhere_it_is_read_with_a_warning(trajectory: Trajectory, tmp_path: Path) -> None:
    path = trajectory.save(tmp_path / "t.nc")
    with h5py.File(path, "r+") as file:
        file["heading"][0, 0, 0] = 0.5
    with pytest.warns(SwarmdpWarning, match=r"t\.nc carries no digest.*Save it again") as seen:
        loaded = swarmdp.load(path)
    assert len(seen) == 1
    assert loaded["heading"][0, 0, 0] == 0.5
    loaded.save(path)
    np.testing.assert_array_equal(swarmdp.load(path)["heading"], loaded["heading"])


def test_everybody_can_read_the_file(trajectory: Trajectory, tmp_path: Path) -> None:
    path = trajectory.save(tmp_path / "t.nc")
    with xarray.open_dataset(path) as dataset:  # without being told which library to use
        np.testing.assert_array_equal(dataset["heading"], trajectory["heading"])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["heading"][...], trajectory["heading"])
    assert path.read_bytes()[-netcdf.LENGTH :].startswith(netcdf.MARK)


def declared(path: Path, shape: tuple[int, ...], **more: Any) -> None:
    """A trajectory whose heading declares this shape without holding it."""
    with h5py.File(path, "r+") as file:
        del file["heading"]
        file.create_dataset("heading", shape, np.float64, **more)


def external(path: Path) -> None:
    storage = [(str(path.with_name("secret")), 0, h5py.h5f.UNLIMITED)]
    declared(path, (2, 4, 5), external=storage)


def linked(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["heading"]
        file["heading"] = h5py.ExternalLink(str(path.with_name("other.h5")), "/x")


def softly_linked(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["again"] = h5py.SoftLink("/heading")


def virtual(path: Path) -> None:
    layout = h5py.VirtualLayout((2, 4, 5), np.float64)
    layout[...] = h5py.VirtualSource(str(path.with_name("other.h5")), "x", (2, 4, 5))
    with h5py.File(path, "r+") as file:
        del file["heading"]
        file.create_virtual_dataset("heading", layout)


def grouped(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file.create_group("more")["round"] = file["/"]


def pickled(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        del file["heading"]
        file.create_dataset("heading", (2,), h5py.vlen_dtype(np.uint8))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (external, "'heading' is kept in other files, which are not followed"),
        (virtual, "'heading' is kept in other files, which are not followed"),
        (linked, "'heading' is a link to another place"),
        (softly_linked, "'again' is a link to another place"),
        (grouped, "'more' is a group, not a variable"),
        (pickled, "'heading' must be an array of numbers"),
        (lambda path: declared(path, (2, 4, 10**9)), "declares 59.6 GiB, but holds 0 bytes"),
        (
            lambda path: declared(
                path, (2, 4, 2 * 10**9), chunks=(1, 1, 10**6), compression="gzip"
            ),
            "declares 119.2 GiB, but holds 0 bytes",
        ),
    ],
)
def test_other_places_and_bombs_are_refused(
    trajectory: Trajectory, tmp_path: Path, made: Callable[[Path], None], message: str
) -> None:
    (tmp_path / "secret").write_bytes(bytes(8 * 40))
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.zeros((2, 4, 5))
    path = trajectory.save(tmp_path / "t.nc")
    made(path)
    with pytest.raises(FileError, match=rf"cannot read .*t\.nc: .*{message}"):
        swarmdp.load(path)


def test_a_file_that_does_not_fit_into_memory_is_refused(
    trajectory: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = trajectory.save(tmp_path / "t.nc")
    monkeypatch.setattr("swarmdp.support.memory.FREE_SHARE", 1e-12)
    with pytest.raises(NotEnoughMemory, match=r"cannot read .*t\.nc: to read it needs .* free"):
        swarmdp.load(path)


ATTRIBUTES = [
    ("settings", "[]", "'settings' must be settings by name"),
    ("settings", "null", "'settings' must be settings by name"),
    ("settings", "3", "'settings' must be settings by name"),
    ("settings", 3, "'settings' must be a text"),
    ("settings", "[" * 100_000, "nested more than 50 deep"),
    ("settings", "{", "'settings' is wrong: this is not JSON"),
    ("kind", np.array([1, 2]), "'kind' must be a text"),
    ("kind", ["swarmdp trajectory", "swarmdp trajectory"], "'kind' must be a text"),
    ("format", "x", "'format' must be an integer"),
    ("format", np.array([1, 1]), "'format' must be an integer"),
    ("seed", "x", "'seed' must be an integer"),
    ("system", 3.5, "'system' must be a text"),
]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [*ATTRIBUTES, ("runs", np.nan, "'runs' must be an integer"), ("runs", 7, "expected 7")],
)
def test_attributes_of_other_kinds_are_refused(
    trajectory: Trajectory, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    dataset = trajectory.to_xarray()
    dataset.attrs[name] = value
    netcdf.write_dataset(tmp_path / "t.nc", dataset)
    with pytest.raises(FileError, match=rf"cannot read .*t\.nc: .*{message}"):
        swarmdp.load(tmp_path / "t.nc")


def test_a_text_that_is_no_unicode_is_refused(trajectory: Trajectory, tmp_path: Path) -> None:
    """HDF5 takes any bytes for a text; they could not be written again."""
    netcdf.write_dataset(tmp_path / "t.nc", trajectory.to_xarray())
    with h5py.File(tmp_path / "t.nc", "r+") as file:
        kind = h5py.string_dtype("utf-8")
        file["heading"].attrs.create("units", np.array(b"\xff\xfe", kind), dtype=kind)
    with pytest.raises(FileError, match="its attribute 'units' must be a text in UTF-8"):
        swarmdp.load(tmp_path / "t.nc")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *(row for row in ATTRIBUTES if row[0] != "kind"),
        ("system_settings", "[]", "'system_settings' must be settings by name"),
        ("settings", "{}", "the discount must be in"),
        ("settings", '{"discount": 0.9}', "lack at_once, first_reward, steps"),
        ("blocks", "3", "not iterable"),
        ("blocks", "[]", "its axes are of 0"),
        ("policy", "pickle", "kind must be one of"),
        ("interface", "[]", "must be a dictionary"),
        ("interface", "{}", "is missing"),
        ("solutions", "3", "not iterable"),
        ("tolerance", "x", "could not convert"),
    ],
)
def test_attributes_of_fits_of_other_kinds_are_refused(
    fitted: Any, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    dataset = fitted.to_xarray()
    dataset.attrs[name] = value
    netcdf.write_dataset(tmp_path / "result.nc", dataset)
    with pytest.raises(FileError, match=rf"cannot read .*result\.nc: .*{message}"):
        swarmdp.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.rename_dims(feature="other"), "the axes of 'weights' must be"),
        (lambda d: d.assign(mu=d["mu"] * np.nan), "'mu' must be finite"),
        (lambda d: d.isel(iteration=slice(0)), "must have iterations and experiments"),
        (lambda d: d.isel(policy_iteration=slice(1)), "must have iterations and experiments"),
        (lambda d: d.isel(feature=slice(3)), "it has 3 features"),
        (lambda d: d.assign(choice_iteration=("experiment", [99])), "from 0 to 1"),
        (lambda d: d.assign(choice_iteration=("experiment", [0.5])), "whole numbers from 0 to 1"),
        (lambda d: d.drop_vars("margin"), "'margin' is missing"),
        (lambda d: d.assign(policy_table=d["policy_table"] + 99), "needs 1[0-9]+ actions"),
        (lambda d: d.assign(runs=("x", [1.0, 2.0])), "the axes of 'runs' must be"),
        (lambda d: d.assign(policy_table=("x", [1.0, 2.0])), "first axes of 'policy_table'"),
        (lambda d: d.assign(memory_counts=("x", [1.0, 2.0])), "first axes of 'memory_counts'"),
    ],
)
def test_arrays_of_a_fit_that_do_not_fit_together_are_refused(
    fitted: Any, tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    netcdf.write_dataset(tmp_path / "result.nc", change(fitted.to_xarray()))
    with pytest.raises(FileError, match=rf"cannot read .*result\.nc: .*{message}"):
        swarmdp.load(tmp_path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for path, message in (
        (tmp_path / ("x" * 300), "the path is too long"),
        (tmp_path / "pipe", "it is not a file"),
        (tmp_path / "circle", "links go round in a circle"),
        (tmp_path / "none.nc", "there is no such file"),
    ):
        for reader in (swarmdp.load, swarmdp.policies.load_controller):
            with pytest.raises(FileError, match=f"cannot read .*{message}"):
                reader(path)
    with pytest.raises(FileError, match=r"cannot read .*: the folder has no result\.nc"):
        swarmdp.load(tmp_path)
    with pytest.raises(FileError, match="cannot read .*: it is a folder"):
        swarmdp.policies.load_controller(tmp_path)


OTHER_USER = """
import os, sys
import swarmdp
import h5py, xarray
readers = swarmdp.load, swarmdp.policies.load_controller
os.setgid(65534); os.setuid(65534)
for reader in readers:
    try:
        reader(sys.argv[1])
    except swarmdp.errors.FileError as error:
        print(error.strerror)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("hidden", ["file", "folder"])
def test_permission_denied_is_not_called_damaged(tmp_path: Path, hidden: str) -> None:
    folder = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    file = folder / "t.nc"
    file.write_bytes(b"")
    (file if hidden == "file" else folder).chmod(0)
    if hidden == "file":
        folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", OTHER_USER, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout == 2 * f"cannot read {file}: permission denied: ask its owner\n"
    folder.chmod(0o755)
    file.unlink()
    folder.rmdir()


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    program = f"""
import os
from swarmdp.support import files
with files.replacing({str(tmp_path / "a[1].txt")!r}) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with files.replacing(tmp_path / "a[1].txt") as mine:
        mine.write_text("first")
        files.write_text(tmp_path / "a[1].txt", "second")  # does not take the other for a leftover
        assert mine.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a[1].txt"]
    assert (tmp_path / "a[1].txt").read_text() == "first"


def test_a_digest_of_plain_data_does_not_depend_on_the_order() -> None:
    plain = {"b": [1, 2.5], "a": {"x": None}}
    digest = files.digest_of(plain)
    assert files.digest_of({"a": {"x": None}, "b": [1, 2.5], files.DIGEST: "x"}) == digest
    files.check_digest({**plain, files.DIGEST: digest})
    files.check_digest(json.loads(json.dumps({**plain, files.DIGEST: digest})))
    with pytest.raises(SwarmdpError, match="damaged or was edited"):
        files.check_digest({**plain, "b": [1, 2.25], files.DIGEST: digest})
