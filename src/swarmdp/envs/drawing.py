"""A picture of a swarm as pixels, for environments that are looked at while they run."""

import math

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.pictures import Arrows, Grid

SIDE = 480  # pixels
_PAPER, INK, _HEAD = (255, 255, 255), (31, 119, 180), (214, 39, 40)
ALONG = 12  # points of an arrow
_LENGTH = 0.025  # of an arrow, as a share of the side


def rgb_image(picture: Arrows | Grid) -> NDArray[np.uint8]:
    """The first time of a picture as (height, width, 3) of red, green and blue."""
    return _cells(picture) if isinstance(picture, Grid) else _agents(picture)


def _cells(picture: Grid) -> NDArray[np.uint8]:
    values = np.asarray(picture.values[0], np.float64)
    low, high = values.min(), values.max()
    if picture.values.dtype == np.bool_:
        low, high = 0.0, 1.0
    dark = (values - low) / (high - low) if high > low else np.zeros(values.shape)
    paper, ink = np.array(_PAPER), np.array(INK)
    colours: NDArray[np.uint8] = np.round(paper + dark[..., None] * (ink - paper)).astype(np.uint8)
    width = max(1, SIDE // max(values.shape))
    return colours.repeat(width, axis=0).repeat(width, axis=1)


def _agents(picture: Arrows) -> NDArray[np.uint8]:
    places = np.asarray(picture.positions[0], np.float64)
    if picture.window is not None:
        corner, side = np.array(picture.window[:2]), picture.window[2]
    else:
        low, high = places.min(axis=0), places.max(axis=0)
        side = 1.1 * float((high - low).max()) or 1.0
        corner = (low + high - side) / 2
    shares = (places - corner) / side
    if picture.periodic:
        shares %= 1.0
    image = np.full((SIDE, SIDE, 3), _PAPER, np.uint8)
    if picture.headings is None:
        around = 2 * math.pi * np.arange(ALONG) / ALONG
        ring = 0.25 * _LENGTH * np.stack([np.cos(around), np.sin(around)], axis=1)
        _mark(image, shares[:, None] + ring, INK)
    else:
        heading = np.asarray(picture.headings[0], np.float64)
        way = _LENGTH * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        along = np.linspace(-0.5, 0.5, ALONG)[:, None]
        _mark(image, shares[:, None] + way[:, None] * along, INK)
        _mark(image, shares + way / 2, _HEAD)
    return image


def _mark(image: NDArray[np.uint8], shares: NDArray[np.float64], colour: tuple[int, ...]) -> None:
    """Colour the pixels, two by two, at places given as shares of the window."""
    inside = shares.reshape(-1, 2)
    inside = inside[((inside >= 0) & (inside < 1)).all(axis=1)]
    column, row = (inside * (SIDE - 1)).astype(np.int64).T
    for down in (0, 1):
        for right in (0, 1):
            image[SIDE - 2 - row + down, np.minimum(column + right, SIDE - 1)] = colour
