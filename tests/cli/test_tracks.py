"""`swarmdp tracks`: a page about a recording."""

import json
from pathlib import Path

import numpy as np
import pytest

from swarmdp.cli import main


def write_table(path: Path, frames: int = 80) -> None:
    rng = np.random.default_rng(2)
    angle = rng.normal(0, 0.2, (frames, 6)).cumsum(axis=0)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=2).cumsum(axis=0)
    lines = ["frame,fish,x,y"]
    lines += [
        f"{t},{k},{places[t, k, 0]:.4f},{places[t, k, 1]:.4f}"
        for t in range(frames)
        for k in range(6)
        if not (k == 2 and 30 <= t < 50)
    ]
    path.write_text("\n".join(lines) + "\n")


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "fish.csv")
    reading = ["--fps", "20", "--unit", "BL", "--length", "2", "--column", "individual=fish"]
    main(["tracks", str(tmp_path / "fish.csv"), *reading, "-o", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert "6 individuals in 80 frames (4 s at 20 frames a second), in BL" in printed
    assert "1 gaps of more than 0.3 s: a new segment begins" in printed
    page = (tmp_path / "out" / "index.html").read_text()
    for words in ("Paths", "Who is seen when", "In numbers", "nearest neighbour", "How to cite"):
        assert words in page
    assert "<script src" not in page
    read = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert read["individuals"] == 6
    assert read["segments"] == 7
    assert read["median_speed"] == pytest.approx(10, rel=0.02)
    for name in ("paths", "presence", "group", "distributions"):
        assert (tmp_path / "out" / f"{name}.png").is_file()


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "fish.csv")
    reading = ["--fps", "20", "--unit", "cm"]
    main(["tracks", str(tmp_path / "fish.csv"), *reading, "--json", "-o", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)["individuals"] == 6


def test_a_part_of_the_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "fish.csv")
    reading = ["--fps", "20", "--unit", "cm", "--time", ":1.5"]
    main(["tracks", str(tmp_path / "fish.csv"), *reading, "--json", "-o", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)["frames"] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "fps is missing"),
        (["--fps", "20"], "unit is missing"),
        (["--fps", "20", "--unit", "cm", "--column", "fish"], "--column must be ROLE=NAME"),
        (["--fps", "20", "--unit", "cm", "--jump", "0.5"], "jump must be above 1"),
        (["--format", "excel"], "format must be one of"),
        (["--fps", "20", "--unit", "cm", "--time", "5"], "--time must be FROM:TO in seconds"),
        (
            ["--fps", "20", "--unit", "cm", "--time", "5:"],
            "no frame is after 5 s",
        ),
    ],
)
def test_one_line_for_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    write_table(tmp_path / "fish.csv", frames=60)
    with pytest.raises(SystemExit) as end:
        main(["tracks", str(tmp_path / "fish.csv"), *options, "-o", str(tmp_path / "out")])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_page_of_next_to_nothing(tmp_path: Path, value: float) -> None:
    positions = np.full((5, 1, 2), 1.0)
    positions[1:] = value
    np.save(tmp_path / "still.npy", positions)
    arguments = ["--fps", "1", "--unit", "m", "-o", str(tmp_path / "out")]
    main(["tracks", str(tmp_path / "still.npy"), *arguments])
    assert "Remark: there is one individual" in (tmp_path / "out" / "index.html").read_text()
