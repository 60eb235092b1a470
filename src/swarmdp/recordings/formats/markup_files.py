"""XML files that are read piece by piece: no document types, no entities, no deep nesting."""

from collections.abc import Callable
from pathlib import Path
from typing import IO
from xml.parsers import expat

from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

_DEEPEST = 64  # elements in elements
_PIECE = 1 << 16  # bytes

OnStart = Callable[[str, dict[str, str]], None]
OnEnd = Callable[[str, str], None]


def read_markup(path: Path, on_start: OnStart, on_end: OnEnd | None = None) -> None:
    """Read a file; see `parse_markup`."""
    with files.reading(path) as file:
        parse_markup(file, on_start, on_end)


def parse_markup(file: IO[bytes], on_start: OnStart, on_end: OnEnd | None = None) -> None:
    """Call a function with the name and the attributes of each element, in their order.

    Names are without namespaces. `on_end` gets an element's name and the text in it. Raises
    InvalidInput if it is not well-formed, or declares a document type: tools write none, and
    entities in one can make a small file very large.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    texts: list[list[str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _DEEPEST:
            raise InvalidInput(f"its elements are nested more than {_DEEPEST} deep")
        texts.append([])
        on_start(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        text = "".join(texts.pop())
        if on_end is not None:
            on_end(_local(name), text)

    def characters(text: str) -> None:
        if on_end is not None and texts:
            texts[-1].append(text)

    def refuse(*_: object) -> None:
        raise InvalidInput("it declares a document type, which no tool for tracks writes")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        while piece := file.read(_PIECE):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InvalidInput(f"it is damaged XML ({error})") from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
