import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Policy, Reward
from swarmdp.irl import expectations as e
from swarmdp.irl.demos import check_demo
from swarmdp.irl.frames import observations_over
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.simulation import DiscountedFeatures
from swarmdp.simulation.recorders import SingleAgentFeatures
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=40)
ISING = swarmdp.Ising((8, 9))


def agent_expectations(
    system: Any, trajectory: Trajectory, *, discount: float, run: int
) -> NDArray[np.float64]:
    """The estimate (agents, d) that each agent of one run gives on its own."""
    every = np.arange(system.n_agents)
    total = np.zeros((system.n_agents, system.features.size))
    for time, observations in enumerate(observations_over(system, trajectory)):
        total[every, system.features.index(observations)[run]] += discount**time
    return total


@pytest.mark.parametrize("system", [VICSEK, ISING], ids=["vicsek", "ising"])
@pytest.mark.parametrize("what", ["states", "observations"])
def test_estimates_from_a_recording_equal_those_of_the_simulation(system: Any, what: str) -> None:
    common: dict[str, Any] = {"steps": 12, "runs": 5, "seed": 1}
    running = swarmdp.rollout(
        system,
        system.expert,
        record=[DiscountedFeatures(0.8), SingleAgentFeatures(0.8, agent=3)],
        **common,
    )
    recorded = swarmdp.rollout(system, system.expert, record=what, **common)
    swarm = e.feature_expectations(system, recorded, discount=0.8)
    single = e.feature_expectations(system, recorded, discount=0.8, estimator="single", agent=3)
    np.testing.assert_allclose(swarm, running["discounted_features"], atol=1e-13)
    np.testing.assert_allclose(single, running["single_agent_features"], atol=1e-13)
    by_agent = agent_expectations(system, recorded, discount=0.8, run=2)
    np.testing.assert_allclose(by_agent.mean(axis=0), swarm[2], atol=1e-13)
    np.testing.assert_allclose(by_agent[3], single[2], atol=1e-13)


def test_estimates_sum_to_the_weight_of_the_times() -> None:
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=30, seed=1)
    mu = e.feature_expectations(VICSEK, trajectory, discount=0.9)
    assert mu.sum() == pytest.approx((1 - 0.9**31) / (1 - 0.9))
    assert mu.sum() == pytest.approx((1 - e.truncation(0.9, 30)) / (1 - 0.9))


def test_truncation_bounds_what_is_left_out() -> None:
    assert e.truncation(0.9, 100) == pytest.approx(2.39e-5, rel=1e-2)
    long = swarmdp.rollout(VICSEK, VICSEK.expert, steps=200, runs=3, seed=1, record="observations")
    short = swarmdp.rollout(VICSEK, VICSEK.expert, steps=20, runs=3, seed=1, record="observations")
    gap = np.abs(
        e.feature_expectations(VICSEK, long, discount=0.9)
        - e.feature_expectations(VICSEK, short, discount=0.9)
    ).sum(axis=1)
    assert (gap <= e.truncation(0.9, 20) / (1 - 0.9) + 1e-12).all()


def test_both_estimators_are_unbiased_and_the_swarm_s_is_sharper() -> None:
    """Over many runs their means agree; the single agent's spread is far larger."""
    runs = 4000
    data = swarmdp.rollout(
        VICSEK,
        VICSEK.expert,
        steps=60,
        runs=runs,
        seed=5,
        record=[DiscountedFeatures(0.9), SingleAgentFeatures(0.9)],
    )
    swarm, single = data["discounted_features"], data["single_agent_features"]
    gap = swarm.mean(axis=0) - single.mean(axis=0)
    error = np.hypot(e.standard_error(swarm), e.standard_error(single))
    assert (np.abs(gap) < 4.5 * error).all()
    assert (single.var(axis=0) > 3 * swarm.var(axis=0)).all()


