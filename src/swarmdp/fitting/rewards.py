"""Which reward a fit returns: the one for which planning again comes nearest to the demo.

The policy of an iteration of Algorithm 1 was learned from what the ones before had learned, so that
it may be near to the demo though its reward is not what brings it there. A reward is judged by what
is planned for it from nothing, several times, over the whole time. As in `swarmdp.replan`, of
several attempts the one counts that is worth most under the reward. The candidates:

- the reward under which the demo's decisions are most probable, where these are recorded or can be
  explained (`irl/rational.py`);
- the mean of the rewards of Algorithm 1 whose policies are about as near (their centre);
- the visit histogram mu_E / |mu_E|, which needs no Algorithm 1 at all;
- the reward of the nearest policy of Algorithm 1.

The first of them that does as well as the best is returned. Decisions come first: they also tell
what was given up for what is often seen, which counts when dynamics change. Whether the histogram
does as well is told, since then the demo shows no more than how often each observation is sought.
Of a recording, whose turns are known, it is the reward of decisions without planning.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swarmdp.fitting.recorded_rewards import rewards_of_recorded_decisions
from swarmdp.fitting.replan import QUICK_SEARCH, learned_policies, searched_policy, values_of
from swarmdp.irl import search
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.cloning import policy_of_pairs
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.inference import Explanation
from swarmdp.irl.rational import RationalReward, can_explain, rational_reward
from swarmdp.irl.resampling import one_in_each_block, scaled_like
from swarmdp.irl.result import Result, RewardChoice
from swarmdp.irl.steps import InverseProblem
from swarmdp.irl.updates.boltzmann import LocalMDP
from swarmdp.irl.updates.decided import Counted, Decided, Explained
from swarmdp.judging.judge import one_run
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.planning import Planning
from swarmdp.model.features import Axis, Classes
from swarmdp.model.features.similarity import (
    covariances,
    is_graded,
    side_by_side,
    smooth_similarity,
)
from swarmdp.model.recorded import TellsDecisions
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy, SoftPolicy
from swarmdp.policies.replicas import join_replicas, select_replicas
from swarmdp.support.arrays import Floats
from swarmdp.systems.finite import exact_model

if TYPE_CHECKING:
    from swarmdp.fitting.fit import Fit

_GROUPS, _ATTEMPTS = 2, 2  # times that a reward is planned for; attempts by Algorithm 2 each time
_AS_NEAR = 1.2  # times the smallest distance: iterations whose rewards make the centre
_ERRORS = 2.0  # standard errors by which a reward must be worse to be called so
_LITTLE = 0.05  # of the smallest gap: a smaller difference is none
_MUCH = 0.25  # of the smallest gap: a larger difference is one, whatever the attempts say
_FAR = 2.5  # times the policy's gap: swarms that are farther are another behaviour
_KERNELS = 4  # estimates of the local dynamics, whose errors count as well
_LEAST_KERNELS = 2  # of large swarms, whose estimates are more exact
_EXPERIENCE = 800_000  # steps of single agents that make all estimates together
_TIMES = 2.0  # of the time 1 / (1 - discount): steps of a swarm whose experience it is
_ENOUGH = 30  # decisions in an observation of a swarm
_SIMILAR = 0.15  # of an axis: over which rewards change
_NONE = 1e-9  # of the largest variance: a direction without any
_ALTERNATIVES = 200  # other rewards that do about as well
DECISIONS, CENTRE, HISTOGRAM, NEAREST = "decisions", "centre", "histogram", "nearest"

Planned = list[LocalPolicy]
"""For each experiment the policy that was planned for its reward."""

Draws = Callable[[int], Floats]
"""Other rewards (K, d) of decisions than the one taken, of an experiment."""


def choose_rewards(fit: "Fit", result: Result) -> tuple[RewardChoice | None, Planned]:
    """The reward of each experiment, by what is planned for it again, and that policy.

    That of a recording is the one of its decisions, if it can be known, whatever is planned for it.
    """
    names, weights, draws = _candidates(fit, result)  # (C,), (C, R, d)
    demo = fit.setup.demo
    if fit.settings.reward is None and demo is not None and demo.of_recording:
        return _of_decisions_alone(fit, result, names, weights, draws), []
    policy_gap = _gaps(fit, [result.policy], len(result.expert_mu))[0]
    mean, error, planned = _plan_for_each(fit, names, weights, policy_gap, _FAR)
    if (np.nanmin(mean, axis=0) > _FAR * policy_gap).any():
        mean, error, planned = _plan_for_each(fit, names, weights, policy_gap, np.inf)
    best = np.nanmin(mean, axis=0)
    as_good = mean <= best + _slack(fit, best, error)  # not those that were not planned for
    taken = as_good.argmax(axis=0)
    chosen = weights[taken, np.arange(len(taken))]
    choice = RewardChoice(
        chosen,
        tuple(names[c] for c in taken),
        names,
        weights,
        mean,
        error,
        as_good,
        policy_gap,
        _alternatives(fit, result, names, weights, as_good, taken, draws),
        np.asarray(_meaningless(result).any(axis=0)),
    )
    return choice, [planned[int(c)][r] for r, c in enumerate(taken)]


def _plan_for_each(
    fit: "Fit", names: tuple[str, ...], weights: Floats, policy_gap: Floats, far: float
) -> tuple[Floats, Floats, dict[int, Planned]]:
    """Gaps and errors (C, R) of what is planned for each candidate, and its policies.

    NaN for candidates for which nothing had to be planned, since a preferred one does as well as
    anything can. The histogram is always planned for: whether it does as well is told.
    """
    mean, error = np.full((2, *weights.shape[:2]), np.nan)
    planned: dict[int, Planned] = {}
    histogram = names.index(HISTOGRAM)
    preferred = [c for c in range(len(names)) if c != histogram]
    for c in (preferred[0], histogram, *preferred[1:]):
        mean[c], error[c], planned[c] = _planned_gaps(fit, weights[c], c, policy_gap, far)
        nearest = np.minimum(np.nanmin(mean, axis=0), policy_gap)
        # NaN, of what is not planned for yet, is no success.
        enough = (mean <= nearest + _slack(fit, nearest, error)).all(axis=1)
        if histogram in planned and enough[: c + 1].any() and enough.argmax() != histogram:
            break
    return mean, error, planned


def _of_decisions_alone(
    fit: "Fit", result: Result, names: tuple[str, ...], weights: Floats, draws: Draws | None
) -> RewardChoice | None:
    """The reward of decisions, for which nothing was planned; None if there is none.

    Swarms planned for rewards of recordings differ more by chance than by reward.
    """
    if draws is None:
        return None
    unknown = np.full(weights.shape[:2], np.nan)
    as_good = np.zeros(weights.shape[:2], np.bool_)
    as_good[0] = True
    taken = np.zeros(weights.shape[1], np.int64)
    return RewardChoice(
        weights[0],
        (DECISIONS,) * weights.shape[1],
        names,
        weights,
        unknown,
        unknown,
        as_good,
        unknown[0],
        _alternatives(fit, result, names, weights, as_good, taken, draws),
        np.asarray(_meaningless(result).any(axis=0)),
    )


def _slack(fit: "Fit", best: Floats, error: Floats) -> Floats:
    """How much farther than the best (R,) a reward may lead and still do as well."""
    # A few attempts tell little about their spread, those of all candidates together more.
    slack = np.maximum(_ERRORS * np.sqrt(2 * np.nanmean(error**2, axis=0)), _LITTLE * best)
    if fit.setup.problem.evaluations is None:
        return np.asarray(slack)
    # Runs of the demo differ: a gap that is smaller than that tells nothing.
    slack = np.maximum(slack, _ERRORS * np.sqrt(2) * _noise(fit))
    # A reward for which attempts differ very much must not make all others look as good.
    capped: Floats = np.minimum(slack, _MUCH * best)
    return capped


def _candidates(fit: "Fit", result: Result) -> tuple[tuple[str, ...], Floats, Draws | None]:
    """The names and weights (C, R, d) to choose from, each of length one; draws of decisions."""
    problem, history = fit.setup.problem, result.history
    counted = np.arange(len(history.distance))[:, None] <= result.ended
    distance = np.where(counted, history.distance, np.inf)
    near = (distance <= _AS_NEAR * distance.min(axis=0)) & ~_meaningless(result)
    unit = _unit(history.weights)
    nearest = unit[result.chosen, np.arange(result.experiments)]
    centre = np.einsum("ir,ird->rd", near.astype(np.float64), unit)
    centre = np.where(near.any(axis=0)[:, None], centre, nearest)
    histogram = problem.even_weights(initial_reward(problem.expert.mu).weights)
    names = [CENTRE, HISTOGRAM, NEAREST]
    rewards = [_unit(centre), _unit(histogram), nearest]
    decided = _of_decisions(fit, result, histogram)
    if decided is None:
        return tuple(names), np.stack(rewards), None
    weights, draws = decided
    return (DECISIONS, *names), np.stack([_unit(weights), *rewards]), draws


def _meaningless(result: Result) -> NDArray[np.bool_]:
    """Which rewards of Algorithm 1 (I, R) come from a margin that is zero but for noise.

    Then mu_E lies inside the hull of the policies' mu, and max-margin has no direction to give.
    """
    history = result.history
    flags = np.zeros(history.margin.shape, np.bool_)
    if result.settings.get("update") not in ("max_margin", "projection"):
        return flags
    error = np.nan_to_num(result.expert_mu_error)
    unit = _unit(history.weights)
    # The margin is w . (mu_E - mu): its standard error is at least that of w . mu_E.
    noise = np.sqrt(np.einsum("ird,rd->ir", unit**2, error**2))
    flags[1:] = history.margin[:-1] <= np.maximum(_ERRORS * noise[1:], result.tolerance)
    return flags


def _of_decisions(fit: "Fit", result: Result, histogram: Floats) -> tuple[Floats, Draws] | None:
    """The rewards (R, d) under which decisions are most probable, and draws of others.

    None where decisions are not known, or not to be used.
    """
    setup, problem = fit.setup, fit.setup.problem
    features, n_actions = problem.system.features, len(problem.system.actions)
    demo = setup.demo
    if demo is None or fit.settings.actions == "ignore" or not isinstance(features, Classes):
        return None
    count = _count(fit)
    if isinstance(setup.recorded, TellsDecisions) and demo.of_recording:
        found = rewards_of_recorded_decisions(fit, result, [demo], count)
        return (found[0].weights[None], lambda _: found[0].others) if found else None
    if not can_explain(features.size, n_actions, result.expert_mu.shape[1]):
        return None
    single = result.experiments == 1
    explaining: list[RationalReward] = []
    for e in range(result.experiments):
        part = demo if single else one_run(demo, e)
        reward = _explaining_reward(fit, part, histogram[e], e, count)
        if reward is None:
            return None
        explaining.append(reward)
    even = problem.even_weights

    def draws(e: int) -> Floats:
        return even(_unit(explaining[e].others))

    return even(np.stack([_unit(one.weights) for one in explaining])), draws


def _count(fit: "Fit") -> int:
    """The number of other rewards of decisions that are drawn."""
    return max(_ALTERNATIVES, fit.settings.resamples)


def _explaining_reward(
    fit: "Fit", demo: Trajectory, histogram: Floats, experiment: int, count: int
) -> RationalReward | None:
    """The reward of one experiment's decisions, and draws of others; None if there are none."""
    problem = fit.setup.problem
    seed = derived_seed(fit.seed, Part.EXPLAINING, experiment)
    found = fit.explanation(experiment, demo)
    if found is None:
        return None
    mdp = exact_model(problem.system)
    decisions: Decided
    if mdp is not None and found.source == "explained":
        decisions, kernels = _exactly(found), mdp.dense()[None]
    else:
        pairs = found.telling_pairs
        if problem.symmetry is not None:
            pairs = pairs + pairs[problem.symmetry.classes][:, problem.symmetry.actions]
        if not pairs.any():
            return None
        kernels = _kernels(problem, pairs, demo.steps, seed)
        decisions = Counted(pairs if mdp is not None else _tempered(pairs))
    if not decisions.visits.any():
        return None
    explained = _Explained.of(problem, decisions, histogram)
    # Errors of the dynamics would look like rewards: one estimate of them is better than several.
    reward = explained.by(kernels.mean(axis=0), count, derived_seed(seed, 1))

    def draw() -> Floats:
        """Rewards as far off as decisions and single estimates of the dynamics say."""
        each = -(-count // len(kernels))
        drawn = [
            explained.by(kernel, each, derived_seed(seed, 1, k), near=reward).others
            for k, kernel in enumerate(kernels)
        ]
        return explained.on_features(np.concatenate(drawn)[:count])

    weights = explained.on_features(reward.weights)
    return replace(reward, weights=weights, draw=draw)


@dataclass(frozen=True, eq=False)
class _Explained:
    """Decisions to be explained by a reward, and what is known of it beforehand."""

    decisions: Decided
    features: Floats  # (O, k): of each class
    discount: float
    guess: Floats  # (k,): where the search starts
    root: Floats | None  # (d, k): of the prior covariance; None if weights are independent

    @classmethod
    def of(cls, problem: InverseProblem, decisions: Decided, histogram: Floats) -> "_Explained":
        features = problem.system.features
        assert isinstance(features, Classes)
        matrix = np.eye(features.size) if features.matrix is None else features.matrix
        root = _prior_root(problem, features)
        if root is None:
            return cls(decisions, matrix, problem.discount, histogram, None)
        guess = np.asarray(np.linalg.lstsq(root, histogram, rcond=None)[0], np.float64)
        return cls(decisions, matrix @ root, problem.discount, guess, root)

    def by(
        self, kernel: Floats, count: int, seed: int, near: RationalReward | None = None
    ) -> RationalReward:
        """The reward of the prior's numbers (k,) that explains decisions by these dynamics."""
        return rational_reward(
            LocalMDP(kernel, self.features, self.discount),
            self.decisions,
            self.guess,
            prior="laplace" if self.root is None else "gaussian",
            others=count,
            seed=seed,
            near=near,
        )

    def on_features(self, numbers: Floats) -> Floats:
        """The weights (..., d) of features of the prior's numbers (..., k)."""
        return numbers if self.root is None else np.asarray(numbers @ self.root.T)


def _prior_root(problem: InverseProblem, features: Classes) -> Floats | None:
    """A root (d, k) of the prior covariance of a reward's weights; None if they are independent.

    They are so where no axis is graded. Else neighbouring classes are rewarded similarly: which of
    two neighbours is the better one can hardly be seen where noise leads from one to the other, and
    small errors of the dynamics would decide it. The columns span the rewards that the mirror does
    not change, if there is one.
    """
    if not any(is_graded(axis) for block in features.blocks for axis in block):
        return None

    def similar(axis: Axis) -> Floats:
        size = len(axis.values)
        return smooth_similarity(axis, _SIMILAR * size) if is_graded(axis) else np.eye(size)

    even = problem.even_weights
    whole = side_by_side(covariances(features.blocks, similar))
    values, vectors = np.linalg.eigh(even(even(whole).T))
    some = values > _NONE * values.max()
    return np.asarray(vectors[:, some] * np.sqrt(values[some]))


def _exactly(found: Explanation) -> Explained:
    """Decisions explained by an exact law, equal ones as one row; what tells nothing is left."""
    rows, counts = np.unique(
        np.column_stack([found.index.astype(np.float64), found.likelihood]),
        axis=0,
        return_counts=True,
    )
    index, likelihood = rows[:, 0].astype(np.int64), rows[:, 1:]
    telling = np.ptp(likelihood, axis=1) > 0
    return Explained(
        index[telling], likelihood[telling], counts[telling].astype(np.float64), found.size
    )


def _tempered(pairs: Floats) -> Floats:
    """The decisions (O, A) of a swarm that count, at most some in each observation.

    What one observes there is not all that matters, so that P(o' | o, a) is only nearly the truth.
    Thousands of decisions would make its errors look like facts.
    """
    visits = pairs.sum(axis=1, keepdims=True)
    return pairs * np.minimum(1.0, _ENOUGH / np.where(visits > 0, visits, 1.0))


def _kernels(problem: InverseProblem, pairs: Floats, steps: int, seed: int) -> Floats:
    """P(o' | o, a) among agents that decide as the demo's do, some estimates (K, O, A, O) of it.

    Over the time that counts with the discount, in which swarms meet more than when they are in
    order.
    """
    mdp = exact_model(problem.system)
    if mdp is not None:
        return mdp.dense()[None]
    policy, agents = policy_of_pairs(problem.system, pairs[None]), problem.system.n_agents
    steps = min(steps, math.ceil(_TIMES / (1 - problem.discount)))
    swarms = -(-_EXPERIENCE // (_KERNELS * agents * steps))
    affordable = _EXPERIENCE // (swarms * agents * steps)
    count = min(_KERNELS, max(_LEAST_KERNELS, affordable))
    kernels = local_kernel(
        problem.system,
        SoftPolicy(np.repeat(policy.probabilities, count, axis=0)),
        steps=steps,
        seed=derived_seed(seed, 2),
        swarms=swarms,
        threads=problem.threads,
    )
    if (mirror := problem.symmetry) is not None:
        kernels = kernels + kernels[:, mirror.classes][:, :, mirror.actions][..., mirror.classes]
    normal: Floats = kernels / kernels.sum(axis=3, keepdims=True)
    return normal


def _alternatives(
    fit: "Fit",
    result: Result,
    names: tuple[str, ...],
    weights: Floats,
    as_good: NDArray[np.bool_],
    taken: NDArray[np.int64],
    draws: Draws | None,
) -> Floats:
    """Other rewards (K, R, d) that do about as well, scaled and shifted as the taken ones are.

    Of decisions, draws of the posterior. Else all candidates that do as well, each as far off as
    mu_E may be: it is the histogram, and other rewards are made of it.
    """
    rng = np.random.default_rng(derived_seed(fit.seed, Part.REPLANNING, 1))
    experiments, size = result.expert_mu.shape
    count = _ALTERNATIVES if draws is None else _count(fit)
    others = np.empty((count, experiments, size))
    length = np.linalg.norm(result.expert_mu, axis=1, keepdims=True)
    error = np.nan_to_num(result.expert_mu_error) / np.where(length > 0, length, 1.0)
    for r in range(experiments):
        if draws is not None and names[taken[r]] == DECISIONS:
            others[:, r] = draws(r)
            continue
        good = weights[as_good[:, r], r]
        noise = rng.normal(size=(count, size)) * error[r]
        others[:, r] = good[np.arange(count) % len(good)] + noise
    reference = weights[taken, np.arange(experiments)]
    return scaled_like(
        fit.setup.problem.even_weights(others),
        reference,
        result.blocks,
        one_in_each_block(fit.setup.problem.system.features),
    )


def _unit(weights: Floats) -> Floats:
    length = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(length > 0, length, 1.0)


def _planned_gaps(
    fit: "Fit", weights: Floats, candidate: int, policy_gap: Floats, far: float
) -> tuple[Floats, Floats, Planned]:
    """How far swarms planned for rewards (R, d) are from the demo, with errors, and the nearest.

    What is planned first tells enough if it comes as near as the policy of Algorithm 1, or nearer,
    or if it is `far` times as far off: what is planned next cannot make up for that.
    """
    problem, experiments = fit.setup.problem, len(weights)
    exact = exact_model(problem.system) is not None
    policies: list[Planned] = []
    gaps = np.empty((0, experiments))
    enough = policy_gap + _slack(fit, policy_gap, np.zeros((1, experiments)))
    for group in range(1 if exact else _GROUPS):
        plans = [
            _Plan.of(problem, w, derived_seed(fit.seed, Part.REPLANNING, group, candidate, r))
            for r, w in enumerate(weights)
        ]
        gap = _gaps(fit, [join_replicas([plan.policy for plan in plans])], experiments)
        unclear = [not plan.settled or gap[0, r] > enough[r] for r, plan in enumerate(plans)]
        if any(unclear) and not exact:
            plans = [
                plan.searched(problem) if more else plan
                for plan, more in zip(plans, unclear, strict=True)
            ]
            gap = _gaps(fit, [join_replicas([plan.policy for plan in plans])], experiments)
        policies.append([plan.policy for plan in plans])
        gaps = np.concatenate([gaps, gap])
        if ((gaps[0] <= enough) | (gaps[0] > far * policy_gap)).all():
            break
    error = np.zeros(experiments)
    if exact:
        error = _noise(fit)
    elif len(gaps) > 1:
        error = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    nearest = gaps.argmin(axis=0)
    return gaps.mean(axis=0), error, [policies[g][r] for r, g in enumerate(nearest)]


def _noise(fit: "Fit") -> Floats:
    """By how much gaps of known values (R,) differ by chance alone: as far as mu_E is known.

    Two gaps differ by what mu_E has in the direction from one policy's mu to the other's.
    """
    error = np.nan_to_num(fit.setup.problem.expert.error)
    noise: Floats = error.max(axis=1) / np.sqrt(2)
    return noise


def _gaps(fit: "Fit", policies: list[LocalPolicy], experiments: int) -> Floats:
    """How far the swarms of policies, each of R replicas, are from the demo (policies, R)."""
    problem = fit.setup.problem
    if problem.evaluations is None:
        mu = exact_expectations(
            problem.system,
            join_replicas(policies),
            discount=problem.discount,
            steps=problem.horizon,
        )
        mu = problem.even(mu).reshape(len(policies), experiments, -1)
        distance: Floats = np.linalg.norm(mu - problem.expert.mu, axis=-1)
        return distance
    assert problem.horizon is not None
    return search.looked_at(
        problem.system,
        policies,
        np.repeat(np.arange(len(policies))[:, None], experiments, axis=1),
        expert=problem.expert.mu,
        profile=fit.setup.profile,
        discount=problem.discount,
        estimator=problem.estimator,
        steps=problem.horizon,
        runs=problem.evaluations,
        seed=derived_seed(fit.seed, Part.REPLANNING),
        even=problem.even,
        threads=problem.threads,
    ).gaps


@dataclass(frozen=True, eq=False)
class _Plan:
    """A policy that was planned for a reward as `swarmdp.replan` plans it for a result."""

    reward: Reward
    policy: LocalPolicy
    seed: int
    settled: bool  # whether independent attempts are worth the same, so that there is no better one

    @classmethod
    def of(cls, problem: InverseProblem, weights: Floats, seed: int) -> "_Plan":
        """The best of some attempts by Algorithm 2, or the optimum where it is known."""
        reward, system = Reward(weights), problem.system
        if exact_model(system) is not None:
            return cls(
                reward, Planning()(system, reward, discount=problem.discount).policy, seed, True
            )
        learned, worth = learned_policies(
            system,
            reward,
            discount=problem.discount,
            attempts=_ATTEMPTS,
            mirror=problem.symmetry is not None,
            seed=seed,
            threads=problem.threads,
        )
        best = int(worth.mean(axis=0).argmax())
        behind = worth[:, [best]] - worth  # with the same random numbers
        error = behind.std(axis=0, ddof=1) / np.sqrt(len(worth))
        little = np.maximum(_ERRORS * error, _LITTLE * abs(worth[:, best].mean()))
        settled = bool((behind.mean(axis=0) <= little).all())
        return cls(reward, select_replicas(learned, np.array([best])), seed, settled)

    def searched(self, problem: InverseProblem) -> "_Plan":
        """The plan, or what a policy search from it finds, if that is worth more."""
        found = searched_policy(
            problem.system,
            self.reward,
            self.policy,
            discount=problem.discount,
            search=QUICK_SEARCH,
            mirror=problem.symmetry is not None,
            seed=self.seed,
            threads=problem.threads,
        )
        if found is None:
            return self
        both = join_replicas([self.policy, found])
        own = derived_seed(self.seed, 1)
        worth = values_of(problem.system, both, self.reward, problem.discount, own, problem.threads)
        best = int(worth.mean(axis=0).argmax())
        return replace(self, policy=select_replicas(both, np.array([best])), settled=True)
