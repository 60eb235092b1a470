"""Small pictures for a terminal: a reward as columns or bars, a swarm as arrows.

Plain characters in lines of text, so that they can be piped and tested; the colour is Rich's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ROWS = 6  # of columns; each shows eight heights
_BAR = 30  # characters of the longest bar
_MOST_BARS = 16  # of classes that get a line each; more are columns side by side
_MOST_COLUMNS = 72  # of a terminal of 80, less the margin
_PALE = "░"
_ARROWS = "→↗↑↖←↙↓↘"


def columns(heights: NDArray[np.float64], rows: int = _ROWS) -> list[str]:
    """Columns upwards and downwards from a line at zero, one character each.

    The lowest and the highest decide the scale; a side that has nothing has no lines.
    """
    high, low = max(float(heights.max()), 0.0), min(float(heights.min()), 0.0)
    span = (high - low) or 1.0
    above = round(rows * high / span) if high else 0
    below = rows - above if low else 0
    above = max(above, 1 if high else 0)
    below = max(below, 1 if low else 0)
    up = np.rint(np.clip(heights, 0, None) / (high or 1.0) * 8 * above).astype(int)
    lines = [
        "".join(_EIGHTHS[min(max(height - 8 * row, 0), 8)] for height in up)
        for row in range(above - 1, -1, -1)
    ]
    if not below:
        return lines
    # Eighths grow from below only: downwards half a character is the finest.
    down = np.rint(np.clip(-heights, 0, None) / -low * 2 * below).astype(int)
    return [
        *lines,
        "─" * len(heights),
        *(
            "".join(" ▀█"[min(max(height - 2 * row, 0), 2)] for height in down)
            for row in range(below)
        ),
    ]


def bars(
    labels: Sequence[str], values: NDArray[np.float64], clear: NDArray[np.bool_] | None = None
) -> list[str]:
    """A line for each value: its label, a bar to the left or right of zero, and the number."""
    high, low = max(float(values.max()), 0.0), min(float(values.min()), 0.0)
    span = (high - low) or 1.0
    left = round(_BAR * -low / span)
    right = _BAR - left
    wide = max(map(len, labels))
    lines = []
    for place, (label, value) in enumerate(zip(labels, values.tolist(), strict=True)):
        mark = "█" if clear is None or clear[place] else _PALE
        size = round(_BAR * abs(value) / span)
        bar = (mark * size).rjust(left) + "│" if value < 0 else " " * left + "│" + mark * size
        lines.append(f"{label:>{wide}} {bar:<{left + 1 + right}} {value:+.2f}")
    return lines


def reward_plot(result: Any) -> str:
    """The reward of a fit, one picture for each component, as lines of text.

    Of what can be seen in it: components of one axis; of two axes the figure on the page shows
    more. Pale bars and dots below columns mark classes whose reward is not identified.
    """
    from swarmdp.report.fits import panels_of

    lines: list[str] = []
    for panel in panels_of(result):
        name = " and ".join(axis.label for axis in panel.axes)
        if len(panel.axes) > 1 or panel.mean.size > _MOST_COLUMNS:
            lines.append(f"reward by {name}: see the page")
            continue
        lines += [f"reward by {name}", *_panel(panel), ""]
    return "\n".join(lines).rstrip()


def _panel(panel: Any) -> list[str]:
    axis, mean = panel.axes[0], panel.mean
    if mean.size <= _MOST_BARS:
        labels = [value if isinstance(value, str) else f"{value:.4g}" for value in axis.values]
        drawn = bars(labels, mean, panel.clear)
        pale = f"{_PALE} not identified: other rewards explain the demo as well"
        return ["  " + line for line in drawn] + (
            ["  " + pale] if panel.clear is not None and not panel.clear.all() else []
        )
    drawn = columns(mean)
    scale = [f"{mean.max():+.2f}", *[""] * (len(drawn) - 2), f"{mean.min():+.2f}"]
    lines = [f"  {line} {number}".rstrip() for line, number in zip(drawn, scale, strict=True)]
    lines.append("  " + _ends(axis.values, mean.size))
    if panel.clear is not None and not panel.clear.all():
        marks = "".join("·" if dark else " " for dark in panel.clear)
        lines.append(f"  {marks} · identified")
    return lines


def _ends(values: NDArray[Any], width: int) -> str:
    """The first, the middle and the last value below columns."""
    first, middle, last = (f"{values[i]:.4g}" for i in (0, len(values) // 2, -1))
    line = [" "] * width
    for text, place in (
        (first, 0),
        (middle, width // 2 - len(middle) // 2),
        (last, width - len(last)),
    ):
        line[place : place + len(text)] = text
    return "".join(line)


def arrows(
    places: NDArray[np.float64], headings: NDArray[np.float64], wide: int, high: int
) -> list[str]:
    """Agents in the unit square as arrows that point where they go, one for a character."""
    grid = np.full((high, wide), " ")
    across = np.clip((places[:, 0] * wide).astype(int), 0, wide - 1)
    down = np.clip(((1 - places[:, 1]) * high).astype(int), 0, high - 1)
    grid[down, across] = np.array(list(_ARROWS))[np.rint(headings / (np.pi / 4)).astype(int) % 8]
    return ["".join(row) for row in grid]
