"""The rewards of decisions, against cones, enumeration and rewards that are known."""

import numpy as np
import pytest

import swarmdp
from swarmdp import theory
from swarmdp.irl.rational import can_explain, draws_in_cone, gains, rational_reward
from swarmdp.irl.resampling import scaled_like
from swarmdp.irl.updates.boltzmann import Followed, LocalMDP
from swarmdp.irl.updates.decided import Counted, Decided, Explained
from swarmdp.support.arrays import Floats

SIDE, DISCOUNT = 4, 0.9


def ring(slip: float, goal: int) -> LocalMDP:
    """Twelve places in a ring: stay, go on, go back; the goal leads anywhere."""
    places, kernel = 12, np.zeros((12, 3, 12))
    for s in range(places):
        for a, step in enumerate((0, 1, -1)):
            kernel[s, a, (s + step) % places] += 1 - slip
            kernel[s, a] += slip / places
    kernel[goal] = 1 / places
    return LocalMDP(kernel, np.eye(places), DISCOUNT)


def decisions(
    mdp: LocalMDP, weights: Floats, softness: float, rng: np.random.Generator, steps: int
) -> Floats:
    """How often an agent of this reward takes each action in each place."""
    q, _ = mdp.optimal_q(weights)
    chances = np.exp((q - q.max(axis=1, keepdims=True)) / softness)
    chances /= chances.sum(axis=1, keepdims=True)
    counts, state = np.zeros(q.shape), 0
    for _ in range(steps):
        action = rng.choice(q.shape[1], p=chances[state])
        counts[state, action] += 1
        state = rng.choice(len(q), p=mdp.transitions[state, action])
    return counts


def only_what_followed(mdp: LocalMDP, counts: Floats, rng: np.random.Generator) -> Explained:
    """The same decisions, of which only the next places are known."""
    index, likelihood = [], []
    for (place, action), count in np.ndenumerate(counts):
        chances = mdp.transitions[place, action]
        for there in rng.choice(len(chances), size=int(count), p=chances):
            index.append(place)
            likelihood.append(mdp.transitions[place, :, there])
    return Explained(np.array(index), np.array(likelihood), np.ones(len(index)), len(counts))


@pytest.mark.parametrize("known", ["actions", "what followed"])
@pytest.mark.parametrize("truths", ["normal", "laplace"])
@pytest.mark.parametrize("softness", [1.0, 0.3, 1e-3])
def test_intervals_cover_known_rewards(softness: float, truths: str, known: str) -> None:
    """95 % intervals of differences cover the truth in 90 to 98 %.

    Of 40 rewards with 66 differences each. Those of one reward depend on each other: over rewards
    the covered share has a standard deviation of about .08, so that the mean is known to .013.
    """
    rng = np.random.default_rng(3)
    covered, wrong = [], []
    first, second = np.triu_indices(12, 1)
    for trial in range(40):
        mdp, truth = ring(0.2, trial % 12), getattr(rng, truths)(size=12)
        counts = decisions(mdp, truth, softness, rng, 600)
        decided: Decided = Counted(counts)
        if known == "what followed":
            decided = only_what_followed(mdp, counts, rng)
        reward = rational_reward(mdp, decided, counts.sum(axis=1), others=200, seed=trial)
        blocks = (swarmdp.Levels(12).axes,)
        middle = reward.weights[None]
        others = scaled_like(reward.others[:, None], middle, blocks, True)[:, 0]
        scaled = scaled_like(truth[None, None], middle, blocks, True)[0, 0]
        gaps, gap = others[:, first] - others[:, second], scaled[first] - scaled[second]
        low, high = np.quantile(gaps, [0.025, 0.975], axis=0)
        covered.append(((low <= gap) & (gap <= high)).mean())
        here = middle[0, first] - middle[0, second]
        agree = (np.sign(gaps) == np.sign(here)).mean(axis=0) >= 0.975
        wrong.append((agree & (np.sign(gap) != np.sign(here))).sum() / max(1, agree.sum()))
    assert 0.90 <= np.mean(covered) <= 0.98
    assert np.mean(wrong) <= 0.05


def test_what_followed_tells_as_much_as_actions_where_nothing_is_random() -> None:
    rng = np.random.default_rng(5)
    mdp, truth = ring(0.0, 3), rng.normal(size=12)
    counts = decisions(mdp, truth, 0.3, rng, 400)
    counts[3] = 0  # the goal leads anywhere, whatever is done
    q, _ = mdp.optimal_q(truth)
    log_policy = q - np.log(np.exp(q).sum(axis=1, keepdims=True))
    counted, explained = Counted(counts), only_what_followed(mdp, counts, rng)
    np.testing.assert_allclose(counted.visits, explained.visits)
    np.testing.assert_allclose(explained.counts_under(log_policy), counts, atol=1e-6)
    assert explained.log_likelihood(log_policy) == pytest.approx(counted.log_likelihood(log_policy))


