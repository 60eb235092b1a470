"""A player of recorded swarms for a web page: its data, packed small, and its markup.

Positions are 16-bit shares of the window, headings 8-bit shares of the circle, cells of a grid
single bits, or bytes where they have more than two colours, all in base64; `assets/player.js`
unpacks and draws them.
"""

import base64
import html
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.pictures import Grid
from swarmdp.report import style
from swarmdp.report.assets import filled
from swarmdp.report.scenes import Scene
from swarmdp.support.errors import InvalidInput

SPEEDS = (1, 2, 5, 10, 20)  # steps per second to choose from
TRAIL_STEPS = 2
LARGEST = 64 * 2**20  # bytes of a player's data: browsers hold it several times


@dataclass(frozen=True, eq=False)
class Player:
    """Swarms to be watched side by side, with play, pause and a time slider."""

    name: str  # letters, digits, dots and dashes: the address of its place in the page
    title: str
    caption: str
    scene: Scene
    steps_per_second: int | None = None  # None: as the system's picture says


def check_size(scene: Scene, steps: int | None = None) -> None:
    """Raise InvalidInput for what is too large to be played in a browser.

    The scene may be shorter than what is to be shown, whose steps are given then.
    """
    steps = scene.steps if steps is None else steps
    agents = scene.system.n_agents
    each = 0
    for picture in scene.pictures.values():
        if isinstance(picture, Grid):
            cells = picture.values[0].size
            each += (cells + 7) // 8 if scene.shades == 2 else cells
        else:
            each += (4 if picture.headings is None else 5) * agents
    if (needed := (steps + 1) * each) > LARGEST:
        raise InvalidInput(
            f"{len(scene.swarms)} swarm(s) of {agents} agents over {steps} steps make "
            f"{needed / 2**20:.0f} MiB, a page plays at most {LARGEST / 2**20:.0f} MiB: show fewer "
            "steps or agents, or make a .gif"
        )


def packed(player: Player) -> dict[str, Any]:
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
    low, side = scene.window
    arrows = scene.first.headings is not None
    return {
        **common,
        "kind": "agents",
        "periodic": scene.periodic,
        "low": low.tolist(),
        "side": side,
        "trail": TRAIL_STEPS,
        "colours": style.heading_colours(64) if arrows else [style.BLUE],
        "swarms": [
            {
                **_common(scene, label),
                "positions": _text(_shares(scene.positions(label))),
                "headings": None if headings is None else _text(_bytes_of(headings)),
            }
            for label in scene.swarms
            for headings in [scene.headings(label)]
        ],
    }


def _cells(scene: Scene, label: str) -> NDArray[np.uint8]:
    """The colours of cells, as single bits where there are two."""
    cells = scene.cells(label)
    return np.packbits(cells) if scene.shades == 2 else cells


def _shares(positions: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Shares of the window as 16-bit numbers."""
    return np.clip(np.floor(positions * 65536), 0, 65535).astype("<u2")


def _common(scene: Scene, label: str) -> dict[str, Any]:
    readings = [scene.reading(label, time) for time in range(scene.steps + 1)]
    return {"label": label, "readings": readings}


def _bytes_of(headings: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Angles as 256ths of the circle."""
    return np.round(headings / (2 * np.pi) * 256).astype(np.int64).astype(np.uint8)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def markup(player: Player, level: int = 3, alone: bool = False) -> str:
    """The player as HTML; the page must hold the style sheet and script of `assets` as well.

    Alone in its page it hears the keys wherever the focus is.
    """
    scene = player.scene
    speed = player.steps_per_second or scene.steps_per_second
    speeds = "".join(
        f'<option value="{s}"{" selected" if s == speed else ""}>{s} steps/s</option>'
        for s in sorted({*SPEEDS, speed})
    )
    # '<' must not end the script element.
    data = json.dumps(packed(player), ensure_ascii=True, separators=(",", ":"))
    return filled(
        "player.html",
        {
            "name": html.escape(f"player-{player.name}"),
            "alone": ' data-alone=""' if alone else "",
            "heading": "" if alone else f"<h{level}>{html.escape(player.title)}</h{level}>",
            "title": html.escape(player.title),
            "caption": html.escape(player.caption),
            "swarms": "\n".join(_swarm(scene, label) for label in scene.swarms),
            "steps": str(scene.steps),
            "start": str(scene.poster),
            "speeds": speeds,
            "data": data.replace("<", "\\u003c"),
        },
    )


def _swarm(scene: Scene, label: str) -> str:
    """The places for one swarm's picture, its reading and its curve."""
    picture, shape = scene.first, "1 / 1"
    if isinstance(picture, Grid):
        shape = f"{picture.values.shape[2]} / {picture.values.shape[1]}"
    measured = ""
    if scene.measure is not None:
        low, high = scene.measure_limits
        height = 100 * (high - scene.measures[label]) / (high - low)
        measured = filled(
            "curve.html",
            {
                "measure": html.escape(scene.measure.label),
                "reading": scene.reading(label, scene.poster),
                "points": " ".join(f"{time},{y:.2f}" for time, y in enumerate(height)),
                "last": str(max(scene.steps, 1)),
                "steps": str(scene.steps),
                "start": str(scene.poster),
                "top": f"{high:.6g}",
                "bottom": f"{low:.6g}",
            },
        )
    names = {"label": html.escape(label), "shape": shape, "measured": measured}
    return filled("swarm.html", names)
