"""Zonal controllers against their twin in NumPy."""

import numpy as np
import pytest

from swarmdp import kernels
from tests import oracles

MODELS = np.array(
    [
        [2.0, 6.0, 0.0, 2.0, 12.0, 0.0, 0.4, 0.3, 0.2, 0.1, 0.5, 3.0, 0.0],
        [1.0, 0.0, 5.0, 0.0, 0.0, 9.0, 0.4, 0.3, 0.2, -0.1, 0.5, 1.0, 0.0],
        [2.0, 6.0, 0.0, 0.0, 12.0, 0.0, 0.4, 0.3, 0.3, 0.0, 0.8, 5.0, 1.0],
    ]
)
ARENAS = {
    "open": (kernels.space.OPEN, np.zeros((1, 2))),
    "circle": (kernels.space.CIRCLE, np.array([[0.0, 0.0], [9.0, 0.0]])),
    "polygon": (
        kernels.space.POLYGON,
        np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]]),
    ),
    "periodic": (kernels.space.PERIODIC, np.array([[-10.0, -10.0], [20.0, 20.0]])),
}


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("spread", [1.0, 9.5])
def test_turns_are_those_of_the_twin(arena: str, spread: float) -> None:
    rng = np.random.default_rng(1)
    position = rng.uniform(-spread, spread, (3, 25, 2))
    heading, turn = rng.uniform(-np.pi, np.pi, (2, 3, 25))
    kind, walls = ARENAS[arena]
    actual = kernels.recorded.zonal_turns(position, heading, turn, MODELS, kind, walls)
    for r, model in enumerate(MODELS):
        expected = oracles.zonal_turns(position[r], heading[r], turn[r], model, arena, walls)
        np.testing.assert_allclose(actual[r], expected, atol=1e-9)


def test_the_order_of_agents_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    position, heading = rng.uniform(-8, 8, (3, 25, 2)), rng.uniform(-3, 3, (3, 25))
    turn, order = np.zeros((3, 25)), rng.permutation(25)
    kind, walls = ARENAS["circle"]
    one = kernels.recorded.zonal_turns(position, heading, turn, MODELS, kind, walls)
    other = kernels.recorded.zonal_turns(
        position[:, order].copy(), heading[:, order].copy(), turn, MODELS, kind, walls
    )
    np.testing.assert_array_equal(one[:, order], other)
