"""The common look of all figures: colour-blind safe, readable in grey, at home in a paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex

from swarmdp import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, in an order that also falls in lightness.
EXPERT = "#000000"
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8C8C8C"
PALE = "#B4B4B4"  # of what others are drawn upon

SPINS = "cividis"
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


def heading_colours(count: int) -> list[str]:
    """Colours around the circle, all of the same lightness: seen on white as well as on black.

    Hues of OKLCH at lightness 0.62 and chroma 0.12. A heading is told by the arrow; its colour
    only helps to find flocks.
    """
    hue = 2 * np.pi * np.arange(count) / count
    lab = np.stack([np.full(count, 0.62), 0.12 * np.cos(hue), 0.12 * np.sin(hue)])
    cones = (_OKLAB_TO_CONES @ lab) ** 3
    linear = np.clip(_CONES_TO_RGB @ cones, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in np.round(255 * encoded).astype(int).T]


def colours_of(name: str, count: int) -> list[str]:
    """A number of colours of a Matplotlib map, from one end to the other."""
    return [to_hex(colour) for colour in matplotlib.colormaps[name](np.linspace(0, 1, count))]


# Ottosson's matrices of the OKLAB colour space.
_OKLAB_TO_CONES = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_CONES_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


@contextmanager
def family() -> Iterator[None]:
    """Draw in the common look."""
    with matplotlib.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


def figure(**options: Any) -> "Figure":
    """An empty figure that no window manager knows.

    So a figure costs nothing once it is dropped, and a user's own backend stays as it is.
    """
    # Imported now: colours alone, which the studio needs, come much sooner.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(**options)
    FigureCanvasAgg(made)
    return made


def subplots(
    rows: int = 1, columns: int = 1, *, figsize: Any, dpi: Any = None, **options: Any
) -> "tuple[Figure, Any]":
    """A figure and its axes, as Matplotlib's function of this name gives them."""
    made = figure(figsize=figsize, dpi=dpi)
    return made, made.subplots(rows, columns, **options)


def save(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure as PNG and as SVG beside it, atomically; return both paths."""
    written = []
    for suffix, metadata in ((".png", {"Software": "swarmdp"}), (".svg", {"Date": None})):
        target = path.with_suffix(suffix)
        with files.replacing(target) as temporary, family():
            figure.savefig(temporary, format=suffix[1:], metadata=metadata)
        written.append(target)
    return written
