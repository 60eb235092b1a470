"""Arrays of NumPy in files, `.npy` and those inside `.npz`, with sizes checked beforehand."""

import io
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from swarmdp.recordings.formats import plain_pickle
from swarmdp.support import files
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory, readable
from swarmdp.support.netcdf import MOST_PACKED, SMALL

MAGIC = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
_KINDS = "biufcSU"


def read_npy(path: Path) -> Any:
    """The array, or the plain data that were pickled in its place."""
    size = path.stat().st_size
    check_memory(3 * size, "to read it", "Export a part of the recording")
    with files.reading(path) as file:
        return _read(file, size)


def read_npz(path: Path, names: "set[str] | None" = None) -> dict[str, Any]:
    """The arrays of an `.npz` by name, or those that are wanted; pickled ones are left out."""
    arrays = {}
    with files.reading(path) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if names is not None and name not in names:
                continue
            if info.file_size > SMALL + MOST_PACKED * info.compress_size:
                raise InvalidInput(f"{name!r} declares {readable(info.file_size)}: it is damaged")
            check_memory(3 * info.file_size, f"to read {name!r}", "Export a part of the recording")
            content = archive.read(info)
            arrays[name] = _read(io.BytesIO(content), len(content))
    return arrays


def names_in_npz(path: Path) -> set[str]:
    """The names of the arrays in an `.npz`."""
    with files.reading(path) as file, zipfile.ZipFile(file) as archive:
        return {name.removesuffix(".npy") for name in archive.namelist()}


def _read(file: IO[bytes], size: int) -> Any:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, fortran, kind = np.lib.format.read_array_header_2_0(file)
    else:
        raise InvalidInput(f"arrays of version {version[0]}.{version[1]} are not known")
    left = size - file.tell()
    if kind.hasobject:
        content = plain_pickle.loads(file.read())
        is_single = isinstance(content, np.ndarray) and content.shape == ()
        return content.item() if is_single else content
    if kind.kind not in _KINDS:
        raise InvalidInput(f"it is an array of the kind {brief(kind)}, expected numbers or texts")
    needed = math.prod(shape) * kind.itemsize
    if needed != left:
        raise InvalidInput(
            f"it is damaged: {readable(needed)} are declared, {readable(left)} are there"
        )
    flat = np.frombuffer(file.read(), dtype=kind)
    return flat.reshape(shape, order="F" if fortran else "C")
