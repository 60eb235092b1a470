"""How a table of text is written: encoding, lines before the names, separator, decimal mark.

What is not as in most tables is told in notes.
"""

import csv
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
BLANKS = r"\s+"
MISSING: tuple[str, ...] = (
    "",
    "-",
    "--",
    "---",
    ".",
    "?",
    "*",
    "NA",
    "N/A",
    "n/a",
    "na",
    "nan",
    "NaN",
    "NAN",
)
MISSING += ("null", "NULL", "None", "none", "#N/A", "#NA", "<NA>", "missing", "Missing", "lost")
_SAMPLE = 1 << 18  # bytes that are looked at
_LINES = 60  # lines that are looked at
_LONGEST = 1 << 26  # bytes of a line of names
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
_TITLES = 20  # lines that may stand before the names


@dataclass(frozen=True)
class TextLayout:
    """How to read a table of text."""

    encoding: str
    separator: str
    skipped: int  # lines before the names, or before the numbers where there are no names
    names: tuple[str, ...] | None  # None: there is no line of names
    below: int = 0  # lines between the names and the numbers
    units: tuple[str, ...] = ()  # the last of these lines
    decimal: str = "."
    thousands: str | None = None
    comment: str | None = None
    notes: tuple[str, ...] = ()


def encoding_of(head: bytes) -> str | None:
    """The encoding of a text by its first bytes; None if it is no text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        return None
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start > len(head) - 4:  # a letter was cut in two
            return "utf-8-sig"
        strange = sum(byte < 32 and byte not in b"\t\r\n" for byte in head)
        return "latin-1" if not strange else None
    return "utf-8-sig"


def layout_of(path: Path, decimal: str | None = None) -> TextLayout:
    """Look at the first lines of a table; raises InvalidInput if they are no table."""
    with files.reading(path) as file:
        sample = file.read(_SAMPLE)
        if b"\n" not in sample:
            sample += file.readline(_LONGEST)
    encoding = encoding_of(sample[:4096]) or "utf-8-sig"
    lines = sample.decode(encoding, "replace").lstrip("\ufeff").splitlines()
    if len(sample) >= _SAMPLE and len(lines) > 1:
        lines = lines[:-1]  # the last one may be cut off
    notes = []
    if encoding not in ("utf-8-sig",):
        notes.append(f"read as text in {encoding}")
    lines = lines[: _LINES + _TITLES]
    asked, comment, begin = None, None, 0
    while begin < len(lines):
        line = lines[begin].strip()
        told = re.fullmatch(r'"?sep=(.)"?', line)
        if told:
            asked = told[1]
        elif line.startswith(("#", "%", "//")):
            comment = "#" if line.startswith("#") else comment
        elif line:
            break
        begin += 1
    rest = lines[begin:]
    if not rest:
        raise InvalidInput("it is empty" if not lines else "it has no lines but comments")
    separator, start = _separator(rest, asked)
    rows = [_split(line, separator) for line in rest[start:] if line.strip()]
    if begin + start:
        notes.append(f"{begin + start} lines before the table were skipped")
    layout = TextLayout(encoding, separator, begin + start, None, comment=comment)
    data = rows
    if not _is_data(rows, 0):
        below = 1
        while below < min(len(rows) - 1, 5) and not _is_data(rows, below):
            below += 1
        units = tuple(rows[below - 1]) if below > 1 else ()
        stripped = [name.strip().strip('"') for name in rows[0]]
        names = tuple(name or f"column {n}" for n, name in enumerate(stripped, 1))
        layout = replace(layout, names=names, below=below - 1, units=units)
        data = rows[below:]
    mark, thousands, said = _marks(data, separator)
    if decimal is not None:
        mark, thousands, said = decimal, None, []
    return replace(layout, decimal=mark, thousands=thousands, notes=(*notes, *said))


def _split(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return line.split()
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])


def _separator(lines: list[str], asked: str | None) -> tuple[str, int]:
    """What stands between the columns, and the number of title lines before them."""
    best: tuple[tuple[bool, bool, int], str, int] | None = None
    for separator in (asked,) if asked else (*SEPARATORS, BLANKS):
        assert separator is not None
        counts = [len(_split(line, separator)) for line in lines if line.strip()]
        usual, often = Counter(counts[-_LINES:]).most_common(1)[0]
        if usual < 2 or often < 0.5 * len(counts[-_LINES:]):
            continue
        start = _first_row(lines, separator, usual)
        if start is None or start > _TITLES:
            continue
        first = _split([line for line in lines if line.strip()][start], separator)
        named = not any(_NUMBER.fullmatch(field.strip()) for field in first)
        rank = (usual > 2, named, -len(SEPARATORS) if separator == BLANKS else 0)
        if best is None or rank > best[0]:
            at = [n for n, line in enumerate(lines) if line.strip()][start]
            best = rank, separator, at
    if best is None:
        raise InvalidInput(
            "its lines are no table: expected columns between commas, semicolons, tabs or blanks"
        )
    return best[1], best[2]


def _first_row(lines: list[str], separator: str, usual: int) -> int | None:
    """The first line with as many columns as most have, of which several are not empty."""
    rows = [_split(line, separator) for line in lines if line.strip()]
    for number, fields in enumerate(rows):
        filled = sum(bool(field.strip()) for field in fields)
        if len(fields) == usual and filled > 1 and 2 * filled >= usual:
            return number
    return None


def _is_number(field: str) -> bool:
    text = field.strip().strip('"').replace("'", "")
    return bool(_NUMBER.fullmatch(text)) or text.lower() in ("nan", "inf", "-inf")


def _is_data(rows: list[list[str]], row: int) -> bool:
    """Whether a row has as many numbers as the rows after it, or nearly so."""
    here = sum(map(_is_number, rows[row]))
    after = [sum(map(_is_number, other)) for other in rows[row + 1 : row + 12]]
    usual = sorted(after)[len(after) // 2] if after else 0
    return here > 0 and here >= usual - 1 if usual > 1 else here > 0


def _marks(rows: list[list[str]], separator: str) -> tuple[str, str | None, list[str]]:
    """The decimal mark, the mark of thousands, and what to say of them."""
    fields = [field.strip().strip('"') for row in rows for field in row]
    if any(re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+,\d+", field) for field in fields):
        return ",", ".", ["numbers such as 1.234,5 have a decimal comma"]
    if any(re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+\.\d+", field) for field in fields):
        return ".", ",", ["numbers such as 1,234.5 have commas between thousands"]
    if any(re.fullmatch(r"[+-]?\d{1,3}('\d{3})+(\.\d*)?", field) for field in fields):
        return ".", "'", ["numbers such as 1'234 have marks between thousands"]
    comma = [field for field in fields if re.fullmatch(r"[+-]?\d*,\d+([eE][+-]?\d+)?", field)]
    if not comma:
        return ".", None, []
    if separator == "," and all(re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", one) for one in comma):
        return ".", ",", [f"{comma[0]} is read as {comma[0].replace(',', '')}"]
    return ",", None, [f"decimal comma: {comma[0]} is read as {comma[0].replace(',', '.')}"]
