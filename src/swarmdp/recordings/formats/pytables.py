"""Data frames of pandas in HDF5 files, in both of its layouts, without PyTables."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.formats import hdf5, plain_pickle
from swarmdp.support.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Stored:
    """Columns of numbers, with a name or a tuple of names each, and the index of the rows."""

    names: list[Any]
    values: NDArray[np.float64]  # (row, column)
    index: NDArray[Any]


def is_frame(place: Any) -> bool:
    """Whether a group of an HDF5 file holds a data frame."""
    return "pandas_type" in place.attrs


def read_frame(file: Any, key: str) -> Stored:
    """The numbers of a data frame."""
    place = hdf5.member(file, key)
    kind = hdf5.attribute(place, "pandas_type")
    if kind == "frame":
        return _read_blocks(place)
    if kind == "frame_table":
        return _table(place)
    raise InvalidInput(f"{key!r} is not a data frame of pandas ({kind!r})")


def _read_blocks(place: Any) -> Stored:
    """Blocks of columns of the same kind, side by side."""
    names: list[Any] = []
    blocks = []
    count = hdf5.attribute(place, "nblocks")
    for block in range(int(count or 0)):
        values = hdf5.array(place, f"block{block}_values")
        if values.dtype.kind not in "biuf" or values.ndim != 2:
            continue
        if not hdf5.attribute(hdf5.member(place, f"block{block}_values"), "transposed"):
            values = values.T
        labels = _labels(place, f"block{block}_items")
        if len(labels) != values.shape[1]:
            raise InvalidInput("it is damaged: a data frame with more columns than names")
        names += labels
        blocks.append(values.astype(np.float64))
    index = hdf5.array(place, "axis1")
    if not blocks or len({len(block) for block in blocks}) != 1 or len(index) != len(blocks[0]):
        raise InvalidInput("it is damaged: a data frame without rows of one length")
    return Stored(names, np.concatenate(blocks, axis=1), index)


def _labels(place: Any, name: str) -> list[Any]:
    levels = hdf5.attribute(place, f"{name}_nlevels")
    if hdf5.attribute(place, f"{name}_variety") != "multi":
        return hdf5.texts(place, name)
    columns = []
    for level in range(int(levels or 0)):
        names = hdf5.texts(place, f"{name}_level{level}")
        codes = hdf5.array(place, f"{name}_label{level}")
        if codes.dtype.kind not in "iu" or not ((codes >= 0) & (codes < len(names))).all():
            raise InvalidInput("it is damaged: names of columns that are not there")
        columns.append([names[code] for code in codes])
    return list(zip(*columns, strict=True))


def _table(place: Any) -> Stored:
    """Records with blocks of columns, whose names are pickled lists of texts."""
    records = hdf5.array(place, "table")
    table = hdf5.member(place, "table")
    names: list[Any] = []
    blocks = []
    for field in records.dtype.names or ():
        if field == "index" or records[field].dtype.kind not in "biuf":
            continue
        pickled = hdf5.raw_attribute(table, f"{field}_kind")
        values = records[field].astype(np.float64)
        labels: Any = [field]
        if pickled is not None:
            labels = plain_pickle.loads(pickled)
        values = values.reshape(len(records), -1)
        if not isinstance(labels, list) or len(labels) != values.shape[1]:
            raise InvalidInput("it is damaged: a data frame with more columns than names")
        if not all(map(_is_label, labels)):
            raise InvalidInput("it has a data frame with columns that have no texts for names")
        names += labels
        blocks.append(values)
    if not blocks:
        raise InvalidInput("it has a data frame without numbers")
    index = records["index"] if "index" in (records.dtype.names or ()) else np.arange(len(records))
    return Stored(names, np.concatenate(blocks, axis=1), index)


def _is_label(label: Any) -> bool:
    """Whether a column can have this name: a text, a number, or a tuple of them."""
    parts = label if isinstance(label, tuple) else (label,)
    return all(isinstance(part, str | int | float) for part in parts)
