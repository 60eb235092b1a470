"""Exact policy updates for finite MDPs, in place of learning: policy iteration, hard and soft."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.learning.tables import greedy
from swarmdp.model.rewards import Reward
from swarmdp.model.system import System
from swarmdp.model.traits import null_action
from swarmdp.policies import Policy, SoftPolicy
from swarmdp.policies.learner import NOTHING_MORE, Learned, Wants
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_integer, check_number
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.support.memory import check_memory
from swarmdp.systems.finite import FiniteMDP, check_end, exact_model

SWEEPS = 30  # of value iteration, for a policy to start from
CONVERGED = 1e-11  # what counts as an improvement, relative to the largest value
LARGEST_KERNEL = 2**31  # bytes


@checked
@dataclass(frozen=True)
class Planning:
    """The optimal policy of a finite MDP, by policy iteration; ties go to the null action.

    With a softness it is Boltzmann's policy, optimal for the reward plus softness times the entropy
    of the actions. It is found by soft policy iteration, which is Newton's method for the soft
    Bellman equation.

    Parameters
    ----------
    rounds
        The number of rounds of policy iteration, at most. It rarely takes more than ten.

    Examples
    --------
    >>> import swarmdp
    >>> grid = swarmdp.Gridworld(rows=3, columns=3)
    >>> learned = swarmdp.learning.Planning()(grid, swarmdp.Reward(range(9)), discount=0.9, seed=1)
    >>> learned.policy.table.shape
    (1, 9)

    """

    rounds: int = 1000

    @property
    def exact(self) -> bool:
        """Whether policies are optimal to rounding: always."""
        return True

    def __call__(
        self,
        system: System,
        reward: Reward,
        *,
        discount: float,
        seed: int = 0,
        wants: Wants = NOTHING_MORE,
        watch: Callable[[Any], None] | None = None,
        threads: int | None = None,
    ) -> Learned:
        """Plan for each replica of the reward.

        Parameters
        ----------
        system
            A finite MDP or a gridworld.
        reward
            What to plan for, in R replicas.
        discount
            The discount of future rewards.
        seed
            Not used: nothing is random.
        wants
            The softness of the policy, and whether the kernel is wanted.
        watch
            Not used: there are no snapshots of learning.
        threads
            Not used.

        """
        check_end(discount)
        mdp, null, softness = _model(system), null_action(system), wants.softness
        local = kernel_of(mdp, reward.replicas) if wants.kernel else None
        q, probabilities = [], []
        for rewards in reward.of_classes(system):
            best, policy = self._plan(mdp, rewards, discount, softness, null)
            q.append(best)
            probabilities.append(policy)
        policies = np.stack(probabilities)
        return Learned(
            SoftPolicy(policies) if softness else Policy(policies.argmax(axis=2)),
            np.stack(q),
            np.ones((len(q), mdp.n_states), np.bool_),
            local,
        )

    def _plan(
        self,
        mdp: FiniteMDP,
        rewards: NDArray[np.float64],
        discount: float,
        softness: float,
        null: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Q (S, A) and the policy (S, A) that is optimal for it."""
        values = np.zeros(mdp.n_states)
        for _ in range(SWEEPS):
            values = best_value(look_ahead(mdp, rewards, discount, values), softness)
        policy = chosen(look_ahead(mdp, rewards, discount, values), softness, null)
        for _ in range(self.rounds):
            bonus = softness * entropy(policy) if softness else 0.0
            before, values = values, mdp.values(policy, rewards + bonus, discount, values)
            q = look_ahead(mdp, rewards, discount, values)
            least = CONVERGED * np.abs(q).max()
            if softness:
                policy = chosen(q, softness, null)
                done = bool(np.abs(values - before).max() <= least)
            else:
                # An action as good as another stays, so that rounding cannot go round in circles.
                better = q.max(axis=1) > (q * policy).sum(axis=1) + least
                policy = np.where(better[:, None], np.eye(q.shape[1])[q.argmax(axis=1)], policy)
                done = not better.any()
            if done:
                return q, chosen(q, softness, null)
        raise SolverError(
            f"policy iteration did not end within {self.rounds} rounds: raise rounds, or use a "
            "smaller discount"
        )


@checked
def plan(
    system: System, reward: Reward, *, discount: float = 0.9, softness: float = 0.0
) -> Learned:
    """The optimal policy of a finite MDP for each replica of a reward, with its Q-function.

    Parameters
    ----------
    system
        A finite MDP or a gridworld.
    reward
        What to plan for, in R replicas.
    discount
        The discount of future rewards.
    softness
        Above zero for Boltzmann's policy, with probabilities proportional to exp(Q / softness).

    Returns
    -------
    Learned
        The policy of R replicas, and its Q-function (R, S, A).

    Raises
    ------
    InvalidInput
        If the system is no finite MDP, or the reward does not fit it.

    Examples
    --------
    >>> import swarmdp
    >>> grid = swarmdp.Gridworld(rows=2, columns=2, wind=0.0)
    >>> swarmdp.learning.plan(grid, swarmdp.Reward([0.0, 0.0, 0.0, 1.0])).policy.table
    array([[0, 1, 0, 0]])

    """
    return Planning()(system, reward, discount=discount, wants=Wants(softness=softness))


