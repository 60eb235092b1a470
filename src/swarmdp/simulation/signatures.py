"""What a swarm looks like to its agents over the whole time: visits, and changes of observation.

A signature holds how often each class is observed in windows of time, and how often an agent's
observation changes from one class to another. Two policies whose visits agree may differ in their
changes: a convoy that marches backwards visits the same observations in another order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.features import Classes
from swarmdp.model.system import System, classes, feature_count, features_of_counts, summed_features
from swarmdp.support.arrays import Floats

_WINDOWS = 4  # of time, in which visits are counted
_MOST_CLASSES = 2000  # whose changes into each other are counted


@dataclass(frozen=True, eq=False)
class Signature:
    """How runs of a system are summed up: a row of numbers for each run.

    The first d numbers of a row are the discounted feature expectations mu; then come visits in
    windows of time and changes, each block of shares with sum one. Features without classes have
    their means in place of visits, and no changes.
    """

    system: System
    steps: int
    discount: float
    changes: NDArray[np.int64] | None  # (classes * classes,): the place of each change; None: none
    places: int  # of changes

    @classmethod
    def of(
        cls, system: System, steps: int, discount: float, demo: NDArray[np.integer] | None = None
    ) -> "Signature":
        """The signature for runs of this length.

        Changes are told apart where the demo's classes over time (runs, steps + 1, agents) show
        them; the others are one place for each class that they start from.
        """
        features = system.features
        if demo is None or not isinstance(features, Classes) or features.size > _MOST_CLASSES:
            return cls(system, steps, discount, None, 0)
        size = features.size
        shown = np.unique(demo[:, :-1].astype(np.int64) * size + demo[:, 1:])
        changes = np.repeat(np.arange(size), size)
        changes[shown] = size + np.arange(len(shown))
        return cls(system, steps, discount, changes, size + len(shown))

    @property
    def size(self) -> int:
        """The length of a row without mu."""
        return _WINDOWS * self._visited + self.places

    @property
    def _visited(self) -> int:
        features = self.system.features
        return features.size if isinstance(features, Classes) else feature_count(self.system)

    def rows(self, observations: NDArray[Any]) -> Floats:
        """One row for each run of observations (runs, steps + 1, agents, ...)."""
        if isinstance(self.system.features, Classes):
            return self._of_classes(index_over_time(self.system, observations))
        return self._of_features(observations)

    def _of_classes(self, index: NDArray[np.integer]) -> Floats:
        runs, times, agents = index.shape
        size = self._visited
        counts = kernels.tables.count(index.reshape(runs * times, agents), size)
        counts = counts.reshape(runs, times, size)
        weights = self.discount ** np.arange(times)
        mu = features_of_counts(self.system, np.einsum("t,rto->ro", weights, counts) / agents)
        blocks = [mu]
        for window in np.array_split(np.arange(times), _WINDOWS):
            total = counts[:, window].sum(axis=1)
            blocks.append(total / max(1, agents * len(window)))
        if self.changes is not None:
            place = self.changes[index[:, :-1].astype(np.int64) * size + index[:, 1:]]
            place = place.reshape(runs, -1)
            blocks.append(kernels.tables.count(place, self.places) / max(1, place.shape[1]))
        return np.concatenate(blocks, axis=1)

    def _of_features(self, observations: NDArray[Any]) -> Floats:
        times, agents = observations.shape[1:3]
        means = np.stack(
            [summed_features(self.system, observations[:, t]) / agents for t in range(times)], 1
        )
        weights = self.discount ** np.arange(times)
        windows = np.array_split(np.arange(times), _WINDOWS)
        blocks = [np.einsum("t,rtd->rd", weights, means)]
        blocks += [means[:, w].sum(axis=1) / max(1, len(w)) for w in windows]
        return np.concatenate(blocks, axis=1)

    def mu(self, rows: Floats) -> Floats:
        """The feature expectations in rows (..., d + size)."""
        return rows[..., : feature_count(self.system)]

    def distance(self, rows: Floats, target: Floats, scale: Floats | None = None) -> Floats:
        """How far rows (..., d + size) are from a target (d + size,).

        Of shares: the sum over all blocks of squared Hellinger distances. Of features without
        classes: the sum of squared differences in units of a scale.
        """
        begin = feature_count(self.system)
        seen, shown = rows[..., begin:], target[begin:]
        if isinstance(self.system.features, Classes):
            gap = np.sqrt(seen) - np.sqrt(shown)
        else:
            assert scale is not None
            gap = (seen - shown) / scale[begin:]
        distance: Floats = np.einsum("...d,...d->...", gap, gap)
        return distance


def index_over_time(system: System, observations: NDArray[Any]) -> NDArray[np.integer]:
    """The classes (runs, times, agents) of observations (runs, times, agents, ...)."""
    runs, times, agents = observations.shape[:3]
    flat = np.ascontiguousarray(observations.reshape(runs * times, *observations.shape[2:]))
    return classes(system, flat).reshape(runs, times, agents)
