"""Swarms made from recordings as arrays and plain data, for files."""

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from swarmdp.model.features import Product
from swarmdp.model.features.plain import describe_features, features_from
from swarmdp.recordings import arena as arenas
from swarmdp.recordings.calibration import Noise, Wandering
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.outsiders import Outsiders
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.swarm import CLOCK, STATE, Swarm
from swarmdp.recordings.view import View
from swarmdp.support.errors import InvalidInput
from swarmdp.support.saved import SWARM, Packed, arrays_with_prefix

if TYPE_CHECKING:
    import xarray

_SEEN, _RECORDED = "outsiders_seen", "outsiders_recorded"  # at decisions, and in all frames
FRAME_PREFIX = "frame_"  # what variables of recorded frames begin with


def pack_swarm(swarm: Swarm) -> Packed:
    """A swarm, with the decisions from which it was made."""
    packed = Packed()
    packed.add("wobble", swarm.wobble)
    packed.add("speeds", swarm.speeds)
    packed.arrays["habits"] = swarm.habits
    packed.arrays.update({FRAME_PREFIX + name: array for name, array in swarm.frames.items()})
    seen = {field.name: getattr(swarm.view, field.name) for field in fields(swarm.view)}
    packed.plain["view"] = seen | {
        "features": describe_features(swarm.view.features),
        "arena": arenas.describe_arena(swarm.view.arena),
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
        pack_decisions(packed, swarm.decisions)
    return packed


def unpack_swarm(packed: Packed) -> Swarm:
    """The swarm that was put in; raises InvalidInput if it is not the same."""
    seen, plain = dict(packed.plain["view"]), dict(packed.plain["swarm"])
    features = features_from(seen["features"])
    if not isinstance(features, Product):
        raise InvalidInput("its classes of observations cannot be made again")
    view = View(**seen | {"features": features, "arena": arenas.restore_arena(seen["arena"])})
    frames = {
        name: packed.arrays[FRAME_PREFIX + name]
        for name in (*STATE, CLOCK)
        if name in STATE or FRAME_PREFIX + name in packed.arrays
    }
    made = Swarm(
        view,
        tuple(plain["choices"]),
        packed.take(Noise, "wobble"),
        packed.take(Wandering, "speeds"),
        frames,
        packed.arrays["habits"],
        plain["dt"],
        plain["unit"],
        plain["touched"],
        plain["tried"],
        unpack_decisions(packed) if "decisions" in packed.plain else None,
    )
    made.check_state(frames)
    if len(made.habits) != features.size:
        raise InvalidInput(
            f"its habits are of {len(made.habits)} classes, its observation has {features.size}"
        )
    if json.loads(json.dumps(made.settings)) != packed.plain["settings"]:
        raise InvalidInput("its settings are not those of the swarm that it holds")
    return made


def pack_decisions(packed: Packed, decisions: Decisions) -> None:
    """Put decisions in, with the outsiders that were seen."""
    packed.add("decisions", replace(decisions, outsiders=None))
    if decisions.outsiders is not None:
        packed.add(_SEEN, decisions.outsiders)


def unpack_decisions(packed: Packed) -> Decisions:
    """The decisions that were put in."""
    decisions = packed.take(Decisions, "decisions")
    if _SEEN not in packed.plain:
        return decisions
    return replace(decisions, outsiders=packed.take(Outsiders, _SEEN))


def pack_recording(packed: Packed, recording: Recording) -> None:
    """Put a recording in."""
    packed.add("recording", replace(recording, outsiders=None))
    if recording.outsiders is not None:
        packed.add(_RECORDED, recording.outsiders)
    packed.plain["recording"]["arena"] = arenas.describe_arena(recording.arena)


def unpack_recording(packed: Packed) -> Recording:
    """The recording that was put in."""
    plain = dict(packed.plain["recording"])
    for name in ("individuals", "notes", "starts"):
        plain[name] = tuple(plain[name])
    plain["arena"] = arenas.restore_arena(plain["arena"])
    if plain.get("kinds") is not None:
        plain["kinds"] = tuple(plain["kinds"])
    arrays = arrays_with_prefix(packed.arrays, "recording_")
    others = packed.take(Outsiders, _RECORDED) if _RECORDED in packed.plain else None
    return Recording(**plain | arrays | {"outsiders": others})


def swarm_dataset(swarm: Swarm) -> "xarray.Dataset":
    """A swarm as a dataset."""
    return pack_swarm(swarm).dataset(SWARM)


def swarm_from(dataset: "xarray.Dataset") -> Swarm:
    """The swarm in a dataset."""
    return unpack_swarm(Packed.of(dataset, SWARM))
