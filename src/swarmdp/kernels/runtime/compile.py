"""How kernels are compiled, and kept on disk.

Machine code is looked for in two folders: that of the package (`compiled/`), which a wheel may have
brought, then Numba's cache. A wheel's code is for one version of Python, Numba and llvmlite; a
wheel that carries it therefore pins the last two (`hatch_build.py`). Without it the first roll-out
takes longer by what compiling takes.
"""

import contextlib
import functools
import glob
import hashlib
import os
import pickle
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from swarmdp.kernels.runtime.sources import COMPILED, sources_digest
from swarmdp.support.notices import tell_once

Function = TypeVar("Function", bound=Callable[..., Any])

PORTABLE = "x86-64-v3"
# What this processor stands for, by the names that LLVM gives to features.
_FEATURES = (
    *("avx", "avx2", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "f16c", "fma", "fxsr"),
    *("lzcnt", "mmx", "movbe", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2"),
    *("ssse3", "xsave"),
)


_SOURCES = sources_digest()


def subject(function: Callable[..., Any]) -> str:
    """The module of a kernel within this room, such as `vicsek.sums`."""
    return function.__module__.removeprefix("swarmdp.kernels.")


class _KernelFiles:
    """The files of one kernel: one for each signature, each with a digest of its content.

    A bit that flipped in machine code would crash the process, so nothing is unpickled before the
    digest is right. A digest tells nothing of who wrote it: folders and files must belong to this
    user or to the system, and nobody else may be able to write to them.

    Without Numba's index file, processes that compile different signatures at the same time cannot
    mix them up.
    """

    def __init__(self, folder: str | Path, name: str) -> None:
        self._folder, self._name = Path(folder), name

    def load(self, key: object) -> Any:
        """What was saved under this key; None if there is nothing or it is damaged."""
        try:
            with open(self._path(key), "rb") as file:
                if not _is_own(self._folder) or not _only_own(os.fstat(file.fileno())):
                    tell_once(
                        f"swarmdp: kernels in {self._folder} are not used, since others could have "
                        "written them: make the folder yours alone, or remove it"
                    )
                    return None
                content = file.read()
        except OSError:
            return None
        digest, data = content[:32], content[32:]
        if digest != hashlib.sha256(_described(key) + data).digest():
            return None
        return pickle.loads(data)

    def save(self, key: object, data: object) -> None:
        """Keep it under this key, atomically; remove what older sources left."""
        image, path = dumps(data), self._path(key)
        # Another process may read it at any moment: it is there as a whole or not at all.
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


@functools.cache
def _is_own(folder: Path) -> bool:
    """Whether nobody but this user and the system can write to a folder."""
    return _only_own(folder.stat())


def _only_own(facts: os.stat_result) -> bool:
    """Whether a file or folder is this user's or root's, and nobody else may write to it."""
    if sys.platform == "win32":  # where a profile is its user's own, and modes say nothing
        return True
    if facts.st_uid not in (os.geteuid(), 0) or facts.st_mode & stat.S_IWOTH:
        return False
    return not facts.st_mode & stat.S_IWGRP or _is_private_group(facts.st_gid)


@functools.cache
def _is_private_group(number: int) -> bool:
    """Whether a group is a user's alone: it has the user's name, and no other members."""
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _described(key: object) -> bytes:
    """All that the machine code depends on: signature, processor, sources, versions."""
    # Machine code calls into Python's and NumPy's binary interfaces, and Numba pickles its own
    # classes beside it.
    python = (sys.implementation.cache_tag, sys.abiflags if sys.platform != "win32" else "")
    numpy = np.__version__.partition(".")[0]  # NumPy's binary interface changes with it alone
    versions = (*python, numpy, numba.__version__, llvmlite.__version__)
    return repr((key, _SOURCES, versions)).encode()


def portable_here() -> bool:
    """Whether code made for PORTABLE runs in this process."""
    return _runs_portable_code(cpu_target.target_context.codegen().magic_tuple())


@functools.cache
def _runs_portable_code(target: tuple[str, str, str]) -> bool:
    """Whether Numba's target (triple, processor, its features) runs code made for PORTABLE."""
    triple, processor, features = target
    if not triple.startswith("x86_64"):
        return False
    return processor == PORTABLE or {f"+{name}" for name in _FEATURES} <= set(features.split(","))


class _Nowhere:
    """Numba's name for a place to keep machine code, where there is none."""

    @classmethod
    def from_function(cls, function: object, path: str) -> "_Nowhere":
        return cls()

    def ensure_cache_path(self) -> None:
        raise OSError("there is no directory that can be written to")

    def get_cache_path(self) -> str:
        return ""

    def get_source_stamp(self) -> None:
        return None

    def get_disambiguator(self) -> None:
        return None


class _OwnPlace:
    """Passes over a place that others can write to; a new one is made for this user alone."""

    def ensure_cache_path(self) -> None:
        path = Path(self.get_cache_path())  # type: ignore[attr-defined]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o755)
        if not _is_own(path):
            tell_once(f"swarmdp: kernels are not kept in {path}, since others can write to it")
            raise OSError("others can write to it")
        super().ensure_cache_path()  # type: ignore[misc]


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [  # noqa: RUF012, as Numba declares it
        *(
            type(f"Own{place.__name__}", (_OwnPlace, place), {})
            for place in CompileResultCacheImpl._locator_classes
        ),
        _Nowhere,
    ]


class _KernelCache(FunctionCache):
    """Numba's cache on disk, made safe for a package of kernels that call each other.

    Numba asks only whether a kernel's own file has changed, not those of the kernels it calls;
    so the digest of all kernel sources is part of the key. A cache that cannot be read or
    written (read-only, full, damaged) means compiling again, not failing.

    Kernels that came with the package are looked for first. They run on any processor that has
    the features of PORTABLE, so their key names PORTABLE instead of the processor that is here.
    """

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        plain = function.__qualname__.replace("<", "").replace(">", "")
        name = f"{subject(function)}.{plain}-{sys.implementation.cache_tag}"
        self._cache_file: Any = _KernelFiles(self._cache_path, name)
        self._shipped = _KernelFiles(COMPILED, name)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        key = self._index_key(sig, codegen)
        signature, target, code = key
        # What came with the package first: it needs no directory that can be written to.
        data = None
        if _runs_portable_code(target):
            data = self._shipped.load((signature, (target[0], PORTABLE, ""), code))
        if data is None:
            data = self._cache_file.load(key)
        if data is None:
            tell_once("swarmdp: compiling kernels for this machine; this happens once")
            return None
        return self._impl.rebuild(target_context, data)

    @contextlib.contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with contextlib.suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
            yield


def kernel(function: Function) -> Function:
    """Compile on first call, release the interpreter lock, keep the machine code on disk."""
    # Errors as in NumPy: a division by zero gives infinity instead of a check at each one.
    compiled = cast(Any, numba.njit(nogil=True, error_model="numpy")(function))
    # RuntimeError: Numba was told to keep its cache in a way that is not there.
    with contextlib.suppress(RuntimeError, OSError):
        compiled._cache = _KernelCache(function)
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile a small function into each kernel that calls it, so that loops vectorise."""
    return cast(Function, numba.njit(forceinline=True, nogil=True, error_model="numpy")(function))


def borrowing(function: Function) -> Function:
    """As `inlined`, for parts of a kernel that neither make nor return arrays.

    They do not count references to the arrays that they are given. Counting costs some ten
    nanoseconds for each array of a named tuple, at each call: as much as looking around does.
    """
    # Numba's own name for it; its stubs do not know it.
    without_references: dict[str, Any] = {"_nrt": False}
    decorate = numba.njit(forceinline=True, nogil=True, error_model="numpy", **without_references)
    return cast(Function, decorate(function))


def cache_directory(compiled: Callable[..., Any]) -> str:
    """Where a kernel's machine code is kept."""
    cache = getattr(compiled, "_cache", None)
    path = getattr(cache, "cache_path", None)
    return str(path) if path else "nowhere: no directory can be written to"


def shipped_kernels() -> str:
    """Whether kernels came with the package, and whether they are for this processor."""
    count = len(list(COMPILED.glob("*.nbc")))
    if not count:
        return "none: kernels are compiled when they are first used"
    return f"{count} for {PORTABLE}" + ("" if portable_here() else ", which this processor is not")
