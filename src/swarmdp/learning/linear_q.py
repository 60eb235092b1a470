"""A Q-function that is linear in smooth features of real observations, by least squares."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.learning.q_functions import Problem, QFunction
from swarmdp.model.harmonics import Harmonics, components, lowest_orders, scales_of
from swarmdp.model.streams import Stream
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System
from swarmdp.model.traits import null_action
from swarmdp.policies import LocalPolicy
from swarmdp.policies.learner import Learned, Wants
from swarmdp.policies.linear import TIE, LinearPolicy, Reflection, fold_to_one_side
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_integer, check_number
from swarmdp.support.errors import InvalidInput

FEATURES = {1: 25, 2: 64, 3: 96}  # the maximum by the number of components
MANY_FEATURES = 150  # for more components


@checked
@dataclass(frozen=True)
class LinearQ:
    """Q as a linear function of features of the observation, learned without classes.

    The features are products of sines and cosines of the components (`swarmdp.harmonics`). For each
    action the next features are predicted by least squares from the present ones, of all agents'
    experience with forgetting: every transition is used again in all later sweeps of the Bellman
    equation, and only the moments of the features are kept. The sweeps take the best action at
    observations of the last few iterations. It has no learning rate. With a mirror, the moments and
    the remembered observations are those of both sides.

    Parameters
    ----------
    features
        The number of features, at most; None for 25, 64, 96 and 150 with one, two, three and more
        components.
    forgetting
        The share of its weight that experience keeps in each iteration, above 0 and up to 1.
    sweeps
        The number of sweeps of the Bellman equation in each update.
    every
        The number of iterations from one update to the next.
    ridge
        The number of transitions that it takes to believe in a difference between actions.
    memory
        The number of observations at which the sweeps take the best action; a tenth of them is new
        in each iteration.
    centre
        The middle of each component, for components that are no angles; None for the mean of the
        first observations. Given together with `scale`.
    scale
        How far from its centre each component gets; None for two standard deviations of the first
        observations.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> def waves(seen):
    ...     return np.stack([np.cos(seen), np.sin(seen)], axis=-1)
    ...
    >>> angle = swarmdp.features.Axis("misalignment", units="rad", periodic=True)
    >>> features = swarmdp.features.Basis(waves, ("cosine", "sine"), (angle,), scalar=True)
    >>> vicsek = swarmdp.model.with_features(swarmdp.Vicsek(n_agents=20), features)
    >>> q = swarmdp.learning.LinearQ(features=9)
    >>> learner = swarmdp.learning.HeterogeneousLearning(q, steps=20)
    >>> learner(vicsek, swarmdp.Reward([1.0, 0.0]), discount=0.9, seed=1).policy.kind
    'linear'

    """

    features: int | None = None
    forgetting: float = 0.99
    sweeps: int = 4
    every: int = 4
    ridge: float = 20.0
    memory: int = 2048
    centre: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None

    mirrors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.forgetting <= 1:
            raise InvalidInput(f"forgetting must be in (0, 1], got {self.forgetting}")
        for name in ("sweeps", "every"):
            check_integer(name, getattr(self, name), least=1)
        check_integer("memory", self.memory, least=20)
        check_number("ridge", self.ridge, positive=True)
        if self.features is not None:
            check_integer("features", self.features, least=1)
        if (self.centre is None) != (self.scale is None):
            raise InvalidInput("centre and scale are given together, a number for each component")
        for name in ("centre", "scale"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(float(number) for number in given))
        if self.scale is not None and not all(0 < number < math.inf for number in self.scale):
            raise InvalidInput(f"scale must be positive numbers, got {self.scale}")

    def start(self, problem: Problem) -> QFunction:
        """A Q-function of zeros."""
        if problem.wants.softness or problem.wants.kernel:
            what = "soft policies are" if problem.wants.softness else "the local kernel is"
            raise InvalidInput(
                f"{what} learned with q_update=LocalModel() on classes of observations, not with "
                "LinearQ: choose that, or an update whose policies are greedy (max_margin, "
                "projection, mwal)"
            )
        axes = len(problem.system.features.axes)
        for name in ("centre", "scale"):
            given = getattr(self, name)
            if given is not None and len(given) != axes:
                raise InvalidInput(
                    f"{name} must have a number for each of the {axes} components of an "
                    f"observation, got {len(given)}"
                )
        return _LinearQ(self, problem)

    def bytes(self, system: System, transitions: int, wants: Wants) -> int:
        """The memory of one replica's moments, factors and remembered features."""
        size, actions = len(self.orders(system)), len(system.actions)
        return 8 * size * (size * (3 * actions + 4) + 2 * self.memory)

    def orders(self, system: System) -> NDArray[np.int64]:
        """What the features of this system's observations are products of."""
        axes = system.features.axes
        most = self.features or FEATURES.get(len(axes), MANY_FEATURES)
        return lowest_orders(tuple(axis.periodic for axis in axes), most)


