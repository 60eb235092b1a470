import numpy as np
import pytest
from scipy import sparse, stats

import swarmdp
from swarmdp import FiniteMDP, Policy
from swarmdp.model.testing import check_system
from swarmdp.policies import SoftPolicy
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.systems.finite import exact_model


def random_mdp(
    seed: int, states: int = 6, actions: int = 3, features: int | None = None
) -> FiniteMDP:
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(states, 0.3), size=(states, actions))
    start = rng.dirichlet(np.ones(states))
    matrix = None if features is None else rng.random((states, features))
    return FiniteMDP(transitions, start, matrix)


def test_it_is_a_swarm_of_one() -> None:
    for mdp in (random_mdp(1), random_mdp(2, features=4)):
        check_system(mdp)
        assert isinstance(mdp, swarmdp.System)
        assert mdp.n_agents == 1


def test_dense_and_sparse_transitions_are_the_same() -> None:
    mdp = random_mdp(3)
    dense = mdp.dense()
    again = FiniteMDP([sparse.csc_array(dense[:, a]) for a in range(3)], mdp.start)
    np.testing.assert_array_equal(again.dense(), dense)
    assert again.settings == mdp.settings
    nested = FiniteMDP(dense.tolist(), mdp.start.tolist())
    np.testing.assert_array_equal(nested.dense(), dense)
    assert random_mdp(4).settings["digest"] != mdp.settings["digest"]
    other = FiniteMDP(dense, mdp.start, np.ones((6, 2)))
    assert other.settings["digest"] != mdp.settings["digest"]


@pytest.mark.parametrize("actions", [3, 6])  # six: as many as states, where shapes tell nothing
def test_a_list_of_matrices_is_one_for_each_action(actions: int) -> None:
    mdp = random_mdp(3, actions=actions)
    dense = mdp.dense()
    matrices = [dense[:, a] for a in range(actions)]
    mixed = [sparse.csr_array(matrices[0]), *matrices[1:]]
    for given in (matrices, tuple(matrices), mixed):
        np.testing.assert_array_equal(FiniteMDP(given, mdp.start).dense(), dense)
    # nested lists and an array are [s, a, s'] throughout
    for nested in (dense.tolist(), dense):
        np.testing.assert_array_equal(FiniteMDP(nested, mdp.start).dense(), dense)


def test_transitions_are_drawn_from_their_distribution() -> None:
    """A chi-square test of each (s, a), all from one roll-out of many runs."""
    rng = np.random.default_rng(5)
    transitions = rng.dirichlet(np.full(5, 0.5), size=(5, 2))
    transitions[0, 0] = [0, 0, 1, 0, 0]
    mdp = FiniteMDP(transitions, rng.dirichlet(np.ones(5)))
    uniform = SoftPolicy(np.full((5, 2), 0.5))
    seen = swarmdp.rollout(mdp, uniform, steps=20, runs=5000, seed=1, record=["states", "actions"])
    state, action = seen["state"][..., 0], seen["actions"][..., 0]
    first = np.bincount(state[:, 0], minlength=5)
    assert stats.chisquare(first, 5000 * mdp.start).pvalue > 1e-3
    for s in range(5):
        for a in range(2):
            here = (state[:, :-1] == s) & (action == a)
            counts = np.bincount(state[:, 1:][here], minlength=5)
            expected = transitions[s, a] * counts.sum()
            possible = expected > 0
            assert counts[~possible].sum() == 0
            if possible.sum() > 1:
                assert stats.chisquare(counts[possible], expected[possible]).pvalue > 1e-4


def test_occupancy_is_the_discounted_sum_of_distributions() -> None:
    mdp = random_mdp(6)
    policy = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    chain = np.einsum("sa,sat->st", policy, mdp.dense())
    now, total = mdp.start, np.zeros(6)
    for time in range(600):
        total = total + 0.9**time * now
        now = now @ chain
    np.testing.assert_allclose(mdp.occupancy(policy, 0.9), total, rtol=1e-12)
    assert mdp.occupancy(policy, 0.9).sum() == pytest.approx(10)
    cut = sum(0.9**t * mdp.start @ np.linalg.matrix_power(chain, t) for t in range(8))
    np.testing.assert_allclose(mdp.occupancy(policy, 0.9, steps=7), cut)
    repeated = np.tile(policy, (7, 1, 1))
    np.testing.assert_allclose(mdp.occupancy(repeated, 0.9, steps=7), cut)
    assert mdp.occupancy(policy, 1.0, steps=7).sum() == pytest.approx(8)


