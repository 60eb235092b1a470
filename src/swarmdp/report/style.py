"""The common look of all figures: colour-blind safe, readable in grey, at home in a paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from swarmdp import files

# Okabe and Ito's palette, in an order that also falls in lightness.
EXPERT = "#000000"
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
GREY = "#8C8C8C"

HEADINGS = "twilight_shifted"  # cyclic, with even lightness steps
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


@contextmanager
def family() -> Iterator[None]:
    """Draw in the common look."""
    with plt.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and as SVG beside it, atomically; return both paths."""
    written = []
    for suffix, metadata in ((".png", {"Software": "swarmdp"}), (".svg", {"Date": None})):
        target = path.with_suffix(suffix)
        with files.replacing(target) as temporary, family():
            figure.savefig(temporary, format=suffix[1:], metadata=metadata)
        written.append(target)
    plt.close(figure)
    return written
