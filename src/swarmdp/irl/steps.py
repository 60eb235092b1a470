"""The steps of Algorithm 1 for a given system and expert; `algorithm.py` is the loop over them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from swarmdp.irl import expectations, search
from swarmdp.irl.algorithm import Iteration, Value, initial_reward, one_for_each, random_reward
from swarmdp.irl.demos import ExpertData
from swarmdp.irl.updates.evidence import (
    Evidence,
    RewardUpdate,
    Starting,
    Update,
    completed,
    own_start,
)
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System
from swarmdp.policies import InterpolatedPolicy, LocalPolicy, Policy, TablePolicy
from swarmdp.policies.learner import Exact, Learned, Learner, Remembering, Wants
from swarmdp.simulation.visits import Starts
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import one_blas_thread

_WARM_UPDATES = 4  # every fourth policy update starts from nothing, the others go on

Memory = Mapping[str, Floats]
Search = Literal["alternating", "newest"]
FirstReward = Literal["expert", "random"]


@dataclass(frozen=True, eq=False)
class InverseProblem:
    """What Algorithm 1 is asked, all defaults filled in: each of its steps is a function of this.

    For R experiments at a time, which differ in their expert data and random numbers alone.
    """

    system: System  # in which policies are learned and evaluated
    expert: ExpertData
    update: RewardUpdate
    wants: Wants  # what the update asks for
    learner: Learner
    discount: float
    estimator: expectations.Estimator
    first: FirstReward | None  # the first reward; None if the update has its own
    evaluations: int | None  # roll-outs that estimate a value; None where values are exact
    horizon: int | None  # time steps of such a roll-out
    interpolate: bool  # whether actions lie between the listed ones
    symmetry: Symmetry | None  # the mirror, where one is used
    search: Search  # which reward is tried next
    sampled: bool  # whether the expert data are estimates from a demo
    expert_kernel: Callable[
        ["InverseProblem"], Floats
    ]  # P(o' | o, a) among agents that do as the expert does
    seed: int
    threads: int | None

    def evidence(self) -> Evidence:
        """The expert data, before any policy is known."""
        features, none = self.system.features, np.empty((0, *self.expert.mu.shape))
        classes = features if isinstance(features, Classes) else None
        return Evidence(
            self.expert.mu,
            none,
            none,
            self.discount,
            0 if classes is None else classes.size,
            len(self.system.actions),
            self.seed,
            None if classes is None else classes.matrix,
            exact=self.is_exact,
            sampled=self.sampled,
            pairs=self.expert.pairs,
            expert_kernel=self.expert_kernel(self) if self.wants.expert_kernel else None,
        )

    def first_reward(self, evidence: Evidence) -> Reward:
        """Step 0: the reward to begin with."""
        if self.first is None and isinstance(self.update, Starting):
            reward = Reward(own_start(self.update, evidence))
        elif self.first == "random":
            reward = random_reward(derived_seed(self.seed, Part.START), evidence.expert.shape)
        else:
            reward = initial_reward(evidence.expert)
        if self.symmetry is None:
            return reward
        return Reward(self.symmetry.even_weights(reward.weights))

    def policy_update(
        self,
        reward: Reward,
        i: int,
        memory: Memory,
        watch: Callable[[Any], None] | None = None,
    ) -> Learned:
        """Step 1: a policy that is optimal for the reward, from what is remembered if anything."""
        remembers = isinstance(self.learner, Remembering) and self.learner.remembers
        more: dict[str, Any] = {"memory": dict(memory)} if remembers and memory else {}
        learned = self.learner(
            self.system,
            reward,
            discount=self.discount,
            seed=derived_seed(self.seed, Part.LEARNING, i),
            wants=self.wants,
            watch=watch,
            threads=self.threads,
            **more,
        )
        if not self.interpolate:
            return learned
        return _with_interpolation(self.system, one_for_each(learned, reward.replicas))

    def value_estimation(self, policy: LocalPolicy, i: int, starts: Starts | None) -> Value:
        """Step 2: the feature expectations of the policy, exact or from roll-outs."""
        if self.evaluations is None:
            exact = expectations.exact_expectations(
                self.system, policy, discount=self.discount, steps=self.horizon
            )
            return Value(self.even(exact))
        assert self.horizon is not None
        runs = expectations.simulated_runs(
            self.system,
            policy,
            discount=self.discount,
            estimator=self.estimator,
            steps=self.horizon,
            runs=self.evaluations,
            seed=self._evaluation_seed(i),
            threads=self.threads,
            starts=starts,
        )
        mu = self.even(runs.mean(axis=0))
        return Value(mu, self.even(runs) if len(runs) > 1 else None)

    def reward_update(self, evidence: Evidence) -> Update:
        """Step 3: the next reward, with weights that are the same on both sides of the mirror."""
        with one_blas_thread():
            update = self.update(evidence)
        if self.symmetry is None or not isinstance(update, Update):
            return update  # the algorithm refuses what is no update
        weights = self.symmetry.even_weights(np.asarray(update.weights, np.float64))
        return replace(update, weights=weights)

    def next_reward(self, evidence: Evidence, update: Update) -> Floats:
        """Which reward is tried next: the update's, or the best so far again."""
        choose = search.alternating if self.search == "alternating" else search.newest
        return choose(evidence, update)

    @property
    def is_exact(self) -> bool:
        """Whether policies and their values are exact, so that an attempt repeats another one."""
        exact = isinstance(self.learner, Exact) and self.learner.exact
        return self.evaluations is None and exact

    def even(self, mu: Floats) -> Floats:
        """Feature expectations, the same on both sides of the mirror if there is one."""
        return mu if self.symmetry is None else self.symmetry.even(mu)

    def even_weights(self, weights: Floats) -> Floats:
        """Rewards, the same on both sides of the mirror if there is one."""
        return weights if self.symmetry is None else self.symmetry.even_weights(weights)

    def _evaluation_seed(self, i: int) -> int:
        """The same random numbers for all policies, so that their values can be compared.

        In the paper each evaluation has its own.
        """
        if self.search == "alternating":
            return derived_seed(self.seed, Part.EVALUATION)
        return derived_seed(self.seed, Part.EVALUATION, i)


