"""Small pictures for the index pages of the site: `python -m tools.thumbnails`.

They are icons, not results: swarms in them are simulated, curves and clouds of points are sketched.
The ground is transparent, and colours can be seen on white and on black.
"""

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle, Wedge

import swarmdp

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "thumbnails"
BLUE, ORANGE, GREEN, GREY = "#2a8fbd", "#e07b39", "#3fa66b", "#8c9399"
SEED = 1
VICSEK = swarmdp.Vicsek(n_agents=60, radius=0.15)
RUN = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=SEED)
RNG = np.random.default_rng(SEED)


def arrows(axes: Axes, time: int, colour: str = BLUE, left: float = 0.0) -> None:
    """The swarm at one time, in a square that begins at `left`."""
    places, heading = RUN["position"][0, time], RUN["heading"][0, time]
    x, y = places[:, 0] + left, places[:, 1]
    axes.quiver(x, y, np.cos(heading), np.sin(heading), color=colour, scale=26, width=0.008)


def order(axes: Axes) -> None:
    """Order over time, of the expert and two others."""
    time = np.arange(61)
    axes.plot(time, VICSEK.order(RUN)[0], color=GREY, linewidth=4)
    axes.plot(time, 1 - np.exp(-time / 9), color=BLUE, linewidth=1.5)
    axes.plot(time, 0.12 + 0.05 * np.sin(time / 5), color=ORANGE, linewidth=1.5)


def before_and_after(axes: Axes) -> None:
    """The swarm at the start and at the end."""
    arrows(axes, 0, GREY)
    arrows(axes, 60, BLUE, 1.3)


def paths(axes: Axes) -> None:
    """Paths of a few individuals within a round tank."""
    for colour in (BLUE, ORANGE, GREEN, GREY):
        turn, place, angle = 0.0, RNG.uniform(-0.4, 0.4, 2), RNG.uniform(0, 2 * math.pi)
        path = [place]
        for _ in range(160):
            inward = math.atan2(-place[1], -place[0])
            pull = max(0.0, float(np.hypot(*place)) - 0.75) * 3
            turn = 0.8 * turn + RNG.normal(0, 0.12) + pull * math.sin(inward - angle)
            angle += turn
            place = place + 0.035 * np.array([math.cos(angle), math.sin(angle)])
            path.append(place)
        axes.plot(*np.array(path).T, color=colour, linewidth=1.3)
        axes.plot(*path[-1], "o", color=colour, markersize=5)
    axes.add_patch(Circle((0, 0), 1.05, fill=False, color=GREY))
    axes.set_aspect("equal")


def gather(axes: Axes) -> None:
    """Agents that meet."""
    start = RNG.uniform(-1, 1, (14, 2)) * (1.8, 1)
    axes.plot(*start.T, "o", color=GREY, markersize=4)
    axes.quiver(*start.T, *(-0.55 * start).T, color=BLUE, angles="xy", scale_units="xy", scale=1)


def known(axes: Axes) -> None:
    """A learned reward against the true one."""
    true = RNG.normal(0, 1, 40)
    axes.plot([-2.5, 2.5], [-2.5, 2.5], color=GREY, linewidth=1)
    axes.scatter(true, true + RNG.normal(0, 0.4, 40), color=BLUE, s=14)


def robot(axes: Axes) -> None:
    """A robot with two wheels, and where it turns."""
    axes.add_patch(Circle((0, 0), 0.6, fill=False, color=BLUE, linewidth=2))
    for side in (-0.6, 0.6):
        axes.plot([-0.25, 0.25], [side, side], color=GREY, linewidth=6)
    angle = np.linspace(0, 1.2, 30)
    axes.plot(0.7 + 1.2 * np.sin(angle), 1.2 - 1.2 * np.cos(angle), color=ORANGE, linewidth=2)
    axes.set_xlim(-2, 2.6)
    axes.set_ylim(-1, 1.2)
    axes.set_aspect("equal")


def verdict(axes: Axes) -> None:
    """Two distributions that agree, and one that does not."""
    grid = np.linspace(-4, 8, 200)
    for middle, colour in ((0.0, GREY), (0.2, BLUE), (4.5, ORANGE)):
        axes.fill_between(grid, np.exp(-((grid - middle) ** 2) / 2), color=colour, alpha=0.5)


def reward(axes: Axes) -> None:
    """A reward over misalignment with its error band."""
    angle = np.linspace(-math.pi, math.pi, 37)
    height = np.exp(-((angle / 0.7) ** 2)) - 0.25
    axes.axhline(0, color=GREY, linewidth=1)
    axes.fill_between(angle, height - 0.1, height + 0.1, color=BLUE, alpha=0.3)
    axes.plot(angle, height, color=BLUE, linewidth=2)


