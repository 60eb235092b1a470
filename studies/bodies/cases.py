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
    corridor = {"corridor": Body(replace(points, box=2.0, corridor=0.5))} if isinstance(points, Flock) else {}
    return {
        "wheels": Wheels(points, keep=0.8, axle=0.6),
        "torques": Heavy(points, keep=0.92, torque=math.radians(24)),
        "limited": Limited(points, rate=math.radians(60), change=math.radians(15)),
        "delay": Delayed(points, delay=1),
        "bias": Biased(points, bias=math.radians(30)),
        "slow and heavy": Heavy(points, keep=0.95, torque=math.radians(15), pace=0.5),
        "half wired wrongly": Broken(points, wiring=-1.0),
        "half dead": Broken(points, wiring=0.0),
        **corridor,
    }
