"""The rewards of decisions: those under which the expert's single decisions are most probable.

Feature expectations tell how often something was observed, not what was given up for it. Decisions
tell both: each is better than its alternatives, in the local dynamics P(o' | o, a) of the expert's
swarm. So the rewards that explain them are those of the posterior

    P(w | decisions)  ~  P(w)  product over decisions of  sum over a of  pi_w(a | o) P(o' | o, a)

with the Boltzmann policy pi_w of docs/updates.md ("bayesian"). Where actions were recorded, the sum
has one term, pi_w(a | o). The prior says that most observations matter little and a few matter much
(Laplace's distribution): where dynamics change, small weights that nothing asks for lead astray.
The size of the weights says how surely the expert takes the best action. Nobody knows it
beforehand, so the prior's scale is the one under which the decisions are most probable.

The reward is the mode. If the scale is large, the expert never errs: then a reward explains its
decisions or does not, and those that do fill the cone of the paper's Proposition 2,
{w : Q_w(o, pi(o)) >= Q_w(o, a) for all a}, here with estimated dynamics. Others are drawn inside
this cone. Else they are drawn from the normal distribution that approximates the posterior at its
mode.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtr, ndtri

from swarmdp.irl.updates.boltzmann import Valued, log_boltzmann
from swarmdp.irl.updates.decided import Decided
from swarmdp.irl.updates.laplace import Density, Mode
from swarmdp.irl.updates.priors import PriorName, prior_named
from swarmdp.support.arrays import Floats
from swarmdp.support.threads import one_blas_thread

SCALES = (1.0, 3.0, 10.0, 30.0)  # of the prior: from undecided experts to those that never err
_DECIDED = 30.0  # a scale at which an expert never errs
MOST_OBSERVATIONS = 300  # planning takes a time of about their cube: a minute for 1000
MOST_BYTES = 2**28  # of the derivative of Q, (O, A, d)
_STEPS, _EACH = 300, 20  # of a walk in the cone, at least, and for each weight
_NONE = 1e-9  # the length of a gain that is none: both actions do the same
_EDGE = 1e-12  # a chance that is none


@dataclass(frozen=True, eq=False)
class RationalReward:
    """The rewards that explain decisions: a central one, and others that do as well."""

    weights: Floats  # (d,)
    draw: Callable[[], Floats]  # the others, which takes time
    scale: float  # of the prior
    z: Floats  # (d,): the numbers behind the weights, see `Density`

    @cached_property
    def others(self) -> Floats:
        """Other rewards that do as well (K, d)."""
        with one_blas_thread():
            return self.draw()


def can_explain(observations: int, actions: int, features: int) -> bool:
    """Whether the reward of so many classes of observations can be found in reasonable time."""
    return observations <= MOST_OBSERVATIONS and 8 * observations * actions * features <= MOST_BYTES


def rational_reward(
    mdp: Valued,
    decisions: Decided,
    guess: Floats,
    *,
    prior: PriorName = "laplace",
    scales: Sequence[float] = SCALES,
    others: int,
    seed: int,
    near: RationalReward | None = None,
) -> RationalReward:
    """The rewards under which decisions are most probable.

    Parameters
    ----------
    mdp
        What actions are worth to one agent of the expert's swarm.
    decisions
        What is known of the expert's decisions.
    guess
        Weights (d,) where the search starts as well as at zero, such as the visit histogram: at
        zero all actions are equally good, and there may be no way uphill.
    prior
        The prior of each weight.
    scales
        Of the prior, among which the one is taken under which decisions are most probable.
    others
        The number of other rewards that are drawn.
    seed
        Same seed, same rewards.
    near
        The reward of the same decisions with nearly the same dynamics, if it is known: the scale is
        then taken from it, and the search starts there.

    """
    with one_blas_thread():
        if near is None:
            density, mode = _most_probable(mdp, decisions, guess, prior, scales)
        else:
            density = Density(mdp, decisions, prior_named(prior), near.scale, 1.0)
            mode = density.mode(near.z)
    return RationalReward(
        density.weights(mode.z),
        partial(_others, mdp, decisions, density, mode, others, seed),
        density.scale,
        mode.z,
    )


def _others(
    mdp: Valued, decisions: Decided, density: Density, mode: Mode, count: int, seed: int
) -> Floats:
    """Other rewards (count, d) than that of the mode, which explain the decisions as well."""
    rng = np.random.default_rng(seed)
    if density.scale < _DECIDED:
        drawn = mode.z + rng.normal(size=(count, len(mode.z))) @ mode.root.T
        return density.weights(drawn)
    weights = density.weights(mode.z)
    q, _ = mdp.optimal_q(weights)
    counts = decisions.counts_under(log_boltzmann(q, density.softness))
    return draws_in_cone(gains(mdp, counts), weights, count, rng)


def _most_probable(
    mdp: Valued, decisions: Decided, guess: Floats, name: PriorName, scales: Sequence[float]
) -> tuple[Density, Mode]:
    """The posterior with the prior's scale under which decisions are most probable; its mode."""
    prior = prior_named(name)
    starts, spread = [np.zeros_like(guess)], float(guess.std())
    if spread > 0:
        starts.append((guess - guess.mean()) / spread)
    best: tuple[Density, Mode] | None = None
    for scale in scales:
        density = Density(mdp, decisions, prior, scale, 1.0)
        mode = max((density.mode(start) for start in starts), key=lambda one: one.log_density)
        starts[2:] = [mode.z]  # the next scale also goes on from here
        if best is None or mode.log_evidence > best[1].log_evidence:
            best = density, mode
    assert best is not None
    return best


