"""All local policies of a small swarm as a game: equilibria, regret, and what locality costs.

The game is the paper's: an agent plays its best response to the stationary field that a policy
generates, and an optimal policy is one that is a best response to itself, a symmetric equilibrium.
Values are linear in the reward, so a game is worked out once and then answers for any reward.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.model.traits import null_action
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Discount
from swarmdp.theory.chain import chain
from swarmdp.theory.enumeration import (
    MOST_TRANSITIONS,
    Enumeration,
    PolicyLike,
    enumerate_swarm,
    policy_table,
    reward_vector,
)

MOST_POLICIES = 2**12
_NOTHING = 1e-12  # values of rewards from 0 to 1 below this are zero, but for rounding
_TIE = 1e-9  # advantages below this share of the largest possible value are none

Integers = NDArray[np.int64]


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Judgement:
    """How good a policy is for a reward, among all deterministic local policies.

    Parameters
    ----------
    equilibrium
        Whether no action is better in any observation that occurs in the limit.
    regret
        The most that another action would gain in an observation.
    mean_regret
        The same, averaged over what agents observe in the limit.
    fixed_point
        Whether it is optimal for the kernel `P(o'|o, a)` that it generates (see `Game.kernels`).
    value
        `V_|pi`.
    best_value
        The largest `V_|pi` of all deterministic local policies.
    equilibria
        How many equilibria there are.
    better_equilibria
        How many of them have a larger `V_|pi`.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.game(ring).judge(ring.expert, [1.0, 0.5, 0.0]).regret > 0
    True

    """

    equilibrium: bool
    regret: float
    mean_regret: float
    fixed_point: bool
    value: float
    best_value: float
    equilibria: int
    better_equilibria: int


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Prices:
    """What a swarm's agents lose by looking after themselves, and by seeing little.

    Values are those of the reward shifted and scaled to entries from 0 to 1 over the observations
    that some joint state shows, so that ratios mean something. A price is NaN where there is no
    equilibrium or no agent gains anything, infinite where only the denominator is nothing.

    Parameters
    ----------
    central
        The value of the best controller that knows the joint state and commands all agents.
    local
        The value of the best deterministic local policy.
    best_equilibrium
        The value of the best equilibrium.
    worst_equilibrium
        The value of the worst equilibrium.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> prices = theory.game(ring).prices([1.0, 0.5, 0.0])
    >>> prices.central >= prices.local
    True

    """

    central: float
    local: float
    best_equilibrium: float
    worst_equilibrium: float

    @property
    def anarchy(self) -> float:
        """The best local policy's value divided by the worst equilibrium's."""
        return _ratio(self.local, self.worst_equilibrium)

    @property
    def stability(self) -> float:
        """The best local policy's value divided by the best equilibrium's."""
        return _ratio(self.local, self.best_equilibrium)

    @property
    def locality(self) -> float:
        """The central controller's value divided by the best local policy's."""
        return _ratio(self.central, self.local)


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Game:
    """All n deterministic local policies, each with what it brings for each unit of reward.

    Observations that no joint state shows are left out: there every policy does nothing.

    Parameters
    ----------
    swarm
        The swarm with its states listed.
    discount
        The discount factor gamma.
    tables
        (n, O): action numbers of all policies.
    settled
        (n,): whether P_t(s) has a limit; without it there is no Q(o, a).
    observed
        (n, O): P(o) in the limit.
    q
        (n, O, A, O): Q(o, a|pi) for a reward in each observation.
    kernels
        (n, O, A, O): `P(o'|o, a, pi)`, zero from where it is undefined, P(o) = 0.
    mu
        (n, O): `V_|pi` for a reward in each observation.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.game(ring).tables.shape    # two actions in three observations
    (8, 3)

    """

    swarm: Enumeration
    discount: float
    tables: Integers
    settled: NDArray[np.bool_]
    observed: Floats
    q: Floats
    kernels: Floats
    mu: Floats

    def values(self, reward: "Reward | ArrayLike") -> Floats:
        """`V_|pi` of every policy (n,)."""
        worth: Floats = self.mu @ self._vector(reward)
        return worth

    def advantages(self, reward: "Reward | ArrayLike") -> Floats:
        """What the best action gains over the policy's own in each observation (n, O).

        Zero where the observation has no probability, NaN where there is no limit.
        """
        worth = self.q @ self._vector(reward)  # (n, O, A)
        kept = np.take_along_axis(worth, self.tables[..., None], axis=2)[..., 0]
        gain = np.where(self.observed > 0, worth.max(axis=2) - kept, 0.0)
        return np.where(self.settled[:, None], gain, np.nan)

    def equilibria(self, reward: "Reward | ArrayLike") -> Integers:
        """The numbers of the policies that are best responses to themselves."""
        with np.errstate(invalid="ignore"):
            return np.flatnonzero(self.advantages(reward).max(axis=1) <= self._tie(reward))

    def fixed_points(self, reward: "Reward | ArrayLike") -> Integers:
        """The numbers of the policies that are optimal for the local kernel they generate.

        This is what Q-learning on observations can find: it treats the observation as if it were
        the state, while an equilibrium takes the expectation of private values. Both agree when
        observations tell all that matters.

        From an observation that has no probability under a policy, its kernel is undefined. If
        another action leads there, what is gained there counts, and nothing after it: a convention,
        which no learner that never sees it could improve on.
        """
        r = self._vector(reward)
        followed = np.take_along_axis(self.kernels, self.tables[..., None, None], axis=2)[:, :, 0]
        system = np.eye(len(r)) - self.discount * followed
        value = np.linalg.solve(system, np.broadcast_to(r, followed.shape[:2])[..., None])[..., 0]
        then = np.einsum("noap,np->noa", self.kernels, value)
        kept = np.take_along_axis(then, self.tables[..., None], axis=2)[..., 0]
        gain = np.where(self.observed > 0, then.max(axis=2) - kept, 0.0).max(axis=1)
        return np.flatnonzero(self.settled & (self.discount * gain <= self._tie(r)))

    def judge(self, policy: PolicyLike, reward: "Reward | ArrayLike") -> Judgement:
        """Compare a policy with all others, for a reward."""
        number = self.number(policy)
        gains, values = self.advantages(reward)[number], self.values(reward)
        equilibria, tie = self.equilibria(reward), self._tie(reward)
        return Judgement(
            bool(np.isin(number, equilibria)),
            float(gains.max()),
            float(gains @ self.observed[number]),
            bool(np.isin(number, self.fixed_points(reward))),
            float(values[number]),
            float(values.max()),
            len(equilibria),
            int((values[equilibria] > values[number] + tie).sum()),
        )

    def prices(self, reward: "Reward | ArrayLike") -> Prices:
        """The prices of anarchy, stability and locality for a reward."""
        r = self._vector(reward)
        possible = self.swarm.possible
        low, high = r[possible].min(), r[possible].max()
        if low == high:
            raise InvalidInput(
                "a constant reward has no prices: every behaviour is as good (observations that no "
                "joint state shows do not count)"
            )
        scaled = np.zeros_like(r)
        scaled[possible] = (r[possible] - low) / (high - low)
        values = self.values(scaled)
        settled = values[self.equilibria(scaled)]
        ends = (settled.max(), settled.min()) if settled.size else (np.nan, np.nan)
        return Prices(self.control.value(scaled), float(values.max()), *map(float, ends))

    def number(self, policy: PolicyLike) -> int:
        """The number of a deterministic policy in this game."""
        table = policy_table(self.swarm.system, policy)
        if not (table.max(axis=1) == 1).all():
            raise InvalidInput("the game is one of deterministic policies, got a stochastic one")
        actions = table.argmax(axis=1)
        possible = self.swarm.possible
        same = (self.tables[:, possible] == actions[possible]).all(axis=1)
        return int(np.argmax(same))

    @cached_property
    def control(self) -> "JointControl":
        """The central controller to compare with."""
        return joint_control(self.swarm, self.discount)

    def _vector(self, reward: "Reward | ArrayLike") -> Floats:
        return reward_vector(self.swarm.system, reward)

    def _tie(self, reward: "Reward | ArrayLike") -> float:
        return _tie(self.swarm, self._vector(reward), self.discount)


def _tie(swarm: Enumeration, reward: Floats, discount: float) -> float:
    """An advantage that is none: relative to the rewards that can be gained at all."""
    return _TIE * float(np.ptp(reward[swarm.possible])) / (1 - discount)


def _ratio(above: float, below: float) -> float:
    """A price: infinite for something over nothing, NaN for nothing over nothing."""
    if below > _NOTHING or np.isnan(below):
        return above / below
    return np.inf if above > _NOTHING else np.nan


@checked
def game(system: System | Enumeration, discount: Discount = 0.9) -> Game:
    """Work out all deterministic local policies of a finite swarm.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    discount
        The discount factor gamma, from 0 up to but not including 1.

    Returns
    -------
    Game
        All policies with their values.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    NotEnoughMemory
        If there are too many policies.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> game = theory.game(ring)
    >>> game.judge(ring.expert, [1.0, 0.5, 0.0]).equilibrium
    False

    """
    swarm = enumerate_swarm(system)
    possible = swarm.possible
    count = swarm.n_actions ** len(possible)
    if count > MOST_POLICIES:
        most = int(np.log(MOST_POLICIES) / np.log(swarm.n_actions))
        raise InvalidInput(
            f"there are {swarm.n_actions}^{len(possible)} = {count} deterministic policies, more "
            f"than the {MOST_POLICIES} that can be listed: at most {most} observations with "
            f"{swarm.n_actions} actions. For larger ones follow theory.best_responses"
        )
    tables = np.full((count, swarm.n_observations), null_action(swarm.system))
    tables[:, possible] = list(product(range(swarm.n_actions), repeat=len(possible)))
    size = (count, swarm.n_observations, swarm.n_actions, swarm.n_observations)
    q, kernels = np.full(size, np.nan), np.full(size, np.nan)
    observed, mu = np.full(size[:2], np.nan), np.empty(size[:2])
    settled = np.zeros(count, bool)
    seen = swarm.seen_by(0)
    for i, table in enumerate(tables):
        process = chain(swarm, table)
        visits = process.visits(discount)
        mu[i] = swarm.initial @ visits
        settled[i] = process.limit.exists
        if not settled[i]:
            continue
        observed[i] = process.observed()
        given = process.given_observation()
        for action in range(swarm.n_actions):
            then = given @ process.deviating(action)
            q[i, :, action] = given @ seen + discount * (then @ visits)
            kernels[i, :, action] = (then @ seen).toarray()
    return Game(swarm, discount, tables, settled, observed, q, kernels, mu)


@dataclass(frozen=True, eq=False)
class JointControl:
    """A central controller that sees the joint state and commands all agents at once."""

    swarm: Enumeration
    discount: float
    transitions: Floats  # (joint actions, K, K)

    def value(self, reward: "Reward | ArrayLike") -> float:
        """The largest expected return of an average agent, from the initial distribution."""
        r = reward_vector(self.swarm.system, reward)
        gained = r[self.swarm.observations].mean(axis=1)
        states = np.arange(self.swarm.n_states)
        tie = _TIE * float(np.ptp(gained)) / (1 - self.discount)
        chosen = np.zeros(self.swarm.n_states, np.int64)
        while True:  # policy iteration: every round is better than the last, so it ends
            followed = self.transitions[chosen, states]
            value = np.linalg.solve(np.eye(len(states)) - self.discount * followed, gained)
            then = self.transitions @ value
            better = then.max(axis=0) > then[chosen, states] + tie
            if not better.any():
                return float(self.swarm.initial @ value)
            chosen = np.where(better, then.argmax(axis=0), chosen)


@checked
def joint_control(system: System | Enumeration, discount: Discount = 0.9) -> JointControl:
    """The central controller of a finite swarm, with its joint actions listed.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    discount
        The discount factor gamma, from 0 up to but not including 1.

    Returns
    -------
    JointControl
        Whose `value(reward)` is the best that a central controller can reach.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    NotEnoughMemory
        If there are too many joint actions.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> round(theory.joint_control(ring).value([1.0, 0.5, 0.0]), 2)
    7.88

    """
    swarm = enumerate_swarm(system)
    agents = swarm.system.n_agents
    size = swarm.n_actions**agents * swarm.n_states**2
    if size > MOST_TRANSITIONS:
        raise InvalidInput(
            f"a central controller of {swarm.n_actions}^{agents} joint actions in "
            f"{swarm.n_states} joint states needs {size} probabilities, more than the "
            f"{MOST_TRANSITIONS} that are possible: 8 agents with two local states and two actions"
        )
    matrices = []
    for joint in product(range(swarm.n_actions), repeat=agents):
        laws = np.stack([swarm.laws[a][:, n] for n, a in enumerate(joint)], axis=1)
        matrices.append(swarm.transitions(laws).toarray())
    return JointControl(swarm, discount, np.stack(matrices))


@checked
@dataclass(frozen=True, eq=False)
class BestResponses:
    """A sequence of policies, each the best response to the one before.

    Parameters
    ----------
    tables
        (policies, O): the action number in each observation.
    converged
        Whether the last policy is a best response to itself; otherwise they go round.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.best_responses(ring, [1.0, 0.5, 0.0]).tables.shape[1]
    3

    """

    tables: Integers
    converged: bool


@checked
def best_response(
    system: System | Enumeration,
    policy: PolicyLike,
    reward: "Reward | ArrayLike",
    discount: Discount = 0.9,
) -> Integers:
    """pi_R(o|pi): the action with the largest Q(o, a|pi) in each observation (O,).

    Where that is a tie, or the observation does not occur in the limit, it is the policy's own.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    policy
        A `Policy`, a table of action numbers (O,), probabilities of actions (O, A), or a function
        from observations to physical actions, such as an expert.
    reward
        One number for each observation (O,), or a `swarmdp.Reward`.
    discount
        The discount factor gamma, from 0 up to but not including 1.

    Returns
    -------
    array
        The action number in each observation (O,).

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    NoLimit
        If P_t(s) does not converge under the policy.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.best_response(ring, ring.expert, [1.0, 0.5, 0.0])
    array([0, 0, 0])

    """
    process = chain(system, policy)
    r = reward_vector(process.swarm.system, reward)
    q = np.nan_to_num(process.local_q(r, discount))
    actions = process.policy.argmax(axis=1)
    kept = np.take_along_axis(q, actions[:, None], axis=1)[:, 0]
    better = q.max(axis=1) > kept + _tie(process.swarm, r, discount)
    response: Integers = np.where(better, q.argmax(axis=1), actions)
    return response


@checked
def best_responses(
    system: System | Enumeration,
    reward: "Reward | ArrayLike",
    discount: Discount = 0.9,
    *,
    start: PolicyLike | None = None,
) -> BestResponses:
    """Follow best responses until they repeat; by default from doing nothing.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    reward
        One number for each observation (O,), or a `swarmdp.Reward`.
    discount
        The discount factor gamma, from 0 up to but not including 1.
    start
        The first policy; doing nothing by default.

    Returns
    -------
    BestResponses
        The policies, and whether they came to rest.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.
    NoLimit
        If the way leads to a policy under which P_t(s) does not converge: to such a policy there is
        no best response.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.best_responses(ring, [1.0, 0.5, 0.0]).converged
    False

    """
    swarm = enumerate_swarm(system)
    if start is None:
        start = np.full(swarm.n_observations, null_action(swarm.system))
    tables = [policy_table(swarm.system, start).argmax(axis=1)]
    while True:
        after = best_response(swarm, tables[-1], reward, discount)
        earlier = [(after == table).all() for table in tables]
        if any(earlier):
            return BestResponses(np.array(tables), bool(earlier[-1]))
        tables.append(after)
