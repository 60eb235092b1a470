import numpy as np
import pytest

from swarmdp.kernels import recorded
from tests import oracles
from tests.kernels.test_recorded import ARENAS, gap, states

MODELS = np.array([[0.3, 1.0, 2.0], [0.0, 0.0, 5.0], [0.6, 0.6, 0.6], [0.1, 3.0, 0.0]])
WALLS = np.array([[0.5, 2.0], [0.0, 1.0], [1.5, 0.3], [0.2, 0.0]])


@pytest.mark.parametrize("arena", ARENAS)
def test_wanted_turns(arena: str) -> None:
    position, heading = states(len(MODELS), 25)  # some are outside of the circle and the polygon
    kind, walls = ARENAS[arena]
    actual = recorded.zone_turns(position, heading, MODELS, WALLS, kind, walls)
    for r, model in enumerate(MODELS):
        numbers = np.concatenate([model, WALLS[r]])
        if not WALLS[r, 0]:
            numbers[4] = 0.0  # a wall that is not seen does not push anybody back
        expected = oracles.zone_turns(position[r], heading[r], numbers, arena, walls)
        assert gap(actual[r], expected) < 1e-9


def test_the_order_of_agents_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    position, heading = states(len(MODELS), 30, seed=2)
    order = rng.permutation(30)
    arena = ARENAS["circle"]
    actual = recorded.zone_turns(position, heading, MODELS, WALLS, *arena)
    other = recorded.zone_turns(
        np.ascontiguousarray(position[:, order]), heading[:, order].copy(), MODELS, WALLS, *arena
    )
    assert np.array_equal(actual[:, order], other)


def test_who_is_alone_goes_on() -> None:
    position, heading = states(1, 1)
    alone = recorded.zone_turns(position, heading, MODELS[:1], WALLS[:1], *ARENAS["open"])
    assert abs(alone).max() < 1e-12