def updates(axes: Axes) -> None:
    """Three rewards of three updates."""
    angle = np.linspace(-math.pi, math.pi, 37)
    for width, colour in ((0.5, BLUE), (0.8, ORANGE), (1.2, GREEN)):
        axes.plot(angle, np.exp(-((angle / width) ** 2)), color=colour, linewidth=2)


def batch(axes: Axes) -> None:
    """Many runs at once."""
    time = np.arange(61)
    for _ in range(25):
        curve = 1 - np.exp(-time / RNG.uniform(6, 18))
        axes.plot(time, curve + RNG.normal(0, 0.01, 61), color=BLUE, alpha=0.35, linewidth=1)


def classes(axes: Axes) -> None:
    """Observations in classes."""
    for number in range(12):
        colour = plt.get_cmap("twilight")(number / 12)
        wedge = Wedge((0, 0), 1, 30 * number, 30 * number + 29, color=colour)
        axes.add_patch(wedge)
    axes.set_xlim(-2.2, 2.2)
    axes.set_ylim(-1.1, 1.1)
    axes.set_aspect("equal")


def workers(axes: Axes) -> None:
    """A scheduler and its workers."""
    for number in range(6):
        x = number - 2.5
        axes.plot([0, x], [1, 0], color=GREY, linewidth=1)
        axes.plot(x, 0, "s", color=BLUE, markersize=13)
    axes.plot(0, 1, "o", color=ORANGE, markersize=16)
    axes.set_xlim(-3.2, 3.2)
    axes.set_ylim(-0.4, 1.4)


def simulators(axes: Axes) -> None:
    """Into the package and out of it."""
    for x, colour in ((0, GREY), (3, BLUE)):
        axes.add_patch(Rectangle((x, 0), 1.6, 1.2, fill=False, color=colour, linewidth=2))
    for y, begin, end in ((0.8, 1.7, 2.9), (0.4, 2.9, 1.7)):
        arrow = {"arrowstyle": "->", "color": ORANGE, "linewidth": 2}
        axes.annotate("", (end, y), (begin, y), arrowprops=arrow)
    axes.set_xlim(-0.2, 4.8)
    axes.set_ylim(-0.2, 1.4)


def memory(axes: Axes) -> None:
    """An agent that remembers what it saw."""
    for number, alpha in enumerate((0.25, 0.5, 1.0)):
        axes.plot(number, 0, "o", color=BLUE, alpha=alpha, markersize=22)
    for begin in (0.25, 1.25):
        arrow = {"arrowstyle": "->", "color": ORANGE, "linewidth": 2}
        axes.annotate("", (begin + 0.5, 0), (begin, 0), arrowprops=arrow)
    axes.set_xlim(-0.6, 2.6)
    axes.set_ylim(-0.6, 0.6)


def zones(axes: Axes) -> None:
    """Repulsion, alignment and attraction around an individual."""
    for radius, colour in ((1.0, GREEN), (0.62, BLUE), (0.28, ORANGE)):
        axes.add_patch(Circle((0, 0), radius, color=colour, alpha=0.35))
    axes.quiver(0, 0, 1, 0, color=GREY, scale=8, width=0.015)
    axes.set_xlim(-2, 2)
    axes.set_ylim(-1.05, 1.05)
    axes.set_aspect("equal")


def loop(axes: Axes) -> None:
    """The three steps of Algorithm 1."""
    places = [(math.cos(angle), math.sin(angle)) for angle in (1.57, -0.52, 3.66)]
    for number, (x, y) in enumerate(places):
        axes.plot(x, y, "o", color=(BLUE, ORANGE, GREEN)[number], markersize=20)
        other = places[(number + 1) % 3]
        arrow = {"arrowstyle": "->", "color": GREY, "linewidth": 2, "shrinkA": 14, "shrinkB": 14}
        axes.annotate("", other, (x, y), arrowprops=arrow)
    axes.set_xlim(-2.4, 2.4)
    axes.set_ylim(-0.9, 1.3)


def grid(axes: Axes) -> None:
    """Spins that found their majorities."""
    ising = swarmdp.Ising(shape=(24, 48))
    run = swarmdp.rollout(ising, ising.expert, steps=6, seed=SEED)
    axes.imshow(
        run["spin"][0, -1].reshape(24, 48), cmap="Blues", vmin=-2.5, vmax=2, interpolation="nearest"
    )


