"""Other learners, where the policy of Algorithm 2 does not do what the demo did.

The result of Algorithm 1 is checked against the demo over the whole time, in all that verdicts look
at. Where it differs, other ways to a policy are tried one after the other, the cheaper first, each
from what is known so far:

1. a clone, where actions are recorded, inferred, or explained by the system's law;
2. where they are not (or must not be used), a clone of the changes of observation;
3. policy search for the swarm that is nearest to the demo.

The first that passes the verdict is the policy; where none does, the nearest one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from swarmdp.irl.frames import observations_over, recorded_states, started_as
from swarmdp.irl.inference import explain
from swarmdp.irl.matching import (
    changes_of,
    interpolated_of_pairs,
    pairs_of_changes,
    soft_policy_of_pairs,
    table_of_pairs,
)
from swarmdp.irl.steps import InverseProblem
from swarmdp.judging.judge import Judge
from swarmdp.learning.families import family_of
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.policy_search import Nearness, PolicySearch
from swarmdp.model.features import Classes
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import LocalPolicy, SoftPolicy, TablePolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.simulation.signatures import Signature, index_over_time
from swarmdp.support.arrays import Floats
from swarmdp.support.progress import Tell

_NEARER = 0.7  # times the gap of Algorithm 2's policy: another one that is clearly nearer
_JUDGED = 3  # finalists of a search that are judged

ALGORITHM_2, CLONE, CHANGES, SEARCH = "Algorithm 2", "clone", "clone of changes", "policy search"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A policy that was tried, and what a verdict says of it."""

    learner: str
    policy: LocalPolicy  # of one replica
    verdict: Verdict
    rollouts: int  # that it took to find and to judge it

    @property
    def gap(self) -> float:
        """How far its swarm is from the demo: the mean energy distance of all statistics."""
        return float(np.mean([line.energy for line in self.verdict.lines]))


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One experiment: the demo of one policy, and how policies are judged by it."""

    problem: InverseProblem
    recorded: System  # of which the demo is
    demo: Trajectory
    use_actions: bool
    search: PolicySearch
    seed: int

    def candidates(self, first: Candidate, judge: Judge, tell: Tell | None) -> Iterator[Candidate]:
        """Other policies than the first, one after the other, each judged."""
        best = first
        for learner, policy, rollouts in self._others(lambda: best, tell):
            verdict = judge.verdict(policy, by_features=learner == SEARCH, progress=False)
            candidate = Candidate(learner, policy, verdict, rollouts + judge.rollouts)
            best = min(best, candidate, key=_key)
            yield candidate

    def _others(
        self, best: Callable[[], Candidate], tell: Tell | None
    ) -> Iterator[tuple[str, LocalPolicy, int]]:
        """Policies by other learners, each with the roll-outs that it took; cheap ones first."""
        first = best()
        if isinstance(first.policy, TablePolicy):
            yield from self._clones(first.policy)
        if first.verdict.alarm:
            for policy, rollouts in self._searched(best().policy, tell):
                yield SEARCH, policy, rollouts

    def _clones(self, known: TablePolicy) -> Iterator[tuple[str, LocalPolicy, int]]:
        """Clones of actions, or else of changes: first the likeliest action, then all of them."""
        system, symmetry = self.recorded, self.problem.symmetry
        pairs, learner, rollouts = None, CLONE, 0
        seed = derived_seed(self.seed, Part.EXPLAINING)
        if self.use_actions:
            decisions = explain(system, self.demo, symmetry=symmetry, seed=seed)
            if decisions is not None:
                pairs = decisions.pairs.sum(axis=0)
                if symmetry is not None:
                    pairs = pairs + pairs[symmetry.classes][:, symmetry.actions]
                learner = f"{CLONE} of {decisions.source} actions"
        if pairs is None:
            changes = changes_of(system, self.demo)
            if changes is None:
                return
            swarms = -(-4000 // system.n_agents)

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
        table = table_of_pairs(system, pairs, known)
        yield learner, table, rollouts
        if (between := interpolated_of_pairs(system, pairs, table)) is not None:
            yield learner, between, 0
        yield learner, soft_policy_of_pairs(system, pairs, known), 0

    def _searched(self, best: LocalPolicy, tell: Tell | None) -> Iterator[tuple[LocalPolicy, int]]:
        """The finalists of a policy search from the best policy so far."""
        objective = self._objective()
        family = family_of(self.recorded, self.problem.symmetry, best, self.search.family)
        start = None if self.search.family is not None else best
        outcome = self.search.minimise(
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

    def _objective(self) -> Nearness:
        """How near a swarm is to the demo, from its own starts where these are known."""
        system, demo = self.recorded, self.demo
        started = started_as(system, demo, recorded_states(system, demo))
        seen = np.stack(list(observations_over(system, demo)), axis=1)
        index = index_over_time(system, seen) if isinstance(system.features, Classes) else None
        signature = Signature.of(started, demo.steps, self.problem.discount, index)
        rows = signature.rows(seen)
        scale = None
        if index is None:
            spread = rows.std(axis=0)
            scale = np.maximum(spread, 0.05 * np.abs(rows).mean(axis=0) + 1e-6)
        return Nearness(signature, rows.mean(axis=0), self.problem.even, scale)


def best_of(first: Candidate, others: Iterator[Candidate]) -> tuple[Candidate, list[Candidate]]:
    """The policy that is taken, and all that were tried.

    The first that passes its verdict, and if the first of all passed, only one that is clearly
    nearer. Where none passes, the nearest.
    """
    tried = [first]
    for candidate in others:
        tried.append(candidate)
        if not candidate.verdict.alarm:
            break
    best = min(tried, key=_key)
    if not first.verdict.alarm and best.gap > _NEARER * first.gap:
        best = first
    return best, tried


def _key(candidate: Candidate) -> tuple[bool, bool, float]:
    """What is better comes first: no alarm, then one that reproduces the demo, then the nearest."""
    return candidate.verdict.alarm, not candidate.verdict.reproduces, candidate.gap
