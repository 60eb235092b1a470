"""Messages of the Python interface in the words of the command line.

What a function calls `fps=25` or `columns={"individual": ...}` is `--fps 25` or
`--column individual=NAME` here.
"""

import contextlib
import re
from collections.abc import Iterator

from swarmdp.support.errors import InvalidInput

OPTIONS = (
    "fps|unit|length|keypoint|format|dt|arena|neighbours|jump|max_gap|smooth|slow|axes|decimal|"
    "resamples|iterations|discount"
)
ARENAS = "--arena circle:X,Y,RADIUS, box:X,Y,X,Y, polygon:X,Y,X,Y,X,Y,... or periodic:WIDTH,HEIGHT"
_VALUE = r"""("[^"]*"|'[^']*'|[\w.+-]*\w|\.\.\.)?"""


def in_options(message: str) -> str:
    """A message with options instead of arguments."""
    message = re.sub(r"\((--[\w-]+ [^)]*)\)", "", message)  # it is said again
    message = re.sub(r"columns=(\{[^}]*\})", lambda match: _columns(match[1]), message)
    message = message.replace("columns=", "--column ROLE=NAME")
    message = re.sub(
        r"recording\.projected\(axes=\(0, 1\)\)\.\w+\(\)", "--axes xy, xz or yz", message
    )
    message = message.replace("a Circle, Box, Polygon or Periodic arena", ARENAS)
    message = re.sub(rf"\b({OPTIONS})={_VALUE}", _option, message)
    # Not before the dots of a path such as ../tracks.csv.
    return re.sub(r" +([,;:)]|\.(?=\s|$))", r"\1", re.sub(r"  +", " ", message))


def _columns(text: str) -> str:
    pairs = re.findall(r"""["'](\w+)["']: (?:"([^"]*)"|'([^']*)'|\.\.\.)""", text)
    return " ".join(
        f"--column {role}={_quoted(one or other or 'NAME')}" for role, one, other in pairs
    )


def _option(match: "re.Match[str]") -> str:
    value = (match[2] or "").strip("\"'")
    flag = f"--{match[1].replace('_', '-')}"
    if match[1] == "arena" and value == "None":
        value = "open"
    return f"{flag} {_quoted(value)}" if value and value != "..." else flag


def _quoted(text: str) -> str:
    return f"'{text}'" if re.search(r"[\s;&|()<>*?$]", text) else text


@contextlib.contextmanager
def options_named() -> Iterator[None]:
    """Errors of bad input name options, not arguments of Python."""
    try:
        yield
    except InvalidInput as error:
        said = in_options(str(error))
        if said == str(error):
            raise
        raise InvalidInput(said) from None
