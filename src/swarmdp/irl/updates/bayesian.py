"""Reward update: Bayesian inverse reinforcement learning, after Ramachandran and Amir (2007).

    P(w | pairs)  ~  P(w)  product over pairs (o, a) of  exp(Q*_w(o, a) / s) / sum over b of
                                                         exp(Q*_w(o, b) / s)

s is the softness of the expert's policy.

The posterior is sampled by elliptical slices (Murray, Adams and MacKay 2010) in the generalised
form of Nishihara, Murray and Adams (2014): each step draws an ellipse through the present point
from a Student distribution that approximates the posterior, and a point on it that lies above a
random level of the exact density. It is exact whatever the approximation, has no step size to
tune, and moves in all weights at once, where a grid walk such as PolicyWalk moves in one. As
there, planning goes on from the policy of the point before, so that a density costs microseconds.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.irl.updates.boltzmann import (
    LocalMDP,
    check_pairs,
    check_softness,
    log_boltzmann,
)
from swarmdp.irl.updates.decided import Counted
from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.irl.updates.laplace import Density
from swarmdp.irl.updates.priors import Prior, PriorName, prior_named
from swarmdp.model.streams import Purpose, Streams
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.support.threads import over_chunks, thread_count

FREEDOM = 5  # degrees of freedom of the Student distribution: tails heavier than the posterior's
MIXED = 1.01  # R-hat above this: the chains disagree
_ENOUGH = 100  # effective draws wanted of each chain
AT_A_TIME = 16  # problems, step by step side by side
MANY = 300  # states above which a posterior takes minutes
_ROUNDS = 200  # of shrinking a bracket, which by then is narrower than rounding


@checked
@dataclass(frozen=True)
class Bayesian:
    """`update="bayesian"`: the posterior mean of the reward, with its standard deviation as error.

    It learns from the expert's actions alone, in the local dynamics of the expert's swarm.

    Parameters
    ----------
    prior
        The prior of each weight: "gaussian", "uniform", "laplace" or "beta", all about zero.
    scale
        The size of the prior's weights. Take a larger one if the posterior lies far outside.
    softness
        The constant s: the softer the expert, the less surely it takes the best action.
    chains
        The number of chains.
    draws
        The number of draws kept of each chain.
    warm_up
        The number of draws of each chain before those, which are left out.

    Examples
    --------
    >>> import swarmdp
    >>> update = swarmdp.updates.Bayesian(prior="laplace", scale=2.0)    # fit(..., update=update)
    >>> update.wants.pairs    # it needs a demo with actions
    True

    """

    prior: PriorName = "gaussian"
    scale: float = 1.0
    softness: float = 1.0
    chains: int = 4
    draws: int = 2000
    warm_up: int = 500

    wants: ClassVar[Wants] = Wants(pairs=True, expert_kernel=True, at_once=True)

    def __post_init__(self) -> None:
        prior_named(self.prior)
        check_softness(self.softness)
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise InvalidInput(f"scale must be positive and finite, got {self.scale}")
        for name, least in (("chains", 2), ("draws", 4), ("warm_up", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInput(f"{name} must be an integer of at least {least}, got {value!r}")

    def __call__(self, evidence: Evidence) -> Update:
        """The posterior of each experiment."""
        if evidence.n_observations > MANY:
            warnings.warn(
                f"sampling the posterior of {evidence.n_observations} states plans for every draw, "
                "and planning takes a time of about the cube of the states (with the default "
                "settings about 15 minutes for 400): take fewer draws, a coarser model, or an "
                "update that needs no actions, such as max_margin",
                SwarmdpWarning,
                stacklevel=3,
            )
        assert evidence.pairs is not None
        assert evidence.expert_kernel is not None
        mdps = [
            LocalMDP(kernel, evidence.features, evidence.discount)
            for kernel in evidence.expert_kernel
        ]
        posterior = sample_posterior(mdps, evidence.pairs, self, seed=evidence.seed_for(0))
        posterior.warn_unless_mixed()
        return Update(
            posterior.mean,
            error=posterior.deviation,
            diagnostics={"r_hat": posterior.r_hat, "effective_draws": posterior.effective},
        )


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of the weights of E problems, and how far they can be trusted."""

    weights: Floats  # (E, chains, draws, d)
    r_hat: Floats  # (E, d): near 1 where the chains agree
    effective: Floats  # (E, d): the number of independent draws that these are worth
    error: Floats  # (E, d): the Monte Carlo error of the mean

    @property
    def mean(self) -> Floats:
        """The posterior mean (E, d)."""
        return np.asarray(self.weights.mean(axis=(1, 2)))

    @property
    def deviation(self) -> Floats:
        """The posterior standard deviation (E, d)."""
        return np.asarray(self.weights.std(axis=(1, 2), ddof=1))

    def warn_unless_mixed(self) -> None:
        """Warn of problems whose chains did not mix, and say what to do about it."""
        least = _ENOUGH * self.weights.shape[1]
        # NaN, of chains that never moved, is not mixed either.
        mixed = (self.r_hat.max(axis=1) <= MIXED) & (self.effective.min(axis=1) >= least)
        unmixed = ~mixed
        if unmixed.any():
            warnings.warn(
                f"the chains of {unmixed.sum()} of {len(unmixed)} posteriors have not mixed: R-hat "
                f"up to {self.r_hat.max():.3f} (at most {MIXED} wanted), effective draws from "
                f"{self.effective.min():.0f} (at least {least} wanted). The posterior has several "
                "modes or narrow ridges: take more draws and a longer warm_up, a larger softness, "
                "or a smaller scale",
                SwarmdpWarning,
                stacklevel=3,
            )


