"""NetCDF files of the toolbox `movement`."""

from swarmdp.recordings.datasets import INDIVIDUALS, KEYPOINTS, POSITION, tracks_of_dataset
from swarmdp.recordings.formats import hdf5
from swarmdp.recordings.formats.source import TrackSource
from swarmdp.recordings.raw_tracks import Tracks
from swarmdp.support.errors import InvalidInput


def recognises(source: TrackSource) -> bool:
    """Whether it has positions over individuals."""
    return source.is_hdf5 and POSITION in source.names and bool({*INDIVIDUALS} & source.names)


def read(source: TrackSource) -> Tracks:
    """The tracks of all individuals."""
    import xarray

    with hdf5.open_hdf5(source.path) as file:
        position = hdf5.member(file, POSITION)
        dimensions = [_dimension(scales) for scales in position.dims]
        dataset = xarray.Dataset({POSITION: (dimensions, hdf5.array(file, POSITION))})
        for name in (*INDIVIDUALS, *KEYPOINTS):
            if name in dimensions and hdf5.has(file, name):
                dataset.coords[name] = hdf5.texts(file, name)
        if hdf5.has(file, "time"):
            dataset.coords["time"] = hdf5.array(file, "time")
        for name in ("fps", "time_unit", "space_unit"):
            value = hdf5.attribute(file, name)
            if value is not None:
                dataset.attrs[name] = value
        unit = hdf5.attribute(position, "units")
        if isinstance(unit, str):
            dataset[POSITION].attrs["units"] = unit
    return tracks_of_dataset(dataset, source.keypoint)


def _dimension(scales: object) -> str:
    names = list(scales)  # type: ignore[call-overload]
    if len(names) == 1:
        return str(scales[0].name).rsplit("/", 1)[-1]  # type: ignore[index]
    raise InvalidInput(f"{POSITION!r} does not say what its axes are")
