"""Templates: text is escaped, a forgotten value is an error, and no module escapes by hand."""

import re

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from swarmdp.support.markup import card, paragraph, render, table
from tests.examples import ROOT

FRAME = "report/templates/frame.html.j2"


def test_text_is_escaped_and_markup_is_not() -> None:
    assert card("a < b", paragraph("c & d"), "<script>") == (
        '<div><strong>a &lt; b</strong><p style="margin:.3em 0">c &amp; d</p>&lt;script&gt;</div>'
    )
    assert "<i>x</i> &lt;" in table((Markup("<i>x</i>") + " <",), [])


def test_a_page_inside_a_page_is_escaped_even_if_it_is_markup() -> None:
    frame = render(FRAME, title="", height=1, document=Markup('<p id="a">'))
    assert 'srcdoc="&lt;p id=&#34;a&#34;&gt;"' in frame


def test_a_forgotten_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="document"):
        render(FRAME, title="", height=1)


def test_no_module_writes_html_by_hand() -> None:
    by_hand = re.compile(r"\bhtml\.escape|string\.Template|import Template|</\w+>")
    actual = {
        path.name
        for path in (ROOT / "src" / "swarmdp").rglob("*.py")
        if by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert not actual
