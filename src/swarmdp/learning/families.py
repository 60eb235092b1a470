"""Families of policies that a search can choose from, and how each is searched.

Tables are searched by the cross-entropy method: a chance for each action in each class, moved
towards what the best candidates do. Policies with continuous parameters (interpolated, linear, a
user's own) are searched by CMA-ES. Both ask for candidates and are told how these were ranked.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol

from swarmdp.model.features import Classes
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, class_map, name_of
from swarmdp.model.traits import null_action
from swarmdp.policies import (
    InterpolatedPolicy,
    LinearPolicy,
    LocalPolicy,
    Parametric,
    ParametricPolicy,
    Policy,
    TablePolicy,
)
from swarmdp.policies.interpolated import check_interpolates
from swarmdp.policies.replicas import remade
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import one_blas_thread

ELITE = 0.125  # of the candidates: those towards which chances are moved
_SMOOTHING = 0.7  # how far chances are moved
_LEAST_CHANCE = 0.02  # that no action is tried in a class any more, shared by all actions
_WARM_CHANCE = 0.7  # of the action of the policy to start from
_DECIDED = 0.02  # mean chance of the less likely actions at which nothing is left to choose
_FIRST_STEP = 0.3  # of the parameters' range: the first spread of CMA-ES
_LAST_STEP = 1e-3  # of the same: the spread at which it has converged


class Family(Protocol):
    """Policies with p parameters each."""

    @property
    def size(self) -> int:
        """The number of parameters p."""

    def policies(self, parameters: Floats) -> LocalPolicy:
        """The policy of K replicas with these parameters (K, p)."""

    def parameters(self, policy: LocalPolicy) -> Floats:
        """The parameters (p,) that are nearest to a policy of one replica."""

    def sampler(
        self, start: LocalPolicy | None, candidates: int, rng: np.random.Generator
    ) -> "Sampler":
        """Draws candidates, at first around a policy if one is given."""


class Sampler(Protocol):
    """A distribution of candidates that follows the best ones."""

    def draw(self) -> Floats:
        """The parameters (K, p) of a generation."""

    def follow(self, ranked: NDArray[np.int64]) -> None:
        """Move towards the best of the candidates just drawn, given from best to worst."""

    @property
    def settled(self) -> bool:
        """Whether all candidates are nearly the same."""


def family_of(
    system: System, symmetry: Symmetry | None, start: LocalPolicy | None, asked: Parametric | None
) -> Family:
    """The family to search: as asked for, that of the policy to start from, or the system's."""
    if asked is not None:
        return UserFamily(asked)
    if isinstance(start, ParametricPolicy):
        raise InvalidInput(
            "a search that starts from a ParametricPolicy needs its bounds: "
            "PolicySearch(family=Parametric(function, bounds))"
        )
    if isinstance(start, LinearPolicy):
        return Linear(start)
    if isinstance(start, InterpolatedPolicy):
        return Interpolated(system, symmetry)
    if isinstance(system.features, Classes):
        return Tables(system, symmetry)
    raise InvalidInput(
        f"policy search needs classes of observations, but {name_of(system)} has "
        f"{type(system.features).__name__} features, which have none: give it a linear policy to "
        "start from, PolicySearch(start=...), or a family, PolicySearch(family=Parametric(...))"
    )


@dataclass(frozen=True, eq=False)
class _Orbits:
    """Classes that a mirror ties together: an odd policy is free in one class of each pair."""

    free: NDArray[np.int64]  # (F,): the classes that are chosen
    images: NDArray[np.int64]  # (F,): the mirrored class of each, itself where there is none

    @classmethod
    def of(cls, size: int, symmetry: Symmetry | None) -> "_Orbits":
        images = np.arange(size) if symmetry is None else symmetry.classes
        free = np.flatnonzero(np.arange(size) <= images)
        return cls(free, images[free])