@dataclass(frozen=True, eq=False)
class _Target:
    """The posterior's log-density, of the standard normal numbers z behind the weights."""

    mdps: list[LocalMDP]  # (E,)
    incoming: Floats  # (E, O, O, A)
    counts: Floats  # (E, O, A)
    prior: Prior
    settings: Bayesian

    def weights(self, z: Floats) -> Floats:
        return self.settings.scale * self.prior.value(z)

    def log_density(
        self,
        z: Floats,
        policy: NDArray[np.int64],
        expected: NDArray[np.bool_] | None = None,
    ) -> Floats:
        """Of z (E, C, d), where wanted; `policy` (E, C, O) is where planning starts and ends."""
        first = self.mdps[0]
        reward = np.einsum("od,ecd->eco", first.features, self.weights(z))
        shape = (*reward.shape, first.actions)
        q = kernels.tables.optimal_q(
            self.incoming, reward, first.discount, policy, expected, np.zeros(shape)
        )
        log_policy = log_boltzmann(q, self.settings.softness)
        likelihood = np.einsum("eoa,ecoa->ec", self.counts, log_policy)
        density: Floats = likelihood - 0.5 * (z * z).sum(axis=2)
        return density

    def approximation(self, e: int) -> tuple[Floats, Floats]:
        """A mode of problem e (d,), and a root of the covariance about it (d, d)."""
        mdp, settings = self.mdps[e], self.settings
        density = Density(
            mdp, Counted(self.counts[e]), self.prior, settings.scale, settings.softness
        )
        mode = density.mode(np.zeros(mdp.features.shape[1]))
        return mode.z, mode.root


def sample_posterior(
    mdps: list[LocalMDP],
    counts: Floats,
    settings: Bayesian,
    *,
    seed: int,
    numbers: NDArray[np.int64] | None = None,
    threads: int | None = None,
) -> Posterior:
    """Sample the posterior of the weights of E problems of one shape.

    The chains start from the prior. A problem's draws do not depend on the others.

    Parameters
    ----------
    mdps
        What one agent can do about its observations, for each problem.
    counts
        How often the expert took each action in each observation (E, O, A).
    settings
        The prior, the softness and the lengths of the chains.
    seed
        Same seed, same result.
    numbers
        Problem e draws the random numbers of number numbers[e]; e by default.
    threads
        All cores by default.

    """
    _arviz()  # if it is missing, this is said before the chains are sampled
    for mdp, pairs in zip(mdps, counts, strict=True):
        check_pairs(mdp, pairs)
        if mdp.features.shape != mdps[0].features.shape or mdp.discount != mdps[0].discount:
            raise InvalidInput("problems that are sampled together must have one shape")
    numbers_of_chains = np.arange(len(mdps)) if numbers is None else numbers
    shape = len(mdps), settings.chains, settings.draws, mdps[0].features.shape[1]
    weights = np.empty(shape)

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        target = _Target(
            mdps[begin:end],
            np.concatenate([mdp.incoming() for mdp in mdps[begin:end]]),
            np.asarray(counts[begin:end], np.float64),
            prior_named(settings.prior),
            settings,
        )
        weights[begin:end] = _walk(target, seed, numbers_of_chains[begin:end], check)

    over_chunks(len(mdps), AT_A_TIME, thread_count(threads), work)
    return Posterior(weights, *diagnose(weights))


