"""Is a policy an equilibrium? What one agent alone would gain by another policy than the others'.

The paper calls an optimal policy a Nash equilibrium: it is a best response to the field that it
generates. This is measured here. Some agents explore among others that follow the policy, which
shows what actions lead to; planning with that gives a response; and fresh runs, in which one agent
(or one in a hundred) follows the response and all others the policy, show what it gains.

The response is a table over the classes of observations and is planned as if observations were
states, so that the gain is what was found, not a bound from above.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.learning.heterogeneous import described_size
from swarmdp.learning.local_model import dense_bytes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import Purpose, Streams, derived_seed
from swarmdp.model.system import System, class_map, classes
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import EquilibriumGap
from swarmdp.policies.replicas import select_replicas
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_discount, check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory

_EXPLORING = 0.05  # share of agents that try actions while the others follow the policy
_EXPERIENCES = 20_000  # of exploring agents
_LEAST = 5  # experiences of an action without which it is not thought of
_SWEEPS = 400  # of value iteration
AGENTS_EACH = 100  # agents of a swarm for each that deviates
_TAIL = 1e-2  # share of a discounted sum that runs leave out


@checked(skip=("policy",))
def equilibrium_gap(
    system: System,
    policy: LocalPolicy,
    reward: Reward,
    *,
    discount: float,
    seed: int,
    runs: int = 60,
) -> EquilibriumGap:
    """What one agent gains by its best response to each replica of a policy.

    Parameters
    ----------
    system
        A swarm with classes of observations.
    policy
        What all agents follow, of R replicas.
    reward
        What they get, of R replicas.
    discount
        The discount of future rewards.
    seed
        Same seed, same result.
    runs
        The number of pairs of runs, with and without deviating agents, of each replica.

    Returns
    -------
    EquilibriumGap
        The gain of each replica, with its standard error.

    Raises
    ------
    InvalidInput
        If the system has no classes of observations, or policy and reward do not fit it.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> reward, keep = swarmdp.Reward(range(9, 0, -1)), swarmdp.Policy([0] * 9)
    >>> gap = swarmdp.learning.equilibrium_gap(ising, keep, reward, discount=0.9, seed=1)
    >>> bool(gap.gain[0] > 0)    # flipping where most neighbours differ is better
    True

    """
    check_discount(discount)
    check_integer("runs", runs, least=2)
    if policy.replicas != reward.replicas:
        raise InvalidInput(
            f"policy and reward must have as many replicas, got {policy.replicas} and "
            f"{reward.replicas}"
        )
    policy.check(system)
    check_memory(
        2 * dense_bytes(class_map(system).size, len(system.actions)),
        f"a best response with {described_size(system)}",
        "Use fewer classes",
    )
    steps = max(1, int(np.ceil(np.log(_TAIL) / np.log(max(discount, 0.1)))))
    worth = reward.of_classes(system)
    gains, errors = [], []
    for r, rewards in enumerate(worth):
        one = select_replicas(policy, np.array([r])) if policy.replicas > 1 else policy
        own = derived_seed(seed, r)
        kernel, tried = _local_dynamics(system, one, steps, derived_seed(own, 0))
        response = _response(kernel, tried, rewards, discount)
        swarm = _Deviating(system, one, rewards, discount, steps, runs, derived_seed(own, 1))
        gain = swarm.values(response) - swarm.values(None)
        gains.append(gain.mean())
        errors.append(gain.std(ddof=1) / np.sqrt(len(gain)))
    span = np.ptp(worth, axis=1) / (1 - discount)
    found = np.array(gains)
    return EquilibriumGap(found, np.array(errors), found / np.where(span > 0, span, 1.0))


def _local_dynamics(
    system: System, policy: LocalPolicy, steps: int, seed: int
) -> tuple[Floats, NDArray[np.int64]]:
    """P(o' | o, a) of agents that explore among others (O, A, O), and how often each was tried."""
    size, actions = class_map(system).size, np.asarray(system.actions)
    exploring = max(1, round(_EXPLORING * system.n_agents))
    swarms = max(1, -(-_EXPERIENCES // (exploring * steps)))
    streams = Streams.of(seed, np.arange(swarms), system.n_agents)
    policy, rows = policy.for_runs(streams.runs, streams)
    counts = np.zeros(size * len(actions) * size)
    rows_of = np.arange(swarms)[:, None]
    state = system.initial(streams.at(0, Purpose.INITIAL))
    raw = system.observe(state)
    seen = classes(system, raw).astype(np.int64)
    for step in range(steps):
        rng = streams.at(step, Purpose.EXPLORATION)
        explores = rng.uniform().argsort(axis=1)[:, :exploring]
        random = rng.integers(len(actions))
        physical = policy.act(system, raw, rows, streams.at(step, Purpose.POLICY)).copy()
        tried = np.take_along_axis(random, explores, axis=1)
        physical[rows_of, explores] = actions[tried].astype(physical.dtype)
        state = system.transition(state, physical, streams.at(step, Purpose.TRANSITION))
        raw = system.observe(state)
        after = classes(system, raw).astype(np.int64)
        before, then = (np.take_along_axis(index, explores, axis=1) for index in (seen, after))
        cells = (before * len(actions) + tried) * size + then
        counts += np.bincount(cells.ravel(), minlength=counts.size)
        seen = after
    table = counts.reshape(size, len(actions), size)
    total = table.sum(axis=2).astype(np.int64)
    return table / np.maximum(total, 1)[:, :, None], total


def _response(
    kernel: Floats, tried: NDArray[np.int64], rewards: Floats, discount: float
) -> NDArray[np.int64]:
    """The best response (O,) as planned with the local dynamics; -1 where the policy's own stays.

    Actions that were hardly tried are not thought of.
    """
    known = tried >= _LEAST
    values = np.zeros(len(rewards))
    for _ in range(_SWEEPS):
        q = np.where(known, rewards[:, None] + discount * kernel @ values, -np.inf)
        # Where nothing is known, nothing is expected but the reward itself.
        best = np.where(known.any(axis=1), q.max(axis=1), rewards / (1 - discount))
        if np.abs(best - values).max() <= 1e-10 * max(1.0, np.abs(best).max()):
            break
        values = best
    chosen: NDArray[np.int64] = np.where(known.any(axis=1), q.argmax(axis=1), -1)
    return chosen


@dataclass(frozen=True, eq=False)
class _Deviating:
    """Swarms in which a few agents may follow another policy than the others."""

    system: System
    policy: LocalPolicy
    rewards: Floats  # (O,)
    discount: float
    steps: int
    runs: int
    seed: int

    def values(self, response: NDArray[np.int64] | None) -> Floats:
        """What the deviating agents of each run get (runs,), with the same random numbers."""
        system, actions = self.system, np.asarray(self.system.actions)
        streams = Streams.of(self.seed, np.arange(self.runs), system.n_agents)
        count = max(1, system.n_agents // AGENTS_EACH)
        policy, rows = self.policy.for_runs(streams.runs, streams)
        who = streams.at(0, Purpose.EXPLORATION).uniform().argsort(axis=1)[:, :count]
        state = system.initial(streams.at(0, Purpose.INITIAL))
        total = np.zeros(self.runs)
        for step in range(self.steps + 1):
            raw = system.observe(state)
            seen = np.take_along_axis(classes(system, raw).astype(np.int64), who, axis=1)
            total += self.discount**step * self.rewards[seen].mean(axis=1)
            if step == self.steps:
                break
            physical = policy.act(system, raw, rows, streams.at(step, Purpose.POLICY))
            if response is not None:
                run, place = np.nonzero(response[seen] >= 0)
                other = actions[response[seen][run, place]].astype(physical.dtype)
                physical = physical.copy()
                physical[run, who[run, place]] = other
            state = system.transition(state, physical, streams.at(step, Purpose.TRANSITION))
        return total
