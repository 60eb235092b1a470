"""All joint states of a finite swarm, what its agents see in them, and where they go from there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.system import System, class_map, classes
from swarmdp.policies import Controller, LocalPolicy, TablePolicy
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_agent
from swarmdp.support.errors import InvalidInput
from swarmdp.theory.augmented import FiniteAugmented
from swarmdp.theory.finite_swarm import FiniteSwarm, action_indices
from swarmdp.theory.vectors import numbers_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_STATES = 2**17
MOST_TRANSITIONS = 2**25  # of non-zero probability; 12 bytes each
_MOST_CHANCES = 2**26  # in the laws of all agents in all joint states; 8 bytes each
_BLOCK = 2**20  # transitions that are worked out at a time

PolicyLike = Controller | ArrayLike


@checked
@dataclass(frozen=True, eq=False)
class Enumeration:
    """A finite swarm whose K joint states are listed.

    Parameters
    ----------
    system
        The finite swarm.
    local
        (K, agents): the number of each agent's local state.
    observations
        (K, agents): the class of what each agent sees.
    laws
        (actions, K, agents, n_local): where an agent goes if it takes an action.
    initial
        (K,): P_0(s).

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.enumerate_swarm(ring).local.shape
    (16, 4)

    """

    system: FiniteSwarm
    local: NDArray[np.int64]
    observations: NDArray[np.int64]
    laws: Floats
    initial: Floats

    def __post_init__(self) -> None:
        states, agents = self.initial.size, self.system.n_agents
        expected = (len(self.system.actions), states, agents, self.system.n_local)
        right = self.local.shape == self.observations.shape == (states, agents)
        if self.initial.ndim != 1 or not right or self.laws.shape != expected:
            raise InvalidInput(
                f"local and observations must have the shape ({states}, {agents}) and laws "
                f"{expected}, got {self.local.shape}, {self.observations.shape} and "
                f"{self.laws.shape}: take theory.enumerate_swarm"
            )
        for name, array, count in (
            ("local", self.local, self.system.n_local),
            ("observations", self.observations, class_map(self.system).size),
        ):
            if array.size and not 0 <= array.min() <= array.max() < count:
                raise InvalidInput(f"{name} must be numbers from 0 to {count - 1}, got others")

    @property
    def n_states(self) -> int:
        """The number of joint states K."""
        return len(self.local)

    @property
    def n_observations(self) -> int:
        """The number of classes of observations."""
        return class_map(self.system).size

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.laws)

    @cached_property
    def possible(self) -> NDArray[np.int64]:
        """The observations that some joint state shows."""
        return np.unique(self.observations)

    def transitions(self, laws: Floats) -> "csr_array":
        """`P(s'|s)` when every agent goes where its law (K, agents, n_local) says.

        The products and sums are as right for differences of laws, which may be negative.
        """
        from scipy import sparse

        shape = self.laws.shape[1:]
        if laws.shape != shape:
            raise InvalidInput(f"laws must have the shape {shape}, got {laws.shape}")
        successors = _successors(laws, self.system.acting)
        total = int(successors.sum())
        if total > MOST_TRANSITIONS:
            raise InvalidInput(
                f"the {self.n_states} joint states have {total} transitions, more than the "
                f"{MOST_TRANSITIONS} that are possible: take fewer agents (12 with two local "
                'states when all are noisy), no noise, or acting="one"'
            )
        blocks = list(_blocks(laws, successors, self))
        return sparse.vstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]

    def laws_under(self, policy: Floats) -> Floats:
        """Where each agent goes (K, agents, n_local) under a policy (observations, actions)."""
        shape = self.n_observations, self.n_actions
        if policy.shape != shape:
            raise InvalidInput(
                f"a policy (observations, actions) must have the shape {shape}, got {policy.shape}"
            )
        shares = policy[self.observations]  # (K, agents, actions)
        laws: Floats = np.einsum("kna,aknx->knx", shares, self.laws)
        return laws

    def seen_by(self, agent: int) -> "csr_array":
        """The indicator (K, observations) of what an agent sees in each state."""
        from scipy import sparse

        check_agent(agent, self.system)
        rows = np.arange(self.n_states)
        shape = (self.n_states, self.n_observations)
        return sparse.csr_array((np.ones(len(rows)), (rows, self.observations[:, agent])), shape)

    def index(self, local: NDArray[np.integer]) -> NDArray[np.int64]:
        """The numbers of joint states with these local states (..., agents)."""
        agents = self.system.n_agents
        if not local.ndim or local.shape[-1] != agents:
            raise InvalidInput(
                f"local states must have the shape (..., {agents}), got {local.shape}"
            )
        if local.size and not 0 <= local.min() <= local.max() < self.system.n_local:
            raise InvalidInput(
                f"local states must be from 0 to {self.system.n_local - 1}, got others"
            )
        number: NDArray[np.int64] = local @ _radix(self.system)
        return number


@checked
def enumerate_swarm(
    system: "System | Enumeration", *, initial: ArrayLike | None = None
) -> Enumeration:
    """List all joint states of a finite swarm.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    initial
        (K,): another initial distribution P_0 than the system's own.

    Returns
    -------
    Enumeration
        All K joint states, with their laws.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    NotEnoughMemory
        If there are too many joint states.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> listed = theory.enumerate_swarm(ring)
    >>> listed.n_states, listed.n_observations, listed.n_actions
    (16, 3, 2)

    """
    if isinstance(system, Enumeration):
        return system if initial is None else _with_initial(system, initial)
    if isinstance(system, Augmented):
        system = FiniteAugmented.of(system)
    _check_states(system)
    check_finite(system)
    assert isinstance(system, FiniteSwarm)
    count = system.n_local**system.n_agents
    _check_chances(system, count)
    local = np.arange(count)[:, None] // _radix(system) % system.n_local
    state = system.place(local)
    observations = classes(system, system.observe(state)).astype(np.int64)
    laws = np.empty((len(system.actions), *local.shape, system.n_local))
    for action in range(len(laws)):
        laws[action] = system.outcomes(state, np.full(local.shape, action))
    _check_laws(laws, system.initial_local)
    if isinstance(system, FiniteAugmented):
        start = system.joint_start(local)
    else:
        start = system.initial_local[local].prod(axis=1)
    listed = Enumeration(system, local, observations, laws, start)
    return listed if initial is None else _with_initial(listed, initial)


def _check_states(system: object) -> None:
    """Raise InvalidInput for too many joint states, before anything depends on their number."""
    levels, agents = getattr(system, "n_local", None), getattr(system, "n_agents", None)
    if not isinstance(levels, int) or not isinstance(agents, int):
        return  # not a finite swarm: said elsewhere
    count = levels**agents
    if count > MOST_STATES:
        most = int(np.log(MOST_STATES) / np.log(levels))
        at_most = f"at most {most} agents with {levels} local states each"
        if not most:
            at_most = f"at most {MOST_STATES} local states, even of one agent"
        raise InvalidInput(
            f"{type(system).__name__} has {levels}^{agents} = {count} joint states, more than the "
            f"{MOST_STATES} that can be listed: {at_most}"
        )


def _check_chances(system: FiniteSwarm, states: int) -> None:
    """Raise InvalidInput for laws that would fill the memory: very many local states."""
    agents, actions = system.n_agents, len(system.actions)
    count = actions * states * agents * system.n_local
    if count > _MOST_CHANCES:
        most = int((_MOST_CHANCES / (actions * agents)) ** (1 / (agents + 1)) + 1e-9)
        raise InvalidInput(
            f"the laws of {type(system).__name__} are {count} probabilities ({actions} actions, "
            f"{states} joint states, {agents} agents, {system.n_local} local states), more than "
            f"the {_MOST_CHANCES} that are possible: at most {most} local states with {agents} "
            f"agents and {actions} actions"
        )


def check_finite(system: object) -> None:
    """Raises InvalidInput if a system cannot be enumerated."""
    if not isinstance(system, FiniteSwarm):
        raise InvalidInput(
            f"{type(system).__name__} cannot be enumerated: it needs n_local, acting, "
            "initial_local, place, local and outcomes (see "
            "swarmdp.theory.finite_swarm.FiniteSwarm), "
            f"and at most {MOST_STATES} joint states n_local^n_agents. Ready-made ones are "
            "theory.FiniteIsing, theory.VicsekRing and theory.RandomSwarm"
        )


@checked
def policy_table(system: System, policy: PolicyLike) -> Floats:
    """A local policy as the probability of each action in each observation (O, A).

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    policy
        A `Policy`, a table of action numbers (O,), probabilities of actions (O, A), or a function
        from observations to physical actions, such as an expert.

    Returns
    -------
    array
        The probability of each action in each observation (O, A).

    Raises
    ------
    InvalidInput
        If the policy does not fit the system.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.policy_table(ring, ring.expert)
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])

    """
    observations, actions = class_map(system).size, len(system.actions)
    table: NDArray[np.generic]
    if isinstance(policy, LocalPolicy) and not isinstance(policy, type):
        policy.check(system)
        if policy.replicas > 1:
            raise InvalidInput(
                f"one policy at a time, got {policy.replicas} replicas: pass policy.table[i]"
            )
        if not isinstance(policy, TablePolicy):
            raise InvalidInput(f"the theory needs a policy that is a table, got {policy.kind!r}")
        table = policy.chances(actions)[0]
    elif callable(policy):
        seen = centres_of(class_map(system))
        table = action_indices(system, np.asarray(policy(seen)))
    else:
        table = np.asarray(policy)
    expected = (
        f"{type(system).__name__} has {observations} observations and {actions} actions: a policy "
        f"is action numbers of shape ({observations},) or probabilities of shape "
        f"({observations}, {actions})"
    )
    if table.shape == (observations,) and np.issubdtype(table.dtype, np.integer):
        numbers = table.astype(np.int64)
        if numbers.min() < 0 or numbers.max() >= actions:
            raise InvalidInput(f"{expected}, got numbers {numbers.min()} to {numbers.max()}")
        chosen: Floats = np.eye(actions)[numbers]
        return chosen
    if table.shape != (observations, actions) or not np.issubdtype(table.dtype, np.number):
        raise InvalidInput(f"{expected}, got {table.dtype} of shape {table.shape}")
    shares = table.astype(np.float64)
    if not (shares >= 0).all() or np.abs(shares.sum(axis=1) - 1).max() > 1e-12:
        raise InvalidInput(f"{expected}; probabilities are not negative and sum to 1 in each row")
    return shares


def centres_of(features: Classes) -> NDArray[np.generic]:
    """One observation of each class (O, *shape)."""
    if not features.shape:
        return features.axes[0].values
    grids = np.meshgrid(*(axis.values for axis in features.axes), indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=-1).astype(np.float64)


def reward_vector(system: System, reward: "Reward | ArrayLike") -> Floats:
    """The reward of each class of observations (O,)."""
    return numbers_of(reward, class_map(system).size, f" for {type(system).__name__}")


def _with_initial(listed: Enumeration, initial: ArrayLike) -> Enumeration:
    law = np.asarray(initial, np.float64)
    if law.shape != (listed.n_states,) or not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
        raise InvalidInput(
            f"an initial distribution is a probability for each of the {listed.n_states} joint "
            f"states, with sum 1, got shape {law.shape} with sum {law.sum():g}"
        )
    return Enumeration(listed.system, listed.local, listed.observations, listed.laws, law)


def _check_laws(laws: Floats, initial: Floats) -> None:
    for what, law in (("outcomes", laws), ("initial_local", initial)):
        if not (law >= 0).all() or np.abs(law.sum(axis=-1) - 1).max() > 1e-12:
            raise InvalidInput(f"{what} must be probabilities: not negative, with sum 1")


def _radix(system: FiniteSwarm) -> NDArray[np.int64]:
    return np.asarray(system.n_local ** np.arange(system.n_agents, dtype=np.int64))


def _successors(laws: Floats, acting: str) -> NDArray[np.int64]:
    """How many transitions each state has, before equal ones are merged (K,)."""
    possible = (laws != 0).sum(axis=2)
    count: NDArray[np.int64] = possible.prod(axis=1) if acting == "all" else possible.sum(axis=1)
    return count


def _blocks(
    laws: Floats, successors: NDArray[np.int64], listed: Enumeration
) -> "Iterator[csr_array]":
    """The transitions of one block of states after the other."""
    radix = _radix(listed.system)
    ends = np.flatnonzero(np.diff(np.cumsum(successors) // _BLOCK)) + 1
    for begin, end in zip([0, *ends], [*ends, len(laws)], strict=True):
        if listed.system.acting == "all":
            yield _together(laws[begin:end], radix, listed.n_states)
        else:
            yield _one_by_one(laws[begin:end], listed.local[begin:end], radix, listed.n_states)


def _together(laws: Floats, radix: NDArray[np.int64], n_states: int) -> "csr_array":
    """All agents move, independently: the product of their laws."""
    from scipy import sparse

    row = np.arange(len(laws), dtype=np.int32)
    target = np.zeros(len(laws), np.int32)
    chance = np.ones(len(laws))
    # The agent that counts most in a state's number first: so successors come in their order.
    for agent in range(len(radix) - 1, -1, -1):
        law = laws[row, agent]
        entry, level = np.nonzero(law)
        chance = chance[entry] * law[entry, level]
        target = target[entry] + (radix[agent] * level).astype(np.int32)
        row = row[entry]
    ends = np.cumsum(np.bincount(row, minlength=len(laws)))
    begins = np.concatenate([[0], ends]).astype(np.int32)
    return sparse.csr_array((chance, target, begins), (len(laws), n_states))


def _one_by_one(
    laws: Floats, local: NDArray[np.int64], radix: NDArray[np.int64], n_states: int
) -> "csr_array":
    """One agent moves, drawn uniformly; the others stay."""
    from scipy import sparse

    row, agent, level = np.nonzero(laws)
    target = (local @ radix)[row] + (level - local[row, agent]) * radix[agent]
    chance = laws[row, agent, level] / len(radix)
    places = (row.astype(np.int32), target.astype(np.int32))
    return sparse.csr_array((chance, places), (len(laws), n_states))
