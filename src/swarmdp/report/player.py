"""A player of recorded swarms for a web page: its data, packed small.

Positions are 16-bit shares of the window (all bits set: absent), headings 8-bit shares of the
circle, of agents in space with a third coordinate and the angle of their climb, cells of a grid
single bits, or bytes where they have more than two colours, all in base64; `assets/player.js`
unpacks and draws them.
"""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.pictures import Arrows, Grid
from swarmdp.report import style
from swarmdp.report.scenes import Scene
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

SPEEDS = (1, 2, 5, 10, 20)  # steps per second to choose from
_TRAIL_STEPS = 2
LARGEST_DATA = 64 * 2**20  # bytes of a player's data: browsers hold it several times


@dataclass(frozen=True, eq=False)
class Player:
    """Swarms to be watched side by side, with play, pause and a time slider."""

    name: str  # letters, digits, dots and dashes: the address of its place in the page
    title: str
    caption: str
    scene: Scene
    steps_per_second: int | None = None  # None: as the system's picture says
    fastest: int | None = None  # steps per second that can be chosen; None: all of SPEEDS


def check_size(scene: Scene, steps: int | None = None) -> None:
    """Raise InvalidInput for what is too large to be played in a browser.

    The scene may be shorter than what is to be shown, whose steps are given then.
    """
    steps = scene.steps if steps is None else steps
    agents = scene.system.n_agents
    bytes_per_time = 0
    for picture in scene.pictures.values():
        if isinstance(picture, Grid):
            cells = picture.values[0].size
            bytes_per_time += (cells + 7) // 8 if scene.shades == 2 else cells
        else:
            each = 8 if picture.heights is not None else 4 if picture.headings is None else 5
            bytes_per_time += each * agents
    if (needed := (steps + 1) * bytes_per_time) > LARGEST_DATA:
        raise InvalidInput(
            f"{len(scene.swarms)} swarm(s) of {agents} agents over {steps} steps make "
            f"{needed / 2**20:.0f} MiB, a page plays at most {LARGEST_DATA / 2**20:.0f} MiB: "
            "show fewer steps or agents, or make a .gif"
        )


def player_data(player: Player) -> dict[str, Any]:
    """Everything that the page's script needs, ready for JSON."""
    scene = player.scene
    check_size(scene)
    common = {
        "steps": scene.steps,
        "start": scene.poster,
        "agents": scene.system.n_agents,
    }
    if isinstance(scene.first, Grid):
        rows, columns = scene.first.values.shape[1:]
        return {
            **common,
            "kind": "grid",
            "rows": rows,
            "columns": columns,
            "colours": style.colours_of(style.SPINS, scene.shades),
            "swarms": [
                {**_common(scene, label), "cells": _text(_cells(scene, label))}
                for label in scene.swarms
            ],
        }
    if scene.first.heights is not None:
        return common | _space_data(scene)
    low, side = scene.window
    arrows = scene.first.headings is not None
    return {
        **common,
        "kind": "agents",
        "periodic": scene.periodic,
        "low": low.tolist(),
        "side": side,
        "trail": _TRAIL_STEPS,
        "colours": style.heading_colours(64) if arrows else [style.BLUE],
        "swarms": [
            {
                **_common(scene, label),
                "positions": _text(_shares(scene.positions(label))),
                "headings": None if headings is None else _text(_bytes_of(headings)),
                **_marks(scene, label),
            }
            for label in scene.swarms
            for headings in [scene.headings(label)]
        ],
    }


def _marks(scene: Scene, label: str) -> dict[str, Any]:
    """Where outsiders are at each time, as shares of the window; None where absent."""
    marks = scene.marks(label)
    if marks is None:
        return {}
    shares = np.round(marks, 5)
    return {
        "marks": [[p if np.isfinite(p).all() else None for p in row] for row in shares.tolist()]
    }


