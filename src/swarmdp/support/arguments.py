"""Arguments checked against a function's own annotations, before its body sees them.

`checked` is for what users call. It raises InvalidInput, with expected and got, for a value that is
not of the annotated kind, and otherwise passes on what the annotation promises: NumPy's numbers
become Python's, lists and data frames become arrays, other byte orders and narrower types become
the annotated type. Conversions are exact or refused: nothing is rounded, no imaginary part or mask
is dropped, and NaN is no number. Ranges are part of annotations (`ranges.py`). What is right
beyond that (shapes, what fits together) is for the function itself to check.
"""

import functools
import inspect
import math
import types
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from swarmdp.support.checks import brief, is_integer, is_number
from swarmdp.support.errors import InvalidInput, NotEnoughMemory, SwarmdpError

_T = TypeVar("_T")
Convert = Callable[[Any], Any]  # raises _Unfit

WIDEST = 2**64  # integers are below this, and above its negative: seeds need as many


class _Unfit(Exception):
    """A value that is not of the annotated kind; its text says why where that is not obvious."""


class _OutOfRange(Exception):
    """A value of the right kind that a range of its annotation refuses."""

    def __init__(self, check: Callable[[str, Any], object], value: Any) -> None:
        super().__init__()
        self.check, self.value, self.name = check, value, ""


@overload
def checked(target: _T) -> _T: ...
@overload
def checked(
    *, nan: bool = False, but: tuple[str, ...] = (), skip: tuple[str, ...] = ()
) -> Callable[[_T], _T]: ...
def checked(
    target: Any = None,
    *,
    nan: bool = False,
    but: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
) -> Any:
    """A function, or a class with its constructor and methods, that checks its arguments.

    Parameters
    ----------
    target
        The function or class; without it the decorator with these settings.
    nan
        Whether NaN is allowed, for records in which it means that something is not known.
    but
        Methods of a class that check for themselves, since they are called in every step.
    skip
        Arguments that the function checks itself, since it has more to say of them.

    """
    if target is None:
        return functools.partial(checked, nan=nan, but=but, skip=skip)
    if not isinstance(target, type):
        return _function(target, nan, skip)
    for name, member in list(vars(target).items()):
        public = name in ("__init__", "__call__") or not name.startswith("_")
        if not public or name in but:
            continue
        if isinstance(member, classmethod):
            setattr(target, name, classmethod(_function(member.__func__, nan, skip)))
        elif inspect.isfunction(member) and (
            name == "__init__" or member.__module__ == target.__module__
        ):
            setattr(target, name, _function(member, nan, skip))
    return target


def _function(function: Callable[..., Any], nan: bool, skip: tuple[str, ...]) -> Callable[..., Any]:
    @functools.cache
    def converters() -> tuple[list[Convert | None], dict[str, Convert], Convert | None]:
        return _converters(function, nan, skip)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            fit, named = _convert_arguments(converters(), args, kwargs)
        except _OutOfRange as out:
            out.check(out.name, out.value)
            raise
        except InvalidInput as general:
            if function.__name__ == "__init__":
                _ask(function, args, kwargs)
            raise general from None
        try:
            return function(*fit, **named)
        except MemoryError as error:
            if isinstance(error, NotEnoughMemory):
                raise
            name = function.__qualname__.removesuffix(".__init__")
            raise NotEnoughMemory(
                f"{name} needs more memory than is free ({str(error) or 'no details'}): ask for "
                "less, such as fewer agents, runs, steps or classes"
            ) from None

    return wrapper


