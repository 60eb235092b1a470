"""The report as one HTML file: it opens from disk and needs nothing else.

Pictures, style and scripts are inside; the page's security policy forbids every request, and all
text is escaped. A figure is embedded as SVG or as PNG, whichever serves better (see `embedded`).
"""

import base64
import hashlib
import html
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from swarmdp._version import __version__
from swarmdp.report import player
from swarmdp.report.assets import asset, filled
from swarmdp.report.player import Player
from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput

SMALL_SVG = 150_000  # bytes
WIDE = 760  # a figure this many pixels wide is scrolled on a phone, not shrunk

# What a claim may be found to do: a sign, the class of its style, and the words for several.
VERDICTS = {
    "holds": ("✓", "holds", "hold"),
    "does not hold": ("✗", "does-not-hold", "do not hold"),
    "not decided at this scale": ("?", "not-decided", "not decided at this scale"),
    "not measured": ("–", "not-measured", "not measured"),
}
SIGNS = {"good": "✓", "bad": "✗", "open": "?"}  # of the tones of a finding


@dataclass(frozen=True)
class Finding:
    """One sentence of the summary, how good that is, and what else is to be known of it."""

    words: str
    tone: Literal["good", "bad", "open"]
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of the report: texts in the first column, numbers as text in the others."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what was measured of it.

    Claims of the same statement and other groups share a row of their table.
    """

    name: str
    statement: str
    verdict: str  # one of VERDICTS
    measured: str  # with its error
    unit: str = ""
    detail: str = ""  # when it holds
    group: str = ""  # who it is said of, such as a learner
    about: str = ""  # what tells it from claims of other figures, such as a system

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InvalidInput(
                f"the verdict on a claim must be one of {', '.join(map(repr, VERDICTS))}, got "
                f"{self.verdict!r}"
            )


@dataclass(frozen=True)
class Shown:
    """A figure of the report with its claims; several files stand side by side."""

    name: str
    title: str
    caption: str
    figures: tuple[Path, ...]  # PNG or SVG files; what else has the same name is linked
    labels: tuple[str, ...] = ()  # what tells several files apart, one each
    claims: tuple[Claim, ...] = ()


def write_page(
    path: Path,
    *,
    title: str,
    introduction: Sequence[str],
    shown: Sequence[Shown],
    settings: Mapping[str, object],
    players: Sequence[Player],
    citation: str,
    findings: Sequence[Finding] = (),
    claims: Sequence[Claim] = (),
    timing: Sequence[tuple[str, float]] = (),
    numbers: Mapping[str, object] | None = None,
    tables: Sequence[Table] = (),
) -> Path:
    """Write the report atomically; figures are linked relative to its folder.

    The summary comes first: findings, and how many claims hold, those of figures and others. The
    swarms follow, then figures, each with its claims, and what else there is.
    """
    everything = [*(claim for one in shown for claim in one.claims), *claims]
    _check_names("figure", [one.name for one in shown])
    _check_names("claim", [one.name for one in everything])
    _check_names("player", [one.name for one in players])
    _check_names("table", [one.name for one in tables])
    sections = [
        ("summary", "In short", _summary(findings, everything), []),
        (
            "swarms",
            "Watch the swarm",
            "\n".join(player.markup(one) for one in players),
            [(f"player-{one.name}", one.title) for one in players],
        ),
        (
            "figures",
            "Figures",
            "\n".join(_figure(one, path.parent) for one in shown),
            [(f"figure-{one.name}", one.title) for one in shown],
        ),
        ("claims", "Other claims", _claims(claims), []),
        (
            "tables",
            "Tables",
            "\n".join(_table(one) for one in tables),
            [(f"table-{one.name}", one.title) for one in tables],
        ),
        ("numbers", "In numbers", _settings(numbers or {}), []),
        ("settings", "Settings", _settings(settings), []),
        ("timing", "Time taken", _timing(timing), []),
        ("citation", "How to cite", _citation(citation), []),
    ]
    there = [section for section in sections if section[2]]
    body = filled(
        "report.html",
        {
            "title": html.escape(title),
            "version": html.escape(__version__),
            "introduction": "\n".join(f"<p>{html.escape(text)}</p>" for text in introduction),
            "contents": "\n".join(_entry(name, head, subs) for name, head, _, subs in there),
            "sections": "\n".join(
                f'<section id="{name}" aria-labelledby="{name}-heading">\n'
                f'<h2 id="{name}-heading">{head}</h2>\n{content}\n</section>'
                for name, head, content, _ in there
            ),
        },
    )
    files.write_text(path, document(title, body))
    return path


def write_player(path: Path, shown: Player) -> Path:
    """Write a page with nothing but a player, atomically."""
    files.write_text(path, player_document(shown))
    return path


def player_document(shown: Player) -> str:
    """A page with nothing but a player."""
    body = (
        f'<main class="alone">\n<h1>{html.escape(shown.title)}</h1>\n'
        f"{player.markup(shown, alone=True)}\n</main>"
    )
    return document(shown.title, body)


def document(title: str, body: str) -> str:
    """A whole page around its body: style, scripts, and the policy that forbids all else."""
    script = asset("page.js") + asset("drawing.js") + asset("player.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    return filled(
        "page.html",
        {
            "title": html.escape(title),
            "version": html.escape(__version__),
            "policy": policy,
            "style": asset("page.css") + asset("player.css"),
            "body": body,
            "script": script,
        },
    )


def _check_names(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InvalidInput(
                f"the name of a {kind} must be letters, digits, dots and dashes, got {name!r}"
            )
        if names.count(name) > 1:
            raise InvalidInput(f"the names of {kind}s must differ, got {name!r} twice")


def _entry(name: str, heading: str, below: Sequence[tuple[str, str]]) -> str:
    links = "".join(f'<li><a href="#{n}">{html.escape(text)}</a></li>' for n, text in below)
    return f'<li><a href="#{name}">{heading}</a>{f"<ol>{links}</ol>" if links else ""}</li>'


def _summary(findings: Sequence[Finding], claims: Sequence[Claim]) -> str:
    """What was found, and how many claims hold; those that do not are listed."""
    return "\n".join([_counts(claims), *map(_finding, findings)]).strip()


def _finding(finding: Finding) -> str:
    details = "".join(f"<li>{html.escape(text)}</li>" for text in finding.details)
    return (
        f'<div class="finding {finding.tone}"><p class="words">'
        f'<span aria-hidden="true">{SIGNS[finding.tone]}</span> {html.escape(finding.words)}</p>'
        f"{f'<ul>{details}</ul>' if details else ''}</div>"
    )


def _counts(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    words = [claim.verdict for claim in claims]
    counts = "".join(
        f'<li class="{kind}"><strong>{words.count(verdict)}</strong> '
        f"{verdict if words.count(verdict) == 1 else several}</li>"
        for verdict, (_, kind, several) in VERDICTS.items()
        if verdict in words
    )
    listed = "".join(
        f'<li><a href="#claim-{claim.name}">{html.escape(_sentence(claim))}</a></li>'
        for claim in claims
        if claim.verdict == "does not hold"
    )
    return f'<p class="summary">Of {len(claims)} claims:</p>\n<ul class="counts">{counts}</ul>' + (
        f'\n<p class="summary">What does not hold:</p>\n<ul>{listed}</ul>' if listed else ""
    )


def _sentence(claim: Claim) -> str:
    who = ", ".join(name for name in (claim.about, claim.group) if name)
    return f"{who}: {claim.statement}" if who else claim.statement


def _claims(claims: Sequence[Claim]) -> str:
    """A row for each statement, a column for each group."""
    if not claims:
        return ""
    groups = list(dict.fromkeys(claim.group for claim in claims))
    rows: dict[str, list[Claim]] = {}
    for claim in claims:
        rows.setdefault(claim.statement, []).append(claim)
    names = ["What the paper says", *(group or "What was found" for group in groups)]
    head = "".join(f'<th role="columnheader" scope="col">{_capital(name)}</th>' for name in names)
    body = "\n".join(_row(said, groups) for said in rows.values())
    return (
        '<table class="claims" role="table">\n<thead role="rowgroup">'
        f'<tr role="row">{head}</tr></thead>\n<tbody role="rowgroup">\n{body}\n</tbody>\n</table>'
    )


def _row(said: Sequence[Claim], groups: Sequence[str]) -> str:
    """One statement, and what was found in each group."""
    details = dict.fromkeys(claim.detail for claim in said if claim.detail)
    several = len(details) > 1
    how = "".join(
        f'<p class="detail">{f"{html.escape(claim.group)}: " if several and claim.group else ""}'
        f"{html.escape(claim.detail)}</p>"
        for claim in (said if several else said[:1])
        if claim.detail
    )
    if how:
        how = f'<details class="how"><summary>How it is decided</summary>{how}</details>'
    found = {claim.group: claim for claim in said}
    cells = "".join(_cell(found[group]) if group in found else _NOTHING for group in groups)
    return (
        f'<tr role="row"><th role="rowheader" scope="row">{_capital(said[0].statement)}{how}'
        f"</th>{cells}</tr>"
    )


def _capital(text: str) -> str:
    return html.escape(text[:1].upper() + text[1:])


_NOTHING = '<td role="cell" class="empty"></td>'


def _cell(claim: Claim) -> str:
    sign, kind, _ = VERDICTS[claim.verdict]
    group = f' data-name="{html.escape(claim.group)}"' if claim.group else ""
    measured = " ".join(text for text in (claim.measured, claim.unit) if text)
    return (
        f'<td role="cell" id="claim-{claim.name}" class="{kind}"{group}>'
        f'<span class="verdict"><span aria-hidden="true">{sign}</span> {claim.verdict}</span>'
        + (f' <span class="measured">{html.escape(measured)}</span>' if claim.measured else "")
        + "</td>"
    )


def _figure(shown: Shown, folder: Path) -> str:
    if not shown.figures:
        raise InvalidInput(f"the figure {shown.name!r} has no files: give at least one PNG or SVG")
    if shown.labels and len(shown.labels) != len(shown.figures):
        raise InvalidInput(
            f"the figure {shown.name!r} has {len(shown.figures)} files but "
            f"{len(shown.labels)} labels: give one each, or none"
        )
    several = len(shown.figures) > 1
    panels = []
    for number, figure in enumerate(shown.figures, start=1):
        label = shown.labels[number - 1] if shown.labels else ""
        alternative = f"{shown.title}: {label or f'panel {number}'}" if several else shown.title
        panels.append(_panel(figure, folder, alternative, label))
    return (
        f'<figure id="figure-{shown.name}" class="shown">\n<h3>{html.escape(shown.title)}</h3>\n'
        f'<div class="panels">\n{"".join(panels)}</div>\n'
        f"<figcaption>{html.escape(shown.caption)}</figcaption>\n</figure>"
        f"{_claims(shown.claims)}"
    )


def _panel(figure: Path, folder: Path, alternative: str, label: str) -> str:
    picture = embedded(figure)
    name, width = html.escape(alternative), round(picture.width)
    links = " · ".join(
        f'<a href="{html.escape(_relative(file, folder))}" download>'
        f'{file.suffix[1:].upper()}<span class="unseen"> of {name}</span></a>'
        for file in _forms(figure)
    )
    heading = f'<p class="label">{html.escape(label)}</p>' if label else ""
    scrolled = ' tabindex="0" role="group"' if width >= WIDE else ""
    group = f' aria-label="{name}, can be scrolled"' if scrolled else ""
    return (
        f'<div class="panel" style="--width: {width}px">{heading}'
        f'<div class="{"scroll" if scrolled else "still"}"{scrolled}{group}>'
        f'<img src="{picture.source}" alt="{name}" width="{width}" '
        f'height="{round(picture.height)}"></div>'
        f'<p class="files">Download: {links}</p></div>\n'
    )


@dataclass(frozen=True)
class Picture:
    """A picture inside a page, and its size in the page's pixels."""

    source: str
    width: float
    height: float


