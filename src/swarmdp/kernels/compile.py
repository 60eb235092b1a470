"""How kernels are compiled and cached."""

import contextlib
import hashlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


_SOURCES = _sources_digest()


class _KernelCache(FunctionCache):
    """Numba's cache on disk, made safe for a package of kernels that call each other.

    Numba asks only whether a kernel's own file has changed, not those of the kernels it calls;
    so the digest of all kernel sources is part of the key. A cache that cannot be read or
    written (read-only, full, damaged) means compiling again, not failing.
    """

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), _SOURCES)

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with contextlib.suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
            yield


def kernel(function: Function) -> Function:
    """Compile on first call, release the interpreter lock, keep the machine code on disk."""
    compiled = cast(Any, numba.njit(nogil=True, error_model="numpy")(function))
    # RuntimeError: Numba found no directory that it may write to.
    with contextlib.suppress(RuntimeError, OSError):
        compiled._cache = _KernelCache(function)
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile a small function into each kernel that calls it, so that loops vectorise."""
    return cast(Function, numba.njit(inline="always", error_model="numpy")(function))


def cache_directory(compiled: Callable[..., Any]) -> str:
    """Where a kernel's machine code is kept."""
    cache = getattr(compiled, "_cache", None)
    path = getattr(cache, "cache_path", None)
    return str(path) if path else "nowhere: no directory can be written to"
