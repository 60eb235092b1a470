"""Algorithm 1 with policy search: the reward for which the recorded behaviour is the best.

A policy is a zonal controller; the policy update is a search by CMA-ES for the controller whose
swarm collects most of a reward that is linear in local features (`reward_curves.py`); the value
estimation is the mean of these features in its swarm. Every candidate of every search is evidence:
the reward update takes the direction from the nearest point of the hull of all their feature
expectations to those of the recording, which is the one with the largest margin. Noise, speeds and
the memory of turns are as recorded: a reward is about what individuals do, not how precisely.

The reward that is returned is a softer one: that under which the recording is likeliest among all
candidates, each the likelier the more it collects, with a prior for small weights. The margin is
decided by a few candidates, and explains what no controller of this kind can do; where rewards are
known the softer one is nearer to them (`docs/recordings.md`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.learning.families import Adaptation
from swarmdp.recordings.controller_families import Family, completed_rule
from swarmdp.recordings.controller_search import CANDIDATES, Trial
from swarmdp.recordings.reward_curves import CurveFeatures, RewardCurve, sights
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.zonal import ZonalController
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.progress import Tell
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    from swarmdp.recordings.swarm import Swarm

ITERATIONS = 6  # of Algorithm 1
GENERATIONS = 6  # of each policy update
MOST_GAIN = 1.5  # radians
BLOCKS = 12  # of time, which are drawn again
DRAWS = 40
SHIFTS = 8  # of tracks shifted in time
SMALL = 1e-6  # margin below which there is no direction
SOFT = 0.01  # weight of the prior: half the square of the reward's weights
ERRORS = 2.0  # standard errors of the recording by which a margin must be above zero


@dataclass(frozen=True, eq=False)
class SearchedReward:
    """The reward that Algorithm 1 found with policy search, and what it is worth.

    Parameters
    ----------
    curves
        The reward.
    margin, margin_error
        By how much the recorded behaviour collects more of it than all others that were simulated,
        for weights of length one; and its standard error.
    controller_distance, nearest_distance
        The distance of feature expectations to the recorded ones: of the controller that was found,
        and of the nearest of all candidates.
    candidates
        The number of controllers that are evidence.

    """

    curves: tuple[RewardCurve, ...]
    margin: float
    margin_error: float
    controller_distance: float
    nearest_distance: float
    candidates: int

    @property
    def identified(self) -> bool:
        """Whether the recorded behaviour is outside of all others by more than chance.

        If it is not, a mixture of others does the same, and every reward explains it as well.
        """
        return self.margin > ERRORS * self.margin_error

    @property
    def clear_curves(self) -> tuple[RewardCurve, ...]:
        """What can be said; nothing if the reward is not identified."""
        return tuple(curve for curve in self.curves if curve.clear) if self.identified else ()

    def summary(self) -> dict[str, Any]:
        """What was found, for readers."""
        curves = [curve.summary() for curve in self.curves]
        return vars(self) | {"curves": curves, "identified": self.identified}

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return vars(self) | {"curves": [curve.to_plain() for curve in self.curves]}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "SearchedReward":
        """What `to_plain` wrote."""
        curves = tuple(RewardCurve.from_plain(curve) for curve in plain["curves"])
        return cls(**dict(plain) | {"curves": curves})


@one_blas_thread()
def search_reward(
    swarm: "Swarm",
    rule: Rule | None,
    controller: ZonalController,
    *,
    seed: int,
    progress: Tell | None = None,
) -> SearchedReward | None:
    """The reward behind a recording, by Algorithm 1 with policy search; None without a rule.

    Parameters
    ----------
    swarm
        Of `Swarm.from_recording`, with the frames of the training part.
    rule
        Of `fit_rule`: the components that it lacks are tried, too.
    controller
        The one that was found: its noise, speeds and memory are those of all candidates.
    seed
        Same seed, same reward.
    progress
        Called before each iteration with how many are done, and of how many.

    """
    features = CurveFeatures.of(swarm)
    if rule is None or not features.knots:
        return None
    evidence = Evidence(swarm, rule, controller, features, seed)
    expert = features.frames.mean(axis=0)  # mu_E
    alone = evidence.evaluate(evidence.starts)[-1]
    reward, margin = _unit(expert - alone), 0.0
    for iteration in range(ITERATIONS):
        if progress is not None:
            progress(iteration, ITERATIONS)
        evidence.update_policy(reward, iteration)
        reward, margin = max_margin(expert, evidence.mu)
        if margin <= SMALL:
            break
    rng = np.random.default_rng(seed)
    others, simulated = _resampled(features.frames, rng), evidence.mu
    likeliest = likeliest_reward(expert, simulated)
    size = float(np.linalg.norm(likeliest)) or 1.0
    draws = [likeliest_reward(mu, simulated, likeliest) / size for mu in others]
    moved = [likeliest_reward(mu, simulated) / size for mu in _shifted(swarm, features, rng)]
    apart = np.linalg.norm(simulated - expert, axis=1)
    return SearchedReward(
        features.curves(likeliest / size, np.stack(draws), np.stack(moved)),
        margin,
        float((others @ reward).std(ddof=1)),
        float(apart[0]),
        float(apart.min()),
        len(evidence.mu),
    )


class Evidence:
    """All controllers that were simulated, with their feature expectations."""

    def __init__(
        self,
        swarm: "Swarm",
        rule: Rule,
        controller: ZonalController,
        features: CurveFeatures,
        seed: int,
    ) -> None:
        self._swarm, self._features, self._seed = swarm, features, seed
        start = replace(
            completed_rule(swarm, rule),
            previous=controller.previous,
            noise=controller.noise,
            hurry=controller.hurry,
            together=controller.together,
            wall=controller.wall,
            wall_reach=controller.wall_reach,
        )
        self._found = controller
        self._family = Family("reward", start, True, swarm.n_agents - 1)
        every: Bools = np.ones(len(swarm.frames["heading"]), dtype=bool)
        self._trial = Trial(swarm, every, seed, controller.together)
        self._drawn: list[Floats] = []
        self._mu: list[Floats] = []

    @cached_property
    def limits(self) -> Floats:
        """Of the free numbers (free, 2): gains, reaches, and the turn away from the wall."""
        limits = self._family.limits.copy()
        begin = len(limits) - len(self._family.start.gains) - len(self._family.start.model.zones)
        gains = slice(begin, begin + len(self._family.start.gains))
        limits[gains] = 0.0, MOST_GAIN
        return limits[self._free]

    @cached_property
    def _free(self) -> Bools:
        """Which numbers of the family are free."""
        free = np.ones(len(self._family.limits), dtype=bool)
        free[:2] = False  # the turn before, and the noise
        if self._family.start.hurry:
            free[4 if self._family.start.wall_reach else 2] = False
        return free

    @property
    def starts(self) -> list[ZonalController]:
        """The controller that was found, the rule with all components, and no reaction at all."""
        start = self._family.start
        alone = replace(start, gains=(0.0,) * len(start.gains))
        return [self._found, start, alone]

    @property
    def mu(self) -> Floats:
        """Feature expectations (candidates, d)."""
        return np.concatenate(self._mu)

    def evaluate(self, controllers: list[ZonalController]) -> Floats:
        """Value estimation: the feature expectations (K, d) of controllers, which are evidence."""
        places, headings, _ = self._trial.frames(controllers)
        agents = headings.shape[-1]
        seen = sights(self._swarm, places.reshape(-1, agents, 2), headings.reshape(-1, agents))
        mu = self._features.expectations(seen, len(controllers))
        self._mu.append(mu)
        self._drawn.append(np.stack([self._numbers(one) for one in controllers]))
        return mu

    def _numbers(self, controller: ZonalController) -> Floats:
        """Those of the family; of a controller with other components those of the rule."""
        model, usual = controller.model, self._family.start.model
        same = (model.structure, *model.zones) == (usual.structure, *usual.zones)
        return self._family.numbers(controller if same else self._family.start)

    def update_policy(self, reward: Floats, iteration: int) -> None:
        """Policy update: controllers that collect more and more of a reward (d,)."""
        base = self._family.numbers(self._family.start)
        best = np.concatenate(self._drawn)[int((self.mu @ reward).argmax())]
        rng = np.random.default_rng((self._seed, iteration))
        sampler = Adaptation(self.limits, best[self._free], CANDIDATES, rng)
        for _ in range(GENERATIONS):
            numbers = np.tile(base, (CANDIDATES, 1))
            numbers[:, self._free] = sampler.draw()
            worth = self.evaluate([self._family.controller(row) for row in numbers]) @ reward
            sampler.follow(np.argsort(-worth, kind="stable"))


def max_margin(expert: Floats, others: Floats) -> tuple[Floats, float]:
    """The unit reward (d,) by which mu_E (d,) exceeds all others (K, d) most, and the margin.

    It points from the nearest point of their hull to mu_E; no direction, and zero, inside.
    """
    from scipy.optimize import nnls

    gaps = expert - others
    heavy = 1e3 * max(float(np.abs(gaps).max()), SMALL)  # the weights of a mixture add up to one
    rows = np.concatenate([gaps.T, np.full((1, len(gaps)), heavy)])
    right = np.zeros(len(rows))
    right[-1] = heavy
    mixture, _ = nnls(rows, right, maxiter=50 * rows.shape[1])
    nearest = mixture @ gaps / max(float(mixture.sum()), 1e-12)
    margin = float(np.linalg.norm(nearest))
    return _unit(nearest), margin


def likeliest_reward(expert: Floats, others: Floats, start: Floats | None = None) -> Floats:
    """The reward w (d,) under which mu_E (d,) is likeliest among others (K, d), with a prior.

    The largest of w . mu_E - log mean exp(w . mu) - SOFT |w|^2 / 2, which is concave.
    """
    from scipy.optimize import minimize

    def loss(weights: Floats) -> tuple[float, Floats]:
        worth = others @ weights
        most = float(worth.max())
        shares = np.exp(worth - most)
        total = float(shares.sum())
        value = most + np.log(total / len(others)) - weights @ expert
        slope = shares @ others / total - expert
        return float(value + SOFT * weights @ weights / 2), slope + SOFT * weights

    first = np.zeros(len(expert)) if start is None else start
    return np.asarray(minimize(loss, first, jac=True, method="L-BFGS-B").x)


def _unit(weights: Floats) -> Floats:
    size = float(np.linalg.norm(weights))
    return np.asarray(weights / size if size > SMALL else np.zeros_like(weights))


def _resampled(frames: Floats, rng: np.random.Generator) -> Floats:
    """Feature expectations (DRAWS, d) of the recording with blocks of time drawn again."""
    parts = np.array_split(frames, min(BLOCKS, max(2, len(frames) // 2)))
    means = np.stack([part.mean(axis=0) for part in parts])
    drawn = rng.integers(len(means), size=(DRAWS, len(means)))
    return np.asarray(means[drawn].mean(axis=1))


def _shifted(swarm: "Swarm", features: CurveFeatures, rng: np.random.Generator) -> Floats:
    """Feature expectations (SHIFTS, d) where all individuals are shifted in time."""
    places, headings = swarm.frames["position"], swarm.frames["heading"]
    count, agents = headings.shape
    found = []
    for _ in range(SHIFTS):
        even = (rng.permutation(agents) + rng.random()) / agents
        rows = (np.arange(count)[:, None] + np.floor(even * count).astype(int)) % count
        here = np.arange(agents)
        seen = sights(swarm, places[rows, here], headings[rows, here])
        found.append(features.expectations(seen, 1)[0])
    return np.stack(found)
