"""Borders and headings that files tell, and groups that travel: where individuals were."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings.arena import UnclearArena, arena_in_words, arena_of_border
from swarmdp.recordings.gates import TRAVEL, travel, why_open
from swarmdp.recordings.logged_headings import logged_headings
from tests.terminal import fails

Floats = NDArray[np.float64]


def walkers(seed: int, frames: int = 400, count: int = 6, drift: float = 0.0) -> Floats:
    """A group of random walkers that are kept together, and drift along x."""
    rng = np.random.default_rng(seed)
    place, angle = rng.normal(0, 1, (count, 2)), rng.uniform(0, 6.3, count)
    tracks = np.empty((frames, count, 2))
    for t in range(frames):
        angle = angle + rng.normal(0, 0.4, count)
        back = -0.05 * (place - place.mean(axis=0))
        place = place + 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + back
        place[:, 0] += drift
        tracks[t] = place
    return tracks


def test_a_group_that_travels_is_in_open_space() -> None:
    decisions = swarmdp.Recording(walkers(1, drift=0.2), fps=10, unit="m").decisions(dt=0.5)
    far, size = travel(decisions)
    assert far == pytest.approx(0.2 * 400, rel=0.1)
    assert far > TRAVEL * size
    assert "times its own size" in why_open(decisions)
    assert swarmdp.recordings.Swarm.from_recording(decisions.train).arena is None


def test_a_group_that_stays_is_asked_for_its_arena() -> None:
    decisions = swarmdp.Recording(walkers(2), fps=10, unit="m").decisions(dt=0.5)
    assert why_open(decisions) == ""
    with pytest.raises(UnclearArena, match="arena=None for open space"):
        swarmdp.recordings.Swarm.from_recording(decisions.train)


def test_pauses_are_no_travel() -> None:
    """A group that is elsewhere after a pause did not go there."""
    tracks = np.concatenate([walkers(3, 200), np.full((20, 6, 2), np.nan), walkers(4, 200) + 500])
    decisions = swarmdp.Recording(tracks, fps=10, unit="m").decisions(dt=0.5)
    far, size = travel(decisions)
    assert far < TRAVEL * size


def test_a_border_of_points_is_round_or_has_corners() -> None:
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rng = np.random.default_rng(1)
    marked = np.stack([5 + 2 * np.cos(angle), 3 + 2 * np.sin(angle)], axis=1)
    circle = arena_of_border(marked + rng.normal(0, 0.03, marked.shape))
    assert isinstance(circle, swarmdp.recordings.Circle)
    assert circle.centre == pytest.approx((5, 3), abs=0.05)
    assert circle.radius == pytest.approx(2, abs=0.05)
    box = arena_of_border(np.array([[0.0, 0.0], [4, 0], [4, 2], [0, 2], [0, 2]]))
    assert isinstance(box, swarmdp.recordings.Polygon)
    assert len(box.vertices) == 4
    assert arena_in_words(circle, "cm").startswith("circle of radius 2")
    assert arena_in_words(box, "cm") == "polygon of 4 corners, 4 cm wide"
    assert arena_in_words(None, "cm") == "open space"


@pytest.mark.parametrize("unit", [None, "BL"])
def test_the_border_that_idtracker_tells_is_the_arena(unit: str | None, tmp_path: Path) -> None:
    angle = np.linspace(0, 2 * np.pi, 10, endpoint=False)
    border = 100 + 50 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    content = {
        "trajectories": 100 + walkers(5),
        "frames_per_second": 32,
        "body_length": 10.0,
        "setup_points": {"border": border},
    }
    file = tmp_path / "trajectories.npy"
    np.save(file, np.array(content, dtype=object), allow_pickle=True)
    recording = swarmdp.read_tracks(file, unit=unit)
    scale = 1.0 if unit is None else 10.0
    assert isinstance(recording.arena, swarmdp.recordings.Circle)
    assert recording.arena.radius == pytest.approx(50 / scale)
    assert recording.arena.centre == pytest.approx((100 / scale, 100 / scale))
    assert any("border in the file" in note for note in recording.notes)


@pytest.mark.parametrize(
    ("name", "counted", "said"),
    [
        ("heading", lambda angle: angle, "radians, counted from the x axis towards the y axis"),
        ("heading_deg", np.degrees, "degrees, counted from the x axis towards"),
        ("theta", lambda angle: np.degrees(-angle) % 360, "away from the y axis"),
        ("yaw [rad]", lambda angle: np.pi / 2 - angle, "as of a compass"),
    ],
)
def test_headings_of_a_log_are_counted_as_individuals_move(
    name: str, counted: object, said: str
) -> None:
    assert callable(counted)
    tracks = walkers(6, drift=0.05)
    way = np.diff(tracks, axis=0, prepend=np.nan)
    angle = np.arctan2(way[..., 1], way[..., 0]) + np.random.default_rng(7).normal(0, 0.3, (400, 6))
    headings, note = logged_headings(name, counted(angle), tracks)
    assert said in note
    assert headings is not None
    np.testing.assert_allclose(np.cos(headings - angle)[1:], 1.0, rtol=1e-9)


def test_headings_that_do_not_agree_are_not_used() -> None:
    angle = np.random.default_rng(8).uniform(0, 6.28, (400, 6))
    headings, note = logged_headings("heading", angle, walkers(8))
    assert headings is None
    assert "not used" in note


def test_a_heading_column_is_read(tmp_path: Path) -> None:
    tracks = walkers(9, 60, 3)
    way = np.diff(tracks, axis=0, prepend=tracks[:1] - 0.1)
    angle = np.degrees(np.arctan2(way[..., 1], way[..., 0]))
    rows = ["frame,robot,x_m,y_m,heading_deg"]
    rows += [
        f"{t},{n},{tracks[t, n, 0]},{tracks[t, n, 1]},{angle[t, n]}"
        for t in range(60)
        for n in range(3)
    ]
    file = tmp_path / "log.csv"
    file.write_text("\n".join(rows))
    recording = swarmdp.read_tracks(file, fps=10)
    assert recording.headings is not None
    np.testing.assert_allclose(recording.headings, np.radians(angle), atol=1e-9)
    assert any("headings are column 'heading_deg', in degrees" in note for note in recording.notes)


def test_errors_of_the_arena_name_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tracks = walkers(2)
    rows = ["frame,fish,x_cm,y_cm"]
    rows += [
        f"{t},{n},{tracks[t, n, 0]},{tracks[t, n, 1]}" for t in range(len(tracks)) for n in range(6)
    ]
    file = tmp_path / "fish.csv"
    file.write_text("\n".join(rows))
    said = fails(["fit", "--tracks", str(file), "--fps", "10", "-o", str(tmp_path / "out")], capsys)
    assert "--arena open" in said
    assert "arena=" not in said


def test_pauses_are_told() -> None:
    tracks = np.concatenate([walkers(3, 100), np.full((50, 6, 2), np.nan), walkers(4, 100)])
    facts = swarmdp.Recording(tracks, fps=10, unit="m").summary().facts
    assert facts["individuals"] == "6, all at all times"
    assert facts["pauses"] == "1, 5 s in all, in which nobody is seen"
    assert facts["seen"].startswith("100 %")
    assert "pauses" not in swarmdp.Recording(walkers(3, 100), fps=10, unit="m").summary().facts
