import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Reward
from swarmdp.irl.updates import Wants
from swarmdp.learning import HeterogeneousLearning, LinearQ
from swarmdp.learning.q_functions import Problem
from swarmdp.model.adapted import with_features
from swarmdp.model.harmonics import lowest_orders
from swarmdp.policies import LinearPolicy
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=100)
MISALIGNMENT = swarmdp.features.Axis("misalignment", units="rad", periodic=True)


def waves(angle: NDArray[Any]) -> NDArray[np.float64]:
    return np.stack([np.cos(angle), np.sin(angle), np.cos(2 * angle)], axis=-1)


SMOOTH = with_features(
    VICSEK, swarmdp.features.Basis(waves, ("cos", "sin", "cos 2"), (MISALIGNMENT,), scalar=True)
)
LEARNER = HeterogeneousLearning(LinearQ(features=15), steps=80, swarms=4)


def learned(weights: Any, **changes: Any) -> LinearPolicy:
    options = {"discount": 0.9, "seed": 3, "threads": 1, **changes}
    policy = LEARNER(SMOOTH, Reward(weights), **options).policy
    assert isinstance(policy, LinearPolicy)
    return policy


def test_agents_that_are_paid_for_alignment_align() -> None:
    """Without bins anywhere; a swarm that does nothing stays at an order of about 0.1."""
    policy = learned([1.0, 0.0, 0.0])
    order = swarmdp.rollout(SMOOTH, policy, steps=60, runs=10, seed=1, record=VICSEK.order)
    assert order["order"][:, -1].mean() > 0.85
    angles = np.radians([[-90.0, -30.0, 30.0, 90.0]])
    turns = policy.act(SMOOTH, angles, np.zeros(1, np.int64))
    assert (np.sign(turns) == np.sign(angles)).all()


def test_a_replica_learns_the_same_in_every_batch() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.3, 0.5, -1.0], [-1.0, 0.2, 0.0]])
    batch = learned(weights).to_arrays()
    threaded = learned(weights, threads=2).to_arrays()
    alone = learned(weights[:1]).to_arrays()
    for name, array in batch.items():
        np.testing.assert_array_equal(array, threaded[name])
        np.testing.assert_array_equal(array[:1], alone[name])


def test_in_doubt_agents_do_nothing() -> None:
    """Where nobody was, and where nothing depends on the action."""
    same = learned([0.0, 0.0, 0.0])
    angles = np.linspace(-3, 3, 50)[None]
    assert (same.act(SMOOTH, angles, np.zeros(1, np.int64)) == 0).all()
    policy = learned([1.0, 0.0, 0.0])
    unlearned = LinearPolicy(
        policy.harmonics, policy.lead.copy(), np.eye(policy.lead.shape[2])[None].copy()
    )
    assert (policy.act(SMOOTH, angles, np.zeros(1, np.int64)) != 0).any()
    assert (unlearned.act(SMOOTH, angles, np.zeros(1, np.int64)) == 0).all()


def test_a_fit_without_classes_is_saved_and_loaded(tmp_path: Path) -> None:
    demo = swarmdp.rollout(SMOOTH, VICSEK.expert, steps=50, seed=1)
    result = swarmdp.fit(
        SMOOTH, demo, seed=2, learner=LEARNER, iterations=2, progress=False, judge=False
    )
    result.save(tmp_path / "fit")
    again = swarmdp.load(tmp_path / "fit")
    assert isinstance(again.policy, LinearPolicy)
    for name, array in result.policy.to_arrays().items():
        np.testing.assert_array_equal(array, again.policy.to_arrays()[name])
    one, other = (
        swarmdp.rollout(SMOOTH, fit.policy, steps=5, seed=4, record=VICSEK.order)["order"]
        for fit in (result, again)
    )
    np.testing.assert_array_equal(one, other)


