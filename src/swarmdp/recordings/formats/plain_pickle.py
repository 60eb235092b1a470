"""Pickles of NumPy arrays and plain containers, and of nothing else.

A pickle is a program: it may name any function and call it, and NumPy's own `__setstate__` trusts
what it is given, down to pointers. So no unpickler runs here. The few instructions that tracking
tools write are carried out by this module: they make numbers, texts, lists, tuples, dictionaries,
and notes of what NumPy would be asked to make. From these notes arrays are built of bytes whose
number, kind and shape were checked. Every other instruction is refused.
"""

import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import MOST_NESTED

_KIND = re.compile(r"b1|[iu][1248]|f[248]|[SU][0-9]{1,6}|O[48]?")  # as NumPy writes them
_LAST_CHARACTER = 0x10FFFF  # of Unicode
_MOST_DIMENSIONS = 32
_SMALL_KEY = 2**31
_LARGEST_INTEGER = 2**64
_MOST_VALUES = 10**6  # of a small pickle, each counted as often as it is referred to


@dataclass(frozen=True)
class _Name:
    """A function or class that a pickle names; nothing is imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


_ARRAY = _Name("numpy", "ndarray")
_DTYPE = _Name("numpy", "dtype")
_ENCODE = _Name("_codecs", "encode")
_BYTES = (_Name("__builtin__", "bytes"), _Name("builtins", "bytes"))  # called for no bytes at all
_HOMES = ("numpy.core.multiarray", "numpy._core.multiarray")
_EMPTY_ARRAYS = tuple(_Name(home, "_reconstruct") for home in _HOMES)
_NUMBERS = tuple(_Name(home, "scalar") for home in _HOMES)
_ALLOWED = {_ARRAY, _DTYPE, _ENCODE, *_BYTES, *_EMPTY_ARRAYS, *_NUMBERS}


@dataclass(eq=False)
class _Kind:
    """A dtype on its way: its code, such as "f8", then its byte order."""

    code: str
    order: str | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.order is None:
            raise InvalidInput("it holds a kind of array without its byte order")
        code = "O" if self.code[0] == "O" else self.code
        return np.dtype(code if self.order == "|" else self.order + code)


@dataclass(eq=False)
class _Array:
    """An array on its way, which is there once its state has come."""

    content: NDArray[Any] | None = None


def loads(content: bytes) -> Any:
    """What a pickle holds; raises InvalidInput if it holds anything but arrays and plain data."""
    machine = _Machine()
    try:
        for operation, argument, _ in pickletools.genops(content):
            if operation.name == "STOP":
                break
            if operation.name not in _OPERATIONS:
                raise InvalidInput(
                    f"its pickle has the instruction {operation.name}, which is not expected: only "
                    "arrays and plain lists, dictionaries, numbers and texts are read"
                )
            _OPERATIONS[operation.name](machine, argument)
        loaded = _finished(machine.pop())
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # whatever a damaged pickle leads to
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InvalidInput(f"its pickle is damaged ({reason:.200})") from None
    _check_size(loaded, _MOST_VALUES + len(content))
    return loaded


def _check_size(loaded: Any, most: int) -> None:
    """Raises InvalidInput for what is in itself, nested too deeply, or shared to no end."""
    level, count = [loaded], 1
    for _ in range(MOST_NESTED):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, np.ndarray) and item.dtype.hasobject:
                inner += item.ravel().tolist()
            elif isinstance(item, list | tuple):
                inner += item
            elif isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, _Name | _Kind):
                raise InvalidInput("it holds a function or a kind of array in place of a value")
            if count + len(inner) > most:
                raise InvalidInput("its pickle refers to the same values again and again")
        level, count = inner, count + len(inner)
        if not level:
            return
    raise InvalidInput(f"its pickle is nested more than {MOST_NESTED} deep")


@dataclass
class _Machine:
    """The stack of a pickle, and what it remembers."""

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def pop(self) -> Any:
        if not self.stack or (self.marks and self.marks[-1] == len(self.stack)):
            raise InvalidInput("its pickle is damaged (it takes more than it has)")
        return self.stack.pop()

    def top(self) -> Any:
        value = self.pop()
        self.stack.append(value)
        return value

    def pop_to_mark(self) -> list[Any]:
        if not self.marks:
            raise InvalidInput("its pickle is damaged (a list without a beginning)")
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items


def _finished(value: Any) -> Any:
    """A value as it is kept: an array in place of the note of it."""
    if not isinstance(value, _Array):
        return value
    if value.content is None:
        raise InvalidInput("it holds an array without content")
    return value.content


def _push(machine: _Machine, value: Any) -> None:
    if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
        raise InvalidInput("it holds an integer that is too large")
    machine.stack.append(value)


def _push_new(make: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(make())


def _mark(machine: _Machine, _: Any) -> None:
    machine.marks.append(len(machine.stack))


def _put(machine: _Machine, number: int) -> None:
    machine.memo[number] = machine.top()


def _memoize(machine: _Machine, _: Any) -> None:
    machine.memo[len(machine.memo)] = machine.top()


def _get(machine: _Machine, number: int) -> None:
    if number not in machine.memo:
        raise InvalidInput("its pickle is damaged (it refers to what is not there)")
    machine.stack.append(machine.memo[number])


def _tuple(count: int) -> Callable[[_Machine, Any], None]:
    def make(machine: _Machine, _: Any) -> None:
        items = [_finished(machine.pop()) for _ in range(count)]
        machine.stack.append(tuple(reversed(items)))

    return make


def _marked_tuple(machine: _Machine, _: Any) -> None:
    machine.stack.append(tuple(map(_finished, machine.pop_to_mark())))


def _marked_list(machine: _Machine, _: Any) -> None:
    machine.stack.append(list(map(_finished, machine.pop_to_mark())))


def _marked_dictionary(machine: _Machine, _: Any) -> None:
    items = machine.pop_to_mark()
    machine.stack.append({})
    _extend(machine, items)


def _append(machine: _Machine, _: Any) -> None:
    item = machine.pop()
    _list_on_top(machine).append(_finished(item))


def _appends(machine: _Machine, _: Any) -> None:
    items = machine.pop_to_mark()
    _list_on_top(machine).extend(map(_finished, items))


def _list_on_top(machine: _Machine) -> list[Any]:
    top = machine.top()
    if not isinstance(top, list):
        raise InvalidInput("its pickle is damaged (it adds to something that is no list)")
    return top


def _set_item(machine: _Machine, _: Any) -> None:
    value = machine.pop()
    _extend(machine, [machine.pop(), value])


def _set_items(machine: _Machine, _: Any) -> None:
    _extend(machine, machine.pop_to_mark())


def _extend(machine: _Machine, items: list[Any]) -> None:
    """Put keys and values, in turns, into the dictionary on top."""
    top = machine.top()
    if not isinstance(top, dict):
        raise InvalidInput("its pickle is damaged (it adds to something that is no dictionary)")
    for key, value in zip(items[::2], items[1::2], strict=True):
        # Others could be made to collide, and then take hours.
        if not isinstance(key, str) and not (isinstance(key, int) and abs(key) < _SMALL_KEY):
            raise InvalidInput("it holds a dictionary with keys other than texts and small numbers")
        top[key] = _finished(value)


def _name(machine: _Machine, argument: str) -> None:
    module, _, name = argument.partition(" ")
    _push_name(machine, _Name(module, name))


def _name_on_stack(machine: _Machine, _: Any) -> None:
    name, module = machine.pop(), machine.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise InvalidInput("its pickle is damaged (a name that is no text)")
    _push_name(machine, _Name(module, name))


def _push_name(machine: _Machine, name: _Name) -> None:
    if name not in _ALLOWED:
        raise InvalidInput(
            f"it wants to run {_printable(str(name))}, which is not allowed: only arrays and plain "
            "lists, dictionaries, numbers and texts are read from a pickle"
        )
    machine.stack.append(name)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:80])


def _reduce(machine: _Machine, _: Any) -> None:
    """What a pickle calls a function for: an empty array, a kind, a number, some bytes."""
    arguments, function = machine.pop(), machine.pop()
    if not isinstance(arguments, tuple) or not isinstance(function, _Name):
        raise InvalidInput("its pickle is damaged (a call of something that is no function)")
    if function in _EMPTY_ARRAYS and len(arguments) == 3 and arguments[0] == _ARRAY:
        machine.stack.append(_Array())  # shape and numbers come later
    elif function == _DTYPE and len(arguments) in (1, 2, 3):
        machine.stack.append(_kind(arguments[0]))
    elif function in _NUMBERS and len(arguments) == 2:
        machine.stack.append(_number(*arguments))
    elif function == _ENCODE and len(arguments) in (1, 2):
        machine.stack.append(_encoded(*arguments))
    elif function in _BYTES and not arguments:
        machine.stack.append(b"")
    else:
        raise InvalidInput(f"it calls {function} as NumPy does not")


def _kind(code: Any) -> _Kind:
    if not isinstance(code, str) or not _KIND.fullmatch(code):
        raise InvalidInput(
            f"it holds an array of a kind that is not expected ({_printable(str(code))})"
        )
    return _Kind(code, "|" if code[0] in "bS" else None)


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise InvalidInput("it holds a text in an encoding that is not expected")
    return text.encode("latin1")


def _number(kind: Any, content: Any) -> Any:
    if not isinstance(kind, _Kind) or kind.code[0] == "O":
        raise InvalidInput("it holds something that looks like a number, but is none")
    return _numbers(kind.dtype, (1,), content)[0]


def _build(machine: _Machine, _: Any) -> None:
    """Give an array or a kind on top its state."""
    state, made = machine.pop(), machine.top()
    if not isinstance(state, tuple):
        raise InvalidInput("its pickle is damaged (a state that is no tuple)")
    if isinstance(made, _Kind):
        # Version, byte order, three entries of structured kinds, size, alignment, flags.
        if len(state) != 8 or state[1] not in ("<", ">", "|", "=") or state[2:5] != (None,) * 3:
            raise InvalidInput("it holds an array of a kind that is not expected")
        made.order = state[1]
    elif isinstance(made, _Array) and made.content is None and len(state) == 5:
        _, shape, kind, in_columns, content = state
        made.content = _array(kind, _checked_shape(shape), content, "F" if in_columns else "C")
    else:
        raise InvalidInput("it holds something that looks like an array, but is none")


def _checked_shape(shape: Any) -> tuple[int, ...]:
    integers = isinstance(shape, tuple) and all(type(size) is int for size in shape)
    if not integers or len(shape) > _MOST_DIMENSIONS or min(shape, default=0) < 0:
        raise InvalidInput("it holds an array of a shape that is none")
    return tuple(shape)


def _array(kind: Any, shape: tuple[int, ...], content: Any, order: str) -> NDArray[Any]:
    if not isinstance(kind, _Kind):
        raise InvalidInput("it holds an array of no kind")
    if kind.code[0] != "O":
        flat = _numbers(kind.dtype, shape, content)
    else:
        if not isinstance(content, list) or len(content) != math.prod(shape):
            raise InvalidInput("it holds an array with more entries than there are")
        flat = np.empty(len(content), dtype=object)
        for number, item in enumerate(content):
            flat[number] = item
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _numbers(dtype: np.dtype[Any], shape: tuple[int, ...], content: Any) -> NDArray[Any]:
    """Numbers or texts from bytes, of which there must be exactly as many as needed."""
    if isinstance(content, str):  # of Python 2
        content = content.encode("latin1")
    if not isinstance(content, bytes) or not dtype.itemsize:
        raise InvalidInput("it holds an array without its numbers")
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise InvalidInput("it holds an array with more numbers than there are")
    if dtype.kind == "b":
        return np.frombuffer(content, np.uint8).astype(np.bool_)
    if dtype.kind == "U":
        letters = np.frombuffer(content, np.dtype("u4").newbyteorder(dtype.byteorder))
        if letters.max(initial=0) > _LAST_CHARACTER:
            raise InvalidInput("it holds texts with characters that do not exist")
    return np.frombuffer(content, dtype)


_OPERATIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "MARK": _mark,
    "NONE": _push_new(lambda: None),
    "NEWTRUE": _push_new(lambda: True),
    "NEWFALSE": _push_new(lambda: False),
    "EMPTY_LIST": _push_new(list),
    "EMPTY_TUPLE": _push_new(tuple),
    "EMPTY_DICT": _push_new(dict),
    "TUPLE": _marked_tuple,
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "LIST": _marked_list,
    "DICT": _marked_dictionary,
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "GLOBAL": _name,
    "STACK_GLOBAL": _name_on_stack,
    "REDUCE": _reduce,
    "BUILD": _build,
    "MEMOIZE": _memoize,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _get),
    **dict.fromkeys(("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"), _push),
    **dict.fromkeys(("FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING"), _push),
    **dict.fromkeys(("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"), _push),
    **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"), _push),
}
