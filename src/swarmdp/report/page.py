"""A report as one HTML file: it opens from disk and needs nothing else.

Dataclasses say what is on a page, `templates` how it looks. Pictures, style and scripts are inside;
the page's security policy forbids every request. A figure is embedded as SVG or as PNG, whichever
serves better (see `embed`), and follows a browser that prefers dark pages.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from markupsafe import Markup
from matplotlib.figure import Figure

from swarmdp._version import __version__
from swarmdp.report import style
from swarmdp.report.assets import asset
from swarmdp.report.citation import BIBTEX
from swarmdp.report.dark import follow_scheme
from swarmdp.report.player import Player, view_of
from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.markup import render

_NOTHING = Markup()
SMALL_SVG = 150_000  # bytes
SCROLLED_WIDTH = 560  # a figure this many pixels wide is scrolled on a phone, not shrunk


@dataclass(frozen=True)
class Finding:
    """One sentence of the verdict, how good that is, and what else is to be known of it."""

    words: str
    tone: Literal["good", "bad", "open"]
    details: tuple[str, ...] = ()
    how: tuple[str, ...] = ()  # how one knows, folded


@dataclass(frozen=True)
class PageTable:
    """A table of a page: names in the first column, numbers or words in the others."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: tuple[float, ...] = ()  # beside the second column: percents, one for each row

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns are numbers, which stand on the right."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.columns))]
        return tuple(
            place > 0 and all(re.match(r"[-+–<]?[.\d]|$|not known$", cell) for cell in column)
            for place, column in enumerate(columns)
        )


@dataclass(frozen=True)
class PageFigure:
    """A figure of a page; several files stand side by side."""

    name: str
    title: str
    caption: str
    figures: tuple[Path, ...]  # PNG or SVG files; what else has the same name is linked
    labels: tuple[str, ...] = ()  # what distinguishes several files, one each
    below: Markup = _NOTHING  # what else is said of it
    words: tuple[str, ...] = ()  # what it shows, in sentences above it

    def __post_init__(self) -> None:
        if not self.figures:
            raise InvalidInput(
                f"the figure {self.name!r} has no files: give at least one PNG or SVG"
            )
        if self.labels and len(self.labels) != len(self.figures):
            raise InvalidInput(
                f"the figure {self.name!r} has {len(self.figures)} files but "
                f"{len(self.labels)} labels: give one each, or none"
            )


