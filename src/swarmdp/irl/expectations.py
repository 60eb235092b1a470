"""Value estimation: what a swarm's trajectories say about its feature expectations.

The value of a policy is linear in its feature expectations, V = w . mu, so estimating mu estimates
the value for every reward. Two estimators of the paper: from the whole swarm (the mean over its
agents) and from a single agent. The infinite sum is cut after the last time step T. Where features
are indicators, those of one observation sum to 1, so what is left out is gamma^(T+1) / (1 - gamma)
of a whole of 1 / (1 - gamma).
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp import kernels
from swarmdp.checks import check_agent, check_discount
from swarmdp.errors import InvalidInput
from swarmdp.model import (
    LocalPolicy,
    Reward,
    SoftPolicy,
    System,
    by_rows,
    classes,
    feature_matrix,
    field_of,
    n_features,
)
from swarmdp.simulation import (
    DiscountedFeatures,
    SingleAgentFeatures,
    simulate,
)
from swarmdp.systems.finite import exact_model
from swarmdp.trajectory import Trajectory

Estimator = Literal["swarm", "single"]

LONGEST_TAIL = 0.01  # the share of a discounted sum that a demo may leave out


def check_estimator(estimator: str) -> None:
    """Refuse an unknown estimator."""
    if estimator not in ("swarm", "single"):
        raise InvalidInput(f'estimator must be "swarm" or "single", got {estimator!r}')


def truncation(discount: float, steps: int) -> float:
    """The share of the discounted sum's weight that lies beyond the last time step."""
    check_discount(discount)
    return float(discount ** (steps + 1))


def observations_of(system: System, trajectory: Trajectory) -> NDArray[np.integer]:
    """The classes of observations (runs, times, agents) of recorded states or observations."""
    if "observations" in trajectory:
        return classes(system, trajectory["observations"])
    wanted = getattr(system, "fields", {}) or {
        name: None for name, v in trajectory.variables.items() if v.axes[1:3] == ("time", "agent")
    }
    missing = [name for name in wanted if name not in trajectory]
    if missing or not wanted:
        raise InvalidInput(
            f"the trajectory has no {' and '.join(missing) or 'states'}: record states or "
            "observations"
        )
    check = getattr(system, "check_state", None)
    frames = []
    for time in range(trajectory.steps + 1):
        state = {
            name: np.ascontiguousarray(
                trajectory[name] if field_of(system, name).constant else trajectory[name][:, time]
            )
            for name in wanted
        }
        if check is not None:
            check(state)
        frames.append(classes(system, system.observe(state)))
    return np.stack(frames, axis=1)


def feature_expectations(
    system: System,
    trajectory: Trajectory,
    *,
    discount: float = 0.9,
    estimator: Estimator = "swarm",
    agent: int = 0,
) -> NDArray[np.float64]:
    """The estimate mu (runs, d) from each run of a trajectory, simulated or recorded."""
    check_discount(discount)
    check_estimator(estimator)
    check_agent(agent, system)
    index = observations_of(system, trajectory)
    if estimator == "single":
        index = index[:, :, agent : agent + 1]
    total = np.zeros((index.shape[0], system.features.size))
    for time in range(index.shape[1]):
        now = np.ascontiguousarray(index[:, time])
        total += discount**time / now.shape[1] * kernels.tabular.count(now, system.features.size)
    matrix = feature_matrix(system)
    return total if matrix is None else by_rows(total, matrix)


def agent_expectations(
    system: System, trajectory: Trajectory, *, discount: float = 0.9, run: int = 0
) -> NDArray[np.float64]:
    """The estimate (agents, d) that each agent of one run gives on its own."""
    check_discount(discount)
    index = observations_of(system, trajectory)[run]
    total = np.zeros((index.shape[1], system.features.size))
    agents = np.arange(index.shape[1])
    for time, now in enumerate(index):
        total[agents, now] += discount**time
    matrix = feature_matrix(system)
    return total if matrix is None else by_rows(total, matrix)


