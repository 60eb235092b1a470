"""The price of locality: what a central expert gets that agents on their own cannot get.

A central controller sees the whole swarm and commands all agents at once. How much of what it gets
can be had by agents that see only what they observe? The demo is worth V_E = w . mu_E under a
reward, and the best local policy that is found V; the price is V_E - V. Policy search looks for the
local policy, since it optimises what all agents get together, as a central expert does.
"""

from dataclasses import dataclass

import numpy as np

from swarmdp.irl.demos import Demo, check_demo, read_demo
from swarmdp.irl.expectations import feature_expectations
from swarmdp.learning.policy_search import PolicySearch
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import Learner
from swarmdp.simulation.recorders import DiscountedFeatures
from swarmdp.simulation.rollout import rollout
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Discount, PositiveInteger, Seed


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Price:
    """What `swarmdp.judging.price_of_locality` found; all values are discounted sums.

    Parameters
    ----------
    price
        The demo's value less that of the local policy; above zero if locality costs something.
    error
        Its standard error; NaN if the demo is a single run.
    demo
        The demo's value.
    local
        The value of the best local policy that was found.
    policy
        That policy.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=8, seed=1)
    >>> reward = swarmdp.Reward(np.linspace(1.0, 0.0, 9))
    >>> price = swarmdp.judging.price_of_locality(demo, ising, reward, seed=2)
    >>> abs(price.price) < 4 * price.error + 0.2    # the expert is local itself
    True

    """

    price: float
    error: float
    demo: float
    local: float
    policy: LocalPolicy

    def __repr__(self) -> str:
        """One line."""
        return (
            f"Price of locality: {self.price:.3g} ± {self.error:.2g} (the demo is worth "
            f"{self.demo:.4g}, the best local policy that was found {self.local:.4g})"
        )


@checked
def price_of_locality(
    demo: Demo,
    system: System,
    reward: Reward,
    *,
    seed: Seed,
    discount: Discount = 0.9,
    learner: Learner | None = None,
    runs: PositiveInteger = 100,
) -> Price:
    """Tell how much less local agents get than the expert of a demo, which may be a central one.

    Parameters
    ----------
    demo
        A trajectory of the expert; several runs tell the error.
    system
        What local agents observe and do.
    reward
        What is worth how much, such as `result.reward` of a fit of the demo.
    seed
        Of the search and of the roll-outs.
    discount
        The discount factor gamma.
    learner
        Finds the local policy; by default `swarmdp.learning.PolicySearch()`.
    runs
        The roll-outs that tell what the local policy is worth.

    Returns
    -------
    Price
        The price with its standard error.

    Raises
    ------
    InvalidInput
        If the demo is not a trajectory of this system, or there are several rewards.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=8, seed=1)
    >>> reward = swarmdp.Reward(np.linspace(1.0, 0.0, 9))
    >>> swarmdp.judging.price_of_locality(demo, ising, reward, seed=2).demo > 8
    True

    """
    read = read_demo(system, demo)
    if not isinstance(read, Trajectory):
        raise InvalidInput("the price of locality is asked of a trajectory of the expert")
    if reward.replicas != 1:
        raise InvalidInput(f"one reward at a time, got {reward.replicas}: Reward(weights[i])")
    check_demo(system, read, discount)
    weights: Floats = reward.weights[0]
    shown = feature_expectations(system, read, discount=discount, estimator="swarm") @ weights
    search = learner or PolicySearch()
    learned = search(system, reward, discount=discount, seed=derived_seed(seed, Part.SEARCHING))
    seen = rollout(
        system,
        learned.policy,
        steps=read.steps,
        runs=runs,
        seed=derived_seed(seed, Part.JUDGING),
        record=DiscountedFeatures(discount),
    )
    local = seen["discounted_features"] @ weights
    errors = [
        values.var(ddof=1) / len(values) if len(values) > 1 else np.nan for values in (shown, local)
    ]
    return Price(
        float(shown.mean() - local.mean()),
        float(np.sqrt(sum(errors))),
        float(shown.mean()),
        float(local.mean()),
        learned.policy,
    )
