"""The Vicsek model of self-propelled particles (section 'The Vicsek Model' of the paper)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.checks import check_agent, check_integer, check_number, is_number, keep_python_numbers
from swarmdp.errors import InvalidInput
from swarmdp.features import Angles
from swarmdp.pictures import Arrows
from swarmdp.streams import Stream
from swarmdp.system import Field, Measure, Mirror, State, reordered

REARRANGE_EVERY = 8  # steps; agents move by about a cell in each
REARRANGE_FROM = 20_000  # agents; fewer fit the cache in any order
LONGEST = 1e100  # of lengths, whose squares have to be finite


@dataclass(frozen=True)
class Vicsek:
    """Agents that fly at constant speed and observe how far they are out of line.

    The local state is (position, heading). In each step an agent moves along its heading, then
    turns by its action and a normally distributed perturbation. It observes its misalignment: the
    angle from its own heading to the circular mean heading of all agents within `radius`,
    itself included; where that mean is undefined (headings that cancel out), it observes zero.

    The defaults are the paper's. Angles are in radians.
    """

    n_agents: int = field(default=200, metadata={"help": "number of agents"})
    radius: float = field(default=0.1, metadata={"help": "interaction radius"})
    speed: float = field(default=0.1, metadata={"help": "distance flown in a step"})
    noise: float = field(
        default=math.radians(10),
        metadata={"help": "standard deviation of the turns' perturbation", "degrees": True},
    )
    box: float = field(
        default=1.0, metadata={"help": "side of the square in which the agents start"}
    )
    n_bins: int = field(
        default=36, metadata={"help": "classes of misalignment, one centred on zero"}
    )
    turns: tuple[float, ...] = field(
        default=tuple(math.radians(degrees) for degrees in range(-60, 61, 10)),
        metadata={"help": "turns available to a learning agent", "degrees": True},
    )
    periodic: bool = field(
        default=True, metadata={"help": "the square's edges meet; otherwise space is open"}
    )
    nearest: int | None = field(
        default=None, metadata={"help": "number of nearest neighbours, instead of a radius"}
    )

    action_units: ClassVar[str] = "rad"

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        check_integer("n_agents", self.n_agents, least=1)
        check_number("radius", self.radius, positive=True)
        check_number("speed", self.speed, positive=False)
        check_number("noise", self.noise, positive=False)
        check_number("box", self.box, positive=True)
        for name in ("radius", "speed", "box"):
            if getattr(self, name) > LONGEST:
                raise InvalidInput(
                    f"{name} must be at most {LONGEST:g}, so that positions stay finite, got "
                    f"{getattr(self, name)!r}"
                )
        check_integer("n_bins", self.n_bins, least=1)
        if not self.turns or not all(
            is_number(turn) and abs(turn) <= math.pi for turn in self.turns
        ):
            raise InvalidInput(
                f"turns must be angles from -pi to pi in radians, got {self.turns!r}"
            )
        if self.nearest is not None:
            check_integer("nearest", self.nearest, least=1)
        object.__setattr__(self, "turns", tuple(float(turn) for turn in self.turns))

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Positions, periodic if the box is, and headings."""
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
    def features(self) -> Angles:
        """The classes of misalignment."""
        return Angles(self.n_bins, name="misalignment")

    def initial(self, rng: Stream) -> State:
        """Agents uniformly in the square, headings uniform on the circle."""
        return {
            "position": rng.uniform(0.0, self.box, size=(2,)),
            "heading": rng.uniform(-math.pi, math.pi),
        }

    def observe(self, state: State) -> NDArray[np.float64]:
        """The misalignment of each agent, in [-pi, pi]."""
        if self.nearest is not None:
            return self._misalignment_to_nearest(state)
        return kernels.vicsek.misalignment(*_floats(state), self.radius, self._period)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Move with the heading before the turn, then turn by the action and the noise."""
        if not np.isfinite(actions).all():
            raise InvalidInput("turns must be finite angles in radians, got NaN or infinity")
        turn = np.ascontiguousarray(actions, dtype=np.float64)
        noise = rng.normal(scale=self.noise) if self.noise else np.zeros_like(turn)
        position, heading = kernels.vicsek.advance(
            *_floats(state), turn, noise, self.speed, self._period
        )
        return {"position": position, "heading": heading}

    def inferred_actions(self, before: State, after: State) -> NDArray[np.float64]:
        """The turns (runs, agents) from one state to the next, in [-pi, pi).

        They contain the noise: what an agent wanted is known only to within its standard deviation.
        """
        turn = np.asarray(after["heading"] - before["heading"], np.float64)
        wrapped: NDArray[np.float64] = np.remainder(turn + math.pi, 2 * math.pi) - math.pi
        return wrapped

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states of other origin that are not this system's."""
        position = state["position"]
        if (
            self.periodic
            and position.size
            and not (position.min() >= 0 and position.max() < self.box)
        ):
            raise InvalidInput(
                f"positions must be in [0, {self.box}), got {position.min():.4g} to "
                f"{position.max():.4g}: shift or scale them into the box"
            )

    def expert(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """The paper's expert turns by exactly its misalignment."""
        return observations

    def order(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The order parameter, 0 (disordered) to 1 (all aligned), of a state or trajectory.

        For a trajectory the shape is (runs, steps + 1).
        """
        heading = np.ascontiguousarray(swarm["heading"], dtype=np.float64)
        rows = heading.reshape(-1, heading.shape[-1])
        return kernels.vicsek.order(rows).reshape(heading.shape[:-1])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The order parameter."""
        return {
            "order": Measure(self.order, "order parameter ω", limits=(0.0, 1.0), order_free=True)
        }

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Arrows:
        """The agents of one run as arrows."""
        return Arrows(
            swarm["position"][run],
            swarm["heading"][run],
            window=(0.0, 0.0, self.box) if self.periodic else None,
            periodic=self.periodic,
        )

    @property
    def mirror(self) -> Mirror | None:
        """Left and right: misalignments and turns change their sign.

        None where the turns to one side are not those to the other.
        """
        turns = self.actions
        both = np.array_equal(np.sort(-turns), np.sort(turns))
        return Mirror(np.negative, np.negative) if both else None

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
        position, _ = _floats(state)
        return kernels.graph.hops(position, agent, self.radius, self._period)

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """Large swarms are kept in the order of the cells that they are in."""
        if self.n_agents < REARRANGE_FROM or self.nearest is not None or step % REARRANGE_EVERY:
            return None
        order = kernels.vicsek.by_cell(state["position"], self.radius, self._period)
        return {name: reordered(array, order) for name, array in state.items()}, order

    @property
    def _period(self) -> float:
        return self.box if self.periodic else 0.0

    def _misalignment_to_nearest(self, state: State) -> NDArray[np.float64]:
        """Misalignment to the agent itself and its nearest ones, all that are equally near too."""
        places, headings = _floats(state)
        out = np.empty(headings.shape)
        for r, (position, heading) in enumerate(zip(places, headings, strict=True)):
            out[r] = _misalignment_to_nearest(position, heading, self.nearest or 1, self._period)
        return out


def _floats(state: State) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions and headings as the kernels take them."""
    return (
        np.ascontiguousarray(state["position"], dtype=np.float64),
        np.ascontiguousarray(state["heading"], dtype=np.float64),
    )


def _misalignment_to_nearest(
    position: NDArray[np.float64], heading: NDArray[np.float64], nearest: int, period: float
) -> NDArray[np.float64]:
    from scipy.spatial import KDTree

    agents = len(heading)
    units = kernels.vicsek.fixed_point_scale(agents)
    # Fixed-point sums are exact, so they do not depend on the order in which the tree lists agents.
    u, v = (np.cos(heading) * units).astype(np.int64), (np.sin(heading) * units).astype(np.int64)
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
    cancelled = np.abs(sum_u) + np.abs(sum_v) < kernels.vicsek.least_sum(agents)
    sum_u, sum_v = np.where(cancelled, u, sum_u), np.where(cancelled, v, sum_v)
    own = u.astype(np.float64) - 1j * v.astype(np.float64)
    mean = sum_u.astype(np.float64) + 1j * sum_v.astype(np.float64)
    angle: NDArray[np.float64] = np.angle(own * mean)
    return angle
