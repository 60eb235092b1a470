"""The common look of all figures: colour-blind safe, readable in grey, at home in a paper."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from swarmdp.report.colours import BLUE as BLUE
from swarmdp.report.colours import SPINS as SPINS
from swarmdp.report.colours import colours_of as colours_of
from swarmdp.report.colours import heading_colours as heading_colours
from swarmdp.report.colours import lab_of, rgb_of
from swarmdp.support import files

# Okabe and Ito's palette, in an order that also falls in lightness.
EXPERT = "#000000"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8C8C8C"
PALE = "#B4B4B4"  # of what others are drawn upon
DIM = "#5A5A5A"  # of small print
_READABLE = 0.55  # lightness of letters at most

TIMES = "viridis_r"  # dark is late, also in grey

_SETTINGS: dict[str, Any] = {
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "swarmdp",
}


def letters(colour: str) -> str:
    """A colour for text beside what has this colour: dark enough to be read on white."""
    light, red, yellow = lab_of(to_hex(colour))
    return rgb_of(np.array([min(light, _READABLE), red, yellow]))


@contextmanager
def family() -> Iterator[None]:
    """Draw in the common look."""
    with matplotlib.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


class NotebookFigure(Figure):
    """A figure that a notebook shows, also where pyplot is not in use."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=100)
        return picture.getvalue()


def figure(**options: Any) -> NotebookFigure:
    """An empty figure that no window manager knows.

    So a figure costs nothing once it is dropped, and a user's own backend stays as it is.
    """
    made = NotebookFigure(**options)
    FigureCanvasAgg(made)
    return made


def subplots(
    rows: int = 1, columns: int = 1, *, figsize: Any, dpi: Any = None, **options: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, as Matplotlib's function of this name gives them."""
    made = figure(figsize=figsize, dpi=dpi)
    return made, made.subplots(rows, columns, **options)


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and as SVG beside it, atomically; return both paths."""
    written = []
    for suffix, metadata in ((".png", {"Software": "swarmdp"}), (".svg", {"Date": None})):
        target = path.with_suffix(suffix)
        with files.replacing(target) as temporary, family():
            figure.savefig(temporary, format=suffix[1:], metadata=metadata)
        if figure.get_layout_engine() is not None:
            figure.set_layout_engine("none")  # laid out once, for both
        written.append(target)
    return written
