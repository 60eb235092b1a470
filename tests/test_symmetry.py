"""The mirror of a swarm: what its left and right have in common."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import HeterogeneousLearning, InvalidInput, Mirror, Reward, Vicsek, Wants
from swarmdp.policies import InterpolatedPolicy, table_of
from swarmdp.symmetry import Symmetry
from swarmdp.testing import ContractViolation, check_system
from tests.results import known

VICSEK = Vicsek(n_agents=40)
QUICK = HeterogeneousLearning(iterations=30, swarms=2)


def symmetry_of(system: Any) -> Symmetry:
    found = Symmetry.of(system)
    assert found is not None
    return found


@pytest.mark.parametrize("bins", [1, 2, 5, 36])
def test_the_classes_of_misalignment_change_their_sign(bins: int) -> None:
    system = Vicsek(n_agents=5, n_bins=bins)
    order = symmetry_of(system).classes
    values = system.features.values
    gap = np.abs(np.exp(1j * values[order]) - np.exp(-1j * values))
    assert gap.max() < 1e-12
    turns = symmetry_of(system).actions
    np.testing.assert_allclose(system.actions[turns], -system.actions)


def test_turns_to_one_side_only_have_no_mirror() -> None:
    assert Vicsek(turns=(0.0, 0.2, 0.4)).mirror is None
    assert Symmetry.of(swarmdp.Ising((5, 5))) is None
    system = swarmdp.Ising((8, 8))
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    with pytest.raises(InvalidInput, match="declares no mirror"):
        swarmdp.fit(system, demo, seed=1, mirror=True, judge=False)


def test_even_rewards_of_every_kind_of_features() -> None:
    """Indicators, additive products and feature vectors: R(o) becomes that of the mirrored o."""
    rng = np.random.default_rng(1)
    products = {
        "product": swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3)),
        "additive": swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3), additive=True),
    }
    for features in products.values():
        symmetry = symmetry_of(Sides(features))
        weights = rng.normal(size=(2, swarmdp.features.n_features(features)))
        even = Reward(symmetry.even(weights)).of_classes(Sides(features))
        plain = Reward(weights).of_classes(Sides(features))
        np.testing.assert_allclose(even, (plain + plain[:, symmetry.classes]) / 2, atol=1e-12)


@dataclass(frozen=True)
class Sides:
    """Agents that see an angle and a level; both sides alike."""

    features: Any
    n_agents: int = 4

    actions = np.array([-1.0, 0.0, 1.0])

    def initial(self, rng: swarmdp.Stream) -> Any:
        return {"angle": rng.uniform(-np.pi, np.pi), "level": rng.integers(3)}

    def observe(self, state: Any) -> Any:
        return np.stack([state["angle"], state["level"]], axis=2)

    def transition(self, state: Any, actions: Any, rng: swarmdp.Stream) -> Any:
        return {"angle": state["angle"] + actions + rng.normal(), "level": state["level"]}

    @property
    def mirror(self) -> Mirror:
        return Mirror(lambda o: o * np.array([-1, 1]), np.negative)


@pytest.mark.parametrize(
    "q_update", [swarmdp.LocalModel(), swarmdp.BatchQ(), swarmdp.SequentialQ()]
)
def test_learned_policies_are_exactly_odd(q_update: Any) -> None:
    """Whatever the reward and the way of learning; also interpolated, at every misalignment."""
    learner = HeterogeneousLearning(q_update, iterations=30, swarms=2)
    weights = np.random.default_rng(2).normal(size=(3, 36))
    learned = learner(VICSEK, Reward(weights), discount=0.9, seed=1, wants=Wants(mirror=True))
    symmetry = symmetry_of(VICSEK)
    table = table_of(learned.policy)
    np.testing.assert_array_equal(symmetry.actions[table], table[:, symmetry.classes])
    smooth = InterpolatedPolicy.of(VICSEK, known(learned.q), table, known(learned.seen))
    sides = np.linspace(0.0, 3.1, 50)
    right, left = (
        smooth.act(VICSEK, np.tile(sign * sides, (3, 1)), np.arange(3)) for sign in (1, -1)
    )
    np.testing.assert_allclose(right, -left, atol=1e-12)


def test_a_fit_with_a_mirror_flies_straight_and_has_an_even_reward() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=3)
    result = swarmdp.fit(VICSEK, demo, seed=4, iterations=4, learner=QUICK, judge=False)
    symmetry = symmetry_of(VICSEK)
    weights = result.history.weights
    np.testing.assert_allclose(weights, weights[..., symmetry.classes], atol=1e-12)
    np.testing.assert_allclose(result.expert_mu, result.expert_mu[:, symmetry.classes], atol=1e-12)
    for policy in result.history.policies:
        assert VICSEK.actions[table_of(policy)[0, 18]] == 0.0
    assert result.settings["mirror"]
    other = swarmdp.fit(
        VICSEK, demo, seed=4, iterations=1, learner=QUICK, mirror=False, judge=False
    )
    assert not other.settings["mirror"]
    paper = swarmdp.fit(VICSEK, demo, seed=4, iterations=1, preset="paper", judge=False)
    assert not paper.settings["mirror"]
    assert paper.settings["search"] == "newest"


def test_soft_policies_are_even_too() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=3)
    result = swarmdp.fit(
        VICSEK, demo, seed=4, iterations=2, learner=QUICK, update="maxent", judge=False
    )
    symmetry = symmetry_of(VICSEK)
    chances = result.policy.to_arrays()["probabilities"]
    mirrored = chances[:, symmetry.classes][:, :, symmetry.actions]
    np.testing.assert_allclose(chances, mirrored, atol=1e-12)


def test_check_system_finds_a_mirror_that_is_none() -> None:
    check_system(Vicsek(n_agents=40, radius=0.4))
    check_system(Sides(swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3))))

    @dataclass(frozen=True)
    class Biased(Vicsek):
        """A swarm whose agents cannot turn to the left."""

        def transition(self, state: Any, actions: Any, rng: swarmdp.Stream) -> Any:
            return super().transition(state, np.where(actions > 0, 0, actions), rng)

    with pytest.raises(ContractViolation, match="mirror: the law of the swarm changes"):
        check_system(Biased(n_agents=40, radius=0.4))

    @dataclass(frozen=True)
    class Missing(Vicsek):
        """A mirror that turns an action into one that is not there."""

        @property
        def mirror(self) -> Mirror:
            return Mirror(np.negative, lambda turn: turn + 1.0)

    with pytest.raises(ContractViolation, match="mirror: .*one that the system does not have"):
        check_system(Missing(n_agents=5))
