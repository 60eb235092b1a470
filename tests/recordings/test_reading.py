"""Files as the tracking tools write them: their layouts were taken from files of the tools."""

import importlib.util
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas
import pytest
import scipy.io
import xarray
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings.reading import FORMATS
from swarmdp.support.errors import InvalidInput


@pytest.fixture
def positions() -> NDArray[np.float64]:
    """Three individuals in twelve frames; one is missing for a while."""
    places = np.random.default_rng(1).random((12, 3, 2)) * 100
    places[4:6, 1] = np.nan
    return places


def long_table(positions: NDArray[np.float64], **names: str) -> pandas.DataFrame:
    frames, individuals, _ = positions.shape
    table = pandas.DataFrame(
        {
            names.get("frame", "frame"): np.repeat(np.arange(frames), individuals),
            names.get("individual", "id"): np.tile(np.arange(individuals), frames),
            names.get("x", "x"): positions[..., 0].ravel(),
            names.get("y", "y"): positions[..., 1].ravel(),
        }
    )
    return table.dropna().reset_index(drop=True)


@pytest.mark.parametrize(("ending", "separator"), [(".csv", ","), (".tsv", "\t"), (".txt", ";")])
def test_long_tables_of_text(
    tmp_path: Path, positions: NDArray[np.float64], ending: str, separator: str
) -> None:
    path = tmp_path / f"tracks{ending}"
    long_table(positions, frame="Frame", individual="fish", x="X [cm]", y="Y [cm]").to_csv(
        path, sep=separator, index=False
    )
    recording = swarmdp.read_tracks(path, fps=25)
    np.testing.assert_array_equal(recording.positions, positions)
    assert recording.unit == "cm"
    assert recording.individuals == (0, 1, 2)
    assert recording.notes == (
        "read as long table (.csv, .tsv)",
        "guessed: frame is column 'Frame', individual is column 'fish', x is column 'X [cm]', y is "
        "column 'Y [cm]'",
    )


