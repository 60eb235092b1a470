"""The reward of a recording's decisions: what individuals turn towards.

Their turns are known, up to noise, so that the reward under which the turns are most probable can
be looked for directly (`irl/rational.py`). What a turn is worth is asked of swarms that do as the
recorded individuals do: some agents try other turns, and what they see afterwards is counted. There
are many classes of observations, so that the individuals' own habits are taken as what follows a
turn; for individuals that do the best they can it is the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.irl.rational import RationalReward, rational_reward
from swarmdp.irl.result import Result
from swarmdp.irl.steps import InverseProblem
from swarmdp.irl.updates.boltzmann import Followed, LocalMDP
from swarmdp.irl.updates.decided import Explained
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.local_model import dense_bytes
from swarmdp.model.features import Classes
from swarmdp.model.recorded import TellsDecisions
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import SoftPolicy
from swarmdp.policies.soft import Anchoring
from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from swarmdp.fitting.fit import Fit

_TRIED = 1500  # times that each action is tried in each observation, on average
_MOST_TRIED = 12_000_000  # decisions that are simulated
_STEPS = 100  # of each simulated swarm, which starts as the recorded one was at some time
_EXPLORING = 0.1  # share of agents that try other turns: few, so that the others do as recorded
# Of the prior's weights. Errors of the local dynamics would make larger ones seem more probable.
_SCALE = 2.0
# Share of the information in decisions that counts for errors. Those of neighbours depend on each
# other, and P(o' | o, a) is only nearly the truth: without it errors are far too small.
_TRUST = 0.01
# Times that errors are larger than the prior and this information say. Individuals do only nearly
# what is best for a reward, by noise that is only nearly normal. Chosen so that intervals hold the
# true differences of known rules (docs/known-rewards.md).
_WIDER = 2.0
_MOST_BYTES = 2**28  # of P(o' | o, a)


def rewards_of_recorded_decisions(
    fit: "Fit", result: Result, demos: Sequence[Trajectory], count: int
) -> list[RationalReward]:
    """The reward (d,) under which the turns in each demo are most probable; draws (K, d) of others.

    None at all where there are too many classes of observations for it.
    """
    problem, recorded = fit.setup.problem, fit.setup.recorded
    features, actions = problem.system.features, len(problem.system.actions)
    assert isinstance(recorded, TellsDecisions)
    assert isinstance(recorded, Anchoring)
    assert isinstance(features, Classes)
    if dense_bytes(features.size, actions) > _MOST_BYTES or features.matrix is None:
        return []
    seed = derived_seed(fit.seed, Part.EXPLAINING)
    habits = recorded.anchored(replace(result, anchored=None).policy, 0.0)
    root = recorded.reward_prior()
    if problem.symmetry is not None:
        root = problem.symmetry.even_weights(root.T).T
    # The local dynamics are the same for all demos, and take most of the time.
    if "kernel" not in fit.memory:
        fit.memory["kernel"] = _kernel(problem, habits, seed)
    mdp = LocalMDP(fit.memory["kernel"], features.matrix @ root, problem.discount)
    worth = Followed.of(mdp, habits.probabilities[0])
    rewards = []
    for k, demo in enumerate(demos):
        index, likelihood = recorded.decided(demo)
        found = rational_reward(
            worth,
            Explained(index, likelihood, np.ones(len(index)), features.size, _TRUST),
            np.zeros(len(root)),
            prior="gaussian",
            scales=(_SCALE,),
            others=count,
            seed=derived_seed(seed, 1, k),
        )
        draw = partial(_on_features, found, root)
        rewards.append(replace(found, weights=root @ found.weights, draw=draw))
    return rewards


def _on_features(found: RationalReward, root: Floats) -> Floats:
    """Other rewards than the one found, as weights of features, farther off than drawn."""
    others: Floats = (found.weights + _WIDER * (found.others - found.weights)) @ root.T
    return others


def _kernel(problem: InverseProblem, habits: SoftPolicy, seed: int) -> Floats:
    """P(o' | o, a) among agents with these habits, the same to both sides if there is a mirror."""
    _, observations, actions = habits.probabilities.shape
    tried = min(_TRIED * observations * actions, _MOST_TRIED)
    kernel: Floats = local_kernel(
        problem.system,
        habits,
        steps=_STEPS,
        seed=derived_seed(seed, 2),
        exploring=_EXPLORING,
        swarms=-(-tried // (_STEPS * problem.system.n_agents)),
        threads=problem.threads,
    )[0]
    if (mirror := problem.symmetry) is not None:
        kernel += kernel[mirror.classes][:, mirror.actions][:, :, mirror.classes]
    kernel /= kernel.sum(axis=2, keepdims=True)
    return kernel
