"""The battery's swarms keep the contract, and their scores tell the expert from what it is not."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery import development
from studies.battery.development import Convoy, InformedCase
from swarmdp.judging.baselines import doing_nothing
from swarmdp.model.symmetry import mirror_of
from swarmdp.model.system import System, class_map
from swarmdp.model.testing import check_system
from swarmdp.model.traits import HasExpert, settings_of
from swarmdp.policies import Policy
from swarmdp.support.errors import InvalidInput

CASES = {case.name: case for case in development.cases()}
INFORMED = [case for case in CASES.values() if isinstance(case, InformedCase)]


def expert_of(system: System, observations: NDArray[np.float64]) -> NDArray[np.float64]:
    assert isinstance(system, HasExpert)
    return system.expert(observations)


def random_tables(system: System, seed: int) -> Policy:
    """Another random table for each run that is scored."""
    rng = np.random.default_rng(seed)
    return Policy(rng.integers(len(system.actions), size=(60, class_map(system).size)))


def test_names_are_unique_and_what_cannot_be_learned_has_a_reason() -> None:
    assert len(CASES) == len(development.cases()) == 14
    for case in CASES.values():
        assert case.learnable == (not case.reason)
        assert case.scores
        assert 60 <= case.steps <= 150
        assert 20 <= case.system.n_agents <= 100


@pytest.mark.parametrize("name", CASES)
def test_every_swarm_keeps_the_contract(name: str) -> None:
    case = CASES[name]
    check_system(case.system)
    if isinstance(case, InformedCase):
        check_system(case.informed)


@pytest.mark.parametrize("name", CASES)
def test_only_the_expert_is_right(name: str) -> None:
    case = CASES[name]
    assert isinstance(case.system, HasExpert)
    assert case.is_right(case.system.expert, seed=11)
    assert not case.is_right(doing_nothing(case.system), seed=12)
    assert not case.is_right(random_tables(case.system, seed=13), seed=14)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if mirror_of(case.system)])
def test_experts_act_mirrored_where_there_is_a_mirror(name: str) -> None:
    system = CASES[name].system
    mirror = mirror_of(system)
    assert mirror is not None
    demo = swarmdp.rollout(
        system,
        lambda seen: expert_of(system, seen),
        steps=20,
        runs=2,
        seed=1,
        record="observations",
        progress=False,
    )
    seen = demo["observations"]
    mirrored = expert_of(system, mirror.observation(seen))
    np.testing.assert_allclose(mirrored, mirror.action(expert_of(system, seen)), atol=1e-9)


def test_a_convoy_that_backs_up_is_wrong() -> None:
    case = CASES["convoy"]
    convoy = case.system
    assert isinstance(convoy, Convoy)
    judged = case.judge(lambda seen: -convoy.expert(seen[..., ::-1]), seed=21)
    assert judged["unevenness"]["off"] <= 1
    assert judged["advance"]["off"] > 10


@pytest.mark.parametrize("case", INFORMED, ids=[case.name for case in INFORMED])
def test_demos_of_informed_agents_look_like_those_of_the_others(case: InformedCase) -> None:
    assert not case.learnable
    demo = case.demo(1)
    assert (demo.runs, demo.steps) == (case.runs, case.steps)
    assert dict(demo.settings) == settings_of(case.system)
    assert dataclasses.replace(case.system, informed=True) == case.informed  # type: ignore[type-var]
    swarmdp.fit(case.system, demo, seed=2, iterations=1, judge=False, progress=False)
    with pytest.raises(InvalidInput, match="do not see"):
        expert_of(case.system, np.zeros((1, case.system.n_agents, 2)))


def test_a_demo_is_the_expert_s_and_has_states_only() -> None:
    for case in CASES.values():
        demo = case.demo(3)
        assert "actions" not in demo
        assert "observations" not in demo
        again = case.demo(3)
        assert all(np.array_equal(demo[name], again[name]) for name in demo)
