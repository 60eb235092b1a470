"""Animations of recorded swarms as files: GIF, and MP4 where ffmpeg is present."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

from swarmdp import files
from swarmdp.errors import FileError, InvalidInput
from swarmdp.report import style
from swarmdp.report.scenes import Scene
from swarmdp.systems.ising import Ising

DOTS_PER_INCH = 100
TRAIL_STEPS = 2
LAST_SECONDS = 1.5  # the last frame of a GIF stands so long before it starts anew
HUES = 32  # of headings
FASTEST = 50  # frames per second: browsers slow down faster GIFs

Frame = NDArray[np.uint8]  # (height, width, 3)
Progress = Callable[[int, int], None]


def check_frames_per_second(frames_per_second: int) -> None:
    """Refuse a pace that no player keeps."""
    if not 1 <= frames_per_second <= FASTEST:
        raise InvalidInput(
            f"frames per second must be from 1 to {FASTEST}, got {frames_per_second}"
        )


def find_ffmpeg() -> str:
    """The program that makes MP4 files."""
    found = shutil.which("ffmpeg")
    if found is None:
        raise InvalidInput(
            "an MP4 needs the program ffmpeg, which is not on the PATH: install it (on Debian and "
            "Ubuntu: apt-get install ffmpeg), or give a file name that ends in .gif or .html"
        )
    return found


def write_gif(
    path: Path, scene: Scene, frames_per_second: int, progress: Progress | None = None
) -> Path:
    """Write a GIF of one frame for each time, wholly or not at all."""
    check_frames_per_second(frames_per_second)
    palette = _palette()
    images = [
        Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
        for frame in frames(scene, range(scene.steps + 1), progress)
    ]
    durations = [round(1000 / frames_per_second)] * len(images)
    durations[-1] += round(1000 * LAST_SECONDS)
    with files.replacing(path) as temporary:
        images[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=images[1:],
            duration=durations,
            loop=0,
            optimize=False,  # it would give every frame a palette of its own
        )
    return path


def _palette() -> Image.Image:
    """The colours of all frames: a palette for each would cost more bytes than the pictures."""
    greys = np.linspace(0, 255, 24).round()[:, None].repeat(3, axis=1)
    signs = [*style.heading_colours(HUES), style.ORANGE, *style.colours_of(style.SPINS, 2)]
    pure = np.array([[int(sign[at : at + 2], 16) for at in (1, 3, 5)] for sign in signs])
    pale = (pure + 255) / 2  # the edges of what is drawn on white
    image = Image.new("P", (1, 1))
    image.putpalette(np.concatenate([greys, pure, pale]).astype(np.uint8).tobytes())
    return image


def write_mp4(
    path: Path, scene: Scene, frames_per_second: int, progress: Progress | None = None
) -> Path:
    """Write an MP4 (H.264) of one frame for each time, wholly or not at all."""
    check_frames_per_second(frames_per_second)
    ffmpeg = find_ffmpeg()
    source = frames(scene, range(scene.steps + 1), progress)
    first = next(source)
    height, width, _ = first.shape
    given = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {frames_per_second} -i -"
    wanted = "-an -c:v libx264 -crf 20 -pix_fmt yuv420p -threads 1 -movflags +faststart -f mp4"
    with files.replacing(path) as temporary, tempfile.TemporaryFile() as said:
        command = [ffmpeg, "-y", "-loglevel", "error", *given.split(), *wanted.split()]
        with subprocess.Popen(
            [*command, str(temporary)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
        ) as process:
            assert process.stdin is not None
            try:
                for frame in chain([first], source):
                    process.stdin.write(frame.tobytes())
            except BrokenPipeError:
                pass  # it stopped early; its exit code and words tell why
            except BaseException:
                process.kill()
                raise
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
        if process.returncode:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip() or f"exit {process.returncode}"
            raise FileError(5, f"cannot write {path}: ffmpeg failed: {reason.splitlines()[-1]}")
    return path


def frames(scene: Scene, times: Sequence[int], progress: Progress | None = None) -> Iterator[Frame]:
    """The scene at each of these times, as pictures of the same even width and height."""
    with style.family():
        figure, update = _figure(scene)
        try:
            for done, time in enumerate(times, start=1):
                update(time)
                yield _pixels(figure)
                if done == 1:
                    figure.set_layout_engine("none")  # everything stays where it is
                if progress is not None:
                    progress(done, len(times))
        finally:
            plt.close(figure)


def _pixels(figure: Figure) -> Frame:
    canvas: Any = figure.canvas
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    height, width = (size - size % 2 for size in pixels.shape[:2])  # H.264 wants even numbers
    return np.ascontiguousarray(pixels[:height, :width])


def _figure(scene: Scene) -> tuple[Figure, Callable[[int], None]]:
    """All swarms beside each other, their measures below; and what moves them to a time."""
    count = len(scene.swarms)
    shape = (1, 1) if not isinstance(scene.system, Ising) else scene.system.shape
    tall = 3.4 * min(2.0, max(0.5, shape[0] / shape[1]))
    figure, axes = plt.subplots(
        2,
        count,
        figsize=(3.5 * count + 0.3, tall + 1.5),
        height_ratios=[tall, 1.0],
        squeeze=False,
        dpi=DOTS_PER_INCH,
        sharey="row",
    )
    movers = []
    for column, label in enumerate(scene.swarms):
        above, below = axes[:, column]
        above.set(xticks=[], yticks=[])
        for spine in above.spines.values():
            spine.set_visible(True)
        if isinstance(scene.system, Ising):
            movers.append(_draw_grid(above, scene, label))
        else:
            movers.append(_draw_agents(above, scene, label))
        movers.append(_draw_curve(below, scene, label))
    axes[1, 0].set_ylabel(scene.measure_name.replace(" ", "\n", 1), fontsize=8)

    def update(time: int) -> None:
        for mover in movers:
            mover(time)

    return figure, update


def _draw_grid(ax: Axes, scene: Scene, label: str) -> Callable[[int], None]:
    grids = scene.grids(label)
    image = ax.imshow(grids[0], cmap=style.SPINS, vmin=0, vmax=1, interpolation="nearest")
    title = ax.set_title(label)

    def update(time: int) -> None:
        image.set_data(grids[time])
        title.set_text(f"{label},  t = {time}")

    return update


def _draw_agents(ax: Axes, scene: Scene, label: str) -> Callable[[int], None]:
    positions, headings = scene.positions(label), scene.headings(label)
    periodic = getattr(scene.system, "periodic", False)
    colours = np.array(style.heading_colours(HUES))
    length = min(0.04, max(0.008, 0.5 / np.sqrt(positions.shape[1])))
    arrow = length * np.array([0.6, -0.4 + 0.32j, -0.2, -0.4 - 0.32j])
    trails = LineCollection([], colors=style.GREY, alpha=0.3, linewidths=0.6)
    arrows = PolyCollection([], linewidths=0)
    ax.add_collection(trails)
    ax.add_collection(arrows)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    title = ax.set_title(label)

    def update(time: int) -> None:
        place, heading = positions[time], headings[time]
        ways = np.diff(positions[max(0, time - TRAIL_STEPS) : time + 1], axis=0)
        if periodic:
            ways -= np.round(ways)  # the short way, across the edge
        back = place - np.cumsum(ways[::-1], axis=0)
        trails.set_segments(list(np.concatenate([place[None], back]).transpose(1, 0, 2)))
        turned = arrow * np.exp(1j * heading)[:, None] + (place[:, 0] + 1j * place[:, 1])[:, None]
        arrows.set_verts(list(np.stack([turned.real, turned.imag], axis=2)))
        arrows.set_facecolor(
            colours[np.floor(heading / (2 * np.pi) * HUES).astype(int) % HUES].tolist()
        )
        title.set_text(f"{label},  t = {time}")

    return update


def _draw_curve(ax: Axes, scene: Scene, label: str) -> Callable[[int], None]:
    values = scene.measures[label]
    ax.plot(np.arange(scene.steps + 1), values, color=style.EXPERT, linewidth=1.2)
    cursor = ax.axvline(0, color=style.ORANGE, linewidth=1.5, zorder=3)
    (dot,) = ax.plot([0], [values[0]], "o", color=style.ORANGE, markersize=4, zorder=4)
    reading = ax.annotate(
        "", (0.98, 0.5), xycoords="axes fraction", ha="right", va="center", fontsize=9
    )
    ax.set(xlabel="time step", xlim=(0, max(scene.steps, 1)))
    ax.set_ylim(0, 1.05 * scene.measure_limit)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.tick_params(labelsize=8)

    def update(time: int) -> None:
        cursor.set_xdata([time, time])
        dot.set_data([time], [values[time]])
        reading.set_text(scene.reading(label, time))

    return update
