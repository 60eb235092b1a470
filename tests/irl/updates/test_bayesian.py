import sys
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import swarmdp
from swarmdp.irl.updates.bayesian import Bayesian, Posterior, diagnose, sample_posterior
from swarmdp.irl.updates.boltzmann import LocalMDP, log_boltzmann
from swarmdp.irl.updates.priors import PRIORS
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from tests import oracles

TWO = LocalMDP(np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.8, 0.2]]]), np.eye(2), 0.9)
TWO_COUNTS = np.array([[3.0, 9.0], [6.0, 1.0]])
DENSITIES = {
    "gaussian": stats.norm(scale=0.8),
    "uniform": stats.uniform(-0.8, 1.6),
    "laplace": stats.laplace(scale=0.8),
    "beta": stats.beta(0.5, 0.5, loc=-0.8, scale=1.6),
}


def four() -> tuple[LocalMDP, oracles.Floats]:
    """A ring of four observations; an expert that goes round until the last and stays there."""
    transitions = np.full((4, 2, 4), 0.05)
    for o in range(4):
        transitions[o, 0, o] += 0.8
        transitions[o, 1, (o + 1) % 4] += 0.8
    counts = np.array([[1.0, 6.0], [2.0, 7.0], [0.0, 3.0], [12.0, 2.0]])
    return LocalMDP(transitions, np.eye(4), 0.8), counts


def enumerated(
    mdp: LocalMDP, counts: oracles.Floats, settings: Bayesian, grid: oracles.Floats
) -> tuple[oracles.Floats, oracles.Floats]:
    """Every point of a grid of weights (points, d), and its posterior probability."""
    size = mdp.features.shape[1]
    points = np.stack(np.meshgrid(*[grid] * size, indexing="ij"), axis=-1).reshape(-1, size)
    q = oracles.optimal_q(mdp.transitions, points @ mdp.features.T, mdp.discount)
    likelihood = np.einsum("oa,poa->p", counts, log_boltzmann(q, settings.softness))
    prior = DENSITIES[settings.prior]
    density = likelihood + np.log(prior.pdf(points)).sum(axis=1)
    probability = np.exp(density - density.max())
    return points, probability / probability.sum()


def assert_agrees(
    posterior: Posterior, points: oracles.Floats, probability: oracles.Floats
) -> None:
    """Means, spreads and marginals, within four times the Monte Carlo error."""
    mean = probability @ points
    spread = np.sqrt(probability @ (points - mean) ** 2)
    assert (np.abs(posterior.mean[0] - mean) <= 4 * posterior.error[0]).all()
    # the error of a standard deviation from n independent draws, with room for heavy tails
    wide = 4 * spread / np.sqrt(posterior.effective[0])
    assert (np.abs(posterior.deviation[0] - spread) <= wide).all()
    draws = posterior.weights[0].reshape(-1, points.shape[1])
    for k in range(points.shape[1]):
        order = points[:, k].argsort(kind="stable")
        values, first = np.unique(points[order, k], return_index=True)
        below = np.add.reduceat(probability[order], first).cumsum()
        middle = (values[1:] + values[:-1]) / 2  # a grid point stands for its cell
        for level in (0.1, 0.3, 0.5, 0.7, 0.9):
            i = int(np.abs(below[:-1] - level).argmin())
            share = (draws[:, k] < middle[i]).mean()
            error = np.sqrt(below[i] * (1 - below[i]) / posterior.effective[0, k])
            assert abs(share - below[i]) <= 4 * error


@pytest.mark.parametrize("prior", PRIORS)
def test_two_states_agree_with_enumeration(prior: Any) -> None:
    settings = Bayesian(prior, scale=0.8, softness=1 / 2, draws=2000)
    posterior = sample_posterior([TWO], TWO_COUNTS[None], settings, seed=1)
    reach = 0.8 if prior in ("uniform", "beta") else 8.0
    edges = np.linspace(-reach, reach, 401)
    if prior == "beta":  # equal shares of the prior: its density is infinite at the ends
        edges = DENSITIES["beta"].ppf(np.linspace(0, 1, 401))
    grid = (edges[1:] + edges[:-1]) / 2
    points, probability = enumerated(TWO, TWO_COUNTS, settings, grid)
    if prior == "beta":
        width = np.diff(edges)
        cells = np.outer(width, width).ravel()
        probability = probability * cells / (probability * cells).sum()
    assert_agrees(posterior, points, probability)
    assert posterior.r_hat.max() < 1.01


def test_four_states_agree_with_enumeration() -> None:
    mdp, counts = four()
    settings = Bayesian(scale=0.8, softness=1 / 3, draws=3000)
    posterior = sample_posterior([mdp], counts[None], settings, seed=2)
    points, probability = enumerated(mdp, counts, settings, np.linspace(-3.6, 3.6, 25))
    assert_agrees(posterior, points, probability)
    assert posterior.mean[0].argmax() == 3
    posterior.warn_unless_mixed()


def test_features_that_several_states_share() -> None:
    mdp, counts = four()
    shared = LocalMDP(mdp.transitions, np.array([[1.0, 0], [1, 0], [0, 1], [0.5, 2]]), 0.8)
    settings = Bayesian(scale=0.8, softness=1.0, draws=2000)
    posterior = sample_posterior([shared], counts[None], settings, seed=3)
    assert_agrees(posterior, *enumerated(shared, counts, settings, np.linspace(-4, 4, 401)))


