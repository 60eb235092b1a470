"""`swarmdp.replan`: a policy for another swarm or another body, from a reward that was learned."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swarmdp.fitting.takeover import affordable
from swarmdp.irl.expectations import exact_expectations, simulated_runs
from swarmdp.irl.result import Result
from swarmdp.judging import judge as judging
from swarmdp.learning.families import family_of
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.learning.linear_q import LinearQ
from swarmdp.learning.local_model import LocalModel
from swarmdp.learning.planning import Planning
from swarmdp.learning.policy_search import PolicySearch, Value
from swarmdp.model.features import Axis, Block, Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, feature_count, name_of
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Interface, LocalPolicy
from swarmdp.policies.learner import Wants
from swarmdp.policies.replicas import join_replicas, remade, select_replicas
from swarmdp.simulation.rollout import rollout
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Discount, Index, PositiveInteger, Seed
from swarmdp.systems.finite import exact_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEPS = 600  # of Algorithm 2, from nothing
_AGENTS = 2000  # whose experience tells what a policy is worth
_TAIL = 1e-2  # share of a discounted sum that roll-outs leave out
_DEMO_STEPS, _DEMO_RUNS = 100, 5  # of the system's own expert, if a verdict can be asked for
QUICK_SEARCH = PolicySearch(candidates=32, rollouts=1, budget=300, restarts=1)
"""The search with which rewards are chosen, and for which a learned reward is right."""
_LONG_SEARCH = PolicySearch(restarts=1)
_LEARN, _EVALUATE, _SEARCH, _EXPERT, _JUDGE = range(5)  # parts with random numbers of their own


@checked(nan=True, skip=("policy",))
@dataclass(frozen=True, eq=False)
class Replanned:
    """A policy that was planned again for a reward.

    Parameters
    ----------
    policy
        The best policy that was planned, of one replica.
    reward
        The reward on the features of the new system.
    value
        What the policy is worth: the discounted sum of an agent's rewards, from fresh roll-outs.
    error
        Its standard error.
    attempts
        What each attempt is worth, those of Algorithm 2 first, then that of policy search.
    learner
        Who found the policy: "Algorithm 2", "policy search" or "planning".
    verdict
        Whether the swarm does what a demo, or the system's own expert, does; None if there is
        neither.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> reward = swarmdp.Reward(range(9, 0, -1))    # few unlike neighbours are good
    >>> swarmdp.replan(reward, ising, seed=1, judge=False).learner
    'Algorithm 2'

    """

    policy: LocalPolicy
    reward: Reward
    value: float
    error: float
    attempts: "NDArray[np.float64]"
    learner: str
    verdict: Verdict | None = None

    @property
    def spread(self) -> float:
        """The standard deviation of what the attempts are worth; NaN if there is only one."""
        return float(self.attempts.std(ddof=1)) if len(self.attempts) > 1 else math.nan

    def __repr__(self) -> str:
        lines = [
            f"Replanned by {self.learner}: value {self.value:.4g} ± {self.error:.2g}",
            f"  attempts  {', '.join(f'{value:.4g}' for value in self.attempts)}",
        ]
        if self.verdict is not None:
            lines.append(f"  verdict   {self.verdict.words}")
        return "\n".join(lines)


@checked(skip=("reward",))
def replan(
    reward: Result | Reward,
    system: System,
    *,
    seed: Seed,
    demo: Trajectory | None = None,
    discount: Discount | None = None,
    attempts: PositiveInteger = 3,
    search: PolicySearch | None = None,
    experiment: Index = 0,
    judge: bool = True,
    threads: int | None = None,
    progress: bool | Tell | None = None,
) -> Replanned:
    """Plan a policy for a reward from nothing, for any system with the same observations.

    The system may differ in everything else: the number of agents, noise, radius, speed, actions,
    arena, body. It may observe more than the reward counts, such as its own turn rate: components
    of an observation are matched by their names, and the others are not rewarded.

    Parameters
    ----------
    reward
        What was learned: a result of `swarmdp.fit`, or a reward.
    system
        The swarm to plan for. If it declares a mirror, policies are odd.
    seed
        Same seed, same policy.
    demo
        What the swarm should do, for a verdict: a trajectory of this system. If there is none, the
        system's own expert is asked, if it has one.
    discount
        The discount of future rewards; that of the result, or 0.9.
    attempts
        The number of times that Algorithm 2 starts from nothing. Then policy search goes on from
        the best of them.
    search
        How far it goes on. By default, for a result, as far as when its reward was chosen: a reward
        that was learned says what agents do who plan as well as that, and a longer search may find
        what pays more and nobody did. For a reward that is given, a longer one.
    experiment
        Which experiment of a result, or which replica of a reward.
    judge
        Whether to ask for a verdict.
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none, or a function of (done,
        total, text).

    Returns
    -------
    Replanned
        The policy, what it is worth, and a verdict.

    Raises
    ------
    InvalidInput
        If the system does not observe what the reward counts.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=3, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> larger = swarmdp.Ising(shape=(8, 8), reach=1)
    >>> swarmdp.replan(result, larger, seed=2, judge=False).policy.table.shape
    (1, 9)

    """
    carried = reward_for(system, _reward_of(reward, experiment))
    if discount is None:
        discount = float(reward.settings["discount"]) if isinstance(reward, Result) else 0.9
    with shown(progress, f"planning for {name_of(system)}") as tell:
        policies, names = planned_policies(
            system,
            carried,
            discount=discount,
            attempts=attempts,
            search=search or (QUICK_SEARCH if isinstance(reward, Result) else _LONG_SEARCH),
            mirror=True,
            seed=seed,
            threads=threads,
            tell=tell,
        )
    worth = values_of(
        system, policies, carried, discount, derived_seed(seed, _EVALUATE), threads
    )  # (runs, policies)
    means = worth.mean(axis=0)
    best = int(means.argmax())
    policy = select_replicas(policies, np.array([best]))
    policy = remade(policy, policy.to_arrays(), Interface.of(system))
    error = float(worth[:, best].std(ddof=1) / math.sqrt(len(worth))) if len(worth) > 1 else 0.0
    verdict = _verdict(system, policy, demo, seed, threads, progress) if judge else None
    return Replanned(policy, carried, float(means[best]), error, means, names[best], verdict)


def reward_for(system: System, reward: Reward) -> Reward:
    """The reward on the features of another system, components matched by their names."""
    blocks = system.features.blocks
    unnamed = len(reward.blocks) == 1 and [axis.name for axis in reward.blocks[0]] == ["feature"]
    if unnamed or _same(reward.blocks, blocks):
        # Weights without names are those of the system's features, in their order.
        if reward.weights.shape[1] != feature_count(system):
            raise InvalidInput(
                f"the reward has {reward.weights.shape[1]} weights, but {name_of(system)} has "
                f"{feature_count(system)} features"
            )
        return Reward(reward.weights, blocks)
    parts: list[Floats] = []
    tables = _tables(reward)
    used: set[int] = set()
    for block in blocks:
        shape = [len(axis.values) for axis in block]
        total = np.zeros(shape)
        for number, (axes, values) in enumerate(tables):
            if number not in used and {a.name for a in axes} <= {a.name for a in block}:
                total = total + _spread_over(values, axes, block, name_of(system))
                used.add(number)
        parts.append(total.ravel())
    missing = [axes for number, (axes, _) in enumerate(tables) if number not in used]
    if missing:
        names = ", ".join(axis.name for axis in missing[0])
        there = ", ".join(axis.name for block in blocks for axis in block)
        raise InvalidInput(
            f"the reward counts {names}, which {name_of(system)} does not observe together: it "
            f"observes {there}. Give its features components with these names"
        )
    return Reward(np.concatenate(parts), blocks)


def _reward_of(reward: Result | Reward, experiment: int) -> Reward:
    """One reward, with what its weights are of."""
    given = reward.reward if isinstance(reward, Result) else reward
    if not isinstance(given, Reward):
        raise InvalidInput(
            "reward must be a result of swarmdp.fit or a swarmdp.Reward, got "
            f"{type(given).__name__}"
        )
    if experiment >= given.replicas:
        raise InvalidInput(f"experiment must be from 0 to {given.replicas - 1}, got {experiment}")
    return Reward(given.weights[experiment], given.blocks)


def _same(first: tuple[Block, ...], second: tuple[Block, ...]) -> bool:
    """Whether weights of one are weights of the other."""
    return len(first) == len(second) and all(
        len(one) == len(other) and all(map(_equal, one, other))
        for one, other in zip(first, second, strict=True)
    )


def _equal(one: Axis, other: Axis) -> bool:
    return (
        one.name == other.name
        and one.values.shape == other.values.shape
        and bool(np.allclose(one.values, other.values))
    )


def _tables(reward: Reward) -> list[tuple[Block, Floats]]:
    """The axes and the weights of each block."""
    tables, begin = [], 0
    for block in reward.blocks:
        shape = [len(axis.values) for axis in block]
        end = begin + math.prod(shape)
        tables.append((block, reward.weights[0, begin:end].reshape(shape)))
        begin = end
    return tables


def _spread_over(values: Floats, axes: Block, block: Block, system: str) -> Floats:
    """Weights on some axes as weights on more of them, the same along the others."""
    for axis in axes:
        (other,) = (candidate for candidate in block if candidate.name == axis.name)
        if not _equal(axis, other):
            raise InvalidInput(
                f"the reward has {len(axis.values)} classes of {axis.name}, but {system} has "
                f"{len(other.values)}, or others: give it the same classes"
            )
    place = [axis.name for axis in axes]
    ordered = [axis.name for axis in block if axis.name in place]
    moved = np.moveaxis(values, range(len(place)), [ordered.index(name) for name in place])
    shape = [len(axis.values) if axis.name in place else 1 for axis in block]
    return np.broadcast_to(moved.reshape(shape), [len(axis.values) for axis in block])


def planned_policies(
    system: System,
    reward: Reward,
    *,
    discount: float,
    attempts: int,
    search: PolicySearch,
    mirror: bool,
    seed: int,
    threads: int | None,
    tell: Tell | None = None,
) -> tuple[LocalPolicy, list[str]]:
    """Policies for the reward from nothing, as replicas of one, and who found each."""
    if exact_model(system) is not None:
        return Planning()(system, reward, discount=discount).policy, ["planning"]
    learned, worth = learned_policies(
        system,
        reward,
        discount=discount,
        attempts=attempts,
        mirror=mirror,
        seed=seed,
        threads=threads,
    )
    names = ["Algorithm 2"] * attempts
    start = select_replicas(learned, np.array([int(worth.mean(axis=0).argmax())]))
    found = searched_policy(
        system,
        reward,
        start,
        discount=discount,
        search=search,
        mirror=mirror,
        seed=seed,
        threads=threads,
        tell=tell,
    )
    if found is None:
        return learned, names
    return join_replicas([learned, found]), [*names, "policy search"]


def learned_policies(
    system: System,
    reward: Reward,
    *,
    discount: float,
    attempts: int,
    mirror: bool,
    seed: int,
    threads: int | None,
) -> tuple[LocalPolicy, Floats]:
    """Attempts by Algorithm 2, as replicas of one policy, and what each is worth (runs, R)."""
    symmetry = _symmetry(system) if mirror else None
    update = LocalModel() if isinstance(system.features, Classes) else LinearQ()
    learner = HeterogeneousLearning(update, steps=_STEPS, reset_after=2.5)
    learned = learner(
        system,
        Reward(np.repeat(reward.weights, attempts, axis=0)),
        discount=discount,
        seed=derived_seed(seed, _LEARN),
        wants=Wants(mirror=symmetry is not None),
        threads=threads,
    ).policy
    own = derived_seed(seed, _EVALUATE, 1)
    return learned, values_of(system, learned, reward, discount, own, threads)


def searched_policy(
    system: System,
    reward: Reward,
    start: LocalPolicy,
    *,
    discount: float,
    search: PolicySearch,
    mirror: bool,
    seed: int,
    threads: int | None,
    tell: Tell | None = None,
) -> LocalPolicy | None:
    """What a policy search from a policy of one replica finds; None if it takes too long."""
    ahead = horizon(discount)
    within = affordable(search, system.n_agents * ahead)
    if within is None:
        return None
    outcome = within.minimise(
        Value(system, reward.weights[0], discount, ahead),
        family_of(system, _symmetry(system) if mirror else None, start, None),
        start=start,
        seed=derived_seed(seed, _SEARCH),
        threads=threads,
        tell=tell,
    )
    return outcome.policy


def _symmetry(system: System) -> Symmetry | None:
    """The mirror of a system, if its features have one."""
    try:
        return Symmetry.of(system)
    except InvalidInput:
        return None


def horizon(discount: float) -> int:
    """The time steps that a discount sees."""
    return max(1, math.ceil(math.log(_TAIL) / math.log(max(discount, 0.1))))


def values_of(
    system: System,
    policies: LocalPolicy,
    reward: Reward,
    discount: float,
    seed: int,
    threads: int | None,
) -> Floats:
    """What each policy is worth in each of several roll-outs (runs, policies)."""
    if exact_model(system) is not None:
        mu = exact_expectations(system, policies, discount=discount, steps=None)[None]
    else:
        mu = simulated_runs(
            system,
            policies,
            discount=discount,
            estimator="swarm",
            steps=horizon(discount),
            runs=max(4, -(-_AGENTS // system.n_agents)),
            seed=seed,
            threads=threads,
        )
    worth: Floats = np.einsum("d,krd->kr", reward.weights[0], mu)
    return worth


def _verdict(
    system: System,
    policy: LocalPolicy,
    demo: Trajectory | None,
    seed: int,
    threads: int | None,
    progress: bool | Tell | None,
) -> Verdict | None:
    """Whether the swarm does what the demo or the expert does; None if there is neither."""
    if demo is None:
        if not isinstance(system, HasExpert):
            return None
        try:
            demo = rollout(
                system,
                system.expert,
                steps=_DEMO_STEPS,
                runs=_DEMO_RUNS,
                seed=derived_seed(seed, _EXPERT),
                threads=threads,
                progress=False,
            )
        except InvalidInput:
            return None  # a system whose expert cannot act
    return judging.judge(
        policy,
        demo,
        system=system,
        seed=derived_seed(seed, _JUDGE),
        quick=True,
        threads=threads,
        progress=progress,
    )