class Steps:
    """The steps of one run of Algorithm 1, and what they remember from iteration to iteration.

    The problem is asked for when Algorithm 1 asks for its expert data, not before.
    """

    def __init__(
        self,
        problem: Callable[[], InverseProblem],
        done: Sequence[Iteration],
        watch: Callable[[Any], None] | None,
    ) -> None:
        self._problem, self._done, self._watch = problem, tuple(done), watch
        self._memory: dict[str, Floats] = {}
        if done and len(done) % _WARM_UPDATES:
            self._memory.update(done[-1].memory)
        self._values: dict[bytes, Value] = {}  # of tables that were evaluated already
        self._starts = Starts()
        self._answer: Update | None = None  # of updates that need no policies

    def expert_data(self) -> Evidence:
        """What is known before the first policy update."""
        problem = self._problem()
        evidence = problem.evidence()
        if problem.wants.at_once:
            answer = completed(problem.reward_update(evidence), evidence)
            self._answer = replace(answer, margin=None, mixture=None)
        for iteration in self._done:
            evidence = evidence.after(iteration.weights, iteration.mu, None, iteration.runs)
        return evidence

    def first_reward(self, evidence: Evidence) -> Reward:
        """Step 0: the first reward, or the one that the iteration before has led to."""
        problem = self._problem()
        if self._done:
            return Reward(self._done[-1].next_weights)
        if self._answer is not None and problem.first is None:
            return Reward(self._answer.weights)
        return problem.first_reward(evidence)

    def policy_update(self, reward: Reward, i: int) -> Learned:
        """Step 1, which mostly goes on with what the update before it has learned."""
        learned = self._problem().policy_update(reward, i, self._memory, self._watch)
        self._memory.clear()
        if isinstance(learned, Learned) and (i + 1) % _WARM_UPDATES:
            self._memory.update(learned.memory)
        return learned

    def value_estimation(self, policy: LocalPolicy, reward: Reward, i: int) -> Value:
        """Step 2. The same policies with the same random numbers have the same values."""
        problem = self._problem()
        if problem.search != "alternating" or not isinstance(policy, Policy):
            return problem.value_estimation(policy, i, None)
        table = policy.table.tobytes()
        if table not in self._values:
            self._values[table] = problem.value_estimation(policy, i, self._starts)
        return self._values[table]

    def reward_update(self, evidence: Evidence) -> Update:
        """Step 3."""
        return self._problem().reward_update(evidence) if self._answer is None else self._answer

    def next_reward(self, evidence: Evidence, update: Update) -> Floats:
        """Which reward is tried next."""
        return self._problem().next_reward(evidence, update)

    def are_settled(self, iterations: int) -> bool:
        """Whether every further iteration would repeat the last one.

        Exact policies of an answer that needs no policies are all the same: one attempt is enough,
        after the policy of another first reward where one was asked for.
        """
        problem = self._problem()
        if not (problem.wants.at_once and problem.is_exact):
            return False
        return iterations >= (1 if problem.first is None else 2)


def _with_interpolation(system: System, learned: Learned) -> Learned:
    """What was learned, with actions between the listed ones."""
    policy = learned.policy
    if learned.q is None or not isinstance(policy, TablePolicy):
        raise InvalidInput(
            "interpolate=True needs a learner with a table of Q-values, such as "
            "HeterogeneousLearning(): leave it out"
        )
    between = InterpolatedPolicy.of(system, learned.q, policy.table, learned.seen)
    return replace(learned, policy=between)
