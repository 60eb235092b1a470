"""Learning in compiled code gives the bits of learning step by step, which watching asks for."""

from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.updates import Wants
from swarmdp.learning import BatchQ, HeterogeneousLearning, SequentialQ
from swarmdp.model.adapted import with_features
from swarmdp.model.traits import FusedLearning

SYSTEMS: dict[str, Any] = {
    "vicsek": swarmdp.Vicsek(n_agents=60),
    "vicsek open": swarmdp.Vicsek(n_agents=40, periodic=False, noise=0.0),
    "vicsek arranged": swarmdp.Vicsek(n_agents=20_000, radius=0.02),
    "ising": swarmdp.Ising((7, 9)),
    "ising much experience": swarmdp.Ising((40, 40)),
    "ising open": swarmdp.Ising((8, 15), reach=3, periodic=False),
}
LEARNERS = {
    "local model": HeterogeneousLearning(steps=12, swarms=2, reset_after=0.5, warm_steps=6),
    "sequential": HeterogeneousLearning(SequentialQ(), 8, exploration="fixed", swarms=1),
    "batch": HeterogeneousLearning(BatchQ(), 8, swarms=2),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_both_paths_give_the_same_bits(name: str, learner: str) -> None:
    assert isinstance(SYSTEMS[name], FusedLearning)
    system, learning = SYSTEMS[name], LEARNERS[learner]
    weights = np.random.default_rng(1).normal(size=(2, system.features.size))
    demand: dict[str, Any] = {
        "discount": 0.9,
        "seed": 3,
        "wants": Wants(mirror=name.startswith("vicsek")),
        "threads": 1,
    }
    quick = learning(system, swarmdp.Reward(weights), **demand)
    plain = learning(system, swarmdp.Reward(weights), **demand, watch=lambda snapshot: None)
    for learned in (quick, plain):
        assert learned.q is not None
        assert learned.seen is not None
    np.testing.assert_array_equal(quick.q, plain.q)
    np.testing.assert_array_equal(quick.seen, plain.seen)
    np.testing.assert_array_equal(quick.policy.table, plain.policy.table)  # type: ignore[attr-defined]
    assert quick.memory.keys() == plain.memory.keys()
    for kept in quick.memory:
        np.testing.assert_array_equal(quick.memory[kept], plain.memory[kept])


def test_what_cannot_be_fused_is_left_to_the_plain_path() -> None:
    streams = swarmdp.model.Streams.of(1, [0], 30)
    assert swarmdp.Vicsek(n_agents=30, nearest=4).exploring_swarms(streams, 0) is None
    assert swarmdp.Vicsek(n_agents=30, radius=0.4).exploring_swarms(streams, 0) is None

    class Own(swarmdp.Ising):
        """A subclass may have changed what a step is."""

    assert Own((5, 6)).exploring_swarms(streams, 0) is None
    coarse = with_features(swarmdp.Vicsek(n_agents=30), swarmdp.Angles(5))
    assert not isinstance(coarse, FusedLearning)
