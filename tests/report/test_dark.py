"""Colours of figures on dark pages."""

import numpy as np
import pytest

from swarmdp.report import style
from swarmdp.report.colours import lab_of, rgb_of
from swarmdp.report.dark import INK, PANEL, dark_colour, follow_scheme


@pytest.mark.parametrize("colour", ["#000000", "#ffffff", "#0072b2", "#e69f00", "#123456"])
def test_colours_come_back_from_oklab(colour: str) -> None:
    assert rgb_of(lab_of(colour)) == colour


def test_known_places_in_oklab() -> None:
    assert lab_of("#ffffff") == pytest.approx([1, 0, 0], abs=1e-3)
    assert lab_of("#ff0000") == pytest.approx([0.6280, 0.2249, 0.1258], abs=1e-3)  # Ottosson's


def test_black_and_white_change_places_and_hues_stay() -> None:
    assert dark_colour("#000000") == INK
    assert dark_colour("#ffffff") == PANEL
    panel = lab_of(PANEL)[0]
    for colour in (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE):
        before, after = lab_of(colour.lower()), lab_of(dark_colour(colour.lower()))
        assert np.arctan2(*after[1:]) == pytest.approx(np.arctan2(*before[1:]), abs=0.1)
        assert after[0] > panel + 0.35


def test_an_svg_has_rules_for_the_dark_only() -> None:
    svg = b'<?xml version="1.0"?><svg width="1pt"><path style="fill: #ffffff"/></svg>'
    shown = follow_scheme(svg).decode()
    assert shown.count("<style>") == 1
    assert shown.index("<style>") > shown.index("<svg")
    assert f'[style*="fill: #ffffff"]{{fill:{PANEL}!important}}' in shown
    assert shown.split("<style>")[0] + shown.split("</style>")[1] == svg.decode()


def test_letters_are_dark_enough_to_be_read() -> None:
    for colour in (style.ORANGE, style.BLUE, "black"):
        assert lab_of(style.letters(colour))[0] <= 0.56
