"""Headings in three dimensions: unit vectors, and turns to the left and upwards.

A turn is a vector of two angles in the frame of a heading: how far to the left, and how far up.
Its length is the angle between the headings before and after it, along the great circle; so a turn
of zero goes straight on, and in the plane z = 0 the first angle is the turn of an agent there.
"""

import numpy as np

from swarmdp.support.arrays import Floats

_TINY = 1e-12  # length below which a vector has no direction
_SMALL = 1e-8  # angle below which its sine is the angle itself


def unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) of length 1; those without a direction become (1, 0, 0)."""
    length = np.sqrt(np.einsum("...a,...a->...", vectors, vectors))[..., None]
    short = length < _TINY
    directions: Floats = np.where(short, (1.0, 0.0, 0.0), vectors / np.where(short, 1.0, length))
    return directions


def frame(headings: Floats) -> tuple[Floats, Floats]:
    """The unit vectors to the left and upwards of headings (..., 3).

    Left is horizontal; of a vertical heading it is the y axis.
    """
    left = np.zeros_like(headings)
    flat = np.hypot(headings[..., 0], headings[..., 1])
    steep = flat < _TINY
    size = np.where(steep, 1.0, flat)
    left[..., 0] = np.where(steep, 0.0, -headings[..., 1] / size)
    left[..., 1] = np.where(steep, 1.0, headings[..., 0] / size)
    return left, cross(headings, left)


def cross(one: Floats, other: Floats) -> Floats:
    """The cross product of vectors (..., 3)."""
    (a, b, c), (d, e, f) = (np.moveaxis(vectors, -1, 0) for vectors in (one, other))
    return np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)


def turn_headings(headings: Floats, turns: Floats) -> Floats:
    """Headings (..., 3) after turns (..., 2) to the left and upwards, in radians."""
    left, up = frame(headings)
    angle = np.hypot(turns[..., 0], turns[..., 1])
    share = np.where(angle < _SMALL, 1.0, np.sin(angle) / np.where(angle < _SMALL, 1.0, angle))
    sideways = turns[..., :1] * left + turns[..., 1:] * up
    return unit(np.cos(angle)[..., None] * headings + share[..., None] * sideways)


def turns_between(before: Floats, after: Floats) -> Floats:
    """The turns (..., 2) to the left and upwards from headings (..., 3) to others, in radians.

    The opposite of a heading is reached by any turn of pi; it is taken as one to the left.
    """
    left, up = frame(before)
    parts = np.stack([np.einsum("...a,...a->...", after, axis) for axis in (left, up)], axis=-1)
    sine = np.hypot(parts[..., 0], parts[..., 1])
    along = np.einsum("...a,...a->...", before, after)
    angle = np.arctan2(sine, along)
    none = sine < _TINY
    turns: Floats = parts * (angle / np.where(none, 1.0, sine))[..., None]
    turns[none] = 0.0
    turns[none & (along < 0), 0] = np.pi
    return turns


def angles_between(one: Floats, other: Floats) -> Floats:
    """The angles (...) between unit vectors (..., 3), from 0 to pi."""
    across = cross(one, other)
    sine = np.sqrt(np.einsum("...a,...a->...", across, across))
    angles: Floats = np.arctan2(sine, np.einsum("...a,...a->...", one, other))
    return angles
