"""Recorded swarms side by side, as the player and the animations show them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek
from swarmdp.trajectory import Trajectory

# A swarm that blinks in every step (the Ising model's mirror image) then flashes less than three
# times a second, the limit for viewers with photosensitive epilepsy.
STEPS_PER_SECOND = {"Vicsek": 10, "Ising": 5}


@dataclass(frozen=True, eq=False)
class Scene:
    """One run of each of several swarms of the same system, by label: expert, learned, ..."""

    system: Vicsek | Ising
    swarms: Mapping[str, Trajectory]  # with recorded states, all of the same length
    run: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.system, Vicsek | Ising):
            raise InvalidInput(
                f"only Vicsek and Ising swarms can be shown, got {type(self.system).__name__}"
            )
        if not self.swarms:
            raise InvalidInput("a scene needs at least one swarm, got none")
        needed = ("position", "heading") if isinstance(self.system, Vicsek) else ("site", "spin")
        agents = self.system.n_agents
        for label, swarm in self.swarms.items():
            if missing := [name for name in needed if name not in swarm]:
                raise InvalidInput(
                    f"the swarm {label!r} has no recorded {' and '.join(missing)}: roll it out "
                    'with record="states"'
                )
            if (found := swarm[needed[1]].shape[2]) != agents:
                raise InvalidInput(f"the swarm {label!r} has {found} agents, expected {agents}")
            if not 0 <= self.run < swarm.runs:
                raise InvalidInput(
                    f"run must be from 0 to {swarm.runs - 1} for the swarm {label!r}, "
                    f"got {self.run}"
                )
        if len(lengths := {swarm.steps for swarm in self.swarms.values()}) > 1:
            raise InvalidInput(
                f"swarms side by side must have the same number of steps, got {sorted(lengths)}"
            )

    @property
    def steps(self) -> int:
        """The number of time steps; there is one more time than that."""
        return next(iter(self.swarms.values())).steps

    @property
    def steps_per_second(self) -> int:
        """How fast to show it, unless told otherwise."""
        return STEPS_PER_SECOND[type(self.system).__name__]

    @property
    def measure_name(self) -> str:
        """What is measured over time."""
        return "order parameter ω" if isinstance(self.system, Vicsek) else "global energy E"

    @cached_property
    def measures(self) -> Mapping[str, NDArray[np.float64]]:
        """The order parameter or the energy over time (steps + 1,), by label."""
        measure = self.system.order if isinstance(self.system, Vicsek) else self.system.energy
        return {
            label: np.asarray(measure(one), dtype=np.float64)[0] for label, one in self._single()
        }

    @property
    def measure_limit(self) -> float:
        """The top of the measure's axis, the same for all swarms; its bottom is zero."""
        if isinstance(self.system, Vicsek):
            return 1.0
        highest = max(float(values.max()) for values in self.measures.values())
        unit = 10.0 ** max(0, math.floor(math.log10(max(highest, 1.0))) - 1)
        return max(1.0, unit * math.ceil(highest / unit))  # two digits

    def reading(self, label: str, time: int) -> str:
        """The measure at one time, as it is written beside the swarm."""
        value = self.measures[label][time]
        return f"{value:.3f}" if isinstance(self.system, Vicsek) else f"{value:.0f}"

    @property
    def poster(self) -> int:
        """A time at which there is something to see: the first swarm is half-way to its end."""
        values = next(iter(self.measures.values()))
        way = np.abs(values - values[0]) >= abs(values[-1] - values[0]) / 2
        return int(np.argmax(way))

    @cached_property
    def window(self) -> tuple[NDArray[np.float64], float]:
        """The square in which all agents of a Vicsek swarm are at all times: low corner, side."""
        assert isinstance(self.system, Vicsek)
        if self.system.periodic:
            return np.zeros(2), self.system.box
        places = [swarm["position"][self.run] for swarm in self.swarms.values()]
        low = np.min([place.min(axis=(0, 1)) for place in places], axis=0)
        high = np.max([place.max(axis=(0, 1)) for place in places], axis=0)
        side = 1.1 * float((high - low).max()) or 1.0
        return (low + high - side) / 2, side

    def positions(self, label: str) -> NDArray[np.float64]:
        """Where the agents are (steps + 1, agents, 2), as shares of the window."""
        low, side = self.window
        shares: NDArray[np.float64] = (self.swarms[label]["position"][self.run] - low) / side
        return shares

    def headings(self, label: str) -> NDArray[np.float64]:
        """The agents' headings in radians (steps + 1, agents)."""
        return np.asarray(self.swarms[label]["heading"][self.run], dtype=np.float64)

    def grids(self, label: str) -> NDArray[np.bool_]:
        """Which spins of an Ising grid are up (steps + 1, rows, columns)."""
        assert isinstance(self.system, Ising)
        (one,) = [one for name, one in self._single() if name == label]
        up: NDArray[np.bool_] = self.system.grid(one)[0] > 0
        return up

    def _single(self) -> Iterator[tuple[str, Mapping[str, NDArray[np.float64]]]]:
        """The shown run of each swarm, alone."""
        for label, swarm in self.swarms.items():
            yield label, {name: swarm[name][self.run : self.run + 1] for name in swarm}