def embedded(figure: Path) -> Picture:
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
        found = re.search(pattern, root.group()) if root else None
        if found is None:
            raise FileError(5, f"cannot read {file}: it is not an SVG picture with a size")
        sizes.append(float(found[1]) / per_inch[found[2].decode("ascii")])
    return sizes[0], sizes[1]


def _forms(figure: Path) -> list[Path]:
    """The files of this figure that can be had."""
    forms = [figure.with_suffix(suffix) for suffix in (".png", ".svg", ".pdf")]
    return [file for file in forms if file.is_file()]


def _relative(file: Path, folder: Path) -> str:
    return quote(Path(os.path.relpath(file, folder)).as_posix())


def _table(table: Table) -> str:
    first, *others = (html.escape(name) for name in table.columns)
    head = f'<th scope="col">{first}</th>' + "".join(
        f'<th scope="col" class="number">{name}</th>' for name in others
    )
    rows = "\n".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f'<td class="number">{html.escape(cell) or "–"}</td>' for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    name = html.escape(table.title)
    return (
        f'<div id="table-{table.name}">\n<h3>{name}</h3>\n'
        f'<p class="caption">{html.escape(table.caption)}</p>\n'
        f'<div class="rows" tabindex="0" role="group" aria-label="{name}, can be scrolled">'
        f'<table class="plain"><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
        "</div>\n</div>"
    )


def _settings(settings: Mapping[str, object]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
        for name, value in _flat(settings)
    )
    return f'<table class="plain"><tbody>{rows}</tbody></table>' if rows else ""


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


def _timing(timing: Sequence[tuple[str, float]]) -> str:
    if not timing:
        return ""
    total = sum(seconds for _, seconds in timing)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td class="number">{_duration(seconds)}</td>'
        f'<td class="bar" aria-hidden="true"><span style="width: {share:.1f}%"></span></td></tr>'
        for name, seconds in timing
        for share in [100 * seconds / total if total else 0.0]
    )
    return (
        f'<table class="plain timing"><tbody>{rows}</tbody><tfoot><tr><th scope="row">in all</th>'
        f'<td class="number">{_duration(total)}</td><td></td></tr></tfoot></table>'
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _citation(citation: str) -> str:
    return (
        '<div class="copied"><button type="button" class="copy">Copy</button>'
        f'<pre tabindex="0">{html.escape(citation)}</pre></div>'
        if citation
        else ""
    )