@dataclass(frozen=True, eq=False)
class Tables:
    """One action for each class; odd ones where there is a mirror. Parameters are indices."""

    system: System
    symmetry: Symmetry | None

    @property
    def orbits(self) -> _Orbits:
        """Which classes can be chosen freely."""
        return _Orbits.of(class_map(self.system).size, self.symmetry)

    @property
    def size(self) -> int:
        """One number for each class that is free."""
        return len(self.orbits.free)

    def policies(self, parameters: Floats) -> Policy:
        """The tables of these actions."""
        orbits, chosen = self.orbits, parameters.astype(np.int64)
        table = np.zeros((len(chosen), class_map(self.system).size), np.int64)
        table[:, orbits.free] = chosen
        if self.symmetry is not None:
            other = orbits.images != orbits.free
            table[:, orbits.images[other]] = self.symmetry.actions[chosen[:, other]]
        return Policy(table)

    def parameters(self, policy: LocalPolicy) -> Floats:
        """The likeliest action in each free class."""
        if not isinstance(policy, TablePolicy):
            raise InvalidInput(
                f"a search over tables must start from a table, got a policy of kind "
                f"{policy.kind!r}"
            )
        return np.asarray(policy.table[0, self.orbits.free], np.float64)

    def allowed(self) -> NDArray[np.bool_]:
        """Which actions each free class may have (F, A): its own mirror image, if it is one."""
        orbits, actions = self.orbits, len(self.system.actions)
        allowed = np.ones((len(orbits.free), actions), np.bool_)
        if self.symmetry is not None:
            still = self.symmetry.actions == np.arange(actions)
            alone = orbits.images == orbits.free
            if not still.any():  # no action is its own mirror image: do nothing
                still = np.arange(actions) == null_action(self.system)
            allowed[alone] = still
        return allowed

    def sampler(
        self, start: LocalPolicy | None, candidates: int, rng: np.random.Generator
    ) -> "Sampler":
        """The cross-entropy method."""
        allowed = self.allowed().astype(np.float64)
        chances = allowed / allowed.sum(axis=1, keepdims=True)
        if start is not None:
            kept = self.parameters(start).astype(np.int64)
            own = np.eye(allowed.shape[1])[kept] * allowed
            chances = np.where(
                own.sum(axis=1, keepdims=True) > 0,
                _WARM_CHANCE * own + (1 - _WARM_CHANCE) * chances,
                chances,
            )
        return CrossEntropy(chances, allowed > 0, candidates, rng)


class CrossEntropy:
    """The cross-entropy method for tables."""

    def __init__(
        self,
        chances: Floats,
        allowed: NDArray[np.bool_],
        candidates: int,
        rng: np.random.Generator,
    ) -> None:
        self.chances = chances  # (F, A)
        self._floor = _LEAST_CHANCE * allowed / allowed.sum(axis=1, keepdims=True)
        self._candidates, self._rng = candidates, rng
        self._drawn = np.empty((0, len(chances)))

    def draw(self) -> Floats:
        """Actions drawn by their chances; the first candidate is the likeliest table."""
        levels = np.cumsum(self.chances, axis=1)
        chance = self._rng.uniform(size=(self._candidates, len(levels), 1))
        drawn = (chance >= levels[None, :, :-1]).sum(axis=2)
        drawn[0] = self.chances.argmax(axis=1)
        self._drawn = drawn.astype(np.float64)
        return self._drawn

    def follow(self, ranked: NDArray[np.int64]) -> None:
        """Move the chances towards what the best eighth does."""
        elite = self._drawn[ranked[: max(2, int(ELITE * len(self._drawn)))]]
        share = (elite[:, :, None] == np.arange(self.chances.shape[1])).mean(axis=0)
        moved = (1 - _SMOOTHING) * self.chances + _SMOOTHING * share
        self.chances = (1 - _LEAST_CHANCE) * moved + self._floor

    @property
    def settled(self) -> bool:
        """Whether hardly anything is left to chance."""
        return bool(np.mean(1 - self.chances.max(axis=1)) < _DECIDED)


@dataclass(frozen=True, eq=False)
class Interpolated:
    """The physical action at the centre of each class; odd ones where there is a mirror."""

    system: System
    symmetry: Symmetry | None

    def __post_init__(self) -> None:
        check_interpolates(self.system)

    @property
    def orbits(self) -> _Orbits:
        """Which classes can be chosen freely: with a mirror not those that are their own image."""
        orbits = _Orbits.of(class_map(self.system).size, self.symmetry)
        if self.symmetry is None:
            return orbits
        free = orbits.images != orbits.free
        return _Orbits(orbits.free[free], orbits.images[free])

    @property
    def size(self) -> int:
        """One number for each class that is free."""
        return len(self.orbits.free)

    @property
    def _range(self) -> tuple[float, float]:
        actions = np.asarray(self.system.actions, np.float64)
        return float(actions.min()), float(actions.max())

    def policies(self, parameters: Floats) -> InterpolatedPolicy:
        """The policies through these actions."""
        nothing = float(np.asarray(self.system.actions)[null_action(self.system)])
        values = np.full((len(parameters), class_map(self.system).size), nothing)
        orbits = self.orbits
        values[:, orbits.free] = parameters
        if self.symmetry is not None:
            mirrored = self.symmetry.mirror.action(parameters)
            values[:, orbits.images] = np.asarray(mirrored, np.float64)
        return InterpolatedPolicy(values)

    def parameters(self, policy: LocalPolicy) -> Floats:
        """The actions in the free classes."""
        if isinstance(policy, InterpolatedPolicy):
            values = policy.values[0]
        elif isinstance(policy, TablePolicy):
            values = np.asarray(self.system.actions, np.float64)[policy.table[0]]
        else:
            raise InvalidInput(
                f"a search over interpolated policies must start from one or from a table, got "
                f"{policy.kind!r}"
            )
        return np.asarray(values[self.orbits.free])

    def sampler(
        self, start: LocalPolicy | None, candidates: int, rng: np.random.Generator
    ) -> "Sampler":
        """CMA-ES within the range of the actions."""
        low, high = self._range
        limits = np.tile([low, high], (self.size, 1))
        middle = None if start is None else self.parameters(start)
        return Adaptation(limits, middle, candidates, rng)


