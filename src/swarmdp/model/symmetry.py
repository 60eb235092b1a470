"""A swarm's mirror: what its left and right have in common.

A system may declare a mirror (`system.Mirror`): a change of observations and of actions under
which its law does not change. Every experience then counts also mirrored, feature expectations and
rewards are even, and policies are odd: a mirrored observation gets the mirrored action.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Classes, Smooth
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import Mirror, System, class_map, feature_count, name_of
from swarmdp.model.traits import Mirrored
from swarmdp.support.errors import InvalidInput

MATCH = 1e-9  # how far a mirrored action or component may be from the one that it becomes
CLOSED = 1e-6  # how far mirrored features may be from a combination of the features
SAMPLE_AGENTS, SAMPLE_STEPS = 1000, 8  # from which observations without classes are known


def mirror_of(system: System) -> Mirror | None:
    """The mirror that a system declares; None if it declares none."""
    return system.mirror if isinstance(system, Mirrored) else None


@dataclass(frozen=True, eq=False)
class Symmetry:
    """The mirror of a system as learning sees it: permutations of classes and actions."""

    system: System
    mirror: Mirror

    @classmethod
    def of(cls, system: System) -> "Symmetry | None":
        """The symmetry of a system; None if it has no mirror. Raises InvalidInput if it is none."""
        mirror = mirror_of(system)
        return None if mirror is None else cls(system, mirror).checked()

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """The index of the mirrored action of each action (A,)."""
        actions = np.asarray(self.system.actions, np.float64)
        mirrored = np.asarray(self.mirror.action(np.asarray(self.system.actions)), np.float64)
        if mirrored.shape != actions.shape:
            raise InvalidInput(
                f"the mirror of {name_of(self.system)} must turn actions of shape {actions.shape} "
                f"into as many, got shape {mirrored.shape}"
            )
        gap = np.abs(mirrored[:, None] - actions)
        if gap.ndim == 3:
            gap = gap.max(axis=2)
        if gap.min(axis=1).max() > MATCH * (1 + np.abs(actions).max()):
            lost = np.round(actions[gap.min(axis=1).argmax()], 4).tolist()
            raise InvalidInput(
                f"the mirror of {name_of(self.system)} turns action {lost} into one that the "
                "system does not have"
            )
        nearest: NDArray[np.int64] = gap.argmin(axis=1)
        return nearest

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The mirrored class of each class of observations (O,)."""
        features = class_map(self.system)
        grids = np.meshgrid(*(axis.values for axis in features.axes), indexing="ij")
        centres = np.stack([grid.ravel() for grid in grids], axis=-1).astype(np.float64)
        seen = centres if features.shape else centres[:, 0]
        if features.axes[0].values.dtype.kind in "iu" and not features.shape:
            seen = features.axes[0].values
        return np.asarray(features.index(self.mirror.observation(seen)), np.int64)

    @cached_property
    def components(self) -> NDArray[np.float64]:
        """What becomes of the k components of a raw observation, a matrix (k + 1, k).

        A mirrored observation is the observation, with a one at its end, times this matrix.
        Learning without classes needs it: raises InvalidInput unless components just change their
        sign, change places or are shifted.
        """
        features = self.system.features
        size = len(features.axes)
        points: NDArray[Any] = np.concatenate([np.zeros((1, size)), np.eye(size)])
        if not features.shape:
            whole = features.axes[0].values.dtype.kind in "iu"
            points = points[:, 0].astype(np.int64 if whole else np.float64)
        try:
            images = np.asarray(self.mirror.observation(points), np.float64).reshape(size + 1, size)
        except (IndexError, TypeError, ValueError) as error:
            raise self._not_linear() from error
        matrix = np.concatenate([np.round(images[1:] - images[0], 12), images[:1]])
        sizes = np.abs(matrix[:size])
        if not np.array_equal(np.sort(sizes, axis=1)[:, ::-1], np.eye(1, size).repeat(size, 0)):
            raise self._not_linear()
        seen = self._sample.reshape(-1, size).astype(np.float64)
        mirrored = np.asarray(self.mirror.observation(self._sample), np.float64).reshape(-1, size)
        for once in (mirrored - _times(seen, matrix), seen - _times(mirrored, matrix)):
            gap = np.where(
                [axis.periodic for axis in features.axes],
                np.remainder(once + math.pi, 2 * math.pi) - math.pi,
                once,
            )
            if np.abs(gap).max() > MATCH * (1 + np.abs(seen).max()):
                raise self._not_linear()
        return matrix

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The matrix S (d, d) with phi(mirrored o) = phi(o) @ S, by which mu is mirrored."""
        features = self.system.features
        if isinstance(features, Smooth):
            phi, mirrored = (
                features.of(seen)
                for seen in (self._sample, np.asarray(self.mirror.observation(self._sample)))
            )
        elif not isinstance(features, Classes):
            raise InvalidInput(
                f"the mirror of {name_of(self.system)} needs classes of observations or a Basis; "
                "set mirror=False"
            )
        elif features.matrix is None:
            return np.eye(features.size)[self.classes]
        else:
            phi, mirrored = features.matrix, features.matrix[self.classes]
        weights, *_ = np.linalg.lstsq(phi, mirrored, rcond=None)
        if np.abs(phi @ weights - mirrored).max() > CLOSED * np.abs(phi).max():
            raise InvalidInput(
                f"the features of {name_of(self.system)} have no mirror image: mirrored "
                "observations have other features than any combination. Set mirror=False"
            )
        return np.asarray(np.round(weights, 12))

    def even(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Feature expectations (..., d), half their own and half mirrored."""
        if self._permutes:
            return (mu + mu[..., self.classes]) / 2
        return (mu + mu @ self.weights) / 2

    def even_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights (..., d) of a reward, of which half is the mirrored reward's."""
        if self._permutes:
            return (weights + weights[..., self.classes]) / 2
        return (weights + weights @ self.weights.T) / 2

    def checked(self) -> "Symmetry":
        """Itself; raises InvalidInput unless mirroring twice changes nothing."""
        both = [("actions", self.actions)]
        if isinstance(self.system.features, Classes):
            both.append(("classes of observations", self.classes))
        for what, order in both:
            if not np.array_equal(order[order], np.arange(len(order))):
                raise InvalidInput(
                    f"the mirror of {name_of(self.system)} is not its own inverse on {what}"
                )
        self.even(np.zeros(feature_count(self.system)))  # raises if features have no mirror image
        return self

    @property
    def _permutes(self) -> bool:
        """Whether each class is its own feature."""
        features = self.system.features
        return isinstance(features, Classes) and features.matrix is None

    @cached_property
    def _sample(self) -> NDArray[Any]:
        """Observations (n, *shape) of a few steps with random actions."""
        system = self.system
        runs = -(-SAMPLE_AGENTS // system.n_agents)
        streams = Streams.of(0, np.arange(runs), system.n_agents)
        state = system.initial(streams.at(0, Purpose.INITIAL))
        seen = [system.observe(state)]
        for step in range(SAMPLE_STEPS):
            choice = streams.at(step, Purpose.POLICY).integers(len(system.actions))
            actions = np.asarray(system.actions)[choice]
            state = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
            seen.append(system.observe(state))
        return np.stack(seen).reshape(-1, *system.features.shape)

    def _not_linear(self) -> InvalidInput:
        return InvalidInput(
            f"LinearQ can use a mirror that changes the sign of components, exchanges or shifts "
            f"them, and that of {name_of(self.system)} does something else: set mirror=False"
        )


def _times(components: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Components (n, k) and a one, times a matrix (k + 1, k)."""
    changed: NDArray[np.float64] = components @ matrix[:-1] + matrix[-1]
    return changed
