"""Whole steps of a calibrated swarm: what it is made of, as the kernel takes it."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Angles, Bins
from swarmdp.model.streams import Purpose, Streams, first_draw
from swarmdp.model.system import State
from swarmdp.model.traits import Room
from swarmdp.recordings.calibration import LARGEST_SCORE
from swarmdp.recordings.components import AHEAD, AWAY
from swarmdp.recordings.view import View
from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm


@dataclass(frozen=True, eq=False)
class SwarmSteps:
    """A chunk of runs of a swarm under way; see `system.WholeSteps`."""

    swarm: "Swarm"
    swarms: "kernels.recorded.CalibratedSwarms"

    @classmethod
    def of(
        cls,
        swarm: "Swarm",
        state: State,
        turns: Floats,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> "SwarmSteps | None":
        """The runs that start from this state; None if the kernel does not know the classes.

        Run r turns by turns[rows[r]], of the shape (replicas, classes).
        """
        view = _view(swarm.view)
        if view is None or not np.isfinite(turns).all():
            return None
        agents = kernels.recorded.CalibratedAgents(
            x=state["position"][..., 0].copy(),
            y=state["position"][..., 1].copy(),
            heading=state["heading"].copy(),
            turn=state["turn"].copy(),
            noise=state["noise"].copy(),
            pace=state["pace"].copy(),
        )
        return cls(
            swarm,
            kernels.recorded.CalibratedSwarms(
                agents,
                calibrated_model(swarm),
                view,
                steps=steps,
                seed=streams.seed,
                numbers=streams.runs,
                draw=first_draw(Purpose.TRANSITION),
                turns=turns,
                rows=rows,
            ),
        )

    def advance(self, first: int, last: int, room: Room) -> None:
        """Keep these moments, and take the step after each of them."""
        states = room.states or {}
        nothing, none = np.empty((0, 0, 0)), np.empty((0, 0, 0, 0))
        kept = kernels.recorded.KeptFrames(
            position=states.get("position", none),
            heading=states.get("heading", nothing),
            turn=states.get("turn", nothing),
            noise=states.get("noise", nothing),
            pace=states.get("pace", nothing),
            observations=none if room.observations is None else room.observations,
            actions=nothing if room.actions is None else room.actions,
            counts=np.empty((0, 0, 0), np.int64) if room.counts is None else room.counts,
        )
        self.swarms.advance(first, last, kept)
        now = self.swarms.agents
        self.swarm.check_state({**now._asdict(), "position": np.stack([now.x, now.y], axis=-1)})


def calibrated_model(swarm: "Swarm") -> "kernels.recorded.CalibratedModel":
    """How agents of a swarm move, for kernels."""
    kind = kernels.space.OPEN if swarm.arena is None else swarm.arena.kind
    noise, speed = swarm.wobble, swarm.speeds
    return kernels.recorded.CalibratedModel(
        kind,
        np.zeros((1, 2)) if swarm.arena is None else swarm.arena.walls,
        np.ascontiguousarray(noise.tables, np.float64).ravel(),
        np.ascontiguousarray(noise.edges, np.float64),
        float(noise.memory),
        math.sqrt(1 - noise.memory**2),
        np.ascontiguousarray(speed.table, np.float64),
        float(speed.memory),
        math.sqrt(1 - speed.memory**2),
        LARGEST_SCORE,
        float(swarm.dt),
    )


def _view(view: View) -> "kernels.recorded.CalibratedView | None":
    """What is observed; None if the kernel does not know a component, or classes end too soon."""
    parts = tuple(view.features.components.values())
    edges = np.full((len(parts), max(part.size for part in parts)), np.inf)
    numbers = []
    for row, part, ends in zip(view.rows, parts, edges, strict=True):
        if row.kernel is None:
            return None
        numbers.append(row.kernel)
        if type(part) is Bins:
            low, high = (-1.0, 1.0) if row.scale == "sides" and view.sides else row.bounds
            if part.edges[0] > low or part.edges[-1] < high:
                return None
            ends[: part.size - 1] = part.edges[1:-1]
        elif type(part) is not Angles or row.scale == "size":
            return None
    return kernels.recorded.CalibratedView(
        view.nearest,
        float(view.radius),
        np.array(numbers),
        np.array([part.size for part in parts]),
        np.array([isinstance(part, Angles) for part in parts]),
        edges,
        float(view.wall_distance),
        0.0 if view.sides else AHEAD,
        AWAY,
    )
