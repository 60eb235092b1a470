"""The paper's definitions once more, in plain loops over joint states and joint actions."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.theory.finite_swarm import FiniteSwarm

Floats = NDArray[np.float64]


def joint_states(system: FiniteSwarm) -> list[tuple[int, ...]]:
    """All joint states, the first agent's local state changing fastest."""
    levels = range(system.n_local)
    return [tuple(reversed(s)) for s in product(levels, repeat=system.n_agents)]


def observations(system: FiniteSwarm) -> NDArray[np.int64]:
    """What each agent sees in each state, one state at a time."""
    seen = [system.observe(system.place(np.array([s])))[0] for s in joint_states(system)]
    return np.array(seen, dtype=np.int64)


def transition(system: FiniteSwarm, actions: dict[int, int], state: tuple[int, ...]) -> Floats:
    """T(s'|s, a) for one joint state and joint action, as the protocol words it."""
    number = {s: i for i, s in enumerate(joint_states(system))}
    here = system.place(np.array([state]))
    joint = np.array([[actions[n] for n in range(system.n_agents)]])
    law = system.outcomes(here, joint)[0]
    row = np.zeros(len(number))
    if system.acting == "one":
        for agent in range(system.n_agents):
            for level in range(system.n_local):
                after = (*state[:agent], level, *state[agent + 1 :])
                row[number[after]] += law[agent, level] / system.n_agents
        return row
    for after, index in number.items():
        row[index] = np.prod([law[n, level] for n, level in enumerate(after)])
    return row


def chain(
    system: FiniteSwarm, policy: Floats, agent: int | None = None, action: int | None = None
) -> Floats:
    """P(s'|s, pi), or P^(n)(s'|s, a, pi) if an agent and its action are given."""
    seen = observations(system)
    rows = []
    for i, state in enumerate(joint_states(system)):
        row = np.zeros(len(seen))
        for joint in product(range(len(system.actions)), repeat=system.n_agents):
            if agent is not None and joint[agent] != action:
                continue
            chance = np.prod(
                [policy[seen[i, n], a] for n, a in enumerate(joint) if n != agent] or [1.0]
            )
            if chance:
                row += chance * transition(system, dict(enumerate(joint)), state)
        rows.append(row)
    return np.array(rows)


def private_value(transitions: Floats, gained: Floats, discount: float) -> Floats:
    """The discounted sum of rewards, term by term until nothing is left to add."""
    value, now, weight = np.zeros(len(gained)), gained.astype(float), 1.0
    while weight > 1e-17:
        value += weight * now
        now = transitions @ now
        weight *= discount
    return value


def conditional(law: Floats, seen: NDArray[np.int64], observation: int) -> Floats:
    """P(s|o): the states in which o is seen, renormalised."""
    part = np.where(seen == observation, law, 0.0)
    return np.asarray(part / part.sum())


def stationary(transitions: Floats) -> Floats:
    """Elimination after Grassmann, Taksar and Heyman: no subtractions, every digit is right."""
    p: Any = transitions.copy()
    n = len(p)
    for k in range(n - 1, 0, -1):
        p[:k, k] /= p[k, :k].sum()
        p[:k, :k] += np.outer(p[:k, k], p[k, :k])
    law = np.zeros(n)
    law[0] = 1.0
    for k in range(1, n):
        law[k] = law[:k] @ p[:k, k]
    result: Floats = law / law.sum()
    return result
