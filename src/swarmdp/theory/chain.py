"""A finite swarm under a policy: its chain of joint states and all of the paper's values.

The names are the paper's: private value V^(n)(s|pi), local value V_t^(n)(o|pi) with its limit
V(o|pi), the Q-functions of both, and the global value V_|pi. All of them are linear in the reward;
a reward here is one number for each class of observations, or several rewards as columns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_agent
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Discount, Index
from swarmdp.theory.enumeration import (
    Enumeration,
    PolicyLike,
    enumerate_swarm,
    policy_table,
    reward_vector,
)
from swarmdp.theory.limits import Limit, limit_of
from swarmdp.theory.solvers import discounted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_STEPS = 10**5  # of a law that is computed step by step


@checked
@dataclass(frozen=True, eq=False)
class Chain:
    """The process of the swarm state that a policy induces.

    Parameters
    ----------
    swarm
        The swarm with its states listed.
    policy
        (O, A): the probability of each action.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.chain(ring, ring.expert).local_value([1.0, 0.5, 0.0], 0.9).shape
    (3,)

    """

    swarm: Enumeration
    policy: Floats

    def __post_init__(self) -> None:
        shape = self.swarm.n_observations, self.swarm.n_actions
        if self.policy.shape != shape:
            raise InvalidInput(
                f"a policy (observations, actions) must have the shape {shape}, got "
                f"{self.policy.shape}: take theory.chain"
            )

    @cached_property
    def transitions(self) -> "csr_array":
        """`P(s'|s, pi)` (K, K): every agent follows the policy."""
        return self.swarm.transitions(self.swarm.laws_under(self.policy))

    def deviating(self, action: int, agent: int = 0) -> "csr_array":
        """`P^(n)(s'|s, a, pi)` (K, K): one agent takes an action, all others follow the policy."""
        self._check_deviation(action, agent)
        laws = self.swarm.laws_under(self.policy)
        laws[:, agent] = self.swarm.laws[action][:, agent]
        return self.swarm.transitions(laws)

    def deviation(self, action: int, agent: int = 0) -> "csr_array":
        """`P(s'|s, pi) - P^(n)(s'|s, a, pi)` (K, K): what one agent's action changes.

        From the difference of that agent's laws, so that a small one keeps all its digits.
        """
        self._check_deviation(action, agent)
        laws = self.swarm.laws_under(self.policy)
        changed = laws[:, agent] - self.swarm.laws[action][:, agent]
        if self.swarm.system.acting == "one":
            laws[:] = 0.0  # the others' turns are the same in both
        laws[:, agent] = changed
        return self.swarm.transitions(laws)

    def law(self, time: Index | None = None) -> Floats:
        """P_t(s) (K,); without a time its limit P(s)."""
        if time is None:
            return self.limit.law
        if time > _MOST_STEPS:
            raise InvalidInput(
                f"time must be at most {_MOST_STEPS}, got {time}: leave it out for the limit"
            )
        law = self.swarm.initial
        for _ in range(time):
            law = law @ self.transitions
        return law

    @cached_property
    def limit(self) -> Limit:
        """Where the swarm ends up: the limit of P_t(s), with the recurrent classes."""
        return limit_of(self.transitions, self.swarm.initial, self.swarm.local)

    def given_observation(self, time: int | None = None, agent: int = 0) -> "csr_array":
        """`P_t(s|o^(n) = o)` (observations, K); without a time its limit `P(s|o^(n) = o)`.

        The row of an observation that has probability zero is empty.
        """
        self._check_agent(agent)
        return conditional(self.law(time), self.swarm, agent)

    def visits(self, discount: Discount, agent: int = 0) -> Floats:
        """The discounted number of times that an agent will see each observation (K, O).

        The private value is this times the reward: (I - gamma P)^-1 applied to indicators.
        """
        self._check_agent(agent)
        return discounted(self.transitions, self.swarm.seen_by(agent).toarray(), discount)

    def private_value(
        self, reward: "Reward | ArrayLike", discount: Discount, agent: int = 0
    ) -> Floats:
        """`V^(n)(s|pi)` (K,)."""
        self._check_agent(agent)
        gained = self._gains(reward, agent)
        return discounted(self.transitions, gained[:, None], discount)[:, 0]

    def private_q(self, reward: "Reward | ArrayLike", discount: float, agent: int = 0) -> Floats:
        """`Q^(n)(s, a|pi)` (K, actions)."""
        value = self.private_value(reward, discount, agent)
        then = [self.deviating(a, agent) @ value for a in range(self.swarm.n_actions)]
        return self._gains(reward, agent)[:, None] + discount * np.stack(then, axis=1)

    def local_value(
        self,
        reward: "Reward | ArrayLike",
        discount: float,
        *,
        time: int | None = None,
        agent: int = 0,
    ) -> Floats:
        """`V_t^(n)(o|pi)` (O,), without a time its limit; NaN where o has no probability."""
        given = self.given_observation(time, agent)
        value = given @ self.private_value(reward, discount, agent)
        return np.where(self.observed(time, agent) > 0, value, np.nan)

    def local_q(
        self,
        reward: "Reward | ArrayLike",
        discount: float,
        *,
        time: int | None = None,
        agent: int = 0,
    ) -> Floats:
        """`Q_t^(n)(o, a|pi)` (O, actions), without a time its limit `Q(o, a|pi)`."""
        given = self.given_observation(time, agent)
        value = given @ self.private_q(reward, discount, agent)
        return np.where(self.observed(time, agent)[:, None] > 0, value, np.nan)

    def observed(self, time: int | None = None, agent: int = 0) -> Floats:
        """P_t(o^(n) = o) (O,); without a time its limit."""
        self._check_agent(agent)
        law = self.law(time)
        seen = self.swarm.observations[:, agent]
        chance: NDArray[Any] = np.bincount(seen, law, self.swarm.n_observations)
        return chance

    def expectations(self, discount: float, agent: int = 0) -> Floats:
        """The feature expectations mu (O,): the global value is this times the reward."""
        mu: Floats = self.swarm.initial @ self.visits(discount, agent)
        return mu

    def global_value(self, reward: "Reward | ArrayLike", discount: float, agent: int = 0) -> float:
        """`V_|pi`, the expected return of an agent from the initial distribution."""
        return float(self.swarm.initial @ self.private_value(reward, discount, agent))

    def _gains(self, reward: "Reward | ArrayLike", agent: int) -> Floats:
        return reward_vector(self.swarm.system, reward)[self.swarm.observations[:, agent]]

    def _check_deviation(self, action: int, agent: int) -> None:
        self._check_agent(agent)
        if not 0 <= action < self.swarm.n_actions:
            raise InvalidInput(f"action must be from 0 to {self.swarm.n_actions - 1}, got {action}")

    def _check_agent(self, agent: int) -> None:
        check_agent(agent, self.swarm.system)


@checked
def chain(system: "System | Enumeration", policy: PolicyLike) -> Chain:
    """The chain of joint states of a finite swarm that follows a policy.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    policy
        A `Policy`, a table of action numbers (O,), probabilities of actions (O, A), or a function
        from observations to physical actions, such as an expert.

    Returns
    -------
    Chain
        With the laws and values of the swarm under this policy.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> chain = theory.chain(ring, ring.expert)
    >>> chain.local_value([1.0, 0.5, 0.0], 0.9).round(2)    # of 0, 1 and 2 unlike neighbours
    array([7.98, 7.23, 6.47])

    """
    swarm = enumerate_swarm(system)
    return Chain(swarm, policy_table(swarm.system, policy))


def conditional(law: Floats, swarm: Enumeration, agent: int) -> "csr_array":
    """P(s|o^(n) = o) (observations, K) of a law of joint states; empty where P(o) is zero."""
    from scipy import sparse

    seen = swarm.observations[:, agent]
    total = np.bincount(seen, law, swarm.n_observations)
    states = np.flatnonzero(law > 0)
    shares = law[states] / total[seen[states]]
    return sparse.csr_array(
        (shares, (seen[states], states)), (swarm.n_observations, swarm.n_states)
    )
