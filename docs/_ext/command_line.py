"""A directive that shows the help of a command as it is printed: ```{command} fit vicsek```."""

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from swarmdp import cli

WIDTH = "88"


class Command(Directive):
    """The help text of `swarmdp ARGUMENTS`."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The text as a literal block."""
        given = self.arguments[0].split() if self.arguments else []
        text = cli.help_of(given, columns=int(WIDTH))
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command", Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
