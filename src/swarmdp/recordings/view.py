"""What the agents of a calibrated swarm observe, in classes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swarmdp.model.features import Product
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.components import COMPONENTS, AgentSight, Component, surroundings
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.turn_prediction import Seen
from swarmdp.support.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class View:
    """An observation whose classes, neighbours and distances are known."""

    features: Product
    nearest: int  # number of nearest neighbours; 0: all within the radius
    radius: float
    wall_distance: float
    arena: Arena | None
    sides: bool  # only the sides of the wall are distinguished

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the components."""
        return tuple(self.features.components)

    @property
    def rows(self) -> tuple[Component, ...]:
        """The rows of the components in the table."""
        return tuple(COMPONENTS[name] for name in self.components)

    @property
    def signs(self) -> Floats:
        """What the mirror does to each component."""
        return np.array([-1.0 if row.odd else 1.0 for row in self.rows])

    @property
    def alone(self) -> tuple[str, ...]:
        """The components that do not tell of others."""
        return tuple(name for name in self.components if not COMPONENTS[name].social)

    def of(
        self,
        position: Floats,
        heading: Floats,
        turn: Floats,
        speed: Callable[[], Floats],
        outside: Floats | None = None,
    ) -> Floats:
        """What is observed (..., agents, k); NaN where an agent is absent."""
        sight = AgentSight(
            position,
            heading,
            turn,
            speed,
            self.nearest,
            self.radius,
            self.wall_distance,
            self.sides,
            self.arena,
            outside,
        )
        return np.stack([row.read(sight) for row in self.rows], axis=-1)

    def of_decisions(self, decisions: Decisions) -> Floats:
        """What was observed (time, individual, k); NaN where it is not known."""
        others = decisions.outside
        return self.of(
            decisions.positions,
            decisions.headings,
            decisions.previous,
            lambda: decisions.speeds,
            None if others is None else others.positions,
        )

    @cached_property
    def mirror(self) -> Ints:
        """The class of each class's mirror image."""
        grids = np.meshgrid(*(axis.values for axis in self.features.axes), indexing="ij")
        centres = np.stack([grid.ravel() for grid in grids], axis=-1)
        return np.asarray(self.features.index(centres * self.signs), np.int64)

    def classes(self, decisions: Decisions) -> Ints:
        """The class of each recorded observation (time, individual); -1 where it is not known."""
        seen = self.of_decisions(decisions)
        whole = np.isfinite(seen).all(axis=-1) & decisions.known
        classes = np.full(whole.shape, -1, np.int64)
        classes[whole] = self.features.index(seen[whole])
        return classes

    def complete(self, decisions: Decisions) -> Bools:
        """Where all neighbours were recorded (time, individual), none interpolated or missing.

        That is where the same is seen whether the gaps of the others are filled in or left out.
        """
        filled = decisions.without_gaps
        hidden = np.where(decisions.known, decisions.headings, np.nan)
        whole, part = (
            surroundings(places, headings, self.nearest, self.radius, self.arena)[..., :3]
            for places, headings in (
                (filled.positions, filled.headings),
                (decisions.positions, hidden),
            )
        )
        same: Bools = (whole == part).all(axis=-1)
        return same

    def seen(self, decisions: Decisions) -> Seen:
        """Classes and the turns that followed."""
        return Seen(
            self.classes(decisions)[:-1],
            decisions.turns,
            self.features,
            self.mirror,
            decisions.recording_numbers[:-1],
        )