def test_classes_are_no_hindrance() -> None:
    """The reward may be a table over classes; the Q-function sees the angle itself."""
    policy = LEARNER(VICSEK, Reward(np.cos(VICSEK.features.values)), discount=0.9, seed=1).policy
    order = swarmdp.rollout(VICSEK, policy, steps=60, runs=10, seed=1, record=VICSEK.order)
    assert order["order"][:, -1].mean() > 0.85


def test_several_components_on_scales_of_their_own() -> None:
    """The memory is what was promised, and far-away observations do no harm."""
    axes = (MISALIGNMENT, swarmdp.features.Axis("distance"))
    basis = swarmdp.features.Basis(lambda o: o[..., 1:], ("distance",), axes)
    system = with_features(VICSEK, basis)
    problem = Problem(system, Reward([[1.0], [2.0]]), 0.9)
    q = LinearQ().start(problem)
    rng = np.random.default_rng(0)
    first = rng.normal([0.0, 500.0], [1.0, 20.0], (2, 100, 2))
    psi = q.sees(first)
    assert psi.shape == (2, 100, len(LinearQ().orders(system)))
    assert np.isfinite(q.sees(np.array([[[0.0, 1e9]], [[1e4, -1e9]]]))).all()
    spread = psi.reshape(-1, psi.shape[2])[:, 1:].std(axis=0)
    assert spread.min() > 0
    arrays = [a for a in vars(q).values() if isinstance(a, np.ndarray)]
    assert sum(a.nbytes for a in arrays) <= 2 * LinearQ().bytes(system, 10**9, Wants())


@pytest.mark.parametrize("periodic", [(True,), (False,), (True, False), (True, True, False, False)])
def test_orders_are_the_smoothest_and_treat_sine_and_cosine_alike(
    periodic: tuple[bool, ...],
) -> None:
    orders = lowest_orders(periodic, 60)
    assert 30 <= len(orders) <= 60
    assert (orders[0] == 0).all()
    assert len({tuple(row) for row in orders}) == len(orders)
    have = {tuple(row) for row in orders.tolist()}
    for c in np.flatnonzero(periodic):
        for row in orders.tolist():
            if row[c]:
                other = list(row)
                other[c] += 1 if row[c] % 2 else -1
                assert tuple(other) in have


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"forgetting": 0.0}, "forgetting"),
        ({"sweeps": 0}, "sweeps"),
        ({"ridge": 0.0}, "ridge"),
        ({"features": 0}, "features"),
        ({"memory": 5}, "memory"),
        ({"centre": (0.0,)}, "together"),
        ({"centre": (0.0,), "scale": (math.inf,)}, "scale"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LinearQ(**changes)


def test_what_it_cannot_learn_is_refused() -> None:
    reward = Reward([1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="soft policies are learned with"):
        LinearQ().start(Problem(SMOOTH, reward, 0.9, Wants(softness=0.1)))
    with pytest.raises(InvalidInput, match="local kernel"):
        LinearQ().start(Problem(SMOOTH, reward, 0.9, Wants(kernel=True)))
    with pytest.raises(InvalidInput, match="each of the 1 components"):
        LinearQ(centre=(0.0, 0.0), scale=(1.0, 1.0)).start(Problem(SMOOTH, reward, 0.9))
    flat = with_features(VICSEK, swarmdp.features.Basis(waves, ("a", "b", "c"), scalar=True))
    with pytest.raises(InvalidInput, match="same for all agents at the start"):
        LinearQ().start(Problem(flat, reward, 0.9)).sees(np.ones((1, 100)))
    with pytest.raises(InvalidInput, match="finite"):
        LinearQ().start(Problem(SMOOTH, reward, 0.9)).sees(np.full((1, 100), np.nan))
    axes = (MISALIGNMENT, swarmdp.features.Axis("distance"))
    wider = with_features(VICSEK, swarmdp.features.Basis(waves, ("a", "b"), axes))
    policy = learned([1.0, 0.0, 0.0])
    with pytest.raises(InvalidInput, match="1 components .* but Vicsek has 2"):
        policy.check(wider)
