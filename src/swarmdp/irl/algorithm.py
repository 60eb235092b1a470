"""Algorithm 1 of the paper: generic inverse reinforcement learning."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.max_margin import max_margin
from swarmdp.model import Policy, Reward


class Learned(Protocol):
    """What Algorithm 1 needs of a policy update's outcome."""

    @property
    def policy(self) -> Policy:
        """The policy, one replica for each of the reward's."""

    @property
    def seen(self) -> NDArray[np.bool_]:
        """The observations that were visited (R, observations)."""


PolicyUpdate = Callable[[Reward, int], Learned]
ValueEstimation = Callable[[Policy, int], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Update:
    """The outcome of a reward update for R experiments after J policies."""

    weights: NDArray[np.float64]  # (R, d)
    margin: NDArray[np.float64]  # (R,)
    mixture: NDArray[np.float64]  # (R, J): weights of the policies that come nearest together


RewardUpdate = Callable[[NDArray[np.float64], NDArray[np.float64]], Update]
"""From the expert's feature expectations (R, d) and those of all policies so far (J, R, d)."""


@dataclass(frozen=True, eq=False)
class Iteration:
    """One pass of Algorithm 1 for all R experiments."""

    weights: NDArray[np.float64]  # (R, d): the reward R^{i}
    table: NDArray[np.int64]  # (R, observations): the policy pi^{i}
    seen: NDArray[np.bool_]  # (R, observations): visited while learning it
    mu: NDArray[np.float64]  # (R, d): its feature expectations, for V^{i}
    margin: NDArray[np.float64]  # (R,): of the reward update
    mixture: NDArray[np.float64]  # (R, i + 1)
    next_weights: NDArray[np.float64]  # (R, d): the reward R^{i+1}


def generic_irl(
    expert: NDArray[np.float64],
    reward: Reward,
    *,
    policy_update: PolicyUpdate,
    value_estimation: ValueEstimation,
    reward_update: RewardUpdate,
    iterations: int,
    before: list[Iteration],
) -> Iterator[Iteration]:
    """Algorithm 1, from the expert data as feature expectations (R, d) and an initial reward.

    `before` are the iterations that were done earlier, for going on with a saved fit.
    """
    learned_mu = [iteration.mu for iteration in before]
    for i in range(len(before), iterations):
        # 1: Policy update: find the optimal policy pi^{i} for R^{i}.
        learned = policy_update(reward, i)

        # 2: Value estimation: compute the corresponding value V^{i}.
        mu = value_estimation(learned.policy, i)
        learned_mu.append(mu)

        # 3: Reward update: given V^{i} and the expert data, compute R^{i+1}.
        update = reward_update(expert, np.stack(learned_mu))
        # An expert inside the hull of the learned policies leaves nothing to update.
        found = update.margin[:, None] > 0
        next_weights = np.where(found, update.weights, reward.weights)
        yield Iteration(
            reward.weights,
            np.asarray(learned.policy.table, np.int64),
            learned.seen,
            mu,
            update.margin,
            update.mixture,
            next_weights,
        )
        reward = Reward(next_weights)


def max_margin_update(expert: NDArray[np.float64], learned: NDArray[np.float64]) -> Update:
    """Abbeel and Ng's max-margin update for each experiment."""
    solved = [max_margin(mu, learned[:, r]) for r, mu in enumerate(expert)]
    return Update(
        np.stack([s.weights for s in solved]),
        np.array([s.margin for s in solved]),
        np.stack([s.mixture for s in solved]),
    )


def initial_reward(expert: NDArray[np.float64]) -> Reward:
    """Step 0: reward what the expert does often, w = mu_E / |mu_E|."""
    return Reward(expert / np.linalg.norm(expert, axis=1, keepdims=True))


def random_reward(seed: int, shape: tuple[int, int]) -> Reward:
    """Step 0, the other way: a uniformly random direction for each experiment."""
    rows = [
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,))).normal(size=shape[1])
        for r in range(shape[0])
    ]
    weights = np.stack(rows)
    return Reward(weights / np.linalg.norm(weights, axis=1, keepdims=True))
