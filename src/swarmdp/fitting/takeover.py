"""Other learners, where the policy of Algorithm 2 does not do what the demo did.

The result of Algorithm 1 is checked against the demo over the whole time, in all that verdicts look
at. Where it differs, other ways to a policy are tried one after the other, the cheaper first, each
from what is known so far:

1. what was planned again for the reward;
2. a clone, where actions are recorded, inferred, or explained by the system's law;
3. where they are not (or must not be used), a clone of the changes of observation;
4. policy search for the swarm that is nearest to the demo.

The first that passes its verdict and is among the nearest is the policy; where none does, the
nearest one.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.fitting.nearest import nearness_to
from swarmdp.irl.expectations import exact_expectations, simulated_expectations
from swarmdp.irl.inference import Explanation
from swarmdp.irl.matching import (
    changes_of,
    interpolated_of_pairs,
    pairs_of_changes,
    soft_policy_of_pairs,
    table_of,
)
from swarmdp.irl.result import Attempt, Result, Takeover
from swarmdp.irl.steps import InverseProblem
from swarmdp.judging import baselines
from swarmdp.judging.advice import after_other_learners
from swarmdp.judging.comparison import LEVEL
from swarmdp.judging.judge import Judge, one_run
from swarmdp.learning.families import family_of
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.policy_search import PolicySearch
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System
from swarmdp.model.traits import Replaying
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import LocalPolicy, SoftPolicy, TablePolicy
from swarmdp.policies.replicas import join_replicas, select_replicas
from swarmdp.support.arrays import Floats
from swarmdp.support.progress import Tell, shown

if TYPE_CHECKING:
    from swarmdp.fitting.fit import Fit

log = logging.getLogger(__name__)

_ENOUGH_AGENTS, _SLOW_AGENTS = 4000, 400  # whose changes of observation are looked at
_SLOW_SEARCH = PolicySearch(candidates=32, rollouts=1, budget=1000, restarts=1)  # of black boxes
_MOST_STEPS = 10**8  # of single agents, in all roll-outs of a search
_LEAST_GENERATIONS = 8  # without which a search does not begin
RACE = 4  # times as many roll-outs as a policy of Algorithm 1 gets
_NOTICEABLE = 0.05  # of the baselines' difference: a difference for which clones are tried
_NEARER = 0.7  # times the gap of Algorithm 2's policy: another one that is clearly nearer
_AS_NEAR = 1.25  # times the smallest gap: candidates that are as near
_JUDGED = 8  # finalists of a search that are judged

ALGORITHM_2, CLONE, CHANGES, SEARCH = "Algorithm 2", "clone", "clone of changes", "policy search"
PLANNED = "planning again"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A policy that was tried, and what a verdict says of it, if that is asked for."""

    learner: str
    policy: LocalPolicy  # of one replica
    gap: float  # of its swarm from the demo: the mean energy distance of all statistics
    rollouts: int  # that it took to find and to judge it
    ask: Callable[[], Verdict]

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict, which takes longer than the gap."""
        return self.ask()

    @property
    def passed(self) -> bool | None:
        """Whether the verdict is no alarm; None if it was not asked for."""
        return not self.verdict.alarm if "verdict" in vars(self) else None


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One experiment: the demo of one policy, and how policies are judged by it."""

    problem: InverseProblem
    recorded: System  # of which the demo is
    demo: Trajectory
    use_actions: bool
    explained: Callable[[], Explanation | None]  # which actions led to what the demo shows
    search: PolicySearch
    seed: int
    alone: bool  # whether its policy may be of another kind than those of other experiments

    def candidates(self, first: Candidate, judge: Judge, tell: Tell | None) -> Iterator[Candidate]:
        """Other policies than the first, one after the other, each judged."""
        clones = []
        if isinstance(first.policy, TablePolicy):
            for learner, policy, rollouts in self._clones(first.policy):
                clones.append(_tried(judge, learner, policy, rollouts))
                yield clones[-1]
        # Where the demo's single decisions are those of a clone, there is nothing to search for: if
        # the verdict is an alarm all the same, the demo is unusual.
        if first.verdict.alarm and not any(judge.confirms(clone.policy) for clone in clones):
            best = select([first, *clones])
            for policy, rollouts in self._searched(best.policy, tell):
                yield _tried(judge, SEARCH, policy, rollouts)

    def _clones(self, known: TablePolicy) -> Iterator[tuple[str, LocalPolicy, int]]:
        """Clones of actions, or else of changes: first the likeliest action, then all of them."""
        system, symmetry = self.recorded, self.problem.symmetry
        pairs = scores = None
        learner, rollouts = CLONE, 0
        seed = derived_seed(self.seed, Part.EXPLAINING)
        if self.use_actions:
            decisions = self.explained()
            if decisions is not None:
                scores = decisions.support
                pairs = decisions.pairs.sum(axis=0)
                if symmetry is not None:
                    pairs = pairs + pairs[symmetry.classes][:, symmetry.actions]
                learner = f"{CLONE} of {decisions.source} actions"
        if pairs is None:
            changes = changes_of(system, self.demo)
            if changes is None:
                return
            agents = _SLOW_AGENTS if isinstance(system, Replaying) else _ENOUGH_AGENTS
            swarms = -(-agents // system.n_agents)

            def kernel(policy: SoftPolicy, number: int) -> Floats:
                return local_kernel(
                    self.problem.system,
                    policy,
                    steps=self.demo.steps,
                    seed=derived_seed(seed, number),
                    swarms=swarms,
                    threads=self.problem.threads,
                )

            chances = known.chances(len(system.actions))[0]
            pairs = pairs_of_changes(changes, chances, kernel, symmetry)
            learner, rollouts = CHANGES, 4 * swarms
        visited = pairs.sum(axis=1) > 0
        table = table_of(system, pairs if scores is None else scores, visited, known)
        yield learner, table, rollouts
        between = interpolated_of_pairs(system, pairs, table) if self.alone else None
        if between is not None:
            yield learner, between, 0
        yield learner, soft_policy_of_pairs(system, pairs, known), 0

    def _searched(self, best: LocalPolicy, tell: Tell | None) -> Iterator[tuple[LocalPolicy, int]]:
        """The finalists of a policy search from the best policy so far; none for large swarms."""
        search = affordable(self.search, self.recorded.n_agents * self.demo.steps)
        if search is None:
            log.info("no policy search: roll-outs of this swarm are too long")
            return
        objective = nearness_to(
            self.recorded, self.demo, self.problem.discount, self.problem.symmetry
        )
        family = family_of(self.recorded, self.problem.symmetry, best, self.search.family)
        start = None if self.search.family is not None else best
        outcome = search.minimise(
            objective,
            family,
            start=start,
            seed=derived_seed(self.seed, Part.SEARCHING),
            threads=self.problem.threads,
            tell=tell,
        )
        for k in range(min(_JUDGED, outcome.finalists.replicas)):
            yield (
                select_replicas(outcome.finalists, np.array([k])),
                outcome.rollouts if k == 0 else 0,
            )


def _first(learner: str, policy: LocalPolicy, verdict: Verdict, rollouts: int) -> Candidate:
    """The policy of Algorithm 1, which is judged first of all."""
    gap = float(np.mean([line.energy for line in verdict.lines]))
    candidate = Candidate(learner, policy, gap, rollouts, lambda: verdict)
    assert candidate.verdict is verdict  # it is known from now on
    return candidate


def _is_off(verdict: Verdict) -> bool:
    """Whether what the swarm does, not only how, differs from the demo by more than chance.

    What whole runs show may be the way that this demo took. Then it is not there where the swarm is
    let loose at the demo's own states, and no other policy would do better.
    """
    stretches = {(line.title, line.when): line for line in verdict.stretches}
    for line in verdict.lines:
        if line.main and line.adjusted_p <= LEVEL and line.effect > _NOTICEABLE:
            there = stretches.get((line.title, line.when))
            if there is None or (there.is_sure and there.gap * (line.learned - line.demo) > 0):
                return True
    return False


def affordable(search: PolicySearch, steps: int) -> PolicySearch | None:
    """The search with a budget for roll-outs of so many steps of agents; None if it is too small.

    It depends on the size of the swarm alone, not on the machine.
    """
    budget = min(search.budget, _MOST_STEPS // max(1, steps))
    least = _LEAST_GENERATIONS * search.candidates * search.rollouts
    return None if budget < min(least, search.budget) else replace(search, budget=budget)


def _tried(judge: Judge, learner: str, policy: LocalPolicy, rollouts: int) -> Candidate:
    ask = partial(judge.verdict, policy, by_features=learner == SEARCH, progress=False)
    return Candidate(learner, policy, judge.gap(policy), rollouts + judge.rollouts, ask)


def judge_and_take_over(
    fit: "Fit", result: Result, progress: bool | Tell | None, planned: Sequence[LocalPolicy] = ()
) -> Result:
    """The result with a verdict for each experiment, and with the policies that took over.

    Policies that were planned for the reward come first, then clones, then policy search.
    """
    setup, settings = fit.setup, fit.settings
    problem, demo, recorded = setup.problem, setup.demo, setup.recorded
    assert demo is not None
    seed, experiments = derived_seed(fit.seed, Part.JUDGING), result.experiments
    search = setup.search
    if isinstance(recorded, Replaying) and not isinstance(settings.policy_search, PolicySearch):
        search = search and _SLOW_SEARCH
    may_plan = bool(planned) and settings.policy_search is not False
    demos = [demo] if experiments == 1 else [one_run(demo, e) for e in range(experiments)]
    chosen, attempts = [], []
    for e, part in enumerate(demos):
        own = derived_seed(seed, e) if experiments > 1 else seed
        explained = partial(fit.explanation, e, part)
        judge = Judge(
            recorded,
            part,
            discount=problem.discount,
            seed=own,
            names=baselines.check_baselines(baselines.BASELINES, recorded),
            runs=None,
            quick=True,
            threads=fit.threads,
            explained=explained,
        )
        policy = select_replicas(result.policy, np.array([e]))
        verdict = judge.verdict(policy, by_features=True, progress=progress)
        best = _first(result.learners[e], policy, verdict, judge.rollouts)
        tried = [best]
        if verdict.alarm or _is_off(verdict):
            log.info("other learners, since the swarm can be told from the demo: %s", verdict.words)
            others: Iterator[Candidate] = iter(
                [_tried(judge, PLANNED, planned[e], 0)] if may_plan else []
            )
            with shown(progress, "trying other learners") as tell:
                if search is not None:
                    demonstration = Demonstration(
                        *(problem, recorded, part, settings.actions == "use", explained),
                        *(search, own, experiments == 1),
                    )
                    others = chain(others, demonstration.candidates(best, judge, tell))
                best, tried = best_of(best, others)
            if search is not None:
                best = replace(best, ask=partial(after_other_learners, best.verdict))
        chosen.append(best)
        attempts += [Attempt(e, one.learner, one.gap, one.passed, one.rollouts) for one in tried]
    result = replace(
        result, verdicts=tuple(best.verdict for best in chosen), attempts=tuple(attempts)
    )
    if all(best.learner == name for best, name in zip(chosen, result.learners, strict=True)):
        return result
    return taken_over(
        fit, result, [best.policy for best in chosen], [best.learner for best in chosen]
    )


def taken_over(
    fit: "Fit", result: Result, policies: Sequence[LocalPolicy], learners: Sequence[str]
) -> Result:
    """The result with these policies, one for each experiment, and who found them."""
    problem = fit.setup.problem
    policy = joined(list(policies), len(fit.setup.recorded.actions))
    mu = problem.even(_expectations(problem, policy, fit.seed))
    return replace(result, takeover=Takeover(policy, mu, tuple(learners)))


def joined(policies: list[LocalPolicy], n_actions: int) -> LocalPolicy:
    """One policy of R replicas; tables and soft policies together become soft ones."""
    if len({policy.kind for policy in policies}) == 1:
        return join_replicas(policies)
    assert all(isinstance(policy, TablePolicy) for policy in policies)
    soft = [policy.chances(n_actions) for policy in policies if isinstance(policy, TablePolicy)]
    return SoftPolicy(np.concatenate(soft))


def _expectations(problem: InverseProblem, policy: LocalPolicy, seed: int) -> Floats:
    """The feature expectations (R, d) of the policies that took over, from fresh roll-outs."""
    if problem.evaluations is None:
        return exact_expectations(
            problem.system, policy, discount=problem.discount, steps=problem.horizon
        )
    assert problem.horizon is not None
    return simulated_expectations(
        problem.system,
        policy,
        discount=problem.discount,
        estimator=problem.estimator,
        steps=problem.horizon,
        runs=RACE * problem.evaluations,
        seed=derived_seed(seed, Part.RACING),
        threads=problem.threads,
    )


def best_of(first: Candidate, others: Iterator[Candidate]) -> tuple[Candidate, list[Candidate]]:
    """The policy that is taken, and all that were tried.

    Others are tried until one of the nearest passes its verdict. If the first of all passed, it is
    only replaced by one that is clearly nearer; once another one is nearer, but not clearly, none
    is looked for any more.
    """
    tried = [first]
    if first.verdict.alarm:
        for candidate in others:
            tried.append(candidate)
            if select(tried) is candidate and not candidate.verdict.alarm:
                break
        return select(tried), tried
    for candidate in others:
        tried.append(candidate)
        if candidate.gap <= _NEARER * first.gap:
            if not candidate.verdict.alarm:
                return candidate, tried
        elif candidate.gap <= first.gap:
            break
    return first, tried


def select(tried: list[Candidate]) -> Candidate:
    """The best of these: of the nearest, one that passes its verdict, if any does."""
    reach = _AS_NEAR * min(candidate.gap for candidate in tried)
    near = [candidate for candidate in tried if candidate.gap <= reach]
    return min(near, key=lambda candidate: (candidate.verdict.alarm, candidate.gap))
