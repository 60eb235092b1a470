import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import swarmdp
from swarmdp.irl.updates import Wants
from swarmdp.learning import LocalModel, local_model
from swarmdp.learning.local_model import _DenseCounts, _SparseCounts
from swarmdp.learning.q_functions import QFunction
from swarmdp.model.system import class_map
from swarmdp.support.errors import InvalidInput
from tests.learning.test_q_functions import collected, experience, problem


def test_local_model_solves_the_bellman_equation_of_what_it_saw() -> None:
    rng = np.random.default_rng(2)
    observations, actions = 5, 3
    kernel = rng.dirichlet(np.ones(observations), size=(observations, actions))
    reward = rng.normal(size=(1, observations))
    model = LocalModel(forgetting=1.0, sweeps=400, prior=1e-9).start(problem(reward, actions, 0.9))
    before = np.repeat(np.arange(observations), actions * 4000)[None]
    action = np.tile(np.repeat(np.arange(actions), 4000), observations)[None]
    after = np.array(
        [
            [
                rng.choice(observations, p=kernel[o, a])
                for o, a in zip(before[0], action[0], strict=True)
            ]
        ]
    )
    model.learn(before, action, collected(reward, before), after, rate=0.0)
    counts = np.zeros((observations, actions, observations))
    np.add.at(counts, (before[0], action[0], after[0]), 1)
    estimated = counts / counts.sum(axis=2, keepdims=True)
    q = np.zeros((observations, actions))
    for _ in range(1000):
        q = reward[0][:, None] + 0.9 * estimated @ q.max(axis=1)
    np.testing.assert_allclose(model.values[0], q, rtol=1e-6)


def test_local_model_forgets() -> None:
    """A transition that is seen twice as late counts 1 / forgetting as much."""
    reward = np.array([[0.0, 1.0, 0.0]])
    model = LocalModel(forgetting=0.5, sweeps=1, prior=1e-12).start(
        problem(reward, 1, 0.5, Wants(kernel=True))
    )
    every, one = np.array([[0, 1, 2]]), np.array([[0]])
    for after in (1, 2):
        model.learn(every, np.zeros((1, 3), int), reward, np.array([[after, 1, 2]]), 0)
    model.learn(one, one * 0, reward[:, :1], np.array([[2]]), 0)
    kernel = model.learned().kernel
    assert kernel is not None
    # the prior weighs 4e-12 in all, against the 1 of the first count
    np.testing.assert_allclose(kernel[0, 0, 0] / kernel[0, 0, 0, 1], [0, 1, 2 + 4], atol=1e-11)


def test_local_model_survives_very_long_learning() -> None:
    reward = np.array([[1.0, 0.0]])
    model = LocalModel(forgetting=0.5).start(problem(reward, 2, 0.9))
    before, action, after = experience(np.random.default_rng(0), 1, 10, 2, 2)
    for _ in range(1000):
        model.learn(before, action, collected(reward, before), after, 0.0)
    assert np.isfinite(model.values).all()


