"""Tracks of swarms whose additive reward is known: how near a learned reward comes to it."""

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.recordings import BEFORE, FRAMES, STEPS, known_rule, spoiled_tracks
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.policies import LocalPolicy
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.swarm import Swarm

Floats = NDArray[np.float64]
TOO_MANY = ("policy_matching", "bayesian")  # updates that need hours for as many classes
_LEARNING = 1000  # steps of Algorithm 2 for a rule drawn at random
_INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class Rule:
    """An additive reward and the policy that was learned for it."""

    weights: Floats
    policy: LocalPolicy


@cache
def rule(number: int | None = None) -> Rule:
    """The known rule; or one of many, drawn at random, in the same swarm."""
    truth, weights, policy = known_rule()
    if number is None:
        return Rule(weights, policy)
    rng = np.random.default_rng(number)
    aligned = rng.uniform(0.3, 1.2) * np.array([-0.6, -0.1, 0.4, 1.0, 0.4, -0.1, -0.6])
    behind, side, ahead = 0.4 * rng.normal(size=3)
    spacing = 0.5 * rng.normal(size=3)
    edge, near, middle = rng.uniform(0.2, 1.0), 0.3 * rng.normal(), 0.2 + 0.4 * rng.normal()
    wall = [-edge, near, middle, near, -edge]
    weights = np.array([*aligned, behind, side, ahead, side, *spacing, *wall])
    learning = HeterogeneousLearning(steps=_LEARNING)
    reward = swarmdp.Reward(weights)
    learned = learning(truth, reward, discount=0.9, seed=number, threads=1)
    return Rule(weights, learned.policy)


def clean_tracks(seed: int, steps: int = STEPS) -> Recording:
    """Tracks of the known rule as they are, without errors, gaps and swaps."""
    truth, _, policy = known_rule()
    x = swarmdp.rollout(truth, policy, steps=steps + BEFORE, seed=seed)["position"][0][BEFORE:]
    share = np.arange(FRAMES)[:, None, None] / FRAMES
    between = [a + share * (b - a) for a, b in itertools.pairwise(x)]
    return Recording(np.concatenate([*between, x[-1:]]), fps=FRAMES / truth.dt, unit="BL")


def recorded(seed: int, spoiled: bool, number: int | None = None) -> tuple[Swarm, Decisions]:
    """The swarm that is calibrated from such tracks, with default settings, and the decisions."""
    truth, _, _ = known_rule()
    policy = rule(number).policy
    tracks = spoiled_tracks(seed, STEPS, policy) if spoiled else clean_tracks(seed)
    decisions = tracks.decisions(dt=truth.dt).train
    return Swarm.from_recording(decisions, arena=truth.arena), decisions


def agreement(
    swarm: Swarm, decisions: Decisions, weights: Floats, number: int | None = None
) -> float:
    """The correlation of a reward with the true one, over the recorded decisions."""
    rewards, other = _true_rewards(swarm, decisions, number)
    assert swarm.features.matrix is not None
    learned = (swarm.features.matrix @ weights)[other]
    return float(np.corrcoef(rewards, learned)[0, 1])


def intervals(
    swarm: Swarm, decisions: Decisions, result: swarmdp.Result, number: int | None = None
) -> dict[str, float]:
    """How many true differences of rewards are in the 95 % intervals; how many are identified.

    The true reward has other classes. Its weights on the learned ones are those of the least
    squares over the recorded decisions. Mirror images, which are the same, are left out.
    """
    rewards, other = _true_rewards(swarm, decisions, number)
    assert swarm.features.matrix is not None
    assert result.alternatives is not None
    seen = swarm.features.matrix[other]
    ridge = 1e-5 * len(seen) * np.eye(seen.shape[1])
    true = np.linalg.solve(seen.T @ seen + ridge, seen.T @ (rewards - rewards.mean()))
    sizes = [int(np.prod([len(axis.values) for axis in block])) for block in result.blocks]
    learned, truth, drawn = (
        _comparable(weights, sizes)
        for weights in (result.reward.weights[0], true, result.alternatives[:, 0])
    )
    covered, identified, right, begin = [], [], [], 0
    for size in sizes:
        for i, j in itertools.combinations(range(begin, begin + size), 2):
            gaps, gap = drawn[:, i] - drawn[:, j], truth[i] - truth[j]
            if gaps.std() < 1e-9:
                continue  # mirror images, or the turn before, which is not rewarded
            low, high = np.quantile(gaps, _INTERVAL)
            covered.append(low <= gap <= high)
            identified.append(low > 0 or high < 0)
            if identified[-1]:
                right.append(np.sign(gap) == np.sign(learned[i] - learned[j]))
        begin += size
    return {
        "covered": float(np.mean(covered)),
        "identified": float(np.mean(identified)),
        "wrong_signs": float(len(right) - np.sum(right)),
    }


def _true_rewards(
    swarm: Swarm, decisions: Decisions, number: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Of each decision the true reward of what was seen, and its class in the learned swarm."""
    truth, _, _ = known_rule()
    true_class, other = truth.view.classes(decisions), swarm.view.classes(decisions)
    both = (true_class >= 0) & (other >= 0)
    assert truth.features.matrix is not None
    rewards = truth.features.matrix @ rule(number).weights
    return rewards[true_class[both]], other[both]


def _comparable(weights: Floats, sizes: list[int]) -> Floats:
    """Weights (..., d) without what means nothing: the mean of each block, and the length."""
    blocks = np.split(weights, np.cumsum(sizes)[:-1], axis=-1)
    centred = np.concatenate([b - b.mean(axis=-1, keepdims=True) for b in blocks], axis=-1)
    shown: Floats = centred / np.linalg.norm(centred, axis=-1, keepdims=True)
    return shown
