"""Animations of recorded swarms as files: GIF, and MP4 where ffmpeg is present."""

import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

from swarmdp.model.adapted import Start
from swarmdp.model.pictures import Grid
from swarmdp.model.system import System, name_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.policies.replicas import as_policy
from swarmdp.report import page, style
from swarmdp.report.drawing import HUES, Mover, draw_swarm
from swarmdp.report.player import Player, check_size
from swarmdp.report.scenes import Scene, common_steps, swarms_by_label
from swarmdp.simulation.rollout import rollout
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Index, Seed

DOTS_PER_INCH = 100
_TRAIL_STEPS = 2
DEFAULT_ANIMATED_STEPS = 100  # of policies, if their number is not given
LAST_SECONDS = 1.5  # the last frame of a GIF stands this long before it starts again
MOST_FRAMES_PER_SECOND = 50  # frames per second: browsers slow down faster GIFs

Pixels = NDArray[np.uint8]  # (height, width, 3)
FrameProgress = Callable[[int, int], None]
SUFFIXES = (".gif", ".mp4", ".html")


@checked(skip=("initial",))
def animate(
    path: str | os.PathLike[str],
    system: System,
    swarms: Controller | Trajectory | Mapping[str, Controller | Trajectory],
    *,
    steps: Index | None = None,
    seed: Seed = 0,
    initial: Start | None = None,
    frames_per_second: int | None = None,
    title: str | None = None,
    progress: bool | Tell | None = None,
) -> Scene:
    """Show swarms in motion side by side, with their main measure over time, as a file.

    Parameters
    ----------
    path
        What to write: .gif, .mp4 (needs ffmpeg) or .html (a player that opens in a browser).
    system
        The swarm, with a method `picture`; its measures are shown if it declares any.
    swarms
        A policy, or a trajectory with recorded states; or several of these by label. Policies start
        from the same state and meet the same noise.
    steps
        The number of time steps; those of the trajectories, or 100, if not given.
    seed
        Of these roll-outs.
    initial
        Where policies start, instead of `system.initial` (see `swarmdp.rollout`).
    frames_per_second
        Time steps shown in a second; as the system's picture says if not given.
    title
        Of the player's page.
    progress
        A bar on a terminal or in a notebook by default; False for none.

    Returns
    -------
    Scene
        What is shown.

    Raises
    ------
    InvalidInput
        If the system has no picture, or the file does not end in .gif, .mp4 or .html.
    FileError
        If the file cannot be written, or ffmpeg is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "swarm.html"
    ...     _ = swarmdp.animate(page, ising, ising.expert, steps=3)
    ...     written = page.is_file()
    ...
    >>> written
    True

    """
    path = Path(path)
    suffix = check_format(path)
    named = swarms_by_label(system, swarms)
    length = common_steps(named, steps, DEFAULT_ANIMATED_STEPS)

    def scene_of(length: int) -> Scene:
        options: dict[str, Any] = {"steps": length, "seed": seed, "initial": initial}
        return Scene(
            system,
            {
                label: swarm.until(length)
                if isinstance(swarm, Trajectory)
                else rollout(system, swarm, runs=as_policy(swarm).replicas, **options)
                for label, swarm in named.items()
            },
        )

    start = scene_of(0)  # what cannot be shown is refused before the swarms are rolled out
    pace = start.steps_per_second if frames_per_second is None else frames_per_second
    check_frames_per_second(pace)
    if suffix == ".html":
        check_size(start, length)
    scene = scene_of(length)
    if suffix == ".html":
        heading = title or f"{name_of(system)}: {' and '.join(named)}"
        caption = f"Run of seed {seed}. Keys: space plays and pauses, arrow keys step."
        page.write_player(path, Player(path.stem or "swarm", heading, caption, scene, pace))
        return scene
    write = write_gif if suffix == ".gif" else write_mp4
    with shown(progress, f"drawing {scene.steps + 1} frames") as tell:
        write(path, scene, pace, tell)
    return scene


def check_format(path: Path) -> str:
    """The ending of a file's name; raises InvalidInput unless such a file can be made."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(
            f"the file's name must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {path}"
        )
    if suffix == ".mp4":
        find_ffmpeg()
    return suffix


def check_frames_per_second(frames_per_second: int) -> None:
    """Raise InvalidInput for a pace that no player keeps."""
    if not 1 <= frames_per_second <= MOST_FRAMES_PER_SECOND:
        raise InvalidInput(
            f"frames per second must be from 1 to {MOST_FRAMES_PER_SECOND}, got {frames_per_second}"
        )


def find_ffmpeg() -> str:
    """The program that makes MP4 files."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise InvalidInput(
            "an MP4 needs the program ffmpeg, which is not on the PATH: install it (on Debian and "
            "Ubuntu: apt-get install ffmpeg), or give a file name that ends in .gif or .html"
        )
    return program


def write_gif(
    path: Path, scene: Scene, frames_per_second: int, progress: FrameProgress | None = None
) -> Path:
    """Write a GIF of one frame for each time, atomically."""
    check_frames_per_second(frames_per_second)
    palette = _palette(scene)
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