@dataclass(frozen=True, eq=False)
class Linear:
    """Policies that are greedy for other leads than those of the policy to start from."""

    start: LinearPolicy

    @property
    def size(self) -> int:
        """One number for each action and feature."""
        return int(np.prod(self.start.lead.shape[1:]))

    def policies(self, parameters: Floats) -> LocalPolicy:
        """The policies with these leads."""
        arrays = {
            name: np.repeat(array[:1], len(parameters), axis=0)
            for name, array in self.start.to_arrays().items()
        }
        arrays["lead"] = parameters.reshape(-1, *self.start.lead.shape[1:])
        return remade(self.start, arrays, self.start.interface)

    def parameters(self, policy: LocalPolicy) -> Floats:
        """The leads of a linear policy."""
        if not isinstance(policy, LinearPolicy):
            raise InvalidInput(
                f"a search over linear policies must start from one, got {policy.kind!r}"
            )
        return np.asarray(policy.lead[0].ravel())

    def sampler(
        self, start: LocalPolicy | None, candidates: int, rng: np.random.Generator
    ) -> "Sampler":
        """CMA-ES around the leads, in units of their spread."""
        middle = self.parameters(self.start if start is None else start)
        spread = float(np.abs(middle).max()) or 1.0
        limits = np.tile([-3 * spread, 3 * spread], (len(middle), 1))
        return Adaptation(limits, middle, candidates, rng)


@dataclass(frozen=True, eq=False)
class UserFamily:
    """A user's controllers."""

    family: Parametric

    @property
    def size(self) -> int:
        """Their parameters."""
        return len(self.family.limits)

    def policies(self, parameters: Floats) -> LocalPolicy:
        """The controllers with these parameters."""
        return self.family.policy(parameters)

    def parameters(self, policy: LocalPolicy) -> Floats:
        """Those of a controller of the same family."""
        if not isinstance(policy, ParametricPolicy) or policy.parameters.shape[1] != self.size:
            raise InvalidInput(
                f"a search over controllers with {self.size} parameters must start from one of "
                f"them, got a policy of kind {policy.kind!r}"
            )
        low, high = self.family.limits.T
        return np.asarray(np.clip(policy.parameters[0], low, high))

    def sampler(
        self, start: LocalPolicy | None, candidates: int, rng: np.random.Generator
    ) -> "Sampler":
        """CMA-ES within the bounds."""
        middle = self.parameters(start) if isinstance(start, ParametricPolicy) else None
        return Adaptation(self.family.limits, middle, candidates, rng)


class Adaptation:
    """CMA-ES by the library `cma`, in parameters that run from 0 to 1 between their limits."""

    def __init__(
        self, limits: Floats, middle: Floats | None, candidates: int, rng: np.random.Generator
    ) -> None:
        import cma

        self._low, self._width = limits[:, 0], limits[:, 1] - limits[:, 0]
        # From a point inside: where nothing is known, another one in every restart.
        inside = rng.uniform(0.2, 0.8, len(limits)) if middle is None else self._scaled(middle)
        options: dict[str, Any] = {
            "bounds": [0, 1],
            "popsize": candidates,
            "verbose": -9,
            "seed": np.nan,  # its own generator stays as it is
            "randn": lambda *shape: rng.standard_normal(shape),
            "tolfun": 0,
            "tolflatfitness": 10**9,
        }
        with one_blas_thread():
            step = _FIRST_STEP if middle is None else _FIRST_STEP / 2
            # One parameter alone is no space to adapt to: a second one is carried along.
            self._spare = len(inside) == 1
            self._search = cma.CMAEvolutionStrategy(
                np.resize(inside, max(2, len(inside))), step, options
            )
        self._drawn: list[Any] = []

    def _scaled(self, parameters: Floats) -> Floats:
        return np.asarray(np.clip((parameters - self._low) / self._width, 0.02, 0.98))

    def draw(self) -> Floats:
        """Candidates drawn from the adapted normal distribution."""
        with one_blas_thread():
            self._drawn = self._search.ask()
        inside = np.array(self._drawn)[:, : 1 if self._spare else None]
        return np.asarray(self._low + self._width * np.clip(inside, 0, 1))

    def follow(self, ranked: NDArray[np.int64]) -> None:
        """Adapt to the ranks of the candidates."""
        ranks = np.empty(len(ranked))
        ranks[ranked] = np.arange(len(ranked))
        with one_blas_thread():
            self._search.tell(self._drawn, ranks.tolist())

    @property
    def settled(self) -> bool:
        """Whether the distribution has become narrow."""
        return bool(np.max(self._search.result.stds) < _LAST_STEP)
