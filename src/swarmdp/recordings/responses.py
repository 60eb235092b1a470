"""How the rule of speeds becomes a part of a controller.

Recorded speeds wander, and their wandering already contains every brake and every spurt. So with
reactions the rest must wander less: the next normal score of a speed is regressed on the score and
on what others ask for, at recorded decisions. Its constant keeps the mean speed as it was, its
coefficients are memory and size of the reactions, and what is left is the noise.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.recordings.speed_rule import SPEED_COMPONENTS, SpeedRows, SpeedRule, speed_rows
from swarmdp.recordings.zonal import Response, ZonalController
from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

PULL = "others ahead"
LEAST_NOISE = 0.05  # of the scores of speeds
MOST_MEMORY = 0.99
MOST_TOGETHER = 0.95  # correlation of what is left of speeds


def with_responses(
    controller: ZonalController, swarm: "Swarm", rule: SpeedRule | None
) -> ZonalController:
    """The controller with the reactions of speeds that a recording shows; the same without any.

    Parameters
    ----------
    controller
        Of the swarm.
    swarm
        Whose speeds wander; its decisions tell how they do beside their reactions.
    rule
        What was found in the recording, if anything.

    """
    if rule is None or not rule.parts or swarm.decisions is None:
        return controller
    spread = float(np.std(swarm.decisions.speeds[swarm.decisions.known]))
    if not spread > 0:
        return controller
    turning = tuple(
        Response(part.component, part.reach, part.gain)
        for part in rule.parts
        if SPEED_COMPONENTS[part.component].action == "turn"
    )
    found = replace(controller, responses=turning, contact=rule.contact, speed_spread=spread)
    if not any(part.action == "speed" for part in rule.parts):
        return found
    rows = speed_rows(swarm.decisions, swarm.arena, rule.contact)
    asked = asked_of_speeds(rows, rule) / spread
    here, later = (swarm.speeds.scores(values) for values in (rows.speed, rows.speed + rows.change))
    columns = np.stack([np.ones(len(here)), here, asked], axis=1)
    rest, memory, size = np.linalg.lstsq(columns, later, rcond=None)[0]
    left = later - columns @ np.array([rest, memory, size])
    if not size > 0:  # beside their memory, scores do not react as speeds do
        return found
    return replace(
        found,
        responses=(
            *turning,
            *(
                Response(part.component, part.reach, float(size) * part.gain)
                for part in rule.parts
                if part.action == "speed"
            ),
        ),
        speed_memory=float(np.clip(memory, 0.0, MOST_MEMORY)),
        speed_noise=max(float(left.std()), LEAST_NOISE),
        speed_rest=float(rest),
        together=_together(rows, left),
        # The same reaction must not count twice.
        hurry=controller.hurry if rule.part(PULL) is None else 0.0,
    )


def asked_of_speeds(rows: SpeedRows, rule: SpeedRule) -> Floats:
    """The change of speed that others ask for (rows,), in units a second."""
    parts = [part for part in rule.parts if part.action == "speed"]
    columns = [
        part.gain * SPEED_COMPONENTS[part.component].column(rows, part.reach) for part in parts
    ]
    return np.asarray(np.sum(columns, axis=0))


def _together(rows: SpeedRows, left: Floats) -> float:
    """The correlation of what is left of the speeds of different individuals at a time."""
    _, time, count = np.unique(rows.time, return_inverse=True, return_counts=True)
    total, own = np.bincount(time, left), np.bincount(time, left**2)
    pairs = (total**2 - own)[count > 1] / (count[count > 1] - 1)
    both = float(own[count > 1].sum())
    if not both > 0 or math.isnan(both):
        return 0.0
    return float(np.clip(pairs.sum() / both, 0.0, MOST_TOGETHER))
