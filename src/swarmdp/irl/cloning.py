"""Behaviour cloning: do what the expert was seen to do, without learning a reward."""

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.pairs import pair_counts
from swarmdp.model.system import System
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Interface, SoftPolicy
from swarmdp.support.arguments import checked


@checked
def clone(system: System, demo: Trajectory, *, separate: bool = False) -> SoftPolicy:
    """The policy that takes each action as often as the expert did in the same observation.

    In observations that the expert never made it does nothing.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory of the expert, with recorded actions or with states from which the system can
        infer them.
    separate
        If True each run of the demo gives a policy of its own. If False the runs are pooled.

    Returns
    -------
    SoftPolicy
        With one replica, or one for each run.

    Raises
    ------
    InvalidInput
        If the demo has no actions and none can be inferred, or it is of another system.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(8, 8), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=10, runs=5, seed=1)
    >>> swarmdp.irl.clone(ising, demo).probabilities.shape
    (1, 9, 2)

    """
    counts, _ = pair_counts(system, demo)
    return policy_of_pairs(system, counts if separate else counts.sum(axis=0, keepdims=True))


def policy_of_pairs(system: System, counts: NDArray[np.float64]) -> SoftPolicy:
    """The policy of counted observation-action pairs (R, O, A)."""
    visits = counts.sum(axis=2, keepdims=True)
    nothing = np.arange(counts.shape[2]) == null_action(system)
    probabilities = np.where(visits > 0, counts / np.where(visits > 0, visits, 1), nothing)
    return SoftPolicy(probabilities, Interface.of(system))