def test_the_slope_of_explained_decisions_is_that_of_their_probability() -> None:
    """Against differences: counts under a policy less its own are the derivative by log pi."""
    rng = np.random.default_rng(6)
    mdp, truth = ring(0.3, 3), rng.normal(size=12)
    counts = decisions(mdp, truth, 0.5, rng, 100)
    explained = only_what_followed(mdp, counts, rng)
    log_policy = np.log(rng.dirichlet(np.ones(3), size=12))
    slope = explained.counts_under(log_policy)
    for place, action in [(0, 0), (4, 2), (7, 1)]:
        moved = log_policy.copy()
        moved[place, action] += 1e-6
        gain = explained.log_likelihood(moved) - explained.log_likelihood(log_policy)
        assert gain / 1e-6 == pytest.approx(slope[place, action], rel=1e-4, abs=1e-4)


def test_what_follows_an_optimal_expert_is_worth_what_planning_says() -> None:
    mdp, truth = ring(0.2, 5), np.random.default_rng(7).normal(size=12)
    q, optimal = mdp.optimal_q(truth)
    followed = Followed.of(mdp, np.eye(3)[optimal])
    np.testing.assert_allclose(followed.optimal_q(truth)[0], q, atol=1e-9)
    np.testing.assert_allclose(followed.q_derivative(optimal), mdp.q_derivative(optimal))


def test_decisions_of_an_expert_that_never_errs_are_explained_by_every_draw() -> None:
    mdp, truth = ring(0.1, 5), np.random.default_rng(1).normal(size=12)
    _, table = mdp.optimal_q(truth)
    counts = 50 * np.eye(3)[table]
    reward = rational_reward(mdp, Counted(counts), counts.sum(axis=1), others=50, seed=2)
    rows = gains(mdp, counts)
    assert (rows @ truth >= -1e-9).all()
    assert (reward.others @ rows.T >= -1e-9).all()
    for weights in reward.others[::10]:
        q, _ = mdp.optimal_q(weights)
        chosen = q[np.arange(12), table]
        np.testing.assert_allclose(chosen, q.max(axis=1), atol=1e-9)


def test_draws_in_a_cone_are_those_of_the_prior_inside_it() -> None:
    """Against rejection: normal numbers of which only those inside are kept."""
    rng = np.random.default_rng(4)
    rows = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, -0.5]])
    drawn = draws_in_cone(rows, np.array([1.0, 0.2, 0.1]), 4000, rng)
    assert (drawn @ rows.T >= -1e-9).all()
    normal = rng.normal(size=(40_000, 3))
    kept = normal[(normal @ rows.T >= 0).all(axis=1)]
    error = kept.std(axis=0) * np.sqrt(1 / 4000 + 1 / len(kept))
    assert (np.abs(drawn.mean(axis=0) - kept.mean(axis=0)) < 4 * error).all()
    np.testing.assert_allclose(drawn.std(axis=0), kept.std(axis=0), rtol=0.06)


def test_a_start_outside_moves_the_walls() -> None:
    rows, start = np.array([[1.0, 0.0]]), np.array([-1.0, 1.0])
    drawn = draws_in_cone(rows, start, 200, np.random.default_rng(5))
    assert (drawn @ rows[0] >= -1.0 - 1e-9).all()  # as far out as the start, of length sqrt(2)


def test_no_cone_is_the_prior() -> None:
    drawn = draws_in_cone(np.empty((0, 3)), np.ones(3), 2000, np.random.default_rng(6))
    assert (np.abs(drawn.mean(axis=0)) < 4 / np.sqrt(2000)).all()


def test_draws_agree_with_the_exact_cone_of_a_small_swarm() -> None:
    """What the exact cone of Proposition 2 decides is decided as well, and as it decides."""
    small = theory.FiniteIsing((5,), reach=1, noise=0.1)
    cone = theory.characterize(small, small.expert, DISCOUNT).local_cone
    exact = theory.draw_rewards(cone, 400, seed=1)
    demo = swarmdp.rollout(small, small.expert, steps=400, runs=20, seed=2)
    result = swarmdp.fit(small, demo, seed=3, reward="replanned", judge=False, iterations=4)
    choice = result.reward_choice
    assert choice is not None
    place = choice.names.index("decisions")
    assert place == 0
    table = result.identified()
    pairs = [(0, 1), (0, 2), (1, 2)]
    for row, (i, j) in zip(table.itertuples(), pairs, strict=True):
        share = (exact[:, i] > exact[:, j]).mean()  # of rewards in the exact cone
        if row.identified:
            assert (share if row.difference > 0 else 1 - share) >= 0.9
        if 0.2 < share < 0.8:
            assert not row.identified


def test_large_problems_are_left_out() -> None:
    assert can_explain(36, 13, 36)
    assert not can_explain(1024, 5, 64)
