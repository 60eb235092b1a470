"""Swarms made from recordings, decisions and recordings as arrays and plain data, for files.

A file is NetCDF with a digest (`netcdf.py`): arrays are its variables, everything else is one
attribute in JSON. Numbers come back as they were, to the last bit.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.model.features import Product
from swarmdp.model.features.plain import describe_features, features_from
from swarmdp.recordings import arena as arenas
from swarmdp.recordings.calibration import Noise, Wandering
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.observation import View
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.swarm import STATE, Swarm
from swarmdp.support.errors import InvalidInput
from swarmdp.support.netcdf import integer_of, settings_of, text_of

if TYPE_CHECKING:
    import xarray

KIND, FORMAT, FILE = "swarmdp swarm", 1, "swarm.nc"
FRAME = "frame_"  # what variables of recorded frames begin with

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Packed:
    """Arrays by name, and plain data by name, on the way to a file or from it."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, made: Any) -> None:
        """Put the fields of a dataclass in: arrays, and numbers and texts."""
        self.plain[name] = {}
        for each in fields(made):
            value = getattr(made, each.name)
            if isinstance(value, np.ndarray):
                self.arrays[f"{name}_{each.name}"] = value
            else:
                self.plain[name][each.name] = value

    def take(self, kind: type[Made], name: str) -> Made:
        """The dataclass that was put in under this name."""
        start = f"{name}_"
        own = {n[len(start) :]: a for n, a in self.arrays.items() if n.startswith(start)}
        return kind(**self._of(name), **own)

    def _of(self, name: str) -> dict[str, Any]:
        found = self.plain.get(name)
        if not isinstance(found, dict):
            raise InvalidInput(f"its part {name!r} is missing")
        return found

    def dataset(self, kind: str, version: int) -> "xarray.Dataset":
        """All of it as a dataset."""
        import xarray

        data = {
            name: (tuple(f"{name}_{n}" for n in range(array.ndim)), array)
            for name, array in self.arrays.items()
        }
        attributes = {
            "kind": kind,
            "format": version,
            "swarmdp_version": __version__,
            "content": json.dumps(self.plain, default=np.generic.item),
        }
        return xarray.Dataset(data, None, attributes)

    @classmethod
    def of(cls, dataset: "xarray.Dataset", kind: str, version: int) -> "Packed":
        """What a dataset holds; raises InvalidInput if it is of another kind or format."""
        if text_of(dataset.attrs, "kind", "") != kind:
            raise InvalidInput(f"this is not a {kind.removeprefix('swarmdp ')} of swarmdp")
        if (found := integer_of(dataset.attrs, "format", 0)) != version:
            remedy = "update swarmdp" if found > version else "make it again from the recording"
            raise InvalidInput(
                f"written by swarmdp {dataset.attrs.get('swarmdp_version', '?')} in format "
                f"{found}, this is {__version__} and reads format {version}: {remedy}"
            )
        arrays = {str(n): np.ascontiguousarray(a.values) for n, a in dataset.data_vars.items()}
        return cls(arrays, settings_of(dataset.attrs, "content"))


def pack_swarm(swarm: Swarm) -> Packed:
    """A swarm, with the decisions from which it was made."""
    packed = Packed()
    packed.add("wobble", swarm.wobble)
    packed.add("speeds", swarm.speeds)
    packed.arrays["habits"] = swarm.habits
    packed.arrays.update({FRAME + name: array for name, array in swarm.frames.items()})
    seen = {each.name: getattr(swarm.view, each.name) for each in fields(swarm.view)}
    packed.plain["view"] = seen | {
        "features": describe_features(swarm.view.features),
        "arena": arenas.described(swarm.view.arena),
    }
    packed.plain["swarm"] = {
        "choices": list(swarm.choices),
        "dt": swarm.dt,
        "unit": swarm.unit,
        "touched": swarm.touched,
        "tried": dict(swarm.tried),
    }
    packed.plain["settings"] = swarm.settings
    if swarm.decisions is not None:
        packed.add("decisions", swarm.decisions)
    return packed


def unpack_swarm(packed: Packed) -> Swarm:
    """The swarm that was put in; raises InvalidInput if it is not the same."""
    seen, own = dict(packed.plain["view"]), dict(packed.plain["swarm"])
    features = features_from(seen["features"])
    if not isinstance(features, Product):
        raise InvalidInput("its classes of observations cannot be made again")
    view = View(**seen | {"features": features, "arena": arenas.restored(seen["arena"])})
    frames = {name: packed.arrays[FRAME + name] for name in STATE}
    made = Swarm(
        view,
        tuple(own["choices"]),
        packed.take(Noise, "wobble"),
        packed.take(Wandering, "speeds"),
        frames,
        packed.arrays["habits"],
        own["dt"],
        own["unit"],
        own["touched"],
        own["tried"],
        packed.take(Decisions, "decisions") if "decisions" in packed.plain else None,
    )
    made.check_state(frames)
    if len(made.habits) != features.size:
        raise InvalidInput(
            f"its habits are of {len(made.habits)} classes, its observation has {features.size}"
        )
    if _plain(made.settings) != packed.plain["settings"]:
        raise InvalidInput("its settings are not those of the swarm that it holds")
    return made


def unpack_recording(packed: Packed) -> Recording:
    """The recording that was put in."""
    plain = dict(packed.plain["recording"])
    plain["individuals"] = tuple(plain["individuals"])
    plain["notes"] = tuple(plain["notes"])
    return Recording(packed.arrays["recording_positions"], **plain)


def _plain(settings: Mapping[str, Any]) -> Any:
    """Settings as they come back from a file."""
    return json.loads(json.dumps(dict(settings)))


def swarm_dataset(swarm: Swarm) -> "xarray.Dataset":
    """A swarm as a dataset."""
    return pack_swarm(swarm).dataset(KIND, FORMAT)


def swarm_from(dataset: "xarray.Dataset") -> Swarm:
    """The swarm in a dataset."""
    return unpack_swarm(Packed.of(dataset, KIND, FORMAT))
