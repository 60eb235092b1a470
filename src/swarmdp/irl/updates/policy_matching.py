"""Reward update: policy matching, after Neu and Szepesvari (2007).

    minimise  J(w) = sum over o of n(o)/n  sum over a of (pi_w(a | o) - n(o, a)/n(o))^2  +  c |w|^2

n(o, a) counts the observed pairs, pi_w is the Boltzmann policy of Q*_w. The small penalty c keeps
the weights finite where the expert is deterministic (every larger reward then fits better) and
leaves weights at zero of which the pairs say nothing.

J has several minima. Where a goal leads elsewhere, one of them rewards the place before the goal,
at which its agents stop, and it may even be the lowest. So the search starts at the weights
under which the pairs are most probable (`laplace.py`): from there it finds the minimum whose agents
arrive.
"""

import warnings
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.boltzmann import (
    LocalMDP,
    check_pairs,
    check_softness,
    fisher_information,
    log_boltzmann,
    scores,
)
from swarmdp.irl.updates.decided import Counted
from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.irl.updates.laplace import Density
from swarmdp.irl.updates.priors import prior_named
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.support.threads import one_blas_thread

Direction = Literal["natural", "rprop"]

GROW, _SHRINK = 1.2, 0.5  # of Rprop's steps, as its authors recommend
FIRST_STEP, LARGEST_STEP, SMALLEST_STEP = 0.1, 10.0, 1e-9
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
_ROUNDING = 1e-10  # of the metric, relative to its trace
_NEGLIGIBLE = 1e-7  # relative decrease of J in a step along the natural gradient
CERTAIN = 1e-3  # a probability this near to one is on its way to it


@checked
@dataclass(frozen=True)
class PolicyMatching:
    """`update="policy_matching"`: the reward whose Boltzmann policy is the observed one.

    It learns from the expert's actions alone, in the local dynamics of the expert's swarm.

    Parameters
    ----------
    softness
        Of the expert's policy. Only the ratio of the weights to it matters for the policy.
    penalty
        The constant c.
    direction
        The search: "rprop" or "natural" (see `match_policy`).
    iterations
        The number of steps of the search, at most.
    tolerance
        The search ends when no component of the gradient is larger.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> both = ["states", "actions"]
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1, record=both)
    >>> update = swarmdp.updates.PolicyMatching(penalty=0.01)
    >>> result = swarmdp.fit(ising, demo, seed=1, update=update, iterations=1, judge=False)
    >>> result.reward.weights.shape
    (1, 9)

    """

    softness: float = 1.0
    penalty: float = 1e-3
    direction: Direction = "rprop"
    iterations: int = 500
    tolerance: float = 1e-7

    wants: ClassVar[Wants] = Wants(pairs=True, expert_kernel=True, at_once=True)

    def __post_init__(self) -> None:
        check_softness(self.softness)
        check_matching(self.penalty, self.direction, self.iterations, self.tolerance)

    def __call__(self, evidence: Evidence) -> Update:
        """The match of each experiment, looked for from where its pairs are most probable."""
        assert evidence.pairs is not None
        assert evidence.expert_kernel is not None
        matches = []
        for kernel, counts in zip(evidence.expert_kernel, evidence.pairs, strict=True):
            mdp = LocalMDP(kernel, evidence.features, evidence.discount)
            start = self._most_probable(mdp, counts)
            matches.append(match_policy(mdp, counts, start=start, **asdict(self)))
        self._warn_unless_converged(matches)
        return Update(
            np.stack([match.weights for match in matches]),
            diagnostics={
                "loss": np.array([match.loss for match in matches]),
                "converged": np.array([float(match.converged) for match in matches]),
            },
        )

    def _most_probable(self, mdp: LocalMDP, counts: Floats) -> Floats:
        """The weights (d,) under which the pairs are most probable, with a standard normal prior.

        In units of the softness, as those of the policy are.
        """
        check_pairs(mdp, counts)
        density = Density(
            mdp, Counted(counts), prior_named("gaussian"), self.softness, self.softness
        )
        with one_blas_thread():
            return density.weights(density.mode(np.zeros(mdp.features.shape[1])).z)

    def _warn_unless_converged(self, matches: "list[Match]") -> None:
        left = sum(not match.converged for match in matches)
        if left:
            other = ', or direction="natural"' if self.direction == "rprop" else ""
            warnings.warn(
                f"policy matching: {left} of {len(matches)} experiments have not converged in "
                f"{self.iterations} iterations, so their weights are the best so far. Give more "
                f"iterations, a tolerance above {self.tolerance:g}{other}",
                SwarmdpWarning,
                stacklevel=3,
            )


@dataclass(frozen=True, eq=False)
class Match:
    """The reward whose Boltzmann policy is nearest to the observed actions."""

    weights: Floats  # (d,)
    policy: Floats  # (O, A): its Boltzmann policy
    loss: float  # J
    steps: int
    converged: bool  # the gradient vanished, or no step made J smaller any more


@dataclass(frozen=True, eq=False)
class _Point:
    """J at some weights, with its gradient and all that a step needs."""

    weights: Floats
    optimal: NDArray[np.int64]
    policy: Floats
    score: Floats
    loss: float
    gradient: Floats


