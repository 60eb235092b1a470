"""Ising spins on a small ring or torus, with optional noise: a finite swarm."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Levels
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State, arrays_of
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_integer, keep_python_numbers
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Index, between
from swarmdp.theory.finite_swarm import (
    Acting,
    check_indices,
    check_numbers,
    draw_next_states,
    drawn_local,
    local_arrays,
)

_KEEP, _FLIP = 0, 1
LARGEST_WINDOW = 16  # spins that an agent may see one by one: 2**16 classes

Sight = Literal["majority", "energy", "spins"]


@checked
@dataclass(frozen=True)
class FiniteIsing:
    """Spins on a ring (one size) or a torus (two) that keep or flip, and may fail to.

    The neighbours of an agent are the other sites within the Chebyshev distance `reach`; on a small
    ring this may be all of them. An agent sees

    - "majority": whether most of its neighbours are like it (0), it is a tie (1), or unlike it (2);
    - "energy": how many of its neighbours are unlike it, as in the paper;
    - "spins": its own spin and that of every neighbour, as a binary number.

    An action fails, and does the opposite, with the probability `noise`. The agents sit on random
    sites, so that they are interchangeable. Where they sit never changes and all sites are alike,
    so for the exact laws agent n sits on site n.

    Parameters
    ----------
    shape
        The sides of the ring or torus.
    reach
        The Chebyshev radius of neighbourhoods.
    sees
        "majority", "energy" or "spins".
    noise
        The probability that an action fails.
    acting
        Who acts in a step: "all" agents, or "one" of them, drawn uniformly.
    magnetisation
        The expected mean of the initial spins.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.enumerate_swarm(ring).n_states
    16

    """

    shape: tuple[int, ...] = (6,)
    reach: Index = 1
    sees: Sight = "energy"
    noise: Annotated[float, between(0, 0.5)] = 0.0
    acting: Acting = "all"
    magnetisation: Annotated[float, between(-1, 1)] = 0.0

    fields: ClassVar[Mapping[str, Field]] = {
        "site": Field("number of the site, row by row", constant=True),
        "spin": Field("spin, +1 or -1", kind="level"),
    }

    def __post_init__(self) -> None:
        keep_python_numbers(self)
        if not isinstance(self.shape, tuple | list) or len(self.shape) not in (1, 2):
            raise InvalidInput(
                f"shape must be one number (a ring) or two (a torus), got {self.shape!r}"
            )
        for size in self.shape:
            check_integer("shape: each size", size, least=1)
        if self.sees == "spins" and self.n_neighbours >= LARGEST_WINDOW:
            raise InvalidInput(
                f"an agent can see at most {LARGEST_WINDOW} spins one by one, but it has "
                f'{self.n_neighbours} neighbours: use a smaller reach, or sees="energy"'
            )

    @property
    def n_agents(self) -> int:
        """One agent for each site."""
        return int(np.prod(self.shape))

    @property
    def n_neighbours(self) -> int:
        """The neighbours of each agent."""
        return int(self._neighbours.shape[1])

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """Keep (0) and flip (1)."""
        return np.array([_KEEP, _FLIP])

    @cached_property
    def features(self) -> Levels:
        """Everything that can be seen is a class of its own."""
        size, name = {
            "majority": (3, "neighbours: like, tied, unlike"),
            "energy": (self.n_neighbours + 1, "local energy"),
            "spins": (2 ** (self.n_neighbours + 1), "spins in sight"),
        }[self.sees]
        return Levels(size, name=name)

    @property
    def n_local(self) -> int:
        """Spin down (0) and up (1)."""
        return 2

    @property
    def initial_local(self) -> NDArray[np.float64]:
        """Independent spins of the given mean."""
        return np.array([(1 - self.magnetisation) / 2, (1 + self.magnetisation) / 2])

    def initial(self, rng: Stream) -> State:
        """Independent spins; the agents on the sites in a uniformly random order."""
        spin = (2 * drawn_local(self, rng) - 1).astype(np.int8)
        return {"site": rng.permutation(), "spin": spin}

    def place(self, local: NDArray[np.integer]) -> State:
        """These spins, agent n on site n."""
        check_numbers(self, local)
        site = np.broadcast_to(np.arange(self.n_agents, dtype=np.int32), local.shape)
        return {"site": site, "spin": (2 * local - 1).astype(np.int8)}

    def local(self, state: State) -> NDArray[np.int64]:
        """Down is 0, up is 1."""
        return ((self._sites_and_spins(state)[1] + 1) // 2).astype(np.int64)

    def observe(self, state: State) -> NDArray[np.int64]:
        """What each agent sees of its neighbours."""
        site, spin = self._sites_and_spins(state)
        grid = np.empty_like(spin)
        np.put_along_axis(grid, site, spin, axis=1)
        around = grid[np.arange(len(grid))[:, None, None], self._neighbours[site]]
        if self.sees == "spins":
            window = np.concatenate([spin[..., None], around], axis=-1) > 0
            bits: NDArray[np.int64] = window @ (1 << np.arange(window.shape[-1]))
            return bits
        energy: NDArray[np.int64] = (around != spin[..., None]).sum(axis=-1)
        return energy if self.sees == "energy" else 1 + np.sign(2 * energy - self.n_neighbours)

    def outcomes(self, state: State, actions: NDArray[np.integer]) -> NDArray[np.float64]:
        """The wanted spin, but for the noise."""
        now = self.local(state)
        check_indices(self, actions, now.shape)
        target = now ^ (actions == _FLIP)
        up = np.where(target == 1, 1 - self.noise, self.noise)
        return np.stack([1 - up, up], axis=-1)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Draw the next spins."""
        spin = (2 * draw_next_states(self, state, actions, rng) - 1).astype(np.int8)
        return {"site": state["site"], "spin": spin}

    def expert(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        """Follow the majority of the neighbours; a tie keeps the spin."""
        return (self._unlike(observations) * 2 > self.n_neighbours).astype(np.int64)

    def energy(self, state: State) -> NDArray[np.int64]:
        """The global energy: pairs of unlike neighbours, each counted from both sides."""
        seen = FiniteIsing(self.shape, self.reach, "energy").observe(state)
        total: NDArray[np.int64] = seen.sum(axis=1)
        return total

    def _sites_and_spins(self, state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sites and spins (runs, agents); raises InvalidInput for others."""
        (site,) = local_arrays(self, state, site=self.n_agents)
        (spin,) = arrays_of(state, spin=np.int64)
        if spin.shape != site.shape or not np.isin(spin, (-1, 1)).all():
            raise InvalidInput(
                f"'spin' must be +1 or -1 of the shape {site.shape}, got shape {spin.shape} or "
                "others"
            )
        if not (np.sort(site, axis=1) == np.arange(self.n_agents)).all():
            raise InvalidInput(f"sites must be each of 0 to {self.n_agents - 1} once in every run")
        return site, spin

    def _unlike(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        """How many neighbours are unlike the agent (for "majority": all, half or none)."""
        seen = self.features.index(observations).astype(np.int64)
        if self.sees == "energy":
            return seen
        if self.sees == "majority":
            return np.array([0, self.n_neighbours // 2, self.n_neighbours]).take(seen)
        up: NDArray[np.int64] = np.bitwise_count(seen >> 1).astype(np.int64)
        return np.where(seen & 1, self.n_neighbours - up, up)

    @cached_property
    def _neighbours(self) -> NDArray[np.int64]:
        """The sites around each site (sites, neighbours), in the same order everywhere."""
        axes = [np.unique(np.arange(-self.reach, self.reach + 1) % size) for size in self.shape]
        offsets = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(self.shape))
        offsets = offsets[offsets.any(axis=1)]
        places = np.stack(np.unravel_index(np.arange(self.n_agents), self.shape), axis=-1)
        around = (places[:, None] + offsets) % self.shape
        sites: NDArray[np.int64] = np.ravel_multi_index(
            tuple(np.moveaxis(around, -1, 0)), self.shape
        )
        return sites
