"""The Vicsek model of self-propelled particles (section 'The Vicsek Model' of the paper)."""

import math
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Angles, Bins
from swarmdp.model.features.classes import LARGEST_ANGLE
from swarmdp.model.pictures import Arrows
from swarmdp.model.streams import Purpose, Stream, Streams, first_draw
from swarmdp.model.system import (
    Field,
    Measure,
    Mirror,
    Rule,
    State,
    arrays_of,
    check_run,
    check_stream,
    reordered,
)
from swarmdp.model.traits import Room, WholeSteps
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.checks import (
    brief,
    check_agent,
    check_integer,
    is_number,
    keep_python_numbers,
)
from swarmdp.support.errors import InvalidInput
from swarmdp.support.notices import tell_once
from swarmdp.support.ranges import NotNegative, Positive, PositiveInteger
from swarmdp.systems.vicsek_space import (
    fields_in_space,
    floats_in_space,
    fly_in_space,
    hops_in_space,
    initial_in_space,
    misalignment_in_space,
    order_in_space,
    picture_in_space,
    turns_in_space,
)

LARGEST_PLACE = 1e100  # coordinate in open space whose square is finite
REARRANGE_EVERY = 8  # steps; agents move by about a cell in each
REARRANGE_FROM = 20_000  # agents; fewer fit the cache in any order
_MANY = 100  # neighbours of each agent
_CROWDED = 10**9  # pairs of neighbours: a step of them takes seconds
_LONGEST = 1e100  # of lengths, whose squares have to be finite


class _Checked(threading.local):
    """The arrays that this thread has looked at last, so that a step looks at each only once."""

    def __init__(self) -> None:
        self.arrays: tuple[Any, ...] = ()  # weak references
        self.box = math.nan

    def has(self, array: object) -> bool:
        return any(reference() is array for reference in self.arrays)

    def keep(self, box: float, *arrays: NDArray[Any]) -> None:
        self.box, self.arrays = box, tuple(map(weakref.ref, arrays))


_checked = _Checked()


