"""Small pieces of HTML for notebooks: all text is escaped, nothing is fetched."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ROWS = 40  # the most that one table shows
RIGHT = "text-align:right;padding:0 .6em"
LEFT = "text-align:left;padding:0 .6em"
INLINE = "display:inline-block;vertical-align:middle"


@dataclass(frozen=True)
class Bar:
    """A number, and a bar as long as its share of the largest one; below zero in another colour."""

    value: float
    share: float  # from -1 to 1


def bars(values: Iterable[float]) -> list[Bar]:
    """A bar for each number."""
    numbers = [float(value) for value in values]
    largest = max(map(abs, numbers), default=0.0) or 1.0
    return [Bar(value, value / largest) for value in numbers]


def card(title: str, *parts: str) -> str:
    """A title above parts that are HTML already."""
    return f"<div><strong>{html.escape(title)}</strong>{''.join(parts)}</div>"


def paragraph(text: str) -> str:
    """Plain text."""
    return f"<p style='margin:.3em 0'>{html.escape(text)}</p>"


def table(names: Sequence[str], rows: Sequence[Sequence[str | float | Bar]]) -> str:
    """A table of texts, numbers and bars; of long ones the beginning."""
    head = "".join(f"<th style='{LEFT}'>{html.escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:ROWS])
    rest = paragraph(f"and {len(rows) - ROWS} more rows") if len(rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(content: str | float | Bar) -> str:
    if isinstance(content, str):
        return f"<td style='{LEFT}'>{html.escape(content)}</td>"
    if isinstance(content, Bar):
        colour = "#c26a00" if content.share < 0 else "#2a6fb0"
        return (
            f"<td style='{LEFT}'><span style='{INLINE};width:6em;text-align:right'>"
            f"{content.value:.4g}</span><span style='{INLINE};height:.6em;margin-left:.6em;"
            f"width:{abs(content.share) * 8:.2f}em;background:{colour}'></span></td>"
        )
    return f"<td style='{RIGHT}'>{content:.4g}</td>"
