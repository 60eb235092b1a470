"""Systems on the command line: built-in ones by name, a user's own as module:Class.

The fields of a system's dataclass become options: their types and defaults are those of the field,
help and unit come from its metadata, field(default=..., metadata={"help": ..., "degrees": True}).
"""

import argparse
import dataclasses
import functools
import importlib
import math
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from swarmdp.support.errors import InvalidInput
from swarmdp.support.notices import tell_once
from swarmdp.systems.registry import SYSTEMS, built_in, rebuild

_FIELD = "field_"  # what the options of a system's fields are called in the namespace


# Options whose value may look like a system's name
_VALUED = ("-o", "--output", "--fit", "--demo", "--system")


def system_in_arguments(arguments: Sequence[str]) -> str | None:
    """The system that the arguments ask for, a name or a path, found before they are parsed."""
    name = None
    for before, word in zip(["", *arguments], arguments, strict=False):
        if before == "--system":
            return word
        if word.startswith("--system="):
            return word.partition("=")[2]
        if word in SYSTEMS and before not in _VALUED:
            name = name or word
    return name


def add_system(parser: argparse.ArgumentParser, asked: str | None) -> None:
    """Add the system as an argument, and the options of the one that is asked for."""
    parser.set_defaults(name=None)
    if asked is None or asked in SYSTEMS:
        names = "; ".join(f"{name}: {row.summary}" for name, row in SYSTEMS.items())
        parser.add_argument(
            "name",
            nargs="?",
            metavar="SYSTEM",
            choices=list(SYSTEMS),
            help=names if asked else f"{names}. For its options: {parser.prog} SYSTEM --help",
        )
    parser.add_argument(
        "--system",
        metavar="MODULE:CLASS",
        help="class of your own system, from an installed module or a file in the current folder. "
        "Its fields become options",
    )
    if asked is not None:
        kind = class_of(asked)
        group = parser.add_argument_group(f"the system {kind.__name__}")
        for name, option in _options(kind).items():
            _add_option(group, name, option)
        if asked == "gridworld":
            group.add_argument(
                "--reward-seed",
                type=int,
                help="random rewards of macrocells, as in Abbeel and Ng (2004), instead of a goal",
            )


def add_steps(group: Any) -> None:
    """Add the option of the number of steps, whose default is `default_steps`."""
    usual = "60 for ising, 100 for other systems"
    group.add_argument("--steps", type=int, help=f"number of time steps (default: {usual})")


def class_of(name: str) -> type[Any]:
    """The class of a built-in system, or the one that module:Class names."""
    path = SYSTEMS[name].path if name in SYSTEMS else name
    module, colon, attribute = path.partition(":")
    if not (module and colon and attribute):
        raise InvalidInput(
            f"a system must be {', '.join(SYSTEMS)} or MODULE:CLASS, such as robots:Robots for the "
            f"class Robots in robots.py, got {name!r}"
        )
    imported = importlib.import_module(module) if name in SYSTEMS else _import_module(module)
    kind = getattr(imported, attribute, None)
    if not isinstance(kind, type):
        raise InvalidInput(f"the module {module} has no class {attribute}")
    return kind


def _import_module(name: str) -> types.ModuleType:
    """A user's own module, which may be in the current folder.

    It is looked for there last: in a folder that several people write to, a module with the name
    of an installed one would run otherwise, and it would be somebody else's.
    """
    here = os.getcwd()  # noqa: PTH109
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # one that the module itself needs
        raise InvalidInput(
            f"cannot import {name}: there is no such module where Python looks or in {here}"
        ) from None
    if Path(getattr(module, "__file__", None) or "").is_relative_to(here):
        tell_once(f"swarmdp: {name} comes from the current folder, {here}")
    return module


@dataclasses.dataclass(frozen=True)
class _Option:
    """How a field is given on the command line."""

    kind: Any  # int, float, str or bool
    count: int | str | None  # of values: None for one, "+" for any number
    default: Any  # dataclasses.MISSING where there is none
    optional: bool  # it may be None
    help: str
    degrees: bool


def _options(kind: type[Any]) -> dict[str, _Option]:
    """The fields of a system's dataclass that can be given on the command line."""
    if not is_dataclass(kind):
        return {}
    try:
        hints = typing.get_type_hints(kind)
    except NameError:  # of annotations that are imported for type checkers only
        hints = {}
    options = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        option = _option(hints.get(field.name, type(default)), default, field.metadata)
        if option is not None:
            options[field.name] = option
    return options


def _option(hint: Any, default: Any, metadata: Any) -> _Option | None:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    choices = typing.get_args(hint) if union else (hint,)
    parts = [part for part in choices if part is not types.NoneType]
    kind, count = parts[0], None
    if kind in (tuple, list):  # without the type of its items: that of the default
        inner = [type(item) for item in default] if default else [float]
        kind = types.GenericAlias(tuple, (inner[0], ...))
    if typing.get_origin(kind) in (tuple, list, Sequence):
        inner = [part for part in typing.get_args(kind) if part is not ...]
        fixed = typing.get_origin(kind) is tuple and ... not in typing.get_args(kind)
        kind, count = inner[0], len(inner) if fixed else "+"
    if len(parts) > 1 or kind not in (int, float, str, bool) or (kind is bool and count):
        return None
    words = metadata.get("help", "")
    degrees = metadata.get("degrees", False)
    return _Option(kind, count, default, len(parts) < len(choices), words, degrees)