def simulated_expectations(
    system: System,
    policy: LocalPolicy,
    *,
    discount: float,
    estimator: Estimator,
    steps: int,
    runs: int,
    seed: int,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """The estimate mu (R, d) for each replica of a policy, from so many runs of each."""
    check_estimator(estimator)
    kind = DiscountedFeatures if estimator == "swarm" else SingleAgentFeatures
    replicas = policy.replicas
    numbers = (np.arange(replicas) * runs + np.arange(runs)[:, None]).ravel()
    trajectory = simulate(
        system,
        policy,
        numbers=numbers,
        steps=steps,
        seed=seed,
        record={"mu": kind(discount)},
        threads=threads,
    )
    mean: NDArray[np.float64] = trajectory["mu"].reshape(runs, replicas, -1).mean(axis=0)
    return mean


def exact_expectations(
    system: System, policy: LocalPolicy, *, discount: float, steps: int | None
) -> NDArray[np.float64]:
    """The feature expectations (R, d) of a policy of a finite MDP, without sampling.

    Over all times, or cut after so many steps, as those of a demo are.
    """
    mdp = exact_model(system)
    if mdp is None:
        raise InvalidInput(
            f"exact feature expectations need a FiniteMDP or a Gridworld, got "
            f"{type(system).__name__}"
        )
    policy.check(system)
    each = (
        policy.probabilities
        if isinstance(policy, SoftPolicy)
        else np.eye(len(system.actions))[policy.table]
    )
    visits = np.stack([mdp.occupancy(probabilities, discount, steps) for probabilities in each])
    matrix = feature_matrix(system)
    return visits if matrix is None else by_rows(visits, matrix)


def check_expectations(system: System, given: ArrayLike, discount: float) -> NDArray[np.float64]:
    """Feature expectations (R, d) that were given in place of a demo, refused if impossible."""
    size = n_features(system)
    try:
        mu = np.atleast_2d(np.array(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"feature expectations must be numbers of shape ({size},) or (experiments, {size}), "
            "got rows of different lengths or something that is no number"
        ) from None
    if mu.ndim != 2 or mu.shape[1] != size or not len(mu) or not np.isfinite(mu).all():
        raise InvalidInput(
            f"feature expectations must be finite numbers of shape ({size},) or (experiments, "
            f"{size}), got shape {np.shape(given)}"
        )
    if feature_matrix(system) is None:
        whole = 1 / (1 - discount)
        if mu.min() < 0 or (np.abs(mu.sum(axis=1) / whole - 1) > LONGEST_TAIL).any():
            raise InvalidInput(
                f"feature expectations of indicators must not be negative and sum to "
                f"1 / (1 - discount) = {whole:.4g}, got sums from {mu.sum(axis=1).min():.4g} to "
                f"{mu.sum(axis=1).max():.4g}: they are discounted sums over time, not averages"
            )
    return mu


def steps_for(discount: float, tail: float) -> int:
    """The least number of steps that leave out no more than this share of the sum's weight."""
    check_discount(discount)
    return 0 if discount <= tail else int(np.ceil(np.log(tail) / np.log(discount))) - 1


def value(reward: Reward, expectations: NDArray[np.float64]) -> NDArray[np.float64]:
    """The global value V of each estimate (..., R, d): R weights times mu."""
    worth: NDArray[np.float64] = np.einsum("rd,...rd->...r", reward.weights, expectations)
    return worth


def standard_error(estimates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of the mean over independent runs (the first axis).

    Agents of one run are correlated, runs are not: this is the error to trust.
    """
    if len(estimates) < 2:
        raise InvalidInput(
            "a standard error over runs needs at least two; for a single run use "
            "standard_error_by_blocks"
        )
    error: NDArray[np.float64] = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    return error


def standard_error_by_blocks(
    agents: NDArray[np.float64], blocks: NDArray[np.integer]
) -> NDArray[np.float64]:
    """The standard error of the mean over the agents (agents, ...) of a single run.

    Agents near each other are correlated, so they are put into blocks of neighbours
    (`spatial_blocks`), and the error is that of the blocks' means (weighted by their sizes). It is
    right as long as blocks are larger than the range of the correlation; fluctuations that all
    agents of a run share cannot be seen in a single run at all.
    """
    names, member = np.unique(blocks, return_inverse=True)
    count = len(names)
    if count < 2 or len(member) != len(agents):
        raise InvalidInput(
            f"needs at least two blocks and a block for each of {len(agents)} agents, "
            f"got {count} blocks of {len(member)}"
        )
    shape = (count, *agents.shape[1:])
    sums, sizes = np.zeros(shape), np.bincount(member, minlength=count).astype(float)
    np.add.at(sums, member, agents - agents.mean(axis=0))
    # Ratio estimator: the deviations of the blocks' sums from their share of the whole.
    spread = (sums**2).sum(axis=0) * count / (count - 1)
    error: NDArray[np.float64] = np.sqrt(spread) / sizes.sum()
    return error


def spatial_blocks(place: NDArray[np.float64], tiles: int) -> NDArray[np.int64]:
    """Blocks of neighbours: the agents' places (agents, axes) cut into tiles along each axis.

    Every axis is cut at its quantiles, so that tiles hold about equally many agents.
    """
    blocks = np.zeros(len(place), np.int64)
    for axis in place.T:
        rank = axis.argsort(kind="stable").argsort(kind="stable")
        blocks = blocks * tiles + rank * tiles // len(axis)
    return blocks


def check_demo(
    system: System,
    demo: Trajectory,
    discount: float,
    settings: Mapping[str, Any],
) -> None:
    """Refuse a demo that cannot teach this system, before any long work starts."""
    if not isinstance(demo, Trajectory):
        raise InvalidInput(
            f"the demo must be a Trajectory, or an array of feature expectations, got "
            f"{type(demo).__name__}"
        )
    name = type(system).__name__
    if demo.system != name:
        raise InvalidInput(f"the demo was recorded from {demo.system}, not from {name}")
    for key, wanted in settings.items():
        if key in demo.settings and plain(demo.settings[key]) != plain(wanted):
            raise InvalidInput(
                f"the demo was recorded with {key} = {demo.settings[key]}, but the system has "
                f"{wanted}: fit the system that was recorded"
            )
    if demo.runs < 1 or not len(demo):
        raise InvalidInput("the demo is empty: it has no runs or nothing was recorded")
    for key, variable in demo.variables.items():
        array, units = variable.values, field_of(system, key).units
        if key in getattr(system, "fields", {}) and variable.units != units:
            raise InvalidInput(
                f"the demo's {key!r} is in {variable.units!r}, the system's in {units!r}"
            )
        if "agent" in variable.axes:
            agents = array.shape[variable.axes.index("agent")]
            if agents != system.n_agents:
                raise InvalidInput(
                    f"the demo's {key!r} has {agents} agents, but the system has {system.n_agents}"
                )
        if np.issubdtype(array.dtype, np.inexact) and not np.isfinite(array).all():
            raise InvalidInput(f"the demo's {key!r} has NaN or infinite values: remove these runs")
    tail = truncation(discount, demo.steps)
    if tail > LONGEST_TAIL:
        needed = steps_for(discount, LONGEST_TAIL)
        raise InvalidInput(
            f"the demo is too short for a discount of {discount}: its {demo.steps} steps leave "
            f"{tail:.0%} of the weight out; at least {needed} steps are needed, or a smaller "
            "discount"
        )


def plain(value: Any) -> Any:
    """The value as it is after it was written to a file and read back."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
