"""NetCDF files that carry a digest of their content, checked before HDF5 sees them.

The digest stands in a line of text behind the HDF5 data, where every HDF5 library ignores it. (In
front of the data, in a user block, it would keep `xarray.open_dataset` from knowing the format.) A
program that changes the file cuts the line off.
"""

import contextlib
import hashlib
import io
import math
import os
import struct
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput, NotEnoughMemory, SwarmdpError
from swarmdp.support.memory import check_memory, readable
from swarmdp.support.threads import starting_threads

if TYPE_CHECKING:
    import xarray

MARK = b"\nswarmdp: SHA-256 of all bytes before this line: "
LENGTH = len(MARK) + 65  # of the line: 64 digits and its end
SIGNATURE = b"\x89HDF\r\n\x1a\n"
ENDS = {0: 40, 1: 44, 2: 28, 3: 28}  # where each version of HDF5's head says how long the data is
PIECE = 1 << 20  # bytes that are read at a time
SMALL = 1 << 26  # bytes that may be declared without being there
MOST_PACKED = 1100  # bytes that one stored byte can stand for
DIMENSION = b"This is a netCDF dimension but not a netCDF variable"
MOST_ENTRIES = 10_000  # of an array that is an attribute, or of texts


def with_digest(image: bytes | memoryview) -> bytes:
    """A NetCDF file in memory, with the digest of its content."""
    digest = hashlib.sha256(image).hexdigest()
    return b"".join((image, MARK, digest.encode(), b"\n"))


def write_dataset(path: str | os.PathLike[str], dataset: "xarray.Dataset") -> None:
    """Write a NetCDF file atomically.

    It is made in memory first: the HDF5 library crashes the process when a disk fills up under it,
    an ordinary write fails with an error. And in a thread of its own: in the main thread the
    library swallows the user's interrupt.
    """
    with starting_threads(), ThreadPoolExecutor(1) as pool:
        image = pool.submit(_image, dataset).result()
    with files.replacing(path) as temporary:
        temporary.write_bytes(with_digest(image))


def _image(dataset: "xarray.Dataset") -> bytes:
    """What `dataset.to_netcdf` makes, which first imports a whole scheduler where there is one."""
    from xarray.backends import H5NetCDFStore

    target = io.BytesIO()
    store = H5NetCDFStore.open(target, mode="w", lock=False)  # h5py has a lock of its own
    try:
        dataset.dump_to_store(store)
    finally:
        store.close()
    return target.getvalue()


def read_dataset(path: str | os.PathLike[str]) -> tuple["xarray.Dataset", bool]:
    """Read a NetCDF file into memory; the dataset, and whether a digest vouches for it.

    Raises FileError if it is damaged, and NotEnoughMemory if it declares more than is free.
    """
    import h5py
    import xarray

    with _checked(path) as (file, vouched):
        with h5py.File(file, "r") as opened:
            _check_content(opened)
        file.seek(0)
        with xarray.open_dataset(file, engine="h5netcdf", decode_times=False) as dataset:
            for attributes in (dataset.attrs, *(v.attrs for v in dataset.variables.values())):
                _check_texts(attributes)
            return dataset.load(), vouched


