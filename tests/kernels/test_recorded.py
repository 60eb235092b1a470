import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.kernels import recorded, space
from swarmdp.kernels.space import sorting
from tests import oracles

Floats = NDArray[np.float64]
L_SHAPE = np.array([[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]], float)
ARENAS = {
    "open": (space.OPEN, np.zeros((1, 2))),
    "circle": (space.CIRCLE, np.array([[2.0, 2.0], [2.0, 0.0]])),
    "polygon": (space.POLYGON, L_SHAPE),
    "periodic": (space.PERIODIC, np.array([[0.0, 0.0], [4.0, 3.0]])),
}


def states(runs: int, agents: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 4, (runs, agents, 2)), rng.uniform(-np.pi, np.pi, (runs, agents))


def gap(actual: Floats, expected: Floats) -> float:
    return float(np.abs(np.angle(np.exp(1j * (actual - expected)))).max())


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize(("nearest", "radius"), [(1, 0.0), (4, 0.0), (50, 0.0), (0, 0.7), (0, 9.0)])
@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("agents", [20, sorting.FEW_AGENTS + 30])  # without cells and with them
def test_sight(arena: str, nearest: int, radius: float, absent: bool, agents: int) -> None:
    position, heading = states(3, agents)
    if absent:
        position[0, 3] = np.nan
        heading[1, 7:9] = np.nan
    kind, walls = ARENAS[arena]
    actual = recorded.sight(position, heading, nearest, radius, kind, walls)
    for r in range(3):
        expected = oracles.sight(position[r], heading[r], nearest, radius, arena, walls)
        missing = np.isnan(expected)
        assert np.array_equal(np.isnan(actual[r]), missing)
        here, there = actual[r][~missing[:, 0]], expected[~missing[:, 0]]
        for column in (0, 1, 4):
            assert gap(here[:, column], there[:, column]) < 1e-9
        np.testing.assert_allclose(here[:, 2:4], there[:, 2:4], atol=1e-12)


@pytest.mark.parametrize("agents", [30, 2 * sorting.FEW_AGENTS])
def test_the_order_of_agents_does_not_matter_even_on_a_grid(agents: int) -> None:
    rng = np.random.default_rng(1)
    position = rng.integers(0, 5, (1, agents, 2)).astype(float)  # many are equally near
    heading = rng.uniform(-np.pi, np.pi, (1, agents))
    order = rng.permutation(agents)
    for nearest, radius in ((3, 0.0), (0, 1.5)):
        actual = recorded.sight(position, heading, nearest, radius, *ARENAS["circle"])
        other = recorded.sight(
            position[:, order], heading[:, order], nearest, radius, *ARENAS["circle"]
        )
        assert np.array_equal(actual[:, order], other)


@pytest.mark.parametrize("scale", [(0.0, 1.0), (1.0, 0.0), (1000.0, 0.001)])
def test_sight_of_swarms_on_a_line(scale: tuple[float, float]) -> None:
    rng = np.random.default_rng(3)
    agents = 2 * sorting.FEW_AGENTS
    position = rng.normal(size=(1, agents, 2)) * np.array(scale)
    heading = rng.uniform(-np.pi, np.pi, (1, agents))
    for nearest, radius in ((5, 0.0), (0, 0.3)):
        actual = recorded.sight(position, heading, nearest, radius, *ARENAS["open"])
        expected = oracles.sight(
            position[0], heading[0], nearest, radius, "open", ARENAS["open"][1]
        )
        assert gap(actual[0, :, 0], expected[:, 0]) < 1e-9
        np.testing.assert_allclose(actual[0, :, 2], expected[:, 2], atol=1e-12)


@pytest.mark.parametrize("arena", ARENAS)
def test_agents_in_one_point_see_the_mean_of_all_others(arena: str) -> None:
    agents = 2 * sorting.FEW_AGENTS
    position = np.ones((1, agents, 2))
    heading = np.random.default_rng(4).uniform(-np.pi, np.pi, (1, agents))
    vectors = np.exp(1j * heading[0])
    for nearest, radius in ((agents, 0.0), (0, 0.3)):
        actual = recorded.sight(position, heading, nearest, radius, *ARENAS[arena])[0]
        assert gap(actual[:, 0], np.angle((vectors.sum() - vectors) / vectors)) < 1e-9
        np.testing.assert_array_equal(actual[:, 1:3], 0.0)


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("length", [0.1, 1.5, 30.0])
def test_advance(arena: str, length: float) -> None:
    position, heading = states(2, 100)
    kind, walls = ARENAS[arena]
    if arena in ("circle", "polygon"):
        inside = [
            place
            for place in position.reshape(-1, 2)
            if oracles.nearest_wall(place, arena, walls)[1]
        ]
        position = np.array(inside[:100]).reshape(2, 50, 2)
        heading = heading[:, :50]
    rng = np.random.default_rng(2)
    turn = rng.normal(size=heading.shape)
    step = length * rng.random(heading.shape)
    place, direction, turned = recorded.turn_and_move(position, heading, turn, step, kind, walls)
    for index in np.ndindex(*heading.shape):
        expected, angle = oracles.bounced(
            position[index], float(heading[index] + turn[index]), float(step[index]), arena, walls
        )
        np.testing.assert_allclose(place[index], expected, atol=1e-9)
        assert gap(direction[index], np.asarray(angle)) < 1e-9
        assert gap(turned[index], direction[index] - heading[index]) < 1e-9
        if arena in ("circle", "polygon"):
            assert oracles.nearest_wall(place[index], arena, walls)[1]


def test_interpolation_in_a_table() -> None:
    table = np.array([-3.0, -1.0, 0.5, 2.0, 7.0])
    scores = np.array([[-9.0, -2.0, -0.3], [0.0, 1.999, 5.0]])
    expected = np.interp(scores, np.linspace(-2, 2, 5), table)
    np.testing.assert_allclose(recorded.interpolate(scores, table, 2.0), expected, atol=1e-12)
