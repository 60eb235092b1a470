"""Bad tables and files: one clear line that names the row or the column."""

import os
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas
import pytest

import swarmdp
from swarmdp import Recording
from swarmdp.support.errors import FileError, InvalidInput, NotEnoughMemory, SwarmdpError


def rows(**changes: Any) -> pandas.DataFrame:
    """Two individuals in four frames."""
    table = pandas.DataFrame(
        {
            "frame": np.repeat(np.arange(4), 2),
            "id": np.tile([1, 2], 4),
            "x": np.arange(8.0),
            "y": np.arange(8.0) ** 2,
        }
    )
    return table.assign(**changes)


def replaced(column: str, row: int, value: Any) -> pandas.DataFrame:
    table = rows()
    values = table[column].astype(object).tolist()
    values[row] = value
    return table.assign(**{column: values})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pandas.concat([rows(), rows()[3:4]], ignore_index=True),
            "rows 3 and 8 are both individual 2 in frame 1",
        ),
        (replaced("x", 5, "abc"), "row 5 of column 'x' is 'abc', not a number"),
        (replaced("y", 2, "1,5"), "row 2 of column 'y' is '1,5', not a number"),
        (replaced("x", 5, True), "row 5 of column 'x' is True, not a number"),
        (replaced("frame", 3, 1.5), "row 3 of column 'frame' is 1.5, not a whole number"),
        (replaced("frame", 3, np.nan), "row 3 of column 'frame' is nan, not a whole number"),
        (replaced("frame", 3, "one"), "row 3 of column 'frame' is 'one', not a number"),
        (replaced("id", 6, None), "row 6 of column 'id' is empty: whose point is it?"),
        (rows().rename(columns={"frame": "a"}), "no column looks like the frame or the time"),
        (rows(x_cm=1.0), "columns 'x' and 'x_cm' may each be the x"),
        (rows(fish=1), "columns 'id' and 'fish' may each be the individual"),
        (
            rows().rename(columns={"x": "x_cm", "y": "y_px"}),
            "in several units, by their names: 'x_cm' in cm and 'y_px' in px",
        ),
        (
            rows().rename(columns={"x": "x_cm", "y": "y_cm"}),
            "the data are in cm, but unit='px': give length=, the number of cm in one px",
        ),
        (rows()[:0], "the table has no rows"),
        (
            rows(time=np.arange(8) / 3).drop(columns="frame"),
            "row 1 of column 'time' lies between two frames",
        ),
        (
            rows(time=np.repeat(np.arange(4) * 100.0, 2)).drop(columns="frame"),
            "the times in column 'time' are 100 apart, but fps=10 means 0.1 seconds",
        ),
        (
            rows(time=["2026-01-01", "yesterday"] * 4).drop(columns="frame"),
            "row 1 of column 'time' is 'yesterday', not a time",
        ),
        (
            rows(time=[0, np.inf] * 4).drop(columns="frame"),
            "row 1 of column 'time' is inf, not a time",
        ),
        (rows(frame=pandas.to_datetime("2026-01-01")), "columns={\"time\": 'frame'}"),
        (
            pandas.concat([rows(), rows()[["x"]]], axis=1),
            "the columns must have different names, got 'x' twice",
        ),
    ],
)
def test_bad_tables(table: pandas.DataFrame, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        swarmdp.Recording.from_frame(table, fps=10, unit="px")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_frame_rate_and_unit_are_asked_for_by_name() -> None:
    with pytest.raises(InvalidInput, match="^fps is missing"):
        swarmdp.Recording.from_frame(rows(), unit="px")
    with pytest.raises(InvalidInput, match="^unit is missing"):
        swarmdp.Recording.from_frame(rows(), fps=10)
    with pytest.raises(InvalidInput, match="the name is missing: give it, such as unit="):
        swarmdp.Recording.from_frame(rows(), fps=10, length=3)
    timed = rows(t=np.repeat(np.arange(4) / 5, 2)).drop(columns="frame")
    with pytest.raises(InvalidInput, match="fps is missing.*if column 't' is in seconds"):
        swarmdp.Recording.from_frame(timed, unit="px")


def test_times_that_tell_their_unit_tell_the_frame_rate() -> None:
    milliseconds = rows(time_ms=np.repeat(np.arange(4) * 40, 2)).drop(columns="frame")
    recording = swarmdp.Recording.from_frame(milliseconds, unit="px")
    assert recording.fps == pytest.approx(25)
    np.testing.assert_array_equal(recording.positions[:, 0, 0], [0, 2, 4, 6])
    start = pandas.Timestamp("2026-05-01T12:00")
    dates = [start + pandas.Timedelta(seconds=0.5 * k) for k in (0, 0, 1, 1, 2, 2, 3, 3)]
    for values in (dates, [date.isoformat() for date in dates]):
        recording = swarmdp.Recording.from_frame(rows(time=values).drop(columns="frame"), unit="px")
        assert recording.fps == pytest.approx(2)
        assert recording.n_frames == 4


def test_unsorted_rows_are_sorted_and_it_is_said() -> None:
    table = rows().sample(frac=1, random_state=3)
    recording = swarmdp.Recording.from_frame(table, fps=10, unit="px")
    expected = swarmdp.Recording.from_frame(rows(), fps=10, unit="px")
    np.testing.assert_array_equal(recording.positions, expected.positions)
    assert "rows were not in the order of frames: sorted" in recording.notes
    one_by_one = rows().sort_values(["id", "frame"])
    assert swarmdp.Recording.from_frame(one_by_one, fps=10, unit="px").notes == expected.notes


def test_every_fifth_frame() -> None:
    table = rows(frame=np.repeat([100, 105, 110, 120], 2))
    recording = swarmdp.Recording.from_frame(table, fps=25, unit="px")
    assert recording.fps == 5
    assert recording.n_frames == 5
    assert np.isnan(recording.positions[3]).all()
    assert "only every 5th frame is there: fps is divided by 5" in recording.notes
    assert "the first frame is 100" in recording.notes


def test_too_many_frames_or_individuals() -> None:
    stamps = rows(frame=np.repeat([0, 1, 2, 10**12], 2))
    with pytest.raises(NotEnoughMemory, match="1,000,000,000,001 frames.*Is 'frame' the frame"):
        swarmdp.Recording.from_frame(stamps, fps=10, unit="px")
    million = pandas.DataFrame(
        {"frame": np.arange(10**6), "id": np.arange(10**6), "x": 0.0, "y": 0.0}
    )
    with pytest.raises(NotEnoughMemory, match="1,000,000 individuals.*drop short tracks"):
        swarmdp.Recording.from_frame(million, fps=10, unit="px")


def test_a_few_rows_far_apart_in_time() -> None:
    far = rows(frame=np.repeat([0, 1, 2, 10**7], 2))
    with pytest.raises(InvalidInput, match="8 rows for 2 individuals in 10,000,001 frames"):
        swarmdp.Recording.from_frame(far, fps=10, unit="px")
    twice = rows()[:4].assign(frame=np.repeat([0, 10**9], 2))  # not a recording of two frames
    with pytest.raises(NotEnoughMemory, match="1,000,000,001 frames"):
        swarmdp.Recording.from_frame(twice, fps=10, unit="px")


def test_nobody_moves() -> None:
    still = Recording(np.tile(np.arange(12.0).reshape(6, 2), (200, 1, 1)), fps=25, unit="cm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "nobody moves" in str(still.summary())
    with pytest.raises(InvalidInput, match="nobody moves: the positions of each individual are"):
        still.decisions()


def test_one_individual() -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(size=(300, 1, 2)), axis=0)
    recording = Recording(walk, fps=25, unit="cm")
    assert "one individual: it has no neighbours" in str(recording.summary())
    with pytest.raises(InvalidInput, match="only one individual at most times.*record at least"):
        swarmdp.analyse(recording, seed=1, arena=None)


def test_a_text_far_down_in_a_long_table(tmp_path: Path) -> None:
    count = 300_000  # read in several pieces, of which only one has a text
    lines = [f"{k // 3},{k % 3},{k}.5,1.5" for k in range(count)]
    lines[-2] = f"{count // 3 - 1},1,there,1.5"
    path = tmp_path / "long.csv"
    path.write_text("frame,id,x,y\n" + "\n".join(lines) + "\n")
    wrong = f"row {count - 1} of column 'x' is 'there', not a number"
    with pytest.raises(InvalidInput, match=wrong):
        swarmdp.read_tracks(path, fps=10, unit="px")


def test_a_thousand_million_rows_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("frame,id,x,y\n" + "0,0,1.25,2.5\n" * 90_000)
    os.truncate(path, 13 * 10**10)  # the rest takes no room on the disk
    with pytest.raises(NotEnoughMemory, match=r"reading about [\d,]+ rows needs"):
        swarmdp.read_tracks(path, fps=10, unit="px")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("frame,id,x,y\n0,1,2,3\n0,2,x,4\n", "row 2 of column 'x' is 'x', not a number"),
        ("frame,id,x,y\n0,1,2,3\n0,1,2,3,4\n", "its rows have different lengths"),
        ("frame,id,x,y\n", "the table has no rows"),
        ("", "it is empty"),
        ("one two three", "no column looks like the individual"),
        ("scorer,DLC,DLC\nbodyparts,nose,nose\n", "it is a table of DeepLabCut: give the .h5"),
        ("time,x1,y1,x2,y2\n0,1,2,3,b\n", "row 1 of column 'y2' is 'b', not a number"),
        ("time,x1,y1,x2,y2\n", "it has no rows"),
        ("time,x1,y1,x2\n0,1,2,3\n", "column 'x2' has no y beside it"),
        ("# framerate: 25\n1 0 1.0 2.0\n1 0 1.0 2.0\n", "rows 1 and 2 are both individual 1"),
        ("# x/cm\n# in m\n1 0 1.0 2.0\n", "its first lines name two units, cm and m"),
    ],
)
def test_bad_text_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "tracks.csv"
    path.write_text(content)
    with pytest.raises(SwarmdpError) as error:
        swarmdp.read_tracks(path, fps=10, unit="px")
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04 but no archive",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9, 9, 2)}",
        b"\x93NUMPY\x09\x00",
        b"\x89HDF\r\n\x1a\n and no more",
        b"MATLAB 5.0 MAT-file".ljust(200),
        b"\x00\xff" * 500,
        b"PAR1 and no more",
    ],
)
@pytest.mark.parametrize("ending", [".npz", ".dat"])
def test_damaged_files(tmp_path: Path, content: bytes, ending: str) -> None:
    path = tmp_path / f"tracks0{ending}"
    path.write_bytes(content)
    with pytest.raises(SwarmdpError) as error:
        swarmdp.read_tracks(path, fps=10, unit="px")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_and_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        swarmdp.read_tracks(tmp_path / "nothing.csv")
    with pytest.raises(InvalidInput, match="no file of tracks in this folder"):
        swarmdp.read_tracks(tmp_path)


