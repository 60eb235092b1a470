"""One swarm of a scene on Matplotlib's axes: agents as arrows or dots, or a grid."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from swarmdp.model.pictures import Grid
from swarmdp.report import style
from swarmdp.report.scenes import Scene

HUES = 32  # of headings
CORNERS = 12  # of a dot
ARROW = np.array([0.6, -0.4 + 0.32j, -0.2, -0.4 - 0.32j])  # an arrowhead of length 1 along x

Mover = Callable[[int], None]  # shows another time


def draw_swarm(ax: Axes, scene: Scene, label: str, trail: int) -> Mover:
    """Draw a swarm; agents trail a number of steps of their past behind them."""
    ax.set(xticks=[], yticks=[])
    frame(ax)
    if not isinstance(scene.first, Grid):
        return _draw_agents(ax, scene, label, trail)
    cells = scene.cells(label)
    image = ax.imshow(
        cells[0], cmap=style.SPINS, vmin=0, vmax=scene.shades - 1, interpolation="nearest"
    )
    return lambda time: image.set_data(cells[time])


def _draw_agents(ax: Axes, scene: Scene, label: str, trail: int) -> Mover:
    positions, headings = scene.positions(label), scene.headings(label)
    colours = np.array(style.heading_colours(HUES))
    length = min(0.04, max(0.008, 0.5 / np.sqrt(positions.shape[1])))
    if headings is None:
        sign = 0.3 * length * np.exp(2j * np.pi * np.arange(CORNERS) / CORNERS)
    else:
        sign = length * ARROW
    trails = LineCollection([], colors=style.GREY, alpha=0.3, linewidths=0.6)
    agents = PolyCollection([], linewidths=0, facecolors=style.BLUE)
    ax.add_collection(trails)
    ax.add_collection(agents)
    marks = scene.marks(label)
    size = 8000 * length**2
    dots = ax.scatter([], [], s=size, color=style.RED, edgecolors="white", zorder=3)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")

    def update(time: int) -> None:
        place = positions[time]
        ways = np.diff(positions[max(0, time - trail) : time + 1], axis=0)
        if scene.periodic:
            ways -= np.round(ways)  # the short way, across the edge
        back = place - np.cumsum(ways[::-1], axis=0)
        trails.set_segments(list(np.concatenate([place[None], back]).transpose(1, 0, 2)))
        middle = (place[:, 0] + 1j * place[:, 1])[:, None]
        heading = np.zeros(len(place)) if headings is None else headings[time]
        corners = middle + sign * np.exp(1j * heading)[:, None]
        agents.set_verts(list(np.stack([corners.real, corners.imag], axis=2)))
        if headings is not None:
            hue = np.floor(heading / (2 * np.pi) * HUES).astype(int) % HUES
            agents.set_facecolor(colours[hue].tolist())
        if marks is not None:
            dots.set_offsets(marks[time])

    return update


def frame(ax: Axes) -> None:
    """A thin frame on all four sides."""
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.6)
