"""Which reward a fit returns: the one for which planning again comes nearest to the demo.

The policy of an iteration of Algorithm 1 was learned from what the ones before had learned, so that
it may be near to the demo though its reward is not what brings it there. A reward is judged by what
is planned for it from nothing, several times, over the whole time. As in `swarmdp.replan`, of
several attempts the one counts that is worth most under the reward. The candidates:

- the reward of the nearest policy;
- the mean of the rewards whose policies are about as near (their centre);
- the visit histogram mu_E / |mu_E|, which needs no Algorithm 1 at all.

Of those that do equally well the centre is taken first: it depends least on chance. Whether the
histogram does as well is told, since then the demo shows no more than how often each observation is
sought.
"""

from typing import TYPE_CHECKING

import numpy as np

from swarmdp.fitting.replan import planned_policies, values_of
from swarmdp.irl import search
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.result import Result, RewardChoice
from swarmdp.irl.steps import InverseProblem
from swarmdp.learning.policy_search import PolicySearch
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Part, derived_seed
from swarmdp.policies import LocalPolicy
from swarmdp.policies.replicas import join_replicas, select_replicas
from swarmdp.support.arrays import Floats
from swarmdp.systems.finite import exact_model

if TYPE_CHECKING:
    from swarmdp.fitting.fit import Fit

_GROUPS, _ATTEMPTS = 2, 2  # times that a reward is planned for; attempts by Algorithm 2 each time
_SEARCH = PolicySearch(candidates=32, rollouts=1, budget=1200, restarts=1)
_AS_NEAR = 1.2  # times the smallest distance: iterations whose rewards make the centre
_ERRORS = 2.0  # standard errors by which a reward must be worse to be called so
_LITTLE = 0.05  # of the smallest gap: a smaller difference is none
CENTRE, HISTOGRAM, NEAREST = "centre", "histogram", "nearest"


def choose_rewards(fit: "Fit", result: Result) -> RewardChoice | None:
    """The reward of each experiment, by what is planned for it again.

    None where nothing can be planned from nothing: policies that are soft, or updates whose answer
    is not a reward to plan for.
    """
    problem = fit.setup.problem
    if problem.wants.softness or problem.wants.at_once or problem.interpolate:
        return None
    weights = _candidates(fit, result)  # (C, R, d)
    gaps = _gaps(fit, weights)  # (attempts, C, R)
    mean = gaps.mean(axis=0)
    error = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.zeros_like(mean)
    best = mean.argmin(axis=0)
    rows = np.arange(mean.shape[1])
    # A few attempts tell little about their spread, those of all candidates together more.
    pooled = np.sqrt(2 * (error**2).mean(axis=0))
    slack = np.maximum(_ERRORS * pooled, _LITTLE * mean[best, rows])
    as_good = mean <= mean[best, rows] + slack
    names = (CENTRE, HISTOGRAM, NEAREST)
    # The first that is as good as the best, in the order of the names.
    taken = as_good.argmax(axis=0)
    return RewardChoice(
        weights[taken, rows],
        tuple(names[k] for k in taken),
        names,
        weights,
        mean,
        error,
        as_good,
    )


def _candidates(fit: "Fit", result: Result) -> Floats:
    """The rewards to choose from (C, R, d), each of length one."""
    problem, history = fit.setup.problem, result.history
    counted = np.arange(len(history.distance))[:, None] <= result.ended
    distance = np.where(counted, history.distance, np.inf)
    near = distance <= _AS_NEAR * distance.min(axis=0)
    unit = _unit(history.weights)
    centre = np.einsum("ir,ird->rd", near.astype(np.float64), unit)
    histogram = initial_reward(problem.expert.mu).weights
    if problem.symmetry is not None:
        histogram = problem.symmetry.even_weights(histogram)
    nearest = unit[result.chosen, np.arange(result.experiments)]
    return np.stack([_unit(centre), _unit(histogram), nearest])


def _unit(weights: Floats) -> Floats:
    length = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(length > 0, length, 1.0)


def _gaps(fit: "Fit", weights: Floats) -> Floats:
    """How far swarms planned for rewards (C, R, d) are from the demo, (groups, C, R)."""
    problem, (count, experiments, _) = fit.setup.problem, weights.shape
    groups = 1 if exact_model(problem.system) is not None else _GROUPS
    policies = []
    for group, c, r in np.ndindex(groups, count, experiments):
        seed = derived_seed(fit.seed, Part.REPLANNING, group, c, r)
        policies.append(_planned(problem, Reward(weights[c, r]), seed))
    if problem.evaluations is None:
        mu = exact_expectations(
            problem.system,
            join_replicas(policies),
            discount=problem.discount,
            steps=problem.horizon,
        )
        distance: Floats = np.linalg.norm(
            problem.even(mu).reshape(groups, *weights.shape) - problem.expert.mu, axis=-1
        )
        return distance
    assert problem.horizon is not None
    rows = [
        join_replicas(policies[k : k + experiments]) for k in range(0, len(policies), experiments)
    ]
    looked = search.looked_at(
        problem.system,
        rows,
        np.repeat(np.arange(len(rows))[:, None], experiments, axis=1),
        expert=problem.expert.mu,
        profile=fit.setup.profile,
        discount=problem.discount,
        estimator=problem.estimator,
        steps=problem.horizon,
        runs=problem.evaluations,
        seed=derived_seed(fit.seed, Part.REPLANNING),
        even=problem.even,
        threads=problem.threads,
    )
    return looked.gaps.reshape(groups, count, experiments)


def _planned(problem: InverseProblem, reward: Reward, seed: int) -> LocalPolicy:
    """The best policy for a reward, as `swarmdp.replan` plans it, with a smaller search."""
    policies, names = planned_policies(
        problem.system,
        reward,
        discount=problem.discount,
        attempts=_ATTEMPTS,
        search=_SEARCH,
        mirror=problem.symmetry is not None,
        seed=seed,
        threads=problem.threads,
    )
    if len(names) == 1:
        return policies
    worth = values_of(
        problem.system, policies, reward, problem.discount, derived_seed(seed, 1), problem.threads
    )
    return select_replicas(policies, np.array([int(worth.mean(axis=0).argmax())]))
