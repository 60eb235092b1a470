"""Colours that figures and the studio share; figures are not imported for them."""

import numpy as np

from swarmdp.support.arrays import Floats

BLUE = "#0072B2"  # of Okabe and Ito's palette
SPINS = "cividis"


def heading_colours(count: int) -> list[str]:
    """Colours around the circle, all of the same lightness: seen on white as well as on black.

    Hues of OKLCH at lightness 0.62 and chroma 0.12. The arrow shows the heading; its colour only
    helps to find flocks.
    """
    hue = 2 * np.pi * np.arange(count) / count
    lab = np.stack([np.full(count, 0.62), 0.12 * np.cos(hue), 0.12 * np.sin(hue)])
    return [rgb_of(colour) for colour in lab.T]


def rgb_of(lab: Floats) -> str:
    """The colour at a place of the OKLAB space, as a hexadecimal number."""
    linear = np.clip(_CONES_TO_RGB @ (_OKLAB_TO_CONES @ lab) ** 3, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#{:02x}{:02x}{:02x}".format(*np.round(255 * encoded).astype(int))


def lab_of(colour: str) -> Floats:
    """Lightness, and the two axes of colour, of a hexadecimal number: the inverse of `rgb_of`."""
    encoded = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    lab: Floats = np.linalg.solve(_OKLAB_TO_CONES, np.cbrt(np.linalg.solve(_CONES_TO_RGB, linear)))
    return lab


def colours_of(name: str, count: int) -> list[str]:
    """A number of colours of a Matplotlib map, from one end to the other."""
    import matplotlib
    from matplotlib.colors import to_hex

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
