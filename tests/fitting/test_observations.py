"""Fits of swarms that observe several things, and of rewards that are not over classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Angles, Levels, Product, Result, Reward
from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.updates import Bayesian
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.learning import HeterogeneousLearning, Learned
from swarmdp.model.features import Axis, Basis
from swarmdp.model.system import System
from swarmdp.model.testing import check_system
from swarmdp.policies import InterpolatedPolicy, SoftPolicy, replicas
from swarmdp.support.errors import InvalidInput
from tests.results import MAY_BE_CONSTANT, assert_same

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Walkers:
    """Agents on a ring of 24 cells that see where they are and how many others are near."""

    additive: bool = False
    n_agents: int = 20
    actions: ClassVar[Floats] = np.array([-1.0, 0.0, 1.0])

    @property
    def features(self) -> Product:
        return Product(place=Angles(6), neighbours=Levels(3), additive=self.additive)

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, NDArray[Any]]:
        return {"cell": rng.integers(24)}

    def observe(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        cell = state["cell"]
        ahead = (cell[:, :, None] - cell[:, None, :]) % 24
        near = (np.minimum(ahead, 24 - ahead) <= 1).sum(axis=2) - 1
        return np.stack([cell * (2 * np.pi / 24) - np.pi, np.minimum(near, 2)], axis=-1)

    def transition(
        self, state: Mapping[str, NDArray[Any]], actions: Floats, rng: swarmdp.model.Stream
    ) -> dict[str, NDArray[Any]]:
        slips = rng.uniform() < 0.2
        return {"cell": (state["cell"] + np.where(slips, 0, np.rint(actions)).astype(int)) % 24}

    def expert(self, observations: Floats) -> Floats:
        """Walks to the front; where two others are it stays."""
        place, near = observations[..., 0], observations[..., 1]
        return np.where(near == 2, 0.0, -np.sign(np.rint(place)))


SYSTEMS = {"all combinations": Walkers(), "additive": Walkers(additive=True)}
QUICK = HeterogeneousLearning(steps=15, swarms=2)


def demo_of(system: Any, runs: int = 2) -> swarmdp.Trajectory:
    return swarmdp.rollout(
        system, system.expert, steps=50, runs=runs, seed=1, record=["states", "actions"]
    )


def fitted(system: Any, demo: Any, **change: Any) -> Result:
    settings: dict[str, Any] = {"seed": 2, "separate": True, "iterations": 3, "learner": QUICK}
    settings["evaluations"] = 4
    return swarmdp.fit(system, demo, **{**settings, **change}, judge=False)


def test_the_walkers_are_a_swarm() -> None:
    for system in SYSTEMS.values():
        check_system(system)


@MAY_BE_CONSTANT
@pytest.mark.filterwarnings("ignore:the chains of:swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.filterwarnings("ignore:no reward separates:swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.filterwarnings("ignore:policy matching:swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize(
    ("kind", "update"),
    [
        *(("additive", update) for update in UPDATES),
        *(("all combinations", update) for update in ("max_margin", "maxent", "bayesian")),
    ],
)
def test_every_update_works_with_products(kind: str, update: str, tmp_path: Path) -> None:
    """A fit, saved and loaded, gone on with, and its first experiment alone: the same bits."""
    system, demo = SYSTEMS[kind], demo_of(SYSTEMS[kind])
    chosen = Bayesian(chains=2, draws=60, warm_up=40) if update == "bayesian" else update
    result = fitted(system, demo, update=chosen)
    size = 9 if system.additive else 18
    assert result.reward.weights.shape == (2, size)
    assert np.isfinite(result.history.weights).all()
    assert result.seen is not None
    assert result.seen.shape == (2, 18)
    assert isinstance(result.policy, SoftPolicy) == (update == "maxent")
    swarmdp.rollout(system, result.policy, steps=3, runs=4, seed=3)

    fitted(system, demo, update=chosen, iterations=1).save(tmp_path)
    again = swarmdp.load(tmp_path)
    longer = fitted(system, demo, update=chosen, resume=again)
    assert_same(longer, result)
    assert repr(longer) == repr(result)
    longer.save(tmp_path)
    loaded = swarmdp.load(tmp_path)
    assert_same(loaded, result)
    assert repr(loaded) == repr(result)
    alone = fitted(system, demo_of(system, runs=1), update=chosen)
    count = len(alone.iterations)
    first = replace(result, iterations=result.iterations[:count])
    assert_same(first, alone, slice(0, 1))


@pytest.mark.parametrize("kind", SYSTEMS)
def test_the_components_keep_their_names_values_and_units(kind: str, tmp_path: Path) -> None:
    system = SYSTEMS[kind]
    result = fitted(system, demo_of(system))
    result.save(tmp_path)
    degrees = np.arange(-180, 180, 60)
    for one in (result, swarmdp.load(tmp_path)):
        table = one.reward.table()
        np.testing.assert_allclose(table["place"], degrees, atol=1e-9)
        assert table["place"].attrs["units"] == "degrees"
        np.testing.assert_array_equal(table["neighbours"], [0, 1, 2])
        weights = one.reward.weights
        if system.additive:
            np.testing.assert_array_equal(table["reward_place"], weights[:, :6])
            np.testing.assert_array_equal(table["reward_neighbours"], weights[:, 6:])
        else:
            assert table.dims == ("experiment", "place", "neighbours")
            np.testing.assert_array_equal(table, weights.reshape(2, 6, 3))
        assert "place" in one.highest
        assert "degrees, neighbours" in one.highest


def test_an_additive_reward_is_the_sum_of_its_blocks() -> None:
    """Also its feature expectations: each component's own marginal."""
    joint, additive = SYSTEMS["all combinations"], SYSTEMS["additive"]
    demo = demo_of(joint)
    whole = feature_expectations(joint, demo).reshape(2, 6, 3)
    settings = {**demo.settings, "additive": True}
    same = swarmdp.Trajectory(**{**vars(demo), "settings": settings})
    parts = feature_expectations(additive, same)
    np.testing.assert_allclose(parts[:, :6], whole.sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(parts[:, 6:], whole.sum(axis=1), rtol=1e-12)
    weights = np.random.default_rng(3).normal(size=9)
    seen = np.array([[[0.0, 2.0], [-np.pi, 0.0], [np.pi / 3, 1.0]]])
    actual = Reward(weights).of(additive, seen, np.zeros(1, np.int64))
    np.testing.assert_allclose(actual[0], weights[[3, 0, 4]] + weights[[8, 6, 7]])


@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_clone_does_what_the_expert_did_in_each_combination(kind: str) -> None:
    system = SYSTEMS[kind]
    demo = demo_of(system, runs=20)
    seen = swarmdp.rollout(
        system, system.expert, steps=50, runs=20, seed=1, record=["observations", "actions"]
    )
    policy = swarmdp.irl.clone(system, demo)
    assert policy.probabilities.shape == (1, 18, 3)
    crowded = policy.probabilities[0].reshape(6, 3, 3)[:, 2]
    np.testing.assert_array_equal(crowded, np.tile([0.0, 1.0, 0.0], (6, 1)))
    index = system.features.index(seen["observations"][:, :-1])
    for o in range(18):
        taken = seen["actions"][index == o]
        expected = [(taken == action).mean() for action in system.actions]
        np.testing.assert_allclose(policy.probabilities[0, o], expected, atol=1e-12)
    swarmdp.rollout(system, policy, steps=3, seed=2)


def test_a_policy_over_a_product_is_continuous_in_its_angle() -> None:
    """Between levels there is nothing; along the angle it is a line between the classes."""
    system = SYSTEMS["all combinations"]
    policy = fitted(system, demo_of(system), interpolate=True).policy
    assert isinstance(policy, InterpolatedPolicy)
    angles = np.linspace(-np.pi, np.pi, 6 * 101 + 1)
    values = policy.values.reshape(2, 6, 3)
    for level in range(3):
        seen = np.stack([angles, np.full_like(angles, level)], axis=-1)
        actual = policy.act(system, np.stack([seen] * 2), np.arange(2))
        for row, row_values in zip(actual, values[:, :, level], strict=True):
            steepest = np.abs(np.diff(row_values, append=row_values[0])).max() / 101
            assert np.abs(np.diff(row)).max() <= steepest * (1 + 1e-9) + 1e-15
            np.testing.assert_allclose(row[:-1:101], row_values, atol=1e-12)


VICSEK = swarmdp.Vicsek(n_agents=30)
MISALIGNMENT = Axis("misalignment", units="rad", periodic=True)


def waves(misalignment: Floats) -> Floats:
    """Two features of an angle."""
    return np.stack([np.cos(misalignment), np.abs(np.sin(misalignment))], axis=-1)


SMOOTH = swarmdp.model.with_features(
    VICSEK, Basis(waves, ("aligned", "across"), (MISALIGNMENT,), scalar=True)
)


@dataclass(frozen=True, eq=False)
class Turning:
    """A policy without classes: turn by a share of the misalignment, as far as turns go."""

    share: Floats  # (R,)
    interface: Any = None

    kind: ClassVar[str] = "turning"

    @property
    def replicas(self) -> int:
        return len(self.share)

    def check(self, system: System) -> None:
        pass

    def for_runs(self, runs: NDArray[np.int64], streams: Any) -> tuple[Self, NDArray[np.int64]]:
        return self, runs

    def act(self, system: System, observations: Floats, runs: Any, rng: Any = None) -> Floats:
        turn = self.share[runs % self.replicas][:, None] * observations
        possible: Floats = np.clip(turn, system.actions[0], system.actions[-1])
        return possible

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"share": self.share}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], interface: Any = None) -> Self:
        return cls(arrays["share"], interface)


