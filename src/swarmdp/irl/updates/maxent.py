"""Reward update: maximum causal entropy (Ziebart 2008, 2010), discounted.

Of all policies with the expert's feature expectations, the one with the largest discounted causal
entropy is Boltzmann's for some reward w: its action probabilities are proportional to exp(Q(o, a)),
with the soft Bellman equation

    Q(o, a) = w . phi(o) + gamma E V(o'),      V(o) = log sum over a of exp Q(o, a).

That reward minimises the convex dual V_w - w . mu_E, whose gradient is mu - mu_E: where the expert
sees more of a feature than the policy does, its weight rises. The softness is 1: another one would
only scale the reward.

Feature expectations that were estimated from trajectories are in general those of no policy at all,
and the weights that fit them best are infinite. A small penalty c |w|^2 / 2 ends that: at the
optimum mu_E - mu = c w.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.updates.evidence import Evidence, Update
from swarmdp.policies.learner import Wants
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput

SAMPLED_PENALTY = 1e-3  # c, where the expert is known from trajectories
_FIRST = 1.0  # length of the first step
_MEMORY = 20  # pairs of steps and changes of the gradient that are kept
OVERSHOT = 0.25  # a slope this large behind the minimum, relative to the one before, is too large
_FARTHEST = 2.0  # a step is at most this times (1 + the length of the weights)


@checked
@dataclass(frozen=True)
class MaxEnt:
    """`update="maxent"`: the reward whose soft policy has the expert's feature expectations.

    Where policies and values are exact, the dual is minimised by a quasi-Newton method (L-BFGS)
    with a line search on the slope. Where they are estimated, it is minimised by steps along the
    gradient that become shorter.

    Parameters
    ----------
    step
        The step in iteration i is `step / sqrt(i)` times the gradient, where values are estimated.
    penalty
        The constant c. By default 0.001 for an expert known from trajectories, and 0 for one whose
        feature expectations were given.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> update = swarmdp.updates.MaxEnt(step=1.0)
    >>> result = swarmdp.fit(ising, demo, seed=1, update=update, iterations=2, judge=False)
    >>> result.reward.weights.shape
    (1, 9)

    """

    step: float = 2.0
    penalty: float | None = None

    wants: ClassVar[Wants] = Wants(softness=1.0)

    def __post_init__(self) -> None:
        if not self.step > 0:
            raise InvalidInput(f"step must be positive, got {self.step}")
        if self.penalty is not None and not self.penalty >= 0:
            raise InvalidInput(f"penalty must not be negative, got {self.penalty}")

    def __call__(self, evidence: Evidence) -> Update:
        """The next weights; the margin is the length of the gradient."""
        usual = SAMPLED_PENALTY if evidence.sampled else 0.0
        penalty = usual if self.penalty is None else self.penalty
        gradient = evidence.learned - evidence.expert + penalty * evidence.weights
        left = np.linalg.norm(gradient[-1], axis=1)
        if evidence.exact:
            following = [
                next_point(evidence.weights[:, r], gradient[:, r])
                for r in range(len(evidence.expert))
            ]
            return Update(np.stack(following), left)
        length = self.step / np.sqrt(evidence.policies)
        return Update(evidence.weights[-1] - length * gradient[-1], left)


def next_point(points: NDArray[np.float64], gradients: NDArray[np.float64]) -> NDArray[np.float64]:
    """The next point (d,) at which to evaluate a convex function, from all points so far.

    L-BFGS as a function of the history alone: each point was tried from the last one that was
    accepted. It is accepted unless it lies too far behind the minimum on its line; then a nearer
    one is tried.

    Parameters
    ----------
    points
        All points so far (J, d), oldest first.
    gradients
        The gradients at these points (J, d).

    """
    base = 0
    steps: list[NDArray[np.float64]] = []
    changes: list[NDArray[np.float64]] = []
    for j in range(1, len(points)):
        step, change = points[j] - points[base], gradients[j] - gradients[base]
        before, after = float(gradients[base] @ step), float(gradients[j] @ step)
        if after > OVERSHOT * abs(before):
            if j == len(points) - 1:
                nearer = np.clip(before / (before - after), 0.1, 0.7)
                return np.asarray(points[base] + nearer * step)
            continue
        if step @ change > 0:
            steps, changes = [*steps, step][-_MEMORY:], [*changes, change][-_MEMORY:]
        base = j
    following: NDArray[np.float64] = points[base] + _direction(
        points[base], gradients[base], steps, changes
    )
    return following


def _direction(
    point: NDArray[np.float64],
    gradient: NDArray[np.float64],
    steps: list[NDArray[np.float64]],
    changes: list[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Minus the gradient, times the inverse Hessian that the steps so far suggest."""
    direction = -gradient
    if not steps:
        length = float(np.linalg.norm(direction))
        return direction * (_FIRST / length if length else 0.0)
    shares = []
    for step, change in zip(steps[::-1], changes[::-1], strict=True):
        share = step @ direction / (step @ change)
        direction = direction - share * change
        shares.append(share)
    direction = direction * (steps[-1] @ changes[-1] / (changes[-1] @ changes[-1]))
    for step, change, share in zip(steps, changes, shares[::-1], strict=True):
        direction = direction + (share - change @ direction / (step @ change)) * step
    length = float(np.linalg.norm(direction))
    longest = _FARTHEST * (1 + float(np.linalg.norm(point)))
    return direction * min(1.0, longest / length) if length else direction