def test_what_hdf5_files_point_to_is_not_followed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["trajectories"] = np.zeros((3, 2, 2))
    with h5py.File(tmp_path / "linked.h5", "w") as file:
        file["trajectories"] = h5py.ExternalLink("secret.h5", "trajectories")
    np.zeros(12).tofile(tmp_path / "raw")
    with h5py.File(tmp_path / "outside.h5", "w") as file:
        file.create_dataset(
            "trajectories", (3, 2, 2), "<f8", external=[(str(tmp_path / "raw"), 0, 96)]
        )
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("trajectories", (10**9, 100, 2), "<f8", chunks=(1000, 100, 2))
    for name, message in {
        "linked.h5": "a link to another place, which is not followed",
        "outside.h5": "kept in other files, which are not followed",
        "huge.h5": "it is damaged: 'trajectories' declares",
    }.items():
        with pytest.raises(InvalidInput, match=message):
            swarmdp.read_tracks(tmp_path / name, fps=1)


def test_hdf5_of_another_tool(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["spectrum"] = np.zeros(5)
    with pytest.raises(InvalidInput, match="its kind is not known: expected MATLAB"):
        swarmdp.read_tracks(tmp_path / "other.h5")
    with pytest.raises(InvalidInput, match="it has no 'trajectories'"):
        swarmdp.read_tracks(tmp_path / "other.h5", format="idtracker")


def test_arguments_of_the_wrong_kind(tmp_path: Path) -> None:
    path = tmp_path / "tracks.csv"
    rows().to_csv(path, index=False)
    with pytest.raises(InvalidInput, match="fps must be a number or None, got 'fast'"):
        swarmdp.read_tracks(path, fps="fast", unit="px")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="fps must be positive"):
        swarmdp.read_tracks(path, fps=-1, unit="px")
    with pytest.raises(InvalidInput, match="length must be positive"):
        swarmdp.read_tracks(path, fps=1, unit="px", length=0)
    with pytest.raises(InvalidInput, match="columns names what there is of frame, time"):
        swarmdp.read_tracks(path, fps=1, unit="px", columns={"who": "id"})
    with pytest.raises(InvalidInput, match="there is no column 'fish'"):
        swarmdp.read_tracks(path, fps=1, unit="px", columns={"individual": "fish"})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.from_frame([1.0], fps=1, unit="m"), "frame must be a pandas DataFrame"),
        (lambda r: r.from_dataset([1.0], fps=1, unit="m"), "must be an xarray Dataset"),
        (lambda r: r.decisions(dt=1e300), "dt must be shorter than the recording"),
        (
            lambda r: swarmdp.recordings.Circle((0.0, 0.0), 1.0).rim(0),
            "count must be an integer of at least",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str) -> None:
    walk = np.cumsum(np.ones((50, 3, 2)), axis=0)
    with pytest.raises(InvalidInput, match=message):
        call(Recording(walk, fps=1, unit="m"))


def test_what_is_shorter_than_the_smoothing_stays_as_it_is() -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(size=(50, 3, 2)), axis=0)
    recording = Recording(walk, fps=1, unit="m")
    plain, wide = recording.clean(smooth=0), recording.clean(smooth=2**64)
    np.testing.assert_array_equal(plain.positions, wide.positions)
