"""HTML from templates: the only place that knows Jinja2, which escapes all text.

A room keeps its templates in a folder `templates` of its own; `render` fills in one of them by its
path in the package. The pieces for notebooks, which several rooms use, are here. What is rendered
is `Markup` and goes into other templates as it is; all other text is escaped when it enters one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_TABLE_ROWS = 40  # that a notebook shows of one table


@dataclass(frozen=True)
class Bar:
    """A number, and a bar to the right of zero, or to the left of it in another colour."""

    value: float
    begin: float  # share of the width that all bars take together
    size: float  # likewise


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("swarmdp", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def render(template: str, **values: Any) -> "Markup":
    """A template with its values filled in.

    Parameters
    ----------
    template
        Its path in the package, such as "report/templates/player.html.j2".
    values
        By the names that the template uses. Text is escaped, unless it is `Markup`.

    """
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(values))


def render_macro(template: str, macro: str, *values: Any) -> "Markup":
    """A macro of a template with its values filled in, as `render`."""
    html: Markup = getattr(_environment().get_template(template).module, macro)(*values)
    return html


def bars(values: Iterable[float]) -> list[Bar]:
    """A bar for each number."""
    numbers = [float(value) for value in values]
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    span = (high - low) or 1.0
    return [Bar(value, (min(value, 0.0) - low) / span, abs(value) / span) for value in numbers]


def card(title: str, *parts: str) -> str:
    """A title above parts that are HTML already."""
    return _notebook("card", title, parts)


def paragraph(text: str) -> str:
    """Plain text."""
    return _notebook("paragraph", text)


def table(names: Sequence[str], rows: Sequence[Sequence[str | float | Bar]]) -> str:
    """A table of texts, numbers and bars; of long ones the beginning."""
    return _notebook("table", names, rows, MOST_TABLE_ROWS)


def _notebook(macro: str, *values: Any) -> str:
    return render_macro("support/templates/notebook.html.j2", macro, *values)
