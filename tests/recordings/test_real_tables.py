"""Tables as people have them: a corpus of small files, each with the right answer."""

import bz2
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.support.errors import InvalidInput

NAMES = ("anna", "NA", "carl")
POSITIONS = np.round(
    np.cumsum(np.random.default_rng(5).normal(1, 0.5, (12, 3, 2)), axis=0)
    + np.array([[40.0, 20.0], [1240.0, 20.0], [90.0, 1500.0]]),
    2,
)


def rows(
    separator: str = ",",
    header: str | None = "frame,animal,x,y",
    form: str = "{:.2f}",
    decimal: str = ".",
    labels: tuple[str, ...] = NAMES,
    missing: str | None = None,
) -> str:
    """The positions as a long table; with a mark for what is missing, one point is."""
    lines = [] if header is None else [header.replace(",", separator)]
    for t, frame in enumerate(POSITIONS):
        for label, place in zip(labels, frame, strict=True):
            x, y = (form.format(value) for value in place)
            if decimal == ",":
                x, y = (value.translate(str.maketrans(".,", ",.")) for value in (x, y))
            if missing is not None and t == 4 and label == labels[1]:
                x = y = missing
            lines.append(separator.join([str(t), label, x, y]))
    return "\n".join(lines) + "\n"


def zipped(text: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tracks.csv", text)
    return buffer.getvalue()


CORPUS: dict[str, tuple[bytes, str]] = {
    "comma.csv": (rows().encode(), "guessed"),
    "semicolon and comma.csv": (rows(";", decimal=",").encode(), "decimal comma"),
    "tab and comma.txt": (rows("\t", decimal=",").encode(), "decimal comma"),
    "utf16.csv": (rows("\t").encode("utf-16"), "utf-16"),
    "latin1.csv": (
        rows(header="frame,animal,x,y,gr\xf6sse")
        .replace("\n", ",1\n")
        .replace("\xf6sse,1", "\xf6sse")
        .encode("latin-1"),
        "latin-1",
    ),
    "comments.csv": (("# filmed in May\n# by hand\n" + rows()).encode(), "2 lines"),
    "title.csv": (("Tracks of the first trial\n\n" + rows()).encode(), "2 lines"),
    "excel.csv": (("sep=;\n" + rows(";")).encode(), "1 lines"),
    "blanks.txt": (rows(" ").encode(), "guessed"),
    "packed.csv.gz": (gzip.compress(rows().encode()), "unpacked"),
    "packed.csv.bz2": (bz2.compress(rows().encode()), "unpacked"),
    "packed.zip": (zipped(rows()), "unpacked tracks.csv"),
    "thousands.csv": (rows(";", form="{:,.2f}").encode(), "thousands"),
    "german.csv": (rows(";", form="{:,.2f}", decimal=",").encode(), "1.234,5"),
    "bars.txt": (rows("|").encode(), "guessed"),
    "one candidate.csv": (rows(header="frame,sheepish,x,y").encode(), "column 'sheepish'"),
    "habit.csv": (rows(header="FRAME,TRACK_ID,X,Y").encode(), "'TRACK_ID'"),
}


@pytest.mark.parametrize("name", list(CORPUS))
def test_a_table(tmp_path: Path, name: str) -> None:
    content, said = CORPUS[name]
    path = tmp_path / name
    path.write_bytes(content)
    recording = swarmdp.read_tracks(path, fps=10, unit="cm")
    order = [recording.names.index(label) for label in NAMES]
    np.testing.assert_allclose(recording.positions[:, order], POSITIONS, atol=1e-9)
    assert any(said in note for note in recording.notes), recording.notes


@pytest.mark.parametrize("mark", ["-", "NA", "n/a", "null", "", "?", "nan"])
def test_marks_of_what_is_missing(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "tracks.csv"
    path.write_text(rows(missing=mark))
    recording = swarmdp.read_tracks(path, fps=10, unit="cm")
    column = recording.names.index("NA")
    assert np.isnan(recording.positions[4, column]).all()
    assert np.isfinite(np.delete(recording.positions[:, column], 4, axis=0)).all()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_numbers_without_names(tmp_path: Path, order: tuple[int, int], separator: str) -> None:
    lines = []
    for t in range(12):
        for n in range(3):
            first = (str(t), str(n + 7))
            both = [first[order[0]], first[order[1]]]
            lines.append(separator.join([*both, *(f"{v:.2f}" for v in POSITIONS[t, n])]))
    path = tmp_path / "tracks.txt"
    path.write_text("\n".join(lines) + "\n")
    recording = swarmdp.read_tracks(path, fps=10, unit="m")
    np.testing.assert_allclose(recording.positions, POSITIONS, atol=1e-9)
    assert recording.names == (7, 8, 9)
    assert any("by the steps that individuals make" in note for note in recording.notes)


def test_one_animal_needs_no_column(tmp_path: Path) -> None:
    path = tmp_path / "tracks.csv"
    lines = [f"{t},{x},{y}" for t, (x, y) in enumerate(POSITIONS[:, 0])]
    path.write_text("frame,x,y\n" + "\n".join(lines) + "\n")
    recording = swarmdp.read_tracks(path, fps=10, unit="m")
    np.testing.assert_allclose(recording.positions[:, 0], POSITIONS[:, 0])
    assert "no column tells individuals apart: all rows are of one" in recording.notes
    path.write_text("frame,x,y\n0,1,2\n0,3,4\n1,1,2\n1,3,4\n")
    with pytest.raises(InvalidInput, match="no column looks like the individual"):
        swarmdp.read_tracks(path, fps=10, unit="m")


@pytest.mark.parametrize("mark", [0, -1])
def test_lost_points_are_not_resting_animals(tmp_path: Path, mark: int) -> None:
    places = POSITIONS.copy()
    places[3:6, 1] = mark
    lines = ["frame,id,x,y"]
    lines += [f"{t},{n},{places[t, n, 0]},{places[t, n, 1]}" for t in range(12) for n in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    recording = swarmdp.read_tracks(tmp_path / "t.csv", fps=10, unit="m")
    assert np.isnan(recording.positions[3:6, 1]).all()
    assert any("taken as not seen" in note for note in recording.notes)


def test_a_place_at_zero_where_animals_are_is_a_place() -> None:
    import pandas

    walk = np.cumsum(np.ones((20, 1, 2)), axis=0) - 10
    walk[9:12] = 0.0  # it rests there
    table = pandas.DataFrame(
        {"frame": np.arange(20), "id": 0, "x": walk[:, 0, 0], "y": walk[:, 0, 1]}
    )
    recording = swarmdp.Recording.from_frame(table, fps=1, unit="m")
    assert np.isfinite(recording.positions).all()


def test_large_numbers_as_names(tmp_path: Path) -> None:
    import pandas

    text = "frame,id,x,y\n"
    for t in range(4):
        for n in range(3):
            text += f"{t},{10**20 + n}.0,{POSITIONS[t, n, 0]},{POSITIONS[t, n, 1]}\n"
    (tmp_path / "t.csv").write_text(text)
    recording = swarmdp.read_tracks(tmp_path / "t.csv", fps=1, unit="m")
    np.testing.assert_allclose(recording.positions, POSITIONS[:4])
    table = pandas.DataFrame({"frame": [0, 0], "id": [1e19, 2e19], "x": [1.0, 2], "y": [1.0, 2]})
    with pytest.raises(InvalidInput, match="cannot be told apart"):
        swarmdp.Recording.from_frame(table, fps=1, unit="m")


def test_a_length_that_makes_places_infinite(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(rows())
    with pytest.raises(InvalidInput, match="makes coordinates infinite"):
        swarmdp.read_tracks(tmp_path / "t.csv", fps=1, unit="m", length=1e-320)


def test_many_columns_are_looked_at_once(tmp_path: Path) -> None:
    names = ["frame", "id", "x", "y", *(f"c{n}" for n in range(20_000))]
    line = ",".join(["0", "1", "2", "3", *("0" for _ in range(20_000))])
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + line + "\n")
    assert swarmdp.read_tracks(tmp_path / "t.csv", fps=1, unit="m").n_individuals == 1


def test_an_archive_of_several_tables(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", rows())
        archive.writestr("b.csv", rows())
    with pytest.raises(InvalidInput, match="one table in it, got 'a.csv', 'b.csv'"):
        swarmdp.read_tracks(tmp_path / "t.zip", fps=1, unit="m")
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"0," * 20_000_000))
    with pytest.raises(InvalidInput, match="far more than a table has"):
        swarmdp.read_tracks(tmp_path / "bomb.csv.gz", fps=1, unit="m")


def places(frames: int, seed: int) -> NDArray[np.float64]:
    angle = np.random.default_rng(seed).normal(0, 0.3, (frames, 4)).cumsum(axis=0)
    steps = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    return np.asarray(steps.cumsum(axis=0))


def test_frames_that_are_counted_otherwise_after_a_pause() -> None:
    import pandas

    frames = np.append(np.arange(0, 300, 6), 701 + np.arange(0, 300, 6))
    table = pandas.DataFrame(
        {
            "frame": np.repeat(frames, 4),
            "id": np.tile(np.arange(4), len(frames)) + 4 * np.repeat(frames > 300, 4),
            "x_m": places(len(frames), 1)[..., 0].ravel(),
            "y_m": places(len(frames), 1)[..., 1].ravel(),
        }
    )
    recording = swarmdp.Recording.from_frame(table, fps=15)
    assert recording.fps == 2.5
    assert recording.n_frames == 1 + 49 + round((701 - 294) / 6) + 49
    assert recording.pauses == 1
