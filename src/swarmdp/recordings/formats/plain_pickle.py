"""Pickles of NumPy arrays and plain containers, and of nothing else.

A pickle may name any function and call it. Here it may name only what arrays are made of, and even
these are replaced by functions that take no other arguments than NumPy writes.
"""

import codecs
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from swarmdp.support.errors import InvalidInput


def _empty_array(kind: Any, shape: Any, code: Any) -> Any:
    """What NumPy begins an array with; the shape and as many numbers come later."""
    if kind is not np.ndarray or shape != (0,):
        raise InvalidInput("it holds something that looks like an array, but is none")
    return np.ndarray.__new__(np.ndarray, (0,), code)


def _number(kind: Any, content: Any = b"") -> Any:
    if not isinstance(kind, np.dtype) or kind.hasobject or not isinstance(content, bytes | str):
        raise InvalidInput("it holds something that looks like a number, but is none")
    raw = content.encode("latin1") if isinstance(content, str) else content
    if len(raw) != kind.itemsize:
        raise InvalidInput("it holds a number of the wrong size")
    return np.frombuffer(raw, dtype=kind)[0]


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise InvalidInput("it holds a text in an encoding that is not expected")
    return codecs.encode(text, "latin1")


def _kind(code: Any, align: Any = False, copy: Any = False) -> Any:
    if not isinstance(code, str) or len(code) > 8:
        raise InvalidInput("it holds an array of a kind that is not expected")
    return np.dtype(code)


class _Kind(type):
    """Stands for numpy.dtype, of which only simple kinds are made."""

    def __call__(cls, *arguments: Any) -> Any:
        return _kind(*arguments)


class _Dtype(metaclass=_Kind):
    pass


ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
}
for _home in ("numpy.core.multiarray", "numpy._core.multiarray"):
    ALLOWED[_home, "_reconstruct"] = _empty_array
    ALLOWED[_home, "scalar"] = _number


class _Unpickler(pickle._Unpickler):
    """In Python, not in C, which would ask for as much memory as a damaged pickle says."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise InvalidInput(
                f"it wants to run {module}.{name}, which is not allowed: only arrays and plain "
                "lists, dictionaries, numbers and texts are read from a pickle"
            )
        return ALLOWED[module, name]


def loads(content: bytes) -> Any:
    """What a pickle holds; raises InvalidInput if it holds anything but arrays and plain data."""
    load: Callable[[], Any] = _Unpickler(io.BytesIO(content), encoding="latin1").load
    try:
        return load()
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # whatever a damaged pickle leads to
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InvalidInput(f"its pickle is damaged ({reason})") from None