def _palette(scene: Scene) -> Image.Image:
    """The colours of all frames: a palette for each would cost more bytes than the pictures."""
    greys = np.linspace(0, 255, 24).round()[:, None].repeat(3, axis=1)
    colours = style.heading_colours(HUES)
    if isinstance(scene.first, Grid):
        colours = style.colours_of(style.SPINS, scene.shades)
    signs = [*colours, style.ORANGE, style.BLUE]
    pure = np.array([[int(sign[at : at + 2], 16) for at in (1, 3, 5)] for sign in signs])
    pale = (pure + 255) / 2  # the edges of what is drawn on white
    image = Image.new("P", (1, 1))
    image.putpalette(np.concatenate([greys, pure, pale]).astype(np.uint8).tobytes())
    return image


def write_mp4(
    path: Path, scene: Scene, frames_per_second: int, progress: FrameProgress | None = None
) -> Path:
    """Write an MP4 (H.264) of one frame for each time, atomically."""
    check_frames_per_second(frames_per_second)
    ffmpeg = find_ffmpeg()
    source = frames(scene, range(scene.steps + 1), progress)
    first = next(source)
    height, width, _ = first.shape
    given = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {frames_per_second} -i -"
    encoded = "-an -c:v libx264 -crf 20 -pix_fmt yuv420p -threads 1 -movflags +faststart -f mp4"
    with files.replacing(path) as temporary, tempfile.TemporaryFile() as errors:
        command = [ffmpeg, "-y", "-loglevel", "error", *given.split(), *encoded.split()]
        with subprocess.Popen(
            [*command, str(temporary)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
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
            errors.seek(0)
            reason = errors.read().decode(errors="replace").strip() or f"exit {process.returncode}"
            raise FileError(5, f"cannot write {path}: ffmpeg failed: {reason.splitlines()[-1]}")
    return path


def frames(
    scene: Scene, times: Sequence[int], progress: FrameProgress | None = None
) -> Iterator[Pixels]:
    """The scene at each of these times, as pictures of the same even width and height."""
    with style.family():
        figure, update = _figure(scene)
        for done, time in enumerate(times, start=1):
            update(time)
            yield _pixels(figure)
            if done == 1:
                figure.set_layout_engine("none")  # everything stays where it is
            if progress is not None:
                progress(done, len(times))


def _pixels(figure: Figure) -> Pixels:
    canvas: Any = figure.canvas
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    height, width = (size - size % 2 for size in pixels.shape[:2])  # H.264 wants even numbers
    return np.ascontiguousarray(pixels[:height, :width])


def _figure(scene: Scene) -> tuple[Figure, Mover]:
    """All swarms beside each other, their measures below; and what moves them to a time."""
    count, curves = len(scene.swarms), scene.measure is not None
    rows, columns = scene.first.values.shape[1:] if isinstance(scene.first, Grid) else (1, 1)
    tall = 3.4 * min(2.0, max(0.5, rows / columns))
    figure, axes = style.subplots(
        1 + curves,
        count,
        figsize=(3.5 * count + 0.3, tall + (1.5 if curves else 0.4)),
        height_ratios=[tall, 1.0][: 1 + curves],
        squeeze=False,
        dpi=DOTS_PER_INCH,
        sharey="row",
    )
    movers = []
    for column, label in zip(axes.T, scene.swarms, strict=True):
        title = column[0].set_title(label)
        movers.append(draw_swarm(column[0], scene, label, _TRAIL_STEPS))
        movers.append(partial(_tell_time, title, label))
        if curves:
            movers.append(_draw_curve(column[1], scene, label))
    if scene.measure is not None:
        name = "\n".join(textwrap.wrap(scene.measure.label, 16))
        axes[1, 0].set_ylabel(name, fontsize=8)

    def update(time: int) -> None:
        for mover in movers:
            mover(time)

    return figure, update


def _tell_time(title: Any, label: str, time: int) -> None:
    title.set_text(f"{label},  t = {time}")


def _draw_curve(ax: Axes, scene: Scene, label: str) -> Mover:
    values = scene.measures[label]
    ax.plot(np.arange(scene.steps + 1), values, color=style.EXPERT, linewidth=1.2)
    cursor = ax.axvline(0, color=style.ORANGE, linewidth=1.5, zorder=3)
    (dot,) = ax.plot([0], [values[0]], "o", color=style.ORANGE, markersize=4, zorder=4)
    reading = ax.annotate(
        "", (0.98, 0.5), xycoords="axes fraction", ha="right", va="center", fontsize=9
    )
    ax.set(xlabel="time step", xlim=(0, max(scene.steps, 1)))
    low, high = scene.measure_limits
    ax.set_ylim(low - 0.05 * (high - low) * (low < 0), high + 0.05 * (high - low))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.tick_params(labelsize=8)

    def update(time: int) -> None:
        cursor.set_xdata([time, time])
        dot.set_data([time], [values[time]])
        reading.set_text(scene.reading(label, time))

    return update
