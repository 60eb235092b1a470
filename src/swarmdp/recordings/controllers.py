"""Controllers of a calibrated swarm: anchored to the recording, and simple rules beside them."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.policies import Interface, LocalPolicy, MixedPolicy, SoftPolicy, TablePolicy
from swarmdp.recordings.calibration import ROBUST, Noise
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.turn_prediction import turn_edges
from swarmdp.simulation.rollout import simulate
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_between
from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm


LEAST_CHANCE = 1e-3  # of a bin of turns, so that one surprise does not decide
_TWO_PI = 2 * math.pi
KEPT = 0.5  # share of the information on single turns that an anchored policy keeps
TRIED_AGENTS, TRIED_STEPS = 1000, 30  # of swarms by which the memory of noise is found
_ATTEMPTS = 3  # at this memory, after the first
SLOPE = 0.6  # about how much more turns are correlated for a longer memory
_CLOSE = 0.01  # a memory that need not be mended
MOST_REMEMBERED = 0.8
STEPS_BACK = 9  # memories between that and the first
WEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)  # of a learned policy


def intended_turns(swarm: "Swarm", policy: LocalPolicy) -> Floats:
    """The mean turn that a policy intends in each class (classes,).

    Of a mixture it is the mean over its policies: their chance differences average out.
    """
    if isinstance(policy, MixedPolicy) and policy.replicas == 1:
        parts = zip(policy.weights[0], policy.policies, strict=True)
        mixed = [share * intended_turns(swarm, part) for share, part in parts if share]
        return np.asarray(np.sum(mixed, axis=0))
    if not isinstance(policy, TablePolicy) or policy.replicas != 1:
        raise InvalidInput(
            "this needs one policy that is a table of classes, hard or soft, such as result.policy "
            "of swarmdp.fit, or result.mixture"
        )
    policy.check(swarm)
    mean: Floats = policy.chances(len(swarm.actions))[0] @ swarm.actions
    return mean


def anchor_policy(
    swarm: "Swarm", policy: LocalPolicy, weight: float | Literal["auto"]
) -> SoftPolicy:
    """See `Swarm.anchored`."""
    if isinstance(weight, str):
        return _plausible(swarm, policy)
    check_between("weight", weight, 0.0, 1.0)
    return habitual_policy(
        swarm, (1 - weight) * swarm.habits + weight * intended_turns(swarm, policy)
    )


def habitual_policy(swarm: "Swarm", mean: Floats) -> SoftPolicy:
    """The policy with these mean turns (classes,): of two choices around each, at random."""
    order = np.argsort(swarm.actions)
    turns = swarm.actions[order]
    above = np.clip(np.searchsorted(turns, mean), 1, len(turns) - 1)
    share = np.clip((mean - turns[above - 1]) / (turns[above] - turns[above - 1]), 0.0, 1.0)
    chances = np.zeros((len(mean), len(turns)))
    rows = np.arange(len(mean))
    chances[rows, order[above - 1]] = 1 - share
    chances[rows, order[above]] = share
    return SoftPolicy(chances, Interface.of(swarm))


def _plausible(swarm: "Swarm", policy: LocalPolicy) -> SoftPolicy:
    """With the largest weight, up to a half, that keeps half of what habits tell of turns."""
    if swarm.decisions is None:
        raise InvalidInput("this swarm was not made from a recording: give a weight")
    best = anchor_policy(swarm, policy, 0.0)
    least = KEPT * turn_gain(swarm, best, swarm.decisions)
    for weight in WEIGHTS:
        tried = anchor_policy(swarm, policy, weight)
        if turn_gain(swarm, tried, swarm.decisions) < least:
            break
        best = tried
    return best


def fit_noise_memory(swarm: "Swarm", decisions: Decisions) -> Noise:
    """The noise with the memory by which simulated turns are as correlated as recorded ones.

    What is left of turns by their means has less memory than turns have: agents correct what the
    noise did to them, and walls reflect. So it is tried out, with agents that do as recorded ones.
    But a memory by which single turns are predicted worse goes too far.
    """
    turns = decisions.turns
    squares = float(np.nanmean(turns**2)) - decisions.error_of_turns
    products = turns[1:] * turns[:-1]
    if not np.isfinite(products).any() or squares <= 0 or len(swarm.actions) < 2:
        return swarm.wobble
    target = (float(np.nanmean(products)) + decisions.error_of_turns * 4 / 6) / squares
    policy = habitual_policy(swarm, swarm.habits)
    runs = max(2, -(-TRIED_AGENTS // swarm.n_agents))

    def correlation(memory: float) -> float:
        tried = replace(swarm, wobble=replace(swarm.wobble, memory=memory))
        track = simulate(
            tried, policy, numbers=np.arange(runs), steps=TRIED_STEPS, seed=0, record=["states"]
        )
        turned = track["turn"][:, 1:]
        return float((turned[:, 1:] * turned[:, :-1]).mean() / (turned**2).mean())

    tried = [swarm.wobble.memory]
    correlations = [correlation(tried[0])]
    for _ in range(_ATTEMPTS):
        gap = target - correlations[-1]
        slope = SLOPE
        if len(tried) > 1 and tried[-1] != tried[-2]:
            slope = max(SLOPE / 2, (correlations[-1] - correlations[-2]) / (tried[-1] - tried[-2]))
        after = float(np.clip(tried[-1] + gap / slope, -MOST_REMEMBERED, MOST_REMEMBERED))
        if abs(after - tried[-1]) < _CLOSE:
            break
        tried.append(after)
        correlations.append(correlation(after))
    best = tried[int(np.argmin(np.abs(np.array(correlations) - target)))]
    # As far as single turns are predicted no worse.
    least = turn_gain(swarm, policy, decisions)
    for memory in np.linspace(best, tried[0], STEPS_BACK):
        noise = replace(swarm.wobble, memory=float(memory))
        if turn_gain(replace(swarm, wobble=noise), policy, decisions) >= least:
            return noise
    return swarm.wobble


def turn_gain(swarm: "Swarm", policy: LocalPolicy, decisions: Decisions) -> float:
    """See `Swarm.turn_gain`."""
    policy.check(swarm)
    if not isinstance(policy, TablePolicy) or policy.replicas != 1:
        intended_turns(swarm, policy)  # raises
        raise AssertionError
    if swarm.decisions is None:
        raise InvalidInput("this swarm was not made from a recording: use Swarm.from_recording")
    edges = turn_edges(swarm.decisions.turns)
    seen = swarm.view.seen(decisions)
    complete = seen.complete
    classes, turns = seen.classes[complete], seen.turns[complete]
    marginal = swarm.decisions.turns[np.isfinite(swarm.decisions.turns)]
    prior = _bin_shares(np.concatenate([marginal, -marginal]), edges)
    previous = np.nan_to_num(decisions.previous[:-1])[complete]
    scores = _noise_scores(swarm, decisions)[complete]
    chances = policy.chances(len(swarm.actions))[0]
    bins = np.searchsorted(edges, turns)
    low, high = np.append(-np.inf, edges)[bins], np.append(edges, np.inf)[bins]
    chance = np.zeros(len(turns))
    for k, action in enumerate(swarm.actions):
        below, above = (_below(swarm, end - action, scores, previous) for end in (low, high))
        chance += chances[classes, k] * (above - below)
    chance = (1 - len(prior) * LEAST_CHANCE) * chance + LEAST_CHANCE
    return float(np.mean(np.log(chance) - np.log(prior[bins])))


def _below(swarm: "Swarm", noise: Floats, scores: Floats, previous: Floats) -> Floats:
    """The chance that the noise is below these values, after these scores and turns."""
    from scipy.special import ndtr

    memory = swarm.wobble.memory
    limit = swarm.wobble.scores(np.clip(noise, -_TWO_PI, _TWO_PI), previous)
    chance: Floats = ndtr((limit - memory * scores) / math.sqrt(1 - memory**2))
    return np.where(np.isinf(noise), noise > 0, chance)


def _noise_scores(swarm: "Swarm", decisions: Decisions) -> Floats:
    """The normal score of the noise in the turn before each decision (time - 1, individual)."""
    classes = swarm.view.classes(decisions)[:-1]
    left = decisions.turns - np.where(classes >= 0, swarm.habits[np.maximum(classes, 0)], 0.0)
    before = np.concatenate([np.full((1, decisions.individuals), np.nan), left[:-1]])
    earlier = np.concatenate([np.zeros((1, decisions.individuals)), decisions.previous[:-2]])
    return swarm.wobble.scores(before, earlier)


def _bin_shares(turns: Floats, edges: Floats) -> Floats:
    counts = np.bincount(np.searchsorted(edges, turns), minlength=len(edges) + 1)
    share: Floats = counts / counts.sum()
    return share


def aligning_rule(swarm: "Swarm", decisions: Decisions) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Vicsek's rule, fitted: turn by a share of the misalignment, that of the recorded turns."""
    if "misalignment" not in swarm.view.components:
        raise InvalidInput("Vicsek's rule needs an observation with misalignment")
    column = swarm.view.components.index("misalignment")
    angle = swarm.view.of_decisions(decisions)[:-1, :, column]
    complete = np.isfinite(angle) & np.isfinite(decisions.turns) & decisions.known[:-1]
    turns = np.clip(decisions.turns[complete], -ROBUST, ROBUST)
    share = float(angle[complete] @ turns / (angle[complete] @ angle[complete]))

    def rule(observations: Floats) -> Floats:
        return share * observations[..., column]

    return rule
