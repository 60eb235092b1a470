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

    agents, runs = trees[0].n, len(trees)
    # One graph for all runs, which no link connects: a call for each would cost more.
    pairs = [
        tree.query_pairs(reach, output_type="ndarray") + r * agents for r, tree in enumerate(trees)
    ]
    links = np.concatenate(pairs)
    shape = runs * agents, runs * agents
    graph = sparse.coo_matrix((np.ones(len(links), np.int8), (links[:, 0], links[:, 1])), shape)
    _, member = connected_components(graph, directed=False)
    sizes = np.bincount(member)
    home = np.empty(len(sizes), np.int64)
    home[member] = np.repeat(np.arange(runs), agents)
    largest = np.zeros(runs, np.int64)
    np.maximum.at(largest, home, sizes)
    return np.bincount(home, minlength=runs), largest


def neighbourhoods(places: Floats, period: float | None, pooled: slice) -> dict[str, Floats]:
    """Statistics of places (runs, agents, axes) at one time, (runs,) each.

    The reach of a cluster comes from the `pooled` runs: twice their median distance to the nearest
    neighbour.
    """
    trees = [tree_of(place, period) for place in places]
    near = np.stack([nearest(tree) for tree in trees])
    count, largest = clusters(trees, _WIDTH * float(np.median(near[pooled])))
    return {
        "distance to the nearest neighbour": near.mean(axis=1),
        "number of clusters": count / places.shape[1],
        "largest cluster": largest / places.shape[1],
    }