def _convert_arguments(
    converters: tuple[list[Convert | None], dict[str, Convert], Convert | None],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, each of its annotated kind."""
    positional, named, others = converters
    fit = [
        value if convert is None else convert(value)
        for value, convert in zip(args, positional, strict=False)
    ]
    fit += args[len(fit) :]
    for name, value in kwargs.items():
        convert = named.get(name, others)
        if convert is not None:
            kwargs[name] = convert(value)
    return fit, kwargs


def _ask(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let a constructor say in its own words what is wrong, if it does: they tell more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except SwarmdpError:
            raise
        except Exception:
            return


def _converters(
    function: Callable[..., Any], nan: bool, skip: tuple[str, ...]
) -> tuple[list[Convert | None], dict[str, Convert], Convert | None]:
    """The converters of positional arguments, of named ones, and of any other named ones."""
    positional: list[Convert | None] = []
    named: dict[str, Convert] = {}
    others = None
    for name, parameter in inspect.signature(function).parameters.items():
        convert = None
        if parameter.annotation is not parameter.empty and name not in skip:
            convert = _named_converter(name, _resolve(parameter.annotation, function), nan)
        if parameter.kind is parameter.VAR_KEYWORD:
            others = convert
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(convert)
        if convert is not None:
            named[name] = convert
    return positional, named, others


def _resolve(annotation: Any, function: Callable[..., Any]) -> Any:
    """An annotation written as text, evaluated; Any where its names are not imported."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, inspect.unwrap(function).__globals__)
    except NameError:
        return Any


def _named_converter(name: str, annotation: Any, nan: bool) -> Convert | None:
    """The converter of an argument, with its name in the error; None if anything will do."""
    convert = _converter(annotation, nan)
    if convert is None:
        return None
    expected = _in_words(annotation)
    checks = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is Annotated else ()

    def named(value: Any) -> Any:
        try:
            return convert(value)
        except _Unfit as reason:
            for check in checks:  # which say more of what is expected
                check(name, value)
            more = f": {reason}" if str(reason) else ""
            raise InvalidInput(f"{name} must be {expected}, got {brief(value)}{more}") from None
        except _OutOfRange as out:
            out.name = name
            raise

    return named


def _plain_array(annotation: Any) -> Any:
    """NDArray[...] as the array that it stands for: since NumPy 2.5 it is a name of its own."""
    meant: Any = getattr(typing.get_origin(annotation), "__value__", None)
    if typing.get_origin(meant) is not np.ndarray:
        return annotation
    return meant[typing.get_args(annotation)]


def _converter(annotation: Any, nan: bool) -> Convert | None:
    """A function from a value to one of the annotated kind; None if anything will do."""
    annotation = _plain_array(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any or annotation is object or isinstance(annotation, TypeVar):
        return None
    if origin is Annotated:
        return _within(inner[1:], _converter(inner[0], nan))
    if origin in (Union, types.UnionType):
        return _union(annotation, inner, nan)
    if origin is Literal:
        return functools.partial(_one_of, inner)
    if origin is np.ndarray:
        scalar = typing.get_args(inner[1])
        return functools.partial(_array, scalar[0] if scalar else Any, nan)
    if origin is tuple:
        return _tuple(inner, nan)
    simple: dict[Any, Convert] = {
        int: _integer,
        float: functools.partial(_number, nan),
        bool: _boolean,
        str: _text,
        None: _none,
        type(None): _none,
    }
    if annotation in simple:
        return simple[annotation]
    if _is_array_like(annotation):
        return functools.partial(_array, np.number, nan)
    kind = origin or annotation
    if kind is Callable or kind is typing.get_origin(Callable[..., Any]):
        return _callable
    if not isinstance(kind, type):
        return None
    if getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False):
        return None
    if kind in CHECKS:
        return functools.partial(_by_its_check, kind)
    elements = inner if kind in _CONTAINERS else ()
    return functools.partial(_instance, kind, tuple(_converter(e, nan) for e in elements))


def _within(checks: tuple[Any, ...], convert: Convert | None) -> Convert:
    """A value of the annotated kind that all checks of its annotation accept."""

    def within(value: Any) -> Any:
        converted = value if convert is None else convert(value)
        for check in checks:
            try:
                check("it", converted)
            except InvalidInput:
                raise _OutOfRange(check, value) from None
        return converted

    return within


CHECKS: dict[type, Callable[[Any], None]] = {}  # kinds whose modules know better what fits them


def _by_its_check(kind: type, value: Any) -> Any:
    try:
        CHECKS[kind](value)
    except InvalidInput as reason:
        raise _Unfit(str(reason)) from None
    return value


_CONTAINERS = (Sequence, Mapping, dict, list, typing.get_origin(typing.Sequence))


def _is_array_like(annotation: Any) -> bool:
    return getattr(annotation, "__module__", "").startswith("numpy._typing")


def _union(annotation: Any, inner: tuple[Any, ...], nan: bool) -> Convert | None:
    """Any of several kinds; the parts of ArrayLike are one, and the last to be tried."""
    parts = [part for part in map(_plain_array, inner) if not _is_array_like(part)]
    if len(parts) < len(inner):
        loose = typing.get_args(ArrayLike)
        parts = [part for part in parts if part not in loose]
        array: list[Convert | None] = [functools.partial(_array, np.number, nan)]
    else:
        array = []
    # A trajectory is a mapping, and a policy may be callable: what is named exactly comes first.
    parts.sort(key=lambda part: typing.get_origin(part) is not None)
    converters = [*(_converter(part, nan) for part in parts), *array]
    if None in converters:
        return None

    def convert(value: Any) -> Any:
        reasons = []
        for converter in converters:
            assert converter is not None
            try:
                return converter(value)
            except _Unfit as reason:
                reasons.append(str(reason))
        raise _Unfit(max(reasons, key=len))

    return convert


def _integer(value: Any) -> int:
    if not is_integer(value):
        raise _Unfit
    if not -WIDEST < value < WIDEST:
        raise _Unfit("integers must fit into 64 bits")
    return int(value)


def _number(nan: bool, value: Any) -> int | float:
    if not is_number(value):
        raise _Unfit
    if is_integer(value):
        if abs(int(value)) >= 2**1023:
            raise _Unfit("it is too large for a floating-point number")
        return int(value) if abs(int(value)) <= 2**53 else float(value)
    if math.isnan(value) and not nan:
        raise _Unfit
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _Unfit
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit
    return str(value) if isinstance(value, np.str_) else value


def _none(value: Any) -> None:
    if value is not None:
        raise _Unfit


def _one_of(options: tuple[Any, ...], value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    for option in options:
        if type(plain) is type(option) and plain == option:
            return option
        if isinstance(option, str) and isinstance(plain, str) and plain == option:
            return option
    raise _Unfit


def _callable(value: Any) -> Any:
    if isinstance(value, type):
        raise _Unfit(f"this is a class: make one, {value.__name__}(...)")
    if not callable(value):
        raise _Unfit
    return value


def _instance(kind: type, elements: tuple[Convert | None, ...], value: Any) -> Any:
    if isinstance(value, type) and kind is not type:
        raise _Unfit(f"this is the class itself: make one, {value.__name__}(...)")
    try:
        fits = isinstance(value, kind)
    except Exception:
        fits = False
    if not fits or (kind is not str and isinstance(value, str | bytes)):
        raise _Unfit
    if isinstance(value, Mapping):
        return _with_entries(elements, value)
    if elements and elements[0] is not None:
        converted = [elements[0](element) for element in value]
        if any(new is not old for new, old in zip(converted, value, strict=True)):
            return converted
    return value


def _with_entries(elements: tuple[Convert | None, ...], value: Mapping[Any, Any]) -> Any:
    """A dictionary with keys and entries of the annotated kinds; itself if they are already."""
    if len(elements) != 2:
        return value
    outer, inner = elements
    converted = {}
    for key, entry in value.items():
        if outer is not None:
            outer(key)
        try:
            converted[key] = entry if inner is None else inner(entry)
        except _Unfit as reason:
            more = f": {reason}" if str(reason) else ""
            raise _Unfit(f"{key!r} is {brief(entry)}{more}") from None
    return converted if any(converted[key] is not value[key] for key in converted) else value


def _tuple(inner: tuple[Any, ...], nan: bool) -> Convert:
    """A tuple, or a list or array of one axis in its place."""
    endless = len(inner) == 2 and inner[1] is Ellipsis
    converters = [_converter(part, nan) for part in (inner[:1] if endless else inner)]

    def convert(value: Any) -> tuple[Any, ...]:
        if isinstance(value, np.ma.MaskedArray) or not (
            isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim == 1)
        ):
            raise _Unfit
        parts = tuple(value)
        if not endless and len(parts) != len(converters):
            raise _Unfit
        converted = []
        for i, part in enumerate(parts):
            one = converters[0] if endless else converters[i]
            converted.append(part if one is None else one(part))
        return tuple(converted)

    return convert


_QUICK = "?bBhHiIlLqQfd"  # types that need no conversion


def _is_right(dtype: np.dtype[Any], scalar: Any) -> bool:
    """Whether an array of this type can be taken as it is."""
    return dtype.isnative and (dtype.char in _QUICK if scalar is Any else dtype == scalar)


def numbers(name: str, value: Any, scalar: Any = Any) -> Any:
    """An array that kernels can take, exactly the same numbers; raises InvalidInput otherwise.

    For what is called in every step: an array that is right already costs next to nothing. NaN
    passes.
    """
    if type(value) is np.ndarray and _is_right(value.dtype, scalar):
        return value
    try:
        return _array(scalar, True, value)
    except _Unfit as reason:
        more = f": {reason}" if str(reason) else ""
        raise InvalidInput(
            f"{name} must be an array of numbers, got {brief(value)}{more}"
        ) from None


def _array(scalar: Any, nan: bool, value: Any) -> Any:
    """An array of the annotated type of numbers, exactly the same numbers."""
    if nan and type(value) is np.ndarray and _is_right(value.dtype, scalar):
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise _Unfit("a mask would be lost: fill in or remove what is masked")
    if isinstance(value, str | bytes | Mapping | set | frozenset | type) or value is None:
        raise _Unfit
    try:
        array = np.asarray(value)
    except Exception:
        raise _Unfit("it is no array: rows of different lengths, or no numbers") from None
    return exactly(array, scalar, nan)


def exactly(array: Any, scalar: Any = Any, nan: bool = False) -> Any:
    """An array of numbers as the native type `scalar`; raises _Unfit if that would change one."""
    kind = array.dtype.kind
    if scalar in (Any, np.generic, np.number):
        if kind not in ("biuf" if scalar is np.number else "biufU"):
            raise _Unfit(_no_numbers(array))
        dtype = np.dtype(np.float64) if array.dtype.char in "eg" else array.dtype.newbyteorder("=")
    elif issubclass(scalar, np.bool_):
        if kind != "b":
            raise _Unfit(f"expected an array of True and False, got one of {array.dtype}")
        dtype = array.dtype
    elif issubclass(scalar, np.integer):
        if kind not in "iu":
            raise _Unfit(f"expected an array of integers, got one of {array.dtype}")
        concrete = scalar not in (np.integer, np.signedinteger, np.unsignedinteger)
        dtype = np.dtype(scalar) if concrete else array.dtype.newbyteorder("=")
    else:
        if kind not in "iuf":
            raise _Unfit(_no_numbers(array))
        dtype = np.dtype(np.float64 if scalar is np.floating else scalar)
    if array.dtype != dtype:
        with np.errstate(all="ignore"):
            converted = array.astype(dtype)
            back = converted.astype(array.dtype)  # integers and floats are compared as floats
            same = (back == array) & (converted == array) | (converted != converted)
        if not same.all():
            raise _Unfit(f"some of its numbers do not fit into {dtype}")
        array = converted
    if array.dtype.kind == "f" and not nan and np.isnan(array).any():
        raise _Unfit("it contains NaN")
    return array


def _no_numbers(array: Any) -> str:
    if array.dtype.kind == "c":
        return "complex numbers would lose their imaginary part: take their real part"
    return f"expected an array of numbers, got one of {array.dtype}"


_NAMES: dict[Any, str] = {  # what kinds are called in messages
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "a text",
    type(None): "None",
    None: "None",
    Mapping: "a dictionary",
    dict: "a dictionary",
    Sequence: "a list",
    list: "a list",
}


def _in_words(annotation: Any) -> str:
    """An annotation in words."""
    annotation = _plain_array(annotation)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _in_words(inner[0])
    if annotation in _NAMES:
        return _NAMES[annotation]
    if origin in (Union, types.UnionType):
        parts = [part for part in map(_plain_array, inner) if not _is_array_like(part)]
        words = [_in_words(part) for part in parts]
        if len(parts) < len(inner):
            loose = typing.get_args(ArrayLike)
            words = [_in_words(part) for part in parts if part not in loose]
            words.append("an array of numbers")
        words.sort(key=lambda word: word == "None")
        return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else words[0]
    if origin is Literal:
        options = [f'"{option}"' if isinstance(option, str) else str(option) for option in inner]
        return " or ".join(options)
    if origin is np.ndarray:
        scalar = (*typing.get_args(inner[1]), Any)[0]
        kinds = {np.bool_: "True and False"}
        integers = isinstance(scalar, type) and issubclass(scalar, np.integer)
        return f"an array of {kinds.get(scalar, 'integers' if integers else 'numbers')}"
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return f"a tuple, each {_in_words(inner[0])}"
        return f"a tuple ({', '.join(_in_words(part) for part in inner)})"
    kind = origin or annotation
    if kind is typing.get_origin(Callable[..., Any]):
        return "a function"
    if _is_array_like(annotation):
        return "an array of numbers"
    name = _NAMES.get(kind, getattr(kind, "__name__", str(kind)))
    if name.startswith(("a ", "an ")):
        return name
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
