"""Reward update: the projection method of Abbeel and Ng (2004), which needs no solver.

A point mu_bar in the hull of the policies' feature expectations creeps towards the expert's: each
new policy moves it to the point nearest to mu_E on the line from mu_bar to the new mu,

    mu_bar  <-  mu_bar + s (mu - mu_bar),   s = (mu - mu_bar) . (mu_E - mu_bar) / |mu - mu_bar|^2

and the next reward is w = mu_E - mu_bar. Its length is never below the max-margin program's margin,
which is the distance to the hull as a whole.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.support.arguments import checked

_ROUNDING = 1e-13  # a distance below this share of mu_E is none


@checked
@dataclass(frozen=True)
class Projection:
    """`update="projection"`: away from the point that the policies so far were mixed to.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> update = swarmdp.updates.Projection()
    >>> result = swarmdp.fit(ising, demo, seed=1, update=update, iterations=2, judge=False)
    >>> result.reward.weights.shape
    (1, 9)

    """

    def __call__(self, evidence: Evidence) -> Update:
        """The projection of each experiment."""
        mixtures = [projection(mu, evidence.learned[:, r]) for r, mu in enumerate(evidence.expert)]
        gaps = np.stack(
            [
                mu - mixture @ evidence.learned[:, r]
                for r, (mu, mixture) in enumerate(zip(evidence.expert, mixtures, strict=True))
            ]
        )
        distance = np.linalg.norm(gaps, axis=1)
        distance[distance <= _ROUNDING * np.linalg.norm(evidence.expert, axis=1)] = 0.0
        weights = gaps / np.where(distance > 0, distance, 1.0)[:, None]
        return Update(weights, distance, np.stack(mixtures))


def projection(expert: NDArray[np.float64], learned: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights (J,) with which the policies are mixed to mu_bar.

    The share s is clipped to 0 and 1, so that mu_bar stays a mixture. No clipping is needed as long
    as every policy is optimal for its reward.

    Parameters
    ----------
    expert
        The expert's feature expectations (d,).
    learned
        Those of all policies (J, d), oldest first.

    """
    mixture = np.zeros(len(learned))
    mixture[0] = 1.0
    mean = learned[0]
    for j, mu in enumerate(learned[1:], start=1):
        step = mu - mean
        length = step @ step
        share = 0.0 if length == 0 else float(np.clip(step @ (expert - mean) / length, 0.0, 1.0))
        mixture *= 1 - share
        mixture[j] = share
        mean = mean + share * step
    return mixture
