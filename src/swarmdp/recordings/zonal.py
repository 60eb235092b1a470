"""Zonal controllers: agents that turn for others in zones, for the wall and for their last turn.

A controller is a rule (`rule.py`) that acts: its mean turn is the sum over the components, each
with a gain and a zone of its own, or with priority of repulsion; to it comes a noise with the
distribution that was recorded. Turns are continuous. Walls are avoided as recorded individuals
avoid them; reflection is the last resort.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.kernels.recorded.zonal import (
    ALONG_GAIN,
    ALONG_NEAREST,
    ALONG_RADIUS,
    AWAY_GAIN,
    AWAY_RADIUS,
    LAST_TURN,
    PRIORITY,
    TO_GAIN,
    TO_INNER,
    TO_NEAREST,
    TO_RADIUS,
    WALL_GAIN,
    WALL_REACH,
    ZONAL_NUMBERS,
)
from swarmdp.model.features import Angles
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State
from swarmdp.recordings.calibration import LARGEST_SCORE
from swarmdp.recordings.zone_models import ALIGNMENT, ATTRACTION, REPULSION, ZoneModel
from swarmdp.support.arrays import Floats
from swarmdp.support.rounding import rounded

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

_ALL = 1e9  # radius of a zone without end
_SAME = 1e-9  # radians by which a turn may differ from the one that was meant, by rounding
_COLUMNS = {
    ALIGNMENT: (ALONG_RADIUS, ALONG_NEAREST, ALONG_GAIN),
    ATTRACTION: (TO_RADIUS, TO_NEAREST, TO_GAIN),
}


@dataclass(frozen=True)
class ZonalController:
    """The numbers of a zonal controller.

    Parameters
    ----------
    model
        Structure and zones.
    gains
        In radians, for each column of the model.
    previous
        The share of the last turn that is turned again.
    wall, wall_reach
        The turn away from the wall at the wall, and from how far it is avoided.
    noise
        Times the recorded noise of turns.

    """

    model: ZoneModel
    gains: tuple[float, ...]
    previous: float
    wall: float
    wall_reach: float
    noise: float

    @property
    def row(self) -> Floats:
        """The controller as the kernel takes it (ZONAL_NUMBERS,)."""
        row = np.zeros(ZONAL_NUMBERS)
        row[[LAST_TURN, WALL_GAIN, WALL_REACH]] = self.previous, self.wall, self.wall_reach
        row[PRIORITY] = float(self.model.structure == "priority")
        for name, zone in self.model.zones.items():
            gain = self.gains[self.model.column_of(name)]
            if name == REPULSION:
                row[AWAY_RADIUS], row[AWAY_GAIN] = zone.outer, gain
            elif name in _COLUMNS:
                radius, nearest, place = _COLUMNS[name]
                row[radius] = 0.0 if zone.nearest else min(zone.outer, _ALL)
                row[nearest], row[place] = zone.nearest, gain
        if ATTRACTION in self.model.zones:
            row[TO_INNER] = self.model.zones[ATTRACTION].inner
        if row[PRIORITY]:
            row[ALONG_GAIN] = row[ALONG_GAIN] or row[TO_GAIN]
        return row

    def words(self, unit: str) -> str:
        """The controller in one sentence."""
        parts = [
            f"{name} {zone.words(unit)} ({self.gains[self.model.column_of(name)]:.2g} rad)"
            for name, zone in self.model.zones.items()
        ]
        others = ", ".join(parts) if parts else "no reaction to others"
        return f"{others}; {rounded(self.previous, 0.01)} of the last turn again"

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return {
            "model": self.model.to_plain(),
            "gains": list(self.gains),
            "previous": self.previous,
            "wall": self.wall,
            "wall_reach": self.wall_reach,
            "noise": self.noise,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "ZonalController":
        """The controller that `to_plain` wrote."""
        model = ZoneModel.from_plain(plain["model"])
        return cls(**dict(plain) | {"model": model, "gains": tuple(plain["gains"])})


@dataclass(frozen=True, eq=False)
class Zonal:
    """A zonal controller in the place of a swarm's agents: a system with the swarm's states.

    What an agent observes is the turn that it wants; its expert turns by it.
    """

    swarm: "Swarm"
    controller: ZonalController

    @property
    def n_agents(self) -> int:
        """Those of the swarm."""
        return self.swarm.n_agents

    @property
    def actions(self) -> Floats:
        """Those of the swarm."""
        return self.swarm.actions

    @cached_property
    def features(self) -> Angles:
        """Of the turn that an agent wants."""
        return Angles(36, "wanted turn")

    @property
    def fields(self) -> Mapping[str, Field]:
        """Those of the swarm."""
        return self.swarm.fields

    @property
    def settings(self) -> dict[str, Any]:
        """The controller, and the swarm's own settings."""
        return {"controller": self.controller.to_plain(), "swarm": self.swarm.settings}

    def initial(self, rng: Stream) -> State:
        """As the swarm."""
        return self.swarm.initial(rng)

    def observe(self, state: State) -> Floats:
        """The turn that each agent wants (runs, agents)."""
        self.swarm.check_state(state)
        rows = np.tile(self.controller.row, (len(state["heading"]), 1))
        return intended_turns(self.swarm, rows, state)

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As it wants."""
        return observations

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Turn by the action and the noise, then move; walls reflect."""
        self.swarm.check_state(state)
        turns = np.ascontiguousarray(actions, np.float64)
        noise = np.full(len(turns), self.controller.noise)
        return next_state(self.swarm, noise, state, turns, rng.normal(), rng.normal())[0]


def intended_turns(swarm: "Swarm", rows: Floats, state: State) -> Floats:
    """The turns that agents of controllers (runs, ZONAL_NUMBERS) want (runs, agents)."""
    return kernels.recorded.zonal_turns(
        np.ascontiguousarray(state["position"]),
        np.ascontiguousarray(state["heading"]),
        np.ascontiguousarray(state["turn"]),
        rows,
        *_walls(swarm),
    )


def _walls(swarm: "Swarm") -> tuple[int, Floats]:
    if swarm.arena is None:
        return kernels.space.OPEN, np.zeros((1, 2))
    return swarm.arena.kind, swarm.arena.walls


def next_state(
    swarm: "Swarm", noise: Floats, state: State, turns: Floats, score: Floats, fresh: Floats
) -> tuple[State, float]:
    """The next state, and the share of agents that a wall reflected.

    `noise` (runs,) is how large the noise is, `score` (runs, agents) are normal numbers of turns
    and `fresh` of speeds.
    """
    memory = swarm.speeds.memory
    pace = memory * state["pace"] + math.sqrt(1 - memory**2) * fresh
    step = kernels.recorded.interpolate(pace, swarm.speeds.table, LARGEST_SCORE) * swarm.dt
    meant = turns + noise[:, None] * swarm.wobble.values(score, state["turn"])
    place, heading, turned = kernels.recorded.turn_and_move(
        np.ascontiguousarray(state["position"]),
        np.ascontiguousarray(state["heading"]),
        meant,
        step,
        *_walls(swarm),
    )
    off = np.abs(np.remainder(turned - meant + math.pi, 2 * math.pi) - math.pi)
    after = {"position": place, "heading": heading, "turn": turned, "noise": score, "pace": pace}
    return after, float((off > _SAME).mean())
