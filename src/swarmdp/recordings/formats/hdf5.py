"""HDF5 files of other tools, read with care: no links to elsewhere, sizes checked beforehand."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory, readable
from swarmdp.support.netcdf import MOST_ENTRIES, MOST_PACKED, SIGNATURE, SMALL

MATLAB = 512  # bytes of text before the data in a file of MATLAB
LARGEST_ATTRIBUTE = 1 << 22  # bytes


def has_signature(head: bytes) -> bool:
    """Whether a file that begins like this is an HDF5 file."""
    return head.startswith(SIGNATURE) or head[MATLAB:].startswith(SIGNATURE)


@contextlib.contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """The file, open for reading."""
    import h5py

    with files.reading(path) as file, h5py.File(file, "r") as archive:
        yield archive


def top_names(path: Path) -> list[str]:
    """The names at the top of a file."""
    with open_hdf5(path) as file:
        return [str(name) for name in file]


def member(place: Any, name: str) -> Any:
    """A dataset or group by its path; raises InvalidInput if it is not there or is elsewhere."""
    for part in name.strip("/").split("/"):
        if not has(place, part):
            raise InvalidInput(f"it has no {name!r}")
        if not is_netcdf_of_swarmdp(place, part):
            raise InvalidInput(f"{name!r} is a link to another place, which is not followed")
        place = place[part]
    return place


def has(place: Any, name: str) -> bool:
    """Whether a group has a member of this name; links are not followed to find out."""
    return bool(place.id.links.exists(name.encode()))


def is_netcdf_of_swarmdp(place: Any, name: str) -> bool:
    """Whether a member stands in the file itself, not behind a link to elsewhere."""
    import h5py

    return bool(place.id.links.get_info(name.encode()).type == h5py.h5l.TYPE_HARD)


def array(place: Any, name: str) -> NDArray[Any]:
    """An array of numbers, in memory, or one of texts that is not long."""
    import h5py

    values = member(place, name)
    if not isinstance(values, h5py.Dataset):
        raise InvalidInput(f"{name!r} is a group, expected an array")
    if values.is_virtual or values.external:
        raise InvalidInput(f"{name!r} is kept in other files, which are not followed")
    kind = values.dtype.kind
    if kind == "O" and not h5py.check_string_dtype(values.dtype):
        raise InvalidInput(f"{name!r} must be an array of numbers or texts, got {values.dtype}")
    if kind in "OS" and values.size > MOST_ENTRIES:
        raise InvalidInput(f"{name!r} has {values.size} texts, at most {MOST_ENTRIES} are expected")
    stored = values.id.get_storage_size()
    if values.nbytes > SMALL + MOST_PACKED * stored:
        raise InvalidInput(
            f"it is damaged: {name!r} declares {readable(values.nbytes)}, but holds "
            f"{readable(stored)}"
        )
    chunk = math.prod(values.chunks or ()) * values.dtype.itemsize
    check_memory(3 * values.nbytes + chunk, f"to read {name!r}", "Export a part of the recording")
    return np.asarray(values[...])


def texts(place: Any, name: str) -> list[str]:
    """An array of texts."""
    return [
        text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        for text in array(place, name).ravel().tolist()
    ]


def attribute(place: Any, name: str) -> Any:
    """An attribute, texts decoded; None if it is not there."""
    value = _attribute(place, name)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def raw_attribute(place: Any, name: str) -> bytes | None:
    """The bytes of an attribute that is a text; None if it is not there or something else."""
    value = _attribute(place, name)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return value if isinstance(value, bytes) else None


def _attribute(place: Any, name: str) -> Any:
    import h5py

    if name not in place.attrs:
        return None
    stored = h5py.h5a.open(place.id, name.encode())
    if stored.get_storage_size() > LARGEST_ATTRIBUTE or math.prod(stored.shape) > MOST_ENTRIES:
        raise InvalidInput(f"its attribute {name!r} is too large")
    value = place.attrs[name]
    if isinstance(value, h5py.Empty):
        return None
    return value.item() if isinstance(value, np.generic) else value
