"""How kernels are compiled and cached."""

import contextlib
import glob
import hashlib
import pickle
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

Function = TypeVar("Function", bound=Callable[..., Any])


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


_SOURCES = _sources_digest()


class _KernelFiles:
    """The files of one kernel: one for each signature, each with a digest of its content.

    A bit that flipped in machine code would crash the process, so nothing is unpickled before the
    digest is right. Without Numba's index file, processes that compile different signatures at
    the same time cannot mix them up.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = Path(folder), name

    def load(self, key: object) -> Any:
        """What was saved under this key; None if there is nothing or it is damaged."""
        path = self._path(key)
        content = path.read_bytes() if path.exists() else b""
        digest, data = content[:32], content[32:]
        if digest != hashlib.sha256(_described(key) + data).digest():
            return None
        return pickle.loads(data)

    def save(self, key: object, data: object) -> None:
        """Keep it under this key, atomically; remove what older sources left."""
        image, path = dumps(data), self._path(key)
        temporary = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")
        try:
            temporary.write_bytes(hashlib.sha256(_described(key) + image).digest() + image)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        for other in self._folder.glob(f"{glob.escape(self._name)}.*.nb[ci]"):
            if not other.name.startswith(self._prefix):
                other.unlink(missing_ok=True)

    @property
    def _prefix(self) -> str:
        return f"{self._name}.{_SOURCES[:12]}."

    def _path(self, key: object) -> Path:
        digest = hashlib.sha256(_described(key)).hexdigest()
        return self._folder / f"{self._prefix}{digest[:24]}.nbc"


def _described(key: object) -> bytes:
    """All that the machine code depends on: signature, processor, sources, version of Numba."""
    return repr((key, _SOURCES, numba.__version__)).encode()


class _KernelCache(FunctionCache):
    """Numba's cache on disk, made safe for a package of kernels that call each other.

    Numba asks only whether a kernel's own file has changed, not those of the kernels it calls;
    so the digest of all kernel sources is part of the key. A cache that cannot be read or
    written (read-only, full, damaged) means compiling again, not failing.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file: Any = _KernelFiles(self._cache_path, self._impl.filename_base)

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
    return cast(Function, numba.njit(forceinline=True, nogil=True, error_model="numpy")(function))


def cache_directory(compiled: Callable[..., Any]) -> str:
    """Where a kernel's machine code is kept."""
    cache = getattr(compiled, "_cache", None)
    path = getattr(cache, "cache_path", None)
    return str(path) if path else "nowhere: no directory can be written to"
