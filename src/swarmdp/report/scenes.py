"""Recorded swarms side by side, as figures, animations and the player show them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.evaluation import measure_over_time
from swarmdp.model.pictures import Arrows, Grid
from swarmdp.model.system import Measure, System, name_of
from swarmdp.model.traits import Pictured, measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

MOST_SHADES = 32  # colours of a grid's cells; more values share them


@dataclass(frozen=True, eq=False)
class Scene:
    """One run of each of several swarms of the same system, by label: expert, learned, ..."""

    system: System
    swarms: Mapping[str, Trajectory]  # with recorded states, all of the same length
    run: int = 0
    follows: bool = False  # the window goes with the centre of each swarm, as in open space

    def __post_init__(self) -> None:
        if not self.swarms:
            raise InvalidInput("a scene needs at least one swarm, got none")
        for label, swarm in self.swarms.items():
            self._check(label, swarm)
        if len(lengths := {swarm.steps for swarm in self.swarms.values()}) > 1:
            raise InvalidInput(
                f"swarms side by side must have the same number of steps, got {sorted(lengths)}"
            )
        if len({type(picture) for picture in self.pictures.values()}) > 1:
            raise InvalidInput("swarms side by side must all be Arrows or all be a Grid, got both")

    def _check(self, label: str, swarm: Trajectory) -> None:
        if not 0 <= self.run < swarm.runs:
            raise InvalidInput(
                f"run must be from 0 to {swarm.runs - 1} for the swarm {label!r}, got {self.run}"
            )
        for variable in swarm.variables.values():
            if "agent" not in variable.axes:
                continue
            agents = variable.values.shape[variable.axes.index("agent")]
            if agents != self.system.n_agents:
                raise InvalidInput(
                    f"the swarm {label!r} has {agents} agents, expected {self.system.n_agents}"
                )

    @cached_property
    def pictures(self) -> Mapping[str, Arrows | Grid]:
        """What each swarm looks like, by label."""
        system = self.system
        if not isinstance(system, Pictured):
            raise InvalidInput(
                f"{name_of(system)} cannot be drawn: give it a method picture(swarm, run) that "
                "returns swarmdp.model.Arrows or swarmdp.model.Grid"
            )
        pictures = {}
        for label, swarm in self.swarms.items():
            try:
                picture = system.picture(swarm, self.run)
            except KeyError as missing:
                raise InvalidInput(
                    f"the swarm {label!r} cannot be drawn: {missing.args[0]}: roll it out with "
                    'record="states"'
                ) from None
            if not isinstance(picture, Arrows | Grid):
                raise InvalidInput(
                    f"picture must return swarmdp.model.Arrows or swarmdp.model.Grid, got "
                    f"{type(picture).__name__}"
                )
            pictures[label] = picture
        return pictures

    @property
    def first(self) -> Arrows | Grid:
        """The picture of the first swarm, whose window and pace are those of all."""
        return next(iter(self.pictures.values()))

    @property
    def steps(self) -> int:
        """The number of time steps; there is one more time than that."""
        return next(iter(self.swarms.values())).steps

    @property
    def steps_per_second(self) -> int:
        """How fast to show it by default."""
        return self.first.steps_per_second

    @property
    def measure(self) -> Measure | None:
        """What is measured over time: the main measure of the system, if it declares one."""
        return next(iter(measures_of(self.system).values()), None)

    @cached_property
    def measures(self) -> Mapping[str, NDArray[Any]]:
        """The main measure over time (steps + 1,), by label; empty if there is none."""
        name = next(iter(measures_of(self.system)), None)
        if name is None:
            return {}
        return {
            label: measure_over_time(self.system, swarm.only(self.run), name)[0]
            for label, swarm in self.swarms.items()
        }

    @cached_property
    def measure_limits(self) -> tuple[float, float]:
        """The ends of the measure's axis, the same for all swarms: declared, or round numbers."""
        declared = (None, None) if self.measure is None else self.measure.limits
        return axis_limits(declared, list(self.measures.values()))

    def reading(self, label: str, time: int) -> str:
        """The measure at one time, as it is written beside the swarm."""
        if self.measure is None:
            return ""
        value = self.measures[label][time]
        if np.issubdtype(value.dtype, np.integer) or not np.isfinite(value):
            return str(value)
        low, high = self.measure_limits
        digits = 3 - math.floor(math.log10(max(abs(low), abs(high), 1e-9)))
        return f"{value:.{min(9, max(0, digits))}f}"

    @property
    def poster(self) -> int:
        """A time at which there is something to see: the first swarm is half-way to its end."""
        if self.measure is None:
            return self.steps // 2
        values = next(iter(self.measures.values())).astype(np.float64)
        way = np.abs(values - values[0]) >= abs(values[-1] - values[0]) / 2
        return int(np.argmax(way))

    @cached_property
    def window(self) -> tuple[Floats, float]:
        """The square in which all agents are at all times: low corner, side.

        Where the window follows, it is around the centre of a swarm.
        """
        if self.follows:
            far = max(float(np.abs(self._around_centre(label)).max()) for label in self.swarms)
            label = next(iter(self.swarms))  # outsiders beyond where the first swarm has them leave
            if self.marks_of(label) is not None:
                far = max(far, float(np.nanmax(np.abs(self._marked(label)), initial=0.0)))
            side = 2.2 * far or 1.0
            return np.array([-side / 2, -side / 2]), side
        places = [np.asarray(p.positions) for p in self.pictures.values() if isinstance(p, Arrows)]
        places += [
            np.where(np.isfinite(p.marks), p.marks, np.asarray(p.positions)[:, :1])
            for p in self.pictures.values()
            if isinstance(p, Arrows) and p.marks is not None
        ]
        low = np.min([place.min(axis=(0, 1)) for place in places], axis=0)
        high = np.max([place.max(axis=(0, 1)) for place in places], axis=0)
        given = self.first.window if isinstance(self.first, Arrows) else None
        if given is not None:
            corner, side = np.array(given[:2]), given[2]
            # A window that agents leave, and do not come back on its other side, would hide them.
            if self.periodic or ((low >= corner) & (high <= corner + side)).all():
                return corner, side
        wide = max(float((high - low).max()), np.ptp(self.heights_reached))
        side = 1.1 * wide or 1.0
        return (low + high - side) / 2, side

    @cached_property
    def heights_reached(self) -> tuple[float, float]:
        """The lowest and the highest place of agents in space; zeros in the plane."""
        arrows = [p for p in self.pictures.values() if isinstance(p, Arrows)]
        heights = [p.heights for p in arrows if p.heights is not None]
        if not heights:
            return 0.0, 0.0
        return float(min(map(np.min, heights))), float(max(map(np.max, heights)))

    def places_in_space(self, label: str) -> Floats | None:
        """Where agents are (steps + 1, agents, 3), as shares of a cube; None in the plane."""
        picture = self.pictures[label]
        if not isinstance(picture, Arrows) or picture.heights is None:
            return None
        _, side = self.window
        low = 0.0 if self.periodic else (sum(self.heights_reached) - side) / 2
        height = (np.asarray(picture.heights, np.float64) - low) / side
        return np.concatenate([self.positions(label), height[..., None]], axis=2)

    @property
    def periodic(self) -> bool:
        """Whether an agent that leaves the window comes back on its other side."""
        return isinstance(self.first, Arrows) and self.first.periodic

    def positions(self, label: str) -> Floats:
        """Where the agents are (steps + 1, agents, 2), as shares of the window."""
        low, side = self.window
        shares: Floats = (self._around_centre(label) if self.follows else self._places(label)) - low
        return shares / side

    def _places(self, label: str) -> Floats:
        picture = self.pictures[label]
        assert isinstance(picture, Arrows)
        return np.asarray(picture.positions, np.float64)

    def _around_centre(self, label: str) -> Floats:
        """Where the agents are, from the middle of their swarm at this time."""
        places = self._places(label)
        around: Floats = places - np.median(places, axis=1, keepdims=True)
        return around

    def marks(self, label: str) -> Floats | None:
        """Where outsiders are (steps + 1, marks, 2), as shares of the window; None without any."""
        picture = self.pictures[label]
        if not isinstance(picture, Arrows) or picture.marks is None:
            return None
        low, side = self.window
        shares: Floats = (self._marked(label) - low) / side
        return shares

    def marks_of(self, label: str) -> Floats | None:
        """Where outsiders are, in the units of the system; None without any."""
        picture = self.pictures[label]
        return picture.marks if isinstance(picture, Arrows) else None

    def _marked(self, label: str) -> Floats:
        """Where outsiders are, from the middle of the swarm where the window follows."""
        picture = self.pictures[label]
        assert isinstance(picture, Arrows)
        assert picture.marks is not None
        places = np.asarray(picture.marks, np.float64)
        if not self.follows:
            return places
        around: Floats = places - np.median(self._places(label), axis=1, keepdims=True)
        return around

    def headings(self, label: str) -> Floats | None:
        """The agents' headings in radians (steps + 1, agents); None for dots."""
        picture = self.pictures[label]
        assert isinstance(picture, Arrows)
        return None if picture.headings is None else np.asarray(picture.headings, np.float64)

    @cached_property
    def shades(self) -> int:
        """The number of colours of a grid's cells: one for each whole number, if they are few."""
        low, high, whole = self._range
        return int(min(high - low + 1, MOST_SHADES)) if whole else MOST_SHADES

    def cells(self, label: str) -> NDArray[np.uint8]:
        """The colour of each cell (steps + 1, rows, columns), from 0 to shades - 1."""
        low, high, _ = self._range
        values = _grid(self.pictures[label]).astype(np.float64)
        return np.round((values - low) / (high - low) * (self.shades - 1)).astype(np.uint8)

    @cached_property
    def _range(self) -> tuple[float, float, bool]:
        """The lowest and highest value of a grid, and whether all are whole numbers."""
        grids = [_grid(picture) for picture in self.pictures.values()]
        if all(grid.dtype == np.bool_ for grid in grids):
            return 0.0, 1.0, True
        low, high = float(min(map(np.min, grids))), float(max(map(np.max, grids)))
        return low, max(high, low + 1), all(np.issubdtype(g.dtype, np.integer) for g in grids)


