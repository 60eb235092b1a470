"""The mirror of a swarm: what its left and right have in common."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Reward, Vicsek
from swarmdp.irl.updates import Wants
from swarmdp.learning import HeterogeneousLearning
from swarmdp.learning.q_functions import Problem
from swarmdp.model import Mirror
from swarmdp.model.adapted import starting_from, with_features
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import feature_count
from swarmdp.model.testing import ContractViolation, check_system
from swarmdp.policies import InterpolatedPolicy
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import InvalidInput
from tests.results import not_none

VICSEK = Vicsek(n_agents=40)
QUICK = HeterogeneousLearning(steps=30, swarms=2)


def symmetry_of(system: Any) -> Symmetry:
    actual = Symmetry.of(system)
    assert actual is not None
    return actual


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
    lean = np.arange(-2.0, 3.0)
    for system in (
        Sides(swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3))),
        Sides(swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3), additive=True)),
        Leaning(swarmdp.features.Vectors(np.stack([np.ones(5), 1 + lean, lean**2 - lean], axis=1))),
    ):
        symmetry = symmetry_of(system)
        weights = rng.normal(size=(2, swarmdp.features.n_features(system.features)))
        even = Reward(symmetry.even_weights(weights)).of_classes(system)
        plain = Reward(weights).of_classes(system)
        np.testing.assert_allclose(even, (plain + plain[:, symmetry.classes]) / 2, atol=1e-12)
        # Mirrored feature expectations are those of mirrored observations.
        often = rng.dirichlet(np.ones(len(symmetry.classes)))
        phi = np.eye(len(often)) if system.features.matrix is None else system.features.matrix
        expected = (often @ phi + often @ phi[symmetry.classes]) / 2
        np.testing.assert_allclose(symmetry.even(often @ phi), expected, atol=1e-12)


@dataclass(frozen=True)
class Sides:
    """Agents that see an angle and a level; both sides alike."""

    features: Any
    n_agents: int = 4

    actions = np.array([-1.0, 0.0, 1.0])

    def initial(self, rng: swarmdp.model.Stream) -> Any:
        return {"angle": rng.uniform(-np.pi, np.pi), "level": rng.integers(3)}

    def observe(self, state: Any) -> Any:
        return np.stack([state["angle"], state["level"]], axis=2)

    def transition(self, state: Any, actions: Any, rng: swarmdp.model.Stream) -> Any:
        return {"angle": state["angle"] + actions + rng.normal(), "level": state["level"]}

    @property
    def mirror(self) -> Mirror:
        return Mirror(lambda o: o * np.array([-1, 1]), np.negative)


@dataclass(frozen=True)
class Leaning:
    """Agents on a row of places, of which the middle one is in the mirror."""

    features: Any
    n_agents: int = 4

    actions = np.array([-1, 0, 1])

    def initial(self, rng: swarmdp.model.Stream) -> Any:
        return {"place": rng.integers(5)}

    def observe(self, state: Any) -> Any:
        return state["place"]

    def transition(self, state: Any, actions: Any, rng: swarmdp.model.Stream) -> Any:
        return {"place": np.clip(state["place"] + actions, 0, 4)}

    @property
    def mirror(self) -> Mirror:
        return Mirror(lambda place: 4 - place, np.negative)


def waves(angle: Any) -> Any:
    return np.stack([np.cos(angle), 0.5 + np.sin(angle), np.ones_like(angle)], axis=-1)


MISALIGNMENT = swarmdp.features.Axis("misalignment", units="rad", periodic=True)
SMOOTH = with_features(
    VICSEK, swarmdp.features.Basis(waves, ("cos", "sin", "one"), (MISALIGNMENT,), scalar=True)
)


def test_features_without_classes_have_a_mirror_image_too() -> None:
    symmetry = symmetry_of(SMOOTH)
    angles = np.linspace(-3.0, 3.0, 7)
    np.testing.assert_allclose(waves(-angles), waves(angles) @ symmetry.weights, atol=1e-9)
    weights = np.array([0.2, -1.0, 0.4])
    even = waves(angles) @ symmetry.even_weights(weights)
    plain = waves(angles) @ weights
    np.testing.assert_allclose(even, (plain + plain[::-1]) / 2, atol=1e-9)
    other = swarmdp.features.Basis(np.exp, ("one-sided",), (MISALIGNMENT,), scalar=True)
    one_sided = with_features(VICSEK, replace(other, function=lambda o: np.exp(o)[..., None]))
    with pytest.raises(InvalidInput, match="have no mirror image"):
        Symmetry.of(one_sided)


@pytest.mark.parametrize(
    "q_update",
    [swarmdp.learning.LocalModel(), swarmdp.learning.BatchQ(), swarmdp.learning.SequentialQ()],
)
def test_learned_policies_are_exactly_odd(q_update: Any) -> None:
    """Whatever the reward and the way of learning; also interpolated, at every misalignment."""
    learner = HeterogeneousLearning(q_update, steps=30, swarms=2)
    weights = np.random.default_rng(2).normal(size=(3, 36))
    learned = learner(VICSEK, Reward(weights), discount=0.9, seed=1, wants=Wants(mirror=True))
    symmetry = symmetry_of(VICSEK)
    table = table_of(learned.policy)
    np.testing.assert_array_equal(symmetry.actions[table], table[:, symmetry.classes])
    smooth = InterpolatedPolicy.of(VICSEK, not_none(learned.q), table, not_none(learned.seen))
    sides = np.linspace(0.0, 3.1, 50)
    right, left = (
        smooth.act(VICSEK, np.tile(sign * sides, (3, 1)), np.arange(3)) for sign in (1, -1)
    )
    np.testing.assert_allclose(right, -left, atol=1e-12)


@pytest.mark.parametrize("system", [VICSEK, SMOOTH])
def test_approximated_policies_are_exactly_odd(system: Any) -> None:
    """At every observation, also where nobody was, where actions tie, and read from a file."""
    learner = HeterogeneousLearning(swarmdp.learning.LinearQ(features=9), steps=30, swarms=2)
    weights = np.random.default_rng(2).normal(size=(3, feature_count(system)))
    weights[2] = 0.0
    even = symmetry_of(system).even_weights(weights)
    learned = learner(system, Reward(even), discount=0.9, seed=1, wants=Wants(mirror=True)).policy
    assert isinstance(learned, swarmdp.policies.LinearPolicy)
    tied = replace(learned, lead=np.tile(np.eye(13, 9), (3, 1, 1)), factor=learned.factor * 1e3)
    angles = np.concatenate([[0.0, -0.0], np.linspace(-7.0, 7.0, 5001)])
    saved = type(learned).from_arrays(learned.to_arrays())
    somewhere = starting_from(system, system.initial(Streams.of(1, [0], 40).at(0, Purpose.INITIAL)))
    assert Symmetry.of(somewhere) is None
    for policy in (learned, tied, saved):
        for place in (system, somewhere):
            right, left = (
                policy.act(place, np.tile(sign * angles, (3, 1)), np.arange(3)) for sign in (1, -1)
            )
            np.testing.assert_array_equal(right, -left)
            assert (right[:, :2] == 0).all()
    assert (tied.act(system, np.tile(angles, (3, 1)), np.arange(3)) != 0).any()
    np.testing.assert_array_equal(
        saved.act(system, np.tile(angles, (3, 1)), np.arange(3)),
        learned.act(system, np.tile(angles, (3, 1)), np.arange(3)),
    )


def test_each_side_learns_what_the_other_has_seen() -> None:
    """Agents that were only on the right know what to do on the left."""
    alone = Problem(SMOOTH, Reward([1.0, 0.0, 0.0]), 0.9, Wants(mirror=True))
    q = swarmdp.learning.LinearQ(features=9).start(alone)
    rng = np.random.default_rng(1)
    for _ in range(40):
        angle = rng.uniform(0.0, 3.0, (1, 40))
        actions = rng.integers(0, 13, (1, 40))
        after = angle - VICSEK.actions[actions]
        q.learn(q.sees(angle), actions, np.cos(angle), q.sees(after), 0.0)
    left = np.array([[-2.0, -1.5, -1.0]])
    policy = q.policy()
    assert isinstance(policy, swarmdp.policies.LinearPolicy)
    turns = policy.act(SMOOTH, left, np.zeros(1, np.int64))
    np.testing.assert_allclose(turns, np.full((1, 3), VICSEK.actions[0]))
    assert (q.choose(q.sees(left), alone_stream()) == 0).all()
    assert (q.choose(q.sees(-left), alone_stream()) == 12).all()


def alone_stream() -> Any:
    return Streams.of(0, [0], 3).at(0, Purpose.EXPLORATION)


def test_a_fit_without_classes_uses_the_mirror() -> None:
    learner = HeterogeneousLearning(swarmdp.learning.LinearQ(features=9), steps=20, swarms=2)
    demo = swarmdp.rollout(SMOOTH, VICSEK.expert, steps=50, seed=3)
    result = swarmdp.fit(
        SMOOTH, demo, seed=4, iterations=2, learner=learner, first_reward="random", judge=False
    )
    assert result.settings["mirror"]
    symmetry = symmetry_of(SMOOTH)
    weights = result.history.weights
    np.testing.assert_allclose(weights, symmetry.even_weights(weights), atol=1e-12)
    np.testing.assert_allclose(result.expert_mu, symmetry.even(result.expert_mu), atol=1e-12)
    off = swarmdp.fit(
        SMOOTH, demo, seed=4, iterations=1, learner=learner, mirror=False, judge=False
    )
    assert not off.settings["mirror"]
    assert "mirror" not in off.policy.to_arrays()


def test_components_that_change_places_and_mirrors_that_are_not_so_simple() -> None:
    features = swarmdp.Product(side=swarmdp.Angles(6), level=swarmdp.Levels(3))
    np.testing.assert_array_equal(
        symmetry_of(Sides(features)).components, [[-1, 0], [0, 1], [0, 0]]
    )
    np.testing.assert_array_equal(symmetry_of(Leaning(swarmdp.Levels(5))).components, [[-1], [4]])

    @dataclass(frozen=True)
    class Swapped(Sides):
        @property
        def mirror(self) -> Mirror:
            return Mirror(lambda o: o[..., ::-1], np.negative)

    @dataclass(frozen=True)
    class Bent(Leaning):
        @property
        def mirror(self) -> Mirror:
            return Mirror(lambda place: np.array([0, 1, 3, 2, 4])[place], np.negative)

    both = swarmdp.Product(left=swarmdp.Angles(6), right=swarmdp.Angles(6))
    np.testing.assert_array_equal(symmetry_of(Swapped(both)).components, [[0, 1], [1, 0], [0, 0]])
    with pytest.raises(InvalidInput, match="LinearQ can use a mirror that changes the sign"):
        swarmdp.learning.LinearQ().start(
            Problem(Bent(swarmdp.Levels(5)), Reward(np.ones(5)), 0.9, Wants(mirror=True))
        )


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

        def transition(self, state: Any, actions: Any, rng: swarmdp.model.Stream) -> Any:
            return super().transition(state, np.where(actions > 0, 0, actions), rng)

    biased = Biased(n_agents=40, radius=0.4)
    with pytest.raises(ContractViolation, match="mirror: the law of the swarm changes"):
        check_system(biased)
    check_system(SMOOTH)
    with pytest.raises(ContractViolation, match="mirror: the law of the swarm changes"):
        check_system(with_features(biased, SMOOTH.features))

    @dataclass(frozen=True)
    class Missing(Vicsek):
        """A mirror that turns an action into one that is not there."""

        @property
        def mirror(self) -> Mirror:
            return Mirror(np.negative, lambda turn: turn + 1.0)

    with pytest.raises(ContractViolation, match="mirror: .*one that the system does not have"):
        check_system(Missing(n_agents=5))
