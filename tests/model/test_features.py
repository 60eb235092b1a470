import math
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Angles, Bins, Levels, Product
from swarmdp.model.features import (
    Axis,
    Basis,
    Classes,
    Smooth,
    Vectors,
    n_features,
)
from swarmdp.model.features.plain import describe_features, features_from
from swarmdp.support.errors import InvalidInput


def test_levels_are_their_own_classes() -> None:
    levels = Levels(5)
    observations = np.array([[0, 4, 2]], np.uint8)
    np.testing.assert_array_equal(levels.index(observations), observations)
    np.testing.assert_array_equal(levels.values, np.arange(5))


@pytest.mark.parametrize("bad", [[[5]], [[-1]], [[0.5]]])
def test_levels_refuse_what_is_out_of_range(bad: list[list[float]]) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 4"):
        Levels(5, name="energy").index(np.array(bad))


def test_one_interval_of_angles_is_centred_on_zero() -> None:
    angles = Angles(36)
    assert angles.values[18] == 0
    assert angles.values[0] == pytest.approx(-math.pi)
    np.testing.assert_array_equal(angles.index(angles.values[None]), [np.arange(36)])
    for size in (1, 2, 5, 13):
        assert 0 in Angles(size).values


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_a_bad_number_of_classes_is_refused(size: int) -> None:
    for kind in (Levels, Angles):
        with pytest.raises(InvalidInput, match="size must be an integer"):
            kind(size)


def test_angles_are_counted_around_the_circle_and_must_be_finite() -> None:
    angles = Angles(36)
    turns = 2 * math.pi * np.arange(-3, 4)
    np.testing.assert_array_equal(angles.index((turns + 0.3)[None]), 20)
    with pytest.raises(InvalidInput, match="finite angles"):
        angles.index(np.array([[np.nan]]))


def test_bins_hold_their_lower_edge() -> None:
    bins = Bins([0.0, 0.5, 2.0, 3.0], "light", "lux")
    seen = np.array([[0.0, 0.49, 0.5, 1.99, 2.0, 3.0]])
    np.testing.assert_array_equal(bins.index(seen), [[0, 0, 1, 1, 2, 2]])
    np.testing.assert_array_equal(bins.values, [0.25, 1.25, 2.5])
    assert bins.axes[0].label == "light / lux"
    with pytest.raises(InvalidInput, match="light must be from 0 to 3, got 3.5: use -inf or inf"):
        bins.index(np.array([[1.0, 3.5]]))
    with pytest.raises(InvalidInput, match="got nan"):
        bins.index(np.array([[np.nan]]))


def test_the_outermost_bins_may_be_open() -> None:
    bins = Bins([-np.inf, 0.0, 1.0, np.inf])
    np.testing.assert_array_equal(bins.index(np.array([-1e300, -0.0, 0.5, 7.0])), [0, 1, 1, 2])
    np.testing.assert_array_equal(bins.values, [-0.5, 0.5, 1.5])
    assert np.isfinite(Bins([-np.inf, 0.0, np.inf]).values).all()
    assert Bins([-np.inf, np.inf]).values == [0.0]


@pytest.mark.parametrize("edges", [[1.0], [1.0, 1.0], [2.0, 1.0], [0.0, np.nan], "ab", [[0, 1]]])
def test_bad_edges_are_refused(edges: Any) -> None:
    with pytest.raises(InvalidInput, match="edges must be at least two numbers"):
        Bins(edges)


def product(additive: bool = False) -> Product:
    return Product(
        misalignment=Angles(4),
        neighbours=Levels(3),
        light=Bins([0.0, 0.5, 1.0], units="lux"),
        additive=additive,
    )


def test_the_classes_of_a_product_are_all_combinations() -> None:
    seen = np.array([[[0.0, 2, 0.7], [math.pi / 2, 0, 0.2]]])
    actual = product().index(seen)
    np.testing.assert_array_equal(actual, [[(2 * 3 + 2) * 2 + 1, (3 * 3 + 0) * 2 + 0]])
    assert product().size == 24
    assert n_features(product()) == 24
    assert [axis.name for axis in product().axes] == ["misalignment", "neighbours", "light"]
    assert product().axes[2].units == "lux"


def test_an_additive_product_has_a_block_for_each_component() -> None:
    features = product(additive=True)
    assert n_features(features) == 4 + 3 + 2
    matrix = features.matrix
    assert matrix is not None
    assert matrix.shape == (24, 9)
    np.testing.assert_array_equal(matrix.sum(axis=1), 3)
    row = matrix[(2 * 3 + 1) * 2 + 1]
    np.testing.assert_array_equal(np.flatnonzero(row), [2, 4 + 1, 4 + 3 + 1])


