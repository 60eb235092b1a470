import base64
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from swarmdp.paper.claim_tables import claim_counts, claim_table
from swarmdp.paper.claims import Claim
from swarmdp.report import citation, page
from swarmdp.report.page import (
    Finding,
    Page,
    PageFigure,
    PageTable,
    embed,
    write_page,
    write_player,
)
from swarmdp.report.player import Player
from swarmdp.support.errors import FileError, InvalidInput
from tests.examples import ROOT
from tests.report import pages

EMPTY: dict[str, Any] = {"title": "Nothing", "citation": ""}


class Elements(HTMLParser):
    """All elements of a page with their attributes, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "img", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        self.text += " "

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.write(tmp_path_factory.mktemp("report"))


def test_everything_is_there_in_order(report: Path) -> None:
    elements = Elements(report.read_text(encoding="utf-8"))
    assert not elements.open
    text = " ".join(elements.text.split())
    places = [
        text.index(part)
        for part in (
            "A small report",
            "✓ The swarm does what its demo did.",
            "By 8 statistics.",
            "✗ The other one does not.",
            "Of 4 claims:",
            "1 holds 1 does not hold 1 not decided at this scale 1 not measured",
            "Vicsek, the default learner: The reward is symmetric.",  # which does not hold
            "What it is about.",
            "Arrows fly.",
            "It finds its order.",
            "What the paper says The paper's learner The default learner What was found",
            "The learned swarm is close.",
            "✓ holds",
            "0.970 ± 0.010 of order",
            "✗ does not hold",
            "3.1 standard errors",
            "? not decided at this scale",
            "Side by side.",
            "– not measured",
            "vicsek › radius",
            "1 min 15 s",
            "in all 1 min 27 s",
            "@inproceedings",
        )
    ]
    assert places == sorted(places)
    names = {a["id"] for _, a in elements.elements if "id" in a}
    links = [str(a["href"]) for a in elements.all("a")]
    inner = {link[1:] for link in links if link.startswith("#")}
    assert inner <= names
    assert {"summary", "answers", "player-vicsek", "claim-symmetric", "fold-citation"} <= inner
    outer = [link for link in links if not link.startswith("#")]
    assert set(outer) == {f"figures/{n}.{s}" for n in ("swarm", "grid") for s in ("png", "svg")}
    assert all((report.parent / link).is_file() for link in outer)


def test_it_needs_nothing_from_elsewhere(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    elements = Elements(text)
    assert not re.search(r"https?:|@import|url\(", text)
    assert all(str(image["src"]).startswith("data:image/") for image in elements.all("img"))
    assert "src" not in {name for script in elements.all("script") for name in script}
    (policy,) = [str(m["content"]) for m in elements.all("meta") if "http-equiv" in m]
    assert policy.startswith("default-src 'none'")


def test_pictures_have_a_size_and_a_text_instead(report: Path) -> None:
    images = Elements(report.read_text(encoding="utf-8")).all("img")
    assert [image["alt"] for image in images] == [
        "The expert swarm",
        "Both systems: Vicsek",
        "Both systems: Ising",
    ]
    for image in images:
        assert int(str(image["width"])) == 1224  # 10.2 inches
        assert int(str(image["height"])) == 330


def test_same_input_same_bytes(report: Path, tmp_path: Path) -> None:
    assert pages.write(tmp_path).read_bytes() == report.read_bytes()


def test_text_is_escaped(tmp_path: Path) -> None:
    bad = "</script><script>alert('x')</script> & \"quotes\" $title ${data}"
    scene = pages.vicsek_scene()
    nasty = type(scene)(scene.system, {bad: scene.swarms["expert"]})
    (figure,) = pages.draw(tmp_path)[0].figures
    claim = Claim("a", bad, "", bad, False, 1.0, 0.1, bad, bad)
    page = Page(
        title=bad,
        introduction=[bad],
        summary=claim_counts([claim]),
        findings=[Finding(bad, "open", (bad,), (bad,))],
        players=[Player("a", bad, bad, nasty)],
        answer=bad,
        answers=[PageFigure("a", bad, bad, (figure,), (bad,), claim_table([claim]), (bad,))],
        comparison=bad,
        comparisons=[PageTable("b", bad, bad, (bad, bad), ((bad, bad),), (50.0,))],
        tables=[PageTable("a", bad, bad, (bad, bad), ((bad, bad),))],
        numbers={bad: bad},
        settings={bad: bad, "list": [bad]},
        timing=[(bad, 1.0)],
        citation=bad,
    )
    report = write_page(tmp_path / "report.html", page)
    text = report.read_text(encoding="utf-8")
    elements = Elements(text)
    assert not elements.open
    assert text.count("<script") == 2  # the player's data, the page's program
    # 2 titles, the introduction, 2 and 6 of the figure (section; heading, words, label, caption,
    # two links), 3 of the finding, 5 of the claim (2 in the summary, 3 in its table), 2 and 6 of
    # the open table (section; heading, caption, 4 cells), 7 of the folded one (contents as well),
    # 2 numbers, 3 of the settings, the timing, 3 of the player, the citation.
    count = 2 + 1 + (2 + 6) + 3 + 5 + (2 + 6) + 7 + 2 + 3 + 1 + 3 + 1
    assert elements.text.count(bad) == count
    assert "alert" not in "".join(re.findall(r"<script(?! type)[^>]*>(.*?)</script>", text, re.S))


def test_a_small_svg_is_embedded_otherwise_the_smaller_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (png,) = pages.draw(tmp_path)[0].figures
    svg = png.with_suffix(".svg")
    assert png.suffix == ".png"
    for small, longer, kind, file in (
        (10**9, svg, "svg+xml", svg),
        (10, png, "svg+xml", svg),
        (10, svg, "png", png),
    ):
        monkeypatch.setattr(page, "SMALL_SVG", small)
        more = max(svg.stat().st_size, png.stat().st_size)
        longer.write_bytes(longer.read_bytes() + b" " * more)
        for given in (png, svg):
            picture = embed(given)
            head, _, data = picture.source.partition(",")
            assert head == f"data:image/{kind};base64"
            shown = re.sub(rb"<style>@media.*?</style>", b"", base64.b64decode(data))
            assert shown == file.read_bytes()
            assert (picture.width, picture.height) == pytest.approx((1224, 330), abs=0.5)
    png.unlink()
    assert embed(svg).source.startswith("data:image/svg")
    svg.rename(tmp_path / "alone.svg")
    assert embed(tmp_path / "alone.svg").source.startswith("data:image/svg")


@pytest.mark.parametrize("given", [".png", ".svg"])
def test_a_missing_figure_is_named(given: str, tmp_path: Path) -> None:
    missing = tmp_path / f"nowhere{given}"
    report = tmp_path / "report.html"
    report.write_text("an earlier report")
    page = Page(**EMPTY, figures=[PageFigure("a", "A", "", (missing,))])
    with pytest.raises(FileError, match=r"nowhere.*there is no such figure"):
        write_page(report, page)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert report.read_text() == "an earlier report"


def test_damaged_figures_are_refused(tmp_path: Path) -> None:
    for name in ("a.png", "b.svg"):
        (tmp_path / name).write_bytes(b"nothing")
        with pytest.raises(FileError, match="not an? (PNG|SVG) picture"):
            embed(tmp_path / name)
    (tmp_path / "c.pdf").write_bytes(b"%PDF")
    with pytest.raises(InvalidInput, match="must be a PNG or SVG"):
        embed(tmp_path / "c.pdf")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"tables": [PageTable("a b", "", "", ("",), ())]}, "name of a table must be letters"),
        ({"tables": [PageTable("a", "", "", ("",), ())] * 2}, "must differ, got 'a' twice"),
    ],
)
def test_bad_names_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Page(**EMPTY, **parts)


def test_bad_figures_are_refused() -> None:
    with pytest.raises(InvalidInput, match="has no files"):
        PageFigure("a", "A", "", ())
    with pytest.raises(InvalidInput, match="1 files but 2 labels"):
        PageFigure("a", "A", "", (Path("a.png"),), ("x", "y"))


def test_what_is_not_there_has_no_section(tmp_path: Path) -> None:
    text = write_page(tmp_path / "report.html", Page(**EMPTY)).read_text(encoding="utf-8")
    assert "<section" not in text
    assert not Elements(text).open


def test_other_forms_of_a_figure_are_linked(tmp_path: Path) -> None:
    figures = tmp_path / "all figures"
    (png,) = pages.draw(figures)[0].figures
    shutil.copy(png, png.with_suffix(".pdf"))
    report = tmp_path / "pages" / "report.html"
    page = Page(**EMPTY, figures=[PageFigure("a", "A", "", (png,))])
    text = write_page(report, page).read_text()
    for suffix in ("png", "svg", "pdf"):
        assert f'href="../all%20figures/swarm.{suffix}"' in text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 00 s"), (3725, "1 h 02 min")],
)
def test_durations(seconds: float, shown: str, tmp_path: Path) -> None:
    timing = [("all", seconds)]
    text = write_page(tmp_path / "report.html", Page(**EMPTY, timing=timing)).read_text()
    assert f">{shown}<" in text


def test_settings_of_all_kinds(tmp_path: Path) -> None:
    settings = {"a": True, "b": None, "c": {"d": {"e": (1, 2.5)}}, "f": Path("x/y")}
    text = write_page(tmp_path / "report.html", Page(**EMPTY, settings=settings)).read_text()
    rows = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', text)
    assert rows == [("a", "yes"), ("b", "–"), ("c › d › e", "1, 2.5"), ("f", "x/y")]


def test_a_player_alone(tmp_path: Path) -> None:
    text = write_player(tmp_path / "swarm.html", pages.players()[0]).read_text(encoding="utf-8")
    elements = Elements(text)
    assert not elements.open
    assert elements.text.count("Vicsek swarms") == 2  # the window's title and the heading
    assert not re.search(r"https?:", text)


def test_the_citation_is_that_of_the_project() -> None:
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    plain = re.sub(r"\s+", " ", citation.BIBTEX)
    for accented, letter in ((r"{\v S}", "Š"), (r"{\v s}", "š"), (r"{\'c}", "ć")):
        plain = plain.replace(accented, letter)
    software, paper = cff.split("preferred-citation:")
    for part, names in (
        (software, ["title", "version", "name"]),
        (paper, ["title", "family-names", "given-names", "collection-title", "year"]),
    ):
        for name in names:
            values = re.findall(rf'^[ -]*{name}: "?(.*?)"?$', part, re.M)
            assert values
            assert all(value in plain for value in values)
    (year,) = re.findall(r"^date-released: (\d+)", cff, re.M)
    assert f"{{{year}}}" in citation.SOFTWARE


def test_columns_of_numbers_are_told_from_words() -> None:
    rows = (("one", "0.2", "as it is", "not known"), ("other", "–1.5", "", "3"))
    table = PageTable("a", "A", "", ("swarm", "distance", "what it is", "p"), rows)
    assert table.numeric == (False, True, False, True)