def test_a_single_agent_of_the_ising_model_is_unbiased_at_an_open_boundary() -> None:
    """Agents sit on random sites: agent 0 is not always in the corner."""
    runs = 6000
    system = swarmdp.Ising((5, 5), periodic=False)
    data = swarmdp.rollout(
        system,
        system.expert,
        steps=20,
        runs=runs,
        seed=6,
        record=[DiscountedFeatures(0.7), SingleAgentFeatures(0.7)],
    )
    gap = data["discounted_features"].mean(axis=0) - data["single_agent_features"].mean(axis=0)
    error = np.hypot(
        e.standard_error(data["discounted_features"]),
        e.standard_error(data["single_agent_features"]),
    )
    assert (np.abs(gap) <= 4.5 * error).all()


def test_the_value_is_linear_in_the_feature_expectations() -> None:
    """V estimated from rewards over time equals w . mu."""
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=15, runs=2, seed=1)
    weights = np.random.default_rng(0).normal(size=(2, 36))
    reward = Reward(weights)
    mu = e.feature_expectations(VICSEK, trajectory, discount=0.9)
    direct = np.zeros(2)
    for t in range(16):
        state = {name: trajectory[name][:, t].copy() for name in ("position", "heading")}
        gained = reward.of(VICSEK, VICSEK.observe(state), np.arange(2))
        direct += 0.9**t * gained.mean(axis=1)
    np.testing.assert_allclose(e.value(reward, mu), direct)


def test_standard_error_over_runs() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(scale=3.0, size=(2000, 50, 4))
    errors = np.array([e.standard_error(draw) for draw in draws])
    truth = 3.0 / math.sqrt(50)
    assert errors.mean() == pytest.approx(truth, rel=0.02)
    with pytest.raises(InvalidInput, match="at least two"):
        e.standard_error(draws[0, :1])


def test_standard_error_by_blocks_where_the_truth_is_known() -> None:
    """Agents on a ring, each the mean of 9 neighbours' noise: correlated over 8 places."""
    rng = np.random.default_rng(2)
    agents, width, repeats = 2000, 9, 400
    noise = rng.normal(size=(repeats, agents))
    smooth = np.mean([np.roll(noise, shift, axis=1) for shift in range(width)], axis=0)
    truth = smooth.mean(axis=1).std()
    place = np.arange(agents, dtype=float)[:, None]
    blocks = e.spatial_blocks(place, 20)
    estimates = np.array([e.standard_error_by_blocks(row, blocks) for row in smooth])
    # 400 repeats know the truth to 3.5 %; 20 blocks are each wrong by 5 % at their edges
    assert np.sqrt((estimates**2).mean()) == pytest.approx(truth, rel=0.12)
    naive = smooth.std(axis=1, ddof=1).mean() / math.sqrt(agents)
    assert naive < 0.5 * truth
    random = rng.integers(20, size=agents)
    mixed = np.array([e.standard_error_by_blocks(row, random) for row in smooth])
    assert mixed.mean() < 0.6 * truth


def test_standard_error_by_blocks_of_a_real_swarm() -> None:
    """Ising agents stay where they are: tiles of one run know the spread between runs."""
    system = swarmdp.Ising((60, 60), periodic=True)
    trajectory = swarmdp.rollout(system, system.expert, steps=25, runs=60, seed=3)
    mu = e.feature_expectations(system, trajectory, discount=0.8)
    truth = mu.std(axis=0, ddof=1)
    estimates = []
    for run in range(60):
        rows, columns = np.divmod(trajectory["site"][run], 60)
        blocks = e.spatial_blocks(np.stack([rows, columns], axis=1).astype(float), 5)
        by_agent = agent_expectations(system, trajectory, discount=0.8, run=run)
        estimates.append(e.standard_error_by_blocks(by_agent, blocks))
    often = mu.mean(axis=0) > 0.05
    ratio = np.sqrt((np.array(estimates) ** 2).mean(axis=0))[often] / truth[often]
    # 60 runs know each spread to 9 %; the median over classes is sharper
    assert np.median(ratio) == pytest.approx(1.0, abs=0.2)