def test_a_product_says_which_component_is_wrong() -> None:
    with pytest.raises(InvalidInput, match="component 'neighbours' must be whole numbers"):
        product().index(np.array([[[0.0, 0.5, 0.5]]]))
    with pytest.raises(InvalidInput, match="component 'neighbours': observation must be from 0"):
        product().index(np.array([[[0.0, 3.0, 0.5]]]))
    with pytest.raises(InvalidInput, match="component 'light': observation must be from 0 to 1"):
        product().index(np.array([[[0.0, 1.0, 1.5]]]))
    with pytest.raises(InvalidInput, match="at least one named component"):
        Product()
    for wrong in (3, Vectors(np.eye(2)), product()):
        with pytest.raises(InvalidInput, match="must be Angles, Levels or Bins"):
            Product(inner=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("features", [Angles(7), Bins([0.0, 1.0, 1.5, 4.0]), Levels(4)])
def test_between_classes_the_weights_are_those_of_a_line(features: Any) -> None:
    """At the centres all weight is on the class; in between the values are interpolated."""
    index, weight = features.between(features.values)
    np.testing.assert_allclose(weight.sum(axis=-1), 1)
    at_centre = np.zeros((features.size, features.size))
    for row, (places, shares) in enumerate(zip(index, weight, strict=True)):
        np.add.at(at_centre[row], places, shares)
    np.testing.assert_allclose(at_centre, np.eye(features.size), atol=1e-12)
    if isinstance(features, Levels):
        return
    inner = np.linspace(features.values[0], features.values[-1], 50)
    index, weight = features.between(inner)
    np.testing.assert_allclose((features.values[index] * weight).sum(axis=-1), inner, atol=1e-12)


def test_between_combinations_the_weights_are_products() -> None:
    seen = np.array([[0.3, 1.0, 0.4], [-3.1, 2.0, 0.9]])
    index, weight = product().between(seen)
    assert index.shape == (2, 4)
    np.testing.assert_allclose(weight.sum(axis=-1), 1)
    angle, angle_weight = Angles(4).between(seen[:, 0])
    light, light_weight = Bins([0.0, 0.5, 1.0]).between(seen[:, 2])
    for row in range(2):
        for i in range(2):
            for j in range(2):
                place = (angle[row, i] * 3 + int(seen[row, 1])) * 2 + light[row, j]
                actual = weight[row][index[row] == place].sum()
                assert actual == pytest.approx(angle_weight[row, i] * light_weight[row, j])


@pytest.mark.parametrize(
    "features", [Angles(7, "turn"), Levels(4, "energy"), Bins([0.0, 1.0, np.inf]), product(True)]
)
def test_maps_with_classes_survive_a_file(features: Any) -> None:
    again = features_from(describe_features(features))
    assert describe_features(features) == describe_features(again)  # type: ignore[arg-type]
    assert isinstance(again, Classes)
    for one, other in zip(features.axes, again.axes, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert (one.name, one.units, one.periodic) == (other.name, other.units, other.periodic)


def waves(observations: Any) -> Any:
    return np.stack([np.cos(observations), np.cos(2 * observations)], axis=-1)


def test_a_basis_has_no_classes() -> None:
    basis = Basis(waves, ("cos", "cos 2"), (Axis("misalignment", units="rad"),), scalar=True)
    assert isinstance(basis, Smooth)
    assert not isinstance(basis, Classes)
    assert n_features(basis) == 2
    np.testing.assert_array_equal(basis.of(np.zeros((3, 4))), np.ones((3, 4, 2)))
    assert features_from(describe_features(basis)) is None
    with pytest.raises(InvalidInput, match=r"shape \(3, 4, 3\), got \(3, 4, 2\)"):
        Basis(waves, ("a", "b", "c"), scalar=True).of(np.zeros((3, 4)))
    with pytest.raises(InvalidInput, match="must be finite"):
        basis.of(np.full((1, 1), np.nan))
    with pytest.raises(InvalidInput, match="different names"):
        Basis(waves, ("a", "a"))
    with pytest.raises(InvalidInput, match="this needs classes of observations, but Vicsek has"):
        swarmdp.rollout(
            swarmdp.model.with_features(swarmdp.Vicsek(), basis),
            swarmdp.Policy(np.zeros(36, int)),
            steps=1,
            seed=1,
        )


def test_an_axis_is_shown_in_degrees_and_written_in_words() -> None:
    axis = Angles(4, "misalignment").axes[0].shown
    assert axis.units == "degrees"
    np.testing.assert_allclose(axis.values, [-180, -90, 0, 90])
    assert axis.written(3) == "misalignment 90 degrees"
    assert axis.written(1, 3) == "misalignment -90 to 90 degrees"
    assert axis.written(3, 3) == axis.written(3)
    assert Levels(3, "energy").axes[0].written(2) == "energy 2"
    again = Axis.from_json(axis.to_json())
    np.testing.assert_array_equal(axis.values, again.values)
    assert again.periodic
