"""What a browser may say: each message is checked before anything is done with it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmdp.support.checks import brief, is_integer, is_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import parse_json

LARGEST = 64 * 1024  # bytes of a message
MOST_SETTINGS = 50
MOST_WEIGHTS = 1000
LARGEST_WEIGHT = 1000.0
MOST_ITERATIONS = 200
SEEDS = 2**32
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class _Given:
    """The entries of a message, each asked for once."""

    def __init__(self, kind: str, entries: Mapping[str, Any]) -> None:
        self._kind, self._left = kind, dict(entries)

    def _take(self, name: str) -> Any:
        if name not in self._left:
            raise InvalidInput(f"a message {self._kind!r} must have an entry {name!r}")
        return self._left.pop(name)

    def integer(self, name: str, low: int, high: int) -> int:
        value = self._take(name)
        if not is_integer(value) or not low <= value <= high:
            raise InvalidInput(
                f"{name} must be an integer from {low} to {high}, got {brief(value)}"
            )
        return int(value)

    def boolean(self, name: str) -> bool:
        value = self._take(name)
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false, got {brief(value)}")
        return value

    def text(self, name: str, most: int = 200) -> str:
        value = self._take(name)
        if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
            raise InvalidInput(f"{name} must be a text of 1 to {most} signs, got {brief(value)}")
        return value

    def choice(self, name: str, *choices: str) -> str:
        value = self.text(name)
        if value not in choices:
            raise InvalidInput(f"{name} must be one of {', '.join(choices)}, got {brief(value)}")
        return value

    def numbers(self, name: str, most: int, largest: float) -> tuple[float, ...]:
        value = self._take(name)
        if not isinstance(value, list) or not 0 < len(value) <= most:
            raise InvalidInput(f"{name} must be a list of 1 to {most} numbers, got {brief(value)}")
        return tuple(_number(name, each, largest) for each in value)

    def settings(self, name: str) -> dict[str, float]:
        value = self._take(name)
        if not isinstance(value, dict) or len(value) > MOST_SETTINGS:
            raise InvalidInput(
                f"{name} must be at most {MOST_SETTINGS} settings, got {brief(value)}"
            )
        for key in value:
            if not WORD.fullmatch(key):
                raise InvalidInput(f"{name} must have names of settings, got {brief(key)}")
        return {key: _number(key, each, 1e9) for key, each in value.items()}

    def end(self) -> None:
        if self._left:
            raise InvalidInput(
                f"a message {self._kind!r} has no entry {', '.join(map(brief, self._left))}"
            )


def _number(name: str, value: object, largest: float) -> float:
    if isinstance(value, bool):
        return float(value)
    if not is_number(value) or not math.isfinite(value) or abs(value) > largest:  # type: ignore[arg-type]
        raise InvalidInput(f"{name} must be a number of at most {largest:g}, got {brief(value)}")
    return float(value)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Show:
    """Show a system with these settings, as its sliders have them."""

    system: str
    settings: Mapping[str, float]
    seed: int

    @classmethod
    def read(cls, given: _Given) -> "Show":
        """The message from its entries."""
        return cls(given.text("system", 64), given.settings("settings"), _seed(given))


@dataclass(frozen=True)
class Run:
    """Play or pause."""

    playing: bool

    @classmethod
    def read(cls, given: _Given) -> "Run":
        """The message from its entries."""
        return cls(given.boolean("playing"))


@dataclass(frozen=True)
class Step:
    """One step, then pause."""

    @classmethod
    def read(cls, given: _Given) -> "Step":
        """The message from its entries."""
        return cls()


@dataclass(frozen=True)
class Pace:
    """Steps a second."""

    pace: int

    @classmethod
    def read(cls, given: _Given) -> "Pace":
        """The message from its entries."""
        return cls(given.integer("pace", 1, 60))


@dataclass(frozen=True)
class Restart:
    """From the start, with this seed."""

    seed: int

    @classmethod
    def read(cls, given: _Given) -> "Restart":
        """The message from its entries."""
        return cls(_seed(given))


@dataclass(frozen=True)
class Visible:
    """Whether anybody can see the page."""

    visible: bool

    @classmethod
    def read(cls, given: _Given) -> "Visible":
        """The message from its entries."""
        return cls(given.boolean("visible"))


@dataclass(frozen=True)
class Drawn:
    """A frame was drawn, so that the next may come."""

    frame: int

    @classmethod
    def read(cls, given: _Given) -> "Drawn":
        """The message from its entries."""
        return cls(given.integer("frame", 0, 2**32))


@dataclass(frozen=True)
class Paint:
    """A reward painted by hand; `number` comes back with the policy for it."""

    weights: tuple[float, ...]
    number: int

    @classmethod
    def read(cls, given: _Given) -> "Paint":
        """The message from its entries."""
        weights = given.numbers("weights", MOST_WEIGHTS, LARGEST_WEIGHT)
        return cls(weights, given.integer("number", 0, 2**32))


@dataclass(frozen=True)
class Learn:
    """Start a fit."""

    seed: int
    iterations: int
    errors: bool

    @classmethod
    def read(cls, given: _Given) -> "Learn":
        """The message from its entries."""
        iterations = given.integer("iterations", 1, MOST_ITERATIONS)
        return cls(_seed(given), iterations, given.boolean("errors"))


@dataclass(frozen=True)
class Stop:
    """Stop the fit after its iteration."""

    @classmethod
    def read(cls, given: _Given) -> "Stop":
        """The message from its entries."""
        return cls()


@dataclass(frozen=True)
class GoOn:
    """Go on with a fit that was stopped."""

    @classmethod
    def read(cls, given: _Given) -> "GoOn":
        """The message from its entries."""
        return cls()


@dataclass(frozen=True)
class List:
    """What is in the folder."""

    @classmethod
    def read(cls, given: _Given) -> "List":
        """The message from its entries."""
        return cls()


@dataclass(frozen=True)
class Open:
    """Open a fit or a trajectory of the folder."""

    name: str

    @classmethod
    def read(cls, given: _Given) -> "Open":
        """The message from its entries."""
        return cls(given.text("name", 500))


@dataclass(frozen=True)
class Save:
    """Save the fit, or what is seen on one side, under a new name."""

    what: str
    name: str

    @classmethod
    def read(cls, given: _Given) -> "Save":
        """The message from its entries."""
        return cls(given.choice("what", "fit", "left", "right"), given.text("name", 64))


@dataclass(frozen=True)
class Script:
    """A script that repeats what was done."""

    @classmethod
    def read(cls, given: _Given) -> "Script":
        """The message from its entries."""
        return cls()


@dataclass(frozen=True)
class Gif:
    """What is seen, as a GIF."""

    @classmethod
    def read(cls, given: _Given) -> "Gif":
        """The message from its entries."""
        return cls()


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
)

KINDS: Mapping[str, type[Message]] = {
    "show": Show,
    "run": Run,
    "step": Step,
    "pace": Pace,
    "restart": Restart,
    "visible": Visible,
    "drawn": Drawn,
    "paint": Paint,
    "learn": Learn,
    "stop": Stop,
    "go-on": GoOn,
    "list": List,
    "open": Open,
    "save": Save,
    "script": Script,
    "gif": Gif,
}


def parsed(text: str) -> Message:
    """The message that a text says; raises InvalidInput if it is none."""
    if len(text) > LARGEST:
        raise InvalidInput(f"a message must have at most {LARGEST} bytes, got {len(text)}")
    plain = parse_json(text)
    kind = plain.pop("kind", None) if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInput(f"a message must be an object with a kind, got {brief(plain)}")
    given = _Given(kind, plain)
    message = KINDS[kind].read(given)
    given.end()
    return message


def _seed(given: _Given) -> int:
    return given.integer("seed", 0, SEEDS - 1)
