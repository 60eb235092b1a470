"""Style sheets and scripts of pages."""

from importlib.resources import files

from markupsafe import Markup


def asset(name: str) -> Markup:
    """The text of one file, which goes into a page as it is."""
    return Markup(files(__name__).joinpath(name).read_text(encoding="utf-8"))
