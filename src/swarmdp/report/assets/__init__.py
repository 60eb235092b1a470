"""The parts of a page: markup to be filled in, style sheets, scripts."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template


def asset(name: str) -> str:
    """The text of one part."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def filled(name: str, values: Mapping[str, str]) -> str:
    """The markup of one part with `$name` replaced; the values must be HTML already."""
    return Template(asset(name)).substitute(values)
