"""How the rule of speeds becomes a part of a controller."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.recordings.speed_rule import SpeedRule
from swarmdp.recordings.zonal import Response, ZonalController

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

PULL = "others ahead"


def with_responses(
    controller: ZonalController, swarm: "Swarm", rule: SpeedRule | None
) -> ZonalController:
    """The controller with the reactions of speeds that a recording shows; the same without any.

    Parameters
    ----------
    controller
        Of the swarm.
    swarm
        Whose speeds wander; their spread tells how many normal scores a change of speed is.
    rule
        What was found in the recording, if anything.

    """
    if rule is None or not rule.parts:
        return controller
    spread = float(np.std(swarm.decisions.speeds[swarm.decisions.known])) if swarm.decisions else 0
    if not spread > 0:
        return controller
    found = rule.part(PULL)
    return replace(
        controller,
        responses=tuple(Response(part.component, part.reach, part.gain) for part in rule.parts),
        contact=rule.contact,
        speed_spread=spread,
        # The same reaction must not count twice.
        hurry=controller.hurry if found is None else 0.0,
    )