def _walk(
    target: _Target, seed: int, numbers: NDArray[np.int64], check: Callable[[], None]
) -> Floats:
    """All chains of all problems, step by step side by side: draws (E, chains, draws, d)."""
    settings = target.settings
    problems, chains = len(target.mdps), settings.chains
    size = target.mdps[0].features.shape[1]
    runs = (numbers[:, None] * chains + np.arange(chains)).ravel()
    streams = Streams.of(seed, runs, 2 * size + FREEDOM)
    shape = (problems, chains, -1)
    approximations = [target.approximation(e) for e in range(problems)]
    mode = np.stack([z for z, _ in approximations])[:, None]
    root = np.stack([r for _, r in approximations])

    def point(x: Floats) -> Floats:
        placed: Floats = mode + np.einsum("eij,ecj->eci", root, x)
        return placed

    def log_student(x: Floats) -> Floats:
        heavy: Floats = -0.5 * (size + FREEDOM) * np.log1p((x * x).sum(axis=2) / FREEDOM)
        return heavy

    # x are the coordinates in which the approximation is round; the chains start from the prior.
    start = streams.at(0, Purpose.POSTERIOR).normal().reshape(shape)[..., :size] - mode
    x = np.stack([np.linalg.solve(r, points.T).T for r, points in zip(root, start, strict=True)])
    policy = np.zeros((problems, chains, target.mdps[0].observations), np.int64)
    level = target.log_density(point(x), policy) - log_student(x)
    draws = np.empty((problems, chains, settings.draws, size))
    for step in range(settings.warm_up + settings.draws):
        check()
        rng = streams.at(step + 1, Purpose.POSTERIOR)
        normal = rng.normal().reshape(shape)
        # A Student variable is a normal one of random width; given x, this is that width.
        chi_square = (normal[..., size:] ** 2).sum(axis=2)
        width = np.sqrt((FREEDOM + (x * x).sum(axis=2)) / chi_square)
        across = width[..., None] * normal[..., :size]
        floor = level + np.log1p(-rng.uniform().reshape(shape)[..., 0])
        angle = 2 * np.pi * rng.uniform().reshape(shape)[..., 0]
        low, high = angle - 2 * np.pi, angle.copy()
        moving = np.ones((problems, chains), np.bool_)
        for _ in range(_ROUNDS):
            turned = x * np.cos(angle)[..., None] + across * np.sin(angle)[..., None]
            there = target.log_density(point(turned), policy, moving) - log_student(turned)
            accepted = moving & (there > floor)
            x = np.where(accepted[..., None], turned, x)
            level = np.where(accepted, there, level)
            moving &= ~accepted
            if not moving.any():
                break
            low = np.where(angle < 0, angle, low)
            high = np.where(angle < 0, high, angle)
            angle = low + (high - low) * rng.uniform().reshape(shape)[..., 0]
        if step >= settings.warm_up:
            draws[:, :, step - settings.warm_up] = target.weights(point(x))
    return draws


def diagnose(draws: Floats) -> tuple[Floats, Floats, Floats]:
    """R-hat, effective number and error of the mean, by ArviZ, of draws (E, chains, draws, d)."""
    library = _arviz()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        data = library.convert_to_dataset({"weights": np.moveaxis(draws, 0, 2)})
        r_hat, effective, error = (
            np.asarray(of(data)["weights"].values)
            for of in (library.rhat, library.ess, library.mcse)
        )
    return r_hat, effective, error


def _arviz() -> Any:
    """The library; raises InvalidInput if it is not installed."""
    with warnings.catch_warnings():
        # ArviZ announces changes to come when it is imported.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            import arviz
        except ModuleNotFoundError as missing:
            if missing.name != "arviz":
                raise
            raise InvalidInput(
                "posteriors are diagnosed by ArviZ, which is not installed: "
                "pip install 'swarmdp[arviz]'"
            ) from None
    return arviz
