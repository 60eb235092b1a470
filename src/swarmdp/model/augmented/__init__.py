"""More general agents by augmentation: a memory, a history, noisy or late senses, kinds.

What an agent remembers, or how its senses err, becomes part of its local state and of what it
observes. The swarMDP stays what it is, so that everything works as with any system. `layers.py`
has one class for each kind of augmentation, `wrapper.py` the system with a layer around it.

Decisions:

- Senses lie under memories, whatever was written first: an agent remembers what it has sensed.
- Rewards are for what they were for before: not for the past, and not for the memory's state,
  which no demo tells. Kinds have rewards of their own.
- Past observations are at first the present one, past actions the one that does nothing.
- Which agent is of which kind is drawn in every run: agents' numbers say nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swarmdp.model.augmented.layers import Delay, History, Kinds, Layer, Memory, Noise, layer_from
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.features import Levels, Product, Vectors
from swarmdp.model.system import System, check_is_system, name_of
from swarmdp.model.traits import settings_of
from swarmdp.support.arguments import checked
from swarmdp.support.checks import is_number
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import PositiveInteger

__all__ = ["with_delay", "with_history", "with_kinds", "with_memory", "with_noise"]


@checked
def with_history(
    system: System,
    steps: PositiveInteger = 1,
    *,
    actions: bool = True,
    observations: bool = True,
) -> Augmented:
    """The system with agents that remember what they saw and did in their last steps.

    Parameters
    ----------
    system
        Any system with classes of observations.
    steps
        How many steps they remember.
    actions
        Whether they remember what they did.
    observations
        Whether they remember what they saw.

    Returns
    -------
    System
        The same swarm, whose observations have the past as further components. Classes are all
        combinations: make them coarse where `steps` are many.

    Raises
    ------
    InvalidInput
        If the system has no classes of observations, or nothing is to be remembered.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, n_bins=6, turns=(-0.5, 0.0, 0.5))
    >>> [axis.name for axis in swarmdp.with_history(vicsek).features.axes]
    ['misalignment', 'misalignment_1_ago', 'action_1_ago']

    """
    check_is_system(system)
    if not actions and not observations:
        raise InvalidInput("a history has actions, observations or both, got neither")
    if any(layer["layer"] == History.kind for layer in settings_of(system).get("layers", ())):
        raise InvalidInput("this system has a history already: give it more steps, steps=2")
    return Augmented(system, History(int(steps), bool(observations), bool(actions)))


@checked
def with_memory(system: System, states: PositiveInteger = 2) -> Augmented:
    """The system with agents that have a memory, and choose what to remember.

    An action is then a pair: what to do, and the state in which the memory is to be. The memory
    begins in state 0. Its state is observed, and has no reward of its own.

    Parameters
    ----------
    system
        Any system with classes of observations.
    states
        The number of states of the memory: two for each bit.

    Returns
    -------
    System
        The same swarm with actions of one more component.

    Raises
    ------
    InvalidInput
        If the system has no classes of observations.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.with_memory(swarmdp.Ising(shape=(6, 6), reach=1))
    >>> ising.action_names, len(ising.actions)
    (('action', 'remember'), 4)

    """
    check_is_system(system)
    return Augmented(system, Memory(int(states)))


@checked
def with_noise(system: System, amount: float | Mapping[str, float]) -> Augmented:
    """The system with agents whose senses err, in every step by another error.

    Parameters
    ----------
    system
        Any system.
    amount
        How much: for all components of an observation, or for some by their names. It is the
        standard deviation of a normal error in the unit of an angle or a number, and of levels the
        chance that another one is seen.

    Returns
    -------
    System
        The same swarm with the same observations, seen with errors.

    Raises
    ------
    InvalidInput
        If there is no such component, or the amount is negative, or no chance where one is needed.

    Examples
    --------
    >>> import math
    >>> import swarmdp
    >>> vicsek = swarmdp.with_noise(swarmdp.Vicsek(n_agents=20), math.radians(15))
    >>> swarmdp.rollout(vicsek, vicsek.expert, steps=5, seed=1)["sense_error"].shape
    (1, 6, 20, 1)

    """
    check_is_system(system)
    return _under_memories(system, lambda inner: Noise(_amounts(inner, amount)))


@checked
def with_delay(system: System, steps: PositiveInteger = 1) -> Augmented:
    """The system with agents that observe late.

    Parameters
    ----------
    system
        Any system.
    steps
        By how many steps. Until then they observe what was there at first.

    Returns
    -------
    System
        The same swarm with the same observations, some steps later.

    Raises
    ------
    InvalidInput
        If it is not a system, or the number of steps is not a positive integer.

    Examples
    --------
    >>> import swarmdp
    >>> late = swarmdp.with_delay(swarmdp.Vicsek(n_agents=20), steps=2)
    >>> swarmdp.rollout(late, late.expert, steps=5, seed=1).steps
    5

    """
    check_is_system(system)
    return _under_memories(system, lambda inner: Delay(int(steps)))


@checked
def with_kinds(
    system: System,
    shares: Mapping[str, float] | Sequence[float] | None = None,
    *,
    assignment: ArrayLike | None = None,
) -> Augmented:
    """The system with agents of several kinds, each with its own reward and policy.

    An agent observes its own kind. Which agents are of which kind is drawn in every run.

    Parameters
    ----------
    system
        Any system with classes of observations.
    shares
        The share of agents of each kind, by name or in order; they sum to 1.
    assignment
        (agents,): the kind of each agent of a demo, by name or number, instead of shares. Demos of
        the system without kinds are then read with it.

    Returns
    -------
    System
        The same swarm with the kind as a further component of observations.

    Raises
    ------
    InvalidInput
        If shares do not sum to 1, a kind has no agent, or there are not as many kinds as agents.

    Examples
    --------
    >>> import swarmdp
    >>> herd = swarmdp.with_kinds(swarmdp.Vicsek(n_agents=20), {"leader": 0.1, "follower": 0.9})
    >>> int(swarmdp.rollout(herd, herd.expert, steps=1, seed=1)["kind"].sum())    # followers
    18

    """
    check_is_system(system)
    if (shares is None) == (assignment is None):
        raise InvalidInput("kinds need shares or an assignment, and not both")
    if assignment is not None:
        return Augmented(system, _assigned(system, assignment))
    assert shares is not None
    named = (
        shares if isinstance(shares, Mapping) else {f"kind {i}": s for i, s in enumerate(shares)}
    )
    parts = [float(share) for share in named.values()]
    if not parts or min(parts) <= 0 or abs(sum(parts) - 1) > 1e-9:
        raise InvalidInput(f"shares must be positive numbers that sum to 1, got {parts}")
    exact = np.array(parts) * system.n_agents
    counts = np.floor(exact + 1e-9).astype(np.int64)
    # What is left goes to those who lost most by rounding.
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: system.n_agents - counts.sum()]] += 1
    if counts.min() < 1:
        raise InvalidInput(
            f"each kind needs an agent, but {system.n_agents} agents in shares {parts} are "
            f"{counts.tolist()}: take more agents"
        )
    return Augmented(system, Kinds(tuple(counts.tolist()), tuple(map(str, named))))


def _assigned(system: System, assignment: ArrayLike) -> Kinds:
    """The kinds of an assignment, in the order in which they sort."""
    given = np.asarray(assignment)
    if given.shape != (system.n_agents,) or given.dtype.kind not in "iuUb":
        raise InvalidInput(
            f"assignment must be the kind of each of the {system.n_agents} agents, names or whole "
            f"numbers, got {given.dtype} of shape {given.shape}"
        )
    names, numbers, counts = np.unique(given, return_inverse=True, return_counts=True)
    return Kinds(tuple(counts.tolist()), tuple(map(str, names)), tuple(numbers.tolist()))


def _amounts(inner: System, amount: float | Mapping[str, float]) -> tuple[float, ...]:
    """How much each component of an observation errs."""
    axes = [axis.name for axis in inner.features.axes]
    named = amount if isinstance(amount, Mapping) else dict.fromkeys(axes, amount)
    strange = [name for name in named if name not in axes]
    if strange:
        raise InvalidInput(
            f"{name_of(inner)} has no {strange[0]!r} that could be seen with an error, there is: "
            f"{', '.join(axes)}"
        )
    features = inner.features
    parts = list(features.components.values()) if isinstance(features, Product) else [features]
    amounts = []
    for i, name in enumerate(axes):
        value = named.get(name, 0.0)
        part = parts[i] if len(parts) == len(axes) else None
        most = 1.0 if isinstance(part, Levels | Vectors) else np.inf
        if not is_number(value) or not 0 <= value <= most:
            what = "a chance from 0 to 1" if most == 1.0 else "a number that is not negative"
            raise InvalidInput(f"the error of {name!r} must be {what}, got {value!r}")
        amounts.append(float(value))
    return tuple(amounts)


def _under_memories(system: System, make: Callable[[System], Layer]) -> Augmented:
    """The sense laid under all layers that are none: agents remember what they sensed."""
    if isinstance(system, Augmented) and not system.layer.is_sense:
        return Augmented(_under_memories(system.system, make), system.layer)
    return Augmented(system, make(system))


def augmented_from(system: System, plain: Mapping[str, Any]) -> Augmented:
    """The system with the layer that a file describes."""
    return Augmented(system, layer_from(plain))
