"""Algorithm 1 of the paper: generic inverse reinforcement learning."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.evidence import Evidence, RewardUpdate, Update, completed
from swarmdp.model.rewards import Reward
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import Learned
from swarmdp.policies.replicas import remade
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

Initialization = Callable[[Evidence], Reward]
PolicyUpdate = Callable[[Reward, int], Learned]
ValueEstimation = Callable[[LocalPolicy, Reward, int], "Value"]
NextReward = Callable[[Evidence, Update], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Value:
    """What a policy is worth: its feature expectations mu, for V = w . mu."""

    mu: NDArray[np.float64]  # (R, d)
    runs: NDArray[np.float64] | None = None  # (K, R, d): of K roll-outs, where there were several


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Iteration:
    """One pass of Algorithm 1 for all R experiments.

    Parameters
    ----------
    weights
        (R, d): the reward R^{i}.
    policy
        pi^{i}, of R replicas.
    mu
        (R, d): its feature expectations, for V^{i}.
    distance
        (R,): `|mu_E - mu|`.
    margin
        (R,): of the reward update.
    mixture
        (R, i + 1): the weights of the policies so far.
    next_weights
        (R, d): the reward R^{i+1}.
    seen
        (R, observations): whether each was visited while learning, if known.
    error
        (R, d): of the next weights, where known.
    diagnostics
        Other numbers of the update, by name.
    runs
        (K, R, d): mu of K roll-outs, if there were several.
    memory
        Of the learner; only the newest iteration has it, to go on with.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> result.iterations[0].mu.shape
    (1, 9)

    """

    weights: NDArray[np.float64]
    policy: LocalPolicy
    mu: NDArray[np.float64]
    distance: NDArray[np.float64]
    margin: NDArray[np.float64]
    mixture: NDArray[np.float64]
    next_weights: NDArray[np.float64]
    seen: NDArray[np.bool_] | None = None
    error: NDArray[np.float64] | None = None
    diagnostics: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    runs: NDArray[np.float64] | None = None
    memory: dict[str, NDArray[np.float64]] = field(default_factory=dict)


def generic_irl(
    *,
    expert_data: Callable[[], Evidence],
    initialization: Initialization,
    policy_update: PolicyUpdate,
    value_estimation: ValueEstimation,
    reward_update: RewardUpdate,
    next_reward: NextReward,
    iterations: int,
    tolerance: float = 0.0,
    finished: NDArray[np.bool_] | None = None,
) -> Iterator[Iteration]:
    """Algorithm 1: yields one iteration after another.

    It ends when all experiments are finished, or after the last iteration.

    Parameters
    ----------
    expert_data
        Its input: gives the expert data, which may hold iterations that were done earlier.
    initialization
        Step 0: gives the first reward.
    policy_update
        Step 1: gives the optimal policy for a reward in iteration i.
    value_estimation
        Step 2: gives the feature expectations (R, d) of a policy in iteration i.
    reward_update
        Step 3: gives a reward from all that is known.
    next_reward
        Which reward to try next: that one, or an earlier one again.
    iterations
        How many there are at most, including those done earlier.
    tolerance
        An experiment is finished when its margin falls to this.
    finished
        The experiments (R,) that finished in an iteration done earlier; none by default.

    """
    # Given the expert data D,
    evidence = expert_data()
    over = np.zeros(len(evidence.expert), np.bool_) if finished is None else finished

    # 0: Initialize the reward function R^{0}.
    reward = initialization(evidence)
    for i in range(evidence.policies, iterations):
        # 1: Policy update: find the optimal policy pi^{i} for R^{i}.
        learned = one_for_each(policy_update(reward, i), reward.replicas)

        # 2: Value estimation: compute the corresponding value V^{i}.
        value = value_estimation(learned.policy, reward, i)
        mu = value.mu
        evidence = evidence.after(reward.weights, mu, learned.kernel, value.runs, learned.tried)

        # 3: Reward update: given V^{i} and the expert data, compute R^{i+1}.
        update = completed(reward_update(evidence), evidence)
        assert update.margin is not None
        assert update.mixture is not None
        # Where there is nothing left to do, the reward stays.
        moving = ~over & (update.margin > 0)
        next_weights = np.where(moving[:, None], next_reward(evidence, update), reward.weights)
        yield Iteration(
            reward.weights,
            learned.policy,
            mu,
            np.linalg.norm(evidence.expert - mu, axis=1),
            update.margin,
            update.mixture,
            next_weights,
            learned.seen,
            update.error,
            update.diagnostics,
            value.runs,
            dict(learned.memory),
        )
        reward = Reward(next_weights)
        over = over | (update.margin <= tolerance)
        if over.all():
            return


def one_for_each(learned: object, replicas: int) -> Learned:
    """What a policy update returned; raises InvalidInput unless it is a policy for each reward."""
    policy = learned.policy if isinstance(learned, Learned) else None
    if not isinstance(policy, LocalPolicy) or isinstance(policy, type):
        what = type(learned).__name__
        if isinstance(learned, Learned):
            what = f"Learned with a policy that is a {type(policy).__name__}"
        raise InvalidInput(
            "a learner must return swarmdp.learning.Learned(policy), with a policy such as "
            f"swarmdp.Policy, got {what}"
        )
    assert isinstance(learned, Learned)
    if policy.replicas != replicas:
        raise InvalidInput(
            f"a learner must return a policy for each of the {replicas} rewards, got "
            f"{policy.replicas}"
        )
    # A result is made of its policies' arrays: one that cannot be made of them is reported now.
    remade(policy, policy.to_arrays(), policy.interface)
    return learned


def last_counting(margins: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """The iteration (R,) in which each experiment ended, from the margins (I, R).

    It is the first whose margin is within the tolerance, or the last one. Later iterations only
    exist because other experiments of the batch were not finished yet.
    """
    finished = margins <= tolerance
    last: NDArray[np.int64] = np.where(
        finished.any(axis=0), finished.argmax(axis=0), len(margins) - 1
    )
    return last


def initial_reward(expert: NDArray[np.float64]) -> Reward:
    """Step 0: reward what the expert does often, w = mu_E / |mu_E|.

    If the expert avoids every feature (mu_E = 0, which is possible with feature vectors), all
    features get the same weight.
    """
    length = np.linalg.norm(expert, axis=1, keepdims=True)
    same = np.full_like(expert, 1 / np.sqrt(expert.shape[1]))
    return Reward(np.where(length > 0, expert / np.where(length > 0, length, 1.0), same))


def random_reward(seed: int, shape: tuple[int, int]) -> Reward:
    """Step 0, the alternative: a uniformly random direction for each experiment."""
    rows = [
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,))).normal(size=shape[1])
        for r in range(shape[0])
    ]
    weights = np.stack(rows)
    return Reward(weights / np.linalg.norm(weights, axis=1, keepdims=True))
