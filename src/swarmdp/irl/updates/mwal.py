"""Reward update: apprenticeship learning as a game, after Syed and Schapire (2007).

One player chooses a reward w in the simplex (not negative, sum 1), the other a policy; the payoff
is w . (mu - mu_E), how much better than the expert the policy is under that reward. The first
player learns by multiplicative weights, the second answers with the best policy. The uniform
mixture of these answers comes near the value of the game, so it is better than the expert under
every such reward, if any policy is. Features must be such that more of each is better.

With features from -1 to 1, the mixture of T rounds is within
4 / (1 - gamma) (sqrt(2 ln d / T) + ln d / T) of the game's value.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

_ROUNDING = 1e-9  # by which a sum of features may exceed its bound


@checked
@dataclass(frozen=True)
class MWAL:
    """`update="mwal"`: the rewards of a player who looks for the expert's strongest side.

    Parameters
    ----------
    rounds
        The number of rounds that will be played, for the learning rate of Syed and Schapire. By
        default the rate falls with the rounds played; the same bound holds after any number of them
        (Cesa-Bianchi and Lugosi 2006, theorem 2.3), so a fit may go on for as long as it likes.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> update = swarmdp.updates.MWAL(rounds=20)
    >>> result = swarmdp.fit(ising, demo, seed=1, update=update, iterations=2, judge=False)
    >>> result.reward.weights.shape
    (1, 9)

    """

    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 1:
            raise InvalidInput(f"rounds must be at least 1, got {self.rounds}")

    def start(self, evidence: Evidence) -> NDArray[np.float64]:
        """All features weigh the same."""
        return np.full(evidence.expert.shape, 1 / evidence.expert.shape[1])

    def __call__(self, evidence: Evidence) -> Update:
        """The next weights; the margin is how far the mixture may be from the game's value.

        Where policies and values are exact, the margin follows from the game so far; elsewhere it
        is the theorem's bound for the number of rounds played.
        """
        gains = evidence.learned - evidence.expert
        policies, replicas, features = gains.shape
        # Losses between 0 and 1, as the bound asks for.
        scale = (1 - evidence.discount) / feature_range(evidence)
        losses = ((scale * gains + 2) / 4).sum(axis=0)
        exponent = -self._rate(policies + 1, features) * (
            losses - losses.min(axis=1, keepdims=True)
        )
        weights = np.exp(exponent)
        weights /= weights.sum(axis=1, keepdims=True)
        if evidence.exact:
            best_answers = np.einsum("jrd,jrd->jr", evidence.weights, gains).min(axis=0)
            margin = np.maximum(best_answers - gains.mean(axis=0).min(axis=1), 0.0)
        else:
            # A policy that is not the best answer proves nothing about the game's value: an
            # estimate could fall to zero by chance and end the game. The theorem's bound cannot.
            largest = feature_range(evidence)
            margin = np.full(replicas, bound(policies, features, evidence.discount, largest))
        return Update(weights, margin, np.full((replicas, policies), 1 / policies))

    def _rate(self, round_: int, features: int) -> float:
        """The learning rate of a round, counted from one."""
        if self.rounds is None:
            return float(np.sqrt(8 * np.log(features) / round_))
        return float(np.log1p(np.sqrt(2 * np.log(features) / self.rounds)))


def feature_range(evidence: Evidence) -> float:
    """The largest absolute feature: 1 for indicators, and for features without classes.

    Raises InvalidInput if feature expectations show that features without classes are larger.
    """
    if evidence.matrix is not None:
        return float(np.abs(evidence.matrix).max()) or 1.0
    largest = max(np.abs(evidence.expert).max(), np.abs(evidence.learned).max(initial=0.0))
    if not evidence.n_observations and (1 - evidence.discount) * largest > 1 + _ROUNDING:
        raise InvalidInput(
            "mwal needs features from -1 to 1, but their mean over time is up to "
            f"{(1 - evidence.discount) * largest:.4g}: divide the features of the basis by their "
            "largest absolute value"
        )
    return 1.0


def bound(rounds: int, features: int, discount: float, largest: float = 1.0) -> float:
    """How far below the game's value the mixture of this many rounds can be, at most.

    Parameters
    ----------
    rounds
        The number of rounds played.
    features
        The number of features d.
    discount
        The discount factor gamma.
    largest
        The largest absolute feature.

    """
    rate = np.sqrt(2 * np.log(features) / rounds) + np.log(features) / rounds
    return float(4 * largest * rate / (1 - discount))
