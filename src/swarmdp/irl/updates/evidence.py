"""What a reward update of Algorithm 1 is given, and what it gives back.

A reward update is a function, or a small object that can be called, from `Evidence` to `Update`.
It may say what else it wants (`Wanting`) and where it starts (`Starting`); a plain function wants
nothing more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol, runtime_checkable

from swarmdp.model.streams import Part, derived_seed
from swarmdp.policies.learner import Wants as Wants
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_discount, check_integer, check_seed
from swarmdp.support.errors import InvalidInput, SolverError

_SUM_TOLERANCE = 1e-6  # how far from one the sum of a mixture may be
_LARGEST = 1e9  # weights beyond this have diverged


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of R experiments after J policies.

    Rewards are linear in the features, R(o) = w . phi(o), with d features of O classes of
    observations (O = 0 for features without classes).

    Parameters
    ----------
    expert
        (R, d): the expert's feature expectations mu_E.
    learned
        (J, R, d): those of all policies so far, oldest first.
    weights
        (J, R, d): the rewards for which these were learned.
    discount
        The discount factor gamma.
    n_observations
        The number O of classes; 0 for features without classes.
    n_actions
        The number of actions.
    seed
        The seed of the fit.
    matrix
        (O, d): phi; None for indicators of the classes.
    exact
        Whether mu and the policies are exact, not estimated.
    sampled
        Whether the expert's mu_E was estimated from trajectories, not given.
    runs
        (J, K, R, d): mu of K roll-outs of each policy, where it was estimated so; roll-out k has
        the same random numbers for all policies.
    pairs
        (R, O, A): how often the expert took which action, where asked for.
    kernel
        (R, O, A, O): P(o' | o, a) as the newest policy update found it, where asked for.
    expert_kernel
        (R, O, A, O): P(o' | o, a) in the expert's own swarm, where asked for.
    tried
        (C, R, d): mu of other policies that the newest policy update has tried, where it tells
        (`swarmdp.learning.PolicySearch` does).

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> def towards(evidence):    # an update of one's own: more of what the expert sees more often
    ...     return swarmdp.updates.Update(evidence.expert - evidence.learned[-1])
    ...
    >>> result = swarmdp.fit(ising, demo, seed=1, update=towards, iterations=2, judge=False)
    >>> len(result.iterations)
    2

    """

    expert: NDArray[np.float64]
    learned: NDArray[np.float64]
    weights: NDArray[np.float64]
    discount: float
    n_observations: int
    n_actions: int
    seed: int
    matrix: NDArray[np.float64] | None = None
    exact: bool = False
    sampled: bool = True
    runs: NDArray[np.float64] | None = None
    pairs: NDArray[np.float64] | None = None
    kernel: NDArray[np.float64] | None = None
    expert_kernel: NDArray[np.float64] | None = None
    tried: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        check_discount(self.discount)
        check_seed(self.seed)
        check_integer("n_observations", self.n_observations, least=0)
        check_integer("n_actions", self.n_actions, least=1)
        if self.expert.ndim != 2 or not self.expert.size:
            raise InvalidInput(
                f"expert must have the shape (experiments, features), got {self.expert.shape}"
            )
        experiments, features = self.expert.shape
        if not self.learned.ndim:
            raise InvalidInput("learned must have the shape (policies, experiments, features)")
        policies, classes, actions = len(self.learned), self.n_observations, self.n_actions
        local = (experiments, classes, actions, classes)
        shapes = {
            "learned": (policies, experiments, features),
            "weights": (policies, experiments, features),
            "matrix": (classes, features),
            "pairs": (experiments, classes, actions),
            "kernel": local,
            "expert_kernel": local,
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise InvalidInput(f"{name} must have the shape {shape}, got {array.shape}")
        if (tried := self.tried) is not None and (
            tried.ndim != 3 or tried.shape[1:] != self.expert.shape
        ):
            raise InvalidInput(
                f"tried must have the shape (any, {experiments}, {features}), got {tried.shape}"
            )
        if (runs := self.runs) is not None and (
            runs.ndim != 4 or (runs.shape[0], *runs.shape[2:]) != shapes["learned"]
        ):
            raise InvalidInput(
                f"runs must have the shape (policies, roll-outs, experiments, features) = "
                f"({policies}, any, {experiments}, {features}), got {runs.shape}"
            )

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
        """`|mu_E - mu|` of every policy (J, R)."""
        distance: NDArray[np.float64] = np.linalg.norm(self.expert - self.learned, axis=2)
        return distance

    def seed_for(self, experiment: int) -> int:
        """A seed of its own for this update of one experiment, the same in every batch."""
        check_integer("experiment", experiment, least=0)
        return derived_seed(self.seed, Part.REWARD_UPDATE, self.policies, experiment)

    def after(
        self,
        weights: NDArray[np.float64],
        mu: NDArray[np.float64],
        kernel: NDArray[np.float64] | None,
        runs: NDArray[np.float64] | None = None,
        tried: NDArray[np.float64] | None = None,
    ) -> "Evidence":
        """The evidence after one more policy."""
        shape = self.expert.shape
        for name, array in (("weights", weights), ("mu", mu)):
            if array.shape != shape:
                raise InvalidInput(f"{name} must have the shape {shape}, got {array.shape}")
        if runs is not None:
            if runs.ndim != 3 or runs.shape[1:] != shape:
                raise InvalidInput(f"runs must have the shape (K, *{shape}), got {runs.shape}")
            runs = runs[None] if self.runs is None else np.concatenate([self.runs, runs[None]])
        return replace(
            self,
            runs=runs,
            learned=np.concatenate([self.learned, mu[None]]),
            weights=np.concatenate([self.weights, weights[None]]),
            kernel=kernel,
            tried=tried,
        )


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Update:
    """The outcome of a reward update for R experiments after J policies.

    Only the weights are required. `margin` is what is left to be done in the update's own measure:
    at zero there is nothing to update, and an experiment ends when it falls to the fit's tolerance.
    `mixture` are the weights of the policies that together reproduce the expert.

    Parameters
    ----------
    weights
        (R, d): the next reward.
    margin
        (R,): what is left to be done; None for `|mu_E - mu|` of the newest policy.
    mixture
        (R, J): the weights of the policies; None for the policy nearest to the expert.
    error
        (R, d): the uncertainty of the weights, where it is known.
    diagnostics
        Other numbers (R,) or (R, d), by name.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> swarmdp.updates.Update(np.ones((1, 9))).weights.shape
    (1, 9)

    """

    weights: NDArray[np.float64]
    margin: NDArray[np.float64] | None = None
    mixture: NDArray[np.float64] | None = None
    error: NDArray[np.float64] | None = None
    diagnostics: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


RewardUpdate = Callable[[Evidence], Update]
"""A way to update the reward."""


@runtime_checkable
class Wanting(Protocol):
    """A reward update that wants more than feature expectations."""

    @property
    def wants(self) -> Wants:
        """What it wants."""


@runtime_checkable
class Starting(Protocol):
    """A reward update with a first reward of its own."""

    def start(self, evidence: Evidence) -> NDArray[np.float64]:
        """The first weights (R, d), from evidence without policies."""


def wants_of(update: RewardUpdate) -> Wants:
    """What an update wants beside feature expectations; raises InvalidInput unless it is Wants."""
    wants = update.wants if isinstance(update, Wanting) else Wants()
    if not isinstance(wants, Wants):
        raise InvalidInput(
            f"an update's wants must be swarmdp.updates.Wants(...), got {type(wants).__name__}"
        )
    return wants


def own_start(update: RewardUpdate, evidence: Evidence) -> NDArray[np.float64]:
    """The update's own first weights; raises InvalidInput unless they are finite (R, d)."""
    assert isinstance(update, Starting)
    if not callable(update.start):
        raise InvalidInput(
            "a reward update's start must be a function from Evidence to the first weights, got "
            f"{update.start!r}"
        )
    weights = _as_numbers("start", update.start(evidence))
    if weights.shape != evidence.expert.shape or not np.isfinite(weights).all():
        raise InvalidInput(
            f"a reward update's start must give finite weights of the shape "
            f"{evidence.expert.shape}, one row for each experiment, got {weights.shape}"
        )
    return weights


def completed(update: Update, evidence: Evidence) -> Update:
    """The update with its defaults filled in; raises InvalidInput if a shape or number is wrong."""
    if not isinstance(update, Update):
        raise InvalidInput(
            "a reward update must return swarmdp.updates.Update(weights), got "
            f"{type(update).__name__}"
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
    for name, expected in (
        ("weights", shape),
        ("margin", (replicas,)),
        ("mixture", (replicas, policies)),
        ("error", shape),
    ):
        array = getattr(done, name)
        if array is not None and array.shape != expected:
            raise InvalidInput(
                f"a reward update's {name} must have the shape {expected}, got {array.shape}"
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
    if not largest <= _LARGEST:
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
    if not (mixture >= 0).all() or not (np.abs(sums - 1) <= _SUM_TOLERANCE).all():
        raise InvalidInput(
            "each row of a reward update's mixture must be probabilities of the policies so far, "
            f"not negative and of sum 1, got a least of {mixture.min():.3g} and sums from "
            f"{sums.min():.6g} to {sums.max():.6g}"
        )
