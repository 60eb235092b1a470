"""The groups and the bodies of the study: those for development, and those of the final table."""

import math
from collections.abc import Mapping
from dataclasses import replace

from studies.bodies.bodies import Biased, Body, Broken, Delayed, Heavy, Limited, Wheels
from studies.bodies.groups import Flock, Group, School

DEVELOPMENT, FINAL = "development", "run once"
GROUPS: Mapping[str, Group] = {"flock": Flock(), "school": School()}


def bodies_of(part: str, group: str) -> dict[str, Body]:
    """The bodies of a part of the study, by name."""
    points = GROUPS[group]
    return _developed(points) if part == DEVELOPMENT else _final(points)


def _developed(points: Group) -> dict[str, Body]:
    """Those with which the study was made."""
    return {
        "torques": Heavy(points, 0.7, keep=0.92, torque=math.radians(24)),
        "half wired wrongly": Broken(points, wiring=-1.0),
        "bias": Biased(points, bias=math.radians(30)),
        "slow and heavy": Heavy(points, 0.4, keep=0.95, torque=math.radians(12)),
        "wheels": Wheels(points, 0.7, keep=0.8, axle=0.6),
        "delay": Delayed(points, 0.5, delay=1),
        "half dead": Broken(points, wiring=0.0),
        "limited": Limited(points, 0.6, rate=math.radians(60), change=math.radians(12)),
        **_corridor(points, 2.0, 0.5),
    }


def _final(points: Group) -> dict[str, Body]:
    """Those of the table: their numbers were chosen last, and run once.

    In the school, where planning takes longest, only five of them.
    """
    if isinstance(points, School):
        return {
            "torques": Heavy(points, 0.5, keep=0.9, torque=math.radians(24)),
            "half wired wrongly": Broken(points, 0.8, wiring=-1.0),
            "bias": Biased(points, 0.8, bias=math.radians(20)),
            "slow and heavy": Heavy(points, 0.4, keep=0.94, torque=math.radians(15)),
            "wheels": Wheels(points, 0.6, keep=0.82, axle=0.55),
        }
    return {
        "torques": Heavy(points, 0.8, keep=0.9, torque=math.radians(21)),
        "half wired wrongly": Broken(points, 0.8, wiring=-1.0),
        "bias": Biased(points, 0.8, bias=math.radians(40)),
        "slow and heavy": Heavy(points, 0.3, keep=0.94, torque=math.radians(12)),
        "wheels": Wheels(points, 0.55, keep=0.9, axle=0.35),
        "delay": Delayed(points, 0.45, delay=1),
        "half dead": Broken(points, 0.8, wiring=0.0),
        "limited": Limited(points, 0.5, rate=math.radians(45), change=math.radians(9)),
        **_corridor(points, 2.5, 0.4),
    }


def _corridor(points: Group, length: float, width: float) -> dict[str, Body]:
    """Points between two walls, where there is a box."""
    if not isinstance(points, Flock):
        return {}
    return {"corridor": Body(replace(points, box=length, corridor=width))}
