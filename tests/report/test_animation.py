import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import swarmdp
from swarmdp.report import animation
from swarmdp.report.scenes import Scene
from swarmdp.support.errors import FileError, InvalidInput
from tests.report import pages


def scenes() -> list[Scene]:
    return [
        pages.vicsek_scene(steps=3),
        pages.vicsek_scene(swarmdp.Vicsek(n_agents=9, periodic=False), steps=3),
        pages.ising_scene(steps=3),
    ]


@pytest.mark.parametrize("scene", scenes(), ids=["vicsek", "open", "ising"])
def test_a_gif_has_a_frame_for_each_time(scene: Scene, tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []
    for name in ("a.gif", "b.gif"):
        animation.write_gif(tmp_path / name, scene, 20, lambda *done: reported.append(done))
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    assert reported == [(1, 4), (2, 4), (3, 4), (4, 4)] * 2
    pictures, durations = [], []
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 4  # type: ignore[attr-defined]
        assert image.info["loop"] == 0
        for number in range(4):
            image.seek(number)
            pictures.append(np.asarray(image.convert("RGB")).astype(int))
            durations.append(image.info["duration"])
    assert durations == [50, 50, 50, 1550]
    for shown, drawn in zip(pictures, animation.frames(scene, range(4)), strict=True):
        assert shown.shape == drawn.shape
        assert np.abs(shown - drawn).mean() < 1.5  # of 255: only edges lose their shades
        assert (shown[0, 0] == 255).all()


def test_a_swarm_that_stands_at_its_start(tmp_path: Path) -> None:
    animation.write_gif(tmp_path / "a.gif", pages.vicsek_scene(steps=0), 10)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 1  # type: ignore[attr-defined]


def test_arrows_are_drawn_where_the_agents_are() -> None:
    """One agent in the middle of nowhere, flying to the right."""
    system = swarmdp.Vicsek(n_agents=1, noise=0.0)
    swarm = swarmdp.rollout(system, system.expert, steps=1, seed=4)
    scene = Scene(system, {"expert": swarm})
    figure, update = animation._figure(scene)
    for time in (0, 1):
        update(time)
        _, arrows, _ = figure.axes[0].collections  # trails, agents, outsiders
        (path,) = arrows.get_paths()
        corners = np.asarray(path.vertices)[:4]
        heading = swarm["heading"][0, time, 0]
        tip, notch = corners[0], corners[2]
        assert np.arctan2(*(tip - notch)[::-1]) == pytest.approx(heading)
        middle = swarm["position"][0, time, 0]
        np.testing.assert_allclose((tip + 3 * notch) / 4, middle, atol=1e-12)


@pytest.mark.parametrize("pace", [0, 51])
def test_an_impossible_pace_is_refused(pace: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="frames per second must be from 1 to 50"):
        animation.write_gif(tmp_path / "a.gif", pages.ising_scene(), pace)
    assert not list(tmp_path.iterdir())


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Put a program called ffmpeg first on the path."""
    file = folder / "bin" / "ffmpeg"
    file.parent.mkdir()
    file.write_text(f"#!{sys.executable}\nimport sys\n{program}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent))


def test_ffmpeg_gets_every_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "open(sys.argv[-1], 'wb').write(' '.join(sys.argv[1:-1]).encode() + b'\\n' + "
    stand_in(tmp_path, monkeypatch, program + "sys.stdin.buffer.read())")
    scene = pages.ising_scene(steps=3)
    animation.write_mp4(tmp_path / "a.mp4", scene, 20)
    options, _, content = (tmp_path / "a.mp4").read_bytes().partition(b"\n")
    drawn = list(animation.frames(scene, range(4)))
    height, width, _ = drawn[0].shape
    assert height % 2 == width % 2 == 0
    assert f"-s {width}x{height} -r 20 -i -" in options.decode()
    assert content == b"".join(frame.tobytes() for frame in drawn)


def test_what_ffmpeg_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "sys.exit('Unknown encoder libx264')")
    with pytest.raises(FileError, match="ffmpeg failed: Unknown encoder libx264"):
        animation.write_mp4(tmp_path / "a.mp4", pages.vicsek_scene(steps=30), 10)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "sys.stdin.buffer.read()")

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for write in (animation.write_gif, animation.write_mp4):
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "a.file", pages.ising_scene(), 10, interrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_without_ffmpeg_there_is_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"needs the program ffmpeg.*apt-get install ffmpeg"):
        animation.write_mp4(tmp_path / "a.mp4", pages.ising_scene(), 10)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4_of_the_real_ffmpeg(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        animation.write_mp4(tmp_path / name, pages.vicsek_scene(steps=5), 10)
    content = (tmp_path / "a.mp4").read_bytes()
    assert content[4:8] == b"ftyp"
    assert b"avc1" in content
    assert content == (tmp_path / "b.mp4").read_bytes()