def read_arrays(
    path: str | os.PathLike[str],
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Variables and attributes of a NetCDF file, checked as by `read_dataset` but much faster.

    Warns if it carries no digest.
    """
    import h5py

    with _checked(path) as (file, vouched), h5py.File(file, "r") as opened:
        _check_content(opened)
        arrays = {
            name: np.asarray(variable[...])
            for name, variable in opened.items()
            if not h5py.h5ds.is_scale(variable.id)  # a mere dimension
        }
        attributes = dict(opened.attrs)
    if not vouched:
        files.warn_without_digest(path)
    return arrays, attributes


def text_of(attributes: Mapping[Any, Any], name: str, default: str | None = None) -> str:
    """An attribute that is a text."""
    value = attributes.get(name, default)
    if not isinstance(value, str):
        raise InvalidInput(f"its attribute {name!r} must be a text, got {value!r}")
    return value


def integer_of(attributes: Mapping[Any, Any], name: str, default: int | None = None) -> int:
    """An attribute that is an integer, or a text of one."""
    value = attributes.get(name, default)
    try:
        if isinstance(value, str | int | np.integer) and not isinstance(value, bool):
            return int(value)
    except ValueError:
        pass
    raise InvalidInput(f"its attribute {name!r} must be an integer, got {value!r}")


def settings_of(attributes: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """An attribute that is settings in JSON."""
    parsed = json_of(attributes, name)
    if not isinstance(parsed, dict):
        raise InvalidInput(
            f"its attribute {name!r} must be settings by name in JSON, such as "
            f'{{"n_agents": 200}}, got {parsed!r}'
        )
    return parsed


def json_of(attributes: Mapping[Any, Any], name: str) -> Any:
    """An attribute that is a JSON text, as plain data."""
    try:
        return files.parse_json(text_of(attributes, name))
    except InvalidInput as error:
        raise InvalidInput(f"its attribute {name!r} is wrong: {error}") from None


@contextlib.contextmanager
def _checked(path: str | os.PathLike[str]) -> Iterator[tuple[IO[bytes], bool]]:
    """The file, open for reading, and whether it carries a digest; errors say which file it is."""
    source = Path(path)
    try:
        with files.reading(source) as file:
            vouched = _check_digest(file)
            file.seek(0)
            yield file, vouched
    except InvalidInput as error:
        raise FileError(5, f"cannot read {source}: {error}") from None
    except NotEnoughMemory as error:
        raise NotEnoughMemory(f"cannot read {source}: {error}") from None
    except (SwarmdpError, MemoryError):
        raise
    except Exception as error:  # whatever HDF5 and those above it make of a foreign file
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise FileError(
            5, f"cannot read {source}: it is not a NetCDF file or is damaged ({reason})"
        ) from error


def _check_digest(file: IO[bytes]) -> bool:
    """Whether the file carries a digest; raises InvalidInput if it is not that of the content."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - LENGTH, 0))
    last = file.read()
    if last.startswith(MARK) and len(last) == LENGTH:
        file.seek(0)
        digest, left = hashlib.sha256(), size - LENGTH
        while left > 0 and (piece := file.read(min(left, PIECE))):
            digest.update(piece)
            left -= len(piece)
        if last[len(MARK) :] == digest.hexdigest().encode() + b"\n":
            return True
        raise InvalidInput(
            "it is damaged: its content is not what its digest says. Take it from a backup or make "
            "it again"
        )
    file.seek(0)
    head = file.read(64)
    if not head.startswith(SIGNATURE):
        raise InvalidInput("it is not a NetCDF file or is damaged (no HDF5 signature)")
    place = ENDS.get(head[8])
    if place is None or len(head) < 64 or struct.unpack_from("<Q", head, place)[0] != size:
        raise InvalidInput(
            f"it is not a NetCDF file or is damaged (its {size} bytes are not as many as its head "
            "says)"
        )
    return False


def _check_content(opened: Any) -> None:
    """Raises an error if variables are elsewhere, not numbers, or would not fit into memory.

    A file of swarmdp has its variables side by side, without groups.
    """
    import h5py

    total = largest = 0
    _check_attributes(opened)
    for name in opened:
        if not isinstance(opened.get(name, getlink=True), h5py.HardLink):
            raise InvalidInput(f"{name!r} is a link to another place, which is not followed")
        variable = opened[name]
        if not isinstance(variable, h5py.Dataset):
            raise InvalidInput(f"{name!r} is a {type(variable).__name__.lower()}, not a variable")
        if variable.is_virtual or variable.external:
            raise InvalidInput(f"{name!r} is kept in other files, which are not followed")
        text = h5py.check_string_dtype(variable.dtype) and variable.size <= MOST_ENTRIES
        if variable.dtype.kind not in "biuf" and not text:
            raise InvalidInput(f"{name!r} must be an array of numbers, got {variable.dtype}")
        _check_attributes(variable)
        if bytes(np.bytes_(variable.attrs.get("NAME", b""))).startswith(DIMENSION):
            continue  # it has a length, and no values
        declared, stored = variable.nbytes, variable.id.get_storage_size()
        if declared > SMALL + MOST_PACKED * stored:
            raise InvalidInput(
                f"{name!r} declares {readable(declared)}, but holds {readable(stored)}"
            )
        total += declared
        largest = max(largest, declared)
        largest = max(largest, math.prod(variable.chunks or ()) * variable.dtype.itemsize)
    check_memory(
        total + 1.25 * largest,  # a copy while missing values are looked for
        "to read it",
        "Record fewer runs or times, or read a part of it with xarray",
    )


def _check_texts(attributes: Mapping[Any, Any]) -> None:
    """Raise InvalidInput for texts that are no Unicode: they could not be written again."""
    for name, value in attributes.items():
        for text in (name, value):
            if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise InvalidInput(f"its attribute {name!r} must be a text in UTF-8, got {value!r}")


def _check_attributes(place: Any) -> None:
    import h5py

    for name in place.attrs:
        shape = h5py.h5a.open(place.id, name.encode()).shape
        if math.prod(shape) > MOST_ENTRIES:
            raise InvalidInput(f"its attribute {name!r} declares {math.prod(shape)} entries")
