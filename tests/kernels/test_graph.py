import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmdp.kernels import space, vicsek
from tests import oracles
from tests.kernels.test_vicsek import states


@pytest.mark.parametrize("kind", ["random", "clustered", "on the boundary", "coincident"])
@pytest.mark.parametrize("agents", [1, 2, 17, 200])
@pytest.mark.parametrize("radius", [0.003, 0.05, 0.125, 0.34, 0.49, 0.6, 5.0])
@pytest.mark.parametrize("box", [1.0, 0.0])
def test_hops(kind: str, agents: int, radius: float, box: float) -> None:
    position, _ = states(kind, 3, agents)
    source = agents // 3
    hops = space.hops(position, source, radius, box)
    for r in range(3):
        near = oracles.neighbours(position[r], radius, box)
        np.testing.assert_array_equal(hops[r], oracles.hops(near, source))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_hops_on_a_lattice_where_many_agents_are_exactly_as_far_as_the_radius(
    data: st.DataObject,
) -> None:
    """Sixteenths are exact in binary: a distance equal to the radius is exactly equal."""
    agents = data.draw(st.integers(1, 24))
    box = data.draw(st.sampled_from([0.0, 1.0, 0.5, 4.0]))
    most = round(16 * box) - 1 if box else 40
    coordinate = st.integers(0 if box else -most, most)
    place = data.draw(st.lists(st.tuples(coordinate, coordinate), min_size=agents, max_size=agents))
    radius = data.draw(st.integers(1, 20)) / 16
    source = data.draw(st.integers(0, agents - 1))
    position = np.array(place, dtype=float)[None] / 16
    near = oracles.neighbours(position[0], radius, box)
    hops = space.hops(position, source, radius, box)[0]
    np.testing.assert_array_equal(hops, oracles.hops(near, source))


@pytest.mark.parametrize("box", [1.0, 0.0])
@pytest.mark.parametrize("radius", [0.05, 0.125, 0.4])
def test_who_is_one_hop_away_is_who_is_observed(box: float, radius: float) -> None:
    """Pairs whose distance is the radius up to rounding, many of them across the boundary."""
    rng = np.random.default_rng(0)
    runs = 20_000
    angle = rng.uniform(-np.pi, np.pi, runs)
    position = np.empty((runs, 2, 2))
    position[:, 0] = rng.random((runs, 2))
    position[:, 1] = position[:, 0] + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if box:
        position %= box
    heading = np.tile([0.0, 1.0], (runs, 1))
    seen = vicsek.misalignment(position, heading, radius, box) != 0
    for agent in range(2):
        linked = space.hops(position, agent, radius, box)[:, 1 - agent] == 1
        np.testing.assert_array_equal(linked, seen[:, agent])
        assert 0.1 < linked.mean() < 0.9


def test_a_chain_is_as_long_as_its_links() -> None:
    position = np.zeros((1, 300, 2))
    position[0, :, 0] = np.arange(300)
    np.testing.assert_array_equal(space.hops(position, 0, 1.0, 0.0)[0], np.arange(300))
    around = space.hops(position, 0, 1.0, 300.0)[0]
    np.testing.assert_array_equal(around, np.minimum(np.arange(300), 300 - np.arange(300)))


def test_permuted_agents_have_permuted_hops() -> None:
    position, _ = states("random", 2, 200)
    order = np.random.default_rng(1).permutation(200)
    plain = space.hops(position, int(order[5]), 0.06, 1.0)
    permuted = space.hops(np.ascontiguousarray(position[:, order]), 5, 0.06, 1.0)
    assert {-1, 0, 1, 2} <= set(plain.ravel().tolist())
    np.testing.assert_array_equal(permuted, plain[:, order])
