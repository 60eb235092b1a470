from typing import Any

import numpy as np
import pytest
import xarray

import swarmdp
from swarmdp import Angles, Levels, Product, Reward
from swarmdp.support.errors import InvalidInput


def test_a_reward_is_linear_in_the_features() -> None:
    ising = swarmdp.Ising((5, 5))
    weights = np.random.default_rng(1).normal(size=(2, 25))
    observations = np.array([[0, 3, 24], [1, 1, 2]], np.uint8)
    actual = Reward(weights).of(ising, observations, np.array([0, 3]))
    np.testing.assert_array_equal(actual, [weights[0, [0, 3, 24]], weights[1, [1, 1, 2]]])


def test_a_reward_can_be_looked_at_as_a_table() -> None:
    table = Reward([[1.0, 2.0, 3.0]]).table()
    assert table.dims == ("experiment", "feature")
    np.testing.assert_array_equal(table["feature"], [0, 1, 2])
    angles = Reward(np.arange(4.0), Angles(4, "misalignment").blocks).table()
    np.testing.assert_allclose(angles["misalignment"], [-180, -90, 0, 90])
    assert angles["misalignment"].attrs["units"] == "degrees"


def test_the_table_of_several_components_has_a_coordinate_for_each() -> None:
    parts: Any = {"misalignment": Angles(4), "neighbours": Levels(3)}
    table = Reward(np.arange(24.0).reshape(2, 12), Product(**parts).blocks).table()
    assert isinstance(table, xarray.DataArray)
    assert table.dims == ("experiment", "misalignment", "neighbours")
    assert float(table.sel(experiment=1, misalignment=-90, neighbours=2)) == 12 + 3 + 2
    additive = Reward(np.arange(14.0).reshape(2, 7), Product(**parts, additive=True).blocks)
    blocks = additive.table()
    assert isinstance(blocks, xarray.Dataset)
    np.testing.assert_array_equal(blocks["reward_misalignment"][0], [0, 1, 2, 3])
    np.testing.assert_array_equal(blocks["reward_neighbours"][1], [11, 12, 13])
    frame = additive.to_dataframe()
    assert list(frame.columns) == ["experiment", "component", "value", "reward"]
    row = frame[(frame.experiment == 1) & (frame.component == "neighbours") & (frame.value == 2)]
    assert row.reward.tolist() == [13.0]
    with pytest.raises(InvalidInput, match="must describe its 5 weights, got blocks of 4 \\+ 3"):
        Reward(np.zeros(5), additive.blocks)


def test_bad_rewards_are_refused() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        Reward([1.0, np.nan])
    with pytest.raises(InvalidInput, match="has 3 weights, but Ising has 25 features"):
        Reward([1.0, 2.0, 3.0]).of(swarmdp.Ising((5, 5)), np.zeros((1, 9), np.uint8), np.array([0]))
