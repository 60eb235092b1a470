"""Policy search without a reward: the policy whose swarm is nearest to a demo."""

import numpy as np

from swarmdp.irl.demos import check_demo
from swarmdp.irl.frames import observations_over, recorded_states, started_as
from swarmdp.learning.families import family_of
from swarmdp.learning.policy_search import Nearness, PolicySearch, Searched
from swarmdp.model.features import Classes
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, name_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.simulation.signatures import Signature, index_over_time
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Discount, Seed

_LEAST_SCALE = 0.05  # of a feature's mean: a difference that counts as one, at least


@checked
def nearest_policy(
    system: System,
    demo: Trajectory,
    *,
    seed: Seed,
    search: PolicySearch | None = None,
    discount: Discount = 0.9,
    mirror: bool | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
) -> Searched:
    """Search for the policy whose swarm looks most like a demo to its agents, without a reward.

    Compared are how often each observation is made in four windows of time, and how often one
    changes into another. No actions are needed, and no Q-function is learned.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory with states or observations.
    seed
        Same seed, same result.
    search
        How to search; `PolicySearch()` if not given.
    discount
        Of the feature expectations that are told of the candidates; the search does not use it.
    mirror
        Whether policies are odd; by default if the system declares a mirror.
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none, or a function of (done,
        total, text).

    Returns
    -------
    Searched
        The best policy, the other finalists, and all that was tried.

    Raises
    ------
    InvalidInput
        If the demo is not of this system or too short, or a candidate cannot be simulated.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=20, runs=3, seed=1)
    >>> search = swarmdp.learning.PolicySearch(candidates=16, budget=400, restarts=1)
    >>> swarmdp.fitting.nearest_policy(ising, demo, seed=2, search=search).policy.table.shape
    (1, 9)

    """
    search = search or PolicySearch()
    check_demo(system, demo, 0.0)
    if search.steps is not None and search.steps > demo.steps:
        raise InvalidInput(
            f"the demo has {demo.steps} steps, but roll-outs of {search.steps} steps are to be "
            "compared with it: leave out steps, or record a longer demo"
        )
    if demo.steps < 1:
        raise InvalidInput("a demo of 0 steps shows no behaviour: record at least one step")
    symmetry = Symmetry.of(system) if mirror is not False else None
    if mirror and symmetry is None:
        raise InvalidInput(f"mirror=True, but {name_of(system)} declares no mirror: leave it out")
    start = search.start_for(system, seed, threads)
    with shown(progress, "policy search") as tell:
        return search.minimise(
            nearness_to(system, demo, discount, symmetry, search.steps),
            family_of(system, symmetry, start, search.family),
            start=start,
            seed=seed,
            threads=threads,
            tell=tell,
        )


def nearness_to(
    system: System,
    demo: Trajectory,
    discount: float,
    symmetry: Symmetry | None,
    steps: int | None = None,
) -> Nearness:
    """How near a swarm is to a demo, from the demo's own starts where these are known."""
    steps = steps or demo.steps
    started = started_as(system, demo, recorded_states(system, demo))
    seen = np.stack(list(observations_over(system, demo)), axis=1)[:, : steps + 1]
    index = index_over_time(system, seen) if isinstance(system.features, Classes) else None
    signature = Signature.of(started, steps, discount, index)
    rows = signature.rows(seen)
    scale = None
    if index is None:
        least = _LEAST_SCALE * np.abs(rows).mean(axis=0)
        scale = np.maximum(rows.std(axis=0), least + np.finfo(np.float64).eps)
    even = np.asarray if symmetry is None else symmetry.even
    return Nearness(signature, rows.mean(axis=0), even, scale)
