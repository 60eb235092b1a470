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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import SolverError
from swarmdp.support.ranges import Discount
from swarmdp.theory.chain import chain, conditional
from swarmdp.theory.cones import INSIDE, Cone, Containment
from swarmdp.theory.enumeration import Enumeration, PolicyLike
from swarmdp.theory.solvers import discounted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

EPSILON = float(np.finfo(np.float64).eps)
_ROUNDING = 8 * EPSILON  # of a gain, relative to the sizes of its terms
_STEPS = 32  # after which an action that has changed nothing never will, or it would show in values
FADED = 1e-4  # relative error of what is left of an action's effect, beyond which it says nothing


@checked
@dataclass(frozen=True, eq=False)
class Characterization:
    """The cones of rewards that make a policy optimal.

    Parameters
    ----------
    policy
        (O, A): the probability of each action.
    discount
        The discount factor gamma.
    observed
        (O,): P(o); where it is zero, R_L asks for nothing.
    local_cone
        R_L: the rewards for which no action is better in any observation.
    global_cone
        R_G: the rewards for which no action is better in any joint state.
    law
        (K,): P(s).
    gains
        (A, K, O): (Q(s, pi) - Q(s, a)) / gamma for a reward in each observation.
    rounding
        (A, K): by how much gains may be wrong.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.characterize(ring, ring.expert).local_cone.rows.shape[1]
    3

    """

    policy: Floats
    discount: float
    observed: Floats
    local_cone: Cone
    global_cone: Cone
    law: Floats
    gains: Floats
    rounding: Floats

    @cached_property
    def containment(self) -> Containment:
        """R_G lies in R_L: the proof, by the duality of linear programming."""
        return self.global_cone.inside(self.local_cone)

    def agreement(self, reward: "Reward | ArrayLike") -> float:
        """The probability, under P(s), of a state in which no other action is better.

        One for a reward in R_G. For a reward in R_L it says how far local planning is optimal "in
        an average sense", as the paper puts it.
        """
        r = self.local_cone.vector(reward)
        gain = self.gains @ r
        # The same allowance as for being in R_G.
        tie = INSIDE * np.linalg.norm(self.gains, axis=2) + self.rounding
        return float(self.law @ (gain >= -tie * float(np.linalg.norm(r))).all(axis=0))

    @cached_property
    def equal(self) -> bool:
        """Whether R_G and R_L are the same."""
        return self.global_cone.equals(self.local_cone)


@checked
def characterize(
    system: System | Enumeration,
    policy: PolicyLike,
    discount: Discount = 0.9,
    *,
    time: int | None = None,
    agent: int = 0,
) -> Characterization:
    """All rewards on observations for which a policy is optimal, locally and globally.

    "Optimal" is the paper's: no other action has a larger Q(o, a|pi) in any observation, or a
    larger Q(s, a|pi) in any joint state. P(s|o) is the limiting one, or that of a `time`. An
    observation that has no probability there puts no condition on the reward in R_L. For a
    stochastic policy, no action may be better than the policy's own mixture.

    Parameters
    ----------
    system
        A finite swarm, or its states as `enumerate_swarm` listed them.
    policy
        A `Policy`, a table of action numbers (O,), probabilities of actions (O, A), or a function
        from observations to physical actions, such as an expert.
    discount
        The discount factor gamma, from 0 up to but not including 1.
    time
        The time of P(s|o); None for the limit.
    agent
        Whose P(s|o) it is.

    Returns
    -------
    Characterization
        The two cones of rewards.

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
    >>> found = theory.characterize(ring, ring.expert)
    >>> found.local_cone.contains([1.0, 0.5, 0.0])
    False

    """
    process = chain(system, policy)
    swarm = process.swarm
    law = process.law(time)
    observed = process.observed(time, agent)
    given = conditional(law, swarm, agent)
    # Adding a constant to a reward changes no gain. Rewards whose mean over P(o) is zero have
    # values without the common part of order 1 / (1 - gamma), in which differences would drown.
    centred = swarm.seen_by(agent).toarray() - observed
    visits = discounted(process.transitions, centred, discount)
    deviations = [process.deviation(a, agent) for a in range(swarm.n_actions)]
    gains = np.stack([deviation @ visits for deviation in deviations])
    gains -= gains.mean(axis=2, keepdims=True)  # zero but for rounding, for the same reason
    terms = np.stack([abs(deviation).sum(axis=1) for deviation in deviations])
    # Of a mixture of laws, which is rounded itself, small differences do not keep their digits.
    terms += (process.policy.max(axis=1) < 1)[swarm.observations[:, agent]]
    # Laws sum to one up to rounding: what their differences sum to is wrong, and multiplies values.
    terms += np.stack([abs(deviation.sum(axis=1)) for deviation in deviations]) / EPSILON
    rounding = _ROUNDING * max(1.0, float(np.abs(visits).max())) * terms
    if discount:  # without a future there is nothing to fade
        unclear = np.linalg.norm(gains, axis=2) <= rounding
        _check_nothing(process.transitions, centred, deviations, unclear * terms)
    local = np.concatenate([given @ gain for gain in gains])
    return Characterization(
        process.policy,
        discount,
        observed,
        Cone.of(local, np.concatenate([given @ error for error in rounding])),
        Cone.of(np.concatenate(gains), rounding.ravel()),
        law,
        gains,
        rounding,
    )


def _check_nothing(
    transitions: "csr_array", seen: Floats, deviations: "list[csr_array]", terms: Floats
) -> None:
    """Raise SolverError for gains that are lost in rounding although they are not zero.

    Near pure chance what an action changes fades by a factor in each step. So each step is looked
    at on a scale of its own: an action without a gain must change nothing in any of them, up to
    rounding, which grows by the same factor. `terms` (A, K) are the sizes of what is added up, zero
    where the gain is not in question.
    """
    if not terms.any():
        return
    error = _ROUNDING
    for _ in range(_STEPS):
        changes = np.stack([np.abs(deviation @ seen).max(axis=1) for deviation in deviations])
        if (changes > error * terms)[terms > 0].any():
            raise SolverError(
                "what an action changes is lost in rounding, though it is not zero: the swarm is "
                "too near to pure chance for cones of rewards; take less noise, or actions that "
                "differ more"
            )
        seen = transitions @ seen
        seen = seen - seen.mean(axis=0)
        size = float(np.abs(seen).max())
        seen = seen / max(size, FADED)
        error = (error + _ROUNDING) / max(size, FADED)
        if error > FADED:
            return
