"""Saved files: one table of their kinds, one way to pack results into them, and `swarmdp.load`.

A file is NetCDF with a digest (`netcdf.py`). Its attributes say what kind of file it is, in which
format, and by which version it was written. A new kind is a row of the table.
"""

import importlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.support import files, folders
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpError
from swarmdp.support.netcdf import integer_of, read_dataset, settings_of, text_of

if TYPE_CHECKING:
    import xarray

Made = TypeVar("Made")


@dataclass(frozen=True)
class SavedKind:
    """A kind of saved file.

    Parameters
    ----------
    name
        What the attribute "kind" of a file says.
    formats
        The numbers of the formats that can be read; the last one is written. From 0.3.0 on a new
        format is added at the end, and none is taken away.
    reader
        "module:function" of the dataset and of what the files of `parts` hold. It is imported when
        it is needed, since it belongs to a layer above.
    remedy
        What to do about a file whose format is too old.
    file
        What the file is called in a folder; empty if it may have any name.
    parts
        Kinds of the files beside it, without which it cannot be read.

    """

    name: str
    formats: tuple[int, ...]
    reader: str
    remedy: str
    file: str = ""
    parts: tuple["SavedKind", ...] = ()

    def attributes(self, version: str = __version__) -> dict[str, Any]:
        """The attributes that every file of this kind has."""
        return {"kind": self.name, "format": self.formats[-1], "swarmdp_version": version}

    def check(self, dataset: "xarray.Dataset") -> Mapping[Any, Any]:
        """The attributes of a dataset; raises InvalidInput if it is of another kind or format."""
        check_dataset(dataset)
        attributes = dataset.attrs
        if (name := text_of(attributes, "kind", "")) != self.name:
            raise InvalidInput(f"its attribute 'kind' must be {self.name!r}, got {name!r}")
        number = integer_of(attributes, "format", 0)
        if number not in self.formats:
            remedy = "update swarmdp" if number > self.formats[-1] else self.remedy
            raise InvalidInput(
                f"written by swarmdp {attributes.get('swarmdp_version', '?')} in format {number}, "
                f"this is {__version__} and reads format {', '.join(map(str, self.formats))}: "
                f"{remedy}"
            )
        return attributes

    def read(self, dataset: "xarray.Dataset", folder: Path) -> Any:
        """What a dataset of this kind holds; its parts are read from the folder."""
        module, _, name = self.reader.partition(":")
        reader: Any = reduce(getattr, name.split("."), importlib.import_module(module))
        return reader(dataset, *(load(folder / part.file) for part in self.parts))


TRAJECTORY = SavedKind(
    "swarmdp trajectory",
    (1,),
    "swarmdp.model.trajectory:Trajectory.from_xarray",
    "record it again",
)
FIT = SavedKind(
    "swarmdp fit", (5,), "swarmdp.irl.result:Result.from_xarray", "fit again", "result.nc"
)
SWARM = SavedKind(
    "swarmdp swarm",
    (1,),
    "swarmdp.recordings.swarm_files:swarm_from",
    "make it again from the recording",
    "swarm.nc",
)
ANALYSIS = SavedKind(
    "swarmdp analysis",
    (1, 2),
    "swarmdp.recordings.analysis:Analysis.from_xarray",
    "make it again from the recording",
    "analysis.nc",
    (SWARM, FIT),
)
SPACE_ANALYSIS = SavedKind(
    "swarmdp analysis in space",
    (1,),
    "swarmdp.recordings.space.analysis:SpaceAnalysis.from_xarray",
    "make it again from the recording",
    "space_analysis.nc",
)
SAVED_KINDS = (ANALYSIS, SPACE_ANALYSIS, FIT, SWARM, TRAJECTORY)
IN_FOLDERS = tuple(kind.file for kind in SAVED_KINDS if kind.file)  # the first one there is opened