def started(
    sparse: bool,
    model: LocalModel,
    reward: NDArray[np.float64],
    actions: int,
    softness: float,
    transitions: int,
) -> QFunction:
    """A model with the counts that are wanted, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_model, "is_sparse", lambda *_: sparse)
        wants = Wants(softness=softness, kernel=True)
        q = model.start(problem(reward, actions, 0.9, wants, transitions))
    kind = _SparseCounts if sparse else _DenseCounts
    assert isinstance(q._memory._counts, kind)  # type: ignore[attr-defined]
    return q


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    replicas=st.integers(1, 3),
    swarms=st.integers(1, 3),
    agents=st.integers(1, 30),
    observations=st.integers(1, 12),
    actions=st.integers(1, 9),
    # 1e-30: counts are scaled down after every fourth step.
    forgetting=st.sampled_from([1.0, 0.99, 0.7, 1e-30]),
    softness=st.sampled_from([0.0, 0.3]),
)
def test_sparse_and_dense_counts_give_the_same_bits(
    seed: int,
    replicas: int,
    swarms: int,
    agents: int,
    observations: int,
    actions: int,
    forgetting: float,
    softness: float,
) -> None:
    rng = np.random.default_rng(seed)
    steps, runs = 9, replicas * swarms
    reward = rng.normal(size=(replicas, observations))
    model = LocalModel(forgetting=forgetting, sweeps=2, prior=0.7)
    sparse, dense = (
        started(kind, model, reward, actions, softness, steps * swarms * agents)
        for kind in (True, False)
    )
    for _ in range(steps):
        before, action, after = experience(rng, runs, agents, observations, actions)
        small = before.astype(np.int32), action.astype(np.uint8), after.astype(np.int32)
        for q in (sparse, dense):
            q.learn(small[0], small[1], collected(reward, before), small[2], 0.0)
        assert sparse.values.tobytes() == dense.values.tobytes()
    kernels = [q.learned().kernel for q in (sparse, dense)]
    assert kernels[0] is not None
    assert kernels[1] is not None
    assert kernels[0].tobytes() == kernels[1].tobytes()


def test_a_fit_does_not_depend_on_how_counts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarmdp.Vicsek(n_agents=50)
    reward = swarmdp.Reward(np.random.default_rng(1).normal(size=(3, 36)))
    learner = swarmdp.learning.HeterogeneousLearning(steps=20, swarms=2)
    dense = learner(system, reward, discount=0.9, seed=1, wants=Wants(kernel=True))
    monkeypatch.setattr(local_model, "is_sparse", lambda *_: True)
    sparse = learner(system, reward, discount=0.9, seed=1, wants=Wants(kernel=True))
    assert dense.kernel is not None
    assert sparse.kernel is not None
    assert dense.q is not None
    assert sparse.q is not None
    assert sparse.q.tobytes() == dense.q.tobytes()
    assert sparse.kernel.tobytes() == dense.kernel.tobytes()


def test_learning_goes_on_where_fewer_iterations_would_keep_counts_sparsely() -> None:
    """A full table is smaller for 250 iterations, a sparse one for the 100 that go on with it."""
    turns = tuple(np.radians(np.arange(-175, 180, 5)))
    system = swarmdp.Vicsek(n_bins=72, turns=turns)
    learner = swarmdp.learning.HeterogeneousLearning(steps=250, warm_steps=100, swarms=5)
    transitions = 5 * 2 * system.n_agents  # transitions of an iteration, mirrored ones too
    assert not local_model.is_sparse(72, len(turns), 250 * transitions)
    assert local_model.is_sparse(72, len(turns), 100 * transitions)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    result = swarmdp.fit(system, demo, seed=2, learner=learner, iterations=2, judge=False)
    assert result.iterations[-1].memory


@pytest.mark.parametrize("system", [swarmdp.Vicsek(), swarmdp.Ising()])
def test_counts_of_the_papers_systems_are_full_tables(system: swarmdp.System) -> None:
    transitions = 300 * 1000
    size = class_map(system).size, len(system.actions)
    assert not local_model.is_sparse(*size, transitions)
    assert not local_model.is_sparse(*size, 1)
    assert local_model.counts_bytes(*size, transitions) == local_model.dense_bytes(*size)


def test_counts_are_sparse_where_that_is_smaller() -> None:
    """20 000 x 9 x 20 000 numbers of 8 bytes, or 12 bytes for each of 300 000 transitions."""
    assert local_model.is_sparse(20_000, 9, 300_000)
    assert local_model.counts_bytes(20_000, 9, 300_000) == 12 * 300_000 + 8 * 180_001
    assert local_model.dense_bytes(20_000, 9) == 28_800_000_000
    assert not local_model.is_sparse(20_000, 9, 28_800_000_000 // 12)


def test_more_transitions_than_announced_are_refused() -> None:
    model = started(True, LocalModel(), np.zeros((2, 3)), 2, 0.0, 5)
    one = np.zeros((2, 3), np.int64)
    nothing = np.zeros((2, 3))
    model.learn(one, one, nothing, one, 0.0)
    model.learn(one, one, nothing, one, 0.0)  # the same again: they take no more room
    more = np.zeros((2, 6), np.int64)
    with pytest.raises(InvalidInput, match="started for 5 transitions of each replica"):
        model.learn(more, more, np.zeros((2, 6)), more, 0.0)


@pytest.mark.parametrize(
    "bad", [{"forgetting": 0.0}, {"forgetting": 1.5}, {"sweeps": 0}, {"prior": 0}]
)
def test_bad_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        LocalModel(**bad)  # type: ignore[arg-type]
