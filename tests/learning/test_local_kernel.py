import numpy as np
import pytest

import swarmdp
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.model.system import class_map
from swarmdp.policies import SoftPolicy
from swarmdp.simulation.rollout import rollout
from swarmdp.support.errors import InvalidInput

VICSEK = swarmdp.Vicsek(n_agents=50)


def uniform(system: swarmdp.System, replicas: int = 1) -> SoftPolicy:
    shape = (replicas, class_map(system).size, len(system.actions))
    return SoftPolicy(np.full(shape, 1 / shape[2]))


def test_it_counts_what_follows_what() -> None:
    """A fully exploring swarm is a roll-out of the uniform policy, with the same numbers."""
    seen = rollout(
        VICSEK, uniform(VICSEK), steps=9, runs=4, seed=3, record=["observations", "actions"]
    )
    index = VICSEK.features.index(seen["observations"])
    action = np.abs(seen["actions"][..., None] - VICSEK.actions).argmin(axis=-1)
    counts = np.zeros((36, 13, 36))
    np.add.at(counts, (index[:, :-1], action, index[:, 1:]), 1)
    expected = (counts + 0.5 / 36) / (counts.sum(axis=2, keepdims=True) + 0.5)
    actual = local_kernel(
        VICSEK, uniform(VICSEK), steps=9, seed=3, exploring=1.0, swarms=4, prior=0.5
    )
    np.testing.assert_allclose(actual[0], expected, rtol=1e-12)


def test_rows_are_probabilities_and_untried_ones_lead_anywhere() -> None:
    kernel = local_kernel(VICSEK, uniform(VICSEK), steps=2, seed=1, swarms=1)
    np.testing.assert_allclose(kernel.sum(axis=3), 1, atol=1e-12)
    assert (np.abs(kernel - 1 / 36) < 1e-12).all(axis=3).any()


def test_batches_and_threads_do_not_change_the_bits() -> None:
    rng = np.random.default_rng(0)
    policy = SoftPolicy(rng.dirichlet(np.ones(13), (5, 36)))
    whole = local_kernel(VICSEK, policy, steps=6, seed=2, swarms=3, threads=1)
    threaded = local_kernel(VICSEK, policy, steps=6, seed=2, swarms=3, threads=2)
    np.testing.assert_array_equal(whole, threaded)
    first = local_kernel(
        VICSEK, SoftPolicy(policy.probabilities[:2]), steps=6, seed=2, swarms=3, threads=1
    )
    np.testing.assert_array_equal(whole[:2], first)


def test_agents_may_be_kept_in_another_order() -> None:
    """Ising spins turn with their own action: what follows a flip is the mirror of the energy."""
    ising = swarmdp.Ising((40, 40), periodic=True)
    still = SoftPolicy(np.tile([1.0, 0.0], (25, 1)))
    kernel = local_kernel(ising, still, steps=20, seed=1, exploring=0.001, swarms=40)
    keep, flip = kernel[0, 8:17, 0], kernel[0, 8:17, 1]
    # nearly nobody else flips: the energy stays, or becomes that of the other spin
    assert (keep.argmax(axis=1) == np.arange(8, 17)).all()
    assert (flip.argmax(axis=1) == 24 - np.arange(8, 17)).all()


@pytest.mark.parametrize("change", [{"exploring": 0.0}, {"exploring": 1.5}, {"prior": 0.0}])
def test_bad_settings_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="exploring must be in"):
        local_kernel(VICSEK, uniform(VICSEK), steps=2, seed=1, **change)  # type: ignore[arg-type]
