"""Families of policies: parameters and policies are the same thing, and samplers find optima."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery import development
from swarmdp.learning.families import (
    Adaptation,
    CrossEntropy,
    Interpolated,
    Linear,
    Tables,
    UserFamily,
    family_of,
)
from swarmdp.model.adapted import with_features
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.traits import null_action
from swarmdp.policies import (
    FunctionPolicy,
    InterpolatedPolicy,
    LinearPolicy,
    Parametric,
    ParametricPolicy,
    Policy,
)
from swarmdp.support.errors import InvalidInput

ISING = swarmdp.Ising(shape=(6, 6), reach=1)
VICSEK = swarmdp.Vicsek(n_agents=10)
CASES = {case.name: case.system for case in development.cases()}
MIRRORED: dict[str, Any] = {"vicsek": VICSEK, **{n: CASES[n] for n in ("clocks", "dispersion")}}
GAINS = Parametric(lambda seen, p: p[0] * seen + p[1], {"gain": (0, 1), "offset": (-2, 2)})


def symmetry_of(system: Any) -> Symmetry:
    symmetry = Symmetry.of(system)
    assert symmetry is not None
    return symmetry


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", MIRRORED)
def test_tables_with_a_mirror_are_odd(name: str) -> None:
    system = MIRRORED[name]
    symmetry = symmetry_of(system)
    family = Tables(system, symmetry)
    drawn = family.sampler(None, 50, rng()).draw()
    assert drawn.shape == (50, family.size)
    assert family.size < system.features.size
    tables = family.policies(drawn).table
    np.testing.assert_array_equal(tables[:, symmetry.classes], symmetry.actions[tables])
    for row, table in zip(drawn, tables, strict=True):
        np.testing.assert_array_equal(family.parameters(Policy(table)), row)
    # Every class takes more than one action, unless it is its own image.
    free = symmetry.classes != np.arange(len(symmetry.classes))
    assert (np.ptp(tables, axis=0)[free] > 0).all()


def test_without_an_action_that_is_its_own_image_such_classes_do_nothing() -> None:
    """Colours on either side of a mirror, one of which is the null action."""
    family = Tables(VICSEK, symmetry_of(VICSEK))
    own = family.orbits.images == family.orbits.free
    allowed = family.allowed()
    assert own.any()
    assert (allowed[own].sum(axis=1) == 1).all()
    assert allowed[own][:, null_action(VICSEK)].all()
    assert allowed[~own].all()


def test_tables_without_a_mirror_are_any() -> None:
    family = Tables(ISING, None)
    assert family.size == 9
    drawn = family.sampler(None, 400, rng()).draw()
    # Half of each action: 400 draws scatter by 0.025. The first is the likeliest table.
    np.testing.assert_allclose(drawn[1:].mean(axis=0), 0.5, atol=4 * 0.025)
    np.testing.assert_array_equal(family.policies(drawn).table, drawn)


def test_a_start_is_the_first_candidate_and_others_are_near_it() -> None:
    start = [0, 1, 0, 1, 1, 0, 0, 1, 1]
    drawn = Tables(ISING, None).sampler(Policy(start), 400, rng()).draw()
    np.testing.assert_array_equal(drawn[0], start)
    # 0.7 + 0.3 / 2 by chance.
    assert (drawn[1:] == start).mean() == pytest.approx(0.85, abs=4 * np.sqrt(0.13 / 3600))
    odd = Tables(VICSEK, symmetry_of(VICSEK))
    lopsided = Policy(np.zeros(VICSEK.features.size, np.int64))
    table = odd.policies(odd.sampler(lopsided, 20, rng()).draw()).table
    symmetry = symmetry_of(VICSEK)
    np.testing.assert_array_equal(table[:, symmetry.classes], symmetry.actions[table])


def test_cross_entropy_finds_a_hidden_table() -> None:
    goal = rng(2).integers(3, size=12)
    allowed = np.ones((12, 3), np.bool_)
    allowed[0] = [goal[0] == k for k in range(3)]
    sampler = CrossEntropy(allowed / allowed.sum(axis=1, keepdims=True), allowed, 64, rng(3))
    assert not sampler.settled
    for _ in range(40):
        drawn = sampler.draw()
        assert (drawn[:, 0] == goal[0]).all()
        sampler.follow(np.argsort((drawn != goal).sum(axis=1), kind="stable"))
        np.testing.assert_allclose(sampler.chances.sum(axis=1), 1)
        if sampler.settled:
            break
    assert sampler.settled
    np.testing.assert_array_equal(sampler.draw()[0], goal)
    # No action that is allowed is ever given up.
    assert (sampler.chances[1:] > 0.001).all()
    assert (sampler.chances[0] == allowed[0]).all()


@pytest.mark.parametrize("size", [1, 2, 6])
def test_cma_es_finds_a_hidden_point_within_the_limits(size: int) -> None:
    limits = np.tile([-3.0, 5.0], (size, 1))
    goal = rng(4).uniform(-2.5, 4.5, size)
    state = pickle.dumps(np.random.get_state())  # noqa: NPY002
    sampler = Adaptation(limits, None, 16, rng(5))
    for _ in range(100):
        drawn = sampler.draw()
        assert drawn.shape == (16, size)
        assert ((drawn >= -3) & (drawn <= 5)).all()
        sampler.follow(np.argsort(((drawn - goal) ** 2).sum(axis=1), kind="stable"))
        if sampler.settled:
            break
    np.testing.assert_allclose(drawn.mean(axis=0), goal, atol=8 * 5e-3)
    assert size == 1 or sampler.settled
    # The library's own random numbers are not touched.
    assert pickle.dumps(np.random.get_state()) == state  # noqa: NPY002


def test_cma_es_at_the_edge_of_the_limits() -> None:
    sampler = Adaptation(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0]), 16, rng(6))
    first = sampler.draw()
    assert first[:, 0].mean() < 0.4
    assert first[:, 1].mean() > 0.6
    for _ in range(60):
        drawn = sampler.draw()
        sampler.follow(np.argsort(drawn[:, 0] - drawn[:, 1], kind="stable"))
    assert drawn[:, 0].mean() < 0.02
    assert drawn[:, 1].mean() > 0.98


@pytest.mark.parametrize("mirrored", [False, True])
def test_interpolated_policies_of_parameters(mirrored: bool) -> None:
    symmetry = symmetry_of(VICSEK) if mirrored else None
    family = Interpolated(VICSEK, symmetry)
    drawn = family.sampler(None, 8, rng()).draw()
    policy = family.policies(drawn)
    actions = np.asarray(VICSEK.actions)
    assert ((drawn >= actions.min()) & (drawn <= actions.max())).all()
    if symmetry is None:
        np.testing.assert_array_equal(policy.values, drawn)
    else:
        np.testing.assert_allclose(policy.values[:, symmetry.classes], -policy.values)
    single = InterpolatedPolicy(policy.values[3])
    np.testing.assert_array_equal(family.parameters(single), drawn[3])
    table = Policy(np.zeros(VICSEK.features.size, np.int64))
    np.testing.assert_array_equal(family.parameters(table), actions[0])


def test_linear_policies_of_parameters() -> None:
    waves = swarmdp.features.Basis(
        lambda angle: np.stack([np.cos(angle), np.sin(angle)], axis=-1),
        ("cos", "sin"),
        (swarmdp.features.Axis("misalignment", units="rad", periodic=True),),
        scalar=True,
    )
    smooth = with_features(VICSEK, waves)
    learner = swarmdp.learning.HeterogeneousLearning(
        swarmdp.learning.LinearQ(features=5), steps=5, swarms=1
    )
    start = learner(smooth, swarmdp.Reward([1.0, 0.0]), discount=0.9, seed=1, threads=1).policy
    assert isinstance(start, LinearPolicy)
    family = family_of(smooth, None, start, None)
    assert isinstance(family, Linear)
    assert family.size == start.lead[0].size
    drawn = family.sampler(None, 8, rng()).draw()
    policy = family.policies(drawn)
    assert isinstance(policy, LinearPolicy)
    assert policy.replicas == 8
    np.testing.assert_array_equal(policy.lead.reshape(8, -1), drawn)
    again = family.policies(family.parameters(start)[None])
    for name, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, start.to_arrays()[name])


def test_a_user_s_controllers_of_parameters() -> None:
    family = family_of(VICSEK, None, None, GAINS)
    assert isinstance(family, UserFamily)
    assert family.size == 2
    policy = family.policies(np.array([[0.5, 0.0], [1.0, 1.0]]))
    assert isinstance(policy, ParametricPolicy)
    assert policy.function is GAINS.function
    outside = GAINS.policy([3.0, -9.0])
    np.testing.assert_array_equal(family.parameters(outside), [1, -2])
    # Another kind of policy to start from is no start for these.
    drawn = family.sampler(Policy(np.zeros(36, np.int64)), 8, rng()).draw()
    assert ((drawn >= GAINS.limits[:, 0]) & (drawn <= GAINS.limits[:, 1])).all()


def test_the_family_follows_from_system_and_start() -> None:
    table = Policy(np.zeros(36, np.int64))
    assert isinstance(family_of(VICSEK, None, None, None), Tables)
    assert isinstance(family_of(VICSEK, None, table, None), Tables)
    assert isinstance(family_of(VICSEK, None, InterpolatedPolicy(np.zeros(36)), None), Interpolated)
    assert isinstance(family_of(VICSEK, None, table, GAINS), UserFamily)


def nothing(seen: NDArray[Any]) -> NDArray[Any]:
    return 0 * seen


@pytest.mark.parametrize(
    ("family", "start", "message"),
    [
        (Tables(VICSEK, None), InterpolatedPolicy(np.zeros(36)), "must start from a table"),
        (Tables(VICSEK, None), FunctionPolicy(nothing), "must start from a table"),
        (Interpolated(VICSEK, None), FunctionPolicy(nothing), "start from one or from a table"),
        (UserFamily(GAINS), Policy([0]), "controllers with 2 parameters must start from one"),
    ],
)
def test_a_start_of_another_kind_is_refused(family: Any, start: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        family.parameters(start)


def test_systems_without_such_policies_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Ising|between"):
        Interpolated(ISING, None)
    with pytest.raises(InvalidInput, match="needs its bounds"):
        family_of(VICSEK, None, GAINS.policy([0.5, 0.0]), None)
    waves = swarmdp.features.Basis(
        lambda angle: np.cos(angle)[..., None],
        ("cos",),
        (swarmdp.features.Axis("misalignment", units="rad", periodic=True),),
        scalar=True,
    )
    with pytest.raises(InvalidInput, match="give it a linear policy to start from"):
        family_of(with_features(VICSEK, waves), None, None, None)