def test_names_that_nobody_can_guess(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    path = tmp_path / "tracks.csv"
    names = {"frame": "a", "individual": "b", "x": "c", "y": "d"}
    long_table(positions, **names).to_csv(path, index=False)
    with pytest.raises(InvalidInput, match=r"no column looks like the individual.*'a', 'b'"):
        swarmdp.read_tracks(path, fps=25, unit="px")
    recording = swarmdp.read_tracks(path, fps=25, unit="px", columns=names)
    np.testing.assert_array_equal(recording.positions, positions)


def test_blanks_and_a_mark_at_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "tracks.csv"
    path.write_bytes(b"\xef\xbb\xbfframe, id, x, y\r\n0, a, 1.5, 2\r\n1, a, 2.5, 3\r\n")
    recording = swarmdp.read_tracks(path, fps=1, unit="m")
    np.testing.assert_array_equal(recording.positions[:, 0], [[1.5, 2], [2.5, 3]])
    assert recording.individuals == ("a",)


def test_parquet(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    path = tmp_path / "tracks.parquet"
    if importlib.util.find_spec("pyarrow") is None:  # an optional library
        path.write_bytes(b"PAR1PAR1")
        with pytest.raises(InvalidInput, match="Parquet needs pyarrow"):
            swarmdp.read_tracks(path, fps=25)
        return
    long_table(positions, individual="particle", x="x_mm", y="y_mm").to_parquet(path)
    recording = swarmdp.read_tracks(path, fps=25)
    np.testing.assert_array_equal(recording.positions, positions)
    assert recording.unit == "mm"


def test_a_frame_as_trackpy_links_it(positions: NDArray[np.float64]) -> None:
    table = long_table(positions, individual="particle")[["y", "x", "frame", "particle"]]
    recording = swarmdp.Recording.from_frame(table, fps=30, unit="px")
    np.testing.assert_array_equal(recording.positions, positions)
    text = table.assign(particle=["abc"[k] for k in table["particle"]])
    assert swarmdp.Recording.from_frame(text, fps=30, unit="px").individuals == ("a", "b", "c")


def test_the_length_is_a_scale(positions: NDArray[np.float64]) -> None:
    table = long_table(positions)
    recording = swarmdp.Recording.from_frame(table, fps=30, unit="BL", length=58)
    np.testing.assert_allclose(recording.positions, positions / 58)
    assert "1 BL is 58 units of the data (length)" in recording.notes


def stored_frame(place: Any, table: pandas.DataFrame, layout: str, columns: Sequence[Any]) -> None:
    """A data frame as pandas writes it with PyTables, in one of its two layouts."""
    values = table.to_numpy(dtype=np.float64)
    if layout == "table":
        kind = np.dtype([("index", "<i8"), ("values_block_0", "<f8", (values.shape[1],))])
        records = np.empty(len(table), dtype=kind)
        records["index"], records["values_block_0"] = table.index, values
        place.attrs["pandas_type"] = np.bytes_(b"frame_table")
        stored = place.create_dataset("table", data=records, chunks=True)
        stored.attrs["values_block_0_kind"] = np.bytes_(pickle.dumps(list(columns), protocol=0))
        return
    place.attrs["pandas_type"] = np.bytes_(b"frame")
    place.attrs["nblocks"] = 1
    place["axis1"] = np.asarray(table.index)
    place["block0_values"] = values
    place["block0_values"].attrs["transposed"] = np.uint8(1)
    if not isinstance(columns[0], tuple):
        place.attrs["block0_items_variety"] = np.bytes_(b"regular")
        place["block0_items"] = np.asarray(columns, dtype="S")
        return
    place.attrs["block0_items_variety"] = np.bytes_(b"multi")
    place.attrs["block0_items_nlevels"] = len(columns[0])
    for level, names in enumerate(zip(*columns, strict=True)):
        unique = sorted(set(names))
        place[f"block0_items_level{level}"] = np.asarray(unique, dtype="S")
        codes = [unique.index(name) for name in names]
        place[f"block0_items_label{level}"] = np.asarray(codes, dtype=np.int8)


@pytest.mark.parametrize("layout", ["fixed", "table"])
def test_deeplabcut(tmp_path: Path, positions: NDArray[np.float64], layout: str) -> None:
    path = tmp_path / "video_el.h5"
    columns = [
        ("DLC_scorer", name, part, coordinate)
        for name in ("m1", "m2", "m3")
        for part in ("nose", "tail")
        for coordinate in ("x", "y", "likelihood")
    ]
    values = np.zeros((12, 18))
    for k in range(3):
        values[:, 6 * k + 3 : 6 * k + 5] = positions[:, k]
    with h5py.File(path, "w") as file:
        place = file.create_group("df_with_missing")
        stored_frame(place, pandas.DataFrame(values), layout, columns)
    with pytest.raises(InvalidInput, match=r"2 key points.*keypoint= one of 'nose', 'tail'"):
        swarmdp.read_tracks(path, fps=30)
    recording = swarmdp.read_tracks(path, fps=30, keypoint="tail")
    np.testing.assert_array_equal(recording.positions, positions)
    assert recording.individuals == ("m1", "m2", "m3")
    assert recording.unit == "px"


@pytest.mark.parametrize("layout", ["fixed", "table"])
def test_trackpy_stores(tmp_path: Path, positions: NDArray[np.float64], layout: str) -> None:
    table = long_table(positions, individual="particle")
    path = tmp_path / "linked.h5"
    with h5py.File(path, "w") as file:
        for frame, rows in table.groupby("frame"):
            stored_frame(file.create_group(f"Frame_{frame}"), rows, layout, list(table.columns))
    recording = swarmdp.read_tracks(path, fps=30, unit="px")
    np.testing.assert_array_equal(recording.positions, positions)
    assert recording.notes[0] == "read as trackpy (.h5)"
    assert not any("sorted" in note for note in recording.notes)


@pytest.mark.parametrize("preset", ["matlab", "standard"])
def test_sleap(tmp_path: Path, positions: NDArray[np.float64], preset: str) -> None:
    path = tmp_path / "analysis.h5"
    poses = np.stack([positions + 1, positions], axis=2)  # frame, track, node, xy
    with h5py.File(path, "w") as file:
        if preset == "standard":
            file["tracks"] = poses
            file["tracks"].attrs["dims"] = json.dumps(["frame", "track", "node", "xy"])
        else:
            file["tracks"] = poses.transpose(1, 3, 2, 0)
        file["node_names"] = np.asarray([b"head", b"thorax"], dtype=object).astype("S")
        file["track_names"] = np.asarray([b"a", b"b", b"c"])
    recording = swarmdp.read_tracks(path, fps=30, keypoint="thorax")
    np.testing.assert_array_equal(recording.positions, positions)
    assert recording.individuals == ("a", "b", "c")
    with pytest.raises(InvalidInput, match=r"keypoint must be one of 'head', 'thorax', got 'tail'"):
        swarmdp.read_tracks(path, fps=30, keypoint="tail")


def poses_of(positions: NDArray[np.float64], individuals: str, keypoints: str) -> xarray.Dataset:
    poses = np.stack([positions, positions + 1], axis=2).transpose(0, 3, 2, 1)
    return xarray.Dataset(
        {"position": (("time", "space", keypoints, individuals), poses)},
        coords={
            "time": np.arange(len(poses)) / 25,
            "space": ["x", "y"],
            keypoints: ["centre", "tail"],
            individuals: ["a", "b", "c"],
        },
        attrs={"source_software": "SLEAP", "ds_type": "poses", "fps": 25.0, "time_unit": "seconds"},
    )


@pytest.mark.parametrize(
    ("individuals", "keypoints"), [("individuals", "keypoints"), ("individual", "keypoint")]
)
def test_movement(
    tmp_path: Path, positions: NDArray[np.float64], individuals: str, keypoints: str
) -> None:
    dataset = poses_of(positions, individuals, keypoints)
    dataset.to_netcdf(tmp_path / "poses.nc", engine="h5netcdf")
    for recording in (
        swarmdp.read_tracks(tmp_path / "poses.nc", unit="cm", keypoint="centre"),
        swarmdp.Recording.from_dataset(dataset, unit="cm", keypoint="centre"),
    ):
        np.testing.assert_array_equal(recording.positions, positions)
        assert recording.fps == 25
        assert recording.individuals == ("a", "b", "c")
    with pytest.raises(InvalidInput, match="unit is missing"):
        swarmdp.read_tracks(tmp_path / "poses.nc", keypoint="centre")


def idtracker_data(positions: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "trajectories": positions,
        "version": "5.2",
        "video_paths": ["a.avi"],
        "frames_per_second": 28.0,
        "body_length": 50.0,
        "stats": {"estimated_accuracy": np.float64(0.99)},
        "setup_points": {"border": np.array([[1, 2], [3, 4]])},
        "identities_labels": ["1", "2", "3"],
    }


def write_idtracker(folder: Path, positions: NDArray[np.float64], kind: str) -> Path:
    data = idtracker_data(positions)
    if kind == "npy":
        np.save(folder / "trajectories.npy", data)  # type: ignore[arg-type]
        return folder / "trajectories.npy"
    if kind == "h5":
        with h5py.File(folder / "trajectories.h5", "w") as file:
            file.create_dataset("trajectories", data=positions, compression="gzip")
            file.attrs["frames_per_second"], file.attrs["body_length"] = 28.0, 50.0
            file.attrs["length_unit"] = -1
        return folder / "trajectories.h5"
    header = "time," + ",".join(f"{axis}{k}" for k in (1, 2, 3) for axis in "xy")
    rows = np.column_stack([np.arange(12) / 28, positions.reshape(12, 6)])
    np.savetxt(folder / "trajectories.csv", rows, "%.9f", ",", header=header, comments="")
    rest = {"frames_per_second": 28.0, "body_length": 50.0, "length_unit": None}
    (folder / "attributes.json").write_text(json.dumps(rest))
    return folder / "trajectories.csv" if kind == "csv" else folder


@pytest.mark.parametrize("kind", ["h5", "csv", "folder", "npy"])
def test_idtracker(tmp_path: Path, positions: NDArray[np.float64], kind: str) -> None:
    path = write_idtracker(tmp_path, positions, kind)
    recording = swarmdp.read_tracks(path)
    np.testing.assert_allclose(recording.positions, positions, atol=1e-8)
    assert (recording.fps, recording.unit) == (28, "px")
    in_bodies = swarmdp.read_tracks(path, unit="BL")
    np.testing.assert_allclose(in_bodies.positions, positions / 50, atol=1e-8)
    with pytest.raises(InvalidInput, match="give length=, the number of px in one cm"):
        swarmdp.read_tracks(path, unit="cm")


def test_pickles_run_nothing(tmp_path: Path) -> None:
    class Wicked:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    path = tmp_path / "trajectories.npy"
    np.save(path, {"trajectories": Wicked()})  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="it wants to run .*which is not allowed"):
        swarmdp.read_tracks(path, fps=1, unit="px")
    assert not (tmp_path / "ran").exists()


def test_a_plain_array(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    np.save(tmp_path / "plain.npy", positions)
    recording = swarmdp.read_tracks(tmp_path / "plain.npy", fps=30, unit="px")
    np.testing.assert_array_equal(recording.positions, positions)


def write_trex(folder: Path, positions: NDArray[np.float64]) -> None:
    for k in range(3):
        missing = np.isnan(positions[:, k, 0])
        frames = np.arange(100, 112)
        arrays: dict[str, Any] = {
            "frame": frames.astype(np.float32),
            "time": frames / 40,
            "missing": missing.astype(np.float32),
            "X#wcentroid": np.where(missing, np.inf, positions[:, k, 0]),
            "Y#wcentroid": np.where(missing, np.inf, positions[:, k, 1]),
            "X": positions[:, k, 0] + 1,
            "Y": positions[:, k, 1] + 1,
        }
        np.savez(folder / f"video_fish{k}.npz", **arrays)


def test_trex(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    write_trex(tmp_path, positions)
    for path in (tmp_path, tmp_path / "video_fish1.npz"):
        recording = swarmdp.read_tracks(path)
        np.testing.assert_array_equal(recording.positions, positions)
        assert recording.fps == pytest.approx(40)
        assert recording.unit == "cm"
        assert recording.individuals == (0, 1, 2)
    head = swarmdp.read_tracks(tmp_path, keypoint="head")
    np.testing.assert_array_equal(head.positions, positions + 1)
    with pytest.raises(InvalidInput, match="keypoint must be one of 'wcentroid', 'head'"):
        swarmdp.read_tracks(tmp_path, keypoint="centroid")


def test_pedpy(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    path = tmp_path / "walk.txt"
    table = long_table(positions)[["id", "frame", "x", "y"]].sort_values(["id", "frame"])
    lines = [f"{int(i)}\t{int(f)}\t{x!r}\t{y!r}\t1.76" for i, f, x, y in table.to_numpy().tolist()]
    path.write_text("# description: a\n# framerate: 16.00\n# id frame x/cm y/cm z/cm\n")
    with path.open("a") as file:
        file.write("\n".join(lines) + "\n")
    recording = swarmdp.read_tracks(path)
    np.testing.assert_array_equal(recording.positions, positions)
    assert (recording.fps, recording.unit) == (16, "cm")


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_matlab_arrays(
    tmp_path: Path, positions: NDArray[np.float64], axes: tuple[int, ...]
) -> None:
    path = tmp_path / "tracks.mat"
    big = np.concatenate([positions] * 2, axis=1)  # six individuals: no axis is 2 or 3 by chance
    scipy.io.savemat(path, {"tracks": big.transpose(axes), "fps": 50.0, "note": "text"})
    recording = swarmdp.read_tracks(path, unit="px")
    np.testing.assert_array_equal(recording.positions, big)
    assert recording.fps == 50
    assert any("is the time (the longest)" in note for note in recording.notes)


def test_matlab_matrices_and_its_newest_files(
    tmp_path: Path, positions: NDArray[np.float64]
) -> None:
    scipy.io.savemat(tmp_path / "old.mat", {"X": positions[..., 0], "Y": positions[..., 1]})
    with h5py.File(tmp_path / "new.mat", "w", userblock_size=512) as file:
        file["X"], file["Y"] = positions[..., 0].T, positions[..., 1].T
    with (tmp_path / "new.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    for name in ("old.mat", "new.mat"):
        recording = swarmdp.read_tracks(tmp_path / name, fps=10, unit="m")
        np.testing.assert_array_equal(recording.positions, positions)
    with pytest.raises(InvalidInput, match="there is no array 'Z'"):
        swarmdp.read_tracks(tmp_path / "old.mat", columns={"positions": "Z"})


def test_the_kind_can_be_named(tmp_path: Path, positions: NDArray[np.float64]) -> None:
    path = tmp_path / "tracks.csv"
    long_table(positions).to_csv(path, index=False)
    recording = swarmdp.read_tracks(path, format="table", fps=1, unit="px")
    assert not any(note.startswith("read as") for note in recording.notes)
    with pytest.raises(InvalidInput, match="format must be one of matlab, sleap"):
        swarmdp.read_tracks(path, format="excel")
    assert all(form.title for form in FORMATS.values())
