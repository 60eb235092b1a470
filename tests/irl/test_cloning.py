import numpy as np

import swarmdp
from swarmdp.irl.cloning import policy_of_pairs
from swarmdp.irl.pairs import pair_counts

VICSEK = swarmdp.Vicsek(n_agents=40)


def test_a_clone_does_what_the_expert_did_as_often() -> None:
    counts = np.zeros((2, 36, 13))
    counts[0, 18, 6], counts[0, 18, 7], counts[1, 0, 12] = 3, 1, 5
    policy = policy_of_pairs(VICSEK, counts).probabilities
    np.testing.assert_allclose(policy[0, 18, 5:9], [0, 0.75, 0.25, 0])
    assert policy[1, 0, 12] == 1
    still = int(np.flatnonzero(VICSEK.actions == 0)[0])
    assert (policy[0, 0] == (np.arange(13) == still)).all()  # never seen there: do nothing


def test_runs_are_pooled_or_separate() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=20, runs=3, seed=1)
    assert swarmdp.irl.clone(VICSEK, demo).replicas == 1
    apart = swarmdp.irl.clone(VICSEK, demo, separate=True)
    assert apart.replicas == 3
    one = swarmdp.rollout(VICSEK, VICSEK.expert, steps=20, runs=1, seed=1)
    np.testing.assert_array_equal(
        apart.probabilities[0], swarmdp.irl.clone(VICSEK, one).probabilities[0]
    )


def test_a_clone_of_the_ising_expert_is_the_expert() -> None:
    ising = swarmdp.Ising((30, 30))
    demo = swarmdp.rollout(ising, ising.expert, steps=30, seed=1)
    levels = np.arange(25, dtype=np.uint8)
    seen = pair_counts(ising, demo)[0][0].any(axis=1)
    clones = swarmdp.irl.clone(ising, demo).probabilities[0, :, 1]
    np.testing.assert_array_equal(clones, ising.expert(levels) & seen)
    assert seen[:20].all()


def test_a_clone_of_vicsek_s_expert_swarms() -> None:
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(
        vicsek, vicsek.expert, steps=100, seed=1, record=["observations", "actions"]
    )
    order = swarmdp.rollout(
        vicsek, swarmdp.irl.clone(vicsek, demo), steps=100, runs=20, seed=2, record=vicsek.order
    )["order"]
    assert order[:, -1].mean() > 0.96  # the expert: 0.977