def gains(mdp: Valued, counts: Floats) -> Floats:
    """What the usual action gains over each other one, for a reward in each feature (rows, d).

    Of observations that were made, and actions that are not the same. Rows are of length one.
    """
    usual = counts.argmax(axis=1)
    worth = mdp.q_derivative(usual)  # (O, A, d)
    gain = np.take_along_axis(worth, usual[:, None, None], axis=1) - worth
    rows = gain[counts.sum(axis=1) > 0].reshape(-1, worth.shape[2])
    length = np.linalg.norm(rows, axis=1)
    some = length > _NONE
    unit: Floats = rows[some] / length[some, None]
    return unit


def draws_in_cone(rows: Floats, start: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Standard normal rewards (count, d), given that rows @ w >= 0.

    Each is the end of a walk of its own from `start`: a random direction at a time, and along it a
    draw from the normal distribution between the walls (hit and run). Where noise in the rows
    excludes the start, the walls are moved so far that it is inside.
    """
    size = len(start)
    length = float(np.linalg.norm(start))
    w = np.repeat((start * np.sqrt(size) / (length or 1.0))[None], count, axis=0)
    room = w @ rows.T - np.minimum(0.0, rows @ w[0])
    for _ in range(max(_STEPS, _EACH * size)):
        u = rng.normal(size=w.shape)
        u /= np.sqrt(np.einsum("kd,kd->k", u, u))[:, None]
        slope = u @ rows.T
        # Walls lie ahead where the room shrinks, behind where it grows.
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = room / slope
        high = -np.where(slope < 0, reach, -np.inf).max(axis=1, initial=-np.inf)
        low = -np.where(slope > 0, reach, np.inf).min(axis=1, initial=np.inf)
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        middle = -np.einsum("kd,kd->k", w, u)
        below, above = ndtr(low - middle), ndtr(high - middle)
        chance = below + (above - below) * rng.random(count)
        step = middle + ndtri(np.clip(chance, _EDGE, 1 - _EDGE))
        step = np.minimum(np.maximum(step, low), high)[:, None]
        w, room = w + step * u, room + step * slope
    return w
