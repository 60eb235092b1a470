"""The same fit with other demos: how much the reward depends on the one that was recorded."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.fitting.recorded_rewards import rewards_of_recorded_decisions
from swarmdp.fitting.rewards import DECISIONS
from swarmdp.fitting.setup import Setup, with_mirrored_pairs
from swarmdp.irl.algorithm import Iteration
from swarmdp.irl.demos import ExpertData
from swarmdp.irl.resampling import experts_of, one_in_each_block, other_demos, scaled_like
from swarmdp.irl.result import Result
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.trajectory import Trajectory
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell, shown

if TYPE_CHECKING:
    from swarmdp.fitting.fit import Fit


def rewards_of_resampled_demos(
    fit: "Fit", result: Result, resamples: int, progress: bool | Tell | None
) -> Floats:
    """See `Fit.resampled_rewards`."""
    setup, problem = fit.setup, fit.setup.problem
    if setup.demo is None:
        raise InvalidInput(
            "resamples need a recorded demo, which can be resampled: feature expectations cannot"
        )
    choice = result.reward_choice
    if choice is not None and set(choice.taken) == {DECISIONS}:
        # Rewards that explain the same decisions differ as those of other demos do, and more.
        return choice.alternatives[:resamples]
    seed = derived_seed(fit.seed, Part.RESAMPLING)
    expert, profile = other_demos(
        setup.recorded,
        setup.demo,
        replace(result, anchored=None).policy,
        copies=resamples,
        separate=fit.settings.separate,
        discount=problem.discount,
        estimator=problem.estimator,
        wants=problem.wants,
        even=problem.even,
        seed=seed,
        threads=fit.threads,
    )
    text = f"repeating the fit with {resamples} resampled demos"
    weights = _rewards(fit, expert, profile, seed, text, progress)
    return _scaled(setup, result, weights.reshape(resamples, *result.expert_mu.shape))


def rewards_of_demos(
    fit: "Fit", result: Result, demos: Sequence[Trajectory], progress: bool | Tell | None
) -> Floats:
    """See `Fit.rewards_of_demos`."""
    if len(result.expert_mu) != 1:
        raise InvalidInput(
            f"other demos can be compared with one experiment, got {len(result.expert_mu)}"
        )
    problem, choice = fit.setup.problem, result.reward_choice
    if choice is not None and set(choice.taken) == {DECISIONS} and demos[0].of_recording:
        assert fit.setup.demo is not None
        found = rewards_of_recorded_decisions(fit, result, [fit.setup.demo, *demos], 1)
        own, *others = (one.weights for one in found)
        # Sizes say how surely individuals decide: all are scaled as the reward of the result is.
        size = np.linalg.norm(result.reward.weights[0]) / (np.linalg.norm(own) or 1.0)
        return size * np.stack(others)
    expert, profile = experts_of(
        fit.setup.recorded,
        demos,
        discount=problem.discount,
        estimator=problem.estimator,
        wants=problem.wants,
        even=problem.even,
    )
    text = f"repeating the fit with {len(demos)} other demos"
    weights = _rewards(
        fit, expert, profile, derived_seed(fit.seed, Part.OTHER_DEMOS), text, progress
    )
    return _scaled(fit.setup, result, weights[:, None])[:, 0]


def _scaled(setup: Setup, result: Result, weights: Floats) -> Floats:
    """Rewards (K, R, d) scaled and shifted as that of the result is."""
    shifts = one_in_each_block(setup.problem.system.features)
    return scaled_like(weights, result.reward.weights, result.blocks, shifts)


def _rewards(
    fit: "Fit",
    expert: ExpertData,
    profile: Floats | None,
    seed: int,
    text: str,
    progress: bool | Tell | None,
) -> Floats:
    """The rewards (experiments, d) of the same fit with other expert data."""
    problem, iterations = fit.setup.problem, fit.settings.iterations
    if problem.symmetry is not None:
        expert = with_mirrored_pairs(expert, problem.symmetry)
    again = replace(fit, seed=seed)
    # Its demo is not read again: the expert data are those of the other demos.
    vars(again)["setup"] = replace(
        fit.setup, problem=replace(problem, expert=expert, seed=seed), profile=profile, demo=None
    )
    done: list[Iteration] = []
    with shown(progress, text) as tell:
        for iteration in again.iterate():
            if done:
                done[-1].memory.clear()
            done.append(iteration)
            if tell is not None:
                tell(len(done), iterations + 1, again.summary(done))
        if tell is not None:
            tell(iterations, iterations + 1, "choosing the policies")
        result = again.result(done)
        # Chosen by the same rule as the reward whose error they show.
        if fit.setup.compares_rewards:
            result, _ = again.with_reward(result)
        return result.reward.weights