def save_figures(
    folder: Path,
    figures: Mapping[str, tuple[str, str, Figure]],
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[list[PageFigure], list[Path]]:
    """Write figures with their titles and captions; return them for a page, and their files.

    Parameters
    ----------
    folder
        Where the files go.
    figures
        Title, caption and figure, by name.
    words
        Sentences that stand above some of them.

    """
    written = {name: style.save(drawn, folder / name) for name, (_, _, drawn) in figures.items()}
    shown = [
        PageFigure(name, title, caption, (written[name][0],), words=(words or {}).get(name, ()))
        for name, (title, caption, _) in figures.items()
    ]
    return shown, [file for of_figure in written.values() for file in of_figure]


@dataclass(frozen=True)
class _Fold:
    """What is folded at the end of a page, as its contents name it."""

    name: str
    title: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Page:
    """What is on a page, in the order in which it stands there; what is empty has no section."""

    title: str
    findings: Sequence[Finding] = ()  # the verdict first
    summary: Markup = _NOTHING
    introduction: Sequence[str] = ()  # what was done
    players: Sequence[Player] = ()
    answer: str = "The reward"  # heading of the answers
    answers: Sequence[PageFigure] = ()
    comparison: str = "How good it is"  # heading of the comparisons
    comparisons: Sequence[PageTable] = ()
    figures: Sequence[PageFigure] = ()
    tables: Sequence[PageTable] = ()  # folded, as all that follows
    numbers: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    timing: Sequence[tuple[str, float]] = ()  # tasks and their seconds
    citation: str = BIBTEX

    def __post_init__(self) -> None:
        check_page_names("figure", [figure.name for figure in self.all_figures])
        check_page_names("player", [player.name for player in self.players])
        check_page_names("table", [table.name for table in (*self.comparisons, *self.tables)])

    @property
    def all_figures(self) -> tuple[PageFigure, ...]:
        """Those that answer, and the others."""
        return (*self.answers, *self.figures)

    @property
    def folds(self) -> list[_Fold]:
        """What stands at the end, and is opened by who wants it."""
        last = (
            ("numbers", "In numbers", self.numbers),
            ("settings", "Settings", self.settings),
            ("timing", "Time taken", self.timing),
            ("citation", "How to cite", self.citation),
        )
        tables = [_Fold(table.name, table.title) for table in self.tables]
        return tables + [_Fold(name, title) for name, title, content in last if content]


def write_page(path: Path, page: Page) -> Path:
    """Write a page atomically; figures are linked relative to its folder."""
    total = sum(seconds for _, seconds in page.timing)
    html = _document(
        "report/templates/report.html.j2",
        title=page.title,
        page=page,
        players=[view_of(player) for player in page.players],
        panels={figure.name: _panels(figure, path.parent) for figure in page.all_figures},
        folds=page.folds,
        numbers=list(_flat(page.numbers)),
        settings=list(_flat(page.settings)),
        timing=[
            (name, _duration(seconds), f"{100 * seconds / total if total else 0:.1f}")
            for name, seconds in page.timing
        ],
        total=_duration(total),
    )
    files.write_text(path, html)
    return path


def write_player(path: Path, player: Player) -> Path:
    """Write a page with nothing but a player, atomically."""
    files.write_text(path, player_document(player))
    return path


def player_document(
    player: Player,
    template: str = "report/templates/player_page.html.j2",
    *,
    script: str = "",
    look: str = "",
    **values: Any,
) -> str:
    """A page with a player: nothing else, or what another template shows around it.

    Parameters
    ----------
    player
        The swarms.
    template
        Its path in the package; it extends `report/templates/page.html.j2`.
    script
        What runs after the player's own script.
    look
        Style rules, after the player's own.
    values
        What else the template uses; the title is the player's unless it is given.

    """
    return _document(
        template, script, look, **{"title": player.title, **values}, player=view_of(player)
    )


def _document(template: str, more_script: str = "", more_look: str = "", **values: Any) -> Markup:
    """A whole page: its policy allows only the script of this digest."""
    script = asset("page.js") + asset("drawing.js") + asset("player.js") + Markup(more_script)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    looks = asset("page.css") + asset("player.css") + Markup(more_look)
    return render(
        template, version=__version__, style=looks, script=script, digest=digest, **values
    )


def check_page_names(kind: str, names: Sequence[str]) -> None:
    """Raise InvalidInput unless names differ and can be part of an address in a page."""
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InvalidInput(
                f"the name of a {kind} must be letters, digits, dots and dashes, got {name!r}"
            )
        if names.count(name) > 1:
            raise InvalidInput(f"the names of {kind}s must differ, got {name!r} twice")


@dataclass(frozen=True)
class _Panel:
    """One file of a figure as the page shows it."""

    name: str
    label: str
    source: str
    width: int
    height: int
    inverted: bool  # on dark pages
    forms: tuple[tuple[str, str], ...]  # kinds of files that can be had, and their addresses

    @property
    def scrolled(self) -> bool:
        return self.width >= SCROLLED_WIDTH


def _panels(figure: PageFigure, folder: Path) -> list[_Panel]:
    panels = []
    for number, file in enumerate(figure.figures, start=1):
        label = figure.labels[number - 1] if figure.labels else ""
        several = f": {label or f'panel {number}'}" if len(figure.figures) > 1 else ""
        picture = embed(file)
        forms = tuple((form.suffix[1:].upper(), _relative(form, folder)) for form in _forms(file))
        size = round(picture.width), round(picture.height)
        inverted = picture.source.startswith("data:image/png")
        panels.append(
            _Panel(f"{figure.title}{several}", label, picture.source, *size, inverted, forms)
        )
    return panels


@dataclass(frozen=True)
class Picture:
    """A picture inside a page, and its size in the page's pixels."""

    source: str
    width: float
    height: float


def embed(figure: Path) -> Picture:
    """A figure as part of a page: its SVG if that is small, otherwise the smaller of SVG and PNG.

    An SVG is sharp at any size, but one of thousands of paths takes more room than a picture of
    them. Where there is only one of the two, it is that.
    """
    if figure.suffix not in {".png", ".svg"}:
        raise InvalidInput(f"a figure must be a PNG or SVG file, got {figure}")
    if not figure.is_file():
        raise FileError(2, f"cannot read {figure}: there is no such figure; draw it first")
    svg, png = figure.with_suffix(".svg"), figure.with_suffix(".png")
    sizes = {file: file.stat().st_size for file in (svg, png) if file.is_file()}
    file = svg if sizes.get(svg, SMALL_SVG + 1) <= SMALL_SVG else min(sizes, key=sizes.__getitem__)
    kind = {".svg": "svg+xml", ".png": "png"}[file.suffix]
    content = file.read_bytes()
    width, height = _inches(file, content)
    if file.suffix == ".svg":
        content = follow_scheme(content)
    source = f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return Picture(source, 120 * width, 120 * height)  # letters of 9 points look like 15 pixels


def _inches(file: Path, content: bytes) -> tuple[float, float]:
    if file.suffix == ".svg":
        return _svg_inches(file, content)
    from io import BytesIO

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as image:
            across, down = image.info.get("dpi", (200, 200))
            return image.width / across, image.height / down
    except (UnidentifiedImageError, OSError) as error:
        raise FileError(5, f"cannot read {file}: it is not a PNG picture") from error


def _svg_inches(file: Path, content: bytes) -> tuple[float, float]:
    per_inch = {"pt": 72.0, "px": 96.0, "": 96.0, "in": 1.0, "mm": 25.4, "cm": 2.54}
    root = re.search(rb"<svg\b[^>]*>", content)
    sizes = []
    for name in (b"width", b"height"):
        pattern = rb"\s" + name + rb"=[\"']([0-9.]+)(pt|px|in|mm|cm|)[\"']"
        size = re.search(pattern, root.group()) if root else None
        if size is None:
            raise FileError(5, f"cannot read {file}: it is not an SVG picture with a size")
        sizes.append(float(size[1]) / per_inch[size[2].decode("ascii")])
    return sizes[0], sizes[1]


def _forms(figure: Path) -> list[Path]:
    """The files of this figure that can be had."""
    forms = [figure.with_suffix(suffix) for suffix in (".png", ".svg", ".pdf")]
    return [file for file in forms if file.is_file()]


def _relative(file: Path, folder: Path) -> str:
    return quote(Path(os.path.relpath(file, folder)).as_posix())


def _flat(settings: Mapping[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    """Nested settings as rows, the names of all levels in one."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name} › ")
        else:
            yield f"{above}{name}", _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(_plain(one) for one in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