def _space_data(scene: Scene) -> dict[str, Any]:
    """The data of agents in space, which can be turned."""
    swarms = []
    for label in scene.swarms:
        picture, places = scene.pictures[label], scene.places_in_space(label)
        assert isinstance(picture, Arrows)
        assert places is not None
        packed = np.minimum(_shares(places), 65534)
        if picture.present is not None:
            packed[~np.asarray(picture.present)] = 65535
        flat = np.zeros(places.shape[:2])
        headings = flat if picture.headings is None else np.asarray(picture.headings)
        climbs = flat if picture.climbs is None else np.asarray(picture.climbs)
        angles = np.stack([_bytes_of(headings), _bytes_of(climbs)], axis=2)
        swarms.append(
            _common(scene, label) | {"positions": _text(packed), "headings": _text(angles)}
        )
    return {
        "kind": "space",
        "periodic": scene.periodic,
        "trail": _TRAIL_STEPS,
        "colours": style.heading_colours(64),
        "swarms": swarms,
    }


def _cells(scene: Scene, label: str) -> NDArray[np.uint8]:
    """The colours of cells, as single bits where there are two."""
    cells = scene.cells(label)
    return np.packbits(cells) if scene.shades == 2 else cells


def _shares(positions: Floats) -> NDArray[np.uint16]:
    """Shares of the window as 16-bit numbers."""
    return np.clip(np.floor(positions * 65536), 0, 65535).astype("<u2")


def _common(scene: Scene, label: str) -> dict[str, Any]:
    readings = [scene.reading(label, time) for time in range(scene.steps + 1)]
    return {"label": label, "readings": readings}


def _bytes_of(headings: Floats) -> NDArray[np.uint8]:
    """Angles as 256ths of the circle."""
    return np.round(headings / (2 * np.pi) * 256).astype(np.int64).astype(np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


@dataclass(frozen=True)
class CurveView:
    """The main measure of a swarm over time, as a line in a box of height 100."""

    measure: str
    reading: str  # at the time that is shown first
    points: str
    top: str
    bottom: str


@dataclass(frozen=True)
class SwarmView:
    """The places for one swarm's picture, its reading and its curve."""

    label: str
    shape: str  # width and height of the picture
    curve: CurveView | None


@dataclass(frozen=True)
class PlayerView:
    """What `templates/player.html.j2` fills in; style and script are in `assets`."""

    name: str
    title: str
    caption: str
    swarms: tuple[SwarmView, ...]
    steps: int
    start: int
    speed: int
    speeds: tuple[int, ...]
    data: dict[str, Any]
    in_space: bool = False  # it can be turned


def view_of(player: Player) -> PlayerView:
    """A player as a page shows it."""
    scene = player.scene
    speed = player.steps_per_second or scene.steps_per_second
    return PlayerView(
        player.name,
        player.title,
        player.caption,
        tuple(_swarm(scene, label) for label in scene.swarms),
        scene.steps,
        scene.poster,
        speed,
        tuple(sorted({*_speeds_up_to(player.fastest), speed})),
        player_data(player),
        isinstance(scene.first, Arrows) and scene.first.heights is not None,
    )


def _speeds_up_to(fastest: int | None) -> list[int]:
    return [speed for speed in SPEEDS if fastest is None or speed <= fastest]


def _swarm(scene: Scene, label: str) -> SwarmView:
    picture, shape, curve = scene.first, "1 / 1", None
    if isinstance(picture, Grid):
        shape = f"{picture.values.shape[2]} / {picture.values.shape[1]}"
    if scene.measure is not None:
        low, high = scene.measure_limits
        heights = 100 * (high - scene.measures[label]) / (high - low)
        curve = CurveView(
            scene.measure.label,
            scene.reading(label, scene.poster),
            " ".join(f"{time},{height:.2f}" for time, height in enumerate(heights)),
            f"{high:.6g}",
            f"{low:.6g}",
        )
    return SwarmView(label, shape, curve)