@dataclass(frozen=True, eq=False)
class _Objective:
    """J, from the pairs of one demo."""

    mdp: LocalMDP
    observed: Floats  # (O, A): the action frequencies; zero where nothing was observed
    weight: Floats  # (O,): n(o)/n
    softness: float
    penalty: float

    def at(self, weights: Floats, near: NDArray[np.int64] | None) -> _Point:
        q, optimal = self.mdp.optimal_q(weights, near)
        policy = np.exp(log_boltzmann(q, self.softness))
        score = scores(policy, self.mdp.q_derivative(optimal), self.softness)
        gap = policy - self.observed
        loss = self.weight @ (gap**2).sum(axis=1) + self.penalty * weights @ weights
        slope = 2 * self.weight[:, None] * gap * policy
        gradient = np.einsum("oa,oad->d", slope, score) + 2 * self.penalty * weights
        return _Point(weights, optimal, policy, score, float(loss), gradient)

    def natural(self, point: _Point) -> Floats:
        """The steepest descent where distance is that of policies (Amari's natural gradient)."""
        metric = fisher_information(point.policy, point.score, self.weight)
        # Directions in which the policy does not change get a length of their own.
        metric[np.diag_indices_from(metric)] += self.penalty + _ROUNDING * metric.trace() + 1e-300
        return np.asarray(-np.linalg.solve(metric, point.gradient), np.float64)


def match_policy(
    mdp: LocalMDP,
    counts: Floats,
    *,
    softness: float = 1.0,
    penalty: float = 1e-3,
    direction: Direction = "rprop",
    start: Floats | None = None,
    iterations: int = 500,
    tolerance: float = 1e-7,
) -> Match:
    """The weights whose Boltzmann policy is nearest to the observed pairs.

    The search ends when the gradient vanishes, when no step makes J smaller any more (a kink), or
    after the last step.

    Parameters
    ----------
    mdp
        What one agent can do about its observations.
    counts
        How often each action was taken in each observation (O, A).
    softness
        Of the Boltzmann policy.
    penalty
        The constant c.
    direction
        "natural": the natural gradient with a backtracking line search. "rprop": the signs of the
        plain gradient, with a step size for each weight.
    start
        The first weights (d,), zero by default. J may have several minima; the start decides which
        is found.
    iterations
        The number of steps, at most.
    tolerance
        A gradient without a component larger than this has vanished.

    """
    check_softness(softness)
    check_pairs(mdp, counts)
    check_matching(penalty, direction, iterations, tolerance)
    visits = counts.sum(axis=1)
    objective = _Objective(
        mdp,
        counts / np.maximum(visits, 1e-300)[:, None],
        visits / visits.sum(),
        softness,
        penalty,
    )
    first = np.zeros(mdp.features.shape[1]) if start is None else np.asarray(start, float)
    search = _natural_search if direction == "natural" else _rprop_search
    best, steps, converged = search(objective, objective.at(first, None), iterations, tolerance)
    if not penalty and ((objective.observed == 1) & (best.policy > 1 - CERTAIN)).any():
        warnings.warn(
            "policy matching: the weights diverge, because the demo's actions are deterministic "
            "and every larger reward fits them better; only the tolerance has stopped them "
            f"at {np.abs(best.weights).max():.3g}. Give a penalty above zero, such as 1e-3",
            SwarmdpWarning,
            stacklevel=2,
        )
    return Match(best.weights, best.policy, best.loss, steps, converged)


def check_matching(penalty: float, direction: str, iterations: int, tolerance: float) -> None:
    """Raise InvalidInput if a setting of the search is impossible."""
    if direction not in ("natural", "rprop"):
        raise InvalidInput(f'direction must be "natural" or "rprop", got {direction!r}')
    if not (np.isfinite(penalty) and penalty >= 0):
        raise InvalidInput(f"penalty must be finite and not negative, got {penalty}")
    if iterations < 1 or not tolerance >= 0:
        raise InvalidInput(
            "iterations must be at least 1 and tolerance not negative, "
            f"got {iterations}, {tolerance}"
        )


def _natural_search(
    objective: _Objective, point: _Point, iterations: int, tolerance: float
) -> tuple[_Point, int, bool]:
    length = 1.0
    for steps in range(iterations):
        if np.abs(point.gradient).max() <= tolerance:
            return point, steps, True
        direction = objective.natural(point)
        length = min(2 * length, LARGEST_STEP)
        while True:
            following = objective.at(point.weights + length * direction, point.optimal)
            promised = SUFFICIENT * length * (point.gradient @ direction)
            if following.loss <= point.loss + promised:
                break
            length *= _SHRINK
            if length < SMALLEST_STEP:
                return point, steps, True
        gain, point = point.loss - following.loss, following
        if gain <= _NEGLIGIBLE * point.loss:
            return point, steps + 1, True
    return point, iterations, False


def _rprop_search(
    objective: _Objective, point: _Point, iterations: int, tolerance: float
) -> tuple[_Point, int, bool]:
    """The variant of Rprop that skips a weight's step after its gradient has turned.

    Riedmiller and Braun's rule: a step grows while the gradient keeps its sign and shrinks when it
    turns; after a turn it stays for one round. At a kink the signs turn for ever, so the steps
    shrink to the smallest: no step makes J smaller any more.
    """
    best = point
    step = np.full(point.weights.shape, FIRST_STEP)
    before = np.zeros_like(step)
    for steps in range(iterations):
        if np.abs(point.gradient).max() <= tolerance or step.max() <= 2 * SMALLEST_STEP:
            return best, steps, True
        product = before * point.gradient
        factor = np.where(product < 0, _SHRINK, np.where(product > 0, GROW, 1.0))
        step = np.clip(step * factor, SMALLEST_STEP, LARGEST_STEP)
        before = np.where(product < 0, 0.0, point.gradient)
        point = objective.at(point.weights - np.sign(before) * step, point.optimal)
        best = min(best, point, key=lambda p: p.loss)
    return best, iterations, False
