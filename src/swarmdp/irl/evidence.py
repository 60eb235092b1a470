"""What a reward update of Algorithm 1 is given, and what it gives back.

A reward update is a function, or a small object that can be called, from `Evidence` to `Update`.
It may say by attributes what else it wants (see `RewardUpdate`); a plain function wants nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput, SolverError
from swarmdp.streams import derived_seed

UPDATING = 4  # the part of a fit whose random numbers belong to reward updates
NEEDS = ("pairs", "kernel", "expert_kernel")
SUM_TOLERANCE = 1e-6  # how far from one the sum of a mixture may be
LARGEST = 1e9  # a weight beyond this has lost all sense of the others


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of R experiments after J policies.

    Rewards are linear in the features, R(o) = w . phi(o), with d features of O classes of
    observations.
    """

    expert: NDArray[np.float64]  # (R, d): the expert's feature expectations mu_E
    learned: NDArray[np.float64]  # (J, R, d): those of all policies so far, oldest first
    weights: NDArray[np.float64]  # (J, R, d): the rewards for which these were learned
    discount: float
    n_observations: int
    n_actions: int
    seed: int  # of the fit
    matrix: NDArray[np.float64] | None = None  # (O, d): phi; None for indicators of the classes
    exact: bool = False  # mu and the policies are exact, not estimated
    sampled: bool = True  # the expert's mu_E was estimated from trajectories, not given
    pairs: NDArray[np.float64] | None = None  # (R, O, A): the expert's actions, where asked for
    kernel: NDArray[np.float64] | None = None  # (R, O, A, O): P(o' | o, a) as the newest policy
    # update found it, where asked for
    expert_kernel: NDArray[np.float64] | None = None  # (R, O, A, O): P(o' | o, a) in the expert's
    # own swarm, where asked for

    @property
    def policies(self) -> int:
        """The number of policies so far J."""
        return len(self.learned)

    @property
    def features(self) -> NDArray[np.float64]:
        """Phi as a matrix (O, d)."""
        return np.eye(self.n_observations) if self.matrix is None else self.matrix

    @property
    def distance(self) -> NDArray[np.float64]:
        """|mu_E - mu| of every policy (J, R)."""
        distance: NDArray[np.float64] = np.linalg.norm(self.expert - self.learned, axis=2)
        return distance

    def seed_for(self, experiment: int) -> int:
        """A seed of its own for this update of one experiment, the same in every batch."""
        return derived_seed(self.seed, UPDATING, self.policies, experiment)

    def after(
        self,
        weights: NDArray[np.float64],
        mu: NDArray[np.float64],
        kernel: NDArray[np.float64] | None,
    ) -> "Evidence":
        """The evidence after one more policy."""
        return replace(
            self,
            learned=np.concatenate([self.learned, mu[None]]),
            weights=np.concatenate([self.weights, weights[None]]),
            kernel=kernel,
        )


@dataclass(frozen=True, eq=False)
class Update:
    """The outcome of a reward update for R experiments after J policies.

    Only the weights are asked of every update. `margin` is what is left to be done in the update's
    own measure: at zero there is nothing to update, and an experiment ends when it falls to the
    fit's tolerance. `mixture` are the weights of the policies that together answer the expert.
    """

    weights: NDArray[np.float64]  # (R, d): the next reward
    margin: NDArray[np.float64] | None = None  # (R,); None: |mu_E - mu| of the newest policy
    mixture: NDArray[np.float64] | None = None  # (R, J); None: the policy nearest to the expert
    error: NDArray[np.float64] | None = None  # (R, d): uncertainty of the weights, where known
    diagnostics: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # (R,) or (R, d)


@runtime_checkable
class RewardUpdate(Protocol):
    """A way to update the reward; all attributes are optional.

    - `needs`, a tuple of what it wants beside feature expectations: "pairs", how often the expert
      took which action in which observation; "kernel", the local dynamics P(o' | o, a) among
      agents that follow the newest policy; "expert_kernel", those among agents that do as the
      expert does, for which its actions are needed too.
    - `at_once`, true for an update whose answer does not depend on the policies: it is asked once,
      before the first policy update (evidence of no policies), and its answer is the reward of all
      iterations. These are then so many attempts at the policy, of which the nearest is chosen.
    - `softness`, a number above zero: its policies are Boltzmann's, with the probability of an
      action proportional to exp(Q / softness), and optimal for the reward plus softness times the
      entropy of the actions. (Temperature is another thing here: the share of exploring agents.)
    - `start`, a function from Evidence without policies to the first weights (R, d).
    """

    def __call__(self, evidence: Evidence) -> Update:
        """The next reward."""


