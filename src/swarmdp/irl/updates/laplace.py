"""The posterior of a reward near its mode: the weights under which decisions are most probable.

The posterior is that of Bayesian inverse reinforcement learning (`bayesian.py`). Its mode is looked
for by natural gradient steps. Its curvature there is what the decisions tell of the weights
(`decided.py`), which never has the wrong sign.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.boltzmann import Valued, fisher_information, log_boltzmann, scores
from swarmdp.irl.updates.decided import Decided
from swarmdp.irl.updates.priors import Prior
from swarmdp.support.arrays import Floats

CLIMBS = 100  # steps towards the mode, at most
_SHRINK = 0.5
_SHORTEST = 1e-6  # step towards the mode that is not worth trying
_GAIN = 1e-3  # of the log-density: a step that gains less is the last


@dataclass(frozen=True, eq=False)
class Density:
    """The posterior's log-density of one problem, of the numbers z behind the weights."""

    mdp: Valued
    decisions: Decided
    prior: Prior
    scale: float  # of the prior's weights
    softness: float

    def weights(self, z: Floats) -> Floats:
        """The weights (d,) of the standard normal numbers z (d,)."""
        return self.scale * self.prior.value(z)

    def at(self, z: Floats, near: NDArray[np.int64] | None) -> tuple[float, NDArray[np.int64]]:
        """The log-density, and an optimal policy; planning starts from the policy `near`."""
        q, optimal = self.mdp.optimal_q(self.weights(z), near)
        log_policy = log_boltzmann(q, self.softness)
        return self.decisions.log_likelihood(log_policy) - float(0.5 * z @ z), optimal

    def mode(self, start: Floats, climbs: int = CLIMBS) -> "Mode":
        """A mode uphill from z = `start` (d,). It need not be found exactly."""
        mdp, decisions = self.mdp, self.decisions
        visits = decisions.visits
        z = start
        best, optimal = self.at(z, None)
        for _ in range(climbs):
            q, optimal = mdp.optimal_q(self.weights(z), optimal)
            log_policy = log_boltzmann(q, self.softness)
            policy = np.exp(log_policy)
            score = scores(policy, mdp.q_derivative(optimal), self.softness)
            slope = self.scale * self.prior.slope(z)
            precision = fisher_information(policy, score, visits) * np.outer(slope, slope)
            precision[np.diag_indices_from(precision)] += 1
            beyond = decisions.counts_under(log_policy) - visits[:, None] * policy
            gradient = slope * np.einsum("oa,oad->d", beyond, score) - z
            direction = np.linalg.solve(precision, gradient)
            length = 1.0
            while length >= _SHORTEST:
                density, there = self.at(z + length * direction, optimal)
                if density > best:
                    break
                length *= _SHRINK
            else:
                break
            gain, best, z, optimal = density - best, density, z + length * direction, there
            if gain < _GAIN:
                break
        known = decisions.information(policy, score) * np.outer(slope, slope)
        known[np.diag_indices_from(known)] += 1
        return Mode(z, np.linalg.inv(np.linalg.cholesky(known)).T, best)


@dataclass(frozen=True, eq=False)
class Mode:
    """A mode of the posterior."""

    z: Floats  # (d,)
    root: Floats  # (d, d): a root of the covariance about it
    log_density: float

    @property
    def log_evidence(self) -> float:
        """How probable the decisions are under the prior, as Laplace approximates it."""
        return self.log_density + float(np.linalg.slogdet(self.root)[1])
