"""The local kernel P(o' | o, a): what a swarm that follows a policy makes of one agent's actions.

It depends on what the other agents do. A share of the agents explores, so that every action is
tried in every observation that the swarm makes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.learning.heterogeneous import start_swarms, swarm_bytes
from swarmdp.learning.local_model import dense_bytes
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import System, classes
from swarmdp.policies import SoftPolicy
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory
from swarmdp.support.threads import over_chunks, thread_count, worth_a_thread

_ENOUGH_AGENTS = 4000  # whose experience makes the estimate by default
_CHUNK_BYTES = 2**20


def local_kernel(
    system: System,
    policy: SoftPolicy,
    *,
    steps: int,
    seed: int,
    exploring: float = 0.2,
    swarms: int | None = None,
    prior: float = 1.0,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """The kernel P(o' | o, a) at [r, o, a, o'] in swarms that follow replica r of a policy.

    Parameters
    ----------
    system
        The swarm.
    policy
        What agents do that do not explore, in R replicas.
    steps
        The number of time steps, from the initial distribution, over which transitions are counted.
    seed
        Same seed, same result.
    exploring
        The share of agents that take a random action in each step, above 0 and up to 1.
    swarms
        The number of swarms for each replica; by default as many as have 4000 agents together.
    prior
        The number of pseudo-counts, spread evenly over all o', that each (o, a) starts with.
    threads
        All cores by default.

    """
    if not 0 < exploring <= 1 or not prior > 0:
        raise InvalidInput(
            f"exploring must be in (0, 1] and prior positive, got {exploring}, {prior}"
        )
    policy.check(system)
    replicas, observations, actions = policy.probabilities.shape
    swarms = swarms or -(-_ENOUGH_AGENTS // system.n_agents)
    check_memory(
        replicas * dense_bytes(observations, actions),
        f"the local kernel P(o' | o, a) (replicas: {replicas}, classes of observations: "
        f"{observations}, actions: {actions})",
        "Use fewer classes, or a reward update that needs no kernel, such as max_margin",
    )
    mixed = np.cumsum((1 - exploring) * policy.probabilities + exploring / actions, axis=2)
    counts = np.zeros((replicas, observations, actions, observations))
    totals = np.zeros((replicas, observations, actions))

    def count(begin: int, end: int, check: Callable[[], None]) -> None:
        numbers = (np.arange(begin, end) * swarms + np.arange(swarms)[:, None]).ravel()
        state, streams = start_swarms(system, Streams.of(seed, numbers, system.n_agents))
        rows = np.arange(len(numbers)) % (end - begin)
        before = classes(system, system.observe(state))
        for step in range(steps):
            check()
            chance = streams.at(step, Purpose.POLICY).uniform()
            chosen = kernels.tables.draw(before, mixed[begin:end], chance, rows)
            physical = np.take(system.actions, chosen, axis=0)
            state = system.transition(state, physical, streams.at(step, Purpose.TRANSITION))
            after = classes(system, system.observe(state))
            kernels.tables.add_transitions(
                before, chosen, after, 1.0, counts[begin:end], totals[begin:end]
            )
            before = after

    chunk = max(1, _CHUNK_BYTES // (swarms * swarm_bytes(system, seed)))
    least = worth_a_thread(swarms * system.n_agents)
    over_chunks(replicas, chunk, thread_count(threads), count, least)
    counts += prior / observations
    counts /= totals[..., None] + prior
    return counts
