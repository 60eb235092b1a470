import math

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.kernels.numerics import fixed_point
from swarmdp.kernels.space import candidates, kinds, layout, neighbours, sorting
from tests import oracles

Floats = NDArray[np.float64]
BOX = np.array([[1.0, -2.0], [4.0, 3.0]])  # corner and sides
OPEN = np.zeros((1, 2))


def neighbour_sums(
    position: Floats, heading: Floats, nearest: int, radius: float, periodic: bool
) -> tuple[Floats, Floats]:
    """Sums over neighbours (agents, 4) and the least squared distance, in the agents' order."""
    agents = len(heading)
    kind, walls = (kinds.PERIODIC, BOX) if periodic else (0, OPEN)
    now, sums = layout.new_agents_by_cell(agents), layout.new_neighbour_sums(agents)
    x, y = position.T.copy()
    ids = np.arange(agents, dtype=np.int32)
    settings = (nearest, radius, kind, walls)
    grid, inside = sorting.sort_by_cell(x, y, heading, ids, agents, *settings, now)
    buffers = layout.new_candidate_buffers(agents)
    neighbours.add_up_neighbours(*settings, grid, inside, agents, now, sums, buffers)
    order = np.argsort(now.id[:agents])
    return np.stack(sums[:4], axis=-1)[order], sums.closest[order]


def places(kind: str, agents: int) -> Floats:
    rng = np.random.default_rng(agents)
    even: Floats = BOX[0] + rng.random((agents, 2)) * BOX[1]
    made: dict[str, Floats] = {
        "even": even,
        "grid": BOX[0] + rng.integers(0, 12, (agents, 2)) * 0.25,  # many are equally near
        "cluster": np.clip(  # most in one cell
            BOX.mean(axis=0) + 0.05 * rng.standard_t(2, (agents, 2)), *BOX.cumsum(0)
        ),
        "outside": even + rng.integers(-3, 4, (agents, 2)) * BOX[1] / 2,
        "point": np.full((agents, 2), 1.5),
    }
    return made[kind]


@pytest.mark.parametrize("kind", ["even", "grid", "cluster", "outside", "point"])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("agents", [1, 7, 40, 150])  # few without cells, many with them
def test_sums_over_neighbours_to_the_bit(kind: str, periodic: bool, agents: int) -> None:
    position = places(kind, agents)
    heading = np.random.default_rng(1).choice(np.arange(-2, 2) * (math.pi / 2), agents)
    sides = BOX[1] if periodic else None
    for nearest, radius in ((1, 0.0), (7, 0.0), (60, 0.0), (0, 0.3), (0, 9.0)):
        sums, closest = neighbour_sums(position, heading, nearest, radius, periodic)
        expected, least = oracles.neighbour_sums(position, heading, nearest, radius, sides)
        # The sine of pi is not zero, but far below the unit of fixed point.
        np.testing.assert_array_equal(sums, expected)
        np.testing.assert_array_equal(closest, least)


def test_gaps_are_folded_where_they_would_be_divided() -> None:
    for side in (1.0, 0.1, 3.0, 1e9 / 7, 2 / 3):
        above, below = candidates.half_way(side)
        near = [side / 2]
        for _ in range(6):
            near = [np.nextafter(near[0], 0), *near, np.nextafter(near[-1], np.inf)]
        tried = np.concatenate([near, np.linspace(0, 1.4 * side, 57)])
        for gap in np.concatenate([tried, -tried]):
            expected = gap - side * math.floor(gap / side + 0.5)
            assert candidates.fold_gap(gap, side, above, below) == expected


def test_whole_numbers_are_those_of_a_cast() -> None:
    rng = np.random.default_rng(2)
    numbers = rng.uniform(-1, 1, 200) * 2.0 ** rng.integers(-3, 41, 200)
    for number in [0.0, -0.0, 2.0**40, -(2.0**40), 0.9999999, -0.9999999, *numbers]:
        assert fixed_point.whole_number(number) == int(number)
