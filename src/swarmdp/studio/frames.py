"""Swarms packed for a browser: 16-bit positions, 8-bit headings, single bits of cells.

A frame is little-endian: kind, flags (1: a jump, so nothing moves in between), number of the scene,
step, number of the frame, rows and columns of measures, the window (left, bottom, side), the
measures of the steps since the frame before, then for all swarms their positions, then their
headings; or their cells.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.pictures import Arrows, Grid
from swarmdp.support.arrays import Floats

ARROWS, DOTS, BITS, CELLS = 1, 2, 3, 4
JUMP = 1
_HEAD = struct.Struct("<BBHIIHHfff")
SHADES = 32  # of cells that are not just on or off
ROOM = 1.25  # how much larger the window gets when an agent leaves it


@dataclass
class Window:
    """What all frames of a scene have in common; it grows where agents leave it."""

    low: Floats | None = None  # its lower left corner
    side: float = 1.0
    lowest: float = 0.0  # of cells
    highest: float = 1.0

    def show(self, pictures: Sequence[Arrows | Grid]) -> bool:
        """Make room for these pictures; whether that changed the window."""
        before = (None if self.low is None else self.low.tolist(), self.side, self.highest)
        for picture in pictures:
            if isinstance(picture, Grid):
                self._show_cells(picture)
            elif picture.window is not None and picture.periodic:
                self.low, self.side = np.array(picture.window[:2]), picture.window[2]
            else:
                self._show_agents(picture)
        return before != (None if self.low is None else self.low.tolist(), self.side, self.highest)

    def _show_cells(self, picture: Grid) -> None:
        if picture.values.dtype != np.bool_:
            self.lowest = min(self.lowest, float(picture.values.min()))
            self.highest = max(self.highest, float(picture.values.max()), self.lowest + 1)

    def _show_agents(self, picture: Arrows) -> None:
        places = picture.positions[0]
        least, most = places.min(axis=0), places.max(axis=0)
        if self.low is None and picture.window is not None:
            self.low, self.side = np.array(picture.window[:2]), picture.window[2]
        if self.low is None:
            self.side = ROOM * float((most - least).max()) or 1.0
            self.low = (least + most - self.side) / 2
        if (least < self.low).any() or (most >= self.low + self.side).any():
            least, most = np.minimum(least, self.low), np.maximum(most, self.low + self.side)
            self.side = ROOM * float((most - least).max())
            self.low = (least + most - self.side) / 2


def pack_frame(
    pictures: Sequence[Arrows | Grid],
    window: Window,
    measures: NDArray[np.float32],
    *,
    scene: int,
    step: int,
    number: int,
    jump: bool,
) -> bytes:
    """One frame of these swarms; measures are (steps since the frame before, values)."""
    first = pictures[0]
    low = np.zeros(2) if window.low is None else window.low
    if isinstance(first, Grid):
        kind = BITS if first.values.dtype == np.bool_ else CELLS
        parts: list[NDArray[Any]] = [
            _cells(picture, window) for picture in pictures if isinstance(picture, Grid)
        ]
    else:
        kind = DOTS if first.headings is None else ARROWS
        arrows = [picture for picture in pictures if isinstance(picture, Arrows)]
        parts = [_places(picture, low, window.side) for picture in arrows]
        parts += [_headings(p.headings[0]) for p in arrows if p.headings is not None]
    rows, columns = measures.shape
    head = _HEAD.pack(
        kind,
        JUMP * jump,
        scene & 0xFFFF,
        step,
        number,
        rows,
        columns,
        float(low[0]),
        float(low[1]),
        window.side,
    )
    return b"".join(
        [head, measures.astype("<f4", copy=False).tobytes(), *(part.data for part in parts)]
    )


def _places(picture: Arrows, low: Floats, side: float) -> NDArray[np.uint16]:
    """Positions as 16-bit shares of the window."""
    shares: Floats = picture.positions[0] - low
    shares *= 65536 / side
    np.clip(shares, 0, 65535, out=shares)
    return shares.astype("<u2")


def _headings(headings: Floats) -> NDArray[np.uint8]:
    """Headings as 256ths of the circle."""
    turns = headings * (128 / np.pi)
    return np.rint(turns, out=turns).astype(np.int64).astype(np.uint8)


def _cells(picture: Grid, window: Window) -> NDArray[np.uint8]:
    values = picture.values[0]
    if values.dtype == np.bool_:
        return np.packbits(values)
    shares: Floats = (values - window.lowest) * ((SHADES - 1) / (window.highest - window.lowest))
    return np.rint(shares).astype(np.uint8)
