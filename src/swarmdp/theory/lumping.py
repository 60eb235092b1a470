"""States that cannot be told apart, put together: what makes exact solutions small.

A swarm's joint space is full of symmetry (agents are interchangeable, the sites of a ring are
equal). Symmetries need not be named: refining a partition until it is stable finds them.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array, sparray

_SAME = 1e-13  # numbers that differ by less than this share of themselves count as equal


def stable_blocks(flows: "sparray", given: Floats) -> NDArray[np.int64]:
    """The block (K,) of each state in the coarsest stable partition that tells `given` apart.

    Stable: any two states of a block have the same row sum of `flows` (K, K) over every block.
    With P a function that is constant on blocks stays so under v -> P v; with its transpose, a
    distribution stays so under mu -> mu P. Row sums over blocks are compared by random weights for
    the blocks: sums that differ give the same number with probability zero.
    """
    rng = np.random.default_rng(0)
    blocks = np.zeros(len(given), np.int64)
    for column in np.atleast_2d(given.T):
        blocks = _split(blocks, column)
    count = 0
    while count < (count := int(blocks.max()) + 1):
        weights = rng.uniform(0.5, 1.5, size=count)
        blocks = _split(blocks, flows @ weights[blocks])
    return blocks


def indicator(blocks: NDArray[np.int64]) -> "csr_array":
    """Which state is in which block (K, blocks), as ones."""
    from scipy import sparse

    return sparse.csr_array(
        (np.ones(len(blocks)), (np.arange(len(blocks)), blocks)), (len(blocks), blocks.max() + 1)
    )


def representatives(blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """One state of each block."""
    return np.unique(blocks, return_index=True)[1]


def _split(blocks: NDArray[np.int64], values: Floats) -> NDArray[np.int64]:
    """Divide each block where the sorted values in it leave a gap.

    Gaps are relative: what is rare is told apart as well as what is likely.
    """
    order = np.lexsort((values, blocks))
    ranked = values[order]
    size = np.maximum(np.abs(ranked[1:]), np.abs(ranked[:-1]))
    edge = (np.diff(blocks[order]) > 0) | (np.diff(ranked) > _SAME * size)
    out = np.empty_like(blocks)
    out[order] = np.concatenate([[0], np.cumsum(edge)])
    return out
