"""The Ising model (section 'The Ising Model' of the paper)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Levels
from swarmdp.model.pictures import Grid
from swarmdp.model.streams import Purpose, Stream, Streams, first_draw, is_in_order
from swarmdp.model.system import (
    Field,
    Measure,
    Rule,
    State,
    arrays_of,
    check_run,
    check_stream,
    reordered,
)
from swarmdp.model.traits import Room, WholeSteps
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.checks import brief, check_integer, keep_python_numbers
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import PositiveInteger, between

KEEP, FLIP = 0, 1


@checked(but=("initial", "observe", "transition", "expert", "energy", "arrange", "check_state"))
@dataclass(frozen=True)
class Ising:
    """Spins on a grid that observe how many of their neighbours are of the opposite spin.

    The local state is (site, spin): the agents sit on the sites of the grid in a random order, so
    that they are interchangeable, as a swarm's agents must be. Neighbours are the sites within the
    Chebyshev distance `reach`. An agent observes its local energy, the number of neighbours of
    opposite spin, and keeps or flips its spin.

    The defaults are the paper's: a 100 x 100 grid of 5 x 5 neighbourhoods. The paper does not name
    the boundary; only on a torus has each agent 24 neighbours, as it says.

    With `periodic=False` agents at the boundary have fewer neighbours. Half of the missing ones,
    rounded up, count as unlike in what an agent observes: so an observation above half of the full
    number means for all agents that most of the neighbours that are there are unlike. The global
    energy counts only neighbours that are there.

    Parameters
    ----------
    shape
        Rows and columns of the grid.
    reach
        Chebyshev radius of neighbourhoods.
    periodic
        The grid's edges meet, so that it is a torus.
    magnetisation
        Expected mean of the initial spins.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(20, 20), reach=1)
    >>> run = swarmdp.rollout(ising, ising.expert, steps=20, runs=3, seed=1, record="energy")
    >>> run["energy"].shape
    (3, 21)

    """

    shape: tuple[int, int] = field(
        default=(100, 100), metadata={"help": "rows and columns of the grid"}
    )
    reach: PositiveInteger = field(
        default=2, metadata={"help": "Chebyshev radius of neighbourhoods"}
    )
    periodic: bool = field(
        default=True, metadata={"help": "the grid's edges meet, so that it is a torus"}
    )
    magnetisation: Annotated[float, between(-1, 1)] = field(
        default=0.0, metadata={"help": "expected mean of the initial spins"}
    )

    fused_measures: ClassVar[frozenset[str]] = frozenset({"energy"})
    fields: ClassVar[Mapping[str, Field]] = {
        "site": Field("number of the grid's site, row by row", constant=True),
        "spin": Field("spin, +1 or -1", kind="level"),
    }

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        if not isinstance(self.shape, tuple | list) or len(self.shape) != 2:
            raise InvalidInput(f"shape must be two numbers (rows, columns), got {self.shape!r}")
        for axis, size in zip(("rows", "columns"), self.shape, strict=True):
            check_integer(f"shape: {axis}", size, least=1)
        if self.periodic and min(self.shape) < 2 * self.reach + 1:
            raise InvalidInput(
                f"a periodic grid needs at least {2 * self.reach + 1} rows and columns, so that no "
                f"neighbour is met twice, got {self.shape}: choose a larger grid or periodic=False"
            )

    @property
    def n_agents(self) -> int:
        """One agent for each site."""
        return self.shape[0] * self.shape[1]

    @property
    def n_neighbours(self) -> int:
        """The neighbours of an agent that is not at the boundary."""
        return (2 * self.reach + 1) ** 2 - 1

    @cached_property
    def actions(self) -> NDArray[np.bool_]:
        """Keep and flip."""
        return np.array([False, True])

    @cached_property
    def features(self) -> Levels:
        """Every possible local energy is a class of its own."""
        return Levels(self.n_neighbours + 1, name="local energy")

    def initial(self, rng: Stream) -> State:
        """Independent spins; the agents on the sites in a uniformly random order."""
        check_stream(rng)
        up = rng.uniform() < (1 + self.magnetisation) / 2
        return {
            "site": rng.permutation(),
            "spin": np.int8(2) * up.view(np.int8) - np.int8(1),
        }

    def observe(self, state: State) -> NDArray[np.unsignedinteger]:
        """The local energy of each agent; half of the missing neighbours, rounded up, count."""
        site, spin = self._sites_and_spins(state)
        if not self._in_grid_order(site):
            energies = self._energies(kernels.ising.put_on_grid(site, spin))
            return kernels.tables.look_up(site, energies, np.arange(len(site)))
        return self._energies(spin)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Flip the spins of the agents that want to."""
        site, spin = self._sites_and_spins(state)
        actions = numbers("actions", actions)
        if actions.shape != spin.shape:
            raise InvalidInput(
                f"actions must have the shape (runs, agents) = {spin.shape}, got {actions.shape}"
            )
        check_stream(rng)
        if actions.dtype != np.bool_:
            if not ((actions == KEEP) | (actions == FLIP)).all():
                raise InvalidInput("an action must be 0 (keep) or 1 (flip), got others")
            actions = actions == FLIP
        sign = np.int8(1) - np.int8(2) * actions.view(np.int8)
        return {"site": site, "spin": spin * sign}

    def inferred_actions(self, before: State, after: State) -> NDArray[np.bool_]:
        """Which spins (runs, agents) flipped from one state to the next."""
        (first,), (then,) = (arrays_of(state, spin=np.int8) for state in (before, after))
        if first.shape != then.shape:
            raise InvalidInput(
                f"both states must have the same runs and agents, got {first.shape} and "
                f"{then.shape}"
            )
        flipped: NDArray[np.bool_] = first != then
        return flipped

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states of other origin that are not this system's."""
        self._sites_and_spins(state)

    def expert(self, observations: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
        """The paper's expert follows the majority of its neighbours; a tie keeps the spin."""
        energies = numbers("observations", observations)
        if energies.dtype.kind not in "iu":
            raise InvalidInput(
                f"observations must be local energies, integers, got {energies.dtype}"
            )
        more: NDArray[np.bool_] = energies > self.n_neighbours // 2
        return more

    def energy(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        """The global energy of a state or trajectory: unlike neighbours, summed over all agents.

        Each unlike pair counts twice, once for each of its agents; missing neighbours do not count.
        For a trajectory the shape is (runs, steps + 1).
        """
        site, spin = self._recorded_grids(swarm)
        if spin.ndim == site.ndim:
            return self._energy_of(self.observe({"site": site, "spin": spin}))
        times = [
            self.energy({"site": site, "spin": np.ascontiguousarray(spin[:, t])})
            for t in range(spin.shape[1])
        ]
        return np.stack(times, axis=1)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The global energy, which follows from what the agents observe."""
        return {
            "energy": Measure(
                self.energy,
                "global energy E",
                limits=(0.0, None),
                order_free=True,
                of_observations=self._energy_of,
            )
        }

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> Grid:
        """The spins of one run: true where they are up."""
        check_run(swarm, run, "site", "spin")
        one = {name: swarm[name][run : run + 1] for name in ("site", "spin")}
        return Grid(self.grid(one)[0] > 0)

    def grid(self, swarm: Mapping[str, NDArray[Any]]) -> NDArray[np.int8]:
        """The spins as they lie on the grid: (runs, [steps + 1,] rows, columns)."""
        site, spin = self._recorded_grids(swarm)
        if spin.ndim > site.ndim:
            site = np.broadcast_to(site[:, None], spin.shape)
        on_grid: NDArray[np.int8] = self._on_grid(site, spin)
        return on_grid.reshape(*spin.shape[:-1], *self.shape)

    def resized(self, n_agents: PositiveInteger) -> "Ising":
        """The same grid with at most this number of sites, its sides in about the same proportion.

        Parameters
        ----------
        n_agents
            The number of sites; there are more if a torus needs them for this reach.

        Examples
        --------
        >>> import swarmdp
        >>> swarmdp.Ising(shape=(100, 50)).resized(1250).shape
        (50, 25)

        """
        share = math.sqrt(n_agents / self.n_agents)
        least = 2 * self.reach + 1 if self.periodic else 1
        rows, columns = (max(least, math.floor(side * share + 1e-9)) for side in self.shape)
        return replace(self, shape=(rows, columns))

    def solutions(self, table: NDArray[np.integer], seen: NDArray[np.bool_]) -> list[str]:
        """Which solution each replica of a table (R, 25) is, on the energies seen (R, 25).

        A local energy does not change when every spin flips. So the majority vote and its mirror
        image (flip when aligned, keep when not: the whole grid blinks) have the same energies,
        and a reward of energies cannot tell them apart; the result says which one was found. The
        tie counts: the majority vote keeps its spin there, so its mirror image flips. A swarm that
        does otherwise goes on where the expert's stands still, and ends at a lower energy.
        """
        levels = np.arange(self.features.size)
        if table.shape != seen.shape or table.shape[1:] != levels.shape:
            raise InvalidInput(
                f"table and seen must have the shape (replicas, {levels.size}), got {table.shape} "
                f"and {seen.shape}"
            )
        expert = self.expert(levels.astype(np.uint32))
        names = []
        for choice, visited in zip(table, seen, strict=True):
            agree = (choice == expert)[visited]
            name, odd = "majority vote", levels[visited][~agree]
            if 2 * agree.sum() < agree.size:
                name, odd = "mirror image of the majority vote", levels[visited][agree]
            if odd.size:
                name += f" but for energies {', '.join(map(str, odd))}"
            names.append(name)
        return names

    def arrange(self, state: State, step: int) -> tuple[State, NDArray[np.integer]] | None:
        """Put the agents in the order of their sites; they never leave them."""
        check_integer("step", step, least=0)
        if step > 0:
            return None
        site, spin = self._sites_and_spins(state)
        order = np.empty_like(site)
        np.put_along_axis(order, site, np.arange(self.n_agents, dtype=site.dtype)[None], axis=1)
        return {
            "site": np.broadcast_to(self._sites, site.shape),
            "spin": reordered(spin, order),
        }, order

    def exploring_swarms(self, streams: Streams, step: int) -> "_ExploringGrids | None":
        """Swarms that learn in compiled code, in the order of the sites; None for subclasses."""
        if type(self) is not Ising:
            return None
        spin, agents = self._start_grids(streams, step)
        grids = kernels.ising.ExploringGrids(
            spin.reshape(-1, *self.shape),
            agents,
            self.reach,
            self.periodic,
            seed=streams.seed,
            numbers=streams.runs,
        )
        return _ExploringGrids(Streams(streams.seed, streams.runs, agents), grids)

    def _start_grids(
        self, streams: Streams, step: int
    ) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        """What `initial` draws, put on the grid: spins, and who sits on each site."""
        if is_in_order(streams):
            spins = streams.counter(step, Purpose.INITIAL)
            sites = replace(spins, draw=spins.draw + 1)
            share = (1 + self.magnetisation) / 2
            return kernels.ising.start_grids(spins, sites, self.n_agents, share)
        state = self.initial(streams.at(step, Purpose.INITIAL))
        site, spin = state["site"], state["spin"]
        put = kernels.ising.put_on_grid
        return put(site, spin), put(site, streams.agents)

    def whole_steps(
        self,
        state: Callable[[], State],
        rule: Rule,
        rows: NDArray[np.int64],
        streams: Streams,
        steps: int,
    ) -> WholeSteps | None:
        """Whole steps of the expert or of a table; None for subclasses."""
        if type(self) is not Ising or (callable(rule) and rule != self.expert):
            return None
        levels = np.arange(self.features.size, dtype=np.uint32)
        table = self.expert(levels)[None] if callable(rule) else np.asarray(rule)
        flips = table.astype(np.uint8)[rows % len(table)]
        site, spin = self._sites_and_spins(state())
        on_grid = kernels.ising.put_on_grid(site, spin).reshape(-1, *self.shape)
        return _WholeSteps(self, on_grid, site, flips, steps)

    @cached_property
    def _sites(self) -> NDArray[np.int32]:
        sites = np.arange(self.n_agents, dtype=np.int32)
        sites.setflags(write=False)
        return sites

    @cached_property
    def _missing(self) -> int:
        """What missing neighbours add to the sum of all observations."""
        if self.periodic:
            return 0
        place = [np.arange(size) for size in self.shape]
        there = [
            np.minimum(p + self.reach, p[-1]) - np.maximum(p - self.reach, 0) + 1 for p in place
        ]
        missing = self.n_neighbours + 1 - np.outer(*there)
        return int(((missing + 1) // 2).sum())

    def _energy_of(self, observations: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        """The global energy from what all agents observe."""
        return kernels.tables.total(observations) - self._missing

    def _in_grid_order(self, site: NDArray[Any]) -> bool:
        """Whether this is the very array with which `arrange` says: agent n sits on site n."""
        sites = self._sites
        return (
            site.ctypes.data == sites.ctypes.data
            and site.dtype == sites.dtype
            and site.strides == (0, sites.itemsize)
            and site.shape[1] == sites.size
        )

    def _sites_and_spins(self, state: State) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Sites and spins as the kernels take them; raises InvalidInput for others."""
        site, spin = arrays_of(state, site=np.integer, spin=np.int8)
        if site.shape != spin.shape or site.ndim != 2 or site.shape[1] != self.n_agents:
            raise InvalidInput(
                f"sites and spins must have the shape (runs, {self.n_agents}), got {site.shape} "
                f"and {spin.shape}"
            )
        if not kernels.ising.are_spins(spin):
            raise InvalidInput("spins must be +1 or -1, got others")
        if not self._in_grid_order(site) and not kernels.ising.are_all_sites(site):
            raise InvalidInput(f"sites must be each of 0 to {self.n_agents - 1} once in every run")
        return site, spin

    def _recorded_grids(
        self, swarm: Mapping[str, NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sites and spins of a state or trajectory, checked."""
        if not isinstance(swarm, Mapping) or "site" not in swarm or "spin" not in swarm:
            raise InvalidInput(
                f"a state or trajectory with 'site' and 'spin' is needed, got {brief(swarm)}: "
                "record states"
            )
        site = numbers("'site'", swarm["site"], np.integer)
        spin = numbers("'spin'", swarm["spin"], np.int8)
        if spin.ndim not in (2, 3) or site.shape != (len(spin), *spin.shape[spin.ndim - 1 :]):
            raise InvalidInput(
                f"spins (runs, times, agents) need sites (runs, agents), got {spin.shape} and "
                f"{site.shape}"
            )
        for time in range(spin.shape[1]) if spin.ndim == 3 else (slice(None),):
            self._sites_and_spins({"site": site, "spin": spin[:, time]})
        return site, spin

    def _on_grid(self, site: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
        placed = np.empty(values.shape, values.dtype)
        np.put_along_axis(placed, site, values, axis=-1)
        return placed

    def _energies(self, spin: NDArray[Any]) -> NDArray[np.unsignedinteger]:
        """The local energies of spins in the order of the grid."""
        energies = kernels.ising.local_energy(
            spin.reshape(-1, *self.shape), self.reach, self.periodic
        )
        return energies.reshape(spin.shape)


@dataclass(frozen=True, eq=False)
class _ExploringGrids:
    """Grids of spins that learn; see `traits.ExploringSwarms`."""

    streams: Streams
    grids: "kernels.ising.ExploringGrids"

    def step(
        self,
        table: NDArray[np.integer],
        temperature: float,
        place: NDArray[np.float64] | None,
        time: int,
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8], NDArray[np.unsignedinteger]]:
        """Energies before, actions, and energies after."""
        return self.grids.step(table, temperature, place, time, first_draw(Purpose.EXPLORATION))


@dataclass(frozen=True, eq=False)
class _WholeSteps:
    """Grids of spins under way; see `traits.WholeSteps`."""

    system: Ising
    spin: NDArray[np.int8]  # (runs, rows, columns), changed in place
    site: NDArray[np.integer]  # (runs, agents)
    flips: NDArray[np.uint8]  # (runs, energies): 1 where a spin flips
    steps: int

    def advance(self, first: int, last: int, room: Room) -> None:
        """Keep these moments, and take the step after each of them."""
        if room.states is None and room.observations is None and room.actions is None:
            moving = min(last, self.steps) - first  # after all moments, but not after the very last
            histogram = room.counts is not None
            reach, periodic = self.system.reach, self.system.periodic
            counts, total = kernels.ising.count_steps(
                self.spin, self.flips, last - first, moving, histogram, reach, periodic
            )
            self._keep(counts, total, first, last, room)
            return
        runs = np.arange(len(self.spin))
        for time in range(first, last):
            spin = self.spin.reshape(len(self.spin), -1)
            energy = self.system._energies(spin)
            flip = kernels.tables.look_up(energy, self.flips, runs).view(np.bool_)
            self._keep_agents(spin, energy, flip, time, room)
            counts = kernels.tables.count(energy, self.flips.shape[1])[:, None]
            self._keep_counts(counts, time, time + 1, room, time - first)
            if time < self.steps:
                np.negative(spin, out=spin, where=flip)

    def _keep(
        self,
        counts: NDArray[np.int64],
        total: NDArray[np.int64],
        first: int,
        last: int,
        room: Room,
    ) -> None:
        """Keep the number of agents of each energy where it is wanted, or else the energies."""
        if room.counts is not None:
            self._keep_counts(counts, first, last, room)
        elif "energy" in room.measures:
            room.measures["energy"][:, first:last] = total - self.system._missing

    def _keep_agents(
        self,
        spin: NDArray[np.int8],
        energy: NDArray[np.unsignedinteger],
        flip: NDArray[np.bool_],
        time: int,
        room: Room,
    ) -> None:
        """Keep what is kept of every agent, in the agents' own order."""
        runs = np.arange(len(self.site))
        if room.states is not None and time == 0:
            room.states["site"][...] = self.site
        kept = (
            (None if room.states is None else room.states["spin"], spin),
            (room.observations, energy),
            (room.actions if time < self.steps else None, flip),
        )
        for target, values in kept:
            if target is not None:
                target[:, time] = kernels.tables.look_up(self.site, values, runs)

    def _keep_counts(
        self, counts: NDArray[np.int64], first: int, last: int, room: Room, place: int = 0
    ) -> None:
        """Keep the number of agents of each energy, and the global energy."""
        if room.counts is not None:
            room.counts[:, place : place + last - first] = counts
        if "energy" in room.measures:
            levels = np.arange(counts.shape[2])
            energy = (counts * levels).sum(axis=2) - self.system._missing
            room.measures["energy"][:, first:last] = energy
