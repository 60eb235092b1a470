import math

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.kernels import vicsek
from swarmdp.kernels.numerics import fixed_point
from swarmdp.kernels.vicsek import flying, layout, observing, sorting
from swarmdp.support import parallel
from tests import oracles

Floats = NDArray[np.float64]


def states(kind: str, runs: int, agents: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    heading = rng.uniform(-np.pi, np.pi, (runs, agents))
    if kind == "random":
        position = rng.random((runs, agents, 2))
    elif kind == "clustered":
        centre = rng.random((runs, 1, 2))
        position = (centre + rng.normal(scale=0.03, size=(runs, agents, 2))) % 1.0
    elif kind == "on the boundary":
        position = rng.choice([0.0, np.nextafter(1.0, 0.0), 0.5], (runs, agents, 2))
    else:
        assert kind == "coincident"
        position = np.repeat(rng.random((runs, 1, 2)), agents, axis=1)
    return position, heading


def assert_same_angles(actual: Floats, expected: Floats) -> None:
    gap = np.abs(np.angle(np.exp(1j * (actual - expected))))
    assert gap.max() < 1e-10


@pytest.mark.parametrize("kind", ["random", "clustered", "on the boundary", "coincident"])
@pytest.mark.parametrize("agents", [1, 2, 17, 200])
@pytest.mark.parametrize("radius", [0.003, 0.1, 0.2, 0.34, 0.49, 0.6, 5.0])
@pytest.mark.parametrize("box", [1.0, 0.0])
def test_misalignment(kind: str, agents: int, radius: float, box: float) -> None:
    position, heading = states(kind, 3, agents)
    actual = vicsek.misalignment(position, heading, radius, box)
    for r in range(3):
        near = oracles.neighbours(position[r], radius, box)
        assert_same_angles(actual[r], oracles.misalignment(heading[r], near))


def test_misalignment_of_spread_out_agents_in_open_space() -> None:
    rng = np.random.default_rng(1)
    position = rng.normal(scale=[1000.0, 0.5], size=(1, 300, 2))
    heading = rng.uniform(-np.pi, np.pi, (1, 300))
    near = oracles.neighbours(position[0], 20.0, 0.0)
    actual = vicsek.misalignment(position, heading, 20.0, 0.0)
    assert_same_angles(actual[0], oracles.misalignment(heading[0], near))


@pytest.mark.parametrize("box", [1.0, 0.0])
@pytest.mark.parametrize("radius", [0.004, 0.5])
def test_a_shared_large_swarm_gives_the_same_bits(box: float, radius: float) -> None:
    position, heading = states(
        "random", 1, 3 * parallel.SMALLEST_SHARE // (20 if radius > 0.1 else 1)
    )
    alone = vicsek.misalignment(position, heading, radius, box)
    smallest, parallel.SMALLEST_SHARE = parallel.SMALLEST_SHARE, 1000
    try:
        with parallel.budget(3):
            assert parallel.shares(heading.size) == 3
            shared = vicsek.misalignment(position, heading, radius, box)
            ordered = vicsek.order_parameter(heading)
    finally:
        parallel.SMALLEST_SHARE = smallest
    np.testing.assert_array_equal(shared, alone)
    np.testing.assert_array_equal(ordered, vicsek.order_parameter(heading))


@pytest.mark.parametrize("kind", ["random", "clustered", "coincident"])
@pytest.mark.parametrize("radius", [0.1, 0.6])
def test_misalignment_does_not_depend_on_the_order_of_agents(kind: str, radius: float) -> None:
    position, heading = states(kind, 1, 300)
    order = np.random.default_rng(1).permutation(300)
    actual = vicsek.misalignment(position[:, order], heading[:, order], radius, 1.0)
    plain = vicsek.misalignment(position, heading, radius, 1.0)
    np.testing.assert_array_equal(actual, plain[:, order])


def test_isolated_agents_are_in_line_with_themselves() -> None:
    position = np.array([[[0.1, 0.1], [0.5, 0.5], [0.9, 0.2]]])
    heading = np.array([[-3.0, 1.234567, 2.5]])
    np.testing.assert_array_equal(vicsek.misalignment(position, heading, 0.05, 1.0), 0.0)


def test_headings_that_cancel_out_leave_no_misalignment() -> None:
    position = np.zeros((1, 2, 2))
    for first in (0.0, 0.7, -2.0):
        heading = np.array([[first, first - np.pi]])
        np.testing.assert_array_equal(vicsek.misalignment(position, heading, 0.1, 1.0), 0.0)
        np.testing.assert_array_equal(vicsek.misalignment(position, heading, 0.6, 1.0), 0.0)


@pytest.mark.parametrize("box", [1.0, 0.25, 0.0])
@pytest.mark.parametrize("speed", [0.0, 0.1, 3.7])
def test_advance(box: float, speed: float) -> None:
    rng = np.random.default_rng(2)
    position = rng.random((4, 300, 2)) * (box or 1.0)
    heading, turn, noise = rng.uniform(-np.pi, np.pi, (3, 4, 300))
    moved, turned = vicsek.fly_and_turn(position, heading, turn, noise, speed, box)
    expected_position, expected_heading = oracles.advance(
        position, heading, turn, noise, speed, box
    )
    gap = np.abs(moved - expected_position)
    np.testing.assert_allclose(np.minimum(gap, np.abs((box or 1e9) - gap)), 0, atol=1e-14)
    assert_same_angles(turned, expected_heading)
    assert (turned >= -np.pi).all()
    assert (turned < np.pi).all()
    if box:
        assert (moved >= 0).all()
        assert (moved < box).all()


def test_an_agent_that_rounds_onto_the_far_edge_comes_back_at_the_near_one() -> None:
    position = np.array([[[1e-18, 0.5]]])
    heading = np.array([[-np.pi]])
    zero = np.zeros((1, 1))
    moved, _ = vicsek.fly_and_turn(position, heading, zero, zero, 2e-18, 1.0)
    assert 0 <= moved[0, 0, 0] < 1


def test_order() -> None:
    rng = np.random.default_rng(3)
    heading = rng.uniform(-np.pi, np.pi, (5, 1000)) * np.array([0, 0.1, 0.5, 0.9, 1])[:, None]
    np.testing.assert_allclose(vicsek.order_parameter(heading), oracles.order(heading), atol=1e-14)
    assert vicsek.order_parameter(np.full((1, 7), 2.0))[0] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("box", [1.0, 0.0])
def test_by_cell_is_a_permutation_that_brings_neighbours_together(box: float) -> None:
    position, _ = states("random", 2, 5000)
    order = vicsek.by_cell(position, 0.02, box)
    assert (np.sort(order, axis=1) == np.arange(5000)).all()
    steps = np.linalg.norm(np.diff(position[0, order[0]], axis=0), axis=1)
    assert np.median(steps) < 0.05 < np.median(np.linalg.norm(np.diff(position[0], axis=0), axis=1))


@pytest.mark.parametrize("box", [1.0, 0.0])
def test_whole_steps_of_one_swarm_as_other_kernels_take_them(box: float) -> None:
    (position,), (heading,) = states("clustered", 1, 700)
    now, ordered = layout.new_particles(700), layout.new_particles_by_cell(700)
    work, buffers = layout.new_cell_places(700, 1), layout.new_row_buffers(0)
    model, noise, seen = vicsek.VicsekModel(0.05, 0.03, 0.2, box), np.empty(700), np.empty(700)
    noise_at = layout.NoiseCounter(np.uint64(7), np.uint64(3), np.uint64(5), np.uint64(1 << 16))
    sums = np.zeros(2, np.int64)
    sorting.take_over(position, heading, 0, now)
    observing.find_misalignments(now, model.radius, box, ordered, work, buffers, sums)
    observing.look_up_angles(0, 700, ordered, work, seen)
    near = oracles.neighbours(position, model.radius, box)
    assert_same_angles(seen, oracles.misalignment(heading, near))
    mean = sums / fixed_point.units_for(700) / 700
    assert np.hypot(*mean) == pytest.approx(oracles.order(heading), abs=1e-14)
    flying.move_particles(0, 700, now, seen, model, noise_at, noise)
    words = [oracles.random_words(7, 3, 5, 1 << 16, i) for i in range(700)]
    drawn = model.noise * np.array([oracles.normal(word) for word in words])
    moved, turned = oracles.advance(position, heading, seen, drawn, model.speed, box)
    np.testing.assert_array_equal(now.id, np.arange(700))
    np.testing.assert_allclose(np.stack([now.x, now.y], axis=-1), moved, atol=1e-14)
    assert_same_angles(now.heading, turned)
    np.testing.assert_allclose(now.cosine + 1j * now.sine, np.exp(1j * turned), atol=1e-14)


def test_fixed_point_sums_cannot_overflow() -> None:
    for agents in (1, 2, 3, 200, 2**20, 10**6, 2**31):
        scale = fixed_point.units_for(agents)
        assert agents * scale <= 2**62
        assert agents * scale > 2**60
        assert math.log2(scale).is_integer()
