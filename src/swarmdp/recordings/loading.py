"""`swarmdp.load`: what was saved, whatever it is."""

import os
from pathlib import Path
from typing import Any

from swarmdp.irl import result as fits
from swarmdp.model.trajectory import Trajectory
from swarmdp.recordings import swarm_files as saved
from swarmdp.recordings.analysis import FILE, KIND, Analysis
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.errors import FileError, SwarmdpError
from swarmdp.support.files import as_path
from swarmdp.support.netcdf import read_dataset

IN_FOLDERS = (FILE, fits.FILE, saved.FILE)  # the first that is there is what a folder holds


@checked
def load(path: str | os.PathLike[str]) -> Any:
    """Read what was saved: a fit, a trajectory, a swarm made from a recording, or an analysis.

    Warns if it carries no digest, such as after an edit elsewhere.

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
        If there is no such file, or it is damaged: its content is not what its digest says.

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
    source = as_path(path)
    if files.is_folder(source):
        there = [name for name in IN_FOLDERS if files.exists(source / name)]
        if not there:
            raise FileError(2, f"cannot read {path}: the folder has no {fits.FILE}")
        source = source / there[0]
    dataset, vouched = read_dataset(source)
    kind = dataset.attrs.get("kind")
    try:
        made = _made(kind if isinstance(kind, str) else "", dataset, source.parent)
    except FileError:
        raise
    except (SwarmdpError, KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise FileError(5, f"cannot read {source}: {_told(error)}") from error
    if not vouched:
        files.warn_without_digest(source)
    return made


def _made(kind: str, dataset: Any, folder: Path) -> Any:
    """What a dataset of this kind holds; the parts of an analysis are in its folder."""
    if kind == fits.KIND:
        return fits.Result.from_xarray(dataset)
    if kind == saved.KIND:
        return saved.swarm_from(dataset)
    if kind == KIND:
        return Analysis.from_xarray(dataset, load(folder / saved.FILE), load(folder / fits.FILE))
    return Trajectory.from_xarray(dataset)


def _told(error: Exception) -> str:
    """An error in one line; a KeyError names only what is missing."""
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).split("\n")[0]