class _LinearQ:
    """Moments of the features, remembered observations, and what follows from them."""

    seen = None
    greedy = None

    def __init__(self, settings: LinearQ, problem: Problem) -> None:
        system = problem.system
        self._replicas = replicas = problem.reward.replicas
        self._settings, self._problem = settings, problem
        self._null = null_action(system)
        self._reflection = _reflection(system, replicas) if problem.wants.mirror else None
        self._orders = settings.orders(system)
        size, actions = len(self._orders), len(system.actions)
        self._harmonics: Harmonics | None = None
        self._square = np.zeros((replicas, actions, size, size))
        self._cross = np.zeros((replicas, actions, size, size))
        self._sides = 1 if self._reflection is None else 2  # of the mirror, remembered together
        memory = settings.memory // self._sides * self._sides
        self._anchors = np.zeros((replicas, memory, size))
        self._rewards = np.zeros((replicas, memory))
        self._value = np.zeros((replicas, size))
        self._factor = np.zeros((replicas, size, size))
        self._factor[:] = np.eye(size)
        self.values = np.zeros((replicas, actions, size))
        self._iteration = self._remembered = 0
        self._weight = 1.0

    def sees(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """The features of each observation (runs, agents, p).

        With a mirror those of the mirrored observation follow: (runs, agents, 2 p).
        """
        numbers = components(self._problem.system, observations)
        sides = [numbers]
        if self._reflection is not None:
            sides.append(self._reflection.of(numbers))
        if self._harmonics is None:
            self._harmonics = self._scaled(np.concatenate(sides, axis=1))
        rows = np.arange(len(numbers)) % self._replicas
        return np.concatenate([self._harmonics.of(side, rows) for side in sides], axis=2)

    def choose(self, observations: NDArray[np.float64], stream: Stream) -> NDArray[np.integer]:
        """The best action of each agent."""
        rows = np.arange(len(observations)) % self._replicas
        if self._reflection is None:
            return kernels.tables.best_linear_actions(
                observations, self.values, rows, self._null, TIE
            )
        psi, side = fold_to_one_side(*np.split(observations, 2, axis=2))
        best = kernels.tables.best_linear_actions(psi, self.values, rows, self._null, TIE)
        return self._reflection.odd(best, side, psi, self.values, rows, self._null)

    def learn(
        self,
        before: NDArray[np.float64],
        actions: NDArray[np.integer],
        rewards: NDArray[np.float64],
        after: NDArray[np.float64],
        rate: float,
    ) -> None:
        """Add the experience to the moments, and sweep if it is time."""
        if self._reflection is not None:  # every agent's experience is followed by its mirror image
            before, after = (_one_after_another(side) for side in (before, after))
            turned = self._reflection.actions[0][actions]
            actions = np.stack([actions, turned], axis=2).reshape(len(actions), -1)
            rewards = np.repeat(rewards, 2, axis=1)
        # Instead of letting old moments shrink, new ones weigh more: the ratio is the same.
        kernels.tables.add_moments(before, actions, after, self._weight, self._square, self._cross)
        self._remember(before, rewards)
        if self._iteration % self._settings.every == 0:
            self._sweep()
        self._iteration += 1
        self._weight /= self._settings.forgetting
        if self._weight > 1e100:
            self._square /= self._weight
            self._cross /= self._weight
            self._weight = 1.0

    def policy(self) -> LocalPolicy:
        """The greedy policy."""
        if self._harmonics is None:
            raise InvalidInput("nothing was observed yet, so there is no policy")
        return LinearPolicy(
            self._harmonics, self.values.copy(), self._factor.copy(), reflection=self._reflection
        )

    def learned(self) -> Learned:
        """The policy alone: there are no classes."""
        return Learned(self.policy())

    def _scaled(self, first: NDArray[np.float64]) -> Harmonics:
        """The features, on the scale that was given or that the first observations show."""
        axes = self._problem.system.features.axes
        periodic = [axis.periodic for axis in axes]
        shape = self._replicas, len(axes)
        if self._settings.centre is None or self._settings.scale is None:
            names = [axis.name for axis in axes]
            centre, scale = scales_of(first, periodic, names, self._replicas)
        else:
            centre = np.broadcast_to(self._settings.centre, shape).copy()
            scale = np.broadcast_to(self._settings.scale, shape).copy()
        orders = np.broadcast_to(self._orders, (self._replicas, *self._orders.shape))
        return Harmonics(np.broadcast_to(periodic, shape), orders, centre, scale)

    def _remember(self, before: NDArray[np.float64], rewards: NDArray[np.float64]) -> None:
        """Put some of these observations, evenly spread over the agents, in place of the oldest."""
        sides, memory = self._sides, self._anchors.shape[1]
        count = len(before) // self._replicas * before.shape[1] // sides
        new = min(count, memory // 10 // sides)
        taken = (np.arange(new) * count // new + self._iteration) % count
        taken = (taken[:, None] * sides + np.arange(sides)).ravel()
        place = (self._remembered + np.arange(len(taken))) % memory
        for j in range(self._replicas):
            part = before[j :: self._replicas]
            self._anchors[j, place] = part.reshape(-1, part.shape[2])[taken]
            self._rewards[j, place] = rewards[j :: self._replicas].reshape(-1)[taken]
        self._remembered += len(taken)

    def _sweep(self) -> None:
        filled = min(self._remembered, self._anchors.shape[1])
        ridge = self._settings.ridge * self._weight
        kernels.tables.sweep_linear(
            self._square,
            self._cross,
            self._anchors[:, :filled],
            self._rewards[:, :filled],
            ridge,
            self._problem.discount,
            self._settings.sweeps,
            self._value,
            self.values,
            self._factor,
        )
        # In units of the ridge: then doubt is a share of the variance without experience.
        self._factor /= math.sqrt(ridge)


def _reflection(system: System, replicas: int) -> Reflection | None:
    """The mirror of a system's raw observations, for each replica; None if it has none."""
    symmetry = Symmetry.of(system)
    if symmetry is None:
        return None
    return Reflection(
        np.tile(symmetry.components, (replicas, 1, 1)), np.tile(symmetry.actions, (replicas, 1))
    )


def _one_after_another(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Features of agents and their mirror images (runs, agents, 2 p) as (runs, 2 agents, p)."""
    runs, agents, both = pairs.shape
    return pairs.reshape(runs, 2 * agents, both // 2)
