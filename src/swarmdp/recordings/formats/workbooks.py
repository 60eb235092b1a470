"""Workbooks of Excel (`.xlsx`): the first sheet that is not empty, as a table of text.

An `.xlsx` is a `.zip` of XML files. What is read of them: the list of sheets, texts that cells
share, which styles are dates, and the cells of one sheet.
"""

import csv
import datetime
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from swarmdp.recordings.formats.markup_files import parse_markup
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_BOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_TEXTS = "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # formats of dates
_EPOCH = {False: datetime.datetime(1899, 12, 30), True: datetime.datetime(1904, 1, 1)}
_MOST_COLUMNS = 16_384  # of a sheet
_MOST_ROWS = 1 << 20
_UNPACKED = 100  # bytes that may come out of one
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d+)")


def recognises(path: Path) -> bool:
    """Whether a `.zip` is a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _BOOK in archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return False


def write_as_text(path: Path, target: Path) -> tuple[str, ...]:
    """Write the first sheet that has rows as a table between commas; returns what to say of it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _write(archive, target)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidInput(f"it is a damaged workbook ({error})") from None


def _write(archive: zipfile.ZipFile, target: Path) -> tuple[str, ...]:
    packed = sum(info.compress_size for info in archive.infolist())
    unpacked = sum(info.file_size for info in archive.infolist())
    if unpacked > _UNPACKED * packed + (1 << 20):
        raise InvalidInput("it unpacks to far more than a workbook has: save it as .csv")
    check_memory(3 * unpacked, "to read the workbook", "Save it as .csv")
    sheets, since_1904 = _sheets(archive)
    texts, dates = _shared_texts(archive), _date_styles(archive)
    for number, (name, member) in enumerate(sheets):
        sheet = _Sheet(texts, dates, _EPOCH[since_1904])
        _parse(archive, member, sheet.start, sheet.end)
        if not sheet.rows:
            continue
        with open(target, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(sheet.filled())
        others = [other for other, _ in sheets[number + 1 :]]
        said = f"sheet {name!r} of a workbook"
        if others:
            said += f"; others are not read: {', '.join(map(repr, others[:5]))}"
        return (said,)
    raise InvalidInput("its sheets are empty")


def _parse(archive: zipfile.ZipFile, member: str, *handlers: object) -> None:
    try:
        info = archive.getinfo(member)
    except KeyError:
        raise InvalidInput(f"it is a damaged workbook: it has no {member}") from None
    with archive.open(info) as file:
        parse_markup(_Limited(file, info.file_size), *handlers)  # type: ignore[arg-type]


class _Limited:
    """A file that ends where its archive says; one that goes on is refused."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def read(self, count: int) -> bytes:
        piece = self._file.read(count)
        self._left -= len(piece)
        if self._left < 0:
            raise InvalidInput("it is a damaged workbook: a part is longer than declared")
        return piece


def _sheets(archive: zipfile.ZipFile) -> tuple[list[tuple[str, str]], bool]:
    """The names of the sheets with their files, in order, and whether dates count from 1904."""
    named: list[tuple[str, str]] = []
    targets: dict[str, str] = {}
    since_1904 = False

    def book(name: str, attributes: dict[str, str]) -> None:
        nonlocal since_1904
        if name == "sheet":
            named.append((attributes.get("name", ""), attributes.get("id", "")))
        elif name == "workbookPr":
            since_1904 = attributes.get("date1904") in ("1", "true")

    def relation(name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship":
            place = attributes.get("Target", "")
            absolute = place.lstrip("/") if place.startswith("/") else f"xl/{place}"
            targets[attributes.get("Id", "")] = absolute

    _parse(archive, _BOOK, book)
    _parse(archive, _RELATIONS, relation)
    there = set(archive.namelist())
    return [(n, targets[k]) for n, k in named if targets.get(k) in there], since_1904


def _shared_texts(archive: zipfile.ZipFile) -> list[str]:
    texts: list[str] = []
    parts: list[str] = []

    def end(name: str, text: str) -> None:
        if name == "t":
            parts.append(text)
        elif name == "rPh":
            parts.clear()  # how a word is pronounced
        elif name == "si":
            texts.append("".join(parts))
            parts.clear()

    if _TEXTS in archive.namelist():
        _parse(archive, _TEXTS, lambda name, attributes: None, end)
    return texts


def _date_styles(archive: zipfile.ZipFile) -> set[int]:
    """The numbers of the styles of cells that show dates or times."""
    formats: dict[str, str] = {}
    styles: list[str] = []
    inside = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        if name == "numFmt":
            formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            inside = True
        elif name == "xf" and inside:
            styles.append(attributes.get("numFmtId", "0"))

    def end(name: str, text: str) -> None:
        nonlocal inside
        if name == "cellXfs":
            inside = False

    if _STYLES in archive.namelist():
        _parse(archive, _STYLES, start, end)
    return {n for n, code in enumerate(styles) if _is_date(code, formats.get(code, ""))}


def _is_date(number: str, code: str) -> bool:
    if number.isdigit() and int(number) in _DATES:
        return True
    shown = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", code)
    return bool(re.search(r"[ydhs]", shown, re.IGNORECASE))


@dataclass
class _Sheet:
    """The cells of a sheet, row by row, as texts."""

    texts: list[str]
    dates: set[int]
    epoch: datetime.datetime
    rows: list[tuple[int, dict[int, str]]] = field(default_factory=list)
    _row: int = 0
    _column: int = -1
    _kind: str = ""
    _style: int = 0
    _inline: list[str] = field(default_factory=list)
    _value: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A row or a cell begins."""
        if name == "row":
            told = attributes.get("r", "")
            self._row = int(told) if told.isdigit() else self._row + 1
            self._column = -1
            if self._row > _MOST_ROWS:
                raise InvalidInput(f"it is a damaged workbook: it has a row {self._row}")
        elif name == "c":
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = _index(match[1]) if match else self._column + 1
            if self._column >= _MOST_COLUMNS:
                raise InvalidInput("it is a damaged workbook: it has too many columns")
            self._kind = attributes.get("t", "n")
            style = attributes.get("s", "0")
            self._style = int(style) if style.isdigit() else 0
            self._value, self._inline = "", []

    def end(self, name: str, text: str) -> None:
        """A value or a cell ends."""
        if name == "v":
            self._value = text
        elif name == "t":
            self._inline.append(text)
        elif name == "c":
            shown = self._text()
            if shown:
                if not self.rows or self.rows[-1][0] != self._row:
                    self.rows.append((self._row, {}))
                self.rows[-1][1][self._column] = shown

    def _text(self) -> str:
        if self._kind == "s":
            number = int(self._value) if self._value.isdigit() else len(self.texts)
            if number >= len(self.texts):
                raise InvalidInput("it is a damaged workbook: a text is missing")
            return self.texts[number]
        if self._kind == "inlineStr":
            return "".join(self._inline)
        if self._kind == "e":
            return ""  # such as #N/A
        if self._kind == "n" and self._style in self.dates and self._value:
            return self._date(self._value)
        return self._value

    def _date(self, value: str) -> str:
        try:
            days = float(value)
            if 0 <= days < 1:  # a time of day
                moment = self.epoch + datetime.timedelta(microseconds=round(days * 86_400_000_000))
                return moment.strftime("%H:%M:%S.%f")
            moment = self.epoch + datetime.timedelta(milliseconds=round(days * 86_400_000))
        except (ValueError, OverflowError):
            raise InvalidInput(f"it is a damaged workbook: {value!r} is no date") from None
        return moment.isoformat(sep=" ", timespec="milliseconds")

    def filled(self) -> list[list[str]]:
        """All rows with all columns; rows that are not there are left out."""
        used = sorted({column for _, cells in self.rows for column in cells})
        return [[cells.get(column, "") for column in used] for _, cells in self.rows]


def _index(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1
