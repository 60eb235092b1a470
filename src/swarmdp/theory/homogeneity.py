"""Proposition 1 as a check: all agents have the same local value, and it converges."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Discount, Index
from swarmdp.theory.chain import Chain, chain
from swarmdp.theory.enumeration import Enumeration, PolicyLike, reward_vector
from swarmdp.theory.limits import Limit
from swarmdp.theory.solvers import discounted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-10  # relative to the largest value that is possible
_SETTLED = 1e-11  # distances from the limit below this share of the largest value are rounding
MOST_VALUES = 2**26


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Homogeneity:
    """The local values of all agents over time, and how far they are from each other.

    Parameters
    ----------
    values
        (times, agents, O, rewards): V_t^(n)(o|pi), NaN where P_t(o^(n) = o) is zero.
    difference
        The largest difference between the values of two agents.
    observed_difference
        The largest difference between P_t(o^(n) = o) of two agents.
    scale
        The largest value that is possible: `max |R| / (1 - gamma)`.
    limit
        The limit of P_t(s).
    limiting
        (agents, O, rewards): V^(n)(o|pi), None where there is no limit.
    distance
        (times,): the largest from V_t to its limit.
    rate
        The factor by which the distance shrinks in a step, in the long run.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.check_homogeneity(ring, ring.expert, steps=5).values.shape
    (6, 4, 3, 3)

    """

    values: Floats
    difference: float
    observed_difference: float
    scale: float
    limit: Limit
    limiting: Floats | None
    distance: Floats | None
    rate: float | None

    @property
    def holds(self) -> bool:
        """Whether all agents see the same things as often, and give them the same value."""
        equal = self.difference <= TOLERANCE * self.scale
        return equal and self.observed_difference <= TOLERANCE

    def __str__(self) -> str:
        verb = "coincide" if self.holds else "differ"
        text = (
            f"local values of {self.values.shape[1]} agents {verb}: by at most "
            f"{self.difference:.3g}, what they see by {self.observed_difference:.3g}; {self.limit}"
        )
        if self.distance is None:
            return text
        text += f"; distance from the limit {self.distance[0]:.3g} at the start, "
        text += f"{self.distance[-1]:.3g} after {len(self.distance) - 1} steps"
        return text if self.rate is None else f"{text}, times {self.rate:.4f} in a step"


@checked
def check_homogeneity(
    system: System | Enumeration,
    policy: PolicyLike,
    *,
    reward: "Reward | ArrayLike | None" = None,
    discount: Discount = 0.9,
    steps: Index = 100,
) -> Homogeneity:
    """Compute the local values of every agent at times 0 to steps and compare them.

    Without a reward all rewards are checked: values are linear in the reward, so the indicator of
    each observation is taken as a reward of its own.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    policy
        A `Policy`, a table of action numbers (O,), probabilities of actions (O, A), or a function
        from observations to physical actions, such as an expert.
    reward
        One number for each observation (O,); None for all rewards.
    discount
        The discount factor gamma, from 0 up to but not including 1.
    steps
        The last time.

    Returns
    -------
    Homogeneity
        The values of all agents, and how far apart they are.

    Raises
    ------
    InvalidInput
        If an argument is not of the kind, shape or range that is named above.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.check_homogeneity(ring, ring.expert, steps=5).holds
    True

    """
    process = chain(system, policy)
    swarm = process.swarm
    count = swarm.n_observations
    rewards = np.eye(count)
    if reward is not None:
        rewards = reward_vector(swarm.system, reward)[:, None]
    agents = swarm.system.n_agents
    size = (steps + 1) * agents * count * rewards.shape[1]
    if size > MOST_VALUES:
        raise InvalidInput(
            f"there are {size} local values to compare, more than {MOST_VALUES}: take fewer steps, "
            "or one reward (reward=...)"
        )
    seen = [swarm.seen_by(agent) for agent in range(agents)]
    private = [discounted(process.transitions, s @ rewards, discount) for s in seen]
    values = np.empty((steps + 1, agents, count, rewards.shape[1]))
    chances = np.empty((steps + 1, agents, count))
    law = swarm.initial
    for time in range(steps + 1):
        for agent in range(agents):
            values[time, agent], chances[time, agent] = _local(law, seen[agent], private[agent])
        law = law @ process.transitions
    limiting, distance = _convergence(process, values, seen, private)
    scale = float(np.abs(rewards).max()) / (1 - discount)
    return Homogeneity(
        values,
        _spread(values),
        float(np.ptp(chances, axis=1).max()),
        scale,
        process.limit,
        limiting,
        distance,
        None if distance is None else _rate(distance, _SETTLED * scale),
    )


def _local(law: Floats, seen: "csr_array", private: Floats) -> tuple[Floats, Floats]:
    """V_t(o) (O, rewards) and P_t(o) (O,) of one agent."""
    chance = seen.T @ law
    total = seen.T @ (law[:, None] * private)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(chance[:, None] > 0, total / chance[:, None], np.nan)
    return value, chance


def _spread(values: Floats) -> float:
    """The largest difference between agents, where several see the observation."""
    high = np.where(np.isnan(values), -np.inf, values).max(axis=1)
    low = np.where(np.isnan(values), np.inf, values).min(axis=1)
    return float((high - low)[np.isfinite(high)].max(initial=0.0))


def _convergence(
    process: Chain, values: Floats, seen: "list[csr_array]", private: list[Floats]
) -> tuple[Floats | None, Floats | None]:
    if not process.limit.exists:
        return None, None
    law = process.limit.law
    limiting = np.stack([_local(law, *agent)[0] for agent in zip(seen, private, strict=True)])
    gaps = np.abs(values - limiting)
    return limiting, np.where(np.isnan(gaps), 0.0, gaps).max(axis=(1, 2, 3))


def _rate(distance: Floats, rounding: float) -> float | None:
    """The slope of the logarithm over the later half of the times before rounding takes over."""
    settled = np.flatnonzero(distance <= rounding)
    end = int(settled[0]) if settled.size else len(distance)
    times = np.arange(end // 2, end)
    if len(times) < 3:
        return None
    return float(np.exp(np.polyfit(times, np.log(distance[times]), 1)[0]))
