"""Actions with several components, through the whole house: robots with two wheels."""

import ctypes
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import swarmdp
from swarmdp import kernels
from swarmdp.irl.pairs import nearest_actions
from swarmdp.learning.equilibrium import equilibrium_gap
from swarmdp.model.actions import action_axes
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.testing import ContractViolation, check_system
from swarmdp.model.traits import null_action
from swarmdp.policies import Interface, ParametricPolicy, SoftPolicy, load_controller
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput
from tests.policies.compiled import build
from tests.wheels import Wheels

ROBOTS = Wheels()
EXPERT = swarmdp.Policy(
    [
        [
            15 if abs(light) < 0.1 else 13 if light < 0 else 7
            for light in ROBOTS.features.axes[0].values
            for _ in range(2)
        ]
    ],
    Interface.of(ROBOTS),
)


@pytest.fixture(scope="module")
def demo() -> Any:
    return swarmdp.rollout(ROBOTS, ROBOTS.expert, steps=60, runs=2, seed=1)


@pytest.fixture(scope="module")
def result(demo: swarmdp.Trajectory) -> Any:
    return swarmdp.fit(ROBOTS, demo, seed=2)


def test_the_contract_is_kept_and_names_what_is_broken() -> None:
    check_system(ROBOTS)
    assert [axis.label for axis in action_axes(ROBOTS)] == ["left wheel / m/s", "right wheel / m/s"]

    @dataclass(frozen=True)
    class Unnamed(Wheels):
        action_names: ClassVar[Any] = ("left wheel",)

    with pytest.raises(ContractViolation, match="2 components need as many names"):
        check_system(Unnamed())


def test_nothing_is_done_where_all_components_are_zero() -> None:
    assert ROBOTS.actions[null_action(ROBOTS)].tolist() == [0.0, 0.0]


def test_the_mirror_exchanges_the_wheels() -> None:
    symmetry = Symmetry.of(ROBOTS)
    assert symmetry is not None
    turned = symmetry.actions
    np.testing.assert_array_equal(ROBOTS.actions[turned], ROBOTS.actions[:, ::-1])


def test_a_table_of_vectors_is_looked_up_as_one_of_numbers() -> None:
    table, rng = np.arange(24.0).reshape(2, 4, 3), np.random.default_rng(1)
    index, rows = rng.integers(4, size=(5, 6)), np.array([0, 1, 1, 0, 1])
    for column in range(3):
        one = kernels.tables.look_up(index, np.ascontiguousarray(table[..., column]), rows)
        np.testing.assert_array_equal(kernels.tables.look_up(index, table, rows)[..., column], one)


def test_the_nearest_action_is_near_in_all_components() -> None:
    physical = np.array([[0.9, 0.1], [-0.4, 0.6], [0.2, 2.0]])
    gaps = ((physical[:, None] - ROBOTS.actions) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest_actions(ROBOTS, physical), gaps.argmin(axis=1))


def test_the_default_fit_finds_the_expert(demo: swarmdp.Trajectory, result: swarmdp.Result) -> None:
    assert not result.verdicts[0].alarm
    seen = swarmdp.rollout(ROBOTS, result.policy, steps=5, seed=9, record="actions")
    assert seen["actions"].shape == (1, 5, 20, 2)
    assert seen.variables["actions"].units == "m/s, m/s"
    visited = table_of(result.policy)[0]
    assert (visited == EXPERT.table[0]).mean() > 0.8


def test_actions_are_recorded_saved_and_used(demo: swarmdp.Trajectory, tmp_path: Path) -> None:
    acted = swarmdp.rollout(ROBOTS, ROBOTS.expert, steps=60, runs=2, seed=1, record="actions")
    both = replace(demo, variables={**demo.variables, **acted.variables})
    both.save(tmp_path / "demo.nc")
    again = swarmdp.load(tmp_path / "demo.nc")
    np.testing.assert_array_equal(again["actions"], acted["actions"])
    clone = swarmdp.irl.clone(ROBOTS, again)
    assert (clone.table[0] == EXPERT.table[0]).mean() > 0.8


@pytest.mark.parametrize("learner", [None, swarmdp.learning.HeterogeneousLearning(steps=50)])
def test_learners_take_them(learner: Any) -> None:
    reward = swarmdp.Reward(np.eye(18)[9])
    learned = (learner or swarmdp.learning.PolicySearch(candidates=16, budget=64, restarts=1))(
        ROBOTS, reward, discount=0.9, seed=1
    )
    assert table_of(learned.policy).shape == (1, 18)
    gap = equilibrium_gap(ROBOTS, learned.policy, reward, discount=0.9, seed=2, runs=4)
    assert np.isfinite(gap.gain).all()


