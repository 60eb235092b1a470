"""Arrays in files of MATLAB, of versions 5 to 7 and 7.3 (which is HDF5)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.formats import hdf5
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support import files
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_HEAD = b"MATLAB"
_RATES = ("fps", "framerate", "frame_rate", "framespersecond", "frames_per_second")
_KINDS = {"double", "single"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def recognises(source: TrackSource) -> bool:
    """Whether it begins as MATLAB's files do."""
    return source.head.startswith(_HEAD)


def read(source: TrackSource) -> Tracks:
    """The tracks in one array (time, individual, axis), or in matrices x and y."""
    shapes = _shapes(source)
    variable, order = _choose_variable(shapes, dict(source.columns or {}))
    rates = [name for name in shapes if name.lower() in _RATES and np.prod(shapes[name]) == 1]
    arrays = _arrays(source, {*variable, *rates[:1]})
    notes = [f"positions: {', '.join(map(repr, variable))}"] if not source.columns else []
    if len(variable) == 1:
        positions = _move_axes(arrays[variable[0]], variable[0], notes)
    else:
        positions = _stack([arrays[name] for name in variable], variable, notes)
    fps = float(np.ravel(arrays[rates[0]])[0]) if rates else None
    if fps is not None and not (np.isfinite(fps) and fps > 0):
        fps = None
    return Tracks(positions, None, fps, notes=tuple(notes + order))


def _choose_variable(
    shapes: dict[str, tuple[int, ...]], columns: dict[str, str]
) -> tuple[list[str], list[str]]:
    """The names of the arrays that hold the positions."""
    listed = ", ".join(f"{name!r} {shape}" for name, shape in list(shapes.items())[:12]) or "none"
    for role, name in columns.items():
        if role not in ("positions", "x", "y", "z"):
            raise InvalidInput(
                'of MATLAB, columns names the arrays: {"positions": ...} or {"x": ..., "y": ...}, '
                f"got {brief(role)}"
            )
        if name not in shapes:
            raise InvalidInput(f"there is no array {brief(name)}; there is: {listed}")
    if "positions" in columns:
        return [columns["positions"]], []
    if columns:
        if not {"x", "y"} <= set(columns):
            raise InvalidInput('columns must name both "x" and "y"')
        return [columns[axis] for axis in "xyz" if axis in columns], []
    cubes = [name for name, shape in shapes.items() if len(shape) == 3 and {2, 3} & set(shape)]
    if len(cubes) == 1:
        return cubes, []
    lower = {name.lower(): name for name in shapes if len(shapes[name]) == 2}
    if not cubes and {"x", "y"} <= set(lower):
        return [lower[axis] for axis in "xyz" if axis in lower], []
    problem = "several arrays" if cubes else "no array"
    raise InvalidInput(
        f'{problem} may be the positions: name it, columns={{"positions": ...}}, or matrices '
        f'{{"x": ..., "y": ...}}; there is: {listed}'
    )


def _move_axes(array: NDArray[Any], name: str, notes: list[str]) -> NDArray[np.float64]:
    """An array of three axes as (time, individual, axis)."""
    if array.ndim != 3 or array.dtype.kind not in "iuf":
        raise InvalidInput(f"{name!r} must be numbers with three axes, got {brief(array)}")
    small = [axis for axis in range(3) if array.shape[axis] in (2, 3)]
    if not small:
        raise InvalidInput(f"{name!r} must have an axis of length 2 or 3, got {array.shape}")
    space = 2 if 2 in small else small[0]
    if len(small) > 1 and 2 not in small:
        raise InvalidInput(f"nobody can tell which axis of {name!r} {array.shape} is x and y")
    others = [axis for axis in range(3) if axis != space]
    time, individual = sorted(others, key=lambda axis: -array.shape[axis])
    if array.shape[time] == array.shape[individual]:
        time, individual = others
    notes.append(
        f"guessed: of {name!r} {array.shape}, axis {time + 1} is the time (the longest), axis "
        f"{individual + 1} the individual, axis {space + 1} the coordinate"
    )
    moved = np.transpose(array, (time, individual, space))
    return np.ascontiguousarray(moved, dtype=np.float64)


def _stack(arrays: list[NDArray[Any]], names: list[str], notes: list[str]) -> NDArray[np.float64]:
    """Matrices of one coordinate each as (time, individual, axis)."""
    shape = arrays[0].shape
    for name, array in zip(names, arrays, strict=True):
        if array.ndim != 2 or array.dtype.kind not in "iuf" or array.shape != shape:
            raise InvalidInput(
                f"{name!r} must be a matrix of numbers of the shape {shape}, got {brief(array)}"
            )
    if shape[0] < shape[1]:
        arrays = [array.T for array in arrays]
    notes.append(
        f"guessed: of the matrices {shape}, axis {2 if shape[0] < shape[1] else 1} is the time "
        "(the longest)"
    )
    return np.stack(arrays, axis=2).astype(np.float64)


def _shapes(source: TrackSource) -> dict[str, tuple[int, ...]]:
    """The arrays of numbers and their shapes in MATLAB's order."""
    if source.is_hdf5:
        import h5py

        shapes = {}
        with hdf5.open_hdf5(source.path) as file:
            for name in source.names:
                if name.startswith("#") or not hdf5.is_netcdf_of_swarmdp(file, name):
                    continue
                if isinstance(file[name], h5py.Dataset) and file[name].dtype.kind in "iuf":
                    shapes[name] = tuple(file[name].shape[::-1])
        return dict(sorted(shapes.items()))
    from scipy.io import whosmat

    with files.reading(source.path) as file:
        return {name: shape for name, shape, kind in whosmat(file) if kind in _KINDS}


def _arrays(source: TrackSource, names: set[str]) -> dict[str, NDArray[Any]]:
    if source.is_hdf5:
        with hdf5.open_hdf5(source.path) as file:
            return {name: hdf5.array(file, name).T for name in names}
    from scipy.io import loadmat

    shapes = _shapes(source)
    size = sum(8.0 * np.prod(shapes[name], dtype=float) for name in names)
    check_memory(4 * size, "to read it", "Save a part of the recording")
    with files.reading(source.path) as file:
        loaded = loadmat(file, variable_names=sorted(names))
    return {name: np.asarray(loaded[name]) for name in names}
