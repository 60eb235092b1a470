"""The Vicsek model in three dimensions, against theory and a plain twin."""

import math
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Vicsek
from swarmdp.model import sphere
from swarmdp.model.streams import Purpose, Streams
from swarmdp.support.errors import InvalidInput


def plain_means(system: Vicsek, position: np.ndarray, heading: np.ndarray) -> np.ndarray:
    """The mean headings of one run (agents, 3), pair by pair."""
    gap = position[:, None] - position
    if system.periodic:
        gap -= system.box * np.round(gap / system.box)
    distance = np.linalg.norm(gap, axis=2)
    if system.nearest is None:
        near = distance <= system.radius
    else:
        near = distance <= np.sort(distance, axis=1)[:, [system.nearest]]
    total = near @ heading
    return np.asarray(total / np.linalg.norm(total, axis=1, keepdims=True))


@pytest.mark.parametrize(
    "options",
    [{"radius": 0.3}, {"radius": 0.3, "periodic": False}, {"nearest": 5}, {"radius": 2.0}],
    ids=str,
)
def test_the_expert_flies_along_the_mean_heading_of_its_neighbours(options: dict[str, Any]) -> None:
    system = Vicsek(n_agents=60, dimensions=3, noise=0.0, **options)
    run = swarmdp.rollout(
        system, system.expert, steps=3, runs=2, seed=4, record=["states", "observations"]
    )
    for time in range(3):
        for r in range(2):
            position, heading = run["position"][r, time], run["heading"][r, time]
            means = plain_means(system, position, heading)
            np.testing.assert_allclose(run["heading"][r, time + 1], means, atol=1e-6)
            moved = position + system.speed * heading
            if system.periodic:
                moved %= system.box
            np.testing.assert_allclose(run["position"][r, time + 1], moved, atol=1e-12)
            angle = np.arccos(np.clip((means * heading).sum(axis=1), -1, 1))
            np.testing.assert_allclose(run["observations"][r, time], angle, atol=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"nearest": 4}, {"periodic": False}, {"radius": 0.4}], ids=str
)
def test_it_is_a_system(options: dict[str, Any]) -> None:
    swarmdp.testing.check_system(Vicsek(n_agents=30, dimensions=3, **options))


def test_headings_start_uniformly_on_the_sphere() -> None:
    """The mean length of the mean of n unit vectors is sqrt(8 / (3 pi n))."""
    system, runs = Vicsek(dimensions=3), 400
    state = system.initial(Streams.of(5, np.arange(runs), 200).at(0, Purpose.INITIAL))
    np.testing.assert_allclose(np.linalg.norm(state["heading"], axis=2), 1.0, atol=1e-12)
    order = system.order(state)
    expected = math.sqrt(8 / (3 * math.pi * 200))
    assert abs(order.mean() - expected) < 4 * order.std(ddof=1) / math.sqrt(runs)
    # A component is uniform from -1 to 1.
    assert abs((state["heading"] ** 2).mean() - 1 / 3) < 1e-9
    assert abs(state["heading"][..., 2].mean()) < 4 / math.sqrt(3 * 200 * runs)


@pytest.mark.parametrize("degrees", [5, 30, 60, 120])
def test_order_of_agents_that_all_see_each_other_is_the_mean_cosine_of_the_noise(
    degrees: int,
) -> None:
    """The Langevin function coth(k) - 1 / k of the concentration k = 1 / noise^2."""
    noise = math.radians(degrees)
    system = Vicsek(n_agents=2000, dimensions=3, radius=2.0, noise=noise)
    order = swarmdp.rollout(system, system.expert, steps=20, runs=4, seed=3, record="order")
    found = order["order"][:, 1:]
    mean = 1 / math.tanh(1 / noise**2) - noise**2
    # The length of a mean is a little above its expectation, by what the parts across it add.
    expected = math.sqrt(mean**2 + (1 - mean**2) / 2000)
    assert abs(found.mean() - expected) < 4 * found.std(ddof=1) / math.sqrt(found.size) + 2e-4