def test_soft_and_parametric_policies_act_in_components() -> None:
    soft = SoftPolicy(np.full((1, 18, 16), 1 / 16))
    seen = swarmdp.rollout(ROBOTS, soft, steps=3, seed=1, record="actions")["actions"]
    assert set(map(tuple, seen.reshape(-1, 2).tolist())) <= set(map(tuple, ROBOTS.actions.tolist()))

    def drive(observations: Any, gains: Any) -> Any:
        turn = gains[0] * np.sin(observations[..., 0])
        return np.stack([0.5 - turn, 0.5 + turn], axis=-1)

    driven = swarmdp.rollout(ROBOTS, ParametricPolicy([[0.3]], drive), steps=3, seed=1)
    assert driven.steps == 3
    flat = ParametricPolicy([[0.3]], lambda seen, gains: gains[0] * seen[..., 0])
    with pytest.raises(InvalidInput, match=r"shape \(1, 20, 2\)"):
        swarmdp.rollout(ROBOTS, flat, steps=3, seed=1)


def test_interpolation_between_vectors_is_refused(demo: swarmdp.Trajectory) -> None:
    with pytest.raises(InvalidInput, match="of one component"):
        swarmdp.fit(ROBOTS, demo, seed=1, interpolate=True)


def test_a_fit_is_saved_and_shown(result: swarmdp.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "fit")
    policy = swarmdp.load(tmp_path / "fit").policy
    assert [axis.name for axis in policy.interface.action_axes] == ["left wheel", "right wheel"]
    frame = policy.to_dataframe()
    assert {"left wheel", "right wheel"} <= set(frame.columns)
    assert "left wheel -0.5 to 1 m/s" in repr(policy)
    assert "left wheel / m/s" in policy._repr_html_()


@pytest.mark.parametrize("soft", [False, True])
def test_exported_controllers_do_the_same(soft: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    policy: Any = SoftPolicy(rng.dirichlet(np.ones(16), size=(1, 18))) if soft else EXPERT
    seen = np.stack([rng.uniform(-9, 9, 40), rng.uniform(0, 1, 40)], axis=1)
    policy.export(tmp_path / "robot.json", system=ROBOTS)
    again: Any = load_controller(tmp_path / "robot.json")
    np.testing.assert_array_equal(again(seen), replace_interface(policy)(seen))
    assert again.interface.action_units == ("m/s", "m/s")
    policy.export(tmp_path / "robot.csv", system=ROBOTS)
    assert "left wheel [m/s],right wheel [m/s]" in (tmp_path / "robot.csv").read_text()
    policy.export(tmp_path / "robot.h", system=ROBOTS)
    chance = rng.uniform(size=40)
    (tmp_path / "robot.c").write_text(
        '#include "robot.h"\n'
        "void act(double light, double near, double uniform, double *out);\n"
        "void act(double light, double near, double uniform, double *out)\n{\n"
        f"    (void)uniform;\n    swarmdp_action(light, near{', uniform' * soft}, out);\n}}\n"
    )
    build("-shared", "-fPIC", str(tmp_path / "robot.c"), "-o", str(tmp_path / "robot.so"), "-lm")
    act = ctypes.CDLL(str(tmp_path / "robot.so")).act
    act.argtypes = [ctypes.c_double] * 3 + [ctypes.c_void_p]
    out, rows = np.empty((40, 2)), ROBOTS.features.index(seen)
    for i in range(40):
        act(*seen[i], chance[i], out[i].ctypes.data)
    if soft:
        sums = policy.probabilities[0][rows].cumsum(axis=1)
        expected = (sums <= chance[:, None]).sum(axis=1)
    else:
        expected = policy.table[0][rows]
    np.testing.assert_array_equal(out, ROBOTS.actions[expected])


def replace_interface(policy: Any) -> Any:
    """The policy with the interface of the robots."""
    return type(policy).from_arrays(policy.to_arrays(), Interface.of(ROBOTS))


def test_it_is_an_environment_with_a_picture() -> None:
    pytest.importorskip("pettingzoo")
    env = swarmdp.envs.parallel_env(ROBOTS, render_mode="rgb_array")
    env.reset(seed=1)
    env.step(dict.fromkeys(env.agents, 3))
    image = env.render()
    assert image is not None
    assert image.shape[2] == 3
