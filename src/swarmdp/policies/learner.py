"""What Algorithm 1, Algorithm 2 and reward updates agree on: wishes and outcomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.policies import LocalPolicy
from swarmdp.support.arguments import checked
from swarmdp.support.ranges import NotNegative


@checked
@dataclass(frozen=True)
class Wants:
    """What a reward update asks for beside feature expectations.

    Parameters
    ----------
    pairs
        How often the expert took which action in which observation.
    kernel
        The local dynamics P(o' | o, a) among agents that follow the newest policy.
    expert_kernel
        The local dynamics among agents that do as the expert does; its actions are needed, too.
    at_once
        The answer does not depend on the policies: the update is asked once, before the first
        policy update, and its answer is the reward of all iterations. These are then so many
        attempts at the policy, of which the nearest is chosen.
    softness
        Above zero for policies that are Boltzmann's: the probability of an action is proportional
        to exp(Q / softness), which is optimal for the reward plus softness times the entropy of the
        actions. (Temperature is another thing here: the share of exploring agents.)
    any_policies
        Policies may have been found for any reward: the search is free to go back to an earlier
        one. Updates that take a step from the newest reward do not allow that.
    mirror
        Every experience counts also mirrored, and policies are odd (see `swarmdp.symmetry`). It is
        the fit that wants this, not the update.

    Examples
    --------
    >>> import swarmdp
    >>> swarmdp.updates.MaxEnt().wants.softness    # its policies are Boltzmann's
    1.0

    """

    pairs: bool = False
    kernel: bool = False
    expert_kernel: bool = False
    at_once: bool = False
    softness: NotNegative = 0.0
    any_policies: bool = False
    mirror: bool = False

    @property
    def actions(self) -> bool:
        """Whether the expert's actions are needed."""
        return self.pairs or self.expert_kernel


NOTHING_MORE = Wants()


@checked(nan=True, skip=("policy",))
@dataclass(frozen=True, eq=False)
class Learned:
    """A policy for each of R rewards, and what was found on the way.

    Parameters
    ----------
    policy
        The policy, of R replicas.
    q
        (R, observations, actions): the Q-function, of learners with a table.
    seen
        (R, observations): whether each was visited; elsewhere the policy does nothing.
    kernel
        (R, observations, actions, observations): P(o' | o, a), if asked for.
    memory
        What the next update may go on with.
    tried
        (C, R, d): the feature expectations of other policies that were tried, as evidence.

    Examples
    --------
    >>> import swarmdp
    >>> grid = swarmdp.Gridworld(rows=2, columns=2)
    >>> swarmdp.learning.plan(grid, swarmdp.Reward([0.0, 0.0, 0.0, 1.0])).q.shape
    (1, 4, 4)

    """

    policy: LocalPolicy
    q: NDArray[np.float64] | None = None
    seen: NDArray[np.bool_] | None = None
    kernel: NDArray[np.float64] | None = None
    memory: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    tried: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class EquilibriumGap:
    """What one agent gains by deviating from the policy that all others follow."""

    gain: NDArray[np.float64]  # (R,): in units of the reward, summed with the discount
    error: NDArray[np.float64]  # (R,): its standard error
    share: NDArray[np.float64]  # (R,): of the largest difference that two values can have

    def __repr__(self) -> str:
        rows = [
            f"{gain:.3g} ± {error:.2g} ({share:.1%} of the range of values)"
            for gain, error, share in zip(self.gain, self.error, self.share, strict=True)
        ]
        return "\n".join(rows)


@runtime_checkable
class Remembering(Protocol):
    """A learner that can go on with what it has learned for another reward.

    It takes a keyword argument `memory`: what it gave back as `Learned.memory`.
    """

    @property
    def remembers(self) -> bool:
        """Whether it does."""


@runtime_checkable
class Mirroring(Protocol):
    """A learner that knows what to do with `Wants.mirror`."""

    @property
    def mirrors(self) -> bool:
        """Whether it does."""


@runtime_checkable
class Exact(Protocol):
    """A learner whose policies are optimal to rounding, so that a second attempt finds the same."""

    @property
    def exact(self) -> bool:
        """Whether they are."""


class Learner(Protocol):
    """A policy update: finds the optimal policy for a reward.

    Examples
    --------
    >>> import swarmdp
    >>> def lazy(system, reward, **more):    # a learner of one's own: no agent ever does anything
    ...     return swarmdp.learning.Learned(swarmdp.Policy([0] * system.features.size))
    ...
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, learner=lazy, iterations=1, judge=False)
    >>> int(result.policy.table.max())
    0

    """

    def __call__(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        seed: int,
        wants: Wants = NOTHING_MORE,
        watch: Callable[[Any], None] | None = None,
        threads: int | None = None,
    ) -> Learned:
        """Learn a policy for each replica of the reward."""