def swarms_by_label(
    system: System, swarms: Controller | Trajectory | Mapping[str, Controller | Trajectory]
) -> dict[str, Controller | Trajectory]:
    """Several swarms as they are; a single one by the name of its system."""
    # A trajectory is a mapping as well, but of arrays.
    if isinstance(swarms, Mapping) and not isinstance(swarms, Trajectory):
        return dict(swarms)
    return {name_of(system): swarms}


def common_steps(
    swarms: Mapping[str, Controller | Trajectory], steps: int | None, default: int
) -> int:
    """The steps to show: as given, or those of the shortest trajectory, or the default."""
    if steps is None:
        lengths = [swarm.steps for swarm in swarms.values() if isinstance(swarm, Trajectory)]
        return min(lengths, default=default)
    return steps


def axis_limits(
    declared: tuple[float | None, float | None], shown: list[NDArray[Any]]
) -> tuple[float, float]:
    """The ends of an axis: what is declared, elsewhere zero or round numbers beyond the values."""
    finite = [values[np.isfinite(values)] for values in shown]
    low = min((float(values.min()) for values in finite if values.size), default=0.0)
    high = max((float(values.max()) for values in finite if values.size), default=1.0)
    bottom = (-_round_up(-low) if low < 0 else 0.0) if declared[0] is None else declared[0]
    top = (_round_up(high) if high > 0 else 0.0) if declared[1] is None else declared[1]
    return bottom, top if top > bottom else bottom + 1.0


def _round_up(value: float) -> float:
    """The next number of two digits that is not below a positive value."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{unit * math.ceil(value / unit - 1e-9):.3g}")


def _grid(picture: Arrows | Grid) -> NDArray[Any]:
    assert isinstance(picture, Grid)
    return np.asarray(picture.values)