@pytest.mark.parametrize("prior", PRIORS)
def test_without_information_the_posterior_is_the_prior(prior: Any) -> None:
    """One action: nothing can be learned from its being taken."""
    idle = LocalMDP(np.full((2, 1, 2), 0.5), np.eye(2), 0.9)
    settings = Bayesian(prior, scale=0.8, draws=2000)
    actual = sample_posterior([idle], np.full((1, 2, 1), 5.0), settings, seed=4)
    for k in range(2):
        thinned = actual.weights[0, :, ::10, k].ravel()  # far enough apart to be independent
        assert stats.kstest(thinned, DENSITIES[prior].cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", PRIORS)
def test_priors_are_those_of_the_map_from_normal_numbers(name: str) -> None:
    prior, density = PRIORS[name], DENSITIES[name]
    z = np.linspace(-6, 6, 1201)
    normal = stats.norm
    np.testing.assert_allclose(density.cdf(0.8 * prior.value(z)), normal.cdf(z), atol=1e-8)
    rise = integrate.cumulative_simpson(prior.slope(z), x=z, initial=0)
    np.testing.assert_allclose(rise, prior.value(z) - prior.value(z[:1]), atol=1e-5)


def test_problems_sampled_together_do_not_change_each_other() -> None:
    mdp, counts = four()
    other = np.random.default_rng(5).integers(1, 9, size=(4, 2)).astype(float)
    settings = Bayesian(draws=20, warm_up=10)
    both = sample_posterior([mdp, mdp], np.stack([counts, other]), settings, seed=6)
    alone = sample_posterior([mdp], other[None], settings, seed=6, numbers=np.array([1]))
    np.testing.assert_array_equal(both.weights[1], alone.weights[0])
    again = sample_posterior([mdp, mdp], np.stack([counts, other]), settings, seed=6)
    np.testing.assert_array_equal(both.weights, again.weights)
    threaded = sample_posterior([mdp] * 2, np.stack([counts, other]), settings, seed=6, threads=2)
    np.testing.assert_array_equal(both.weights, threaded.weights)


def test_chains_that_do_not_mix_are_told() -> None:
    stuck = np.random.default_rng(7).normal(size=(1, 4, 100, 2)) * 0.01
    stuck += np.arange(4.0)[:, None, None]
    posterior = Posterior(stuck, *diagnose(stuck))
    with pytest.warns(SwarmdpWarning, match="1 of 1 posteriors have not mixed: R-hat up to .*more"):
        posterior.warn_unless_mixed()


def test_a_missing_library_is_named_before_anything_is_sampled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    monkeypatch.setattr("swarmdp.irl.updates.bayesian.check_pairs", None)
    with pytest.raises(InvalidInput, match=r"pip install 'swarmdp\[arviz\]'"):
        sample_posterior([TWO], TWO_COUNTS[None], Bayesian(draws=20, warm_up=10), seed=1)


def test_diagnostics_of_independent_draws() -> None:
    draws = np.random.default_rng(8).normal(size=(2, 4, 1000, 3))
    r_hat, effective, error = diagnose(draws)
    assert r_hat.shape == effective.shape == error.shape == (2, 3)
    assert (r_hat < 1.01).all()
    np.testing.assert_allclose(effective, 4000, rtol=0.2)
    np.testing.assert_allclose(error, 1 / np.sqrt(4000), rtol=0.2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": "flat"}, "prior must be one of gaussian, uniform, laplace, beta, got 'flat'"),
        ({"scale": 0.0}, "scale must be positive"),
        ({"softness": -1.0}, "softness must be positive"),
        ({"chains": 1}, "chains must be an integer of at least 2"),
        ({"draws": 3}, "draws must be an integer of at least 4"),
        ({"warm_up": -1}, "warm_up must be an integer of at least 0"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Bayesian(**change)


def test_problems_of_different_shapes_are_refused() -> None:
    mdp, counts = four()
    slow = LocalMDP(mdp.transitions, mdp.features, 0.9)
    with pytest.raises(InvalidInput, match="one shape"):
        sample_posterior([mdp, slow], np.stack([counts] * 2), Bayesian(), seed=1)


def test_chains_that_never_moved_have_not_mixed() -> None:
    """Their R-hat is 0/0."""
    still = np.zeros((1, 4, 500, 2))
    effective, error = np.full((1, 2), 2000.0), np.zeros((1, 2))
    for r_hat, enough in ((np.nan, effective), (1.0, np.full((1, 2), np.nan))):
        posterior = Posterior(still, np.array([[1.0, r_hat]]), enough, error)
        with pytest.warns(SwarmdpWarning, match="1 of 1 posteriors have not mixed"):
            posterior.warn_unless_mixed()
    Posterior(still, np.ones((1, 2)), effective, error).warn_unless_mixed()


def test_a_posterior_of_many_states_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmdp.irl.updates.bayesian.MANY", 5)
    grid = swarmdp.Gridworld(2, 3)
    policy = swarmdp.Policy(np.zeros(6, int))
    demo = swarmdp.rollout(grid, policy, steps=50, seed=1, record=["states", "actions"])
    with pytest.warns(SwarmdpWarning, match="posterior of 6 states .* take fewer draws"):
        swarmdp.fit(grid, demo, seed=1, update="bayesian", judge=False)