def turning(system: System, reward: Reward, **wishes: Any) -> Learned:
    """Turn with the neighbours where the reward likes alignment, else away from them."""
    sign = np.sign(VICSEK.expert(np.ones(1))[0])
    likes = reward.weights @ np.array([1.0, -1.0])
    return Learned(Turning(sign * np.where(likes > 0, 1.0, -0.5)))


def test_feature_expectations_and_rewards_of_a_basis() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=3, seed=1)
    seen = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=3, seed=1, record="observations")
    features = waves(seen["observations"])  # (runs, times, agents, 2)
    weight = 0.9 ** np.arange(51)
    expected = np.einsum("t,rtnd->rd", weight, features) / 30
    np.testing.assert_allclose(feature_expectations(SMOOTH, demo), expected, rtol=1e-12)
    single = feature_expectations(SMOOTH, demo, estimator="single", agent=4)
    np.testing.assert_allclose(
        single, np.einsum("t,rtd->rd", weight, features[:, :, 4]), rtol=1e-12
    )
    reward = Reward([[2.0, -1.0], [0.5, 3.0], [0.0, 1.0]])
    actual = reward.of(SMOOTH, seen["observations"][:, 7], np.arange(3))
    np.testing.assert_allclose(
        actual, np.einsum("rnd,rd->rn", features[:, 7], reward.weights), rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("update", ["max_margin", "projection", "ng_russell", "mwal"])
def test_a_reward_over_a_basis_is_learned(
    update: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a learner and a policy that need no classes; its files keep the features' names."""
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1)
    result = fitted(SMOOTH, demo, update=update, learner=turning)
    assert result.reward.weights.shape == (2, 2)
    assert result.seen is None
    assert (result.policy.to_arrays()["share"] == np.sign(VICSEK.expert(np.ones(1)))).all()
    table = result.reward.table()
    assert table["feature"].values.tolist() == ["aligned", "across"]
    assert "feature aligned" in repr(result)
    alone = fitted(
        SMOOTH,
        swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=1, seed=1),
        update=update,
        learner=turning,
    )
    count = len(alone.iterations)
    first = replace(result, iterations=result.iterations[:count])
    assert_same(first, alone, slice(0, 1))
    monkeypatch.setitem(replicas.POLICY_KINDS, "turning", Turning)
    result.save(tmp_path)
    loaded = swarmdp.load(tmp_path)
    assert_same(loaded, result)
    assert repr(loaded) == repr(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "this needs classes of observations, but Vicsek has Basis features"),
        (
            {"preset": "paper", "learner": None, "evaluations": None},
            "this needs classes of observations",
        ),
        ({"update": "policy_matching"}, "this needs classes of observations"),
        ({"interpolate": True}, "this needs classes of observations"),
    ],
)
def test_what_needs_classes_says_so_before_any_work(change: Any, message: str) -> None:
    demo = demo_of(VICSEK)
    seen: list[Any] = []
    with pytest.raises(InvalidInput, match=message):
        fitted(SMOOTH, demo, watch_learning=seen.append, **change)
    assert not seen
    with pytest.raises(InvalidInput, match=message.split(", but")[0]):
        swarmdp.irl.clone(SMOOTH, demo)
