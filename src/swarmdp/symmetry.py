"""A swarm's mirror: what its left and right have in common.

A system may declare a mirror (`system.Mirror`): a change of observations and of actions under
which its law does not change. Every experience then counts also mirrored, feature expectations and
rewards are even, and policies are odd: a mirrored observation gets the mirrored action.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.features import Classes
from swarmdp.system import Mirror, Mirrored, System, class_map, feature_count, name_of

MATCH = 1e-9  # how far a mirrored action may be from the one that it becomes
CLOSED = 1e-6  # how far mirrored features may be from a combination of the features


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
        own = np.asarray(self.system.actions, np.float64)
        mirrored = np.asarray(self.mirror.action(np.asarray(self.system.actions)), np.float64)
        gap = np.abs(mirrored[:, None] - own)
        if gap.min(axis=1).max() > MATCH * (1 + np.abs(own).max()):
            raise InvalidInput(
                f"the mirror of {name_of(self.system)} turns action "
                f"{own[gap.min(axis=1).argmax()]:.4g} into one that the system does not have"
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
    def weights(self) -> NDArray[np.float64]:
        """The matrix S (d, d) with phi(mirrored o) = phi(o) @ S, by which mu is mirrored."""
        features = self.system.features
        if not isinstance(features, Classes):
            raise InvalidInput(
                f"the mirror of {name_of(self.system)} needs classes of observations; set "
                "mirror=False"
            )
        if features.matrix is None:
            return np.eye(features.size)[self.classes]
        phi = features.matrix
        found, *_ = np.linalg.lstsq(phi, phi[self.classes], rcond=None)
        if np.abs(phi @ found - phi[self.classes]).max() > CLOSED * np.abs(phi).max():
            raise InvalidInput(
                f"the features of {name_of(self.system)} have no mirror image: mirrored "
                "observations have other features than any combination. Set mirror=False"
            )
        return np.asarray(np.round(found, 12))

    def even(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Feature expectations or weights (..., d), half their own and half mirrored."""
        features = self.system.features
        if isinstance(features, Classes) and features.matrix is None:
            return (rows + rows[..., self.classes]) / 2
        return (rows + rows @ self.weights) / 2

    def checked(self) -> "Symmetry":
        """Itself; raises InvalidInput unless mirroring twice changes nothing."""
        both = (("classes of observations", self.classes), ("actions", self.actions))
        for what, order in both:
            if not np.array_equal(order[order], np.arange(len(order))):
                raise InvalidInput(
                    f"the mirror of {name_of(self.system)} is not its own inverse on {what}"
                )
        self.even(np.zeros(feature_count(self.system)))  # raises if features have no mirror image
        return self