def needs_of(update: RewardUpdate) -> Sequence[str]:
    """What an update wants beside feature expectations."""
    needs: Sequence[str] = getattr(update, "needs", ())
    unknown = [need for need in needs if need not in NEEDS]
    if isinstance(needs, str) or unknown:
        raise InvalidInput(
            f"an update's needs must be a tuple of {', '.join(NEEDS)}, got {needs!r}"
        )
    return (*needs, "pairs") if "expert_kernel" in needs else needs


def is_at_once(update: RewardUpdate) -> bool:
    """Whether an update's answer does not depend on the policies."""
    return bool(getattr(update, "at_once", False))


def softness_of(update: RewardUpdate) -> float:
    """The softness of an update's policies; zero for greedy ones."""
    softness = float(getattr(update, "softness", 0.0))
    if not 0 <= softness < np.inf:
        raise InvalidInput(f"an update's softness must be a number from 0 up, got {softness}")
    return softness


def start_of(
    update: RewardUpdate,
) -> Callable[[Evidence], NDArray[np.float64]] | None:
    """The update's own way to choose the first weights, if it has one; what it gives is checked."""
    start: Callable[[Evidence], NDArray[np.float64]] | None = getattr(update, "start", None)
    if start is None:
        return None
    if not callable(start):
        raise InvalidInput(
            f"an update's start must be a function from Evidence to the first weights, got "
            f"{type(start).__name__}"
        )
    own = start

    def checked(evidence: Evidence) -> NDArray[np.float64]:
        weights = _as_numbers("start", own(evidence))
        if weights.shape != evidence.expert.shape or not np.isfinite(weights).all():
            raise InvalidInput(
                f"a reward update's start must give finite weights of the shape "
                f"{evidence.expert.shape}, one row for each experiment, got {weights.shape}"
            )
        return weights

    return checked


def completed(update: Update, evidence: Evidence) -> Update:
    """The update with everything that it left out, its shapes and numbers checked."""
    if not isinstance(update, Update):
        raise InvalidInput(
            f"a reward update must return swarmdp.Update(weights), got {type(update).__name__}"
        )
    replicas, policies = len(evidence.expert), evidence.policies
    distance = evidence.distance
    if policies:
        nearest = np.eye(policies)[distance.argmin(axis=0)]
    else:
        distance, nearest = np.full((1, replicas), np.inf), np.empty((replicas, 0))
    done = Update(
        _as_numbers("weights", update.weights),
        distance[-1] if update.margin is None else _as_numbers("margin", update.margin),
        nearest if update.mixture is None else _as_numbers("mixture", update.mixture),
        None if update.error is None else _as_numbers("error", update.error),
        {
            name: _as_numbers(f"diagnostic {name!r}", array)
            for name, array in update.diagnostics.items()
        },
    )
    shape = evidence.expert.shape
    for name, wanted in (
        ("weights", shape),
        ("margin", (replicas,)),
        ("mixture", (replicas, policies)),
        ("error", shape),
    ):
        array = getattr(done, name)
        if array is not None and array.shape != wanted:
            raise InvalidInput(
                f"a reward update's {name} must have the shape {wanted}, got {array.shape}"
            )
    for name, array in done.diagnostics.items():
        if array.shape not in ((replicas,), shape):
            raise InvalidInput(
                f"a reward update's diagnostic {name!r} must have the shape {(replicas,)} or "
                f"{shape}, got {array.shape}"
            )
    if update.margin is not None:
        _check_margin(done.margin)
    if update.mixture is not None and policies:
        _check_mixture(done.mixture)
    largest = np.abs(done.weights).max(initial=0.0)
    if not largest <= LARGEST:
        raise SolverError(
            f"the weights diverge: the largest is {largest:.3g} after {policies} policies. Take a "
            "smaller step, or an update with bounded weights (max_margin, projection, "
            "ng_russell, mwal); feature expectations that no policy can have do this as well"
        )
    return done


def _as_numbers(name: str, given: object) -> NDArray[np.float64]:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"a reward update's {name} must be an array of numbers, got {type(given).__name__}"
        ) from None


def _check_margin(margin: NDArray[np.float64] | None) -> None:
    assert margin is not None
    wrong = margin[~(np.isfinite(margin) & (margin >= 0))]
    if wrong.size:
        raise InvalidInput(
            f"a reward update's margin must be finite and not negative, got {wrong[0]}: it is what "
            "is left to be done, and at the tolerance an experiment ends. Leave it out where it is "
            "not known"
        )


def _check_mixture(mixture: NDArray[np.float64] | None) -> None:
    assert mixture is not None
    sums = mixture.sum(axis=1)
    if not (mixture >= 0).all() or not (np.abs(sums - 1) <= SUM_TOLERANCE).all():
        raise InvalidInput(
            "each row of a reward update's mixture must be probabilities of the policies so far, "
            f"not negative and of sum 1, got a least of {mixture.min():.3g} and sums from "
            f"{sums.min():.6g} to {sums.max():.6g}"
        )