def bars(axes: Axes) -> None:
    """Shares of what was right."""
    for row, (share, colour) in enumerate(((0.3, GREY), (0.55, ORANGE), (0.97, BLUE))):
        axes.barh(row, 1, color=GREY, alpha=0.2)
        axes.barh(row, share, color=colour)


def bodies(axes: Axes) -> None:
    """Another body with the same reward."""
    axes.plot(0.5, 0.5, "o", color=BLUE, markersize=12)
    axes.add_patch(Rectangle((1.75, 0.25), 0.7, 0.5, color=ORANGE))
    arrow = {"arrowstyle": "->", "color": GREY, "linewidth": 2}
    axes.annotate("", (1.6, 0.5), (0.75, 0.5), arrowprops=arrow)
    axes.set_xlim(0, 3)
    axes.set_ylim(0, 1)


def shield(axes: Axes) -> None:
    """What was thrown at it."""
    angle = RNG.uniform(0, 2 * math.pi, 30)
    x, y = 1.9 * np.cos(angle), 1.0 * np.sin(angle)
    axes.quiver(x, y, -x, -y, color=ORANGE, scale=14, width=0.007)
    axes.add_patch(Circle((0, 0), 0.45, color=BLUE, alpha=0.8))
    axes.set_xlim(-2.1, 2.1)
    axes.set_ylim(-1.1, 1.1)


def speed(axes: Axes) -> None:
    """Time against size."""
    sizes = np.logspace(2, 6, 20)
    for factor, colour in ((1, BLUE), (12, ORANGE), (60, GREY)):
        axes.loglog(sizes, factor * sizes**1.05, color=colour, linewidth=2)


def rooms(axes: Axes) -> None:
    """Floors of a house."""
    for floor in range(6):
        axes.barh(
            floor,
            4 - 0.4 * floor,
            left=0.2 * floor,
            height=0.8,
            color=BLUE,
            alpha=0.3 + 0.1 * floor,
        )


def outsiders(axes: Axes) -> None:
    """A flock, and one that it avoids."""
    places = RNG.normal((1.0, 0.0), 0.35, (14, 2))
    axes.quiver(*places.T, *(places - np.array([-1.2, 0])).T, color=BLUE, scale=30, width=0.008)
    axes.plot(-1.2, 0, "D", color=ORANGE, markersize=11)
    axes.set_xlim(-2, 2.4)
    axes.set_ylim(-1, 1)


def collision(axes: Axes) -> None:
    """Two paths that would cross, and how they avoid it."""
    time = np.linspace(-2, 2, 60)
    for side, colour in ((1, BLUE), (-1, ORANGE)):
        axes.plot(side * time, side * 0.1 * time, color=GREY, linewidth=1, linestyle=":")
        axes.plot(side * time, side * (0.1 * time + 0.45 * np.exp(-(time**2))), color=colour)
        axes.plot(-2 * side, -0.2 * side, "o", color=colour, markersize=11)
    axes.set_ylim(-1, 1)


def space(axes: Axes) -> None:
    """A cube, and headings in it."""
    for x, y in ((0.0, 0.0), (0.45, 0.35)):
        axes.add_patch(Rectangle((x, y), 1, 1, fill=False, color=GREY))
    for x in (0, 1):
        for y in (0, 1):
            axes.plot([x, x + 0.45], [y, y + 0.35], color=GREY, linewidth=1)
    places = RNG.uniform(0.3, 1.1, (9, 2))
    axes.quiver(*places.T, np.full(9, 0.8), np.full(9, 0.5), color=BLUE, scale=18, width=0.01)
    axes.set_xlim(-1.2, 2.6)
    axes.set_ylim(-0.1, 1.5)
    axes.set_aspect("equal")


PICTURES: dict[str, Callable[[Axes], None]] = {
    "agents": memory,
    "algorithms": loop,
    "architecture": rooms,
    "benchmarks": speed,
    "collision": collision,
    "controllers": robot,
    "environments": simulators,
    "features": classes,
    "known-rewards": known,
    "learning": before_and_after,
    "long-fits": workers,
    "other-bodies": bodies,
    "outsiders": outsiders,
    "own-system": gather,
    "paper": order,
    "recordings": paths,
    "reliability": shield,
    "reward": reward,
    "simulate": batch,
    "space": space,
    "theory": grid,
    "trust": bars,
    "updates": updates,
    "verdicts": verdict,
    "zones": zones,
}


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        figure, axes = plt.subplots(figsize=(3.2, 1.6), layout="constrained")
        axes.set_axis_off()
        draw(axes)
        figure.savefig(FOLDER / f"{name}.png", dpi=120, transparent=True)
        plt.close(figure)


if __name__ == "__main__":
    main()