def _add_option(group: Any, name: str, option: _Option) -> None:
    """Add the option of a field; `--system-NAME` if the command has an option `--NAME` already."""
    default, words = option.default, [option.help] if option.help else []
    if option.degrees:
        words.append("in degrees")
        if default is not None and default is not dataclasses.MISSING:
            default = _convert(default, lambda angle: float(f"{math.degrees(angle):.10g}"))
    text = ", ".join(words)
    if default is dataclasses.MISSING:
        text += " (required)"
    elif option.kind is bool:
        text += f" (default: {'yes' if default else 'no'})"
    elif default is not None:
        shown = " ".join(map(str, default)) if isinstance(default, tuple | list) else default
        text += f" (default: {shown})"
    more: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
    if option.kind is not bool:
        sign = {int: "N", float: "X", str: name.upper()}[option.kind]
        more = {"type": option.kind, "nargs": option.count, "metavar": sign}
    more |= {"dest": _FIELD + name, "default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
    long = f"--{name.replace('_', '-')}"
    try:
        group.add_argument(long, **more)
    except argparse.ArgumentError:
        long = f"--system-{long[2:]}"
        group.add_argument(long, **more)
    if option.optional and default is not None and option.kind is not bool:
        group.add_argument(
            f"--no-{long[2:]}",
            action="store_const",
            const=None,
            dest=_FIELD + name,
            default=argparse.SUPPRESS,
            help=f"no {name.replace('_', ' ')}",
        )


def _convert(value: Any, convert: Any) -> Any:
    return tuple(map(convert, value)) if isinstance(value, tuple | list) else convert(value)


def chosen_system(options: argparse.Namespace) -> str | None:
    """The system that was chosen, by name or as module:Class."""
    name: str | None = options.system or options.name
    return name


def given_fields(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of the system that were given as options."""
    return {
        name[len(_FIELD) :]: value
        for name, value in vars(options).items()
        if name.startswith(_FIELD)
    }


def build(options: argparse.Namespace, command: str) -> Any:
    """The system that the options describe."""
    name = chosen_system(options)
    if name is None:
        raise InvalidInput(
            f"{command} needs a system: swarmdp {command} vicsek, or --system MODULE:CLASS"
        )
    kind, given = class_of(name), given_fields(options)
    fields = _options(kind)
    values = {
        field: _convert(value, math.radians)
        if fields[field].degrees and value is not None
        else tuple(value)
        if isinstance(value, list)
        else value
        for field, value in given.items()
    }
    angles = {field: given[field] for field in given if fields[field].degrees}
    if getattr(options, "reward_seed", None) is not None:
        return _create(
            kind, values, functools.partial(kind.macrocells, options.reward_seed), angles
        )
    for field in dataclasses.fields(kind) if is_dataclass(kind) else ():
        without = field.default is field.default_factory is dataclasses.MISSING
        if field.init and without and field.name not in values:
            remedy = f"give --{field.name.replace('_', '-')}"
            if field.name not in fields:
                remedy = "give it a default, since it cannot be an option"
            raise InvalidInput(f"the field {field.name!r} of {kind.__name__} is missing: {remedy}")
    return _create(kind, values, angles=angles)


def _create(
    kind: type[Any],
    values: dict[str, Any],
    maker: Callable[..., Any] | None = None,
    angles: Mapping[str, Any] = types.MappingProxyType({}),
) -> Any:
    """Create a system of this kind; raises InvalidInput, whatever its class raises.

    Angles that were given in degrees are reported in degrees.
    """
    from swarmdp.model.system import check_is_system

    try:
        system = (maker or kind)(**values)
    except InvalidInput as error:
        text = str(error)
        for name, degrees in angles.items():
            if re.match(rf"(the )?{re.escape(name)}\b", text):
                several = degrees if isinstance(degrees, list | tuple) else [degrees]
                shown = " ".join(f"{angle:g}" for angle in several)
                text = text.replace(repr(values[name]), f"{shown} degrees")
                text = text.replace("from -pi to pi in radians", "from -180 to 180 degrees")
                text = text.replace("at most pi in radians", "at most 180 degrees")
                text, _, _ = text.partition(": for degrees")
                raise InvalidInput(f"--{name.replace('_', '-')} {shown}: {text}") from None
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"cannot make {kind.__name__} from {values!s:.500}: {error}") from None
    check_is_system(system)
    return system


def system_of(recorded: Any, path: str | None = None) -> Any:
    """The system that a trajectory or fit was made from, rebuilt from its settings.

    A system that is not built in needs its class, as module:Class.
    """
    from swarmdp.irl.result import Result

    name = recorded.system_name
    if path is None and built_in(name) is None:
        raise InvalidInput(
            f"it was recorded from {name}, which is not a built-in system: say where its class is "
            f"with --system MODULE:{name}"
        )
    settings = recorded.system_settings if isinstance(recorded, Result) else recorded.settings
    return rebuild(name, settings, class_of(path) if path else None)


def expert_for(system: Any, discount: float = 0.9) -> Any:
    """The expert of a system, of a gridworld the optimal policy; raises InvalidInput if none."""
    from swarmdp.judging.evaluation import system_expert

    return expert_or_none(system, discount) or system_expert(system)


def expert_or_none(system: Any, discount: float) -> Any:
    """The expert of a system, of a gridworld the optimal policy; None if there is none."""
    from swarmdp.model.traits import HasExpert
    from swarmdp.systems.gridworld import Gridworld

    if isinstance(system, Gridworld):
        from swarmdp.learning.planning import plan

        return plan(system, system.reward, discount=discount).policy
    return system.expert if isinstance(system, HasExpert) else None


def default_steps(system: Any) -> int:
    """The number of steps of a simulation or animation, if none is given."""
    row = built_in(type(system).__name__)
    return 100 if row is None else row.steps
