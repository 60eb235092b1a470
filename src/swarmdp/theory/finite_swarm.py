"""Finite swarms: systems so small that all their states can be listed.

A finite swarm is an ordinary system (it can be simulated, learned from and checked like any other)
that also tells its own laws, as numbers. Simulation draws from these laws, and `swarmdp.theory`
computes with them: both are the same swarm.

The local states that change are numbered from 0 to n_local - 1. What never changes in a local state
(the site of a spin) is not numbered; see `FiniteSwarm.place`.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.features import Classes
from swarmdp.model.streams import Stream
from swarmdp.model.system import State, System, arrays_of, check_stream
from swarmdp.support.errors import InvalidInput

Acting = Literal["all", "one"]


@runtime_checkable
class FiniteSwarm(System, Protocol):
    """A swarMDP with finitely many local states, and its laws.

    The agents start independently of each other, each with the law `initial_local`. In a step
    either all agents act, or one, drawn uniformly; who does not act stays as it is. Given the joint
    state, those who act move independently of each other, each with its law `outcomes`.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> isinstance(ring, theory.FiniteSwarm)
    True

    """

    @property
    def features(self) -> Classes:
        """The classes of observations."""

    @property
    def n_local(self) -> int:
        """The number of local states."""

    @property
    def acting(self) -> Acting:
        """Who acts in a step: "all" agents, or "one" of them."""

    @property
    def initial_local(self) -> NDArray[np.float64]:
        """The probability with which an agent starts in each local state (n_local,)."""

    def place(self, local: NDArray[np.integer]) -> State:
        """The joint states whose local states have these numbers (runs, agents).

        What is constant in a local state is chosen once and for all (agent n on site n). This must
        make no difference: the swarm has to look the same from every place, as on a ring or torus.
        """

    def local(self, state: State) -> NDArray[np.integer]:
        """The number of each agent's local state (runs, agents)."""

    def outcomes(self, state: State, actions: NDArray[np.integer]) -> NDArray[np.float64]:
        """The law of each agent's next local state if it takes the action with this index.

        From the joint state and action indices (runs, agents) to (runs, agents, n_local).
        """


def draw_next_states(
    system: FiniteSwarm, state: State, actions: NDArray[Any], rng: Stream
) -> NDArray[np.int64]:
    """Draw the next local states (runs, agents) of a finite swarm, from physical actions."""
    law = system.outcomes(state, action_indices(system, actions))
    check_stream(rng, law.shape[:2])
    chance = rng.uniform()[..., None]
    drawn: NDArray[np.int64] = (np.cumsum(law, axis=-1) <= chance).sum(axis=-1)
    # Rounding may leave the sum of a law below one: the last possible outcome takes the rest.
    last = system.n_local - 1 - np.argmax(law[..., ::-1] > 0, axis=-1)
    drawn = np.minimum(drawn, last)
    if system.acting == "one":
        drawn = np.where(rng.permutation() == 0, drawn, system.local(state))
    return drawn


def drawn_local(system: FiniteSwarm, rng: Stream) -> NDArray[np.int64]:
    """Draw initial local states (runs, agents)."""
    law = system.initial_local
    check_stream(rng)
    drawn: NDArray[np.int64] = (np.cumsum(law) <= rng.uniform()[..., None]).sum(axis=-1)
    return drawn.clip(max=np.flatnonzero(law)[-1])


def action_indices(system: System, actions: NDArray[Any]) -> NDArray[np.int64]:
    """The action indices of physical actions."""
    available = np.asarray(system.actions)
    if available.ndim == 1:
        same = actions[..., None] == available
    else:
        same = (actions[..., None, :] == available).all(axis=-1)
    if not same.any(axis=-1).all():
        raise InvalidInput(f"an action must be one of {list(system.actions)}, got others")
    indices: NDArray[np.int64] = same.argmax(axis=-1)
    return indices


def local_arrays(system: System, state: State, **counts: int) -> list[NDArray[np.int64]]:
    """The arrays of a state whose entries count from 0 to counts - 1, (runs, agents), checked."""
    arrays = arrays_of(state, **dict.fromkeys(counts, np.int64))
    for (name, count), array in zip(counts.items(), arrays, strict=True):
        if array.ndim != 2 or array.shape[1] != system.n_agents:
            raise InvalidInput(
                f"{name!r} must have the shape (runs, {system.n_agents}), got {array.shape}"
            )
        if array.size and not 0 <= array.min() <= array.max() < count:
            raise InvalidInput(f"{name!r} must be from 0 to {count - 1}, got others")
    return arrays


def check_indices(system: System, actions: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raise InvalidInput unless these are indices of the system's actions, of this shape."""
    most = len(system.actions) - 1
    right = actions.dtype.kind in "iu" and actions.shape == shape
    if not right or (actions.size and not 0 <= actions.min() <= actions.max() <= most):
        raise InvalidInput(
            f"actions must be indices from 0 to {most} of the shape {shape}, got {actions.dtype} "
            f"of shape {actions.shape}"
        )


def check_numbers(system: "FiniteSwarm", local: NDArray[np.integer]) -> None:
    """Raise InvalidInput unless these are numbers of local states (runs, agents)."""
    if local.ndim != 2 or local.shape[1] != system.n_agents:
        raise InvalidInput(
            f"local states must have the shape (runs, {system.n_agents}), got {local.shape}"
        )
    if local.size and not 0 <= local.min() <= local.max() < system.n_local:
        raise InvalidInput(f"local states must be from 0 to {system.n_local - 1}, got others")
