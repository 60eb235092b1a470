"""Who is near whom: distances to the nearest neighbour, and clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDTH = 2.0  # a cluster's links are this much longer than the median distance to the nearest agent


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
    distance, _ = tree.query(tree.data, 2)
    found: Floats = distance[:, 1]
    return found


def clusters(tree: Any, reach: float) -> tuple[int, int]:
    """The number of clusters, and the agents of the largest: links are no longer than `reach`."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    agents = tree.n
    first, second = tree.query_pairs(reach, output_type="ndarray").T
    links = sparse.coo_matrix((np.ones(len(first), np.int8), (first, second)), (agents, agents))
    count, member = connected_components(links, directed=False)
    return int(count), int(np.bincount(member).max())


def neighbourhoods(places: Floats, period: float | None, pooled: slice) -> dict[str, Floats]:
    """Statistics of places (runs, agents, axes) at one time, (runs,) each.

    The reach of a cluster comes from the `pooled` runs: twice their median distance to the nearest
    neighbour.
    """
    trees = [tree_of(place, period) for place in places]
    near = np.stack([nearest(tree) for tree in trees])
    reach = WIDTH * float(np.median(near[pooled]))
    counts = np.array([clusters(tree, reach) for tree in trees], np.float64) / places.shape[1]
    return {
        "distance to the nearest neighbour": near.mean(axis=1),
        "number of clusters": counts[:, 0],
        "largest cluster": counts[:, 1],
    }