@dataclass(frozen=True, eq=False)
class HorizonPlan:
    """What is optimal when everything ends after the last step: a policy for each step."""

    values: NDArray[np.float64]  # (steps + 1, S): of being in a state at a time
    q: NDArray[np.float64]  # (steps, S, A)
    probabilities: NDArray[np.float64]  # (steps, S, A)


@checked
def plan_to_horizon(
    system: System, reward: Reward, *, steps: int, discount: float = 1.0, softness: float = 0.0
) -> HorizonPlan:
    """Dynamic programming back from the last step, for the first replica of a reward.

    Parameters
    ----------
    system
        A finite MDP or a gridworld.
    reward
        What to plan for; only its first replica is used.
    steps
        The number of steps. The rewards of times 0 to `steps` count.
    discount
        The discount of future rewards, from 0 to 1.
    softness
        Above zero for Boltzmann's policies, with probabilities proportional to exp(Q / softness).

    Returns
    -------
    HorizonPlan
        The best action and its value for each number of steps to go.

    Raises
    ------
    InvalidInput
        If the system is no finite MDP, or the reward does not fit it.

    Examples
    --------
    >>> import swarmdp
    >>> grid = swarmdp.Gridworld(rows=2, columns=2, wind=0.0)
    >>> reward = swarmdp.Reward([0.0, 0.0, 0.0, 1.0])
    >>> found = swarmdp.learning.plan_to_horizon(grid, reward, steps=3)
    >>> type(found).__name__
    'HorizonPlan'

    """
    if not 0 <= discount <= 1:
        raise InvalidInput(f"the discount must be in [0, 1], got {discount}")
    check_integer("steps", steps, least=1)
    check_number("softness", softness, positive=False)
    mdp, null = _model(system), null_action(system)
    check_memory(
        8 * steps * mdp.n_states * (1 + 2 * mdp.n_actions),
        f"a plan of {steps} steps",
        "Take fewer steps, or swarmdp.learning.plan, which has no end",
    )
    rewards = reward.of_classes(system)[0]
    values, q = [rewards], []
    for _ in range(steps):
        q.append(look_ahead(mdp, rewards, discount, values[-1]))
        values.append(best_value(q[-1], softness))
    policies = [chosen(table, softness, null) for table in q]
    return HorizonPlan(np.stack(values[::-1]), np.stack(q[::-1]), np.stack(policies[::-1]))


def look_ahead(
    mdp: FiniteMDP,
    rewards: NDArray[np.float64],
    discount: float,
    values: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Q(s, a) = R(s) + discount * E V(s')."""
    return rewards[:, None] + discount * mdp.expected(values)


def best_value(q: NDArray[np.float64], softness: float) -> NDArray[np.float64]:
    """The maximum over actions, or the soft one, softness * log sum exp(Q / softness)."""
    best: NDArray[np.float64] = q.max(axis=1)
    if not softness:
        return best
    total = np.exp((q - best[:, None]) / softness).sum(axis=1)
    soft: NDArray[np.float64] = best + softness * np.log(total)
    return soft


def chosen(q: NDArray[np.float64], softness: float, null: int) -> NDArray[np.float64]:
    """The policy (S, A) that is optimal for Q: greedy, or Boltzmann's."""
    if softness:
        return kernels.tables.boltzmann_probabilities(q, softness)
    certain: NDArray[np.float64] = np.eye(q.shape[1])[greedy(q[None], null)[0]]
    return certain


def entropy(policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropy of the actions in each state (S,), in nats."""
    logarithm = np.log(np.where(policy > 0, policy, 1.0))
    entropies: NDArray[np.float64] = -(policy * logarithm).sum(axis=1)
    return entropies


def _model(system: System) -> FiniteMDP:
    mdp = exact_model(system)
    if mdp is None:
        raise InvalidInput(
            f"planning needs a FiniteMDP or a Gridworld, got {type(system).__name__}: use "
            "HeterogeneousLearning"
        )
    return mdp


def kernel_of(mdp: FiniteMDP, replicas: int) -> NDArray[np.float64]:
    """The exact kernel P(s' | s, a) of every replica, (R, S, A, S)."""
    size = 8 * mdp.n_states**2 * mdp.n_actions
    if size > LARGEST_KERNEL:
        raise InvalidInput(
            f"the kernel of {mdp.n_states} states as a full array needs {size / 2**30:.1f} GiB: "
            "use a reward update that needs none, such as max_margin"
        )
    dense = mdp.dense()
    return np.broadcast_to(dense, (replicas, *dense.shape))
