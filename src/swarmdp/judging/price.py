"""The price of locality: what a central expert gets that agents on their own cannot get.

A central controller sees the whole swarm and commands all agents at once. How much of what it gets
can be had by agents that see only what they observe? The demo is worth V_E = w . mu_E under a
reward, and the best local policy that is found V; the price is V_E - V. Policy search looks for the
local policy, since it optimises what all agents get together, as a central expert does. The policy
of a fit is a local one, too: where a verdict finds that agents follow a common cue, the fit tells
what its own policy gets less (`price_in_words`).
"""

from dataclasses import dataclass

import numpy as np

from swarmdp.irl.demos import Demo, check_demo, read_demo
from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.result import Result
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

_FEW = 40  # roll-outs of a fit's own policy


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
    reward: Reward | Result,
    *,
    seed: Seed,
    discount: Discount | None = None,
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
        What is worth how much; or a fit of the demo: then it is the reward and the discount of the
        fit, and its policy counts if it is the best.
    seed
        Of the search and of the roll-outs.
    discount
        The discount factor gamma; that of the fit, or 0.9.
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
    known = reward.policy if isinstance(reward, Result) else None
    if discount is None:
        discount = float(reward.settings["discount"]) if isinstance(reward, Result) else 0.9
    reward = reward.reward if isinstance(reward, Result) else reward
    read = _read(system, demo, reward, discount)
    search = learner or PolicySearch()
    learned = search(system, reward, discount=discount, seed=derived_seed(seed, Part.SEARCHING))
    policy = learned.policy
    if known is not None:
        # Chosen by other roll-outs than those that tell the value.
        drawn = derived_seed(seed, Part.RACING)
        found, other = (
            _worth(system, one, reward, discount, read.steps, runs, drawn).mean()
            for one in (policy, known)
        )
        policy = known if other > found else policy
    return _price(system, read, policy, reward, discount, runs, derived_seed(seed, Part.JUDGING))


def price_in_words(system: System, demo: Trajectory, result: Result, *, seed: int) -> str:
    """What a fit's own policy gets less than the expert of its demo, in words.

    It is at least the price of locality: another local policy may be better.
    """
    discount = float(result.settings["discount"])
    read = _read(system, demo, result.reward, discount)
    found = _price(system, read, result.policy, result.reward, discount, _FEW, seed)
    error = f" ± {found.error:.2g}" if np.isfinite(found.error) else ""
    return (
        f"under the learned reward the demo is worth {found.demo:.4g}, these local agents "
        f"{found.price:.3g}{error} less: the price of locality is at most that "
        "(swarmdp.judging.price_of_locality(demo, system, result, seed=1) looks for better ones)"
    )


def _read(system: System, demo: Demo, reward: Reward, discount: float) -> Trajectory:
    """The demo, checked together with the reward."""
    read = read_demo(system, demo)
    if not isinstance(read, Trajectory):
        raise InvalidInput("the price of locality is asked of a trajectory of the expert")
    if reward.replicas != 1:
        raise InvalidInput(f"one reward at a time, got {reward.replicas}: Reward(weights[i])")
    check_demo(system, read, discount)
    return read


def _price(
    system: System,
    demo: Trajectory,
    policy: LocalPolicy,
    reward: Reward,
    discount: float,
    runs: int,
    seed: int,
) -> Price:
    """The demo's value less that of a policy."""
    mu = feature_expectations(system, demo, discount=discount, estimator="swarm")
    shown: Floats = mu @ reward.weights[0]
    local = _worth(system, policy, reward, discount, demo.steps, runs, seed)
    errors = [
        values.var(ddof=1) / len(values) if len(values) > 1 else np.nan for values in (shown, local)
    ]
    return Price(
        float(shown.mean() - local.mean()),
        float(np.sqrt(sum(errors))),
        float(shown.mean()),
        float(local.mean()),
        policy,
    )


def _worth(
    system: System,
    policy: LocalPolicy,
    reward: Reward,
    discount: float,
    steps: int,
    runs: int,
    seed: int,
) -> Floats:
    """What runs of a policy are worth (runs,)."""
    record = DiscountedFeatures(discount)
    seen = rollout(system, policy, steps=steps, runs=runs, seed=seed, record=record, progress=False)
    worth: Floats = seen["discounted_features"] @ reward.weights[0]
    return worth
