"""Where a reward is high, in words: only what all rewards agree on that do as well."""

import numpy as np
import pytest
from numpy.typing import NDArray

from swarmdp.irl.sought import ABOVE, HIGHEST, agreed, most_sought
from swarmdp.model.features import Axis

ANGLES = Axis("misalignment", np.radians(np.arange(-180, 180, 30.0)), "rad", periodic=True)
STATES = Axis("state", np.array(["home", "mud", "goal", "pit"]))
Floats = NDArray[np.float64]


def weights_at(**degrees: float) -> Floats:
    """Weights of angles, named by their degrees; m means minus."""
    values = np.zeros(12)
    for name, value in degrees.items():
        angle = int(name.replace("m", "-").removeprefix("_"))
        values[(angle + 180) // 30] = value
    return values


def draws(mean: Floats, spread: float) -> Floats:
    return mean + spread * np.random.default_rng(1).normal(size=(400, len(mean)))


def test_a_clear_peak_is_named() -> None:
    weights = weights_at(_0=1.0)
    found = most_sought(weights, draws(weights, 0.05), (ANGLES,))
    assert (found.relation, found.where, found.clear) == (HIGHEST, "misalignment 0 degrees", True)


def test_both_sides_of_a_mirrored_reward_are_named() -> None:
    weights = weights_at(_30=1.0, m30=1.0)
    found = most_sought(weights, draws(weights, 0.05), (ANGLES,))
    assert found.where == "misalignment ±30 degrees"
    wide = weights_at(_30=1.0, m30=1.0, _60=1.0, m60=1.0)
    assert most_sought(wide, None, (ANGLES,)).where == "misalignment ±30 to 60 degrees"


def test_what_cannot_be_told_from_the_best_is_named_too() -> None:
    weights = weights_at(_0=0.98, _30=1.0, m30=1.0)
    found = most_sought(weights, draws(weights, 0.05), (ANGLES,))
    assert found.where == "misalignment -30 to 30 degrees"
    around = weights_at(_150=1.0, m150=1.0, m180=1.0)
    assert most_sought(around, None, (ANGLES,)).where == "misalignment 150 to -150 degrees"


def test_where_most_are_as_high_those_above_the_average_are_named() -> None:
    weights = np.array([0.5] * 7 + [-1.0] * 5)
    weights[3] = 0.55
    found = most_sought(weights, draws(weights, 0.15), (ANGLES,))
    assert found.relation == ABOVE
    assert found.where == "misalignment -180 to 0 degrees"
    assert found.clear


def test_noise_is_not_clear() -> None:
    weights = np.random.default_rng(2).normal(size=12)
    found = most_sought(weights, draws(np.zeros(12), 1.0), (ANGLES,))
    assert not found.clear


def test_scattered_classes_are_counted() -> None:
    weights = np.array([1.0, 0.0, 1.0, 0.0])
    assert most_sought(weights, None, (STATES,)).where == "state home and 1 other"
    both = most_sought(
        np.array([0.0, 1, 0, 1, 0, 0, 0, 1]), None, (STATES, Axis("b", np.arange(2)))
    )
    assert both.where == "state home, b 1 and 2 others"


@pytest.mark.parametrize("spread", [0.01, 10.0])
def test_weights_on_which_all_agree(spread: float) -> None:
    weights = np.array([[1.0, -1.0, 0.0]])
    flags = agreed(weights, draws(weights[0], spread)[:, None])
    assert flags.tolist() == [[spread < 1, spread < 1, False]]
