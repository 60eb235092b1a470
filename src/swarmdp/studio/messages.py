"""What a browser and the studio say to each other: one struct for each message that may come in.

msgspec checks types, ranges and lengths while it decodes, so nothing is done with a message that is
not exactly as declared here. A new message is a class, a name in `Message` and a case in
`session.py`.
"""

from numbers import Integral, Real
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

from swarmdp.studio.limits import LARGEST_MESSAGE, MOST_WEIGHTS
from swarmdp.support.errors import InvalidInput

_LONGEST_ANSWER = 300  # characters of what was wrong with a message, which may quote it

_Seed = Annotated[int, Meta(ge=0, lt=2**32)]
_Number = Annotated[int, Meta(ge=0, le=2**32)]
_ShortText = Annotated[str, Meta(min_length=1, max_length=64)]
_SettingName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}\Z")]
_Setting = bool | Annotated[float, Meta(ge=-1e9, le=1e9)]
_Weight = Annotated[float, Meta(ge=-1000, le=1000)]


class _Incoming(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag=str.lower
):
    """A message of the page; its `kind` is the name of its class."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, str) and not value.isprintable():
                raise ValueError(f"Expected printable characters - at `$.{name}`")


class Show(_Incoming, frozen=True):
    """Show a system with these settings, as its sliders have them."""

    system: _ShortText
    settings: Annotated[dict[_SettingName, _Setting], Meta(max_length=50)]
    seed: _Seed


class Run(_Incoming, frozen=True):
    """Play or pause."""

    playing: bool


class Step(_Incoming, frozen=True):
    """One step, then pause."""


class Pace(_Incoming, frozen=True):
    """Steps per second."""

    pace: Annotated[int, Meta(ge=1, le=60)]


class Restart(_Incoming, frozen=True):
    """From the start, with this seed."""

    seed: _Seed


class Visible(_Incoming, frozen=True):
    """Whether the page can be seen."""

    visible: bool


class Drawn(_Incoming, frozen=True):
    """A frame was drawn, so that the next may come."""

    frame: _Number


class Paint(_Incoming, frozen=True):
    """A reward painted by hand; `number` comes back with the policy for it."""

    weights: Annotated[tuple[_Weight, ...], Meta(min_length=1, max_length=MOST_WEIGHTS)]
    number: _Number


class Learn(_Incoming, frozen=True):
    """Start a fit."""

    seed: _Seed
    iterations: Annotated[int, Meta(ge=1, le=200)]
    errors: bool


class Stop(_Incoming, frozen=True):
    """Stop the fit after its current iteration."""


class GoOn(_Incoming, frozen=True, tag="go-on"):
    """Continue a fit that was stopped."""


class List(_Incoming, frozen=True):
    """What is in the folder."""


class Open(_Incoming, frozen=True):
    """Open a fit or a trajectory of the folder."""

    name: Annotated[str, Meta(min_length=1, max_length=500)]


class Save(_Incoming, frozen=True):
    """Save the fit, or what is seen on one side, under a new name."""

    what: Annotated[str, Meta(pattern="^(fit|left|right)$")]
    name: _ShortText


class Script(_Incoming, frozen=True):
    """A script that repeats what was done."""


class Gif(_Incoming, frozen=True):
    """What is seen, as a GIF."""


class Page(_Incoming, frozen=True):
    """The reward that is shown and the named ones, as one file for others."""


Message = (
    Show
    | Run
    | Step
    | Pace
    | Restart
    | Visible
    | Drawn
    | Paint
    | Learn
    | Stop
    | GoOn
    | List
    | Open
    | Save
    | Script
    | Gif
    | Page
)

MESSAGE_KINDS = {str(struct.__struct_config__.tag): struct for struct in get_args(Message)}
_decoder = msgspec.json.Decoder(Message)


def parse_message(text: str) -> Message:
    """Return the message that a text says; raises InvalidInput if it is none."""
    if len(text) > LARGEST_MESSAGE:
        raise InvalidInput(f"a message must have at most {LARGEST_MESSAGE} bytes, got {len(text)}")
    try:
        message: Message = _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        reason = str(error)[:_LONGEST_ANSWER]
        if "`$.kind`" in reason or "field `kind`" in reason:
            reason += f"; kinds are {', '.join(MESSAGE_KINDS)}"
        raise InvalidInput(f"this is not a message of the studio: {reason}") from None
    return message


def message_text(kind: str, **entries: Any) -> str:
    """Return a message to the page as JSON; NaN and infinite numbers become null."""
    return msgspec.json.encode({"kind": kind, **entries}, enc_hook=_plain).decode()


def _plain(value: object) -> float:
    """Numbers of NumPy as those of Python."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise NotImplementedError