@checked
def load(path: str | os.PathLike[str]) -> Any:
    """Read what was saved: a fit, a trajectory, a swarm made from a recording, or an analysis.

    Warns if it carries no digest, such as after an edit elsewhere, and if the files of a folder are
    of different runs.

    Parameters
    ----------
    path
        A file, or the folder of an analysis, of a fit or of a swarm.

    Returns
    -------
    Result, Trajectory, Swarm or Analysis
        What the file or folder holds.

    Raises
    ------
    FileError
        If there is no such file, or it is damaged: its content is not what its digest says. If it
        was written by a later version, in a format that this one does not know.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "demo.nc"
    ...     _ = swarmdp.rollout(ising, ising.expert, steps=4, seed=1).save(file)
    ...     demo = swarmdp.load(file)
    ...
    >>> demo.steps
    4

    """
    source = files.as_path(path)
    if files.is_folder(source):
        folders.settle(source)
        there = [name for name in IN_FOLDERS if files.exists(source / name)]
        if not there:
            unfinished = files.exists(source / folders.UNFINISHED / FIT.file)
            hint = "; a run was stopped there, continue it with --resume" if unfinished else ""
            raise FileError(2, f"cannot read {path}: the folder has no {FIT.file}{hint}")
        folders.warn_if_mixed(source, there[0])
        source = source / there[0]
    dataset, vouched = read_dataset(source)
    kinds = {kind.name: kind for kind in SAVED_KINDS}
    try:
        name = text_of(dataset.attrs, "kind", "")
        if name not in kinds:
            raise InvalidInput("it was not made by swarmdp (attribute 'kind')")
        content = kinds[name].read(dataset, source.parent)
    except FileError:
        raise
    except (SwarmdpError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise FileError(5, f"cannot read {source}: {_in_one_line(error)}") from error
    if not vouched:
        files.warn_without_digest(source)
    return content


def _in_one_line(error: Exception) -> str:
    """An error in words; a KeyError names only what is missing."""
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).split("\n")[0]


def check_dataset(dataset: object) -> None:
    """Raise InvalidInput unless it is a dataset of xarray."""
    import xarray

    if not isinstance(dataset, xarray.Dataset):
        raise InvalidInput(
            f"dataset must be an xarray.Dataset that to_xarray made, got {brief(dataset)}"
        )


def arrays_with_prefix(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


@dataclass(frozen=True, eq=False)
class Packed:
    """Arrays by name, and plain data by name, on the way to a file or from it.

    Arrays become variables; everything else is one attribute in JSON. Numbers come back as they
    were, to the last bit.
    """

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, part: Any) -> None:
        """Put the fields of a dataclass in: arrays, and numbers and texts."""
        self.plain[name] = {}
        for place in fields(part):
            value = getattr(part, place.name)
            if isinstance(value, np.ndarray):
                self.arrays[f"{name}_{place.name}"] = value
            else:
                self.plain[name][place.name] = value

    def take(self, kind: type[Made], name: str) -> Made:
        """The dataclass that was put in under this name."""
        plain = self.plain.get(name)
        if not isinstance(plain, dict):
            raise InvalidInput(f"its part {name!r} is missing")
        return kind(**plain, **arrays_with_prefix(self.arrays, f"{name}_"))

    def dataset(self, kind: SavedKind) -> "xarray.Dataset":
        """All of it as a dataset."""
        import xarray

        data = {
            name: (tuple(f"{name}_{n}" for n in range(array.ndim)), array)
            for name, array in self.arrays.items()
        }
        content = json.dumps(self.plain, default=np.generic.item)
        return xarray.Dataset(data, None, kind.attributes() | {"content": content})

    @classmethod
    def of(cls, dataset: "xarray.Dataset", kind: SavedKind) -> "Packed":
        """What a dataset holds; raises InvalidInput if it is of another kind or format."""
        attributes = kind.check(dataset)
        arrays = {str(n): np.ascontiguousarray(a.values) for n, a in dataset.data_vars.items()}
        return cls(arrays, settings_of(attributes, "content"))
