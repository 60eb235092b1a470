"""Who is near whom: distances to the nearest neighbour, and clusters."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arrays import Floats

_WIDTH = 2.0  # a cluster's links are this much longer than the median distance to the nearest agent


def tree_of(places: Floats, period: float | None) -> Any:
    """A search tree for places (agents, axes)."""
    from scipy.spatial import KDTree

    if period is None:
        return KDTree(places)
    wrapped = np.mod(places, period)
    wrapped[wrapped >= period] = 0.0  # rounding
    return KDTree(wrapped, boxsize=period)


def nearest(tree: Any) -> Floats:
    """The distance of each agent to its nearest neighbour."""
    distance, _ = tree.query(tree.data, [2])
    distances: Floats = distance[:, 0]
    return distances


def clusters(trees: Sequence[Any], reach: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of clusters of each run, and the agents of its largest.

    A cluster is what links no longer than `reach` hold together.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    runs, sizes = len(trees), np.array([tree.n for tree in trees])
    begins = np.cumsum(sizes) - sizes
    # One graph for all runs, which no link connects: a call for each would cost more.
    pairs = [
        tree.query_pairs(reach, output_type="ndarray") + begin
        for begin, tree in zip(begins, trees, strict=True)
    ]
    links = np.concatenate(pairs)
    shape = int(sizes.sum()), int(sizes.sum())
    graph = sparse.coo_matrix((np.ones(len(links), np.int8), (links[:, 0], links[:, 1])), shape)
    _, member = connected_components(graph, directed=False)
    members = np.bincount(member)
    home = np.empty(len(members), np.int64)
    home[member] = np.repeat(np.arange(runs), sizes)
    largest = np.zeros(runs, np.int64)
    np.maximum.at(largest, home, members)
    return np.bincount(home, minlength=runs), largest


def neighbourhoods(places: Floats, period: float | None, pooled: slice) -> dict[str, Floats]:
    """Statistics of places (runs, agents, axes) at one time, (runs,) each.

    The reach of a cluster comes from the `pooled` runs: twice their median distance to the nearest
    neighbour. Agents that are absent, whose places are NaN, do not count.
    """
    here = [place[np.isfinite(place).all(axis=1)] for place in places]
    trees = [tree_of(place, period) for place in here]
    near = [nearest(tree) for tree in trees]
    reach = _WIDTH * float(np.median(np.concatenate(near[pooled])))
    count, largest = clusters(trees, reach)
    present = np.array([tree.n for tree in trees])
    return {
        "distance to the nearest neighbour": np.array([gaps.mean() for gaps in near]),
        "number of clusters": count / present,
        "largest cluster": largest / present,
    }
