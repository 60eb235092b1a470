"""Figures in the dark: an SVG that a browser shows in other colours where people prefer dark pages.

Black becomes the page's ink, white its panel, greys what lies between; colours keep their hue and
become lighter where they would not stand out. Pictures inside of an SVG, and PNG files (see
`assets/page.css`), are inverted with their hues kept.
"""

import re

import numpy as np
from markupsafe import Markup

from swarmdp.report.colours import lab_of, rgb_of
from swarmdp.support.markup import render

PANEL, INK = "#1e2228", "#e4e7ea"  # as in assets/page.css
_COLOURED = 0.03  # chroma from which on a colour is no grey
_LIGHT = 0.66  # lightness that colours have at least
_SET = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")


def dark_colour(colour: str) -> str:
    """What a colour of a figure becomes on a dark page."""
    light, red, yellow = lab_of(colour)
    if np.hypot(red, yellow) >= _COLOURED:
        return rgb_of(np.array([max(light, _LIGHT), red, yellow]))
    ink, panel = lab_of(INK), lab_of(PANEL)
    return rgb_of(ink + light * (panel - ink))


def follow_scheme(svg: bytes) -> bytes:
    """An SVG of Matplotlib with rules for dark pages; on light ones it stays as it is."""
    text = svg.decode("utf-8")
    rules = [f"svg{{fill:{dark_colour('#000000')}}}"]  # letters have no colour of their own
    rules += [
        f'[style*="{name}: {colour}"]{{{name}:{dark_colour(colour)}!important}}'
        for name, colour in sorted(set(_SET.findall(text)))
    ]
    rules.append("image{filter:invert(1) hue-rotate(180deg);mix-blend-mode:screen}")
    # Names and colours are those that `_SET` found: nothing in them needs escaping.
    style = str(render("report/templates/dark.svg.j2", rules=Markup("".join(rules)))).rstrip("\n")
    return re.sub(r"(<svg\b[^>]*>)", lambda tag: tag[1] + style, text, count=1).encode("utf-8")
