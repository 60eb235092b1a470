"""Policy search: candidates from a family of policies, judged by what whole swarms of them do.

Algorithm 2 looks for an equilibrium: a policy from which no single agent gains by deviating, in a
swarm of agents that follow it. Policy search looks for what is best if *all* agents follow it. The
two differ where agents depend on each other: fireflies that flash together are worth much to each
other, but none gains by being the first to wait. Where Algorithm 2 ends in another equilibrium than
the expert's, whatever the reward, a search over policies may still find the expert's behaviour.

With a reward the search looks for the highest value w . mu. Without one it looks for the policy
whose swarm is nearest to a demo's (an objective made from the demo).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol

from swarmdp.learning.families import Family, family_of
from swarmdp.learning.heterogeneous import HeterogeneousLearning, together
from swarmdp.learning.linear_q import LinearQ
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, feature_count
from swarmdp.policies import LocalPolicy, Parametric
from swarmdp.policies.learner import NOTHING_MORE, Learned, Wants
from swarmdp.policies.replicas import select_replicas
from swarmdp.simulation.recorders import DiscountedFeatures
from swarmdp.simulation.rollout import simulate
from swarmdp.simulation.signatures import Signature
from swarmdp.simulation.visits import visits_of
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_discount
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell
from swarmdp.support.ranges import PositiveInteger

_SURVIVORS = 0.25  # of a generation: candidates that are rolled out again
_AGAIN = 3  # times as often
_FINALISTS = 8  # of a whole search, compared by fresh roll-outs
_FINAL_RUNS = 8  # times the first roll-outs of a candidate
_BYTES = 2**27  # of observations that are kept at once
_TAIL = 1e-3  # share of a discounted sum that roll-outs leave out


class Objective(Protocol):
    """What a search minimises: a loss of the mean over runs of some numbers."""

    def rows(
        self,
        policy: LocalPolicy,
        numbers: NDArray[np.int64],
        seed: int,
        threads: int | None,
    ) -> Floats:
        """Some numbers (runs, D) for each roll-out; run i follows replica i % R."""

    def loss(self, means: Floats) -> Floats:
        """The loss of each candidate (K,), from the means of its rows (K, D)."""

    def mu(self, means: Floats) -> Floats:
        """The feature expectations of each candidate (K, d)."""


@dataclass(frozen=True, eq=False)
class Value:
    """The value of a policy under a reward, w . mu, with a minus sign."""

    system: System
    weights: Floats  # (d,)
    discount: float
    steps: int

    def rows(
        self, policy: LocalPolicy, numbers: NDArray[np.int64], seed: int, threads: int | None
    ) -> Floats:
        """The feature expectations of each roll-out."""
        visits = visits_of(
            self.system, policy, numbers=numbers, steps=self.steps, seed=seed, threads=threads
        )
        if visits is not None:
            return visits.discounted(self.discount)
        seen = simulate(
            self.system,
            policy,
            numbers=numbers,
            steps=self.steps,
            seed=seed,
            record={"mu": DiscountedFeatures(self.discount)},
            threads=threads,
        )
        return seen["mu"]

    def loss(self, means: Floats) -> Floats:
        """Minus the value."""
        worth: Floats = -np.einsum("kd,d->k", means, self.weights)
        return worth

    def mu(self, means: Floats) -> Floats:
        """The rows themselves."""
        return means


@dataclass(frozen=True, eq=False)
class Nearness:
    """How far a swarm is from a demo, in all that its agents observe over the whole time."""

    signature: Signature
    target: Floats  # (D,): the demo's
    even: Callable[[Floats], Floats]  # what the mirror makes of feature expectations
    scale: Floats | None = None  # (D,): of features without classes

    def rows(
        self, policy: LocalPolicy, numbers: NDArray[np.int64], seed: int, threads: int | None
    ) -> Floats:
        """The signature of each roll-out, some of them at a time."""
        system, steps = self.signature.system, self.signature.steps
        shape = system.features.shape
        size = 8 * (steps + 1) * system.n_agents * max(1, math.prod(shape))
        at_once = max(1, _BYTES // size)
        parts = []
        for begin in range(0, len(numbers), at_once):
            rows = np.arange(begin, min(begin + at_once, len(numbers)))
            part = policy
            if len(rows) < len(numbers):
                part = select_replicas(policy, rows % policy.replicas)
            seen = simulate(
                system,
                part,
                numbers=numbers[rows],
                steps=steps,
                seed=seed,
                record=["observations"],
                threads=threads,
            )
            parts.append(self.signature.rows(seen["observations"]))
        return np.concatenate(parts)

    def loss(self, means: Floats) -> Floats:
        """The distance from the demo."""
        return self.signature.distance(means, self.target, self.scale)

    def mu(self, means: Floats) -> Floats:
        """The feature expectations, the same on both sides of the mirror if there is one."""
        return self.even(self.signature.mu(means))


@dataclass(frozen=True, eq=False)
class Searched:
    """The outcome of a search: the best policy, and all that was tried."""

    policy: LocalPolicy  # of one replica
    loss: float  # its loss, from fresh roll-outs
    finalists: LocalPolicy  # the best candidates, best first
    tried: Floats  # (C, d): the feature expectations of all candidates, as evidence
    losses: Floats  # (C,): theirs
    rollouts: int  # that were spent
    generations: int


@checked(skip=("start",))
@dataclass(frozen=True)
class PolicySearch:
    """A policy update that searches a family of policies for the one whose swarm is worth most.

    It optimises what all agents get together, where `HeterogeneousLearning` (Algorithm 2) seeks an
    equilibrium, from which no single agent gains by deviating.

    Parameters
    ----------
    family
        A user's controllers. By default tables where there are classes of observations, and else
        policies as the one to start from.
    start
        A policy to start from, of one replica; none by default.
    candidates
        The number of candidates of a generation.
    rollouts
        The number of roll-outs of each candidate. The best quarter of them is rolled out three
        times as often again.
    budget
        The number of roll-outs of a whole search, at most.
    restarts
        The number of times that it starts, as far as the budget allows: first from `start`, if
        there is one, then from nothing.
    patience
        A start ends after this many generations without an improvement.
    steps
        The time steps of a roll-out; by default as many as the discount sees.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> search = swarmdp.learning.PolicySearch(candidates=16, budget=400, restarts=1)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> search(ising, reward, discount=0.9, seed=1).policy.table.shape
    (1, 9)

    """

    family: Parametric | None = None
    start: LocalPolicy | None = None
    candidates: PositiveInteger = 64
    rollouts: PositiveInteger = 2
    budget: PositiveInteger = 8000
    restarts: PositiveInteger = 2
    patience: PositiveInteger = 8
    steps: PositiveInteger | None = None

    def __post_init__(self) -> None:
        if self.candidates < 8:
            raise InvalidInput(
                f"candidates must be at least 8, so that the best can be told from the others, got "
                f"{self.candidates}"
            )
        if self.start is not None and (
            not isinstance(self.start, LocalPolicy) or self.start.replicas != 1
        ):
            raise InvalidInput("start must be a policy of one replica")
        if self.budget < self._cost + _FINALISTS:
            raise InvalidInput(
                f"a budget of {self.budget} roll-outs is less than one generation of "
                f"{self.candidates} candidates and the last comparison take: "
                f"{self._cost + _FINALISTS}"
            )

    @property
    def mirrors(self) -> bool:
        """Whether policies are odd, if that is wanted: always."""
        return True

    def __call__(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        seed: int,
        wants: Wants = NOTHING_MORE,
        watch: Callable[[Any], None] | None = None,
        threads: int | None = None,
    ) -> Learned:
        """Search a policy for each replica of the reward.

        Parameters
        ----------
        system
            The swarm.
        reward
            What to search for, in R replicas.
        discount
            The discount of future rewards.
        seed
            Same seed, same policies.
        wants
            Whether policies are odd; there is no kernel and no softness.
        watch
            Not used: there are no snapshots of learning.
        threads
            All cores by default.

        """
        check_discount(discount)
        if wants.softness or wants.kernel:
            raise InvalidInput(
                "policy search finds neither Boltzmann's policies nor local kernels: use an update "
                "that needs none, such as max_margin, or HeterogeneousLearning"
            )
        steps = self.steps or max(1, math.ceil(math.log(_TAIL) / math.log(max(discount, 0.1))))
        symmetry = Symmetry.of(system) if wants.mirror else None
        start = self.start_for(system, seed, threads)
        found = []
        for r, weights in enumerate(reward.weights):
            if weights.shape != (feature_count(system),):
                raise InvalidInput(
                    f"the reward has {len(weights)} weights, but the system has "
                    f"{feature_count(system)} features"
                )
            outcome = self.minimise(
                Value(system, weights, discount, steps),
                family_of(system, symmetry, start, self.family),
                start=start,
                seed=derived_seed(seed, r),
                threads=threads,
            )
            found.append(Learned(outcome.policy, tried=outcome.tried[:, None]))
        return together(found)

    def start_for(self, system: System, seed: int, threads: int | None) -> LocalPolicy | None:
        """The policy to start from; features without classes need one with their scales."""
        if self.start is not None:
            self.start.check(system)
        if self.start is not None or self.family is not None:
            return self.start
        if isinstance(system.features, Classes):
            return None
        learner = HeterogeneousLearning(LinearQ(), steps=20)
        nothing = Reward(np.zeros(feature_count(system)))
        return learner(system, nothing, discount=0.9, seed=seed, threads=threads).policy

    def minimise(
        self,
        objective: Objective,
        family: Family,
        *,
        start: LocalPolicy | None,
        seed: int,
        threads: int | None = None,
        tell: Tell | None = None,
        enough: float = -math.inf,
    ) -> Searched:
        """Search a family of policies for the least loss.

        Parameters
        ----------
        objective
            What is minimised.
        family
            The policies to choose from.
        start
            A policy to start from, if any.
        seed
            Same seed, same result.
        threads
            All cores by default.
        tell
            Told how much of the budget is spent.
        enough
            A loss at which the search ends.

        """
        if not family.size:
            raise InvalidInput(
                "the family has no parameters, so that there is nothing to search for"
            )
        ledger = _Ledger(objective, family, seed, threads)
        reserve = _FINALISTS * _FINAL_RUNS * self.rollouts
        limit = max(self._cost, self.budget - reserve)
        for restart in range(self.restarts):
            rng = np.random.default_rng(derived_seed(seed, restart))
            sampler = family.sampler(start if restart == 0 else None, self.candidates, rng)
            best, waited = math.inf, 0
            while ledger.spent + self._cost <= limit:
                loss = ledger.generation(sampler, self.rollouts)
                waited = 0 if loss < best else waited + 1
                best = min(best, loss)
                if tell is not None:
                    tell(ledger.spent, self.budget, f"policy search: distance {ledger.least:.3g}")
                if waited >= self.patience or sampler.settled or best <= enough:
                    break
            if best <= enough:
                break
        left = (self.budget - ledger.spent) // _FINALISTS
        return ledger.outcome(min(left, _FINAL_RUNS * self.rollouts))

    @property
    def _cost(self) -> int:
        """Roll-outs of a generation."""
        again = max(2, int(_SURVIVORS * self.candidates))
        return self.rollouts * (self.candidates + _AGAIN * again)


class _Ledger:
    """All candidates of a search, and what they cost."""

    def __init__(
        self, objective: Objective, family: Family, seed: int, threads: int | None
    ) -> None:
        self._objective, self._family = objective, family
        self._seed, self._threads = seed, threads
        self._parameters: list[Floats] = []
        self._losses: list[Floats] = []
        self._mus: list[Floats] = []
        self._survived: list[NDArray[np.bool_]] = []
        self._taken = 0
        self.spent = 0
        self.generations = 0

    @property
    def least(self) -> float:
        """The smallest loss so far of a candidate that was rolled out often."""
        losses = np.concatenate(self._losses)
        return float(losses[np.concatenate(self._survived)].min())

    def generation(self, sampler: Any, rollouts: int) -> float:
        """Draw and rank one generation; the smallest loss of its survivors."""
        drawn = sampler.draw()
        unique, back = np.unique(drawn, axis=0, return_inverse=True)
        back = back.ravel()
        first = self._numbers(rollouts * (1 + _AGAIN))
        means = self._means(unique, first[:rollouts])
        losses = self._objective.loss(means)
        kept = np.argsort(losses, kind="stable")[: max(2, int(_SURVIVORS * len(unique)))]
        more = self._means(unique[kept], first[rollouts:])
        means[kept] = (means[kept] + _AGAIN * more) / (1 + _AGAIN)
        losses[kept] = self._objective.loss(means[kept])
        survived = np.isin(np.arange(len(unique)), kept)
        # Those that were rolled out again come first: a single lucky roll-out does not count.
        order = np.lexsort((losses, ~survived))
        place = np.empty(len(unique), np.int64)
        place[order] = np.arange(len(unique))
        sampler.follow(np.argsort(place[back], kind="stable"))
        self._parameters.append(unique)
        self._losses.append(losses)
        self._mus.append(self._objective.mu(means))
        self._survived.append(survived)
        self.generations += 1
        return float(losses[kept].min())

    def outcome(self, rollouts: int) -> Searched:
        """The best candidates, by fresh roll-outs."""
        parameters, losses = np.concatenate(self._parameters), np.concatenate(self._losses)
        often = np.flatnonzero(np.concatenate(self._survived))
        order = often[np.argsort(losses[often], kind="stable")]
        _, first = np.unique(parameters[order], axis=0, return_index=True)
        finalists = parameters[order[np.sort(first)[:_FINALISTS]]]
        final = self._objective.loss(self._means(finalists, self._numbers(rollouts)))
        ranked = np.argsort(final, kind="stable")
        policies = self._family.policies(finalists[ranked])
        return Searched(
            select_replicas(policies, np.array([0])),
            float(final[ranked[0]]),
            policies,
            np.concatenate(self._mus),
            losses,
            self.spent,
            self.generations,
        )

    def _numbers(self, count: int) -> NDArray[np.int64]:
        """The numbers of fresh roll-outs."""
        begin = self._taken
        self._taken = begin + count
        return np.arange(begin, begin + count)

    def _means(self, parameters: Floats, numbers: NDArray[np.int64]) -> Floats:
        """The mean rows (K, D) of candidates, all with the random numbers of the same runs."""
        count = len(parameters)
        rows = self._objective.rows(
            self._family.policies(parameters),
            np.repeat(numbers, count),
            self._seed,
            self._threads,
        )
        self.spent += len(rows)
        means: Floats = rows.reshape(len(numbers), count, -1).mean(axis=0)
        return means