def test_simulated_and_exact_feature_expectations_agree() -> None:
    """Feature vectors, a table policy, 4000 runs: within five standard errors everywhere."""
    from swarmdp.irl.expectations import exact_expectations, feature_expectations

    mdp = random_mdp(7, features=4)
    policy = Policy(np.random.default_rng(1).integers(3, size=6))
    exact = exact_expectations(mdp, policy, discount=0.8, steps=40)
    run = swarmdp.rollout(
        mdp,
        policy,
        steps=40,
        runs=4000,
        seed=2,
        record=["states", swarmdp.simulation.DiscountedFeatures(0.8)],
    )
    mu = run["discounted_features"]
    assert mu.shape == (4000, 4)
    error = mu.std(axis=0, ddof=1) / np.sqrt(4000)
    assert (np.abs(mu.mean(axis=0) - exact[0]) < 5 * error).all()
    np.testing.assert_allclose(feature_expectations(mdp, run, discount=0.8), mu, rtol=1e-10)


@pytest.mark.parametrize("kind", ["grid", "random"])
def test_ten_thousand_states(kind: str) -> None:
    """Linear systems are solved without filling memory, on a grid and on a random graph."""
    if kind == "grid":
        mdp = swarmdp.Gridworld(100, 100).mdp
    else:
        rng = np.random.default_rng(8)
        rows = np.repeat(np.arange(10_000), 5)
        parts = []
        for _ in range(2):
            weights = rng.random((10_000, 5))
            weights /= weights.sum(axis=1, keepdims=True)
            parts.append(
                sparse.csr_matrix(
                    (weights.ravel(), (rows, rng.integers(10_000, size=rows.size))),
                    (10_000, 10_000),
                )
            )
        mdp = FiniteMDP(parts, np.full(10_000, 1e-4))
    policy = np.full((10_000, mdp.n_actions), 1 / mdp.n_actions)
    for discount in (0.9, 0.999):
        visits = mdp.occupancy(policy, discount)
        assert visits.sum() == pytest.approx(1 / (1 - discount), rel=1e-9)
        rewards = np.arange(10_000.0)
        value = mdp.values(policy, rewards, discount)
        assert mdp.start @ value == pytest.approx(visits @ rewards, rel=1e-9)


def test_an_unreachable_state_is_named() -> None:
    transitions = np.zeros((4, 2, 4))
    transitions[[0, 1], :, 1] = 1
    transitions[[2, 3], :, 2] = 1
    with pytest.warns(SwarmdpWarning, match="no policy ever reaches 2 states 2, 3 from"):
        FiniteMDP(transitions, 0)
    with pytest.warns(SwarmdpWarning, match="no policy ever reaches state 3 from"):
        FiniteMDP(transitions, [0.5, 0, 0.5, 0])


def test_a_swarm_is_not_a_finite_mdp() -> None:
    assert exact_model(swarmdp.Vicsek(n_agents=2)) is None
    mdp = random_mdp(9)
    assert exact_model(mdp) is mdp


BAD_ROW = np.full((3, 2, 3), 1 / 3)
BAD_ROW[1, 1] = [0.5, 0.25, 0.2]


@pytest.mark.parametrize(
    ("transitions", "initial", "features", "message"),
    [
        (
            BAD_ROW,
            0,
            None,
            "follows state 1 and action 1 must sum to 1, got 0.95 .1 such rows of 6",
        ),
        (np.ones((3, 3)), 0, None, r"shape \(states, actions, states\), got \(3, 3\)"),
        (-BAD_ROW, 0, None, "not negative"),
        (np.full((2, 1, 2), np.nan), 0, None, "not negative"),
        ([sparse.eye(3), sparse.eye(2)], 0, None, "one matrix"),
        ([np.eye(3), np.eye(2)], 0, None, "one matrix"),
        ([sparse.eye(2), [[1, 0], [0, 1]]], 0, None, "a list of one matrix"),
        ([[[1.0], [0.5, 0.5]]], 0, None, "must be numbers"),
        (np.eye(3)[:, None], [0.5, 0.4, 0], None, "must sum to 1, got 0.9"),
        (np.eye(3)[:, None], [0.5, 0.5], None, r"shape \(3,\)"),
        (np.eye(3)[:, None], 3, None, "a state from 0 to 2, got 3"),
        (np.full((3, 1, 3), 1 / 3), 0, np.ones((2, 4)), "row for each of the 3 states, got 2"),
        (np.full((3, 1, 3), 1 / 3), 0, np.ones(3), "matrix of finite numbers"),
    ],
)
def test_bad_input_is_refused(
    transitions: object, initial: object, features: object, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        FiniteMDP(transitions, initial, features)  # type: ignore[arg-type]


def test_bad_actions_states_and_discounts_are_refused() -> None:
    mdp = random_mdp(10)
    with pytest.raises(InvalidInput, match="numbers from 0 to 2"):
        swarmdp.rollout(mdp, lambda seen: seen + 5, steps=1, seed=1)
    with pytest.raises(InvalidInput, match="state must be from 0 to 5"):
        mdp.check_state({"state": np.array([[6]])})
    policy = np.full((6, 3), 1 / 3)
    with pytest.raises(InvalidInput, match="without an end the discount .* got 1.*plan_to_horizon"):
        mdp.occupancy(policy, 1.0)
    with pytest.raises(InvalidInput, match="must have the shape"):
        mdp.under(policy[:3])
