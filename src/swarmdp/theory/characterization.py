"""Proposition 2 as a tool: all rewards for which a local policy is optimal.

The paper's matrices act on rewards over joint states; here a reward is one number for each
observation, so they are multiplied by the indicator of what the agent sees. With
M = (I - gamma P)^-1 [indicator], the discounted number of times that each observation will be seen:

    R_L = {r : P_o (P - P_a) M r >= 0 for all a}     optimal for the local value V(o|pi)
    R_G = {r :     (P - P_a) M r >= 0 for all a}     optimal for the private value V(s|pi)

The Remark of the paper prints R_G without the inverse; Ng and Russell's derivation, which it
follows, has it, and so does the definition Q(s, a1) >= Q(s, a).

The proof divides by gamma. For gamma = 0 the definition asks for nothing, since actions have no
consequences that count; the cones are then those of a very small gamma.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model import Reward, System
from swarmdp.theory.chain import chain, conditional
from swarmdp.theory.cones import Cone, Containment
from swarmdp.theory.enumeration import Enumeration, PolicyLike

ROUNDING = 1e-10  # differences of values below this share of 1 / (1 - gamma) are none

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Characterization:
    """The cones of rewards that make a policy optimal."""

    policy: Floats  # (O, A): the probability of each action
    discount: float
    observed: Floats  # (O,): P(o); where it is zero, R_L asks for nothing
    local_cone: Cone  # R_L
    global_cone: Cone  # R_G
    law: Floats  # (K,): P(s)
    gains: Floats  # (A, K, O): (Q(s, pi) - Q(s, a)) / gamma for a reward in each observation

    @cached_property
    def containment(self) -> Containment:
        """R_G lies in R_L: the proof, by linear programming."""
        return self.global_cone.inside(self.local_cone)

    def agreement(self, reward: "Reward | ArrayLike") -> float:
        """The probability, under P(s), of a state in which no other action is better.

        One for a reward in R_G. For a reward in R_L it says how far local planning is optimal "in
        an average sense", as the paper puts it.
        """
        r = self.local_cone.vector(reward)
        gain = self.gains @ r
        tie = ROUNDING * float(np.abs(r).max()) / (1 - self.discount)
        return float(self.law @ (gain >= -tie).all(axis=0))

    @cached_property
    def equal(self) -> bool:
        """Whether R_G and R_L are the same."""
        return self.containment.holds and self.local_cone.inside(self.global_cone).holds


def characterize(
    system: System | Enumeration,
    policy: PolicyLike,
    discount: float = 0.9,
    *,
    time: int | None = None,
    agent: int = 0,
) -> Characterization:
    """All rewards on observations for which a policy is optimal, locally and globally.

    "Optimal" is the paper's: no other action has a larger Q(o, a|pi) in any observation, or a
    larger Q(s, a|pi) in any joint state. P(s|o) is the limiting one, or that of a `time`. An
    observation that has no probability there puts no condition on the reward in R_L. For a
    stochastic policy, no action may be better than the policy's own mixture.
    """
    process = chain(system, policy)
    swarm = process.swarm
    visits = process.visits(discount, agent)
    law = process.law(time)
    given = conditional(law, swarm, agent)
    usual = process.transitions @ visits
    gains = np.stack([usual - process.deviating(a, agent) @ visits for a in range(swarm.n_actions)])
    local = np.concatenate([given @ gain for gain in gains])
    rounding = ROUNDING / (1 - discount)
    return Characterization(
        process.policy,
        discount,
        process.observed(time, agent),
        Cone.of(local, rounding),
        Cone.of(np.concatenate(gains), rounding),
        law,
        gains,
    )