@checked(but=("initial", "observe", "transition", "expert", "order", "arrange", "check_state"))
@dataclass(frozen=True, repr=False)
class Vicsek:
    """Agents that fly at constant speed and observe how far they are out of line.

    The local state is (position, heading). In each step an agent moves along its heading, then
    turns by its action and a normally distributed perturbation. It observes its misalignment: the
    angle from its own heading to the circular mean heading of all agents within `radius`,
    itself included; where that mean is undefined (headings that cancel out), it observes zero.

    In three dimensions headings are unit vectors (runs, agents, 3). Misalignments are from 0 to pi,
    and a turn is towards the mean heading or, negative, away from it. The perturbation has the
    von Mises-Fisher distribution: two normal components across the heading if `noise` is small.

    The defaults are the paper's. Angles are in radians.

    Parameters
    ----------
    n_agents
        Number of agents.
    radius
        Interaction radius.
    speed
        Distance flown in a step.
    noise
        Standard deviation of the turns' perturbation, in radians.
    box
        Side of the square in which the agents start.
    n_bins
        Classes of misalignment, one centred on zero.
    turns
        Turns available to a learning agent, in radians.
    periodic
        The square's edges meet; otherwise space is open.
    nearest
        Number of nearest neighbours, instead of a radius.
    dimensions
        2 for the plane, 3 for space; the box then is a cube.

    Examples
    --------
    >>> import math
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=50, noise=math.radians(5))
    >>> run = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    >>> vicsek.order(run).shape    # (runs, steps + 1)
    (1, 51)

    """

    n_agents: PositiveInteger = field(default=200, metadata={"help": "number of agents"})
    radius: Positive = field(default=0.1, metadata={"help": "interaction radius"})
    speed: NotNegative = field(default=0.1, metadata={"help": "distance flown in a step"})
    noise: NotNegative = field(
        default=math.radians(10),
        metadata={"help": "standard deviation of the turns' perturbation", "degrees": True},
    )
    box: Positive = field(
        default=1.0, metadata={"help": "side of the square in which the agents start"}
    )
    n_bins: PositiveInteger = field(
        default=36, metadata={"help": "classes of misalignment, one centred on zero"}
    )
    turns: tuple[float, ...] = field(
        default=tuple(math.radians(degrees) for degrees in range(-60, 61, 10)),
        metadata={"help": "turns available to a learning agent", "degrees": True},
    )
    periodic: bool = field(
        default=True, metadata={"help": "the square's edges meet; otherwise space is open"}
    )
    nearest: PositiveInteger | None = field(
        default=None, metadata={"help": "number of nearest neighbours, instead of a radius"}
    )
    dimensions: PositiveInteger = field(
        default=2, metadata={"help": "2 for the plane, 3 for space"}
    )

    action_units: ClassVar[str] = "rad"
    fused_measures: ClassVar[frozenset[str]] = frozenset({"order"})
    unaffected: ClassVar[frozenset[str]] = frozenset({"position"})  # it moves before it turns

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        if self.noise > math.pi:
            raise InvalidInput(
                f"noise must be an angle of at most pi in radians, got {self.noise!r}: "
                f"for degrees give math.radians({self.noise!r})"
            )
        if self.dimensions not in (2, 3):
            raise InvalidInput(f"dimensions must be 2 or 3, got {self.dimensions}")
        for name in ("radius", "speed", "box"):
            if getattr(self, name) > _LONGEST:
                raise InvalidInput(
                    f"{name} must be at most {_LONGEST:g}, so that positions stay finite, got "
                    f"{getattr(self, name)!r}"
                )
        if not self.turns or not all(
            is_number(turn) and abs(turn) <= math.pi for turn in self.turns
        ):
            raise InvalidInput(
                f"turns must be angles from -pi to pi in radians, got {self.turns!r}"
            )
        object.__setattr__(self, "turns", tuple(float(turn) for turn in self.turns))
        self._warn_of_crowds()

    def _warn_of_crowds(self) -> None:
        """Say beforehand that steps of very dense, large swarms take long, and what helps."""
        neighbours = self.n_agents * min(1.0, math.pi * (self.radius / self.box) ** 2)
        if neighbours > _MANY and self.n_agents * neighbours > _CROWDED:
            paper = type(self)()
            box = paper.box * math.sqrt(self.n_agents / paper.n_agents) * self.radius / paper.radius
            tell_once(
                f"swarmdp: each of {self.n_agents:,} agents has about {neighbours:,.0f} "
                "neighbours, so a step takes seconds: with a box of "
                f"{box:.3g} it has as many as in the paper"
            )

    def __repr__(self) -> str:
        """In a line: the first four settings, and others that are not the paper's."""
        others = {
            part.name: getattr(self, part.name)
            for part in fields(self)[4:]
            if getattr(self, part.name) != part.default
        }
        shown = {name: getattr(self, name) for name in ("n_agents", "radius", "speed")}
        texts = [f"{name}={value}" for name, value in shown.items()]
        texts.append(f"noise={self.noise:.4g}")
        if turns := others.pop("turns", None):
            texts.append(f"turns={len(turns)} from {min(turns):.3g} to {max(turns):.3g}")
        texts += [f"{name}={value}" for name, value in others.items()]
        return f"Vicsek({', '.join(texts)})"

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Positions, periodic if the box is, and headings."""
        if self._in_space:
            return fields_in_space(self)
        return {
            "position": Field(
                "position, in the unit of the box's side",
                axes=("axis",),
                kind="position",
                period=self.box if self.periodic else None,
            ),
            "heading": Field("heading, from the x axis", units="rad", kind="angle"),
        }

    @cached_property
    def actions(self) -> NDArray[np.float64]:
        """The turns available to a learning agent."""
        return np.array(self.turns)

    @cached_property
    def features(self) -> Angles | Bins:
        """The classes of misalignment."""
        if self._in_space:
            return Bins(np.linspace(0.0, math.pi, self.n_bins + 1), "misalignment", "rad")
        return Angles(self.n_bins, name="misalignment")

    def initial(self, rng: Stream) -> State:
        """Agents uniformly in the square, headings uniform on the circle."""
        check_stream(rng)
        if self._in_space:
            return initial_in_space(self, rng)
        return {
            "position": rng.uniform(0.0, self.box, size=(2,)),
            "heading": rng.uniform(-math.pi, math.pi),
        }

    def observe(self, state: State) -> NDArray[np.float64]:
        """The misalignment of each agent, in [-pi, pi]."""
        if self._in_space:
            return misalignment_in_space(self, state)
        if self.nearest is not None:
            return self._misalignment_to_nearest(state)
        position, heading = self._floats(state)
        seen = kernels.vicsek.misalignment(position, heading, self.radius, self._period)
        _checked.keep(self._period, position, heading, seen)
        return seen

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Move with the heading before the turn, then turn by the action and the noise."""
        position, heading = self._floats(state, again=False)
        shape = heading.shape[:2]
        turn = np.ascontiguousarray(numbers("turns", actions, np.float64))
        if turn.shape != shape:
            raise InvalidInput(
                f"turns must have the shape (runs, agents) = {shape}, got {turn.shape}"
            )
        if not _checked.has(turn) and not _all_angles(turn):
            raise InvalidInput(
                f"turns must be finite angles in radians, at most {LARGEST_ANGLE:g}, got NaN, "
                "infinity or others"
            )
        check_stream(rng, shape)
        if self._in_space:
            return fly_in_space(self, state, turn, rng)
        noise = rng.normal(scale=self.noise) if self.noise else np.zeros_like(turn)
        position, heading = kernels.vicsek.fly_and_turn(
            position, heading, turn, noise, self.speed, self._period
        )
        return {"position": position, "heading": heading}

    def inferred_actions(self, before: State, after: State) -> NDArray[np.float64]:
        """The turns (runs, agents) from one state to the next, in [-pi, pi).

        They contain the noise: what an agent wanted is known only to within its standard deviation.
        """
        if self._in_space:
            return turns_in_space(self, before, after)
        (first,), (then,) = (arrays_of(state, heading=np.float64) for state in (before, after))
        if first.shape != then.shape:
            raise InvalidInput(
                f"both states must have the same runs and agents, got {first.shape} and "
                f"{then.shape}"
            )
        turn = then - first
        wrapped: NDArray[np.float64] = np.remainder(turn + math.pi, 2 * math.pi) - math.pi
        return wrapped

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states of other origin that are not this system's."""
        (position,) = arrays_of(state, position=np.float64)
        if (
            self.periodic
            and position.size
            and not (position.min() >= 0 and position.max() < self.box)
        ):
            raise InvalidInput(
                f"positions must be in [0, {self.box}), got {position.min():.4g} to "
                f"{position.max():.4g}: shift or scale them into the box"
            )
        self._floats(state)

    def expert(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """The paper's expert turns by exactly its misalignment."""
        angles: NDArray[np.float64] = numbers("observations", observations, np.float64)
        if not _checked.has(angles) and not _all_angles(angles):
            raise InvalidInput("observations must be finite angles, got NaN, infinity or others")
        return angles

    def order(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The order parameter, 0 (disordered) to 1 (all aligned), of a state or trajectory.

        For a trajectory the shape is (runs, steps + 1).
        """
        if not isinstance(swarm, Mapping) or "heading" not in swarm:
            raise InvalidInput(
                f"a state or trajectory with 'heading' is needed, got {brief(swarm)}: record states"
            )
        heading = np.ascontiguousarray(numbers("'heading'", swarm["heading"], np.float64))
        if self._in_space:
            return order_in_space(heading)
        if not heading.ndim or not heading.shape[-1]:
            raise InvalidInput(f"'heading' must have an axis of agents, got {heading.shape}")
        if not _checked.has(heading) and not _all_angles(heading):
            raise InvalidInput(
                f"'heading' must be finite angles, at most {LARGEST_ANGLE:g} rad, got NaN, "
                "infinity or others"
            )
        rows = heading.reshape(-1, heading.shape[-1])
        return kernels.vicsek.order_parameter(rows).reshape(heading.shape[:-1])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The order parameter."""
        return {
            "order": Measure(self.order, "order parameter ω", limits=(0.0, 1.0), order_free=True)
        }

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """The agents of one run as arrows."""
        if self._in_space:
            return picture_in_space(self, swarm, run)
        check_run(swarm, run, "position", "heading")
        return Arrows(
            swarm["position"][run],
            swarm["heading"][run],
            window=(0.0, 0.0, self.box) if self.periodic else None,
            periodic=self.periodic,
        )

    @property
    def mirror(self) -> Mirror | None:
        """Left and right: misalignments and turns change their sign.

        None where the turns to one side are not those to the other, and in space, where turns are
        towards the others or away from them.
        """
        if self._in_space:
            return None
        turns = self.actions
        both = np.array_equal(np.sort(-turns), np.sort(turns))
        return Mirror(np.negative, np.negative) if both else None

    def resized(self, n_agents: PositiveInteger) -> "Vicsek":
        """The same swarm with another number of agents, in a box that keeps their density.

        Parameters
        ----------
        n_agents
            The number of agents.

        Examples
        --------
        >>> import swarmdp
        >>> swarmdp.Vicsek(n_agents=400, box=2.0).resized(100).box
        1.0

        """
        more = n_agents / self.n_agents
        wider = math.cbrt(more) if self._in_space else math.sqrt(more)
        return replace(self, n_agents=n_agents, box=self.box * wider)

    def hops(self, state: State, agent: int = 0) -> NDArray[np.int32]:
        """How many hops each agent is from the given one in the interaction graph of this state.

        Agents that observe each other are one hop apart; -1 where no chain of hops leads.
        """
        if self.nearest is not None:
            raise InvalidInput(
                "hops are counted between agents within a radius; "
                f"this swarm's neighbours are the {self.nearest} nearest: set nearest=None"
            )
        check_agent(agent, self)
        position, _ = self._floats(state)
        if self._in_space:
            return hops_in_space(self, position, agent)
        return kernels.space.hops(position, agent, self.radius, self._period)

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """Large swarms are kept in the order of the cells that they are in."""
        check_integer("step", step, least=0)
        by_cells = self.nearest is None and not self._in_space
        if self.n_agents < REARRANGE_FROM or not by_cells or step % REARRANGE_EVERY:
            return None
        order = kernels.vicsek.by_cell(self._floats(state)[0], self.radius, self._period)
        return {name: reordered(array, order) for name, array in state.items()}, order

    def whole_steps(
        self,
        state: Callable[[], State],
        rule: Rule,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> WholeSteps | None:
        """Whole steps of the expert or of a table, where neighbours are found by cells.

        None for subclasses, which may have changed what a step is.
        """
        turns = None if callable(rule) else np.ascontiguousarray(rule, np.float64)
        if (
            type(self) is not Vicsek
            or (turns is None and rule != self.expert)
            or self.nearest is not None
            or self._in_space
            or kernels.space.wraps_onto_itself(self.radius, self._period, self.n_agents)
        ):
            return None
        position, heading = self._floats(state())
        model = kernels.vicsek.VicsekModel(self.radius, self.speed, self.noise, self._period)
        return _WholeSteps(
            kernels.vicsek.VicsekSwarms.of(
                position,
                heading,
                model,
                steps=steps,
                seed=streams.seed,
                numbers=streams.runs,
                draw=first_draw(Purpose.TRANSITION),
                turns=turns,
                rows=rows,
                bins=self.n_bins,
            )
        )

    def exploring_swarms(self, streams: Streams, step: int) -> "_ExploringSwarms | None":
        """Swarms that learn in compiled code, where neighbours are found by cells."""
        if (
            type(self) is not Vicsek
            or self.nearest is not None
            or self._in_space
            or kernels.space.wraps_onto_itself(self.radius, self._period, self.n_agents)
        ):
            return None
        state = self.initial(streams.at(step, Purpose.INITIAL))
        if (better := self.arrange(state, 0)) is not None:
            state, order = better
            streams = streams.rearranged(order)
        return _ExploringSwarms(
            streams,
            kernels.vicsek.ExploringVicsek(
                state["position"],
                state["heading"],
                streams.agents,
                kernels.vicsek.VicsekModel(self.radius, self.speed, self.noise, self._period),
                seed=streams.seed,
                numbers=streams.runs,
                turns=self.actions,
                bins=self.n_bins,
            ),
        )

    @property
    def _in_space(self) -> bool:
        return self.dimensions == 3

    @property
    def _period(self) -> float:
        return self.box if self.periodic else 0.0

    def _floats(
        self, state: State, again: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions and headings as the kernels take them, checked.

        With `again=False` arrays that were just observed are not looked through a second time.
        """
        if self._in_space:
            return floats_in_space(self, state)
        position, heading = map(
            np.ascontiguousarray, arrays_of(state, position=np.float64, heading=np.float64)
        )
        agents = self.n_agents
        if position.shape[1:] != (agents, 2) or heading.ndim != 2:
            raise InvalidInput(
                f"positions must have the shape (runs, {agents}, 2) and headings (runs, {agents}), "
                f"got {position.shape} and {heading.shape}"
            )
        same_box = not again and _checked.box == self._period
        if same_box and _checked.has(position) and _checked.has(heading):
            return position, heading
        lowest, highest = (0.0, self.box) if self.periodic else (-LARGEST_PLACE, LARGEST_PLACE)
        if not kernels.tables.all_between(position, lowest, highest):
            raise InvalidInput(
                f"positions must be from {lowest:g} to {highest:g}, got {position.min():.4g} to "
                f"{position.max():.4g}"
            )
        if not _all_angles(heading):
            raise InvalidInput(
                f"headings must be finite angles, at most {LARGEST_ANGLE:g} rad, got "
                f"{heading.min():.4g} to {heading.max():.4g}"
            )
        return position, heading

    def _misalignment_to_nearest(self, state: State) -> NDArray[np.float64]:
        """Misalignment to the agent itself and its nearest ones, all that are equally near too."""
        places, headings = self._floats(state)
        out = np.empty(headings.shape)
        for r, (position, heading) in enumerate(zip(places, headings, strict=True)):
            out[r] = _misalignment_to_nearest(position, heading, self.nearest or 1, self._period)
        return out


@dataclass(frozen=True, eq=False)
class _ExploringSwarms:
    """Swarms that learn; see `traits.ExploringSwarms`."""

    streams: Streams
    swarms: "kernels.vicsek.ExploringVicsek"

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: NDArray[np.float64] | None,
        time: int,
    ) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]:
        """Classes before, actions, and classes after."""
        return self.swarms.step(table, temperature, place, time, _DRAWS)


_DRAWS = first_draw(Purpose.EXPLORATION), first_draw(Purpose.TRANSITION)


@dataclass(frozen=True, eq=False)
class _WholeSteps:
    """Swarms under way that are never put back into the agents' own order, but for recording."""

    swarms: "kernels.vicsek.VicsekSwarms"

    def advance(self, first: int, last: int, room: Room) -> None:
        """Keep these moments, and take the step after each of them."""
        states = room.states or {}
        nothing = np.empty((0, 0, 0))
        kept = kernels.vicsek.KeptMoments(
            order=room.measures.get("order", np.empty((0, 0))),
            position=states.get("position", np.empty((0, 0, 0, 0))),
            heading=states.get("heading", nothing),
            observations=nothing if room.observations is None else room.observations,
            actions=nothing if room.actions is None else room.actions,
            counts=np.empty((0, 0, 0), np.int64) if room.counts is None else room.counts,
        )
        self.swarms.advance(first, last, kept)


def _all_angles(angles: NDArray[np.float64]) -> bool:
    return kernels.tables.all_between(angles, -LARGEST_ANGLE, LARGEST_ANGLE)


def _misalignment_to_nearest(
    position: NDArray[np.float64], heading: NDArray[np.float64], nearest: int, period: float
) -> NDArray[np.float64]:
    from scipy.spatial import KDTree

    agents = len(heading)
    # Fixed-point sums are exact, so they do not depend on the order in which the tree lists agents.
    u, v = kernels.vicsek.directions(np.ascontiguousarray(heading))
    others = min(nearest, agents - 1)
    tree = KDTree(position, boxsize=period or None)
    distance, index = tree.query(position, np.arange(1, min(others + 2, agents) + 1))
    sum_u, sum_v = u[index[:, : others + 1]].sum(1), v[index[:, : others + 1]].sum(1)
    if others + 1 < agents:
        tied = np.flatnonzero(distance[:, others] == distance[:, others + 1])
        for i, around in zip(
            tied, tree.query_ball_point(position[tied], distance[tied, others]), strict=True
        ):
            sum_u[i], sum_v[i] = u[around].sum(), v[around].sum()
    return kernels.vicsek.misalignment_to(u, v, sum_u, sum_v)
