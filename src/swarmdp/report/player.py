"""A player of recorded swarms for a web page: its data, packed small, and its markup.

Positions are 16-bit shares of the window, headings 8-bit shares of the circle, spins single bits,
all in base64; `assets/player.js` unpacks and draws them.
"""

import base64
import html
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.report import style
from swarmdp.report.assets import filled
from swarmdp.report.scenes import Scene
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek

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
    steps_per_second: int | None = None  # None: as fits the system


def check_size(system: Vicsek | Ising, steps: int, swarms: int) -> None:
    """Refuse what is too large to be played in a browser."""
    each = 5 * system.n_agents if isinstance(system, Vicsek) else (system.n_agents + 7) // 8
    if (needed := swarms * (steps + 1) * each) > LARGEST:
        raise InvalidInput(
            f"{swarms} swarm(s) of {system.n_agents} agents over {steps} steps make "
            f"{needed / 2**20:.0f} MiB, a page plays at most {LARGEST / 2**20:.0f} MiB: show fewer "
            "steps or agents, or make a .gif"
        )


def packed(player: Player) -> dict[str, Any]:
    """Everything that the page's script needs, ready for JSON."""
    scene = player.scene
    check_size(scene.system, scene.steps, len(scene.swarms))
    common = {
        "steps": scene.steps,
        "start": scene.poster,
        "limit": scene.measure_limit,
        "agents": scene.system.n_agents,
    }
    if isinstance(scene.system, Ising):
        rows, columns = scene.system.shape
        return {
            **common,
            "kind": "grid",
            "rows": rows,
            "columns": columns,
            "colours": style.colours_of(style.SPINS, 2),
            "swarms": [
                {**_common(scene, label), "spins": _text(np.packbits(scene.grids(label)))}
                for label in scene.swarms
            ],
        }
    low, side = scene.window
    return {
        **common,
        "kind": "agents",
        "periodic": scene.system.periodic,
        "low": low.tolist(),
        "side": side,
        "trail": TRAIL_STEPS,
        "colours": style.heading_colours(64),
        "swarms": [
            {
                **_common(scene, label),
                "positions": _text(np.floor(scene.positions(label) * 65536).astype("<u2")),
                "headings": _text(_bytes_of(scene.headings(label))),
            }
            for label in scene.swarms
        ],
    }


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
    system, values = scene.system, scene.measures[label]
    shape = "1 / 1" if isinstance(system, Vicsek) else f"{system.shape[1]} / {system.shape[0]}"
    last = max(scene.steps, 1)
    height = 100 * (1 - values / scene.measure_limit)
    points = " ".join(f"{time},{y:.2f}" for time, y in enumerate(height))
    return filled(
        "swarm.html",
        {
            "label": html.escape(label),
            "shape": shape,
            "measure": html.escape(scene.measure_name),
            "reading": scene.reading(label, scene.poster),
            "points": points,
            "last": str(last),
            "steps": str(scene.steps),
            "start": str(scene.poster),
            "limit": f"{scene.measure_limit:.0f}",
        },
    )
