"""Datasets of xarray as the toolbox `movement` makes them, with its old and new dimension names."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    import xarray

POSITION = "position"
INDIVIDUALS = ("individuals", "individual")
KEYPOINTS = ("keypoints", "keypoint")


def tracks_of_dataset(dataset: "xarray.Dataset", keypoint: str | None) -> Tracks:
    """The positions of one key point of all individuals."""
    if POSITION not in dataset:
        raise InvalidInput(
            f"a dataset must have a variable {POSITION!r}, as those of movement have, got "
            f"{', '.join(map(repr, dataset.data_vars)) or 'none'}"
        )
    position = dataset[POSITION]
    many = next((name for name in INDIVIDUALS if name in position.dims), None)
    if many is None or not {"time", "space"} <= set(position.dims):
        raise InvalidInput(
            f"{POSITION!r} must have the dimensions time, space and individuals, got "
            f"{', '.join(map(str, position.dims))}"
        )
    points = next((name for name in KEYPOINTS if name in position.dims), None)
    notes: tuple[str, ...] = ()
    if points is not None:
        names = [str(name) for name in _labels(position, points)]
        chosen, notes = chosen_keypoint(names, keypoint)
        position = position.isel({points: chosen})
    elif keypoint is not None:
        raise InvalidInput(f"there are no key points to choose {brief(keypoint)} from")
    position = position.transpose("time", many, "space")
    values = np.ascontiguousarray(position.values, dtype=np.float64)
    individuals = tuple(str(name) for name in _labels(position, many))
    return Tracks(
        values, individuals, _rate(dataset, position), _unit(dataset, position), notes=notes
    )


def chosen_keypoint(names: list[str], keypoint: str | None) -> tuple[int, tuple[str, ...]]:
    """The index of a key point; raises InvalidInput if one must be chosen or is not there."""
    listed = ", ".join(map(repr, names[:20])) + (" ..." if len(names) > 20 else "")
    if keypoint is None:
        if len(names) == 1:
            return 0, ()
        raise InvalidInput(
            f"each individual has {len(names)} key points: choose the one that stands for it, "
            f"keypoint= one of {listed}"
        )
    if keypoint not in names:
        raise InvalidInput(f"keypoint must be one of {listed}, got {brief(keypoint)}")
    return names.index(keypoint), (f"the key point {keypoint!r} stands for the individual",)


def _labels(array: "xarray.DataArray", dimension: str) -> NDArray[Any]:
    if dimension in array.coords:
        return np.asarray(array.coords[dimension].values)
    return np.arange(array.sizes[dimension])


def _rate(dataset: "xarray.Dataset", position: "xarray.DataArray") -> float | None:
    """Frames per second, as an attribute says or as times in seconds tell."""
    told_rate = dataset.attrs.get("fps")
    if isinstance(told_rate, int | float | np.number) and np.isfinite(told_rate) and told_rate > 0:
        return float(told_rate)
    if dataset.attrs.get("time_unit") != "seconds" or "time" not in position.coords:
        return None
    steps = np.diff(np.asarray(position.coords["time"].values, dtype=np.float64))
    if not len(steps) or not (steps > 0).all():
        return None
    if not np.allclose(steps, steps[0], rtol=0.25):
        raise InvalidInput("the times of the dataset are not evenly spaced: interpolate it first")
    return float(1 / np.median(steps))


def _unit(dataset: "xarray.Dataset", position: "xarray.DataArray") -> str | None:
    unit = position.attrs.get("units") or dataset.attrs.get("space_unit")
    return unit if isinstance(unit, str) and unit not in ("", "1") else None
