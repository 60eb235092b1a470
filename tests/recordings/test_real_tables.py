"""Tables as people have them: a corpus of small files, each with the right answer."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.support.errors import InvalidInput
from tests.recordings.corpus import CORPUS, POSITIONS, Case, archive, table, workbook


@pytest.mark.parametrize("name", list(CORPUS))
def test_a_file_of_the_corpus(tmp_path: Path, name: str) -> None:
    check(CORPUS[name], tmp_path)


def check(case: Case, folder: Path) -> None:
    """Read a file, and compare it with the right answer."""
    path = folder / case.name
    path.write_bytes(case.content)
    recording = swarmdp.read_tracks(path, **case.options)
    assert recording.fps == pytest.approx(case.fps)
    assert recording.unit == case.unit
    assert case.labels is None or set(recording.names) == set(case.labels)
    order = [recording.names.index(label) for label in case.labels or recording.names]
    assert recording.positions.shape == case.positions.shape
    np.testing.assert_allclose(recording.positions[:, order], case.positions, atol=case.tolerance)
    assert any(case.said in note for note in recording.notes), recording.notes


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 100
    assert len({case.content for case in CORPUS.values()}) == len(CORPUS)


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
    (tmp_path / "t.csv").write_text(table())
    with pytest.raises(InvalidInput, match="makes coordinates infinite"):
        swarmdp.read_tracks(tmp_path / "t.csv", fps=1, unit="m", length=1e-320)


def test_many_columns_are_looked_at_once(tmp_path: Path) -> None:
    names = ["frame", "id", "x", "y", *(f"c{n}" for n in range(20_000))]
    line = ",".join(["0", "1", "2", "3", *("0" for _ in range(20_000))])
    (tmp_path / "t.csv").write_text(",".join(names) + "\n" + line + "\n")
    assert swarmdp.read_tracks(tmp_path / "t.csv", fps=1, unit="m").n_individuals == 1


LONG = "frame,id,x,y\n0,1,1,2\n"
WITH_TYPE = '<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "b">]><Tracks spaceUnits="px"></Tracks>'
BRANCH = """<Tracks spaceUnits="px" frameInterval="1" timeUnits="sec"><particle nSpots="2">
<detection t="1" x="1" y="1" z="0"/><detection t="1" x="5" y="5" z="0"/></particle></Tracks>"""


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("old.xls", b"\xd0\xcf\x11\xe0" + bytes(600), "save it as .xlsx or .csv"),
        ("tracking.db", b"SQLite format 3\0" + bytes(600), "export tracking.txt"),
        ("t.xml", WITH_TYPE.encode(), "document type"),
        ("t.xml", BRANCH.encode(), "two spots in frame 1: tracks that split or merge"),
        ("t.xml", b'<Tracks spaceUnits="px"><particle', "damaged XML"),
        ("t.xml", b'<Tracks spaceUnits="px"></Tracks>', "it has no tracks"),
        ("t.xml", b"<Tracks spaceUnits='' >" + b"<a>" * 100, "nested more than"),
        ("d.csv", b"time,id,x,y\n05/06/2026,1,1,2\n06/06/2026,1,2,3\n", "the month first"),
        ("d.csv", b"time,id,x,y\n23:59:59,1,1,2\n00:00:01,1,2,3\n", "go past midnight"),
        ("d.csv", b"time,id,x,y\n12:30,1,1,2\n12:31,1,2,3\n", "hours and minutes"),
        ("d.csv", b"scorer,a,a\nbodyparts,n,n\ncoords,x,y\n0,1,2\n", "give the .h5 file"),
        ("m.txt", b"1,-1,5,5,9,9,1,-1,-1,-1\n2,-1,6,5,9,9,1,-1,-1,-1\n", "detections, not tracks"),
        ("g.csv", b"id,time,lon,lat\n1,1,10,80\n1,2,10,-80\n", "project them yourself"),
        ("g.csv", b"id,time,lon,lat\n1,1,10,95\n1,2,10,95\n", "must be degrees"),
        ("s.csv", b"track,frame_idx,a.x,a.y\n,0,1,2\n,1,1,2\n", "in no track"),
        ("w.xlsx", workbook({"A": []}), "its sheets are empty"),
        ("w.xlsx", archive({"xl/workbook.xml": "<workbook/>"}), "has no xl/_rels"),
        ("w.xlsx", archive({"xl/workbook.xml": " " * 10**7}), "far more than a workbook has"),
    ],
)
def test_what_is_refused_says_what_helps(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        swarmdp.read_tracks(tmp_path / name, fps=1, unit="px", keypoint=None)


def test_columns_that_are_named_are_taken_whatever_the_file_looks_like(tmp_path: Path) -> None:
    case = CORPUS["spots.csv"]
    (tmp_path / case.name).write_bytes(case.content)
    columns = {"individual": "ID", "frame": "FRAME", "x": "POSITION_X", "y": "POSITION_Y"}
    recording = swarmdp.read_tracks(tmp_path / case.name, columns=columns, fps=1, unit="px")
    assert recording.n_individuals == 36


def test_places_across_the_date_line_are_near_each_other(tmp_path: Path) -> None:
    text = "id,time_s,lon,lat\na,0,179.9999,0\na,1,-179.9999,0\na,2,-179.9997,0\n"
    (tmp_path / "g.csv").write_text(text)
    recording = swarmdp.read_tracks(tmp_path / "g.csv", fps=1)
    steps = np.diff(recording.positions[:, 0, 0])
    np.testing.assert_allclose(steps, 111_319.49 * 2e-4, rtol=1e-6)


def test_fixes_of_tags_are_put_on_common_frames(tmp_path: Path) -> None:
    """Tags wake at other seconds: an interval of an hour is found, and a double fix left out."""
    rows = ["tag,timestamp,lon,lat"]
    for hour in range(6):
        for tag, late in (("a", 3), ("b", 48), ("c", 55)):
            rows.append(f"{tag},2026-05-01 {hour:02}:00:{late:02},10.0,{50 + hour / 1000}")
    rows.append("a,2026-05-01 02:00:09,10.0,50.0")
    (tmp_path / "g.csv").write_text("\n".join(rows))
    recording = swarmdp.read_tracks(tmp_path / "g.csv")
    assert recording.positions.shape == (6, 3, 2)
    assert recording.fps == pytest.approx(1 / 3600)
    assert any("every 3600 s" in note and "1 fixes" in note for note in recording.notes)
    np.testing.assert_allclose(np.diff(recording.positions[..., 1], axis=0), 111.23, atol=0.01)


def test_body_parts_are_no_individuals(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("frame,head_x,head_y,tail_x,tail_y\n0,1,2,3,4\n1,1,2,3,4\n")
    with pytest.raises(InvalidInput, match="no column looks like"):
        swarmdp.read_tracks(tmp_path / "p.csv", fps=1, unit="px")


def test_an_archive_of_several_tables(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", table())
        archive.writestr("b.csv", table())
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