def test_order_is_lost_with_noise_and_later_in_dense_swarms() -> None:
    """Published of three dimensions (Czirok, Vicsek and Vicsek 1999): a kinetic transition.

    Ordered at small noise, disordered at large noise, and the noise between grows with density.
    """

    def late_order(degrees: float, radius: float) -> float:
        system = Vicsek(
            n_agents=300,
            dimensions=3,
            radius=radius,
            noise=math.radians(degrees),
            speed=0.05,
        )
        run = swarmdp.rollout(system, system.expert, steps=200, runs=2, seed=8, record="order")
        return float(run["order"][:, 100:].mean())

    orders = [late_order(degrees, 0.25) for degrees in (5, 20, 40, 60, 120)]
    assert orders == sorted(orders, reverse=True)
    assert orders[0] > 0.98
    assert orders[-1] < 2 * math.sqrt(8 / (3 * math.pi * 300))
    assert 0.2 < orders[2] < 0.8  # between
    assert late_order(50, 0.35) > 2 * late_order(50, 0.18)


def test_a_permutation_of_agents_permutes_the_step_exactly() -> None:
    system = Vicsek(n_agents=80, dimensions=3, radius=0.3)
    streams = Streams.of(2, np.arange(3), 80)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    order = np.random.default_rng(1).permutation(80)
    other = {name: np.ascontiguousarray(values[:, order]) for name, values in state.items()}
    np.testing.assert_array_equal(system.observe(state)[:, order], system.observe(other))


def test_turns_that_were_made_are_inferred() -> None:
    system = Vicsek(n_agents=50, dimensions=3, radius=0.4, noise=0.0)
    streams = Streams.of(2, np.arange(2), 50)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    wanted = np.full((2, 50), 0.3)
    after = system.transition(state, wanted, streams.at(0, Purpose.TRANSITION))
    in_line = system.observe(state) < 1e-6
    np.testing.assert_allclose(system.inferred_actions(state, after)[~in_line], 0.3, atol=1e-9)


def test_a_turn_and_back() -> None:
    rng = np.random.default_rng(3)
    one, other = (sphere.unit(rng.standard_normal((200, 3))) for _ in range(2))
    turns = sphere.turns_between(one, other)
    np.testing.assert_allclose(sphere.turn_headings(one, turns), other, atol=1e-9)
    np.testing.assert_allclose(np.hypot(*turns.T), sphere.angles_between(one, other), atol=1e-9)
    flat = np.array([[1.0, 0.0, 0.0]])
    left = sphere.turn_headings(flat, np.array([[np.pi / 2, 0.0]]))
    np.testing.assert_allclose(left, [[0.0, 1.0, 0.0]], atol=1e-12)
    up = sphere.turn_headings(flat, np.array([[0.0, np.pi / 2]]))
    np.testing.assert_allclose(up, [[0.0, 0.0, 1.0]], atol=1e-12)


def test_a_fit_learns_to_align() -> None:
    system = Vicsek(n_agents=30, dimensions=3, radius=0.5, n_bins=12)
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=10, seed=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=2, judge=False)
    learned = swarmdp.rollout(system, result.policy, steps=40, runs=10, seed=3, record="order")
    straight = swarmdp.rollout(system, np.zeros_like, steps=40, runs=10, seed=3, record="order")
    assert learned["order"][:, -1].mean() > 0.9 * system.order(demo)[:, -1].mean()
    assert straight["order"][:, -1].mean() < 0.5


def test_a_verdict_knows_the_expert_from_agents_that_turn_less() -> None:
    system = Vicsek(n_agents=30, dimensions=3, radius=0.5, n_bins=12)
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=10, seed=1)
    assert swarmdp.judge(system.expert, demo, system=system, seed=2).reproduces
    with pytest.warns(UserWarning, match="does not reproduce"):
        lazy = swarmdp.judge(lambda seen: 0.3 * seen, demo, system=system, seed=2)
    assert lazy.alarm
    assert not lazy.reproduces


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="dimensions must be 2 or 3, got 4"):
        Vicsek(dimensions=4)
    system = Vicsek(n_agents=5, dimensions=3)
    streams = Streams.of(2, np.arange(1), 5)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    with pytest.raises(InvalidInput, match="unit vectors, got lengths"):
        system.observe({**state, "heading": 2 * state["heading"]})
    with pytest.raises(InvalidInput, match=r"shape \(runs, 5, 3\)"):
        system.observe({**state, "position": state["position"][..., :2]})
    assert Vicsek(n_agents=100, dimensions=3).resized(800).box == pytest.approx(2.0)