def test_blocks_are_balanced_and_refused_when_pointless() -> None:
    place = np.random.default_rng(0).random((1000, 2))
    sizes = np.bincount(e.spatial_blocks(place, 4))
    assert len(sizes) == 16
    assert sizes.min() > 30
    with pytest.raises(InvalidInput, match="at least two blocks"):
        e.standard_error_by_blocks(np.zeros(5), np.zeros(5, int))
    with pytest.raises(InvalidInput, match="a block for each of 5 agents"):
        e.standard_error_by_blocks(np.zeros(5), np.arange(4))


def test_replicas_of_a_policy_are_estimated_alike_in_every_batch() -> None:
    table = np.random.default_rng(0).integers(13, size=(3, 36))
    common: dict[str, Any] = {
        "discount": 0.9,
        "estimator": "swarm",
        "steps": 10,
        "runs": 2,
        "seed": 1,
    }
    whole = e.simulated_expectations(VICSEK, Policy(table), **common)
    np.testing.assert_array_equal(
        whole[:2], e.simulated_expectations(VICSEK, Policy(table[:2]), **common)
    )


def demo_with(**change: Any) -> Trajectory:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)
    values: dict[str, Any] = {**vars(demo), **change}
    return Trajectory(**values)


def with_nan(array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    array[0, 3, 5] = np.nan
    return array


def test_demos_that_cannot_teach_are_refused() -> None:
    good = demo_with()
    check_demo(VICSEK, good, 0.9)
    in_degrees = Variable(good["heading"], ("run", "time", "agent"), "degrees")
    fewer = Variable(good["heading"][:, :, :7], ("run", "time", "agent"), "rad")
    bad_heading = Variable(with_nan(good["heading"]), ("run", "time", "agent"), "rad")
    for demo, message in (
        (demo_with(system_name="Ising"), "recorded from Ising, not from Vicsek"),
        (demo_with(settings={"radius": 0.2}), "recorded with radius = 0.2, but the system has 0.1"),
        (demo_with(variables={}), "the demo is empty"),
        (demo_with(variables={"heading": in_degrees}), "is in 'degrees', the system's in 'rad'"),
        (demo_with(variables={"heading": fewer}), "has 7 agents, but the system has 40"),
        (
            demo_with(variables={**good.variables, "heading": bad_heading}),
            "'heading' has NaN or infinite",
        ),
    ):
        with pytest.raises(InvalidInput, match=message):
            check_demo(VICSEK, demo, 0.9)
    with pytest.raises(InvalidInput, match=r"too short for a discount of 0.99.*458 steps"):
        check_demo(VICSEK, good, 0.99)
    with pytest.raises(InvalidInput, match="must be a Trajectory"):
        check_demo(VICSEK, good["heading"], 0.9)  # type: ignore[arg-type]


def test_a_trajectory_without_states_is_refused() -> None:
    only_order = swarmdp.rollout(VICSEK, VICSEK.expert, steps=3, seed=1, record=VICSEK.order)
    with pytest.raises(InvalidInput, match="no position and heading: record states"):
        e.feature_expectations(VICSEK, only_order)
    with pytest.raises(InvalidInput, match="estimator must be"):
        e.feature_expectations(VICSEK, only_order, estimator="all")  # type: ignore[arg-type]


def test_an_observation_out_of_range_is_refused() -> None:
    recorded = swarmdp.rollout(ISING, ISING.expert, steps=2, seed=1, record="observations")
    broken = recorded["observations"].copy()
    broken[0, 1, 4] = 77
    demo = Trajectory(
        {"observations": Variable(broken, ("run", "time", "agent"))},
        system_name="Ising",
        settings={},
        runs=1,
        steps=2,
    )
    with pytest.raises(InvalidInput, match="local energy must be from 0 to 24, got 1 to 77"):
        e.feature_expectations(ISING, demo)
